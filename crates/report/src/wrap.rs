//! Sentences in lines that fit.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr as _;

use crate::table::Look;

/// Writes a text in lines no wider than this, where its blanks allow it; all but the first begin with blanks.
pub(crate) fn wrapped(out: &mut dyn Write, text: &str, width: usize, indent: usize) -> io::Result<()> {
    let indent = indent.min(width / 2);
    let begins = text.len() - text.trim_start().len();
    let mut line = " ".repeat(begins);
    let mut is_start = true;
    // A number stays with its percent sign; no text that is shown has this control character.
    const GLUE: &str = "\u{1}%";
    let text = text[begins..].replace(" %", GLUE);
    // Blanks that align the first line stay.
    for word in text.split(' ') {
        let word = word.replace(GLUE, " %");
        if !is_start && line.width() + 1 + word.width() > width && !line.trim().is_empty() {
            writeln!(out, "{}", line.trim_end())?;
            line = " ".repeat(indent);
            is_start = true;
        }
        if !is_start {
            line.push(' ');
        }
        line.push_str(&word);
        is_start = false;
    }
    writeln!(out, "{}", line.trim_end())
}

/// The same for what is of less interest.
pub(crate) fn wrapped_dim(out: &mut dyn Write, text: &str, look: &Look, indent: usize) -> io::Result<()> {
    let mut lines = Vec::new();
    wrapped(&mut lines, text, look.width, indent)?;
    String::from_utf8_lossy(&lines).lines().try_for_each(|line| writeln!(out, "{}", look.dim(line)))
}
