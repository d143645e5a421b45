//! The memory of the program: what is mapped where, and where the next mapping goes.
//!
//! Addresses are those that a program has under Valgrind: routines of the C library for text and memory take other paths on other
//! offsets in a page, and counts would differ.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::Range;

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

/// Above it, the process itself has its memory: its program, and from the end downwards its libraries and what it reserves.
const HIGH_END: u64 = 0x5000_0000_0000;

/// A range between these two, which programs ask for by address.
const BETWEEN: Range<u64> = 0x5800_0000_0000..0x7d00_0000_0000;

/// Gaps are distinguished by their pages, each power of 2 in this many steps.
const STEPS: u64 = 8;
const CLASSES: usize = 36 * STEPS as usize;

/// Returns the class of a length, and the least count of pages in it.
fn class_of(length: u64) -> (usize, u64) {
    let pages = (length / PAGE_BYTES).max(1);
    let power = pages.ilog2();
    let shift = power.saturating_sub(STEPS.ilog2());
    let least = pages >> shift << shift;
    ((u64::from(power) * STEPS + (pages >> shift) % STEPS) as usize, least)
}

#[derive(Debug, Clone, Copy)]
struct Mapping {
    end: u64,
    protection: u32,
}

/// A range in which free memory is searched.
#[derive(Debug)]
struct Area {
    range: Range<u64>,
    /// By class: below this address, no gap of this many pages begins.
    searched: [u64; CLASSES],
}

/// The mappings of the program.
#[derive(Debug)]
pub(crate) struct AddressSpace {
    mappings: BTreeMap<u64, Mapping>,
    /// The bytes that are mapped, and those of them that can be written.
    mapped_bytes: u64,
    writable_bytes: u64,
    /// The bytes of these that no limit counts.
    uncounted_bytes: u64,
    /// The areas that are searched: below the engine, and far above it.
    areas: [Area; 2],
    /// The start of the mapping that was found last, and the mapping.
    recent: Cell<Option<(u64, Mapping)>>,
}

/// Returns the protection that memory of the program has for the processor. That never runs the program's own code: a jump there by
/// mistake is a fault, not an uncounted run. The engine reads code.
pub(crate) fn protection_of_host(protection: u32) -> u32 {
    let read = if protection & sys::PROT_EXEC == 0 { 0 } else { sys::PROT_READ };
    protection & !sys::PROT_EXEC | read
}

/// Rounds up to whole pages.
pub(crate) fn page_end(address: u64) -> u64 {
    address.saturating_add(PAGE_BYTES - 1) & !(PAGE_BYTES - 1)
}

/// Rounds down to whole pages.
pub(crate) fn page_start(address: u64) -> u64 {
    address & !(PAGE_BYTES - 1)
}

impl Area {
    fn new(range: Range<u64>) -> Area {
        Area { searched: [range.start; CLASSES], range }
    }
}

impl AddressSpace {
    pub(crate) fn new() -> AddressSpace {
        AddressSpace {
            mappings: BTreeMap::new(),
            mapped_bytes: 0,
            writable_bytes: 0,
            uncounted_bytes: 0,
            areas: [Area::new(0..arena::START), Area::new(HIGH_START..HIGH_END)],
            recent: Cell::new(None),
        }
    }

    /// Begins the search for free memory at an address.
    pub(crate) fn search_from(&mut self, first: u64) {
        self.areas[0] = Area::new(first..arena::START);
    }

    /// Notes a mapping, in place of those that are there. Neighbours that are alike are one.
    pub(crate) fn add(&mut self, start: u64, length: u64, protection: u32) {
        let end = page_end(start + length);
        self.cut(start, end);
        self.insert(start, Mapping { end, protection });
        self.join(start);
        self.join(end);
    }

    /// Notes that nothing is mapped in a range.
    pub(crate) fn remove(&mut self, start: u64, length: u64) {
        self.cut(start, page_end(start + length));
        let before = self.mappings.range(..start).next_back().map_or(0, |(_, mapping)| mapping.end);
        for area in self.areas.iter_mut().filter(|area| area.range.contains(&start)) {
            let gap = before.max(area.range.start);
            area.searched.iter_mut().for_each(|searched| *searched = gap.min(*searched));
        }
    }

    /// Notes another protection of a range.
    pub(crate) fn protect(&mut self, start: u64, length: u64, protection: u32) {
        let end = page_end(start + length);
        self.split(start);
        self.split(end);
        let inside: Vec<u64> = self.mappings.range(start..end).map(|(start, _)| *start).collect();
        for start in &inside {
            if let Some(mapping) = self.take(*start) {
                let marks = mapping.protection & (SHARED | ANONYMOUS);
                self.insert(*start, Mapping { protection: protection | marks, ..mapping });
                self.join(*start);
            }
        }
        self.join(end);
    }

    fn insert(&mut self, start: u64, mapping: Mapping) {
        self.recent.set(None);
        self.mapped_bytes += mapping.end - start;
        self.writable_bytes += mapping.writable_bytes(start);
        self.mappings.insert(start, mapping);
    }

    fn take(&mut self, start: u64) -> Option<Mapping> {
        self.recent.set(None);
        let mapping = self.mappings.remove(&start)?;
        self.mapped_bytes -= mapping.end - start;
        self.writable_bytes -= mapping.writable_bytes(start);
        Some(mapping)
    }

    /// Takes out what is mapped in a range.
    fn cut(&mut self, start: u64, end: u64) {
        self.split(start);
        self.split(end);
        while let Some((inside, _)) = self.mappings.range(start..end).next() {
            let inside = *inside;
            self.take(inside);
        }
    }

    /// Makes a mapping that goes across an address two.
    fn split(&mut self, at: u64) {
        self.recent.set(None);
        let Some((_, before)) = self.mappings.range_mut(..at).next_back() else { return };
        if before.end > at {
            let after = Mapping { ..*before };
            before.end = at;
            self.mappings.insert(at, after);
        }
    }

    /// Makes two mappings that are alike and meet at an address one.
    fn join(&mut self, at: u64) {
        let Some(after) = self.mappings.get(&at).copied() else { return };
        if let Some((_, before)) = self.mappings.range_mut(..at).next_back()
            && before.end == at
            && before.protection == after.protection
        {
            before.end = after.end;
            self.mappings.remove(&at);
            self.recent.set(None);
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

    /// Iterates over the starts and ends of all mappings.
    pub(crate) fn ranges(&self) -> impl Iterator<Item = (u64, u64)> {
        self.mappings.iter().map(|(start, mapping)| (*start, mapping.end))
    }

    /// Returns the start of the mapping of an address.
    pub(crate) fn start(&self, address: u64) -> Option<u64> {
        self.at(address).map(|(start, _)| start)
    }

    /// Returns the end of the mapping of an address.
    pub(crate) fn end(&self, address: u64) -> Option<u64> {
        self.at(address).map(|(_, mapping)| mapping.end)
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

    /// Leaves memory that can be written out of what limits count.
    pub(crate) fn leave_uncounted(&mut self, length: u64) {
        self.uncounted_bytes += length;
    }

    /// Returns the bytes that limits of all memory count.
    pub(crate) fn mapped_bytes(&self) -> u64 {
        self.mapped_bytes.saturating_sub(self.uncounted_bytes)
    }

    /// Returns the bytes of them that can be written and are the program's alone.
    pub(crate) fn writable_bytes(&self) -> u64 {
        self.writable_bytes.saturating_sub(self.uncounted_bytes)
    }

    /// Goes through the mappings of a range: start, end and protection.
    pub(crate) fn mappings_in(&self, start: u64, end: u64) -> impl Iterator<Item = (u64, u64, u32)> {
        // The program can give any address and length.
        let end = end.max(start);
        let before = self.mappings.range(..start).next_back().filter(|(_, mapping)| mapping.end > start);
        let inside = before.into_iter().chain(self.mappings.range(start..end));
        inside.map(move |(from, mapping)| (start.max(*from), mapping.end.min(end), mapping.protection))
    }

    /// Returns the bytes of a range that are mapped.
    pub(crate) fn bytes_in(&self, start: u64, length: u64) -> u64 {
        let end = page_end(start.saturating_add(length));
        self.mappings_in(start, end).map(|(from, end, _)| end - from).sum()
    }

    /// Returns the bytes of a range that are the program's alone and cannot be written.
    pub(crate) fn read_only_bytes_in(&self, start: u64, length: u64) -> u64 {
        let end = page_end(start.saturating_add(length));
        let own = self
            .mappings_in(start, end)
            .filter(|(.., protection)| protection & (sys::PROT_WRITE | SHARED) == 0);
        own.map(|(from, end, _)| end - from).sum()
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
        let before = self.mappings.range(..end).next_back();
        start >= 0x1_0000
            && before.is_none_or(|(_, mapping)| mapping.end <= start)
            && is_of_program(start, end)
    }

    /// `true` if a range belongs to the engine, in part.
    pub(crate) fn is_foreign(&self, start: u64, length: u64) -> bool {
        let end = page_end(start.saturating_add(length));
        // The kernel has chosen some.
        !is_of_program(start, end) && !self.is_mapped(start, end)
    }

    /// `true` if all of a range is mapped.
    fn is_mapped(&self, start: u64, end: u64) -> bool {
        let mut at = start;
        while at < end
            && let Some((_, mapping)) = self.at(at)
        {
            at = mapping.end;
        }
        at >= end
    }

    /// Returns the first free range, for code below 2 GB if there is one. Its address is a multiple of a power of 2.
    pub(crate) fn find(&mut self, length: u64, alignment: u64, is_for_code: bool) -> Option<u64> {
        let length = page_end(length);
        let (class, least) = class_of(length);
        if class >= CLASSES {
            return None;
        }
        for index in 0..self.areas.len() {
            let Area { range, searched } = &self.areas[index];
            let mut first_gap = None;
            let found = self.gap(searched[class]..range.end, length, alignment, |start, end| {
                if first_gap.is_none() && (end - start) / PAGE_BYTES >= least {
                    first_gap = Some(start);
                }
            });
            let range_end = range.end;
            self.areas[index].searched[class] = first_gap.unwrap_or(range_end);
            if found.is_some() {
                return found;
            }
            if is_for_code
                && let Some(near) = self.gap(arena::END..MAX_CODE_ADDRESS, length, alignment, |_, _| {})
            {
                return Some(near);
            }
        }
        None
    }

    /// Returns the first gap of a range. It shows each that it sees.
    fn gap(
        &self,
        range: Range<u64>,
        length: u64,
        alignment: u64,
        mut see: impl FnMut(u64, u64),
    ) -> Option<u64> {
        let before = self.mappings.range(..=range.start).next_back().map_or(0, |(_, mapping)| mapping.end);
        let mut start = before.max(range.start);
        let mapped = self.mappings.range(start..range.end).map(|(start, mapping)| (*start, mapping.end));
        for (end, next) in mapped.chain([(range.end, range.end)]) {
            if end > start {
                see(start, end);
                let aligned = start.next_multiple_of(alignment);
                if aligned < end && end - aligned >= length {
                    return Some(aligned);
                }
            }
            start = start.max(next);
        }
        None
    }
}

impl Mapping {
    fn writable_bytes(&self, start: u64) -> u64 {
        let is_own = self.protection & (sys::PROT_WRITE | SHARED) == sys::PROT_WRITE;
        if is_own { self.end - start } else { 0 }
    }
}

/// `true` if a range is not the engine's.
pub(crate) fn is_of_program(start: u64, end: u64) -> bool {
    end <= arena::START
        || start >= arena::END && end <= HIGH_END
        || start >= BETWEEN.start && end <= BETWEEN.end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_gap_is_taken() {
        let mut space = AddressSpace::new();
        space.search_from(0x480_0000);
        space.add(0x480_0000, 0x2000, sys::PROT_READ);
        space.add(0x480_3000, 0x1000, sys::PROT_READ);
        let mut find = |length| space.find(length, PAGE_BYTES, false);
        assert_eq!([0x1000, 0x1001].map(&mut find), [Some(0x480_2000), Some(0x480_4000)]);
        space.remove(0x480_1000, 0x800);
        assert_eq!(
            (space.find(0x2000, PAGE_BYTES, false), space.protection(0x480_0fff)),
            (Some(0x480_1000), Some(sys::PROT_READ))
        );
        assert_eq!(space.protection(0x480_1000), None);
    }

    #[test]
    fn a_range_of_the_engine_is_not_given() {
        let mut space = AddressSpace::new();
        space.search_from(0x480_0000);
        assert_eq!(space.find(0x6000_0000, PAGE_BYTES, false), Some(HIGH_START));
        assert_eq!(space.find(0x5380_0000, PAGE_BYTES, true), Some(0x480_0000));
        space.add(0x480_0000, 0x5380_0000, sys::PROT_READ);
        assert_eq!(space.find(0x1000, PAGE_BYTES, true), Some(arena::END));
        assert!(!space.is_free(arena::START - 0x1000, 0x2000) && space.is_foreign(arena::START, 1));
        assert!(space.is_free(0x6000_0000_0000, 0x1000) && space.is_foreign(0x7fff_0000_0000, 0x1000));
        space.add(0x7fff_0000_0000, 0x2000, sys::PROT_READ);
        assert!(!space.is_foreign(0x7fff_0000_0000, 0x1001) && space.is_foreign(0x7fff_0000_0000, 0x2001));
    }

    #[test]
    fn protection_is_kept_by_page() {
        let mut space = AddressSpace::new();
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

    /// A list of pages.
    #[derive(Default)]
    struct Naive(BTreeMap<u64, u32>);

    impl Naive {
        fn find(&self, first: u64, pages: u64) -> u64 {
            let is_free = |page: u64| (page..page + pages).all(|page| !self.0.contains_key(&page));
            (first..).find(|page| is_free(*page)).unwrap()
        }
    }

    #[test]
    fn random_changes_are_those_of_a_list_of_pages() {
        const FIRST: u64 = 0x4800;
        let mut random = 1u64;
        let mut next = |below: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % below
        };
        let (mut space, mut naive) = (AddressSpace::new(), Naive::default());
        space.search_from(FIRST * PAGE_BYTES);
        for step in 0..20_000 {
            let pages = 1 + next(9);
            let start = FIRST + next(200);
            let protection = 1 + next(3) as u32;
            match next(4) {
                0 | 1 => {
                    let found = naive.find(FIRST, pages);
                    assert_eq!(
                        space.find(pages * PAGE_BYTES, PAGE_BYTES, false),
                        Some(found * PAGE_BYTES),
                        "{step}"
                    );
                    space.add(found * PAGE_BYTES, pages * PAGE_BYTES, protection);
                    naive.0.extend((found..found + pages).map(|page| (page, protection)));
                }
                2 => {
                    space.remove(start * PAGE_BYTES, 3 * pages * PAGE_BYTES);
                    naive.0.retain(|page, _| !(start..start + 3 * pages).contains(page));
                }
                _ => {
                    space.protect(start * PAGE_BYTES, pages * PAGE_BYTES, protection);
                    naive.0.range_mut(start..start + pages).for_each(|(_, known)| *known = protection);
                }
            }
            let known = |page: u64| space.protection(page * PAGE_BYTES);
            assert!((FIRST..FIRST + 250).all(|page| known(page) == naive.0.get(&page).copied()), "{step}");
            let writable = naive.0.values().filter(|protection| **protection & sys::PROT_WRITE != 0).count();
            let sums = [space.mapped_bytes(), space.writable_bytes()].map(|bytes| bytes / PAGE_BYTES);
            assert_eq!(sums, [naive.0.len() as u64, writable as u64], "{step}");
            assert!(space.mappings.iter().zip(space.mappings.iter().skip(1)).all(
                |((_, one), (start, other))| {
                    one.end < *start || one.end == *start && one.protection != other.protection
                }
            ));
        }
    }
}
