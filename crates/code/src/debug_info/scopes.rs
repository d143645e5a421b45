//! The functions of a unit and the functions that were inlined into them, by address.

use std::collections::BinaryHeap;
use std::sync::{Arc, OnceLock};

use super::budget::Budget;
use super::fault::{Fault, Outcome};
use super::{Dwarf, Slice, Unit};

/// The limit of inlined functions in each other. Compilers stop far earlier; hostile debug information need not, and then each
/// instruction would have a chain that is as long as the file. Deeper code belongs to the last function that is taken.
const MAX_INLINED: u32 = 128;

/// A function, or an inlined copy of one.
pub(super) struct Scope {
    /// Its entry.
    offset: gimli::UnitOffset,
    /// The scope that it was inlined into.
    parent: Option<u32>,
    call: Option<Call>,
    name: OnceLock<Outcome<Option<Arc<str>>>>,
}

/// The call that was inlined.
pub(super) struct Call {
    /// The file, as an index of the line program.
    pub(super) file: Option<u64>,
    pub(super) line: Option<u32>,
    pub(super) column: Option<u32>,
}

/// Addresses whose innermost scope is the same.
struct Segment {
    start: u64,
    end: u64,
    scope: u32,
}

/// The scopes of a unit.
pub(super) struct Scopes {
    scopes: Vec<Scope>,
    /// By start, disjoint.
    segments: Vec<Segment>,
}

impl Scope {
    /// Returns the call, if the function was inlined.
    pub(super) fn call(&self) -> Option<&Call> {
        self.call.as_ref()
    }

    /// Returns its name, which `resolve` finds the first time.
    pub(super) fn name(
        &self,
        resolve: impl FnOnce(gimli::UnitOffset) -> Outcome<Option<Arc<str>>>,
    ) -> Outcome<Option<Arc<str>>> {
        self.name.get_or_init(|| resolve(self.offset)).clone()
    }
}

impl Scopes {
    /// Reads all entries of a unit.
    pub(super) fn parse<'a>(dwarf: &Dwarf<'a>, unit: &Unit<'a>, budget: &Budget) -> Outcome<Self> {
        let mut scopes = Vec::new();
        let mut ranges = Vec::new();
        let mut open: Vec<Open> = Vec::new();
        let mut entries = unit.entries_raw(None)?;
        while !entries.is_empty() {
            let (offset, depth) = (entries.next_offset(), entries.next_depth());
            let Some(abbreviation) = entries.read_abbreviation()? else { continue };
            while open.last().is_some_and(|outer| outer.depth >= depth) {
                open.pop();
            }
            let is_inlined = match abbreviation.tag() {
                gimli::DW_TAG_subprogram => false,
                gimli::DW_TAG_inlined_subroutine => true,
                _ => {
                    entries.skip_attributes(abbreviation.attributes())?;
                    continue;
                }
            };
            let mut read = Attributes::default();
            for attribute in abbreviation.attributes() {
                read.take(dwarf, unit, &entries.read_attribute(*attribute)?)?;
            }
            let outer = open.last().filter(|_| is_inlined);
            let inlined = outer.map_or(0, |outer| outer.inlined + 1);
            if inlined > MAX_INLINED {
                continue;
            }
            let scope = u32::try_from(scopes.len()).map_err(|_| Fault::OutOfProportion)?;
            let first_range = ranges.len();
            read.ranges(dwarf, unit, budget, |range| {
                ranges.push(Segment { start: range.begin, end: range.end, scope });
            })?;
            // Declarations and abstract functions have no code.
            if ranges.len() == first_range && !is_inlined {
                continue;
            }
            budget.take(1)?;
            let parent = outer.map(|outer| outer.scope);
            // Damaged: an inlined function that is in no other one.
            let call = parent.is_some().then_some(read.call);
            scopes.push(Scope { offset, parent, call, name: OnceLock::new() });
            if abbreviation.has_children() {
                open.push(Open { depth, scope, inlined });
            }
        }
        Ok(Self { scopes, segments: innermost(ranges) })
    }

    /// Returns the scopes around an address, innermost first.
    pub(super) fn around(&self, address: u64) -> impl Iterator<Item = &Scope> {
        let after = self.segments.partition_point(|segment| segment.start <= address);
        let segment = after.checked_sub(1).map(|index| &self.segments[index]);
        let mut next = segment.filter(|segment| address < segment.end).map(|segment| segment.scope);
        std::iter::from_fn(move || {
            let scope = &self.scopes[next? as usize];
            // A parent comes before its children, so this ends.
            next = scope.parent;
            Some(scope)
        })
    }
}

/// A scope whose children are read.
struct Open {
    /// The depth of its entry.
    depth: isize,
    scope: u32,
    /// The count of inlined functions from the one that was compiled to this one.
    inlined: u32,
}

/// Reads the addresses of a unit.
pub(super) fn unit_ranges<'a>(
    dwarf: &Dwarf<'a>,
    unit: &Unit<'a>,
    budget: &Budget,
    add: impl FnMut(gimli::Range),
) -> Outcome<()> {
    let mut entries = unit.entries_raw(None)?;
    let Some(abbreviation) = entries.read_abbreviation()? else { return Ok(()) };
    let mut read = Attributes::default();
    for attribute in abbreviation.attributes() {
        read.take(dwarf, unit, &entries.read_attribute(*attribute)?)?;
    }
    read.ranges(dwarf, unit, budget, add)
}

/// The attributes of a function or unit that matter.
struct Attributes {
    low: Option<u64>,
    high: Option<u64>,
    size: Option<u64>,
    ranges: Option<gimli::RangeListsOffset>,
    call: Call,
}

impl Default for Attributes {
    fn default() -> Self {
        let call = Call { file: None, line: None, column: None };
        Self { low: None, high: None, size: None, ranges: None, call }
    }
}

impl Attributes {
    fn take<'a>(
        &mut self,
        dwarf: &Dwarf<'a>,
        unit: &Unit<'a>,
        attribute: &gimli::Attribute<Slice<'a>>,
    ) -> Outcome<()> {
        let number = || {
            attribute.udata_value().and_then(|value| u32::try_from(value).ok()).filter(|value| *value != 0)
        };
        match attribute.name() {
            gimli::DW_AT_low_pc => self.low = dwarf.attr_address(unit, attribute.value())?,
            gimli::DW_AT_high_pc => match attribute.value() {
                gimli::AttributeValue::Udata(size) => self.size = Some(size),
                value => self.high = dwarf.attr_address(unit, value)?,
            },
            gimli::DW_AT_ranges => self.ranges = dwarf.attr_ranges_offset(unit, attribute.value())?,
            gimli::DW_AT_call_file => {
                if let gimli::AttributeValue::FileIndex(file) = attribute.value() {
                    self.call.file = Some(file);
                }
            }
            gimli::DW_AT_call_line => self.call.line = number(),
            gimli::DW_AT_call_column => self.call.column = number(),
            _ => {}
        }
        Ok(())
    }

    fn ranges<'a>(
        &self,
        dwarf: &Dwarf<'a>,
        unit: &Unit<'a>,
        budget: &Budget,
        mut add: impl FnMut(gimli::Range),
    ) -> Outcome<()> {
        let mut add = |range: gimli::Range| {
            // The linker sets the start of code that it has removed to 0 or to the highest address.
            let is_removed = range.begin == 0 || range.begin >= range.end;
            if !is_removed {
                add(range);
            }
        };
        if let Some(offset) = self.ranges {
            let mut list = dwarf.ranges(unit, offset)?;
            // Entries that are no range count as well: each function can have the same list of them.
            while let Some(entry) = list.next_raw()? {
                budget.take(1)?;
                list.convert_raw(entry)?.into_iter().for_each(&mut add);
            }
        } else if let Some(begin) = self.low {
            let end = self.high.or_else(|| begin.checked_add(self.size?));
            budget.take(1)?;
            add(gimli::Range { begin, end: end.unwrap_or(begin) });
        }
        Ok(())
    }
}

/// Makes disjoint segments of ranges that overlap. Where several do, the scope that was read last is the innermost: an entry comes
/// after the one around it.
fn innermost(mut ranges: Vec<Segment>) -> Vec<Segment> {
    let mut bounds: Vec<u64> = ranges.iter().flat_map(|range| [range.start, range.end]).collect();
    bounds.sort_unstable();
    bounds.dedup();
    ranges.sort_unstable_by_key(|range| range.start);
    let mut ranges = ranges.into_iter().peekable();
    let mut active: BinaryHeap<(u32, u64)> = BinaryHeap::new();
    let mut segments: Vec<Segment> = Vec::new();
    for bound in bounds.windows(2) {
        let (start, end) = (bound[0], bound[1]);
        while let Some(range) = ranges.next_if(|range| range.start == start) {
            active.push((range.scope, range.end));
        }
        while active.peek().is_some_and(|(_, end)| *end <= start) {
            active.pop();
        }
        let Some(&(scope, _)) = active.peek() else { continue };
        match segments.last_mut().filter(|last| last.end == start && last.scope == scope) {
            Some(last) => last.end = end,
            None => segments.push(Segment { start, end, scope }),
        }
    }
    segments
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For each of the addresses 0 to 9 the scope, found by painting all ranges in order.
    fn painted(ranges: &[(u64, u64, u32)]) -> Vec<Option<u32>> {
        let mut scopes = vec![None; 10];
        for (start, end, scope) in ranges {
            (*start..*end).for_each(|address| scopes[usize::try_from(address).unwrap()] = Some(*scope));
        }
        scopes
    }

    #[test]
    fn the_last_scope_is_the_innermost() {
        for ranges in [
            &[(1, 9, 0), (2, 5, 1), (3, 4, 2), (6, 7, 3)][..],
            &[(1, 4, 0), (4, 8, 1)],
            &[(0, 3, 0), (5, 9, 0), (1, 2, 1), (5, 6, 1)],
            // Damaged: a child that is not inside its parent.
            &[(2, 5, 0), (1, 9, 1), (3, 4, 2)],
            &[(2, 6, 0), (4, 8, 1), (2, 6, 2)],
            &[],
        ] {
            let segments =
                innermost(ranges.iter().map(|&(start, end, scope)| Segment { start, end, scope }).collect());
            assert!(segments.windows(2).all(|pair| pair[0].end <= pair[1].start));
            let found: Vec<Option<u32>> = (0..10)
                .map(|address| {
                    let mut containing = segments.iter().filter(|s| s.start <= address && address < s.end);
                    containing.next().map(|segment| segment.scope)
                })
                .collect();
            assert_eq!(found, painted(ranges));
        }
    }
}
