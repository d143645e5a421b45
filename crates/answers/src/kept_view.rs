//! Views and lists of functions that are kept between questions.

use std::sync::{Arc, Mutex, PoisonError};

use gristmill_report::{FunctionList, Head, SubjectId, View};

use crate::call_tree::{KeptTree, TreeKey};
use crate::question::{Group, Sort, Within};
use crate::refusal::Refusal;

/// Orders of functions that are kept for each view.
const MAX_LISTS: usize = 4;
/// Call trees that are kept for each view.
const MAX_TREES: usize = 4;

/// The properties that decide the rows of a list and their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ListKey {
    pub(crate) group: Group,
    pub(crate) sort: Sort,
    pub(crate) ascending: bool,
    pub(crate) filter: String,
    pub(crate) within: Option<Within>,
}

/// A view with its head, and lists of its functions.
#[derive(Debug)]
pub(crate) struct KeptView {
    pub(crate) view: View,
    pub(crate) head: Head,
    lists: Mutex<Kept<ListKey, FunctionList>>,
    trees: Mutex<Kept<TreeKey, KeptTree>>,
}

impl KeptView {
    pub(crate) fn new(view: View) -> Self {
        KeptView { head: Head::new(&view), view, lists: Mutex::default(), trees: Mutex::default() }
    }

    /// Returns the list with that key, which is made if it is not kept.
    pub(crate) fn list(
        &self,
        key: ListKey,
        make: impl FnOnce() -> Result<FunctionList, Refusal>,
    ) -> Result<Arc<FunctionList>, Refusal> {
        kept(&self.lists, key, MAX_LISTS, make)
    }

    /// Returns the call tree with that key, which is made if it is not kept.
    pub(crate) fn tree(&self, key: TreeKey) -> Result<Arc<KeptTree>, Refusal> {
        kept(&self.trees, key, MAX_TREES, || Ok(KeptTree::new(&self.view, key)))
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
pub(crate) type Kept<K, V> = Vec<(K, Arc<V>)>;

/// Returns a value, which is made if it is not kept; the least recently used ones are dropped.
pub(crate) fn kept<K: PartialEq, V>(
    values: &Mutex<Kept<K, V>>,
    key: K,
    limit: usize,
    make: impl FnOnce() -> Result<V, Refusal>,
) -> Result<Arc<V>, Refusal> {
    // A list of finished values is valid even after a panic.
    let lock = || values.lock().unwrap_or_else(PoisonError::into_inner);
    {
        let mut values = lock();
        if let Some(index) = values.iter().position(|(known, _)| *known == key) {
            let entry = values.remove(index);
            let value = Arc::clone(&entry.1);
            values.push(entry);
            return Ok(value);
        }
    }
    // Without the lock: other questions go on.
    let value = Arc::new(make()?);
    let mut values = lock();
    if values.len() >= limit {
        values.remove(0);
    }
    values.push((key, Arc::clone(&value)));
    Ok(value)
}
