//! Decodes the lines of a block.

use gristmill_format::raw::NameContext;
use gristmill_format::{
    Columns, Cost, CostRole, Costs, ErrorKind, Line, Name, NameKey, PositionKind, Positions, Reader, Record,
};

use crate::id::{FileId, FunctionId, InputId, NameId, PartId};
use crate::index::block::Block;
use crate::index::functions::FunctionKey;
use crate::profile::Profile;

/// The position of a cost in a source file and in an object. [The crate](crate) has an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Source file of the line. For inlined code it differs from that of the function.
    pub file: FileId,
    /// Line number; 0 is unknown. `None` if the profile has no lines.
    pub line: Option<u64>,
    /// Address of the instruction in the object.
    pub address: Option<u64>,
    /// Address of the basic block.
    pub basic_block: Option<u64>,
}

/// The content of a line of a function. Costs are as the line has them, in the order of the part's own event types; those
/// left off at its end are 0.
///
/// ```
/// use gristmill_profile::{BlockLine, Profile};
///
/// let profile = Profile::from_bytes("events: Ir\nfn=f\n1 2\n2 3\n");
/// let count = |count: &mut u64, _, line: BlockLine<'_>| {
///     *count += u64::from(matches!(line, BlockLine::SelfCost { .. }));
/// };
/// let part = profile.parts().next().unwrap();
/// assert_eq!(profile.fold_lines(&part, || 0, count).iter().sum::<u64>(), 2);
/// ```
#[derive(Debug, Clone, Copy)]
pub enum BlockLine<'p> {
    /// The self cost of a line.
    SelfCost {
        /// The position of the line.
        place: Place,
        /// The costs of the line.
        costs: Costs<'p>,
    },
    /// Calls of another function, or of the same.
    Calls {
        /// The position of the calls.
        place: Place,
        /// The called function.
        callee: FunctionId,
        /// The number of calls.
        count: Cost,
        /// The position where the callee is entered.
        target: Place,
        /// Inclusive costs.
        costs: Costs<'p>,
    },
    /// A jump.
    Jump {
        /// The position where it starts.
        place: Place,
        /// The number of times that it was taken.
        taken: Cost,
        /// The number of times that a conditional jump was reached.
        executed: Option<Cost>,
        /// The positions that the jump leads to.
        target: Place,
        /// Function of the target, if the profile names another.
        function: Option<FunctionId>,
    },
}

/// A decoder of the lines of a block.
#[derive(Debug)]
pub(crate) struct BlockReader<'p> {
    profile: &'p Profile,
    reader: Reader<'p>,
    input: InputId,
    columns: Columns,
    block: Block,
    /// The part of the block, as the reader counts.
    part: Option<u32>,
    /// `true` up to the first line of a block without `fn=`: the file there is taken for that of a function.
    awaits_first_line: bool,
    context: NameContext<NameId>,
    /// A `calls=` line whose costs have not come yet.
    call: Option<OpenCall>,
    /// A `jump=` or `jcnd=` line whose position has not come yet.
    jump: Option<OpenJump>,
}

#[derive(Debug, Clone, Copy)]
struct OpenCall {
    callee: FunctionId,
    count: Cost,
    target: Place,
}

#[derive(Debug, Clone, Copy)]
struct OpenJump {
    taken: Cost,
    executed: Option<Cost>,
    target: Place,
    function: Option<FunctionId>,
}

impl<'p> BlockReader<'p> {
    /// Creates a decoder for a block of a part, by its index.
    pub(crate) fn new(profile: &'p Profile, part: PartId, block: usize) -> Self {
        let index = &profile.index;
        let input = index.part(part).input;
        let header = index.shared_header(part);
        #[expect(clippy::expect_used, reason = "the loader sets it with the first block of a part")]
        let body = header.body.as_ref().expect("a part with blocks has a body");
        // Only blocks behind an anchor can need one. The blocks between the two are skipped.
        let anchor = index.anchors.partition_point(|anchor| anchor.block <= block).checked_sub(1);
        let anchor = anchor.map(|last| &index.anchors[last]);
        let anchor = anchor.filter(|anchor| anchor.block >= index.block_range(part).start);
        let block = index.blocks[block];
        let (byte, state) = match anchor {
            Some(anchor) if block.needs_anchor() => (index.blocks[anchor.block].byte, anchor.state.0),
            _ => (block.byte, body.0.with_lines(block.line() - 1)),
        };
        let bytes = &profile.inputs[input.index()].bytes[..];
        #[expect(clippy::cast_possible_truncation, reason = "offsets in memory")]
        let [byte, start] = [byte, block.byte].map(|offset| offset as usize);
        let FunctionKey { object, name, .. } = index.functions.get(block.function).key;
        let mut context = NameContext::default();
        context.name(NameKey::Ob, object.into());
        context.name(NameKey::Fl, block.file.into());
        context.name(NameKey::Fn, name);
        // The profile knows the meanings of name ids.
        let reader = Reader::resume(bytes, byte, &state).by_number();
        context.set_base_rule(reader.base_rule());
        BlockReader {
            profile,
            reader,
            input,
            columns: header.columns,
            block,
            part: None,
            awaits_first_line: !bytes[start..].trim_ascii_start().starts_with(b"fn"),
            context,
            call: None,
            jump: None,
        }
    }

    /// Returns the next line that has costs, calls or a jump.
    pub(crate) fn next_line(&mut self) -> Option<BlockLine<'p>> {
        loop {
            match self.reader.next()? {
                Ok(record) if record.location.byte >= self.block.byte => {
                    if *self.part.get_or_insert(record.part) != record.part {
                        return None;
                    }
                    if self.awaits_first_line
                        && matches!(record.line, Line::Calls(_) | Line::Jump(_) | Line::Cost(_))
                    {
                        self.context.remember_file();
                        self.awaits_first_line = false;
                    }
                    match record.line {
                        Line::Name(NameKey::Fn, _) if record.location.byte > self.block.byte => return None,
                        Line::Name(key, name) => self.name(&record, key, &name),
                        Line::Calls(calls) => self.calls(calls.count, &calls.target),
                        Line::Jump(jump) => {
                            let context = &self.context;
                            let target = self.place(context.jump_file(), &jump.target);
                            let function = if context.has_jump_function() {
                                let (file, name) = (context.jump_file(), context.jump_function());
                                self.function(context.object(), file, name)
                            } else {
                                None
                            };
                            let (taken, executed) = (jump.taken, jump.executed);
                            self.jump = Some(OpenJump { taken, executed, target, function });
                            self.context.cost_line();
                        }
                        Line::Cost(line) => {
                            match line.role {
                                CostRole::SelfCost => self.context.self_cost_line(),
                                CostRole::Call | CostRole::JumpSource => {
                                    self.context.call_line(line.positions);
                                }
                            }
                            let place = self.place(self.context.file(), &line.positions);
                            if let Some(line) = self.cost(line.role, place, line.costs) {
                                return Some(line);
                            }
                        }
                        _ => {}
                    }
                }
                // Lines before the block; and findings, which were reported when the profile was loaded.
                Ok(_) => {}
                Err(error) => {
                    if error.kind() == ErrorKind::CallWithoutCost {
                        self.context.drop_call();
                        self.call = None;
                    }
                }
            }
        }
    }

    fn cost(&mut self, role: CostRole, place: Place, costs: Costs<'p>) -> Option<BlockLine<'p>> {
        match role {
            CostRole::SelfCost => Some(BlockLine::SelfCost { place, costs }),
            CostRole::Call => {
                let OpenCall { callee, count, target } = self.call.take()?;
                self.context.end_call();
                Some(BlockLine::Calls { place, callee, count, target, costs })
            }
            CostRole::JumpSource => {
                let OpenJump { taken, executed, target, function } = self.jump.take()?;
                self.context.end_jump();
                Some(BlockLine::Jump { place, taken, executed, target, function })
            }
        }
    }

    fn calls(&mut self, count: Cost, target: &Positions) {
        self.context.repeat_last_callee();
        let context = &self.context;
        let file = context.callee_file();
        let callee = self.function(context.callee_object(), file, context.callee());
        #[expect(clippy::expect_used, reason = "the loader adds a function for each line with calls")]
        let callee = callee.expect("the loader met all callees");
        self.call = Some(OpenCall { callee, count, target: self.place(file, target) });
        self.context.cost_line();
    }

    fn name(&mut self, record: &Record<'p>, key: NameKey, name: &Name<'p>) {
        let space = key.space();
        let index = &self.profile.index;
        let known = match name.id {
            Some(id) => index.name_ids[self.input.index()].at(space, id, record.location.byte),
            None => index.names[space].get(name.bytes(), &self.profile.texts()),
        };
        debug_assert!(known.is_some(), "the loader met all names");
        self.context.name(key, known.unwrap_or(NameId::NAMELESS));
    }

    /// Returns the function with these names; those that were never given are empty.
    fn function(
        &self,
        object: Option<NameId>,
        file: Option<NameId>,
        name: Option<NameId>,
    ) -> Option<FunctionId> {
        let [object, file, name] = [object, file, name].map(|name| name.unwrap_or(NameId::NAMELESS));
        let key = FunctionKey { object: object.into(), file: file.into(), name };
        self.profile.index.functions.find(key)
    }

    fn place(&self, file: Option<NameId>, positions: &Positions) -> Place {
        let get = |kind| positions.get(&self.columns, kind);
        Place {
            file: file.unwrap_or(NameId::NAMELESS).into(),
            line: get(PositionKind::Line),
            address: get(PositionKind::Instr),
            basic_block: get(PositionKind::Bb),
        }
    }
}
