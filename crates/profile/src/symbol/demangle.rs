//! Demangling of C++ and Rust.

use gristmill_demangle::{MAX_MANGLED_BYTES, Mangled, RUST_HASH_DIGITS};

/// The start of the suffix that LLVM gives to a copy of a function, which follows its hash.
pub(super) const COPY_SUFFIX: &str = ".llvm.";

/// Demangles a name: Itanium C++ and both manglings of Rust. `None` if the name is not mangled.
///
/// The hash at the end of a Rust name is removed, also if the rest was demangled before.
///
/// ```
/// use gristmill_profile::symbol::demangle;
///
/// assert_eq!(demangle(b"_ZN5stone5crushEv").as_deref(), Some("stone::crush()"));
/// assert_eq!(demangle(b"_ZN4core3fmt5write17h0123456789abcdefE").as_deref(), Some("core::fmt::write"));
/// assert_eq!(demangle(b"_RNvC4mill4main").as_deref(), Some("mill::main"));
/// assert_eq!(demangle(b"main"), None);
/// ```
pub fn demangle(name: &[u8]) -> Option<String> {
    if let Some(mangled) = Mangled::of(name) {
        return mangled.demangle();
    }
    let text = std::str::from_utf8(name).ok().filter(|text| text.len() <= MAX_MANGLED_BYTES)?;
    half_demangled(text)
}

/// Demangles a name of Rust's older mangling that a tool has demangled as C++: `core::mem::replace::h79a6…`, with signs spelled
/// out, as in `_$LT$T$u20$as$u20$a..B$GT$::f::h79a6…`.
fn half_demangled(text: &str) -> Option<String> {
    const SIGNS: [(&str, &str); 8] = [
        ("SP", "@"),
        ("BP", "*"),
        ("RF", "&"),
        ("LT", "<"),
        ("GT", ">"),
        ("LP", "("),
        ("RP", ")"),
        ("C", ","),
    ];
    let (path, _) = split_hash(text)?;
    let mut readable = String::with_capacity(path.len());
    let mut rest = path;
    while let Some(next) = rest.chars().next() {
        let spelled = rest.strip_prefix('$').and_then(|rest| rest.split_once('$'));
        let sign = spelled.and_then(|(word, after)| {
            let sign = SIGNS.iter().find(|(name, _)| *name == word).map(|(_, sign)| (*sign).to_owned());
            let by_number = || {
                let number = u32::from_str_radix(word.strip_prefix('u')?, 16).ok()?;
                char::from_u32(number).filter(|sign| !sign.is_control()).map(String::from)
            };
            Some((sign.or_else(by_number)?, after))
        });
        match sign {
            Some((sign, after)) => {
                readable.push_str(&sign);
                rest = after;
            }
            None if rest.starts_with("..") => {
                readable.push_str("::");
                rest = &rest[2..];
            }
            // The mangling puts an underscore before a segment that begins with `$`.
            None if rest.starts_with("_$") && (readable.is_empty() || readable.ends_with("::")) => {
                rest = &rest[1..];
            }
            None => {
                readable.push(next);
                rest = &rest[next.len_utf8()..];
            }
        }
    }
    Some(readable)
}

/// Splits a name of Rust's older mangling that a tool has demangled into its path and the digits of its hash.
fn split_hash(text: &str) -> Option<(&str, &str)> {
    let (path, hash) = text.split_at_checked(text.len().checked_sub("::h".len() + RUST_HASH_DIGITS)?)?;
    let digits = hash.strip_prefix("::h")?;
    (!path.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some((path, digits))
}

/// Returns the digits of the hash at the end of a name of Rust's older mangling, which the demangled name does not have. It
/// differs for each type that a generic function is compiled for. The text is empty for any other name.
///
/// ```
/// use gristmill_profile::symbol::rust_hash;
///
/// assert_eq!(rust_hash(b"_ZN4core3fmt5write17h0123456789abcdefE"), "0123456789abcdef");
/// assert_eq!(rust_hash(b"core::fmt::write::h0123456789abcdef"), "0123456789abcdef");
/// assert_eq!(rust_hash(b"core::fmt::write"), "");
/// ```
pub fn rust_hash(name: &[u8]) -> &str {
    let Ok(text) = std::str::from_utf8(name) else { return "" };
    let symbol = text.strip_prefix('_').filter(|text| text.starts_with("_Z")).unwrap_or(text);
    gristmill_demangle::rust_hash(symbol)
        .or_else(|| split_hash(text).map(|(_, digits)| digits))
        .unwrap_or_default()
}

/// Returns the end of a Rust name that the demangled name leaves out: the hash, see [`rust_hash`], and the suffix of a copy
/// that LLVM made for another unit of code.
///
/// ```
/// use gristmill_profile::symbol::left_out;
///
/// assert_eq!(left_out(b"_ZN4core3fmt5write17h0123456789abcdefE"), "0123456789abcdefE");
/// assert_eq!(left_out(b"_ZN4core3fmt5write17h0123456789abcdefE.llvm.A8832F56"), "0123456789abcdefE.llvm.A8832F56");
/// assert_eq!(left_out(b"_RNvC4mill4main.llvm.A8832F56"), ".llvm.A8832F56");
/// assert_eq!(left_out(b"core::fmt::write"), "");
/// ```
pub fn left_out(name: &[u8]) -> &str {
    let Ok(text) = std::str::from_utf8(name) else { return "" };
    let hash = rust_hash(name);
    let is_new_mangling = text.starts_with("_R") || text.starts_with("__R");
    let start = match hash {
        "" if is_new_mangling => text.rfind(COPY_SUFFIX),
        "" => None,
        digits => text.rfind(digits),
    };
    start.map_or("", |start| &text[start..])
}
