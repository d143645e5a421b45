//! A line of a file with a marker below: cut to the width, without control characters.

use std::borrow::Cow;
use std::ops::Range;

use unicode_width::UnicodeWidthStr;

use gristmill_output::{begins_log_command, printable};

/// The mark of a cut.
const CUT: &str = "…";

/// Bytes of the longest character in UTF-8.
const MAX_CHARACTER_BYTES: usize = 4;

/// A line as it is shown, and the marked columns of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Excerpt {
    pub(super) line: String,
    /// Columns before the marked ones.
    pub(super) before: usize,
    /// Marked columns; at least one.
    pub(super) marked: usize,
}

impl Excerpt {
    /// Returns the marker: `^~~~`.
    pub(super) fn marker(&self) -> String {
        format!("^{}", "~".repeat(self.marked - 1))
    }
}

/// A character or an invalid byte, which is shown as itself or as an escape.
struct Cell {
    bytes: Range<usize>,
    /// Its columns, from the start of the window.
    columns: Range<usize>,
}

/// Returns the part of `text` around the marked bytes that fits into `width` columns.
pub(super) fn excerpt(text: &[u8], marked: Range<usize>, width: usize) -> Excerpt {
    let width = width.max(3);
    let marked = marked.start.min(text.len())..marked.end.min(text.len());
    // A line may have megabytes, and many findings. Nothing beyond this window can be shown.
    let reach = width * MAX_CHARACTER_BYTES;
    let around = |reach: usize| {
        let start = marked.start.saturating_sub(reach);
        start..(marked.end.min(marked.start + reach) + reach).min(text.len())
    };
    // A byte of ASCII has a column.
    let reach =
        if text[around(width)].iter().all(|byte| matches!(byte, b' '..=b'~')) { width } else { reach };
    let Range { start, end } = around(reach);
    let window = window(text, start, end);
    let (cells, mark) = cells(text, window.clone(), &marked);
    let total = cells.last().map_or(0, |cell| cell.columns.end).max(mark.end);
    let (open_left, open_right) = (window.start > 0, window.end < text.len());

    let start = if !open_left && (mark.end < width || (total <= width && !open_right)) {
        0
    } else {
        // The mark is in the middle, unless that leaves columns free at the end.
        let seen = mark.len().min(width * 2 / 3);
        let middle = mark.start.saturating_sub((width - seen) / 2);
        if open_right { middle } else { middle.min((total + CUT_WIDTH).saturating_sub(width)) }
    };
    let mut line = String::new();
    let mut columns = 0;
    let mut seen = 0..0;
    // The line starts at the first whole character; a wide one that would be cut in half is left out.
    let first = cells.iter().position(|cell| cell.columns.start >= start).unwrap_or(cells.len());
    let from = cells.get(first).map_or(total, |cell| cell.columns.start);
    if first > 0 || open_left {
        line.push_str(CUT);
        columns += CUT_WIDTH;
    }
    let shift = |column: usize, columns: usize| column.saturating_sub(from) + columns;
    seen.start = shift(mark.start, columns);
    seen.end = shift(mark.end, columns);
    let rest = &cells[first..];
    let fits = |width: usize| rest.iter().take_while(|cell| cell.columns.end - from <= width).count();
    let mut shown = fits(width - columns);
    let cut = shown < rest.len() || open_right;
    if cut {
        shown = fits(width - columns - CUT_WIDTH);
    }
    for cell in &rest[..shown] {
        line.push_str(&shown_cell(text, cell.bytes.clone()));
        columns += cell.columns.len();
    }
    if cut {
        line.push_str(CUT);
        columns += CUT_WIDTH;
    }
    let before = seen.start.min(width - 1);
    let end = if cut { seen.end.min(columns) } else { seen.end.min(width) };
    Excerpt { line, before, marked: end.saturating_sub(before).max(1) }
}

/// Columns of [`CUT`].
const CUT_WIDTH: usize = 1;

/// Returns a range of bytes, moved to the boundaries of characters.
fn window(text: &[u8], start: usize, end: usize) -> Range<usize> {
    let inside = |at: usize| text.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
    let mut start = start.min(text.len());
    if start > 0 {
        start += (0..MAX_CHARACTER_BYTES - 1).take_while(|&back| inside(start + back)).count();
    }
    let mut end = end.min(text.len());
    end -= (0..MAX_CHARACTER_BYTES - 1).take_while(|&back| end > back && inside(end - back)).count();
    start..end.max(start)
}

/// Returns the characters in a window of the text, and the columns of those that are marked at least in part.
fn cells(text: &[u8], window: Range<usize>, marked: &Range<usize>) -> (Vec<Cell>, Range<usize>) {
    let mut cells = Vec::new();
    let mut mark: Option<Range<usize>> = None;
    let mut at = window.start;
    let mut column = 0;
    let mut push = |length: usize| {
        let bytes = at..at + length;
        // Nearly all characters are like this. A line can have a finding for each of its words.
        let width = match text[at] {
            b' '..=b'"' | b'$'..=b'~' => 1,
            _ => shown_cell(text, bytes.clone()).width(),
        };
        let columns = column..column + width;
        let is_marked =
            at <= marked.start && marked.start < bytes.end || marked.start < at && at < marked.end;
        if is_marked {
            mark = Some(mark.as_ref().map_or(columns.start, |mark| mark.start)..columns.end);
        }
        at = bytes.end;
        column = columns.end;
        cells.push(Cell { bytes, columns });
    };
    for chunk in text[window].utf8_chunks() {
        chunk.valid().chars().for_each(|character| push(character.len_utf8()));
        chunk.invalid().iter().for_each(|_| push(1));
    }
    // A location after the last character, or a character without columns.
    let mark = mark.unwrap_or(column..column + 1);
    (cells, mark.start..mark.end.max(mark.start + 1))
}

/// Returns the characters that stand for a character or an invalid byte of the text.
fn shown_cell(text: &[u8], bytes: Range<usize>) -> Cow<'_, str> {
    match begins_log_command(&text[bytes.start..]) {
        true => "\\x23".into(),
        false => printable(&text[bytes]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the line and the marker below it.
    fn shown(text: &[u8], marked: Range<usize>, width: usize) -> [String; 2] {
        let excerpt = excerpt(text, marked, width);
        assert!(excerpt.line.width() <= width, "{excerpt:?}");
        assert!(excerpt.before + excerpt.marked <= width, "{excerpt:?}");
        let below = format!("{}{}", " ".repeat(excerpt.before), excerpt.marker());
        [excerpt.line, below]
    }

    #[test]
    fn short_lines_are_shown_whole() {
        assert_eq!(shown(b"fn=main 12", 8..10, 40), ["fn=main 12", "        ^~"]);
        assert_eq!(shown(b"fn=main", 0..7, 40), ["fn=main", "^~~~~~~"]);
        assert_eq!(shown(b"fn=main", 3..3, 40), ["fn=main", "   ^"]);
        assert_eq!(shown(b"1234567", 0..7, 7), ["1234567", "^~~~~~~"]);
    }

    #[test]
    fn location_after_the_end() {
        assert_eq!(shown(b"calls=", 6..6, 40), ["calls=", "      ^"]);
        assert_eq!(shown(b"", 0..0, 40), ["", "^"]);
        assert_eq!(shown(b"ab", 7..9, 40), ["ab", "  ^"]);
        assert_eq!(shown(b"1234567", 7..7, 7), ["…34567", "      ^"]);
    }

    #[test]
    fn marker_is_below_wide_and_escaped_characters() {
        assert_eq!(shown(b"1\t2", 2..3, 40), ["1\\t2", "   ^"]);
        assert_eq!(shown(b"1\t2", 1..2, 40), ["1\\t2", " ^~"]);
        assert_eq!(shown("größe x".as_bytes(), 8..9, 40), ["größe x", "      ^"]);
        assert_eq!(shown("日本 x".as_bytes(), 7..8, 40), ["日本 x", "     ^"]);
        assert_eq!(shown("日本".as_bytes(), 3..6, 40), ["日本", "  ^~"]);
        assert_eq!(shown(b"a\xffb", 1..2, 40), ["a\\xffb", " ^~~~"]);
        assert_eq!(shown("e\u{301}x".as_bytes(), 3..4, 40), ["e\u{301}x", " ^"]);
        // In the middle of a character.
        assert_eq!(shown("aöb".as_bytes(), 2..3, 40), ["aöb", " ^"]);
    }

    #[test]
    fn long_lines_are_cut_around_the_mark() {
        let digits = b"0123456789".repeat(10);
        assert_eq!(shown(&digits, 2..5, 20), ["0123456789012345678…", "  ^~~"]);
        assert_eq!(shown(&digits, 50..53, 20), ["…234567890123456789…", "         ^~~"]);
        assert_eq!(shown(&digits, 98..100, 20), ["…1234567890123456789", "                  ^~"]);
        assert_eq!(shown(&digits, 100..100, 20), ["…234567890123456789", "                   ^"]);
        assert_eq!(shown(&digits, 0..100, 20), ["0123456789012345678…", "^~~~~~~~~~~~~~~~~~~~"]);
        assert_eq!(shown(&digits, 40..100, 20), ["…789012345678901234…", "    ^~~~~~~~~~~~~~~~"]);
    }

    /// A character that is not ASCII makes the window four times as large.
    #[test]
    fn text_beyond_the_width_changes_nothing() {
        let plain = b"0123456789".repeat(30);
        let width = 20;
        for start in 0..=plain.len() {
            for length in [0, 1, 5, 45] {
                let marked = start..start + length;
                let beyond = [marked.start.checked_sub(3 * width), Some(marked.end + 3 * width)];
                for at in beyond.into_iter().flatten().filter(|&at| at < plain.len()) {
                    let mut other = plain.clone();
                    other[at] = 0xff;
                    let expected = shown(&other, marked.clone(), width);
                    assert_eq!(shown(&plain, marked.clone(), width), expected, "{marked:?}");
                }
            }
        }
    }

    #[test]
    fn any_location_of_any_line_fits() {
        let lines: [Vec<u8>; 5] = [
            "ö日\t\u{202e}".repeat(40).into_bytes(),
            b"\xff\x80".repeat(99),
            "e\u{301}".repeat(100).into_bytes(),
            vec![b'x'; 1 << 20],
            vec![0x80; 300],
        ];
        for line in lines {
            for start in (0..400).chain([line.len() / 2, line.len()]) {
                for length in [0, 1, 7, 1 << 19] {
                    for width in [3, 10, 21, 70] {
                        shown(&line, start..start + length, width);
                    }
                }
            }
        }
    }
}
