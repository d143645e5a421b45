//! Checks of the header: missing, repeated and misplaced lines, event types and their formulas.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::{Finding, Report, loops, rule, shown};
use crate::factor::Factor;
use crate::grammar::{is_name, is_term};
use crate::joined::{JoinedPart, JoinedParts};
use crate::location::Location;
use crate::position::{Columns, PositionKind};
use crate::record::{EventDefinition, Header, Line, Record, Words};
use crate::scan::{Tokens, trim_end, trim_start};
use crate::survey::Survey;

#[derive(Debug, Default)]
pub(super) struct HeaderChecks<'a> {
    /// Of the file.
    has_marker: bool,
    has_version: bool,
    has_positions: bool,
    has_events: bool,
    has_part: bool,
    first_line: Option<Location>,
    joined: JoinedParts<'a>,
    last_events: Option<Words<'a>>,
    last_columns: Option<Columns>,
    part: PartState<'a>,
}

/// Of the part that is being read.
#[derive(Debug, Default)]
struct PartState<'a> {
    number: Option<u32>,
    begins: Location,
    events: Option<Words<'a>>,
    has_body: bool,
    totals: Option<Location>,
    /// A `summary:` line after which no body line has come yet.
    summary: Option<Record<'a>>,
    seen: HashSet<&'static str>,
    definitions: Vec<(EventDefinition<'a>, Record<'a>)>,
    totals_early: bool,
}

impl<'a> HeaderChecks<'a> {
    pub(super) fn record<F: FnMut(Finding<'a>)>(&mut self, record: &Record<'a>, report: &mut Report<'a, F>) {
        if self.part.number.is_some()
            && self.part.number != Some(record.part)
            && crate::survey::opens_part(record)
        {
            self.part = PartState::default();
        }
        match record.line {
            Line::Blank => return,
            Line::Comment(_) => {
                if self.first_line.is_none() {
                    self.has_marker = record.spelling.text() == Some(b"# callgrind format");
                    self.first_line = Some(record.location);
                }
                return;
            }
            _ => {}
        }
        self.first_line.get_or_insert(record.location);
        if self.part.number.is_none() {
            self.part.number = Some(record.part);
            self.part.begins = record.location;
        }
        if let Line::Header(header) = record.line {
            self.has_part = true;
            return self.header(header, record, report);
        }
        if matches!(record.line, Line::NewProfile(_)) {
            return;
        }
        if self.part.totals.is_some() && matches!(record.line, Line::Cost(_)) {
            report.line(&rule::BODY_AFTER_TOTALS, record, rule::BODY_AFTER_TOTALS.summary);
        }
        if let Some(summary) = self.part.summary.take()
            && self.part.has_body
        {
            report.once(&rule::SUMMARY_IN_BODY, &summary, rule::SUMMARY_IN_BODY.summary);
        }
        self.part.has_body = true;
    }

    /// `true` if a plain cost line of a part is of no consequence here.
    pub(super) fn takes_plain_lines(&self, part: u32) -> bool {
        self.part.number == Some(part) && self.part.totals.is_none() && self.part.summary.is_none()
    }

    /// Takes plain cost lines.
    pub(super) fn plain_lines(&mut self) {
        self.part.has_body = true;
    }

    fn header<F: FnMut(Finding<'a>)>(
        &mut self,
        header: Header<'a>,
        record: &Record<'a>,
        report: &mut Report<'a, F>,
    ) {
        let key = match header {
            Header::Version(_) => "version",
            Header::Creator(_) => "creator",
            Header::Command(_) => "cmd",
            Header::Pid(_) => "pid",
            Header::Part(_) => "part",
            Header::Thread(_) => "thread",
            Header::Positions(_) => "positions",
            Header::Events(_) => "events",
            Header::Summary(_) => "summary",
            Header::Totals(_) => "totals",
            Header::Description { .. } | Header::Event(_) | Header::Other { .. } => "",
        };
        if !key.is_empty() && !self.part.seen.insert(key) {
            report.line(&rule::DUPLICATE_HEADER, record, format!("`{key}:` occurs twice in this part"));
        }
        let at_end = matches!(header, Header::Summary(_) | Header::Totals(_));
        if self.part.has_body && !at_end {
            report.line(&rule::HEADER_IN_BODY, record, rule::HEADER_IN_BODY.summary);
        } else if self.part.events.is_some() && !at_end && !matches!(header, Header::Events(_)) {
            report.line(&rule::HEADER_AFTER_EVENTS, record, rule::HEADER_AFTER_EVENTS.summary);
        }
        match header {
            Header::Version(value) => {
                if value != b"1" {
                    let message = format!("version {}; version 1 is the only one", shown(value));
                    report.line(&rule::UNKNOWN_VERSION, record, message);
                }
                if self.has_version {
                    report.once(&rule::LATE_VERSION, record, rule::LATE_VERSION.summary);
                }
                self.has_version = true;
            }
            Header::Description { kind: [], .. } => {
                report.line(&rule::DESC_WITHOUT_KIND, record, rule::DESC_WITHOUT_KIND.summary);
            }
            Header::Positions(words) => self.positions(words, record, report),
            Header::Event(definition) => self.definition(definition, record, report),
            Header::Events(words) => self.events(words, record, report),
            Header::Summary(_) => {
                self.part.summary = Some(*record);
            }
            Header::Totals(_) => {
                let text = trim_start(record.text());
                if !text.starts_with(b"totals:") {
                    report.line(&rule::TOTALS_KEY, record, rule::TOTALS_KEY.summary);
                }
                if !self.part.has_body {
                    self.part.totals_early = true;
                }
                self.part.totals = Some(record.location);
            }
            Header::Other { key, .. } if !crate::shape::is_known_key(b':', key) => {
                let known = matches!(key, b"arch" | b"timeframe" | b"flags");
                if !known {
                    let message = format!("unknown header `{}:`", shown(key));
                    report.at(&rule::UNKNOWN_HEADER, record, (0, key.len()), message);
                }
            }
            _ => {}
        }
    }

    fn positions<F: FnMut(Finding<'a>)>(
        &mut self,
        words: Words<'a>,
        record: &Record<'a>,
        report: &mut Report<'a, F>,
    ) {
        self.has_positions = true;
        let columns = Columns::new(words.iter().map(PositionKind::parse));
        let order = |kind: &PositionKind| match kind {
            PositionKind::Instr => 0,
            PositionKind::Bb => 1,
            PositionKind::Line => 2,
            PositionKind::Unknown => 3,
        };
        if !columns.kinds().is_sorted_by_key(order) {
            report.line(&rule::POSITIONS_ORDER, record, rule::POSITIONS_ORDER.summary);
        }
        if columns.index(PositionKind::Bb).is_some() {
            report.once(&rule::POSITIONS_BB, record, rule::POSITIONS_BB.summary);
        }
        if self.last_columns.is_some_and(|last| last != columns) {
            report.line(&rule::POSITIONS_CHANGE, record, rule::POSITIONS_CHANGE.summary);
        }
        self.last_columns = Some(columns);
    }

    fn events<F: FnMut(Finding<'a>)>(
        &mut self,
        words: Words<'a>,
        record: &Record<'a>,
        report: &mut Report<'a, F>,
    ) {
        self.has_events = true;
        let text = record.text();
        let repeated = repeated(words);
        let mut seen = HashSet::new();
        let value_at = memchr::memchr(b':', text).map_or(0, |colon| colon + 1);
        for token in Tokens::new(&text[value_at..]) {
            let place = (value_at + token.offset, token.text.len());
            let shown = shown(token.text);
            if !is_name(token.text) {
                let message =
                    format!("the name of event type `{shown}` has other characters than letters and digits");
                report.at(&rule::EVENT_NAME, record, place, message);
            }
            if repeated.binary_search(&hash_of(token.text)).is_ok() && !seen.insert(token.text) {
                report.at(
                    &rule::DUPLICATE_EVENT,
                    record,
                    place,
                    format!("event type `{shown}` occurs here twice"),
                );
            }
        }
        if self.last_events.is_some_and(|last| !last.is_empty() && last != words) {
            report.line(&rule::EVENTS_CHANGE, record, rule::EVENTS_CHANGE.summary);
        }
        self.last_events = Some(words);
        self.part.events = Some(words);
    }

    fn definition<F: FnMut(Finding<'a>)>(
        &mut self,
        definition: EventDefinition<'a>,
        record: &Record<'a>,
        report: &mut Report<'a, F>,
    ) {
        let text = record.text();
        if definition.long_name.is_some() && !text[b"event:".len().min(text.len())..].contains(&b':') {
            report.line(&rule::EVENT_WITHOUT_COLON, record, rule::EVENT_WITHOUT_COLON.summary);
        }
        if let Some(formula) = definition.formula
            && operands(formula).is_none_or(|operands| operands.is_empty())
        {
            report.line(&rule::EVENT_FORMULA_SYNTAX, record, rule::EVENT_FORMULA_SYNTAX.summary);
        }
        self.part.definitions.push((definition, *record));
    }

    pub(super) fn end_part<F: FnMut(Finding<'a>)>(
        &mut self,
        joined: Option<JoinedPart<'a>>,
        report: &mut Report<'a, F>,
    ) {
        let part = std::mem::take(&mut self.part);
        if part.number.is_none() {
            return;
        }
        if let Some(summary) = &part.summary
            && part.has_body
        {
            report.once(&rule::SUMMARY_AT_END, summary, rule::SUMMARY_AT_END.summary);
        }
        if let (Some(totals), true) =
            (part.totals, part.totals_early && (part.has_body || part.events.is_none()))
        {
            report.place(&rule::TOTALS_EARLY, totals, rule::TOTALS_EARLY.summary);
        }
        if part.events.is_none() {
            report.place(&rule::NO_EVENTS, part.begins, "this part has no `events:` line");
        } else if !part.has_body {
            report.place(&rule::NO_BODY, part.begins, "the part that begins here has a header but no cost");
        }
        if let Some(sign) = joined.and_then(|joined| self.joined.add(&joined)) {
            let rule = if sign.is_repetition() { &rule::DUPLICATE_PART } else { &rule::MIXED_RECORDINGS };
            report.place(rule, part.begins, format!("this part {}", sign.sentence()));
        }
        formulas(&part, report);
    }

    pub(super) fn end<F: FnMut(Finding<'a>)>(&mut self, survey: &Survey<'a>, report: &mut Report<'a, F>) {
        let Some(first) = self.first_line else { return };
        if !self.has_events && survey.parts.is_empty() {
            report.place(&rule::NO_EVENTS, first, "there is no `events:` line in the file");
        }
        for (has, rule) in [
            (self.has_marker, &rule::NO_MARKER),
            (self.has_version, &rule::NO_VERSION),
            (survey.producer.creator.is_some(), &rule::NO_CREATOR),
            (self.has_positions, &rule::NO_POSITIONS),
        ] {
            if !has {
                report.place(rule, first, rule.summary);
            }
        }
    }
}

/// Hashes of the words that may occur twice: nearly always none. A set of the words themselves would take more
/// memory than a file with a million event types.
fn repeated(words: Words<'_>) -> Vec<u64> {
    let mut hashes: Vec<u64> = words.iter().map(hash_of).collect();
    hashes.sort_unstable();
    let mut repeated: Vec<u64> =
        hashes.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
    repeated.dedup();
    repeated
}

fn hash_of(word: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    word.hash(&mut hasher);
    hasher.finish()
}

/// The names that a formula adds up; None when it is no formula.
fn operands(formula: &[u8]) -> Option<Vec<&[u8]>> {
    let mut operands = Vec::new();
    for term in formula.split(|&byte| byte == b'+') {
        if !is_term(term) {
            return None;
        }
        operands.push(trim_end(Factor::split(term).rest));
    }
    Some(operands)
}

/// `true` if a factor is above the limit of those that can be calculated.
fn has_large_factor(formula: &[u8]) -> bool {
    formula.split(|&byte| byte == b'+').any(|term| Factor::split(term).value.is_none())
}

/// Formulas that use themselves, or event types that there are not.
fn formulas<'a, F: FnMut(Finding<'a>)>(part: &PartState<'a>, report: &mut Report<'a, F>) {
    if part.definitions.iter().all(|(definition, _)| definition.formula.is_none()) {
        return;
    }
    let columns: HashSet<&[u8]> = part.events.iter().flatten().collect();
    // Of several with one name, the last counts.
    let mut derived: HashMap<&[u8], usize> = HashMap::new();
    let mut uses: Vec<Vec<&[u8]>> = Vec::new();
    for (definition, _) in &part.definitions {
        let Some(operands) = definition.formula.and_then(operands) else { continue };
        match derived.entry(definition.name) {
            Entry::Occupied(known) => uses[*known.get()] = operands,
            Entry::Vacant(new) => {
                new.insert(uses.len());
                uses.push(operands);
            }
        }
    }
    let arcs = uses.iter().map(|uses| uses.iter().filter_map(|used| derived.get(used).copied()).collect());
    let uses_itself = loops::members(&arcs.collect::<Vec<_>>());
    for (definition, record) in &part.definitions {
        let Some(formula) = definition.formula.and_then(operands) else { continue };
        let name = shown(definition.name);
        if let Some(unknown) =
            formula.iter().find(|used| !columns.contains(*used) && !derived.contains_key(*used))
        {
            let message = format!("there is no event type `{}`", shown(unknown));
            report.line(&rule::EVENT_FORMULA, record, message);
        } else if has_large_factor(definition.formula.unwrap_or_default()) {
            let message = format!("the formula of `{name}` has a factor above 2^63 − 1");
            report.line(&rule::EVENT_FORMULA, record, message);
        } else if derived.get(definition.name).is_some_and(|&index| uses_itself[index]) {
            report.line(
                &rule::EVENT_FORMULA,
                record,
                format!("the formula of `{name}` uses `{name}` itself"),
            );
        }
    }
}
