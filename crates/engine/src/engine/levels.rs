//! Levels of recursion: a function that runs already is called in another context.
//!
//! Translated code compares how many of its calls have not returned with 0, and is the call of the first level. Few calls are ever on another
//! one, so the code for that is written when the first of them is made, away from the other code.

use super::chunk::{Chunk, Patch};
use super::transfer::{CallPlan, Entry, PlannedCall};
use super::{Engine, Exit};
use crate::arena::Arena;
use crate::asm::{Asm, NOT_EQUAL, RCX, displacement};
use crate::contexts::{ContextId, Function, FunctionId, Kind, Running};
use crate::state::State;

/// The length of a comparison of a byte with its conditional jump, up to the displacement.
const COMPARISON_BYTES: usize = 9 + 2;

impl Engine {
    /// Returns the level of recursion of the next call of a function.
    pub(super) fn level(&self, state: &State, function: FunctionId) -> u32 {
        let function = self.contexts.function(function);
        let active = function.active.of(state.own_address).saturating_add(1);
        active.min(u64::from(function.traits.levels)) as u32
    }

    /// Returns a call of a function on a level.
    pub(super) fn entry_on_level(&mut self, call: PlannedCall, function: FunctionId, level: u32) -> Entry {
        let to = self.called_context(call.from, function, level);
        self.entry(call, to)
    }

    /// Returns the count of calls that have not returned of the function of a call. `None` if all its calls are on the first level.
    pub(super) fn active_of(&self, plan: &CallPlan) -> Option<i32> {
        let Function { traits, active, .. } = self.contexts.function(plan.function?);
        (!traits.is_last(1)).then(|| active.offset())
    }

    /// Writes that the function of a context was entered or left, if the level of the context is not the last one.
    pub(super) fn emit_active(&self, asm: &mut Asm, context: ContextId, is_entered: bool) {
        let Kind::Function(Running { function, level, .. }) = self.contexts.kind(context) else { return };
        let Function { traits, active, .. } = self.contexts.function(function);
        if !traits.is_last(level) {
            asm.store_byte(active.offset(), level as u8 - u8::from(!is_entered));
        }
    }

    /// Writes a way out for calls that are not on the first level, with `rcx` spilled or not. Returns whether it is then.
    pub(super) fn emit_comparison_of_level(
        &mut self,
        chunk: &mut Chunk,
        plan: &CallPlan,
        is_rcx_spilled: bool,
    ) -> bool {
        let Some(active) = self.active_of(plan) else { return is_rcx_spilled };
        let needs_flags = self.flags_needed_at(plan.call.target) != 0;
        let asm = &mut chunk.asm;
        let patch = if needs_flags {
            if !is_rcx_spilled {
                asm.spill_rcx();
            }
            asm.load_byte(RCX, active);
            let is_first = asm.jump_if_rcx_is_zero();
            let patch = asm.replaceable_jump(0);
            asm.land(is_first);
            patch
        } else {
            asm.align_displacement(COMPARISON_BYTES);
            asm.compare_byte_with(active, 0);
            asm.jump_if(NOT_EQUAL, 0)
        };
        let is_rcx_spilled = is_rcx_spilled || needs_flags;
        let mut rare = self.rare_code();
        if is_rcx_spilled {
            rare.restore_rcx();
            rare.restore_scratch();
        }
        self.emit_exit(
            &mut rare,
            Exit::Deep { call: Box::new(plan.call), is_rcx_spilled, patch: Some(Patch::new(patch)) },
        );
        let rare = self.arena.add_rare_code(rare.bytes());
        chunk.asm.replace32(patch, displacement(patch, rare));
        is_rcx_spilled
    }

    /// Makes a call of a function that runs already, and lets the displacement at `patch` lead to code for the next ones.
    pub(super) fn enter_deep(
        &mut self,
        state: &mut State,
        call: PlannedCall,
        is_rcx_spilled: bool,
        patch: Option<Patch>,
    ) {
        if let Some(patch) = patch
            && self.options.links_blocks
            && self.is_current(state, call.from)
        {
            let code = self.deep_call(call, is_rcx_spilled);
            Arena::patch(patch.address(), displacement(patch.address(), code));
        }
        let context = self.context_now(state, call.site.address, call.from);
        let transfer = self.transfer_as_call(context, call.site, call.target, call.return_address);
        self.take(state, context, transfer, call.target);
    }

    /// Writes a call of a function that runs already.
    fn deep_call(&mut self, call: PlannedCall, is_rcx_spilled: bool) -> u64 {
        let function = self.called_function(call);
        let Function { traits, active, .. } = self.contexts.function(function);
        let (levels, active) = (traits.levels, active.offset());
        let entries: Vec<Entry> =
            (2..=levels).map(|level| self.entry_on_level(call, function, level)).collect();
        let mut chunk = self.chunk();
        let [entries @ .., last] = entries.as_slice() else { unreachable!("there is a second level") };
        let compares = !entries.is_empty();
        if compares {
            if !is_rcx_spilled {
                chunk.asm.spill_rcx();
            }
            chunk.asm.load_byte(RCX, active);
        }
        for entry in entries {
            chunk.asm.lea(RCX, RCX, -1);
            let is_it = chunk.asm.jump_if_rcx_is_zero();
            let jump = chunk.asm.jump(0);
            chunk.asm.land(is_it);
            self.emit_entry(&mut chunk, *entry, call.target, true);
            chunk.asm.land_here(jump);
        }
        self.emit_entry(&mut chunk, *last, call.target, is_rcx_spilled || compares);
        self.add_chunk(chunk)
    }
}
