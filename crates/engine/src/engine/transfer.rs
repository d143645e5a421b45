//! Branches: jumps, and calls of contexts.

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
