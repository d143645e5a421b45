//! Facts that `gristmill diff` states beside causes: the functions that it joined, and what one side did not record.

// Tests may panic: that is how they fail. Clippy knows that of test functions, but not of what they share.
#![allow(clippy::unwrap_used, clippy::panic)]

mod harness;

use harness::{folder, run_in, stdout};

/// A profile of functions without calls, each with a cost.
fn profile(functions: &[(String, u32)]) -> String {
    let lines = functions.iter().map(|(name, own)| format!("fn={name}\n1 {own}\n"));
    format!("events: Ir\nfl=mill.c\n{}", lines.collect::<String>())
}

/// The report on one line.
fn compared(base: &str, new: &str, more: &[&str]) -> String {
    let files = folder(&[("base.out", base.as_bytes()), ("new.out", new.as_bytes())]);
    let shown = stdout(&run_in(files.path(), &[&["diff", "base.out", "new.out"], more].concat()));
    shown.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Everything that a rule joined is listed, not an example of it.
#[test]
fn joined_functions_are_listed() {
    let built = |kind: &str| {
        let names = ["run", "feed", "read"].map(|name| format!("Filter<{kind}>::{name}({kind})"));
        profile(&names.map(|name| (name, 100)))
    };
    let shown = compared(&built("int"), &built("long"), &["--show-joined"]);
    for name in ["run", "feed", "read"] {
        assert!(shown.contains(&format!("Filter<int>::{name}(int) = Filter<long>::{name}(long)")), "{shown}");
    }
}

/// Functions that ran outside of what one side recorded did not vanish.
#[test]
fn a_part_of_a_program_is_no_whole_one() {
    let whole: Vec<(String, u32)> = (0..60).map(|nth| (format!("step_{nth}"), 100)).collect();
    let [all, half, few] = [&whole[..], &whole[..30], &whole[..3]].map(profile);
    let shown = compared(&all, &few, &[]);
    assert!(shown.contains("hardly any function of the base is in the new profile, 3 of 60"), "{shown}");
    let shown = compared(&few, &all, &[]);
    assert!(shown.contains("hardly any function of the new profile is in the base, 3 of 60"), "{shown}");
    assert!(!compared(&all, &half, &[]).contains("hardly any"));
}

/// A function without a file is that of the base if the same functions call it: each file can have a static one of its name.
#[test]
fn other_callers_are_a_condition() {
    let run = |run: &str, own: u32| {
        format!(
            "events: Ir\nob=mill\nfl=???\nfn=main\n0 10\ncfn={run}\ncalls=1 0\n0 {all}\nfn={run}\n0 20\ncfn=step\ncalls=9 0\n0 {own}\nfn=step\n0 {own}\n",
            all = own + 20
        )
    };
    let condition = "jpeg is new, called by main, including step below it, if step is that of the base, which has other callers";
    let shown = compared(&run("run_png", 1_000), &run("jpeg", 2_000), &[]);
    assert!(shown.contains(condition), "{shown}");
    assert!(shown.contains("; if it is that of the base, which has other callers"), "{shown}");
    let shown = compared(&run("run_png", 1_000), &run("run_png", 2_000), &[]);
    assert!(shown.contains("step costs more by itself") && !shown.contains(", if "), "{shown}");
}
