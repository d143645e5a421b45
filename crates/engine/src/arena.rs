//! Memory below 2 GB: code that was translated, and the counters that it changes.
//!
//! An address there fits a displacement of 32 bits, so no register is needed to reach it.
#![allow(unsafe_code)]

use linux_raw_sys::general as sys;

use crate::raw;

/// The address at which Valgrind has its own program, so that the memory of the recorded one is where it would be there.
pub(crate) const START: u64 = 0x5800_0000;
const CODE_BYTES: u64 = 0x1400_0000;
const CELLS_START: u64 = START + CODE_BYTES;
pub(crate) const END: u64 = 0x7800_0000;

/// Space that is kept for the code of one block.
const MAX_BLOCK_BYTES: u64 = 0x1_0000;

/// A counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cell(u32);

impl Cell {
    pub(crate) fn address(self) -> u32 {
        self.0
    }
}

/// The code cache and the counters.
#[derive(Debug)]
pub(crate) struct Arena {
    next_code: u64,
    next_cell: u64,
}

impl Arena {
    /// Reserves the memory. `None` if something is there.
    pub(crate) fn new() -> Option<Arena> {
        let access = sys::PROT_READ | sys::PROT_WRITE;
        let is_reserved = raw::reserve(START, CODE_BYTES, access | sys::PROT_EXEC)
            && raw::reserve(CELLS_START, END - CELLS_START, access);
        is_reserved.then_some(Arena { next_code: START, next_cell: CELLS_START })
    }

    /// Returns the address for the next code. `None` if the cache is full.
    pub(crate) fn code_address(&self) -> Option<u64> {
        (self.next_code + MAX_BLOCK_BYTES < CELLS_START).then_some(self.next_code)
    }

    /// Adds code at [`Arena::code_address`].
    pub(crate) fn add_code(&mut self, code: &[u8]) {
        assert!(code.len() as u64 <= MAX_BLOCK_BYTES, "a block is too long");
        // SAFETY: the range is reserved and behind all code so far.
        unsafe { raw::write_bytes(self.next_code, code) };
        self.next_code = (self.next_code + code.len() as u64).next_multiple_of(16);
    }

    /// `true` if an address is in the code cache.
    pub(crate) fn has_code(address: u64) -> bool {
        (START..CELLS_START).contains(&address)
    }

    /// Replaces bytes of code.
    pub(crate) fn patch(address: u64, bytes: &[u8]) {
        assert!(Arena::has_code(address), "{address:#x} is no translated code");
        // SAFETY: the range is the engine's.
        unsafe { raw::write_bytes(address, bytes) };
    }

    /// Takes counters that are 0. `None` if there are none left.
    pub(crate) fn cells(&mut self, count: u64) -> Option<Cell> {
        let cell = Cell(self.next_cell as u32);
        self.next_cell += 8 * count;
        (self.next_cell < END).then_some(cell)
    }
}

impl Cell {
    /// Returns the one that is `index` further.
    pub(crate) fn at(self, index: u32) -> Cell {
        Cell(self.0 + 8 * index)
    }

    pub(crate) fn get(self) -> u64 {
        // SAFETY: cells are in memory that stays reserved.
        unsafe { raw::read64(u64::from(self.0)) }
    }

    pub(crate) fn set(self, value: u64) {
        // SAFETY: cells are in memory that stays reserved.
        unsafe { raw::write64(u64::from(self.0), value) };
    }

    pub(crate) fn add(self, value: u64) {
        self.set(self.get().wrapping_add(value));
    }
}
