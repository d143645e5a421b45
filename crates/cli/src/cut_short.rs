//! The handler for a mapped file that is truncated: a message, where the system would end the program with a signal.
//!
//! Set up when the first file is mapped.

/// Installs the handler. From here on, Ctrl-C and a truncated file both remove temporary files and end the program.
#[expect(unsafe_code, reason = "there is no safe way to handle a signal in the thread that it comes from")]
pub(crate) fn expect() {
    use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};
    use std::sync::Once;

    static SET_UP: Once = Once::new();
    SET_UP.call_once(|| {
        crate::interrupt::set_up();
        let action = SigAction::new(SigHandler::Handler(tell_and_stop), SaFlags::empty(), SigSet::empty());
        // SAFETY: the handler calls only functions that are safe in a signal handler. If it cannot be installed, the signal ends
        // the program as it would without.
        let _ = unsafe { sigaction(Signal::SIGBUS, &action) };
    });
}

/// Prints the message and ends the program. The thread cannot continue: the bytes it reads do not exist.
#[expect(unsafe_code, reason = "in a signal handler there is no other way to end the program")]
extern "C" fn tell_and_stop(_: nix::libc::c_int) {
    const MESSAGE: &[u8] = b"gristmill: a file was truncated while it was read\n\
        gristmill: hint: try again when the program that writes it is done\n";
    let _ = nix::unistd::write(std::io::stderr(), MESSAGE);
    if crate::interrupt::fail() {
        loop {
            nix::unistd::pause();
        }
    }
    // SAFETY: it only ends the program, at once.
    unsafe { nix::libc::_exit(crate::exit_status::ExitStatus::Failure as nix::libc::c_int) }
}
