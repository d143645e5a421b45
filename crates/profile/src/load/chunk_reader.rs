//! Reads chunks of an input, one after the other.

use gristmill_format::{Error, Line, Location, NameKey, Reader, Record};

use super::chunk::{Buffers, ChunkIndex};
use super::indexer::Indexer;
use super::local::InputView;
use super::progress::{Progress, REPORT_BYTES};
use super::split::{ReadingState, Speculation};

/// Reads chunks of an input, one after the other, and indexes them.
#[derive(Debug)]
pub(super) struct ChunkReader<'a> {
    input_bytes: usize,
    reader: Reader<'a>,
    /// A record behind the end of the last chunk.
    held_back: Option<Result<Record<'a>, Error>>,
    indexer: Indexer<'a>,
    never_skims: bool,
    max_parts: usize,
}

impl<'a> ChunkReader<'a> {
    /// Creates a reader for the start of an input.
    pub(super) fn new(input: InputView<'a>, buffers: Buffers) -> Self {
        Self::with(input, Reader::new(input.bytes), Indexer::new(input, buffers))
    }

    /// Creates a reader for a cut, with a speculated state.
    pub(super) fn resume(
        input: InputView<'a>,
        at: usize,
        speculation: &Speculation<'a>,
        buffers: Buffers,
    ) -> Self {
        let reader = Reader::resume(input.bytes, at, &speculation.resumption);
        let indexer = Indexer::resume(input, reader.part(), speculation.state, buffers);
        Self::with(input, reader, indexer)
    }

    fn with(input: InputView<'a>, reader: Reader<'a>, indexer: Indexer<'a>) -> Self {
        let reader = reader.by_number();
        ChunkReader {
            input_bytes: input.bytes.len(),
            reader,
            held_back: None,
            indexer,
            never_skims: input.tuning.never_skims,
            max_parts: input.tuning.max_chunk_parts,
        }
    }

    /// Reads up to an offset, which is a cut or the end of the input, and returns the index of what was read. Ends early
    /// if there are many parts: [`ChunkReader::has_reached`] tells.
    pub(super) fn read(&mut self, end: usize, progress: Option<&Progress<'_>>) -> ChunkIndex {
        let is_cut = end < self.input_bytes;
        let end = end as u64;
        let mut reported = self.reader.bytes_read();
        let mut stop = end.min(reported + REPORT_BYTES);
        let mut report = |byte: u64| {
            if let Some(progress) = progress {
                progress.add(byte.saturating_sub(reported));
            }
            reported = byte;
        };
        let mut next = self.held_back.take();
        while !self.indexer.needs_before {
            if next.is_none() {
                self.skim(stop);
                next = self.reader.next();
            }
            let Some(item) = next.take() else { break };
            let location = location_of(&item);
            if location.byte >= stop {
                report(location.byte);
                if is_cut && location.byte >= end {
                    self.indexer.chunk.lines_read = location.line - 1;
                    self.held_back = Some(item);
                    return self.indexer.end_chunk(&self.reader);
                }
                stop = end.max(location.byte + 1).min(location.byte + REPORT_BYTES);
            }
            if self.indexer.chunk.parts.len() > self.max_parts && begins_function(&item) {
                self.indexer.chunk.lines_read = location.line - 1;
                self.held_back = Some(item);
                return self.indexer.end_chunk(&self.reader);
            }
            self.indexer.item(&self.reader, &item);
        }
        self.indexer.chunk.lines_read = self.reader.resumption().lines();
        self.indexer.end_chunk(&self.reader)
    }

    /// Returns `true` if everything before an offset was read.
    pub(super) fn has_reached(&self, end: usize) -> bool {
        let next = self.held_back.as_ref().map(|item| location_of(item).byte);
        next.is_none_or(|next| next >= end as u64)
    }

    /// Reads lines of the usual form, without making records of them.
    fn skim(&mut self, stop: u64) {
        if !self.never_skims && self.indexer.may_skim(&self.reader) {
            self.reader.skim(usize::try_from(stop).unwrap_or(usize::MAX), &mut self.indexer);
        }
    }

    /// Returns the state at the end of the last chunk.
    pub(super) fn state(&self) -> &ReadingState<'a> {
        &self.indexer.state
    }

    /// Returns `true` if no line that was read depends on a position before its chunk, and none that follows does.
    pub(super) fn is_independent(&self) -> bool {
        !self.indexer.needs_before && self.indexer.base_known
    }

    /// Sets the memory for the chunk after the next.
    pub(super) fn reuse(&mut self, buffers: Buffers) {
        self.indexer.next_buffers = buffers;
    }
}

/// `true` for a line that begins with `fn=`, as chunks do.
fn begins_function(item: &Result<Record<'_>, Error>) -> bool {
    matches!(item, Ok(Record { line: Line::Name(NameKey::Fn, _), .. }))
}

fn location_of(item: &Result<Record<'_>, Error>) -> Location {
    match item {
        Ok(record) => record.location,
        Err(error) => error.location(),
    }
}
