//! Calls and returns: the shadow stack, and what edges cost.
//!
//! A frame of the shadow stack has the stack pointer behind the call, the code that a return goes on with, and the cost at the call. A
//! return whose stack pointer is that of the top frame jumps to this code, which checks the return address and adds the cost since the
//! call to the edge. Any other return is decided by the engine.

use super::chunk::Chunk;
use super::signals::HANDLER_EDGE;
use super::transfer::{CallPlan, Entry, Transfer};
use super::{Engine, Exit};
use crate::asm::{Asm, Mem, RCX, RDX, RSP};
use crate::contexts::{Callee, ContextId, EdgeId, FunctionId, Kind};
use crate::memory;
use crate::state::{COST, Frame, SHADOW, SPILL0, SPILL1, State};

impl Engine {
    /// Returns what is called at an address.
    fn callee(&mut self, address: u64) -> Callee {
        let skips = self.options.skips_stubs;
        match self.contexts.callee(address, &self.objects, &mut self.arena, skips) {
            Some(callee) => callee,
            None => self.out_of_memory(),
        }
    }

    /// Returns the context of a function that is entered from nowhere.
    pub(super) fn function_context(&mut self, address: u64) -> ContextId {
        match self.callee(address) {
            Callee::Function(function) => self.contexts.context(Kind::Function(function, 1)),
            Callee::Stubs => {
                let function = self.callee_without_skipping(address);
                self.contexts.context(Kind::Function(function, 1))
            }
        }
    }

    fn callee_without_skipping(&mut self, address: u64) -> FunctionId {
        match self.contexts.callee(address, &self.objects, &mut self.arena, false) {
            Some(Callee::Function(function)) => function,
            _ => self.out_of_memory(),
        }
    }

    /// `true` if a jump counts as a call: it leads to another object or section, or to the start of a function.
    pub(super) fn is_call(&self, site: u64, target: u64) -> bool {
        self.objects.at(site) != self.objects.at(target) || self.objects.is_entry(target)
    }

    /// Decides what a branch to an address is. A call has a return address.
    pub(super) fn transfer(
        &mut self,
        from: ContextId,
        site: u64,
        target: u64,
        return_address: Option<u64>,
    ) -> Transfer {
        if return_address.is_none() && !self.is_call(site, target) {
            return Transfer::Jump;
        }
        Transfer::Call(self.call_plan(from, site, target, return_address))
    }

    pub(super) fn call_plan(
        &mut self,
        from: ContextId,
        site: u64,
        target: u64,
        return_address: Option<u64>,
    ) -> CallPlan {
        match self.callee(target) {
            Callee::Stubs => {
                let (owner, owner_site) = self.contexts.owner(from);
                let to = self.contexts.context(Kind::Stubs(owner, owner_site.unwrap_or(site)));
                let first = self.entry(from, site, to, target, return_address);
                CallPlan { function: None, first, again: None }
            }
            Callee::Function(function) => {
                let first_context = self.contexts.context(Kind::Function(function, 1));
                let first = self.entry(from, site, first_context, target, return_address);
                let again = self.options.separates_recursion.then(|| {
                    let context = self.contexts.context(Kind::Function(function, 2));
                    self.entry(from, site, context, target, return_address)
                });
                CallPlan { function: Some(function), first, again }
            }
        }
    }

    fn entry(
        &mut self,
        from: ContextId,
        site: u64,
        to: ContextId,
        target: u64,
        return_address: Option<u64>,
    ) -> Entry {
        let edge = match self.contexts.edge(from, site, to, target, return_address, &mut self.arena) {
            Some(edge) => edge,
            None => self.out_of_memory(),
        };
        Entry { edge, to, continuation: self.continuation(edge) }
    }

    /// Returns the code that a return from an edge goes on with.
    fn continuation(&mut self, edge: EdgeId) -> u64 {
        if let Some(known) = self.contexts.get(edge).continuation {
            return known;
        }
        let (from, return_address) = (self.contexts.get(edge).from, self.contexts.get(edge).return_address);
        // Flags that the caller does not read may change.
        let is_free = return_address.is_some_and(|address| self.flags_needed_at(address) == 0);
        let mut chunk = self.chunk();
        let asm = &mut chunk.asm;
        if let Some(return_address) = return_address {
            asm.load(RCX, Mem::StackTop);
            asm.lea(RCX, RCX, (return_address as i32).wrapping_neg());
            let is_expected = asm.jump_if_rcx_is_zero();
            asm.jump(self.odd_return);
            asm.land(is_expected);
        }
        asm.load(RDX, Mem::State(SHADOW));
        asm.lea(RDX, RDX, -i32::from(Frame::BYTES));
        asm.store(Mem::State(SHADOW), RDX);
        if let Some(cells) = self.contexts.get(edge).cells {
            let (count, cost) = (Mem::State(cells.offset()), Mem::State(cells.at(1).offset()));
            let active = match self.contexts.kind(self.contexts.get(edge).to) {
                Kind::Function(function, _) => self.contexts.function(function).active,
                Kind::Stubs(..) => unreachable!("stubs have no cells"),
            };
            let active = Mem::State(active.offset());
            let enter_cost = Mem::Base(RDX, 16);
            if is_free {
                asm.load(RCX, Mem::State(COST));
                asm.subtract(RCX, enter_cost);
                asm.add_register_to(cost, RCX);
                asm.add_to(count, 1);
                asm.add_to(active, -1);
            } else {
                // −x is the complement of x, plus 1.
                asm.load(RCX, enter_cost);
                asm.not(RCX);
                asm.load(RDX, Mem::State(COST));
                asm.lea_sum(RCX, RCX, RDX, 1);
                asm.load(RDX, cost);
                asm.lea_sum(RDX, RDX, RCX, 0);
                asm.store(cost, RDX);
                asm.add_without_flags(count, 1);
                asm.add_without_flags(active, -1);
            }
        }
        match return_address {
            Some(return_address) => {
                asm.lea(RSP, RSP, 8);
                asm.load(RCX, Mem::State(SPILL0));
                asm.load(RDX, Mem::State(SPILL1));
                self.emit_go(&mut chunk, return_address, from);
            }
            // A jump was the last thing that its function did: the return is also its own.
            None => self.emit_return(asm),
        }
        let code = self.add_chunk(chunk);
        self.contexts.get_mut(edge).continuation = Some(code);
        code
    }

    /// Writes the code for a return that is not that of the last call.
    pub(super) fn odd_return_code(&mut self) -> u64 {
        let mut chunk = self.chunk();
        chunk.asm.load(RCX, Mem::State(SPILL0));
        chunk.asm.load(RDX, Mem::State(SPILL1));
        self.emit_exit(&mut chunk.asm, Exit::Return);
        self.add_chunk(chunk)
    }

    /// Writes a return, with `rcx` and `rdx` spilled.
    pub(super) fn emit_return(&self, asm: &mut Asm) {
        let frame = -Frame::BYTES;
        asm.load(RDX, Mem::State(SHADOW));
        asm.load(RCX, Mem::Base(RDX, frame));
        asm.lea_sum(RCX, RSP, RCX, 1);
        let is_expected = asm.jump_if_rcx_is_zero();
        asm.jump(self.odd_return);
        asm.land(is_expected);
        asm.jump_through(RDX, frame + 8);
    }

    /// Writes the push of a return address, with `rcx` spilled.
    pub(super) fn emit_push_return(&self, chunk: &mut Chunk, return_address: u64) {
        chunk.asm.push_value(return_address as i32);
    }

    /// Writes a call, with `rcx` and `rdx` spilled and the return address pushed.
    pub(super) fn emit_call(&self, chunk: &mut Chunk, plan: &CallPlan, target: u64) {
        let asm = &mut chunk.asm;
        asm.load(RDX, Mem::State(SHADOW));
        asm.copy(RCX, RSP);
        asm.not(RCX);
        asm.store(Mem::Base(RDX, 0), RCX);
        asm.load(RCX, Mem::State(COST));
        asm.store(Mem::Base(RDX, 16), RCX);
        asm.lea(RDX, RDX, i32::from(Frame::BYTES));
        asm.store(Mem::State(SHADOW), RDX);
        if let Some(function) = plan.function {
            let active = Mem::State(self.contexts.function(function).active.offset());
            asm.add_without_flags(active, 1);
            if let Some(again) = plan.again {
                asm.lea(RCX, RCX, -1);
                let is_first = asm.jump_if_rcx_is_zero();
                self.emit_entry(chunk, again, target);
                chunk.asm.land(is_first);
            }
        }
        self.emit_entry(chunk, plan.first, target);
    }

    fn emit_entry(&self, chunk: &mut Chunk, entry: Entry, target: u64) {
        let frame = -Frame::BYTES;
        let asm = &mut chunk.asm;
        asm.store_value(Mem::Base(RDX, frame + 8), entry.continuation as i32);
        asm.store32(RDX, frame + 24, entry.edge.0);
        asm.load(RCX, Mem::State(SPILL0));
        asm.load(RDX, Mem::State(SPILL1));
        self.emit_go(chunk, target, entry.to);
    }

    /// Makes a call, and returns the context that is entered.
    pub(super) fn push(&mut self, state: &mut State, plan: &CallPlan) -> ContextId {
        let mut entry = plan.first;
        if let Some(function) = plan.function {
            let active = self.contexts.function(function).active;
            if active.of(state.own_address) > 0 {
                entry = plan.again.unwrap_or(entry);
            }
            active.add(state.own_address, 1);
        }
        let frame = Frame {
            inverse_sp: !state.gpr[4],
            continuation: entry.continuation,
            enter_cost: state.cost,
            edge: entry.edge.0,
            unused: 0,
        };
        memory::set_frame(state.first_frame, state.frame_count(), frame);
        state.shadow += Frame::BYTES as u64;
        entry.to
    }

    /// Ends the call on top of the shadow stack, and returns its edge.
    pub(super) fn pop(&mut self, state: &mut State) -> Option<EdgeId> {
        let frame = self.top_frame(state)?;
        debug_assert_ne!(frame.edge, HANDLER_EDGE);
        state.shadow -= Frame::BYTES as u64;
        let edge = EdgeId(frame.edge);
        if let Some(cells) = self.contexts.get(edge).cells {
            cells.add(state.own_address, 1);
            cells.at(1).add(state.own_address, state.cost.wrapping_sub(frame.enter_cost));
        }
        if let Kind::Function(function, _) = self.contexts.kind(self.contexts.get(edge).to) {
            self.contexts.function(function).active.add(state.own_address, u64::MAX);
        }
        Some(edge)
    }
}
