//! DWARF: from an address to a source line and a chain of inlined functions.
//!
//! ```text
//! .debug_aranges, roots of units ──▶ units that can have the address     units.rs
//!      entries of the unit ──▶ innermost function, and those around it   scopes.rs
//!      names of functions, which refer to other entries                  names.rs
//!      line program of the unit ──▶ file and line                        lines.rs
//!      units that are in another file (.dwo, .dwp)                       split.rs
//! ```
//!
//! Only units that are asked for are read. What is read stays, and is shared between threads. A file can be made so that each of its
//! units refers to the same long table; so the sum of all tables and names has a [limit](budget), which real files do not reach.

mod abbreviations;
mod budget;
mod fault;
mod files;
mod lines;
mod names;
mod scopes;
mod split;
mod units;

use self_cell::self_cell;

use crate::{Error, Frame, SourceLine};
use budget::Budget;
use fault::Outcome;
pub(crate) use files::DebugFiles;
use units::{UnitSlot, Units};

pub(crate) type Slice<'a> = gimli::EndianSlice<'a, gimli::RunTimeEndian>;
pub(crate) type Dwarf<'a> = gimli::Dwarf<Slice<'a>>;
pub(crate) type Unit<'a> = gimli::Unit<Slice<'a>>;

/// Units that can have an address. Real ones do not overlap, except those that a linker has joined.
const MAX_UNITS_OF_ADDRESS: usize = 8;

self_cell!(
    struct IndexCell {
        owner: DebugFiles,
        #[not_covariant]
        dependent: Index,
    }
);

/// The debug information of one program.
pub(crate) struct DebugInfo {
    cell: IndexCell,
}

/// The units of a program and of the file that it shares with others.
struct Index<'a> {
    units: Units<'a>,
    shared: Option<Units<'a>>,
    package: Option<gimli::DwarfPackage<Slice<'a>>>,
    budget: Budget,
}

impl DebugInfo {
    /// Indexes the units of the main file.
    pub(crate) fn new(files: DebugFiles) -> Result<Self, Error> {
        let cell = IndexCell::try_new(files, |files| Index::new(files))?;
        Ok(Self { cell })
    }

    pub(crate) fn files(&self) -> &DebugFiles {
        self.cell.borrow_owner()
    }

    /// Returns the frames of an address, innermost first. Empty if no unit has the address.
    pub(crate) fn frames(&self, address: u64) -> Result<Vec<Frame>, Error> {
        self.cell.with_dependent(|files, index| {
            index.frames(files, address).map_err(|error| files.damaged(".debug_info", error))
        })
    }

    /// Returns file, line and column of an address.
    pub(crate) fn line(&self, address: u64) -> Result<Option<SourceLine>, Error> {
        self.cell.with_dependent(|files, index| {
            index.line(address).map_err(|error| files.damaged(".debug_line", error))
        })
    }
}

impl<'a> Index<'a> {
    fn new(files: &'a DebugFiles) -> Result<Self, Error> {
        let (dwarf, shared) = files.dwarf()?;
        let damaged = |error| files.damaged(".debug_info", error);
        let budget = Budget::new(files.counted_bytes());
        let units = Units::new(dwarf, true).map_err(damaged)?;
        let shared = shared.map(|dwarf| Units::new(dwarf, false)).transpose().map_err(damaged)?;
        let package = files.package()?;
        Ok(Self { units, shared, package, budget })
    }

    fn line(&self, address: u64) -> Outcome<Option<SourceLine>> {
        for slot in self.units.at(address, &self.budget)?.into_iter().take(MAX_UNITS_OF_ADDRESS) {
            if let Some(lines) = slot.lines(&self.units, &self.budget)?
                && let Some(line) = lines.at(address, &self.budget)?
            {
                return Ok(Some(line));
            }
        }
        Ok(None)
    }

    fn frames(&self, files: &'a DebugFiles, address: u64) -> Outcome<Vec<Frame>> {
        for slot in self.units.at(address, &self.budget)?.into_iter().take(MAX_UNITS_OF_ADDRESS) {
            let frames = self.frames_of_unit(files, slot, address)?;
            if !frames.is_empty() {
                return Ok(frames);
            }
        }
        Ok(Vec::new())
    }

    fn frames_of_unit(
        &self,
        files: &'a DebugFiles,
        slot: &UnitSlot<'a>,
        address: u64,
    ) -> Outcome<Vec<Frame>> {
        let split = slot.split(files, self)?;
        let home = match split {
            Some(split) => names::Home::Split(&split.dwarf, &split.unit),
            None => names::Home::Main(slot.unit(&self.units, &self.budget)?),
        };
        let scopes = slot.scopes(|| {
            let (dwarf, unit) = home.parts(self);
            scopes::Scopes::parse(dwarf, unit, &self.budget)
        })?;
        let lines = slot.lines(&self.units, &self.budget)?;
        let at = lines.map(|lines| lines.at(address, &self.budget)).transpose()?;
        let mut source = at.flatten();
        let mut frames = Vec::new();
        for scope in scopes.around(address) {
            let function = scope.name(|offset| names::function_name(self, home, offset))?;
            frames.push(Frame::new(function, source.take(), scope.call().is_some()));
            if let Some(call) = scope.call() {
                let file = match call.file.zip(lines) {
                    Some((file, lines)) => lines.file(file, &self.budget)?,
                    None => None,
                };
                source = Some(SourceLine { file, line: call.line, column: call.column });
            }
        }
        if frames.is_empty() && source.is_some() {
            frames.push(Frame::new(None, source, false));
        }
        Ok(frames)
    }
}
