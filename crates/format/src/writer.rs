//! Records to bytes.

mod check;
mod divider;
mod names;

use std::io;

use crate::base_rule::BaseRule;
use crate::cost::{Cost, Costs};
use crate::error::{Error, ErrorKind, Foreign};
use crate::foreign::MARKER;
use crate::line_end::LineEnd;
use crate::location::Location;
use crate::name::{Name, NameKey, NameSpace};
use crate::part::{Part, PartHeader};
use crate::position::{Columns, MAX_COLUMNS, PositionKind, Positions};
use crate::record::{Calls, CostLine, CostRole, Header, Line, Record, Spelling, Words};
use crate::scan::{is_blank, trim_start};
use crate::shape::{NEW_PROFILE, lacks_position};
use crate::spell::{PositionState, spell};
use crate::style::{NameStyle, PositionStyle};
pub(crate) use check::refused;
use check::{Refusal, check_costs, check_header, in_range, key_value, one_line};
use divider::Divider;
use names::OutputNames;
pub use names::RecurringNames;

/// A writer of profiles, record by record, in bounded memory except for the table of names.
///
/// It knows the names that have numbers and the position that the next one may be relative to, so its caller need
/// not; and it refuses what would not read back as it was given.
///
/// ```
/// use gristmill_format::{NameStyle, PositionStyle, Writer};
///
/// let mut out = Vec::new();
/// let mut writer = Writer::new(&mut out).names(NameStyle::Compressed).positions(PositionStyle::Compressed);
/// writer.header("creator", b"example-1.0")?;
/// writer.events(&["Ir", "Dr"])?;
/// writer.file(b"a.c")?;
/// writer.function(b"main")?;
/// writer.cost(&[16], &[20, 3])?;
/// writer.call(b"f", 1, &[50], &[17], &[400, 90])?;
/// writer.function(b"f")?;
/// writer.cost(&[50], &[400, 90])?;
/// writer.finish()?;
/// assert_eq!(
///     String::from_utf8_lossy(&out),
///     "creator: example-1.0\nevents: Ir Dr\nfl=(1) a.c\nfn=(1) main\n16 20 3\ncfn=(2) f\ncalls=1 +34 \n+1 400 90\n\
///      fn=(2)\n50 400 90\n"
/// );
/// # Ok::<(), gristmill_format::Error>(())
/// ```
#[derive(Debug)]
pub struct Writer<W> {
    sink: W,
    names: OutputNames,
    written: Location,
    line: Vec<u8>,
    /// The divider of the lines of the whole file; `None` before the first line end.
    divider: Option<Divider>,
    /// The last line was written without its end.
    is_unended: bool,
    part: Part,
    positions: PositionState,
    base_rule: BaseRule,
    expected: CostRole,
    has_callee: bool,
    /// Lines of the whole file are indented, so that a reader does not take a blank before a cost line for a missing
    /// position.
    is_indented: bool,
    /// `true` if a reader would take the file for no profile, because no version of the format has its first word;
    /// `None` before the first line that decides.
    is_foreign: Option<bool>,
    /// It begins with a comment that any text could begin with.
    has_remark: bool,
}

impl<W: io::Write> Writer<W> {
    /// A writer that spells everything as it is given.
    pub fn new(sink: W) -> Self {
        Writer {
            sink,
            names: OutputNames::default(),
            written: Location { byte: 0, line: 1 },
            line: Vec::new(),
            divider: None,
            is_unended: false,
            part: Part::default(),
            positions: PositionState {
                style: PositionStyle::AsGiven,
                columns: Columns::LINE,
                has_base: false,
                base: [0; MAX_COLUMNS],
                last: [0; MAX_COLUMNS],
            },
            base_rule: BaseRule::default(),
            expected: CostRole::SelfCost,
            has_callee: false,
            is_indented: false,
            is_foreign: None,
            has_remark: false,
        }
    }

    /// Gives names without an id only ids above this one.
    pub(crate) fn reserve_ids(&mut self, space: NameSpace, highest: u64) {
        self.names.reserve_ids(space, highest);
    }

    /// Recognises names in this text by where they are: it stays as it is while the output is written.
    pub(crate) fn recognise(&mut self, input: &[u8]) {
        self.names.recognise(input);
    }

    /// Reserves memory for names with ids.
    pub(crate) fn reserve_names(&mut self, space: NameSpace, name_count: usize) {
        self.names.reserve_names(space, name_count);
    }

    /// Writes names in this style.
    #[must_use]
    pub fn names(mut self, style: NameStyle) -> Self {
        self.names.style = style;
        self
    }

    /// Writes positions in this style.
    #[must_use]
    pub fn positions(mut self, style: PositionStyle) -> Self {
        self.positions.style = style;
        self
    }

    /// `key: value`. The keys that the format gives a meaning have it here too.
    ///
    /// # Errors
    ///
    /// As [`write`](Writer::write).
    pub fn header(&mut self, key: &str, value: &[u8]) -> Result<(), Error> {
        let number = || std::str::from_utf8(value).ok().and_then(|digits| digits.parse().ok());
        let header = match key {
            "version" => Header::Version(value),
            "creator" => Header::Creator(value),
            "cmd" => Header::Command(value),
            "pid" | "part" | "thread" => {
                let Some(number) = number() else { return self.refuse(ErrorKind::BadHeader) };
                match key {
                    "pid" => Header::Pid(number),
                    "part" => Header::Part(number),
                    _ => Header::Thread(number),
                }
            }
            _ => Header::Other { key: key.as_bytes(), value },
        };
        self.line(Line::Header(header))
    }

    /// `positions:`
    ///
    /// # Errors
    ///
    /// As [`write`](Writer::write).
    pub fn position_columns(&mut self, kinds: &[PositionKind]) -> Result<(), Error> {
        let words: Vec<&[u8]> = kinds.iter().map(|kind| kind.as_str().as_bytes()).collect();
        self.line(Line::Header(Header::Positions(Words::new(&words))))
    }

    /// `events:`
    ///
    /// # Errors
    ///
    /// As [`write`](Writer::write).
    pub fn events(&mut self, names: &[&str]) -> Result<(), Error> {
        let words: Vec<&[u8]> = names.iter().map(|name| name.as_bytes()).collect();
        self.line(Line::Header(Header::Events(Words::new(&words))))
    }

    /// `ob=`
    ///
    /// # Errors
    ///
    /// As [`write`](Writer::write).
    pub fn object(&mut self, name: &[u8]) -> Result<(), Error> {
        self.line(Line::Name(NameKey::Ob, Name::plain(name)))
    }

    /// `fl=`
    ///
    /// # Errors
    ///
    /// As [`write`](Writer::write).
    pub fn file(&mut self, name: &[u8]) -> Result<(), Error> {
        self.line(Line::Name(NameKey::Fl, Name::plain(name)))
    }

    /// `fn=`
    ///
    /// # Errors
    ///
    /// As [`write`](Writer::write).
    pub fn function(&mut self, name: &[u8]) -> Result<(), Error> {
        self.line(Line::Name(NameKey::Fn, Name::plain(name)))
    }

    /// Self cost at a position.
    ///
    /// # Errors
    ///
    /// As [`write`](Writer::write).
    pub fn cost(&mut self, positions: &[u64], costs: &[Cost]) -> Result<(), Error> {
        self.cost_line(CostRole::SelfCost, positions, costs)
    }

    /// Calls to a function of the same file and object; for another, write `cob=` and `cfi=` lines before.
    ///
    /// # Errors
    ///
    /// As [`write`](Writer::write).
    pub fn call(
        &mut self,
        callee: &[u8],
        count: Cost,
        target: &[u64],
        positions: &[u64],
        inclusive: &[Cost],
    ) -> Result<(), Error> {
        self.line(Line::Name(NameKey::Cfn, Name::plain(callee)))?;
        self.line(Line::Calls(Calls { count, target: Positions::new(target) }))?;
        self.cost_line(CostRole::Call, positions, inclusive)
    }

    fn cost_line(&mut self, role: CostRole, positions: &[u64], costs: &[Cost]) -> Result<(), Error> {
        if positions.len() != self.positions.columns.len() {
            return self.refuse(ErrorKind::MissingPosition);
        }
        self.line(Line::Cost(CostLine {
            role,
            positions: Positions::new(positions),
            costs: Costs::new(costs),
        }))
    }

    fn line(&mut self, line: Line<'_>) -> Result<(), Error> {
        self.write(&Record::new(line))
    }

    /// Writes a record.
    ///
    /// # Errors
    ///
    /// When the record would not read back as it is (nothing is written then, and the writer can go on), or when the
    /// sink fails.
    pub fn write(&mut self, record: &Record<'_>) -> Result<(), Error> {
        let mut spelling = record.spelling;
        let mut line = record.line;
        if let Line::Name(key, name) = line {
            let chosen = self.names.choose(key, name, self.part.index);
            let chosen = chosen.map_err(|kind| Error::new(kind, self.written))?;
            if chosen.id.is_none() != name.id.is_none() || chosen.id != name.id {
                spelling = Spelling::with_line_end(spelling.line_end());
            }
            line = Line::Name(key, chosen);
        }
        self.write_chosen(line, spelling)
    }

    /// Writes a name line. A long name is looked up by its text only once, and a part after that refers to it, so that lines and
    /// parts that mention it take time and space in proportion to their count.
    ///
    /// # Errors
    ///
    /// As [`write`](Writer::write).
    pub fn recurring_name<'t>(
        &mut self,
        key: NameKey,
        name: Name<'t>,
        names: &mut RecurringNames<'t>,
    ) -> Result<(), Error> {
        let chosen = match self.names.recurring(key, &name, names) {
            Some(reference) => reference,
            None => {
                let chosen = self.names.choose(key, name, self.part.index);
                chosen.map_err(|kind| Error::new(kind, self.written))?
            }
        };
        self.write_chosen(Line::Name(key, chosen), Spelling::default())?;
        self.names.keep(key, &name, chosen, names);
        Ok(())
    }

    /// Writes a line, whose name is as the writer's style has it.
    fn write_chosen(&mut self, line: Line<'_>, spelling: Spelling<'_>) -> Result<(), Error> {
        if let Err(refusal) = self.check(&line) {
            return Err(refusal.into_error(self.written));
        }
        let (divider, line_end) = Divider::choose(self.divider, self.is_unended, spelling.line_end());
        if divider != Some(Divider::Feed) {
            self.line.clear();
            spell(&line, spelling.text(), &self.positions, &mut self.line);
            if memchr::memchr(b'\r', &self.line).is_some() {
                return self.refuse(ErrorKind::LineEndInText);
            }
        }
        self.take_note(&line);
        self.line.clear();
        if self.is_unended {
            self.line.push(if divider == Some(Divider::Return) { b'\r' } else { b'\n' });
        }
        let start = self.line.len();
        let positions = self.position_state(&line);
        spell(&line, spelling.text(), &positions, &mut self.line);
        self.settle(&line);
        // An empty line consists of its end.
        let is_empty = self.line.len() == start;
        if !is_empty && is_blank(self.line[start]) {
            self.keep_indentation(&line, start);
        }
        let wanted = if is_empty && line_end == LineEnd::Missing { LineEnd::Lf } else { line_end };
        let (divider, line_end) = Divider::choose(self.divider, self.is_unended, wanted);
        self.divider = divider;
        // With a line feed to follow, a carriage return is half of a line end.
        self.is_unended =
            line_end == LineEnd::Missing || line_end == LineEnd::Cr && divider == Some(Divider::Feed);
        self.line.extend_from_slice(line_end.bytes());
        self.sink.write_all(&self.line).map_err(|source| Error::io(source, self.written))?;
        self.written.byte += self.line.len() as u64;
        self.written.line += 1;
        Ok(())
    }

    /// Takes away the blanks before a cost line where a reader would take them for a missing position.
    fn keep_indentation(&mut self, line: &Line<'_>, start: usize) {
        match line {
            Line::Blank => {}
            Line::Cost(_) => {
                let text = &self.line[start..];
                let body = trim_start(text);
                if !self.is_indented && lacks_position(body, self.part.event_types) {
                    self.line.drain(start..start + text.len() - body.len());
                }
            }
            _ => self.is_indented = true,
        }
    }

    /// Ends the profile and gives the sink back.
    ///
    /// # Errors
    ///
    /// When a call still lacks its cost line, when nothing tells that this is a profile (it begins with a word that
    /// no version of the format has, or holds comments alone, and there is no `events:` line), or when the sink fails.
    pub fn finish(mut self) -> Result<W, Error> {
        if self.expected == CostRole::Call {
            self.refuse(ErrorKind::CallWithoutCost)?;
        }
        if self.is_foreign.unwrap_or(self.has_remark) {
            self.refuse(ErrorKind::NotAProfile(Foreign::Text))?;
        }
        self.sink.flush().map_err(|source| Error::io(source, self.written))?;
        Ok(self.sink)
    }

    /// `true` if the last line was written without its end, and gets one only if there is another line.
    pub(crate) fn is_unended(&self) -> bool {
        self.is_unended
    }

    fn refuse(&self, kind: ErrorKind) -> Result<(), Error> {
        Err(Error::new(kind, self.written))
    }

    /// Checks that the line would read back as it is.
    fn check(&self, line: &Line<'_>) -> Result<(), Refusal> {
        let follows_call = self.expected == CostRole::Call;
        if follows_call && !matches!(line, Line::Cost(_) | Line::Blank | Line::Comment(_)) {
            return Err(ErrorKind::CallWithoutCost.into());
        }
        match line {
            Line::Blank => Ok(()),
            Line::Comment(text) => Ok(one_line(text)?),
            Line::NewProfile(text) if text.starts_with(NEW_PROFILE) => Ok(one_line(text)?),
            Line::NewProfile(_) => Err(ErrorKind::UnreadableText.into()),
            Line::Header(header) => check_header(header),
            Line::Name(..) => Ok(()),
            Line::Calls(_) if !self.has_callee => Err(ErrorKind::CallWithoutCallee.into()),
            Line::Calls(calls) => Ok(in_range(calls.count)?),
            Line::Jump(jump) => {
                if jump.target.as_slice().is_empty() {
                    return Err(ErrorKind::MissingPosition.into());
                }
                in_range(jump.taken)?;
                Ok(in_range(jump.executed.unwrap_or(0))?)
            }
            Line::Cost(line) => self.check_cost_line(line),
            Line::Numbers(_, numbers) => check_costs(numbers, usize::MAX),
            Line::UnknownBody { key, value } => Ok(key_value(b'=', key, value)?),
        }
    }

    fn check_cost_line(&self, line: &CostLine<'_>) -> Result<(), Refusal> {
        if !self.part.has_events {
            return Err(ErrorKind::CostBeforeEvents.into());
        }
        let is_expected = line.role == self.expected
            || line.role == CostRole::SelfCost
                && self.expected == CostRole::JumpSource
                && !line.costs.is_empty();
        if !is_expected || line.role == CostRole::JumpSource && !line.costs.is_empty() {
            return Err(ErrorKind::Misplaced.into());
        }
        if line.positions.as_slice().len() != self.positions.columns.len() {
            return Err(ErrorKind::MissingPosition.into());
        }
        check_costs(&line.costs, self.part.event_types)
    }

    /// Updates the state before the line is spelled.
    fn take_note(&mut self, line: &Line<'_>) {
        match line {
            Line::Blank => {}
            Line::Header(Header::Events(_)) => self.is_foreign = Some(false),
            Line::Comment(text) if !text.starts_with(MARKER) => self.has_remark |= self.is_foreign.is_none(),
            Line::Header(Header::Other { .. }) => {
                self.is_foreign.get_or_insert(self.has_remark);
            }
            _ => {
                self.is_foreign.get_or_insert(matches!(line, Line::UnknownBody { .. }));
            }
        }
        match line {
            Line::NewProfile(_) => {
                self.part.begin();
                self.begin_part();
                self.names.forget_ids();
                self.base_rule = BaseRule::default();
                self.has_callee = false;
            }
            Line::Header(header) => self.take_note_of_header(header),
            Line::Name(key, name) => {
                self.part.body();
                self.names.define(*key, name, self.part.index);
                match key {
                    NameKey::Fn => {
                        self.part.has_function = true;
                        self.has_callee = false;
                        self.positions.last = [0; MAX_COLUMNS];
                    }
                    NameKey::Cfn => self.has_callee = true,
                    NameKey::Frfn => self.positions.last = [0; MAX_COLUMNS],
                    _ => {}
                }
            }
            Line::Calls(_) | Line::Jump(_) | Line::Cost(_) | Line::Numbers(..) | Line::UnknownBody { .. } => {
                self.part.body();
            }
            Line::Blank | Line::Comment(_) => {}
        }
        if !matches!(line, Line::Blank | Line::Comment(_) | Line::Cost(_)) {
            self.expected = CostRole::SelfCost;
        }
    }

    fn take_note_of_header(&mut self, header: &Header<'_>) {
        if let Header::Totals(_) = header {
            return self.part.totals();
        }
        let Some(part_header) = PartHeader::from_header(header) else { return };
        if self.part.header(part_header) {
            self.begin_part();
        }
        match header {
            Header::Creator(value) => self.base_rule = BaseRule::from_creator(value),
            Header::Positions(words) => {
                let columns = Columns::new(words.iter().map(PositionKind::parse));
                if columns != self.positions.columns {
                    self.positions.columns = columns;
                    self.positions.has_base = false;
                }
            }
            Header::Events(words) => self.part.events(words.len()),
            _ => {}
        }
    }

    fn begin_part(&mut self) {
        self.positions.has_base = false;
        self.positions.last = [0; MAX_COLUMNS];
    }

    /// The state that the positions of this line are spelled against.
    fn position_state(&self, line: &Line<'_>) -> PositionState {
        let mut state = self.positions;
        if !state.has_base {
            state.base = [0; MAX_COLUMNS];
            state.last = [0; MAX_COLUMNS];
        }
        if matches!(line, Line::Calls(_) | Line::Jump(_)) {
            // Targets may be relative to nothing, and those past the columns always are.
            let columns = state.columns.len();
            state.has_base = true;
            state.base[columns..].fill(0);
            state.last[columns..].fill(0);
        }
        state
    }

    /// Updates the state after the line was spelled.
    fn settle(&mut self, line: &Line<'_>) {
        match line {
            Line::Calls(_) => {
                self.expected = CostRole::Call;
                self.has_callee = false;
            }
            Line::Jump(_) => self.expected = CostRole::JumpSource,
            Line::Cost(line) => {
                self.expected = CostRole::SelfCost;
                if self.base_rule.is_moved_by(line.role) {
                    self.positions.base = line.positions.array();
                    self.positions.last = line.positions.array();
                    self.positions.has_base = true;
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
