//! Programs that start others: what these cost is recorded only on request.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::OsStr;
use std::io::Read as _;
use std::path::Path;

use gristmill_format::{Cost, ProducerKind};
use gristmill_output::printable;
use gristmill_profile::{FunctionId, ObjectId, Profile};

use crate::valgrind::is_program;

/// Shells, which also run scripts.
const SHELLS: [&str; 8] = ["ash", "bash", "dash", "fish", "ksh", "mksh", "sh", "zsh"];

/// Programs whose only work is to start the program that their arguments, or a file, name.
const LAUNCHERS: [&str; 32] = [
    "busybox",
    "cargo",
    "chroot",
    "chrt",
    "ctest",
    "env",
    "flock",
    "hyperfine",
    "ionice",
    "just",
    "make",
    "nice",
    "ninja",
    "nohup",
    "npm",
    "npx",
    "numactl",
    "parallel",
    "perf",
    "prlimit",
    "setarch",
    "setsid",
    "stdbuf",
    "strace",
    "sudo",
    "taskset",
    "time",
    "timeout",
    "unshare",
    "watch",
    "xargs",
    "xvfb-run",
];

/// Functions of the C library, and of Go, each call of which starts a program, unless that fails.
const STARTERS: [&str; 5] = ["posix_spawn", "posix_spawnp", "vfork", "__vfork", "syscall.forkAndExecInChild"];

/// Functions of the C library that duplicate the process. Callgrind records what the other one does until it becomes another
/// program.
const FORKS: [&str; 4] = ["fork", "__fork", "__libc_fork", "_Fork"];

/// Bytes of a script that name its interpreter.
const MAX_INTERPRETER_BYTES: u64 = 256;

/// A program that starts others.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Launcher {
    /// The shell that runs it.
    Shell(String),
    /// The name of the program itself, or of the one that runs it.
    Other(String),
}

impl Launcher {
    /// Tells what kind of launcher a program file is. A program of the project may have any name.
    pub(crate) fn find(program: &Path, project: &Path) -> Option<Launcher> {
        let own = Launcher::named(program);
        let is_foreign = !program.starts_with(project);
        match own {
            Some(Launcher::Shell(_)) => return own,
            Some(Launcher::Other(_)) if is_foreign => return own,
            _ => {}
        }
        let words = interpreter(program)?;
        // `#!/usr/bin/env sh` names the shell second.
        let named = || words.iter().take(2).filter_map(|word| Launcher::named(Path::new(word)));
        named().find(|launcher| matches!(launcher, Launcher::Shell(_))).or_else(|| named().next())
    }

    fn named(program: &Path) -> Option<Launcher> {
        let name = program.file_name()?.to_string_lossy().into_owned();
        if SHELLS.contains(&name.as_str()) {
            return Some(Launcher::Shell(name));
        }
        LAUNCHERS.contains(&name.as_str()).then_some(Launcher::Other(name))
    }

    /// Returns the name of the shell or launcher.
    pub(crate) fn name(&self) -> String {
        let (Launcher::Shell(name) | Launcher::Other(name)) = self;
        printable(name.as_bytes()).into_owned()
    }

    /// Returns what it does, as the predicate of a sentence about the program.
    pub(crate) fn predicate(&self, program: &str) -> String {
        match self {
            Launcher::Other(name) if name == program => "starts another program".to_owned(),
            Launcher::Shell(_) | Launcher::Other(_) => {
                format!("is run by {}, which starts other programs", self.name())
            }
        }
    }
}

/// Returns the words of the first line of a script.
fn interpreter(program: &Path) -> Option<Vec<String>> {
    let mut start = Vec::new();
    let file = std::fs::File::open(program).ok()?;
    file.take(MAX_INTERPRETER_BYTES).read_to_end(&mut start).ok()?;
    let line = start.strip_prefix(b"#!")?.split(|&byte| byte == b'\n').next()?;
    Some(String::from_utf8_lossy(line).split_whitespace().map(str::to_owned).collect())
}

/// Returns the command that has taken the place of a program, of which Callgrind has written nothing then. A program whose only work is to
/// start another one, such as `env`, does not count.
pub(crate) fn replaced(
    profiles: &[Profile],
    process: u32,
    program: &OsStr,
    search_path: &OsStr,
) -> Option<String> {
    let word = program.as_encoded_bytes();
    // Other bytes are written in another way.
    let is_plain = word.iter().all(|byte| byte.is_ascii_graphic() && *byte != b'\\');
    if !is_plain || matches!(Launcher::named(Path::new(program)), Some(Launcher::Other(_))) {
        return None;
    }
    let parts = profiles.iter().flat_map(Profile::parts);
    let mut of_program = parts.filter(|part| {
        part.pid() == Some(u64::from(process))
            && part.creator().is_some_and(|creator| creator.starts_with(b"callgrind-"))
    });
    let command = of_program.next()?.command()?.trim_ascii();
    // A script is a word of its interpreter, with the directory that it was found in.
    let mut found = std::env::split_paths(search_path).map(|directory| directory.join(program));
    let found = if word.contains(&b'/') { None } else { found.find(|path| is_program(path)) };
    let is_word = |own: &[u8]| {
        own == word || found.as_ref().is_some_and(|found| found.as_os_str().as_encoded_bytes() == own)
    };
    let is_program = command.split(|byte| *byte == b' ').any(is_word);
    (!is_program).then(|| printable(command).into_owned())
}

/// Returns the commands of profiles if each is that of a launcher, so that nothing else was recorded.
pub(crate) fn only_launchers(profiles: &[Profile]) -> Option<String> {
    let mut commands = Vec::new();
    for part in profiles.iter().flat_map(Profile::parts) {
        let command = part.command().filter(|_| part.producer() == ProducerKind::Callgrind)?;
        let command = String::from_utf8_lossy(command).trim().to_owned();
        let program = command.split_whitespace().next().unwrap_or_default().to_owned();
        Launcher::named(Path::new(&program))?;
        commands.push(program);
    }
    commands.sort();
    commands.dedup();
    let commands: Vec<String> =
        commands.iter().map(|command| format!("`{}`", printable(command.as_bytes()))).collect();
    (!commands.is_empty()).then(|| commands.join(", "))
}

/// Returns the function that a program may have started others with, and how often it was called, if profiles of Callgrind show that
/// these are not recorded: a program that a process becomes leaves no profile. Nor does a process that is killed, and a start can fail,
/// which profiles do not show. `elsewhere` processes have profiles that are not among these.
pub(crate) fn unrecorded(profiles: &[Profile], elsewhere: usize) -> Option<(&'static str, Cost)> {
    let is_callgrind =
        |profile: &Profile| profile.parts().all(|part| part.producer() == ProducerKind::Callgrind);
    if !profiles.iter().all(is_callgrind) {
        return None;
    }
    let starts = STARTERS.iter().rev().map(|starter| (*starter, calls(profiles, starter)));
    if let Some(start) = starts.filter(|(_, count)| *count > 0).max_by_key(|(_, count)| *count) {
        return Some(start);
    }
    let pids: HashSet<Option<u64>> =
        profiles.iter().flat_map(Profile::parts).map(|part| part.pid()).collect();
    let forks = FORKS.iter().rev().map(|fork| (*fork, calls(profiles, fork)));
    // Of functions that call each other, the first in the list is named. Each process that a fork makes writes a profile, unless it becomes another program.
    let recorded = pids.len() + elsewhere;
    forks.filter(|(_, count)| *count >= recorded as Cost).max_by_key(|(_, count)| *count)
}

/// `true` for a function that duplicates the process: what it makes need not become another program.
pub(crate) fn is_fork(function: &str) -> bool {
    FORKS.contains(&function)
}

/// Returns the count of processes that have the command of another one: they were forked from it. Callgrind copies the costs of a
/// process to what it forks.
pub(crate) fn forked_processes(profiles: &[Profile]) -> usize {
    let is_recorded = |profile: &&Profile| profile.producer() == ProducerKind::Callgrind;
    let processes = profiles.iter().filter(is_recorded).flat_map(Profile::parts);
    let processes: BTreeSet<_> = processes.filter_map(|part| Some((part.pid()?, part.command()?))).collect();
    let commands: BTreeSet<_> = processes.iter().map(|(_, command)| command).collect();
    processes.len() - commands.len()
}

/// Returns how often a process called a function of the C library; of several processes, the one that did so most. What is forked has
/// the calls of the process before, too.
fn calls(profiles: &[Profile], name: &str) -> Cost {
    // A profile can be that of several processes, and several can be parts of one.
    let mut counts: HashMap<(Option<usize>, Option<u64>), Cost> = HashMap::new();
    for (nth, profile) in profiles.iter().enumerate() {
        let is_it = |function: &FunctionId| {
            let function = profile.function(*function);
            let plain = function.name.split(|&byte| byte == b'@').next();
            plain == Some(name.as_bytes()) && (name.contains('.') || is_c_library(profile, function.object))
        };
        let functions: HashSet<FunctionId> = profile.functions().filter(is_it).collect();
        if functions.is_empty() {
            continue;
        }
        for part in profile.parts() {
            let process = part.pid();
            let count = counts.entry((process.is_none().then_some(nth), process)).or_default();
            profile.each_arc(&part, |arc, _| {
                if functions.contains(&arc.callee) {
                    *count += arc.count;
                }
            });
        }
    }
    counts.into_values().max().unwrap_or(0)
}

/// `true` if an object is the C library, or contains it.
fn is_c_library(profile: &Profile, object: ObjectId) -> bool {
    let path = profile.object(object);
    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or(path);
    let begins = |prefix: &&[u8]| name.starts_with(prefix);
    [&b"libc.so"[..], b"libc-2", b"libpthread", b"ld-musl", b"libc.musl"].iter().any(begins)
        || profile.functions().any(|function| {
            let function = profile.function(function);
            function.object == object && function.name.starts_with(b"__libc_start_main")
        })
}
