//! A profile with functions folded and arcs cut, part by part.
//!
//! A [`CallGraph`] sums all selected parts. Some answers need each part by itself: KCachegrind's rule, and the costs of one
//! function by part. They are computed here, so that folding, cuts and the inclusive rules are the same everywhere.

use std::collections::HashSet;

use gristmill_format::Cost;

use crate::analysis::arcs::CallArc;
use crate::analysis::cycle::Cycles;
use crate::analysis::graph::CallGraph;
use crate::analysis::ids::NodeId;
use crate::analysis::inclusive::{Inclusive, InclusiveRule, KCachegrindSums};
use crate::analysis::partition::Partition;
use crate::id::FunctionId;
use crate::part::Part;
use crate::profile::Profile;
use crate::selection::Selection;

/// Arcs that are cut, by caller and callee. See the example of [`FoldedProfile`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CutArcs(HashSet<(NodeId, NodeId)>);

impl CutArcs {
    /// `true` if an arc with these ends is cut.
    pub fn contains(&self, arc: &CallArc) -> bool {
        self.0.contains(&arc.ends())
    }

    /// Returns the count of pairs of caller and callee.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// `true` if nothing is cut.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<CallArc> for CutArcs {
    fn from_iter<I: IntoIterator<Item = CallArc>>(arcs: I) -> Self {
        CutArcs(arcs.into_iter().map(|arc| arc.ends()).collect())
    }
}

/// The costs of one node in one part, by event type of the profile. See the example of [`FoldedProfile`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeCosts {
    /// Its self cost.
    pub self_costs: Vec<Cost>,
    /// Its inclusive cost.
    pub inclusive: Vec<Cost>,
    /// Count of calls to it.
    pub call_count: Cost,
}

/// A profile whose functions are folded by a partition and whose arcs are partly cut.
///
/// ```
/// use gristmill_profile::analysis::{Cycles, CutArcs, FoldedProfile, Inclusive};
/// use gristmill_profile::{Profile, Selection};
///
/// let text = "events: Ir\nfn=main\n1 10\ncfn=read\ncalls=1 2\n1 5\nfn=read\n2 5\n";
/// let profile = Profile::from_bytes(text.as_bytes().to_vec());
/// let graph = profile.call_graph(&Selection::default());
/// let inclusive = Inclusive::new(&graph, Cycles::new(&graph));
///
/// let cut = CutArcs::default();
/// let folded = FoldedProfile::new(&profile, None, &cut);
/// let main = profile.functions().map(|id| graph.node_of(id)).next().expect("a function");
/// let part = profile.parts().next().expect("a part");
/// let costs = folded.node_in_part(&part, main, &inclusive).expect("it is in this part");
/// assert_eq!((costs.self_costs, costs.inclusive), (vec![10], vec![15]));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct FoldedProfile<'a> {
    profile: &'a Profile,
    partition: Option<&'a Partition>,
    cut: &'a CutArcs,
}

impl<'a> FoldedProfile<'a> {
    /// Folds the functions of a profile by a partition, or none if it is `None`.
    pub fn new(profile: &'a Profile, partition: Option<&'a Partition>, cut: &'a CutArcs) -> Self {
        FoldedProfile { profile, partition, cut }
    }

    fn node_of(&self, function: FunctionId) -> NodeId {
        let node = NodeId::new(function.index());
        self.partition.map_or(node, |partition| partition.group_of(node))
    }

    /// Calls `take` with each self cost of a part, by event type of the part. A node may come several times.
    fn each_self_cost(&self, part: &Part<'_>, mut take: impl FnMut(NodeId, &[Cost])) {
        self.profile.each_self_cost(part, |function, _, costs| take(self.node_of(function), costs));
    }

    /// Calls `take` with each arc of a part that is not cut, with costs by event type of the part.
    fn each_arc(&self, part: &Part<'_>, mut take: impl FnMut(CallArc, &[Cost])) {
        self.profile.each_arc(part, |arc, costs| {
            let arc = arc.map(|function| self.node_of(function));
            if !self.cut.contains(&arc) {
                take(arc, costs);
            }
        });
    }

    /// Calculates inclusive costs by the rule of KCachegrind.
    ///
    /// `graph` is the graph of the selected parts, folded and cut. `shown` makes a row of that graph from a row with a cost
    /// for each event type of the profile.
    ///
    /// # Errors
    ///
    /// The error of `shown`.
    pub fn kcachegrind<E>(
        &self,
        selection: &Selection,
        graph: &CallGraph,
        cycles: Cycles,
        mut shown: impl FnMut(&[Cost]) -> Result<Vec<Cost>, E>,
    ) -> Result<Inclusive, E> {
        let width = graph.width();
        let mut sums = KCachegrindSums::new(graph.node_count(), width);
        for part in self.profile.selected(selection) {
            let events = part.event_types();
            let mut recorded = vec![0; self.profile.event_count().max(1)];
            let mut result = Ok(());
            // A row at a time: a function can have lines of very many files, and a profile very many event types.
            let mut shown_row = |costs: &[Cost]| {
                events.iter().zip(costs).for_each(|(event, &cost)| recorded[event.index()] = cost);
                shown(&recorded).map_err(|error| result = Err(error)).ok()
            };
            self.each_self_cost(&part, |node, costs| {
                if let Some(row) = shown_row(costs) {
                    sums.add_self_cost(node, &row);
                }
            });
            self.each_arc(&part, |arc, costs| {
                if let Some(row) = shown_row(costs) {
                    sums.add_arc(&arc, &row);
                }
            });
            result?;
            sums.end_part();
        }
        Ok(sums.finish(graph, cycles))
    }

    /// Returns the costs of a node in one part, by the rule and with the cycles of `inclusive`, but not limited to the
    /// total. `None` if the part has no self cost of the node, no call by it and no call to it.
    pub fn node_in_part(&self, part: &Part<'_>, node: NodeId, inclusive: &Inclusive) -> Option<NodeCosts> {
        let (rule, cycles) = (inclusive.rule(), inclusive.cycles());
        let events = part.event_types();
        let width = self.profile.event_count().max(1);
        let add_to = |sums: &mut [Cost], costs: &[Cost]| {
            events.iter().zip(costs).for_each(|(event, cost)| sums[event.index()] += cost);
        };
        let mut self_costs = vec![0; width];
        let (mut callees, mut callers) = (vec![0; width], vec![0; width]);
        let mut call_count = 0;
        let mut is_there = false;
        self.each_self_cost(part, |other, costs| {
            if other == node {
                is_there = true;
                add_to(&mut self_costs, costs);
            }
        });
        self.each_arc(part, |arc, costs| {
            is_there |= arc.caller == node || arc.callee == node;
            if arc.callee == node {
                call_count += arc.count;
                if rule.counts_for_callee(&arc) {
                    add_to(&mut callers, costs);
                }
            }
            let is_within = rule != InclusiveRule::CallgrindAnnotate && cycles.is_inner(&arc);
            if arc.caller == node && rule.counts_for_caller(&arc) && !is_within {
                add_to(&mut callees, costs);
            }
        });
        is_there.then(|| NodeCosts {
            inclusive: if rule.trusts_callers(call_count) && cycles.cycle_of(node).is_none() {
                callers
            } else {
                self_costs.iter().zip(&callees).map(|(own, called)| own + called).collect()
            },
            self_costs,
            call_count,
        })
    }
}
