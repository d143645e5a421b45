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
