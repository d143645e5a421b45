//! Answers have the numbers of the reports behind them.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use std::sync::Arc;

use gristmill_answers::{Answer, FunctionsPage, NoFiles, Request, Session};
use gristmill_profile::Profile;
use gristmill_report::{Functions, FunctionsOptions, SortBy, View, ViewOptions};
use serde_json::{Value, json};

/// By call: `once` 90, `often` 4.5, `mid` 4; `main` is not called. By file: a.c has main and often, b.c the others.
const TEXT: &str = "events: Ir\n\
                    ob=mill\nfl=a.c\nfn=main\n1 10\n\
                    cfi=b.c\ncfn=once\ncalls=1 1\n2 90\n\
                    cfi=a.c\ncfn=often\ncalls=20 1\n3 90\n\
                    cfi=b.c\ncfn=mid\ncalls=5 1\n4 20\n\
                    fl=b.c\nfn=once\n1 90\nfn=mid\n1 20\n\
                    fl=a.c\nfn=often\n1 90\n";

fn session(text: &str) -> Session {
    Session::new(Arc::new(Profile::from_bytes(text.as_bytes().to_vec())), Box::new(NoFiles))
}

fn ask(session: &Session, question: Value) -> Result<Answer, String> {
    ask_in(session, json!({}), question)
}

fn ask_in(session: &Session, scope: Value, question: Value) -> Result<Answer, String> {
    let request: Request = serde_json::from_value(json!({"scope": scope, "question": question})).unwrap();
    session.answer(&request, &|| false).map_err(|refusal| refusal.to_string())
}

/// Asks for functions, with more members of the question.
fn functions(session: &Session, more: Value) -> FunctionsPage {
    let mut question =
        json!({"kind": "functions", "group": "function", "sort": "self_cost", "start": 0, "count": 100});
    question.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    match ask(session, question) {
        Ok(Answer::Functions(page)) => page,
        other => panic!("{other:?}"),
    }
}

fn names(page: &FunctionsPage) -> Vec<&str> {
    page.rows.iter().map(|row| row.name.as_str()).collect()
}

#[test]
fn a_page_is_a_slice_of_the_report() {
    let session = session(TEXT);
    let view = View::new(Profile::from_bytes(TEXT.as_bytes().to_vec()), &ViewOptions::default()).unwrap();
    let sorts = [
        ("self_cost", SortBy::SelfCost),
        ("inclusive", SortBy::Inclusive),
        ("calls", SortBy::Calls),
        ("name", SortBy::Name),
    ];
    for (name, sort) in sorts {
        let report = Functions::new(&view, &FunctionsOptions { sort, ..FunctionsOptions::default() });
        let whole: Vec<_> = report.rows().map(|row| row.into_owned()).collect();
        for start in 0..6 {
            for count in 0..6 {
                let page = functions(&session, json!({"sort": name, "start": start, "count": count}));
                let expected = whole.iter().skip(start).take(count);
                assert!(page.rows.iter().eq(expected), "{name} {start} {count}");
                assert_eq!((page.all, page.matched[0]), (4, 210), "{name}");
            }
        }
    }
}

#[test]
fn pages_have_orders_that_no_report_has() {
    let session = session(TEXT);
    let by = |sort: &str| functions(&session, json!({"sort": sort}));
    assert_eq!(names(&by("per_call")), ["once", "often", "mid", "main"]);
    assert_eq!(names(&by("file")), ["main", "often", "mid", "once"]);
    assert_eq!(names(&by("object")), ["main", "mid", "often", "once"]);
    let least = functions(&session, json!({"sort": "per_call", "ascending": true}));
    assert_eq!(names(&least), ["main", "mid", "often", "once"]);
}

#[test]
fn a_page_has_functions_of_a_group_or_pattern() {
    let session = session(TEXT);
    let page = functions(&session, json!({"within": {"group": "file", "name": "b.c"}}));
    assert_eq!((names(&page), page.matched[0]), (vec!["once", "mid"], 110));
    let page = functions(&session, json!({"filter": "^O"}));
    assert_eq!((page.all, page.matched[0]), (0, 0));
    let page = functions(&session, json!({"filter": "^o"}));
    assert_eq!((page.all, page.matched[0]), (2, 180));
    let files = functions(&session, json!({"group": "file"}));
    assert_eq!((names(&files), files.matched[0]), (vec!["b.c", "a.c"], 210));
}

#[test]
fn functions_are_found_by_their_whole_name_and_by_a_part() {
    let session = session(TEXT);
    let find = |name: &str| match ask(
        &session,
        json!({"kind": "find", "name": name, "file": "b.c", "object": "mill"}),
    ) {
        Ok(Answer::Found(found)) => found.function,
        other => panic!("{other:?}"),
    };
    let once = find("once").expect("it is there");
    assert_eq!(find("main"), None);
    let Ok(Answer::Function(show)) =
        ask(&session, json!({"kind": "function", "function": once, "depth": 1, "limit": 5}))
    else {
        panic!("no function")
    };
    assert_eq!((show.function.name.as_str(), show.callers.rows[0].cost[0]), ("once", 90));
    let Ok(Answer::Search(found)) = ask(&session, json!({"kind": "search", "text": ".c", "limit": 9})) else {
        panic!("no results")
    };
    // The text is no pattern: no function has a point in its name.
    assert_eq!((found.all, found.files, found.objects), (0, vec!["a.c".into(), "b.c".into()], Vec::new()));
}

#[test]
fn a_search_has_whole_names_before_expensive_ones() {
    let session = session(
        "events: Ir\nfn=main_loop\n1 500\nfn=(below main)\n1 400\nfn=remain\n1 300\nfn=Main(int)\n1 2\nfn=main\n1 1\nfn=main'2\n1 3\n",
    );
    let search = |text: &str, limit: usize| {
        let question = json!({"kind": "search", "text": text, "limit": limit});
        let Ok(Answer::Search(found)) = ask(&session, question) else { panic!("no results") };
        (found.all, found.functions.into_iter().map(|row| row.name).collect::<Vec<_>>())
    };
    let by_name = ["main'2", "Main(int)", "main", "main_loop", "(below main)", "remain"];
    assert_eq!(search("main", 9), (6, by_name.map(str::to_owned).to_vec()));
    assert_eq!(search("main", 4), (6, by_name[..4].iter().map(|&name| name.to_owned()).collect()));
    assert_eq!(search("mai", 2).1, ["main_loop", "(below main)"]);
    assert_eq!(search("", 2).1, ["main_loop", "(below main)"]);
}

#[test]
fn what_the_profile_lacks_is_refused_with_a_sentence() {
    let session = session(TEXT);
    let refused = |scope, question| ask_in(&session, scope, question).unwrap_err();
    let function = json!({"kind": "function", "function": 4, "depth": 1, "limit": 1});
    assert!(refused(json!({}), function).starts_with("there is no function with the id 4"));
    let search = |text: &str| json!({"kind": "search", "text": text, "is_pattern": true, "limit": 1});
    assert_eq!(refused(json!({}), search("(")), "`(` is not a valid pattern: unclosed group");
    assert!(refused(json!({"events": ["Dr"]}), search("a")).contains("Dr"));
    assert!(refused(json!({"parts": "7"}), search("a")).len() > 10);
    assert!(
        refused(json!({}), json!({"kind": "assembly", "function": 0})).starts_with("no cost has the address")
    );
    let request: Request = serde_json::from_value(json!({"question": search("a")})).unwrap();
    assert_eq!(session.answer(&request, &|| true).unwrap_err().to_string(), "the question was cancelled");
}
