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
pub(super) const CALL_RUNS: &str = "Merged calls";
pub(super) const INCLUSIVE_RUNS: &str = "Merged inclusive costs";
pub(super) const COMMAND: &str = "Merged command";
pub(super) const CREATED_BY: &str = "Merged creator";

/// The kind of description that says which file a part was in.
pub(super) const PART_OF: &str = "Part of";

/// Kinds of descriptions of one dump, which say nothing about a sum of several.
const DUMP_DESCRIPTIONS: [&[u8]; 3] = [b"Trigger", b"Timerange", PART_OF.as_bytes()];

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
    /// The count of runs that have calls, and by column that of runs that have both.
    pub(super) call_runs: u64,
    pub(super) call_runs_with: Vec<u64>,
    /// The profile that was added last has calls.
    pub(super) last_has_calls: bool,
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
        let mut with_calls: BTreeSet<usize> = BTreeSet::new();
        for part in profile.parts().filter(|part| !part.event_types().is_empty()) {
            let has_calls = measures_calls(profile, &part);
            if has_calls {
                with_calls.insert(part.input());
            }
            self.take_order(part.event_types().iter().map(|&event| key(event)).collect());
            self.positions = self.positions.and(PositionsHeld::from_part(&part));
            let of_part = part.event_types().iter().map(|event| columns[event.index()]);
            match self.take_texts(&part) {
                None => plain.entry(part.input()).or_default().extend(of_part),
                Some(merged) => {
                    self.runs = self.runs.saturating_add(merged.runs);
                    let default = if has_calls { merged.runs } else { 0 };
                    let call_runs = merged.call_runs.unwrap_or(default);
                    self.call_runs = self.call_runs.saturating_add(call_runs);
                    for column in of_part {
                        let key = &self.events[column];
                        let (runs, calls) = (merged.of_event(key), merged.inclusive_of_event(key));
                        self.count_runs(column, runs);
                        self.count_call_runs(column, calls.min(call_runs));
                    }
                }
            }
        }
        for (input, events) in &plain {
            self.runs = self.runs.saturating_add(1);
            events.iter().for_each(|&column| self.count_runs(column, 1));
            if with_calls.contains(input) {
                self.call_runs = self.call_runs.saturating_add(1);
                events.iter().for_each(|&column| self.count_call_runs(column, 1));
            }
        }
        self.last_has_calls = !with_calls.is_empty();
        columns
    }

    fn count_call_runs(&mut self, column: usize, runs: u64) {
        self.call_runs_with[column] = self.call_runs_with[column].saturating_add(runs);
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
        for (&column, &runs) in columns.iter().zip(&other.call_runs_with) {
            self.count_call_runs(column, runs);
        }
        self.call_runs = self.call_runs.saturating_add(other.call_runs);
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
            self.call_runs_with.push(0);
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
                EVENT_RUNS if is_merged => merged.events.extend(event_runs(value)),
                INCLUSIVE_RUNS if is_merged => merged.inclusive.extend(event_runs(value)),
                CALL_RUNS if is_merged => {
                    let digits = value.split(|&byte| byte == b' ').next().unwrap_or_default();
                    merged.call_runs = number(digits);
                }
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

/// Returns `true` if calls were recorded: there are some, or Callgrind found none.
fn measures_calls(profile: &Profile, part: &Part<'_>) -> bool {
    let mut has_arcs = false;
    profile.each_arc(part, |_, _| has_arcs = true);
    let mut creators = creators(part).peekable();
    has_arcs || creators.peek().is_some() && creators.all(is_of_callgrind)
}

fn is_of_callgrind(creator: &[u8]) -> bool {
    creator.starts_with(b"callgrind-") || creator.starts_with(b"gristmill-engine-")
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

/// Lists the event types that only some of the runs have that were merged into a part.
///
/// See the example of [`Merger`](super::Merger).
pub fn partly_recorded<'p>(part: &Part<'p>) -> impl Iterator<Item = Vec<u8>> + use<'p> {
    let is_merged = is_merged(part);
    part.descriptions()
        .filter(move |(kind, _)| is_merged && *kind == EVENT_RUNS.as_bytes())
        .filter_map(|(_, value)| Some(event_runs(value)?.0))
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
    call_runs: Option<u64>,
    inclusive: BTreeMap<Vec<u8>, u64>,
}

impl MergedRuns {
    fn of_event(&self, key: &EventKey) -> u64 {
        self.events.get(&event_name(key)).map_or(self.runs, |runs| (*runs).clamp(1, self.runs))
    }

    fn inclusive_of_event(&self, key: &EventKey) -> u64 {
        let of_event = self.of_event(key);
        self.inclusive.get(&event_name(key)).map_or(of_event, |runs| (*runs).min(of_event))
    }
}

/// `Dr in 2 of 3 runs`
fn event_runs(value: &[u8]) -> Option<(Vec<u8>, u64)> {
    let at = value.windows(4).rposition(|window| window == b" in ")?;
    let digits = value.get(at + 4..)?.split(|&byte| byte == b' ').next()?;
    Some((value[..at].to_vec(), number(digits)?))
}

fn number(digits: &[u8]) -> Option<u64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}
