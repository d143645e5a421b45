//! Lists that stay short where many elements are equal.

/// A list of which equal elements are merged, in order. Some producers write a line each time that its function is entered, so this is
/// done whenever the list is twice as long as after the last time.
pub(crate) struct Merged<T> {
    list: Vec<T>,
    /// Merges equal elements of a sorted list.
    merge: fn(&mut Vec<T>),
    limit: usize,
}

impl<T: Ord> Merged<T> {
    /// The shortest list that is merged before its end.
    const SHORTEST: usize = 4096;

    pub(crate) fn new(merge: fn(&mut Vec<T>)) -> Self {
        Merged { list: Vec::new(), merge, limit: Self::SHORTEST }
    }

    pub(crate) fn push(&mut self, element: T) {
        self.list.push(element);
        if self.list.len() >= self.limit {
            self.merge_all();
            self.limit = (2 * self.list.len()).max(Self::SHORTEST);
        }
    }

    fn merge_all(&mut self) {
        self.list.sort_unstable();
        (self.merge)(&mut self.list);
    }

    pub(crate) fn finish(mut self) -> Vec<T> {
        self.merge_all();
        self.list
    }
}
