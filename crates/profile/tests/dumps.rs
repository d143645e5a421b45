//! Recordings with dumps or threads: the costs of each line are those of the same run without them.
//!
//! Callgrind names the file of a call that went on when a dump was made, and returns from it without a word. The programs
//! in `dumps/` make such calls from inlined code. Without Valgrind and a C compiler the test says that it was skipped; with
//! `GRISTMILL_CI` set it fails.

// Tests may panic: that is how they fail. Clippy knows that of test functions, but not of what they share.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]
#![cfg(test)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use gristmill_format::{Cost, NameStyle, PositionStyle, Rewrite};
use gristmill_profile::{BlockLine, DamageKind, FunctionId, Input, Place, Profile};

/// The way in which the dumps of a recording are made.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Dumps {
    /// By these options of Callgrind.
    Options(&'static [&'static str]),
    /// By the program itself.
    Request,
    /// By `callgrind_control`, while the program runs.
    Control,
}

/// A program, its argument, options that shape the file in both recordings, and the dumps of one of them.
type Case = (&'static str, &'static str, &'static [&'static str], Dumps);

const COMBINED: &str = "--combine-dumps=yes";
const AT_MARKS: &str = "--dump-before=mark";
const THREADS: &str = "--separate-threads=yes";
const ADDRESSES: &str = "--dump-instr=yes";
const JUMPS: &str = "--collect-jumps=yes";

const CASES: [Case; 18] = [
    ("calls", "5", &[], Dumps::Options(&[AT_MARKS, COMBINED])),
    ("calls", "4", &[], Dumps::Options(&[AT_MARKS])),
    ("calls", "5", &[ADDRESSES], Dumps::Options(&["--dump-after=helper", COMBINED])),
    ("calls", "4", &[ADDRESSES, JUMPS], Dumps::Options(&[AT_MARKS, COMBINED])),
    ("calls", "4", &["--compress-pos=no", "--compress-strings=no"], Dumps::Options(&[AT_MARKS, COMBINED])),
    ("calls", "9000", &[], Dumps::Options(&["--dump-every-bb=100000", COMBINED])),
    ("calls", "9000", &[ADDRESSES, JUMPS], Dumps::Options(&["--dump-every-bb=130000"])),
    ("calls", "9", &[], Dumps::Request),
    ("calls", "30000", &[], Dumps::Control),
    ("deep", "10", &[], Dumps::Options(&[AT_MARKS, COMBINED])),
    ("deep", "7", &[ADDRESSES], Dumps::Options(&[AT_MARKS, "--dump-after=leaf", COMBINED])),
    ("deep", "8", &[JUMPS, "--separate-recs=3"], Dumps::Options(&[AT_MARKS, COMBINED])),
    ("crew", "900", &[], Dumps::Options(&[THREADS])),
    ("crew", "20", &[ADDRESSES], Dumps::Options(&[THREADS, AT_MARKS, COMBINED])),
    ("crew", "900", &[], Dumps::Options(&[THREADS, "--dump-every-bb=90000"])),
    ("crew", "25", &[JUMPS], Dumps::Options(&[AT_MARKS, COMBINED])),
    ("signals", "12", &[], Dumps::Options(&[AT_MARKS, COMBINED])),
    ("signals", "7", &[ADDRESSES], Dumps::Options(&[AT_MARKS])),
];

/// Runs a command that should succeed.
fn run(command: &mut Command) -> Result<(), String> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        Ok(())
    } else {
        Err(format!("{command:?}: {}: {}", output.status, String::from_utf8_lossy(&output.stderr)))
    }
}

/// Builds the programs in a folder.
fn build() -> Result<PathBuf, String> {
    run(Command::new("valgrind").arg("--version"))?;
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("dumps");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/dumps");
    for (program, more) in [("calls", &["other.c"][..]), ("deep", &[]), ("crew", &[]), ("signals", &[])] {
        let mut command = Command::new("cc");
        command.current_dir(&sources).args(["-O1", "-g", "-pthread", "-o"]).arg(folder.join(program));
        run(command.arg(format!("{program}.c")).arg("mark.c").args(more))?;
    }
    Ok(folder)
}

/// The command that records a program into a folder of its own.
fn recorder(folder: &Path, name: &str, case: &Case, options: &[&str]) -> Command {
    let (program, argument, shape, _) = case;
    let own = folder.join(name);
    fs::create_dir_all(&own).unwrap();
    let mut command = Command::new("valgrind");
    command.args(["-q", "--tool=callgrind"]).args(*shape).args(options);
    command.arg(format!("--callgrind-out-file={}", own.join("out").display()));
    command.arg(folder.join(program)).arg(argument);
    command
}

/// Asks for dumps until the program has ended.
fn control(child: &mut Child) {
    while child.try_wait().unwrap().is_none() {
        thread::sleep(Duration::from_millis(60));
        let mut command = Command::new("callgrind_control");
        command.args(["-d", &child.id().to_string()]).stdin(Stdio::null());
        let mut request = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // It waits for an answer, also if the program has ended in between.
        if !ends_within(&mut request, Duration::from_secs(20)) {
            request.kill().unwrap();
            request.wait().unwrap();
            if !ends_within(child, Duration::from_secs(100)) {
                child.kill().unwrap();
                panic!("the program does not end, and does not answer callgrind_control");
            }
        }
    }
}

fn ends_within(child: &mut Child, limit: Duration) -> bool {
    let start = Instant::now();
    loop {
        if child.try_wait().unwrap().is_some() {
            return true;
        }
        if start.elapsed() > limit {
            return false;
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// Loads everything that was recorded into a folder, sent through a rewriter.
fn load(folder: &Path, rewrite: &Rewrite) -> Profile {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let inputs = paths.iter().map(|path| {
        let bytes = fs::read(path).unwrap();
        let bytes = if bytes.is_empty() { bytes } else { rewrite.run(&bytes, Vec::new()).unwrap() };
        Input { name: path.display().to_string(), bytes: bytes.into() }
    });
    Profile::load(inputs.collect())
}

/// Self costs by function, file and line; calls and their inclusive costs by caller, file, line and callee.
type Sums = BTreeMap<String, Vec<Cost>>;

/// Sums the costs of the functions of our own sources, except for `mark`, summed over parts.
fn sums(profile: &Profile, with_inclusive: bool) -> Sums {
    let file_name =
        |file| String::from_utf8_lossy(profile.file(file)).rsplit('/').next().unwrap_or("").to_owned();
    let function_name = |id: FunctionId| {
        let function = profile.function(id);
        format!("{} {}", file_name(function.file), String::from_utf8_lossy(function.name))
    };
    let place = |place: &Place| {
        format!("{}:{} {:x}", file_name(place.file), place.line.unwrap(), place.address.unwrap_or(0))
    };
    let own = ["calls.c", "other.c", "deep.c", "crew.c", "signals.c"];
    let is_own = |id: FunctionId| own.contains(&file_name(profile.function(id).file).as_str());
    let mut sums = Sums::new();
    for part in profile.parts() {
        let read = profile.fold_lines(&part, Vec::new, |lines, function, line| {
            if !is_own(function) {
                return;
            }
            let caller = function_name(function);
            match line {
                BlockLine::SelfCost { place: at, costs } => {
                    lines.push((
                        format!("{caller} {}", place(&at)),
                        costs.iter().map(Result::unwrap).collect(),
                    ));
                }
                BlockLine::Calls { place: at, callee, count, costs, .. } if is_own(callee) => {
                    let mut row = vec![count];
                    row.extend(costs.iter().map(Result::unwrap).filter(|_| with_inclusive));
                    lines.push((format!("{caller} {} > {}", place(&at), function_name(callee)), row));
                }
                _ => {}
            }
        });
        for (key, row) in read.into_iter().flatten() {
            let row: Vec<Cost> = row;
            let sum = sums.entry(key).or_default();
            sum.resize(sum.len().max(row.len()), 0);
            sum.iter_mut().zip(&row).for_each(|(sum, cost)| *sum += cost);
        }
    }
    sums
}

fn difference<'s>(one: &'s Sums, other: &Sums) -> Vec<(&'s String, &'s Vec<Cost>)> {
    one.iter().filter(|(key, row)| other.get(*key) != Some(row)).collect()
}

#[test]
fn the_costs_of_lines_do_not_depend_on_dumps() {
    let folder = match build() {
        Ok(folder) => folder,
        Err(lack) => {
            assert!(env::var_os("GRISTMILL_CI").is_none(), "{lack}");
            return println!("skipped: {lack}");
        }
    };
    let mut would_differ = 0;
    let is_ci = env::var_os("GRISTMILL_CI").is_some();
    let cases: Vec<_> = CASES.iter().enumerate().step_by(if is_ci { 1 } else { 4 }).collect();
    for &(index, case) in &cases {
        let dumped = format!("{index}-dumps");
        let mut command = recorder(
            &folder,
            &dumped,
            case,
            if let Dumps::Options(options) = case.3 { options } else { &[] },
        );
        match case.3 {
            Dumps::Options(_) => run(&mut command).unwrap(),
            Dumps::Request => run(command.arg("dumps")).unwrap(),
            Dumps::Control => control(&mut command.stdin(Stdio::null()).spawn().unwrap()),
        }
        let once = format!("{index}-once");
        run(&mut recorder(&folder, &once, case, &[])).unwrap();
        let as_it_is = Rewrite::default();
        // A request is in the inclusive costs.
        let with_inclusive = case.3 != Dumps::Request;
        let expected = sums(&load(&folder.join(&once), &as_it_is), with_inclusive);
        let profile = load(&folder.join(&dumped), &as_it_is);
        assert!(profile.part_count() > 2 || case.3 == Dumps::Control, "{case:?}: {}", profile.part_count());
        let wrapped =
            profile.damage().iter().filter(|damage| matches!(damage.kind, DamageKind::Wrapped { .. }));
        assert_eq!(wrapped.count() > 0, case.0 == "signals", "{case:?}: {:?}", profile.damage());
        let found = sums(&profile, with_inclusive);
        assert_eq!(difference(&found, &expected), difference(&expected, &found), "{case:?}");
        assert!(expected.len() > 20, "{expected:?}");
        // Names in full and absolute positions say the same.
        let plain =
            Rewrite { names: NameStyle::Plain, positions: PositionStyle::Absolute, ..Rewrite::default() };
        assert_eq!(sums(&load(&folder.join(&dumped), &plain), with_inclusive), expected, "{case:?}");
        // By the rule for all other files they would be wrong.
        let path = fs::read_dir(folder.join(&dumped)).unwrap();
        let of_another = path.map(|entry| {
            let text = String::from_utf8(fs::read(entry.unwrap().path()).unwrap()).unwrap();
            let bytes = text.replace("creator: callgrind-", "creator: other-").into_bytes();
            Input { name: String::new(), bytes: bytes.into() }
        });
        would_differ += usize::from(sums(&Profile::load(of_another.collect()), with_inclusive) != expected);
    }
    assert!(would_differ > cases.len() / 2, "only {would_differ} recordings test the rule");
}
