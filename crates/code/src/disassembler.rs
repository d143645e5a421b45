//! Instructions of code: a decoder for each architecture.

mod aarch64;
mod x86;

use std::fmt;

use crate::{Architecture, Error, ErrorKind, Instruction, Syntax};

/// The instructions of some code, one after the other. See the example of [`Instruction`].
///
/// Bytes that are no instruction are one too, with [`Instruction::is_bad`], so that the lengths add up to that of the code.
pub struct Instructions<'a>(Decoder<'a>);

enum Decoder<'a> {
    X86(Box<x86::Decoder<'a>>),
    Aarch64(aarch64::Decoder<'a>),
}

impl<'a> Instructions<'a> {
    /// Decodes code that begins at an address.
    ///
    /// # Errors
    ///
    /// If there is no decoder for the architecture.
    pub fn new(
        architecture: Architecture,
        code: &'a [u8],
        address: u64,
        syntax: Syntax,
    ) -> Result<Self, Error> {
        let x86 = |bits| Decoder::X86(Box::new(x86::Decoder::new(bits, code, address, syntax)));
        match architecture {
            Architecture::X86 => Ok(Self(x86(32))),
            Architecture::X86_64 => Ok(Self(x86(64))),
            Architecture::Aarch64 => Ok(Self(Decoder::Aarch64(aarch64::Decoder::new(code, address)))),
            Architecture::Other => Err(Error::new("code", ErrorKind::NoDecoder(architecture))),
        }
    }
}

impl Iterator for Instructions<'_> {
    type Item = Instruction;

    fn next(&mut self) -> Option<Instruction> {
        match &mut self.0 {
            Decoder::X86(decoder) => decoder.next(),
            Decoder::Aarch64(decoder) => decoder.next(),
        }
    }
}

impl fmt::Debug for Instructions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Instructions").finish_non_exhaustive()
    }
}

/// Returns the addresses at which instructions of some code start, ascending. `None` if there is no decoder for the architecture.
/// Nothing is written as text, which takes ten times as long.
pub(crate) fn starts(architecture: Architecture, code: &[u8], address: u64) -> Option<Vec<u64>> {
    match architecture {
        Architecture::X86 => Some(x86::starts(32, code, address)),
        Architecture::X86_64 => Some(x86::starts(64, code, address)),
        Architecture::Aarch64 => {
            let instructions = aarch64::Decoder::new(code, address).filter(|it| !it.is_bad());
            Some(instructions.map(|it| it.address()).collect())
        }
        Architecture::Other => None,
    }
}

/// Returns the address of the memory that a stub takes the target of its jump from. `global_table` is what 32-bit code finds in its
/// base register.
pub(crate) fn indirect_jump_slot(
    architecture: Architecture,
    stub: &[u8],
    address: u64,
    global_table: Option<u64>,
) -> Option<u64> {
    match architecture {
        Architecture::X86 => x86::indirect_jump_slot(32, stub, address, global_table),
        Architecture::X86_64 => x86::indirect_jump_slot(64, stub, address, None),
        Architecture::Aarch64 => aarch64::indirect_jump_slot(stub, address),
        Architecture::Other => None,
    }
}
