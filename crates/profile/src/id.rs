//! Numbers that stand for the things of one profile.

use std::fmt;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl $name {
            /// The one with this index.
            ///
            /// # Panics
            ///
            /// Above 2^32 − 1; no profile has so many.
            #[inline]
            pub fn new(index: usize) -> Self {
                $name(u32::try_from(index).expect("fewer than 2^32"))
            }

            /// Its index in the lists of the profile.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({})", stringify!($name), self.0)
            }
        }
    )*};
}

ids! {
    /// A function of a profile.
    FunctionId;
    /// A source file of a profile.
    FileId;
    /// An object (program or library) of a profile.
    ObjectId;
    /// A part of a profile: a thread, a dump, a time span.
    PartId;
    /// An event type of a profile.
    EventId;
}

/// A place in a list, in half the memory.
///
/// # Panics
///
/// Above 2^32 − 1; no graph has so many arcs.
#[inline]
pub(crate) fn narrow(place: usize) -> u32 {
    #[expect(clippy::expect_used, reason = "a list of so many arcs does not fit into memory")]
    u32::try_from(place).expect("fewer than 2^32")
}
