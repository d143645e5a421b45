//! The handlers for what the system ends a program for: a mapped file that is truncated, and memory that runs out. They remove
//! temporary files, and the exit status is that of a failure.

use std::sync::Once;

use nix::libc::c_int;
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal};

/// The seconds that removing temporary files may take. The thread that failed may have a lock that this needs.
const MAX_REMOVAL_SECONDS: u32 = 5;

/// Prepares for a mapped file that is truncated; called when a file is mapped. From here on, Ctrl-C and a truncated file both
/// remove temporary files and end the program.
pub(crate) fn expect_truncation() {
    static SET_UP: Once = Once::new();
    SET_UP.call_once(|| {
        crate::interrupt::set_up();
        install(Signal::SIGBUS, tell_of_truncation);
    });
}

/// Prepares for memory that runs out: the standard library then names the allocation that failed, and aborts.
pub(crate) fn expect_abort() {
    install(Signal::SIGABRT, tell_of_abort);
}

fn install(signal: Signal, handler: extern "C" fn(c_int)) {
    let action = SigAction::new(SigHandler::Handler(handler), SaFlags::empty(), SigSet::empty());
    crate::interrupt::install_unless_ignored(signal, &action);
}

extern "C" fn tell_of_truncation(_: c_int) {
    stop(
        b"gristmill: a file was truncated while it was read\n\
        gristmill: hint: try again when the program that writes it is done\n",
    );
}

extern "C" fn tell_of_abort(_: c_int) {
    stop(
        b"gristmill: the failure above ends the program; unfinished output is removed\n\
        gristmill: hint: if an allocation failed, memory ran out: read fewer files at once, or raise the limit (ulimit -v)\n",
    );
}

/// Prints the message and ends the program. The thread cannot continue.
#[expect(unsafe_code, reason = "in a signal handler there is no other way to end the program")]
fn stop(message: &[u8]) {
    let _ = nix::unistd::write(std::io::stderr(), message);
    if crate::interrupt::fail() {
        let mut left = MAX_REMOVAL_SECONDS;
        while left > 0 {
            // SAFETY: it only waits. A signal ends it early.
            left = unsafe { nix::libc::sleep(left) };
        }
    } else {
        crate::interrupt::remove_files_at_once();
    }
    // SAFETY: it only ends the program, at once.
    unsafe { nix::libc::_exit(c_int::from(crate::exit_status::ExitStatus::Failure.code())) }
}
