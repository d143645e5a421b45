//! Any bytes load, keep every invariant of a profile, and every analysis of it adds up.
#![no_main]

use gristmill_profile::analysis::{CallTree, Cycles, Inclusive, KCachegrindSums, TreeLimits, TreeNodeId};
use gristmill_profile::event::is_memory;
use gristmill_profile::{Input, Loader, Profile, Selection};
use libfuzzer_sys::fuzz_target;

/// Tables of costs are as wide as there are event types, which a line of text may name by the hundred.
const MAX_EVENT_TYPES: usize = 32;

fuzz_target!(|data: &[u8]| {
    let profile = Profile::from_bytes(data);
    profile.check().expect("every invariant holds");
    assert_eq!(profile.save(), data);
    if profile.event_count() > MAX_EVENT_TYPES {
        return;
    }
    let graph = profile.call_graph(&Selection::default());
    let total = graph.total();
    assert!(total.iter().zip(profile.totals(&Selection::default())).all(|(sum, total)| *sum == total));

    let inclusive = Inclusive::new(&graph, Cycles::new(&graph));
    let is_plain = graph.self_costs().rows().chain(graph.arc_costs().rows()).flatten().all(|cost| *cost >= 0);
    // A call can free memory, so its callers can have less than it.
    let name = |event| String::from_utf8_lossy(profile.event(event).name);
    let is_memory: Vec<bool> = profile.events().map(|event| is_memory(&name(event))).collect();
    for function in profile.functions() {
        let node = graph.node_of(function);
        let costs = inclusive.cost(node);
        let mut columns = costs.iter().zip(&total).zip(&is_memory);
        assert!(!is_plain || columns.all(|((cost, total), is_memory)| *is_memory || cost <= total));
        let lines = profile.lines(function, &Selection::default());
        let mut sums = vec![0; graph.self_cost(node).len()];
        lines.costs.rows().for_each(|row| sums.iter_mut().zip(row).for_each(|(sum, cost)| *sum += cost));
        assert_eq!(sums, graph.self_cost(node));
    }
    let _ = KCachegrindSums::from_graph(&graph, Cycles::new(&graph));
    let _ = Inclusive::callgrind_annotate(&graph);

    let cycles = Cycles::new(&graph);
    let tree = CallTree::estimate(
        &graph,
        &cycles,
        None,
        TreeLimits { min_cost: 0, max_nodes: 1000, keeps_lone: false },
    );
    assert_eq!(tree.inclusive(TreeNodeId::ROOT), total);

    let input = Input { name: String::new(), bytes: data.to_vec().into() };
    let alone = Loader::new().threads(1).load(vec![input]);
    assert_eq!(alone, profile);
});
