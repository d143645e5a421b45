//! Reports on a profile with inlined functions: their calls have no count, and the head says how much is certain.

#![cfg(test)]

use std::collections::BTreeMap;

use gristmill_output::Look;
use gristmill_profile::inlining::{
    AskedObject, AskedPosition, FrameSource, InlinedCall, InlinedFunction, ObjectFrames, PositionFrames,
    ProgramState,
};
use gristmill_profile::{ObjectId, Profile};
use gristmill_report::{
    Functions, FunctionsOptions, Grouping, Report, Show, ShowOptions, SubjectId, Tree, TreeOptions, View,
    ViewOptions, inlining_notes,
};

/// The program `mill`: line 5 is `turn`, inlined at line 17; line 6 is `turn` or `push`, inlined into it; line 9 is not known.
struct Mill;

impl FrameSource for Mill {
    fn frames(&self, object: &AskedObject<'_>) -> ObjectFrames {
        if object.path != b"/bin/mill" {
            let program = if object.path == b"/lib/libc.so.6" {
                ProgramState::NoDebugInformation
            } else {
                ProgramState::Missing
            };
            return ObjectFrames { program, ..ObjectFrames::default() };
        }
        let function = |name: &str| InlinedFunction { name: name.into(), file: Some(0), compiled: None };
        let call = |callee, line| InlinedCall { callee, file: Some(0), line: Some(line) };
        let file = Some(0);
        let at = |is_main: bool, position: &AskedPosition<'_>| match position.line.filter(|_| is_main) {
            Some(5) => PositionFrames::Exact { chain: 1, file },
            Some(6) => PositionFrames::Several { chains: vec![(1, 1), (2, 1)], file },
            Some(9) => PositionFrames::Unknown,
            _ => PositionFrames::Exact { chain: 0, file },
        };
        let positions = object.functions.iter().map(|function| {
            let is_main = function.name == b"main";
            function.positions.iter().map(|position| at(is_main, position)).collect()
        });
        ObjectFrames {
            program: ProgramState::Usable,
            functions: vec![function("turn"), function("push")],
            files: vec![b"mill.c".to_vec()],
            chains: vec![vec![], vec![call(0, 17)], vec![call(0, 17), call(1, 6)]],
            positions: positions.collect(),
        }
    }
}

const MILL: &str = "events: Ir\nob=/bin/mill\nfl=mill.c\nfn=main\n16 10\n5 40\n6 20\n9 5\n\
    cob=/lib/libc.so.6\ncfi=read.c\ncfn=read\ncalls=3 1\n5 15\n\
    cfi=mill.c\ncfn=turn\ncalls=2 1\n16 10\nfn=turn\n5 8\n16 2\n\
    ob=/lib/libc.so.6\nfl=read.c\nfn=read\n1 10\ncob=/lib/ld.so\ncfi=???\ncfn=bind\ncalls=1 1\n1 5\n\
    ob=/lib/ld.so\nfl=???\nfn=bind\n1 5\n";

fn view() -> View {
    let profile = Profile::from_bytes(MILL).with_inlined(&Mill).unwrap();
    View::new(profile, &ViewOptions::default()).unwrap()
}

fn text(report: &impl Report) -> String {
    let mut out = Vec::new();
    report.write_text(&Look::plain(100), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn json(report: &impl Report) -> serde_json::Value {
    let mut out = Vec::new();
    report.write_json(&mut out).unwrap();
    serde_json::from_slice(&out).unwrap()
}

fn csv(report: &impl Report) -> String {
    let mut out = Vec::new();
    report.write_csv(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn find(view: &View, name: &str) -> SubjectId {
    view.subjects().find(|(_, subject)| subject.name() == name).unwrap().0
}

#[test]
fn functions_have_no_count_of_inlined_calls() {
    let view = view();
    let functions = Functions::new(&view, &FunctionsOptions::default());
    let text = text(&functions);
    // Of 100: `turn` has 40 + 10 + 8, `push` 10; `main` keeps 10 + 5, and `turn` 2 of its own.
    let expected = "inlined functions have 60.0% of Ir; which function has it is an estimate for 20.0%; \
        inlined calls have no count: `inlined`, or `+` beside recorded ones";
    let unwrapped = text.replace("\n  ", " ");
    assert!(unwrapped.contains(expected), "{text}");
    assert!(
        unwrapped.contains(
            "20.0% of Ir stays as recorded: libc.so.6 (no debug information), mill (some code was not found or has no \
             debug information), ld.so (program not found)"
        ),
        "{text}"
    );
    assert!(text.contains("2+  turn (mill.c"), "{text}");
    assert!(text.contains("inlined  push (mill.c"), "{text}");

    let json = json(&functions);
    let row = |name: &str| {
        let rows = json["functions"].as_array().unwrap();
        rows.iter().find(|row| row["name"] == name).unwrap().clone()
    };
    assert_eq!(
        (row("turn")["calls"].clone(), row("turn")["recorded_calls"].clone()),
        (serde_json::Value::Null, 2.into())
    );
    assert_eq!(
        (row("push")["calls"].clone(), row("push")["recorded_calls"].clone()),
        (serde_json::Value::Null, 0.into())
    );
    assert_eq!(row("read")["calls"], 3);
    assert!(row("read").get("recorded_calls").is_none());
    assert!(csv(&functions).contains("10,10,,,push,"), "{}", csv(&functions));

    let options =
        FunctionsOptions { grouping: Grouping::File, per_call: true, ..FunctionsOptions::default() };
    let groups = Functions::new(&view, &options);
    // The inlined calls are inside of the file.
    assert_eq!(groups.rows().find(|row| row.name == "mill.c").unwrap().calls.exact(), Some(0));
}

/// A profile with inlined functions has its objects in another order than the recording.
#[test]
fn objects_that_stay_as_recorded_are_named() {
    let text = "events: Ir\nob=/bin/mill\nfl=mill.c\nfn=main\n5 40\ncob=/lib/libc.so.6\ncfi=read.c\ncfn=read\ncalls=1 1\n5 10\n\
        16 5\ncob=/lib/libm.so\ncfi=m.c\ncfn=sin\ncalls=1 1\n16 5\nob=/lib/libc.so.6\nfl=read.c\nfn=read\n1 10\n\
        ob=/lib/libm.so\nfl=m.c\nfn=sin\n1 5\n";
    let recorded = Profile::from_bytes(text);
    let profile = recorded.with_inlined(&Mill).unwrap();
    let objects = |profile: &Profile| -> BTreeMap<ObjectId, Vec<u8>> {
        let objects = profile.functions().map(|id| profile.function(id).object);
        objects.map(|id| (id, profile.object(id).to_vec())).collect()
    };
    assert!(objects(&recorded).values().ne(objects(&profile).values()));
    assert_eq!(
        inlining_notes(&profile)[1],
        "25.0% of Ir stays as recorded: libc.so.6 (no debug information), libm.so (program not found)"
    );
}

#[test]
fn callers_and_lines_have_no_count_of_inlined_calls() {
    let view = view();
    let show = |name: &str| {
        let options = ShowOptions { function: find(&view, name), depth: 2, lines: None, limit: None };
        Show::new(&view, &options).unwrap()
    };
    let turn = show("turn");
    assert!(
        text(&turn).contains("called 2 times, and inlined, by 1 function, calls 2 functions"),
        "{}",
        text(&turn)
    );
    let callers = json(&turn)["callers"]["rows"].clone();
    assert_eq!(
        (callers[0]["calls"].clone(), callers[0]["recorded_calls"].clone()),
        (serde_json::Value::Null, 2.into())
    );
    let main = text(&show("main"));
    let line = main.lines().find(|line| line.contains("turn inlined")).unwrap_or_default();
    assert!(!line.is_empty(), "{main}");
    assert!(main.contains("×2"), "{main}");
    assert!(text(&show("push")).contains("inlined by 1 function, calls nothing"), "{}", text(&show("push")));
    assert!(csv(&turn).contains("caller,1,,"), "{}", csv(&turn));
}

#[test]
fn nodes_of_a_tree_have_no_count_of_inlined_calls() {
    let view = view();
    let options = TreeOptions { min_share: 0, splits_chains: true, ..TreeOptions::default() };
    let tree = Tree::new(&view, &options);
    let calls: Vec<String> = tree
        .nodes
        .iter()
        .map(|node| format!("{} {}", tree.entries[node.entry].name, node.calls.text()))
        .collect();
    assert_eq!(calls, ["(program) 0", "main 0", "turn 2+", "read 3", "bind 1", "push inlined"]);
    assert!(text(&tree).contains("inlined"), "{}", text(&tree));
    let inverted = Tree::new(&view, &TreeOptions { inverted: true, ..options });
    let turn = inverted.nodes.iter().find(|node| inverted.entries[node.entry].name == "turn").unwrap();
    assert_eq!(turn.calls.text(), "2+");
}

#[test]
fn a_profile_without_inlined_functions_has_no_remark() {
    let view = View::new(Profile::from_bytes(MILL), &ViewOptions::default()).unwrap();
    assert_eq!(gristmill_report::Head::new(&view).notes, [""; 0]);
}
