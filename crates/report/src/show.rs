//! One function in the round: what it costs, who calls it, what it calls, its cycle, its lines and its parts.

mod json;
mod lines;
mod text;

use std::cmp::Reverse;

use gristmill_format::Cost;
use gristmill_profile::analysis::{ArcId, CallArc, Direction, Unit, reach};

use crate::amount::add;
use crate::head::Head;
use crate::view::{SubjectId, View, ViewError};
use lines::Lines;
pub use lines::{CallRow, HotLine, JumpSummary};

/// What to show.
#[derive(Debug, Clone)]
pub struct ShowOptions {
    /// The function.
    pub function: SubjectId,
    /// How far away callers and callees may be; 1 is those that call it and that it calls.
    pub depth: usize,
    /// Shows so many lines at most.
    pub lines: Option<usize>,
    /// Shows so many rows at most of each of the other lists.
    pub limit: Option<usize>,
}

/// A list that may be cut short.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed<T> {
    /// What is shown of it.
    pub rows: Vec<T>,
    /// How many there are.
    pub all: usize,
}

impl<T> Listed<T> {
    fn of(mut rows: Vec<T>, limit: Option<usize>) -> Self {
        let all = rows.len();
        rows.truncate(limit.unwrap_or(usize::MAX));
        Listed { rows, all }
    }
}

/// A caller or a callee. Costs are by column of the view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Neighbour {
    /// Which function it is.
    pub function: SubjectId,
    /// How many calls away it is.
    pub distance: usize,
    /// How often it calls, or is called. Only of those at a distance of 1.
    pub count: Cost,
    /// What these calls cost. Of those farther away, what they cost with all that they call, whoever calls them.
    pub costs: Vec<Cost>,
    /// For those farther away: the function one step nearer by which they are reached, the dearest of several.
    pub via: Option<SubjectId>,
    /// Whether the calls are inside of the function's cycle, or of the function to itself.
    pub is_inner: bool,
}

/// What is said of the cycle that a function is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CycleSummary {
    /// Its number.
    pub number: usize,
    /// What it cost with all that it calls.
    pub inclusive: Vec<Cost>,
    /// The self costs of its members.
    pub self_costs: Vec<Cost>,
    /// How often it is called from outside.
    pub calls: Cost,
    /// Its members, the dearest first.
    pub members: Listed<SubjectId>,
    /// The calls into it, the dearest first.
    pub entries: Listed<(CallArc<SubjectId>, Vec<Cost>)>,
    /// The calls whose removal breaks most of it, if those from one function to another can.
    pub breaker: Option<CycleBreaker>,
}

/// The calls whose removal breaks most of a cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CycleBreaker {
    /// Whose calls they are.
    pub arc: CallArc<SubjectId>,
    /// How many functions are then still in cycles.
    pub members_left: usize,
    /// Whether all others were tried.
    pub is_best: bool,
}

/// What the function cost in one part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartRow {
    /// What the part is called: its number, thread and process, as far as there are several of them.
    pub name: String,
    /// By itself.
    pub self_costs: Vec<Cost>,
    /// With what it called.
    pub inclusive: Vec<Cost>,
    /// How often it was called.
    pub calls: Cost,
}

/// Everything about one function. Costs are by column of the view.
#[derive(Debug)]
pub struct Show<'v> {
    view: &'v View,
    /// What stands above it.
    pub head: Head,
    /// The function.
    pub function: SubjectId,
    /// What it cost by itself.
    pub self_costs: Vec<Cost>,
    /// What it cost with all that it called.
    pub inclusive: Vec<Cost>,
    /// How often it was called.
    pub calls: Cost,
    /// The cycle it is in.
    pub cycle: Option<CycleSummary>,
    /// Who calls it, the dearest first.
    pub callers: Listed<Neighbour>,
    /// Whom it calls, the dearest first.
    pub callees: Listed<Neighbour>,
    /// Callers that are farther away, the nearest first and then the dearest.
    pub far_callers: Listed<Neighbour>,
    /// Callees that are farther away.
    pub far_callees: Listed<Neighbour>,
    /// What its callers say that it, or its cycle, cost. None where nothing calls it.
    pub by_callers: Option<Vec<Cost>>,
    /// Its self cost, or that of its cycle, and what it called.
    pub by_callees: Vec<Cost>,
    /// Its lines, the dearest first.
    pub lines: Listed<HotLine>,
    /// How many functions of the profile were folded into it, itself included.
    folded: usize,
    /// What of several functions that were folded into this one the lines are of, if it is not all.
    pub lines_of: Option<(usize, usize)>,
    /// The jumps inside of it.
    pub jumps: JumpSummary,
    /// Its cost by part, where there are several.
    pub parts: Listed<PartRow>,
}

/// How long to look for the calls that break a cycle best: arcs that are looked at.
const BREAKER_WORK: usize = 20_000_000;

impl<'v> Show<'v> {
    /// Gathers what there is to be said.
    ///
    /// # Errors
    ///
    /// When a derived cost is above all bounds.
    pub fn new(view: &'v View, options: &ShowOptions) -> Result<Self, ViewError> {
        let ShowOptions { function, depth, limit, .. } = *options;
        let inclusive = view.inclusive();
        let sides = inclusive.sides(view.graph(), inclusive.cycles().unit(function.node()));
        let head = Head::of(view);
        let by_part = parts(view, function, limit)?;
        let Lines { lines, jumps, folded, functions_read } = lines::of(view, function)?;
        Ok(Show {
            head,
            function,
            self_costs: view.self_cost(function).to_vec(),
            inclusive: view.inclusive_cost(function).to_vec(),
            calls: view.call_count(function),
            cycle: cycle(view, function, limit),
            callers: Listed::of(neighbours(view, function, Direction::Callers), limit),
            callees: Listed::of(neighbours(view, function, Direction::Callees), limit),
            far_callers: Listed::of(far(view, function, Direction::Callers, depth), limit),
            far_callees: Listed::of(far(view, function, Direction::Callees, depth), limit),
            by_callers: sides.callers,
            by_callees: sides.callees,
            lines: Listed::of(lines, options.lines),
            folded,
            lines_of: (functions_read < folded).then_some((functions_read, folded)),
            jumps,
            parts: by_part,
            view,
        })
    }

    /// The sum of all rows of a list, also of those that are not shown, but without calls inside of a recursion: their
    /// costs are within those of others.
    fn sum_of(&self, direction: Direction) -> (Cost, Vec<Cost>) {
        let graph = self.view.graph();
        let mut sum = vec![0; self.view.events().len()];
        let mut count = 0;
        let cycles = self.view.inclusive().cycles();
        let mut add_arc = |arc: ArcId| {
            if cycles.is_inner(&graph.arc(arc)) {
                return;
            }
            count += graph.arc(arc).count;
            add(&mut sum, graph.arc_cost(arc));
        };
        match direction {
            Direction::Callers => graph.incoming(self.function.node()).for_each(&mut add_arc),
            Direction::Callees => graph.outgoing(self.function.node()).for_each(&mut add_arc),
        }
        (count, sum)
    }
}

/// Orders by the first shown cost, the greatest first, then by name, then as the files have them.
fn sort_by_cost<T>(view: &View, rows: &mut [T], key: impl Fn(&T) -> (usize, Cost, SubjectId)) {
    rows.sort_by(|a, b| {
        let ((near_a, cost_a, a), (near_b, cost_b, b)) = (key(a), key(b));
        let name = |function: SubjectId| view.subject(function).name();
        (near_a, Reverse(cost_a), name(a), a).cmp(&(near_b, Reverse(cost_b), name(b), b))
    });
}

fn first(costs: &[Cost]) -> Cost {
    costs.first().copied().unwrap_or(0)
}

/// Those that call a function, or that it calls.
fn neighbours(view: &View, function: SubjectId, direction: Direction) -> Vec<Neighbour> {
    let (graph, cycles) = (view.graph(), view.inclusive().cycles());
    let row = |id: ArcId| {
        let arc = graph.arc(id);
        Neighbour {
            function: view.subject_at(if direction == Direction::Callers { arc.caller } else { arc.callee }),
            distance: 1,
            count: arc.count,
            costs: graph.arc_cost(id).to_vec(),
            via: None,
            is_inner: cycles.is_inner(&arc),
        }
    };
    let mut rows: Vec<Neighbour> = match direction {
        Direction::Callers => graph.incoming(function.node()).map(row).collect(),
        Direction::Callees => graph.outgoing(function.node()).map(row).collect(),
    };
    sort_by_cost(view, &mut rows, |row| (row.distance, first(&row.costs), row.function));
    rows
}

/// Those that are more than one call away.
fn far(view: &View, function: SubjectId, direction: Direction, depth: usize) -> Vec<Neighbour> {
    if depth < 2 {
        return Vec::new();
    }
    let graph = view.graph();
    let reached =
        reach(graph, function.node(), direction, depth).into_iter().filter(|reached| reached.distance > 1);
    let mut rows: Vec<Neighbour> = reached
        .map(|reached| {
            let arc = graph.arc(reached.via);
            Neighbour {
                function: view.subject_at(reached.node),
                distance: reached.distance,
                count: 0,
                costs: view.inclusive().cost(reached.node).to_vec(),
                via: Some(view.subject_at(if direction == Direction::Callers {
                    arc.callee
                } else {
                    arc.caller
                })),
                is_inner: false,
            }
        })
        .collect();
    sort_by_cost(view, &mut rows, |row| (row.distance, first(&row.costs), row.function));
    rows
}

fn cycle(view: &View, function: SubjectId, limit: Option<usize>) -> Option<CycleSummary> {
    let (graph, inclusive) = (view.graph(), view.inclusive());
    let cycles = inclusive.cycles();
    let cycle = cycles.cycle_of(function.node())?;
    let members = cycles.members(cycle).iter();
    let mut members: Vec<SubjectId> = members.map(|&member| view.subject_at(member)).collect();
    sort_by_cost(view, &mut members, |&member| (0, first(view.inclusive_cost(member)), member));
    let entries = cycles.entries(graph, cycle).into_iter();
    let subjects = |arc: ArcId| graph.arc(arc).map(|node| view.subject_at(node));
    let mut entries: Vec<(CallArc<SubjectId>, Vec<Cost>)> =
        entries.map(|arc| (subjects(arc), graph.arc_cost(arc).to_vec())).collect();
    sort_by_cost(view, &mut entries, |(arc, costs)| (0, first(costs), arc.caller));
    let breaker = cycles.breaker(graph, cycle, 0, BREAKER_WORK);
    Some(CycleSummary {
        number: cycle.number(),
        inclusive: inclusive.cycle_cost(cycle).to_vec(),
        self_costs: inclusive.cycle_self_cost(cycle).to_vec(),
        calls: inclusive.cycle_call_count(cycle),
        members: Listed::of(members, limit),
        entries: Listed::of(entries, limit),
        breaker: breaker.map(|breaker| CycleBreaker {
            arc: subjects(breaker.arc),
            members_left: breaker.members_left,
            is_best: breaker.is_best,
        }),
    })
}

/// What a function cost by part, the parts in the order of the files; where there are too many, the dearest.
fn parts(view: &View, function: SubjectId, limit: Option<usize>) -> Result<Listed<PartRow>, ViewError> {
    let profile = view.profile();
    let selected: Vec<_> = profile.selected(view.selection()).collect();
    if selected.len() < 2 {
        return Ok(Listed::of(Vec::new(), limit));
    }
    let several =
        |number: &dyn Fn(usize) -> Option<u64>| (1..selected.len()).any(|part| number(part) != number(0));
    let (threads, pids) = (several(&|part| selected[part].thread()), several(&|part| selected[part].pid()));
    let inputs = selected.iter().any(|part| part.input() != selected[0].input());
    let mut rows = Vec::new();
    for (nth, part) in selected.iter().enumerate() {
        let Some(costs) = view.costs_in_part(function, part)? else { continue };
        let mut name = match part.number() {
            Some(number) => format!("part {number}"),
            None => format!("part {}", nth + 1),
        };
        for (word, number) in
            [("thread", part.thread().filter(|_| threads)), ("pid", part.pid().filter(|_| pids))]
        {
            if let Some(number) = number {
                name.push_str(&format!(", {word} {number}"));
            }
        }
        if let Some(input) = profile.inputs().get(part.input()).filter(|_| inputs) {
            name.push_str(&format!(" of {}", input.name));
        }
        rows.push(PartRow {
            name,
            self_costs: costs.self_costs,
            inclusive: costs.inclusive,
            calls: costs.call_count,
        });
    }
    let all = rows.len();
    if let Some(limit) = limit.filter(|&limit| limit < all) {
        let mut costs: Vec<(Cost, Reverse<usize>)> =
            rows.iter().enumerate().map(|(nth, row)| (first(&row.inclusive), Reverse(nth))).collect();
        costs.sort_unstable_by(|a, b| b.cmp(a));
        let mut is_kept = vec![false; all];
        costs.iter().take(limit).for_each(|(_, Reverse(nth))| is_kept[*nth] = true);
        let mut kept = is_kept.into_iter();
        rows.retain(|_| kept.next().unwrap_or(false));
    }
    Ok(Listed { rows, all })
}

impl Show<'_> {
    /// What the inclusive cost is that both sides are compared with: of the function, or of its cycle.
    fn unit(&self) -> Unit {
        self.view.inclusive().cycles().unit(self.function.node())
    }
}
