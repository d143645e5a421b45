//! The least cost of a line that stays.

use gristmill_format::{Cost, Costs};

use crate::cost::CostTable;
use crate::decode::BlockLine;
use crate::id::EventId;
use crate::profile::Profile;

/// Costs below this have a bucket each.
const EXACT: u128 = 64;
/// Larger ones have this many buckets for each power of two, a bucket is at most 3% wide.
const BUCKETS_PER_POWER: usize = 32;
const BUCKET_COUNT: usize = EXACT as usize + (128 - 6) * BUCKETS_PER_POWER;

/// The most lines that stay, unless all are wanted. A page of a million lines is slow to open, and nobody reads them.
const MAX_LINES: u64 = 100_000;

/// By event type: the least cost, without sign, with which a line or a function stays.
#[derive(Debug)]
pub(super) struct LeastCosts(Vec<u128>);

impl LeastCosts {
    /// Finds those of lines. The lines that stay have at least the share of each event type, and up to a bucket more, unless
    /// there are too many.
    pub(super) fn of_lines(profile: &Profile, per_mille: u32) -> Self {
        let mut all: Vec<Histogram> = profile.events().map(|_| Histogram::default()).collect();
        for part in profile.parts() {
            let columns = part.event_types();
            let begin = || (vec![0; columns.len()], vec![Histogram::default(); columns.len()]);
            let of_runs = profile.fold_lines(&part, begin, |(row, histograms), _, line| {
                let (costs, is_self) = match line {
                    BlockLine::SelfCost { costs, .. } => (costs, true),
                    BlockLine::Calls { costs, .. } => (costs, false),
                    BlockLine::Jump { .. } => return,
                };
                decode(costs, row);
                for (histogram, &mut cost) in histograms.iter_mut().zip(row) {
                    histogram.count(cost);
                    if is_self {
                        histogram.add(cost);
                    }
                }
            });
            for (_, histograms) in of_runs {
                for (event, histogram) in columns.iter().zip(&histograms) {
                    all[event.index()].add_all(histogram);
                }
            }
        }
        let most = if per_mille < 1000 { MAX_LINES / (all.len() as u64).max(1) } else { u64::MAX };
        LeastCosts(
            all.iter().map(|histogram| histogram.least(per_mille).max(histogram.least_of(most))).collect(),
        )
    }

    /// Finds those of functions, from the self costs of each.
    pub(super) fn of_functions(self_costs: &CostTable, per_mille: u32) -> Self {
        let mut all = vec![Histogram::default(); self_costs.width()];
        for costs in self_costs.rows() {
            all.iter_mut().zip(costs).for_each(|(histogram, &cost)| histogram.add(cost));
        }
        LeastCosts(all.iter().map(|histogram| histogram.least(per_mille)).collect())
    }

    /// `true` if a line with these costs stays.
    pub(super) fn is_reached(&self, columns: &[EventId], costs: &[Cost]) -> bool {
        columns.iter().zip(costs).any(|(event, cost)| cost.unsigned_abs() >= self.0[event.index()])
    }

    /// `true` if a function with these self costs stays.
    pub(super) fn is_reached_by(&self, costs: &[Cost]) -> bool {
        self.0.iter().zip(costs).any(|(&least, cost)| cost.unsigned_abs() >= least)
    }
}

/// Decodes costs. A number that is no cost is what the loader takes for it.
pub(super) fn decode(costs: Costs<'_>, row: &mut [Cost]) {
    let _ = costs.decode(row);
}

/// Sums of costs and counts of lines, by size of the cost. Both are empty until there is one.
#[derive(Debug, Clone, Default)]
struct Histogram {
    sums: Vec<u128>,
    counts: Vec<u64>,
}

impl Histogram {
    fn add(&mut self, cost: Cost) {
        let cost = cost.unsigned_abs();
        if cost == 0 {
            return;
        }
        if self.sums.is_empty() {
            self.sums = vec![0; BUCKET_COUNT];
        }
        let sum = &mut self.sums[bucket_of(cost)];
        *sum = sum.saturating_add(cost);
    }

    /// Counts a line.
    fn count(&mut self, cost: Cost) {
        let cost = cost.unsigned_abs();
        if cost == 0 {
            return;
        }
        if self.counts.is_empty() {
            self.counts = vec![0; BUCKET_COUNT];
        }
        self.counts[bucket_of(cost)] += 1;
    }

    fn add_all(&mut self, other: &Histogram) {
        if self.sums.is_empty() {
            self.sums.clone_from(&other.sums);
        } else {
            self.sums.iter_mut().zip(&other.sums).for_each(|(sum, more)| *sum = sum.saturating_add(*more));
        }
        if self.counts.is_empty() {
            self.counts.clone_from(&other.counts);
        } else {
            self.counts.iter_mut().zip(&other.counts).for_each(|(count, more)| *count += more);
        }
    }

    /// Returns the least cost that no more lines than these have.
    fn least_of(&self, most: u64) -> u128 {
        let mut left = most;
        for (bucket, count) in self.counts.iter().enumerate().rev() {
            match left.checked_sub(*count) {
                Some(less) => left = less,
                None => return start_of(bucket + 1),
            }
        }
        0
    }

    /// Returns the least cost of the lines that have a share of all.
    fn least(&self, per_mille: u32) -> u128 {
        let all = self.sums.iter().fold(0u128, |sum, more| sum.saturating_add(*more));
        // The rest is rounded down, as costs of more than 120 bits cannot be multiplied.
        let left_out = (all / 1000).saturating_mul(u128::from(1000 - per_mille.min(1000)))
            + all % 1000 * u128::from(1000 - per_mille.min(1000)) / 1000;
        let mut below = 0u128;
        for (bucket, sum) in self.sums.iter().enumerate() {
            below = below.saturating_add(*sum);
            if below > left_out {
                return start_of(bucket);
            }
        }
        // Nothing has a cost, or nothing has to stay.
        u128::MAX
    }
}

fn bucket_of(cost: u128) -> usize {
    if cost < EXACT {
        return usize::try_from(cost).unwrap_or_default();
    }
    let power = cost.ilog2();
    let within = usize::try_from(cost >> (power - 5)).unwrap_or_default() - BUCKETS_PER_POWER;
    EXACT as usize + (power as usize - 6) * BUCKETS_PER_POWER + within
}

/// Returns the least cost of a bucket.
fn start_of(bucket: usize) -> u128 {
    if bucket >= BUCKET_COUNT {
        return u128::MAX;
    }
    let Some(above) = bucket.checked_sub(EXACT as usize) else { return bucket as u128 };
    let (power, within) = (above / BUCKETS_PER_POWER + 6, above % BUCKETS_PER_POWER);
    ((BUCKETS_PER_POWER + within) as u128) << (power - 5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_follow_each_other() {
        for bucket in 1..BUCKET_COUNT {
            let start = start_of(bucket);
            assert_eq!((bucket_of(start), bucket_of(start - 1)), (bucket, bucket - 1), "{bucket}");
        }
        assert_eq!(bucket_of(u128::MAX), BUCKET_COUNT - 1);
    }

    #[test]
    fn lines_that_stay_have_the_share() {
        let least = |costs: &[Cost], per_mille| {
            let mut histogram = Histogram::default();
            costs.iter().for_each(|&cost| histogram.add(cost));
            histogram.least(per_mille)
        };
        let costs = [1, 2, 3, 4, 30, 60];
        assert_eq!(least(&costs, 1000), 1);
        assert_eq!(least(&costs, 990), 2);
        assert_eq!(least(&costs, 989), 2);
        assert_eq!(least(&costs, 900), 30);
        assert_eq!(least(&costs, 899), 30);
        assert_eq!(least(&costs, 600), 60);
        assert_eq!(least(&costs, 1), 60);
        assert_eq!(least(&costs, 0), u128::MAX);
        assert_eq!(least(&[-60, 40], 600), 60);
        assert_eq!(least(&[], 990), u128::MAX);
        assert_eq!(least(&[0], 1000), u128::MAX);
    }

    #[test]
    fn no_more_lines_stay_than_are_asked_for() {
        let least_of = |costs: &[Cost], most| {
            let mut histogram = Histogram::default();
            costs.iter().for_each(|&cost| histogram.count(cost));
            histogram.least_of(most)
        };
        let costs = [1, -2, 3, 3, 30, 60, 0];
        let least = [0, 1, 2, 3, 4, 5, 6].map(|most| least_of(&costs, most));
        assert_eq!(least, [61, 31, 4, 4, 3, 2, 0]);
        assert_eq!(least_of(&[Cost::MAX], 0), start_of(bucket_of(Cost::MAX.unsigned_abs()) + 1));
        assert_eq!(least_of(&[], 0), 0);
    }
}
