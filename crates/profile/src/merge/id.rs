//! Ids of a merger: names and functions of all profiles that were added.

use crate::id::define_ids;

define_ids! {
    /// The name of an object.
    pub(super) ObjectName;
    /// The name of a source file.
    pub(super) FileName;
    /// The name of a function.
    pub(super) FunctionName;
    /// A function: an object, a source file and a name.
    pub(super) MergedFunction;
}

impl Default for FileName {
    /// Returns the file with index 0, which keys without a target hold.
    fn default() -> Self {
        FileName::FIRST
    }
}

/// The key of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct MergedKey {
    pub(super) object: ObjectName,
    pub(super) file: FileName,
    pub(super) name: FunctionName,
}
