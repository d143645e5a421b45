//! The exact tree of a file that has one block for each invocation.
//!
//! Xdebug writes a block whenever a function returns, so each comes after those of the functions it called. Blocks that
//! nothing has called yet wait on a stack. A block with calls takes as many from the top of it, which must be the very
//! functions it says it called. What is left at the end was never returned from, or called by nothing, and stands below
//! the root. Nothing is guessed on the way: a block is taken by one call and a call takes one block.
//!
//! Files with one block for each node of a call tree, in the same order, are read in the same way. A file with one
//! block for each function does not pass the check, unless each function has one caller at most; and then its tree is
//! exact just the same.

use std::fmt;

use gristmill_format::Cost;

use crate::analysis::tree::{CallTree, TreeBasis, TreeItem, Trie};
use crate::cost::{CostTable, add};
use crate::id::FunctionId;
use crate::id::narrow;

/// A block of a file, from one `fn=` to the next: one invocation of a function.
#[derive(Debug, Clone, Copy)]
pub struct Invocation<'a> {
    /// The function.
    pub function: FunctionId,
    /// The sum of its own lines.
    pub self_costs: &'a [Cost],
    /// What it called and how often, in the order of the file.
    pub calls: &'a [(FunctionId, Cost)],
    /// What the calls cost, one row after the other.
    pub call_costs: &'a [Cost],
}

/// Why the blocks of a file are not invocations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotInvocations {
    /// The block where this became clear, counted from 0.
    pub block: usize,
    /// What it called that was not the last before it.
    pub callee: FunctionId,
}

impl fmt::Display for NotInvocations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "block {} calls a function that did not end right before it", self.block + 1)
    }
}

impl std::error::Error for NotInvocations {}

/// Builds the tree, block by block.
///
/// ```
/// use gristmill_profile::FunctionId;
/// use gristmill_profile::analysis::{CallTree, ExactTree, Invocation, TreeItem};
///
/// // `read` was called by `main`, then by `parse`, which `main` called.
/// let [main, parse, read] = [0, 1, 2].map(FunctionId::new);
/// let mut tree = ExactTree::new(1);
/// let mut block = |function, own, calls: &[(FunctionId, i128)], costs: &[i128]| {
///     tree.push(Invocation { function, self_costs: &[own], calls, call_costs: costs })
/// };
/// block(read, 5, &[], &[])?;
/// block(read, 7, &[], &[])?;
/// block(parse, 10, &[(read, 1)], &[7])?;
/// block(main, 1, &[(read, 1), (parse, 1)], &[5, 17])?;
///
/// let tree = tree.finish();
/// assert_eq!(tree.inclusive(CallTree::ROOT), [23]);
/// let stack = [TreeItem::Program, TreeItem::Function(main), TreeItem::Function(parse), TreeItem::Function(read)];
/// let below_parse = (0..tree.len()).find(|&node| tree.stack(node) == stack).expect("it happened");
/// assert_eq!(tree.self_cost(below_parse), [7]);
/// # Ok::<(), gristmill_profile::analysis::NotInvocations>(())
/// ```
#[derive(Debug)]
pub struct ExactTree {
    blocks: Vec<Block>,
    self_costs: CostTable,
    /// Blocks that nothing has called yet, with what they cost with all below.
    waiting: Vec<u32>,
    waiting_costs: Vec<Cost>,
    calls: usize,
    unequal: usize,
}

#[derive(Debug)]
struct Block {
    function: FunctionId,
    /// The block that called it; itself while there is none.
    caller: u32,
    count: Cost,
}

impl ExactTree {
    /// To be given the blocks.
    pub fn new(width: usize) -> Self {
        ExactTree {
            blocks: Vec::new(),
            self_costs: CostTable::new(width, 0),
            waiting: Vec::new(),
            waiting_costs: Vec::new(),
            calls: 0,
            unequal: 0,
        }
    }

    /// Adds a block of the file.
    ///
    /// An error means that the blocks are not invocations, and the tree cannot be told.
    pub fn push(&mut self, block: Invocation<'_>) -> Result<(), NotInvocations> {
        let width = self.self_costs.width();
        let number = narrow(self.blocks.len());
        let error = |callee| NotInvocations { block: number as usize, callee };
        let mut inclusive = block.self_costs.to_vec();
        for (call, &(callee, count)) in block.calls.iter().enumerate().rev() {
            let Some(&called) = self.waiting.last() else { return Err(error(callee)) };
            if self.blocks[called as usize].function != callee {
                return Err(error(callee));
            }
            self.waiting.pop();
            let costs = self.waiting_costs.split_off(self.waiting_costs.len() - width);
            add(&mut inclusive, &costs);
            self.calls += 1;
            let said = block.call_costs.get(call * width..(call + 1) * width);
            self.unequal += usize::from(said != Some(&costs[..]));
            let called = &mut self.blocks[called as usize];
            called.caller = number;
            called.count = count;
        }
        self.blocks.push(Block { function: block.function, caller: number, count: 1 });
        self.self_costs.push(block.self_costs);
        self.waiting.push(number);
        self.waiting_costs.extend_from_slice(&inclusive);
        Ok(())
    }

    /// Ends a part of the file: blocks after this do not call any before it.
    pub fn end_part(&mut self) {
        self.waiting.clear();
        self.waiting_costs.clear();
    }

    /// How many blocks there were.
    pub fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// How many calls there were.
    pub fn calls(&self) -> usize {
        self.calls
    }

    /// How many calls are said to have cost something else than the blocks below them add up to. Xdebug writes 0 for
    /// memory that was given back, so its costs of memory need not add up.
    pub fn unequal_calls(&self) -> usize {
        self.unequal
    }

    /// The tree. Invocations of the same function by the same stack are one node.
    pub fn finish(self) -> CallTree {
        let mut trie = Trie::new(TreeItem::Program, self.self_costs.width());
        let mut places = vec![0u32; self.blocks.len()];
        // A caller comes after what it called.
        for (number, block) in self.blocks.iter().enumerate().rev() {
            let caller = block.caller as usize;
            let parent = if caller == number { CallTree::ROOT } else { places[caller] as usize };
            let place = trie.child(parent, TreeItem::Function(block.function));
            places[number] = narrow(place);
            trie.sprouts.nodes[place].count += block.count;
            trie.sprouts.self_costs.add(place, self.self_costs.row(number));
        }
        trie.sprouts.sum_up();
        trie.sprouts.arrange(TreeBasis::Exact)
    }
}
