//! The program and its libraries: which one an address belongs to.

use std::cell::{Cell, OnceCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gristmill_code::{Binary, FileBytes, FileSource, FileSystem, Locator};
use object::elf;
use object::read::ReadCache;
use object::read::elf::ProgramHeader as _;

use crate::lines::{Lines, Run, Source};
use crate::symbols::{Section, Symbol, Symbols};

/// The number of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ObjectId(u32);

/// The contents of a file: another file can get its path, and it can be written over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Version {
    device: u64,
    inode: u64,
    size: u64,
    /// Seconds and nanoseconds.
    modified: (i64, i64),
}

impl Version {
    fn of(path: &Path) -> Option<Version> {
        let metadata = std::fs::metadata(path).ok()?;
        Some(Version {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
        })
    }

    /// `true` if the file that had these contents has others now. Another file at its path does not matter.
    fn is_written_over(before: Option<Version>, path: &Path) -> bool {
        let inode = |version: Version| (version.device, version.inode);
        let now = Version::of(path);
        now != before && now.map(inode) == before.map(inode)
    }
}

/// A program or library.
#[derive(Debug)]
pub(crate) struct Object {
    pub(crate) path: PathBuf,
    version: Option<Version>,
    /// The number that is added to addresses of the file.
    pub(crate) bias: u64,
    pub(crate) symbols: Symbols,
    has_debug_information: bool,
    /// The file with it, if it can be mapped.
    debug: Option<&'static [u8]>,
    /// That file, if it is another one.
    debug_file: Option<(PathBuf, Option<Version>)>,
    lines: OnceCell<Option<Lines>>,
    /// For source lines that are not in `lines`. `None` if the file cannot be read.
    binary: Option<Binary>,
}

impl Object {
    fn open(path: &Path, version: Option<Version>, bias: u64) -> Object {
        let locator = Locator::new(Mapped).debug_directory(Locator::SYSTEM_DEBUG_DIRECTORY);
        let binary = Binary::open(path, &locator).ok();
        let debug_path = binary.as_ref().and_then(|binary| binary.debug_file());
        let bytes = contents(path);
        let debug = debug_path.and_then(|debug| if debug == path { bytes } else { contents(debug) });
        let other = debug.filter(|_| debug_path != Some(path));
        let symbols = bytes.map_or_else(Symbols::default, |bytes| Symbols::read(bytes, other));
        let debug_file = debug_path.filter(|debug| *debug != path);
        let debug_file = debug_file.map(|debug| (debug.to_owned(), Version::of(debug)));
        Object {
            path: path.to_owned(),
            version,
            bias,
            symbols,
            has_debug_information: debug_path.is_some(),
            debug,
            debug_file,
            lines: OnceCell::new(),
            binary,
        }
    }

    /// `true` if its lines were not read before its file was written over, or that with its debug information.
    fn has_lost_lines(&self) -> bool {
        let is_debug_lost = |(path, version): &(PathBuf, _)| Version::is_written_over(*version, path);
        self.has_debug_information
            && self.lines.get().is_none()
            && (Version::is_written_over(self.version, &self.path)
                || self.debug_file.as_ref().is_some_and(is_debug_lost))
    }

    /// Returns the file of a function that begins at an address of the file: outside of `.text`, Callgrind knows none.
    pub(crate) fn file_of_function(&self, start: u64) -> Option<Arc<str>> {
        (self.symbols.section(start) == Section::Text).then(|| self.run(start).source.0).flatten()
    }

    /// Returns file and line of an address of the file, and how far they go.
    pub(crate) fn run(&self, address: u64) -> Run {
        if !self.has_debug_information || self.has_lost_lines() {
            return Run { source: Source::default(), end: u64::MAX };
        }
        let found = match self.lines.get_or_init(|| Lines::read(self.debug?)) {
            Some(lines) => lines.at(address),
            None => self
                .binary
                .as_ref()
                .and_then(|binary| binary.line(address).ok()?)
                .map(|line| Run { source: (line.file, line.line.map_or(0, u64::from)), end: address + 1 }),
        };
        found.unwrap_or_else(|| Run { source: Source::default(), end: address + 1 })
    }
}

/// The files of this machine, none of which is read as a whole.
#[derive(Debug)]
struct Mapped;

impl FileSource for Mapped {
    fn open(&self, path: &Path) -> std::io::Result<Option<FileBytes>> {
        FileSystem.open_within(path, 0)
    }
}

/// Returns the contents of a file. They stay: an object is never unloaded.
fn contents(path: &Path) -> Option<&'static [u8]> {
    let bytes = Mapped.open(path).ok()??;
    Some(Box::leak(Box::new(bytes)))
}

/// A range of addresses in which code of an object is mapped.
#[derive(Debug, Clone, Copy)]
struct Range {
    end: u64,
    object: ObjectId,
}

/// All objects, also those that are no longer mapped.
#[derive(Debug, Default)]
pub(crate) struct Objects {
    objects: Vec<Object>,
    /// By path, bias and contents: the indexes of objects.
    known: HashMap<(PathBuf, u64, Option<Version>), usize>,
    ranges: BTreeMap<u64, Range>,
    /// The start of the range that was found last, and the range.
    recent: Cell<Option<(u64, Range)>>,
}

impl Objects {
    /// Notes that a part of a file is mapped as code.
    pub(crate) fn add(&mut self, path: &[u8], start: u64, length: u64, offset: u64) {
        let path = Path::new(OsStr::from_bytes(path));
        let Some(bias) = bias(path, start, length, offset) else { return };
        let version = Version::of(path);
        let index = *self.known.entry((path.to_owned(), bias, version)).or_insert_with(|| {
            self.objects.push(Object::open(path, version, bias));
            self.objects.len() - 1
        });
        self.remove(start, length);
        self.ranges.insert(start, Range { end: start + length, object: ObjectId(index as u32) });
    }

    /// `true` if a part of a range is mapped as code of a file.
    pub(crate) fn is_at(&self, start: u64, length: u64) -> bool {
        self.ranges.range(..start + length).next_back().is_some_and(|(_, range)| range.end > start)
    }

    /// Notes that code is no longer mapped.
    pub(crate) fn remove(&mut self, start: u64, length: u64) {
        let end = start + length;
        self.recent.set(None);
        // A library whose first part is code is mapped as that as a whole, and its other parts on top.
        let last = self.ranges.range(..end).next_back().map(|(_, range)| *range);
        let behind = last.filter(|range| range.end > end);
        if let Some((_, range)) = self.ranges.range_mut(..start).next_back() {
            range.end = range.end.min(start);
        }
        self.ranges.retain(|mapped, _| !(start..end).contains(mapped));
        if let Some(behind) = behind {
            self.ranges.insert(end, behind);
        }
    }

    /// Returns the paths of objects whose lines are not known as their files were written over.
    pub(crate) fn lost(&self) -> BTreeSet<&Path> {
        let lost = self.objects.iter().filter(|object| object.has_lost_lines());
        lost.map(|object| object.path.as_path()).collect()
    }

    pub(crate) fn get(&self, id: ObjectId) -> &Object {
        &self.objects[id.0 as usize]
    }

    /// Returns the object of an address, and the section. `None` for code that Callgrind takes for none of an object.
    pub(crate) fn at(&self, address: u64) -> Option<(ObjectId, Section)> {
        self.mapped_at(address).filter(|(_, section)| *section != Section::Other)
    }

    fn mapped_at(&self, address: u64) -> Option<(ObjectId, Section)> {
        let holds = |(start, range): &(u64, Range)| (*start..range.end).contains(&address);
        let (start, range) = match self.recent.get().filter(holds) {
            Some(recent) => recent,
            None => {
                let found = self.ranges.range(..=address).next_back();
                found.map(|(start, range)| (*start, *range)).filter(holds)?
            }
        };
        self.recent.set(Some((start, range)));
        let object = self.get(range.object);
        Some((range.object, object.symbols.section(address.wrapping_sub(object.bias))))
    }

    /// Returns the function of an address, with the object.
    pub(crate) fn symbol(&self, address: u64) -> Option<(ObjectId, &Symbol)> {
        let (id, section) = self.mapped_at(address)?;
        let object = self.get(id);
        let symbol = (section != Section::Stubs).then(|| object.symbols.at(address - object.bias)).flatten();
        symbol.map(|symbol| (id, symbol))
    }

    /// `true` if an address is the first of a function.
    pub(crate) fn is_entry(&self, address: u64) -> bool {
        self.symbol(address).is_some_and(|(id, symbol)| symbol.start + self.get(id).bias == address)
    }
}

/// Returns what is added to addresses of a file that is mapped somewhere.
fn bias(path: &Path, start: u64, length: u64, offset: u64) -> Option<u64> {
    let file = std::fs::File::open(path).ok()?;
    let data = ReadCache::new(&file);
    let (_, endian, headers) = crate::elf::headers(&data)?;
    let is_wanted = |header: &&elf::ProgramHeader64<object::Endianness>| {
        header.p_type(endian) == elf::PT_LOAD
            && header.p_flags(endian) & elf::PF_X != elf::ProgramFlags(0)
            && (header.p_offset(endian) & !0xfff..header.p_offset(endian) + header.p_filesz(endian))
                .contains(&offset)
    };
    let address = |header: &elf::ProgramHeader64<object::Endianness>| {
        header.p_vaddr(endian).wrapping_sub(header.p_offset(endian)).wrapping_add(offset)
    };
    // Two segments can have parts of one page of the file. Most programs that have such ones are mapped at their addresses.
    let is_mapped_alike = |header: &elf::ProgramHeader64<object::Endianness>| {
        let end = header.p_offset(endian) + header.p_filesz(endian);
        (address(header) == start, end.next_multiple_of(0x1000) - offset == length)
    };
    let segment = headers
        .iter()
        .filter(is_wanted)
        .reduce(|best, other| if is_mapped_alike(other) > is_mapped_alike(best) { other } else { best })?;
    Some(start.wrapping_sub(address(segment)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_mapped_on_top_of_code_takes_only_its_part() {
        let mut objects = Objects::default();
        let range = Range { end: 0x9000, object: ObjectId(0) };
        objects.ranges.insert(0x1000, range);
        objects.remove(0x4000, 0x1000);
        objects.remove(0x8000, 0x4000);
        let found: Vec<(u64, u64)> =
            objects.ranges.iter().map(|(start, range)| (*start, range.end)).collect();
        assert_eq!(found, [(0x1000, 0x4000), (0x5000, 0x8000)]);
        objects.remove(0x1000, 0x7000);
        assert!(objects.ranges.is_empty());
    }

    #[test]
    fn line_programs_say_what_units_say() {
        let mut compared = 0;
        for path in ["/proc/self/exe", "/lib/x86_64-linux-gnu/libc.so.6", "/lib64/ld-linux-x86-64.so.2"] {
            let Ok(path) = std::fs::canonicalize(path) else { continue };
            let object = Object::open(&path, Version::of(&path), 0);
            let Some(lines) = object.debug.and_then(Lines::read) else { continue };
            let binary = object.binary.as_ref().unwrap();
            for (start, end) in object.symbols.ranges() {
                for address in (start..end).step_by(29).take(40) {
                    let expected = binary.line(address).unwrap();
                    let expected = expected.map(|line| (line.file, line.line.map_or(0, u64::from)));
                    let found = lines.at(address).map(|run| run.source);
                    assert_eq!(found, expected, "{} {address:x}", path.display());
                    compared += 1;
                }
            }
        }
        assert!(compared == 0 || compared > 1000, "{compared}");
    }
}
