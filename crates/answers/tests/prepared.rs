//! Answers are the same with and without preparation, and in any order of the questions.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use std::path::Path;
use std::sync::Arc;
use std::thread;

use gristmill_answers::{NoFiles, Request, Session};
use gristmill_profile::Profile;
use serde_json::{Value, json};

fn session(profile: &Arc<Profile>) -> Session {
    Session::new(Arc::clone(profile), Box::new(NoFiles))
}

fn ask(session: &Session, question: &Value) -> Result<String, String> {
    let request: Request = serde_json::from_value(json!({ "question": question })).unwrap();
    let answer = session.answer(&request, &|| false).map_err(|refusal| refusal.to_string())?;
    Ok(serde_json::to_string(&answer).unwrap())
}

/// The questions of a page about a function.
fn questions(function: usize) -> Vec<Value> {
    let mut questions = vec![
        json!({"kind": "summary"}),
        json!({"kind": "overview", "limit": 8}),
        json!({"kind": "overview", "limit": 3}),
        json!({"kind": "search", "text": "e", "limit": 5}),
        json!({"kind": "search", "text": "re", "limit": 5}),
        json!({"kind": "search", "text": "rea", "limit": 5}),
        json!({"kind": "search", "text": "Re", "limit": 5}),
        json!({"kind": "search", "text": "^[a-m]", "is_pattern": true, "limit": 5}),
        json!({"kind": "findings", "limit": 7}),
        json!({"kind": "findings", "limit": 1}),
        json!({"kind": "function", "function": function, "depth": 8, "limit": 3}),
        json!({"kind": "graph", "callers": 2, "callees": 6, "nodes": 5, "min_share": 10, "cluster": "file"}),
    ];
    for sort in ["self_cost", "inclusive", "calls", "per_call", "name", "object", "file"] {
        for start in [40, 0] {
            let page =
                json!({"kind": "functions", "group": "function", "sort": sort, "start": start, "count": 20});
            questions.push(page);
        }
    }
    for group in ["object", "file", "directory", "class", "crate", "package", "cycle"] {
        questions
            .push(json!({"kind": "functions", "group": group, "sort": "inclusive", "start": 0, "count": 50}));
    }
    for inverted in [false, true] {
        for from in [None, Some(function)] {
            questions.push(json!({"kind": "tree", "from": from, "inverted": inverted, "min_share": 2, "max_depth": 100, "limit": 300}));
            questions.push(json!({"kind": "flame", "from": from, "inverted": inverted, "order": "cost", "resolution": 1500}));
            questions.push(
                json!({"kind": "treemap", "from": from, "callers": inverted, "width": 800, "height": 600}),
            );
        }
    }
    let around = json!({"kind": "graph", "around": function, "callers": 2, "callees": 6, "nodes": 9, "min_share": 1, "cluster": "object"});
    questions.push(around);
    questions
}

#[test]
fn answers_do_not_depend_on_what_was_done_before() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    let mut paths = Vec::new();
    for folder in ["callgrind", "dialects", "python"] {
        let entries = std::fs::read_dir(corpus.join(folder)).unwrap();
        let mut more: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        more.sort();
        paths.extend(more.into_iter().step_by(5));
    }
    for path in paths {
        let profile = Arc::new(Profile::from_bytes(std::fs::read(&path).unwrap()));
        if profile.function_count() == 0 {
            continue;
        }
        let prepared = session(&profile);
        prepared.prepare(&|| false);
        for function in [0, profile.function_count() / 2] {
            for question in questions(function) {
                let alone = ask(&session(&profile), &question);
                assert_eq!(ask(&prepared, &question), alone, "{}: {question}", path.display());
                assert_eq!(ask(&prepared, &question), alone, "{}: again {question}", path.display());
            }
        }
    }
}

#[test]
fn questions_at_once_get_the_same_answers() {
    let text = b"events: Ir\nfn=main\n1 10\ncfn=work\ncalls=1 5\n2 32\nfn=work\n5 32\n";
    let profile = Arc::new(Profile::from_bytes(text.to_vec()));
    let shared = session(&profile);
    thread::scope(|scope| {
        let preparing = scope.spawn(|| shared.prepare(&|| false));
        let asking: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| questions(1).iter().map(|it| ask(&shared, it)).collect::<Vec<_>>()))
            .collect();
        let expected: Vec<_> = questions(1).iter().map(|it| ask(&session(&profile), it)).collect();
        for answers in asking {
            assert_eq!(answers.join().unwrap(), expected);
        }
        preparing.join().unwrap();
    });
}

#[test]
fn a_session_that_nobody_has_is_not_prepared() {
    let text = b"events: Ir\nfn=main\n1 10\n";
    let session = session(&Arc::new(Profile::from_bytes(text.to_vec())));
    // It is asked before each step, and then no more.
    let asked = std::cell::Cell::new(0);
    session.prepare(&|| {
        asked.set(asked.get() + 1);
        true
    });
    assert_eq!(asked.get(), 1);
}
