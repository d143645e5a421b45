//! The lines of a part, kept or joined.

use std::collections::{BTreeMap, BTreeSet};

use gristmill_format::Cost;

use super::LineCount;
use super::functions::Functions;
use super::least::{LeastCosts, decode};
use crate::decode::{BlockLine, Place};
use crate::id::{EventId, FunctionId};
use crate::part::Part;
use crate::profile::Profile;

/// The functions of a part with lines.
#[derive(Debug, Default)]
pub(super) struct PartLines {
    pub(super) functions: BTreeMap<FunctionId, FunctionLines>,
    pub(super) count: LineCount,
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
    pub(super) fn new(
        profile: &Profile,
        part: &Part<'_>,
        functions: &Functions<'_>,
        least: &LeastCosts,
    ) -> Self {
        let columns = part.event_types();
        let begin = || (vec![0; columns.len()], PartLines::default());
        let of_runs = profile.fold_lines(part, begin, |(row, lines), function, line| {
            lines.add(functions, function, line, columns, least, row);
        });
        let mut all = PartLines::default();
        for (_, lines) in of_runs {
            all.add_all(lines);
        }
        for lines in all.functions.values_mut() {
            lines.finish();
        }
        all
    }

    fn add(
        &mut self,
        functions: &Functions<'_>,
        function: FunctionId,
        line: BlockLine<'_>,
        columns: &[EventId],
        least: &LeastCosts,
        row: &mut [Cost],
    ) {
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
        self.count.all += 1;
        if is_group && calls.as_ref().is_some_and(|calls| calls.callee == function) {
            return;
        }
        decode(costs, row);
        if !is_group && least.is_reached(columns, row) {
            self.count.kept += 1;
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
        self.count.all += later.count.all;
        self.count.kept += later.count.kept;
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
    fn finish(&mut self) {
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
