//! The least cost of a line that stays.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use gristmill_format::{Cost, Costs};

use crate::cost::CostTable;
use crate::decode::{BlockLine, Place};
use crate::hash::Map;
use crate::id::{EventId, FunctionId};
use crate::profile::Profile;

/// Costs below this have a bucket each.
const EXACT: u16 = 64;
/// Larger ones have this many buckets for each power of two, a bucket is at most 3% wide.
const BUCKETS_PER_POWER: u16 = 32;

/// The limit of lines that stay, unless all are wanted. A page of a million lines is slow to open, and nobody reads them.
const MAX_LINES: usize = 100_000;

/// The conditions on which lines or functions stay.
#[derive(Debug)]
pub(super) struct LeastCosts {
    /// By event type: the least cost, without sign.
    costs: Vec<u128>,
    /// The first line that does not stay although its costs suffice, and the divisors of ranks: if there are too many.
    limit: Option<(Rank, Vec<f64>)>,
}

/// The rank of a line among all that could stay: first its largest share of the cost of an event type, then its function and its
/// address or line.
type Rank = (Reverse<u64>, FunctionId, u64);

impl LeastCosts {
    /// Finds those of lines. The lines that stay have at least the share of each event type, and up to a bucket more, unless
    /// there are too many.
    pub(super) fn of_lines(profile: &Profile, per_mille: u32) -> Self {
        Self::of_most_lines(profile, per_mille, if per_mille < 1000 { MAX_LINES } else { usize::MAX })
    }

    fn of_most_lines(profile: &Profile, per_mille: u32, most: usize) -> Self {
        let mut sizes = Sizes::default();
        for part in profile.parts() {
            let columns = part.event_types();
            let begin = || (vec![0; columns.len()], Sizes::default());
            let of_runs = profile.fold_lines(&part, begin, |(row, sizes), _, line| {
                let Some((_, costs, is_self)) = costs_of(&line) else { return };
                decode(costs, row);
                for (&event, &mut cost) in columns.iter().zip(row) {
                    sizes.count(event, cost, is_self);
                }
            });
            of_runs.into_iter().for_each(|(_, of_run)| sizes.add_all(of_run));
        }
        let sizes = sizes.by_event(profile.event_count());
        let costs: Vec<u128> = sizes.iter().map(|sizes| sizes.least(per_mille)).collect();
        let mut least = LeastCosts { costs, limit: None };
        let counts = sizes.iter().zip(&least.costs).map(|(sizes, &cost)| sizes.count_from(cost));
        if counts.fold(0u64, u64::saturating_add) > most as u64 {
            #[expect(clippy::cast_precision_loss, reason = "it decides an order only")]
            let totals: Vec<f64> = sizes.iter().map(|sizes| sizes.sum() as f64).collect();
            least.limit = least.first_beyond(profile, &totals, most).map(|rank| (rank, totals));
        }
        least
    }

    /// Returns the rank of the first line that is one too many.
    fn first_beyond(&self, profile: &Profile, totals: &[f64], most: usize) -> Option<Rank> {
        let mut first = BinaryHeap::new();
        let keep = |ranks: &mut BinaryHeap<Rank>, rank| {
            ranks.push(rank);
            if ranks.len() > most + 1 {
                ranks.pop();
            }
        };
        for part in profile.parts() {
            let columns = part.event_types();
            let begin = || (vec![0; columns.len()], BinaryHeap::new());
            let of_runs = profile.fold_lines(&part, begin, |(row, ranks), function, line| {
                let Some((place, costs, _)) = costs_of(&line) else { return };
                decode(costs, row);
                if self.is_enough(columns, row) {
                    keep(ranks, rank(totals, columns, row, function, place));
                }
            });
            of_runs.into_iter().flat_map(|(_, ranks)| ranks).for_each(|rank| keep(&mut first, rank));
        }
        // All stay if there are fewer.
        first.pop().filter(|_| first.len() == most)
    }

    /// Finds those of functions, from the self costs of each.
    pub(super) fn of_functions(self_costs: &CostTable, per_mille: u32) -> Self {
        let mut sizes = Sizes::default();
        for costs in self_costs.rows() {
            costs.iter().enumerate().for_each(|(event, &cost)| sizes.count(EventId::new(event), cost, true));
        }
        let costs = sizes.by_event(self_costs.width()).iter().map(|sizes| sizes.least(per_mille)).collect();
        LeastCosts { costs, limit: None }
    }

    /// `true` if a line of a function with these costs stays.
    pub(super) fn is_reached(
        &self,
        columns: &[EventId],
        costs: &[Cost],
        function: FunctionId,
        place: &Place,
    ) -> bool {
        let is_within =
            |(first, totals): &(Rank, Vec<f64>)| rank(totals, columns, costs, function, place) < *first;
        self.is_enough(columns, costs) && self.limit.as_ref().is_none_or(is_within)
    }

    fn is_enough(&self, columns: &[EventId], costs: &[Cost]) -> bool {
        columns.iter().zip(costs).any(|(event, cost)| cost.unsigned_abs() >= self.costs[event.index()])
    }

    /// `true` if a function with these self costs stays.
    pub(super) fn is_reached_by(&self, costs: &[Cost]) -> bool {
        self.costs.iter().zip(costs).any(|(&least, cost)| cost.unsigned_abs() >= least)
    }
}

/// Returns the place and the costs of a line that has some, and `true` if they are self costs.
pub(super) fn costs_of<'l>(line: &'l BlockLine<'_>) -> Option<(&'l Place, Costs<'l>, bool)> {
    match line {
        BlockLine::SelfCost { place, costs } => Some((place, *costs, true)),
        BlockLine::Calls { place, costs, .. } => Some((place, *costs, false)),
        BlockLine::Jump { .. } => None,
    }
}

fn rank(totals: &[f64], columns: &[EventId], costs: &[Cost], function: FunctionId, place: &Place) -> Rank {
    #[expect(clippy::cast_precision_loss, reason = "it decides an order only")]
    let shares = columns
        .iter()
        .zip(costs)
        .filter(|(event, _)| totals[event.index()] > 0.0)
        .map(|(event, cost)| cost.unsigned_abs() as f64 / totals[event.index()]);
    // The bits of numbers above 0 are in their order.
    let share = shares.fold(0.0, f64::max).to_bits();
    (Reverse(share), function, place.address.or(place.line).unwrap_or(0))
}

/// Decodes costs. A number that is no cost is what the loader takes for it.
pub(super) fn decode(costs: Costs<'_>, row: &mut [Cost]) {
    let _ = costs.decode(row);
}

/// Sums of costs and counts of lines, by event type and size of the cost.
#[derive(Debug, Default)]
struct Sizes(Map<(EventId, u16), Bucket>);

/// The same of one event type, by size.
#[derive(Debug, Default)]
struct SizesOfEvent(Vec<(u16, Bucket)>);

/// The costs of about one size.
#[derive(Debug, Clone, Copy, Default)]
struct Bucket {
    /// The sum of self costs.
    sum: u128,
    line_count: u64,
}

impl Sizes {
    /// Counts the cost of a line.
    fn count(&mut self, event: EventId, cost: Cost, is_self: bool) {
        let cost = cost.unsigned_abs();
        if cost == 0 {
            return;
        }
        let bucket = self.0.entry((event, bucket_of(cost))).or_default();
        bucket.line_count += 1;
        if is_self {
            bucket.sum = bucket.sum.saturating_add(cost);
        }
    }

    fn add_all(&mut self, other: Sizes) {
        if self.0.is_empty() {
            *self = other;
            return;
        }
        #[expect(clippy::iter_over_hash_type, reason = "sums have no order")]
        for (key, more) in other.0 {
            let bucket = self.0.entry(key).or_default();
            bucket.line_count += more.line_count;
            bucket.sum = bucket.sum.saturating_add(more.sum);
        }
    }

    fn by_event(self, event_count: usize) -> Vec<SizesOfEvent> {
        let mut of_events: Vec<SizesOfEvent> = (0..event_count).map(|_| SizesOfEvent::default()).collect();
        #[expect(clippy::iter_over_hash_type, reason = "they are sorted then")]
        for ((event, size), bucket) in self.0 {
            of_events[event.index()].0.push((size, bucket));
        }
        of_events.iter_mut().for_each(|sizes| sizes.0.sort_unstable_by_key(|(size, _)| *size));
        of_events
    }
}

impl SizesOfEvent {
    fn sum(&self) -> u128 {
        self.0.iter().fold(0u128, |sum, (_, bucket)| sum.saturating_add(bucket.sum))
    }

    /// Returns how many lines have a cost, that of the start of a bucket, or more.
    fn count_from(&self, cost: u128) -> u64 {
        let first = bucket_of(cost);
        let is_reached = |(size, _): &&(u16, Bucket)| cost < u128::MAX && *size >= first;
        self.0.iter().filter(is_reached).map(|(_, bucket)| bucket.line_count).sum()
    }

    /// Returns the least cost of the lines that have a share of all.
    fn least(&self, per_mille: u32) -> u128 {
        let all = self.sum();
        // The rest is rounded down, as costs of more than 120 bits cannot be multiplied.
        let left_out = (all / 1000).saturating_mul(u128::from(1000 - per_mille.min(1000)))
            + all % 1000 * u128::from(1000 - per_mille.min(1000)) / 1000;
        let mut below = 0u128;
        for (size, bucket) in &self.0 {
            below = below.saturating_add(bucket.sum);
            if below > left_out {
                return start_of(*size);
            }
        }
        // Nothing has a cost, or nothing has to stay.
        u128::MAX
    }
}

fn bucket_of(cost: u128) -> u16 {
    let low = |bits: u128| u16::try_from(bits).unwrap_or(u16::MAX);
    if cost < u128::from(EXACT) {
        return low(cost);
    }
    let power = low(cost.ilog2().into());
    let within = low(cost >> (power - 5)) - BUCKETS_PER_POWER;
    EXACT + (power - 6) * BUCKETS_PER_POWER + within
}

/// Returns the least cost of a bucket.
fn start_of(bucket: u16) -> u128 {
    let Some(above) = bucket.checked_sub(EXACT) else { return bucket.into() };
    let (power, within) = (above / BUCKETS_PER_POWER + 6, above % BUCKETS_PER_POWER);
    u128::from(BUCKETS_PER_POWER + within) << (power - 5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_follow_each_other() {
        const LAST: u16 = EXACT + (128 - 6) * BUCKETS_PER_POWER - 1;
        for bucket in 1..=LAST {
            let start = start_of(bucket);
            assert_eq!((bucket_of(start), bucket_of(start - 1)), (bucket, bucket - 1), "{bucket}");
        }
        assert_eq!(bucket_of(u128::MAX), LAST);
    }

    #[test]
    fn lines_that_stay_have_the_share() {
        let least = |costs: &[Cost], per_mille| {
            let (mut sizes, event) = (Sizes::default(), EventId::new(0));
            costs.iter().for_each(|&cost| sizes.count(event, cost, true));
            sizes.by_event(1)[0].least(per_mille)
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
        let text = "events: A B\nfn=f\n1 60 0\n2 30 0\n3 3 0\n4 3 0\n5 2 0\n6 0 8\n7 0 2\nfn=g\n8 2 0\n";
        let profile = Profile::from_bytes(text.as_bytes());
        let part = profile.parts().next().unwrap();
        let lines_of = |most| {
            let least = LeastCosts::of_most_lines(&profile, 1000, most);
            let of_runs = profile.fold_lines(&part, Vec::new, |lines, function, line| {
                let (place, costs, _) = costs_of(&line).unwrap();
                let mut row = [0; 2];
                decode(costs, &mut row);
                if least.is_reached(part.event_types(), &row, function, place) {
                    lines.push(place.line.unwrap());
                }
            });
            of_runs.concat()
        };
        assert_eq!(lines_of(0), []);
        assert_eq!(lines_of(1), [6]);
        assert_eq!(lines_of(2), [1, 6]);
        assert_eq!(lines_of(4), [1, 2, 6, 7]);
        // Of equal costs, the first.
        assert_eq!(lines_of(5), [1, 2, 3, 6, 7]);
        assert_eq!(lines_of(7), [1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(lines_of(8).len(), 8);
        assert_eq!(lines_of(usize::MAX - 1).len(), 8);
    }
}
