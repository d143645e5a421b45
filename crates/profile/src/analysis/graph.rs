//! Who calls whom, for the selected parts of a profile.

use std::ops::Range;
use std::sync::OnceLock;

use gristmill_format::Cost;

use crate::analysis::arcs::{Arc, Arcs};
use crate::cost::{CostTable, add};
use crate::csr::{Grouped, begins};
use crate::formula::{CostOverflow, Derived};
use crate::id::{FunctionId, narrow};

/// Functions with their self costs, and the arcs between them.
///
/// An arc is known by its place in [`CallGraph::arcs`].
#[derive(Debug, Clone)]
pub struct CallGraph {
    /// Self cost, by function.
    self_costs: CostTable,
    /// Sorted by caller, then callee; each pair once.
    arcs: Arcs,
    /// Where the arcs of each caller begin; one more at the end.
    first_out: Vec<u32>,
    /// By callee: places of arcs. Not every question asks for them.
    incoming: OnceLock<Grouped>,
}

impl PartialEq for CallGraph {
    fn eq(&self, other: &Self) -> bool {
        // All else follows from these.
        (&self.self_costs, &self.arcs) == (&other.self_costs, &other.arcs)
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
    pub fn new(self_costs: CostTable, arcs: impl IntoIterator<Item = Arc>, arc_costs: CostTable) -> Self {
        let mut all = Arcs { costs: arc_costs, ..Arcs::zeros(0, 0) };
        for arc in arcs {
            all.callers.push(narrow(arc.caller.index()));
            all.callees.push(narrow(arc.callee.index()));
            all.counts.push(arc.count);
        }
        assert_eq!(all.len(), all.costs.len(), "one row of costs for each arc");
        CallGraph::of_arcs(self_costs, all)
    }

    /// The same from columns.
    pub(crate) fn of_arcs(self_costs: CostTable, mut arcs: Arcs) -> Self {
        assert!(arcs.costs.is_empty() || arcs.costs.width() == self_costs.width(), "the same event types");
        let functions = self_costs.len();
        let last = arcs.ends().map(|(caller, callee)| caller.max(callee) as usize).max();
        assert!(last.is_none_or(|last| last < functions), "self costs of each function");

        // A loader that goes by caller has them in order already; then nothing is copied.
        if !arcs.ends().is_sorted_by(|one, next| one < next) {
            arcs = arcs.merged();
        }
        let first_out = begins(functions, arcs.callers.iter().map(|&caller| caller as usize));
        CallGraph { self_costs, arcs, first_out, incoming: OnceLock::new() }
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
    pub fn arcs(&self) -> impl DoubleEndedIterator<Item = Arc> + ExactSizeIterator + Clone {
        self.arcs.ends().zip(&self.arcs.counts).map(|((caller, callee), &count)| {
            let [caller, callee] = [caller, callee].map(|function| FunctionId::new(function as usize));
            Arc { caller, callee, count }
        })
    }

    /// The arc at this place among them.
    #[inline]
    pub fn arc(&self, place: usize) -> Arc {
        let function = |column: &[u32]| FunctionId::new(column[place] as usize);
        Arc {
            caller: function(&self.arcs.callers),
            callee: function(&self.arcs.callees),
            count: self.arcs.counts[place],
        }
    }

    /// The callee of each arc, by number.
    pub(crate) fn callees(&self) -> &[u32] {
        &self.arcs.callees
    }

    /// The inclusive cost of each arc, in the order of [`CallGraph::arcs`].
    #[inline]
    pub fn arc_costs(&self) -> &CostTable {
        &self.arcs.costs
    }

    /// The self cost of a function.
    #[inline]
    pub fn self_cost(&self, function: FunctionId) -> &[Cost] {
        self.self_costs.row(function.index())
    }

    /// The inclusive cost of an arc.
    #[inline]
    pub fn arc_cost(&self, arc: usize) -> &[Cost] {
        self.arcs.costs.row(arc)
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
        let callees = || self.callees().iter().map(|&callee| Some(callee as usize));
        let incoming = self.incoming.get_or_init(|| Grouped::of(self.functions(), callees()));
        incoming.get(function.index()).iter().map(|&place| place as usize)
    }

    /// The arc from one function to another.
    pub fn arc_between(&self, caller: FunctionId, callee: FunctionId) -> Option<usize> {
        let range = self.outgoing(caller);
        let found = self.arcs.callees[range.clone()].binary_search(&narrow(callee.index()));
        found.ok().map(|at| range.start + at)
    }

    /// The sum of all self costs. Arcs add nothing: their costs are self costs of what they call.
    pub fn total(&self) -> Vec<Cost> {
        self.self_costs.total()
    }

    /// How often a function was called, its own calls to itself included.
    pub fn called(&self, function: FunctionId) -> Cost {
        self.incoming(function).map(|arc| self.arcs.counts[arc]).sum()
    }

    /// The same of all functions.
    pub fn call_counts(&self) -> Vec<Cost> {
        let mut counts = vec![0; self.functions()];
        self.callees()
            .iter()
            .zip(&self.arcs.counts)
            .for_each(|(&callee, count)| counts[callee as usize] += count);
        counts
    }

    /// What the callers say that a function cost, without its calls to itself.
    pub fn callers_sum(&self, function: FunctionId) -> Vec<Cost> {
        let mut sum = vec![0; self.width()];
        for arc in self.incoming(function).filter(|&arc| !self.arc(arc).is_loop()) {
            add(&mut sum, self.arc_cost(arc));
        }
        sum
    }

    /// What a function cost by itself and with what it called, without its calls to itself.
    pub fn self_and_callees(&self, function: FunctionId) -> Vec<Cost> {
        let mut sum = self.self_cost(function).to_vec();
        for arc in self.outgoing(function).filter(|&arc| !self.arc(arc).is_loop()) {
            add(&mut sum, self.arc_cost(arc));
        }
        sum
    }

    /// The same graph without the arcs that are cut.
    ///
    /// Self costs stay, so the total does. The caller no longer includes what it called over this arc: of a cut inside a
    /// cycle the rest comes apart, of a cut elsewhere the callee begins a tree of its own.
    pub fn without(&self, mut is_cut: impl FnMut(usize, &Arc) -> bool) -> CallGraph {
        let mut left = Arcs::zeros(self.width(), 0);
        for ((place, arc), ends) in self.arcs().enumerate().zip(self.arcs.ends()) {
            if !is_cut(place, &arc) {
                left.push(ends, arc.count, self.arc_cost(place));
            }
        }
        CallGraph::of_arcs(self.self_costs.clone(), left)
    }

    /// The arcs that cost less than a share of the dearest arc to the same callee: `share` parts of `whole`, where `size`
    /// says how much costs are. These are the ones to cut where a few stray calls make a cycle of all.
    ///
    /// The answer is for each arc, and fits [`CallGraph::without`]. A function's calls to itself are not looked at.
    pub fn weak_arcs(&self, share: u32, whole: u32, size: impl Fn(&[Cost]) -> Cost) -> Vec<bool> {
        let size = |arc: usize| size(self.arc_cost(arc));
        let mut weak = vec![false; self.arcs.len()];
        for function in self.function_ids() {
            let arcs = || self.incoming(function).filter(|&arc| !self.arc(arc).is_loop());
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
        let (self_costs, costs) = (apply(&self.self_costs), apply(&self.arcs.costs));
        CallGraph { self_costs, arcs: Arcs { costs, ..self.arcs }, ..self }
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
        let fold = |column: &[u32]| {
            column
                .iter()
                .map(|&function| narrow(group_of(FunctionId::new(function as usize)).index()))
                .collect()
        };
        let arcs = Arcs {
            callers: fold(&self.arcs.callers),
            callees: fold(&self.arcs.callees),
            counts: self.arcs.counts.clone(),
            costs: self.arcs.costs.clone(),
        };
        CallGraph::of_arcs(self_costs, arcs)
    }
}
