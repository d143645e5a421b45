//! The line program of a unit, as a table.

use std::sync::{Arc, OnceLock};

use super::budget::Budget;
use super::fault::Outcome;
use super::{Dwarf, Slice, Unit};
use crate::SourceLine;

/// Instructions of a line program that count as one element if they make no row: several units can run the same program.
const INSTRUCTIONS_OF_ELEMENT: usize = 8;

/// A part of a program in which addresses only grow.
struct Sequence {
    start: u64,
    end: u64,
    /// Its rows in the table.
    first_row: usize,
    row_count: usize,
}

struct Row {
    address: u64,
    file: u32,
    line: u32,
    column: u32,
}

/// The path of a file, made once. `None` if it has none.
type FilePath = OnceLock<Outcome<Option<Arc<str>>>>;

/// The lines of a unit.
pub(super) struct Lines<'a> {
    rows: Vec<Row>,
    /// By start.
    sequences: Vec<Sequence>,
    /// By index of the program; made when they are asked for.
    files: Box<[FilePath]>,
    paths: Paths<'a>,
}

/// The parts of paths of files.
struct Paths<'a> {
    directory: Option<Slice<'a>>,
    /// For each file, its directory and its name.
    files: Vec<(Option<Slice<'a>>, Option<Slice<'a>>)>,
}

impl<'a> Lines<'a> {
    /// Runs the line program of a unit. `None` if it has none.
    pub(super) fn parse(dwarf: &Dwarf<'a>, unit: &Unit<'a>, budget: &Budget) -> Outcome<Option<Self>> {
        let Some(program) = unit.line_program.clone() else { return Ok(None) };
        budget.take(program.header().raw_program_buf().len() / INSTRUCTIONS_OF_ELEMENT)?;
        let (mut all_rows, mut sequences) = (Vec::<Row>::new(), Vec::new());
        let (mut first_row, mut charged) = (0, 0);
        let mut rows = program.rows();
        while let Some((_, row)) = rows.next_row()? {
            if row.end_sequence() {
                let (start, end) = (all_rows.get(first_row).map(|row| row.address), row.address());
                match start {
                    Some(start) if start < end => {
                        let row_count = all_rows.len() - first_row;
                        sequences.push(Sequence { start, end, first_row, row_count });
                    }
                    _ => all_rows.truncate(first_row),
                }
                first_row = all_rows.len();
                continue;
            }
            let column = match row.column() {
                gimli::ColumnType::LeftEdge => 0,
                gimli::ColumnType::Column(column) => column.get(),
            };
            let row = Row {
                address: row.address(),
                file: u32::try_from(row.file_index()).unwrap_or(u32::MAX),
                line: row.line().map_or(0, |line| u32::try_from(line.get()).unwrap_or(0)),
                column: u32::try_from(column).unwrap_or(0),
            };
            // Of several rows of one address, the last one counts.
            match all_rows.last_mut().filter(|last| last.address == row.address) {
                Some(last) if first_row < charged => *last = row,
                _ => {
                    all_rows.push(row);
                    charged = all_rows.len();
                    budget.take(1)?;
                }
            }
        }
        all_rows.truncate(first_row);
        sequences.sort_by_key(|sequence| (sequence.start, sequence.end));

        let header = rows.header();
        let mut paths = Paths { directory: unit.comp_dir, files: Vec::new() };
        // Up to version 4, the table of files starts at 1.
        let first = u64::from(header.version() <= 4);
        if first == 1 {
            paths.files.push((None, None));
        }
        for index in (first..).take(header.file_names().len()) {
            let Some(file) = header.file(index) else { break };
            let text = |value| dwarf.attr_string(unit, value).ok();
            // Directory 0 is that of the unit.
            let directory = file.directory(header).filter(|_| file.directory_index() != 0);
            paths.files.push((directory.and_then(text), text(file.path_name())));
        }
        budget.take(paths.files.len())?;
        let files = paths.files.iter().map(|_| OnceLock::new()).collect();
        Ok(Some(Self { rows: all_rows, sequences, files, paths }))
    }

    /// Returns the source line of an address.
    pub(super) fn at(&self, address: u64, budget: &Budget) -> Outcome<Option<SourceLine>> {
        let Some(row) = self.row_at(address) else { return Ok(None) };
        let known = |number: u32| (number != 0).then_some(number);
        let line = known(row.line);
        let column = line.and_then(|_| known(row.column));
        Ok(Some(SourceLine { file: self.file(u64::from(row.file), budget)?, line, column }))
    }

    fn row_at(&self, address: u64) -> Option<&Row> {
        let after = self.sequences.partition_point(|sequence| sequence.start <= address);
        let sequence =
            self.sequences[..after].iter().rev().take(8).find(|sequence| address < sequence.end)?;
        let rows = &self.rows[sequence.first_row..sequence.first_row + sequence.row_count];
        Some(&rows[rows.partition_point(|row| row.address <= address).checked_sub(1)?])
    }

    /// Returns the address ranges that have lines.
    pub(super) fn ranges(&self) -> impl Iterator<Item = gimli::Range> + '_ {
        self.sequences.iter().map(|sequence| gimli::Range { begin: sequence.start, end: sequence.end })
    }

    /// Returns the path of a file by its index in the line program.
    pub(super) fn file(&self, index: u64, budget: &Budget) -> Outcome<Option<Arc<str>>> {
        let Some((index, file)) =
            usize::try_from(index).ok().and_then(|index| Some((index, self.files.get(index)?)))
        else {
            return Ok(None);
        };
        file.get_or_init(|| self.paths.path(index, budget)).clone()
    }
}

impl Paths<'_> {
    fn path(&self, index: usize, budget: &Budget) -> Outcome<Option<Arc<str>>> {
        let Some((directory, Some(name))) = self.files.get(index) else { return Ok(None) };
        let parts = || [self.directory, *directory, Some(*name)].into_iter().flatten();
        budget.take_text(parts().map(|part| part.slice().len()).sum())?;
        let mut path = String::new();
        for part in parts() {
            push(&mut path, &part.to_string_lossy());
        }
        Ok(Some(path.into()))
    }
}

/// Appends a part to a path, or replaces the path if the part is absolute, on Unix or Windows.
fn push(path: &mut String, part: &str) {
    let has_drive = |text: &str| text.as_bytes().get(1) == Some(&b':');
    if part.starts_with(['/', '\\']) || has_drive(part) {
        path.clear();
    }
    if !path.is_empty() && !path.ends_with(['/', '\\']) {
        let is_windows = path.starts_with('\\') || has_drive(path) && path.as_bytes().get(2) == Some(&b'\\');
        path.push(if is_windows { '\\' } else { '/' });
    }
    path.push_str(part);
}

#[cfg(test)]
mod tests {
    use super::push;

    #[test]
    fn paths_are_joined_as_on_their_system() {
        for (base, part, joined) in [
            ("/srv", "mill.c", "/srv/mill.c"),
            ("/srv/", "mill.c", "/srv/mill.c"),
            ("/srv", "/usr/include/stdio.h", "/usr/include/stdio.h"),
            ("", "mill.c", "mill.c"),
            ("C:\\srv", "mill.c", "C:\\srv\\mill.c"),
            ("C:/srv", "mill.c", "C:/srv/mill.c"),
            ("C:\\srv", "D:\\mill.c", "D:\\mill.c"),
        ] {
            let mut path = base.to_owned();
            push(&mut path, part);
            assert_eq!(path, joined);
        }
    }
}
