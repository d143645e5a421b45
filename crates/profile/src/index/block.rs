//! Blocks: lines of one function, from its `fn=` (or the start of the part) to the next `fn=` or the end of the part.

use std::ops::Range;
use std::sync::OnceLock;

use gristmill_format::raw::Resumption;

use crate::csr::Csr;
use crate::id::{FileId, FunctionId};

/// The start of a block. It ends at the next `fn=` line, or where its part ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Block {
    /// Offset of its first byte in the input.
    pub(crate) byte: u64,
    /// A line number and one flag in its highest bit: there may be as many blocks as a quarter of the lines.
    line_and_flag: u64,
    pub(crate) function: FunctionId,
    /// The file that holds at its start.
    pub(crate) file: FileId,
}

const NEEDS_ANCHOR: u64 = 1 << 63;

impl Block {
    pub(crate) fn new(byte: u64, line: u64, needs_anchor: bool, function: FunctionId, file: FileId) -> Self {
        debug_assert!(line & NEEDS_ANCHOR == 0, "a line takes a byte at least");
        let line_and_flag = if needs_anchor { line | NEEDS_ANCHOR } else { line };
        Block { byte, line_and_flag, function, file }
    }

    /// Returns the number of its first line.
    pub(crate) fn line(&self) -> u64 {
        self.line_and_flag & !NEEDS_ANCHOR
    }

    /// Returns `true` if its first positions are relative to those of a block before it.
    pub(crate) fn needs_anchor(&self) -> bool {
        self.line_and_flag & NEEDS_ANCHOR != 0
    }
}

/// The blocks of each function, grouped when they are first asked for: most commands never ask.
#[derive(Debug, Clone, Default)]
pub(crate) struct BlocksByFunction(OnceLock<Csr>);

/// Always equal, as it follows from the blocks.
impl PartialEq for BlocksByFunction {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl BlocksByFunction {
    /// Returns the indices of the blocks of a function within a range of all blocks, in order.
    pub(crate) fn get(&self, function: FunctionId, range: &Range<usize>, blocks: &[Block]) -> &[u32] {
        let by_function = self.0.get_or_init(|| {
            let functions = blocks.iter().map(|block| block.function.index());
            Csr::new(functions.clone().max().map_or(0, |last| last + 1), functions.map(Some))
        });
        let own = by_function.get(function.index());
        let [from, to] =
            [range.start, range.end].map(|limit| own.partition_point(|&block| (block as usize) < limit));
        &own[from..to]
    }
}

/// A block where reading can start to find the positions of later blocks, which are relative.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Anchor {
    /// Index of the block.
    pub(crate) block: usize,
    pub(crate) state: BodyState,
}

/// The state that a reader needs to start at a block.
#[derive(Debug, Clone)]
pub(crate) struct BodyState(pub(crate) Resumption);

/// Always equal. The state follows from columns and header, which are compared; the number that the reader gave to the
/// part depends on where the reader started, and has no meaning for one that starts at a block.
impl PartialEq for BodyState {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_blocks_of_a_function_are_those_that_a_search_finds(
            functions in prop::collection::vec(0u32..6, 0..40),
            (from, to) in (0usize..40, 0usize..40),
        ) {
            let blocks: Vec<Block> = functions.iter().map(|&function| Block::new(0, 1, false, FunctionId::from_u32(function), FileId::new(0))).collect();
            let by_function = BlocksByFunction::default();
            let range = from.min(to).min(functions.len())..from.max(to).min(functions.len());
            for function in 0..8 {
                let searched: Vec<u32> = (0..)
                    .zip(&functions)
                    .filter(|&(index, &other)| other == function && range.contains(&(index as usize)))
                    .map(|(index, _)| index)
                    .collect();
                prop_assert_eq!(by_function.get(FunctionId::from_u32(function), &range, &blocks), searched);
            }
        }
    }
}
