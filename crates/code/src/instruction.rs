//! Instructions, as users get them.

use std::fmt;

/// The way in which operands are written.
///
/// See the example of [`Instruction`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Syntax {
    /// As `objdump` and GCC write x86: `mov %rsp,%rbp`.
    #[default]
    Att,
    /// As the manuals of Intel do: `mov rbp,rsp`. Other architectures have one syntax only.
    Intel,
}

/// The code that runs after an instruction.
///
/// See the example of [`Instruction`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ControlFlow {
    /// The next instruction.
    Next,
    /// Another one, always.
    Jump,
    /// Another one or the next, by a condition.
    Branch,
    /// A function, and then the next instruction.
    Call,
    /// The caller.
    Return,
    /// Nothing of this program: an interrupt, a system call, or a trap.
    Interrupt,
}

/// The most bytes that an instruction has.
const MAX_INSTRUCTION_BYTES: usize = 15;

/// A decoded instruction.
///
/// ```
/// use gristmill_code::{Architecture, ControlFlow, Instructions, Syntax};
///
/// let code = [0x48, 0x89, 0xe5, 0xe8, 0x10, 0, 0, 0, 0x06];
/// let decoded: Vec<_> = Instructions::new(Architecture::X86_64, &code, 0x1000, Syntax::Att)?.collect();
///
/// assert_eq!(decoded[0].to_string(), "mov    %rsp,%rbp");
/// assert_eq!((decoded[1].address(), decoded[1].bytes().len()), (0x1003, 5));
/// assert_eq!((decoded[1].flow(), decoded[1].target()), (ControlFlow::Call, Some(0x1018)));
/// assert!(decoded[2].is_bad());
/// # Ok::<(), gristmill_code::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instruction {
    pub(crate) address: u64,
    pub(crate) bytes: [u8; MAX_INSTRUCTION_BYTES],
    pub(crate) length: u8,
    pub(crate) prefixes: String,
    pub(crate) mnemonic: String,
    pub(crate) operands: String,
    pub(crate) flow: ControlFlow,
    pub(crate) target: Option<u64>,
    pub(crate) data_address: Option<u64>,
    pub(crate) is_bad: bool,
}

impl Instruction {
    /// Makes an instruction without text.
    pub(crate) fn new(address: u64, bytes: &[u8]) -> Self {
        let length = bytes.len().min(MAX_INSTRUCTION_BYTES);
        let mut copy = [0; MAX_INSTRUCTION_BYTES];
        copy[..length].copy_from_slice(&bytes[..length]);
        Self {
            address,
            bytes: copy,
            length: u8::try_from(length).unwrap_or(0),
            prefixes: String::new(),
            mnemonic: String::new(),
            operands: String::new(),
            flow: ControlFlow::Next,
            target: None,
            data_address: None,
            is_bad: false,
        }
    }

    /// Makes bytes that are no instruction.
    pub(crate) fn bad(address: u64, bytes: &[u8]) -> Self {
        Self { mnemonic: "(bad)".to_owned(), is_bad: true, ..Self::new(address, bytes) }
    }

    /// Returns its address.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Returns its bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }

    /// Returns the address after it.
    pub fn end(&self) -> u64 {
        self.address.wrapping_add(u64::from(self.length))
    }

    /// Returns prefixes that are written before the mnemonic, such as `lock`. Usually empty.
    pub fn prefixes(&self) -> &str {
        &self.prefixes
    }

    /// Returns the mnemonic; `(bad)` if the bytes are no instruction.
    pub fn mnemonic(&self) -> &str {
        &self.mnemonic
    }

    /// Returns the operands as text.
    pub fn operands(&self) -> &str {
        &self.operands
    }

    /// Returns what runs after it.
    pub fn flow(&self) -> ControlFlow {
        self.flow
    }

    /// Returns the address that a jump, branch or call goes to. `None` if it is in a register or in memory.
    pub fn target(&self) -> Option<u64> {
        self.target
    }

    /// Returns the address of data that it names relative to itself.
    pub fn data_address(&self) -> Option<u64> {
        self.data_address
    }

    /// Returns `true` if the bytes are no instruction.
    pub fn is_bad(&self) -> bool {
        self.is_bad
    }
}

impl fmt::Display for Instruction {
    /// Writes the instruction as `objdump` does, without address and bytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.prefixes.is_empty() {
            write!(f, "{} ", self.prefixes)?;
        }
        if self.operands.is_empty() {
            return f.write_str(&self.mnemonic);
        }
        write!(f, "{:<6} {}", self.mnemonic, self.operands)
    }
}
