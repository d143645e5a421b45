//! The tree of a profile whose names contain callers.

use std::collections::HashMap;

use gristmill_format::Cost;

use crate::analysis::tree::{CallTree, TreeBasis, TreeNodeId, Trie};
use crate::budget::MemoryBudget;
use crate::id::{FunctionId, narrow};
use crate::ordered::OrderedKey;
use crate::profile::Profile;
use crate::selection::Selection;
use crate::symbol::{Chains, fold_recursion, has_callers};

/// Bytes of a node of the tree besides its costs, with its entries in tables that are needed meanwhile.
const NODE_BYTES: usize = 300;

/// Rows of costs of a node: its own, the inclusive ones, and both again when the tree is put in order.
const COSTS_PER_NODE: usize = 4;

/// A name of a [`RecordedCallers`] tree, made by it alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallerNameId(u32);

impl OrderedKey for CallerNameId {
    const BITS: u32 = u32::BITS;

    fn ordinal(self) -> u128 {
        self.0.into()
    }
}

impl CallerNameId {
    /// Returns the index in [`RecordedCallers::names`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A name that is a function, or a caller in the name of one. See the example of [`RecordedCallers`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallerName {
    /// The name as recorded; without recursion levels if these are folded.
    pub name: Vec<u8>,
    /// A function that has this name before its callers, one with a file if there is any. `None` for a name that only
    /// callers have.
    pub function: Option<FunctionId>,
}

/// The tree of a profile that was recorded with callers in the names, as by `--separate-callers`.
///
/// Each stack is one that happened, with its cost. It begins where the name ends, so the cost of one function may be in
/// several places, and a caller's inclusive cost is no more than what names it.
///
/// ```
/// use gristmill_profile::analysis::{RecordedCallers, TreeNodeId};
/// use gristmill_profile::{Profile, Selection};
///
/// let profile = Profile::from_bytes(b"events: Ir\nfn=read'main\n1 5\nfn=read'parse'main\n1 7\n".to_vec());
/// let callers = RecordedCallers::from_profile(&profile, &Selection::default(), false).expect("names have callers");
/// let tree = &callers.tree;
/// assert_eq!(tree.inclusive(TreeNodeId::ROOT), [12]);
/// let name = |id| tree.node(id).item.map(|item| &callers.names[item.index()].name[..]);
/// let names: Vec<_> = tree.ids().filter_map(name).collect();
/// assert_eq!(names, [&b"main"[..], b"parse", b"read", b"read"]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedCallers {
    /// The tree. Its costs have a column for each event type of the profile, and one of zeros if it has none.
    pub tree: CallTree<CallerNameId>,
    /// The names that the nodes stand for.
    pub names: Vec<CallerName>,
}

impl RecordedCallers {
    /// `true` if at least half of the names contain callers: a quote in a single name is no recording of callers. It takes
    /// less time than a tree, as a few names are enough to see that there are none.
    pub fn are_in(profile: &Profile) -> bool {
        let lacks_callers = |function: &FunctionId| !has_callers(profile.function(*function).name);
        let mut without = profile.functions().filter(lacks_callers);
        // One more than half of them.
        profile.function_count() > 0 && without.nth(profile.function_count() / 2).is_none()
    }

    /// Makes the tree of a profile. `None` if fewer than half of the names contain callers, or if the stacks would take much
    /// more memory than the profile.
    ///
    /// With `folds_recursion`, names that differ only in their recursion level are one.
    pub fn from_profile(profile: &Profile, selection: &Selection, folds_recursion: bool) -> Option<Self> {
        let budget = MemoryBudget::new([profile]).bytes();
        RecordedCallers::within(profile, selection, folds_recursion, budget)
    }

    /// Does the same for a tree that takes no more than this many bytes.
    pub(crate) fn within(
        profile: &Profile,
        selection: &Selection,
        folds_recursion: bool,
        bytes: usize,
    ) -> Option<Self> {
        if !RecordedCallers::are_in(profile) {
            return None;
        }
        let chains = Chains::new(profile.functions().map(|function| profile.function(function).name));
        let mut names: Vec<CallerName> = Vec::new();
        let mut known: HashMap<Vec<u8>, CallerNameId> = HashMap::new();
        let mut id_of: HashMap<_, CallerNameId> = HashMap::new();
        for function in profile.functions() {
            for &link in chains.of_function(function) {
                id_of.entry(link).or_insert_with(|| {
                    let name = chains.name(link);
                    let name =
                        if folds_recursion { fold_recursion(name).into_owned() } else { name.to_vec() };
                    *known.entry(name).or_insert_with_key(|name| {
                        names.push(CallerName { name: name.clone(), function: None });
                        CallerNameId(narrow(names.len() - 1))
                    })
                });
            }
            if let Some(own) = chains.of_function(function).last().map(|link| id_of[link]) {
                let example = &mut names[own.index()].function;
                let has_file = |id: FunctionId| !profile.file(profile.function(id).file).is_empty();
                if !example.is_some_and(has_file) {
                    *example = Some(function);
                }
            }
        }
        let graph = profile.call_graph(selection);
        let mut trie = Trie::new(None, graph.width());
        let max_nodes = bytes / bytes_of_node(graph.width());
        for node in graph.nodes().filter(|&node| graph.self_cost(node).iter().any(|&cost| cost != 0)) {
            let mut at = TreeNodeId::ROOT;
            for link in chains.of_function(graph.function_of(node)) {
                at = trie.child(at, Some(id_of[link]));
            }
            trie.tree.self_costs.add(at.index(), graph.self_cost(node));
            if trie.tree.self_costs.len() > max_nodes {
                return None;
            }
        }
        trie.tree.sum_up();
        Some(RecordedCallers { tree: trie.tree.arranged(TreeBasis::Callers), names })
    }

    /// Returns how many bytes the tree takes while it is made.
    pub(crate) fn bytes(&self) -> usize {
        self.tree.len() * bytes_of_node(self.tree.inclusive.width())
    }
}

fn bytes_of_node(width: usize) -> usize {
    NODE_BYTES + COSTS_PER_NODE * width * size_of::<Cost>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callers_are_in_at_least_half_of_the_names() {
        for (names, expected) in [
            (&[][..], false),
            (&["a"][..], false),
            (&["a'main"][..], true),
            (&["a'main", "main"][..], true),
            (&["a'main", "b", "main"][..], false),
            (&["a'2'main", "b'main", "main"][..], true),
            // Levels of recursion are no callers.
            (&["a'2", "b'2", "main"][..], false),
        ] {
            let functions: String = names.iter().map(|name| format!("fn={name}\n1 1\n")).collect();
            let profile = Profile::from_bytes(format!("events: Ir\n{functions}").into_bytes());
            assert_eq!(RecordedCallers::are_in(&profile), expected, "{names:?}");
            let tree = RecordedCallers::from_profile(&profile, &Selection::default(), false);
            assert_eq!(tree.is_some(), expected, "{names:?}");
        }
    }
}
