//! Costs of both sides by line: of one function for reports, of all for the difference as a profile.

use std::collections::{BTreeMap, BTreeSet};

use gristmill_format::Cost;

use super::Comparison;
use super::measure::columns_of;
use super::{Change, JoinedId, JoinedPathId, Side};
use crate::cost::add;
use crate::decode::Place;
use crate::lines::LineDetail;

/// A source line. Files are known by the comparison's own numbers; see [`Comparison::path`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinePlace {
    /// The source file.
    pub file: JoinedPathId,
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
    pub calls: Vec<(JoinedId, Change, Vec<Change>)>,
}

/// Costs of one run; counts of calls come before the costs of calls.
#[derive(Default)]
struct RunLines {
    self_costs: BTreeMap<LinePlace, Vec<Cost>>,
    calls: BTreeMap<(LinePlace, JoinedId), Vec<Cost>>,
}

impl Comparison<'_> {
    /// The path of a file or object, as the base and as the new profile have it.
    pub fn path(&self, path: JoinedPathId) -> [Option<&[u8]>; 2] {
        self.identity.paths.sides(path)
    }

    /// The joined file of a function.
    pub fn file(&self, function: JoinedId) -> JoinedPathId {
        self.identity.functions[function.index()].file
    }

    /// The joined path of a function's object; see [`Comparison::path`].
    pub fn object(&self, function: JoinedId) -> JoinedPathId {
        self.identity.functions[function.index()].object
    }

    /// The lines of a function on both sides, by place.
    pub fn lines(&self, function: JoinedId) -> Vec<ComparedLine> {
        let runs: Vec<(Side, RunLines)> =
            (0..self.runs.len()).map(|run| (self.runs[run].side, self.lines_of_run(run, function))).collect();
        let mut lines: BTreeMap<LinePlace, ComparedLine> = BTreeMap::new();
        let blank = |place| ComparedLine {
            place,
            costs: vec![Change::default(); self.events.len()],
            calls: Vec::new(),
        };
        let places: BTreeSet<LinePlace> =
            runs.iter().flat_map(|(_, run)| run.self_costs.keys().copied()).collect();
        for place in places {
            let rows = runs.iter().map(|(side, run)| (*side, run.self_costs.get(&place).map(Vec::as_slice)));
            let costs = (0..self.events.len()).map(|column| Change::from_rows(rows.clone(), column));
            lines.entry(place).or_insert_with(|| blank(place)).costs = costs.collect();
        }
        let calls: BTreeSet<(LinePlace, JoinedId)> =
            runs.iter().flat_map(|(_, run)| run.calls.keys().copied()).collect();
        for (place, callee) in calls {
            let key = (place, callee);
            let rows = runs.iter().map(|(side, run)| (*side, run.calls.get(&key).map(Vec::as_slice)));
            let count = Change::from_rows(rows.clone(), 0);
            let costs = (0..self.events.len()).map(|column| Change::from_rows(rows.clone(), column + 1));
            let line = lines.entry(place).or_insert_with(|| blank(place));
            line.calls.push((callee, count, costs.collect()));
        }
        lines.into_values().collect()
    }

    fn lines_of_run(&self, run: usize, function: JoinedId) -> RunLines {
        let profile = self.runs[run].profile;
        let columns = columns_of(profile, &self.events);
        let members = profile.functions().filter(|&member| self.identity.joined(run, member) == function);
        let mut lines = RunLines::default();
        for member in members {
            let LineDetail { places, costs, calls, call_costs, .. } = profile.lines(member, &self.selection);
            for (place, row) in places.iter().zip(costs.rows()) {
                let place = self.line_place(run, place);
                let sums = lines.self_costs.entry(place).or_insert_with(|| vec![0; self.events.len()]);
                add(sums, &self.in_columns(&columns, row));
            }
            for (call, row) in calls.iter().zip(call_costs.rows()) {
                let place = self.line_place(run, &call.place);
                let key = (place, self.identity.joined(run, call.callee));
                let sums = lines.calls.entry(key).or_insert_with(|| vec![0; self.events.len() + 1]);
                sums[0] += call.count;
                add(&mut sums[1..], &self.in_columns(&columns, row));
            }
        }
        lines
    }

    pub(super) fn line_place(&self, run: usize, place: &Place) -> LinePlace {
        LinePlace { file: self.identity.paths.file(run, place.file), line: place.line.unwrap_or(0) }
    }

    /// Costs as a profile records them, in the columns of the comparison, derived ones too.
    fn in_columns(&self, columns: &[usize], row: &[Cost]) -> Vec<Cost> {
        let mut costs = vec![0; self.recorded_columns().len()];
        columns.iter().zip(row).for_each(|(&column, cost)| costs[column] += cost);
        // The sum of all lines was reckoned without overflow, so no line is above all bounds.
        let derived: Vec<Cost> = self.derived.iter().map(|derived| derived.of(&costs).unwrap_or(0)).collect();
        costs.extend(derived);
        costs
    }
}
