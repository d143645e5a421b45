//! Functions whose lines a comparison needs.

use std::collections::hash_map::RandomState;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, Hash};

use crate::compare::{JoinRules, file_name, is_closure, normal_function};
use crate::id::FunctionId;
use crate::profile::Profile;

/// A hash of the name of a function and of its file, without what differs between builds. A name can be as long as half of a file, and
/// many functions can have it.
type Key = [u64; 2];

/// The traits of a function that its name tells.
#[derive(Debug, Clone, Copy)]
struct Named {
    key: Key,
    is_closure: bool,
}

/// Returns the functions of each profile whose lines all stay: those that one profile lacks, and those that call them. Whether a
/// function was inlined shows in its lines, and in those of its callers, however little they cost. So do closures, which only lines
/// tell apart.
pub(super) fn functions_with_all_lines(profile: &Profile, other: &Profile) -> [HashSet<FunctionId>; 2] {
    let hashes = [RandomState::new(), RandomState::new()];
    let (own, others) = (names(profile, &hashes), names(other, &hashes));
    // Several functions can have one key: one side lacks some of them if it has fewer.
    let mut counts: HashMap<Key, [u32; 2]> = HashMap::new();
    for (side, names) in [&own, &others].into_iter().enumerate() {
        names.iter().for_each(|name| counts.entry(name.key).or_default()[side] += 1);
    }
    let one_sided: HashSet<Key> =
        counts.into_iter().filter(|(_, [own, other])| own != other).map(|(key, _)| key).collect();
    let mut needed = one_sided.clone();
    needed.extend(callers(profile, &own, &one_sided));
    needed.extend(callers(other, &others, &one_sided));
    [(profile, &own), (other, &others)].map(|(profile, names)| {
        let is_whole = |(_, name): &(FunctionId, &Named)| needed.contains(&name.key) || name.is_closure;
        profile.functions().zip(names).filter(is_whole).map(|(function, _)| function).collect()
    })
}

/// Returns the traits of each function.
fn names(profile: &Profile, hashes: &[RandomState; 2]) -> Vec<Named> {
    let normal = |file: &[u8], name: &[u8]| normal_function(file, name, &[], JoinRules::all());
    let path = |file| normal(file_name(profile.file(file)), b"").0;
    let files: Vec<Key> = profile.files().map(|file| key(hashes, &path(file))).collect();
    let mut known = HashMap::new();
    let name = |function: FunctionId| {
        let id = profile.index.functions.get(function).key.name;
        let function = profile.function(function);
        let Named { key: name, is_closure } = *known.entry(id).or_insert_with(|| Named {
            key: key(hashes, &normal(b"", function.name).1),
            is_closure: is_closure(function.name),
        });
        Named { key: key(hashes, &(files[function.file.index()], name)), is_closure }
    };
    profile.functions().map(name).collect()
}

fn key(hashes: &[RandomState; 2], value: &impl Hash) -> Key {
    hashes.each_ref().map(|hash| hash.hash_one(value))
}

/// Returns the keys of the functions that call one of these.
fn callers(profile: &Profile, own: &[Named], callees: &HashSet<Key>) -> HashSet<Key> {
    let mut callers = HashSet::new();
    for part in profile.parts() {
        profile.each_arc(&part, |arc, _| {
            if callees.contains(&own[arc.callee.index()].key) {
                callers.insert(own[arc.caller.index()].key);
            }
        });
    }
    callers
}
