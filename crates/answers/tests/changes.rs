//! Pages and pictures of a comparison have the numbers of the reports, and of each side alone.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "a test may panic"
)]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use gristmill_answers::{Answer, NoFiles, Request, Session};
use gristmill_profile::Profile;
use serde_json::{Value, json};

/// `grind` costs more, `dry` is new, `sift` is gone; `main` calls all of them, and `grind` calls `crush`.
const BASE: &str = "events: Ir\nob=mill\nfl=mill.c\nfn=main\n1 10\ncfn=grind\ncalls=2 1\n2 50\ncfn=sift\ncalls=1 1\n3 30\n\
                    fn=grind\n1 30\ncfn=crush\ncalls=2 1\n2 20\nfn=crush\n1 20\nfn=sift\n1 30\n";
const NEW: &str = "events: Ir\nob=mill\nfl=mill.c\nfn=main\n1 10\ncfn=grind\ncalls=3 1\n2 85\ncfn=dry\ncalls=1 1\n3 5\n\
                   fn=grind\n1 45\ncfn=crush\ncalls=3 1\n2 40\nfn=crush\n1 40\nfn=dry\n1 5\n";

fn loaded(text: &str) -> Arc<Profile> {
    Arc::new(Profile::from_bytes(text.as_bytes().to_vec()))
}

fn small() -> Session {
    Session::new(loaded(NEW), Box::new(NoFiles)).with_base(loaded(BASE))
}

fn recording(name: &str) -> Arc<Profile> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/callgrind").join(name);
    Arc::new(Profile::from_bytes(std::fs::read(path).unwrap()))
}

fn ask(session: &Session, question: Value) -> Value {
    ask_in(session, json!({}), question).unwrap()
}

fn ask_in(session: &Session, scope: Value, question: Value) -> Result<Value, String> {
    let request: Request = serde_json::from_value(json!({"scope": scope, "question": question})).unwrap();
    let answer: Answer = session.answer(&request, &|| false).map_err(|refusal| refusal.to_string())?;
    Ok(serde_json::to_value(&answer).unwrap())
}

fn page(session: &Session, side: &str, start: usize, count: usize) -> Value {
    let question = json!({"kind": "changes_page", "group": "function", "sort": "self_change", "side": side,
                          "start": start, "count": count});
    ask(session, question)
}

fn names(rows: &Value) -> Vec<&str> {
    rows.as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect()
}

/// Base and new cost.
type Sides = (i64, i64);

fn sides(change: &Value) -> Sides {
    (change["base"].as_i64().unwrap(), change["new"].as_i64().unwrap())
}

#[test]
fn pages_have_the_rows_of_each_side() {
    let session = small();
    let all = page(&session, "all", 0, 9);
    // By hand: sift -30, crush +20, grind +15, dry +5, main 0 by itself and +10 with what it calls.
    assert_eq!(names(&all["rows"]), ["sift", "crush", "grind", "dry", "main"]);
    assert_eq!(all["counts"], json!({"all": 5, "worse": 3, "better": 1, "new": 1, "gone": 1}));
    assert_eq!(sides(&all["self"]["Ir"]), (90, 100));
    assert_eq!(names(&page(&session, "worse", 0, 9)["rows"]), ["crush", "grind", "dry"]);
    assert_eq!(names(&page(&session, "better", 0, 9)["rows"]), ["sift"]);
    assert_eq!(names(&page(&session, "new", 0, 9)["rows"]), ["dry"]);
    assert_eq!(names(&page(&session, "gone", 0, 9)["rows"]), ["sift"]);
    let second = page(&session, "worse", 1, 1);
    assert_eq!(
        (names(&second["rows"]), &second["all"], &second["start"]),
        (vec!["grind"], &json!(3), &json!(1))
    );
    assert_eq!(sides(&second["self"]["Ir"]), (50, 90));
}

#[test]
fn pages_are_slices_of_the_report() {
    let session = Session::new(recording("callgrind.out.mill-fast"), Box::new(NoFiles))
        .with_base(recording("callgrind.out.mill"));
    for (group, sort) in
        [("function", "self_change"), ("function", "inclusive_change"), ("file", "self_change")]
    {
        let report = ask(&session, json!({"kind": "changes", "group": group, "sort": sort, "limit": 5000}));
        let mut rows = Vec::new();
        loop {
            let more = ask(
                &session,
                json!({"kind": "changes_page", "group": group, "sort": sort, "start": rows.len(), "count": 3}),
            );
            let more = more["rows"].as_array().unwrap().clone();
            if more.is_empty() {
                break;
            }
            rows.extend(more);
        }
        let expected = report["functions"].as_array().unwrap();
        assert_eq!(rows.len(), expected.len(), "{group}");
        for (row, expected) in rows.iter().zip(expected) {
            for member in ["name", "file", "on", "self", "inclusive", "calls"] {
                assert_eq!(row[member], expected[member], "{group}: {member} of {}", row["name"]);
            }
        }
    }
}

/// By path of names: costs of both sides.
fn paths(flame: &Value) -> BTreeMap<Vec<String>, (i64, i64)> {
    let list = |name: &str| flame[name].as_array().unwrap().clone();
    let (functions, function, parent) = (list("functions"), list("function"), list("parent"));
    let mut of_frame: Vec<Vec<String>> = Vec::new();
    let mut paths = BTreeMap::new();
    for (frame, function) in function.iter().enumerate() {
        let above = usize::try_from(parent[frame].as_i64().unwrap());
        let mut path = above.map_or_else(|_| Vec::new(), |above| of_frame[above].clone());
        let name =
            usize::try_from(function.as_i64().unwrap()).map(|at| functions[at]["name"].as_str().unwrap());
        path.push(name.unwrap_or("(merged)").to_owned());
        of_frame.push(path.clone());
        let cost = &list("inclusive")[frame]["Ir"];
        let cost = if cost.is_object() { sides(cost) } else { (cost.as_i64().unwrap(), 0) };
        let sum = paths.entry(path).or_insert((0, 0));
        *sum = (sum.0 + cost.0, sum.1 + cost.1);
    }
    paths
}

#[test]
fn frames_have_both_sides() {
    let flame = ask(&small(), json!({"kind": "changes_flame", "order": "name", "resolution": 1000}));
    let path = |path: &[&str]| path.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let paths = paths(&flame);
    let expected = [
        (&["(program)"][..], (90, 100)),
        (&["(program)", "main"][..], (90, 100)),
        (&["(program)", "main", "dry"][..], (0, 5)),
        (&["(program)", "main", "grind"][..], (50, 85)),
        (&["(program)", "main", "grind", "crush"][..], (20, 40)),
        (&["(program)", "main", "sift"][..], (30, 0)),
    ];
    for (names, costs) in &expected {
        assert_eq!(paths.get(&path(names)), Some(costs), "{names:?}");
    }
    assert_eq!(paths.len(), expected.len());
    // The frames on `main` need 5 + 85 + 30, more than either side has.
    let width: Vec<f64> =
        flame["width"].as_array().unwrap().iter().map(|width| width.as_f64().unwrap()).collect();
    assert!((width[1] - 1.0).abs() < 1e-9 && (width[2] - 5.0 / 120.0).abs() < 1e-9, "{width:?}");
    // Around a function, above and below.
    let from = json!({"name": "crush", "file": "mill.c"});
    let callers = ask(
        &small(),
        json!({"kind": "changes_flame", "from": from, "inverted": true, "order": "name", "resolution": 1000}),
    );
    let callers = self::paths(&callers);
    assert_eq!(callers[&path(&["crush"])], (20, 40));
    assert_eq!(callers[&path(&["crush", "grind", "main"])], (20, 40));
}

#[test]
fn frames_of_each_side_are_those_of_its_profile() {
    let (base, new) = (recording("callgrind.out.mill"), recording("callgrind.out.mill-fast"));
    let both = Session::new(Arc::clone(&new), Box::new(NoFiles)).with_base(Arc::clone(&base));
    let alone = [base, new].map(|profile| Session::new(profile, Box::new(NoFiles)));
    for name in ["", "main", "sort_grains"] {
        let question = |kind: &str, from: Value| json!({"kind": kind, "from": from, "order": "name", "resolution": 20000});
        let from = if name.is_empty() { json!(null) } else { json!({"name": name}) };
        let joined = paths(&ask(&both, question("changes_flame", from)));
        let of_sides = alone.each_ref().map(|session| {
            let id = match name {
                "" => json!(null),
                name => {
                    let rows = json!({"kind": "functions", "group": "function", "sort": "self_cost",
                                      "filter": name, "start": 0, "count": 99});
                    let page = ask(session, rows);
                    let row = page["rows"].as_array().unwrap().iter().find(|row| row["name"] == name);
                    row.unwrap()["id"].clone()
                }
            };
            paths(&ask(session, question("flame", id)))
        });
        let mut compared = 0;
        for (path, costs) in &joined {
            // Direct callees of a function are recorded, as are the roots of the program; others are estimates of each side.
            let of_side = |side: usize| of_sides[side].get(path).map_or(0, |cost| cost.0);
            // Cycles are those of both sides together.
            let is_alike = |name: &String| name != "(merged)" && !name.starts_with("cycle ");
            if path.len() <= 2 && path.iter().all(is_alike) {
                assert_eq!(*costs, (of_side(0), of_side(1)), "{path:?}");
                compared += 1;
            }
        }
        assert!(compared >= 2, "{name}: {joined:?}");
    }
}

#[test]
fn frames_do_not_overlap_and_zoom_fills_the_width() {
    let session = Session::new(recording("callgrind.out.mill-fast"), Box::new(NoFiles))
        .with_base(recording("callgrind.out.mill"));
    for (inverted, order, resolution) in [(false, "name", 4000), (true, "cost", 100), (false, "cost", 5)] {
        let flame = ask(
            &session,
            json!({"kind": "changes_flame", "inverted": inverted, "order": order, "resolution": resolution}),
        );
        let floats = |name: &str| -> Vec<f64> {
            flame[name].as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect()
        };
        let (x, width) = (floats("x"), floats("width"));
        let parent: Vec<i64> =
            flame["parent"].as_array().unwrap().iter().map(|parent| parent.as_i64().unwrap()).collect();
        for id in 0..x.len() {
            let mut below: Vec<usize> = (0..x.len()).filter(|&other| parent[other] == id as i64).collect();
            below.sort_by(|&a, &b| x[a].total_cmp(&x[b]));
            let mut at = x[id];
            for child in below {
                assert!(child > id && x[child] >= at - 1e-9);
                at = x[child] + width[child];
            }
            assert!(at <= x[id] + width[id] + 1e-9);
        }
    }
    let zoomed = ask(
        &session,
        json!({"kind": "changes_flame", "order": "name", "zoom": ["(below main)", "main"], "resolution": 100}),
    );
    let widths: Vec<f64> =
        zoomed["width"].as_array().unwrap()[..3].iter().map(|it| it.as_f64().unwrap()).collect();
    assert_eq!(widths, [1.0, 1.0, 1.0]);
}

#[test]
fn tiles_are_within_each_other_and_have_both_sides() {
    for (session, callers, from) in [
        (small(), false, json!(null)),
        (small(), true, json!({"name": "crush"})),
        (
            Session::new(recording("callgrind.out.mill-fast"), Box::new(NoFiles))
                .with_base(recording("callgrind.out.mill")),
            false,
            json!(null),
        ),
    ] {
        let map = ask(
            &session,
            json!({"kind": "changes_treemap", "from": from, "callers": callers, "width": 900, "height": 600}),
        );
        let tiles = map["tiles"].as_array().unwrap();
        assert!(tiles.len() > 2);
        let bounds = |tile: &Value| -> Vec<f64> {
            tile["bounds"].as_array().unwrap().iter().map(|it| it.as_f64().unwrap()).collect()
        };
        for (index, tile) in tiles.iter().enumerate() {
            let Some(parent) = tile["parent"].as_u64() else { continue };
            let (inner, outer) = (bounds(tile), bounds(&tiles[parent as usize]));
            assert!(inner[0] >= outer[0] - 1e-6 && inner[1] >= outer[1] - 1e-6);
            assert!(inner[0] + inner[2] <= outer[0] + outer[2] + 1e-6);
            assert!(inner[1] + inner[3] <= outer[1] + outer[3] + 1e-6);
            assert!((parent as usize) < index);
        }
        // What is in a tile adds up to it, on both sides.
        for (index, tile) in tiles.iter().enumerate() {
            let within: Vec<_> =
                tiles.iter().filter(|other| other["parent"].as_u64() == Some(index as u64)).collect();
            if within.is_empty() {
                continue;
            }
            let sum = within.iter().fold((0, 0), |sum, other| {
                let more = sides(&other["inclusive"]["Ir"]);
                (sum.0 + more.0, sum.1 + more.1)
            });
            assert_eq!(sum, sides(&tile["inclusive"]["Ir"]), "{tile}");
        }
    }
}

#[test]
fn boxes_and_arcs_have_both_sides() {
    let session = small();
    let question = |around: Value, callers: usize, callees: usize| {
        json!({"kind": "changes_graph", "around": around, "callers": callers, "callees": callees, "nodes": 40,
               "min_share": 0, "cluster": "file"})
    };
    let graph = ask(&session, question(json!(null), 9, 9));
    let nodes = graph["nodes"].as_array().unwrap();
    let arcs: BTreeMap<(String, String), (Sides, Sides)> = graph["arcs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|arc| {
            let name =
                |end: &str| nodes[arc[end].as_u64().unwrap() as usize]["name"].as_str().unwrap().to_owned();
            ((name("caller"), name("callee")), (sides(&arc["calls"]), sides(&arc["cost"]["Ir"])))
        })
        .collect();
    let of = |caller: &str, callee: &str| arcs[&(caller.to_owned(), callee.to_owned())];
    assert_eq!(arcs.len(), 4);
    assert_eq!(of("main", "grind"), ((2, 3), (50, 85)));
    assert_eq!(of("main", "sift"), ((1, 0), (30, 0)));
    assert_eq!(of("main", "dry"), ((0, 1), (0, 5)));
    assert_eq!(of("grind", "crush"), ((2, 3), (20, 40)));
    let inclusive: BTreeMap<&str, (i64, i64)> =
        nodes.iter().map(|node| (node["name"].as_str().unwrap(), sides(&node["inclusive"]["Ir"]))).collect();
    let expected =
        [("crush", (20, 40)), ("dry", (0, 5)), ("grind", (50, 85)), ("main", (90, 100)), ("sift", (30, 0))];
    assert_eq!(inclusive, BTreeMap::from(expected));
    assert_eq!(graph["clusters"][0]["name"], "mill.c");
    // Around a function that is gone, which the new profile does not have.
    let gone = ask(&session, question(json!({"name": "sift", "file": "mill.c", "object": "mill"}), 1, 1));
    let middle = &gone["nodes"][gone["around"].as_u64().unwrap() as usize];
    assert_eq!(
        (&middle["name"], &middle["on"], &middle["is_center"]),
        (&json!("sift"), &json!("vanished"), &json!(true))
    );
    assert_eq!(names(&gone["nodes"]), ["sift", "main"]);
    assert_eq!(gone["nodes"][1]["hidden_callees"], 2);
    let refusal = ask_in(&session, json!({}), question(json!({"name": "nosuch"}), 1, 1)).unwrap_err();
    assert_eq!(refusal, "neither side has the function `nosuch`");
    let hidden = ask_in(&session, json!({"drop": "sift"}), question(json!(null), 1, 1)).unwrap_err();
    assert!(hidden.starts_with("a comparison does not know"), "{hidden}");
}

#[test]
fn a_search_counts_each_cost_once() {
    let session = Session::new(recording("callgrind.out.mill"), Box::new(NoFiles));
    let tree = ask(&session, json!({"kind": "tree", "min_share": 0, "max_depth": 1000, "limit": 100_000}));
    let nodes = tree["nodes"].as_array().unwrap();
    for pattern in ["^main$", "grain|sort", "s", "nosuch"] {
        let regex = regex_of(pattern);
        let is_match = |node: &Value| {
            let name =
                tree["functions"][node["function"].as_u64().unwrap() as usize]["name"].as_str().unwrap();
            regex(name)
        };
        let (mut count, mut sum) = (0, 0);
        for node in nodes {
            let mut above = node["parent"].as_u64();
            let mut is_below = false;
            while let Some(parent) = above {
                is_below |= is_match(&nodes[parent as usize]);
                above = nodes[parent as usize]["parent"].as_u64();
            }
            if is_match(node) && !is_below {
                count += 1;
                sum += node["inclusive"]["Ir"].as_i64().unwrap();
            }
        }
        let found = ask(&session, json!({"kind": "matches", "pattern": pattern}));
        assert_eq!((&found["nodes"], &found["matched"]["Ir"]), (&json!(count), &json!(sum)), "{pattern}");
        assert_eq!(found["is_lower_bound"], false);
    }
}

fn regex_of(pattern: &'static str) -> impl Fn(&str) -> bool {
    move |name| match pattern {
        "^main$" => name == "main",
        "grain|sort" => name.to_lowercase().contains("grain") || name.to_lowercase().contains("sort"),
        text => name.to_lowercase().contains(text),
    }
}

#[test]
fn what_is_left_out_leaves_the_total() {
    let session = Session::new(loaded(NEW), Box::new(NoFiles));
    let question =
        json!({"kind": "functions", "group": "function", "sort": "inclusive", "start": 0, "count": 9});
    let page = ask_in(&session, json!({"drop": "^grind$"}), question).unwrap();
    assert_eq!(page["head"]["totals"]["Ir"], 15);
    let costs: Vec<(&str, i64)> = page["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["name"].as_str().unwrap(), row["inclusive"]["Ir"].as_i64().unwrap()))
        .collect();
    assert_eq!(costs, [("main", 15), ("dry", 5)]);
    let flame = ask_in(
        &session,
        json!({"drop": "^grind$"}),
        json!({"kind": "flame", "order": "name", "resolution": 100}),
    );
    assert_eq!(paths(&flame.unwrap()).into_values().map(|cost| cost.0).collect::<Vec<_>>(), [15, 15, 5]);
}
