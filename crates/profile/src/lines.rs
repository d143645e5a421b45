//! What stands in the lines of a function: costs by line and address, calls and jumps at their places.

use gristmill_format::{Cost, Costs};

use crate::cost::CostTable;
use crate::decode::{BlockLine, BlockReader, Place};
use crate::id::{EventId, FunctionId, PartId};
use crate::profile::Profile;
use crate::selection::Selection;

/// The lines of a function, in the order of their places; each place once.
#[derive(Debug, Clone, PartialEq)]
pub struct LineDetail {
    /// Where the function has self costs.
    pub places: Vec<Place>,
    /// The self costs of each place, with a column for each event type of the profile.
    pub costs: CostTable,
    /// The calls that it makes.
    pub calls: Vec<CallSite>,
    /// The inclusive costs of each of the calls.
    pub call_costs: CostTable,
    /// The jumps inside of it.
    pub jumps: Vec<JumpSite>,
}

/// All calls from one place to one function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallSite {
    /// Where they are made.
    pub place: Place,
    /// Who is called.
    pub callee: FunctionId,
    /// Where the callee is entered.
    pub target: Place,
    /// How often.
    pub count: Cost,
}

/// All jumps from one place to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JumpSite {
    /// Where it starts.
    pub place: Place,
    /// Where it leads.
    pub target: Place,
    /// The function that it leads to, where the profile says that it is another.
    pub function: Option<FunctionId>,
    /// How often it was taken.
    pub taken: Cost,
    /// For a conditional jump, how often it was reached.
    pub executed: Option<Cost>,
}

impl Profile {
    /// The lines of a function in the selected parts, read again from the inputs.
    pub fn lines(&self, function: FunctionId, selection: &Selection) -> LineDetail {
        let width = self.event_count();
        let mut selves: Gathered<Place> = Gathered::new(width);
        let mut calls: Gathered<(Place, FunctionId, Place)> = Gathered::new(width);
        let mut jumps = Vec::new();
        for part in self.selected(selection) {
            let range = self.index.block_range(part.id());
            for &block in self.index.blocks_by_function.get(function, &range, &self.index.blocks) {
                let mut reader = BlockReader::new(self, part.id(), block as usize);
                while let Some(line) = reader.next_line() {
                    match line {
                        BlockLine::SelfCost { place, costs } => {
                            selves.push(place, 0, &costs, part.event_types());
                        }
                        BlockLine::Calls { place, callee, count, target, costs } => {
                            calls.push((place, callee, target), count, &costs, part.event_types());
                        }
                        BlockLine::Jump { place, taken, executed, target, function } => {
                            jumps.push(JumpSite { place, target, function, taken, executed });
                        }
                    }
                }
            }
        }
        let (places, _, costs) = selves.finish();
        let (sites, counts, call_costs) = calls.finish();
        let calls = sites.into_iter().zip(counts);
        let calls = calls.map(|((place, callee, target), count)| CallSite { place, callee, target, count });
        LineDetail { places, costs, calls: calls.collect(), call_costs, jumps: merged(jumps) }
    }
}

/// Costs by something that comes several times and in any order.
#[derive(Debug)]
struct Gathered<K> {
    keys: Vec<(K, usize)>,
    counts: Vec<Cost>,
    costs: CostTable,
    row: Vec<Cost>,
}

impl<K: Copy + Ord> Gathered<K> {
    fn new(width: usize) -> Self {
        let costs = CostTable::new(width, 0);
        Gathered { keys: Vec::new(), counts: Vec::new(), costs, row: Vec::new() }
    }

    fn push(&mut self, key: K, count: Cost, costs: &Costs<'_>, events: &[EventId]) {
        self.row.clear();
        self.row.resize(self.costs.width(), 0);
        place_costs(costs, events, &mut self.row);
        // Lines of one place most often follow each other.
        match self.keys.last() {
            Some(&(last, row)) if last == key => {
                if self.costs.width() > 0 {
                    self.costs.add(row, &self.row);
                }
                self.counts[row] += count;
            }
            _ => {
                self.keys.push((key, self.counts.len()));
                self.counts.push(count);
                self.costs.push(&self.row);
            }
        }
    }

    fn finish(mut self) -> (Vec<K>, Vec<Cost>, CostTable) {
        self.keys.sort_unstable();
        let width = self.costs.width();
        let (mut keys, mut counts): (Vec<K>, Vec<Cost>) = (Vec::new(), Vec::new());
        let mut costs = CostTable::new(width, 0);
        for (key, row) in self.keys {
            if keys.last() != Some(&key) {
                keys.push(key);
                counts.push(0);
                costs.push_zeros();
            }
            if let Some(count) = counts.last_mut() {
                *count += self.counts[row];
            }
            if width > 0 {
                costs.add(keys.len() - 1, self.costs.row(row));
            }
        }
        (keys, counts, costs)
    }
}

/// Puts the costs of a line into the columns of the profile.
pub(crate) fn place_costs(costs: &Costs<'_>, events: &[EventId], row: &mut [Cost]) {
    for (cost, event) in costs.iter().zip(events) {
        row[event.index()] += cost.unwrap_or_else(|fault| fault.repaired);
    }
}

/// Adds the costs of a line to a row that begins with a count and is as long as it need be.
pub(crate) fn place_columns(costs: &Costs<'_>, width: usize, row: &mut Vec<Cost>) {
    for (column, cost) in costs.iter().take(width).enumerate() {
        if row.len() < column + 2 {
            row.push(0);
        }
        row[column + 1] += cost.unwrap_or_else(|fault| fault.repaired);
    }
}

/// Jumps in the order of their places, each pair of places once.
fn merged(mut jumps: Vec<JumpSite>) -> Vec<JumpSite> {
    let key = |jump: &JumpSite| (jump.place, jump.target, jump.function, jump.executed.is_some());
    jumps.sort_by_key(key);
    jumps.dedup_by(|jump, first| {
        let same = key(jump) == key(first);
        if same {
            first.taken += jump.taken;
            if let (Some(sum), Some(more)) = (&mut first.executed, jump.executed) {
                *sum += more;
            }
        }
        same
    });
    jumps
}

/// The blocks of a part, one after the other; see [`Profile::invocations`].
#[derive(Debug)]
pub struct Invocations<'p> {
    profile: &'p Profile,
    part: PartId,
    blocks: std::ops::Range<usize>,
    self_costs: Vec<Cost>,
    calls: Vec<(FunctionId, Cost)>,
    call_costs: Vec<Cost>,
}

impl Profile {
    /// The blocks of a part in the order of the file, read again from its input. Where a producer writes a block for
    /// each invocation, these are the invocations.
    pub fn invocations(&self, part: PartId) -> Invocations<'_> {
        Invocations {
            profile: self,
            part,
            blocks: self.index.block_range(part),
            self_costs: Vec::new(),
            calls: Vec::new(),
            call_costs: Vec::new(),
        }
    }
}

impl Invocations<'_> {
    /// How many blocks are left.
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Whether none is left.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// The next block: what its own lines cost, and its calls in their order. Costs have a column for each event type
    /// of the profile, and one of zeros where it has none, as in [`Profile::call_graph`].
    pub fn next_block(&mut self) -> Option<crate::analysis::Invocation<'_>> {
        let index = self.blocks.next()?;
        let width = self.profile.event_count().max(1);
        self.self_costs.clear();
        self.self_costs.resize(width, 0);
        self.calls.clear();
        self.call_costs.clear();
        let function = self.profile.index.blocks[index].function;
        let events = self.profile.part(self.part).event_types();
        let mut reader = BlockReader::new(self.profile, self.part, index);
        while let Some(line) = reader.next_line() {
            match line {
                BlockLine::SelfCost { costs, .. } => place_costs(&costs, events, &mut self.self_costs),
                BlockLine::Calls { callee, count, costs, .. } => {
                    self.calls.push((callee, count));
                    let at = self.call_costs.len();
                    self.call_costs.resize(at + width, 0);
                    place_costs(&costs, events, &mut self.call_costs[at..]);
                }
                BlockLine::Jump { .. } => {}
            }
        }
        Some(crate::analysis::Invocation {
            function,
            self_costs: &self.self_costs,
            calls: &self.calls,
            call_costs: &self.call_costs,
        })
    }
}
