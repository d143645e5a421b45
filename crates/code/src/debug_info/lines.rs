//! The line program of a unit, as a table.

use std::sync::{Arc, OnceLock};

use super::fault::Outcome;
use super::{Budget, Dwarf, Slice, Unit};
use crate::SourceLine;

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

/// The lines of a unit.
pub(super) struct Lines<'a> {
    rows: Vec<Row>,
    /// By start.
    sequences: Vec<Sequence>,
    /// By index of the program; made when they are asked for.
    files: Box<[OnceLock<Option<Arc<str>>>]>,
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
    pub(super) fn at(&self, address: u64) -> Option<SourceLine> {
        let after = self.sequences.partition_point(|sequence| sequence.start <= address);
        let sequence =
            self.sequences[..after].iter().rev().take(8).find(|sequence| address < sequence.end)?;
        let rows = &self.rows[sequence.first_row..sequence.first_row + sequence.row_count];
        let row = &rows[rows.partition_point(|row| row.address <= address).checked_sub(1)?];
        let known = |number: u32| (number != 0).then_some(number);
        let line = known(row.line);
        let column = line.and_then(|_| known(row.column));
        Some(SourceLine { file: self.file(u64::from(row.file)), line, column })
    }

    /// Returns the address ranges that have lines.
    pub(super) fn ranges(&self) -> impl Iterator<Item = gimli::Range> + '_ {
        self.sequences.iter().map(|sequence| gimli::Range { begin: sequence.start, end: sequence.end })
    }

    /// Returns the path of a file by its index in the line program.
    pub(super) fn file(&self, index: u64) -> Option<Arc<str>> {
        let index = usize::try_from(index).ok()?;
        self.files.get(index)?.get_or_init(|| self.paths.path(index)).clone()
    }
}

impl Paths<'_> {
    fn path(&self, index: usize) -> Option<Arc<str>> {
        let (directory, name) = self.files.get(index)?;
        let mut path = String::new();
        for part in [self.directory, *directory, Some((*name)?)].into_iter().flatten() {
            push(&mut path, &part.to_string_lossy());
        }
        Some(path.into())
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
