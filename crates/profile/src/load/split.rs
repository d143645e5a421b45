//! The cuts of an input, and the probable state at them.

use std::ops::Range;

use gristmill_format::raw::{BaseRule, Resumption};
use gristmill_format::{Columns, ErrorKind, Header, Line, NameKey, Reader};
use memchr::memmem;

/// The assumed state at the beginning of a piece, before the text before it was read. Later it is compared with the real one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Speculation<'a> {
    pub(super) resumption: Resumption,
    pub(super) state: State<'a>,
}

/// The state that decides how lines are read, besides names and positions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct State<'a> {
    pub(super) columns: Columns,
    /// The value of the `events:` line, from the first name to the last.
    pub(super) events: &'a [u8],
    pub(super) has_events: bool,
    /// The file of a function is said with `fl=`.
    pub(super) has_fl: bool,
    pub(super) base_rule: BaseRule,
    /// There was an indented line, which changes how others are read.
    pub(super) is_indented: bool,
}

impl State<'_> {
    /// The state at the beginning of an input.
    pub(super) const START: State<'static> = State {
        columns: Columns::LINE,
        events: b"",
        has_events: false,
        has_fl: false,
        base_rule: BaseRule::AllCosts,
        is_indented: false,
    };
}

/// The words of an `events:` line as one text, from the first to the last.
pub(super) fn span<'a>(input: &'a [u8], words: impl Iterator<Item = &'a [u8]>) -> &'a [u8] {
    let mut range: Option<Range<usize>> = None;
    for word in words {
        let start = offset(input, word);
        let first = range.map_or(start, |range| range.start);
        range = Some(first..start + word.len());
    }
    range.and_then(|range| input.get(range)).unwrap_or_default()
}

/// The offset of a slice in the input.
pub(super) fn offset(input: &[u8], slice: &[u8]) -> usize {
    (slice.as_ptr() as usize).saturating_sub(input.as_ptr() as usize)
}

/// The state at the first function of an input, which most others probably share. `None` if it says too little.
pub(super) fn speculate(input: &[u8]) -> Option<Speculation<'_>> {
    let mut state = State::START;
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

/// Cuts an input before lines that begin with `fn=`, into pieces of about this size.
pub(super) fn cut(input: &[u8], size: usize) -> Vec<usize> {
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
