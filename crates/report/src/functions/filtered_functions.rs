//! The functions that a filter takes, for lists of them in several orders.

use std::ops::Range;

use gristmill_format::Cost;
use gristmill_profile::symbol::names_callers;
use gristmill_profile::threads::map_on_threads;

use super::FunctionsOptions;
use super::name_index::{NameIndex, is_plain, name_of, ranges};
use super::text_finder::TextFinder;
use crate::amount::add;
use crate::pattern::has_capital_letter;
use crate::pattern::matches_name;
use crate::view::{SubjectId, View};

/// The functions of a view that match, for lists of them in several orders: to look at all names takes longer than to put the
/// functions in order.
///
/// ```
/// use gristmill_profile::Profile;
/// use gristmill_report::{FilteredFunctions, FunctionList, FunctionsOptions, ListOrder, SortBy, View, ViewOptions};
///
/// let text = b"events: Ir\nfn=read\n1 10\nfn=reap\n1 32\nfn=write\n1 5\n";
/// let view = View::new(Profile::from_bytes(text.to_vec()), &ViewOptions::default())?;
/// let options = |text| FunctionsOptions { filter: gristmill_report::pattern(text).ok(), ..FunctionsOptions::default() };
/// let typed = FilteredFunctions::new(&view, &options("re"), None, None);
/// assert!(typed.has_all_of("rea") && !typed.has_all_of("wri"));
/// let longer = FilteredFunctions::new(&view, &options("read"), None, Some(&typed));
/// let list = FunctionList::of_functions(&view, &longer, ListOrder::By(SortBy::SelfCost), None, None);
/// assert_eq!((list.len(), list.matched()), (1, &[10][..]));
/// assert_eq!(typed.of_name(&view, None, "READ").ids(), longer.ids());
/// # Ok::<(), gristmill_report::ViewError>(())
/// ```
#[derive(Debug)]
pub struct FilteredFunctions {
    /// The pattern.
    filter: Option<String>,
    /// In the order of the view.
    ids: Vec<SubjectId>,
    costs: Vec<Cost>,
}

impl FilteredFunctions {
    /// Looks for the functions that match, on all cores. With `among`, only those are looked at: it must have the same options except
    /// for the filter, and [have all](Self::has_all_of) of this one.
    pub fn new(
        view: &View,
        options: &FunctionsOptions,
        names: Option<&NameIndex>,
        among: Option<&FilteredFunctions>,
    ) -> Self {
        let filter = options.filter.as_ref().map(|filter| filter.as_str().to_owned());
        let ids = match among {
            Some(among) => among.matching(view, options, names),
            None => matching(view, options, names),
        };
        let costs = sum(view, &ids, |id| view.self_cost(id));
        FilteredFunctions { filter, ids, costs }
    }

    /// `true` if all functions that a pattern takes are surely among these: both patterns are texts, this one is a part of the other,
    /// and it is looked for in as much of a name: a quote in a pattern lets it match recorded callers, too.
    pub fn has_all_of(&self, pattern: &str) -> bool {
        let Some(filter) = &self.filter else { return true };
        let (Some(part), Some(text)) = (plain_text(filter), plain_text(pattern)) else { return false };
        if names_callers(&text) && !names_callers(&part) {
            return false;
        }
        match has_capital_letter(filter) {
            true => text.contains(&part),
            false => text.to_ascii_lowercase().contains(&part),
        }
    }

    /// Returns those that a test takes, tested on all cores.
    #[must_use]
    pub fn that_are(&self, view: &View, test: impl Fn(SubjectId) -> bool + Sync) -> Self {
        let tested = map_on_threads(ranges(self.ids.len()), |range| -> Vec<SubjectId> {
            self.ids[range].iter().copied().filter(|&id| test(id)).collect()
        });
        let ids = tested.concat();
        let costs = sum(view, &ids, |id| view.self_cost(id));
        FilteredFunctions { filter: self.filter.clone(), ids, costs }
    }

    /// Returns those that have a text as their whole name, in letters of either case. Parameters, type arguments and levels of a
    /// recursion can follow it.
    #[must_use]
    pub fn of_name(&self, view: &View, names: Option<&NameIndex>, text: &str) -> Self {
        self.that_are(view, |id| is_name(name_of(view, names, id), text))
    }

    /// Returns the functions, in the order of the view.
    pub fn ids(&self) -> &[SubjectId] {
        &self.ids
    }

    /// Returns the sum of their self costs.
    pub fn costs(&self) -> &[Cost] {
        &self.costs
    }

    /// Returns those of these functions that match.
    fn matching(&self, view: &View, options: &FunctionsOptions, names: Option<&NameIndex>) -> Vec<SubjectId> {
        let Some(filter) = &options.filter else { return self.ids.clone() };
        let text = plain_text(filter.as_str());
        let is_ascii = names.is_some_and(|names| names.names().is_ascii());
        let matching = |range: Range<usize>| -> Vec<SubjectId> {
            // Threads that search with one pattern wait for each other.
            let filter = filter.clone();
            let finder = text.as_deref().map(|text| TextFinder::new(&filter, text, is_ascii));
            let is_match = |name: &str| matches_name(&filter, name);
            let takes = |name: &str| match &finder {
                Some(finder) => finder.find_at(name, 0).is_some() && (is_plain(name) || is_match(name)),
                None => is_match(name),
            };
            let ids = self.ids[range].iter().copied();
            ids.filter(|&id| takes(name_of(view, names, id))).collect()
        };
        map_on_threads(ranges(self.ids.len()), matching).concat()
    }
}

/// `true` if a text is a name up to its parameters, type arguments or recursion level.
fn is_name(name: &str, text: &str) -> bool {
    let start = name.as_bytes().get(..text.len());
    start.is_some_and(|start| start.eq_ignore_ascii_case(text.as_bytes()))
        && matches!(name.as_bytes().get(text.len()), None | Some(b'(' | b'<' | b'\''))
}

/// Adds up the costs of rows, on all cores.
pub(super) fn sum<'c, I: Copy + Sync>(
    view: &View,
    rows: &[I],
    costs: impl Fn(I) -> &'c [Cost] + Sync,
) -> Vec<Cost> {
    let none = || vec![0; view.events().len()];
    let sums = map_on_threads(ranges(rows.len()), |range| {
        let mut sum = none();
        rows[range].iter().for_each(|&row| add(&mut sum, costs(row)));
        sum
    });
    sums.iter().fold(none(), |mut all, sum| {
        add(&mut all, sum);
        all
    })
}

/// Returns the functions that match, looking for them on all cores.
fn matching(view: &View, options: &FunctionsOptions, names: Option<&NameIndex>) -> Vec<SubjectId> {
    let takes_all = options.takes_all(view);
    let takes = |id: &SubjectId| takes_all || options.takes(view, *id);
    let Some(filter) = &options.filter else {
        return view.subject_ids().filter(takes).collect();
    };
    let text = plain_text(filter.as_str());
    let matching = |range: Range<usize>| -> Vec<SubjectId> {
        // Threads that search with one pattern wait for each other.
        let filter = filter.clone();
        let is_match = |name: &str| matches_name(&filter, name);
        match names.zip(text.as_deref()) {
            Some((names, text)) => {
                let mut found = Vec::new();
                names.names().visit_found(&filter, text, range, |index| {
                    let id = view.subject_at(view.graph().node(index));
                    if takes(&id) && (names.is_plain(id) || is_match(names.name(id))) {
                        found.push(id);
                    }
                    true
                });
                found
            }
            None => {
                let ids = view.subject_ids().skip(range.start).take(range.len());
                ids.filter(|id| takes(id) && is_match(name_of(view, names, *id))).collect()
            }
        }
    };
    map_on_threads(ranges(view.graph().node_count()), matching).concat()
}

/// Returns the text without line feeds that a pattern stands for, if it has no sign with a meaning of its own.
pub(super) fn plain_text(pattern: &str) -> Option<String> {
    let mut text = String::new();
    let mut rest = pattern.chars();
    while let Some(character) = rest.next() {
        text.push(match character {
            // Before a letter or a digit a backslash has a meaning.
            '\\' => {
                rest.next().filter(|escaped| escaped.is_ascii_punctuation() && !"<>".contains(*escaped))?
            }
            '.' | '+' | '*' | '?' | '(' | ')' | '|' | '[' | ']' | '{' | '}' | '^' | '$' | '\n' => {
                return None;
            }
            character => character,
        });
    }
    Some(text)
}
