//! What changed between two sides, function by function or group by group, and why.

mod alignment;
mod csv;
mod function;
mod html;
mod json;
mod markdown;
mod notes;
mod sentences;
mod tests;
mod text;

use std::collections::HashMap;
use std::io::{self, Write};

use gristmill_format::Cost;
use gristmill_output::{CostUnit, Look, lossy, printable};
use gristmill_profile::Profile;
use gristmill_profile::compare::{
    Change, ComparedEvent, Comparison, Explanation, JoinedByRule, JoinedId, JoinedPathId, Mention, Presence,
    Side, Unlike,
};
use gristmill_profile::event::known_long_name;
use gristmill_profile::formula::{DefinedBy, Definition};
use gristmill_profile::symbol::Symbol;
use regex::Regex;

use crate::columns::EventColumn;
use crate::functions::SortBy;
use crate::grouping::Grouping;
use crate::head::{self, derivation_notes};
use crate::report::Report;

pub use function::{FunctionDiff, LineDiff};
pub use notes::warning;
pub use sentences::sentence;

/// What to show.
#[derive(Debug, Clone)]
pub struct DiffOptions {
    /// The columns of the comparison to show, in order; the first one decides the order of rows.
    pub columns: Vec<usize>,
    /// What the rows are about. Cycles are not compared: their members change too easily.
    pub grouping: Grouping,
    /// By what the rows are ordered, the greatest change first.
    pub sort: SortBy,
    /// Shows so many rows at most.
    pub limit: Option<usize>,
    /// Leaves out rows that changed by less than so many hundred-thousandths of the total of the base.
    pub min: u32,
    /// Shows only rows whose name fits.
    pub filter: Option<Regex>,
    /// Shows so many causes at most.
    pub causes: Option<usize>,
}

/// A function or a group of them, on both sides. Changes are by shown column.
#[derive(Debug, Clone)]
pub struct DiffRow {
    /// Its name, as the new profile has it, or else the base.
    pub name: String,
    /// Its name in the base, where that is another.
    pub base_name: Option<String>,
    /// Its source file; empty for a group that has none of its own.
    pub file: String,
    /// Its object; empty for a group that has none of its own.
    pub object: String,
    /// On which sides it is.
    pub presence: Presence,
    /// What it cost by itself.
    pub self_costs: Vec<Change>,
    /// What it cost with all that it called.
    pub inclusive: Vec<Change>,
    /// Its inclusive costs may be less: what leaves a group and comes back was counted each time.
    pub is_upper_bound: bool,
    /// How often it was called.
    pub calls: Change,
    /// The function, where it is one.
    pub function: Option<JoinedId>,
}

/// What the rows that are not shown have in common.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rest {
    /// How many rows there are.
    pub rows: usize,
    /// The sum of the changes of their self costs, by shown column.
    pub self_costs: Vec<Cost>,
}

/// What changed.
#[derive(Debug)]
pub struct Diff<'c, 'p> {
    comparison: &'c Comparison<'p>,
    /// The event types that are shown.
    pub events: Vec<EventColumn>,
    columns: Vec<usize>,
    grouping: Grouping,
    is_filtered: bool,
    is_sampled: bool,
    /// What besides the program differs.
    pub environment: Vec<Unlike>,
    doubts: Vec<String>,
    /// Why the first event type changed, those causes that are shown.
    pub causes: Vec<Explanation>,
    /// The other causes.
    pub other_causes: Vec<Explanation>,
    /// The rows that are shown, in order.
    pub rows: Vec<DiffRow>,
    /// The other rows that changed.
    pub rest: Rest,
    /// How many functions or groups there are on both sides together.
    pub all: usize,
    /// Functions that were renamed.
    pub renamed: Vec<JoinedId>,
    /// What was joined by which rule.
    pub joins: Vec<JoinedByRule>,
}

/// Definitions of derived event types for comparing these profiles, the weakest first.
pub fn definitions<'p>(
    profiles: impl IntoIterator<Item = &'p Profile>,
    own: &[Definition],
) -> Vec<Definition> {
    let mut definitions: Vec<Definition> = Vec::new();
    for profile in profiles {
        let more = gristmill_profile::event_choice::definitions(profile, &[]);
        let is_first = definitions.is_empty();
        definitions.extend(more.into_iter().filter(|more| is_first || more.by == DefinedBy::File));
    }
    definitions.extend_from_slice(own);
    definitions
}

/// The columns of a comparison to show: those that are asked for, or else the first recorded one that both sides have,
/// or all of these.
///
/// # Errors
///
/// The name that no event type has, or that one side lacks.
pub fn columns(comparison: &Comparison<'_>, asked: &[String], all: bool) -> Result<Vec<usize>, String> {
    let events = comparison.events();
    if asked.is_empty() {
        let recorded = |column: &usize| events[*column].is_common() && events[*column].definition.is_none();
        let common = (0..events.len()).filter(recorded);
        return Ok(if all { common.collect() } else { common.take(1).collect() });
    }
    let place = |name: &String| {
        let is_it = |event: &ComparedEvent, fits: &dyn Fn(&str, &str) -> bool| {
            event.is_common() && fits(&event_name(event), name)
        };
        events
            .iter()
            .position(|event| is_it(event, &|a, b| a == b))
            .or_else(|| events.iter().position(|event| is_it(event, &str::eq_ignore_ascii_case)))
            .ok_or_else(|| name.clone())
    };
    asked.iter().map(place).collect()
}

/// The name of an event type; a second one of the same name has a number after it.
pub fn event_name(event: &ComparedEvent) -> String {
    gristmill_profile::event_choice::event_name(&event.name, event.repetition)
}

impl<'c, 'p> Diff<'c, 'p> {
    /// Takes the rows from a comparison.
    pub fn new(comparison: &'c Comparison<'p>, options: &DiffOptions) -> Self {
        let leading = options.columns.first().copied().unwrap_or(0);
        let (mut rows, all) = match options.grouping {
            Grouping::Function => (functions(comparison, options), comparison.functions().len()),
            grouping => groups(comparison, options, grouping),
        };
        if let Some(filter) = &options.filter {
            rows.retain(|row| {
                filter.is_match(&row.name) || row.base_name.as_ref().is_some_and(|name| filter.is_match(name))
            });
        }
        let whole = comparison.total(leading).base.median.abs();
        let is_shown = |row: &DiffRow| {
            let first = |changes: &[Change]| changes.first().copied().unwrap_or_default().delta().abs();
            let by = match options.sort {
                SortBy::Inclusive => first(&row.inclusive),
                _ => first(&row.self_costs),
            };
            // Of nothing everything is a large part.
            options.min == 0 || by.saturating_mul(100_000) >= whole.saturating_mul(options.min.into())
        };
        sort(&mut rows, options.sort);
        let mut rest = Rest { rows: 0, self_costs: vec![0; options.columns.len()] };
        let mut shown = Vec::new();
        for row in rows {
            if shown.len() < options.limit.unwrap_or(usize::MAX) && is_shown(&row) {
                shown.push(row);
            } else {
                rest.rows += 1;
                rest.self_costs.iter_mut().zip(&row.self_costs).for_each(|(sum, cost)| *sum += cost.delta());
            }
        }
        let mut causes = if options.grouping == Grouping::Function && options.filter.is_none() {
            comparison.explain(leading).causes
        } else {
            Vec::new()
        };
        let few = options.causes.unwrap_or(usize::MAX).min(causes.len());
        let few = few.min(
            causes.iter().take_while(|cause| options.min == 0 || is_large(cause, whole, options.min)).count(),
        );
        let other_causes = causes.split_off(few);
        Diff {
            events: options.columns.iter().map(|&column| event_column(comparison, column)).collect(),
            columns: options.columns.clone(),
            grouping: options.grouping,
            is_filtered: options.filter.is_some(),
            is_sampled: comparison.is_sampled(),
            environment: comparison.environment(),
            doubts: doubts(comparison, &options.columns),
            causes,
            other_causes,
            rows: shown,
            rest,
            all,
            renamed: comparison
                .functions()
                .filter(|&function| comparison.renamed(function).is_some())
                .collect(),
            joins: comparison.joins(),
            comparison,
        }
    }

    /// How the total of a shown event type changed.
    pub fn total(&self, event: usize) -> Change {
        self.columns.get(event).map_or(Change::default(), |&column| self.comparison.total(column))
    }

    /// By how much the changes of all functions miss that of the total; see [`Comparison::remainder`].
    pub fn remainder(&self, event: usize) -> Cost {
        self.columns.get(event).map_or(0, |&column| self.comparison.remainder(column))
    }

    /// The column of the comparison that decides the order.
    fn leading(&self) -> usize {
        self.columns.first().copied().unwrap_or(0)
    }

    /// A cause in words. Names are made to fit into about so many characters each.
    fn told(&self, cause: &Explanation, name_width: usize) -> String {
        let noise = if cause.is_noise { " (noise)" } else { "" };
        format!("{}{noise}", sentence(self.comparison, cause, self.leading(), name_width))
    }
}

impl Report for Diff<'_, '_> {
    fn write_text(&self, look: &Look, out: &mut dyn Write) -> io::Result<()> {
        text::write(self, look, out)
    }

    fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        json::write(self, out)
    }

    fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        csv::write(self, out)
    }

    fn write_markdown(&self, out: &mut dyn Write) -> io::Result<()> {
        markdown::write(self, out)
    }
}

/// A report that can be a page of its own as well.
#[expect(clippy::missing_errors_doc, reason = "only writing can go wrong")]
pub trait Page: Report {
    /// Writes a page of HTML.
    fn write_html(&self, out: &mut dyn Write) -> io::Result<()>;
}

/// What makes the numbers of these columns doubtful: lines of runs that could not be taken as they stand, and derived event
/// types that lack something. One sentence each; documents for people say it themselves.
pub fn doubts(comparison: &Comparison<'_>, columns: &[usize]) -> Vec<String> {
    let runs = Side::ALL.into_iter().flat_map(|side| comparison.runs(side));
    let doubts =
        runs.filter_map(|run| head::doubts(run).map(|doubts| format!("{}: {doubts}", run_name(run))));
    let mut doubts: Vec<String> = doubts.collect();
    doubts.dedup();
    let names: Vec<String> = columns.iter().map(|&column| event_name(&comparison.events()[column])).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    doubts.extend(derivation_notes(comparison.faults(), &names));
    doubts
}

/// What a run is called: its files.
fn run_name(run: &Profile) -> String {
    run.inputs().iter().map(|input| safe(&input.name)).collect::<Vec<_>>().join(", ")
}

fn is_large(cause: &Explanation, whole: Cost, min: u32) -> bool {
    cause.size().saturating_mul(100_000) >= whole.saturating_mul(min.into())
}

/// An event type of a comparison, as reports show it.
pub(crate) fn event_column(comparison: &Comparison<'_>, column: usize) -> EventColumn {
    let event = &comparison.events()[column];
    let said = match &event.definition {
        Some(definition) => definition.long_name.clone(),
        None => {
            let mut profiles = [Side::New, Side::Base].into_iter().flat_map(|side| comparison.runs(side));
            profiles.find_map(|profile| {
                let mut definitions = profile.event_definitions();
                let of_it = definitions
                    .find(|definition| definition.name == event.name && definition.formula.is_none());
                of_it?.long_name.map(<[u8]>::to_vec)
            })
        }
    };
    EventColumn {
        name: event_name(event),
        unit: CostUnit::parse(&event.name, said.as_deref()),
        long_name: said
            .map(|name| String::from_utf8_lossy(&name).into_owned())
            .or_else(|| known_long_name(&event.name).map(str::to_owned)),
        formula: event.definition.as_ref().map(|definition| definition.formula.to_string()),
    }
}

/// A function's name for people, still with whatever it may hold.
pub fn shown_name(mention: Mention<'_>) -> String {
    Symbol::parse(mention.name).shown()
}

/// The functions that changed, in any column that is shown.
fn functions(comparison: &Comparison<'_>, options: &DiffOptions) -> Vec<DiffRow> {
    let changed = comparison.functions().filter(|&function| {
        let changed = |column: &usize| {
            !comparison.self_cost(function, *column).is_none()
                || !comparison.inclusive(function, *column).is_none()
        };
        options.columns.iter().any(changed) || !comparison.calls(function).is_none()
    });
    changed.map(|function| row(comparison, function, &options.columns)).collect()
}

fn row(comparison: &Comparison<'_>, function: JoinedId, columns: &[usize]) -> DiffRow {
    let mention = comparison.mention(function);
    let name = shown_name(mention);
    let other = comparison.in_base(function).filter(|base| base.name != mention.name);
    DiffRow {
        base_name: other.map(shown_name).filter(|base| *base != name),
        name,
        file: lossy(mention.file),
        object: lossy(mention.object),
        presence: comparison.presence(function),
        self_costs: columns.iter().map(|&column| comparison.self_cost(function, column)).collect(),
        inclusive: columns.iter().map(|&column| comparison.inclusive(function, column)).collect(),
        is_upper_bound: false,
        calls: comparison.calls(function),
        function: Some(function),
    }
}

/// Groups of functions that changed, and how many groups there are.
fn groups(comparison: &Comparison<'_>, options: &DiffOptions, grouping: Grouping) -> (Vec<DiffRow>, usize) {
    let mut names: Vec<String> = Vec::new();
    let mut presences: Vec<[bool; 2]> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut group_of = Vec::new();
    for function in comparison.functions() {
        let name = group_name(comparison, grouping, function);
        let next = names.len();
        let group = *known.entry(name.clone()).or_insert(next);
        if group == next {
            names.push(name);
            presences.push([false; 2]);
        }
        presences[group][0] |= comparison.in_base(function).is_some();
        presences[group][1] |= comparison.in_new(function).is_some();
        group_of.push(group);
    }
    let costs = comparison.grouped(names.len(), |function| group_of[function.index()]);
    let all = names.len();
    let rows = names.into_iter().zip(presences).enumerate().map(|(group, (name, presence))| DiffRow {
        name,
        base_name: None,
        file: String::new(),
        object: String::new(),
        presence: match presence {
            [true, false] => Presence::Vanished,
            [false, true] => Presence::New,
            _ => Presence::Both,
        },
        self_costs: options.columns.iter().map(|&column| costs.self_cost(group, column)).collect(),
        inclusive: options.columns.iter().map(|&column| costs.inclusive(group, column)).collect(),
        is_upper_bound: costs.is_upper_bound(group),
        calls: costs.calls(group),
        function: None,
    });
    let is_changed = |row: &DiffRow| {
        row.self_costs.iter().chain(&row.inclusive).chain([&row.calls]).any(|change| !change.is_none())
    };
    (rows.filter(is_changed).collect(), all)
}

/// What a function has in common with others.
fn group_name(comparison: &Comparison<'_>, grouping: Grouping, function: JoinedId) -> String {
    let mention = comparison.mention(function);
    // What both sides have by another path is shown as the new profile has it.
    let path = |joined: JoinedPathId, otherwise: &[u8]| {
        let [base, new] = comparison.path(joined);
        lossy(new.or(base).unwrap_or(otherwise))
    };
    grouping.group(
        || shown_name(mention),
        || path(comparison.file(function), mention.file),
        || path(comparison.object(function), mention.object),
    )
}

/// The greatest change first; then by name, for a total order.
fn sort(rows: &mut [DiffRow], by: SortBy) {
    let first = |changes: &[Change]| changes.first().copied().unwrap_or_default().delta().abs();
    let change = |row: &DiffRow| {
        let (own, inclusive, calls) =
            (first(&row.self_costs), first(&row.inclusive), row.calls.delta().abs());
        match by {
            SortBy::SelfCost => (own, inclusive),
            SortBy::Inclusive => (inclusive, own),
            SortBy::Calls => (calls, own),
            SortBy::Name => (0, 0),
        }
    };
    fn identity(row: &DiffRow) -> (&str, &str, &str, Option<JoinedId>) {
        (&row.name, &row.file, &row.object, row.function)
    }
    rows.sort_by(|a, b| change(b).cmp(&change(a)).then_with(|| identity(a).cmp(&identity(b))));
}

/// A name that may be shown.
pub(crate) fn safe(name: &str) -> String {
    printable(name.as_bytes()).into_owned()
}
