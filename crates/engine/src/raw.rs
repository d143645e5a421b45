//! System calls and memory of the process, as the program has them: nothing in between.
#![allow(unsafe_code)]

use std::arch::asm;

use linux_raw_sys::general as sys;

/// Makes a system call. What it returns is the kernel's: an error is a negative number above −4096.
///
/// # Safety
///
/// As the call: it can change the memory of the process.
pub(crate) unsafe fn system_call(number: u64, arguments: [u64; 6]) -> i64 {
    let result: i64;
    // SAFETY: the kernel keeps all registers but these; the caller answers for the rest.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number as i64 => result,
            in("rdi") arguments[0],
            in("rsi") arguments[1],
            in("rdx") arguments[2],
            in("r10") arguments[3],
            in("r8") arguments[4],
            in("r9") arguments[5],
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    result
}

/// Returns the error number of a result.
pub(crate) fn error_of(result: i64) -> Option<i32> {
    (-4095..0).contains(&result).then_some(-result as i32)
}

/// Maps memory at an address where nothing of the engine is.
///
/// # Safety
///
/// The range is the program's, or is unused.
pub(crate) unsafe fn map_fixed(
    address: u64,
    length: u64,
    protection: u32,
    flags: u32,
    file: i32,
    offset: u64,
) -> i64 {
    let flags = u64::from(flags | sys::MAP_FIXED);
    let arguments = [address, length, u64::from(protection), flags, file as i64 as u64, offset];
    // SAFETY: the caller gives a range of the program.
    unsafe { system_call(u64::from(sys::__NR_mmap), arguments) }
}

/// Reserves a range of the engine below 2 GB. `false` if something is there.
pub(crate) fn reserve(address: u64, length: u64, protection: u32) -> bool {
    let flags = sys::MAP_PRIVATE | sys::MAP_ANONYMOUS | sys::MAP_NORESERVE | sys::MAP_FIXED_NOREPLACE;
    let arguments = [address, length, u64::from(protection), u64::from(flags), u64::MAX, 0];
    // SAFETY: the call fails where something is mapped.
    let result = unsafe { system_call(u64::from(sys::__NR_mmap), arguments) };
    result as u64 == address
}

/// The bytes of a large page.
pub(crate) const LARGE_PAGE_BYTES: u64 = 2 << 20;

/// Lets a range of the engine have large pages, if the system has them: the processor remembers where a limited number of pages is. The
/// first ones stay small, as most programs need few.
pub(crate) fn prefer_large_pages(address: u64, length: u64) {
    let range = [address + LARGE_PAGE_BYTES, length - LARGE_PAGE_BYTES];
    let arguments = [range[0], range[1], u64::from(sys::MADV_HUGEPAGE), 0, 0, 0];
    // SAFETY: the call changes only the size of pages, and can fail.
    unsafe { system_call(u64::from(sys::__NR_madvise), arguments) };
}

/// Gives memory back that was reserved.
///
/// # Safety
///
/// Nothing refers to it.
pub(crate) unsafe fn unmap(address: u64, length: u64) {
    // SAFETY: the caller gives memory that nothing refers to.
    unsafe { system_call(u64::from(sys::__NR_munmap), [address, length, 0, 0, 0, 0]) };
}

/// Gives the memory of a range of the engine back. It stays reserved, and is 0.
///
/// # Safety
///
/// Nothing uses what is there.
pub(crate) unsafe fn empty(address: u64, length: u64) {
    let arguments = [address, length, u64::from(sys::MADV_DONTNEED), 0, 0, 0];
    // SAFETY: the caller gives memory whose contents are not used.
    unsafe { system_call(u64::from(sys::__NR_madvise), arguments) };
}

/// Reads a number at an address of the process.
///
/// # Safety
///
/// The memory is mapped.
pub(crate) unsafe fn read64(address: u64) -> u64 {
    // SAFETY: the caller gives mapped memory.
    unsafe { (address as *const u64).read_unaligned() }
}

/// Writes a number at an address of the process.
///
/// # Safety
///
/// The memory is mapped, may be written, and holds no object of Rust.
pub(crate) unsafe fn write64(address: u64, value: u64) {
    // SAFETY: the caller gives mapped memory.
    unsafe { (address as *mut u64).write_unaligned(value) }
}

/// Replaces 4 bytes that another thread may read or run, in one store.
///
/// # Safety
///
/// As for [`write64`], and the bytes do not cross a multiple of 8.
pub(crate) unsafe fn replace32(address: u64, value: u32) {
    // SAFETY: the caller gives mapped memory. No other width would be one store.
    unsafe { asm!("mov [{}], {:e}", in(reg) address, in(reg) value, options(nostack, preserves_flags)) };
}

/// Replaces 8 aligned bytes that another thread may read or run, in one store.
///
/// # Safety
///
/// As for [`write64`], and the address is a multiple of 8.
pub(crate) unsafe fn replace64(address: u64, value: u64) {
    // SAFETY: the caller gives mapped memory.
    unsafe { asm!("mov [{}], {}", in(reg) address, in(reg) value, options(nostack, preserves_flags)) };
}

/// Copies bytes to an address of the process.
///
/// # Safety
///
/// The memory is mapped, may be written, and holds no object of Rust.
pub(crate) unsafe fn write_bytes(address: u64, bytes: &[u8]) {
    // SAFETY: the caller gives mapped memory.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), address as *mut u8, bytes.len()) }
}

/// Returns bytes at an address of the process.
///
/// # Safety
///
/// The memory is mapped, and stays so while the bytes are used.
pub(crate) unsafe fn bytes<'a>(address: u64, length: usize) -> &'a [u8] {
    // SAFETY: the caller gives mapped memory.
    unsafe { std::slice::from_raw_parts(address as *const u8, length) }
}

/// Returns the text with a zero behind it at an address of the program. `None` if it cannot be read.
pub(crate) fn text(address: u64) -> Option<Vec<u8>> {
    text_up_to(address, 4096)
}

/// As [`text`], which can be this long.
pub(crate) fn text_up_to(address: u64, max_bytes: usize) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    let mut at = address;
    // Up to the end of a page at a time: what is behind it need not be mapped.
    while text.len() < max_bytes {
        let length = 4096 - (at & 4095);
        let mut page = vec![0u8; length as usize];
        let local = [page.as_mut_ptr() as u64, length];
        let remote = [at, length];
        let process = u64::from(std::process::id());
        // SAFETY: the kernel writes to the page alone, and checks the other address.
        let result = unsafe {
            system_call(
                u64::from(sys::__NR_process_vm_readv),
                [process, local.as_ptr() as u64, 1, remote.as_ptr() as u64, 1, 0],
            )
        };
        let count = usize::try_from(result).ok().filter(|count| *count > 0)?;
        match page[..count].iter().position(|byte| *byte == 0) {
            Some(end) => {
                text.extend_from_slice(&page[..end]);
                return Some(text);
            }
            None => text.extend_from_slice(&page[..count]),
        }
        at += count as u64;
    }
    None
}
