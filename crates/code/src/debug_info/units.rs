//! The units of a file, and the addresses that each has.

use std::sync::OnceLock;

use super::abbreviations::AbbreviationTables;
use super::budget::Budget;
use super::fault::Outcome;
use super::lines::Lines;
use super::scopes::{self, Scopes};
use super::split::{self, SplitUnit};
use super::{Dwarf, Index, Slice, Unit};
use crate::debug_info::DebugFiles;
use crate::intervals::Intervals;

type Lazy<T> = OnceLock<Outcome<T>>;

/// A unit, which is read when it is asked for.
pub(super) struct UnitSlot<'a> {
    header: gimli::UnitHeader<Slice<'a>>,
    /// Its number in the file.
    index: usize,
    unit: Lazy<Box<Unit<'a>>>,
    scopes: Lazy<Scopes>,
    lines: Lazy<Option<Lines<'a>>>,
    split: Lazy<Option<Box<SplitUnit<'a>>>>,
}

/// Addresses of a unit.
struct UnitRange {
    start: u64,
    end: u64,
    unit: usize,
}

/// The addresses of all units.
struct UnitRanges {
    intervals: Intervals,
    /// By range, its unit.
    units: Vec<usize>,
}

/// The units of a file.
pub(super) struct Units<'a> {
    dwarf: Dwarf<'a>,
    abbreviations: AbbreviationTables,
    /// By offset.
    slots: Vec<UnitSlot<'a>>,
    ranges: Lazy<UnitRanges>,
}

impl<'a> UnitSlot<'a> {
    pub(super) fn unit(&self, units: &Units<'a>, budget: &Budget) -> Outcome<&Unit<'a>> {
        let unit = self.unit.get_or_init(|| {
            let unit = units.abbreviations.unit(&units.dwarf, self.header, budget)?;
            Ok(Box::new(unit))
        });
        unit.as_deref().map_err(|error| *error)
    }

    pub(super) fn scopes(&self, parse: impl FnOnce() -> Outcome<Scopes>) -> Outcome<&Scopes> {
        self.scopes.get_or_init(parse).as_ref().map_err(|error| *error)
    }

    pub(super) fn lines(&self, units: &Units<'a>, budget: &Budget) -> Outcome<Option<&Lines<'a>>> {
        let lines = self.lines.get_or_init(|| Lines::parse(&units.dwarf, self.unit(units, budget)?, budget));
        lines.as_ref().map(Option::as_ref).map_err(|error| *error)
    }

    /// Returns the unit of the `.dwo` that this one stands for. `None` if it stands for itself, or the file is missing.
    pub(super) fn split(&self, files: &'a DebugFiles, index: &Index<'a>) -> Outcome<Option<&SplitUnit<'a>>> {
        let split = self.split.get_or_init(|| {
            let unit = self.unit(&index.units, &index.budget)?;
            Ok(split::load(files, index, self.index, unit)?.map(Box::new))
        });
        split.as_ref().map(Option::as_deref).map_err(|error| *error)
    }
}

impl UnitRanges {
    fn new(mut ranges: Vec<UnitRange>) -> Self {
        ranges.sort_by_key(|range| (range.start, range.unit));
        let intervals = Intervals::new(ranges.iter().map(|range| (range.start, range.end)));
        Self { intervals, units: ranges.iter().map(|range| range.unit).collect() }
    }
}

impl<'a> Units<'a> {
    /// Lists the units. Units for types are left out: nothing refers to them by offset.
    pub(super) fn new(dwarf: Dwarf<'a>, has_code: bool) -> Outcome<Self> {
        let mut slots = Vec::new();
        let mut headers = dwarf.units();
        let mut index = 0;
        while let Some(header) = headers.next()? {
            if !matches!(header.type_(), gimli::UnitType::Type { .. } | gimli::UnitType::SplitType { .. }) {
                let (unit, scopes, lines, split) =
                    (OnceLock::new(), OnceLock::new(), OnceLock::new(), OnceLock::new());
                slots.push(UnitSlot { header, index, unit, scopes, lines, split });
            }
            index += 1;
        }
        let ranges = OnceLock::new();
        if !has_code {
            let _ = ranges.set(Ok(UnitRanges::new(Vec::new())));
        }
        Ok(Self { dwarf, abbreviations: AbbreviationTables::default(), slots, ranges })
    }

    pub(super) fn dwarf(&self) -> &Dwarf<'a> {
        &self.dwarf
    }

    /// Returns the unit that has an entry.
    pub(super) fn containing(&self, offset: gimli::DebugInfoOffset, budget: &Budget) -> Option<&Unit<'a>> {
        let after = self.slots.partition_point(|slot| slot.header.debug_info_offset() <= Some(offset));
        self.slots[after.checked_sub(1)?].unit(self, budget).ok()
    }

    /// Returns the units that say that they have an address.
    pub(super) fn at(&self, address: u64, budget: &Budget) -> Outcome<Vec<&UnitSlot<'a>>> {
        let ranges = self.ranges.get_or_init(|| self.read_ranges(budget)).as_ref().map_err(|error| *error)?;
        let found = ranges.intervals.at(address).take(super::MAX_UNITS_OF_ADDRESS);
        let mut found: Vec<usize> = found.map(|range| ranges.units[range]).collect();
        found.sort_unstable();
        found.dedup();
        Ok(found.into_iter().map(|unit| &self.slots[unit]).collect())
    }

    /// Reads the addresses of all units: from `.debug_aranges`, and for units that it lacks from the unit or its lines.
    fn read_ranges(&self, budget: &Budget) -> Outcome<UnitRanges> {
        let mut ranges = Vec::new();
        let mut is_listed = vec![false; self.slots.len()];
        self.read_table(&mut ranges, &mut is_listed, budget)?;
        for (unit, slot) in self.slots.iter().enumerate().filter(|(unit, _)| !is_listed[*unit]) {
            // A damaged unit does not hide the others; it is an error when one of its addresses is asked for.
            let before = ranges.len();
            let _ = self.read_unit(unit, slot, &mut ranges, budget);
            if ranges.len() == before
                && let Ok(Some(lines)) = slot.lines_if_code(self, budget)
            {
                lines.ranges().for_each(|range| add(&mut ranges, unit, range));
            }
        }
        Ok(UnitRanges::new(ranges))
    }

    fn read_table(
        &self,
        ranges: &mut Vec<UnitRange>,
        is_listed: &mut [bool],
        budget: &Budget,
    ) -> Outcome<()> {
        let mut sets = self.dwarf.debug_aranges.headers();
        // A damaged table is as good as none.
        while let Ok(Some(set)) = sets.next() {
            let offset = Some(set.debug_info_offset());
            let Ok(unit) = self.slots.binary_search_by_key(&offset, |slot| slot.header.debug_info_offset())
            else {
                continue;
            };
            let mut entries = set.entries();
            while let Some(entry) = entries.next().transpose() {
                // The end of a removed range overflows; the reader skips it.
                let Ok(entry) = entry else { continue };
                budget.take(1)?;
                if entry.length() != 0 {
                    is_listed[unit] = true;
                    add(ranges, unit, entry.range());
                }
            }
        }
        Ok(())
    }

    fn read_unit(
        &self,
        unit: usize,
        slot: &UnitSlot<'a>,
        ranges: &mut Vec<UnitRange>,
        budget: &Budget,
    ) -> Outcome<()> {
        if matches!(slot.header.type_(), gimli::UnitType::Partial) {
            return Ok(());
        }
        scopes::unit_ranges(&self.dwarf, slot.unit(self, budget)?, budget, |range| add(ranges, unit, range))
    }
}

impl<'a> UnitSlot<'a> {
    /// Returns the lines of a unit that can have code.
    fn lines_if_code(&self, units: &Units<'a>, budget: &Budget) -> Outcome<Option<&Lines<'a>>> {
        if matches!(self.header.type_(), gimli::UnitType::Partial) {
            return Ok(None);
        }
        self.lines(units, budget)
    }
}

fn add(ranges: &mut Vec<UnitRange>, unit: usize, range: gimli::Range) {
    // Code that the linker has removed starts at 0 or at the highest address.
    if range.begin != 0 && range.begin < range.end {
        ranges.push(UnitRange { start: range.begin, end: range.end, unit });
    }
}
