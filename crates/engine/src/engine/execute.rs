//! Programs that take the place of this one: they are recorded in the same process, by the engine run again, or run without it.

use std::ffi::{CString, OsStr, OsString};
use std::fs::Metadata;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use linux_raw_sys::errno::{E2BIG, EFAULT};
use linux_raw_sys::general as sys;

use super::Engine;
use super::limits::Limits;
use super::masks::{self, block_all, program_mask, set_mask, without_stop};
use super::master_handler::{give_back, leave_to_kernel};
use super::own_call::own_call;
use crate::inherited::Inherited;
use crate::invocation::Invocation;
use crate::loader;
use crate::memory;
use crate::raw;
use crate::sanitizers;
use crate::state::State;

/// The program of this process.
const OWN_PROGRAM: &[u8] = b"/proc/self/exe\0";

/// The longest word that the kernel takes, and the most words that are read.
const MAX_WORD_BYTES: usize = 128 << 10;
const MAX_WORDS: u64 = 4 << 20;

const SET_USER_OR_GROUP: u32 = 0o6000;

/// The fate of a program that is to run in the place of this one.
pub(super) enum Execution {
    /// The kernel runs it, or says why it cannot.
    ByKernel,
    /// The engine has tried, and failed.
    Failed(i64),
}

/// A program that is to run.
struct Wanted {
    path: Vec<u8>,
    words: Vec<Vec<u8>>,
    environment: Vec<Vec<u8>>,
}

impl Engine {
    /// `execve` and `execveat`: records the program, if that is wanted. Returns only if the engine does not run it.
    pub(super) fn execute(&mut self, state: &mut State, number: u32, arguments: [u64; 6]) -> Execution {
        self.return_lent_memory();
        masks::hand_over(state);
        self.signals.hand_over();
        if self.options.words_for_others.is_none() && !self.limits.are_set() {
            return Execution::ByKernel;
        }
        let (folder, [path, words, environment], flags) = match arguments {
            [folder, path, words, environment, flags, _] if number == sys::__NR_execveat => {
                (folder as i32, [path, words, environment], flags as u32)
            }
            [path, words, environment, ..] => (sys::AT_FDCWD, [path, words, environment], 0),
        };
        let texts = |list: u64| self.texts(list);
        let (Some(path), Some(mut words), Some(environment)) =
            (raw::text(path), texts(words), texts(environment))
        else {
            return Execution::ByKernel;
        };
        if words.is_empty() {
            // As the kernel does: no program is without a first word.
            words.push(Vec::new());
        }
        let Some(path) = full_path(folder, &path, flags) else { return Execution::ByKernel };
        let reason = match check(Path::new(OsStr::from_bytes(&path))) {
            Ok(false) => return Execution::ByKernel,
            Ok(true) => None,
            Err(reason) => Some(reason),
        };
        let Some(own) = self.options.words_for_others.clone() else {
            return self.become_unrecorded(number, arguments);
        };
        if let Some(reason) = reason {
            self.options.report(&unrecorded(&path, &reason));
            return self.become_unrecorded(number, arguments);
        }
        self.dump_replaced(state, &path);
        let apart = self.set_parts_apart();
        let result = self.become_recorded(state, own, Wanted { path, words, environment });
        if let Some([name, apart]) = apart {
            // The program goes on after all.
            drop(std::fs::rename(apart, name));
        }
        Execution::Failed(result)
    }

    /// Closes what was closed, if this program takes the place of another one.
    pub(crate) fn begin_in_place(&self) {
        if let Some(inherited) = &self.options.inherited {
            close_streams(inherited);
            self.limits.begin_in_place();
        }
    }

    /// Lets the kernel run a program, with the limits that this one has set.
    fn become_unrecorded(&self, number: u32, arguments: [u64; 6]) -> Execution {
        if !self.limits.are_set() {
            return Execution::ByKernel;
        }
        self.limits.apply();
        let result = own_call(number, arguments);
        self.limits.lift();
        Execution::Failed(result)
    }

    fn become_recorded(&mut self, state: &mut State, own: Vec<OsString>, wanted: Wanted) -> i64 {
        // Signals from here on are for the program, once the engine is ready for them. So is one that has come since the call began: a call
        // that is made again for each of them would not be made at all if they come fast.
        let before = program_mask(state, block_all());
        give_back(state);
        let text = OsString::from_vec;
        let Wanted { path, words, environment } = wanted;
        let inherited = Inherited {
            mask: without_stop(before),
            parent: self.options.parent,
            ignores_pipe_signal: self.signals.is_ignored(sys::SIGPIPE),
            closed_streams: closed_streams(),
            parts: self.parts,
            limits: self.limits.own(),
            path: text(path.clone()).into(),
            words: words.into_iter().map(text).collect(),
            environment: environment.into_iter().map(text).collect(),
        };
        let words = own.into_iter().chain([Inherited::MARK.into()]).chain(inherited.to_words());
        let limits = Limits::lift_files();
        let result = run_program(OWN_PROGRAM, words.map(OsString::into_vec), Vec::new());
        Limits::restore_files(limits);
        set_mask(state, before);
        if result != -i64::from(E2BIG) {
            self.options
                .report(&unrecorded(&path, &format!("the engine does not run there (error {result})")));
        }
        result
    }

    /// Reads a list of texts. `None` if it cannot be read. A list that is not there is empty.
    fn texts(&self, list: u64) -> Option<Vec<Vec<u8>>> {
        let mut texts = Vec::new();
        for index in 0..MAX_WORDS {
            let text = if list == 0 { 0 } else { memory::read(&self.space, list + 8 * index)? };
            if text == 0 {
                return Some(texts);
            }
            texts.push(raw::text_up_to(text, MAX_WORD_BYTES)?);
        }
        None
    }
}

fn closed_streams() -> Vec<i32> {
    let is_closed = |stream: &i32| {
        let result = own_call(sys::__NR_fcntl, [*stream as u64, u64::from(sys::F_GETFD), 0, 0, 0, 0]);
        raw::error_of(result).is_some()
    };
    (0..3).filter(is_closed).collect()
}

/// Closes the streams that were closed.
fn close_streams(inherited: &Inherited) {
    for stream in &inherited.closed_streams {
        own_call(sys::__NR_close, [*stream as u64, 0, 0, 0, 0, 0]);
    }
}

/// Returns the message that this process runs a program that is not recorded.
pub(crate) fn unrecorded(path: &[u8], reason: &str) -> String {
    let process = std::process::id();
    format!("process {process} runs {}, which is not recorded: {reason}", String::from_utf8_lossy(path))
}

/// Runs a program in place of this process. Returns the error.
fn run_program(path: &[u8], words: impl Iterator<Item = Vec<u8>>, environment: Vec<Vec<u8>>) -> i64 {
    let texts = |words: &mut dyn Iterator<Item = Vec<u8>>| -> Option<Vec<CString>> {
        words.map(|word| CString::new(word).ok()).collect()
    };
    let (Some(words), Some(environment)) = (texts(&mut { words }), texts(&mut environment.into_iter()))
    else {
        return -i64::from(EFAULT);
    };
    let pointers = |texts: &[CString]| -> Vec<u64> {
        texts.iter().map(|text| text.as_ptr() as u64).chain([0]).collect()
    };
    let (words_list, environment_list) = (pointers(&words), pointers(&environment));
    let arguments =
        [path.as_ptr() as u64, words_list.as_ptr() as u64, environment_list.as_ptr() as u64, 0, 0, 0];
    own_call(sys::__NR_execve, arguments)
}

/// Runs a program that cannot be recorded, after all, in place of this process, which was to record it. Returns the error.
pub(crate) fn run_unrecorded(inherited: &Inherited) -> i64 {
    let mut path = inherited.path.as_os_str().as_bytes().to_vec();
    path.push(0);
    let words = inherited.words.iter().map(|word| word.as_bytes().to_vec());
    let entries = inherited.environment.iter().map(|entry| entry.as_bytes().to_vec()).collect();
    if !inherited.ignores_pipe_signal {
        leave_to_kernel(sys::SIGPIPE, 0, 0);
    }
    close_streams(inherited);
    Limits::begin(Some(inherited)).apply();
    masks::set_of_kernel(inherited.mask);
    run_program(&path, words, entries)
}

/// Returns the path of a program that is given relative to a folder, or by that.
fn full_path(folder: i32, path: &[u8], flags: u32) -> Option<Vec<u8>> {
    if folder == sys::AT_FDCWD || path.starts_with(b"/") {
        return Some(path.to_owned());
    }
    let link = format!("/proc/self/fd/{folder}");
    match path {
        // A file without a name is closed when the engine would open it.
        b"" if flags & sys::AT_EMPTY_PATH != 0 => {
            let path = std::fs::read_link(link).ok()?;
            path.exists().then(|| path.into_os_string().into_vec())
        }
        b"" => None,
        path => {
            let folder = std::fs::read_link(link).ok()?;
            Some(folder.join(OsStr::from_bytes(path)).into_os_string().into_vec())
        }
    }
}

/// Looks at a program. `false` if the kernel is going to refuse it.
///
/// # Errors
///
/// If it is not recorded, with the reason.
fn check(path: &Path) -> Result<bool, String> {
    const EXECUTE: u64 = 1;
    let Ok(text) = CString::new(path.as_os_str().as_bytes()) else { return Ok(false) };
    let may_run = own_call(sys::__NR_access, [text.as_ptr() as u64, EXECUTE, 0, 0, 0, 0]) == 0;
    let Some(metadata) = path.metadata().ok().filter(Metadata::is_file).filter(|_| may_run) else {
        return Ok(false);
    };
    let program: PathBuf = Invocation::executed(path, Vec::new()).program;
    if !is_elf(&program) {
        return Ok(false);
    }
    let mode = metadata.permissions().mode() | program.metadata().map_or(0, |file| file.permissions().mode());
    if mode & SET_USER_OR_GROUP != 0 {
        return Err("it runs with the rights of another user or group".to_owned());
    }
    if has_capabilities(&program) {
        return Err("it runs with capabilities".to_owned());
    }
    let checked = loader::check(&program).and_then(|_| sanitizers::refuse(&program));
    checked.map(|()| true).map_err(|refusal| refusal.to_string())
}

/// `true` if a file has the start of a program. Another one can be a script that a shell runs when the kernel does not.
fn is_elf(path: &Path) -> bool {
    use std::io::Read as _;
    let mut start = [0; 4];
    let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut start));
    // One that may be run but not read is refused below, with a reason.
    read.is_err_and(|error| error.kind() == std::io::ErrorKind::PermissionDenied) || start == *b"\x7fELF"
}

fn has_capabilities(path: &Path) -> bool {
    let Ok(path) = CString::new(path.as_os_str().as_bytes()) else { return false };
    let name = c"security.capability";
    own_call(sys::__NR_getxattr, [path.as_ptr() as u64, name.as_ptr() as u64, 0, 0, 0, 0]) > 0
}
