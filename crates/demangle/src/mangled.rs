//! A mangled name, by its language.

use std::fmt::Write as _;

use crate::bounded_text::BoundedText;
use crate::cpp;

/// The limit of mangled names, in bytes. Longer ones stay mangled.
pub const MAX_MANGLED_BYTES: usize = 1 << 14;
/// The digits of the hash of Rust's older mangling.
pub const RUST_HASH_DIGITS: usize = 16;

/// A name that begins as a mangled one, without the underscore that Mach-O puts before every name.
///
/// ```
/// use gristmill_demangle::Mangled;
///
/// let demangle = |name: &[u8]| Mangled::of(name).and_then(Mangled::demangle);
/// assert_eq!(demangle(b"__ZN5stone5crushEv").as_deref(), Some("stone::crush()"));
/// assert_eq!(demangle(b"_RNvC4mill4main").as_deref(), Some("mill::main"));
/// assert_eq!(demangle(b"_ZEROS"), None);
/// assert_eq!(Mangled::of(b"main"), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mangled<'a> {
    /// A name of C++.
    Cpp(&'a str),
    /// A name of Rust, of either mangling.
    Rust(&'a str),
}

impl<'a> Mangled<'a> {
    /// Tells the language of a name. `None` if it is not mangled, too long or no text.
    pub fn of(name: &'a [u8]) -> Option<Self> {
        if !name.starts_with(b"_") || name.len() > MAX_MANGLED_BYTES {
            return None;
        }
        let text = std::str::from_utf8(name).ok()?;
        let symbol = text.strip_prefix('_').filter(|text| text.starts_with("_Z") || text.starts_with("_R"));
        let symbol = symbol.unwrap_or(text);
        match symbol.get(..2)? {
            "_R" => Some(Mangled::Rust(symbol)),
            "_Z" if rust_hash(symbol).is_some() => Some(Mangled::Rust(symbol)),
            "_Z" => Some(Mangled::Cpp(symbol)),
            _ => None,
        }
    }

    /// Returns the text that the name stands for. `None` if the name only begins as a mangled one, or if the text is too long.
    /// The hash at the end of a Rust name is left out.
    pub fn demangle(self) -> Option<String> {
        let text = match self {
            Mangled::Cpp(symbol) => cpp::demangle(symbol)?,
            Mangled::Rust(symbol) => {
                let mut text = BoundedText::new(symbol);
                write!(text, "{:#}", rustc_demangle::try_demangle(symbol).ok()?).ok()?;
                text.into_string()
            }
        };
        Some(text).filter(|text| !text.is_empty())
    }
}

/// Returns the digits of the hash at the end of a name of Rust's older mangling, which looks like C++.
///
/// ```
/// use gristmill_demangle::{RUST_HASH_DIGITS, rust_hash};
///
/// let hash = rust_hash("_ZN4core3fmt5write17h0123456789abcdefE");
/// assert_eq!(hash, Some("0123456789abcdef"));
/// assert_eq!(hash.map(str::len), Some(RUST_HASH_DIGITS));
/// assert_eq!(rust_hash("_ZN4core3fmt5write17h0123456789abcdefE.llvm.99"), hash);
/// assert_eq!(rust_hash("_ZN5stone5crushEv"), None);
/// ```
pub fn rust_hash(symbol: &str) -> Option<&str> {
    let (_, hash) = symbol.strip_prefix("_ZN")?.rsplit_once("17h")?;
    let (digits, end) = hash.split_at_checked(RUST_HASH_DIGITS)?;
    let is_end = end == "E" || end.starts_with("E.");
    (is_end && digits.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(digits)
}
