//! Symbols of code, by address.

use std::cmp::Reverse;
use std::ops::Range;

use object::{Object as _, ObjectSymbol as _, SymbolIndex, SymbolKind};

use super::stubs;
use crate::image::Image;

/// A symbol of code.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) name: Name,
    /// The size that the file states; 0 if it does not.
    size: u64,
    /// The highest end of this entry and those before it.
    max_end: u64,
}

/// The table that has the name of a symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Name {
    /// In the symbol table of the file, or of the one with debug information.
    Symbol(SymbolIndex, Holder),
    /// In the table for the dynamic linker.
    Dynamic(SymbolIndex),
    /// In the list of stubs.
    Stub(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holder {
    Program,
    Debug,
}

impl Name {
    /// Returns its number in its table.
    fn number(self) -> usize {
        match self {
            Self::Symbol(index, _) | Self::Dynamic(index) => index.0,
            Self::Stub(index) => index,
        }
    }
}

/// Symbols of code, by address. Of several symbols at one address, the one that is preferred comes first.
pub(crate) struct SymbolTable {
    entries: Vec<Entry>,
    stub_names: Vec<Vec<u8>>,
}

impl SymbolTable {
    pub(super) fn read(image: &Image, debug: Option<&Image>) -> Self {
        let mut entries = Vec::new();
        let mut untyped = Vec::new();
        if image.object().symbols().next().is_some() {
            collect(image, image.object().symbols(), &mut entries, &mut untyped, |index| {
                Name::Symbol(index, Holder::Program)
            });
        }
        if let Some(debug) = debug.filter(|_| entries.is_empty()) {
            collect(image, debug.object().symbols(), &mut entries, &mut untyped, |index| {
                Name::Symbol(index, Holder::Debug)
            });
        }
        if entries.is_empty() {
            collect(image, image.object().dynamic_symbols(), &mut entries, &mut untyped, Name::Dynamic);
        }
        let mut table = Self { entries, stub_names: Vec::new() };
        table.sort(image);
        // A label without a type is a function only where no other one is: it can also be a label inside a function.
        untyped.retain(|entry| {
            table.at(entry.start).is_none_or(|typed| typed.size == 0 && typed.start != entry.start)
        });
        table.entries.append(&mut untyped);
        for stub in stubs::find(image) {
            let name = Name::Stub(table.stub_names.len());
            let (start, end) = (stub.range.start, stub.range.end);
            table.entries.push(Entry { start, end, name, size: end - start, max_end: 0 });
            table.stub_names.push(stub.name);
        }
        table.sort(image);
        table
    }

    /// Sorts entries, gives those without a size the space up to the next one, and notes the highest ends.
    fn sort(&mut self, image: &Image) {
        let mut entries = std::mem::take(&mut self.entries);
        // The order of LLVM's symbolizer, so that of several names both choose the same one: the largest size, then the last one.
        entries.sort_by_key(|entry| (entry.start, Reverse(entry.size), Reverse(entry.name.number())));
        let mut next_start = u64::MAX;
        let mut index = entries.len();
        while index > 0 {
            let start = entries[index - 1].start;
            let first = entries[..index].partition_point(|entry| entry.start < start);
            for entry in &mut entries[first..index] {
                entry.end = if entry.size == 0 {
                    let region_end = image.region_at(start).map_or(start, |region| region.end);
                    next_start.min(region_end)
                } else {
                    start.saturating_add(entry.size)
                };
            }
            (next_start, index) = (start, first);
        }
        let mut max_end = 0;
        for entry in &mut entries {
            max_end = max_end.max(entry.end);
            entry.max_end = max_end;
        }
        self.entries = entries;
    }

    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Returns the symbols that start at an address.
    pub(super) fn starting_at(&self, start: u64) -> &[Entry] {
        let first = self.entries.partition_point(|entry| entry.start < start);
        let after = self.entries[first..].partition_point(|entry| entry.start == start);
        &self.entries[first..first + after]
    }

    pub(super) fn first_of_each_address(&self) -> impl Iterator<Item = &Entry> {
        let is_first =
            |index: usize| index == 0 || self.entries[index - 1].start != self.entries[index].start;
        (0..self.entries.len()).filter(move |index| is_first(*index)).map(|index| &self.entries[index])
    }

    /// Returns the symbol of an address: the one that starts last of those that have it.
    pub(super) fn at(&self, address: u64) -> Option<&Entry> {
        let after = self.entries.partition_point(|entry| entry.start <= address);
        let mut before = self.entries[..after].iter().rev().take_while(|entry| address < entry.max_end);
        let found = before.find(|entry| address < entry.end)?;
        self.starting_at(found.start).iter().find(|entry| address < entry.end)
    }

    /// Returns `true` if a symbol has an address of a range.
    pub(super) fn has_part_of(&self, range: &Range<u64>) -> bool {
        let after = self.entries.partition_point(|entry| entry.start < range.end);
        after > 0 && self.entries[after - 1].max_end > range.start
    }
}

/// Returns the name of a symbol.
pub(super) fn name<'a>(
    image: &'a Image,
    debug: Option<&'a Image>,
    table: &'a SymbolTable,
    name: Name,
) -> Option<&'a [u8]> {
    match name {
        Name::Symbol(index, Holder::Program) => image.object().symbol_by_index(index).ok()?.name_bytes().ok(),
        Name::Symbol(index, Holder::Debug) => debug?.object().symbol_by_index(index).ok()?.name_bytes().ok(),
        Name::Dynamic(index) => {
            use object::ObjectSymbolTable as _;
            let symbols = image.object().dynamic_symbol_table()?;
            symbols.symbol_by_index(index).ok()?.name_bytes().ok()
        }
        Name::Stub(stub) => table.stub_names.get(stub).map(Vec::as_slice),
    }
}

/// Collects symbols of code; those that do not say that they are functions go to `untyped`.
fn collect<'data, 'file>(
    image: &Image,
    symbols: object::SymbolIterator<'data, 'file, &'data [u8]>,
    entries: &mut Vec<Entry>,
    untyped: &mut Vec<Entry>,
    name: impl Fn(SymbolIndex) -> Name,
) {
    for symbol in symbols {
        let list = match symbol.kind() {
            SymbolKind::Text => &mut *entries,
            SymbolKind::Unknown | SymbolKind::Label => &mut *untyped,
            _ => continue,
        };
        let (start, size) = (symbol.address(), symbol.size());
        if symbol.is_undefined() || image.region_at(start).is_none() {
            continue;
        }
        // Names of the assembler, such as `$x` and `.L4`.
        let is_real = symbol
            .name_bytes()
            .is_ok_and(|name| !name.is_empty() && !name.starts_with(b"$") && !name.starts_with(b".L"));
        if is_real {
            list.push(Entry { start, end: start, name: name(symbol.index()), size, max_end: 0 });
        }
    }
}
