//! Values of names that are mentioned often.

use std::marker::PhantomData;

use gristmill_profile::hash::Map;

/// Values of long names, by the memory that they are in: a file can have a long path, and mention it often.
pub(crate) struct KnownNames<'f, T> {
    known: Map<(usize, usize), T>,
    names: PhantomData<&'f [u8]>,
}

impl<T> Default for KnownNames<'_, T> {
    fn default() -> Self {
        KnownNames { known: Map::default(), names: PhantomData }
    }
}

impl<'f, T: Copy> KnownNames<'f, T> {
    /// Names up to this length are looked up faster by their text.
    const MAX_SHORT_BYTES: usize = 512;

    /// Returns the value of a name; `find` finds it if the name is not known.
    pub(crate) fn get(&mut self, name: &'f [u8], find: impl FnOnce() -> T) -> T {
        match name.len() {
            0..=Self::MAX_SHORT_BYTES => find(),
            length => *self.known.entry((name.as_ptr().addr(), length)).or_insert_with(find),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_is_looked_up_once() {
        let long = vec![b'p'; 1000];
        let mut known = KnownNames::default();
        let mut looked_up = Vec::new();
        for name in [&long[..], b"short", &long[..], b"short", &long[..999]] {
            known.get(name, || looked_up.push(name.len()));
        }
        assert_eq!(looked_up, [1000, 5, 5, 999]);
    }
}
