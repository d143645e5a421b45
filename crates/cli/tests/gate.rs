//! `gristmill gate` as a user runs it.

#![cfg(test)]

mod harness;

use std::fmt::Write as _;
use std::path::Path;
use std::process::Output;

use harness::*;
use serde_json::Value;

const CONFIG: &str = "[gate]\nevents = [\"Ir\"]\nadvise = [\"Dr\"]\nignore = [\"^__libc\"]\n\n[[benchmark]]\nname = \"grind\"\n\
    profile = \"new.out\"\n\n[[benchmark.budget]]\nname = \"stones\"\nfunction = \"^stone\"\nincrease = \"10\"\n";

/// Returns a profile of these functions: name, Ir and Dr.
fn profile(creator: &str, functions: &[(&str, u64, u64)]) -> Vec<u8> {
    let mut text = format!("version: 1\ncreator: {creator}\nevents: Ir Dr\nfl=/build/mill.c\n");
    for (name, ir, dr) in functions {
        write!(text, "fn={name}\n7 {ir} {dr}\n").unwrap();
    }
    let sum = |cost: fn(&(&str, u64, u64)) -> u64| functions.iter().map(cost).sum::<u64>();
    writeln!(text, "totals: {} {}", sum(|function| function.1), sum(|function| function.2)).unwrap();
    text.into_bytes()
}

const BASE: [(&str, u64, u64); 5] = [
    ("main", 100, 10),
    ("stone1", 5000, 500),
    ("stone2", 4000, 400),
    ("tiny", 3, 0),
    ("__libc_start", 999, 99),
];

/// Makes a directory with the configuration and a baseline.
fn blessed() -> tempfile::TempDir {
    let folder =
        folder(&[("gristmill.toml", CONFIG.as_bytes()), ("new.out", &profile("callgrind-3.19.0", &BASE))]);
    let output = run_in(folder.path(), &["gate", "bless"]);
    assert_eq!((code(&output), stdout(&output).as_str()), (0, ""), "{}", stderr(&output));
    folder
}

fn measure(folder: &Path, functions: &[(&str, u64, u64)], arguments: &[&str]) -> Output {
    std::fs::write(folder.join("new.out"), profile("callgrind-3.19.0", functions)).unwrap();
    run_in(folder, &[&["gate", "run"], arguments].concat())
}

#[test]
fn the_baseline_is_sorted_text_and_ignored_functions_are_not_in_it() {
    let folder = blessed();
    let text = std::fs::read_to_string(folder.path().join("gristmill-baseline.toml")).unwrap();
    golden("gate-baseline", &text);
    let output = run_in(folder.path(), &["gate", "run"]);
    assert_eq!(code(&output), 0, "{}", stdout(&output));
    // A second time changes nothing.
    assert_eq!(code(&run_in(folder.path(), &["gate", "bless"])), 0);
    assert_eq!(std::fs::read_to_string(folder.path().join("gristmill-baseline.toml")).unwrap(), text);
}

#[test]
fn verdicts() {
    let folder = blessed();
    let with = |changes: &[(&'static str, u64, u64)]| {
        let mut functions = BASE.to_vec();
        for change in changes {
            functions.retain(|(name, ..)| name != &change.0);
            functions.push(*change);
        }
        functions
    };
    for (name, functions, expected) in [
        ("within", with(&[("main", 150, 10)]), 0),
        ("ignored", with(&[("__libc_start", 99_999, 99)]), 0),
        ("advice", with(&[("main", 100, 900)]), 0),
        ("over", with(&[("main", 300, 10), ("sieve", 70, 5), ("tiny", 0, 0), ("mite", 5, 0)]), 1),
        ("part-over", with(&[("stone1", 4900, 500), ("stone2", 4111, 400)]), 1),
        ("less", with(&[("stone1", 1000, 500)]), 0),
    ] {
        let output = measure(folder.path(), &functions, &[]);
        assert_eq!(code(&output), expected, "{name}: {}", stdout(&output));
        golden(&format!("gate-{name}"), &stdout(&output));
    }
}

#[test]
fn unknown_outcomes_have_a_reason() {
    let folder = blessed();
    let baseline = std::fs::read(folder.path().join("gristmill-baseline.toml")).unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
    let other = profile("callgrind-3.23.0", &BASE);
    for (bytes, message) in [
        (&b""[..], "new.out: the file is empty"),
        (b"{}", "new.out: "),
        (b"events: Ir\nfn=f\n1 x\n", "new.out:3:3: expected a cost"),
        (
            b"events: Ir\nfn=f\n1 5\ntotals: 6\n",
            "new.out: costs are missing: it states 6 Ir, its lines have 5",
        ),
        (b"events: Dr\nfn=f\n1 5\n", "tool: callgrind-3.19.0 in the baseline, none now"),
        (&other, "tool: callgrind-3.19.0 in the baseline, callgrind-3.23.0 now"),
    ] {
        write("new.out", bytes);
        let output = run_in(folder.path(), &["gate", "run"]);
        assert_eq!(code(&output), 2, "{message}: {}", stdout(&output));
        assert!(stdout(&output).contains(message), "{message}: {}", stdout(&output));
        if bytes != other {
            let output = run_in(folder.path(), &["gate", "bless"]);
            assert_eq!(code(&output), 2, "{}", stderr(&output));
        }
    }
    // `--allow-unlike` compares anyway.
    let output = run_in(folder.path(), &["gate", "run", "--allow-unlike"]);
    assert_eq!(code(&output), 0, "{}", stdout(&output));

    std::fs::remove_file(folder.path().join("new.out")).unwrap();
    let output = run_in(folder.path(), &["gate", "run"]);
    assert_eq!(code(&output), 2);
    assert!(stdout(&output).contains("new.out: no such file"), "{}", stdout(&output));
    assert_eq!(code(&run_in(folder.path(), &["gate", "bless"])), 2);
    assert_eq!(std::fs::read(folder.path().join("gristmill-baseline.toml")).unwrap(), baseline);
    // No other file is left.
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);

    write("new.out", &profile("callgrind-3.19.0", &BASE));
    std::fs::remove_file(folder.path().join("gristmill-baseline.toml")).unwrap();
    let output = run_in(folder.path(), &["gate", "run"]);
    assert_eq!(code(&output), 2);
    assert!(stdout(&output).contains("`gristmill gate bless` adds it"), "{}", stdout(&output));
    for (baseline, message) in [
        (
            &b"version = 2\n[benchmark.a]\nevents = [\"Ir\"]\ntotal = [1, 2]\nlisted_from = [0]\n"[..],
            "as long as its",
        ),
        (b"version = 1\n", "the version is 1"),
        (b"version = 2\nnonsense\n", "gristmill-baseline.toml:2:"),
    ] {
        write("gristmill-baseline.toml", baseline);
        let output = run_in(folder.path(), &["gate", "run"]);
        assert_eq!(code(&output), 2);
        assert!(stderr(&output).contains(message), "{}", stderr(&output));
        // A baseline that cannot be read is not overwritten.
        assert_eq!(code(&run_in(folder.path(), &["gate", "bless"])), 2);
        assert_eq!(std::fs::read(folder.path().join("gristmill-baseline.toml")).unwrap(), baseline);
    }
}

#[test]
fn mistakes_in_the_configuration_have_their_line() {
    let folder = folder(&[("gristmill.toml", b"[gate]\nincrease = \"a lot\"\n")]);
    let output = run_in(folder.path(), &["gate", "run"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("gristmill.toml:2: `a lot`: an increase is"), "{}", stderr(&output));
    let output = run_in(folder.path(), &["gate", "run", "--config", "missing.toml"]);
    assert_eq!(code(&output), 2);
    assert_eq!(
        stderr(&output),
        "gristmill: missing.toml: no such file\n  hint: write a first one with `gristmill gate init`\n"
    );
    std::fs::write(folder.path().join("gristmill.toml"), CONFIG).unwrap();
    let output = run_in(folder.path(), &["gate", "run", "mill"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("there is no benchmark `mill`"), "{}", stderr(&output));
    let output = run_in(folder.path(), &["gate", "noise"]);
    assert_eq!(
        (code(&output), stderr(&output).contains("new.out: no such file")),
        (2, true),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_first_configuration_can_be_read_and_is_not_overwritten() {
    let folder = folder(&[]);
    let output = run_in(folder.path(), &["gate", "init", "bin/a b", "--quick"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let text = std::fs::read_to_string(folder.path().join("gristmill.toml")).unwrap();
    assert!(text.contains("command = [\"bin/a b\", \"--quick\"]"), "{text}");
    let output = run_in(folder.path(), &["gate", "init"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("gristmill.toml: exists already"), "{}", stderr(&output));
    // Nothing is known of its functions, so none has a budget.
    assert!(text.contains("# function = \"^main$\"\n"), "{text}");
    // It is read; only the program to record is missing.
    let output = run_in(folder.path(), &["gate", "run"]);
    assert_eq!(code(&output), 2);
    assert!(stdout(&output).contains("first: not determined"), "{}", stdout(&output));
}

/// The elements of JUnit's XML as other programs expect them: name, parent, required and optional attributes.
const JUNIT: [(&str, &str, &[&str], &[&str]); 6] = [
    ("testsuites", "", &[], &["name", "tests", "failures", "errors", "time"]),
    ("testsuite", "testsuites", &["name", "tests"], &["failures", "errors", "skipped", "time", "timestamp"]),
    ("testcase", "testsuite", &["name", "classname"], &["time"]),
    ("failure", "testcase", &["message"], &["type"]),
    ("error", "testcase", &["message"], &["type"]),
    ("system-out", "testcase", &[], &[]),
];

fn assert_junit(xml: &str) -> (usize, usize, usize) {
    let document = roxmltree::Document::parse(xml).unwrap_or_else(|error| panic!("{error}: {xml}"));
    let number =
        |node: &roxmltree::Node<'_, '_>, name| node.attribute(name).unwrap().parse::<usize>().unwrap();
    for node in document.descendants().filter(roxmltree::Node::is_element) {
        let name = node.tag_name().name();
        let (_, parent, must, may) =
            JUNIT.iter().find(|row| row.0 == name).unwrap_or_else(|| panic!("{name}"));
        let above = node.parent_element().map_or("", |parent| parent.tag_name().name());
        assert_eq!(above, *parent, "{xml}");
        assert!(must.iter().all(|attribute| node.has_attribute(*attribute)), "{xml}");
        let known = |attribute: &str| must.contains(&attribute) || may.contains(&attribute);
        assert!(node.attributes().all(|attribute| known(attribute.name())), "{xml}");
        if ["testsuites", "testsuite"].contains(&name) {
            let count = |tag| node.descendants().filter(|node| node.has_tag_name(tag)).count();
            let counts = ["testcase", "failure", "error"].map(count);
            assert_eq!(["tests", "failures", "errors"].map(|name| number(&node, name)), counts, "{xml}");
        }
    }
    let all = document.root_element();
    (number(&all, "tests"), number(&all, "failures"), number(&all, "errors"))
}

fn assert_github(text: &str) {
    let command =
        regex::Regex::new("^::(error|warning|notice) file=[^:,]+,line=[1-9][0-9]*,title=[^:,]+::[^\r]+$")
            .unwrap();
    let (last, annotations) =
        text.lines().collect::<Vec<_>>().split_last().map(|(l, a)| (*l, a.to_vec())).unwrap();
    assert!(annotations.iter().all(|line| command.is_match(line)), "{text}");
    assert!(!last.starts_with("::"), "{text}");
}

#[test]
fn formats_fit_their_schemas() {
    let folder = blessed();
    let mut worse = BASE.to_vec();
    worse[0] = ("main", 400, 900);
    worse.push(("<evil> & \"name\", 50%: ::error::\u{7}", 300, 0));
    let config = format!(
        "{CONFIG}\n[[benchmark]]\nname = \"miss, ing: 5%\"\nprofile = \"missing\"\n\
         [[benchmark]]\nname = \"new\"\nprofile = \"new.out\"\n"
    );
    for (functions, config, expected) in
        [(BASE.to_vec(), CONFIG, 0), (worse.clone(), CONFIG, 1), (worse, config.as_str(), 2)]
    {
        std::fs::write(folder.path().join("gristmill.toml"), config).unwrap();
        let verdict = |format| {
            let output = measure(folder.path(), &functions, &["--format", format]);
            assert_eq!(code(&output), expected, "{format}: {}", stdout(&output));
            output
        };
        let value = json(&verdict("json"));
        assert_valid(&schema("gate.schema.json"), &value, "gate");
        assert_eq!(value["outcome"], ["within", "over", "unknown"][usize::try_from(expected).unwrap()]);

        let (tests, failures, errors) = assert_junit(&stdout(&verdict("junit")));
        let budgets: Vec<&Value> = value["benchmarks"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|benchmark| benchmark["budgets"].as_array().unwrap())
            .collect();
        let lost =
            value["benchmarks"].as_array().unwrap().iter().filter(|one| one.get("failure").is_some()).count();
        let count = |outcome| budgets.iter().filter(|budget| budget["outcome"] == outcome).count();
        assert_eq!((tests, failures, errors), (budgets.len() + lost, count("over"), count("unknown") + lost));

        let sarif = json(&verdict("sarif"));
        sarif_schemas().iter().for_each(|schema| assert_valid(schema, &sarif, "gate"));
        let results = sarif["runs"][0]["results"].as_array().unwrap().len();
        assert_eq!(results, budgets.iter().filter(|budget| budget["outcome"] != "within").count() + lost);

        assert_github(&stdout(&verdict("github")));
        let markdown = stdout(&verdict("markdown"));
        assert!(!markdown.contains("<evil>"), "{markdown}");
        if expected == 1 {
            golden("gate-markdown", &markdown);
        }
    }
}

#[test]
fn one_run_may_be_written_in_several_formats() {
    let folder = blessed();
    let arguments =
        ["-o", "verdict.md", "--format", "markdown", "--also", "junit=gate.xml", "--also", "json=gate.json"];
    let output = measure(folder.path(), &BASE, &arguments);
    assert_eq!((code(&output), stdout(&output).as_str()), (0, ""), "{}", stderr(&output));
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert!(read("verdict.md").starts_with("### "));
    assert_eq!(assert_junit(&read("gate.xml")).1, 0);
    assert!(read("gate.json").contains("\"outcome\":\"within\""));
    // The next run writes them again.
    assert_eq!(code(&measure(folder.path(), &BASE, &arguments)), 0);
    assert_eq!(code(&measure(folder.path(), &BASE, &["--also", "html=x"])), 2);
}

#[test]
fn what_the_gate_reads_is_not_overwritten() {
    let folder = blessed();
    let at = |name: &str| folder.path().join(name);
    std::fs::create_dir(at("profiles")).unwrap();
    std::fs::copy(at("new.out"), at("profiles/grind.callgrind")).unwrap();
    let own = CONFIG.replace("new.out", "profiles/grind.callgrind");
    std::fs::write(at("own.toml"), own).unwrap();
    let inputs =
        ["gristmill.toml", "gristmill-baseline.toml", "new.out", "own.toml", "profiles/grind.callgrind"];
    let texts = || inputs.map(|name| std::fs::read(at(name)).unwrap());
    let before = texts();
    let read = "is one of the files that the gate reads, and was not changed";
    for (arguments, named, reason) in [
        (&["run", "-o", "gristmill.toml"][..], "gristmill.toml", read),
        (&["run", "--also", "json=./gristmill-baseline.toml"], "./gristmill-baseline.toml", read),
        (&["run", "--also", "json=new.out"], "new.out", read),
        (&["run", "-o", "x", "--also", "json=./x"], "./x", "two outputs would be written to it"),
        (&["run", "--config", "own.toml", "--keep", "profiles"], "profiles/grind.callgrind", read),
        (&["bless", "--config", "own.toml", "--keep", "profiles"], "profiles/grind.callgrind", read),
    ] {
        let output = run_in(folder.path(), &[&["gate"], arguments].concat());
        assert_eq!((code(&output), stdout(&output).as_str()), (2, ""), "{arguments:?}");
        let expected = format!("gristmill: {named}: {reason}\n");
        assert!(stderr(&output).starts_with(&expected), "{arguments:?}: {}", stderr(&output));
    }
    assert!(!at("x").exists());
    assert_eq!(texts(), before);
}

#[test]
fn one_folder_may_have_the_profiles_of_the_base_and_get_the_new_ones() {
    let folder = blessed();
    assert_eq!(code(&run_in(folder.path(), &["gate", "bless", "--keep", "profiles"])), 0);
    let mut slower = BASE;
    slower[1].1 *= 2;
    let arguments = ["--against", "profiles", "--keep", "profiles"];
    let output = measure(folder.path(), &slower, &arguments);
    assert_eq!(code(&output), 1, "{}", stderr(&output));
    assert!(stdout(&output).contains("reasons:"), "{}", stdout(&output));
    // Now the new profile is the base.
    let output = measure(folder.path(), &slower, &arguments);
    assert!(!stdout(&output).contains("reasons:"), "{}", stdout(&output));
}

#[test]
fn memory_does_not_grow_with_the_count_of_runs() {
    let names: Vec<String> = (0..4000 / one_in(2)).map(|id| format!("function_{id}")).collect();
    let functions: Vec<(&str, u64, u64)> = names.iter().map(|name| (name.as_str(), 1, 1)).collect();
    let text = profile("callgrind-3.19.0", &functions);
    let config = b"[[benchmark]]\nname = \"a\"\nprofile = \"new.out\"\n";
    let folder = folder(&[("gristmill.toml", config), ("new.out", &text)]);
    let config = folder.path().join("gristmill.toml");
    let with_runs = |count: &str| {
        let (output, peak) =
            run_measured(&["gate", "noise", "--config", config.to_str().unwrap(), "--runs", count]);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        peak
    };
    let (Some(few), Some(many)) = (with_runs("2"), with_runs("20")) else { return };
    assert!(many < few + (10 << 20), "{few} and {many} bytes");
}

/// `true` if the programs are installed that a recording needs.
fn can_record() -> bool {
    cfg!(unix) && has(&["valgrind", "cargo"])
}

#[test]
fn a_function_that_was_made_slower_is_named() {
    if !can_record() {
        return;
    }
    let example = root().join("examples/gate");
    let folder = folder(&[]);
    std::fs::create_dir(folder.path().join("src")).unwrap();
    for file in ["Cargo.toml", "gristmill.toml", "src/main.rs"] {
        std::fs::copy(example.join(file), folder.path().join(file)).unwrap();
    }
    let gate = |arguments: &[&str]| {
        let mut command = gristmill(&[&["gate"], arguments].concat());
        // The configuration names the path of the program.
        command.current_dir(folder.path()).env_remove("CARGO_TARGET_DIR").env_remove("RUSTFLAGS");
        command.output().unwrap()
    };
    let output = gate(&["bless"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let output = gate(&["run", "--keep", "."]);
    assert_eq!(code(&output), 0, "{}", stdout(&output));
    let output = gate(&["noise", "--runs", "2"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));

    let source = folder.path().join("src/main.rs");
    let text = std::fs::read_to_string(&source).unwrap();
    let slower = text.replace("grain * grain..=limit", "2 * grain..=limit");
    assert_ne!(text, slower);
    std::fs::write(&source, slower).unwrap();
    let output = gate(&["run", "--format", "json", "--also", "github=github.txt", "--against", "."]);
    assert_eq!(code(&output), 1, "{}", stdout(&output));
    let value = json(&output);
    for budget in value["benchmarks"][0]["budgets"].as_array().unwrap() {
        assert_eq!(budget["outcome"], "over", "{budget}");
        assert_eq!(budget["functions"][0]["name"], "millstone::sieve", "{budget}");
        assert_eq!(budget["functions"][0]["file"], "src/main.rs", "{budget}");
        if budget["subject"] == "total" {
            // The profile of the base tells more than the baseline.
            let reason = &budget["reasons"][0];
            assert!(reason["text"].as_str().unwrap().contains("millstone::sieve"), "{budget}");
            assert_eq!(reason["effect"], budget["functions"][0]["delta"], "{budget}");
        }
    }
    // The annotation is beside the source line.
    let annotations = std::fs::read_to_string(folder.path().join("github.txt")).unwrap();
    assert!(annotations.starts_with("::error file=src/main.rs,line="), "{annotations}");
    assert!(annotations.contains("millstone::sieve"), "{annotations}");
    // Without a profile of the base there is a note, and the verdict is the same.
    let output = gate(&["run", "--against", "src"]);
    assert_eq!(code(&output), 1);
    assert!(stdout(&output).contains("no reasons: src/grind.callgrind: no such file"), "{}", stdout(&output));

    assert_eq!(code(&gate(&["bless"])), 0);
    let output = gate(&["run"]);
    assert_eq!(code(&output), 0, "{}", stdout(&output));
}

#[test]
fn failed_recordings_have_a_reason() {
    if !can_record() {
        return;
    }
    let folder = folder(&[]);
    for (benchmark, message) in [
        ("command = \"./missing\"", "`./missing` does not exist"),
        ("command = \"false\"", "`false` ended with exit status: 1"),
        ("command = \"true\"\nsetup = [\"false\"]", "setup `false` ended with exit status: 1"),
        ("command = \"true\"\nsetup = [\"./missing\"]", "setup `./missing` could not be run"),
        ("command = \"sleep 60\"", "`sleep 60` took longer than 1 seconds"),
        ("command = \"true\"\noptions = [\"--no-such-option\"]", "ended with exit status: 1"),
    ] {
        let timeout = if benchmark.contains("sleep") { 1 } else { 60 };
        let config = format!("[gate]\ntimeout = {timeout}\n[[benchmark]]\nname = \"a\"\n{benchmark}\n");
        std::fs::write(folder.path().join("gristmill.toml"), config).unwrap();
        let output = run_in(folder.path(), &["gate", "run"]);
        assert_eq!(code(&output), 2, "{benchmark}: {}", stdout(&output));
        assert!(stdout(&output).contains(message), "{benchmark}: {}", stdout(&output));
    }
    let config = "[gate]\nvalgrind = \"no-such-valgrind\"\n[[benchmark]]\nname = \"a\"\ncommand = \"true\"\n";
    std::fs::write(folder.path().join("gristmill.toml"), config).unwrap();
    let output = run_in(folder.path(), &["gate", "run"]);
    assert!(stdout(&output).contains("no-such-valgrind was not found on the path"), "{}", stdout(&output));
}

#[test]
fn several_runs_and_processes_and_caches_are_recorded() {
    if !can_record() {
        return;
    }
    let config = "[gate]\nadvise = [\"D1mr\"]\n[[benchmark]]\nname = \"a\"\nruns = 2\ncommand = [\"sh\", \"-c\", \"true & /bin/true\"]\n\
                  options = [\"--cache-sim=yes\", \"--trace-children=yes\"]\nenvironment = { A = \"1\" }\n";
    let folder = folder(&[("gristmill.toml", config.as_bytes())]);
    let output = run_in(folder.path(), &["gate", "bless"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let text = std::fs::read_to_string(folder.path().join("gristmill-baseline.toml")).unwrap();
    assert!(text.contains("\"LL cache\" = \"8388608 B, 64 B, 16-way associative\""), "{text}");
    let output = run_in(folder.path(), &["gate", "run", "--keep", "."]);
    assert!([0, 1].contains(&code(&output)), "{}", stdout(&output));
    assert_eq!(code(&run_in(folder.path(), &["lint", "a.callgrind"])), 0);
}

#[test]
fn commands_that_accept_costs_at_once_lose_none() {
    const COUNT: usize = 16;
    let folder = folder(&[]);
    let mut config = "[gate]\n".to_owned();
    for index in 0..COUNT {
        let name = format!("p{index}.out");
        config += &format!("[[benchmark]]\nname = \"b{index}\"\nprofile = \"{name}\"\nallow_old = true\n");
        let text = format!("events: Ir\nfl=a.c\nfn=main\n1 {}\n", 1000 + index);
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    std::fs::write(folder.path().join("gristmill.toml"), &config).unwrap();
    // Another configuration with the same baseline.
    std::fs::write(folder.path().join("other.toml"), &config).unwrap();
    let accept = |name: &str, config: &str| gristmill(&["gate", "bless", name, "--config", config]);
    for _ in 0..3 {
        assert_eq!(code(&accept("b0", "gristmill.toml").current_dir(folder.path()).output().unwrap()), 0);
        let commands = (1..COUNT).map(|index| {
            let config = if index % 2 == 0 { "gristmill.toml" } else { "other.toml" };
            let mut command = accept(&format!("b{index}"), config);
            command.current_dir(folder.path()).stderr(std::process::Stdio::null()).spawn().unwrap()
        });
        for mut command in commands.collect::<Vec<_>>() {
            assert!(command.wait().unwrap().success());
        }
        let path = folder.path().join("gristmill-baseline.toml");
        let text = std::fs::read_to_string(&path).unwrap();
        for index in 0..COUNT {
            assert!(text.contains(&format!("total = [{}]", 1000 + index)), "{index}: {text}");
        }
        std::fs::remove_file(path).unwrap();
    }
    let left = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(left, COUNT + 2, "only the profiles and the configurations are left");
}
