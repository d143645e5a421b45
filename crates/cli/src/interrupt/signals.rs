//! The signals that ask a program to end. Each wakes a thread, which may do what a signal handler must not.

use std::io::{self, PipeWriter, Read as _, Write as _};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use nix::libc::{c_int, c_void, siginfo_t};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, raise, sigaction};

/// The signals: Ctrl-C, `kill`, a terminal that is closed, and Ctrl-\.
const SIGNALS: [Signal; 4] = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGQUIT];

/// The status of a program that a signal ended is this and the number of the signal, as shells have it.
const SIGNAL_STATUS: u8 = 128;

/// The way to the thread.
static WAKER: OnceLock<PipeWriter> = OnceLock::new();

/// `true` while a program runs that the signals are for.
static IS_PASSED_ON: AtomicBool = AtomicBool::new(false);

/// The way to the thread that passes signals on.
static PASSER: OnceLock<PipeWriter> = OnceLock::new();

/// Starts the thread, which calls `end` with the exit status, and installs the handlers.
pub(super) fn watch(end: fn(u8) -> !) -> io::Result<()> {
    let (mut status_of, waker) = io::pipe()?;
    thread::Builder::new().spawn(move || {
        let mut status = [0];
        if status_of.read_exact(&mut status).is_ok() {
            end(status[0]);
        }
    })?;
    if WAKER.set(waker).is_ok() {
        SIGNALS.into_iter().for_each(install);
    }
    Ok(())
}

/// Wakes the thread with an exit status. Returns `false` if there is none. It is safe in a signal handler: it reads an
/// atomic and writes to a pipe.
pub(super) fn wake(status: u8) -> bool {
    WAKER.get().is_some_and(|mut waker| waker.write_all(&[status]).is_ok())
}

/// Starts a thread that calls `pass_on` with each of the signals that only this process gets, instead of ending it. Ctrl-C at a terminal
/// is not one: it reaches all processes of the terminal.
pub(super) fn begin_to_pass_on(pass_on: fn(Signal)) -> io::Result<()> {
    let (mut signals, passer) = io::pipe()?;
    if PASSER.set(passer).is_ok() {
        thread::Builder::new().spawn(move || {
            let mut signal = [0];
            while signals.read_exact(&mut signal).is_ok() {
                if let Ok(signal) = Signal::try_from(c_int::from(signal[0])) {
                    pass_on(signal);
                }
            }
        })?;
    }
    IS_PASSED_ON.store(true, Ordering::SeqCst);
    SIGNALS.into_iter().for_each(install);
    Ok(())
}

/// Passes on also those signals that this program ignores, as in the background of a script: the program that was started with that may
/// have a handler for them. Returns how they are ignored.
pub(super) fn pass_on_ignored() -> Vec<(Signal, SigAction)> {
    let replaced = SIGNALS.into_iter().filter_map(|signal| Some((signal, replace(signal, &on_end()).ok()?)));
    replaced.filter(|(_, before)| matches!(before.handler(), SigHandler::SigIgn)).collect()
}

/// Lets signals end this program again, and ignores those that it ignored.
pub(super) fn stop_passing_on(ignored: &[(Signal, SigAction)]) {
    for (signal, action) in ignored {
        // If this fails, the signal ends this program, which is at its end.
        let _ = replace(*signal, action);
    }
    IS_PASSED_ON.store(false, Ordering::SeqCst);
}

/// Lets children be waited for, if who started this program ignores their end. Returns `true` then.
#[expect(unsafe_code, reason = "the action of a signal cannot be changed in another way")]
pub(super) fn expect_children() -> bool {
    let action = SigAction::new(SigHandler::SigDfl, SaFlags::empty(), SigSet::empty());
    // SAFETY: no handler runs; by default nothing happens when a child ends.
    let before = unsafe { sigaction(Signal::SIGCHLD, &action) };
    before.is_ok_and(|before| matches!(before.handler(), SigHandler::SigIgn))
}

/// Ignores the end of children.
#[expect(unsafe_code, reason = "the action of a signal cannot be changed in another way")]
pub(super) fn ignore_children() {
    let action = SigAction::new(SigHandler::SigIgn, SaFlags::empty(), SigSet::empty());
    // SAFETY: no handler runs.
    let _ = unsafe { sigaction(Signal::SIGCHLD, &action) };
}

/// Ends this process by a signal, as the signal ended a program. It leaves no image of the memory of this process.
#[expect(unsafe_code, reason = "the action of a signal cannot be changed in another way")]
pub(super) fn end_by(signal: u8) {
    let Ok(signal) = Signal::try_from(c_int::from(signal)) else { return };
    let hard = getrlimit(Resource::RLIMIT_CORE).map_or(0, |(_, hard)| hard);
    // If this fails, there is an image.
    let _ = setrlimit(Resource::RLIMIT_CORE, 0, hard);
    let action = SigAction::new(SigHandler::SigDfl, SaFlags::empty(), SigSet::empty());
    // SAFETY: no handler runs. SIGKILL and SIGSTOP have no other action.
    let _ = unsafe { sigaction(signal, &action) };
    let mut signals = SigSet::empty();
    signals.add(signal);
    let _ = signals.thread_unblock();
    let _ = raise(signal);
}

/// `true` if the system itself sent a signal, as a terminal does.
#[expect(unsafe_code, reason = "the kernel gives a pointer to what it tells")]
fn is_of_system(info: *const siginfo_t) -> bool {
    // SAFETY: with `SA_SIGINFO` the kernel passes a pointer that is valid while the handler runs.
    let code = unsafe { info.as_ref() }.map(|info| info.si_code);
    // SI_KERNEL; other systems than Linux have it as well or say SI_USER, with which the program gets a signal twice.
    code == Some(0x80)
}

extern "C" fn handle(signal: c_int, info: *mut siginfo_t, _: *mut c_void) {
    if IS_PASSED_ON.load(Ordering::SeqCst) {
        if !is_of_system(info)
            && let (Some(mut passer), Ok(signal)) = (PASSER.get(), u8::try_from(signal))
        {
            // If this fails, there is nothing that a signal handler could do.
            let _ = passer.write_all(&[signal]);
        }
        return;
    }
    wake(u8::try_from(signal).map_or(SIGNAL_STATUS, |signal| SIGNAL_STATUS | signal));
}

/// The action of a signal that asks a program to end.
fn on_end() -> SigAction {
    // System calls go on after the handler: the program ends soon, and an error message would only be in the way.
    let flags = SaFlags::SA_RESTART | SaFlags::SA_SIGINFO;
    SigAction::new(SigHandler::SigAction(handle), flags, SigSet::empty())
}

/// Installs the handler of a signal. One that is ignored, as by `nohup` or in the background of a script, stays so.
fn install(signal: Signal) {
    install_unless_ignored(signal, &on_end());
}

/// Installs an action that calls only what is safe in a signal handler. A signal that is ignored stays so, also for the programs that this one
/// starts. If it cannot be installed, the signal ends the program as it would without.
pub(crate) fn install_unless_ignored(signal: Signal, action: &SigAction) {
    if let Ok(before) = replace(signal, action)
        && matches!(before.handler(), SigHandler::SigIgn)
    {
        let _ = replace(signal, &before);
    }
}

/// Replaces the action of a signal.
#[expect(unsafe_code, reason = "a signal handler cannot be installed in another way")]
fn replace(signal: Signal, action: &SigAction) -> nix::Result<SigAction> {
    // SAFETY: the handlers of this module call only what is safe in them, and so do those of `install_unless_ignored`; other actions are
    // those that the program was started with.
    unsafe { sigaction(signal, action) }
}

/// Does nothing. In place of it, ignoring the signal would be passed on to the commands that this program starts.
extern "C" fn do_nothing(_: c_int) {}

/// Lets a write beyond the limit of the size of files fail, where the system would end the program.
pub(super) fn survive_size_limit() {
    let action = SigAction::new(SigHandler::Handler(do_nothing), SaFlags::SA_RESTART, SigSet::empty());
    install_unless_ignored(Signal::SIGXFSZ, &action);
}

/// Ignores Ctrl-C.
#[expect(unsafe_code, reason = "the action of a signal cannot be changed in another way")]
pub(super) fn ignore_ctrl_c() {
    let action = SigAction::new(SigHandler::SigIgn, SaFlags::empty(), SigSet::empty());
    // SAFETY: no handler runs. If this fails, Ctrl-C ends the program as usual.
    let _ = unsafe { sigaction(Signal::SIGINT, &action) };
}
