//! Merged headers, which do not depend on the order of merging.
//!
//! Everything here is a set, a count, or an "all of" or "any of", and reading back what is written gives the same again.
//! That makes merging associative, also through files.

use std::collections::{BTreeMap, BTreeSet};

use gristmill_format::PositionKind;

use crate::part::Part;
use crate::profile::Profile;

/// The creator of merged profiles, before the version.
pub(super) const CREATOR: &str = "gristmill-merge-";

/// The kinds of descriptions that say what a profile was merged from.
pub(super) const RUNS: &str = "Merged runs";
pub(super) const EVENT_RUNS: &str = "Merged event";
pub(super) const COMMAND: &str = "Merged command";
pub(super) const CREATED_BY: &str = "Merged creator";

/// Kinds of descriptions of one dump, which say nothing about a sum of several.
const DUMP_DESCRIPTIONS: [&[u8]; 2] = [b"Trigger", b"Timerange"];

/// An event type: its name, and the count of columns of that name before it.
pub(super) type EventKey = (Vec<u8>, usize);

/// The event types of Valgrind's tools in the order in which Callgrind writes them. Others follow, by name.
const CALLGRIND_ORDER: [&str; 26] = [
    "Ir",
    "Dr",
    "Dw",
    "I1mr",
    "D1mr",
    "D1mw",
    "ILmr",
    "DLmr",
    "DLmw",
    "ILdmr",
    "DLdmr",
    "DLdmw",
    "Bc",
    "Bcm",
    "Bi",
    "Bim",
    "AcCost1",
    "SpLoss1",
    "AcCost2",
    "SpLoss2",
    "Ge",
    "allocCount",
    "allocSize",
    "sysCount",
    "sysTime",
    "sysCpuTime",
];

/// Long names and formulas: name, formula, long name.
type Definition = (Vec<u8>, Option<Vec<u8>>, Option<Vec<u8>>);

#[derive(Debug, Clone, Default)]
pub(super) struct Headers {
    /// The count of runs; a merged profile counts for those it was made of.
    pub(super) runs: u64,
    /// The event types in the order of their arrival: the columns of rows.
    pub(super) events: Vec<EventKey>,
    /// By column: the count of runs that have it.
    pub(super) runs_with: Vec<u64>,
    columns: BTreeMap<EventKey, usize>,
    /// The order that all profiles have, unless it differs.
    order: Option<Vec<EventKey>>,
    has_parts: bool,
    pub(super) commands: BTreeSet<Vec<u8>>,
    pub(super) creators: BTreeSet<Vec<u8>>,
    pub(super) descriptions: BTreeSet<(Vec<u8>, Vec<u8>)>,
    pub(super) definitions: BTreeSet<Definition>,
    /// The positions that the merged lines have.
    pub(super) positions: PositionsHeld,
}

/// The positions that the merged lines have: addresses and basic blocks if all profiles have them, lines if any has.
///
/// Lines are never dropped for addresses, so that the order of merging does not matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PositionsHeld {
    pub(super) address: bool,
    pub(super) basic_block: bool,
    line: bool,
}

impl Default for PositionsHeld {
    /// The value for no profile.
    fn default() -> Self {
        PositionsHeld { address: true, basic_block: true, line: false }
    }
}

impl PositionsHeld {
    fn from_part(part: &Part<'_>) -> Self {
        let has = |kind| part.columns().index(kind).is_some();
        PositionsHeld {
            address: has(PositionKind::Instr),
            basic_block: has(PositionKind::Bb),
            line: has(PositionKind::Line),
        }
    }

    fn and(self, other: Self) -> Self {
        PositionsHeld {
            address: self.address && other.address,
            basic_block: self.basic_block && other.basic_block,
            line: self.line || other.line,
        }
    }

    /// Returns the position columns of the merged profile.
    pub(super) fn kinds(self) -> Vec<PositionKind> {
        let PositionsHeld { address, basic_block, line } = self;
        let all = [(address, PositionKind::Instr), (basic_block, PositionKind::Bb)];
        let mut kinds: Vec<_> = all.into_iter().filter(|(held, _)| *held).map(|(_, kind)| kind).collect();
        if line || kinds.is_empty() {
            kinds.push(PositionKind::Line);
        }
        kinds
    }
}

impl Headers {
    /// Adds the headers of a profile, except those of parts without event types, which have no costs. Returns the column of
    /// each event type of the profile.
    pub(super) fn add(&mut self, profile: &Profile) -> Vec<usize> {
        let key = |event| {
            let event = profile.event(event);
            (event.name.to_vec(), event.repetition)
        };
        let columns: Vec<usize> = profile.events().map(|event| self.column(key(event))).collect();
        for definition in profile.event_definitions() {
            let [formula, long_name] =
                [definition.formula, definition.long_name].map(|text| text.map(<[u8]>::to_vec));
            self.definitions.insert((definition.name.to_vec(), formula, long_name));
        }
        // By input: the columns of its parts that are not merged. They are one run.
        let mut plain: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for part in profile.parts().filter(|part| !part.event_types().is_empty()) {
            self.take_order(part.event_types().iter().map(|&event| key(event)).collect());
            self.positions = self.positions.and(PositionsHeld::from_part(&part));
            let of_part = part.event_types().iter().map(|event| columns[event.index()]);
            match self.take_texts(&part) {
                None => plain.entry(part.input()).or_default().extend(of_part),
                Some(merged) => {
                    self.runs = self.runs.saturating_add(merged.runs);
                    for column in of_part {
                        self.count_runs(column, merged.of_event(&self.events[column]));
                    }
                }
            }
        }
        for events in plain.values() {
            self.runs = self.runs.saturating_add(1);
            events.iter().for_each(|&column| self.count_runs(column, 1));
        }
        columns
    }

    /// Adds to the count of runs that have a column.
    fn count_runs(&mut self, column: usize, runs: u64) {
        self.runs_with[column] = self.runs_with[column].saturating_add(runs);
    }

    /// Adds the headers of another merger. Returns the column of each of its columns.
    pub(super) fn merge(&mut self, other: Headers) -> Vec<usize> {
        let columns: Vec<usize> = other.events.iter().map(|event| self.column(event.clone())).collect();
        for (&column, &runs) in columns.iter().zip(&other.runs_with) {
            self.count_runs(column, runs);
        }
        if other.has_parts {
            match other.order {
                Some(order) => self.take_order(order),
                None => self.order = None,
            }
            self.has_parts = true;
        }
        self.runs = self.runs.saturating_add(other.runs);
        self.positions = self.positions.and(other.positions);
        self.commands.extend(other.commands);
        self.creators.extend(other.creators);
        self.descriptions.extend(other.descriptions);
        self.definitions.extend(other.definitions);
        columns
    }

    fn column(&mut self, key: EventKey) -> usize {
        let next = self.events.len();
        let column = *self.columns.entry(key.clone()).or_insert(next);
        if column == next {
            self.events.push(key);
            self.runs_with.push(0);
        }
        column
    }

    fn take_order(&mut self, order: Vec<EventKey>) {
        if !self.has_parts {
            self.order = Some(order);
            self.has_parts = true;
        } else if self.order.as_ref() != Some(&order) {
            self.order = None;
        }
    }

    /// Adds the texts of a part's header. Returns the runs that it says it was merged from.
    fn take_texts(&mut self, part: &Part<'_>) -> Option<MergedRuns> {
        let is_merged = is_merged(part);
        let is_plural = is_merged && part.descriptions().any(|(kind, _)| kind == COMMAND.as_bytes());
        if let Some(command) = part.command().filter(|_| !is_plural) {
            self.commands.insert(command.to_vec());
        }
        self.creators.extend(creators(part).map(<[u8]>::to_vec));
        let mut merged = MergedRuns::default();
        for (kind, value) in part.descriptions() {
            match std::str::from_utf8(kind).unwrap_or_default() {
                RUNS if is_merged => merged.runs = number(value).unwrap_or_default(),
                EVENT_RUNS if is_merged => merged.take_event(value),
                COMMAND if is_merged => {
                    self.commands.insert(value.to_vec());
                }
                CREATED_BY if is_merged => {}
                _ if DUMP_DESCRIPTIONS.contains(&kind) => {}
                _ => {
                    self.descriptions.insert((kind.to_vec(), value.to_vec()));
                }
            }
        }
        (merged.runs > 0).then_some(merged)
    }

    /// Returns the columns in the order in which they are written: that of all profiles, or else that of Callgrind.
    pub(super) fn in_order(&self) -> Vec<usize> {
        let mut columns: Vec<usize> = match &self.order {
            Some(order) => order.iter().map(|key| self.columns[key]).collect(),
            None => (0..self.events.len()).collect(),
        };
        if self.order.is_none() {
            columns.sort_by_key(|&column| callgrind_order(&self.events[column]));
        }
        columns
    }
}

fn is_merged(part: &Part<'_>) -> bool {
    part.creator().is_some_and(|creator| creator.starts_with(CREATOR.as_bytes()))
}

/// Lists the creators of a part, or of what was merged into it.
///
/// See the example of [`Merger`](super::Merger).
pub fn creators<'p>(part: &Part<'p>) -> impl Iterator<Item = &'p [u8]> + use<'p> {
    let is_merged = is_merged(part);
    let of_merged = part
        .descriptions()
        .filter(move |(kind, _)| is_merged && *kind == CREATED_BY.as_bytes())
        .map(|(_, value)| value);
    part.creator().filter(|_| !is_merged).into_iter().chain(of_merged)
}

fn callgrind_order(key: &EventKey) -> (usize, &EventKey) {
    (CALLGRIND_ORDER.iter().position(|usual| usual.as_bytes() == key.0).unwrap_or(CALLGRIND_ORDER.len()), key)
}

/// Returns the name of an event type in `desc: Merged event:`.
pub(super) fn event_name((name, repetition): &EventKey) -> Vec<u8> {
    let mut text = name.clone();
    if *repetition > 0 {
        text.extend_from_slice(format!(" (column {})", repetition + 1).as_bytes());
    }
    text
}

/// The runs that a merged profile says it was made of.
#[derive(Debug, Default)]
struct MergedRuns {
    runs: u64,
    events: BTreeMap<Vec<u8>, u64>,
}

impl MergedRuns {
    /// `Dr in 2 of 3 runs`
    fn take_event(&mut self, value: &[u8]) {
        let found = value
            .windows(4)
            .rposition(|window| window == b" in ")
            .and_then(|at| Some((value.get(..at)?, value.get(at + 4..)?)));
        let Some((name, rest)) = found else { return };
        let digits = rest.split(|&byte| byte == b' ').next().unwrap_or_default();
        if let Some(runs) = number(digits) {
            self.events.insert(name.to_vec(), runs);
        }
    }

    fn of_event(&self, key: &EventKey) -> u64 {
        self.events.get(&event_name(key)).map_or(self.runs, |runs| (*runs).clamp(1, self.runs))
    }
}

fn number(digits: &[u8]) -> Option<u64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}
