//! The lines of a part, kept or joined.

use std::collections::{BTreeMap, BTreeSet};

use gristmill_format::Cost;

use super::least::decode;
use super::{Condensing, WrittenLines};
use crate::decode::{BlockLine, Place};
use crate::id::{EventId, FunctionId};
use crate::part::Part;

/// The functions of a part with lines.
#[derive(Debug, Default)]
pub(super) struct PartLines {
    pub(super) functions: BTreeMap<FunctionId, FunctionLines>,
    pub(super) written: WrittenLines,
}

/// Self costs without sign, by event type.
#[derive(Debug, Clone, Default)]
pub(super) struct SelfCosts(Vec<KeptCost>);

/// The self cost of all lines, and of those that are kept.
#[derive(Debug, Clone, Copy, Default)]
struct KeptCost {
    all: u128,
    kept: u128,
}

impl SelfCosts {
    fn add(&mut self, columns: &[EventId], costs: &[Cost], is_kept: bool) {
        for (event, cost) in columns.iter().zip(costs) {
            if self.0.len() <= event.index() {
                self.0.resize(event.index() + 1, KeptCost::default());
            }
            let sums = &mut self.0[event.index()];
            let cost = cost.unsigned_abs();
            sums.all = sums.all.saturating_add(cost);
            sums.kept = sums.kept.saturating_add(if is_kept { cost } else { 0 });
        }
    }

    pub(super) fn add_all(&mut self, more: &SelfCosts) {
        if self.0.len() < more.0.len() {
            self.0.resize(more.0.len(), KeptCost::default());
        }
        for (sums, more) in self.0.iter_mut().zip(&more.0) {
            sums.all = sums.all.saturating_add(more.all);
            sums.kept = sums.kept.saturating_add(more.kept);
        }
    }

    /// Returns the share that is kept of an event type, in thousandths and rounded down: all of nothing.
    pub(super) fn kept_per_mille(&self, event: EventId) -> u32 {
        let sums = self.0.get(event.index()).copied().unwrap_or_default();
        // Costs of more than 118 bits cannot be multiplied.
        let shift = (128 - sums.all.leading_zeros()).saturating_sub(118);
        let (all, kept) = (sums.all >> shift, sums.kept >> shift);
        let share = (kept * 1000).checked_div(all);
        share.and_then(|share| u32::try_from(share).ok()).unwrap_or(1000)
    }
}

#[derive(Debug, Default)]
pub(super) struct FunctionLines {
    pub(super) kept: Vec<KeptLine>,
    pub(super) jumps: Vec<JumpLine>,
    /// The self costs of the other lines, if there are any.
    pub(super) joined: Option<Vec<Cost>>,
    pub(super) joined_calls: BTreeMap<FunctionId, JoinedCalls>,
}

#[derive(Debug)]
pub(super) struct KeptLine {
    pub(super) place: Place,
    pub(super) costs: Vec<Cost>,
    pub(super) calls: Option<KeptCalls>,
}

#[derive(Debug)]
pub(super) struct KeptCalls {
    pub(super) callee: FunctionId,
    pub(super) count: Cost,
    pub(super) target: Place,
}

#[derive(Debug, Default)]
pub(super) struct JoinedCalls {
    pub(super) count: Cost,
    pub(super) costs: Vec<Cost>,
}

#[derive(Debug)]
pub(super) struct JumpLine {
    pub(super) place: Place,
    pub(super) taken: Cost,
    pub(super) executed: Option<Cost>,
    pub(super) target: Place,
    pub(super) function: Option<FunctionId>,
}

impl PartLines {
    /// Reads the lines of a part.
    pub(super) fn new(condensing: &Condensing<'_>, part: &Part<'_>) -> Self {
        let columns = part.event_types();
        let begin = || (vec![0; columns.len()], PartLines::default());
        let of_runs = condensing.profile.fold_lines(part, begin, |(row, lines), function, line| {
            lines.add(condensing, function, line, columns, row);
        });
        let mut all = PartLines::default();
        for (_, lines) in of_runs {
            all.add_all(lines);
        }
        for lines in all.functions.values_mut() {
            lines.leave_jumps_out();
        }
        all
    }

    fn add(
        &mut self,
        condensing: &Condensing<'_>,
        function: FunctionId,
        line: BlockLine<'_>,
        columns: &[EventId],
        row: &mut [Cost],
    ) {
        let functions = &condensing.functions;
        let original = function;
        let function = functions.written(function);
        let is_group = functions.is_group(function);
        let lines = self.functions.entry(function).or_default();
        let (place, costs, calls) = match line {
            BlockLine::SelfCost { place, costs } => (place, costs, None),
            BlockLine::Calls { place, callee, count, target, costs } => {
                let callee = functions.written(callee);
                (place, costs, Some(KeptCalls { callee, count, target }))
            }
            BlockLine::Jump { place, taken, executed, target, function: to } => {
                if !is_group && to.is_none_or(|to| !functions.is_group(functions.written(to))) {
                    lines.jumps.push(JumpLine { place, taken, executed, target, function: to });
                }
                return;
            }
        };
        self.written.lines.all += 1;
        if is_group && calls.as_ref().is_some_and(|calls| calls.callee == function) {
            return;
        }
        decode(costs, row);
        let is_kept = condensing.keeps(columns, row, original, &place);
        if calls.is_none() {
            self.written.self_costs.add(columns, row, is_kept);
        }
        if is_kept {
            self.written.lines.kept += 1;
            lines.kept.push(KeptLine { place, costs: row.to_vec(), calls });
            return;
        }
        match calls {
            None => add_costs(lines.joined.get_or_insert_default(), row),
            Some(KeptCalls { callee, count, .. }) => {
                let joined = lines.joined_calls.entry(callee).or_default();
                joined.count = joined.count.saturating_add(count);
                add_costs(&mut joined.costs, row);
            }
        }
    }

    /// Adds lines that follow.
    fn add_all(&mut self, later: PartLines) {
        self.written.add(&later.written);
        for (function, more) in later.functions {
            let lines = self.functions.entry(function).or_default();
            lines.kept.extend(more.kept);
            lines.jumps.extend(more.jumps);
            if let Some(costs) = more.joined {
                add_costs(lines.joined.get_or_insert_default(), &costs);
            }
            for (callee, calls) in more.joined_calls {
                let joined = lines.joined_calls.entry(callee).or_default();
                joined.count = joined.count.saturating_add(calls.count);
                add_costs(&mut joined.costs, &calls.costs);
            }
        }
    }
}

impl FunctionLines {
    /// Leaves jumps out that start at no line that is kept.
    fn leave_jumps_out(&mut self) {
        let kept: BTreeSet<Place> = self.kept.iter().map(|line| line.place).collect();
        self.jumps.retain(|jump| kept.contains(&jump.place));
    }
}

fn add_costs(sums: &mut Vec<Cost>, costs: &[Cost]) {
    if sums.len() < costs.len() {
        sums.resize(costs.len(), 0);
    }
    sums.iter_mut().zip(costs).for_each(|(sum, cost)| *sum = sum.saturating_add(*cost));
}
