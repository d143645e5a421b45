//! Names of functions in a profile and in a program.
//!
//! A profile has names as its producer demangled them, which differ from ours in blanks, in spellings of types, and in marks of
//! clones. So two names are equal if their identifiers are, in order.

use crate::demangle::demangle;
use crate::symbols::base_name;

/// The name of a function in a profile, without the level of its recursion and its callers.
pub(super) struct ProfileName<'a> {
    base: &'a [u8],
    key: String,
}

impl<'a> ProfileName<'a> {
    /// Parses a name. `None` if it does not name a function.
    pub(super) fn parse(name: &'a [u8]) -> Option<Self> {
        let base = gristmill_format::FunctionName::parse(name).base();
        let is_unknown =
            base.is_empty() || base == b"???" || base.starts_with(b"0x") || base == b"(below main)";
        (!is_unknown).then(|| Self { base, key: key_of_symbol(base) })
    }

    /// Returns a text that is equal for names of one function.
    pub(super) fn key(&self) -> &str {
        &self.key
    }

    /// Returns `true` if a symbol of the program can have been written as this name.
    pub(super) fn is_of(&self, raw: &[u8]) -> bool {
        raw == self.base || key_of_symbol(raw) == self.key
    }
}

/// Returns the identifiers of a name, mangled or demangled.
pub(super) fn key_of_symbol(raw: &[u8]) -> String {
    let base = base_name(raw);
    let readable = demangle(base).unwrap_or_else(|| String::from_utf8_lossy(base).into_owned());
    // Callgrind writes `f() [clone .part.0]`.
    let readable = readable.split(" [clone").next().unwrap_or_default();
    let readable = without_hash(readable);
    let is_part = |sign: char| sign.is_alphanumeric() || sign == '_' || sign == '~';
    let mut key = String::with_capacity(readable.len());
    for part in readable.split(|sign| !is_part(sign)).filter(|part| !part.is_empty()) {
        key.push_str(part);
        key.push(' ');
    }
    if key.is_empty() {
        key.push_str(readable);
    }
    key
}

/// Removes the hash of Rust's older mangling.
fn without_hash(name: &str) -> &str {
    const HASH_BYTES: usize = "::h0123456789abcdef".len();
    let Some(at) = name.len().checked_sub(HASH_BYTES).filter(|at| name.is_char_boundary(*at)) else {
        return name;
    };
    let (rest, hash) = name.split_at(at);
    let is_hash =
        hash.strip_prefix("::h").is_some_and(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
    if is_hash { rest } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_of(in_profile: &str, raw: &str) -> bool {
        ProfileName::parse(in_profile.as_bytes()).is_some_and(|name| name.is_of(raw.as_bytes()))
    }

    #[test]
    fn names_of_a_profile_are_those_of_symbols() {
        for (in_profile, raw) in [
            ("grind", "grind"),
            ("grind'2", "grind"),
            ("grind'2'main", "grind"),
            ("grind.constprop.0", "grind.constprop.0"),
            ("grind", "grind.part.0"),
            ("_ZN5stone5crushEv", "_ZN5stone5crushEv"),
            ("stone::crush()", "_ZN5stone5crushEv"),
            ("stone::crush() [clone .part.0]", "_ZN5stone5crushEv.part.0"),
            ("core::fmt::write", "_ZN4core3fmt5write17h0123456789abcdefE"),
            ("core::fmt::write::h0123456789abcdef", "_ZN4core3fmt5write17h0123456789abcdefE"),
            ("mill::main", "_RNvC4mill4main"),
            ("puts@@GLIBC_2.2.5", "puts"),
        ] {
            assert!(is_of(in_profile, raw), "{in_profile} {raw}");
        }
        for (in_profile, raw) in [
            ("grind", "crush"),
            ("stone::crush(int)", "_ZN5stone5crushEv"),
            ("???", "???"),
            ("0x0000000000001149", "0x0000000000001149"),
            ("(below main)", "__libc_start_main"),
        ] {
            assert!(!is_of(in_profile, raw), "{in_profile} {raw}");
        }
    }
}
