//! Whatever can be read, written as the published grammar has it.
//!
//! Two passes over the input: [`plan`] collects the header of each part, since header lines may follow the body; the second
//! pass writes. Lines that the grammar does not have become comments, and every kind of change
//! is counted.

mod body;
mod change;
mod columns;
mod event_names;
mod header;
mod names;
mod plan;
#[cfg(test)]
mod tests;

use std::io;

use crate::cost::Cost;
use crate::error::{Error, ErrorKind};
use crate::line_end::{LineEnd, LineTerminator};
use crate::location::Location;
use crate::name::{Name, NameSpace};
use crate::position::Columns;
use crate::reader::{Reader, ReadingMode};
use crate::record::{Line, Record, Spelling};
use crate::rewrite::Rewrite;
use crate::scan::{trim_returns, trim_start};
use crate::style::{NameStyle, PositionStyle};
use crate::writer::Writer;
use body::{PendingCall, PendingJump};
use change::Changes;
pub use change::{Change, ChangeKind};
use columns::Layout;
use names::Held;
use plan::{Group, Plan};

/// The result of [`repair`].
#[derive(Debug)]
pub struct Repaired<W> {
    /// The sink that was written to.
    pub sink: W,
    /// The changes, in the order of the file. Empty for a valid file.
    pub changes: Vec<Change>,
}

/// Reads a profile as tolerantly as possible and writes it as the published grammar has it.
///
/// A [`ReadingMode::Strict`] reader reads the output without an error. It has the same self costs and calls, except
/// costs that the grammar cannot hold, such as those below 0. Names given as they are means with numbers when the
/// first name of the input has one; positions given as they are means relative where Callgrind would. Unlike
/// [`Rewrite::run`], no memory of name numbers is written or heeded.
///
/// ```
/// use gristmill_format::{Rewrite, repair};
///
/// let file = b"events: Ir\r\nfn=main\r\n1 2.5 7\r\nfrob=3";
/// let repaired = repair(file, &Rewrite::default(), Vec::new())?;
/// assert_eq!(
///     String::from_utf8_lossy(&repaired.sink),
///     "# callgrind format\nversion: 1\nevents: Ir\nfn=main\n1 2\n# frob=3\n"
/// );
/// let changes: Vec<String> = repaired.changes.iter().map(|change| change.to_string()).collect();
/// assert!(changes.contains(&"fractions were removed (1, first in line 3)".to_owned()));
/// # Ok::<(), gristmill_format::Error>(())
/// ```
///
/// # Errors
///
/// When the input is no profile, when it has no `events:` line, or when the sink fails.
pub fn repair<W: io::Write>(input: &[u8], options: &Rewrite, sink: W) -> Result<Repaired<W>, Error> {
    let terminator = LineTerminator::detect(input);
    let plan = Plan::new(input, terminator)?;
    let mut run = Run::new(input, terminator, &plan, options, sink);
    run.begin()?;
    let mut reader = Reader::new(input);
    while let Some(item) = reader.next() {
        match item {
            Ok(record) => run.record(&reader, &record)?,
            Err(error) => run.error(&error)?,
        }
    }
    run.finish()
}

/// The second pass.
struct Run<'p, 'a, W> {
    input: &'a [u8],
    plan: &'p Plan<'a>,
    options: &'p Rewrite,
    writer: Writer<W>,
    changes: Changes,
    terminator: LineTerminator,
    last: Location,
    has_marker: bool,
    /// The output has named an object, or a file.
    has_object: bool,
    has_file: bool,
    /// The file of the last `fl=` of the input.
    last_fl: Option<Name<'a>>,
    layout: Layout,
    costs: Vec<Cost>,
    held: Vec<Held<'a>>,
    call: PendingCall,
    jump: PendingJump,
    /// The last body line of the output is a jump.
    after_jump: bool,
    /// The part that the reader is in, and whether it has had a body or its totals.
    part: u32,
    is_settled: bool,
    group: Progress,
}

/// The progress of the current part of the output.
#[derive(Debug, Default)]
struct Progress {
    index: usize,
    is_open: bool,
    has_events: bool,
    /// The input is in the body of this part.
    in_body: bool,
    /// The output is.
    has_body: bool,
    has_function: bool,
    has_totals: bool,
    /// The number of its event types.
    types: usize,
    /// Self costs by event type, up to the last type that had one.
    sums: Vec<Cost>,
    /// There is a `totals:` line to be compared with the sums.
    needs_sums: bool,
}

impl Progress {
    /// Takes note of self costs.
    fn add(&mut self, costs: &[Cost]) {
        if !self.needs_sums {
            return;
        }
        if self.sums.len() < costs.len() {
            self.sums.resize(costs.len(), 0);
        }
        for (sum, cost) in self.sums.iter_mut().zip(costs) {
            *sum += cost;
        }
    }
}

impl<'p, 'a, W: io::Write> Run<'p, 'a, W> {
    fn new(
        input: &'a [u8],
        terminator: LineTerminator,
        plan: &'p Plan<'a>,
        options: &'p Rewrite,
        sink: W,
    ) -> Self {
        let names = match options.names {
            NameStyle::AsGiven if plan.is_numbered => NameStyle::Compressed,
            NameStyle::AsGiven => NameStyle::Plain,
            style => style,
        };
        let positions = match options.positions {
            PositionStyle::AsGiven => PositionStyle::Compressed,
            style => style,
        };
        let mut writer = Writer::new(sink).names(names).positions(positions);
        for space in NameSpace::ALL {
            writer.reserve_ids(space, plan.highest[space]);
            writer.reserve_names(space, plan.names(space));
        }
        Run {
            input,
            plan,
            options,
            writer,
            changes: Changes::default(),
            terminator,
            last: Location { byte: 0, line: 1 },
            has_marker: false,
            has_object: false,
            has_file: false,
            last_fl: None,
            layout: Layout::new(Columns::LINE, options.drop_instr),
            costs: Vec::new(),
            held: Vec::new(),
            call: PendingCall::None,
            jump: PendingJump::None,
            after_jump: false,
            part: 0,
            is_settled: false,
            group: Progress::default(),
        }
    }

    fn plan(&self) -> &'p Group<'a> {
        let plan = self.plan;
        &plan.groups[self.group.index]
    }

    fn begin(&mut self) -> Result<(), Error> {
        let top = Location { byte: 0, line: 1 };
        if self.input.starts_with(b"\xef\xbb\xbf") {
            self.changes.note(ChangeKind::ByteOrderMark, top);
        }
        if let Some(location) = self.plan.bad_top {
            self.changes.note(ChangeKind::FirstLines, location);
        }
        self.open()
    }

    fn record(&mut self, reader: &Reader<'a>, record: &Record<'a>) -> Result<(), Error> {
        self.last = record.location;
        if matches!(record.spelling.line_end(), LineEnd::CrLf | LineEnd::Cr) {
            self.changes.note(ChangeKind::LineEnd, record.location);
        }
        if matches!(record.line, Line::NewProfile(_)) {
            self.changes.note(ChangeKind::Separator, record.location);
            // Nothing that was said before holds after it.
            self.last_fl = None;
            self.callee_without_call()?;
        }
        if record.part != self.part {
            self.part = record.part;
            self.is_settled = false;
            let group = self.plan.group_of(record.part);
            if group != self.group.index {
                self.close(false)?;
                self.group = Progress { index: group, ..Progress::default() };
            }
        }
        if *reader.columns() != self.layout.given() {
            self.layout = Layout::new(*reader.columns(), self.options.drop_instr);
        }
        match record.line {
            Line::Blank => {
                if record.spelling.text().is_some_and(|text| !text.is_empty()) {
                    self.changes.note(ChangeKind::Spelling, record.location);
                }
                if self.held.is_empty() {
                    return self.write(Line::Blank);
                }
                self.held.push(Held::Blank);
                Ok(())
            }
            Line::Comment(b" callgrind format")
                if !self.has_marker && self.group.index == 0 && !self.group.in_body =>
            {
                self.has_marker = true;
                Ok(())
            }
            Line::Comment(text) => self.comment(text, record.location),
            Line::NewProfile(_) => Ok(()),
            Line::Header(header) => self.header(record, header),
            _ => self.body(reader, record),
        }
    }

    fn error(&mut self, error: &Error) -> Result<(), Error> {
        if error.is_repaired() {
            // Reader errors of that kind are about lines that are computed again or become comments.
            let kind = ChangeKind::from_error(error.kind()).filter(|&kind| kind != ChangeKind::BadCost);
            if let Some(kind) = kind {
                self.changes.note(kind, error.location());
            }
            return Ok(());
        }
        if error.kind() == ErrorKind::CallWithoutCost {
            return self.call_without_cost(error.location());
        }
        let location = error.location();
        self.last = location;
        self.changes.note(ChangeKind::Unreadable, location);
        let text = usize::try_from(location.byte).ok().and_then(|start| self.input.get(start..));
        let text = text.unwrap_or_default();
        let end = memchr::memchr(self.terminator.byte(), text).unwrap_or(text.len());
        self.comment(&[b" ", &text[..end]].concat(), location)
    }

    fn finish(mut self) -> Result<Repaired<W>, Error> {
        self.close(true)?;
        if !self.input.ends_with(&[self.terminator.byte()]) {
            self.changes.note(ChangeKind::UnendedLine, self.last);
        }
        if self.changes.is_empty()
            && let Some(Err(error)) =
                Reader::with_mode(self.input, ReadingMode::Strict).find(|record| record.is_err())
        {
            // Blanks and number forms that only the strict reader minds.
            self.changes.note(ChangeKind::Spelling, error.location());
        }
        Ok(Repaired { sink: self.writer.finish()?, changes: self.changes.into_list() })
    }

    /// Writes what is no body line.
    fn write(&mut self, line: Line<'_>) -> Result<(), Error> {
        self.writer.write(&Record::new(line))
    }

    /// Writes a body line with the blanks of this line.
    fn write_body(&mut self, line: Line<'_>, like: Option<&'static [u8]>) -> Result<(), Error> {
        self.group.has_body = true;
        self.after_jump = matches!(line, Line::Jump(_));
        let spelling = match like {
            Some(text) => Spelling::from_text(text, LineEnd::Lf),
            None => Spelling::default(),
        };
        self.writer.write(&Record { spelling, ..Record::new(line) })
    }

    /// Writes a comment, given as the text after the `#`.
    fn comment(&mut self, text: &[u8], location: Location) -> Result<(), Error> {
        if text.starts_with(b" gristmill ") {
            // The memory of numbers is not true of the repaired names.
            self.changes.note(ChangeKind::NumberComment, location);
            return Ok(());
        }
        if self.options.drop_comments && text != b" callgrind format" {
            return Ok(());
        }
        let text = self.without_returns(text, location);
        if self.held.is_empty() {
            return self.write(Line::Comment(text));
        }
        self.held.push(Held::Comment(text.to_vec()));
        Ok(())
    }

    /// The line as it was read, for a comment.
    fn comment_out(&mut self, record: &Record<'a>) -> Result<(), Error> {
        let text = trim_start(record.text());
        self.comment(&[b" ", text].concat(), record.location)
    }

    /// Text without carriage returns at its end, which would become part of the line end.
    fn without_returns<'t>(&mut self, text: &'t [u8], location: Location) -> &'t [u8] {
        if text.ends_with(b"\r") {
            self.changes.note(ChangeKind::LineEnd, location);
        }
        trim_returns(text)
    }
}
