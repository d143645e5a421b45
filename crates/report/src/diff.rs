//! Differences: the changes between two sides, by function or group, and their causes.

mod alignment;
mod amounts;
mod change;
mod column;
mod condition;
mod csv;
mod function;
mod head;
mod html;
mod markdown;
mod moved;
mod notes;
mod path;
mod rows;
mod selected;
mod sentences;
mod streamed;
mod tests;
mod text;
mod tree;
mod unshown;
mod wording;

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

use gristmill_format::Cost;
use gristmill_output::json::{self, Costs, ExactInteger, exact};
use gristmill_output::{Look, lossy, printable};
use gristmill_profile::Profile;
use gristmill_profile::compare::{
    Change, ComparedEvent, Comparison, Explanation, JoinedId, JoinedPathId, Mention, PresenceCounts, Side,
};
use gristmill_profile::formula::{DefinedBy, Definition};
use gristmill_profile::symbol::Symbol;
use regex::Regex;
use schemars::JsonSchema;
use serde::Serialize;

use crate::damage::DamageRow;
use crate::functions::SortBy;
use crate::grouping::Grouping;
use crate::head::{derivation_notes, doubts as profile_doubts};
use crate::pattern::matches_name;
use crate::report::Report;

use rows::FunctionRefs;
use selected::{Rows, functions, groups};

pub use change::Delta;
pub use function::FunctionDiff;
pub use head::{DiffHead, DirectoryRow, EnvironmentKind, EnvironmentRow, JoinRow};
pub use rows::{
    CallRow, CallerRow, CauseKind, CauseRow, DiffRow, EffectRow, FunctionNames, FunctionRef, LineRow,
    RenameRow, StepRow,
};
pub use sentences::sentence;
pub use streamed::{write_csv, write_json};
pub use tree::{DiffTree, DiffTreeEntry, DiffTreeNode, DiffTreeOptions, MIN_TREE_CHANGE};
pub use wording::warning;

/// Bytes of a row or a cause with its text; measured.
const BYTES_OF_ROW: usize = 2400;
/// The least count of rows, and of causes, that a difference may have.
const MIN_ROWS: usize = 5000;

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
    /// Lists what each rule joined in text; otherwise one line counts them.
    pub show_joined: bool,
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
///     columns: comparison.columns().to_vec(),
///     grouping: Grouping::Function,
///     sort: SortBy::SelfCost,
///     limit: Some(20),
///     min: 0,
///     filter: None,
///     causes: None,
///     show_joined: false,
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
    /// The change of the total less the changes of all functions, or of all groups: 0 unless a side has several runs, as
    /// medians do not add up.
    pub remainder: Costs,
    /// The path of calls with the greatest change of the first event type, from the start of the program to where the change
    /// splits. There is none with `--group` or `--filter`.
    pub path: Vec<StepRow>,
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
    /// The functions that were renamed.
    #[serde(skip)]
    renames: Vec<wording::Rename>,
    /// The count of other joined functions that may be two each.
    #[serde(skip)]
    doubtful: usize,
    /// The files of functions of causes and of the path that others share their names with.
    #[serde(skip)]
    namesakes: BTreeMap<JoinedId, String>,
    #[serde(skip)]
    grouping: Grouping,
    #[serde(skip)]
    is_filtered: bool,
    #[serde(skip)]
    shows_joined: bool,
    /// The presence of the functions that changed.
    #[serde(skip)]
    changed: PresenceCounts,
    /// The smallest change that is shown, in hundred-thousandths.
    #[serde(skip)]
    min: u32,
    #[serde(skip)]
    is_sorted_by_inclusive: bool,
    /// `true` if rows or causes are left out, as there is no memory for them.
    #[serde(skip)]
    is_cut: bool,
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
    /// The count of those whose self cost is the same on both sides.
    #[serde(skip)]
    same_self_cost: usize,
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

/// Returns the name of an event type; a second one of the same name has a number after it.
pub fn event_name(event: &ComparedEvent) -> String {
    gristmill_profile::event_choice::event_name(&event.name, event.repetition)
}

/// A difference whose rows are not made yet: they take much more memory than what they are made of.
struct Draft {
    /// The difference; it has the rows of groups, but no row of a function or cause.
    diff: Diff,
    /// The causes to show, in order.
    causes: Vec<Explanation>,
    /// The functions to show, without an order.
    functions: Vec<JoinedId>,
}

impl Diff {
    /// Makes the rows of a comparison, as many as there is memory for.
    pub fn new(comparison: &Comparison<'_>, options: &DiffOptions) -> Self {
        // Rows and causes have a half each.
        let most = (comparison.bytes_left() / 2 / BYTES_OF_ROW).max(MIN_ROWS);
        let within = |limit: Option<usize>| Some(limit.unwrap_or(most).min(most));
        let limited =
            DiffOptions { limit: within(options.limit), causes: within(options.causes), ..options.clone() };
        let Draft { mut diff, causes, functions } = Diff::draft(comparison, &limited, true);
        let is_cut = |asked: Option<usize>, shown: usize, others: usize| {
            others > 0 && shown == most && asked.is_none_or(|asked| asked > most)
        };
        diff.is_cut = is_cut(options.limit, functions.len().max(diff.rows.len()), diff.rest.rows)
            || is_cut(options.causes, causes.len(), diff.other_causes.count);
        let refs = FunctionRefs::new(comparison);
        // Each explanation is gone when it is a row.
        diff.causes =
            causes.into_iter().map(|cause| CauseRow::new(&refs, &cause, options.leading())).collect();
        let columns = (&diff.head.event_types, &options.columns[..]);
        let row = |function| DiffRow::from_function(comparison, function, columns);
        diff.rows.extend(functions.into_iter().map(row));
        sort(&mut diff.rows, options.sort);
        diff.rows.iter_mut().for_each(|row| row.complete(&refs));
        diff.renames = wording::renames(comparison);
        diff.doubtful = condition::doubtful_count(comparison, options.leading());
        let in_causes = diff.causes.iter().flat_map(|cause| cause.sentence.names().map(|name| name.id));
        let in_path = diff.path.iter().flat_map(StepRow::functions);
        diff.namesakes = namesakes(comparison, in_causes.chain(in_path));
        diff
    }

    /// Finds the functions to show, and the causes if they are wanted.
    fn draft(comparison: &Comparison<'_>, options: &DiffOptions, wants_causes: bool) -> Draft {
        let mut head = DiffHead::new(comparison, &options.columns);
        if options.show_joined {
            head.list_joined(comparison);
        }
        let whole = head.totals[0].base.median;
        let refs = FunctionRefs::new(comparison);
        // Causes come before rows, as the search for them takes as much memory as these.
        // Functions without names have other names on each side: all of them would seem new or vanished.
        let is_named = comparison.nameless_objects().is_empty();
        let is_whole = options.grouping == Grouping::Function && options.filter.is_none();
        let mut causes = if wants_causes && is_whole && is_named {
            comparison.explain(options.leading()).causes
        } else {
            Vec::new()
        };
        let has_causes = !causes.is_empty();
        let mut other_causes = OtherCauses { count: 0, effect: 0 };
        let mut shown = 0;
        causes.retain(|cause| {
            let is_shown =
                shown < options.causes.unwrap_or(usize::MAX) && options.is_large(cause.size(), whole);
            if is_shown {
                shown += 1;
            } else {
                other_causes.count += 1;
                other_causes.effect += cause.effect;
            }
            is_shown
        });
        causes.shrink_to_fit();
        let is_change_large = options.is_large(comparison.total(options.leading()).delta(), whole);
        let path = if has_causes && is_change_large {
            comparison.change_path(options.leading())
        } else {
            Vec::new()
        };
        let (functions, Rows { rows, rest, all, changed, remainders }) = match options.grouping {
            Grouping::Function => functions(comparison, options, &head),
            grouping => (Vec::new(), groups(comparison, options, grouping, &head)),
        };
        let counts = comparison.presence_counts();
        let diff = Diff {
            on_both: counts.both,
            vanished: counts.vanished,
            new: counts.new,
            all,
            remainder: Costs::new(&head.event_types, remainders),
            path: path.into_iter().map(|step| StepRow::new(&refs, step)).collect(),
            causes: Vec::new(),
            other_causes,
            rest,
            rows,
            renames: Vec::new(),
            doubtful: 0,
            namesakes: BTreeMap::new(),
            grouping: options.grouping,
            is_filtered: options.filter.is_some(),
            shows_joined: options.show_joined,
            changed,
            min: options.min,
            is_sorted_by_inclusive: options.sort == SortBy::Inclusive,
            is_cut: false,
            head,
        };
        Draft { diff, causes, functions }
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
        csv::write(self, self.rows.iter(), out)
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
    let of_run = |run: &Profile| {
        let damage = DamageRow::list(run).into_iter().map(|damage| damage.text);
        damage.chain(profile_doubts(run).map(|doubts| format!("{}: {doubts}", name(run)))).collect::<Vec<_>>()
    };
    let mut doubts: Vec<String> = runs.flat_map(of_run).collect();
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

/// `true` if a pattern matches the name of a function on one of the sides.
pub(crate) fn fits(comparison: &Comparison<'_>, filter: &Regex, function: JoinedId) -> bool {
    let has_match = |mention: Mention<'_>| matches_name(filter, &shown_name(mention));
    comparison.in_new(function).is_some_and(has_match) || comparison.in_base(function).is_some_and(has_match)
}

/// Returns the group of a function.
pub fn group_name(comparison: &Comparison<'_>, grouping: Grouping, function: JoinedId) -> String {
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

/// Returns the change that orders rows, and the one that decides between equal ones.
fn sort_key(by: SortBy, own: Change, inclusive: Change, calls: Change) -> (Cost, Cost) {
    let [own, inclusive, calls] = [own, inclusive, calls].map(|change| change.delta().abs());
    match by {
        SortBy::SelfCost => (own, inclusive),
        SortBy::Inclusive => (inclusive, own),
        SortBy::Calls => (calls, own),
        SortBy::Name => (0, 0),
    }
}

/// Returns functions with the keys that order their rows, the greatest change first.
fn keyed(
    comparison: &Comparison<'_>,
    options: &DiffOptions,
    functions: Vec<JoinedId>,
) -> Vec<(Reverse<(Cost, Cost)>, JoinedId)> {
    let column = options.leading();
    let key = |function: JoinedId| {
        let own = comparison.self_cost(function, column);
        sort_key(options.sort, own, comparison.inclusive(function, column), comparison.calls(function))
    };
    functions.into_iter().map(|function| (Reverse(key(function)), function)).collect()
}

/// Sorts rows by the greatest change first; then by name, for a total order.
fn sort(rows: &mut [DiffRow], by: SortBy) {
    let change = |row: &DiffRow| sort_key(by, *row.self_costs[0], *row.inclusive[0], *row.calls);
    fn identity(row: &DiffRow) -> (&str, &str, &str, Option<JoinedId>) {
        (&row.name, &row.file, &row.object, row.id)
    }
    rows.sort_by(|a, b| change(b).cmp(&change(a)).then_with(|| identity(a).cmp(&identity(b))));
}

/// Returns the files of those of the functions that others, of other files, share their names with.
fn namesakes(
    comparison: &Comparison<'_>,
    functions: impl Iterator<Item = JoinedId>,
) -> BTreeMap<JoinedId, String> {
    /// The functions of a name that are mentioned, and the files of all functions of this name.
    #[derive(Default)]
    struct Namesakes {
        mentioned: Vec<JoinedId>,
        file: Option<String>,
        is_in_several_files: bool,
    }

    let mut by_name: HashMap<&[u8], Namesakes> = HashMap::new();
    for function in functions {
        by_name.entry(comparison.mention(function).name).or_default().mentioned.push(function);
    }
    for function in comparison.functions() {
        let mention = comparison.mention(function);
        let Some(namesakes) = by_name.get_mut(mention.name).filter(|it| !it.is_in_several_files) else {
            continue;
        };
        let path = lossy(mention.file);
        let file = crate::path::base(&path);
        match &namesakes.file {
            None => namesakes.file = Some(file.to_owned()),
            Some(first) => namesakes.is_in_several_files = first != file,
        }
    }
    let with_file =
        |function: JoinedId| (function, safe(crate::path::base(&lossy(comparison.mention(function).file))));
    by_name
        .into_values()
        .filter(|namesakes| namesakes.is_in_several_files)
        .flat_map(|namesakes| namesakes.mentioned)
        .map(with_file)
        .collect()
}

/// Returns a name that is safe to show.
fn safe(name: &str) -> String {
    printable(name.as_bytes()).into_owned()
}
