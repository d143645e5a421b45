//! The groups that functions are in, by number.

use std::borrow::Cow;
use std::collections::HashMap;

use gristmill_output::lossy;
use gristmill_profile::hash::Map;
use gristmill_profile::symbol::Symbol;
use gristmill_profile::threads::map_on_threads;

use super::name_index::{NameIndex, ranges};
use crate::grouping::{CratesOfFiles, Grouping, class_of};
use crate::view::{SubjectId, View};

/// Groups of functions, numbered in the order of their first functions.
pub(super) struct GroupNumbers {
    /// By group: its name.
    pub(super) names: Vec<String>,
    /// By function: its group.
    pub(super) group_of: Vec<u32>,
}

impl GroupNumbers {
    /// Numbers the groups of all functions. With the names of the view, none is made.
    pub(super) fn new(view: &View, grouping: Grouping, index: Option<&NameIndex>) -> Self {
        match grouping {
            Grouping::Object | Grouping::File | Grouping::Directory | Grouping::Package => {
                by_path(view, grouping)
            }
            _ => by_name(view, grouping, index),
        }
    }
}

/// Returns the name of the group that a function is in. See the example of [`FunctionList`](super::FunctionList).
pub fn group_name(view: &View, id: SubjectId, grouping: Grouping) -> String {
    let (profile, subject) = (view.profile(), view.subject(id));
    grouping.group(
        || subject.name().to_owned(),
        || lossy(profile.file(subject.file)),
        || lossy(profile.object(subject.object)),
    )
}

/// Numbers groups that file or object decide: there are fewer of them than functions.
fn by_path(view: &View, grouping: Grouping) -> GroupNumbers {
    let is_object = grouping == Grouping::Object;
    let profile = view.profile();
    let path_count = if is_object { profile.object_count() } else { profile.file_count() };
    let mut of_path: Vec<Option<u32>> = vec![None; path_count];
    let mut known: HashMap<String, u32> = HashMap::new();
    let mut names: Vec<String> = Vec::new();
    let mut group_of = |id: SubjectId| {
        let (file, object) = view.paths(id);
        let of_path = &mut of_path[if is_object { object.index() } else { file.index() }];
        *of_path.get_or_insert_with(|| {
            let next = names.len();
            *known.entry(group_name(view, id, grouping)).or_insert_with_key(|name| {
                names.push(name.clone());
                number(next)
            })
        })
    };
    let group_of = view.subject_ids().map(&mut group_of).collect();
    GroupNumbers { names, group_of }
}

/// Numbers groups that names decide, on all cores.
fn by_name(view: &View, grouping: Grouping, index: Option<&NameIndex>) -> GroupNumbers {
    let crates = (grouping == Grouping::Crate).then(|| CratesOfFiles::new(view.profile()));
    let group = |id: SubjectId, known: &mut Known| {
        // To keep a name that is needed once would take memory.
        let name = match index {
            Some(index) => Cow::Borrowed(index.name(id)),
            None => Cow::Owned(Symbol::parse(view.subject(id).recorded()).shown()),
        };
        match (grouping, &crates) {
            (Grouping::Class, _) => known.number(class_of(&name)),
            (_, Some(crates)) => known.number(crates.crate_of(&name, view.paths(id).0)),
            _ => known.number(&name),
        }
    };
    let chunks = map_on_threads(ranges(view.graph().node_count()), |range| {
        let mut known = Known::default();
        let ids = view.subject_ids().skip(range.start).take(range.len());
        let group_of: Vec<u32> = ids.map(|id| group(id, &mut known)).collect();
        (known.names, group_of)
    });
    let mut known = Known::default();
    let mut group_of = Vec::with_capacity(view.graph().node_count());
    for (names, of_chunk) in chunks {
        let numbers: Vec<u32> = names.iter().map(|name| known.number(name)).collect();
        group_of.extend(of_chunk.into_iter().map(|group| numbers[group as usize]));
    }
    GroupNumbers { names: known.names, group_of }
}

/// Names that were seen, with numbers in their order.
#[derive(Default)]
struct Known {
    names: Vec<String>,
    numbers: Map<String, u32>,
}

impl Known {
    fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let next = number(self.names.len());
        self.names.push(name.to_owned());
        self.numbers.insert(name.to_owned(), next);
        next
    }
}

/// There are no more groups than functions, whose ids have 32 bits.
fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
