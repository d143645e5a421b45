//! The commands, one file each: from plain options to library calls to output.

pub(crate) mod completions;
pub(crate) mod functions;
pub(crate) mod info;
pub(crate) mod lint;
pub(crate) mod man;
pub(crate) mod rewrite;
pub(crate) mod show;
pub(crate) mod tree;
