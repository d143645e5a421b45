//! Shortening of names: the function's own name stays, everything else gives way in a fixed order.

use std::borrow::Cow;

use unicode_width::UnicodeWidthStr as _;

use gristmill_format::FunctionName;

use crate::symbol::scope::{Anatomy, Depth, operator_end};
use crate::symbol::{function_base, is_level};

/// The text between a function and its recorded callers.
pub(super) const CALLED_FROM: &str = " ← ";
/// The greatest depth of template arguments that are shown.
const MAX_SHOWN_DEPTH: usize = 8;
/// The recorded callers that are shown if not all of them fit.
const MAX_CALLERS: usize = 32;
/// The limit of an own name, in characters. A longer one loses its middle: it is a mangled name that nobody reads, or an attack.
const MAX_OWN_CHARACTERS: usize = 400;
/// The nesting of brackets in which differences are looked for.
const MAX_REVEALED_DEPTH: usize = 64;

/// Shortens a name to a width in columns of a terminal.
///
/// What goes first: the names of recorded callers, return type and arguments, the deepest template arguments, then all of
/// them, then the scope from the left. `…` marks a gap. The own name of the function, its level of recursion and the mark
/// of a clone always stay, even if they are wider.
///
/// ```
/// use gristmill_profile::symbol::shorten;
///
/// let name = "void std::sort<std::vector<Mill, std::allocator<Mill> > >(std::vector<Mill>&)";
/// assert_eq!(shorten(name, 100), name);
/// assert_eq!(shorten(name, 40), "std::sort<std::vector<…> >(…)");
/// assert_eq!(shorten(name, 16), "std::sort<…>(…)");
/// assert_eq!(shorten(name, 10), "std::sort");
/// assert_eq!(shorten(name, 3), "…sort");
/// assert_eq!(shorten("gen::collatz'2'gen::main", 40), "gen::collatz'2 ← gen::main");
/// ```
pub fn shorten(name: &str, columns: usize) -> Cow<'_, str> {
    // The quote may be followed by callers.
    if name.width() <= columns && !name.contains('\'') {
        return Cow::Borrowed(name);
    }
    let shortened = ShortName::new(name).fitted(columns, &[], &[], None).name;
    if shortened == name { Cow::Borrowed(name) } else { Cow::Owned(shortened) }
}

/// A position in a name that has to be shown: the index of the piece, and a byte in it.
pub(super) type Revealed = (usize, usize);

/// A name that was shortened, with as much of a place as fits beside it. See the example of [`fit_labels`](super::fit_labels).
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Fitted {
    /// The name.
    pub name: String,
    /// The source file or object, if it fits.
    pub place: Option<String>,
}

impl std::fmt::Display for Fitted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)?;
        match &self.place {
            Some(place) => write!(f, " ({place})"),
            None => Ok(()),
        }
    }
}

/// A function or a caller in a name, with its level of recursion.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece<'n> {
    pub(super) text: &'n str,
    /// `'2`, or nothing.
    level: &'n str,
}

/// A name in pieces: the function and its recorded callers.
#[derive(Debug)]
pub(super) struct ShortName<'n> {
    pub(super) pieces: Vec<Piece<'n>>,
}

/// The amount of a name that is shown. Each variant shows no more than the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Detail {
    Full,
    WithoutReturnType,
    /// Arguments are left out, and template arguments from this depth on.
    Signature(usize),
    /// Neither arguments nor the template arguments of the function.
    Bare,
    Own,
}

/// The same for recorded callers.
#[derive(Debug, Clone, Copy)]
enum Callers {
    All(Detail),
    Nearest(usize),
}

impl<'n> ShortName<'n> {
    pub(super) fn new(name: &'n str) -> Self {
        let parsed = FunctionName::parse(name.as_bytes());
        let base = function_base(name).len();
        if base == name.len() {
            return ShortName { pieces: vec![Piece { text: name, level: "" }] };
        }
        let mut pieces: Vec<Piece<'n>> = vec![Piece { text: &name[..base], level: "" }];
        let mut at = base;
        if let Some(level) = parsed.recursion() {
            let digits = name[base + 1..].bytes().take_while(u8::is_ascii_digit).count();
            debug_assert!(name[base + 1..][..digits].parse() == Ok(level));
            at += 1 + digits;
            pieces[0].level = &name[base..at];
        }
        for caller in parsed.callers() {
            let start = at;
            at += 1 + caller.len();
            match pieces.last_mut() {
                Some(last) if is_level(caller) && last.level.is_empty() => last.level = &name[start..at],
                _ => pieces.push(Piece { text: &name[start + 1..at], level: "" }),
            }
        }
        ShortName { pieces }
    }

    /// Returns the whole name, with its callers set apart.
    pub(super) fn full(&self) -> String {
        let length = |piece: &Piece<'_>| CALLED_FROM.len() + piece.text.len() + piece.level.len();
        let mut full = String::with_capacity(self.pieces.iter().map(length).sum());
        for (nth, piece) in self.pieces.iter().enumerate() {
            full.push_str(if nth > 0 { CALLED_FROM } else { "" });
            full.push_str(piece.text);
            full.push_str(piece.level);
        }
        full
    }

    /// Returns the first position at which two names differ.
    pub(super) fn difference(&self, other: &ShortName<'_>) -> Option<Revealed> {
        for (nth, piece) in self.pieces.iter().enumerate() {
            let Some(other) = other.pieces.get(nth) else { return Some((nth, 0)) };
            let pairs = piece.text.char_indices().zip(other.text.chars());
            let different = pairs.into_iter().find(|((_, a), b)| a != b).map(|((at, _), _)| at);
            match different {
                Some(at) => return Some((nth, at)),
                None if piece.text.len() != other.text.len() => {
                    return Some((nth, piece.text.len().min(other.text.len())));
                }
                None if piece.level != other.level => return Some((nth, piece.text.len())),
                None => {}
            }
        }
        (self.pieces.len() < other.pieces.len()).then_some((self.pieces.len(), 0))
    }

    /// Shortens the name to a width, with a place beside it. `places` has the forms of the place, the longest first;
    /// `fixed_place` is the index of one that has to be shown. Revealed positions are shown in any case.
    ///
    /// All forms of one name are in an order in which each shows no more than the one before. The first that fits is taken, so
    /// that more columns never show less.
    pub(super) fn fitted(
        &self,
        columns: usize,
        revealed: &[Revealed],
        places: &[String],
        fixed_place: Option<usize>,
    ) -> Fitted {
        let usable = fixed_place.map_or(places, |fixed| &places[..=fixed]);
        // A hostile name has thousands of callers. Forms with all of them cannot fit then, and take as long as the name.
        let may_show_all = (self.pieces.len() - 1).saturating_mul(CALLED_FROM.width()) <= columns;
        let forms = Forms::new(self, revealed, may_show_all);
        if may_show_all && let Some(fitted) = forms.with_all_callers(self, columns, usable, fixed_place) {
            return fitted;
        }
        let place = usable.last().filter(|_| fixed_place.is_some());
        let room = columns.saturating_sub(columns_beside(place));
        let found = |name| Fitted { name, place: place.cloned() };
        let all = [Detail::Signature(0), Detail::Bare].map(|detail| (detail, Callers::All(Detail::Own)));
        let all = all.into_iter().filter(|_| may_show_all);
        let nearest =
            (0..forms.caller_count.min(MAX_CALLERS)).rev().map(|most| (Detail::Bare, Callers::Nearest(most)));
        for (detail, of_callers) in all.chain(nearest) {
            let name = forms.joined(detail, of_callers);
            if name.width() <= room {
                return found(name);
            }
        }
        let tail = forms.joined_callers(Callers::Nearest(0));
        found(format!("{}{tail}", forms.base.with_short_scope(room.saturating_sub(tail.width()))))
    }
}

fn columns_beside(place: Option<&String>) -> usize {
    place.map_or(0, |place| place.width() + 3)
}

/// The forms of a name.
struct Forms<'n> {
    base: LazyPiece<'n>,
    /// The callers that a form may show, each with its index among all.
    callers: Vec<(usize, LazyPiece<'n>)>,
    caller_count: usize,
    revealed: &'n [Revealed],
}

impl<'n> Forms<'n> {
    fn new(name: &ShortName<'n>, revealed: &'n [Revealed], may_show_all: bool) -> Self {
        let gathered = |nth: usize| -> Vec<usize> {
            revealed.iter().filter(|(piece, _)| *piece == nth).map(|(_, at)| *at).collect()
        };
        let piece = |nth: usize| LazyPiece::new(name.pieces[nth], gathered(nth));
        let caller_count = name.pieces.len() - 1;
        let shown = (0..caller_count)
            .filter(|&nth| may_show_all || nth < MAX_CALLERS || is_revealed(revealed, nth + 1));
        Forms {
            base: piece(0),
            callers: shown.map(|nth| (nth, piece(nth + 1))).collect(),
            caller_count,
            revealed,
        }
    }

    /// Returns the first form with all callers that fits.
    fn with_all_callers(
        &self,
        name: &ShortName<'_>,
        columns: usize,
        usable: &[String],
        fixed_place: Option<usize>,
    ) -> Option<Fitted> {
        let full = name.full();
        let width = full.width();
        let is_beside = |place: &&String| width.saturating_add(columns_beside(Some(*place))) <= columns;
        if let Some(place) = usable.iter().find(is_beside) {
            return Some(Fitted { name: full, place: Some(place.clone()) });
        }
        let shortest = usable.last();
        let signature = || self.joined(Detail::Signature(0), Callers::All(Detail::Own));
        // The place says more than arguments, unless it takes more columns than they do.
        let is_place_first = fixed_place.is_some()
            || shortest.is_some() && signature().width() + columns_beside(shortest) <= width;
        let place = shortest.filter(|_| is_place_first);
        let room = columns.saturating_sub(columns_beside(place));
        if place.is_none() && width <= columns {
            return Some(Fitted { name: full, place: None });
        }
        let deepest = self.base.depth().min(MAX_SHOWN_DEPTH);
        let forms = [(Detail::Full, Detail::Bare), (Detail::WithoutReturnType, Detail::Bare)];
        let signatures = (0..=deepest).rev().map(|depth| (Detail::Signature(depth), Detail::Bare));
        let last = [(Detail::Signature(0), Detail::Own)];
        let names = forms.into_iter().chain(signatures).chain(last);
        let mut names = names.map(|(detail, of_callers)| self.joined(detail, Callers::All(of_callers)));
        let name = names.find(|name| name.width() <= room)?;
        Some(Fitted { name, place: place.cloned() })
    }

    fn joined(&self, detail: Detail, of_callers: Callers) -> String {
        let mut name = self.base.shown(detail);
        name.push_str(&self.joined_callers(of_callers));
        name
    }

    fn joined_callers(&self, shown: Callers) -> String {
        let (most, detail) = match shown {
            Callers::All(detail) => (self.caller_count, detail),
            Callers::Nearest(most) => (most, Detail::Own),
        };
        let shown = self.callers.iter().filter(|(nth, _)| *nth < most || is_revealed(self.revealed, nth + 1));
        let shown = shown.map(|(nth, caller)| (*nth, Some(caller)));
        let mut text = String::new();
        // The caller after the last one in the text.
        let mut next = 0;
        for (nth, caller) in shown.chain([(self.caller_count, None)]) {
            if next < nth {
                text.extend([CALLED_FROM, "…"]);
            }
            if let Some(caller) = caller {
                text.extend([CALLED_FROM, &caller.shown(detail)]);
            }
            next = nth + 1;
        }
        text
    }
}

fn is_revealed(revealed: &[Revealed], nth: usize) -> bool {
    revealed.iter().any(|(piece, _)| *piece == nth)
}

/// A piece with its anatomy.
struct LazyPiece<'n> {
    piece: Piece<'n>,
    anatomy: Anatomy,
    revealed: Vec<usize>,
}

impl<'n> LazyPiece<'n> {
    fn new(piece: Piece<'n>, revealed: Vec<usize>) -> Self {
        LazyPiece { piece, anatomy: Anatomy::parse(piece.text), revealed }
    }

    fn text(&self) -> &'n str {
        self.piece.text
    }

    /// Returns the greatest depth of brackets in the qualified name.
    fn depth(&self) -> usize {
        let text = &self.text()[self.anatomy.qualified.clone()];
        let mut depth = Depth::default();
        (0..text.len()).fold(0, |deepest, at| {
            depth.pass(text, at);
            deepest.max(depth.level())
        })
    }

    fn is_revealed(&self, start: usize, end: usize) -> bool {
        self.revealed.iter().any(|at| (start..end).contains(at))
    }

    /// Returns the piece in a detail, with its level.
    fn shown(&self, detail: Detail) -> String {
        let text = self.text();
        let qualified = self.anatomy.qualified.clone();
        let mut shown = match detail {
            Detail::Full => text.to_owned(),
            Detail::WithoutReturnType => {
                let has_return_type = text[qualified.end..].starts_with('(');
                let is_hidden = has_return_type && !self.is_revealed(0, qualified.start);
                text[if is_hidden { qualified.start } else { 0 }..].to_owned()
            }
            Detail::Signature(depth) => {
                let (scope, own) = (self.scope(depth).concat(), self.own(depth, false));
                format!("{}{scope}{own}{}", self.return_type(), self.tail(true))
            }
            Detail::Bare => {
                let (scope, own) = (self.scope(0).concat(), self.own(0, true));
                format!("{}{scope}{own}{}", self.return_type(), self.tail(false))
            }
            Detail::Own => return self.with_short_scope(0),
        };
        shown.push_str(self.piece.level);
        shown
    }

    /// Returns the name with as much of its scope as fits, and with its level.
    fn with_short_scope(&self, columns: usize) -> String {
        let segments = self.scope(0);
        let rest = format!("{}{}{}", self.own(0, true), self.tail(false), self.piece.level);
        let mut left = columns.saturating_sub(rest.width());
        let all: usize = segments.iter().map(|segment| segment.width()).sum();
        let first_revealed = self.scope_ranges().iter().position(|range| self.is_revealed(range.0, range.1));
        let mut first = 0;
        if all > left {
            // The gap takes a column.
            left = left.saturating_sub(1);
            let mut width = 0;
            let fitting = segments.iter().rev().take_while(|segment| {
                width += segment.width();
                width <= left
            });
            first = segments.len() - fitting.count();
            first = first.min(first_revealed.unwrap_or(first));
        }
        let gap = if first > 0 { "…" } else { "" };
        format!("{}{gap}{}{rest}", self.return_type(), segments[first..].concat())
    }

    /// Returns the return type, if it has to be shown.
    fn return_type(&self) -> String {
        let start = self.anatomy.qualified.start;
        let mut shown = String::new();
        if self.is_revealed(0, start) {
            self.collapse(0..start, 0, 0, &mut shown);
        }
        shown
    }

    /// Returns the ranges of the segments of the scope, each with the separator behind it.
    fn scope_ranges(&self) -> Vec<(usize, usize)> {
        let (text, anatomy) = (self.text(), &self.anatomy);
        let whole = anatomy.qualified.start..anatomy.own.start;
        let scope = anatomy.scope.clone();
        let is_type =
            text[whole.clone()].starts_with('<') && whole.start <= scope.start && scope.end <= whole.end;
        let hidden = self.revealed.iter().any(|at| whole.contains(at) && !scope.contains(at));
        // `<T as Trait>::f` is `T::f`, unless the rest makes a difference.
        let range = if is_type && !hidden && !scope.is_empty() { scope } else { whole };
        let mut ranges = Vec::new();
        let mut start = range.start;
        let mut depth = Depth::default();
        for at in range.clone() {
            let byte = text.as_bytes()[at];
            let is_end = match byte {
                b':' => text.as_bytes()[..at].ends_with(b":"),
                b'.' | b'\\' | b'#' | b'/' => true,
                b'>' => text.as_bytes()[..at].ends_with(b"-"),
                _ => false,
            };
            let was_outside = depth.is_outside();
            depth.pass(text, at);
            if was_outside && depth.is_outside() && is_end && at + 1 > start {
                ranges.push((start, at + 1));
                start = at + 1;
            }
        }
        if start < range.end {
            ranges.push((start, range.end));
        }
        ranges
    }

    /// Returns the segments of the scope, each with the separator behind it. Brackets deeper than `depth` are empty.
    fn scope(&self, depth: usize) -> Vec<String> {
        let ranges = self.scope_ranges();
        let end = ranges.last().map_or(self.anatomy.own.start, |range| range.1);
        let mut segments: Vec<String> = ranges
            .into_iter()
            .map(|(start, end)| {
                let mut segment = String::new();
                self.collapse(start..end, depth, 0, &mut segment);
                segment
            })
            .collect();
        // The type in `<T as Trait>` is followed by the end of the brackets.
        if end < self.anatomy.own.start
            && let Some(last) = segments.last_mut()
        {
            last.push_str("::");
        }
        segments
    }

    /// Returns the own name, also without its template arguments.
    fn own(&self, depth: usize, is_bare: bool) -> String {
        let mut own = String::new();
        self.collapse(self.anatomy.own.clone(), depth, 0, &mut own);
        if is_bare && let Some(bare) = own.strip_suffix("<…>") {
            let length = bare.trim_end_matches([':', ' ']).len();
            // `operator<…>` would lose its signs.
            if length > 0 {
                own.truncate(length);
            }
        }
        if own.chars().nth(MAX_OWN_CHARACTERS).is_some() {
            let count = own.chars().count();
            let (start, end) = (MAX_OWN_CHARACTERS * 2 / 3, MAX_OWN_CHARACTERS / 3);
            let kept = own.chars().enumerate().filter(|(nth, _)| *nth < start || *nth >= count - end);
            let mut limited = String::new();
            for (nth, character) in kept {
                if nth == count - end {
                    limited.push('…');
                }
                limited.push(character);
            }
            own = limited;
        }
        own
    }

    /// Returns what is kept of the text behind the qualified name: arguments as `(…)`, and the mark of a clone.
    fn tail(&self, with_arguments: bool) -> String {
        let (text, start) = (self.text(), self.anatomy.qualified.end);
        let tail = &text[start..];
        let clone = [" [clone", " (."].iter().filter_map(|mark| tail.find(mark)).min().unwrap_or(tail.len());
        let arguments_end = if tail.starts_with('(') {
            (BracketSearch::new(tail).closing(tail, 0) + 1).min(clone)
        } else {
            0
        };
        let mut shown = String::new();
        if self.is_revealed(start, start + arguments_end) {
            self.collapse(start..start + arguments_end, 0, 0, &mut shown);
        } else if with_arguments && arguments_end > 0 {
            shown.push_str(if tail.starts_with("()") { "()" } else { "(…)" });
        }
        if self.is_revealed(start + arguments_end, start + clone) {
            shown.push_str(&tail[arguments_end..clone]);
        }
        shown.push_str(&tail[clone..]);
        shown
    }

    /// Appends a part of the text. Brackets deeper than `deepest` are empty, except for what is revealed in them.
    fn collapse(&self, range: std::ops::Range<usize>, deepest: usize, nesting: usize, out: &mut String) {
        let text = &self.text()[..range.end];
        let mut level = 0usize;
        let mut signs_end = 0;
        let mut at = range.start;
        let mut search = BracketSearch::new(&text[range.start..]);
        while let Some(character) = text[at..].chars().next() {
            // The signs of `operator<<` are no brackets.
            if character == 'o' && at >= signs_end && text[at..].starts_with("operator") {
                signs_end = operator_end(text, at).unwrap_or(at);
            }
            if at >= signs_end && matches!(character, '<' | '(') {
                let close = search.closing(text, at);
                // `(*Mill)` is a receiver in Go, and a name may be in brackets as a whole.
                let is_kept = at == self.anatomy.own.start || text[at..].starts_with("(*");
                if level >= deepest && !is_kept && close > at + 1 && close < text.len() {
                    out.push(character);
                    match self.is_revealed(at + 1, close + 1) && nesting < MAX_REVEALED_DEPTH {
                        true => self.elements(at + 1..close, nesting, out),
                        false => out.push('…'),
                    }
                    out.push(char::from(text.as_bytes()[close]));
                    at = close + 1;
                    continue;
                }
                level += 1;
            } else if at >= signs_end && matches!(character, '>' | ')') && !text[..at].ends_with('-') {
                level = level.saturating_sub(1);
            }
            out.push(character);
            at += character.len_utf8();
        }
    }

    /// Appends those of the elements between commas that are revealed.
    fn elements(&self, range: std::ops::Range<usize>, nesting: usize, out: &mut String) {
        let text = self.text();
        let mut depth = Depth::default();
        let mut start = range.start;
        let mut has_gap = false;
        for at in range.start..=range.end {
            let is_end = at == range.end || depth.is_outside() && text.as_bytes()[at] == b',';
            if is_end {
                let is_first = start == range.start;
                if self.is_revealed(start, at + 1) {
                    out.push_str(if is_first { "" } else { ", " });
                    let blanks = text[start..at].len() - text[start..at].trim_start().len();
                    self.collapse(start + blanks..at, 0, nesting + 1, out);
                    has_gap = false;
                } else if !std::mem::replace(&mut has_gap, true) {
                    out.push_str(if is_first { "…" } else { ", …" });
                }
                start = at + 1;
            }
            if at < range.end {
                depth.pass(text, at);
            }
        }
    }
}

/// Searches for the ends of brackets. Names nest some levels, and each level looks at the ones below again; a hostile name
/// opens thousands of brackets and closes none. So the bytes that are looked at are limited.
struct BracketSearch {
    bytes_left: usize,
}

impl BracketSearch {
    /// Creates a search in a text, which looks at each byte once for each level that is shown, and a few times more.
    fn new(text: &str) -> Self {
        BracketSearch { bytes_left: (MAX_SHOWN_DEPTH + 4) * text.len() }
    }

    /// Returns the end of a bracket, or of the text if it is not closed or not found in time.
    fn closing(&mut self, text: &str, open: usize) -> usize {
        let mut depth = Depth::default();
        let mut at = open;
        while at < text.len() && self.bytes_left > 0 {
            self.bytes_left -= 1;
            if at > open
                && text.as_bytes()[at] == b'o'
                && let Some(end) = operator_end(text, at)
            {
                self.bytes_left = self.bytes_left.saturating_sub(end - at);
                if end < text.len() {
                    at = end;
                    continue;
                }
            }
            depth.pass(text, at);
            if depth.is_outside() {
                return at;
            }
            at += 1;
        }
        text.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callers_that_cannot_fit_are_not_taken_apart() {
        let name = format!("f{}", "'main".repeat(1000));
        let name = ShortName::new(&name);
        assert_eq!(Forms::new(&name, &[(900, 0)], false).callers.len(), MAX_CALLERS + 1);
        let fitted = |revealed| name.fitted(20, revealed, &[], None).name;
        assert_eq!([fitted(&[]), fitted(&[(900, 0)])], ["f ← main ← main ← …", "f ← … ← main ← …"]);
    }
}
