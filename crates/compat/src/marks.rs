//! The marks that callgrind_annotate and cg_annotate share, in the same words.

use std::io::{self, Write};

/// The name of an unknown file or function.
pub(crate) const UNKNOWN: &[u8] = b"???";

/// The line above and below a title.
pub(crate) const TITLE_LINE: &str =
    "--------------------------------------------------------------------------------";

/// The line above and below a warning.
pub(crate) const WARNING_LINE: &str =
    "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@";

const WARNING: &str = "@@ WARNING @@ WARNING @@ WARNING @@ WARNING @@ WARNING @@ WARNING @@ WARNING @@";

/// Writes the heading of a warning.
pub(crate) fn write_warning(out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{WARNING_LINE}\n{WARNING}\n{WARNING_LINE}")
}

/// Writes the mark for omitted lines of a source file: those before this line, or after it.
pub(crate) fn write_gap(line: u64, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "-- line {line} ----------------------------------------")
}
