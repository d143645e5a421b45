//! Lists of functions or groups that are read in pages.

use std::ops::Range;

use gristmill_format::Cost;

use super::groups::{self, group_name};
use super::{FunctionRow, FunctionsOptions, Rows, SortBy, functions};
use crate::amount::add;
use crate::grouping::Grouping;
use crate::head::Head;
use crate::view::{SubjectId, View};

/// The order of a [`FunctionList`], which has an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListOrder {
    /// That of the report.
    By(SortBy),
    /// Inclusive cost by call, the greatest first. Rows without calls come last.
    PerCall,
    /// Object, then name.
    Object,
    /// Source file, then name.
    File,
}

/// All functions or groups of a view that match, in order. Only ids of functions are kept, and a page makes its rows.
///
/// ```
/// use gristmill_profile::Profile;
/// use gristmill_report::{FunctionList, FunctionsOptions, Head, ListOrder, SortBy, View, ViewOptions};
///
/// let text = b"events: Ir\nfn=main\n1 10\ncfn=work\ncalls=1 5\n2 32\nfn=work\n5 32\n";
/// let view = View::new(Profile::from_bytes(text.to_vec()), &ViewOptions::default())?;
/// let head = Head::new(&view);
/// let order = ListOrder::By(SortBy::SelfCost);
/// let list = FunctionList::new(&view, &head, &FunctionsOptions::default(), order, None);
/// assert_eq!((list.len(), list.matched()), (2, &[42][..]));
/// assert_eq!(list.page(&view, &head, 1..9)[0].name, "main");
/// # Ok::<(), gristmill_report::ViewError>(())
/// ```
#[derive(Debug, Clone)]
pub struct FunctionList {
    rows: Rows,
    matched: Vec<Cost>,
}

impl FunctionList {
    /// Takes the rows that match from a view, and orders them. With `within`, only functions of the group of that name.
    pub fn new(
        view: &View,
        head: &Head,
        options: &FunctionsOptions,
        order: ListOrder,
        within: Option<(Grouping, &str)>,
    ) -> Self {
        let sort = if let ListOrder::By(sort) = order { sort } else { SortBy::Name };
        let options = &FunctionsOptions { sort, limit: None, ..options.clone() };
        let selected = match options.grouping {
            Grouping::Function => functions(view, options),
            Grouping::Cycle => groups::units(view, head, options).sorted(options),
            grouping => groups::groups(view, head, options, grouping).sorted(options),
        };
        let mut rows = selected.rows;
        if let (Some((grouping, name)), Rows::Functions(ids)) = (within, &mut rows) {
            ids.retain(|&id| is_within(view, id, grouping, name));
        }
        let mut list = FunctionList { rows, matched: vec![0; view.events().len()] };
        list.reorder(view, order);
        match &list.rows {
            Rows::Functions(ids) => ids.iter().for_each(|&id| add(&mut list.matched, view.self_cost(id))),
            Rows::Groups(rows) => rows.iter().for_each(|row| add(&mut list.matched, &row.self_costs)),
        }
        list
    }

    /// Orders rows that are in the order of names by another key.
    fn reorder(&mut self, view: &View, order: ListOrder) {
        let profile = view.profile();
        match (order, &mut self.rows) {
            (ListOrder::By(_), _) => {}
            (ListOrder::PerCall, Rows::Functions(ids)) => {
                ids.sort_by(|&a, &b| {
                    let of = |id: SubjectId| (view.inclusive_cost(id)[0], view.call_count(id));
                    per_call(of(b), of(a))
                });
            }
            (ListOrder::PerCall, Rows::Groups(rows)) => {
                let of = |row: &FunctionRow| (row.inclusive[0], row.calls.recorded());
                rows.sort_by(|a, b| per_call(of(b), of(a)));
            }
            (ListOrder::Object, Rows::Functions(ids)) => {
                ids.sort_by_key(|&id| profile.object(view.subject(id).object));
            }
            (ListOrder::File, Rows::Functions(ids)) => {
                ids.sort_by_key(|&id| profile.file(view.subject(id).file));
            }
            (ListOrder::Object, Rows::Groups(rows)) => rows.sort_by(|a, b| a.object.cmp(&b.object)),
            (ListOrder::File, Rows::Groups(rows)) => rows.sort_by(|a, b| a.file.cmp(&b.file)),
        }
    }

    /// Returns the list from its end to its start.
    #[must_use]
    pub fn reversed(mut self) -> Self {
        match &mut self.rows {
            Rows::Functions(ids) => ids.reverse(),
            Rows::Groups(rows) => rows.reverse(),
        }
        self
    }

    /// Returns the count of rows.
    pub fn len(&self) -> usize {
        match &self.rows {
            Rows::Functions(ids) => ids.len(),
            Rows::Groups(rows) => rows.len(),
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

    /// Makes the rows of a page, as far as there are any.
    pub fn page(&self, view: &View, head: &Head, page: Range<usize>) -> Vec<FunctionRow> {
        let end = page.end.min(self.len());
        let page = page.start.min(end)..end;
        match &self.rows {
            Rows::Functions(ids) => {
                ids[page].iter().map(|&id| FunctionRow::new(view, &head.event_types, id)).collect()
            }
            Rows::Groups(rows) => rows[page].to_vec(),
        }
    }
}

impl FunctionRow {
    /// Makes the row of one function.
    pub fn of_function(view: &View, head: &Head, id: SubjectId) -> Self {
        FunctionRow::new(view, &head.event_types, id)
    }
}

/// `true` if a function is in the group of that name.
fn is_within(view: &View, id: SubjectId, grouping: Grouping, name: &str) -> bool {
    if grouping != Grouping::Cycle {
        return group_name(view, id, grouping) == name;
    }
    // The name of a cycle begins with its number.
    view.inclusive().cycles().cycle_of(id.node()).map_or_else(
        || view.subject(id).name() == name,
        |cycle| name.starts_with(&format!("cycle {} of ", cycle.number())),
    )
}

/// Compares costs by call. Without calls there is no such cost, which is less than any other.
fn per_call((cost_a, calls_a): (Cost, Cost), (cost_b, calls_b): (Cost, Cost)) -> std::cmp::Ordering {
    let key = |cost: Cost, calls: Cost| (calls > 0).then(|| cost.unsigned_abs() / calls.unsigned_abs());
    let rest = |cost: Cost, calls: Cost| cost.unsigned_abs() as f64 / calls as f64;
    let by_whole = key(cost_a, calls_a).cmp(&key(cost_b, calls_b));
    if by_whole.is_eq() && calls_a > 0 {
        return rest(cost_a, calls_a).total_cmp(&rest(cost_b, calls_b));
    }
    by_whole.then_with(|| cost_a.unsigned_abs().cmp(&cost_b.unsigned_abs()))
}
