//! `gristmill gate` over a folder as gungraun and iai-callgrind write it.

#![cfg(test)]

mod harness;

use std::path::Path;

use harness::*;

const CONFIG: &str = "[[benchmark]]\nname = \"lib\"\ngungraun = \"target/gungraun\"\n";

/// A profile as gungraun has Callgrind write it: names in full, one thread, a path with Cargo's hash.
fn profile(function: &str, index: u32, cost: u64) -> String {
    format!(
        "# callgrind format\nversion: 1\ncreator: callgrind-3.19.0\npid: 4711\n\
         cmd: /w/target/release/deps/lib-0123456789abcdef --gungraun-run d:d:000000 00000 00000 {index:05}\npart: 1\nthread: 1\n\n\
         desc: I1 cache: 32768 B, 64 B, 8-way associative\npositions: line\nevents: Ir\nsummary: {cost}\n\n\
         fl=/w/benches/lib.rs\nfn=lib::{function}::__gungraun_wrapper_mod::{function}\n10 {cost}\n\ntotals: {cost}\n"
    )
}

/// Writes the results of a benchmark: the newest, the previous one, a named baseline, and what else lies there.
fn write_results(folder: &Path, group: &str, name: &str, text: &str) {
    let folder = folder.join("target/gungraun/mill/lib").join(group).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    let write = |file: String, text: &str| std::fs::write(folder.join(file), text).unwrap();
    write(format!("callgrind.{name}.out"), text);
    write(format!("callgrind.{name}.out.old"), &profile("old", 0, 999));
    write(format!("callgrind.{name}.out.base@main"), &profile("main", 0, 9999));
    write(format!("callgrind.{name}.log"), "==4711== Callgrind\n");
    write(format!("callgrind.{name}.total.Ir.flamegraph.svg"), "<svg/>");
    write(format!("dhat.{name}.out"), "{}");
    write("summary.json".to_owned(), "{}");
}

fn gate() -> tempfile::TempDir {
    let gate = folder(&[("gristmill.toml", CONFIG.as_bytes())]);
    write_results(gate.path(), "fibs", "fib.short", &profile("fib", 0, 1000));
    write_results(gate.path(), "fibs", "fib.long", &profile("fib", 1, 8000));
    write_results(gate.path(), "sorts", "sort", &profile("sort", 0, 500));
    let output = run_in(gate.path(), &["gate", "bless"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    gate
}

#[test]
fn one_entry_stands_for_all_benchmarks() {
    let gate = gate();
    let run = |arguments: &[&str]| run_in(gate.path(), &[&["gate", "run"], arguments].concat());
    let output = run(&["--keep", "kept"]);
    assert_eq!(code(&output), 0, "{}", stdout(&output));
    let shown = stdout(&output);
    let names: Vec<&str> = shown.lines().filter_map(|line| line.strip_suffix(": within budget")).collect();
    assert_eq!(
        names,
        ["lib/mill/lib/fibs/fib.long", "lib/mill/lib/fibs/fib.short", "lib/mill/lib/sorts/sort"]
    );
    assert!(shown.contains("Ir 8,000, unchanged"), "{shown}");
    assert!(gate.path().join("kept/lib/mill/lib/fibs/fib.long.callgrind").is_file());

    // One that got slower; the index of a benchmark shifts when another is added.
    write_results(gate.path(), "fibs", "fib.long", &profile("fib", 2, 8200));
    let output = run(&["-j", "3"]);
    assert_eq!(code(&output), 1, "{}", stdout(&output));
    assert!(stdout(&output).contains("3 benchmarks: 1 over budget"), "{}", stdout(&output));
    // By the name of the entry, and by that of one benchmark.
    assert_eq!(code(&run(&["lib"])), 1);
    assert_eq!(code(&run(&["lib/mill/lib/sorts/sort"])), 0);
    assert_eq!(code(&run(&["lib/mill/lib/fibs/fib.long"])), 1);
    let output = run(&["lib/mill/lib/fibs/fib"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("there is no benchmark `lib/mill/lib/fibs/fib`"), "{}", stderr(&output));
}

#[test]
fn threads_and_processes_of_a_benchmark_are_added_up() {
    let gate = gate();
    let folder = gate.path().join("target/gungraun/mill/lib/fibs/fib.long");
    std::fs::remove_file(folder.join("callgrind.fib.long.out")).unwrap();
    for (file, cost) in [("t1.p1", 7000), ("t2.p1", 1000), ("t3.p1", 0)] {
        let name = format!("callgrind.fib.long.{file}.out");
        std::fs::write(folder.join(name), profile("fib", 1, cost)).unwrap();
    }
    assert_eq!(code(&run_in(gate.path(), &["gate", "bless"])), 0);
    let output = run_in(gate.path(), &["gate", "run"]);
    assert_eq!(code(&output), 0, "{}", stdout(&output));
    assert!(stdout(&output).contains("Ir 8,000, unchanged"), "{}", stdout(&output));
}

/// A process that was killed, or an artifact that came in part, is no improvement.
#[test]
fn another_count_of_files_of_a_benchmark_is_not_comparable() {
    let gate = gate();
    let folder = gate.path().join("target/gungraun/mill/lib/fibs/fib.long");
    std::fs::remove_file(folder.join("callgrind.fib.long.out")).unwrap();
    let write = |process: u32, cost: u64| {
        let name = format!("callgrind.fib.long.{process}.out");
        std::fs::write(folder.join(name), profile("fib", 1, cost)).unwrap();
    };
    write(1, 6000);
    write(2, 2000);
    let run = |arguments: &[&str]| {
        let output = run_in(gate.path(), &[&["gate"], arguments].concat());
        (code(&output), [stdout(&output), stderr(&output)].concat())
    };
    let (status, said) = run(&["run"]);
    assert!(status == 2 && said.contains("files: 1 in the baseline, 2 now"), "{said}");
    assert_eq!(run(&["bless"]).0, 0);
    // One without costs is none.
    write(3, 0);
    assert_eq!(run(&["run"]).0, 0);
    std::fs::remove_file(folder.join("callgrind.fib.long.2.out")).unwrap();
    let (status, said) = run(&["run"]);
    assert!(status == 2 && said.contains("files: 2 in the baseline, 1 now"), "{said}");
    // A baseline of an earlier version does not have the count.
    let path = gate.path().join("gristmill-baseline.toml");
    let baseline = std::fs::read_to_string(&path).unwrap();
    let earlier = baseline.replace("\"files\" = \"2\", ", "");
    assert_ne!(earlier, baseline);
    std::fs::write(&path, earlier).unwrap();
    assert_eq!(run(&["run"]).0, 0);
}

#[test]
fn what_is_gone_or_new_or_of_another_run_is_refused() {
    let gate = gate();
    let refused = |reason: &str| {
        let output = run_in(gate.path(), &["gate", "run"]);
        let shown = stdout(&output) + &stderr(&output);
        assert_eq!(code(&output), 2, "{reason}: {shown}");
        assert!(shown.contains(reason), "{reason}: {shown}");
    };
    write_results(gate.path(), "sorts", "new", &profile("new", 0, 500));
    refused("not in the baseline");
    let sorts = gate.path().join("target/gungraun/mill/lib/sorts");
    std::fs::remove_dir_all(sorts.join("new")).unwrap();
    std::fs::remove_dir_all(sorts.join("sort")).unwrap();
    refused("benchmark `lib/mill/lib/sorts/sort` is in the baseline, but not in the configuration");
    // gungraun does not remove the results of a benchmark that no longer exists.
    write_results(gate.path(), "sorts", "sort", &profile("sort", 0, 500));
    std::fs::write(gate.path().join("new.out"), profile("fib", 1, 8000)).unwrap();
    let setup = "setup = [\"cp new.out target/gungraun/mill/lib/fibs/fib.long/callgrind.fib.long.out\"]\n";
    std::fs::write(gate.path().join("gristmill.toml"), format!("{CONFIG}{setup}")).unwrap();
    refused("fib.short.out: `setup` did not write this profile: it is of an earlier run");
    std::fs::write(gate.path().join("gristmill.toml"), CONFIG).unwrap();
    std::fs::remove_dir_all(gate.path().join("target/gungraun")).unwrap();
    refused("  target/gungraun: ");
    std::fs::create_dir_all(gate.path().join("target/gungraun/mill")).unwrap();
    refused("target/gungraun has no profile of gungraun or iai-callgrind");
}

#[cfg(unix)]
#[cfg(unix)]
#[test]
fn names_of_folders_are_distinct_or_refused() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    let write = |gate: &Path, below: &OsStr, cost: u64| {
        let folder = gate.join("target/gungraun").join(below);
        std::fs::create_dir_all(&folder).unwrap();
        let name = folder.file_name().unwrap().as_bytes();
        let file = [b"callgrind.", name, b".out"].concat();
        std::fs::write(folder.join(OsStr::from_bytes(&file)), profile("fib", 0, cost)).unwrap();
    };
    // A backslash is no separator here.
    let gate = folder(&[("gristmill.toml", CONFIG.as_bytes())]);
    write(gate.path(), OsStr::new("a\\b"), 10);
    write(gate.path(), OsStr::new("a/b"), 2000);
    let output = run_in(gate.path(), &["gate", "bless"]);
    assert_eq!(stderr(&output), "gristmill: lib/a/b: Ir 2,000\ngristmill: lib/a\\b: Ir 10\n");
    assert_eq!(code(&run_in(gate.path(), &["gate", "run"])), 0);

    for (names, reason) in [
        (&[&b"a\nb"[..]][..], "the folder `a\\nb` has a control character in its name"),
        (&[b"a\xff", b"a\xfe"], "the folder `a\u{fffd}` has the name of another one"),
    ] {
        let gate = folder(&[("gristmill.toml", CONFIG.as_bytes())]);
        names.iter().for_each(|name| write(gate.path(), OsStr::from_bytes(name), 10));
        let output = run_in(gate.path(), &["gate", "bless"]);
        assert_eq!(code(&output), 2);
        assert!(stderr(&output).contains(reason), "{}", stderr(&output));
        assert!(!gate.path().join("gristmill-baseline.toml").exists());
    }
}

#[test]
fn the_setup_of_a_folder_runs_once() {
    let gate = gate();
    // It writes all files again, as `cargo bench` does.
    let script = "#!/bin/sh\necho run >> count\nfor file in $(find target -name '*.out'); do cp $file x; rm $file; mv x $file; done\n";
    std::fs::write(gate.path().join("bench.sh"), script).unwrap();
    let config = format!("{CONFIG}setup = [\"sh bench.sh\"]\n");
    std::fs::write(gate.path().join("gristmill.toml"), config).unwrap();
    assert_eq!(code(&run_in(gate.path(), &["gate", "bless"])), 0);
    let output = run_in(gate.path(), &["gate", "run", "-j", "2"]);
    assert_eq!(code(&output), 0, "{}", stdout(&output));
    assert_eq!(std::fs::read_to_string(gate.path().join("count")).unwrap(), "run\nrun\n");
}

#[test]
fn an_earlier_generation_may_be_the_baseline() {
    let gate = gate();
    let run = |arguments: &[&str]| run_in(gate.path(), &[&["gate"], arguments].concat());
    for (generation, cost) in [("old", "999"), ("base@main", "9,999")] {
        let arguments = ["bless", "--generation", generation, "--baseline", "earlier.toml"];
        assert_eq!(code(&run(&arguments)), 0);
        let output = run(&["run", "--baseline", "earlier.toml", "lib/mill/lib/fibs/fib.long"]);
        assert!(stdout(&output).contains(&format!("Ir {cost} → 8,000")), "{}", stdout(&output));
    }
    // A benchmark without a file of that generation is not gone.
    let sort = gate.path().join("target/gungraun/mill/lib/sorts/sort");
    std::fs::remove_file(sort.join("callgrind.sort.out.old")).unwrap();
    let output = run(&["bless", "--generation", "old"]);
    assert!(code(&output) == 0 && !stderr(&output).contains("removed"), "{}", stderr(&output));
    let output = run(&["run", "lib/mill/lib/sorts/sort"]);
    assert!(stdout(&output).contains("Ir 500, unchanged"), "{}", stdout(&output));
    let output = run(&["bless", "--generation", "base@other"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("such as callgrind.NAME.out.base@other"), "{}", stderr(&output));
    assert_eq!(code(&run(&["bless", "--generation", "new"])), 2);
}
