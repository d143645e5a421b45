//! Profiles that other programs write: which files they are, and whether they are those of this run.

use std::collections::{BTreeSet, HashSet};
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use gristmill_gate::{Benchmark, Config, Failure, ProfileSource};
use gristmill_output::{printable, printable_path};
use gristmill_profile::{NoProfile, Profile};

use crate::input::reason;

/// Folders below that of a configuration's entry that are looked at: gungraun has five.
const MAX_DEPTH: usize = 10;

/// The message for pipes and devices.
pub(super) const NOT_A_FILE: &str = "is a pipe or a device, which the gate does not read";

/// Files that a pattern may match.
const MAX_FILES: usize = 10_000;

/// Returns the files that the patterns of a benchmark match, in the order of the patterns, then by name.
pub(super) fn files(patterns: &[String], config: &Config) -> Result<Vec<PathBuf>, Failure> {
    let mut files: Vec<PathBuf> = Vec::new();
    let mut known = HashSet::new();
    for pattern in patterns {
        for file in matches(pattern, config)? {
            // One that does not exist has another error.
            if std::fs::canonicalize(&file).is_ok_and(|whole| !known.insert(whole)) {
                return Err(format!("`profile` names {} twice", shown(&file, config)).into());
            }
            files.push(file);
        }
    }
    Ok(files)
}

/// `true` if a text is a pattern, and not the path of a file.
pub(super) fn is_pattern(text: &str, config: &Config) -> bool {
    text.contains(['*', '?', '[']) && !config.directory.join(text).exists()
}

fn matches(pattern: &str, config: &Config) -> Result<Vec<PathBuf>, Failure> {
    if !is_pattern(pattern, config) {
        return Ok(vec![config.directory.join(pattern)]);
    }
    let quoted = printable(pattern.as_bytes()).into_owned();
    let whole = if Path::new(pattern).is_absolute() {
        pattern.to_owned()
    } else {
        format!("{}/{pattern}", glob::Pattern::escape(&config.directory.to_string_lossy()))
    };
    let paths = glob::glob(&whole).map_err(|error| Failure::from(format!("`{quoted}`: {}", error.msg)))?;
    let mut files = Vec::new();
    for path in paths {
        let path = path.map_err(|error| {
            Failure::from(format!("{}: {}", shown(error.path(), config), reason(error.error())))
        })?;
        if !path.is_file() {
            continue;
        }
        if let Some(generation) = older_generation(&path) {
            let path = shown(&path, config);
            return Err(format!(
                "`{quoted}` matches {path}, which is {generation}: a pattern that ends with `.out` leaves it out"
            )
            .into());
        }
        files.push(path);
        if files.len() > MAX_FILES {
            return Err(format!("`{quoted}` matches more than {MAX_FILES} files").into());
        }
    }
    match files.is_empty() {
        true => Err(format!("`{quoted}` matches no file").into()),
        false => Ok(files),
    }
}

/// Returns what a file is that gungraun keeps beside the newest profile.
fn older_generation(path: &Path) -> Option<&'static str> {
    let name = path.file_name()?.to_string_lossy();
    if name.ends_with(".old") {
        Some("the profile of an earlier run")
    } else if name.contains(".out.base@") {
        Some("a named baseline")
    } else {
        None
    }
}

fn shown(path: &Path, config: &Config) -> String {
    printable_path(&config.shown_path(path)).into_owned()
}

/// The profiles of a folder of gungraun that are read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Generation<'a> {
    /// Those of the last run.
    Newest,
    /// Those with this ending: `old` or `base@NAME`.
    Older(&'a str),
}

/// `true` if a benchmark is one of several that a folder of gungraun has.
pub(super) fn is_of_folder(benchmark: &Benchmark) -> bool {
    benchmark.name != benchmark.entry
}

/// Returns the benchmarks of a folder of gungraun, each with its files. `benchmark` is their table in the configuration.
pub(super) fn gungraun(
    benchmark: &Benchmark,
    folder: &str,
    generation: Generation<'_>,
    config: &Config,
) -> Result<Vec<Benchmark>, Failure> {
    let root = config.directory.join(folder);
    let mut found = Vec::new();
    let ending = match generation {
        Generation::Newest => ".out".to_owned(),
        Generation::Older(generation) => format!(".out.{generation}"),
    };
    collect(&root, &root, &ending, 0, &mut found)
        .map_err(|(path, error)| Failure::from(format!("{}: {error}", shown(&path, config))))?;
    if found.is_empty() {
        return Err(format!(
            "{} has no profile of gungraun or iai-callgrind, such as callgrind.NAME{ending} in a folder NAME",
            shown(&root, config)
        )
        .into());
    }
    found.sort();
    // The name is a key of the baseline and a path below that of `--keep`.
    let is_alike = |pair: &&[(String, Vec<PathBuf>)]| pair[0].0 == pair[1].0;
    let fault = match found.iter().find(|(name, _)| name.contains(char::is_control)) {
        Some((name, _)) => Some((name, "has a control character in its name")),
        None => found.windows(2).find(is_alike).map(|pair| (&pair[0].0, "has the name of another one")),
    };
    if let Some((name, fault)) = fault {
        let (root, name) = (shown(&root, config), printable(name.as_bytes()));
        return Err(format!("{root}: the folder `{name}` {fault}, so it cannot name a benchmark").into());
    }
    let benchmarks = found.into_iter().map(|(name, files)| {
        let files = files.iter().map(|file| file.to_string_lossy().into_owned()).collect();
        let name = format!("{}/{name}", benchmark.name);
        // An older generation is older than the code that is here.
        let allows_old = benchmark.allows_old || generation != Generation::Newest;
        Benchmark { name, source: ProfileSource::Files(files), allows_old, ..benchmark.clone() }
    });
    Ok(benchmarks.collect())
}

/// Collects the folders with profiles: the path below the first folder, and its files with an ending. A folder is called as its benchmark.
fn collect(
    folder: &Path,
    root: &Path,
    ending: &str,
    depth: usize,
    found: &mut Vec<(String, Vec<PathBuf>)>,
) -> Result<(), (PathBuf, String)> {
    let failed = |error: &std::io::Error| (folder.to_owned(), reason(error));
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(|error| failed(&error))? {
        entries.push(entry.map_err(|error| failed(&error))?.path());
    }
    entries.sort();
    let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let start = format!("callgrind.{name}.");
    let is_newest = |path: &PathBuf| {
        let file = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        file.starts_with(&start) && file.ends_with(ending) && path.is_file()
    };
    let files: Vec<PathBuf> = entries.iter().filter(|path| is_newest(path)).cloned().collect();
    if !files.is_empty() {
        // The first folder may be that of a benchmark itself.
        let below = folder.strip_prefix(root).ok().filter(|below| !below.as_os_str().is_empty());
        let name = below.map_or(name, joined);
        found.push((name, files));
        if found.len() > MAX_FILES {
            return Err((root.to_owned(), format!("more than {MAX_FILES} benchmarks")));
        }
    }
    // A link may lead back to a folder above.
    let folders = entries.iter().filter(|path| path.symlink_metadata().is_ok_and(|kind| kind.is_dir()));
    for folder in folders.filter(|_| depth < MAX_DEPTH) {
        collect(folder, root, ending, depth + 1, found)?;
    }
    Ok(())
}

/// Returns a relative path as text, with a slash between its components on every system.
fn joined(path: &Path) -> String {
    let names: Vec<_> = path.iter().map(|name| name.to_string_lossy()).collect();
    names.join("/")
}

/// A state of a file: it differs when another program has written the file again.
#[derive(PartialEq, Eq)]
struct Written {
    modified: Option<SystemTime>,
    size: u64,
    inode: u64,
}

impl Written {
    fn new(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        let inode = std::os::unix::fs::MetadataExt::ino(metadata);
        #[cfg(not(unix))]
        let inode = 0;
        Written { modified: metadata.modified().ok(), size: metadata.len(), inode }
    }
}

/// States of files before a setup.
pub(super) struct Before(Vec<(PathBuf, Written)>);

impl Before {
    pub(super) fn new(files: &[PathBuf]) -> Self {
        let state = |file: &PathBuf| Some((file.clone(), Written::new(&file.metadata().ok()?)));
        Before(files.iter().filter_map(state).collect())
    }

    /// Refuses files that are as they were.
    pub(super) fn check_written(&self, files: &[PathBuf], config: &Config) -> Result<(), Failure> {
        let is_as_before = |file: &&PathBuf| {
            let before = self.0.iter().find(|(other, _)| other == *file);
            before.is_some_and(|(_, state)| file.metadata().is_ok_and(|now| Written::new(&now) == *state))
        };
        match files.iter().find(is_as_before) {
            Some(file) => {
                let file = shown(file, config);
                Err(format!("{file}: `setup` did not write this profile: it is of an earlier run").into())
            }
            None => Ok(()),
        }
    }
}

/// Refuses a pipe, a device, and a file without a size, unopened: reading one may wait forever, and the gate reads what a
/// configuration names. A directory is left to the reader.
pub(super) fn check_kind(file: &Path, config: &Config) -> Result<(), Failure> {
    let fault = match file.metadata() {
        Ok(metadata) if metadata.is_file() && metadata.len() == 0 => NoProfile::Empty.to_string(),
        Ok(metadata) if !metadata.is_file() && !metadata.is_dir() => NOT_A_FILE.to_owned(),
        _ => return Ok(()),
    };
    Err(format!("{}: {fault}", shown(file, config)).into())
}

/// Refuses a profile that is older than its program, wherever that is, or than a source file or library of the repository that it
/// names: then it is not of the code that is here.
pub(super) fn check_age(file: &Path, profile: &Profile, config: &Config) -> Result<(), Failure> {
    let modified = |path: &Path| path.metadata().ok().filter(Metadata::is_file)?.modified().ok();
    let Some(recorded) = modified(file) else { return Ok(()) };
    let objects = profile.functions().map(|id| profile.object(profile.function(id).object));
    let sources = profile.files().map(|id| profile.file(id));
    let named: BTreeSet<&[u8]> = objects.chain(sources).collect();
    let commands = profile.parts().filter_map(|part| part.command());
    let programs: BTreeSet<&[u8]> = commands
        .filter_map(|command| command.split(u8::is_ascii_whitespace).find(|word| !word.is_empty()))
        .collect();
    for name in named {
        let Ok(text) = std::str::from_utf8(name) else { continue };
        let path = config.root.join(text);
        let is_own = path.starts_with(&config.root) || programs.contains(name);
        if text.is_empty() || !is_own {
            continue;
        }
        if modified(&path).is_some_and(|changed| changed > recorded) {
            return Err(format!(
                "{}: the profile is older than {}: record it again, or set `allow_old = true`",
                shown(file, config),
                shown(&path, config)
            )
            .into());
        }
    }
    Ok(())
}
