//! A block of the program: instructions up to the first that can go elsewhere, and where among them counting disturbs no flags.

use iced_x86::{
    Code, ConstantOffsets, Decoder, DecoderOptions, EncodingKind, FlowControl, Instruction,
    InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register, RflagsBits,
};

/// The longest block. Longer runs of instructions are several blocks.
pub(crate) const MAX_INSTRUCTIONS: usize = 100;

/// The most blocks before a block that leave their counting to it.
pub(crate) const MAX_BEFORE: usize = 4;

/// The most translations of a block for blocks before it that leave their counting to it: each way through the code would have its own.
pub(crate) const MAX_WAYS: u8 = 2;

/// The most such translations in the code cache. They take memory and time, which pay where code runs often, and in a large program most does
/// not.
pub(crate) const MAX_REPEATED: usize = 1 << 15;

/// The greatest cost that is counted at once.
pub(crate) const MAX_COST: usize = MAX_INSTRUCTIONS * (MAX_BEFORE + 1);

/// Most blocks have no more.
const USUAL_INSTRUCTIONS: usize = 16;

/// The greatest length of the code of a block.
pub(crate) const MAX_BLOCK_BYTES: usize = MAX_INSTRUCTIONS * MAX_INSTRUCTION_BYTES;

/// The instructions of a request to Valgrind, which do nothing: `rol rdi, 3`, `rol rdi, 13`, `rol rdi, 61`, `rol rdi, 51` and
/// `xchg rbx, rbx`. The addresses of the request and of its answer are in `rax` and `rdx`.
const REQUEST: [u8; 19] = [
    0x48, 0xc1, 0xc7, 0x03, 0x48, 0xc1, 0xc7, 0x0d, 0x48, 0xc1, 0xc7, 0x3d, 0x48, 0xc1, 0xc7, 0x33, 0x48,
    0x87, 0xdb,
];

/// The longest instruction.
const MAX_INSTRUCTION_BYTES: usize = 15;

/// The end of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// The next instruction is in another block.
    Next(u64),
    Jump(u64),
    /// A conditional jump, which the last instruction is.
    Conditional(u64),
    IndirectJump,
    Call(u64),
    IndirectCall,
    /// A return, with the bytes that it takes off the stack in addition.
    Return(u16),
    /// A return that takes flags along, as one behind `popf`: code that was interrupted goes on with it.
    ReturnWithFlags,
    SystemCall,
    Cpuid,
    Xgetbv,
    /// A request to the engine, whose instructions are one to Callgrind.
    Request,
    /// `xsave` and its like: the last instruction, which must see only the state that the program knows.
    ExtendedState,
    /// An instruction that the engine cannot run, which is not part of the block.
    Stop(&'static str),
    /// An instruction that the processor does not know, which is not part of the block.
    Invalid,
    /// There is no code at the next address.
    NoCode,
}

/// An instruction with what is needed to copy it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Decoded {
    pub(crate) instruction: Instruction,
    pub(crate) offsets: ConstantOffsets,
}

/// A block.
#[derive(Debug)]
pub(crate) struct Block<'a> {
    pub(crate) start: u64,
    pub(crate) code: &'a [u8],
    pub(crate) instructions: Vec<Decoded>,
    pub(crate) end: End,
}

impl<'a> Block<'a> {
    /// Decodes the code at an address. The bytes go on to the end of what is mapped, or for long enough.
    pub(crate) fn decode(code: &'a [u8], start: u64, max_instructions: usize) -> Block<'a> {
        let mut decoder = Decoder::with_ip(64, code, start, DecoderOptions::NONE);
        let instructions = Vec::with_capacity(max_instructions.min(USUAL_INSTRUCTIONS));
        let mut block = Block { start, code, instructions, end: End::NoCode };
        while decoder.can_decode() {
            let instruction = decoder.decode();
            if instruction.is_invalid() {
                let is_cut = code.len() - (instruction.ip() - start) as usize <= MAX_INSTRUCTION_BYTES;
                block.end = if is_cut { End::NoCode } else { End::Invalid };
                return block;
            }
            if is_request(&instruction, &code[(instruction.ip() - start) as usize..]) {
                let mut request = instruction;
                request.set_next_ip(instruction.ip() + REQUEST.len() as u64);
                request.set_len(REQUEST.len());
                let offsets = ConstantOffsets::default();
                block.instructions.push(Decoded { instruction: request, offsets });
                block.end = End::Request;
                return block;
            }
            let offsets = decoder.get_constant_offsets(&instruction);
            let end = end_of(&instruction);
            if !matches!(end, Some(End::Stop(_))) {
                block.instructions.push(Decoded { instruction, offsets });
            }
            if let Some(end) = end {
                let takes_flags = end == End::Return(0) && block.leaves_flags();
                block.end = if takes_flags { End::ReturnWithFlags } else { end };
                return block;
            }
            if block.instructions.len() >= max_instructions {
                block.end = End::Next(instruction.next_ip());
                return block;
            }
        }
        block
    }

    /// Returns the address behind the last instruction.
    pub(crate) fn next(&self) -> u64 {
        self.instructions.last().map_or(self.start, |last| last.instruction.next_ip())
    }

    /// `true` if an instruction that only sets flags is followed by none that uses or replaces them, or may be in the block before. Flags
    /// of others are mostly remains of a calculation.
    fn leaves_flags(&self) -> bool {
        use iced_x86::Mnemonic::{
            Bt, Clc, Cmc, Cmp, Comisd, Comiss, Popf, Popfd, Popfq, Ptest, Sahf, Stc, Test, Ucomisd, Ucomiss,
            Vcomisd, Vcomiss, Vptest, Vtestpd, Vtestps, Vucomisd, Vucomiss,
        };
        // A signal or the greatest length can have cut off a return from what is before it.
        let mut leaves = self.instructions.len() == 1;
        for Decoded { instruction, .. } in &self.instructions {
            leaves = match instruction.mnemonic() {
                Popf | Popfd | Popfq | Sahf | Bt | Clc | Cmc | Cmp | Comisd | Comiss | Ptest | Stc | Test
                | Ucomisd | Ucomiss | Vcomisd | Vcomiss | Vptest | Vtestpd | Vtestps | Vucomisd
                | Vucomiss => true,
                _ => leaves && instruction.rflags_read() == 0 && written_flags(instruction) == 0,
            };
        }
        leaves
    }

    /// Returns the bytes of an instruction.
    pub(crate) fn bytes(&self, decoded: &Decoded) -> &'a [u8] {
        let start = (decoded.instruction.ip() - self.start) as usize;
        &self.code[start..start + decoded.instruction.len()]
    }

    /// `true` if the block may take more off the stack than it puts there, before its last instruction if that is a branch. So does one that
    /// takes the return address of a call off the stack.
    pub(crate) fn raises_stack(&self) -> bool {
        use iced_x86::Mnemonic::{Add, And, Cmp, Lea, Leave, Push, Sub, Test};
        let count = self.instructions.len() - usize::from(!matches!(self.end, End::Next(_)));
        let mut height = 0;
        for Decoded { instruction, .. } in &self.instructions[..count] {
            height += i64::from(instruction.stack_pointer_increment());
            let is_constant =
                instruction.op1_kind() != OpKind::Register && instruction.op1_kind() != OpKind::Memory;
            let is_written = instruction.mnemonic() == Leave
                || instruction.op0_register().full_register() == Register::RSP
                || instruction.op1_register().full_register() == Register::RSP
                    && instruction.mnemonic() == iced_x86::Mnemonic::Xchg;
            match instruction.mnemonic() {
                _ if !is_written => {}
                Add if is_constant => height += instruction.immediate(1) as i64,
                Sub if is_constant => height -= instruction.immediate(1) as i64,
                Lea if instruction.memory_base() == Register::RSP
                    && instruction.memory_index() == Register::None =>
                {
                    height += instruction.memory_displacement64() as i64;
                }
                And | Cmp | Push | Sub | Test => {}
                _ => return true,
            }
        }
        height > 0
    }

    /// Returns the index of an instruction before which no flag is needed, or that behind the last one. `None` if there is none.
    pub(crate) fn place_without_flags(&self, needed_behind: u32) -> Option<usize> {
        let mut needed = needed_behind;
        let mut place = None;
        for (index, decoded) in self.instructions.iter().enumerate().rev() {
            let instruction = &decoded.instruction;
            needed &= !written_flags(instruction);
            needed |= instruction.rflags_read() & ALL_FLAGS;
            if needed == 0 {
                place = Some(index);
            }
        }
        place
    }
}

/// The flags that arithmetic sets.
pub(crate) const ALL_FLAGS: u32 =
    RflagsBits::OF | RflagsBits::SF | RflagsBits::ZF | RflagsBits::AF | RflagsBits::CF | RflagsBits::PF;

/// The flags that are needed where code begins, as far as a look at its first instructions tells.
#[derive(Debug)]
pub(crate) struct FlagsNeeded {
    /// Those that are read before they are written.
    pub(crate) read: u32,
    /// Those that are not written yet: what follows may need them.
    unwritten: u32,
}

impl Default for FlagsNeeded {
    fn default() -> FlagsNeeded {
        FlagsNeeded { read: 0, unwritten: ALL_FLAGS }
    }
}

impl FlagsNeeded {
    pub(crate) fn all(&self) -> u32 {
        self.read | self.unwritten
    }

    /// Looks at some instructions, up to the end of a block. Returns the address that the code goes on at if it has only one and more has to be
    /// looked at.
    pub(crate) fn look_at(&mut self, code: &[u8], start: u64, max_instructions: usize) -> Option<u64> {
        let decoder = Decoder::with_ip(64, code, start, DecoderOptions::NONE);
        for instruction in decoder.into_iter().take(max_instructions) {
            let end = end_of(&instruction);
            let is_unknown = instruction.is_invalid() || matches!(end, Some(End::Stop(_)));
            if is_unknown || is_request(&instruction, &code[(instruction.ip() - start) as usize..]) {
                return None;
            }
            self.read |= instruction.rflags_read() & self.unwritten;
            self.unwritten &= !written_flags(&instruction);
            match end {
                _ if self.unwritten == 0 => return None,
                Some(End::Jump(target) | End::Call(target)) => return Some(target),
                Some(_) => return None,
                None => {}
            }
        }
        None
    }
}

/// `true` for the first instruction of a request, which code begins with.
fn is_request(instruction: &Instruction, code: &[u8]) -> bool {
    instruction.code() == Code::Rol_rm64_imm8 && code.starts_with(&REQUEST)
}

/// Returns the flags that an instruction always writes. One that is undefined keeps its value on some processors, as with `bt`.
fn written_flags(instruction: &Instruction) -> u32 {
    use iced_x86::Mnemonic::{And, Or, Test, Xor};
    if is_conditional_write(instruction) {
        return 0;
    }
    // It is undefined after these, but all processors clear it.
    let is_logical = matches!(instruction.mnemonic(), And | Or | Test | Xor);
    let adjust = if is_logical { RflagsBits::AF } else { 0 };
    adjust | instruction.rflags_written() | instruction.rflags_cleared() | instruction.rflags_set()
}

/// `true` if an instruction changes flags only sometimes: a shift by 0 leaves them, and so does a repetition of 0 times.
fn is_conditional_write(instruction: &Instruction) -> bool {
    use iced_x86::Mnemonic::{Rcl, Rcr, Rol, Ror, Sal, Sar, Shl, Shld, Shr, Shrd};
    let is_shift =
        matches!(instruction.mnemonic(), Rcl | Rcr | Rol | Ror | Sal | Sar | Shl | Shld | Shr | Shrd);
    is_shift || is_repeated(instruction)
}

/// `true` if an instruction writes to a general register or a part of it. It is one that no instruction writes to without having it as an
/// operand; a system call, which does, is not copied.
pub(crate) fn writes(instruction: &Instruction, register: Register) -> bool {
    let is_operand = |index| {
        instruction.op_kind(index) == OpKind::Register
            && instruction.op_register(index).full_register() == register
    };
    let count = instruction.op_count();
    if !(0..count).any(is_operand) {
        return false;
    }
    let mut factory = InstructionInfoFactory::new();
    let information = factory.info(instruction);
    (0..count).filter(|index| is_operand(*index)).any(|index| {
        use OpAccess::{CondWrite, ReadCondWrite, ReadWrite, Write};
        matches!(information.op_access(index), CondWrite | ReadCondWrite | ReadWrite | Write)
    })
}

/// `true` for a string instruction with a prefix that repeats it.
pub(crate) fn is_repeated(instruction: &Instruction) -> bool {
    instruction.is_string_instruction() && (instruction.has_rep_prefix() || instruction.has_repne_prefix())
}

/// `true` for a repetition that ends when a comparison does.
pub(crate) fn is_repeated_comparison(instruction: &Instruction) -> bool {
    use iced_x86::Mnemonic::{Cmpsb, Cmpsd, Cmpsq, Cmpsw, Scasb, Scasd, Scasq, Scasw};
    is_repeated(instruction)
        && matches!(instruction.mnemonic(), Cmpsb | Cmpsd | Cmpsq | Cmpsw | Scasb | Scasd | Scasq | Scasw)
}

/// Returns how a block ends with an instruction. `None` if it goes on.
fn end_of(instruction: &Instruction) -> Option<End> {
    if let Some(reason) = reason_to_stop(instruction) {
        return Some(End::Stop(reason));
    }
    match instruction.code() {
        Code::Syscall => return Some(End::SystemCall),
        Code::Cpuid => return Some(End::Cpuid),
        Code::Xgetbv => return Some(End::Xgetbv),
        Code::Xsave_mem
        | Code::Xsave64_mem
        | Code::Xsaveopt_mem
        | Code::Xsaveopt64_mem
        | Code::Xsavec_mem
        | Code::Xsavec64_mem
        | Code::Xrstor_mem
        | Code::Xrstor64_mem => return Some(End::ExtendedState),
        _ => {}
    }
    let target = instruction.near_branch_target();
    match instruction.flow_control() {
        FlowControl::Next => None,
        FlowControl::UnconditionalBranch => Some(End::Jump(target)),
        FlowControl::ConditionalBranch => Some(End::Conditional(target)),
        FlowControl::IndirectBranch => Some(End::IndirectJump),
        FlowControl::Call => Some(End::Call(target)),
        FlowControl::IndirectCall => Some(End::IndirectCall),
        FlowControl::Return => {
            let is_popping = instruction.op_count() == 1;
            Some(End::Return(if is_popping { instruction.immediate16() } else { 0 }))
        }
        // They fault where they are.
        FlowControl::Interrupt | FlowControl::Exception => Some(End::Next(instruction.next_ip())),
        FlowControl::XbeginXabortXend => Some(End::Stop("a transaction (RTM)")),
    }
}

/// Returns why the engine cannot run an instruction.
fn reason_to_stop(instruction: &Instruction) -> Option<&'static str> {
    use FlowControl::{Call, IndirectBranch, IndirectCall, Return, UnconditionalBranch};
    let code = instruction.code();
    let is_new = matches!(instruction.encoding(), EncodingKind::EVEX | EncodingKind::MVEX);
    let uses_mask = (0..instruction.op_count()).any(|index| instruction.op_register(index).is_k());
    if is_new || uses_mask {
        return Some(
            "an instruction of AVX-512, which the processor that is shown to the program does not have",
        );
    }
    if (0..instruction.op_count()).any(|index| instruction.op_register(index).is_tmm()) {
        return Some("an instruction of AMX, which the processor that is shown to the program does not have");
    }
    let uses_gs = instruction.memory_segment() == Register::GS && has_memory(instruction)
        || matches!(code, Code::Rdgsbase_r32 | Code::Rdgsbase_r64 | Code::Wrgsbase_r32 | Code::Wrgsbase_r64);
    if uses_gs {
        return Some("an instruction that uses the segment gs, which the engine needs");
    }
    let loads_segment = match instruction.mnemonic() {
        Mnemonic::Mov | Mnemonic::Pop => matches!(instruction.op0_register(), Register::FS | Register::GS),
        mnemonic => matches!(mnemonic, Mnemonic::Lfs | Mnemonic::Lgs),
    };
    if loads_segment {
        return Some("an instruction that loads the segment fs or gs, which the engine needs");
    }
    if instruction.memory_base() == Register::EIP {
        return Some("an address relative to eip");
    }
    if is_repeated(instruction) && uses_32_bit_count(instruction) {
        return Some("a repeated string instruction with addresses of 32 bits");
    }
    if matches!(
        code,
        Code::Xsaves_mem | Code::Xsaves64_mem | Code::Xrstors_mem | Code::Xrstors64_mem | Code::Xsetbv
    ) {
        return Some("an instruction for the kernel");
    }
    if code == Code::Sysenter || code == Code::Int_imm8 && instruction.immediate8() == 0x80 {
        return Some("a system call of 32-bit programs");
    }
    let is_plain = match instruction.flow_control() {
        UnconditionalBranch => instruction.op0_kind() == OpKind::NearBranch64,
        Call => code == Code::Syscall || instruction.op0_kind() == OpKind::NearBranch64,
        IndirectBranch => code == Code::Jmp_rm64,
        IndirectCall => code == Code::Call_rm64,
        Return => matches!(code, Code::Retnq | Code::Retnq_imm16),
        _ => true,
    };
    (!is_plain).then_some("a far jump, call or return")
}

fn has_memory(instruction: &Instruction) -> bool {
    (0..instruction.op_count()).any(|index| {
        matches!(
            instruction.op_kind(index),
            OpKind::Memory
                | OpKind::MemorySegSI
                | OpKind::MemorySegESI
                | OpKind::MemorySegRSI
                | OpKind::MemorySegDI
                | OpKind::MemorySegEDI
                | OpKind::MemorySegRDI
        )
    }) && instruction.code() != Code::Nop_rm32
}

fn uses_32_bit_count(instruction: &Instruction) -> bool {
    (0..instruction.op_count()).any(|index| {
        matches!(
            instruction.op_kind(index),
            OpKind::MemorySegESI
                | OpKind::MemorySegEDI
                | OpKind::MemoryESEDI
                | OpKind::MemorySegSI
                | OpKind::MemoryESDI
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_ends_where_the_program_can_go_elsewhere() {
        for (code, count, end) in [
            (&[0x90, 0x90, 0xc3, 0x90][..], 3, End::Return(0)),
            // ret, popf; ret, and cmp eax, 5; ret
            (&[0xc3], 1, End::ReturnWithFlags),
            (&[0x9d, 0xc3], 2, End::ReturnWithFlags),
            (&[0x83, 0xf8, 5, 0xc3], 2, End::ReturnWithFlags),
            // cmp eax, 5; setb al; ret, and popf; add rsp, 8; ret
            (&[0x83, 0xf8, 5, 0x0f, 0x92, 0xc0, 0xc3], 3, End::Return(0)),
            (&[0x9d, 0x48, 0x83, 0xc4, 8, 0xc3], 3, End::Return(0)),
            (&[0xe8, 5, 0, 0, 0], 1, End::Call(0x40_000a)),
            (&[0x90, 0x75, 0xfe], 2, End::Conditional(0x40_0001)),
            (&[0x0f, 0x05, 0x90], 1, End::SystemCall),
            (&[0xff, 0xe0], 1, End::IndirectJump),
            (&[0x90, 0x0f, 0xa2], 2, End::Cpuid),
            (&[0x90, 0x62, 0xf1, 0x7c, 0x48, 0x58, 0xc0, 0x90], 1, End::Stop(AVX512)),
            (&[0x65, 0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0], 0, End::Stop(GS)),
            (&[0x90, 0x90], 2, End::NoCode),
            (&[&[0x90][..], &REQUEST, &[0x90]].concat(), 2, End::Request),
        ] {
            let block = Block::decode(code, 0x40_0000, MAX_INSTRUCTIONS);
            assert_eq!((block.instructions.len(), block.end), (count, end), "{code:x?}");
        }
    }

    const AVX512: &str =
        "an instruction of AVX-512, which the processor that is shown to the program does not have";
    const GS: &str = "an instruction that uses the segment gs, which the engine needs";

    #[test]
    fn what_takes_more_off_the_stack_than_it_puts_there_is_found() {
        for (code, raises) in [
            // pop rax; jmp
            (&[0x58, 0xeb, 0x00][..], true),
            // push rax; pop rax; jmp
            (&[0x50, 0x58, 0xeb, 0x00], false),
            // add rsp, 8; cmp rsp, rax; jne
            (&[0x48, 0x83, 0xc4, 8, 0x48, 0x39, 0xc4, 0x75, 0x00], true),
            // sub rsp, 16; add rsp, 8; jmp
            (&[0x48, 0x83, 0xec, 16, 0x48, 0x83, 0xc4, 8, 0xeb, 0x00], false),
            // lea rsp, [rsp + 8]; call
            (&[0x48, 0x8d, 0x64, 0x24, 8, 0xe8, 0, 0, 0, 0], true),
            // lea rsp, [rsp - 8]; call
            (&[0x48, 0x8d, 0x64, 0x24, 0xf8, 0xe8, 0, 0, 0, 0], false),
            // and rsp, -32; push rbp; mov rbp, rsp; jmp
            (&[0x48, 0x83, 0xe4, 0xe0, 0x55, 0x48, 0x89, 0xe5, 0xeb, 0x00], false),
            // mov rsp, rbp; jmp
            (&[0x48, 0x89, 0xec, 0xeb, 0x00], true),
            // leave; jmp
            (&[0xc9, 0xeb, 0x00], true),
            // xchg rax, rsp; jmp
            (&[0x48, 0x94, 0xeb, 0x00], true),
            // pop rax; push rax; call
            (&[0x58, 0x50, 0xe8, 0, 0, 0, 0], false),
        ] {
            let block = Block::decode(code, 0x40_0000, MAX_INSTRUCTIONS);
            assert_eq!(block.raises_stack(), raises, "{code:x?}");
        }
    }

    #[test]
    fn counting_is_put_where_flags_are_not_needed() {
        for (code, place) in [
            // cmp, jne
            (&[0x39, 0xc8, 0x75, 0x00][..], Some(0)),
            // adc, cmp, jne
            (&[0x11, 0xc8, 0x39, 0xc8, 0x75, 0x00], Some(1)),
            // mov, ret
            (&[0x89, 0xc8, 0xc3], None),
            // inc leaves the carry
            (&[0xff, 0xc0, 0xc3], None),
            // and clears the flag for adjustment as well
            (&[0x21, 0xc8, 0x75, 0x00], Some(0)),
            // bt leaves some
            (&[0x0f, 0xa3, 0xc8, 0x75, 0x00], None),
            // shl by cl may leave all flags
            (&[0xd3, 0xe0, 0x75, 0x00], None),
        ] {
            assert_eq!(
                Block::decode(code, 0x40_0000, MAX_INSTRUCTIONS).place_without_flags(ALL_FLAGS),
                place,
                "{code:x?}"
            );
        }
    }
}
