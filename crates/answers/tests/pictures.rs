//! Pictures show the costs of the reports behind them, and lose none in silence. All profiles of the corpus are looked at.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "a test may panic"
)]

use std::path::Path;
use std::sync::Arc;

use gristmill_answers::{Answer, Flame, Graph, NoFiles, Request, Session, TileKind, Treemap};
use gristmill_profile::Profile;
use gristmill_report::{EventSelection, Tree, TreeOptions, View, ViewOptions};
use serde_json::{Value, json};

fn profiles() -> Vec<(String, Arc<Profile>)> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    let mut profiles = Vec::new();
    for folder in ["callgrind", "cachegrind", "dialects", "python", "xtree"] {
        let entries = std::fs::read_dir(corpus.join(folder)).unwrap();
        let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        for path in paths {
            let profile = Profile::from_bytes(std::fs::read(&path).unwrap());
            if profile.function_count() > 0 {
                profiles.push((path.display().to_string(), Arc::new(profile)));
            }
        }
    }
    assert!(profiles.len() > 40, "the corpus has {}", profiles.len());
    profiles
}

/// Questions without event types are about the first one.
fn options() -> ViewOptions {
    ViewOptions { events: EventSelection::First, ..ViewOptions::default() }
}

fn session(profile: &Arc<Profile>) -> Session {
    Session::new(Arc::clone(profile), Box::new(NoFiles))
}

fn ask(session: &Session, question: Value) -> Answer {
    let request: Request = serde_json::from_value(json!({"question": question})).unwrap();
    session.answer(&request, &|| false).unwrap_or_else(|refusal| panic!("{refusal}"))
}

fn flame(session: &Session, more: Value) -> Flame {
    let mut question = json!({"kind": "flame", "order": "cost", "resolution": 4000});
    question.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let Answer::Flame(flame) = ask(session, question) else { panic!("no flame graph") };
    *flame
}

/// Checks that frames are in their parents, do not overlap, and that the costs of a parent are those of its frames and its
/// own.
fn check_frames(name: &str, flame: &Flame) {
    let count = flame.function.len();
    for id in 0..count {
        let (left, right) = (flame.x[id], flame.x[id] + flame.width[id]);
        let mut children: Vec<usize> = (0..count).filter(|&other| flame.parent[other] == id as i32).collect();
        children.sort_by(|&a, &b| flame.x[a].total_cmp(&flame.x[b]));
        let mut at = left;
        let mut sum = flame.self_costs[id].to_vec();
        for &child in &children {
            assert!(child > id && flame.depth[child] == flame.depth[id] + 1, "{name}");
            assert!(flame.x[child] >= at - 1e-9 && flame.width[child] >= 0.0, "{name}: overlap");
            at = flame.x[child] + flame.width[child];
            sum.iter_mut().zip(&flame.inclusive[child]).for_each(|(sum, cost)| *sum += cost);
        }
        assert!(at <= right + 1e-9, "{name}: {at} of {right}");
        if flame.function[id] >= 0 {
            assert_eq!(sum, flame.inclusive[id].to_vec(), "{name}: frame {id}");
        }
    }
}

#[test]
fn frames_add_up_to_their_parents() {
    for (name, profile) in profiles() {
        let session = session(&profile);
        for resolution in [5, 100, 4000] {
            for (inverted, order) in [(false, "cost"), (true, "name")] {
                let more = json!({"resolution": resolution, "inverted": inverted, "order": order});
                check_frames(&name, &flame(&session, more));
            }
        }
    }
}

#[test]
fn wide_frames_are_the_nodes_of_the_tree() {
    for (name, profile) in profiles() {
        let view = View::new(Arc::clone(&profile), &options()).unwrap();
        let tree = Tree::new(&view, &TreeOptions { splits_chains: true, ..TreeOptions::default() });
        let whole = tree.nodes[0].inclusive[0] as f64;
        let mut expected: Vec<_> = tree
            .nodes
            .iter()
            .filter(|node| node.inclusive[0] as f64 / whole >= 0.011)
            .map(|node| (node.depth as u32, tree.entries[node.entry].name.clone(), node.inclusive[0]))
            .collect();
        let flame = flame(&session(&profile), json!({"resolution": 100}));
        let mut shown: Vec<_> = (0..flame.function.len())
            .filter(|&id| flame.function[id] >= 0 && flame.inclusive[id][0] as f64 / whole >= 0.011)
            .map(|id| {
                let function = usize::try_from(flame.function[id]).unwrap();
                (flame.depth[id], flame.functions[function].name.clone(), flame.inclusive[id][0])
            })
            .collect();
        expected.sort();
        shown.sort();
        assert_eq!(shown, expected, "{name}");
    }
}

#[test]
fn a_zoomed_frame_fills_the_width_below_its_callers() {
    let text = "events: Ir\nfn=main\n1 10\ncfn=a\ncalls=1 1\n2 60\ncfn=b\ncalls=1 1\n3 30\nfn=a\n1 20\ncfn=c\ncalls=1 1\n2 40\n\
                fn=b\n1 30\nfn=c\n1 40\n";
    let profile = Arc::new(Profile::from_bytes(text.as_bytes().to_vec()));
    let flame = flame(&session(&profile), json!({"zoom": ["main", "a"]}));
    let row = |id: usize| {
        let name = flame.functions[usize::try_from(flame.function[id]).unwrap()].name.as_str();
        (name, flame.x[id], (flame.width[id] * 1000.0).round() as u32, flame.inclusive[id][0])
    };
    let rows: Vec<_> = (0..flame.function.len()).map(row).collect();
    let expected =
        [("(program)", 0.0, 1000, 100), ("main", 0.0, 1000, 100), ("a", 0.0, 1000, 60), ("c", 0.0, 667, 40)];
    assert_eq!(rows, expected);
}

#[test]
fn occurrences_of_a_function_are_counted_once() {
    // `f` calls itself by way of `g`, without cycles: the inner `f` is within the outer one.
    let text = "events: Ir\nfn=main\n1 10\ncfn=f\ncalls=1 1\n2 90\nfn=f\n1 20\ncfn=g\ncalls=1 1\n2 70\nfn=g\n1 30\ncfn=h\n\
                calls=1 1\n2 40\nfn=h\n1 40\n";
    let profile = Arc::new(Profile::from_bytes(text.as_bytes().to_vec()));
    let flame = flame(&session(&profile), json!({}));
    let all = |name: &str| flame.functions.iter().find(|it| it.name == name).unwrap().all[0];
    assert_eq!([all("main"), all("f"), all("g"), all("h")], [100, 90, 70, 40]);
}

fn treemap(session: &Session, callers: bool) -> Treemap {
    let question = json!({"kind": "treemap", "callers": callers, "width": 1200, "height": 800});
    let Answer::Treemap(map) = ask(session, question) else { panic!("no treemap") };
    *map
}

#[test]
fn rectangles_add_up_to_what_they_are_in() {
    for (name, profile) in profiles() {
        for callers in [false, true] {
            let map = treemap(&session(&profile), callers);
            for (id, tile) in map.tiles.iter().enumerate() {
                let inside: Vec<_> = map.tiles.iter().filter(|other| other.parent == Some(id)).collect();
                if inside.is_empty() {
                    continue;
                }
                let sum: i128 = inside.iter().map(|it| it.inclusive[0]).sum();
                assert_eq!(sum, tile.inclusive[0], "{name}");
                let [x, y, width, height] = tile.bounds;
                for it in &inside {
                    let [left, top, wide, high] = it.bounds;
                    let is_in = left >= x - 1e-6
                        && top >= y - 1e-6
                        && left + wide <= x + width + 1e-6
                        && top + high <= y + height + 1e-6;
                    assert!(is_in, "{name}: {:?} in {:?}", it.bounds, tile.bounds);
                    assert_eq!(it.function.is_some(), it.kind == TileKind::Function, "{name}");
                }
            }
        }
    }
}

/// The self cost of `deep` is divided among its callers, one of which may have none of it.
const DIVIDED: &[u8] =
    b"events: Ir\nfn=main\n1 10\ncfn=near\ncalls=1 0\n2 500\ncfn=deep\ncalls=1 0\n3 400\nfn=near\n1 100\n\
cfn=deep\ncalls=1 0\n2 400\nfn=deep\n1 300\ncfn=leaf\ncalls=2 0\n2 500\nfn=leaf\n1 500\n";

#[test]
fn what_a_profile_does_not_determine_is_marked() {
    let session = session(&Arc::new(Profile::from_bytes(DIVIDED.to_vec())));
    let flame = flame(&session, json!({"inverted": false}));
    let is_guessed = |name: &str, flags: &[bool]| {
        let is = |id: &usize| {
            flame.function[*id] >= 0 && flame.functions[flame.function[*id] as usize].name == name
        };
        (0..flags.len()).filter(is).map(|id| flags[id]).collect::<Vec<_>>()
    };
    assert_eq!(is_guessed("deep", &flame.is_guessed), [false, false]);
    assert_eq!(is_guessed("deep", &flame.is_self_guessed), [true, true]);
    assert_eq!(is_guessed("leaf", &flame.is_guessed), [true, true]);
    let tiles = treemap(&session, false).tiles;
    for tile in tiles.iter().filter(|tile| tile.kind == TileKind::SelfCost) {
        let of_deep = tile.inclusive[0] != 100 && tile.inclusive[0] != 10;
        assert_eq!(tile.is_guessed, of_deep, "{tile:?}");
    }
    assert!(tiles.iter().any(|tile| tile.kind == TileKind::SelfCost && tile.is_guessed));
    for (pattern, is_guessed) in [("^leaf$", true), ("^deep$", false), ("^main$", false)] {
        let question = json!({"kind": "matches", "from": null, "inverted": false, "pattern": pattern});
        let Answer::Matches(found) = ask(&session, question) else { panic!("no matches") };
        assert_eq!(found.is_guessed, is_guessed, "{pattern}");
    }
}

/// The costs of lines in a focus are not known.
#[test]
fn lines_are_those_of_all_calls_in_any_scope() {
    let session = session(&Arc::new(Profile::from_bytes(DIVIDED.to_vec())));
    let ask_within = |scope: Value| {
        let question = json!({"kind": "source", "function": 1, "file": null});
        let request: Request = serde_json::from_value(json!({"scope": scope, "question": question})).unwrap();
        serde_json::to_value(session.answer(&request, &|| false).unwrap()).unwrap()
    };
    let all = ask_within(json!({}));
    for scope in [json!({"focus": "^leaf$"}), json!({"drop": "^deep$"}), json!({"hide": "^near$"})] {
        assert_eq!(ask_within(scope), all);
    }
}

fn graph(session: &Session, around: Option<u32>, more: Value) -> Graph {
    let mut question = json!({
        "kind": "graph", "around": around, "callers": 3, "callees": 3, "nodes": 60, "min_share": 0, "cluster": "function"
    });
    question.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let Answer::Graph(graph) = ask(session, question) else { panic!("no call graph") };
    *graph
}

#[test]
fn arcs_have_the_recorded_costs_and_nodes_say_what_is_hidden() {
    for (name, profile) in profiles() {
        let view = View::new(Arc::clone(&profile), &options()).unwrap();
        let session = session(&profile);
        let middles: Vec<Option<u32>> = std::iter::once(None).chain((0..3).map(Some)).collect();
        for around in
            middles.into_iter().filter(|it| it.is_none_or(|id| (id as usize) < view.subjects().len()))
        {
            for cluster in ["function", "cycle", "object"] {
                let graph = graph(&session, around, json!({"cluster": cluster}));
                let ids: Vec<usize> = graph.nodes.iter().map(|node| node.row.id.unwrap().index()).collect();
                for arc in &graph.arcs {
                    let ends = [arc.caller, arc.callee].map(|end| view.graph().node(ids[end]));
                    let recorded = view.graph().arc_between(ends[0], ends[1]).unwrap();
                    assert_eq!(arc.cost[..], *view.graph().arc_cost(recorded), "{name}");
                    assert_eq!(arc.calls.recorded(), view.graph().arc(recorded).count, "{name}");
                    assert!(arc.points.len() % 3 == 1, "{name}: a start and curves of three points");
                }
                for (node, &id) in graph.nodes.iter().zip(&ids) {
                    let incoming = view.graph().incoming(view.graph().node(id));
                    let hidden: Vec<_> =
                        incoming.filter(|&arc| !ids.contains(&view.graph().caller(arc).index())).collect();
                    assert_eq!(node.hidden_callers, hidden.len(), "{name}");
                    let cost: i128 = hidden.iter().map(|&arc| view.graph().arc_cost(arc)[0]).sum();
                    assert_eq!(node.hidden_callers_cost[0], cost, "{name}");
                    assert!(node.x >= 0.0 && node.x + node.width <= graph.width + 1e-6, "{name}");
                }
                assert_eq!(
                    graph.nodes.iter().filter(|node| node.is_center).count(),
                    usize::from(around.is_some())
                );
            }
        }
    }
}

/// Of a profile with a block for each call, what a function spends in each other is known exactly.
#[test]
fn costs_around_a_function_are_those_of_its_own_calls() {
    // `work` costs 5 when `a` calls it, and 50 when `b` does: `sub` is called by `work` only.
    let text = "events: Ir\nfn=main\n1 1\ncfn=a\ncalls=1 1\n2 8\ncfn=b\ncalls=1 1\n3 60\nfn=a\n1 3\ncfn=work\ncalls=1 1\n2 5\n\
                fn=b\n1 10\ncfn=work\ncalls=1 1\n2 50\nfn=work\n1 11\ncfn=sub\ncalls=2 1\n2 44\nfn=sub\n1 44\n";
    let profile = Arc::new(Profile::from_bytes(text.as_bytes().to_vec()));
    let session = session(&profile);
    let Answer::Found(found) = ask(&session, json!({"kind": "find", "name": "a", "file": "", "object": ""}))
    else {
        panic!("not found")
    };
    let graph = graph(&session, found.function, json!({}));
    let node = |name: &str| graph.nodes.iter().find(|node| node.row.name == name).unwrap();
    // Direct calls are recorded: no estimate.
    assert_eq!((node("work").cost[0], node("work").cost_is_estimate), (5, false));
    assert_eq!((node("main").cost[0], node("main").cost_is_estimate), (8, false));
    // The profile does not say which part of `sub` is due to `a`: 44 of 55 in proportion.
    assert_eq!((node("sub").cost[0], node("sub").cost_is_estimate), (4, true));
    assert!(graph.nodes.iter().all(|node| node.row.name != "b"), "b is neither caller nor callee of a");
}
