//! The costs and calls of the lines of source files.

use gristmill_profile::OverBudget;
use gristmill_profile::hash::Map;

use super::line_key::LineKey;
use super::names::{Memory, TextId};
use super::number::Number;
use super::reader::{Calls, Counts, Sink};
use super::tables::{Row, add_to};

/// The lines of the source files that are annotated.
#[derive(Debug)]
pub(super) struct LineTables {
    /// The index of each annotated file.
    index: Map<TextId, usize>,
    files: Vec<FileTable>,
}

/// The lines of a source file.
#[derive(Debug, Default)]
pub(super) struct FileTable {
    lines: Map<LineKey, Row>,
    /// The function that makes the first calls on a line.
    callers: Map<LineKey, TextId>,
    calls: Map<(LineKey, TextId), LineCalls>,
}

/// The calls from a line to a function.
#[derive(Debug)]
pub(super) struct LineCalls {
    pub(super) count: Number,
    pub(super) costs: Row,
}

impl LineTables {
    pub(super) fn new(files: impl Iterator<Item = Option<TextId>>) -> LineTables {
        let mut tables = LineTables { index: Map::default(), files: Vec::new() };
        for file in files {
            if let Some(file) = file {
                tables.index.insert(file, tables.files.len());
            }
            tables.files.push(FileTable::default());
        }
        tables
    }

    /// The lines of each annotated file.
    pub(super) fn files(&self) -> &[FileTable] {
        &self.files
    }
}

impl FileTable {
    /// The lines with self costs, ascending.
    pub(super) fn lines(&self) -> Vec<LineKey> {
        let mut lines: Vec<LineKey> = self.lines.keys().copied().collect();
        lines.sort_unstable();
        lines
    }

    /// The self costs of a line.
    pub(super) fn costs(&self, line: LineKey) -> Option<&Counts> {
        self.lines.get(&line).map(Vec::as_slice)
    }

    /// All self costs.
    pub(super) fn all_costs(&self) -> impl Iterator<Item = &Counts> {
        self.lines.values().map(Vec::as_slice)
    }

    /// All calls of the file by line and callee, sorted, each line with the function that makes the first of them.
    pub(super) fn calls(&self) -> Vec<(LineKey, TextId, TextId, &LineCalls)> {
        let call = |(&(line, callee), calls)| (line, self.callers[&line], callee, calls);
        let mut calls: Vec<_> = self.calls.iter().map(call).collect();
        calls.sort_unstable_by_key(|&(line, _, callee, _)| (line, callee));
        calls
    }
}

impl Sink for LineTables {
    fn line(
        &mut self,
        file: TextId,
        line: LineKey,
        counts: &Counts,
        memory: &mut Memory,
    ) -> Result<(), OverBudget> {
        let Some(&index) = self.index.get(&file) else { return Ok(()) };
        let lines = &mut self.files[index].lines;
        if !lines.contains_key(&line) {
            memory.take(2 * size_of::<(LineKey, Row)>())?;
        }
        add_to(lines.entry(line).or_default(), counts, memory)
    }

    fn calls(&mut self, calls: &Calls<'_>, memory: &mut Memory) -> Result<(), OverBudget> {
        let Some(&index) = self.index.get(&calls.file) else { return Ok(()) };
        let file = &mut self.files[index];
        if *file.callers.entry(calls.line).or_insert(calls.caller) != calls.caller {
            return Ok(());
        }
        let key = (calls.line, calls.callee);
        if !file.calls.contains_key(&key) {
            memory.take(3 * size_of::<(LineKey, TextId, LineCalls)>())?;
        }
        let known =
            file.calls.entry(key).or_insert_with(|| LineCalls { count: Number::ZERO, costs: Row::new() });
        known.count = known.count.plus(calls.count);
        add_to(&mut known.costs, calls.counts, memory)
    }

    fn end_of_function(
        &mut self,
        _: TextId,
        _: &Counts,
        _: &Counts,
        _: &mut Memory,
    ) -> Result<(), OverBudget> {
        Ok(())
    }

    fn end_of_file(
        &mut self,
        _: Option<TextId>,
        _: Option<TextId>,
        _: &Counts,
        _: &Counts,
        _: &mut Memory,
    ) -> Result<(), OverBudget> {
        Ok(())
    }

    fn file(&mut self, _: TextId) {}

    fn begin_of_function(&mut self, _: TextId, _: Option<TextId>, _: &mut Memory) -> Result<(), OverBudget> {
        Ok(())
    }

    fn callee(&mut self, _: TextId, _: TextId, _: &mut Memory) -> Result<(), OverBudget> {
        Ok(())
    }

    fn totals(&mut self, _: bool, _: &[&[u8]]) {}
}
