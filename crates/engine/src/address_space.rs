//! The memory of the program: what is mapped where, and where the next mapping goes.
//!
//! Addresses are those that a program has under Valgrind: routines of the C library for text and memory take other paths on other
//! offsets in a page, and counts would differ.

use std::cell::Cell;
use std::collections::BTreeMap;

use linux_raw_sys::general as sys;

use crate::arena;

pub(crate) const PAGE_BYTES: u64 = 4096;

/// A mark beside the protection of memory that can also be written through another mapping.
pub(crate) const SHARED: u32 = 1 << 31;

/// A mark beside the protection of memory that has no file: code there is made by the program, which may change it.
pub(crate) const ANONYMOUS: u32 = 1 << 30;

/// The address of programs that can be anywhere.
pub(crate) const PROGRAM_START: u64 = 0x10_8000;

/// The address of the dynamic linker. Later mappings follow it.
pub(crate) const LINKER_START: u64 = 0x400_0000;

/// The end of the stack, and its length at least and at most.
pub(crate) const STACK_END: u64 = 0x1f_ff00_1000;
pub(crate) const STACK_BYTES: std::ops::RangeInclusive<u64> = 0x80_0000..=0x4000_0000;

/// The limit of the memory that `brk` gives.
pub(crate) const BREAK_BYTES: u64 = 0x80_0000;

/// The end of code whose addresses fit the operands of instructions. Other code is slower.
pub(crate) const MAX_CODE_ADDRESS: u64 = 0x7fff_0000;

/// Mappings that do not fit below the engine are above this.
const HIGH_START: u64 = 0x10_0000_0000;

/// Above it, the process itself has its memory.
const HIGH_END: u64 = 0x5000_0000_0000;

#[derive(Debug, Clone, Copy)]
struct Mapping {
    end: u64,
    protection: u32,
}

/// The mappings of the program.
#[derive(Debug, Default)]
pub(crate) struct AddressSpace {
    mappings: BTreeMap<u64, Mapping>,
    /// The start of a search.
    first: u64,
    /// The start of the mapping that was found last, and the mapping.
    recent: Cell<Option<(u64, Mapping)>>,
}

/// Rounds up to whole pages.
pub(crate) fn page_end(address: u64) -> u64 {
    address.saturating_add(PAGE_BYTES - 1) & !(PAGE_BYTES - 1)
}

/// Rounds down to whole pages.
pub(crate) fn page_start(address: u64) -> u64 {
    address & !(PAGE_BYTES - 1)
}

impl AddressSpace {
    /// Begins the search for free memory at an address.
    pub(crate) fn search_from(&mut self, first: u64) {
        self.first = first;
    }

    /// Notes a mapping, in place of those that are there.
    pub(crate) fn add(&mut self, start: u64, length: u64, protection: u32) {
        let end = page_end(start + length);
        self.remove(start, length);
        self.mappings.insert(start, Mapping { end, protection });
    }

    /// Notes that nothing is mapped in a range.
    pub(crate) fn remove(&mut self, start: u64, length: u64) {
        let end = page_end(start + length);
        self.split(start);
        self.split(end);
        let inside: Vec<u64> = self.mappings.range(start..end).map(|(start, _)| *start).collect();
        for start in inside {
            self.mappings.remove(&start);
        }
    }

    /// Notes another protection of a range.
    pub(crate) fn protect(&mut self, start: u64, length: u64, protection: u32) {
        let end = page_end(start + length);
        self.split(start);
        self.split(end);
        for (_, mapping) in self.mappings.range_mut(start..end) {
            mapping.protection = protection | mapping.protection & (SHARED | ANONYMOUS);
        }
    }

    /// Makes a mapping that goes across an address two. It begins each change.
    fn split(&mut self, at: u64) {
        self.recent.set(None);
        let Some((_, before)) = self.mappings.range_mut(..at).next_back() else { return };
        if before.end > at {
            let after = Mapping { ..*before };
            before.end = at;
            self.mappings.insert(at, after);
        }
    }

    fn at(&self, address: u64) -> Option<(u64, Mapping)> {
        let holds = |(start, mapping): &(u64, Mapping)| (*start..mapping.end).contains(&address);
        if let Some(recent) = self.recent.get().filter(holds) {
            return Some(recent);
        }
        let found = self.mappings.range(..=address).next_back();
        let found = found.map(|(start, mapping)| (*start, *mapping)).filter(holds);
        self.recent.set(found);
        found
    }

    /// Returns the start of the mapping of an address.
    pub(crate) fn start(&self, address: u64) -> Option<u64> {
        self.at(address).map(|(start, _)| start)
    }

    /// Returns the protection of a page. `None` if nothing is mapped.
    pub(crate) fn protection(&self, address: u64) -> Option<u32> {
        self.at(address).map(|(_, mapping)| mapping.protection)
    }

    /// `true` if something in a range is mapped as code.
    pub(crate) fn has_code(&self, start: u64, length: u64) -> bool {
        let end = page_end(start.saturating_add(length));
        // The mapping before can reach into it.
        let mapped = self.mappings.range(..end).rev().take_while(|(_, mapping)| mapping.end > start);
        mapped.into_iter().any(|(_, mapping)| mapping.protection & sys::PROT_EXEC != 0)
    }

    /// `true` if code at an address can change without notice.
    pub(crate) fn has_changing_code(&self, address: u64) -> bool {
        let marks = sys::PROT_WRITE | SHARED | ANONYMOUS;
        self.protection(address)
            .is_some_and(|protection| protection & sys::PROT_EXEC != 0 && protection & marks != 0)
    }

    /// `true` if a whole range is memory without a file.
    pub(crate) fn is_anonymous(&self, start: u64, length: u64) -> bool {
        let end = page_end(start.saturating_add(length));
        let mut at = start;
        while at < end
            && let Some((_, mapping)) = self.at(at).filter(|(_, mapping)| mapping.protection & ANONYMOUS != 0)
        {
            at = mapping.end;
        }
        at >= end
    }

    /// Returns how much is mapped with a protection.
    pub(crate) fn length(&self, protection: u32) -> u64 {
        let mapped =
            self.mappings.iter().filter(|(_, mapping)| mapping.protection & protection == protection);
        mapped.map(|(start, mapping)| mapping.end - start).sum()
    }

    /// Returns the end of the code that is mapped from an address on. `None` if there is none.
    pub(crate) fn code_end(&self, address: u64) -> Option<u64> {
        let mut end = address;
        while let Some((_, mapping)) =
            self.at(end).filter(|(_, mapping)| mapping.protection & sys::PROT_EXEC != 0)
        {
            end = mapping.end;
            if end - address > PAGE_BYTES {
                break;
            }
        }
        (end > address).then_some(end)
    }

    /// `true` if nothing is mapped in a range, and it is not the engine's.
    pub(crate) fn is_free(&self, start: u64, length: u64) -> bool {
        let end = page_end(start.saturating_add(length));
        let is_below = end <= arena::START || start >= arena::END && end <= HIGH_END;
        let before = self.mappings.range(..end).next_back();
        is_below && start >= 0x1_0000 && before.is_none_or(|(_, mapping)| mapping.end <= start)
    }

    /// `true` if a range belongs to the engine, in part.
    pub(crate) fn is_foreign(start: u64, length: u64) -> bool {
        let end = start.saturating_add(length);
        start < arena::END && end > arena::START || end > HIGH_END
    }

    /// Returns the first free range.
    pub(crate) fn find(&self, length: u64) -> Option<u64> {
        let length = page_end(length);
        let mut start = self.first;
        for (mapped, mapping) in self.mappings.range(..) {
            let (mapped, end) = (*mapped, mapping.end);
            if end <= start {
                continue;
            }
            if mapped >= start.saturating_add(length) && self.is_free(start, length) {
                return Some(start);
            }
            start = end;
        }
        for start in [start, arena::END, HIGH_START] {
            if self.is_free(start, length) {
                return Some(start);
            }
        }
        let above = self.mappings.values().map(|mapping| mapping.end).max()?.max(HIGH_START);
        self.is_free(above, length).then_some(above)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_gap_is_taken() {
        let mut space = AddressSpace::default();
        space.search_from(0x480_0000);
        space.add(0x480_0000, 0x2000, sys::PROT_READ);
        space.add(0x480_3000, 0x1000, sys::PROT_READ);
        assert_eq!((space.find(0x1000), space.find(0x1001)), (Some(0x480_2000), Some(0x480_4000)));
        space.remove(0x480_1000, 0x800);
        assert_eq!(
            (space.find(0x2000), space.protection(0x480_0fff)),
            (Some(0x480_1000), Some(sys::PROT_READ))
        );
        assert_eq!(space.protection(0x480_1000), None);
    }

    #[test]
    fn a_range_of_the_engine_is_not_given() {
        let mut space = AddressSpace::default();
        space.search_from(0x480_0000);
        assert_eq!(space.find(0x6000_0000), Some(arena::END));
        assert!(!space.is_free(arena::START - 0x1000, 0x2000) && AddressSpace::is_foreign(arena::START, 1));
    }

    #[test]
    fn protection_is_kept_by_page() {
        let mut space = AddressSpace::default();
        space.add(0x40_0000, 0x5000, sys::PROT_READ);
        space.protect(0x40_1000, 0x2000, sys::PROT_READ | sys::PROT_EXEC);
        assert_eq!((space.code_end(0x40_1800), space.code_end(0x40_0800)), (Some(0x40_3000), None));
        let has_code = |start| space.has_code(start, 0x1000);
        assert_eq!(
            [0x40_0000, 0x40_0fff, 0x40_2000, 0x40_2fff, 0x40_3000].map(has_code),
            [false, true, true, true, false]
        );
        assert_eq!(space.protection(0x40_3000), Some(sys::PROT_READ));
    }
}
