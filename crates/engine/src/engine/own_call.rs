//! System calls of the engine.
#![allow(unsafe_code)]

use crate::raw;

/// Makes a system call of the engine.
pub(super) fn own_call(number: u32, arguments: [u64; 6]) -> i64 {
    // SAFETY: its users change only mappings of the program, and give memory that they own or that is the program's.
    unsafe { raw::system_call(u64::from(number), arguments) }
}
