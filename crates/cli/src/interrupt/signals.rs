//! The signals that ask a program to end. Each wakes a thread, which may do what a signal handler must not.

use std::io::{self, PipeWriter, Read as _, Write as _};
use std::sync::OnceLock;
use std::thread;

use nix::libc::c_int;
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};

/// The signals: Ctrl-C, `kill`, a terminal that is closed, and Ctrl-\.
const SIGNALS: [Signal; 4] = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGQUIT];

/// The status of a program that a signal ended is this and the number of the signal, as shells have it.
const SIGNAL_STATUS: u8 = 128;

/// The way to the thread.
static WAKER: OnceLock<PipeWriter> = OnceLock::new();

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

extern "C" fn handle(signal: c_int) {
    wake(u8::try_from(signal).map_or(SIGNAL_STATUS, |signal| SIGNAL_STATUS | signal));
}

/// Installs the handler of a signal. One that is ignored, as by `nohup` or in the background of a script, stays so.
#[expect(unsafe_code, reason = "a signal handler cannot be installed in another way")]
fn install(signal: Signal) {
    // System calls go on after the handler: the program ends soon, and an error message would only be in the way.
    let action = SigAction::new(SigHandler::Handler(handle), SaFlags::SA_RESTART, SigSet::empty());
    // SAFETY: the handler calls only what is safe in a signal handler. If it cannot be installed, the signal ends the
    // program as it would without.
    let before = unsafe { sigaction(signal, &action) };
    if let Ok(before) = before
        && matches!(before.handler(), SigHandler::SigIgn)
    {
        // SAFETY: this is the action that the program was started with.
        let _ = unsafe { sigaction(signal, &before) };
    }
}

/// Does nothing. In place of it, ignoring the signal would be passed on to the commands that this program starts.
extern "C" fn do_nothing(_: c_int) {}

/// Lets a write beyond the limit of the size of files fail, where the system would end the program.
#[expect(unsafe_code, reason = "the action of a signal cannot be changed in another way")]
pub(super) fn survive_size_limit() {
    let action = SigAction::new(SigHandler::Handler(do_nothing), SaFlags::SA_RESTART, SigSet::empty());
    // SAFETY: the handler does nothing. If it cannot be installed, the signal ends the program as it would without.
    let _ = unsafe { sigaction(Signal::SIGXFSZ, &action) };
}

/// Ignores Ctrl-C.
#[expect(unsafe_code, reason = "the action of a signal cannot be changed in another way")]
pub(super) fn ignore_ctrl_c() {
    let action = SigAction::new(SigHandler::SigIgn, SaFlags::empty(), SigSet::empty());
    // SAFETY: no handler runs. If this fails, Ctrl-C ends the program as usual.
    let _ = unsafe { sigaction(Signal::SIGINT, &action) };
}
