//! Groups of functions that are one: by their texts, and by being the only one of their name elsewhere.

use super::id::{JoinedPathId, RawFunctionId, Side};
use super::join_rule::{JoinRule, JoinRules};
use super::joined_paths::JoinedPaths;
use super::raw::{RawFunctions, RunSet};
use crate::interner::Interner;

/// Functions that become one.
pub(super) type Group = Vec<RawFunctionId>;

/// Puts each function into one group, in the order in which the files mention them.
pub(super) fn groups(functions: &RawFunctions<'_>, paths: &JoinedPaths<'_>, rules: JoinRules) -> Vec<Group> {
    joined_elsewhere(same_texts(functions, paths), functions, paths, rules)
}

/// Groups functions whose object, file and name are the same after all rules about texts.
fn same_texts(functions: &RawFunctions<'_>, paths: &JoinedPaths<'_>) -> Vec<Group> {
    let mut interner = Interner::default();
    let mut groups: Vec<Group> = Vec::new();
    for id in functions.ids() {
        let function = &functions[id];
        let key = (paths.get(function.object), paths.get(function.file), &function.normal.text[..]);
        let (group, is_first) = interner.intern(key);
        if is_first {
            groups.push(Vec::new());
        }
        groups[group].push(id);
    }
    groups.into_iter().flat_map(|group| split(group, functions)).collect()
}

/// Splits a group again where the parts that were removed from the names distinguish its functions on both sides.
fn split<'p>(group: Group, functions: &RawFunctions<'p>) -> Vec<Group> {
    if group.len() == 1 {
        return vec![group];
    }
    let normal = |member: &RawFunctionId| &functions[*member].normal;
    let runs_of = |members: &[RawFunctionId]| {
        let mut runs = RunSet::default();
        members.iter().for_each(|&member| runs.add(functions[member].runs));
        runs
    };
    // All runs that have any function of the group.
    let all = runs_of(&group);
    let has_both = |members: &[RawFunctionId]| {
        (0..2).all(|side| members.iter().any(|&member| functions[member].sides[side]))
            && runs_of(members) == all
    };
    // If both sides have the same functions, or at least the same names, nothing has to be joined.
    let mention = |member: &RawFunctionId| functions[*member].mention;
    let exact = |member: &RawFunctionId| (mention(member).name, mention(member).file, mention(member).object);
    let by_name = |member: &RawFunctionId| (mention(member).name, &b""[..], &b""[..]);
    for key in [&exact as &dyn Fn(&RawFunctionId) -> (&'p [u8], &'p [u8], &'p [u8]), &by_name] {
        let mut members = group.clone();
        members.sort_by(|a, b| key(a).cmp(&key(b)));
        if members.chunk_by(|a, b| key(a) == key(b)).all(has_both) {
            return members.chunk_by(|a, b| key(a) == key(b)).map(<[_]>::to_vec).collect();
        }
    }
    // A closure added before others shifts their numbers, so numbers count only if both sides have the same.
    let mut by_ordinal = group.clone();
    by_ordinal.sort_by(|a, b| normal(a).ordinal.cmp(&normal(b).ordinal));
    let same = by_ordinal.chunk_by(|a, b| normal(a).ordinal == normal(b).ordinal).all(has_both);
    let ordinal = |member: &RawFunctionId| if same { normal(member).ordinal.as_str() } else { "" };
    let mut members = group;
    // Stable, so that members keep their order.
    members.sort_by(|a, b| ordinal(a).cmp(ordinal(b)));
    let mut split = Vec::new();
    for chunk in members.chunk_by(|a, b| ordinal(a) == ordinal(b)) {
        let mut chunk = chunk.to_vec();
        let identity = |member: &RawFunctionId| normal(member).identity.as_str();
        chunk.sort_by(|a, b| identity(a).cmp(identity(b)));
        let mut rest = Vec::new();
        for twins in chunk.chunk_by(|a, b| identity(a) == identity(b)) {
            if has_both(twins) && !identity(&twins[0]).is_empty() {
                split.push(twins.to_vec());
            } else {
                rest.extend_from_slice(twins);
            }
        }
        if !rest.is_empty() {
            rest.sort_unstable();
            split.push(rest);
        }
    }
    split
}

/// The key of a function in another object or file: its object or its file, if that counts, and its name.
type ElsewhereKey<'a> = (Option<JoinedPathId>, Option<JoinedPathId>, &'a [u8]);

/// The groups of one side that have a key.
#[derive(Debug, Clone, Copy)]
enum Candidates {
    None,
    One(usize),
    Several,
}

/// Joins groups of one side with groups of the other where each is the only one of its name and file, of its name and
/// object, or of its name.
fn joined_elsewhere(
    mut groups: Vec<Group>,
    functions: &RawFunctions<'_>,
    paths: &JoinedPaths<'_>,
    rules: JoinRules,
) -> Vec<Group> {
    let (other_object, other_file) = (rules.has(JoinRule::OtherObject), rules.has(JoinRule::OtherFile));
    for (is_used, by_object, by_file) in
        [(other_object, false, true), (other_file, true, false), (other_object && other_file, false, false)]
    {
        if !is_used {
            continue;
        }
        let mut interner: Interner<ElsewhereKey<'_>> = Interner::default();
        let mut by_key: Vec<[Candidates; 2]> = Vec::new();
        for (index, group) in groups.iter().enumerate() {
            let first = &functions[group[0]];
            let has = |side: Side| group.iter().any(|&member| functions[member].sides[side.index()]);
            // An address means nothing in another object.
            if has(Side::Base) == has(Side::New)
                || first.normal.text.starts_with(b"0x")
                || first.normal.text.is_empty()
            {
                continue;
            }
            let [object, file] = [first.object, first.file].map(|raw| paths.get(raw));
            if by_file && !paths.is_known(file) || by_object && !paths.is_known(object) {
                continue;
            }
            let key = (by_object.then_some(object), by_file.then_some(file), &first.normal.text[..]);
            let (key, is_first) = interner.intern(key);
            if is_first {
                by_key.push([Candidates::None; 2]);
            }
            let of_side = &mut by_key[key][usize::from(has(Side::New))];
            *of_side = match of_side {
                Candidates::None => Candidates::One(index),
                Candidates::One(_) | Candidates::Several => Candidates::Several,
            };
        }
        for candidates in by_key {
            if let [Candidates::One(base), Candidates::One(new)] = candidates {
                let joined = std::mem::take(&mut groups[new]);
                groups[base].extend(joined);
            }
        }
        groups.retain(|group| !group.is_empty());
    }
    // In the order in which the files mention them.
    groups.sort_by_key(|group| group.iter().copied().min());
    groups
}
