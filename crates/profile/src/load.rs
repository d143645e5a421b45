//! Files to a profile: in one pass, on all cores, with the same answer as on one.
//!
//! An input is cut before lines that begin with `fn=`. Each piece is read by a [`worker`] that knows nothing of what stands
//! before it: a name by a number that the piece has not defined stays a number, the file and object that are in force stay
//! "what is in force there", and columns, event types and the rule for relative positions are taken to be those of the
//! first part. The [`stitch`]er goes over the pieces in their order and puts in what was left open. Where the assumption
//! does not hold (other columns or event types, a position relative to one in the piece before), the worker of the piece
//! before reads on, as it knows everything that is in force.
//!
//! What lines come to is [`gather`]ed from records, or without them where a line is of the usual form, which is most of the
//! speed.

mod block_sums;
mod chunk;
mod gather;
mod identity;
mod name_events;
mod naming;
mod progress;
mod split;
mod stitch;
#[cfg(test)]
mod tests;
mod worker;

use std::io;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use crate::hash::Seeds;
use crate::input::Input;
use crate::profile::Profile;
use crate::threads::cores;
use chunk::{Chunk, Room};
use naming::Naming;
use progress::Progress;
use split::{Speculation, cut, speculate};
use stitch::Stitcher;
use worker::Worker;

/// No piece is smaller, as each begins with tables of its own, which take up to a seventh of that.
const LEAST_PIECE: usize = 1 << 20;

/// An input makes so many pieces for each thread. Names and functions that a piece has in common with others are looked up
/// once more when they are put together; but what was read of it waits in memory, and at the end one thread is left with the
/// last of them. Measured on a plain file of 500 MB with two threads: with 48 it takes as long, with 96 3 hundredths longer.
const PIECES: usize = 24;

/// So many pieces may wait to be put together while as many are read as there are threads.
const WAITING: usize = 2;

/// After so many pieces in a row that had to be read again, nothing more is assumed.
const PATIENCE: usize = 8;

/// How to load a profile.
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
    /// All lines come as records.
    #[cfg(test)]
    never_skims: bool,
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
    /// One that uses all cores.
    pub fn new() -> Self {
        Loader {
            threads: cores(),
            progress: None,
            #[cfg(test)]
            never_skims: false,
        }
    }

    /// Uses so many threads; the profile is the same.
    pub fn threads(self, threads: usize) -> Self {
        Loader { threads: threads.max(1), ..self }
    }

    /// Tells from time to time how many bytes of all inputs together were read.
    pub fn progress(self, progress: &'f (dyn Fn(u64) + Sync)) -> Self {
        Loader { progress: Some(progress), ..self }
    }

    /// Loads one profile from the files of a recording, or of several.
    pub fn load(&self, inputs: Vec<Input>) -> Profile {
        let piece = |input: &Input| LEAST_PIECE.max(input.bytes.len().div_ceil(PIECES * self.threads));
        let cuts = inputs.iter().map(|input| cut(&input.bytes, piece(input))).collect();
        self.load_cut(inputs, cuts)
    }

    /// Loads inputs that are cut at these places.
    fn load_cut(&self, inputs: Vec<Input>, cuts: Vec<Vec<usize>>) -> Profile {
        let seeds = Seeds::default();
        let mut stitcher = Stitcher::new(&inputs, seeds, self.threads);
        let progress = Progress::new(self.progress);
        let mut end = 0;
        for (place, (input, cuts)) in inputs.iter().zip(&cuts).enumerate() {
            let place = u32::try_from(place).unwrap_or(u32::MAX);
            let job = Job {
                input: &input.bytes,
                place,
                cuts,
                seeds,
                progress: &progress,
                #[cfg(test)]
                never_skims: self.never_skims,
            };
            stitcher.begin_input();
            job.run(self.threads, &mut stitcher);
            stitcher.end_input();
            end += input.bytes.len() as u64;
            progress.reach(end);
        }
        let mut index = stitcher.finish();
        identity::unite(&mut index, &inputs);
        Profile { inputs, index }
    }
}

impl Profile {
    /// Loads a file on all cores. [`Input::open`] and [`Loader`] load several, and have more of a say.
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
    /// Those of opening and reading. Whatever is in the file makes a profile; see [`Profile::findings`].
    pub fn open(path: impl AsRef<Path>) -> io::Result<Profile> {
        Ok(Profile::load(vec![Input::open(path)?]))
    }

    /// Loads files on all cores. See [`Loader`] for more of a say.
    pub fn load(inputs: Vec<Input>) -> Profile {
        Loader::new().load(inputs)
    }

    /// Loads one file.
    pub fn of(bytes: impl Into<Vec<u8>>) -> Profile {
        Profile::load(vec![Input { name: String::new(), bytes: bytes.into().into() }])
    }
}

/// One input to be read.
#[derive(Debug, Clone, Copy)]
struct Job<'a> {
    input: &'a [u8],
    place: u32,
    cuts: &'a [usize],
    seeds: Seeds,
    progress: &'a Progress<'a>,
    #[cfg(test)]
    never_skims: bool,
}

/// A piece that was read on an assumption; the first one on none.
type Read<'a> = (usize, Box<Worker<'a>>, Chunk);

impl<'a> Job<'a> {
    fn run(&self, threads: usize, stitcher: &mut Stitcher<'_>) {
        let speculation = if threads > 1 && !self.cuts.is_empty() { speculate(self.input) } else { None };
        match speculation {
            Some(speculation) => self.run_on(threads, &speculation, stitcher),
            None => {
                let mut worker = self.begin();
                for piece in 0..=self.cuts.len() {
                    let room = stitcher.add(worker.run(self.end(piece), Some(self.progress)));
                    worker.take_room(room);
                }
            }
        }
    }

    /// A worker that begins at the beginning.
    fn begin(&self) -> Worker<'a> {
        self.told(Worker::new(self.input, self.place, self.naming(), Room::default()))
    }

    /// A worker that is told what all are told.
    #[cfg_attr(not(test), expect(clippy::unused_self, reason = "only tests have something to tell"))]
    fn told(&self, worker: Worker<'a>) -> Worker<'a> {
        #[cfg(test)]
        let worker = worker.without_skimming(self.never_skims);
        worker
    }

    fn naming(&self) -> Naming<'a> {
        Naming::new(self.input, self.place, self.seeds)
    }

    /// Where a piece ends.
    fn end(&self, piece: usize) -> usize {
        self.cuts.get(piece).copied().unwrap_or(self.input.len())
    }

    fn run_on(&self, threads: usize, speculation: &Speculation<'a>, stitcher: &mut Stitcher<'_>) {
        let gate = Gate::new(threads + WAITING);
        let (sender, receiver) = channel();
        thread::scope(|scope| {
            for _ in 0..threads.min(self.cuts.len() + 1) {
                let sender = sender.clone();
                let gate = &gate;
                let work = move || self.work(speculation, gate, &sender);
                // Where there can be no more threads, fewer do it, and without any all is read below.
                if thread::Builder::new().spawn_scoped(scope, work).is_err() {
                    break;
                }
            }
            drop(sender);
            self.stitch(speculation, &receiver, &gate, stitcher);
        });
    }

    /// Reads pieces until there is none left.
    fn work(&self, speculation: &Speculation<'a>, gate: &Gate, sender: &Sender<Read<'a>>) {
        let _closing = CloseOnPanic(gate);
        let mut naming = self.naming();
        while let Some((piece, room)) = gate.next().filter(|&(piece, _)| piece <= self.cuts.len()) {
            let mut worker = Box::new(self.told(match piece.checked_sub(1).map(|before| self.end(before)) {
                Some(at) => Worker::resume(self.input, self.place, at, speculation, naming, room),
                None => Worker::new(self.input, self.place, naming, room),
            }));
            let chunk = worker.run(self.end(piece), Some(self.progress));
            naming = worker.give_up_room();
            if sender.send((piece, worker, chunk)).is_err() {
                return;
            }
        }
    }

    fn stitch(
        &self,
        speculation: &Speculation<'a>,
        receiver: &Receiver<Read<'a>>,
        gate: &Gate,
        stitcher: &mut Stitcher<'_>,
    ) {
        let mut early: Vec<Read<'a>> = Vec::new();
        let mut current: Option<Box<Worker<'a>>> = None;
        let mut in_vain = 0;
        for piece in 0..=self.cuts.len() {
            let read = if in_vain < PATIENCE { receive(piece, &mut early, receiver) } else { None };
            let room = match (read, &mut current) {
                (Some((_, worker, chunk)), None) => {
                    current = Some(worker);
                    stitcher.add(chunk)
                }
                (Some((_, worker, chunk)), Some(before))
                    if worker.holds() && *before.state() == speculation.state =>
                {
                    *before = worker;
                    in_vain = 0;
                    stitcher.add(chunk)
                }
                (read, current) => {
                    // It was told of already, unless nobody has read it.
                    let progress = read.is_none().then_some(self.progress);
                    drop(read);
                    in_vain += 1;
                    if in_vain == PATIENCE {
                        gate.close();
                        early.clear();
                    }
                    let current = current.get_or_insert_with(|| Box::new(self.begin()));
                    stitcher.add(current.run(self.end(piece), progress))
                }
            };
            gate.advance(room);
        }
    }
}

/// Lets workers get only so far ahead of the stitcher: what was read waits in memory until it is put together.
#[derive(Debug)]
struct Gate {
    pieces: Mutex<Pieces>,
    changed: Condvar,
}

#[derive(Debug)]
struct Pieces {
    /// The next one to be read.
    next: usize,
    /// The first that may not be read yet; none when there are to be no more.
    limit: Option<usize>,
    /// What those took that were put together.
    rooms: Vec<Room>,
}

impl Gate {
    fn new(ahead: usize) -> Self {
        let pieces = Pieces { next: 0, limit: Some(ahead), rooms: Vec::new() };
        Gate { pieces: Mutex::new(pieces), changed: Condvar::new() }
    }

    fn pieces(&self) -> MutexGuard<'_, Pieces> {
        self.pieces.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next piece to be read, once it may be, and room for it. None when there are to be no more.
    fn next(&self) -> Option<(usize, Room)> {
        let is_shut = |pieces: &mut Pieces| pieces.limit.is_some_and(|limit| pieces.next >= limit);
        let wait = self.changed.wait_while(self.pieces(), is_shut);
        let mut pieces = wait.unwrap_or_else(PoisonError::into_inner);
        pieces.limit?;
        pieces.next += 1;
        Some((pieces.next - 1, pieces.rooms.pop().unwrap_or_default()))
    }

    /// One more piece was put together, and took this room.
    fn advance(&self, room: Room) {
        let mut pieces = self.pieces();
        if let Some(limit) = &mut pieces.limit {
            *limit += 1;
            pieces.rooms.push(room);
        }
        self.changed.notify_all();
    }

    /// There are to be no more.
    fn close(&self) {
        let mut pieces = self.pieces();
        pieces.limit = None;
        pieces.rooms.clear();
        self.changed.notify_all();
    }
}

/// A piece that never comes would be waited for.
struct CloseOnPanic<'g>(&'g Gate);

impl Drop for CloseOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.close();
        }
    }
}

/// The piece that is next, once it has been read. None if nobody reads any more.
fn receive<'a>(piece: usize, early: &mut Vec<Read<'a>>, receiver: &Receiver<Read<'a>>) -> Option<Read<'a>> {
    loop {
        if let Some(at) = early.iter().position(|(other, ..)| *other == piece) {
            return Some(early.swap_remove(at));
        }
        early.push(receiver.recv().ok()?);
    }
}
