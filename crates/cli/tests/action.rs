//! The steps of `action.yml`, run by a shell as GitHub would.

#![cfg(test)]
#![cfg(unix)]

mod harness;

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};

use harness::*;

const CONFIG: &[u8] = b"[[benchmark]]\nname = \"mill\"\nprofile = \"mill.out\"\n";

/// Returns the script of a step: the lines below its `run: |`.
fn script(step: &str) -> String {
    let action = std::fs::read_to_string(root().join("action.yml")).unwrap();
    let (_, rest) = action.split_once(&format!("- name: {step}\n")).unwrap();
    let rest = rest.split("    - name: ").next().unwrap();
    let Some((_, script)) = rest.split_once("run: |\n") else {
        return rest.split_once("run: ").unwrap().1.to_owned();
    };
    script
        .lines()
        .map(|line| line.strip_prefix("        ").unwrap_or(""))
        .map(|line| format!("{line}\n"))
        .collect()
}

/// Runs a step in a directory, with the program and a `gh` that keeps its arguments on the path.
fn run_step(step: &str, directory: &Path, environment: &[(&str, &str)]) -> Output {
    let programs = directory.join("programs");
    if !programs.exists() {
        std::fs::create_dir(&programs).unwrap();
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_gristmill"), programs.join("gristmill")).unwrap();
        let gh = programs.join("gh");
        std::fs::write(
            &gh,
            "#!/bin/sh\nprintf '%s\\n' \"$*\" >> gh.log\ncase \"$*\" in *'pr view'*) cat comments;; esac\n",
        )
        .unwrap();
        std::fs::set_permissions(&gh, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = format!("{}:{}", text(&programs), std::env::var("PATH").unwrap());
    let mut shell = Command::new("bash");
    // The shell that GitHub starts for `shell: bash`.
    shell.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", &script(step)]).current_dir(directory);
    shell.env("PATH", path).env("RUNNER_TEMP", directory).env("GITHUB_REPOSITORY", "a/b");
    shell
        .env("GITHUB_OUTPUT", directory.join("output"))
        .env("GITHUB_STEP_SUMMARY", directory.join("summary"));
    shell.envs(environment.iter().copied()).output().unwrap()
}

fn profile(cost: u32) -> String {
    format!(
        "version: 1\ncreator: callgrind-3\ncmd: mill\nevents: Ir\nfl=mill.c\nfn=main\n1 {cost}\ntotals: {cost}\n"
    )
}

#[test]
fn the_verdict_is_an_output_and_the_exit_status_and_the_comment_follows() {
    let folder = folder(&[("gristmill.toml", CONFIG), ("mill.out", profile(1000).as_bytes())]);
    let path = folder.path();
    let output_of = |arguments: &str| {
        std::fs::write(path.join("output"), "").unwrap();
        let output = run_step("Gate", path, &[("ARGUMENTS", arguments)]);
        (code(&output), std::fs::read_to_string(path.join("output")).unwrap())
    };
    // There is no baseline yet.
    assert_eq!(output_of(""), (2, "verdict=undetermined\n".to_owned()));
    assert_eq!(code(&run_in(path, &["gate", "bless"])), 0);
    assert_eq!(output_of(""), (0, "verdict=within\n".to_owned()));
    std::fs::write(path.join("mill.out"), profile(2000)).unwrap();
    assert_eq!(output_of("mill -j 2"), (1, "verdict=exceeded\n".to_owned()));

    let comment = |environment: &[(&str, &str)]| {
        let output = run_step("Comment", path, environment);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        std::fs::read_to_string(path.join("gh.log")).unwrap_or_default()
    };
    assert_eq!(comment(&[("COMMENT", "true"), ("NUMBER", "")]), "");
    assert_eq!(comment(&[("COMMENT", "false"), ("NUMBER", "7")]), "");
    assert!(std::fs::read_to_string(path.join("summary")).unwrap().contains("mill"));
    // The comment of this directory is changed, and without one there is a new one.
    let environment = [("COMMENT", "true"), ("NUMBER", "7"), ("DIRECTORY", "a dir")];
    let mark = "<!-- gristmill gate: a dir -->";
    let others = "IC_1 Coverage: 80%\nIC_2 <!-- gristmill gate: b -->\n";
    let own = format!("IC_3 {mark}\nIC_4 Preview\n");
    for (comments, call) in [
        (String::new(), "pr comment 7 --repo a/b --body-file "),
        (others.to_owned(), "pr comment 7 --repo a/b --body-file "),
        (others.to_owned() + &own, "--raw-field id=IC_3 --field body=@"),
    ] {
        std::fs::write(path.join("comments"), &comments).unwrap();
        let _ = std::fs::remove_file(path.join("gh.log"));
        let calls = comment(&environment);
        let calls: Vec<&str> = calls.lines().collect();
        assert_eq!(calls.len(), 2, "{calls:?}");
        assert!(calls[0].starts_with("pr view 7 --repo a/b --json comments --jq "), "{calls:?}");
        assert!(calls[1].contains(call), "{comments}: {calls:?}");
        assert_eq!(calls[1].contains("updateIssueComment"), comments.contains("IC_3"), "{calls:?}");
    }
    let body = std::fs::read_to_string(path.join("gristmill-comment.md")).unwrap();
    let verdict = std::fs::read_to_string(path.join("gristmill-gate.md")).unwrap();
    assert_eq!(body, format!("{mark}\n{verdict}"));
}

/// A job that uses the action twice: the second gate ends before it writes a verdict.
#[test]
fn the_verdict_of_an_earlier_use_is_not_shown_again() {
    let folder = folder(&[("gristmill-gate.md", b"verdict"), ("gristmill-base.toml", b"")]);
    let path = folder.path();
    std::fs::create_dir(path.join("gristmill-base")).unwrap();
    // The first step, before all that can fail.
    let action = std::fs::read_to_string(root().join("action.yml")).unwrap();
    let (_, steps) = action.split_once("  steps:\n").unwrap();
    assert_eq!(steps.lines().find_map(|line| line.strip_prefix("    - name: ")), Some("Begin"));
    assert_eq!(code(&run_step("Begin", path, &[])), 0);
    let output = run_step("Gate", path, &[("ARGUMENTS", "")]);
    assert_eq!(code(&output), 2, "{}", stderr(&output));
    assert!(!stderr(&output).contains("gristmill-base"), "{}", stderr(&output));
    assert_eq!(
        code(&run_step("Comment", path, &[("COMMENT", "true"), ("NUMBER", "7"), ("OUTCOME", "success")])),
        0
    );
    assert!(!path.join("summary").exists() && !path.join("gh.log").exists());
    // Nor does the comment of an earlier push stay.
    std::fs::write(path.join("comments"), "ID <!-- gristmill gate: . -->\n").unwrap();
    for outcome in ["failure", "cancelled", "skipped"] {
        let _ =
            (std::fs::remove_file(path.join("gristmill-gate.md")), std::fs::remove_file(path.join("gh.log")));
        let environment = [("COMMENT", "true"), ("NUMBER", "7"), ("OUTCOME", outcome), ("DIRECTORY", ".")];
        assert_eq!(code(&run_step("Comment", path, &environment)), 0);
        assert!(std::fs::read_to_string(path.join("summary")).unwrap().starts_with("**No verdict**"));
        assert!(std::fs::read_to_string(path.join("gh.log")).unwrap().contains("id=ID"), "{outcome}");
    }
}

#[test]
fn a_comment_is_not_longer_than_github_takes() {
    let report = "a line of the report\n".repeat(5000);
    let folder = folder(&[("gristmill-gate.md", report.as_bytes()), ("comments", b"")]);
    let path = folder.path();
    let environment = [("COMMENT", "true"), ("NUMBER", "7"), ("OUTCOME", "success"), ("DIRECTORY", ".")];
    assert_eq!(code(&run_step("Comment", path, &environment)), 0);
    let comment = std::fs::read_to_string(path.join("gristmill-comment.md")).unwrap();
    assert!(comment.len() < 65_000 && comment.ends_with("a line of the report\n"), "{}", comment.len());
    assert!(
        comment.starts_with("<!-- gristmill gate: . -->\n\nThe summary of the job has all of this report.\n")
    );
    assert_eq!(std::fs::read_to_string(path.join("summary")).unwrap(), report);
}
