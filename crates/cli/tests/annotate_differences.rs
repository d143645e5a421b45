//! Every example in `docs/annotate-differences.md` is as it says: what gristmill prints, what it prints with
//! `--compat exact`, and, where it is installed, what the original prints.

// Tests may panic: that is how they fail. Clippy knows that of test functions, but not of what they share.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]
#![cfg(test)]
#![cfg(unix)]

mod harness;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};
use std::{env, fs};

use harness::root;

const ORIGINAL: &str = "callgrind_annotate";

/// A chapter with its example.
#[derive(Debug, Default)]
struct Chapter {
    title: String,
    profiles: Vec<String>,
    source: Option<String>,
    command: String,
    original: Option<String>,
    any_order: Option<String>,
    gristmill: String,
}

fn chapters() -> Vec<Chapter> {
    let text = fs::read_to_string(root().join("docs/annotate-differences.md")).unwrap();
    let mut chapters: Vec<Chapter> = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(title) = line.strip_prefix("## ") {
            chapters.push(Chapter { title: title.to_owned(), ..Chapter::default() });
        }
        let Some(chapter) = chapters.last_mut() else { continue };
        if let Some(kind) = line.strip_prefix("```") {
            let block: String =
                lines.by_ref().take_while(|line| *line != "```").map(|line| format!("{line}\n")).collect();
            let block = block.replace('␍', "\r");
            match kind {
                "callgrind" => chapter.profiles.push(block),
                "c" => chapter.source = Some(block),
                "original" => chapter.original = Some(block),
                "any-order" => chapter.any_order = Some(block),
                "gristmill" => chapter.gristmill = block,
                _ => panic!("{}: what is ```{kind}?", chapter.title),
            }
        } else if line.starts_with('`') && line.ends_with('`') {
            line.trim_matches('`').clone_into(&mut chapter.command);
        }
    }
    chapters
}

/// Returns the output of a program in a folder; only a failure may print nothing.
fn printed(mut command: Command, folder: &Path) -> String {
    let output = command.current_dir(folder).env("PWD", folder).stdin(Stdio::null()).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// Lines that stand together.
fn stands_in(block: &str, text: &str) -> bool {
    !block.is_empty() && format!("\n{text}").contains(&format!("\n{block}"))
}

fn sorted(block: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = block.lines().collect();
    lines.sort_unstable();
    lines
}

#[test]
fn examples_are_true() {
    let is_installed = Command::new(ORIGINAL).arg("--version").output().is_ok();
    if !is_installed {
        assert!(env::var_os("GRISTMILL_CI").is_none(), "{ORIGINAL} is missing");
        println!("skipped: what {ORIGINAL} prints is not looked at, as there is none");
    }
    let chapters = chapters();
    assert!(chapters.len() > 15, "{}", chapters.len());
    // What is packed is no text that could stand there.
    let has_example = |chapter: &Chapter| !["Exact numbers", "Packed profiles"].contains(&&*chapter.title);
    for chapter in chapters.into_iter().filter(has_example) {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path().canonicalize().unwrap();
        let at_home = |text: &str| text.replace("/home/mill", here.to_str().unwrap());
        let mut paths = Vec::new();
        for (nth, profile) in chapter.profiles.iter().enumerate() {
            let name = format!("profile.{nth}");
            fs::write(here.join(&name), at_home(profile)).unwrap();
            paths.push(name);
        }
        if let Some(source) = &chapter.source {
            let path = here.join("mill.c");
            fs::write(&path, source).unwrap();
            let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
            fs::File::options().write(true).open(path).unwrap().set_modified(old).unwrap();
        }
        let words: Vec<&str> = chapter.command.split(' ').collect();
        let options = words.iter().filter(|word| word.starts_with("--"));
        let link = here.join(ORIGINAL);
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_gristmill"), &link).unwrap();
        let (ours, exact) = if words[0] == ORIGINAL {
            let mut exact = Command::new(&link);
            exact.env("GRISTMILL_COMPAT", "exact");
            (Command::new(link), exact)
        } else {
            (harness::gristmill(&["annotate"]), harness::gristmill(&["annotate", "--compat=exact"]))
        };
        let run = |mut command: Command| {
            command.args(options.clone()).args(&paths);
            printed(command, &here)
        };
        let ours = run(ours);
        let wanted = at_home(&chapter.gristmill);
        assert!(stands_in(&wanted, &ours), "{}: gristmill prints\n{ours}", chapter.title);
        let exact = run(exact);
        let block = chapter.original.as_ref().or(chapter.any_order.as_ref()).unwrap();
        let is_exact = if block.is_empty() { exact.is_empty() } else { stands_in(&at_home(block), &exact) };
        assert!(is_exact, "{}: with `--compat exact`, gristmill prints\n{exact}", chapter.title);
        if !is_installed {
            continue;
        }
        let theirs = run(Command::new(ORIGINAL));
        if let Some(lines) = &chapter.any_order {
            let first = sorted(lines)[0];
            let found: Vec<&str> = theirs.lines().filter(|line| sorted(lines).contains(line)).collect();
            assert_eq!(sorted(&found.join("\n")), sorted(lines), "{}: {first}", chapter.title);
            continue;
        }
        assert_eq!(exact, theirs, "{}", chapter.title);
        let original = at_home(chapter.original.as_deref().unwrap());
        let is_said = if original.is_empty() { theirs.is_empty() } else { stands_in(&original, &theirs) };
        assert!(is_said, "{}: the original prints\n{theirs}", chapter.title);
        assert!(!stands_in(&wanted, &theirs) && !stands_in(&original, &ours), "{}", chapter.title);
    }
}
