//! The most expensive source lines of the whole program, each with its function.

mod text;

use std::cmp::{Ordering, Reverse};
use std::collections::HashMap;
use std::sync::Arc;

use gristmill_format::Cost;
use gristmill_output::json::{self, Costs, ExactInteger};
use gristmill_output::source::Sources;
use gristmill_profile::source_lines::{KeyedCosts, PartialRow};
use gristmill_profile::{BlockLine, EventId, FileId, FunctionId, Place};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::{FunctionsOptions, SortBy, sort_key};
use crate::amount::add;
use crate::annotate::SourceRemark;
use crate::head::Head;
use crate::line_sources::LineSources;
use crate::line_text::LineText;
use crate::named_function::NamedFunction;
use crate::view::{SubjectId, View, ViewError};

/// A source line with its function, or an instruction if lines are not known. A line that several functions have, such as one of
/// an inlined function, is a row of each. See the example of [`ProgramLines`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LineRow {
    /// The source file, which for inlined code is not that of the function. All lines of a file share its path.
    #[serde(serialize_with = "json::text")]
    #[schemars(
        description = "The source file, which for inlined code is not that of the function.",
        with = "String"
    )]
    pub file: Arc<[u8]>,
    /// The line number; null if it is not known, and then each address is a row.
    #[schemars(range(min = 1))]
    pub line: Option<u64>,
    /// The address of the instruction, if the line is not known.
    pub address: Option<ExactInteger>,
    /// The text of the source line; null if the source was not found, or has no such line.
    #[schemars(with = "Option<String>")]
    pub text: Option<LineText>,
    /// The function that the line is part of.
    pub function: Arc<NamedFunction>,
    /// Self cost.
    #[serde(rename = "self")]
    pub self_costs: Costs,
    /// Self cost and inclusive cost of the calls, without those inside of a recursion.
    pub inclusive: Costs,
}

/// The most expensive source lines of a profile, whatever functions and files they are part of.
///
/// ```
/// use gristmill_profile::Profile;
/// use gristmill_report::{FunctionsOptions, ProgramLines, View, ViewOptions};
///
/// let text = b"events: Ir\nfl=mill.c\nfn=main\n1 10\ncfn=work\ncalls=1 5\n2 32\nfn=work\n5 20\n6 12\n5 1\n";
/// let profile = Profile::from_bytes(text.to_vec());
/// let view = View::new(profile, &ViewOptions::default())?;
/// let lines = ProgramLines::new(&view, &FunctionsOptions { limit: Some(1), ..Default::default() })?;
/// let first = lines.rows().next().expect("a row");
/// assert_eq!((first.line, first.function.name.as_str(), first.self_costs[0]), (Some(5), "work", 21));
/// assert_eq!(lines.matching, 4);
/// # Ok::<(), gristmill_report::ViewError>(())
/// ```
#[derive(Debug, Serialize, JsonSchema)]
pub struct ProgramLines<'v> {
    /// The head of the report.
    #[serde(flatten)]
    pub head: Head,
    /// The count of lines before the limit.
    pub matching: usize,
    /// The lines that are shown, in order.
    #[serde(rename = "lines")]
    #[schemars(with = "Vec<LineRow>")]
    rows: LineRows<'v>,
    /// `true` if only lines of some functions or files are asked for.
    #[serde(skip)]
    is_filtered: bool,
    #[serde(skip)]
    sort: SortBy,
    /// `false` if the lines make no calls; inclusive costs then equal self costs.
    #[serde(skip)]
    has_calls: bool,
    /// The costs that shares are calculated of.
    #[serde(skip)]
    whole: Vec<Cost>,
    /// The name of the function that they belong to, if it is not the total.
    #[serde(skip)]
    relative_to: Option<String>,
}

/// The rows of the report. They are made when they are written, as their names and paths take more memory than their costs.
#[derive(Debug)]
struct LineRows<'v> {
    view: &'v View,
    head: Head,
    sums: LineSums,
    keys: Vec<Key>,
    sources: LineSources,
}

/// A line or an instruction of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Key {
    file: FileId,
    position: Position,
    function: SubjectId,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Position {
    Unknown,
    Line(u64),
    Address(u64),
}

impl Position {
    fn new(place: &Place) -> Self {
        match (place.line.filter(|&line| line > 0), place.address.or(place.basic_block)) {
            (Some(line), _) => Position::Line(line),
            (None, Some(address)) => Position::Address(address),
            (None, None) => Position::Unknown,
        }
    }

    fn line(self) -> Option<u64> {
        if let Position::Line(line) = self { Some(line) } else { None }
    }
}

/// The costs of lines as the profile records them.
#[derive(Debug)]
struct LineSums {
    /// Has each key.
    self_costs: KeyedCosts<Key>,
    /// Inclusive costs of the calls that leave the function and its cycle.
    calls: KeyedCosts<Key>,
}

impl LineSums {
    fn new(width: usize) -> Self {
        LineSums { self_costs: KeyedCosts::new(width), calls: KeyedCosts::new(width) }
    }

    /// Adds up the lines that are taken.
    fn read(view: &View, takes: impl Fn(FunctionId, FileId) -> bool + Sync) -> Self {
        let profile = view.profile();
        let width = profile.event_count();
        let mut sums = LineSums::new(width);
        for part in profile.selected(view.selection()) {
            let events = part.event_types();
            let fold = |sums: &mut LineSums, function, line: BlockLine<'_>| {
                sums.add(view, events, function, line, &takes);
            };
            let read = profile.fold_lines(&part, || LineSums::new(width), fold);
            for more in read {
                sums.self_costs.merge(&more.self_costs);
                sums.calls.merge(&more.calls);
            }
        }
        sums
    }

    fn add(
        &mut self,
        view: &View,
        events: &[EventId],
        function: FunctionId,
        line: BlockLine<'_>,
        takes: &impl Fn(FunctionId, FileId) -> bool,
    ) {
        let (BlockLine::SelfCost { place, .. } | BlockLine::Calls { place, .. }) = line else { return };
        if !takes(function, place.file) {
            return;
        }
        let caller = view.subject_of(function);
        let key = Key { file: place.file, position: Position::new(&place), function: caller };
        match line {
            BlockLine::SelfCost { costs, .. } => {
                self.self_costs.add_line(key, &costs, events);
            }
            BlockLine::Calls { callee, costs, .. } => {
                self.self_costs.add_row(key, PartialRow::EMPTY);
                let callee = view.subject_of(callee);
                if !view.is_cut(caller, callee) && !view.is_inner(caller, callee) {
                    self.calls.add_line(key, &costs, events);
                }
            }
            BlockLine::Jump { .. } => {}
        }
    }

    /// Returns the self costs and the costs with calls, in the event types of the view.
    fn viewed(&self, view: &View, key: Key) -> Result<[Vec<Cost>; 2], ViewError> {
        let width = view.profile().event_count().max(1);
        let shown = |row: PartialRow<'_>| {
            let mut costs = row.or_zero();
            costs.resize(width, 0);
            view.shown_costs(&costs)
        };
        let own = shown(self.self_costs.get(key))?;
        let mut inclusive = own.clone();
        add(&mut inclusive, &shown(self.calls.get(key))?);
        Ok([own, inclusive])
    }
}

impl<'v> ProgramLines<'v> {
    /// Takes the lines from a view, without source text. Of the options, grouping, costs per call and rates have no effect; the
    /// pattern for files selects by the file of a line, those for names and objects by its function.
    ///
    /// # Errors
    ///
    /// [`ViewError::Overflow`] if a derived cost is too large, and [`ViewError::TooManyCosts`] if many event types have a cost
    /// on each of many lines.
    pub fn new(view: &'v View, options: &FunctionsOptions) -> Result<Self, ViewError> {
        let profile = view.profile();
        profile.refuse_wide_lines().map_err(ViewError::TooManyCosts)?;
        let head = Head::new(view);
        let of_functions = FunctionsOptions { file: None, ..options.clone() };
        let is_filtered = options.filter.is_some() || options.object.is_some();
        let taken: Option<Vec<bool>> = is_filtered.then(|| {
            let takes = |id| of_functions.takes(view, id) && options.takes_name(view.subject(id).name());
            view.subject_ids().map(takes).collect()
        });
        let files: Option<Vec<bool>> = options.file.as_ref().map(|pattern| {
            let fits = |file| pattern.is_match(&String::from_utf8_lossy(profile.file(file)));
            profile.files().map(fits).collect()
        });
        let sums = LineSums::read(view, |function, file| {
            taken.as_ref().is_none_or(|taken| taken[view.subject_of(function).index()])
                && files.as_ref().is_none_or(|files| files[file.index()])
        });
        let keys = sorted(view, &sums, options)?;
        Ok(ProgramLines {
            matching: sums.self_costs.keys().len(),
            is_filtered: is_filtered || options.file.is_some(),
            sort: options.sort,
            has_calls: !sums.calls.keys().is_empty(),
            whole: match options.relative_to {
                Some(subject) => view.inclusive_cost(subject).to_vec(),
                None => view.totals().to_vec(),
            },
            relative_to: options.relative_to.map(|subject| view.subject(subject).name().to_owned()),
            rows: LineRows { view, head: head.clone(), sums, keys, sources: LineSources::default() },
            head,
        })
    }

    /// Returns the same report with the source text of the lines that are shown, and with remarks on their files. See the
    /// example of [`Show::with_sources`](crate::Show::with_sources).
    #[must_use]
    pub fn with_sources(mut self, sources: &dyn Sources) -> Self {
        let mut paths = Paths::default();
        let keys = self.rows.keys.iter();
        let lines: Vec<_> =
            keys.map(|key| (paths.get(self.rows.view, key.file), key.position.line())).collect();
        self.rows.sources = LineSources::read(&lines, sources);
        self
    }

    /// The remarks about source files of the lines that are shown, each with the file's path in the profile, safe to show.
    /// Missing files have none.
    pub fn source_remarks(&self) -> impl Iterator<Item = (&str, &SourceRemark)> {
        self.rows.sources.remarks()
    }

    /// Goes through the lines that are shown, in order. Each row is made when it is asked for.
    pub fn rows(&self) -> impl Iterator<Item = LineRow> {
        self.rows.iter()
    }
}

/// A line with its sort key.
type Ranked = (Reverse<(u128, u128)>, Key);

/// Returns the lines that are shown, in order.
fn sorted(view: &View, sums: &LineSums, options: &FunctionsOptions) -> Result<Vec<Key>, ViewError> {
    let profile = view.profile();
    let order = |a: &Ranked, b: &Ranked| -> Ordering {
        let (of_a, of_b) = (&a.1, &b.1);
        // Most lines share a path and a function, which can be long.
        let paths = || match of_a.file == of_b.file {
            true => Ordering::Equal,
            false => profile.file(of_a.file).cmp(profile.file(of_b.file)),
        };
        let name = |key: &Key| view.subject(key.function).name();
        let names = || match of_a.function == of_b.function {
            true => Ordering::Equal,
            false => name(of_a).cmp(name(of_b)),
        };
        let at = |key: &Key| (key.position, key.file);
        a.0.cmp(&b.0)
            .then_with(paths)
            .then_with(|| at(of_a).cmp(&at(of_b)))
            .then_with(names)
            .then_with(|| of_a.cmp(of_b))
    };
    let limit = options.limit.unwrap_or(usize::MAX);
    let mut first: Vec<Ranked> = Vec::new();
    for &key in sums.self_costs.keys() {
        let [own, inclusive] = sums.viewed(view, key)?;
        first.push((sort_key(options.sort, inclusive[0], own[0], 0), key));
        // More than twice as many, so that each of them is looked at only a few times.
        if first.len() > limit.saturating_mul(2).saturating_add(1000) {
            first.select_nth_unstable_by(limit, order);
            first.truncate(limit);
        }
    }
    first.sort_unstable_by(order);
    first.truncate(limit);
    Ok(first.into_iter().map(|(_, key)| key).collect())
}

/// The paths of files, each once.
#[derive(Default)]
struct Paths(HashMap<FileId, Arc<[u8]>>);

impl Paths {
    fn get(&mut self, view: &View, file: FileId) -> Arc<[u8]> {
        Arc::clone(self.0.entry(file).or_insert_with(|| view.profile().file(file).into()))
    }
}

impl LineRows<'_> {
    fn iter(&self) -> impl Iterator<Item = LineRow> {
        let (view, event_types) = (self.view, &self.head.event_types);
        let mut paths = Paths::default();
        let mut functions: HashMap<SubjectId, Arc<NamedFunction>> = HashMap::new();
        self.keys.iter().enumerate().map(move |(nth, &key)| {
            #[expect(clippy::expect_used, reason = "the same costs were calculated to sort the lines")]
            let [own, inclusive] = self.sums.viewed(view, key).expect("costs within their range");
            let named = || Arc::new(NamedFunction::new(view, key.function));
            LineRow {
                file: paths.get(view, key.file),
                line: key.position.line(),
                address: match key.position {
                    Position::Address(address) => Some(ExactInteger(address.into())),
                    _ => None,
                },
                text: self.sources.texts.get(nth).cloned().flatten(),
                function: Arc::clone(functions.entry(key.function).or_insert_with(named)),
                self_costs: Costs::new(event_types, own),
                inclusive: Costs::new(event_types, inclusive),
            }
        })
    }
}

impl Serialize for LineRows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}
