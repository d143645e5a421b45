//! The lines of a function: costs and calls by place, the dearest first.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use gristmill_format::Cost;
use gristmill_output::lossy;
use gristmill_profile::{FileId, FunctionId, Place};

use super::first;
use crate::amount::add;
use crate::view::{SubjectId, View, ViewError};

/// A line of source, or an instruction where lines are not known. Costs are by shown column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HotLine {
    /// The source file, which for inlined code is another than that of the function.
    pub file: String,
    /// The line; none where it is not known.
    pub line: Option<u64>,
    /// The addresses of the instructions: first and last.
    pub addresses: Option<(u64, u64)>,
    /// What it cost by itself.
    pub self_costs: Vec<Cost>,
    /// What it cost with its calls, but for those inside of a recursion.
    pub inclusive: Vec<Cost>,
    /// The calls that it makes, the dearest first.
    pub calls: Vec<CallRow>,
}

/// The calls from a line to a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallRow {
    /// Who is called.
    pub callee: SubjectId,
    /// How often.
    pub count: Cost,
    /// What the calls cost.
    pub costs: Vec<Cost>,
    /// Whether they are inside of the function's cycle, or of the function to itself. Then they do not count again.
    pub is_inner: bool,
}

/// The jumps inside of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct JumpSummary {
    /// How many pairs of places have jumps between them.
    pub jumps: usize,
    /// How many of these are conditional.
    pub conditional: usize,
    /// How often they were taken.
    pub taken: Cost,
}

pub(super) struct Lines {
    pub(super) lines: Vec<HotLine>,
    pub(super) jumps: JumpSummary,
    /// How many functions were folded into one.
    pub(super) folded: usize,
    /// Of how many of them these are the lines.
    pub(super) functions_read: usize,
}

/// Finding the lines of a function takes a look at each block of the profile. So many looks are taken at most, which is
/// a matter of tenths of a second; only thousands of functions folded into one ask for more.
const MOST_LOOKS: usize = 1 << 28;

/// A line by file and number, or an instruction by its address.
type Key = (FileId, Option<u64>, Option<u64>);

/// What is known of one so far; costs are as the profile records them.
#[derive(Default)]
struct Gathered {
    addresses: Option<(u64, u64)>,
    own: Vec<Cost>,
    calls: BTreeMap<SubjectId, (Cost, Vec<Cost>)>,
}

pub(super) fn of(view: &View, function: SubjectId) -> Result<Lines, ViewError> {
    let profile = view.profile();
    let blocks: usize =
        profile.selected(view.selection()).map(|part| profile.invocations(part.id()).len()).sum();
    let mut functions = view.functions_of(function);
    let folded = functions.len();
    let most = (MOST_LOOKS / blocks.max(1)).max(1);
    if functions.len() > most {
        let graph = profile.call_graph(view.selection());
        let cost = |function: FunctionId| first(graph.self_cost(graph.node_of(function)));
        functions.sort_by_key(|&function| (Reverse(cost(function)), function));
        functions.truncate(most);
    }
    let mut jumps = JumpSummary::default();
    let mut lines: BTreeMap<Key, Gathered> = BTreeMap::new();
    for &function in &functions {
        let detail = profile.lines(function, view.selection());
        for (place, costs) in detail.places.iter().zip(detail.costs.rows()) {
            let line = at(&mut lines, place);
            add_to(&mut line.own, costs);
        }
        for (call, costs) in detail.calls.iter().zip(detail.call_costs.rows()) {
            let callee = view.subject_of(call.callee);
            let caller = view.subject_of(function);
            if view.is_cut(caller, callee) {
                continue;
            }
            let (count, sum) = at(&mut lines, &call.place).calls.entry(callee).or_default();
            *count += call.count;
            add_to(sum, costs);
        }
        jumps.jumps += detail.jumps.len();
        for jump in &detail.jumps {
            jumps.conditional += usize::from(jump.executed.is_some());
            jumps.taken += jump.taken;
        }
    }
    let mut rows = Vec::with_capacity(lines.len());
    for ((file, line, _), gathered) in lines {
        rows.push(row(view, function, (file, line), gathered)?);
    }
    // They stand in the order of files and lines, which decides between equals.
    rows.sort_by_key(|row| (Reverse(first(&row.inclusive)), Reverse(first(&row.self_costs))));
    Ok(Lines { lines: rows, jumps, folded, functions_read: functions.len() })
}

fn at<'l>(lines: &'l mut BTreeMap<Key, Gathered>, place: &Place) -> &'l mut Gathered {
    let line = place.line.filter(|&line| line > 0);
    let address = place.address.or(place.basic_block);
    // Lines say more than addresses; without them each instruction is a row of its own.
    let key = (place.file, line, if line.is_some() { None } else { address });
    let gathered = lines.entry(key).or_default();
    if let Some(address) = address {
        let (from, to) = gathered.addresses.unwrap_or((address, address));
        gathered.addresses = Some((from.min(address), to.max(address)));
    }
    gathered
}

/// Adds to sums that have as many columns as were needed so far.
fn add_to(sums: &mut Vec<Cost>, costs: &[Cost]) {
    sums.resize(sums.len().max(costs.len()), 0);
    add(sums, costs);
}

fn row(
    view: &View,
    caller: SubjectId,
    (file, line): (FileId, Option<u64>),
    gathered: Gathered,
) -> Result<HotLine, ViewError> {
    let width = view.profile().event_count().max(1);
    let shown = |mut costs: Vec<Cost>| {
        costs.resize(width, 0);
        view.shown_costs(&costs)
    };
    let self_costs = shown(gathered.own)?;
    let mut inclusive = self_costs.clone();
    let mut calls = Vec::with_capacity(gathered.calls.len());
    for (callee, (count, costs)) in gathered.calls {
        let costs = shown(costs)?;
        // What is within the function or its cycle already does not count again.
        let is_inner = view.is_inner(caller, callee);
        if !is_inner {
            add(&mut inclusive, &costs);
        }
        calls.push(CallRow { callee, count, costs, is_inner });
    }
    super::sort_by_cost(view, &mut calls, |call| (0, first(&call.costs), call.callee));
    Ok(HotLine {
        file: lossy(view.profile().file(file)),
        line,
        addresses: gathered.addresses,
        self_costs,
        inclusive,
        calls,
    })
}
