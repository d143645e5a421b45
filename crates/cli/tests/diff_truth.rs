//! `gristmill diff` says nothing that the files contradict: trees, lines of moved functions, sentences.

// Tests may panic: that is how they fail. Clippy knows that of test functions, but not of what they share.
#![allow(clippy::unwrap_used, clippy::panic)]

mod harness;

use serde_json::Value;

use harness::{folder, json, run_in, stdout, whole};

/// `left` and `right` call `shared`, whose costs are the same in sum: only who calls it changed.
#[test]
fn the_tree_does_not_contradict_recorded_arcs() {
    let folder = tempfile::tempdir().unwrap();
    let profile = |name: &str, left: u32, right: u32, renamed: &str| {
        let text = format!(
            "events: Ir\nfl=mill.c\nfn=main\n1 5\ncfn=left\ncalls=1 1\n2 {}\ncfn=right\ncalls=1 1\n3 {}\nfn=left\n4 1\n\
             cfn=shared\ncalls={left} 1\n5 {}\nfn=right\n6 2\ncfn=shared\ncalls={right} 1\n7 {}\nfn=shared\n8 {}\n\
             cfn={renamed}\ncalls={} 1\n9 {}\nfn={renamed}\n10 {}\n",
            1 + 100 * left,
            2 + 100 * right,
            100 * left,
            100 * right,
            60 * (left + right),
            left + right,
            40 * (left + right),
            40 * (left + right),
        );
        std::fs::write(folder.path().join(name), text).unwrap();
    };
    profile("base.out", 10, 40, "deep_inner_part");
    profile("new.out", 35, 15, "deep_inner_part_of_all");
    let tree =
        |more: &[&str]| run_in(folder.path(), &[&["diff", "base.out", "new.out", "--tree"], more].concat());
    let answer = json(&tree(&["--format", "json"]));
    let name = |node: &Value| {
        answer["functions"][usize::try_from(whole(&node["function"])).unwrap()]["name"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let rows: Vec<(String, i128, i128, i128, bool)> = answer["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|node| {
            let [change, base, new] = ["change", "base", "new"].map(|of| whole(&node["inclusive"]["Ir"][of]));
            assert_eq!(change, new - base);
            (name(node), base, new, whole(&node["calls"]["change"]), node["guessed"] == true)
        })
        .collect();
    let row = |name: &str, base, new, calls, is_guessed| (name.to_owned(), base, new, calls, is_guessed);
    assert_eq!(
        rows,
        [
            row("(program)", 5008, 5008, 0, false),
            row("main", 5008, 5008, 0, false),
            row("left", 1001, 3501, 0, false),
            row("shared", 1000, 3500, 25, false),
            row("deep_inner_part_of_all", 400, 1400, 25, true),
            row("right", 4002, 1502, 0, false),
            row("shared", 4000, 1500, -25, false),
            row("deep_inner_part_of_all", 1600, 600, -25, true),
        ]
    );
    let shown = stdout(&tree(&[]));
    let last = shown.lines().last().unwrap();
    assert!(last.contains("~-1,000") && last.contains("~1,600"), "{shown}");
    // Limits leave out nodes and say so.
    let shown = stdout(&tree(&["--depth", "2"]));
    assert!(shown.contains("shown: ") && shown.contains("2 levels (--depth)"), "{shown}");
    assert!(shown.contains("… more") && !shown.contains("shared"), "{shown}");
    // The greatest change of a node is 2500.
    let shown = stdout(&tree(&["--min", "50"]));
    assert!(
        shown.contains("nothing below 50% of the greatest change (--min)") && shown.contains("shared"),
        "{shown}"
    );
    assert!(!shown.contains("deep_inner_part"), "{shown}");
    let shown = stdout(&tree(&["-n", "2"]));
    assert!(shown.contains("the 2 nodes that changed most (--limit)"), "{shown}");
    let csv = stdout(&tree(&["--format", "csv"]));
    let line = csv.lines().nth(5).unwrap();
    assert_eq!(
        line,
        "4,3,4,1000,400,1400,1000,400,1400,25,10,35,0,yes,yes,deep_inner_part_of_all,deep_inner_part,mill.c,,\
         (program);main;left;shared;deep_inner_part_of_all"
    );
}

/// A function that was renamed and whose file was renamed: one line of source is one row.
#[test]
fn lines_of_a_moved_function_are_joined() {
    let source = "int grind(int x)\n{\n    x *= 3;\n    x += 7;\n    return x;\n}\n";
    let folder = folder(&[]);
    let write = |name: &str, bytes: &str| std::fs::write(folder.path().join(name), bytes).unwrap();
    let profile = |file: &str, function: &str, first: u32, calls: u32| {
        format!(
            "events: Ir\nob=mill\nfl=main.c\nfn=main\n5 100\ncfi={file}\ncfn={function}\ncalls={calls} {first}\n6 {}\n\
             fl={file}\nfn={function}\n{first} {calls}\n{} {}\n{} {}\n",
            calls * 6,
            first + 2,
            calls * 2,
            first + 3,
            calls * 3
        )
    };
    write("mill_old.c", source);
    write("mill_new.c", &format!("/* Now elsewhere. */\n\n{}", source.replace("grind", "crush")));
    write("base.out", &profile("mill_old.c", "grind", 1, 1000));
    write("new.out", &profile("mill_new.c", "crush", 3, 1000));
    let run = |more: &[&str]| {
        run_in(folder.path(), &[&["diff", "base.out", "new.out", "--function", "crush"], more].concat())
    };
    let answer = json(&run(&["--format", "json"]));
    assert_eq!(answer["function"]["base_name"], "grind");
    let lines: Vec<[Option<i128>; 4]> = answer["lines"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| {
            let number = |of: &str| line[of].as_i64().map(i128::from);
            let [base, new] = ["base", "new"].map(|of| Some(whole(&line["self"]["Ir"][of])));
            [number("base_line"), number("new_line"), base, new]
        })
        .collect();
    assert_eq!(
        lines,
        [
            // Its text is another one: it was removed, and there is a new one.
            [Some(1), None, Some(1000), Some(0)],
            [None, Some(3), Some(0), Some(1000)],
            [Some(3), Some(5), Some(2000), Some(2000)],
            [Some(4), Some(6), Some(3000), Some(3000)],
        ]
    );
    let shown = stdout(&run(&[]));
    assert_eq!(shown.matches("x *= 3;").count(), 1, "{shown}");
    // Without sources, the numbers of the lines of two files say nothing.
    std::fs::remove_file(folder.path().join("mill_old.c")).unwrap();
    let answer = json(&run(&["--format", "json"]));
    assert_eq!(answer["lines"].as_array().unwrap().len(), 6);
}

/// A cost per call that changed by very little did not stay the same.
#[test]
fn a_cause_is_not_unchanged() {
    let profile = |calls: u32, cost: u32| {
        format!("events: Ir\nfn=main\n5 100\ncfn=grind\ncalls={calls} 1\n6 {cost}\nfn=grind\n7 {cost}\n")
    };
    let files = folder(&[
        ("base.out", profile(100_000, 1_000_000).as_bytes()),
        ("new.out", profile(100_010, 1_000_150).as_bytes()),
    ]);
    for more in [&[][..], &["--function", "grind"]] {
        let arguments = [&["diff", "base.out", "new.out", "--min", "0"], more].concat();
        let shown = stdout(&run_in(files.path(), &arguments));
        let joined: String = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(joined.contains("grind costs more per call on average: by less than 0.01%"), "{shown}");
    }
}

/// Into a pipe, names are in full, also those of renamed functions.
#[test]
fn names_of_renamed_functions_are_in_full() {
    let long = "mill::grinder::stone::".repeat(6);
    let profile = |function: &str| {
        format!(
            "events: Ir\nfl=main.c\nfn=main\n5 100\ncfn={long}{function}\ncalls=9 1\n6 900\nfn={long}{function}\n7 900\n"
        )
    };
    let files = folder(&[
        ("base.out", profile("grind_flour").as_bytes()),
        ("new.out", profile("grind_meal").as_bytes()),
    ]);
    let shown = stdout(&run_in(files.path(), &["diff", "base.out", "new.out"]));
    let joined: String = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(joined.contains(&format!("{long}grind_flour may now be {long}grind_meal (")), "{shown}");
    let narrow = stdout(&run_in(files.path(), &["diff", "base.out", "new.out", "--width", "80"]));
    assert!(!narrow.contains(&long) && narrow.contains("grind_flour may now be"), "{narrow}");
}
