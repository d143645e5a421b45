//! What callgrind_annotate and cg_annotate mark their reports with, in the same words.

use std::io::{self, Write};

/// What stands for a file or function that is not known.
pub(super) const UNKNOWN: &[u8] = b"???";

/// Above and below titles.
pub(super) const RULE: &str =
    "--------------------------------------------------------------------------------";

/// Above and below warnings.
pub(super) const ALARM: &str =
    "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@";

const WARNING: &str = "@@ WARNING @@ WARNING @@ WARNING @@ WARNING @@ WARNING @@ WARNING @@ WARNING @@";

/// The beginning of a warning.
pub(super) fn write_warning(out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{ALARM}\n{WARNING}\n{ALARM}")
}

/// Where lines of a source file are left out: those before this one, or after.
pub(super) fn write_gap(line: u64, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "-- line {line} ----------------------------------------")
}
