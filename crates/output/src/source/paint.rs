//! Colours of annotated source on a terminal: the class of each token, and the heat of the line relative to the
//! hottest.
//!
//! Without colours a painter writes nothing, so that layouts stay equal to those of other tools.

use std::io::{self, Write};

use gristmill_format::Cost;

use super::highlight::{Class, Highlighter, Span};
use super::without_end;
use crate::printable_line;

/// The sixteen basic colours, which every terminal has and its user has chosen.
const RESET: &str = "\x1b[0m";
const DIM: &str = "\x1b[2m";

/// A painter for the lines of a source file, which sees all lines from the first one.
///
/// ```
/// use gristmill_output::source::SourcePainter;
///
/// let mut painter = SourcePainter::new(true, b"mill.c", 100);
/// let mut out = Vec::new();
/// painter.write_line(b"int n;", &mut out)?;
/// assert_eq!(out, b"\x1b[36mint\x1b[0m n;\n");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct SourcePainter {
    is_on: bool,
    hottest: Cost,
    highlighter: Highlighter,
    spans: Vec<Span>,
}

impl SourcePainter {
    /// Creates a painter for the file at this path; `hottest` is the cost of the most expensive line of all files.
    pub fn new(is_on: bool, path: &[u8], hottest: Cost) -> Self {
        let highlighter = Highlighter::for_path(if is_on { path } else { b"" });
        SourcePainter { is_on, hottest, highlighter, spans: Vec::new() }
    }

    /// `true` if there are colours.
    pub fn is_on(&self) -> bool {
        self.is_on
    }

    /// Reads a line that is not shown: a comment may begin there.
    pub fn pass(&mut self, line: &[u8]) {
        if self.is_on {
            self.highlighter.line(without_end(line), &mut self.spans);
        }
    }

    /// Writes the colour of a line's costs. [`SourcePainter::end_costs`] follows them.
    pub fn begin_costs(&self, cost: Option<Cost>, out: &mut dyn Write) -> io::Result<()> {
        if self.is_on { out.write_all(self.heat(cost).as_bytes()) } else { Ok(()) }
    }

    /// Writes the end of the colour of costs.
    pub fn end_costs(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.is_on { out.write_all(RESET.as_bytes()) } else { Ok(()) }
    }

    fn heat(&self, cost: Option<Cost>) -> &'static str {
        let Some(cost) = cost else { return DIM };
        // The share of the hottest line in percent.
        let share = match self.hottest.unsigned_abs() {
            0 => 0,
            hottest => cost.unsigned_abs().saturating_mul(100) / hottest,
        };
        match share {
            0 => "",
            1..=9 => "\x1b[33m",
            10..=29 => "\x1b[1;33m",
            30..=59 => "\x1b[1;31m",
            _ => "\x1b[1;37;41m",
        }
    }

    /// Writes a source line in colours, with its end. Control characters become escapes.
    pub fn write_line(&mut self, line: &[u8], out: &mut dyn Write) -> io::Result<()> {
        let line = without_end(line);
        self.highlighter.line(line, &mut self.spans);
        let mut at = 0;
        for span in &self.spans {
            out.write_all(&printable_line(&line[at..span.start]))?;
            out.write_all(color(span.class).as_bytes())?;
            out.write_all(&printable_line(&line[span.start..span.end]))?;
            out.write_all(RESET.as_bytes())?;
            at = span.end;
        }
        out.write_all(&printable_line(&line[at..]))?;
        out.write_all(b"\n")
    }
}

fn color(class: Class) -> &'static str {
    match class {
        Class::Comment => "\x1b[90m",
        Class::Literal => "\x1b[32m",
        Class::Number => "\x1b[35m",
        Class::Keyword => "\x1b[94m",
        Class::Type => "\x1b[36m",
        Class::Call => "\x1b[1m",
        Class::Directive => "\x1b[95m",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn painted(painter: &mut SourcePainter, line: &[u8]) -> String {
        let mut out = Vec::new();
        painter.write_line(line, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn lines_have_colours_and_no_other_controls() {
        let mut painter = SourcePainter::new(true, b"a.c", 100);
        assert_eq!(painted(&mut painter, b"\tint x;\r\n"), "\t\x1b[36mint\x1b[0m x;\n");
        painter.pass(b"/* a comment\n");
        assert_eq!(painted(&mut painter, b"goes on */\x1bM"), "\x1b[90mgoes on */\x1b[0m\\x1bM\n");
    }

    #[test]
    fn costs_have_heat() {
        let painter = SourcePainter::new(true, b"a.c", 200);
        let heat = |cost| {
            let mut out = Vec::new();
            painter.begin_costs(cost, &mut out).unwrap();
            painter.end_costs(&mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(heat(None), "\x1b[2m\x1b[0m");
        assert_eq!(heat(Some(1)), "\x1b[0m");
        assert_eq!(heat(Some(-20)), "\x1b[1;33m\x1b[0m");
        assert_eq!(heat(Some(200)), "\x1b[1;37;41m\x1b[0m");
    }

    #[test]
    fn without_colours_nothing_is_written() {
        let mut painter = SourcePainter::new(false, b"a.c", 200);
        let mut out = Vec::new();
        painter.pass(b"/*");
        painter.begin_costs(Some(5), &mut out).unwrap();
        painter.end_costs(&mut out).unwrap();
        assert_eq!((painter.is_on(), out.as_slice()), (false, &b""[..]));
    }
}
