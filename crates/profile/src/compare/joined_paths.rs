//! Paths of source files and objects over all runs, and which of them are the same.

use std::borrow::Cow;

use super::checkout::{Checkout, LonePath, of_builds, pair_paths};
use super::id::{JoinedPathId, RawPathId, Side};
use super::join_options::JoinOptions;
use super::join_rule::{JoinRule, JoinRules};
use super::paths::{mapped, normal_path, without_prefix};
use super::raw::{RawPaths, Run, RunSet};
use crate::FileId;
use crate::interner::Interner;

/// The paths of both sides, with those joined that are the same.
#[derive(Debug)]
pub(super) struct JoinedPaths<'p> {
    by_raw: Vec<JoinedPathId>,
    /// By raw path: the rules that joining it took.
    rules: Vec<JoinRules>,
    sides: Vec<[Option<&'p [u8]>; 2]>,
    is_known: Vec<bool>,
    /// `true` for the paths that directories of builds joined.
    is_moved: Vec<bool>,
    /// By run, then by the profile's file.
    files: Vec<Vec<JoinedPathId>>,
    pub(super) checkouts: Vec<Checkout>,
}

impl<'p> JoinedPaths<'p> {
    pub(super) fn new(
        raw: &RawPaths<'p>,
        options: &JoinOptions,
        pids: &[Vec<u64>],
        runs: &[Run<'_>],
    ) -> Self {
        let mut interner = Interner::default();
        let mut normal: Vec<Vec<u8>> = Vec::new();
        let (mut by_raw, mut rules) = (Vec::new(), Vec::new());
        let mut runs_of: Vec<RunSet> = Vec::new();
        for path in &raw.paths {
            let (text, used) = comparable(path.text, options, &pids[path.first_run]);
            let (index, is_first) = interner.intern(text.clone());
            if is_first {
                normal.push(text);
                runs_of.push(RunSet::default());
            }
            runs_of[index].add(path.runs);
            by_raw.push(JoinedPathId::new(index));
            rules.push(used);
        }

        let mut checkouts = Vec::new();
        let mut is_joined = vec![false; normal.len()];
        if options.rules.has(JoinRule::CheckoutDirectory) {
            let mut joined_to: Vec<usize> = (0..normal.len()).collect();
            let mut is_source = vec![false; normal.len()];
            raw.files.iter().flatten().for_each(|file| is_source[by_raw[file.index()].index()] = true);
            // Each run with all before it: runs of one side may come from different directories, too.
            for (run, Run { side, .. }) in runs.iter().enumerate().skip(1) {
                let (this, before) = (RunSet::from_run(run), RunSet::before(run));
                let is_lone = |index: usize| {
                    runs_of[index].meets(this) != runs_of[index].meets(before) && is_known(&normal[index])
                };
                let lone: Vec<LonePath<'_>> = (0..normal.len())
                    .filter(|&index| is_lone(index))
                    .map(|index| LonePath {
                        path: &normal[index],
                        is_new: runs_of[index].meets(this),
                        is_source: is_source[index],
                        index,
                    })
                    .collect();
                let is_common = |index: usize| runs_of[index].meets(this) && runs_of[index].meets(before);
                let common = [false, true].map(|sources| {
                    let common =
                        (0..normal.len()).filter(|&index| is_common(index) && is_known(&normal[index]));
                    of_builds(
                        common.filter(|&index| is_source[index] == sources).map(|index| &normal[index][..]),
                    )
                });
                let (pairs, found) = pair_paths(&lone, &common);
                if *side == Side::New && checkouts.is_empty() {
                    checkouts = found;
                }
                for (known, new) in pairs {
                    joined_to[new] = known;
                    is_joined[known] = true;
                    is_joined[new] = true;
                    let joined = std::mem::take(&mut runs_of[new]);
                    runs_of[known].add(joined);
                }
            }
            for (id, used) in by_raw.iter_mut().zip(&mut rules) {
                if is_joined[id.index()] {
                    *used = used.with(JoinRule::CheckoutDirectory);
                }
                *id = JoinedPathId::new(joined_to[id.index()]);
            }
        }
        let mut sides: Vec<[Option<&'p [u8]>; 2]> = vec![[None; 2]; normal.len()];
        for (path, id) in raw.paths.iter().zip(&by_raw) {
            for (side, first) in sides[id.index()].iter_mut().enumerate() {
                if path.sides[side] {
                    first.get_or_insert(path.text);
                }
            }
        }
        let joined = |files: &Vec<RawPathId>| files.iter().map(|raw| by_raw[raw.index()]).collect();
        let files = raw.files.iter().map(joined).collect();
        let is_known = normal.iter().map(|path| is_known(path)).collect();
        JoinedPaths { by_raw, rules, sides, is_known, is_moved: is_joined, files, checkouts }
    }

    /// Returns the joined path of a raw one.
    pub(super) fn get(&self, raw: RawPathId) -> JoinedPathId {
        self.by_raw[raw.index()]
    }

    /// Returns the rules that joining a raw path took.
    pub(super) fn rules(&self, raw: RawPathId) -> JoinRules {
        self.rules[raw.index()]
    }

    /// Returns a path as each side first has it.
    pub(super) fn sides(&self, path: JoinedPathId) -> [Option<&'p [u8]>; 2] {
        self.sides[path.index()]
    }

    /// Returns `false` if producers write the path for what they do not know.
    pub(super) fn is_known(&self, path: JoinedPathId) -> bool {
        self.is_known[path.index()]
    }

    /// Returns `true` if it is in other directories of builds on each side.
    pub(super) fn is_moved(&self, path: JoinedPathId) -> bool {
        self.is_moved[path.index()]
    }

    /// Returns the joined path of a run's file.
    pub(super) fn file(&self, run: usize, file: FileId) -> JoinedPathId {
        self.files[run][file.index()]
    }
}

/// Some producers write question marks for what they do not know.
fn is_known(path: &[u8]) -> bool {
    !path.is_empty() && path != b"???"
}

/// Returns a path without what differs from build to build, and the rules that took it out.
fn comparable(path: &[u8], options: &JoinOptions, pids: &[u64]) -> (Vec<u8>, JoinRules) {
    let mut text = Cow::Borrowed(path);
    if let Some(rest) = without_prefix(&text, &options.strip_prefix) {
        text = Cow::Owned(rest.to_owned());
    }
    if let Some(other) = mapped(&text, &options.map) {
        text = Cow::Owned(other);
    }
    match std::str::from_utf8(&text) {
        Ok(text) => {
            let (text, used) = normal_path(text, options.rules, pids);
            (text.into_bytes(), used)
        }
        Err(_) => (text.into_owned(), JoinRules::NONE),
    }
}
