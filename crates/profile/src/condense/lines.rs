//! The lines of the functions of a part.

use std::collections::BTreeMap;
use std::hash::BuildHasher as _;

use gristmill_format::Cost;

use super::least::{costs_of, decode};
use super::numbers::Numbers;
use super::{Condensing, shortened};
use crate::decode::{BlockLine, BlockReader, Place};
use crate::hash::Seeds;
use crate::id::{EventId, FunctionId, PartId};
use crate::part::Part;
use crate::profile::Profile;

/// The blocks of a part, sorted by the function as which they are written, and those of one in the order of the file.
pub(super) struct PartBlocks<'p> {
    profile: &'p Profile,
    part: PartId,
    /// The id under which a block is written, and its index among those of the part.
    blocks: Vec<(FunctionId, u32)>,
}

/// The blocks of a part that are written as one function.
#[derive(Clone, Copy)]
pub(super) struct FunctionBlocks<'b, 'p> {
    of_part: &'b PartBlocks<'p>,
    blocks: &'b [(FunctionId, u32)],
}

impl<'p> PartBlocks<'p> {
    pub(super) fn new(condensing: &Condensing<'p>, part: &Part<'_>) -> Self {
        let index = &condensing.profile.index;
        let functions = index.blocks[index.block_range(part.id())].iter().map(|block| block.function);
        let written = functions.map(|function| condensing.functions.written(function));
        let mut blocks: Vec<(FunctionId, u32)> = written.zip(0..).collect();
        blocks.sort_unstable();
        PartBlocks { profile: condensing.profile, part: part.id(), blocks }
    }

    /// Returns the blocks of each function, in the order of the ids under which they are written.
    pub(super) fn by_function(&self) -> impl Iterator<Item = FunctionBlocks<'_, 'p>> {
        let of_functions = self.blocks.chunk_by(|(one, _), (other, _)| one == other);
        of_functions.map(|blocks| FunctionBlocks { of_part: self, blocks })
    }
}

impl<'b, 'p> FunctionBlocks<'b, 'p> {
    /// Returns the id under which the function is written.
    pub(super) fn function(self) -> FunctionId {
        self.blocks[0].0
    }

    /// Decodes the lines, in the order of the file. Each is behind the function that has it in the profile.
    pub(super) fn lines(self) -> impl Iterator<Item = (FunctionId, BlockLine<'p>)> + use<'b, 'p> {
        let PartBlocks { profile, part, .. } = *self.of_part;
        let first = profile.index.block_range(part).start;
        self.blocks.iter().flat_map(move |&(_, block)| {
            let block = first + block as usize;
            let function = profile.index.blocks[block].function;
            let mut reader = BlockReader::new(profile, part, block);
            std::iter::from_fn(move || reader.next_line()).map(move |line| (function, line))
        })
    }

    /// Returns those of some places that have a line that is kept. To keep all lines until then would take much more memory than to
    /// decode them again.
    pub(super) fn kept_starts(
        self,
        mut starts: Places,
        condensing: &Condensing<'_>,
        columns: &[EventId],
    ) -> Places {
        let mut kept = Places::with_seeds_of(&starts);
        if starts.is_empty() {
            return kept;
        }
        starts.sort();
        let mut row = vec![0; columns.len()];
        for (function, line) in self.lines() {
            if let Some((place, costs, _)) = costs_of(&line)
                && starts.contains(place)
            {
                decode(costs, &mut row);
                if condensing.keeps(columns, &row, function, place) {
                    kept.insert(place);
                }
            }
        }
        kept.sort();
        kept
    }
}

/// A set of places, by 64 bits of a hash each.
#[derive(Debug, Default)]
pub(super) struct Places {
    hashes: Numbers,
    seeds: Seeds,
}

impl Places {
    fn with_seeds_of(other: &Places) -> Self {
        Places { hashes: Numbers::default(), seeds: other.seeds }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    pub(super) fn insert(&mut self, place: &Place) {
        self.hashes.insert(self.seeds.hash_one(place));
    }

    fn sort(&mut self) {
        self.hashes.sort();
    }

    /// `true` if the set has a place. It has to be sorted.
    pub(super) fn contains(&self, place: &Place) -> bool {
        self.hashes.contains(self.seeds.hash_one(place))
    }
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
    pub(super) fn add(&mut self, columns: &[EventId], costs: &[Cost], is_kept: bool) {
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

/// The lines of a function that are joined.
#[derive(Debug, Default)]
pub(super) struct JoinedLines {
    /// The self costs, if there are any.
    pub(super) costs: Option<Vec<Cost>>,
    /// By callee.
    pub(super) calls: BTreeMap<FunctionId, JoinedCalls>,
}

#[derive(Debug, Default)]
pub(super) struct JoinedCalls {
    pub(super) count: Cost,
    pub(super) costs: Vec<Cost>,
}

impl JoinedLines {
    pub(super) fn add_self_costs(&mut self, costs: &[Cost]) {
        add_costs(self.costs.get_or_insert_default(), costs);
    }

    pub(super) fn add_calls(&mut self, callee: FunctionId, count: Cost, costs: &[Cost]) {
        let joined = self.calls.entry(callee).or_default();
        joined.count = joined.count.saturating_add(count);
        add_costs(&mut joined.costs, costs);
    }
}

fn add_costs(sums: &mut Vec<Cost>, costs: &[Cost]) {
    // Lines of many callees can have a cost of one event type each.
    let costs = shortened(costs);
    if sums.len() < costs.len() {
        sums.resize(costs.len(), 0);
    }
    sums.iter_mut().zip(costs).for_each(|(sum, cost)| *sum = sum.saturating_add(*cost));
}

#[cfg(test)]
mod tests {
    use crate::Profile;
    use crate::condense::Condensing;

    #[test]
    fn jumps_follow_the_lines_of_all_blocks_of_a_function() {
        let text =
            "events: Ir\nfn=f\njump=1 9\n5\n5 1\nfn=g\njump=1 2\n7\n5 40\nfn=f\njump=2 9\n7\n7 50\n8 2\n";
        let condensed = |per_mille| {
            let profile = Profile::from_bytes(text.as_bytes());
            let mut condensed = Vec::new();
            Condensing::new(&profile, per_mille).write(0, &mut condensed).unwrap();
            String::from_utf8(condensed).unwrap()
        };
        let start = "# callgrind format\nevents: Ir\n\nfn=(1) f\n";
        let expected = "5 1\n+2 50\n+1 2\njump=1 +1 \n-3 \njump=2 +4 \n+2 \n\nfn=(2) g\n5 40\n";
        assert_eq!(condensed(1000), format!("{start}{expected}"));
        let expected = "7 50\njump=2 +2 \n* \n-7 3\n\nfn=(2) g\n0 40\n";
        assert_eq!(condensed(500), format!("{start}{expected}"));
    }
}
