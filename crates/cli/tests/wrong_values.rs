//! Messages about values that do not fit the profile: each names what is wrong, and what there is.

// Tests may panic: that is how they fail. Clippy knows that of test functions, but not of what they share.
#![allow(clippy::unwrap_used)]

mod harness;

use harness::{code, folder, root, run_in, stderr, stdout};

const MAIN: &str = "callgrind/callgrind.out.mill-main";
const FAST: &str = "callgrind/callgrind.out.mill-fast";
const CREW: &str = "callgrind/callgrind.out.crew-threads";
const CACHE: &str = "callgrind/callgrind.out.cache-branch";

#[test]
fn refusals_say_what_there_is() {
    let corpus = root().join("corpus");
    for (words, said) in [
        (
            format!("functions {CACHE} -e Foo"),
            "there is no event type `Foo`\n  hint: the event types are Ir, Dr, Dw, I1mr,",
        ),
        (
            format!("show main {MAIN} --derive=X=Foo"),
            "--derive: `X` cannot be derived: there is no `Foo`\n  hint: the only event type is Ir\n",
        ),
        (
            format!("annotate {MAIN} --derive=X=Foo"),
            "--derive: `X` cannot be derived: there is no `Foo`\n  hint: the only event type is Ir\n",
        ),
        (
            format!("diff {MAIN} {FAST} --derive=X=Foo"),
            "--derive: `X` cannot be derived: there is no `Foo`\n  hint: the only event type is Ir\n",
        ),
        (format!("diff {MAIN} {FAST} --function sort_grian"), "no function is called `sort_grian`"),
        (
            format!("annotate {MAIN} --sort Ir:x"),
            "there is no event type `Ir:x`\n  hint: `x` behind the colon is no share; a share is a number from 0 to \
             100, as in Ir:90\n",
        ),
        (
            format!("functions {CREW} --thread 5"),
            "--thread 5: the profile has no such thread\n  hint: the numbers there are: 1, 2, 3, 4\n",
        ),
        (
            format!("annotate {MAIN} --part 8-9"),
            "--part 8-9: the profile has no such part\n  hint: the only part is 1\n",
        ),
        (
            format!("tree {MAIN} --thread 1"),
            "--thread 1: the profile has no such thread\n  hint: leave the option out: the profile does not number any \
             thread\n",
        ),
        (
            format!("functions {MAIN} -f ("),
            "`(` is not a valid pattern: unclosed group\n  hint: put \\ before",
        ),
        // What is derived from instructions alone is no event type of its own.
        (format!("annotate {MAIN} --sort Foo"), "`Foo`\n  hint: the only event type is Ir\n"),
        (format!("annotate {MAIN} --sort CEst"), "`CEst`\n  hint: the only event type is Ir\n"),
        ("gate run --also x=y".to_owned(), "there is no format `x`; there are text, markdown, json,"),
        (format!("tree {MAIN} --min 0.05"), "a share is a number from 0 to 100 with at most one decimal"),
        (format!("lint --explain nosuch {MAIN}"), "cannot be used with"),
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        let output = run_in(&corpus, &words);
        assert_eq!((code(&output), stdout(&output).as_str()), (2, ""), "{words:?}");
        assert!(stderr(&output).contains(said), "{words:?}: {}", stderr(&output));
    }
}

/// Parts that each have one of the numbers, but none has both.
#[test]
fn numbers_that_no_part_has_together_are_refused() {
    let parts = b"events: Ir\npart: 1\nthread: 1\nfn=f\n1 2\n\npart: 2\nthread: 2\nevents: Ir\nfn=f\n1 3\n";
    let folder = folder(&[("p", parts)]);
    let output = run_in(folder.path(), &["functions", "p", "--part", "1", "--thread", "2"]);
    assert_eq!(code(&output), 2);
    assert!(
        stderr(&output).contains("no part of the profile has all of these numbers"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn patterns_that_match_nothing_have_a_warning() {
    let corpus = root().join("corpus");
    for (words, said) in [
        (["functions", "--file", "nosuch"], "no source file matches `nosuch`"),
        (["functions", "--object", "nosuch"], "no object file matches `nosuch`"),
        (["functions", "--filter", "nosuch"], "no function matches `nosuch`"),
        (["annotate", "--file", "nosuch"], "no source file matches `nosuch`"),
        (
            ["annotate", "--filter", "sort_grian"],
            "no function matches `sort_grian`; the nearest name is sort_grains",
        ),
    ] {
        let output = run_in(&corpus, &[&words[..], &[MAIN]].concat());
        assert_eq!(code(&output), 0, "{words:?}");
        assert_eq!(stderr(&output), format!("gristmill: warning: {said}\n"), "{words:?}");
    }
    // What matches has none.
    let output = run_in(&corpus, &["functions", "--file", "sieve", "--object", "mill", MAIN]);
    assert_eq!(stderr(&output), "");
}

/// A pattern that matches nothing is a warning in every command, with what it was to match.
#[test]
fn patterns_without_a_match_are_named() {
    let corpus = root().join("corpus");
    for (words, said) in [
        (format!("functions {MAIN} -f swpa"), "no function matches `swpa`; the nearest name is swap"),
        (format!("functions {MAIN} --group object -f swap"), "no object matches `swap`"),
        (format!("annotate {MAIN} -f swpa"), "no function matches `swpa`; the nearest name is swap"),
        (format!("diff {MAIN} {FAST} -f swpa"), "no function matches `swpa`; the nearest name is swap"),
        (
            format!("diff {MAIN} {FAST} -f swpa --format json"),
            "no function matches `swpa`; the nearest name is swap",
        ),
        (format!("diff {MAIN} {FAST} --group file -f swap"), "no file matches `swap`"),
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        let output = run_in(&corpus, &words);
        assert_eq!(code(&output), 0, "{words:?}");
        let warning = format!("gristmill: warning: {said}\n");
        assert!(stderr(&output).contains(&warning), "{words:?}: {}", stderr(&output));
    }
    // One that matches has no warning, also if what it matches did not change.
    for words in [["diff", MAIN, MAIN, "-f", "swap"], ["diff", MAIN, FAST, "-f", "SWAP"]] {
        let output = run_in(&corpus, &words);
        let has_match = words[4] == "swap";
        assert_eq!(stderr(&output).is_empty(), has_match, "{words:?}: {}", stderr(&output));
    }
}
