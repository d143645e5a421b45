//! The functions of a condensed profile: those that stay, and groups of others.
//!
//! A group stands for all of its functions, as if they had one name. That must not change a number of a function that stays,
//! so no group may close a cycle that was not there:
//!
//! - Members of a cycle are in groups of members of the same cycle. Of the call graph of each part, a group has only members
//!   of one cycle and functions that call no other and are called by none; then it closes no cycle in any choice of parts.
//! - Other functions have a level: along each call it stays or grows, and it grows with each call from a function that is left
//!   out to one that stays, to a member of a cycle, or to one of another group. So a group is never reached from its own callees.
//!
//! Functions of one group have one object, so that sums by object stay exact, too. Those that nothing calls are apart from others.

use std::collections::BTreeMap;

use super::least::LeastCosts;
use crate::analysis::{CallGraph, CycleId, Cycles, Inclusive, NodeId};
use crate::id::{FileId, FunctionId, ObjectId};
use crate::profile::Profile;
use crate::selection::Selection;

/// The file of all groups. It gets marks behind it as long as the profile has such a file.
const FILE: &str = "(left out)";
/// A function also stays if it has one in this many of the total as inclusive cost: what is hot is below it.
const MIN_INCLUSIVE: u128 = 1000;

/// Counts of functions. See the example of [`Condensing::with_fewer_functions`](super::Condensing::with_fewer_functions).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FunctionCount {
    /// Those of the profile.
    pub all: usize,
    /// Those that are kept as they are.
    pub kept: usize,
    /// The groups of all others.
    pub groups: usize,
}

/// The functions that stay, and the groups that stand for the others.
///
/// Ids of groups follow those of functions, and the file of groups has the id behind the last one of the profile.
#[derive(Debug)]
pub(super) struct Functions<'p> {
    profile: &'p Profile,
    /// By function: the id under which it is written. Empty if all stay.
    written: Vec<FunctionId>,
    groups: Vec<Group>,
    file: Vec<u8>,
}

/// A group of functions that are left out.
#[derive(Debug)]
struct Group {
    name: String,
    object: ObjectId,
}

/// A function or group as it is written.
#[derive(Debug, Clone, Copy)]
pub(super) struct WrittenFunction<'f> {
    pub(super) name: &'f [u8],
    pub(super) file: FileId,
    pub(super) object: ObjectId,
}

impl<'p> Functions<'p> {
    pub(super) fn all(profile: &'p Profile) -> Self {
        Functions { profile, written: Vec::new(), groups: Vec::new(), file: Vec::new() }
    }

    /// Keeps the functions that have a share of the self cost of an event type, in thousandths, and those that call much.
    pub(super) fn with_share(profile: &'p Profile, per_mille: u32) -> Self {
        let graph = profile.call_graph(&Selection::default());
        let total = graph.total();
        if total.iter().all(|&cost| cost == 0) {
            return Functions::all(profile);
        }
        let least = LeastCosts::of_functions(graph.self_costs(), per_mille);
        let inclusive = Inclusive::with_cycles(&graph, || Cycles::new(&graph));
        let is_much = |node| {
            let pairs = inclusive.cost(node).iter().zip(&total);
            pairs.into_iter().any(|(cost, total)| {
                *cost != 0 && cost.unsigned_abs() >= total.unsigned_abs() / MIN_INCLUSIVE
            })
        };
        let stays = |node| least.is_reached_by(graph.self_cost(node)) || is_much(node);
        let mut is_kept: Vec<bool> = graph.nodes().map(stays).collect();
        let of_cycles = CycleGroups::new(profile, &graph, inclusive.cycles(), &mut is_kept);
        Functions::grouped(profile, &graph, inclusive.cycles(), &is_kept, &of_cycles)
    }

    fn grouped(
        profile: &'p Profile,
        graph: &CallGraph,
        cycles: &Cycles,
        is_kept: &[bool],
        of_cycles: &CycleGroups,
    ) -> Self {
        let object_of = |node: NodeId| profile.function(graph.function_of(node)).object;
        let levels = levels(graph, cycles, is_kept, object_of);
        let is_called = called(graph);
        let mut members: BTreeMap<GroupKey, Vec<FunctionId>> = BTreeMap::new();
        for node in graph.nodes().filter(|node| !is_kept[node.index()]) {
            let kind = match cycles.cycle_of(node) {
                Some(cycle) => GroupKind::Cycle(cycle.number(), of_cycles.group(node)),
                None if is_called[node.index()] => GroupKind::Called(levels[node.index()]),
                None => GroupKind::Uncalled,
            };
            members.entry((kind, object_of(node))).or_default().push(graph.function_of(node));
        }
        let mut written: Vec<FunctionId> = profile.functions().collect();
        let mut groups: Vec<Group> = Vec::new();
        let mut names: BTreeMap<(String, ObjectId), usize> = BTreeMap::new();
        for ((kind, object), functions) in members {
            // A function that would be alone stands for itself.
            let [first, _, ..] = functions[..] else { continue };
            debug_assert_eq!(written[first.index()], first, "each is in one group");
            let id = FunctionId::new(written.len() + groups.len());
            functions.iter().for_each(|function| written[function.index()] = id);
            let mut name = match kind {
                GroupKind::Cycle(..) => {
                    format!("({} functions of this cycle left out)", functions.len())
                }
                GroupKind::Called(_) => format!("({} functions left out)", functions.len()),
                GroupKind::Uncalled => format!("({} functions left out that nothing calls)", functions.len()),
            };
            let same = names.entry((name.clone(), object)).or_default();
            *same += 1;
            if *same > 1 {
                name = format!("{}, {same})", name.trim_end_matches(')'));
            }
            groups.push(Group { name, object });
        }
        let mut file = FILE.to_owned();
        while profile.files().any(|id| profile.file(id) == file.as_bytes()) {
            file.push('\'');
        }
        Functions { profile, written, groups, file: file.into_bytes() }
    }

    pub(super) fn count(&self) -> FunctionCount {
        let all = self.profile.function_count();
        let kept = self.written.iter().enumerate().filter(|(index, id)| id.index() == *index).count();
        let kept = if self.written.is_empty() { all } else { kept };
        FunctionCount { all, kept, groups: self.groups.len() }
    }

    /// Returns the id under which a function is written.
    pub(super) fn written(&self, function: FunctionId) -> FunctionId {
        self.written.get(function.index()).copied().unwrap_or(function)
    }

    pub(super) fn is_group(&self, id: FunctionId) -> bool {
        id.index() >= self.profile.function_count()
    }

    /// Returns a function or group by the id under which it is written.
    pub(super) fn get(&self, id: FunctionId) -> WrittenFunction<'_> {
        match id.index().checked_sub(self.profile.function_count()).map(|index| &self.groups[index]) {
            Some(group) => WrittenFunction {
                name: group.name.as_bytes(),
                file: FileId::new(self.profile.file_count()),
                object: group.object,
            },
            None => {
                let function = self.profile.function(id);
                WrittenFunction { name: function.name, file: function.file, object: function.object }
            }
        }
    }

    /// Returns the path of a file, also of that of the groups.
    pub(super) fn file(&self, id: FileId) -> &[u8] {
        if id.index() == self.profile.file_count() { &self.file } else { self.profile.file(id) }
    }
}

/// The functions that become one group.
type GroupKey = (GroupKind, ObjectId);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum GroupKind {
    /// The number of a cycle, and that of a group in it.
    Cycle(usize, u32),
    /// A level.
    Called(u32),
    Uncalled,
}

/// Returns by node whether something else calls it.
fn called(graph: &CallGraph) -> Vec<bool> {
    let mut is_called = vec![false; graph.node_count()];
    for arc in graph.arcs().filter(|arc| !arc.is_loop()) {
        is_called[arc.callee.index()] = true;
    }
    is_called
}

/// Returns the levels of functions, by node.
fn levels(
    graph: &CallGraph,
    cycles: &Cycles,
    is_kept: &[bool],
    object_of: impl Fn(NodeId) -> ObjectId,
) -> Vec<u32> {
    // Callers come before callees.
    let mut order: Vec<NodeId> = graph.nodes().collect();
    let ranks = cycles.ranks(graph);
    let rank = |node: NodeId| ranks[node.index()] as usize;
    order.sort_by_key(|&node| rank(node));
    let mut of_units = vec![0u32; cycles.unit_count()];
    for &node in &order {
        let level = of_units[rank(node)];
        let may_be_left_out = |node: NodeId| !is_kept[node.index()] && cycles.cycle_of(node).is_none();
        let is_left_out = may_be_left_out(node);
        for arc in graph.outgoing(node).map(|id| graph.arc(id)).filter(|arc| !cycles.is_inner(arc)) {
            let stays = may_be_left_out(arc.callee) && object_of(arc.callee) == object_of(node);
            let least = level + u32::from(is_left_out && !stays);
            let callee = &mut of_units[rank(arc.callee)];
            *callee = least.max(*callee);
        }
    }
    graph.nodes().map(|node| of_units[rank(node)]).collect()
}

/// The groups of the members of cycles that are left out.
struct CycleGroups {
    /// By node. Only those of one cycle are comparable.
    group_of: Vec<u32>,
}

impl CycleGroups {
    /// Makes them, and keeps the functions that fit into none.
    fn new(profile: &Profile, graph: &CallGraph, cycles: &Cycles, is_kept: &mut [bool]) -> Self {
        let mut group_of = vec![0; graph.node_count()];
        let mut next = 1;
        // In the only part, each cycle is as it is in all.
        for part in profile.parts().filter(|_| profile.part_count() > 1) {
            let mut arcs = Vec::new();
            profile.each_arc(&part, |arc, _| {
                let arc = arc.map(|function| graph.node_of(function));
                if !arc.is_loop() && cycles.is_inner(&arc) {
                    arcs.push(arc.ends());
                }
            });
            let part = PartCycles::new(&arcs);
            let mut split = BTreeMap::new();
            for (&node, cycle) in part.nodes.iter().zip(part.cycles()) {
                match cycle {
                    None => is_kept[node.index()] = true,
                    Some(cycle) => {
                        let group = &mut group_of[node.index()];
                        *group = *split.entry((*group, cycle)).or_insert_with(|| {
                            next += 1;
                            next - 1
                        });
                    }
                }
            }
        }
        CycleGroups { group_of }
    }

    fn group(&self, node: NodeId) -> u32 {
        self.group_of[node.index()]
    }
}

/// The cycles of the calls of one part.
struct PartCycles {
    /// The callers and callees, sorted.
    nodes: Vec<NodeId>,
    graph: CallGraph,
}

impl PartCycles {
    fn new(arcs: &[(NodeId, NodeId)]) -> Self {
        let mut nodes: Vec<NodeId> = arcs.iter().flat_map(|&(caller, callee)| [caller, callee]).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let own = |node: NodeId| NodeId::new(nodes.partition_point(|&other| other < node));
        let mut links: Vec<_> = arcs.iter().map(|&(caller, callee)| (own(caller), own(callee))).collect();
        links.sort_unstable();
        links.dedup();
        let graph = CallGraph::from_links(nodes.len(), &links);
        PartCycles { nodes, graph }
    }

    /// Returns the cycle of each node.
    fn cycles(&self) -> Vec<Option<CycleId>> {
        let cycles = Cycles::new(&self.graph);
        self.graph.nodes().map(|node| cycles.cycle_of(node)).collect()
    }
}
