//! Calls from one function to another.

use gristmill_format::Cost;

use crate::analysis::ids::NodeId;
use crate::cost::CostTable;
use crate::csr::Csr;
use crate::id::narrow;

/// All calls from one function to another, summed over call sites; in a graph, over the selected parts as well.
///
/// The ends are nodes of a [`CallGraph`](crate::analysis::CallGraph), or functions of a profile in
/// [`Profile::each_arc`](crate::Profile::each_arc).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallArc<N = NodeId> {
    /// The end that calls.
    pub caller: N,
    /// The end that is called.
    pub callee: N,
    /// Count of calls.
    pub count: Cost,
}

impl<N: Copy + Eq> CallArc<N> {
    /// `true` if the function calls itself.
    #[inline]
    pub fn is_loop(&self) -> bool {
        self.caller == self.callee
    }

    /// Returns the same arc between other ends.
    pub fn map<M>(self, mut end: impl FnMut(N) -> M) -> CallArc<M> {
        CallArc { caller: end(self.caller), callee: end(self.callee), count: self.count }
    }

    /// Returns caller and callee.
    pub fn ends(&self) -> (N, N) {
        (self.caller, self.callee)
    }
}

/// Arcs in columns: compact, and fillable by several threads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ArcColumns {
    pub(super) callers: Vec<u32>,
    pub(super) callees: Vec<u32>,
    pub(super) counts: Vec<Cost>,
    /// Inclusive cost, by arc.
    pub(super) costs: CostTable,
    /// `true` for arcs with inlined calls. Those that are missing at the end have none.
    pub(super) inlined: Vec<bool>,
}

impl ArcColumns {
    /// Makes rows of zeros, to be filled in.
    pub(crate) fn zeros(width: usize, count: usize) -> Self {
        ArcColumns {
            callers: vec![0; count],
            callees: vec![0; count],
            counts: vec![0; count],
            costs: CostTable::new(width, count),
            inlined: Vec::new(),
        }
    }

    /// `true` if some of its calls are inlined.
    #[inline]
    pub(super) fn is_inlined(&self, index: usize) -> bool {
        self.inlined.get(index) == Some(&true)
    }

    /// `true` if there are inlined calls.
    #[inline]
    pub(super) fn has_inlined(&self) -> bool {
        !self.inlined.is_empty()
    }

    /// Takes note that some of its calls are inlined.
    pub(super) fn mark_inlined(&mut self, index: usize) {
        if self.inlined.len() <= index {
            self.inlined.resize(index + 1, false);
        }
        self.inlined[index] = true;
    }

    /// Splits the arcs into consecutive slices with these counts.
    pub(crate) fn slices_mut(&mut self, counts: &[usize]) -> Vec<ArcColumnsMut<'_>> {
        let width = self.costs.width();
        let (mut callers, mut callees, mut all) =
            (&mut self.callers[..], &mut self.callees[..], &mut self.counts[..]);
        let mut costs = self.costs.values_mut();
        let split = |count: &usize| ArcColumnsMut {
            callers: split_off(&mut callers, *count),
            callees: split_off(&mut callees, *count),
            counts: split_off(&mut all, *count),
            costs: split_off(&mut costs, count * width),
            width,
        };
        counts.iter().map(split).collect()
    }

    /// Iterates over the callers and callees.
    pub(super) fn ends(&self) -> impl DoubleEndedIterator<Item = (u32, u32)> + ExactSizeIterator + Clone {
        self.callers.iter().copied().zip(self.callees.iter().copied())
    }

    /// Returns the offset of the arcs of each node, and their end, if the arcs are in order.
    ///
    /// # Panics
    ///
    /// If an arc has an end that is none of the nodes.
    pub(super) fn first_out(&self, nodes: usize) -> Option<Vec<u32>> {
        let mut starts = vec![0u32; nodes + 1];
        let mut before = None;
        let (mut is_sorted, mut last) = (true, 0);
        for ends @ (caller, callee) in self.ends() {
            is_sorted &= before < Some(ends);
            before = Some(ends);
            last = last.max(callee);
            starts[caller as usize + 1] += 1;
        }
        assert!(self.len() == 0 || (last as usize) < nodes, "self costs of each node");
        (0..nodes).for_each(|node| starts[node + 1] += starts[node]);
        is_sorted.then_some(starts)
    }

    pub(super) fn len(&self) -> usize {
        self.counts.len()
    }

    pub(super) fn push(&mut self, (caller, callee): (u32, u32), count: Cost, costs: &[Cost]) {
        self.callers.push(caller);
        self.callees.push(callee);
        self.counts.push(count);
        self.costs.push(costs);
    }

    /// Returns the arcs between groups of nodes, those with the same ends as one, sorted by caller, then callee.
    ///
    /// The arcs of a caller are collected by counting sort, and those to one callee found in a table: with millions of arcs,
    /// that takes a fraction of the time of a sort.
    pub(super) fn folded(&self, group_count: usize, group: impl Fn(u32) -> u32) -> ArcColumns {
        let callers = self.callers.iter().map(|&caller| Some(group(caller) as usize));
        let by_caller = Csr::new(group_count, callers);
        let mut folded = ArcColumns::zeros(self.costs.width(), 0);
        // By callee: its arc from this caller. Those of earlier callers have lower indices.
        let mut arc_of: Vec<Option<u32>> = vec![None; group_count];
        let mut callees: Vec<u32> = Vec::new();
        let zeros = vec![0; self.costs.width()];
        for caller in 0..group_count {
            let first = folded.len();
            let is_known = |arc: Option<u32>| arc.is_some_and(|arc| arc as usize >= first);
            callees.clear();
            for &arc in by_caller.get(caller) {
                let callee = group(self.callees[arc as usize]);
                if !is_known(arc_of[callee as usize]) {
                    arc_of[callee as usize] = Some(narrow(first));
                    callees.push(callee);
                }
            }
            callees.sort_unstable();
            for &callee in &callees {
                arc_of[callee as usize] = Some(narrow(folded.len()));
                folded.push((narrow(caller), callee), 0, &zeros);
            }
            for arc in by_caller.get(caller).iter().map(|&arc| arc as usize) {
                let to = arc_of[group(self.callees[arc]) as usize].map_or(first, |to| to as usize);
                folded.counts[to] += self.counts[arc];
                folded.costs.add(to, self.costs.row(arc));
                if self.is_inlined(arc) {
                    folded.mark_inlined(to);
                }
            }
        }
        folded
    }

    /// Sorts by caller and callee, and sums arcs with the same ends.
    pub(super) fn merged(&self) -> ArcColumns {
        let mut order: Vec<u32> = (0..self.len()).map(narrow).collect();
        let ends = |index: usize| (self.callers[index], self.callees[index]);
        order.sort_unstable_by_key(|&index| (ends(index as usize), index));
        let mut merged = ArcColumns::zeros(self.costs.width(), 0);
        for index in order.into_iter().map(|index| index as usize) {
            let last = merged.len().checked_sub(1);
            match last.filter(|&last| (merged.callers[last], merged.callees[last]) == ends(index)) {
                Some(last) => {
                    merged.counts[last] += self.counts[index];
                    merged.costs.add(last, self.costs.row(index));
                }
                None => merged.push(ends(index), self.counts[index], self.costs.row(index)),
            }
            if self.is_inlined(index) {
                merged.mark_inlined(merged.len() - 1);
            }
        }
        merged
    }
}

/// Takes the first `count` elements off a slice.
fn split_off<'a, T>(slice: &mut &'a mut [T], count: usize) -> &'a mut [T] {
    let (first, rest) = std::mem::take(slice).split_at_mut(count);
    *slice = rest;
    first
}

/// A slice of [`ArcColumns`], to be filled in.
#[derive(Debug)]
pub(crate) struct ArcColumnsMut<'a> {
    callers: &'a mut [u32],
    callees: &'a mut [u32],
    counts: &'a mut [Cost],
    costs: &'a mut [Cost],
    width: usize,
}

impl ArcColumnsMut<'_> {
    /// Sets the ends and the count of an arc, and returns its costs to be filled in.
    #[inline]
    pub(crate) fn set(&mut self, index: usize, (caller, callee): (u32, u32), count: Cost) -> &mut [Cost] {
        self.callers[index] = caller;
        self.callees[index] = callee;
        self.counts[index] = count;
        &mut self.costs[index * self.width..][..self.width]
    }
}
