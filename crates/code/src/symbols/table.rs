//! Symbols of code, by address.

use std::cmp::Reverse;
use std::ops::Range;

use object::{Object as _, ObjectSymbol as _, SymbolIndex, SymbolKind};

use super::stubs;
use crate::image::Image;
use crate::intervals::Intervals;

/// A symbol of code.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) name: Name,
    /// The size that the file states; 0 if it does not.
    size: u64,
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
    intervals: Intervals,
    /// `true` if the names of symbols are longer than the file can hold, so that some symbols are missing.
    pub(super) is_cut: bool,
    stub_names: Vec<Vec<u8>>,
}

impl SymbolTable {
    pub(super) fn read(image: &Image, debug: Option<&Image>) -> Self {
        let (mut entries, mut untyped) = (Vec::new(), Vec::new());
        let mut names = NameBudget::new([Some(image), debug]);
        if image.object().symbols().next().is_some() {
            collect(image, image.object().symbols(), &mut entries, &mut untyped, &mut names, |index| {
                Name::Symbol(index, Holder::Program)
            });
        }
        if let Some(debug) = debug.filter(|_| entries.is_empty()) {
            collect(image, debug.object().symbols(), &mut entries, &mut untyped, &mut names, |index| {
                Name::Symbol(index, Holder::Debug)
            });
        }
        if entries.is_empty() {
            let symbols = image.object().dynamic_symbols();
            collect(image, symbols, &mut entries, &mut untyped, &mut names, Name::Dynamic);
        }
        let intervals = Intervals::default();
        let mut table = Self { entries, intervals, is_cut: names.is_exceeded, stub_names: Vec::new() };
        table.sort(image);
        // A label without a type is a function only where no other one is: it can also be a label inside a function.
        untyped.retain(|entry| {
            table.at(entry.start).is_none_or(|typed| typed.size == 0 && typed.start != entry.start)
        });
        table.entries.append(&mut untyped);
        for stub in stubs::find(image) {
            let name = Name::Stub(table.stub_names.len());
            let (start, end) = (stub.range.start, stub.range.end);
            table.entries.push(Entry { start, end, name, size: end - start });
            table.stub_names.push(stub.name);
        }
        table.sort(image);
        table
    }

    /// Sorts entries, and gives those without a size the space up to the next one.
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
        self.intervals = Intervals::new(entries.iter().map(|entry| (entry.start, entry.end)));
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
        let found = &self.entries[self.intervals.at(address).next()?];
        let of_start = self.starting_at(found.start);
        // The largest comes first, and those without a size last, which have one end.
        let sized = of_start.partition_point(|entry| entry.size > 0);
        [of_start.first(), of_start.get(sized)].into_iter().flatten().find(|entry| address < entry.end)
    }

    /// Returns `true` if a symbol has an address of a range.
    pub(super) fn has_part_of(&self, range: &Range<u64>) -> bool {
        self.intervals.highest_end_before(range.end) > range.start
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

/// The bytes that all names may have together. Symbols can share the end of a name, and a file can be made so that each has a name as
/// long as half of the file.
struct NameBudget {
    byte_count: usize,
    is_exceeded: bool,
}

/// Bytes of names for each byte of the file, and in addition. In real files there are less than one.
const NAME_BYTES_OF_BYTE: usize = 4;
const FREE_NAME_BYTES: usize = 1 << 20;

impl NameBudget {
    fn new(images: [Option<&Image>; 2]) -> Self {
        let bytes: usize = images.into_iter().flatten().map(|image| image.bytes().len()).sum();
        let byte_count = bytes.saturating_mul(NAME_BYTES_OF_BYTE).saturating_add(FREE_NAME_BYTES);
        Self { byte_count, is_exceeded: false }
    }

    /// Takes a name off the budget. `false` if it does not suffice.
    fn take(&mut self, name: &[u8]) -> bool {
        match self.byte_count.checked_sub(name.len()) {
            Some(left) => self.byte_count = left,
            None => self.is_exceeded = true,
        }
        !self.is_exceeded
    }
}

/// Collects symbols of code; those that do not say that they are functions go to `untyped`.
fn collect<'data, 'file>(
    image: &Image,
    symbols: object::SymbolIterator<'data, 'file, &'data [u8]>,
    entries: &mut Vec<Entry>,
    untyped: &mut Vec<Entry>,
    names: &mut NameBudget,
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
        let Ok(text) = symbol.name_bytes() else { continue };
        if !names.take(text) {
            return;
        }
        if !text.is_empty() && !text.starts_with(b"$") && !text.starts_with(b".L") {
            list.push(Entry { start, end: start, name: name(symbol.index()), size });
        }
    }
}
