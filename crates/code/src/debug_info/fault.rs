//! The reason for which debug information cannot be read.

use std::fmt;

pub(super) type Outcome<T> = Result<T, Fault>;

/// A reason, small enough to be kept for each unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    Dwarf(gimli::Error),
    /// The tables or names would be out of proportion to the file.
    OutOfProportion,
}

impl From<gimli::Error> for Fault {
    fn from(error: gimli::Error) -> Self {
        Self::Dwarf(error)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dwarf(error) => error.fmt(f),
            Self::OutOfProportion => f.write_str("its tables are larger than the file can hold"),
        }
    }
}
