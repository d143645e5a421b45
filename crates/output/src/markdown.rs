//! Text in Markdown.

use std::io::{self, Write};

/// Writes lines that stay lines of their own, and in which nothing is a tag.
///
/// # Errors
///
/// Those of the output.
pub fn write_lines(lines: &[String], out: &mut dyn Write) -> io::Result<()> {
    lines.iter().try_for_each(|line| writeln!(out, "{}  ", without_tags(line)))
}

/// Escapes tags, and nothing else.
///
/// ```
/// assert_eq!(gristmill_output::markdown::without_tags("Vec<u8>"), "Vec\\<u8>");
/// ```
pub fn without_tags(text: &str) -> String {
    text.replace('<', "\\<")
}

/// Escapes all markup, also that of a table.
///
/// ```
/// assert_eq!(gristmill_output::markdown::escaped("a|b_c"), "a\\|b\\_c");
/// ```
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if matches!(character, '|' | '\\' | '`' | '*' | '_' | '<' | '>' | '[' | ']' | '~' | '&') {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}
