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

use std::collections::HashMap;
use std::io;

use gristmill_format::raw::NameSpaces;
use gristmill_format::{
    Calls, Cost, CostLine, CostRole, Costs, Error, Header, Jump, Line, Name, NameKey, NameStyle,
    PositionKind, PositionStyle, Positions, ProducerKind, Reader, Record, RecurringNames, Writer,
};

pub use self::functions::FunctionCount;
use self::functions::{Functions, WrittenFunction};
use self::least::{LeastCosts, decode};
use self::lines::{FunctionBlocks, JoinedLines, PartBlocks, Places, SelfCosts};
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
            names: RecurringNames::default(),
            ids: NameSpaces::default(),
            written: WrittenLines::default(),
            writer: Writer::new(sink).names(NameStyle::Compressed).positions(PositionStyle::Compressed),
            object: None,
            file: None,
            last_fl: None,
        };
        writing.record(Line::Comment(b" callgrind format"))?;
        writing.input(input)?;
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

/// A part whose lines are read.
struct OpenPart<'p> {
    part: Option<Part<'p>>,
    has_body: bool,
    has_written_costs: bool,
    /// Totals that are before the costs in the file. They are written behind them.
    totals: Vec<Line<'p>>,
}

impl<'p> OpenPart<'p> {
    /// `part` is `None` if it has no costs.
    fn new(part: Option<Part<'p>>) -> Self {
        OpenPart { part, has_body: false, has_written_costs: false, totals: Vec::new() }
    }
}

struct Writing<'c, 'p, W> {
    condensing: &'c Condensing<'p>,
    names: RecurringNames<'c>,
    /// The ids of names by where these are. A name is defined once: a file can have very many parts, and very long names.
    ids: NameSpaces<HashMap<[usize; 2], u64>>,
    written: WrittenLines,
    writer: Writer<W>,
    object: Option<ObjectId>,
    /// The file of the lines that follow, and that of the last `fl=`.
    file: Option<FileId>,
    last_fl: Option<FileId>,
}

impl<'c, W: io::Write> Writing<'c, '_, W> {
    fn record(&mut self, line: Line<'_>) -> Result<(), Error> {
        self.writer.write(&Record::new(line))
    }

    fn name(&mut self, key: NameKey, name: &'c [u8]) -> Result<(), Error> {
        let ids = &mut self.ids[key.space()];
        let next = ids.len() as u64 + 1;
        let name = match name {
            b"" => Name::plain(name),
            name => Name::refer(*ids.entry([name.as_ptr().addr(), name.len()]).or_insert(next), name),
        };
        self.writer.recurring_name(key, name, &mut self.names)
    }

    /// Writes an input: the header lines as they are read, and the costs of each part at their place among them.
    fn input(&mut self, input: usize) -> Result<(), Error> {
        let profile = self.condensing.profile;
        let mut parts = profile.parts().filter(|part| part.input() == input);
        let mut open = OpenPart::new(parts.next());
        let mut index = 0;
        for record in Reader::new(&profile.inputs[input].bytes).flatten() {
            while index < record.part {
                index += 1;
                self.end(std::mem::replace(&mut open, OpenPart::new(parts.next())))?;
            }
            match record.line {
                line @ Line::Header(Header::Totals(_)) if !open.has_body => open.totals.push(line),
                line @ (Line::Header(_) | Line::NewProfile(_)) => {
                    if open.has_body {
                        self.costs_of(&mut open)?;
                    }
                    self.record(line)?;
                }
                Line::Blank | Line::Comment(_) => {}
                _ => open.has_body = true,
            }
        }
        self.end(open)?;
        parts.try_for_each(|part| self.end(OpenPart::new(Some(part))))
    }

    /// Writes the costs of a part, and totals that were before them, unless they are written.
    fn costs_of(&mut self, open: &mut OpenPart<'_>) -> Result<(), Error> {
        if !std::mem::replace(&mut open.has_written_costs, true) {
            open.part.iter().try_for_each(|part| self.part(part))?;
            open.totals.drain(..).try_for_each(|line| self.record(line))?;
        }
        Ok(())
    }

    /// Writes what is left of a part at its end.
    fn end(&mut self, mut open: OpenPart<'_>) -> Result<(), Error> {
        self.costs_of(&mut open)?;
        match open.part.as_ref().and_then(totals_of_added_up) {
            Some(totals) => self.record(Line::Header(Header::Totals(Costs::new(&totals)))),
            None => Ok(()),
        }
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
        let (jump_starts, joined) = self.lines(part, blocks, &nowhere)?;
        let kept_starts = blocks.kept_starts(jump_starts, self.condensing, columns);
        self.jumps(blocks, &kept_starts, kinds)?;
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

    /// Writes the names of a function and its lines that are kept. Returns where jumps start that may be kept, and what is joined.
    fn lines(
        &mut self,
        part: &Part<'_>,
        blocks: FunctionBlocks<'_, '_>,
        nowhere: &Place,
    ) -> Result<(Places, JoinedLines), Error> {
        let (condensing, functions) = (self.condensing, &self.condensing.functions);
        let (columns, kinds) = (part.event_types(), part.columns().kinds());
        let id = blocks.function();
        let function = functions.get(id);
        let (mut row, mut jump_starts, mut joined) = (Vec::new(), Places::default(), JoinedLines::default());
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
                BlockLine::Jump { place, function: to, .. } => {
                    if self.may_keep_jump(original, to, &place) {
                        jump_starts.insert(&place);
                    }
                }
            }
        }
        Ok((jump_starts, joined))
    }

    /// `true` if a jump can stay: no group has jumps, and nothing jumps to one.
    fn may_keep_jump(&self, from: FunctionId, to: Option<FunctionId>, place: &Place) -> bool {
        let functions = &self.condensing.functions;
        let is_of_group = |function| functions.is_group(functions.written(function));
        !is_of_group(from) && !to.is_some_and(is_of_group) && self.condensing.may_keep(from, place)
    }

    /// Writes the jumps of a function that start at some places.
    fn jumps(
        &mut self,
        blocks: FunctionBlocks<'_, '_>,
        starts: &Places,
        kinds: &[PositionKind],
    ) -> Result<(), Error> {
        if starts.is_empty() {
            return Ok(());
        }
        let own_file = self.condensing.functions.get(blocks.function()).file;
        for (original, line) in blocks.lines() {
            if let BlockLine::Jump { place, taken, executed, target, function: to } = line
                && self.may_keep_jump(original, to, &place)
                && starts.contains(&place)
            {
                self.move_to(place.file, own_file)?;
                if self.file != Some(target.file) {
                    self.name_file(NameKey::Jfi, target.file, self.file)?;
                }
                if let Some(to) = to {
                    self.name(NameKey::Jfn, self.condensing.profile.function(to).name)?;
                }
                let target = positions(&target, kinds);
                self.record(Line::Jump(Jump { taken, executed, target }))?;
                self.costs(CostRole::JumpSource, &place, kinds, &[])?;
            }
        }
        Ok(())
    }

    fn name_function(&mut self, function: &WrittenFunction<'c>) -> Result<(), Error> {
        self.record(Line::Blank)?;
        self.name_object(NameKey::Ob, function.object, self.object)?;
        self.object = Some(function.object);
        // `fn=` goes back to the file of the last `fl=`, though not for all readers.
        if self.file != Some(function.file) || self.last_fl != Some(function.file) {
            self.name_file(NameKey::Fl, function.file, self.file)?;
            (self.file, self.last_fl) = (Some(function.file), Some(function.file));
        }
        self.name(NameKey::Fn, function.name)
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
        self.name(NameKey::Cfn, callee.name)
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
        if is_known { Ok(()) } else { self.name(key, name) }
    }

    fn name_file(&mut self, key: NameKey, file: FileId, current: Option<FileId>) -> Result<(), Error> {
        let name = self.condensing.functions.file(file);
        if current.is_none() && name.is_empty() && self.file.is_none() {
            return Ok(());
        }
        self.name(key, name)
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
