//! The calls of lines, which share the names of callees.

use std::collections::HashMap;
use std::sync::Arc;

use gristmill_format::Cost;
use gristmill_output::json::Costs;
use schemars::JsonSchema;
use serde::Serialize;

use crate::call_count::CallCount;
use crate::head::Head;
use crate::named_function::NamedFunction;
use crate::view::{SubjectId, View};

/// The calls from a line to a function. See the example of [`Show`](super::Show).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CalledFunction {
    /// The callee.
    #[serde(flatten)]
    pub function: Arc<NamedFunction>,
    /// The count of calls.
    #[serde(flatten)]
    pub calls: CallCount,
    /// Inclusive cost of the calls.
    pub cost: Costs,
    /// `true` if the calls are inside of the function's cycle, or from the function to itself.
    #[serde(rename = "inner")]
    pub is_inner: bool,
}

/// Makes the calls of lines. A name can be longer than all lines that call the function.
pub(crate) struct Callees<'v> {
    view: &'v View,
    head: &'v Head,
    names: HashMap<SubjectId, Arc<NamedFunction>>,
}

impl<'v> Callees<'v> {
    pub(crate) fn new(view: &'v View, head: &'v Head) -> Self {
        Callees { view, head, names: HashMap::new() }
    }

    pub(crate) fn called(
        &mut self,
        callee: SubjectId,
        calls: CallCount,
        costs: &[Cost],
        is_inner: bool,
    ) -> CalledFunction {
        let named = || Arc::new(NamedFunction::new(self.view, callee));
        let function = Arc::clone(self.names.entry(callee).or_insert_with(named));
        CalledFunction { function, calls, cost: self.head.costs(costs), is_inner }
    }
}
