//! The first pass: what must be known of a part before its first line can be written.
//!
//! Only header lines are kept, and of those only where they stand: to be read a second time costs less than the room
//! for what they say, as parts may be as many as lines.

use std::collections::BTreeSet;

use super::columns::Layout;
use super::event_names::EventNames;
use crate::error::{Error, ErrorKind};
use crate::foreign::foreign;
use crate::grammar::is_name;
use crate::line_end::{LineEnd, LineTerminator};
use crate::location::Location;
use crate::name::{NameKey, NameSpace, is_compound_name};
use crate::name_spaces::NameSpaces;
use crate::part::PartHeader;
use crate::position::Columns;
use crate::reader::Reader;
use crate::record::{Header, Line, Record, Words};

/// The header lines that a part says once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Once {
    Top(PartHeader),
    Summary,
    Totals,
}

impl Once {
    pub(super) const EVENTS: Self = Once::Top(PartHeader::Events);
    pub(super) const CREATOR: Self = Once::Top(PartHeader::Creator);

    pub(super) fn from_header(header: &Header<'_>) -> Option<Self> {
        match header {
            Header::Summary(_) => Some(Once::Summary),
            Header::Totals(_) => Some(Once::Totals),
            // Without a name it says nothing.
            Header::Events(words) if words.is_empty() => None,
            _ => PartHeader::from_header(header).map(Once::Top),
        }
    }
}

/// The lines of the input for one part of the output.
#[derive(Debug, Default)]
pub(super) struct Group<'a> {
    /// The index of its first line in [`Plan::once`].
    start: usize,
    /// Lines that few parts have.
    rare: Option<Box<Rare<'a>>>,
    /// The `summary:` line comes after the header.
    pub(super) summary_is_late: bool,
    /// Nothing of the body comes after the `totals:` line.
    pub(super) totals_are_last: bool,
    pub(super) has_body: bool,
    has_header: bool,
    has_function: bool,
    /// Costs come before any `fn=`.
    pub(super) needs_function: bool,
    /// Costs come where no object is known.
    pub(super) lacks_object: bool,
    /// Costs come where no file is known.
    pub(super) lacks_file: bool,
    /// The group whose event types are those of this one.
    events_of: usize,
}

/// Lines that few parts have.
#[derive(Debug, Default)]
struct Rare<'a> {
    /// `cmd:`, `desc:` and `event:` lines that come after the header.
    late: Vec<Location>,
    /// The names that have an `event:` line, of those that need another name.
    defined_events: BTreeSet<&'a [u8]>,
}

impl<'a> Group<'a> {
    /// `true` if it has a line to write.
    pub(super) fn exists(&self) -> bool {
        self.has_body || self.has_header
    }

    /// `true` if a name that needs another one has an `event:` line.
    pub(super) fn defines(&self, name: &[u8]) -> bool {
        self.rare.as_ref().is_some_and(|rare| rare.defined_events.contains(name))
    }

    /// The locations of `cmd:`, `desc:` and `event:` lines that come after the header.
    pub(super) fn late(&self) -> &[Location] {
        self.rare.as_ref().map_or(&[], |rare| &rare.late)
    }

    fn define(&mut self, name: &'a [u8]) {
        if !is_name(name) {
            self.rare.get_or_insert_default().defined_events.insert(name);
        }
    }
}

/// The result of the first pass.
#[derive(Debug)]
pub(super) struct Plan<'a> {
    input: &'a [u8],
    /// The byte that ends lines.
    terminator: LineTerminator,
    /// For each header line that is said once in a group the last such line, group by group.
    once: Vec<(Once, Location)>,
    /// Header lines that alone would be read as something else, in the order of the file.
    special: Vec<Record<'a>>,
    pub(super) groups: Vec<Group<'a>>,
    /// The group of each part that the reader sees.
    group_of: Vec<usize>,
    pub(super) event_names: EventNames<'a>,
    /// `true` if the first name that needs no id has one.
    pub(super) is_numbered: bool,
    /// The highest number in use in each space.
    pub(super) highest: NameSpaces<u64>,
    /// The count of definitions in each space.
    definitions: NameSpaces<usize>,
    /// The location where the lines at the top are not as the grammar has them.
    pub(super) bad_top: Option<Location>,
}

impl<'a> Plan<'a> {
    pub(super) fn new(input: &'a [u8], terminator: LineTerminator) -> Result<Self, Error> {
        let mut planner = Planner {
            plan: Plan {
                input,
                terminator,
                once: Vec::new(),
                special: Vec::new(),
                groups: vec![Group::default()],
                group_of: vec![0],
                event_names: EventNames::default(),
                is_numbered: false,
                highest: NameSpaces::default(),
                definitions: NameSpaces::default(),
                bad_top: None,
            },
            part: 0,
            is_settled: false,
            trailing: Vec::new(),
            has_names: false,
            top: Top::Nothing,
            last: Location { byte: 0, line: 1 },
        };
        let mut reader = Reader::new(input);
        while let Some(item) = reader.next() {
            match item {
                Ok(record) => planner.record(&reader, record),
                Err(error) if matches!(error.kind(), ErrorKind::NotAProfile(_)) => return Err(error),
                Err(_) => {}
            }
        }
        planner.finish()
    }

    pub(super) fn group_of(&self, part: u32) -> usize {
        usize::try_from(part).ok().and_then(|part| self.group_of.get(part)).copied().unwrap_or(0)
    }

    /// The last part that the reader sees in a group.
    pub(super) fn part_of(&self, group: usize) -> Option<u32> {
        u32::try_from(self.group_of.iter().rposition(|&other| other == group)?).ok()
    }

    /// About how many names have numbers.
    pub(super) fn names(&self, space: NameSpace) -> usize {
        let highest = usize::try_from(self.highest[space]).unwrap_or(usize::MAX);
        self.definitions[space].min(highest)
    }

    /// The lines of a group that are said once.
    fn lines(&self, group: usize) -> &[(Once, Location)] {
        let start = |group: usize| self.groups.get(group).map_or(self.once.len(), |group| group.start);
        &self.once[start(group)..start(group + 1)]
    }

    /// The location of the line in a group.
    pub(super) fn location(&self, group: usize, once: Once) -> Option<Location> {
        self.lines(group).iter().find(|(other, _)| *other == once).map(|(_, location)| *location)
    }

    /// The line of a group.
    pub(super) fn once(&self, group: usize, once: Once) -> Option<Record<'a>> {
        self.read_again(self.location(group, once)?)
    }

    /// The header line at that location.
    pub(super) fn read_again(&self, location: Location) -> Option<Record<'a>> {
        if let Ok(index) = self.special.binary_search_by_key(&location, |record| record.location) {
            return Some(self.special[index]);
        }
        let rest = self.input.get(usize::try_from(location.byte).ok()?..)?;
        let end = self.terminator.split_line(rest).2;
        let record = Reader::new(&rest[..end]).find_map(Result::ok)?;
        Some(Record { location, ..record })
    }

    /// The line that is to begin a group, since after a body not every header line does.
    pub(super) fn opener(&self, group: usize) -> Once {
        let first = |choices: &[PartHeader]| {
            let is_choice = |once: &Once| matches!(once, Once::Top(header) if choices.contains(header));
            let lines = self.lines(group).iter().filter(|(once, _)| is_choice(once));
            lines.min_by_key(|(_, location)| *location).map(|(once, _)| *once)
        };
        first(&[PartHeader::Pid, PartHeader::Part, PartHeader::Thread])
            .or_else(|| first(&[PartHeader::Positions, PartHeader::Events]))
            .unwrap_or(Once::EVENTS)
    }

    /// The `events:` line that holds for a group, and whether it is its own.
    pub(super) fn events(&self, group: usize) -> Option<(Words<'a>, bool)> {
        let source = self.groups.get(group)?.events_of;
        match self.once(source, Once::EVENTS)?.line {
            Line::Header(Header::Events(words)) => Some((words, source == group)),
            _ => None,
        }
    }
}

/// The progress through the lines at the top.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
enum Top {
    Nothing,
    Marker,
    Version,
    Creator,
    /// Something else has come.
    Rest,
}

struct Planner<'a> {
    plan: Plan<'a>,
    part: u32,
    /// The part has had a body or its totals.
    is_settled: bool,
    /// Header lines since then: of the next part, should one begin before anything else comes.
    trailing: Vec<Record<'a>>,
    has_names: bool,
    top: Top,
    last: Location,
}

impl<'a> Planner<'a> {
    fn group(&mut self) -> &mut Group<'a> {
        if self.plan.groups.is_empty() {
            self.plan.groups.push(Group::default());
        }
        let last = self.plan.groups.len() - 1;
        &mut self.plan.groups[last]
    }

    fn record(&mut self, reader: &Reader<'a>, record: Record<'a>) {
        self.last = record.location;
        self.top(&record);
        if matches!(record.line, Line::NewProfile(_)) {
            self.keep_trailing();
        }
        if record.part != self.part {
            self.begin_part(record.part);
        }
        match record.line {
            Line::Blank | Line::Comment(_) | Line::NewProfile(_) => return,
            Line::Header(header) => return self.header(header, record),
            Line::Name(key, name) => {
                if let Some(id) = name.id.filter(|&id| id < 1 << 62) {
                    let highest = &mut self.plan.highest[key.space()];
                    *highest = id.max(*highest);
                }
                self.plan.definitions[key.space()] += usize::from(name.defines);
                // Some names have a number in either style.
                let tells = name.text.is_none_or(|text| !text.is_empty() && !is_compound_name(text));
                if tells && !std::mem::replace(&mut self.has_names, true) {
                    self.plan.is_numbered = name.id.is_some();
                }
                self.group().has_function |= key == NameKey::Fn;
            }
            Line::Calls(_) | Line::Jump(_) | Line::Cost(_) => {
                let context = reader.context();
                let group = self.group();
                group.needs_function |= !group.has_function;
                group.lacks_object |= context.object().is_none();
                group.lacks_file |= context.file().is_none();
            }
            _ => {}
        }
        self.keep_trailing();
        self.is_settled = true;
        let group = self.group();
        group.has_body = true;
        group.totals_are_last = false;
    }

    /// The lines at the top must come first and in their order, or the header of the first part is not as it was.
    fn top(&mut self, record: &Record<'a>) {
        let next = match record.line {
            Line::Comment(b" callgrind format") if self.top == Top::Nothing => Top::Marker,
            Line::Header(Header::Version(_)) if self.top == Top::Marker => Top::Version,
            Line::Header(Header::Creator(_)) if self.top == Top::Version => Top::Creator,
            Line::Blank | Line::Comment(_) if self.top >= Top::Marker => return,
            Line::Header(Header::Creator(_)) if self.plan.groups.len() == 1 => {
                self.plan.bad_top.get_or_insert(record.location);
                Top::Rest
            }
            _ if self.top >= Top::Version => Top::Rest,
            _ => {
                self.plan.bad_top.get_or_insert(record.location);
                Top::Rest
            }
        };
        self.top = next;
    }

    fn begin_part(&mut self, part: u32) {
        self.part = part;
        self.is_settled = false;
        let last = self.plan.groups.len() - 1;
        // A header without event types and body is the beginning of the next one.
        if self.plan.groups[last].has_body || self.plan.location(last, Once::EVENTS).is_some() {
            self.plan.groups.push(Group { start: self.plan.once.len(), ..Group::default() });
        }
        self.group().totals_are_last = false;
        self.plan.group_of.push(self.plan.groups.len() - 1);
        self.keep_trailing();
    }

    /// Header lines below the body belong to the part that the reader is in.
    fn keep_trailing(&mut self) {
        if self.trailing.is_empty() {
            return;
        }
        let trailing = std::mem::take(&mut self.trailing);
        let group = self.group();
        group.has_header = true;
        for record in &trailing {
            if let Line::Header(Header::Event(definition)) = record.line {
                group.define(definition.name);
            }
        }
        group.rare.get_or_insert_default().late.extend(trailing.iter().map(|record| record.location));
    }

    fn header(&mut self, header: Header<'a>, record: Record<'a>) {
        let is_late = self.is_settled;
        if self.is_special(&record) {
            self.plan.special.push(record);
        }
        match header {
            Header::Other { .. } => return,
            Header::Event(definition) => {
                self.plan.event_names.add(definition.name);
                if !is_late {
                    self.group().define(definition.name);
                }
            }
            Header::Events(words) => self.plan.event_names.add_all(words),
            Header::Totals(_) => self.is_settled = true,
            _ => {}
        }
        if is_late && is_loose(&header) {
            return self.trailing.push(record);
        }
        let Some(once) = Once::from_header(&header) else {
            self.group().has_header |= is_loose(&header);
            return;
        };
        let group = self.group();
        // The lines that are left out in later parts make no part.
        group.has_header |= !matches!(once, Once::Top(PartHeader::Version | PartHeader::Creator));
        if once == Once::Summary {
            group.summary_is_late = is_late;
        }
        group.totals_are_last |= once == Once::Totals;
        let start = group.start;
        match self.plan.once[start..].iter_mut().find(|(other, _)| *other == once) {
            Some((_, kept)) => *kept = record.location,
            None => self.plan.once.push((once, record.location)),
        }
    }

    /// `true` if the line, read alone, would be taken for no profile, or be divided at carriage returns inside it.
    fn is_special(&self, record: &Record<'a>) -> bool {
        let is_last = match record.spelling.line_end() {
            LineEnd::Missing => true,
            LineEnd::Cr => self.plan.terminator == LineTerminator::LF,
            LineEnd::Lf | LineEnd::CrLf => false,
        };
        is_last || record.spelling.text().and_then(foreign).is_some()
    }

    fn finish(mut self) -> Result<Plan<'a>, Error> {
        self.keep_trailing();
        let Planner { mut plan, last, .. } = self;
        let has_events = |plan: &Plan<'_>, group| plan.location(group, Once::EVENTS).is_some();
        let first = (0..plan.groups.len()).find(|&group| has_events(&plan, group));
        // Without any, nothing says what the numbers are.
        let missing = || Error::new(ErrorKind::Grammar("an `events:` line"), last);
        let mut source = first.ok_or_else(missing)?;
        for group in 0..plan.groups.len() {
            if has_events(&plan, group) {
                source = group;
            }
            plan.groups[group].events_of = source;
        }
        plan.event_names.settle();
        Ok(plan)
    }
}

/// `true` if the header line may be repeated, and begins no part.
pub(super) fn is_loose(header: &Header<'_>) -> bool {
    matches!(header, Header::Command(_) | Header::Description { .. } | Header::Event(_))
}

/// The columns that a `positions:` line stands for.
pub(super) fn columns_of(words: &Words<'_>, drop_addresses: bool) -> Layout {
    let columns = Columns::new(words.iter().map(crate::position::PositionKind::parse));
    Layout::new(if columns.len() == 0 { Columns::LINE } else { columns }, drop_addresses)
}
