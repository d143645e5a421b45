//! What was read from one piece of an input, before it is known what stood before it.
//!
//! Names are *local*: numbers for the names of this piece, in the order of their first use, for each name space.

use gristmill_format::raw::{NameContext, Resumption};
use gristmill_format::{Columns, Cost, Location};

use super::name_events::NameEvents;
use crate::finding::Findings;
use crate::index::names::Text;
use crate::index::sum_builder::GroupList;
use crate::index::{LineCounts, Mention};

/// The tables that sums go to: self costs by function and file, and calls by caller and callee.
pub(super) const TABLES: usize = 2;
pub(super) const SELVES: usize = 0;
pub(super) const ARCS: usize = 1;

/// Stands for a name that was never given.
pub(super) const NO_NAME: u32 = u32::MAX;

/// What was read from one piece.
#[derive(Debug, Default)]
pub(super) struct Chunk {
    /// How local names came about, and which numbers got which: in the order of the file.
    pub(super) names: NameEvents,
    /// Different functions, in the order of their first use.
    pub(super) functions: Vec<LocalFunction>,
    /// The parts; the first one may go on with the last one of the piece before.
    pub(super) parts: Vec<ChunkPart>,
    pub(super) blocks: Vec<LocalBlock>,
    pub(super) anchors: Vec<LocalAnchor>,
    pub(super) findings: Findings,
    pub(super) counts: LineCounts,
    /// The names in force at its end.
    pub(super) in_force: NameContext<u32>,
    /// How many lines are before it, as its reader counts.
    pub(super) first_line: u64,
    /// Where it ends, as its reader counts lines.
    pub(super) lines_read: u64,
}

/// The room that a piece took, for another one. Measured on a plain file of 200 MB: to get it anew for each takes a
/// twentieth of the time of loading.
#[derive(Debug, Default)]
pub(super) struct Room {
    pub(super) names: NameEvents,
    pub(super) functions: Vec<LocalFunction>,
    pub(super) blocks: Vec<LocalBlock>,
    pub(super) sums: GroupList<TABLES>,
}

impl Chunk {
    /// The room that it takes.
    pub(super) fn into_room(mut self) -> Room {
        let mut sums = self.parts.pop().map(|part| part.sums).unwrap_or_default();
        self.names.clear();
        self.functions.clear();
        self.blocks.clear();
        sums.clear();
        Room { names: self.names, functions: self.functions, blocks: self.blocks, sums }
    }
}

/// A function by what its lines say of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct LocalFunction {
    pub(super) object: u32,
    pub(super) file: u32,
    pub(super) name: u32,
    pub(super) mention: Mention,
}

/// A part, or as much of it as is in this piece.
#[derive(Debug, Default)]
pub(super) struct ChunkPart {
    /// Its beginning is in a piece before.
    pub(super) is_continued: bool,
    /// Where it begins, unless it is continued.
    pub(super) location: Option<Location>,
    /// It begins after the line that Xdebug puts between profiles.
    pub(super) is_fresh: bool,
    /// Apart from the rest, as a piece may hold a hundred thousand parts that say nothing.
    pub(super) header: Option<Box<HeaderDraft>>,
    /// What a reader must know to begin at one of its blocks.
    pub(super) body: Option<Box<(Columns, Resumption)>>,
    /// Self costs by local function and local file, calls by local caller and local callee; the first number of a row is
    /// how often.
    pub(super) sums: GroupList<TABLES>,
    /// How many blocks of the piece come before this part, and end with it.
    pub(super) blocks: (usize, usize),
}

/// What the header lines of a part say; of several that say the same thing the last.
#[derive(Debug, Clone, Default)]
pub(super) struct HeaderDraft {
    pub(super) pid: Option<u64>,
    pub(super) number: Option<u64>,
    pub(super) thread: Option<u64>,
    pub(super) creator: Option<Text>,
    pub(super) command: Option<Text>,
    pub(super) trigger: Option<Text>,
    pub(super) time_range: Option<Text>,
    pub(super) descriptions: Vec<(Text, Text)>,
    /// Name, formula, long name.
    pub(super) definitions: Vec<[Option<Text>; 3]>,
    /// From the first event type to the last.
    pub(super) events: Option<Text>,
    pub(super) summary: Option<Box<[Cost]>>,
    pub(super) totals: Option<Box<[Cost]>>,
}

impl HeaderDraft {
    /// Takes what was read later.
    pub(super) fn add(&mut self, later: HeaderDraft) {
        fn take<T>(place: &mut Option<T>, later: Option<T>) {
            if later.is_some() {
                *place = later;
            }
        }
        take(&mut self.pid, later.pid);
        take(&mut self.number, later.number);
        take(&mut self.thread, later.thread);
        take(&mut self.creator, later.creator);
        take(&mut self.command, later.command);
        take(&mut self.trigger, later.trigger);
        take(&mut self.time_range, later.time_range);
        self.descriptions.extend(later.descriptions);
        self.definitions.extend(later.definitions);
        take(&mut self.events, later.events);
        take(&mut self.summary, later.summary);
        take(&mut self.totals, later.totals);
    }
}

/// A block by local names; lines as the reader counts them.
#[derive(Debug, Clone, Copy)]
pub(super) struct LocalBlock {
    pub(super) location: Location,
    pub(super) needs_anchor: bool,
    pub(super) function: u32,
    pub(super) file: u32,
}

/// What a reader must know to begin at a block whose positions are relative to a block before.
#[derive(Debug, Clone, Copy)]
pub(super) struct LocalAnchor {
    pub(super) block: usize,
    pub(super) state: Resumption,
}
