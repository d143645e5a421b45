//! Memory below 2 GB: code that was translated, and tables of it. An address there fits a displacement of 32 bits, so no register is
//! needed to reach it. And the counters that code changes: each thread has its own, at the same offsets from the base of `gs`.
//!
//! Other threads run code while it is changed. A change is one store within 8 aligned bytes.
#![allow(unsafe_code)]

use linux_raw_sys::general as sys;

use crate::raw;

/// The address at which Valgrind has its own program, so that the memory of the recorded one is where it would be there.
pub(crate) const START: u64 = 0x5800_0000;
const CODE_BYTES: u64 = 0x1400_0000;
const TABLES_START: u64 = START + CODE_BYTES;
const MARKS_START: u64 = 0x7600_0000;
pub(crate) const END: u64 = 0x7800_0000;

/// Code of a block begins at multiples of this.
const CODE_ALIGNMENT: u64 = 16;

/// Counters are behind the state of the thread.
pub(crate) const CELLS_OFFSET: u64 = 0x1_0000;
const CELLS_END: u64 = CELLS_OFFSET + 0x0c00_0000;

/// The memory of a thread. What is not touched takes none.
pub(crate) const THREAD_BYTES: u64 = CELLS_END;

/// Space that is kept for the code of one block.
const MAX_BLOCK_BYTES: u64 = 0x1_0000;

/// A counter, by its offset in the memory of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cell(u32);

/// A table of addresses of code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Table(u32);

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
    next_table: u64,
}

impl Arena {
    /// Reserves the memory, with a code cache of a size. `None` if something is there.
    pub(crate) fn new(code_bytes: u64) -> Option<Arena> {
        let access = sys::PROT_READ | sys::PROT_WRITE;
        let is_reserved = raw::reserve(START, CODE_BYTES, access | sys::PROT_EXEC)
            && raw::reserve(TABLES_START, END - TABLES_START, access);
        let code_end = START + code_bytes.clamp(MIN_CODE_BYTES, CODE_BYTES);
        let (next_cell, next_table) = (CELLS_OFFSET, TABLES_START);
        is_reserved.then_some(Arena { next_code: START, code_end, next_cell, next_table })
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
        self.next_cell + SPARE_CELL_BYTES < CELLS_END && self.next_table + SPARE_CELL_BYTES < MARKS_START
    }

    /// Forgets the code from an address on.
    pub(crate) fn forget_code_from(&mut self, address: u64) {
        let length = (mark_of(self.next_code) + 1).saturating_sub(mark_of(address));
        // SAFETY: the range is the engine's, and has marks.
        unsafe { raw::write_bytes(mark_of(address), &vec![0; length as usize]) };
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
        self.next_code = (self.next_code + code.len() as u64).next_multiple_of(CODE_ALIGNMENT);
    }

    /// `true` if an address is in the code cache.
    pub(crate) fn has_code(address: u64) -> bool {
        (START..TABLES_START).contains(&address)
    }

    /// Replaces the displacement at an address, which does not cross a multiple of 8.
    pub(crate) fn patch(address: u64, displacement: u32) {
        assert!(Arena::has_code(address), "{address:#x} is no translated code");
        debug_assert!(address % 8 <= 4);
        // SAFETY: the range is the engine's.
        unsafe { raw::replace32(address, displacement) };
    }

    /// Replaces the first bytes of the code of a block.
    pub(crate) fn patch_start(address: u64, bytes: [u8; 5]) {
        assert!(
            Arena::has_code(address) && address.is_multiple_of(CODE_ALIGNMENT),
            "{address:#x} is no block"
        );
        // SAFETY: the range is the engine's, and aligned.
        unsafe {
            let mut word = raw::read64(address).to_ne_bytes();
            word[..5].copy_from_slice(&bytes);
            raw::replace64(address, u64::from_ne_bytes(word));
        }
    }

    /// Notes that the code of a block begins at an address.
    pub(crate) fn mark_block(code: u64) {
        // SAFETY: marks are in memory that stays reserved.
        unsafe { raw::write_bytes(mark_of(code), &[1]) };
    }

    /// `true` if the code of a block begins at an address. The handler of signals may ask that.
    pub(crate) fn begins_block(code: u64) -> bool {
        // SAFETY: marks are in memory that stays reserved.
        Arena::has_code(code)
            && code.is_multiple_of(CODE_ALIGNMENT)
            && unsafe { raw::bytes(mark_of(code), 1) } == [1]
    }

    /// Takes counters that are 0 in all threads. `None` if there are none left.
    pub(crate) fn cells(&mut self, count: u64) -> Option<Cell> {
        let cell = Cell(self.next_cell as u32);
        self.next_cell += 8 * count;
        (self.next_cell < CELLS_END).then_some(cell)
    }

    /// Makes a table of the numbers from 0, and returns its address. `None` if there is no space left.
    pub(crate) fn numbers(&mut self, max: usize) -> Option<u32> {
        let table = self.table(max as u64 + 1)?;
        for number in 0..=max as u32 {
            table.set(number, number.into());
        }
        Some(table.address())
    }

    /// Takes a table. `None` if there is no space left.
    pub(crate) fn table(&mut self, count: u64) -> Option<Table> {
        let table = Table(self.next_table as u32);
        self.next_table += 8 * count;
        (self.next_table < MARKS_START).then_some(table)
    }
}

/// Returns the address of the mark of code: a byte.
fn mark_of(code: u64) -> u64 {
    MARKS_START + (code - START) / CODE_ALIGNMENT
}

impl Table {
    pub(crate) fn address(self) -> u32 {
        self.0
    }

    pub(crate) fn get(self, index: u32) -> u64 {
        // SAFETY: tables are in memory that stays reserved.
        unsafe { raw::read64(u64::from(self.0 + 8 * index)) }
    }

    pub(crate) fn set(self, index: u32, value: u64) {
        // SAFETY: tables are in memory that stays reserved, and aligned.
        unsafe { raw::replace64(u64::from(self.0 + 8 * index), value) }
    }
}

impl Cell {
    /// Returns the one that is `index` further.
    pub(crate) fn at(self, index: u32) -> Cell {
        Cell(self.0 + 8 * index)
    }

    /// Returns the offset from the base of `gs`.
    pub(crate) fn offset(self) -> i32 {
        self.0 as i32
    }

    /// Returns the count of the thread whose memory begins at an address.
    pub(crate) fn of(self, thread: u64) -> u64 {
        // SAFETY: the memory of threads stays reserved.
        unsafe { raw::read64(thread + u64::from(self.0)) }
    }

    /// Sets the count of a thread.
    pub(crate) fn set(self, thread: u64, value: u64) {
        // SAFETY: the memory of threads stays reserved.
        unsafe { raw::write64(thread + u64::from(self.0), value) };
    }

    /// Adds to the count of a thread.
    pub(crate) fn add(self, thread: u64, value: u64) {
        self.set(thread, self.of(thread).wrapping_add(value));
    }
}
