//! The start of a program under the engine.
#![allow(unsafe_code)]

use std::ffi::OsString;
use std::path::Path;

use crate::address_space::AddressSpace;
use crate::arena::Arena;
use crate::cpuid;
use crate::engine::{Beginning, Engine};
use crate::loader::{self, Command};
use crate::memory;
use crate::objects::Objects;
use crate::options::Options;
use crate::raw;
use crate::refusal::Refusal;
use crate::state::State;
use crate::switch;

/// Refuses a program that the engine cannot run, as far as that is known before.
///
/// # Errors
///
/// If it cannot, with the reason.
pub fn check(program: &Path) -> Result<(), Refusal> {
    cpuid::check()?;
    loader::check(program).map(|_| ())
}

/// Runs a program in place of the one that this process is, and writes the profile when it ends. The process ends with the program.
///
/// # Errors
///
/// If the program cannot be run. It has not done anything then.
pub fn run(options: Options, environment: &[(OsString, OsString)]) -> Refusal {
    match prepare(options, environment) {
        Ok(Prepared { state, engine, is_pipe_ignored }) => {
            switch::set_state(state);
            // The handler of signals needs the state.
            engine.begin_signals(is_pipe_ignored);
            engine.options.client.begin(std::process::id());
            set_name(&engine.options);
            // SAFETY: the state is complete, is never freed, and its handler is the one below.
            unsafe { switch::run() }
        }
        Err(refusal) => refusal,
    }
}

/// Gives the process the name of the program.
fn set_name(options: &Options) {
    use std::os::unix::ffi::OsStrExt as _;
    // As it was called: a program can be a link.
    let called = options.words.first().map_or(options.program.as_path(), Path::new);
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
    is_pipe_ignored: bool,
}

fn prepare(options: Options, environment: &[(OsString, OsString)]) -> Result<Prepared, Refusal> {
    cpuid::check()?;
    loader::check(&options.program)?;
    let no_memory = || Refusal::new("the memory below 2 GB is not free, or may not be mapped for code");
    let arena = Arena::new(options.code_cache_bytes).ok_or_else(no_memory)?;
    let first_frame = memory::reserve_shadow_stack()
        .ok_or_else(|| Refusal::new("there is no memory for the calls of the program"))?;
    let mut space = AddressSpace::default();
    let given = options.words.first().cloned().unwrap_or_default();
    let command = Command { path: &options.program, given: &given, arguments: &options.words, environment };
    let mut objects = Objects::default();
    let loaded = loader::load(&command, &mut space, &mut objects)?;
    let beginning =
        Beginning { options, arena, space, objects, start: loaded.start, brk: loaded.brk, first_frame };
    let is_pipe_ignored = beginning.options.ignores_pipe_signal;
    let (engine, code) = Engine::new(beginning);
    let engine = Box::leak(Box::new(engine));
    let state = Box::leak(Box::new(State {
        gpr: [0; 16],
        flags: 0x202,
        resume: code,
        host_rsp: 0,
        host_fs: 0,
        guest_fs: 0,
        exit: 0,
        spill0: 0,
        spill1: 0,
        spill2: 0,
        shadow: first_frame,
        cost: 0,
        target: 0,
        engine: std::ptr::from_mut(engine) as u64,
        handler: handle as *const () as u64,
        leave: 0,
        own_address: 0,
        vectors: [[0; 4]; 16],
        pending: 0,
        saved_mask: 0,
        interrupted: 0,
        signal_data: [0; 16],
        fault: [0; 3],
    }));
    state.gpr[4] = loaded.sp;
    Ok(Prepared { state, engine, is_pipe_ignored })
}

/// Decides how to go on. Called with the registers of the program saved.
extern "C" fn handle(state: *mut State, exit: u32) {
    // SAFETY: the state and the engine were made above and are never freed, and one thread runs.
    unsafe {
        let state = &mut *state;
        let engine = &mut *(state.engine as *mut Engine);
        engine.go_on(state, exit);
    }
}
