//! Changes since a base: the JSON documents of `gristmill diff`, and what pages and pictures are made of.

use std::sync::Arc;

use gristmill_output::lossy;
use gristmill_output::source::Sources;
use gristmill_profile::Profile;
use gristmill_profile::compare::{CompareOptions, Comparison, JoinOptions, JoinedId, Mention};
use gristmill_profile::event_choice::EventSelection;
use gristmill_report::diff::{self, DiffOptions, DiffTree, DiffTreeOptions, FunctionDiff};
use gristmill_report::{Grouping, Report as _, SortBy, find_joined};
use serde_json::value::RawValue;

use crate::answer::BaseSummary;
use crate::document::document;
use crate::functions::grouping;
use crate::question::{ChangeSort, FunctionName, Group, Question, Scope};
use crate::refusal::Refusal;
use crate::scope::{definitions, optional_pattern, selection};

/// The most nodes of a tree.
const MAX_TREE_NODES: usize = 20_000;
/// The most rows of changes, and the most causes.
const MAX_ROWS: usize = 5000;

/// The profiles of both sides.
#[derive(Clone)]
pub(crate) struct Sides {
    pub(crate) base: Arc<Profile>,
    pub(crate) new: Arc<Profile>,
}

impl Sides {
    /// Compares both sides, and does work with the comparison and the columns to show.
    pub(crate) fn compare<T>(
        &self,
        scope: &Scope,
        work: impl FnOnce(&Comparison<'_>, Vec<usize>) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        let is_plain = scope.hide.is_empty() && scope.focus.is_empty() && scope.drop.is_empty();
        if !(is_plain && scope.cuts.is_empty()) {
            return Err(Refusal::NotCompared);
        }
        let own = definitions(scope)?;
        let options = CompareOptions {
            selection: selection(scope)?,
            joining: JoinOptions {
                fold_recursion: scope.fold_recursion,
                fold_callers: scope.fold_callers,
                ..JoinOptions::default()
            },
            definitions: diff::definitions([&*self.base, &*self.new], &own),
            events: match scope.events.is_empty() {
                true => EventSelection::First,
                false => EventSelection::Named(scope.events.clone()),
            },
        };
        let comparison = Comparison::new(&[&self.base], &[&self.new], &options).map_err(Refusal::Compare)?;
        let columns = comparison.columns().to_vec();
        work(&comparison, columns)
    }

    /// Returns what a summary says of the base.
    pub(crate) fn summary(&self, scope: &Scope) -> BaseSummary {
        let doubts = self
            .compare(&Scope { events: scope.events.clone(), ..Scope::default() }, |comparison, columns| {
                Ok(diff::doubts(comparison, &columns))
            });
        let command = self.base.parts().next().and_then(|part| part.command());
        let files: Vec<String> = self.base.inputs().iter().map(|input| input.name.clone()).collect();
        BaseSummary {
            title: command.filter(|it| !it.is_empty()).map_or_else(|| files.join(", "), lossy),
            files,
            // Profiles that cannot be compared are a doubt, not a reason to show nothing.
            doubts: doubts.unwrap_or_else(|refusal| vec![refusal.to_string()]),
        }
    }

    /// Answers a question on changes.
    pub(crate) fn answer(
        &self,
        scope: &Scope,
        question: &Question,
        sources: &dyn Sources,
    ) -> Result<Box<RawValue>, Refusal> {
        self.compare(scope, |comparison, columns| match question {
            Question::Changes { group, sort, filter, limit } => {
                let options = options(columns, *group, *sort, filter, *limit)?;
                document(|out| diff::write_json(comparison, &options, out))
            }
            Question::ChangesTree { min_share, limit } => {
                let options = DiffTreeOptions {
                    columns,
                    // The option has hundred-thousandths.
                    min: min_share.saturating_mul(100),
                    max_depth: None,
                    limit: Some((*limit).clamp(1, MAX_TREE_NODES)),
                };
                document(|out| DiffTree::new(comparison, &options).write_json(out))
            }
            Question::ChangedFunction { function: wanted } => {
                comparison.refuse_wide_lines().map_err(Refusal::Compare)?;
                let column = columns.first().copied().unwrap_or(0);
                let function = match wanted.file.is_empty() && wanted.object.is_empty() {
                    true => {
                        let found = find_joined(comparison, &wanted.name, column);
                        found.map_err(|error| Refusal::NoSuchFunction(error.to_string()))?.function.id
                    }
                    false => find_function(comparison, wanted)?,
                };
                let options = options(columns, Group::Function, ChangeSort::SelfChange, "", MAX_ROWS)?;
                let function = FunctionDiff::new(comparison, &options, function, sources);
                document(|out| function.write_json(out))
            }
            _ => Err(Refusal::NoBase),
        })
    }
}

/// Finds the function that names mean, on the new side or else in the base.
pub(crate) fn find_function(comparison: &Comparison<'_>, wanted: &FunctionName) -> Result<JoinedId, Refusal> {
    let is_meant = |mention: Mention<'_>| {
        let fits = |wanted: &str, bytes: &[u8]| wanted.is_empty() || lossy(bytes) == wanted;
        fits(&wanted.file, mention.file)
            && fits(&wanted.object, mention.object)
            && diff::shown_name(mention) == wanted.name
    };
    let in_new = comparison.functions().find(|&id| comparison.in_new(id).is_some_and(is_meant));
    let in_base = || comparison.functions().find(|&id| comparison.in_base(id).is_some_and(is_meant));
    let missing = || Refusal::NoSuchFunction(format!("neither side has the function `{}`", wanted.name));
    in_new.or_else(in_base).ok_or_else(missing)
}

fn options(
    columns: Vec<usize>,
    group: Group,
    sort: ChangeSort,
    filter: &str,
    limit: usize,
) -> Result<DiffOptions, Refusal> {
    let limit = limit.min(MAX_ROWS);
    Ok(DiffOptions {
        columns,
        // Cycles are not compared: their members change too easily.
        grouping: if group == Group::Cycle { Grouping::Function } else { grouping(group) },
        sort: match sort {
            ChangeSort::SelfChange => SortBy::SelfCost,
            ChangeSort::InclusiveChange => SortBy::Inclusive,
            ChangeSort::Name => SortBy::Name,
        },
        limit: Some(limit),
        min: 0,
        filter: optional_pattern(filter)?,
        causes: Some(limit),
        show_joined: false,
    })
}
