//! The schemas in `docs/schema` are those of the types. `BLESS=1` writes them.

#![cfg(test)]

mod harness;

use gristmill_answers::{
    AssemblyAnswer, ChangedFlame, ChangedGraph, ChangedTreemap, ChangesPage, Findings, Flame, Found,
    FunctionsPage, Graph, Matches, Parts, Request, SearchResults, Source, Summary, Treemap,
};
use gristmill_gate::GateReport;
use gristmill_output::json;
use gristmill_report::annotate::AnnotationDocument;
use gristmill_report::assembly::AssemblyDocument;
use gristmill_report::diff::{Diff, DiffTree, FunctionDiff};
use gristmill_report::info::InfoDocument;
use gristmill_report::lint::{LintDocument, RuleList};
use gristmill_report::{Functions, Overview, ProgramLines, Show, Tree};
use harness::*;
use schemars::JsonSchema;
use serde::Serialize;

/// The questions of the page of gristmill view, and the answers by the kind of question. `gristmill view --answer` prints one.
#[derive(Serialize, JsonSchema)]
struct Contract<'r> {
    /// The question. Members of the scope, and of a question those that can be null, false or empty, may be left out.
    request: Request,
    /// The answers.
    answers: Answers<'r>,
}

/// The type of the answer to each kind of question.
#[derive(Serialize, JsonSchema)]
struct Answers<'r> {
    summary: Summary,
    overview: Overview,
    functions: FunctionsPage,
    function: Show,
    find: Found,
    search: SearchResults,
    tree: Tree,
    flame: Flame,
    graph: Graph,
    treemap: Treemap,
    matches: Matches,
    source: Source,
    assembly: AssemblyAnswer<'r>,
    parts: Parts,
    findings: Findings,
    changes: Diff,
    changes_tree: DiffTree,
    changes_page: ChangesPage,
    changes_flame: ChangedFlame,
    changes_treemap: ChangedTreemap,
    changes_graph: ChangedGraph,
    changed_function: FunctionDiff,
}

#[test]
fn schemas_are_those_of_the_types() {
    for (name, schema) in [
        ("annotate", json::schema::<AnnotationDocument<'_>>("gristmill annotate --format json")),
        ("assembly", json::schema::<AssemblyDocument<'_>>("gristmill annotate --asm --format json")),
        ("diff", json::schema::<Diff>("gristmill diff --format json")),
        ("diff-function", json::schema::<FunctionDiff>("gristmill diff --function FUNCTION --format json")),
        ("diff-tree", json::schema::<DiffTree>("gristmill diff --tree --format json")),
        (
            "functions-lines",
            json::schema::<ProgramLines<'_>>("gristmill functions --group line --format json"),
        ),
        ("functions", json::schema::<Functions<'_>>("gristmill functions --format json")),
        ("gate", json::schema::<GateReport>("gristmill gate run --format json")),
        ("info", json::schema::<InfoDocument<'_>>("gristmill info --format json")),
        ("lint", json::schema::<LintDocument<'_>>("gristmill lint --format json")),
        ("lint-rules", json::schema::<RuleList>("gristmill lint --list-rules --format json")),
        ("overview", json::schema::<Overview>("gristmill overview --format json")),
        ("show", json::schema::<Show>("gristmill show --format json")),
        ("tree", json::schema::<Tree>("gristmill tree --format json")),
        ("view", json::schema::<Contract<'_>>("gristmill view --answer JSON")),
    ] {
        let path = root().join("docs/schema").join(format!("{name}.schema.json"));
        let text = serde_json::to_string_pretty(schema.as_value()).unwrap() + "\n";
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&path, text).unwrap();
            continue;
        }
        let written = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(written == text, "{} differs; BLESS=1 accepts this:\n{text}", path.display());
    }
}
