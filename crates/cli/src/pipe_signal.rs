//! Tells whether who started this program ignores `SIGPIPE`, as services do. The runtime of Rust ignores it before `main`, and lets programs
//! that it starts end by it.
#![allow(unsafe_code)]

use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use nix::libc;

static IS_IGNORED: AtomicBool = AtomicBool::new(false);

/// Called before the runtime of Rust begins.
#[cfg(target_os = "linux")]
#[used]
#[unsafe(link_section = ".init_array")]
static NOTE: extern "C" fn() = note;

#[cfg(target_os = "linux")]
extern "C" fn note() {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: nothing is changed, and the action has space for the answer.
    let is_known = unsafe { libc::sigaction(libc::SIGPIPE, std::ptr::null(), action.as_mut_ptr()) } == 0;
    // SAFETY: an action may be all zeros, and was filled if the call says so.
    let handler = unsafe { action.assume_init() }.sa_sigaction;
    IS_IGNORED.store(is_known && handler == libc::SIG_IGN, Ordering::SeqCst);
}

/// `true` if who started this program ignores `SIGPIPE`, and so does a program that it runs.
pub(crate) fn is_ignored() -> bool {
    IS_IGNORED.load(Ordering::SeqCst)
}

/// Lets a program ignore `SIGPIPE` if it would do so without this one.
pub(crate) fn keep(command: &mut Command) -> &mut Command {
    if is_ignored() {
        let ignore = || {
            // SAFETY: between fork and exec, this call is allowed.
            unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
            Ok(())
        };
        // SAFETY: the closure makes one system call, and takes no memory and no lock.
        unsafe { command.pre_exec(ignore) };
    }
    command
}
