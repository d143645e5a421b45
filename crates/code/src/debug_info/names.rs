//! Names of functions, which can be in another entry, unit or file.

use std::sync::Arc;

use super::fault::Outcome;
use super::units::Units;
use super::{Dwarf, Index, Slice, Unit};

/// Entries that are followed from one to the next. Real chains have three.
const MAX_HOPS: usize = 16;

/// The unit in which an entry is.
#[derive(Clone, Copy)]
pub(super) enum Home<'i, 'a> {
    /// A unit of the main file.
    Main(&'i Unit<'a>),
    /// A unit of the file that several programs share.
    Shared(&'i Units<'a>, &'i Unit<'a>),
    /// A unit of a `.dwo`.
    Split(&'i Dwarf<'a>, &'i Unit<'a>),
}

impl<'i, 'a> Home<'i, 'a> {
    pub(super) fn parts(self, index: &'i Index<'a>) -> (&'i Dwarf<'a>, &'i Unit<'a>) {
        match self {
            Self::Main(unit) => (index.units.dwarf(), unit),
            Self::Shared(units, unit) => (units.dwarf(), unit),
            Self::Split(dwarf, unit) => (dwarf, unit),
        }
    }

    /// Returns the unit and the offset in it that a reference leads to.
    fn follow(
        self,
        index: &'i Index<'a>,
        reference: gimli::AttributeValue<Slice<'a>>,
    ) -> Option<(Self, gimli::UnitOffset)> {
        match reference {
            gimli::AttributeValue::UnitRef(offset) => Some((self, offset)),
            gimli::AttributeValue::DebugInfoRef(offset) => match self {
                Self::Main(_) => {
                    let unit = index.units.containing(offset, &index.budget)?;
                    Some((Self::Main(unit), offset.to_unit_offset(&unit.header)?))
                }
                Self::Shared(units, _) => {
                    let unit = units.containing(offset, &index.budget)?;
                    Some((Self::Shared(units, unit), offset.to_unit_offset(&unit.header)?))
                }
                Self::Split(_, unit) => Some((self, offset.to_unit_offset(&unit.header)?)),
            },
            gimli::AttributeValue::DebugInfoRefSup(offset) => {
                let units = index.shared.as_ref()?;
                let unit = units.containing(offset, &index.budget)?;
                Some((Self::Shared(units, unit), offset.to_unit_offset(&unit.header)?))
            }
            _ => None,
        }
    }
}

/// Returns the name of a function: the one for the linker, wherever it is, else the nearest other one.
pub(super) fn function_name<'i, 'a>(
    index: &'i Index<'a>,
    mut home: Home<'i, 'a>,
    mut offset: gimli::UnitOffset,
) -> Outcome<Option<Arc<str>>> {
    let mut plain_name = None;
    for _ in 0..MAX_HOPS {
        let (dwarf, unit) = home.parts(index);
        let (mut linkage_name, mut reference) = (None, None);
        // A damaged entry has no name.
        let Ok(mut entries) = unit.entries_raw(Some(offset)) else { return Ok(None) };
        let Ok(Some(abbreviation)) = entries.read_abbreviation() else { break };
        for attribute in abbreviation.attributes() {
            let Ok(attribute) = entries.read_attribute(*attribute) else { break };
            let text = || dwarf.attr_string(unit, attribute.value()).ok();
            match attribute.name() {
                gimli::DW_AT_linkage_name | gimli::DW_AT_MIPS_linkage_name => linkage_name = text(),
                gimli::DW_AT_name => plain_name = plain_name.or_else(text),
                gimli::DW_AT_abstract_origin | gimli::DW_AT_specification => {
                    reference = Some(attribute.value())
                }
                _ => {}
            }
        }
        if linkage_name.is_some() {
            plain_name = linkage_name;
            break;
        }
        let Some(next) = reference.and_then(|reference| home.follow(index, reference)) else { break };
        (home, offset) = next;
    }
    plain_name.map(|name| index.budget.text(name)).transpose()
}
