//! Tables of abbreviations, each read once: all units of a file can have the same one.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use gimli::{Abbreviations, DebugAbbrevOffset, Reader as _, Section as _};

use super::budget::Budget;
use super::fault::{Fault, Outcome};
use super::{Dwarf, Slice, Unit};

/// The limit of attributes of an entry. Real ones have some twenty; those of a flag take no bytes in an entry, so that each
/// of many entries of one byte could have a hundred thousand.
const MAX_ATTRIBUTES: usize = 256;

/// Bytes of the header of a line program that count as one element. Directories and files count on their own.
const HEADER_BYTES_OF_ELEMENT: usize = 8;

/// The tables of a file by their offset.
#[derive(Default)]
pub(super) struct AbbreviationTables(Mutex<HashMap<usize, Outcome<Arc<Abbreviations>>>>);

impl AbbreviationTables {
    /// Reads a unit: its first entry, its table, and the header of its line program.
    pub(super) fn unit<'a>(
        &self,
        dwarf: &Dwarf<'a>,
        header: gimli::UnitHeader<Slice<'a>>,
        budget: &Budget,
    ) -> Outcome<Unit<'a>> {
        budget.take(1)?;
        let abbreviations = self.get(dwarf, header.debug_abbrev_offset(), budget)?;
        budget.take(line_header_bytes(dwarf, &header, &abbreviations) / HEADER_BYTES_OF_ELEMENT)?;
        let unit = Unit::new_with_abbreviations(dwarf, header, abbreviations)?;
        if let Some(program) = &unit.line_program {
            let header = program.header();
            budget.take(header.file_names().len() + header.include_directories().len())?;
        }
        Ok(unit)
    }

    fn get(
        &self,
        dwarf: &Dwarf<'_>,
        offset: DebugAbbrevOffset,
        budget: &Budget,
    ) -> Outcome<Arc<Abbreviations>> {
        let mut tables = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let read = || {
            budget.take(table_bytes(*dwarf.debug_abbrev.reader(), offset)?)?;
            Ok(Arc::new(dwarf.debug_abbrev.abbreviations(offset)?))
        };
        tables.entry(offset.0).or_insert_with(read).clone()
    }
}

/// Returns the size of a table.
fn table_bytes(mut table: Slice<'_>, offset: DebugAbbrevOffset) -> Outcome<usize> {
    table.skip(offset.0)?;
    let all = table.len();
    while !table.is_empty() && table.read_uleb128()? != 0 {
        let _tag = table.read_uleb128()?;
        let _has_children = table.read_u8()?;
        for count in 0.. {
            let (name, form) = (table.read_uleb128()?, table.read_uleb128()?);
            if (name, form) == (0, 0) {
                break;
            }
            if form == u64::from(gimli::DW_FORM_implicit_const.0) {
                table.read_sleb128()?;
            }
            if count == MAX_ATTRIBUTES {
                return Err(Fault::OutOfProportion);
            }
        }
    }
    Ok(all - table.len())
}

/// Returns the size that the line program of a unit states for its header. 0 if the unit has none, or it is damaged.
fn line_header_bytes(
    dwarf: &Dwarf<'_>,
    header: &gimli::UnitHeader<Slice<'_>>,
    abbreviations: &Abbreviations,
) -> usize {
    let read = || -> gimli::Result<usize> {
        let mut root = header.entries_raw(abbreviations, None)?;
        let Some(abbreviation) = root.read_abbreviation()? else { return Ok(0) };
        for attribute in abbreviation.attributes() {
            let attribute = root.read_attribute(*attribute)?;
            if attribute.name() == gimli::DW_AT_stmt_list
                && let gimli::AttributeValue::DebugLineRef(offset) = attribute.value()
            {
                let mut line = *dwarf.debug_line.reader();
                line.skip(offset.0)?;
                let (length, format) = line.read_initial_length()?;
                let version = line.read_u16()?;
                if version >= 5 {
                    line.skip(2)?;
                }
                return Ok(line.read_word(format)?.min(length).min(line.len()));
            }
        }
        Ok(0)
    };
    read().unwrap_or(0)
}
