//! A compact set of numbers.

/// Below this count, numbers wait unsorted.
const MIN_SORTED: usize = 64;

/// A set of numbers in a sorted vector: it takes 8 bytes for each.
///
/// Numbers are added at the end, and sorted when their count has doubled. So a number that is added again and again takes no more
/// memory, and sorting takes a time in proportion to what is added, apart from a logarithm.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    values: Vec<u64>,
    /// The count of values at the start that are sorted, each once.
    sorted_count: usize,
}

impl Numbers {
    pub(super) fn insert(&mut self, value: u64) {
        // Costs of one line often follow each other.
        if self.values.last() != Some(&value) {
            self.values.push(value);
            self.sort_if_doubled();
        }
    }

    /// Adds the numbers of another set.
    pub(super) fn append(&mut self, other: Numbers) {
        if self.values.is_empty() {
            *self = other;
        } else {
            self.values.extend_from_slice(&other.values);
            self.sort_if_doubled();
        }
    }

    /// Sorts all numbers, and gives back spare memory.
    pub(super) fn sort(&mut self) {
        if self.sorted_count < self.values.len() {
            self.values.sort_unstable();
            self.values.dedup();
            self.sorted_count = self.values.len();
        }
        self.values.shrink_to_fit();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// `true` if the set has a number. It has to be sorted.
    pub(super) fn contains(&self, value: u64) -> bool {
        debug_assert_eq!(self.sorted_count, self.values.len(), "a search needs sorted numbers");
        self.values.binary_search(&value).is_ok()
    }

    fn sort_if_doubled(&mut self) {
        if self.values.len() >= MIN_SORTED.max(2 * self.sorted_count) {
            self.values.sort_unstable();
            self.values.dedup();
            self.sorted_count = self.values.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Pseudo-random numbers (xorshift).
    fn random() -> impl FnMut(u64) -> u64 {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        move |below| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state % below
        }
    }

    fn assert_equal(numbers: &mut Numbers, expected: &BTreeSet<u64>, below: u64) {
        numbers.sort();
        assert!(numbers.values.iter().eq(expected));
        for value in 0..below + 1 {
            assert_eq!(numbers.contains(value), expected.contains(&value), "{value}");
        }
    }

    #[test]
    fn a_set_has_the_numbers_that_were_added() {
        let mut random = random();
        for below in [1, 2, 70, 1000, 5000] {
            for count in [0, 1, 63, 64, 65, 200, 3000] {
                let (mut numbers, mut expected) = (Numbers::default(), BTreeSet::new());
                // It is sorted now and then, as it can be used and added to again.
                for _ in 0..3 {
                    for _ in 0..count {
                        let value = random(below);
                        numbers.insert(value);
                        expected.insert(value);
                    }
                    assert_equal(&mut numbers, &expected, below);
                }
            }
        }
    }

    #[test]
    fn sets_are_appended() {
        let mut random = random();
        for below in [1, 50, 3000] {
            let (mut numbers, mut expected) = (Numbers::default(), BTreeSet::new());
            for _ in 0..100 {
                let mut more = Numbers::default();
                for _ in 0..random(200) {
                    let value = random(below);
                    more.insert(value);
                    expected.insert(value);
                }
                numbers.append(more);
            }
            assert_equal(&mut numbers, &expected, below);
        }
    }

    #[test]
    fn numbers_that_are_known_take_no_memory() {
        let mut numbers = Numbers::default();
        let known = |numbers: &mut Numbers| (0..100).for_each(|value| numbers.insert(value));
        known(&mut numbers);
        for _ in 0..1000 {
            known(&mut numbers);
            let mut more = Numbers::default();
            known(&mut more);
            numbers.append(more);
        }
        assert!(numbers.values.capacity() <= 512, "{}", numbers.values.capacity());
    }
}
