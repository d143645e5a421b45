//! Colours for annotated source on a terminal: what each piece of a line is, and how hot the line is beside the hottest.
//!
//! A layout that must be another tool's to the byte stays so: without colours nothing here writes anything.

use std::io::{self, Write};

use gristmill_format::Cost;

use super::highlight::{Class, Highlighter, Span};
use super::without_end;
use crate::printable_line;

/// The sixteen colours that every terminal has and its user has chosen.
const RESET: &str = "\x1b[0m";
const DIM: &str = "\x1b[2m";

/// Paints the lines of one source file, from its first one.
#[derive(Debug)]
pub struct SourcePainter {
    is_on: bool,
    hottest: Cost,
    highlighter: Highlighter,
    spans: Vec<Span>,
}

impl SourcePainter {
    /// For the file at this path; `hottest` is what the dearest line of all files costs.
    pub fn new(is_on: bool, path: &[u8], hottest: Cost) -> Self {
        let highlighter = Highlighter::of(if is_on { path } else { b"" });
        SourcePainter { is_on, hottest, highlighter, spans: Vec::new() }
    }

    /// Whether there are any colours.
    pub fn is_on(&self) -> bool {
        self.is_on
    }

    /// Takes note of a line that is not shown: a comment may begin there.
    pub fn pass(&mut self, line: &[u8]) {
        if self.is_on {
            self.highlighter.line(without_end(line), &mut self.spans);
        }
    }

    /// What goes before the costs of a line; [`SourcePainter::end_costs`] follows them.
    pub fn begin_costs(&self, cost: Option<Cost>, out: &mut dyn Write) -> io::Result<()> {
        if self.is_on { out.write_all(self.heat(cost).as_bytes()) } else { Ok(()) }
    }

    /// What goes after the costs of a line.
    pub fn end_costs(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.is_on { out.write_all(RESET.as_bytes()) } else { Ok(()) }
    }

    fn heat(&self, cost: Option<Cost>) -> &'static str {
        let Some(cost) = cost else { return DIM };
        // In percent of the hottest.
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

    /// A line of the source in colours, with its end. What would move the cursor is made harmless.
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
