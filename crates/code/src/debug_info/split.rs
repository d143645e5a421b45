//! Units whose entries are in a file of their own: `.dwo`, or the package `.dwp`.

use super::abbreviations::AbbreviationTables;
use super::budget::Budget;
use super::fault::Outcome;
use super::files::dwo_section;
use super::{DebugFiles, Dwarf, Index, Unit};
use crate::image::Image;
use crate::{Error, ErrorKind};

/// A unit of another file.
pub(super) struct SplitUnit<'a> {
    pub(super) dwarf: Dwarf<'a>,
    pub(super) unit: Unit<'a>,
}

/// Finds the unit that a unit of the main file stands for.
pub(super) fn load<'a>(
    files: &'a DebugFiles,
    index: &Index<'a>,
    unit_index: usize,
    skeleton: &Unit<'a>,
) -> Outcome<Option<SplitUnit<'a>>> {
    let Some(id) = skeleton.dwo_id else { return Ok(None) };
    let parent = index.units.dwarf();
    if let Some(package) = &index.package
        && let Some(dwarf) = package.find_cu(id, parent)?
        && let Some(unit) = unit_with_id(&dwarf, id, skeleton, &index.budget)?
    {
        return Ok(Some(SplitUnit { dwarf, unit }));
    }
    let Some(name) = skeleton.dwo_name()? else { return Ok(None) };
    let name = parent.attr_string(skeleton, name)?.to_string_lossy();
    let directory = skeleton.comp_dir.map(|directory| directory.to_string_lossy());
    let Some(image) = files.open_split(unit_index, directory.as_deref(), &name, &index.budget) else {
        return Ok(None);
    };
    let mut dwarf = match dwarf_of(image) {
        Ok(dwarf) => dwarf,
        Err(error) => {
            files.miss(error);
            return Ok(None);
        }
    };
    dwarf.make_dwo(parent);
    match unit_with_id(&dwarf, id, skeleton, &index.budget)? {
        Some(unit) => Ok(Some(SplitUnit { dwarf, unit })),
        None => {
            let reason = "it belongs to another build";
            files.miss(Error::new(image.name(), ErrorKind::Unreadable(reason.to_owned())));
            Ok(None)
        }
    }
}

fn dwarf_of(image: &Image) -> Result<Dwarf<'_>, Error> {
    Dwarf::load(|id| dwo_section::<Error>(image, id))
}

/// Returns the unit with an id. A file can also have units for types.
fn unit_with_id<'a>(
    dwarf: &Dwarf<'a>,
    id: gimli::DwoId,
    skeleton: &Unit<'a>,
    budget: &Budget,
) -> Outcome<Option<Unit<'a>>> {
    let tables = AbbreviationTables::default();
    let mut headers = dwarf.units();
    while let Some(header) = headers.next()? {
        if matches!(header.type_(), gimli::UnitType::Type { .. } | gimli::UnitType::SplitType { .. }) {
            continue;
        }
        let mut unit = tables.unit(dwarf, header, budget)?;
        if unit.dwo_id == Some(id) {
            unit.copy_relocated_attributes(skeleton);
            return Ok(Some(unit));
        }
    }
    Ok(None)
}
