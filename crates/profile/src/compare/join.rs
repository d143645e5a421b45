//! Joining: makes equal functions of all runs one function.

use std::borrow::Cow;
use std::collections::BTreeSet;

use gristmill_format::FunctionName;

use super::checkout::Checkout;
use super::groups::{Groups, groups};
use super::id::{JoinedId, JoinedPathId, RawFunctionId, Side};
use super::join_options::JoinOptions;
use super::join_rule::{JoinRule, JoinRules};
use super::joined_paths::JoinedPaths;
use super::names::{NormalName, copy_numbers, normal_name};
use super::raw::{Mention, RawFunction, RawFunctions, RawPaths, Run};
use crate::FunctionId;
use crate::hash::Map;
use crate::ordered::OrderedMap;
use crate::profile::Profile;
use crate::symbol::{fold_callers, fold_recursion};

/// One function of a comparison.
#[derive(Debug, Clone)]
pub(super) struct Joined<'p> {
    /// As each side first mentions it: base, new. At least one side does.
    pub(super) sides: [Option<Mention<'p>>; 2],
    /// The count of functions of each side that it stands for.
    pub(super) counts: [u32; 2],
    /// The rules that joining it took.
    pub(super) rules: JoinRules,
    pub(super) file: JoinedPathId,
    /// `true` if its file is known.
    pub(super) has_file: bool,
    pub(super) object: JoinedPathId,
    /// `true` if the sides have copies of other numbers, `f.constprop.0` and `f.constprop.1`.
    pub(super) has_other_copies: bool,
}

/// The functions and paths of a comparison, and what the functions and files of each run are among them.
#[derive(Debug)]
pub(super) struct Identity<'p> {
    pub(super) functions: Vec<Joined<'p>>,
    /// By run, then by the profile's function.
    by_run: Vec<Vec<JoinedId>>,
    pub(super) paths: JoinedPaths<'p>,
    /// Functions of base and new that may be one with other parameters, until they are joined.
    pub(super) overloads: Vec<(JoinedId, JoinedId)>,
    /// The side whose names alone have callers, so that these were folded.
    pub(super) callers_only_in: Option<Side>,
}

impl<'p> Identity<'p> {
    /// Joins the functions and paths of all runs.
    pub(super) fn new(runs: &[Run<'p>], options: &JoinOptions) -> Self {
        let pids: Vec<Vec<u64>> = runs.iter().map(|run| pids(run.profile)).collect();
        let raw_paths = RawPaths::collect(runs);
        let paths = JoinedPaths::new(&raw_paths, options, &pids, runs);

        let callers_only_in = if options.fold_callers { None } else { callers_only_in(runs) };
        let options = &JoinOptions {
            fold_callers: options.fold_callers || callers_only_in.is_some(),
            ..options.clone()
        };
        let mut functions =
            RawFunctions::collect(runs, &raw_paths, |name, run| normalized(name, options, &pids[run]));
        if options.fold_callers {
            // What is folded stands for all callers, so its name has none.
            functions.list.iter_mut().for_each(|function| {
                function.mention.name = fold_callers(function.mention.name);
            });
        }
        if options.rules.has(JoinRule::RecursionLevel) {
            fold_unequal_levels(&mut functions, &paths);
        }
        take_checkouts_from_names(&mut functions, &paths.checkouts, options.rules);

        let Groups { groups, overloads } = groups(&functions, &paths, options.rules);
        let mut by_raw: Vec<Option<JoinedId>> = vec![None; functions.ids().len()];
        for (index, group) in groups.iter().enumerate() {
            for member in group {
                by_raw[member.index()] = Some(JoinedId::new(index));
            }
        }
        #[expect(clippy::expect_used, reason = "every raw function is in a group")]
        let joined_id = |raw: &RawFunctionId| by_raw[raw.index()].expect("in a group");
        Identity {
            functions: groups.iter().map(|group| joined(group, &functions, &paths)).collect(),
            by_run: functions.by_run.iter().map(|raw| raw.iter().map(joined_id).collect()).collect(),
            paths,
            overloads: overloads
                .into_iter()
                .map(|[base, new]| (JoinedId::new(base), JoinedId::new(new)))
                .collect(),
            callers_only_in,
        }
    }

    /// Returns the joined function of a run's function.
    pub(super) fn joined(&self, run: usize, function: FunctionId) -> JoinedId {
        self.by_run[run][function.index()]
    }

    /// Returns the functions of a run by joined function.
    pub(super) fn members(&self, run: usize, profile: &Profile) -> Vec<Vec<FunctionId>> {
        let mut members = vec![Vec::new(); self.functions.len()];
        for function in profile.functions() {
            members[self.joined(run, function).index()].push(function);
        }
        members
    }

    /// Joins functions of the base with functions of the new side. Returns the new id of each function, by its old one.
    pub(super) fn join(&mut self, pairs: &[(JoinedId, JoinedId)], rule: JoinRule) -> Vec<JoinedId> {
        let mut joined_to: Vec<Option<JoinedId>> = vec![None; self.functions.len()];
        for &(base, new) in pairs {
            let Joined { sides, counts, rules, has_other_copies, .. } = self.functions[new.index()];
            let kept = &mut self.functions[base.index()];
            kept.sides[1] = sides[1];
            kept.counts[1] = counts[1];
            kept.rules = kept.rules.and(rules).with(rule);
            kept.has_other_copies |= has_other_copies;
            joined_to[new.index()] = Some(base);
        }
        let mut kept_before = 0;
        let kept_ids: Vec<JoinedId> = joined_to
            .iter()
            .map(|joined| {
                let id = JoinedId::new(kept_before);
                kept_before += usize::from(joined.is_none());
                id
            })
            .collect();
        let new_ids: Vec<JoinedId> = joined_to
            .iter()
            .zip(&kept_ids)
            .map(|(joined, &kept)| joined.map_or(kept, |base| kept_ids[base.index()]))
            .collect();
        let mut is_kept = joined_to.iter().map(Option::is_none);
        self.functions.retain(|_| is_kept.next() == Some(true));
        for of_run in &mut self.by_run {
            of_run.iter_mut().for_each(|function| *function = new_ids[function.index()]);
        }
        new_ids
    }
}

/// Returns the processes that a profile was recorded from, sorted.
fn pids(profile: &Profile) -> Vec<u64> {
    let mut pids: Vec<u64> = profile.parts().filter_map(|part| part.pid()).collect();
    pids.sort_unstable();
    pids.dedup();
    pids
}

fn normalized<'p>(name: &'p [u8], options: &JoinOptions, pids: &[u64]) -> (Cow<'p, [u8]>, NormalName) {
    let name = if options.fold_callers { fold_callers(name) } else { name };
    let name = if options.fold_recursion { fold_recursion(name) } else { Cow::Borrowed(name) };
    let normal = normal_name(&name, options.rules, pids);
    (name, normal)
}

/// Returns the side whose functions alone were separated by callers.
fn callers_only_in(runs: &[Run<'_>]) -> Option<Side> {
    /// At least one name in this many has callers; others can contain an apostrophe accidentally.
    const ONE_IN: usize = 4;
    let with_callers = |side: Side| {
        let profiles = || runs.iter().filter(|run| run.side == side).map(|run| run.profile);
        let has_callers = |name: &[u8]| FunctionName::parse(name).callers().next().is_some();
        let all: usize = profiles().map(Profile::function_count).sum();
        let found: usize = profiles()
            .map(|profile| {
                profile.functions().filter(|&function| has_callers(profile.function(function).name)).count()
            })
            .sum();
        (found, all)
    };
    let [(base, all_base), (new, all_new)] = Side::ALL.map(with_callers);
    match (base, new) {
        (0, new) if new * ONE_IN > all_new => Some(Side::New),
        (base, 0) if base * ONE_IN > all_base => Some(Side::Base),
        _ => None,
    }
}

/// Folds the levels of a recursion where the sides have different ones.
fn fold_unequal_levels(functions: &mut RawFunctions<'_>, paths: &JoinedPaths<'_>) {
    fn key<'f>(function: &'f RawFunction<'_>, paths: &JoinedPaths<'_>) -> (JoinedPathId, Cow<'f, [u8]>) {
        (paths.get(function.object), function.normal.without_level())
    }
    // By object and name, where there is a level: all levels of each side.
    let mut levels: Map<_, [BTreeSet<&[u8]>; 2]> = functions
        .list
        .iter()
        .filter(|function| function.normal.level.is_some())
        .map(|function| (key(function, paths), Default::default()))
        .collect();
    if levels.is_empty() {
        return;
    }
    for function in &functions.list {
        let Some(of_sides) = levels.get_mut(&key(function, paths)) else { continue };
        for (of_side, is_there) in of_sides.iter_mut().zip(function.sides) {
            if is_there {
                of_side.insert(&function.normal.text);
            }
        }
    }
    // Once for each name: it can have as many levels as the profile has functions.
    levels.retain(|_, [base, new]| !base.is_empty() && !new.is_empty() && base != new);
    let is_unequal = |function: &RawFunction<'_>| {
        function.normal.level.is_some() && levels.contains_key(&key(function, paths))
    };
    let unequal: Vec<bool> = functions.list.iter().map(is_unequal).collect();
    for (function, _) in functions.list.iter_mut().zip(unequal).filter(|(_, is_unequal)| *is_unequal) {
        function.normal.fold_level();
    }
}

/// Removes checkout directories from names that contain paths, such as `require_once::/srv/app/index.php`.
///
/// Only the directories that join most paths are removed.
fn take_checkouts_from_names(functions: &mut RawFunctions<'_>, checkouts: &[Checkout], rules: JoinRules) {
    const MAX_CHECKOUTS: usize = 8;
    /// `/` alone is in many names that contain no path.
    const MIN_BYTES: usize = 4;
    let checkouts: Vec<&Checkout> = checkouts
        .iter()
        .filter(|checkout| checkout.base.len().max(checkout.new.len()) >= MIN_BYTES)
        .take(MAX_CHECKOUTS)
        .collect();
    if checkouts.is_empty() || !rules.has(JoinRule::CheckoutDirectory) {
        return;
    }
    let lone = functions.list.iter_mut().filter(|function| function.sides[0] != function.sides[1]);
    for function in lone.filter(|function| function.normal.text.contains(&b'/')) {
        for checkout in &checkouts {
            let directory = if function.sides[1] { &checkout.new } else { &checkout.base };
            if directory.len() < MIN_BYTES {
                continue;
            }
            if let Some(at) = memchr::memmem::find(&function.normal.text, directory) {
                function.normal.text.drain(at..at + directory.len());
                function.normal.used = function.normal.used.with(JoinRule::CheckoutDirectory);
                break;
            }
        }
    }
}

/// Makes one function of a group, with the rules that joining it took.
fn joined<'p>(group: &[RawFunctionId], functions: &RawFunctions<'p>, paths: &JoinedPaths<'_>) -> Joined<'p> {
    let members = || group.iter().map(|&member| &functions[member]);
    let first = &functions[group[0]];
    let mut joined = Joined {
        sides: [None; 2],
        counts: [0; 2],
        rules: JoinRules::NONE,
        file: paths.get(first.file),
        has_file: paths.is_known(paths.get(first.file)),
        object: paths.get(first.object),
        has_other_copies: group.len() > 1
            && have_other_copies(members().map(|member| (member.mention.name, member.sides))),
    };
    for function in members() {
        for side in 0..2 {
            if function.sides[side] {
                let mention = joined.sides[side].get_or_insert(function.mention);
                // The function itself stands for its levels and callers.
                let own = function.mention.name;
                if mention.name.len() > own.len()
                    && mention.name.starts_with(own)
                    && mention.name[own.len()] == b'\''
                {
                    *mention = function.mention;
                }
                joined.counts[side] += 1;
            }
        }
    }
    // What is the same on both sides took no rule.
    for function in members() {
        if function.mention.name != first.mention.name {
            joined.rules = joined.rules.and(function.normal.used).and(first.normal.used);
        }
        // Nothing else joins names that the rules about texts left different.
        if function.normal.text != first.normal.text {
            joined.rules = joined.rules.with(JoinRule::GenericArguments);
        }
        for (raw, of_first, rule) in [
            (function.object, first.object, JoinRule::OtherObject),
            (function.file, first.file, JoinRule::OtherFile),
        ] {
            if paths.get(raw) != paths.get(of_first) {
                joined.rules = joined.rules.with(rule);
            } else if raw != of_first {
                joined.rules = joined.rules.and(paths.rules(raw)).and(paths.rules(of_first));
            }
        }
    }
    joined
}

/// `true` if both sides have numbered copies of a function, and not the same ones. Takes the names, with the sides that have them.
fn have_other_copies<'n>(names: impl Iterator<Item = (&'n [u8], [bool; 2])>) -> bool {
    let mut by_rule: OrderedMap<JoinRule, [BTreeSet<&str>; 2]> = OrderedMap::default();
    for (name, sides) in names {
        for (rule, number) in copy_numbers(name) {
            let of_rule = by_rule.or_default(rule).iter_mut().zip(sides);
            of_rule.filter(|(_, is_there)| *is_there).for_each(|(numbers, _)| {
                numbers.insert(number);
            });
        }
    }
    by_rule.values().any(|[base, new]| !base.is_empty() && !new.is_empty() && base != new)
}
