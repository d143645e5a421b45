//! Many profiles made one: their costs summed up by function, line, call and jump.
//!
//! # What is added to what
//!
//! Functions are the same that have the same object, source file and name; the loader has settled that for each profile.
//! Of one function, lines are the same that have the same file, line, basic block and address; calls also the callee and
//! the place where it is entered, jumps also their target. Addresses (and basic blocks) count only where *all* profiles
//! have them; otherwise they are left out of all. Lines are always kept: a profile without any gets line 0.
//!
//! Event types are matched by name. The result has those of all profiles, and says of each that was not in all of them in
//! how many it was (`desc: Merged event: Dr in 2 of 3 runs`), so that what was never measured is not taken for 0.
//!
//! # Any order, any grouping
//!
//! Merging is associative and commutative to the byte: everything in the result is sorted by name and number, headers are
//! sets and counts, and a result that is merged again counts for as many runs as it was made of (`desc: Merged runs: 3`).
//! Merging one profile alone brings it into that form; doing so again changes nothing. A mean is of runs, so the mean of
//! sums is right in any grouping, too. The *result* of a mean, of a median or of scaling counts as one run when it is
//! merged again.
//!
//! # What is not in the result
//!
//! Process, thread, number, trigger and time span of parts, and the lines of basic blocks (`bb=`, `ln=`) that Callgrind
//! writes with hidden options: they are about one part and not about a sum.

use std::thread;

use gristmill_format::Cost;

use crate::decode::{BlockLine, BlockReader, Place};
use crate::hash::Map;
use crate::id::{FunctionId, PartId};
use crate::owned_names::NameList;
use crate::profile::Profile;
use crate::threads::cores;

mod concatenate;
mod header;
mod line;
mod ratio;
mod write;

pub use concatenate::{Concatenation, LeftOut};
pub use header::creators;
pub use ratio::Ratio;
pub use write::{Combine, WriteMerged};

use header::Headers;
use line::{Gathered, Kind, LineKey, Lines, Spot};

/// Ten times what any producer has. Each line of the result may be as long as all of them.
pub const MOST_EVENTS: usize = 256;

/// Why a profile was not merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MergeError {
    /// There would be more than [`MOST_EVENTS`] event types.
    TooManyEvents,
}

impl std::fmt::Display for MergeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            MergeError::TooManyEvents => write!(f, "the profiles have more than {MOST_EVENTS} event types"),
        }
    }
}

impl std::error::Error for MergeError {}

/// Merges profiles; see the [module](self) for what that means.
///
/// It keeps sums, not profiles: memory is that of the result, however many profiles are added.
///
/// ```
/// use gristmill_profile::Profile;
/// use gristmill_profile::merge::{Merger, WriteMerged};
///
/// let one = Profile::of(b"events: Ir\nfl=mill.c\nfn=main\n16 400\n");
/// let other = Profile::of(b"events: Ir Dr\nfl=mill.c\nfn=main\n16 20 7\n17 1\n");
/// let mut merger = Merger::new();
/// merger.add(&one)?;
/// merger.add(&other)?;
/// assert_eq!(merger.incomplete_events(), [("Dr".to_owned(), 1)]);
/// let bytes = merger.write(&WriteMerged::default(), Vec::new())?;
/// let merged = Profile::of(bytes);
/// assert_eq!(merged.totals(&Default::default()), [421, 7]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Merger {
    threads: usize,
    keeps_runs: bool,
    /// Objects, files and names of functions.
    names: [NameList; 3],
    functions: FunctionList,
    /// The lines of each function.
    lines: Vec<Lines>,
    headers: Headers,
    /// The columns of each run, where runs are kept apart.
    runs: Vec<Vec<bool>>,
}

/// Functions by object, file and name, each kept once.
#[derive(Debug, Clone, Default)]
struct FunctionList {
    keys: Vec<[u32; 3]>,
    numbers: Map<[u32; 3], u32>,
}

impl FunctionList {
    fn number(&mut self, key: [u32; 3]) -> u32 {
        // More functions than there are numbers fit into no memory.
        let next = u32::try_from(self.keys.len()).unwrap_or(u32::MAX);
        let number = *self.numbers.entry(key).or_insert(next);
        if number == next {
            self.keys.push(key);
        }
        number
    }
}

/// A block of a profile to be taken in: the function in the merger, the part and the block.
type Job = (u32, PartId, usize);

/// So few blocks are not worth a thread.
const FEW_BLOCKS: usize = 256;

impl Merger {
    /// One that uses all cores.
    pub fn new() -> Self {
        Merger { threads: cores(), ..Merger::default() }
    }

    /// One that keeps the numbers of each run apart, as a median needs them. Memory then grows with each run.
    pub fn keeping_runs() -> Self {
        Merger { keeps_runs: true, ..Merger::new() }
    }

    /// Uses so many threads; the result is the same.
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        Merger { threads: threads.max(1), ..self }
    }

    /// How many runs were merged. Each file is one, but a merged one counts for as many as it was made of.
    pub fn runs(&self) -> u64 {
        self.headers.runs
    }

    /// The event types that not all runs have, and how many do.
    pub fn incomplete_events(&self) -> Vec<(String, u64)> {
        let columns = self.headers.in_order().into_iter();
        let incomplete = columns.filter(|&column| self.runs_with(column) < self.headers.runs);
        incomplete.map(|column| (self.event_name(column), self.runs_with(column))).collect()
    }

    /// In what the profiles are unlike each other though their sums are of one kind then: a word for what it is, such as
    /// `creator` or `D1 cache`, and what they say. Commands may well differ.
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

    /// How many lines are kept.
    pub fn line_count(&self) -> usize {
        self.lines.iter().map(Lines::len).sum()
    }

    /// The sums of all self costs by event type, in the order in which they are written.
    pub fn totals(&self) -> Vec<(String, Cost)> {
        let mut sums: Vec<Cost> = Vec::new();
        for lines in &self.lines {
            lines
                .iter()
                .filter(|line| line.key.kind == Kind::SelfCost)
                .for_each(|line| line.add_to(&mut sums));
        }
        let columns = self.headers.in_order().into_iter();
        columns.map(|column| (self.event_name(column), sums.get(column + 1).copied().unwrap_or(0))).collect()
    }

    fn runs_with(&self, column: usize) -> u64 {
        self.headers.runs_with.get(column).copied().unwrap_or(0)
    }

    fn event_name(&self, column: usize) -> String {
        let name = self.headers.events.get(column).map(header::event_name).unwrap_or_default();
        String::from_utf8_lossy(&name).into_owned()
    }

    /// Adds a profile.
    ///
    /// # Errors
    ///
    /// When there would be too many event types; the merger is of no use then.
    pub fn add(&mut self, profile: &Profile) -> Result<(), MergeError> {
        let had_addresses = self.headers.positions;
        let columns = self.headers.add(profile);
        if self.headers.events.len() > MOST_EVENTS {
            return Err(MergeError::TooManyEvents);
        }
        self.give_up_addresses(had_addresses);
        let run = if self.keeps_runs { self.open_run(columns.iter().copied()) } else { 0 };
        let [objects, files, names] = &mut self.names;
        let files: Vec<u32> =
            (0..profile.file_count()).map(|id| files.number(profile.file(crate::FileId::new(id)))).collect();
        let functions: Vec<u32> = profile
            .functions()
            .map(|id| {
                let function = profile.function(id);
                let object = objects.number(profile.object(function.object));
                let file = files.get(function.file.index()).copied().unwrap_or_default();
                self.functions.number([object, file, names.number(function.name)])
            })
            .collect();
        self.lines.resize_with(self.functions.keys.len(), Lines::default);
        let mut jobs: Vec<Job> = Vec::new();
        for part in profile.parts().filter(|part| !part.event_types().is_empty()) {
            for block in profile.index.block_range(part.id().index()) {
                let function = profile.index.blocks.get(block).map(|block| block.function as usize);
                if let Some(&function) = function.and_then(|function| functions.get(function)) {
                    jobs.push((function, part.id(), block));
                }
            }
        }
        jobs.sort_unstable();
        let source = Source { profile, columns, files, functions, positions: self.headers.positions, run };
        self.take_in(&jobs, &source);
        Ok(())
    }

    /// Reads the blocks, which are in the order of functions, and adds their lines to those of the functions.
    fn take_in(&mut self, jobs: &[Job], source: &Source<'_>) {
        let threads = if jobs.len() <= FEW_BLOCKS { 1 } else { self.threads.max(1) };
        let share = jobs.len().div_ceil(threads).max(1);
        let mut rest = jobs;
        let mut work = Vec::new();
        while !rest.is_empty() {
            // All blocks of a function go to one thread.
            let last = rest.get(share - 1).or(rest.last()).map(|job| job.0);
            let (these, others) = rest.split_at(rest.partition_point(|job| Some(job.0) <= last));
            rest = others;
            let mut functions: Vec<u32> = these.iter().map(|job| job.0).collect();
            functions.dedup();
            let lines: Vec<(u32, Lines)> = functions
                .into_iter()
                .filter_map(|function| {
                    let lines = self.lines.get_mut(function as usize)?;
                    Some((function, std::mem::take(lines)))
                })
                .collect();
            work.push((these, lines));
        }
        let done: Vec<Vec<(u32, Lines)>> = if work.len() <= 1 {
            work.into_iter().map(|(jobs, lines)| source.read(jobs, lines)).collect()
        } else {
            thread::scope(|scope| {
                let workers: Vec<_> = work
                    .into_iter()
                    .map(|(jobs, lines)| scope.spawn(move || source.read(jobs, lines)))
                    .collect();
                let joined = workers.into_iter().map(|worker| worker.join());
                joined.map(|done| done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
            })
        };
        for (function, lines) in done.into_iter().flatten() {
            if let Some(place) = self.lines.get_mut(function as usize) {
                *place = lines;
            }
        }
    }

    /// Keeps a run that has these columns apart from the others; its number.
    fn open_run(&mut self, columns: impl Iterator<Item = usize>) -> u32 {
        let mut events = vec![false; self.headers.events.len()];
        for column in columns {
            if let Some(has) = events.get_mut(column) {
                *has = true;
            }
        }
        self.runs.push(events);
        u32::try_from(self.runs.len() - 1).unwrap_or(u32::MAX)
    }

    /// Sums up over addresses that not all profiles have any more.
    fn give_up_addresses(&mut self, had: header::PositionsHeld) {
        let holds = self.headers.positions;
        if (holds.address, holds.basic_block) == (had.address, had.basic_block) {
            return;
        }
        let strip = |spot: &mut Spot| keep_positions(spot, holds);
        for lines in &mut self.lines {
            *lines = relabelled(lines, |key| {
                strip(&mut key.place);
                strip(&mut key.target);
            });
        }
    }

    /// Adds what another merger has.
    ///
    /// # Errors
    ///
    /// When there would be too many event types; the merger is of no use then.
    pub fn merge(&mut self, other: Merger) -> Result<(), MergeError> {
        let had = self.headers.positions;
        let columns = self.headers.merge(other.headers);
        if self.headers.events.len() > MOST_EVENTS {
            return Err(MergeError::TooManyEvents);
        }
        self.give_up_addresses(had);
        let positions = self.headers.positions;
        let [objects, files, names] = &mut self.names;
        let renamed = [(objects, &other.names[0]), (files, &other.names[1]), (names, &other.names[2])]
            .map(|(list, names)| names.iter().map(|name| list.number(name)).collect::<Vec<u32>>());
        let new_name = |space: usize, id: u32| renamed[space].get(id as usize).copied().unwrap_or_default();
        let functions: Vec<u32> = other
            .functions
            .keys
            .iter()
            .map(|&[object, file, name]| {
                self.functions.number([new_name(0, object), new_name(1, file), new_name(2, name)])
            })
            .collect();
        self.lines.resize_with(self.functions.keys.len(), Lines::default);
        let new_function = |id: u32| functions.get(id as usize).copied().unwrap_or_default();
        let first_run = u32::try_from(self.runs.len()).unwrap_or(u32::MAX);
        for had in other.runs {
            self.open_run(columns.iter().zip(had).filter(|(_, had)| *had).map(|(&column, _)| column));
        }
        let mut gathered = Gathered::default();
        let (mut row, mut moved) = (Vec::new(), Vec::new());
        for (function, lines) in (0u32..).zip(other.lines) {
            let Some(kept) = self.lines.get_mut(new_function(function) as usize) else { continue };
            for line in lines.iter() {
                let mut key = line.key;
                for spot in [&mut key.place, &mut key.target] {
                    spot.file = new_name(1, spot.file);
                    keep_positions(spot, positions);
                }
                match key.kind {
                    Kind::SelfCost => key.target = Spot::default(),
                    Kind::Calls => {
                        key.target.file = 0;
                        key.function = new_function(key.function);
                    }
                    Kind::Jump | Kind::ConditionalJump => {
                        key.function =
                            key.function.checked_sub(1).map_or(0, |function| new_function(function) + 1);
                    }
                }
                key.run = key.run.saturating_add(if self.keeps_runs { first_run } else { 0 });
                row.clear();
                line.add_to(&mut row);
                if matches!(key.kind, Kind::SelfCost | Kind::Calls) {
                    moved.clear();
                    moved.resize(self.headers.events.len() + 1, 0);
                    moved[0] = row.first().copied().unwrap_or(0);
                    for (&column, cost) in columns.iter().zip(row.iter().skip(1)) {
                        moved[column + 1] += cost;
                    }
                    std::mem::swap(&mut row, &mut moved);
                }
                gathered.add_to(kept, key, &row);
            }
            gathered.flush_into(kept);
        }
        Ok(())
    }
}

fn keep_positions(spot: &mut Spot, holds: header::PositionsHeld) {
    if !holds.address {
        spot.address = 0;
    }
    if !holds.basic_block {
        spot.basic_block = 0;
    }
}

/// Lines under other keys.
fn relabelled(lines: &Lines, change: impl Fn(&mut LineKey)) -> Lines {
    let mut new = Lines::default();
    let mut gathered = Gathered::default();
    let mut row = Vec::new();
    for line in lines.iter() {
        let mut key = line.key;
        change(&mut key);
        row.clear();
        line.add_to(&mut row);
        gathered.add_to(&mut new, key, &row);
    }
    gathered.flush_into(&mut new);
    new
}

/// A profile that is being added, and what its ids are in the merger.
struct Source<'p> {
    profile: &'p Profile,
    columns: Vec<usize>,
    files: Vec<u32>,
    functions: Vec<u32>,
    positions: header::PositionsHeld,
    run: u32,
}

impl Source<'_> {
    /// Adds the lines of blocks to those of their functions. Both are in the order of functions.
    fn read(&self, jobs: &[Job], mut lines: Vec<(u32, Lines)>) -> Vec<(u32, Lines)> {
        let mut gathered = Gathered::default();
        let mut row = Vec::new();
        let mut rest = jobs;
        for (function, kept) in &mut lines {
            let (these, others) = rest.split_at(rest.partition_point(|job| job.0 <= *function));
            rest = others;
            for &(_, part, block) in these {
                let events = self.profile.part(part).event_types();
                let Some(mut reader) = BlockReader::new(self.profile, part.index(), block) else { continue };
                while let Some(line) = reader.next_line() {
                    let key = self.line(&line, events, block, &mut row);
                    gathered.add_to(kept, key, &row);
                }
            }
            gathered.flush_into(kept);
        }
        lines
    }

    /// What a line is in the merger; its numbers go to the row.
    fn line(
        &self,
        line: &BlockLine<'_>,
        events: &[crate::EventId],
        block: usize,
        row: &mut Vec<Cost>,
    ) -> LineKey {
        row.clear();
        row.push(0);
        match line {
            BlockLine::SelfCost { place, costs } => {
                self.costs(costs, events, row);
                LineKey { place: self.spot(place), run: self.run, ..LineKey::default() }
            }
            BlockLine::Calls { place, callee, count, target, costs } => {
                row[0] = *count;
                self.costs(costs, events, row);
                LineKey {
                    place: self.spot(place),
                    kind: Kind::Calls,
                    function: self.function(*callee),
                    target: Spot { file: 0, ..self.spot(target) },
                    run: self.run,
                }
            }
            BlockLine::Jump { place, taken, executed, target, function } => {
                row[0] = *taken;
                row.extend(*executed);
                LineKey {
                    place: self.spot(place),
                    kind: if executed.is_some() { Kind::ConditionalJump } else { Kind::Jump },
                    function: function
                        .filter(|&to| self.is_spelled(block, to, target))
                        .map_or(0, |to| self.function(to) + 1),
                    target: self.spot(target),
                    run: self.run,
                }
            }
        }
    }

    /// Whether a file can say that a jump of this block leads to that function: it names only the file of the target, and
    /// the object is that of the jump.
    fn is_spelled(&self, block: usize, to: FunctionId, target: &Place) -> bool {
        let from = self.profile.index.blocks.get(block).map(|block| FunctionId::new(block.function as usize));
        let to = self.profile.function(to);
        let from = from.map(|from| self.profile.function(from).object);
        from == Some(to.object) && to.file == target.file
    }

    fn costs(&self, costs: &gristmill_format::Costs<'_>, events: &[crate::EventId], row: &mut Vec<Cost>) {
        for (cost, event) in costs.iter().zip(events) {
            let Some(&column) = self.columns.get(event.index()) else { continue };
            if row.len() < column + 2 {
                row.resize(column + 2, 0);
            }
            row[column + 1] += cost.unwrap_or_else(|fault| fault.repaired);
        }
    }

    fn spot(&self, place: &Place) -> Spot {
        let mut spot = Spot {
            file: self.files.get(place.file.index()).copied().unwrap_or_default(),
            address: place.address.unwrap_or(0),
            line: place.line.unwrap_or(0),
            basic_block: place.basic_block.unwrap_or(0),
        };
        keep_positions(&mut spot, self.positions);
        spot
    }

    fn function(&self, id: FunctionId) -> u32 {
        self.functions.get(id.index()).copied().unwrap_or_default()
    }
}
