//! The start of a program under the engine.
#![allow(unsafe_code)]

use std::ffi::OsString;
use std::path::Path;
use std::sync::atomic::Ordering;

use crate::address_space::AddressSpace;
use crate::arena::{Arena, MAX_THREAD_BYTES};
use crate::asm::HotPlace;
use crate::block::MAX_COST;
use crate::cpuid;
use crate::engine::execute;
use crate::engine::{Beginning, Engine, Limits, STOP_SIGNAL, Step};
use crate::inherited::Inherited;
use crate::invocation::Invocation;
use crate::loader::{self, Command};
use crate::lock::Lock;
use crate::memory::ThreadSizes;
use crate::objects::Objects;
use crate::options::Options;
use crate::raw;
use crate::refusal::Refusal;
use crate::sanitizers;
use crate::state::{Links, State};
use crate::switch;
use crate::threads::{self, Threads};

/// Refuses a program that the engine cannot run, as far as that is known before.
///
/// # Errors
///
/// If it cannot, with the reason.
pub fn check(program: &Path) -> Result<(), Refusal> {
    cpuid::check()?;
    loader::check(program)?;
    sanitizers::refuse(program)?;
    if let Some(limit) = Limits::too_low() {
        return Err(Refusal::new(format!(
            "a limit of memory (ulimit -v, ulimit -d) of {} MiB that cannot be raised would hold for program and engine together",
            limit >> 20
        )));
    }
    if Arena::has_memory() { Ok(()) } else { Err(no_memory()) }
}

fn no_memory() -> Refusal {
    Refusal::new(
        "the memory below 2 GB is not free, a limit (ulimit -d, ulimit -v) does not allow that much, or it may not be mapped for code",
    )
}

/// Runs a program in place of the one that this process is, and writes the profile when it ends. The process ends with the program.
/// The entries of its environment are texts such as `LANG=C`. [`environment`] has those of this process.
///
/// # Errors
///
/// If the program cannot be run. It has not done anything then.
pub fn run(options: Options, environment: &[OsString]) -> Refusal {
    match prepare(options, environment) {
        Ok(Prepared { state, engine }) => {
            state.thread = std::process::id();
            // SAFETY: the state is complete, is never freed, and its handler is the one below.
            unsafe {
                threads::adopt(state.own_address);
                // The handler of signals needs the state.
                engine.options.client.begin(std::process::id());
                set_name(&engine.options);
                engine.begin_in_place();
                engine.begin_signals(state);
                engine.watch_parent();
                switch::run();
            }
            // The thread has ended, and the process has others: it keeps its number until they end.
            loop {
                std::thread::park();
            }
        }
        Err(refusal) => refusal,
    }
}

/// Returns the entries of the environment of this process, also those that are no variables: they have no sign, or no name before it.
/// [`std::env::vars_os`] leaves those out.
#[must_use]
pub fn environment() -> Vec<OsString> {
    use std::os::unix::ffi::OsStringExt as _;
    unsafe extern "C" {
        static environ: *const *const std::ffi::c_char;
    }
    let mut entries = Vec::new();
    // SAFETY: the C library has the list, which is null or ends with null, and its entries end with 0. The program changes none meanwhile.
    unsafe {
        let mut next = environ;
        while !next.is_null() && !(*next).is_null() {
            entries.push(OsString::from_vec(std::ffi::CStr::from_ptr(*next).to_bytes().to_vec()));
            next = next.add(1);
        }
    }
    entries
}

/// Runs a program that takes the place of another one, and cannot be recorded, in place of this process. Returns only if that fails.
pub fn run_unrecorded(inherited: &Inherited) -> std::io::Error {
    std::io::Error::from_raw_os_error(-execute::run_unrecorded(inherited) as i32)
}

/// Returns the message that goes before that.
pub fn unrecorded(inherited: &Inherited, reason: &str) -> String {
    execute::unrecorded(inherited.path.as_os_str().as_encoded_bytes(), reason)
}

/// Returns a copy of standard error on a descriptor that programs do not choose. It is closed when another program takes the place of
/// this one.
pub fn copy_of_standard_error() -> Option<std::fs::File> {
    use std::os::fd::FromRawFd as _;
    const ERROR: u64 = 2;
    let number = u64::from(linux_raw_sys::general::__NR_fcntl);
    let duplicate = u64::from(linux_raw_sys::general::F_DUPFD_CLOEXEC);
    // Where a process may have fewer, a low one is better than none.
    let copies = [1000, 200, 3].into_iter().map(|first| {
        // SAFETY: the call makes a new descriptor.
        unsafe { raw::system_call(number, [ERROR, duplicate, first, 0, 0, 0]) }
    });
    let copy = copies.into_iter().find(|copy| raw::error_of(*copy).is_none())?;
    // SAFETY: the descriptor is new, and has no other owner.
    Some(unsafe { std::fs::File::from_raw_fd(copy as i32) })
}

/// `true` if a process that the engine records can be woken up: it would end before it handles the signal for that.
#[must_use]
pub fn can_wake(process: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let handled = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let handled = handled.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    handled.is_some_and(|mask| mask >> (STOP_SIGNAL - 1) & 1 == 1)
}

/// Wakes a process up that the engine records, so that it looks for a request. `false` if there is no such process.
///
/// A process that is not recorded would end.
#[must_use]
pub fn wake(process: u32) -> bool {
    let arguments = [u64::from(process), u64::from(STOP_SIGNAL), 0, 0, 0, 0];
    // SAFETY: the call sends a signal.
    unsafe { raw::system_call(u64::from(linux_raw_sys::general::__NR_kill), arguments) == 0 }
}

/// `true` if the processor has vector registers that the program does not know of.
fn has_hidden_vectors() -> bool {
    std::is_x86_feature_detected!("avx512vl")
}

/// Gives the process the name of the program.
fn set_name(options: &Options) {
    use std::os::unix::ffi::OsStrExt as _;
    // As it was called: a program can be a link.
    let invocation = &options.invocation;
    let called = invocation.command.first().map_or(invocation.program.as_path(), Path::new);
    let mut name = called.file_name().unwrap_or_default().as_bytes().to_vec();
    name.truncate(15);
    name.push(0);
    let set_name = u64::from(linux_raw_sys::prctl::PR_SET_NAME);
    let number = u64::from(linux_raw_sys::general::__NR_prctl);
    // SAFETY: the kernel reads the name, which ends with a zero.
    unsafe { raw::system_call(number, [set_name, name.as_ptr() as u64, 0, 0, 0, 0]) };
}

/// A program that is loaded.
struct Prepared {
    state: &'static mut State,
    engine: &'static mut Engine,
}

fn prepare(options: Options, environment: &[OsString]) -> Result<Prepared, Refusal> {
    cpuid::check()?;
    loader::check(&options.invocation.program)?;
    let limits = Limits::begin(options.inherited.as_ref());
    let sizes = ThreadSizes::within(Limits::of_memory(), MAX_THREAD_BYTES);
    let mut arena = Arena::new(options.code_cache_bytes, sizes.counters).ok_or_else(no_memory)?;
    let hot_place = match options.counts_in_vectors && has_hidden_vectors() {
        true => HotPlace::Vector { numbers: arena.numbers(MAX_COST).ok_or_else(no_memory)? },
        false => HotPlace::Memory,
    };
    let mut threads = Threads::new(sizes);
    let state =
        threads.add().ok_or_else(|| Refusal::new("there is no memory for the calls of the program"))?;
    let mut space = AddressSpace::new();
    let Invocation { program, words, command } = &options.invocation;
    let given = command.first().cloned().unwrap_or_default();
    let command = Command { path: program, given: &given, arguments: words, environment };
    let mut objects = Objects::default();
    let loaded = loader::load(&command, &mut space, &mut objects)?;
    let beginning = Beginning {
        options,
        arena,
        space,
        objects,
        start: loaded.start,
        brk: loaded.brk,
        threads,
        hot_place,
        limits,
    };
    let engine = Box::leak(Box::new(Engine::new(beginning, state)));
    let links = Links {
        engine: std::ptr::from_mut(engine) as u64,
        handler: handle as *const () as u64,
        leave: switch::leave_address(),
        has_vector: u64::from(hot_place != HotPlace::Memory),
    };
    engine.threads.link(links);
    (state.engine, state.handler, state.leave) = (links.engine, links.handler, links.leave);
    state.has_vector = links.has_vector;
    state.gpr[4] = loaded.sp;
    Ok(Prepared { state, engine })
}

/// The lock of the engine: one thread at a time decides.
static LOCK: Lock = Lock::new();

/// Decides how to go on. Called with the registers of the program saved. Returns 1 if the thread has ended.
extern "C" fn handle(state: *mut State, exit: u32) -> u32 {
    // SAFETY: states and the engine are never freed, a state is its thread's, and the engine belongs to who has the lock.
    unsafe {
        let engine = (*state).engine as *mut Engine;
        (*state).runs_code.store(false, Ordering::SeqCst);
        LOCK.lock();
        let mut step = (*engine).go_on(&mut *state, exit);
        if let Step::Call(call) = step {
            LOCK.unlock();
            let result = switch::program_call(call.number, &call.arguments);
            LOCK.lock();
            step = (*engine).after_call(&mut *state, &call, result);
        }
        let has_ended = matches!(step, Step::End);
        if !has_ended {
            (*state).runs_code.store(true, Ordering::SeqCst);
        }
        LOCK.unlock();
        u32::from(has_ended)
    }
}
