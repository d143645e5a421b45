//! Nothing in a file makes a command take memory out of proportion, panic, or write control characters.
//!
//! The command lines come from the definition of the arguments, so a new command or option is tested by itself.

// Tests may panic: that is how they fail. Clippy knows that of test functions, but not of what they share.
#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used, clippy::print_stdout)]
#![cfg(test)]

#[path = "hostile/budgets.rs"]
mod budgets;
mod harness;
#[path = "hostile/joined.rs"]
mod joined;
#[path = "hostile/shapes.rs"]
mod shapes;

use std::ffi::OsString;
use std::num::NonZero;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;

use gristmill_cli::in_process::{Outcome, command_lines, run};
use peak_alloc::PeakAlloc;

use budgets::allowed;
use harness::{folder, one_in, small_files};
use joined::Joined;
use shapes::SHAPES;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Memory is measured for the whole process, so one test at a time.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn shown(words: &[OsString]) -> String {
    words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// Other options are tried with one shape in this many.
const SHAPES_PER_OPTION: usize = 5;

/// Runs all commands in all formats on a file, and a share of their other options; checks what each gives.
fn attack(what: &str, nth: usize, path: &Path, size: usize) {
    let is_tried = |index: usize, words: &[OsString]| {
        let is_plain = words.iter().all(|word| {
            let word = word.to_string_lossy();
            // Without this, merge refuses what looks cut off.
            !word.starts_with("--") || word.starts_with("--format") || word == "--allow-damaged"
        });
        is_plain || (index + nth).is_multiple_of(SHAPES_PER_OPTION)
    };
    let lines = command_lines([path, path]).into_iter().enumerate();
    for words in lines.filter(|(index, words)| is_tried(*index, words)).map(|(_, words)| words) {
        attack_with(what, &words, &[(path, size)]);
    }
}

/// Runs a command on files with these sizes, and checks what it gives and the memory that it takes.
fn attack_with(what: &str, words: &[OsString], files: &[(&Path, usize)]) {
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage();
    let outcome = run(words.iter().cloned());
    // What is printed goes to a pipe; here it is kept.
    let kept = 2 * (outcome.stdout.capacity() + outcome.stderr.capacity());
    let used = MEMORY.peak_usage() - before;
    let case = format!("{what}: {}", shown(words));
    assert!(outcome.status <= 2, "{case}: {}", outcome.status);
    let size_of = |word: &OsString| {
        let word = word.to_string_lossy();
        let is_it = |path: &Path| word.trim_start_matches("--base=") == path.to_string_lossy();
        files.iter().find(|(path, _)| is_it(path)).map_or(0, |(_, size)| *size)
    };
    let size = words.iter().map(size_of).sum();
    let allowed = allowed(&words[0].to_string_lossy(), size).expect("a row in docs/limits.md");
    assert!(used <= allowed + kept, "{case}: {used} bytes for {size}");
    check_output(&case, words, &outcome);
}

fn check_output(case: &str, words: &[OsString], outcome: &Outcome) {
    let is_json = words.iter().any(|word| {
        word == "--format=json" || word == "--format=sarif" || word.to_string_lossy().starts_with("--answer=")
    });
    // One that would be too long ends somewhere, and says so.
    let is_cut = String::from_utf8_lossy(&outcome.stderr).contains("the report is not complete");
    if is_json && !outcome.stdout.is_empty() && !is_cut {
        let json: Result<serde_json::Value, _> = serde_json::from_slice(&outcome.stdout);
        assert!(json.is_ok(), "{case}: {json:?}");
    }
    let harm = harm_of(words, outcome);
    assert!(harm.is_none(), "{case}: {harm:?}");
}

/// Returns where a command prints what it must not print.
fn harm_of(words: &[OsString], outcome: &Outcome) -> Option<String> {
    let stdout = if prints_a_profile(words) { &[][..] } else { &outcome.stdout };
    harm_in(stdout).or_else(|| harm_in(&outcome.stderr))
}

/// `true` for commands whose output is a profile, which goes to a pipe byte for byte.
fn prints_a_profile(words: &[OsString]) -> bool {
    words[0] == "rewrite" || words[0] == "merge" || words.iter().any(|word| word == "--format=callgrind")
}

/// Finds a character that controls a terminal, or reorders or hides text, and returns the text before it. Finds a line that
/// a service would take for a command as well.
fn harm_in(output: &[u8]) -> Option<String> {
    let text = match std::str::from_utf8(output) {
        Ok(text) => text,
        Err(error) => return Some(error.to_string()),
    };
    let is_harmful = |character: char| match character {
        '\t' | '\n' => false,
        '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => true,
        '\u{feff}' | '\u{e0000}'..='\u{e007f}' => true,
        character => character.is_control(),
    };
    let is_command = |line: &&str| {
        line.trim_start().starts_with("::add-mask")
            || line.contains("##[add-mask]")
            || line.contains("##vso[")
    };
    if let Some(line) = text.lines().find(is_command) {
        return Some(format!("a command: {line}"));
    }
    let (at, character) = text.char_indices().find(|&(_, character)| is_harmful(character))?;
    let start = text[..at].char_indices().rev().nth(100).map_or(0, |(start, _)| start);
    Some(format!("{character:?} after {:?}", &text[start..at]))
}

/// The part of the shapes that a process has, as its number and the count of them. Memory is measured for a process, and one alone would
/// leave the other processors idle.
const PART: &str = "GRISTMILL_PART_OF_SHAPES";

#[test]
fn memory_is_in_proportion_to_the_input() {
    if let Some(part) = std::env::var_os(PART) {
        let numbers: Vec<usize> =
            part.to_str().unwrap().split('/').map(|number| number.parse().unwrap()).collect();
        return attack_with_shapes(numbers[0], numbers[1]);
    }
    let count = std::thread::available_parallelism().map_or(1, NonZero::get);
    let test = std::thread::current().name().unwrap().to_owned();
    let parts = (0..count).map(|part| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", &test]).env(PART, format!("{part}/{count}"));
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    });
    for part in parts.collect::<Vec<_>>() {
        let output = part.wait_with_output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&said));
    }
}

fn attack_with_shapes(part: usize, count: usize) {
    let shapes = SHAPES.iter().enumerate().step_by(one_in(18)).skip(part).step_by(count);
    for (nth, shape) in shapes {
        let text = shape.text(shape.count);
        let folder = folder(&[("callgrind.out.1", text.as_bytes())]);
        attack(shape.name, nth, &folder.path().join("callgrind.out.1"), text.len());
    }
}

/// A path that is as long as all lines of its file together is not in memory for each of them.
/// Pairs of profiles of several shapes, and the commands for each. `cargo xtask bench joined` and the fuzz target of the program try very many.
const JOINED: u64 = 16;
const COMMANDS_FOR_JOINED: usize = 8;

#[test]
fn shapes_and_options_together_take_limited_memory() {
    let _alone = ONE_AT_A_TIME.lock().unwrap();
    for nth in 0..JOINED {
        let mut state = nth;
        let mut draw = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(state >> 33).unwrap() % below
        };
        let [base, new] = [(); 2].map(|()| Joined::draw(1, &mut draw));
        let folder = folder(&[("base", base.text.as_bytes()), ("new", new.text.as_bytes())]);
        let [one, other] = ["base", "new"].map(|name| folder.path().join(name));
        let lines = command_lines([&one, &other]);
        for _ in 0..COMMANDS_FOR_JOINED {
            let words = joined::command(&lines, &mut draw);
            let files = [(&*one, base.text.len()), (&*other, new.text.len())];
            attack_with(&format!("{} {}", base.name, new.name), &words, &files);
        }
    }
}

#[test]
fn rows_share_long_names() {
    let _alone = ONE_AT_A_TIME.lock().unwrap();
    let lines: String = (1..10_000).map(|line| format!("{line} 1\n")).collect();
    let of_lines = format!("events: Ir\nfl=/{}.c\nfn=f\n{lines}", "p".repeat(lines.len()));
    let functions: String = (0..400).map(|nth| format!("fi=(1)\nfn=f{nth}\n1 1\nfi=(2)\n2 1\n")).collect();
    let inlined =
        format!("events: Ir\nfl=(1) a.c\nfn=f\nfi=(2) /{}.c\n1 1\n{functions}", "p".repeat(400_000));
    let folder = folder(&[("lines", of_lines.as_bytes()), ("inlined", inlined.as_bytes())]);
    let [of_lines, inlined] = ["lines", "inlined"].map(|name| folder.path().join(name));
    let path = |path: &Path| OsString::from(path);
    // As CSV, only callers and callees are printed, and the text of a difference has each path once.
    for words in [
        vec!["show".into(), "--format=csv".into(), "f".into(), path(&of_lines)],
        vec!["diff".into(), "--function=f".into(), path(&of_lines), path(&of_lines)],
        vec!["annotate".into(), "--style=cachegrind".into(), "--output=/dev/null".into(), path(&inlined)],
    ] {
        assert_in_proportion(&words);
    }
}

/// Costs of blocks are rows with all event types, of which a tree of invocations needs those of all blocks.
#[test]
fn trees_of_invocations_ask_for_memory() {
    let _alone = ONE_AT_A_TIME.lock().unwrap();
    let shape = SHAPES.iter().find(|shape| shape.name == "events-by-blocks").unwrap();
    let folder = folder(&[("blocks", shape.text(shape.count).as_bytes())]);
    let path: OsString = folder.path().join("blocks").into();
    assert_in_proportion(&["tree".into(), path.clone()]);
    assert_in_proportion(&["diff".into(), "--tree".into(), path.clone(), path]);
}

/// Each function calls the next two, so a small file has more paths than any memory has room for.
#[test]
fn all_paths_of_a_small_file_take_limited_memory() {
    let _alone = ONE_AT_A_TIME.lock().unwrap();
    let folder = folder(&[("one", paths(300, 1).as_bytes()), ("many", paths(300, 13).as_bytes())]);
    for name in ["one", "many"] {
        let path: OsString = folder.path().join(name).into();
        for format in ["text", "json", "csv", "markdown"] {
            let words = ["tree", "-n", "0", "--min", "0", "--format", format].map(OsString::from);
            assert_in_proportion(&[&words[..], std::slice::from_ref(&path)].concat());
            let words = ["diff", "--tree", "-n", "0", "--min", "0", "--format", format].map(OsString::from);
            assert_in_proportion(&[&words[..], &[path.clone(), path.clone()]].concat());
        }
        for question in [r#"{"kind":"changes_flame","order":"name","resolution":1000}"#, TREEMAP_OF_CHANGES] {
            let answer = format!(r#"--answer={{"question":{question}}}"#);
            assert_in_proportion(&[
                "view".into(),
                answer.into(),
                path.clone(),
                "--base".into(),
                path.clone(),
            ]);
        }
    }
}

/// Rows of text are made when they are written, and as many as memory has space for.
#[test]
fn all_rows_as_text_take_limited_memory() {
    const COUNT: usize = 120_000;
    let _alone = ONE_AT_A_TIME.lock().unwrap();
    let functions: String = (0..COUNT).map(|nth| format!("fn=f{nth}\n1 5\n")).collect();
    let folder = folder(&[("functions", format!("events: Ir\nfl=x.c\n{functions}").as_bytes())]);
    let path: OsString = folder.path().join("functions").into();
    for (command, format) in [("functions", "text"), ("functions", "markdown"), ("overview", "text")] {
        let words = [command, "-n", "0", "--format", format].map(OsString::from);
        assert_in_proportion(&[&words[..], std::slice::from_ref(&path)].concat());
    }
    let outcome = run(["functions".into(), "-n".into(), "0".into(), path]);
    let text = String::from_utf8(outcome.stdout).unwrap();
    assert!(text.ends_with(" more (no memory for them; --format csv has all)\n"));
}

const TREEMAP_OF_CHANGES: &str = r#"{"kind":"changes_treemap","width":800,"height":600}"#;

/// Makes a profile in which each function calls the next two.
fn paths(count: usize, events: usize) -> String {
    let costs = |cost: usize| (1..=events).map(|nth| format!(" {}", cost * nth)).collect::<String>();
    let names: String = (0..events).map(|nth| format!(" E{nth}")).collect();
    let function = |index: usize| {
        let call = |to: usize, cost: usize| format!("cfn=f{to}\ncalls=1 1\n{index}{}\n", costs(cost));
        let (near, far) = (3 * (count - index), 2 * (count - index));
        format!("fn=f{index}\n{index}{}\n{}{}", costs(1), call(index + 1, near), call(index + 2, far))
    };
    std::iter::once(format!("events:{names}\n")).chain((0..count).map(function)).collect()
}

/// A function with many callers and callees, all of which are below each of its nodes.
#[test]
fn callees_that_cannot_be_shown_take_no_memory() {
    const COUNT: usize = 1500;
    let _alone = ONE_AT_A_TIME.lock().unwrap();
    let mut text = "events: Ir\nfn=main\n1 1\n".to_owned();
    (0..COUNT).for_each(|nth| text += &format!("cfn=c{nth}\ncalls=1 1\n1 {}\n", COUNT + 1));
    (0..COUNT).for_each(|nth| text += &format!("fn=c{nth}\n1 1\ncfn=hub\ncalls=1 1\n1 {COUNT}\n"));
    text += "fn=hub\n";
    (0..COUNT).for_each(|nth| text += &format!("cfn=d{nth}\ncalls={COUNT} 1\n1 {COUNT}\n"));
    (0..COUNT).for_each(|nth| text += &format!("fn=d{nth}\n1 {COUNT}\n"));
    let folder = folder(&[("hub", text.as_bytes())]);
    let path: OsString = folder.path().join("hub").into();
    assert_in_proportion(&["diff".into(), "--tree".into(), path.clone(), path]);
}

/// Runs a command that succeeds, within the memory that its files allow.
fn assert_in_proportion(words: &[OsString]) {
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage();
    let outcome = run(words.to_vec());
    let used = MEMORY.peak_usage() - before;
    let case = shown(words);
    assert_eq!(outcome.status, 0, "{case}: {outcome:?}");
    let files = words.iter().filter_map(|word| Path::new(word).metadata().ok());
    let size = usize::try_from(files.map(|file| file.len()).sum::<u64>()).unwrap();
    let allowed = allowed(&words[0].to_string_lossy(), size).unwrap();
    // What is printed goes to a pipe; here it is kept.
    let kept = 2 * (outcome.stdout.capacity() + outcome.stderr.capacity());
    assert!(used <= allowed + kept, "{case}: {used} bytes for {size}");
}

/// A difference in JSON or CSV has a row for each function. It takes hardly more memory than the text, which has some of them.
#[test]
fn rows_of_a_difference_are_made_when_they_are_written() {
    let _alone = ONE_AT_A_TIME.lock().unwrap();
    let functions = |prefix: &str| -> String {
        let function = |nth: u32| format!("fn={prefix}{nth}\n1 {}\n", nth + 1);
        "events: Ir\nfl=a.c\n".to_owned() + &(0..10_000).map(function).collect::<String>()
    };
    let [base, new] = [functions("u"), functions("w")];
    let folder = folder(&[("base", base.as_bytes()), ("new", new.as_bytes())]);
    let used = |format: &str| {
        let fixed = ["diff", "--no-rule=all", "--output=/dev/null", format];
        let words = fixed.iter().map(OsString::from);
        let words: Vec<OsString> =
            words.chain(["base", "new"].map(|name| folder.path().join(name).into())).collect();
        MEMORY.reset_peak_usage();
        let before = MEMORY.current_usage();
        let outcome = run(words.clone());
        assert_eq!(outcome.status, 0, "{}: {outcome:?}", shown(&words));
        MEMORY.peak_usage() - before
    };
    let text = used("--format=text");
    for format in ["--format=json", "--format=csv"] {
        let used = used(format);
        assert!(used < text + text / 10, "{format}: {used} bytes, text {text}");
    }
}

/// Runs commands that take a profile and a function, beside those of the definition.
#[test]
fn lines_end_where_numbers_end() {
    let _alone = ONE_AT_A_TIME.lock().unwrap();
    let last = u64::MAX;
    let profile = format!(
        "events: Ir Dr\nevent: Y = {last} Ir + {last} Dr\nfl=a.c\nfn=main\n1 5\n{last} 3 {last}\n\
         jump=1 {last}\n{last}\njcnd={last}/{last} {last}\n{last}\ncfn=g\ncalls={last} {last}\n{last} {last}\n\
         fi=b.h\n{last} 1\nfn=g\n{last} 9\n+1 1\n+{last} 1\n-{last} 1\n* 4\n"
    );
    let folder = folder(&[("profile", profile.as_bytes()), ("a.c", b"int x;\n")]);
    let path = folder.path().join("profile");
    let below = format!("--source-map=a.c={}", folder.path().join("a.c").display());
    let context = format!("--context={last}");
    for words in [
        &["annotate", &below, &context][..],
        &["annotate", &below, &context, "--style=cachegrind"],
        &["annotate", &below, "--jumps", "--inclusive=yes"],
        &["annotate", &below, "--format=json"],
        &["annotate", &below, "--format=html"],
        &["show", "main", "--lines=0"],
        &["diff", "--function=main", &below, path.to_str().unwrap()],
        &["diff", "--function=main", "--format=html", path.to_str().unwrap()],
        &["merge", "--mean", path.to_str().unwrap()],
    ] {
        let words: Vec<OsString> = words.iter().map(Into::into).chain([path.clone().into()]).collect();
        let outcome = run(words.clone());
        assert!(outcome.status == 0 || words[0] == "merge", "{}: {outcome:?}", shown(&words));
        check_output(&shown(&words), &words, &outcome);
    }
}

/// The width of a format string ends at 65,535.
#[test]
fn names_of_event_types_have_any_length() {
    let _alone = ONE_AT_A_TIME.lock().unwrap();
    for length in [1 << 16, 70_000] {
        let profile = format!("events: {}\nfl=a.c\nfn=main\n1 5\n", "E".repeat(length));
        let folder = folder(&[("profile", profile.as_bytes())]);
        let path = folder.path().join("profile");
        for style in ["--style=callgrind", "--style=cachegrind"] {
            let outcome = run(["annotate".into(), style.into(), path.clone().into()]);
            assert_eq!(outcome.status, 0, "{style}");
            assert!(outcome.stdout.ends_with(b"\n"), "{style}");
        }
    }
}

/// All commands with all of their options.
#[test]
fn no_control_character_is_printed() {
    let _alone = ONE_AT_A_TIME.lock().unwrap();
    let shapes = SHAPES.iter().filter(|shape| matches!(shape.name, "terminal-controls" | "log-commands"));
    for text in shapes.map(|shape| shape.text(3)) {
        let folder = folder(&[("callgrind.out.1", text.as_bytes()), ("evil.c", text.as_bytes())]);
        let path = folder.path().join("callgrind.out.1");
        let harm_of = |words: Vec<OsString>| Some((shown(&words), harm_of(&words, &run(words.clone()))?));
        let harm: Vec<_> = command_lines([&path, &path]).into_iter().filter_map(harm_of).collect();
        assert!(harm.is_empty(), "{harm:#?}");
    }
}

/// The gate prints what a configuration, a baseline and a profile say.
#[test]
fn a_gate_prints_no_control_character() {
    let _alone = ONE_AT_A_TIME.lock().unwrap();
    let evil = "\u{1b}]0;t\u{7}\u{9b}31m\u{202e}\u{7f}##[add-mask]x";
    // As a string of TOML.
    let in_toml = "\\u001b]0;t\\u0007\\u009b31m\\u202e\\u007f##[add-mask]x";
    let budget = |name: &str, pattern: &str| {
        format!("[[benchmark.budget]]\nname = \"{name}\"\nfunction = \"{pattern}\"\nincrease = \"1%\"\n")
    };
    let bench =
        |name: &str, profile: &str| format!("[[benchmark]]\nname = \"{name}\"\nprofile = \"{profile}\"\n");
    let usual = bench("a", "new.out") + &budget("f", "^f");
    let configs = [
        usual.clone(),
        bench(in_toml, "new.out") + &budget(in_toml, "^f"),
        bench("::add-mask::x", "new.out") + &budget("::add-mask::x", "^f"),
        bench("a", "new.out") + &budget("f", in_toml),
        bench("a", in_toml),
        bench("a", "missing"),
        format!("[gate]\nincrease = \"{in_toml}\"\n{usual}"),
        format!("[gate]\nevents = [\"{in_toml}\"]\n{usual}"),
        format!("{usual}\"{in_toml}\" = 1\n"),
        format!("{usual}{evil}"),
    ];
    let profile = |cost: u32| {
        let totals = cost + 5;
        format!(
            "version: 1\ncreator: callgrind-3.19.0\ncmd: {evil}\nevents: Ir\nob=/{evil}\nfl=/{evil}.c\nfn=f{evil}\n1 {cost}\n\
             cfn=::add-mask::{evil}\ncalls={cost} 1\n1 5\nfn=::add-mask::{evil}\n1 5\ntotals: {totals}\n"
        )
    };
    let mut statuses = [0; 3];
    for config in &configs {
        let folder = folder(&[("gristmill.toml", config.as_bytes()), ("new.out", profile(100).as_bytes())]);
        let path = folder.path().join("gristmill.toml");
        let gate = |command: &str, options: &[&str]| {
            let words = ["gate", command, "--config", path.to_str().unwrap()];
            let words: Vec<OsString> = words.iter().chain(options).map(Into::into).collect();
            let outcome = run(words.clone());
            check_output(config, &words, &outcome);
            outcome.status
        };
        gate("bless", &[]);
        for cost in [100, 150] {
            std::fs::write(folder.path().join("new.out"), profile(cost)).unwrap();
            for format in ["text", "markdown", "json", "junit", "sarif", "github"] {
                statuses[usize::from(gate("run", &[&format!("--format={format}")]))] += 1;
            }
        }
        gate("noise", &[]);
    }
    // Verdicts of all kinds were printed.
    assert!(statuses.iter().all(|&count| count >= 12), "{statuses:?}");
}

/// Many functions call one with a long name, or are in a file with a long path.
#[test]
fn a_gate_shares_long_names() {
    let _alone = ONE_AT_A_TIME.lock().unwrap();
    let long = "n".repeat(200_000);
    let call = |nth: usize| format!("fn=f{nth}\n1 1\ncfn=(1)\ncalls=1 1\n1 1\n");
    let calls: String = (0..1000).map(call).collect();
    let callee = format!("version: 1\nevents: Ir\nfl=a.c\nfn=(1) {long}\n1 1\n{calls}");
    let path = format!("version: 1\nevents: Ir\nfl={long}\n{calls}").replace("cfn=(1)", "cfn=g");
    let config = "[[benchmark]]\nname = \"a\"\nprofile = \"new.out\"\n";
    for (profile, status) in [(callee, 0), (path, 2)] {
        let folder = folder(&[("gristmill.toml", config.as_bytes()), ("new.out", profile.as_bytes())]);
        let path = folder.path().join("gristmill.toml");
        MEMORY.reset_peak_usage();
        let before = MEMORY.current_usage();
        let outcome = run(["gate".into(), "bless".into(), "--config".into(), path.into()]);
        let used = MEMORY.peak_usage() - before;
        assert_eq!(outcome.status, status, "{outcome:?}");
        let allowed = allowed("functions", profile.len()).unwrap();
        assert!(used <= allowed, "{used} bytes for {}", profile.len());
    }
}

#[test]
fn broken_files_of_another_corpus_are_read_in_proportion() {
    let _alone = ONE_AT_A_TIME.lock().unwrap();
    let broken = small_files().into_iter().filter(|path| path.to_string_lossy().contains("malformed"));
    for (nth, path) in broken.enumerate() {
        let size = usize::try_from(path.metadata().unwrap().len()).unwrap();
        // Compressed files expand.
        let size = if path.extension().is_some_and(|ending| ending == "gz") { 100 * size } else { size };
        attack(&path.display().to_string(), nth, &path, size);
    }
}

/// A test of command lines that the program does not accept would test nothing.
#[test]
fn command_lines_are_accepted() {
    let _alone = ONE_AT_A_TIME.lock().unwrap();
    let profile = "# callgrind format\nversion: 1\ncreator: callgrind-3.19.0\npid: 1\ncmd: ./a\npart: 1\nthread: 1\n\
                   positions: instr line\nevents: Ir\nob=/a\nfl=a.c\nfn=main\n0x10 1 5\ncfn=a\ncalls=1 0x20 1\n0x11 1 5\n\
                   fn=a\n0x20 1 5\ntotals: 10\n";
    let folder = folder(&[("callgrind.out.1", profile.as_bytes())]);
    let path = folder.path().join("callgrind.out.1");
    let refusal_of = |words: Vec<OsString>| {
        let outcome = run(words.clone());
        let says_that_nothing_was_asked = words.iter().any(|word| word == "--debuginfod");
        let is_refused = outcome.status == 2 && !says_that_nothing_was_asked;
        is_refused.then(|| format!("{}\n{}", shown(&words), String::from_utf8_lossy(&outcome.stderr)))
    };
    let refusals: Vec<_> = command_lines([&path, &path]).into_iter().filter_map(refusal_of).collect();
    assert!(refusals.is_empty(), "{}", refusals.join("\n"));
}
