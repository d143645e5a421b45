//! Costs of a function by line, on both sides.

use std::collections::{BTreeMap, BTreeSet};

use gristmill_format::Cost;

use super::Comparison;
use super::measure::columns_of;
use super::ratio::add_up;
use super::{Change, JoinedId, JoinedPathId, Side};
use crate::FunctionId;
use crate::cost::add;
use crate::decode::Place;
use crate::lines::LineDetail;

/// A source line; [`Comparison::path`] returns the path of its file. See the example of [`Comparison`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceLine {
    /// The source file.
    pub file: JoinedPathId,
    /// The line number; 0 if it is unknown.
    pub line: u64,
}

/// The costs of a line on both sides. See the example of [`Comparison`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComparedLine {
    /// Its file and number.
    pub place: SourceLine,
    /// Its self cost, by column.
    pub costs: Vec<Change>,
    /// The calls that it makes: callee, count, and inclusive costs by column.
    pub calls: Vec<(JoinedId, Change, Vec<Change>)>,
}

/// The lines of one run; calls have their count before their costs.
#[derive(Default)]
struct RunLines {
    self_costs: BTreeMap<SourceLine, Vec<Cost>>,
    calls: BTreeMap<(SourceLine, JoinedId), Vec<Cost>>,
}

impl Comparison<'_> {
    /// Returns the path of a file or object in the base and in the new profile.
    pub fn path(&self, path: JoinedPathId) -> [Option<&[u8]>; 2] {
        self.identity.paths.sides(path)
    }

    /// Returns the joined file of a function.
    pub fn file(&self, function: JoinedId) -> JoinedPathId {
        self.identity.functions[function.index()].file
    }

    /// Returns the joined path of a function's object.
    pub fn object(&self, function: JoinedId) -> JoinedPathId {
        self.identity.functions[function.index()].object
    }

    /// Reads the lines of a function on both sides, by file and number.
    pub fn lines(&self, function: JoinedId) -> Vec<ComparedLine> {
        let runs: Vec<(Side, RunLines)> =
            (0..self.runs.len()).map(|run| (self.runs[run].side, self.lines_of_run(run, function))).collect();
        let mut lines: BTreeMap<SourceLine, ComparedLine> = BTreeMap::new();
        let blank = |place| ComparedLine {
            place,
            costs: vec![Change::default(); self.events.len()],
            calls: Vec::new(),
        };
        let places: BTreeSet<SourceLine> =
            runs.iter().flat_map(|(_, run)| run.self_costs.keys().copied()).collect();
        for place in places {
            let rows = runs.iter().map(|(side, run)| (*side, run.self_costs.get(&place).map(Vec::as_slice)));
            let costs = (0..self.events.len()).map(|column| Change::from_rows(rows.clone(), column));
            lines.entry(place).or_insert_with(|| blank(place)).costs = costs.collect();
        }
        let calls: BTreeSet<(SourceLine, JoinedId)> =
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

    /// Returns the self costs of the lines of a run's functions in one column, in the order of the lines.
    pub(super) fn line_costs(
        &self,
        run: usize,
        members: &[FunctionId],
        column: usize,
    ) -> Vec<(SourceLine, Cost)> {
        let profile = self.runs[run].profile;
        let columns = columns_of(profile, &self.events);
        let mut lines: Vec<(SourceLine, Cost)> = Vec::new();
        for &member in members {
            let detail = profile.lines(member, &self.selection);
            for (place, row) in detail.places.iter().zip(detail.costs.rows()) {
                lines.push((self.line_place(run, place), self.in_columns(&columns, row)[column]));
            }
        }
        lines.sort_unstable();
        add_up(&mut lines);
        lines
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

    pub(super) fn line_place(&self, run: usize, place: &Place) -> SourceLine {
        SourceLine { file: self.identity.paths.file(run, place.file), line: place.line.unwrap_or(0) }
    }

    /// Converts recorded costs to the columns of the comparison, derived ones included.
    fn in_columns(&self, columns: &[usize], row: &[Cost]) -> Vec<Cost> {
        let mut costs = vec![0; self.recorded_columns().len()];
        columns.iter().zip(row).for_each(|(&column, cost)| costs[column] += cost);
        // The sum of all lines did not overflow; a line whose derived cost does has 0.
        let derived: Vec<Cost> =
            self.derived.iter().map(|derived| derived.cost(&costs).unwrap_or(0)).collect();
        costs.extend(derived);
        costs
    }
}
