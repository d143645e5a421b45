//! One value for each name space.

use std::ops::{Index, IndexMut};

use crate::name::NameSpace;

/// One value for each [`NameSpace`].
///
/// ```
/// use gristmill_format::NameSpace;
/// use gristmill_format::raw::NameSpaces;
///
/// let mut counts = NameSpaces::default();
/// counts[NameSpace::File] += 1;
/// assert_eq!((counts[NameSpace::File], counts[NameSpace::Object]), (1, 0));
/// assert_eq!(NameSpaces::from_fn(|space| space == NameSpace::File).into_array(), [false, true, false]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NameSpaces<T>([T; 3]);

impl<T> NameSpaces<T> {
    /// Makes a value for each name space.
    pub fn from_fn(make: impl FnMut(NameSpace) -> T) -> Self {
        NameSpaces(NameSpace::ALL.map(make))
    }

    /// The values, in the order of [`NameSpace::ALL`].
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.0.iter()
    }

    /// The values, to be changed.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.0.iter_mut()
    }

    /// The values, in the order of [`NameSpace::ALL`].
    pub fn into_array(self) -> [T; 3] {
        self.0
    }
}

impl<T> Index<NameSpace> for NameSpaces<T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, space: NameSpace) -> &T {
        &self.0[space as usize]
    }
}

impl<T> IndexMut<NameSpace> for NameSpaces<T> {
    #[inline(always)]
    fn index_mut(&mut self, space: NameSpace) -> &mut T {
        &mut self.0[space as usize]
    }
}

impl<'s, T> IntoIterator for &'s NameSpaces<T> {
    type Item = &'s T;
    type IntoIter = std::slice::Iter<'s, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'s, T> IntoIterator for &'s mut NameSpaces<T> {
    type Item = &'s mut T;
    type IntoIter = std::slice::IterMut<'s, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}
