//! The index of one chunk, before it is known what precedes the chunk.
//!
//! Names, functions and parts are *local*: numbered by their first use in the chunk.

use gristmill_format::raw::{NameContext, Resumption};
use gristmill_format::{Columns, Cost, Location};

use super::local::{LocalFunctionId, LocalName, SumKind};
use super::local_names::LocalFunctions;
use super::name_events::NameEvents;
use crate::finding::Findings;
use crate::index::LineCounts;
use crate::index::names::Text;
use crate::index::sum_builder::GroupList;

/// The index of one chunk.
#[derive(Debug, Default)]
pub(super) struct ChunkIndex {
    /// The events that make local names and define name ids, in the order of the file.
    pub(super) names: NameEvents,
    pub(super) functions: LocalFunctions,
    /// Parts; the first may continue the last one of the chunk before.
    pub(super) parts: Vec<ChunkPart>,
    pub(super) blocks: Vec<LocalBlock>,
    pub(super) anchors: Vec<LocalAnchor>,
    pub(super) findings: Findings,
    pub(super) counts: LineCounts,
    /// The name context at its end.
    pub(super) context: NameContext<LocalName>,
    /// Number of lines before it, as its reader counts.
    pub(super) lines_before: u64,
    /// Number of lines up to its end, as its reader counts.
    pub(super) lines_read: u64,
}

/// The memory of a stitched chunk, reused for another. Measured on a plain file of 200 MB: allocating it for each chunk
/// takes 5% of the time of loading.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    pub(super) names: NameEvents,
    pub(super) functions: LocalFunctions,
    pub(super) blocks: Vec<LocalBlock>,
    pub(super) sums: GroupList<{ SumKind::COUNT }>,
}

impl ChunkIndex {
    /// Empties the index and returns its memory.
    pub(super) fn into_buffers(mut self) -> Buffers {
        let mut sums = self.parts.pop().map(|part| part.sums).unwrap_or_default();
        self.names.clear();
        self.functions.clear();
        self.blocks.clear();
        sums.clear();
        Buffers { names: self.names, functions: self.functions, blocks: self.blocks, sums }
    }
}

/// A part, or as much of it as is in the chunk.
#[derive(Debug, Default)]
pub(super) struct ChunkPart {
    /// It starts in a chunk before.
    pub(super) is_continued: bool,
    /// Location of its start, unless it is continued.
    pub(super) location: Option<Location>,
    /// It starts with the line that Xdebug writes between profiles.
    pub(super) is_fresh: bool,
    pub(super) numbers: PartNumbers,
    /// Boxed, as a chunk may hold a hundred thousand parts with a number and no other header line.
    pub(super) header: Option<Box<HeaderDraft>>,
    /// The state that a reader needs to start at one of its blocks.
    pub(super) body: Option<Box<(Columns, Resumption)>>,
    /// Self costs by function and file, and calls by caller and callee. The first number of a row is the count of calls.
    pub(super) sums: GroupList<{ SumKind::COUNT }>,
    /// The range of its blocks in the chunk: index of the first, and index after the last.
    pub(super) blocks: (usize, usize),
}

/// The numbers on the header lines of a part. Of several that set the same number, the last one counts.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PartNumbers {
    pub(super) pid: Option<u64>,
    pub(super) number: Option<u64>,
    pub(super) thread: Option<u64>,
}

impl PartNumbers {
    /// Adds the numbers of header lines that come later.
    pub(super) fn add(&mut self, later: PartNumbers) {
        self.pid = later.pid.or(self.pid);
        self.number = later.number.or(self.number);
        self.thread = later.thread.or(self.thread);
    }
}

/// The other header lines of a part. Of several that set the same value, the last one counts.
#[derive(Debug, Clone, Default)]
pub(super) struct HeaderDraft {
    pub(super) version: Option<Text>,
    pub(super) creator: Option<Text>,
    pub(super) command: Option<Text>,
    pub(super) trigger: Option<Text>,
    pub(super) time_range: Option<Text>,
    pub(super) descriptions: Vec<(Text, Text)>,
    /// Name, formula and long name of each `event:` line.
    pub(super) definitions: Vec<[Option<Text>; 3]>,
    /// From the first event type to the last.
    pub(super) events: Option<Text>,
    pub(super) summary: Option<Box<[Cost]>>,
    pub(super) totals: Option<Box<[Cost]>>,
}

impl HeaderDraft {
    /// Adds header lines that come later.
    pub(super) fn add(&mut self, later: HeaderDraft) {
        fn replace<T>(value: &mut Option<T>, later: Option<T>) {
            if later.is_some() {
                *value = later;
            }
        }
        replace(&mut self.version, later.version);
        replace(&mut self.creator, later.creator);
        replace(&mut self.command, later.command);
        replace(&mut self.trigger, later.trigger);
        replace(&mut self.time_range, later.time_range);
        self.descriptions.extend(later.descriptions);
        self.definitions.extend(later.definitions);
        replace(&mut self.events, later.events);
        replace(&mut self.summary, later.summary);
        replace(&mut self.totals, later.totals);
    }
}

/// A block by local ids. Lines are as the reader of the chunk counts them.
#[derive(Debug, Clone, Copy)]
pub(super) struct LocalBlock {
    pub(super) location: Location,
    pub(super) needs_anchor: bool,
    pub(super) function: LocalFunctionId,
    pub(super) file: LocalName,
}

/// The state that a reader needs to start at a block whose positions are relative to a block before.
#[derive(Debug, Clone, Copy)]
pub(super) struct LocalAnchor {
    /// Index of the block in the chunk.
    pub(super) block: usize,
    pub(super) state: Resumption,
}
