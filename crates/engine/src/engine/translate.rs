//! Translation of a block: its instructions as they are, the counting between them, and its end.

use iced_x86::{Instruction, Register};

use super::chunk::Chunk;
use super::far_operand::{FarOperand, is_far};
use super::transfer::{BranchKind, DirectBranch, Transfer};
use super::translated::BlockNumber;
use super::{Engine, Entrance, Exit, Translated};
use crate::arena::{Arena, Cell};
use crate::asm::{Asm, Mem, RAX, RCX, RDX, RSP, SCRATCH};
use crate::block::{Block, Decoded, End, MAX_INSTRUCTIONS, is_repeated, is_repeated_comparison, writes};
use crate::contexts::{CallSite, ContextId, Kind};
use crate::memory;
use crate::state::{BLOCKS_LEFT, EXIT, LEAVE, SPILL0, SPILL1, SPILL2};

/// The length of the opcode of a conditional jump.
const OPCODE_BYTES: usize = 2;

impl Engine {
    pub(crate) fn code_bytes(&self, address: u64, length: usize) -> &'static [u8] {
        memory::code(address, length)
    }

    /// Returns counters that are 0.
    pub(super) fn cells(&mut self, count: u64) -> Cell {
        match self.arena.cells(count) {
            Some(cells) => cells,
            None => self.out_of_memory(),
        }
    }

    /// Translates a block, and returns its code.
    pub(super) fn translate(&mut self, entrance: Entrance) -> u64 {
        let Entrance { address, context, .. } = entrance;
        // Code that changes is read once: the block is that of one state of it.
        let copy: Vec<u8>;
        let mut block = self.decode(address, MAX_INSTRUCTIONS);
        let changes =
            self.space.has_changing_code(address) || self.space.has_changing_code(block.next().max(1) - 1);
        if changes {
            let (count, end) = (block.instructions.len(), block.end);
            copy = block.code[..(block.next() - address) as usize].to_vec();
            block = Block::decode(&copy, address, MAX_INSTRUCTIONS);
            if block.instructions.len() == count {
                block.end = end;
            }
        }
        if block.instructions.is_empty() {
            return self.translate_end_alone(&block, address, context);
        }
        if entrance.before.is_some() && block.end == End::Request {
            return self.translate_counting(entrance);
        }
        let site = block.instructions[block.instructions.len() - 1].instruction.ip();
        let site = self.call_site(site, address);
        // Code of the continuation of a call is written first: code of two things cannot be written at once.
        let is_counted = !matches!(self.contexts.kind(context), Kind::Uncounted);
        let collects = self.contexts.collects(context);
        let transfer = match block.end {
            End::Jump(target) | End::Conditional(target) => self.transfer(context, site, target, None),
            End::Call(target) => self.transfer(context, site, target, Some(block.next())),
            _ => Transfer::Jump,
        };
        let falls_to = match block.end {
            End::Conditional(_) => self.transfer(context, site, block.next(), None),
            _ => Transfer::Jump,
        };
        let number = self.number_of(&block, entrance);
        let counted_jump = match (block.end, &transfer) {
            (End::Conditional(target), Transfer::Jump) => self.conditional_jump(number, context, target),
            (End::Jump(target), Transfer::Jump) => {
                self.note_jump(number, context, target);
                None
            }
            _ => None,
        };
        let mut chunk = self.chunk();
        self.begin_block(&chunk, number);
        if changes {
            self.emit_comparison(&mut chunk, &block, number);
        }
        let looks = is_counted && block.raises_stack();
        let leaves_counting =
            collects && !changes && !looks && self.leaves_counting(&block, number, [&transfer, &falls_to]);
        let counts = (collects && !leaves_counting).then(|| self.counts_of(number));
        let needed = counts.as_ref().map(|_| self.flags_needed_behind(&block));
        let place = needed.and_then(|needed| block.place_without_flags(needed));
        if self.options.dump_every > 0 && is_counted {
            self.emit_block_count(&mut chunk, address, context);
        }
        let mut counted_from = 0;
        let copied = block.instructions.len() - usize::from(is_replaced(block.end));
        for (index, decoded) in block.instructions.iter().enumerate() {
            if place == Some(index) {
                if let Some(counts) = &counts {
                    counts.emit_with_flags(&mut chunk.asm);
                }
                counted_from = chunk.asm.offset();
            }
            self.blocks[number as usize].instructions[index].offset = chunk.asm.offset();
            Arena::mark_boundary(chunk.asm.here());
            if index >= copied {
                break;
            }
            if index + 1 == copied && matches!(block.end, End::Conditional(_)) {
                // Nothing comes between a comparison and its branch: the processor runs them as one.
                chunk.asm.align_displacement(decoded.instruction.len() + OPCODE_BYTES);
            }
            if is_repeated(&decoded.instruction) && collects {
                let cell = self.repetition(number, index as u8);
                emit_repetition(&mut chunk.asm, &block, decoded, cell);
            } else {
                emit_copy(&mut chunk.asm, &block, decoded);
                if writes(&decoded.instruction, Register::R11) {
                    chunk.asm.keep_scratch();
                }
            }
        }
        // An indirect branch can fail when it has spilled registers.
        let spills = matches!(block.end, End::IndirectCall | End::IndirectJump);
        let counts = counts.filter(|_| place.is_none());
        let counts_at_end = matches!(block.end, End::Return(0) | End::ReturnWithFlags);
        if !counts_at_end && let Some(counts) = &counts {
            counts.emit_without_flags(&mut chunk.asm);
            chunk.asm.restore_scratch();
        }
        if place.is_none() {
            // The end counts before anything in it can fail. A return does it behind the last place where a signal is delivered.
            counted_from = if counts_at_end || leaves_counting { u16::MAX } else { chunk.asm.offset() };
        }
        let counts = counts.filter(|_| counts_at_end);
        let end = BlockEnd {
            context,
            site,
            number,
            is_counted,
            leaves_counting,
            looks,
            transfer,
            falls_to,
            counted_jump,
            counts,
        };
        self.emit_end(&mut chunk, &block, &end);
        let translated = &mut self.blocks[number as usize];
        translated.counted_from = counted_from;
        translated.code_bytes = u32::from(chunk.asm.offset());
        translated.spills = spills;
        self.add_chunk(chunk)
    }

    /// Returns the count of repetitions of an instruction.
    fn repetition(&mut self, number: u32, index: u8) -> Cell {
        let known = self.blocks[number as usize].repetitions.iter().find(|known| known.0 == index);
        if let Some((_, cell)) = known {
            return *cell;
        }
        let cell = self.cells(1);
        self.blocks[number as usize].repetitions.push((index, cell));
        cell
    }

    /// Writes the counting of the blocks before a request, which must have counted when it is answered.
    fn translate_counting(&mut self, entrance: Entrance) -> u64 {
        let block = Block { start: entrance.address, code: &[], instructions: Vec::new(), end: End::NoCode };
        let number = self.number_of(&block, entrance);
        let mut chunk = self.chunk();
        self.begin_block(&chunk, number);
        self.counts_of(number).emit_without_flags(&mut chunk.asm);
        chunk.asm.restore_scratch();
        let translated = &mut self.blocks[number as usize];
        translated.counted_from = chunk.asm.offset();
        translated.code_bytes = u32::from(chunk.asm.offset());
        self.emit_go(&mut chunk, Entrance { before: None, ..entrance });
        self.add_chunk(chunk)
    }

    /// Notes that code that is being written is that of a block.
    fn begin_block(&mut self, chunk: &Chunk, number: u32) {
        let code = chunk.asm.base();
        let block = &mut self.blocks[number as usize];
        block.code = code;
        self.cached.repeated_count += usize::from(block.entrance.before.is_some());
        self.cached.by_entrance.insert(block.entrance, number);
        self.cached.entrances.insert(block.entrance);
        self.cached.live.push(number);
        Arena::mark_block(code);
    }

    /// Returns the counting of a block.
    fn counts_of(&self, number: u32) -> Counts {
        let Translated { counter, cost, .. } = self.blocks[number as usize];
        Counts { counter, cost, block: number }
    }

    /// Translates a block that has no instruction that can run.
    fn translate_end_alone(&mut self, block: &Block<'_>, address: u64, context: ContextId) -> u64 {
        let exit = match block.end {
            End::Stop(reason) => Exit::Stop(Box::new((address, reason))),
            End::Invalid => Exit::Invalid { address, context },
            _ => Exit::NoCode { address, context },
        };
        let mut chunk = self.chunk();
        self.emit_exit(&mut chunk.asm, exit);
        self.add_chunk(chunk)
    }

    fn emit_end(&mut self, chunk: &mut Chunk, block: &Block<'_>, end: &BlockEnd) {
        let next = block.next();
        let last = block.instructions[block.instructions.len() - 1];
        match block.end {
            End::Next(_) | End::NoCode | End::Invalid | End::Stop(_) => {
                self.emit_look(chunk, end, BranchKind::Jump, next, next);
                self.emit_go(chunk, end.way_to(next));
            }
            End::Jump(target) => {
                self.emit_look(chunk, end, BranchKind::Jump, target, next);
                self.emit_transfer(chunk, end.way_to(target), &end.transfer);
            }
            End::Conditional(target) => {
                let kind = match last.instruction.is_jcc_short_or_near() {
                    true => BranchKind::Conditional(last.instruction.condition_code()),
                    false => BranchKind::Counting(last.instruction.code()),
                };
                self.emit_look(chunk, end, kind, target, next);
                self.emit_conditional(chunk, block, &last, target, end);
            }
            End::Call(target) => {
                self.emit_push_return(chunk, next);
                self.emit_look(chunk, end, BranchKind::Call, target, next);
                self.emit_transfer(chunk, end.way_to(target), &end.transfer);
            }
            End::IndirectCall | End::IndirectJump => {
                let is_call = block.end == End::IndirectCall;
                chunk.asm.spill_rcx();
                emit_load_target(&mut chunk.asm, &last.instruction);
                self.emit_indirect(chunk, end, is_call.then_some(next));
            }
            End::Return(0) | End::ReturnWithFlags if !end.is_counted => {
                chunk.asm.spill_rcx();
                chunk.asm.load(RCX, Mem::StackTop);
                chunk.asm.lea(RSP, RSP, 8);
                self.emit_indirect(chunk, end, None);
            }
            End::Return(0) | End::ReturnWithFlags => {
                let asm = &mut chunk.asm;
                if let Some(counts) = &end.counts {
                    counts.emit_without_flags(asm);
                }
                if block.end == End::ReturnWithFlags {
                    asm.note_returned_flags();
                }
                self.emit_return(asm);
            }
            End::Return(bytes) => self.emit_exit(&mut chunk.asm, Exit::ReturnAndPop(bytes)),
            End::SystemCall => {
                let exit = |resume| Exit::SystemCall { next, context: end.context, resume };
                self.emit_exit_and_resume(&mut chunk.asm, exit);
                self.emit_look(chunk, end, BranchKind::Jump, next, next);
                self.emit_go(chunk, end.way_to(next));
            }
            End::Cpuid => self.emit_exit(&mut chunk.asm, Exit::Cpuid { next, context: end.context }),
            End::Xgetbv => self.emit_exit(&mut chunk.asm, Exit::Xgetbv { next, context: end.context }),
            End::Request => {
                let (block, context) = (end.number, end.context);
                self.emit_exit(&mut chunk.asm, Exit::Request { block, next, context });
            }
            End::ExtendedState => {
                emit_extended_state(&mut chunk.asm, block, &last);
                self.emit_look(chunk, end, BranchKind::Jump, next, next);
                self.emit_go(chunk, end.way_to(next));
            }
        }
    }

    /// Writes a look at the stack pointer if calls may have ended in a block without a return. The engine goes on with the branch then.
    fn emit_look(&mut self, chunk: &mut Chunk, end: &BlockEnd, kind: BranchKind, target: u64, next: u64) {
        if !end.looks {
            return;
        }
        let asm = &mut chunk.asm;
        asm.spill_rcx();
        asm.load_shadow(SCRATCH);
        // A call has put its return address there.
        let is_below = asm.jump_unless_stack_is_above(if kind == BranchKind::Call { 1 } else { 0 });
        asm.restore_rcx();
        asm.restore_scratch();
        let mut rare = self.rare_code();
        let branch = DirectBranch { context: end.context, site: end.site, target, next, kind };
        self.emit_exit(&mut rare, Exit::Unwind(Box::new(branch)));
        chunk.asm.jump(self.arena.add_rare_code(rare.bytes()));
        chunk.asm.land(is_below);
        chunk.asm.restore_rcx();
        chunk.asm.restore_scratch();
    }

    /// Writes the comparison of a block with the code that it was translated from. If that has changed, the engine goes on.
    fn emit_comparison(&mut self, chunk: &mut Chunk, block: &Block<'_>, number: u32) {
        let asm = &mut chunk.asm;
        asm.spill_rcx();
        let mut rare = self.rare_code();
        rare.restore_rcx();
        rare.restore_scratch();
        self.emit_exit(&mut rare, Exit::Changed { block: number });
        let changed = self.arena.add_rare_code(rare.bytes());
        let length = (block.next() - block.start) as usize;
        let mut compared = 0;
        while compared < length {
            // Words overlap if they need not be aligned.
            let (width, start) = if self.aligns_comparisons {
                let fits = |width: &usize| {
                    (block.start as usize + compared).is_multiple_of(*width) && *width <= length - compared
                };
                ([8, 4, 2].into_iter().find(fits).unwrap_or(1), compared)
            } else {
                let width = [8, 4, 2].into_iter().find(|width| *width <= length).unwrap_or(1);
                (width, compared.min(length - width))
            };
            let mut word = [0; 8];
            word[..width].copy_from_slice(&block.code[start..start + width]);
            asm.load_bytes(SCRATCH, block.start + start as u64, width);
            asm.set64(RCX, u64::from_le_bytes(word).wrapping_neg());
            asm.lea_sum(RCX, RCX, SCRATCH, 0);
            let is_equal = asm.jump_if_rcx_is_zero();
            asm.jump(changed);
            asm.land(is_equal);
            compared = start + width;
        }
        asm.restore_rcx();
        asm.restore_scratch();
    }

    /// Writes a way out that comes back behind it.
    fn emit_exit_and_resume(&mut self, asm: &mut Asm, exit: impl FnOnce(u64) -> Exit) {
        let number = self.add_exit(Exit::Return);
        asm.set_state32(EXIT, number);
        asm.jump_through_state(LEAVE);
        self.exits[number as usize] = exit(asm.here());
    }

    /// Writes the counting of blocks, up to the one before which a part of the profile is written.
    fn emit_block_count(&mut self, chunk: &mut Chunk, address: u64, context: ContextId) {
        let asm = &mut chunk.asm;
        asm.store(Mem::State(SPILL0), RCX);
        asm.load(RCX, Mem::State(BLOCKS_LEFT));
        asm.lea(RCX, RCX, -1);
        asm.store(Mem::State(BLOCKS_LEFT), RCX);
        let is_last = asm.jump_if_rcx_is_zero();
        asm.load(RCX, Mem::State(SPILL0));
        let behind = asm.jump(0);
        asm.land(is_last);
        asm.load(RCX, Mem::State(SPILL0));
        self.emit_exit(asm, Exit::Blocks { address, context });
        let here = asm.here();
        asm.replace32(behind, crate::asm::displacement(behind, here));
    }

    pub(super) fn emit_transfer(&mut self, chunk: &mut Chunk, entrance: Entrance, transfer: &Transfer) {
        match transfer {
            Transfer::Jump => self.emit_go(chunk, entrance),
            Transfer::Call(plan) => self.emit_call(chunk, plan, false),
            Transfer::Watched(call) => self.emit_exit(&mut chunk.asm, Exit::Enter(Box::new(*call))),
        }
    }

    fn emit_conditional(
        &mut self,
        chunk: &mut Chunk,
        block: &Block<'_>,
        last: &Decoded,
        target: u64,
        end: &BlockEnd,
    ) {
        let bytes = block.bytes(last);
        let condition = last.instruction.condition_code() as u8;
        // `loop` and `jrcxz` have displacements of 8 bits only.
        let has_near_form = last.instruction.is_jcc_short_or_near();
        if has_near_form {
            chunk.asm.align_displacement(OPCODE_BYTES);
            chunk.asm.raw(&[0x0f, 0x80 | (condition - 1)]);
            let patch = chunk.asm.here();
            let goes_at_once = matches!(end.transfer, Transfer::Jump) && end.counted_jump.is_none();
            let known = goes_at_once.then(|| self.known_block(end.way_to(target))).flatten();
            chunk.asm.displacement_to(known.unwrap_or(0));
            if known.is_none() && goes_at_once {
                self.emit_missing(chunk, patch, end.way_to(target));
            }
            self.emit_transfer(chunk, end.way_to(block.next()), &end.falls_to);
            if !goes_at_once {
                let here = chunk.asm.here();
                chunk.asm.replace32(patch, crate::asm::displacement(patch, here));
                Engine::emit_jump_count(chunk, end.counted_jump);
                self.emit_transfer(chunk, end.way_to(target), &end.transfer);
            }
        } else {
            chunk.asm.raw(&bytes[..bytes.len() - 1]);
            chunk.asm.raw(&[5]);
            let patch = chunk.asm.jump(0);
            Engine::emit_jump_count(chunk, end.counted_jump);
            self.emit_transfer(chunk, end.way_to(target), &end.transfer);
            let here = chunk.asm.here();
            chunk.asm.replace32(patch, crate::asm::displacement(patch, here));
            self.emit_transfer(chunk, end.way_to(block.next()), &end.falls_to);
        }
    }
}

/// The end of a block, before it is written.
#[derive(Debug)]
pub(super) struct BlockEnd {
    pub(super) context: ContextId,
    /// The last instruction.
    pub(super) site: CallSite,
    /// The number of the block.
    pub(super) number: u32,
    /// `true` if calls are followed.
    is_counted: bool,
    /// `true` if the block leaves its counting to the next one.
    leaves_counting: bool,
    /// `true` if calls may have ended in the block without a return.
    looks: bool,
    transfer: Transfer,
    falls_to: Transfer,
    /// The counter of a conditional jump.
    counted_jump: Option<Cell>,
    /// The counting of a return, which comes when a register is spilled.
    counts: Option<Counts>,
}

impl BlockEnd {
    /// Returns the way from the block to another one.
    fn way_to(&self, address: u64) -> Entrance {
        Entrance {
            address,
            context: self.context,
            before: self.leaves_counting.then(|| BlockNumber::new(self.number)),
        }
    }
}

/// The counting of a block.
#[derive(Debug)]
struct Counts {
    counter: Cell,
    cost: u16,
    /// The number of the block.
    block: u32,
}

impl Counts {
    /// Counts where the flags are not needed.
    fn emit_with_flags(&self, asm: &mut Asm) {
        asm.increment(Mem::State(self.counter.offset()));
        asm.add_cost(self.cost, self.block, None);
    }

    /// Counts with the scratch register, and leaves the flags.
    fn emit_without_flags(&self, asm: &mut Asm) {
        asm.add_without_flags(SCRATCH, Mem::State(self.counter.offset()), 1);
        asm.add_cost(self.cost, self.block, Some(SCRATCH));
    }
}

/// `true` if the last instruction of a block is replaced by other code.
fn is_replaced(end: End) -> bool {
    !matches!(end, End::Next(_) | End::NoCode | End::Invalid | End::Stop(_))
}

/// Copies an instruction. An operand relative to it is made relative to the copy, or to a register if it is too far from there.
fn emit_copy(asm: &mut Asm, block: &Block<'_>, decoded: &Decoded) {
    if let Some(far) = FarOperand::of(&decoded.instruction) {
        return far.emit(asm);
    }
    let start = asm.here();
    asm.raw(block.bytes(decoded));
    let instruction = &decoded.instruction;
    if instruction.is_ip_rel_memory_operand() {
        let target = instruction.ip_rel_memory_address();
        let at = start + decoded.offsets.displacement_offset() as u64;
        let distance = target.wrapping_sub(asm.here()) as i64;
        assert!(i32::try_from(distance).is_ok(), "an operand is too far from its instruction");
        asm.replace32(at, distance as u32);
    }
}

/// Writes a repeated string instruction. Callgrind counts each repetition as an instruction, and the one that finds that there is nothing
/// left to do; if a comparison ends it, there is no such one.
fn emit_repetition(asm: &mut Asm, block: &Block<'_>, decoded: &Decoded, cell: Cell) {
    let add = |asm: &mut Asm| {
        // From here on `rcx` is the count of repetitions, and `rax` is free.
        asm.add_rcx_to(Mem::State(cell.offset()));
        asm.add_rcx_to_cost();
    };
    if !is_repeated_comparison(&decoded.instruction) {
        asm.store(Mem::State(SPILL0), RAX);
        add(asm);
        asm.load(RAX, Mem::State(SPILL0));
        Arena::mark_boundary(asm.here());
        emit_copy(asm, block, decoded);
        return;
    }
    let nothing = asm.jump_if_rcx_is_zero();
    asm.store(Mem::State(SPILL2), RCX);
    Arena::mark_boundary(asm.here());
    emit_copy(asm, block, decoded);
    asm.store(Mem::State(SPILL0), RAX);
    asm.store(Mem::State(SPILL1), RCX);
    // `repne` is ended by equality, `repe` by its absence: `setz al` or `setnz al`, then `movzx eax, al`.
    let opcode = if decoded.instruction.has_repne_prefix() { 0x94 } else { 0x95 };
    asm.raw(&[0x0f, opcode, 0xc0, 0x0f, 0xb6, 0xc0]);
    // The count before, minus the count after, minus 1 if the comparison ended it: −x is the complement of x − 1.
    asm.lea_sum(RAX, RAX, RCX, -1);
    asm.not(RAX);
    asm.load(RCX, Mem::State(SPILL2));
    asm.lea_sum(RCX, RCX, RAX, 0);
    add(asm);
    asm.load(RAX, Mem::State(SPILL0));
    asm.load(RCX, Mem::State(SPILL1));
    asm.land(nothing);
}

/// Writes `xsave` and its like. The mask is cut to what the program knows of: it has no space for more.
fn emit_extended_state(asm: &mut Asm, block: &Block<'_>, decoded: &Decoded) {
    asm.store(Mem::State(SPILL0), RAX);
    asm.store(Mem::State(SPILL1), RDX);
    asm.set(RDX, crate::cpuid::STATE_MASK);
    asm.extract_bits(RAX, RDX);
    asm.set(RDX, 0);
    emit_copy(asm, block, decoded);
    asm.load(RAX, Mem::State(SPILL0));
    asm.load(RDX, Mem::State(SPILL1));
}

/// Loads the target of an indirect branch to `rcx`.
fn emit_load_target(asm: &mut Asm, instruction: &Instruction) {
    use iced_x86::{Code, Encoder, MemoryOperand, OpKind, Register};
    let load = match instruction.op0_kind() {
        OpKind::Register => Instruction::with2(Code::Mov_r64_rm64, Register::RCX, instruction.op0_register()),
        _ => {
            let mut operand = MemoryOperand::new(
                instruction.memory_base(),
                instruction.memory_index(),
                instruction.memory_index_scale(),
                instruction.memory_displacement64() as i64,
                instruction.memory_displ_size(),
                false,
                instruction.segment_prefix(),
            );
            if is_far(instruction) {
                asm.set64(RCX, instruction.ip_rel_memory_address());
                (operand.base, operand.displacement, operand.displ_size) = (Register::RCX, 0, 0);
            }
            Instruction::with2(Code::Mov_r64_rm64, Register::RCX, operand)
        }
    };
    let mut encoder = Encoder::new(64);
    let encoded = load.and_then(|load| encoder.encode(&load, asm.here()));
    debug_assert!(encoded.is_ok(), "{encoded:?}");
    asm.raw(&encoder.take_buffer());
}
