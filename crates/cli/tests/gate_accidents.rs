//! Ways to pass `gristmill gate` by accident: each is exit 2, with the reason.

#![cfg(test)]

mod harness;

use std::path::Path;
use std::process::Output;
use std::time::{Duration, SystemTime};

use harness::*;

/// A profile of a program that parses and prints.
const PROFILE: &str = "version: 1\ncreator: callgrind-3.19.0\ncmd: ./bench 100\ndesc: I1 cache: 32768 B\nevents: Ir Dr\n\
    ob=/opt/bench\nfl=/opt/src/main.c\nfn=main\n3 100 10\ncfn=parse\ncalls=1 9\n4 5000 500\nfn=parse\n9 5000 500\n\
    fl=/usr/src/string.c\nfn=__memcpy_avx_unaligned\n1 400 40\n";

const CONFIG: &str = "[[benchmark]]\nname = \"parse\"\nprofile = \"parse.out\"\n";

/// Ends a profile of Callgrind as Callgrind does: with its totals.
fn ended(text: &str) -> String {
    let mut text = text.to_owned();
    if !text.contains("creator: callgrind") || text.contains("totals:") {
        return text;
    }
    let (mut totals, mut is_call): (Vec<u64>, bool) = (Vec::new(), false);
    for line in text.lines() {
        let numbers: Option<Vec<u64>> = line.split(' ').map(|word| word.parse().ok()).collect();
        if let (Some(numbers), false) = (numbers, is_call) {
            totals.resize(totals.len().max(numbers.len() - 1), 0);
            totals.iter_mut().zip(&numbers[1..]).for_each(|(total, cost)| *total += cost);
        }
        is_call = line.starts_with("calls=");
    }
    let totals: Vec<String> = totals.iter().map(u64::to_string).collect();
    text.push_str(&format!("totals: {}\n", totals.join(" ")));
    text
}

/// A folder with a configuration and its baseline.
struct Gate(tempfile::TempDir);

impl Gate {
    fn new(config: &str, files: &[(&str, &str)]) -> Gate {
        let gate = Gate(folder(&[]));
        gate.write("gristmill.toml", config);
        files.iter().for_each(|(name, text)| gate.write(name, text));
        gate
    }

    /// With one benchmark, accepted.
    fn blessed(config: &str) -> Gate {
        let gate = Gate::new(config, &[("parse.out", PROFILE)]);
        gate.bless();
        gate
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, ended(text)).unwrap();
    }

    fn age(&self, name: &str, seconds: u64) {
        let file = std::fs::File::options().write(true).open(self.path().join(name)).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(seconds)).unwrap();
    }

    fn gate(&self, arguments: &[&str]) -> Output {
        run_in(self.path(), &[&["gate"], arguments].concat())
    }

    fn bless(&self) {
        let output = self.gate(&["bless"]);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
    }

    fn assert_within(&self, arguments: &[&str]) {
        let output = self.gate(&[&["run"], arguments].concat());
        assert_eq!(code(&output), 0, "{}{}", stdout(&output), stderr(&output));
    }

    fn assert_refused(&self, reason: &str) {
        let output = self.gate(&["run"]);
        let shown = stdout(&output) + &stderr(&output);
        assert_eq!(code(&output), 2, "{reason}: {shown}");
        assert!(shown.contains(reason), "{reason}: {shown}");
    }

    /// Neither a verdict nor a baseline.
    fn assert_not_blessed(&self, reason: &str) {
        let baseline = self.path().join("gristmill-baseline.toml");
        let before = std::fs::read(&baseline).ok();
        for command in [&["bless"][..], &["noise", "--runs", "2"]] {
            let output = self.gate(command);
            assert_eq!(code(&output), 2, "{reason}: {}", stderr(&output));
            assert!(stderr(&output).contains(reason), "{reason}: {}", stderr(&output));
            assert_eq!(std::fs::read(&baseline).ok(), before);
        }
    }
}

#[test]
fn a_pattern_to_ignore_that_matches_nothing() {
    let reason = "pattern `^_dl_`, which matches no function of";
    for config in
        [format!("{CONFIG}ignore = [\"^_dl_\"]\n"), format!("[gate]\nignore = [\"^_dl_\"]\n{CONFIG}")]
    {
        let gate = Gate::new(&config, &[("parse.out", PROFILE)]);
        gate.assert_refused(reason);
        gate.assert_not_blessed(reason);
    }
    // A pattern for all benchmarks has to match in one of them only; if only some are measured, nobody knows.
    let other = PROFILE.replace("fn=main", "fn=_dl_start");
    let config = format!(
        "[gate]\nignore = [\"^_dl_\", \"^main\"]\n{CONFIG}[[benchmark]]\nname = \"b\"\nprofile = \"b.out\"\n"
    );
    let gate = Gate::new(&config, &[("parse.out", PROFILE), ("b.out", &other)]);
    gate.bless();
    gate.assert_within(&[]);
    gate.assert_within(&["parse"]);
    gate.write("b.out", PROFILE);
    gate.assert_refused("`ignore` has the pattern `^_dl_`, which matches no function of any benchmark");
}

#[test]
fn a_budget_whose_pattern_matches_nothing() {
    let budget = "[[benchmark.budget]]\nname = \"lexer\"\nfunction = \"^lex\"\nincrease = \"0\"\n";
    let gate = Gate::new(&format!("{CONFIG}{budget}"), &[("parse.out", PROFILE)]);
    gate.assert_refused("the pattern `^lex` matches no function of the profile");
    gate.assert_not_blessed("the pattern `^lex` matches no function of the profile");

    // The function was renamed since.
    let gate = Gate::blessed(&format!("{CONFIG}{}", budget.replace("^lex", "^parse")));
    gate.write("parse.out", &PROFILE.replace("parse", "read_all"));
    gate.assert_refused("the pattern `^parse` matches no function of the profile");
    // Advice that can never come is none.
    let advice = format!("{CONFIG}{budget}advise = true\n");
    Gate::new(&advice, &[("parse.out", PROFILE)]).assert_refused("the pattern `^lex` matches no function");
}

#[test]
fn a_budget_has_all_levels_of_a_recursion_and_no_callers() {
    let profile = "version: 1\nevents: Ir\nfn=parse\n1 10\nfn=parse'2\n1 5000\nfn=print'parse\n2 900\n";
    let budget = "[[benchmark.budget]]\nname = \"parser\"\nfunction = \"^parse$\"\nincrease = \"5%\"\n";
    let gate =
        Gate::new(&format!("[gate]\nincrease = \"900%\"\n{CONFIG}{budget}"), &[("parse.out", profile)]);
    gate.bless();
    gate.write("parse.out", &profile.replace("900", "1800"));
    gate.assert_within(&[]);
    gate.write("parse.out", &profile.replace("5000", "6000"));
    let shown = stdout(&run_in(gate.path(), &["gate", "run"]));
    assert!(shown.contains("Ir of parser 5,010 → 6,010, +1,000 (+19.96%)"), "{shown}");
}

#[test]
fn a_budget_for_all_benchmarks_whose_pattern_matches_in_none() {
    let budget = "[[budget]]\nname = \"lexer\"\nfunction = \"^lex\"\nincrease = \"0\"\n";
    let config = format!("{CONFIG}[[benchmark]]\nname = \"b\"\nprofile = \"b.out\"\n{budget}");
    let gate = Gate::new(&config, &[("parse.out", PROFILE), ("b.out", PROFILE)]);
    let reason = "a budget has the pattern `^lex`, which matches no function of any benchmark";
    gate.assert_refused(reason);
    gate.assert_not_blessed(reason);
    // One of them is enough.
    let lexer = PROFILE.replace("parse", "lex");
    gate.write("b.out", &lexer);
    gate.bless();
    gate.assert_within(&[]);
    // But not another one than at the time of the baseline.
    gate.write("b.out", PROFILE);
    gate.write("parse.out", &lexer);
    gate.assert_refused("the pattern `^lex` matches no function of the profile");
}

#[test]
fn a_budget_of_one_name_that_is_about_other_functions_now() {
    let config =
        |rest: &str| format!("{CONFIG}[[benchmark.budget]]\nname = \"parser\"\nincrease = \"0\"\n{rest}\n");
    let gate = Gate::blessed(&config("function = \"^(parse|main)$\""));
    gate.assert_within(&[]);
    gate.write("gristmill.toml", &config("function = \"^main$\""));
    gate.assert_refused("`parser` is the self cost of `^(parse|main)$` in the baseline");
    gate.write("gristmill.toml", &config("function = \"^(parse|main)$\"\ninclusive = true"));
    gate.assert_refused("`parser` is the self cost of `^(parse|main)$` in the baseline");
}

#[test]
fn an_event_type_that_the_profile_does_not_have() {
    for (name, config) in [
        ("Irr", format!("[gate]\nevents = [\"Irr\"]\n{CONFIG}")),
        ("ir", format!("[gate]\nevents = [\"Ir\", \"ir\"]\n{CONFIG}")),
        ("D1mr", format!("[gate]\nadvise = [\"D1mr\"]\n{CONFIG}")),
        ("D1mr", format!("{CONFIG}[[benchmark.budget]]\nevent = \"D1mr\"\nmax = 5\n")),
        ("D1mr", format!("{CONFIG}[[budget]]\nevent = \"D1mr\"\nfunction = \"parse\"\nmax = 5\n")),
    ] {
        let gate = Gate::new(&config, &[("parse.out", PROFILE)]);
        let reason = format!("the profile has no event type `{name}`; it has Ir, Dr");
        gate.assert_refused(&reason);
        gate.assert_not_blessed(&reason);
    }
}

#[test]
fn an_empty_profile() {
    for (profile, reason) in [
        ("", "parse.out: "),
        ("events: Ir\n", "parse.out: no costs"),
        ("events: Ir\nfn=main\n1 0\n", "the profile has no costs"),
        ("events: Ir\nfn=main\n1 -5\n", "the total of Ir is -5: this is a difference, or the clock"),
        (
            "events: Ir\nfn=main\n1 9\nfn=f\n2 -5\n",
            "`f` has a cost of Ir below 0: this is a difference, or the clock",
        ),
    ] {
        let gate = Gate::new(CONFIG, &[("parse.out", profile)]);
        gate.assert_refused(reason);
        gate.assert_not_blessed(reason);
    }
    let everything = format!("{CONFIG}ignore = [\".\"]\n");
    let gate = Gate::new(&everything, &[("parse.out", PROFILE)]);
    gate.assert_refused("the profile has no costs of functions that are not ignored");
}

#[test]
fn settings_other_than_those_of_the_baseline() {
    let gate = Gate::blessed(CONFIG);
    for (config, profile, reason) in [
        (
            format!("{CONFIG}ignore = [\"main\"]\n"),
            PROFILE.to_owned(),
            "ignore: none in the baseline, main now",
        ),
        (
            CONFIG.replace("parse.out", "./parse.out"),
            PROFILE.to_owned(),
            "profile: parse.out in the baseline, ./parse.out now",
        ),
        (
            format!("{CONFIG}setup = [\"cp other parse.out\"]\n"),
            PROFILE.to_owned(),
            "setup: none in the baseline, `cp other parse.out` now",
        ),
        (
            CONFIG.to_owned(),
            PROFILE.replace("bench 100", "bench 10"),
            "command: bench 100 in the baseline, bench 10 now",
        ),
        (
            CONFIG.to_owned(),
            PROFILE.replace("3.19.0", "3.25.1"),
            "tool: callgrind-3.19.0 in the baseline, callgrind-3.25.1 now",
        ),
        (
            CONFIG.to_owned(),
            PROFILE.replace("32768 B", "65536 B"),
            "I1 cache: 32768 B in the baseline, 65536 B now",
        ),
        (
            CONFIG.to_owned(),
            PROFILE.replace("memcpy_avx", "memcpy_evex"),
            "string functions: memcpy_avx_unaligned in the baseline, memcpy_evex_unaligned now",
        ),
    ] {
        gate.write("gristmill.toml", &config);
        gate.write("other", &profile);
        gate.write("parse.out", &profile);
        gate.assert_refused(reason);
        // It may be asked for.
        let output = gate.gate(&["run", "--allow-unlike"]);
        assert!([0, 1].contains(&code(&output)), "{reason}: {}", stdout(&output));
        assert!(
            stdout(&output).contains("note: ") && stdout(&output).contains(reason),
            "{}",
            stdout(&output)
        );
    }
    // Another path of the program is no other command, and a function that is new has no variant before.
    let moved = PROFILE.replace("./bench", "/w/target/bench-0123456789abcdef");
    gate.write("gristmill.toml", CONFIG);
    gate.write("parse.out", &format!("{moved}fn=__memcmp_avx2\n1 1 0\n"));
    gate.assert_within(&[]);
}

#[test]
fn a_benchmark_of_the_baseline_that_is_gone() {
    let gate = Gate::blessed(CONFIG);
    gate.write("gristmill.toml", &CONFIG.replace("\"parse\"", "\"parser\""));
    gate.assert_refused("benchmark `parse` is in the baseline, but not in the configuration");
    // Also for a verdict on others, and in every format.
    let output =
        gate.gate(&["run", "--format", "json", "--also", "junit=a.xml", "--also", "github=a.txt", "parser"]);
    assert_eq!(code(&output), 2);
    let value = json(&output);
    assert_valid(&schema("gate.schema.json"), &value, "gate");
    assert!(value["refusals"][0]["message"].as_str().unwrap().contains("`parse`"), "{value}");
    let read = |name: &str| std::fs::read_to_string(gate.path().join(name)).unwrap();
    assert!(read("a.xml").contains("errors=\"2\""), "{}", read("a.xml"));
    assert!(read("a.txt").starts_with("::error file=gristmill.toml,line=1,title=gate"), "{}", read("a.txt"));
    // What is blessed by name leaves it; only a bless of all removes it, and says so.
    assert_eq!(code(&gate.gate(&["bless", "parser"])), 0);
    gate.assert_refused("benchmark `parse` is in the baseline");
    let output = gate.gate(&["bless"]);
    assert!(
        stderr(&output).contains("parse: removed, as the configuration no longer has it"),
        "{}",
        stderr(&output)
    );
    gate.assert_within(&[]);
}

/// Two commands accept benchmarks at the same time: the second one begins and ends while the first one measures.
#[cfg(unix)]
#[test]
fn what_another_command_accepts_meanwhile_stays() {
    let nested = format!(
        "[[\"{}\", \"gate\", \"bless\", \"b\"], [\"touch\", \"a.out\"]]",
        env!("CARGO_BIN_EXE_gristmill")
    );
    let config = |setup: &str| {
        format!(
            "[[benchmark]]\nname = \"a\"\nprofile = \"a.out\"\nsetup = {setup}\n[[benchmark]]\nname = \"b\"\nprofile = \"b.out\"\n"
        )
    };
    let profile = |cost: u32| format!("events: Ir\nfn=main\n1 {cost}\n");
    let gate =
        Gate::new(&config("[\"touch a.out\"]"), &[("a.out", &profile(1000)), ("b.out", &profile(2000))]);
    gate.bless();
    gate.write("gristmill.toml", &config(&nested));
    gate.write("a.out", &profile(1500));
    gate.write("b.out", &profile(1000));
    let output = gate.gate(&["bless", "a"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let baseline = std::fs::read_to_string(gate.path().join("gristmill-baseline.toml")).unwrap();
    let totals: Vec<&str> = baseline.lines().filter(|line| line.starts_with("total = ")).collect();
    assert_eq!(totals, ["total = [1500]", "total = [1000]"]);
}

#[test]
fn a_benchmark_that_the_baseline_does_not_have() {
    let gate = Gate::blessed(CONFIG);
    gate.write("gristmill.toml", &format!("{CONFIG}[[benchmark]]\nname = \"b\"\nprofile = \"parse.out\"\n"));
    gate.assert_refused("not in the baseline");
    // The baseline is gone, or another one is named.
    gate.write("gristmill.toml", CONFIG);
    let output = gate.gate(&["run", "--baseline", "missing.toml"]);
    assert_eq!(code(&output), 2, "{}", stdout(&output));
}

#[test]
fn a_profile_that_is_older_than_its_program_or_its_sources() {
    for (named, key) in [("src/main.c", "fl"), ("bench", "ob"), ("src/inlined.h", "fi")] {
        let gate = Gate::new(CONFIG, &[(named, "changed")]);
        // Callgrind writes whole paths, other programs some that are relative to the project.
        let root = gate.path().canonicalize().unwrap();
        for path in [format!("{}/{named}", root.display()), named.to_owned()] {
            let profile =
                format!("events: Ir\n{}={path}\nfn=main\n3 100\n", if key == "ob" { "ob" } else { "fl" });
            let profile = match key {
                "fi" => format!("events: Ir\nfl=other.c\nfn=main\n3 100\nfi={path}\n4 10\n"),
                _ => profile,
            };
            gate.write("parse.out", &profile);
            gate.age(named, 100);
            gate.bless();
            gate.assert_within(&[]);
            gate.age("parse.out", 200);
            let reason = format!("parse.out: the profile is older than {named}: record it again");
            gate.assert_refused(&reason);
            gate.assert_not_blessed(&reason);
            gate.write("gristmill.toml", &format!("{CONFIG}allow_old = true\n"));
            gate.assert_within(&[]);
            gate.write("gristmill.toml", CONFIG);
        }
    }
}

#[test]
fn a_profile_that_is_older_than_its_program_in_another_folder() {
    let elsewhere = folder(&[("bench", b"changed"), ("library.so", b"changed")]);
    let [program, library] = ["bench", "library.so"]
        .map(|name| elsewhere.path().canonicalize().unwrap().join(name).display().to_string());
    let gate = Gate::new(CONFIG, &[]);
    let of_command = |command: &str| {
        format!(
            "version: 1\ncmd: {command} 5\nevents: Ir\nob={program}\nfn=main\n3 100\nob={library}\nfn=help\n4 10\n"
        )
    };
    gate.write("parse.out", &of_command(&program));
    gate.bless();
    gate.assert_within(&[]);
    gate.age("parse.out", 200);
    gate.assert_refused(&format!("parse.out: the profile is older than {program}: record it again"));
    // A library of the system may be newer: it is not of the project.
    gate.write("parse.out", &of_command("./other"));
    gate.bless();
    gate.age("parse.out", 200);
    gate.assert_within(&[]);
}

#[cfg(unix)]
#[test]
fn a_profile_that_its_setup_did_not_write() {
    let config = |setup: &str| format!("{CONFIG}setup = [{setup}]\n");
    let gate = Gate::new(&config("\"cp new.out parse.out\""), &[("new.out", PROFILE)]);
    gate.bless();
    gate.assert_within(&[]);
    gate.write("gristmill.toml", &config("\"true\""));
    gate.assert_refused("parse.out: `setup` did not write this profile: it is of an earlier run");
    gate.assert_not_blessed("parse.out: `setup` did not write this profile: it is of an earlier run");
    gate.write("gristmill.toml", &config("\"false\""));
    gate.assert_refused("setup `false` ended with exit status: 1");
    gate.write("gristmill.toml", &format!("[gate]\nsetup_timeout = 1\n{}", config("\"sleep 60\"")));
    gate.assert_refused("setup `sleep 60` took longer than 1 seconds");
    gate.write("gristmill.toml", &config("\"new.out\""));
    gate.assert_refused("write `./new.out`: it is in the folder of the configuration");
}

#[test]
fn patterns_of_files() {
    let config = |pattern: &str| CONFIG.replace("\"parse.out\"", pattern);
    let gate = Gate::new(&config("\"out/*.out\""), &[]);
    gate.assert_refused("`out/*.out` matches no file");
    gate.write("out/a.out", PROFILE);
    gate.write("out/b.out", PROFILE);
    gate.write("out/deep/c.log", "a log");
    gate.bless();
    gate.assert_within(&[]);
    // Half of the recording costs half: that is no improvement.
    std::fs::remove_file(gate.path().join("out/b.out")).unwrap();
    gate.assert_refused("files: 2 in the baseline, 1 now");
    gate.write("gristmill.toml", &config("[\"out/*.out\", \"out/a.out\"]"));
    gate.assert_refused("`profile` names out/a.out twice");
    gate.write("gristmill.toml", &config("\"out/[.out\""));
    gate.assert_refused("`out/[.out`: ");
    gate.write("gristmill.toml", &config("\"out/*.out*\""));
    gate.write("out/a.out.old", PROFILE);
    gate.assert_refused("`out/*.out*` matches out/a.out.old, which is the profile of an earlier run");
    // A name is no pattern if a file has it.
    gate.write("out/[1].out", PROFILE);
    gate.write("gristmill.toml", &config("\"out/[1].out\""));
    gate.bless();
    gate.assert_within(&[]);
    gate.write("gristmill.toml", &config("\"out\""));
    gate.assert_refused("out: ");
}

#[test]
fn limits_at_the_edge() {
    let budget = |rest: &str| format!("{CONFIG}[[benchmark.budget]]\n{rest}\n");
    for (rest, same, more) in [
        ("increase = \"0%\"", 0, 1),
        ("increase = \"0\"", 0, 1),
        ("max = 5500", 0, 1),
        ("max = 0", 1, 1),
        ("max = 5501\nincrease = \"50%\"", 0, 0),
        ("max = 5500\nincrease = \"50%\"", 0, 1),
    ] {
        let gate = Gate::blessed(&budget(rest));
        assert_eq!(code(&gate.gate(&["run"])), same, "{rest}");
        gate.write("parse.out", &PROFILE.replace("3 100 10", "3 101 10"));
        assert_eq!(code(&gate.gate(&["run"])), more, "{rest}");
    }
}

#[test]
fn a_benchmark_that_does_nothing_any_more() {
    let gate = Gate::blessed(CONFIG);
    gate.write("parse.out", &PROFILE.replace("9 5000 500", "9 50 5").replace("1 400 40", "1 4 4"));
    gate.assert_refused("less than a tenth of the baseline: the benchmark may not do its work any more");
    gate.bless();
    gate.assert_within(&[]);
}

#[test]
fn a_baseline_that_was_edited() {
    let gate = Gate::blessed(CONFIG);
    let baseline = gate.path().join("gristmill-baseline.toml");
    let text = std::fs::read_to_string(&baseline).unwrap();
    for (from, to, reason) in [
        ("total = [5500, 550]", "total = [5400, 550]", "the costs of `parse` do not add up"),
        ("total = [5500, 550]", "total = [-5500, 550]", "the costs of `parse` do not add up"),
        ("total = [5500, 550]", "total = [5500]", "lists that are not as long as its `events`"),
        ("self = [5000, 500]", "self = [9000, 500]", "the costs of `parse` do not add up"),
        ("settings = ", "setings = ", "unknown field `setings`"),
        ("version = 2", "<<<<<<< HEAD\nversion = 2", "gristmill-baseline.toml:3: "),
        (
            "\nsettings",
            "\nnoise = { runs = 5, spread = [5000, 0] }\nsettings",
            "differ by more than half of the cost",
        ),
    ] {
        let edited = text.replace(from, to);
        assert_ne!(edited, text, "{from}");
        std::fs::write(&baseline, edited).unwrap();
        gate.assert_refused(reason);
    }
}

#[test]
fn an_improvement_is_one_only_beyond_the_noise() {
    let gate = Gate::blessed(CONFIG);
    let baseline = gate.path().join("gristmill-baseline.toml");
    let text = std::fs::read_to_string(&baseline).unwrap();
    // 20 of 500.
    let noisy =
        text.replace("\nsettings", "\nnoise = { runs = 5, spread = [900, 9], budgets = [] }\nsettings");
    assert_ne!(text, noisy);
    gate.write("parse.out", &PROFILE.replace("9 5000 500", "9 4500 500"));
    for (text, is_improved) in [(text, true), (noisy, false)] {
        std::fs::write(&baseline, &text).unwrap();
        let output = gate.gate(&["run"]);
        assert_eq!(code(&output), 0, "{}", stdout(&output));
        assert_eq!(stdout(&output).contains("improved"), is_improved, "{}", stdout(&output));
    }
    gate.bless();
    // The noise was measured with these settings, so it stays; with others it is unknown.
    assert!(std::fs::read_to_string(&baseline).unwrap().contains("noise = "));
    gate.write("gristmill.toml", &format!("{CONFIG}ignore = [\"main\"]\n"));
    gate.bless();
    assert!(!std::fs::read_to_string(&baseline).unwrap().contains("noise = "));
}

#[test]
fn paths_are_relative_to_the_root_of_the_repository() {
    let gate = Gate::new("", &[(".git/HEAD", ""), ("bench/gristmill.toml", CONFIG), ("src/main.c", "")]);
    let root = gate.path().canonicalize().unwrap();
    let profile = PROFILE.replace("/opt", &root.display().to_string());
    gate.write("bench/parse.out", &profile);
    let run = |folder: &str, arguments: &[&str]| {
        run_in(&gate.path().join(folder), &[&["gate"], arguments].concat())
    };
    assert_eq!(code(&run("bench", &["bless"])), 0);
    let baseline = std::fs::read_to_string(gate.path().join("bench/gristmill-baseline.toml")).unwrap();
    assert!(baseline.contains("file = \"src/main.c\""), "{baseline}");
    gate.write("bench/parse.out", &profile.replace("9 5000", "9 6000").replace("4 5000", "4 6000"));
    // From any folder.
    for (folder, config) in
        [("bench", "gristmill.toml"), (".", "bench/gristmill.toml"), ("src", "../bench/gristmill.toml")]
    {
        let arguments = ["run", "--config", config, "--format", "github", "--also", "sarif=out.sarif"];
        let output = run(folder, &arguments);
        assert_eq!(code(&output), 1, "{}", stdout(&output));
        assert!(stdout(&output).starts_with("::error file=src/main.c,line=9,"), "{}", stdout(&output));
        let sarif = std::fs::read_to_string(gate.path().join(folder).join("out.sarif")).unwrap();
        assert!(sarif.contains("\"uri\": \"src/main.c\""), "{sarif}");
    }
    std::fs::remove_file(gate.path().join("bench/parse.out")).unwrap();
    let output = run(".", &["run", "--config", "bench/gristmill.toml"]);
    assert!(stdout(&output).contains("\n  bench/parse.out: no such file"), "{}", stdout(&output));
    let output = run(".", &["run", "--config", "bench/gristmill.toml", "--format", "github"]);
    assert!(stdout(&output).starts_with("::error file=bench/gristmill.toml,line=1,"), "{}", stdout(&output));
    gate.write("bench/gristmill.toml", "[gate]\nincrease = \"\\u001b]0;x\\u0007\"\n");
    let output = run("src", &["run", "--config", "../bench/gristmill.toml"]);
    assert!(stderr(&output).contains("bench/gristmill.toml:2: "), "{}", stderr(&output));
    assert!(!stderr(&output).contains(['\u{1b}', '\u{7}']), "{}", stderr(&output));
}

/// A profile that was recorded without the children of its shell: it is what the user wants or not, so it is said.
#[test]
fn a_profile_of_a_launcher_alone() {
    let config = CONFIG.replace("parse.out", "parse*.out");
    let of = |command: &str| PROFILE.replace("cmd: ./bench 100", &format!("cmd: {command}"));
    let gate = Gate::new(&config, &[("parse.out", &of("/bin/sh -c ./bench"))]);
    let note =
        "only `/bin/sh` was recorded, which starts other programs: `--trace-children=yes` of Callgrind";
    let said = |gate: &Gate| stderr(&gate.gate(&["bless"])).contains(note);
    assert!(said(&gate));
    // With what it started, and any other program.
    gate.write("parse2.out", PROFILE);
    assert!(!said(&gate));
    assert!(!said(&Gate::new(CONFIG, &[("parse.out", PROFILE)])));
}

#[test]
fn a_part_without_the_event_type_of_a_budget_is_not_within_it() {
    let part = |events: &str, number: u32, cost: u32| {
        format!("part: {number}\nevents: {events}\nfn=work\n1 {cost}\ntotals: {cost}\n\n")
    };
    let whole = format!("version: 1\ncreator: callgrind-3\ncmd: a\n{}", part("Ir", 1, 6000));
    let config = "[[benchmark]]\nname = \"b\"\nprofile = \"p.out\"\n";
    let folder = folder(&[("gristmill.toml", config.as_bytes()), ("p.out", whole.as_bytes())]);
    assert_eq!(code(&run_in(folder.path(), &["gate", "bless"])), 0);
    std::fs::write(folder.path().join("p.out"), whole + &part("Ix", 2, 9000)).unwrap();
    let output = run_in(folder.path(), &["gate", "run"]);
    assert_eq!(code(&output), 2, "{}", stdout(&output));
    assert!(stdout(&output).contains("no event type `Ir`"), "{}", stdout(&output));
}

#[test]
fn a_file_without_the_event_type_of_a_budget_is_not_within_it() {
    let profile = |events: &str, costs: &str| format!("events: {events}\nfn=work\n1 {costs}\n");
    let config = "[gate]\nevents = [\"Ir\", \"Dw\"]\n[[benchmark]]\nname = \"b\"\nprofile = \"*.out\"\nallow_old = true\n";
    let both = profile("Ir Dw", "100 50");
    let files =
        [("gristmill.toml", config.as_bytes()), ("a.out", both.as_bytes()), ("b.out", both.as_bytes())];
    let folder = folder(&files);
    assert_eq!(code(&run_in(folder.path(), &["gate", "bless"])), 0);
    std::fs::write(folder.path().join("b.out"), profile("Ir", "100")).unwrap();
    for command in ["run", "bless"] {
        let output = run_in(folder.path(), &["gate", command]);
        assert_eq!(code(&output), 2, "{command}: {}", stdout(&output));
    }
    let output = run_in(folder.path(), &["gate", "run"]);
    assert!(stdout(&output).contains("no event type `Dw`"), "{}", stdout(&output));
}
