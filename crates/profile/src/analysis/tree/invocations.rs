//! The exact tree of a file that has one block for each invocation.
//!
//! Xdebug writes a block whenever a function returns, so each block comes after those of the functions it called. Blocks
//! that nothing has called yet wait on a stack. A block with calls takes the same count of blocks from the top of it, which
//! must be of the very functions it called. What is left at the end did not return, or nothing called it; it goes below the
//! root. Nothing is guessed: a block is taken by one call and a call takes one block.
//!
//! A fiber has a stack of its own, so its blocks wait among those of others. If the block on top is not the one of a call, the
//! only block below it with the same function and the cost of the call is: the cost proves it. Without one, or with several,
//! there is no exact tree. Xdebug rounds each cost down, so a call may cost more than the blocks below it, by one for each.
//!
//! Files with one block for each node of a call tree, in the same order, are read in the same way. A file with one block
//! for each function does not pass the check, unless each function has at most one caller, and costs what its calls do; then its tree is
//! exact, too. That calls cost something else than their blocks is only believed of producers that are known to write invocations.

use std::fmt;

use gristmill_format::{Cost, ProducerKind};

use crate::analysis::ids::TreeNodeId;
use crate::analysis::tree::{CallTree, TreeBasis, Trie};
use crate::budget::{MemoryBudget, OverBudget};
use crate::cost::{CostTable, add};
use crate::id::{FunctionId, narrow};
use crate::profile::Profile;
use crate::selection::Selection;

/// Each block lets calls look at this many blocks below the top, so that the time is in proportion to the file.
const LOOKS_PER_BLOCK: usize = 64;

/// Tables with a row for each block: self costs and inclusive costs, which grow by doubling.
const TABLES_OF_BLOCKS: usize = 4;

/// A block of a file, from one `fn=` to the next: one invocation of a function. See the example of [`ExactTree`].
#[derive(Debug, Clone, Copy)]
pub struct Invocation<'a> {
    /// The function.
    pub function: FunctionId,
    /// The sum of its own lines.
    pub self_costs: &'a [Cost],
    /// Its callees with the counts of calls, in the order of the file.
    pub calls: &'a [(FunctionId, Cost)],
    /// The costs of the calls, one row after the other.
    pub call_costs: &'a [Cost],
}

/// The reason why the blocks of a file are not invocations. See the example of [`ExactTree`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotInvocations {
    /// The block that shows it, counted from 0.
    pub block: usize,
    /// The function it called whose block is not the last one before it.
    pub callee: FunctionId,
}

impl fmt::Display for NotInvocations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "block {} calls a function that did not end right before it", self.block + 1)
    }
}

impl std::error::Error for NotInvocations {}

/// The reason why a profile has no exact tree. See the example of [`ExactTree`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoExactTree {
    /// The blocks of its files are not invocations.
    NotInvocations(NotInvocations),
    /// The costs of all blocks, a row for each, would not fit into memory.
    TooManyCosts(OverBudget),
}

impl fmt::Display for NoExactTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoExactTree::NotInvocations(error) => error.fmt(f),
            NoExactTree::TooManyCosts(error) => write!(f, "the exact tree would {error}"),
        }
    }
}

impl std::error::Error for NoExactTree {}

impl From<NotInvocations> for NoExactTree {
    fn from(error: NotInvocations) -> Self {
        NoExactTree::NotInvocations(error)
    }
}

/// The exact tree under construction, block by block.
///
/// ```
/// use gristmill_profile::analysis::{ExactTree, TreeNodeId};
/// use gristmill_profile::{Profile, Selection};
///
/// // `read` is called by `main`, then by `parse`, which `main` calls.
/// let text = "events: Ir
/// fn=read\n1 5\nfn=read\n1 7
/// fn=parse\n2 10\ncfn=read\ncalls=1 1\n2 7
/// fn=main\n3 1\ncfn=read\ncalls=1 1\n3 5\ncfn=parse\ncalls=1 2\n4 17\n";
/// let profile = Profile::from_bytes(text.as_bytes().to_vec());
///
/// let tree = ExactTree::from_profile(&profile, &Selection::default())?.finish();
/// assert_eq!(tree.inclusive(TreeNodeId::ROOT), [23]);
/// let names = |id| -> Vec<&[u8]> {
///     tree.path_up(id).filter_map(|id| tree.node(id).item).map(|id| profile.function(id).name).collect()
/// };
/// let read_by_parse = tree.ids().find(|&id| names(id) == [&b"read"[..], b"parse", b"main"]).expect("it happened");
/// assert_eq!(tree.self_cost(read_by_parse), [7]);
/// # Ok::<(), gristmill_profile::analysis::NoExactTree>(())
/// ```
#[derive(Debug)]
pub struct ExactTree {
    blocks: Vec<Block>,
    self_costs: CostTable,
    /// Blocks that nothing has called yet, with their inclusive costs.
    waiting: Vec<Waiting>,
    waiting_costs: Vec<Cost>,
    /// Blocks that calls may still look at below the top.
    looks_left: usize,
    /// `true` if a call had another cost than its block: then costs prove nothing.
    has_other_costs: bool,
    /// `true` if each block is known to be one invocation, also where costs differ.
    are_invocations: bool,
    call_count: usize,
    unequal_count: usize,
}

/// A block that nothing has called yet.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    block: u32,
    /// The count of blocks that it and its callees are.
    size: u32,
}

#[derive(Debug)]
struct Block {
    function: FunctionId,
    /// The index of the block that called it, if there is one.
    caller: Option<u32>,
    count: Cost,
}

impl ExactTree {
    /// Begins without blocks.
    pub fn new(width: usize) -> Self {
        ExactTree {
            blocks: Vec::new(),
            self_costs: CostTable::new(width, 0),
            waiting: Vec::new(),
            waiting_costs: Vec::new(),
            looks_left: 0,
            has_other_costs: false,
            are_invocations: true,
            call_count: 0,
            unequal_count: 0,
        }
    }

    /// Adds all blocks of the selected parts. Costs have a column for each event type of the profile, and one of zeros if it
    /// has none.
    ///
    /// # Errors
    ///
    /// If the blocks are not invocations, or if there are too many costs.
    pub fn from_profile(profile: &Profile, selection: &Selection) -> Result<Self, NoExactTree> {
        let width = profile.event_count().max(1);
        let blocks = profile.selected(selection).map(|part| profile.invocations(part.id()).len());
        let cells = blocks.sum::<usize>().saturating_mul(width).saturating_mul(TABLES_OF_BLOCKS);
        MemoryBudget::new([profile]).check_cells(cells).map_err(NoExactTree::TooManyCosts)?;
        // A block has a row for each of its calls.
        profile.refuse_wide_lines().map_err(NoExactTree::TooManyCosts)?;
        let mut tree = ExactTree::new(width);
        tree.are_invocations = profile.producers().all(ProducerKind::is_per_invocation);
        for part in profile.selected(selection) {
            let mut blocks = profile.invocations(part.id());
            while let Some(block) = blocks.next_block() {
                tree.push(block)?;
            }
            tree.end_part();
        }
        Ok(tree)
    }

    /// Adds a block of the file.
    ///
    /// # Errors
    ///
    /// If the blocks are not invocations. Then there is no exact tree.
    pub fn push(&mut self, block: Invocation<'_>) -> Result<(), NotInvocations> {
        let width = self.self_costs.width();
        let index = narrow(self.blocks.len());
        let error = |callee| NotInvocations { block: index as usize, callee };
        let mut inclusive = block.self_costs.to_vec();
        let mut size = 1;
        for (call, &(callee, count)) in block.calls.iter().enumerate().rev() {
            let stated = &block.call_costs[call * width..(call + 1) * width];
            let Some((called, costs)) = self.take(callee, stated) else { return Err(error(callee)) };
            let are_equal = || {
                let mut pairs = stated.iter().zip(&costs);
                pairs.all(|(stated, cost)| (0..=Cost::from(called.size)).contains(&(stated - cost)))
            };
            if !(self.are_invocations && count <= 1 || are_equal()) {
                return Err(error(callee));
            }
            add(&mut inclusive, &costs);
            self.call_count += 1;
            self.unequal_count += usize::from(*stated != costs);
            size += called.size;
            let called = &mut self.blocks[called.block as usize];
            called.caller = Some(index);
            called.count = count;
        }
        self.looks_left += LOOKS_PER_BLOCK;
        self.blocks.push(Block { function: block.function, caller: None, count: 1 });
        self.self_costs.push(block.self_costs);
        self.waiting.push(Waiting { block: index, size });
        self.waiting_costs.extend_from_slice(&inclusive);
        Ok(())
    }

    /// Takes the waiting block of a call with its inclusive costs.
    fn take(&mut self, callee: FunctionId, stated: &[Cost]) -> Option<(Waiting, Vec<Cost>)> {
        let width = self.self_costs.width();
        let has_function = |place: usize| self.blocks[self.waiting[place].block as usize].function == callee;
        let has_cost = |place: usize| {
            let rounded_off = stated[0] - self.waiting_costs[place * width];
            (0..=Cost::from(self.waiting[place].size)).contains(&rounded_off)
        };
        let top = self.waiting.len().checked_sub(1)?;
        let place = if has_function(top) && (has_cost(top) || self.has_other_costs) {
            top
        } else {
            let looks = self.waiting.len().min(self.looks_left);
            let below = (0..top).rev().take(looks);
            let mut fitting = below.filter(|&place| has_function(place) && has_cost(place));
            let found = (fitting.next(), fitting.next());
            let is_proved = looks >= top && !self.has_other_costs;
            self.looks_left -= looks;
            match found {
                (Some(place), None) if is_proved => place,
                (None, _) if has_function(top) => {
                    self.has_other_costs = true;
                    top
                }
                _ => return None,
            }
        };
        let costs = self.waiting_costs.drain(place * width..(place + 1) * width).collect();
        Some((self.waiting.remove(place), costs))
    }

    /// Ends a part of the file: later blocks call no earlier one.
    pub fn end_part(&mut self) {
        self.waiting.clear();
        self.waiting_costs.clear();
    }

    /// Returns the count of blocks.
    pub fn block_count(&self) -> usize {
        self.blocks.len()
    }

    /// Returns the count of calls.
    pub fn call_count(&self) -> usize {
        self.call_count
    }

    /// Returns the count of calls whose stated cost is not the sum of the blocks below them. Xdebug writes 0 for memory
    /// that was freed, so its costs of memory need not add up.
    pub fn unequal_call_count(&self) -> usize {
        self.unequal_count
    }

    /// Makes the tree. Invocations of the same function by the same stack are one node.
    pub fn finish(self) -> CallTree<FunctionId> {
        let mut trie = Trie::new(None, self.self_costs.width());
        let mut node_of: Vec<TreeNodeId> = vec![TreeNodeId::ROOT; self.blocks.len()];
        // A caller comes after what it called.
        for (index, block) in self.blocks.iter().enumerate().rev() {
            let parent = block.caller.map_or(TreeNodeId::ROOT, |caller| node_of[caller as usize]);
            let node = trie.child(parent, Some(block.function));
            node_of[index] = node;
            trie.tree.node_mut(node).count += block.count;
            trie.tree.self_costs.add(node.index(), self.self_costs.row(index));
        }
        trie.tree.sum_up();
        trie.tree.arranged(TreeBasis::Exact)
    }
}
