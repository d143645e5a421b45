//! Runs the program as a user would, and compares what it prints with what it is expected to.

// Each test program uses a part of this.
#![allow(dead_code)]
// Tests may panic: that is how they fail. Clippy knows that of test functions, but not of what they share.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

pub(crate) mod diff;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use jsonschema::Validator;
use serde_json::Value;

/// A profile without findings.
pub(crate) const CLEAN: &[u8] = b"# callgrind format\nversion: 1\ncreator: hand\npositions: line\nevents: Ir Dr\n\nob=(1) /bin/mill\n\
    fl=(1) mill.c\nfn=(1) main\n10 10 2\ncfn=(2) grind\ncalls=3 20\n11 50 10\n\nfn=(2)\n20 50 10\n\ntotals: 60 12\n";

/// The folder of the whole project.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

pub(crate) fn gristmill(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gristmill"));
    // Colours and widths of the machine that runs the tests are none of their business.
    command
        .args(arguments)
        .env_remove("NO_COLOR")
        .env_remove("COLUMNS")
        .env("TERM", "dumb")
        .stdin(Stdio::null());
    command
}

pub(crate) fn run(arguments: &[&str]) -> Output {
    gristmill(arguments).output().unwrap()
}

/// Writes a program that is a script.
#[cfg(unix)]
pub(crate) fn write_script(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
}

/// The search path with a folder before all others.
pub(crate) fn search_path_from(folder: &Path) -> std::ffi::OsString {
    let directories = std::env::var_os("PATH").unwrap();
    let path = std::iter::once(folder.to_owned()).chain(std::env::split_paths(&directories));
    std::env::join_paths(path).unwrap()
}

/// Runs in a folder, so that what is shown does not depend on where that is.
pub(crate) fn run_in(folder: &Path, arguments: &[&str]) -> Output {
    gristmill(arguments).current_dir(folder).output().unwrap()
}

/// Runs with `input` on standard input.
pub(crate) fn run_with(arguments: &[&str], input: &[u8]) -> Output {
    let mut command = gristmill(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    // The program may write before it has read everything; both pipes must keep moving.
    let feeder = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    feeder.join().unwrap();
    output
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The exit status; a program that was killed has none.
pub(crate) fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or_else(|| panic!("killed: {}", stderr(output)))
}

pub(crate) fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", stdout(output)))
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A folder of its own with these files in it.
pub(crate) fn folder(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    folder
}

/// Compares with `tests/goldens/NAME.txt`; with `BLESS=1` in the environment, writes it.
pub(crate) fn golden(name: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/goldens").join(format!("{name}.txt"));
    if std::env::var_os("BLESS").is_some() {
        return std::fs::write(&path, actual).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(actual == expected, "{} differs; BLESS=1 accepts this:\n{actual}", path.display());
}

/// Compares what a command prints of files of the corpus with its golden, and returns it. The files are named relative to
/// the corpus, so that the names in the output are those of no machine.
pub(crate) fn blessed(command: &str, name: &str, arguments: &[&str]) -> String {
    // As on a terminal of that width. Into a pipe, names are in full.
    let mut command_line = gristmill(&[&[command], arguments].concat());
    let output = command_line.env("COLUMNS", "80").current_dir(root().join("corpus")).output().unwrap();
    assert_eq!((stderr(&output).as_str(), code(&output)), ("", 0));
    let shown = stdout(&output);
    golden(&format!("{command}-{name}"), &shown);
    shown
}

/// A schema of the project by its file name.
pub(crate) fn schema(name: &str) -> Validator {
    let schema = std::fs::read(root().join("docs/schema").join(name)).unwrap();
    jsonschema::validator_for(&serde_json::from_slice(&schema).unwrap()).unwrap()
}

/// Our schema of SARIF is the part of the standard that is used. `GRISTMILL_SARIF_SCHEMA` may name the schema of the
/// standard.
pub(crate) fn sarif_schemas() -> Vec<Validator> {
    let mut schemas = vec![schema("sarif-subset.schema.json")];
    if let Some(path) = std::env::var_os("GRISTMILL_SARIF_SCHEMA") {
        // One of its patterns has a bracket that closes nothing.
        let schema = std::fs::read_to_string(path).unwrap().replace("{2}]?$", "{2}$");
        schemas.push(jsonschema::validator_for(&serde_json::from_str(&schema).unwrap()).unwrap());
    }
    schemas
}

pub(crate) fn assert_valid(schema: &Validator, value: &Value, what: &str) {
    let errors: Vec<String> =
        schema.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{what}: {errors:#?}");
}

/// A number without a fraction, below zero or above.
pub(crate) fn whole(number: &Value) -> i128 {
    number.as_str().map_or_else(|| number.to_string(), str::to_owned).parse().unwrap()
}

/// Returns the JSON that was printed, with numbers that may need more than 64 bits as texts: read as numbers they would be rounded.
pub(crate) fn exactly(output: &Output) -> Value {
    let mut exact = String::new();
    for piece in stdout(output).split_inclusive([':', ',', '}']) {
        let digits = piece.trim_end_matches([':', ',', '}']);
        let is_large = digits.len() > 18 && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        match is_large && exact.ends_with(':') {
            true => exact.push_str(&format!("\"{digits}\"{}", &piece[digits.len()..])),
            false => exact.push_str(piece),
        }
    }
    serde_json::from_str(&exact).unwrap()
}

/// Checks that a program whose reader goes away before it has read anything ends in silence.
pub(crate) fn assert_ends_quietly(folder: &Path, arguments: &[&str]) {
    let mut child = gristmill(arguments)
        .current_dir(folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((code(&output), stderr(&output).as_str()), (0, ""), "{arguments:?}");
}

/// Every profile of the project's corpus.
pub(crate) fn corpus() -> Vec<PathBuf> {
    let folder = root().join("corpus");
    let mut files = Vec::new();
    for kind in ["cachegrind", "callgrind", "dialects", "python", "spec", "xtree"] {
        let entries = std::fs::read_dir(folder.join(kind)).unwrap();
        files.extend(entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()));
    }
    files.sort();
    assert!(files.len() > 50);
    files
}

/// Another corpus, on request.
pub(crate) fn other_corpus() -> Option<PathBuf> {
    let corpus = std::env::var_os("GRISTMILL_CORPUS").map(PathBuf::from);
    if corpus.is_none() {
        println!("skipped: GRISTMILL_CORPUS names no folder");
    }
    corpus
}

/// All files below a folder, in order.
pub(crate) fn files_below(folder: &Path) -> Vec<PathBuf> {
    fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, files);
            } else {
                files.push(path);
            }
        }
    }
    let mut files = Vec::new();
    collect(folder, &mut files);
    files.sort();
    files
}

/// Enough for every profile; what expands to more is a bomb, and takes its time in a build without optimisation.
pub(crate) const MAX_SIZE: &str = "--max-size=64M";

/// Every profile of the project's corpus and every file of the other one, but those too large for a build without
/// optimisation.
pub(crate) fn small_files() -> Vec<PathBuf> {
    let mut files = corpus();
    if let Some(other) = other_corpus() {
        let is_small = |path: &PathBuf| path.metadata().unwrap().len() < 250_000;
        files.extend(files_below(&other).into_iter().filter(is_small));
    }
    files.retain(|file| !file.to_string_lossy().contains("bomb"));
    files.sort();
    files
}

/// The broken profiles that `GRISTMILL_CORPUS` has below `malformed/`. They are not part of the project.
pub(crate) fn malformed() -> Vec<PathBuf> {
    let Some(corpus) = other_corpus() else { return Vec::new() };
    let entries = std::fs::read_dir(corpus.join("malformed")).unwrap();
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "out" || ending == "gz"))
        // 200 MB take a program that is not optimised minutes.
        .filter(|path| !path.to_string_lossy().contains("bomb"))
        .collect();
    files.sort();
    files
}

/// Runs and tells how many bytes of memory were in use at most. GNU time measures it: the kernel counts for whoever
/// waits, and the standard library does not ask. `None` where it is not installed.
pub(crate) fn run_measured(arguments: &[&str]) -> (Output, Option<u64>) {
    let time = Path::new("/usr/bin/time");
    if !cfg!(target_os = "linux") || !time.is_file() {
        assert!(std::env::var_os("GRISTMILL_CI").is_none(), "{} is missing", time.display());
        println!("skipped: memory is not measured, as there is no {}", time.display());
        return (run(arguments), None);
    }
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("peak");
    let output = Command::new(time)
        .args(["-f", "%M", "-o", text(&report), env!("CARGO_BIN_EXE_gristmill")])
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let report = std::fs::read_to_string(report).unwrap();
    let peak: u64 = report.lines().last().unwrap().trim().parse().unwrap();
    (output, Some(peak * 1024))
}

/// The bytes of memory that the program takes for a profile of one line: most of it is code, mapped as far as it was used,
/// and several times as much where it is not optimised.
fn memory_of_program() -> u64 {
    static MEMORY: OnceLock<u64> = OnceLock::new();
    *MEMORY.get_or_init(|| {
        let folder = folder(&[("callgrind.out", b"events: Ir\nfn=f\n1 1\n")]);
        let (_, peak) = run_measured(&["info", text(&folder.path().join("callgrind.out"))]);
        peak.unwrap_or(0)
    })
}

/// Checks a measured run: four times the profile and 10 MiB are enough besides the program itself, and nothing panics.
pub(crate) fn assert_frugal(path: &Path, what: &str, output: &Output, peak: Option<u64>, expanded: u64) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!said.contains("panicked"), "{what} {}: {said}", path.display());
    assert!(matches!(output.status.code(), Some(0..=2)), "{what} {}: {said}", path.display());
    if let Some(peak) = peak {
        let limit = 4 * expanded + (10 << 20) + memory_of_program();
        assert!(peak <= limit, "{what} {}: {peak} bytes, {limit} allowed", path.display());
    }
}

/// Of slow cases, one in this many is tried: all with `GRISTMILL_CI` in the environment, otherwise one in `step`.
pub(crate) fn one_in(step: usize) -> usize {
    if std::env::var_os("GRISTMILL_CI").is_some() { 1 } else { step }
}

/// `true` if all of these programs are installed. If one is missing, that is printed, and with `GRISTMILL_CI` in the
/// environment it is a failure.
pub(crate) fn has(programs: &[&str]) -> bool {
    programs.iter().all(|program| {
        let found = Command::new(program).arg("--version").output().is_ok();
        if !found {
            assert!(std::env::var_os("GRISTMILL_CI").is_none(), "{program} is missing");
            println!("skipped: there is no {program}");
        }
        found
    })
}
