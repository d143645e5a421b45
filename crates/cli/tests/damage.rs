//! A damaged or odd input is never shown as if it were whole: cut profiles, other files, mixed recordings, wrapped costs.

// Tests may panic: that is how they fail. Clippy knows that of test functions, but not of what they share.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]
#![cfg(test)]

mod harness;

use std::path::Path;

use gristmill_format::ProducerKind;
use gristmill_profile::{Profile, Selection};
use harness::{code, corpus, folder, gzip, json, root, run, run_in, stderr, stdout, text};

/// Cuts of each file.
const CUTS: usize = 20;
/// Larger files take too long in this test.
const MAX_BYTES: usize = 100_000;

/// Numbers that are the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }
}

/// `true` if the producer ends its parts with a line that a cut removes.
fn has_end(producer: ProducerKind) -> bool {
    use ProducerKind as P;
    matches!(
        producer,
        P::Callgrind | P::Cachegrind | P::CgDiff | P::XTree | P::Xdebug | P::Memprof | P::Stackprof
    )
}

fn costs(profile: &Profile) -> (Vec<i128>, (u64, u64, u64), usize) {
    (profile.totals(&Selection::default()), profile.line_counts(), profile.function_count())
}

/// Cuts the valid files of a folder, and returns how many cuts were found and how many changed nothing.
fn cut_all(paths: &[std::path::PathBuf], numbers: &mut Numbers) -> (usize, usize) {
    let (mut found, mut harmless) = (0, 0);
    for path in paths {
        let bytes = std::fs::read(path).unwrap();
        if bytes.is_empty() || bytes.len() > MAX_BYTES || bytes.starts_with(&[0x1f, 0x8b]) {
            continue;
        }
        let whole = Profile::from_bytes(bytes.clone());
        let is_valid = whole.unusable_input().is_none() && whole.damage().is_empty();
        if !is_valid || !whole.producers().all(has_end) {
            continue;
        }
        // A file of several parts that ends with one of them is whole.
        let ends: Vec<usize> =
            whole.parts().map(|part| usize::try_from(part.location().byte).unwrap()).collect();
        for _ in 0..CUTS {
            let end = 1 + numbers.below(bytes.len() - 1);
            let cut = Profile::from_bytes(bytes[..end].to_vec());
            if cut.unusable_input().is_some() || !cut.damage().is_empty() {
                found += 1;
                continue;
            }
            let is_behind = costs(&cut) == costs(&whole);
            let blanks = |at: usize| bytes[end.min(at)..at].iter().all(u8::is_ascii_whitespace);
            let is_between = ends.iter().any(|&at| at >= end && blanks(at));
            assert!(is_behind || is_between, "{} cut at {end}", path.display());
            harmless += 1;
        }
    }
    (found, harmless)
}

#[test]
fn each_cut_is_found_or_changes_nothing() {
    let (found, harmless) = cut_all(&corpus(), &mut Numbers(0x5eed));
    println!("{found} cuts were found, {harmless} changed nothing");
    assert!(found > 500 && harmless < found / 20, "{found} {harmless}");
}

/// Every command reports a cut, in each format; merge and gate refuse it.
#[test]
fn every_command_reports_a_cut() {
    let bytes = std::fs::read(root().join("corpus/callgrind/callgrind.out.mill-main")).unwrap();
    let cut = &bytes[..bytes.len() * 6 / 10];
    let packed = gzip(&bytes);
    let config = b"[[benchmark]]\nname = \"a\"\nprofile = \"cut\"\n";
    let folder = folder(&[
        ("cut", cut),
        ("whole", &bytes),
        ("cut.gz", &packed[..packed.len() * 9 / 10]),
        ("gristmill.toml", config),
    ]);
    let here = folder.path();
    for file in ["cut", "cut.gz"] {
        for command in [
            &["functions"][..],
            &["show", "main"],
            &["tree"],
            &["info"],
            &["annotate"],
            &["annotate", "--style=cachegrind"],
            &["diff", "whole"],
            &["functions", "--format", "json"],
            &["functions", "--format", "csv"],
            &["functions", "--format", "markdown"],
            &["show", "main", "--format", "json"],
            &["tree", "--format", "json"],
            &["info", "--format", "json"],
            &["annotate", "--format", "json"],
            &["diff", "--format", "json", "whole"],
        ] {
            let arguments = [command, &[file]].concat();
            let output = run_in(here, &arguments);
            let shown = stdout(&output) + &stderr(&output);
            assert_eq!(code(&output), 0, "{arguments:?}: {shown}");
            assert!(shown.contains("looks cut off"), "{arguments:?}: {shown}");
            if command.contains(&"json") && command[0] != "info" {
                assert!(json(&output)["damage"][0]["kind"] == "cut-off", "{arguments:?}");
            }
        }
        let first = stdout(&run_in(here, &["functions", file]));
        assert!(first.starts_with(&format!("warning: {file} looks cut off: it states")), "{first}");
        let output = run_in(here, &["lint", file]);
        assert_eq!(code(&output), 1, "{}", stderr(&output));
        let output = run_in(here, &["merge", "whole", file]);
        assert!(code(&output) == 2 && stdout(&output).is_empty(), "{}", stderr(&output));
        let output = run_in(here, &["merge", "whole", file, "--allow-damaged"]);
        assert!(code(&output) == 0 && stderr(&output).contains("looks cut off"), "{}", stderr(&output));
    }
    for arguments in [&["gate", "run"][..], &["gate", "bless"], &["gate", "noise"]] {
        let output = run_in(here, arguments);
        let shown = stdout(&output) + &stderr(&output);
        assert!(code(&output) == 2 && shown.contains("looks cut off"), "{arguments:?}: {shown}");
    }
    let output = run_in(here, &["gate", "bless", "--allow-damaged"]);
    assert!(code(&output) == 0 && stderr(&output).contains("looks cut off"), "{}", stderr(&output));
}

#[test]
fn no_valid_profile_warns() {
    for path in corpus() {
        let output = run(&["functions", "--limit", "1", "--format", "csv", text(&path)]);
        let said = stderr(&output);
        let is_known = ["the file is empty", "lost the sign", "of the recording"];
        assert!(
            said.is_empty() || is_known.iter().any(|known| said.contains(known)),
            "{}: {said}",
            path.display()
        );
    }
}

#[test]
fn what_is_no_profile_is_refused() {
    let elf = [b"\x7fELF\x02\x01\x01\0".as_slice(), &[0; 64]].concat();
    let folder = folder(&[
        ("words", b"root:x:0:0:root:/root:/bin/bash\nbin:x:1:1::/bin:/sbin\n"),
        ("numbers", b"1\n2\n3\n"),
        ("empty", b""),
        ("elf", &elf),
        ("perf", b"PERFILE2hhhhhhh\0\0\0"),
        ("header", b"# callgrind format\nversion: 1\ncreator: callgrind-3.19.0\npart: 1\n\ndesc: Time"),
        ("run.7", b""),
        (
            "run.7-01",
            b"creator: callgrind-3\npid: 7\ncmd: a\npart: 1\nthread: 1\nevents: Ir\nfn=f\n1 2\ntotals: 2\n",
        ),
        (
            "run.7-02",
            b"creator: callgrind-3\npid: 7\ncmd: a\npart: 1\nthread: 2\nevents: Ir\nfn=f\n1 6\ntotals: 6\n",
        ),
    ]);
    std::fs::create_dir(folder.path().join("folder")).unwrap();
    for (file, said) in [
        ("words", "this is not a Callgrind profile"),
        ("numbers", "it has no `events:` line"),
        ("empty", "the file is empty"),
        ("/dev/null", "the file is empty"),
        ("elf", "it is an ELF program"),
        ("perf", "perf.data"),
        ("header", "the file ends before its `events:` line"),
        ("run.7", "beside it: run.7-01 run.7-02"),
        ("folder", "is a directory"),
    ] {
        if file == "/dev/null" && !Path::new(file).exists() {
            continue;
        }
        for command in [
            &["functions"][..],
            &["show", "main"],
            &["tree"],
            &["info"],
            &["lint"],
            &["annotate"],
            &["diff", "run.7-01"],
            &["merge"],
            &["rewrite"],
            &["rewrite", "--repair"],
        ] {
            let output = run_in(folder.path(), &[command, &[file]].concat());
            assert_eq!(code(&output), 2, "{command:?} {file}: {}", stderr(&output));
            assert!(stderr(&output).contains(said), "{command:?} {file}: {}", stderr(&output));
            assert!(stderr(&output).contains("hint: "), "{command:?} {file}: {}", stderr(&output));
        }
    }
    // With its parts, an empty file is none of them.
    let output = run_in(folder.path(), &["functions", "run.7", "run.7-01", "run.7-02"]);
    assert_eq!((code(&output), stderr(&output).as_str()), (0, ""));
    let output = run_in(folder.path(), &["merge", "run.7", "run.7-01", "run.7-02"]);
    assert_eq!((code(&output), stderr(&output).as_str()), (0, ""));
    // One of two parts is shown with its share.
    let output = run_in(folder.path(), &["functions", "run.7-01"]);
    assert_eq!(stderr(&output), "gristmill: run.7-01 is 25.0% of the recording; --set takes all 2 files\n");
    let output = run_in(folder.path(), &["functions", "--set", "run.7-01"]);
    assert_eq!((code(&output), stderr(&output).as_str()), (0, ""));
}

#[test]
fn files_that_do_not_belong_together_cause_a_warning() {
    let file = |pid: u32, command: &str| {
        format!(
            "creator: callgrind-3\npid: {pid}\ncmd: {command}\nevents: Ir\nfn=f\n1 {pid}\ntotals: {pid}\n"
        )
    };
    let (one, other) = (file(1, "a"), file(2, "b"));
    let folder = folder(&[("one", one.as_bytes()), ("other", other.as_bytes()), ("copy", one.as_bytes())]);
    for (files, said) in [
        (["one", "other"], "command (a | b), process (1 | 2)"),
        (["one", "./one"], "./one is given twice: the costs count each time"),
        (["one", "copy"], "one and copy have the same content: the costs count each time"),
    ] {
        for command in ["functions", "tree", "annotate"] {
            let output = run_in(folder.path(), &[&[command], &files[..]].concat());
            assert_eq!(code(&output), 0, "{files:?}");
            assert!(stderr(&output).contains(said), "{files:?}: {}", stderr(&output));
        }
    }
    let thread = |thread| {
        format!(
            "creator: callgrind-3\npid: 5\ncmd: a\npart: 1\nthread: {thread}\nevents: Ir\nfn=f\n1 5\ntotals: 5\n"
        )
    };
    std::fs::write(folder.path().join("one-01"), thread(1)).unwrap();
    std::fs::write(folder.path().join("one-02"), thread(2)).unwrap();
    // A copy adds its costs again, and as a run of a comparison it hides how much runs vary.
    for (arguments, said) in [
        (&["merge", "one", "./one", "-o", "sum"][..], "./one is given twice: the costs count each time"),
        (
            &["diff", "--base", "one-01", "one-02", "--new", "one"],
            "one-01 and one-02 are dumps or threads of one process (5), not two runs; give one of them with --set",
        ),
        (&["merge", "one", "one", "one", "-o", "sum3"], "one is given 3 times: the costs count each time"),
        (
            &["diff", "--base", "one", "copy", "--new", "other", "other"],
            "one and copy have the same content: a copy is no second run",
        ),
        (
            &["diff", "--base", "one", "--new", "other", "other"],
            "other is given twice: a copy is no second run",
        ),
    ] {
        let output = run_in(folder.path(), arguments);
        assert_eq!(code(&output), 0, "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(said), "{arguments:?}: {}", stderr(&output));
    }
}

#[test]
fn a_later_dump_without_the_others_is_named_as_such() {
    let file = |header: &str| {
        format!("creator: callgrind-3\npid: 7\ncmd: a\n{header}\nevents: Ir\nfn=f\n1 5\ntotals: 5\n")
    };
    for (header, said) in [
        ("part: 1", ""),
        ("part: 2", "gristmill: f.out is dump 2 of its recording; the files before it are not here\n"),
        (
            "part: 1\nthread: 3",
            "gristmill: f.out is thread 3 of its recording; the files before it are not here\n",
        ),
    ] {
        let folder = folder(&[("f.out", file(header).as_bytes())]);
        let output = run_in(folder.path(), &["functions", "f.out"]);
        assert_eq!((code(&output), stderr(&output).as_str()), (0, said), "{header}");
    }
}

/// Xdebug's clock went back by 610 ns: (2^64 - 610) / 10, cut to an integer.
#[test]
fn wrapped_costs_count_as_what_they_were() {
    let xdebug = b"version: 1\ncreator: xdebug 3.1.2 (PHP 8.1)\ncmd: /a.php\npart: 1\npositions: line\n\n\
        events: Time_(10ns) Memory_(bytes)\n\nfl=(1) /a.php\nfn=(1) f\n3 1844674407370955100 0\n\n\
        fl=(1)\nfn=(2) {main}\n1 500 0\ncfl=(1)\ncfn=(1)\ncalls=1 0 0\n5 1844674407370955100 0\n\n\
        summary: 440 400000\n\n";
    let callgrind = b"creator: callgrind-3.19.0\nevents: Ir\nsummary: 18446744073709551000\nfn=main\n1 60\n\
        cfn=g\ncalls=1 1\n2 18446744073709551600\nfn=g\n1 40\ntotals: 100\n";
    // A dump during a call that `longjmp` leaves: the summary did not wrap.
    let dumped = b"creator: callgrind-3.19.0\nevents: Ir\nsummary: 70\nfn=main\n1 60\n\
        cfn=g\ncalls=1 1\n2 18446744073709428437\nfn=g\n1 40\ntotals: 100\n";
    let folder = folder(&[("xdebug", xdebug), ("callgrind", callgrind), ("dumped", dumped)]);
    for (file, total) in [("xdebug", 439), ("callgrind", 100), ("dumped", 100)] {
        let output = run_in(folder.path(), &["functions", "--format", "json", file]);
        let (event, answer) = (if file == "xdebug" { "Time_(10ns)" } else { "Ir" }, json(&output));
        assert_eq!(answer["totals"][event], total, "{file}");
        assert_eq!(answer["damage"][0]["kind"], "wrapped", "{file}");
        assert!(stderr(&output).contains("below 0 lost the sign"), "{}", stderr(&output));
        for command in [&["functions"][..], &["tree"], &["info"], &["annotate"]] {
            let output = run_in(folder.path(), &[command, &[file]].concat());
            let shown = stdout(&output);
            let first = shown.find(" lost the sign").map_or(0, |at| at + 200).min(shown.len());
            assert!(!shown[first..].contains("18446") && !shown[first..].contains("1,844,674"), "{shown}");
        }
        // Nothing is missing, so nothing is refused.
        assert_eq!(code(&run_in(folder.path(), &["merge", file])), 0, "{file}");
    }
    let shown = stdout(&run_in(folder.path(), &["annotate", "callgrind"]));
    assert!(shown.contains("100 (100.0%)  PROGRAM TOTALS"), "{shown}");
}

#[test]
fn a_cut_file_is_repaired_as_far_as_that_can_be() {
    let bytes = std::fs::read(root().join("corpus/callgrind/callgrind.out.mill-main")).unwrap();
    let head: usize = bytes.windows(4).position(|window| window == b"\nfn=").unwrap();
    let folder = folder(&[("cut", &bytes[..bytes.len() * 6 / 10]), ("head", &bytes[..head])]);
    let output = run_in(folder.path(), &["rewrite", "--repair", "cut", "-o", "repaired"]);
    assert!(
        code(&output) == 0 && stderr(&output).contains("cut off here: the totals are"),
        "{}",
        stderr(&output)
    );
    let repaired = std::fs::read_to_string(folder.path().join("repaired")).unwrap();
    assert!(repaired.contains("\n# cut off here: it stated "), "{repaired}");
    let [cut, whole] = ["cut", "repaired"].map(|file| {
        let output = run_in(folder.path(), &["functions", "--format", "json", file]);
        json(&output)
    });
    assert_eq!(whole["totals"], cut["totals"]);
    assert_eq!(whole["damage"].as_array().map(Vec::len), Some(0));
    assert_eq!(code(&run_in(folder.path(), &["merge", "repaired"])), 0);
    let output = run_in(folder.path(), &["rewrite", "--repair", "head"]);
    assert!(
        code(&output) == 2 && stderr(&output).contains("nothing is left to repair"),
        "{}",
        stderr(&output)
    );
}

/// Valid files have no such findings: appended profiles, names made of others, an empty tree of Valgrind.
#[test]
fn valid_files_have_no_findings_of_damage() {
    let corpus = root().join("corpus");
    let findings = |arguments: &[&str]| stdout(&run_in(&corpus, &[&["lint", "--all"], arguments].concat()));
    assert!(!findings(&["dialects/xdebug3-append.txt"]).contains("duplicate-part"));
    assert!(!findings(&["callgrind/callgrind.out.compress-mangled"]).contains("callee-named-twice"));
    let null = b"version: 1\ncreator: xtree-1\nevents: curB \ntotals: (null)\n";
    let folder = folder(&[("null", null)]);
    assert_eq!(code(&run_in(folder.path(), &["lint", "null"])), 0);
    assert_eq!(run_in(folder.path(), &["rewrite", "null"]).stdout, null);
    let parts = json(&run_in(&corpus, &["info", "--format", "json", "callgrind/callgrind.out.parts"]));
    let pids: Vec<_> =
        parts["files"][0]["parts"].as_array().unwrap().iter().map(|part| &part["pid"]).collect();
    assert!(pids.len() > 1 && pids.iter().all(|pid| pid.is_u64() && *pid == pids[0]), "{pids:?}");
}

/// With a large corpus of other people's files.
#[test]
fn cuts_of_the_outside_corpus_are_found() {
    let Some(corpus) = std::env::var_os("GRISTMILL_CORPUS") else { return };
    let mut paths = Vec::new();
    for part in ["valgrind-callgrind", "valgrind-cachegrind", "valgrind-xtree", "xdebug"] {
        let Ok(entries) = std::fs::read_dir(Path::new(&corpus).join(part)) else { continue };
        paths.extend(entries.filter_map(|entry| Some(entry.ok()?.path())));
    }
    paths.sort();
    let (found, harmless) = cut_all(&paths, &mut Numbers(0xc0de));
    println!("{found} cuts were found, {harmless} changed nothing");
    assert!(paths.is_empty() || found > 500, "{found} {harmless}");
}
