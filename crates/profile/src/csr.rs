//! Items grouped by a key of theirs, such as arcs by callee: a compressed sparse row index (CSR), made by counting sort.

use std::ops::Range;

/// The indices of items in a list, grouped by key and in the order of the list within a group.
///
/// Of the keys 1, 0, 1 of three items it keeps the indices `[1, 0, 2]` and the group starts `[0, 1, 3]`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Csr {
    starts: Vec<u32>,
    indices: Vec<u32>,
}

impl Csr {
    /// Groups the items of a list by their keys, all below `key_count`. Items without a key are left out.
    pub(crate) fn new(key_count: usize, keys: impl Iterator<Item = Option<usize>> + Clone) -> Self {
        let starts = group_starts(key_count, keys.clone().flatten());
        let mut next = starts.clone();
        let mut indices = vec![0; starts[key_count] as usize];
        for (index, key) in (0u32..).zip(keys) {
            if let Some(key) = key {
                indices[next[key] as usize] = index;
                next[key] += 1;
            }
        }
        Csr { starts, indices }
    }

    /// Returns the indices of the items with a key; none if the key is not below the key count.
    #[inline]
    pub(crate) fn get(&self, key: usize) -> &[u32] {
        &self.indices[self.range(key)]
    }

    /// Returns the same, to be reordered.
    pub(crate) fn get_mut(&mut self, key: usize) -> &mut [u32] {
        let range = self.range(key);
        &mut self.indices[range]
    }

    #[inline]
    fn range(&self, key: usize) -> Range<usize> {
        let start = |key: usize| self.starts.get(key).map_or(self.indices.len(), |&start| start as usize);
        start(key)..start(key + 1)
    }
}

/// Returns where the group of each key starts, and where the last one ends: the first half of a counting sort.
pub(crate) fn group_starts(key_count: usize, keys: impl Iterator<Item = usize>) -> Vec<u32> {
    let mut starts = vec![0u32; key_count + 1];
    keys.for_each(|key| starts[key + 1] += 1);
    (0..key_count).for_each(|key| starts[key + 1] += starts[key]);
    starts
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn groups_are_those_that_a_search_finds(keys in prop::collection::vec(prop::option::of(0usize..6), 0..40)) {
            let mut csr = Csr::new(6, keys.iter().copied());
            for key in 0..8 {
                let has_key = |&index: &u32| keys[index as usize] == Some(key);
                let searched: Vec<u32> = (0..).take(keys.len()).filter(has_key).collect();
                prop_assert_eq!(csr.get(key), &searched[..]);
                prop_assert_eq!(csr.get_mut(key), &searched[..]);
            }
        }
    }
}
