//! Instruction sets.

use std::fmt;

/// The instruction set of a file.
///
/// ```
/// use gristmill_code::Architecture;
///
/// assert_eq!(Architecture::X86_64.to_string(), "x86-64");
/// assert!(Architecture::X86_64.is_decoded());
/// assert!(!Architecture::Other.is_decoded());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Architecture {
    /// x86 with 32 bits.
    X86,
    /// x86 with 64 bits.
    X86_64,
    /// AArch64.
    Aarch64,
    /// Another one, whose instructions are not decoded.
    Other,
}

impl Architecture {
    pub(crate) fn from_object(architecture: object::Architecture) -> Self {
        match architecture {
            object::Architecture::I386 => Self::X86,
            object::Architecture::X86_64 => Self::X86_64,
            object::Architecture::Aarch64 => Self::Aarch64,
            _ => Self::Other,
        }
    }

    /// Returns `true` if there is a decoder for its instructions.
    pub fn is_decoded(self) -> bool {
        matches!(self, Self::X86 | Self::X86_64 | Self::Aarch64)
    }
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::X86 => "x86",
            Self::X86_64 => "x86-64",
            Self::Aarch64 => "AArch64",
            Self::Other => "another architecture",
        })
    }
}
