//! Lists of functions or groups that are read in pages.

#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gristmill_format::Cost;

use super::filtered_functions::{FilteredFunctions, sum};
use super::function_order::FunctionOrder;
use super::group_numbers::GroupNumbers;
use super::group_rows::{self, GroupOrder, Groups, Taken};
use super::list_order::ListOrder;
use super::name_index::NameIndex;
use super::ordered::Ordered;
use super::{FunctionRow, FunctionsOptions};
use crate::grouping::Grouping;
use crate::head::Head;
use crate::view::{SubjectId, View};

/// All functions or groups of a view that match, in order. Only ids are kept, and a page puts them in order and makes its rows.
///
/// ```
/// use gristmill_profile::Profile;
/// use gristmill_report::{FunctionList, FunctionsOptions, Head, ListOrder, SortBy, View, ViewOptions};
///
/// let text = b"events: Ir\nfn=main\n1 10\ncfn=work\ncalls=1 5\n2 32\nfn=work\n5 32\n";
/// let view = View::new(Profile::from_bytes(text.to_vec()), &ViewOptions::default())?;
/// let head = Head::new(&view);
/// let order = ListOrder::By(SortBy::SelfCost);
/// let list = FunctionList::new(&view, &FunctionsOptions::default(), order, None, None);
/// assert_eq!((list.len(), list.matched()), (2, &[42][..]));
/// assert_eq!(list.page(&view, &head, 1..9, None)[0].name, "main");
/// # Ok::<(), gristmill_report::ViewError>(())
/// ```
#[derive(Debug)]
pub struct FunctionList {
    rows: ListRows,
    order: ListOrder,
    matched: Vec<Cost>,
    is_reversed: bool,
}

/// A profile has millions of rows, so they are put in order as far as pages are read.
#[derive(Debug)]
enum ListRows {
    Functions(Mutex<Ordered<SubjectId>>),
    /// Lists in another order have the same groups.
    Groups {
        groups: Arc<Groups>,
        shown: Arc<[u32]>,
        ordered: Mutex<Ordered<u32>>,
    },
}

impl FunctionList {
    /// Takes the rows that match from a view. With `within`, only functions of the group of that name. With the names of the view,
    /// none is made for those that are not shown.
    pub fn new(
        view: &View,
        options: &FunctionsOptions,
        order: ListOrder,
        within: Option<(Grouping, &str)>,
        names: Option<&NameIndex>,
    ) -> Self {
        let taken = match options.grouping {
            Grouping::Function => {
                let functions = FilteredFunctions::new(view, options, names, None);
                return FunctionList::of_functions(view, &functions, order, within, names);
            }
            Grouping::Cycle => group_rows::units(view, options, names),
            grouping => group_rows::groups(view, options, grouping, names),
        };
        let Taken { groups, shown, .. } = taken;
        let matched = sum(view, &shown, |group| groups.self_costs(view, group));
        FunctionList::of_groups(view, (Arc::new(groups), shown.into()), order, names, matched)
    }

    /// Makes the list of functions that match. With `within`, only functions of the group of that name.
    pub fn of_functions(
        view: &View,
        functions: &FilteredFunctions,
        order: ListOrder,
        within: Option<(Grouping, &str)>,
        names: Option<&NameIndex>,
    ) -> Self {
        let of_group;
        let functions = match within {
            None => functions,
            Some((grouping, name)) => {
                of_group = functions.that_are(view, group_test(view, grouping, name, names));
                &of_group
            }
        };
        let items = FunctionOrder { view, order, names }.items(functions.ids());
        let rows = ListRows::Functions(Mutex::new(Ordered::new(items)));
        FunctionList { rows, order, matched: functions.costs().to_vec(), is_reversed: false }
    }

    fn of_groups(
        view: &View,
        (groups, shown): (Arc<Groups>, Arc<[u32]>),
        order: ListOrder,
        names: Option<&NameIndex>,
        matched: Vec<Cost>,
    ) -> Self {
        let items = GroupOrder { view, groups: &groups, order, names }.items(&shown);
        let rows = ListRows::Groups { groups, shown, ordered: Mutex::new(Ordered::new(items)) };
        FunctionList { rows, order, matched, is_reversed: false }
    }

    /// Returns the groups of a list in another order; `None` for a list of functions. To make groups takes longer than to put them
    /// in order.
    pub fn in_order(&self, view: &View, order: ListOrder, names: Option<&NameIndex>) -> Option<FunctionList> {
        let ListRows::Groups { groups, shown, .. } = &self.rows else { return None };
        let groups = (Arc::clone(groups), Arc::clone(shown));
        Some(FunctionList::of_groups(view, groups, order, names, self.matched.clone()))
    }

    /// Returns the list from its end to its start.
    #[must_use]
    pub fn reversed(self) -> Self {
        FunctionList { is_reversed: !self.is_reversed, ..self }
    }

    /// Returns the count of rows.
    pub fn len(&self) -> usize {
        match &self.rows {
            ListRows::Functions(ordered) => lock(ordered).len(),
            ListRows::Groups { shown, .. } => shown.len(),
        }
    }

    /// `true` if there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the sum of the self costs of all rows.
    pub fn matched(&self) -> &[Cost] {
        &self.matched
    }

    /// Makes the rows of a page, as far as there are any. The names are those of the view, if they are there by now.
    pub fn page(
        &self,
        view: &View,
        head: &Head,
        page: Range<usize>,
        names: Option<&NameIndex>,
    ) -> Vec<FunctionRow> {
        self.page_in(view, head, page, names, self.is_reversed)
    }

    /// Makes the rows of a page of the list from its end to its start.
    pub fn page_from_end(
        &self,
        view: &View,
        head: &Head,
        page: Range<usize>,
        names: Option<&NameIndex>,
    ) -> Vec<FunctionRow> {
        self.page_in(view, head, page, names, !self.is_reversed)
    }

    fn page_in(
        &self,
        view: &View,
        head: &Head,
        page: Range<usize>,
        names: Option<&NameIndex>,
        is_reversed: bool,
    ) -> Vec<FunctionRow> {
        let all = self.len();
        let end = page.end.min(all);
        let mut page = page.start.min(end)..end;
        if is_reversed {
            page = all - page.end..all - page.start;
        }
        let mut rows: Vec<FunctionRow> = match &self.rows {
            ListRows::Functions(ordered) => {
                let ids = lock(ordered).page(&FunctionOrder { view, order: self.order, names }, page);
                ids.into_iter().map(|id| FunctionRow::new(view, &head.event_types, id)).collect()
            }
            ListRows::Groups { groups, ordered, .. } => {
                let order = GroupOrder { view, groups, order: self.order, names };
                let groups_of_page = lock(ordered).page(&order, page);
                groups_of_page.into_iter().map(|group| groups.row(view, &head.event_types, group)).collect()
            }
        };
        if is_reversed {
            rows.reverse();
        }
        rows
    }
}

/// Gives access to the order. After a panic it may be in any state, but still has all rows.
fn lock<I>(ordered: &Mutex<Ordered<I>>) -> MutexGuard<'_, Ordered<I>> {
    ordered.lock().unwrap_or_else(PoisonError::into_inner)
}

impl FunctionRow {
    /// Makes the row of one function.
    pub fn of_function(view: &View, head: &Head, id: SubjectId) -> Self {
        FunctionRow::new(view, &head.event_types, id)
    }
}

/// Returns a test for functions that are in the group of that name.
fn group_test<'t>(
    view: &'t View,
    grouping: Grouping,
    name: &'t str,
    names: Option<&'t NameIndex>,
) -> Box<dyn Fn(SubjectId) -> bool + Sync + 't> {
    if grouping == Grouping::Cycle {
        // The name of a cycle begins with its number.
        return Box::new(move |id| {
            view.inclusive().cycles().cycle_of(id.node()).map_or_else(
                || view.subject(id).name() == name,
                |cycle| name.starts_with(&format!("cycle {} of ", cycle.number())),
            )
        });
    }
    let groups = GroupNumbers::new(view, grouping, names);
    let wanted = groups.names.iter().position(|group| group == name);
    let wanted = wanted.and_then(|group| u32::try_from(group).ok());
    Box::new(move |id| Some(groups.group_of[id.index()]) == wanted)
}
