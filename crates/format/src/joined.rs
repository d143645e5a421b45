//! Joined files: signs that the parts of one file were not written as one, because somebody put files together.
//!
//! A producer writes each part of a recording once, and all parts of a file for one process. Xdebug appends profiles of
//! several processes to a file, each behind a line of its own, and merging with parts kept says which file each is from.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use memchr::memmem;

use crate::location::Location;
use crate::shape::{Shape, shape};
use crate::shown::shown;

/// Bytes at either end of a part that are compared before the whole text.
const SAMPLE_BYTES: usize = 48;

const COMMAND: &[u8] = b"cmd:";

/// The kind of description that says which file a part was in.
const PART_OF: &[u8] = b"Part of";

/// A part of a file, as far as the question matters whether the file was joined from several. See the example of
/// [`JoinedParts`].
#[derive(Debug, Clone, Copy)]
pub struct JoinedPart<'a> {
    /// The location where it begins.
    pub location: Location,
    /// The bytes of the part.
    pub text: &'a [u8],
    /// The process, of this part or one before.
    pub pid: Option<u64>,
    /// The number of the dump.
    pub number: Option<u64>,
    /// The thread.
    pub thread: Option<u64>,
    /// The command, of this part or one before.
    pub command: Option<&'a [u8]>,
    /// The creator, of this part or one before.
    pub creator: Option<&'a [u8]>,
    /// `true` if it says which file it was in: see [`says_its_file`].
    pub says_its_file: bool,
}

/// `true` if a description of this kind says which file a part was in.
///
/// ```
/// assert!(gristmill_format::says_its_file(b"Part of"));
/// assert!(!gristmill_format::says_its_file(b"Trigger"));
/// ```
pub fn says_its_file(kind: &[u8]) -> bool {
    kind == PART_OF
}

/// The parts of one file so far.
///
/// ```
/// use gristmill_format::{JoinSign, JoinedPart, JoinedParts, Location};
///
/// let text = b"pid: 7\nevents: Ir\nfn=f\n1 2\n";
/// let part = |line| JoinedPart {
///     location: Location { byte: 0, line },
///     text,
///     pid: Some(7),
///     number: None,
///     thread: None,
///     command: None,
///     creator: None,
///     says_its_file: false,
/// };
/// let mut parts = JoinedParts::default();
/// assert_eq!(parts.add(&part(1)), None);
/// assert_eq!(parts.add(&part(5)), Some(JoinSign::SameText { line: 1 }));
/// ```
#[derive(Debug, Default)]
pub struct JoinedParts<'a> {
    last: Option<JoinedPart<'a>>,
    /// The numbers of the parts of each process and thread.
    numbers: HashMap<(Option<u64>, Option<u64>), Numbers>,
    /// By a hash of the length and both ends. If another text has the same, by a hash of all bytes.
    texts: HashMap<u64, (&'a [u8], u64)>,
}

/// The numbers of parts. Nearly always, each is the one after that before.
#[derive(Debug)]
struct Numbers {
    first: u64,
    last: u64,
    #[expect(clippy::box_collection, reason = "a file may have many threads, and hardly ever such a set")]
    others: Option<Box<HashSet<u64>>>,
}

impl Numbers {
    /// Adds a number, and returns `true` if it is new.
    fn insert(&mut self, number: u64) -> bool {
        if self.last.checked_add(1) == Some(number) {
            self.last = number;
            return self.others.as_ref().is_none_or(|others| !others.contains(&number));
        }
        !(self.first..=self.last).contains(&number) && self.others.get_or_insert_default().insert(number)
    }
}

/// A sign that a part was not written together with the parts before. See the example of [`JoinedParts`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum JoinSign {
    /// It has the same text as a part before, which begins at this line.
    SameText {
        /// The line.
        line: u64,
    },
    /// The process and thread have a part of this number already.
    SameNumber {
        /// The number.
        number: u64,
        /// The thread.
        thread: Option<u64>,
    },
    /// It is of another process than the part before.
    Process(u64, u64),
    /// It is of another command than the part before.
    Command(Vec<u8>, Vec<u8>),
    /// It was written by another program than the part before.
    Creator(Vec<u8>, Vec<u8>),
}

impl<'a> JoinedParts<'a> {
    /// Adds the next part, and returns the sign that it does not belong to those before, if there is one.
    pub fn add(&mut self, part: &JoinedPart<'a>) -> Option<JoinSign> {
        let last = self.last.replace(*part);
        if part.says_its_file {
            return None;
        }
        let is_appended = is_appended(part.text);
        if is_appended {
            // Each profile that Xdebug appends is a process of its own, with a part 1.
            self.numbers.clear();
        }
        let same_number = self.has_number(part);
        // Numbers tell the parts of one process apart in less memory.
        let has_own_text = part.number.is_none() || is_appended;
        let last = last.filter(|_| !is_appended).filter(|last| !last.says_its_file);
        let same_text = if has_own_text { self.same_text(part) } else { None };
        same_text
            .map(|line| JoinSign::SameText { line })
            .or_else(|| last.and_then(|last| other_run(&last, part)))
            .or(same_number)
    }

    fn has_number(&mut self, part: &JoinedPart<'a>) -> Option<JoinSign> {
        let number = part.number?;
        let is_new = match self.numbers.entry((part.pid, part.thread)) {
            Entry::Vacant(new) => {
                new.insert(Numbers { first: number, last: number, others: None });
                true
            }
            Entry::Occupied(mut numbers) => numbers.get_mut().insert(number),
        };
        (!is_new).then_some(JoinSign::SameNumber { number, thread: part.thread })
    }

    /// Returns the line of a part with the same text.
    fn same_text(&mut self, part: &JoinedPart<'a>) -> Option<u64> {
        let text = trim(part.text);
        let ends = (&text[..text.len().min(SAMPLE_BYTES)], &text[text.len().saturating_sub(SAMPLE_BYTES)..]);
        let mine = (text, part.location.line);
        let mut same = *self.texts.entry(hash_of(&(text.len(), ends))).or_insert(mine);
        if same.0 != text {
            same = *self.texts.entry(hash_of(&text)).or_insert(mine);
        }
        // Without costs, nothing counts twice.
        (same != mine && same.0 == text && memmem::find(text, b"fn=").is_some()).then_some(same.1)
    }
}

impl JoinSign {
    /// Returns what is wrong, about a part.
    pub fn sentence(&self) -> String {
        let differ = |what: &str, one: &str, other: &str| {
            format!("is of another recording ({what} {one} | {other}), and their costs are added up")
        };
        match self {
            JoinSign::SameText { line } => {
                format!("has the same text as the one at line {line}: its costs count twice")
            }
            JoinSign::SameNumber { number, thread } => {
                let thread = thread.map(|thread| format!(", thread {thread}")).unwrap_or_default();
                format!("repeats part {number}{thread} of its process: its costs are added up again")
            }
            JoinSign::Process(one, other) => differ("process", &one.to_string(), &other.to_string()),
            JoinSign::Command(one, other) => differ("command", &shown(one), &shown(other)),
            JoinSign::Creator(one, other) => differ("producer", &shown(one), &shown(other)),
        }
    }

    /// `true` if costs that were there before are there again.
    pub fn is_repetition(&self) -> bool {
        matches!(self, JoinSign::SameText { .. } | JoinSign::SameNumber { .. })
    }
}

/// Returns what tells that a part is of another run than the one before.
fn other_run(last: &JoinedPart<'_>, part: &JoinedPart<'_>) -> Option<JoinSign> {
    if let Some((one, other)) = commands(last.text).filter(|(one, other)| one != other) {
        return Some(JoinSign::Command(one.to_vec(), other.to_vec()));
    }
    let differ = |one: Option<&[u8]>, other: Option<&[u8]>| {
        let (one, other) = (one?.trim_ascii(), other?.trim_ascii());
        (one != other).then(|| (one.to_vec(), other.to_vec()))
    };
    if let Some((one, other)) = differ(last.command, part.command) {
        return Some(JoinSign::Command(one, other));
    }
    if let (Some(one), Some(other)) = (last.pid, part.pid)
        && one != other
    {
        return Some(JoinSign::Process(one, other));
    }
    differ(last.creator, part.creator).map(|(one, other)| JoinSign::Creator(one, other))
}

/// `true` if a part begins with the line that Xdebug writes between profiles.
fn is_appended(text: &[u8]) -> bool {
    let text = text.trim_ascii_start();
    let line = text.split(is_line_end).next().unwrap_or_default();
    matches!(shape(line), Shape::NewProfile)
}

fn is_line_end(byte: &u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// `true` for lines before a part that look like those of the part before: comments, and what Cachegrind writes
/// before `events:`.
fn is_before_part(line: &[u8]) -> bool {
    line.is_empty() || [&b"#"[..], b"desc:", COMMAND].iter().any(|start| line.starts_with(start))
}

/// Divides a text into the part and the lines behind it that are before the next part.
fn split_end(text: &[u8]) -> (&[u8], &[u8]) {
    let mut end = text.len();
    while end > 0 {
        let without_end = text[..end].trim_ascii_end();
        let start = without_end.iter().rposition(is_line_end).map_or(0, |at| at + 1);
        if !is_before_part(&without_end[start..]) {
            return (without_end, &text[end..]);
        }
        end = start;
    }
    (b"", text)
}

/// Returns the text of a part without the lines that may be in the part before.
fn trim(text: &[u8]) -> &[u8] {
    let mut text = split_end(text).0.trim_ascii_start();
    while let Some(end) = text.iter().position(is_line_end)
        && is_before_part(&text[..end])
    {
        text = text[end..].trim_ascii_start();
    }
    text
}

fn command_in<'a>(mut lines: impl Iterator<Item = &'a [u8]>) -> Option<&'a [u8]> {
    lines.find_map(|line| line.strip_prefix(COMMAND)).map(<[u8]>::trim_ascii)
}

/// Returns the command of a part, and that of the next if it is named before the next part begins.
fn commands(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let next = command_in(split_end(text).1.rsplit(is_line_end))?;
    let header = text.split(is_line_end).take_while(|line| !line.starts_with(b"fn="));
    Some((command_in(header)?, next))
}

fn hash_of(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(line: u64, text: &'static [u8]) -> JoinedPart<'static> {
        JoinedPart {
            location: Location { byte: 0, line },
            text,
            pid: None,
            number: None,
            thread: None,
            command: None,
            creator: None,
            says_its_file: false,
        }
    }

    #[test]
    fn equal_texts_are_found_also_apart() {
        let mut parts = JoinedParts::default();
        let texts: [&[u8]; 4] = [
            b"events: Ir\nfn=f\n1 2\n# callgrind format\n",
            b"events: Ir\nfn=g\n1 2\n",
            b"events: Ir\nfn=f\n1 2\n\n",
            b"events: Ir\nfn=g\n1 2",
        ];
        let signs: Vec<_> = (1..).zip(texts).map(|(line, text)| parts.add(&part(line, text))).collect();
        assert_eq!(
            signs,
            [None, None, Some(JoinSign::SameText { line: 1 }), Some(JoinSign::SameText { line: 2 })]
        );
    }

    #[test]
    fn numbers_are_known_in_any_order() {
        let mut numbers = Numbers { first: 3, last: 3, others: None };
        let are_new = [4, 1, 1, 4, 6, 5, 6, 7, u64::MAX, 0, 1].map(|number| numbers.insert(number));
        let expected = [true, true, false, false, true, true, false, true, true, true, false];
        assert_eq!(are_new, expected);
    }

    #[test]
    fn texts_with_equal_ends_differ() {
        let text = |middle: u8| {
            [&[b'#'; 200][..], b"\nfn=f\n", &[middle], &[b' '; 10], &[b'1'; 200]].concat().leak()
        };
        let mut parts = JoinedParts::default();
        let texts = [b'a', b'b', b'c', b'b', b'a'].map(|middle| &*text(middle));
        let signs: Vec<_> = (1..).zip(texts).map(|(line, text)| parts.add(&part(line, text))).collect();
        let same = |line| Some(JoinSign::SameText { line });
        assert_eq!(signs, [None, None, None, same(2), same(1)]);
    }

    #[test]
    fn parts_without_costs_do_not_count_twice() {
        let mut parts = JoinedParts::default();
        assert_eq!(parts.add(&part(1, b"events: Ir\n")), None);
        assert_eq!(parts.add(&part(2, b"events: Ir\n")), None);
    }

    #[test]
    fn another_run_is_no_other_part() {
        let one =
            JoinedPart { pid: Some(1), number: Some(1), command: Some(b"a"), ..part(1, b"fn=f\n1 2\n") };
        let next = JoinedPart { number: Some(2), ..JoinedPart { text: b"fn=f\n1 3\n", ..one } };
        let sign = |other: JoinedPart<'static>| {
            let mut parts = JoinedParts::default();
            assert_eq!(parts.add(&one), None);
            parts.add(&other)
        };
        assert_eq!(sign(next), None);
        assert_eq!(sign(JoinedPart { thread: Some(2), number: Some(1), ..next }), None);
        let number = JoinedPart { number: Some(1), ..next };
        assert_eq!(sign(number), Some(JoinSign::SameNumber { number: 1, thread: None }));
        assert_eq!(sign(JoinedPart { pid: Some(2), ..next }), Some(JoinSign::Process(1, 2)));
        let command = JoinedPart { pid: Some(2), command: Some(b"b"), ..next };
        assert_eq!(sign(command), Some(JoinSign::Command(b"a".to_vec(), b"b".to_vec())));
        assert_eq!(sign(JoinedPart { says_its_file: true, ..command }), None);
        let appended = b"==== NEW PROFILING FILE ====\nfn=f\n1 3\n";
        assert_eq!(sign(JoinedPart { text: appended, ..command }), None);
    }
}
