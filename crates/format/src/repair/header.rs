//! Header lines: where a part of the output begins, what its header says, and its totals.

use std::collections::BTreeSet;
use std::io;

use super::change::ChangeKind;
use super::columns::Layout;
use super::plan::{Once, columns_of, is_loose};
use super::{Run, plan::Group};
use crate::cost::{Cost, Costs, is_in_range};
use crate::error::{Error, ErrorKind};
use crate::record::{EventDefinition, Header, Line, Record, Words};
use crate::scan::trim_end;

impl<'a, W: io::Write> Run<'_, 'a, W> {
    /// Begins a part of the output. After a body not every header line would, so the one that does goes first.
    pub(super) fn open(&mut self) -> Result<(), Error> {
        if std::mem::replace(&mut self.group.is_open, true) {
            return Ok(());
        }
        if self.group.index == 0 {
            self.write(Line::Comment(b" callgrind format"))?;
            self.write(Line::Header(Header::Version(b"1")))?;
            if let Some(record) = self.kept(Once::CREATOR)
                && let Line::Header(Header::Creator(value)) = record.line
            {
                let value = self.without_returns(value, record.location);
                self.write(Line::Header(Header::Creator(value)))?;
            }
            return Ok(());
        }
        match self.plan.opener(self.group.index) {
            Once::EVENTS => self.events(),
            once => match self.kept(once) {
                Some(record) => self.once(once, &record),
                None => Ok(()),
            },
        }
    }

    /// The line of the current part.
    fn kept(&self, once: Once) -> Option<Record<'a>> {
        self.plan.once(self.group.index, once)
    }

    /// `true` if a record has been written before its turn.
    fn is_opener(&self, once: Once) -> bool {
        self.group.index > 0 && self.plan.opener(self.group.index) == once
    }

    pub(super) fn header(&mut self, record: &Record<'a>, header: Header<'a>) -> Result<(), Error> {
        let is_late = self.is_settled;
        self.is_settled |= matches!(header, Header::Totals(_));
        if let Header::Other { .. } = header {
            self.changes.note(ChangeKind::Header, record.location);
            return self.comment_out(record);
        }
        if is_loose(&header) {
            if is_late {
                self.changes.note(ChangeKind::MovedHeader, record.location);
                return Ok(());
            }
            self.open()?;
            return self.loose(record);
        }
        let Some(once) = Once::from_header(&header) else {
            // `events:` without a name.
            self.changes.note(ChangeKind::Header, record.location);
            return self.comment_out(record);
        };
        let holds = self.plan.location(self.group.index, once) == Some(record.location);
        match header {
            Header::Version(value) => {
                if trim_end(value) != b"1" {
                    self.changes.note(ChangeKind::Version, record.location);
                }
                self.top_line(record, holds)
            }
            Header::Creator(_) => self.top_line(record, holds),
            _ if !holds => {
                self.changes.note(ChangeKind::RepeatedHeader, record.location);
                Ok(())
            }
            Header::Totals(_) if !self.plan().totals_are_last => {
                self.changes.note(ChangeKind::MovedHeader, record.location);
                Ok(())
            }
            Header::Totals(_) => {
                self.callee_without_call()?;
                self.totals()
            }
            Header::Summary(_) if is_late => {
                self.changes.note(ChangeKind::MovedHeader, record.location);
                Ok(())
            }
            _ => {
                self.open()?;
                if self.is_opener(once) { Ok(()) } else { self.once(once, record) }
            }
        }
    }

    /// `version:` and `creator:` have been written at the top, and nowhere else.
    fn top_line(&mut self, record: &Record<'a>, holds: bool) -> Result<(), Error> {
        if self.group.index > 0 {
            self.changes.note(ChangeKind::LaterVersion, record.location);
        } else if !holds {
            self.changes.note(ChangeKind::RepeatedHeader, record.location);
        }
        Ok(())
    }

    /// Writes a header line that is said once in a part.
    fn once(&mut self, once: Once, record: &Record<'a>) -> Result<(), Error> {
        let Line::Header(header) = record.line else { return Ok(()) };
        match header {
            Header::Positions(words) => {
                if !Layout::is_usual(&words) {
                    self.changes.note(ChangeKind::Columns, record.location);
                }
                let words = columns_of(&words, self.options.drop_instr).words();
                self.write(Line::Header(Header::Positions(Words::new(&words))))
            }
            Header::Summary(costs) => self.summary(costs, record),
            _ if once == Once::EVENTS => self.events(),
            _ => self.write(Line::Header(header)),
        }
    }

    /// Writes the `events:` line, and the header lines that are elsewhere or missing.
    pub(super) fn events(&mut self) -> Result<(), Error> {
        if std::mem::replace(&mut self.group.has_events, true) {
            return Ok(());
        }
        let Some((given, own)) = self.plan.events(self.group.index) else { return Ok(()) };
        let plan = self.plan();
        let first_is_events = self.is_opener(Once::EVENTS);
        if !first_is_events {
            self.late(plan)?;
        }
        let location = self.plan.location(self.group.index, Once::EVENTS).unwrap_or(self.last);
        if !own {
            self.changes.note(ChangeKind::EventsTakenOver, self.last);
        }
        let names = &self.plan.event_names;
        let mut written: Vec<&[u8]> = Vec::new();
        let mut said: BTreeSet<&[u8]> = BTreeSet::new();
        let mut long_names: Vec<EventDefinition<'_>> = Vec::new();
        for word in &given {
            if names.are_kept() {
                // Then they can be written as they are given.
                break;
            }
            let name = names.renamed(word).unwrap_or(word);
            if names.renamed(word).is_some() {
                self.changes.note(ChangeKind::EventName, location);
                if said.insert(name) && !plan.defines(word) {
                    let long_name = self.without_returns(word, location);
                    long_names.push(EventDefinition { name, formula: None, long_name: Some(long_name) });
                }
            }
            written.push(name);
        }
        let events = Header::Events(if names.are_kept() { given } else { Words::new(&written) });
        if first_is_events {
            self.write(Line::Header(events))?;
        }
        for definition in long_names {
            self.write(Line::Header(Header::Event(definition)))?;
        }
        if first_is_events {
            self.late(plan)?;
        } else {
            self.write(Line::Header(events))?;
        }
        self.group.types = given.len();
        self.group.needs_sums =
            self.plan.location(self.group.index, Once::Totals).is_some() || self.cut().is_some();
        match self.kept(Once::Summary) {
            Some(record) if plan.summary_is_late => self.once(Once::Summary, &record),
            _ => Ok(()),
        }
    }

    /// Writes the header lines that follow the header.
    fn late(&mut self, plan: &Group<'a>) -> Result<(), Error> {
        for &location in plan.late() {
            if let Some(record) = self.plan.read_again(location) {
                self.loose(&record)?;
            }
        }
        Ok(())
    }

    /// Writes a `cmd:`, `desc:` or `event:` line.
    fn loose(&mut self, record: &Record<'a>) -> Result<(), Error> {
        let Line::Header(header) = record.line else { return Ok(()) };
        match header {
            Header::Command(value) => {
                let value = self.without_returns(value, record.location);
                self.write(Line::Header(Header::Command(value)))
            }
            Header::Description { kind, value } => {
                let value = self.without_returns(value, record.location);
                let end = kind.iter().rposition(|byte| !matches!(byte, b' ' | b'\t' | b'\r'));
                let mut kind = &kind[..end.map_or(0, |end| end + 1)];
                if kind.is_empty() {
                    self.changes.note(ChangeKind::DescriptionKind, record.location);
                    kind = b"Note";
                }
                self.write(Line::Header(Header::Description { kind, value }))
            }
            Header::Event(definition) => self.definition(definition, record),
            _ => Ok(()),
        }
    }

    fn definition(&mut self, given: EventDefinition<'a>, record: &Record<'a>) -> Result<(), Error> {
        let location = record.location;
        let names = &self.plan.event_names;
        let renamed = names.renamed(given.name);
        let long_name = match (given.long_name, renamed) {
            (None, Some(_)) => Some(given.name),
            (long_name, _) => long_name,
        };
        if renamed.is_some() {
            self.changes.note(ChangeKind::EventName, location);
        }
        let text = record.text();
        if given.formula.is_none()
            && given.long_name.is_some()
            && memchr::memchr_iter(b':', text).take(2).count() < 2
        {
            self.changes.note(ChangeKind::EventColon, location);
        }
        let formula = given.formula.and_then(|formula| names.formula(formula));
        if formula.is_none() && given.formula.is_some() {
            self.changes.note(ChangeKind::Formula, location);
        }
        let long_name = long_name.map(|text| self.without_returns(text, location));
        self.write(Line::Header(Header::Event(EventDefinition {
            name: renamed.unwrap_or(given.name),
            formula: formula.as_deref(),
            long_name,
        })))
    }

    fn summary(&mut self, costs: Costs<'a>, record: &Record<'a>) -> Result<(), Error> {
        let types = self.plan.events(self.group.index).map_or(0, |(words, _)| words.len());
        let Some(mut values) = legal_numbers(costs) else {
            self.changes.note(ChangeKind::Header, record.location);
            return self.comment_out(record);
        };
        if values.len() > types {
            self.changes.note(ChangeKind::Summary, record.location);
            values.truncate(types);
        }
        if let Some(cut) = self.cut().filter(|cut| cut.part == record.part) {
            let left: Vec<Cost> = cut.sums.iter().map(|&sum| sum.max(0)).collect();
            // Larger sums have no `totals:` line either, so the part stays cut, with what it stated.
            if left.iter().all(|&sum| is_in_range(sum)) {
                values = left;
                values.resize(types, 0);
            }
        }
        self.write(Line::Header(Header::Summary(Costs::new(&values))))
    }

    /// Writes the `totals:` line: as it is given if it is right, else computed.
    fn totals(&mut self) -> Result<(), Error> {
        let Some(record) = self.kept(Once::Totals) else { return Ok(()) };
        let Line::Header(Header::Totals(costs)) = record.line else { return Ok(()) };
        self.open()?;
        self.events()?;
        let sums = self.sums();
        let given = legal_numbers(costs).unwrap_or_default();
        let is_right = !given.is_empty()
            && given.len() <= sums.len()
            && given.iter().chain(std::iter::repeat(&0)).zip(&sums).all(|(given, sum)| given == sum);
        if is_right {
            return self.end_with(&given);
        }
        if !sums.iter().all(|&sum| is_in_range(sum)) {
            self.changes.note(ChangeKind::TotalsLeftOut, record.location);
            return Ok(());
        }
        self.changes.note(ChangeKind::Totals, record.location);
        self.end_with(&sums)
    }

    /// The self costs of the part, one for each of its event types.
    fn sums(&self) -> Vec<Cost> {
        let mut sums = self.group.sums.clone();
        sums.resize(self.group.types, 0);
        sums
    }

    fn end_with(&mut self, totals: &[Cost]) -> Result<(), Error> {
        self.group.has_totals = true;
        self.write(Line::Header(Header::Totals(Costs::new(totals))))
    }

    /// Ends a part of the output.
    pub(super) fn close(&mut self, is_last: bool) -> Result<(), Error> {
        if !self.plan().exists() && is_last {
            return Ok(());
        }
        self.open()?;
        self.events()?;
        self.callee_without_call()?;
        if !self.plan().totals_are_last {
            self.totals()?;
        }
        self.end_cut_part()?;
        if !is_last && !self.group.has_body && !self.group.has_totals && self.next_exists() {
            self.changes.note(ChangeKind::TotalsAdded, self.last);
            let zeros = vec![0; self.group.types];
            self.end_with(&zeros)?;
        }
        Ok(())
    }

    /// Ends a part that was cut off: with its loss in a comment, and with the totals of the lines that are left.
    fn end_cut_part(&mut self) -> Result<(), Error> {
        let Some(cut) = self.cut() else { return Ok(()) };
        self.changes.note(ChangeKind::CutOff, self.last);
        if !self.options.drop_comments {
            self.write(Line::Comment(cut.note.as_bytes()))?;
        }
        if self.group.has_totals {
            return Ok(());
        }
        let sums = self.sums();
        if sums.iter().all(|&sum| is_in_range(sum)) { self.end_with(&sums) } else { Ok(()) }
    }

    fn next_exists(&self) -> bool {
        self.plan.groups.get(self.group.index + 1).is_some_and(Group::exists)
    }
}

/// The numbers, fractions cut off; None when the grammar cannot hold them or there are none.
fn legal_numbers(costs: Costs<'_>) -> Option<Vec<Cost>> {
    let mut values = Vec::new();
    for cost in &costs {
        let value = match cost {
            Ok(value) => value,
            Err(fault) if fault.kind == ErrorKind::FractionalCost => fault.repaired,
            Err(_) => return None,
        };
        if value < 0 {
            return None;
        }
        values.push(value);
    }
    (!values.is_empty()).then_some(values)
}
