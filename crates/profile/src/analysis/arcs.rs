//! Calls from one function to another.

use gristmill_format::Cost;

use crate::cost::CostTable;
use crate::id::{FunctionId, narrow};

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

/// Arcs in columns, so that many of them take little room, and several threads can fill them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Arcs {
    pub(super) callers: Vec<u32>,
    pub(super) callees: Vec<u32>,
    pub(super) counts: Vec<Cost>,
    /// Inclusive cost of each of them.
    pub(super) costs: CostTable,
}

impl Arcs {
    /// So many that are yet to be filled in.
    pub(crate) fn zeros(width: usize, count: usize) -> Self {
        Arcs {
            callers: vec![0; count],
            callees: vec![0; count],
            counts: vec![0; count],
            costs: CostTable::new(width, count),
        }
    }

    /// In pieces of so many arcs each.
    pub(crate) fn pieces(&mut self, counts: &[usize]) -> Vec<ArcsMut<'_>> {
        let width = self.costs.width();
        let (mut callers, mut callees, mut all) =
            (&mut self.callers[..], &mut self.callees[..], &mut self.counts[..]);
        let mut costs = self.costs.values_mut();
        counts
            .iter()
            .map(|&count| ArcsMut {
                callers: callers.split_off_mut(..count).unwrap_or_default(),
                callees: callees.split_off_mut(..count).unwrap_or_default(),
                counts: all.split_off_mut(..count).unwrap_or_default(),
                costs: costs.split_off_mut(..count * width).unwrap_or_default(),
                width,
            })
            .collect()
    }

    /// Caller and callee of each of them.
    pub(super) fn ends(&self) -> impl DoubleEndedIterator<Item = (u32, u32)> + ExactSizeIterator + Clone {
        self.callers.iter().copied().zip(self.callees.iter().copied())
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

    /// Sorted by caller and callee, those between the same two functions made one.
    pub(super) fn merged(&self) -> Arcs {
        let mut order: Vec<u32> = (0..self.len()).map(narrow).collect();
        let ends = |place: usize| (self.callers[place], self.callees[place]);
        order.sort_unstable_by_key(|&place| (ends(place as usize), place));
        let mut merged = Arcs::zeros(self.costs.width(), 0);
        for place in order.into_iter().map(|place| place as usize) {
            let last = merged.len().checked_sub(1);
            match last.filter(|&last| (merged.callers[last], merged.callees[last]) == ends(place)) {
                Some(last) => {
                    merged.counts[last] += self.counts[place];
                    merged.costs.add(last, self.costs.row(place));
                }
                None => merged.push(ends(place), self.counts[place], self.costs.row(place)),
            }
        }
        merged
    }
}

/// Some of the arcs, to be filled in.
#[derive(Debug)]
pub(crate) struct ArcsMut<'a> {
    callers: &'a mut [u32],
    callees: &'a mut [u32],
    counts: &'a mut [Cost],
    costs: &'a mut [Cost],
    width: usize,
}

impl ArcsMut<'_> {
    /// Fills one in but for its costs, which are returned.
    #[inline]
    pub(crate) fn put(&mut self, place: usize, (caller, callee): (u32, u32), count: Cost) -> &mut [Cost] {
        self.callers[place] = caller;
        self.callees[place] = callee;
        self.counts[place] = count;
        &mut self.costs[place * self.width..][..self.width]
    }
}
