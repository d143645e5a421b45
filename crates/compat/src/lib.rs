#![doc = include_str!("../README.md")]
#![deny(missing_docs)]

mod cachegrind_file;
pub mod callgrind_annotate;
pub mod cg_annotate;
mod error;
mod known_names;
mod marks;
mod ranges;
pub mod stand_in;
mod substitution;

pub use cachegrind_file::{
    CachegrindError, CachegrindErrorKind, CachegrindFile, CachegrindRecord, CachegrindWriter,
};
pub use error::LayoutError;
pub use substitution::{Substitution, SubstitutionError};
