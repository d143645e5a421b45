//! The cuts of an input, and the state that is speculated to hold at them.

use std::ops::Range;

use gristmill_format::raw::{BaseRule, Resumption};
use gristmill_format::{Columns, ErrorKind, Header, Line, NameKey, Reader};
use memchr::memmem;

use super::local::offset;

/// The state that a chunk is read with before it is known what precedes it. Stitching compares it with the actual state.
#[derive(Debug, Clone, Copy)]
pub(super) struct Speculation<'a> {
    pub(super) resumption: Resumption,
    pub(super) state: ReadingState<'a>,
}

/// The state that decides how lines are read, beside names and positions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ReadingState<'a> {
    pub(super) columns: Columns,
    /// The value of the `events:` line, from the first name to the last.
    pub(super) events: &'a [u8],
    pub(super) has_events: bool,
    /// The file of a function is named with `fl=`.
    pub(super) has_fl: bool,
    pub(super) base_rule: BaseRule,
    /// There was an indented line, which changes how later ones are read.
    pub(super) is_indented: bool,
}

impl ReadingState<'_> {
    /// The state at the start of an input.
    pub(super) const START: ReadingState<'static> = ReadingState {
        columns: Columns::LINE,
        events: b"",
        has_events: false,
        has_fl: false,
        base_rule: BaseRule::AllCosts,
        is_indented: false,
    };
}

/// Returns the words of an `events:` line as one text, from the first to the last.
pub(super) fn span<'a>(input: &'a [u8], words: impl Iterator<Item = &'a [u8]>) -> &'a [u8] {
    let mut range: Option<Range<usize>> = None;
    for word in words {
        let start = offset(input, word);
        let first = range.map_or(start, |range| range.start);
        range = Some(first..start + word.len());
    }
    range.map_or(b"", |range| &input[range])
}

/// Returns the state at the first function of an input, which is that of most others too. Returns `None` if the header is
/// too unusual.
pub(super) fn speculate(input: &[u8]) -> Option<Speculation<'_>> {
    let mut state = ReadingState::START;
    let mut reader = Reader::new(input);
    let mut part = 0;
    loop {
        let item = reader.next()?;
        if let Ok(record) = &item
            && record.part != part
        {
            part = record.part;
            state.events = b"";
            state.has_events = false;
        }
        match item {
            Ok(record) => match record.line {
                Line::Header(Header::Events(words)) => {
                    state.events = span(input, words.iter());
                    state.has_events = !state.events.is_empty();
                }
                Line::NewProfile(_) => return None,
                Line::Name(NameKey::Fl, _) => state.has_fl = true,
                Line::Name(NameKey::Fn, _) => break,
                _ => {}
            },
            Err(error) if matches!(error.kind(), ErrorKind::LeadingBlank | ErrorKind::NotAProfile(_)) => {
                return None;
            }
            Err(_) => {}
        }
    }
    if !state.has_events {
        return None;
    }
    state.columns = *reader.columns();
    state.base_rule = reader.base_rule();
    let resumption = reader.resumption().with_lines(0).without_base();
    Some(Speculation { resumption, state })
}

/// Returns the offsets of lines with `fn=` that divide an input into chunks of about this size.
pub(super) fn cuts(input: &[u8], size: usize) -> Vec<usize> {
    let finder = memmem::Finder::new(b"\nfn=");
    let mut cuts = Vec::new();
    let mut wanted = size;
    while let Some(rest) = input.get(wanted..)
        && let Some(found) = finder.find(rest)
    {
        let at = wanted + found + 1;
        cuts.push(at);
        wanted = at + size;
    }
    cuts
}
