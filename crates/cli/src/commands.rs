//! The commands, one file each: from plain options to library calls to output.

pub(crate) mod annotate;
pub(crate) mod completions;
pub(crate) mod diff;
pub(crate) mod functions;
pub(crate) mod gate;
pub(crate) mod info;
pub(crate) mod lint;
pub(crate) mod man;
pub(crate) mod merge;
pub(crate) mod rewrite;
pub(crate) mod show;
pub(crate) mod tree;
