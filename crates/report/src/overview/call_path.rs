//! The most expensive path of calls.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::HashMap;

use gristmill_format::Cost;
use gristmill_output::json::Costs;
use gristmill_output::lossy;
use gristmill_profile::analysis::{ArcId, CallArc, Cycles, NodeId, Unit};
use schemars::JsonSchema;
use serde::Serialize;

use crate::call_count::CallCount;
use crate::head::Head;
use crate::start_up::{is_loader, is_start_up};
use crate::view::{SubjectId, View};

/// The functions at which a path can go on that are named.
const MAX_BRANCHES: usize = 3;
/// The steps of a path. Nobody reads more, and each has a name, a file and costs of its own.
const MAX_STEPS: usize = 1000;
/// The functions in a row that may start a program. A hostile profile has names of them only.
const MAX_START_UP_STEPS: usize = 64;
/// A path that begins in the code of the program has at least one in this many of the total. Otherwise that of the loader
/// may say more.
const MIN_ROOT_SHARE: Cost = 20;

/// A path of calls: from the most expensive function that nothing calls, always to the callee that causes most of the cost
/// of its caller, until no callee does. See the example of [`Overview`](crate::Overview).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CallPath {
    /// The functions, from the root.
    pub steps: Vec<PathStep>,
    /// The reason why the path ends.
    pub end: PathEnd,
    /// The most expensive callees of the last step, or members of its cycle by self cost.
    pub branches: Vec<PathStep>,
    /// `true` if other calls lead to the last step as well, so that its self cost is not that of the path alone.
    #[serde(skip)]
    pub(super) has_other_calls: bool,
}

/// The reason why a [`CallPath`] ends. See the example of [`Overview`](crate::Overview).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PathEnd {
    /// The last function calls nothing.
    Leaf,
    /// The self cost of the last function is more than that of any callee.
    SelfCost,
    /// No callee causes half of the cost of the last function.
    Branches,
    /// The last step is a cycle of functions that call each other.
    Cycle,
    /// There are more than 1000 steps.
    Length,
}

/// A step of a [`CallPath`]. See the example of [`Overview`](crate::Overview).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PathStep {
    /// The id of the function, null for a cycle.
    pub id: Option<SubjectId>,
    /// The demangled name of the function, or that of the member of the cycle with the highest self cost.
    pub name: String,
    /// The source file; empty or `???` if it is not known.
    pub file: String,
    /// The program or library; empty or `???` if it is not known.
    pub object: String,
    /// The number of the cycle.
    pub cycle: Option<usize>,
    /// The count of the cycle's members, 0 for a function.
    pub members: usize,
    /// Self cost of the function or cycle, over all of its calls.
    #[serde(rename = "self")]
    pub self_costs: Costs,
    /// The cost of the calls along the path; of a member of a cycle its self cost.
    pub inclusive: Costs,
    /// `true` if other calls lead to the caller as well: it is assumed that all of its calls cost the same.
    pub is_estimate: bool,
    /// The count of calls from the step before, over all calls of that. 0 for the first step.
    #[serde(flatten)]
    pub calls: CallCount,
    /// `true` for code that starts the program or a thread.
    pub is_start_up: bool,
}

impl CallPath {
    /// Takes the path from a view. `None` if there are no calls.
    pub(super) fn new(view: &View, head: &Head) -> Option<CallPath> {
        if view.graph().arcs().len() == 0 {
            return None;
        }
        let walk = Walk::new(view, head);
        let (mut unit, mut cost) = walk.root()?;
        let mut is_estimate = false;
        let mut steps = vec![walk.step(unit, &cost, false, CallCount::new(0, false))];
        // Units call each other in one direction, so this ends.
        loop {
            let Unit::Node(node) = unit else {
                let branches = walk.members(unit);
                return Some(CallPath { steps, end: PathEnd::Cycle, branches, has_other_calls: false });
            };
            let callees = walk.callees(node);
            let whole = walk.cost(unit);
            let best = callees.first().map_or(0, |&arc| view.graph().arc_cost(arc)[0]);
            // Twice a cost does not overflow: it is a sum of 64-bit numbers.
            let past_start_up = walk.past_start_up(unit);
            if past_start_up.is_none() && (best <= 0 || best * 2 < whole[0]) {
                let own = view.graph().self_cost(node)[0];
                let end = match () {
                    () if callees.is_empty() => PathEnd::Leaf,
                    () if own > best => PathEnd::SelfCost,
                    () => PathEnd::Branches,
                };
                let branches = callees.iter().take(MAX_BRANCHES);
                let branches = branches.map(|&arc| walk.called(arc, &cost, &whole, is_estimate)).collect();
                let has_other_calls = cost[0] != whole[0];
                return Some(CallPath { steps, end, branches, has_other_calls });
            }
            if steps.len() == MAX_STEPS {
                let (end, branches) = (PathEnd::Length, Vec::new());
                return Some(CallPath { steps, end, branches, has_other_calls: false });
            }
            let arc = past_start_up.unwrap_or(callees[0]);
            let step = walk.called(arc, &cost, &whole, is_estimate);
            unit = walk.cycles.unit(view.graph().callee(arc));
            cost = step.inclusive.to_vec();
            // Other calls lead to it, too.
            is_estimate |= view.graph().arc_cost(arc)[0] < walk.cost(unit)[0];
            steps.push(step);
        }
    }
}

struct Walk<'w> {
    view: &'w View,
    head: &'w Head,
    cycles: &'w Cycles,
    total: Cost,
    /// By object: `true` for a loader, if it was looked at. Paths can be long, and many functions lead to one object.
    loaders: RefCell<Vec<Option<bool>>>,
    /// Nodes that were looked at. Many functions can lead to one node with a long name, or with many calls.
    start_ups: RefCell<HashMap<NodeId, StartUp>>,
}

/// The role of a node in starting the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StartUp {
    /// It is other code.
    No,
    /// It does not lead to other code.
    End,
    /// It leads to other code by this call.
    LeadsOn(ArcId),
}

/// Nodes and cycles that may be the root of a path.
struct Candidates {
    /// With their inclusive costs.
    units: Vec<(Unit, Cost)>,
    /// By node the index of its candidate and 1, or 0.
    of_node: Vec<u32>,
    /// By node a bit, set if it has a candidate. Most calls lead to nodes without, and the bits of all nodes fit into a cache.
    has_any: Vec<u64>,
}

impl Candidates {
    fn new(node_count: usize) -> Self {
        Candidates {
            units: Vec::new(),
            of_node: vec![0; node_count],
            has_any: vec![0; node_count.div_ceil(64)],
        }
    }

    fn add(&mut self, unit: Unit, cost: Cost, members: &[NodeId]) {
        self.units.push((unit, cost));
        // There are no more candidates than nodes, whose ids have 32 bits.
        let number = u32::try_from(self.units.len()).unwrap_or(0);
        for member in members {
            self.of_node[member.index()] = number;
            self.has_any[member.index() / 64] |= 1 << (member.index() % 64);
        }
    }

    /// Returns the index of the candidate that a call enters. One that stays within a cycle, or of a function to itself, has the
    /// same candidate at both ends.
    fn entered_by(&self, arc: &CallArc) -> Option<usize> {
        let callee = arc.callee.index();
        if (self.has_any[callee / 64] >> (callee % 64)) & 1 == 0 {
            return None;
        }
        let candidate = self.of_node[callee];
        (candidate != self.of_node[arc.caller.index()]).then(|| candidate as usize - 1)
    }
}

impl<'w> Walk<'w> {
    fn new(view: &'w View, head: &'w Head) -> Self {
        Walk {
            view,
            head,
            cycles: view.cycles(),
            total: view.totals()[0],
            loaders: RefCell::new(vec![None; view.profile().object_count()]),
            start_ups: RefCell::default(),
        }
    }

    /// Returns the node or cycle with the highest cost that is not of its callers, the start of the program or of a thread, and
    /// its inclusive cost.
    fn root(&self) -> Option<(Unit, Vec<Cost>)> {
        // Few functions have a large part of the total, and usually one of them is the root.
        let is_large_root = |(_, surplus): &(Unit, Cost)| self.is_large(*surplus);
        let (unit, _) = self.root_among(true).filter(is_large_root).or_else(|| self.root_among(false))?;
        // Its whole cost, including the part that its callers state: so the calls below it have their recorded costs.
        Some((unit, self.cost(unit)))
    }

    /// Returns a root, and its cost that is not of its callers.
    fn root_among(&self, only_large: bool) -> Option<(Unit, Cost)> {
        let graph = self.view.graph();
        let candidates = self.candidates(only_large);
        let units = &candidates.units;
        if units.is_empty() {
            return None;
        }
        let mut of_callers: Vec<Cost> = vec![0; units.len()];
        for id in graph.arc_ids() {
            if let Some(candidate) = candidates.entered_by(&graph.arc(id)) {
                of_callers[candidate] += graph.arc_cost(id)[0];
            }
        }
        let mut best: Option<((bool, Cost), usize)> = None;
        for (index, (&(unit, cost), of_callers)) in units.iter().zip(&of_callers).enumerate() {
            let surplus = cost - of_callers;
            // Few functions get this far, so that names can be looked at.
            if best.is_none_or(|((_, greatest), _)| surplus > greatest) || self.is_large(surplus) {
                let key = self.after_start_up(unit, surplus);
                if best.is_none_or(|(greatest, _)| key > greatest) {
                    best = Some((key, index));
                }
            }
        }
        let (_, index) = best?;
        let (unit, cost) = units[index];
        Some((unit, cost - of_callers[index]))
    }

    /// Lists the nodes and cycles that may be a root.
    fn candidates(&self, only_large: bool) -> Candidates {
        let graph = self.view.graph();
        let inclusive = self.view.inclusive();
        let may_be_root = |cost: Cost| !only_large || self.is_large(cost);
        let mut candidates = Candidates::new(graph.node_count());
        for node in graph.nodes() {
            let cost = inclusive.cost(node)[0];
            if may_be_root(cost) && self.cycles.cycle_of(node).is_none() {
                candidates.add(Unit::Node(node), cost, &[node]);
            }
        }
        for cycle in self.cycles.ids() {
            let unit = Unit::Cycle(cycle);
            let cost = self.cost(unit)[0];
            if may_be_root(cost) {
                candidates.add(unit, cost, self.cycles.members(cycle));
            }
        }
        candidates
    }

    /// `true` for a cost that a path can begin with, even if there are higher ones.
    fn is_large(&self, cost: Cost) -> bool {
        cost > 0 && cost * MIN_ROOT_SHARE >= self.total
    }

    /// Follows the path from a root through code that starts programs. Returns `true` if it leads to other code, and the cost
    /// of that.
    fn after_start_up(&self, mut unit: Unit, mut cost: Cost) -> (bool, Cost) {
        for _ in 0..MAX_START_UP_STEPS {
            let Some(arc) = self.past_start_up(unit) else { break };
            unit = self.cycles.unit(self.view.graph().callee(arc));
            cost = cost.min(self.view.graph().arc_cost(arc)[0]);
        }
        (self.is_large(cost) && !self.is_start_up(unit), cost)
    }

    /// Returns the call by which code that starts programs leads to other code: not to that of the loader.
    fn past_start_up(&self, unit: Unit) -> Option<ArcId> {
        match self.start_up(unit) {
            StartUp::LeadsOn(arc) => Some(arc),
            _ => None,
        }
    }

    fn is_start_up(&self, unit: Unit) -> bool {
        self.start_up(unit) != StartUp::No
    }

    fn start_up(&self, unit: Unit) -> StartUp {
        let Unit::Node(node) = unit else { return StartUp::No };
        if let Some(&known) = self.start_ups.borrow().get(&node) {
            return known;
        }
        let found = self.look_at(node);
        self.start_ups.borrow_mut().insert(node, found);
        found
    }

    fn look_at(&self, node: NodeId) -> StartUp {
        if !self.is_of_loader(node) && !is_start_up(self.view.subject(self.view.subject_at(node)).name()) {
            return StartUp::No;
        }
        let graph = self.view.graph();
        let callees = self.callees(node).into_iter();
        let mut large = callees.take_while(|&arc| self.is_large(graph.arc_cost(arc)[0]));
        let other = large.find(|&arc| !self.is_of_loader(graph.callee(arc)));
        other.map_or(StartUp::End, StartUp::LeadsOn)
    }

    /// `true` for code that loads libraries before the program starts.
    fn is_of_loader(&self, node: NodeId) -> bool {
        let object = self.view.subject(self.view.subject_at(node)).object;
        let is_loader = || is_loader(&String::from_utf8_lossy(self.view.profile().object(object)));
        *self.loaders.borrow_mut()[object.index()].get_or_insert_with(is_loader)
    }

    /// Returns the inclusive cost of a unit.
    fn cost(&self, unit: Unit) -> Vec<Cost> {
        let inclusive = self.view.inclusive();
        match unit {
            Unit::Node(node) => inclusive.cost(node).to_vec(),
            Unit::Cycle(cycle) if !inclusive.cycles().is_empty() => inclusive.cycle_cost(cycle).to_vec(),
            Unit::Cycle(cycle) => {
                let graph = self.view.graph();
                let mut sum = self.self_cost(unit);
                let members = self.cycles.members(cycle).iter();
                for arc in members.flat_map(|&member| graph.outgoing(member)) {
                    if !self.cycles.is_inner(&graph.arc(arc)) {
                        crate::amount::add(&mut sum, graph.arc_cost(arc));
                    }
                }
                sum
            }
        }
    }

    fn self_cost(&self, unit: Unit) -> Vec<Cost> {
        let graph = self.view.graph();
        match unit {
            Unit::Node(node) => graph.self_cost(node).to_vec(),
            Unit::Cycle(cycle) => {
                let mut sum = vec![0; graph.width()];
                for &member in self.cycles.members(cycle) {
                    crate::amount::add(&mut sum, graph.self_cost(member));
                }
                sum
            }
        }
    }

    /// Returns the calls of other functions, the most expensive first.
    fn callees(&self, node: NodeId) -> Vec<ArcId> {
        let graph = self.view.graph();
        let mut arcs: Vec<ArcId> = graph.outgoing(node).filter(|&arc| !graph.arc(arc).is_loop()).collect();
        arcs.sort_by_key(|&arc| Reverse(graph.arc_cost(arc)[0]));
        arcs
    }

    /// Makes the step over an arc from a function that costs `whole` in all, and `cost` along the path.
    fn called(&self, arc: ArcId, cost: &[Cost], whole: &[Cost], is_estimate: bool) -> PathStep {
        let graph = self.view.graph();
        let calls = graph.arc_cost(arc);
        let mut share = calls.to_vec();
        if is_estimate {
            for ((share, &cost), &whole) in share.iter_mut().zip(cost).zip(whole) {
                *share = apportioned(*share, cost, whole);
            }
        }
        self.step(self.cycles.unit(graph.callee(arc)), &share, is_estimate, self.view.calls_of(arc))
    }

    fn step(&self, unit: Unit, inclusive: &[Cost], is_estimate: bool, calls: CallCount) -> PathStep {
        let (node, id, cycle, members) = match unit {
            Unit::Node(node) => (node, Some(self.view.subject_at(node)), None, 0),
            Unit::Cycle(cycle) => {
                let members = self.cycles.members(cycle);
                (self.hottest(members)[0], None, Some(cycle.number()), members.len())
            }
        };
        let of_node = self.view.subject_at(node);
        let is_estimate = is_estimate || self.view.is_inclusive_estimate(of_node);
        let subject = self.view.subject(of_node);
        let profile = self.view.profile();
        PathStep {
            id,
            name: subject.name().to_owned(),
            file: lossy(profile.file(subject.file)),
            object: lossy(profile.object(subject.object)),
            cycle,
            members,
            self_costs: self.head.costs(&self.self_cost(unit)),
            inclusive: self.head.costs(inclusive),
            is_estimate,
            calls,
            is_start_up: is_start_up(subject.name()),
        }
    }

    /// Returns the first members by self cost. A cycle may have nearly all functions, so they are not sorted.
    fn hottest(&self, members: &[NodeId]) -> Vec<NodeId> {
        let cost = |member: NodeId| self.view.graph().self_cost(member)[0];
        let mut first: Vec<NodeId> = Vec::new();
        for &member in members {
            // Of equal costs, the first stays first.
            let index = first.partition_point(|&other| cost(other) >= cost(member));
            if index < MAX_BRANCHES {
                first.truncate(MAX_BRANCHES - 1);
                first.insert(index, member);
            }
        }
        first
    }

    /// Makes rows of the most expensive members of a cycle.
    fn members(&self, unit: Unit) -> Vec<PathStep> {
        let Unit::Cycle(cycle) = unit else { return Vec::new() };
        let members = self.hottest(self.cycles.members(cycle)).into_iter();
        let step = |member| {
            let own = self.view.graph().self_cost(member);
            self.step(Unit::Node(member), own, false, CallCount::new(0, false))
        };
        members.map(|member| PathStep { cycle: Some(cycle.number()), ..step(member) }).collect()
    }
}

/// Returns the share of calls whose caller costs `cost` of `whole` along the path.
fn apportioned(calls: Cost, cost: Cost, whole: Cost) -> Cost {
    if whole <= 0 || cost >= whole {
        return calls;
    }
    match calls.checked_mul(cost) {
        Some(product) => product / whole,
        // Far beyond what 64 bits hold, rounding first makes no difference.
        None => calls / whole * cost,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::{EventSelection, ViewOptions};
    use gristmill_profile::Profile;

    fn path(text: &str) -> (Vec<(String, Cost, bool)>, PathEnd, Vec<String>) {
        let profile = Profile::from_bytes(text.as_bytes().to_vec());
        let view = View::new(profile, &ViewOptions::default()).unwrap();
        let path = CallPath::new(&view, &Head::new(&view)).unwrap();
        let row = |step: PathStep| (step.name, step.inclusive[0], step.is_estimate);
        let branches = path.branches.iter().map(|step| step.name.clone()).collect();
        (path.steps.into_iter().map(row).collect(), path.end, branches)
    }

    fn exact(name: &str, cost: Cost) -> (String, Cost, bool) {
        (name.to_owned(), cost, false)
    }

    #[test]
    fn ends_where_no_callee_dominates() {
        let text = "events: Ir\nfn=main\n1 1\ncfn=run\ncalls=1 1\n1 99\nfn=run\n1 9\ncfn=a\ncalls=1 1\n1 40\ncfn=b\ncalls=1 1\n1 50\n\
                    fn=a\n1 60\nfn=b\n1 10\ncfn=a\ncalls=3 1\n1 20\ncfn=c\ncalls=1 1\n1 20\nfn=c\n1 20\n";
        let (steps, end, branches) = path(text);
        assert_eq!(steps, [exact("main", 100), exact("run", 99), exact("b", 50)]);
        assert_eq!((end, branches), (PathEnd::Branches, vec!["a".to_owned(), "c".to_owned()]));
    }

    #[test]
    fn ends_in_a_cycle() {
        let text = "events: Ir\nfn=main\n1 10\ncfn=even\ncalls=1 1\n1 90\nfn=even\n1 40\ncfn=odd\ncalls=5 1\n1 80\n\
                    fn=odd\n1 50\ncfn=even\ncalls=4 1\n1 60\n";
        let (steps, end, branches) = path(text);
        assert_eq!(steps, [exact("main", 100), exact("odd", 90)]);
        assert_eq!((end, branches), (PathEnd::Cycle, vec!["odd".to_owned(), "even".to_owned()]));
    }

    /// Half of the calls of `work` are not along the path.
    #[test]
    fn shared_callees_are_apportioned() {
        let text = "events: Ir\nfn=main\n1 10\ncfn=work\ncalls=1 1\n1 60\ncfn=other\ncalls=1 1\n1 30\n\
                    fn=other\n1 0\ncfn=work\ncalls=1 1\n1 30\nfn=work\n1 0\ncfn=grind\ncalls=9 1\n1 90\nfn=grind\n1 90\n";
        let (steps, end, _) = path(text);
        assert_eq!(steps, [exact("main", 100), exact("work", 60), ("grind".to_owned(), 60, true)]);
        assert_eq!(end, PathEnd::Leaf);
    }

    /// The loader costs most, and the start of the program calls both.
    #[test]
    fn begins_with_the_program_and_not_with_its_loader() {
        let text = "events: Ir\nob=/lib/ld-linux.so.2\nfn=0x1b140\n1 1\ncfn=_dl_start\ncalls=1 1\n1 70\ncob=a\ncfn=main\n\
                    calls=1 1\n1 29\nfn=_dl_start\n1 70\nob=a\nfn=main\n1 9\ncfn=work\ncalls=1 1\n1 20\nfn=work\n1 20\n";
        let (steps, end, _) = path(text);
        assert_eq!(steps, [exact("0x1b140", 100), exact("main", 29), exact("work", 20)]);
        assert_eq!(end, PathEnd::Leaf);
    }

    /// Calls of a thread's first function do not have its cost.
    #[test]
    fn begins_with_the_most_expensive_thread() {
        let text = "events: Ir\nfn=main\n1 30\ncfn=thread\ncalls=2 1\n1 0\nfn=thread\n1 10\ncfn=work\ncalls=2 1\n1 60\nfn=work\n1 60\n";
        assert_eq!(path(text).0, [exact("thread", 70), exact("work", 60)]);
    }

    /// The call that starts a thread states the few costs of the thread that made it. The path has what the thread costs, and
    /// below it the recorded costs of its calls.
    #[test]
    fn a_thread_has_its_whole_cost() {
        let text = "events: Ir\nfn=main\n1 30\ncfn=thread\ncalls=1 1\n1 2\nfn=thread\n1 10\ncfn=sort\ncalls=1 1\n1 60\nfn=sort\n1 60\n";
        assert_eq!(path(text).0, [exact("thread", 70), exact("sort", 60)]);
    }

    /// No root has a large part of the total, and what they call has one.
    #[test]
    fn begins_with_the_first_of_many_small_roots() {
        let roots: String =
            (0..40).map(|root| format!("fn=root{root}\n1 {root}\ncfn=work\ncalls=1 1\n1 100\n")).collect();
        let (steps, _, _) = path(&format!("events: Ir\n{roots}fn=work\n1 4000\n"));
        assert_eq!(steps, [exact("root39", 139), exact("work", 100)]);
    }

    #[test]
    fn ends_where_nobody_reads_on() {
        let calls: String = (0..2000)
            .map(|nth| format!("fn=f{nth}\n1 1\ncfn=f{}\ncalls=1 1\n1 {}\n", nth + 1, 2000 - nth))
            .collect();
        let (steps, end, _) = path(&format!("events: Ir\n{calls}fn=f2000\n1 1\n"));
        assert_eq!((steps.len(), end), (MAX_STEPS, PathEnd::Length));
        assert_eq!(steps.last(), Some(&exact("f999", 1002)));
    }

    #[test]
    fn the_root_has_most_cost_that_is_of_no_caller_and_is_whole() {
        // The file says that the call of the thread cost 54 of its 1000 and 5 of its 100; a cycle costs less. The
        // calls below the thread have their recorded costs, so the thread has all of its own.
        let text = b"events: Ir Dr\nfn=clone\n1 2 1\ncfn=work\ncalls=1 5\n1 54 5\nfn=work\n5 1000 100\n\
            fn=a\n1 9 9\ncfn=b\ncalls=1 2\n1 9 9\nfn=b\n2 9 9\ncfn=a\ncalls=1 1\n2 9 9\n";
        for (events, expected) in
            [(EventSelection::First, &[1000][..]), (EventSelection::Recorded, &[1000, 100][..])]
        {
            let options = ViewOptions { events, ..ViewOptions::default() };
            let view = View::new(Profile::from_bytes(text.to_vec()), &options).unwrap();
            let path = CallPath::new(&view, &Head::new(&view)).expect("there are calls");
            let root = &path.steps[0];
            assert_eq!((root.name.as_str(), &root.inclusive.to_vec()[..]), ("work", expected));
        }
    }

    #[test]
    fn the_hottest_members_of_a_cycle_are_named_in_order() {
        let costs = [5, 9, 7, 9, 1, 9, 8, 9];
        let calls: String = costs
            .iter()
            .enumerate()
            .map(|(nth, cost)| {
                format!("fn=f{nth}\n1 {cost}\ncfn=f{}\ncalls=1 1\n1 3\n", (nth + 1) % costs.len())
            })
            .collect();
        let (_, end, branches) = path(&format!("events: Ir\n{calls}"));
        assert_eq!(end, PathEnd::Cycle);
        // Four cost 9, and the first three are shown.
        assert_eq!(branches, ["f1", "f3", "f5"]);
    }
}
