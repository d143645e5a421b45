//! `gristmill lint` as a user runs it.

// Tests may panic: that is how they fail. Clippy knows that of test functions, but not of what they share.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod harness;

use std::path::{Path, PathBuf};

use harness::{
    CLEAN, assert_ends_quietly, assert_frugal, assert_valid, code, corpus, folder, golden, gzip, json,
    malformed, one_in, root, run, run_in, run_measured, run_with, sarif_schemas, schema, stderr, stdout,
    text,
};

/// Errors, warnings and notes.
const MIXED: &[u8] =
    b"# callgrind format\nversion: 1\ncreator: hand\ncmd: ./mill\nfrobnicate: yes\nevents: Ir Dr\n\
    ob=(1) /bin/mill\nfl=(1) mill.c\nfn=(1) main\n10 10 2 7\n11 1O 2\ncfn=(2) grind\ncalls=3 20\n12 50 10\n\
    fn=(3)\n20 50 10\ntotals: 60 12";

/// A warning and no error.
const WARNING: &[u8] =
    b"# callgrind format\nversion: 1\ncreator: hand\npositions: line\nevents: Ir\nwhat=ever\nfn=main\n\
    1 2\ntotals: 2\n";

/// A note and nothing worse.
const NOTE: &[u8] = b"version: 1\ncreator: hand\npositions: line\nevents: Ir\nfn=main\n1 2\ntotals: 2\n";

/// Findings after tabs, characters of two columns and none, and invalid UTF-8; in lines of all lengths.
fn marked() -> Vec<u8> {
    let mut profile =
        b"# callgrind format\nversion: 1\ncreator: hand\npositions: line\nevents: Ir\n".to_vec();
    profile.extend("fn=gr\u{f6}\u{df}e\n1\t2x\nfn=日本\n1 日本 3\nfn=e\u{301}\n2 e\u{301} z\n".as_bytes());
    profile.extend(b"3 \xff\xfe 9\n4 \x1b[2J 5\n");
    profile.extend(format!("5 {} x {}\n", "1".repeat(100), "2".repeat(100)).bytes());
    profile
}

fn errors(count: usize) -> Vec<u8> {
    let mut profile =
        b"# callgrind format\nversion: 1\ncreator: hand\npositions: line\nevents: Ir\nfn=main\n".to_vec();
    for line in 1..=count {
        profile.extend(format!("{line} x\n").bytes());
    }
    profile
}

/// A habit of a producer is no finding about one of its files.
#[test]
fn recordings_of_valgrind_have_no_notes() {
    let mut checked = 0;
    for directory in ["callgrind", "cachegrind", "xtree"] {
        for entry in std::fs::read_dir(root().join("corpus").join(directory)).unwrap() {
            let path = entry.unwrap().path();
            let notes = |options: &[&str]| {
                let arguments = [&["lint", "--format", "json", text(&path)], options].concat();
                let findings = json(&run(&arguments))["files"][0]["findings"].as_array().unwrap().clone();
                let notes = findings.iter().filter(|finding| finding["severity"] == "note");
                let mut rules: Vec<String> =
                    notes.map(|finding| finding["rule"].as_str().unwrap().to_owned()).collect();
                rules.dedup();
                rules
            };
            // A block that a call leads to and that is not there can be a loss.
            let expected: &[&str] =
                if path.ends_with("callgrind.out.systime") { &["callee-without-block"] } else { &[] };
            assert_eq!(notes(&[]), expected, "{}", path.display());
            checked += usize::from(!notes(&["--habits"]).is_empty());
        }
    }
    assert!(checked > 40, "{checked}");
}

#[test]
fn clean_file() {
    let folder = folder(&[("clean.out", CLEAN)]);
    let output = run_in(folder.path(), &["lint", "--strict", "clean.out"]);
    assert_eq!((code(&output), stdout(&output).as_str()), (0, "clean.out: valid, no findings\n"));
    assert!(output.stderr.is_empty());
}

/// The last line of each file, and that of several, is a sentence about what the file is good for.
#[test]
fn verdicts() {
    let folder =
        folder(&[("clean", CLEAN), ("mixed", MIXED), ("empty", b"\n"), ("elf", b"\x7fELF\x02\x01\x01\0")]);
    for (files, verdict) in [
        (&["clean"][..], "clean: valid, no findings"),
        (&["empty"], "empty: empty, without any cost: 1 warning"),
        (&["elf"], "elf: not a profile: 1 error"),
        (&["clean", "clean"], "2 files, all valid: no findings"),
        (&["clean", "elf", "elf"], "3 files, 2 not valid: 2 errors"),
        (&["clean", "elf", "missing"], "3 files, 1 not valid: 1 error; 1 could not be read"),
        (&["clean", "missing"], "2 files: no findings; 1 could not be read"),
    ] {
        let output = run_in(folder.path(), &[&["lint"], files].concat());
        assert_eq!(stdout(&output).lines().last(), Some(verdict), "{files:?}");
    }
}

#[test]
fn text_for_people() {
    let files: [(&str, &[u8]); 5] = [
        ("mixed.out", MIXED),
        ("marked.out", &marked()),
        ("many.out", &errors(1200)),
        ("clean.out", CLEAN),
        ("note.out", NOTE),
    ];
    let folder = folder(&files);
    for (name, arguments) in [
        ("mixed", &["lint", "mixed.out"][..]),
        ("mixed-all", &["lint", "--all", "mixed.out"]),
        ("marked-all", &["lint", "--all", "marked.out"]),
        ("many", &["lint", "many.out"]),
        ("several-files", &["lint", "clean.out", "note.out", "clean.out", "mixed.out", "missing.out"]),
        ("strict", &["lint", "--strict", "note.out", "mixed.out"]),
        ("explain", &["lint", "--explain", "totals-mismatch"]),
    ] {
        let output = run_in(folder.path(), arguments);
        let shown = stdout(&output);
        for line in shown.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
        golden(&format!("lint-{name}"), &shown);
    }
}

/// The marker is below its location, after characters of any width.
#[test]
fn marker_is_below_its_location() {
    let folder = folder(&[("marked.out", &marked())]);
    let shown = stdout(&run_in(folder.path(), &["lint", "--all", "marked.out"]));
    let lines: Vec<&str> = shown.lines().collect();
    for (line, below) in [
        ("    | 1\\t2x", "    |    ^~"),
        ("    | 1 日本 3", "    |   ^~~~"),
        ("    | 2 e\u{301} z", "    |   ^"),
        ("    | 3 \\xff\\xfe 9", "    |   ^~~~~~~~"),
        ("    | 4 \\x1b[2J 5", "    |   ^~~~~~~"),
    ] {
        let found = lines.windows(2).any(|pair| pair == [line, below]);
        assert!(found, "{line}\n{below}\nin\n{shown}");
    }
    assert!(!shown.contains('\x1b'));
}

#[test]
fn caps_and_all() {
    let folder = folder(&[("many.out", &errors(1200))]);
    let capped = stdout(&run_in(folder.path(), &["lint", "many.out"]));
    assert_eq!(capped.matches("    | ").count(), 2 * 3);
    assert!(capped.contains("  … and 1,197 more\n"), "{capped}");
    // More than are kept in memory.
    let all = stdout(&run_in(folder.path(), &["lint", "--all", "many.out"]));
    assert!(!all.contains("more\n"));
    for line in 1..=1200 {
        assert!(all.contains(&format!("\n    | {line} x\n")), "{line}");
    }
}

#[test]
fn exit_codes() {
    let folder = folder(&[("error", MIXED), ("warning", WARNING), ("note", NOTE), ("clean", CLEAN)]);
    for (arguments, expected) in [
        (&["clean"][..], 0),
        (&["note"], 0),
        (&["warning"], 0),
        (&["error"], 1),
        (&["--fail-on", "warning", "note"], 0),
        (&["--fail-on", "warning", "warning"], 1),
        (&["--fail-on", "warning", "error"], 1),
        (&["--fail-on", "note", "clean"], 0),
        (&["--fail-on", "note", "note"], 1),
        (&["--fail-on", "error", "warning"], 0),
        (&["error", "clean"], 1),
        (&["missing", "clean"], 2),
        (&["missing", "error"], 2),
        (&["error", "missing"], 2),
        (&["--max-size", "10", "clean"], 2),
    ] {
        for format in ["text", "json", "sarif", "github"] {
            let arguments = [&["lint", "--format", format], arguments].concat();
            assert_eq!(code(&run_in(folder.path(), &arguments)), expected, "{arguments:?}");
        }
    }
}

#[test]
fn other_files_are_checked_when_one_cannot_be_read() {
    let folder = folder(&[("error", MIXED)]);
    let output = run_in(folder.path(), &["lint", "missing", "error"]);
    assert!(stderr(&output).contains("missing: no such file"));
    assert!(stdout(&output).contains("error[too-many-costs]"));
    assert!(stdout(&output).ends_with("; 1 could not be read\n"));
}

#[test]
fn practice_and_strict_are_held_to() {
    let folder = folder(&[("warning", WARNING), ("clean", CLEAN)]);
    for option in ["--strict", "--practice"] {
        let output = run_in(folder.path(), &["lint", option, "warning"]);
        assert_eq!(code(&output), 1);
        assert!(stdout(&output).contains(&format!("error[{}]", &option[2..])), "{}", stdout(&output));
    }
    assert_eq!(code(&run_in(folder.path(), &["lint", "--strict", "clean"])), 0);
}

#[test]
fn packing_is_checked() {
    let packed = gzip(CLEAN);
    let cut = &packed[..packed.len() - 20];
    let folder = folder(&[
        ("good.out.gz", &packed),
        ("cut.out.gz", cut),
        ("hidden.out", &packed),
        ("plain.gz", CLEAN),
        ("wrong.xz", &packed),
    ]);
    let rules = |name: &str| -> (i32, Vec<String>) {
        let output = run_in(folder.path(), &["lint", "--format", "json", name]);
        let findings = json(&output)["files"][0]["findings"].clone();
        let rules =
            findings.as_array().unwrap().iter().map(|finding| finding["rule"].as_str().unwrap().to_owned());
        (code(&output), rules.collect())
    };
    assert_eq!(rules("good.out.gz"), (0, vec![]));
    let (status, found) = rules("cut.out.gz");
    assert_eq!((status, found[0].as_str()), (1, "damaged-compression"));
    for name in ["hidden.out", "plain.gz", "wrong.xz"] {
        assert_eq!(rules(name), (0, vec!["compressed-content".to_owned()]), "{name}");
    }
    // Standard input has no name that could be wrong.
    let output = run_with(&["lint", "-"], &packed);
    assert_eq!((code(&output), stdout(&output).as_str()), (0, "<stdin>: valid, no findings\n"));
}

#[test]
fn colour_only_when_asked_for() {
    let folder = folder(&[("error", MIXED)]);
    assert!(!run_in(folder.path(), &["lint", "error"]).stdout.contains(&0x1b));
    let colored = run_in(folder.path(), &["--color", "always", "lint", "error"]);
    let mut plain = String::new();
    for piece in stdout(&colored).split('\x1b') {
        plain.push_str(
            piece.strip_prefix('[').and_then(|piece| piece.split_once('m')).map_or(piece, |(_, text)| text),
        );
    }
    assert_eq!(plain, stdout(&run_in(folder.path(), &["lint", "error"])));
}

#[test]
fn json_fits_its_schema() {
    let schema = schema("lint.schema.json");
    let mut files = corpus();
    files.extend(malformed());
    for path in files.iter().step_by(one_in(3)) {
        for options in [&[][..], &["--all", "--strict"]] {
            let output = run(&[&["lint", "--format", "json"], options, &[text(path)]].concat());
            let value = json(&output);
            assert_valid(&schema, &value, text(path));
            let file = &value["files"][0];
            let (shown, findings) = (file["shown"].as_u64().unwrap(), file["findings"].as_array().unwrap());
            assert_eq!(shown, findings.len() as u64);
            let counts = &file["counts"];
            let total: u64 =
                ["error", "warning", "note"].iter().map(|word| counts[word].as_u64().unwrap()).sum();
            let omitted: u64 =
                file["omitted"].as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum();
            assert_eq!(total, shown + omitted, "{}", path.display());
            assert_eq!(code(&output), expected_code(path, counts["error"] != 0), "{}", path.display());
            if options.contains(&"--all") {
                assert_eq!(omitted, 0);
            }
        }
    }
    let folder = folder(&[("many", &errors(10)), ("clean", CLEAN)]);
    let output = run_in(folder.path(), &["lint", "--format", "json", "many", "missing", "clean"]);
    let value = json(&output);
    assert_valid(&schema, &value, "several");
    assert_eq!(value["files"][0]["omitted"]["bad-cost"], 7);
    assert_eq!(value["unread"][0]["path"], "missing");
    assert_eq!(value["files"].as_array().unwrap().len(), 2);
    // Nothing could be read.
    let value = json(&run_in(folder.path(), &["lint", "--format", "json", "missing"]));
    assert_valid(&schema, &value, "missing");
}

#[test]
fn json_says_where() {
    let mut profile = errors(0);
    let start = profile.len();
    profile.extend("fn=ö\n1 \tzz \u{1f9c0}\n".as_bytes());
    let folder = folder(&[("a", &profile)]);
    let value = json(&run_in(folder.path(), &["lint", "--format", "json", "a"]));
    let findings = value["files"][0]["findings"].as_array().unwrap();
    let finding = findings.iter().find(|finding| finding["rule"] == "bad-cost").unwrap();
    assert_eq!(finding["line"], 8);
    assert_eq!(finding["column"], 4);
    assert_eq!(finding["length"], 2);
    assert_eq!(finding["byte"], start + "fn=ö\n1 \t".len());
    assert_eq!(finding["text"], "1 \tzz \u{1f9c0}");
    assert_eq!(finding["severity"], "error");
}

#[test]
fn long_lines_are_cut_in_json() {
    let mut profile = errors(0);
    profile.extend(format!("1 x{}\n", "y".repeat(100_000)).bytes());
    let folder = folder(&[("a", &profile)]);
    let value = json(&run_in(folder.path(), &["lint", "--format", "json", "a"]));
    let finding = &value["files"][0]["findings"][0];
    assert_eq!(finding["text"].as_str().unwrap().len(), 4096);
    assert_eq!(finding["cut"], true);
}

#[test]
fn sarif_fits_its_schema() {
    let schemas = sarif_schemas();
    let mut files = corpus();
    files.extend(malformed());
    for path in files.iter().step_by(one_in(3)) {
        let value = json(&run(&["lint", "--format", "sarif", text(path)]));
        for schema in &schemas {
            assert_valid(schema, &value, text(path));
        }
        let run = &value["runs"][0];
        for result in run["results"].as_array().unwrap() {
            let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
            assert_eq!(run["tool"]["driver"]["rules"][index]["id"], result["ruleId"]);
        }
    }
    let folder = folder(&[("many", &errors(10))]);
    let value = json(&run_in(folder.path(), &["lint", "--format", "sarif", "many", "missing"]));
    for schema in &schemas {
        assert_valid(schema, &value, "several");
    }
    let invocation = &value["runs"][0]["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    let notifications = invocation["toolExecutionNotifications"].as_array().unwrap();
    assert!(notifications.iter().any(|told| told["message"]["text"] == "many: 7 more findings of bad-cost"));
}

#[test]
fn sarif_columns_are_characters() {
    let mut profile = errors(0);
    profile.extend("1 日本 zz\n".as_bytes());
    let folder = folder(&[("a b#1", &profile)]);
    let value = json(&run_in(folder.path(), &["lint", "--format", "sarif", "a b#1"]));
    let results = value["runs"][0]["results"].as_array().unwrap();
    let result = results.iter().find(|result| result["ruleId"] == "bad-cost").unwrap();
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "a%20b%231");
    assert_eq!(place["region"]["startColumn"], 3);
    assert_eq!(place["region"]["endColumn"], 5);
    assert_eq!(result["level"], "error");
}

#[test]
fn github_annotations() {
    let folder = folder(&[("a,b%1.out", &errors(5)), ("note.out", NOTE)]);
    let output = run_in(folder.path(), &["lint", "--format", "github", "note.out", "a,b%1.out", "missing"]);
    let shown = stdout(&output);
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(
        lines[0],
        "::notice file=note.out,line=1,col=1,title=no-format-marker::the first line is not `# callgrind format`"
    );
    assert_eq!(
        lines[1],
        "::error file=a%2Cb%251.out,line=7,col=3,title=bad-cost::expected a cost: an integer"
    );
    assert!(lines[3].ends_with("an integer (and 2 more like this in the file)"), "{shown}");
    assert_eq!(lines.last(), Some(&"::error file=missing,title=gristmill::missing: no such file"));
    // A name in a message can begin no command of its own.
    let shown = stdout(&run_with(
        &["lint", "--format", "github", "-"],
        b"events: Ir\nfn=a\n1 2\nfr\x0bob\r::error::x: 1\n",
    ));
    assert!(shown.lines().all(|line| line.starts_with("::") && !line.contains("file=")), "{shown}");
    assert!(!shown.contains('\r'));
}

#[test]
fn rules_are_listed_and_explained() {
    let table = stdout(&run(&["lint", "--list-rules"]));
    assert!(table.lines().all(|line| line.chars().count() <= 80));
    let columns: Vec<usize> = table
        .lines()
        .filter(|line| !line.starts_with(' '))
        .map(|line| line.find(" error ").or(line.find(" warning ")).or(line.find(" note ")).unwrap())
        .collect();
    assert!(columns.len() > 100 && columns.iter().all(|column| *column == columns[0]), "{table}");

    let schema = schema("lint-rules.schema.json");
    let all = json(&run(&["lint", "--list-rules", "--format", "json"]));
    assert_valid(&schema, &all, "rules");
    for rule in all["rules"].as_array().unwrap() {
        let name = rule["name"].as_str().unwrap();
        let output = run(&["lint", "--explain", name]);
        assert_eq!(code(&output), 0);
        assert!(stdout(&output).starts_with(&format!("{name} (")));
        assert!(stdout(&output).lines().all(|line| line.chars().count() <= 80));
    }
    let one = json(&run(&["lint", "--explain", "unknown-line", "--format", "json"]));
    assert_valid(&schema, &one, "explain");
    assert_eq!(one["rules"].as_array().unwrap().len(), 1);
}

#[test]
fn unknown_rule_is_an_error() {
    let output = run(&["lint", "--explain", "total-mismatch"]);
    assert_eq!((code(&output), stdout(&output).as_str()), (2, ""));
    assert!(stderr(&output).contains("there is no rule `total-mismatch`"), "{}", stderr(&output));
    assert!(stderr(&output).contains("did you mean totals-mismatch"), "{}", stderr(&output));
    let output = run(&["lint", "--explain", "qqqq"]);
    assert!(stderr(&output).contains("--list-rules"), "{}", stderr(&output));
    assert_eq!(code(&run(&["lint", "--list-rules", "--format", "sarif"])), 2);
}

#[cfg(unix)]
#[test]
fn broken_pipe_is_no_error() {
    let folder = folder(&[("many", &errors(200_000 / one_in(10)))]);
    for format in ["text", "json", "sarif", "github"] {
        assert_ends_quietly(folder.path(), &["lint", "--all", "--format", format, "many"]);
    }
}

#[test]
fn malformed_files_are_checked_in_little_memory() {
    for path in malformed() {
        let info = json(&run(&["lint", "--format", "json", text(&path)]));
        let expanded = expanded_size(&path);
        for options in [&[][..], &["--all"], &["--all", "--format", "json"], &["--strict"], &["--practice"]] {
            let (output, peak) = run_measured(&[&["lint"], options, &[text(&path)]].concat());
            assert_frugal(&path, "lint", &output, peak, expanded);
            if options.is_empty() {
                let errors = &info["files"][0]["counts"]["error"];
                assert_eq!(code(&output), expected_code(&path, *errors != 0), "{}", path.display());
            }
        }
    }
}

/// Returns 2 for a file that is no profile.
fn expected_code(path: &Path, has_errors: bool) -> i32 {
    let is_no_profile = stderr(&run(&["functions", text(path)])).contains("hint: ");
    if is_no_profile { 2 } else { i32::from(has_errors) }
}

fn expanded_size(path: &Path) -> u64 {
    let bytes = std::fs::read(path).unwrap();
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return bytes.len() as u64;
    }
    let mut expanded = Vec::new();
    // What comes before the damage counts.
    let _ =
        std::io::Read::read_to_end(&mut flate2::read::MultiGzDecoder::new(bytes.as_slice()), &mut expanded);
    expanded.len() as u64
}

/// Files are checked on all cores. What is said of them together is what is said of each alone, in the order of the command line,
/// also of a file with more findings than are kept.
#[test]
fn files_together_have_the_findings_of_each() {
    let folder = folder(&[("many", &errors(12_000)), ("few", &errors(3)), ("none", b"")]);
    let mut files: Vec<PathBuf> = corpus().into_iter().step_by(one_in(3)).collect();
    // The empty file beside the parts of a recording is left out.
    files.retain(|path| !path.ends_with("callgrind.out.crew-sep"));
    for (nth, name) in ["many", "few", "none", "missing"].into_iter().enumerate() {
        files.insert(nth * 2 + 1, folder.path().join(name));
    }
    let paths: Vec<&str> = files.iter().map(|path| text(path)).collect();
    for options in [&["--format", "json"][..], &["--format", "json", "--all", "--strict"]] {
        let together = json(&run(&[&["lint"], options, &paths[..]].concat()));
        let mut rows = together["files"].as_array().unwrap().iter();
        for path in &paths {
            let alone = json(&run(&[&["lint"], options, &[path]].concat()));
            for file in alone["files"].as_array().unwrap() {
                assert_eq!(rows.next(), Some(file), "{path}");
            }
        }
        assert!(rows.next().is_none());
        assert_eq!(together["unread"].as_array().unwrap().len(), 1);
    }
}
