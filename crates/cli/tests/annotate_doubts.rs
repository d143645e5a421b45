//! `gristmill annotate` reports lines of a profile that could not be read, in every format, and changes nothing else.

// Tests may panic: that is how they fail. Clippy knows that of test functions, but not of what they share.
#![allow(clippy::unwrap_used, clippy::panic)]
#![cfg(test)]

mod harness;

use std::path::Path;

use harness::{code, folder, run_in, stderr, stdout};

const MILL: &[u8] = b"int main(void) {\n    return grind();\n}\n";

const GOOD: &[u8] = b"# callgrind format\nevents: Ir\nfl=mill.c\nfn=main\n1 10\n3 5\n";

/// The same with a line that is none.
const BAD: &[u8] = b"# callgrind format\nevents: Ir\nfl=mill.c\nfn=main\n1 10\nwhat is this?\n3 5\n";

const DOUBTS: &str =
    "6:1: unknown line; expected a `key: value` header, a `key=name` line, a cost line or a `#` comment";

const BAD_COST: &str = "6:3: expected a cost: an integer";

/// Returns standard output and standard error.
fn annotated(folder: &Path, arguments: &[&str]) -> (String, String) {
    let output = run_in(folder, &[&["annotate"], arguments].concat());
    assert_eq!(code(&output), 0, "{arguments:?}: {}", stderr(&output));
    (stdout(&output), stderr(&output))
}

#[test]
fn every_form_has_its_doubts() {
    let good = folder(&[("mill.c", MILL), ("profile", GOOD)]);
    let bad = folder(&[("mill.c", MILL), ("profile", BAD)]);
    for form in ["--style=callgrind", "--style=cachegrind", "--format=json", "--format=html"] {
        let (text, said) = annotated(good.path(), &[form, "profile"]);
        assert_eq!(said, "", "{form}");
        let (doubtful, said) = annotated(bad.path(), &[form, "profile"]);
        assert_eq!(said, format!("gristmill: warning: profile:{DOUBTS}\n"), "{form}");
        if form.starts_with("--style") {
            assert_eq!(doubtful, text, "{form}");
        }
    }
    // In the words of the other reports.
    let functions = stdout(&run_in(bad.path(), &["functions", "profile"]));
    assert!(functions.starts_with(&format!("warning: profile:{DOUBTS}\n")), "{functions}");
}

#[test]
fn doubts_are_about_all_profiles() {
    let folder = folder(&[("mill.c", MILL), ("one", BAD), ("two", GOOD), ("three", &[BAD, b"\n"].concat())]);
    let (_, said) = annotated(folder.path(), &["one", "two", "three"]);
    assert_eq!(said, format!("gristmill: warning: one:{DOUBTS}\ngristmill: warning: three:{DOUBTS}\n"));
}

/// A line that cg_annotate would refuse is reported once, in its own layout.
#[test]
fn errors_in_files_of_cachegrind_are_reported_once() {
    let profile = b"cmd: a\nevents: Ir\nfl=mill.c\nfn=f\n1 2\n1 x\nsummary: 2\n";
    let folder = folder(&[("mill.c", MILL), ("profile", profile)]);
    let (_, said) = annotated(folder.path(), &["profile"]);
    assert_eq!(
        said,
        "gristmill: warning: profile:6: malformed or out-of-place line; cg_annotate would refuse it\n"
    );
    for form in ["--style=callgrind", "--format=json"] {
        let (_, said) = annotated(folder.path(), &[form, "profile"]);
        assert_eq!(said, format!("gristmill: warning: profile:{BAD_COST}\n"), "{form}");
    }
}

#[cfg(unix)]
#[test]
fn the_stand_in_has_the_same_doubts() {
    use std::os::unix::process::CommandExt as _;

    let good = folder(&[("mill.c", MILL), ("profile", GOOD)]);
    let bad = folder(&[("mill.c", MILL), ("profile", BAD)]);
    let printed = |folder: &Path| {
        let mut command = harness::gristmill(&["profile"]);
        let output = command.arg0("callgrind_annotate").current_dir(folder).output().unwrap();
        assert_eq!(code(&output), 0);
        (stdout(&output), stderr(&output))
    };
    let (text, said) = printed(good.path());
    assert_eq!(said, "");
    assert_eq!(printed(bad.path()), (text, format!("gristmill: warning: profile:{DOUBTS}\n")));
}

/// A header may claim another total than the lines have. The layout shows it as the original does, and a warning says so.
#[test]
fn a_claimed_total_that_lines_do_not_have() {
    let claimed = [GOOD, b"totals: 17\n"].concat();
    let folder = folder(&[("good", GOOD), ("claims", &claimed)]);
    let (text, said) = annotated(folder.path(), &["claims"]);
    assert!(text.contains("17 (100.0%)  PROGRAM TOTALS"), "{text}");
    let warning = "gristmill: warning: the file claims 17 Ir, the lines have 15: shares here are of what the file claims, those of gristmill functions of the lines\n";
    assert!(said.contains(warning), "{said}");
    let (_, said) = annotated(folder.path(), &["good"]);
    assert_eq!(said, "");
}

/// The calls of a recursion contain each other: 240 of a total of 100.
#[test]
fn shares_above_the_whole_have_a_reason() {
    let profile = b"# callgrind format\nevents: Ir\nfl=a.c\nfn=main\n1 10\ncfn=fib\ncalls=1 5\n1 90\nfn=fib\n5 90\ncfn=fib\ncalls=8 5\n5 240\n";
    let folder = folder(&[("profile", profile)]);
    let reason = "gristmill: shares above 100% are of calls of a recursion: their costs contain each other\n";
    let (text, said) = annotated(folder.path(), &["--tree=both", "profile"]);
    assert!(text.contains("(240.0%)") && said == reason, "{text}{said}");
    assert!(!annotated(folder.path(), &["--tree=none", "--auto=no", "profile"]).1.contains("100%"));
    // Nor is it the reason where costs are below 0.
    let freed = b"# callgrind format\nevents: Ir\nfl=a.c\nfn=main\n1 300\nfn=free\n5 -200\n";
    std::fs::write(folder.path().join("freed"), freed).unwrap();
    let (text, said) = annotated(folder.path(), &["freed"]);
    assert!(text.contains("(300.0%)") && !said.contains("100%"), "{text}{said}");
    // It is, where only another event type has such costs.
    let text =
        String::from_utf8_lossy(profile).replace("events: Ir", "events: Ir Freed") + "fn=free\n5 0 -200\n";
    std::fs::write(folder.path().join("both"), text).unwrap();
    assert_eq!(annotated(folder.path(), &["--tree=both", "both"]).1, reason);
    // A page has no such shares.
    let (page, said) = annotated(folder.path(), &["--format=html", "profile"]);
    assert!(page.contains("<b>240</b>") && !page.contains(">240.0</i>"), "{page}");
    assert!(!said.contains("100%"), "{said}");
}

#[test]
fn both_styles_refuse_more_costs_than_it_may_have_memory_for() {
    let events: Vec<String> = (0..2000).map(|number| format!("E{number}")).collect();
    let functions: String = (0..2000).map(|number| format!("fn=f{number}\n{number} 1\n")).collect();
    let profile = format!("events: {}\n{functions}", events.join(" "));
    let folder = folder(&[("many.out", profile.as_bytes())]);
    for style in ["callgrind", "cachegrind"] {
        let output = run_in(folder.path(), &["annotate", "--style", style, "many.out"]);
        assert_eq!(code(&output), 2, "{style}");
        assert!(
            stderr(&output).contains("the costs of all event types and functions take"),
            "{style}: {}",
            stderr(&output)
        );
    }
}
