//! Comma-separated values.

use std::borrow::Cow;
use std::io::{self, Write};

/// Writes a line of comma-separated values, quoted where needed.
///
/// # Errors
///
/// Those of the output.
///
/// ```
/// let mut out = Vec::new();
/// gristmill_output::csv::write_line(["f(int, char)", "12"].into_iter(), &mut out)?;
/// assert_eq!(out, b"\"f(int, char)\",12\n");
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn write_line<'c>(cells: impl Iterator<Item = &'c str>, out: &mut dyn Write) -> io::Result<()> {
    for (nth, cell) in cells.enumerate() {
        if nth > 0 {
            out.write_all(b",")?;
        }
        out.write_all(quoted(cell).as_bytes())?;
    }
    out.write_all(b"\n")
}

fn quoted(cell: &str) -> Cow<'_, str> {
    if cell.contains(['"', ',', '\n', '\r']) {
        Cow::Owned(format!("\"{}\"", cell.replace('"', "\"\"")))
    } else {
        Cow::Borrowed(cell)
    }
}
