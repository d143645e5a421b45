//! Files that are no profiles, told from their first bytes.

use memchr::{memchr, memmem};

use crate::error::Foreign;
use crate::line_end::LineTerminator;
use crate::scan::{is_blank, trim_returns, trim_start};
use crate::shape::{Keyed, Shape, is_known_key, shape};

/// The mark that some editors put before the first line of a text in UTF-8.
pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The first line of Callgrind's own files, without the `#`.
pub(crate) const MARKER: &[u8] = b" callgrind format";

/// Returns the apparent kind of a file that cannot be a profile.
pub(crate) fn foreign(input: &[u8]) -> Option<Foreign> {
    let input = input.strip_prefix(BYTE_ORDER_MARK).unwrap_or(input);
    // gzip, Zstandard, xz, lz4 and its older frames, zip. lz4 leaves the first lines as they are.
    let compressed = [
        &b"\x1f\x8b"[..],
        b"\x28\xb5\x2f\xfd",
        b"\xfd7zXZ\0",
        b"\x04\x22\x4d\x18",
        b"\x02\x21\x4c\x18",
        b"PK\x03\x04",
    ];
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
    let mut lines = LineTerminator::detect(input)
        .lines(input)
        .map(|line| trim_start(trim_returns(line)))
        .filter(|line| !line.is_empty());
    let first = lines.next()?;
    // Many a text begins with `#`, so what comes after the remarks has to tell, and to tell more.
    let has_remark = is_remark(first);
    let first = if has_remark { lines.find(|line| !is_remark(line)).unwrap_or_default() } else { first };
    let known = match shape(first) {
        Shape::Comment(_) | Shape::NewProfile => true,
        Shape::Keyed(Keyed { key, separator: b':', .. }) => {
            !has_remark || is_known_key(b':', &key.to_ascii_lowercase())
        }
        Shape::Keyed(keyed) => is_known_key(b'=', keyed.key),
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
    } else if matches!(shape(first), Shape::Cost) && (!has_remark || is_made_of_numbers(first)) {
        // Costs with nothing that explains them: say so line by line.
        return None;
    } else {
        Foreign::Text
    })
}

/// A comment that any text could begin with.
fn is_remark(line: &[u8]) -> bool {
    matches!(shape(line), Shape::Comment(text) if !text.starts_with(MARKER))
}

/// Not an item of a list.
fn is_made_of_numbers(line: &[u8]) -> bool {
    line.iter().any(u8::is_ascii_digit)
        && line.iter().all(|&byte| {
            byte.is_ascii_hexdigit()
                || is_blank(byte)
                || matches!(byte, b'+' | b'-' | b'*' | b'.' | b':' | b'x')
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remarks_make_no_profile() {
        for text in [
            &b"# Title\n\nSome words.\n"[..],
            b"# Title\r\n\r\nSome words.\r\n",
            b"# Title\n- a first item\n",
            b"# Title\n1. a first item\n",
            b"# Title\n---\n",
            b"#!/bin/sh\n# says hello\nname=world\n",
            b"# settings\nkey: value\n",
            b"# nothing else\n",
        ] {
            assert_eq!(foreign(text), Some(Foreign::Text), "{}", text.escape_ascii());
        }
        assert_eq!(foreign(b"# Title\n{\n"), Some(Foreign::Json));
    }

    #[test]
    fn a_profile_may_begin_with_remarks() {
        for text in [
            &b"# callgrind format\n"[..],
            b"# callgrind format\r\nfrob\r\n",
            b"# made by hand\n# callgrind format\n",
            b"# made by hand\n\nversion: 1\n",
            b"# made by hand\r\rversion: 1\r",
            b"# made by hand\r\n\r\nEvents: Ir\r\n",
            b"# made by hand\nfn=main\n",
            b"# made by hand\n0x1f +3 2\n",
            b"# made by hand\nkey: value\nevents: Ir\n",
            b"key: value\n",
            b"",
        ] {
            assert_eq!(foreign(text), None, "{}", text.escape_ascii());
        }
    }

    #[test]
    fn packed_files_are_no_profiles_even_if_their_text_shows() {
        for magic in [&b"\x04\x22\x4d\x18"[..], b"\x02\x21\x4c\x18", b"PK\x03\x04", b"\x1f\x8b"] {
            let packed = [magic, b"\x64\x40\xa7# callgrind format\nevents: Ir\nfn=f\n1 5\n"].concat();
            assert_eq!(foreign(&packed), Some(Foreign::Compressed), "{}", magic.escape_ascii());
        }
    }
}
