//! Answers on changes that are made of trees and lists which are kept between questions.

use std::sync::{Arc, Mutex};

use gristmill_profile::compare::ComparedTreeView;
use gristmill_report::diff::group_name;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::call_graph::Limits;
use crate::changed_answer::{ChangedFlame, ChangedTreemap, ChangesPage};
use crate::changed_flame::changed_flame;
use crate::changed_graph::changed_graph;
use crate::changed_tree::ChangedTree;
use crate::changed_treemap::changed_treemap;
use crate::changes_page::{ChangeList, ChangesKey};
use crate::comparison::{Sides, find_function};
use crate::document::value_document;
use crate::functions::grouping;
use crate::kept_view::{Kept, kept};
use crate::question::{FunctionName, Group, Question, Scope};
use crate::refusal::Refusal;
use crate::scope::optional_pattern;

/// Trees that are kept. A sandwich has two.
const MAX_TREES: usize = 4;
/// Lists that are kept.
const MAX_LISTS: usize = 4;
/// Call graphs that are kept.
const MAX_GRAPHS: usize = 4;

/// An answer on changes. Its JSON is that of its content. See the example of [the crate](crate).
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum ChangesAnswer {
    /// A page of rows.
    Page(Box<ChangesPage>),
    /// A flame graph of both sides.
    Flame(Box<ChangedFlame>),
    /// A treemap of both sides.
    Treemap(Box<ChangedTreemap>),
    /// The JSON of a call graph of both sides, a [`ChangedGraph`](crate::ChangedGraph).
    Graph(Arc<Box<RawValue>>),
}

/// The part of the call trees that a picture shows.
#[derive(Debug, Clone, PartialEq, Eq)]
struct TreeKey {
    from: Option<FunctionName>,
    inverted: bool,
}

/// Trees, lists and graphs that were made of a comparison.
#[derive(Debug, Default)]
pub(crate) struct KeptChanges {
    trees: Mutex<Kept<(Scope, TreeKey), ChangedTree>>,
    lists: Mutex<Kept<(Scope, ChangesKey), ChangeList>>,
    graphs: Mutex<Kept<(Scope, Question), Box<RawValue>>>,
}

impl KeptChanges {
    /// Answers a question on a picture or a page of changes.
    pub(crate) fn answer(
        &self,
        sides: &Sides,
        scope: &Scope,
        question: &Question,
    ) -> Result<ChangesAnswer, Refusal> {
        Ok(match question {
            Question::ChangesPage { group, sort, side, filter, start, count } => {
                // Cycles are not compared: their members change too easily.
                let group = if *group == Group::Cycle { Group::Function } else { *group };
                let key = ChangesKey { group, sort: *sort, side: *side, filter: filter.clone() };
                ChangesAnswer::Page(Box::new(self.list(sides, scope, key)?.page(*start, *count)))
            }
            Question::ChangesFlame { from, inverted, order, zoom, resolution } => {
                let tree = self.tree(sides, scope, from, *inverted)?;
                ChangesAnswer::Flame(Box::new(changed_flame(&tree, *order, zoom, *resolution)))
            }
            Question::ChangesTreemap { from, callers, width, height } => {
                let tree = self.tree(sides, scope, from, *callers)?;
                ChangesAnswer::Treemap(Box::new(changed_treemap(&tree, *width, *height)))
            }
            Question::ChangesGraph { around, callers, callees, nodes, min_share, cluster } => {
                let limits = Limits {
                    callers: *callers,
                    callees: *callees,
                    nodes: *nodes,
                    min_share: *min_share,
                    cluster: *cluster,
                };
                let key = (scope.clone(), question.clone());
                let document = kept(&self.graphs, key, MAX_GRAPHS, || {
                    sides.compare(scope, |comparison, columns| {
                        let around =
                            around.as_ref().map(|name| find_function(comparison, name)).transpose()?;
                        let name = |function| group_name(comparison, grouping(*cluster), function);
                        value_document(&changed_graph(comparison, &columns, around, &limits, name))
                    })
                })?;
                ChangesAnswer::Graph(document)
            }
            _ => return Err(Refusal::NoBase),
        })
    }

    fn tree(
        &self,
        sides: &Sides,
        scope: &Scope,
        from: &Option<FunctionName>,
        inverted: bool,
    ) -> Result<Arc<ChangedTree>, Refusal> {
        let key = TreeKey { from: from.clone(), inverted };
        kept(&self.trees, (scope.clone(), key), MAX_TREES, || {
            sides.compare(scope, |comparison, columns| {
                let from = from.as_ref().map(|name| find_function(comparison, name)).transpose()?;
                let view = ComparedTreeView { from, is_inverted: inverted, by_size: true };
                Ok(ChangedTree::new(comparison, columns, view))
            })
        })
    }

    fn list(&self, sides: &Sides, scope: &Scope, key: ChangesKey) -> Result<Arc<ChangeList>, Refusal> {
        let filter = optional_pattern(&key.filter)?;
        kept(&self.lists, (scope.clone(), key.clone()), MAX_LISTS, || {
            sides.compare(scope, |comparison, columns| {
                Ok(match key.group {
                    Group::Function => ChangeList::of_functions(comparison, &columns, &key, filter.as_ref()),
                    group => ChangeList::of_groups(comparison, columns, grouping(group), &key, filter),
                })
            })
        })
    }
}
