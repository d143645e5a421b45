//! Damage as lint finds it, which is what the loader finds.

use std::borrow::Cow;
use std::collections::HashSet;

use gristmill_format::{Cost, Finding, PartSurvey, Severity, Survey, is_near_end};
use gristmill_output::lossy;

use crate::damage::{Claim, DamageRow, DamagedFile, Reason};
use crate::read_file::ReadFile;

/// Collects the findings of lint that are damage.
#[derive(Debug, Default)]
pub(super) struct DamageFindings {
    packing: Option<Cow<'static, str>>,
    /// The first and the last.
    cuts: Option<(Place, Place)>,
    joined: Option<(Place, bool)>,
    totals: Option<Place>,
    calls: Option<Place>,
    counted_twice: Option<Place>,
    duplicate_event: Option<Place>,
    errors: Errors,
    undefined_names: Errors,
}

#[derive(Debug, Clone)]
struct Place {
    byte: u64,
    line: u64,
    column: u64,
    message: Cow<'static, str>,
}

#[derive(Debug, Default)]
struct Errors {
    count: u64,
    first: Option<Place>,
}

impl Errors {
    fn add(&mut self, place: Place) {
        self.count += 1;
        if self.first.as_ref().is_none_or(|first| (place.byte, place.column) < (first.byte, first.column)) {
            self.first = Some(place);
        }
    }
}

impl DamageFindings {
    pub(super) fn add(&mut self, finding: &Finding<'_>) {
        let name = finding.rule.name;
        if finding.rule.severity != Severity::Error && name != "counted-twice" {
            return;
        }
        let place = || Place {
            byte: finding.location.byte,
            line: finding.location.line,
            column: finding.column,
            message: finding.message.clone(),
        };
        match name {
            "damaged-compression" => self.packing = Some(finding.message.clone()),
            "truncated" => {
                let first = self.cuts.take().map_or_else(place, |(first, _)| first);
                self.cuts = Some((first, place()));
            }
            "totals-mismatch" => {
                self.totals.get_or_insert_with(place);
            }
            "duplicate-part" | "mixed-recordings" => {
                self.joined.get_or_insert_with(|| (place(), name == "duplicate-part"));
            }
            "call-balance" => {
                self.calls.get_or_insert_with(place);
            }
            "counted-twice" => {
                self.counted_twice.get_or_insert_with(place);
            }
            "duplicate-event" => {
                self.duplicate_event.get_or_insert_with(place);
            }
            "undefined-name" => self.undefined_names.add(place()),
            // Parts without event types have no costs; a file without any is refused.
            "no-events" => {}
            _ => self.errors.add(place()),
        }
    }

    /// Makes the rows, in the order of the loader.
    pub(super) fn rows(mut self, file: &ReadFile<'_>, survey: &Survey<'_>) -> Vec<DamageRow> {
        let has_parts = survey.parts.len() > 1;
        let row = |line: u64, reason: Reason| {
            DamageRow::new(&DamagedFile { name: &file.name, line, has_parts }, &reason)
        };
        let part_at = |place: &Place| {
            let parts = &survey.parts;
            parts.get(parts.partition_point(|part| part.location.byte <= place.byte).saturating_sub(1))
        };
        let mut rows = Vec::new();
        if let Some((first, last)) = &self.cuts
            && let Some(end) = survey.parts.last()
            // The end of the file is what was cut, if it was.
            && let place = if last.byte >= end.location.byte { last } else { first }
            && let Some(part) = part_at(place)
        {
            let claims = survey.claimed_totals(part).or(survey.claimed_summary(part));
            let sign = place.message.split_once(": ").map_or("", |(_, sign)| sign);
            let claim = claim(survey, part, claims, |stated, found| stated > found);
            rows.push(row(part.location.line, Reason::CutOff(claim, sign.to_owned())));
            // The cut explains lines at the end.
            if self.errors.first.as_ref().is_some_and(|first| is_near_end(file.bytes, first.byte)) {
                self.errors = Errors::default();
            }
        }
        if let Some((place, is_repetition)) = &self.joined {
            let sign = place.message.trim_start_matches("this part ").to_owned();
            let reason = if *is_repetition { Reason::Repeated(sign) } else { Reason::Mixed(sign) };
            rows.push(row(place.line, reason));
        }
        if let Some(part) = self.totals.as_ref().and_then(part_at) {
            let claims = survey.claimed_totals(part).or(survey.claimed_summary(part));
            let claim = claim(survey, part, claims, |stated, found| stated != found);
            rows.extend(claim.map(|claim| row(part.location.line, Reason::Totals(claim))));
        }
        // If all lines count that were written, only the producer can have left out the names.
        let is_confirmed =
            self.totals.is_none() && survey.parts.iter().all(|part| survey.claimed_totals(part).is_some());
        if !is_confirmed {
            let Errors { count, first } = std::mem::take(&mut self.undefined_names);
            self.errors.count += count;
            if let Some(first) = first {
                self.errors.add(first);
                self.errors.count -= 1;
            }
        }
        // Lines that could not be read explain what calls and blocks lack.
        if let Some(place) = &self.calls
            && self.cuts.is_none()
            && self.errors.first.is_none()
        {
            rows.push(row(place.line, Reason::Calls(place.message.to_string())));
        }
        if let Some(part) = self.counted_twice.as_ref().and_then(part_at) {
            let claim = claim(survey, part, survey.claimed_summary(part), |stated, found| stated < found);
            rows.extend(claim.map(|claim| row(part.location.line, Reason::CountedTwice(claim))));
        }
        if let Errors { count, first: Some(Place { line, column, message, .. }) } = &self.errors {
            let reason = Reason::Errors { count: *count, column: *column, message: message.to_string() };
            rows.push(row(*line, reason));
        }
        if let Some(part) = self.duplicate_event.as_ref().and_then(part_at) {
            let mut seen = HashSet::new();
            let mut columns = part.header.event_types().take(part.header.event_count());
            let twice = columns.find(|event| !seen.insert(event.name));
            rows.extend(
                twice.map(|event| row(part.location.line, Reason::DuplicateEvent(lossy(event.name)))),
            );
        }
        if let Some(message) = self.packing {
            rows.push(row(1, Reason::Packing(message.into_owned())));
        }
        rows
    }
}

/// Returns the first event type of which a part states another cost than its lines have.
fn claim(
    survey: &Survey<'_>,
    part: &PartSurvey<'_>,
    claims: Option<&[Cost]>,
    differs: impl Fn(Cost, Cost) -> bool,
) -> Option<Claim> {
    let claims = claims?.iter().copied().chain(std::iter::repeat(0));
    let mut columns = part.header.event_types().zip(survey.totals(part)).zip(claims);
    columns.find_map(|((event, &found), stated)| {
        (differs(stated, found) && stated < 1 << 63).then(|| Claim {
            event: lossy(event.name),
            stated,
            found,
        })
    })
}
