//! Styles: the spellings that a writer chooses between.

/// The spelling of names.
///
/// See the example of [`Writer`](crate::Writer).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum NameStyle {
    /// As each record has it.
    #[default]
    AsGiven,
    /// `fn=(1) main` where a name comes first in a part, `fn=(1)` after that.
    Compressed,
    /// `fn=main`. A name that would be read as a number is written as a definition all the same.
    Plain,
}

/// The spelling of positions.
///
/// See the example of [`Writer`](crate::Writer).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum PositionStyle {
    /// As each record is spelled; absolute for records that were not read.
    #[default]
    AsGiven,
    /// Relative where Callgrind would: at most 99 away from the last cost line of the function, and that not 0.
    Compressed,
    /// Absolute.
    Absolute,
}
