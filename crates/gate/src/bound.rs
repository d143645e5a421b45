//! Inclusive costs of budgets that are upper bounds only.
//!
//! Where calls come back to the functions of a budget from a function that others call, too, a call graph does not tell how often
//! this happens, and each time counts. Such a cost proves that a budget is held, but not that it is exceeded. If costs can be below 0, as
//! memory that is returned, it proves neither.

use gristmill_format::Cost;
use gristmill_output::grouped;

/// The cost of a budget that is an upper bound, seen from below, or an estimate. See the example of [`Measurement`](crate::Measurement).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CostBound {
    /// Lowest costs, by event type.
    pub at_least: Vec<Cost>,
    /// By event type, `true` if the cost is an estimate, as costs can be below 0.
    pub is_estimate: Vec<bool>,
    /// By event type, `true` if the cost is an upper bound.
    pub is_upper_bound: Vec<bool>,
    /// Name of a function from which calls come back.
    pub leads_back: Option<String>,
}

impl CostBound {
    /// `true` if the cost of an event type may not be the real one.
    pub(crate) fn is_doubtful(&self, column: usize) -> bool {
        self.is_estimate[column] || self.is_upper_bound[column]
    }

    /// Returns the reason why a cost tells nothing about a budget, as a sentence.
    pub(crate) fn reason_of_estimate(&self) -> String {
        format!("the cost is not known, as it can also be below 0: {}", self.advice())
    }

    /// Returns the reason why a cost does not tell whether a budget is exceeded, as a sentence.
    pub(crate) fn reason(&self, column: usize, cost: Cost) -> String {
        let (least, most) = (grouped(self.at_least[column]), grouped(cost));
        let from = self.advice();
        format!("the cost is from {least} to {most}, which does not tell: {from}")
    }

    /// Returns the reason why a cost is an upper bound, and what to do.
    ///
    /// ```
    /// let bound = gristmill_gate::CostBound {
    ///     at_least: vec![800],
    ///     is_estimate: vec![false],
    ///     is_upper_bound: vec![true],
    ///     leads_back: Some("visit".to_owned()),
    /// };
    /// assert!(bound.advice().starts_with("calls come back from `visit`, which others call, too;"));
    /// ```
    pub fn advice(&self) -> String {
        match &self.leads_back {
            Some(name) => format!(
                "calls come back from `{name}`, which others call, too; add it to the pattern, or name one function"
            ),
            None => "calls leave the functions and come back; add those between them to the pattern, or name one function"
                .to_owned(),
        }
    }
}

/// Returns a cost as text, with `at most` before an upper bound.
pub(crate) fn bounded(cost: Cost, is_upper_bound: bool) -> String {
    let at_most = if is_upper_bound { "at most " } else { "" };
    format!("{at_most}{}", grouped(cost))
}
