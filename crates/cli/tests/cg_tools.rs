//! Under the names `cg_annotate`, `cg_diff` and `cg_merge`, gristmill prints what those programs of Valgrind 3.28 print;
//! and `gristmill annotate` lays any profile out in the same way.
//!
//! `GRISTMILL_CORPUS` may name a folder with what the originals printed, below `expected/cg`. Where older ones are
//! installed, their sums are compared. `BLESS=1` writes the goldens again.

// Programs are called by another name, which is a matter of Unix. Tests may panic: that is how they fail.
#![cfg(all(test, unix))]
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod harness;
#[path = "cg_tools/naive.rs"]
mod naive;

use std::fs::{self, File};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, SystemTime};

use harness::{
    code, corpus, folder, golden, gristmill, gzip, other_corpus, root, run_in, stderr, stdout, text,
};
use naive::{Sums, by_function, read, total};

/// Runs the program under another name.
fn tool(name: &str, folder: &Path, arguments: &[&str]) -> Output {
    gristmill(arguments).arg0(name).current_dir(folder).output().unwrap()
}

/// Returns the output of a run that must succeed.
fn printed(name: &str, folder: &Path, arguments: &[&str]) -> String {
    let output = tool(name, folder, arguments);
    assert_eq!((stderr(&output).as_str(), code(&output)), ("", 0), "{name} {arguments:?}");
    stdout(&output)
}

fn set_time(path: &Path, seconds: u64) {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

/// A copy of the plain files of a folder, all of the same age.
fn copy_of(folder: &Path) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            let to = copy.path().join(path.file_name().unwrap());
            fs::write(&to, fs::read(&path).unwrap()).unwrap();
            set_time(&to, 1_000_000_000);
        }
    }
    copy
}

/// Every file of Cachegrind in both corpora.
fn cachegrind_files() -> Vec<PathBuf> {
    let mut files = corpus();
    files.retain(|path| path.parent().is_some_and(|parent| parent.ends_with("cachegrind")));
    if let Some(other) = other_corpus() {
        for folder in ["valgrind-cachegrind", "annotated", "public/CodSpeedHQ__valgrind-codspeed"] {
            let entries = fs::read_dir(other.join(folder)).unwrap().map(|entry| entry.unwrap().path());
            let is_of_cachegrind = |path: &PathBuf| {
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                // One of them was left half written by the cg_diff of its time.
                (name.starts_with("cachegrind") || name.ends_with(".cgout")) && !name.ends_with(".died")
            };
            files.extend(entries.filter(is_of_cachegrind).filter(|path| path.is_file()));
        }
    }
    files.sort();
    assert!(files.len() >= 6);
    files
}

/// The arguments of a case went through a shell.
fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(|word| word.replace('\\', "")).collect()
}

#[test]
fn what_the_originals_print() {
    let Some(corpus) = other_corpus() else { return };
    let expected = corpus.join("expected/cg");
    let cases = fs::read_to_string(expected.join("CASES.tsv")).unwrap();
    // Times decide whether a source counts as newer, and a copy of the corpus has those of the copying.
    let annotated = copy_of(&corpus.join("annotated"));
    let mut identical = 0;
    let mut differing = Vec::new();
    for case in cases.lines().skip(1) {
        let [number, name, folder, arguments, exit] = case.split('\t').collect::<Vec<_>>()[..] else {
            panic!("five columns: {case}");
        };
        let folder = if folder == "annotated" { annotated.path().to_owned() } else { corpus.join(folder) };
        let arguments = words(arguments);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let output = tool(name, &folder, &arguments);
        let file = |ending: &str| fs::read(expected.join(format!("{number}.{ending}"))).unwrap();
        let is_same = (output.stdout == file("out"), output.stderr == file("err"), code(&output));
        if is_same == (true, true, exit.parse().unwrap()) {
            identical += 1;
        } else {
            differing.push((number, is_same));
        }
    }
    println!("{identical} of {} runs are identical", identical + differing.len());
    assert!(differing.is_empty(), "{differing:?}");
    assert!(identical >= 43);
}

/// A profile with every oddity of sources: costs on no line, past the end, below the threshold, of a source that is
/// newer, missing, not UTF-8, or has Windows line ends.
const ODDITIES: &[u8] = b"desc: made by hand\ncmd: ./mill --all\nevents: Ir A_long_event\n\nfl=mill.c\nfn=main\n0 10 1\n\
    2 100 5\n25 300\n30 -20 .\nfn=idle\n40\nfn=\n2 7 1\nfl=newer.c\nfn=main\n1 50 2\nfl=gone.c\nfn=gone\n3 400 4\n\
    fl=latin.c\nfn=caf\xe9\n2 60 1\nfl=???\nfn=???\n0 30 2\nfl=small.c\nfn=small\n1 0 1\nsummary: 937 17\n";

fn oddities() -> tempfile::TempDir {
    let many: String = (1..=38).map(|line| format!("line {line}\r\n")).collect();
    let folder = folder(&[
        ("profile", ODDITIES),
        ("mill.c", many.as_bytes()),
        ("newer.c", b"\tone();\n"),
        ("latin.c", b"// caf\xe9\n\"caf\xe9\"\n"),
        ("small.c", b"one\n"),
    ]);
    for name in ["profile", "mill.c", "latin.c", "small.c"] {
        set_time(&folder.path().join(name), 1_000_000_000);
    }
    set_time(&folder.path().join("newer.c"), 1_000_000_001);
    folder
}

/// Bytes that are no text, to be seen in a golden.
fn visible(output: &Output) -> String {
    assert_eq!((stderr(output).as_str(), code(output)), ("", 0));
    output.stdout.escape_ascii().to_string().replace("\\n", "\n").replace("\\\"", "\"").replace("\\'", "'")
}

#[test]
fn odd_sources() {
    let folder = oddities();
    golden(
        "cg-annotate-oddities",
        &visible(&tool("cg_annotate", folder.path(), &["profile", "--context=1"])),
    );
    golden(
        "cg-annotate-all",
        &visible(&tool("cg_annotate", folder.path(), &["profile", "--threshold=0", "--no-show-percs"])),
    );
}

/// The same files under two names, with one version each: alike, different, and only in one of them.
#[test]
fn sources_of_two_versions() {
    let header = "cmd: ./mill\nevents: Ir\n";
    let one = format!(
        "{header}fl=v1/same.c\nfn=f\n1 10\nfl=v1/other.c\nfn=g\n1 5\nfl=v1/lost.c\nfn=h\n1 9\nsummary: 24\n"
    );
    let two = format!(
        "{header}fl=v2/same.c\nfn=f\n1 30\n2 1\nfl=v2/other.c\nfn=g\n1 8\nfl=v2/lost.c\nfn=h\n1 5\nsummary: 44\n"
    );
    let folder = folder(&[("one", one.as_bytes()), ("two", two.as_bytes())]);
    for (name, text) in [
        ("v1/same.c", "a\nb\n"),
        ("v2/same.c", "a\nb\n"),
        ("v1/other.c", "1\n"),
        ("v2/other.c", "2\n"),
        ("v2/lost.c", "x\n"),
    ] {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        set_time(&path, 1_000_000_000);
    }
    // The first is older than its sources.
    set_time(&folder.path().join("one"), 999_999_999);
    let arguments = ["--diff", "--mod-filename=s/^v[12]/v/", "one", "two"];
    golden("cg-annotate-versions", &printed("cg_annotate", folder.path(), &arguments));
    golden("cg-diff-versions", &printed("cg_diff", folder.path(), &arguments[1..]));
    golden("cg-merge-versions", &printed("cg_merge", folder.path(), &["one", "two"]));
}

/// The recordings of the project, with its sources. What is called is part of the report.
#[test]
fn recordings_of_the_project() {
    let sources = copy_of(&root().join("corpus/src"));
    let map = format!("--source-map=/srv/demo/src/={}/", text(sources.path()));
    let blessed = |name: &str, arguments: &[&str]| {
        let output = run_in(&root().join("corpus"), &[&["annotate", &map], arguments].concat());
        let shown = stdout(&output).replace(text(sources.path()), "SOURCES");
        golden(&format!("annotate-{name}"), &shown);
        assert_eq!((stderr(&output).as_str(), code(&output)), ("", 0));
    };
    blessed(
        "cachegrind",
        &["cachegrind/cachegrind.out.mill", "--show=Ir,Dr,D1mr", "--threshold=2", "--context=2"],
    );
    blessed(
        "cachegrind-diff",
        &[
            "--diff",
            "cachegrind/cachegrind.out.mill-only-ir",
            "cachegrind/cachegrind.out.mill-fast-only-ir",
            "--threshold=2",
        ],
    );
    blessed(
        "callgrind-as-cachegrind",
        &[
            "callgrind/callgrind.out.cache-branch",
            "--style=cachegrind",
            "--show=Ir,Bc,CEst",
            "--threshold=5",
            "--context=0",
        ],
    );
}

/// Lines are the same whether a file is taken as cg_annotate takes it, or as any other profile.
#[test]
fn both_ways_to_read_give_the_same() {
    for path in cachegrind_files() {
        let folder = tempfile::tempdir().unwrap();
        let bytes = fs::read(&path).unwrap();
        // A part that nobody selects, or an event type that nobody asks for, is more than cg_annotate knows of.
        fs::write(folder.path().join("profile"), &bytes).unwrap();
        let report = |more: &[&str]| {
            let all = [&["annotate", "profile", "--threshold=1"], more].concat();
            let output = run_in(folder.path(), &all);
            assert_eq!(code(&output), 0, "{}: {}", path.display(), stderr(&output));
            let shown = stdout(&output);
            // Behind what was called, and the descriptions, whose blanks a profile does not keep.
            shown[shown.find("Events recorded:").unwrap()..].to_owned()
        };
        let plain = report(&[]);
        let recorded = plain.lines().next().unwrap().trim_start_matches("Events recorded:").trim();
        let derived = report(&["--derive", "Nothing = 0 Ir", "--show", &recorded.replace(' ', ",")]);
        // Only a file made by hand names a source file without naming a function of it.
        if !bytes.windows(3).any(|bytes| bytes == b"\n\nf") {
            assert_eq!(plain, derived, "{}", path.display());
        }
    }
}

/// The sums of functions, by a reader that knows only the form of lines.
#[test]
fn functions_have_the_sums_of_their_lines() {
    let mut functions = 0;
    for path in cachegrind_files() {
        let expected = by_function(&read(&fs::read(&path).unwrap()));
        let arguments = ["--no-annotate", "--no-show-percs", "--threshold=0", text(&path)];
        let output = tool("cg_annotate", &root(), &arguments);
        assert_eq!(code(&output), 0, "{}: {}", path.display(), stderr(&output));
        let shown = naive::functions_shown(&String::from_utf8_lossy(&output.stdout));
        let mut shown_with_costs = shown;
        shown_with_costs
            .retain(|key, costs| expected.contains_key(key) || costs.iter().any(|&cost| cost != 0));
        assert!(shown_with_costs == expected, "{}", path.display());
        functions += expected.len();
    }
    println!("the sums of {functions} functions are right");
}

fn merged(folder: &Path, files: &[&str]) -> Sums {
    read(printed("cg_merge", folder, files).as_bytes())
}

#[test]
fn merging_adds_line_by_line_in_any_order() {
    for pair in cachegrind_files().chunk_by(|a, b| naive::events(a) == naive::events(b)) {
        let [first, .., last] = pair else { continue };
        let there = merged(&root(), &[text(first), text(last)]);
        let back = merged(&root(), &[text(last), text(first)]);
        assert_eq!(there, back);
        let mut sums = read(&fs::read(first).unwrap());
        for (key, costs) in read(&fs::read(last).unwrap()) {
            naive::add(sums.entry(key).or_default(), &costs);
        }
        assert_eq!(there, sums, "{} and {}", first.display(), last.display());
        // One alone stays what it is.
        assert_eq!(merged(&root(), &[text(first)]), read(&fs::read(first).unwrap()));
    }
}

#[test]
fn a_file_differs_from_itself_in_nothing() {
    for path in cachegrind_files() {
        let path = text(&path);
        let difference = read(printed("cg_diff", &root(), &[path, path]).as_bytes());
        assert!(difference.values().flatten().all(|&cost| cost == 0), "{path}");
        let report =
            printed("cg_annotate", &root(), &["--diff", "--no-annotate", "--no-show-percs", path, path]);
        let totals = report.lines().find(|line| line.ends_with("PROGRAM TOTALS")).unwrap();
        assert!(totals.split_whitespace().all(|word| matches!(word, "0" | "PROGRAM" | "TOTALS")), "{totals}");
    }
}

/// The difference, by two programs: functions of the second minus those of the first.
#[test]
fn differences_are_those_of_the_sums() {
    for pair in cachegrind_files().chunk_by(|a, b| naive::events(a) == naive::events(b)) {
        let [first, .., last] = pair else { continue };
        let shown = read(printed("cg_diff", &root(), &[text(first), text(last)]).as_bytes());
        let mut expected = by_function(&read(&fs::read(last).unwrap()));
        for (key, costs) in by_function(&read(&fs::read(first).unwrap())) {
            let negative: Vec<i128> = costs.iter().map(|cost| -cost).collect();
            naive::add(expected.entry(key).or_default(), &negative);
        }
        assert_eq!(by_function(&shown), expected);
        // What several files cost together is what each of them cost.
        let both =
            printed("cg_annotate", &root(), &["--no-annotate", "--no-show-percs", text(first), text(last)]);
        let mut sum = total(&read(&fs::read(first).unwrap()));
        naive::add(&mut sum, &total(&read(&fs::read(last).unwrap())));
        let shown = both.lines().find(|line| line.ends_with("PROGRAM TOTALS")).unwrap();
        let shown: Vec<i128> =
            shown.split_whitespace().filter_map(|word| word.replace(',', "").parse().ok()).collect();
        assert_eq!(shown, sum);
    }
}

/// The programs of an older Valgrind, where there are any, say the same of files that they can read.
#[test]
fn older_originals_agree() {
    let corpus = root().join("corpus/cachegrind");
    let files =
        ["cachegrind.out.mill-only-ir", "cachegrind.out.mill-fast-only-ir"].map(|name| corpus.join(name));
    let [first, second] = [text(&files[0]), text(&files[1])];
    // What they wrote when the corpus was recorded.
    let recorded = |name: &str| read(&fs::read(corpus.join(name)).unwrap());
    let merged = merged(&root(), &[first, second]);
    let difference = read(printed("cg_diff", &root(), &[first, second]).as_bytes());
    assert_eq!(merged, recorded("cachegrind.merged"));
    assert_eq!(difference, recorded("cachegrind.diff"));
    let mut pairs = vec![(first.to_owned(), second.to_owned())];
    if let Some(other) = other_corpus() {
        let of = |name: &str| text(&other.join("valgrind-cachegrind").join(name)).to_owned();
        pairs.push((of("cachegrind.out.recurse-a"), of("cachegrind.out.recurse-b")));
        pairs.push((of("cachegrind.out.recurse-b"), of("cachegrind.out.ls")));
    }
    for (first, second) in pairs {
        for program in ["cg_merge", "cg_diff"] {
            let Ok(original) = Command::new(program).args([&first, &second]).output() else {
                assert!(std::env::var_os("GRISTMILL_CI").is_none(), "{program} is missing");
                println!("skipped: {program} is not installed");
                continue;
            };
            assert!(original.status.success(), "{program}: {}", stderr(&original));
            let ours = read(printed(program, &root(), &[&first, &second]).as_bytes());
            assert_eq!(ours, read(&original.stdout), "{program} {first} {second}");
        }
    }
}

#[test]
fn merging_takes_all_versions_and_packed_files() {
    let old: &[u8] =
        b"desc: I1 cache: 1 B\ncmd:  a\nevents:  Ir Dr \nfl=m.c\nfn=f\n1 5 .  \n2 1\nsummary:  6 0 \n";
    let new: &[u8] = b"cmd: b\nevents: Ir Dr\nfl=m.c\nfn=g\n9 1 1\nfl=n.c\nfn=f\n1 2 2\nfl=m.c\nfn=f\n3 1 1\n1 1 1\nsummary: 5 5\n";
    let folder = folder(&[("old", old), ("new", new), ("new.gz", &gzip(new))]);
    let expected = "desc: I1 cache: 1 B\ncmd: a\nevents: Ir Dr\nfl=m.c\nfn=f\n1 6 1\n2 1 0\n3 1 1\nfn=g\n9 1 1\nfl=n.c\nfn=f\n\
                    1 2 2\nsummary: 11 5\n";
    assert_eq!(printed("cg_merge", folder.path(), &["old", "new"]), expected);
    assert_eq!(printed("cg_merge", folder.path(), &["old", "new.gz"]), expected);
    // Into a file, which may be there, and may even be one of those that are read.
    for target in ["sum", "sum", "old"] {
        assert_eq!(printed("cg_merge", folder.path(), &["-o", target, "old", "new"]), "");
        assert_eq!(fs::read_to_string(folder.path().join(target)).unwrap(), expected);
    }
}

/// Messages and exit codes as Python's `argparse` has them.
#[test]
fn command_lines_that_are_wrong() {
    let files: [(&str, &[u8]); 2] = [
        ("good", b"cmd: a\nevents: Ir\nfl=a\nfn=f\n1 2\nsummary: 2\n"),
        ("bad", b"cmd: a\nevents: Ir\nfl=a\nfn=f\n1 x\n"),
    ];
    let folder = folder(&files);
    for (name, arguments, exit, message) in [
        ("cg_annotate", &[][..], 2, "the following arguments are required: cachegrind-out-file"),
        ("cg_annotate", &["--foo", "good"], 2, "unrecognized arguments: --foo"),
        ("cg_annotate", &["--con", "x", "good"], 2, "argument --context: invalid int value: 'x'"),
        ("cg_annotate", &["--context"], 2, "argument --context: expected one argument"),
        (
            "cg_annotate",
            &["--auto=maybe", "good"],
            2,
            "ambiguous option: --auto=maybe could match --auto=yes, --auto=no",
        ),
        (
            "cg_annotate",
            &["--threshold=-1", "good"],
            2,
            "argument --threshold: invalid threshold value: '-1'",
        ),
        ("cg_annotate", &["good", "--sort=Dr"], 1, "--sort event `Dr` did not appear in `events:` line"),
        ("cg_annotate", &["bad"], 1, "bad:5: malformed or out-of-place line"),
        ("cg_annotate", &["."], 1, "[Errno 21] Is a directory: '.'"),
        ("cg_diff", &["good"], 2, "the following arguments are required: cachegrind-out-file2"),
        ("cg_diff", &["good", "good", "good"], 2, "unrecognized arguments: good"),
        ("cg_diff", &["good", "no'such"], 1, "[Errno 2] No such file or directory: \"no'such\""),
        ("cg_diff", &["good", "bad"], 1, "bad:5: malformed or out-of-place line"),
        ("cg_merge", &["-o", "x"], 2, "the following arguments are required: cachegrind-out-file"),
        ("cg_merge", &["good", "-o"], 2, "argument -o: expected one argument"),
        ("cg_merge", &["good", "bad"], 1, "bad:5: malformed or out-of-place line"),
    ] {
        let output = tool(name, folder.path(), arguments);
        let said = stderr(&output);
        assert_eq!((stdout(&output).as_str(), code(&output)), ("", exit), "{name} {arguments:?}: {said}");
        assert!(said.ends_with(&format!("{name}: error: {message}\n")), "{name} {arguments:?}: {said}");
        assert_eq!(said.starts_with(&format!("usage: {name} [-h]")), exit == 2, "{said}");
    }
    let pattern = tool("cg_diff", folder.path(), &["--mod-funcname=s/(/x/", "good", "good"]);
    assert_eq!(code(&pattern), 2);
    assert!(stderr(&pattern).contains("argument --mod-funcname: invalid regex value: 's/(/x/': "));
}

#[test]
fn help_and_version() {
    for name in ["cg_annotate", "cg_diff", "cg_merge"] {
        let folder = root();
        assert_eq!(printed(name, &folder, &["--version"]), format!("{name}-3.28.0\n"));
        let help = printed(name, &folder, &["-h"]);
        assert!(help.starts_with(&format!("usage: {name} [-h] [--version]")), "{help}");
        assert_eq!(printed(name, &folder, &["--hel"]), help);
        assert!(help.lines().all(|line| line.len() <= 90), "{help}");
        // Links may stand in any folder.
        assert_eq!(
            printed(&format!("/usr/local/bin/{name}"), &folder, &["--version"]),
            format!("{name}-3.28.0\n")
        );
    }
}

/// `gristmill annotate` reports what cg_annotate refuses, and continues.
#[test]
fn annotate_goes_on_where_the_original_ends() {
    let body = "cmd: a\nevents: Ir\nfl=a.c\nfn=f\n1 2\n";
    for (text, message) in [
        (
            "summary: 3\n",
            "`summary:` line does not match the sum of the counts; the sums here are those of its lines",
        ),
        ("", "missing the `summary:` line; the sums here are those of its lines"),
        ("1 x\nsummary: 2\n", "malformed or out-of-place line; cg_annotate would refuse it"),
    ] {
        let folder = folder(&[("profile", format!("{body}{text}").as_bytes())]);
        let arguments = ["annotate", "profile", "--style=cachegrind", "--no-show-percs", "--no-annotate"];
        let output = run_in(folder.path(), &arguments);
        assert_eq!(code(&output), 0);
        assert!(stdout(&output).contains("\n 2  PROGRAM TOTALS\n"), "{}", stdout(&output));
        assert!(stderr(&output).contains(message), "{}", stderr(&output));
    }
}

#[test]
fn annotate_refuses_what_the_layout_does_not_have() {
    let folder = folder(&[("profile", b"cmd: a\nevents: Ir\nfl=a.c\nfn=f\n1 2\nsummary: 2\n".as_slice())]);
    for (arguments, message) in [
        (&["--tree=both"][..], "the layout of cg_annotate has no --tree"),
        (&["--inclusive=yes"], "the layout of cg_annotate has no --inclusive=yes"),
        (&["--jumps"], "the layout of cg_annotate has no --jumps"),
        (&["--diff"], "--diff takes two profiles"),
        (&["--threshold=101"], "--threshold takes a number from 0 to 100"),
        (&["--show=Dr"], "gristmill: there is no event type `Dr`\n  hint: the only event type is Ir\n"),
        (&["--sort=Ir:50"], "gristmill: there is no event type `Ir:50`"),
        (&["--mod-filename=s/a(?=b)/c/"], "the pattern looks around itself with (?=, which is not supported"),
    ] {
        let output = run_in(folder.path(), &[&["annotate", "profile"], arguments].concat());
        assert_eq!(code(&output), 2, "{arguments:?}");
        assert!(stderr(&output).contains(message), "{arguments:?}: {}", stderr(&output));
    }
}

/// A difference that nobody makes would be shown as a sum.
#[test]
fn other_layouts_refuse_what_only_this_one_has() {
    let folder = folder(&[("profile", b"cmd: a\nevents: Ir\nfl=a.c\nfn=f\n1 2\nsummary: 2\n".as_slice())]);
    for form in ["--style=callgrind", "--format=json", "--format=html"] {
        for (arguments, option) in [
            (&["--diff", "profile"][..], "--diff"),
            (&["--mod-filename=s/a/b/"], "--mod-filename"),
            (&["--mod-funcname=s/a/b/"], "--mod-funcname"),
        ] {
            let output = run_in(folder.path(), &[&["annotate", form, "profile"], arguments].concat());
            assert_eq!((code(&output), stdout(&output).as_str()), (2, ""), "{form} {arguments:?}");
            let message = format!("only the layout of cg_annotate has {option}\n");
            assert!(stderr(&output).contains(&message), "{form} {arguments:?}: {}", stderr(&output));
        }
    }
}

#[test]
fn annotate_shows_some_functions_and_files() {
    let folder = folder(&[
        (
            "profile",
            b"cmd: a\nevents: Ir\nfl=a.c\nfn=f\n1 2\nfn=g\n2 3\nfl=b.c\nfn=h\n1 4\nsummary: 9\n".as_slice(),
        ),
        ("a.c", b"one\ntwo\n"),
        ("b.c", b"three\n"),
    ]);
    let shown =
        |arguments: &[&str]| stdout(&run_in(folder.path(), &[&["annotate", "profile"], arguments].concat()));
    let some = shown(&["--function=^[fh]$"]);
    assert!(some.contains(":h\n") && some.contains("  f\n") && !some.contains(" g\n"), "{some}");
    let one = shown(&["--file=^b"]);
    assert!(one.contains("Annotated source file: b.c") && !one.contains("source file: a.c"), "{one}");
    // What is not annotated is accounted for all the same.
    assert!(one.contains("5 (55.6%)  unannotated: files known & below threshold"), "{one}");
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    use std::process::Stdio;

    let path = root().join("corpus/cachegrind/cachegrind.out.mill");
    for (name, files) in [("cg_annotate", 1), ("cg_diff", 2), ("cg_merge", 1)] {
        let arguments = vec![text(&path); files];
        let mut command = gristmill(&arguments);
        command.arg0(name).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!((code(&output), stderr(&output).as_str()), (0, ""), "{name}");
    }
}
