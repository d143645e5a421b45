//! Which lines are on the page. A page is read by a person and held by a browser, so it has the lines near costs and no
//! more than so many of them.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use gristmill_format::Cost;
use gristmill_profile::FileId;

use crate::annotate::{AnnotatedFile, AnnotatedFunction, Annotation, first};
use crate::view::SubjectId;

/// A page of so many lines takes about 10 MB, and a browser a second.
const MOST_ROWS: u64 = 60_000;

/// Of a file that has more lines with costs, the dearest are taken: so many if the page has room for them and what is
/// around them, or else fewer.
const MOST_LINES: [usize; 4] = [5_000, 1_000, 200, 40];

/// Where lines between those near costs can be unfolded, so many at each end.
const FOLDED: u64 = 25;

/// A file that fills so much of the page by itself has nothing to unfold.
const MOST_FOLDED: u64 = 15_000;

/// Of a file without text, so many lines are listed: there is nothing to read.
const MOST_BARE: usize = 200;

/// Templates make many functions of one line; so many of them, the dearest, have a head above it.
const MOST_HEADS: usize = 6;

/// So many functions are listed, by own cost and by inclusive cost each.
const MOST_FUNCTIONS: usize = 400;

#[derive(Debug)]
pub(super) struct Plan {
    pub(super) sections: Vec<Section>,
    section_of: HashMap<FileId, usize>,
    /// The functions of the table.
    pub(super) listed: Vec<usize>,
    is_listed: HashSet<SubjectId>,
    /// The functions that have a head above their first line, and the section it is in.
    heads: HashSet<SubjectId>,
    /// The cost of the dearest line, by which the heat of all others is measured.
    pub(super) hottest: Cost,
}

#[derive(Debug)]
pub(super) struct Section {
    /// Which of the files it is about.
    pub(super) file: usize,
    pub(super) pieces: Vec<Piece>,
    /// The functions that begin on lines, by line; of many on one line the dearest.
    pub(super) starts: Vec<(u64, SubjectId)>,
    /// How many more begin on a line.
    pub(super) more_starts: Vec<(u64, usize)>,
    /// How many lines with costs are not on the page.
    pub(super) left_out: usize,
}

/// Lines that follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) kind: PieceKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PieceKind {
    Shown,
    Folded,
    LeftOut,
}

impl Piece {
    pub(super) fn len(self) -> u64 {
        self.to - self.from + 1
    }
}

impl Section {
    pub(super) fn has(&self, line: u64) -> bool {
        let at = self.pieces.partition_point(|piece| piece.to < line);
        self.pieces.get(at).is_some_and(|piece| piece.from <= line && piece.kind != PieceKind::LeftOut)
    }
}

impl Plan {
    pub(super) fn of(annotation: &Annotation<'_>, context: u64) -> Self {
        let mut starts: HashMap<FileId, Vec<(u64, SubjectId)>> = HashMap::new();
        // The functions come with the dearest first, and stay so on each line.
        for function in annotation.functions() {
            if let Some(line) = function.line {
                let file = annotation.view.subject(function.id).file;
                starts.entry(file).or_default().push((line, function.id));
            }
        }
        let mut plan = Plan {
            sections: Vec::new(),
            section_of: HashMap::new(),
            listed: listed(annotation.functions()),
            is_listed: HashSet::new(),
            heads: HashSet::new(),
            hottest: 0,
        };
        plan.is_listed = plan.listed.iter().map(|&nth| annotation.functions()[nth].id).collect();
        let total = annotation.view.totals()[0].unsigned_abs();
        let mut rows = 0;
        // First what can be read.
        let (with_text, without): (Vec<_>, Vec<_>) =
            annotation.files().iter().enumerate().partition(|(_, file)| file.source.is_ok());
        for (index, file) in with_text.into_iter().chain(without) {
            let mut starts = starts.remove(&file.id).unwrap_or_default();
            starts.sort_by_key(|&(line, _)| line);
            let more_starts = thin_out(&mut starts);
            // Lines without text say little; a file that hardly costs anything can do without them.
            let is_dear = first(&file.self_costs).unsigned_abs().saturating_mul(100) >= total;
            let fitting = MOST_LINES.into_iter().find_map(|most| {
                let section = match &file.source {
                    Ok(source) => section(index, file, &starts, source.line_count(), context, most),
                    Err(_) if is_dear => bare(index, file, &starts),
                    Err(_) => return None,
                };
                let kept = section.pieces.iter().filter(|piece| piece.kind != PieceKind::LeftOut);
                let more: u64 = kept.map(|piece| piece.len()).sum();
                (more > 0 && rows + more <= MOST_ROWS).then_some((section, more))
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

    /// The section of a file, by number.
    pub(super) fn section_of(&self, file: FileId) -> Option<usize> {
        self.section_of.get(&file).copied()
    }

    /// Where a line is on the page.
    pub(super) fn line_anchor(&self, file: FileId, line: u64) -> Option<String> {
        let section = self.section_of(file)?;
        self.sections[section].has(line).then(|| format!("f{section}-{line}"))
    }

    /// Where a function is on the page: above its first line, or else in the table.
    pub(super) fn function_anchor(&self, function: SubjectId) -> Option<String> {
        if self.heads.contains(&function) {
            return Some(format!("n{}", function.index()));
        }
        self.is_listed.contains(&function).then(|| format!("t{}", function.index()))
    }
}

/// Leaves so many functions on each line as have a head, and says how many more there were.
fn thin_out<T: Copy>(starts: &mut Vec<(u64, T)>) -> Vec<(u64, usize)> {
    let mut kept = Vec::with_capacity(starts.len());
    let mut more = Vec::new();
    for run in starts.chunk_by(|a, b| a.0 == b.0) {
        let (heads, others) = run.split_at(run.len().min(MOST_HEADS));
        kept.extend_from_slice(heads);
        more.extend(others.first().map(|&(line, _)| (line, others.len())));
    }
    *starts = kept;
    more
}

/// The functions to list: those that cost most by themselves, and those that cost most with all that they called.
fn listed(functions: &[AnnotatedFunction]) -> Vec<usize> {
    let mut by_inclusive: Vec<usize> = (0..functions.len()).collect();
    by_inclusive.sort_by_key(|&nth| Reverse(first(&functions[nth].inclusive)));
    by_inclusive.truncate(MOST_FUNCTIONS);
    by_inclusive.extend(0..functions.len().min(MOST_FUNCTIONS));
    by_inclusive.sort_unstable();
    by_inclusive.dedup();
    by_inclusive
}

/// The lines of a file, with those around them.
fn section(
    index: usize,
    file: &AnnotatedFile,
    starts: &[(u64, SubjectId)],
    line_count: u64,
    context: u64,
    most: usize,
) -> Section {
    let (mut wanted, left_out) = dearest(file, line_count, most);
    if left_out == 0 {
        wanted.extend(starts.iter().map(|&(line, _)| line).filter(|line| (1..=line_count).contains(line)));
        wanted.sort_unstable();
        wanted.dedup();
    }
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for line in wanted {
        let from = line.saturating_sub(context).max(1);
        let to = line.saturating_add(context).min(line_count);
        match runs.last_mut() {
            // A single line is shown rather than folded.
            Some(last) if from <= last.1.saturating_add(2) => last.1 = to,
            _ => runs.push((from, to)),
        }
    }
    let shown: u64 = runs.iter().map(|(from, to)| to - from + 1).sum();
    let folded = if shown > MOST_FOLDED { 0 } else { FOLDED };
    let mut pieces = Vec::new();
    let mut next = 1;
    for (from, to) in runs {
        gap(next, from - 1, folded, line_count, &mut pieces);
        pieces.push(Piece { from, to, kind: PieceKind::Shown });
        next = to + 1;
    }
    if !pieces.is_empty() {
        gap(next, line_count, folded, line_count, &mut pieces);
    }
    Section { file: index, pieces, starts: starts.to_vec(), more_starts: Vec::new(), left_out }
}

/// The lines between two runs: folded where they are few, and near the runs where they are many.
fn gap(from: u64, to: u64, folded: u64, line_count: u64, pieces: &mut Vec<Piece>) {
    let mut push = |from: u64, to: u64, kind| {
        if from <= to {
            pieces.push(Piece { from, to, kind });
        }
    };
    if to + 1 - from.min(to + 1) <= 2 * folded {
        return push(from, to, PieceKind::Folded);
    }
    // What comes before the first line, or after the last, is near nothing.
    let (head, tail) = (if from == 1 { 0 } else { folded }, if to == line_count { 0 } else { folded });
    push(from, from + head - 1, PieceKind::Folded);
    push(from + head, to - tail, PieceKind::LeftOut);
    push(to - tail + 1, to, PieceKind::Folded);
}

/// The lines of a file that has no text.
fn bare(index: usize, file: &AnnotatedFile, starts: &[(u64, SubjectId)]) -> Section {
    let (lines, left_out) = dearest(file, u64::MAX, MOST_BARE);
    let pieces = lines.into_iter().map(|line| Piece { from: line, to: line, kind: PieceKind::Shown });
    Section {
        file: index,
        pieces: pieces.collect(),
        starts: starts.to_vec(),
        more_starts: Vec::new(),
        left_out,
    }
}

/// The lines with costs, calls or jumps up to a last one, ascending; of very many the dearest, and how many these leave
/// out.
fn dearest(file: &AnnotatedFile, last: u64, most: usize) -> (Vec<u64>, usize) {
    let mut lines = file.lines_with_anything();
    lines.retain(|line| (1..=last).contains(line));
    if lines.len() <= most {
        return (lines, 0);
    }
    let cost = |line: u64| {
        let calls = file.calls_on(line).map(|(_, costs)| first(costs));
        calls.chain(file.line_costs(line).map(first)).max().unwrap_or_default()
    };
    lines.sort_by_cached_key(|&line| (Reverse(cost(line)), line));
    let left_out = lines.split_off(most).len();
    lines.sort_unstable();
    (lines, left_out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gaps(from: u64, to: u64, line_count: u64) -> Vec<(u64, u64, PieceKind)> {
        let mut pieces = Vec::new();
        gap(from, to, 10, line_count, &mut pieces);
        pieces.iter().map(|piece| (piece.from, piece.to, piece.kind)).collect()
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
        use PieceKind::{Folded, LeftOut};
        assert_eq!(gaps(5, 4, 100), []);
        assert_eq!(gaps(5, 5, 100), [(5, 5, Folded)]);
        assert_eq!(gaps(5, 24, 100), [(5, 24, Folded)]);
        assert_eq!(gaps(5, 25, 100), [(5, 14, Folded), (15, 15, LeftOut), (16, 25, Folded)]);
        assert_eq!(gaps(1, 50, 100), [(1, 40, LeftOut), (41, 50, Folded)]);
        assert_eq!(gaps(50, 100, 100), [(50, 59, Folded), (60, 100, LeftOut)]);
        assert_eq!(gaps(1, 0, 100), []);
        let mut pieces = Vec::new();
        gap(50, 59, 0, 100, &mut pieces);
        assert_eq!(pieces, [Piece { from: 50, to: 59, kind: LeftOut }]);
    }
}
