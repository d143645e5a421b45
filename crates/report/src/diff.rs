//! Differences: the changes between two sides, by function or group, and their causes.

mod alignment;
mod amounts;
mod change;
mod csv;
mod function;
mod head;
mod html;
mod markdown;
mod notes;
mod rows;
mod sentences;
mod tests;
mod text;
mod wording;

use std::collections::HashMap;
use std::io::{self, Write};

use gristmill_format::Cost;
use gristmill_output::json::{self, ByEvent, Costs, ExactInteger, exact};
use gristmill_output::{Look, lossy, printable};
use gristmill_profile::Profile;
use gristmill_profile::compare::{
    Change, ComparedEvent, Comparison, JoinedId, JoinedPathId, Mention, Presence, Side,
};
use gristmill_profile::formula::{DefinedBy, Definition};
use gristmill_profile::symbol::Symbol;
use regex::Regex;
use schemars::JsonSchema;
use serde::Serialize;

use crate::functions::SortBy;
use crate::grouping::Grouping;
use crate::head::{derivation_notes, doubts as profile_doubts};
use crate::report::Report;

pub use change::Delta;
pub use function::FunctionDiff;
pub use head::{DiffHead, DirectoryRow, EnvironmentKind, EnvironmentRow, JoinRow};
pub use rows::{
    CallRow, CallerRow, CauseKind, CauseRow, DiffRow, EffectRow, FunctionRef, LineRow, RenameRow,
};
pub use sentences::sentence;
pub use wording::warning;

/// The options of a difference. See the example of [`Diff`].
#[derive(Debug, Clone)]
pub struct DiffOptions {
    /// The columns of the comparison to show, in order; the first one decides the order of rows.
    pub columns: Vec<usize>,
    /// The kind of rows. Cycles are not compared: their members change too easily.
    pub grouping: Grouping,
    /// The order of rows, the greatest change first.
    pub sort: SortBy,
    /// The maximal count of rows.
    pub limit: Option<usize>,
    /// The smallest change to show, in hundred-thousandths of the total of the base.
    pub min: u32,
    /// Shows only rows with a matching name.
    pub filter: Option<Regex>,
    /// The maximal count of causes.
    pub causes: Option<usize>,
}

impl DiffOptions {
    /// The column that decides the order of rows.
    fn leading(&self) -> usize {
        self.columns[0]
    }

    /// Returns `true` if a change is large enough to show. Of nothing, everything is a large share.
    fn is_large(&self, change: Cost, whole: Cost) -> bool {
        self.min == 0 || change.abs().saturating_mul(100_000) >= whole.abs().saturating_mul(self.min.into())
    }
}

/// A difference: the changes from a base to a new profile, and their causes.
///
/// ```
/// use gristmill_profile::Profile;
/// use gristmill_profile::compare::{CompareOptions, Comparison};
/// use gristmill_report::diff::{self, Diff, DiffOptions};
/// use gristmill_report::{Grouping, Report, SortBy};
///
/// let base = Profile::from_bytes(b"events: Ir\nfl=mill.c\nfn=grind\n5 100\n");
/// let new = Profile::from_bytes(b"events: Ir\nfl=mill.c\nfn=grind\n5 130\n");
/// let comparison = Comparison::new(&[&base], &[&new], &CompareOptions::default())?;
/// let options = DiffOptions {
///     columns: diff::columns(&comparison, &[], false)?,
///     grouping: Grouping::Function,
///     sort: SortBy::SelfCost,
///     limit: Some(20),
///     min: 0,
///     filter: None,
///     causes: None,
/// };
/// let diff = Diff::new(&comparison, &options);
/// assert_eq!(diff.rows[0].name, "grind");
/// assert_eq!(diff.rows[0].self_costs[0].delta(), 30);
/// assert_eq!(diff.causes[0].text, "grind costs more by itself: 100 → 130 (+30.00%)");
/// let mut json = Vec::new();
/// diff.write_json(&mut json)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Diff {
    /// The two sides.
    #[serde(flatten)]
    pub head: DiffHead,
    /// The count of functions that are on both sides.
    pub on_both: usize,
    /// The count of functions that are in the base only.
    pub vanished: usize,
    /// The count of functions that are in the new profile only.
    pub new: usize,
    /// The count of all functions, or of all groups.
    pub all: usize,
    /// The change of the total less the changes of all functions: 0 unless a side has several runs, as medians do not
    /// add up.
    pub remainder: Costs,
    /// The causes of the change of the first event type. Their effects, those of `other_causes` and `remainder` add up to
    /// the change of the total. There is none with `--group` or `--filter`.
    pub causes: Vec<CauseRow>,
    /// The causes that are not shown.
    pub other_causes: OtherCauses,
    /// The rows that changed and are not shown.
    pub rest: Rest,
    /// The rows that are shown, in order. The changes of their self costs, those of `rest` and `remainder` add up to the
    /// change of the total.
    #[serde(rename = "functions")]
    pub rows: Vec<DiffRow>,
    /// A sentence for each function that was renamed.
    #[serde(skip)]
    renames: Vec<String>,
    #[serde(skip)]
    grouping: Grouping,
    #[serde(skip)]
    is_filtered: bool,
}

/// The causes that are not shown. See the example of [`Diff`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OtherCauses {
    /// Their count.
    #[serde(rename = "number")]
    pub count: usize,
    /// The sum of their effects.
    #[serde(serialize_with = "exact")]
    #[schemars(with = "ExactInteger")]
    pub effect: i128,
}

/// The rows that changed and are not shown. See the example of [`Diff`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Rest {
    /// Their count.
    #[serde(rename = "functions")]
    pub rows: usize,
    /// The sum of the changes of their self costs.
    #[serde(rename = "self")]
    pub self_costs: Costs,
}

/// Collects definitions of derived event types from profiles to compare, the weakest first.
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

/// Chooses the columns of a comparison to show: those that are asked for, or else the first recorded one that both sides
/// have, or all of these.
///
/// # Errors
///
/// The name of an event type that does not exist, or that one side lacks.
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

/// Returns the name of an event type; a second one of the same name has a number after it.
pub fn event_name(event: &ComparedEvent) -> String {
    gristmill_profile::event_choice::event_name(&event.name, event.repetition)
}

impl Diff {
    /// Makes the rows of a comparison.
    pub fn new(comparison: &Comparison<'_>, options: &DiffOptions) -> Self {
        let head = DiffHead::new(comparison, &options.columns);
        let (mut rows, all) = match options.grouping {
            Grouping::Function => (functions(comparison, options, &head), comparison.functions().len()),
            grouping => groups(comparison, options, grouping, &head),
        };
        if let Some(filter) = &options.filter {
            rows.retain(|row| {
                filter.is_match(&row.name) || row.base_name.as_ref().is_some_and(|name| filter.is_match(name))
            });
        }
        sort(&mut rows, options.sort);
        let whole = head.totals[0].base.median;
        let is_large = |row: &DiffRow| {
            let change = match options.sort {
                SortBy::Inclusive => row.inclusive[0],
                _ => row.self_costs[0],
            };
            options.is_large(change.delta(), whole)
        };
        let mut shown = Vec::new();
        let (mut rest, mut rest_costs) = (0, vec![0; options.columns.len()]);
        for row in rows {
            if shown.len() < options.limit.unwrap_or(usize::MAX) && is_large(&row) {
                shown.push(row.complete(comparison));
            } else {
                rest += 1;
                rest_costs.iter_mut().zip(&*row.self_costs).for_each(|(sum, cost)| *sum += cost.delta());
            }
        }
        let explanations = if options.grouping == Grouping::Function && options.filter.is_none() {
            comparison.explain(options.leading()).causes
        } else {
            Vec::new()
        };
        let large = explanations.iter().take_while(|cause| options.is_large(cause.size(), whole)).count();
        let (causes, others) = explanations.split_at(large.min(options.causes.unwrap_or(usize::MAX)));
        let counts = comparison.presence_counts();
        let remainders: Vec<Cost> =
            options.columns.iter().map(|&column| comparison.remainder(column)).collect();
        Diff {
            on_both: counts.both,
            vanished: counts.vanished,
            new: counts.new,
            all,
            remainder: Costs::new(&head.event_types, remainders),
            causes: causes.iter().map(|cause| CauseRow::new(comparison, cause, options.leading())).collect(),
            other_causes: OtherCauses {
                count: others.len(),
                effect: others.iter().map(|cause| cause.effect).sum(),
            },
            rest: Rest { rows: rest, self_costs: Costs::new(&head.event_types, rest_costs) },
            rows: shown,
            renames: wording::renames(comparison),
            grouping: options.grouping,
            is_filtered: options.filter.is_some(),
            head,
        }
    }
}

impl Report for Diff {
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

/// A report that can also be an HTML page. See the example of [`Diff`].
#[expect(clippy::missing_errors_doc, reason = "only writing can go wrong")]
pub trait Page: Report {
    /// Writes an HTML page.
    fn write_html(&self, out: &mut dyn Write) -> io::Result<()>;
}

/// Lists the reasons to doubt the numbers of these columns: lines of runs that were not read, and derived event types
/// that lack something. One sentence each; documents for people contain them.
pub fn doubts(comparison: &Comparison<'_>, columns: &[usize]) -> Vec<String> {
    let runs = Side::ALL.into_iter().flat_map(|side| comparison.runs(side));
    let name =
        |run: &Profile| head::run_name(&run.inputs().iter().map(|input| &*input.name).collect::<Vec<_>>());
    let doubts = runs.filter_map(|run| profile_doubts(run).map(|doubts| format!("{}: {doubts}", name(run))));
    let mut doubts: Vec<String> = doubts.collect();
    doubts.dedup();
    let names: Vec<String> = columns.iter().map(|&column| event_name(&comparison.events()[column])).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    doubts.extend(derivation_notes(comparison.faults(), &names));
    doubts
}

/// Returns a function's name for people, control characters included.
pub fn shown_name(mention: Mention<'_>) -> String {
    Symbol::parse(mention.name).shown()
}

/// Makes a row for each function that changed in a shown column.
fn functions(comparison: &Comparison<'_>, options: &DiffOptions, head: &DiffHead) -> Vec<DiffRow> {
    let changed = comparison.functions().filter(|&function| {
        let changed = |column: &usize| {
            !comparison.self_cost(function, *column).is_none()
                || !comparison.inclusive(function, *column).is_none()
        };
        options.columns.iter().any(changed) || !comparison.calls(function).is_none()
    });
    let columns = (&head.event_types, &options.columns[..]);
    changed.map(|function| DiffRow::from_function(comparison, function, columns)).collect()
}

/// Makes a row for each group of functions that changed. Returns them with the count of all groups.
fn groups(
    comparison: &Comparison<'_>,
    options: &DiffOptions,
    grouping: Grouping,
    head: &DiffHead,
) -> (Vec<DiffRow>, usize) {
    let mut names: Vec<String> = Vec::new();
    let mut sides: Vec<[bool; 2]> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut group_of = Vec::new();
    for function in comparison.functions() {
        let name = group_name(comparison, grouping, function);
        let next = names.len();
        let group = *known.entry(name.clone()).or_insert(next);
        if group == next {
            names.push(name);
            sides.push([false; 2]);
        }
        sides[group][0] |= comparison.in_base(function).is_some();
        sides[group][1] |= comparison.in_new(function).is_some();
        group_of.push(group);
    }
    let costs = comparison.grouped(names.len(), |function| group_of[function.index()]);
    let all = names.len();
    let deltas = |change: &dyn Fn(usize) -> Change| {
        let deltas = options.columns.iter().map(|&column| Delta(change(column)));
        ByEvent::new(&head.event_types, deltas.collect::<Vec<_>>())
    };
    let rows = names.into_iter().zip(sides).enumerate().map(|(group, (name, sides))| DiffRow {
        id: None,
        name,
        base_name: None,
        file: String::new(),
        object: String::new(),
        presence: match sides {
            [true, false] => Presence::Vanished,
            [false, true] => Presence::New,
            _ => Presence::Both,
        },
        self_costs: deltas(&|column| costs.self_cost(group, column)),
        inclusive: deltas(&|column| costs.inclusive(group, column)),
        is_upper_bound: costs.is_upper_bound(group),
        calls: Delta(costs.calls(group)),
        callers: Vec::new(),
        joined_by: Vec::new(),
        renamed: None,
    });
    let is_changed = |row: &DiffRow| {
        row.self_costs.iter().chain(&*row.inclusive).chain([&row.calls]).any(|change| !change.is_none())
    };
    (rows.filter(is_changed).collect(), all)
}

/// Returns the group of a function.
fn group_name(comparison: &Comparison<'_>, grouping: Grouping, function: JoinedId) -> String {
    let mention = comparison.mention(function);
    // A joined path is shown as the new profile has it.
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

/// Sorts rows by the greatest change first; then by name, for a total order.
fn sort(rows: &mut [DiffRow], by: SortBy) {
    let change = |row: &DiffRow| {
        let [own, inclusive, calls] =
            [row.self_costs[0], row.inclusive[0], row.calls].map(|change| change.delta().abs());
        match by {
            SortBy::SelfCost => (own, inclusive),
            SortBy::Inclusive => (inclusive, own),
            SortBy::Calls => (calls, own),
            SortBy::Name => (0, 0),
        }
    };
    fn identity(row: &DiffRow) -> (&str, &str, &str, Option<JoinedId>) {
        (&row.name, &row.file, &row.object, row.id)
    }
    rows.sort_by(|a, b| change(b).cmp(&change(a)).then_with(|| identity(a).cmp(&identity(b))));
}

/// Returns a name that is safe to show.
fn safe(name: &str) -> String {
    printable(name.as_bytes()).into_owned()
}
