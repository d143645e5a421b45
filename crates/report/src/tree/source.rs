//! Where a tree comes from: the exact one of a file that tells of each invocation, the recorded callers in names, or
//! else an estimate from the call graph.

use std::collections::HashMap;

use gristmill_output::lossy;
use gristmill_profile::FunctionId;
use gristmill_profile::analysis::{CallTree, Cycles, ExactTree, TreeBasis, TreeItem, TreeLimits};
use gristmill_profile::symbol::{Chains, Symbol, fold_recursion};

use super::growth::Growth;
use super::{Entry, EntryKind, TreeOptions, inverted};
use crate::view::{Subject, View};

/// A tree before anything is left out of it.
pub(super) struct Source<'v, 'p> {
    pub(super) basis: TreeBasis,
    /// Of so many calls the files say another cost than what was called adds up to.
    pub(super) unequal_calls: usize,
    pub(super) growth: Growth,
    pub(super) entries: Entries<'v, 'p>,
}

/// What the nodes stand for, by number: the program, then all subjects of a view or none, then others. Few of the subjects
/// are shown, and taking all of their names apart would take longer than the tree.
pub(super) struct Entries<'v, 'p> {
    view: &'v View<'p>,
    subjects: usize,
    others: Vec<Entry>,
}

impl<'v, 'p> Entries<'v, 'p> {
    fn of_subjects(view: &'v View<'p>) -> Self {
        Entries { view, subjects: view.subjects().len(), others: vec![program()] }
    }

    /// The place of one among the others, or the subject that it stands for.
    fn place(&self, entry: usize) -> Result<usize, Subject<'v>> {
        match entry.checked_sub(1) {
            Some(subject) if subject < self.subjects => Err(self.view.subject(FunctionId::new(subject))),
            Some(other) => Ok(other - self.subjects + 1),
            None => Ok(0),
        }
    }

    pub(super) fn name(&self, entry: usize) -> &str {
        match self.place(entry) {
            Ok(other) => &self.others[other].name,
            Err(subject) => subject.name(),
        }
    }

    pub(super) fn entry(&self, entry: usize) -> Entry {
        match self.place(entry) {
            Ok(other) => self.others[other].clone(),
            Err(subject) => Entry {
                kind: EntryKind::Function,
                name: subject.name().to_owned(),
                file: lossy(self.view.profile().file(subject.file)),
                object: lossy(self.view.profile().object(subject.object)),
                members: Vec::new(),
            },
        }
    }
}

/// An estimate is not made much larger than what is shown of it.
const LEAST_ESTIMATE: usize = 10_000;

pub(super) fn of<'v, 'p>(view: &'v View<'p>, options: &TreeOptions, most_nodes: usize) -> Source<'v, 'p> {
    // What was cut is in the files all the same, so only the graph tells of the rest.
    let known = if view.cut_arcs() == 0 { exact(view).or_else(|| of_names(view)) } else { None };
    let below = known.and_then(|known| known.from(options, most_nodes));
    below.unwrap_or_else(|| estimate(view, options, most_nodes))
}

/// A tree that the files tell.
struct Known<'v, 'p> {
    source: Source<'v, 'p>,
    is_at: IsAt,
}

/// Whether a subject stands at a node.
type IsAt = fn(&Source<'_, '_>, FunctionId, usize) -> bool;

impl<'v, 'p> Known<'v, 'p> {
    /// What of it is asked for. None where the function that it is to begin with is in none of the stacks.
    fn from(self, options: &TreeOptions, most_nodes: usize) -> Option<Source<'v, 'p>> {
        let Known { source, is_at } = self;
        let Some(from) = options.from else { return Some(source) };
        let is_start = |node: usize| is_at(&source, from, node);
        let growth = if options.inverted {
            inverted::of_stacks(&source.growth, source.entries.view.events().len(), is_start, most_nodes)?
        } else {
            source.growth.below(is_start)?
        };
        Some(Source { growth, ..source })
    }
}

fn program() -> Entry {
    Entry {
        kind: EntryKind::Program,
        name: "(program)".to_owned(),
        file: String::new(),
        object: String::new(),
        members: Vec::new(),
    }
}

/// The exact tree, of files that have a block for each invocation.
fn exact<'v, 'p>(view: &'v View<'p>) -> Option<Known<'v, 'p>> {
    let profile = view.profile();
    let mut tree = ExactTree::new(profile.event_count().max(1));
    for part in profile.selected(view.selection()) {
        let mut blocks = profile.invocations(part.id());
        while let Some(block) = blocks.next_block() {
            tree.push(block).ok()?;
        }
        tree.end_part();
    }
    if tree.calls() == 0 {
        return None;
    }
    let unequal_calls = tree.unequal_calls();
    let tree = tree.finish().renamed(|item| match item {
        TreeItem::Function(function) => TreeItem::Function(view.subject_of(function)),
        other => other,
    });
    let growth = Growth::of(&tree, view.events().len(), entry_of, |row| view.of_recorded(row).ok())?;
    let source =
        Source { basis: TreeBasis::Exact, unequal_calls, growth, entries: Entries::of_subjects(view) };
    let is_at: IsAt =
        |source, from, node| source.growth.nodes[node].entry == entry_of(TreeItem::Function(from));
    Some(Known { source, is_at })
}

/// The place of a subject among the entries.
fn entry_of(item: TreeItem) -> usize {
    match item {
        TreeItem::Function(function) => function.index() + 1,
        TreeItem::Program | TreeItem::Cycle(_) => 0,
    }
}

/// The tree of stacks that are in the names, where these were recorded with their callers.
fn of_names<'v, 'p>(view: &'v View<'p>) -> Option<Known<'v, 'p>> {
    let profile = view.profile();
    let names = || profile.functions().map(|function| profile.function(function).name);
    let chains = Chains::of(names());
    // A quote in a single name is no recording of callers.
    let with_callers = profile.functions().filter(|&function| chains.of_function(function).len() > 1).count();
    if with_callers * 2 < profile.function_count() || chains.longest() == 0 {
        return None;
    }
    let folds_recursion = profile.functions().any(|function| {
        let has_level = |name: &[u8]| Symbol::parse(name).parts().recursion().is_some();
        let subject = view.subject(view.subject_of(function));
        has_level(profile.function(function).name) && !has_level(subject.name().as_bytes())
    });

    // A name has no file; that of the function that it is the name of will do.
    let mut entries = vec![program()];
    let mut known: HashMap<Vec<u8>, usize> = HashMap::new();
    let mut entry_of_link: HashMap<FunctionId, usize> = HashMap::new();
    for function in profile.functions() {
        let chain = chains.of_function(function);
        for (nth, &link) in chain.iter().enumerate() {
            let name = chains.name(link);
            let name = if folds_recursion { fold_recursion(name).into_owned() } else { name.to_vec() };
            let shown = Symbol::parse(&name).shown();
            let next = entries.len();
            let entry = *known.entry(name).or_insert(next);
            if entry == next {
                entries.push(Entry { kind: EntryKind::Function, name: shown, ..program() });
            }
            entry_of_link.insert(link, entry);
            if nth + 1 == chain.len() && entries[entry].file.is_empty() {
                let subject = view.subject(view.subject_of(function));
                entries[entry].file = lossy(profile.file(subject.file));
                entries[entry].object = lossy(profile.object(subject.object));
            }
        }
    }
    let entry = |item: TreeItem| match item {
        TreeItem::Function(link) => entry_of_link.get(&link).copied().unwrap_or(0),
        TreeItem::Program | TreeItem::Cycle(_) => 0,
    };
    let graph = profile.call_graph(view.selection());
    let self_costs = graph.function_ids().map(|function| (function, graph.self_cost(function)));
    let self_costs = self_costs.filter(|(_, costs)| costs.iter().any(|&cost| cost != 0));
    let tree = CallTree::of_chains(graph.width(), self_costs, |function| chains.of_function(function));
    let tree = tree.renamed(|item| match item {
        TreeItem::Program => item,
        _ => TreeItem::Function(FunctionId::new(entry(item))),
    });
    let place = |item: TreeItem| match item {
        TreeItem::Function(entry) => entry.index(),
        TreeItem::Program | TreeItem::Cycle(_) => 0,
    };
    let growth = Growth::of(&tree, view.events().len(), place, |row| view.of_recorded(row).ok())?;
    let entries = Entries { view, subjects: 0, others: entries };
    let source = Source { basis: TreeBasis::Callers, unequal_calls: 0, growth, entries };
    Some(Known { source, is_at: is_at_names })
}

/// Where a subject is in a tree of names: at the nodes that its own name and its callers lead to, and for one whose name
/// has no callers, at all that have its name.
fn is_at_names(source: &Source<'_, '_>, from: FunctionId, node: usize) -> bool {
    let growth = &source.growth;
    let mut rest = source.entries.view.subject(from).name();
    let mut at = Some(node);
    // The name has the function first, then its caller, and so on: as the nodes stand on the way up.
    while let Some(place) = at {
        let sprout = growth.nodes[place];
        let name = source.entries.name(sprout.entry);
        match rest.strip_prefix(name) {
            Some("") => return true,
            Some(more) if more.starts_with('\'') => rest = &more[1..],
            _ => return false,
        }
        at = sprout.parent.filter(|&parent| parent != CallTree::ROOT);
    }
    false
}

/// The estimate, from who calls whom.
fn estimate<'v, 'p>(view: &'v View<'p>, options: &TreeOptions, most_nodes: usize) -> Source<'v, 'p> {
    let graph = view.graph();
    // Whatever cycles the view takes as one: what calls itself in a circle has no tree.
    let cycles = Cycles::of(graph);
    let mut entries = Entries::of_subjects(view);
    let first_cycle = entries.subjects + 1;
    entries.others.extend(cycles.ids().map(|cycle| {
        let members: Vec<String> =
            cycles.members(cycle).iter().map(|&member| view.subject(member).name().to_owned()).collect();
        let first = members.first().map_or("", String::as_str);
        Entry {
            kind: EntryKind::Cycle(cycle.number()),
            name: format!("cycle {} of {} functions: {first} …", cycle.number(), members.len()),
            members,
            ..program()
        }
    }));
    let entry = |item: TreeItem| match item {
        TreeItem::Cycle(cycle) => first_cycle + cycle.index(),
        other => entry_of(other),
    };
    if let (Some(from), true) = (options.from, options.inverted) {
        let (growth, guessed) = inverted::estimate(graph, &cycles, from, entry, most_nodes);
        return Source { basis: TreeBasis::Estimate { guessed }, unequal_calls: 0, growth, entries };
    }
    let make = |limits| CallTree::estimate(graph, &cycles, options.from, limits);
    let whole = match options.from {
        // Each function is below one that nothing calls.
        None => view.totals()[0],
        Some(_) => {
            let root = make(TreeLimits { least: 0, most_nodes: 1 });
            root.inclusive(CallTree::ROOT).first().copied().unwrap_or(0)
        }
    };
    let tree = make(TreeLimits::millionths(
        whole,
        options.least.saturating_mul(1000),
        most_nodes.max(LEAST_ESTIMATE),
    ));
    let width = view.events().len();
    let growth = Growth::of(&tree, width, entry, |row| Some(row.to_vec()));
    let growth = growth.unwrap_or_else(|| Growth::new(width));
    Source { basis: tree.basis().clone(), unequal_calls: 0, growth, entries }
}
