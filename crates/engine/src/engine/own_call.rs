//! System calls of the engine.
#![allow(unsafe_code)]

use linux_raw_sys::general as sys;

use crate::raw;

/// Makes a system call of the engine.
pub(super) fn own_call(number: u32, arguments: [u64; 6]) -> i64 {
    // SAFETY: its users change only mappings of the program, and give memory that they own or that is the program's.
    unsafe { raw::system_call(u64::from(number), arguments) }
}

/// The exit status if the recording ended before the program.
pub(super) const STOPPED: u8 = 2;

/// Ends the process.
pub(super) fn exit(status: u8) -> ! {
    loop {
        own_call(sys::__NR_exit_group, [u64::from(status), 0, 0, 0, 0, 0]);
        // A filter of system calls may answer that with an error.
        own_call(sys::__NR_exit, [u64::from(status), 0, 0, 0, 0, 0]);
    }
}
