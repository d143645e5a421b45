//! Calls and returns: the shadow stack, and what edges cost.
//!
//! A frame of the shadow stack has the stack pointer behind the call, the code that a return goes on with, and the cost at the call. A
//! return whose stack pointer is that of the top frame jumps to this code, which checks the return address and adds the cost since the
//! call to the edge. Any other return is decided by the engine.

use super::chunk::Chunk;
use super::signals::HANDLER_EDGE;
use super::transfer::{CallPlan, Entry, Transfer, WatchedCall};
use super::trigger::Trigger;
use super::{Engine, Exit};
use crate::asm::{Asm, Mem, RCX, RDX, RSP};
use crate::choices::Choices;
use crate::contexts::{CallSite, Callee, ChainId, ContextId, EdgeId, Function, FunctionId, Kind, Running};
use crate::memory;
use crate::state::{Frame, SHADOW, SPILL0, SPILL1, State};

impl Engine {
    /// Returns what is called at an address.
    fn callee(&mut self, address: u64) -> Callee {
        match self.contexts.callee(address, &self.objects, &mut self.arena, &self.options.choices) {
            Some(callee) => callee,
            None => self.out_of_memory(),
        }
    }

    /// Returns the context of code that is entered from nowhere.
    pub(super) fn root_context(&mut self, state: &State, address: u64) -> ContextId {
        self.root_context_on(state, address, |_, _| 1)
    }

    /// Returns the context of code that went on until it is followed again: a level of recursion if its function is active already.
    pub(super) fn resumed_context(&mut self, state: &State, address: u64) -> ContextId {
        self.root_context_on(state, address, |engine, function| engine.level(state, function))
    }

    fn root_context_on(
        &mut self,
        state: &State,
        address: u64,
        level: impl FnOnce(&Engine, FunctionId) -> u32,
    ) -> ContextId {
        if !self.is_counted {
            return self.contexts.context(Kind::Uncounted);
        }
        let function = self.function_at(address);
        let (level, callers) = (level(self, function), ChainId(0));
        self.contexts.context(Kind::Function(Running { function, level, callers, collects: state.collects }))
    }

    /// Returns the function at an address, also if it is skipped.
    fn function_at(&mut self, address: u64) -> FunctionId {
        let callee = match self.callee(address) {
            Callee::Stubs => {
                let choices = Choices { skips_stubs: false, ..Choices::default() };
                self.contexts.callee(address, &self.objects, &mut self.arena, &choices)
            }
            callee => Some(callee),
        };
        match callee {
            Some(Callee::Function(function) | Callee::Skipped(function)) => function,
            Some(Callee::Stubs) | None => self.out_of_memory(),
        }
    }

    /// Returns the level of recursion of the next call of a function.
    fn level(&self, state: &State, function: FunctionId) -> u32 {
        let function = self.contexts.function(function);
        let active = function.active.of(state.own_address).saturating_add(1);
        active.min(u64::from(function.traits.levels)) as u32
    }

    /// `true` if a jump counts as a call: it leads to another object or section, or to the start of a function.
    pub(super) fn is_call(&self, site: u64, target: u64) -> bool {
        self.objects.at(site) != self.objects.at(target) || self.objects.is_entry(target)
    }

    /// Returns the mark of the last instruction of a block in its calls. Callgrind has them for each block, and does not write those of
    /// one that cost nothing. That shows where costs are collected in part.
    pub(super) fn call_site(&self, address: u64, block: u64) -> CallSite {
        let options = &self.options;
        let is_partial = !options.collects_at_start || options.choices.toggles();
        CallSite { address, block: if is_partial { block } else { 0 } }
    }

    /// Decides what a branch to an address is. A call has a return address.
    pub(super) fn transfer(
        &mut self,
        from: ContextId,
        site: CallSite,
        target: u64,
        return_address: Option<u64>,
    ) -> Transfer {
        if matches!(self.contexts.kind(from), Kind::Uncounted)
            || return_address.is_none() && !self.is_call(site.address, target)
        {
            return Transfer::Jump;
        }
        let function = match self.callee(target) {
            Callee::Stubs | Callee::Skipped(_) => {
                let (owner, owner_site) = self.contexts.owner(from);
                let to = self.contexts.context(Kind::Stubs(owner, owner_site.unwrap_or(site.address)));
                let entries = vec![self.entry(from, site, to, target, return_address)];
                return Transfer::Call(CallPlan { function: None, entries });
            }
            Callee::Function(function) => function,
        };
        let traits = self.contexts.function(function).traits;
        if traits.is_watched() {
            return Transfer::Watched(WatchedCall { from, site, target, return_address });
        }
        let mut entries = Vec::new();
        for level in 1..=traits.levels {
            let to = self.called_context(from, function, level);
            entries.push(self.entry(from, site, to, target, return_address));
        }
        Transfer::Call(CallPlan { function: Some(function), entries })
    }

    /// Returns the context of a function that a context calls.
    fn called_context(&mut self, from: ContextId, function: FunctionId, level: u32) -> ContextId {
        let callers = self.contexts.chain_below(from, function);
        let collects = self.contexts.collects(from);
        self.contexts.context(Kind::Function(Running { function, level, callers, collects }))
    }

    /// Makes a call of a function that is watched.
    pub(super) fn watched_call(&mut self, state: &mut State, call: WatchedCall) -> ContextId {
        let WatchedCall { from, site, target, return_address } = call;
        let function = match self.callee(target) {
            Callee::Function(function) | Callee::Skipped(function) => function,
            Callee::Stubs => unreachable!("stubs are not watched"),
        };
        let traits = self.contexts.function(function).traits;
        let level = self.level(state, function);
        let is_first = self.contexts.function(function).active.of(state.own_address) == 0;
        if traits.dumps_before && is_first {
            self.dump(state, &Trigger::Before(function));
        }
        if traits.toggles && is_first {
            state.collects = !state.collects;
        }
        let to = self.called_context(from, function, level);
        let to = self.contexts.with_collecting(to, state.collects);
        let Entry { edge, .. } = self.entry(from, site, to, target, return_address);
        // The end of the call is the engine's, too.
        let entry = Entry { edge, to, continuation: self.odd_return };
        self.push_entry(state, Some(function), entry);
        if traits.zeroes && is_first {
            self.zero(state, self.options.separates_threads);
        }
        to
    }

    fn entry(
        &mut self,
        from: ContextId,
        site: CallSite,
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
            let active = match self.contexts.function_of(self.contexts.get(edge).to) {
                Some(function) => self.contexts.function(function).active,
                None => unreachable!("what is skipped has no cells"),
            };
            let active = Mem::State(active.offset());
            let enter_cost = Mem::Base(RDX, 16);
            if is_free {
                asm.load_cost(RCX);
                asm.subtract(RCX, enter_cost);
                asm.add_register_to(cost, RCX);
                asm.add_to(count, 1);
                asm.add_to(active, -1);
            } else {
                // −x is the complement of x, plus 1.
                asm.load(RCX, enter_cost);
                asm.not(RCX);
                asm.load_cost(RDX);
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
        asm.load_cost(RCX);
        asm.store(Mem::Base(RDX, 16), RCX);
        asm.lea(RDX, RDX, i32::from(Frame::BYTES));
        asm.store(Mem::State(SHADOW), RDX);
        let mut entries = plan.entries.as_slice();
        if let Some(function) = plan.function {
            let active = Mem::State(self.contexts.function(function).active.offset());
            asm.add_without_flags(active, 1);
            while let [first, _, _, ..] = entries {
                let asm = &mut chunk.asm;
                asm.lea(RCX, RCX, -1);
                let is_it = asm.jump_if_rcx_is_zero();
                let behind = asm.jump(0);
                asm.land(is_it);
                self.emit_entry(chunk, *first, target);
                let here = chunk.asm.here();
                chunk.asm.replace32(behind, crate::asm::displacement(behind, here));
                entries = &entries[1..];
            }
            if let [_, last] = entries {
                let asm = &mut chunk.asm;
                asm.lea(RCX, RCX, -1);
                let is_first = asm.jump_if_rcx_is_zero();
                self.emit_entry(chunk, *last, target);
                chunk.asm.land(is_first);
            }
        }
        self.emit_entry(chunk, entries[0], target);
    }

    /// Writes a call that the engine makes, with `rcx` and `rdx` spilled and the return address pushed.
    pub(super) fn emit_watched_call(&mut self, chunk: &mut Chunk, call: WatchedCall) {
        chunk.asm.load(RCX, Mem::State(SPILL0));
        chunk.asm.load(RDX, Mem::State(SPILL1));
        self.emit_exit(&mut chunk.asm, Exit::Enter(call));
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
        let mut index = 0;
        if let Some(function) = plan.function {
            index = self.level(state, function) as usize - 1;
        }
        let entry = plan.entries[index];
        self.push_entry(state, plan.function, entry);
        entry.to
    }

    fn push_entry(&mut self, state: &mut State, function: Option<FunctionId>, entry: Entry) {
        if let Some(function) = function {
            self.contexts.function(function).active.add(state.own_address, 1);
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
    }

    /// Ends the call on top of the shadow stack, and returns its edge.
    pub(super) fn pop(&mut self, state: &mut State) -> Option<EdgeId> {
        let edge = self.end_call_on_top(state)?;
        let Some(function) = self.contexts.function_of(self.contexts.get(edge).to) else { return Some(edge) };
        let Function { traits, active, .. } = self.contexts.function(function);
        let (traits, is_last) = (*traits, active.of(state.own_address) == 0);
        if traits.toggles && is_last {
            state.collects = !state.collects;
        }
        if traits.dumps_after && is_last {
            self.dump(state, &Trigger::After(function));
        }
        Some(edge)
    }

    /// Ends the call on top of the shadow stack, without the effects of leaving its function.
    pub(super) fn end_call_on_top(&mut self, state: &mut State) -> Option<EdgeId> {
        let frame = self.top_frame(state)?;
        debug_assert_ne!(frame.edge, HANDLER_EDGE);
        state.shadow -= Frame::BYTES as u64;
        let edge = EdgeId(frame.edge);
        if let Some(cells) = self.contexts.get(edge).cells {
            cells.add(state.own_address, 1);
            cells.at(1).add(state.own_address, state.cost.wrapping_sub(frame.enter_cost));
        }
        if let Some(function) = self.contexts.function_of(self.contexts.get(edge).to) {
            self.contexts.function(function).active.add(state.own_address, u64::MAX);
        }
        Some(edge)
    }
}
