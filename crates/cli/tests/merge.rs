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
        (&["--mean", "--scale", "0.1"], "2", "Scaled by: 1/10"),
    ] {
        let output = run_in(folder.path(), &[&["merge", "a", "b", "c"], options].concat());
        let text = stdout(&output);
        assert!(text.ends_with(&format!("\ntotals: {total}\n")), "{options:?}: {text}");
        assert!(text.contains(&format!("\ndesc: {told}\n")), "{options:?}: {text}");
        for note in
            ["kept 3 lines of all files for the median", "the sum of the medians of lines, not the median of"]
        {
            assert_eq!(stderr(&output).contains(note), options == ["--median"], "{options:?}: {note}");
        }
    }
    for options in
        [&["--mean", "--median"][..], &["--keep-parts", "--mean"], &["--scale", "x"], &["--scale", "1/0"]]
    {
        assert_eq!(code(&run_in(folder.path(), &[&["merge", "a"], options].concat())), 2);
    }
    for (factor, reason) in [
        ("0", "above 0"),
        ("0.000", "above 0"),
        ("0/7", "above 0"),
        ("-1", "above 0"),
        ("-1/3", "above 0"),
        ("NaN", "a factor is a number such as 0.25"),
        ("inf", "a factor is a number such as 0.25"),
        ("1e3", "a factor is a number such as 0.25"),
    ] {
        let output = run_in(folder.path(), &["merge", "a", "--scale", factor]);
        assert!(code(&output) == 2 && stderr(&output).contains(reason), "{factor}: {}", stderr(&output));
    }
}

#[test]
fn calls_that_some_runs_lack_are_not_halved_in_silence() {
    let callgrind = b"events: Ir\nfn=main\n1 10\ncfn=f\ncalls=6 2\n1 40\nfn=f\n2 40\n".as_slice();
    let cachegrind = b"events: Ir\nfn=main\n1 10\nfn=f\n2 61\n".as_slice();
    let folder = folder(&[("callgrind", callgrind), ("cachegrind", cachegrind)]);
    let output = run_in(folder.path(), &["merge", "--mean", "callgrind", "cachegrind"]);
    let (written, warnings) = (stdout(&output), stderr(&output));
    // Half of 121 is rounded once, for the total.
    assert!(written.contains("\ncalls=6 ") && written.ends_with("\ntotals: 61\n"), "{written}");
    assert!(
        warnings.contains("only 1 of 2 runs have calls; counts and inclusive costs are of those"),
        "{warnings}"
    );
    // What is merged again is one run.
    for options in [&["--mean"][..], &["--median"], &["--scale", "2"]] {
        let one = run_in(folder.path(), &[&["merge", "callgrind", "cachegrind"], options].concat());
        std::fs::write(folder.path().join("one"), &one.stdout).unwrap();
        let again = run_in(folder.path(), &["merge", "--mean", "one", "callgrind"]);
        assert!(stdout(&again).contains("\ndesc: Mean of runs: 2\n"), "{options:?}: {}", stdout(&again));
    }
}

#[test]
fn kept_parts_name_their_files_in_the_given_order() {
    let folder = folder(&[("one", ONE), ("other", OTHER)]);
    let output = run_in(folder.path(), &["merge", "--keep-parts", "other", "one"]);
    assert_eq!((code(&output), stderr(&output).as_str()), (0, ""));
    let written = stdout(&output);
    let lines: Vec<&str> = written.lines().filter(|line| line.contains("Part of: ")).collect();
    assert_eq!(lines, ["desc: Part of: other", "desc: Part of: one"], "{written}");
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
        (&["one", "lacking"], "lacking: costs are missing: it states"),
        (&["one", "foreign"], "foreign: "),
        (&["one", "missing"], "missing: no such file"),
        (&["one", "cut.gz"], "cut.gz: "),
        (&["empty"], "empty: the file is empty"),
        (&["one", "empty"], "empty: the file is empty"),
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

    let output =
        merge(&["--force", "--skip-broken", "one", "broken", "foreign", "missing", "cut.gz", "empty"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert_eq!(stderr(&output).matches("left out: ").count(), 5);
    assert_eq!(
        std::fs::read(folder.path().join("out")).unwrap(),
        run_in(folder.path(), &["merge", "one"]).stdout
    );
}

/// A hint names options with which the same command succeeds, also where a single file has the sum.
#[test]
fn hints_about_large_sums_help() {
    let most = u64::MAX;
    let large = format!("events: Ir\nfn=f\n1 {most}\n");
    let larger = format!("events: Ir\nfn=f\n1 {most}\n2 {most}\n1 {most}\n");
    let folder =
        folder(&[("large", large.as_bytes()), ("again", large.as_bytes()), ("larger", larger.as_bytes())]);
    for (arguments, hint) in [
        (&["large", "again"][..], "--mean"),
        // Its total is 3 (2^64 - 1), so that a half of it is too large.
        (&["larger"], "--scale 1/4"),
        (&["larger", "large", "again"], "--scale 1/8"),
        (&["larger", "large", "again", "--scale", "2"], "--scale 1/8"),
        (&["larger", "--mean"], "--scale 1/4"),
        (&["larger", "--median"], "--scale 1/4"),
        (&["larger", "--scale", "0.9"], "--scale 1/4"),
    ] {
        let output = run_in(folder.path(), &[&["merge"], arguments].concat());
        assert_eq!(code(&output), 2, "{arguments:?}");
        let said = format!("  hint: {hint} makes its numbers small enough\n");
        assert!(stderr(&output).ends_with(&said), "{arguments:?}: {}", stderr(&output));
        let scale =
            arguments.iter().position(|&argument| argument == "--scale" && hint.starts_with("--scale"));
        let kept = &arguments[..scale.unwrap_or(arguments.len())];
        let hint: Vec<&str> = hint.split(' ').collect();
        let output = run_in(folder.path(), &[&["merge"], kept, &hint[..]].concat());
        assert_eq!(code(&output), 0, "{arguments:?} with {hint:?}: {}", stderr(&output));
    }
}

/// Only a thousand findings of a file are kept. An error after that many others is still found.
#[test]
fn losses_are_found_beyond_the_findings_that_are_kept() {
    let mut text = "events: Ir\n".to_owned();
    // Blanks that most readers do not expect.
    (1..=1200).for_each(|number| text.push_str(&format!("fn = f{number}\n1 1\n")));
    let broken = format!("{text}fn=f\n1 x\n");
    let folder = folder(&[("odd", text.as_bytes()), ("broken", broken.as_bytes())]);
    for options in [&[][..], &["--keep-parts"], &["--median"]] {
        let arguments = [&["merge", "odd", "-o", "out", "--force"], options].concat();
        let output = run_in(folder.path(), &arguments);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        let arguments = [&["merge", "odd", "broken", "-o", "sum"], options].concat();
        let output = run_in(folder.path(), &arguments);
        assert!(code(&output) == 2 && !folder.path().join("sum").exists(), "{options:?}");
        assert!(stderr(&output).contains("broken:2403:3: expected a cost"), "{}", stderr(&output));
        let output = run_in(folder.path(), &[&arguments[..], &["--allow-damaged"]].concat());
        assert!(code(&output) == 0 && folder.path().join("sum").exists(), "{options:?}");
        assert!(stderr(&output).contains("warning: broken:2403:3: expected a cost"), "{}", stderr(&output));
        std::fs::remove_file(folder.path().join("sum")).unwrap();
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
    let count = 200 / one_in(2);
    let many = [&["merge"][..], &vec![text(&corpus); count]].concat();
    let (one, peak_of_few) = run_measured(&few);
    let (all, peak_of_many) = run_measured(&many);
    assert_eq!((code(&one), code(&all)), (0, 0));
    let (Some(few), Some(many)) = (peak_of_few, peak_of_many) else { return };
    // The files more would take three times as much. The allocator of two threads varies by a megabyte.
    assert!(many < few + (count - 20) as u64 * size / 3, "{few} bytes for 20 files, {many} for {count}");
}
