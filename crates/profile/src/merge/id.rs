//! Ids of a merger: names and functions of all profiles that were added.

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub(super) struct $name(u32);

        impl $name {
            #[inline]
            pub(super) fn from_u32(index: u32) -> Self {
                $name(index)
            }

            #[inline]
            pub(super) fn as_u32(self) -> u32 {
                self.0
            }

            #[inline]
            pub(super) fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

ids! {
    /// The name of an object.
    ObjectName;
    /// The name of a source file.
    FileName;
    /// The name of a function.
    FunctionName;
    /// A function: an object, a source file and a name.
    MergedFunction;
}

impl MergedFunction {
    #[expect(clippy::expect_used, reason = "2^32 functions do not fit into memory")]
    pub(super) fn new(index: usize) -> Self {
        MergedFunction(u32::try_from(index).expect("fewer than 2^32"))
    }
}

/// The key of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct MergedKey {
    pub(super) object: ObjectName,
    pub(super) file: FileName,
    pub(super) name: FunctionName,
}
