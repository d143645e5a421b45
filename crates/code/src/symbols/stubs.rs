//! The stubs through which a file calls functions of others (`.plt`), each with the name of what it calls.

use std::collections::BTreeMap;
use std::ops::Range;

use object::{Object as _, ObjectSymbol as _, ObjectSymbolTable as _, RelocationTarget};

use crate::Architecture;
use crate::disassembler::indirect_jump_slot;
use crate::image::Image;

/// A stub.
pub(super) struct Stub {
    pub(super) range: Range<u64>,
    /// `puts@plt`.
    pub(super) name: Vec<u8>,
}

/// The size of a stub. Those of `.plt.got` on x86 have half of it, unless they begin with the mark of a permitted target.
const STUB_BYTES: u64 = 16;

const ENDBR64: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];
const ENDBR32: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfb];

/// Finds the stubs: code in a section `.plt` that jumps to an address that it loads from a slot, which the dynamic linker fills.
pub(super) fn find(image: &Image) -> Vec<Stub> {
    let mut stubs = Vec::new();
    let regions = image.regions().iter().filter(|region| region.name.starts_with(".plt"));
    let mut regions = regions.peekable();
    if regions.peek().is_none() {
        return stubs;
    }
    let names = slot_names(image);
    let global_table = image.section_address(".got.plt").or_else(|| image.section_address(".got"));
    for region in regions {
        let Some(code) = image.code_at(region.start) else { continue };
        let is_x86 = matches!(image.architecture(), Architecture::X86 | Architecture::X86_64);
        let is_marked = code.starts_with(&ENDBR64) || code.starts_with(&ENDBR32);
        let size =
            if is_x86 && region.name == ".plt.got" && !is_marked { STUB_BYTES / 2 } else { STUB_BYTES };
        let mut start = region.start;
        for stub in code.chunks(usize::try_from(size).unwrap_or(usize::MAX)) {
            let end = (start + size).min(region.end);
            let slot = indirect_jump_slot(image.architecture(), stub, start, global_table);
            if let Some(name) = slot.and_then(|slot| names.get(&slot)) {
                stubs.push(Stub { range: start..end, name: [name, b"@plt".as_slice()].concat() });
            }
            start = end;
        }
    }
    stubs
}

/// Returns the name of the function that each slot is for.
fn slot_names(image: &Image) -> BTreeMap<u64, &[u8]> {
    let mut names = BTreeMap::new();
    let object = image.object();
    let (Some(symbols), Some(relocations)) = (object.dynamic_symbol_table(), object.dynamic_relocations())
    else {
        return names;
    };
    for (slot, relocation) in relocations {
        if let RelocationTarget::Symbol(symbol) = relocation.target()
            && let Ok(symbol) = symbols.symbol_by_index(symbol)
            && let Ok(name) = symbol.name_bytes()
            && !name.is_empty()
        {
            names.insert(slot, name);
        }
    }
    names
}
