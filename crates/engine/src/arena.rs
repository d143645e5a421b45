//! Memory below 2 GB: code that was translated, and tables of it. An address there fits a displacement of 32 bits, so no register is
//! needed to reach it. And the counters that code changes: each thread has its own, at the same offsets from the base of `gs`.
//!
//! Other threads run code while it is changed. A change is one store within 8 aligned bytes.
#![allow(unsafe_code)]

use std::ops::Range;

use linux_raw_sys::general as sys;

use crate::asm::NOTHING;
use crate::raw;

/// The address at which Valgrind has its own program, so that the memory of the recorded one is where it would be there.
pub(crate) const START: u64 = 0x5800_0000;
const CODE_BYTES: u64 = 0x1400_0000;
const TABLES_START: u64 = START + CODE_BYTES;
const MARKS_START: u64 = 0x7300_0000;
const BOUNDARIES_START: u64 = MARKS_START + CODE_BYTES / CODE_ALIGNMENT;
pub(crate) const END: u64 = 0x7800_0000;

/// Each byte of code has a bit that tells whether an instruction of the program begins there.
const BOUNDARIES_PER_BYTE: u64 = 8;
const _: () = assert!(BOUNDARIES_START + CODE_BYTES / BOUNDARIES_PER_BYTE <= END);

/// Code of a block begins at multiples of this.
const CODE_ALIGNMENT: u64 = 8;

/// Counters are behind the state of the thread.
pub(crate) const CELLS_OFFSET: u64 = 0x1_0000;

/// The most memory of a thread.
pub(crate) const MAX_THREAD_BYTES: u64 = CELLS_OFFSET + 0x0c00_0000;

/// Space that is kept for the code of one block.
const MAX_BLOCK_BYTES: u64 = 0x1_0000;

/// The same for code that a return goes on with, and the space that is taken for it at once.
const MAX_RETURN_BYTES: u64 = 256;
const RETURNS_BYTES: u64 = 0x1000;

/// The opcode of a jump with a displacement of 4 bytes.
const JUMP: u8 = 0xe9;

/// A counter, by its offset in the memory of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cell(u32);

/// The count of calls of a function that have not returned, up to a maximum: translated code only stores and compares it. An addition to it
/// would wait for that of the call before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Depth(Cell);

/// The cost of calls, and their count behind it: translated code adds to both at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CallCells(Cell);

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
    /// The start of code that runs rarely: it is written from the end of the cache downwards, so that other code is dense.
    rare_code: u64,
    code_end: u64,
    /// The rest of the space for code that returns go on with.
    returns: Range<u64>,
    next_cell: u64,
    cells_end: u64,
    next_table: u64,
}

impl Arena {
    /// Reserves the memory, with a code cache of a size, for threads that have memory of a size. `None` if something is there.
    pub(crate) fn new(code_bytes: u64, thread_bytes: u64) -> Option<Arena> {
        let is_reserved = Arena::reserve();
        // Neither the first blocks nor the first code that runs rarely.
        raw::prefer_large_pages(START, CODE_BYTES - raw::LARGE_PAGE_BYTES);
        let code_end = START + code_bytes.clamp(MIN_CODE_BYTES, CODE_BYTES);
        let (next_cell, next_table) = (CELLS_OFFSET, TABLES_START);
        let (next_code, rare_code) = (START, code_end);
        let (returns, cells_end) = (0..0, thread_bytes);
        is_reserved.then_some(Arena {
            next_code,
            rare_code,
            code_end,
            returns,
            next_cell,
            cells_end,
            next_table,
        })
    }

    /// `true` if [`Arena::new`] can reserve its memory in a process like this one.
    pub(crate) fn has_memory() -> bool {
        let is_reserved = Arena::reserve();
        if is_reserved {
            // SAFETY: it was reserved just now.
            unsafe { raw::unmap(START, END - START) };
        }
        is_reserved
    }

    /// Reserves the memory for code and tables. `false` if that is not possible; then none is reserved.
    fn reserve() -> bool {
        let access = sys::PROT_READ | sys::PROT_WRITE;
        let has_code = raw::reserve(START, CODE_BYTES, access | sys::PROT_EXEC);
        let has_tables = has_code && raw::reserve(TABLES_START, END - TABLES_START, access);
        if has_code && !has_tables {
            // SAFETY: it was reserved just now.
            unsafe { raw::unmap(START, CODE_BYTES) };
        }
        has_tables
    }

    /// `true` if the code cache must be emptied before more is decided.
    pub(crate) fn is_full(&self) -> bool {
        self.rare_code - self.next_code < SPARE_CODE_BYTES
    }

    /// `true` if there is space for so much more code that the cache is not full then.
    pub(crate) fn has_space(&self, code_bytes: u64) -> bool {
        self.rare_code - self.next_code >= SPARE_CODE_BYTES + code_bytes
    }

    /// `true` if there are counters for one more decision.
    pub(crate) fn has_cells(&self) -> bool {
        self.next_cell + SPARE_CELL_BYTES < self.cells_end && self.next_table + SPARE_CELL_BYTES < MARKS_START
    }

    /// `true` if tables that only save time may be made: others must have space, too.
    pub(crate) fn has_space_for_tables(&self) -> bool {
        self.next_table < (TABLES_START + MARKS_START) / 2
    }

    /// Forgets the code from an address on.
    pub(crate) fn forget_code_from(&mut self, address: u64) {
        for marks in [mark_of, boundary_of] {
            let length = (marks(self.next_code) + 1).saturating_sub(marks(address));
            // SAFETY: the range is the engine's, and has marks.
            unsafe { raw::write_bytes(marks(address), &vec![0; length as usize]) };
        }
        (self.next_code, self.rare_code, self.returns) = (address, self.code_end, 0..0);
    }

    /// Gives the memory of all code back, which will not run again.
    pub(crate) fn release_code(&mut self) {
        // SAFETY: the range is the engine's, and holds code alone.
        unsafe { raw::empty(START, CODE_BYTES) };
    }

    /// Returns the address for the next code. `None` if the cache is full.
    pub(crate) fn code_address(&self) -> Option<u64> {
        (self.next_code + MAX_BLOCK_BYTES < self.rare_code).then_some(self.next_code)
    }

    /// Adds code at [`Arena::code_address`]. Code that goes on behind it does nothing until the next one begins.
    pub(crate) fn add_code(&mut self, code: &[u8]) {
        assert!(code.len() as u64 <= MAX_BLOCK_BYTES, "a block is too long");
        // SAFETY: the range is reserved and behind all code so far, and so is the space up to the next code.
        unsafe { raw::write_bytes(self.next_code, code) };
        let end = self.next_code + code.len() as u64;
        self.next_code = end.next_multiple_of(CODE_ALIGNMENT);
        // SAFETY: as above.
        unsafe { raw::write_bytes(end, &filling((self.next_code - end) as usize)) };
    }

    /// Returns the address for the next code that a return goes on with. It is not between blocks, so that more of them follow on each
    /// other. `None` if the cache is full.
    pub(crate) fn return_address(&mut self) -> Option<u64> {
        if self.returns.end - self.returns.start < MAX_RETURN_BYTES {
            let start = self.code_address()?;
            self.next_code = start + RETURNS_BYTES;
            self.returns = start..self.next_code;
        }
        Some(self.returns.start)
    }

    /// Adds code at [`Arena::return_address`].
    pub(crate) fn add_return(&mut self, code: &[u8]) {
        assert!(code.len() as u64 <= MAX_RETURN_BYTES, "code that a return goes on with is too long");
        // SAFETY: the range is reserved, and used for this alone.
        unsafe { raw::write_bytes(self.returns.start, code) };
        self.returns.start += (code.len() as u64).next_multiple_of(CODE_ALIGNMENT);
    }

    /// Links a jump whose displacement is at an address to the code of a block. If that follows on it, the jump becomes an instruction that
    /// does nothing: other threads run either.
    pub(crate) fn link(patch: u64, code: u64) {
        let (jump, end) = (patch - 1, patch + 4);
        let between = filling((code.wrapping_sub(end) % CODE_ALIGNMENT) as usize);
        // SAFETY: displacements are behind an opcode, and blocks behind what comes before them.
        let (opcode, found) = unsafe { (raw::bytes(jump, 1)[0], raw::bytes(end, between.len())) };
        if opcode == NOTHING[5][0] {
            // Another thread was on its way here, too, and came first.
            return;
        }
        // The end of the code before, or other ways out of it, can be between.
        let follows = end + between.len() as u64 == code && found == between;
        if follows && opcode == JUMP && jump % 8 <= 3 {
            Arena::replace(jump, NOTHING[5]);
        } else {
            Arena::patch(patch, crate::asm::displacement(patch, code));
        }
    }

    /// Adds code that runs rarely, and returns its address. It does not depend on that. There is space for it wherever there is for a block.
    pub(crate) fn add_rare_code(&mut self, code: &[u8]) -> u64 {
        self.rare_code -= code.len() as u64;
        assert!(self.next_code < self.rare_code, "there is no space for code");
        // SAFETY: the range is reserved, and between all code so far.
        unsafe { raw::write_bytes(self.rare_code, code) };
        self.rare_code
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
        assert!(address.is_multiple_of(CODE_ALIGNMENT), "{address:#x} is no block");
        Arena::replace(address, &bytes);
    }

    /// Replaces bytes of code, which do not cross a multiple of 8.
    fn replace(address: u64, bytes: &[u8]) {
        assert!(Arena::has_code(address), "{address:#x} is no translated code");
        let start = (address % 8) as usize;
        // SAFETY: the range is the engine's, and aligned.
        unsafe {
            let mut word = raw::read64(address - start as u64).to_ne_bytes();
            word[start..start + bytes.len()].copy_from_slice(bytes);
            raw::replace64(address - start as u64, u64::from_ne_bytes(word));
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

    /// Notes that at an address of the code of a block, all registers are those of the program.
    pub(crate) fn mark_boundary(code: u64) {
        let address = boundary_of(code);
        // SAFETY: marks are in memory that stays reserved.
        unsafe { raw::write_bytes(address, &[raw::bytes(address, 1)[0] | boundary_bit(code)]) };
    }

    /// `true` if at an address of code all registers are those of the program. The handler of signals may ask that.
    pub(crate) fn is_boundary(code: u64) -> bool {
        // SAFETY: marks are in memory that stays reserved.
        Arena::has_code(code) && unsafe { raw::bytes(boundary_of(code), 1) }[0] & boundary_bit(code) != 0
    }

    /// Takes a counter of calls that have not returned. `None` if there is none left.
    pub(crate) fn depth(&mut self) -> Option<Depth> {
        self.cells(1).map(Depth)
    }

    /// Takes counters of calls. `None` if there are none left.
    pub(crate) fn call_cells(&mut self) -> Option<CallCells> {
        // They do not cross a line of the cache.
        self.next_cell = self.next_cell.next_multiple_of(CallCells::BYTES);
        self.cells(2).map(CallCells)
    }

    /// Takes counters that are 0 in all threads. `None` if there are none left.
    pub(crate) fn cells(&mut self, count: u64) -> Option<Cell> {
        let cell = Cell(self.next_cell as u32);
        self.next_cell += 8 * count;
        (self.next_cell < self.cells_end).then_some(cell)
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

/// Returns the address of the byte with the mark of an address in code.
fn boundary_of(code: u64) -> u64 {
    BOUNDARIES_START + (code - START) / BOUNDARIES_PER_BYTE
}

fn boundary_bit(code: u64) -> u8 {
    1 << (code % BOUNDARIES_PER_BYTE)
}

/// Returns instructions that do nothing, of less than 16 bytes together.
fn filling(length: usize) -> Vec<u8> {
    let last = length.min(NOTHING.len() - 1);
    [NOTHING[length - last], NOTHING[last]].concat()
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

impl Depth {
    /// Returns the offset from the base of `gs`.
    pub(crate) fn offset(self) -> i32 {
        self.0.offset()
    }

    /// Returns how many calls of a thread have not returned.
    pub(crate) fn of(self, thread: u64) -> u64 {
        self.0.of(thread)
    }

    /// Notes how many calls of a thread have not returned.
    pub(crate) fn set(self, thread: u64, count: u64) {
        self.0.set(thread, count);
    }
}

impl CallCells {
    const BYTES: u64 = 16;

    pub(crate) fn cost(self) -> Cell {
        self.0
    }

    pub(crate) fn count(self) -> Cell {
        Cell(self.0.0 + 8)
    }

    /// Adds to the counts of a thread.
    pub(crate) fn add(self, thread: u64, count: u64, cost: u64) {
        self.count().add(thread, count);
        self.cost().add(thread, cost);
    }
}

impl Cell {
    /// Returns the offset from the base of `gs`.
    pub(crate) fn offset(self) -> i32 {
        self.0 as i32
    }

    /// Returns the count of the thread whose memory begins at an address.
    pub(crate) fn of(self, thread: u64) -> u64 {
        // SAFETY: the memory of threads stays reserved.
        unsafe { raw::read64(thread + u64::from(self.0)) }
    }

    /// Adds up the counts of threads, by the addresses of their memory.
    pub(crate) fn sum(self, threads: &[u64]) -> u64 {
        threads.iter().map(|thread| self.of(*thread)).fold(0, u64::wrapping_add)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asm::displacement;

    #[test]
    fn a_jump_to_what_follows_becomes_nothing() {
        let Some(mut arena) = Arena::new(u64::MAX, MAX_THREAD_BYTES) else { return };
        let jump = |at: u64, behind: &[u8]| {
            let mut code = vec![0xe9; 1];
            code.extend_from_slice(&displacement(at + 1, START).to_le_bytes());
            code.extend_from_slice(behind);
            code
        };
        let mut linked = |before: usize, behind: &[u8]| {
            let start = arena.code_address().unwrap();
            let at = start + before as u64;
            arena.add_code(&[vec![0x90; before], jump(at, behind)].concat());
            let next = arena.code_address().unwrap();
            // Two threads can do so at once.
            Arena::link(at + 1, next);
            Arena::link(at + 1, next);
            // SAFETY: the code was added above.
            let code = unsafe { raw::bytes(at, (next - at) as usize) };
            (code[..5].to_vec(), displacement(at + 1, next).to_le_bytes(), code[5..].to_vec())
        };
        for before in [0, 1, 2, 3, 8, 9, 10, 11] {
            let (found, _, behind) = linked(before, &[]);
            assert_eq!(found, NOTHING[5]);
            // Up to the next code, it does nothing.
            let decoder = iced_x86::Decoder::new(64, &behind, iced_x86::DecoderOptions::NONE);
            let is_nop =
                |instruction: iced_x86::Instruction| instruction.mnemonic() == iced_x86::Mnemonic::Nop;
            assert!(decoder.into_iter().all(is_nop), "{behind:x?}");
        }
        // It crosses a multiple of 8, or other code is between.
        for (before, behind) in [(7, &[][..]), (0, &[0xe9, 0, 0, 0, 0]), (8, &[0xc3]), (0, &[0x90; 20])] {
            let (found, displacement, _) = linked(before, behind);
            assert_eq!(found, [&[0xe9][..], &displacement].concat(), "{before}");
        }
    }
}
