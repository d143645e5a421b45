//! The functions of a file.
//!
//! Symbols come first, those for the dynamic linker and the stubs of calls beside them. Only where none of them has an address, the
//! tables for unwinding are read.

mod base_name;
mod stubs;
mod table;
mod unwinding;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::demangle::demangle;
use crate::image::Image;
use crate::{Function, FunctionOrigin};
pub(crate) use base_name::base_name;
use table::{Entry, Name, SymbolTable};

/// The functions of a file, each table read when it is asked for.
pub(crate) struct Symbols {
    image: Arc<Image>,
    /// The file that the symbol table is in.
    debug: Option<Arc<Image>>,
    table: OnceLock<SymbolTable>,
    /// Names that were asked for as text, by where they are in the file.
    texts: Mutex<HashMap<(usize, usize), Arc<str>>>,
    unwinding: OnceLock<Vec<Range<u64>>>,
}

impl Symbols {
    pub(crate) fn new(image: Arc<Image>, debug: Option<Arc<Image>>) -> Self {
        Self { image, debug, table: OnceLock::new(), texts: Mutex::default(), unwinding: OnceLock::new() }
    }

    fn table(&self) -> &SymbolTable {
        self.table.get_or_init(|| SymbolTable::read(&self.image, self.debug.as_deref()))
    }

    /// Returns ranges of functions without a symbol.
    fn unwinding(&self) -> &[Range<u64>] {
        self.unwinding.get_or_init(|| {
            let mut ranges = unwinding::ranges(&self.image);
            if let Some(debug) = self.debug.as_deref().filter(|_| ranges.is_empty()) {
                ranges = unwinding::ranges(debug);
            }
            // A range that a symbol lies in is that of the symbol.
            ranges.retain(|range| {
                self.image.region_at(range.start).is_some() && !self.table().has_part_of(range)
            });
            ranges
        })
    }

    /// Returns the function at an address.
    pub(crate) fn at(&self, address: u64) -> Option<Function<'_>> {
        if let Some(entry) = self.table().at(address) {
            return Some(self.function(entry));
        }
        let ranges = self.unwinding();
        let after = ranges.partition_point(|range| range.start <= address);
        let range = ranges[..after].last().filter(|range| address < range.end)?;
        Some(Function { range: range.clone(), name: None, origin: FunctionOrigin::Unwinding })
    }

    /// Returns all functions that start where one does, that is, all of its names.
    pub(crate) fn aliases(&self, start: u64) -> Vec<Function<'_>> {
        self.table().starting_at(start).iter().map(|entry| self.function(entry)).collect()
    }

    /// Returns all functions by address, each once.
    pub(crate) fn all(&self) -> Vec<Function<'_>> {
        let named = self.table().first_of_each_address().map(|entry| self.function(entry));
        let unnamed = self.unwinding().iter().map(|range| Function {
            range: range.clone(),
            name: None,
            origin: FunctionOrigin::Unwinding,
        });
        let mut functions: Vec<Function<'_>> = named.chain(unnamed).collect();
        functions.sort_by_key(|function| (function.range.start, function.range.end));
        functions
    }

    /// Returns the functions with a name: mangled or demangled, in full or without the mark of a clone. One range has one function.
    pub(crate) fn named(&self, name: &str) -> Vec<Function<'_>> {
        let by_whole_name = self.with_name(|raw| raw == name.as_bytes());
        if !by_whole_name.is_empty() {
            return by_whole_name;
        }
        let by_base_name = self.with_name(|raw| base_name(raw) == name.as_bytes());
        if !by_base_name.is_empty() {
            return by_base_name;
        }
        self.with_name(|raw| has_identifier_of(raw, name) && is_demangled_to(raw, name))
    }

    fn with_name(&self, is_wanted: impl Fn(&[u8]) -> bool) -> Vec<Function<'_>> {
        let entries = self.table().entries().iter();
        let found = entries.filter(|entry| self.raw_name(entry).is_some_and(&is_wanted));
        let mut functions: Vec<Function<'_>> = found.map(|entry| self.function(entry)).collect();
        functions.dedup_by_key(|function| function.range.clone());
        functions
    }

    pub(crate) fn function(&self, entry: &Entry) -> Function<'_> {
        Function {
            range: entry.start..entry.end,
            name: self.raw_name(entry),
            origin: match entry.name {
                Name::Symbol(..) => FunctionOrigin::Symbols,
                Name::Dynamic(_) => FunctionOrigin::DynamicSymbols,
                Name::Stub(_) => FunctionOrigin::Stubs,
            },
        }
    }

    fn raw_name(&self, entry: &Entry) -> Option<&[u8]> {
        table::name(&self.image, self.debug.as_deref(), self.table(), entry.name)
    }

    /// Returns the name of an address for the outermost frame. All addresses of a function share it.
    pub(crate) fn name_at(&self, address: u64) -> Option<Arc<str>> {
        let name = self.table().at(address).and_then(|entry| self.raw_name(entry))?;
        let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        let text = texts.entry((name.as_ptr() as usize, name.len()));
        Some(text.or_insert_with(|| String::from_utf8_lossy(name).into()).clone())
    }

    /// Returns `true` if the symbols were read, and their names are longer than the file can hold.
    pub(crate) fn is_cut(&self) -> bool {
        self.table.get().is_some_and(|table| table.is_cut)
    }
}

/// Returns `true` if a mangled name can stand for a readable one: manglings spell identifiers as they are. Demangling all names of a
/// large file would take a second.
fn has_identifier_of(raw: &[u8], readable: &str) -> bool {
    let is_part = |sign: char| sign.is_ascii_alphanumeric() || sign == '_';
    let longest = readable.split(|sign| !is_part(sign)).max_by_key(|part| part.len()).unwrap_or_default();
    !longest.is_empty() && raw.windows(longest.len()).any(|window| window == longest.as_bytes())
}

fn is_demangled_to(raw: &[u8], readable: &str) -> bool {
    let is_equal = |name: &[u8]| {
        demangle(name).is_some_and(|text| text == readable || text.split('(').next() == Some(readable))
    };
    is_equal(raw) || is_equal(base_name(raw))
}
