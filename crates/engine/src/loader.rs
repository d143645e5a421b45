//! Loads a program as the kernel does: segments, dynamic linker, and the stack with arguments, environment and auxiliary values.
#![allow(unsafe_code)]

use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::AsRawFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use linux_raw_sys::auxvec;
use linux_raw_sys::general as sys;
use object::elf;

use crate::address_space::{
    ANONYMOUS, AddressSpace, BREAK_BYTES, LINKER_START, PAGE_BYTES, PROGRAM_START, STACK_BYTES, STACK_END,
    is_of_program, page_end, page_start, protection_of_host,
};
use crate::elf::{HEADER_BYTES, Program, Segment};
use crate::objects::Objects;
use crate::raw;
use crate::refusal::Refusal;

/// The least address of a program: that of the kernel for users other than root.
const MIN_PROGRAM_START: u64 = 0x1_0000;

/// The end of the addresses of a program. Others are for its libraries and for code that it makes.
const MAX_PROGRAM_END: u64 = 0x3000_0000;

/// A program that is loaded.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// The first instruction.
    pub(crate) start: u64,
    pub(crate) sp: u64,
    /// The start of the memory that `brk` gives.
    pub(crate) brk: u64,
}

/// A program with its words and its environment.
#[derive(Debug)]
pub(crate) struct Command<'a> {
    pub(crate) path: &'a Path,
    /// The path as it was given, for `AT_EXECFN`.
    pub(crate) given: &'a OsStr,
    pub(crate) arguments: &'a [std::ffi::OsString],
    pub(crate) environment: &'a [std::ffi::OsString],
}

/// A program that can be loaded, with its dynamic linker.
#[derive(Debug)]
pub(crate) struct Checked {
    program: Program,
    linker: Option<(Program, File)>,
    file: File,
}

/// Opens a program and its dynamic linker, and checks that both can run.
pub(crate) fn check(path: &Path) -> Result<Checked, Refusal> {
    let open = |path: &Path| {
        // A pipe would be waited for.
        if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
            return Err(Refusal::new(format!("{} is not a regular file", path.display())));
        }
        let file = File::open(path);
        file.map_err(|error| Refusal::new(format!("{} cannot be opened: {error}", path.display())))
    };
    let file = open(path)?;
    let program = Program::read(&file, &path.display().to_string())?;
    let linker = match &program.interpreter {
        Some(name) => {
            let path = Path::new(OsStr::from_bytes(name));
            let file = open(path)?;
            Some((Program::read(&file, &path.display().to_string())?, file))
        }
        None => None,
    };
    let (start, end) = program.range();
    if !program.is_movable && (start < MIN_PROGRAM_START || end > MAX_PROGRAM_END) {
        return Err(Refusal::new(format!(
            "{} is linked for the addresses {start:#x} to {end:#x}; the native engine needs them between {MIN_PROGRAM_START:#x} and \
             {MAX_PROGRAM_END:#x}",
            path.display()
        )));
    }
    if program.is_movable && end - start > MAX_PROGRAM_END - PROGRAM_START {
        return Err(Refusal::new(format!("{} is too large for the native engine", path.display())));
    }
    Ok(Checked { program, linker, file })
}

/// Loads a program.
pub(crate) fn load(
    command: &Command<'_>,
    space: &mut AddressSpace,
    objects: &mut Objects,
) -> Result<Loaded, Refusal> {
    let Checked { program, linker, file } = check(command.path)?;
    let bias = if program.is_movable { PROGRAM_START - page_start(program.range().0) } else { 0 };
    map(&program, &file, bias, space, objects)?;
    let mut start = program.entry + bias;
    let mut linker_bias = 0;
    // Behind a large program, as under Valgrind.
    let linker_start = page_end(program.range().1 + bias).max(LINKER_START);
    let mut brk = linker_start;
    if let Some((linker, file)) = &linker {
        linker_bias = linker_start - page_start(linker.range().0);
        map(linker, file, linker_bias, space, objects)?;
        start = linker.entry + linker_bias;
        brk = page_end(linker.range().1 + linker_bias);
    }
    space.search_from(brk + BREAK_BYTES);
    let access = sys::PROT_READ | sys::PROT_WRITE;
    let code = if program.runs_stack { sys::PROT_EXEC } else { 0 };
    let flags = sys::MAP_PRIVATE | sys::MAP_ANONYMOUS | sys::MAP_NORESERVE;
    let stack_bytes = stack_limit().clamp(*STACK_BYTES.start(), *STACK_BYTES.end()) & !(PAGE_BYTES - 1);
    map_or_refuse(STACK_END - stack_bytes, stack_bytes, access, flags, -1, 0)?;
    space.add(STACK_END - stack_bytes, stack_bytes, access | code | ANONYMOUS);
    // Alone, it grows as it is needed.
    space.leave_uncounted(stack_bytes);
    let values = Values { program: &program, bias, linker_bias, has_linker: linker.is_some() };
    let sp = stack(command, &values);
    Ok(Loaded { start, sp, brk })
}

/// Maps the segments of a file.
fn map(
    program: &Program,
    file: &File,
    bias: u64,
    space: &mut AddressSpace,
    objects: &mut Objects,
) -> Result<(), Refusal> {
    // The path without links, as it stands in the list of mappings.
    let path = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).unwrap_or_default();
    for segment in &program.segments {
        map_segment(segment, file, bias, space)?;
        if segment.flags & object::elf::PF_X.0 != 0 && segment.file_bytes > 0 {
            let start = page_start(segment.address + bias);
            let length = page_end(segment.address + bias + segment.file_bytes) - start;
            objects.add(path.as_os_str().as_bytes(), start, length, page_start(segment.offset));
        }
    }
    Ok(())
}

fn map_segment(segment: &Segment, file: &File, bias: u64, space: &mut AddressSpace) -> Result<(), Refusal> {
    let mut protection = 0;
    for (flag, bit) in
        [(elf::PF_R, sys::PROT_READ), (elf::PF_W, sys::PROT_WRITE), (elf::PF_X, sys::PROT_EXEC)]
    {
        protection |= if segment.flags & flag.0 == 0 { 0 } else { bit };
    }
    let host_protection = protection_of_host(protection);
    let start = page_start(segment.address + bias);
    let file_end = segment.address + bias + segment.file_bytes;
    let end = page_end(segment.address + bias + segment.memory_bytes);
    if segment.file_bytes > 0 {
        let offset = page_start(segment.offset);
        let length = page_end(file_end) - start;
        map_or_refuse(start, length, host_protection, sys::MAP_PRIVATE, file.as_raw_fd(), offset)?;
    }
    let mapped_end = if segment.file_bytes > 0 { page_end(file_end) } else { start };
    if segment.memory_bytes > segment.file_bytes
        && segment.file_bytes > 0
        && protection & sys::PROT_WRITE != 0
    {
        let zeros = vec![0u8; (mapped_end - file_end) as usize];
        // SAFETY: the page was mapped for writing above.
        unsafe { raw::write_bytes(file_end, &zeros) };
    }
    if end > mapped_end {
        let flags = sys::MAP_PRIVATE | sys::MAP_ANONYMOUS;
        map_or_refuse(mapped_end, end - mapped_end, host_protection, flags, -1, 0)?;
    }
    space.add(start, end - start, protection);
    Ok(())
}

fn map_or_refuse(
    address: u64,
    length: u64,
    protection: u32,
    flags: u32,
    file: i32,
    offset: u64,
) -> Result<(), Refusal> {
    if !is_of_program(address, address.saturating_add(length)) {
        return Err(Refusal::new(format!("the program needs memory of the engine at {address:#x}")));
    }
    // SAFETY: the range is not the engine's, and the process has nothing else below 2 GB or on this stack.
    let result = unsafe { raw::map_fixed(address, length, protection, flags, file, offset) };
    match raw::error_of(result) {
        Some(error) => Err(Refusal::new(format!("memory at {address:#x} cannot be mapped (error {error})"))),
        None => Ok(()),
    }
}

/// Returns how much stack the process may have.
fn stack_limit() -> u64 {
    let mut limits = [0u64; 2];
    let arguments = [0, u64::from(sys::RLIMIT_STACK), 0, limits.as_mut_ptr() as u64, 0, 0];
    // SAFETY: the kernel writes two numbers.
    unsafe { raw::system_call(u64::from(sys::__NR_prlimit64), arguments) };
    limits[0]
}

/// The sources of the auxiliary values.
struct Values<'a> {
    program: &'a Program,
    bias: u64,
    linker_bias: u64,
    has_linker: bool,
}

/// An auxiliary value that the program is not to see, in the place of one.
const IGNORED: u64 = 1;

impl Values<'_> {
    /// Returns the values in the order of the kernel, without those that tell of the vdso and of newer processors.
    fn list(&self, random: u64, file_name: u64, platform: u64) -> Vec<(u64, u64)> {
        let own = |key: u32| {
            let own = std::fs::read("/proc/self/auxv").unwrap_or_default();
            let mut pairs = own.chunks_exact(16).map(|pair| pair.split_at(8));
            let number = |bytes: &[u8]| bytes.try_into().map(u64::from_ne_bytes).unwrap_or(0);
            pairs.find(|pair| number(pair.0) == u64::from(key)).map_or(0, |pair| number(pair.1))
        };
        let headers = self.program.headers_address.map_or(0, |address| address + self.bias);
        let mut list = vec![(IGNORED, 0), (IGNORED, 0)];
        let pairs = [
            (auxvec::AT_HWCAP, own(auxvec::AT_HWCAP)),
            (auxvec::AT_PAGESZ, PAGE_BYTES),
            (auxvec::AT_CLKTCK, 100),
            (auxvec::AT_PHDR, headers),
            (auxvec::AT_PHENT, HEADER_BYTES),
            (auxvec::AT_PHNUM, self.program.header_count),
            (auxvec::AT_BASE, if self.has_linker { self.linker_bias } else { 0 }),
            (auxvec::AT_FLAGS, 0),
            (auxvec::AT_ENTRY, self.program.entry + self.bias),
            (auxvec::AT_UID, own(auxvec::AT_UID)),
            (auxvec::AT_EUID, own(auxvec::AT_EUID)),
            (auxvec::AT_GID, own(auxvec::AT_GID)),
            (auxvec::AT_EGID, own(auxvec::AT_EGID)),
            (auxvec::AT_SECURE, 0),
            (auxvec::AT_RANDOM, random),
        ];
        list.extend(pairs.map(|(key, value)| (u64::from(key), value)));
        list.push((IGNORED, 2));
        list.push((u64::from(auxvec::AT_EXECFN), file_name));
        list.push((u64::from(auxvec::AT_PLATFORM), platform));
        list.extend([(IGNORED, 0x1c), (IGNORED, 0x20), (0, 0)]);
        list
    }
}

/// The value of `AT_PLATFORM`.
const PLATFORM: &[u8] = b"x86_64\0";

/// Writes the stack, and returns the stack pointer.
fn stack(command: &Command<'_>, values: &Values<'_>) -> u64 {
    let random = *b"gristmill-engine";
    let texts = command.arguments.iter().chain(command.environment);
    let texts: Vec<&[u8]> = texts.map(|text| text.as_bytes()).collect();
    let given = command.given.as_bytes();
    let text_bytes: usize = texts.iter().map(|text| text.len() + 1).sum();
    // Texts have the addresses that they have under Valgrind, found by printing them there.
    let all_bytes = (text_bytes + random.len() + given.len() + 1 + PLATFORM.len()) as u64;
    let texts_start = STACK_END - 1 - all_bytes.next_multiple_of(4);
    let random_address = texts_start + text_bytes as u64;
    let file_name = random_address + random.len() as u64;
    let platform = file_name + given.len() as u64 + 1;

    let mut words = vec![command.arguments.len() as u64];
    let mut at = texts_start;
    for (index, text) in texts.iter().enumerate() {
        if index == command.arguments.len() {
            words.push(0);
        }
        words.push(at);
        // SAFETY: the stack is mapped, and the texts fit, as the kernel has checked when it started this process.
        unsafe {
            raw::write_bytes(at, text);
            raw::write_bytes(at + text.len() as u64, &[0]);
        }
        at += text.len() as u64 + 1;
    }
    if command.environment.is_empty() {
        words.push(0);
    }
    words.push(0);
    for (key, value) in values.list(random_address, file_name, platform) {
        words.extend([key, value]);
    }
    // SAFETY: as above.
    unsafe {
        raw::write_bytes(random_address, &random);
        raw::write_bytes(file_name, given);
        raw::write_bytes(file_name + given.len() as u64, &[0]);
        raw::write_bytes(platform, PLATFORM);
    }
    let sp = (texts_start - 4 - 8 * words.len() as u64) & !15;
    for (index, word) in words.iter().enumerate() {
        // SAFETY: as above.
        unsafe { raw::write64(sp + 8 * index as u64, *word) };
    }
    sp
}
