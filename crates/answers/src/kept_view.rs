//! Views and lists of functions that are kept between questions.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use gristmill_report::{
    FilteredFunctions, FunctionList, Head, Overview, PathIndex, SubjectId, Tree, TreeOptions, View,
};

use crate::answer::Summary;
use crate::call_tree::{KeptTree, TreeKey};
use crate::question::{Group, Sort, Within};
use crate::refusal::Refusal;

/// Orders of all functions that are kept for each view: one for each key.
const MAX_ORDERS: usize = 7;
/// Other lists that are kept for each view.
const MAX_LISTS: usize = 4;
/// Filters whose functions are kept for each view: those of a text while it is typed.
const MAX_FILTERS: usize = 4;
/// Call trees that are kept for each view: both ways of three functions.
const MAX_TREES: usize = 6;
/// Call trees of large cycles that are kept for each view: both ways of one.
const MAX_CYCLE_TREES: usize = 2;
/// The members of a large cycle. Most functions that are looked at are in one, and its trees take long to make.
const MANY_MEMBERS: usize = 1000;
/// Kinds of groups that are kept for each view: all.
const MAX_GROUPS: usize = 7;
/// Tables of a call tree that are kept for each view.
const MAX_TABLES: usize = 4;
/// First screens that are kept for each view: those of a page have the same limit.
const MAX_OVERVIEWS: usize = 1;

/// The properties that decide the rows of a list and their order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ListKey {
    pub(crate) group: Group,
    pub(crate) sort: Sort,
    pub(crate) ascending: bool,
    pub(crate) filter: String,
    pub(crate) within: Option<Within>,
}

impl ListKey {
    /// `true` for a list of all functions.
    pub(crate) fn is_of_all(&self) -> bool {
        self.group == Group::Function && self.filter.is_empty() && self.within.is_none()
    }

    /// `true` if the names of all functions decide the rows or their order.
    pub(crate) fn needs_names(&self) -> bool {
        let is_named = |group| matches!(group, Group::Class | Group::Crate | Group::Cycle);
        self.sort == Sort::Name
            || !self.filter.is_empty()
            || is_named(self.group)
            || self.within.as_ref().is_some_and(|within| is_named(within.group))
    }

    /// Returns the key of the same list from its start.
    pub(crate) fn of_start(&self) -> ListKey {
        ListKey { ascending: false, ..self.clone() }
    }
}

/// A view with its head, and lists of its functions.
#[derive(Debug)]
pub(crate) struct KeptView {
    pub(crate) view: View,
    pub(crate) head: Head,
    summary: Mutex<Kept<(), Summary>>,
    orders: Mutex<Kept<Sort, FunctionList>>,
    lists: Mutex<Kept<ListKey, FunctionList>>,
    filters: Mutex<Kept<String, FilteredFunctions>>,
    groups: Mutex<Kept<Group, FunctionList>>,
    trees: Mutex<Kept<TreeKey, KeptTree>>,
    tables: Mutex<Kept<TreeOptions, Tree>>,
    /// The same of the program and of large cycles, which functions do not displace.
    program_trees: Mutex<Kept<TreeKey, KeptTree>>,
    program_tables: Mutex<Kept<TreeOptions, Tree>>,
    cycle_trees: Mutex<Kept<TreeKey, KeptTree>>,
    cycle_tables: Mutex<Kept<TreeOptions, Tree>>,
    files: OnceLock<PathIndex>,
    /// The objects of functions.
    objects: OnceLock<PathIndex>,
    /// By limit.
    overviews: Mutex<Kept<usize, Overview>>,
}

impl KeptView {
    pub(crate) fn new(view: View) -> Self {
        KeptView {
            head: Head::new(&view),
            view,
            summary: Mutex::default(),
            orders: Mutex::default(),
            lists: Mutex::default(),
            filters: Mutex::default(),
            groups: Mutex::default(),
            trees: Mutex::default(),
            tables: Mutex::default(),
            program_trees: Mutex::default(),
            program_tables: Mutex::default(),
            cycle_trees: Mutex::default(),
            cycle_tables: Mutex::default(),
            files: OnceLock::new(),
            objects: OnceLock::new(),
            overviews: Mutex::default(),
        }
    }

    /// Returns the list of all functions in an order, which is made if it is not kept.
    pub(crate) fn order(
        &self,
        sort: Sort,
        make: impl FnOnce() -> Result<FunctionList, Refusal>,
    ) -> Result<Arc<FunctionList>, Refusal> {
        kept(&self.orders, sort, MAX_ORDERS, make)
    }

    /// Returns the list with that key, which is made if it is not kept.
    pub(crate) fn list(
        &self,
        key: ListKey,
        make: impl FnOnce() -> Result<FunctionList, Refusal>,
    ) -> Result<Arc<FunctionList>, Refusal> {
        kept(&self.lists, key, MAX_LISTS, make)
    }

    /// Returns the functions that a filter takes, which are made if they are not kept: among those of a shorter text, if these are
    /// kept.
    pub(crate) fn filtered(
        &self,
        filter: &str,
        make: impl FnOnce(Option<&FilteredFunctions>) -> Result<FilteredFunctions, Refusal>,
    ) -> Result<Arc<FilteredFunctions>, Refusal> {
        let among = {
            let filters = lock(&self.filters);
            let finished = filters.iter().filter_map(|(_, slot)| slot.finished());
            finished.filter(|kept| kept.has_all_of(filter)).min_by_key(|kept| kept.ids().len())
        };
        kept(&self.filters, filter.to_owned(), MAX_FILTERS, || make(among.as_deref()))
    }

    /// Returns the groups of a kind, which are made if they are not kept.
    pub(crate) fn groups(
        &self,
        group: Group,
        make: impl FnOnce() -> Result<FunctionList, Refusal>,
    ) -> Result<Arc<FunctionList>, Refusal> {
        kept(&self.groups, group, MAX_GROUPS, make)
    }

    /// Returns the rows of `gristmill tree`, which are made if they are not kept.
    pub(crate) fn table(&self, options: TreeOptions) -> Result<Arc<Tree>, Refusal> {
        let make = |options: &TreeOptions| Ok(Tree::new(&self.view, options));
        let Some(from) = options.from else {
            return kept(&self.program_tables, options.clone(), MAX_TABLES, || make(&options));
        };
        let start = self.view.tree_start(from);
        if !self.is_of_large_cycle(start) {
            return kept(&self.tables, options.clone(), MAX_TABLES, || make(&options));
        }
        let of_cycle = TreeOptions { from: Some(start), ..options };
        let tree = kept(&self.cycle_tables, of_cycle.clone(), MAX_CYCLE_TREES, || make(&of_cycle))?;
        // Trees of all members have the same nodes.
        let name = self.view.subject(from).name().to_owned();
        Ok(if from == start { tree } else { Arc::new(Tree::clone(&tree).renamed(name)) })
    }

    /// Returns the call tree with that key, which is made if it is not kept.
    pub(crate) fn tree(&self, key: TreeKey) -> Result<Arc<KeptTree>, Refusal> {
        let key = TreeKey { from: key.from.map(|from| self.view.tree_start(from)), ..key };
        let (trees, limit) = match key.from {
            None => (&self.program_trees, MAX_TREES),
            Some(start) if self.is_of_large_cycle(start) => (&self.cycle_trees, MAX_CYCLE_TREES),
            Some(_) => (&self.trees, MAX_TREES),
        };
        kept(trees, key, limit, || Ok(KeptTree::new(&self.view, key)))
    }

    /// `true` if a call tree that begins with this function is that of a large cycle.
    fn is_of_large_cycle(&self, start: SubjectId) -> bool {
        let cycles = self.view.cycles();
        let cycle = cycles.cycle_of(start.node()).filter(|_| self.view.takes_cycles_as_one());
        cycle.is_some_and(|cycle| cycles.members(cycle).len() >= MANY_MEMBERS)
    }

    /// Returns the summary, which is made if it is not kept.
    pub(crate) fn summary(
        &self,
        make: impl FnOnce() -> Result<Summary, Refusal>,
    ) -> Result<Arc<Summary>, Refusal> {
        kept(&self.summary, (), 1, make)
    }

    /// Returns the files of the profile.
    pub(crate) fn files(&self) -> &PathIndex {
        self.files.get_or_init(|| {
            let profile = self.view.profile();
            let paths = profile.files().map(|file| profile.file(file));
            PathIndex::new(paths.filter(|path| !path.is_empty()))
        })
    }

    /// Returns the objects of functions, in their order.
    pub(crate) fn objects(&self) -> &PathIndex {
        self.objects.get_or_init(|| {
            let profile = self.view.profile();
            let mut is_used = vec![false; profile.object_count()];
            self.view.subject_ids().for_each(|id| is_used[self.view.paths(id).1.index()] = true);
            let used = profile.objects().filter(|object| is_used[object.index()]);
            let paths: BTreeSet<&[u8]> = used.map(|object| profile.object(object)).collect();
            PathIndex::new(paths.into_iter().filter(|path| !path.is_empty()))
        })
    }

    /// Returns the first screen with that limit, which is made if it is not kept.
    pub(crate) fn overview(
        &self,
        limit: usize,
        make: impl FnOnce() -> Overview,
    ) -> Result<Arc<Overview>, Refusal> {
        kept(&self.overviews, limit, MAX_OVERVIEWS, || Ok(make()))
    }

    /// Returns the function with that id.
    pub(crate) fn subject(&self, id: u32) -> Result<SubjectId, Refusal> {
        let index = usize::try_from(id).unwrap_or(usize::MAX);
        if index >= self.view.graph().node_count() {
            return Err(Refusal::UnknownFunction(id));
        }
        Ok(self.view.subject_at(self.view.graph().node(index)))
    }
}

/// Values by key, the last used last.
pub(crate) type Kept<K, V> = Vec<(K, Arc<Slot<V>>)>;

/// A value, or none while it is made. Who asks for it meanwhile waits.
pub(crate) struct Slot<V>(Mutex<Option<Arc<V>>>);

impl<V> Slot<V> {
    /// Returns the value, unless it is being made.
    fn finished(&self) -> Option<Arc<V>> {
        self.0.try_lock().ok().and_then(|value| value.clone())
    }
}

impl<V> fmt::Debug for Slot<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Slot").finish_non_exhaustive()
    }
}

/// Returns a value, which is made if it is not kept; the least recently used ones are dropped.
pub(crate) fn kept<K: PartialEq, V>(
    values: &Mutex<Kept<K, V>>,
    key: K,
    limit: usize,
    make: impl FnOnce() -> Result<V, Refusal>,
) -> Result<Arc<V>, Refusal> {
    let slot = {
        let mut values = lock(values);
        let known = values.iter().position(|(known, _)| *known == key).map(|index| values.remove(index));
        if known.is_none() && values.len() >= limit {
            values.remove(0);
        }
        let (key, slot) = known.unwrap_or_else(|| (key, Arc::new(Slot(Mutex::new(None)))));
        values.push((key, Arc::clone(&slot)));
        slot
    };
    // Without the lock of all: other questions go on.
    let mut value = lock(&slot.0);
    if let Some(value) = &*value {
        return Ok(Arc::clone(value));
    }
    // After a failure there is still none, and the next one tries again.
    let made = Arc::new(make()?);
    *value = Some(Arc::clone(&made));
    Ok(made)
}

/// Finished values, and lists of them, are valid even after a panic.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use gristmill_profile::Profile;
    use gristmill_report::ViewOptions;

    use super::*;

    /// Some functions that call a large cycle.
    fn view() -> View {
        let mut text = "events: Ir\n".to_owned();
        for nth in 0..MANY_MEMBERS {
            let next = (nth + 1) % MANY_MEMBERS;
            let _ = writeln!(text, "fn=f{nth}\n1 {nth}\ncfn=f{next}\ncalls=1 1\n1 5");
        }
        for nth in 0..2 * MAX_TREES {
            let _ = writeln!(text, "fn=g{nth}\n1 1\ncfn=f{nth}\ncalls=1 1\n1 7");
        }
        View::new(Profile::from_bytes(text.into_bytes()), &ViewOptions::default()).unwrap()
    }

    #[test]
    fn trees_of_other_functions_do_not_displace_those_of_a_large_cycle() {
        let kept = KeptView::new(view());
        let ids: Vec<SubjectId> = kept.view.subject_ids().collect();
        let (members, others) = ids.split_at(MANY_MEMBERS);
        let table = |from| {
            let options = TreeOptions { from: Some(from), limit: Some(50), ..TreeOptions::default() };
            (kept.table(options.clone()).unwrap(), Tree::new(&kept.view, &options))
        };
        let tree = |from, inverted| kept.tree(TreeKey { from: Some(from), inverted }).unwrap();
        // The first tree finds out that the profile has no stacks.
        table(others[0]);
        let both = || [false, true].map(|inverted| tree(members[3], inverted));
        let first = both();
        let first_table = table(members[0]).0;
        others.iter().for_each(|&other| drop((tree(other, false), table(other))));
        assert!(first.iter().zip(&both()).all(|(one, other)| Arc::ptr_eq(one, other)));
        assert!(Arc::ptr_eq(&first_table, &table(members[0]).0));
        // Their tables are those of the functions that were asked for.
        for &member in &members[..3] {
            let (shown, new) = table(member);
            let json = |tree: &Tree| serde_json::to_string(tree).unwrap();
            assert_eq!(json(&shown), json(&new));
        }
    }
}
