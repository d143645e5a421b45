//! The functions of a profile, found by object, file and name.

use crate::hash::Map;
use crate::id::{FileId, FunctionId, NameId, ObjectId};
use crate::prefetch::prefetch;

/// The key of a function: two mentions with the same key are the same function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct FunctionKey {
    pub(crate) object: ObjectId,
    pub(crate) file: FileId,
    pub(crate) name: NameId,
}

/// A function of a profile.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct FunctionData {
    pub(crate) key: FunctionKey,
    pub(crate) mention: Mention,
}

/// The traits of all mentions of a function together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Mention {
    /// It has lines of its own.
    pub(crate) is_defined: bool,
    /// It was called with `cob=`.
    pub(crate) has_object: bool,
    /// It was called with `cfi=` or `cfl=`.
    pub(crate) has_file: bool,
}

impl Mention {
    #[inline]
    pub(crate) fn includes(self, other: Mention) -> bool {
        (self.is_defined || !other.is_defined)
            && (self.has_object || !other.has_object)
            && (self.has_file || !other.has_file)
    }

    #[inline]
    pub(crate) fn add(&mut self, other: Mention) {
        self.is_defined |= other.is_defined;
        self.has_object |= other.has_object;
        self.has_file |= other.has_file;
    }
}

/// The functions of a profile, and their ids by key.
///
/// Nearly all names belong to one function, so a list by name finds most functions: without a hash, and with four bytes
/// for each.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct FunctionTable {
    functions: Vec<FunctionData>,
    /// The first function of each name.
    by_name: Vec<Option<FunctionId>>,
    /// The other functions, and keys of functions that were united with another.
    others: Map<FunctionKey, FunctionId>,
}

impl FunctionTable {
    /// Returns a function.
    #[inline]
    pub(crate) fn get(&self, id: FunctionId) -> &FunctionData {
        &self.functions[id.index()]
    }

    /// Returns how many functions there are.
    pub(crate) fn len(&self) -> usize {
        self.functions.len()
    }

    /// Returns the functions with their ids, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (FunctionId, &FunctionData)> {
        self.functions.iter().enumerate().map(|(index, function)| (FunctionId::new(index), function))
    }

    /// Returns the function with a key, or the one that it was united with.
    pub(crate) fn find(&self, key: FunctionKey) -> Option<FunctionId> {
        match self.first_of(key.name) {
            Some(first) if self.get(first).key == key => Some(first),
            _ if self.others.is_empty() => None,
            _ => self.others.get(&key).copied(),
        }
    }

    #[inline]
    fn first_of(&self, name: NameId) -> Option<FunctionId> {
        self.by_name.get(name.index()).copied().flatten()
    }

    /// Prefetches the functions of these names.
    pub(crate) fn prefetch(&self, names: impl Iterator<Item = NameId> + Clone) {
        let firsts = names.filter_map(|name| self.first_of(name));
        prefetch(firsts.clone().map(FunctionId::index));
        prefetch(firsts.map(|first| self.get(first).key.name.index()));
    }

    /// Returns the function with a key, after adding it at the end if it is new, and notes a mention of it.
    pub(crate) fn mention(&mut self, key: FunctionKey, mention: Mention) -> FunctionId {
        let name = key.name.index();
        if name >= self.by_name.len() {
            self.by_name.resize(name + 1, None);
        }
        let next = FunctionId::new(self.functions.len());
        let found = match self.by_name[name] {
            None => {
                self.by_name[name] = Some(next);
                next
            }
            Some(first) if self.functions[first.index()].key == key => first,
            Some(_) => *self.others.entry(key).or_insert(next),
        };
        if found == next {
            self.functions.push(FunctionData { key, mention });
        } else {
            self.functions[found.index()].mention.add(mention);
        }
        found
    }

    /// Unites functions with others: `same_as` has for each function the one that it is, itself or another that remains.
    ///
    /// Returns the new id of each old one. The functions that remain keep their order.
    pub(crate) fn unite(&mut self, same_as: &[FunctionId]) -> Vec<FunctionId> {
        let remains = |old: FunctionId| same_as[old.index()] == old;
        let mut remaining = 0;
        let ranks: Vec<usize> = (0..same_as.len())
            .map(|old| {
                let rank = remaining;
                remaining += usize::from(remains(FunctionId::new(old)));
                rank
            })
            .collect();
        let new_ids: Vec<FunctionId> =
            same_as.iter().map(|same| FunctionId::new(ranks[same.index()])).collect();
        let new = |old: FunctionId| new_ids[old.index()];

        self.others.values_mut().for_each(|function| *function = new(*function));
        for entry in &mut self.by_name {
            if let Some(first) = *entry {
                *entry = remains(first).then(|| new(first));
                if entry.is_none() {
                    self.others.insert(self.functions[first.index()].key, new(first));
                }
            }
        }
        let mut old = 0;
        self.functions.retain(|_| {
            old += 1;
            remains(FunctionId::new(old - 1))
        });
        new_ids
    }

    /// Returns `true` if every key leads to a function of the table.
    pub(crate) fn is_consistent(&self) -> bool {
        // The order of the map does not matter: all must hold.
        let is_known = |function: FunctionId| function.index() < self.functions.len();
        self.others.values().all(|&function| is_known(function))
            && self.by_name.iter().flatten().all(|&function| is_known(function))
    }

    /// Frees memory that was reserved for more functions.
    pub(crate) fn release(&mut self) {
        self.functions.shrink_to_fit();
        self.by_name.shrink_to_fit();
    }
}
