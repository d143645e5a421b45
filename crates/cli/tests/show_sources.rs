//! `gristmill show` has the source text beside the hottest lines.

#![cfg(test)]
// Tests may panic: that is how they fail. Clippy knows that of test functions, but not of what they share.
#![allow(clippy::unwrap_used, clippy::panic)]

mod harness;

use std::path::Path;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use harness::{assert_valid, code, json, run_in, schema, stderr, stdout};

/// `main` costs 30 on line 2, 20 on line 3, 5 on line 9 and 1 in an inlined line, and calls `grind` on line 3.
const PROFILE: &[u8] =
    b"events: Ir\nfl=src/mill.c\nfn=main\n2 30\n3 20\n9 5\nfi=grain.h\n1 1\nfe=src/mill.c\n\
    cfn=grind\ncalls=1 7\n3 40\nfn=grind\n7 40\n";

const MILL: &[u8] = b"int main(void) {\n\tint sum\t= `0 | 1`;   \n    grind(\"\x1b[2J\");\n";

/// A directory with files, also below others.
fn folder(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    folder
}

/// Returns standard output and standard error.
fn shown(folder: &Path, arguments: &[&str]) -> (String, String) {
    let output = run_in(folder, &[&["show", "main", "profile"], arguments].concat());
    assert_eq!(code(&output), 0, "{arguments:?}: {}", stderr(&output));
    (stdout(&output), stderr(&output))
}

fn lines(text: &str) -> &str {
    text.split_once("Hottest").unwrap().1
}

#[test]
fn lines_have_their_text() {
    let folder = folder(&[("src/mill.c", MILL), ("profile", PROFILE)]);
    let (text, said) = shown(folder.path(), &[]);
    let expected = " lines: 4
With calls     %  Self     %  Line          Source
        60  62.5    20  20.8  src/mill.c:3  grind(\"\\x1b[2J\");
        40  41.7                -> grind ×1
        30  31.3    30  31.3  src/mill.c:2  int sum = `0 | 1`;
         5   5.2     5   5.2  src/mill.c:9
         1   1.0     1   1.0  grain.h:1
";
    assert_eq!(lines(&text), expected);
    let shorter = "gristmill: warning: src/mill.c: has 3 lines, and the profile has costs up to line 9\n";
    assert_eq!(said, shorter);
    // The width holds for the text, too.
    let (text, _) = shown(folder.path(), &["--width", "58"]);
    assert!(lines(&text).contains("  mill.c:2   int sum = `0 | 1…\n"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 58), "{text}");
    // Numbers and positions come first.
    let (text, _) = shown(folder.path(), &["--width", "56"]);
    assert!(!text.contains("Source"), "{text}");
}

#[test]
fn every_format_has_the_text() {
    let folder = folder(&[("src/mill.c", MILL), ("profile", PROFILE)]);
    let output = run_in(folder.path(), &["show", "main", "profile", "--format", "json"]);
    let document = json(&output);
    assert_valid(&schema("show.schema.json"), &document, "show");
    let rows = &document["lines"]["rows"];
    let texts: Vec<&Value> = rows.as_array().unwrap().iter().map(|row| &row["text"]).collect();
    let expected =
        [json!("    grind(\"\u{1b}[2J\");"), json!("\tint sum\t= `0 | 1`;   "), json!(null), json!(null)];
    assert_eq!(texts, expected.iter().collect::<Vec<_>>());
    let (text, _) = shown(folder.path(), &["--format", "markdown"]);
    let expected = "
| With calls | % | Self | % | Line | Source |
| ---: | ---: | ---: | ---: | --- | --- |
| 60 | 62.5 | 20 | 20.8 | src/mill.c:3 | `grind(\"\\x1b[2J\");` |
| 40 | 41.7 |  |  |   -\\> grind ×1 |  |
| 30 | 31.3 | 30 | 31.3 | src/mill.c:2 | `` int sum = `0 \\| 1`; `` |
| 5 | 5.2 | 5 | 5.2 | src/mill.c:9 |  |
| 1 | 1.0 | 1 | 1.0 | grain.h:1 |  |
";
    assert!(text.ends_with(expected), "{text}");
}

#[test]
fn nothing_changes_without_sources() {
    let folder = folder(&[("profile", PROFILE)]);
    for format in ["text", "markdown"] {
        let (text, said) = shown(folder.path(), &["--format", format]);
        assert!(!text.contains("ource"), "{text}");
        assert_eq!(said, "");
    }
    assert!(
        lines(&shown(folder.path(), &[]).0).starts_with(" lines: 4\nWith calls     %  Self     %  Line\n")
    );
}

/// The same finder as that of annotate.
#[test]
fn sources_are_found_and_refused_as_annotate_does() {
    let folder = folder(&[("here/src/mill.c", MILL), ("else/src/mill.c", MILL), ("profile", PROFILE)]);
    for options in [
        &["-I", "here"][..],
        &["--search", "here"],
        &["--source-map", "src=else/src"],
        &["--search", "here", "--sources-below", "."],
        // Two files of the same text are equally good.
        &["--search", "."],
    ] {
        let (text, _) = shown(folder.path(), options);
        assert!(text.contains("int sum"), "{options:?}: {text}");
    }
    let (text, said) = shown(folder.path(), &["-I", "here", "--sources-below", "else"]);
    assert!(!text.contains("int sum"), "{text}");
    assert!(
        said.contains("src/mill.c: cannot be read: is not below a directory of `--sources-below`"),
        "{said}"
    );
    std::fs::write(folder.path().join("else/src/mill.c"), "other").unwrap();
    let (_, said) = shown(folder.path(), &["--search", "."]);
    assert!(
        said.contains("warning: src/mill.c: may be any of ./else/src/mill.c, ./here/src/mill.c"),
        "{said}"
    );
}

#[test]
fn a_newer_source_is_doubted() {
    let folder = folder(&[("src/mill.c", MILL), ("profile", PROFILE)]);
    let profile = std::fs::File::options().write(true).open(folder.path().join("profile")).unwrap();
    profile.set_modified(SystemTime::now() - Duration::from_secs(60)).unwrap();
    let newer = "src/mill.c: was changed after the profile was written, so lines may not fit\n";
    for format in ["text", "json", "markdown"] {
        let (_, said) = shown(folder.path(), &["--format", format]);
        assert!(said.contains(newer), "{format}: {said}");
    }
    // It has no lines.
    assert_eq!(shown(folder.path(), &["--format", "csv"]).1, "");
}

/// A line as long as a file is looked at up to what can be shown.
#[test]
fn a_long_line_is_cut() {
    let mill = [&[b'x'; 1 << 20][..], &"ü".repeat(1 << 20).into_bytes(), b"\n"].concat();
    let profile = b"events: Ir\nfl=mill.c\nfn=main\n1 5\n";
    let folder = folder(&[("mill.c", &mill), ("profile", profile)]);
    let (text, _) = shown(folder.path(), &[]);
    let line = format!("mill.c:1  {}…\n", "x".repeat(399));
    assert!(text.ends_with(&line), "{}", text.len());
}

/// Paths that differ lead to one file: it is read and searched once.
#[test]
fn many_paths_of_one_file() {
    let long: String = "int x;\n".repeat(1 << 19);
    let files = |nth: usize| format!("fi={}mill.c\n{} 1\n", "./".repeat(nth % 50), 500_000 + nth);
    let profile: String =
        ["events: Ir\nfl=mill.c\nfn=main\n".to_owned()].into_iter().chain((0..1000).map(files)).collect();
    let folder = folder(&[("mill.c", long.as_bytes()), ("profile", profile.as_bytes())]);
    let (text, said) = shown(folder.path(), &["--lines", "0"]);
    assert_eq!((text.matches("int x;").count(), said.as_str()), (1000, ""));
}
