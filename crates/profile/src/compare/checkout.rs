//! Directories that two builds were made in, found by the common ends of paths.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};

use crate::interner::Interner;

/// Two directories with the same content, each with its last slash; empty for the start of relative paths.
///
/// See the example of [`Comparison`](super::Comparison).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkout {
    /// The directory in the base.
    pub base: Vec<u8>,
    /// The directory in the new profile.
    pub new: Vec<u8>,
    /// The count of paths that it joined.
    pub paths: usize,
}

/// A path of one side that the other side does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LonePath<'a> {
    pub(super) path: &'a [u8],
    pub(super) is_new: bool,
    /// `true` for a source file, `false` for an object.
    pub(super) is_source: bool,
    /// The caller's index of it.
    pub(super) index: usize,
}

/// Two paths that may be the same, and the lengths of their directories.
struct Candidate {
    base: usize,
    new: usize,
    directories: (usize, usize),
}

/// Pairs lone paths of both sides, each with at most one other. Returns pairs of indices, base first, and the directories.
///
/// In the order of their reversed texts, paths with long common ends are neighbours. Each path votes for the directories
/// that remain of it and of its neighbours; the pair of directories with most votes joins first.
///
/// `common` are the objects and the sources that both sides have, sorted: where these stay, no build moved.
pub(super) fn pair_paths(
    lone: &[LonePath<'_>],
    common: &[Vec<&[u8]>; 2],
) -> (Vec<(usize, usize)>, Vec<Checkout>) {
    let mut order: Vec<usize> = (0..lone.len()).collect();
    let backwards = |place: &usize| lone[*place].path.iter().rev();
    order.sort_by(|a, b| backwards(a).cmp(backwards(b)).then(lone[*a].is_new.cmp(&lone[*b].is_new)));

    let mut candidates: Vec<Candidate> = Vec::new();
    let mut propose = |order: &mut dyn Iterator<Item = usize>| {
        let mut last: [Option<usize>; 2] = [None; 2];
        for place in order {
            let is_new = lone[place].is_new;
            if let Some(other) = last[usize::from(!is_new)] {
                let (base, new) = if is_new { (other, place) } else { (place, other) };
                let end = common_end(lone[base].path, lone[new].path);
                if end > 0 {
                    let directories = (lone[base].path.len() - end, lone[new].path.len() - end);
                    candidates.push(Candidate { base, new, directories });
                }
            }
            last[usize::from(is_new)] = Some(place);
        }
    };
    propose(&mut order.iter().copied());
    propose(&mut order.iter().rev().copied());
    // Neighbours find each other in both directions.
    candidates.sort_by_key(|candidate| (candidate.base, candidate.new));
    candidates.dedup_by_key(|candidate| (candidate.base, candidate.new));

    let directories = |candidate: &Candidate| {
        let (base, new) = candidate.directories;
        (&lone[candidate.base].path[..base], &lone[candidate.new].path[..new])
    };
    let ids = directory_ids(lone, &candidates);
    let mut votes: HashMap<[DirectoryId; 2], usize> = HashMap::new();
    for ids in &ids {
        *votes.entry(*ids).or_default() += 1;
    }
    // The order must not depend on which side is the base, so that swapping the sides changes signs only.
    let ranks = ranks(lone);
    let key = |candidate: &Candidate, ids: &[DirectoryId; 2]| {
        let (a, b) = (ranks[candidate.base], ranks[candidate.new]);
        let end = lone[candidate.base].path.len() - candidate.directories.0;
        (std::cmp::Reverse((votes[ids], end)), a.min(b), a.max(b))
    };
    let mut keyed: Vec<_> =
        candidates.iter().zip(&ids).map(|(candidate, ids)| (key(candidate, ids), candidate)).collect();
    keyed.sort_by_key(|(key, _)| *key);
    let in_root = common.each_ref().map(|paths| paths.iter().filter(|path| is_in_root(path)).count());
    let mut is_taken = vec![false; lone.len()];
    let mut pairs = Vec::new();
    let mut checkouts: Vec<Checkout> = Vec::new();
    let mut interner = Interner::default();
    for ((std::cmp::Reverse((votes, _)), ..), candidate) in keyed {
        if is_taken[candidate.base] || is_taken[candidate.new] {
            continue;
        }
        let (base, new) = directories(candidate);
        let kind = usize::from(lone[candidate.base].is_source);
        if count_beside(&common[kind], in_root[kind], base, new) * MIN_MOVED > votes {
            continue;
        }
        is_taken[candidate.base] = true;
        is_taken[candidate.new] = true;
        pairs.push((lone[candidate.base].index, lone[candidate.new].index));
        let (checkout, is_first) = interner.intern((base, new));
        if is_first {
            checkouts.push(Checkout { base: base.to_owned(), new: new.to_owned(), paths: 0 });
        }
        checkouts[checkout].paths += 1;
    }
    checkouts.sort_by_key(|checkout| std::cmp::Reverse(checkout.paths));
    (pairs, checkouts)
}

/// A build moved if this many times as many paths did as stayed beside them.
const MIN_MOVED: usize = 4;

/// Counts the common paths in the directory that two directories are in, except for those of the system and of tools. Of a program
/// with `png/codec.c` and `jpeg/codec.c`, which calls one or the other, `main.c` stays where it is.
fn count_beside(common: &[&[u8]], in_root: usize, base: &[u8], new: &[u8]) -> usize {
    /// Longer paths do not exist.
    const MAX_PATH: usize = 4096;
    let same = base.iter().zip(new).take(MAX_PATH).take_while(|(a, b)| a == b).count();
    let parent = base[..same].iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1);
    let parent = &base[..parent];
    // Everything is below the root.
    if parent == b"/" {
        return in_root;
    }
    let first = common.partition_point(|path| *path < parent);
    common[first..].partition_point(|path| path.starts_with(parent))
}

fn is_in_root(path: &[u8]) -> bool {
    path.strip_prefix(b"/").is_some_and(|name| !name.contains(&b'/'))
}

/// Returns the paths that are of no system and no tool, sorted, for [`pair_paths`].
pub(super) fn of_builds<'a>(paths: impl Iterator<Item = &'a [u8]>) -> Vec<&'a [u8]> {
    const ELSEWHERE: [&[u8]; 6] = [b"/usr/", b"/lib", b"/opt/", b"/nix/", b"/rustc/", b"registry/"];
    const TOOLS: [&[u8]; 2] = [b"/.cargo/", b"/.rustup/"];
    let is_of_build = |path: &&[u8]| {
        !ELSEWHERE.iter().any(|start| path.starts_with(start))
            && !TOOLS.iter().any(|tool| memchr::memmem::find(path, tool).is_some())
    };
    let mut paths: Vec<&[u8]> = paths.filter(is_of_build).collect();
    paths.sort_unstable();
    paths
}

/// Stands for the text of a directory: two independent hashes of it, with keys that a file cannot know.
type DirectoryId = [u64; 2];

/// Returns the directories of each candidate. Many candidates can be about one long path, so each path is read once.
fn directory_ids(lone: &[LonePath<'_>], candidates: &[Candidate]) -> Vec<[DirectoryId; 2]> {
    let mut wanted: Vec<(usize, usize, usize, usize)> = Vec::with_capacity(2 * candidates.len());
    for (nth, candidate) in candidates.iter().enumerate() {
        let (base, new) = candidate.directories;
        wanted.extend([(candidate.base, base, nth, 0), (candidate.new, new, nth, 1)]);
    }
    wanted.sort_unstable();
    let mut ids = vec![[[0; 2]; 2]; candidates.len()];
    let states = [RandomState::new(), RandomState::new()];
    for of_path in wanted.chunk_by(|a, b| a.0 == b.0) {
        let path = lone[of_path[0].0].path;
        let mut hashers = states.each_ref().map(BuildHasher::build_hasher);
        let mut read = 0;
        for &(_, length, nth, side) in of_path {
            hashers.iter_mut().for_each(|hasher| hasher.write(&path[read..length]));
            read = length;
            ids[nth][side] = hashers.each_ref().map(Hasher::finish);
        }
    }
    ids
}

/// Returns the place of each path in the order of their texts; equal ones have the same.
fn ranks(lone: &[LonePath<'_>]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..lone.len()).collect();
    order.sort_by_key(|&place| lone[place].path);
    let mut ranks = vec![0; lone.len()];
    for pair in order.windows(2) {
        ranks[pair[1]] = ranks[pair[0]] + usize::from(lone[pair[0]].path != lone[pair[1]].path);
    }
    ranks
}

/// Returns the length of the common end of two paths, whole path segments only.
pub(super) fn common_end(a: &[u8], b: &[u8]) -> usize {
    let same = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    let is_boundary = |path: &[u8]| path.len() == same || path[path.len() - same - 1] == b'/';
    if is_boundary(a) && is_boundary(b) && a[a.len() - same..].first() != Some(&b'/') {
        return same;
    }
    let end = &a[a.len() - same..];
    // If one begins with a slash that the other lacks, the rest after it is common.
    end.iter().position(|&byte| byte == b'/').map_or(0, |slash| same - slash - 1)
}
