//! AArch64: the text comes from yaxpeax-arm, addresses of jumps from the bits.

use yaxpeax_arch::{Decoder as _, U8Reader};
use yaxpeax_arm::armv8::a64::InstDecoder;

use crate::{ControlFlow, Instruction};

/// Every instruction has this size.
const INSTRUCTION_BYTES: usize = 4;

/// Conditions for which the manual prefers another name than the decoder has.
const CONDITIONS: [(&str, &str); 2] = [("b.hs", "b.cs"), ("b.lo", "b.cc")];

/// Decodes and writes instructions.
pub(super) struct Decoder<'a> {
    code: &'a [u8],
    address: u64,
}

impl<'a> Decoder<'a> {
    pub(super) fn new(code: &'a [u8], address: u64) -> Self {
        Self { code, address }
    }
}

impl Iterator for Decoder<'_> {
    type Item = Instruction;

    fn next(&mut self) -> Option<Instruction> {
        if self.code.is_empty() {
            return None;
        }
        let (bytes, rest) = self.code.split_at(self.code.len().min(INSTRUCTION_BYTES));
        let address = self.address;
        self.code = rest;
        self.address = address.wrapping_add(bytes.len() as u64);
        let mut reader = U8Reader::new(bytes);
        let Ok(decoded) = InstDecoder::default().decode(&mut reader) else {
            return Some(Instruction::bad(address, bytes));
        };
        let text = decoded.to_string();
        let (mnemonic, operands) = text.split_once(' ').unwrap_or((&text, ""));
        let preferred = CONDITIONS.iter().find(|(name, _)| *name == mnemonic);
        let mut instruction = Instruction::new(address, bytes);
        instruction.mnemonic = preferred.map_or(mnemonic, |(_, name)| name).to_owned();
        if let Some(word) = word(bytes) {
            instruction.flow = flow(word);
            instruction.target = target(word, address);
            instruction.data_address = data_address(word, address);
        }
        // The decoder writes addresses as a distance.
        let absolute = instruction.target.or(instruction.data_address);
        instruction.operands = match (absolute, operands.find("$")) {
            (Some(absolute), Some(at)) => format!("{}{absolute:#x}", &operands[..at]),
            _ => operands.to_owned(),
        };
        Some(instruction)
    }
}

fn word(bytes: &[u8]) -> Option<u32> {
    bytes.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
}

/// Returns `count` bits of a word from `first` on, as a signed number.
fn signed(word: u32, first: u32, count: u32) -> i64 {
    let up = word << (32 - first - count);
    i64::from(up.cast_signed() >> (32 - count))
}

fn flow(word: u32) -> ControlFlow {
    match word {
        // b, br and its authenticated forms.
        _ if word & 0xfc00_0000 == 0x1400_0000 => ControlFlow::Jump,
        _ if word & 0xfeff_f000 == 0xd61f_0000 => ControlFlow::Jump,
        // bl, blr.
        _ if word & 0xfc00_0000 == 0x9400_0000 => ControlFlow::Call,
        _ if word & 0xfeff_f000 == 0xd63f_0000 => ControlFlow::Call,
        // ret.
        _ if word & 0xffff_f000 == 0xd65f_0000 => ControlFlow::Return,
        // b.cond, bc.cond; cbz, cbnz; tbz, tbnz.
        _ if word & 0xff00_0000 == 0x5400_0000 => ControlFlow::Branch,
        _ if word & 0x7e00_0000 == 0x3400_0000 => ControlFlow::Branch,
        _ if word & 0x7e00_0000 == 0x3600_0000 => ControlFlow::Branch,
        // svc, hvc, smc, brk, hlt; udf.
        _ if word & 0xff00_0000 == 0xd400_0000 => ControlFlow::Interrupt,
        _ if word & 0xffff_0000 == 0 => ControlFlow::Interrupt,
        _ => ControlFlow::Next,
    }
}

fn target(word: u32, address: u64) -> Option<u64> {
    let distance = match word {
        _ if word & 0x7c00_0000 == 0x1400_0000 => signed(word, 0, 26),
        _ if word & 0xff00_0000 == 0x5400_0000 || word & 0x7e00_0000 == 0x3400_0000 => signed(word, 5, 19),
        _ if word & 0x7e00_0000 == 0x3600_0000 => signed(word, 5, 14),
        _ => return None,
    };
    Some(address.wrapping_add_signed(distance * 4))
}

fn data_address(word: u32, address: u64) -> Option<u64> {
    let distance = signed(word, 5, 19) * 4 + i64::from(word >> 29 & 3);
    match word {
        // adr, adrp.
        _ if word & 0x9f00_0000 == 0x1000_0000 => Some(address.wrapping_add_signed(distance)),
        _ if word & 0x9f00_0000 == 0x9000_0000 => {
            Some((address & !0xfff).wrapping_add_signed(distance << 12))
        }
        // ldr of a literal.
        _ if word & 0x3b00_0000 == 0x1800_0000 => Some(address.wrapping_add_signed(signed(word, 5, 19) * 4)),
        _ => None,
    }
}

/// See [`indirect_jump_slot`](super::indirect_jump_slot).
pub(super) fn indirect_jump_slot(stub: &[u8], address: u64) -> Option<u64> {
    let mut page = None;
    for (bytes, address) in stub.chunks(INSTRUCTION_BYTES).zip((address..).step_by(INSTRUCTION_BYTES)) {
        let word = word(bytes)?;
        if word & 0x9f00_001f == 0x9000_0010 {
            // adrp x16, PAGE
            page = data_address(word, address);
        } else if word & 0xffc0_03ff == 0xf940_0211 {
            // ldr x17, [x16, #OFFSET]
            return page.map(|page: u64| page.wrapping_add(u64::from(word >> 10 & 0xfff) * 8));
        }
    }
    None
}
