//! Branches: jumps, and calls of contexts.

use crate::contexts::{ContextId, EdgeId, FunctionId};

/// A branch to a known address.
#[derive(Debug, Clone, Copy)]
pub(super) enum Transfer {
    Jump,
    Call(CallPlan),
}

/// A call to a known address.
#[derive(Debug, Clone, Copy)]
pub(super) struct CallPlan {
    /// The function. `None` for stubs.
    pub(super) function: Option<FunctionId>,
    pub(super) first: Entry,
    /// If the function is active already, and that matters.
    pub(super) again: Option<Entry>,
}

/// A call of one context.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) edge: EdgeId,
    pub(super) to: ContextId,
    pub(super) continuation: u64,
}
