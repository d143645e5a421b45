//! A survey of a profile in one pass, without keeping its costs: parts, event types, totals, counts.

use std::rc::Rc;

use crate::cost::{Cost, CostFault, Costs};
use crate::intern::{EMPTY, Interner};
use crate::joined::{JoinedPart, says_its_file};
use crate::location::Location;
use crate::name::{Name, NameKey, NameSpace};
use crate::name_spaces::NameSpaces;
use crate::position::{Columns, PositionKind};
use crate::producer::{Producer, ProducerEvidence, ProducerKind, producer};
use crate::reader::{PlainRun, Reader};
use crate::record::{CostRole, EventDefinition, Header, Line, Record, Words};
use crate::wholeness::PartEnd;

/// A survey of a profile: its parts, event types, totals and counts.
///
/// ```
/// use gristmill_format::Survey;
///
/// let survey = Survey::new(b"events: Ir\nfn=main\n1 20\n2 22\ntotals: 41\n");
/// let part = &survey.parts[0];
/// assert_eq!(survey.totals(part), [42]);
/// assert_eq!(survey.claimed_totals(part), Some(&[41][..]));
/// ```
#[derive(Debug, Clone)]
pub struct Survey<'a> {
    /// The program that wrote it.
    pub producer: Producer,
    /// Its parts, in the order of the file.
    pub parts: Vec<PartSurvey<'a>>,
    /// The counts.
    pub counts: Counts,
    /// Costs of all parts, one list after another.
    costs: Vec<Cost>,
}

/// Counts of lines and names in a profile.
///
/// See the example of [`Survey`](crate::Survey).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Lines that could be read.
    pub lines: u64,
    /// Different names of objects.
    pub objects: u64,
    /// Different names of files.
    pub files: u64,
    /// Different names of functions.
    pub functions: u64,
    /// Lines with self cost.
    pub cost_lines: u64,
    /// Lines with calls.
    pub arcs: u64,
    /// Lines with jumps.
    pub jumps: u64,
    /// Errors that the reader met, repaired ones included.
    pub errors: u64,
}

/// A survey of a part.
///
/// See the example of [`Survey`].
#[derive(Debug, Clone)]
pub struct PartSurvey<'a> {
    /// The location of its beginning.
    pub location: Location,
    /// The process that was measured: that of the part, or else of one before it.
    pub pid: Option<u64>,
    /// The number of the dump.
    pub part: Option<u64>,
    /// The thread.
    pub thread: Option<u64>,
    /// `desc: Trigger:`
    pub trigger: Option<&'a [u8]>,
    /// `desc: Timerange:`
    pub time_range: Option<&'a [u8]>,
    /// The header lines that many parts share.
    pub header: Rc<PartHeaderSurvey<'a>>,
    costs_at: usize,
    claimed_summary: u32,
    claimed_totals: u32,
}

/// The header lines that parts of a file usually share.
///
/// See the example of [`Survey`].
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct PartHeaderSurvey<'a> {
    /// `creator:`, of this part or one before.
    pub creator: Option<&'a [u8]>,
    /// `cmd:`, of this part or one before.
    pub command: Option<&'a [u8]>,
    /// Other descriptions than trigger and time range, as `I1 cache`.
    pub descriptions: Vec<(&'a [u8], &'a [u8])>,
    /// The position columns.
    pub columns: Option<Columns>,
    /// The names on the `events:` line. They stay text: a line may hold a million of them.
    events: Option<Words<'a>>,
    event_count: usize,
    /// The `event:` lines of those, sorted by name; the first of several with the same name.
    definitions: Vec<EventDefinition<'a>>,
    /// Event types with a formula and no column, in the order of the file.
    derived: Vec<EventDefinition<'a>>,
}

impl<'a> PartHeaderSurvey<'a> {
    /// The number of event types that have a column, and so a total.
    pub fn event_count(&self) -> usize {
        self.event_count
    }

    /// The event types that have a column, in its order; then the derived ones.
    pub fn event_types(&self) -> impl Iterator<Item = EventType<'a>> {
        let columns = self.events.iter().flatten();
        let columns = columns.map(|name| EventType { name, long_name: self.long_name(name), formula: None });
        let derived = self.derived.iter().map(|&EventDefinition { name, long_name, formula }| EventType {
            name,
            long_name,
            formula,
        });
        columns.chain(derived)
    }

    /// The long name that an `event:` line gives an event type.
    pub fn long_name(&self, name: &[u8]) -> Option<&'a [u8]> {
        let found = self.definitions.binary_search_by(|definition| definition.name.cmp(name));
        found.ok().and_then(|place| self.definitions[place].long_name)
    }

    /// Sorts what the `event:` lines of a part say.
    fn define(&mut self, mut definitions: Vec<EventDefinition<'a>>) {
        if definitions.is_empty() {
            return;
        }
        let in_order = definitions.clone();
        // Stable: the first of several stays first.
        definitions.sort_by(|a, b| a.name.cmp(b.name));
        definitions.dedup_by(|later, first| {
            let same = later.name == first.name;
            if same {
                first.long_name = first.long_name.or(later.long_name);
            }
            same
        });
        let mut has_column = vec![false; definitions.len()];
        for name in self.events.iter().flatten() {
            if let Ok(place) = definitions.binary_search_by(|definition| definition.name.cmp(name)) {
                has_column[place] = true;
            }
        }
        let is_derived = |definition: &&EventDefinition<'a>| {
            let place = definitions.binary_search_by(|other| other.name.cmp(definition.name));
            definition.formula.is_some() && place.is_ok_and(|place| !has_column[place])
        };
        self.derived = in_order.iter().filter(is_derived).copied().collect();
        self.definitions = definitions;
    }
}

/// An event type of a part.
///
/// See the example of [`Survey`](crate::Survey).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventType<'a> {
    /// The name on the `events:` line.
    pub name: &'a [u8],
    /// The long name, if an `event:` line gives one.
    pub long_name: Option<&'a [u8]>,
    /// The formula, for a derived type; such have no column.
    pub formula: Option<&'a [u8]>,
}

impl<'a> Survey<'a> {
    /// Looks through a profile.
    pub fn new(input: &'a [u8]) -> Self {
        let mut survey = Surveyor::new();
        for item in Reader::new(input) {
            match item {
                // A cost that is no number is repaired in the sums; lint reports it.
                Ok(record) => drop(survey.record(&record)),
                Err(_) => survey.error(),
            }
        }
        survey.finish()
    }

    /// The computed self cost of a part, one for each event type that has a column.
    pub fn totals(&self, part: &PartSurvey<'a>) -> &[Cost] {
        &self.costs[part.costs_at..part.costs_at + part.header.event_count]
    }

    /// The values of the `summary:` line of a part; they may be fewer or more than the event types.
    pub fn claimed_summary(&self, part: &PartSurvey<'a>) -> Option<&[Cost]> {
        self.claim(part.costs_at + self.totals(part).len(), part.claimed_summary)
    }

    /// The values of the `totals:` line of a part.
    pub fn claimed_totals(&self, part: &PartSurvey<'a>) -> Option<&[Cost]> {
        let summary = part.claimed_summary.saturating_sub(1) as usize;
        self.claim(part.costs_at + self.totals(part).len() + summary, part.claimed_totals)
    }

    /// A part, as it ends.
    pub(crate) fn part_end(&self, index: usize, input: &'a [u8]) -> Option<PartEnd<'_>> {
        let part = self.parts.get(index)?;
        let next = self.parts.get(index + 1).map(|part| part.location);
        Some(PartEnd {
            text: text_of(input, part.location, next),
            is_last: next.is_none(),
            producer: self.producer.kind,
            creator: part.header.creator,
            summary: self.claimed_summary(part),
            totals: self.claimed_totals(part),
            sums: self.totals(part),
            has_more_signs: false,
        })
    }

    fn claim(&self, at: usize, count: u32) -> Option<&[Cost]> {
        let count = count.checked_sub(1)? as usize;
        Some(&self.costs[at..at + count])
    }
}

/// Builds a [`Survey`] while somebody else reads.
#[derive(Debug)]
pub(crate) struct Surveyor<'a> {
    evidence: ProducerEvidence<'a>,
    parts: Vec<PartSurvey<'a>>,
    counts: Counts,
    costs: Vec<Cost>,
    names: NameSpaces<Interner<'a>>,
    /// The last name that was given in full.
    last_name: u32,
    header: PartHeaderSurvey<'a>,
    definitions: Vec<EventDefinition<'a>>,
    pid: Option<u64>,
    open: Option<Open<'a>>,
}

/// The part that is being read.
#[derive(Debug)]
pub(crate) struct Open<'a> {
    index: u32,
    location: Location,
    pid: Option<u64>,
    part: Option<u64>,
    thread: Option<u64>,
    trigger: Option<&'a [u8]>,
    time_range: Option<&'a [u8]>,
    pub(crate) sums: Vec<Cost>,
    summary: Option<Vec<Cost>>,
    totals: Option<Vec<Cost>>,
}

impl<'a> Surveyor<'a> {
    pub(crate) fn new() -> Self {
        Surveyor {
            evidence: ProducerEvidence::default(),
            parts: Vec::new(),
            counts: Counts::default(),
            costs: Vec::new(),
            names: Default::default(),
            last_name: EMPTY,
            header: PartHeaderSurvey::default(),
            definitions: Vec::new(),
            pid: None,
            open: None,
        }
    }

    /// The sums of the part that is being read.
    pub(crate) fn sums(&self) -> &[Cost] {
        self.open.as_ref().map_or(&[], |open| &open.sums)
    }

    /// The producer, by what is known so far.
    pub(crate) fn producer(&self) -> ProducerKind {
        self.evidence.kind()
    }

    /// The location where the current part begins.
    pub(crate) fn part_location(&self) -> Location {
        self.open.as_ref().map(|open| open.location).unwrap_or_default()
    }

    /// The current part, as it ends before the line at a location, or with the file.
    pub(crate) fn part_end(
        &self,
        input: &'a [u8],
        end: Option<Location>,
        has_more_signs: bool,
    ) -> Option<PartEnd<'_>> {
        let open = self.open.as_ref()?;
        Some(PartEnd {
            text: text_of(input, open.location, end),
            is_last: end.is_none_or(|end| end.byte == input.len() as u64),
            producer: self.evidence.kind(),
            creator: self.header.creator,
            summary: open.summary.as_deref(),
            totals: open.totals.as_deref(),
            sums: &open.sums,
            has_more_signs,
        })
    }

    /// The current part, for the question whether the file was joined from several.
    pub(crate) fn joined_part(&self, input: &'a [u8], end: Option<Location>) -> Option<JoinedPart<'a>> {
        let open = self.open.as_ref()?;
        let descriptions = &self.header.descriptions;
        Some(JoinedPart {
            location: open.location,
            text: text_of(input, open.location, end),
            pid: open.pid,
            number: open.part,
            thread: open.thread,
            command: self.header.command,
            creator: self.header.creator,
            says_its_file: descriptions.iter().any(|(kind, _)| says_its_file(kind)),
        })
    }

    /// The different names so far; references bring no new ones.
    pub(crate) fn names(&self, space: NameSpace) -> &Interner<'a> {
        &self.names[space]
    }

    /// The name that the last record gave, if it did so in full and not by a reference.
    pub(crate) fn last_name(&self) -> u32 {
        self.last_name
    }

    /// No more names will come.
    pub(crate) fn names_end(&mut self) {
        self.names.iter_mut().for_each(Interner::release);
    }

    pub(crate) fn error(&mut self) {
        self.counts.errors += 1;
    }

    /// Takes note of a record.
    pub(crate) fn record(&mut self, record: &Record<'a>) -> Result<(), CostFault> {
        self.counts.lines += 1;
        if !opens_part(record) {
            return Ok(());
        }
        if self.open.as_ref().is_none_or(|open| open.index != record.part) {
            self.close();
            self.open(record);
        }
        match record.line {
            Line::Cost(line) if line.role == CostRole::SelfCost => {
                self.counts.cost_lines += 1;
                if let Some(open) = &mut self.open {
                    return line.costs.add_to(&mut open.sums);
                }
            }
            Line::Calls(_) => {
                self.counts.arcs += 1;
                self.evidence.has_calls = true;
            }
            Line::Jump(_) => self.counts.jumps += 1,
            Line::Name(key, name) => self.name(key, &name),
            Line::Header(header) => self.header_line(header),
            Line::NewProfile(_) => {
                self.evidence.has_new_profile = true;
                self.pid = None;
            }
            _ => {}
        }
        Ok(())
    }

    /// Takes plain cost lines of a part, if it is the one that is being read. `read` adds their costs to the sums.
    pub(crate) fn plain_lines(
        &mut self,
        part: u32,
        read: impl FnOnce(&mut [Cost]) -> Option<PlainRun>,
    ) -> Option<PlainRun> {
        let open = self.open.as_mut().filter(|open| open.index == part)?;
        let run = read(&mut open.sums)?;
        self.counts.lines += run.lines;
        self.counts.cost_lines += run.lines;
        Some(run)
    }

    fn open(&mut self, record: &Record<'a>) {
        // These hold for the parts that follow, until one says something else.
        self.header = PartHeaderSurvey {
            creator: self.header.creator,
            command: self.header.command,
            columns: self.header.columns,
            ..PartHeaderSurvey::default()
        };
        self.definitions.clear();
        self.open = Some(Open {
            index: record.part,
            location: record.location,
            pid: self.pid,
            part: None,
            thread: None,
            trigger: None,
            time_range: None,
            sums: Vec::new(),
            summary: None,
            totals: None,
        });
    }

    fn name(&mut self, key: NameKey, name: &Name<'a>) {
        let first = match key {
            NameKey::Fn => &mut self.evidence.first_function,
            NameKey::Fl => &mut self.evidence.first_file,
            NameKey::Ob => &mut self.evidence.first_object,
            _ => &mut None,
        };
        first.get_or_insert(name.bytes());
        // References bring nothing new; a name that is made of references is as good as its expansion for counting.
        if (name.id.is_none() || name.defines)
            && let Some(text) = name.text
        {
            self.last_name = self.names[key.space()].intern(text);
        }
    }

    fn header_line(&mut self, header: Header<'a>) {
        let Some(open) = &mut self.open else { return };
        match header {
            Header::Creator(value) => {
                self.header.creator = Some(value);
                self.evidence.creator.get_or_insert(value);
            }
            Header::Version(value) => {
                self.evidence.version.get_or_insert(value);
            }
            Header::Command(value) => {
                self.header.command = Some(value);
                self.evidence.command.get_or_insert(value);
            }
            Header::Pid(value) => {
                self.pid = Some(value);
                open.pid = Some(value);
            }
            Header::Part(value) => open.part = Some(value),
            Header::Thread(value) => open.thread = Some(value),
            Header::Description { kind, value } => {
                self.evidence.description.get_or_insert(kind);
                match kind {
                    b"Trigger" => open.trigger = Some(value),
                    b"Timerange" => open.time_range = Some(value),
                    _ => self.header.descriptions.push((kind, value)),
                }
            }
            Header::Positions(words) => {
                let columns = Columns::new(words.iter().map(PositionKind::parse));
                self.evidence.has_addresses |= columns.index(PositionKind::Instr).is_some();
                self.evidence.has_lines_first |=
                    columns.kinds().starts_with(&[PositionKind::Line, PositionKind::Instr]);
                self.header.columns = Some(columns);
            }
            Header::Event(definition) => {
                self.evidence.long_name = self.evidence.long_name.or(definition.long_name);
                self.definitions.push(definition);
            }
            Header::Events(words) => {
                self.header.events = Some(words);
                self.header.event_count = words.len();
                if let Some(first) = words.iter().next() {
                    self.evidence.event.get_or_insert(first);
                }
                open.sums.resize(self.header.event_count, 0);
            }
            Header::Summary(costs) => open.summary = Some(claimed(&costs)),
            Header::Totals(costs) => open.totals = Some(claimed(&costs)),
            Header::Other { .. } => {}
        }
    }

    fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        self.header.define(std::mem::take(&mut self.definitions));
        let header = match self.parts.last() {
            Some(last) if *last.header == self.header => Rc::clone(&last.header),
            _ => Rc::new(self.header.clone()),
        };
        let costs_at = self.costs.len();
        let claim = |claim: &Option<Vec<Cost>>| {
            claim.as_ref().map_or(0, |costs| u32::try_from(costs.len() + 1).unwrap_or(u32::MAX))
        };
        self.parts.push(PartSurvey {
            location: open.location,
            pid: open.pid,
            part: open.part,
            thread: open.thread,
            trigger: open.trigger,
            time_range: open.time_range,
            header,
            costs_at,
            claimed_summary: claim(&open.summary),
            claimed_totals: claim(&open.totals),
        });
        // Most files have one part, whose sums need not be copied.
        if self.costs.is_empty() {
            self.costs = open.sums
        } else {
            self.costs.extend(open.sums)
        }
        self.costs.extend(open.summary.into_iter().flatten());
        self.costs.extend(open.totals.into_iter().flatten());
    }

    pub(crate) fn finish(mut self) -> Survey<'a> {
        self.close();
        let count = |space: NameSpace| self.names[space].len() as u64;
        let counts = Counts {
            objects: count(NameSpace::Object),
            files: count(NameSpace::File),
            functions: count(NameSpace::Function),
            ..self.counts
        };
        Survey { producer: producer(&self.evidence), parts: self.parts, counts, costs: self.costs }
    }
}

/// The bytes from the start of a part to its end, or to that of the file.
fn text_of(input: &[u8], start: Location, end: Option<Location>) -> &[u8] {
    let offset = |location: Location| usize::try_from(location.byte).unwrap_or(input.len());
    input.get(offset(start)..end.map_or(input.len(), offset)).unwrap_or_default()
}

fn claimed(costs: &Costs<'_>) -> Vec<Cost> {
    costs.iter().map(|cost| cost.unwrap_or_else(|fault| fault.repaired)).collect()
}

/// `true` if a record begins its part when it is the first of that part.
pub(crate) fn opens_part(record: &Record<'_>) -> bool {
    !matches!(record.line, Line::Blank | Line::Comment(_))
}
