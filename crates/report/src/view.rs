//! What of a profile is looked at, and how: parts, event types, folding, cuts, and the rule for inclusive costs.

use std::collections::HashSet;
use std::fmt;

use gristmill_format::Cost;
use gristmill_profile::analysis::{Arc, CallGraph, Cycles, Inclusive, KCachegrind};
use gristmill_profile::formula::{Definition, DerivationFault};
use gristmill_profile::{CostTable, FunctionId, MOST_CELLS, Profile, Selection};
use regex::Regex;

use crate::columns::{Columns, EventColumn};

pub use self::subjects::Subject;
use self::subjects::Subjects;

mod subjects;
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
    columns: Columns,
    subjects: Subjects<'p>,
    graph: CallGraph,
    inclusive: Inclusive,
    totals: Vec<Cost>,
    cut_arcs: usize,
}

impl<'p> View<'p> {
    /// Looks at a profile.
    ///
    /// # Errors
    ///
    /// When there is nothing to see, or an event type that was asked for is not there.
    pub fn new(profile: &'p Profile, options: &ViewOptions) -> Result<Self, ViewError> {
        refuse(profile, &options.selection)?;
        let subjects = Subjects::new(profile, options);
        let columns = Columns::named(profile, &options.derive, &options.events)?;
        let graph_of = |selection: &Selection| {
            let graph = columns.call_graph(profile, selection)?;
            Ok(if subjects.are_functions() {
                graph
            } else {
                graph.folded(subjects.len(), |it| subjects.of(it))
            })
        };
        let graph = graph_of(&options.selection)?;
        let cut = arcs_to_cut(&graph, &subjects, options);
        let cut_arcs = cut.len();
        let graph = if cut_arcs > 0 { graph.without(|_, arc| cut.contains(&ends(arc))) } else { graph };

        let inclusive = match options.rule {
            Rule::Own => Inclusive::own_with(&graph, || cycles_of(&graph, options)),
            Rule::Annotate => Inclusive::annotate(&graph),
            // Its sums go by parts, so the graph of all parts is not enough; and its cycles are those of all parts,
            // selected or not.
            Rule::KCachegrind => {
                let cycles = if options.selection.is_all() {
                    cycles_of(&graph, options)
                } else {
                    let all = graph_of(&Selection::default())?;
                    // What is cut where one looks holds nothing together either, however dear it is elsewhere.
                    let cut_of_all = arcs_to_cut(&all, &subjects, options);
                    let is_cut = |arc: &Arc| cut.contains(&ends(arc)) || cut_of_all.contains(&ends(arc));
                    let is_whole = cut.is_empty() && cut_of_all.is_empty();
                    let all = if is_whole { all } else { all.without(|_, arc| is_cut(arc)) };
                    cycles_of(&all, options)
                };
                part_by_part(profile, &options.selection, &columns, &graph, &subjects, &cut, cycles)?
            }
        };
        let totals = graph.total();
        Ok(View {
            profile,
            selection: options.selection.clone(),
            columns,
            subjects,
            graph,
            inclusive,
            totals,
            cut_arcs,
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

    /// The event types that are shown: the columns of all costs. There is always one, and the first decides the order.
    pub fn events(&self) -> &[EventColumn] {
        self.columns.events()
    }

    /// The names of event types that are there and not shown.
    pub fn other_events(&self) -> &[String] {
        self.columns.others()
    }

    /// Costs as the profile records them, brought to the columns of the view.
    ///
    /// # Errors
    ///
    /// When a derived cost is above all bounds.
    pub(crate) fn of_recorded(&self, recorded: &[Cost]) -> Result<Vec<Cost>, ViewError> {
        self.columns.of_recorded(recorded).ok_or(ViewError::Overflow)
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
    pub fn subjects(&self) -> impl ExactSizeIterator<Item = (FunctionId, Subject<'_>)> {
        (0..self.subjects.len()).map(FunctionId::new).map(|id| (id, self.subject(id)))
    }

    /// One of them.
    pub fn subject(&self, id: FunctionId) -> Subject<'_> {
        self.subjects.get(id)
    }

    /// The one that a function of the profile was folded into.
    pub fn subject_of(&self, function: FunctionId) -> FunctionId {
        self.subjects.of(function)
    }

    /// The functions of the profile that a subject stands for.
    pub fn functions_of(&self, subject: FunctionId) -> Vec<FunctionId> {
        if self.subjects.are_functions() {
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
        self.columns.faults()
    }
}

/// Refuses what there is nothing to see of, and what would take more memory than anybody has.
pub(crate) fn refuse(profile: &Profile, selection: &Selection) -> Result<(), ViewError> {
    if profile.selected(selection).next().is_none() && !selection.is_all() {
        return Err(ViewError::NothingSelected);
    }
    if profile.function_count().saturating_mul(profile.event_count()) > MOST_CELLS {
        return Err(ViewError::TooManyColumns);
    }
    Ok(())
}

fn cycles_of(graph: &CallGraph, options: &ViewOptions) -> Cycles {
    if options.cycles { Cycles::of(graph) } else { Cycles::none(graph) }
}

/// Caller and callee of an arc.
type Ends = (FunctionId, FunctionId);

fn ends(arc: &Arc) -> Ends {
    (arc.caller, arc.callee)
}

/// Which arcs are taken out.
fn arcs_to_cut(graph: &CallGraph, subjects: &Subjects<'_>, options: &ViewOptions) -> HashSet<Ends> {
    if options.cuts.is_empty() && options.cut_below == 0 {
        return HashSet::new();
    }
    let mut is_cut = if options.cut_below > 0 {
        graph.weak_arcs(options.cut_below, 1000, |costs| costs[0].saturating_abs())
    } else {
        vec![false; graph.arcs().len()]
    };
    let fits = |pattern: &Regex, function: FunctionId| pattern.is_match(subjects.get(function).name());
    for Cut { caller, callee } in &options.cuts {
        for (is_cut, arc) in is_cut.iter_mut().zip(graph.arcs()) {
            *is_cut |= fits(caller, arc.caller) && fits(callee, arc.callee);
        }
    }
    graph.arcs().zip(is_cut).filter(|(_, is_cut)| *is_cut).map(|(arc, _)| ends(&arc)).collect()
}

/// The costs that KCachegrind shows, which it adds up part by part. Cuts are made in each of them.
fn part_by_part(
    profile: &Profile,
    selection: &Selection,
    columns: &Columns,
    graph: &CallGraph,
    subjects: &Subjects<'_>,
    cut: &HashSet<Ends>,
    cycles: Cycles,
) -> Result<Inclusive, ViewError> {
    let width = graph.width();
    let mut sums = KCachegrind::new(graph.functions(), width);
    for part in profile.selected(selection) {
        let events = part.event_types();
        let mut recorded = vec![0; profile.event_count().max(1)];
        let mut shown = |costs: &[Cost]| {
            events.iter().zip(costs).for_each(|(event, &cost)| recorded[event.index()] = cost);
            columns.of_recorded(&recorded).ok_or(ViewError::Overflow)
        };
        let (mut functions, mut function_costs) = (Vec::new(), CostTable::new(width, 0));
        let (mut arcs, mut arc_costs) = (Vec::new(), CostTable::new(width, 0));
        let mut result = Ok(());
        profile.each_self_cost(&part, |function, _, costs| match shown(costs) {
            Ok(row) => {
                functions.push(subjects.of(function));
                function_costs.push(&row);
            }
            Err(error) => result = Err(error),
        });
        profile.each_arc(&part, |arc, costs| {
            let arc =
                Arc { caller: subjects.of(arc.caller), callee: subjects.of(arc.callee), count: arc.count };
            if cut.contains(&ends(&arc)) {
                return;
            }
            match shown(costs) {
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
