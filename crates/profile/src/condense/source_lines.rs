//! The source lines that stay. A line has several costs in a file: of functions, parts, threads, instructions and calls. All of them
//! stay, or none, so that no line shows a part of what it costs.

use std::collections::{HashMap, HashSet};

use gristmill_format::Cost;

use super::least::{costs_of, decode};
use super::numbers::Numbers;
use crate::compare::file_name;
use crate::decode::{BlockLine, Place};
use crate::hash::{Map, Seeds};
use crate::id::{EventId, FileId, FunctionId};
use crate::profile::Profile;

/// Source lines of a profile, and those of others that are the same.
#[derive(Debug)]
pub(super) struct SourceLines {
    /// A number for each name of a file, without its directories: each build can have its own.
    names: HashMap<Vec<u8>, usize>,
    /// The number of each file of the profile.
    files: Vec<usize>,
    lines: LineSet,
}

/// A line of all functions that have it, as code that is inlined into them. An instruction without one is a line of its own.
#[derive(Debug, Clone, Copy)]
enum SourceLine {
    Line { file: usize, line: u64 },
    Instruction(u64),
    OfFunction(FunctionId),
}

impl SourceLine {
    fn new(files: &[usize], function: FunctionId, place: &Place) -> Self {
        match (place.line, place.address) {
            (Some(line @ 1..), _) => SourceLine::Line { file: files[place.file.index()], line },
            (_, Some(address @ 1..)) => SourceLine::Instruction(address),
            _ => SourceLine::OfFunction(function),
        }
    }
}

/// A set of source lines.
#[derive(Debug, Default)]
struct LineSet {
    /// Line numbers, by the number of their file.
    lines: Map<usize, Numbers>,
    /// Addresses.
    instructions: Numbers,
    /// Indices of functions.
    functions: Numbers,
}

impl LineSet {
    fn insert(&mut self, line: SourceLine) {
        match line {
            SourceLine::Line { file, line } => self.lines.entry(file).or_default().insert(line),
            SourceLine::Instruction(address) => self.instructions.insert(address),
            SourceLine::OfFunction(function) => self.functions.insert(function.index() as u64),
        }
    }

    fn append(&mut self, other: LineSet) {
        let of_files = other.lines.into_iter();
        of_files.for_each(|(file, lines)| self.lines.entry(file).or_default().append(lines));
        self.instructions.append(other.instructions);
        self.functions.append(other.functions);
    }

    /// Sorts the numbers, so that they can be searched.
    fn sort(&mut self) {
        let others = [&mut self.instructions, &mut self.functions];
        self.lines.values_mut().chain(others).for_each(Numbers::sort);
    }

    /// `true` if the set has a line. It has to be sorted.
    fn contains(&self, line: SourceLine) -> bool {
        match line {
            SourceLine::Line { file, line } => {
                self.lines.get(&file).is_some_and(|lines| lines.contains(line))
            }
            SourceLine::Instruction(address) => self.instructions.contains(address),
            SourceLine::OfFunction(function) => self.functions.contains(function.index() as u64),
        }
    }
}

/// The profile that is written, or the other one of a comparison, whose instructions and functions have other numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Own,
    Other,
}

impl SourceLines {
    pub(super) fn none_of(profile: &Profile) -> Self {
        let mut lines = SourceLines { names: HashMap::new(), files: Vec::new(), lines: LineSet::default() };
        lines.files = lines.numbers_of_files(profile);
        lines
    }

    pub(super) fn contains(&self, function: FunctionId, place: &Place) -> bool {
        self.lines.contains(SourceLine::new(&self.files, function, place))
    }

    /// Adds the lines with such costs.
    pub(super) fn add<F>(&mut self, profile: &Profile, side: Side, is_wanted: F)
    where
        F: Fn(FunctionId, &Place, &[EventId], &[Cost]) -> bool + Sync,
    {
        let files = self.numbers_of_files(profile);
        self.extend(side, lines_with(profile, &files, is_wanted));
    }

    /// Adds the first line with self cost of each function in each part: the one at which the function is entered.
    pub(super) fn add_first(&mut self, profile: &Profile, side: Side) {
        let files = self.numbers_of_files(profile);
        self.extend(side, first_lines(profile, &files));
    }

    fn extend(&mut self, side: Side, mut lines: LineSet) {
        if side == Side::Other {
            (lines.instructions, lines.functions) = (Numbers::default(), Numbers::default());
        }
        self.lines.append(lines);
        self.lines.sort();
    }

    fn numbers_of_files(&mut self, profile: &Profile) -> Vec<usize> {
        let names = &mut self.names;
        let number = |file: FileId| {
            let next = names.len();
            *names.entry(file_name(profile.file(file)).to_vec()).or_insert(next)
        };
        profile.files().map(number).collect()
    }
}

fn lines_with<F>(profile: &Profile, files: &[usize], is_wanted: F) -> LineSet
where
    F: Fn(FunctionId, &Place, &[EventId], &[Cost]) -> bool + Sync,
{
    let mut lines = LineSet::default();
    for part in profile.parts() {
        let columns = part.event_types();
        let begin = || (vec![0; columns.len()], LineSet::default());
        let of_runs = profile.fold_lines(&part, begin, |(row, lines), function, line| {
            let Some((place, costs, _)) = costs_of(&line) else { return };
            decode(costs, row);
            if is_wanted(function, place, columns, row) {
                lines.insert(SourceLine::new(files, function, place));
            }
        });
        of_runs.into_iter().for_each(|(_, of_run)| lines.append(of_run));
    }
    lines
}

/// A set of functions.
type Functions = HashSet<FunctionId, Seeds>;

fn first_lines(profile: &Profile, files: &[usize]) -> LineSet {
    let mut lines = LineSet::default();
    for part in profile.parts() {
        let begin = || (Functions::default(), Vec::new());
        let of_runs = profile.fold_lines(&part, begin, |(seen, first), function, line| {
            if let BlockLine::SelfCost { place, .. } = line
                && seen.insert(function)
            {
                first.push((function, SourceLine::new(files, function, &place)));
            }
        });
        let mut seen = Functions::default();
        let first = of_runs.into_iter().flat_map(|(_, first)| first);
        first.filter(|(function, _)| seen.insert(*function)).for_each(|(_, line)| lines.insert(line));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::super::least::decode;
    use crate::Profile;
    use crate::condense::Condensing;
    use crate::decode::BlockLine;

    #[test]
    fn lines_that_stay_have_all_of_their_cost() {
        let text = "events: Ir\nthread: 1\nfn=f\n7 400\n9 500\n7 100\n8 1\nthread: 2\nevents: Ir\nfn=f\n7 200\n8 2\n";
        let profile = Profile::from_bytes(text.as_bytes());
        let mut condensed = Vec::new();
        Condensing::new(&profile, 500).write(0, &mut condensed).unwrap();
        let condensed = String::from_utf8(condensed).unwrap();
        let expected = "# callgrind format\nevents: Ir\nthread: 1\n\nfn=(1) f\n7 400\n+2 500\n-2 100\n-7 1\nthread: 2\nevents: Ir\n\nfn=(1)\n7 200\n-7 2\n";
        assert_eq!(condensed, expected);
    }

    /// Two profiles in which f has a cheap and an expensive line, and one of its callers inlines both.
    fn side(last: u32) -> Profile {
        let text = format!(
            "events: Ir\nfl=/{last}/a.c\nfn=main\n1 900\nfi=/{last}/f.h\n7 5\n8 6\nfl=/{last}/f.h\nfn=f\n6 1\n7 900\n8 {last}\n9 3\n"
        );
        Profile::from_bytes(text.into_bytes())
    }

    fn lines_of(condensing: &Condensing<'_>) -> Vec<String> {
        let mut condensed = Vec::new();
        condensing.write(0, &mut condensed).unwrap();
        let lines = Profile::from_bytes(condensed);
        let mut found = Vec::new();
        for part in lines.parts() {
            let of_runs = lines.fold_lines(&part, Vec::new, |found, function, line| {
                if let BlockLine::SelfCost { place, costs } = line {
                    let mut row = [0];
                    decode(costs, &mut row);
                    let name = String::from_utf8_lossy(lines.function(function).name).into_owned();
                    found.push(format!("{name}:{} {}", place.line.unwrap(), row[0]));
                }
            });
            found.extend(of_runs.concat());
        }
        found
    }

    #[test]
    fn a_line_stays_in_all_functions_that_have_it() {
        let profile = side(2);
        let condensing = Condensing::new(&profile, 900);
        assert_eq!(lines_of(&condensing), ["main:1 900", "main:7 5", "main:0 6", "f:7 900", "f:0 6"]);
    }

    #[test]
    fn a_line_stays_on_both_sides_of_a_comparison() {
        let (base, profile) = (side(2), side(800));
        let of_base = lines_of(&Condensing::new(&base, 900).for_comparison(&profile));
        assert_eq!(of_base, ["main:1 900", "main:7 5", "main:8 6", "f:6 1", "f:7 900", "f:8 2", "f:0 3"]);
        let of_profile = lines_of(&Condensing::new(&profile, 900).for_comparison(&base));
        assert_eq!(
            of_profile,
            ["main:1 900", "main:7 5", "main:8 6", "f:6 1", "f:7 900", "f:8 800", "f:0 3"]
        );
    }

    #[test]
    fn a_line_stays_in_a_group_of_functions() {
        let text = "events: Ir\nfl=a.c\nfn=f\n7 9990\nfn=g\n7 6\n8 1\nfn=h\n7 3\n";
        let profile = Profile::from_bytes(text.as_bytes());
        let condensing = Condensing::with_fewer_functions(&profile, 990);
        assert_eq!(
            lines_of(&condensing),
            [
                "f:7 9990",
                "(2 functions left out that nothing calls):7 6",
                "(2 functions left out that nothing calls):7 3",
                "(2 functions left out that nothing calls):0 1"
            ]
        );
    }
}
