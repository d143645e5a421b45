//! Lines of a function that are elsewhere on the other side.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use gristmill_format::Cost;

use super::lines::SourceLine;
use super::ratio::scaled;

/// The costs of a function's lines in one column, sorted.
pub(super) type LineCosts = Vec<(SourceLine, Cost)>;

/// Returns the line that is by a count of lines below another one.
pub(super) fn moved(line: SourceLine, by: i128) -> Option<SourceLine> {
    let number = u64::try_from(i128::from(line.line) + by).ok()?;
    Some(SourceLine { line: number, ..line })
}

/// Returns the cost of the line that is by a count of lines below another one.
pub(super) fn cost_at(lines: &LineCosts, line: SourceLine, by: i128) -> Cost {
    let index = moved(line, by).and_then(|key| lines.binary_search_by_key(&key, |(line, _)| *line).ok());
    index.map_or(0, |index| lines[index].1)
}

/// Returns by how many lines a function moved, if its lines tell clearly that it is another count than the known one.
pub(super) fn best_shift(here: &[(u64, Cost)], there: &[(u64, Cost)], known: i128) -> Option<i128> {
    /// The limit of lines that are compared.
    const MAX_LINES: usize = 200;
    if here.len() > MAX_LINES || there.len() > MAX_LINES {
        return None;
    }
    // By shift: the likeness of the lines that it puts on each other, in thousandths. A single line is no evidence.
    let mut scores: BTreeMap<i128, Cost> = BTreeMap::new();
    for &(from, before) in here {
        for &(to, after) in there {
            let likeness = scaled(before.min(after), 1000, before.max(after)).unwrap_or(0);
            *scores.entry(i128::from(to) - i128::from(from)).or_insert(0) += likeness;
        }
    }
    let of_known = scores.get(&known).copied().unwrap_or(0);
    let (shift, score) =
        scores.into_iter().max_by_key(|&(shift, score)| (score, Reverse(shift.abs()), shift))?;
    // Most lines: what is left of a function that lost a part ends elsewhere.
    let is_most = score * 3 > 2000 * Cost::try_from(here.len()).unwrap_or(Cost::MAX);
    (shift != known && is_most && score > 1000 && score * 2 > of_known * 3).then_some(shift)
}
