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

/// The least space that is left before anything is decided: enough for the code that one decision writes.
const SPARE_CODE_BYTES: u64 = 3 * MAX_BLOCK_BYTES;

/// The same for counters.
const SPARE_CELL_BYTES: u64 = 1 << 16;

/// The smallest code cache.
pub(crate) const MIN_CODE_BYTES: u64 = 2 * SPARE_CODE_BYTES;

/// The code cache and the counters.
#[derive(Debug)]
pub(crate) struct Arena {
    next_code: u64,
    code_end: u64,
    next_cell: u64,
}

impl Arena {
    /// Reserves the memory, with a code cache of a size. `None` if something is there.
    pub(crate) fn new(code_bytes: u64) -> Option<Arena> {
        let access = sys::PROT_READ | sys::PROT_WRITE;
        let is_reserved = raw::reserve(START, CODE_BYTES, access | sys::PROT_EXEC)
            && raw::reserve(CELLS_START, END - CELLS_START, access);
        let code_end = START + code_bytes.clamp(MIN_CODE_BYTES, CODE_BYTES);
        is_reserved.then_some(Arena { next_code: START, code_end, next_cell: CELLS_START })
    }

    /// `true` if the code cache must be emptied before more is decided.
    pub(crate) fn is_full(&self) -> bool {
        self.code_end - self.next_code < SPARE_CODE_BYTES
    }

    /// `true` if there is space for so much more code that the cache is not full then.
    pub(crate) fn has_space(&self, code_bytes: u64) -> bool {
        self.code_end - self.next_code >= SPARE_CODE_BYTES + code_bytes
    }

    /// `true` if there are counters for one more decision.
    pub(crate) fn has_cells(&self) -> bool {
        self.next_cell + SPARE_CELL_BYTES < END
    }

    /// Forgets the code from an address on.
    pub(crate) fn forget_code_from(&mut self, address: u64) {
        self.next_code = address;
    }

    /// Returns the address for the next code. `None` if the cache is full.
    pub(crate) fn code_address(&self) -> Option<u64> {
        (self.next_code + MAX_BLOCK_BYTES < self.code_end).then_some(self.next_code)
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
