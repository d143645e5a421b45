//! Completions: the words that the program offers, and the scripts of the shells as the shells run them.

// Tests may panic: that is how they fail. Clippy knows that of test functions, but not of what they share.
#![allow(clippy::unwrap_used, clippy::panic)]

mod harness;

use std::path::Path;
use std::process::Command;

use harness::{code, folder, has, root, run_in, stderr, stdout};

const MAIN: &str = "callgrind/callgrind.out.mill-main";
const CACHE: &str = "callgrind/callgrind.out.cache-branch";

/// The words that are offered at the end of a line, asked as fish asks.
fn offered_in(directory: &Path, line: &str) -> Vec<String> {
    let words: Vec<&str> = std::iter::once("gristmill").chain(line.split(' ')).collect();
    let count = (words.len() - 1).to_string();
    let output = run_in(directory, &[&["__complete", "fish", &count], &words[..]].concat());
    assert_eq!((code(&output), stderr(&output).as_str()), (0, ""), "{line}");
    stdout(&output).lines().map(|line| line.split('\t').next().unwrap().to_owned()).collect()
}

fn offered(line: &str) -> Vec<String> {
    offered_in(&root().join("corpus"), line)
}

#[test]
fn commands_options_and_values_are_known() {
    assert_eq!(offered("fun"), ["functions"]);
    assert_eq!(offered("gate n"), ["noise"]);
    assert_eq!(offered("help an"), ["annotate"]);
    assert_eq!(offered("functions --fold"), ["--fold-recursion", "--fold-callers"]);
    assert_eq!(offered("functions --format m"), ["markdown"]);
    assert_eq!(offered("functions --format=m"), ["--format=markdown"]);
    assert_eq!(offered("functions --sort inclusive --group cr"), ["crate"]);
    assert_eq!(offered("lint --explain totals-mis"), ["totals-mismatch"]);
    assert_eq!(offered("diff --no-rule al"), ["all"]);
    assert_eq!(offered("diff --rule pid,ren"), ["pid,rename"]);
    assert_eq!(offered("completions z"), ["zsh"]);
    // Options of the default command, and old spellings are not offered.
    assert_eq!(offered("--cut-"), ["--cut-below"]);
    assert_eq!(offered("annotate --func"), [""; 0]);
    assert_eq!(offered("annotate --sho"), ["--show", "--show-percs="]);
}

/// Names with control characters, and with characters that reorder or hide text, would reach the terminal as they are.
#[test]
fn names_that_a_terminal_cannot_show_are_not_offered() {
    let profile =
        "events: Ir E\u{1b}[0m E\u{202e}x\nfl=a.c\nfn=fine\n1 1\nfn=f\u{202e}x\n1 1\nfn=f\u{7f}\n1 1\n";
    let folder = folder(&[("profile", profile.as_bytes()), ("pro\u{202e}file", b""), ("pro\u{1b}", b"")]);
    let offered = |line: &str| offered_in(folder.path(), line);
    assert_eq!(offered("functions profile --event E"), [""; 0]);
    assert_eq!(offered("functions profile --event I"), ["Ir"]);
    assert_eq!(offered("tree profile --from f"), ["fine"]);
    assert_eq!(offered("functions profile --filter f"), ["fine"]);
    assert_eq!(offered("lint pro"), ["profile"]);
}

#[test]
fn values_come_from_the_profile_of_the_line() {
    assert_eq!(offered(&format!("functions {CACHE} --event I1")), ["I1mr"]);
    assert_eq!(offered(&format!("functions {CACHE} -e Ir,DLm")), ["Ir,DLmr", "Ir,DLmw"]);
    assert_eq!(offered(&format!("functions {CACHE} -eEst")), ["-eEstimatedCycles"]);
    assert_eq!(offered(&format!("annotate {CACHE} --sort Bc")), ["Bc", "Bcm"]);
    assert_eq!(offered("functions callgrind/callgrind.out.parts --part 1,"), ["1,2", "1,3", "1,4"]);
    assert_eq!(offered(&format!("tree {MAIN} --from sort_")), ["sort_grains'2", "sort_grains"]);
    assert_eq!(offered(&format!("tree {MAIN} --from=swa")), ["--from=swap"]);
    assert_eq!(offered(&format!("functions {MAIN} -f \\\\(be")), [r"\(below main\)", r"\(below main\)'2"]);
    assert_eq!(offered(&format!("diff {MAIN} {CACHE} --function by_w")), ["by_weight"]);
    assert_eq!(offered(&format!("functions {MAIN} --file sieve")), [""; 0], "patterns begin as paths do");
    assert_eq!(offered(&format!("functions {MAIN} --file /srv/demo/src/si")), [r"/srv/demo/src/sieve\.c"]);
    // The hottest functions come first.
    assert_eq!(offered(&format!("tree {MAIN} --from "))[..2], ["sort_grains'2", "by_weight"]);
}

#[test]
fn words_behind_the_cursor_count() {
    let corpus = root().join("corpus");
    let output = run_in(&corpus, &["__complete", "zsh", "2", "gristmill", "show", "by_w", MAIN]);
    assert_eq!(stdout(&output), "by_weight\t13.5% self\n");
    let output =
        run_in(&corpus, &["__complete", "bash", " =:", "gristmill show --event=", &format!("main {CACHE}")]);
    assert!(stdout(&output).starts_with("Ir\nDr\n"), "{}", stdout(&output));
}

/// Without a file it is the newest recording of the directory.
#[test]
fn the_newest_recording_is_read_without_being_named() {
    let here = folder(&[("callgrind.out.1", b"events: Ir\nfn=operator new(unsigned long)\n1 5\n")]);
    assert_eq!(offered_in(here.path(), "show op"), ["operator new(unsigned long)"]);
    assert_eq!(offered_in(here.path(), "functions --event "), ["Ir"]);
}

#[test]
fn files_are_offered_where_files_are_expected() {
    let here = folder(&[("a.out", b""), ("gristmill.toml", b""), (".hidden", b"")]);
    std::fs::create_dir(here.path().join("below")).unwrap();
    std::fs::write(here.path().join("below/b.out"), "").unwrap();
    let offered = |line: &str| offered_in(here.path(), line);
    assert_eq!(offered("info "), ["a.out", "below/", "gristmill.toml"]);
    assert_eq!(offered("info below/"), ["below/b.out"]);
    assert_eq!(offered("info a.out b"), ["below/"]);
    assert_eq!(offered("info .h"), [".hidden"]);
    assert_eq!(offered("a"), ["annotate", "a.out"]);
    assert_eq!(offered("man "), ["below/"]);
    assert_eq!(offered("show -I "), ["below/"]);
    assert_eq!(offered("merge a.out --output=gr"), ["--output=gristmill.toml"]);
    assert_eq!(offered("diff --base a.out b"), ["below/"]);
    for line in [
        "functions --limit ",
        "functions --derive ",
        "functions --format a.",
        "lint --explain a.",
        "gate run a",
    ] {
        assert_eq!(offered(line), [""; 0], "{line}");
    }
}

/// Nothing is printed and nothing hangs, whatever the file is.
#[cfg(unix)]
#[test]
fn a_file_that_cannot_be_read_has_no_values() {
    let bomb = harness::gzip(&vec![b'\n'; 300 << 20]);
    let here = folder(&[
        ("broken", b"events: Ir Dr\nfn=(1\ncalls=x\n+ 4\n"),
        ("binary", b"\x7fELF\x00\x01\xff"),
        ("bomb.gz", &bomb),
    ]);
    assert!(Command::new("mkfifo").arg(here.path().join("pipe")).status().unwrap().success());
    for file in ["pipe", "bomb.gz", "binary", "missing", "/dev/zero", "-", "."] {
        assert_eq!(offered_in(here.path(), &format!("tree {file} --from m")), [""; 0], "{file}");
    }
    assert_eq!(offered_in(here.path(), "functions broken --event D"), ["Dr"]);
    for words in [
        &["__complete"][..],
        &["__complete", "tcsh", "x"],
        &["__complete", "zsh", "99", "gristmill"],
        &["__complete", "fish", "x"],
    ] {
        let output = run_in(here.path(), words);
        assert_eq!((code(&output), stderr(&output).as_str()), (0, ""), "{words:?}");
    }
}

/// Runs a script of a shell in the corpus, with the program in the path.
fn in_shell(shell: &str, script: &str) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_gristmill"));
    let path = format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let output = Command::new(shell)
        .args(if shell == "bash" {
            &["--noprofile", "--norc"][..]
        } else if shell == "zsh" {
            &["-f"]
        } else {
            &["-N"]
        })
        .args(["-c", script])
        .env("PATH", path)
        .current_dir(root().join("corpus"))
        .output()
        .unwrap();
    assert_eq!(stderr(&output), "", "{script}");
    stdout(&output)
}

#[test]
fn bash_completes() {
    if !has(&["bash"]) {
        return;
    }
    // What Bash sets before it calls the function.
    let completed = |line: &str| {
        let script = format!(
            "source <(gristmill completions bash)\nCOMP_LINE={line:?}\nCOMP_POINT=${{#COMP_LINE}}\n\
             _gristmill gristmill x y\nprintf '%s|\\n' \"${{COMPREPLY[@]}}\"\ncomplete -p gristmill"
        );
        in_shell("bash", &script)
    };
    let registered = "complete -o nosort -o nospace -F _gristmill gristmill\n";
    assert_eq!(completed("gristmill fun"), format!("functions |\n{registered}"));
    assert_eq!(completed(&format!("gristmill functions {CACHE} --event=I1")), format!("I1mr|\n{registered}"));
    assert_eq!(
        completed(&format!("gristmill tree {MAIN} --from '(be")),
        format!("(below main)' |\n(below main)'\\''2' |\n{registered}")
    );
    assert_eq!(
        completed(&format!("gristmill tree {MAIN} --from \\(be")),
        format!("\\(below\\ main\\) |\n\\(below\\ main\\)\\'2 |\n{registered}")
    );
    assert_eq!(completed("gristmill info callgrind/callgrind.out.mill-m"), format!("{MAIN} |\n{registered}"));
}

#[test]
fn zsh_completes() {
    if !has(&["zsh"]) {
        return;
    }
    // `compadd` is a builtin of the line editor only; here it prints its values.
    let completed = |words: &str, current: usize| {
        let script = format!(
            "compdef() {{ :; }}\ncompadd() {{ print -rl -- ${{(P)@[-1]}} }}\nsource <(gristmill completions zsh)\n\
             words=({words}) CURRENT={current}\n_gristmill"
        );
        in_shell("zsh", &script)
    };
    assert_eq!(completed("gristmill fun", 2), "functions\n");
    assert_eq!(completed(&format!("gristmill functions {CACHE} --event=I1"), 4), "--event=I1mr\n");
    assert_eq!(completed(&format!("gristmill show by_ {MAIN}"), 3), "by_weight\nby_moisture\n");
    assert_eq!(completed("gristmill info callg", 3), "callgrind/\n");
}

#[test]
fn fish_completes() {
    if !has(&["fish"]) {
        return;
    }
    let completed = |line: &str| {
        in_shell("fish", &format!("gristmill completions fish | source\ncomplete --do-complete \"{line}\""))
    };
    assert!(completed("gristmill fun").starts_with("functions\tList functions"));
    assert_eq!(completed(&format!("gristmill functions {CACHE} --event=I1")), "--event=I1mr\trecorded\n");
    assert_eq!(
        completed(&format!("gristmill tree {MAIN} --from by_")),
        "by_weight\t13.5% self\nby_moisture\t12.1% self\n"
    );
    assert_eq!(completed("gristmill info callgrind/callgrind.out.mill-m"), format!("{MAIN}\n"));
}
