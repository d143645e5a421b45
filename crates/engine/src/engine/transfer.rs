//! Branches: jumps, and calls of contexts.

use iced_x86::{Code, ConditionCode};

use crate::contexts::{CallSite, ContextId, EdgeId, FunctionId};
use crate::state::State;

/// A branch to a known address.
#[derive(Debug, Clone, Copy)]
pub(super) enum Transfer {
    Jump,
    Call(CallPlan),
    /// A call that the engine makes.
    Watched(PlannedCall),
}

/// A call to a known address that translated code makes.
#[derive(Debug, Clone, Copy)]
pub(super) struct CallPlan {
    pub(super) call: PlannedCall,
    /// The function. `None` for what is skipped.
    pub(super) function: Option<FunctionId>,
    /// That of the first level of recursion. Few calls have others.
    pub(super) first: Entry,
}

/// A call of one context.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) edge: EdgeId,
    pub(super) to: ContextId,
    pub(super) continuation: u64,
}

/// A call, or a jump that counts as one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlannedCall {
    pub(super) from: ContextId,
    pub(super) site: CallSite,
    pub(super) target: u64,
    pub(super) return_address: Option<u64>,
}

/// A direct branch at the end of a block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DirectBranch {
    pub(super) context: ContextId,
    pub(super) site: CallSite,
    pub(super) target: u64,
    /// The address behind it.
    pub(super) next: u64,
    pub(super) kind: BranchKind,
}

/// The kind of a direct branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BranchKind {
    Jump,
    Conditional(ConditionCode),
    /// `loop`, `jrcxz` and their like.
    Counting(Code),
    /// A call, which has put its return address on the stack.
    Call,
}

impl DirectBranch {
    /// Makes the branch, and returns the address that it leads to.
    pub(super) fn destination(&self, state: &mut State) -> u64 {
        let is_taken = match self.kind {
            BranchKind::Conditional(condition) => holds(condition, state.flags),
            BranchKind::Counting(code) => counts(code, state),
            BranchKind::Jump | BranchKind::Call => true,
        };
        if is_taken { self.target } else { self.next }
    }
}

/// Counts down, and tells whether the branch is taken.
fn counts(code: Code, state: &mut State) -> bool {
    let is_short = matches!(
        code,
        Code::Jecxz_rel8_64 | Code::Loop_rel8_64_ECX | Code::Loope_rel8_64_ECX | Code::Loopne_rel8_64_ECX
    );
    let mask = if is_short { u64::from(u32::MAX) } else { u64::MAX };
    if matches!(code, Code::Jecxz_rel8_64 | Code::Jrcxz_rel8_64) {
        return state.gpr[1] & mask == 0;
    }
    state.gpr[1] = state.gpr[1].wrapping_sub(1) & mask;
    let is_zero = holds(ConditionCode::e, state.flags);
    let continues = match code {
        Code::Loope_rel8_64_ECX | Code::Loope_rel8_64_RCX => is_zero,
        Code::Loopne_rel8_64_ECX | Code::Loopne_rel8_64_RCX => !is_zero,
        _ => true,
    };
    state.gpr[1] != 0 && continues
}

/// `true` if a condition holds with flags.
fn holds(condition: ConditionCode, flags: u64) -> bool {
    use ConditionCode as C;
    let [carry, parity, zero, sign, overflow] = [0, 2, 6, 7, 11].map(|bit| flags >> bit & 1 == 1);
    match condition {
        C::None => true,
        C::o => overflow,
        C::no => !overflow,
        C::b => carry,
        C::ae => !carry,
        C::e => zero,
        C::ne => !zero,
        C::be => carry || zero,
        C::a => !carry && !zero,
        C::s => sign,
        C::ns => !sign,
        C::p => parity,
        C::np => !parity,
        C::l => sign != overflow,
        C::ge => sign == overflow,
        C::le => zero || sign != overflow,
        C::g => !zero && sign == overflow,
    }
}
