//! Source lines of an object, from the line programs of version 5 alone.
//!
//! Such a program names its directories and files itself. So the entries of units, which are most of the debug information, need not be
//! expanded. [`Binary::line`](gristmill_code::Binary::line) does the same with them, and reads what this cannot.

use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use gimli::{
    CompleteLineProgram, DebugLine, DebugLineOffset, DebugLineStr, EndianSlice, LineSequence, LittleEndian,
};
use gristmill_profile::hash::Map;
use memchr::memmem;
use object::{CompressionFormat, Object as _, ObjectSection as _};

type Slice = EndianSlice<'static, LittleEndian>;

/// The version whose programs need nothing else.
const VERSION: u16 = 5;

/// The instruction that a sequence of rows begins with: it sets an address of 8 bytes, which follow.
const SET_ADDRESS: [u8; 3] = [0, 9, 2];

/// The first of the addresses that linkers write for code that they have removed. It can also be 0.
const FIRST_TOMBSTONE: u64 = u64::MAX - 1;

/// Starts that are searched for an address. Real sequences do not overlap, except those that a linker has joined.
const MAX_STARTS_OF_ADDRESS: usize = 8;

/// The file of an address, and its line; 0 if it is not known.
pub(crate) type Source = (Option<Arc<str>>, u64);

/// A source position, and the address up to which it is that of the code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) source: Source,
    pub(crate) end: u64,
}

/// Paths by program and number of the file.
type Paths = Map<(usize, u64), Option<Arc<str>>>;

/// An address that a program sets, or bytes that look like that.
#[derive(Debug, Clone, Copy)]
struct Start {
    address: u64,
    /// The offset of the program.
    program: usize,
}

/// A line program with its sequences, by their starts.
#[derive(Debug)]
struct Program {
    rows: CompleteLineProgram<Slice>,
    sequences: Vec<LineSequence<Slice>>,
}

impl Program {
    /// Returns the index of the sequence of an address.
    fn sequence(&self, address: u64) -> Option<usize> {
        let after = self.sequences.partition_point(|sequence| sequence.start <= address);
        let first = after.saturating_sub(MAX_STARTS_OF_ADDRESS);
        (first..after).rev().find(|index| address < self.sequences[*index].end)
    }
}

/// A row of a sequence. They are many, and kept.
#[derive(Debug, Clone, Copy)]
struct Row {
    /// Behind the start of the sequence.
    offset: u32,
    file: u32,
    /// 0 if it is not known.
    line: u32,
}

/// The rows of sequences, by program and index.
type Rows = Map<(usize, usize), Box<[Row]>>;

/// The line programs of an object.
#[derive(Debug)]
pub(crate) struct Lines {
    lines: Slice,
    strings: DebugLineStr<Slice>,
    /// By address.
    starts: Vec<Start>,
    /// Programs, rows of their sequences, and paths that were asked for.
    programs: RefCell<Map<usize, Option<Rc<Program>>>>,
    rows: RefCell<Rows>,
    paths: RefCell<Paths>,
    /// The memory in which rows are collected.
    scratch: RefCell<Vec<Row>>,
}

impl Lines {
    /// Indexes the line programs of a file. `None` if there are none, or not all can be read by themselves.
    pub(crate) fn read(bytes: &'static [u8]) -> Option<Lines> {
        let file = object::File::parse(bytes).ok()?;
        let section = |name: &str| -> Option<Slice> {
            let data = file.section_by_name(name)?.compressed_data().ok()?;
            // An object is never unloaded.
            let data: &'static [u8] = match data.format {
                CompressionFormat::None => data.data,
                CompressionFormat::Zlib => {
                    let length = usize::try_from(data.uncompressed_size).ok()?;
                    let expanded = fdeflate::decompress_to_vec_bounded(data.data, length).ok()?;
                    expanded.leak()
                }
                _ => data.decompress().ok()?.into_owned().leak(),
            };
            Some(EndianSlice::new(data, LittleEndian))
        };
        let (lines, strings) = (section(".debug_line")?, section(".debug_line_str")?);
        let mut found = Lines {
            lines,
            strings: DebugLineStr::from(strings),
            starts: Vec::new(),
            programs: RefCell::default(),
            rows: RefCell::default(),
            paths: RefCell::default(),
            scratch: RefCell::default(),
        };
        let set_address = memmem::Finder::new(&SET_ADDRESS);
        let mut offset = 0;
        while offset < lines.len() {
            offset += found.add(offset, &set_address)?;
        }
        found.starts.sort_by_key(|start| start.address);
        Some(found)
    }

    /// Adds the starts in the program at an offset, and returns its length. Only a program that is asked for is read.
    fn add(&mut self, offset: usize, set_address: &memmem::Finder<'_>) -> Option<usize> {
        let (head, rest) = self.lines.slice().get(offset..)?.split_first_chunk::<12>()?;
        let number = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let (length, header_length) = (number(0), number(8) as usize);
        // Longer ones have another format.
        let is_known = length < 0xffff_fff0 && u16::from_le_bytes([head[4], head[5]]) == VERSION;
        let (address_bytes, segment_bytes) = (head[6], head[7]);
        if !is_known || (address_bytes, segment_bytes) != (8, 0) {
            return None;
        }
        let body = rest.get(..(length as usize).checked_sub(8)?)?.get(header_length..)?;
        for at in set_address.find_iter(body) {
            let Some((address, _)) = body[at + SET_ADDRESS.len()..].split_first_chunk() else { break };
            let address = u64::from_le_bytes(*address);
            if (1..FIRST_TOMBSTONE).contains(&address) {
                self.starts.push(Start { address, program: offset });
            }
        }
        Some(length as usize + 4)
    }

    fn parse(&self, offset: usize) -> Option<Program> {
        let program = DebugLine::from(self.lines).program(DebugLineOffset(offset), 8, None, None);
        let (rows, mut sequences) = program.ok()?.sequences().ok()?;
        let offsets = 1..=u64::from(u32::MAX);
        sequences.retain(|sequence| {
            sequence.start != 0 && offsets.contains(&sequence.end.saturating_sub(sequence.start))
        });
        sequences.sort_by_key(|sequence| (sequence.start, sequence.end));
        Some(Program { rows, sequences })
    }

    /// Returns the program at an offset. Few of them are needed, and their tables are large.
    fn program(&self, offset: usize) -> Option<Rc<Program>> {
        let mut programs = self.programs.borrow_mut();
        programs.entry(offset).or_insert_with(|| self.parse(offset).map(Rc::new)).clone()
    }

    /// Returns the program of an address, the index of the sequence in it, and the addresses of that.
    fn sequence(&self, address: u64) -> Option<(usize, usize, Range<u64>)> {
        let after = self.starts.partition_point(|start| start.address <= address);
        let first = after.saturating_sub(MAX_STARTS_OF_ADDRESS);
        self.starts[first..after].iter().rev().find_map(|start| {
            let program = self.program(start.program)?;
            let index = program.sequence(address)?;
            let sequence = &program.sequences[index];
            Some((start.program, index, sequence.start..sequence.end))
        })
    }

    /// Returns file and line of an address, and how far they go. `None` if nothing is known.
    pub(crate) fn at(&self, address: u64) -> Option<Run> {
        let (program, index, sequence) = self.sequence(address)?;
        let mut all_rows = self.rows.borrow_mut();
        let rows = all_rows.entry((program, index)).or_insert_with(|| self.rows_of(program, index));
        let after = rows.partition_point(|row| sequence.start + u64::from(row.offset) <= address);
        let Row { file, line, .. } = *rows.get(after.checked_sub(1)?)?;
        let end = rows.get(after).map_or(sequence.end, |next| sequence.start + u64::from(next.offset));
        Some(Run { source: (self.path(program, u64::from(file)), u64::from(line)), end })
    }

    /// Returns the rows of a sequence. A number of a file or line that is too large is none that is known.
    fn rows_of(&self, program: usize, index: usize) -> Box<[Row]> {
        let Some(program) = self.program(program) else { return Box::default() };
        let mut found = self.scratch.borrow_mut();
        found.clear();
        let sequence = &program.sequences[index];
        let mut rows = program.rows.resume_from(sequence);
        while let Ok(Some((_, row))) = rows.next_row() {
            if row.end_sequence() {
                break;
            }
            let Ok(offset) = u32::try_from(row.address().wrapping_sub(sequence.start)) else { continue };
            let file = u32::try_from(row.file_index()).unwrap_or(u32::MAX);
            let line = row.line().and_then(|line| u32::try_from(line.get()).ok()).unwrap_or(0);
            let row = Row { offset, file, line };
            // Of several rows of one address, the last one counts.
            match found.last_mut().filter(|last| last.offset == row.offset) {
                Some(last) => *last = row,
                None => found.push(row),
            }
        }
        found.as_slice().into()
    }

    /// Returns the path of a file: directory of the unit, directory of the file, and its name.
    fn path(&self, program: usize, file: u64) -> Option<Arc<str>> {
        let mut paths = self.paths.borrow_mut();
        paths.entry((program, file)).or_insert_with(|| self.joined_path(program, file)).clone()
    }

    fn joined_path(&self, program: usize, file: u64) -> Option<Arc<str>> {
        let program = self.program(program)?;
        let header = program.rows.header();
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
    fn each_sequence_is_found_by_its_start() {
        let mut compared = 0;
        for path in ["/proc/self/exe", "/lib/x86_64-linux-gnu/libc.so.6", "/lib64/ld-linux-x86-64.so.2"] {
            let path = Path::new(path);
            let locator = Locator::new(FileSystem).debug_directory(Locator::SYSTEM_DEBUG_DIRECTORY);
            let Ok(binary) = Binary::open(path, &locator) else { continue };
            let bytes = std::fs::read(binary.debug_file().unwrap_or(path)).unwrap();
            let Some(lines) = Lines::read(bytes.leak()) else { continue };
            let mut offset = 0;
            while let Some(head) = lines.lines.slice().get(offset..offset + 4) {
                for known in &lines.parse(offset).unwrap().sequences {
                    for address in [known.start, known.start.midpoint(known.end), known.end - 1] {
                        let (program, index, _) = lines.sequence(address).unwrap();
                        let found = &lines.program(program).unwrap().sequences[index];
                        assert_eq!((found.start, found.end), (known.start, known.end), "{}", path.display());
                        compared += 1;
                    }
                }
                offset += u32::from_le_bytes(head.try_into().unwrap()) as usize + 4;
            }
        }
        assert!(compared == 0 || compared > 3000, "{compared}");
    }
}
