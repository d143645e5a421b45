//! Ranges of addresses that can overlap, and the search for those that have an address.

/// Ranges, sorted by their start, as a tree of their ends: a range that starts early and ends late hides no other one, and makes
/// no search longer.
#[derive(Debug, Default)]
pub(crate) struct Intervals {
    starts: Vec<u64>,
    /// A complete binary tree, its root at 1: each node has the highest end below it. The leaves follow the order of the ranges.
    highest_ends: Vec<u64>,
}

impl Intervals {
    /// Takes ranges in the order of their starts.
    pub(crate) fn new(ranges: impl Iterator<Item = (u64, u64)>) -> Self {
        let (starts, ends): (Vec<u64>, Vec<u64>) = ranges.unzip();
        debug_assert!(starts.is_sorted());
        // One more, for the index after the last one.
        let leaf_count = (starts.len() + 1).next_power_of_two();
        let mut highest_ends = vec![0; leaf_count];
        highest_ends.extend_from_slice(&ends);
        highest_ends.resize(2 * leaf_count, 0);
        for node in (1..leaf_count).rev() {
            highest_ends[node] = highest_ends[2 * node].max(highest_ends[2 * node + 1]);
        }
        Self { starts, highest_ends }
    }

    /// Returns the indexes of the ranges that have an address, the one that starts last first.
    pub(crate) fn at(&self, address: u64) -> impl Iterator<Item = usize> {
        let mut after = self.starts.partition_point(|start| *start <= address);
        std::iter::from_fn(move || {
            after = self.last_that_ends_after(address, after)?;
            Some(after)
        })
    }

    /// Returns the highest end of the ranges that start before an address.
    pub(crate) fn highest_end_before(&self, address: u64) -> u64 {
        let mut node = self.leaf_count() + self.starts.partition_point(|start| *start < address);
        let mut highest = 0;
        // The ranges before a leaf are those of the left siblings on the way to the root.
        while node > 1 {
            if node % 2 == 1 {
                highest = highest.max(self.highest_ends[node - 1]);
            }
            node /= 2;
        }
        highest
    }

    /// Returns the last range before an index that ends after an address.
    fn last_that_ends_after(&self, address: u64, before: usize) -> Option<usize> {
        let mut node = self.leaf_count() + before;
        loop {
            if node <= 1 {
                return None;
            }
            if node % 2 == 1 && self.highest_ends[node - 1] > address {
                node -= 1;
                break;
            }
            node /= 2;
        }
        while node < self.leaf_count() {
            node = 2 * node + usize::from(self.highest_ends[2 * node + 1] > address);
        }
        Some(node - self.leaf_count())
    }

    fn leaf_count(&self) -> usize {
        self.highest_ends.len() / 2
    }
}

#[cfg(test)]
mod tests {
    use super::Intervals;

    /// A search that looks at every range agrees, also with ranges that start together, are empty, or contain all others.
    #[test]
    fn a_search_finds_what_looking_at_all_finds() {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut random = |below: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state % below
        };
        for count in (0..40).chain([63, 64, 65]) {
            let mut ranges: Vec<(u64, u64)> = (0..count)
                .map(|_| {
                    let start = random(60);
                    let longest = if random(8) == 0 { 60 } else { 5 };
                    (start, start + random(longest))
                })
                .collect();
            ranges.sort_by_key(|range| range.0);
            let intervals = Intervals::new(ranges.iter().copied());
            for address in 0..130 {
                let has = |range: &(u64, u64)| range.0 <= address && address < range.1;
                let all: Vec<usize> = (0..ranges.len()).rev().filter(|nth| has(&ranges[*nth])).collect();
                assert_eq!(intervals.at(address).collect::<Vec<_>>(), all, "{ranges:?} {address}");
                let before = ranges.iter().filter(|range| range.0 < address);
                let highest = before.map(|range| range.1).max().unwrap_or(0);
                assert_eq!(intervals.highest_end_before(address), highest, "{ranges:?} {address}");
            }
        }
    }
}
