//! The options of writing a merged profile.

use super::ratio::Ratio;

/// The way to combine the numbers of several runs. See the example of [`Merger`](super::Merger).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Combine {
    /// Their sum.
    #[default]
    Sum,
    /// Their sum divided by the count of runs that have the event type, rounded so that totals are exact to one unit.
    Mean,
    /// Their median, line by line; of two in the middle, their mean, rounded in the same way. A run without a line has 0. It
    /// needs a merger that keeps runs.
    Median,
}

/// The options of writing a merged profile. See the example of [`Merger`](super::Merger).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MergeFormat {
    /// The way to combine the numbers of several runs.
    pub combine: Combine,
    /// A factor for all numbers, counts included.
    pub scale: Option<Ratio>,
}
