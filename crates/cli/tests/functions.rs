//! `gristmill functions`: its text against goldens, its JSON against the schema, its numbers against arithmetic by hand.
//!
//! `BLESS=1` writes the goldens anew.

// Tests may panic: that is how they fail. Clippy knows that of test functions, but not of what they share.
#![allow(clippy::unwrap_used, clippy::panic)]

mod harness;

use serde_json::Value;

use harness::{
    CLEAN, assert_valid, code, corpus, folder, json, root, run, run_in, run_with, schema, stderr, stdout,
    text, whole,
};

fn blessed(name: &str, arguments: &[&str]) {
    let shown = harness::blessed("functions", name, arguments);
    // CSV and JSON are for programs.
    if !arguments.contains(&"csv") && !arguments.contains(&"markdown") {
        for line in shown.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}

#[test]
fn text_of_several_producers() {
    blessed("callgrind", &["callgrind/callgrind.out.mill"]);
    blessed("cachegrind", &["cachegrind/cachegrind.out.mill", "--limit", "8"]);
    blessed("xdebug", &["dialects/xdebug2.txt"]);
    blessed("go", &["dialects/go-pprof.txt"]);
    blessed("ruby", &["dialects/ruby-prof.txt"]);
    blessed("xtree", &["xtree/xtmemory.kcg"]);
}

#[test]
fn text_of_several_event_types() {
    let full = "callgrind/callgrind.out.full";
    blessed("events", &[full, "--event", "Ir,LLm", "--limit", "3"]);
    blessed("events-many", &[full, "--event", "Ir,Dr,Dw,CEst", "--limit", "2"]);
    blessed("derived", &[full, "--derive", "Reads = Dr : all reads", "--event", "reads", "--limit", "2"]);
}

#[test]
fn text_of_groups() {
    let recs = "callgrind/callgrind.out.names";
    for group in ["object", "file", "dir", "class", "cycle"] {
        blessed(&format!("by-{group}"), &[recs, "--group", group, "--limit", "6"]);
    }
}

#[test]
fn other_formats() {
    let mill = "callgrind/callgrind.out.mill-main";
    blessed("csv", &[mill, "--format", "csv"]);
    blessed("markdown", &[mill, "--format", "markdown", "--limit", "4"]);
    blessed("per-call", &[mill, "--per-call", "--limit", "4"]);
    blessed("relative", &[mill, "--relative-to", "grind", "--filter", "coarse|fine|grind"]);
}

#[test]
fn parts_and_sets() {
    blessed("part", &["callgrind/callgrind.out.parts", "--part", "2", "--limit", "3"]);
    blessed("set", &["--set", "callgrind/callgrind.out.crew-sep", "--limit", "3"]);
}

#[test]
fn a_set_counts_once_however_many_of_its_files_are_named() {
    let totals_of = |files: &[&str]| {
        let arguments = [&["functions", "--format", "json", "--set"], files].concat();
        json(&run_in(&root().join("corpus/callgrind"), &arguments))["totals"].clone()
    };
    let totals = |ends: &[&str]| {
        let names: Vec<String> = ends.iter().map(|end| format!("callgrind.out.crew-sep{end}")).collect();
        totals_of(&names.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let whole = totals(&[""]);
    assert_eq!(whole, serde_json::json!({ "Ir": 6902 }));
    assert_eq!(totals(&["-02"]), whole);
    assert_eq!(totals(&["", "-01"]), whole);
    assert_eq!(totals(&["-03", "-01", "-02"]), whole);
    let other_ways = ["./callgrind.out.crew-sep-01", "../callgrind/callgrind.out.crew-sep-02"];
    assert_eq!(totals_of(&other_ways), whole);
}

#[test]
fn numbers_are_those_of_arithmetic() {
    let output = run_with(&["functions", "--format", "json", "-"], CLEAN);
    let answer = json(&output);
    assert_eq!(answer["totals"], serde_json::json!({ "Ir": 60, "Dr": 12 }));
    let functions = answer["functions"].as_array().unwrap();
    let of = |name: &str| functions.iter().find(|function| function["name"] == name).unwrap();
    assert_eq!(of("main")["self"], serde_json::json!({ "Ir": 10, "Dr": 2 }));
    assert_eq!(of("main")["inclusive"], serde_json::json!({ "Ir": 60, "Dr": 12 }));
    assert_eq!(of("grind")["inclusive"], serde_json::json!({ "Ir": 50, "Dr": 10 }));
    assert_eq!((&of("grind")["calls"], &of("main")["calls"]), (&3.into(), &0.into()));
}

#[test]
fn json_keeps_its_promise() {
    let schema = schema("functions.schema.json");
    for path in corpus() {
        let output = run(&["functions", "--format", "json", text(&path)]);
        if code(&output) == 2 {
            continue;
        }
        let answer = json(&output);
        assert_valid(&schema, &answer, text(&path));
        // Every function is there, and their self costs are the total.
        for (event, total) in answer["totals"].as_object().unwrap() {
            let costs = answer["functions"].as_array().unwrap().iter();
            let sum: i128 = costs.map(|function| whole(&function["self"][event])).sum();
            assert_eq!(sum, whole(total), "{}: {event}", path.display());
        }
    }
}

#[test]
fn rows_are_sorted_and_cut() {
    let mill = text(&root().join("corpus/callgrind/callgrind.out.mill")).to_owned();
    let rows = |arguments: &[&str]| -> Vec<Value> {
        let output = run(&[&["functions", "--format", "json", &mill], arguments].concat());
        json(&output)["functions"].as_array().unwrap().clone()
    };
    let all = rows(&[]);
    assert!(all.len() > 100);
    for (key, of) in [("inclusive", "inclusive"), ("self", "self")] {
        let sorted = rows(&["--sort", key]);
        assert!(sorted.windows(2).all(|pair| whole(&pair[0][of]["Ir"]) >= whole(&pair[1][of]["Ir"])));
    }
    assert!(
        rows(&["--sort", "calls"])
            .windows(2)
            .all(|pair| whole(&pair[0]["calls"]) >= whole(&pair[1]["calls"]))
    );
    assert!(
        rows(&["--sort", "name"]).windows(2).all(|pair| pair[0]["name"].as_str() <= pair[1]["name"].as_str())
    );
    assert_eq!(rows(&["--limit", "7"]).len(), 7);
    assert_eq!(rows(&["--limit", "0"]).len(), all.len());
    assert!(
        rows(&["--filter", "^sort_"]).iter().all(|row| row["name"].as_str().unwrap().starts_with("sort_"))
    );
    assert!(
        rows(&["--file", "sieve[.]c$"]).iter().all(|row| row["file"].as_str().unwrap().ends_with("sieve.c"))
    );
}

#[test]
fn cuts_take_calls_out() {
    let arguments = ["functions", "--format", "json", "--cut", "main -> grind", "-"];
    let answer = json(&run_with(&arguments, CLEAN));
    let main = answer["functions"].as_array().unwrap().iter().find(|row| row["name"] == "main").unwrap();
    assert_eq!(main["inclusive"]["Ir"], 10);
}

#[test]
fn what_cannot_be_done_is_said() {
    for (arguments, said) in [
        (&["--event", "Foo"][..], "there is no event type `Foo`"),
        (&["--derive", "Foo"], "--derive 'Foo'"),
        (&["--cut", "a"], "there is no ->"),
        (&["--filter", "("], "unclosed group"),
        (&["--part", "9"], "no part of the profile is selected"),
        (&["--relative-to", "nothing"], "no function is called `nothing`"),
        (&["--cut-below", "200"], "from 0 to 100"),
    ] {
        let output = run_with(&[&["functions", "-"], arguments].concat(), CLEAN);
        assert_eq!(code(&output), 2, "{arguments:?}");
        assert!(stderr(&output).contains(said), "{}", stderr(&output));
        assert_eq!(stdout(&output), "");
    }
    let output = run_with(&["functions", "-"], b"\x89PNG\r\n\x1a\n");
    assert_eq!(code(&output), 2);
}

#[test]
fn names_are_harmless() {
    let profile = b"events: Ir\nfn=\x1b[2Jevil\n1 5\n";
    let output = run_with(&["functions", "-"], profile);
    assert!(stdout(&output).contains("\\x1b[2Jevil"), "{}", stdout(&output));
}

#[test]
fn several_files_are_one_profile() {
    let folder = folder(&[("a", CLEAN), ("b", CLEAN)]);
    let output = run_in(folder.path(), &["functions", "--format", "json", "a", "b"]);
    let answer = json(&output);
    assert_eq!(answer["totals"]["Ir"], 120);
    assert_eq!(answer["parts"], 2);
    assert_eq!(answer["functions"].as_array().unwrap().len(), 2);
}
