//! The lines of a block, read again.

use gristmill_format::raw::NameContext;
use gristmill_format::{
    Columns, Cost, CostRole, Costs, ErrorKind, Line, Name, NameKey, NameSpace, PositionKind, Positions,
    Reader, Record,
};

use crate::id::{FileId, FunctionId};
use crate::index::block::Block;
use crate::part::Part;
use crate::profile::Profile;

/// The position of a cost in a source file and in an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The source file of the line, which for inlined code is another than that of the function.
    pub file: FileId,
    /// The line; 0 means unknown. None where the profile has no lines.
    pub line: Option<u64>,
    /// The address of the instruction, in the object.
    pub address: Option<u64>,
    /// The address of the basic block.
    pub basic_block: Option<u64>,
}

/// The content of a line of a function. Costs are as the line has them, in the order of the part's own event types; those
/// left off at its end are 0.
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
        /// Their inclusive costs.
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
        /// The function that it leads to, where the profile says that it is another.
        function: Option<FunctionId>,
    },
}

/// Reads the lines of a block.
#[derive(Debug)]
pub(crate) struct BlockReader<'p> {
    profile: &'p Profile,
    reader: Reader<'p>,
    input: usize,
    columns: Columns,
    block: Block,
    part: Option<u32>,
    context: NameContext<u32>,
    call: Option<(u32, Cost, Place)>,
    jump: Option<(Cost, Option<Cost>, Place, Option<u32>)>,
}

impl<'p> BlockReader<'p> {
    /// None for a block that there is not.
    pub(crate) fn new(profile: &'p Profile, part: usize, index: usize) -> Option<Self> {
        let block = *profile.index.blocks.get(index)?;
        let input = profile.index.parts.get(part)?.input as usize;
        let bytes = &profile.inputs.get(input)?.bytes[..];
        let first = profile.index.block_range(part).start;
        let anchors = &profile.index.anchors;
        // Only blocks after an anchor can need one; what comes first between it and the block is read over.
        let anchor = anchors.partition_point(|anchor| anchor.block <= index).checked_sub(1);
        let anchor = anchor.and_then(|anchor| anchors.get(anchor)).filter(|anchor| anchor.block >= first);
        let body = profile.index.body_state(part)?.0.with_lines(block.line() - 1);
        let (at, state) = match anchor {
            Some(anchor) if block.needs_anchor() => {
                (profile.index.blocks.get(anchor.block)?.byte, anchor.state.0)
            }
            _ => (block.byte, body),
        };
        let at = usize::try_from(at).ok().filter(|&at| at <= bytes.len())?;
        let (object, _, name) = profile.index.functions.get(block.function as usize)?.key;
        let mut context = NameContext::default();
        context.name(NameKey::Ob, object);
        context.name(NameKey::Fl, block.file);
        context.name(NameKey::Fn, name);
        Some(BlockReader {
            profile,
            // What numbers stand for, the profile knows.
            reader: Reader::resume(bytes, at, &state).by_number(),
            input,
            columns: *Part::new(profile, part).columns(),
            block,
            part: None,
            context,
            call: None,
            jump: None,
        })
    }

    /// The next line that has costs, calls or a jump.
    pub(crate) fn next_line(&mut self) -> Option<BlockLine<'p>> {
        loop {
            match self.reader.next()? {
                Ok(record) if record.location.byte >= self.block.byte => {
                    if *self.part.get_or_insert(record.part) != record.part {
                        return None;
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
                            self.jump = Some((jump.taken, jump.executed, target, function));
                            self.context.cost_line();
                        }
                        Line::Cost(line) => {
                            self.context.cost_line();
                            let place = self.place(self.context.file(), &line.positions);
                            if let Some(line) = self.cost(line.role, place, line.costs) {
                                return Some(line);
                            }
                        }
                        _ => {}
                    }
                }
                // Read over, or told when the profile was loaded.
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
                let (callee, count, target) = self.call.take()?;
                self.context.end_call();
                let callee = FunctionId::new(callee as usize);
                Some(BlockLine::Calls { place, callee, count, target, costs })
            }
            CostRole::JumpSource => {
                let (taken, executed, target, function) = self.jump.take()?;
                self.context.end_jump();
                let function = function.map(|function| FunctionId::new(function as usize));
                Some(BlockLine::Jump { place, taken, executed, target, function })
            }
        }
    }

    fn calls(&mut self, count: Cost, target: &Positions) {
        self.context.repeat_last_callee();
        let context = &self.context;
        let file = context.callee_file();
        let callee = self.function(context.callee_object(), file, context.callee());
        self.call = Some((callee.unwrap_or(self.block.function), count, self.place(file, target)));
        self.context.cost_line();
    }

    fn name(&mut self, record: &Record<'p>, key: NameKey, name: &Name<'p>) {
        let space = key.space();
        let index = &self.profile.index;
        let known = match name.id {
            Some(number) => {
                let numbers = index.numbers.get(self.input);
                numbers.and_then(|numbers| numbers.at(space as usize, number, record.location.byte))
            }
            None => index.names[space as usize].get(name.bytes(), &self.profile.texts()),
        };
        let name = known.unwrap_or_default();
        self.context.name(key, name);
        debug_assert!(space == NameSpace::Function || known.is_some(), "all names were met before");
    }

    /// All functions that calls lead to were met when the profile was loaded.
    fn function(&self, object: Option<u32>, file: Option<u32>, name: Option<u32>) -> Option<u32> {
        let [object, file, name] = [object, file, name].map(Option::unwrap_or_default);
        let index = &self.profile.index;
        index.function_keys.get(&index.functions, (object, file, name))
    }

    fn place(&self, file: Option<u32>, positions: &Positions) -> Place {
        let get = |kind| positions.get(&self.columns, kind);
        Place {
            file: FileId::new(file.unwrap_or_default() as usize),
            line: get(PositionKind::Line),
            address: get(PositionKind::Instr),
            basic_block: get(PositionKind::Bb),
        }
    }
}
