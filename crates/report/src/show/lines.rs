//! The lines of a function: costs and calls by source line or instruction.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use gristmill_format::Cost;
use gristmill_output::json;
use gristmill_output::json::{Costs, ExactInteger, exact};
use gristmill_profile::ordered::{OrderedKey, OrderedMap};
use gristmill_profile::{FileId, FunctionId, Place};
use schemars::JsonSchema;
use serde::Serialize;

use super::callees::{CalledFunction, Callees};
use super::{List, ShowOptions, first, sort_by_cost};
use crate::amount::add;
use crate::call_count::CallCount;
use crate::head::Head;
use crate::line_text::LineText;
use crate::view::{SubjectId, View, ViewError};

/// A source line, or an instruction if lines are not known. See the example of [`Show`](super::Show).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HotLine {
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
    /// The text of the source line; null if the source was not found, or has no such line.
    #[schemars(with = "Option<String>")]
    pub text: Option<LineText>,
    /// The first and the last address of the instructions.
    pub addresses: Option<Box<[ExactInteger; 2]>>,
    /// Self cost.
    #[serde(rename = "self")]
    pub self_costs: Costs,
    /// Self cost and inclusive cost of the calls, without those inside of a recursion.
    pub inclusive: Costs,
    /// The calls that the line makes.
    pub calls: Vec<CalledFunction>,
}

/// The jumps inside of a function. See the example of [`Show`](super::Show).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct JumpSummary {
    /// The count of pairs of positions with jumps between them.
    pub jumps: usize,
    /// The count of those that are conditional.
    pub conditional: usize,
    /// The count of jumps that were taken.
    #[serde(serialize_with = "exact")]
    #[schemars(with = "ExactInteger")]
    pub taken: Cost,
}

/// The lines and jumps of a function.
pub(super) struct Lines {
    pub(super) lines: List<HotLine>,
    pub(super) jumps: JumpSummary,
    /// The count of functions that were folded into one.
    pub(super) folded: usize,
    /// The count of those whose lines these are.
    pub(super) functions_read: usize,
}

/// The limit of blocks that are looked at. To find the lines of a function takes a look at each block of the profile. The
/// limit takes tenths of a second; only thousands of functions folded into one reach it.
const MAX_BLOCK_LOOKS: usize = 1 << 28;

/// A source line, or an instruction.
#[derive(Debug, Clone, Copy)]
struct Key {
    file: FileId,
    number: Option<Number>,
}

/// The number of a line, or the address of an instruction whose line is not known.
#[derive(Debug, Clone, Copy)]
enum Number {
    Address(u64),
    Line(u64),
}

impl OrderedKey for Key {
    const BITS: u32 = 2 + FileId::BITS + u64::BITS;

    fn ordinal(self) -> u128 {
        let (kind, number) = match self.number {
            None => (0, 0),
            Some(Number::Address(address)) => (1, address),
            Some(Number::Line(line)) => (2, line),
        };
        (self.file.ordinal() << 2 | kind) << u64::BITS | number.ordinal()
    }
}

/// Sums of a line while its blocks are read. Costs are as the profile records them. There is one for each line, so it is
/// small: costs have no spare room.
#[derive(Default)]
struct LineSums {
    addresses: Option<Box<(u64, u64)>>,
    self_costs: Box<[Cost]>,
    calls: OrderedMap<SubjectId, (CallCount, Box<[Cost]>)>,
}

/// A line in the event types of the view.
struct ViewedLine {
    file: FileId,
    line: Option<u64>,
    addresses: Option<Box<(u64, u64)>>,
    self_costs: Box<[Cost]>,
    inclusive: Box<[Cost]>,
    calls: Vec<ViewedCall>,
}

struct ViewedCall {
    callee: SubjectId,
    count: CallCount,
    costs: Box<[Cost]>,
    is_inner: bool,
}

/// Takes the lines of a function from a view.
pub(super) fn lines(view: &View, head: &Head, options: &ShowOptions) -> Result<Lines, ViewError> {
    let function = options.function;
    let profile = view.profile();
    profile.refuse_wide_lines().map_err(ViewError::TooManyCosts)?;
    let blocks: usize =
        profile.selected(view.selection()).map(|part| profile.invocations(part.id()).len()).sum();
    let mut functions = view.functions_of(function);
    let folded = functions.len();
    let limit = (MAX_BLOCK_LOOKS / blocks.max(1)).max(1);
    if functions.len() > limit {
        let graph = profile.call_graph(view.selection());
        let cost = |function: FunctionId| first(graph.self_cost(graph.node_of(function)));
        functions.sort_by_key(|&function| (Reverse(cost(function)), function));
        functions.truncate(limit);
    }
    let mut jumps = JumpSummary::default();
    let mut lines: OrderedMap<Key, LineSums> = OrderedMap::default();
    for &function in &functions {
        let detail = profile.lines(function, view.selection());
        for (place, costs) in detail.places.iter().zip(detail.costs.rows()) {
            let line = at(&mut lines, place);
            add_to(&mut line.self_costs, costs);
        }
        for (call, costs) in detail.calls.iter().zip(detail.call_costs.rows()) {
            let callee = view.subject_of(call.callee);
            let caller = view.subject_of(function);
            if view.is_cut(caller, callee) {
                continue;
            }
            let (count, sum) = at(&mut lines, &call.place).calls.or_default(callee);
            *count = count.plus(&CallCount::new(call.count, call.is_inlined));
            add_to(sum, costs);
        }
        jumps.jumps += detail.jumps.len();
        for jump in &detail.jumps {
            jumps.conditional += usize::from(jump.executed.is_some());
            jumps.taken += jump.taken;
        }
    }
    let mut rows = Vec::with_capacity(lines.len());
    for (key, sums) in lines.into_iter() {
        rows.push(viewed(view, function, key, sums)?);
    }
    // They are in the order of files and lines, which decides between equal costs.
    rows.sort_by_key(|row| (Reverse(first(&row.inclusive)), Reverse(first(&row.self_costs))));
    let mut maker = RowMaker { view, head, files: HashMap::new(), callees: Callees::new(view, head) };
    Ok(Lines {
        lines: List::from_shown(rows, options.lines, |line| maker.row(line)),
        jumps,
        folded,
        functions_read: functions.len(),
    })
}

fn at<'l>(lines: &'l mut OrderedMap<Key, LineSums>, place: &Place) -> &'l mut LineSums {
    let line = place.line.filter(|&line| line > 0);
    let address = place.address.or(place.basic_block);
    // Without lines, each instruction is a row of its own.
    let number = line.map(Number::Line).or(address.map(Number::Address));
    let key = Key { file: place.file, number };
    let sums = lines.or_default(key);
    if let Some(address) = address {
        let (from, to) = &mut **sums.addresses.get_or_insert_with(|| Box::new((address, address)));
        (*from, *to) = (address.min(*from), address.max(*to));
    }
    sums
}

/// Adds to sums that have only the columns that were needed so far.
fn add_to(sums: &mut Box<[Cost]>, costs: &[Cost]) {
    if costs.len() > sums.len() {
        let mut longer = costs.to_vec();
        add(&mut longer, sums);
        *sums = longer.into();
    } else {
        add(sums, costs);
    }
}

/// Brings the sums of a line to the event types of the view.
fn viewed(
    view: &View,
    caller: SubjectId,
    Key { file, number }: Key,
    sums: LineSums,
) -> Result<ViewedLine, ViewError> {
    let width = view.profile().event_count().max(1);
    let shown = |costs: Box<[Cost]>| -> Result<Box<[Cost]>, ViewError> {
        let mut costs = costs.into_vec();
        costs.resize(width, 0);
        Ok(view.shown_costs(&costs)?.into())
    };
    let self_costs = shown(sums.self_costs)?;
    let mut inclusive = self_costs.clone();
    let mut calls = Vec::with_capacity(sums.calls.len());
    for (callee, (count, costs)) in sums.calls.into_iter() {
        let costs = shown(costs)?;
        // The cost of calls inside of the function or its cycle is counted already.
        let is_inner = view.is_inner(caller, callee);
        if !is_inner {
            add(&mut inclusive, &costs);
        }
        calls.push(ViewedCall { callee, count, costs, is_inner });
    }
    sort_by_cost(view, &mut calls, |call| (0, first(&call.costs), call.callee));
    let line = match number {
        Some(Number::Line(line)) => Some(line),
        Some(Number::Address(_)) | None => None,
    };
    Ok(ViewedLine { file, line, addresses: sums.addresses, self_costs, inclusive, calls })
}

/// Makes rows of lines, which share the names in them: a path can be longer than the lines of its file.
struct RowMaker<'v> {
    view: &'v View,
    head: &'v Head,
    files: HashMap<FileId, Arc<[u8]>>,
    callees: Callees<'v>,
}

impl RowMaker<'_> {
    fn row(&mut self, line: ViewedLine) -> HotLine {
        let path = || self.view.profile().file(line.file).into();
        HotLine {
            file: Arc::clone(self.files.entry(line.file).or_insert_with(path)),
            line: line.line,
            text: None,
            addresses: line.addresses.map(|addresses| {
                let (from, to) = *addresses;
                Box::new([from, to].map(|address| ExactInteger(address.into())))
            }),
            self_costs: Costs::new(&self.head.event_types, line.self_costs),
            inclusive: Costs::new(&self.head.event_types, line.inclusive),
            calls: line
                .calls
                .iter()
                .map(|call| self.callees.called(call.callee, call.count, &call.costs, call.is_inner))
                .collect(),
        }
    }
}
