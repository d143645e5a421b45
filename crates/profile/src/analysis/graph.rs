//! Call graphs.

use std::ops::Range;
use std::sync::OnceLock;

use gristmill_format::Cost;

use crate::analysis::arcs::{ArcColumns, CallArc};
use crate::analysis::column_kinds::ColumnKinds;
use crate::analysis::ids::{ArcId, NodeId};
use crate::analysis::partition::Partition;
use crate::cost::{CostTable, add};
use crate::csr::{Csr, group_starts};
use crate::event::MEMORY;
use crate::formula::{CostOverflow, Derived};
use crate::id::{FunctionId, narrow};

/// A call graph: nodes with their self costs, and the arcs between them.
///
/// The graph that [`Profile::call_graph`](crate::Profile::call_graph) makes has one node for each function; see
/// [`CallGraph::node_of`]. A graph can also be built node by node:
///
/// ```
/// use gristmill_profile::analysis::{CallArc, CallGraph};
///
/// let mut builder = CallGraph::builder(1);
/// let main = builder.add_node(&[10]);
/// let read = builder.add_node(&[5]);
/// builder.add_arc(CallArc { caller: main, callee: read, count: 2 }, &[5]);
///
/// let graph = builder.build();
/// assert_eq!(graph.self_cost(main), [10]);
/// assert_eq!(graph.self_and_callees(main), [15]);
/// assert_eq!(graph.call_count(read), 2);
/// ```
#[derive(Debug, Clone)]
pub struct CallGraph {
    /// Self cost, by node.
    self_costs: CostTable,
    /// Sorted by caller, then callee; each pair once.
    arcs: ArcColumns,
    /// Offsets of the arcs of each caller, and their end (CSR).
    first_out: Vec<u32>,
    /// Arcs by callee. Computed when first asked for.
    incoming: OnceLock<Csr>,
    /// `true` if each node is the function of a profile with the same index.
    is_of_functions: bool,
    kinds: ColumnKinds,
}

impl PartialEq for CallGraph {
    fn eq(&self, other: &Self) -> bool {
        // The other fields follow from these, or say where they come from.
        (&self.self_costs, &self.arcs) == (&other.self_costs, &other.arcs)
    }
}

impl Eq for CallGraph {}

/// A [`CallGraph`] under construction. See the example of [`CallGraph`].
#[derive(Debug)]
pub struct CallGraphBuilder {
    self_costs: CostTable,
    arcs: ArcColumns,
}

impl CallGraphBuilder {
    /// Adds a node with its self costs.
    pub fn add_node(&mut self, self_costs: &[Cost]) -> NodeId {
        self.self_costs.push(self_costs);
        NodeId::new(self.self_costs.len() - 1)
    }

    /// Adds an arc with its inclusive costs. Arcs with the same ends are summed.
    pub fn add_arc(&mut self, arc: CallArc, costs: &[Cost]) {
        self.arcs.push((narrow(arc.caller.index()), narrow(arc.callee.index())), arc.count, costs);
    }

    /// Makes the graph.
    ///
    /// # Panics
    ///
    /// If an arc has an end that is a node of another graph and not of this one.
    pub fn build(self) -> CallGraph {
        CallGraph::from_columns(self.self_costs, self.arcs)
    }
}

impl CallGraph {
    /// Begins a graph with this count of event types.
    pub fn builder(width: usize) -> CallGraphBuilder {
        CallGraphBuilder { self_costs: CostTable::new(width, 0), arcs: ArcColumns::zeros(width, 0) }
    }

    /// Makes the graph of a profile's functions.
    pub(crate) fn from_functions(self_costs: CostTable, arcs: ArcColumns) -> Self {
        CallGraph { is_of_functions: true, ..CallGraph::from_columns(self_costs, arcs) }
    }

    /// Makes a graph without event types and counts from its arcs, which are sorted.
    pub(crate) fn from_links(nodes: usize, pairs: &[(NodeId, NodeId)]) -> Self {
        let arcs = ArcColumns {
            callers: pairs.iter().map(|(caller, _)| narrow(caller.index())).collect(),
            callees: pairs.iter().map(|(_, callee)| narrow(callee.index())).collect(),
            ..ArcColumns::zeros(0, pairs.len())
        };
        CallGraph::from_columns(CostTable::new(0, nodes), arcs)
    }

    /// Returns the self costs by node, and the counts and costs by arc.
    pub(crate) fn into_costs(self) -> (CostTable, Vec<Cost>, CostTable) {
        (self.self_costs, self.arcs.counts, self.arcs.costs)
    }

    fn from_columns(self_costs: CostTable, mut arcs: ArcColumns) -> Self {
        assert!(arcs.costs.is_empty() || arcs.costs.width() == self_costs.width(), "the same event types");
        let nodes = self_costs.len();
        // A loader that goes by caller has them in order already; then nothing is copied.
        let first_out = arcs.first_out(nodes).unwrap_or_else(|| {
            arcs = arcs.merged();
            group_starts(nodes, arcs.callers.iter().map(|&caller| caller as usize))
        });
        CallGraph {
            self_costs,
            arcs,
            first_out,
            incoming: OnceLock::new(),
            is_of_functions: false,
            kinds: ColumnKinds::default(),
        }
    }

    /// Returns the count of nodes.
    #[inline]
    pub fn node_count(&self) -> usize {
        self.self_costs.len()
    }

    /// Iterates over the nodes in order.
    pub fn nodes(&self) -> impl DoubleEndedIterator<Item = NodeId> + ExactSizeIterator + use<> {
        (0..self.node_count()).map(NodeId::new)
    }

    /// Returns the node with this index.
    ///
    /// # Panics
    ///
    /// If the graph has fewer nodes.
    #[inline]
    pub fn node(&self, index: usize) -> NodeId {
        assert!(index < self.node_count(), "node {index} of {}", self.node_count());
        NodeId::new(index)
    }

    /// Returns the node of a function, in a graph of a profile that is not folded.
    ///
    /// # Panics
    ///
    /// If the nodes of this graph are not functions of a profile, or if the profile of this graph has fewer functions.
    #[inline]
    pub fn node_of(&self, function: FunctionId) -> NodeId {
        assert!(self.is_of_functions, "a graph of functions");
        self.node(function.index())
    }

    /// Returns the function that a node stands for, in a graph of a profile that is not folded.
    ///
    /// # Panics
    ///
    /// If the nodes of this graph are not functions of a profile.
    #[inline]
    pub fn function_of(&self, node: NodeId) -> FunctionId {
        assert!(self.is_of_functions, "a graph of functions");
        FunctionId::new(node.index())
    }

    /// Returns the count of event types.
    #[inline]
    pub fn width(&self) -> usize {
        self.self_costs.width()
    }

    /// Returns the self costs, by node.
    #[inline]
    pub fn self_costs(&self) -> &CostTable {
        &self.self_costs
    }

    /// Iterates over the arcs, sorted by caller, then callee. Each pair of nodes has at most one.
    pub fn arcs(&self) -> impl DoubleEndedIterator<Item = CallArc> + ExactSizeIterator + Clone {
        self.arcs.ends().zip(&self.arcs.counts).map(|((caller, callee), &count)| {
            let [caller, callee] = [caller, callee].map(NodeId::from_u32);
            CallArc { caller, callee, count }
        })
    }

    /// Iterates over the ids of the arcs, in the order of [`CallGraph::arcs`].
    pub fn arc_ids(&self) -> impl DoubleEndedIterator<Item = ArcId> + ExactSizeIterator + Clone + use<> {
        (0..self.arcs.len()).map(ArcId::new)
    }

    /// Returns an arc.
    #[inline]
    pub fn arc(&self, arc: ArcId) -> CallArc {
        let node = |column: &[u32]| NodeId::from_u32(column[arc.index()]);
        CallArc {
            caller: node(&self.arcs.callers),
            callee: node(&self.arcs.callees),
            count: self.arcs.counts[arc.index()],
        }
    }

    /// Returns the caller of an arc.
    #[inline]
    pub fn caller(&self, arc: ArcId) -> NodeId {
        NodeId::from_u32(self.arcs.callers[arc.index()])
    }

    /// Returns the callee of an arc.
    #[inline]
    pub fn callee(&self, arc: ArcId) -> NodeId {
        NodeId::from_u32(self.arcs.callees[arc.index()])
    }

    /// Returns the index of the callee of each arc.
    pub(super) fn callees(&self) -> &[u32] {
        &self.arcs.callees
    }

    /// Returns the inclusive cost of each arc, in the order of [`CallGraph::arcs`].
    #[inline]
    pub fn arc_costs(&self) -> &CostTable {
        &self.arcs.costs
    }

    /// Returns the self cost of a node.
    #[inline]
    pub fn self_cost(&self, node: NodeId) -> &[Cost] {
        self.self_costs.row(node.index())
    }

    /// Returns the inclusive cost of an arc.
    #[inline]
    pub fn arc_cost(&self, arc: ArcId) -> &[Cost] {
        self.arcs.costs.row(arc.index())
    }

    /// Iterates over the arcs that leave a node, by callee.
    #[inline]
    pub fn outgoing(
        &self,
        node: NodeId,
    ) -> impl DoubleEndedIterator<Item = ArcId> + ExactSizeIterator + Clone + use<> {
        self.outgoing_range(node).map(ArcId::new)
    }

    /// Returns one of the arcs that leave a node.
    pub(super) fn arc_at(&self, node: NodeId, nth: usize) -> ArcId {
        ArcId::new(self.first_out[node.index()] as usize + nth)
    }

    fn outgoing_range(&self, node: NodeId) -> Range<usize> {
        self.first_out[node.index()] as usize..self.first_out[node.index() + 1] as usize
    }

    /// Returns the offset of the first arc of each node, and the end.
    pub(super) fn first_out(&self) -> &[u32] {
        &self.first_out
    }

    /// Iterates over the arcs that enter a node, by caller.
    #[inline]
    pub fn incoming(&self, node: NodeId) -> impl ExactSizeIterator<Item = ArcId> + Clone + '_ {
        let callees = || self.callees().iter().map(|&callee| Some(callee as usize));
        let incoming = self.incoming.get_or_init(|| Csr::new(self.node_count(), callees()));
        incoming.get(node.index()).iter().map(|&arc| ArcId::from_u32(arc))
    }

    /// Returns the arc from one node to another.
    pub fn arc_between(&self, caller: NodeId, callee: NodeId) -> Option<ArcId> {
        let range = self.outgoing_range(caller);
        let found = self.arcs.callees[range.clone()].binary_search(&narrow(callee.index()));
        found.ok().map(|offset| ArcId::new(range.start + offset))
    }

    /// Returns the sum of all self costs. Arcs add nothing: their costs are self costs of what they call.
    pub fn total(&self) -> Vec<Cost> {
        self.self_costs.total()
    }

    /// Returns the count of calls to a node, its calls to itself included.
    pub fn call_count(&self, node: NodeId) -> Cost {
        self.incoming(node).map(|arc| self.arcs.counts[arc.index()]).sum()
    }

    /// Returns the count of calls to each node.
    pub fn call_counts(&self) -> Vec<Cost> {
        let mut counts = vec![0; self.node_count()];
        self.callees()
            .iter()
            .zip(&self.arcs.counts)
            .for_each(|(&callee, count)| counts[callee as usize] += count);
        counts
    }

    /// `true` if some of the calls of an arc are inlined: nothing tells how often that happened, and its count is that of the
    /// other calls. See [`Profile::with_inlined`](crate::Profile::with_inlined).
    #[inline]
    pub fn is_inlined(&self, arc: ArcId) -> bool {
        self.arcs.is_inlined(arc.index())
    }

    /// `true` if some of the calls to a node are inlined.
    pub fn has_inlined_calls(&self, node: NodeId) -> bool {
        self.arcs.has_inlined() && self.incoming(node).any(|arc| self.is_inlined(arc))
    }

    /// Takes note of the arcs with inlined calls.
    pub(crate) fn mark_inlined(&mut self, arcs: impl IntoIterator<Item = (FunctionId, FunctionId)>) {
        for (caller, callee) in arcs {
            let found = self.arc_between(self.node_of(caller), self.node_of(callee));
            debug_assert!(found.is_some(), "an arc that was written");
            if let Some(arc) = found {
                self.arcs.mark_inlined(arc.index());
            }
        }
    }

    /// Returns the self cost of a node plus the costs of its outgoing arcs, without its calls to itself.
    pub fn self_and_callees(&self, node: NodeId) -> Vec<Cost> {
        let mut sum = self.self_cost(node).to_vec();
        for arc in self.outgoing(node).filter(|&arc| !self.arc(arc).is_loop()) {
            add(&mut sum, self.arc_cost(arc));
        }
        sum
    }

    /// Returns the same graph with other costs, and other counts of calls.
    pub(super) fn with_tables(
        &self,
        self_costs: CostTable,
        arc_costs: CostTable,
        counts: Vec<Cost>,
    ) -> CallGraph {
        let arcs = ArcColumns { costs: arc_costs, counts, ..self.arcs.clone() };
        CallGraph { self_costs, arcs, ..self.clone() }
    }

    /// Returns the same graph with other arcs, which are sorted by caller, then callee.
    pub(super) fn with_arcs<'a>(&self, arcs: impl Iterator<Item = (CallArc, &'a [Cost])>) -> CallGraph {
        let mut columns = ArcColumns::zeros(self.width(), 0);
        for (arc, costs) in arcs {
            columns.push((narrow(arc.caller.index()), narrow(arc.callee.index())), arc.count, costs);
        }
        let graph = CallGraph::from_columns(self.self_costs.clone(), columns);
        CallGraph { is_of_functions: self.is_of_functions, kinds: self.kinds.clone(), ..graph }
    }

    /// Returns the same graph without the arcs that are cut.
    ///
    /// Self costs stay, so the total stays. A caller no longer includes what it called over a cut arc: a cut inside a cycle
    /// breaks the cycle, a cut elsewhere makes the callee the root of its own tree if nothing else
    /// calls it.
    pub fn without(&self, mut is_cut: impl FnMut(ArcId, &CallArc) -> bool) -> CallGraph {
        let mut left = ArcColumns::zeros(self.width(), 0);
        for ((id, arc), ends) in self.arc_ids().zip(self.arcs()).zip(self.arcs.ends()) {
            if !is_cut(id, &arc) {
                left.push(ends, arc.count, self.arc_cost(id));
                if self.is_inlined(id) {
                    left.mark_inlined(left.len() - 1);
                }
            }
        }
        let graph = CallGraph::from_columns(self.self_costs.clone(), left);
        CallGraph { is_of_functions: self.is_of_functions, kinds: self.kinds.clone(), ..graph }
    }

    /// Returns, for each arc, `true` if it costs less than a share of the most expensive arc to the same callee.
    ///
    /// The share is `share` parts of `whole`; `size` gives the amount of an arc's costs. A function's calls to itself are
    /// never weak. To cut weak arcs helps where a few stray calls join everything into one cycle; see
    /// [`CallGraph::without`].
    pub fn weak_arcs(&self, share: u32, whole: u32, size: impl Fn(&[Cost]) -> Cost) -> Vec<bool> {
        let size = |arc: ArcId| size(self.arc_cost(arc));
        let mut weak = vec![false; self.arcs.len()];
        for node in self.nodes() {
            let arcs = || self.incoming(node).filter(|&arc| !self.arc(arc).is_loop());
            let Some(greatest) = arcs().map(size).max() else { continue };
            for arc in arcs() {
                let cost = size(arc);
                weak[arc.index()] = match (cost.checked_mul(whole.into()), greatest.checked_mul(share.into()))
                {
                    (Some(cost), Some(limit)) => cost < limit,
                    // The greatest is above 2^95, where rounding the share makes no difference.
                    _ => cost / Cost::from(share.max(1)) < greatest / Cost::from(whole.max(1)),
                };
            }
        }
        weak
    }

    /// Returns the same graph with other event types: `map` fills a row of `width` costs from each row.
    ///
    /// The map must be linear (sums, differences, multiples), or the costs of arcs are no longer inclusive costs.
    pub fn with_costs(self, width: usize, mut map: impl FnMut(&[Cost], &mut [Cost])) -> CallGraph {
        let mut apply = |table: &CostTable| {
            let mut mapped = CostTable::new(width, table.len());
            table.rows().enumerate().for_each(|(index, row)| map(row, mapped.row_mut(index)));
            mapped
        };
        let (self_costs, costs) = (apply(&self.self_costs), apply(&self.arcs.costs));
        let arcs = ArcColumns { costs, ..self.arcs };
        CallGraph { self_costs, arcs, kinds: ColumnKinds::default(), ..self }
    }

    /// Returns the same graph with these event types, in this order. A derived one follows its formula also where costs are
    /// limited or estimated, as long as the graph has all event types of the formula.
    ///
    /// # Panics
    ///
    /// If the graph has fewer event types.
    pub fn with_columns(self, columns: &[usize]) -> CallGraph {
        CallGraph {
            self_costs: self.self_costs.with_columns(columns),
            arcs: ArcColumns { costs: self.arcs.costs.with_columns(columns), ..self.arcs },
            kinds: self.kinds.selected(columns),
            ..self
        }
    }

    /// Notes the name of the event type of a column, which tells whether it is memory.
    pub(crate) fn note_event(&mut self, column: usize, name: &[u8]) {
        if name.starts_with(MEMORY.as_bytes()) {
            self.kinds.push_memory(column);
        }
    }

    /// Returns which event types are derived from others, and which are memory.
    pub(super) fn kinds(&self) -> &ColumnKinds {
        &self.kinds
    }

    /// Returns the same graph with derived event types after its own.
    ///
    /// # Errors
    ///
    /// If a derived cost is out of range.
    pub fn with_derived(self, derived: &[Derived]) -> Result<CallGraph, CostOverflow> {
        if derived.is_empty() {
            return Ok(self);
        }
        let mut overflow = None;
        let own_width = self.width();
        let width = own_width + derived.len();
        let mut kinds = self.kinds.clone();
        for (column, derived) in (own_width..).zip(derived) {
            kinds.push(column, &derived.factors);
        }
        let graph = self.with_costs(width, |row, all| {
            let (own, more) = all.split_at_mut(row.len());
            own.copy_from_slice(row);
            for (cost, derived) in more.iter_mut().zip(derived) {
                match derived.cost(row) {
                    Ok(sum) => *cost = sum,
                    Err(error) => overflow = Some(error),
                }
            }
        });
        overflow.map_or(Ok(CallGraph { kinds, ..graph }), Err)
    }

    /// Returns the graph with each group of nodes folded into one node.
    ///
    /// Self costs of a group are summed. Arcs between two groups become one arc, and arcs inside a group become one from it
    /// to itself. Recursion levels and caller chains are folded in this way.
    ///
    /// # Panics
    ///
    /// If the partition is of another count of nodes.
    pub fn folded(&self, partition: &Partition) -> CallGraph {
        assert_eq!(partition.node_count(), self.node_count(), "a partition of this graph");
        let mut self_costs = CostTable::new(self.width(), partition.group_count());
        for node in self.nodes() {
            self_costs.add(partition.group_of(node).index(), self.self_cost(node));
        }
        let group = |node| narrow(partition.group_of(NodeId::from_u32(node)).index());
        let arcs = self.arcs.folded(partition.group_count(), group);
        let graph = CallGraph::from_columns(self_costs, arcs);
        CallGraph { kinds: self.kinds.clone(), ..graph }
    }
}
