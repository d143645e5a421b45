//! The merged profile, written in an order that does not depend on the order of merging.

use std::collections::BTreeSet;
use std::io;

use gristmill_format::{
    Calls, Cost, CostLine, CostRole, Costs, Error, EventDefinition, Header, Jump, Line, Name, NameKey,
    PositionKind, PositionStyle, Positions, Record, Words, Writer,
};

use super::Merger;
use super::header::{COMMAND, CREATED_BY, CREATOR, EVENT_RUNS, RUNS, event_name};
use super::id::{FileName, MergedFunction, MergedKey, ObjectName};
use super::line::{PackedLine, PackedLines};
use super::line_key::{LineKey, LineKind, LinePosition};
use super::ratio::{Ratio, rounded_quotient};
use crate::cost::add;
use crate::owned_names::OwnedNames;

/// The way to combine the numbers of several runs. See the example of [`Merger`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Combine {
    /// Their sum.
    #[default]
    Sum,
    /// Their sum divided by the count of runs that have the event type, rounded line by line.
    Mean,
    /// Their median, line by line; of two in the middle, their mean. A run without a line has 0. It needs a merger that
    /// keeps runs.
    Median,
}

/// The options of writing a merged profile. See the example of [`Merger`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MergeFormat {
    /// The way to combine the numbers of several runs.
    pub combine: Combine,
    /// A factor for all numbers, counts included.
    pub scale: Option<Ratio>,
}

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

    fn lines_of(&self, function: MergedFunction) -> &PackedLines {
        &self.lines[function.index()]
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
    /// The columns of rows in the order in which they are written.
    columns: Vec<usize>,
    kinds: Vec<PositionKind>,
    object_ids: NameIds,
    file_ids: NameIds,
    /// By function, not by name: some readers identify functions of one name by their ids.
    function_ids: NameIds,
    /// Ids that no name gets: some names would be read as references to them.
    avoided: BTreeSet<u64>,
    object: Option<ObjectName>,
    /// The file of the lines that follow, and that of the last `fl=`.
    file: Option<FileName>,
    last_fl: Option<FileName>,
}

impl<'m, W: io::Write> Writing<'m, W> {
    fn new(merger: &'m Merger, format: &'m MergeFormat, sink: W) -> Self {
        let names = [&merger.objects, &merger.files, &merger.function_names];
        Writing {
            merger,
            format,
            writer: Writer::new(sink).positions(PositionStyle::Compressed),
            ranks: Ranks::new(merger),
            columns: merger.headers.in_order(),
            kinds: merger.headers.positions.kinds(),
            object_ids: NameIds::new(merger.objects.len()),
            file_ids: NameIds::new(merger.files.len()),
            function_ids: NameIds::new(merger.functions.keys.len()),
            avoided: names.into_iter().flat_map(OwnedNames::iter).flat_map(references).collect(),
            object: None,
            file: None,
            last_fl: None,
        }
    }

    fn run(mut self) -> Result<W, Error> {
        let mut functions: Vec<MergedFunction> =
            (0..self.merger.functions.keys.len()).map(MergedFunction::new).collect();
        functions.retain(|&function| self.has_lines(function));
        functions.sort_by_cached_key(|&function| self.ranks.function(self.merger.key(function)));
        let totals = self.totals(&functions)?;
        self.header(&totals)?;
        for function in functions {
            self.function(function)?;
        }
        self.record(Line::Blank)?;
        self.record(Line::Header(Header::Totals(Costs::new(shortened(&totals)))))?;
        self.writer.finish()
    }

    fn has_lines(&self, function: MergedFunction) -> bool {
        self.merger.lines_of(function).len() > 0
    }

    fn record(&mut self, line: Line<'_>) -> Result<(), Error> {
        self.writer.write(&Record::new(line))
    }

    /// Sums what is written: rounded numbers have another sum than those of the runs.
    fn totals(&self, functions: &[MergedFunction]) -> Result<Vec<Cost>, Error> {
        let mut totals = vec![0; self.columns.len()];
        for &function in functions {
            let is_self = |line: &PackedLine<'_>| line.key.kind == LineKind::SelfCost;
            let mut numbers = Numbers::default();
            for line in self.merger.lines_of(function).iter().filter(is_self) {
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
        let lines = self.merger.lines_of(function);
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
        let mut numbers = Numbers::default();
        for line in lines.drain(..) {
            if !numbers.take(&line) {
                self.line(function, &numbers)?;
                numbers.begin(&line);
            }
        }
        self.line(function, &numbers)
    }

    /// Returns the sort key of lines of one position and kind: their target.
    fn order(&self, key: &LineKey) -> Order {
        let function = key.function.map(|function| self.ranks.function(self.merger.key(function)));
        let file = match key.kind {
            LineKind::SelfCost | LineKind::Calls => 0,
            LineKind::Jump | LineKind::ConditionalJump => self.ranks.file(key.target.file),
        };
        (function, file, LinePosition { file: FileName::FIRST, ..key.target }, key.run)
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
        self.record(Line::Name(key, name))
    }

    fn write_file(&mut self, key: NameKey, file: FileName) -> Result<(), Error> {
        let name = self.file_ids.name(file.index(), self.merger.file_name(file), &self.avoided);
        self.record(Line::Name(key, name))
    }

    fn write_function(&mut self, key: NameKey, function: MergedFunction) -> Result<(), Error> {
        let text = self.merger.function_names.name(self.merger.key(function).name.to_u32());
        let name = self.function_ids.name(function.index(), text, &self.avoided);
        self.record(Line::Name(key, name))
    }

    /// Writes a line, unless there is none yet.
    fn line(&mut self, function: MergedFunction, numbers: &Numbers) -> Result<(), Error> {
        let Some(key) = numbers.key else { return Ok(()) };
        let own = self.merger.key(function);
        let position = key.position;
        if self.needs_file(self.file, position.file) {
            let name_key = if position.file == own.file { NameKey::Fe } else { NameKey::Fi };
            self.write_file(name_key, position.file)?;
            self.file = Some(position.file);
        }
        let row = self.combined(numbers);
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
                let count = self.count(numbers);
                self.record(Line::Calls(Calls { count, target: self.positions(&key.target) }))?;
                let costs = Costs::new(shortened(&row));
                self.record(Line::Cost(CostLine { role: CostRole::Call, positions, costs }))
            }
            (LineKind::SelfCost | LineKind::Calls, _) => {
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
                let executed = (key.kind == LineKind::ConditionalJump).then(|| self.executed(numbers));
                self.record(Line::Jump(Jump { taken: self.count(numbers), executed, target }))?;
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

    /// Returns the costs of a line in the order in which they are written.
    fn combined(&self, numbers: &Numbers) -> Vec<Cost> {
        self.columns.iter().map(|&column| self.number(numbers, column + 1, Some(column))).collect()
    }

    fn count(&self, numbers: &Numbers) -> Cost {
        self.number(numbers, 0, None)
    }

    /// Returns the count of times that a jump was reached. It is where calls have their first cost, but all runs have it.
    fn executed(&self, numbers: &Numbers) -> Cost {
        self.number(numbers, 1, None)
    }

    /// Returns a number of a line. Some runs have an event type, all have a count.
    fn number(&self, numbers: &Numbers, index: usize, event: Option<usize>) -> Cost {
        let value = |row: &Vec<Cost>| row.get(index).copied().unwrap_or(0);
        let combined = match self.format.combine {
            Combine::Sum => numbers.rows.iter().map(|(_, row)| value(row)).sum(),
            Combine::Mean => {
                let sum = numbers.rows.iter().map(|(_, row)| value(row)).sum();
                let runs = event.map_or(self.merger.headers.runs, |column| self.merger.runs_with(column));
                Ratio::from_divisor(runs).apply(sum).unwrap_or(sum)
            }
            Combine::Median => {
                // Columns that came after a run are not in its list.
                let has =
                    |run: usize| event.is_none_or(|column| self.merger.runs[run].get(column) == Some(&true));
                let runs = (0..self.merger.runs.len()).filter(|&run| has(run)).count();
                let lines = numbers.rows.iter().filter(|(run, _)| has(*run as usize));
                let mut values: Vec<Cost> = lines.map(|(_, row)| value(row)).collect();
                values.resize(runs.max(values.len()), 0);
                median(&mut values)
            }
        };
        // The writer refuses what no file can hold.
        self.format.scale.map_or(combined, |scale| scale.apply(combined).unwrap_or(Cost::MAX))
    }
}

type Order = (Option<FunctionRank>, u32, LinePosition, u32);

/// The numbers of one line, by run.
#[derive(Debug, Default)]
struct Numbers {
    key: Option<LineKey>,
    rows: Vec<(u32, Vec<Cost>)>,
}

impl Numbers {
    /// Adds the numbers of a line that differs in its run only. Returns `false` for another line, or the first.
    fn take(&mut self, line: &PackedLine<'_>) -> bool {
        let same = self.key.is_some_and(|key| LineKey { run: line.key.run, ..key } == line.key);
        if same {
            self.push(line);
        }
        same
    }

    fn begin(&mut self, line: &PackedLine<'_>) {
        self.key = Some(line.key);
        self.rows.clear();
        self.push(line);
    }

    fn push(&mut self, line: &PackedLine<'_>) {
        let mut row = Vec::new();
        line.add_to(&mut row);
        self.rows.push((line.key.run, row));
    }
}

/// Returns the numbers in parentheses of a name such as `(12)'2'(7)`, which a reader may take for name ids.
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
    match values.len() {
        0 => 0,
        count if count.is_multiple_of(2) => rounded_quotient(values[middle - 1] + values[middle], 2),
        _ => values[middle],
    }
}

/// Removes the zeros at the end, but not the first cost.
fn shortened(costs: &[Cost]) -> &[Cost] {
    let len = costs.iter().rposition(|&cost| cost != 0).map_or(1, |last| last + 1);
    costs.get(..len).unwrap_or(costs)
}
