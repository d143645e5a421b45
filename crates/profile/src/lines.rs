//! The lines of a function: costs by position, calls and jumps.

use gristmill_format::{Cost, Costs};

use crate::cost::add;
use crate::decode::{BlockLine, BlockReader, Place};
use crate::id::{EventId, FunctionId, PartId};
use crate::merged::Merged;
use crate::profile::Profile;
use crate::selection::Selection;

/// The lines of a function, sorted by position, each position once. [The crate](crate) has an example.
#[derive(Debug, Clone, PartialEq)]
pub struct LineDetail {
    /// Positions with self costs.
    pub places: Vec<Place>,
    /// Self costs of each position.
    pub costs: LineCosts,
    /// Calls that it makes.
    pub calls: Vec<CallSite>,
    /// Inclusive costs of each call.
    pub call_costs: LineCosts,
    /// Jumps inside it.
    pub jumps: Vec<JumpSite>,
}

/// All calls from one position to one function. [The crate](crate) has an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallSite {
    /// Position of the calls.
    pub place: Place,
    /// Callee.
    pub callee: FunctionId,
    /// Position where the callee is entered.
    pub target: Place,
    /// Number of calls.
    pub count: Cost,
    /// `true` if some of the calls are inlined: nothing tells how often that happened, and the count is that of the others.
    pub is_inlined: bool,
}

/// All jumps from one position to another, as in [`LineDetail::jumps`]. [The crate](crate) has an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JumpSite {
    /// Position of the jump.
    pub place: Place,
    /// Target of the jump.
    pub target: Place,
    /// Function of the target, if the profile names another.
    pub function: Option<FunctionId>,
    /// Number of times it was taken.
    pub taken: Cost,
    /// Number of times a conditional jump was reached.
    pub executed: Option<Cost>,
}

impl Profile {
    /// Decodes the lines of a function in the selected parts. [The crate](crate) has an example.
    pub fn lines(&self, function: FunctionId, selection: &Selection) -> LineDetail {
        let width = self.event_count();
        let mut selves: UnsortedCosts<Place> = UnsortedCosts::new(width);
        let mut calls: UnsortedCosts<(Place, FunctionId, Place)> = UnsortedCosts::new(width);
        let mut jumps = Vec::new();
        self.each_line(function, selection, |events, line| match line {
            BlockLine::SelfCost { place, costs } => selves.push(place, 0, &costs, events),
            BlockLine::Calls { place, callee, count, target, costs } => {
                calls.push((place, callee, target), count, &costs, events);
            }
            BlockLine::Jump { place, taken, executed, target, function } => {
                jumps.push(JumpSite { place, target, function, taken, executed });
            }
        });
        let (places, _, costs) = selves.finish();
        let (sites, counts, call_costs) = calls.finish();
        let calls = sites.into_iter().zip(counts);
        let inlined = &self.index.inlined;
        let calls = calls.map(|((place, callee, target), count)| {
            let is_inlined = !inlined.is_empty()
                && inlined.has_site((function, place.file, place.line.unwrap_or(0), callee));
            CallSite { place, callee, target, count, is_inlined }
        });
        LineDetail { places, costs, calls: calls.collect(), call_costs, jumps: merged(jumps) }
    }

    /// Returns the positions of a function that have self costs, sorted, each once: the [places](LineDetail::places) of its lines, without
    /// a table of costs.
    ///
    /// ```
    /// use gristmill_profile::{Profile, Selection};
    ///
    /// let profile = Profile::from_bytes("events: Ir\nfn=main\n17 20\n16 4\n17 1\n");
    /// let main = profile.functions().next().expect("a function");
    /// let lines: Vec<_> = profile.places(main, &Selection::default()).iter().map(|place| place.line).collect();
    /// assert_eq!(lines, [Some(16), Some(17)]);
    /// ```
    pub fn places(&self, function: FunctionId, selection: &Selection) -> Vec<Place> {
        let mut places = Merged::new(Vec::dedup);
        self.each_line(function, selection, |_, line| {
            if let BlockLine::SelfCost { place, .. } = line {
                places.push(place);
            }
        });
        places.finish()
    }

    /// Decodes the lines of a function in the selected parts one after another, each with the event types of its costs.
    pub(crate) fn each_line(
        &self,
        function: FunctionId,
        selection: &Selection,
        mut see: impl FnMut(&[EventId], BlockLine<'_>),
    ) {
        for part in self.selected(selection) {
            let range = self.index.block_range(part.id());
            for &block in self.index.blocks_by_function.get(function, &range, &self.index.blocks) {
                let mut reader = BlockReader::new(self, part.id(), block as usize);
                while let Some(line) = reader.next_line() {
                    see(part.event_types(), line);
                }
            }
        }
    }
}

/// Rows of costs by event type of the profile, without the zeros at their ends: most lines leave most event types out. [The
/// crate](crate) has an example.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LineCosts {
    ends: Vec<usize>,
    values: Vec<Cost>,
}

impl LineCosts {
    /// Returns how many rows there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns `true` if there is no row.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns a row. The costs that it lacks are zero.
    pub fn row(&self, index: usize) -> &[Cost] {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.values[start..self.ends[index]]
    }

    /// Returns the rows.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[Cost]> {
        (0..self.len()).map(|index| self.row(index))
    }

    fn push(&mut self, costs: &[Cost]) {
        self.ends.push(self.values.len());
        self.add_to_last(costs);
    }

    fn add_to_last(&mut self, costs: &[Cost]) {
        let given = costs.iter().rposition(|&cost| cost != 0).map_or(0, |last| last + 1);
        let start = self.ends.len().checked_sub(2).map_or(0, |before| self.ends[before]);
        if let Some(end) = self.ends.last_mut() {
            self.values.resize((*end).max(start + given), 0);
            *end = self.values.len();
            add(&mut self.values[start..], &costs[..given]);
        }
    }
}

/// Costs by keys that come in any order and several times.
#[derive(Debug)]
struct UnsortedCosts<K> {
    width: usize,
    keys: Vec<(K, usize)>,
    counts: Vec<Cost>,
    costs: LineCosts,
    row: Vec<Cost>,
}

impl<K: Copy + Ord> UnsortedCosts<K> {
    fn new(width: usize) -> Self {
        UnsortedCosts {
            width,
            keys: Vec::new(),
            counts: Vec::new(),
            costs: LineCosts::default(),
            row: Vec::new(),
        }
    }

    fn push(&mut self, key: K, count: Cost, costs: &Costs<'_>, events: &[EventId]) {
        // The row ends with the last cost: a line can give a few of very many.
        self.row.clear();
        for (event, cost) in costs_by_event(costs, events) {
            if self.row.len() <= event.index() {
                self.row.resize(event.index() + 1, 0);
            }
            self.row[event.index()] += cost;
        }
        // Lines of one position are usually neighbours.
        match self.keys.last() {
            Some(&(last, row)) if last == key => {
                self.costs.add_to_last(&self.row);
                self.counts[row] += count;
            }
            _ => {
                self.keys.push((key, self.counts.len()));
                self.counts.push(count);
                self.costs.push(&self.row);
            }
        }
    }

    fn finish(mut self) -> (Vec<K>, Vec<Cost>, LineCosts) {
        if self.keys.is_sorted_by(|(key, _), (next, _)| key < next) {
            return (self.keys.into_iter().map(|(key, _)| key).collect(), self.counts, self.costs);
        }
        self.keys.sort_unstable();
        let (mut keys, mut counts) = (Vec::new(), Vec::new());
        let mut costs = LineCosts::default();
        let mut sum = vec![0; self.width];
        for of_key in self.keys.chunk_by(|(key, _), (next, _)| key == next) {
            let width = of_key.iter().map(|&(_, row)| self.costs.row(row).len()).max().unwrap_or(0);
            sum[..width].fill(0);
            of_key.iter().for_each(|&(_, row)| add(&mut sum, self.costs.row(row)));
            keys.extend(of_key.first().map(|(key, _)| *key));
            counts.push(of_key.iter().map(|&(_, row)| self.counts[row]).sum());
            costs.push(&sum[..width]);
        }
        (keys, counts, costs)
    }
}

/// Adds the costs of a line to the columns of the profile.
pub(crate) fn place_costs(costs: &Costs<'_>, events: &[EventId], row: &mut [Cost]) {
    costs_by_event(costs, events).for_each(|(event, cost)| row[event.index()] += cost);
}

/// Goes through the costs that a line has.
pub(crate) fn costs_by_event<'l>(
    costs: &'l Costs<'_>,
    events: &'l [EventId],
) -> impl Iterator<Item = (EventId, Cost)> + use<'l> {
    let costs = costs.iter().map(|cost| cost.unwrap_or_else(|fault| fault.repaired));
    costs.zip(events).map(|(cost, event)| (*event, cost))
}

/// Adds the costs of a line to a row that starts with a count and grows as needed.
pub(crate) fn place_columns(costs: &Costs<'_>, width: usize, row: &mut Vec<Cost>) {
    for (column, cost) in costs.iter().take(width).enumerate() {
        if row.len() < column + 2 {
            row.push(0);
        }
        row[column + 1] += cost.unwrap_or_else(|fault| fault.repaired);
    }
}

/// Sorts jumps by position and target, and adds up equal ones.
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

/// A cursor over the blocks of a part.
///
/// ```
/// use gristmill_profile::Profile;
///
/// let profile = Profile::from_bytes("events: Ir\nfn=f\n1 2\nfn=g\n1 3\nfn=f\n1 4\n");
/// let mut blocks = profile.invocations(profile.parts().next().unwrap().id());
/// let mut costs = Vec::new();
/// while let Some(block) = blocks.next_block() {
///     costs.push(block.self_costs[0]);
/// }
/// assert_eq!(costs, [2, 3, 4]);
/// ```
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
    /// Returns a cursor over the blocks of a part in the order of the file. If the producer writes a block for each
    /// invocation, these are the invocations.
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
    /// Returns how many blocks are left.
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Returns `true` if none is left.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Returns the next block: its self costs, and its calls in order. Costs have a column for each event type of the
    /// profile, or one column of zeros if it has none, as in [`Profile::call_graph`].
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
