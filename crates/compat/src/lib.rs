//! Whatever must equal another tool to the byte: the layouts of callgrind_annotate and cg_annotate, the files that
//! Cachegrind's tools read and write, their options and substitutions.
#![deny(missing_docs)]

pub mod argparse;
mod cachegrind_file;
pub mod callgrind_annotate;
pub mod cg_annotate;
mod error;
mod marks;
mod ranges;
mod substitution;

pub use cachegrind_file::{
    CachegrindFault, CachegrindFaultKind, CachegrindFile, CachegrindRecord, CachegrindWriter,
};
pub use error::LayoutError;
pub use substitution::{Substitution, SubstitutionError};
