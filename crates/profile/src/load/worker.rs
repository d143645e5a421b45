//! Reads the pieces of an input, and has what is in them gathered.

use gristmill_format::{Error, Location, Reader, Record};

use super::chunk::{Chunk, Room};
use super::gather::Gatherer;
use super::naming::Naming;
use super::progress::{Progress, TOLD};
use super::split::{Speculation, State};

/// Reads pieces of an input, one after the other.
#[derive(Debug)]
pub(super) struct Worker<'a> {
    input: &'a [u8],
    reader: Reader<'a>,
    /// Read already, but behind the end of the piece.
    held_back: Option<Result<Record<'a>, Error>>,
    gatherer: Gatherer<'a>,
    /// All lines come as records.
    #[cfg(test)]
    never_skims: bool,
}

impl<'a> Worker<'a> {
    /// Begins at the beginning.
    pub(super) fn new(input: &'a [u8], place: u32, naming: Naming<'a>, room: Room) -> Self {
        Self::with(input, Reader::new(input), Gatherer::new(input, place, naming, room))
    }

    /// Begins at a cut.
    pub(super) fn resume(
        input: &'a [u8],
        place: u32,
        at: usize,
        speculation: &Speculation<'a>,
        naming: Naming<'a>,
        room: Room,
    ) -> Self {
        let reader = Reader::resume(input, at, &speculation.resumption);
        let gatherer = Gatherer::resume(input, place, reader.part(), speculation.state, naming, room);
        Self::with(input, reader, gatherer)
    }

    fn with(input: &'a [u8], reader: Reader<'a>, gatherer: Gatherer<'a>) -> Self {
        Worker {
            input,
            reader: reader.by_number(),
            held_back: None,
            gatherer,
            #[cfg(test)]
            never_skims: false,
        }
    }

    /// Has all lines come as records.
    #[cfg(test)]
    pub(super) fn without_skimming(self, never_skims: bool) -> Self {
        Worker { never_skims, ..self }
    }

    /// Reads on to this place, which is a cut or the end of the input.
    pub(super) fn run(&mut self, end: usize, progress: Option<&Progress<'_>>) -> Chunk {
        let is_cut = end < self.input.len();
        let end = end as u64;
        let mut told = self.reader.bytes_read();
        let mut stop = end.min(told + TOLD);
        let mut tell = |byte: u64| {
            if let Some(progress) = progress {
                progress.add(byte.saturating_sub(told));
            }
            told = byte;
        };
        let mut next = self.held_back.take();
        while !self.gatherer.needs_before {
            if next.is_none() {
                self.skim(stop);
                next = self.reader.next();
            }
            let Some(item) = next.take() else { break };
            let location = place_of(&item);
            if location.byte >= stop {
                tell(location.byte);
                if is_cut && location.byte >= end {
                    self.gatherer.chunk.lines_read = location.line - 1;
                    self.held_back = Some(item);
                    return self.gatherer.end_chunk(&self.reader);
                }
                stop = end.max(location.byte + 1).min(location.byte + TOLD);
            }
            self.gatherer.item(&self.reader, &item);
        }
        self.gatherer.chunk.lines_read = self.reader.resumption().lines();
        self.gatherer.end_chunk(&self.reader)
    }

    /// Takes what can be taken without records.
    fn skim(&mut self, stop: u64) {
        #[cfg(test)]
        if self.never_skims {
            return;
        }
        if self.gatherer.may_skim(&self.reader) {
            self.reader.skim(usize::try_from(stop).unwrap_or(usize::MAX), &mut self.gatherer);
        }
    }

    /// What decides how lines are read at the end of the last piece.
    pub(super) fn state(&self) -> &State<'a> {
        &self.gatherer.state
    }

    /// Whether what was assumed of positions is enough for all that was read.
    pub(super) fn holds(&self) -> bool {
        !self.gatherer.needs_before && self.gatherer.base_known
    }

    /// Takes room for the piece after the next.
    pub(super) fn take_room(&mut self, room: Room) {
        self.gatherer.spare = room;
    }

    /// Waits at the end of a piece, and hands on the room that its tables take. What comes is read as from any other cut,
    /// only that the positions before are known.
    pub(super) fn give_up_room(&mut self) -> Naming<'a> {
        self.gatherer.naming.give_up_room()
    }
}

fn place_of(item: &Result<Record<'_>, Error>) -> Location {
    match item {
        Ok(record) => record.location,
        Err(error) => error.location(),
    }
}
