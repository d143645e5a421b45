//! `gristmill functions`: its text against goldens, its JSON against the schema, its numbers against arithmetic by hand.
//!
//! `BLESS=1` writes the goldens.

// Tests may panic: that is how they fail. Clippy knows that of test functions, but not of what they share.
#![allow(clippy::unwrap_used, clippy::panic)]

mod harness;

use harness::{
    CLEAN, assert_valid, code, corpus, folder, json, one_in, root, run, run_in, run_with, schema, stderr,
    stdout, text, whole,
};
use serde_json::Value;

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
fn groups_by_what_is_installed() {
    let file = b"events: Time\nfl=/srv/vendor/twig/twig/src/A.php\nfn=A->a\n1 5\nfl=php:internal\nfn=php::b\n1 3\nfl=/srv/index.php\n\
                 fn={main}\n1 1\nfl=src/main.rs\nfn=mill::grind\n1 4\nfn=<mill::Stone as core::fmt::Debug>::fmt\n1 4\n";
    for (group, expected) in [
        ("package", [("(no package)", 9), ("twig/twig", 5), ("php", 3)]),
        ("crate", [("mill", 8), ("(no crate)", 6), ("php", 3)]),
    ] {
        let output = run_with(&["functions", "--group", group, "--format", "json", "-"], file);
        let answer = json(&output);
        let rows = answer["functions"].as_array().unwrap().iter();
        let rows: Vec<(&str, i128)> =
            rows.map(|row| (row["name"].as_str().unwrap(), whole(&row["self"]["Time"]))).collect();
        assert_eq!(rows, expected, "{group}");
    }
}

#[test]
fn other_formats() {
    let mill = "callgrind/callgrind.out.mill-main";
    blessed("csv", &[mill, "--format", "csv"]);
    blessed("markdown", &[mill, "--format", "markdown", "--limit", "4"]);
    blessed("per-call", &[mill, "--per-call", "--limit", "4"]);
    blessed("inclusive", &[mill, "--sort", "inclusive", "--limit", "8"]);
    blessed("relative", &[mill, "--relative-to", "grind", "--filter", "coarse|fine|grind"]);
}

#[test]
fn rates_of_misses() {
    let branches = "callgrind/callgrind.out.cache-branch";
    blessed("rates", &[branches, "--rates", "--limit", "5"]);
    blessed("rates-narrow", &[branches, "--rates", "--limit", "2", "--width", "50"]);
    blessed("rates-csv", &[branches, "--rates", "--event", "Ir", "--limit", "2", "--format", "csv"]);
    blessed(
        "rates-groups",
        &[branches, "--rates", "--group", "file", "--sort", "inclusive", "--format", "markdown"],
    );
    let text =
        b"events: Ir I1mr Bc Bcm Bi Bim\nfn=main\n1 100 2 8 1 2 0\ncfn=work\ncalls=1 5\n2 100 8 0 0 0 0\n\
                 fn=work\n5 100 8\n";
    let folder = folder(&[("a", text)]);
    let shown = |sort: &str| {
        let output =
            run_in(folder.path(), &["functions", "--rates", "--sort", sort, "--format", "json", "a"]);
        let rows = json(&output)["functions"].as_array().unwrap().clone();
        let main = rows.into_iter().find(|row| row["name"] == "main").unwrap();
        let rates = main["rates"].as_array().unwrap().clone();
        rates
            .iter()
            .map(|rate| {
                (rate["name"].as_str().unwrap().to_owned(), whole(&rate["misses"]), whole(&rate["accesses"]))
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(shown("self"), [("I1 miss".to_owned(), 2, 100), ("Mispred".to_owned(), 1, 10)]);
    assert_eq!(shown("inclusive"), [("I1 miss".to_owned(), 10, 200), ("Mispred".to_owned(), 1, 10)]);
    let output =
        run_in(&root().join("corpus"), &["functions", "--rates", "callgrind/callgrind.out.mill-main"]);
    assert!(stderr(&output).contains("--rates has no effect"), "{}", stderr(&output));
}

#[test]
fn functions_within_groups() {
    let mill = "callgrind/callgrind.out.mill-main";
    blessed("then", &[mill, "--group", "file", "--then", "function"]);
    blessed("then-csv", &[mill, "--group", "object", "--then", "file", "--format", "csv"]);
    blessed(
        "then-markdown",
        &[mill, "--group", "file", "--then", "function", "--limit", "1", "--format", "markdown"],
    );
    let branches = "callgrind/callgrind.out.cache-branch";
    blessed(
        "then-narrow",
        &[branches, "--group", "file", "--then", "function", "--limit", "2", "--width", "40", "--rates"],
    );
    // What is within a group adds up to it.
    let corpus = root().join("corpus");
    for then in ["function", "file", "class"] {
        let words = ["functions", mill, "--group", "object", "--then", then, "--format", "json"];
        for row in json(&run_in(&corpus, &words))["functions"].as_array().unwrap() {
            let within = row["within"].as_array().unwrap();
            let sum: i128 = within.iter().map(|row| whole(&row["self"]["Ir"])).sum();
            assert_eq!(sum, whole(&row["self"]["Ir"]), "{row}");
        }
    }
    let output = run_in(&corpus, &["functions", mill, "--group", "cycle", "--then", "function"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("--then goes below groups of functions"), "{}", stderr(&output));
}

fn is_estimated_in_csv(profile: &str) {
    let words = ["functions", profile, "--focus", "treat_all", "--hide", "dry", "--format", "csv"];
    let said = stdout(&run_in(&root().join("corpus"), &words));
    let rows: Vec<&str> = said.lines().collect();
    assert!(
        rows[0].ends_with(",name,file,object,self estimated,inclusive estimated,calls guessed"),
        "{said}"
    );
    assert!(
        rows.contains(&"7558,4878,3,,treat_all,/srv/demo/src/sieve.c,/srv/demo/bin/mill,no,no,no"),
        "{said}"
    );
    assert!(rows.contains(&"1680,1680,120,,mix,/srv/demo/src/grain.h,/srv/demo/bin/mill,no,no,no"), "{said}");
}

#[test]
fn costs_without_some_functions_and_of_some_only() {
    let mill = "callgrind/callgrind.out.mill-main";
    blessed("hide", &[mill, "--hide", "^(mix|swap|by_)", "--limit", "6"]);
    blessed("focus", &[mill, "--focus", "treat_all"]);
    is_estimated_in_csv(mill);
    blessed("hide-groups", &[mill, "--hide", "mix", "--group", "file"]);
    let corpus = root().join("corpus");
    let output = run_in(&corpus, &["functions", "--hide", "nosuch", "--focus", "ma.n", mill]);
    assert!(stderr(&output).contains("no function matches `nosuch`"), "{}", stderr(&output));
    for (refused, reason) in [
        (&["--hide", "mix", "--inclusive", "annotate"][..], "another rule of inclusive cost"),
        (&["--focus", "mix", "--group", "thread"], "no meaning for threads and parts"),
    ] {
        let output = run_in(&corpus, &[&["functions", mill], refused].concat());
        assert_eq!(code(&output), 2);
        assert!(stderr(&output).contains(reason), "{}", stderr(&output));
    }
}

#[test]
fn parts_and_sets() {
    blessed("part", &["callgrind/callgrind.out.parts", "--part", "2", "--limit", "3"]);
    blessed("set", &["--set", "callgrind/callgrind.out.crew-sep", "--limit", "3"]);
}

#[test]
fn a_set_counts_once() {
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
fn a_file_of_a_set_without_a_profile_is_named() {
    let dump = |part: u32| {
        format!(
            "creator: callgrind-3.19.0\npid: 7\ncmd: x\npart: {part}\nevents: Ir\nfn=f\n1 10\ntotals: 10\n"
        )
    };
    let lost =
        "is named like a file of this recording, but has no profile: if it lost one, costs are missing";
    for (name, content, warning) in [
        ("x.out.7.2", &b""[..], Some(lost)),
        ("x.out.7.2", b"garbage\n", Some(lost)),
        ("x.out.7.2.log", b"", None),
        ("x.out.70", b"", None),
    ] {
        let folder =
            folder(&[("x.out.7.1", dump(1).as_bytes()), (name, content), ("x.out.7", dump(3).as_bytes())]);
        for named in [&["x.out.7"][..], &["x.out.7.1", "x.out.7"]] {
            let output = run_in(folder.path(), &[&["functions", "--set"], named].concat());
            let expected =
                warning.map_or_else(String::new, |warning| format!("gristmill: warning: {name} {warning}\n"));
            assert_eq!((code(&output), stderr(&output)), (0, expected), "{name} {named:?}");
        }
    }
}

#[test]
fn numbers_by_hand() {
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
fn json_fits_its_schema() {
    let schema = schema("functions.schema.json");
    for path in corpus().into_iter().step_by(one_in(3)) {
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
fn cuts_remove_calls() {
    let arguments = ["functions", "--format", "json", "--cut", "main -> grind", "-"];
    let answer = json(&run_with(&arguments, CLEAN));
    let main = answer["functions"].as_array().unwrap().iter().find(|row| row["name"] == "main").unwrap();
    assert_eq!(main["inclusive"]["Ir"], 10);
}

#[test]
fn errors() {
    for (arguments, said) in [
        (&["--event", "Foo"][..], "there is no event type `Foo`"),
        (&["--derive", "Foo"], "--derive 'Foo'"),
        (&["--cut", "a"], "there is no ->"),
        (&["--filter", "("], "unclosed group"),
        (&["--part", "9"], "--part 9: the profile has no such part"),
        (
            &["--derive", "X = Foo"],
            "--derive: `X` cannot be derived: there is no `Foo`\n  hint: the event types are Ir, Dr\n",
        ),
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

#[test]
fn faults_of_derived_event_types_are_shown_in_every_format() {
    let of_x = "`X` is derived without `Nope`";
    let of_dr = "`Dr` is not derived: it was recorded";
    let of_cut = "1 call was cut";
    let lacking =
        ["--derive", "X = Ir + Nope", "--derive", "Dr = 2 Ir", "--cut", "main -> grind", "--event", "Ir,X"];
    let commands = [&["functions", "-"][..], &["show", "main", "-"], &["tree", "-"]];
    for command in commands {
        for format in ["text", "markdown"] {
            // The head has it.
            let arguments = [command, &lacking, &["--format", format]].concat();
            let output = run_with(&arguments, CLEAN);
            assert_eq!((code(&output), stderr(&output).as_str()), (0, ""), "{arguments:?}");
            for said in [of_cut, of_dr, of_x] {
                let shown = stdout(&output).replace("\\`", "`");
                let is_said = shown.lines().any(|line| line.trim_end() == said);
                assert!(is_said, "{arguments:?}: {said}: {}", stdout(&output));
            }
        }
        for format in ["json", "csv"] {
            let arguments = [command, &lacking, &["--format", format]].concat();
            let output = run_with(&arguments, CLEAN);
            let said = [of_cut, of_dr, of_x].map(|note| format!("gristmill: warning: {note}\n")).concat();
            assert_eq!((code(&output), stderr(&output)), (0, said), "{arguments:?}");
            if format == "json" {
                let schema = schema(&format!("{}.schema.json", command[0]));
                assert_valid(&schema, &json(&output), command[0]);
            }
            // Event types that are not shown have no note.
            let arguments = [command, &["--derive", "X = Ir + Nope", "--event", "Ir", "--format", format]];
            let output = run_with(&arguments.concat(), CLEAN);
            assert_eq!((code(&output), stderr(&output).as_str()), (0, ""), "{arguments:?}");
        }
    }
}

#[test]
fn doubts_are_shown_for_all_formats() {
    let profile = b"events: Ir\nfn=main\n1 10\nwhat is this?\n3 5\n";
    let said = "<stdin>:4:1: unknown line; expected a `key: value` header, a `key=name` line, a cost line or a `#` comment";
    for command in [&["functions", "-"][..], &["show", "main", "-"], &["tree", "-"]] {
        for format in ["json", "csv"] {
            let output = run_with(&[command, &["--format", format]].concat(), profile);
            let expected = format!("gristmill: warning: {said}\n");
            assert_eq!((code(&output), stderr(&output)), (0, expected), "{command:?} {format}");
        }
    }
}

#[test]
fn costs_per_call_warn_in_values() {
    let answer = |arguments: &[&str]| {
        let output = run_with(&[&["functions", "-"], arguments].concat(), CLEAN);
        assert_eq!(code(&output), 0, "{arguments:?}");
        (stdout(&output), stderr(&output))
    };
    let said = "--per-call has no effect: only text and Markdown have costs per call";
    for format in ["json", "csv"] {
        let (plain, silence) = answer(&["--format", format]);
        assert_eq!(silence, "", "{format}");
        let warned = format!("gristmill: warning: {said}\n");
        assert_eq!(answer(&["--per-call", "--format", format]), (plain, warned), "{format}");
    }
    let (text, silence) = answer(&["--per-call", "--format", "markdown"]);
    assert!(text.contains("| Self/call | Incl/call |"), "{text}");
    assert_eq!(silence, "");
    // If calls were not counted, that is the only warning.
    for format in ["text", "json", "csv", "markdown"] {
        let arguments = ["functions", "--per-call", "--format", format, "dialects/go-pprof.txt"];
        let output = run_in(&root().join("corpus"), &arguments);
        let said = "--per-call has no effect: the profile is sampled, and its calls were not counted";
        assert_eq!(stderr(&output), format!("gristmill: warning: {said}\n"), "{format}");
    }
}

/// A function is on one line as long as its name has space; what is left out is named.
#[test]
fn costs_give_way_to_names() {
    let shown = |options: &[&str]| {
        let output = run_with(&[&["functions", "--event", "Ir,Dr", "-"], options].concat(), CLEAN);
        let text = stdout(&output);
        let rows: Vec<String> =
            text.lines().skip_while(|line| !line.contains('%')).map(str::to_owned).collect();
        rows
    };
    let wide = [
        "Self Ir     %  Inclusive Ir      %  Self Dr     %  Inclusive Dr      %  Calls  Function",
        "     50  83.3            50   83.3       10  83.3            10   83.3      3  grind (mill.c)",
        "     10  16.7            60  100.0        2  16.7            12  100.0      0  main (mill.c)",
    ];
    assert_eq!(shown(&["--width", "110"]), wide);
    let narrow = [
        "Self Ir     %  Self Dr     %  Calls  Function",
        "     50  83.3       10  83.3      3  grind (mill.c)",
        "     10  16.7        2  16.7      0  main (mill.c)",
        "inclusive costs need more columns (--width)",
    ];
    assert_eq!(shown(&["--width", "80"]), narrow);
    let inclusive = [
        "Inclusive Ir      %  Inclusive Dr      %  Function",
        "          60  100.0            12  100.0  main (mill.c)",
        "          50   83.3            10   83.3  grind (mill.c)",
        "self costs and counts of calls need more columns (--width)",
    ];
    let shown = shown(&["--width", "64", "--sort", "inclusive"]);
    assert_eq!(shown, inclusive);
}

#[test]
fn costs_per_call_of_stacked_rows() {
    let narrow = ["functions", "--per-call", "--event", "Ir,Dr", "--width", "40", "-"];
    let output = run_with(&narrow, CLEAN);
    let text = stdout(&output);
    let rows: Vec<&str> = text.lines().skip_while(|line| !line.contains("Inclusive")).collect();
    let expected = [
        "            Self     %  Inclusive      %",
        "3× grind (mill.c)",
        "  Ir          50  83.3         50   83.3",
        "    a call    17               17",
        "  Dr          10  83.3         10   83.3",
        "    a call     3                3",
        "0× main (mill.c)",
        "  Ir          10  16.7         60  100.0",
        "  Dr           2  16.7         12  100.0",
    ];
    assert_eq!((rows, stderr(&output).as_str()), (expected.to_vec(), ""));
    // Without calls there is no line.
    let arguments = ["functions", "--event", "Ir,I1mr,ILmr,Dr,Dw", "cachegrind/cachegrind.out.mill"];
    let [plain, per_call] = [&[][..], &["--per-call"]]
        .map(|option| stdout(&run_in(&root().join("corpus"), &[&arguments, option].concat())));
    assert!(plain.contains("Self"), "{plain}");
    assert_eq!(plain, per_call);
}

#[test]
fn groups_cost_no_less_than_their_own_lines() {
    // A cycle that nothing calls, and a function that calls nothing.
    let file = b"events: Ir\nob=a\nfn=main\n1 10\ncfn=f\ncalls=1 1\n1 80\nfn=f\n1 70\ncfn=main\ncalls=1 1\n1 10\nob=b\nfn=g\n1 30\n";
    let output = run_with(&["functions", "--group", "object", "--format", "json", "-"], file);
    let costs = |name: &str| {
        let answer = json(&output);
        let rows = answer["functions"].as_array().unwrap();
        let row = rows.iter().find(|row| row["name"] == name).unwrap();
        (whole(&row["self"]["Ir"]), whole(&row["inclusive"]["Ir"]))
    };
    assert_eq!([costs("a"), costs("b")], [(80, 80), (30, 30)]);

    let arguments = ["functions", "--group", "object", "--object", "^a$", "-"];
    let text = stdout(&run_with(&arguments, file));
    assert!(text.contains("of 2 objects with 72.7% of the self cost"), "{text}");
    let output = run_with(&[&arguments[..], &["--inclusive", "kcachegrind"]].concat(), file);
    assert!(stderr(&output).contains("--inclusive has no effect"));
}

#[test]
fn cycles_are_found_by_the_names_of_their_members() {
    let names = |filter: &str| {
        let arguments = ["functions", "--group", "cycle", "--format", "json", "callgrind/callgrind.out.mill"];
        let output = run_in(&root().join("corpus"), &[&arguments[..], &["--filter", filter]].concat());
        let rows = json(&output)["functions"].as_array().unwrap().clone();
        rows.iter().map(|row| row["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let cycle = names("^cycle 1 ");
    assert_eq!(cycle.len(), 1);
    // The base of a recursion stands for its levels.
    assert_eq!([names("^coarse'2$"), names("^fine'2$")].map(|names| names.len()), [1, 1]);
    for base in ["^coarse$", "^fine$"] {
        assert!(names(base).len() == 2 && names(base).contains(&cycle[0]), "{base}");
    }
}

#[test]
fn a_bound_is_marked_in_every_format() {
    // The library calls the program back, and something else calls the library.
    let file =
        b"events: Ir\nob=a\nfn=main\n1 10\ncob=b\ncfn=f\ncalls=1 1\n1 90\nob=b\nfn=f\n1 71\ncob=a\ncfn=g\n\
        calls=1 1\n1 20\nob=a\nfn=g\n1 20\nob=c\nfn=thread\ncob=b\ncfn=f\ncalls=1 1\n1 1\n";
    let printed = |more: &[&str]| {
        let output = run_with(&[&["functions", "--group", "object", "-"], more].concat(), file);
        stdout(&output)
    };
    assert!(printed(&[]).contains("≤"), "{}", printed(&[]));
    let events = "Ir,A,B,C,D,E";
    let many: Vec<String> =
        "ABCDE".chars().map(|name| format!("--derive={name} = 1000000000000 Ir")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).chain(["-e", events]).collect();
    let stacked = printed(&many);
    assert!(stacked.lines().any(|line| line.starts_with("  A") && line.contains("≤")), "{stacked}");
    let csv = printed(&["--format", "csv"]);
    assert!(csv.lines().next().unwrap().ends_with(",inclusive is upper bound"), "{csv}");
    // Calls come back to the program, and not to the library.
    assert_eq!(csv.lines().filter(|line| line.ends_with(",yes")).count(), 1, "{csv}");
}

#[test]
fn event_types_that_do_not_exist_have_a_reason() {
    let of = |options: &[&str]| {
        let output =
            run_in(&root(), &[&["functions", "corpus/callgrind/callgrind.out.mill"], options].concat());
        assert_eq!(code(&output), 2);
        stderr(&output)
    };
    assert_eq!(
        of(&["-e", "Foo"]),
        "gristmill: there is no event type `Foo`\n  hint: the only event type is Ir\n"
    );
    let derived = of(&["-e", "X", "--derive", "X = Foo"]);
    assert!(derived.starts_with("gristmill: `X` cannot be derived: there is no `Foo`\n"), "{derived}");
}

/// In a difference that was written as a profile, the greatest change comes first, and a share has the sign of its cost.
#[test]
fn a_difference_is_ordered_by_its_changes() {
    let before = b"events: Ir\nfn=slow\n1 900\nfn=fast\n1 10\nfn=same\n1 90\n";
    let after = b"events: Ir\nfn=slow\n1 100\nfn=fast\n1 310\nfn=same\n1 90\n";
    let folder = folder(&[("before", before), ("after", after)]);
    let written = run_in(folder.path(), &["diff", "before", "after", "-o", "change.callgrind"]);
    assert_eq!(code(&written), 0, "{}", stderr(&written));
    let output = stdout(&run_in(folder.path(), &["functions", "change.callgrind"]));
    let rows: Vec<Vec<&str>> = output
        .lines()
        .skip_while(|line| !line.contains("Self"))
        .skip(1)
        .map(|line| line.split_whitespace().collect())
        .collect();
    // The sum is -500.
    assert_eq!((rows[0][..2].to_vec(), rows[0].last()), (vec!["-800", "-160.0"], Some(&"slow")), "{output}");
    assert_eq!((rows[1][..2].to_vec(), rows[1].last()), (vec!["300", "60.0"], Some(&"fast")), "{output}");
}

#[test]
fn threads_and_parts_are_groups() {
    let corpus = root().join("corpus");
    let separate: Vec<String> =
        (1..=4).map(|thread| format!("callgrind/callgrind.out.crew-sep-0{thread}")).collect();
    for (files, what, names) in [
        (&separate[..], "thread", &["thread 4", "thread 3", "thread 2", "thread 1"][..]),
        (&["callgrind/callgrind.out.mill".to_owned()], "thread", &["no thread"]),
        (&["callgrind/callgrind.out.mill".to_owned()], "part", &["part 1: Program termination"]),
    ] {
        let mut arguments = vec!["functions", "--format", "json", "--group", what];
        arguments.extend(files.iter().map(String::as_str));
        let report = json(&run_in(&corpus, &arguments));
        let rows = report["functions"].as_array().unwrap();
        let shown: Vec<&str> = rows.iter().map(|row| row["name"].as_str().unwrap()).collect();
        assert_eq!(shown, names);
        let sum: u64 = rows.iter().map(|row| row["self"]["Ir"].as_u64().unwrap()).sum();
        assert_eq!(Some(sum), report["totals"]["Ir"].as_u64(), "{what}");
        // Each row is what a selection of it has.
        for row in rows.iter().filter(|row| row["name"] != "no thread" && what == "thread") {
            let thread = row["name"].as_str().unwrap().strip_prefix("thread ").unwrap();
            let mut alone = vec!["functions", "--format", "json", "--thread", thread];
            alone.extend(files.iter().map(String::as_str));
            assert_eq!(json(&run_in(&corpus, &alone))["totals"]["Ir"], row["self"]["Ir"], "{thread}");
        }
    }
    let parts = run_in(&corpus, &["functions", "--group", "part", "callgrind/callgrind.out.parts"]);
    let shown = stdout(&parts);
    assert!(shown.contains("28,606  33.6  part 4: Program termination"), "{shown}");
    // What takes functions away would leave parts with costs that are not theirs.
    let narrowed =
        run_in(&corpus, &["functions", "--group", "part", "--file", "mill", "callgrind/callgrind.out.parts"]);
    assert!(stderr(&narrowed).contains("no effect on threads and parts"), "{}", stderr(&narrowed));
}
