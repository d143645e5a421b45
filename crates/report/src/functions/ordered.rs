//! Rows that are put in order as far as pages of them are read.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::Range;

/// The rows that are put in order at once. Pages begin anywhere.
const STEP: usize = 1024;
/// The most rows with equal keys that are put in order together.
const MANY: usize = 4096;

/// The comparison of rows, which are functions or groups.
pub(super) trait RowOrder {
    /// The id of a row.
    type Id: Copy + Ord;

    /// Compares the keys of rows whose first keys are equal.
    fn compare_keys(&self, a: Self::Id, b: Self::Id) -> Ordering;

    /// Compares everything else. Only a row is equal to itself.
    fn compare_names(&self, a: Self::Id, b: Self::Id) -> Ordering;
}

/// A row, and its first key: a number that is in the order of the keys, less if the row comes before.
pub(super) type Item<I> = (u32, I);

/// The state of a range of items. Each is in the list before all items of later ranges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// In no order.
    Mixed,
    /// All have the same key, so that names decide.
    Equal,
    Sorted,
}

/// Rows in the order of a key, then of names.
#[derive(Debug)]
pub(super) struct Ordered<I> {
    items: Vec<Item<I>>,
    /// Ranges by their starts.
    states: BTreeMap<usize, State>,
}

impl<I: Copy + Ord> Ordered<I> {
    pub(super) fn new(items: Vec<Item<I>>) -> Self {
        Ordered { items, states: BTreeMap::from([(0, State::Mixed)]) }
    }

    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    /// Returns the rows of a range of the list, which it puts in order.
    pub(super) fn page(&mut self, order: &impl RowOrder<Id = I>, page: Range<usize>) -> Vec<I> {
        let start = page.start / STEP * STEP;
        let end = page.end.next_multiple_of(STEP).min(self.items.len());
        if page.start < page.end {
            // The end first: what is beyond it need not be looked at again.
            self.split(order, end - 1);
            self.split(order, start);
            let mut at = start;
            while at < end {
                at = self.sort(order, at, start..end);
            }
        }
        self.items[page].iter().map(|&(_, id)| id).collect()
    }

    /// Returns the range that an item is in, and its state.
    fn range(&self, at: usize) -> (Range<usize>, State) {
        let (&start, &state) = self.states.range(..=at).next_back().unwrap_or((&0, &State::Mixed));
        let end = self.states.range(at + 1..).next().map_or(self.items.len(), |(&end, _)| end);
        (start..end, state)
    }

    /// Makes a range of all items with the key that is at an index.
    fn split(&mut self, order: &impl RowOrder<Id = I>, at: usize) {
        let (range, state) = self.range(at);
        if state != State::Mixed {
            return;
        }
        // The rest of a key is read only for the few that have the same first key.
        let range = self.select(range, at, State::Mixed, |a, b| a.0.cmp(&b.0));
        let items = &self.items[range.clone()];
        // Without an index of names, all keys are the same for the order of names.
        if items.iter().all(|item| compare_keys(order, *item, items[0]) == Ordering::Equal) {
            self.states.insert(range.start, State::Equal);
            return;
        }
        self.select(range, at, State::Equal, |a, b| compare_keys(order, *a, *b));
    }

    /// Divides a range of items in no order into those before the item that belongs at an index, those that are equal to it, whose
    /// range it returns, and those after it.
    fn select(
        &mut self,
        range: Range<usize>,
        at: usize,
        state_of_equal: State,
        compare: impl Fn(&Item<I>, &Item<I>) -> Ordering,
    ) -> Range<usize> {
        let items = &mut self.items[range.clone()];
        // No two are equal: among equal ones, the selection of a standard library that is built for size is quadratic.
        let (_, &mut key, _) =
            items.select_nth_unstable_by(at - range.start, |a, b| compare(a, b).then_with(|| a.1.cmp(&b.1)));
        let (before, rest) = items.split_at_mut(at - range.start);
        let start = range.start + partition(before, |item| compare(item, &key) == Ordering::Less);
        let end = at + partition(rest, |item| compare(item, &key) == Ordering::Equal);
        for (place, state) in [(range.start, State::Mixed), (end, State::Mixed), (start, state_of_equal)] {
            if place < range.end {
                self.states.insert(place, state);
            }
        }
        start..end
    }

    /// Puts items from an index on in order, as far as a range needs it. Returns the index after them.
    fn sort(&mut self, order: &impl RowOrder<Id = I>, at: usize, wanted: Range<usize>) -> usize {
        let (range, state) = self.range(at);
        let by_name = |a: &Item<I>, b: &Item<I>| order.compare_names(a.1, b.1);
        let sorted = match state {
            State::Sorted => return range.end,
            State::Mixed => {
                self.items[range.clone()]
                    .sort_unstable_by(|a, b| compare_keys(order, *a, *b).then_with(|| by_name(a, b)));
                range
            }
            State::Equal if range.len() <= MANY => {
                self.items[range.clone()].sort_unstable_by(by_name);
                range
            }
            State::Equal => {
                let part = range.start.max(wanted.start)..range.end.min(wanted.end);
                let items = &mut self.items[range.clone()];
                if part.end < range.end {
                    items.select_nth_unstable_by(part.end - range.start, by_name);
                    self.states.insert(part.end, State::Equal);
                }
                let items = &mut self.items[range.start..part.end];
                if part.start > range.start {
                    items.select_nth_unstable_by(part.start - range.start, by_name);
                }
                self.items[part.clone()].sort_unstable_by(by_name);
                part
            }
        };
        self.states.insert(sorted.start, State::Sorted);
        sorted.end
    }
}

/// Moves items for which a test holds before the others, and returns their count.
fn partition<I>(items: &mut [Item<I>], test: impl Fn(&Item<I>) -> bool) -> usize {
    let mut count = 0;
    for at in 0..items.len() {
        if test(&items[at]) {
            items.swap(at, count);
            count += 1;
        }
    }
    count
}

/// Compares everything except names.
fn compare_keys<O: RowOrder>(order: &O, (first_a, a): Item<O::Id>, (first_b, b): Item<O::Id>) -> Ordering {
    first_a.cmp(&first_b).then_with(|| order.compare_keys(a, b))
}
