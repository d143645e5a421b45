//! The printer of the report.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::{self, Write};

use gristmill_format::Cost;
use gristmill_output::source::{SourcePainter, Sources};
use gristmill_output::{Look, printable, printable_bytes, printable_line};

use super::columns::{Columns, Row};
use super::groups::{Group, RowName};
use super::source::{LineCosts, Original, Piece, each_piece};
use super::{Recording, Report, add};
use crate::marks::{TITLE_LINE, WARNING_LINE, write_gap, write_warning};

/// The shares of all costs that annotated source files show, or do not show.
struct Coverage {
    lines: Vec<Cost>,
    unknown_lines: Vec<Cost>,
    different: Vec<Cost>,
    unreadable: Vec<Cost>,
}

impl Report<'_> {
    /// Writes the report as text.
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn print(&self, out: &mut dyn Write, sources: &dyn Sources, look: Look) -> io::Result<()> {
        let names: Vec<String> =
            self.events.iter().map(|event| shown_name(event, look).into_owned()).collect();
        let printer = Printer { report: self, names: &names, sources, look };
        printer.metadata(out)?;
        printer.summary(out)?;
        printer.groups(out, "File:function summary", "file:function", '<', &self.by_file)?;
        printer.groups(out, "Function:file summary", "function:file", '>', &self.by_function)?;
        if self.options.annotate {
            let coverage = printer.source_finder(out)?;
            printer.coverage(out, &coverage)?;
        }
        Ok(())
    }
}

/// The name of an event type as it is shown.
fn shown_name(name: &[u8], look: Look) -> Cow<'_, str> {
    if look.is_terminal { printable(name) } else { String::from_utf8_lossy(name) }
}

struct Printer<'p> {
    report: &'p Report<'p>,
    names: &'p [String],
    sources: &'p dyn Sources,
    look: Look,
}

impl Printer<'_> {
    /// Text of a file, made safe for a terminal.
    fn text<'t>(&self, text: &'t [u8]) -> Cow<'t, [u8]> {
        if self.look.is_terminal { printable_bytes(text) } else { Cow::Borrowed(text) }
    }

    /// A line of a source file, made safe for a terminal.
    fn source_text<'t>(&self, line: &'t [u8]) -> Cow<'t, [u8]> {
        if self.look.is_terminal { printable_line(line) } else { Cow::Borrowed(line) }
    }

    fn line(&self, out: &mut dyn Write, pieces: &[&[u8]]) -> io::Result<()> {
        pieces.iter().try_for_each(|piece| out.write_all(piece))?;
        out.write_all(b"\n")
    }

    fn title(&self, out: &mut dyn Write, title: &str, of: &[u8]) -> io::Result<()> {
        writeln!(out, "{TITLE_LINE}")?;
        self.line(out, &[b"-- ", title.as_bytes(), &self.text(of)])?;
        writeln!(out, "{TITLE_LINE}")
    }

    fn columns(&self) -> Columns<'_> {
        let shown = self.report.options.shown.iter();
        let shown = shown.map(|&index| (self.names.get(index).map_or("", String::as_str), index));
        Columns::new(shown, &self.report.total, self.report.options.show_percs)
    }

    fn metadata(&self, out: &mut dyn Write) -> io::Result<()> {
        let options = self.report.options;
        let recordings = &options.recordings;
        self.title(out, "Metadata", b"")?;
        let entry = |out: &mut dyn Write, label: &str, value: &[u8]| {
            self.line(out, &[format!("{label:<18}").as_bytes(), &self.text(value)])
        };
        entry(out, "Invocation:", &options.invocation)?;
        let is_same = recordings.windows(2).all(|two| two[0].descriptions == two[1].descriptions);
        for (number, recording) in (1..).zip(recordings) {
            if is_same && number > 1 {
                break;
            }
            if !is_same {
                writeln!(out, "Description {number}:")?;
            }
            for description in &recording.descriptions {
                self.line(out, &[&self.text(description)])?;
            }
        }
        for (nth, recording) in recordings.iter().enumerate() {
            if let [_] = recordings[..] {
                entry(out, "Command:", &recording.command)?;
                break;
            }
            let label = format!("Command {}:", nth + 1);
            match recordings[..nth].iter().position(|other| other.command == recording.command) {
                Some(same) => entry(out, &label, format!("(same as Command {})", same + 1).as_bytes())?,
                None => entry(out, &label, &recording.command)?,
            }
        }
        let names = |buffer: &mut dyn Iterator<Item = usize>| {
            let names: Vec<&str> = buffer.filter_map(|index| Some(self.names.get(index)?.as_str())).collect();
            names.join(" ")
        };
        entry(out, "Events recorded:", names(&mut (0..options.recorded)).as_bytes())?;
        entry(out, "Events shown:", names(&mut options.shown.iter().copied()).as_bytes())?;
        entry(out, "Event sort order:", names(&mut options.sort.iter().copied()).as_bytes())?;
        entry(out, "Threshold:", format!("{}%", as_python(options.threshold)).as_bytes())?;
        entry(out, "Annotation:", if options.annotate { b"on" } else { b"off" })?;
        writeln!(out)
    }

    fn summary(&self, out: &mut dyn Write) -> io::Result<()> {
        self.title(out, "Summary", b"")?;
        let row = Row::Plain(&self.report.total);
        let mut columns = self.columns();
        columns.fit(row);
        columns.settle();
        writeln!(out, "{}\n\n{} PROGRAM TOTALS\n", columns.header(), columns.row(row))
    }

    fn groups(
        &self,
        out: &mut dyn Write,
        title: &str,
        heading: &str,
        mark: char,
        groups: &[Group],
    ) -> io::Result<()> {
        self.title(out, title, b"")?;
        let mut columns = self.columns();
        for group in groups {
            columns.fit(Row::Cumulative(&group.costs, &group.cumulative));
            if group.sole_member().is_none() {
                group.members.iter().for_each(|member| columns.fit(Row::Plain(&member.costs)));
            }
        }
        columns.settle();
        writeln!(out, "  {} {heading}\n", columns.header())?;
        let text = |name: RowName| self.text(name.text(&self.report.names));
        for group in groups {
            let row = columns.row(Row::Cumulative(&group.costs, &group.cumulative));
            write!(out, "{mark} {row} ")?;
            if let Some(member) = group.sole_member() {
                self.line(out, &[&text(group.name), b":", &text(member.name)])?;
            } else {
                self.line(out, &[&text(group.name), b":"])?;
                for member in &group.members {
                    write!(out, "  {}   ", columns.row(Row::Plain(&member.costs)))?;
                    self.line(out, &[&text(member.name)])?;
                }
            }
            writeln!(out)?;
        }
        Ok(())
    }

    /// Writes all annotated files.
    fn source_finder(&self, out: &mut dyn Write) -> io::Result<Coverage> {
        let report = self.report;
        let nothing = vec![0; report.total.len()];
        let mut coverage = Coverage {
            lines: nothing.clone(),
            unknown_lines: nothing.clone(),
            different: nothing.clone(),
            unreadable: nothing,
        };
        let mut hottest = 0;
        if self.look.has_color {
            report.lines.each(|sum| hottest = self.leading(sum.costs).saturating_abs().max(hottest));
        }
        let width = report.events.len();
        let mut current = Vec::new();
        let mut current_name: *const [u8] = &[];
        let mut costs = LineCosts::new(width);
        let mut result = Ok(());
        report.lines.each(|sum| {
            // A path may be long. The lines of one file have it in the same memory.
            if !std::ptr::eq(sum.file, current_name) && sum.file != current {
                if !costs.is_empty() && result.is_ok() {
                    result = self.source_file(out, &current, &mut costs, &mut coverage, hottest);
                }
                current = sum.file.to_vec();
                costs = LineCosts::new(width);
            }
            current_name = sum.file;
            costs.push(sum.line, sum.costs);
        });
        result?;
        if !costs.is_empty() {
            self.source_file(out, &current, &mut costs, &mut coverage, hottest)?;
        }
        Ok(coverage)
    }

    /// The cost that the heat of a line shows.
    fn leading(&self, costs: &[Cost]) -> Cost {
        let first = self.report.options.shown.first();
        first.and_then(|&index| costs.get(index)).copied().unwrap_or_default()
    }

    fn source_file(
        &self,
        out: &mut dyn Write,
        name: &[u8],
        costs: &mut LineCosts,
        coverage: &mut Coverage,
        hottest: Cost,
    ) -> io::Result<()> {
        costs.sort();
        let none = BTreeSet::new();
        let originals = self.report.annotated.get(name).unwrap_or(&none);
        self.title(out, "Annotated source file: ", name)?;
        let (reason, missed) = match Original::find(originals, self.sources) {
            Original::Found(found) => {
                let is_older = |recording: &&Recording| found.iter().all(|it| recording.is_older_than(it));
                for recording in self.report.options.recordings.iter().filter(is_older) {
                    self.newer(out, originals, &recording.name)?;
                }
                let painter = SourcePainter::new(self.look.has_color, name, hottest);
                return self.lines(out, originals, &found[0].text, costs, coverage, painter);
            }
            Original::Unreadable => {
                ("one or more of these original files are unreadable", &mut coverage.unreadable)
            }
            Original::Different => {
                ("two or more of these original files are not identical", &mut coverage.different)
            }
        };
        costs.each_beyond(None, |_, row| add(missed, row));
        writeln!(out, "Unannotated because {reason}:")?;
        for original in originals {
            self.line(out, &[b"- ", &self.text(original)])?;
        }
        writeln!(out)
    }

    fn newer(&self, out: &mut dyn Write, originals: &BTreeSet<Vec<u8>>, recording: &str) -> io::Result<()> {
        write_warning(out)?;
        if let Some(original) = originals.first().filter(|_| originals.len() == 1) {
            let end = format!("' is newer than data file '{recording}'.");
            self.line(out, &[b"@ Source file '", &self.text(original), end.as_bytes()])?;
        } else {
            writeln!(out, "@ Original source files are all newer than data file '{recording}':")?;
            for original in originals {
                self.line(out, &[b"@ - ", &self.text(original)])?;
            }
        }
        writeln!(out, "@ Annotations may not be correct.\n{WARNING_LINE}\n")
    }

    fn lines(
        &self,
        out: &mut dyn Write,
        originals: &BTreeSet<Vec<u8>>,
        text: &[u8],
        costs: &LineCosts,
        coverage: &mut Coverage,
        mut painter: SourcePainter,
    ) -> io::Result<()> {
        let context = self.report.options.context;
        let mut columns = self.columns();
        costs.each_beyond(None, |line, row| {
            columns.fit(Row::Plain(row));
            add(if line == 0 { &mut coverage.unknown_lines } else { &mut coverage.lines }, row);
        });
        // Lines without costs are not wider.
        columns.settle();
        writeln!(out, "{}\n", columns.header())?;
        let mut buffer = Vec::new();
        if let Some(row) = costs.of(0, &mut buffer) {
            writeln!(out, "{} <unknown (line 0)>\n", columns.row(Row::Plain(row)))?;
        }
        let mut write = |piece: Piece<'_>| match piece {
            Piece::Gap(line) => write_gap(line, out),
            Piece::Passed(text) => {
                painter.pass(text);
                Ok(())
            }
            Piece::Line(number, text) => {
                let costs = costs.of(number, &mut buffer);
                let row = columns.row(costs.map_or(Row::Dots, Row::Plain));
                painter.begin_costs(costs.map(|costs| self.leading(costs)), out)?;
                out.write_all(row.as_bytes())?;
                painter.end_costs(out)?;
                out.write_all(b" ")?;
                match painter.is_on() {
                    true => painter.write_line(text, out),
                    false => self.line(out, &[&self.source_text(text)]),
                }
            }
        };
        let mut result = Ok(());
        let count = each_piece(text, costs.lines(), context, |piece| {
            if result.is_ok() {
                result = write(piece);
            }
        });
        result?;
        writeln!(out)?;
        let mut result = Ok(());
        let mut is_beyond = false;
        costs.each_beyond(Some(count), |line, row| {
            is_beyond = true;
            if result.is_ok() {
                result = writeln!(out, "{} <bogus line {line}>", columns.row(Row::Plain(row)));
            }
        });
        result?;
        if is_beyond {
            writeln!(out)?;
            write_warning(out)?;
            for original in originals {
                let start = b"@@ Information recorded about lines past the end of '";
                self.line(out, &[start, &self.text(original), b"'."])?;
            }
            writeln!(out, "{WARNING_LINE}\n")?;
        }
        Ok(())
    }

    fn coverage(&self, out: &mut dyn Write, coverage: &Coverage) -> io::Result<()> {
        let annotated = "  annotated: files known & above threshold & readable, line numbers";
        let rows = [
            (&coverage.lines, format!("{annotated} known")),
            (&coverage.unknown_lines, format!("{annotated} unknown")),
            (
                &coverage.different,
                "unannotated: files known & above threshold & two or more non-identical".to_owned(),
            ),
            (&coverage.unreadable, "unannotated: files known & above threshold & unreadable ".to_owned()),
            (&self.report.below_threshold, "unannotated: files known & below threshold".to_owned()),
            (&self.report.unknown, "unannotated: files unknown".to_owned()),
        ];
        self.title(out, "Annotation summary", b"")?;
        let mut columns = self.columns();
        rows.iter().for_each(|(row, _)| columns.fit(Row::Plain(row)));
        columns.settle();
        writeln!(out, "{}\n", columns.header())?;
        for (row, label) in &rows {
            writeln!(out, "{} {label}", columns.row(Row::Plain(row)))?;
        }
        writeln!(out)
    }
}

/// A number as Python writes it: always with a point.
fn as_python(number: f64) -> String {
    let text = number.to_string();
    if text.contains(['.', 'e', 'N', 'i']) { text } else { format!("{text}.0") }
}
