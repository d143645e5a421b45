//! `gristmill show`: its text against goldens, its JSON against the schema, its numbers by hand and against those of
//! `gristmill functions`.
//!
//! `BLESS=1` writes the goldens. `GRISTMILL_CORPUS` may name a folder with more profiles.

// Tests may panic: that is how they fail. Clippy knows that of test functions, but not of what they share.
#![allow(clippy::unwrap_used, clippy::panic)]

mod harness;

use std::fmt::Write as _;
use std::path::PathBuf;

use serde_json::{Value, json};

use harness::{
    MAX_SIZE, assert_valid, code, exactly, folder, json, one_in, root, run, run_in, run_with, schema,
    small_files, stderr, stdout, text, whole,
};

fn blessed(name: &str, arguments: &[&str]) {
    harness::blessed("show", name, arguments);
}

/// `a` is called by `main` and by itself; it and `b` call each other, and nothing else.
const INNER: &[u8] = b"events: Ir\nfn=main\n1 1\ncfn=a\ncalls=1 1\n2 30\nfn=a\n1 10\ncfn=a\ncalls=2 1\n2 5\n\
    cfn=b\ncalls=3 1\n3 20\nfn=b\n1 20\ncfn=a\ncalls=1 1\n2 4\n";

#[test]
fn a_sum_of_nothing_is_not_shown() {
    let folder = folder(&[("profile", INNER)]);
    let told = stdout(&run_in(folder.path(), &["show", "a", "profile"]));
    let (callers, callees) = told.split_once("\nCallees").unwrap();
    let (callees, _) = callees.split_once("\nHottest").unwrap();
    // One call comes from outside, but none goes there.
    assert!(callers.contains("sum, without recursion") && !callees.contains("sum"), "{told}");
}

/// Returns the sentences on the costs of a member and of its cycle.
fn in_words(profile: &str, arguments: &[&str]) -> String {
    let folder = folder(&[("profile", profile.as_bytes())]);
    let told =
        stdout(&run_in(folder.path(), &[&["show", "--width", "200"], arguments, &["profile"]].concat()));
    let is_sentence = |line: &&str| line.starts_with("inclusive cost") || line.starts_with("the cycle costs");
    told.lines().filter(is_sentence).collect::<Vec<_>>().join("\n")
}

#[test]
fn costs_of_a_cycle_in_words() {
    // `a` and `b` call each other and `out`, and `a` calls itself. They cost 10 + 7 + 20 + 63.
    let profile = |of_out: u32| {
        format!(
            "events: Ir Dr\nfn=main\n1 1\ncfn=a\ncalls=1 1\n2 100 9\nfn=a\n1 10 1\ncfn=a\ncalls=2 1\n2 5\n\
             cfn=b\ncalls=3 1\n3 80\ncfn=out\ncalls=1 1\n4 7 3\nfn=b\n1 20 2\ncfn=a\ncalls=1 1\n2 40\n\
             cfn=out\ncalls=9 1\n3 {of_out} 4\nfn=out\n1 70 7\n"
        )
    };
    let out = profile(63);
    assert_eq!(
        in_words(&out, &["^a$"]),
        "inclusive cost 17: self cost 10, and 7 by calls out of the cycle; calls within the cycle do not count\n\
         the cycle costs 100: self cost 30 of its 2 members, and 70 by their calls out of it"
    );
    assert!(in_words(&out, &["^b$"]).starts_with("inclusive cost 83: self cost 20, and 63 by calls out of"));
    assert_eq!(
        in_words(&out, &["^b$", "-e", "Dr,Ir"]),
        "inclusive cost 6 Dr: self cost 2, and 4 by calls out of the cycle; calls within the cycle do not count\n\
         the cycle costs 10 Dr: self cost 3 of its 2 members, and 7 by their calls out of it"
    );
    assert!(
        in_words(&out, &["^b$", "--derive", "X=Ir+10Dr", "-e", "X"])
            .starts_with("inclusive cost 143: self cost 40,")
    );
    assert_eq!(in_words(&out, &["^b$", "--inclusive", "kcachegrind"]), in_words(&out, &["^b$"]));
    // Without cycles, and outside of them, there is nothing to say.
    for arguments in [&["^a$", "--no-cycles"][..], &["^a$", "--inclusive", "annotate"], &["main"], &["out"]] {
        assert_eq!(in_words(&out, arguments), "", "{arguments:?}");
    }
    // Nothing leaves the cycle.
    assert_eq!(
        in_words(std::str::from_utf8(INNER).unwrap(), &["^a$"]),
        "inclusive cost 10: self cost 10, and 0 by calls out of the cycle; calls within the cycle do not count\n\
         the cycle costs 30: self cost 30 of its 2 members, and 0 by their calls out of it"
    );
    // The total is 101, and 20 + 700 are more.
    assert_eq!(
        in_words(&profile(700), &["^b$"]),
        "inclusive cost 101: self cost 20, and 700 by calls out of the cycle, limited to the total; calls within the \
         cycle do not count\n\
         the cycle costs 101: self cost 30 of its 2 members, and 707 by their calls out of it, limited to the total"
    );
}

#[test]
fn text_of_five_producers() {
    blessed("callgrind", &["sort_grains", "callgrind/callgrind.out.mill"]);
    blessed(
        "callers",
        &["--fold-callers", "--fold-recursion", "sort_grains", "callgrind/callgrind.out.callers-recs"],
    );
    blessed("xdebug", &["Mill->grind", "dialects/xdebug2.txt", "-e", "Time,Memory"]);
    blessed("cachegrind", &["sort_grains", "cachegrind/cachegrind.out.mill", "-e", "Ir,Dr,D1mr"]);
    blessed("go-pprof", &["sift", "dialects/go-pprof.txt"]);
}

#[test]
fn text_of_python() {
    // The library of Python may be on this machine, in another version.
    let profile =
        std::fs::read_to_string(root().join("corpus/python/callgrind.out.pyprof2calltree")).unwrap();
    let profile = profile.replace("/usr/lib/", "/srv/lib/");
    let folder = folder(&[("callgrind.out.pyprof2calltree", profile.as_bytes())]);
    let arguments = ["show", "_parse$", "callgrind.out.pyprof2calltree"];
    let mut command = harness::gristmill(&arguments);
    let output = command.env("COLUMNS", "80").current_dir(folder.path()).output().unwrap();
    assert_eq!((stderr(&output).as_str(), code(&output)), ("", 0));
    harness::golden("show-python", &stdout(&output));
}

#[test]
fn text_by_subject() {
    blessed("recursion", &["--fold-recursion", "grind", "callgrind/callgrind.out.recs"]);
    blessed("cycle", &["coarse", "callgrind/callgrind.out.mill"]);
    blessed("parts", &["shift", "callgrind/callgrind.out.parts"]);
    blessed("addresses", &["^grind$", "callgrind/callgrind.out.instr-jumps"]);
    blessed(
        "far",
        &["sort_grains", "callgrind/callgrind.out.mill", "--depth", "3", "--lines", "2", "-n", "2"],
    );
    blessed("derived", &["^main$", "callgrind/callgrind.out.cache-branch", "-e", "CEst"]);
    blessed("csv", &["sort_grains", "callgrind/callgrind.out.mill", "--depth", "2", "--format", "csv"]);
    blessed("markdown", &["coarse", "callgrind/callgrind.out.mill", "--format", "markdown"]);
    blessed("json", &["coarse", "callgrind/callgrind.out.mill", "--format", "json"]);
}

/// `main` (self 11) calls `grind` and itself; `grind` has costs on two lines of its own file and one that was inlined.
/// The calls in `main` cost 5 more than `grind` has.
const SMALL: &[u8] = b"events: Ir Dr\nfl=mill.c\nfn=main\n10 4 1\n12 7 0\ncfn=main\ncalls=2 10\n13 50 3\n\
    cfi=stone.c\ncfn=grind\ncalls=3 20\n12 65 9\ncfi=stone.c\ncfn=grind\ncalls=1 20\n14 10 1\n\
    fl=stone.c\nfn=grind\n20 40 4\nfi=grain.h\n3 10 2\nfe=stone.c\n21 20 4\n";

fn shown(bytes: &[u8], arguments: &[&str]) -> Value {
    let folder = folder(&[("profile", bytes)]);
    let output = run_in(folder.path(), &[&["show"], arguments, &["profile", "--format", "json"]].concat());
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    harness::json(&output)
}

#[test]
fn a_function_by_hand() {
    let main = shown(SMALL, &["main"]);
    assert_eq!((&main["self"], &main["calls"]), (&json!({ "Ir": 11, "Dr": 1 }), &json!(2)));
    // Calls to itself are within: 11 + 65 + 10, and no more than the total of 81.
    assert_eq!(main["by_callees"], json!({ "Ir": 86, "Dr": 11 }));
    assert_eq!(main["inclusive"], json!({ "Ir": 81, "Dr": 11 }));
    assert_eq!(main["by_callers"], Value::Null);
    let callees = &main["callees"]["rows"];
    assert_eq!(
        (callees[0]["name"].as_str(), &callees[0]["cost"]),
        (Some("grind"), &json!({ "Ir": 75, "Dr": 10 }))
    );
    assert_eq!((&callees[0]["calls"], &callees[0]["inner"]), (&json!(4), &json!(false)));
    assert_eq!((callees[1]["name"].as_str(), &callees[1]["inner"]), (Some("main"), &json!(true)));
    let lines = main["lines"]["rows"].as_array().unwrap();
    let of =
        |line: &Value| (line["line"].as_u64(), line["self"]["Ir"].as_u64(), line["inclusive"]["Ir"].as_u64());
    let expected = [(12, 7, 72), (14, 0, 10), (10, 4, 4), (13, 0, 0)];
    assert_eq!(
        lines.iter().map(of).collect::<Vec<_>>(),
        expected.map(|(line, own, all)| (Some(line), Some(own), Some(all)))
    );

    let grind = shown(SMALL, &["grind"]);
    assert_eq!((&grind["by_callers"]["Ir"], &grind["by_callees"]["Ir"]), (&json!(75), &json!(70)));
    let place = |line: &Value| format!("{}:{}", line["file"].as_str().unwrap(), line["line"]);
    let places: Vec<String> = grind["lines"]["rows"].as_array().unwrap().iter().map(place).collect();
    assert_eq!(places, ["stone.c:20", "stone.c:21", "grain.h:3"]);

    let folder = folder(&[("profile", SMALL)]);
    let printed = stdout(&run_in(folder.path(), &["show", "grind", "profile"]));
    assert!(printed.contains("by its callers it cost 75 Ir, by self cost and callees 70\n"), "{printed}");
    // Derived costs are linear, line by line.
    let derived = shown(SMALL, &["grind", "--derive", "Sum = Ir + 10 Dr", "-e", "Sum"]);
    assert_eq!(derived["lines"]["rows"][0]["self"], json!({ "Sum": 80 }));
    assert_eq!(derived["lines"]["rows"][2]["self"], json!({ "Sum": 30 }));
}

#[test]
fn lines_of_folded_functions() {
    let profile = b"events: Ir\nfl=f.c\nfn=f\n1 10\n2 5\ncfn=f'2\ncalls=1 1\n2 30\nfn=f'2\n1 20\n3 10\n";
    let folded = shown(profile, &["f", "--fold-recursion"]);
    let of = |line: &Value| (line["line"].as_u64().unwrap(), line["self"]["Ir"].as_u64().unwrap());
    let lines: Vec<_> = folded["lines"]["rows"].as_array().unwrap().iter().map(of).collect();
    assert_eq!(lines, [(1, 30), (3, 10), (2, 5)]);
    assert_eq!(
        (&folded["inclusive"]["Ir"], &folded["callees"]["rows"][0]["inner"]),
        (&json!(45), &json!(true))
    );
}

#[test]
fn parts_add_up() {
    let corpus = root().join("corpus");
    for (function, file) in
        [("shift", "callgrind/callgrind.out.parts"), ("miller", "callgrind/callgrind.out.crew-threads")]
    {
        let output = run_in(&corpus, &["show", function, file, "--format", "json"]);
        let printed = harness::json(&output);
        let rows = printed["by_part"]["rows"].as_array().unwrap();
        assert!(rows.len() > 1, "{file}");
        for (sum, whole) in [("self", &printed["self"]["Ir"]), ("inclusive", &printed["inclusive"]["Ir"])] {
            let sum: u64 = rows.iter().map(|row| row[sum]["Ir"].as_u64().unwrap()).sum();
            assert_eq!(Some(sum), whole.as_u64(), "{file}");
        }
        assert_eq!(rows.iter().map(|row| row["calls"].as_i64().unwrap()).sum::<i64>(), printed["calls"]);
    }
}

/// The most expensive function with a unique name of each file.
fn most_expensive() -> Vec<(PathBuf, Value)> {
    let mut found = Vec::new();
    for file in small_files().into_iter().step_by(one_in(3)) {
        let output = run(&["functions", MAX_SIZE, "--format", "json", text(&file)]);
        if code(&output) != 0 {
            continue;
        }
        let printed = exactly(&output);
        let functions = printed["functions"].as_array().unwrap();
        let is_alone =
            |row: &&Value| functions.iter().filter(|other| other["name"] == row["name"]).count() == 1;
        // A name that begins like an option would be one.
        let is_name = |row: &&Value| {
            row["name"].as_str().is_some_and(|name| !name.starts_with('-') && !name.contains('\0'))
        };
        if let Some(row) = functions.iter().take(100).filter(is_name).find(is_alone) {
            found.push((file, row.clone()));
        }
    }
    assert!(found.len() > 50 / one_in(3));
    found
}

#[test]
fn json_fits_its_schema_and_agrees_with_functions() {
    let schema = schema("show.schema.json");
    for (file, row) in most_expensive() {
        let name = row["name"].as_str().unwrap();
        let output = run(&["show", MAX_SIZE, "--format", "json", "--depth", "4", name, text(&file)]);
        let file = file.display();
        assert_eq!(code(&output), 0, "{file}: {}", stderr(&output));
        let printed = harness::json(&output);
        assert_valid(&schema, &printed, &file.to_string());
        let printed = exactly(&output);
        for key in ["self", "inclusive", "calls"] {
            assert_eq!(printed[key], row[key], "{file}: {name}: {key}");
        }
        assert_eq!(printed["function"]["file"], row["file"], "{file}");
        let cycle = &printed["cycle"]["number"];
        assert_eq!(if printed["cycle"].is_null() { &Value::Null } else { cycle }, &row["cycle"], "{file}");
        // Its lines have all of its self cost, and all of its calls.
        let lines = printed["lines"]["rows"].as_array().unwrap();
        for event in printed["event_types"].as_array().unwrap() {
            let event = event.as_str().unwrap();
            let sum: i128 = lines.iter().map(|line| whole(&line["self"][event])).sum();
            assert_eq!(sum, whole(&printed["self"][event]), "{file}: {name}: {event}");
            let calls = lines.iter().flat_map(|line| line["calls"].as_array().unwrap());
            let calls: i128 = calls.map(|call| whole(&call["cost"][event])).sum();
            let callees = printed["callees"]["rows"].as_array().unwrap();
            let callees: i128 = callees.iter().map(|callee| whole(&callee["cost"][event])).sum();
            assert_eq!(calls, callees, "{file}: {name}: {event}");
        }
    }
}

#[test]
fn text_fits_80_columns() {
    for (file, row) in most_expensive() {
        let name = row["name"].as_str().unwrap();
        let output = run(&["show", MAX_SIZE, "--width", "80", "--depth", "3", name, text(&file)]);
        let printed = stdout(&output);
        // The lines above have name and path in full.
        let Some((_, tables)) = printed.split_once("\nEvent ") else {
            panic!("{}: {printed}", file.display())
        };
        for line in tables.lines() {
            // What is longer is an own name, or what makes two rows different.
            let may_be_longer = line.contains(['…', '<']);
            assert!(line.chars().count() <= 80 || may_be_longer, "{}: {name}: {line}", file.display());
            assert!(!line.ends_with(' '), "{}: {line}", file.display());
        }
    }
}

/// Functions whose names differ in what is not shown: the hash of Rust, or the kind of a destructor.
const TWINS: &str = "events: Ir\nfl=a.rs\nfn=_ZN4core3mem4swap17h1111222233334444E\n1 10\nfn=_ZN4core3mem4swap17h5555666677778888E\n1 30\n\
                     fn=_ZN4core3mem4swap17h5555666677778888E'2\n1 50\nfl=b.cc\nfn=_ZN1DD1Ev\n1 7\nfn=_ZN1DD0Ev\n1 9\nfn=main\n1 100\n";

#[test]
fn functions_whose_names_look_the_same_are_several() {
    let folder = folder(&[("twins.out", TWINS.as_bytes())]);
    let shown = |query: &str| {
        let output = run_in(folder.path(), &["show", "--format", "json", query, "twins.out"]);
        assert_eq!(code(&output), 0, "{query}: {}", stderr(&output));
        (json(&output)["lines"]["rows"][0]["self"]["Ir"].clone(), stderr(&output))
    };
    let (cost, said) = shown("core::mem::swap");
    assert_eq!(cost, 30);
    assert_eq!(
        said,
        "gristmill: 2 functions match `core::mem::swap`; this is the most expensive one: core::mem::swap [h5555] \
         (a.rs); the others: core::mem::swap [h1111] (a.rs)\n"
    );
    let (cost, said) = shown("D::~D()");
    assert_eq!(cost, 9);
    assert_eq!(
        said,
        "gristmill: 2 functions match `D::~D()`; this is the most expensive one: D::~D() (b.cc) [_ZN1DD0Ev]; the \
         others: D::~D() (b.cc) [_ZN1DD1Ev]\n"
    );
    // As tables and messages have them, and as the file has them.
    for (query, expected) in [
        ("core::mem::swap [h1111]", 10),
        ("swap [h55556666]", 30),
        ("_ZN4core3mem4swap17h1111222233334444E", 10),
        ("D::~D() [_ZN1DD1Ev]", 7),
        ("_ZN1DD1Ev", 7),
    ] {
        assert_eq!(shown(query), (expected.into(), String::new()), "{query}");
    }
    let output = run_in(folder.path(), &["show", "swap [h2222]", "twins.out"]);
    assert_eq!(code(&output), 2);
}

#[test]
fn the_most_expensive_match_is_shown() {
    let corpus = root().join("corpus");
    let output = run_in(&corpus, &["show", "by_", "callgrind/callgrind.out.mill"]);
    assert!(stdout(&output).contains("\nby_weight\n"), "{}", stdout(&output));
    assert_eq!(
        stderr(&output),
        "gristmill: 2 functions match `by_`; this is the most expensive one: by_weight (sieve.c); the \
         others: by_moisture (sieve.c)\n"
    );
    // A capital letter makes case matter.
    let output = run_in(&corpus, &["show", "SORT_GRAINS$", "callgrind/callgrind.out.mill"]);
    assert!(stderr(&output).contains("the nearest name is sort_grains\n"), "{}", stderr(&output));
    assert_eq!(code(&output), 2);
    // A name far off is no hint.
    let output = run_in(&corpus, &["show", "nosuch", "callgrind/callgrind.out.mill"]);
    assert_eq!(
        stderr(&output),
        "gristmill: no function is called `nosuch`\n  hint: gristmill functions lists the functions\n"
    );
}

/// The function that a query chooses, and what is said about others.
fn chosen(query: &str, file: &str) -> (String, String) {
    let output = run_with(&["show", query, "--format", "json", "-"], file.as_bytes());
    assert_eq!(code(&output), 0, "{query}: {}", stderr(&output));
    (json(&output)["function"]["name"].as_str().unwrap().to_owned(), stderr(&output))
}

#[test]
fn queries_are_about_the_function() {
    let file = "events: Ir\nfn=ns::fib\n1 10\nfn=ns::fib'2\n1 70\nfn=ns::fib'3\n1 30\nfn=ns::Fibre::run'main\n1 200\n\
        fn=ns::Fibre::run'other'main\n1 300\nfn=pre_fib_all\n1 500\n";
    let name = |query: &str| chosen(query, file).0;
    // The base of a recursion stands for its levels, and the own name comes before parts of names.
    assert_eq!(chosen("fib", file), ("ns::fib".to_owned(), String::new()));
    assert_eq!(chosen("FIB'2".to_lowercase().as_str(), file).0, "ns::fib'2");
    assert_eq!(name("ns::fib'3"), "ns::fib'3");
    // Recorded callers are no part of the function; reports show them with an arrow.
    assert_eq!(name("run"), "ns::Fibre::run'other'main");
    assert!(chosen("run", file).1.contains("; the others: ns::Fibre::run ← main\n"));
    assert_eq!(name("ns::Fibre::run ← main"), "ns::Fibre::run'main");
    assert_eq!(code(&run_with(&["show", "main", "-"], file.as_bytes())), 2);
    // Any case, unless there is a capital letter.
    assert_eq!([name("fibre"), name("Fibre"), name(r"_f?ib_\S+$")].map(|name| name.len()), [25, 25, 11]);
    assert_eq!(code(&run_with(&["show", "FIBRE", "-"], file.as_bytes())), 2);
    // So do filters.
    let filtered = |filter: &str| {
        let output = run_with(&["functions", "-f", filter, "--format", "csv", "-"], file.as_bytes());
        (stdout(&output).lines().count() - 1, stderr(&output))
    };
    assert_eq!([filtered("^NS::fib$").0, filtered("^ns::fib$").0, filtered("fibre").0], [0, 3, 2]);
    assert_eq!(filtered("main"), (0, "gristmill: warning: no function matches `main`\n".to_owned()));
    let output = run_with(&["annotate", "--filter", "main", "-"], file.as_bytes());
    assert!(stderr(&output).contains("warning: no function matches `main`"), "{}", stderr(&output));
    let output = run_with(&["annotate", "--function", "FIB$".to_lowercase().as_str(), "-"], file.as_bytes());
    assert!(!stderr(&output).contains("no function matches"), "{}", stderr(&output));
}

#[test]
fn functions_of_the_same_name() {
    let file = b"events: Ir\nob=/bin/mill\nfl=src/a.c\nfn=init\n1 5\nfl=src/b.c\nfn=init\n1 7\nob=/lib/libgrain.so\n\
        fl=src/b.c\nfn=init\n1 11\n";
    let folder = folder(&[("profile", file)]);
    let output = run_in(folder.path(), &["show", "init", "profile"]);
    let said = stderr(&output);
    assert_eq!(code(&output), 0, "{said}");
    assert!(
        said.contains("this is the most expensive one: init (src/b.c in libgrain.so); the others: "),
        "{said}"
    );
    let cost = |name: &str| whole(&shown(file, &[name])["self"]["Ir"]);
    assert_eq!(["a.c:init", "src/a.c:init", "libgrain.so:init"].map(cost), [5, 5, 11]);
    let output = run_in(folder.path(), &["show", "b.c:init", "profile"]);
    assert!(stderr(&output).contains("2 functions match `b.c:init`"), "{}", stderr(&output));
    assert_eq!(whole(&shown(file, &["bin/mill:init"])["self"]["Ir"]), 7);
    assert_eq!(code(&run_in(folder.path(), &["show", ".c:init", "profile"])), 2);
}

#[test]
fn parts_by_inclusive_rule() {
    // Callers have another cost of `grind` than its lines; in the second part nothing calls it, and it calls itself.
    let file = b"version: 1\npid: 1\npart: 1\nevents: Ir\n\nfn=main\n1 10\ncfn=grind\ncalls=2 1\n1 50\nfn=grind\n1 30\n\
        cfn=sift\ncalls=1 1\n1 4\nfn=sift\n1 4\n\nversion: 1\npid: 1\npart: 2\nevents: Ir\n\nfn=grind\n1 3\ncfn=sift\n\
        calls=1 1\n1 8\nfn=sift\n1 8\n\nversion: 1\npid: 1\npart: 3\nevents: Ir\n\nfn=grind\n1 1\ncfn=grind\ncalls=1 1\n\
        1 100\n";
    let by_part = |rule: &str| {
        let printed = shown(file, &["grind", "--inclusive", rule]);
        let rows = printed["by_part"]["rows"].as_array().unwrap().clone();
        let costs: Vec<i128> = rows.iter().map(|row| whole(&row["inclusive"]["Ir"])).collect();
        (costs, whole(&printed["inclusive"]["Ir"]))
    };
    assert_eq!(by_part("gristmill"), (vec![34, 11, 1], 46));
    // The former name of the rule.
    assert_eq!(by_part("own"), by_part("gristmill"));
    // By its call to itself it is a function that is called.
    assert_eq!(by_part("kcachegrind"), (vec![50, 11, 0], 61));
    assert_eq!(by_part("annotate").0, [50, 11, 100]);
}

#[test]
fn large_and_deep_profiles() {
    // A chain of calls, seen from its middle to both ends; and a function with as many callers and callees.
    let count = 100_000 / one_in(10);
    let middle = format!("f{}", count / 2);
    let mut chain = "events: Ir\n".to_owned();
    let mut star = "events: Ir\nfn=hub\n1 1\n".to_owned();
    for n in 0..count {
        write!(chain, "fn=({n}) f{n}\n1 1\ncfn=({}) f{}\ncalls=1 1\n2 {}\n", n + 1, n + 1, count - n)
            .unwrap();
        write!(star, "cfn=leaf{n}\ncalls=1 1\n{n} 1\n").unwrap();
    }
    for n in 0..count {
        write!(star, "fn=root{n}\n1 1\ncfn=hub\ncalls=1 1\n1 1\n").unwrap();
    }
    let folder = folder(&[("chain", chain.as_bytes()), ("star", star.as_bytes())]);
    for (function, file) in [(&*middle, "chain"), ("hub", "star")] {
        for format in ["text", "json", "csv", "markdown"] {
            let arguments = ["show", function, file, "--depth", "1000000", "--format", format];
            let output = run_in(folder.path(), &arguments);
            assert_eq!(code(&output), 0, "{}", stderr(&output));
        }
    }
    let printed = stdout(&run_in(folder.path(), &["show", "hub", "star"]));
    let count = format!("{},000", count / 1000);
    assert!(
        printed.contains(&format!("called {count} times by {count} functions, calls {count} functions")),
        "{printed}"
    );
}

/// Removes the backslashes with which Markdown escapes.
fn without_backslashes(format: &str, text: &str) -> String {
    match format {
        "markdown" => text.replace("\\[", "[").replace("\\\\", "\\"),
        _ => text.to_owned(),
    }
}

#[test]
fn names_are_harmless() {
    let folder =
        folder(&[("evil", b"events: Ir\nfl=\x1b[3J\nfn=\x1b[2J\n1 5\ncfn=\xe2\x80\xaeg\ncalls=1 1\n1 5\n")]);
    for format in ["text", "markdown"] {
        let printed = stdout(&run_in(folder.path(), &["show", "2J", "evil", "--format", format]));
        assert!(!printed.contains('\x1b') && !printed.contains('\u{202e}'), "{printed}");
        let shown = without_backslashes(format, &printed);
        assert!(shown.contains("\\x1b[2J") && shown.contains("\\x1b[3J"), "{printed}");
    }
}

#[test]
fn a_path_that_is_not_utf8_keeps_its_bytes_for_people() {
    let folder = folder(&[(
        "latin-1",
        b"events: Ir\nob=mo\xfc\nfl=jos\xe9.c\nfn=main\n1 5\ncfn=g\ncalls=1 1\n1 5\nfn=g\n1 5\n",
    )]);
    for format in ["text", "markdown"] {
        let printed = stdout(&run_in(folder.path(), &["show", "main", "latin-1", "--format", format]));
        let printed = without_backslashes(format, &printed);
        for path in ["mo\\xfc", "jos\\xe9.c", "g (jos\\"] {
            assert!(printed.contains(path), "{path}: {printed}");
        }
    }
    let output = run_in(folder.path(), &["show", "main", "latin-1", "--format", "json"]);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["function"]["file"], "jos\u{fffd}.c");
    assert_eq!(answer["function"]["object"], "mo\u{fffd}");
}
