//! Costs summed up by keys that come several times and in any order.

use std::hash::Hash;
use std::ops::Range;

use gristmill_format::{Cost, Costs};

use super::partial_costs::{PartialCosts, PartialRow};
use crate::hash::Map;
use crate::id::EventId;

/// Sums of costs by key: a row of [`PartialCosts`] for each key, in the order in which keys first came.
/// See the example of [`FileLines`](super::FileLines).
#[derive(Debug)]
pub struct KeyedCosts<K> {
    rows: Map<K, usize>,
    keys: Vec<K>,
    costs: PartialCosts,
    /// The key that came last and its row. The next one is often the same.
    last: Option<(K, usize)>,
}

impl<K: Copy + Eq + Hash> KeyedCosts<K> {
    /// Creates sums without keys.
    pub fn new(width: usize) -> Self {
        KeyedCosts { rows: Map::default(), keys: Vec::new(), costs: PartialCosts::new(width), last: None }
    }

    fn row_of(&mut self, key: K) -> usize {
        if let Some((last, row)) = self.last
            && last == key
        {
            return row;
        }
        let row = *self.rows.entry(key).or_insert_with(|| {
            self.keys.push(key);
            self.costs.push_empty()
        });
        self.last = Some((key, row));
        row
    }

    /// Adds the costs of a line and returns the row of its key; `events` are those of the line's part.
    pub fn add_line(&mut self, key: K, costs: &Costs<'_>, events: &[EventId]) -> usize {
        let row = self.row_of(key);
        self.costs.add_line(row, costs, events);
        row
    }

    /// Adds the costs of a row, which may be of another table, and returns the row of its key.
    pub fn add_row(&mut self, key: K, costs: PartialRow<'_>) -> usize {
        let row = self.row_of(key);
        self.costs.add_row(row, costs);
        row
    }

    /// Adds all sums of another.
    pub fn merge(&mut self, more: &Self) {
        for (&key, row) in more.keys.iter().zip(more.costs.rows()) {
            self.add_row(key, row);
        }
    }

    /// The number of event types.
    pub fn width(&self) -> usize {
        self.costs.width()
    }

    /// The keys in the order of their rows.
    pub fn keys(&self) -> &[K] {
        &self.keys
    }

    /// The costs of a row.
    pub fn row(&self, row: usize) -> PartialRow<'_> {
        self.costs.row(row)
    }

    /// The costs of a key; those of an unknown key are empty.
    pub fn get(&self, key: K) -> PartialRow<'_> {
        self.rows.get(&key).map_or(PartialRow::EMPTY, |&row| self.costs.row(row))
    }

    /// Sorts the keys and returns them with their rows.
    pub fn sorted(&self) -> Vec<(K, usize)>
    where
        K: Ord,
    {
        let mut sorted: Vec<(K, usize)> = self.keys.iter().copied().zip(0..).collect();
        sorted.sort_unstable();
        sorted
    }
}

/// Sums of calls by key: their costs and their count. See the example of [`FileLines`](super::FileLines).
#[derive(Debug)]
pub struct KeyedCalls<K> {
    costs: KeyedCosts<K>,
    /// One for each row.
    counts: Vec<Cost>,
}

impl<K: Copy + Eq + Hash> KeyedCalls<K> {
    /// Creates sums without keys.
    pub fn new(width: usize) -> Self {
        KeyedCalls { costs: KeyedCosts::new(width), counts: Vec::new() }
    }

    /// Adds the calls of a line; `events` are those of the line's part.
    pub fn add_line(&mut self, key: K, count: Cost, costs: &Costs<'_>, events: &[EventId]) {
        let row = self.costs.add_line(key, costs, events);
        self.add_count(row, count);
    }

    /// Adds calls with a row of costs, which may be of another table.
    pub fn add_row(&mut self, key: K, count: Cost, costs: PartialRow<'_>) {
        let row = self.costs.add_row(key, costs);
        self.add_count(row, count);
    }

    fn add_count(&mut self, row: usize, count: Cost) {
        self.counts.resize(self.costs.keys.len(), 0);
        self.counts[row] += count;
    }

    /// Adds all sums of another.
    pub fn merge(&mut self, more: &Self) {
        for (key, count, costs) in more.iter() {
            self.add_row(key, count, costs);
        }
    }

    /// Iterates over keys with their counts and costs, in the order of their rows.
    pub fn iter(&self) -> impl Iterator<Item = (K, Cost, PartialRow<'_>)> {
        let rows = self.costs.costs.rows();
        self.costs.keys.iter().zip(&self.counts).zip(rows).map(|((&key, &count), costs)| (key, count, costs))
    }

    /// Sorts the keys and returns them with their counts and costs.
    pub fn sorted(&self) -> impl Iterator<Item = (K, Cost, PartialRow<'_>)>
    where
        K: Ord,
    {
        self.costs.sorted().into_iter().map(|(key, row)| (key, self.counts[row], self.costs.row(row)))
    }
}

/// Finds the rows of a key among rows that are sorted by it.
pub fn range_of<T, K: Ord>(rows: &[T], key: &K, key_of: impl Fn(&T) -> K) -> Range<usize> {
    rows.partition_point(|row| key_of(row) < *key)..rows.partition_point(|row| key_of(row) <= *key)
}
