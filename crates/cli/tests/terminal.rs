//! A terminal shows no control character of a file or of a command line.

// Tests may panic: that is how they fail. Clippy knows that of test functions, but not of what they share.
#![allow(clippy::unwrap_used, clippy::panic)]
#![cfg(target_os = "linux")]
#![cfg(test)]

mod harness;

use std::path::Path;
use std::process::Command;

use harness::{code, folder, run_in, stderr, stdout};

const EVIL: &[u8] =
    b"# callgrind format\ncmd: \x1b]0;title\x07\nevents: Ir\nfl=\xc2\x9b31m.c\nfn=\xe2\x80\xaef\x9b\n\t1 5\nsummary: 5\n";

/// A pager that shows where it was.
const PAGER: &str = "sed 's/^/paged: /'";

/// Runs a command on a terminal of its own and returns what the terminal gets.
fn on_a_terminal(folder: &Path, command: &str) -> Vec<u8> {
    let command = format!("'{}' {command}", env!("CARGO_BIN_EXE_gristmill"));
    let output = Command::new("script")
        .args(["--quiet", "--return", "--command", &command, "typescript"])
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .env("GRISTMILL_PAGER", PAGER)
        .output()
        .unwrap();
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stdout));
    // The terminal turns line ends into two characters.
    output.stdout.into_iter().filter(|&byte| byte != b'\r').collect()
}

fn has_terminals() -> bool {
    let is_installed = Command::new("script").arg("--version").output().is_ok();
    assert!(
        is_installed || std::env::var_os("GRISTMILL_CI").is_none(),
        "the program script is not installed"
    );
    is_installed
}

#[test]
fn only_long_answers_have_a_pager() {
    if !has_terminals() {
        return;
    }
    let functions: String = (0..100).map(|function| format!("fn=f{function}\n1 5\n")).collect();
    let profile = format!("events: Ir\n{functions}");
    let folder = folder(&[("long", profile.as_bytes()), ("short", b"events: Ir\nfn=f\n1 5\n")]);
    let shown = |command: &str| String::from_utf8(on_a_terminal(folder.path(), command)).unwrap();
    let plain = stdout(&run_in(folder.path(), &["functions", "-n0", "long"]));

    let paged = shown("functions -n0 long");
    let without_marks = |text: &str| text.replace("paged: ", "");
    assert!(paged.lines().all(|line| line.starts_with("paged: ")), "{paged}");
    assert_eq!(without_marks(&paged).lines().count(), plain.lines().count());
    for command in ["functions short", "functions -n0 --no-pager long", "rewrite long", "merge long"] {
        assert!(!shown(command).contains("paged: "), "{command}");
    }
    let no_pager = "functions -n0 long; true";
    let shown_without = shown(&format!(
        "help >/dev/null; GRISTMILL_PAGER=no-such-pager '{}' {no_pager}",
        env!("CARGO_BIN_EXE_gristmill")
    ));
    assert_eq!(shown_without.lines().count(), plain.lines().count(), "{shown_without}");
    // The shell cannot run these.
    let shell = format!("'{}' {no_pager}", env!("CARGO_BIN_EXE_gristmill"));
    for pager in ["./long", "\\\"no such\\\"", "A=1 no-such-pager"] {
        let text = shown(&format!("help >/dev/null; GRISTMILL_PAGER=\"{pager}\" {shell}"));
        assert!(text.contains("f99") && text.contains("f0"), "{pager}: {text}");
    }
    // A message after the beginning of the answer goes to the pager, too, and does not disturb its screen.
    let failing = format!("'{}' info long long long missing; true", env!("CARGO_BIN_EXE_gristmill"));
    let paged = shown(&format!("help >/dev/null; {failing}"));
    assert!(paged.contains("paged: gristmill: missing: no such file"), "{paged}");
}

#[test]
fn a_profile_on_a_terminal_is_harmless() {
    if !has_terminals() {
        return;
    }
    let folder = folder(&[("evil", EVIL)]);
    let shown = on_a_terminal(folder.path(), "rewrite evil");
    let expected = "# callgrind format\ncmd: \\x1b]0;title\\x07\nevents: Ir\nfl=\\u{9b}31m.c\nfn=\\u{202e}f\\x9b\n\t1 5\nsummary: 5\n";
    assert_eq!(String::from_utf8_lossy(&shown), expected);
    for command in ["merge evil", "merge --keep-parts evil", "diff --format callgrind evil evil"] {
        let shown = String::from_utf8(on_a_terminal(folder.path(), command)).unwrap();
        assert!(shown.contains("\\x1b]0;title"), "{command}: {shown}");
        assert!(
            shown.chars().all(|it| !it.is_control() || matches!(it, '\t' | '\n')),
            "{command}: {shown:?}"
        );
    }
}

#[test]
fn a_profile_in_a_pipe_keeps_its_bytes() {
    let folder = folder(&[("evil", EVIL)]);
    let output = run_in(folder.path(), &["rewrite", "evil"]);
    assert_eq!((code(&output), stderr(&output).as_str()), (0, ""));
    assert_eq!(output.stdout, EVIL);
}

#[test]
fn messages_are_harmless() {
    let folder = folder(&[(
        "gate.toml",
        b"[gate]\nincrease=\"\\u001b]0;x\\u0007\"\n[[benchmark]]\nname=\"a\"\nprofile=\"x\"\n",
    )]);
    for words in [
        &["functions", "\x1b]0;x\x07"][..],
        &["functions", "--\x1b]0;x\x07"],
        &["\u{9b}31m\u{202e}"],
        &["functions", "--limit", "\x1b[2J\u{e0041}", "a"],
        &["gate", "run", "--config", "gate.toml"],
        &["gate", "run", "--config", "\x1b[2J.toml"],
    ] {
        let output = run_in(folder.path(), words);
        assert_eq!(code(&output), 2, "{words:?}");
        let said = stderr(&output);
        let is_harmless = |it: char| {
            !it.is_control() && !matches!(it, '\u{202e}' | '\u{e0041}') || matches!(it, '\t' | '\n')
        };
        assert!(said.chars().all(is_harmless), "{words:?}: {said:?}");
    }
}
