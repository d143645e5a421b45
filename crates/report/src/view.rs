//! What of a profile is looked at, and how: parts, event types, folding, cuts, and the rule for inclusive costs.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::fmt;

use gristmill_format::Cost;
use gristmill_profile::analysis::{Arc, CallGraph, Cycles, Inclusive, KCachegrind};
use gristmill_profile::event::{CostUnit, known_long_name};
use gristmill_profile::formula::{
    DefinedBy, Definition, DerivationFault, Derived, Formula, derive, well_known,
};
use gristmill_profile::symbol::{Symbol, fold_callers, fold_recursion};
use gristmill_profile::{CostTable, FileId, Function, FunctionId, MOST_CELLS, ObjectId, Profile, Selection};
use regex::Regex;

use crate::printable::lossy;

#[cfg(test)]
mod tests;

/// How inclusive costs are reckoned. See `gristmill_profile::analysis` for what each of them means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Rule {
    /// Self cost plus outgoing calls, cycles as one, nothing above the total.
    #[default]
    Own,
    /// As KCachegrind shows them.
    KCachegrind,
    /// As callgrind_annotate shows them.
    Annotate,
}

/// Calls that are taken out before anything is reckoned: from functions whose name fits to others whose name fits.
#[derive(Debug, Clone)]
pub struct Cut {
    /// Fits the name of the caller.
    pub caller: Regex,
    /// Fits the name of the callee.
    pub callee: Regex,
}

/// What to look at.
#[derive(Debug, Clone)]
pub struct ViewOptions {
    /// The parts.
    pub selection: Selection,
    /// The event types to show, by name; the first one decides the order. All recorded ones when empty.
    pub events: Vec<String>,
    /// Derived event types of the user's own.
    pub derive: Vec<Definition>,
    /// How inclusive costs are reckoned.
    pub rule: Rule,
    /// Whether functions that call each other in a circle are taken as one.
    pub cycles: bool,
    /// Whether all levels of a recursion are one function.
    pub fold_recursion: bool,
    /// Whether functions that differ only in their recorded callers are one.
    pub fold_callers: bool,
    /// Calls to take out.
    pub cuts: Vec<Cut>,
    /// Takes out calls that cost less than this share, in thousandths, of the dearest calls to the same function: by the
    /// first event type to show, without signs.
    pub cut_below: u32,
}

impl Default for ViewOptions {
    fn default() -> Self {
        ViewOptions {
            selection: Selection::default(),
            events: Vec::new(),
            derive: Vec::new(),
            rule: Rule::default(),
            cycles: true,
            fold_recursion: false,
            fold_callers: false,
            cuts: Vec::new(),
            cut_below: 0,
        }
    }
}

/// An event type, recorded or derived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventColumn {
    /// Its name; a second one of the same name has a number after it.
    pub name: String,
    /// Its name for people, if there is one.
    pub long_name: Option<String>,
    /// What one of it is.
    pub unit: CostUnit,
    /// How it is derived, if it is.
    pub formula: Option<String>,
}

/// What is looked at as one function: a function of the profile, or several that were folded into one.
#[derive(Debug, Clone)]
pub struct Subject<'p> {
    recorded: Cow<'p, [u8]>,
    /// Most names are never shown, and taking one apart is slower than loading it was.
    name: OnceCell<String>,
    /// Its source file.
    pub file: FileId,
    /// Its object.
    pub object: ObjectId,
}

impl Subject<'_> {
    /// Its name, demangled. It may hold anything; see [`printable`](crate::printable).
    pub fn name(&self) -> &str {
        self.name.get_or_init(|| Symbol::parse(&self.recorded).shown())
    }
}

/// Why a profile cannot be looked at in this way.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ViewError {
    /// There is no such event type.
    UnknownEvent {
        /// What was asked for.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// No part fits the selection.
    NothingSelected,
    /// A derived cost is larger than any number that costs are reckoned with.
    Overflow,
    /// There are so many event types and functions that their costs would take much more memory than the profile.
    TooManyColumns,
}

impl fmt::Display for ViewError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ViewError::UnknownEvent { name, .. } => write!(f, "there is no event type `{name}`"),
            ViewError::NothingSelected => f.write_str("no part of the profile is selected"),
            ViewError::Overflow => f.write_str("a derived cost is too large to be reckoned with"),
            ViewError::TooManyColumns => {
                f.write_str("the profile has too many event types for as many functions")
            }
        }
    }
}

impl std::error::Error for ViewError {}

/// A profile as it is looked at: its subjects with their costs, and who calls whom. Subjects are known by
/// [`FunctionId`]s of the view's own graph.
#[derive(Debug)]
pub struct View<'p> {
    profile: &'p Profile,
    selection: Selection,
    columns: Vec<EventColumn>,
    /// What the last columns are derived of.
    derived: Vec<Derived>,
    shown: Vec<usize>,
    subjects: Vec<Subject<'p>>,
    /// Nothing is folded, and each function is its own subject, where this is empty.
    subject_of: Vec<FunctionId>,
    graph: CallGraph,
    inclusive: Inclusive,
    totals: Vec<Cost>,
    cut_arcs: usize,
    faults: Vec<DerivationFault>,
}

impl<'p> View<'p> {
    /// Looks at a profile.
    ///
    /// # Errors
    ///
    /// When there is nothing to see, or an event type that was asked for is not there.
    pub fn new(profile: &'p Profile, options: &ViewOptions) -> Result<Self, ViewError> {
        if profile.selected(&options.selection).next().is_none() && !options.selection.is_all() {
            return Err(ViewError::NothingSelected);
        }
        if profile.function_count().saturating_mul(profile.event_count()) > MOST_CELLS {
            return Err(ViewError::TooManyColumns);
        }
        let (subjects, subject_of) = subjects(profile, options);
        let mut columns = recorded(profile);
        let names: Vec<&[u8]> = columns.iter().map(|column| column.name.as_bytes()).collect();
        let mut derivation = derive(&names, &definitions(profile, &options.derive));
        // Of a profile that has instructions only, the estimate of cycles is no more than these.
        let is_copy = |derived: &Derived| matches!(derived.factors[..], [(_, 1)]);
        derivation
            .derived
            .retain(|derived| derived.definition.by != DefinedBy::Convention || !is_copy(derived));
        columns.extend(derivation.derived.iter().map(|derived| EventColumn {
            name: lossy(&derived.definition.name),
            long_name: derived.definition.long_name.as_deref().map(lossy),
            unit: CostUnit::of(&derived.definition.name, derived.definition.long_name.as_deref()),
            formula: Some(derived.definition.formula.to_string()),
        }));
        let recorded = columns.len() - derivation.derived.len();
        let shown = chosen(&columns, recorded, &options.events)?;

        let of = |function: FunctionId| subject_of.get(function.index()).copied().unwrap_or(function);
        let graph = graph_of(profile, &options.selection, &subjects, &subject_of);
        let leading = shown.first().copied().unwrap_or(0);
        let cut = arcs_to_cut(&graph, &subjects, options, leading, &derivation.derived);
        let cut_arcs = cut.len();
        let graph = if cut_arcs > 0 { graph.without(|_, arc| cut.contains(&ends(arc))) } else { graph };
        let graph = if derivation.derived.is_empty() {
            graph
        } else {
            graph.with_derived(&derivation.derived).map_err(|_| ViewError::Overflow)?
        };

        let inclusive = match options.rule {
            Rule::Own => Inclusive::own(&graph, cycles_of(&graph, options)),
            Rule::Annotate => Inclusive::annotate(&graph),
            // Its sums go by parts, so the graph of all parts is not enough; and its cycles are those of all parts,
            // selected or not.
            Rule::KCachegrind => {
                let cycles = if options.selection.is_all() {
                    cycles_of(&graph, options)
                } else {
                    let all = graph_of(profile, &Selection::default(), &subjects, &subject_of);
                    // What is cut where one looks holds nothing together either, however dear it is elsewhere.
                    let cut_of_all = arcs_to_cut(&all, &subjects, options, leading, &derivation.derived);
                    let is_cut = |arc: &Arc| cut.contains(&ends(arc)) || cut_of_all.contains(&ends(arc));
                    let is_whole = cut.is_empty() && cut_of_all.is_empty();
                    let all = if is_whole { all } else { all.without(|_, arc| is_cut(arc)) };
                    cycles_of(&all, options)
                };
                let derived = &derivation.derived;
                part_by_part(profile, &options.selection, &graph, of, &cut, cycles, derived)?
            }
        };
        let totals = graph.total();
        Ok(View {
            profile,
            selection: options.selection.clone(),
            columns,
            shown,
            subjects,
            subject_of,
            graph,
            inclusive,
            totals,
            cut_arcs,
            derived: derivation.derived,
            faults: derivation.faults,
        })
    }

    /// The profile.
    pub fn profile(&self) -> &'p Profile {
        self.profile
    }

    /// The parts that are looked at.
    pub fn selection(&self) -> &Selection {
        &self.selection
    }

    /// All event types, recorded ones first: the columns of all costs.
    pub fn columns(&self) -> &[EventColumn] {
        &self.columns
    }

    /// The columns to show, in order. There is always one.
    pub fn shown(&self) -> &[usize] {
        &self.shown
    }

    /// The first of them: the one that decides the order.
    pub fn leading(&self) -> usize {
        self.shown.first().copied().unwrap_or(0)
    }

    /// The event types to show, in order.
    pub fn shown_events(&self) -> impl Iterator<Item = &EventColumn> {
        self.shown.iter().map(|&column| &self.columns[column])
    }

    /// How a column is derived; none for one that was recorded.
    pub(crate) fn derived(&self, column: usize) -> Option<&Derived> {
        column.checked_sub(self.columns.len() - self.derived.len()).and_then(|nth| self.derived.get(nth))
    }

    /// Who calls whom, cuts made.
    pub fn graph(&self) -> &CallGraph {
        &self.graph
    }

    /// The inclusive costs.
    pub fn inclusive(&self) -> &Inclusive {
        &self.inclusive
    }

    /// The sum of all self costs, by column.
    pub fn totals(&self) -> &[Cost] {
        &self.totals
    }

    /// What is looked at as one function.
    pub fn subjects(&self) -> impl ExactSizeIterator<Item = (FunctionId, &Subject<'p>)> {
        self.subjects.iter().enumerate().map(|(index, subject)| (FunctionId::new(index), subject))
    }

    /// One of them.
    pub fn subject(&self, id: FunctionId) -> &Subject<'p> {
        &self.subjects[id.index()]
    }

    /// The one that a function of the profile was folded into.
    pub fn subject_of(&self, function: FunctionId) -> FunctionId {
        self.subject_of.get(function.index()).copied().unwrap_or(function)
    }

    /// The functions of the profile that a subject stands for.
    pub fn functions_of(&self, subject: FunctionId) -> Vec<FunctionId> {
        if self.subject_of.is_empty() {
            return vec![subject];
        }
        self.profile.functions().filter(|&function| self.subject_of(function) == subject).collect()
    }

    /// How many arcs were cut.
    pub fn cut_arcs(&self) -> usize {
        self.cut_arcs
    }

    /// What is wrong with derived event types.
    pub fn faults(&self) -> &[DerivationFault] {
        &self.faults
    }
}

fn names_of(columns: &[EventColumn]) -> Vec<String> {
    columns.iter().map(|column| column.name.clone()).collect()
}

/// The name of an event type, the how manieth of this name it is.
pub(crate) fn event_name(name: &[u8], repetition: usize) -> String {
    match repetition {
        0 => lossy(name),
        nth => format!("{}#{}", lossy(name), nth + 1),
    }
}

/// The event types that the files have.
fn recorded(profile: &Profile) -> Vec<EventColumn> {
    let said: HashMap<&[u8], Option<&[u8]>> = profile
        .event_definitions()
        .filter(|definition| definition.formula.is_none())
        .map(|definition| (definition.name, definition.long_name))
        .collect();
    let mut columns: Vec<EventColumn> = profile
        .events()
        .map(|event| {
            let event = profile.event(event);
            let long_name = said.get(event.name).copied().flatten();
            EventColumn {
                name: event_name(event.name, event.repetition),
                unit: CostUnit::of(event.name, long_name),
                long_name: long_name.map(lossy).or_else(|| known_long_name(event.name).map(str::to_owned)),
                formula: None,
            }
        })
        .collect();
    if columns.is_empty() {
        // The graph has a column of zeros then.
        columns.push(EventColumn {
            name: "none".to_owned(),
            long_name: None,
            unit: CostUnit::Count,
            formula: None,
        });
    }
    columns
}

/// Definitions of derived event types, the weakest first.
pub(crate) fn definitions(profile: &Profile, own: &[Definition]) -> Vec<Definition> {
    let of_files = profile.event_definitions().filter_map(|definition| {
        Some(Definition {
            name: definition.name.to_vec(),
            formula: Formula::parse(definition.formula?).ok()?,
            long_name: definition.long_name.map(<[u8]>::to_vec),
            by: DefinedBy::File,
        })
    });
    well_known().into_iter().chain(of_files).chain(own.iter().cloned()).collect()
}

/// The columns to show.
fn chosen(columns: &[EventColumn], recorded: usize, asked: &[String]) -> Result<Vec<usize>, ViewError> {
    if asked.is_empty() {
        return Ok((0..recorded).collect());
    }
    let place = |name: &String| {
        let exactly = columns.iter().position(|column| column.name == *name);
        exactly
            .or_else(|| columns.iter().position(|column| column.name.eq_ignore_ascii_case(name)))
            .ok_or_else(|| ViewError::UnknownEvent { name: name.clone(), known: names_of(columns) })
    };
    asked.iter().map(place).collect()
}

/// Folds functions as asked for: the subjects, and which one each function is, where it is not itself.
fn subjects<'p>(profile: &'p Profile, options: &ViewOptions) -> (Vec<Subject<'p>>, Vec<FunctionId>) {
    let subject =
        |recorded: Cow<'p, [u8]>, file, object| Subject { recorded, name: OnceCell::new(), file, object };
    let functions = profile.functions().map(|id| profile.function(id));
    if !options.fold_recursion && !options.fold_callers {
        let own =
            |function: Function<'p>| subject(Cow::Borrowed(function.name), function.file, function.object);
        return (functions.map(own).collect(), Vec::new());
    }
    let mut subjects = Vec::new();
    let mut subject_of = Vec::with_capacity(profile.function_count());
    let mut known: HashMap<(ObjectId, FileId, Cow<'p, [u8]>), FunctionId> = HashMap::new();
    for Function { name, file, object, .. } in functions {
        let name = if options.fold_callers { fold_callers(name) } else { name };
        let name = if options.fold_recursion { fold_recursion(name) } else { Cow::Borrowed(name) };
        let next = FunctionId::new(subjects.len());
        let folded = *known.entry((object, file, name.clone())).or_insert(next);
        if folded == next {
            subjects.push(subject(name, file, object));
        }
        subject_of.push(folded);
    }
    (subjects, subject_of)
}

/// Who calls whom among subjects.
fn graph_of(
    profile: &Profile,
    selection: &Selection,
    subjects: &[Subject<'_>],
    subject_of: &[FunctionId],
) -> CallGraph {
    let graph = profile.call_graph(selection);
    if subject_of.is_empty() {
        return graph;
    }
    graph.folded(subjects.len(), |function| subject_of[function.index()])
}

fn cycles_of(graph: &CallGraph, options: &ViewOptions) -> Cycles {
    if options.cycles { Cycles::of(graph) } else { Cycles::none(graph) }
}

/// Caller and callee of an arc.
type Ends = (FunctionId, FunctionId);

fn ends(arc: &Arc) -> Ends {
    (arc.caller, arc.callee)
}

/// Which arcs are taken out. The graph has no derived costs yet; `leading` may be one of them.
fn arcs_to_cut(
    graph: &CallGraph,
    subjects: &[Subject<'_>],
    options: &ViewOptions,
    leading: usize,
    derived: &[Derived],
) -> HashSet<Ends> {
    let mut is_cut = vec![false; graph.arcs().len()];
    if options.cut_below > 0 {
        let derived = leading.checked_sub(graph.width()).map(|nth| &derived[nth]);
        // Nothing is dearer than a cost that is too large to be reckoned with.
        let cost = |row: &[Cost]| match derived {
            Some(derived) => derived.of(row).unwrap_or(Cost::MAX),
            None => row[leading],
        };
        let sizes = graph.with_costs(1, |row, size| size[0] = cost(row).saturating_abs());
        is_cut = sizes.weak_arcs(0, options.cut_below, 1000);
    }
    let fits = |pattern: &Regex, function: FunctionId| pattern.is_match(subjects[function.index()].name());
    for Cut { caller, callee } in &options.cuts {
        for (is_cut, arc) in is_cut.iter_mut().zip(graph.arcs()) {
            *is_cut |= fits(caller, arc.caller) && fits(callee, arc.callee);
        }
    }
    graph.arcs().iter().zip(is_cut).filter(|(_, is_cut)| *is_cut).map(|(arc, _)| ends(arc)).collect()
}

/// The costs that KCachegrind shows, which it adds up part by part. Cuts are made in each of them.
fn part_by_part(
    profile: &Profile,
    selection: &Selection,
    graph: &CallGraph,
    of: impl Fn(FunctionId) -> FunctionId,
    cut: &HashSet<Ends>,
    cycles: Cycles,
    derived: &[Derived],
) -> Result<Inclusive, ViewError> {
    let width = graph.width();
    let mut sums = KCachegrind::new(graph.functions(), width);
    for part in profile.selected(selection) {
        let events = part.event_types();
        let recorded = width - derived.len();
        let full = |costs: &[Cost]| {
            let mut row = vec![0; width];
            events.iter().zip(costs).for_each(|(event, &cost)| row[event.index()] = cost);
            for (nth, derived) in derived.iter().enumerate() {
                row[recorded + nth] = derived.of(&row[..recorded]).map_err(|_| ViewError::Overflow)?;
            }
            Ok(row)
        };
        let (mut functions, mut function_costs) = (Vec::new(), CostTable::new(width, 0));
        let (mut arcs, mut arc_costs) = (Vec::new(), CostTable::new(width, 0));
        let mut result = Ok(());
        profile.each_self_cost(&part, |function, _, costs| match full(costs) {
            Ok(row) => {
                functions.push(of(function));
                function_costs.push(&row);
            }
            Err(error) => result = Err(error),
        });
        profile.each_arc(&part, |arc, costs| {
            let arc = Arc { caller: of(arc.caller), callee: of(arc.callee), count: arc.count };
            if cut.contains(&ends(&arc)) {
                return;
            }
            match full(costs) {
                Ok(row) => {
                    arcs.push(arc);
                    arc_costs.push(&row);
                }
                Err(error) => result = Err(error),
            }
        });
        result?;
        sums.add_part(
            functions.into_iter().zip(function_costs.rows()),
            arcs.into_iter().zip(arc_costs.rows()),
        );
    }
    Ok(sums.finish(graph, cycles))
}
