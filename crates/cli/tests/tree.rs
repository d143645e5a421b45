//! `gristmill tree`: its text against goldens, its JSON against the schema, its sums by hand and against the totals.
//!
//! `BLESS=1` writes the goldens again. `GRISTMILL_CORPUS` may name a folder with more profiles.

// Tests may panic: that is how they fail. Clippy knows that of test functions, but not of what they share.
#![allow(clippy::unwrap_used, clippy::panic)]

mod harness;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

use harness::{
    MAX_SIZE, assert_valid, code, folder, golden, json, one_in, run, run_in, schema, small_files, stderr,
    stdout, text, whole,
};

fn blessed(name: &str, arguments: &[&str]) {
    harness::blessed("tree", name, arguments);
}

#[test]
fn text_by_basis() {
    blessed("estimate", &["callgrind/callgrind.out.mill"]);
    blessed("recursion", &["--fold-recursion", "callgrind/callgrind.out.recs"]);
    blessed("callers", &["callgrind/callgrind.out.callers-recs"]);
    blessed("exact", &["dialects/xdebug2.txt", "-e", "Memory,Time"]);
    blessed("no-calls", &["cachegrind/cachegrind.out.mill", "-n", "8"]);
    blessed("go-pprof", &["dialects/go-pprof.txt"]);
    blessed("difference", &["cachegrind/cachegrind.diff", "-n", "8"]);
}

/// Before, the function that nothing calls was shown although it was hidden, with "functions are side by side".
#[test]
fn no_hidden_function_is_left() {
    for options in [&["--hide", ".*"][..], &["--hide", ".*", "--inverted"]] {
        let file = ["callgrind/callgrind.out.mill"];
        let shown =
            stdout(&run_in(&harness::root().join("corpus"), &[&["tree"], options, &file[..]].concat()));
        assert!(shown.contains("no function is selected or left\n"), "{shown}");
        assert_eq!(shown.lines().filter(|line| line.starts_with("100.0")).count(), 1, "{shown}");
        assert!(shown.ends_with("  (program)\n"), "{shown}");
    }
}

#[test]
fn text_by_options() {
    blessed("from", &["callgrind/callgrind.out.mill", "--from", "shift", "--min", "5"]);
    blessed("from-exact", &["dialects/memprof.txt", "--from", "Mill::open"]);
    blessed(
        "from-callers",
        &["callgrind/callgrind.out.callers-recs", "--fold-callers", "--from", "sort_grains"],
    );
    blessed("inverted", &["callgrind/callgrind.out.mill", "--from", "by_weight", "--inverted"]);
    blessed("bottom-up", &["callgrind/callgrind.out.mill", "--inverted"]);
    blessed("bottom-up-exact", &["dialects/xdebug2.txt", "--inverted", "-e", "Time,Memory"]);
    blessed("bottom-up-callers", &["callgrind/callgrind.out.callers-recs", "--inverted", "-n", "20"]);
    blessed("bottom-up-cycle", &["python/callgrind.out.pyprof2calltree", "--inverted", "-n", "12"]);
    blessed("inverted-exact", &["dialects/xdebug2.txt", "--from", "Mill::fill", "--inverted"]);
    blessed("events", &["callgrind/callgrind.out.cache-branch", "-e", "Ir,Dr,CEst", "--depth", "5"]);
    blessed("cut", &["callgrind/callgrind.out.recs", "--cut", "sort_grains -> sort_grains'2", "--min", "10"]);
    blessed("cycle", &["python/callgrind.out.pyprof2calltree", "-n", "12"]);
    blessed("csv", &["dialects/xdebug2.txt", "--format", "csv"]);
    blessed("markdown", &["dialects/xdebug2.txt", "--format", "markdown"]);
    blessed("json", &["dialects/xdebug2.txt", "--format", "json"]);
}

/// `main` calls `a` twice and `b` once. `a` calls `shared` three times for 30, `b` once for 10.
const SHARED: &[u8] = b"events: Ir Dr\nfn=main\n1 1 10\ncfn=a\ncalls=2 1\n2 32 7\ncfn=b\ncalls=1 1\n3 13 5\n\
    fn=a\n1 2 1\ncfn=shared\ncalls=3 1\n2 30 6\nfn=b\n1 3 2\ncfn=shared\ncalls=1 1\n2 10 3\nfn=shared\n1 40 9\n";

/// The stacks of a tree with what is asked of their nodes.
fn by_stack(json: &Value, of: impl Fn(&Value) -> i64) -> BTreeMap<String, i64> {
    let nodes = json["nodes"].as_array().unwrap();
    let mut stacks: Vec<String> = Vec::new();
    let mut found = BTreeMap::new();
    for (place, node) in nodes.iter().enumerate() {
        let function = usize::try_from(node["function"].as_u64().unwrap()).unwrap();
        let name = json["functions"][function]["name"].as_str().unwrap();
        let stack = match node["parent"].as_u64() {
            None => name.to_owned(),
            Some(parent) => {
                let parent = usize::try_from(parent).unwrap();
                assert!(parent < place);
                assert_eq!(node["depth"], nodes[parent]["depth"].as_u64().unwrap() + 1);
                format!("{};{name}", stacks[parent])
            }
        };
        assert_eq!(found.insert(stack.clone(), of(node)), None, "{stack} is there twice");
        stacks.push(stack);
    }
    found
}

fn map<const N: usize>(pairs: [(&str, i64); N]) -> BTreeMap<String, i64> {
    pairs.into_iter().map(|(stack, cost)| (stack.to_owned(), cost)).collect()
}

fn tree_of(bytes: &[u8], arguments: &[&str]) -> Value {
    let folder = folder(&[("profile", bytes)]);
    let arguments = [&["tree", "profile", "--format", "json", "--min", "0"], arguments].concat();
    let output = run_in(folder.path(), &arguments);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    json(&output)
}

#[test]
fn an_estimate_by_hand() {
    let tree = tree_of(SHARED, &[]);
    assert_eq!(tree["basis"], "estimate");
    let inclusive = by_stack(&tree, |node| node["inclusive"]["Ir"].as_i64().unwrap());
    // `shared` cost 40, which its callers share as 30 to 10: so `a` has 2 + 30 and `b` 3 + 10.
    let expected = map([
        ("(program)", 46),
        ("(program);main", 46),
        ("(program);main;a", 32),
        ("(program);main;a;shared", 30),
        ("(program);main;b", 13),
        ("(program);main;b;shared", 10),
    ]);
    assert_eq!(inclusive, expected);
    // The arcs state these costs, and `shared` calls nothing.
    assert_eq!(tree["guessed"], serde_json::json!({ "Ir": 0, "Dr": 0 }));
    // A derived event type is divided as recorded ones are: 30 + 6 to 10 + 3 of 40 + 9.
    let tree = tree_of(SHARED, &["--derive", "Sum = Ir + Dr", "-e", "Sum"]);
    let shared = by_stack(&tree, |node| node["inclusive"]["Sum"].as_i64().unwrap());
    assert_eq!(shared["(program);main;a;shared"] + shared["(program);main;b;shared"], 49);
    assert_eq!(shared["(program);main;a;shared"], 36);
}

/// `f` has two callers and calls `g` 100 times. Nothing tells for whom, also if no cost is divided.
#[test]
fn counts_that_are_estimates_are_marked() {
    let profile = "events: Ir DLmw
fn=main\n1 10 7\ncfn=a\ncalls=1 1\n1 100 0\ncfn=b\ncalls=1 1\n1 50 0
fn=a\n1 10 0\ncfn=f\ncalls=100 1\n1 90 0
fn=b\n1 10 0\ncfn=f\ncalls=100 1\n1 40 0
fn=f\n1 30 0\ncfn=g\ncalls=100 1\n1 100 0
fn=g\n1 100 0\n";
    for (event, says_all) in [("DLmw", true), ("Ir", false)] {
        let tree = tree_of(profile.as_bytes(), &["-e", event]);
        let guessed = by_stack(&tree, |node| node["calls_guessed"].as_bool().unwrap_or(false).into());
        let expected = map([
            ("(program)", 0),
            ("(program);main", 0),
            ("(program);main;a", 0),
            ("(program);main;a;f", 0),
            ("(program);main;a;f;g", 1),
            ("(program);main;b", 0),
            ("(program);main;b;f", 0),
            ("(program);main;b;f;g", 1),
        ]);
        assert_eq!(guessed, expected, "{event}");
        let folder = folder(&[("profile", profile.as_bytes())]);
        let words = ["tree", "profile", "-e", event, "--min", "0", "--no-chains"];
        let shown = stdout(&run_in(folder.path(), &words));
        assert!(!shown.contains("nothing of it is an estimate"), "{shown}");
        assert_eq!(shown.contains("call tree, no cost of it is an estimate;\n"), says_all, "{shown}");
        assert_eq!(shown.matches(" ~50 ").count(), 2, "{shown}");
    }
}

/// Before, the tree had the number without the mark that the list of functions has.
#[test]
fn a_cost_that_is_a_limit_is_marked() {
    let profile = b"events: Ir\nfn=root\n1 15\ncfn=a\ncalls=1 1\n1 200\nfn=a\n1 100\n";
    let tree = tree_of(profile, &[]);
    let marked: Vec<bool> = tree["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|node| node["inclusive_is_upper_bound"] == Value::Bool(true))
        .collect();
    assert_eq!(marked, [false, true, false]);
    let folder = folder(&[("profile", profile)]);
    let shown = stdout(&run_in(folder.path(), &["tree", "profile"]));
    assert!(shown.contains("\n≤ at most the total: the costs of its calls add up to more\n"), "{shown}");
    assert!(shown.contains(" ≤115 ") && !shown.contains("≤100"), "{shown}");
}

#[test]
fn an_inverted_estimate_by_hand() {
    let tree = tree_of(SHARED, &["--from", "shared", "--inverted"]);
    let cost = by_stack(&tree, |node| node["inclusive"]["Ir"].as_i64().unwrap());
    let expected =
        [("shared", 40), ("shared;a", 30), ("shared;a;main", 30), ("shared;b", 10), ("shared;b;main", 10)];
    assert_eq!(cost, map(expected));
    // `a` and `b` are called by `main` only, so nothing is a guess.
    assert_eq!(tree["guessed"]["Ir"], 0);
    let calls = by_stack(&tree, |node| node["calls"].as_i64().unwrap());
    assert_eq!((calls["shared"], calls["shared;a"], calls["shared;a;main"]), (4, 3, 2));
}

#[test]
fn bottom_up_by_hand() {
    let tree = tree_of(SHARED, &["--inverted"]);
    let cost = by_stack(&tree, |node| node["inclusive"]["Ir"].as_i64().unwrap());
    // The self costs are 1, 2, 3 and 40, and the callers of `shared` state 30 and 10 of these.
    let expected = [
        ("(program)", 46),
        ("(program);shared", 40),
        ("(program);shared;a", 30),
        ("(program);shared;a;main", 30),
        ("(program);shared;b", 10),
        ("(program);shared;b;main", 10),
        ("(program);b", 3),
        ("(program);b;main", 3),
        ("(program);a", 2),
        ("(program);a;main", 2),
        ("(program);main", 1),
    ];
    assert_eq!(cost, map(expected));
    assert_eq!(
        (&tree["inverted"], &tree["from"], &tree["guessed"]["Ir"]),
        (&true.into(), &Value::Null, &0.into())
    );
    let calls = by_stack(&tree, |node| node["calls"].as_i64().unwrap());
    assert_eq!(
        (calls["(program);shared"], calls["(program);shared;a"], calls["(program);shared;a;main"]),
        (4, 3, 2)
    );
    // Derived costs are divided as recorded ones are: 36 and 13 of 49.
    let tree = tree_of(SHARED, &["--inverted", "--derive", "Sum = Ir + Dr", "-e", "Sum"]);
    let sum = by_stack(&tree, |node| node["inclusive"]["Sum"].as_i64().unwrap());
    assert_eq!((sum["(program)"], sum["(program);shared"], sum["(program);shared;a"]), (68, 49, 36));

    let tree = tree_of(INVOCATIONS, &["--inverted", "-e", "Ir"]);
    let cost = by_stack(&tree, |node| node["inclusive"]["Ir"].as_i64().unwrap());
    let expected = [
        ("(program)", 23),
        ("(program);read", 12),
        ("(program);read;parse", 7),
        ("(program);read;parse;main", 7),
        ("(program);read;main", 5),
        ("(program);parse", 10),
        ("(program);parse;main", 10),
        ("(program);main", 1),
    ];
    assert_eq!((tree["basis"].as_str(), cost), (Some("exact"), map(expected)));

    // Every format has it, and the first line says what it is.
    let folder = folder(&[("profile", SHARED)]);
    for (format, text) in [
        ("text", "\nbottom-up: functions by self cost, callers below\nnothing of it is an estimate:\n"),
        ("markdown", "\nbottom-up: functions by self cost, callers below  \nnothing of it is an estimate:"),
        ("csv", "2,1,2,30,0,6,0,3,0,no,no,a,,,(program);shared;a,no\n"),
    ] {
        let output = run_in(folder.path(), &["tree", "profile", "--inverted", "--format", format]);
        assert!(stdout(&output).contains(text), "{}", stdout(&output));
    }
}

/// Functions have all of the total among them.
#[test]
fn bottom_up_has_the_self_costs() {
    for file in small_files().into_iter().step_by(one_in(3)) {
        let output = run(&[
            "tree",
            MAX_SIZE,
            "--inverted",
            "--min",
            "0",
            "--depth",
            "1",
            "-n",
            "0",
            "--format",
            "json",
            text(&file),
        ]);
        if code(&output) != 0 {
            continue;
        }
        let tree = json(&output);
        let nodes = tree["nodes"].as_array().unwrap();
        // The greatest number of nodes is reached: the rest is only counted.
        if nodes[0]["hidden"] != 0 {
            continue;
        }
        for event in tree["events"].as_array().unwrap() {
            let name = event["name"].as_str().unwrap();
            let cost = |node: &Value| node["inclusive"][name].as_i64();
            let functions: Option<i64> = nodes.iter().skip(1).map(cost).sum();
            if let (Some(functions), Some(total)) = (functions, cost(&nodes[0])) {
                assert_eq!(functions, total, "{}: {name}", file.display());
                assert_eq!(Some(total), tree["totals"][name].as_i64(), "{}: {name}", file.display());
            }
        }
    }
}

/// `read` is called by `main` for 5 and by `parse` for 7, block by block as calls end.
const INVOCATIONS: &[u8] =
    b"events: Ir Dr\nfn=read\n1 5 1\nfn=read\n1 7 2\nfn=parse\n1 10 0\ncfn=read\ncalls=1 1\n\
    2 7 2\nfn=main\n1 1 1\ncfn=read\ncalls=1 1\n2 5 1\ncfn=parse\ncalls=1 1\n3 17 2\n";

#[test]
fn an_exact_tree_by_hand() {
    let tree = tree_of(INVOCATIONS, &["--derive", "Sum = Ir + 10 Dr", "-e", "Ir,Sum"]);
    assert_eq!((tree["basis"].as_str(), tree["guessed"].is_null()), (Some("exact"), true));
    let of = |event: &'static str| by_stack(&tree, move |node| node["inclusive"][event].as_i64().unwrap());
    let stacks = [
        "(program)",
        "(program);main",
        "(program);main;parse",
        "(program);main;parse;read",
        "(program);main;read",
    ];
    let expected =
        |costs: [i64; 5]| stacks.map(str::to_owned).into_iter().zip(costs).collect::<BTreeMap<_, _>>();
    assert_eq!(of("Ir"), expected([23, 23, 17, 7, 5]));
    assert_eq!(of("Sum"), expected([63, 63, 37, 27, 15]));

    let tree = tree_of(INVOCATIONS, &["--from", "read", "--inverted", "-e", "Ir"]);
    let cost = by_stack(&tree, |node| node["inclusive"]["Ir"].as_i64().unwrap());
    let expected = [("read", 12), ("read;parse", 7), ("read;parse;main", 7), ("read;main", 5)];
    assert_eq!((tree["basis"].as_str(), cost), (Some("exact"), map(expected)));

    let tree = tree_of(INVOCATIONS, &["--from", "parse", "-e", "Ir"]);
    let cost = by_stack(&tree, |node| node["inclusive"]["Ir"].as_i64().unwrap());
    assert_eq!(cost, map([("parse", 17), ("parse;read", 7)]));

    // What was cut is in the file all the same, so the exact tree would be of another profile.
    let tree = tree_of(INVOCATIONS, &["--cut", "main -> parse"]);
    assert_eq!(tree["basis"], "estimate");
}

#[test]
fn what_is_left_out_is_summed_up() {
    let tree = tree_of(SHARED, &["--depth", "1"]);
    let hidden = by_stack(&tree, |node| node["hidden"].as_i64().unwrap());
    assert_eq!(hidden, map([("(program)", 0), ("(program);main", 2)]));
    let tree = tree_of(SHARED, &["--limit", "3"]);
    assert_eq!(by_stack(&tree, |node| node["hidden"].as_i64().unwrap())["(program);main"], 1);
    // 13 of 46 are 28.3%: one tenth more leaves `b` out.
    for (min, is_shown) in [("28.2", true), ("28.3", false)] {
        let folder = folder(&[("profile", SHARED)]);
        let output = run_in(folder.path(), &["tree", "profile", "--format", "json", "--min", min]);
        let depth = by_stack(&json(&output), |node| node["depth"].as_i64().unwrap());
        assert_eq!(depth.contains_key("(program);main;b"), is_shown, "{min}: {depth:?}");
    }
}

#[test]
fn json_holds_to_its_schema_and_sums_add_up() {
    let schema = schema("tree.schema.json");
    let mut exact = 0;
    for file in small_files().into_iter().step_by(one_in(3)) {
        let name = file.display();
        let output = run(&["tree", MAX_SIZE, "--format", "json", "--min", "0", "-n", "2000", text(&file)]);
        assert!(!stderr(&output).contains("panicked"), "{name}: {}", stderr(&output));
        if code(&output) != 0 {
            continue;
        }
        let json = json(&output);
        assert_valid(&schema, &json, &name.to_string());
        let is_xdebug = name.to_string().contains("/xdebug/");
        assert!(!is_xdebug || json["basis"] == "exact", "{name}: {}", json["basis"]);
        exact += usize::from(json["basis"] == "exact");
        check_sums(&name.to_string(), &json);
    }
    assert!(exact * one_in(3) >= 3, "{exact}");
}

/// The root is all there is, and each node what it and those below it cost.
fn check_sums(name: &str, tree: &Value) {
    let nodes = tree["nodes"].as_array().unwrap();
    for event in tree["event_types"].as_array().unwrap() {
        let event = event.as_str().unwrap();
        // Of a cost that is larger than its integers, this reader of JSON keeps no more than a rounded one.
        if nodes.iter().any(|node| node["inclusive"][event].is_f64() || node["self"][event].is_f64()) {
            continue;
        }
        // An estimate divides what was counted, and calls that are below nothing have no root.
        assert_eq!(whole(&nodes[0]["inclusive"][event]), whole(&tree["totals"][event]), "{name}: {event}");
        let mut rest: Vec<i128> =
            nodes.iter().map(|node| whole(&node["inclusive"][event]) - whole(&node["self"][event])).collect();
        for node in nodes {
            if let Some(parent) = node["parent"].as_u64() {
                rest[usize::try_from(parent).unwrap()] -= whole(&node["inclusive"][event]);
            }
        }
        for (place, (node, rest)) in nodes.iter().zip(rest).enumerate() {
            assert!(rest == 0 || node["hidden"] != 0, "{name}: {event}: node {place} has {rest} too much");
        }
    }
}

#[test]
fn text_fits_80_columns() {
    for file in small_files().into_iter().step_by(one_in(3)) {
        let output = run(&["tree", MAX_SIZE, "--width", "80", text(&file)]);
        let text = stdout(&output);
        // The head has a line for each event type, as in every report.
        let Some((_, tree)) = text.split_once("\n\n") else { continue };
        for line in tree.lines() {
            // What is longer is an own name, or what makes two rows different.
            let may_be_longer = line.contains(['…', '<', '/', '(']);
            assert!(line.chars().count() <= 80 || may_be_longer, "{}: {line}", file.display());
            assert!(!line.ends_with(' '), "{}: {line}", file.display());
        }
    }
}

/// `f0` calls `f1`, which calls `f2`, and so on: all exact, or not.
fn chain(calls: usize, is_exact: bool) -> String {
    let block = |n: usize| {
        let mut block = format!("fn=link_{n}\n1 1\n");
        if n < calls {
            // A caller that comes before its callee is no invocation that has ended.
            write!(block, "cfn=link_{}\ncalls=1 1\n2 {}\n", n + 1, calls - n).unwrap();
        }
        block
    };
    let blocks = 0..=calls;
    let blocks: String =
        if is_exact { blocks.rev().map(block).collect() } else { blocks.map(block).collect() };
    format!("events: Ir\n{blocks}")
}

#[test]
fn a_deep_tree_fits() {
    let folder = folder(&[("chain", chain(99, true).as_bytes())]);
    let output = stdout(&run_in(folder.path(), &["tree", "chain", "--min", "0", "--no-chains"]));
    assert_eq!(output.lines().filter(|line| line.contains("link_")).count(), 100);
    assert!(output.lines().all(|line| line.chars().count() <= 80), "{output}");
    golden("tree-deep", &output);
}

/// `main` calls `run` for 99%, and that `parse`, which costs 60, and `close`, `open` and `exit`.
const CHAIN: &[u8] =
    b"events: Ir\nfn=main\n1 1\ncfn=run\ncalls=1 1\n2 99\nfn=run\n1 0\ncfn=work\ncalls=9 1\n2 99\n\
    fn=work\n1 2\ncfn=parse\ncalls=1 1\n2 60\ncfn=close\ncalls=1 1\n2 37\nfn=parse\n1 60\n\
    fn=close\n1 20\ncfn=open\ncalls=1 1\n2 9\ncfn=exit\ncalls=1 1\n2 8\nfn=open\n1 9\nfn=exit\n1 8\n";

#[test]
fn a_chain_is_one_line() {
    let folder = folder(&[("chain", CHAIN)]);
    let tree = |arguments: &[&str]| {
        let output = stdout(&run_in(folder.path(), &[&["tree", "chain"], arguments].concat()));
        let (_, table) = output.split_once("Function\n").unwrap();
        table.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    // 1 of 100 is not shown by a number of its own, but the self cost of a line is that of all its functions.
    let expected = [
        "100.0        100     3         main → run → work ×9",
        " 60.0         60    60      1  ├ parse",
        " 37.0         37    20      1  └ close",
        "  9.0          9     9      1    ├ open",
        "  8.0          8     8      1    └ exit",
    ];
    assert_eq!(tree(&[]), expected);
    assert_eq!(tree(&["--no-chains"]).len(), 7);
    // A line that would say that there is one more names it instead; two share a line.
    assert!(tree(&["--min", "8.5"])[4].ends_with("    └ exit"), "{:?}", tree(&["--min", "8.5"]));
    assert!(tree(&["--min", "10"])[3].ends_with("└ … 2 more"), "{:?}", tree(&["--min", "10"]));
    // The last name is there on any width.
    let narrow = tree(&["--width", "40"]);
    assert!(narrow[0].ends_with("work ×9"), "{narrow:?}");
}

/// `deep` is called by `main` and `near`, and calls ten functions: nobody knows for whom.
#[test]
fn nodes_that_are_left_out_are_a_guess_if_the_rest_is() {
    let leaves: String = (0..10).map(|nth| format!("cfn=leaf{nth}\ncalls=1 0\n2 50\n")).collect();
    let costs: String = (0..10).map(|nth| format!("fn=leaf{nth}\n1 50\n")).collect();
    let profile = format!(
        "events: Ir\nfn=main\n1 10\ncfn=near\ncalls=1 0\n2 500\ncfn=deep\ncalls=1 0\n3 400\nfn=near\n1 100\n\
         cfn=deep\ncalls=1 0\n2 400\nfn=deep\n1 300\n{leaves}{costs}"
    );
    let folder = folder(&[("profile", profile.as_bytes())]);
    let shown = stdout(&run_in(folder.path(), &["tree", "--min", "5", "profile"]));
    let rests: Vec<&str> = shown.lines().filter(|line| line.ends_with("… 10 more")).collect();
    assert_eq!(rests.len(), 2, "{shown}");
    assert!(
        rests.iter().all(|line| line.trim_start().starts_with("~27.5") && line.contains("~250")),
        "{shown}"
    );
}

#[test]
fn lines_of_text_add_up() {
    for file in small_files().into_iter().step_by(one_in(3)) {
        let output = run(&["tree", MAX_SIZE, "--width", "200", text(&file)]);
        assert!(!stdout(&output).contains("… 1 more"), "{}: {}", file.display(), stdout(&output));
        let split = run(&["tree", MAX_SIZE, "--width", "200", "--no-chains", text(&file)]);
        let count = |output: &std::process::Output| {
            let told = stdout(output);
            (told.lines().count(), told.matches(" → ").count())
        };
        let ((lines, joined), (all, _)) = (count(&output), count(&split));
        // Each arrow is a line less; a line for hidden nodes may be shared by a chain.
        assert!(lines + joined <= all || code(&output) != 0, "{}: {lines} {joined} {all}", file.display());
    }
}

#[test]
fn a_long_chain_of_calls() {
    long_chain(true);
}

#[test]
fn a_long_chain_of_estimates() {
    long_chain(false);
}

fn long_chain(is_exact: bool) {
    let length = 100_000 / one_in(20);
    let last = format!("link_{length}");
    let folder = folder(&[("chain", chain(length, is_exact).as_bytes())]);
    // The two trees come about in different ways, but are printed in the same. Quadratic would be many minutes, where a
    // build without optimisation takes some seconds.
    for format in if is_exact { ["text", "csv"] } else { ["json", "markdown"] } {
        let arguments = ["tree", "chain", "--format", format, "--limit", "0", "--min", "0"];
        let output = run_in(folder.path(), &arguments);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        let told = stdout(&output);
        assert!(told.contains(&last), "{format}");
        assert!(told.contains("exact") == is_exact || format == "csv", "{format}");
    }
    let inverted = ["tree", "chain", "--from", &last, "--inverted", "--limit", "0"];
    let output = run_in(folder.path(), &inverted);
    assert!(stdout(&output).contains("link_0\n"), "{}", stderr(&output));
    // Each link has all before it as callers, far more than are shown.
    let bottom_up = ["tree", "chain", "--inverted", "--min", "0"];
    let output = run_in(folder.path(), &bottom_up);
    assert!(stdout(&output).contains("shown: the 100 most expensive nodes"), "{}", stderr(&output));
}

#[test]
fn an_estimate_does_not_grow_with_the_number_of_ways() {
    // Each of 200 functions calls both functions of the next row: 2^100 ways.
    let mut profile = "events: Ir\n".to_owned();
    for row in 0..100 {
        for side in 0..2 {
            writeln!(profile, "fn=f{row}_{side}\n1 1").unwrap();
            for other in 0..2 {
                write!(profile, "cfn=f{}_{other}\ncalls=1 1\n2 {}\n", row + 1, 100 - row).unwrap();
            }
        }
    }
    let folder = folder(&[("ways", profile.as_bytes())]);
    let output = run_in(folder.path(), &["tree", "ways", "--min", "0", "--format", "json"]);
    assert_eq!(json(&output)["nodes"].as_array().unwrap().len(), 10_001);
}

#[test]
fn names_are_harmless() {
    let folder = folder(&[("evil", b"events: Ir\nfn=\x1b[2J\xe2\x80\xae```\n1 5\n")]);
    for format in ["text", "markdown"] {
        let output = run_in(folder.path(), &["tree", "evil", "--format", format]);
        let told = stdout(&output);
        assert!(!told.contains('\x1b') && !told.contains('\u{202e}'), "{told}");
        assert!(told.contains("\\x1b[2J\\u{202e}```"), "{told}");
        assert!(format == "text" || told.contains("````text\n"), "{told}");
    }
}

#[test]
fn what_cannot_be_done_is_said() {
    let folder = folder(&[("profile", SHARED)]);
    let output = run_in(folder.path(), &["tree", "profile", "--from", "sharde"]);
    assert_eq!((code(&output), stdout(&output).as_str()), (2, ""));
    assert!(stderr(&output).contains("the nearest name is shared"), "{}", stderr(&output));
}
