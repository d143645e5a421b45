//! Files that are no profiles, told from their first bytes.

use memchr::{memchr, memmem};

use crate::error::Foreign;
use crate::scan::trim_start;
use crate::shape::{Shape, is_known_key, shape};

/// What some editors put before the first line of a text in UTF-8.
pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// What a file that cannot be a profile seems to be.
pub(crate) fn foreign(input: &[u8]) -> Option<Foreign> {
    let input = input.strip_prefix(BYTE_ORDER_MARK).unwrap_or(input);
    let compressed = [&b"\x1f\x8b"[..], b"\x28\xb5\x2f\xfd", b"\xfd7zXZ\0"];
    // The letters alone could begin a key.
    let is_bzip2 = matches!(input, [b'B', b'Z', b'h', b'1'..=b'9', b'1', b'A', b'Y', ..]);
    if input.starts_with(b"\xff\xfe") || input.starts_with(b"\xfe\xff") {
        return Some(Foreign::Utf16);
    }
    if input.starts_with(b"\x7fELF") {
        return Some(Foreign::Elf);
    }
    if is_bzip2 || compressed.iter().any(|magic| input.starts_with(magic)) {
        return Some(Foreign::Compressed);
    }
    // One known line at the top is enough; a look at the whole file is only for those that begin oddly.
    let first =
        input.split(|&byte| byte == b'\n' || byte == b'\r').map(trim_start).find(|line| !line.is_empty())?;
    let known = match shape(first) {
        Shape::Comment(_) | Shape::NewProfile => true,
        Shape::Keyed(keyed) => keyed.separator == b':' || is_known_key(b'=', keyed.key),
        Shape::Blank | Shape::Cost | Shape::Unknown => false,
    };
    if known && first.first() != Some(&b'{') {
        return None;
    }
    let begins_line = |at: usize| at == 0 || matches!(input[at - 1], b'\n' | b'\r');
    if memmem::find_iter(input, b"events:").any(begins_line) {
        return None;
    }
    Some(if first.starts_with(b"PERFILE2") {
        Foreign::PerfData
    } else if first.starts_with(b"------") && memmem::find(input, b"rofile data file").is_some() {
        Foreign::AnnotateReport
    } else if first.starts_with(b"{") || first.starts_with(b"[") {
        Foreign::Json
    } else if memchr(0, &input[..input.len().min(4096)]).is_some() {
        Foreign::Binary
    } else if matches!(shape(first), Shape::Cost) {
        // Costs with nothing that explains them: say so line by line.
        return None;
    } else {
        Foreign::Text
    })
}
