//! The head of a difference: the members that all its documents begin with.

use std::collections::BTreeSet;

use gristmill_output::json::{ByEvent, EventNames};
use gristmill_output::{CostUnit, Painter, grouped, lossy, printable};
use gristmill_profile::compare::{Comparison, JoinRule, JoinedByRule, Side, Unlike, UnlikeKind};
use schemars::JsonSchema;
use serde::Serialize;

use super::amounts::{own_percent, signed, tone};
use super::column::event_column;
use super::unshown::unshown;
use super::wording::warning;
use crate::damage::DamageRow;

use super::{Delta, doubts, safe};
use crate::columns::EventColumn;

/// The two sides of a difference. See the example of [`Diff`](super::Diff).
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DiffHead {
    /// The event types that are shown, in order: the keys of all costs.
    pub event_types: EventNames,
    /// The same event types with what is known of them.
    pub events: Vec<EventColumn>,
    /// The files of each run of the base.
    pub base_runs: Vec<Vec<String>>,
    /// The files of each run of the new side.
    pub new_runs: Vec<Vec<String>>,
    /// The sums of all self costs.
    pub totals: ByEvent<Delta>,
    /// Differences besides the program, which can make costs incomparable.
    pub environment: Vec<EnvironmentRow>,
    /// The rules that joined functions of both sides.
    pub joined: Vec<JoinRow>,
    /// The directories that both sides were built in.
    pub directories: Vec<DirectoryRow>,
    /// The reasons why the numbers of a side are not those of its recording. Empty if all files are whole.
    pub damage: Vec<DamageRow>,
    /// Sentences about numbers that may be wrong.
    #[serde(skip)]
    pub(super) doubts: Vec<String>,
    /// A sentence about event types that are not shown, if only these changed.
    #[serde(skip)]
    pub(super) unshown: Option<String>,
    /// Sentences about what chance can do.
    #[serde(skip)]
    pub(super) notes: Vec<String>,
    #[serde(skip)]
    pub(super) has_calls: bool,
    /// `true` if calls were not counted but sampled.
    #[serde(skip)]
    pub(super) is_sampled: bool,
}

/// The kind of a difference of environments. See the example of [`Diff`](super::Diff).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EnvironmentKind {
    /// One side lacks event types.
    Events,
    /// The tools differ.
    Producer,
    /// The versions of the tool differ.
    Version,
    /// The commands differ.
    Command,
    /// A description differs, such as that of a cache.
    Description,
    /// The positions of costs differ.
    Positions,
    /// Hardly any function is on both sides.
    Functions,
    /// The functions of one side were separated by their callers; they are folded.
    Callers,
    /// The functions of an object have names on one side only.
    Symbols,
    /// Something else differs.
    Other,
}

/// Something that differs besides the program. See the example of [`Diff`](super::Diff).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EnvironmentRow {
    /// The kind of the difference.
    pub kind: EnvironmentKind,
    /// The values in the base.
    pub base: Vec<String>,
    /// The values in the new side.
    pub new: Vec<String>,
    /// The difference as a sentence.
    pub text: String,
}

impl EnvironmentRow {
    fn new(unlike: Unlike) -> Self {
        let kind = match unlike.kind {
            UnlikeKind::Events => EnvironmentKind::Events,
            UnlikeKind::Producer => EnvironmentKind::Producer,
            UnlikeKind::Version => EnvironmentKind::Version,
            UnlikeKind::Command => EnvironmentKind::Command,
            UnlikeKind::Description(_) => EnvironmentKind::Description,
            UnlikeKind::Positions => EnvironmentKind::Positions,
            UnlikeKind::Functions | UnlikeKind::Part => EnvironmentKind::Functions,
            UnlikeKind::SeparateCallers => EnvironmentKind::Callers,
            UnlikeKind::Symbols(_) => EnvironmentKind::Symbols,
            _ => EnvironmentKind::Other,
        };
        EnvironmentRow { kind, text: warning(&unlike), base: unlike.base, new: unlike.new }
    }
}

/// The functions that a rule joined. See the example of [`Diff`](super::Diff).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct JoinRow {
    /// The rule's name; see `gristmill diff --list-rules`.
    pub rule: &'static str,
    /// The count of functions.
    #[schemars(range(min = 1))]
    pub functions: usize,
    /// The name of one of them in the base.
    pub example_base: Option<String>,
    /// Its name in the new profile.
    pub example_new: Option<String>,
    /// An example of what was joined: names, files, objects or directories.
    #[serde(skip)]
    pub(super) example: Option<String>,
    /// Everything that was joined, if that is asked for.
    #[serde(skip)]
    pub(super) all: Vec<String>,
}

impl JoinRow {
    fn new(comparison: &Comparison<'_>, join: &JoinedByRule) -> Self {
        let (base, new) = (comparison.in_base(join.example), comparison.in_new(join.example));
        let path = |path: &[u8]| match path {
            b"" => "./".to_owned(),
            path => printable(path).into_owned(),
        };
        let checkout = comparison.checkouts().first().filter(|_| join.rule == JoinRule::CheckoutDirectory);
        let example = match (checkout, base, new) {
            (Some(checkout), ..) => Some((path(&checkout.base), path(&checkout.new))),
            (None, Some(base), Some(new)) if base.name != new.name => {
                Some((printable(base.name).into_owned(), printable(new.name).into_owned()))
            }
            (None, Some(base), Some(new)) if base.file != new.file => Some((path(base.file), path(new.file))),
            (None, Some(base), Some(new)) => Some((path(base.object), path(new.object))),
            (None, ..) => None,
        };
        JoinRow {
            rule: join.rule.name(),
            functions: join.functions,
            example_base: base.map(|base| lossy(base.name)),
            example_new: new.map(|new| lossy(new.name)),
            example: example.map(|(base, new)| format!("{base} = {new}")),
            all: Vec::new(),
        }
    }

    /// Lists what the rule joined: names, files, objects or directories, each pair once.
    fn list(&mut self, comparison: &Comparison<'_>) {
        let pair = |base: &[u8], new: &[u8]| format!("{} = {}", printable(base), printable(new));
        let rule = JoinRule::ALL.into_iter().find(|rule| rule.name() == self.rule);
        if rule == Some(JoinRule::CheckoutDirectory) && !comparison.checkouts().is_empty() {
            let or_here = |path: &[u8]| if path.is_empty() { b"./".to_vec() } else { path.to_vec() };
            let checkouts = comparison.checkouts().iter();
            self.all =
                checkouts.map(|checkout| pair(&or_here(&checkout.base), &or_here(&checkout.new))).collect();
            return;
        }
        let joined = comparison.functions().filter_map(|function| {
            let is_joined = rule.is_some_and(|rule| comparison.joined_by(function).has(rule));
            let (base, new) = comparison.in_base(function).zip(comparison.in_new(function))?;
            is_joined.then(|| match rule {
                Some(JoinRule::OtherFile) if base.file != new.file => pair(base.file, new.file),
                Some(JoinRule::OtherObject) if base.object != new.object => pair(base.object, new.object),
                _ if base.name != new.name => pair(base.name, new.name),
                _ if base.file != new.file => pair(base.file, new.file),
                _ => pair(base.object, new.object),
            })
        });
        let mut seen = BTreeSet::new();
        self.all = joined.filter(|pair| seen.insert(pair.clone())).collect();
    }

    /// Returns the rule with its count and example: `checkout-directory 8: /a/mill/ = /b/mill/`.
    pub(super) fn text(&self) -> String {
        let example = self.example.as_ref().map_or(String::new(), |example| format!(": {example}"));
        format!("{} {}{example}", self.rule, grouped(self.functions))
    }
}

/// Directories that both sides were built in. See the example of [`Diff`](super::Diff).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DirectoryRow {
    /// The directory in the base.
    pub base: String,
    /// The directory in the new profile.
    pub new: String,
    /// The count of paths that it joined.
    #[schemars(range(min = 1))]
    pub paths: usize,
}

impl DiffHead {
    /// Describes a comparison by these of its columns.
    pub fn new(comparison: &Comparison<'_>, columns: &[usize]) -> Self {
        let events: Vec<EventColumn> =
            columns.iter().map(|&column| event_column(comparison, column)).collect();
        let names = EventNames::new(events.iter().map(|event| event.name.as_str()));
        let totals: Vec<Delta> = columns.iter().map(|&column| Delta(comparison.total(column))).collect();
        let [base_runs, new_runs] = Side::ALL.map(|side| {
            let files = |profile: &gristmill_profile::Profile| {
                profile.inputs().iter().map(|input| input.name.clone()).collect()
            };
            comparison.runs(side).map(files).collect()
        });
        DiffHead {
            totals: ByEvent::new(&names, totals),
            event_types: names,
            events,
            base_runs,
            new_runs,
            environment: comparison.environment().into_iter().map(EnvironmentRow::new).collect(),
            joined: comparison.joins().iter().map(|join| JoinRow::new(comparison, join)).collect(),
            directories: comparison
                .checkouts()
                .iter()
                .map(|checkout| DirectoryRow {
                    base: lossy(&checkout.base),
                    new: lossy(&checkout.new),
                    paths: checkout.paths,
                })
                .collect(),
            damage: Side::ALL
                .into_iter()
                .flat_map(|side| comparison.runs(side))
                .flat_map(DamageRow::list)
                .collect(),
            doubts: doubts(comparison, columns),
            unshown: unshown(comparison, columns),
            notes: chance_notes(comparison, columns[0]),
            has_calls: comparison.has_calls(),
            is_sampled: comparison.is_sampled(),
        }
    }

    /// Lists all that each rule joined.
    pub(super) fn list_joined(&mut self, comparison: &Comparison<'_>) {
        self.joined.iter_mut().for_each(|join| join.list(comparison));
    }

    /// Returns the names of both sides.
    pub(super) fn title(&self) -> String {
        let side = |runs: &[Vec<String>]| {
            let first = runs.first().map_or(String::new(), |files| run_name(files));
            match runs.len() {
                0 | 1 => first,
                2 => format!("{first} and 1 more run"),
                count => format!("{first} and {} more runs", grouped(count - 1)),
            }
        };
        format!("{} → {}", side(&self.base_runs), side(&self.new_runs))
    }

    /// Goes through the reasons to doubt the numbers.
    pub(super) fn warnings(&self) -> impl Iterator<Item = &str> {
        let others = self.doubts.iter().chain(&self.notes).map(String::as_str);
        self.environment.iter().map(|row| row.text.as_str()).chain(others)
    }

    /// Returns the change of a total as a sentence in which the change has a colour.
    pub(super) fn verdict_in_colour(&self, event: usize, painter: Painter) -> String {
        let (column, total) = (&self.events[event], *self.totals[event]);
        let name = safe(&column.name);
        let noise = if total.is_noise() { ", which is noise: within the spread of the runs" } else { "" };
        if total.is_none() {
            return format!("{name}  {} on both sides", column.unit.show(total.new.median));
        }
        let [base, new] = [total.base, total.new].map(|side| column.unit.show(side.median));
        let tone = tone(total);
        let percent = match own_percent(total) {
            percent if percent.is_empty() => percent,
            percent => format!(" ({})", painter.toned(tone, percent)),
        };
        let delta = painter.toned(tone, signed(total.delta(), column.unit));
        format!("{name}  {base} → {new}{percent}, {delta}{noise}")
    }
}

/// Says what chance can do: times of single runs, and how many functions have disjoint ranges at random.
fn chance_notes(comparison: &Comparison<'_>, column: usize) -> Vec<String> {
    let [base, new] = Side::ALL.map(|side| comparison.runs(side).count());
    let event = event_column(comparison, column);
    let is_time = matches!(event.unit, CostUnit::Picoseconds(_));
    if base.min(new) == 1 {
        let what = match (is_time, comparison.is_sampled()) {
            (true, _) => "times differ",
            (false, true) => "samples differ",
            (false, false) => return Vec::new(),
        };
        let text = format!(
            "{what} from run to run, and a side has a single one: record several of each and compare them with --base \
             and --new"
        );
        return vec![text];
    }
    // Of all orders of the runs, the one with all runs of a side first, and the one with them last.
    let orders =
        (0..base.min(new)).fold(1.0, |orders, nth| orders * (base + new - nth) as f64 / (nth + 1) as f64);
    let differing = comparison.functions().filter(|&function| {
        let cost = comparison.self_cost(function, column);
        cost.base.spread() > 0 || cost.new.spread() > 0
    });
    let expected = differing.count() as f64 * 2.0 / orders;
    if expected < 1.0 {
        return Vec::new();
    }
    vec![format!(
        "with {base} and {new} runs, a function that did not change looks changed at random once in {:.0}: expect about \
         {expected:.0} such functions",
        orders / 2.0
    )]
}

/// Returns the name of a run: its files.
pub(super) fn run_name<T: AsRef<str>>(files: &[T]) -> String {
    files.iter().map(|file| safe(file.as_ref())).collect::<Vec<_>>().join(", ")
}
