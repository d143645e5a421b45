//! Blocks: runs of lines that are about one function, from its `fn=` to the next.

use std::ops::Range;
use std::sync::OnceLock;

use gristmill_format::raw::Resumption;

use crate::csr::Grouped;

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

/// The blocks of each function: looked for when they are first asked for, as most of what asks for a profile does not.
#[derive(Debug, Clone, Default)]
pub(crate) struct BlocksByFunction(OnceLock<Grouped>);

/// Follows from the blocks.
impl PartialEq for BlocksByFunction {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl BlocksByFunction {
    /// Those of a function that are in a range of blocks, in their order.
    pub(crate) fn of(&self, function: usize, range: &Range<usize>, blocks: &[Block]) -> &[u32] {
        let own = self.0.get_or_init(|| {
            let functions = blocks.iter().map(|block| block.function as usize + 1).max().unwrap_or_default();
            Grouped::of(functions, blocks.iter().map(|block| Some(block.function as usize)))
        });
        let own = own.get(function);
        let [from, to] =
            [range.start, range.end].map(|limit| own.partition_point(|&block| (block as usize) < limit));
        own.get(from..to).unwrap_or_default()
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn blocks_of_a_function_are_those_that_a_search_finds(
            functions in prop::collection::vec(0u32..6, 0..40),
            (from, to) in (0usize..40, 0usize..40),
        ) {
            let blocks: Vec<Block> = functions.iter().map(|&function| Block::new(0, 1, false, function, 0)).collect();
            let by_function = BlocksByFunction::default();
            let range = from.min(functions.len())..to.min(functions.len());
            for function in 0..8 {
                let searched: Vec<u32> = (0..)
                    .zip(&functions)
                    .filter(|&(index, &other)| other == function && range.contains(&(index as usize)))
                    .map(|(index, _)| index)
                    .collect();
                prop_assert_eq!(by_function.of(function as usize, &range, &blocks), searched);
            }
        }
    }
}
