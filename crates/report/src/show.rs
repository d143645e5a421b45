//! Everything about one function: its costs, callers, callees, cycle, lines and parts.

mod callees;
mod cycle;
mod line_section;
mod lines;
mod parts;
mod sections;
mod source;
mod text;

use std::cmp::{Ordering, Reverse};
use std::collections::HashMap;
use std::sync::Arc;

use gristmill_format::Cost;
use gristmill_output::json::Costs;
use gristmill_profile::analysis::{ArcId, Direction, NodeId, reach};
use schemars::JsonSchema;
use serde::Serialize;

pub use self::callees::CalledFunction;
pub(crate) use self::callees::Callees;
pub use self::cycle::{CycleBreaker, CycleEntry, CycleMember, CycleSummary};
pub use self::lines::{HotLine, JumpSummary};
pub use self::parts::PartRow;
use crate::amount::add;
use crate::call_count::CallCount;
use crate::head::Head;
use crate::line_sources::LineSources;
use crate::named_function::NamedFunction;
use crate::view::{SubjectId, View, ViewError};

/// The options of [`Show`], which has an example.
#[derive(Debug, Clone)]
pub struct ShowOptions {
    /// The function.
    pub function: SubjectId,
    /// The greatest distance of callers and callees; 1 stands for direct ones.
    pub depth: usize,
    /// Shows at most this many lines.
    pub lines: Option<usize>,
    /// Shows at most this many rows of each of the other lists.
    pub limit: Option<usize>,
}

/// A list of which only the first rows may be shown. See the example of [`Show`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct List<T> {
    /// The count of all rows.
    pub all: usize,
    /// The rows that are shown.
    pub rows: Vec<T>,
}

impl<T> List<T> {
    fn new(mut rows: Vec<T>, limit: Option<usize>) -> Self {
        let all = rows.len();
        rows.truncate(limit.unwrap_or(usize::MAX));
        List { all, rows }
    }

    /// Returns the same list with fewer rows.
    fn first(&self, limit: usize) -> Self
    where
        T: Clone,
    {
        List { all: self.all, rows: self.rows.iter().take(limit).cloned().collect() }
    }

    /// Makes rows only of what is shown.
    fn from_shown<S>(rows: Vec<S>, limit: Option<usize>, row: impl FnMut(S) -> T) -> Self {
        let all = rows.len();
        List { all, rows: rows.into_iter().take(limit.unwrap_or(usize::MAX)).map(row).collect() }
    }
}

/// A caller or a callee, direct or farther away. See the example of [`Show`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Neighbour {
    /// The caller or callee.
    #[serde(flatten)]
    pub function: NamedFunction,
    /// The least count of calls between it and the function.
    pub distance: usize,
    /// The count of calls; null at a distance of more than 1.
    #[serde(flatten)]
    pub calls: CallCount,
    /// Inclusive cost of the calls; at a distance of more than 1, inclusive cost of the caller or callee.
    pub cost: Costs,
    /// At a distance of more than 1: the most expensive function one call nearer.
    pub via: Option<Arc<str>>,
    /// `true` if the calls are inside of the function's cycle, or from the function to itself.
    #[serde(rename = "inner")]
    pub is_inner: bool,
    /// `true` if the cost is an upper limit, as that of the function is. The cost of direct calls is exact.
    #[serde(rename = "cost_is_upper_bound", skip_serializing_if = "std::ops::Not::not")]
    pub is_upper_bound: bool,
    /// `true` if the cost is an estimate: functions are hidden or focused on, and several callers share a cost.
    #[serde(rename = "cost_estimated", skip_serializing_if = "std::ops::Not::not")]
    pub is_estimate: bool,
}

/// The sum of all calls of a list, without those inside of a recursion, whose costs are within those of others. See the
/// example of [`Show`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CallSum {
    /// The count of calls.
    #[serde(flatten)]
    pub calls: CallCount,
    /// Inclusive cost of the calls.
    pub cost: Costs,
    /// `true` if one of these costs is an estimate: functions are hidden or focused on, and several callers share a cost.
    #[serde(rename = "cost_estimated", skip_serializing_if = "std::ops::Not::not")]
    pub is_estimate: bool,
}

/// One function with its costs, callers, callees, cycle, lines and parts. Each list has the count of all of its rows, and the
/// rows that are shown, the most expensive first.
///
/// ```
/// use gristmill_profile::Profile;
/// use gristmill_report::{Show, ShowOptions, View, ViewOptions};
///
/// let text = b"events: Ir\nfn=main\n1 10\ncfn=work\ncalls=1 5\n2 32\nfn=work\n5 32\n";
/// let profile = Profile::from_bytes(text.to_vec());
/// let view = View::new(profile, &ViewOptions::default())?;
/// let (function, _) = view.subjects().next().ok_or("no function")?;
/// let show = Show::new(&view, &ShowOptions { function, depth: 1, lines: None, limit: None })?;
/// assert_eq!((show.function.name.as_str(), show.inclusive[0], show.callees.all), ("main", 42, 1));
/// let callee = &show.callees.rows[0];
/// assert_eq!((callee.function.name.as_str(), callee.calls.exact(), callee.cost[0]), ("work", Some(1), 32));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Show {
    /// The head of the report.
    #[serde(flatten)]
    pub head: Head,
    /// The function.
    pub function: NamedFunction,
    /// Self cost of the function.
    #[serde(rename = "self")]
    pub self_costs: Costs,
    /// Inclusive cost of the function.
    pub inclusive: Costs,
    /// `true` if the inclusive cost is an upper limit: its calls add up to more than the total, or, with --no-cycles, calls of a
    /// recursion count what they have in common more than once.
    #[serde(rename = "inclusive_is_upper_bound", skip_serializing_if = "std::ops::Not::not")]
    pub is_upper_bound: bool,
    /// `true` if the self cost is an estimate: functions are hidden or focused on, and several callers share a cost.
    #[serde(rename = "self_estimated", skip_serializing_if = "std::ops::Not::not")]
    pub is_self_estimate: bool,
    /// `true` if the inclusive cost is an estimate for the same reason.
    #[serde(rename = "inclusive_estimated", skip_serializing_if = "std::ops::Not::not")]
    pub is_inclusive_estimate: bool,
    /// The count of calls of the function, also by itself.
    #[serde(flatten)]
    pub calls: CallCount,
    /// Inclusive cost of the function, or of its cycle, as its callers have it; null if nothing calls it.
    pub by_callers: Option<Costs>,
    /// Self cost of the function, or of its cycle, and inclusive cost of its calls.
    pub by_callees: Costs,
    /// The cycle that the function is in.
    pub cycle: Option<CycleSummary>,
    /// Jumps inside of the function.
    pub jumps: JumpSummary,
    /// Direct callers.
    pub callers: List<Neighbour>,
    /// The sum of the calls of all direct callers.
    pub callers_sum: CallSum,
    /// Direct callees.
    pub callees: List<Neighbour>,
    /// The sum of the calls of all direct callees.
    pub callees_sum: CallSum,
    /// Callers more than one call away, the nearest first.
    pub far_callers: List<Neighbour>,
    /// Callees more than one call away, the nearest first.
    pub far_callees: List<Neighbour>,
    /// Source lines of the function.
    pub lines: List<HotLine>,
    /// Costs by part, in the order of the files; empty if there is only one part.
    #[serde(rename = "by_part")]
    pub parts: List<PartRow>,
    /// `true` if the function calls itself or is in a cycle.
    pub is_recursive: bool,
    /// The count of functions of the profile that were folded into this one.
    pub folded: usize,
    /// The count of these functions whose lines were read, if it is smaller: the most expensive ones.
    pub lines_of: Option<usize>,
    /// `true` if functions are hidden or focused on: then lines and parts are left out.
    #[serde(skip)]
    has_attribution: bool,
    #[serde(skip)]
    upper_limit_note: &'static str,
    /// Remarks on the source files of the lines.
    #[serde(skip)]
    sources: LineSources,
}

impl Show {
    /// Takes everything about one function from a view, without source text.
    ///
    /// # Errors
    ///
    /// [`ViewError::Overflow`] if a derived cost is too large.
    pub fn new(view: &View, options: &ShowOptions) -> Result<Self, ViewError> {
        let ShowOptions { function, depth, limit, .. } = *options;
        let head = Head::new(view);
        let inclusive = view.inclusive();
        let (cycle, sides) = cycle::summary(view, &head, function, limit);
        let lines::Lines { mut lines, mut jumps, folded, functions_read } =
            lines::lines(view, &head, options)?;
        let mut parts = parts::parts(view, &head, function, limit)?;
        if view.has_attribution() {
            // They are known for all calls only.
            (lines, jumps, parts) =
                (List::new(Vec::new(), None), JumpSummary::default(), List::new(Vec::new(), None));
        }
        let near = |direction| neighbours(view, &head, function, direction, limit);
        let far = |direction| far_neighbours(view, &head, function, direction, depth, limit);
        Ok(Show {
            function: NamedFunction::new(view, function),
            self_costs: head.costs(view.self_cost(function)),
            inclusive: head.costs(view.inclusive_cost(function)),
            is_upper_bound: view.is_upper_limit(function),
            is_self_estimate: view.is_self_estimate(function),
            is_inclusive_estimate: view.is_inclusive_estimate(function),
            has_attribution: view.has_attribution(),
            upper_limit_note: view.upper_limit_note(),
            calls: view.calls(function),
            by_callers: sides.callers.map(|costs| head.costs(&costs)),
            by_callees: head.costs(&sides.callees),
            cycle,
            jumps,
            callers: near(Direction::Callers),
            callers_sum: sum(view, &head, function, Direction::Callers),
            callees: near(Direction::Callees),
            callees_sum: sum(view, &head, function, Direction::Callees),
            far_callers: far(Direction::Callers),
            far_callees: far(Direction::Callees),
            lines,
            parts,
            is_recursive: inclusive.cycles().cycle_of(function.node()).is_some()
                || view.graph().arc_between(function.node(), function.node()).is_some(),
            folded,
            lines_of: (functions_read < folded && !view.has_attribution()).then_some(functions_read),
            sources: LineSources::default(),
            head,
        })
    }
}

/// Orders by distance, then by the first cost, the greatest first, then by name, then as the files do.
fn sort_by_cost<T>(view: &View, rows: &mut [T], key: impl Fn(&T) -> (usize, Cost, SubjectId)) {
    rows.sort_by(|a, b| compare_costs(view, key(a), key(b)));
}

/// Puts the rows that are shown first, in the same order. The others are in no order: a function can have a million callers.
fn sort_first_by_cost<T: Copy>(
    view: &View,
    rows: &mut [T],
    limit: Option<usize>,
    key: impl Fn(&T) -> (usize, Cost, SubjectId),
) {
    let Some(limit) = limit.filter(|&limit| limit < rows.len()) else {
        return sort_by_cost(view, rows, key);
    };
    let mut indexed: Vec<(usize, T)> = rows.iter().copied().enumerate().collect();
    let order = |(nth_a, a): &(usize, T), (nth_b, b): &(usize, T)| {
        compare_costs(view, key(a), key(b)).then_with(|| nth_a.cmp(nth_b))
    };
    indexed.select_nth_unstable_by(limit, order);
    indexed[..limit].sort_unstable_by(order);
    rows.iter_mut().zip(indexed).for_each(|(row, (_, sorted))| *row = sorted);
}

fn compare_costs(
    view: &View,
    (near_a, cost_a, a): (usize, Cost, SubjectId),
    (near_b, cost_b, b): (usize, Cost, SubjectId),
) -> Ordering {
    let name = |function: SubjectId| view.subject(function).name();
    let by_cost = (near_a, Reverse(cost_a)).cmp(&(near_b, Reverse(cost_b)));
    // Most names are made when they are first asked for.
    by_cost.then_with(|| name(a).cmp(name(b))).then_with(|| a.cmp(&b))
}

/// The cost of the first event type; there is always one.
fn first(costs: &[Cost]) -> Cost {
    costs.first().copied().unwrap_or(0)
}

/// The arcs to direct callers or callees.
fn arcs(view: &View, function: SubjectId, direction: Direction) -> Vec<ArcId> {
    match direction {
        Direction::Callers => view.graph().incoming(function.node()).collect(),
        Direction::Callees => view.graph().outgoing(function.node()).collect(),
    }
}

/// Direct callers or callees.
fn neighbours(
    view: &View,
    head: &Head,
    function: SubjectId,
    direction: Direction,
    limit: Option<usize>,
) -> List<Neighbour> {
    let (graph, cycles) = (view.graph(), view.inclusive().cycles());
    let end = |arc: ArcId| {
        let arc = graph.arc(arc);
        view.subject_at(if direction == Direction::Callers { arc.caller } else { arc.callee })
    };
    let mut arcs = arcs(view, function, direction);
    sort_first_by_cost(view, &mut arcs, limit, |&arc| (1, first(graph.arc_cost(arc)), end(arc)));
    List::from_shown(arcs, limit, |arc| Neighbour {
        function: NamedFunction::new(view, end(arc)),
        distance: 1,
        calls: view.calls_of(arc),
        cost: head.costs(graph.arc_cost(arc)),
        via: None,
        is_inner: cycles.is_inner(&graph.arc(arc)),
        is_upper_bound: false,
        is_estimate: view.is_call_estimate(arc),
    })
}

/// The sum of all calls by direct callers, or of direct callees.
fn sum(view: &View, head: &Head, function: SubjectId, direction: Direction) -> CallSum {
    let (graph, cycles) = (view.graph(), view.inclusive().cycles());
    let mut calls = CallCount::new(0, false);
    let mut costs = vec![0; view.events().len()];
    let mut is_estimate = false;
    for arc in arcs(view, function, direction) {
        if !cycles.is_inner(&graph.arc(arc)) {
            calls = calls.plus(&view.calls_of(arc));
            add(&mut costs, graph.arc_cost(arc));
            is_estimate |= view.is_call_estimate(arc);
        }
    }
    CallSum { calls, cost: head.costs(&costs), is_estimate }
}

/// Callers or callees that are more than one call away.
fn far_neighbours(
    view: &View,
    head: &Head,
    function: SubjectId,
    direction: Direction,
    depth: usize,
    limit: Option<usize>,
) -> List<Neighbour> {
    if depth < 2 {
        return List::new(Vec::new(), limit);
    }
    let (graph, inclusive) = (view.graph(), view.inclusive());
    let mut reached = reach(graph, function.node(), direction, depth);
    reached.retain(|reached| reached.distance > 1);
    sort_first_by_cost(view, &mut reached, limit, |reached| {
        (reached.distance, first(inclusive.cost(reached.node)), view.subject_at(reached.node))
    });
    let mut known: HashMap<NodeId, Arc<str>> = HashMap::new();
    List::from_shown(reached, limit, |reached| {
        let arc = graph.arc(reached.via);
        let via = if direction == Direction::Callers { arc.callee } else { arc.caller };
        Neighbour {
            function: NamedFunction::new(view, view.subject_at(reached.node)),
            distance: reached.distance,
            calls: CallCount::default(),
            cost: head.costs(inclusive.cost(reached.node)),
            via: Some(
                known.entry(via).or_insert_with(|| view.subject(view.subject_at(via)).name().into()).clone(),
            ),
            is_inner: false,
            is_upper_bound: inclusive.is_upper_limit(reached.node),
            is_estimate: view.is_inclusive_estimate(view.subject_at(reached.node)),
        }
    })
}
