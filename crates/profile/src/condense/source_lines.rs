//! The source lines that stay. A line has several costs in a file: of parts, threads, instructions and calls. All of them stay, or
//! none, so that no line shows a part of what it costs.

use std::collections::HashSet;

use super::least::{LeastCosts, costs_of, decode};
use crate::decode::{BlockLine, Place};
use crate::id::{FileId, FunctionId};
use crate::profile::Profile;

/// A source line of a function. An instruction without one is a line of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct SourceLine {
    function: FunctionId,
    file: FileId,
    line: u64,
    address: u64,
}

impl SourceLine {
    pub(super) fn new(function: FunctionId, place: &Place) -> Self {
        let line = place.line.unwrap_or(0);
        let address = if line == 0 { place.address.unwrap_or(0) } else { 0 };
        SourceLine { function, file: place.file, line, address }
    }
}

/// Returns the lines with a cost that is enough.
pub(super) fn lines_with_enough(profile: &Profile, least: &LeastCosts) -> HashSet<SourceLine> {
    let mut lines = HashSet::new();
    for part in profile.parts() {
        let columns = part.event_types();
        let begin = || (vec![0; columns.len()], HashSet::new());
        let of_runs = profile.fold_lines(&part, begin, |(row, lines), function, line| {
            let Some((place, costs, _)) = costs_of(&line) else { return };
            decode(costs, row);
            if least.is_reached(columns, row, function, place) {
                lines.insert(SourceLine::new(function, place));
            }
        });
        lines.extend(of_runs.into_iter().flat_map(|(_, lines)| lines));
    }
    lines
}

/// Returns the first line with self cost of each function in each part: the one at which the function is entered.
pub(super) fn first_lines(profile: &Profile) -> HashSet<SourceLine> {
    let mut lines = HashSet::new();
    for part in profile.parts() {
        let begin = || (HashSet::new(), Vec::new());
        let of_runs = profile.fold_lines(&part, begin, |(seen, first), function, line| {
            if let BlockLine::SelfCost { place, .. } = line
                && seen.insert(function)
            {
                first.push((function, SourceLine::new(function, &place)));
            }
        });
        let mut seen = HashSet::new();
        let first = of_runs.into_iter().flat_map(|(_, first)| first);
        lines.extend(first.filter(|(function, _)| seen.insert(*function)).map(|(_, line)| line));
    }
    lines
}

#[cfg(test)]
mod tests {
    use crate::Profile;
    use crate::condense::Condensing;

    #[test]
    fn lines_that_stay_have_all_of_their_cost() {
        let text = "events: Ir\nthread: 1\nfn=f\n7 400\n9 500\n7 100\n8 1\nthread: 2\nevents: Ir\nfn=f\n7 200\n8 2\n";
        let profile = Profile::from_bytes(text.as_bytes());
        let mut condensed = Vec::new();
        Condensing::new(&profile, 500).write(0, &mut condensed).unwrap();
        let condensed = String::from_utf8(condensed).unwrap();
        let expected = "# callgrind format\nevents: Ir\nthread: 1\n\nfn=(1) f\n7 400\n+2 500\n-2 100\n-7 1\nthread: 2\nevents: Ir\n\nfn=(1) f\n7 200\n-7 2\n";
        assert_eq!(condensed, expected);
    }
}
