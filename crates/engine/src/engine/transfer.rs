//! Branches: jumps, and calls of contexts.

use iced_x86::ConditionCode;

use crate::contexts::{CallSite, ContextId, EdgeId, FunctionId};

/// A branch to a known address.
#[derive(Debug, Clone)]
pub(super) enum Transfer {
    Jump,
    Call(CallPlan),
    /// A call that the engine makes.
    Watched(WatchedCall),
}

/// A call to a known address that translated code makes.
#[derive(Debug, Clone)]
pub(super) struct CallPlan {
    /// The function. `None` for what is skipped.
    pub(super) function: Option<FunctionId>,
    /// By the level of recursion; the last one is also that of all deeper ones. There is at least one.
    pub(super) entries: Vec<Entry>,
}

/// A call of one context.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) edge: EdgeId,
    pub(super) to: ContextId,
    pub(super) continuation: u64,
}

/// A call, or a jump that counts as one, of a function that the engine watches.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WatchedCall {
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
    /// A call, which has put its return address on the stack.
    Call,
}

impl DirectBranch {
    /// Returns the address that it leads to.
    pub(super) fn destination(&self, flags: u64) -> u64 {
        match self.kind {
            BranchKind::Conditional(condition) if !holds(condition, flags) => self.next,
            _ => self.target,
        }
    }
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
