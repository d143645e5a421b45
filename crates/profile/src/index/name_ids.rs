//! The meanings of name ids: what `(7)` in `fn=(7)` stands for, at any location of an input.

use gristmill_format::NameSpace;
use gristmill_format::raw::{IdTable, NameSpaces};

use crate::id::NameId;

/// The meanings of the name ids of one input.
///
/// Nearly all name ids have one meaning in all of a file, so the first meaning is stored by name id, and all others in a
/// list. An input may make all name ids lose their meaning a million times; what comes after the first time is in the list.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct NameIds {
    /// The first meanings, up to where name ids lose their meaning.
    first: NameSpaces<IdTable<NameId>>,
    /// Offsets where all name ids lose their meaning.
    forgotten: Vec<u64>,
    later: Vec<Meaning>,
    /// The last meaning of each name id that is in the list and not forgotten.
    last: NameSpaces<IdTable<NameId>>,
}

/// The meaning of a name id from an offset on. The order is that of the finished list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Meaning {
    space: NameSpace,
    id: u64,
    byte: u64,
    name: NameId,
}

impl NameIds {
    /// Creates an empty table for an input of this length.
    pub(crate) fn for_input(byte_count: usize) -> Self {
        NameIds { first: NameSpaces::from_fn(|_| IdTable::for_input(byte_count)), ..NameIds::default() }
    }

    /// All name ids lose their meaning at an offset.
    pub(crate) fn forget(&mut self, byte: u64) {
        self.forgotten.push(byte);
        self.last = NameSpaces::default();
    }

    /// Sets the meaning of a name id from an offset on. To be called in the order of the file.
    pub(crate) fn define(&mut self, space: NameSpace, id: u64, name: NameId, byte: u64) {
        match self.latest(space, id) {
            Some(known) if known == name => {}
            None if self.forgotten.is_empty() => self.first[space].set(id, name),
            _ => {
                self.later.push(Meaning { space, id, byte, name });
                self.last[space].set(id, name);
            }
        }
    }

    /// Returns the first meaning of a name id if it is in an array, to prefetch it.
    #[inline]
    pub(crate) fn first_meaning(&self, space: NameSpace, id: u32) -> u32 {
        self.first[space].get_dense(id).map_or(0, NameId::to_u32)
    }

    /// Returns the meaning of a name id behind all definitions so far.
    #[inline]
    pub(crate) fn latest(&self, space: NameSpace, id: u64) -> Option<NameId> {
        if self.forgotten.is_empty() && self.later.is_empty() {
            return self.first[space].get(id);
        }
        self.last[space]
            .get(id)
            .or_else(|| if self.forgotten.is_empty() { self.first[space].get(id) } else { None })
    }

    /// Returns the meaning of a name id at an offset, once the table is [finished](NameIds::finish).
    pub(crate) fn at(&self, space: NameSpace, id: u64, byte: u64) -> Option<NameId> {
        let forgotten = self.forgotten.partition_point(|&forgotten| forgotten <= byte);
        let valid_from = forgotten.checked_sub(1).map(|last| self.forgotten[last]);
        let later =
            self.later.partition_point(|later| (later.space, later.id, later.byte) <= (space, id, byte));
        match later.checked_sub(1).map(|last| self.later[last]) {
            Some(later)
                if (later.space, later.id) == (space, id)
                    && valid_from.is_none_or(|from| from <= later.byte) =>
            {
                Some(later.name)
            }
            _ if valid_from.is_none() => self.first[space].get(id),
            _ => None,
        }
    }

    /// Sorts the list, after all definitions.
    pub(crate) fn finish(&mut self) {
        self.later.sort_by_key(|later| (later.space, later.id, later.byte));
        self.later.shrink_to_fit();
        self.forgotten.shrink_to_fit();
        self.last = NameSpaces::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_id_has_its_latest_meaning() {
        let space = NameSpace::Function;
        let [a, b, c, d] = [60, 70, 71, 72].map(NameId::new);
        let mut ids = NameIds::default();
        ids.define(space, 7, b, 10);
        ids.define(space, 7, b, 20);
        ids.define(space, 7, c, 30);
        ids.define(space, 6, a, 35);
        ids.define(space, 7, b, 40);
        assert_eq!(ids.latest(space, 7), Some(b));
        ids.forget(50);
        assert_eq!(ids.latest(space, 7), None);
        ids.define(space, 7, d, 60);
        ids.finish();
        let at = |byte| ids.at(space, 7, byte);
        assert_eq!([10, 29, 30, 39, 40, 49].map(at), [b, b, c, c, b, b].map(Some));
        assert_eq!(at(60), Some(d));
        assert_eq!((ids.at(space, 6, 40), ids.at(NameSpace::File, 7, 40)), (Some(a), None));
    }
}
