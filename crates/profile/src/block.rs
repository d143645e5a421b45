//! Blocks: runs of lines that are about one function, from its `fn=` to the next.

use gristmill_format::Resumption;

/// A block, by where it begins. It ends where the next function does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Block {
    pub(crate) byte: u64,
    /// There may be as many blocks as a quarter of the lines, so what one bit says has none for itself.
    line_and_need: u64,
    pub(crate) function: u32,
    /// The file that is in force at its beginning.
    pub(crate) file: u32,
}

const NEED: u64 = 1 << 63;

impl Block {
    pub(crate) fn new(byte: u64, line: u64, needs_anchor: bool, function: u32, file: u32) -> Self {
        let line_and_need = if needs_anchor { line | NEED } else { line };
        Block { byte, line_and_need, function, file }
    }

    /// The line it begins at.
    pub(crate) fn line(&self) -> u64 {
        self.line_and_need & !NEED
    }

    /// Its first positions are relative to those of a block before.
    pub(crate) fn needs_anchor(&self) -> bool {
        self.line_and_need & NEED != 0
    }
}

/// A place to begin reading at for blocks whose positions are relative to a block before.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Anchor {
    /// Index of the block.
    pub(crate) block: usize,
    pub(crate) state: BodyState,
}

/// What a reader must know to begin at a block.
#[derive(Debug, Clone)]
pub(crate) struct BodyState(pub(crate) Resumption);

/// All alike. What is in there follows from columns and header, which are compared; the number that the reader gave the
/// part depends on where that reader began, and means nothing to one that begins at a block.
impl PartialEq for BodyState {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
