//! Functions that are put in order as far as pages of them are read.

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;
use std::ops::Range;

use gristmill_format::Cost;

use super::list_order::{ListOrder, per_call};
use super::name_index::{NameIndex, compare_paths};
use super::{SortBy, sort_key};
use crate::view::{Subject, SubjectId, View};

/// The rows that are put in order at once. Pages begin anywhere.
const STEP: usize = 1024;
/// The most rows with equal keys that are put in order together.
const MANY: usize = 4096;

/// A function, and a number that is in the order of the keys: less if the function comes before.
type Item = (u32, SubjectId);

/// The state of a range of items. Each is in the list before all items of later ranges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// In no order.
    Mixed,
    /// All have the same key, so that names decide.
    Equal,
    Sorted,
}

/// Functions in the order of a key, then of names.
#[derive(Debug)]
pub(super) struct Ordered {
    order: ListOrder,
    items: Vec<Item>,
    /// Ranges by their starts.
    states: BTreeMap<usize, State>,
}

impl Ordered {
    pub(super) fn new(
        view: &View,
        ids: impl Iterator<Item = SubjectId>,
        order: ListOrder,
        names: Option<&NameIndex>,
    ) -> Self {
        let profile = view.profile();
        let descending = |key: u128| !approximate(key);
        let items: Vec<Item> = match order {
            ListOrder::By(SortBy::Name) => {
                ids.map(|id| (names.map_or(0, |names| names.rank(id)), id)).collect()
            }
            ListOrder::By(sort) => ids
                .map(|id| {
                    let Reverse((key, _)) = keys(view, sort, id);
                    (descending(key), id)
                })
                .collect(),
            ListOrder::PerCall => ids
                .map(|id| {
                    let (cost, calls) = (view.inclusive_cost(id)[0], view.call_count(id));
                    // One bit for the rows that have calls, which come first.
                    let key = match calls > 0 {
                        true => (1 << 31) | approximate(cost.unsigned_abs() / calls.unsigned_abs()) >> 1,
                        false => approximate(cost.unsigned_abs()) >> 1,
                    };
                    (!key, id)
                })
                .collect(),
            ListOrder::Object => {
                let ranks = ranks(profile.objects().map(|object| profile.object(object)));
                ids.map(|id| (ranks[view.subject(id).object.index()], id)).collect()
            }
            ListOrder::File => {
                let ranks = ranks(profile.files().map(|file| profile.file(file)));
                ids.map(|id| (ranks[view.subject(id).file.index()], id)).collect()
            }
        };
        Ordered { order, items, states: BTreeMap::from([(0, State::Mixed)]) }
    }

    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    /// Returns the functions of a range of the list, which it puts in order.
    pub(super) fn page(
        &mut self,
        view: &View,
        names: Option<&NameIndex>,
        page: Range<usize>,
    ) -> Vec<SubjectId> {
        let start = page.start / STEP * STEP;
        let end = page.end.next_multiple_of(STEP).min(self.items.len());
        if page.start < page.end {
            // The end first: what is beyond it need not be looked at again.
            self.split(view, end - 1);
            self.split(view, start);
            let mut at = start;
            while at < end {
                at = self.sort(view, names, at, start..end);
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
    fn split(&mut self, view: &View, at: usize) {
        let (range, state) = self.range(at);
        if state != State::Mixed {
            return;
        }
        let order = self.order;
        let items = &mut self.items[range.clone()];
        let (_, &mut key, _) =
            items.select_nth_unstable_by(at - range.start, |a, b| compare_keys(view, order, *a, *b));
        let is_before = |item: &Item| compare_keys(view, order, *item, key) == Ordering::Less;
        let is_equal = |item: &Item| compare_keys(view, order, *item, key) == Ordering::Equal;
        let (before, rest) = items.split_at_mut(at - range.start);
        let start = range.start + partition(before, is_before);
        let end = at + partition(rest, is_equal);
        for (place, state) in [(range.start, State::Mixed), (end, State::Mixed), (start, State::Equal)] {
            if place < range.end {
                self.states.insert(place, state);
            }
        }
    }

    /// Puts items from an index on in order, as far as a range needs it. Returns the index after them.
    fn sort(&mut self, view: &View, names: Option<&NameIndex>, at: usize, wanted: Range<usize>) -> usize {
        let (range, state) = self.range(at);
        let order = self.order;
        let by_name = |a: &Item, b: &Item| compare_names(view, names, a.1, b.1);
        let sorted = match state {
            State::Sorted => return range.end,
            State::Mixed => {
                self.items[range.clone()]
                    .sort_unstable_by(|a, b| compare_keys(view, order, *a, *b).then_with(|| by_name(a, b)));
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
fn partition(items: &mut [Item], test: impl Fn(&Item) -> bool) -> usize {
    let mut count = 0;
    for at in 0..items.len() {
        if test(&items[at]) {
            items.swap(at, count);
            count += 1;
        }
    }
    count
}

fn keys(view: &View, sort: SortBy, id: SubjectId) -> Reverse<(u128, u128)> {
    sort_key(sort, view.inclusive_cost(id)[0], view.self_cost(id)[0], view.call_count(id))
}

/// Compares everything except names.
fn compare_keys(view: &View, order: ListOrder, (first_a, a): Item, (first_b, b): Item) -> Ordering {
    first_a.cmp(&first_b).then_with(|| match order {
        ListOrder::By(SortBy::Name) | ListOrder::Object | ListOrder::File => Ordering::Equal,
        ListOrder::By(sort) => keys(view, sort, a).cmp(&keys(view, sort, b)),
        ListOrder::PerCall => {
            let of = |id: SubjectId| -> (Cost, Cost) { (view.inclusive_cost(id)[0], view.call_count(id)) };
            per_call(of(b), of(a))
        }
    })
}

/// Compares names, then files, then objects, then ids.
fn compare_names(view: &View, names: Option<&NameIndex>, a: SubjectId, b: SubjectId) -> Ordering {
    if let Some(names) = names {
        return names.rank(a).cmp(&names.rank(b));
    }
    let name = |id: SubjectId| Subject::name(&view.subject(id));
    name(a).cmp(name(b)).then_with(|| compare_paths(view, a, b)).then_with(|| a.cmp(&b))
}

/// Returns the place of each text in the order of texts. Equal ones have the same.
fn ranks<'t>(texts: impl Iterator<Item = &'t [u8]>) -> Vec<u32> {
    let texts: Vec<&[u8]> = texts.collect();
    let mut sorted = texts.clone();
    sorted.sort_unstable();
    sorted.dedup();
    let rank = |text: &&[u8]| u32::try_from(sorted.partition_point(|other| other < text)).unwrap_or(u32::MAX);
    texts.iter().map(rank).collect()
}

/// Returns a number that is not less for greater ones: the bits of a floating-point number.
fn approximate(number: u128) -> u32 {
    const MANTISSA: u32 = 24;
    let Some(exponent) = number.checked_ilog2().filter(|&exponent| exponent >= MANTISSA) else {
        return u32::try_from(number).unwrap_or(u32::MAX);
    };
    let mantissa = u32::try_from(number >> (exponent - MANTISSA)).unwrap_or(u32::MAX) & ((1 << MANTISSA) - 1);
    ((exponent - MANTISSA + 1) << MANTISSA) | mantissa
}
