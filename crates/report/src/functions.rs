//! The flat profile: functions, or groups of them, each with its costs.

mod filtered_functions;
mod function_order;
mod group_numbers;
mod group_rows;
mod groups;
mod lines;
mod list;
mod list_order;
mod name_index;
mod ordered;
mod path_index;
mod start_up_row;
mod text;
mod text_finder;
mod texts;

use std::borrow::Cow;
use std::cmp::Reverse;
use std::sync::Arc;

use gristmill_format::Cost;
use gristmill_output::json::{Costs, EventNames};
use gristmill_output::lossy;
use regex::Regex;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

pub use self::filtered_functions::FilteredFunctions;
pub use self::group_numbers::group_name;
use self::group_rows::Groups;
pub use self::lines::{LineRow, ProgramLines};
pub use self::list::FunctionList;
pub use self::list_order::ListOrder;
pub use self::name_index::NameIndex;
pub use self::path_index::PathIndex;
use crate::call_count::CallCount;
use crate::grouping::Grouping;
use crate::head::Head;
use crate::pattern::matches_name;
use crate::rates::{Rate, Rates};
use crate::shares::check_rows;
use crate::view::{LeftOut, Subject, SubjectId, View, ViewError};

/// The order of rows. Except for names, the greatest comes first. See the example of [`Functions`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SortBy {
    /// Self cost of the first event type.
    #[default]
    SelfCost,
    /// Inclusive cost of the first event type.
    Inclusive,
    /// Calls.
    Calls,
    /// Name, from a to z.
    Name,
}

impl Rates {
    fn of_function(&self, id: SubjectId, sort: SortBy) -> Vec<Rate> {
        self.of(sort.cost(self.view().self_cost(id), self.view().inclusive_cost(id)))
    }
}

impl SortBy {
    /// Returns the costs that rates are calculated of.
    fn cost<'c>(self, self_costs: &'c [Cost], inclusive: &'c [Cost]) -> &'c [Cost] {
        if self == SortBy::Inclusive { inclusive } else { self_costs }
    }
}

/// The options of [`Functions`], which has an example.
#[derive(Debug, Clone, Default)]
pub struct FunctionsOptions {
    /// The thing that a row stands for.
    pub grouping: Grouping,
    /// The thing that the rows below each group stand for, and their limit: functions, or groups of another kind.
    pub then: Option<(Grouping, usize)>,
    /// The order of rows.
    pub sort: SortBy,
    /// Shows at most this many rows.
    pub limit: Option<usize>,
    /// Shows only rows whose name matches.
    pub filter: Option<Regex>,
    /// Takes only functions whose object's path matches.
    pub object: Option<Regex>,
    /// Takes only functions whose source file's path matches.
    pub file: Option<Regex>,
    /// Calculates shares of the inclusive cost of this function instead of the total.
    pub relative_to: Option<SubjectId>,
    /// Also shows costs per call.
    pub per_call: bool,
    /// Shows the functions above the code of the program as one row of text, if rows are sorted by inclusive cost: those
    /// that start it, `main` and the entries of interpreters, as far as they have no self cost to speak of.
    pub folds_start_up: bool,
    /// Also shows rates of misses, of the costs that rows are sorted by: of self costs, unless it is by inclusive costs.
    pub rates: Option<Rates>,
}

impl FunctionsOptions {
    /// Returns the rates of a function, if they are asked for.
    fn rates_of(&self, id: SubjectId) -> Vec<Rate> {
        self.rates.as_ref().map_or_else(Vec::new, |rates| rates.of_function(id, self.sort))
    }

    /// Returns `true` if the pattern for names takes a function with this name, or if there is no pattern.
    pub fn takes_name(&self, name: &str) -> bool {
        self.filter.as_ref().is_none_or(|filter| matches_name(filter, name))
    }

    /// Returns `true` if neither paths nor estimates leave a function out.
    fn takes_all(&self, view: &View) -> bool {
        self.object.is_none() && self.file.is_none() && !view.has_attribution()
    }

    fn takes(&self, view: &View, id: SubjectId) -> bool {
        let (profile, subject) = (view.profile(), view.subject(id));
        let fits = |pattern: &Regex, name: &[u8]| pattern.is_match(&String::from_utf8_lossy(name));
        view.is_shown(id)
            && self.object.as_ref().is_none_or(|pattern| fits(pattern, profile.object(subject.object)))
            && self.file.as_ref().is_none_or(|pattern| fits(pattern, profile.file(subject.file)))
    }
}

/// Bytes of the name of a row while equal names are looked for, and of its place in the order; measured.
const BYTES_OF_ROW: usize = 400;

/// A function or a group of functions with its costs. See the example of [`Functions`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FunctionRow {
    /// The id of the function, null for a group. It stays the same as long as the files of the profile and the options that
    /// fold functions do.
    pub id: Option<SubjectId>,
    /// The demangled name, or the name of the group.
    pub name: String,
    /// The source file; empty or `???` if it is not known, and for a group.
    pub file: String,
    /// The program or library; empty or `???` if it is not known, and for a group.
    pub object: String,
    /// Self cost.
    #[serde(rename = "self")]
    pub self_costs: Costs,
    /// Inclusive cost.
    pub inclusive: Costs,
    /// `true` if the inclusive cost is an upper limit: its calls add up to more than the total, calls leave a group and come back, or,
    /// with --no-cycles, calls of a recursion count what they have in common more than once.
    #[serde(rename = "inclusive_is_upper_bound", skip_serializing_if = "std::ops::Not::not")]
    pub is_upper_bound: bool,
    /// `true` if the self cost is an estimate: functions are hidden or focused on, and several callers share a cost.
    #[serde(rename = "self_estimated", skip_serializing_if = "std::ops::Not::not")]
    pub is_self_estimate: bool,
    /// `true` if the inclusive cost is an estimate, for the same reason, or as calls leave a group and come back and costs can be below 0.
    #[serde(rename = "inclusive_estimated", skip_serializing_if = "std::ops::Not::not")]
    pub is_inclusive_estimate: bool,
    /// The count of calls, as far as the profile has it.
    #[serde(flatten)]
    pub calls: CallCount,
    /// The number of the cycle that the row is in or stands for, if any.
    pub cycle: Option<usize>,
    /// The most expensive functions or groups of another kind within the group, if they were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub within: Vec<FunctionRow>,
    /// The count of rows within the group that are left out.
    #[serde(skip_serializing_if = "is_zero")]
    pub within_hidden: usize,
    /// Rates of misses, if they were asked for: of the self cost, or of the inclusive cost if rows are sorted by that.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rates: Vec<Rate>,
    /// The end of the recorded name that `name` leaves out.
    #[serde(skip)]
    pub(crate) left_out: LeftOut,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// The functions of a profile, or groups of them, with their costs.
///
/// ```
/// use gristmill_profile::Profile;
/// use gristmill_report::{Functions, FunctionsOptions, Report, SortBy, View, ViewOptions};
///
/// let text = b"events: Ir\nfn=main\n1 10\ncfn=work\ncalls=1 5\n2 32\nfn=work\n5 32\n";
/// let profile = Profile::from_bytes(text.to_vec());
/// let view = View::new(profile, &ViewOptions::default())?;
/// let options = FunctionsOptions { sort: SortBy::SelfCost, limit: Some(1), ..Default::default() };
/// let functions = Functions::new(&view, &options);
/// let first = functions.rows().next().expect("a row");
/// assert_eq!((first.name.as_str(), first.self_costs[0]), ("work", 32));
///
/// let mut json = Vec::new();
/// functions.write_json(&mut json)?;
/// assert!(json.starts_with(b"{\"schema\":1,\n\"event_types\":[\"Ir\"],\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Functions<'v> {
    /// The head of the report.
    #[serde(flatten)]
    pub head: Head,
    /// The count of rows before the limit.
    pub matching: usize,
    /// The rows that are shown, in order.
    #[serde(rename = "functions")]
    #[schemars(with = "Vec<FunctionRow>")]
    rows: FunctionRows<'v>,
    /// Rates of misses of the whole program, if they were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    rates: Vec<Rate>,
    /// The count of rows without filter and limit.
    #[serde(skip)]
    all: usize,
    #[serde(skip)]
    grouping: Grouping,
    #[serde(skip)]
    then: Option<Grouping>,
    #[serde(skip)]
    sort: SortBy,
    /// `true` if rows are left out, as there is no memory for them.
    #[serde(skip)]
    is_cut: bool,
    #[serde(skip)]
    per_call: bool,
    /// `true` if functions that start the program are one row of text.
    #[serde(skip)]
    folds_start_up: bool,
    /// `false` if the rows have no calls; inclusive costs then equal self costs.
    #[serde(skip)]
    has_calls: bool,
    /// The costs that shares are calculated of.
    #[serde(skip)]
    whole: Vec<Cost>,
    /// The name of the function that they belong to, if it is not the total.
    #[serde(skip)]
    relative_to: Option<String>,
}

/// Rows, and their counts before the limit and without any filter.
struct Selected {
    rows: Rows,
    matching: usize,
    all: usize,
}

/// The rows of a report. Most are made when they are written: a profile has millions of functions, and each row has its own texts
/// and costs.
#[derive(Debug, Clone)]
struct FunctionRows<'v> {
    view: &'v View,
    event_types: EventNames,
    rates: Option<Rates>,
    sort: SortBy,
    rows: Rows,
}

#[derive(Debug, Clone)]
enum Rows {
    Functions(Vec<SubjectId>),
    /// By their numbers among all groups.
    Groups(Arc<Groups>, Vec<u32>),
    /// Threads, parts, and groups that have rates or others within them.
    Made(Vec<FunctionRow>),
}

impl FunctionRows<'_> {
    fn len(&self) -> usize {
        match &self.rows {
            Rows::Functions(ids) => ids.len(),
            Rows::Groups(_, numbers) => numbers.len(),
            Rows::Made(rows) => rows.len(),
        }
    }

    fn iter(&self) -> impl Iterator<Item = Cow<'_, FunctionRow>> {
        (0..self.len()).map(|nth| match &self.rows {
            Rows::Functions(ids) => {
                let mut row = FunctionRow::new(self.view, &self.event_types, ids[nth]);
                if let Some(rates) = &self.rates {
                    row.rates = rates.of_function(ids[nth], self.sort);
                }
                Cow::Owned(row)
            }
            Rows::Groups(groups, numbers) => {
                Cow::Owned(groups.row(self.view, &self.event_types, numbers[nth]))
            }
            Rows::Made(rows) => Cow::Borrowed(&rows[nth]),
        })
    }

    /// The rows that can have others within them.
    fn made(&self) -> &[FunctionRow] {
        match &self.rows {
            Rows::Functions(_) | Rows::Groups(..) => &[],
            Rows::Made(rows) => rows,
        }
    }

    /// `true` if an inclusive cost is an estimate as costs that count more than once can be below 0.
    fn has_unlimited(&self) -> bool {
        let is_estimate = || match &self.rows {
            Rows::Functions(ids) => ids.iter().any(|&id| self.view.is_inclusive_estimate(id)),
            Rows::Groups(..) | Rows::Made(_) => self.iter().any(|row| row.is_inclusive_estimate),
        };
        !self.view.has_attribution() && is_estimate()
    }

    fn has_upper_bound(&self) -> bool {
        match &self.rows {
            Rows::Functions(ids) => ids.iter().any(|&id| self.view.is_upper_limit(id)),
            Rows::Groups(..) | Rows::Made(_) => self.iter().any(|row| row.is_upper_bound),
        }
    }

    /// The sum of the self costs of the first event type.
    fn self_cost(&self) -> Cost {
        match &self.rows {
            Rows::Functions(ids) => ids.iter().map(|&id| self.view.self_cost(id)[0]).sum(),
            Rows::Groups(groups, numbers) => {
                numbers.iter().map(|&number| groups.self_costs(self.view, number)[0]).sum()
            }
            Rows::Made(rows) => rows.iter().map(|row| row.self_costs[0]).sum(),
        }
    }
}

impl Serialize for FunctionRows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'v> Functions<'v> {
    /// Refuses rows that would take much more memory than the profile: there can be many parts, and each can have other event types.
    ///
    /// # Errors
    ///
    /// If the costs of all rows take more memory than a report may take.
    pub fn check(view: &View, grouping: Grouping) -> Result<(), ViewError> {
        check_rows(view, grouping)
    }

    /// Takes the rows from a view.
    pub fn new(view: &'v View, options: &FunctionsOptions) -> Self {
        let head = Head::new(view);
        let Selected { mut rows, matching, all } = match options.grouping {
            Grouping::Function => functions(view, options),
            Grouping::Thread | Grouping::Part => groups::sorted_shares(view, &head, options),
            _ => groups::sorted_groups(view, options),
        };
        if options.then.is_some() || options.rates.is_some() {
            rows = groups::made(rows, view, &head, options);
        }
        if let (Some(then), Rows::Made(rows)) = (options.then, &mut rows) {
            groups::fill(rows, view, &head, options, then);
        }
        let rates = options.rates.clone();
        Functions {
            rates: rates.as_ref().map_or_else(Vec::new, |rates| rates.of(rates.view().totals())),
            rows: FunctionRows {
                view,
                event_types: head.event_types.clone(),
                rates,
                sort: options.sort,
                rows,
            },
            head,
            matching,
            all,
            grouping: options.grouping,
            then: options.then.map(|(then, _)| then),
            sort: options.sort,
            is_cut: false,
            per_call: options.per_call,
            folds_start_up: options.folds_start_up
                && options.sort == SortBy::Inclusive
                && options.grouping == Grouping::Function,
            has_calls: view.graph().arcs().len() > 0
                && !matches!(options.grouping, Grouping::Thread | Grouping::Part),
            whole: match options.relative_to {
                Some(subject) => view.inclusive_cost(subject).to_vec(),
                None => view.totals().to_vec(),
            },
            relative_to: options.relative_to.map(|subject| view.subject(subject).name().to_owned()),
        }
    }

    /// Returns the report with as many functions as its text has memory for, if it has more.
    fn cut(&self) -> Option<Functions<'v>> {
        let view = self.rows.view;
        let most = view.profile().rows_of_text(view.graph().width(), BYTES_OF_ROW);
        if self.rows.len() <= most {
            return None;
        }
        let rows = match &self.rows.rows {
            Rows::Functions(ids) => Rows::Functions(ids[..most].to_vec()),
            Rows::Groups(groups, numbers) => Rows::Groups(Arc::clone(groups), numbers[..most].to_vec()),
            Rows::Made(_) => return None,
        };
        let rows = FunctionRows {
            view,
            event_types: self.rows.event_types.clone(),
            rates: self.rows.rates.clone(),
            sort: self.sort,
            rows,
        };
        Some(Functions {
            head: self.head.clone(),
            rates: self.rates.clone(),
            rows,
            is_cut: true,
            whole: self.whole.clone(),
            relative_to: self.relative_to.clone(),
            ..*self
        })
    }

    /// Goes through the rows that are shown, in order. Each row is made when it is asked for.
    pub fn rows(&self) -> impl Iterator<Item = Cow<'_, FunctionRow>> {
        self.rows.iter()
    }
}

/// The key that rows are ordered by, before their names. In a difference, costs below 0 matter as much as those above.
fn sort_key(by: SortBy, inclusive: Cost, self_cost: Cost, calls: Cost) -> Reverse<(u128, u128)> {
    let [inclusive, self_cost, calls] = [inclusive, self_cost, calls].map(Cost::unsigned_abs);
    Reverse(match by {
        SortBy::Inclusive => (inclusive, self_cost),
        SortBy::SelfCost => (self_cost, inclusive),
        SortBy::Calls => (calls, inclusive),
        SortBy::Name => (0, 0),
    })
}

impl FunctionRow {
    /// Makes the row of a group, without costs and calls.
    fn of_group(event_types: &EventNames, name: String) -> Self {
        let none = Costs::new(event_types, vec![0; event_types.iter().len()]);
        FunctionRow {
            id: None,
            name,
            file: String::new(),
            object: String::new(),
            self_costs: none.clone(),
            inclusive: none,
            is_upper_bound: false,
            is_self_estimate: false,
            is_inclusive_estimate: false,
            calls: CallCount::new(0, false),
            cycle: None,
            rates: Vec::new(),
            within: Vec::new(),
            within_hidden: 0,
            left_out: None,
        }
    }

    fn new(view: &View, event_types: &EventNames, id: SubjectId) -> Self {
        let subject = view.subject(id);
        FunctionRow {
            id: Some(id),
            name: subject.name().to_owned(),
            file: lossy(view.profile().file(subject.file)),
            object: lossy(view.profile().object(subject.object)),
            self_costs: Costs::new(event_types, view.self_cost(id)),
            inclusive: Costs::new(event_types, view.inclusive_cost(id)),
            is_upper_bound: view.is_upper_limit(id),
            is_self_estimate: view.is_self_estimate(id),
            is_inclusive_estimate: view.is_inclusive_estimate(id),
            calls: view.calls(id),
            cycle: view.inclusive().cycles().cycle_of(id.node()).map(|cycle| cycle.number()),
            rates: Vec::new(),
            within: Vec::new(),
            within_hidden: 0,
            left_out: subject.left_out(),
        }
    }
}

/// A function with its sort key.
type Ranked = (Reverse<(u128, u128)>, SubjectId);

/// Takes functions. Rows are made when they are written, so only ids are kept.
fn functions(view: &View, options: &FunctionsOptions) -> Selected {
    let all_match = options.filter.is_none() && options.object.is_none() && options.file.is_none();
    let all_match = all_match && !view.has_attribution();
    let matches = |id: SubjectId| options.takes(view, id) && options.takes_name(view.subject(id).name());
    let profile = view.profile();
    let by_name = |a: SubjectId, b: SubjectId| {
        let [a, b] = [a, b].map(|id| view.subject(id));
        let paths = |subject: Subject<'_>| (profile.file(subject.file), profile.object(subject.object));
        a.name().cmp(b.name()).then_with(|| paths(a).cmp(&paths(b)))
    };
    let order =
        |a: &Ranked, b: &Ranked| a.0.cmp(&b.0).then_with(|| by_name(a.1, b.1)).then_with(|| a.1.cmp(&b.1));
    let limit = options.limit.unwrap_or(usize::MAX);
    let mut first: Vec<Ranked> = Vec::new();
    let mut matching = 0;
    for id in view.subject_ids() {
        // To look a subject up takes longer than to compare it.
        if !all_match && !matches(id) {
            continue;
        }
        matching += 1;
        let (all, own) = (view.inclusive_cost(id)[0], view.self_cost(id)[0]);
        first.push((sort_key(options.sort, all, own, view.call_count(id)), id));
        // More than twice as many, so that each of them is looked at only a few times.
        if first.len() > limit.saturating_mul(2).saturating_add(1000) {
            first.select_nth_unstable_by(limit, order);
            first.truncate(limit);
        }
    }
    first.sort_unstable_by(order);
    first.truncate(limit);
    Selected {
        rows: Rows::Functions(first.into_iter().map(|(_, id)| id).collect()),
        matching,
        all: view.subjects().len(),
    }
}
