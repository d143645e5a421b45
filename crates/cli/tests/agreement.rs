//! `overview`, `info`, `functions`, `tree`, `annotate` and `show` have the same totals, functions and costs for every file of the corpus.

// Tests may panic: that is how they fail. Clippy knows that of test functions, but not of what they share.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![cfg(test)]

mod harness;

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use harness::{code, corpus, json, one_in, run, text, whole};

type Costs = BTreeMap<String, i128>;

fn costs(of: &Value) -> Costs {
    of.as_object().unwrap().iter().map(|(event, cost)| (event.clone(), whole(cost))).collect()
}

fn rows<'j>(document: &'j Value, list: &str) -> impl Iterator<Item = &'j Value> {
    document[list].as_array().unwrap().iter()
}

/// The answer of a command; `None` if it refuses the file.
fn answer(path: &Path, arguments: &[&str]) -> Option<Value> {
    let output = run(&[arguments, &["--format", "json", text(path)]].concat());
    (code(&output) == 0).then(|| json(&output))
}

/// Object, file, name and costs of a function, as far as commands show them.
fn row(function: &Value) -> Value {
    let fields = ["id", "object", "file", "name", "self", "inclusive", "calls", "cycle"];
    fields.iter().map(|&field| (field.to_owned(), function[field].clone())).collect()
}

/// The differences from the functions that `functions` lists.
fn differences(path: &Path) -> Option<Vec<String>> {
    let functions = answer(path, &["functions", "--limit", "0"])?;
    let mut found = Vec::new();
    let mut expect = |is_same: bool, what: String| {
        if !is_same {
            found.push(format!("{}: {what}", path.display()));
        }
    };
    let totals = costs(&functions["totals"]);
    let by_id: BTreeMap<i128, &Value> =
        rows(&functions, "functions").map(|row| (whole(&row["id"]), row)).collect();
    expect(
        whole(&functions["matching"]) == i128::try_from(by_id.len()).unwrap(),
        "count of functions".to_owned(),
    );
    let mut sums: Costs = totals.keys().map(|event| (event.clone(), 0)).collect();
    for function in by_id.values() {
        for (event, cost) in costs(&function["self"]) {
            *sums.get_mut(&event).unwrap() += cost;
        }
    }
    expect(sums == totals, format!("functions: self costs {sums:?}, totals {totals:?}"));

    let overview = answer(path, &["overview"]).expect("overview reads what functions does");
    expect(costs(&overview["totals"]) == totals, "overview: totals".to_owned());
    for function in rows(&overview, "hottest") {
        let expected = by_id.get(&whole(&function["id"])).map(|function| row(function));
        expect(expected == Some(row(function)), format!("overview: {}, not {expected:?}", row(function)));
    }

    let info = answer(path, &["info"]).expect("info reads what functions does");
    let of_info = costs(&info["files"][0]["totals"]);
    // Derived event types may be of one part only.
    let is_same = totals.iter().all(|(event, cost)| of_info.get(event).is_none_or(|other| other == cost));
    expect(is_same, format!("info: totals {of_info:?}, not {totals:?}"));

    let annotated = answer(path, &["annotate"]).expect("annotate reads what functions does");
    expect(costs(&annotated["totals"]) == totals, "annotate: totals".to_owned());
    for function in rows(&annotated, "functions") {
        let expected = by_id.get(&whole(&function["id"])).map(|function| row(function));
        expect(expected == Some(row(function)), format!("annotate: {}, not {expected:?}", row(function)));
    }

    let tree = answer(path, &["tree", "--min", "0", "--limit", "0"]).expect("tree reads what functions does");
    expect(costs(&tree["totals"]) == totals, "tree: totals".to_owned());
    expect(costs(&tree["nodes"][0]["inclusive"]) == totals, "tree: the root".to_owned());
    let is_complete = rows(&tree, "nodes").all(|node| node["hidden"] == 0);
    let mut self_costs: BTreeMap<i128, Costs> = BTreeMap::new();
    for node in rows(&tree, "nodes") {
        let entry = &tree["functions"][usize::try_from(whole(&node["function"])).unwrap()];
        if entry["id"].is_null() {
            continue;
        }
        let sums = self_costs.entry(whole(&entry["id"])).or_default();
        costs(&node["self"]).into_iter().for_each(|(event, cost)| *sums.entry(event).or_default() += cost);
    }
    for (id, sums) in self_costs.iter().filter(|_| is_complete) {
        let function = by_id[id];
        expect(
            *sums == costs(&function["self"]),
            format!("tree: self cost of {}: {sums:?}", function["name"]),
        );
    }

    for function in rows(&functions, "functions").take(2) {
        let name = function["name"].as_str().unwrap();
        // No argument can contain this.
        if name.contains('\0') {
            continue;
        }
        // A name of several functions, or a pattern, is refused or leads elsewhere.
        let Some(shown) = answer(path, &["show", name]) else { continue };
        let costs = |of: &Value| [&of["self"], &of["inclusive"], &of["calls"]].map(Clone::clone);
        if shown["function"]["id"] == function["id"] {
            expect(costs(&shown) == costs(function), format!("show: {name}: {:?}", costs(&shown)));
        }
    }
    Some(found)
}

#[test]
fn commands_agree_on_the_own_corpus() {
    let judged: Vec<_> = corpus().iter().step_by(one_in(3)).filter_map(|path| differences(path)).collect();
    assert!(judged.len() > 60 / one_in(3), "{}", judged.len());
    let found = judged.concat();
    assert!(found.is_empty(), "{}", found.join("\n"));
}
