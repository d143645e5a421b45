//! `gristmill FILE`: the first screen, the command that is meant if none is named, and the profile that is meant if no file is.
//!
//! `BLESS=1` writes the goldens.

// Tests may panic: that is how they fail. Clippy knows that of test functions, but not of what they share.
#![allow(clippy::unwrap_used, clippy::panic)]

mod harness;

use std::fs::File;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

use serde_json::Value;

use harness::{
    CLEAN, assert_valid, code, corpus, folder, gzip, json, one_in, root, run, run_in, run_with, schema,
    stderr, stdout, text, whole,
};

fn blessed(name: &str, arguments: &[&str]) {
    let shown = harness::blessed("overview", name, arguments);
    let is_for_programs = arguments.contains(&"csv") || arguments.contains(&"markdown");
    for line in shown.lines().filter(|_| !is_for_programs) {
        // A command is not broken, as people copy it.
        let is_whole = line.starts_with("  gristmill") || line.starts_with("warning:");
        assert!(line.chars().count() <= 80 || is_whole, "{line}");
    }
}

#[test]
fn text_of_several_producers() {
    blessed("callgrind", &["callgrind/callgrind.out.mill"]);
    blessed("cachegrind", &["cachegrind/cachegrind.out.mill"]);
    blessed("xdebug", &["dialects/xdebug3.txt"]);
    blessed("go", &["dialects/go-pprof.txt"]);
    blessed("xtree", &["xtree/xtmemory.kcg"]);
    blessed("python", &["python/callgrind.out.pyprof2calltree"]);
    blessed("names", &["callgrind/callgrind.out.names"]);
}

#[test]
fn text_of_parts_and_threads() {
    blessed("parts", &["callgrind/callgrind.out.parts"]);
    blessed("threads", &["--set", "callgrind/callgrind.out.crew-sep"]);
    blessed("one-part", &["callgrind/callgrind.out.parts", "--part", "2", "--limit", "3"]);
    blessed("cycle", &["callgrind/callgrind.out.recs"]);
}

#[test]
fn other_formats() {
    let full = "callgrind/callgrind.out.full";
    blessed("events", &[full, "--event", "Ir,Dr", "--limit", "3"]);
    blessed("derived", &[full, "--derive", "Reads = Dr : all reads", "--event", "reads", "--limit", "2"]);
    blessed("markdown", &["callgrind/callgrind.out.mill-main", "--format", "markdown", "--limit", "4"]);
    blessed("csv", &["callgrind/callgrind.out.mill-main", "--format", "csv", "--limit", "2"]);
}

#[test]
fn json_fits_the_schema_and_functions() {
    let schema = schema("overview.schema.json");
    for path in corpus().into_iter().step_by(one_in(3)) {
        let output = run(&["overview", "--format", "json", text(&path)]);
        if code(&output) != 0 {
            continue;
        }
        let overview = json(&output);
        assert_valid(&schema, &overview, text(&path));
        let functions =
            json(&run(&["functions", "--sort", "self", "--limit", "10", "--format", "json", text(&path)]));
        assert_eq!(overview["hottest"], functions["functions"], "{}", path.display());
        for member in ["totals", "damage", "findings", "title", "notes"] {
            assert_eq!(overview[member], functions[member], "{}", path.display());
        }
        // Shares add up to the total.
        let totals = overview["totals"].as_object().unwrap();
        for (event, total) in totals {
            for list in ["objects", "files", "threads", "parts"] {
                let rows = overview["shares"][list].as_array().unwrap();
                let sum: i128 = rows.iter().map(|row| whole(&row["self"][event])).sum();
                assert!(
                    rows.is_empty() || sum == whole(total),
                    "{}: {list}: {sum} of {total}",
                    path.display()
                );
            }
        }
    }
}

/// Each command that is proposed runs in a shell, and is about the function that it names.
#[cfg(unix)]
#[test]
fn proposed_commands_work() {
    let mut count = 0;
    for path in corpus().into_iter().step_by(one_in(3)) {
        let output = run(&["--format", "json", text(&path)]);
        if code(&output) != 0 {
            continue;
        }
        let overview = json(&output);
        for next in overview["next"].as_array().unwrap() {
            let line = next["command"].as_str().unwrap();
            let script = format!("gristmill() {{ \"{}\" \"$@\"; }}; {line}", env!("CARGO_BIN_EXE_gristmill"));
            let ran = Command::new("bash").args(["-c", &script]).env("TERM", "dumb").output().unwrap();
            assert_eq!(ran.status.code(), Some(0), "{line}: {}", stderr(&ran));
            count += 1;
        }
        let first = overview["next"][0]["command"].as_str().unwrap_or_default();
        if let Some(command) = first.strip_prefix("gristmill show ") {
            let script = format!("\"{}\" show --format json {command}", env!("CARGO_BIN_EXE_gristmill"));
            let shown = json(&Command::new("bash").args(["-c", &script]).output().unwrap());
            let rows = overview["hottest"].as_array().unwrap();
            // Levels of a recursion are named by the function itself.
            let base = |name: &Value| name.as_str().unwrap().split('\'').next().unwrap().to_owned();
            let is_meant = |row: &Value| match command.contains("--fold-recursion") {
                true => base(&row["name"]) == base(&shown["function"]["name"]),
                false => row["id"] == shown["function"]["id"],
            };
            assert!(rows.iter().any(is_meant), "{first}");
        }
    }
    assert!(count > 150 / one_in(3), "{count}");
}

#[test]
fn words_for_a_shell_are_quoted() {
    let name = "operator()<'a' & $HOME>(int) const";
    let profile =
        format!("events: Ir\nfl=x y.c\nfn=main\n1 1\ncfn={name}\ncalls=1 1\n1 99\nfn={name}\n1 99\n");
    let folder = folder(&[("it's a profile", profile.as_bytes()), ("-n", profile.as_bytes())]);
    for (file, quoted) in [("it's a profile", r"'it'\''s a profile'"), ("./-n", "./-n")] {
        let shown = stdout(&run_in(folder.path(), &[file]));
        let command = format!(r"  gristmill show 'operator()<'\''a'\'' & $HOME>' {quoted}");
        assert!(shown.contains(&command) || shown.contains("operator()"), "{shown}");
        assert!(shown.contains(quoted), "{shown}");
    }
    let shown = stdout(&run_in(folder.path(), &["overview", "--", "-n"]));
    assert!(shown.contains(" ./-n"), "{shown}");
}

#[test]
fn options_of_the_view_are_repeated() {
    let path = root().join("corpus/callgrind/callgrind.out.full");
    let shown = stdout(&run(&["--event", "Dr,Ir", "--derive", "A = 2 Ir", "--fold-recursion", text(&path)]));
    let expected = "gristmill show --event=Dr,Ir '--derive=A = 2 Ir' --fold-recursion sort_grains ";
    assert!(shown.contains(expected), "{shown}");
    let expected = "gristmill annotate --filter=sort_grains --event=Dr,Ir '--derive=A = 2 Ir' /";
    assert!(shown.contains(expected), "{shown}");
}

#[test]
fn a_file_is_a_command() {
    let folder = folder(&[("a", CLEAN), ("info", CLEAN), ("b.gz", &gzip(CLEAN))]);
    let shown = |arguments: &[&str]| {
        let output = run_in(folder.path(), arguments);
        assert_eq!((code(&output), stderr(&output).as_str()), (0, ""), "{arguments:?}");
        stdout(&output)
    };
    let expected = shown(&["overview", "a"]);
    assert!(expected.contains("Hottest functions"), "{expected}");
    assert_eq!(shown(&["a"]), expected);
    assert_eq!(shown(&["--color", "never", "a"]), expected);
    assert_eq!(shown(&["--limit=10", "a"]), expected);
    assert_eq!(
        shown(&["./info"]),
        expected.replace(" a\n", " ./info\n").replacen("a (hand)", "./info (hand)", 1)
    );
    assert!(shown(&["info", "a"]).contains("Producer"));
    assert!(shown(&["b.gz"]).contains("gristmill show grind b.gz"));
    let output = run_with(&["-"], CLEAN);
    assert_eq!((code(&output), stderr(&output).as_str()), (0, ""));
    assert!(stdout(&output).contains("gristmill show grind -"), "{}", stdout(&output));
}

#[test]
fn words_that_are_no_files() {
    for (arguments, said) in [
        (&["funtions"][..], "a similar subcommand exists: 'functions'"),
        (&["no-such-profile"], "no-such-profile: no such file"),
        (&["no/such.out"], "no/such.out: no such file"),
        (&["callgrind.out.1", "functions"], "callgrind.out.1: no such file"),
        (&["--bogus", "x"], "unexpected argument '--bogus'"),
        (&["--limit", "3", "functions", "x"], "unexpected argument '--limit'"),
        (&["show", "main", "no-such"], "no-such: no such file"),
    ] {
        let output = run(arguments);
        assert_eq!((code(&output), stdout(&output).as_str()), (2, ""), "{arguments:?}");
        assert!(stderr(&output).contains(said), "{arguments:?}: {}", stderr(&output));
    }
}

#[test]
fn damage_comes_first_in_one_line() {
    let text = b"creator: callgrind-3.19.0\nevents: Ir\nsummary: 500\nfn=main\n1 300\n1 x\n1 y\n";
    let folder = folder(&[("a", text), ("empty", b""), ("source.c", b"int main() {}\n")]);
    let shown = stdout(&run_in(folder.path(), &["a"]));
    let first = shown.lines().next().unwrap();
    assert!(first.starts_with("warning: a"), "{shown}");
    assert_eq!(shown.matches("warning").count(), 1, "{shown}");
    for (file, said) in [("empty", "empty"), ("source.c", "events:")] {
        let output = run_in(folder.path(), &[file]);
        assert_eq!(code(&output), 2);
        assert!(stderr(&output).contains(said), "{}", stderr(&output));
    }
}

/// Sets the time when a file was written, in seconds of a day.
fn write_at(folder: &Path, name: &str, bytes: &[u8], seconds: u64) {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, bytes).unwrap();
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000 + seconds);
    File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
}

fn named(function: &str) -> Vec<u8> {
    format!("# callgrind format\nevents: Ir\nfl=a.c\nfn={function}\n1 10\n").into_bytes()
}

#[test]
fn the_newest_profile_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    for (name, function, seconds) in [
        ("callgrind.out.10", "old", 1),
        ("callgrind.out.2", "mine", 5),
        ("cachegrind.out.3", "cached", 3),
        ("callgrind.out.2.old", "older", 8),
        ("other.out", "other", 9),
        ("sub/callgrind.out.1", "below", 9),
    ] {
        write_at(here, name, &named(function), seconds);
    }
    write_at(here, "callgrind.out.empty", b"", 9);
    write_at(here, "callgrind.out.txt", b"notes\n", 9);
    for arguments in [
        &[][..],
        &["overview"],
        &["functions"],
        &["show", "mine"],
        &["tree"],
        &["annotate"],
        &["info"],
        &["lint"],
        &["--limit", "3"],
    ] {
        let output = run_in(here, arguments);
        assert_eq!(code(&output), 0, "{arguments:?}: {}", stderr(&output));
        assert_eq!(
            stderr(&output),
            "gristmill: reading callgrind.out.2, the newest profile here\n",
            "{arguments:?}"
        );
        let shown = stdout(&output);
        assert!(shown.contains("mine") || shown.contains("callgrind.out.2"), "{arguments:?}: {shown}");
    }
    for (name, seconds) in [
        ("cachegrind.out.9", 11),
        ("xtmemory.kcg.9", 12),
        ("cgrun.out", 13),
        ("target/gungraun/mill/bench/sieve/sort.case/callgrind.sort.case.out", 14),
        ("target/iai/cachegrind.out.fast", 15),
    ] {
        write_at(here, name, &named("newest"), seconds);
        write_at(here, &format!("{name}.old"), &named("no"), seconds + 100);
        let output = run_in(here, &["functions"]);
        assert_eq!(stderr(&output), format!("gristmill: reading {name}, the newest profile here\n"));
        assert!(stdout(&output).contains("newest"));
    }
    // It proposes commands that find the same file.
    let shown = stdout(&run_in(here, &[]));
    assert!(shown.contains("  gristmill show newest "), "{shown}");
}

#[test]
fn the_newest_recording_is_read_whole() {
    let folder = tempfile::tempdir().unwrap();
    for end in ["", "-01", "-02", "-03", "-04"] {
        let name = format!("callgrind.out.crew-sep{end}");
        let bytes = std::fs::read(root().join("corpus/callgrind").join(&name)).unwrap();
        write_at(folder.path(), &name, &bytes, 5);
    }
    write_at(folder.path(), "callgrind.out.1", &named("old"), 1);
    for command in ["overview", "functions", "info"] {
        let output = run_in(folder.path(), &[command]);
        let said = stderr(&output);
        assert!(said.contains(" more files of this recording, the newest here\n"), "{command}: {said}");
        assert!(command == "info" || stdout(&output).contains("6,902"), "{command}: {}", stdout(&output));
    }
}

/// A file of the system may have nothing to read: the search must not open it.
#[test]
#[cfg(target_os = "linux")]
fn files_of_the_system_are_no_recordings() {
    let folder = folder(&[("callgrind.out.1", &named("mine")), ("callgrind.out.9", b"")]);
    for name in ["callgrind.out.2", "callgrind.out.1-02"] {
        std::os::unix::fs::symlink("/proc/kmsg", folder.path().join(name)).unwrap();
    }
    let mut limited = Command::new("timeout");
    limited.args(["60", env!("CARGO_BIN_EXE_gristmill"), "functions"]);
    let output = limited.current_dir(folder.path()).output().unwrap();
    assert_eq!(stderr(&output), "gristmill: reading callgrind.out.1, the newest profile here\n");
    assert!(stdout(&output).contains("mine"));
}

#[test]
fn without_any_profile_help_is_given() {
    let folder = folder(&[("notes.txt", b"notes\n")]);
    for arguments in
        [&[][..], &["functions"], &["show", "main"], &["tree"], &["annotate"], &["info"], &["lint"]]
    {
        let output = run_in(folder.path(), arguments);
        assert_eq!((code(&output), stdout(&output).as_str()), (2, ""), "{arguments:?}");
        let said = stderr(&output);
        for words in ["callgrind.out*", "target/gungraun", "gristmill record PROGRAM", "--help"] {
            assert!(said.contains(words), "{arguments:?}: {said}");
        }
    }
    for command in ["merge", "diff", "rewrite"] {
        assert_eq!(code(&run_in(folder.path(), &[command])), 2, "{command}");
    }
}

#[test]
fn show_without_a_function_says_so() {
    let folder = folder(&[("a", CLEAN)]);
    let output = run_in(folder.path(), &["show", "a"]);
    assert_eq!(code(&output), 2);
    let said = stderr(&output);
    assert!(
        said.contains("a is a profile, and no function is named") && said.contains("show FUNCTION a"),
        "{said}"
    );
}

/// The files of a recording that was packed are found by the names that they had. Of one that is there twice, the named one counts.
#[test]
fn packed_files_are_of_their_set() {
    let thread = |thread: u32| {
        let text = format!(
            "creator: callgrind-3.19.0\npid: 7\ncmd: x\npart: 1\nthread: {thread}\nevents: Ir\nfn=f\n1 {thread}00\ntotals: {thread}00\n"
        );
        text.into_bytes()
    };
    let folder = folder(&[
        ("x.out.7-01.gz", &gzip(&thread(1))),
        ("x.out.7-02", &thread(2)),
        ("x.out.7-02.gz", &gzip(&thread(2))),
        ("x.out.7-03.gz", &gzip(&thread(3))),
    ]);
    for named in [
        &["x.out.7-01.gz"][..],
        &["x.out.7-02"],
        &["x.out.7-02.gz"],
        &["x.out.7-03.gz"],
        &["x.out.7-02", "x.out.7-01.gz"],
    ] {
        let output = run_in(folder.path(), &[&["functions", "--format", "json", "--set"], named].concat());
        assert_eq!((code(&output), stderr(&output)), (0, String::new()), "{named:?}");
        assert_eq!(json(&output)["totals"], serde_json::json!({ "Ir": 600 }), "{named:?}");
    }
    // Both are named, which counts twice with and without the set.
    let output = run_in(folder.path(), &["functions", "--set", "x.out.7-02.gz", "x.out.7-02"]);
    assert!(
        stderr(&output).contains("have the same content: the costs count each time"),
        "{}",
        stderr(&output)
    );
    assert!(!stderr(&output).contains("no other file"), "{}", stderr(&output));
}
