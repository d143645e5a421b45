//! The difference as a profile with signed costs, for every program that reads profiles.

use std::collections::HashSet;
use std::io;

use gristmill_format::{
    Calls, Cost, CostLine, CostRole, Costs, Error, EventDefinition, Header, Line, Name, NameKey, NameStyle,
    PositionKind, PositionStyle, Positions, Record, RecurringNames, Words, Writer,
};

use super::keyed_rows::KeyedRows;
use super::lines::SourceLine;
use super::measure::columns_of;
use super::raw::Mention;
use super::{Change, Comparison, JoinedId, Side};
use crate::cost::CostTable;
use crate::decode::BlockLine;
use crate::lines::place_costs;

/// The function that has the change of the total less the changes of all lines.
const REMAINDER: &[u8] = b"(medians do not add up)";

/// A line of a function; with a callee for a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    function: JoinedId,
    /// Lines of the function's own file come first.
    is_elsewhere: bool,
    place: SourceLine,
    callee: Option<JoinedId>,
}

/// Rows of a count and costs by line.
type Rows = KeyedRows<Key>;

impl Comparison<'_> {
    /// Writes the difference, new less base, as a profile in the Callgrind format: self costs by line, calls with their
    /// counts and inclusive costs, all with signs. It omits what did not change.
    ///
    /// Functions and files have their names in the base, if it has them, so that base and difference add up to the new
    /// profile. Addresses and jumps are omitted. With several runs, the numbers are differences of medians, which do not add
    /// up: a function `(medians do not add up)` has the rest of the change of the total.
    ///
    /// # Errors
    ///
    /// If the sink fails, or a name cannot be written.
    pub fn write_difference<W: io::Write>(&self, creator: &str, sink: W) -> Result<W, Error> {
        let rows = self.difference();
        let mut writer = Writer::new(sink).names(NameStyle::Compressed).positions(PositionStyle::Compressed);
        writer.write(&Record::new(Line::Comment(b" callgrind format")))?;
        writer.header("version", b"1")?;
        writer.header("creator", creator.as_bytes())?;
        let part = self.runs(Side::New).flat_map(|profile| profile.selected(&self.selection)).next();
        if let Some(command) = part.and_then(|part| part.command()) {
            // A reader found it on one line.
            let _ = writer.header("cmd", command.trim_ascii());
        }
        for (kind, side) in [(&b"Base"[..], Side::Base), (b"New", Side::New)] {
            let names: Vec<&str> = self
                .runs(side)
                .flat_map(|profile| profile.inputs())
                .map(|input| input.name.as_str())
                .collect();
            let names = names.join(", ").replace(['\n', '\r'], " ");
            let value = names.trim().as_bytes();
            writer.write(&Record::new(Line::Header(Header::Description { kind, value })))?;
        }
        writer.position_columns(&[PositionKind::Line])?;
        self.write_events(&mut writer)?;
        self.write_rows(&rows, &mut writer)?;
        let totals: Vec<Cost> = self.recorded_columns().map(|column| self.total(column).delta()).collect();
        write_remainder(&rows, &totals, &mut writer)?;
        writer.write(&Record::new(Line::Header(Header::Totals(Costs::new(&totals)))))?;
        writer.finish()
    }

    fn write_events<W: io::Write>(&self, writer: &mut Writer<W>) -> Result<(), Error> {
        let names: Vec<&[u8]> = self.recorded_columns().map(|column| &self.events[column].name[..]).collect();
        let mut unsaid: HashSet<&[u8]> = names.iter().copied().collect();
        for definition in self.runs.iter().flat_map(|run| run.profile.event_definitions()) {
            let EventDefinition { name, formula, long_name } = definition;
            if formula.is_none() && long_name.is_some() && unsaid.remove(name) {
                writer.write(&Record::new(Line::Header(Header::Event(definition))))?;
            }
        }
        writer.write(&Record::new(Line::Header(Header::Events(Words::new(&names)))))
    }

    fn write_rows<W: io::Write>(&self, rows: &Rows, writer: &mut Writer<W>) -> Result<(), Error> {
        let mut current: Option<Mention<'_>> = None;
        let mut of: Option<JoinedId> = None;
        let mut file: &[u8] = b"";
        let mut names = RecurringNames::default();
        for (key, row) in rows.keys.iter().zip(rows.costs.rows()) {
            let (count, costs) = (row[0], &row[1..]);
            let is_zero = count == 0 && costs.iter().all(|&cost| cost == 0);
            if is_zero {
                continue;
            }
            let function = self.as_in_base(key.function);
            if of != Some(key.function) {
                if current.is_none_or(|current| !is_same(current.object, function.object)) {
                    writer.recurring_name(NameKey::Ob, Name::plain(function.object), &mut names)?;
                }
                // Readers differ in what `fn=` after `fi=` means.
                let is_of_file = |current: Mention<'_>| is_same(current.file, function.file);
                if !current.is_some_and(is_of_file) || !is_same(file, function.file) {
                    writer.recurring_name(NameKey::Fl, Name::plain(function.file), &mut names)?;
                }
                writer.recurring_name(NameKey::Fn, Name::plain(function.name), &mut names)?;
                file = function.file;
                current = Some(function);
                of = Some(key.function);
            }
            let [base, new] = self.path(key.place.file);
            let of_line = if key.is_elsewhere { base.or(new).unwrap_or_default() } else { function.file };
            if !is_same(of_line, file) {
                let name = if key.is_elsewhere { NameKey::Fi } else { NameKey::Fe };
                writer.recurring_name(name, Name::plain(of_line), &mut names)?;
                file = of_line;
            }
            let mut role = CostRole::SelfCost;
            if let Some(callee) = key.callee.map(|callee| self.as_in_base(callee)) {
                role = CostRole::Call;
                let mut name =
                    |name_key, name| writer.recurring_name(name_key, Name::plain(name), &mut names);
                name(NameKey::Cob, callee.object)?;
                name(NameKey::Cfi, callee.file)?;
                name(NameKey::Cfn, callee.name)?;
                writer.write(&Record::new(Line::Calls(Calls { count, target: Positions::new(&[0]) })))?;
            }
            let positions = Positions::new(&[key.place.line]);
            writer.write(&Record::new(Line::Cost(CostLine { role, positions, costs: Costs::new(costs) })))?;
        }
        Ok(())
    }

    /// Returns a function as the base mentions it, or else as the new profile does.
    fn as_in_base(&self, function: JoinedId) -> Mention<'_> {
        self.in_base(function).unwrap_or(self.mention(function))
    }

    /// Subtracts the base from the new side, by line.
    fn difference(&self) -> Rows {
        let runs: Vec<(Side, Rows)> =
            (0..self.runs.len()).map(|run| (self.runs[run].side, self.rows_of(run))).collect();
        let mut keys: Vec<Key> = runs.iter().flat_map(|(_, rows)| rows.keys.iter().copied()).collect();
        keys.sort_unstable();
        keys.dedup();
        let width = self.recorded_columns().len() + 1;
        let mut costs = CostTable::new(width, 0);
        let mut next = vec![0; runs.len()];
        let (mut of_key, mut row) = (Vec::new(), vec![0; width]);
        for key in &keys {
            of_key.clear();
            for ((side, rows), next) in runs.iter().zip(&mut next) {
                let found = rows.keys.get(*next) == Some(key);
                of_key.push((*side, found.then(|| rows.costs.row(*next))));
                *next += usize::from(found);
            }
            for (column, cost) in row.iter_mut().enumerate() {
                *cost = Change::from_rows(of_key.iter().copied(), column).delta();
            }
            costs.push(&row);
        }
        Rows { keys, costs }
    }

    /// Sums the lines of a run.
    fn rows_of(&self, run: usize) -> Rows {
        let profile = self.runs[run].profile;
        let columns = columns_of(profile, &self.events);
        let width = self.recorded_columns().len() + 1;
        let joined = |function| self.identity.joined(run, function);
        let (mut keys, mut costs) = (Vec::new(), CostTable::new(width, 0));
        for part in profile.selected(&self.selection) {
            let events = part.event_types();
            let runs = profile.fold_lines(
                &part,
                || (Vec::new(), CostTable::new(width, 0), Vec::new()),
                |(keys, costs, of_profile): &mut (Vec<Key>, CostTable, Vec<Cost>), function, line| {
                    let (place, callee, count, of_line) = match line {
                        BlockLine::SelfCost { place, costs } => (place, None, 0, costs),
                        BlockLine::Calls { place, callee, count, costs, .. } => {
                            (place, Some(joined(callee)), count, costs)
                        }
                        BlockLine::Jump { .. } => return,
                    };
                    of_profile.clear();
                    of_profile.resize(columns.len(), 0);
                    place_costs(&of_line, events, of_profile);
                    let function = joined(function);
                    let place = self.line_place(run, &place);
                    let is_elsewhere = place.file != self.file(function);
                    let key = Key { function, is_elsewhere, place, callee };
                    if keys.last() != Some(&key) {
                        keys.push(key);
                        costs.push(&vec![0; width]);
                    }
                    let row = costs.row_mut(keys.len() - 1);
                    row[0] += count;
                    columns.iter().zip(&*of_profile).for_each(|(&column, cost)| row[column + 1] += cost);
                },
            );
            for (of_thread, costs_of_thread, _) in runs {
                keys.extend(of_thread);
                costs_of_thread.rows().for_each(|row| costs.push(row));
            }
        }
        KeyedRows::new(keys, costs)
    }
}

/// Writes what the self costs of the rows lack of the totals as a function of no file: any reader sums up the self costs.
fn write_remainder<W: io::Write>(rows: &Rows, totals: &[Cost], writer: &mut Writer<W>) -> Result<(), Error> {
    let mut remainder = totals.to_vec();
    let of_selves = rows.keys.iter().zip(rows.costs.rows()).filter(|(key, _)| key.callee.is_none());
    for (_, row) in of_selves {
        remainder.iter_mut().zip(&row[1..]).for_each(|(left, cost)| *left -= cost);
    }
    if remainder.iter().all(|&left| left == 0) {
        return Ok(());
    }
    writer.object(b"")?;
    writer.file(b"")?;
    writer.function(REMAINDER)?;
    writer.cost(&[0], &remainder)
}

/// `true` if two names are equal. Those at one place are not compared: they may be long, and each line has one.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    std::ptr::eq(one, other) || one == other
}
