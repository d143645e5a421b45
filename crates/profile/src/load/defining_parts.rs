//! The part in which each name id was defined.

use gristmill_format::raw::IdTable;

use crate::id::define_ids;

define_ids! {
    /// A part of one input.
    pub(crate) InputPart;
}

/// The part in which each name id got its latest meaning. It is nearly always the first, which takes no memory.
#[derive(Debug, Default)]
pub(super) struct DefiningParts {
    /// The part of each other name id; none if nothing defines it.
    others: IdTable<Option<InputPart>>,
}

impl DefiningParts {
    /// Returns the part that defined a name id with a meaning; none if the meaning was made up for an undefined one.
    #[inline]
    pub(super) fn get(&self, id: u64) -> Option<InputPart> {
        self.others.get(id).unwrap_or(Some(InputPart::FIRST))
    }

    #[inline]
    pub(super) fn set(&mut self, id: u64, part: Option<InputPart>) {
        if part != Some(InputPart::FIRST) || self.others.get(id).is_some() {
            self.others.set(id, part);
        }
    }
}
