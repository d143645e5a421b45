//! The page of the first fast system calls (vsyscall). The kernel runs its functions for the program, and mostly lets nobody read them.
//! Static programs of old C libraries call them.

use std::sync::OnceLock;

use linux_raw_sys::general as sys;

const START: u64 = 0xffff_ffff_ff60_0000;

/// The distance of the functions.
const DISTANCE: usize = 0x400;

static FUNCTIONS: [[u8; 10]; 3] =
    [calling(sys::__NR_gettimeofday), calling(sys::__NR_time), calling(sys::__NR_getcpu)];

/// `mov rax, number; syscall; ret`, as the kernel shows them to those that may read them.
const fn calling(number: u32) -> [u8; 10] {
    let [first, second, third, fourth] = number.to_le_bytes();
    [0x48, 0xc7, 0xc0, first, second, third, fourth, 0x0f, 0x05, 0xc3]
}

/// Returns the code of the function that an address is in, from there on. `None` for other addresses, and if the kernel has no such page.
pub(crate) fn code_at(address: u64) -> Option<&'static [u8]> {
    let offset = usize::try_from(address.checked_sub(START)?).ok()?;
    let code = FUNCTIONS.get(offset / DISTANCE)?.get(offset % DISTANCE..)?;
    is_mapped().then_some(code)
}

fn is_mapped() -> bool {
    static IS_MAPPED: OnceLock<bool> = OnceLock::new();
    *IS_MAPPED.get_or_init(|| {
        // A program can have given up the right to open files. Nearly all kernels have the page.
        std::fs::read("/proc/self/maps")
            .map_or(true, |mappings| mappings.windows(NAME.len()).any(|name| name == NAME))
    })
}

const NAME: &[u8] = b"[vsyscall]";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_function_makes_its_call() {
        let expected = |code: &'static [u8]| is_mapped().then_some(code);
        assert_eq!(code_at(START), expected(&[0x48, 0xc7, 0xc0, 96, 0, 0, 0, 0x0f, 0x05, 0xc3]));
        assert_eq!(code_at(START + 0x400), expected(&[0x48, 0xc7, 0xc0, 201, 0, 0, 0, 0x0f, 0x05, 0xc3]));
        assert_eq!(code_at(START + 0x803), expected(&[53, 1, 0, 0, 0x0f, 0x05, 0xc3]));
        for address in [0, START - 1, START + 11, START + 0xc00, u64::MAX] {
            assert_eq!(code_at(address), None);
        }
    }
}
