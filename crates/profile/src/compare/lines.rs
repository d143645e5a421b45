//! Costs of a function by line, on both sides.

use gristmill_format::Cost;

use super::Comparison;
use super::keyed_rows::KeyedRows;
use super::measure::columns_of;
use super::ratio::add_up;
use super::{Change, CompareError, JoinedId, JoinedPathId, Side};
use crate::FunctionId;
use crate::cost::CostTable;
use crate::cost_row::CostRow;
use crate::decode::{BlockLine, Place};
use crate::lines::costs_by_event;
use crate::merged::Merged;

/// Tables with the costs of all lines of a run: as they are read, in order, and joined with the other side.
const TABLES_OF_LINES: usize = 3;

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
    /// Its self cost, by the columns that were asked for.
    pub costs: Vec<Change>,
    /// The calls that it makes: callee, count, and inclusive costs by these columns.
    pub calls: Vec<(JoinedId, Change, Vec<Change>)>,
}

/// The lines of one run; calls have their count before their costs.
struct RunLines {
    side: Side,
    self_costs: KeyedRows<SourceLine>,
    calls: KeyedRows<(SourceLine, JoinedId)>,
}

impl RunLines {
    /// Returns the functions that a line calls, each once.
    fn callees(&self, place: SourceLine) -> impl Iterator<Item = JoinedId> {
        let first = self.calls.keys.partition_point(|(other, _)| *other < place);
        let of_line = self.calls.keys[first..].iter().take_while(move |(other, _)| *other == place);
        of_line.map(|(_, callee)| *callee)
    }
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

    /// Refuses profiles with more event types than any tool counts, if the costs of all lines would take too much memory.
    /// Callers of [`Comparison::lines`] and [`Comparison::write_difference`] ask this first.
    ///
    /// # Errors
    ///
    /// If a profile takes too much memory.
    pub fn refuse_wide_lines(&self) -> Result<(), CompareError> {
        let width = self.recorded_columns().len();
        let cells =
            self.runs.iter().map(|run| run.profile.wide_line_cells(width).saturating_mul(TABLES_OF_LINES));
        let bytes = cells.fold(0, usize::saturating_add).saturating_mul(size_of::<Cost>());
        if bytes == 0 {
            return Ok(());
        }
        let bytes = bytes.saturating_add(self.table_bytes());
        self.memory_budget().check_bytes(bytes).map_err(CompareError::TooManyCosts)
    }

    /// Reads some columns of the lines of a function on both sides, in the order of file and number.
    pub fn lines(&self, function: JoinedId, columns: &[usize]) -> impl Iterator<Item = ComparedLine> + use<> {
        let runs: Vec<RunLines> =
            (0..self.runs.len()).map(|run| self.lines_of_run(run, function, columns)).collect();
        let mut places: Vec<SourceLine> = Vec::new();
        for run in &runs {
            places.extend(&run.self_costs.keys);
            places.extend(run.calls.keys.iter().map(|(place, _)| place));
        }
        places.sort_unstable();
        places.dedup();
        let columns = columns.len();
        places.into_iter().map(move |place| {
            let rows = runs.iter().map(|run| (run.side, run.self_costs.get(place)));
            let costs = (0..columns).map(|column| Change::from_rows(rows.clone(), column)).collect();
            let mut callees: Vec<JoinedId> = runs.iter().flat_map(|run| run.callees(place)).collect();
            callees.sort_unstable();
            callees.dedup();
            let call = |callee: JoinedId| {
                let rows = runs.iter().map(|run| (run.side, run.calls.get((place, callee))));
                let count = Change::from_rows(rows.clone(), 0);
                let costs = (1..=columns).map(|column| Change::from_rows(rows.clone(), column));
                (callee, count, costs.collect())
            };
            ComparedLine { place, costs, calls: callees.into_iter().map(call).collect() }
        })
    }

    /// Returns the self costs of the lines of a run's functions in one column, in the order of the lines.
    pub(super) fn line_costs(
        &self,
        run: usize,
        members: &[FunctionId],
        column: usize,
    ) -> Vec<(SourceLine, Cost)> {
        let mut costs = RecordedRow::new(self, run);
        let mut lines = Merged::new(add_up);
        for &member in members {
            self.runs[run].profile.each_line(member, &self.selection, |events, line| {
                let BlockLine::SelfCost { place, costs: of_line } = line else { return };
                let of_line = costs_by_event(&of_line, events).map(|(event, cost)| (event.index(), cost));
                let cost = costs.with(of_line, |costs| costs.get(column));
                lines.push((self.line_place(run, &place), cost));
            });
        }
        lines.finish()
    }

    /// Returns the functions that a run's functions call, each with the lines that call it, each once, in order.
    pub(super) fn calling_lines(&self, run: usize, members: &[FunctionId]) -> Vec<(JoinedId, SourceLine)> {
        let mut lines = Merged::new(Vec::dedup);
        for &member in members {
            self.runs[run].profile.each_line(member, &self.selection, |_, line| {
                let BlockLine::Calls { place, callee, .. } = line else { return };
                lines.push((self.identity.joined(run, callee), self.line_place(run, &place)));
            });
        }
        lines.finish()
    }

    fn lines_of_run(&self, run: usize, function: JoinedId, wanted: &[usize]) -> RunLines {
        let profile = self.runs[run].profile;
        let mut costs = RecordedRow::new(self, run);
        let mut picked = Vec::new();
        let mut pick = |first: Option<Cost>, row: &[Cost], into: &mut CostTable| {
            picked.clear();
            picked.extend(first);
            let row = row.iter().copied().enumerate();
            costs.with(row, |costs| picked.extend(wanted.iter().map(|&column| costs.get(column))));
            into.push(&picked);
        };
        let members = profile.functions().filter(|&member| self.identity.joined(run, member) == function);
        let (mut places, mut self_costs) = (Vec::new(), CostTable::new(wanted.len(), 0));
        let (mut calls, mut call_costs) = (Vec::new(), CostTable::new(wanted.len() + 1, 0));
        for member in members {
            let detail = profile.lines(member, &self.selection);
            for (place, row) in detail.places.iter().zip(detail.costs.rows()) {
                places.push(self.line_place(run, place));
                pick(None, row, &mut self_costs);
            }
            for (call, row) in detail.calls.iter().zip(detail.call_costs.rows()) {
                calls.push((self.line_place(run, &call.place), self.identity.joined(run, call.callee)));
                pick(Some(call.count), row, &mut call_costs);
            }
        }
        RunLines {
            side: self.runs[run].side,
            self_costs: KeyedRows::new(places, self_costs),
            calls: KeyedRows::new(calls, call_costs),
        }
    }

    pub(super) fn line_place(&self, run: usize, place: &Place) -> SourceLine {
        SourceLine { file: self.identity.paths.file(run, place.file), line: place.line.unwrap_or(0) }
    }
}

/// The costs of one row of a profile at a time, by column of the comparison.
pub(super) struct RecordedRow<'c> {
    comparison: &'c Comparison<'c>,
    /// The columns of the costs of a row.
    columns: Vec<usize>,
    costs: CostRow,
}

impl<'c> RecordedRow<'c> {
    pub(super) fn new(comparison: &'c Comparison<'_>, run: usize) -> Self {
        RecordedRow {
            comparison,
            columns: columns_of(comparison.runs[run].profile, &comparison.events),
            costs: CostRow::new(comparison.recorded_columns().len()),
        }
    }

    /// Looks at the costs of a row: those of some event types of its profile.
    pub(super) fn with<R>(
        &mut self,
        row: impl IntoIterator<Item = (usize, Cost)>,
        look: impl FnOnce(&Self) -> R,
    ) -> R {
        self.costs.clear();
        row.into_iter().for_each(|(event, cost)| self.costs.add(self.columns[event], cost));
        look(self)
    }

    /// Returns the cost in a column, recorded or derived. The sum of all lines did not overflow; a line whose derived cost does has 0.
    pub(super) fn get(&self, column: usize) -> Cost {
        match column.checked_sub(self.costs.width()) {
            None => self.costs.get(column),
            Some(nth) => self.comparison.derived[nth].cost_of(&self.costs).unwrap_or(0),
        }
    }
}
