//! The merged profile, written: everything in one order, whatever it was put together from.

use std::collections::BTreeSet;
use std::io;

use gristmill_format::{
    Calls, Cost, CostLine, CostRole, Costs, Error, EventDefinition, Header, Jump, Line, Name, NameKey,
    PositionKind, PositionStyle, Positions, Record, Words, Writer,
};

use super::Merger;
use super::header::{COMMAND, CREATED_BY, CREATOR, EVENT_RUNS, RUNS, event_name};
use super::line::{KeptLine, Kind, LineKey, Spot};
use super::ratio::{Ratio, rounded_quotient};
use crate::cost::add;
use crate::owned_names::NameList;

/// What becomes of the numbers of several runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Combine {
    /// Their sum.
    #[default]
    Sum,
    /// Their sum by the number of runs that have the event type, rounded line by line.
    Mean,
    /// The number in the middle, line by line; of two, what lies between them. A line that a run lacks costs it 0. Needs
    /// a merger that keeps runs.
    Median,
}

/// How a merged profile is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WriteMerged {
    /// What becomes of the numbers of several runs.
    pub combine: Combine,
    /// A factor for all numbers, counts included.
    pub scale: Option<Ratio>,
}

impl Merger {
    /// Writes the merged profile, and returns the sink.
    ///
    /// # Errors
    ///
    /// When there is no event type to write, when 64 bits do not hold a sum, or when the sink fails.
    pub fn write<W: io::Write>(&self, how: &WriteMerged, sink: W) -> Result<W, Error> {
        Writing::new(self, how, sink).run()
    }
}

/// Where names come in the order of their bytes.
struct Ranks([Vec<u32>; 3]);

impl Ranks {
    fn of(merger: &Merger) -> Self {
        Ranks(std::array::from_fn(|space| {
            let names = &merger.names[space];
            let mut order: Vec<u32> = (0u32..).take(names.len()).collect();
            order.sort_unstable_by_key(|&id| names.name(id));
            let mut ranks = vec![0; names.len()];
            for (rank, id) in (0u32..).zip(order) {
                if let Some(place) = ranks.get_mut(id as usize) {
                    *place = rank;
                }
            }
            ranks
        }))
    }

    fn get(&self, space: usize, id: u32) -> u32 {
        self.0.get(space).and_then(|ranks| ranks.get(id as usize)).copied().unwrap_or_default()
    }

    fn of_function(&self, merger: &Merger, function: u32) -> [u32; 3] {
        let [object, file, name] = merger.function_key(function);
        [self.get(0, object), self.get(1, file), self.get(2, name)]
    }
}

impl Merger {
    fn function_key(&self, function: u32) -> [u32; 3] {
        self.functions.keys.get(function as usize).copied().unwrap_or_default()
    }

    fn text(&self, space: usize, id: u32) -> &[u8] {
        self.names.get(space).map(|names| names.name(id)).unwrap_or_default()
    }
}

const OBJECT: usize = 0;
const FILE: usize = 1;
const FUNCTION: usize = 2;

struct Writing<'m, W> {
    merger: &'m Merger,
    how: &'m WriteMerged,
    writer: Writer<W>,
    ranks: Ranks,
    /// The columns of rows in the order in which they are written.
    columns: Vec<usize>,
    kinds: Vec<PositionKind>,
    /// The numbers that names have in the output, once they were written: of objects and files by name, of functions by
    /// function, because other readers tell functions of one name by their numbers.
    numbers: [Vec<u64>; 3],
    last_number: [u64; 3],
    /// Numbers that no name gets: there are names that would be read as references to them.
    avoided: BTreeSet<u64>,
    object: Option<u32>,
    /// The file of the lines that follow, and that of the last `fl=`.
    file: Option<u32>,
    last_fl: Option<u32>,
}

impl<'m, W: io::Write> Writing<'m, W> {
    fn new(merger: &'m Merger, how: &'m WriteMerged, sink: W) -> Self {
        let [objects, files, _] = &merger.names;
        Writing {
            merger,
            how,
            writer: Writer::new(sink).positions(PositionStyle::Compressed),
            ranks: Ranks::of(merger),
            columns: merger.headers.in_order(),
            kinds: merger.headers.positions.kinds(),
            numbers: [vec![0; objects.len()], vec![0; files.len()], vec![0; merger.functions.keys.len()]],
            last_number: [0; 3],
            avoided: merger.names.iter().flat_map(NameList::iter).flat_map(references).collect(),
            object: None,
            file: None,
            last_fl: None,
        }
    }

    fn run(mut self) -> Result<W, Error> {
        let mut functions: Vec<u32> = (0u32..).take(self.merger.functions.keys.len()).collect();
        functions.retain(|&function| self.lines(function).next().is_some());
        functions.sort_by_cached_key(|&function| self.ranks.of_function(self.merger, function));
        let totals = self.totals(&functions)?;
        self.header(&totals)?;
        for function in functions {
            self.function(function)?;
        }
        self.record(Line::Blank)?;
        self.record(Line::Header(Header::Totals(Costs::new(shortened(&totals)))))?;
        self.writer.finish()
    }

    fn record(&mut self, line: Line<'_>) -> Result<(), Error> {
        self.writer.write(&Record::new(line))
    }

    fn lines(&self, function: u32) -> impl Iterator<Item = KeptLine<'m>> + use<'m, W> {
        let lines = self.merger.lines.get(function as usize);
        lines.into_iter().flat_map(super::line::Lines::iter)
    }

    /// The sums of what is written, which are not those of the runs where numbers were rounded.
    fn totals(&self, functions: &[u32]) -> Result<Vec<Cost>, Error> {
        let mut totals = vec![0; self.columns.len()];
        for &function in functions {
            let own = |key: &LineKey| key.kind == Kind::SelfCost;
            let mut numbers = Numbers::default();
            for line in self.lines(function).filter(|line| own(&line.key)) {
                if !numbers.take(&line) {
                    add(&mut totals, &self.combined(&numbers));
                    numbers.begin(&line);
                }
            }
            add(&mut totals, &self.combined(&numbers));
        }
        Ok(totals)
    }

    fn header(&mut self, totals: &[Cost]) -> Result<(), Error> {
        let merger = self.merger;
        let headers = &merger.headers;
        self.record(Line::Comment(b" callgrind format"))?;
        self.writer.header("version", b"1")?;
        self.writer.header("creator", format!("{CREATOR}{}", env!("CARGO_PKG_VERSION")).as_bytes())?;
        if headers.commands.len() == 1 {
            for command in &headers.commands {
                self.writer.header("cmd", command)?;
            }
        }
        for (kind, value) in &headers.descriptions {
            self.describe(kind, value)?;
        }
        for creator in &headers.creators {
            self.describe(CREATED_BY.as_bytes(), creator)?;
        }
        if headers.commands.len() > 1 {
            for command in &headers.commands {
                self.describe(COMMAND.as_bytes(), command)?;
            }
        }
        let runs = match self.how.combine {
            Combine::Median => merger.runs.len() as u64,
            Combine::Sum | Combine::Mean => headers.runs,
        };
        let kind = match (self.how.combine, self.how.scale) {
            (Combine::Sum, None) => RUNS,
            (Combine::Sum, Some(_)) => "Scaled runs",
            (Combine::Mean, _) => "Mean of runs",
            (Combine::Median, _) => "Median of runs",
        };
        self.describe(kind.as_bytes(), runs.to_string().as_bytes())?;
        if let Some(scale) = self.how.scale {
            self.describe(b"Scaled by", scale.to_string().as_bytes())?;
        }
        for column in self.columns.clone() {
            let with = merger.runs_with(column);
            if let Some(event) = headers.events.get(column).filter(|_| with < headers.runs) {
                let mut value = event_name(event);
                value.extend_from_slice(format!(" in {with} of {} runs", headers.runs).as_bytes());
                self.describe(EVENT_RUNS.as_bytes(), &value)?;
            }
        }
        let kinds = self.kinds.clone();
        self.writer.position_columns(&kinds)?;
        for (name, formula, long_name) in &headers.definitions {
            let [formula, long_name] = [formula, long_name].map(Option::as_deref);
            self.record(Line::Header(Header::Event(EventDefinition { name, formula, long_name })))?;
        }
        let events = self.columns.iter().filter_map(|&column| headers.events.get(column));
        let events: Vec<&[u8]> = events.map(|(name, _)| &name[..]).collect();
        self.record(Line::Header(Header::Events(Words::new(&events))))?;
        self.record(Line::Header(Header::Summary(Costs::new(shortened(totals)))))
    }

    fn describe(&mut self, kind: &[u8], value: &[u8]) -> Result<(), Error> {
        self.record(Line::Header(Header::Description { kind, value }))
    }

    fn function(&mut self, function: u32) -> Result<(), Error> {
        let [object, file, _] = self.merger.function_key(function);
        self.record(Line::Blank)?;
        if self.is_new(OBJECT, self.object, object) {
            self.name(NameKey::Ob, OBJECT, object)?;
            self.object = Some(object);
        }
        // `fn=` goes back to the file of the last `fl=`, though not for all readers.
        if self.is_new(FILE, self.file, file) || self.is_new(FILE, self.last_fl, file) {
            self.name(NameKey::Fl, FILE, file)?;
            (self.file, self.last_fl) = (Some(file), Some(file));
        }
        self.function_name(NameKey::Fn, function)?;
        let Some(lines) = self.merger.lines.get(function as usize) else { return Ok(()) };
        // They are kept in the order of places, but that of files is by chance.
        let mut files = lines.files();
        files.sort_unstable_by_key(|&(other, _)| (other != file, self.ranks.get(FILE, other)));
        for (_, range) in files {
            let mut at_place: Vec<KeptLine<'_>> = Vec::new();
            for line in lines.within(range) {
                let is_there = |first: &KeptLine<'_>| {
                    (first.key.place, first.key.kind) == (line.key.place, line.key.kind)
                };
                if !at_place.first().is_some_and(is_there) {
                    self.lines_of_place(function, &mut at_place)?;
                }
                at_place.push(line);
            }
            self.lines_of_place(function, &mut at_place)?;
        }
        Ok(())
    }

    /// Writes lines of one place and kind, and forgets them.
    fn lines_of_place(&mut self, function: u32, lines: &mut Vec<KeptLine<'_>>) -> Result<(), Error> {
        if lines.len() > 1 {
            lines.sort_by_cached_key(|line| self.order(&line.key));
        }
        let mut numbers = Numbers::default();
        for line in lines.drain(..) {
            if !numbers.take(&line) {
                self.line(function, &numbers)?;
                numbers.begin(&line);
            }
        }
        self.line(function, &numbers)
    }

    /// The order of lines of one place and kind: by what they lead to.
    fn order(&self, key: &LineKey) -> Order {
        let function = match key.kind {
            Kind::SelfCost => [0; 3],
            Kind::Calls => self.ranks.of_function(self.merger, key.function),
            Kind::Jump | Kind::ConditionalJump => key.function.checked_sub(1).map_or([0; 3], |function| {
                self.ranks.of_function(self.merger, function).map(|rank| rank.saturating_add(1))
            }),
        };
        let file = if key.kind == Kind::SelfCost { 0 } else { self.ranks.get(FILE, key.target.file) };
        (function, Spot { file, ..key.target }, key.run)
    }

    /// Whether a name has to be written because another one is in force. Before any was, that is the empty one.
    fn is_new(&self, space: usize, in_force: Option<u32>, name: u32) -> bool {
        match in_force {
            Some(in_force) => in_force != name,
            None => !self.merger.text(space, name).is_empty(),
        }
    }

    fn name(&mut self, key: NameKey, space: usize, id: u32) -> Result<(), Error> {
        self.numbered(key, space, id, self.merger.text(space, id))
    }

    fn function_name(&mut self, key: NameKey, function: u32) -> Result<(), Error> {
        let [_, _, name] = self.merger.function_key(function);
        self.numbered(key, FUNCTION, function, self.merger.text(FUNCTION, name))
    }

    fn numbered(&mut self, key: NameKey, space: usize, id: u32, text: &[u8]) -> Result<(), Error> {
        let mut next = self.last_number.get(space).copied().unwrap_or_default() + 1;
        while self.avoided.contains(&next) {
            next += 1;
        }
        let place = self.numbers.get_mut(space).and_then(|numbers| numbers.get_mut(id as usize));
        let name = match place {
            Some(0) if text.is_empty() => Name::plain(text),
            Some(number @ 0) => {
                *number = next;
                Name::define(next, text)
            }
            Some(number) => Name::refer(*number, text),
            None => Name::plain(text),
        };
        if name.defines
            && let Some(last) = self.last_number.get_mut(space)
        {
            *last = next;
        }
        self.record(Line::Name(key, name))
    }

    /// Writes a line, if there is one yet.
    fn line(&mut self, function: u32, numbers: &Numbers) -> Result<(), Error> {
        let Some(key) = numbers.key else { return Ok(()) };
        let [object, own_file, _] = self.merger.function_key(function);
        let place = key.place;
        if self.is_new(FILE, self.file, place.file) {
            let word = if place.file == own_file { NameKey::Fe } else { NameKey::Fi };
            self.name(word, FILE, place.file)?;
            self.file = Some(place.file);
        }
        let row = self.combined(numbers);
        let positions = self.positions(&place);
        match key.kind {
            Kind::SelfCost => {
                let costs = Costs::new(shortened(&row));
                self.record(Line::Cost(CostLine { role: CostRole::SelfCost, positions, costs }))
            }
            Kind::Calls => {
                let [callee_object, callee_file, _] = self.merger.function_key(key.function);
                // A callee without lines might be taken for another one if its object and file were not named.
                let stands_alone = self.lines(key.function).next().is_none();
                if stands_alone || callee_object != object {
                    self.name(NameKey::Cob, OBJECT, callee_object)?;
                }
                if stands_alone || self.is_new(FILE, self.file, callee_file) {
                    self.name(NameKey::Cfi, FILE, callee_file)?;
                }
                self.function_name(NameKey::Cfn, key.function)?;
                let count = self.count(numbers);
                self.record(Line::Calls(Calls { count, target: self.positions(&key.target) }))?;
                let costs = Costs::new(shortened(&row));
                self.record(Line::Cost(CostLine { role: CostRole::Call, positions, costs }))
            }
            Kind::Jump | Kind::ConditionalJump => {
                if self.is_new(FILE, self.file, key.target.file) {
                    self.name(NameKey::Jfi, FILE, key.target.file)?;
                }
                if let Some(to) = key.function.checked_sub(1) {
                    self.function_name(NameKey::Jfn, to)?;
                }
                let target = self.positions(&key.target);
                let executed = (key.kind == Kind::ConditionalJump).then(|| self.executed(numbers));
                self.record(Line::Jump(Jump { taken: self.count(numbers), executed, target }))?;
                let costs = Costs::new(&[]);
                self.record(Line::Cost(CostLine { role: CostRole::JumpSource, positions, costs }))
            }
        }
    }

    fn positions(&self, spot: &Spot) -> Positions {
        let values: Vec<u64> = self
            .kinds
            .iter()
            .map(|kind| match kind {
                PositionKind::Instr => spot.address,
                PositionKind::Bb => spot.basic_block,
                _ => spot.line,
            })
            .collect();
        Positions::new(&values)
    }

    /// The costs of a line in the order in which they are written.
    fn combined(&self, numbers: &Numbers) -> Vec<Cost> {
        self.columns.iter().map(|&column| self.number(numbers, column + 1, Some(column))).collect()
    }

    fn count(&self, numbers: &Numbers) -> Cost {
        self.number(numbers, 0, None)
    }

    /// How often a jump was reached stands where calls have their first cost, but all runs have it.
    fn executed(&self, numbers: &Numbers) -> Cost {
        self.number(numbers, 1, None)
    }

    /// A number of a line. An event type is that of some runs only, a count that of all.
    fn number(&self, numbers: &Numbers, place: usize, event: Option<usize>) -> Cost {
        let value = |row: &Vec<Cost>| row.get(place).copied().unwrap_or(0);
        let combined = match self.how.combine {
            Combine::Sum => numbers.rows.iter().map(|(_, row)| value(row)).sum(),
            Combine::Mean => {
                let sum = numbers.rows.iter().map(|(_, row)| value(row)).sum();
                let runs = event.map_or(self.merger.headers.runs, |column| self.merger.runs_with(column));
                Ratio::one_by(runs).of(sum).unwrap_or(sum)
            }
            Combine::Median => {
                let has = |run: usize| {
                    event.is_none_or(|column| {
                        self.merger
                            .runs
                            .get(run)
                            .and_then(|events| events.get(column))
                            .copied()
                            .unwrap_or(false)
                    })
                };
                let runs = (0..self.merger.runs.len()).filter(|&run| has(run)).count();
                let lines = numbers.rows.iter().filter(|(run, _)| has(*run as usize));
                let mut values: Vec<Cost> = lines.map(|(_, row)| value(row)).collect();
                values.resize(runs.max(values.len()), 0);
                median(&mut values)
            }
        };
        // What no file can hold is refused when it is written.
        self.how.scale.map_or(combined, |scale| scale.of(combined).unwrap_or(Cost::MAX))
    }
}

type Order = ([u32; 3], Spot, u32);

/// The numbers of one line, by run.
#[derive(Debug, Default)]
struct Numbers {
    key: Option<LineKey>,
    rows: Vec<(u32, Vec<Cost>)>,
}

impl Numbers {
    /// Takes the numbers of a line that is the same but for its run; false if it is another, or the first.
    fn take(&mut self, line: &KeptLine<'_>) -> bool {
        let same = self.key.is_some_and(|key| LineKey { run: line.key.run, ..key } == line.key);
        if same {
            self.push(line);
        }
        same
    }

    fn begin(&mut self, line: &KeptLine<'_>) {
        self.key = Some(line.key);
        self.rows.clear();
        self.push(line);
    }

    fn push(&mut self, line: &KeptLine<'_>) {
        let mut row = Vec::new();
        line.add_to(&mut row);
        self.rows.push((line.key.run, row));
    }
}

/// The numbers in parentheses of a name such as `(12)'2'(7)`, which stand for other names if there are any.
fn references(name: &[u8]) -> impl Iterator<Item = u64> + use<'_> {
    let pieces = name.split(|&byte| byte == b'\'').filter(|_| name.starts_with(b"("));
    pieces.filter_map(|piece| {
        let digits = piece.strip_prefix(b"(")?.strip_suffix(b")")?;
        std::str::from_utf8(digits).ok()?.trim().parse().ok()
    })
}

fn median(values: &mut [Cost]) -> Cost {
    values.sort_unstable();
    let middle = values.len() / 2;
    let upper = values.get(middle).copied().unwrap_or(0);
    match middle.checked_sub(1).and_then(|below| values.get(below)) {
        Some(&lower) if values.len().is_multiple_of(2) => rounded_quotient(lower + upper, 2),
        _ => upper,
    }
}

/// Without the zeros at the end; the first cost is always written.
fn shortened(costs: &[Cost]) -> &[Cost] {
    let len = costs.iter().rposition(|&cost| cost != 0).map_or(1, |last| last + 1);
    costs.get(..len).unwrap_or(costs)
}
