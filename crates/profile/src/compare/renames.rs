//! Renamed functions: vanished ones and new ones that differ in their name only.

use std::cmp::Reverse;
use std::collections::HashMap;

use gristmill_format::Cost;

use super::closure_name::is_closure;
use super::id::{JoinedId, Side};
use super::in_place::{InPlace, Place};
use super::join::Joined;
use super::raw::{Run, first_run};
use crate::analysis::CallGraph;
use crate::interner::Interner;
use crate::symbol::Symbol;

/// The reasons to consider a vanished function and a new one the same.
///
/// See the example of [`Comparison`](super::Comparison).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resemblance {
    /// `true` if both are in the same source file.
    pub same_file: bool,
    /// `true` if they are neither in the same source file nor known to be in the same object.
    pub is_elsewhere: bool,
    /// `true` if the names differ in their arguments only, or have long parts in common.
    pub similar_name: bool,
    /// The count of callers that both have.
    pub common_callers: usize,
    /// The count of callers of the one that has more.
    pub callers: usize,
    /// The counts of calls: base, new.
    pub calls: (Cost, Cost),
    /// The self costs by [`Comparison::leading_event`](super::Comparison::leading_event), medians of all runs: base, new.
    pub self_costs: (Cost, Cost),
}

/// Two functions of a comparison that seem to be one function, renamed.
#[derive(Debug)]
pub(super) struct Rename {
    pub(super) base: JoinedId,
    pub(super) new: JoinedId,
    pub(super) why: Resemblance,
}

/// A function that only one side has.
struct Lone {
    function: JoinedId,
    own: Cost,
    inclusive: Cost,
    calls: Cost,
    name: String,
    /// The place of its name in the order of names, which is the same for equal ones. Comparing long names again and again takes time.
    rank: usize,
    /// Its class, and its name without the class, so that each is parsed once.
    scope: Option<String>,
    own_name: String,
}

/// Functions of both sides with the same file, or without a file and with the same object.
struct Bucket {
    same_file: bool,
    /// `true` if the functions are of different files and objects.
    is_elsewhere: bool,
    /// Functions of the base only, functions of the new side only.
    sides: [Vec<Lone>; 2],
}

/// A candidate is compared with this many of nearest cost on each side; more do not improve matches.
const NEIGHBOURS: usize = 8;
/// Functions of less self cost resemble each other accidentally.
const MIN_MOVED: Cost = 50;
/// Of the pairs that a function may be in, this many of the best are kept. In the next round there are others.
const MAX_PAIRS: usize = 8;
/// The limit of callers that are compared.
const MAX_CALLERS: usize = 256;
/// Callees of a renamed class are renamed, too, so callers have to be found before their callees.
const ROUNDS: usize = 6;

/// Finds renamed functions by the costs of the first run of each side.
pub(super) fn renames(
    functions: &[Joined<'_>],
    graphs: &[CallGraph],
    runs: &[Run<'_>],
    column: usize,
    in_place: &mut InPlace<'_, '_>,
) -> Vec<Rename> {
    #[expect(clippy::expect_used, reason = "each side has a run")]
    let [base, new] = Side::ALL.map(|side| {
        let run = first_run(runs, side).expect("a run of each side");
        &graphs[run]
    });
    let mut interner = Interner::default();
    let mut buckets: Vec<Bucket> = Vec::new();
    for (index, function) in functions.iter().enumerate() {
        let (side, graph) = match function.sides {
            [Some(_), None] => (0, base),
            [None, Some(_)] => (1, new),
            _ => continue,
        };
        let id = JoinedId::new(index);
        let own = graph.self_cost(id.node())[column];
        let inclusive = graph.self_and_callees(id.node())[column];
        // Functions without cost resemble each other.
        if own == 0 && inclusive == 0 {
            continue;
        }
        let mention = function.sides[side].map_or(&b""[..], |mention| mention.name);
        let symbol = Symbol::parse(mention);
        let lone = Lone {
            function: id,
            own,
            inclusive,
            calls: graph.call_count(id.node()),
            name: symbol.shown(),
            rank: 0,
            scope: symbol.scope().map(str::to_owned),
            own_name: symbol.own_name().to_owned(),
        };
        let same_file = function.has_file;
        let path = if same_file { function.file } else { function.object };
        let (bucket, is_first) = interner.intern((same_file, path));
        if is_first {
            buckets.push(Bucket { same_file, is_elsewhere: false, sides: Default::default() });
        }
        buckets[bucket].sides[side].push(lone);
    }
    rank(&mut buckets);

    // By function: itself, or its name in the base as found so far.
    let mut stands_for: Vec<JoinedId> = (0..functions.len()).map(JoinedId::new).collect();
    let mut renames: Vec<Rename> = Vec::new();
    for round in 0..ROUNDS {
        if round == ROUNDS / 2 {
            merge_buckets(&mut buckets);
        }
        let graphs = Graphs { base, new, stands_for: &stands_for };
        let mut found: Vec<Candidate<'_>> = Vec::new();
        buckets.iter().for_each(|bucket| candidates(bucket, &graphs, &mut found));
        found.sort_by_key(Candidate::order);
        let before = renames.len();
        let mut is_taken = vec![false; functions.len()];
        for Candidate { gone, come, bucket, .. } in found {
            let (base, new) = (gone.function, come.function);
            if !is_taken[base.index()]
                && !is_taken[new.index()]
                && let (why, Some(_)) = resemblance(gone, come, &graphs, bucket)
                && in_place.compare(base, new) != Place::Other
            {
                is_taken[base.index()] = true;
                is_taken[new.index()] = true;
                renames.push(Rename { base, new, why });
            }
        }
        for rename in &renames[before..] {
            stands_for[rename.new.index()] = rename.base;
        }
        if renames.len() == before && round >= ROUNDS / 2 {
            break;
        }
        for side in buckets.iter_mut().flat_map(|bucket| &mut bucket.sides) {
            side.retain(|lone| !is_taken[lone.function.index()]);
        }
    }
    let graphs = Graphs { base, new, stands_for: &stands_for };
    for bucket in &buckets {
        for (gone, come) in of_one_name(bucket, functions) {
            if in_place.compare(gone.function, come.function) != Place::Other {
                let why = resemblance(gone, come, &graphs, bucket).0;
                let why = Resemblance { same_file: true, is_elsewhere: false, ..why };
                renames.push(Rename { base: gone.function, new: come.function, why });
            }
        }
    }
    renames
}

/// Ranks functions by their names.
fn rank(buckets: &mut [Bucket]) {
    let mut by_name: Vec<&mut Lone> =
        buckets.iter_mut().flat_map(|bucket| &mut bucket.sides).flatten().collect();
    by_name.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    let mut rank = 0;
    for index in 1..by_name.len() {
        rank += usize::from(by_name[index].name != by_name[index - 1].name);
        by_name[index].rank = rank;
    }
}

/// Returns the functions of both sides with the same name, file and object: closures whose numbers do not tell which is which, as the
/// sides have other counts, and whose costs do not, either.
fn of_one_name<'b>(bucket: &'b Bucket, functions: &[Joined<'_>]) -> Vec<(&'b Lone, &'b Lone)> {
    let key = |lone: &Lone| {
        let function = &functions[lone.function.index()];
        function.has_file.then_some((lone.name.clone(), function.file, function.object))
    };
    let mut gone: HashMap<_, Vec<&Lone>> = HashMap::new();
    for lone in &bucket.sides[0] {
        gone.entry(key(lone)).or_default().push(lone);
    }
    let of_one_name = bucket.sides[1].iter().filter_map(|come| {
        let key = key(come).filter(|_| is_closure(come.name.as_bytes()))?;
        let [one] = gone.remove(&Some(key))?[..] else { return None };
        Some((one, come))
    });
    of_one_name.collect()
}

/// Puts the functions that are left into one bucket, as some can have moved to another file.
fn merge_buckets(buckets: &mut Vec<Bucket>) {
    let mut all = Bucket { same_file: false, is_elsewhere: true, sides: Default::default() };
    for bucket in buckets.drain(..) {
        for (all, side) in all.sides.iter_mut().zip(bucket.sides) {
            all.extend(side);
        }
    }
    buckets.push(all);
}

/// The call graphs of both sides.
struct Graphs<'a> {
    base: &'a CallGraph,
    new: &'a CallGraph,
    /// By function: itself, or the function of the base that it was found to be.
    stands_for: &'a [JoinedId],
}

/// A pair of functions that may be one. There can be many for each function, so it has nothing that can be found again.
struct Candidate<'b> {
    gone: &'b Lone,
    come: &'b Lone,
    bucket: &'b Bucket,
    score: u32,
}

impl Candidate<'_> {
    /// Returns the sort key, which does not depend on which side is the base.
    fn order(&self) -> (Reverse<u32>, Cost, usize, usize, JoinedId) {
        let apart = (self.gone.own - self.come.own).abs();
        let (a, b) = (self.gone.rank, self.come.rank);
        (Reverse(self.score), apart, a.min(b), a.max(b), self.gone.function.min(self.come.function))
    }
}

/// Finds the pairs of a bucket that resemble each other enough.
fn candidates<'b>(bucket: &'b Bucket, graphs: &Graphs<'_>, candidates: &mut Vec<Candidate<'b>>) {
    let [gone, come] = &bucket.sides;
    let mut by_inclusive: Vec<&Lone> = come.iter().collect();
    by_inclusive.sort_by_key(|lone| (lone.inclusive, lone.function));
    let mut by_own: Vec<&Lone> = come.iter().collect();
    by_own.sort_by_key(|lone| (lone.own, lone.function));
    for lone in gone {
        let around = |sorted: &[&'_ Lone], below: usize| -> std::ops::Range<usize> {
            below.saturating_sub(NEIGHBOURS)..sorted.len().min(below + NEIGHBOURS)
        };
        let inclusive = by_inclusive.partition_point(|other| other.inclusive < lone.inclusive);
        let own = by_own.partition_point(|other| other.own < lone.own);
        let mut near: Vec<&Lone> = by_inclusive[around(&by_inclusive, inclusive)].to_vec();
        near.extend_from_slice(&by_own[around(&by_own, own)]);
        near.sort_by_key(|other| other.function);
        near.dedup_by_key(|other| other.function);
        let mut pairs: Vec<Candidate<'b>> = near
            .into_iter()
            .filter_map(|come| {
                let score = resemblance(lone, come, graphs, bucket).1?;
                Some(Candidate { gone: lone, come, bucket, score })
            })
            .collect();
        pairs.sort_by_key(Candidate::order);
        candidates.extend(pairs.into_iter().take(MAX_PAIRS));
    }
}

/// Returns what a vanished function and a new one have in common, and how much they resemble each other. `None` if too little.
fn resemblance(gone: &Lone, come: &Lone, graphs: &Graphs<'_>, bucket: &Bucket) -> (Resemblance, Option<u32>) {
    let Bucket { same_file, is_elsewhere, .. } = *bucket;
    let callers = |graph: &CallGraph, function: JoinedId| -> Vec<JoinedId> {
        let arcs = graph.incoming(function.node()).take(MAX_CALLERS);
        let callers = arcs.map(|arc| JoinedId::from_node(graph.caller(arc)));
        let mut callers: Vec<JoinedId> = callers.map(|caller| graphs.stands_for[caller.index()]).collect();
        callers.retain(|&caller| caller != function);
        callers.sort_unstable();
        callers
    };
    let (before, after) = (callers(graphs.base, gone.function), callers(graphs.new, come.function));
    let common_callers = after.iter().filter(|caller| before.binary_search(caller).is_ok()).count();
    let callers = before.len().max(after.len());
    let has_callers = common_callers > 0 && 2 * common_callers >= callers;

    let is_same_name = gone.scope == come.scope && gone.own_name == come.own_name;
    let similar_name = is_same_name || is_similar(&gone.name, &come.name);
    let is_same_own_name = gone.own_name == come.own_name;
    let all_callers = callers > 0 && common_callers == callers;
    let near =
        |percent| is_near(gone.own, come.own, percent) && is_near(gone.inclusive, come.inclusive, percent);
    let is_accepted = if is_elsewhere {
        // In another file, nothing else may differ. Functions without names are in no file, but may have equal addresses.
        let is_known = is_same_name || gone.own.max(come.own) > MIN_MOVED;
        all_callers && gone.calls == come.calls && near(1) && is_known
    } else if is_same_own_name
        && all_callers
        && gone.calls == come.calls
        && is_near(gone.inclusive, come.inclusive, 25)
    {
        // In another class or module; it can have inlined what it called.
        true
    } else if is_same_name {
        // They differ in arguments or template parameters.
        (has_callers || callers == 0) && near(50)
    } else if callers == 0 {
        same_file && similar_name && near(2)
    } else {
        // A name that says nothing leaves the cost: another algorithm in the same place has another one.
        has_callers && (similar_name && near(10) || near(2) && is_near(gone.calls, come.calls, 2))
    };
    let score = [
        (gone.own == come.own, 4),
        (gone.inclusive == come.inclusive, 2),
        (gone.calls == come.calls, 3),
        (common_callers == callers, 3),
        (similar_name, 4),
        (is_same_name, 4),
        (near(2), 2),
    ];
    let why = Resemblance {
        same_file,
        is_elsewhere,
        similar_name,
        common_callers,
        callers,
        calls: (gone.calls, come.calls),
        self_costs: (gone.own, come.own),
    };
    let points = score.iter().filter(|(holds, _)| *holds).map(|(_, points)| points);
    (why, is_accepted.then(|| points.sum()))
}

fn is_near(a: Cost, b: Cost, percent: Cost) -> bool {
    let apart = (a - b).abs();
    let larger = a.abs().max(b.abs());
    // Multiplied first, so that it is exact for small numbers.
    apart.checked_mul(100).zip(larger.checked_mul(percent)).is_some_and(|(apart, limit)| apart <= limit)
}

/// Returns `true` if the common start and end of two names are at least half of the longer one.
fn is_similar(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let start = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let rest = a.len().min(b.len()) - start;
    let end = a.iter().rev().zip(b.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
    2 * (start + end) >= a.len().max(b.len())
}
