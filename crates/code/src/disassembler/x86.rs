//! x86 with 32 and 64 bits.

use iced_x86::{
    Code, DecoderOptions, FlowControl, FormatMnemonicOptions, Formatter, GasFormatter, IntelFormatter,
    OpKind, Register,
};

use crate::{ControlFlow, Instruction, Syntax};

/// Mnemonics without a suffix for the size of their operand.
const WITHOUT_SUFFIX: [&str; 4] = ["call", "jmp", "push", "pop"];

/// Decodes and writes instructions.
pub(super) struct Decoder<'a> {
    code: &'a [u8],
    decoder: iced_x86::Decoder<'a>,
    formatter: Writer,
}

enum Writer {
    Gas(GasFormatter),
    Intel(IntelFormatter),
}

impl<'a> Decoder<'a> {
    pub(super) fn new(bits: u32, code: &'a [u8], address: u64, syntax: Syntax) -> Self {
        let mut formatter = match syntax {
            Syntax::Att => Writer::Gas(GasFormatter::new()),
            Syntax::Intel => Writer::Intel(IntelFormatter::new()),
        };
        let options = match &mut formatter {
            Writer::Gas(formatter) => formatter.options_mut(),
            Writer::Intel(formatter) => formatter.options_mut(),
        };
        options.set_uppercase_hex(false);
        options.set_hex_prefix("0x");
        options.set_hex_suffix("");
        options.set_small_hex_numbers_in_decimal(false);
        options.set_branch_leading_zeros(false);
        options.set_rip_relative_addresses(true);
        options.set_space_after_operand_separator(false);
        options.set_show_branch_size(false);
        let decoder = iced_x86::Decoder::with_ip(bits, code, address, DecoderOptions::NONE);
        Self { code, decoder, formatter }
    }

    fn write(&mut self, decoded: &iced_x86::Instruction, to: &mut Instruction) {
        let formatter: &mut dyn Formatter = match &mut self.formatter {
            Writer::Gas(formatter) => formatter,
            Writer::Intel(formatter) => formatter,
        };
        formatter.format_mnemonic_options(decoded, &mut to.prefixes, FormatMnemonicOptions::NO_MNEMONIC);
        formatter.format_mnemonic_options(decoded, &mut to.mnemonic, FormatMnemonicOptions::NO_PREFIXES);
        formatter.format_all_operands(decoded, &mut to.operands);
        // objdump leaves the suffix off where the processor knows no other size.
        if let Some(plain) =
            to.mnemonic.strip_suffix(['q', 'l']).filter(|plain| WITHOUT_SUFFIX.contains(plain))
        {
            to.mnemonic.truncate(plain.len());
        }
    }
}

/// Returns the addresses at which instructions start.
pub(super) fn starts(bits: u32, code: &[u8], address: u64) -> Vec<u64> {
    let mut decoder = iced_x86::Decoder::with_ip(bits, code, address, DecoderOptions::NONE);
    let mut starts = Vec::new();
    let mut decoded = iced_x86::Instruction::default();
    while decoder.can_decode() {
        let (start, address) = (decoder.position(), decoder.ip());
        decoder.decode_out(&mut decoded);
        if !decoded.is_invalid() {
            starts.push(address);
        } else if decoder.set_position(start + 1).is_ok() {
            // As in listings.
            decoder.set_ip(address.wrapping_add(1));
        }
    }
    starts
}

impl Iterator for Decoder<'_> {
    type Item = Instruction;

    fn next(&mut self) -> Option<Instruction> {
        if !self.decoder.can_decode() {
            return None;
        }
        let (start, address) = (self.decoder.position(), self.decoder.ip());
        let decoded = self.decoder.decode();
        if decoded.is_invalid() {
            // As objdump does: one byte is bad, and the next one may begin an instruction.
            let next = start + 1;
            if self.decoder.set_position(next).is_err() {
                return None;
            }
            self.decoder.set_ip(address.wrapping_add(1));
            return Some(Instruction::bad(address, &self.code[start..next]));
        }
        let mut instruction = Instruction::new(address, &self.code[start..start + decoded.len()]);
        self.write(&decoded, &mut instruction);
        instruction.flow = flow(&decoded);
        instruction.target = target(&decoded);
        instruction.data_address =
            decoded.is_ip_rel_memory_operand().then(|| decoded.ip_rel_memory_address());
        Some(instruction)
    }
}

fn flow(decoded: &iced_x86::Instruction) -> ControlFlow {
    match decoded.flow_control() {
        FlowControl::Next => ControlFlow::Next,
        FlowControl::UnconditionalBranch | FlowControl::IndirectBranch => ControlFlow::Jump,
        FlowControl::ConditionalBranch | FlowControl::XbeginXabortXend => ControlFlow::Branch,
        // System calls are calls for the decoder.
        FlowControl::Call | FlowControl::IndirectCall => match decoded.code() {
            Code::Syscall
            | Code::Sysenter
            | Code::Vmcall
            | Code::Vmlaunch
            | Code::Vmresume
            | Code::Vmmcall => ControlFlow::Interrupt,
            _ => ControlFlow::Call,
        },
        FlowControl::Return => ControlFlow::Return,
        FlowControl::Interrupt | FlowControl::Exception => ControlFlow::Interrupt,
    }
}

fn target(decoded: &iced_x86::Instruction) -> Option<u64> {
    let is_near =
        matches!(decoded.op0_kind(), OpKind::NearBranch16 | OpKind::NearBranch32 | OpKind::NearBranch64);
    is_near.then(|| decoded.near_branch_target())
}

/// See [`indirect_jump_slot`](super::indirect_jump_slot).
pub(super) fn indirect_jump_slot(
    bits: u32,
    stub: &[u8],
    address: u64,
    global_table: Option<u64>,
) -> Option<u64> {
    let decoder = iced_x86::Decoder::with_ip(bits, stub, address, DecoderOptions::NONE);
    let jump = decoder.into_iter().find(|decoded| decoded.flow_control() == FlowControl::IndirectBranch)?;
    if jump.op0_kind() != OpKind::Memory {
        return None;
    }
    if jump.is_ip_rel_memory_operand() {
        return Some(jump.ip_rel_memory_address());
    }
    match jump.memory_base() {
        Register::None => Some(jump.memory_displacement64()),
        Register::EBX => Some(global_table?.wrapping_add(jump.memory_displacement64()) & u64::from(u32::MAX)),
        _ => None,
    }
}
