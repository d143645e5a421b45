//! Files of `/proc` that tell of the program: what is there tells of the engine.
#![allow(unsafe_code)]

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt as _;

use linux_raw_sys::errno::EFAULT;
use linux_raw_sys::general as sys;

use super::Engine;
use super::own_call::own_call;
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
        self.is_own(&text, b"cmdline").then(|| self.open_command_line(flags))
    }

    /// Opens a file with the words of the program, each with a zero behind it.
    fn open_command_line(&self, flags: u64) -> i64 {
        let words = self.options.invocation.words.iter();
        let text: Vec<u8> = words.flat_map(|word| [word.as_bytes(), b"\0"].concat()).collect();
        let is_closed = flags & u64::from(sys::O_CLOEXEC) != 0;
        let memory_flags = if is_closed { u64::from(sys::MFD_CLOEXEC) } else { 0 };
        let file = own_call(sys::__NR_memfd_create, [c"cmdline".as_ptr() as u64, memory_flags, 0, 0, 0, 0]);
        if raw::error_of(file).is_none() {
            let arguments = [file as u64, text.as_ptr() as u64, text.len() as u64, 0, 0, 0];
            own_call(sys::__NR_pwrite64, arguments);
        }
        file
    }

    /// `true` if a path is the link to the program that runs.
    pub(super) fn is_own_program(&self, path: u64) -> bool {
        raw::text(path).is_some_and(|text| self.is_own(&text, b"exe"))
    }

    /// `true` if a path is that of a file below `/proc` of this process, or of one that it was forked from.
    fn is_own(&self, path: &[u8], file: &[u8]) -> bool {
        let rest = path.strip_prefix(b"/proc/").and_then(|rest| rest.strip_suffix(file)?.strip_suffix(b"/"));
        match rest {
            Some(b"self" | b"thread-self") => true,
            Some(process) => {
                let process = std::str::from_utf8(process).ok().and_then(|text| text.parse().ok());
                process.is_some_and(|process| {
                    process == std::process::id() || self.forked_from.contains(&process)
                })
            }
            None => false,
        }
    }
}
