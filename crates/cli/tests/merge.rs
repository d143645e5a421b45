//! `gristmill merge` as a user runs it.

#![cfg(test)]

mod harness;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use harness::*;

const ONE: &[u8] = b"version: 1\ncreator: hand\ncmd: mill 1\nevents: Ir Dr\nfl=mill.c\nfn=main\n16 400 3\n";
const OTHER: &[u8] = b"version: 1\ncreator: hand\ncmd: mill 2\nevents: Ir\nfl=mill.c\nfn=main\n16 20\n17 1\n";
const LACKING: &[u8] = b"events: Ir\nfn=main\n16 400\ntotals: 401\n";
const BROKEN: &[u8] = b"events: Ir\nfn=main\n16 400\n+1 x\n";

#[test]
fn sums_are_written_with_warnings_about_missing_event_types() {
    let folder = folder(&[("one", ONE), ("other", OTHER)]);
    let output = run_in(folder.path(), &["merge", "one", "other"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let creator = format!("creator: gristmill-merge-{}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(
        stdout(&output).replace(&creator, ""),
        "# callgrind format\nversion: 1\ndesc: Merged creator: hand\ndesc: Merged command: mill 1\n\
         desc: Merged command: mill 2\ndesc: Merged runs: 2\ndesc: Merged event: Dr in 1 of 2 runs\n\
         positions: line\nevents: Ir Dr\nsummary: 421 3\n\nfl=(1) mill.c\nfn=(1) main\n16 420 3\n+1 1\n\n\
         totals: 421 3\n"
    );
    assert_eq!(stderr(&output), "gristmill: warning: only 1 of 2 runs have Dr; the sums are over those\n");
    // Whichever comes first, and over standard input.
    assert_eq!(run_with(&["merge", text(&folder.path().join("other")), "-"], ONE).stdout, output.stdout);
}

#[test]
fn means_medians_and_scales() {
    let runs: Vec<Vec<u8>> =
        [10, 30, 21].iter().map(|cost| format!("events: Ir\nfn=f\n1 {cost}\n").into_bytes()).collect();
    let folder = folder(&[("a", &runs[0]), ("b", &runs[1]), ("c", &runs[2])]);
    for (options, total, told) in [
        (&["--mean"][..], "20", "Mean of runs: 3"),
        (&["--median"], "21", "Median of runs: 3"),
        (&["--scale", "1/2"], "31", "Scaled by: 1/2"),
        (&["--mean", "--scale", "-0.1"], "-2", "Scaled by: -1/10"),
    ] {
        let output = run_in(folder.path(), &[&["merge", "a", "b", "c"], options].concat());
        let text = stdout(&output);
        assert!(text.ends_with(&format!("\ntotals: {total}\n")), "{options:?}: {text}");
        assert!(text.contains(&format!("\ndesc: {told}\n")), "{options:?}: {text}");
        assert_eq!(
            stderr(&output).contains("kept 3 lines of all files for the median"),
            options == ["--median"]
        );
    }
    for options in
        [&["--mean", "--median"][..], &["--keep-parts", "--mean"], &["--scale", "x"], &["--scale", "1/0"]]
    {
        assert_eq!(code(&run_in(folder.path(), &[&["merge", "a"], options].concat())), 2);
    }
}

#[test]
fn what_cannot_be_merged_is_refused_and_nothing_is_written() {
    let large = format!("events: Ir\nfn=f\n1 {}\n", u64::MAX);
    let files: [(&str, &[u8]); 8] = [
        ("lacking", LACKING),
        ("one", ONE),
        ("broken", BROKEN),
        ("foreign", b"{\"a\": 1}\n"),
        ("empty", b""),
        ("cut.gz", &gzip(ONE)[..30]),
        ("large", large.as_bytes()),
        ("there", b"keep me"),
    ];
    let folder = folder(&files);
    let merge = |arguments: &[&str]| run_in(folder.path(), &[&["merge", "-o", "out"], arguments].concat());
    for (arguments, said) in [
        (&["one", "broken"][..], "broken:4:4: expected a cost"),
        (&["one", "lacking"], "lacking: the costs of the part at line 1 are not what its `totals:` says"),
        (&["one", "foreign"], "foreign: "),
        (&["one", "missing"], "missing: no such file"),
        (&["one", "cut.gz"], "cut.gz: "),
        (&["empty"], "nothing to merge"),
        (&["large", "large"], "the result cannot be written: cost outside"),
        (&["one", "--keep-parts", "broken"], "broken:4:4: expected a cost"),
        (&["one", "--keep-parts", "missing"], "missing: no such file"),
    ] {
        let output = merge(arguments);
        assert_eq!(code(&output), 2, "{arguments:?}");
        assert!(stderr(&output).contains(said), "{arguments:?}: {}", stderr(&output));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), files.len(), "{arguments:?}");
    }
    let output = run_in(folder.path(), &["merge", "one", "-o", "there"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("there: exists already"));
    assert_eq!(std::fs::read(folder.path().join("there")).unwrap(), b"keep me");
    let output = run_in(folder.path(), &["merge", "one", "-o", "one"]);
    assert!(stderr(&output).contains("is one of the inputs and was not changed"), "{}", stderr(&output));

    // Valgrind leaves empty files behind; they add nothing.
    let output = merge(&["one", "empty"]);
    assert_eq!(code(&output), 0);
    assert_eq!(stderr(&output), "gristmill: warning: empty: no costs, adds nothing\n");
    let output = merge(&["--force", "--skip-broken", "one", "broken", "foreign", "missing", "cut.gz"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert_eq!(stderr(&output).matches("left out: ").count(), 4);
    assert_eq!(
        std::fs::read(folder.path().join("out")).unwrap(),
        run_in(folder.path(), &["merge", "one"]).stdout
    );
}

/// Only a thousand findings of a file are kept. A loss after that many repaired lines is still found.
#[test]
fn losses_are_found_beyond_the_findings_that_are_kept() {
    let mut text = "events: Ir\n".to_owned();
    // Names that nobody gave.
    (1..=1200).for_each(|number| text.push_str(&format!("fn=({number})\n1 1\n")));
    let broken = format!("{text}fn=f\n1 x\n");
    let folder = folder(&[("guessed", text.as_bytes()), ("broken", broken.as_bytes())]);
    for options in [&[][..], &["--keep-parts"], &["--median"]] {
        let output =
            run_in(folder.path(), &[&["merge", "guessed", "-o", "out", "--force"], options].concat());
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        assert!(
            stderr(&output).contains("guessed: 1,200 findings; gristmill lint lists them"),
            "{}",
            stderr(&output)
        );
        let output = run_in(folder.path(), &[&["merge", "guessed", "broken", "-o", "sum"], options].concat());
        assert!(code(&output) == 2 && !folder.path().join("sum").exists(), "{options:?}");
        assert!(stderr(&output).contains("broken:2403:3: expected a cost"), "{}", stderr(&output));
    }
}

#[test]
fn threads_of_a_recording_stay_parts() {
    let corpus = root().join("corpus/callgrind");
    let threads: Vec<PathBuf> =
        (1..=4).map(|nth| corpus.join(format!("callgrind.out.crew-sep-0{nth}"))).collect();
    let folder = folder(&[]);
    let out = folder.path().join("all");
    let mut arguments = vec!["merge", "--keep-parts", "-o", text(&out)];
    arguments.extend(threads.iter().map(|path| text(path)));
    let output = run(&arguments);
    assert_eq!((code(&output), stderr(&output).as_str()), (0, ""));
    let lint = run(&["lint", "--all", text(&out)]);
    assert_eq!(code(&lint), 0, "{}", stdout(&lint));
    assert!(!stdout(&lint).contains("warning["), "{}", stdout(&lint));
    // The parts are the files, one by one; and the sum of both is one.
    for (nth, path) in (1..).zip(&threads) {
        let part = json(&run(&["functions", "--format", "json", "--thread", &format!("{nth}"), text(&out)]));
        let alone = json(&run(&["functions", "--format", "json", text(path)]));
        assert_eq!(part["rows"], alone["rows"], "{nth}");
        assert_eq!(part["totals"], alone["totals"], "{nth}");
    }
    let sum = run(&[&["merge"][..], &arguments[4..]].concat());
    let again = run(&["merge", text(&out)]);
    let body = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes).into_owned();
        text.lines()
            .filter(|line| !line.starts_with("desc: Merged runs"))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(body(&sum.stdout), body(&again.stdout));
}

/// Costs by file, function and line, as a Cachegrind file has them.
fn cachegrind_sums(bytes: &[u8]) -> BTreeMap<(String, String, u64), Vec<i128>> {
    let mut sums = BTreeMap::new();
    let (mut file, mut function) = (String::new(), String::new());
    for line in String::from_utf8_lossy(bytes).lines() {
        if let Some(name) = line.strip_prefix("fl=") {
            file = name.to_owned();
        } else if let Some(name) = line.strip_prefix("fn=") {
            function = name.to_owned();
        } else if line.starts_with(|first: char| first.is_ascii_digit()) {
            let numbers: Vec<i128> = line.split_whitespace().map(|word| word.parse().unwrap()).collect();
            let row: &mut Vec<i128> =
                sums.entry((file.clone(), function.clone(), u64::try_from(numbers[0]).unwrap())).or_default();
            row.resize(row.len().max(numbers.len() - 1), 0);
            row.iter_mut().zip(&numbers[1..]).for_each(|(sum, cost)| *sum += cost);
        }
    }
    sums.retain(|_, costs| costs.iter().any(|&cost| cost != 0));
    sums
}

#[test]
fn sums_of_cachegrind_files_are_those_of_cg_merge() {
    let corpus = root().join("corpus/cachegrind");
    for files in [
        ["cachegrind.out.mill", "cachegrind.out.mill"],
        ["cachegrind.out.mill-branch", "cachegrind.out.mill-branch"],
    ] {
        let paths = files.map(|name| corpus.join(name));
        let Some(expected) = cg_merge(&paths) else { return };
        let folder = folder(&[]);
        let merged = folder.path().join("merged");
        assert_eq!(code(&run(&["merge", "-o", text(&merged), text(&paths[0]), text(&paths[1])])), 0);
        // Names in full and lines as numbers, so that both can be read in one way.
        let plain = run(&["rewrite", "--names", "plain", "--positions", "absolute", text(&merged)]);
        let mut ours = cachegrind_sums(&plain.stdout);
        let theirs = cachegrind_sums(&expected);
        let width = theirs.values().next().unwrap().len();
        ours.values_mut().for_each(|costs| costs.resize(width, 0));
        assert!(theirs.len() > 10);
        assert_eq!(ours, theirs);
    }
}

fn cg_merge(files: &[PathBuf]) -> Option<Vec<u8>> {
    if !has(&["cg_merge"]) {
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let output = Command::new("cg_merge").arg("-o").arg(&out).args(files).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(std::fs::read(Path::new(&out)).unwrap())
}

#[test]
fn many_files_take_the_memory_of_one() {
    let corpus = root().join("corpus/callgrind/callgrind.out.mill-dynamic");
    let size = std::fs::metadata(&corpus).unwrap().len();
    // As many as make the allocator take the room that it goes on with.
    let few = [&["merge"][..], &[text(&corpus); 20]].concat();
    let many = [&["merge"][..], &[text(&corpus); 200]].concat();
    let (one, peak_of_few) = run_measured(&few);
    let (all, peak_of_many) = run_measured(&many);
    assert_eq!((code(&one), code(&all)), (0, 0));
    let (Some(few), Some(many)) = (peak_of_few, peak_of_many) else { return };
    // All of them together would take ten times as much.
    assert!(many < few + 20 * size, "{few} bytes for 20 files, {many} for 200");
}
