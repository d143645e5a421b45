//! Merging: the costs of many profiles, summed by function, line, call and jump.
//!
//! # What is summed
//!
//! Functions are the same if their object, source file and name are; the loader has settled that for each profile. Lines of
//! a function are the same if their file, line, basic block and address are; calls also need the same callee and the same
//! position where it is entered, jumps the same target. Addresses (and basic blocks) count only if *all* profiles have
//! them; otherwise they are left out of all. Lines are always kept: a profile without lines gets line 0.
//!
//! Event types are matched by name. The result has those of all profiles. For an event type that some profiles lack, it
//! says how many have it (`desc: Merged event: Dr in 2 of 3 runs`), so that what was never measured is not read as 0. The same
//! holds for calls (`desc: Merged calls: 2 of 3 runs`), which Cachegrind does not record.
//!
//! # Rounding
//!
//! The numbers of a mean, of a median of an even count of runs and of scaling are rounded so that they add up: the total of each
//! event type is the exact one, rounded; those of functions differ from their exact totals by less than one, and so do lines. Which
//! of them are rounded up is decided by the largest remainders. Medians of lines do not add up to medians of totals: the total
//! is the sum of the medians of lines.
//!
//! # Any order, any grouping
//!
//! Merging is associative and commutative, byte for byte: everything in the result is sorted by name and number, headers are
//! sets and counts, and a result that is merged again counts for as many runs as it was made of (`desc: Merged runs: 3`).
//! Merging a single profile brings it into that form; merging the result again changes nothing. A mean is over runs, so
//! the mean of sums is right in any grouping, too. The *result* of a mean, of a median or of scaling counts as one run when
//! it is merged again.
//!
//! # What is not in the result
//!
//! Process, thread, number, trigger and time span of parts, and the lines of basic blocks (`bb=`, `ln=`) that Callgrind
//! writes with hidden options: they describe one part, not a sum.

use gristmill_format::{Cost, Costs, NameSpace};

use crate::decode::{BlockLine, BlockReader, Place};
use crate::id::{EventId, FunctionId, NameId, PartId};
use crate::index::functions::FunctionKey;
use crate::interner::Interner;
use crate::owned_names::OwnedNames;
use crate::profile::Profile;
use crate::threads::{cores, on_threads};

mod combined;
mod concatenate;
mod header;
mod id;
mod line;
mod line_key;
mod options;
mod ratio;
mod rounding;
mod tiered_lines;
mod write;

pub use concatenate::{Concatenation, LeftOut};
pub use header::{creators, partly_recorded};
pub use options::{Combine, MergeFormat};
pub use ratio::{Ratio, RatioError};

use header::{Headers, PositionsHeld};
use id::{FileName, FunctionName, MergedFunction, MergedKey, ObjectName};
use line::LineBuffer;
use line_key::{LineKey, LineKind, LinePosition};
use tiered_lines::TieredLines;
pub(crate) use write::references;

/// The limit of event types: ten times the count of any producer. Each line of the result can have a cost for each.
pub const MAX_EVENTS: usize = 256;

/// The reason that a profile was not merged. See the example of [`Merger`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MergeError {
    /// There would be more than [`MAX_EVENTS`] event types.
    TooManyEvents,
}

impl std::fmt::Display for MergeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            MergeError::TooManyEvents => write!(f, "the profiles have more than {MAX_EVENTS} event types"),
        }
    }
}

impl std::error::Error for MergeError {}

/// A sum of profiles; see [the module](self) for its definition.
///
/// It keeps sums, not profiles: its memory is that of the result, for any count of profiles.
///
/// ```
/// use gristmill_profile::Profile;
/// use gristmill_profile::merge::{Merger, MergeFormat};
///
/// let one = Profile::from_bytes(b"events: Ir\nfl=mill.c\nfn=main\n16 400\n");
/// let other = Profile::from_bytes(b"events: Ir Dr\nfl=mill.c\nfn=main\n16 20 7\n17 1\n");
/// let mut merger = Merger::new();
/// merger.add(&one)?;
/// merger.add(&other)?;
/// assert_eq!(merger.incomplete_events(), [("Dr".to_owned(), 1)]);
/// let bytes = merger.write(&MergeFormat::default(), Vec::new())?;
/// let merged = Profile::from_bytes(bytes);
/// assert_eq!(merged.totals(&Default::default()), [421, 7]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Merger {
    threads: usize,
    keeps_runs: bool,
    objects: OwnedNames,
    files: OwnedNames,
    function_names: OwnedNames,
    functions: FunctionTable,
    /// By function.
    lines: Vec<TieredLines>,
    headers: Headers,
    /// The columns of each run, if runs are kept apart.
    runs: Vec<RunColumns>,
}

/// The names of a profile, each of which is looked up in those of a merger once.
struct KnownNames<'p> {
    profile: &'p Profile,
    space: NameSpace,
    /// By name of the profile.
    known: Vec<Option<u32>>,
}

impl<'p> KnownNames<'p> {
    fn new(profile: &'p Profile, space: NameSpace) -> Self {
        KnownNames { profile, space, known: vec![None; profile.index.names[space].len()] }
    }

    /// Returns the index of a name among those of the merger, to which it is added.
    fn intern(&mut self, name: NameId, names: &mut OwnedNames) -> u32 {
        let text = || self.profile.name(self.space, name);
        *self.known[name.index()].get_or_insert_with(|| names.intern(text()))
    }
}

/// The columns that a run has.
#[derive(Debug, Clone)]
struct RunColumns {
    has: Vec<bool>,
    has_calls: bool,
}

impl RunColumns {
    /// `true` if the run has numbers of a column; columns that came after it are not in its list. `None` is a count.
    fn has(&self, column: Option<usize>, of_calls: bool) -> bool {
        (self.has_calls || !of_calls) && column.is_none_or(|column| self.has.get(column) == Some(&true))
    }
}

/// Functions by object, file and name, each once.
#[derive(Debug, Clone, Default)]
struct FunctionTable {
    keys: Vec<MergedKey>,
    interner: Interner<MergedKey>,
}

impl FunctionTable {
    fn intern(&mut self, key: MergedKey) -> MergedFunction {
        let (index, is_new) = self.interner.intern(key);
        if is_new {
            self.keys.push(key);
        }
        MergedFunction::new(index)
    }
}

/// A block of a profile to be added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct BlockJob {
    function: MergedFunction,
    part: PartId,
    block: usize,
}

/// Blocks to be added, in the order of functions, and the lines of these functions.
struct BlockTask<'t> {
    jobs: &'t [BlockJob],
    first_function: usize,
    lines: &'t mut [TieredLines],
}

/// With fewer blocks, threads do not pay.
const MIN_PARALLEL_BLOCKS: usize = 257;

impl Merger {
    /// Creates an empty merger that uses all cores.
    pub fn new() -> Self {
        Merger { threads: cores(), ..Merger::default() }
    }

    /// Creates one that keeps the numbers of each run apart, for a median. Its memory grows with each run.
    pub fn keeping_runs() -> Self {
        Merger { keeps_runs: true, ..Merger::new() }
    }

    /// Uses this count of threads; the result is the same with any.
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        Merger { threads: threads.max(1), ..self }
    }

    /// Returns the count of merged runs. Each file is one, but a merged file counts for the runs it was made of.
    pub fn runs(&self) -> u64 {
        self.headers.runs
    }

    /// Lists the event types that some runs lack, each with the count of runs that have it.
    pub fn incomplete_events(&self) -> Vec<(String, u64)> {
        let columns = self.headers.in_order().into_iter();
        let incomplete = columns.filter(|&column| self.runs_with(column) < self.headers.runs);
        incomplete.map(|column| (self.event_name(column), self.runs_with(column))).collect()
    }

    /// Returns the count of runs that have calls, if others have none: they were not measured there. Counts of calls and
    /// inclusive costs are those of these runs.
    pub fn runs_with_calls(&self) -> Option<u64> {
        Some(self.headers.call_runs).filter(|&runs| 0 < runs && runs < self.headers.runs)
    }

    /// Lists differences of the profiles that make their sum doubtful: what differs, such as `creator` or `D1 cache`, and
    /// the values. Commands can differ without harm.
    pub fn differences(&self) -> Vec<(String, Vec<String>)> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let creators: Vec<String> = self.headers.creators.iter().map(|name| text(name)).collect();
        let mut differences = vec![("creator".to_owned(), creators)];
        for (kind, value) in &self.headers.descriptions {
            match differences.last_mut() {
                Some((last, values)) if *last == text(kind) => values.push(text(value)),
                _ => differences.push((text(kind), vec![text(value)])),
            }
        }
        differences.retain(|(_, values)| values.len() > 1);
        differences
    }

    /// Returns the count of lines that it keeps.
    pub fn line_count(&self) -> usize {
        self.lines.iter().map(TieredLines::len).sum()
    }

    /// Sums all self costs by event type, in the order in which they are written.
    pub fn totals(&self) -> Vec<(String, Cost)> {
        let mut sums: Vec<Cost> = Vec::new();
        for lines in &self.lines {
            lines
                .iter()
                .filter(|line| line.key.kind == LineKind::SelfCost)
                .for_each(|line| line.add_to(&mut sums));
        }
        let columns = self.headers.in_order().into_iter();
        columns.map(|column| (self.event_name(column), sums.get(column + 1).copied().unwrap_or(0))).collect()
    }

    /// Returns the count of runs kept apart that have numbers of a column; `None` is a count.
    fn runs_apart(&self, column: Option<usize>, of_calls: bool) -> usize {
        self.runs.iter().filter(|run| run.has(column, of_calls)).count()
    }

    fn runs_with(&self, column: usize) -> u64 {
        self.headers.runs_with[column]
    }

    fn event_name(&self, column: usize) -> String {
        String::from_utf8_lossy(&header::event_name(&self.headers.events[column])).into_owned()
    }

    /// Adds a profile.
    ///
    /// # Errors
    ///
    /// If there are too many event types; the merger cannot be used after that.
    pub fn add(&mut self, profile: &Profile) -> Result<(), MergeError> {
        if profile.event_count() > MAX_EVENTS {
            return Err(MergeError::TooManyEvents);
        }
        let had = self.headers.positions;
        let columns = self.headers.add(profile);
        self.check_events()?;
        self.drop_positions(had);
        let has_calls = self.headers.last_has_calls;
        let run = if self.keeps_runs { self.open_run(columns.iter().copied(), has_calls) } else { 0 };
        let files: Vec<FileName> =
            profile.files().map(|file| FileName::from_u32(self.files.intern(profile.file(file)))).collect();
        // One name may be that of many functions, and as long as all of them.
        let mut objects = KnownNames::new(profile, NameSpace::Object);
        let mut names = KnownNames::new(profile, NameSpace::Function);
        let functions: Vec<MergedFunction> = profile
            .functions()
            .map(|id| {
                let FunctionKey { object, file, name } = profile.index.functions.get(id).key;
                self.functions.intern(MergedKey {
                    object: ObjectName::from_u32(objects.intern(object.into(), &mut self.objects)),
                    file: files[file.index()],
                    name: FunctionName::from_u32(names.intern(name, &mut self.function_names)),
                })
            })
            .collect();
        self.lines.resize_with(self.functions.keys.len(), TieredLines::default);
        let mut jobs: Vec<BlockJob> = Vec::new();
        for part in profile.parts().filter(|part| !part.event_types().is_empty()) {
            for block in profile.index.block_range(part.id()) {
                let function = functions[profile.index.blocks[block].function.index()];
                jobs.push(BlockJob { function, part: part.id(), block });
            }
        }
        jobs.sort_unstable();
        let (positions, keeps_runs) = (self.headers.positions, self.keeps_runs);
        let added = AddedProfile { profile, columns, files, functions, positions, run, keeps_runs };
        self.read_blocks(&jobs, &added);
        Ok(())
    }

    fn check_events(&self) -> Result<(), MergeError> {
        if self.headers.events.len() > MAX_EVENTS { Err(MergeError::TooManyEvents) } else { Ok(()) }
    }

    /// Reads blocks, which are in the order of functions, and adds their lines to those of the functions.
    fn read_blocks(&mut self, jobs: &[BlockJob], added: &AddedProfile<'_>) {
        let threads = if jobs.len() < MIN_PARALLEL_BLOCKS { 1 } else { self.threads.max(1) };
        let share = jobs.len().div_ceil(threads).max(1);
        let (mut jobs, mut lines, mut first_function) = (jobs, &mut self.lines[..], 0);
        let mut tasks = Vec::new();
        while !jobs.is_empty() {
            // All blocks of a function go to one thread.
            let last = jobs[(share - 1).min(jobs.len() - 1)].function;
            let (these, other_jobs) = jobs.split_at(jobs.partition_point(|job| job.function <= last));
            let (of_these, other_lines) = lines.split_at_mut(last.index() + 1 - first_function);
            tasks.push(BlockTask { jobs: these, first_function, lines: of_these });
            (jobs, lines, first_function) = (other_jobs, other_lines, last.index() + 1);
        }
        on_threads(threads, tasks, |task| added.read(task));
    }

    /// Begins a run that is kept apart from the others, with these columns; returns its index.
    fn open_run(&mut self, columns: impl Iterator<Item = usize>, has_calls: bool) -> u32 {
        let mut has = vec![false; self.headers.events.len()];
        columns.for_each(|column| has[column] = true);
        self.runs.push(RunColumns { has, has_calls });
        run_index(self.runs.len() - 1)
    }

    /// Sums over addresses and basic blocks that not all profiles have any more.
    fn drop_positions(&mut self, had: PositionsHeld) {
        let held = self.headers.positions;
        if (held.address, held.basic_block) == (had.address, had.basic_block) {
            return;
        }
        for lines in &mut self.lines {
            *lines = lines.relabeled(|key| {
                key.position.keep(held);
                key.target.keep(held);
            });
        }
    }

    /// Adds the sums of another merger.
    ///
    /// # Errors
    ///
    /// If there are too many event types; the merger cannot be used after that.
    pub fn merge(&mut self, other: Merger) -> Result<(), MergeError> {
        let had = self.headers.positions;
        let columns = self.headers.merge(other.headers);
        self.check_events()?;
        self.drop_positions(had);
        let held = self.headers.positions;
        fn renumbered(names: &mut OwnedNames, other: &OwnedNames) -> Vec<u32> {
            other.iter().map(|name| names.intern(name)).collect()
        }
        let objects = renumbered(&mut self.objects, &other.objects);
        let files = renumbered(&mut self.files, &other.files);
        let names = renumbered(&mut self.function_names, &other.function_names);
        let functions: Vec<MergedFunction> = other
            .functions
            .keys
            .iter()
            .map(|key| {
                self.functions.intern(MergedKey {
                    object: ObjectName::from_u32(objects[key.object.index()]),
                    file: FileName::from_u32(files[key.file.index()]),
                    name: FunctionName::from_u32(names[key.name.index()]),
                })
            })
            .collect();
        self.lines.resize_with(self.functions.keys.len(), TieredLines::default);
        let first_run = if self.keeps_runs { run_index(self.runs.len()) } else { 0 };
        for RunColumns { has, has_calls } in other.runs {
            let had = columns.iter().zip(has).filter(|(_, has)| *has).map(|(&column, _)| column);
            self.open_run(had, has_calls);
        }
        let mut buffer = LineBuffer::default();
        let (mut row, mut moved) = (Vec::new(), Vec::new());
        for (function, lines) in functions.iter().zip(other.lines) {
            let tiers = &mut self.lines[function.index()];
            let kept = tiers.open(self.keeps_runs);
            for line in lines.iter() {
                let mut key = line.key;
                key.position.file = FileName::from_u32(files[key.position.file.index()]);
                key.position.keep(held);
                if matches!(key.kind, LineKind::Jump | LineKind::ConditionalJump) {
                    key.target.file = FileName::from_u32(files[key.target.file.index()]);
                }
                key.target.keep(held);
                key.function = key.function.map(|function| functions[function.index()]);
                key.run += first_run;
                row.clear();
                line.add_to(&mut row);
                if matches!(key.kind, LineKind::SelfCost | LineKind::Calls) {
                    moved.clear();
                    moved.resize(self.headers.events.len() + 1, 0);
                    moved[0] = row.first().copied().unwrap_or(0);
                    for (&column, cost) in columns.iter().zip(row.iter().skip(1)) {
                        moved[column + 1] += cost;
                    }
                    std::mem::swap(&mut row, &mut moved);
                }
                buffer.add(kept, key, &row);
            }
            buffer.flush_into(kept);
            tiers.close();
        }
        Ok(())
    }
}

fn run_index(index: usize) -> u32 {
    #[expect(clippy::expect_used, reason = "2^32 runs do not fit into memory")]
    u32::try_from(index).expect("fewer than 2^32 runs")
}

/// A profile that is being added, with the merger's ids of its files and functions.
struct AddedProfile<'p> {
    profile: &'p Profile,
    columns: Vec<usize>,
    files: Vec<FileName>,
    functions: Vec<MergedFunction>,
    positions: PositionsHeld,
    run: u32,
    keeps_runs: bool,
}

impl AddedProfile<'_> {
    /// Adds the lines of blocks to those of their functions.
    fn read(&self, task: BlockTask<'_>) {
        let mut buffer = LineBuffer::default();
        let mut row = Vec::new();
        for of_function in task.jobs.chunk_by(|a, b| a.function == b.function) {
            let tiers = &mut task.lines[of_function[0].function.index() - task.first_function];
            let kept = tiers.open(self.keeps_runs);
            for &BlockJob { part, block, .. } in of_function {
                let events = self.profile.part(part).event_types();
                let mut reader = BlockReader::new(self.profile, part, block);
                while let Some(line) = reader.next_line() {
                    let key = self.line(&line, events, block, &mut row);
                    buffer.add(kept, key, &row);
                }
            }
            buffer.flush_into(kept);
            tiers.close();
        }
    }

    /// Returns the key of a line, and writes its numbers to the row.
    fn line(&self, line: &BlockLine<'_>, events: &[EventId], block: usize, row: &mut Vec<Cost>) -> LineKey {
        row.clear();
        row.push(0);
        match line {
            BlockLine::SelfCost { place, costs } => {
                self.costs(costs, events, row);
                LineKey { position: self.position(place), run: self.run, ..LineKey::default() }
            }
            BlockLine::Calls { place, callee, count, target, costs } => {
                row[0] = *count;
                self.costs(costs, events, row);
                LineKey {
                    position: self.position(place),
                    kind: LineKind::Calls,
                    function: Some(self.functions[callee.index()]),
                    target: LinePosition { file: FileName::FIRST, ..self.position(target) },
                    run: self.run,
                }
            }
            BlockLine::Jump { place, taken, executed, target, function } => {
                row[0] = *taken;
                row.extend(*executed);
                LineKey {
                    position: self.position(place),
                    kind: if executed.is_some() { LineKind::ConditionalJump } else { LineKind::Jump },
                    function: function
                        .filter(|&to| self.can_name(block, to, target))
                        .map(|to| self.functions[to.index()]),
                    target: self.position(target),
                    run: self.run,
                }
            }
        }
    }

    /// Returns `true` if a file can say that a jump of this block leads to that function: it names only the file of the
    /// target, and the object is that of the jump.
    fn can_name(&self, block: usize, to: FunctionId, target: &Place) -> bool {
        let from = self.profile.index.blocks[block].function;
        let to = self.profile.function(to);
        self.profile.function(from).object == to.object && to.file == target.file
    }

    fn costs(&self, costs: &Costs<'_>, events: &[EventId], row: &mut Vec<Cost>) {
        for (cost, event) in costs.iter().zip(events) {
            let column = self.columns[event.index()];
            if row.len() < column + 2 {
                row.resize(column + 2, 0);
            }
            row[column + 1] += cost.unwrap_or_else(|fault| fault.repaired);
        }
    }

    fn position(&self, place: &Place) -> LinePosition {
        let mut position = LinePosition {
            file: self.files[place.file.index()],
            address: place.address.unwrap_or(0),
            line: place.line.unwrap_or(0),
            basic_block: place.basic_block.unwrap_or(0),
        };
        position.keep(self.positions);
        position
    }
}
