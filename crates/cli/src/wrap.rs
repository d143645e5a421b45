//! Text in lines that fit a number of columns.

use unicode_width::UnicodeWidthStr;

/// The columns that a text takes on a terminal.
pub(crate) fn columns(text: &str) -> usize {
    text.width()
}

/// Breaks a text at its spaces into lines of at most `width` columns. A word that is longer has a line of its own.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut rest = text.trim_matches(' ');
    while !rest.is_empty() {
        let mut end = 0;
        // Where a line may end: before each space, and at the end of the text.
        for stop in rest.match_indices(' ').map(|(at, _)| at).chain([rest.len()]) {
            if end > 0 && columns(&rest[..stop]) > width {
                break;
            }
            end = stop;
        }
        lines.push(rest[..end].trim_end_matches(' '));
        rest = rest[end..].trim_start_matches(' ');
    }
    lines
}

/// `first` and then the text, broken into lines of at most `width` columns; all lines but the first begin with `indent`
/// blanks.
pub(crate) fn hang(first: &str, text: &str, indent: usize, width: usize) -> String {
    // What the first line begins with takes room from its text, as a word would; the padding stands for it.
    let mut padded = "x".repeat(columns(first).saturating_sub(indent));
    let taken = padded.len();
    padded.push_str(text.trim_start_matches(' '));
    let mut shown = String::with_capacity(first.len() + text.len() + 16);
    shown.push_str(first);
    for (index, line) in wrap(&padded, width.saturating_sub(indent)).into_iter().enumerate() {
        if index == 0 {
            shown.push_str(&line[taken..]);
        } else {
            shown.push('\n');
            shown.push_str(&" ".repeat(indent));
            shown.push_str(line);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_fit() {
        assert_eq!(wrap("one two  three four", 9), ["one two", "three", "four"]);
        assert_eq!(wrap("a verylongword b", 5), ["a", "verylongword", "b"]);
        assert_eq!(wrap("日本 日本", 5), ["日本", "日本"]);
        assert!(wrap("  ", 5).is_empty());
    }

    #[test]
    fn first_line_hangs_out() {
        assert_eq!(hang("help: ", "one two three", 6, 14), "help: one two\n      three");
        assert_eq!(hang("a:1:1: ", "one two three", 2, 12), "a:1:1: one\n  two three");
        assert_eq!(hang("averylongname: ", "one two", 2, 12), "averylongname: one\n  two");
        assert_eq!(hang("a", "", 2, 12), "a");
    }
}
