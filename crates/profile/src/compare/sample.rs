//! Samples: the median and the range of several runs.

use gristmill_format::Cost;

use super::id::Side;
use super::raw::Run;
use crate::cost::CostTable;

/// A number over all runs of a side. See the example of [`Comparison`](super::Comparison).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sample {
    /// The median; for an even count of runs, the lower of the two in the middle, so that it is always a measured value.
    pub median: Cost,
    /// The minimum.
    pub min: Cost,
    /// The maximum.
    pub max: Cost,
}

impl Sample {
    /// Makes the sample of one run.
    pub fn from_cost(cost: Cost) -> Self {
        Sample { median: cost, min: cost, max: cost }
    }

    /// Makes the sample of several runs; zeros if there is none.
    pub fn from_runs(costs: &mut [Cost]) -> Self {
        costs.sort_unstable();
        match &*costs {
            [] => Sample::default(),
            [min, .., max] => Sample { median: costs[(costs.len() - 1) / 2], min: *min, max: *max },
            [cost] => Sample::from_cost(*cost),
        }
    }

    /// Returns the width of the range.
    pub fn spread(&self) -> Cost {
        self.max - self.min
    }
}

/// A number on both sides. See the example of [`Comparison`](super::Comparison).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Change {
    /// The sample of the base.
    pub base: Sample,
    /// The sample of the new side.
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

    /// Returns the median of the new side less that of the base.
    pub fn delta(&self) -> Cost {
        self.new.median - self.base.median
    }

    /// Returns `true` if there is no change.
    pub fn is_none(&self) -> bool {
        self.delta() == 0
    }

    /// Returns `true` if the change can be accidental: the runs of a side differ, and the ranges of both sides overlap.
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
