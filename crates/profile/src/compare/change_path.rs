//! The path of the greatest change: from the start of the program to where the change splits.

use super::flow::medians;
use super::{Change, Comparison, JoinedId};

/// A step of a path of calls. See the example of [`Comparison`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathStep {
    /// The function.
    pub function: JoinedId,
    /// The count of calls from the function before it; `None` for the first.
    pub calls: Option<Change>,
    /// The inclusive cost of these calls; that of the function for the first.
    pub inclusive: Change,
    /// Another function, whose calls changed as much: the path ends.
    pub tie: Option<JoinedId>,
}

/// The limit of steps.
const MAX_STEPS: usize = 256;

impl Comparison<'_> {
    /// Returns the path of calls with the greatest change of inclusive cost, in the direction of the change of the total. It
    /// ends where no callee has half of the change, or where changes of callees cancel out.
    pub fn change_path(&self, column: usize) -> Vec<PathStep> {
        let whole = self.total(column).delta();
        if whole == 0 || !self.has_calls() || self.is_sampled() {
            return Vec::new();
        }
        let towards = |change: Change| change.delta() * whole.signum();
        // Calls of inlined functions have costs and no count.
        let is_start = |function: &JoinedId| {
            self.incoming(*function).all(|arc| {
                medians(self.arc(arc).count) == [0, 0] && medians(self.arc_cost(arc, column)) == [0, 0]
            })
        };
        let start = self
            .functions()
            .filter(is_start)
            .max_by_key(|&function| (towards(self.inclusive(function, column)), std::cmp::Reverse(function)));
        let Some(start) = start else { return Vec::new() };
        let mut path = vec![PathStep {
            function: start,
            calls: None,
            inclusive: self.inclusive(start, column),
            tie: None,
        }];
        while let Some(last) = path.last().copied().filter(|_| path.len() < MAX_STEPS) {
            // A recursion leads nowhere, but has the cost of everything below it.
            let is_on_path = |&arc: &usize| {
                let callee = self.arc(arc).callee;
                path.iter().any(|step| step.function == callee)
            };
            let next = self
                .outgoing(last.function)
                .filter(|arc| !is_on_path(arc))
                .map(|arc| (towards(self.arc_cost(arc, column)), arc));
            let Some((change, arc)) =
                next.clone().max_by_key(|&(change, arc)| (change, std::cmp::Reverse(arc)))
            else {
                break;
            };
            let tie = next.into_iter().find(|&(other, of)| of != arc && other == change);
            let tie = tie.map(|(_, arc)| self.arc(arc).callee);
            // More than the caller has: other callees take it back, or a recursion counts it twice.
            let before = towards(last.inclusive);
            let is_part = change * 2 >= whole.abs() && change * 10 <= before * 11;
            let function = self.arc(arc).callee;
            if !is_part {
                break;
            }
            path.push(PathStep {
                function,
                calls: Some(self.arc(arc).count),
                inclusive: self.arc_cost(arc, column),
                tie,
            });
            if tie.is_some() {
                break;
            }
        }
        // A start alone says nothing.
        if path.len() < 2 { Vec::new() } else { path }
    }
}
