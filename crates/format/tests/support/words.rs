//! Words, numbers and names as a profile spells them, read in the plainest way: for models that share nothing with the
//! crates.

use std::collections::BTreeMap;

/// Every byte as one character, so that bytes that are no text stay apart.
pub(crate) fn text(bytes: &[u8]) -> String {
    bytes.iter().map(|&byte| char::from(byte)).collect()
}

pub(crate) fn is_blank(character: char) -> bool {
    character == ' ' || character == '\t'
}

pub(crate) fn words(text: &str) -> Vec<&str> {
    text.split(is_blank).filter(|word| !word.is_empty()).collect()
}

pub(crate) fn number(word: &str) -> Option<u64> {
    // The parser of the language takes a sign, the format does not.
    if !word.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    match word.strip_prefix("0x") {
        Some(digits) if digits.starts_with('+') => None,
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => word.parse().ok(),
    }
}

pub(crate) fn cost(word: &str) -> Option<i128> {
    match word.strip_prefix('-') {
        Some(digits) => number(digits).map(|cost| -i128::from(cost)),
        None => number(word).map(i128::from),
    }
}

/// The event types of an `events:` line; the second one of a name has `#2` behind it.
pub(crate) fn event_types(value: &str) -> Vec<String> {
    let words = words(value);
    let name = |(nth, word): (usize, &&str)| match words[..nth].iter().filter(|other| *other == word).count()
    {
        0 => (*word).to_owned(),
        before => format!("{word}#{}", before + 1),
    };
    words.iter().enumerate().map(name).collect()
}

/// The meanings of ids: objects, files and functions.
#[derive(Debug, Default)]
pub(crate) struct Names([BTreeMap<u64, String>; 3]);

pub(crate) const OBJECTS: usize = 0;
pub(crate) const FILES: usize = 1;
pub(crate) const FUNCTIONS: usize = 2;

/// The origin of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// It is spelled out, or its number stands for it.
    Said,
    /// It begins as a number would, but there is none.
    NoNumber,
    /// Its number stands for nothing.
    Undefined,
    /// It is made of other names.
    Made,
}

impl Names {
    /// `(7) name` says what 7 stands for, `(7)` stands for it, and everything else is the name.
    pub(crate) fn read(&mut self, space: usize, value: &str) -> (String, Origin) {
        if !opens_number(value) {
            return (value.to_owned(), Origin::Said);
        }
        let numbered = value[1..].split_once(')').and_then(|(digits, rest)| Some((number(digits)?, rest)));
        let Some((id, rest)) = numbered else { return (value.to_owned(), Origin::NoNumber) };
        let name = rest.trim_start_matches(is_blank);
        match self.0[space].get(&id) {
            Some(known) if name.is_empty() => (known.clone(), Origin::Said),
            None if rest.is_empty() => (format!("({id})"), Origin::Undefined),
            _ => {
                let made = self.with_references(space, name);
                self.0[space].insert(id, made.clone());
                let origin = if made == name { Origin::Said } else { Origin::Made };
                (made, origin)
            }
        }
    }

    /// `(4)'2'(6)` is made of two other names and a level of recursion.
    fn with_references(&self, space: usize, name: &str) -> String {
        let piece = |piece: &str| match piece.strip_prefix('(').and_then(|piece| piece.strip_suffix(')')) {
            Some(digits) => self.0[space].get(&number(digits)?).cloned(),
            None => number(piece).map(|_| piece.to_owned()),
        };
        let made: Option<Vec<String>> = name.split('\'').map(piece).collect();
        match made {
            Some(pieces) if opens_number(name) => pieces.join("'"),
            _ => name.to_owned(),
        }
    }
}

/// `true` if a text begins as `(7)` does.
fn opens_number(text: &str) -> bool {
    text.strip_prefix('(').is_some_and(|inside| inside.starts_with(|first: char| first.is_ascii_digit()))
}
