//! The functions of an object, as Callgrind sees them.
//!
//! The rules were found by running Callgrind: symbols without a size do not count, nor do those of stubs; of several names of one
//! address it takes the shortest, and of equally long ones that with the default version. Functions of other sections than `.text` have
//! names, but neither an object nor lines.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

use object::{Object as _, ObjectSection as _, SectionFlags, SymbolFlags, elf};

/// The code that a call leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Section {
    Text,
    /// The stubs through which functions of other objects are called.
    Stubs,
    /// Any other one. Callgrind takes such code for none of the object.
    Other,
}

/// A function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Symbol {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) name: Vec<u8>,
}

/// The functions and sections of an object, by addresses of the file.
#[derive(Debug, Default)]
pub(crate) struct Symbols {
    symbols: Vec<Symbol>,
    text: Range<u64>,
    stubs: Range<u64>,
}

impl Symbols {
    /// Reads a file and the one with its debug information. A file that cannot be read has no symbols.
    pub(crate) fn read(bytes: &[u8], debug: Option<&[u8]>) -> Symbols {
        let mut symbols = Symbols::default();
        let mut by_start: BTreeMap<u64, Symbol> = BTreeMap::new();
        let Ok(file) = object::File::parse(bytes) else { return symbols };
        let range = |name: &str| {
            let section = file.section_by_name(name);
            section.map_or(0..0, |section| section.address()..section.address() + section.size())
        };
        symbols.text = range(".text");
        symbols.stubs = range(".plt");
        let is_code = |section: &object::Section<'_, '_>| match section.flags() {
            SectionFlags::Elf { sh_flags, .. } => sh_flags.0 & elf::SHF_EXECINSTR.0 != 0,
            _ => false,
        };
        let code = file.sections().filter(is_code);
        let code = code.filter(|section| !section.name_bytes().is_ok_and(|name| name.starts_with(b".plt")));
        let code: Vec<Range<u64>> =
            code.map(|section| section.address()..section.address() + section.size()).collect();
        collect(file.symbols(), &code, &mut by_start);
        if let Some(debug) = debug
            && let Ok(file) = object::File::parse(debug)
        {
            collect(file.symbols(), &code, &mut by_start);
        }
        // Those of a stripped file have no versions, so their order is another one.
        if by_start.is_empty() {
            collect(file.dynamic_symbols(), &code, &mut by_start);
        }
        symbols.symbols = by_start.into_values().collect();
        symbols
    }

    /// Returns the function of an address.
    pub(crate) fn at(&self, address: u64) -> Option<&Symbol> {
        let after = self.symbols.partition_point(|symbol| symbol.start <= address);
        // A function can lie within another one.
        self.symbols[..after].iter().rev().take(4).find(|symbol| address < symbol.end)
    }

    /// Returns start and end of each function.
    #[cfg(test)]
    pub(crate) fn ranges(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.symbols.iter().map(|symbol| (symbol.start, symbol.end))
    }

    pub(crate) fn section(&self, address: u64) -> Section {
        if self.text.contains(&address) {
            Section::Text
        } else if self.stubs.contains(&address) {
            Section::Stubs
        } else {
            Section::Other
        }
    }
}

fn collect<'data, S: object::ObjectSymbol<'data>>(
    symbols: impl Iterator<Item = S>,
    code: &[Range<u64>],
    by_start: &mut BTreeMap<u64, Symbol>,
) {
    for symbol in symbols {
        let SymbolFlags::Elf { st_info, .. } = symbol.flags() else { continue };
        // Tables in the code can be code, too.
        let kinds = [elf::STT_FUNC.0, elf::STT_GNU_IFUNC.0, elf::STT_OBJECT.0];
        let is_function = kinds.contains(&(st_info.0 & 0xf));
        let (start, size) = (symbol.address(), symbol.size());
        if !is_function
            || size == 0
            || symbol.is_undefined()
            || !code.iter().any(|section| section.contains(&start))
        {
            continue;
        }
        let Ok(name) = symbol.name_bytes() else { continue };
        if name.is_empty() {
            continue;
        }
        let found = Symbol { start, end: start + size, name: name.to_vec() };
        match by_start.get(&start) {
            Some(known) if rank(&known.name) <= rank(name) => {}
            _ => {
                by_start.insert(start, found);
            }
        }
    }
}

/// The lower, the better the name.
fn rank(name: &[u8]) -> (usize, Reverse<bool>, &[u8]) {
    let base = name.iter().position(|byte| *byte == b'@').unwrap_or(name.len());
    let is_default_version = name[base..].starts_with(b"@@");
    (base, Reverse(is_default_version), name)
}

/// Returns the name of a function, which is the same for each function that calls `main`.
fn start_name(name: &[u8]) -> &[u8] {
    match name {
        b"_start" | b"__libc_start_main" | b"__libc_start_call_main" | b"generic_start_main" => {
            b"(below main)"
        }
        name => name,
    }
}

/// Returns the name that Callgrind shows for one in the file.
pub(crate) fn shown_name(name: &[u8], demangles: bool) -> Vec<u8> {
    match gristmill_code::demangle(name).filter(|_| demangles) {
        Some(readable) => readable.into_bytes(),
        None => start_name(name).to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_names_the_one_of_callgrind_is_taken() {
        for (names, best) in [
            (&["memcmp_ifunc", "bcmp", "memcmp"][..], "bcmp"),
            (&["memcpy", "memcpy@@GLIBC_2.14", "__new_memcpy"], "memcpy@@GLIBC_2.14"),
            (&["_exit", "__GI__exit", "_Exit"], "_Exit"),
            (&["__getdents64", "getdents64", "__getdents"], "__getdents"),
            (&["__default_morecore@GLIBC_2.2.5", "__glibc_morecore"], "__glibc_morecore"),
        ] {
            let found = names.iter().min_by_key(|name| rank(name.as_bytes()));
            assert_eq!(found, Some(&best));
        }
    }

    #[test]
    fn the_start_has_one_name() {
        assert_eq!(shown_name(b"_start", true), b"(below main)");
        let with_version = b"__libc_start_main@@GLIBC_2.34";
        assert_eq!(shown_name(with_version, true), with_version);
        assert_eq!(shown_name(b"_ZN1a1bEv", true), b"a::b()");
    }
}
