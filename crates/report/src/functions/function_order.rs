//! The order of functions in a list.

use std::cmp::Ordering;

use gristmill_profile::threads::map_on_threads;

use super::SortBy;
use super::list_order::{KeyCosts, ListOrder, ranks};
use super::name_index::{NameIndex, compare_names, ranges};
use super::ordered::{Item, RowOrder};
use crate::view::{Subject, SubjectId, View};

/// The order of functions by a key, then by names, files and objects.
pub(super) struct FunctionOrder<'v> {
    pub(super) view: &'v View,
    pub(super) order: ListOrder,
    pub(super) names: Option<&'v NameIndex>,
}

impl FunctionOrder<'_> {
    /// Makes items of functions, on all cores.
    pub(super) fn items(&self, ids: &[SubjectId]) -> Vec<Item<SubjectId>> {
        let (view, order, names) = (self.view, self.order, self.names);
        let profile = view.profile();
        let ranks = match order {
            ListOrder::Object => {
                ranks(&profile.objects().map(|object| profile.object(object)).collect::<Vec<_>>())
            }
            ListOrder::File => ranks(&profile.files().map(|file| profile.file(file)).collect::<Vec<_>>()),
            ListOrder::By(_) | ListOrder::PerCall => Vec::new(),
        };
        let name_ranks = match order {
            ListOrder::By(SortBy::Name) => names.map(|names| names.ranks(view)),
            _ => None,
        };
        let first_key = |id: SubjectId| match order {
            ListOrder::By(SortBy::Name) => name_ranks.map_or(0, |ranks| ranks[id.index()]),
            ListOrder::Object => ranks[view.paths(id).1.index()],
            ListOrder::File => ranks[view.paths(id).0.index()],
            order => order.first_key(costs(view, id)),
        };
        let items = |ids: &[SubjectId]| ids.iter().map(|&id| (first_key(id), id)).collect::<Vec<_>>();
        map_on_threads(ranges(ids.len()), |range| items(&ids[range])).concat()
    }
}

impl RowOrder for FunctionOrder<'_> {
    type Id = SubjectId;

    fn compare_keys(&self, a: SubjectId, b: SubjectId) -> Ordering {
        self.order.compare_costs(costs(self.view, a), costs(self.view, b))
    }

    fn compare_names(&self, a: SubjectId, b: SubjectId) -> Ordering {
        match self.names {
            Some(names) => names.compare(self.view, a, b),
            None => compare_names(self.view, a, b, |id| Subject::name(&self.view.subject(id))),
        }
    }
}

/// Returns the costs of a function by which it is ordered.
pub(super) fn costs(view: &View, id: SubjectId) -> KeyCosts {
    KeyCosts {
        inclusive: view.inclusive_cost(id)[0],
        self_cost: view.self_cost(id)[0],
        calls: view.call_count(id),
    }
}
