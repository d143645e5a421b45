//! What the lines of a piece come to: sums and an index, by local names.

use std::mem;

use gristmill_format::raw::{CarriedName, NameContext, Resumption, Skim, is_relative_position};
use gristmill_format::{
    Cost, CostFault, CostRole, Costs, Error, ErrorKind, Header, Line, Location, Name, NameKey, Reader,
    Record, Words,
};

use super::block_sums::Sums;
use super::chunk::{ARCS, Chunk, ChunkPart, LocalAnchor, LocalBlock, NO_NAME, Room, SELVES, TABLES};
use super::naming::Naming;
use super::split::{State, offset, span};
use crate::finding::Finding;
use crate::index::Mention;
use crate::index::names::Text;
use crate::index::sum_builder::GroupList;

/// Between two blocks whose positions are relative to others there is a place to begin at, if they are so far apart.
const ANCHOR_DISTANCE: u64 = 4096;

/// Gathers what the lines of a piece say, whether they come as records or not.
#[derive(Debug)]
pub(super) struct Gatherer<'a> {
    input: &'a [u8],
    place: u32,
    /// It turned out that something must be known of what stands before.
    pub(super) needs_before: bool,
    pub(super) state: State<'a>,
    /// What relative positions are relative to is known.
    pub(super) base_known: bool,
    /// The part of the last record, as the reader counts.
    part: Option<u32>,
    width: usize,
    last_anchor: Option<u64>,

    pub(super) chunk: Chunk,
    pub(super) naming: Naming<'a>,
    in_force: NameContext<u32>,
    block: Block,
    /// The sums of the block, and those of the part so far.
    block_selves: Sums<SELVES>,
    block_arcs: Sums<ARCS>,
    sums: GroupList<TABLES>,
    /// The row of the file in force.
    self_row: Option<usize>,
    call: Option<(u32, Cost)>,
    /// For the next piece.
    pub(super) spare: Room,
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
    /// Both of these, and it is known to have lines: there is nothing to be noted at its other cost lines.
    is_settled: bool,
}

impl<'a> Gatherer<'a> {
    /// At the beginning of an input.
    pub(super) fn new(input: &'a [u8], place: u32, naming: Naming<'a>, room: Room) -> Self {
        let mut gatherer = Gatherer {
            input,
            place,
            needs_before: false,
            state: State::START,
            base_known: true,
            part: None,
            width: 0,
            last_anchor: None,
            chunk: Chunk::default(),
            naming,
            in_force: NameContext::default(),
            block: Block::default(),
            block_selves: Sums::default(),
            block_arcs: Sums::default(),
            sums: GroupList::default(),
            self_row: None,
            call: None,
            spare: room,
        };
        gatherer.begin_anew();
        gatherer
    }

    /// At a cut, in this part of the reader, where the state is assumed and positions before are not known.
    pub(super) fn resume(
        input: &'a [u8],
        place: u32,
        part: u32,
        state: State<'a>,
        naming: Naming<'a>,
        room: Room,
    ) -> Self {
        let mut gatherer = Self::new(input, place, naming, room);
        gatherer.state = state;
        gatherer.base_known = false;
        gatherer.part = Some(part);
        gatherer.width = Words::parse(state.events).len();
        gatherer.begin_chunk();
        let (carried, key) =
            if state.has_fl { (CarriedName::LastFl, NameKey::Fl) } else { (CarriedName::File, NameKey::Fi) };
        gatherer.in_force.name(key, gatherer.naming.bring(carried));
        gatherer.in_force.name(NameKey::Ob, gatherer.naming.bring(CarriedName::Object));
        gatherer
    }

    /// What was gathered since the last end of a piece.
    pub(super) fn end_chunk(&mut self, reader: &Reader<'a>) -> Chunk {
        self.end_part();
        self.state.columns = *reader.columns();
        self.chunk.in_force = self.in_force;
        self.state.base_rule = reader.base_rule();
        self.state.has_fl = self.in_force.has_fl();
        let chunk = self.begin_anew();
        self.chunk.first_line = chunk.lines_read;
        self.begin_chunk();
        // What is in force comes over under other names.
        let in_force = self.in_force;
        self.in_force = in_force.carry_over(|name, _| self.naming.bring(name));
        chunk
    }

    /// Forgets all local names, and hands out what was gathered. What comes is gathered in the room that was kept for it.
    fn begin_anew(&mut self) -> Chunk {
        let Room { names, functions, blocks, sums } = mem::take(&mut self.spare);
        self.sums = sums;
        let mut chunk = mem::replace(&mut self.chunk, Chunk { blocks, ..Chunk::default() });
        (chunk.names, chunk.functions) = self.naming.begin_anew(names, functions);
        chunk
    }

    /// Goes on with the part, if there is one.
    fn begin_chunk(&mut self) {
        self.self_row = None;
        self.block = Block::default();
        if self.part.is_some() {
            self.chunk.parts.push(ChunkPart { is_continued: true, ..ChunkPart::default() });
        }
    }

    /// Whether lines may come without being records: those of the part that the last record was of.
    pub(super) fn may_skim(&self, reader: &Reader<'a>) -> bool {
        self.part == Some(reader.part())
    }

    #[inline]
    pub(super) fn item(&mut self, reader: &Reader<'a>, item: &Result<Record<'a>, Error>) {
        match item {
            Ok(record) => self.record(reader, record),
            Err(error) => self.error(error),
        }
    }

    fn error(&mut self, error: &Error) {
        match error.kind() {
            ErrorKind::CallWithoutCost => {
                self.in_force.drop_call();
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

    #[cold]
    fn fault(&mut self, fault: CostFault, location: Location) {
        self.chunk.findings.push(Finding::of(&fault.into_error(location)));
    }

    fn record(&mut self, reader: &Reader<'a>, record: &Record<'a>) {
        if self.part != Some(record.part) && !matches!(record.line, Line::Blank | Line::Comment(_)) {
            self.begin_part(record);
        }
        let location = record.location;
        let text = record.spelling.text().unwrap_or_default();
        match record.line {
            Line::Cost(line) => {
                // Had no line before it been indented, it would be read as one without a position.
                if self.state.is_indented && text.first().is_some_and(|byte| matches!(byte, b' ' | b'\t')) {
                    self.open_block(reader, location);
                    self.is_relative();
                }
                self.cost(reader, location, line.role, line.costs, text);
            }
            Line::Name(key, Name { id: Some(number), text, .. }) => {
                self.name(reader, location, key, number, text);
            }
            Line::Name(key, name) => {
                let local = self.naming.given(key.space() as usize, name.bytes());
                self.named(reader, location, key, local);
            }
            Line::Calls(calls) => self.calls(reader, location, calls.count, text),
            Line::Jump(_) => self.jump(reader, location, text),
            Line::Header(header) => self.header_line(header),
            Line::NewProfile(_) => {
                self.naming.forget(record.location.byte);
                self.in_force = NameContext::default();
                if let Some(part) = self.chunk.parts.last_mut() {
                    part.is_fresh = true;
                }
            }
            _ => {}
        }
    }

    fn begin_part(&mut self, record: &Record<'a>) {
        self.end_part();
        self.part = Some(record.part);
        let blocks = self.chunk.blocks.len();
        self.chunk.parts.push(ChunkPart {
            location: Some(record.location),
            blocks: (blocks, blocks),
            ..ChunkPart::default()
        });
        self.width = 0;
        self.state.events = b"";
        self.state.has_events = false;
        self.base_known = true;
        self.last_anchor = None;
        self.in_force.forget_calls();
        self.block = Block::default();
    }

    fn end_part(&mut self) {
        self.write_block();
        let sums = mem::take(&mut self.sums);
        let end = self.chunk.blocks.len();
        if let Some(part) = self.chunk.parts.last_mut() {
            part.sums = sums;
            part.blocks.1 = end;
        }
    }

    /// Writes down the sums of the block.
    fn write_block(&mut self) {
        self.self_row = None;
        if !(self.block_selves.is_empty() && self.block_arcs.is_empty()) {
            let counts = [self.block_selves.write(&mut self.sums), self.block_arcs.write(&mut self.sums)];
            self.sums.end_group(self.block.function, counts);
        }
    }

    fn header_line(&mut self, header: Header<'a>) {
        let input = self.input;
        let place = self.place;
        let text = |slice: &[u8]| Text { at: offset(input, slice), len: slice.len(), place };
        let Some(part) = self.chunk.parts.last_mut() else { return };
        if matches!(header, Header::Version(_) | Header::Positions(_) | Header::Other { .. }) {
            return;
        }
        let draft = part.header.get_or_insert_default();
        match header {
            Header::Creator(creator) => draft.creator = Some(text(creator)),
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

    /// The local name of a line is known.
    #[inline(always)]
    fn named(&mut self, reader: &Reader<'a>, location: Location, key: NameKey, local: u32) {
        self.in_force.name(key, local);
        let is_of_callee = matches!(key, NameKey::Cob | NameKey::Cfi | NameKey::Cfl | NameKey::Cfn);
        if !is_of_callee || self.block.location.is_none() {
            self.go_on_with_block(reader, location, key);
        }
    }

    /// A name stands in a block, or begins one.
    #[inline(never)]
    fn go_on_with_block(&mut self, reader: &Reader<'a>, location: Location, key: NameKey) {
        match key {
            NameKey::Fn => {
                self.write_block();
                self.in_force.forget_calls();
                self.block = Block {
                    location: Some(location),
                    state: Some(reader.resumption().with_lines(location.line - 1)),
                    has_function: true,
                    ..Block::default()
                };
            }
            // Without a function it is the first block of its part.
            _ if self.block.location.is_none() => self.block.location = Some(location),
            _ => {}
        }
        match key {
            NameKey::Fl | NameKey::Fi | NameKey::Fe | NameKey::Ob => self.self_row = None,
            _ => {}
        }
    }

    /// A line with costs, calls or a jump: here the function of the block is settled.
    #[inline(always)]
    fn open_block(&mut self, reader: &Reader<'a>, location: Location) {
        if !self.block.is_open {
            self.open_new_block(reader, location);
        }
    }

    #[inline(never)]
    fn open_new_block(&mut self, reader: &Reader<'a>, location: Location) {
        let context = &self.in_force;
        let function_file = context.function_file();
        // A block with a `fn=` is read again from there.
        let file = if self.block.has_function { function_file } else { context.file() };
        let mention = Mention { is_defined: true, ..Mention::default() };
        self.block.function =
            self.naming.function(context.object(), function_file, context.function(), mention);
        self.block.is_open = true;
        let location = *self.block.location.get_or_insert(location);
        self.chunk.blocks.push(LocalBlock {
            location,
            needs_anchor: false,
            function: self.block.function,
            file: file.unwrap_or(NO_NAME),
        });
        let lines = location.line - 1;
        let state =
            *self.block.state.get_or_insert_with(|| reader.resumption().without_base().with_lines(lines));
        let columns = *reader.columns();
        if let Some(part) = self.chunk.parts.last_mut() {
            part.body.get_or_insert_with(|| Box::new((columns, state.without_base().with_lines(0))));
        }
    }

    /// What is to be noted at the first cost lines of a block.
    #[inline(never)]
    fn settle_block(&mut self, reader: &Reader<'a>, location: Location, role: CostRole, text: &[u8]) {
        self.open_block(reader, location);
        if !self.block.has_base {
            self.look_at_positions(reader, role, text);
        }
        self.in_force.cost_line();
        self.block.is_settled = self.block.has_base;
    }

    /// Notes whether a block can be read without what stands before it, as long as none of its lines has said where it is.
    fn look_at_positions(&mut self, reader: &Reader<'a>, role: CostRole, text: &[u8]) {
        let mut positions = Words::parse(text).iter().take(reader.columns().len());
        if self.block.has_odd_position || positions.any(is_relative_position) {
            self.is_relative();
        } else if reader.base_rule().is_moved_by(role) {
            self.block.has_base = true;
            self.last_anchor = None;
        }
        self.base_known |= self.block.has_base;
    }

    /// The same for where a call or jump leads.
    #[inline]
    fn look_at_target(&mut self, text: &[u8]) {
        if !self.block.has_base && text.iter().any(|byte| matches!(byte, b'+' | b'-' | b'*')) {
            self.is_relative();
        }
    }

    /// The block cannot be read without what stands before it.
    #[cold]
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

    #[inline(never)]
    fn new_self_row(&mut self) -> usize {
        let file = self.in_force.file().unwrap_or(NO_NAME);
        let row = self.block_selves.row_of(file, self.width, self.block.function, &mut self.sums);
        self.self_row = Some(row);
        row
    }

    /// Counts the call whose costs have come, and returns the row that they belong to.
    #[inline(always)]
    fn end_call(&mut self) -> Option<usize> {
        let (callee, count) = self.call.take()?;
        let row = self.block_arcs.row_of(callee, self.width, self.block.function, &mut self.sums);
        self.in_force.end_call();
        self.block_arcs.count(row, count);
        Some(row)
    }

    #[cold]
    fn call_without_callee(&mut self, location: Location, text: &[u8]) {
        self.in_force.repeat_last_callee();
        self.chunk.findings.push(Finding {
            input: 0,
            location,
            column: 1,
            length: text.len() as u64,
            kind: ErrorKind::CallWithoutCallee,
            is_repaired: true,
        });
    }
}

impl<'a> Skim<'a> for Gatherer<'a> {
    #[inline(always)]
    fn name(
        &mut self,
        reader: &Reader<'a>,
        location: Location,
        key: NameKey,
        number: u64,
        text: Option<&'a [u8]>,
    ) {
        let part = self.chunk.parts.len().saturating_sub(1);
        let local = self.naming.local(location, key.space() as usize, number, text, part);
        self.named(reader, location, key, local);
    }

    #[inline(always)]
    fn calls(&mut self, reader: &Reader<'a>, location: Location, count: Cost, text: &'a [u8]) {
        self.open_block(reader, location);
        self.look_at_target(text);
        if self.in_force.callee().is_none() {
            self.call_without_callee(location, text);
        }
        let context = &self.in_force;
        let mention = Mention {
            is_defined: false,
            has_object: context.has_callee_object(),
            has_file: context.has_callee_file(),
        };
        let callee =
            self.naming.function(context.callee_object(), context.callee_file(), context.callee(), mention);
        self.call = Some((callee, count));
        self.chunk.counts.calls += 1;
    }

    #[inline(always)]
    fn jump(&mut self, reader: &Reader<'a>, location: Location, text: &'a [u8]) {
        self.chunk.counts.jumps += 1;
        self.open_block(reader, location);
        self.look_at_target(text);
        self.in_force.cost_line();
    }

    #[inline(always)]
    fn cost(
        &mut self,
        reader: &Reader<'a>,
        location: Location,
        role: CostRole,
        costs: Costs<'a>,
        text: &'a [u8],
    ) {
        if !self.block.is_settled {
            self.settle_block(reader, location, role, text);
        }
        let added = match role {
            CostRole::SelfCost => {
                self.chunk.counts.self_costs += 1;
                let row = match self.self_row {
                    Some(row) => row,
                    None => self.new_self_row(),
                };
                self.block_selves.add(row, &costs)
            }
            CostRole::Call => {
                let Some(row) = self.end_call() else { return };
                self.block_arcs.add(row, &costs)
            }
            CostRole::JumpSource => return,
        };
        if let Err(fault) = added {
            self.fault(fault, location);
        }
    }

    #[inline(always)]
    fn takes_sums(&self, role: CostRole) -> bool {
        self.block.is_settled
            && match role {
                CostRole::SelfCost => self.self_row.is_some() && self.block_selves.are_single(),
                CostRole::Call => self.call.is_some() && self.width == 1,
                CostRole::JumpSource => false,
            }
    }

    #[inline(always)]
    fn sum(&mut self, role: CostRole, lines: u64, sum: u64) {
        match role {
            CostRole::SelfCost => {
                self.chunk.counts.self_costs += lines;
                if let Some(row) = self.self_row {
                    self.block_selves.add_single(row, sum);
                }
            }
            CostRole::Call => {
                if let Some(row) = self.end_call() {
                    self.block_arcs.add_single(row, sum);
                }
            }
            CostRole::JumpSource => {}
        }
    }
}

fn claimed(costs: &Costs<'_>) -> Box<[Cost]> {
    costs.iter().map(|cost| cost.unwrap_or_else(|fault| fault.repaired)).collect()
}
