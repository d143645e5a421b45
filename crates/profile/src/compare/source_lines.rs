//! Costs of both sides by line: of one function for reports, of all for the difference as a profile.

use std::collections::{BTreeMap, BTreeSet};

use gristmill_format::Cost;

use super::Comparison;
use super::measuring::columns_of;
use super::sample::{Change, Sample};
use crate::cost::add;
use crate::decode::Place;
use crate::id::FunctionId;
use crate::lines::LineDetail;

/// A source line. Files are known by the comparison's own numbers; see [`Comparison::path`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinePlace {
    /// The source file.
    pub file: usize,
    /// The line; 0 where it is not known.
    pub line: u64,
}

/// What a line of a function cost on both sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComparedLine {
    /// Where it is.
    pub place: LinePlace,
    /// What it cost by itself, by column.
    pub costs: Vec<Change>,
    /// The calls that it makes: who is called, how often, and what they cost by column.
    pub calls: Vec<(FunctionId, Change, Vec<Change>)>,
}

/// Costs of one run; counts of calls come before the costs of calls.
#[derive(Default)]
struct OfRun {
    selves: BTreeMap<LinePlace, Vec<Cost>>,
    calls: BTreeMap<(LinePlace, FunctionId), Vec<Cost>>,
}

impl Comparison<'_> {
    /// The path of a file or object, as the base and as the new profile have it.
    pub fn path(&self, file: usize) -> [Option<&[u8]>; 2] {
        self.identity.paths.get(file).copied().unwrap_or_default()
    }

    /// The joined file of a function.
    pub fn file(&self, function: FunctionId) -> usize {
        self.identity.functions[function.index()].file as usize
    }

    /// The joined path of a function's object; see [`Comparison::path`].
    pub fn object(&self, function: FunctionId) -> usize {
        self.identity.functions[function.index()].object as usize
    }

    /// The lines of a function on both sides, by place.
    pub fn lines(&self, function: FunctionId) -> Vec<ComparedLine> {
        let runs: Vec<(OfRun, bool)> =
            (0..self.runs.len()).map(|run| (self.lines_of_run(run, function), self.runs[run].1)).collect();
        let mut lines: BTreeMap<LinePlace, ComparedLine> = BTreeMap::new();
        let blank = |place| ComparedLine {
            place,
            costs: vec![Change::default(); self.events.len()],
            calls: Vec::new(),
        };
        let places: BTreeSet<LinePlace> =
            runs.iter().flat_map(|(run, _)| run.selves.keys().copied()).collect();
        for place in places {
            let costs = changes(&runs, self.events.len(), |run| run.selves.get(&place));
            lines.entry(place).or_insert_with(|| blank(place)).costs = costs;
        }
        let calls: BTreeSet<(LinePlace, FunctionId)> =
            runs.iter().flat_map(|(run, _)| run.calls.keys().copied()).collect();
        for (place, callee) in calls {
            let mut changes = changes(&runs, self.events.len() + 1, |run| run.calls.get(&(place, callee)));
            let count = changes.remove(0);
            lines.entry(place).or_insert_with(|| blank(place)).calls.push((callee, count, changes));
        }
        lines.into_values().collect()
    }

    fn lines_of_run(&self, run: usize, function: FunctionId) -> OfRun {
        let (profile, _) = self.runs[run];
        let columns = columns_of(profile, &self.events);
        let function_of = &self.identity.function_of[run];
        let members =
            profile.functions().filter(|member| function_of[member.index()] as usize == function.index());
        let mut of_run = OfRun::default();
        for member in members {
            let LineDetail { places, costs, calls, call_costs, .. } = profile.lines(member, &self.selection);
            for (place, row) in places.iter().zip(costs.rows()) {
                let place = self.line_place(run, place);
                let sums = of_run.selves.entry(place).or_insert_with(|| vec![0; self.events.len()]);
                add(sums, &self.in_columns(&columns, row));
            }
            for (call, row) in calls.iter().zip(call_costs.rows()) {
                let place = self.line_place(run, &call.place);
                let callee = FunctionId::new(function_of[call.callee.index()] as usize);
                let key = (place, callee);
                let sums = of_run.calls.entry(key).or_insert_with(|| vec![0; self.events.len() + 1]);
                sums[0] += call.count;
                add(&mut sums[1..], &self.in_columns(&columns, row));
            }
        }
        of_run
    }

    pub(super) fn line_place(&self, run: usize, place: &Place) -> LinePlace {
        LinePlace {
            file: self.identity.file_of[run][place.file.index()] as usize,
            line: place.line.unwrap_or(0),
        }
    }

    /// Costs as a profile records them, in the columns of the comparison, derived ones too.
    fn in_columns(&self, columns: &[usize], row: &[Cost]) -> Vec<Cost> {
        let recorded = self.events.len() - self.derived.len();
        let mut costs = vec![0; recorded];
        columns.iter().zip(row).for_each(|(&column, cost)| costs[column] += cost);
        // The sum of all lines was reckoned without overflow, so no line is above all bounds.
        let derived: Vec<Cost> = self.derived.iter().map(|derived| derived.of(&costs).unwrap_or(0)).collect();
        costs.extend(derived);
        costs
    }
}

/// The changes of a row of each run; a run without it has zeros.
fn changes<'r>(
    runs: &'r [(OfRun, bool)],
    width: usize,
    of: impl Fn(&'r OfRun) -> Option<&'r Vec<Cost>>,
) -> Vec<Change> {
    let change = |column: usize| {
        let side = |is_new: bool| {
            let of_side = runs.iter().filter(|(_, new)| *new == is_new);
            let mut costs: Vec<Cost> = of_side.map(|(run, _)| of(run).map_or(0, |row| row[column])).collect();
            Sample::of(&mut costs)
        };
        Change { base: side(false), new: side(true) }
    };
    (0..width).map(change).collect()
}
