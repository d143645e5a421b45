//! Few event types of a comparison have the costs that they have among all.

use std::collections::BTreeMap;

use proptest::prelude::*;

use crate::Profile;
use crate::compare::{Change, CompareError, CompareOptions, ComparedTreeLimits, Comparison};
use crate::event_choice::EventSelection;
use crate::formula::{DefinedBy, Definition};

/// Costs and calls of functions: caller, callee, count of calls, costs.
type Rows = Vec<(u8, u8, u8, [u16; 3])>;

fn rows() -> impl Strategy<Value = Rows> {
    prop::collection::vec((0..6u8, 0..6u8, 1..5u8, any::<[u16; 3]>()), 1..12)
}

/// Makes a profile with three event types in some order.
fn profile(events: &str, rows: &Rows) -> Profile {
    use std::fmt::Write as _;

    let mut text = format!("events: {events}\nfl=mill.c\nfn=main\n1 1 1 1\n");
    for (caller, callee, count, [a, b, c]) in rows {
        write!(text, "fn=f{caller}\n2 {a} {c}\ncfn=f{callee}\ncalls={count} 9\n3 {a} {b} {c}\n").unwrap();
    }
    Profile::from_bytes(text.into_bytes())
}

fn compare<'p>(sides: &'p [Vec<Profile>; 2], events: EventSelection) -> Comparison<'p> {
    let [base, new]: [Vec<&Profile>; 2] = sides.each_ref().map(|runs| runs.iter().collect());
    let definitions = vec![
        Definition::parse(b"Cost = Ir + 10 Bm", DefinedBy::User).unwrap(),
        Definition::parse(b"Most = 3 Dr", DefinedBy::User).unwrap(),
    ];
    Comparison::new(&base, &new, &CompareOptions { definitions, events, ..CompareOptions::default() })
        .unwrap()
}

fn assert_same(few: &Comparison<'_>, all: &Comparison<'_>) {
    assert_eq!(few.events(), all.events());
    let limits = ComparedTreeLimits { max_depth: 9, max_nodes: 100, min_share: 0 };
    // Marks of guesses are for all compared event types together, and so is whether a node has no cost.
    let nodes = |comparison: &Comparison<'_>| {
        let nodes = comparison.call_tree(few.columns(), limits).nodes;
        let mut paths: Vec<Vec<_>> = Vec::new();
        let mut known = BTreeMap::new();
        for node in nodes {
            let mut path = node.parent.map_or(Vec::new(), |parent| paths[parent].clone());
            path.push(node.item);
            if node.self_costs.iter().chain(&node.inclusive).any(|change| *change != Change::default()) {
                known.insert(path.clone(), (node.self_costs, node.inclusive));
            }
            paths.push(path);
        }
        known
    };
    assert_eq!(nodes(few), nodes(all));
    let groups = [few, all].map(|comparison| comparison.grouped(3, |function| function.index() % 3));
    for (column, event) in few.events().iter().enumerate() {
        let is_compared = few.columns().contains(&column);
        if is_compared || event.definition.is_none() {
            assert_eq!(few.total(column), all.total(column));
            for function in few.functions() {
                assert_eq!(few.self_cost(function, column), all.self_cost(function, column));
            }
        }
        if !is_compared {
            continue;
        }
        assert_eq!(few.explain(column).causes, all.explain(column).causes);
        for function in few.functions() {
            assert_eq!(few.inclusive(function, column), all.inclusive(function, column));
        }
        for arc in 0..few.arcs().len() {
            assert_eq!(few.arc_cost(arc, column), all.arc_cost(arc, column));
        }
        // Calls without a cost of the compared event types do not come back.
        let is_clear = |&group: &usize| !groups.iter().any(|groups| groups.is_doubtful(group));
        for group in (0..3).filter(is_clear) {
            let costs = groups
                .each_ref()
                .map(|groups| (groups.self_cost(group, column), groups.inclusive(group, column)));
            assert_eq!(costs[0], costs[1]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn few_event_types_have_the_costs_of_all(
        runs in prop::collection::vec(rows(), 2..5),
        chosen in prop::collection::vec(0..5usize, 1..4),
    ) {
        let (base, new) = runs.split_at(1);
        let sides = [
            base.iter().map(|rows| profile("Ir Dr Bm", rows)).collect(),
            // Another order, one event type that the base lacks, and one that only the base has.
            new.iter().map(|rows| profile("Bm sysTime Ir", rows)).collect(),
        ];
        let all = compare(&sides, EventSelection::Recorded);
        assert_same(&compare(&sides, EventSelection::First), &all);
        let names = ["Ir", "Bm", "Cost", "bm", "Ir"];
        let names = chosen.iter().map(|&name| names[name].to_owned()).collect();
        assert_same(&compare(&sides, EventSelection::Named(names)), &all);
    }
}

#[test]
fn an_event_type_of_one_side_is_unknown() {
    let rows = vec![(0, 1, 1, [1, 2, 3])];
    let (base, new) = (profile("Ir Dr Bm", &rows), profile("Ir Dw Bm", &rows));
    let events = EventSelection::Named(vec!["Ir".to_owned(), "Dr".to_owned()]);
    let options = CompareOptions { events, ..CompareOptions::default() };
    let error = Comparison::new(&[&base], &[&new], &options).unwrap_err();
    assert_eq!(error.to_string(), "there is no event type `Dr` on both sides");
    assert!(matches!(error, CompareError::UnknownEvent { known, .. } if known == ["Ir", "Bm"]));
}
