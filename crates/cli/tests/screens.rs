//! The screens that a person sees first: their widths, and what they say of costs that are not exact.

// Tests may panic: that is how they fail. Clippy knows that of test functions, but not of what they share.
#![allow(clippy::unwrap_used, clippy::panic)]

mod harness;

use gristmill_output::wrap::columns;
use harness::{code, corpus, folder, json, one_in, run, run_in, stderr, stdout, text};

/// `even` and `odd` call each other; only `even` is called from outside.
const CYCLE: &[u8] =
    b"events: Ir\nfn=main\n1 10\ncfn=even\ncalls=1 1\n1 90\nfn=even\n1 40\ncfn=odd\ncalls=2 1\n1 80\n\
                       fn=odd\n1 50\ncfn=even\ncalls=1 1\n1 30\n";

#[test]
fn members_of_a_cycle_have_marked_limits() {
    let folder = folder(&[("profile", CYCLE)]);
    let functions = |more: &[&str]| {
        run_in(
            folder.path(),
            &[&["functions", "--no-cycles", "--sort", "inclusive", "profile"], more].concat(),
        )
    };
    let shown = stdout(&functions(&[]));
    let inclusive = |name: &str| {
        let line = shown.lines().find(|line| line.ends_with(name)).unwrap();
        line.split_whitespace().next().unwrap().to_owned()
    };
    // All of the cycle is below `even`, and at most 80 below `odd`.
    assert_eq!(["main", "even", "odd"].map(inclusive), ["100", "90", "≤80"], "{shown}");
    let note = "\n≤ at most: calls of a recursion count what they have in common more than once";
    assert!(shown.contains(note), "{shown}");
    let json = json(&functions(&["--format", "json"]));
    let bounds: Vec<bool> = json["functions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["inclusive_is_upper_bound"].as_bool().unwrap_or(false))
        .collect();
    assert_eq!(bounds, [false, false, true]);
    let csv = stdout(&functions(&["--format", "csv"]));
    assert!(csv.lines().next().unwrap().ends_with(",inclusive is upper bound"), "{csv}");
    assert!(csv.lines().last().unwrap().ends_with(",yes"), "{csv}");

    let show = stdout(&run_in(folder.path(), &["show", "--no-cycles", "odd", "profile"]));
    assert!(
        show.contains("\nIr           ≤80  80.0    50  50.0\n") && show.contains("≤ at most: "),
        "{show}"
    );
    // As one, the cycle has no limits.
    let shown = stdout(&run_in(folder.path(), &["functions", "profile"]));
    assert!(!shown.contains('≤'), "{shown}");
}

#[test]
fn functions_that_start_the_program_share_a_row() {
    let profile = b"events: Ir\nfn=0x1000\n1 1\ncfn=(below main)\ncalls=1 1\n1 99999\nfn=(below main)\n1 2\ncfn=main\ncalls=1 1\n\
                    1 99997\nfn=main\n1 3\ncfn=run\ncalls=1 1\n1 99994\nfn=run\n1 99994\n";
    let folder = folder(&[("profile", profile)]);
    let functions = |more: &[&str]| {
        stdout(&run_in(folder.path(), &[&["functions", "--sort", "inclusive", "profile"], more].concat()))
    };
    let shown = functions(&[]);
    let row = "  100,000  100.0       6    0.0         3 that start the program: (below main), main\n";
    assert!(shown.contains(row), "{shown}");
    assert!(shown.contains("(--no-fold-start-up shows each)") && shown.contains("  run\n"), "{shown}");
    let each = functions(&["--no-fold-start-up"]);
    for name in ["0x1000", "(below main)", "main", "run"] {
        assert!(each.lines().any(|line| line.ends_with(&format!("  {name}"))), "{name}: {each}");
    }
    // Programs get each row in any case, as does who sorts by self cost.
    assert_eq!(functions(&["--format", "csv"]).lines().count(), 5);
    assert!(!functions(&["--sort", "self"]).contains("that start"));
}

/// `main` calls `load` and `save`, which call `copy`; that calls `free`.
const SHARED: &[u8] = b"events: Ir\nfn=main\n1 10\ncfn=load\ncalls=1 1\n1 50\ncfn=save\ncalls=1 1\n1 40\nfn=load\n1 20\n\
                        cfn=copy\ncalls=3 1\n1 30\nfn=save\n1 30\ncfn=copy\ncalls=1 1\n1 10\nfn=copy\n1 20\ncfn=free\n\
                        calls=4 1\n1 20\nfn=free\n1 20\n";

/// Returns the lines below the head.
fn below<'s>(shown: &'s str, title: &str) -> Vec<&'s str> {
    shown.lines().skip_while(|line| !line.contains(title)).skip(1).collect()
}

#[test]
fn hidden_functions_give_their_calls_to_their_callers() {
    let folder = folder(&[("profile", SHARED)]);
    let run = |arguments: &[&str]| {
        let output = run_in(folder.path(), arguments);
        assert_eq!(code(&output), 0, "{arguments:?}: {}", stderr(&output));
        stdout(&output)
    };
    // What `copy` costs for itself is shared 3 to 1, an estimate; so is what it calls.
    let shown = run(&["tree", "--hide", "copy", "--min", "0", "profile"]);
    let expected = [
        "100.0 100 10 main",
        "50.0 50 ~35 1 load",
        "~15.0 ~15 ~15 ~3 free",
        "40.0 40 ~35 1 save",
        "~5.0 ~5 ~5 ~1 free",
    ];
    // Without guides, and without what costs nothing.
    let words = |line: &&str| -> String {
        let words = line.split_whitespace().filter(|word| !"├└│(program)".contains(word));
        words.collect::<Vec<_>>().join(" ")
    };
    let rows = below(&shown, "Function").iter().map(words).collect::<Vec<_>>();
    let rows: Vec<&String> =
        rows.iter().filter(|row| row.ends_with(char::is_alphabetic) && !row.starts_with("0.0")).collect();
    assert_eq!(rows, expected, "{shown}");
    let shown = run(&["show", "load", "--hide", "copy", "profile"]);
    assert!(shown.contains("\nIr            50  50.0   ~35  35.0\n"), "{shown}");
    assert!(below(&shown, "Callees: 1").contains(&"   ~3   ~15  30.0  free"), "{shown}");
    // Hidden with everything it calls, it costs each caller what the calls cost.
    let shown = run(&["show", "load", "--hide", "copy|free", "profile"]);
    assert!(
        shown.contains("\nIr            50  50.0    50  50.0\n") && !shown.contains("Callees:"),
        "{shown}"
    );
    let output = run_in(folder.path(), &["show", "copy", "--hide", "copy", "profile"]);
    assert_eq!((code(&output), stderr(&output).contains("copy is hidden")), (2, true));
}

#[test]
fn the_focus_has_what_leads_there() {
    let folder = folder(&[("profile", SHARED)]);
    let shown = stdout(&run_in(folder.path(), &["tree", "--focus", "save", "--min", "0", "profile"]));
    let rows: Vec<_> = below(&shown, "Function")
        .into_iter()
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .collect();
    assert!(rows.iter().all(|row| !row.contains(&"load") || row[1] == "0"), "{shown}");
    assert!(rows.iter().any(|row| row[1] == "40" && row.contains(&"save")), "{shown}");
    let output = run_in(folder.path(), &["show", "load", "--focus", "save", "profile"]);
    assert_eq!((code(&output), stderr(&output).contains("load has no cost in the focus")), (2, true));
    let shown = stdout(&run_in(folder.path(), &["show", "main", "--focus", "save", "profile"]));
    assert!(below(&shown, "Callees: 1").contains(&"    1    40  100.0  save"), "{shown}");
}

/// `first` leads to `leaf` only by `other`, which calls it back.
const DETOUR: &[u8] =
    b"events: Ir\nfn=main\n1 5\ncfn=first\ncalls=1 0\n2 60\nfn=first\n3 10\ncfn=other\ncalls=5 0\n4 80\n\
fn=other\n5 20\ncfn=first\ncalls=4 0\n6 60\ncfn=leaf\ncalls=2 0\n7 30\nfn=leaf\n8 30\n";

#[test]
fn a_member_of_a_cycle_is_in_the_focus_that_its_cycle_leads_to() {
    let folder = folder(&[("profile", DETOUR)]);
    let output = run_in(folder.path(), &["show", "first", "--focus", "leaf", "profile"]);
    assert_eq!((code(&output), stderr(&output).as_str()), (0, ""));
    let shown = stdout(&output);
    assert!(
        shown.contains("the cycle costs ~30: self cost ~0 of its 2 members, and ~30 by their calls out")
            && shown.contains("called ~5 times by")
            && shown.contains("entered by main -> first ×~1 ~"),
        "{shown}"
    );
}

/// By hand: without `save`, which costs 40, the program costs 60. `copy` keeps the 30 of its calls by `load`.
#[test]
fn what_is_left_out_leaves_the_total() {
    let folder = folder(&[("profile", SHARED)]);
    let run = |words: &[&str]| stdout(&run_in(folder.path(), words));
    let words = ["functions", "--exclude", "save", "--format", "json", "profile"];
    let functions = json(&run_in(folder.path(), &words));
    assert_eq!(functions["totals"]["Ir"], 60);
    let rows = functions["functions"].as_array().unwrap();
    let inclusive: Vec<_> = rows
        .iter()
        .map(|row| (row["name"].as_str().unwrap(), row["inclusive"]["Ir"].as_i64().unwrap()))
        .collect();
    for expected in [("main", 60), ("load", 50), ("copy", 30)] {
        assert!(inclusive.contains(&expected), "{inclusive:?}");
    }
    assert!(inclusive.iter().all(|(name, _)| *name != "save"), "{inclusive:?}");
    let shown = run(&["show", "copy", "--exclude", "save", "profile"]);
    assert!(shown.contains("left out of all totals: save, and callees, with 40.0% of the cost"), "{shown}");
    assert!(!below(&shown, "Callers").iter().any(|line| line.contains("save")), "{shown}");
    let output = run_in(folder.path(), &["show", "save", "--exclude", "save", "profile"]);
    assert_eq!((code(&output), stderr(&output).contains("save is left out")), (2, true));
}

/// Blocks of Xdebug are invocations: nothing has to be estimated, with any function hidden or in focus.
#[test]
fn trees_of_invocations_stay_exact() {
    let file = corpus().into_iter().find(|path| text(path).ends_with("xdebug2.txt")).unwrap();
    let tree = |more: &[&str]| {
        json(&run(
            &[&["tree", "--min", "0", "--event", "Time", text(&file), "--format", "json"], more].concat()
        ))
    };
    let whole = tree(&[]);
    let name = |tree: &serde_json::Value, node: &serde_json::Value| {
        let function = usize::try_from(node["function"].as_u64().unwrap()).unwrap();
        tree["functions"][function]["name"].as_str().unwrap().to_owned()
    };
    let nodes = |tree: &serde_json::Value| tree["nodes"].as_array().unwrap().clone();
    let event = whole["event_types"][0].as_str().unwrap().to_owned();
    let sum = |tree: &serde_json::Value| {
        nodes(tree).iter().map(|node| node["self"][&event].as_i64().unwrap()).sum::<i64>()
    };
    let victim = nodes(&whole).iter().find(|node| node["depth"] == 2).map(|node| name(&whole, node)).unwrap();
    let pattern = format!("^{}$", regex::escape(&victim));
    for option in ["--hide", "--focus", "--exclude"] {
        let other = tree(&[option, &pattern]);
        assert!(other["guessed"].is_null() && other["basis"] == "exact", "{other}");
        let has = nodes(&other).iter().any(|node| name(&other, node) == victim);
        assert_eq!(has, option == "--focus");
        if option == "--hide" {
            assert_eq!(sum(&other), sum(&whole));
        } else {
            let chosen = nodes(&whole)
                .iter()
                .filter(|node| name(&whole, node) == victim)
                .map(|node| node["inclusive"][&event].as_i64().unwrap())
                .sum::<i64>();
            // What leaves the total is what the focus has.
            let expected = if option == "--focus" { chosen } else { sum(&whole) - chosen };
            assert_eq!(sum(&other), expected, "{option}");
        }
    }
}

/// Each thread has a file of its own, and the call that starts it does not state its cost.
#[test]
fn the_path_of_a_thread_has_the_recorded_costs_of_its_calls() {
    let files: Vec<_> = corpus().into_iter().filter(|path| text(path).contains("crew-sep-0")).collect();
    assert!(files.len() > 2, "{files:?}");
    let files: Vec<&str> = files.iter().map(|path| text(path)).collect();
    let formatted = |command: &[&str]| json(&run(&[command, &files, &["--format", "json"]].concat()));
    let path = formatted(&["overview"]);
    let steps = path["path"]["steps"].as_array().unwrap();
    let functions = formatted(&["functions"]);
    let inclusive = |id: &serde_json::Value| {
        let rows = functions["functions"].as_array().unwrap();
        rows.iter().find(|row| row["id"] == *id).unwrap()["inclusive"]["Ir"].clone()
    };
    assert_eq!(steps[0]["inclusive"]["Ir"], inclusive(&steps[0]["id"]));
    for pair in steps.windows(2).take_while(|pair| pair[1]["is_estimate"] == false) {
        let caller = formatted(&["show", pair[0]["name"].as_str().unwrap()]);
        let callees = caller["callees"]["rows"].as_array().unwrap();
        let callee = callees.iter().find(|row| row["id"] == pair[1]["id"]).unwrap();
        assert_eq!(pair[1]["inclusive"]["Ir"], callee["cost"]["Ir"], "{pair:?}");
    }
}

/// Lines that are not broken: commands to copy, and the name and the paths of the function that `show` is about.
fn is_whole(command: &str, nth: usize, line: &str, is_before_table: bool) -> bool {
    line.starts_with("  gristmill ")
        || command == "show" && is_before_table && (nth > 0 || line.starts_with("  file    "))
}

#[test]
fn no_line_is_wider_than_asked_for() {
    let mut tried = 0;
    for path in corpus().into_iter().step_by(one_in(5)) {
        let file = text(&path);
        let first = run(&["functions", "--limit", "1", "--format", "json", file]);
        if code(&first) != 0 {
            continue;
        }
        // The main thread of a recording by threads may have no function at all.
        let Some(name) = json(&first)["functions"][0]["name"].as_str().map(str::to_owned) else { continue };
        for width in ["60", "80", "120", "200"] {
            let most: usize = width.parse().unwrap();
            // Names of the narrowest table keep what tells them apart, even if that needs some columns more.
            let most = if width == "60" { most + 8 } else { most };
            for command in [
                &["overview", file][..],
                &["functions", file],
                &["functions", "--sort", "inclusive", file],
                &["show", "--depth", "2", &name, file],
                &["tree", file],
                &["tree", "--inverted", file],
            ] {
                let output = run(&[command, &["--width", width]].concat());
                let shown = stdout(&output);
                assert!(code(&output) < 2, "{command:?}: {}", stderr(&output));
                let mut is_before_table = true;
                for (nth, line) in shown.lines().enumerate() {
                    is_before_table &= !line.starts_with("Event ");
                    let is_wide = columns(line) > most && !is_whole(command[0], nth, line, is_before_table);
                    assert!(!is_wide, "{command:?} --width {width}: {} columns: {line}", columns(line));
                }
                tried += 1;
            }
        }
    }
    assert!(tried > 100, "{tried}");
}
