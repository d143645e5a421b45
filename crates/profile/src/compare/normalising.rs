//! Which mentions of functions, over all runs of both sides, are one function.

use std::borrow::Cow;
use std::collections::HashMap;

use super::checkout::{Checkout, LonePath, joined_paths};
use super::names::{NormalName, normal_name};
use super::paths::{mapped, normal_path, without_prefix};
use super::rules::{Rule, RuleSet};
use crate::profile::Profile;
use crate::symbol::{fold_callers, fold_recursion};

/// How names and paths of unlike builds are made comparable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Normalising {
    /// The rules that are taken.
    pub rules: RuleSet,
    /// Directories that are taken off the beginning of paths, before any rule.
    pub strip_prefix: Vec<Vec<u8>>,
    /// Beginnings of paths, and what is read in their place; after `strip_prefix`, before any rule.
    pub map: Vec<(Vec<u8>, Vec<u8>)>,
    /// Whether all levels of a recursion are one function.
    pub fold_recursion: bool,
    /// Whether functions that differ only in their recorded callers are one.
    pub fold_callers: bool,
}

impl Default for Normalising {
    fn default() -> Self {
        Normalising {
            rules: RuleSet::all(),
            strip_prefix: Vec::new(),
            map: Vec::new(),
            fold_recursion: false,
            fold_callers: false,
        }
    }
}

/// A function as a profile mentions it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Mention<'p> {
    /// Its object.
    pub object: &'p [u8],
    /// Its source file.
    pub file: &'p [u8],
    /// Its name, as recorded.
    pub name: &'p [u8],
}

/// What is compared as one function.
#[derive(Debug, Clone)]
pub(super) struct Joined<'p> {
    /// As either side first mentions it: base, new.
    pub(super) sides: [Option<Mention<'p>>; 2],
    /// How many functions of either side it is.
    pub(super) counts: [u32; 2],
    /// The rules that it took.
    pub(super) rules: RuleSet,
    /// Its joined file, and whether that is known.
    pub(super) file: u32,
    pub(super) has_file: bool,
    /// Its joined object.
    pub(super) object: u32,
}

/// Everything by its number over all runs.
#[derive(Debug)]
pub(super) struct Identity<'p> {
    pub(super) functions: Vec<Joined<'p>>,
    /// By run, in the order base then new: the joined function of each function.
    pub(super) function_of: Vec<Vec<u32>>,
    /// By run: the joined path of each file.
    pub(super) file_of: Vec<Vec<u32>>,
    /// The joined paths, as either side first has them.
    pub(super) paths: Vec<[Option<&'p [u8]>; 2]>,
    pub(super) checkouts: Vec<Checkout>,
}

/// Numbers for things, in the order in which they come.
#[derive(Debug)]
struct Numbered<K>(HashMap<K, u32>);

impl<K: std::hash::Hash + Eq> Numbered<K> {
    fn new() -> Self {
        Numbered(HashMap::new())
    }

    /// The number, and whether it is a new one.
    fn of(&mut self, key: K) -> (u32, bool) {
        let next = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
        let number = *self.0.entry(key).or_insert(next);
        (number, number == next)
    }
}

/// Some of the runs, by their place; those after the last that has a bit of its own share it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct RunSet(u128);

impl RunSet {
    fn of(run: usize) -> Self {
        RunSet(1 << run.min(127))
    }

    /// All runs before one.
    fn before(run: usize) -> Self {
        RunSet(RunSet::of(run).0 - 1)
    }

    fn add(&mut self, other: RunSet) {
        self.0 |= other.0;
    }

    fn meets(self, other: RunSet) -> bool {
        self.0 & other.0 != 0
    }
}

/// A path of some run.
struct RawPath<'p> {
    text: &'p [u8],
    sides: [bool; 2],
    runs: RunSet,
    /// The first run that has it.
    run: usize,
}

struct RawFunction<'p> {
    mention: Mention<'p>,
    object: u32,
    file: u32,
    sides: [bool; 2],
    runs: RunSet,
    normal: NormalName,
}

impl<'p> Identity<'p> {
    /// `runs` are all profiles, and whether each is of the new side.
    pub(super) fn of(runs: &[(&'p Profile, bool)], normalising: &Normalising) -> Self {
        let pids: Vec<Vec<u64>> = runs.iter().map(|(profile, _)| pids(profile)).collect();
        let (raw_paths, objects, files) = raw_paths(runs);
        let paths = JoinedPaths::of(&raw_paths, normalising, &pids, runs);

        let mut functions: Vec<RawFunction<'p>> = Vec::new();
        let mut numbers = Numbered::new();
        let mut mentions: Vec<Vec<u32>> = Vec::new();
        for (run, (profile, is_new)) in runs.iter().enumerate() {
            let of_run = profile.functions().map(|id| {
                let function = profile.function(id);
                let (object, file) =
                    (objects[run][function.object.index()], files[run][function.file.index()]);
                let (number, is_first) = numbers.of((object, file, function.name));
                if is_first {
                    functions.push(RawFunction {
                        mention: Mention {
                            object: profile.object(function.object),
                            file: profile.file(function.file),
                            name: function.name,
                        },
                        object,
                        file,
                        sides: [false; 2],
                        runs: RunSet::default(),
                        normal: NormalName::default(),
                    });
                }
                if let Some(function) = functions.get_mut(number as usize) {
                    function.sides[usize::from(*is_new)] = true;
                    function.runs.add(RunSet::of(run));
                    if is_first {
                        function.normal = normalised(function.mention.name, normalising, &pids[run]);
                    }
                }
                number
            });
            mentions.push(of_run.collect());
        }
        take_checkouts_from_names(&mut functions, &paths.checkouts, normalising.rules);

        let groups = groups(&functions, &paths);
        let groups = joined_elsewhere(groups, &functions, &paths, normalising.rules);
        let mut joined_of = vec![0; functions.len()];
        for (number, group) in groups.iter().enumerate() {
            for &member in group {
                joined_of[member as usize] = u32::try_from(number).unwrap_or(u32::MAX);
            }
        }
        let joined = groups.iter().map(|group| joined(group, &functions, &paths)).collect();
        for of_run in &mut mentions {
            of_run.iter_mut().for_each(|mention| *mention = joined_of[*mention as usize]);
        }
        let file_of =
            files.into_iter().map(|files| files.into_iter().map(|raw| paths.of[raw as usize]).collect());
        Identity {
            functions: joined,
            function_of: mentions,
            file_of: file_of.collect(),
            paths: paths.sides,
            checkouts: paths.checkouts,
        }
    }

    /// Makes functions of the base one with functions of the new side. The number that each function has from then on.
    pub(super) fn join(&mut self, pairs: &[(u32, u32)], rule: Rule) -> Vec<u32> {
        let mut new_number: Vec<u32> = vec![u32::MAX; self.functions.len()];
        for &(base, new) in pairs {
            let (sides, counts, rules) = {
                let gone = &self.functions[new as usize];
                (gone.sides, gone.counts, gone.rules)
            };
            let kept = &mut self.functions[base as usize];
            kept.sides[1] = sides[1];
            kept.counts[1] = counts[1];
            kept.rules = kept.rules.and(rules).with(rule);
            new_number[new as usize] = base;
        }
        let mut next = 0;
        let mut place = vec![0; self.functions.len()];
        for number in 0..self.functions.len() {
            if new_number[number] == u32::MAX {
                place[number] = next;
                next += 1;
            }
        }
        for number in 0..self.functions.len() {
            if let Some(&base) = place.get(new_number[number] as usize) {
                place[number] = base;
            }
        }
        let mut number = 0;
        self.functions.retain(|_| {
            number += 1;
            new_number[number - 1] == u32::MAX
        });
        for of_run in &mut self.function_of {
            of_run.iter_mut().for_each(|function| *function = place[*function as usize]);
        }
        place
    }
}

/// The processes that a profile is of.
fn pids(profile: &Profile) -> Vec<u64> {
    let mut pids: Vec<u64> = profile.parts().filter_map(|part| part.pid()).collect();
    pids.sort_unstable();
    pids.dedup();
    pids
}

/// All paths, each once, and by run the number of each object and file.
fn raw_paths<'p>(runs: &[(&'p Profile, bool)]) -> (Vec<RawPath<'p>>, Vec<Vec<u32>>, Vec<Vec<u32>>) {
    let mut paths: Vec<RawPath<'p>> = Vec::new();
    let mut numbers = Numbered::new();
    let mut take = |text: &'p [u8], is_new: bool, run: usize| {
        let (number, is_first) = numbers.of(text);
        if is_first {
            paths.push(RawPath { text, sides: [false; 2], runs: RunSet::default(), run });
        }
        if let Some(path) = paths.get_mut(number as usize) {
            path.sides[usize::from(is_new)] = true;
            path.runs.add(RunSet::of(run));
        }
        number
    };
    let (mut objects, mut files) = (Vec::new(), Vec::new());
    for (run, &(profile, is_new)) in runs.iter().enumerate() {
        let ids = (0..profile.object_count()).map(crate::ObjectId::new);
        objects.push(ids.map(|id| take(profile.object(id), is_new, run)).collect());
        let ids = (0..profile.file_count()).map(crate::FileId::new);
        files.push(ids.map(|id| take(profile.file(id), is_new, run)).collect());
    }
    (paths, objects, files)
}

/// Paths of both sides, made one where they are.
struct JoinedPaths<'p> {
    /// By raw path.
    of: Vec<u32>,
    /// By raw path: the rules that it took.
    rules: Vec<RuleSet>,
    sides: Vec<[Option<&'p [u8]>; 2]>,
    is_known: Vec<bool>,
    checkouts: Vec<Checkout>,
}

impl<'p> JoinedPaths<'p> {
    fn of(
        raw: &[RawPath<'p>],
        normalising: &Normalising,
        pids: &[Vec<u64>],
        runs: &[(&Profile, bool)],
    ) -> Self {
        let mut numbers = Numbered::new();
        let mut normal: Vec<Vec<u8>> = Vec::new();
        let (mut of, mut rules) = (Vec::new(), Vec::new());
        let mut runs_of: Vec<RunSet> = Vec::new();
        for path in raw {
            let (text, used) = comparable(path, normalising, &pids[path.run]);
            let (number, is_first) = numbers.of(text.clone());
            if is_first {
                normal.push(text);
                runs_of.push(RunSet::default());
            }
            if let Some(runs) = runs_of.get_mut(number as usize) {
                runs.add(path.runs);
            }
            of.push(number);
            rules.push(used);
        }

        let mut checkouts = Vec::new();
        if normalising.rules.has(Rule::CheckoutDirectory) {
            let mut stands_for: Vec<usize> = (0..normal.len()).collect();
            let mut by_checkout = vec![false; normal.len()];
            // Each run with all before it: runs of one side may be of other directories, too.
            for (run, (_, is_new)) in runs.iter().enumerate().skip(1) {
                let (this, before) = (RunSet::of(run), RunSet::before(run));
                let lone: Vec<LonePath<'_>> = normal
                    .iter()
                    .enumerate()
                    .filter(|(id, path)| {
                        runs_of[*id].meets(this) != runs_of[*id].meets(before) && is_known(path)
                    })
                    .map(|(id, path)| LonePath { path, is_new: runs_of[id].meets(this), id })
                    .collect();
                let (pairs, found) = joined_paths(&lone);
                if *is_new && checkouts.is_empty() {
                    checkouts = found;
                }
                for (known, new) in pairs {
                    stands_for[new] = known;
                    by_checkout[known] = true;
                    by_checkout[new] = true;
                    let joined = std::mem::take(&mut runs_of[new]);
                    runs_of[known].add(joined);
                }
            }
            for (number, used) in of.iter_mut().zip(&mut rules) {
                if by_checkout[*number as usize] {
                    *used = used.with(Rule::CheckoutDirectory);
                }
                *number = u32::try_from(stands_for[*number as usize]).unwrap_or(u32::MAX);
            }
        }
        let mut sides: Vec<[Option<&'p [u8]>; 2]> = vec![[None; 2]; normal.len()];
        for (path, &number) in raw.iter().zip(&of) {
            for (side, first) in sides[number as usize].iter_mut().enumerate() {
                if path.sides[side] {
                    first.get_or_insert(path.text);
                }
            }
        }
        let is_known = normal.iter().map(|path| is_known(path)).collect();
        JoinedPaths { of, rules, sides, is_known, checkouts }
    }
}

/// Some producers write question marks for what they do not know.
fn is_known(path: &[u8]) -> bool {
    !path.is_empty() && path != b"???"
}

fn comparable(path: &RawPath<'_>, normalising: &Normalising, pids: &[u64]) -> (Vec<u8>, RuleSet) {
    let mut text = Cow::Borrowed(path.text);
    if let Some(rest) = without_prefix(&text, &normalising.strip_prefix) {
        text = Cow::Owned(rest.to_owned());
    }
    if let Some(other) = mapped(&text, &normalising.map) {
        text = Cow::Owned(other);
    }
    match std::str::from_utf8(&text) {
        Ok(text) => {
            let (text, used) = normal_path(text, normalising.rules, pids);
            (text.into_bytes(), used)
        }
        Err(_) => (text.into_owned(), RuleSet::NONE),
    }
}

fn normalised(name: &[u8], normalising: &Normalising, pids: &[u64]) -> NormalName {
    let name = if normalising.fold_callers { fold_callers(name) } else { name };
    let name = if normalising.fold_recursion { fold_recursion(name) } else { Cow::Borrowed(name) };
    normal_name(&name, normalising.rules, pids)
}

/// Some names hold paths: `require_once::/srv/app/index.php`. Only the directories that join most paths are looked for.
fn take_checkouts_from_names(functions: &mut [RawFunction<'_>], checkouts: &[Checkout], rules: RuleSet) {
    const MOST: usize = 8;
    /// `/` alone stands in many names that have no path.
    const SHORTEST: usize = 4;
    let checkouts: Vec<&Checkout> = checkouts
        .iter()
        .filter(|checkout| checkout.base.len().max(checkout.new.len()) >= SHORTEST)
        .take(MOST)
        .collect();
    if checkouts.is_empty() || !rules.has(Rule::CheckoutDirectory) {
        return;
    }
    let lone = functions.iter_mut().filter(|function| function.sides[0] != function.sides[1]);
    for function in lone.filter(|function| function.normal.text.contains(&b'/')) {
        for checkout in &checkouts {
            let directory = if function.sides[1] { &checkout.new } else { &checkout.base };
            if directory.len() < SHORTEST {
                continue;
            }
            if let Some(at) = memchr::memmem::find(&function.normal.text, directory) {
                function.normal.text.drain(at..at + directory.len());
                function.normal.used = function.normal.used.with(Rule::CheckoutDirectory);
                break;
            }
        }
    }
}

/// Functions whose object, file and name are the same after all rules about texts.
fn groups(functions: &[RawFunction<'_>], paths: &JoinedPaths<'_>) -> Vec<Vec<u32>> {
    let mut numbers = Numbered::new();
    let mut groups: Vec<Vec<u32>> = Vec::new();
    for (number, function) in (0..).zip(functions) {
        let [object, file] = [function.object, function.file].map(|raw| paths.of[raw as usize]);
        let (group, is_first) = numbers.of((object, file, &function.normal.text[..]));
        if is_first {
            groups.push(Vec::new());
        }
        if let Some(group) = groups.get_mut(group as usize) {
            group.push(number);
        }
    }
    groups.into_iter().flat_map(|group| split(group, functions)).collect()
}

/// Takes a group apart again where what was taken out of the names tells its functions apart on both sides.
fn split<'p>(group: Vec<u32>, functions: &[RawFunction<'p>]) -> Vec<Vec<u32>> {
    if group.len() == 1 {
        return vec![group];
    }
    let normal = |member: &u32| &functions[*member as usize].normal;
    let runs_of = |members: &[u32]| {
        let mut runs = RunSet::default();
        members.iter().for_each(|&member| runs.add(functions[member as usize].runs));
        runs
    };
    // In every run that has any of the group.
    let all = runs_of(&group);
    let has_both = |members: &[u32]| {
        (0..2).all(|side| members.iter().any(|&member| functions[member as usize].sides[side]))
            && runs_of(members) == all
    };
    // Where both sides have the same functions, or at least the same names, nothing need be joined.
    let mention = |member: &u32| functions[*member as usize].mention;
    let exact = |member: &u32| (mention(member).name, mention(member).file, mention(member).object);
    let by_name = |member: &u32| (mention(member).name, &b""[..], &b""[..]);
    for key in [&exact as &dyn Fn(&u32) -> (&'p [u8], &'p [u8], &'p [u8]), &by_name] {
        let mut members = group.clone();
        members.sort_by(|a, b| key(a).cmp(&key(b)));
        if members.chunk_by(|a, b| key(a) == key(b)).all(has_both) {
            return members.chunk_by(|a, b| key(a) == key(b)).map(<[u32]>::to_vec).collect();
        }
    }
    // Numbers of closures shift when one is put before others, so they tell only where both sides have the same.
    let mut by_ordinal = group.clone();
    by_ordinal.sort_by(|a, b| normal(a).ordinal.cmp(&normal(b).ordinal));
    let same = by_ordinal.chunk_by(|a, b| normal(a).ordinal == normal(b).ordinal).all(has_both);
    let ordinal = |member: &u32| if same { normal(member).ordinal.as_str() } else { "" };
    let mut members = group;
    // Stable, so that members stay in the order in which they came.
    members.sort_by(|a, b| ordinal(a).cmp(ordinal(b)));
    let mut split = Vec::new();
    for chunk in members.chunk_by(|a, b| ordinal(a) == ordinal(b)) {
        let mut chunk = chunk.to_vec();
        let identity = |member: &u32| normal(member).identity.as_str();
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

/// What a function is known by elsewhere: its object or its file, if that counts, and its name.
type Elsewhere<'a> = (Option<u32>, Option<u32>, &'a [u8]);

/// The groups of either side with a key: how many, and the first.
type Alone = [(u32, usize); 2];

/// Joins groups of one side with groups of the other that are alone with their name and file, their name and object, or
/// their name.
fn joined_elsewhere(
    mut groups: Vec<Vec<u32>>,
    functions: &[RawFunction<'_>],
    paths: &JoinedPaths<'_>,
    rules: RuleSet,
) -> Vec<Vec<u32>> {
    let (object, file) = (rules.has(Rule::OtherObject), rules.has(Rule::OtherFile));
    for (is_taken, by_object, by_file) in
        [(object, false, true), (file, true, false), (object && file, false, false)]
    {
        if !is_taken {
            continue;
        }
        let mut found: HashMap<Elsewhere<'_>, Alone> = HashMap::new();
        let mut keys = Vec::new();
        for (place, group) in groups.iter().enumerate() {
            let Some(first) = group.first().map(|&first| &functions[first as usize]) else { continue };
            let side = |side: usize| group.iter().any(|&member| functions[member as usize].sides[side]);
            // An address says nothing elsewhere.
            if side(0) == side(1) || first.normal.text.starts_with(b"0x") || first.normal.text.is_empty() {
                continue;
            }
            let [object, file] = [first.object, first.file].map(|raw| paths.of[raw as usize]);
            if by_file && !paths.is_known[file as usize] || by_object && !paths.is_known[object as usize] {
                continue;
            }
            let key = (by_object.then_some(object), by_file.then_some(file), &first.normal.text[..]);
            let of_key = found.entry(key).or_insert_with(|| {
                keys.push(key);
                [(0, 0); 2]
            });
            let (count, first) = &mut of_key[usize::from(side(1))];
            if *count == 0 {
                *first = place;
            }
            *count += 1;
        }
        for key in keys {
            if let Some([(1, base), (1, new)]) = found.get(&key) {
                let moved = std::mem::take(&mut groups[*new]);
                groups[*base].extend(moved);
            }
        }
        groups.retain(|group| !group.is_empty());
    }
    // In the order in which the files mention them.
    groups.sort_by_key(|group| group.iter().copied().min());
    groups
}

fn joined<'p>(group: &[u32], functions: &[RawFunction<'p>], paths: &JoinedPaths<'_>) -> Joined<'p> {
    let members = || group.iter().map(|&member| &functions[member as usize]);
    let mut joined = Joined {
        sides: [None; 2],
        counts: [0; 2],
        rules: RuleSet::NONE,
        file: 0,
        has_file: false,
        object: 0,
    };
    for function in members() {
        for side in 0..2 {
            if function.sides[side] {
                joined.sides[side].get_or_insert(function.mention);
                joined.counts[side] += 1;
            }
        }
    }
    // Of what is the same on both sides nothing was needed.
    let Some(first) = members().next() else { return joined };
    let paths_of = |raw: u32| paths.of[raw as usize];
    joined.file = paths_of(first.file);
    joined.has_file = paths.is_known[joined.file as usize];
    joined.object = paths_of(first.object);
    for function in members() {
        if function.mention.name != first.mention.name {
            joined.rules = joined.rules.and(function.normal.used).and(first.normal.used);
        }
        for (raw, of_first) in [(function.object, first.object), (function.file, first.file)] {
            if raw != of_first && paths_of(raw) == paths_of(of_first) {
                joined.rules =
                    joined.rules.and(paths.rules[raw as usize]).and(paths.rules[of_first as usize]);
            }
        }
        if paths_of(function.object) != paths_of(first.object) {
            joined.rules = joined.rules.with(Rule::OtherObject);
        }
        if paths_of(function.file) != paths_of(first.file) {
            joined.rules = joined.rules.with(Rule::OtherFile);
        }
    }
    joined
}
