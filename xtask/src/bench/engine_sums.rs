//! The sums of a profile, and how those of two engines differ.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use gristmill_profile::{Profile, Selection};

use super::source_path::without_repetition;
use crate::failure::{Context as _, Failure};

/// A function by object, file and name.
type Function = String;

/// A caller and what it calls.
type Edge = (Function, Function);

/// Costs by function, and counts and costs of calls.
#[derive(Debug, Default)]
pub(super) struct Sums {
    pub(super) total: u64,
    functions: BTreeMap<Function, u64>,
    calls: BTreeMap<Edge, (u64, u64)>,
}

/// A reason for a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    /// Callgrind does not count the block that ends a process, of 2 instructions, or a thread, of 5.
    End,
    /// Routines for text and memory take other paths on other offsets in a page.
    Text,
    /// Threads wait for each other more or less often, and others are first.
    Wait,
    /// The program reads the list of its mappings, which has those of Valgrind.
    Mappings,
    /// `vfork` returns without its frame, which Callgrind takes for the end of the call.
    Vfork,
    /// Runs under the same engine differ there, too.
    Varies,
    Unnamed,
}

impl Class {
    pub(super) const ALL: [Class; 7] =
        [Class::End, Class::Text, Class::Wait, Class::Mappings, Class::Vfork, Class::Varies, Class::Unnamed];
}

/// Functions and calls whose costs or counts differ from run to run under one engine.
#[derive(Debug, Default)]
pub(super) struct Varying {
    functions: BTreeSet<Function>,
    calls: BTreeSet<Edge>,
}

impl Varying {
    /// Adds those that differ in two runs under one engine.
    pub(super) fn add(&mut self, one: &Sums, other: &Sums) {
        self.functions.extend(keys_that_differ(&one.functions, &other.functions));
        self.calls.extend(keys_that_differ(&one.calls, &other.calls));
    }
}

/// Returns the keys that do not have the same value in two maps.
fn keys_that_differ<K: Ord + Clone, V: PartialEq>(one: &BTreeMap<K, V>, other: &BTreeMap<K, V>) -> Vec<K> {
    let keys: BTreeSet<&K> = one.keys().chain(other.keys()).collect();
    keys.into_iter().filter(|key| one.get(key) != other.get(key)).cloned().collect()
}

/// The differences of two profiles.
#[derive(Debug, Default)]
pub(super) struct Differences {
    pub(super) functions: usize,
    pub(super) function_count: usize,
    pub(super) counts: usize,
    pub(super) edge_count: usize,
    pub(super) by_class: BTreeMap<Class, u64>,
    /// Those in no class, as text.
    pub(super) unnamed: Vec<String>,
}

impl Sums {
    pub(super) fn read(path: &Path) -> Result<Sums, Failure> {
        let bytes = std::fs::read(path).context(|| format!("cannot read {}", path.display()))?;
        let profile = Profile::from_bytes(bytes);
        let selection = Selection::default();
        let number = |cost: i128| u64::try_from(cost).unwrap_or(0);
        let mut sums = Sums::default();
        let graph = profile.call_graph(&selection);
        let name = |id| {
            let function = profile.function(id);
            let file = String::from_utf8_lossy(profile.file(function.file)).into_owned();
            let object = String::from_utf8_lossy(profile.object(function.object)).into_owned();
            let object = object.rsplit('/').next().unwrap_or_default().to_owned();
            let name = String::from_utf8_lossy(function.name).into_owned();
            format!("{name} ({}, {object})", without_repetition(&file))
        };
        for id in profile.functions() {
            let cost = number(graph.self_cost(graph.node_of(id))[0]);
            sums.total += cost;
            *sums.functions.entry(name(id)).or_default() += cost;
        }
        for id in graph.arc_ids() {
            let arc = graph.arc(id);
            let [caller, callee] = [arc.caller, arc.callee].map(|node| name(graph.function_of(node)));
            let sum = sums.calls.entry((caller, callee)).or_default();
            sum.0 += number(arc.count);
            sum.1 += number(graph.arc_cost(id)[0]);
        }
        Ok(sums)
    }

    /// Compares with the sums of the other engine.
    pub(super) fn differences(&self, native: &Sums, program: &str, varying: &Varying) -> Differences {
        let mut found = Differences::default();
        let keys: BTreeSet<&Function> = self.functions.keys().chain(native.functions.keys()).collect();
        let edges: BTreeSet<&Edge> = self.calls.keys().chain(native.calls.keys()).collect();
        (found.function_count, found.edge_count) = (keys.len(), edges.len());
        let both = |edge: &Edge| [self, native].map(|sums| sums.calls.get(edge).copied().unwrap_or_default());
        let changed: Vec<&Edge> =
            edges.iter().copied().filter(|edge| both(edge)[0].0 != both(edge)[1].0).collect();
        let waits = spread(&changed, |function| function.contains("/nptl/"));
        let vforks = spread(&changed, |function| name_of(function) == "vfork");
        let calls_vfork =
            |function: &str| edges.iter().any(|edge| edge.0 == function && name_of(&edge.1) == "vfork");
        // What a library does between its waits changes with them.
        let waiting: BTreeSet<&str> = waits.iter().map(|function| object_of(function)).collect();
        let is_behind_vfork =
            |function: &str| edges.iter().any(|edge| edge.1 == function && calls_vfork(&edge.0));
        let class_of = |function: &str, callgrind: u64, native: u64| {
            let name = name_of(function);
            let more = native.wrapping_sub(callgrind);
            let is_end = matches!(name, "_exit" | "_Exit") && more == 2;
            if is_end || name == "start_thread" && more.is_multiple_of(5) && more < 500 {
                Class::End
            } else if TEXT.iter().any(|start| name.starts_with(start)) {
                Class::Text
            } else if function.contains("/nptl/") || waiting.contains(object_of(function)) {
                Class::Wait
            } else if READERS.contains(&program) && (name.starts_with("0x") || READING.contains(&name)) {
                Class::Mappings
            } else if name == "vfork"
                || vforks.contains(function)
                || calls_vfork(function)
                || name.starts_with("0x") && is_behind_vfork(function)
            {
                Class::Vfork
            } else if varying.functions.contains(function) {
                Class::Varies
            } else {
                Class::Unnamed
            }
        };
        // Which thread is the first to call a function, and binds it, is a matter of time as well.
        let has_threads = keys.iter().any(|function| name_of(function) == "start_thread");
        let mut sum = 0;
        for key in keys {
            let [one, other] = [self, native].map(|sums| sums.functions.get(key).copied().unwrap_or(0));
            let difference = one.abs_diff(other);
            if difference == 0 {
                continue;
            }
            sum += difference;
            found.functions += 1;
            let class = class_of(key, one, other);
            *found.by_class.entry(class).or_default() += difference;
            if class == Class::Unnamed {
                found.unnamed.push(format!("{key}: {one} under Callgrind, {other} under the native engine"));
            }
        }
        found.counts = changed.len();
        let is_named = |class: Class| !matches!(class, Class::Unnamed | Class::End | Class::Text);
        for edge in &changed {
            let [one, other] = both(edge);
            let has_class = varying.calls.contains(*edge)
                || [&edge.0, &edge.1].iter().any(|function| is_named(class_of(function, one.0, other.0)));
            if !has_class {
                let text = format!("calls of {} by {}: {} and {}", edge.1, edge.0, one.0, other.0);
                found.unnamed.push(text);
            }
        }
        // What calls cost can differ by as much as functions do, once on each level of recursion.
        for edge in edges.iter().copied() {
            let [one, other] = both(edge);
            let is_named = has_threads
                || changed.contains(&edge)
                || calls_vfork(&edge.0)
                || varying.calls.contains(edge);
            if one.1.abs_diff(other.1) > sum.saturating_mul(one.0.max(1)) && !is_named {
                found.unnamed.push(format!("cost of {} in {}: {} and {}", edge.1, edge.0, one.1, other.1));
            }
        }
        found
    }
}

/// Returns the functions that calls with other counts connect with some, these included.
fn spread(changed: &[&Edge], begins: impl Fn(&str) -> bool) -> BTreeSet<Function> {
    let mut found: BTreeSet<Function> = BTreeSet::new();
    loop {
        let before = found.len();
        for (caller, callee) in changed {
            let is_in = |function: &Function| begins(function) || found.contains(function);
            if is_in(caller) || is_in(callee) {
                found.extend([caller.clone(), callee.clone()]);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

fn object_of(function: &str) -> &str {
    function.rsplit(' ').next().unwrap_or_default()
}

fn name_of(function: &str) -> &str {
    function.split(' ').next().unwrap_or_default()
}

/// Starts of names of routines for text and memory, which look at offsets in a page.
const TEXT: [&str; 14] = [
    "__str", "__mem", "__wcs", "__wmem", "__rawmem", "str", "mem", "__stp", "stpcpy", "__GI_str", "__GI_mem",
    "rawmem", "bcmp", "wcs",
];

/// Programs that look for their stack in the list of mappings at their start, and what they call for that.
const READERS: [&str; 3] = ["grep", "diff", "cmp"];
const READING: [&str; 4] = ["lseek", "mmap", "munmap", "read"];

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(functions: &[(&str, u64)], calls: &[(&str, &str, u64, u64)]) -> Sums {
        Sums {
            total: functions.iter().map(|(_, cost)| cost).sum(),
            functions: functions.iter().map(|(name, cost)| ((*name).to_owned(), *cost)).collect(),
            calls: calls
                .iter()
                .map(|(caller, callee, count, cost)| {
                    (((*caller).to_owned(), (*callee).to_owned()), (*count, *cost))
                })
                .collect(),
        }
    }

    #[test]
    fn a_difference_has_a_class_or_is_named() {
        let wait = "pthread_cond_wait (./nptl/pthread_cond_wait.c, libc.so.6)";
        let work = "work (w.c, w)";
        let callgrind = sums(
            &[("_exit (e.c, libc.so.6)", 10), (wait, 50), (work, 70), ("memcpy (m.S, libc.so.6)", 5)],
            &[(work, wait, 2, 50)],
        );
        let mut native = sums(
            &[("_exit (e.c, libc.so.6)", 12), (wait, 75), (work, 73), ("memcpy (m.S, libc.so.6)", 9)],
            &[(work, wait, 3, 75)],
        );
        let found = callgrind.differences(&native, "w", &Varying::default());
        assert!(found.unnamed.is_empty(), "{:?}", found.unnamed);
        let classes: Vec<(Class, u64)> = found.by_class.into_iter().collect();
        assert_eq!(classes, [(Class::End, 2), (Class::Text, 4), (Class::Wait, 28)]);
        // Without the calls that connect it with a wait, the function stands alone.
        native.calls.clear();
        native.calls.insert((work.to_owned(), wait.to_owned()), (2, 50));
        assert_eq!(callgrind.differences(&native, "w", &Varying::default()).unnamed.len(), 1);
        // Nor does it if it differs from run to run, unless that is another function.
        let mut varying = Varying::default();
        varying.add(&callgrind, &sums(&[(wait, 51)], &[]));
        native.functions.insert(work.to_owned(), 70);
        native.functions.insert("other (w.c, w)".to_owned(), 1);
        assert_eq!(callgrind.differences(&native, "w", &varying).unnamed.len(), 1);
        varying.add(&native, &callgrind);
        let found = callgrind.differences(&native, "w", &varying);
        assert_eq!((found.unnamed.len(), found.by_class.get(&Class::Varies)), (0, Some(&1)));
    }
}
