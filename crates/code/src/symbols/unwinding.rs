//! Ranges of functions, from the tables for unwinding. A stripped file still has them.

use std::ops::Range;

use crate::debug_info::Slice;
use crate::image::Image;

/// Returns the ranges by address. A damaged table ends the list.
pub(super) fn ranges(image: &Image) -> Vec<Range<u64>> {
    let mut bases = gimli::BaseAddresses::default();
    if let Some(address) = image.section_address(".eh_frame") {
        bases = bases.set_eh_frame(address);
    }
    if let Some(address) = image.section_address(".eh_frame_hdr") {
        bases = bases.set_eh_frame_hdr(address);
    }
    if let Some(address) = image.section_address(".text") {
        bases = bases.set_text(address);
    }
    if let Some(address) = image.section_address(".got") {
        bases = bases.set_got(address);
    }
    use object::Object as _;
    let address_size = if image.object().is_64() { 8 } else { 4 };
    let mut ranges = Vec::new();
    if let Ok(bytes) = image.section(".eh_frame") {
        let mut section = gimli::EhFrame::from(Slice::new(bytes, image.endian()));
        section.set_address_size(address_size);
        collect(&section, &bases, &mut ranges);
    }
    if let Ok(bytes) = image.section(".debug_frame") {
        let mut section = gimli::DebugFrame::from(Slice::new(bytes, image.endian()));
        section.set_address_size(address_size);
        collect(&section, &bases, &mut ranges);
    }
    ranges.retain(|range| range.start != 0 && range.start < range.end);
    ranges.sort_by_key(|range| (range.start, range.end));
    ranges.dedup_by_key(|range| range.start);
    ranges
}

fn collect<'a, S: gimli::UnwindSection<Slice<'a>>>(
    section: &S,
    bases: &gimli::BaseAddresses,
    ranges: &mut Vec<Range<u64>>,
) where
    S::Offset: gimli::UnwindOffset<usize>,
{
    let mut entries = section.entries(bases);
    while let Ok(Some(entry)) = entries.next() {
        if let gimli::CieOrFde::Fde(partial) = entry
            && let Ok(entry) = partial.parse(S::cie_from_offset)
        {
            ranges.push(entry.initial_address()..entry.end_address());
        }
    }
}
