//! The source files of the project, as the checks look at them.

pub(crate) mod crates;
pub(crate) mod items;
pub(crate) mod paths;
pub(crate) mod text;
