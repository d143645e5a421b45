//! The origin of a tree: the blocks of the files if they are invocations, the names if they contain callers, or else an
//! estimate from the call graph. A view with cuts, or a function that is in none of the stacks, always gets the estimate.

use std::collections::HashMap;

use gristmill_output::lossy;
use gristmill_profile::analysis::{
    ArcId, CallTree, CallerNameId, CycleId, ExactTree, NodeId, RecordedCallers, TreeBasis, TreeLimits,
    TreeNodeId, Unit,
};
use gristmill_profile::ordered::OrderedKey;
use gristmill_profile::symbol::Symbol;
use gristmill_profile::{FileId, ObjectId};

use super::{Entry, EntryKind, TreeOptions};
use crate::view::{SubjectId, View};

/// The item of a node of a tree that is not the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Item {
    Subject(SubjectId),
    Cycle(CycleId),
    /// A name, in a tree of recorded callers. Such a name need not be a function of the profile.
    Name(CallerNameId),
}

impl OrderedKey for Item {
    const BITS: u32 = 2 + u32::BITS;

    fn ordinal(self) -> u128 {
        let (kind, ordinal) = match self {
            Item::Subject(subject) => (0, subject.ordinal()),
            Item::Cycle(cycle) => (1, cycle.ordinal()),
            Item::Name(name) => (2, name.ordinal()),
        };
        kind << u32::BITS | ordinal
    }
}

/// A tree before the nodes to show are selected.
pub(super) struct Source<'v> {
    pub(super) tree: CallTree<Item>,
    /// The count of calls in all selected parts, also outside this tree, whose stated cost is not the sum of what they
    /// called.
    pub(super) unequal_calls: usize,
    pub(super) entries: Entries<'v>,
}

/// The entries that items stand for. Few of them are shown, so most are made when asked for.
pub(super) struct Entries<'v> {
    view: &'v View,
    program: Entry,
    /// The cycles of the tree, without their members.
    cycles: HashMap<CycleId, Entry>,
    /// By name of a tree of recorded callers.
    names: Vec<Entry>,
    /// The most members that an entry of a cycle names.
    max_members: usize,
}

impl<'v> Entries<'v> {
    fn new(view: &'v View) -> Self {
        let program = Entry::new(EntryKind::Program, "(program)".to_owned());
        Entries { view, program, cycles: HashMap::new(), names: Vec::new(), max_members: usize::MAX }
    }

    pub(super) fn name(&self, item: Option<Item>) -> &str {
        match item {
            None => &self.program.name,
            Some(Item::Subject(subject)) => self.view.subject(subject).name(),
            Some(Item::Cycle(cycle)) => &self.cycles[&cycle].name,
            Some(Item::Name(name)) => &self.names[name.index()].name,
        }
    }

    /// `true` if some of the calls between two neighbours in a tree are inlined. Names of recorded callers need not be
    /// functions, so nothing is known about them.
    pub(super) fn is_inlined(&self, above: Option<Item>, item: Option<Item>, is_inverted: bool) -> bool {
        if !self.view.profile().has_inlined_calls() {
            return false;
        }
        let graph = self.view.full_graph();
        let (Some(item), Some(above)) = (item, above) else {
            // Below the program is what nothing calls; in an inverted tree, every function.
            let subject = item.filter(|_| is_inverted).and_then(|item| self.nodes_of(item).first().copied());
            return subject.is_some_and(|node| graph.has_inlined_calls(node));
        };
        let (caller, callee) = if is_inverted { (item, above) } else { (above, item) };
        let callees = self.nodes_of(callee);
        let is_callee = |arc: &ArcId| callees.contains(&graph.arc(*arc).callee);
        let from = |node: &NodeId| graph.outgoing(*node).filter(is_callee).any(|arc| graph.is_inlined(arc));
        self.nodes_of(caller).iter().any(from)
    }

    /// `true` if the cost of a node is the inclusive cost of its function, and that is only a limit. Costs of a known tree
    /// are none.
    pub(super) fn is_upper_bound(&self, tree: &CallTree<Item>, id: TreeNodeId) -> bool {
        let (TreeBasis::Estimate { .. }, Some(Item::Subject(subject))) = (tree.basis(), tree.node(id).item)
        else {
            return false;
        };
        self.view.is_upper_limit(subject) && tree.inclusive(id)[0] == self.view.inclusive_cost(subject)[0]
    }

    /// Returns the nodes of the graph that an item stands for.
    fn nodes_of(&self, item: Item) -> Vec<NodeId> {
        match item {
            Item::Subject(subject) => vec![subject.node()],
            Item::Cycle(cycle) => self.view.cycles().members(cycle).to_vec(),
            Item::Name(_) => Vec::new(),
        }
    }

    pub(super) fn entry(&self, item: Option<Item>) -> Entry {
        match item {
            None => self.program.clone(),
            Some(Item::Subject(id)) => {
                let subject = self.view.subject(id);
                let entry = Entry::new(EntryKind::Function, subject.name().to_owned());
                Entry { id: Some(id.index()), left_out: subject.left_out(), ..entry }.located(
                    self.view,
                    subject.file,
                    subject.object,
                )
            }
            Some(Item::Cycle(cycle)) => {
                let members = self.view.cycles().members(cycle).iter().take(self.max_members);
                let name = |&member| self.view.subject(self.view.subject_at(member)).name().to_owned();
                Entry { members: members.map(name).collect(), ..self.cycles[&cycle].clone() }
            }
            Some(Item::Name(name)) => self.names[name.index()].clone(),
        }
    }
}

impl Entry {
    fn new(kind: EntryKind, name: String) -> Entry {
        Entry {
            kind,
            id: None,
            name,
            file: String::new(),
            object: String::new(),
            cycle: None,
            members: Vec::new(),
            left_out: None,
        }
    }

    fn located(self, view: &View, file: FileId, object: ObjectId) -> Entry {
        let (file, object) = (view.profile().file(file), view.profile().object(object));
        Entry { file: lossy(file), object: lossy(object), ..self }
    }
}

/// An estimate of callees may have at least this many nodes, so that there are more to select from than are shown.
const MIN_ESTIMATED_NODES: usize = 10_000;
/// As long as they have no more costs than this.
const MIN_ESTIMATED_COSTS: usize = 100_000;

impl<'v> Source<'v> {
    /// Makes the tree of a view, below or above the function that the options name.
    pub(super) fn new(view: &'v View, options: &TreeOptions, max_nodes: usize) -> Self {
        // Blocks and names still have the calls that the view cuts; only its graph does not.
        if view.cut_arc_count() == 0 && view.may_have_stacks() {
            let known = exact(view).or_else(|| recorded_callers(view));
            if known.is_none() {
                view.remember_no_stacks();
            }
            let known = known.map(Source::attributed);
            if let Some(source) = known.and_then(|source| source.around(options, max_nodes)) {
                return source;
            }
        }
        estimate(view, options, max_nodes)
    }

    /// Takes hidden functions out of a known tree, those that are left out, and what is not in the focus.
    fn attributed(self) -> Self {
        let view = self.entries.view;
        if !view.has_attribution() {
            return self;
        }
        // Few items have many nodes.
        let mut known: HashMap<Item, (bool, bool, bool)> = HashMap::new();
        for id in self.tree.ids() {
            if let Some(item) = self.tree.node(id).item {
                known.entry(item).or_insert_with(|| {
                    let name = self.entries.name(Some(item));
                    (view.hides(name), view.focuses_on(name), view.drops(name))
                });
            }
        }
        let drops = known.values().any(|&(_, _, is_dropped)| is_dropped);
        let tree = if drops { self.tree.without(|item| known[&item].2) } else { self.tree };
        let tree = tree.attributed(|item| known[&item].0, |item| known[&item].1);
        Source { tree, ..self }
    }

    /// Takes the part of a known tree that the options ask for. `None` if the function is in none of the stacks.
    fn around(self, options: &TreeOptions, max_nodes: usize) -> Option<Self> {
        let Some(from) = options.from else {
            let inverted = |source: Self| Source { tree: source.tree.bottom_up(max_nodes), ..source };
            return Some(if options.inverted { inverted(self) } else { self });
        };
        let is_start = |id| self.is_at(from, id);
        let tree = if options.inverted {
            self.tree.inverted(is_start, max_nodes)?
        } else {
            self.tree.below(is_start)?
        };
        Some(Source { tree, ..self })
    }

    /// `true` if a node stands for a subject.
    ///
    /// In a tree of recorded callers, these are the nodes that the subject's own name and its callers lead to; for a subject
    /// whose name has no callers, all nodes that have its name.
    fn is_at(&self, subject: SubjectId, id: TreeNodeId) -> bool {
        if !matches!(self.tree.node(id).item, Some(Item::Name(_))) {
            return self.tree.node(id).item == Some(Item::Subject(subject));
        }
        // A name has the function first, then its caller, and so on: the order of nodes on the way up.
        let mut rest = self.entries.view.subject(subject).name();
        for id in self.tree.path_up(id).filter(|&id| id != TreeNodeId::ROOT) {
            match rest.strip_prefix(self.entries.name(self.tree.node(id).item)) {
                Some("") => return true,
                Some(more) if more.starts_with('\'') => rest = &more[1..],
                _ => return false,
            }
        }
        false
    }
}

/// The exact tree, if the files have a block for each invocation, and its costs fit into memory.
fn exact(view: &View) -> Option<Source<'_>> {
    let tree = ExactTree::from_profile(view.profile(), view.selection()).ok()?;
    if tree.call_count() == 0 {
        return None;
    }
    let unequal_calls = tree.unequal_call_count();
    let tree = tree.finish().folded(|function| Item::Subject(view.subject_of(function)));
    let tree = tree.with_costs(view.events().len(), |row| view.shown_costs(row)).ok()?;
    Some(Source { tree, unequal_calls, entries: Entries::new(view) })
}

/// The tree of recorded callers, if names contain them.
fn recorded_callers(view: &View) -> Option<Source<'_>> {
    let profile = view.profile();
    if !RecordedCallers::are_in(profile) {
        return None;
    }
    let folds_recursion = profile.functions().any(|function| {
        let has_level = |name: &[u8]| Symbol::parse(name).parts().recursion().is_some();
        let subject = view.subject(view.subject_of(function));
        has_level(profile.function(function).name) && !has_level(subject.name().as_bytes())
    });
    let RecordedCallers { tree, names } =
        RecordedCallers::from_profile(profile, view.selection(), folds_recursion)?;
    let tree =
        tree.with_items(Item::Name).with_costs(view.events().len(), |row| view.shown_costs(row)).ok()?;
    let entry = |name: &gristmill_profile::analysis::CallerName| {
        let entry = Entry::new(EntryKind::Function, Symbol::parse(&name.name).shown());
        match name.function.map(|function| profile.function(function)) {
            Some(function) => entry.located(view, function.file, function.object),
            None => entry,
        }
    };
    let entries = Entries { names: names.iter().map(entry).collect(), ..Entries::new(view) };
    Some(Source { tree, unequal_calls: 0, entries })
}

/// The estimate, from the call graph.
fn estimate<'v>(view: &'v View, options: &TreeOptions, max_nodes: usize) -> Source<'v> {
    let (cycles, estimator) = (view.cycles(), view.estimator());
    let from = options.from.map(SubjectId::node);
    let tree = match from {
        Some(from) if options.inverted => estimator.inverted(from, max_nodes),
        None if options.inverted => estimator.bottom_up(view.full_graph(), cycles, max_nodes),
        _ => {
            let whole = match from {
                // The root has the cost of all functions.
                None => view.totals()[0],
                Some(from) => estimator.inclusive(from)[0],
            };
            let fitting = MIN_ESTIMATED_COSTS / view.graph().width().max(1);
            let max_nodes = max_nodes.max(MIN_ESTIMATED_NODES.min(fitting));
            let limits = TreeLimits::from_share(whole, options.min_share, max_nodes);
            estimator.tree(from, TreeLimits { keeps_lone: true, ..limits })
        }
    };
    let tree = match view.attributed() {
        Some(attributed) => tree.marked_by(&attributed, cycles, options.inverted),
        None => tree,
    };
    let tree = tree.with_columns(&(0..view.events().len()).collect::<Vec<_>>());
    let tree = tree.with_items(|unit| match unit {
        Unit::Node(node) => Item::Subject(view.subject_at(node)),
        Unit::Cycle(cycle) => Item::Cycle(cycle),
    });
    let entry = |cycle: CycleId| {
        let members = cycles.members(cycle);
        let first = members.first().map_or("", |&member| view.subject(view.subject_at(member)).name());
        let name = format!("cycle {} of {} functions: {first} …", cycle.number(), members.len());
        Entry { cycle: Some(cycle.number()), ..Entry::new(EntryKind::Cycle, name) }
    };
    let max_members = options.max_members.unwrap_or(usize::MAX);
    let mut entries = Entries { max_members, ..Entries::new(view) };
    for id in tree.ids() {
        if let Some(Item::Cycle(cycle)) = tree.node(id).item {
            entries.cycles.entry(cycle).or_insert_with(|| entry(cycle));
        }
    }
    // Of hidden functions, those that nothing calls keep their cost. They are nodes only because it has to be somewhere.
    let is_hidden = |item| view.hides(entries.name(Some(item)));
    let mut items = tree.ids().filter_map(|id| tree.node(id).item).peekable();
    let tree = match items.peek().is_some() && items.all(is_hidden) && options.from.is_none() {
        true => tree.attributed(is_hidden, |_| true),
        false => tree,
    };
    Source { tree, unequal_calls: 0, entries }
}
