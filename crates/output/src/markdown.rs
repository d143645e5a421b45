//! Text in Markdown.

use std::io::{self, Write};

use crate::printable;

/// An invisible character between two others. Hosts replace mentions and references after escapes are gone, so a backslash
/// is not enough.
const APART: &str = "&#8203;";

/// Writes lines that stay lines of their own, and in which nothing is markup.
///
/// # Errors
///
/// Those of the output.
pub fn write_lines(lines: &[String], out: &mut dyn Write) -> io::Result<()> {
    lines.iter().try_for_each(|line| writeln!(out, "{}  ", escaped(line)))
}

/// Escapes all markup, also that of a table, and control characters. Nothing in the text is a link, notifies a person, or
/// refers to an issue.
///
/// ```
/// assert_eq!(gristmill_output::markdown::escaped("a|b_c"), "a\\|b\\_c");
/// assert_eq!(gristmill_output::markdown::escaped("@team"), "@&#8203;team");
/// ```
pub fn escaped(text: &str) -> String {
    let shown = printable(text.as_bytes());
    let mut escaped = String::with_capacity(shown.len());
    // A heading, a list or an underline begins a line.
    if ["#", "- ", "+ ", "--", "=="].iter().any(|start| shown.starts_with(start)) {
        escaped.push('\\');
    }
    let mut rest = shown.char_indices();
    while let Some((at, character)) = rest.next() {
        let after = rest.as_str();
        if matches!(character, '|' | '\\' | '`' | '*' | '_' | '<' | '>' | '[' | ']' | '~' | '&') {
            escaped.push('\\');
        }
        // A link can begin without a scheme.
        if character == '.' && ends_with(&shown[..at], b"www") {
            escaped.push_str(APART);
        }
        escaped.push(character);
        let is_live = match character {
            '@' | '#' => after.starts_with(|next: char| next.is_alphanumeric()),
            '!' | '$' | '%' | '^' | '&' => after.starts_with(|next: char| next.is_ascii_digit()),
            '-' => after.starts_with(|next: char| next.is_ascii_digit()) && ends_with(&shown[..at], b"gh"),
            ':' => after.starts_with("//"),
            _ => false,
        };
        if is_live {
            escaped.push_str(APART);
        }
    }
    escaped
}

/// Escapes a text for HTML inside of Markdown, where nothing refers to anything either.
///
/// ```
/// assert_eq!(gristmill_output::markdown::escaped_html("Vec<u8> @team"), "Vec&lt;u8&gt; @&#8203;team");
/// ```
pub fn escaped_html(text: &str) -> String {
    let shown = printable(text.as_bytes());
    let mut escaped = String::with_capacity(shown.len());
    for character in shown.chars() {
        match character {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '@' | '#' => escaped.extend([character.encode_utf8(&mut [0; 4]), APART]),
            _ => escaped.push(character),
        }
    }
    escaped
}

/// Escapes a text that was shortened, with the whole text beside the pointer. Both may be in a table.
///
/// ```
/// let shown = gristmill_output::markdown::titled("f<…>", "f<a|b>");
/// assert_eq!(shown, "<span title=\"f&lt;a&#124;b&gt;\">f\\<…\\></span>");
/// ```
pub fn titled(shown: &str, whole: &str) -> String {
    let title = escaped_html(whole).replace('"', "&quot;").replace('|', "&#124;").replace('`', "&#96;");
    format!("<span title=\"{title}\">{}</span>", escaped(shown))
}

/// Writes a piece of a program for a cell of a table. Nothing in it is markup; nothing of an empty text is left.
///
/// ```
/// assert_eq!(gristmill_output::markdown::code_in_table("a |= b"), "`a \\|= b`");
/// assert_eq!(gristmill_output::markdown::code_in_table("a = `b`"), "`` a = `b` ``");
/// ```
pub fn code_in_table(text: &str) -> String {
    let shown = printable(text.as_bytes());
    if shown.trim().is_empty() {
        return String::new();
    }
    // A pipe ends the cell also inside of code, and so does one behind two backslashes.
    let shown = shown.replace("\\|", "\\\\|").replace('|', "\\|");
    let longest = shown.split(|character| character != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let blank = if longest > 0 { " " } else { "" };
    format!("{fence}{blank}{shown}{blank}{fence}")
}

/// Returns `true` if a text ends with these letters, in small ones or capitals.
fn ends_with(text: &str, letters: &[u8]) -> bool {
    let end = text.len().checked_sub(letters.len()).map(|at| &text.as_bytes()[at..]);
    end.is_some_and(|end| end.eq_ignore_ascii_case(letters))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_inert() {
        for (text, written) in [
            ("operator|<T>&[x](y)`*_~", r"operator\|\<T\>\&\[x\](y)\`\*\_\~"),
            ("<img src=x>", r"\<img src=x\>"),
            ("@user a@b.c #12 {closure#0}", "@&#8203;user a@&#8203;b.c #&#8203;12 {closure#&#8203;0}"),
            ("http://a www.a.b WWW.a", "http:&#8203;//a www&#8203;.a.b WWW&#8203;.a"),
            ("GH-12 !12 a!", "GH-&#8203;12 !&#8203;12 a!"),
            ("# a", r"\# a"),
            ("- a", r"\- a"),
            ("-12", "-12"),
            ("a\n\x1b\u{202e}", r"a\\n\\x1b\\u{202e}"),
            ("std::vec", "std::vec"),
        ] {
            assert_eq!(escaped(text), written);
        }
    }
}
