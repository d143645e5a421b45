//! Files that are loaded together: whether they are of one recording, and each is there once.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{BuildHasher as _, RandomState};
use std::iter;
use std::path::{Path, PathBuf};

use gristmill_output::{lossy, printable};
use gristmill_profile::{Part, Profile, REPLACED_BY};

use super::recording;
use crate::args::is_dash;
use crate::canonical::canonical;
use crate::session::Session;
use crate::terminal::{grouped, printable_path};

/// The limit of values in a warning.
const MAX_VALUES: usize = 3;

/// Warns if files are given twice or are not of one recording. Of a single file, a hint says which share of its recording
/// it has.
pub(crate) fn check(paths: &[PathBuf], has_set: bool, profile: &Profile, session: &Session) {
    if let ([path], false) = (paths, has_set) {
        let hint = recording::share(path).or_else(|| missing_files(path, profile));
        hint.iter().for_each(|hint| session.tell(hint));
        return;
    }
    let inputs = profile.inputs().iter().zip(paths.iter().map(Some).chain(iter::repeat(None)));
    let given: Vec<Given<'_>> = inputs
        .map(|(input, path)| Given { path, name: input.name.clone(), contents: vec![&input.bytes] })
        .collect();
    twice(&given, "the costs count each time").iter().for_each(|warning| session.warn(warning));
    unlike(profile).iter().for_each(|warning| session.warn(warning));
}

/// Returns a sentence about the files that must have come before a file, as its parts are numbered.
fn missing_files(path: &Path, profile: &Profile) -> Option<String> {
    let number = profile.parts().map(|part| part.number()).min().flatten();
    let thread = if profile.part_count() == 1 { profile.parts().next()?.thread() } else { None };
    let later = |number: &u64| *number > 1;
    let what = match (number.filter(later), thread.filter(later)) {
        (Some(number), _) => format!("dump {number}"),
        (None, Some(thread)) => format!("thread {thread}"),
        (None, None) => return None,
    };
    Some(format!("{} is {what} of its recording; the files before it are not here", printable_path(path)))
}

/// Warns if runs that are compared are copies of each other, so that they seem to vary less than runs do.
pub(crate) fn check_runs(paths: &[PathBuf], runs: &[Profile], session: &Session) {
    let given: Vec<Given<'_>> = paths
        .iter()
        .zip(runs)
        .map(|(path, run)| Given {
            path: Some(path),
            name: printable_path(path).into_owned(),
            contents: run.inputs().iter().map(|input| &input.bytes[..]).collect(),
        })
        .collect();
    twice(&given, "a copy is no second run").iter().for_each(|warning| session.warn(warning));
    of_one_process(paths, runs).iter().for_each(|warning| session.warn(warning));
}

/// Returns warnings about files of one process, which are parts of one run.
fn of_one_process(paths: &[PathBuf], runs: &[Profile]) -> Vec<String> {
    type Place = (Option<u64>, Option<u64>);
    let mut by_pid: BTreeMap<u64, Vec<(&PathBuf, Place)>> = BTreeMap::new();
    for (path, run) in paths.iter().zip(runs) {
        if let Some(part) = run.parts().next()
            && let Some(pid) = part.pid()
        {
            by_pid.entry(pid).or_default().push((path, (part.number(), part.thread())));
        }
    }
    let mut warnings = Vec::new();
    for (pid, files) in by_pid {
        let (first, place) = files[0];
        if let Some((other, _)) = files.iter().find(|(_, other)| *other != place) {
            warnings.push(format!(
                "{} and {} are dumps or threads of one process ({pid}), not two runs; give one of them with --set",
                printable_path(first),
                printable_path(other)
            ));
        }
    }
    warnings
}

/// Warns of paths that are given twice.
pub(crate) fn check_paths(paths: &[PathBuf], session: &Session) {
    let given: Vec<Given<'_>> = paths
        .iter()
        .map(|path| Given { path: Some(path), name: printable_path(path).into_owned(), contents: Vec::new() })
        .collect();
    twice(&given, "the costs count each time").iter().for_each(|warning| session.warn(warning));
}

/// A profile of the command line.
struct Given<'a> {
    path: Option<&'a PathBuf>,
    /// The name in messages.
    name: String,
    /// The content of its files. Empty if it is not compared.
    contents: Vec<&'a [u8]>,
}

impl Given<'_> {
    fn size(&self) -> usize {
        self.contents.iter().map(|content| content.len()).sum()
    }
}

/// Returns warnings about profiles that are the same, with the effect of that.
fn twice(given: &[Given<'_>], effect: &str) -> Vec<String> {
    // By path: the name it was last given by, and the count of times.
    let mut by_path: HashMap<PathBuf, (&str, usize)> = HashMap::new();
    let mut repeated = Vec::new();
    let mut size_counts: HashMap<usize, usize> = HashMap::new();
    given.iter().for_each(|profile| *size_counts.entry(profile.size()).or_default() += 1);
    // Only profiles of equal size can have the same content. Their hashes tell most of them apart.
    let state = RandomState::new();
    let mut by_hash: HashMap<u64, Vec<&Given<'_>>> = HashMap::new();
    let mut alike_names: Vec<Vec<&str>> = Vec::new();
    for profile in given {
        if let Some(path) = profile.path.filter(|path| !is_dash(path)).map(|path| canonical(path)) {
            let (name, count) = by_path.entry(path.clone()).or_default();
            (*name, *count) = (&profile.name, *count + 1);
            if *count > 1 {
                repeated.extend((*count == 2).then_some(path));
                continue;
            }
        }
        if !profile.contents.is_empty() && size_counts[&profile.size()] > 1 {
            by_hash.entry(state.hash_one(&profile.contents)).or_default().push(profile);
        }
    }
    for mut profiles in by_hash.into_values() {
        while let Some(first) = profiles.first().copied() {
            let alike = profiles.extract_if(.., |other| other.contents == first.contents);
            let names: Vec<&str> = alike.map(|profile| profile.name.as_str()).collect();
            alike_names.extend((names.len() > 1).then_some(names));
        }
    }
    alike_names.sort_unstable();
    let repeated = repeated.iter().map(|path| match by_path[path] {
        (name, 2) => format!("{name} is given twice: {effect}"),
        (name, count) => format!("{name} is given {} times: {effect}", grouped(count as i128)),
    });
    let alike = alike_names.iter().map(|names| {
        let more = match names.len() - 2 {
            0 => String::new(),
            1 => " and 1 more".to_owned(),
            more => format!(" and {} more", grouped(more as i128)),
        };
        let and = if more.is_empty() { " and" } else { "," };
        format!("{}{and} {}{more} have the same content: {effect}", names[0], names[1])
    });
    repeated.chain(alike).collect()
}

/// Returns a warning about what differs between the files.
fn unlike(profile: &Profile) -> Option<String> {
    let mut firsts: Vec<Part<'_>> = Vec::new();
    for part in profile.parts() {
        if firsts.last().is_none_or(|last| last.input() != part.input()) {
            firsts.push(part);
        }
    }
    let events = |part: &Part<'_>| {
        let names = part.event_types().iter().map(|&event| lossy(profile.event(event).name));
        names.collect::<Vec<_>>().join(" ")
    };
    // A process has several commands if it has run one program in the place of another.
    let is_replaced = |part: &&Part<'_>| part.trigger().is_some_and(|text| text.starts_with(REPLACED_BY));
    let of_replaced: HashSet<u64> = firsts.iter().filter(is_replaced).filter_map(|part| part.pid()).collect();
    let has_replaced = |part: &Part<'_>| part.pid().is_some_and(|pid| of_replaced.contains(&pid));
    let command = |part: &Part<'_>| part.command().map(|command| lossy(command.trim_ascii()));
    let properties: [(&str, Vec<Option<String>>); 4] = [
        (
            "command",
            firsts.iter().map(|part| if has_replaced(part) { None } else { command(part) }).collect(),
        ),
        ("process", firsts.iter().map(|part| part.pid().map(|pid| pid.to_string())).collect()),
        ("event types", firsts.iter().map(|part| Some(events(part))).collect()),
        (
            "producer",
            firsts.iter().map(|part| part.creator().map(|creator| lossy(creator.trim_ascii()))).collect(),
        ),
    ];
    let mut differences = Vec::new();
    for (what, values) in properties {
        let mut different: Vec<String> = Vec::new();
        for value in values.into_iter().flatten() {
            if !different.contains(&value) && different.len() <= MAX_VALUES {
                different.push(value);
            }
        }
        if different.len() > 1 {
            let more = if different.len() > MAX_VALUES { " | …" } else { "" };
            let shown: Vec<String> = different
                .iter()
                .take(MAX_VALUES)
                .map(|value| printable(value.as_bytes()).into_owned())
                .collect();
            differences.push(format!("{what} ({}{more})", shown.join(" | ")));
        }
    }
    (!differences.is_empty()).then(|| {
        format!(
            "the files are of different recordings, and their costs are added up: {}",
            differences.join(", ")
        )
    })
}
