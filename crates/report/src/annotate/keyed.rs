//! Costs by something that comes several times and in any order.

use std::hash::Hash;
use std::ops::Range;

use gristmill_format::{Cost, Costs};
use gristmill_profile::EventId;
use gristmill_profile::hash::Map;

use super::given::{GivenCosts, GivenRow};

/// A row of costs for each key.
#[derive(Debug)]
pub(super) struct KeyedCosts<K> {
    rows: Map<K, usize>,
    keys: Vec<K>,
    costs: GivenCosts,
    /// What comes next is often about the same.
    last: Option<(K, usize)>,
}

impl<K: Copy + Eq + Hash> KeyedCosts<K> {
    /// No rows yet.
    pub(super) fn new(width: usize) -> Self {
        KeyedCosts { rows: Map::default(), keys: Vec::new(), costs: GivenCosts::new(width), last: None }
    }

    fn row_of(&mut self, key: K) -> usize {
        if let Some((last, row)) = self.last
            && last == key
        {
            return row;
        }
        let row = *self.rows.entry(key).or_insert_with(|| {
            self.keys.push(key);
            self.costs.begin_row()
        });
        self.last = Some((key, row));
        row
    }

    /// Adds the costs of a line; `events` are those of its part. Says which row they went to.
    pub(super) fn add_line(&mut self, key: K, costs: &Costs<'_>, events: &[EventId]) -> usize {
        let row = self.row_of(key);
        self.costs.add_line(row, costs, events);
        row
    }

    /// Adds all costs of a row, which may be of another table. Says which row they went to.
    pub(super) fn add_row(&mut self, key: K, costs: GivenRow<'_>) -> usize {
        let row = self.row_of(key);
        self.costs.add_row(row, costs);
        row
    }

    /// Adds what another has.
    pub(super) fn merge(&mut self, more: &Self) {
        more.keys.iter().zip(0..).for_each(|(&key, row)| {
            self.add_row(key, more.costs.row(row));
        });
    }

    /// How many event types there are.
    pub(super) fn width(&self) -> usize {
        self.costs.width()
    }

    /// The keys, in the order in which they first came: the place of each is its row.
    pub(super) fn keys(&self) -> &[K] {
        &self.keys
    }

    pub(super) fn row(&self, row: usize) -> GivenRow<'_> {
        self.costs.row(row)
    }

    /// What was added for a key.
    pub(super) fn get(&self, key: K) -> GivenRow<'_> {
        self.rows.get(&key).map_or(GivenRow::NONE, |&row| self.costs.row(row))
    }

    /// The keys in order, with their rows.
    pub(super) fn sorted(&self) -> Vec<(K, usize)>
    where
        K: Ord,
    {
        let mut sorted: Vec<(K, usize)> = self.keys.iter().copied().zip(0..).collect();
        sorted.sort_unstable();
        sorted
    }
}

/// The same for calls, with how often they were made.
#[derive(Debug)]
pub(super) struct KeyedCalls<K> {
    pub(super) costs: KeyedCosts<K>,
    /// One for each row.
    pub(super) counts: Vec<Cost>,
}

impl<K: Copy + Eq + Hash> KeyedCalls<K> {
    pub(super) fn new(width: usize) -> Self {
        KeyedCalls { costs: KeyedCosts::new(width), counts: Vec::new() }
    }

    pub(super) fn add_line(&mut self, key: K, count: Cost, costs: &Costs<'_>, events: &[EventId]) {
        let row = self.costs.add_line(key, costs, events);
        self.count(row, count);
    }

    pub(super) fn add_row(&mut self, key: K, count: Cost, costs: GivenRow<'_>) {
        let row = self.costs.add_row(key, costs);
        self.count(row, count);
    }

    fn count(&mut self, row: usize, count: Cost) {
        self.counts.resize(self.costs.keys.len(), 0);
        self.counts[row] += count;
    }

    pub(super) fn merge(&mut self, more: &Self) {
        for ((&key, &count), row) in more.costs.keys.iter().zip(&more.counts).zip(0..) {
            self.add_row(key, count, more.costs.row(row));
        }
    }
}

/// Where the rows with a key are among rows that are sorted by it.
pub(super) fn range_of<T, K: Ord>(rows: &[T], key: &K, key_of: impl Fn(&T) -> K) -> Range<usize> {
    rows.partition_point(|row| key_of(row) < *key)..rows.partition_point(|row| key_of(row) <= *key)
}
