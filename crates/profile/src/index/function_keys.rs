//! Functions by object, file and name.

use super::{FunctionData, FunctionKey};
use crate::hash::Map;
use crate::prefetch::glance;

/// Which function has a key.
///
/// Nearly all names are those of one function, so a list by name is all it takes for most: no hash, and four bytes.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct FunctionKeys {
    /// The first function of each name, plus one.
    by_name: Vec<u32>,
    /// The others, and keys of functions that turned out to be another.
    others: Map<FunctionKey, u32>,
}

impl FunctionKeys {
    /// The function that has a key, or that turned out to be meant by it.
    pub(crate) fn get(&self, functions: &[FunctionData], key: FunctionKey) -> Option<u32> {
        let first = self.by_name.get(key.2 as usize).and_then(|first| first.checked_sub(1));
        match first {
            Some(first) if functions.get(first as usize).is_some_and(|function| function.key == key) => {
                Some(first)
            }
            _ if self.others.is_empty() => None,
            _ => self.others.get(&key).copied(),
        }
    }

    /// Has at hand what is known of the functions of these names.
    pub(crate) fn glance(&self, functions: &[FunctionData], names: impl Iterator<Item = u32> + Clone) {
        let firsts = names.filter_map(|name| self.by_name.get(name as usize).copied());
        glance(firsts.clone());
        let functions = firsts.filter_map(|first| functions.get(first.wrapping_sub(1) as usize));
        glance(functions.map(|function| function.key.2));
    }

    /// The function that has a key; a new one comes at the end of the list.
    pub(crate) fn get_or_add(&mut self, functions: &mut Vec<FunctionData>, key: FunctionKey) -> u32 {
        let next = u32::try_from(functions.len()).unwrap_or(u32::MAX);
        if key.2 as usize >= self.by_name.len() {
            self.by_name.resize(key.2 as usize + 1, 0);
        }
        let Some(first) = self.by_name.get_mut(key.2 as usize) else { return next };
        let found = match first.checked_sub(1) {
            None => {
                *first = next.saturating_add(1);
                next
            }
            Some(first) if functions.get(first as usize).is_some_and(|function| function.key == key) => first,
            Some(_) => *self.others.entry(key).or_insert(next),
        };
        if found == next {
            functions.push(FunctionData { key, mention: Default::default() });
        }
        found
    }

    /// Functions have got other numbers, and some have become the same as others: `functions` is as it was before, and
    /// `remains` says which of them are still there.
    pub(crate) fn rename(
        &mut self,
        functions: &[FunctionData],
        remains: impl Fn(u32) -> bool,
        new: impl Fn(u32) -> u32,
    ) {
        self.others.values_mut().for_each(|function| *function = new(*function));
        for first in self.by_name.iter_mut().filter(|first| **first != 0) {
            let function = *first - 1;
            *first = if remains(function) {
                new(function) + 1
            } else {
                if let Some(FunctionData { key, .. }) = functions.get(function as usize) {
                    self.others.insert(*key, new(function));
                }
                0
            };
        }
    }

    /// Whether all keys lead to one of so many functions.
    pub(crate) fn are_below(&self, count: usize) -> bool {
        // The order does not matter: it is only asked whether all are in range.
        self.others.values().all(|&function| (function as usize) < count)
            && self.by_name.iter().all(|&first| first as usize <= count)
    }

    /// No more will be added.
    pub(crate) fn release(&mut self) {
        self.by_name.shrink_to_fit();
    }
}
