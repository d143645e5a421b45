//! Pages of functions and groups, and functions by name.

use std::collections::BTreeSet;

use gristmill_output::json::Costs;
use gristmill_output::lossy;
use gristmill_report::{FunctionList, FunctionsOptions, Grouping, ListOrder, SortBy, SubjectId, View};

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
    key: ListKey,
    start: usize,
    count: usize,
) -> Result<FunctionsPage, Refusal> {
    let (view, head) = (&kept.view, &kept.head);
    let list = kept.list(key.clone(), || {
        let options = FunctionsOptions {
            grouping: grouping(key.group),
            filter: optional_pattern(&key.filter)?,
            ..FunctionsOptions::default()
        };
        let within = key.within.as_ref().map(|within| (grouping(within.group), within.name.as_str()));
        let list = FunctionList::new(view, head, &options, order(key.sort), within);
        Ok(if key.ascending { list.reversed() } else { list })
    })?;
    let end = start.saturating_add(count.min(MAX_PAGE_ROWS));
    Ok(FunctionsPage {
        head: head.clone(),
        all: list.len(),
        matched: Costs::new(&head.event_types, list.matched()),
        start,
        rows: list.page(view, head, start..end),
    })
}

/// Finds the function of that name, file and object. Of several, it is the first one of the profile.
pub(crate) fn find(view: &View, name: &str, file: &str, object: &str) -> Found {
    let profile = view.profile();
    let is_meant = |id: &SubjectId| {
        let subject = view.subject(*id);
        subject.name() == name
            && lossy(profile.file(subject.file)) == file
            && lossy(profile.object(subject.object)) == object
    };
    Found { function: view.subject_ids().find(is_meant).and_then(|id| u32::try_from(id.index()).ok()) }
}

/// Finds functions, files and objects whose names contain a text.
pub(crate) fn search(
    kept: &KeptView,
    text: &str,
    is_pattern: bool,
    limit: usize,
) -> Result<SearchResults, Refusal> {
    let text = if is_pattern { text.to_owned() } else { regex::escape(text) };
    let page = page(
        kept,
        ListKey {
            group: Group::Function,
            sort: Sort::SelfCost,
            ascending: false,
            filter: text.clone(),
            within: None,
        },
        0,
        limit,
    )?;
    let pattern = pattern(&text)?;
    let profile = kept.view.profile();
    let matching = |paths: &mut dyn Iterator<Item = &[u8]>| -> Vec<String> {
        paths
            .filter(|path| !path.is_empty())
            .map(lossy)
            .filter(|path| pattern.is_match(path))
            .take(limit.min(MAX_PAGE_ROWS))
            .collect()
    };
    let objects: BTreeSet<&[u8]> =
        kept.view.subjects().map(|(_, subject)| profile.object(subject.object)).collect();
    Ok(SearchResults {
        all: page.all,
        matched: page.matched,
        functions: page.rows,
        files: matching(&mut profile.files().map(|file| profile.file(file))),
        objects: matching(&mut objects.into_iter()),
    })
}
