//! The loader: from the bytes of files to a [`Profile`], in one pass and on all cores.
//!
//! # Flow
//!
//! ```text
//!  bytes of an input     read on all cores              stitched in order            sealed
//!
//!  ├─ chunk 1 ─┤   ──▶   index of chunk 1, local ids ──▶ ┐  names, functions,       ┌ blocks, names, functions
//!  ├─ chunk 2 ─┤   ──▶   index of chunk 2, local ids ──▶ ├─ blocks by ids of  ──▶   ┤
//!  ├─ chunk 3 ─┤   ──▶   index of chunk 3, local ids ──▶ ┘  the profile             └ sums, sorted when a part ends
//!     split               chunk_reader, indexer              stitch                    sum_builder, sum_table
//! ```
//!
//! 1. [`split`] cuts an input before lines that begin with `fn=`, and speculates about the state at the cuts: that columns,
//!    event types and the rule for relative positions are those at the first function. The base itself is unknown there.
//! 2. A [`chunk_reader`] reads a chunk with that state, and its [`indexer`] builds an index. Neither knows what precedes the
//!    chunk: names and functions are numbered within the chunk ([`local_names`]), and [`name_events`] say where the names
//!    come from. Lines of the usual form are skimmed, without making records of them, which is most of the speed.
//! 3. The [`stitch`]er goes through the chunks in order, on one thread. It replays the events of names, replaces local ids by
//!    ids of the profile, and appends blocks, parts and sums. If the state at the start of a chunk is not what was
//!    speculated, or a position is relative to one before the chunk, the reader of the chunk before reads this one again.
//! 4. When a part ends, its sums are sorted and [sealed](crate::index::sum_builder) on all cores.
//! 5. [`identity`] unites mentions of the same function.
//!
//! The layouts in memory are drawn where they are defined: groups of unsorted sums in [`sum_builder`], sealed sums in
//! [`sum_table`], rows of costs in [`cost_rows`], numbers in [`varint`].
//!
//! [`sum_builder`]: crate::index::sum_builder
//! [`sum_table`]: crate::index::sum_table
//! [`cost_rows`]: crate::index::cost_rows
//! [`varint`]: crate::index::varint
//!
//! # The same profile with any number of threads
//!
//! Ids of the profile are given while stitching, in the order of the file, so they do not depend on the cuts. Sums are
//! sorted by these ids. What does depend on the cuts, such as the segments of a table, does not count for equality.

mod block_sums;
mod chunk;
mod chunk_reader;
mod defining_parts;
mod event_types;
mod evidence;
mod identity;
mod indexer;
mod judge;
mod local;
mod local_names;
mod name_events;
mod progress;
mod queue;
mod split;
mod stitch;
#[cfg(test)]
mod tests;
pub(crate) mod wrapped;

use std::io;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use crate::hash::Seeds;
use crate::id::InputId;
use crate::input::Input;
use crate::profile::Profile;
use crate::threads::{CAN_START, cores};
use crate::tuning::Tuning;
use chunk::{Buffers, ChunkIndex};
use chunk_reader::ChunkReader;
use local::InputView;
use progress::Progress;
use queue::{ChunkQueue, CloseOnPanic};
use split::{Speculation, cuts, speculate};
use stitch::Stitcher;

/// Options of loading a profile.
///
/// ```
/// use gristmill_profile::{Input, Loader};
///
/// let bytes = b"events: Ir\nfn=main\n1 20\n".to_vec();
/// let profile = Loader::new().threads(1).load(vec![Input { name: "a".to_owned(), bytes: bytes.into() }]);
/// assert_eq!(profile.function_count(), 1);
/// ```
#[derive(Clone, Copy)]
pub struct Loader<'f> {
    threads: usize,
    progress: Option<&'f (dyn Fn(u64) + Sync)>,
    tuning: Tuning,
}

impl std::fmt::Debug for Loader<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Loader").field("threads", &self.threads).finish_non_exhaustive()
    }
}

impl Default for Loader<'_> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'f> Loader<'f> {
    /// Creates a loader that uses all cores.
    pub fn new() -> Self {
        Loader { threads: cores(), progress: None, tuning: Tuning::default() }
    }

    /// Sets the number of threads. The profile does not depend on it.
    pub fn threads(self, threads: usize) -> Self {
        Loader { threads: threads.max(1), ..self }
    }

    /// Sets a callback that gets from time to time the number of bytes that were read of all inputs together.
    pub fn progress(self, progress: &'f (dyn Fn(u64) + Sync)) -> Self {
        Loader { progress: Some(progress), ..self }
    }

    /// Loads one profile from the files of a recording, or of several.
    pub fn load(&self, inputs: Vec<Input>) -> Profile {
        let Tuning { min_chunk_bytes, chunks_per_thread, .. } = self.tuning;
        let chunk_count = chunks_per_thread * self.threads;
        let chunk_bytes = |input: &Input| min_chunk_bytes.max(input.bytes.len().div_ceil(chunk_count));
        let cuts: Vec<Vec<usize>> =
            inputs.iter().map(|input| cuts(&input.bytes, chunk_bytes(input))).collect();
        let profile = self.load_cut(inputs, cuts.clone());
        if !profile.may_have_wrapped() {
            return profile;
        }
        let Some((inputs, costs)) = wrapped::restored(&profile) else { return profile };
        drop(profile);
        let mut profile = self.load_cut(inputs, cuts);
        profile.add_restored(costs);
        profile
    }

    /// Loads inputs that are cut at these offsets.
    fn load_cut(&self, inputs: Vec<Input>, cuts: Vec<Vec<usize>>) -> Profile {
        let Loader { threads, tuning, .. } = *self;
        let seeds = Seeds::default();
        let mut stitcher = Stitcher::new(&inputs, seeds, tuning, threads);
        let progress = Progress::new(self.progress);
        let mut end = 0;
        for (index, (input, cuts)) in inputs.iter().zip(&cuts).enumerate() {
            let id = InputId::new(index);
            stitcher.begin_input(id);
            let view = InputView { bytes: &input.bytes, id, seeds, tuning };
            InputLoad { view, cuts, progress: &progress }.run(threads, &mut stitcher);
            stitcher.end_input();
            end += input.bytes.len() as u64;
            progress.reach(end);
        }
        let mut index = stitcher.finish();
        identity::unite(&mut index, &inputs, tuning);
        let mut profile = Profile { inputs, index, tuning };
        profile.index.damage = profile.find_damage();
        profile.debug_check();
        profile
    }
}

impl Profile {
    /// Loads a file on all cores. [`Input::open`] and [`Loader`] load several files, and have more options.
    ///
    /// ```
    /// use gristmill_profile::{Profile, Selection};
    ///
    /// # let folder = std::env::temp_dir().join(format!("gristmill-open-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// # let path = folder.join("callgrind.out.4711");
    /// # std::fs::write(&path, "events: Ir\nfn=main\n16 20\n")?;
    /// let profile = Profile::open(&path)?;
    /// assert_eq!(profile.totals(&Selection::default()), [20]);
    /// # std::fs::remove_dir_all(&folder)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the file cannot be opened or read. Any contents make a profile; see [`Profile::findings`].
    pub fn open(path: impl AsRef<Path>) -> io::Result<Profile> {
        Ok(Profile::load(vec![Input::open(path)?]))
    }

    /// Loads files on all cores. [`Loader`] has more options.
    pub fn load(inputs: Vec<Input>) -> Profile {
        Loader::new().load(inputs)
    }

    /// Loads a file from memory, on all cores. [The crate](crate) has an example.
    pub fn from_bytes(bytes: impl Into<Vec<u8>>) -> Profile {
        Profile::load(vec![Input { name: String::new(), bytes: bytes.into().into() }])
    }
}

/// The loading of one input.
#[derive(Debug, Clone, Copy)]
struct InputLoad<'a> {
    view: InputView<'a>,
    cuts: &'a [usize],
    progress: &'a Progress<'a>,
}

/// A chunk that was read: its number, its reader, and its index.
type ReadChunk<'a> = (usize, Box<ChunkReader<'a>>, ChunkIndex);

impl<'a> InputLoad<'a> {
    fn run(&self, threads: usize, stitcher: &mut Stitcher<'_>) {
        let can_share = CAN_START && threads > 1 && !self.cuts.is_empty();
        match if can_share { speculate(self.view.bytes) } else { None } {
            Some(speculation) => self.run_on(threads, &speculation, stitcher),
            None => {
                let mut reader = ChunkReader::new(self.view, Buffers::default());
                for chunk in 0..=self.cuts.len() {
                    self.read_and_stitch(&mut reader, self.end(chunk), Some(self.progress), stitcher);
                }
            }
        }
    }

    /// Reads and stitches up to an offset.
    fn read_and_stitch(
        &self,
        reader: &mut ChunkReader<'a>,
        end: usize,
        progress: Option<&Progress<'_>>,
        stitcher: &mut Stitcher<'_>,
    ) {
        loop {
            let buffers = stitcher.add(reader.read(end, progress));
            reader.reuse(buffers);
            if reader.has_reached(end) {
                return;
            }
        }
    }

    /// Returns the offset of the end of a chunk.
    fn end(&self, chunk: usize) -> usize {
        self.cuts.get(chunk).copied().unwrap_or(self.view.bytes.len())
    }

    fn run_on(&self, threads: usize, speculation: &Speculation<'a>, stitcher: &mut Stitcher<'_>) {
        let queue = ChunkQueue::new(self.cuts.len() + 1, threads + self.view.tuning.max_waiting_chunks);
        let (sender, receiver) = channel();
        thread::scope(|scope| {
            for _ in 0..threads.min(self.cuts.len() + 1) {
                let sender = sender.clone();
                let queue = &queue;
                let work = move || self.read_chunks(speculation, queue, &sender);
                // If no more threads can be started, fewer do the work. Without any, the stitcher reads all chunks.
                if thread::Builder::new().spawn_scoped(scope, work).is_err() {
                    break;
                }
            }
            drop(sender);
            self.stitch(speculation, &receiver, &queue, stitcher);
        });
    }

    /// Reads chunks until there are none left.
    fn read_chunks(&self, speculation: &Speculation<'a>, queue: &ChunkQueue, sender: &Sender<ReadChunk<'a>>) {
        let _closing = CloseOnPanic(queue);
        while let Some((chunk, buffers)) = queue.next() {
            let mut reader = Box::new(match chunk.checked_sub(1).map(|before| self.end(before)) {
                Some(at) => ChunkReader::resume(self.view, at, speculation, buffers),
                None => ChunkReader::new(self.view, buffers),
            });
            let index = reader.read(self.end(chunk), Some(self.progress));
            if sender.send((chunk, reader, index)).is_err() {
                return;
            }
        }
    }

    /// Stitches the chunks in order, and reads those again whose speculation failed.
    fn stitch(
        &self,
        speculation: &Speculation<'a>,
        receiver: &Receiver<ReadChunk<'a>>,
        queue: &ChunkQueue,
        stitcher: &mut Stitcher<'_>,
    ) {
        let max_wasted = self.view.tuning.max_wasted_chunks;
        let mut early: Vec<ReadChunk<'a>> = Vec::new();
        // The reader of the chunk before.
        let mut current: Option<Box<ChunkReader<'a>>> = None;
        let mut wasted = 0;
        for chunk in 0..=self.cuts.len() {
            let read = if wasted < max_wasted { receive(chunk, &mut early, receiver) } else { None };
            let end = self.end(chunk);
            let buffers = match (read, &mut current) {
                (Some((_, mut reader, index)), None) => {
                    let buffers = stitcher.add(index);
                    self.stitch_rest(&mut reader, end, stitcher);
                    current = Some(reader);
                    buffers
                }
                (Some((_, mut reader, index)), Some(before))
                    if reader.is_independent() && *before.state() == speculation.state =>
                {
                    let buffers = stitcher.add(index);
                    self.stitch_rest(&mut reader, end, stitcher);
                    *before = reader;
                    wasted = 0;
                    buffers
                }
                (read, current) => {
                    // Progress was reported already, unless nobody has read the chunk.
                    let progress = read.is_none().then_some(self.progress);
                    drop(read);
                    wasted += 1;
                    if wasted == max_wasted {
                        queue.close();
                        early.clear();
                    }
                    let reader = current
                        .get_or_insert_with(|| Box::new(ChunkReader::new(self.view, Buffers::default())));
                    self.read_and_stitch(reader, end, progress, stitcher);
                    Buffers::default()
                }
            };
            queue.advance(buffers);
        }
    }

    /// Reads and stitches what a reader has left of its chunk, which has more parts than one index takes.
    fn stitch_rest(&self, reader: &mut ChunkReader<'a>, end: usize, stitcher: &mut Stitcher<'_>) {
        if !reader.has_reached(end) {
            self.read_and_stitch(reader, end, Some(self.progress), stitcher);
        }
    }
}

/// Waits for a chunk. Returns `None` if nobody reads any more.
fn receive<'a>(
    chunk: usize,
    early: &mut Vec<ReadChunk<'a>>,
    receiver: &Receiver<ReadChunk<'a>>,
) -> Option<ReadChunk<'a>> {
    loop {
        if let Some(index) = early.iter().position(|(other, ..)| *other == chunk) {
            return Some(early.swap_remove(index));
        }
        early.push(receiver.recv().ok()?);
    }
}
