//! The proof of inlining: lines of a function that came up in its caller.
//!
//! The function is called on one side, where its lines are its own. On the other side, the caller has some of them. Source
//! files of the two sides differ: a line of one is searched for in the other by the functions around it
//! ([`super::entries`]), and only where it can be. Code that moved together with the caller proves nothing.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::rc::Rc;

use gristmill_format::{Cost, FunctionName};

use super::entries::{Anchor, Entries, Neighbours};
use super::flow::{Flow, medians};
use super::line_shift::{LineCosts, best_shift, cost_at, moved};
use super::lines::SourceLine;
use super::ratio::{add_up, scaled};
use super::raw::{Mention, first_run};
use super::{Comparison, JoinedId, JoinedPathId, Side};
use crate::FunctionId;
use crate::ordered::OrderedMap;

/// The limit of functions whose lines are read.
const MAX_READ: usize = 4000;
/// Percentage of a function's cost whose lines must have come up in the caller.
const MIN_LINES: Cost = 25;
/// Percentage of the cost of the missing calls that must have come up: of each line that counts, and of all.
const MIN_COST: Cost = 8;

/// Lines without a cost between lines of one block. Functions that are inlined into each other are further apart, and each has to come up.
const MAX_GAP: u64 = 3;
/// A file with at least this part of the cost of a function, one in N, is one of its files, also if that is the file of its caller.
const ONE_IN_FILE: Cost = 50;
/// Percentage of it by which the cost of the caller must have risen, if what the calls themselves cost there is left out. Optimizers
/// that inline save half and more; lines of the caller that only moved add nothing.
const MIN_GAIN: Cost = 40;

/// The lines of functions on both sides, and what they prove.
pub(super) struct LineProof<'s, 'p> {
    comparison: &'s Comparison<'p>,
    column: usize,
    /// By function: its lines on both sides.
    lines: HashMap<JoinedId, [LineCosts; 2]>,
    /// By side: the first run, and its functions by joined function.
    members: [Option<(usize, Vec<Vec<FunctionId>>)>; 2],
    entries: Option<Entries>,
    /// By function and side.
    known: HashMap<(JoinedId, Side), Known>,
    reads: usize,
}

/// The facts about a function on a side, where it is called or calls others.
#[derive(Default)]
struct Known {
    /// The anchor that lines confirmed or corrected.
    settled: Option<Anchor>,
    proven: Proven,
    /// By file, as its first line: the cost on the side where it does not call.
    files: Option<LineCosts>,
    caller: Option<Rc<Caller>>,
}

/// The functions that a caller is proved to have in it.
#[derive(Debug, Default)]
struct Proven {
    /// The lines of the caller that are the proof, each with the line that it was in the function that it proves. Functions can have a
    /// line in common, as instances of a generic one do.
    lines: HashMap<SourceLine, SourceLine>,
    /// The cost that the caller has in them, less what it may have saved in the lines that called, by function.
    costs: HashMap<JoinedId, [Cost; 2]>,
}

/// An arc whose calls lines prove to be gone by inlining.
#[derive(Debug)]
pub(super) struct Proof {
    /// The likeness of the costs of the lines, in thousandths.
    pub(super) fit: Cost,
    /// The lines of the caller, each with that of the function.
    lines: Vec<(SourceLine, SourceLine)>,
    /// The cost that the caller has in them, and what it may have saved in the lines that called.
    cost: [Cost; 2],
}

/// The facts about a caller that are the same for all functions that it calls on one side. There can be thousands.
struct Caller {
    /// The calls of it that the costs were expected by.
    called: (Cost, Cost),
    /// The functions that it calls, each with the lines that call it.
    calls: Vec<(JoinedId, SourceLine)>,
    /// Its own lines, and by how many they moved.
    body: RangeInclusive<u64>,
    shift: i128,
    /// The cost that it gained in its own lines, before the first function below it.
    body_gained: Cost,
    /// The cost that it saved in its own lines that are still there.
    saved: Cost,
}

/// A caller and a function that it calls on one side.
struct Pair {
    caller: JoinedId,
    callee: JoinedId,
    /// The side on which the function is called.
    side: Side,
    /// The calls of the caller on that side, and on the other.
    called: (Cost, Cost),
}

impl Pair {
    /// Returns what a cost of the caller becomes by its own calls.
    fn expected(&self, cost: Cost) -> Cost {
        let (before, after) = self.called;
        if before > 0 && after > 0 { scaled(cost, after, before).unwrap_or(cost) } else { cost }
    }
}

/// The neighbour of a line that it moved with.
#[derive(Debug, Clone, Copy)]
enum MovedWith {
    Above,
    Below,
}

/// The lines of a function that came up in its caller.
#[derive(Debug, Default)]
struct Come {
    /// The cost that the caller has in them, beyond what it had.
    cost: Cost,
    /// Of all lines, and of those in the function's own file: the cost of those that came up, and of all.
    covered: [Cost; 2],
    whole: [Cost; 2],
    /// Of the lines that came up, in the function's own file: those of the caller, each with that of the function.
    lines: Vec<(SourceLine, SourceLine)>,
    /// Of each of the function's lines, the lesser and the greater of its cost and that of the caller, added up.
    alike: [Cost; 2],
    /// `true` if they follow the caller, and could be its own end: then its body must not have grown.
    follows_caller: bool,
    /// By file: the cost of all lines, and `true` if the caller has any of them.
    files: OrderedMap<JoinedPathId, (Cost, bool)>,
    /// The last line of the function's own file, and `true` if the caller has any of the lines near it so far.
    block: Option<(u64, bool)>,
    /// `true` if the caller has no line of some block of lines.
    lacks_block: bool,
    /// `true` if the caller has a line from the entry of the function on: what is above can be of a function that is inlined into
    /// both. `None` if the function has no such line, or its entry is unknown.
    has_body: Option<bool>,
}

impl Come {
    /// Adds a line of the function's own file, in the order of their numbers.
    fn add_own(&mut self, line: u64, is_there: bool) {
        match &mut self.block {
            Some((last, is_any_there)) if line - *last <= MAX_GAP => {
                *last = line;
                *is_any_there |= is_there;
            }
            _ => {
                self.end_block();
                self.block = Some((line, is_there));
            }
        }
    }

    fn end_block(&mut self) {
        self.lacks_block |= self.block.take().is_some_and(|(_, is_any_there)| !is_any_there);
    }

    /// `true` if the caller has nothing of a file in which the function has a part of its lines, one in `one_in` of the cost. The function's
    /// code may be there, and what the caller has may be of functions that are inlined into both.
    fn lacks_file(&self, one_in: Option<Cost>) -> bool {
        let is_part = |cost: Cost| one_in.is_none_or(|one_in| cost * one_in >= self.whole[0]);
        self.files.values().any(|&(cost, is_there)| !is_there && cost > 0 && is_part(cost))
    }
}

impl<'s, 'p> LineProof<'s, 'p> {
    pub(super) fn new(comparison: &'s Comparison<'p>, column: usize) -> Self {
        LineProof {
            comparison,
            column,
            lines: HashMap::new(),
            members: [None, None],
            entries: None,
            known: HashMap::new(),
            reads: 0,
        }
    }

    /// Returns the proof by lines that a caller has the code of a function on the side other than `side`, on which it calls it more;
    /// `None` if there is none. What is proved of other functions ([`Self::keep`]) is no proof of this one.
    pub(super) fn prove(
        &mut self,
        flow: &Flow,
        (caller, callee): (JoinedId, JoinedId),
        side: Side,
        cost: Cost,
    ) -> Option<Proof> {
        let called = flow.called[caller.index()];
        let called = (called[side.index()], called[side.other().index()]);
        let pair = Pair { caller, callee, side, called };
        // Levels of a recursion have the same lines.
        let [name, of_callee] = [caller, callee].map(|function| base_name(self.comparison.mention(function)));
        if name == of_callee
            || !self.lost_calls(&pair)
            || !self.read(caller)
            || !self.read(callee)
            || !self.has_cost(&pair, cost)
        {
            return None;
        }
        // The file of a function is that of its first instruction, which may be of another one that is inlined there.
        let is_of_caller = self.comparison.file(caller) == self.comparison.file(callee);
        let one_in_file = is_of_caller.then_some(ONE_IN_FILE);
        let entries = self.entries.take().unwrap_or_else(|| Entries::new(self.comparison));
        let of_caller = self.caller(&entries, &pair);
        let saved = self.saved(&of_caller, &pair);
        let proof = [MovedWith::Above, MovedWith::Below].into_iter().find_map(|with| {
            let come = self.come(&entries, &pair, with, cost);
            let is_covered =
                |nth: usize| come.covered[nth] > 0 && come.covered[nth] * 100 >= come.whole[nth] * MIN_LINES;
            // Lines of other files are those of functions that are inlined into it, and perhaps into the caller as well.
            let [of_others, saved_of_others] = self.proven_of_others(&pair);
            let is_gained =
                (self.gained(&pair) + saved + saved_of_others) * 100 >= (come.cost + of_others) * MIN_GAIN;
            let is_proven = is_covered(usize::from(come.whole[1] > 0))
                && !come.lacks_file(one_in_file)
                && !come.lacks_block
                && come.has_body != Some(false)
                && come.cost * 100 >= cost * MIN_COST
                && is_gained
                && (!come.follows_caller || of_caller.body_gained <= come.cost);
            let [less, more] = come.alike;
            let fit = scaled(less, 1000, more).unwrap_or(0);
            is_proven.then_some(Proof { fit, lines: come.lines, cost: [come.cost, saved] })
        });
        self.entries = Some(entries);
        proof
    }

    /// Keeps a proof: its lines are no proof of other functions any more.
    pub(super) fn keep(&mut self, (caller, callee): (JoinedId, JoinedId), side: Side, proof: Proof) {
        let proven = &mut self.known.entry((caller, side)).or_default().proven;
        proven.lines.extend(proof.lines);
        let cost = proven.costs.entry(callee).or_default();
        *cost = proof.cost.max(*cost);
    }

    /// Returns the cost of a caller that is proved to be that of other functions.
    fn proven_of_others(&self, pair: &Pair) -> [Cost; 2] {
        let known = self.known.get(&(pair.caller, pair.side));
        let costs = known.into_iter().flat_map(|known| &known.proven.costs);
        let others = costs.filter(|(function, _)| **function != pair.callee);
        others.fold([0, 0], |sum, (_, cost)| [sum[0] + cost[0], sum[1] + cost[1]])
    }

    /// Returns `true` if a function lost recorded calls: all in all, or from a caller. What is called as before was not inlined.
    fn lost_calls(&self, pair: &Pair) -> bool {
        let lost = |change| {
            let calls = medians(change);
            calls[pair.side.index()] > calls[pair.side.other().index()]
        };
        let mut arcs = self.comparison.outgoing(pair.caller).map(|arc| self.comparison.arc(arc));
        lost(self.comparison.calls(pair.callee))
            || arcs.any(|arc| arc.callee == pair.callee && lost(arc.count))
    }

    /// Returns `true` if a caller has enough cost in the files of a function's lines.
    fn has_cost(&mut self, pair: &Pair, cost: Cost) -> bool {
        let other = pair.side.other();
        let known = self.known.entry((pair.caller, pair.side)).or_default();
        let of_files = known.files.get_or_insert_with(|| {
            let lines = self.lines[&pair.caller][other.index()].iter();
            let mut files: LineCosts =
                lines.map(|(line, cost)| (first_line(line.file), *cost.max(&0))).collect();
            add_up(&mut files);
            files
        });
        let own = &self.lines[&pair.callee][pair.side.index()];
        let mut files: Vec<_> =
            own.iter().filter(|(line, _)| line.line > 0).map(|(line, _)| line.file).collect();
        files.dedup();
        let of_files = files.into_iter().map(|file| cost_at(of_files, first_line(file), 0));
        of_files.sum::<Cost>() * 100 >= cost * MIN_COST
    }

    /// Searches the caller for the lines of a function.
    fn come(&mut self, entries: &Entries, pair: &Pair, with: MovedWith, cost: Cost) -> Come {
        let file = self.comparison.file(pair.callee);
        let entry = entries.anchor(pair.callee).map(|anchor| anchor.entry[pair.side.index()]);
        let mut come = Come::default();
        let of_caller = self.comparison.file(pair.caller);
        let body = self.body(entries, pair);
        let own = self.lines[&pair.callee][pair.side.index()].clone();
        let whole = own.iter().map(|(_, cost)| cost.max(&0)).sum();
        for (line, of_line) in own.into_iter().filter(|(line, cost)| line.line > 0 && *cost > 0) {
            let neighbours = self.around(entries, pair.side, line);
            let shift = self.shift(entries, pair.side, line, &neighbours, with);
            let at = shift.and_then(|shift| moved(line, shift));
            let is_taken = |at: SourceLine| {
                let is_own = body.as_ref().is_some_and(|body| body.contains(&at.line));
                at.file == of_caller && is_own || self.is_of_other(pair, at, line)
            };
            let shift = shift.filter(|_| !at.is_some_and(is_taken));
            let found = shift.map_or(0, |shift| self.found(pair, line, &neighbours, shift));
            if found > 0 {
                come.cost += found;
                self.doubt(entries, pair, line, &neighbours, &mut come);
            }
            let expected = scaled(of_line, cost, whole).unwrap_or(0);
            if line.file == file {
                come.lines.extend(at.filter(|_| found > 0).map(|at| (at, line)));
                come.alike[0] += expected.min(found);
                come.alike[1] += expected.max(found);
            }
            let of_file = come.files.or_default(line.file);
            of_file.0 += of_line;
            let without = &self.lines[&pair.caller][pair.side.other().index()];
            let is_there = found > 0 || shift.is_some_and(|shift| cost_at(without, line, shift) > 0);
            of_file.1 |= is_there;
            if line.file == file {
                come.add_own(line.line, is_there);
                if entry.is_some_and(|entry| line.line >= entry) {
                    come.has_body = Some(come.has_body == Some(true) || is_there);
                }
            }
            // A little in an expensive line is of another function.
            let is_covered = found > 0 && found * 100 >= expected * MIN_COST;
            for (nth, counts) in [true, line.file == file].into_iter().enumerate() {
                come.whole[nth] += if counts { of_line } else { 0 };
                come.covered[nth] += if counts && is_covered { of_line } else { 0 };
            }
        }
        come.end_block();
        come
    }

    /// Returns the lines of a caller, without those of functions above and below it, on the side where it does not call.
    fn body(&mut self, entries: &Entries, pair: &Pair) -> Option<RangeInclusive<u64>> {
        let file = self.comparison.file(pair.caller);
        let anchor = entries.anchor(pair.caller)?;
        let anchor = self.settled(entries, file, anchor, pair.side);
        let [entry, without] = [pair.side, pair.side.other()].map(|side| anchor.entry[side.index()]);
        let length = self.end(entries, file, anchor, pair.side) - entry;
        Some(without..=without.saturating_add(length))
    }

    /// Returns `true` if a line of a caller proves a function that has another line there.
    fn is_of_other(&self, pair: &Pair, at: SourceLine, line: SourceLine) -> bool {
        let known = self.known.get(&(pair.caller, pair.side));
        let proven = known.and_then(|known| known.proven.lines.get(&at));
        proven.is_some_and(|known| *known != line)
    }

    /// Returns by how many lines a line moved with a neighbour; `None` if it would then be within other functions.
    fn shift(
        &mut self,
        entries: &Entries,
        side: Side,
        line: SourceLine,
        neighbours: &Neighbours,
        with: MovedWith,
    ) -> Option<i128> {
        let other = side.other();
        let Neighbours { above, below } = *neighbours;
        let by_above = above.map_or(0, |anchor| anchor.shift(side));
        let shift = match with {
            MovedWith::Above => by_above,
            MovedWith::Below => below.map_or(by_above, |anchor| anchor.shift(side)),
        };
        let to = i128::from(line.line) + shift;
        let low = above.map_or(1, |anchor| i128::from(anchor.entry[other.index()]));
        let high = below.map_or(i128::MAX, |anchor| i128::from(anchor.entry[other.index()]));
        if to < low || to >= high {
            return None;
        }
        // Behind the function above, which is as long as it was.
        if let Some(above) = above {
            let end = self.end(entries, line.file, above, side);
            if line.line > end && to <= i128::from(end) + by_above {
                return None;
            }
        }
        Some(shift)
    }

    /// Returns the cost that a line has in the caller now, if it had none or less than half.
    fn found(&self, pair: &Pair, line: SourceLine, neighbours: &Neighbours, shift: i128) -> Cost {
        let (side, other) = (pair.side, pair.side.other());
        let by = |anchor: Option<Anchor>| anchor.map(|anchor| anchor.shift(side));
        let by_above = by(neighbours.above).unwrap_or(0);
        let by_below = by(neighbours.below).unwrap_or(by_above);
        let [with_calls, without] = [side, other].map(|side| &self.lines[&pair.caller][side.index()]);
        let after = cost_at(without, line, shift);
        let before = [0, shift - by_above, shift - by_below].map(|by| cost_at(with_calls, line, by));
        let before = before.into_iter().fold(0, Cost::max);
        let before = pair.expected(before).max(before);
        if after > 0 && after > 2 * before { after - before } else { 0 }
    }

    /// Notes in which way a line that came up can be one of the caller's own.
    fn doubt(
        &mut self,
        entries: &Entries,
        pair: &Pair,
        line: SourceLine,
        neighbours: &Neighbours,
        come: &mut Come,
    ) {
        let Neighbours { above, below } = *neighbours;
        let shift = |anchor: Option<Anchor>| anchor.map_or(0, |anchor| anchor.shift(pair.side));
        // Nothing between the two was added or removed.
        if below.is_some() && shift(above) == shift(below) {
            return;
        }
        if let Some(above) = above.filter(|above| above.function == pair.caller) {
            come.follows_caller |= line.line > self.end(entries, line.file, above, pair.side);
        }
    }

    /// Returns the anchors around a line of the side where a function is called.
    fn around(&mut self, entries: &Entries, side: Side, line: SourceLine) -> Neighbours {
        let Neighbours { above, below } = entries.around(line.file, side, line.line);
        let [above, below] =
            [above, below].map(|anchor| anchor.map(|anchor| self.settled(entries, line.file, anchor, side)));
        Neighbours { above, below }
    }

    /// Returns an anchor with the entry of the other side corrected, where most of its lines say that it is elsewhere: a
    /// function can begin with code that was inlined into it.
    fn settled(&mut self, entries: &Entries, file: JoinedPathId, anchor: Anchor, side: Side) -> Anchor {
        let known = self.known.get(&(anchor.function, side));
        if let Some(settled) = known.and_then(|known| known.settled) {
            return settled;
        }
        let mut settled = anchor;
        if self.read(anchor.function) {
            let [here, there] = [side, side.other()].map(|side| &self.lines[&anchor.function][side.index()]);
            let entry = anchor.entry[side.index()];
            let next = entries.next(file, side, entry).unwrap_or(u64::MAX);
            let of_file = |lines: &LineCosts| -> Vec<(u64, Cost)> {
                let of_file =
                    lines.iter().filter(|(line, cost)| line.file == file && line.line > 0 && *cost > 0);
                of_file.map(|(line, cost)| (line.line, *cost)).collect()
            };
            let mut body = of_file(here);
            body.retain(|(line, _)| (entry..next).contains(line));
            if let Some(shift) = best_shift(&body, &of_file(there), anchor.shift(side))
                && let Ok(moved) = u64::try_from(i128::from(entry) + shift)
            {
                settled.entry[side.other().index()] = moved;
            }
        }
        self.known.entry((anchor.function, side)).or_default().settled = Some(settled);
        settled
    }

    /// Returns the last line of a function on a side, before the next one begins.
    fn end(&mut self, entries: &Entries, file: JoinedPathId, anchor: Anchor, side: Side) -> u64 {
        let entry = anchor.entry[side.index()];
        if !self.read(anchor.function) {
            return entry;
        }
        let next = entries.next(file, side, entry).unwrap_or(u64::MAX);
        let lines = &self.lines[&anchor.function][side.index()];
        let before = lines.partition_point(|(line, _)| *line < SourceLine { file, line: next });
        let last = lines[..before].last().filter(|(line, _)| line.file == file && line.line > entry);
        last.map_or(entry, |(line, _)| line.line)
    }

    /// Returns the recorded self cost that a caller gained beyond its own calls.
    fn gained(&self, pair: &Pair) -> Cost {
        let own = medians(self.comparison.self_cost(pair.caller, self.column));
        own[pair.side.other().index()] - pair.expected(own[pair.side.index()])
    }

    /// Returns the cost that a caller may have saved elsewhere: in its lines that called a function, as what they do to call is gone, and
    /// in those of its own lines that cost less, as the optimizer that inlined may have done more.
    fn saved(&self, caller: &Caller, pair: &Pair) -> Cost {
        let with_calls = &self.lines[&pair.caller][pair.side.index()];
        let start = caller.calls.partition_point(|(callee, _)| *callee < pair.callee);
        let calls = caller.calls[start..].iter().take_while(|(callee, _)| *callee == pair.callee);
        let [mut of_calls, mut of_others] = [0, caller.saved];
        for (_, call) in calls {
            if let Ok(index) = with_calls.binary_search_by_key(call, |(line, _)| *line) {
                let [saved, of_body] = self.saved_in(caller, pair, with_calls[index]);
                of_calls += saved;
                of_others -= of_body;
            }
        }
        // A line that was added or removed between them pairs lines that are not the same. Together they cannot have saved
        // more than the body did.
        of_calls + of_others.min((-caller.body_gained - of_calls).max(0))
    }

    /// Returns the cost that a caller saved in a line, and that again if it is one of its own that is still there.
    fn saved_in(&self, caller: &Caller, pair: &Pair, (line, cost): (SourceLine, Cost)) -> [Cost; 2] {
        let is_of_file = line.file == self.comparison.file(pair.caller);
        let without = &self.lines[&pair.caller][pair.side.other().index()];
        let after = cost_at(without, line, if is_of_file { caller.shift } else { 0 });
        let saved = (pair.expected(cost) - after).max(0);
        let is_own = is_of_file && caller.body.contains(&line.line) && after > 0;
        [saved, if is_own { saved } else { 0 }]
    }

    /// Returns what is the same for all functions that a caller calls.
    fn caller(&mut self, entries: &Entries, pair: &Pair) -> Rc<Caller> {
        let key = (pair.caller, pair.side);
        let known = self.known.get(&key).and_then(|known| known.caller.as_ref());
        if let Some(known) = known.filter(|known| known.called == pair.called) {
            return Rc::clone(known);
        }
        let comparison = self.comparison;
        let (run, members) = self.members(pair.side);
        let calls = comparison.calling_lines(run, &members[pair.caller.index()]);
        let file = comparison.file(pair.caller);
        let anchor = entries.anchor(pair.caller).map(|anchor| self.settled(entries, file, anchor, pair.side));
        let end = anchor.map_or(0, |anchor| self.end(entries, file, anchor, pair.side));
        let mut caller = Caller {
            called: pair.called,
            calls,
            body: anchor.map_or(u64::MAX, |anchor| anchor.entry[pair.side.index()])..=end,
            shift: anchor.map_or(0, |anchor| anchor.shift(pair.side)),
            body_gained: self.body_gained(entries, pair),
            saved: 0,
        };
        let with_calls = self.lines[&pair.caller][pair.side.index()].iter();
        caller.saved = with_calls.map(|line| self.saved_in(&caller, pair, *line)[1]).sum();
        let caller = Rc::new(caller);
        self.known.entry(key).or_default().caller = Some(Rc::clone(&caller));
        caller
    }

    /// Returns the cost that a caller gained in its own lines, before the first function below it.
    fn body_gained(&mut self, entries: &Entries, pair: &Pair) -> Cost {
        let file = self.comparison.file(pair.caller);
        let Some(anchor) = entries.anchor(pair.caller) else { return 0 };
        let anchor = self.settled(entries, file, anchor, pair.side);
        let next = entries.next(file, pair.side, anchor.entry[pair.side.index()]).unwrap_or(u64::MAX);
        let length = next.saturating_sub(anchor.entry[pair.side.index()]);
        let of_body = |side: Side| -> Cost {
            let entry = anchor.entry[side.index()];
            let body = entry..entry.saturating_add(length);
            let lines = self.lines[&pair.caller][side.index()].iter();
            lines
                .filter(|(line, _)| line.file == file && body.contains(&line.line))
                .map(|(_, cost)| cost)
                .sum()
        };
        of_body(pair.side.other()) - pair.expected(of_body(pair.side))
    }

    /// Returns the first run of a side, and its functions by joined function.
    fn members(&mut self, side: Side) -> (usize, &[Vec<FunctionId>]) {
        let comparison = self.comparison;
        let (run, members) = self.members[side.index()].get_or_insert_with(|| {
            let run = first_run(&comparison.runs, side).unwrap_or(0);
            (run, comparison.identity.members(run, comparison.runs[run].profile))
        });
        (*run, members)
    }

    /// Reads the lines of a function; returns `false` if too many have been read.
    fn read(&mut self, function: JoinedId) -> bool {
        if self.lines.contains_key(&function) {
            return true;
        }
        if self.reads >= MAX_READ {
            return false;
        }
        self.reads += 1;
        let lines = Side::ALL.map(|side| {
            let comparison = self.comparison;
            let column = self.column;
            let (run, members) = self.members(side);
            comparison.line_costs(run, &members[function.index()], column)
        });
        self.lines.insert(function, lines);
        true
    }
}

/// Returns the name of a function without recursion level and callers.
fn base_name(mention: Mention<'_>) -> &[u8] {
    FunctionName::parse(mention.name).base()
}

/// Returns the first line of a file.
fn first_line(file: JoinedPathId) -> SourceLine {
    SourceLine { file, line: 1 }
}
