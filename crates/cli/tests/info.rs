//! `gristmill info`: its text against goldens, its JSON against the schema, its totals against a naive sum.
//!
//! `BLESS=1` writes the goldens. `GRISTMILL_CORPUS` may name a folder with more profiles; if it holds an
//! `EXPECTED.tsv` (path, event types, sums of self cost, …), the sums are compared with it.

// Tests may panic: that is how they fail. Clippy knows that of test functions, but not of what they share.
#![allow(clippy::unwrap_used, clippy::panic)]

mod harness;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use harness::{
    MAX_SIZE, assert_frugal, assert_valid, code, files_below, folder, golden, gzip, json, one_in,
    other_corpus, root, run_in, run_measured, schema, stderr, stdout, text, whole,
};

/// All files below a folder, in order, as paths relative to it.
fn files(folder: &Path) -> Vec<String> {
    let relative = |path: PathBuf| path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
    files_below(folder).into_iter().map(relative).collect()
}

/// The project's corpus, and another one if there is one.
fn corpora() -> Vec<PathBuf> {
    std::iter::once(root().join("corpus")).chain(other_corpus()).collect()
}

fn blessed(name: &str, inputs: &[&str]) {
    harness::blessed("info", name, inputs);
}

#[test]
fn text_of_callgrind() {
    blessed("callgrind", &["callgrind/callgrind.out.mill-main"]);
    blessed("cache-branch", &["callgrind/callgrind.out.cache-branch"]);
    blessed("parts", &["callgrind/callgrind.out.parts"]);
    blessed("threads", &["callgrind/callgrind.out.crew-parts"]);
}

#[test]
fn text_of_the_other_tools_of_valgrind() {
    blessed("cachegrind", &["cachegrind/cachegrind.out.mill"]);
    blessed("difference", &["cachegrind/cachegrind.diff"]);
    blessed("xtree", &["xtree/xtmemory.kcg"]);
}

#[test]
fn text_of_others() {
    blessed("xdebug", &["dialects/xdebug3.txt", "dialects/xdebug3-append.txt"]);
    blessed("go-pprof", &["dialects/go-pprof.txt"]);
    blessed("remake", &["dialects/remake.txt"]);
}

/// The counts are those of the other reports.
#[test]
fn functions_are_those_of_functions() {
    let corpus = root().join("corpus");
    let mut compared = 0;
    for file in files(&corpus) {
        let info = run_in(&corpus, &["info", "--format", "json", &file]);
        if code(&info) != 0 || !json(&info)["files"][0]["damage"].as_array().unwrap().is_empty() {
            continue;
        }
        let functions = json(&run_in(&corpus, &["functions", "--limit", "1", "--format", "json", &file]));
        let (info, functions) = (&json(&info)["files"][0]["counts"]["functions"], &functions["matching"]);
        assert_eq!(info, functions, "{file}");
        compared += 1;
    }
    assert!(compared > 50, "{compared}");
}

/// Files of one recording are one report as text; JSON has each for itself.
#[test]
fn files_of_a_recording_are_a_table() {
    let corpus = root().join("corpus");
    let recording = [
        "callgrind/callgrind.out.crew-sep-01",
        "callgrind/callgrind.out.crew-sep-02",
        "callgrind/callgrind.out.crew-sep-03",
    ];
    let other = "callgrind/callgrind.out.mill-main";
    let files = [recording[0], recording[1], recording[2], other];
    blessed("files", &files);
    let output = run_in(&corpus, &[&["info", "--format", "json"], &files[..]].concat());
    assert_eq!(json(&output)["files"].as_array().unwrap().len(), 4);
}

#[test]
fn many_parts_are_cut_short() {
    let file: String = (1..=1000)
        .map(|part| format!("part: {part}\nthread: 1\nevents: Ir\nfn=f\n1 7\ntotals: 6\n\n"))
        .collect();
    let folder = folder(&[("many", file.as_bytes())]);
    golden("info-many-parts", &stdout(&run_in(folder.path(), &["info", "many"])));
}

#[test]
fn text_fits_80_columns() {
    for corpus in corpora() {
        for file in files(&corpus).into_iter().step_by(one_in(3)) {
            let output = run_in(&corpus, &["info", MAX_SIZE, &file]);
            for line in stdout(&output).lines() {
                let is_a_name = line == file || line.trim_start().starts_with("gristmill lint ");
                assert!(is_a_name || line.chars().count() <= 80, "{file}: {line}");
                assert!(!line.ends_with(' '), "{file}: {line}");
            }
        }
    }
}

#[test]
fn json_fits_its_schema() {
    let schema = schema("info.schema.json");
    for corpus in corpora() {
        for file in files(&corpus).into_iter().step_by(one_in(3)) {
            let output = run_in(&corpus, &["info", MAX_SIZE, "--format", "json", &file]);
            let json = json(&output);
            assert_valid(&schema, &json, &file);
            let expected = usize::from(output.status.success());
            assert_eq!(json["files"].as_array().unwrap().len(), expected, "{file}: {}", stderr(&output));
        }
    }
}

#[test]
fn several_files_are_several_entries() {
    let corpus = root().join("corpus");
    let output = run_in(
        &corpus,
        &["info", "--format", "json", "spec/simple.txt", "no/such", "README.md", "spec/names.txt"],
    );
    assert_eq!(code(&output), 2);
    let json = json(&output);
    let paths: Vec<&str> =
        json["files"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["spec/simple.txt", "spec/names.txt"]);
    let said = stderr(&output);
    assert!(said.contains("no/such: no such file"), "{said}");
    assert!(said.contains("README.md: this is not a Callgrind profile"), "{said}");
}

#[test]
fn totals_are_exact() {
    let most = u64::MAX;
    let file = format!("events: Ir Dr\nfn=f\n1 {most} -7\n2 {most}\ntotals: {most} -7\n");
    let folder = folder(&[("a", file.as_bytes())]);
    let said = stdout(&run_in(folder.path(), &["info", "--format", "json", "a"]));
    assert!(said.contains("\"totals\":{\"Ir\":\"36893488147419103230\",\"Dr\":-7}"), "{said}");
    assert!(said.contains("\"claimed\":{\"totals\":{\"Ir\":\"18446744073709551615\",\"Dr\":-7}}"), "{said}");
    let said = stdout(&run_in(folder.path(), &["info", "a"]));
    assert!(said.contains("36,893,488,147,419,103,230"), "{said}");
}

#[test]
fn names_from_a_file_do_nothing_to_a_terminal() {
    let file = b"creator: \x1b[2Jx\ncmd: a\x07b\ndesc: Trigger: \xff\nevents: I\x1br\nfn=f\n1 1\n";
    let folder = folder(&[("a", file)]);
    let said = stdout(&run_in(folder.path(), &["info", "a"]));
    assert!(!said.contains('\x1b') && !said.contains('\x07'), "{said}");
    assert!(said.contains("\\x1b[2Jx") && said.contains("\\xff"), "{said}");
}

#[test]
fn damaged_packing_is_reported() {
    let packed = gzip(&std::fs::read(root().join("corpus/callgrind/callgrind.out.mill-main")).unwrap());
    let folder = folder(&[("half.gz", &packed[..packed.len() / 2]), ("nothing.gz", &packed[..12])]);
    let output = run_in(folder.path(), &["info", "half.gz", "nothing.gz"]);
    assert_eq!(code(&output), 2);
    let said = stdout(&output);
    assert!(said.contains("packed with gzip"), "{said}");
    assert!(said.starts_with("warning: half.gz looks cut off: it states"), "{said}");
    assert!(said.contains("\nwarning: half.gz: the gzip data ends before it is complete"), "{said}");
    let said = stderr(&output);
    assert!(said.starts_with("gristmill: nothing.gz: the gzip data ends before it is complete"), "{said}");
}

/// Of a hundred thousand parts and of a million event types there is no second copy.
#[test]
fn memory_is_in_proportion() {
    let parts: String =
        (1..=100_000 / one_in(10)).map(|part| format!("part: {part}\nevents: Ir\nfn=f\n1 1\n\n")).collect();
    let names: String = (0..1_000_000 / one_in(10)).map(|number| format!(" E{number}")).collect();
    let ones = " 1".repeat(1_000_000 / one_in(10));
    let events = format!("events:{names}\nfn=f\n1{ones}\n");
    let folder = folder(&[("parts", parts.as_bytes()), ("events", events.as_bytes())]);
    for (name, size, times) in [("parts", parts.len(), 2), ("events", events.len(), 3)] {
        for format in ["text", "json"] {
            let path = folder.path().join(name);
            let (output, peak) = run_measured(&["info", "--format", format, text(&path)]);
            assert_eq!(code(&output), 0, "{name} {format}: {}", stderr(&output));
            // A part of 33 bytes takes 160 in the profile, an event type with its cost 76 instead of 10.
            assert_frugal(&path, "info", &output, peak, times * size as u64);
        }
    }
}

/// Adds up by the letter of the format and in the plainest way: a cost line after `calls=` is the call's, one after a
/// jump is a position. Parts follow each other, event types go by name.
fn naive_sums(file: &[u8]) -> BTreeMap<String, i128> {
    let file = String::from_utf8_lossy(file);
    let mut sums = BTreeMap::new();
    let mut events: Vec<String> = Vec::new();
    let mut positions = 1;
    let mut skip = false;
    for line in file.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match *words.as_slice() {
            ["positions:", ref kinds @ ..] => positions = kinds.len(),
            ["events:", ref names @ ..] => {
                events = names.iter().map(|&name| name.to_owned()).collect();
                for name in &events {
                    sums.entry(name.clone()).or_insert(0);
                }
            }
            [first, ..]
                if first.starts_with("calls=")
                    || first.starts_with("jump=")
                    || first.starts_with("jcnd=") =>
            {
                skip = true;
            }
            [first, ..] if first.starts_with(|c: char| c.is_ascii_digit() || "+-*".contains(c)) => {
                if std::mem::take(&mut skip) {
                    continue;
                }
                for (name, cost) in events.iter().zip(&words[positions.min(words.len())..]) {
                    // Xdebug's (2^64 - n) / 10 is a cost below 0.
                    const TENTH: i128 = 1_844_674_407_370_955_161;
                    let cost = cost.parse::<i128>().unwrap();
                    let is_wrapped = (TENTH - 1000..=TENTH).contains(&cost);
                    *sums.get_mut(name).unwrap() += if is_wrapped { cost - TENTH } else { cost };
                }
            }
            _ => {}
        }
    }
    sums
}

fn sums_of(json: &Value, key: &str) -> BTreeMap<String, i128> {
    let costs = json[key].as_object().unwrap();
    costs.iter().map(|(name, cost)| (name.clone(), whole(cost))).collect()
}

#[test]
fn totals_are_the_naive_sums() {
    let corpus = root().join("corpus");
    let mut compared = 0;
    for file in files(&corpus) {
        // A position that is missing needs a closer look than a naive one.
        if file == "dialects/nytprof.txt" || file.starts_with("src/") || !file.contains('/') {
            continue;
        }
        let output = run_in(&corpus, &["info", "--format", "json", &file]);
        if stderr(&output).contains("the file is empty") {
            continue;
        }
        let json = json(&output);
        let expected = naive_sums(&std::fs::read(corpus.join(&file)).unwrap());
        let told = &json["files"][0];
        assert_eq!(sums_of(told, "totals"), expected, "{file}");
        let mut parts = BTreeMap::new();
        for part in told["parts"].as_array().unwrap() {
            for (name, cost) in sums_of(part, "totals") {
                *parts.entry(name).or_insert(0) += cost;
            }
        }
        assert_eq!(parts, expected, "{file}");
        compared += 1;
    }
    assert!(compared > 50, "{compared}");
}

#[test]
fn totals_are_the_expected_ones() {
    let Some(corpus) = other_corpus() else { return };
    let Ok(expected) = std::fs::read_to_string(corpus.join("EXPECTED.tsv")) else { return };
    let mut wrong = Vec::new();
    for row in expected.lines().skip(1) {
        let [file, events, sums, parts, ..] = row.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{row}")
        };
        if !corpus.join(file).is_file() {
            continue;
        }
        let json = json(&run_in(&corpus, &["info", "--format", "json", file]));
        let told = &json["files"][0];
        // A report is no profile; there it has no sums to compare.
        if told.is_null() && sums.is_empty() {
            continue;
        }
        let totals = sums_of(told, "totals");
        let sum = |name| totals.get(name).map_or_else(|| format!("no {name}"), i128::to_string);
        let told_sums: Vec<String> = events.split_terminator(' ').map(sum).collect();
        // What is taken in place of something that is no cost is a matter of taste; that there is such is a finding.
        let is_broken = told["findings"] != 0;
        if told_sums.join(" ") != sums && !is_broken
            || told["parts"].as_array().unwrap().len().to_string() != parts
        {
            wrong.push(format!("{file}: expected {sums} in {parts} parts, got {}", told_sums.join(" ")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
