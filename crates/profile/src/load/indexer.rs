//! Indexes the lines of a chunk: sums, blocks and parts, by local ids.

use std::mem;

use gristmill_format::raw::{CarriedName, NameContext, Resumption, Skim, is_relative_position};
use gristmill_format::{
    Cost, CostFault, CostRole, Costs, Error, ErrorKind, Header, Line, Location, Name, NameKey, Reader,
    Record, Words,
};

use super::block_sums::BlockSums;
use super::chunk::{Buffers, ChunkIndex, ChunkPart, LocalAnchor, LocalBlock};
use super::local::{InputView, LocalFunctionId, LocalName, LocalPart, SumKind};
use super::local_names::{FunctionNames, LocalNames};
use super::split::{ReadingState, span};
use crate::finding::Finding;
use crate::index::functions::Mention;
use crate::index::sum_builder::GroupList;

/// Bytes between two anchors. A block with relative positions is decoded from the anchor before it.
const ANCHOR_DISTANCE_BYTES: u64 = 4096;

/// Indexes the lines of one chunk after the other, whether they come as records or are skimmed.
#[derive(Debug)]
pub(super) struct Indexer<'a> {
    input: InputView<'a>,
    /// A line depends on a position before the chunk.
    pub(super) needs_before: bool,
    pub(super) state: ReadingState<'a>,
    /// The base of relative positions is known.
    pub(super) base_known: bool,
    /// The part of the last record, as the reader counts.
    part: Option<u32>,
    width: usize,
    last_anchor: Option<u64>,

    pub(super) chunk: ChunkIndex,
    names: LocalNames<'a>,
    context: NameContext<LocalName>,
    block: Block,
    /// The sums of the block, and those of the part before the block.
    block_self_costs: BlockSums,
    block_arcs: BlockSums,
    sums: GroupList<{ SumKind::COUNT }>,
    /// The row of the current file.
    self_row: Option<usize>,
    /// The callee and count of a `calls=` line whose costs have not come yet.
    call: Option<(LocalFunctionId, Cost)>,
    /// The memory for the next chunk.
    pub(super) next_buffers: Buffers,
}

/// The block that is being read.
#[derive(Debug, Default)]
struct Block {
    location: Option<Location>,
    state: Option<Resumption>,
    /// It begins with `fn=`.
    has_function: bool,
    /// The reader reported a bad position.
    has_odd_position: bool,
    /// Set when the block is opened, by its first line with costs, calls or a jump.
    function: Option<LocalFunctionId>,
    /// It is known whether its positions depend on those of blocks before: it has a base of its own, or needs an anchor.
    is_decided: bool,
    /// It is open, known to have lines, and decided as to its positions: its other cost lines change none of these.
    is_settled: bool,
}

impl<'a> Indexer<'a> {
    /// Creates an indexer for the start of an input.
    pub(super) fn new(input: InputView<'a>, buffers: Buffers) -> Self {
        let Buffers { names, functions, blocks, sums } = buffers;
        let block_sums = |kind| BlockSums::new(kind, input.tuning.max_block_rows);
        Indexer {
            input,
            needs_before: false,
            state: ReadingState::START,
            base_known: true,
            part: None,
            width: 0,
            last_anchor: None,
            chunk: ChunkIndex { blocks, ..ChunkIndex::default() },
            names: LocalNames::new(input, names, functions),
            context: NameContext::default(),
            block: Block::default(),
            block_self_costs: block_sums(SumKind::SelfCosts),
            block_arcs: block_sums(SumKind::Arcs),
            sums,
            self_row: None,
            call: None,
            next_buffers: Buffers::default(),
        }
    }

    /// Creates an indexer for a cut, in this part of the reader: with a speculated state, and without a base.
    pub(super) fn resume(input: InputView<'a>, part: u32, state: ReadingState<'a>, buffers: Buffers) -> Self {
        let mut indexer = Self::new(input, buffers);
        indexer.state = state;
        indexer.context.set_base_rule(state.base_rule);
        indexer.base_known = false;
        indexer.part = Some(part);
        indexer.width = Words::parse(state.events).len();
        indexer.continue_part();
        let (carried, key) =
            if state.has_fl { (CarriedName::LastFl, NameKey::Fl) } else { (CarriedName::File, NameKey::Fi) };
        indexer.context.name(key, indexer.names.inherited(carried));
        indexer.context.name(NameKey::Ob, indexer.names.inherited(CarriedName::Object));
        indexer
    }

    /// Returns the index of the chunk that ends here, and starts the next.
    pub(super) fn end_chunk(&mut self, reader: &Reader<'a>) -> ChunkIndex {
        self.end_part();
        self.state.columns = *reader.columns();
        self.state.base_rule = reader.base_rule();
        self.state.has_fl = self.context.has_fl();
        let Buffers { names, functions, blocks, sums } = mem::take(&mut self.next_buffers);
        self.sums = sums;
        let mut chunk = mem::replace(&mut self.chunk, ChunkIndex { blocks, ..ChunkIndex::default() });
        let local_names = mem::replace(&mut self.names, LocalNames::new(self.input, names, functions));
        (chunk.names, chunk.functions) = local_names.finish();
        chunk.context = self.context;
        self.chunk.lines_before = chunk.lines_read;
        self.continue_part();
        // The name context goes on with local names of the next chunk.
        let context = self.context;
        self.context = context.carry_over(|name, _| self.names.inherited(name));
        chunk
    }

    /// Continues the part of the chunk before, if there is one.
    fn continue_part(&mut self) {
        self.self_row = None;
        self.block = Block::default();
        if self.part.is_some() {
            self.chunk.parts.push(ChunkPart { is_continued: true, ..ChunkPart::default() });
        }
    }

    /// Returns `true` if lines may be skimmed: only while the reader is in the part of the last record, as skimming begins
    /// no part.
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
                self.context.drop_call();
                self.call = None;
            }
            ErrorKind::LeadingBlank => self.state.is_indented = true,
            // The position that replaces it may depend on those before.
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
        self.chunk.findings.push(Finding::from_error(error));
    }

    #[cold]
    fn fault(&mut self, fault: CostFault, location: Location) {
        self.chunk.findings.push(Finding::from_error(&fault.into_error(location)));
    }

    fn record(&mut self, reader: &Reader<'a>, record: &Record<'a>) {
        if self.part != Some(record.part) && !matches!(record.line, Line::Blank | Line::Comment(_)) {
            self.begin_part(record);
        }
        let location = record.location;
        let text = record.text();
        match record.line {
            Line::Cost(line) => {
                // A reader that has not seen the earlier indented line would take this one for a line without a position,
                // so the block needs an anchor.
                if self.state.is_indented && text.first().is_some_and(|byte| matches!(byte, b' ' | b'\t')) {
                    self.open_block(reader, location);
                    self.mark_relative();
                }
                self.cost(reader, location, line.role, line.costs, text);
            }
            Line::Name(key, Name { id: Some(id), text, .. }) => {
                self.name(reader, location, key, id, text);
            }
            Line::Name(key, name) => {
                let local = self.names.given(key.space(), name.bytes());
                self.named(reader, location, key, local);
            }
            Line::Calls(calls) => self.calls(reader, location, calls.count, text),
            Line::Jump(_) => self.jump(reader, location, text),
            Line::Header(header) => {
                self.context.set_base_rule(reader.base_rule());
                self.header_line(header);
            }
            Line::NewProfile(_) => {
                self.names.forget(record.location.byte);
                self.context = NameContext::default();
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
        self.context.forget_calls();
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

    /// Appends the sums of the block to those of the part.
    fn write_block(&mut self) {
        self.self_row = None;
        if let Some(function) = self.block.function
            && !(self.block_self_costs.is_empty() && self.block_arcs.is_empty())
        {
            // In the order of `SumKind::ALL`.
            let counts = [self.block_self_costs.write(&mut self.sums), self.block_arcs.write(&mut self.sums)];
            self.sums.end_group(function.to_u32(), counts);
        }
    }

    fn header_line(&mut self, header: Header<'a>) {
        let Some(part) = self.chunk.parts.last_mut() else { return };
        if matches!(header, Header::Positions(_) | Header::Other { .. }) {
            return;
        }
        match header {
            Header::Pid(pid) => part.numbers.pid = Some(pid),
            Header::Part(number) => part.numbers.number = Some(number),
            Header::Thread(thread) => part.numbers.thread = Some(thread),
            header => self.other_header_line(header),
        }
    }

    fn other_header_line(&mut self, header: Header<'a>) {
        let input = self.input;
        let text = |slice: &[u8]| input.text(slice);
        let Some(part) = self.chunk.parts.last_mut() else { return };
        let draft = part.header.get_or_insert_default();
        match header {
            Header::Creator(creator) => draft.creator = Some(text(creator)),
            Header::Version(version) => draft.version = Some(text(version)),
            Header::Command(command) => draft.command = Some(text(command)),
            Header::Description { kind: b"Trigger", value } => draft.trigger = Some(text(value)),
            Header::Description { kind: b"Timerange", value } => draft.time_range = Some(text(value)),
            Header::Description { kind, value } => draft.descriptions.push((text(kind), text(value))),
            Header::Event(definition) => {
                let names = [Some(definition.name), definition.formula, definition.long_name];
                draft.definitions.push(names.map(|name| name.map(text)));
            }
            Header::Events(words) => {
                self.state.events = span(input.bytes, words.iter());
                self.state.has_events = !self.state.events.is_empty();
                draft.events = Some(text(self.state.events));
                self.width = words.len();
            }
            Header::Summary(costs) => draft.summary = Some(claimed(&costs)),
            Header::Totals(costs) => draft.totals = Some(claimed(&costs)),
            _ => {}
        }
    }

    /// Takes a name line whose local name is known.
    #[inline(always)]
    fn named(&mut self, reader: &Reader<'a>, location: Location, key: NameKey, local: LocalName) {
        self.context.name(key, local);
        let is_of_callee = matches!(key, NameKey::Cob | NameKey::Cfi | NameKey::Cfl | NameKey::Cfn);
        if !is_of_callee || self.block.location.is_none() {
            self.start_or_continue_block(reader, location, key);
        }
    }

    /// Takes a name that is in a block, or starts one.
    #[inline(never)]
    fn start_or_continue_block(&mut self, reader: &Reader<'a>, location: Location, key: NameKey) {
        match key {
            NameKey::Fn => {
                self.write_block();
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

    /// Takes a line with costs, calls or a jump, and returns the function of the block: the first such line determines it.
    #[inline(always)]
    fn open_block(&mut self, reader: &Reader<'a>, location: Location) -> LocalFunctionId {
        match self.block.function {
            Some(function) => function,
            None => self.open_new_block(reader, location),
        }
    }

    #[inline(never)]
    fn open_new_block(&mut self, reader: &Reader<'a>, location: Location) -> LocalFunctionId {
        let context = &self.context;
        let function_file = context.function_file();
        // Decoding starts at the `fn=` line, where the file of the function still holds.
        let file = if self.block.has_function { function_file } else { context.file() };
        let (object, name) = (context.object(), context.function());
        let mention = Mention { is_defined: true, ..Mention::default() };
        let function = self.names.function(function_names(object, function_file, name), mention);
        self.block.function = Some(function);
        if !self.block.has_function {
            // It is decoded as if its first file were that of a function.
            self.context.remember_file();
        }
        self.context.cost_line();
        let location = *self.block.location.get_or_insert(location);
        self.chunk.blocks.push(LocalBlock {
            location,
            needs_anchor: false,
            function,
            file: file.unwrap_or(LocalName::NAMELESS),
        });
        let lines = location.line - 1;
        let state =
            *self.block.state.get_or_insert_with(|| reader.resumption().without_base().with_lines(lines));
        let columns = *reader.columns();
        if let Some(part) = self.chunk.parts.last_mut() {
            part.body.get_or_insert_with(|| Box::new((columns, state.without_base().with_lines(0))));
        }
        function
    }

    /// Takes one of the first cost lines of a block.
    #[inline(never)]
    fn settle_block(&mut self, reader: &Reader<'a>, location: Location, role: CostRole, text: &[u8]) {
        self.open_block(reader, location);
        if !self.block.is_decided {
            self.look_at_positions(reader, role, text);
        }
        self.context.cost_line();
        self.block.is_settled = self.block.is_decided;
    }

    /// Finds out whether a block can be decoded without those before it, from the first lines with positions.
    fn look_at_positions(&mut self, reader: &Reader<'a>, role: CostRole, text: &[u8]) {
        let mut positions = Words::parse(text).iter().take(reader.columns().len());
        if self.block.has_odd_position || positions.any(is_relative_position) {
            self.mark_relative();
        } else if reader.base_rule().is_moved_by(role) {
            self.block.is_decided = true;
            self.last_anchor = None;
        }
        self.base_known |= self.block.is_decided;
    }

    /// Does the same for the target of a call or jump.
    #[inline]
    fn look_at_target(&mut self, text: &[u8]) {
        if !self.block.is_decided && text.iter().any(|byte| matches!(byte, b'+' | b'-' | b'*')) {
            self.mark_relative();
        }
    }

    /// Notes that the block cannot be decoded without those before it.
    #[cold]
    fn mark_relative(&mut self) {
        self.needs_before |= !self.base_known;
        self.block.is_decided = true;
        if let Some(block) = self.chunk.blocks.last_mut() {
            block.needs_anchor = true;
        }
        let Some(state) = self.block.state else { return };
        let byte = self.block.location.map_or(0, |location| location.byte);
        if self.last_anchor.is_none_or(|last| byte - last > ANCHOR_DISTANCE_BYTES) {
            self.last_anchor = Some(byte);
            let block = self.chunk.blocks.len().saturating_sub(1);
            self.chunk.anchors.push(LocalAnchor { block, state });
        }
    }

    #[inline(never)]
    fn new_self_row(&mut self, function: LocalFunctionId) -> usize {
        self.context.self_cost_line();
        let file = self.context.file().unwrap_or(LocalName::NAMELESS);
        let row = self.block_self_costs.row(file.to_u32(), self.width, function, &mut self.sums);
        self.self_row = Some(row);
        row
    }

    /// Counts the call whose costs have come, and returns their row.
    #[inline(always)]
    fn end_call(&mut self) -> Option<usize> {
        let (callee, count) = self.call.take()?;
        let row = self.block_arcs.row(callee.to_u32(), self.width, self.block.function?, &mut self.sums);
        self.context.end_call();
        self.block_arcs.add_count(row, count);
        Some(row)
    }

    #[cold]
    fn call_without_callee(&mut self, location: Location, text: &[u8]) {
        self.context.repeat_last_callee();
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

impl<'a> Skim<'a> for Indexer<'a> {
    #[inline(always)]
    fn name(
        &mut self,
        reader: &Reader<'a>,
        location: Location,
        key: NameKey,
        id: u64,
        text: Option<&'a [u8]>,
    ) {
        let part = LocalPart::new(self.chunk.parts.len() - 1);
        let local = self.names.local(location, key.space(), id, text, part);
        self.named(reader, location, key, local);
    }

    #[inline(always)]
    fn calls(&mut self, reader: &Reader<'a>, location: Location, count: Cost, text: &'a [u8]) {
        self.open_block(reader, location);
        self.look_at_target(text);
        if self.context.callee().is_none() {
            self.call_without_callee(location, text);
        }
        let context = &self.context;
        let mention = Mention {
            is_defined: false,
            has_object: context.has_callee_object(),
            has_file: context.has_callee_file(),
        };
        let names = function_names(context.callee_object(), context.callee_file(), context.callee());
        let callee = self.names.function(names, mention);
        self.call = Some((callee, count));
        self.chunk.counts.calls += 1;
    }

    #[inline(always)]
    fn jump(&mut self, reader: &Reader<'a>, location: Location, text: &'a [u8]) {
        self.chunk.counts.jumps += 1;
        self.open_block(reader, location);
        self.look_at_target(text);
        self.context.cost_line();
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
                    None => {
                        let function = self.open_block(reader, location);
                        self.new_self_row(function)
                    }
                };
                self.block_self_costs.add(row, &costs)
            }
            CostRole::Call => {
                let Some(row) = self.end_call() else { return };
                self.block_arcs.add(row, &costs)
            }
            CostRole::JumpSource => return self.context.end_jump(),
        };
        if let Err(fault) = added {
            self.fault(fault, location);
        }
    }

    #[inline(always)]
    fn takes_sums(&self, role: CostRole) -> bool {
        self.block.is_settled
            && match role {
                CostRole::SelfCost => self.self_row.is_some() && self.block_self_costs.have_one_sum(),
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
                    self.block_self_costs.add_cost(row, sum);
                }
            }
            CostRole::Call => {
                if let Some(row) = self.end_call() {
                    self.block_arcs.add_cost(row, sum);
                }
            }
            CostRole::JumpSource => {}
        }
    }
}

/// Returns the names of a function; those that were never given are empty.
#[inline(always)]
fn function_names(
    object: Option<LocalName>,
    file: Option<LocalName>,
    name: Option<LocalName>,
) -> FunctionNames {
    let [object, file, name] = [object, file, name].map(|name| name.unwrap_or(LocalName::NAMELESS));
    FunctionNames { object, file, name }
}

fn claimed(costs: &Costs<'_>) -> Box<[Cost]> {
    costs.iter().map(|cost| cost.unwrap_or_else(|fault| fault.repaired)).collect()
}
