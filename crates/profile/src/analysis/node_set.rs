//! Sets of nodes.

/// A set of nodes: a bit for each, so that those of a million nodes fit into a cache.
#[derive(Debug, Clone)]
pub(super) struct NodeSet {
    pub(super) words: Vec<u64>,
}

impl NodeSet {
    pub(super) fn none(node_count: usize) -> Self {
        NodeSet { words: vec![0; node_count.div_ceil(64)] }
    }

    pub(super) fn all(node_count: usize) -> Self {
        let mut words = vec![u64::MAX; node_count.div_ceil(64)];
        if let Some(last) = words.last_mut()
            && !node_count.is_multiple_of(64)
        {
            *last = (1 << (node_count % 64)) - 1;
        }
        NodeSet { words }
    }

    #[inline]
    pub(super) fn contains(&self, index: usize) -> bool {
        (self.words[index / 64] >> (index % 64)) & 1 != 0
    }

    #[inline]
    pub(super) fn insert(&mut self, index: usize) {
        self.words[index / 64] |= 1 << (index % 64);
    }

    pub(super) fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Iterates over the indices of the nodes, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(nth, &word)| bits(nth, word))
    }

    /// Removes the nodes that are not in another set of nodes of the same graph.
    pub(super) fn intersect(&mut self, other: &NodeSet) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word &= other);
    }

    /// Removes the nodes of another set of nodes of the same graph.
    pub(super) fn subtract(&mut self, other: &NodeSet) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word &= !other);
    }

    /// Returns the index of the first node in the set from an index on.
    pub(super) fn first_from(&self, index: usize) -> Option<usize> {
        let start = index / 64;
        let mut word = self.words.get(start)? & (u64::MAX << (index % 64));
        let mut at = start;
        while word == 0 {
            at += 1;
            word = *self.words.get(at)?;
        }
        Some(at * 64 + word.trailing_zeros() as usize)
    }
}

/// Iterates over the indices of the nodes of a word.
#[inline]
pub(super) fn bits(nth: usize, mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros() as usize)?;
        word &= word - 1;
        Some(nth * 64 + bit)
    })
}
