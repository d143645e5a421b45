//! Pages of functions and groups, and functions by name.

use std::collections::HashSet;
use std::sync::Arc;

use gristmill_output::json::Costs;
use gristmill_output::lossy;
use gristmill_report::{
    FilteredFunctions, FunctionList, FunctionsOptions, Grouping, ListOrder, NameIndex, SortBy, SubjectId,
    View,
};

use crate::answer::{Found, FunctionsPage, SearchResults};
use crate::kept_view::{KeptView, ListKey};
use crate::question::{Group, Sort};
use crate::refusal::Refusal;
use crate::scope::{optional_pattern, pattern};

/// The limit of rows of a page.
const MAX_PAGE_ROWS: usize = 10_000;

/// Returns the grouping of the reports.
pub(crate) fn grouping(group: Group) -> Grouping {
    match group {
        Group::Function => Grouping::Function,
        Group::Object => Grouping::Object,
        Group::File => Grouping::File,
        Group::Directory => Grouping::Directory,
        Group::Class => Grouping::Class,
        Group::Crate => Grouping::Crate,
        Group::Package => Grouping::Package,
        Group::Cycle => Grouping::Cycle,
    }
}

fn order(sort: Sort) -> ListOrder {
    match sort {
        Sort::SelfCost => ListOrder::By(SortBy::SelfCost),
        Sort::Inclusive => ListOrder::By(SortBy::Inclusive),
        Sort::Calls => ListOrder::By(SortBy::Calls),
        Sort::Name => ListOrder::By(SortBy::Name),
        Sort::PerCall => ListOrder::PerCall,
        Sort::Object => ListOrder::Object,
        Sort::File => ListOrder::File,
    }
}

/// Makes a page of functions or groups.
pub(crate) fn page(
    kept: &KeptView,
    names: Option<&NameIndex>,
    key: ListKey,
    start: usize,
    count: usize,
) -> Result<FunctionsPage, Refusal> {
    let (view, head) = (&kept.view, &kept.head);
    let list = match key.is_of_all() {
        true => kept.order(key.sort, || new_list(kept, names, &key))?,
        false => kept.list(key.of_start(), || {
            let list = match groups(kept, names, &key)? {
                Some(groups) => groups.in_order(&kept.view, order(key.sort), names),
                None => None,
            };
            list.map_or_else(|| new_list(kept, names, &key), Ok)
        })?,
    };
    let page = start..start.saturating_add(count.min(MAX_PAGE_ROWS));
    Ok(FunctionsPage {
        head: head.clone(),
        all: list.len(),
        matched: Costs::new(&head.event_types, list.matched()),
        start,
        rows: match key.ascending {
            true => list.page_from_end(view, head, page, names),
            false => list.page(view, head, page, names),
        },
    })
}

/// Makes a list, which is in the order of the key, from its start.
fn new_list(kept: &KeptView, names: Option<&NameIndex>, key: &ListKey) -> Result<FunctionList, Refusal> {
    let within = key.within.as_ref().map(|within| (grouping(within.group), within.name.as_str()));
    if key.group != Group::Function || key.filter.is_empty() {
        return Ok(FunctionList::new(&kept.view, &options(key)?, order(key.sort), within, names));
    }
    let functions = filtered(kept, names, key)?;
    Ok(FunctionList::of_functions(&kept.view, &functions, order(key.sort), within, names))
}

/// Returns the functions that the filter of a list takes.
fn filtered(
    kept: &KeptView,
    names: Option<&NameIndex>,
    key: &ListKey,
) -> Result<Arc<FilteredFunctions>, Refusal> {
    let options = options(key)?;
    kept.filtered(&key.filter, |among| Ok(FilteredFunctions::new(&kept.view, &options, names, among)))
}

fn options(key: &ListKey) -> Result<FunctionsOptions, Refusal> {
    Ok(FunctionsOptions {
        grouping: grouping(key.group),
        filter: optional_pattern(&key.filter)?,
        ..FunctionsOptions::default()
    })
}

/// Returns all groups of a kind, if the list has groups and no filter. They are kept: another order needs no new ones.
pub(crate) fn groups(
    kept: &KeptView,
    names: Option<&NameIndex>,
    key: &ListKey,
) -> Result<Option<Arc<FunctionList>>, Refusal> {
    if key.group == Group::Function || !key.filter.is_empty() || key.within.is_some() {
        return Ok(None);
    }
    let key = ListKey { sort: Sort::SelfCost, ..key.of_start() };
    kept.groups(key.group, || new_list(kept, names, &key)).map(Some)
}

/// Finds the function of that name, file and object. Of several, it is the first one of the profile.
pub(crate) fn find(view: &View, name: &str, file: &str, object: &str) -> Found {
    let profile = view.profile();
    // There are fewer paths than functions, and to make a name takes longer than all else.
    let is_file: Vec<bool> = profile.files().map(|id| lossy(profile.file(id)) == file).collect();
    let is_object: Vec<bool> = profile.objects().map(|id| lossy(profile.object(id)) == object).collect();
    let is_meant = |id: &SubjectId| {
        let subject = view.subject(*id);
        is_file[subject.file.index()] && is_object[subject.object.index()] && subject.name() == name
    };
    Found { function: view.subject_ids().find(is_meant).and_then(|id| u32::try_from(id.index()).ok()) }
}

/// Finds functions, files and objects whose names contain a text. Functions that have it as their whole name are first, also cheap
/// ones.
pub(crate) fn search(
    kept: &KeptView,
    names: Option<&NameIndex>,
    text: &str,
    is_pattern: bool,
    limit: usize,
) -> Result<SearchResults, Refusal> {
    let filter = if is_pattern { text.to_owned() } else { regex::escape(text) };
    let key = ListKey { sort: Sort::SelfCost, filter, ..ListKey::default() };
    let mut page = page(kept, names, key.clone(), 0, limit)?;
    let limit = limit.min(MAX_PAGE_ROWS);
    if !is_pattern && !text.is_empty() {
        let named = filtered(kept, names, &key)?.of_name(&kept.view, names, text);
        let named = FunctionList::of_functions(&kept.view, &named, order(key.sort), None, names);
        let named = named.page(&kept.view, &kept.head, 0..limit, names);
        let first: HashSet<_> = named.iter().map(|row| row.id).collect();
        page.rows.retain(|row| !first.contains(&row.id));
        page.rows.splice(..0, named);
        page.rows.truncate(limit);
    }
    let pattern = pattern(&key.filter)?;
    Ok(SearchResults {
        all: page.all,
        matched: page.matched,
        functions: page.rows,
        files: kept.files().matching(&pattern, limit),
        objects: kept.objects().matching(&pattern, limit),
    })
}
