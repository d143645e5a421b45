//! Functions whose lines a comparison needs.

use std::collections::HashSet;

use crate::compare::{JoinRules, normal_function};
use crate::id::FunctionId;
use crate::profile::Profile;

/// The name of a function and of its file, without what differs between builds.
type Key = (String, String);

/// Returns the functions whose lines all stay: those that the other profile lacks, and those that call what one of both lacks.
/// Whether a function was inlined shows in its lines, and in those of its callers, however little they cost.
pub(super) fn functions_with_all_lines(profile: &Profile, other: &Profile) -> HashSet<FunctionId> {
    let (own, others) = (keys(profile), keys(other));
    let mut wanted = callers(profile, &own, &others);
    wanted.extend(callers(other, &others, &own));
    let there: HashSet<&Key> = others.iter().collect();
    let is_needed = |key: &Key| !there.contains(key) || wanted.contains(key);
    profile.functions().zip(&own).filter(|(_, key)| is_needed(key)).map(|(function, _)| function).collect()
}

/// Returns the key of each function.
fn keys(profile: &Profile) -> Vec<Key> {
    let key = |function: FunctionId| {
        let function = profile.function(function);
        let path = profile.file(function.file);
        // Each build can have its own directory.
        let file = path.rsplit(|&byte| byte == b'/').next().unwrap_or(path);
        normal_function(file, function.name, &[], JoinRules::all())
    };
    profile.functions().map(key).collect()
}

/// Returns the keys of the functions that call what the other profile lacks.
fn callers<'k>(profile: &Profile, own: &'k [Key], others: &[Key]) -> HashSet<&'k Key> {
    let there: HashSet<&Key> = others.iter().collect();
    let mut callers = HashSet::new();
    for part in profile.parts() {
        profile.each_arc(&part, |arc, _| {
            if !there.contains(&own[arc.callee.index()]) {
                callers.insert(&own[arc.caller.index()]);
            }
        });
    }
    callers
}
