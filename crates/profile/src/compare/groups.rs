//! Groups of functions that are one: by their texts, and by being the only one of their name elsewhere.

use super::generic::{has_no_arguments, is_instance, without_arguments};
use super::id::{JoinedPathId, RawFunctionId, Side};
use super::join_rule::{JoinRule, JoinRules};
use super::joined_paths::JoinedPaths;
use super::raw::{RawFunctions, RunSet};
use crate::interner::Interner;

/// Functions that become one.
pub(super) type Group = Vec<RawFunctionId>;

/// Groups of all functions.
pub(super) struct Groups {
    /// In the order in which the files mention them.
    pub(super) groups: Vec<Group>,
    /// Pairs of groups, by index, that may be one function whose parameters changed, or two overloads.
    pub(super) overloads: Vec<[usize; 2]>,
}

/// Puts each function into one group.
pub(super) fn groups(functions: &RawFunctions<'_>, paths: &JoinedPaths<'_>, rules: JoinRules) -> Groups {
    let mut groups = joined_elsewhere(same_texts(functions, paths), functions, paths, rules);
    let mut overloads = Vec::new();
    if rules.has(JoinRule::GenericArguments) {
        overloads = join_instances(&mut groups, functions, paths);
    }
    Groups { groups, overloads }
}

/// Joins the instances of a generic function that only one side has: those of one side if the other has one without
/// arguments, as another mangling writes them, and pairs with other arguments. Returns pairs that have parameters, but are no
/// instances.
fn join_instances(
    groups: &mut Vec<Group>,
    functions: &RawFunctions<'_>,
    paths: &JoinedPaths<'_>,
) -> Vec<[usize; 2]> {
    let mut interner: Interner<(JoinedPathId, Vec<u8>)> = Interner::default();
    // By key: the groups of the base, those of the new side.
    let mut by_key: Vec<[Vec<usize>; 2]> = Vec::new();
    for (index, group) in groups.iter().enumerate() {
        let first = &functions[group[0]];
        let has = |side: Side| group.iter().any(|&member| functions[member].sides[side.index()]);
        let file = paths.get(first.file);
        if has(Side::Base) == has(Side::New) || !paths.is_known(file) {
            continue;
        }
        let Some(text) = without_arguments(&first.normal.text) else { continue };
        let (key, is_first) = interner.intern((file, text));
        if is_first {
            by_key.push(Default::default());
        }
        by_key[key][usize::from(has(Side::New))].push(index);
    }
    let mut overloads: Vec<[usize; 2]> = Vec::new();
    for [base, new] in by_key {
        let is_erased = |groups_of: &[usize]| matches!(groups_of, [group] if has_no_arguments(&functions[groups[*group][0]].normal.text));
        // Closures with other numbers are no instances of one.
        let ordinal = |group: &usize| &functions[groups[*group][0]].normal.own_ordinal;
        let have_one_ordinal =
            |groups_of: &[usize]| groups_of.iter().all(|group| ordinal(group) == ordinal(&groups_of[0]));
        let is_pair = base.len() == 1 && new.len() == 1;
        let are_instances =
            || is_erased(&base) && have_one_ordinal(&new) || is_erased(&new) && have_one_ordinal(&base);
        if base.is_empty() || new.is_empty() || !is_pair && !are_instances() {
            continue;
        }
        let is_instance = |group: &usize| is_instance(&functions[groups[*group][0]].normal.text);
        if is_pair && !is_instance(&base[0]) && !is_instance(&new[0]) {
            overloads.push([base[0], new[0]]);
            continue;
        }
        for other in base[1..].iter().chain(&new) {
            let joined = std::mem::take(&mut groups[*other]);
            groups[base[0]].extend(joined);
        }
    }
    // By index: the count of groups before it that are left.
    let mut left = 0;
    let count = |group: &Group| {
        let before = left;
        left += usize::from(!group.is_empty());
        before
    };
    let places: Vec<usize> = groups.iter().map(count).collect();
    groups.retain(|group| !group.is_empty());
    overloads.into_iter().map(|pair| pair.map(|group| places[group])).collect()
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
fn split(group: Group, functions: &RawFunctions<'_>) -> Vec<Group> {
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
    // Folded levels and callers stay together.
    let name = |member: &RawFunctionId| match normal(member).used.has(JoinRule::RecursionLevel) {
        true => &normal(member).text[..],
        false => &functions[*member].folded[..],
    };
    for is_exact in [true, false] {
        let key = |member: &RawFunctionId| match is_exact {
            true => (name(member), mention(member).file, mention(member).object),
            false => (name(member), &b""[..], &b""[..]),
        };
        let mut members = group.clone();
        members.sort_by(|a, b| key(a).cmp(&key(b)));
        if members.chunk_by(|a, b| key(a) == key(b)).all(has_both) {
            return members.chunk_by(|a, b| key(a) == key(b)).map(<[_]>::to_vec).collect();
        }
    }
    // A closure added before others shifts their numbers, so numbers count only if both sides have the same. Otherwise each
    // closure stays alone, and is found by its cost like a renamed function, unless there is only one on each side.
    let mut by_ordinal = group.clone();
    by_ordinal.sort_by(|a, b| normal(a).ordinal.cmp(&normal(b).ordinal));
    let same = by_ordinal.chunk_by(|a, b| normal(a).ordinal == normal(b).ordinal).all(has_both);
    let of_side = |side: usize| {
        let ordinals = group
            .iter()
            .filter(|&member| functions[*member].sides[side])
            .map(|member| &normal(member).ordinal);
        ordinals.collect::<std::collections::BTreeSet<_>>().len()
    };
    let is_counted = same || of_side(0) > 1 || of_side(1) > 1;
    let ordinal = |member: &RawFunctionId| if is_counted { normal(member).ordinal.as_str() } else { "" };
    if is_counted && !same {
        let mut apart: Vec<Group> = Vec::new();
        for side in 0..2 {
            let mut of_side: Vec<RawFunctionId> =
                group.iter().copied().filter(|&member| functions[member].sides[side]).collect();
            // One that both sides have is listed with the base.
            of_side.retain(|&member| side == 0 || !functions[member].sides[0]);
            of_side.sort_by(|a, b| ordinal(a).cmp(ordinal(b)));
            apart.extend(of_side.chunk_by(|a, b| ordinal(a) == ordinal(b)).map(<[_]>::to_vec));
        }
        return apart;
    }
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
            // An address means nothing in another object. In the same, the file behind a call or a merge can differ.
            if has(Side::Base) == has(Side::New)
                || !by_object && first.normal.text.starts_with(b"0x")
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
