//! Numbers of several runs: their median and how far they spread.

use gristmill_format::Cost;

use crate::cost::CostTable;

/// What one side says of a number: over all of its runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sample {
    /// The median; of an even number of runs the lower of the two in the middle, so that it is always one that was
    /// measured.
    pub median: Cost,
    /// The least.
    pub least: Cost,
    /// The most.
    pub most: Cost,
}

impl Sample {
    /// Of one run.
    pub fn of_one(cost: Cost) -> Self {
        Sample { median: cost, least: cost, most: cost }
    }

    /// Of several runs; zeros of none.
    pub fn of(costs: &mut [Cost]) -> Self {
        costs.sort_unstable();
        let middle = costs.len().saturating_sub(1) / 2;
        match (costs.first(), costs.get(middle), costs.last()) {
            (Some(&least), Some(&median), Some(&most)) => Sample { median, least, most },
            _ => Sample::default(),
        }
    }

    /// How far apart the runs are.
    pub fn spread(&self) -> Cost {
        self.most - self.least
    }
}

/// A number on both sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Change {
    /// In the base.
    pub base: Sample,
    /// In the new profile.
    pub new: Sample,
}

impl Change {
    /// How much more it is in the new profile.
    pub fn delta(&self) -> Cost {
        self.new.median - self.base.median
    }

    /// Whether it changed at all.
    pub fn is_none(&self) -> bool {
        self.delta() == 0
    }

    /// Whether it may be chance: it changed, the runs of a side differ, and the ranges of both sides overlap.
    pub fn is_noise(&self) -> bool {
        let has_spread = self.base.spread() > 0 || self.new.spread() > 0;
        !self.is_none() && has_spread && self.base.least <= self.new.most && self.new.least <= self.base.most
    }
}

/// Costs of many things over all runs of a side.
#[derive(Debug, Clone)]
pub(super) struct SampleTable {
    median: CostTable,
    /// Least and most; of one run there is nothing more to know than the median.
    range: Option<Box<(CostTable, CostTable)>>,
}

impl SampleTable {
    /// One table for each run, all of the same size.
    pub(super) fn of(mut runs: Vec<CostTable>) -> Self {
        if runs.len() < 2 {
            let median = runs.pop().unwrap_or_else(|| CostTable::new(0, 0));
            return SampleTable { median, range: None };
        }
        let (mut median, mut least) = (runs[0].clone(), runs[0].clone());
        let mut most = runs[0].clone();
        let mut costs = Vec::with_capacity(runs.len());
        for row in 0..median.len() {
            for column in 0..median.width() {
                costs.clear();
                costs.extend(runs.iter().map(|run| run.row(row)[column]));
                let sample = Sample::of(&mut costs);
                median.row_mut(row)[column] = sample.median;
                least.row_mut(row)[column] = sample.least;
                most.row_mut(row)[column] = sample.most;
            }
        }
        SampleTable { median, range: Some(Box::new((least, most))) }
    }

    pub(super) fn get(&self, row: usize, column: usize) -> Sample {
        let median = self.median.row(row)[column];
        match self.range.as_deref() {
            None => Sample::of_one(median),
            Some((least, most)) => {
                Sample { median, least: least.row(row)[column], most: most.row(row)[column] }
            }
        }
    }
}

/// A table on both sides.
#[derive(Debug, Clone)]
pub(super) struct ChangeTable {
    pub(super) base: SampleTable,
    pub(super) new: SampleTable,
}

impl ChangeTable {
    pub(super) fn get(&self, row: usize, column: usize) -> Change {
        Change { base: self.base.get(row, column), new: self.new.get(row, column) }
    }
}
