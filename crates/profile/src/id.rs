//! Ids of the elements of one profile, one type for each index space.

use std::num::NonZeroU32;

/// Defines `Copy` ids, each an index in 32 bits that only this crate can make.
///
/// An id holds its index plus one, so that an `Option` of it takes 4 bytes too and `None` is all zeros.
macro_rules! define_ids {
    ($($(#[$doc:meta])* $visibility:vis $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $visibility struct $name(std::num::NonZeroU32);

        #[allow(dead_code, reason = "an index space need not use every conversion")]
        impl $name {
            /// The id with index 0.
            pub(crate) const FIRST: Self = $name(std::num::NonZeroU32::MIN);

            /// Returns the id with this index.
            ///
            /// # Panics
            ///
            /// If the index does not fit into 32 bits; no table has that many elements.
            #[inline]
            pub(crate) fn new(index: usize) -> Self {
                $name($crate::id::plus_one(index))
            }

            /// Returns the id with an index that a table keeps in 32 bits.
            #[inline]
            pub(crate) fn from_u32(index: u32) -> Self {
                $name($crate::id::plus_one(index as usize))
            }

            /// Returns the index in the tables that the id is for.
            #[inline]
            $visibility fn index(self) -> usize {
                self.to_u32() as usize
            }

            /// Returns the index as tables keep it.
            #[inline]
            pub(crate) fn to_u32(self) -> u32 {
                self.0.get() - 1
            }
        }

        impl $crate::ordered::OrderedKey for $name {
            const BITS: u32 = u32::BITS;

            fn ordinal(self) -> u128 {
                self.to_u32().into()
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{}({})", stringify!($name), self.to_u32())
            }
        }
    )*};
}
pub(crate) use define_ids;

define_ids! {
    /// A function of a profile. See the example of [`Profile::open`](crate::Profile::open).
    pub FunctionId;
    /// A source file of a profile. See the example of [the crate](crate).
    pub FileId;
    /// An object (program or library) of a profile. See the example of [the crate](crate).
    pub ObjectId;
    /// A part of a profile: a thread, a dump, a time span. See the example of [the crate](crate).
    pub PartId;
    /// An event type of a profile. See the example of [the crate](crate).
    pub EventId;
    /// A name of a profile in one of its name spaces. Each object and file is one name, so their ids have its index.
    pub(crate) NameId;
    /// An input of a profile: one of its files.
    pub(crate) InputId;
}

impl NameId {
    /// The empty name, which also stands for one that was never given: the first of each name space.
    pub(crate) const NAMELESS: NameId = NameId::FIRST;
}

impl From<NameId> for FileId {
    fn from(name: NameId) -> Self {
        FileId(name.0)
    }
}

impl From<FileId> for NameId {
    fn from(file: FileId) -> Self {
        NameId(file.0)
    }
}

impl From<NameId> for ObjectId {
    fn from(name: NameId) -> Self {
        ObjectId(name.0)
    }
}

impl From<ObjectId> for NameId {
    fn from(object: ObjectId) -> Self {
        NameId(object.0)
    }
}

/// Returns an index in 32 bits, which takes half the memory.
///
/// # Panics
///
/// If it does not fit; no table has that many elements.
#[inline]
pub(crate) fn narrow(index: usize) -> u32 {
    #[expect(clippy::expect_used, reason = "a list of that many elements does not fit into memory")]
    u32::try_from(index).expect("an index below 2^32")
}

#[inline]
pub(crate) fn plus_one(index: usize) -> NonZeroU32 {
    #[expect(clippy::expect_used, reason = "a list of that many elements does not fit into memory")]
    u32::try_from(index)
        .ok()
        .and_then(|index| NonZeroU32::MIN.checked_add(index))
        .expect("an index below 2^32 - 1")
}
