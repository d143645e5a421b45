//! Inclusive costs by our own rule, over the corpus: nothing is above the total, and where a file agrees with itself the
//! functions that nothing calls have all of it.
//!
//! With `GRISTMILL_CORPUS=FOLDER` the files there are looked at as well.

// Without this, clippy takes what is not marked as a test for code that may not panic.
#![cfg(test)]

use gristmill_profile::analysis::{CallGraph, Cycles, Inclusive, NodeId, Unit};
use gristmill_profile::{Profile, Selection};

// Not all of it is used here.
#[allow(dead_code)]
#[path = "../../format/tests/support/files.rs"]
mod files;

use files::files_outside;

/// The functions and cycles that nothing outside of them calls.
fn roots(graph: &CallGraph, cycles: &Cycles) -> Vec<Unit> {
    let is_root = |members: &[NodeId]| {
        let mut arcs = members.iter().flat_map(|&member| graph.incoming(member));
        arcs.all(|arc| {
            let arc = &graph.arc(arc);
            arc.is_loop() || cycles.is_inner(arc)
        })
    };
    let alone = graph.nodes().filter(|&id| cycles.cycle_of(id).is_none() && is_root(&[id])).map(Unit::Node);
    let cyclic = cycles.ids().filter(|&cycle| is_root(cycles.members(cycle))).map(Unit::Cycle);
    alone.chain(cyclic).collect()
}

#[test]
fn nothing_is_above_the_total_and_roots_have_all_of_it() {
    let (mut consistent, mut with_calls) = (0, 0);
    for file in files_outside(&["src", "malformed", "expected"]) {
        let profile = Profile::from_bytes(file.bytes);
        let graph = profile.call_graph(&Selection::default());
        let total = graph.total();
        let inclusive = Inclusive::new(&graph, Cycles::new(&graph));
        for column in 0..graph.width() {
            let tables = graph.self_costs().rows().chain(graph.arc_costs().rows());
            // A part of a difference may well be larger than the whole.
            if tables.into_iter().any(|row| row[column] < 0) {
                continue;
            }
            for id in graph.nodes() {
                let cost = inclusive.cost(id)[column];
                assert!(cost <= total[column], "{}: {cost} of {}", file.path, total[column]);
                assert!(cost >= graph.self_cost(id)[column], "{}", file.path);
            }
            if graph.arcs().len() == 0 {
                continue;
            }
            with_calls += 1;
            if !inclusive.differences(&graph, column).is_empty() {
                continue;
            }
            consistent += 1;
            let roots = roots(&graph, inclusive.cycles());
            let sum: i128 = roots.iter().map(|&root| inclusive.unit_cost(root)[column]).sum();
            assert_eq!(sum, total[column], "{}: column {column}", file.path);
        }
    }
    assert!(consistent > 80, "{consistent} of {with_calls}");
}
