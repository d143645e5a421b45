//! `gristmill diff`: its text against goldens, its JSON against the schema, its sums against arithmetic.
//!
//! `BLESS=1` rewrites the goldens.

// Tests may panic: that is how they fail. Clippy knows that of test functions, but not of what they share.
#![allow(clippy::unwrap_used, clippy::panic)]

mod harness;

use std::path::Path;

use serde_json::{Value, json};

use harness::{
    CLEAN, assert_ends_quietly, assert_valid, code, corpus, folder, golden, json, malformed, run, run_in,
    run_with, schema, stderr, stdout, text, whole,
};

const BASE: &[u8] = b"creator: hand 1\ncmd: mill -f\nevents: Ir Dr\nob=/a/mill/target/mill\nfl=/a/mill/src/mill.c\nfn=main\n\
    10 10 2\ncfn=grind\ncalls=3 20\n11 50 10\ncfn=weigh\ncalls=1 30\n12 7\nfn=grind\n20 30 10\ncfn=crack\ncalls=6 40\n\
    21 20\nfn=crack\n40 20\nfn=weigh\n30 7\n";

/// `crack` is inlined, `grind` called twice as often, `weigh` has another name, and all is elsewhere.
const NEW: &[u8] = b"creator: hand 1\ncmd: mill -f\nevents: Ir Dr\nob=/b/work/target/mill\nfl=/b/work/src/mill.c\nfn=main\n\
    10 10 2\ncfn=grind\ncalls=6 20\n11 90 20\ncfn=scale\ncalls=1 30\n12 7\nfn=grind\n20 60 20\n40 30\nfn=scale\n30 7\n";

fn files() -> tempfile::TempDir {
    folder(&[("base.out", BASE), ("new.out", NEW)])
}

fn blessed(name: &str, folder: &Path, arguments: &[&str]) {
    let output = run_in(folder, &[&["diff"], arguments].concat());
    assert_eq!((stderr(&output).as_str(), code(&output)), ("", 0));
    let shown = stdout(&output);
    // The paths of examples are as long as paths are.
    if !arguments.contains(&"--format") && name != "rules" {
        for line in shown.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
    golden(&format!("diff-{name}"), &shown);
}

/// Equal in the first event type: the others are named, with their totals and the option that shows them.
#[test]
fn changes_of_other_event_types_are_named() {
    let profile = |dr: u32, misses: u32, bc: u32| {
        format!(
            "events: Ir Dr D1mr Time_(us) Bc\nfn=main\n1 100 {dr} 4 7 {bc}\nfn=grind\n2 50 10 {misses} 1 {}\n",
            50 - bc
        )
    };
    let base = profile(20, 3, 10);
    let files = folder(&[
        ("base.out", base.as_bytes()),
        ("one.out", profile(21, 3, 10).as_bytes()),
        ("several.out", profile(18, 5, 11).as_bytes()),
        ("time.out", base.replace(" 4 7", " 4 9").as_bytes()),
        ("ir.out", profile(21, 3, 10).replace("2 50", "2 51").as_bytes()),
    ]);
    let shown =
        |arguments: &[&str]| stdout(&run_in(files.path(), &[&["diff", "base.out"], arguments].concat()));
    let line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for (new, expected) in [
        (
            "one.out",
            "another event type changed: Dr 30 → 31 (+3.33%); -e Dr shows the functions none of 2 functions changed in Ir",
        ),
        (
            "several.out",
            "other event types changed: Dr 30 → 28 (-6.67%), D1mr 7 → 9 (+28.57%), Bc 50 on both sides, of other functions; \
             -e Dr,D1mr,Bc shows the functions none of 2 functions changed in Ir",
        ),
        ("time.out", "; -e 'Time_(us)' shows the functions"),
    ] {
        let text = shown(&[new]);
        assert!(line(&text).contains(expected), "{text}");
        for document in
            [&["--format", "markdown"][..], &["--format", "html"], &["--tree"], &["--group", "file"]]
        {
            let text = shown(&[&[new], document].concat());
            assert!(text.contains("changed: ") && text.contains("shows the functions"), "{text}");
        }
    }
    // The option is right: with it, all that changed is shown.
    let text = shown(&["several.out", "-e", "Dr,D1mr,Bc"]);
    assert!(text.contains("2 of 2 functions changed") && !text.contains("event type"), "{text}");
    for new in ["base.out", "ir.out"] {
        assert!(!shown(&[new]).contains("event type"), "{new}");
    }
}

#[test]
fn text_for_people() {
    let files = files();
    let [base, new] = ["base.out", "new.out"];
    blessed("text", files.path(), &[base, new]);
    blessed("same", files.path(), &[base, base]);
    blessed("events", files.path(), &[base, new, "--event", "Ir,Dr", "--limit", "2"]);
    blessed("by-file", files.path(), &[base, new, "--group", "file"]);
    blessed("filter", files.path(), &[base, new, "--filter", "^(grind|crack)$"]);
    blessed(
        "apart",
        files.path(),
        &[base, new, "--no-rule", "checkout-directory,other-file,other-object,rename"],
    );
    blessed("rules", files.path(), &["--list-rules"]);
}

/// A colour repeats what the sign says, and changes nothing else.
#[test]
fn changes_have_colours() {
    let files = files();
    for arguments in [
        &["base.out", "new.out"][..],
        &["new.out", "base.out", "-e", "Ir,Dr", "--width", "40"],
        &["base.out", "new.out", "--tree"],
        &["base.out", "new.out", "--function", "grind"],
    ] {
        let plain = stdout(&run_in(files.path(), &[&["diff"], arguments].concat()));
        let coloured = stdout(&run_in(files.path(), &[&["--color", "always", "diff"], arguments].concat()));
        let mut pieces = coloured.split('\x1b');
        let mut bare = pieces.next().unwrap_or_default().to_owned();
        let mut counts = [0; 2];
        for piece in pieces {
            let (style, text) = piece.split_once('m').unwrap();
            bare.push_str(text);
            let signs = ["[31", "[32"].iter().position(|colour| *colour == style).zip(Some(['+', '-']));
            if let Some((colour, signs)) = signs {
                counts[colour] += 1;
                assert!(text.trim_start_matches([' ', '~']).starts_with(signs[colour]), "{coloured}");
            }
        }
        assert_eq!(bare, plain);
        assert!(counts.iter().all(|&count| count > 0), "{coloured}");
    }
}

#[test]
fn other_formats() {
    let files = files();
    for format in ["csv", "markdown"] {
        blessed(format, files.path(), &["base.out", "new.out", "--format", format]);
    }
    // The style and the script of all pages belong to no golden of this one.
    let mut page = stdout(&run_in(files.path(), &["diff", "base.out", "new.out", "--format", "html"]));
    for (start, end) in [("<style>", "</style>"), ("<script>", "</script>")] {
        let (before, rest) = page.split_once(start).unwrap();
        let (_, after) = rest.split_once(end).unwrap();
        page = format!("{before}{start}{end}{after}");
    }
    golden("diff-html", &page);
}

#[test]
fn a_function_with_its_source() {
    let source = (1..=45).map(|line| format!("line {line} of the base\n")).collect::<String>();
    // A line came at the top, so all others have another number.
    let newer = format!("a new line\n{source}");
    let folder = folder(&[]);
    let path = |name: &str| folder.path().join(name);
    for (checkout, text) in [("one", &source), ("two", &newer)] {
        std::fs::create_dir(path(checkout)).unwrap();
        std::fs::write(path(checkout).join("mill.c"), text).unwrap();
    }
    let profile = |checkout: &str, lines: &str| {
        format!("events: Ir\nfl={}/mill.c\nfn=grind\n{lines}", text(&path(checkout)))
    };
    std::fs::write(path("base.out"), profile("one", "20 100\n21 7\n")).unwrap();
    std::fs::write(path("new.out"), profile("two", "21 130\n25 5\n")).unwrap();
    let output =
        run_in(folder.path(), &["diff", "--function", "grind", "base.out", "new.out", "--format", "json"]);
    let answer = json(&output);
    let lines: Vec<Value> = answer["lines"].as_array().unwrap().clone();
    let told: Vec<_> = lines
        .iter()
        .map(|line| {
            (line["base_line"].clone(), line["new_line"].clone(), line["self"]["Ir"]["change"].clone())
        })
        .collect();
    assert_eq!(
        told,
        [
            (json!(20), json!(21), json!(30)),
            (json!(21), json!(22), json!(-7)),
            (Value::Null, json!(25), json!(5))
        ]
    );
    assert_eq!(lines[0]["source"], "line 20 of the base");
    assert_valid(&schema("diff-function.schema.json"), &answer, "diff");
    let output = run_in(folder.path(), &["diff", "--function", "grind", "base.out", "new.out"]);
    assert!(stdout(&output).contains(" 100  130     +30    21  line 20 of the base"), "{}", stdout(&output));
    for format in ["markdown", "csv", "html"] {
        let output = run_in(
            folder.path(),
            &["diff", "--function", "grind", "base.out", "new.out", "--format", format],
        );
        assert!(stdout(&output).contains("line 24 of the base"), "{format}: {}", stdout(&output));
    }
}

fn validated(answer: &Value) {
    assert_valid(&schema("diff.schema.json"), answer, "diff");
}

/// The rows, shown or not, add up to the change of the total.
fn assert_adds_up(answer: &Value) {
    for (event, total) in answer["totals"].as_object().unwrap() {
        let rows = answer["functions"].as_array().unwrap().iter();
        let shown: i128 = rows.map(|row| whole(&row["self"][event]["change"])).sum();
        let rest = whole(&answer["rest"]["self"][event]) + whole(&answer["remainder"][event]);
        assert_eq!(shown + rest, whole(&total["change"]), "{event}");
    }
    let causes = answer["causes"].as_array().unwrap();
    if let Some(first) = answer["event_types"][0].as_str().filter(|_| !causes.is_empty()) {
        let effects: i128 = causes.iter().map(|cause| whole(&cause["effect"])).sum();
        let others = whole(&answer["other_causes"]["effect"]) + whole(&answer["remainder"][first]);
        assert_eq!(effects + others, whole(&answer["totals"][first]["change"]));
    }
}

#[test]
fn json_keeps_its_promise() {
    let files = corpus();
    let mut compared = 0;
    for pair in files.windows(2) {
        let [base, new] = pair else { continue };
        let output = run(&["diff", "--format", "json", text(base), text(new)]);
        if code(&output) == 2 {
            assert!(
                stderr(&output).contains("no event type in common")
                    || stderr(&output).contains("no function")
                    || stderr(&output).contains("the file is empty")
            );
            continue;
        }
        let answer = json(&output);
        validated(&answer);
        assert_adds_up(&answer);
        compared += 1;
    }
    assert!(compared > 20, "{compared}");
    let files = self::files();
    for arguments in [&["--group", "object"][..], &["--limit", "1"], &["--min", "50"], &["--filter", "grind"]]
    {
        let output =
            run_in(files.path(), &[&["diff", "--format", "json", "base.out", "new.out"], arguments].concat());
        let answer = json(&output);
        validated(&answer);
        if !arguments.contains(&"--filter") {
            assert_adds_up(&answer);
        }
    }
}

/// The first file calls the second, which calls the first again, where cost is counted once more. A third file calls the second,
/// too, so it is not known how much of that is within the first.
#[test]
fn groups_that_call_each_other_say_at_most() {
    let file = |cost: u32| {
        format!(
            "events: Ir\nfl=a.c\nfn=main\n1 1\ncfi=b.c\ncfn=there\ncalls=1 1\n1 {cost}\nfn=back\n2 {cost}\nfl=b.c\n\
             fn=there\n1 1\ncfi=a.c\ncfn=back\ncalls=1 2\n1 {cost}\nfl=c.c\nfn=thread\ncfi=b.c\ncfn=there\n\
             calls=1 1\n1 1\n"
        )
    };
    let folder = folder(&[("base", file(10).as_bytes()), ("new", file(20).as_bytes())]);
    let of =
        |group, format| run_in(folder.path(), &["diff", "base", "new", "--group", group, "--format", format]);
    for (group, format, times) in [("file", "text", 1), ("file", "markdown", 1), ("object", "text", 0)] {
        let output = of(group, format);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        let shown = stdout(&output).split_whitespace().collect::<Vec<_>>().join(" ");
        let found =
            shown.matches("inclusive cost may count calls twice: they leave the group and return").count();
        assert_eq!(found, times, "{}", stdout(&output));
    }
    let answer = json(&of("file", "json"));
    validated(&answer);
    for function in answer["functions"].as_array().unwrap() {
        let is_upper_bound = function["inclusive_is_upper_bound"] == true;
        assert_eq!(is_upper_bound, function["name"] == "a.c", "{function}");
    }
}

#[test]
fn causes_are_those_that_were_made() {
    let files = files();
    let answer = json(&run_in(files.path(), &["diff", "--format", "json", "base.out", "new.out"]));
    let causes = answer["causes"].as_array().unwrap();
    let kinds: Vec<(&str, i128)> =
        causes.iter().map(|cause| (cause["kind"].as_str().unwrap(), whole(&cause["effect"]))).collect();
    assert!(kinds.contains(&("calls", 50)), "{kinds:?}");
    assert!(kinds.iter().any(|(kind, _)| *kind == "inlined"), "{kinds:?}");
    let directories = &answer["directories"][0];
    assert_eq!(
        (directories["base"].as_str(), directories["new"].as_str()),
        (Some("/a/mill/"), Some("/b/work/"))
    );
}

#[test]
fn the_tree_has_both_sides() {
    let files = files();
    let tree =
        |more: &[&str]| run_in(files.path(), &[&["diff", "base.out", "new.out", "--tree"], more].concat());
    let shown = stdout(&tree(&[]));
    let row = shown.lines().find(|line| line.ends_with("grind")).unwrap();
    assert_eq!(row.split_whitespace().take(4).collect::<Vec<_>>(), ["+40", "+59.70", "50", "90"], "{shown}");
    // The head is that of the difference, with the change of the total.
    let head: Vec<&str> = shown.lines().take(2).collect();
    assert_eq!(head, ["base.out → new.out", "Ir  67 → 107 (+59.70%), +40"], "{shown}");
    let page = stdout(&tree(&["--format", "markdown"]));
    assert!(page.starts_with("**Ir +59.70%**: 67 → 107, +40\n"), "{page}");
    let derived = tree(&["--derive", "X = 2 Ir", "-e", "X"]);
    assert_eq!((stderr(&derived).as_str(), code(&derived)), ("", 0));
    assert!(stdout(&derived).contains("X  134 → 214 (+59.70%), +80"), "{}", stdout(&derived));
    let refused = tree(&["--format", "html"]);
    assert_eq!((code(&refused), stdout(&refused).as_str()), (2, ""));
}

#[test]
fn difference_is_a_profile() {
    let files = files();
    let run = |arguments: &[&str]| run_in(files.path(), arguments);
    let output = run(&["diff", "base.out", "new.out", "-o", "d.callgrind"]);
    assert_eq!((stderr(&output).as_str(), stdout(&output).as_str(), code(&output)), ("", "", 0));
    let functions = json(&run(&["functions", "--format", "json", "d.callgrind"]));
    assert_eq!(functions["totals"], json!({ "Ir": 40, "Dr": 10 }));
    assert_eq!(functions["findings"], 0);
    // Base and difference, taken together, are the new profile.
    let sum = json(&run(&["functions", "--format", "json", "base.out", "d.callgrind"]));
    assert_eq!(sum["totals"], json!({ "Ir": 107, "Dr": 22 }));
    let sum = sum["functions"].as_array().unwrap();
    let grind = sum.iter().find(|function| function["name"] == "grind").unwrap();
    assert_eq!(
        (&grind["self"]["Ir"], &grind["inclusive"]["Ir"], &grind["calls"]),
        (&json!(90), &json!(90), &json!(6))
    );
    for arguments in [&["show", "grind"][..], &["tree"], &["info"]] {
        assert_eq!(code(&run(&[arguments, &["d.callgrind"]].concat())), 0, "{arguments:?}");
    }
    assert_eq!(code(&run(&["lint", "d.callgrind"])), 0);
    // What is there stays, unless told otherwise.
    assert_eq!(code(&run(&["diff", "base.out", "new.out", "-o", "d.callgrind"])), 2);
    assert_eq!(code(&run(&["diff", "base.out", "new.out", "-o", "d.callgrind", "--force"])), 0);
}

#[test]
fn several_runs_have_a_median_and_a_spread() {
    let run_of = |cost: u32| format!("events: Ir\nfl=m.c\nfn=f\n1 {cost}\nfn=g\n2 {}\n", 50 + cost % 2);
    let files = folder(&[]);
    for (nth, cost) in [100, 104, 102, 101, 103, 110].into_iter().enumerate() {
        std::fs::write(files.path().join(format!("r{nth}")), run_of(cost)).unwrap();
    }
    let arguments = ["diff", "--base", "r0", "r1", "r2", "--new", "r3", "r4", "r5"];
    let answer = json(&run_in(files.path(), &[&arguments[..], &["--format", "json"]].concat()));
    validated(&answer);
    assert_adds_up(&answer);
    let f = answer["functions"].as_array().unwrap().iter().find(|row| row["name"] == "f").unwrap();
    assert_eq!(
        f["self"]["Ir"],
        json!({ "base": 102, "new": 103, "change": 1, "base_range": [100, 104], "new_range": [101, 110], "noise": true })
    );
    let shown = stdout(&run_in(files.path(), &arguments));
    assert!(shown.contains("noise"), "{shown}");
}

#[test]
fn different_recordings_cause_warnings() {
    let other = |from: &str, to: &str| {
        let text = String::from_utf8(NEW.to_vec()).unwrap();
        assert!(text.contains(from));
        text.replace(from, to)
    };
    for (from, to, said) in [
        ("creator: hand 1", "creator: hand 2", "the versions of the tool differ: hand 1 in the base, hand 2"),
        ("mill -f", "mill -s", "the commands differ: mill -f in the base, mill -s in the new profile"),
        ("events: Ir Dr", "events: Ir Dw", "Dr only in the base, Dw only in the new profile"),
        (
            "cmd: mill -f\n",
            "cmd: mill -f\ndesc: I1 cache: 1 kB\n",
            "I1 cache differs: nothing in the base, 1 kB",
        ),
    ] {
        let new = other(from, to);
        let files = folder(&[("base.out", BASE), ("new.out", new.as_bytes())]);
        let output = run_in(files.path(), &["diff", "base.out", "new.out"]);
        assert_eq!(code(&output), 0);
        let shown = stdout(&output).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(shown.contains(said), "{shown}");
        let output =
            run_in(files.path(), &["diff", "base.out", "new.out", "--strict-environment", "-o", "x"]);
        assert_eq!((code(&output), stdout(&output).as_str()), (2, ""));
        assert!(stderr(&output).contains(said), "{}", stderr(&output));
        assert!(!files.path().join("x").exists());
    }
    // Another folder is no other program.
    let files = folder(&[("base.out", BASE), ("new.out", NEW)]);
    assert_eq!(code(&run_in(files.path(), &["diff", "base.out", "new.out", "--strict-environment"])), 0);
}

/// Documents for people say it at their top, and for what programs read it is said on standard error.
#[test]
fn unreadable_lines_cause_warnings() {
    let broken = "events: Ir\nfl=m.c\nfn=f\n1 5\nnonsense\n2 6\n";
    let worse = format!("{broken}more nonsense\n");
    let files =
        folder(&[("base.out", broken.as_bytes()), ("new.out", worse.as_bytes()), ("good.out", CLEAN)]);
    let what =
        "unknown line; expected a `key: value` header, a `key=name` line, a cost line or a `#` comment";
    let of_base = &format!("base.out:5:1: {what}")[..];
    let of_new =
        &format!("new.out:5:1: {what}; 1 more line could not be taken as it is: gristmill lint shows it")[..];
    let pair = ["base.out", "new.out"];
    for function in [&[][..], &["--function", "f"]] {
        for format in ["text", "markdown", "html"] {
            let output = run_in(files.path(), &[&["diff", "--format", format], function, &pair].concat());
            assert_eq!((code(&output), stderr(&output).as_str()), (0, ""), "{format}");
            let shown = stdout(&output).replace('\\', "");
            let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
            assert_eq!(
                (shown.matches(of_base).count(), shown.matches(of_new).count()),
                (1, 1),
                "{format}: {shown}"
            );
        }
        for format in ["json", "csv"] {
            let output = run_in(files.path(), &[&["diff", "--format", format], function, &pair].concat());
            let said = format!("gristmill: warning: {of_base}\ngristmill: warning: {of_new}\n");
            assert_eq!((code(&output), stderr(&output)), (0, said), "{format}");
        }
    }
    // A warning names the run, and the difference is written anyway.
    let runs = ["diff", "--base", "good.out", "base.out", "--new", "new.out", "-o", "d.callgrind"];
    let output = run_in(files.path(), &runs);
    assert_eq!(code(&output), 0);
    assert_eq!(stderr(&output).matches("gristmill: warning: ").count(), 2, "{}", stderr(&output));
    assert!(stderr(&output).contains(of_base) && stderr(&output).contains(of_new), "{}", stderr(&output));
    let output = run_in(files.path(), &["diff", "good.out", "good.out", "--format", "csv"]);
    assert_eq!((code(&output), stderr(&output).as_str()), (0, ""));
}

#[test]
fn incomplete_event_types_cause_warnings() {
    let files = files();
    let derived = ["diff", "base.out", "new.out", "--derive", "X = Ir + Nope"];
    let of_x = "`X` is derived without `Nope`";
    let output = run_in(files.path(), &[&derived[..], &["--event", "X"]].concat());
    assert!(stdout(&output).contains(&format!("\nwarning: {of_x}\n")), "{}", stdout(&output));
    assert_eq!(stderr(&output), "");
    let output = run_in(files.path(), &[&derived[..], &["--event", "X", "--format", "json"]].concat());
    assert_eq!(stderr(&output), format!("gristmill: warning: {of_x}\n"));
    // Of what is not shown nothing need be said.
    let output = run_in(files.path(), &[&derived[..], &["--event", "Ir"]].concat());
    assert!(!stdout(&output).contains("Nope"), "{}", stdout(&output));
    // What is derived is shown without being asked for.
    let output = run_in(files.path(), &derived);
    assert!(stdout(&output).contains(&format!("\nwarning: {of_x}\n")), "{}", stdout(&output));
    let output = run_in(files.path(), &[&derived[..], &["--format", "csv"]].concat());
    assert!(stdout(&output).lines().next().unwrap().contains(",self X base,"), "{}", stdout(&output));
    let output = run_in(files.path(), &["diff", "base.out", "new.out", "--derive", "X = Nope"]);
    assert_eq!((code(&output), stdout(&output).as_str()), (2, ""));
    let said = "gristmill: --derive: `X` cannot be derived: there is no `Nope`\n";
    assert!(stderr(&output).starts_with(said), "{}", stderr(&output));
}

#[test]
fn what_cannot_be_done_is_said() {
    let files = folder(&[
        ("base.out", BASE),
        ("new.out", NEW),
        ("empty.out", b""),
        ("header.out", b"events: Ir\n"),
        ("image.png", b"\x89PNG\r\n\x1a\n"),
        ("other.out", b"events: Time\nfn=f\n1 1\n"),
    ]);
    for (arguments, said) in [
        (&["base.out", "empty.out"][..], "empty.out: the file is empty"),
        (&["header.out", "base.out"], "header.out: no function to compare"),
        (&["base.out", "image.png"], "image.png"),
        (&["base.out", "nothing.out"], "nothing.out: no such file"),
        (&["base.out", "other.out"], "no event type in common"),
        (
            &["base.out"],
            "required arguments were not provided:\n  <NEW>\n\nUsage: gristmill diff [OPTIONS] <BASE> <NEW>\n",
        ),
        (&["--base", "base.out"], "--base is given without --new"),
        (&["base.out", "--new", "new.out"], "cannot be used with"),
        (&["base.out", "new.out", "--event", "Dx"], "there is no event type `Dx` on both sides"),
        (&["base.out", "new.out", "--no-rule", "pids"], "the nearest is pid"),
        (&["base.out", "new.out", "--no-rule", "nosuch"], "  hint: --list-rules lists all"),
        (&["base.out", "new.out", "--map", "x"], "there is no FROM=TO"),
        (&["base.out", "new.out", "--filter", "("], "unclosed group"),
        (&["base.out", "new.out", "--part", "7"], "--part 7: the profile has no such part"),
        (&["base.out", "new.out", "--function", "nothing"], "no function is called `nothing`"),
        (&["base.out", "new.out", "--min", "x"], "from 0 to 100"),
        (&["-", "-"], "only once"),
    ] {
        let output = run_in(files.path(), &[&["diff"], arguments, &["-o", "out"]].concat());
        assert_eq!((code(&output), stdout(&output).as_str()), (2, ""), "{arguments:?}");
        assert!(stderr(&output).contains(said), "{arguments:?}: {}", stderr(&output));
        assert!(!files.path().join("out").exists(), "{arguments:?}");
    }
}

#[test]
fn broken_profiles_do_no_harm() {
    let files = folder(&[("clean.out", CLEAN)]);
    let clean = files.path().join("clean.out");
    for path in malformed() {
        for pair in [[text(&clean), text(&path)], [text(&path), text(&clean)]] {
            for format in ["text", "json", "callgrind"] {
                let output = run(&["diff", "--format", format, pair[0], pair[1]]);
                let said = String::from_utf8_lossy(&output.stderr);
                assert!(matches!(output.status.code(), Some(0 | 2)), "{}: {said}", path.display());
                assert!(!said.contains("panicked"), "{}: {said}", path.display());
            }
        }
    }
}

#[test]
fn names_are_harmless() {
    let files = folder(&[
        ("a", b"events: Ir\nfn=\x1b[2J<script>|evil\n1 5\n"),
        ("b", b"events: Ir\nfn=\x1b[2J<script>|evil\n1 9\n"),
    ]);
    let shown = |format: &str| stdout(&run_in(files.path(), &["diff", "a", "b", "--format", format]));
    assert!(shown("text").contains("\\x1b[2J<script>|evil"), "{}", shown("text"));
    assert!(shown("markdown").contains("\\<script\\>\\|evil"), "{}", shown("markdown"));
    assert!(shown("html").contains("&lt;script&gt;") && shown("html").matches("<script").count() == 1);
}

#[test]
fn standard_input_is_a_side() {
    let files = files();
    let base = files.path().join("base.out");
    let output = run_with(&["diff", text(&base), "-"], NEW);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert_ends_quietly(files.path(), &["diff", "base.out", "new.out"]);
}

/// All functions of a crate are one row.
#[test]
fn rows_by_crate() {
    let profile = |serde: u32| {
        format!(
            "events: Ir\nfn=serde::de::read\n1 {serde}\nfn=<alloc::vec::Vec<T> as serde::Serialize>::serialize\n\
             1 5\nfn=app::main\n1 10\n"
        )
    };
    let folder = folder(&[("base.out", profile(10).as_bytes()), ("new.out", profile(30).as_bytes())]);
    let output =
        run_in(folder.path(), &["diff", "--group", "crate", "--format", "csv", "base.out", "new.out"]);
    let rows = stdout(&output);
    let serde: Vec<&str> = rows.lines().filter(|row| row.contains("serde")).collect();
    assert_eq!((code(&output), serde.len()), (0, 1), "{rows}");
    assert!(serde[0].contains("20"), "{rows}");
}
