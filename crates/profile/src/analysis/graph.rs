//! Who calls whom, for the selected parts of a profile.

use std::ops::Range;
use std::sync::OnceLock;

use gristmill_format::Cost;

use crate::cost::{CostTable, add};
use crate::formula::{CostOverflow, Derived};
use crate::grouped::{Grouped, begins};
use crate::id::FunctionId;

/// All calls from one function to another, summed over call sites and parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arc {
    /// The function that calls.
    pub caller: FunctionId,
    /// The function that is called.
    pub callee: FunctionId,
    /// How often.
    pub count: Cost,
}

impl Arc {
    /// Whether the function calls itself.
    #[inline]
    pub fn is_loop(&self) -> bool {
        self.caller == self.callee
    }
}

/// Functions with their self costs, and the arcs between them.
///
/// An arc is known by its place in [`CallGraph::arcs`].
#[derive(Debug, Clone)]
pub struct CallGraph {
    /// Self cost, by function.
    self_costs: CostTable,
    /// Sorted by caller, then callee; each pair once.
    arcs: Vec<Arc>,
    /// Inclusive cost of each arc, in the order of `arcs`.
    arc_costs: CostTable,
    /// Where the arcs of each caller begin in `arcs`; one more at the end.
    first_out: Vec<u32>,
    /// By callee: places in `arcs`. Not every question asks for them.
    incoming: OnceLock<Grouped>,
}

impl PartialEq for CallGraph {
    fn eq(&self, other: &Self) -> bool {
        // All else follows from these.
        (&self.self_costs, &self.arcs, &self.arc_costs) == (&other.self_costs, &other.arcs, &other.arc_costs)
    }
}

impl Eq for CallGraph {}

impl CallGraph {
    /// Takes arcs in any order; those with the same caller and callee become one.
    ///
    /// There is a row of self costs for each function, and one of arc costs for each arc.
    ///
    /// # Panics
    ///
    /// When an arc is about a function that has no row, or has no row itself.
    pub fn new(self_costs: CostTable, mut arcs: Vec<Arc>, mut arc_costs: CostTable) -> Self {
        assert_eq!(arcs.len(), arc_costs.len(), "one row of costs for each arc");
        assert!(arc_costs.is_empty() || arc_costs.width() == self_costs.width(), "the same event types");
        let functions = self_costs.len();
        let last = arcs.iter().map(|arc| arc.caller.max(arc.callee).index()).max();
        assert!(last.is_none_or(|last| last < functions), "self costs of each function");

        // A loader that goes by caller has them in order already; then nothing is copied.
        if !arcs.is_sorted_by(|a, b| (a.caller, a.callee) < (b.caller, b.callee)) {
            (arcs, arc_costs) = merged(&arcs, &arc_costs);
        }
        let first_out = begins(functions, arcs.iter().map(|arc| arc.caller.index()));
        CallGraph { self_costs, arcs, arc_costs, first_out, incoming: OnceLock::new() }
    }

    /// How many functions there are.
    #[inline]
    pub fn functions(&self) -> usize {
        self.self_costs.len()
    }

    /// The functions in order.
    pub fn function_ids(&self) -> impl DoubleEndedIterator<Item = FunctionId> + ExactSizeIterator + use<> {
        (0..self.functions()).map(FunctionId::new)
    }

    /// How many event types there are.
    #[inline]
    pub fn width(&self) -> usize {
        self.self_costs.width()
    }

    /// Self costs, by function.
    #[inline]
    pub fn self_costs(&self) -> &CostTable {
        &self.self_costs
    }

    /// The arcs, sorted by caller, then callee. Each pair of functions is there once.
    #[inline]
    pub fn arcs(&self) -> &[Arc] {
        &self.arcs
    }

    /// The inclusive cost of each arc, in the order of [`CallGraph::arcs`].
    #[inline]
    pub fn arc_costs(&self) -> &CostTable {
        &self.arc_costs
    }

    /// The self cost of a function.
    #[inline]
    pub fn self_cost(&self, function: FunctionId) -> &[Cost] {
        self.self_costs.row(function.index())
    }

    /// The inclusive cost of an arc.
    #[inline]
    pub fn arc_cost(&self, arc: usize) -> &[Cost] {
        self.arc_costs.row(arc)
    }

    /// The arcs that leave a function, as places in [`CallGraph::arcs`], by callee.
    #[inline]
    pub fn outgoing(&self, function: FunctionId) -> Range<usize> {
        self.first_out[function.index()] as usize..self.first_out[function.index() + 1] as usize
    }

    /// Where the arcs of each function begin, and where those of the last one end.
    pub(crate) fn first_out(&self) -> &[u32] {
        &self.first_out
    }

    /// The arcs that lead to a function, as places in [`CallGraph::arcs`], by caller.
    #[inline]
    pub fn incoming(&self, function: FunctionId) -> impl ExactSizeIterator<Item = usize> + '_ {
        let callees = || self.arcs.iter().map(|arc| Some(arc.callee.index()));
        let incoming = self.incoming.get_or_init(|| Grouped::of(self.functions(), callees()));
        incoming.get(function.index()).iter().map(|&place| place as usize)
    }

    /// The arc from one function to another.
    pub fn arc_between(&self, caller: FunctionId, callee: FunctionId) -> Option<usize> {
        let range = self.outgoing(caller);
        let found = self.arcs[range.clone()].binary_search_by_key(&callee, |arc| arc.callee);
        found.ok().map(|at| range.start + at)
    }

    /// The sum of all self costs. Arcs add nothing: their costs are self costs of what they call.
    pub fn total(&self) -> Vec<Cost> {
        self.self_costs.total()
    }

    /// How often a function was called, its own calls to itself included.
    pub fn called(&self, function: FunctionId) -> Cost {
        self.incoming(function).map(|arc| self.arcs[arc].count).sum()
    }

    /// The same of all functions.
    pub fn call_counts(&self) -> Vec<Cost> {
        let mut counts = vec![0; self.functions()];
        self.arcs.iter().for_each(|arc| counts[arc.callee.index()] += arc.count);
        counts
    }

    /// What the callers say that a function cost, without its calls to itself.
    pub fn callers_sum(&self, function: FunctionId) -> Vec<Cost> {
        let mut sum = vec![0; self.width()];
        for arc in self.incoming(function).filter(|&arc| !self.arcs[arc].is_loop()) {
            add(&mut sum, self.arc_cost(arc));
        }
        sum
    }

    /// What a function cost by itself and with what it called, without its calls to itself.
    pub fn self_and_callees(&self, function: FunctionId) -> Vec<Cost> {
        let mut sum = self.self_cost(function).to_vec();
        for arc in self.outgoing(function).filter(|&arc| !self.arcs[arc].is_loop()) {
            add(&mut sum, self.arc_cost(arc));
        }
        sum
    }

    /// The same graph without the arcs that are cut.
    ///
    /// Self costs stay, so the total does. The caller no longer includes what it called over this arc: of a cut inside a
    /// cycle the rest comes apart, of a cut elsewhere the callee begins a tree of its own.
    pub fn without(&self, mut is_cut: impl FnMut(usize, &Arc) -> bool) -> CallGraph {
        let mut arcs = Vec::new();
        let mut arc_costs = CostTable::new(self.width(), 0);
        for (place, arc) in self.arcs.iter().enumerate() {
            if !is_cut(place, arc) {
                arcs.push(*arc);
                arc_costs.push(self.arc_cost(place));
            }
        }
        CallGraph::new(self.self_costs.clone(), arcs, arc_costs)
    }

    /// The arcs that cost less than a share of the dearest arc to the same callee: `share` parts of `whole`, where `size`
    /// says how much costs are. These are the ones to cut where a few stray calls make a cycle of all.
    ///
    /// The answer is for each arc, and fits [`CallGraph::without`]. A function's calls to itself are not looked at.
    pub fn weak_arcs(&self, share: u32, whole: u32, size: impl Fn(&[Cost]) -> Cost) -> Vec<bool> {
        let size = |arc: usize| size(self.arc_cost(arc));
        let mut weak = vec![false; self.arcs.len()];
        for function in self.function_ids() {
            let arcs = || self.incoming(function).filter(|&arc| !self.arcs[arc].is_loop());
            let Some(dearest) = arcs().map(size).max() else { continue };
            for arc in arcs() {
                let cost = size(arc);
                weak[arc] = match (cost.checked_mul(whole.into()), dearest.checked_mul(share.into())) {
                    (Some(cost), Some(limit)) => cost < limit,
                    // Both are above 2^95, where the share of a part is no matter of single costs.
                    _ => cost / Cost::from(share.max(1)) < dearest / Cost::from(whole.max(1)),
                };
            }
        }
        weak
    }

    /// The same graph with other event types: `map` makes a new row of `width` costs of each row.
    ///
    /// What it makes must be linear (sums, differences, multiples), or costs of arcs no longer are what they include.
    pub fn with_costs(self, width: usize, mut map: impl FnMut(&[Cost], &mut [Cost])) -> CallGraph {
        let mut apply = |table: &CostTable| {
            let mut mapped = CostTable::new(width, table.len());
            table.rows().enumerate().for_each(|(index, row)| map(row, mapped.row_mut(index)));
            mapped
        };
        let (self_costs, arc_costs) = (apply(&self.self_costs), apply(&self.arc_costs));
        CallGraph { self_costs, arc_costs, ..self }
    }

    /// The same graph with derived event types after its own.
    pub fn with_derived(self, derived: &[Derived]) -> Result<CallGraph, CostOverflow> {
        let mut overflow = None;
        let width = self.width() + derived.len();
        let graph = self.with_costs(width, |row, all| {
            let (own, more) = all.split_at_mut(row.len());
            own.copy_from_slice(row);
            for (cost, derived) in more.iter_mut().zip(derived) {
                match derived.of(row) {
                    Ok(sum) => *cost = sum,
                    Err(error) => overflow = Some(error),
                }
            }
        });
        overflow.map_or(Ok(graph), Err)
    }

    /// The graph with several functions made one: `group_of` says which, and there are `groups` of them. Self costs of
    /// a group add up, arcs between two groups become one, and arcs inside a group become one from it to itself.
    ///
    /// This is how recursion levels and caller chains are folded.
    pub fn folded(&self, groups: usize, group_of: impl Fn(FunctionId) -> FunctionId) -> CallGraph {
        let mut self_costs = CostTable::new(self.width(), groups);
        for function in self.function_ids() {
            self_costs.add(group_of(function).index(), self.self_cost(function));
        }
        let fold = |arc: &Arc| Arc { caller: group_of(arc.caller), callee: group_of(arc.callee), ..*arc };
        CallGraph::new(self_costs, self.arcs.iter().map(fold).collect(), self.arc_costs.clone())
    }
}

/// Sorts arcs, and makes those between the same two functions one.
fn merged(arcs: &[Arc], arc_costs: &CostTable) -> (Vec<Arc>, CostTable) {
    let mut order: Vec<u32> = (0..arcs.len()).map(narrow).collect();
    order.sort_unstable_by_key(|&place| {
        let arc = &arcs[place as usize];
        (arc.caller, arc.callee, place)
    });
    let mut merged: Vec<Arc> = Vec::new();
    let mut costs = CostTable::new(arc_costs.width(), 0);
    for place in order {
        let (arc, row) = (&arcs[place as usize], arc_costs.row(place as usize));
        match merged.last_mut() {
            Some(last) if (last.caller, last.callee) == (arc.caller, arc.callee) => {
                last.count += arc.count;
                costs.add(merged.len() - 1, row);
            }
            _ => {
                merged.push(*arc);
                costs.push(row);
            }
        }
    }
    (merged, costs)
}

/// A place in a list, in half the memory.
///
/// # Panics
///
/// Above 2^32 − 1; no graph has so many arcs.
#[inline]
pub(crate) fn narrow(place: usize) -> u32 {
    #[expect(clippy::expect_used, reason = "a list of so many arcs does not fit into memory")]
    u32::try_from(place).expect("fewer than 2^32")
}
