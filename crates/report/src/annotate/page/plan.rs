//! The lines of the page. A page is for a person and a browser, so it has the lines near costs, up to a limit.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use gristmill_format::Cost;
use gristmill_profile::FileId;

use crate::annotate::{AnnotatedFile, Annotation, first};
use crate::view::SubjectId;

/// The limit of lines of a page. These take about 10 MB, and a browser a second.
const MAX_ROWS: u64 = 60_000;

/// The limits of lines with costs of a file. The most expensive ones are taken: up to the first limit with which they and
/// the lines around them fit on the page.
const MAX_LINES: [usize; 4] = [5_000, 1_000, 200, 40];

/// The number of lines that can be unfolded at each end of a gap between lines near costs.
const FOLDED_LINES: u64 = 25;

/// A file with more shown lines has no lines to unfold.
const MAX_WITH_FOLDS: u64 = 15_000;

/// The limit of lines of a file without text: there is nothing to read.
const MAX_BARE_LINES: usize = 200;

/// The limit of heads above a line, those of the most expensive functions. Templates make many functions of one line.
const MAX_HEADS: usize = 6;

/// The limit of listed functions by self cost, and of those by inclusive cost.
const MAX_FUNCTIONS: usize = 400;

/// The sections and functions of a page.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) sections: Vec<Section>,
    section_of: HashMap<FileId, usize>,
    /// The functions of the table.
    pub(super) listed: Vec<usize>,
    is_listed: HashSet<SubjectId>,
    /// The functions that have a head above their first line.
    heads: HashSet<SubjectId>,
    /// The cost of the most expensive line, which the heat of all others is relative to.
    pub(super) hottest: Cost,
}

/// The lines of a source file.
#[derive(Debug)]
pub(super) struct Section {
    /// The index of the file.
    pub(super) file: usize,
    pub(super) runs: Vec<LineRun>,
    /// The functions that begin on lines, by line; of many on one line the most expensive.
    pub(super) starts: Vec<(u64, SubjectId)>,
    /// The counts of other functions that begin on a line.
    pub(super) more_starts: Vec<(u64, usize)>,
    /// The count of lines with costs that are not on the page.
    pub(super) omitted: usize,
}

/// Consecutive lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LineRun {
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) kind: RunKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RunKind {
    Shown,
    Folded,
    Omitted,
}

impl LineRun {
    pub(super) fn len(self) -> u64 {
        self.to - self.from + 1
    }
}

impl Section {
    pub(super) fn has(&self, line: u64) -> bool {
        let at = self.runs.partition_point(|run| run.to < line);
        self.runs.get(at).is_some_and(|run| run.from <= line && run.kind != RunKind::Omitted)
    }
}

impl Plan {
    pub(super) fn new(annotation: &Annotation<'_>, context: u64) -> Self {
        let mut starts: HashMap<FileId, Vec<(u64, SubjectId)>> = HashMap::new();
        // The functions are sorted by cost, and stay so on each line.
        for function in annotation.wanted_functions() {
            if let Some(line) = function.line {
                let file = annotation.view.subject(function.id).file;
                starts.entry(file).or_default().push((line, function.id));
            }
        }
        let mut plan = Plan {
            sections: Vec::new(),
            section_of: HashMap::new(),
            listed: listed(annotation),
            is_listed: HashSet::new(),
            heads: HashSet::new(),
            hottest: 0,
        };
        plan.is_listed = plan.listed.iter().map(|&nth| annotation.wanted_functions()[nth].id).collect();
        let total = annotation.view.totals()[0].unsigned_abs();
        let mut rows = 0;
        // Files with text come first.
        let (with_text, without): (Vec<_>, Vec<_>) =
            annotation.files.iter().enumerate().partition(|(_, file)| file.source.is_ok());
        for (index, file) in with_text.into_iter().chain(without) {
            let mut starts = starts.remove(&file.id).unwrap_or_default();
            starts.sort_by_key(|&(line, _)| line);
            let more_starts = thin_out(&mut starts);
            // Lines without text say little; a cheap file does not need them.
            let is_expensive = first(&file.self_costs).unsigned_abs().saturating_mul(100) >= total;
            let fitting = MAX_LINES.into_iter().find_map(|max_lines| {
                let section = match &file.source {
                    Ok(source) => section(index, file, &starts, source.line_count(), context, max_lines),
                    Err(_) if is_expensive => bare(index, file, &starts),
                    Err(_) => return None,
                };
                let kept = section.runs.iter().filter(|run| run.kind != RunKind::Omitted);
                let more: u64 = kept.map(|run| run.len()).sum();
                (more > 0 && rows + more <= MAX_ROWS).then_some((section, more))
            });
            let Some((mut section, more)) = fitting else { continue };
            section.more_starts = more_starts;
            rows += more;
            plan.take(section, file);
        }
        plan
    }

    fn take(&mut self, section: Section, file: &AnnotatedFile) {
        let shown = section.starts.iter().filter(|(line, _)| section.has(*line));
        self.heads.extend(shown.map(|&(_, function)| function));
        let costs = file.lines.iter().zip(file.costs.rows()).filter(|(line, _)| section.has(**line));
        let hottest = costs.map(|(_, costs)| first(costs).saturating_abs()).max();
        self.hottest = self.hottest.max(hottest.unwrap_or_default());
        self.section_of.insert(file.id, self.sections.len());
        self.sections.push(section);
    }

    /// The index of the section of a file.
    pub(super) fn section_of(&self, file: FileId) -> Option<usize> {
        self.section_of.get(&file).copied()
    }

    /// The anchor of a line of the page.
    pub(super) fn line_anchor(&self, file: FileId, line: u64) -> Option<String> {
        let section = self.section_of(file)?;
        self.sections[section].has(line).then(|| format!("f{section}-{line}"))
    }

    /// The anchor of a function: above its first line, or else in the table.
    pub(super) fn function_anchor(&self, function: SubjectId) -> Option<String> {
        if self.heads.contains(&function) {
            return Some(format!("n{}", function.index()));
        }
        self.is_listed.contains(&function).then(|| format!("t{}", function.index()))
    }
}

/// Keeps the functions of each line that get a head, and counts the others.
fn thin_out<T: Copy>(starts: &mut Vec<(u64, T)>) -> Vec<(u64, usize)> {
    let mut kept = Vec::with_capacity(starts.len());
    let mut more = Vec::new();
    for run in starts.chunk_by(|a, b| a.0 == b.0) {
        let (heads, others) = run.split_at(run.len().min(MAX_HEADS));
        kept.extend_from_slice(heads);
        more.extend(others.first().map(|&(line, _)| (line, others.len())));
    }
    *starts = kept;
    more
}

/// The functions to list: those of highest self cost, and those of highest inclusive cost.
fn listed(annotation: &Annotation<'_>) -> Vec<usize> {
    let functions = annotation.wanted_functions();
    let mut by_inclusive: Vec<usize> = (0..functions.len()).collect();
    by_inclusive.sort_by_key(|&nth| Reverse(first(annotation.view.inclusive_cost(functions[nth].id))));
    by_inclusive.truncate(MAX_FUNCTIONS);
    by_inclusive.extend(0..functions.len().min(MAX_FUNCTIONS));
    by_inclusive.sort_unstable();
    by_inclusive.dedup();
    by_inclusive
}

/// The lines of a file that has text.
fn section(
    index: usize,
    file: &AnnotatedFile,
    starts: &[(u64, SubjectId)],
    line_count: u64,
    context: u64,
    max_lines: usize,
) -> Section {
    let (mut wanted, omitted) = most_expensive(file, line_count, max_lines);
    if omitted == 0 {
        wanted.extend(starts.iter().map(|&(line, _)| line).filter(|line| (1..=line_count).contains(line)));
        wanted.sort_unstable();
        wanted.dedup();
    }
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for line in wanted {
        let from = line.saturating_sub(context).max(1);
        let to = line.saturating_add(context).min(line_count);
        match ranges.last_mut() {
            // A gap of one line is shown.
            Some(last) if from <= last.1.saturating_add(2) => last.1 = to,
            _ => ranges.push((from, to)),
        }
    }
    let shown: u64 = ranges.iter().map(|(from, to)| to - from + 1).sum();
    let folded = if shown > MAX_WITH_FOLDS { 0 } else { FOLDED_LINES };
    let mut runs = Vec::new();
    let mut next = 1;
    for (from, to) in ranges {
        gap(next, from - 1, folded, line_count, &mut runs);
        runs.push(LineRun { from, to, kind: RunKind::Shown });
        next = to + 1;
    }
    if !runs.is_empty() {
        gap(next, line_count, folded, line_count, &mut runs);
    }
    Section { file: index, runs, starts: starts.to_vec(), more_starts: Vec::new(), omitted }
}

/// Adds the lines between two runs: few of them are folded; of many, those near the runs are.
fn gap(from: u64, to: u64, folded: u64, line_count: u64, runs: &mut Vec<LineRun>) {
    let mut push = |from: u64, to: u64, kind| {
        if from <= to {
            runs.push(LineRun { from, to, kind });
        }
    };
    if to + 1 - from.min(to + 1) <= 2 * folded {
        return push(from, to, RunKind::Folded);
    }
    // Lines before the first run and after the last one are near one run only.
    let (head, tail) = (if from == 1 { 0 } else { folded }, if to == line_count { 0 } else { folded });
    push(from, from + head - 1, RunKind::Folded);
    push(from + head, to - tail, RunKind::Omitted);
    push(to - tail + 1, to, RunKind::Folded);
}

/// The lines of a file that has no text.
fn bare(index: usize, file: &AnnotatedFile, starts: &[(u64, SubjectId)]) -> Section {
    let (lines, omitted) = most_expensive(file, u64::MAX, MAX_BARE_LINES);
    let runs = lines.into_iter().map(|line| LineRun { from: line, to: line, kind: RunKind::Shown });
    Section { file: index, runs: runs.collect(), starts: starts.to_vec(), more_starts: Vec::new(), omitted }
}

/// The lines with costs, calls or jumps up to `last`, ascending: the most expensive ones, and the count of the others.
fn most_expensive(file: &AnnotatedFile, last: u64, max_lines: usize) -> (Vec<u64>, usize) {
    let mut lines = file.all_lines();
    lines.retain(|line| (1..=last).contains(line));
    if lines.len() <= max_lines {
        return (lines, 0);
    }
    let cost = |line: u64| {
        let calls = file.calls_on(line).map(|(_, costs)| first(costs));
        calls.chain(file.line_costs(line).map(first)).max().unwrap_or_default()
    };
    lines.sort_by_cached_key(|&line| (Reverse(cost(line)), line));
    let omitted = lines.split_off(max_lines).len();
    lines.sort_unstable();
    (lines, omitted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gaps(from: u64, to: u64, line_count: u64) -> Vec<(u64, u64, RunKind)> {
        let mut runs = Vec::new();
        gap(from, to, 10, line_count, &mut runs);
        runs.iter().map(|run| (run.from, run.to, run.kind)).collect()
    }

    #[test]
    fn a_line_has_some_heads() {
        let of = |line, from: usize, to: usize| (from..to).map(move |index| (line, index));
        let mut starts: Vec<_> = of(3, 0, 2).chain(of(5, 2, 11)).collect();
        assert_eq!(thin_out(&mut starts), [(5, 3)]);
        assert_eq!(starts, of(3, 0, 2).chain(of(5, 2, 8)).collect::<Vec<_>>());
    }

    #[test]
    fn gaps_are_folded_near_costs() {
        use RunKind::{Folded, Omitted};
        assert_eq!(gaps(5, 4, 100), []);
        assert_eq!(gaps(5, 5, 100), [(5, 5, Folded)]);
        assert_eq!(gaps(5, 24, 100), [(5, 24, Folded)]);
        assert_eq!(gaps(5, 25, 100), [(5, 14, Folded), (15, 15, Omitted), (16, 25, Folded)]);
        assert_eq!(gaps(1, 50, 100), [(1, 40, Omitted), (41, 50, Folded)]);
        assert_eq!(gaps(50, 100, 100), [(50, 59, Folded), (60, 100, Omitted)]);
        assert_eq!(gaps(1, 0, 100), []);
        let mut runs = Vec::new();
        gap(50, 59, 0, 100, &mut runs);
        assert_eq!(runs, [LineRun { from: 50, to: 59, kind: Omitted }]);
    }
}
