//! Numbers for names that have none, and the memory of those that had: what lets a plain spelling go back to the
//! compressed one it came from.
//!
//! Callgrind numbers functions in the order it met them while the program ran, which no profile tells. So when the
//! numbers are taken away, the ones that could not be guessed are kept in comments at the end of the file:
//!
//! ```text
//! # gristmill names 1
//! # gristmill fn 0:502 3:796 0:780!
//! ```
//!
//! Each item is about one plain name of the space `ob`, `fl` or `fn`: how many guesses before it were right, and the
//! number it has; `!` when it was a definition where a reference was guessed, or the other way round; `-` in place of
//! the number when it has none.

use std::collections::VecDeque;
use std::num::NonZeroU32;

use crate::id_table::IdTable;
use crate::intern::NameStore;
use crate::name::NameSpace;
use crate::name_spaces::NameSpaces;
use crate::scan::number;

/// A number for a name, and whether it is defined there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Numbered {
    pub(crate) id: u64,
    pub(crate) defines: bool,
}

/// Ids from here on do not move the next id: no file has that many names, and there would be no next id.
const FAR: u64 = 1 << 63;

/// Guesses the numbers of one space: a name keeps the number it had last.
#[derive(Debug, Default)]
pub(crate) struct Numbering {
    names: NameStore,
    /// The number that each name had last, in the order of their ids in the store; from [`LARGE`] on, where it is.
    last: Vec<u32>,
    large: Vec<u64>,
    next: u64,
}

/// Numbers from here on are among the large ones.
const LARGE: u32 = 1 << 31;
/// For a name that has had no number.
const NONE: u32 = u32::MAX;

impl Numbering {
    /// Interns a name; `None` if there are too many.
    pub(crate) fn intern(&mut self, text: &[u8]) -> Option<NonZeroU32> {
        self.names.intern(text)
    }

    /// `true` if an interned name has this text.
    pub(crate) fn is(&self, name: NonZeroU32, text: &[u8]) -> bool {
        self.names.text(name.get()) == text
    }

    pub(crate) fn guess(&self, text: &[u8]) -> u64 {
        self.names.get(text).and_then(|name| self.last_of(name)).unwrap_or(self.next.max(1))
    }

    /// Returns the number that an interned name had last.
    pub(crate) fn last_of(&self, name: NonZeroU32) -> Option<u64> {
        match *self.last.get(name.get() as usize)? {
            NONE => None,
            last @ LARGE.. => Some(self.large[(last - LARGE) as usize]),
            last => Some(last.into()),
        }
    }

    pub(crate) fn learn(&mut self, text: &[u8], id: u64) {
        match self.names.intern(text) {
            Some(name) => self.learn_interned(name, id),
            None => self.reserve(id),
        }
    }

    /// Does the same as [`Numbering::learn`] for an interned name.
    pub(crate) fn learn_interned(&mut self, name: NonZeroU32, id: u64) {
        self.reserve(id);
        let index = name.get() as usize;
        if index >= self.last.len() {
            self.last.resize(index + 1, NONE);
        }
        let last = &mut self.last[index];
        match u32::try_from(id) {
            Ok(id) if id < LARGE => *last = id,
            // Its place among the large ones is the same as before.
            _ if (LARGE..NONE).contains(last) => self.large[(*last - LARGE) as usize] = id,
            _ => {
                let place = u32::try_from(self.large.len()).ok().and_then(|place| LARGE.checked_add(place));
                // Beyond that number of large ids, any guess will do.
                *last = place.unwrap_or(NONE);
                if *last != NONE {
                    self.large.push(id);
                }
            }
        }
    }

    /// Reserves memory for names.
    pub(crate) fn reserve_names(&mut self, name_count: usize) {
        self.names.reserve(name_count);
        self.last.reserve(name_count.saturating_add(1).saturating_sub(self.last.len()));
    }

    /// Leaves this number and those below to the names that have them.
    pub(crate) fn reserve(&mut self, id: u64) {
        if id < FAR {
            self.next = self.next.max(id + 1);
        }
    }

    /// A number that stands for no name yet, for one that cannot have the number that was guessed.
    pub(crate) fn unused(&mut self, is_used: impl Fn(u64) -> bool) -> u64 {
        let mut id = self.next.max(1);
        while is_used(id) {
            id = id.wrapping_add(1);
        }
        self.next = id.wrapping_add(1);
        id
    }
}

/// Guesses also where a number is defined: once in each part.
#[derive(Debug, Default)]
struct Guesses {
    numbering: Numbering,
    /// The part that defined a number last.
    defined: IdTable<u32>,
}

impl Guesses {
    fn guess(&self, text: &[u8], part: u32) -> Numbered {
        let id = self.numbering.guess(text);
        Numbered { id, defines: self.defined.get(id) != Some(part) }
    }

    fn learn(&mut self, text: &[u8], part: u32, numbered: Numbered) {
        self.numbering.learn(text, numbered.id);
        if numbered.defines {
            self.defined.set(numbered.id, part);
        }
    }
}

/// One wrong guess, put right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Correction {
    /// The count of right guesses between the last correction and this one.
    after: u64,
    /// None for a name that had no number.
    id: Option<u64>,
    /// `true` if the guess took a definition for a reference, or the other way round.
    flip: bool,
}

/// The wrong guesses of one space, in the order of the file.
#[derive(Debug, Default)]
struct Corrections {
    items: VecDeque<Correction>,
    right: u64,
}

/// Numbering with corrections: written while ids are removed, read while they are restored.
#[derive(Debug, Default)]
pub(crate) struct NumberMemory {
    spaces: NameSpaces<(Guesses, Corrections)>,
    has_numbers: bool,
}

const MARK: &[u8] = b"# gristmill names 1";
const LINE: &[u8] = b"# gristmill ";

fn key(space: NameSpace) -> &'static str {
    match space {
        NameSpace::Object => "ob",
        NameSpace::File => "fl",
        NameSpace::Function => "fn",
    }
}

impl NumberMemory {
    /// Takes note of a name that is about to lose its number, if it has one.
    pub(crate) fn forget(&mut self, space: NameSpace, text: &[u8], part: u32, given: Option<Numbered>) {
        let (guesses, corrections) = &mut self.spaces[space];
        let guess = guesses.guess(text, part);
        let Some(given) = given else {
            corrections.items.push_back(Correction { after: corrections.right, id: None, flip: false });
            corrections.right = 0;
            return;
        };
        self.has_numbers = true;
        if guess == given {
            corrections.right += 1;
        } else {
            corrections.items.push_back(Correction {
                after: corrections.right,
                id: Some(given.id),
                flip: guess.defines != given.defines,
            });
            corrections.right = 0;
        }
        guesses.learn(text, part, given);
    }

    /// The number that a plain name had.
    pub(crate) fn recall(&mut self, space: NameSpace, text: &[u8], part: u32) -> Option<Numbered> {
        let (guesses, corrections) = &mut self.spaces[space];
        let mut numbered = guesses.guess(text, part);
        match corrections.items.front_mut() {
            Some(correction) if correction.after == 0 => {
                let Correction { id, flip, .. } = *correction;
                corrections.items.pop_front();
                numbered.id = id?;
                numbered.defines ^= flip;
            }
            Some(correction) => correction.after -= 1,
            None => {}
        }
        guesses.learn(text, part, numbered);
        Some(numbered)
    }

    /// The comments that keep the corrections; none when no name had a number.
    pub(crate) fn to_comments(&self, ends_with_line_end: bool) -> Vec<u8> {
        let mut out = Vec::new();
        if !self.has_numbers {
            return out;
        }
        out.extend_from_slice(MARK);
        if !ends_with_line_end {
            out.extend_from_slice(b" unended");
        }
        out.push(b'\n');
        for space in NameSpace::ALL {
            let mut line = Vec::new();
            for Correction { after, id, flip } in &self.spaces[space].1.items {
                if line.is_empty() {
                    line.extend_from_slice(LINE);
                    line.extend_from_slice(key(space).as_bytes());
                }
                let id = id.map_or("-".to_owned(), |id| id.to_string());
                line.extend_from_slice(format!(" {after}:{id}{}", if *flip { "!" } else { "" }).as_bytes());
                if line.len() > 100 {
                    out.append(&mut line);
                    out.push(b'\n');
                }
            }
            if !line.is_empty() {
                out.append(&mut line);
                out.push(b'\n');
            }
        }
        out
    }

    /// Splits a file into the profile and the memory kept in the comments at its end. None when there is none, or
    /// none that can be read.
    pub(crate) fn from_comments(input: &[u8]) -> Option<(&[u8], NumberMemory)> {
        let start = if input.starts_with(MARK) {
            0
        } else {
            memchr::memmem::rfind(input, b"\n# gristmill names 1")? + 1
        };
        let mut memory = NumberMemory::default();
        let mut lines =
            input[start..].split(|&byte| byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        let unended = match lines.next()?.strip_prefix(MARK)? {
            b"" => false,
            b" unended" => true,
            _ => return None,
        };
        for line in lines.filter(|line| !line.is_empty()) {
            let mut words = line.strip_prefix(LINE)?.split(|&byte| byte == b' ');
            let word = words.next()?;
            let space = NameSpace::ALL.into_iter().find(|&space| key(space).as_bytes() == word)?;
            for item in words {
                let colon = memchr::memchr(b':', item)?;
                let (id, flip) = match &item[colon + 1..] {
                    [id @ .., b'!'] => (id, true),
                    id => (id, false),
                };
                let id = if id == b"-" { None } else { Some(number(id).ok()?) };
                let after = number(&item[..colon]).ok()?;
                memory.spaces[space].1.items.push_back(Correction { after, id, flip });
            }
        }
        let end = if unended { start.saturating_sub(1) } else { start };
        Some((&input[..end], memory))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        let defines = |id| Some(Numbered { id, defines: true });
        let refers = |id| Some(Numbered { id, defines: false });
        let names: [(&[u8], u32, Option<Numbered>); 16] = [
            (b"a", 0, defines(502)),
            (b"b", 0, defines(7)),
            (b"a", 0, refers(502)),
            (b"a", 0, defines(3)),
            (b"a", 0, refers(3)),
            (b"plain", 0, None),
            (b"b", 1, refers(7)),
            (b"a", 1, defines(3)),
            (b"c", 1, defines(503)),
            // The largest number of all, and the smallest.
            (b"d", 1, defines(u64::MAX)),
            (b"d", 1, refers(u64::MAX)),
            (b"d", 1, defines(u64::from(u32::MAX))),
            (b"d", 1, refers(u64::from(u32::MAX))),
            (b"d", 1, refers(3)),
            (b"", 1, defines(0)),
            (b"", 1, refers(0)),
        ];
        let mut memory = NumberMemory::default();
        for (text, part, given) in names {
            memory.forget(NameSpace::Function, text, part, given);
        }
        let mut file = b"profile\n".to_vec();
        file.extend(memory.to_comments(true));
        let (profile, mut memory) = NumberMemory::from_comments(&file).unwrap();
        assert_eq!(profile, b"profile\n");
        for (text, part, given) in names {
            assert_eq!(memory.recall(NameSpace::Function, text, part), given, "{}", text.escape_ascii());
        }
    }

    #[test]
    fn damaged_memory_is_no_memory() {
        for comments in [
            &b"# gristmill names 2\n"[..],
            b"# gristmill names 1\n# gristmill xx 0:1\n",
            b"# gristmill names 1\nfn=a\n",
        ] {
            assert!(NumberMemory::from_comments(comments).is_none(), "{}", comments.escape_ascii());
        }
    }
}
