//! The costs of blocks and edges, by context. The costs of instructions, which are most of them, are only added up for the context that is
//! written.

use super::jump_counts::{JumpCount, JumpKey};
use super::translated::PartialRun;
use super::{Engine, Translated};
use crate::arena::Cell;
use crate::contexts::ContextId;

/// A call from an instruction: what is called, from which address on.
pub(super) type CallKey = (u64, ContextId, u64);

/// The owner of a call, the place of the call among the owner's, the call, and the block that it ends.
type OrderedCall = (ContextId, (u64, u32), CallKey, u64);

/// The count of calls, and their cost.
pub(super) type CallCost = (u64, u64);

/// The counts of threads.
#[derive(Debug)]
pub(super) struct ThreadCosts<'a> {
    engine: &'a Engine,
    /// The addresses of the memory of the threads.
    bases: &'a [u64],
    /// The numbers of blocks that have run, by the context whose costs theirs are.
    blocks: Vec<(ContextId, u32)>,
    /// Runs that were left, in the same way.
    partial_runs: Vec<(ContextId, PartialRun, u64)>,
    /// Calls and jumps by context and key.
    calls: Vec<((ContextId, CallKey), CallCost)>,
    jumps: Vec<(ContextId, JumpKey, JumpCount)>,
}

/// The costs of a context.
#[derive(Debug)]
pub(super) struct ContextCosts<'a> {
    /// The addresses that have costs, calls or jumps, with their self costs.
    pub(super) spots: Vec<(u64, u64)>,
    /// By their keys.
    pub(super) calls: &'a [((ContextId, CallKey), CallCost)],
    /// By their keys.
    pub(super) jumps: &'a [(ContextId, JumpKey, JumpCount)],
}

/// Costs by address. They are added in any order, and sorted once: most addresses are in one block.
#[derive(Debug, Default)]
struct AddressCosts(Vec<(u64, u64)>);

impl AddressCosts {
    fn add(&mut self, address: u64, cost: u64) {
        // Those of a skipped stub all have the address of the call.
        match self.0.last_mut().filter(|last| last.0 == address) {
            Some(last) => last.1 = last.1.wrapping_add(cost),
            None => self.0.push((address, cost)),
        }
    }

    /// Returns the costs by address, those of one address as one.
    fn sorted(self) -> Vec<(u64, u64)> {
        let mut costs = self.0;
        // It finds runs that are sorted, which blocks are.
        costs.sort_by_key(|cost| cost.0);
        costs.dedup_by(|next, kept| {
            let is_same = next.0 == kept.0;
            if is_same {
                kept.1 = kept.1.wrapping_add(next.1);
            }
            is_same
        });
        costs
    }
}

impl<'a> ThreadCosts<'a> {
    /// Finds what threads have counted, by the addresses of their memory.
    pub(super) fn new(engine: &'a Engine, bases: &'a [u64]) -> ThreadCosts<'a> {
        let mut blocks: Vec<(ContextId, u32)> = Vec::new();
        for (number, block) in engine.blocks.iter().enumerate() {
            // A fault can leave a block before it counts, but behind repetitions.
            let mut counters =
                std::iter::once(block.counter).chain(block.repetitions.iter().map(|(_, cell)| *cell));
            if counters.any(|counter| counter.sum(bases) != 0) {
                blocks.push((engine.owner_of(block), number as u32));
            }
        }
        blocks.sort_unstable();
        let of_threads = engine.partial_runs.iter().filter(|(run, _)| bases.contains(&run.thread));
        let mut partial_runs: Vec<(ContextId, PartialRun, u64)> = of_threads
            .map(|(run, count)| (engine.owner_of(&engine.blocks[run.block as usize]), *run, *count))
            .collect();
        partial_runs.sort_unstable();
        let calls = engine.sum_calls(bases);
        let jumps = engine.sum_jumps(bases);
        ThreadCosts { engine, bases, blocks, partial_runs, calls, jumps }
    }

    /// Returns the contexts that have costs, calls or jumps.
    pub(super) fn contexts(&self) -> Vec<ContextId> {
        let mut contexts: Vec<ContextId> = self.blocks.iter().map(|(context, _)| *context).collect();
        contexts.extend(self.partial_runs.iter().map(|(context, ..)| *context));
        contexts.extend(self.calls.iter().map(|((context, _), _)| *context));
        contexts.extend(self.jumps.iter().map(|(context, ..)| *context));
        contexts.sort_unstable();
        contexts.dedup();
        contexts
    }

    /// Adds up what a context costs.
    pub(super) fn of(&self, context: ContextId) -> ContextCosts<'_> {
        let mut by_address = AddressCosts::default();
        for (_, number) in part(&self.blocks, context, |(owner, _)| *owner) {
            self.add_block(&mut by_address, &self.engine.blocks[*number as usize]);
        }
        for (_, run, count) in part(&self.partial_runs, context, |(owner, ..)| *owner) {
            let block = &self.engine.blocks[run.block as usize];
            let (_, site) = self.engine.contexts.owner(block.entrance.context);
            let mut address = block.entrance.address;
            for (at, translation) in block.instructions.iter().enumerate() {
                by_address.add(site.unwrap_or(address), run.change(at, *count));
                address += u64::from(translation.length);
            }
        }
        let calls = part(&self.calls, context, |((owner, _), _)| *owner);
        let jumps = part(&self.jumps, context, |(owner, ..)| *owner);
        calls.iter().for_each(|((_, key), _)| by_address.add(key.0, 0));
        jumps.iter().for_each(|(_, key, _)| by_address.add(key.0, 0));
        ContextCosts { spots: by_address.sorted(), calls, jumps }
    }

    /// Adds the costs of a block that has run.
    fn add_block(&self, costs: &mut AddressCosts, block: &Translated) {
        let count = block.counter.sum(self.bases);
        let (_, site) = self.engine.contexts.owner(block.entrance.context);
        for counted in self.engine.counted_with(block) {
            let mut address = counted.entrance.address;
            for translation in &counted.instructions {
                costs.add(site.unwrap_or(address), count);
                address += u64::from(translation.length);
            }
        }
        for (index, cell) in &block.repetitions {
            costs.add(site.unwrap_or(block.address_of(usize::from(*index))), cell.sum(self.bases));
        }
    }
}

/// Returns the part of a sorted slice that is of a context.
fn part<T>(all: &[T], context: ContextId, owner: impl Fn(&T) -> ContextId) -> &[T] {
    let start = all.partition_point(|item| owner(item) < context);
    let length = all[start..].partition_point(|item| owner(item) == context);
    &all[start..start + length]
}

impl Engine {
    /// Returns the context whose costs those of a block are.
    fn owner_of(&self, block: &Translated) -> ContextId {
        self.contexts.shown(self.contexts.owner(block.entrance.context).0)
    }

    /// Adds up calls in threads, by the blocks that they end: Callgrind does not write calls of a block that cost nothing. The order is that
    /// of the functions: in which order contexts were made differs with the size of the code cache.
    fn sum_calls(&self, bases: &[u64]) -> Vec<((ContextId, CallKey), CallCost)> {
        let sum = |cell: Cell| cell.sum(bases);
        let ranks = self.contexts.ranks();
        let mut sums: Vec<(OrderedCall, CallCost)> = Vec::new();
        for edge in self.contexts.edges() {
            let Some(cells) = edge.cells else { continue };
            let (count, cost) = (sum(cells.count()), sum(cells.cost()));
            if count == 0 && cost == 0 {
                continue;
            }
            let (owner, site) = self.contexts.owner(edge.from);
            let owner = self.contexts.shown(owner);
            let to = self.contexts.shown(edge.to);
            let key = (site.unwrap_or(edge.site.address), to, edge.target);
            sums.push(((owner, (key.0, ranks[to.index()]), key, edge.site.block), (count, cost)));
        }
        sums.sort_unstable_by_key(|sum| sum.0);
        add_up(&mut sums);
        let with_costs = sums.into_iter().filter(|(_, (_, cost))| *cost != 0);
        let mut calls: Vec<((ContextId, CallKey), CallCost)> =
            with_costs.map(|((owner, _, key, _), sum)| ((owner, key), sum)).collect();
        add_up(&mut calls);
        calls
    }
}

/// Makes the counts and costs of a key one, when they are sorted.
fn add_up<K: PartialEq>(sums: &mut Vec<(K, CallCost)>) {
    sums.dedup_by(|(key, sum), (kept_key, kept)| {
        let is_same = key == kept_key;
        if is_same {
            *kept = (kept.0.wrapping_add(sum.0), kept.1.wrapping_add(sum.1));
        }
        is_same
    });
}
