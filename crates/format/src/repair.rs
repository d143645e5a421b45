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

use std::collections::{HashMap, HashSet};
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
use crate::shown::shown;
use crate::style::{NameStyle, PositionStyle};
use crate::survey::Survey;
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
/// A file with nothing to repair is written byte for byte, unless the options ask for another spelling. Its jumps may have
/// the form that Callgrind writes and KCachegrind reads, which is not that of the published grammar.
///
/// A [`ReadingMode::Strict`] reader reads any other output without an error. It has the same self costs and calls, except
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
    let given = Cuts::find(input)?;
    let is_sound = || {
        let dry_run = repair_all(input, options, &Cuts::default(), io::sink())?;
        Ok(dry_run.changes.iter().all(|change| change.kind.is_of_sound_jumps()))
    };
    if given.are_none() && options.keeps_spelling() && is_sound()? {
        return unchanged(input, sink);
    }
    let was_cut = !given.are_none();
    let cuts = Cuts::that_can_be_ended(input, given)?;
    // An output without the end of a cut may be the input.
    if was_cut && cuts.are_none() && options.keeps_spelling() && is_sound()? {
        return unchanged(input, sink);
    }
    repair_all(input, options, &cuts, sink)
}

/// Writes the input as it is.
fn unchanged<W: io::Write>(input: &[u8], mut sink: W) -> Result<Repaired<W>, Error> {
    sink.write_all(input).map_err(|source| Error::io(source, Location { byte: 0, line: 1 }))?;
    Ok(Repaired { sink, changes: Vec::new() })
}

/// Repairs a profile whose parts were cut off as stated.
fn repair_all<W: io::Write>(
    input: &[u8],
    options: &Rewrite,
    cuts: &Cuts,
    sink: W,
) -> Result<Repaired<W>, Error> {
    let terminator = LineTerminator::detect(input);
    let plan = Plan::new(input, terminator)?;
    let mut run = Run::new(input, terminator, &plan, options, sink);
    run.cuts = cuts.by_group(&plan);
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
    /// Long names of the input that are written as they are, by address and length.
    sound_names: HashSet<(usize, usize)>,
    call: PendingCall,
    jump: PendingJump,
    /// The last body line of the output is a jump.
    after_jump: bool,
    /// The part that the reader is in, and whether it has had a body or its totals.
    part: u32,
    is_settled: bool,
    group: Progress,
    /// The cuts of parts of the output.
    cuts: HashMap<usize, &'p Cut>,
}

/// The cuts of a file.
#[derive(Debug, Default)]
struct Cuts {
    /// That of the last part: the file ends too early.
    last: Option<Cut>,
    /// Those of other parts, which were not written to their ends.
    earlier: Vec<Cut>,
}

/// The cut of a part.
#[derive(Debug)]
struct Cut {
    /// The part of the input that was cut.
    part: u32,
    /// The sums of the costs that are left, by event type.
    sums: Vec<Cost>,
    /// The loss as a comment.
    note: String,
}

impl Cuts {
    fn are_none(&self) -> bool {
        self.last.is_none() && self.earlier.is_empty()
    }

    /// Returns the cuts by parts of the output. Of several in one, the last one counts.
    fn by_group(&self, plan: &Plan<'_>) -> HashMap<usize, &Cut> {
        let earlier = self.earlier.iter().map(|cut| (plan.group_of(cut.part), cut));
        let last = plan.groups.iter().rposition(Group::exists).zip(self.last.as_ref());
        earlier.chain(last).collect()
    }

    /// Returns the cuts that the repair can end, given those of the input.
    ///
    /// The output has fewer signs of a whole part than the input when a line that was taken for one cannot be kept. And
    /// a part stays cut when the grammar cannot hold its totals: a note about the loss would be added by each repair.
    fn that_can_be_ended(input: &[u8], given: Cuts) -> Result<Cuts, Error> {
        let left_by = |cuts: &Cuts| {
            let output = repair_all(input, &Rewrite::default(), cuts, BoundedOutput::of(input))?.sink;
            if output.is_over { Ok(None) } else { Cuts::find(&output.bytes).map(Some) }
        };
        let Some(left) = left_by(&given)? else { return Ok(given) };
        if left.are_none() {
            return Ok(given);
        }
        if !given.earlier.is_empty() {
            return Cuts::that_can_be_ended(input, Cuts { last: given.last, earlier: Vec::new() });
        }
        if given.last.is_some() && left.last.is_some() {
            return Ok(Cuts::default());
        }
        // The output says of parts that they are cut of which the input does not: their event types come from others.
        let mut all = left.of_output(input)?;
        all.last = all.last.or(given.last);
        if left_by(&all)?.is_none_or(|left| left.are_none()) {
            return Ok(all);
        }
        let last = Cuts { last: all.last, earlier: Vec::new() };
        let is_ended = left_by(&last)?.is_none_or(|left| left.last.is_none());
        Ok(if is_ended { last } else { Cuts::default() })
    }

    /// Returns the cuts of an output as those of the parts of the input that it was made from.
    fn of_output(self, input: &[u8]) -> Result<Self, Error> {
        let plan = Plan::new(input, LineTerminator::detect(input))?;
        let groups: Vec<usize> =
            (0..plan.groups.len()).filter(|&index| plan.groups[index].exists()).collect();
        let of_input = |cut: Cut| {
            Some(Cut { part: plan.part_of(*groups.get(usize::try_from(cut.part).ok()?)?)?, ..cut })
        };
        let part = Survey::new(input).parts.len().saturating_sub(1);
        let last = self.last.map(|last| Cut { part: u32::try_from(part).unwrap_or(u32::MAX), ..last });
        Ok(Cuts { last, earlier: self.earlier.into_iter().filter_map(of_input).collect() })
    }

    /// Returns the cuts of a text.
    fn find(input: &[u8]) -> Result<Cuts, Error> {
        let survey = Survey::new(input);
        let last = survey.parts.len().saturating_sub(1);
        let mut cuts = Cuts { last: Cut::of_part(&survey, last, input), earlier: Vec::new() };
        // Of a body without any cost the repair keeps the names, as comments if need be.
        if cuts.last.is_some() && survey.counts.cost_lines == 0 {
            if survey.counts.functions > 0 {
                return Ok(Cuts::default());
            }
            let last = Location { byte: input.len() as u64, line: survey.counts.lines.max(1) };
            return Err(Error::new(ErrorKind::NothingLeft, last));
        }
        let earlier = (0..last).filter_map(|index| Cut::of_part(&survey, index, input));
        cuts.earlier = earlier.filter(|cut| !cut.sums.is_empty()).collect();
        Ok(cuts)
    }
}

impl Cut {
    /// Returns the cut of a part, if it has one.
    fn of_part(survey: &Survey<'_>, index: usize, input: &[u8]) -> Option<Cut> {
        let end = survey.part_end(index, input)?;
        let sign = end.cut_sign()?;
        let event = |column| {
            let part = survey.parts.get(index)?;
            Some(shown(part.header.event_types().nth(column)?.name))
        };
        let loss = end.shortfall().and_then(|short| {
            let event = event(short.column)?;
            Some(format!("it stated {} {event}, its lines have {}", short.claimed, short.computed))
        });
        let loss = loss.unwrap_or_else(|| sign.sentence(end.producer, end.creator));
        Some(Cut {
            part: u32::try_from(index).unwrap_or(u32::MAX),
            sums: end.sums.to_vec(),
            note: format!(" cut off here: {loss}"),
        })
    }
}

/// The output of a repair, kept as far as it is in proportion to the input. A few bytes can stand for a long name in each line;
/// such an output is not judged.
struct BoundedOutput {
    bytes: Vec<u8>,
    limit: usize,
    is_over: bool,
}

impl BoundedOutput {
    /// Bytes for each byte of the input, and however short that is.
    const BYTES_PER_BYTE: usize = 3;
    const CONSTANT: usize = 1 << 20;

    fn of(input: &[u8]) -> Self {
        let limit = input.len().saturating_mul(Self::BYTES_PER_BYTE).saturating_add(Self::CONSTANT);
        BoundedOutput { bytes: Vec::new(), limit, is_over: false }
    }
}

impl io::Write for BoundedOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.is_over |= self.bytes.len() + bytes.len() > self.limit;
        if self.is_over {
            self.bytes = Vec::new();
        } else {
            self.bytes.extend_from_slice(bytes);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
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
        writer.recognise(input);
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
            sound_names: HashSet::new(),
            call: PendingCall::None,
            jump: PendingJump::None,
            after_jump: false,
            part: 0,
            is_settled: false,
            group: Progress::default(),
            cuts: HashMap::new(),
        }
    }

    /// Returns the cut of the current part of the output.
    fn cut(&self) -> Option<&'p Cut> {
        self.cuts.get(&self.group.index).copied()
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
