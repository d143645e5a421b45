//! The memory of the program as the engine reads and writes it, and the shadow stack.
#![allow(unsafe_code)]

use linux_raw_sys::general as sys;

use crate::address_space::{AddressSpace, PAGE_BYTES};
use crate::raw;
use crate::state::{EDGE_IN_FRAME, Frame};

/// The most of a shadow stack: 134 million calls that have not returned.
const SHADOW_BYTES: u64 = 4 << 30;

/// The space below the first frame.
const FIRST_FRAME_OFFSET: u64 = 2 * Frame::BYTES as u64;

/// Code of the program. It is read while it is decoded, and not kept.
///
/// The range was mapped as code when the address space was asked.
pub(crate) fn code(address: u64, length: usize) -> &'static [u8] {
    // SAFETY: the caller has asked the address space. It changes only under the lock of the engine, which the caller has.
    unsafe { raw::bytes(address, length) }
}

/// Reads a number of the program. `None` if nothing is mapped there.
pub(crate) fn read(space: &AddressSpace, address: u64) -> Option<u64> {
    let is_readable =
        |address: u64| space.protection(address).is_some_and(|protection| protection & sys::PROT_READ != 0);
    if !is_readable(address) || !is_readable(address + 7) {
        return None;
    }
    // SAFETY: the range is mapped for reading.
    Some(unsafe { raw::read64(address) })
}

/// Writes a number of the program. `false` if nothing is mapped there for writing.
pub(crate) fn write(space: &AddressSpace, address: u64, value: u64) -> bool {
    let is_writable =
        |address: u64| space.protection(address).is_some_and(|protection| protection & sys::PROT_WRITE != 0);
    if !is_writable(address) || !is_writable(address + 7) {
        return false;
    }
    // SAFETY: the range is the program's, and mapped for writing.
    unsafe { raw::write64(address, value) };
    true
}

/// Writes 4 bytes of the program. `false` if nothing is mapped there for writing.
pub(crate) fn write32(space: &AddressSpace, address: u64, value: u32) -> bool {
    let is_writable =
        |address: u64| space.protection(address).is_some_and(|protection| protection & sys::PROT_WRITE != 0);
    let is_possible = is_writable(address) && is_writable(address + 3);
    if is_possible {
        // SAFETY: the range is the program's, and mapped for writing.
        unsafe { raw::replace32(address, value) };
    }
    is_possible
}

/// Reads words of the program. `false` if one cannot be read; those before it have been read then.
pub(crate) fn read_words(space: &AddressSpace, address: u64, words: &mut [u64]) -> bool {
    words.iter_mut().enumerate().all(|(index, word)| match read(space, address + 8 * index as u64) {
        Some(value) => {
            *word = value;
            true
        }
        None => false,
    })
}

/// Writes words of the program. `false` if one cannot be written; those before it have been written then.
pub(crate) fn write_words(space: &AddressSpace, address: u64, words: &[u64]) -> bool {
    words.iter().enumerate().all(|(index, &word)| write(space, address + 8 * index as u64, word))
}

/// Reserves memory of the engine, which is 0. `None` if there is none.
pub(crate) fn reserve(length: u64) -> Option<u64> {
    let flags = sys::MAP_PRIVATE | sys::MAP_ANONYMOUS | sys::MAP_NORESERVE;
    let access = sys::PROT_READ | sys::PROT_WRITE;
    let arguments = [0, length, u64::from(access), u64::from(flags), u64::MAX, 0];
    // SAFETY: the kernel chooses unused memory.
    let address = unsafe { raw::system_call(u64::from(sys::__NR_mmap), arguments) };
    raw::error_of(address).is_none().then_some(address as u64)
}

/// Gives memory back that was reserved.
pub(crate) fn release(address: u64, length: u64) {
    // SAFETY: the memory was reserved, and nothing refers to it.
    unsafe { raw::unmap(address, length) };
}

/// The sizes of the memory of threads. They are large, as untouched memory takes none, but where the memory of the process has a limit, they
/// are small parts of that: it holds for memory that is not touched, too, and a program can have hundreds of threads.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ThreadSizes {
    /// Of the state and the counters.
    pub(crate) counters: u64,
    /// Of the shadow stack of the first thread, and of another one.
    first_shadow: u64,
    other_shadow: u64,
}

impl ThreadSizes {
    /// Returns the sizes within the limits of the process.
    pub(crate) fn within(limit: Option<u64>, most_counters: u64) -> ThreadSizes {
        let part = |divisor: u64, least: u64, most: u64, most_of_limit: u64| {
            let size = limit.map_or(most, |limit| (limit / divisor).clamp(least, most_of_limit));
            size & !(PAGE_BYTES - 1)
        };
        ThreadSizes {
            counters: part(1024, 4 << 20, most_counters, 64 << 20),
            first_shadow: part(16, 1 << 20, SHADOW_BYTES, SHADOW_BYTES),
            other_shadow: part(4096, 1 << 20, SHADOW_BYTES, 64 << 20),
        }
    }

    /// Returns the size of a shadow stack.
    pub(crate) fn shadow(&self, is_first: bool) -> u64 {
        if is_first { self.first_shadow } else { self.other_shadow }
    }
}

/// Reserves a shadow stack, and returns the address of the first frame. `None` if there is no memory. Behind it is a page that cannot be
/// written.
pub(crate) fn reserve_shadow_stack(bytes: u64) -> Option<u64> {
    let address = reserve(bytes + PAGE_BYTES)?;
    let arguments = [address + bytes, PAGE_BYTES, 0, 0, 0, 0];
    // SAFETY: the memory was reserved above.
    let result = unsafe { raw::system_call(u64::from(sys::__NR_mprotect), arguments) };
    raw::error_of(result).is_none().then_some(address + FIRST_FRAME_OFFSET)
}

/// `true` if an address is in a shadow stack of this many bytes whose first frame is at `first`, or right behind it. The program has no memory
/// there.
pub(crate) fn is_shadow_stack(first: u64, bytes: u64, address: u64) -> bool {
    let start = first - FIRST_FRAME_OFFSET;
    (start..start + bytes + PAGE_BYTES).contains(&address)
}

/// Writes the frame below the first, which translated code reads when there is none: its stack pointer is above all of the program, and
/// a return goes on with the given code.
pub(crate) fn set_sentinel(first: u64, continuation: u64) {
    let frame = Frame { sp: u64::MAX >> 1, continuation, enter_cost: 0, edge: 0, is_counted: 0 };
    set_frame(first - Frame::BYTES as u64, 0, frame);
}

/// Returns a frame of the shadow stack.
pub(crate) fn frame(first: u64, index: u64) -> Frame {
    let address = (first + index * Frame::BYTES as u64) as *const Frame;
    // SAFETY: the shadow stack begins at `first`, and its memory holds frames. Before their continuations are the numbers of edges.
    unsafe {
        let frame = address.read();
        match ((frame.continuation - 4) as *const u32).read_unaligned() {
            EDGE_IN_FRAME => frame,
            edge => Frame { edge, is_counted: 0, ..frame },
        }
    }
}

/// Writes a frame of the shadow stack.
pub(crate) fn set_frame(first: u64, index: u64, frame: Frame) {
    let address = (first + index * Frame::BYTES as u64) as *mut Frame;
    // SAFETY: as above.
    unsafe { address.write(frame) };
}
