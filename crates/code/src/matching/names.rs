//! Names of functions in a profile and in a program.
//!
//! A profile has names as its producer demangled them, which differ from ours in blanks, in spellings of types, and in marks of
//! clones. So two names are equal if their identifiers are, in order.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

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
        if raw == self.base || key_of_symbol(raw) == self.key {
            return true;
        }
        let Some(base) = std::str::from_utf8(self.base).ok().filter(|_| raw.starts_with(b"_Z")) else {
            return false;
        };
        match demangle(base_name(raw)) {
            // Arguments that depend on templates are not always demangled alike.
            Some(readable) => {
                let path = key_of_path(&readable);
                path.is_some() && path == key_of_path(base)
            }
            // The demangler does not know everything that can be in a name: then the own name has to be there.
            None => own_name(base).is_some_and(|own| {
                let mangled = format!("{}{own}", own.len());
                raw.windows(mangled.len()).any(|window| window == mangled.as_bytes())
            }),
        }
    }
}

/// All names of one address, so that a name of a profile is compared with them at once: linkers give thousands of functions with
/// equal code one address, and a profile can have as many names there.
pub(super) enum Aliases<'a> {
    Few(Vec<&'a [u8]>),
    Many(AliasSets<'a>),
}

/// The texts by which a name is [compared](ProfileName::is_of), as hashes: demangled, they are several times as long as the file.
#[derive(Default)]
pub(super) struct AliasSets<'a> {
    texts: HashSet<u64>,
    /// Names that the demangler does not know.
    unknown: Vec<&'a [u8]>,
}

/// Names that are compared one by one.
const MAX_FEW: usize = 8;

/// The rule that a text belongs to.
#[derive(Hash)]
enum TextRule {
    Raw,
    Key,
    Path,
}

impl<'a> Aliases<'a> {
    pub(super) fn new(names: impl Iterator<Item = &'a [u8]>) -> Self {
        let names: Vec<&[u8]> = names.collect();
        if names.len() <= MAX_FEW {
            return Self::Few(names);
        }
        let mut sets = AliasSets::default();
        for raw in names {
            sets.texts.insert(hash(TextRule::Raw, raw));
            sets.texts.insert(hash(TextRule::Key, key_of_symbol(raw).as_bytes()));
            if raw.starts_with(b"_Z") {
                match demangle(base_name(raw)).as_deref().map(key_of_path) {
                    Some(Some(path)) => {
                        sets.texts.insert(hash(TextRule::Path, path.as_bytes()));
                    }
                    Some(None) => {}
                    None if sets.unknown.len() < MAX_FEW => sets.unknown.push(raw),
                    None => {}
                }
            }
        }
        Self::Many(sets)
    }

    /// Returns `true` if one of the names can have been written as a name of a profile.
    pub(super) fn have(&self, name: &ProfileName<'_>) -> bool {
        let sets = match self {
            Self::Few(names) => return names.iter().any(|raw| name.is_of(raw)),
            Self::Many(sets) => sets,
        };
        if sets.texts.contains(&hash(TextRule::Raw, name.base))
            || sets.texts.contains(&hash(TextRule::Key, name.key.as_bytes()))
        {
            return true;
        }
        let path = std::str::from_utf8(name.base).ok().and_then(key_of_path);
        path.is_some_and(|path| sets.texts.contains(&hash(TextRule::Path, path.as_bytes())))
            || sets.unknown.iter().any(|raw| name.is_of(raw))
    }
}

fn hash(rule: TextRule, text: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    (rule, text).hash(&mut hasher);
    hasher.finish()
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

/// Returns the identifiers of the qualified name of a function: without its return type and arguments, which demanglers write
/// differently, as they do numbers (`0ul`, `(unsigned long)0`). `None` for a name that has no arguments.
fn key_of_path(readable: &str) -> Option<String> {
    let path = path(readable)?;
    let mut key = String::with_capacity(path.len());
    for part in path.split(|sign: char| !sign.is_alphanumeric() && sign != '_' && sign != '~') {
        let is_number = part.starts_with(|sign: char| sign.is_ascii_digit());
        let part = if is_number { part.trim_end_matches(['u', 'l']) } else { part };
        if !part.is_empty() && !NUMBER_WORDS.contains(&part) {
            key.push_str(part);
            key.push(' ');
        }
    }
    Some(key)
}

/// Returns the qualified name of a function with arguments, without its return type.
fn path(readable: &str) -> Option<&str> {
    let (mut depth, mut start, mut end) = (0_usize, 0, None);
    for (at, sign) in readable.char_indices() {
        match sign {
            '(' | '<' => {
                if sign == '(' && depth == 0 {
                    end = Some(at);
                }
                depth += 1;
            }
            ')' | '>' => depth = depth.saturating_sub(1),
            ' ' if depth == 0 && end.is_none() => start = at + 1,
            _ => {}
        }
    }
    readable.get(start..end?)
}

/// Returns the last identifier of a qualified name, without its template arguments.
fn own_name(readable: &str) -> Option<&str> {
    let path = path(readable)?;
    let (mut depth, mut start, mut end) = (0_usize, 0, path.len());
    for (at, sign) in path.char_indices() {
        match sign {
            '<' => {
                if depth == 0 {
                    end = at;
                }
                depth += 1;
            }
            '>' => depth = depth.saturating_sub(1),
            ':' if depth == 0 => (start, end) = (at + 1, path.len()),
            _ => {}
        }
    }
    path.get(start..end).filter(|own| !own.is_empty())
}

/// Words of types that demanglers write before numbers, or leave out.
const NUMBER_WORDS: [&str; 2] = ["unsigned", "long"];

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

    /// One name, and the same among many others, which are compared at once.
    fn is_of(in_profile: &str, raw: &str) -> bool {
        let others: Vec<String> = (0..MAX_FEW).map(|other| format!("_Z8other{other:03}v")).collect();
        let all = others.iter().map(String::as_bytes).chain([raw.as_bytes()]);
        let aliases = Aliases::new(all);
        assert!(matches!(aliases, Aliases::Many(_)));
        let Some(name) = ProfileName::parse(in_profile.as_bytes()) else { return false };
        let is_of = name.is_of(raw.as_bytes());
        assert_eq!(aliases.have(&name), is_of, "{in_profile} {raw}");
        is_of
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
            // Demanglers differ in numbers and in arguments that depend on templates.
            (
                "std::_Head_base<0ul, char const&, false>::_Head_base(char const&)",
                "_ZNSt10_Head_baseILm0ERKcLb0EEC2ES1_",
            ),
            (
                "std::enable_if<std::__is_x<int>::value>::type std::swap<int>(int&, int&)",
                "_ZSt4swapIiENSt9enable_ifIXsrSt6__is_xIT_E5valueEE4typeERS4_SE_",
            ),
            ("std::tuple<char const&>::tuple<true, true>(char const&)", "_ZNSt5tupleIJRKcEEC2ILb1ELb1EEES1_"),
            ("puts@@GLIBC_2.2.5", "puts"),
        ] {
            assert!(is_of(in_profile, raw), "{in_profile} {raw}");
        }
        for (in_profile, raw) in [
            ("grind", "crush"),
            ("stone::grind()", "_ZN5stone5crushEv"),
            ("Sack<double>::total()", "_ZN4SackIiE5totalEv"),
            ("???", "???"),
            ("0x0000000000001149", "0x0000000000001149"),
            ("(below main)", "__libc_start_main"),
        ] {
            assert!(!is_of(in_profile, raw), "{in_profile} {raw}");
        }
    }
}
