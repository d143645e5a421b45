//! Sums of functions and calls, with the costs that no line gave.

use std::hash::Hash;

use gristmill_format::{Cost, Costs};
use gristmill_profile::source_lines::{KeyedCalls, PartialCosts, PartialRow};
use gristmill_profile::{BlockLine, FileId, FunctionId, Part, Profile, Selection};

/// The sums of the selected parts.
///
/// A profile keeps sums, which do not distinguish a given zero from a cost that was not given. If lines omit zeros at
/// their end, as those of Callgrind do, the sums are enough; otherwise the lines are read again.
#[derive(Debug)]
pub(super) struct PartialSums<'p> {
    profile: &'p Profile,
    /// The parts, each with `true` if its lines omit zeros.
    parts: Vec<(Part<'p>, bool)>,
}

impl<'p> PartialSums<'p> {
    pub(super) fn new(profile: &'p Profile, selection: &'p Selection) -> Self {
        let parts = profile.selected(selection).map(|part| {
            let omits_zeros = profile.leaves_off_zeros(&part);
            (part, omits_zeros)
        });
        PartialSums { profile, parts: parts.collect() }
    }

    /// Passes on self costs by function and file of the lines.
    pub(super) fn each_self_cost(&self, mut take: impl FnMut(FunctionId, FileId, PartialRow<'_>)) {
        self.each(
            |part, take| {
                self.profile.each_self_cost(part, |function, file, costs| take((function, file), 0, costs));
            },
            |function, line| match line {
                BlockLine::SelfCost { place, costs } => Some(((function, place.file), 0, costs)),
                BlockLine::Calls { .. } | BlockLine::Jump { .. } => None,
            },
            |(function, file), _, row| take(function, file, row),
        );
    }

    /// Passes on calls by caller and callee: count and cost.
    pub(super) fn each_arc(&self, mut take: impl FnMut(FunctionId, FunctionId, Cost, PartialRow<'_>)) {
        self.each(
            |part, take| {
                self.profile.each_arc(part, |arc, costs| take((arc.caller, arc.callee), arc.count, costs));
            },
            |caller, line| match line {
                BlockLine::Calls { callee, count, costs, .. } => Some(((caller, callee), count, costs)),
                BlockLine::SelfCost { .. } | BlockLine::Jump { .. } => None,
            },
            |(caller, callee), count, row| take(caller, callee, count, row),
        );
    }

    /// Passes on sums: those that the profile `kept` of a part, or else those of its lines.
    fn each<K: Copy + Eq + Hash + Send>(
        &self,
        kept: impl Fn(&Part<'_>, &mut dyn FnMut(K, Cost, &[Cost])),
        of_line: impl for<'l> Fn(FunctionId, BlockLine<'l>) -> Option<(K, Cost, Costs<'l>)> + Sync,
        mut take: impl FnMut(K, Cost, PartialRow<'_>),
    ) {
        let width = self.profile.event_count();
        let mut row = PartialCosts::with_rows(width, 1);
        for (part, omits_zeros) in &self.parts {
            let events = part.event_types();
            let mut is_enough = *omits_zeros;
            if is_enough {
                kept(part, &mut |_, _, costs| is_enough &= costs.iter().any(|&cost| cost != 0));
            }
            if is_enough {
                kept(part, &mut |key, count, costs| {
                    row.clear_row(0);
                    given(costs).for_each(|(column, cost)| row.add(0, events[column].index(), cost));
                    take(key, count, row.row(0));
                });
                continue;
            }
            let mut sums = KeyedCalls::new(width);
            let read = self.profile.fold_lines(
                part,
                || KeyedCalls::new(width),
                |sums, function, line| {
                    if let Some((key, count, costs)) = of_line(function, line) {
                        sums.add_line(key, count, &costs, events);
                    }
                },
            );
            read.iter().for_each(|more| sums.merge(more));
            for (key, count, costs) in sums.iter() {
                take(key, count, costs);
            }
        }
    }
}

/// The given costs of a sum whose lines omit zeros at their end: all up to the last one that is not zero.
fn given(costs: &[Cost]) -> impl Iterator<Item = (usize, Cost)> {
    let count = costs.iter().rposition(|&cost| cost != 0).map_or(0, |last| last + 1);
    costs.iter().copied().take(count).enumerate()
}
