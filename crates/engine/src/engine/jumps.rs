//! Returns and jumps that leave calls: long jumps, exceptions, switches of stacks.

use super::Engine;
use super::signals::HANDLER_EDGE;
use super::transfer::{BranchKind, DirectBranch, Transfer};
use crate::contexts::{CallSite, ContextId, Kind};
use crate::memory;
use crate::state::{Frame, State};

impl Engine {
    /// Returns the context that runs.
    pub(super) fn current(&self, state: &State) -> ContextId {
        match self.top_frame(state) {
            Some(frame) if frame.edge == HANDLER_EDGE => {
                state.levels.last().map_or(state.root, |level| level.root)
            }
            Some(frame) => self.contexts.get(crate::contexts::EdgeId(frame.edge)).to,
            None => state.root,
        }
    }

    /// Ends all calls whose stack is above the stack pointer. Returns the context that made the last of them.
    pub(super) fn unwind(&mut self, state: &mut State) -> Option<ContextId> {
        let sp = state.gpr[4];
        let mut context = None;
        while let Some(frame) = self.top_frame(state).filter(|frame| frame.sp < sp) {
            if frame.edge == HANDLER_EDGE {
                context = self.pop_handler(state);
            } else {
                let edge = self.pop(state);
                context = edge.map(|edge| self.contexts.get(edge).from);
            }
        }
        context
    }

    /// Goes on behind an instruction that the engine runs. Calls can have ended before it without a return.
    pub(super) fn go_behind(&mut self, state: &mut State, next: u64, context: ContextId) {
        let is_counted = !matches!(self.contexts.kind(context), Kind::Uncounted);
        let left = if is_counted { self.unwind(state) } else { None };
        self.go_to(state, next, left.unwrap_or(context));
    }

    /// Goes on with a branch where calls have ended without a return.
    pub(super) fn unwind_at(&mut self, state: &mut State, branch: DirectBranch) {
        let is_call = branch.kind == BranchKind::Call;
        let pushed = if is_call { 8 } else { 0 };
        state.gpr[4] = state.gpr[4].wrapping_add(pushed);
        let context = self.unwind(state).unwrap_or(branch.context);
        state.gpr[4] = state.gpr[4].wrapping_sub(pushed);
        let context = self.context_now(state, branch.site.address, context);
        let target = branch.destination(state);
        self.count_branch(state, &branch, target);
        if is_call {
            let transfer = self.transfer(context, branch.site, target, Some(branch.next));
            self.take(state, context, transfer, target);
        } else {
            self.go_to(state, target, context);
        }
    }

    /// Goes on after a return that is not that of the last call.
    pub(super) fn odd_return(&mut self, state: &mut State, bytes: u16) {
        let Some(target) = memory::read(&self.space, state.gpr[4]) else {
            let message = format!("the program returns with a stack pointer of {:#x}", state.gpr[4]);
            self.stop(state, &message);
        };
        if let Some(count) = self.frames_of_handler(state) {
            while state.frame_count() > count {
                self.pop(state);
            }
            // The code that ends a handler belongs to it.
            let context = self.root_context(state, target);
            state.gpr[4] = state.gpr[4].wrapping_add(8);
            self.go_to(state, target, context);
            return;
        }
        let is_empty = self.top_frame(state).is_none();
        let before = self.current(state);
        state.gpr[4] = state.gpr[4].wrapping_add(8 + u64::from(bytes));
        match self.unwind(state) {
            Some(context) => self.go_to(state, target, context),
            None if is_empty => self.return_from_root(state, before, target),
            None => {
                // A switch to another stack: what runs there is no part of the function that switches.
                let site = self.start_of(before);
                let transfer = self.transfer_as_call(before, site.into(), target, None);
                self.take(state, before, transfer, target);
            }
        }
    }

    /// Returns how many frames there are up to that of a handler, if this is its return. A jump that counts as a call can have been the last
    /// thing that it did.
    fn frames_of_handler(&self, state: &State) -> Option<u64> {
        let sp = state.gpr[4];
        let frames =
            (0..state.frame_count()).rev().map(|index| (index, memory::frame(state.first_frame, index)));
        let mut ended = frames.skip_while(|(_, frame)| frame.edge != HANDLER_EDGE && frame.sp <= sp);
        let (index, frame) = ended.next()?;
        (frame.edge == HANDLER_EDGE && frame.sp == sp).then_some(index + 1)
    }

    /// Returns an address that stands for a context.
    fn start_of(&self, context: ContextId) -> u64 {
        match self.contexts.kind(context) {
            Kind::Stubs(_, site) => site,
            Kind::Function(running) => self.contexts.function(running.function).start,
            Kind::Uncounted => 0,
        }
    }

    /// Goes on with a jump from a context, which may count as a call.
    pub(super) fn jump(&mut self, state: &mut State, context: ContextId, site: CallSite, target: u64) {
        let transfer = self.transfer(context, site, target, None);
        self.take(state, context, transfer, target);
    }

    /// Goes on with a branch from a context.
    pub(super) fn take(&mut self, state: &mut State, context: ContextId, transfer: Transfer, target: u64) {
        let context = match transfer {
            Transfer::Jump => context,
            Transfer::Call(plan) => self.push(state, &plan),
            Transfer::Watched(call) => self.watched_call(state, call),
        };
        self.go_to(state, target, context);
    }

    /// Goes on with an indirect jump that leaves calls. `false` if it leaves none.
    pub(super) fn jump_out(&mut self, state: &mut State, context: ContextId, target: u64) -> bool {
        let is_resolver = |engine: &Engine, context: ContextId| {
            let function = engine.contexts.function_of(context);
            function.is_some_and(|function| engine.contexts.function(function).is_resolver)
        };
        if !is_resolver(self, context) {
            let context = self.unwind(state);
            if let Some(context) = context {
                self.go_to(state, target, context);
            }
            return context.is_some();
        }
        // The resolver of the dynamic linker jumps to the function that the stub is to call: it returns, and the stub's caller calls.
        let sp = state.gpr[4];
        while self.top_frame(state).is_some_and(|frame| frame.edge != HANDLER_EDGE)
            && let Some(edge) = self.pop(state)
        {
            let (from, site) = (self.contexts.get(edge).from, self.contexts.get(edge).site);
            let was_resolver = is_resolver(self, self.contexts.get(edge).to);
            if was_resolver {
                let count = state.frame_count();
                self.jump(state, from, site, target);
                if let Some(frame) = self.top_frame(state).filter(|_| state.frame_count() > count) {
                    memory::set_frame(state.first_frame, count, Frame { sp, ..frame });
                }
                return true;
            }
        }
        false
    }
}
