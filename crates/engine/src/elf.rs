//! The headers of a program: what to load where.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use object::elf;
use object::read::ReadCache;
use object::read::elf::{FileHeader as _, ProgramHeader as _};

use crate::refusal::Refusal;

/// A part of a file that is mapped.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Segment {
    pub(crate) address: u64,
    pub(crate) memory_bytes: u64,
    pub(crate) offset: u64,
    pub(crate) file_bytes: u64,
    /// `PF_R`, `PF_W`, `PF_X`
    pub(crate) flags: u32,
}

/// A program or a dynamic linker.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) segments: Vec<Segment>,
    pub(crate) entry: u64,
    pub(crate) is_movable: bool,
    pub(crate) interpreter: Option<Vec<u8>>,
    /// The address of the program headers, before it is moved.
    pub(crate) headers_address: Option<u64>,
    pub(crate) header_count: u64,
    /// `true` if it may run code on its stack.
    pub(crate) runs_stack: bool,
}

/// The header of a file ends here.
const HEADER_END: u64 = 64;

/// A program header has this many bytes.
pub(crate) const HEADER_BYTES: u64 = 56;

type Header = elf::FileHeader64<object::Endianness>;
pub(crate) type Segments<'d> = &'d [elf::ProgramHeader64<object::Endianness>];

/// Reads the header of a file and its program headers, which can be anywhere: tools that change programs move them. `None` if they are damaged,
/// or more than the system loads, which could take any memory.
pub(crate) fn headers<'d>(
    data: &'d ReadCache<&File>,
) -> Option<(&'d Header, object::Endianness, Segments<'d>)> {
    let header = Header::parse(data).ok()?;
    let endian = header.endian().ok()?;
    let is_bounded = header.e_phnum(endian) < elf::PN_XNUM;
    let headers = is_bounded.then(|| header.program_headers(endian, data).ok())??;
    Some((header, endian, headers))
}

impl Program {
    /// Reads the headers of a file.
    pub(crate) fn read(file: &File, name: &str) -> Result<Program, Refusal> {
        let unreadable = |error: io::Error| Refusal::new(format!("{name} cannot be read: {error}"));
        let length = file.metadata().map_err(unreadable)?.len().min(HEADER_END);
        let mut start = vec![0; length as usize];
        file.read_exact_at(&mut start, 0).map_err(unreadable)?;
        let refuse = |reason: &str| Refusal::new(format!("{name} {reason}"));
        if start.starts_with(b"#!") {
            return Err(refuse("is a script: name its interpreter as the program"));
        }
        if !start.starts_with(&elf::ELFMAG) {
            return Err(refuse("is not an ELF program"));
        }
        if start.get(4) != Some(&elf::ELFCLASS64.0) {
            return Err(refuse("is a program of 32 bits, and the native engine runs those of 64 bits"));
        }
        let data = ReadCache::new(file);
        let (header, endian, headers) = headers(&data).ok_or_else(|| refuse("has damaged headers"))?;
        if header.e_machine.get(endian) != elf::EM_X86_64 {
            return Err(refuse("is a program for another processor"));
        }
        let is_movable = match header.e_type.get(endian) {
            elf::ET_EXEC => false,
            elf::ET_DYN => true,
            _ => return Err(refuse("is not a program")),
        };
        let mut program = Program {
            segments: Vec::new(),
            entry: header.e_entry.get(endian),
            is_movable,
            interpreter: None,
            headers_address: None,
            header_count: headers.len() as u64,
            runs_stack: false,
        };
        let headers_offset = header.e_phoff.get(endian);
        for header in headers {
            match header.p_type(endian) {
                elf::PT_LOAD => program.segments.push(Segment {
                    address: header.p_vaddr(endian),
                    memory_bytes: header.p_memsz(endian),
                    offset: header.p_offset(endian),
                    file_bytes: header.p_filesz(endian),
                    flags: header.p_flags(endian).0,
                }),
                elf::PT_INTERP => {
                    let length = header.p_filesz(endian).min(4096);
                    let mut name = vec![0; length as usize];
                    file.read_exact_at(&mut name, header.p_offset(endian)).map_err(unreadable)?;
                    name.retain(|byte| *byte != 0);
                    program.interpreter = Some(name);
                }
                elf::PT_GNU_STACK => program.runs_stack = header.p_flags(endian).contains(elf::PF_X),
                _ => {}
            }
        }
        if program.segments.is_empty() {
            return Err(refuse("has nothing to load"));
        }
        let holds = |segment: &&Segment| {
            (segment.offset..segment.offset.saturating_add(segment.file_bytes)).contains(&headers_offset)
        };
        let first = program.segments.iter().find(holds);
        program.headers_address = first.map(|first| first.address + (headers_offset - first.offset));
        Ok(program)
    }

    /// Returns the lowest address, and the end of the highest.
    pub(crate) fn range(&self) -> (u64, u64) {
        let start = self.segments.iter().map(|segment| segment.address).min();
        let end = self.segments.iter().map(|segment| segment.address + segment.memory_bytes).max();
        (start.unwrap_or(0), end.unwrap_or(0))
    }
}
