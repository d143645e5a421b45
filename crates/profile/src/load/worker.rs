//! Reads a piece of an input into sums and an index, by local names.

use std::mem;

use gristmill_format::{
    Cost, CostFault, CostLine, CostRole, Costs, Error, ErrorKind, Header, Line, Location, Name, NameKey,
    Reader, Record, Resumption,
};

use super::chunk::{Chunk, ChunkPart, LocalAnchor, LocalBlock, LocalSums, Mention, NO_NAME};
use super::growing::Sums;
use super::naming::Naming;
use super::progress::{Progress, TOLD};
use super::split::{Speculation, State, is_of_callgrind, offset, span};
use crate::finding::Finding;
use crate::in_force::{InForce, Slot};
use crate::text::Text;

/// Between two blocks whose positions are relative to others there is a place to begin at, if they are so far apart.
const ANCHOR_DISTANCE: u64 = 4096;

/// Reads pieces of an input, one after the other.
#[derive(Debug)]
pub(super) struct Worker<'a> {
    input: &'a [u8],
    place: u32,
    reader: Reader<'a>,
    /// Read already, but behind the end of the piece.
    held_back: Option<Result<Record<'a>, Error>>,
    /// Nothing is known of what stands before, but what was assumed.
    is_resumed: bool,
    /// It turned out that something must be known of what stands before.
    needs_before: bool,
    pub(super) state: State<'a>,
    /// What relative positions are relative to is known.
    base_known: bool,
    /// The part of the last record, as the reader counts.
    part: Option<u32>,
    width: usize,
    last_anchor: Option<u64>,

    chunk: Chunk,
    pub(super) naming: Naming<'a>,
    in_force: InForce<u32>,
    block: Block,
    /// The sums of the block, and those of the part so far.
    block_selves: Sums,
    block_arcs: Sums,
    selves: LocalSums,
    arcs: LocalSums,
    self_row: Option<usize>,
    call: Option<(u32, Cost)>,
}

/// What is known of the block that is being read.
#[derive(Debug, Default)]
struct Block {
    location: Option<Location>,
    state: Option<Resumption>,
    /// It begins with `fn=`.
    has_function: bool,
    is_open: bool,
    /// The reader complained of a position.
    has_odd_position: bool,
    function: u32,
    /// None of its positions so far has to be known to understand those that follow.
    has_base: bool,
}

impl<'a> Worker<'a> {
    /// Begins at the beginning.
    pub(super) fn new(input: &'a [u8], place: u32, naming: Naming<'a>) -> Self {
        Self::with(input, place, Reader::new(input), State::START, naming)
    }

    /// Begins at a cut.
    pub(super) fn resume(
        input: &'a [u8],
        place: u32,
        at: usize,
        speculation: &Speculation<'a>,
        naming: Naming<'a>,
    ) -> Self {
        let reader = Reader::resume(input, at, &speculation.resumption);
        let mut worker = Self::with(input, place, reader, speculation.state, naming);
        worker.is_resumed = true;
        worker.base_known = false;
        worker.part = Some(worker.reader.part());
        worker.width = words(speculation.state.events).count();
        worker.begin_chunk();
        let has_fl = speculation.state.has_fl;
        let file = worker.naming.bring(if has_fl { Slot::LastFl } else { Slot::File });
        worker.in_force = InForce {
            object: Some(worker.naming.bring(Slot::Object)),
            file: Some(file),
            last_fl: has_fl.then_some(file),
            ..InForce::default()
        };
        worker
    }

    fn with(input: &'a [u8], place: u32, reader: Reader<'a>, state: State<'a>, naming: Naming<'a>) -> Self {
        Worker {
            input,
            place,
            reader,
            held_back: None,
            is_resumed: false,
            needs_before: false,
            state,
            base_known: true,
            part: None,
            width: 0,
            last_anchor: None,
            chunk: Chunk::default(),
            naming,
            in_force: InForce::default(),
            block: Block::default(),
            block_selves: Sums::default(),
            block_arcs: Sums::default(),
            selves: LocalSums::default(),
            arcs: LocalSums::default(),
            self_row: None,
            call: None,
        }
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
        // Not as the first turn of the loop: what comes from either of two places has to be copied.
        if let Some(item) = self.held_back.take() {
            if is_cut && place_of(&item).byte >= end {
                self.chunk.lines_read = place_of(&item).line - 1;
                self.held_back = Some(item);
                return self.end_chunk();
            }
            self.item(&item);
        }
        while !self.needs_before
            && let Some(item) = self.reader.next()
        {
            let location = place_of(&item);
            if location.byte >= stop {
                tell(location.byte);
                if is_cut && location.byte >= end {
                    self.chunk.lines_read = location.line - 1;
                    self.held_back = Some(item);
                    return self.end_chunk();
                }
                stop = end.max(location.byte + 1).min(location.byte + TOLD);
            }
            self.item(&item);
        }
        self.chunk.lines_read = self.reader.resumption().lines();
        self.end_chunk()
    }

    #[inline(always)]
    fn item(&mut self, item: &Result<Record<'a>, Error>) {
        match item {
            Ok(record) => self.record(record),
            Err(error) => self.error(error),
        }
    }

    /// Whether what was assumed of positions is enough for all that was read.
    pub(super) fn holds(&self) -> bool {
        !self.needs_before && self.base_known
    }

    /// Waits at the end of a piece, and takes as little room as it can: that of a reader is as large as the numbers of the
    /// input. What comes is read as from any other cut, only that the positions before are known.
    pub(super) fn wait(&mut self, speculation: &Speculation<'a>) {
        if !self.holds() || self.state != speculation.state {
            return;
        }
        let Some(location) = self.held_back.as_ref().map(place_of) else { return };
        let Ok(at) = usize::try_from(location.byte) else { return };
        let resumption = self.reader.resumption().with_lines(location.line - 1);
        self.held_back = None;
        self.reader = Reader::resume(self.input, at, &resumption);
        self.is_resumed = true;
    }

    fn end_chunk(&mut self) -> Chunk {
        self.end_part();
        self.state.columns = *self.reader.columns();
        self.chunk.in_force = self.in_force;
        self.state.has_fl = self.in_force.last_fl.is_some();
        let mut chunk = mem::take(&mut self.chunk);
        (chunk.names, chunk.functions) = self.naming.begin_anew();
        self.chunk.first_line = chunk.lines_read;
        self.begin_chunk();
        // What is in force comes over under other names.
        let in_force = self.in_force;
        self.in_force = in_force.at_next_function(|slot, _| self.naming.bring(slot));
        chunk
    }

    /// Forgets all local names, and goes on with the part, if there is one.
    fn begin_chunk(&mut self) {
        self.self_row = None;
        self.block = Block::default();
        if self.part.is_some() {
            self.chunk.parts.push(ChunkPart { is_continued: true, ..ChunkPart::default() });
        }
    }

    fn error(&mut self, error: &Error) {
        match error.kind() {
            // The reader does not know all that is before it, and keeps the callee of a function for the next one.
            ErrorKind::UndefinedName(..) | ErrorKind::RedefinedName(..) | ErrorKind::CallWithoutCallee => {
                return;
            }
            ErrorKind::CallWithoutCost => {
                self.in_force.call_done();
                self.call = None;
            }
            ErrorKind::LeadingBlank => self.state.is_indented = true,
            // What is taken in its place may depend on positions before.
            ErrorKind::RelativeWithoutBase
            | ErrorKind::PositionBelowZero
            | ErrorKind::PositionTooLarge
            | ErrorKind::BadPosition
            | ErrorKind::MissingPosition => {
                self.needs_before |= !self.base_known;
                self.block.has_odd_position = true;
            }
            _ => {}
        }
        self.chunk.findings.push(Finding::of(error));
    }

    fn fault(&mut self, fault: CostFault, location: Location) {
        self.chunk.findings.push(Finding::of(&fault.into_error(location)));
    }

    #[inline(always)]
    fn record(&mut self, record: &Record<'a>) {
        if self.part != Some(record.part) && !matches!(record.line, Line::Blank | Line::Comment(_)) {
            self.begin_part(record);
        }
        match record.line {
            Line::Cost(line) => self.cost_line(record, &line),
            Line::Name(key, name) => self.name_line(record, key, &name),
            Line::Calls(calls) => self.calls_line(record, calls.count),
            Line::Jump(_) => {
                self.chunk.counts.jumps += 1;
                self.open_block(record);
                self.look_at_target(record);
                self.in_force.has_lines = true;
            }
            Line::Header(header) => self.header_line(header),
            Line::NewProfile(_) => {
                self.naming.forget(record.location.byte);
                self.in_force = InForce::default();
                self.state.calls_move_base = true;
                if let Some(part) = self.chunk.parts.last_mut() {
                    part.header.is_fresh = true;
                }
            }
            _ => {}
        }
    }

    fn begin_part(&mut self, record: &Record<'a>) {
        self.end_part();
        self.part = Some(record.part);
        let blocks = self.chunk.blocks.len();
        self.chunk.parts.push(ChunkPart { blocks: (blocks, blocks), ..ChunkPart::default() });
        if let Some(part) = self.chunk.parts.last_mut() {
            part.header.location = Some(record.location);
        }
        self.width = 0;
        self.state.events = b"";
        self.state.has_events = false;
        self.base_known = true;
        self.last_anchor = None;
        self.in_force.call_done();
        self.in_force.last_callee = None;
        self.block = Block::default();
    }

    fn end_part(&mut self) {
        self.write_block();
        let selves = mem::take(&mut self.selves);
        let arcs = mem::take(&mut self.arcs);
        let end = self.chunk.blocks.len();
        if let Some(part) = self.chunk.parts.last_mut() {
            part.selves = selves;
            part.arcs = arcs;
            part.blocks.1 = end;
        }
    }

    /// Writes down the sums of the block.
    fn write_block(&mut self) {
        self.self_row = None;
        self.block_selves.write(self.block.function, &mut self.selves);
        self.block_arcs.write(self.block.function, &mut self.arcs);
    }

    fn header_line(&mut self, header: Header<'a>) {
        let input = self.input;
        let place = self.place;
        let text = |slice: &[u8]| Text { at: offset(input, slice), len: slice.len(), place };
        let Some(part) = self.chunk.parts.last_mut() else { return };
        let draft = &mut part.header;
        match header {
            Header::Creator(creator) => {
                self.state.calls_move_base = !is_of_callgrind(creator);
                draft.creator = Some(text(creator));
            }
            Header::Command(command) => draft.command = Some(text(command)),
            Header::Pid(pid) => draft.pid = Some(pid),
            Header::Part(number) => draft.number = Some(number),
            Header::Thread(thread) => draft.thread = Some(thread),
            Header::Description { kind: b"Trigger", value } => draft.trigger = Some(text(value)),
            Header::Description { kind: b"Timerange", value } => draft.time_range = Some(text(value)),
            Header::Description { kind, value } => draft.descriptions.push((text(kind), text(value))),
            Header::Event(definition) => {
                let names = [Some(definition.name), definition.formula, definition.long_name];
                draft.definitions.push(names.map(|name| name.map(text)));
            }
            Header::Events(words) => {
                self.state.events = span(input, words.iter());
                self.state.has_events = !self.state.events.is_empty();
                draft.events = Some(text(self.state.events));
                self.width = words.len();
            }
            Header::Summary(costs) => draft.summary = Some(claimed(&costs)),
            Header::Totals(costs) => draft.totals = Some(claimed(&costs)),
            _ => {}
        }
    }

    fn name_line(&mut self, record: &Record<'a>, key: NameKey, name: &Name<'a>) {
        let part = u32::try_from(self.chunk.parts.len().saturating_sub(1)).unwrap_or(u32::MAX);
        let local = self.naming.local(record, key, name, part, self.is_resumed);
        self.in_force.name(key, local);
        match key {
            NameKey::Fn => {
                self.write_block();
                let lines = record.location.line - 1;
                self.block = Block {
                    location: Some(record.location),
                    state: Some(self.reader.resumption().with_lines(lines)),
                    has_function: true,
                    ..Block::default()
                };
            }
            // Without a function it is the first block of its part.
            _ if self.block.location.is_none() => self.block.location = Some(record.location),
            _ => {}
        }
        match key {
            NameKey::Fl | NameKey::Fi | NameKey::Fe | NameKey::Ob => self.self_row = None,
            _ => {}
        }
    }

    /// A line with costs, calls or a jump: here the function of the block is settled.
    #[inline]
    fn open_block(&mut self, record: &Record<'a>) {
        if !self.block.is_open {
            self.open_new_block(record);
        }
    }

    #[inline(never)]
    fn open_new_block(&mut self, record: &Record<'a>) {
        let InForce { object, file, function_file, function, .. } = self.in_force;
        // A block with a `fn=` is read again from there.
        let file = if self.block.has_function { function_file } else { file };
        let mention = Mention { is_defined: true, ..Mention::default() };
        self.block.function = self.naming.function(object, function_file, function, mention);
        self.block.is_open = true;
        let location = *self.block.location.get_or_insert(record.location);
        self.chunk.blocks.push(LocalBlock {
            location,
            needs_anchor: false,
            function: self.block.function,
            file: file.unwrap_or(NO_NAME),
        });
        let lines = location.line - 1;
        let state = *self
            .block
            .state
            .get_or_insert_with(|| self.reader.resumption().without_base().with_lines(lines));
        let columns = *self.reader.columns();
        if let Some(part) = self.chunk.parts.last_mut() {
            part.body.get_or_insert_with(|| (columns, state.without_base().with_lines(0)));
        }
    }

    /// Notes whether a block can be read without what stands before it. Asked only until one of its lines has said
    /// where it is.
    #[inline]
    fn look_at_positions(&mut self, record: &Record<'a>, line: &CostLine<'a>) {
        if self.block.has_base {
            return;
        }
        let text = record.spelling.text().unwrap_or_default();
        let columns = line.positions.as_slice().len();
        let mut tokens = words(text).take(columns);
        if self.block.has_odd_position
            || tokens.any(|token| matches!(token.first(), Some(b'+' | b'-' | b'*')))
        {
            self.is_relative();
        } else if line.role == CostRole::SelfCost || self.state.calls_move_base {
            self.block.has_base = true;
            self.last_anchor = None;
        }
        self.base_known |= self.block.has_base;
    }

    /// The same for where a call or jump leads.
    #[inline]
    fn look_at_target(&mut self, record: &Record<'a>) {
        if !self.block.has_base {
            let text = record.spelling.text().unwrap_or_default();
            if text.iter().any(|byte| matches!(byte, b'+' | b'-' | b'*')) {
                self.is_relative();
            }
        }
    }

    fn is_relative(&mut self) {
        self.needs_before |= !self.base_known;
        self.block.has_base = true;
        if let Some(block) = self.chunk.blocks.last_mut() {
            block.needs_anchor = true;
        }
        let Some(state) = self.block.state else { return };
        let byte = self.block.location.map_or(0, |location| location.byte);
        if self.last_anchor.is_none_or(|last| byte - last > ANCHOR_DISTANCE) {
            self.last_anchor = Some(byte);
            let block = self.chunk.blocks.len().saturating_sub(1);
            self.chunk.anchors.push(LocalAnchor { block, state });
        }
    }

    fn calls_line(&mut self, record: &Record<'a>, count: Cost) {
        self.open_block(record);
        self.look_at_target(record);
        let InForce { object, file, callee_object, callee_file, callee, last_callee, .. } = self.in_force;
        if callee.is_none() {
            self.in_force.callee = last_callee;
            self.chunk.findings.push(Finding {
                input: 0,
                location: record.location,
                column: 1,
                length: record.spelling.text().map_or(0, |text| text.len() as u64),
                kind: ErrorKind::CallWithoutCallee,
                is_repaired: true,
            });
        }
        let mention = Mention {
            is_defined: false,
            has_object: callee_object.is_some(),
            has_file: callee_file.is_some(),
        };
        let callee = self.in_force.callee;
        let callee = self.naming.function(callee_object.or(object), callee_file.or(file), callee, mention);
        self.call = Some((callee, count));
        self.chunk.counts.calls += 1;
    }

    #[inline]
    fn cost_line(&mut self, record: &Record<'a>, line: &CostLine<'a>) {
        self.open_block(record);
        self.look_at_positions(record, line);
        self.in_force.has_lines = true;
        let added = match line.role {
            CostRole::SelfCost => {
                self.chunk.counts.self_costs += 1;
                let row = match self.self_row {
                    Some(row) => row,
                    None => self.new_self_row(),
                };
                self.block_selves.add(row, &line.costs)
            }
            CostRole::Call => {
                let Some((callee, count)) = self.call.take() else { return };
                let row = match self.block_arcs.row(callee, self.width) {
                    Some(row) => row,
                    None => {
                        self.block_arcs.write(self.block.function, &mut self.arcs);
                        self.block_arcs.row(callee, self.width).unwrap_or_default()
                    }
                };
                self.block_arcs.count(row, count);
                self.in_force.last_callee = self.in_force.callee;
                self.in_force.call_done();
                self.block_arcs.add(row, &line.costs)
            }
            CostRole::JumpSource => return,
        };
        if let Err(fault) = added {
            self.fault(fault, record.location);
        }
    }

    #[inline(never)]
    fn new_self_row(&mut self) -> usize {
        let file = self.in_force.file.unwrap_or(NO_NAME);
        let row = match self.block_selves.row(file, self.width) {
            Some(row) => row,
            None => {
                self.block_selves.write(self.block.function, &mut self.selves);
                self.block_selves.row(file, self.width).unwrap_or_default()
            }
        };
        self.self_row = Some(row);
        row
    }
}

fn place_of(item: &Result<Record<'_>, Error>) -> Location {
    match item {
        Ok(record) => record.location,
        Err(error) => error.location(),
    }
}

fn claimed(costs: &Costs<'_>) -> Box<[Cost]> {
    costs.iter().map(|cost| cost.unwrap_or_else(|fault| fault.repaired)).collect()
}

/// The words of a line.
pub(super) fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|&byte| byte == b' ' || byte == b'\t').filter(|word| !word.is_empty())
}
