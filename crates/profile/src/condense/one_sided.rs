//! Functions whose lines a comparison needs.

use std::collections::{HashMap, HashSet};

use crate::compare::{JoinRules, file_name, is_closure, normal_function};
use crate::id::FunctionId;
use crate::profile::Profile;

/// The name of a function and of its file, without what differs between builds.
type Key = (String, String);

/// Returns the functions of each profile whose lines all stay: those that one profile lacks, and those that call them. Whether a function was inlined
/// shows in its lines, and in those of its callers, however little they cost. So do closures, which only lines tell apart.
pub(super) fn functions_with_all_lines(profile: &Profile, other: &Profile) -> [HashSet<FunctionId>; 2] {
    let (own, others) = (keys(profile), keys(other));
    // Several functions can have one key: one side lacks some of them if it has fewer.
    let mut counts: HashMap<&Key, [u32; 2]> = HashMap::new();
    for (side, keys) in [&own, &others].into_iter().enumerate() {
        keys.iter().for_each(|key| counts.entry(key).or_default()[side] += 1);
    }
    let one_sided: HashSet<&Key> =
        counts.into_iter().filter(|(_, [own, other])| own != other).map(|(key, _)| key).collect();
    let mut needed = one_sided.clone();
    needed.extend(callers(profile, &own, &one_sided));
    needed.extend(callers(other, &others, &one_sided));
    [(profile, &own), (other, &others)].map(|(profile, keys)| {
        let is_whole = |(function, key): &(FunctionId, &Key)| {
            needed.contains(key) || is_closure(profile.function(*function).name)
        };
        profile.functions().zip(keys).filter(is_whole).map(|(function, _)| function).collect()
    })
}

/// Returns the key of each function.
fn keys(profile: &Profile) -> Vec<Key> {
    let key = |function: FunctionId| {
        let function = profile.function(function);
        let file = file_name(profile.file(function.file));
        normal_function(file, function.name, &[], JoinRules::all())
    };
    profile.functions().map(key).collect()
}

/// Returns the keys of the functions that call one of these.
fn callers<'k>(profile: &Profile, own: &'k [Key], callees: &HashSet<&Key>) -> HashSet<&'k Key> {
    let mut callers = HashSet::new();
    for part in profile.parts() {
        profile.each_arc(&part, |arc, _| {
            if callees.contains(&own[arc.callee.index()]) {
                callers.insert(&own[arc.caller.index()]);
            }
        });
    }
    callers
}
