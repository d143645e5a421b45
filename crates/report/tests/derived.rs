//! Rows of all reports follow the formulas of derived event types, whether or not the operands are shown.
#![cfg(test)]

use std::sync::Arc;

use gristmill_format::Cost;
use gristmill_profile::Profile;
use gristmill_profile::compare::{CompareOptions, Comparison};
use gristmill_profile::formula::{DefinedBy, Definition};
use gristmill_report::{
    EventSelection, Functions, FunctionsOptions, Grouping, InclusiveRule, Report, Show, ShowOptions,
    SubjectId, Tree, TreeOptions, View, ViewOptions,
};
use serde_json::Value;

/// `main` and the cycle of `even` and `odd` cost more by their calls than the total; `read` is shared in other proportions
/// by each event type, and `exit` has reads that nothing calls.
const PROFILE: &str = "events: Ir Dr\nfl=a.c\nfn=main\n1 10 5\ncfn=even\ncalls=1 2\n1 190 24\ncfn=read\ncalls=3 5\n\
                       1 10 7\n\nfl=b.c\nfn=even\n2 20 7\ncfn=odd\ncalls=1 3\n2 150 20\ncfn=read\ncalls=4 5\n2 11 2\n\n\
                       fn=odd\n3 40 1\ncfn=even\ncalls=1 2\n3 180 5\ncfn=main\ncalls=1 1\n3 3 1\n\nfl=c.c\nfn=read\n\
                       5 21 9\n\nfn=exit\n6 1 30\n";

fn view(events: &[&str], rule: InclusiveRule, cycles: bool) -> View {
    let own = Definition::parse(b"X = 3 Ir - Dr", DefinedBy::User).unwrap();
    let options = ViewOptions {
        events: EventSelection::Named(events.iter().map(|&name| name.to_owned()).collect()),
        derive: vec![own],
        rule,
        cycles,
        ..ViewOptions::default()
    };
    View::new(Arc::new(Profile::from_bytes(PROFILE)), &options).unwrap()
}

fn json(report: &impl Report) -> Value {
    let mut out = Vec::new();
    report.write_json(&mut out).unwrap();
    serde_json::from_slice(&out).unwrap()
}

/// The rows of costs of a document: its objects with a number for each event type.
fn rows<'d>(document: &'d Value, found: &mut Vec<&'d Value>) {
    match document {
        Value::Object(fields) if fields.contains_key("X") => found.push(document),
        Value::Object(fields) => fields.values().for_each(|value| rows(value, found)),
        Value::Array(items) => items.iter().for_each(|item| rows(item, found)),
        _ => {}
    }
}

fn reports(view: &View) -> Vec<Value> {
    let mut documents = Vec::new();
    for grouping in [Grouping::Function, Grouping::Cycle, Grouping::File] {
        documents.push(json(&Functions::new(view, &FunctionsOptions { grouping, ..Default::default() })));
    }
    documents.push(json(&Tree::new(view, &TreeOptions::default())));
    for (function, _) in view.subjects() {
        let options = ShowOptions { function, depth: 3, lines: None, limit: None };
        documents.push(json(&Show::new(view, &options).unwrap()));
        for inverted in [false, true] {
            let options = TreeOptions { from: Some(function), inverted, ..Default::default() };
            documents.push(json(&Tree::new(view, &options)));
        }
    }
    documents
}

#[test]
fn rows_follow_the_formula() {
    for rule in [InclusiveRule::Gristmill, InclusiveRule::KCachegrind, InclusiveRule::CallgrindAnnotate] {
        for cycles in [true, false] {
            let all = view(&["X", "Ir", "Dr"], rule, cycles);
            let alone = view(&["X"], rule, cycles);
            assert_eq!((alone.events().len(), alone.graph().width()), (1, 1));
            let mut row_count = 0;
            for (all, alone) in reports(&all).iter().zip(&reports(&alone)) {
                let (mut all_rows, mut alone_rows) = (Vec::new(), Vec::new());
                rows(all, &mut all_rows);
                rows(alone, &mut alone_rows);
                let cost = |row: &Value, name: &str| row[name].as_i64().unwrap();
                for row in &all_rows {
                    assert_eq!(
                        cost(row, "X"),
                        3 * cost(row, "Ir") - cost(row, "Dr"),
                        "{rule:?} {row} in {all}"
                    );
                }
                row_count += all_rows.len();
                let x = |rows: &[&Value]| rows.iter().map(|row| cost(row, "X")).collect::<Vec<_>>();
                assert_eq!(x(&all_rows), x(&alone_rows), "{rule:?} {all}");
            }
            assert!(row_count > 100, "{row_count} rows");
        }
    }
}

#[test]
fn what_the_user_derives_is_shown_without_asking() {
    let text = PROFILE.replacen("events:", "event: OfFile = Ir + Dr\nevents:", 1);
    let profile = Arc::new(Profile::from_bytes(text.into_bytes()));
    let shown = |events: EventSelection, own: &[&str]| -> Vec<String> {
        let own = own.iter().map(|text| Definition::parse(text.as_bytes(), DefinedBy::User).unwrap());
        let options = ViewOptions { events, derive: own.collect(), ..ViewOptions::default() };
        let view = View::new(Arc::clone(&profile), &options).unwrap();
        view.events().iter().map(|event| event.name.clone()).collect()
    };
    let own = ["X = Ir - Dr", "Never = Nowhere", "Y = OfFile + X"];
    assert_eq!(shown(EventSelection::First, &own), ["Ir", "X", "Y"]);
    assert_eq!(shown(EventSelection::Recorded, &own), ["Ir", "Dr", "X", "Y"]);
    assert_eq!(shown(EventSelection::Recorded, &[]), ["Ir", "Dr"]);
    assert_eq!(shown(EventSelection::Named(vec!["Dr".to_owned()]), &own), ["Dr"]);
}

#[test]
fn limited_costs_are_derived() {
    let view = view(&["X"], InclusiveRule::Gristmill, false);
    let cost = |name: &str| -> Cost {
        let is_named = |id: &SubjectId| view.subject(*id).name() == name;
        view.inclusive_cost(view.subject_ids().find(is_named).unwrap())[0]
    };
    // 210 Ir and 36 Dr by its calls, but all of its cycle costs 10 + 20 + 40 + 21 Ir and 5 + 7 + 1 + 9 Dr.
    assert_eq!(cost("main"), 3 * 91 - 22);
    assert_eq!(cost("exit"), 3 - 30);
}

#[test]
fn compared_rows_follow_the_formula() {
    let profile = Profile::from_bytes(PROFILE);
    let definitions = vec![Definition::parse(b"X = 3 Ir - Dr", DefinedBy::User).unwrap()];
    let options = CompareOptions { definitions, ..CompareOptions::default() };
    let comparison = Comparison::new(&[&profile], &[&profile], &options).unwrap();
    for function in comparison.functions() {
        let [ir, dr, x] = [0, 1, 2].map(|column| comparison.inclusive(function, column).base.median);
        assert_eq!(x, 3 * ir - dr);
    }
    let groups = comparison.grouped(2, |function| function.index() % 2);
    for group in 0..2 {
        let [ir, dr, x] = [0, 1, 2].map(|column| groups.inclusive(group, column).base.median);
        assert_eq!(x, 3 * ir - dr);
    }
}
