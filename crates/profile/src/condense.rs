//! Condensing: the same profile with fewer lines.
//!
//! Most lines of a profile cost nearly nothing. A condensed profile keeps the lines that make up a share of the self cost of each
//! event type, and those whose calls cost as much. The costs of the other lines of a function are joined at line 0, and their
//! calls by callee. A line stays with its whole cost, in each function and part and at each instruction. So the numbers of
//! functions, of calls between them and of parts are exactly those of the whole profile; only lines and instructions lose theirs.
//! Jumps stay where the line or instruction from which they start stays.
//!
//! On request, cheap functions are joined, too: see [`Condensing::with_fewer_functions`]. The numbers of those that stay are
//! exact.
//!
//! Headers are kept, a part of Xdebug gets totals since it no longer has a block for each call, and positions have the same columns.
//! Lines of basic blocks (`bb=`, `ln=`) and comments are left out.

mod functions;
mod least;
mod lines;
mod numbers;
mod one_sided;
mod source_lines;

use std::collections::BTreeSet;
use std::io;

use gristmill_format::{
    Calls, Cost, CostLine, CostRole, Costs, Error, Header, Jump, Line, Name, NameKey, NameStyle,
    PositionKind, PositionStyle, Positions, ProducerKind, Reader, Record, Writer,
};

pub use self::functions::FunctionCount;
use self::functions::{Functions, WrittenFunction};
use self::least::{LeastCosts, decode};
use self::lines::{FunctionBlocks, JoinedLines, JumpLine, PartBlocks, SelfCosts};
use self::one_sided::functions_with_all_lines;
use self::source_lines::{Side, SourceLines};
use crate::decode::{BlockLine, Place};
use crate::id::{EventId, FileId, FunctionId, ObjectId};
use crate::part::Part;
use crate::profile::Profile;

/// A profile that is written with fewer lines.
///
/// ```
/// use gristmill_profile::Profile;
/// use gristmill_profile::condense::Condensing;
///
/// let profile = Profile::from_bytes(b"events: Ir\nfl=a.c\nfn=f\n1 2\n2 990\n3 5\n3 3\n".to_vec());
/// let mut condensed = Vec::new();
/// let written = Condensing::new(&profile, 990).write(0, &mut condensed)?;
/// assert_eq!((written.lines.all, written.lines.kept), (4, 1));
/// assert_eq!(written.kept_per_mille(profile.events().next().unwrap()), 990);
/// let expected = "# callgrind format\nevents: Ir\n\nfl=(1) a.c\nfn=(1) f\n2 990\n-2 10\n";
/// assert_eq!(String::from_utf8_lossy(&condensed), expected);
/// # Ok::<(), gristmill_format::Error>(())
/// ```
#[derive(Debug)]
pub struct Condensing<'p> {
    profile: &'p Profile,
    functions: Functions<'p>,
    per_mille: u32,
    /// The source lines that stay, with their costs in all functions and parts.
    lines: SourceLines,
    /// The least costs, if all lines with costs stay: then none of them is in the set.
    least: Option<LeastCosts>,
}

/// Counts of lines with self costs or calls. See the example of [`Condensing`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LineCount {
    /// Those of the profile.
    pub all: u64,
    /// Those that are kept as they are.
    pub kept: u64,
}

impl LineCount {
    fn add(&mut self, is_kept: bool) {
        self.all += 1;
        self.kept += u64::from(is_kept);
    }
}

/// The lines that were written, and what they make up. See the example of [`Condensing`].
#[derive(Debug, Clone, Default)]
pub struct WrittenLines {
    /// Their count.
    pub lines: LineCount,
    self_costs: SelfCosts,
}

impl WrittenLines {
    /// Returns the share of the self cost of an event type that the lines have which are kept, in thousandths and rounded down:
    /// less than asked for if there are too many lines, or if they are of functions that are left out.
    pub fn kept_per_mille(&self, event: EventId) -> u32 {
        self.self_costs.kept_per_mille(event)
    }

    /// Adds the lines of another input.
    pub fn add(&mut self, more: &WrittenLines) {
        self.lines.all += more.lines.all;
        self.lines.kept += more.lines.kept;
        self.self_costs.add_all(&more.self_costs);
    }
}

impl<'p> Condensing<'p> {
    /// Decides which lines stay: those that have this share of the self cost of an event type, in thousandths.
    pub fn new(profile: &'p Profile, per_mille: u32) -> Self {
        Self::with_functions(profile, Functions::all(profile), per_mille)
    }

    fn with_functions(profile: &'p Profile, functions: Functions<'p>, per_mille: u32) -> Self {
        let mut lines = SourceLines::none_of(profile);
        let least = LeastCosts::of_lines(profile, per_mille);
        let least = if per_mille < 1000 {
            // What is joined in groups does not decide.
            lines.add(profile, Side::Own, |function, place, columns, row| {
                !functions.is_group(functions.written(function))
                    && least.is_reached(columns, row, function, place)
            });
            None
        } else {
            Some(least)
        };
        Condensing { profile, functions, per_mille, lines, least }
    }

    /// `true` if a line of a function with these costs stays.
    fn keeps(&self, columns: &[EventId], costs: &[Cost], function: FunctionId, place: &Place) -> bool {
        self.lines.contains(function, place)
            || self.least.as_ref().is_some_and(|least| least.is_reached(columns, costs, function, place))
    }

    /// `true` if a line at a place can stay, whatever its costs are.
    fn may_keep(&self, function: FunctionId, place: &Place) -> bool {
        self.least.is_some() || self.lines.contains(function, place)
    }

    /// Also decides which functions stay: those that have this share of the self cost of an event type, in thousandths, and
    /// those that have a thousandth of it as inclusive cost. Groups take the place of others, by object and by cycle.
    ///
    /// ```
    /// use gristmill_profile::Profile;
    /// use gristmill_profile::condense::{Condensing, FunctionCount};
    ///
    /// let text = "events: Ir\nfl=a.c\nfn=main\n1 9990\ncfn=f\ncalls=2 2\n2 6\ncfn=g\ncalls=1 3\n2 4\n\
    ///             fn=f\n2 4\ncfn=g\ncalls=1 3\n2 2\nfn=g\n3 6\n";
    /// let profile = Profile::from_bytes(text);
    /// let condensing = Condensing::with_fewer_functions(&profile, 990);
    /// assert_eq!(condensing.functions(), FunctionCount { all: 3, kept: 1, groups: 1 });
    /// let mut condensed = Vec::new();
    /// condensing.write(0, &mut condensed)?;
    /// let expected = "# callgrind format\nevents: Ir\n\nfl=(1) a.c\nfn=(1) main\n1 9990\n\
    ///                 cfi=(2) (left out)\ncfn=(2) (2 functions left out)\ncalls=3 -1 \n-1 10\n\n\
    ///                 fl=(2)\nfn=(2)\n0 10\n";
    /// assert_eq!(String::from_utf8_lossy(&condensed), expected);
    /// # Ok::<(), gristmill_format::Error>(())
    /// ```
    pub fn with_fewer_functions(profile: &'p Profile, per_mille: u32) -> Self {
        Self::with_functions(profile, Functions::with_share(profile, per_mille), per_mille)
    }

    /// Also keeps what a comparison with another profile needs: the lines that stay there, which would have changed if one side had
    /// only them; the first line of each function, and all lines of closures, since it has to know whether those of one name on both
    /// sides are at the same place; and all lines of functions that only one side has, and of their callers, since it has to know
    /// what was inlined.
    ///
    /// ```
    /// use gristmill_profile::Profile;
    /// use gristmill_profile::condense::Condensing;
    ///
    /// let profile = Profile::from_bytes(b"events: Ir\nfl=a.rs\nfn=f\n1 2\n2 990\n3 5\nfn=f::{{closure}}\n5 1\n6 2\n".to_vec());
    /// let base = Profile::from_bytes(b"events: Ir\nfl=a.rs\nfn=f\n2 991\nfn=f::{{closure}}\n5 1\n".to_vec());
    /// let mut condensed = Vec::new();
    /// Condensing::new(&profile, 900).for_comparison(&base).write(0, &mut condensed)?;
    /// let expected = "# callgrind format\nevents: Ir\n\nfl=(1) a.rs\nfn=(1) f\n1 2\n+1 990\n-2 5\n\n\
    ///                 fn=(2) f::{{closure}}\n5 1\n+1 2\n";
    /// assert_eq!(String::from_utf8_lossy(&condensed), expected);
    /// # Ok::<(), gristmill_format::Error>(())
    /// ```
    pub fn for_comparison(mut self, other: &Profile) -> Self {
        let own = self.profile;
        let [whole_of_own, whole_of_other] = functions_with_all_lines(own, other);
        self.lines.add(own, Side::Own, |function, _, _, _| whole_of_own.contains(&function));
        self.lines.add_first(own, Side::Own);
        // A line that one side has only joined with others would have changed.
        let least = LeastCosts::of_lines(other, self.per_mille);
        self.lines.add(other, Side::Other, |function, place, columns, row| {
            whole_of_other.contains(&function) || least.is_reached(columns, row, function, place)
        });
        self.lines.add_first(other, Side::Other);
        self
    }

    /// Returns how many functions there are, and how many stay.
    pub fn functions(&self) -> FunctionCount {
        self.functions.count()
    }

    /// Writes an input of the profile, and returns which lines it has.
    ///
    /// # Errors
    ///
    /// If a sum exceeds 64 bits, or the sink fails.
    ///
    /// # Panics
    ///
    /// If there is no such input.
    pub fn write<W: io::Write>(&self, input: usize, sink: W) -> Result<WrittenLines, Error> {
        let mut writing = Writing {
            condensing: self,
            written: WrittenLines::default(),
            writer: Writer::new(sink).names(NameStyle::Compressed).positions(PositionStyle::Compressed),
            object: None,
            file: None,
            last_fl: None,
        };
        writing.record(Line::Comment(b" callgrind format"))?;
        let headers = Headers::new(&self.profile.inputs[input].bytes);
        let parts: Vec<Part<'_>> = self.profile.parts().filter(|part| part.input() == input).collect();
        let none = PartHeaders::default();
        for index in 0..parts.len().max(headers.of_parts.len()) {
            let lines = headers.of_parts.get(index).unwrap_or(&none);
            lines.before.iter().try_for_each(|&line| writing.record(line))?;
            if let Some(part) = parts.get(index) {
                writing.part(part)?;
            }
            lines.after.iter().try_for_each(|&line| writing.record(line))?;
            if let Some(totals) = parts.get(index).and_then(totals_of_added_up) {
                writing.record(Line::Header(Header::Totals(Costs::new(&totals))))?;
            }
        }
        writing.writer.finish()?;
        Ok(writing.written)
    }
}

/// Returns the totals of a part that has a block for each call and was added up here. With them, nobody asks for the blocks of
/// its calls.
fn totals_of_added_up(part: &Part<'_>) -> Option<Vec<Cost>> {
    let is_one = part.producer() == ProducerKind::Xdebug && part.claimed_totals().is_none();
    let totals = is_one.then(|| part.totals())?;
    totals.iter().all(|&total| u64::try_from(total).is_ok()).then_some(totals)
}

/// The header lines of the parts of a file.
struct Headers<'f> {
    of_parts: Vec<PartHeaders<'f>>,
}

#[derive(Default)]
struct PartHeaders<'f> {
    before: Vec<Line<'f>>,
    /// Behind the costs.
    after: Vec<Line<'f>>,
}

impl<'f> Headers<'f> {
    fn new(file: &'f [u8]) -> Self {
        let mut of_parts: Vec<PartHeaders<'f>> = Vec::new();
        let mut has_body = BTreeSet::new();
        for record in Reader::new(file).flatten() {
            let index = record.part as usize;
            match record.line {
                line @ (Line::Header(_) | Line::NewProfile(_)) => {
                    if of_parts.len() <= index {
                        of_parts.resize_with(index + 1, PartHeaders::default);
                    }
                    let headers = &mut of_parts[index];
                    let is_last =
                        has_body.contains(&index) || matches!(line, Line::Header(Header::Totals(_)));
                    if is_last { headers.after.push(line) } else { headers.before.push(line) }
                }
                Line::Blank | Line::Comment(_) => {}
                _ => {
                    has_body.insert(index);
                }
            }
        }
        Headers { of_parts }
    }
}

struct Writing<'c, 'p, W> {
    condensing: &'c Condensing<'p>,
    written: WrittenLines,
    writer: Writer<W>,
    object: Option<ObjectId>,
    /// The file of the lines that follow, and that of the last `fl=`.
    file: Option<FileId>,
    last_fl: Option<FileId>,
}

impl<W: io::Write> Writing<'_, '_, W> {
    fn record(&mut self, line: Line<'_>) -> Result<(), Error> {
        self.writer.write(&Record::new(line))
    }

    fn part(&mut self, part: &Part<'_>) -> Result<(), Error> {
        // Readers differ in what holds on from the part before.
        (self.object, self.file, self.last_fl) = (None, None, None);
        let blocks = PartBlocks::new(self.condensing, part);
        blocks.by_function().try_for_each(|blocks| self.function(part, blocks))
    }

    /// Writes a function of a part: its lines as they are decoded, since there may be millions, and then the jumps and what is
    /// joined.
    fn function(&mut self, part: &Part<'_>, blocks: FunctionBlocks<'_, '_>) -> Result<(), Error> {
        let functions = &self.condensing.functions;
        let function = functions.get(blocks.function());
        let (columns, kinds) = (part.event_types(), part.columns().kinds());
        let nowhere = Place { file: function.file, line: Some(0), address: Some(0), basic_block: Some(0) };
        let (mut jumps, joined) = self.lines(part, blocks, &nowhere)?;
        blocks.retain_kept(&mut jumps, self.condensing, columns);
        for jump in &jumps {
            self.move_to(jump.place.file, function.file)?;
            self.jump(jump, kinds)?;
        }
        if let Some(costs) = &joined.costs {
            self.move_to(function.file, function.file)?;
            self.costs(CostRole::SelfCost, &nowhere, kinds, costs)?;
        }
        for (&callee, joined) in &joined.calls {
            self.move_to(function.file, function.file)?;
            self.callee(callee)?;
            self.calls(joined.count, &nowhere, kinds)?;
            self.costs(CostRole::Call, &nowhere, kinds, &joined.costs)?;
        }
        Ok(())
    }

    /// Writes the names of a function and its lines that are kept. Returns the jumps that may be kept, and what is joined.
    fn lines(
        &mut self,
        part: &Part<'_>,
        blocks: FunctionBlocks<'_, '_>,
        nowhere: &Place,
    ) -> Result<(Vec<JumpLine>, JoinedLines), Error> {
        let (condensing, functions) = (self.condensing, &self.condensing.functions);
        let (columns, kinds) = (part.event_types(), part.columns().kinds());
        let id = blocks.function();
        let function = functions.get(id);
        let (mut row, mut jumps, mut joined) = (Vec::new(), Vec::new(), JoinedLines::default());
        let mut is_first = true;
        for (original, line) in blocks.lines() {
            if is_first {
                self.name_function(&function)?;
                row.resize(columns.len(), 0);
                is_first = false;
            }
            match line {
                BlockLine::SelfCost { place, costs } => {
                    decode(costs, &mut row);
                    let is_kept = condensing.keeps(columns, &row, original, &place);
                    self.written.lines.add(is_kept);
                    self.written.self_costs.add(columns, &row, is_kept);
                    if is_kept {
                        self.move_to(place.file, function.file)?;
                        self.costs(CostRole::SelfCost, &place, kinds, &row)?;
                    } else {
                        joined.add_self_costs(&row);
                    }
                }
                BlockLine::Calls { place, callee, count, target, costs } => {
                    let callee = functions.written(callee);
                    let is_callee_group = functions.is_group(callee);
                    if is_callee_group && callee == id {
                        self.written.lines.add(false);
                        continue;
                    }
                    decode(costs, &mut row);
                    let is_kept = condensing.keeps(columns, &row, original, &place);
                    self.written.lines.add(is_kept);
                    if is_kept {
                        self.move_to(place.file, function.file)?;
                        self.callee(callee)?;
                        self.calls(count, if is_callee_group { nowhere } else { &target }, kinds)?;
                        self.costs(CostRole::Call, &place, kinds, &row)?;
                    } else {
                        joined.add_calls(callee, count, &row);
                    }
                }
                BlockLine::Jump { place, taken, executed, target, function: to } => {
                    let is_of_group = |function| functions.is_group(functions.written(function));
                    if !is_of_group(original)
                        && !to.is_some_and(is_of_group)
                        && condensing.may_keep(original, &place)
                    {
                        jumps.push(JumpLine { place, taken, executed, target, function: to });
                    }
                }
            }
        }
        Ok((jumps, joined))
    }

    fn name_function(&mut self, function: &WrittenFunction<'_>) -> Result<(), Error> {
        self.record(Line::Blank)?;
        self.name_object(NameKey::Ob, function.object, self.object)?;
        self.object = Some(function.object);
        // `fn=` goes back to the file of the last `fl=`, though not for all readers.
        if self.file != Some(function.file) || self.last_fl != Some(function.file) {
            self.name_file(NameKey::Fl, function.file, self.file)?;
            (self.file, self.last_fl) = (Some(function.file), Some(function.file));
        }
        self.record(Line::Name(NameKey::Fn, Name::plain(function.name)))
    }

    /// Makes a file that of the lines that follow.
    fn move_to(&mut self, file: FileId, own: FileId) -> Result<(), Error> {
        if self.file != Some(file) {
            let key = if file == own { NameKey::Fe } else { NameKey::Fi };
            self.name_file(key, file, self.file)?;
            self.file = Some(file);
        }
        Ok(())
    }

    /// Names the callee in full: a reader may take a shorter form for another function.
    fn callee(&mut self, id: FunctionId) -> Result<(), Error> {
        let callee = self.condensing.functions.get(id);
        self.name_object(NameKey::Cob, callee.object, None)?;
        if !self.condensing.functions.file(callee.file).is_empty() || self.file != Some(callee.file) {
            self.name_file(NameKey::Cfi, callee.file, None)?;
        }
        self.record(Line::Name(NameKey::Cfn, Name::plain(callee.name)))
    }

    fn name_object(
        &mut self,
        key: NameKey,
        object: ObjectId,
        current: Option<ObjectId>,
    ) -> Result<(), Error> {
        let name = self.condensing.profile.object(object);
        // Before the first one, and where no object has a name, it is empty.
        let is_known = match current {
            Some(current) => current == object,
            None => {
                name.is_empty()
                    && self.object.is_none_or(|own| self.condensing.profile.object(own).is_empty())
            }
        };
        if is_known { Ok(()) } else { self.record(Line::Name(key, Name::plain(name))) }
    }

    fn name_file(&mut self, key: NameKey, file: FileId, current: Option<FileId>) -> Result<(), Error> {
        let name = self.condensing.functions.file(file);
        if current.is_none() && name.is_empty() && self.file.is_none() {
            return Ok(());
        }
        self.record(Line::Name(key, Name::plain(name)))
    }

    fn calls(&mut self, count: Cost, target: &Place, kinds: &[PositionKind]) -> Result<(), Error> {
        self.record(Line::Calls(Calls { count, target: positions(target, kinds) }))
    }

    fn costs(
        &mut self,
        role: CostRole,
        place: &Place,
        kinds: &[PositionKind],
        costs: &[Cost],
    ) -> Result<(), Error> {
        let costs = Costs::new(shortened(costs));
        self.record(Line::Cost(CostLine { role, positions: positions(place, kinds), costs }))
    }

    fn jump(&mut self, jump: &JumpLine, kinds: &[PositionKind]) -> Result<(), Error> {
        if self.file != Some(jump.target.file) {
            self.name_file(NameKey::Jfi, jump.target.file, self.file)?;
        }
        if let Some(to) = jump.function {
            let to = self.condensing.profile.function(to);
            self.record(Line::Name(NameKey::Jfn, Name::plain(to.name)))?;
        }
        let target = positions(&jump.target, kinds);
        self.record(Line::Jump(Jump { taken: jump.taken, executed: jump.executed, target }))?;
        self.costs(CostRole::JumpSource, &jump.place, kinds, &[])
    }
}

fn positions(place: &Place, kinds: &[PositionKind]) -> Positions {
    let value = |kind: &PositionKind| match kind {
        PositionKind::Instr => place.address,
        PositionKind::Bb => place.basic_block,
        _ => place.line,
    };
    let values: Vec<u64> = kinds.iter().map(|kind| value(kind).unwrap_or(0)).collect();
    Positions::new(&values)
}

/// Removes the zeros at the end, but not the first cost.
fn shortened(costs: &[Cost]) -> &[Cost] {
    let len = costs.iter().rposition(|&cost| cost != 0).map_or(1, |last| last + 1);
    costs.get(..len).unwrap_or(costs)
}
