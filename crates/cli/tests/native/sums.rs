//! The sums of a profile, and how two differ.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::Path;
use std::process::Command;

use gristmill_profile::{Profile, Selection};

use crate::source_path::without_repetition;

/// Costs and counts by what they belong to.
#[derive(Debug, Default)]
pub(crate) struct Sums {
    pub(crate) total: u64,
    by_key: BTreeMap<Key, u64>,
}

/// The owner of a sum. A function is its object, file and name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Function(String),
    Address(String, u64),
    Count(String, String),
    Inclusive(String, String),
}

impl Sums {
    pub(crate) fn read(path: &Path) -> Sums {
        let profile = Profile::from_bytes(std::fs::read(path).unwrap());
        assert_eq!(profile.finding_count(), 0, "{:?}", profile.findings());
        let selection = Selection::default();
        let number = |cost: i128| u64::try_from(cost).unwrap();
        let mut sums = Sums::default();
        let graph = profile.call_graph(&selection);
        let name = |id| {
            let function = profile.function(id);
            let file = without_repetition(&String::from_utf8_lossy(profile.file(function.file))).to_owned();
            let texts = [profile.object(function.object), file.as_bytes(), function.name];
            texts.map(String::from_utf8_lossy).join(" ")
        };
        for id in profile.functions() {
            let cost = number(graph.self_cost(graph.node_of(id))[0]);
            sums.total += cost;
            *sums.by_key.entry(Key::Function(name(id))).or_default() += cost;
            let lines = profile.lines(id, &selection);
            for (index, place) in lines.places.iter().enumerate() {
                let object =
                    String::from_utf8_lossy(profile.object(profile.function(id).object)).into_owned();
                let key = Key::Address(object, place.address.unwrap_or(0));
                *sums.by_key.entry(key).or_default() += number(lines.costs.row(index)[0]);
            }
        }
        for id in graph.arc_ids() {
            let arc = graph.arc(id);
            let ends = [arc.caller, arc.callee].map(|node| name(graph.function_of(node)));
            let [caller, callee] = ends;
            let count = number(arc.count);
            sums.by_key.insert(Key::Count(caller.clone(), callee.clone()), count);
            sums.by_key.insert(Key::Inclusive(caller, callee), number(graph.arc_cost(id)[0]));
        }
        sums
    }

    /// Returns the part of the functions of an object, by the end of its path with a space behind.
    pub(crate) fn of(&self, object: &str) -> Sums {
        let has = |function: &str| {
            function.split_inclusive(' ').next().is_some_and(|first| first.ends_with(object))
        };
        let is_part = |key: &Key| match key {
            Key::Function(function) => has(function),
            Key::Address(path, _) => path.ends_with(object.trim_end()),
            Key::Count(caller, callee) => has(caller) && has(callee),
            // What a call costs has the cost of the library in it.
            Key::Inclusive(..) => false,
        };
        let by_key = self.by_key.iter().filter(|(key, _)| is_part(key));
        Sums { total: self.total, by_key: by_key.map(|(key, sum)| (key.clone(), *sum)).collect() }
    }

    /// Returns how often a function calls another one, by their names alone.
    pub(crate) fn calls(&self, caller: &str, callee: &str) -> u64 {
        let is = |function: &str, name: &str| function.rsplit(' ').next() == Some(name);
        let counts = self.by_key.iter().filter_map(|(key, count)| match key {
            Key::Count(from, to) if is(from, caller) && is(to, callee) => Some(count),
            _ => None,
        });
        counts.sum()
    }

    /// Returns how many functions there are.
    pub(crate) fn functions(&self) -> usize {
        self.by_key.keys().filter(|key| matches!(key, Key::Function(_))).count()
    }

    /// Returns what differs, and by how much functions differ in sum. Counts may not differ.
    pub(crate) fn differences(&self, other: &Sums) -> (Vec<String>, u64) {
        let keys: BTreeSet<&Key> = self.by_key.keys().chain(other.by_key.keys()).collect();
        let (mut texts, mut sum) = (Vec::new(), 0);
        for key in keys {
            let [own, others] = [self, other].map(|sums| sums.by_key.get(key).copied().unwrap_or(0));
            let difference = own.abs_diff(others);
            if difference > 0 {
                texts.push(format!("{key:?}: {own} and {others}"));
                sum += match key {
                    Key::Function(_) => difference,
                    Key::Count(..) => u64::MAX / 1024,
                    Key::Address(..) | Key::Inclusive(..) => 0,
                };
            }
        }
        (texts, sum)
    }
}

/// Gives a command that records with an engine the environment in which the program has the same one under both.
pub(crate) fn set_environment(command: &mut Command, engine: &str) {
    command.env_clear();
    match engine {
        "native" => command.envs(environment_of_valgrind()),
        _ => command.env("PATH", search_path()),
    };
}

/// Returns the value of `PATH`, the one variable that programs get.
pub(crate) fn search_path() -> OsString {
    std::env::var_os("PATH").unwrap_or_default()
}

/// Returns the environment of programs under Valgrind.
pub(crate) fn environment_of_valgrind() -> Vec<(OsString, OsString)> {
    environment_under_valgrind(&["env", "-0"])
}

/// Returns the environment of programs that other ones start under Valgrind.
pub(crate) fn environment_of_children() -> Vec<(OsString, OsString)> {
    environment_under_valgrind(&["--trace-children=yes", "env", "env", "-0"])
}

fn environment_under_valgrind(words: &[&str]) -> Vec<(OsString, OsString)> {
    let mut command = Command::new("valgrind");
    command.args(["-q", "--tool=none"]).args(words).env_clear().env("PATH", search_path());
    let output = command.output().unwrap();
    let variables = output.stdout.split(|byte| *byte == 0).filter_map(|variable| {
        let end = variable.iter().position(|byte| *byte == b'=')?;
        let text = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
        Some((text(&variable[..end]), text(&variable[end + 1..])))
    });
    variables.collect()
}
