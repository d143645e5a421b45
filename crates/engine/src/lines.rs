//! Source lines of an object, from the line programs of version 5 alone.
//!
//! Such a program names its directories and files itself. So the entries of units, which are most of the debug information, need not be
//! expanded. [`Binary::line`](gristmill_code::Binary::line) does the same with them, and reads what this cannot.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use gimli::{
    CompleteLineProgram, DebugLine, DebugLineOffset, DebugLineStr, EndianSlice, LineSequence, LittleEndian,
};
use gristmill_profile::hash::Map;
use object::{Object as _, ObjectSection as _};

use crate::sequences;

type Slice = EndianSlice<'static, LittleEndian>;

/// The version whose programs need nothing else.
const VERSION: u16 = 5;

/// Sequences that are searched for an address. Real ones do not overlap, except those that a linker has joined.
const MAX_SEQUENCES_OF_ADDRESS: usize = 8;

/// The file of an address, and its line; 0 if it is not known.
pub(crate) type Source = (Option<Arc<str>>, u64);

/// Paths by program and number of the file.
type Paths = Map<(usize, u64), Option<Arc<str>>>;

/// A line program with its sequences.
type Program = (CompleteLineProgram<Slice>, Vec<LineSequence<Slice>>);

/// A run of rows in which addresses only grow.
#[derive(Debug, Clone, Copy)]
struct Sequence {
    start: u64,
    end: u64,
    /// The offset of its program.
    program: usize,
    index: usize,
}

/// Address, file and line.
type Row = (u64, u64, u64);

/// The line programs of an object.
#[derive(Debug)]
pub(crate) struct Lines {
    lines: Slice,
    strings: DebugLineStr<Slice>,
    /// By start.
    sequences: Vec<Sequence>,
    /// Programs, rows and paths that were asked for.
    programs: RefCell<Map<usize, Option<Rc<Program>>>>,
    rows: RefCell<Map<usize, Vec<Row>>>,
    paths: RefCell<Paths>,
}

impl Lines {
    /// Indexes the line programs of a file. `None` if there are none, or not all can be read by themselves.
    pub(crate) fn read(bytes: &'static [u8]) -> Option<Lines> {
        let file = object::File::parse(bytes).ok()?;
        let section = |name: &str| -> Option<Slice> {
            let data = file.section_by_name(name)?.uncompressed_data().ok()?;
            // An object is never unloaded.
            let data: &'static [u8] = match data {
                std::borrow::Cow::Borrowed(data) => data,
                std::borrow::Cow::Owned(data) => data.leak(),
            };
            Some(EndianSlice::new(data, LittleEndian))
        };
        let (lines, strings) = (section(".debug_line")?, section(".debug_line_str")?);
        let mut found = Lines {
            lines,
            strings: DebugLineStr::from(strings),
            sequences: Vec::new(),
            programs: RefCell::default(),
            rows: RefCell::default(),
            paths: RefCell::default(),
        };
        let mut offset = 0;
        while offset < lines.len() {
            offset += found.add(offset)?;
        }
        found.sequences.sort_by_key(|sequence| (sequence.start, sequence.end));
        Some(found)
    }

    /// Adds the program at an offset, and returns its length.
    fn add(&mut self, offset: usize) -> Option<usize> {
        let head = self.lines.slice().get(offset..offset + 6)?;
        let length = u32::from_le_bytes([head[0], head[1], head[2], head[3]]);
        // Longer ones have another format.
        if length >= 0xffff_fff0 || u16::from_le_bytes([head[4], head[5]]) != VERSION {
            return None;
        }
        let bounds = match sequences::bounds(self.lines.slice().get(offset..)?) {
            Some(bounds) => bounds,
            None => {
                let parsed = self.parse(offset)?.1;
                parsed.iter().map(|sequence| (sequence.start, sequence.end)).collect()
            }
        };
        for (index, (start, end)) in bounds.into_iter().enumerate() {
            // Code that the linker has removed starts at 0.
            if start != 0 && start < end {
                self.sequences.push(Sequence { start, end, program: offset, index });
            }
        }
        Some(length as usize + 4)
    }

    fn parse(&self, offset: usize) -> Option<Program> {
        let program = DebugLine::from(self.lines).program(DebugLineOffset(offset), 8, None, None);
        program.ok()?.sequences().ok()
    }

    /// Returns the program at an offset. Few of them are needed, and their tables are large.
    fn program(&self, offset: usize) -> Option<Rc<Program>> {
        let mut programs = self.programs.borrow_mut();
        programs.entry(offset).or_insert_with(|| self.parse(offset).map(Rc::new)).clone()
    }

    /// Returns file and line of an address. `None` if nothing is known.
    pub(crate) fn at(&self, address: u64) -> Option<Source> {
        let after = self.sequences.partition_point(|sequence| sequence.start <= address);
        let first = after.saturating_sub(MAX_SEQUENCES_OF_ADDRESS);
        let index = (first..after).rev().find(|index| address < self.sequences[*index].end)?;
        let mut all_rows = self.rows.borrow_mut();
        let rows = all_rows.entry(index).or_insert_with(|| self.rows_of(self.sequences[index]));
        let (_, file, line) = *rows.get(rows.partition_point(|row| row.0 <= address).checked_sub(1)?)?;
        Some((self.path(self.sequences[index].program, file), line))
    }

    fn rows_of(&self, sequence: Sequence) -> Vec<Row> {
        let mut found: Vec<Row> = Vec::new();
        let Some(program) = self.program(sequence.program) else { return found };
        let mut rows = program.0.resume_from(&program.1[sequence.index]);
        while let Ok(Some((_, row))) = rows.next_row() {
            if row.end_sequence() {
                break;
            }
            let row = (row.address(), row.file_index(), row.line().map_or(0, std::num::NonZeroU64::get));
            // Of several rows of one address, the last one counts.
            match found.last_mut().filter(|last| last.0 == row.0) {
                Some(last) => *last = row,
                None => found.push(row),
            }
        }
        found
    }

    /// Returns the path of a file: directory of the unit, directory of the file, and its name.
    fn path(&self, program: usize, file: u64) -> Option<Arc<str>> {
        let mut paths = self.paths.borrow_mut();
        paths.entry((program, file)).or_insert_with(|| self.joined_path(program, file)).clone()
    }

    fn joined_path(&self, program: usize, file: u64) -> Option<Arc<str>> {
        let program = self.program(program)?;
        let header = program.0.header();
        let file = header.file(file)?;
        let text = |value: gimli::AttributeValue<Slice>| match value {
            gimli::AttributeValue::String(text) => Some(text),
            gimli::AttributeValue::DebugLineStrRef(offset) => self.strings.get_str(offset).ok(),
            _ => None,
        };
        let unit = header.directory(0).and_then(text);
        let directory = file.directory(header).filter(|_| file.directory_index() != 0).and_then(text);
        let name = text(file.path_name())?;
        let mut path = String::new();
        for part in [unit, directory, Some(name)].into_iter().flatten() {
            let part = part.to_string_lossy();
            if part.starts_with('/') {
                path.clear();
            }
            if !path.is_empty() && !path.ends_with('/') {
                path.push('/');
            }
            path.push_str(&part);
        }
        Some(path.into())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use gristmill_code::{Binary, FileSystem, Locator};

    use super::*;

    #[test]
    fn sequences_begin_and_end_where_rows_do() {
        let mut compared = 0;
        for path in ["/proc/self/exe", "/lib/x86_64-linux-gnu/libc.so.6"] {
            let path = Path::new(path);
            let locator = Locator::new(FileSystem).debug_directory(Locator::SYSTEM_DEBUG_DIRECTORY);
            let Ok(binary) = Binary::open(path, &locator) else { continue };
            let bytes = std::fs::read(binary.debug_file().unwrap_or(path)).unwrap();
            let Some(lines) = Lines::read(bytes.leak()) else { continue };
            let mut offset = 0;
            while let Some(head) = lines.lines.slice().get(offset..offset + 4) {
                if let Some(found) = sequences::bounds(&lines.lines.slice()[offset..]) {
                    let parsed = lines.parse(offset).unwrap().1;
                    let expected: Vec<(u64, u64)> =
                        parsed.iter().map(|known| (known.start, known.end)).collect();
                    assert_eq!(found, expected, "{} {offset:#x}", path.display());
                    compared += found.len();
                }
                offset += u32::from_le_bytes(head.try_into().unwrap()) as usize + 4;
            }
        }
        assert!(compared == 0 || compared > 1000, "{compared}");
    }
}
