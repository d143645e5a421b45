//! `cargo xtask engine-diff`: many programs under the native engine and under Callgrind, in the same environment. Costs by function,
//! counts and inclusive costs of calls are compared, and each difference has a class.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use super::engine_programs::{COMMANDS, words, write_files};
use super::engine_sums::{Class, Differences, Sums, Varying};
use super::report::with_table;
use super::{process, table};
use crate::EngineDiffOptions;
use crate::failure::{Context as _, Failure};
use crate::workspace;

/// No command takes so long.
const MAX_TIME: Duration = Duration::from_secs(300);

/// The engines. Callgrind is the first.
const ENGINES: [&str; 2] = ["valgrind", "native"];

/// A command with a difference in no class is recorded this often again, to find what differs from run to run.
const MAX_REPETITIONS: usize = 4;

/// Variables that fix what programs would choose at random.
const FIXED: [(&str, &str); 4] =
    [("PYTHONHASHSEED", "0"), ("PERL_HASH_SEED", "0"), ("LC_ALL", "C"), ("HOME", "/nonexistent")];

pub(crate) fn run(options: &EngineDiffOptions) -> Result<(), Failure> {
    if !process::is_on_path("valgrind") {
        return Err(Failure::new("valgrind is not on the path: there is nothing to compare with"));
    }
    let program = match &options.program {
        Some(program) => program.clone(),
        None => process::gristmill()?,
    };
    let folder = std::env::temp_dir().join(format!("engine-diff-{}", std::process::id()));
    let files = folder.join("files");
    std::fs::create_dir_all(&files).context(|| format!("cannot make {}", files.display()))?;
    write_files(&files)?;
    let here = folder.join("run");
    copy_files(&files, &here)?;
    let environment = environment_of_valgrind(&here)?;
    let head = [
        "program",
        "instructions",
        "total",
        "functions",
        "calls",
        "end",
        "text",
        "wait",
        "mappings",
        "vfork",
        "varies",
        "unnamed",
    ];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    let (mut unnamed, mut missing, mut failed) = (0, Vec::new(), Vec::new());
    for command in COMMANDS {
        let words = words(command);
        if options.only.as_ref().is_some_and(|only| !command.contains(only.as_str())) {
            continue;
        }
        if !process::is_on_path(&words[0]) && !files.join(&words[0]).is_file() {
            missing.push(words[0].clone());
            continue;
        }
        match compared(&program, &folder, &environment, &words)? {
            Outcome::Compared(totals, differences) => {
                for line in &differences.unnamed {
                    println!("{command}: {line}");
                }
                unnamed += differences.unnamed.len();
                rows.push(row(command, totals, &differences));
                println!("{}", rows[rows.len() - 1].join("  "));
            }
            Outcome::Refused(reason) => failed.push(format!("{command}: {reason}")),
        }
    }
    let _ = std::fs::remove_dir_all(&folder);
    let mut text = table::text(&rows);
    if !missing.is_empty() {
        text.push_str(&format!("Not installed here: {}.\n", missing.join(", ")));
    }
    for line in &failed {
        text.push_str(&format!("Not compared: {line}.\n"));
    }
    print!("{text}");
    if options.write {
        write(&text)?;
    }
    if unnamed > 0 {
        return Err(Failure::new(format!("{unnamed} differences are in no class")));
    }
    Ok(())
}

/// Replaces the table of docs/engine.md.
fn write(text: &str) -> Result<(), Failure> {
    let page = workspace::root().join("docs/engine.md");
    let old = std::fs::read_to_string(&page).context(|| format!("cannot read {}", page.display()))?;
    let new = with_table(&old, "engine-diff", text)?;
    workspace::write_whole(&page, |file| Ok(std::io::Write::write_all(file, new.as_bytes())?))
}

fn row(command: &str, totals: [u64; 2], differences: &Differences) -> Vec<String> {
    let [callgrind, native] = totals.map(i128::from);
    let shown: String = command.replace("{SPACE}", " ").chars().take(40).collect();
    let mut row = vec![
        shown,
        callgrind.to_string(),
        format!("{:+}", native - callgrind),
        format!("{} of {}", differences.functions, differences.function_count),
        format!("{} of {}", differences.counts, differences.edge_count),
    ];
    for class in Class::ALL {
        row.push(differences.by_class.get(&class).copied().unwrap_or(0).to_string());
    }
    row
}

enum Outcome {
    Compared([u64; 2], Differences),
    Refused(String),
}

/// Compares the profiles of a command under both engines.
fn compared(
    program: &Path,
    folder: &Path,
    environment: &[String],
    words: &[String],
) -> Result<Outcome, Failure> {
    let mut outputs = Vec::new();
    for engine in ENGINES {
        match record(program, folder, environment, words, engine)? {
            Some(output) => outputs.push(output),
            None => return Ok(Outcome::Refused(format!("{engine} takes too long"))),
        }
    }
    let shown = |output: &Output| {
        String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or_default().to_owned()
    };
    if outputs[0].status != outputs[1].status {
        let [one, other] = [&outputs[0], &outputs[1]];
        let reason =
            format!("it ends with {} and {} ({} {})", one.status, other.status, shown(one), shown(other));
        return Ok(Outcome::Refused(reason));
    }
    if outputs[0].stdout != outputs[1].stdout {
        return Ok(Outcome::Refused("it prints something else".to_owned()));
    }
    for (engine, output) in ENGINES.iter().zip(&outputs) {
        if !profile(folder, engine).exists() {
            return Ok(Outcome::Refused(format!("{engine} wrote nothing ({})", shown(output))));
        }
    }
    let read = |engine: &str| Sums::read(&profile(folder, engine));
    let recorded = [read(ENGINES[0])?, read(ENGINES[1])?];
    let [callgrind, native] = &recorded;
    let mut varying = Varying::default();
    let mut differences = callgrind.differences(native, &words[0], &varying);
    for _ in 0..MAX_REPETITIONS {
        if differences.unnamed.is_empty() {
            break;
        }
        for (engine, sums) in ENGINES.iter().zip(&recorded) {
            record(program, folder, environment, words, engine)?;
            varying.add(sums, &read(engine)?);
        }
        differences = callgrind.differences(native, &words[0], &varying);
    }
    Ok(Outcome::Compared([callgrind.total, native.total], differences))
}

/// Returns the path of the profile that an engine writes.
fn profile(folder: &Path, engine: &str) -> PathBuf {
    folder.join(format!("{engine}.out"))
}

/// Records a command with an engine. `None` if it takes too long.
fn record(
    program: &Path,
    folder: &Path,
    environment: &[String],
    words: &[String],
    engine: &str,
) -> Result<Option<Output>, Failure> {
    // What one run leaves would change what the other one does. All have the same paths.
    let here = folder.join("run");
    copy_files(&folder.join("files"), &here)?;
    let _ = std::fs::remove_file(profile(folder, engine));
    // The order of variables matters: programs search them.
    let mut command = Command::new("sh");
    command.current_dir(&here);
    if engine == "valgrind" {
        // Valgrind adds its own part of the environment.
        command.args(["-c", "exec \"$@\"", "sh", "env", "-i"]).args(own_environment());
    } else {
        // Valgrind leaves the file of its messages open.
        command.args(["-c", "exec \"$@\" 3>/dev/null", "sh", "env", "-i"]).args(environment);
    }
    command.arg(program).args([
        "record",
        "--engine",
        engine,
        "-q",
        "--dump-instr=yes",
        "--demangle=no",
        "-o",
    ]);
    command.arg(profile(folder, engine));
    if engine == "valgrind" {
        command.arg("--valgrind-option=--run-libc-freeres=no");
    }
    command.arg("--").args(words);
    output(command)
}

/// Makes a folder that has copies of the files of another one, and nothing else.
fn copy_files(from: &Path, to: &Path) -> Result<(), Failure> {
    let failed = || format!("cannot fill {}", to.display());
    let _ = std::fs::remove_dir_all(to);
    std::fs::create_dir_all(to).context(failed)?;
    for entry in std::fs::read_dir(from).context(failed)? {
        let path = entry.context(failed)?.path();
        std::fs::copy(&path, to.join(path.file_name().unwrap_or_default())).context(failed)?;
    }
    Ok(())
}

/// Runs a command to its end. `None` if it takes too long.
fn output(mut command: Command) -> Result<Option<Output>, Failure> {
    let shown = workspace::shown(&command);
    let out = |name: &str| std::env::temp_dir().join(format!("engine-diff-{}.{name}", std::process::id()));
    let create =
        |path: &PathBuf| std::fs::File::create(path).context(|| format!("cannot write {}", path.display()));
    let [stdout, stderr] = ["stdout", "stderr"].map(out);
    command.stdin(Stdio::null()).stdout(create(&stdout)?).stderr(create(&stderr)?);
    let mut child = command.spawn().context(|| format!("cannot run {shown}"))?;
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().context(|| format!("cannot wait for {shown}"))? {
            break Some(status);
        }
        if start.elapsed() > MAX_TIME {
            let _ = child.kill();
            let _ = child.wait();
            break None;
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let read = |path: &PathBuf| {
        let bytes = std::fs::read(path).unwrap_or_default();
        let _ = std::fs::remove_file(path);
        bytes
    };
    let (stdout, stderr) = (read(&stdout), read(&stderr));
    Ok(status.map(|status| Output { status, stdout, stderr }))
}

/// Returns the variables that programs get.
fn own_environment() -> Vec<String> {
    let path = std::env::var("PATH").unwrap_or_default();
    let fixed = FIXED.iter().map(|(key, value)| format!("{key}={value}"));
    fixed.chain([format!("PATH={path}")]).collect()
}

/// Returns the variables that programs have under Valgrind.
fn environment_of_valgrind(folder: &Path) -> Result<Vec<String>, Failure> {
    let mut command = Command::new("env");
    // It can be a script of a shell, which adds the working directory.
    command
        .arg("-i")
        .args(own_environment())
        .args(["valgrind", "-q", "--tool=none", "env", "-0"])
        .current_dir(folder);
    let output = command.output().context(|| "cannot run valgrind".to_owned())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(text.split('\0').filter(|variable| variable.contains('=')).map(str::to_owned).collect())
}
