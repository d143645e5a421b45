//! Inlined calls and their inclusive costs.

use gristmill_format::Cost;

use super::nodes::{Node, NodeFile, Step};
use crate::cost::add;
use crate::decode::Place;
use crate::hash::Map;

/// A line that an inlined function is called from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ArcKey {
    pub(super) caller: Node,
    pub(super) file: NodeFile,
    pub(super) line: Option<u64>,
    pub(super) callee: Node,
}

/// The first instruction of inlined code, where it stands for the position of its call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry {
    pub(super) address: Option<u64>,
    pub(super) basic_block: Option<u64>,
    /// The line in the file of the callee; 0 if it is unknown.
    pub(super) line: u64,
}

/// All inlined calls from one line to one function.
#[derive(Debug, Clone)]
pub(super) struct ArcSum {
    pub(super) entry: Entry,
    /// Inclusive costs, in the order of the part's own event types.
    pub(super) costs: Vec<Cost>,
}

/// Inlined calls by line and callee.
pub(super) type Arcs = Map<ArcKey, ArcSum>;

/// Adds calls.
pub(super) fn add_arc(arcs: &mut Arcs, key: ArcKey, sum: &ArcSum) {
    arcs.entry(key)
        .and_modify(|known| {
            known.entry = known.entry.min(sum.entry);
            add(&mut known.costs, &sum.costs);
        })
        .or_insert_with(|| sum.clone());
}

/// The costs below a chain in a block.
#[derive(Debug)]
pub(super) struct ChainSum {
    pub(super) steps: Vec<Step>,
    costs: Vec<Cost>,
    first: Option<Place>,
}

impl ChainSum {
    pub(super) fn new(steps: Vec<Step>, width: usize) -> Self {
        ChainSum { steps, costs: vec![0; width], first: None }
    }

    /// Returns the innermost function; `None` for code of the function itself.
    pub(super) fn leaf(&self) -> Option<Node> {
        self.steps.last().map(|step| step.callee)
    }

    /// Takes note of a line, also of one without costs.
    pub(super) fn meet(&mut self, place: &Place) {
        let key = |place: &Place| (place.address, place.line, place.file);
        if self.first.is_none_or(|first| key(place) < key(&first)) {
            self.first = Some(*place);
        }
    }

    /// Adds a cost of a line or of calls.
    pub(super) fn add(&mut self, column: usize, cost: Cost) {
        if let Some(sum) = self.costs.get_mut(column) {
            *sum += cost;
        }
    }

    /// Adds the calls of the chain in a function to others.
    pub(super) fn add_to(&self, function: Node, file_of: impl Fn(Node) -> NodeFile, arcs: &mut Arcs) {
        let Some(first) = self.first else { return };
        let mut caller = function;
        for (index, step) in self.steps.iter().enumerate() {
            let inner = self.steps.get(index + 1);
            // The line of the callee's own code: that of the next call, or the position itself.
            let (file, line) =
                inner.map_or((first.file.to_u32(), first.line), |inner| (inner.file, inner.line));
            let line = line.filter(|_| file == file_of(step.callee)).unwrap_or(0);
            let entry = Entry { address: first.address, basic_block: first.basic_block, line };
            let key = ArcKey { caller, file: step.file, line: step.line, callee: step.callee };
            add_arc(arcs, key, &ArcSum { entry, costs: self.costs.clone() });
            caller = step.callee;
        }
    }
}
