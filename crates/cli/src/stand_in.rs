//! Other programs whose place this one takes when it is called by their name.

mod cachegrind_tool;
mod callgrind_annotate;
mod cg_annotate;
mod cg_diff;
mod cg_merge;

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;

/// Runs as the program that the first word names, if it is one of those that are known here.
pub(crate) fn run(words: &[OsString]) -> Option<ExitCode> {
    let (program, options) = words.split_first()?;
    match Path::new(program).file_stem().and_then(OsStr::to_str)? {
        "callgrind_annotate" => Some(callgrind_annotate::run(options)),
        "cg_annotate" => Some(cg_annotate::run(program, options)),
        "cg_diff" => Some(cg_diff::run(options)),
        "cg_merge" => Some(cg_merge::run(options)),
        _ => None,
    }
}
