//! Lists of functions or groups that are read in pages.

#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use gristmill_format::Cost;

use super::groups;
use super::list_order::{ListOrder, per_call};
use super::name_index::NameIndex;
use super::ordered::Ordered;
use super::{FunctionRow, FunctionsOptions, SortBy};
use crate::amount::add;
use crate::grouping::Grouping;
use crate::head::Head;
use crate::view::{SubjectId, View};

/// All functions or groups of a view that match, in order. Only ids of functions are kept, and a page puts them in order and makes
/// its rows.
///
/// ```
/// use gristmill_profile::Profile;
/// use gristmill_report::{FunctionList, FunctionsOptions, Head, ListOrder, SortBy, View, ViewOptions};
///
/// let text = b"events: Ir\nfn=main\n1 10\ncfn=work\ncalls=1 5\n2 32\nfn=work\n5 32\n";
/// let view = View::new(Profile::from_bytes(text.to_vec()), &ViewOptions::default())?;
/// let head = Head::new(&view);
/// let order = ListOrder::By(SortBy::SelfCost);
/// let list = FunctionList::new(&view, &head, &FunctionsOptions::default(), order, None, None);
/// assert_eq!((list.len(), list.matched()), (2, &[42][..]));
/// assert_eq!(list.page(&view, &head, 1..9, None)[0].name, "main");
/// # Ok::<(), gristmill_report::ViewError>(())
/// ```
#[derive(Debug)]
pub struct FunctionList {
    rows: ListRows,
    matched: Vec<Cost>,
    is_reversed: bool,
}

#[derive(Debug)]
enum ListRows {
    /// A profile has millions, so they are put in order as far as pages are read.
    Functions(Mutex<Ordered>),
    Groups(Vec<FunctionRow>),
}

impl FunctionList {
    /// Takes the rows that match from a view. With `within`, only functions of the group of that name. With the names of the view,
    /// none is made for those that are not shown.
    pub fn new(
        view: &View,
        head: &Head,
        options: &FunctionsOptions,
        order: ListOrder,
        within: Option<(Grouping, &str)>,
        names: Option<&NameIndex>,
    ) -> Self {
        let sort = if let ListOrder::By(sort) = order { sort } else { SortBy::Name };
        let options = &FunctionsOptions { sort, limit: None, ..options.clone() };
        let mut matched = vec![0; view.events().len()];
        let rows = match options.grouping {
            Grouping::Function => {
                let mut ids = matching(view, options, names);
                if let Some((grouping, name)) = within {
                    let is_within = group_test(view, grouping, name, names);
                    ids.retain(|&id| is_within(id));
                }
                ids.iter().for_each(|&id| add(&mut matched, view.self_cost(id)));
                ListRows::Functions(Mutex::new(Ordered::new(view, ids.into_iter(), order, names)))
            }
            grouping => {
                let rows = match grouping {
                    Grouping::Cycle => groups::units(view, head, options),
                    grouping => groups::groups(view, head, options, grouping, names),
                };
                let mut rows = rows.sorted_rows(sort);
                reorder(&mut rows, order);
                rows.iter().for_each(|row| add(&mut matched, &row.self_costs));
                ListRows::Groups(rows)
            }
        };
        FunctionList { rows, matched, is_reversed: false }
    }

    /// Returns the groups of a list in another order; `None` for a list of functions. To make groups takes longer than to put them
    /// in order.
    pub fn in_order(&self, order: ListOrder) -> Option<FunctionList> {
        let ListRows::Groups(rows) = &self.rows else { return None };
        let mut rows = rows.clone();
        let sort = if let ListOrder::By(sort) = order { sort } else { SortBy::Name };
        groups::sort(&mut rows, sort);
        reorder(&mut rows, order);
        Some(FunctionList { rows: ListRows::Groups(rows), matched: self.matched.clone(), is_reversed: false })
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
            ListRows::Groups(rows) => rows.len(),
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
                let ids = lock(ordered).page(view, names, page);
                ids.into_iter().map(|id| FunctionRow::new(view, &head.event_types, id)).collect()
            }
            ListRows::Groups(rows) => rows[page].to_vec(),
        };
        if is_reversed {
            rows.reverse();
        }
        rows
    }
}

/// Gives access to the order. After a panic it may be in any state, but still has all functions.
fn lock(ordered: &Mutex<Ordered>) -> MutexGuard<'_, Ordered> {
    ordered.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Orders groups that are in the order of names by another key.
fn reorder(rows: &mut [FunctionRow], order: ListOrder) {
    match order {
        ListOrder::By(_) => {}
        ListOrder::PerCall => {
            let of = |row: &FunctionRow| (row.inclusive[0], row.calls.recorded());
            rows.sort_by(|a, b| per_call(of(b), of(a)));
        }
        ListOrder::Object => rows.sort_by(|a, b| a.object.cmp(&b.object)),
        ListOrder::File => rows.sort_by(|a, b| a.file.cmp(&b.file)),
    }
}

/// Returns the functions that match.
fn matching(view: &View, options: &FunctionsOptions, names: Option<&NameIndex>) -> Vec<SubjectId> {
    let takes_all = options.object.is_none() && options.file.is_none() && !view.has_attribution();
    let takes = |id: &SubjectId| takes_all || options.takes(view, *id);
    let Some(filter) = &options.filter else { return view.subject_ids().filter(takes).collect() };
    let Some(names) = names else {
        let matches = |id: &SubjectId| takes(id) && options.takes_name(view.subject(*id).name());
        return view.subject_ids().filter(matches).collect();
    };
    let matches = |id: &SubjectId| takes(id) && options.takes_name(names.name(*id));
    // A name without an apostrophe has neither callers nor a level of recursion, which a filter does not look at.
    let matches_found = |id: &SubjectId| match names.name(*id).contains('\'') {
        true => matches(id),
        false => takes(id),
    };
    if !is_text(filter.as_str()) {
        return view.subject_ids().filter(matches).collect();
    }
    let id = |index: usize| view.subject_at(view.graph().node(index));
    names.candidates(filter).into_iter().map(id).filter(matches_found).collect()
}

/// `true` if a pattern stands for a text without line feeds: it has no sign with a meaning of its own.
fn is_text(pattern: &str) -> bool {
    let mut rest = pattern.chars();
    while let Some(character) = rest.next() {
        let is_plain = match character {
            // Before a letter or a digit a backslash has a meaning.
            '\\' => {
                rest.next().is_some_and(|escaped| escaped.is_ascii_punctuation() && !"<>".contains(escaped))
            }
            '.' | '+' | '*' | '?' | '(' | ')' | '|' | '[' | ']' | '{' | '}' | '^' | '$' | '\n' => false,
            _ => true,
        };
        if !is_plain {
            return false;
        }
    }
    true
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
) -> Box<dyn Fn(SubjectId) -> bool + 't> {
    if grouping == Grouping::Cycle {
        // The name of a cycle begins with its number.
        return Box::new(move |id| {
            view.inclusive().cycles().cycle_of(id.node()).map_or_else(
                || view.subject(id).name() == name,
                |cycle| name.starts_with(&format!("cycle {} of ", cycle.number())),
            )
        });
    }
    let mut groups = groups::GroupNames::new(view, grouping, names);
    let group_of: Vec<usize> = view.subject_ids().map(|id| groups.group_of(id)).collect();
    let wanted = groups.names.iter().position(|group| group == name);
    Box::new(move |id| Some(group_of[id.index()]) == wanted)
}
