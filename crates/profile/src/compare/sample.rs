//! Numbers of several runs: their median and how far they spread.

use gristmill_format::Cost;

use super::id::Side;
use super::raw::Run;
use crate::cost::CostTable;

/// What one side says of a number: over all of its runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sample {
    /// The median; of an even number of runs the lower of the two in the middle, so that it is always one that was
    /// measured.
    pub median: Cost,
    /// The least.
    pub min: Cost,
    /// The most.
    pub max: Cost,
}

impl Sample {
    /// Of one run.
    pub fn from_cost(cost: Cost) -> Self {
        Sample { median: cost, min: cost, max: cost }
    }

    /// Of several runs; zeros of none.
    pub fn from_runs(costs: &mut [Cost]) -> Self {
        costs.sort_unstable();
        match &*costs {
            [] => Sample::default(),
            [min, .., max] => Sample { median: costs[(costs.len() - 1) / 2], min: *min, max: *max },
            [cost] => Sample::from_cost(*cost),
        }
    }

    /// How far apart the runs are.
    pub fn spread(&self) -> Cost {
        self.max - self.min
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
    /// Summarizes a column of one row for each run; a run without the row has 0.
    pub(super) fn from_rows<'r>(
        rows: impl Iterator<Item = (Side, Option<&'r [Cost]>)> + Clone,
        column: usize,
    ) -> Self {
        let sample = |side: Side| {
            let of_side = rows.clone().filter(|(other, _)| *other == side);
            let mut costs: Vec<Cost> = of_side.map(|(_, row)| row.map_or(0, |row| row[column])).collect();
            Sample::from_runs(&mut costs)
        };
        Change { base: sample(Side::Base), new: sample(Side::New) }
    }

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
        !self.is_none() && has_spread && self.base.min <= self.new.max && self.new.min <= self.base.max
    }
}

/// Costs of many elements over all runs of a side.
#[derive(Debug, Clone)]
enum SampleTable {
    /// One run.
    One(CostTable),
    /// Several runs.
    Several(Box<Summary>),
}

/// Medians and ranges of the costs of several runs.
#[derive(Debug, Clone)]
struct Summary {
    median: CostTable,
    min: CostTable,
    max: CostTable,
}

impl SampleTable {
    /// Summarizes one table for each run, at least one, all of the same size.
    fn new(mut runs: Vec<CostTable>) -> Self {
        if runs.len() == 1 {
            return SampleTable::One(runs.remove(0));
        }
        let [mut median, mut min, mut max] = [(); 3].map(|()| runs[0].clone());
        let mut costs = Vec::with_capacity(runs.len());
        for row in 0..median.len() {
            for column in 0..median.width() {
                costs.clear();
                costs.extend(runs.iter().map(|run| run.row(row)[column]));
                let sample = Sample::from_runs(&mut costs);
                median.row_mut(row)[column] = sample.median;
                min.row_mut(row)[column] = sample.min;
                max.row_mut(row)[column] = sample.max;
            }
        }
        SampleTable::Several(Box::new(Summary { median, min, max }))
    }

    fn get(&self, row: usize, column: usize) -> Sample {
        match self {
            SampleTable::One(costs) => Sample::from_cost(costs.row(row)[column]),
            SampleTable::Several(summary) => {
                let [median, min, max] =
                    [&summary.median, &summary.min, &summary.max].map(|table| table.row(row)[column]);
                Sample { median, min, max }
            }
        }
    }
}

/// Costs of many elements on both sides.
#[derive(Debug, Clone)]
pub(super) struct ChangeTable {
    base: SampleTable,
    new: SampleTable,
}

impl ChangeTable {
    /// Summarizes one table for each run, all of the same size.
    pub(super) fn new(runs: &[Run<'_>], tables: Vec<CostTable>) -> Self {
        let (mut base, mut new) = (Vec::new(), Vec::new());
        for (table, run) in tables.into_iter().zip(runs) {
            match run.side {
                Side::Base => base.push(table),
                Side::New => new.push(table),
            }
        }
        ChangeTable { base: SampleTable::new(base), new: SampleTable::new(new) }
    }

    pub(super) fn get(&self, row: usize, column: usize) -> Change {
        Change { base: self.base.get(row, column), new: self.new.get(row, column) }
    }
}
