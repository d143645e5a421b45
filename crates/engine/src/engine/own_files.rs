//! Files of `/proc` that tell of the program: what is there tells of the engine.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString};
use std::os::unix::ffi::OsStrExt as _;

use linux_raw_sys::errno::EFAULT;
use linux_raw_sys::general as sys;

use super::Engine;
use super::limits::Limits;
use super::own_call::own_call;
use crate::address_space::STACK_END;
use crate::raw;

impl Engine {
    /// Copies the path of the program, as the kernel does for a link of `/proc`.
    pub(super) fn read_own_link(&self, buffer: u64, length: u64) -> i64 {
        let path = self.options.invocation.program.as_os_str().as_bytes();
        let count = path.len().min(length as usize);
        for (index, byte) in path[..count].iter().enumerate() {
            let address = buffer + index as u64;
            if self.space.protection(address).is_none_or(|protection| protection & sys::PROT_WRITE == 0) {
                return -i64::from(EFAULT);
            }
            // SAFETY: the byte is the program's, and mapped for writing.
            unsafe { raw::write_bytes(address, &[*byte]) };
        }
        count as i64
    }

    /// Returns the arguments of `execve` or `execveat` with the path of the program in place of a link of `/proc` to it: that leads to
    /// the program of the engine.
    pub(super) fn with_own_program(&self, number: u32, mut arguments: [u64; 6]) -> [u64; 6] {
        let path = &mut arguments[usize::from(number == sys::__NR_execveat)];
        if self.is_own_program(*path)
            && let Ok(program) = CString::new(self.options.invocation.program.as_os_str().as_bytes())
        {
            // The kernel reads it when this call has returned.
            *path = program.into_raw() as u64;
        }
        arguments
    }

    /// Opens a file of `/proc` that tells of the program. `None` if the path is another one.
    pub(super) fn open_own_file(&self, path: u64, flags: u64, mode: u64) -> Option<i64> {
        let text = raw::text(path)?;
        if self.is_own(&text, b"exe") {
            let mut path = self.options.invocation.program.as_os_str().as_bytes().to_vec();
            path.push(0);
            let here = i64::from(sys::AT_FDCWD) as u64;
            return Some(own_call(sys::__NR_openat, [here, path.as_ptr() as u64, flags, mode, 0, 0]));
        }
        if self.is_own(&text, b"cmdline") {
            // Each word has a zero behind it.
            let words = self.options.invocation.words.iter();
            let text: Vec<u8> = words.flat_map(|word| [word.as_bytes(), b"\0"].concat()).collect();
            return Some(open_text(c"cmdline", &text, flags));
        }
        if process_of(&text, b"maps") == Some(std::process::id()) {
            let listed = std::fs::read("/proc/self/maps").ok()?;
            // Under a filter of system calls or a limit, it is that of the process.
            return Some(open_text(c"maps", &self.own_mappings(&listed), flags)).filter(|file| *file >= 0);
        }
        None
    }

    /// Returns the lines of a list of mappings that the program would have alone: none of the engine, and its code can run.
    fn own_mappings(&self, listed: &[u8]) -> Vec<u8> {
        let mut text = Vec::new();
        for line in listed.split_inclusive(|&byte| byte == b'\n') {
            let Some(listed) = Listed::parse(line) else { continue };
            if listed.is_of_kernel() {
                text.extend_from_slice(line);
            }
            for (start, end, protection) in self.space.mappings_in(listed.start, listed.end) {
                let name = match listed.name {
                    b"" if end == STACK_END => &b"[stack]"[..],
                    b"" if (self.brk_start..=self.brk).contains(&start) => b"[heap]",
                    name => name,
                };
                listed.write(&mut text, [start, end], protection, name);
            }
        }
        text
    }

    /// `true` if a path is the link to the program that runs.
    pub(super) fn is_own_program(&self, path: u64) -> bool {
        raw::text(path).is_some_and(|text| self.is_own(&text, b"exe"))
    }

    /// `true` if a path is that of a file below `/proc` of this process, or of one that it was forked from.
    fn is_own(&self, path: &[u8], file: &[u8]) -> bool {
        process_of(path, file)
            .is_some_and(|process| process == std::process::id() || self.forked_from.contains(&process))
    }
}

/// Returns the process below whose folder of `/proc` a path leads to a file. `None` if the path is another one.
fn process_of(path: &[u8], file: &[u8]) -> Option<u32> {
    let process = path.strip_prefix(b"/proc/")?.strip_suffix(file)?.strip_suffix(b"/")?;
    let process = std::str::from_utf8(process).ok()?;
    let process = match process.split_once("/task/") {
        Some((process, thread)) => thread.parse::<u32>().is_ok().then_some(process)?,
        None => process,
    };
    match process {
        "self" | "thread-self" => Some(std::process::id()),
        process => process.parse().ok(),
    }
}

/// Opens a file in memory with a text.
fn open_text(name: &CStr, text: &[u8], flags: u64) -> i64 {
    let is_closed = flags & u64::from(sys::O_CLOEXEC) != 0;
    let memory_flags = if is_closed { u64::from(sys::MFD_CLOEXEC) } else { 0 };
    let file = own_call(sys::__NR_memfd_create, [name.as_ptr() as u64, memory_flags, 0, 0, 0, 0]);
    if raw::error_of(file).is_none() {
        let arguments = [file as u64, text.as_ptr() as u64, text.len() as u64, 0, 0, 0];
        // A limit of the size of files is one for this file, too.
        let before = Limits::lift_files();
        own_call(sys::__NR_pwrite64, arguments);
        Limits::restore_files(before);
    }
    file
}

/// A line of a list of mappings: `10a000-10b000 r--p 00001000 08:01 1234    /usr/bin/mill`. A name is that of any file.
struct Listed<'l> {
    start: u64,
    end: u64,
    is_shared: bool,
    offset: u64,
    /// The device and the number of the file.
    file: [&'l str; 2],
    name: &'l [u8],
}

impl<'l> Listed<'l> {
    fn parse(line: &'l [u8]) -> Option<Listed<'l>> {
        let mut words = line.trim_ascii_end().splitn(6, |&byte| byte == b' ');
        let mut word = || std::str::from_utf8(words.next()?).ok();
        let [range, access, offset, device, file] = [word()?, word()?, word()?, word()?, word()?];
        let (start, end) = range.split_once('-')?;
        let number = |text: &str| u64::from_str_radix(text, 16).ok();
        Some(Listed {
            start: number(start)?,
            end: number(end)?,
            is_shared: access.ends_with('s'),
            offset: number(offset)?,
            file: [device, file],
            name: words.next().unwrap_or_default().trim_ascii_start(),
        })
    }

    /// `true` if the kernel maps it in each process.
    fn is_of_kernel(&self) -> bool {
        self.name.starts_with(b"[v")
    }

    /// Writes a part of it.
    fn write(&self, text: &mut Vec<u8>, [start, end]: [u64; 2], protection: u32, name: &[u8]) {
        let access = |bit: u32, letter: char| if protection & bit == 0 { '-' } else { letter };
        let access = [access(sys::PROT_READ, 'r'), access(sys::PROT_WRITE, 'w'), access(sys::PROT_EXEC, 'x')];
        let access: String = access.into_iter().chain([if self.is_shared { 's' } else { 'p' }]).collect();
        // Memory without a file has no offset.
        let is_of_file = self.file[1] != "0";
        let offset = if is_of_file { self.offset + (start - self.start) } else { self.offset };
        let line = format!("{start:08x}-{end:08x} {access} {offset:08x} {}", self.file.join(" "));
        let line = if name.is_empty() { format!("{line} ") } else { format!("{line:<72} ") };
        text.extend_from_slice(line.as_bytes());
        text.extend_from_slice(name);
        text.push(b'\n');
    }
}
