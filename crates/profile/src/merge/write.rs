//! The merged profile, written in an order that does not depend on the order of merging.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io;

use gristmill_format::{
    Calls, Cost, CostLine, CostRole, Costs, Error, EventDefinition, Header, Jump, Line, Name, NameKey,
    PositionKind, PositionStyle, Positions, Record, RecurringNames, Words, Writer,
};

use super::Merger;
use super::header::{CALL_RUNS, COMMAND, CREATED_BY, CREATOR, EVENT_RUNS, INCLUSIVE_RUNS, RUNS, event_name};
use super::id::{FileName, MergedFunction, MergedKey, ObjectName};
use super::line::{PackedLine, PackedLines};
use super::line_key::{LineKey, LineKind, LinePosition};
use super::options::{Combine, MergeFormat};
use super::ratio::rounded_quotient;
use super::rounding::{Rounding, Slot, rounded_to_sum};
use crate::owned_names::OwnedNames;

impl Merger {
    /// Writes the merged profile, and returns the sink.
    ///
    /// # Errors
    ///
    /// If there is no event type, if a sum exceeds 64 bits, or if the sink fails.
    pub fn write<W: io::Write>(&self, format: &MergeFormat, sink: W) -> Result<W, Error> {
        Writing::new(self, format, sink).run()
    }
}

/// The rank of each name in the order of bytes.
struct Ranks {
    objects: Vec<u32>,
    files: Vec<u32>,
    names: Vec<u32>,
}

/// The ranks of a function's object, file and name.
type FunctionRank = [u32; 3];

impl Ranks {
    fn new(merger: &Merger) -> Self {
        let ranks = |names: &OwnedNames| {
            let mut order: Vec<u32> = (0u32..).take(names.len()).collect();
            order.sort_unstable_by_key(|&id| names.name(id));
            let mut ranks = vec![0; names.len()];
            for (rank, id) in (0u32..).zip(order) {
                ranks[id as usize] = rank;
            }
            ranks
        };
        Ranks {
            objects: ranks(&merger.objects),
            files: ranks(&merger.files),
            names: ranks(&merger.function_names),
        }
    }

    fn file(&self, file: FileName) -> u32 {
        self.files[file.index()]
    }

    fn function(&self, key: MergedKey) -> FunctionRank {
        let MergedKey { object, file, name } = key;
        [self.objects[object.index()], self.file(file), self.names[name.index()]]
    }
}

impl Merger {
    fn key(&self, function: MergedFunction) -> MergedKey {
        self.functions.keys[function.index()]
    }

    fn object_name(&self, object: ObjectName) -> &[u8] {
        self.objects.name(object.to_u32())
    }

    fn file_name(&self, file: FileName) -> &[u8] {
        self.files.name(file.to_u32())
    }
}

/// The name ids of one name space in the output.
struct NameIds {
    /// By name: its id, once it is written.
    ids: Vec<Option<u64>>,
    last: u64,
}

impl NameIds {
    fn new(names: usize) -> Self {
        NameIds { ids: vec![None; names], last: 0 }
    }

    /// Returns a name as it is written: defined at first, then referred to.
    fn name<'n>(&mut self, index: usize, text: &'n [u8], avoided: &BTreeSet<u64>) -> Name<'n> {
        match &mut self.ids[index] {
            Some(id) => Name::refer(*id, text),
            None if text.is_empty() => Name::plain(text),
            new => {
                self.last += 1;
                while avoided.contains(&self.last) {
                    self.last += 1;
                }
                *new = Some(self.last);
                Name::define(self.last, text)
            }
        }
    }
}

struct Writing<'m, W> {
    merger: &'m Merger,
    format: &'m MergeFormat,
    writer: Writer<W>,
    ranks: Ranks,
    /// By function.
    lines: Vec<Cow<'m, PackedLines>>,
    /// The columns of rows in the order in which they are written.
    columns: Vec<usize>,
    kinds: Vec<PositionKind>,
    object_ids: NameIds,
    file_ids: NameIds,
    /// By function, not by name: some readers identify functions of one name by their ids.
    function_ids: NameIds,
    recurring: RecurringNames<'m>,
    /// Ids that no name gets: some names would be read as references to them.
    avoided: BTreeSet<u64>,
    object: Option<ObjectName>,
    /// The file of the lines that follow, and that of the last `fl=`.
    file: Option<FileName>,
    last_fl: Option<FileName>,
    rounding: Rounding,
    /// The numbers of the lines of the current function, unless they are exact.
    rounded: BTreeMap<LineKey, Vec<Cost>>,
}

impl<'m, W: io::Write> Writing<'m, W> {
    fn new(merger: &'m Merger, format: &'m MergeFormat, sink: W) -> Self {
        let names = [&merger.objects, &merger.files, &merger.function_names];
        Writing {
            merger,
            format,
            writer: Writer::new(sink).positions(PositionStyle::Compressed),
            ranks: Ranks::new(merger),
            lines: merger.combined_lines(format.combine),
            columns: merger.headers.in_order(),
            kinds: merger.headers.positions.kinds(),
            object_ids: NameIds::new(merger.objects.len()),
            file_ids: NameIds::new(merger.files.len()),
            function_ids: NameIds::new(merger.functions.keys.len()),
            recurring: RecurringNames::default(),
            avoided: names.into_iter().flat_map(OwnedNames::iter).flat_map(references).collect(),
            object: None,
            file: None,
            last_fl: None,
            rounding: Rounding::new(merger, format),
            rounded: BTreeMap::new(),
        }
    }

    fn run(mut self) -> Result<W, Error> {
        let mut functions: Vec<MergedFunction> =
            (0..self.merger.functions.keys.len()).map(MergedFunction::new).collect();
        functions.retain(|&function| self.has_lines(function));
        functions.sort_by_cached_key(|&function| self.ranks.function(self.merger.key(function)));
        let totals = self.totals(&functions);
        self.header(&totals)?;
        for (index, function) in functions.into_iter().enumerate() {
            self.round(index, function);
            self.function(function)?;
        }
        self.record(Line::Blank)?;
        self.record(Line::Header(Header::Totals(Costs::new(shortened(&totals)))))?;
        self.writer.finish()
    }

    fn has_lines(&self, function: MergedFunction) -> bool {
        self.merger.lines[function.index()].len() > 0
    }

    fn record(&mut self, line: Line<'_>) -> Result<(), Error> {
        self.writer.write(&Record::new(line))
    }

    /// Returns the totals, and decides on those of functions where numbers have to be rounded.
    fn totals(&mut self, functions: &[MergedFunction]) -> Vec<Cost> {
        let slots = self.rounding.slots.len();
        let mut sums: Vec<Vec<Cost>> = Vec::new();
        let mut totals = vec![0; slots];
        for &function in functions {
            let mut sum = vec![0; slots];
            self.each_numerators(function, |_, numbers| {
                for (slot, value) in numbers {
                    sum[slot] = Cost::saturating_add(sum[slot], value);
                }
            });
            totals.iter_mut().zip(&sum).for_each(|(total, sum)| *total = Cost::saturating_add(*total, *sum));
            if !self.rounding.is_exact {
                sums.push(sum);
            }
        }
        for (slot, &Slot { denominator, .. }) in self.rounding.slots.iter().enumerate() {
            totals[slot] = rounded_quotient(totals[slot], denominator);
            let of_slot: Vec<Cost> = sums.iter().map(|sum| sum[slot]).collect();
            for (sum, rounded) in sums.iter_mut().zip(rounded_to_sum(&of_slot, denominator, totals[slot])) {
                sum[slot] = rounded;
            }
        }
        self.rounding.of_functions = sums;
        self.columns.iter().map(|&column| totals[column]).collect()
    }

    /// Passes the numerators of the costs and counts of each line of a function, by slot, in any order of lines.
    fn each_numerators(&self, function: MergedFunction, mut take: impl FnMut(LineKey, Vec<(usize, Cost)>)) {
        let mut row = Vec::new();
        for line in self.lines[function.index()].iter() {
            row.clear();
            line.add_to(&mut row);
            let slots = self.rounding.slots_of(line.key.kind);
            let numerators = slots.map(|slot| (slot, self.rounding.slots[slot].numerator(&row)));
            take(line.key, numerators.collect());
        }
    }

    /// Rounds the numbers of the lines of a function, so that they add up to its totals.
    fn round(&mut self, index: usize, function: MergedFunction) {
        self.rounded.clear();
        let Some(sums) = self.rounding.of_functions.get(index) else { return };
        let mut lines: Vec<ExactLine> = Vec::new();
        self.each_numerators(function, |key, numerators| {
            // Jumps have no totals.
            if !numerators.is_empty() {
                lines.push((key, numerators));
            }
        });
        // The order of the output, which does not depend on the order of merging.
        lines.sort_by_cached_key(|(key, _)| {
            let position = LinePosition { file: FileName::FIRST, ..key.position };
            (self.ranks.file(key.position.file), position, key.kind, self.order(key))
        });
        let mut rounded: Vec<(LineKey, Vec<Cost>)> =
            lines.iter().map(|(key, numerators)| (*key, vec![0; numerators.len()])).collect();
        for (slot, &sum) in sums.iter().enumerate() {
            let find = |(line, (_, numerators)): (usize, &ExactLine)| {
                let first = numerators.first()?.0;
                let index = slot.checked_sub(first)?;
                Some((line, index, numerators.get(index)?.1))
            };
            let of_slot: Vec<(usize, usize, Cost)> = lines.iter().enumerate().filter_map(find).collect();
            let values: Vec<Cost> = of_slot.iter().map(|&(.., value)| value).collect();
            let denominator = self.rounding.slots[slot].denominator;
            for (&(line, index, _), value) in of_slot.iter().zip(rounded_to_sum(&values, denominator, sum)) {
                rounded[line].1[index] = value;
            }
        }
        self.rounded = rounded.into_iter().collect();
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
        let runs = match self.format.combine {
            Combine::Median => merger.runs.len() as u64,
            Combine::Sum | Combine::Mean => headers.runs,
        };
        let kind = match (self.format.combine, self.format.scale) {
            (Combine::Sum, None) => RUNS,
            (Combine::Sum, Some(_)) => "Scaled runs",
            (Combine::Mean, _) => "Mean of runs",
            (Combine::Median, _) => "Median of runs",
        };
        self.describe(kind.as_bytes(), runs.to_string().as_bytes())?;
        if let Some(scale) = self.format.scale {
            self.describe(b"Scaled by", scale.to_string().as_bytes())?;
        }
        for column in self.columns.clone() {
            let with = merger.runs_with(column);
            if with < headers.runs {
                let mut value = event_name(&headers.events[column]);
                value.extend_from_slice(format!(" in {with} of {} runs", headers.runs).as_bytes());
                self.describe(EVENT_RUNS.as_bytes(), &value)?;
            }
        }
        self.describe_call_runs()?;
        let kinds = self.kinds.clone();
        self.writer.position_columns(&kinds)?;
        for (name, formula, long_name) in &headers.definitions {
            let [formula, long_name] = [formula, long_name].map(Option::as_deref);
            self.record(Line::Header(Header::Event(EventDefinition { name, formula, long_name })))?;
        }
        let events = self.columns.iter().map(|&column| &headers.events[column]);
        let events: Vec<&[u8]> = events.map(|(name, _)| &name[..]).collect();
        self.record(Line::Header(Header::Events(Words::new(&events))))?;
        self.record(Line::Header(Header::Summary(Costs::new(shortened(totals)))))
    }

    /// Says which numbers of calls only some runs have, if some have calls.
    fn describe_call_runs(&mut self) -> Result<(), Error> {
        let headers = &self.merger.headers;
        let (runs, call_runs) = (headers.runs, headers.call_runs);
        if call_runs == 0 {
            return Ok(());
        }
        if call_runs < runs {
            self.describe(CALL_RUNS.as_bytes(), format!("{call_runs} of {runs} runs").as_bytes())?;
        }
        for column in self.columns.clone() {
            let with = headers.call_runs_with[column];
            if with < self.merger.runs_with(column) {
                let mut value = event_name(&headers.events[column]);
                value.extend_from_slice(format!(" in {with} of {runs} runs").as_bytes());
                self.describe(INCLUSIVE_RUNS.as_bytes(), &value)?;
            }
        }
        Ok(())
    }

    fn describe(&mut self, kind: &[u8], value: &[u8]) -> Result<(), Error> {
        self.record(Line::Header(Header::Description { kind, value }))
    }

    fn function(&mut self, function: MergedFunction) -> Result<(), Error> {
        let MergedKey { object, file, .. } = self.merger.key(function);
        self.record(Line::Blank)?;
        if self.needs_object(object) {
            self.write_object(NameKey::Ob, object)?;
            self.object = Some(object);
        }
        // `fn=` goes back to the file of the last `fl=`, though not for all readers.
        if self.needs_file(self.file, file) || self.needs_file(self.last_fl, file) {
            self.write_file(NameKey::Fl, file)?;
            (self.file, self.last_fl) = (Some(file), Some(file));
        }
        self.write_function(NameKey::Fn, function)?;
        let lines = self.lines[function.index()].clone();
        // Lines are kept in the order of positions, but the ids of files depend on the order of merging.
        let mut files = lines.files();
        files.sort_unstable_by_key(|&(other, _)| (other != file, self.ranks.file(other)));
        for (_, range) in files {
            let mut at_position: Vec<PackedLine<'_>> = Vec::new();
            for line in lines.within(range) {
                let is_there = |first: &PackedLine<'_>| {
                    (first.key.position, first.key.kind) == (line.key.position, line.key.kind)
                };
                if !at_position.first().is_some_and(is_there) {
                    self.lines_at_position(function, &mut at_position)?;
                }
                at_position.push(line);
            }
            self.lines_at_position(function, &mut at_position)?;
        }
        Ok(())
    }

    /// Writes lines of one position and kind, and clears them.
    fn lines_at_position(
        &mut self,
        function: MergedFunction,
        lines: &mut Vec<PackedLine<'_>>,
    ) -> Result<(), Error> {
        if lines.len() > 1 {
            lines.sort_by_cached_key(|line| self.order(&line.key));
        }
        lines.drain(..).try_for_each(|line| self.line(function, &line))
    }

    /// Returns the sort key of lines of one position and kind: their target.
    fn order(&self, key: &LineKey) -> Order {
        let function = key.function.map(|function| self.ranks.function(self.merger.key(function)));
        let file = match key.kind {
            LineKind::SelfCost | LineKind::Calls => 0,
            LineKind::Jump | LineKind::ConditionalJump => self.ranks.file(key.target.file),
        };
        (function, file, LinePosition { file: FileName::FIRST, ..key.target })
    }

    /// Returns `true` if a file name has to be written. Before the first one, the name is empty.
    fn needs_file(&self, current: Option<FileName>, file: FileName) -> bool {
        current.map_or_else(|| !self.merger.file_name(file).is_empty(), |current| current != file)
    }

    fn needs_object(&self, object: ObjectName) -> bool {
        let is_named = || !self.merger.object_name(object).is_empty();
        self.object.map_or_else(is_named, |current| current != object)
    }

    fn write_object(&mut self, key: NameKey, object: ObjectName) -> Result<(), Error> {
        let name = self.object_ids.name(object.index(), self.merger.object_name(object), &self.avoided);
        self.writer.recurring_name(key, name, &mut self.recurring)
    }

    fn write_file(&mut self, key: NameKey, file: FileName) -> Result<(), Error> {
        let name = self.file_ids.name(file.index(), self.merger.file_name(file), &self.avoided);
        self.writer.recurring_name(key, name, &mut self.recurring)
    }

    fn write_function(&mut self, key: NameKey, function: MergedFunction) -> Result<(), Error> {
        let text = self.merger.function_names.name(self.merger.key(function).name.to_u32());
        let name = self.function_ids.name(function.index(), text, &self.avoided);
        self.writer.recurring_name(key, name, &mut self.recurring)
    }

    fn line(&mut self, function: MergedFunction, line: &PackedLine<'_>) -> Result<(), Error> {
        let key = line.key;
        let numbers = &self.numbers(line);
        let own = self.merger.key(function);
        let position = key.position;
        if self.needs_file(self.file, position.file) {
            let name_key = if position.file == own.file { NameKey::Fe } else { NameKey::Fi };
            self.write_file(name_key, position.file)?;
            self.file = Some(position.file);
        }
        let positions = self.positions(&position);
        match (key.kind, key.function) {
            (LineKind::Calls, Some(callee)) => {
                let MergedKey { object, file, .. } = self.merger.key(callee);
                // A callee without lines might be read as another one if its object and file were not named.
                let is_alone = !self.has_lines(callee);
                if is_alone || object != own.object {
                    self.write_object(NameKey::Cob, object)?;
                }
                if is_alone || self.needs_file(self.file, file) {
                    self.write_file(NameKey::Cfi, file)?;
                }
                self.write_function(NameKey::Cfn, callee)?;
                let count = numbers[0];
                self.record(Line::Calls(Calls { count, target: self.positions(&key.target) }))?;
                let row = self.in_order(&numbers[1..]);
                let costs = Costs::new(shortened(&row));
                self.record(Line::Cost(CostLine { role: CostRole::Call, positions, costs }))
            }
            (LineKind::SelfCost | LineKind::Calls, _) => {
                let row = self.in_order(numbers);
                let costs = Costs::new(shortened(&row));
                self.record(Line::Cost(CostLine { role: CostRole::SelfCost, positions, costs }))
            }
            (LineKind::Jump | LineKind::ConditionalJump, to) => {
                if self.needs_file(self.file, key.target.file) {
                    self.write_file(NameKey::Jfi, key.target.file)?;
                }
                if let Some(to) = to {
                    self.write_function(NameKey::Jfn, to)?;
                }
                let target = self.positions(&key.target);
                let executed = (key.kind == LineKind::ConditionalJump).then_some(numbers[1]);
                self.record(Line::Jump(Jump { taken: numbers[0], executed, target }))?;
                let costs = Costs::new(&[]);
                self.record(Line::Cost(CostLine { role: CostRole::JumpSource, positions, costs }))
            }
        }
    }

    fn positions(&self, position: &LinePosition) -> Positions {
        let values: Vec<u64> = self
            .kinds
            .iter()
            .map(|kind| match kind {
                PositionKind::Instr => position.address,
                PositionKind::Bb => position.basic_block,
                _ => position.line,
            })
            .collect();
        Positions::new(&values)
    }

    /// Returns the numbers of a line: those of its slots, or the two counts of a jump, which has no totals.
    fn numbers(&self, line: &PackedLine<'_>) -> Vec<Cost> {
        let mut row = Vec::new();
        line.add_to(&mut row);
        match line.key.kind {
            LineKind::SelfCost | LineKind::Calls => {
                if let Some(rounded) = self.rounded.get(&line.key) {
                    return rounded.clone();
                }
                let slots = &self.rounding.slots[self.rounding.slots_of(line.key.kind)];
                slots.iter().map(|slot| slot.numerator(&row)).collect()
            }
            LineKind::Jump | LineKind::ConditionalJump => {
                let slots = [0, 1].map(|index| Slot { index, ..self.rounding.jumps });
                slots.map(|slot| rounded_quotient(slot.numerator(&row), slot.denominator)).to_vec()
            }
        }
    }

    /// Returns costs by column in the order in which they are written.
    fn in_order(&self, costs: &[Cost]) -> Vec<Cost> {
        self.columns.iter().map(|&column| costs[column]).collect()
    }
}

/// A line with the numerators of its numbers, by slot.
type ExactLine = (LineKey, Vec<(usize, Cost)>);

type Order = (Option<FunctionRank>, u32, LinePosition);

/// Returns the numbers in parentheses of a name such as `(12)'2'(7)`, which a reader may take for name ids.
pub(crate) fn references(name: &[u8]) -> impl Iterator<Item = u64> + use<'_> {
    let pieces = name.split(|&byte| byte == b'\'').filter(|_| name.starts_with(b"("));
    pieces.filter_map(|piece| {
        let digits = piece.strip_prefix(b"(")?.strip_suffix(b")")?;
        std::str::from_utf8(digits).ok()?.trim().parse().ok()
    })
}

/// Removes the zeros at the end, but not the first cost.
fn shortened(costs: &[Cost]) -> &[Cost] {
    let len = costs.iter().rposition(|&cost| cost != 0).map_or(1, |last| last + 1);
    costs.get(..len).unwrap_or(costs)
}
