//! Calls and returns: the shadow stack, and what edges cost.
//!
//! A frame of the shadow stack has the stack pointer behind the call, the code that a return goes on with, and the cost at the call. A
//! return jumps to the code of the top frame, which compares the stack pointer and the return address with those of the call, and adds the
//! cost since the call to the edge. If one differs, as after a long jump or a switch of stacks, the engine decides. Below the first frame
//! is one that belongs to no call and leads to the engine.
//!
//! A signal can come within all that. As its handler waits until an instruction of the program begins, it sees a call or a return as a
//! whole, with all registers restored. Each thread has a shadow stack and counters of its own.

use super::branches::IndirectBranch;
use super::chunk::Chunk;
use super::signals::HANDLER_EDGE;
use super::transfer::{CallPlan, Entry, PlannedCall, Transfer};
use super::trigger::Trigger;
use super::{Engine, Entrance, Exit};
use crate::address_space::MAX_CODE_ADDRESS;
use crate::asm::{Asm, Mem, NOT_EQUAL, RCX, RSP, SCRATCH};
use crate::choices::Choices;
use crate::contexts::{
    CallSite, Callee, ChainId, ContextId, Edge, EdgeId, Function, FunctionId, Kind, Running,
};
use crate::memory;
use crate::state::{EDGE_IN_FRAME, FIRST_FRAME, Frame, State};

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
        match return_address.is_some() || self.is_call(site.address, target) {
            true => self.transfer_as_call(from, site, target, return_address),
            false => Transfer::Jump,
        }
    }

    /// Decides what a branch to an address is that counts as a call, unless nothing is counted.
    pub(super) fn transfer_as_call(
        &mut self,
        from: ContextId,
        site: CallSite,
        target: u64,
        return_address: Option<u64>,
    ) -> Transfer {
        if matches!(self.contexts.kind(from), Kind::Uncounted) {
            return Transfer::Jump;
        }
        let call = PlannedCall { from, site, target, return_address };
        let function = match self.callee(target) {
            Callee::Stubs | Callee::Skipped(_) => {
                let (owner, owner_site) = self.contexts.owner(from);
                let to = self.contexts.context(Kind::Stubs(owner, owner_site.unwrap_or(site.address)));
                let first = self.entry(call, to);
                return Transfer::Call(CallPlan { call, function: None, first });
            }
            Callee::Function(function) => function,
        };
        if self.contexts.function(function).traits.is_watched() {
            return Transfer::Watched(call);
        }
        let first = self.entry_on_level(call, function, 1);
        Transfer::Call(CallPlan { call, function: Some(function), first })
    }

    /// Returns the context of a function that a context calls.
    pub(super) fn called_context(&mut self, from: ContextId, function: FunctionId, level: u32) -> ContextId {
        let callers = self.contexts.chain_below(from, function);
        let collects = self.contexts.collects(from);
        self.contexts.context(Kind::Function(Running { function, level, callers, collects }))
    }

    /// Returns the function of a call, which is not that of a stub: it is watched, or has levels.
    pub(super) fn called_function(&mut self, call: PlannedCall) -> FunctionId {
        match self.callee(call.target) {
            Callee::Function(function) | Callee::Skipped(function) => function,
            Callee::Stubs => unreachable!("stubs are not watched, and have no levels"),
        }
    }

    /// Makes a call of a function that is watched.
    pub(super) fn watched_call(&mut self, state: &mut State, call: PlannedCall) -> ContextId {
        let function = self.called_function(call);
        let traits = self.contexts.function(function).traits;
        let level = self.level(state, function);
        let is_first = self.contexts.function(function).active.of(state.own_address) == 0;
        if traits.dumps_before && is_first {
            self.dump(state, &Trigger::Before(function));
        }
        if traits.toggles && is_first {
            state.collects = !state.collects;
        }
        let to = self.called_context(call.from, function, level);
        let to = self.contexts.with_collecting(to, state.collects);
        let Entry { edge, .. } = self.entry(call, to);
        // The end of the call is the engine's, too.
        let entry = Entry { edge, to, continuation: self.odd_return };
        self.push_entry(state, entry);
        // What was written is zero.
        if traits.zeroes && is_first && !traits.dumps_before {
            self.zero(state, self.options.separates_threads);
        }
        to
    }

    /// Returns a call as one of a context.
    pub(super) fn entry(&mut self, call: PlannedCall, to: ContextId) -> Entry {
        let PlannedCall { from, site, target, return_address } = call;
        let edge = match self.contexts.edge(from, site, to, target, return_address, &mut self.arena) {
            Some(edge) => edge,
            None => self.out_of_memory(),
        };
        // A comparison of a return address has 32 bits.
        let is_far = return_address.is_some_and(|address| address > MAX_CODE_ADDRESS);
        let continuation = if is_far { self.odd_return } else { self.continuation(edge) };
        Entry { edge, to, continuation }
    }

    /// Returns the code that a return from an edge goes on with. It begins with the end of the shadow stack in the scratch register. Before it
    /// is the number of the edge.
    fn continuation(&mut self, edge: EdgeId) -> u64 {
        if let Some(known) = self.contexts.get(edge).continuation {
            return known;
        }
        let (from, return_address) = (self.contexts.get(edge).from, self.contexts.get(edge).return_address);
        // Flags that the caller does not read may change.
        let is_free = return_address.is_some_and(|address| self.flags_needed_at(address) == 0);
        let Some(place) = self.arena.return_address() else { self.out_of_memory() };
        let mut chunk = Chunk { asm: Asm::new(place, self.hot_place) };
        let asm = &mut chunk.asm;
        let odd = asm.here();
        if is_free {
            asm.jump(self.odd_return_of_changed_flags);
        }
        asm.raw(&edge.0.to_le_bytes());
        let code = asm.here();
        let sp = Mem::Base(SCRATCH, -Frame::BYTES);
        if is_free {
            asm.compare(sp, RSP);
            asm.jump_back_if(NOT_EQUAL, odd);
            if let Some(return_address) = return_address {
                asm.compare_with(Mem::StackTop, return_address as i32);
                asm.jump_back_if(NOT_EQUAL, odd);
            }
        } else {
            asm.spill_rcx();
            asm.load(RCX, sp);
            asm.not(RCX);
            asm.lea_sum(RCX, RSP, RCX, 1);
            let is_expected = asm.jump_if_rcx_is_zero();
            let odd = asm.here();
            asm.restore_rcx();
            asm.jump(self.odd_return);
            asm.land(is_expected);
            if let Some(return_address) = return_address {
                asm.load(RCX, Mem::StackTop);
                asm.lea(RCX, RCX, (return_address as i32).wrapping_neg());
                let is_expected = asm.jump_if_rcx_is_zero();
                asm.jump(odd);
                asm.land(is_expected);
            }
        }
        let changes_rcx = !is_free || !asm.has_vectors();
        if is_free && changes_rcx {
            asm.spill_rcx();
        }
        asm.remove_frame();
        if let Some(cells) = self.contexts.get(edge).cells {
            asm.add_call(cells.cost().offset(), 16 - Frame::BYTES, !is_free);
            self.emit_active(asm, self.contexts.get(edge).to, false);
        }
        if changes_rcx {
            asm.restore_rcx();
        }
        match return_address {
            Some(return_address) => {
                asm.pop(SCRATCH);
                asm.restore_scratch();
                self.emit_go(&mut chunk, Entrance::new(return_address, from));
            }
            // A jump was the last thing that its function did: the return is also its own.
            None => self.emit_return(asm),
        }
        self.arena.add_return(chunk.asm.bytes());
        self.contexts.get_mut(edge).continuation = Some(code);
        code
    }

    /// Writes the code for a return that is not that of the last call.
    pub(super) fn odd_return_code(&mut self) -> u64 {
        let mut chunk = self.chunk();
        chunk.asm.raw(&EDGE_IN_FRAME.to_le_bytes());
        let code = chunk.asm.here();
        chunk.asm.restore_scratch();
        self.emit_exit(&mut chunk.asm, Exit::Return);
        self.add_chunk(chunk);
        code
    }

    /// Writes the code for such a return if a comparison has changed the flags: those of a return that took some along are needed.
    pub(super) fn odd_return_code_of_changed_flags(&mut self) -> u64 {
        let mut chunk = self.chunk();
        chunk.asm.restore_returned_flags();
        chunk.asm.jump(self.odd_return);
        self.add_chunk(chunk)
    }

    /// Writes a return.
    pub(super) fn emit_return(&self, asm: &mut Asm) {
        asm.load_shadow(SCRATCH);
        asm.jump_through(SCRATCH, 8 - Frame::BYTES);
    }

    /// Writes the push of a return address.
    pub(super) fn emit_push_return(&self, chunk: &mut Chunk, return_address: u64) {
        chunk.asm.push_value(return_address as i32);
        if return_address > MAX_CODE_ADDRESS {
            chunk.asm.set_upper_half_of_top((return_address >> 32) as u32);
        }
    }

    /// Writes a call with the return address pushed, and `rcx` spilled or not.
    pub(super) fn emit_call(&mut self, chunk: &mut Chunk, plan: &CallPlan, is_rcx_spilled: bool) {
        let is_rcx_spilled = self.emit_comparison_of_level(chunk, plan, is_rcx_spilled);
        self.emit_entry(chunk, plan.first, plan.call.target, is_rcx_spilled);
    }

    /// Writes a call of a context.
    pub(super) fn emit_entry(&mut self, chunk: &mut Chunk, entry: Entry, target: u64, is_rcx_spilled: bool) {
        let is_jump = self.is_jump(entry.edge);
        let asm = &mut chunk.asm;
        let changes_rcx = is_rcx_spilled || is_jump || !asm.has_vectors();
        if changes_rcx && !is_rcx_spilled {
            asm.spill_rcx();
        }
        if is_jump {
            emit_stack_of_jump(asm);
        }
        asm.load_cost();
        asm.load_shadow(SCRATCH);
        if !is_jump {
            asm.store(Mem::Base(SCRATCH, 0), RSP);
        }
        asm.store_cost(16);
        asm.add_frame();
        self.emit_rest_of_entry(chunk, entry, target, changes_rcx);
    }

    /// Writes the rest of a call, and restores registers.
    fn emit_rest_of_entry(&mut self, chunk: &mut Chunk, entry: Entry, target: u64, changes_rcx: bool) {
        let asm = &mut chunk.asm;
        asm.store_value(Mem::Base(SCRATCH, 8), entry.continuation as i32);
        if entry.continuation == self.odd_return {
            // It is not counted yet.
            asm.store_value(Mem::Base(SCRATCH, 24), entry.edge.0 as i32);
        }
        self.emit_active(asm, entry.to, true);
        if changes_rcx {
            asm.restore_rcx();
        }
        asm.restore_scratch();
        self.emit_go(chunk, Entrance::new(target, entry.to));
    }

    /// Writes the jump of a stub to a function as the call of that by what has called the stub: the frame of the stub becomes that of the
    /// function, and so one return ends both. `rcx` is spilled, and no flags are needed. Returns the displacements of jumps that are taken,
    /// with that register lost, if the frame on top is not that of the stub, or the function runs already.
    pub(super) fn emit_call_of_stub(&mut self, chunk: &mut Chunk, stub: &Entry, plan: &CallPlan) -> Vec<u64> {
        let asm = &mut chunk.asm;
        asm.load_cost();
        asm.load_shadow(SCRATCH);
        asm.lea(SCRATCH, SCRATCH, -i32::from(Frame::BYTES));
        asm.compare(Mem::Base(SCRATCH, 0), RSP);
        let mut others = vec![asm.jump_if(NOT_EQUAL, 0)];
        asm.compare_with(Mem::Base(SCRATCH, 8), stub.continuation as i32);
        others.push(asm.jump_if(NOT_EQUAL, 0));
        if let Some(active) = self.active_of(plan) {
            asm.compare_byte_with(active, 0);
            others.push(asm.jump_if(NOT_EQUAL, 0));
        }
        asm.store_cost(16);
        self.emit_rest_of_entry(chunk, plan.first, plan.call.target, true);
        others
    }

    /// Returns the call of a function by what has called a stub, if a branch is the jump of that, and the edge of the stub.
    pub(super) fn call_of_stub(
        &mut self,
        state: &State,
        branch: IndirectBranch,
        plan: &CallPlan,
    ) -> Option<(Entry, CallPlan)> {
        let frame = self.top_frame(state).filter(|frame| frame.edge != HANDLER_EDGE)?;
        let edge = EdgeId(frame.edge);
        let Edge { from, site, to, return_address, .. } = *self.contexts.get(edge);
        let is_its_jump = to == branch.context
            && branch.return_address.is_none()
            && frame.sp == state.gpr[4]
            && self.contexts.kind(to) == Kind::Stubs(from, site.address);
        if !is_its_jump
            || return_address.is_none_or(|address| address > MAX_CODE_ADDRESS)
            || self.flags_needed_at(state.target) != 0
        {
            return None;
        }
        let stub = Entry { edge, to, continuation: self.continuation(edge) };
        let site = CallSite { address: site.address, block: branch.site.block };
        let call = PlannedCall { from, site, target: state.target, return_address };
        let first = self.entry(call, plan.first.to);
        Some((stub, CallPlan { call, function: Some(plan.function?), first }))
    }

    /// Makes a call, and returns the context that is entered.
    pub(super) fn push(&mut self, state: &mut State, plan: &CallPlan) -> ContextId {
        let entry = match plan.function {
            Some(function) => self.entry_on_level(plan.call, function, self.level(state, function)),
            None => plan.first,
        };
        self.push_entry(state, entry);
        entry.to
    }

    /// `true` if an edge is that of a jump which counts as a call. Under Callgrind, such a call ends with the one that the jump is in: a part
    /// of a function that is apart from the others takes the space of its calls off the stack, and may end with a jump.
    fn is_jump(&self, edge: EdgeId) -> bool {
        self.contexts.get(edge).return_address.is_none()
    }

    fn push_entry(&mut self, state: &mut State, entry: Entry) {
        self.contexts.enter(entry.to, state.own_address);
        let of_jump = self.top_frame(state).filter(|_| self.is_jump(entry.edge));
        let frame = Frame {
            sp: of_jump.map_or(state.gpr[4], |frame| frame.sp),
            continuation: entry.continuation,
            enter_cost: state.cost,
            edge: entry.edge.0,
            is_counted: 0,
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
            cells.add(state.own_address, 1, state.cost.wrapping_sub(frame.enter_cost));
        }
        self.contexts.leave(self.contexts.get(edge).to, state.own_address);
        Some(edge)
    }
}

/// Writes the stack pointer of the frame for a jump that counts as a call: that of the frame below, if there is one. Changes `rcx` and the
/// scratch register, and no flags.
fn emit_stack_of_jump(asm: &mut Asm) {
    asm.load_shadow(SCRATCH);
    // Less the first frame.
    asm.load(RCX, Mem::State(FIRST_FRAME));
    asm.not(RCX);
    asm.lea_sum(RCX, RCX, SCRATCH, 1);
    let is_first = asm.jump_if_rcx_is_zero();
    asm.load(RCX, Mem::Base(SCRATCH, -Frame::BYTES));
    asm.store(Mem::Base(SCRATCH, 0), RCX);
    let done = asm.jump(0);
    asm.land(is_first);
    asm.store(Mem::Base(SCRATCH, 0), RSP);
    asm.land_here(done);
}
