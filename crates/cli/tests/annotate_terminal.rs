//! `gristmill annotate` as a person sees it: colours and jumps, which change nothing else of a layout.

// Tests may panic: that is how they fail. Clippy knows that of test functions, but not of what they share.
#![allow(clippy::unwrap_used, clippy::panic)]
#![cfg(test)]

mod harness;

use harness::{code, corpus, folder, one_in, root, run_in, stderr, text};

const MILL: &[u8] = b"/* The mill\n   grinds. */\nint main(void) {\n\tfor (;;)\n\t\tgrind(\"all\");\n}\n";

const PROFILE: &[u8] =
    b"events: Ir\nfl=mill.c\nfn=main\n3 10\njcnd=2/5 5\n4\n4 100\n5 1\njump=7 4\n5\njfi=stone.h\n\
    jump=1 12\n5\n";

fn annotated(arguments: &[&str], folder: &std::path::Path) -> String {
    let output = run_in(folder, &[&["annotate"], arguments].concat());
    assert_eq!(code(&output), 0, "{arguments:?}: {}", stderr(&output));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The text without the escape sequences of colours.
fn bare(text: &str) -> String {
    let mut pieces = text.split("\x1b[");
    let mut bare = pieces.next().unwrap().to_owned();
    for piece in pieces {
        let (codes, rest) = piece.split_once('m').unwrap();
        assert!(codes.chars().all(|it| it.is_ascii_digit() || it == ';'), "{codes:?}");
        bare.push_str(rest);
    }
    bare
}

#[test]
fn lines_have_colours_and_heat() {
    let folder = folder(&[("mill.c", MILL), ("callgrind.out.1", PROFILE)]);
    let shown = annotated(&["--color", "always", "callgrind.out.1"], folder.path());
    let lines: Vec<&str> = shown.lines().filter(|line| line.contains('\x1b')).collect();
    assert_eq!(
        lines,
        [
            "\x1b[2m  .          \x1b[0m \x1b[90m/* The mill\x1b[0m",
            "\x1b[2m  .          \x1b[0m \x1b[90m   grinds. */\x1b[0m",
            "\x1b[1;33m 10 ( 9.01%) \x1b[0m \x1b[36mint\x1b[0m \x1b[1mmain\x1b[0m(\x1b[36mvoid\x1b[0m) {",
            "\x1b[1;37;41m100 (90.09%) \x1b[0m \t\x1b[94mfor\x1b[0m (;;)",
            "\x1b[33m  1 ( 0.90%) \x1b[0m \t\t\x1b[1mgrind\x1b[0m(\x1b[32m\"all\"\x1b[0m);",
            "\x1b[2m  .          \x1b[0m }",
        ]
    );
}

#[test]
fn jumps_are_shown_when_asked_for() {
    let folder = folder(&[("mill.c", MILL), ("callgrind.out.1", PROFILE)]);
    let plain = annotated(&["callgrind.out.1"], folder.path());
    assert!(!plain.contains(" -> "));
    let shown = annotated(&["--jumps", "callgrind.out.1"], folder.path());
    let (jumps, others): (Vec<&str>, Vec<&str>) = shown.lines().partition(|line| line.contains(" -> "));
    assert_eq!(
        jumps,
        [
            "  .           -> line 5 (taken 2 of 5)",
            "  .           -> line 4 (taken 7)",
            "  .           -> stone.h line 12 (taken 1)",
        ]
    );
    assert_eq!(others, plain.lines().collect::<Vec<_>>());
}

#[test]
fn colours_change_nothing_else() {
    let mut coloured = 0;
    // The empty file beside the parts of a recording is refused.
    let mut files = corpus();
    files.retain(|path| !path.ends_with("callgrind.out.crew-sep"));
    for path in files.into_iter().step_by(one_in(3)) {
        for style in ["callgrind", "cachegrind"] {
            let arguments = ["--source-map", "/srv/demo=.", "--style", style, text(&path)];
            let plain = annotated(&arguments, &root().join("corpus"));
            assert!(!plain.contains('\x1b'));
            let shown = annotated(&[&["--color", "always"], &arguments[..]].concat(), &root().join("corpus"));
            coloured += usize::from(shown.contains("\x1b[94m"));
            // The invocation says how it was called; control characters are spelled out for the eye.
            let lines = |text: &str| -> Vec<String> {
                let told = text.lines().filter(|line| !line.starts_with("Invocation:"));
                told.map(|line| line.replace('\0', "\\x00")).collect()
            };
            if plain.chars().all(|it| !it.is_control() || matches!(it, '\n' | '\t' | '\0'))
                && !plain.contains('\u{fffd}')
            {
                assert_eq!(lines(&bare(&shown)), lines(&plain), "{} {style}", path.display());
            }
        }
    }
    assert!(coloured > 20 / one_in(3), "{coloured}");
}

#[test]
fn what_goes_to_a_file_is_plain() {
    let folder = folder(&[("mill.c", MILL), ("callgrind.out.1", PROFILE)]);
    let plain = annotated(&["callgrind.out.1"], folder.path());
    annotated(&["--color", "always", "-o", "out.txt", "callgrind.out.1"], folder.path());
    assert_eq!(std::fs::read_to_string(folder.path().join("out.txt")).unwrap(), plain);
}
