//! Indirect jumps and calls: each has a chain of comparisons with the targets it had, and a table if they are many.

use std::ops::Range;

use super::chunk::Chunk;
use super::target_tables::Comparison;
use super::transfer::Transfer;
use super::translate::BlockEnd;
use super::{Engine, Entrance, Exit};
use crate::address_space::MAX_CODE_ADDRESS;
use crate::arena::Arena;
use crate::asm::{Asm, BELOW, Mem, RCX, RSP, SCRATCH};
use crate::contexts::{CallSite, ContextId, Kind};
use crate::state::{Frame, State, TARGET};

/// Targets that are compared in turn. With more, the table is faster.
const MAX_CHAIN: u32 = 4;

/// An indirect jump or call in a context.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IndirectBranch {
    pub(super) context: ContextId,
    pub(super) site: CallSite,
    /// The number of the block that it ends.
    pub(super) block: u32,
    pub(super) return_address: Option<u64>,
}

/// An indirect branch with its code.
#[derive(Debug, Clone, Copy)]
pub(super) struct Site {
    pub(super) branch: IndirectBranch,
    /// The displacement of the jump to the first comparison.
    first: u64,
    /// The displacement of the jump behind the last comparison.
    next: u64,
    /// The comparisons until there is a table.
    chain: [Comparison; MAX_CHAIN as usize],
    /// The code for an address that is none of the targets.
    unknown: u64,
    target_count: u32,
    /// The number of the table.
    table: Option<u32>,
}

impl Engine {
    /// Writes an indirect branch, with `rcx` spilled, and the target in it.
    pub(super) fn emit_indirect(&mut self, chunk: &mut Chunk, end: &BlockEnd, return_address: Option<u64>) {
        let number = self.cached.sites.len() as u32;
        if let Some(return_address) = return_address {
            self.emit_push_return(chunk, return_address);
        }
        let mut rare = self.rare_code();
        rare.store(Mem::State(TARGET), RCX);
        rare.restore_rcx();
        rare.restore_scratch();
        self.emit_exit(&mut rare, Exit::Indirect { site: number });
        let unknown = self.arena.add_rare_code(rare.bytes());
        let next = chunk.asm.replaceable_jump(unknown);
        let branch =
            IndirectBranch { context: end.context, site: end.site, block: end.number, return_address };
        let chain = [Comparison::default(); MAX_CHAIN as usize];
        self.cached.sites.push(Site {
            branch,
            first: next,
            next,
            chain,
            unknown,
            target_count: 0,
            table: None,
        });
    }

    /// Goes on with an indirect branch to an address that its site does not know.
    pub(super) fn indirect(&mut self, state: &mut State, number: u32) {
        let site = self.cached.sites[number as usize];
        let target = state.target;
        if target > MAX_CODE_ADDRESS {
            // A comparison has 32 bits.
            return self.indirect_now(state, site.branch);
        }
        let Some(transfer) = self.indirect_transfer(state, site.branch) else { return };
        // Flags that the code there does not read may change.
        let is_free = self.flags_needed_at(target) == 0;
        let of_stub = match &transfer {
            Transfer::Call(plan) => self.call_of_stub(state, site.branch, plan),
            Transfer::Jump | Transfer::Watched(_) => None,
        };
        let mut chunk = self.chunk();
        let asm = &mut chunk.asm;
        let start = asm.here();
        asm.lea(RCX, RCX, (target as i32).wrapping_neg());
        let is_equal = asm.jump_if_rcx_is_zero();
        asm.lea(RCX, RCX, target as i32);
        let next = asm.replaceable_jump(site.unknown);
        asm.land(is_equal);
        let found = asm.here();
        if let Some((stub, plan)) = of_stub {
            let others = self.emit_call_of_stub(&mut chunk, &stub, &plan);
            others.into_iter().for_each(|jump| chunk.asm.land_here(jump));
        }
        let is_counted = !matches!(self.contexts.kind(site.branch.context), Kind::Uncounted);
        if is_counted
            && site.branch.return_address.is_none()
            && !self.is_local(site.branch.site.address, target)
        {
            emit_look_at_stack(&mut chunk.asm, target, site.unknown, is_free);
        }
        match transfer {
            Transfer::Call(plan) => self.emit_call(&mut chunk, &plan, true),
            Transfer::Jump | Transfer::Watched(_) => {
                chunk.asm.restore_rcx();
                chunk.asm.restore_scratch();
                if matches!(transfer, Transfer::Jump) {
                    let counted = self.indirect_jump(site.branch, target);
                    Engine::emit_jump_count(&mut chunk, counted);
                }
                self.emit_transfer(&mut chunk, Entrance::new(target, site.branch.context), &transfer);
            }
        }
        self.add_chunk(chunk);
        // Registers are as behind the comparison.
        state.spill0 = state.gpr[1];
        state.resume = found;
        self.cached.sites_of_targets.insert((target, number));
        let comparison = Comparison::new(target, start, next);
        if site.target_count < MAX_CHAIN {
            Arena::patch(site.next, crate::asm::displacement(site.next, start));
            let site = &mut self.cached.sites[number as usize];
            site.chain[site.target_count as usize] = comparison;
            site.next = next;
        } else {
            let table = site.table.unwrap_or_else(|| self.chain_as_table(number));
            self.add_to_table(table, comparison, site.unknown);
        }
        self.cached.sites[number as usize].target_count += 1;
    }

    /// Goes on with an indirect branch once, in what has become of its context.
    pub(super) fn indirect_now(&mut self, state: &mut State, branch: IndirectBranch) {
        let context = self.context_now(state, branch.site.address, branch.context);
        self.indirect_once(state, IndirectBranch { context, ..branch });
    }

    /// Goes on with an indirect branch once.
    fn indirect_once(&mut self, state: &mut State, branch: IndirectBranch) {
        let target = state.target;
        let context = match self.indirect_transfer(state, branch) {
            Some(Transfer::Jump) => {
                self.count_indirect_jump(state, branch, target);
                branch.context
            }
            Some(Transfer::Call(plan)) => self.push(state, &plan),
            Some(Transfer::Watched(call)) => self.watched_call(state, call),
            None => return,
        };
        self.go_to(state, target, context);
    }

    /// Decides what an indirect branch is. `None` if it has left calls, and the program goes on.
    fn indirect_transfer(&mut self, state: &mut State, branch: IndirectBranch) -> Option<Transfer> {
        let IndirectBranch { context, site, return_address, .. } = branch;
        let target = state.target;
        let is_counted = !matches!(self.contexts.kind(context), Kind::Uncounted);
        if is_counted && return_address.is_none() && self.jump_out(state, context, target) {
            return None;
        }
        Some(self.transfer(context, site, target, return_address))
    }

    /// Makes the chain of a site a table.
    fn chain_as_table(&mut self, number: u32) -> u32 {
        let Site { chain, first, unknown, .. } = self.cached.sites[number as usize];
        let (table, code) = self.add_target_table(0, unknown);
        // From the last one on: each leads to those behind it until it is in the table.
        for comparison in chain.into_iter().rev() {
            self.add_to_table(table, comparison, unknown);
        }
        Arena::patch(first, crate::asm::displacement(first, code));
        self.cached.sites[number as usize].table = Some(table);
        table
    }

    /// Forgets targets of indirect branches in a range, where another object can be mapped: they lead to functions of the one before.
    pub(super) fn forget_targets(&mut self, range: Range<u64>) {
        let known = self.cached.sites_of_targets.range((range.start, 0)..(range.end, 0));
        let known: Vec<(u64, u32)> = known.copied().collect();
        for (target, number) in known {
            self.cached.sites_of_targets.remove(&(target, number));
            let site = &mut self.cached.sites[number as usize];
            if let Some(table) = site.table {
                let unknown = site.unknown;
                self.forget_target(table, target, unknown);
            } else {
                Arena::patch(site.first, crate::asm::displacement(site.first, site.unknown));
                site.next = site.first;
                site.target_count = 0;
            }
        }
    }

    /// `true` if a jump stays in its function, and so leaves no call.
    fn is_local(&self, site: u64, target: u64) -> bool {
        let function = |address| self.objects.symbol(address).map(|(object, symbol)| (object, symbol.start));
        function(site).is_some_and(|own| function(target) == Some(own))
    }
}

/// Writes a look at the stack pointer: after a long jump and its like, it is above that of the last call. Then the code at `odd` goes on,
/// with the target in `rcx`.
fn emit_look_at_stack(asm: &mut Asm, target: u64, odd: u64, is_free: bool) {
    asm.load_shadow(SCRATCH);
    if is_free {
        asm.set(RCX, target as u32);
        asm.compare(Mem::Base(SCRATCH, -Frame::BYTES), RSP);
        asm.jump_if(BELOW, odd);
        return;
    }
    let is_below = asm.jump_unless_stack_is_above(0);
    asm.set(RCX, target as u32);
    asm.jump(odd);
    asm.land(is_below);
}
