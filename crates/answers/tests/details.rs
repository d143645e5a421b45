//! Summary, sources, parts, findings and changes have the numbers of the profile.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use std::sync::Arc;

use gristmill_answers::{Answer, FileWork, Files, NoFiles, Request, Session, Source};
use gristmill_output::source::{SourceError, SourceText, Sources};
use gristmill_profile::Profile;
use serde_json::{Value, json};

const TEXT: &str = "events: Ir Dr\ncmd: mill rye\npart: 1\nfl=mill.c\nfn=main\n0 1 0\n3 10 4\njcnd=2/5 5\n3\n5 2 0\ncfn=grind\n\
                    calls=3 1\n5 60 20\nfn=grind\nfi=stone.h\n7 60 20\ntotals: 73 24\n\
                    part: 2\nthread: 2\ndesc: Trigger: dump\nevents: Ir Dr\nfl=mill.c\nfn=main\n3 1 1\ntotals: 1 1\n";

/// `mill.c` is there, nothing else.
struct Mill;

impl Sources for Mill {
    fn get(&self, path: &[u8]) -> Result<Arc<SourceText>, SourceError> {
        let text = b"#include <stone.h>\n\nint rye = 1; // \x1b[2J\n\n\tgrind();\n".to_vec();
        let found = SourceText { found_at: "/src/mill.c".into(), text, ..SourceText::default() };
        if path == b"mill.c" { Ok(Arc::new(found)) } else { Err(SourceError::Missing) }
    }
}

impl Files for Mill {
    fn with(&self, work: FileWork) {
        work(self, &NoFiles);
    }
}

fn profile(text: &str) -> Arc<Profile> {
    Arc::new(Profile::from_bytes(text.as_bytes().to_vec()))
}

fn ask(session: &Session, scope: Value, question: Value) -> Result<Answer, String> {
    let request: Request = serde_json::from_value(json!({"scope": scope, "question": question})).unwrap();
    session.answer(&request, &|| false).map_err(|refusal| refusal.to_string())
}

fn source(session: &Session, question: Value) -> Source {
    let mut whole = json!({"kind": "source"});
    whole.as_object_mut().unwrap().extend(question.as_object().unwrap().clone());
    match ask(session, json!({}), whole) {
        Ok(Answer::Source(source)) => *source,
        other => panic!("{other:?}"),
    }
}

fn costs(source: &Source) -> Vec<(u64, Option<i128>, Option<i128>)> {
    let first = |costs: Option<&gristmill_output::json::Costs>| costs.map(|costs| costs[0]);
    source
        .lines
        .iter()
        .map(|line| (line.line, first(line.self_costs.as_ref()), first(line.inclusive.as_ref())))
        .collect()
}

#[test]
fn source_has_all_text_and_the_costs_of_the_function() {
    let session = Session::new(profile(TEXT), Box::new(Mill));
    let main = source(&session, json!({"function": 0}));
    assert_eq!((main.shown, main.files[0].path.as_str(), main.without_line[0]), (Some(0), "mill.c", 1));
    assert_eq!(main.files[0].found_at.as_deref(), Some("/src/mill.c"));
    let expected =
        [(1, None, None), (2, None, None), (3, Some(11), Some(11)), (4, None, None), (5, Some(2), Some(62))];
    assert_eq!(costs(&main), expected);
    let [jump] = &main.lines[2].jumps[..] else { panic!("{:?}", main.lines[2]) };
    assert_eq!((jump.to, jump.taken.0, jump.executed.unwrap().0), (5, 2, 5));
    assert_eq!(main.lines[4].calls[0].name, "grind");
    let spans: Vec<_> = main.lines[2].text.iter().map(|span| (span.kind, span.text.as_str())).collect();
    assert_eq!(spans[0], ("type", "int"));
    // Control characters of a source file never reach a page as they are.
    assert_eq!(*spans.last().unwrap(), ("comment", "// \\x1b[2J"));
    assert_eq!(main.lines[4].text[0].text, "\t");
}

#[test]
fn source_without_text_has_the_lines_with_costs() {
    let session = Session::new(profile(TEXT), Box::new(Mill));
    let grind = source(&session, json!({"function": 1}));
    assert_eq!(
        (grind.files[0].found_at.as_deref(), grind.files[0].remark.as_deref()),
        (None, Some("not found"))
    );
    assert_eq!(costs(&grind), [(7, Some(60), Some(60))]);
    let whole = source(&session, json!({"file": "mill.c"}));
    assert_eq!((whole.lines.len(), costs(&whole)[2]), (5, (3, Some(11), Some(11))));
    let refused = ask(&session, json!({}), json!({"kind": "source", "file": "/etc/passwd"})).unwrap_err();
    assert_eq!(refused, "the profile has no source file `/etc/passwd`");
    assert!(ask(&session, json!({}), json!({"kind": "source"})).unwrap_err().contains("choose a function"));
}

#[test]
fn parts_are_listed_whether_or_not_they_are_selected() {
    let session = Session::new(profile(TEXT), Box::new(NoFiles));
    let Ok(Answer::Parts(parts)) = ask(&session, json!({"parts": "2"}), json!({"kind": "parts"})) else {
        panic!()
    };
    let rows: Vec<_> = parts
        .parts
        .iter()
        .map(|part| (part.part, part.thread, part.self_costs[0], part.is_selected))
        .collect();
    assert_eq!(rows, [(Some(1), None, 73, false), (Some(2), Some(2), 1, true)]);
    assert_eq!((parts.parts[1].trigger.as_deref(), parts.head.totals[0]), (Some("dump"), 1));
}

#[test]
fn a_summary_says_what_there_is() {
    let session = Session::new(profile(TEXT), Box::new(NoFiles));
    let scope = json!({"derive": ["Both = Ir + Dr"], "events": ["Both"]});
    let Ok(Answer::Summary(summary)) = ask(&session, scope, json!({"kind": "summary"})) else { panic!() };
    let types: Vec<_> = summary
        .event_types
        .iter()
        .map(|it| (it.column.name.as_str(), it.total.as_ref().map(|total| total.0)))
        .collect();
    assert_eq!(types[..3], [("Ir", Some(74)), ("Dr", Some(25)), ("Both", Some(99))]);
    assert_eq!((summary.functions, summary.calls, summary.head.title.as_str()), (2, 1, "mill rye"));
    let has = summary.has;
    assert!(has.calls && has.call_counts && has.lines && has.several_parts && !has.addresses && !has.files);
    assert!(!has.inlined);
    assert_eq!(summary.files[0].bytes, TEXT.len() as u64);
}

#[test]
fn findings_are_those_of_lint() {
    let session = Session::new(profile("events: Ir\nfn=main\n1 x\n2 y\n"), Box::new(NoFiles));
    let Ok(Answer::Findings(findings)) = ask(&session, json!({}), json!({"kind": "findings", "limit": 9}))
    else {
        panic!()
    };
    assert_eq!((findings.rows[0].severity, findings.rows[0].line), ("error", 3));
    assert!(findings.verdict.contains("not valid"), "{}", findings.verdict);
    assert!(findings.rules[0].count == 2 && findings.all >= 2);
}

#[test]
fn changes_are_those_of_diff() {
    let base = profile("events: Ir\nfl=mill.c\nfn=grind\n5 100\n");
    let new = profile("events: Ir\nfl=mill.c\nfn=grind\n5 130\n");
    let session = Session::new(new, Box::new(NoFiles)).with_base(base);
    let json_of = |scope: Value, question: Value| {
        let answer = ask(&session, scope, question)?;
        Ok::<Value, String>(serde_json::to_value(&answer).unwrap())
    };
    let question = json!({"kind": "changes", "group": "function", "sort": "self_change", "limit": 5});
    let changes = json_of(json!({}), question.clone()).unwrap();
    assert_eq!(changes["functions"][0]["name"], "grind");
    assert_eq!(changes["causes"][0]["text"], "grind costs more by itself: 100 → 130 (+30.00%)");
    let tree = json_of(json!({}), json!({"kind": "changes_tree", "min_share": 0, "limit": 50})).unwrap();
    assert!(tree["nodes"].as_array().unwrap().len() >= 2, "{tree}");
    let function =
        json_of(json!({}), json!({"kind": "changed_function", "function": {"name": "grind"}})).unwrap();
    assert!(function.to_string().contains("mill.c"), "{function}");
    assert!(json_of(json!({"focus": "grind"}), question.clone()).unwrap_err().contains("focus"));
    let Ok(Answer::Summary(summary)) = ask(&session, json!({}), json!({"kind": "summary"})) else { panic!() };
    assert_eq!(summary.base.as_ref().unwrap().files.len(), 1);

    let alone = Session::new(profile(TEXT), Box::new(NoFiles));
    assert!(ask(&alone, json!({}), question).unwrap_err().contains("--base"));
}

/// A server holds a whole answer, and a profile may have millions of functions.
#[test]
fn lists_about_a_function_have_a_limit() {
    let count = 10_500;
    let callees: String = (0..count).map(|nth| format!("cfn=f{nth}\ncalls=1 1\n1 1\n")).collect();
    let text = format!("events: Ir\nfl=a.c\nfn=main\n1 1\n{callees}");
    let session = Session::new(profile(&text), Box::new(NoFiles));
    let question = json!({"kind": "function", "function": 0, "depth": 1, "limit": usize::MAX});
    let Ok(Answer::Function(show)) = ask(&session, json!({}), question) else { panic!("no answer") };
    let show = serde_json::to_value(show).unwrap();
    assert_eq!(show["callees"]["all"], count);
    assert_eq!(show["callees"]["rows"].as_array().unwrap().len(), 10_000);
}
