//! Costs: exact integers, decoded when asked for.

use std::fmt;

use crate::error::{Error, ErrorKind};
use crate::lanes::{Window, eight, find_all, whole_number};
use crate::location::Location;
use crate::scan::{NumberFault, NumberForm, Token, Tokens, number};

/// One cost. A file may hold −2^63 … 2^64 − 1; the wider type lets sums of them never wrap.
///
/// See the example of [`Costs::decode`].
pub type Cost = i128;

const LEAST: Cost = i64::MIN as Cost;
const GREATEST: Cost = u64::MAX as Cost;

/// A window of numbers that are read together, and the bytes that the last of them may reach into.
type Piece = [u8; size_of::<Window>() + size_of::<u64>()];

/// The bytes that must follow a line, so that all its numbers can be read as part of a [`Piece`].
const REACH: usize = size_of::<Piece>();

/// `true` if a file can hold this cost.
pub fn is_in_range(cost: Cost) -> bool {
    (LEAST..=GREATEST).contains(&cost)
}

/// The costs of a line, in the order of the part's event types. Missing ones at the end mean 0.
///
/// Read from a file, they stay bytes until they are asked for.
///
/// See the example of [`Costs::decode`].
#[derive(Clone, Copy)]
pub struct Costs<'a>(Repr<'a>);

#[derive(Clone, Copy)]
enum Repr<'a> {
    Text {
        text: &'a [u8],
        /// The number of bytes at the end of the text that are not of the line: none, or [`REACH`], so that as many can be taken
        /// together wherever a number begins.
        beyond: u8,
        /// The offset of the text in its line.
        offset: u32,
        /// Bit n is set if a number ends before byte n, for all numbers; or none is, where that is not known.
        stops: u32,
    },
    Values(&'a [Cost]),
}

impl<'a> Costs<'a> {
    /// Costs to be written.
    pub const fn new(values: &'a [Cost]) -> Self {
        Costs(Repr::Values(values))
    }

    #[inline]
    pub(crate) const fn from_text(text: &'a [u8], offset: u32) -> Self {
        Costs(Repr::Text { text, beyond: 0, offset, stops: 0 })
    }

    /// Costs that stand in a larger text, which begins where their line does. `stops` tells where numbers end, if that
    /// is known.
    #[inline(always)]
    pub(crate) fn within(text: &'a [u8], start: usize, end: usize, stops: u32) -> Self {
        let offset = narrow(start);
        #[expect(clippy::cast_possible_truncation, reason = "40")]
        const BEYOND: u8 = REACH as u8;
        match text.get(start..end + REACH) {
            Some(text) => Costs(Repr::Text { text, beyond: BEYOND, offset, stops }),
            None => Costs::from_text(&text[start..end], offset),
        }
    }

    /// `true` if this is what Valgrind writes as the totals of an empty tree: `(null)`.
    pub(crate) fn is_null(&self) -> bool {
        match self.0 {
            Repr::Text { text, beyond, .. } => {
                text[..text.len() - usize::from(beyond)].trim_ascii() == b"(null)"
            }
            Repr::Values(_) => false,
        }
    }

    /// `true` if there is no number at all.
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    /// The count of numbers.
    pub fn len(&self) -> usize {
        self.iter().count()
    }

    /// The costs one by one. After a fault the iteration goes on with the next number; [`CostFault::repaired`] is what
    /// a tolerant reader takes in its place.
    pub fn iter(&self) -> CostIter<'a> {
        CostIter(match self.0 {
            Repr::Text { text, beyond, offset, .. } => {
                IterRepr::Text(Tokens::new(&text[..text.len() - usize::from(beyond)]), offset)
            }
            Repr::Values(values) => IterRepr::Values(values.iter()),
        })
    }

    /// Decodes into one place per event type; places without a number become 0.
    ///
    /// This is the fast way. It fills all places, also when it returns an error.
    ///
    /// # Errors
    ///
    /// The first number that is no cost (its place gets [`CostFault::repaired`]), or the first one too many.
    ///
    /// ```
    /// use gristmill_format::Costs;
    ///
    /// let mut places = [0; 3];
    /// Costs::new(&[7, 11]).decode(&mut places).unwrap();
    /// assert_eq!(places, [7, 11, 0]);
    /// ```
    #[inline]
    pub fn decode(&self, places: &mut [Cost]) -> Result<(), CostFault> {
        // All at once and beforehand: how many places will be left over is a branch that is guessed wrong.
        match places {
            [place] => *place = 0,
            _ => places.fill(0),
        }
        self.place(places, |place, cost| *place = cost)
    }

    /// Adds to one sum per event type. Takes no longer than there are numbers, however many event types there are.
    ///
    /// # Errors
    ///
    /// As [`decode`](Costs::decode).
    ///
    /// ```
    /// use gristmill_format::Costs;
    ///
    /// let mut sums = [1, 1, 1];
    /// Costs::new(&[7, 11]).add_to(&mut sums).unwrap();
    /// assert_eq!(sums, [8, 12, 1]);
    /// ```
    #[inline]
    pub fn add_to(&self, sums: &mut [Cost]) -> Result<(), CostFault> {
        self.place(sums, |sum, cost| *sum += cost)
    }

    /// Puts the costs into their places, and says what was the first to be wrong.
    #[inline(always)]
    fn place(&self, places: &mut [Cost], put: impl Fn(&mut Cost, Cost)) -> Result<(), CostFault> {
        // Where all numbers end is known for nearly all lines, and these numbers are of the usual form.
        if let Repr::Text { text, stops, .. } = self.0
            && stops != 0
            && let Some(piece) = text.first_chunk::<REACH>()
        {
            let mut left = stops;
            let mut start = 0;
            for (nth, place) in places.iter_mut().enumerate() {
                let stop = left.trailing_zeros() as usize;
                // The remainder changes nothing, but shows that no number begins beyond the window.
                let number = eight(piece, start % size_of::<Window>());
                let Some(number) = number.and_then(|eight| whole_number(eight, stop - start)) else {
                    return self.place_rest(start, &mut places[nth..], put);
                };
                put(place, Cost::from(number));
                left &= left - 1;
                if left == 0 {
                    return Ok(());
                }
                start = stop + 1;
            }
            return self.place_rest(start, &mut [], put);
        }
        self.place_rest(0, places, put)
    }

    /// Places the numbers from this byte on.
    #[inline(never)]
    fn place_rest(
        &self,
        from: usize,
        places: &mut [Cost],
        put: impl Fn(&mut Cost, Cost),
    ) -> Result<(), CostFault> {
        let (text, beyond, offset) = match self.0 {
            Repr::Text { text, beyond, offset, .. } => (text, usize::from(beyond), offset),
            Repr::Values(values) => {
                places.iter_mut().zip(values).for_each(|(place, &cost)| put(place, cost));
                return if values.len() > places.len() { Err(CostFault::too_many(0, 0)) } else { Ok(()) };
            }
        };
        let end = text.len() - beyond;
        let mut at = from;
        let mut free = places.iter_mut();
        if beyond == REACH && from == 0 {
            at = place_usual(text, end, &mut free, &put);
            if at > end {
                return Ok(());
            }
        }
        if at == end {
            return Ok(());
        }
        place_others(&text[..end], offset, at, free.into_slice(), put)
    }
}

/// Places numbers of at most eight digits with one blank between them. Ends before the first that is of another form, or
/// beyond the end.
///
/// Measured on generated profiles of 100 MB: how many numbers there are is guessed wrong for every other line. Where they
/// end is looked up for all of them together, so that the mistake shows before the first of them is read.
#[inline(always)]
fn place_usual(
    text: &[u8],
    end: usize,
    free: &mut std::slice::IterMut<'_, Cost>,
    put: impl Fn(&mut Cost, Cost),
) -> usize {
    const WINDOW: usize = size_of::<Window>();
    let mut at = 0;
    while at < end
        && let Some(piece) = text.get(at..).and_then(<[u8]>::first_chunk::<REACH>)
        && let Some(window) = piece.first_chunk()
    {
        let mut stops = stops_in(window, end - at);
        let begin = at;
        let mut start = 0;
        while stops != 0 {
            let stop = stops.trailing_zeros() as usize;
            stops &= stops - 1;
            let length = stop - start;
            // The remainder changes nothing, but shows that no number begins beyond the window.
            let Some(value) = eight(piece, start % WINDOW).and_then(|eight| whole_number(eight, length))
            else {
                return at;
            };
            let Some(place) = free.next() else { return at };
            put(place, Cost::from(value));
            start = stop + 1;
            at = begin + start;
        }
        if at == begin {
            return at;
        }
    }
    at
}

/// The ends of numbers in a window; the last one ends after `left` bytes, if that is within the window.
#[inline(never)]
fn stops_in(window: &Window, left: usize) -> u64 {
    let stops = u64::from(find_all(window, b' '));
    if left < size_of::<Window>() { stops & ((1 << left) - 1) | 1 << left } else { stops }
}

/// The rest of a line from the first number that is not of the usual form.
// By value: costs that are lent to another function would have to lie in memory.
#[cold]
#[inline(never)]
fn place_others(
    text: &[u8],
    offset: u32,
    at: usize,
    free: &mut [Cost],
    put: impl Fn(&mut Cost, Cost),
) -> Result<(), CostFault> {
    let mut first_fault = Ok(());
    let mut free = free.iter_mut();
    let base = offset.saturating_add(narrow(at));
    for token in Tokens::new(&text[at..]) {
        let Some(place) = free.next() else {
            let offset = base.saturating_add(narrow(token.offset));
            return first_fault.and(Err(CostFault::too_many(offset, narrow(token.text.len()))));
        };
        let cost = read(token, base).unwrap_or_else(|fault| {
            let repaired = fault.repaired;
            if first_fault.is_ok() {
                first_fault = Err(fault);
            }
            repaired
        });
        put(place, cost);
    }
    first_fault
}

impl fmt::Debug for Costs<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(|cost| cost.map_err(|fault| fault.kind))).finish()
    }
}

/// Equal when the numbers are, however they are spelled.
impl PartialEq for Costs<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter()
            .map(|cost| cost.map_err(|fault| fault.kind))
            .eq(other.iter().map(|cost| cost.map_err(|fault| fault.kind)))
    }
}

impl<'a> IntoIterator for &Costs<'a> {
    type Item = Result<Cost, CostFault>;
    type IntoIter = CostIter<'a>;

    fn into_iter(self) -> CostIter<'a> {
        self.iter()
    }
}

/// Yields the numbers of [`Costs`].
///
/// See the example of [`Costs::decode`].
#[derive(Debug, Clone)]
pub struct CostIter<'a>(IterRepr<'a>);

#[derive(Debug, Clone)]
enum IterRepr<'a> {
    Text(Tokens<'a>, u32),
    Values(std::slice::Iter<'a, Cost>),
}

impl Iterator for CostIter<'_> {
    type Item = Result<Cost, CostFault>;

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            IterRepr::Text(tokens, base) => tokens.next().map(|token| read(token, *base)),
            IterRepr::Values(values) => values.next().copied().map(Ok),
        }
    }
}

/// The fault of a number that is no cost.
///
/// See the example of [`Costs::decode`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CostFault {
    /// The kind of fault.
    pub kind: ErrorKind,
    /// The cost that is taken in its place.
    pub repaired: Cost,
    offset: u32,
    length: u32,
}

impl CostFault {
    fn too_many(offset: u32, length: u32) -> Self {
        CostFault { kind: ErrorKind::TooManyCosts, repaired: 0, offset, length }
    }

    /// The fault as an error of the line it was found in.
    pub fn into_error(self, location: Location) -> Error {
        Error::new(self.kind, location).at(self.offset as usize, self.length as usize).repaired()
    }
}

/// A line longer than 4 GiB gets its columns wrong, nothing else.
pub(crate) fn narrow(offset: usize) -> u32 {
    u32::try_from(offset).unwrap_or(u32::MAX)
}

impl fmt::Display for CostFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)
    }
}

impl std::error::Error for CostFault {}

fn read(token: Token<'_>, base: u32) -> Result<Cost, CostFault> {
    cost(token.text).map_err(|(kind, repaired)| CostFault {
        kind,
        repaired,
        offset: base.saturating_add(narrow(token.offset)),
        length: narrow(token.text.len()),
    })
}

/// Reads one cost: a number, a negative one, or `.` for "no count".
pub(crate) fn cost(token: &[u8]) -> Result<Cost, (ErrorKind, Cost)> {
    if token == b"." {
        return Ok(0);
    }
    let (negative, digits) = match token {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    let magnitude = match number(digits) {
        Ok(magnitude) => Cost::from(magnitude),
        Err(NumberFault::TooLarge) => Cost::MAX,
        Err(NumberFault::NoDigit(_) | NumberFault::BadDigit(_)) => {
            return Err(match integer_part(digits) {
                Some(magnitude) => (
                    ErrorKind::FractionalCost,
                    (if negative { -magnitude } else { magnitude }).clamp(LEAST, GREATEST),
                ),
                None => (ErrorKind::BadCost, 0),
            });
        }
    };
    let value = if negative { -magnitude } else { magnitude };
    if is_in_range(value) { Ok(value) } else { Err((ErrorKind::CostTooLarge, value.clamp(LEAST, GREATEST))) }
}

/// The integer part of a decimal number with a fraction or an exponent.
fn integer_part(token: &[u8]) -> Option<Cost> {
    let text = std::str::from_utf8(token).ok()?;
    if !text.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        || !text.bytes().any(|b| b.is_ascii_digit())
    {
        return None;
    }
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if !whole.bytes().chain(fraction.bytes()).all(|b| b.is_ascii_digit()) {
        return None;
    }
    let keep = i64::try_from(whole.len()).ok()?.saturating_add(i64::from(exponent));
    let mut value: Cost = 0;
    let mut digits = whole.bytes().chain(fraction.bytes());
    for _ in 0..keep.clamp(0, 400) {
        let digit = Cost::from(digits.next().unwrap_or(b'0') - b'0');
        value = value.saturating_mul(10).saturating_add(digit);
    }
    Some(value)
}

/// The spelling of a cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CostForm {
    Number(NumberForm),
    /// A single `.` for a count that there is none of.
    Dot,
}

impl CostForm {
    pub(crate) fn from_token(token: &[u8]) -> Self {
        match token {
            b"." => CostForm::Dot,
            [b'-', digits @ ..] | digits => CostForm::Number(NumberForm::from_token(digits)),
        }
    }

    pub(crate) fn write(self, cost: Cost, out: &mut Vec<u8>) {
        let form = match self {
            CostForm::Dot if cost == 0 => return out.push(b'.'),
            CostForm::Dot => NumberForm::DECIMAL,
            CostForm::Number(form) => form,
        };
        if cost < 0 {
            out.push(b'-');
        }
        form.write(u64::try_from(cost.unsigned_abs()).unwrap_or(u64::MAX), out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_read() {
        for (token, expected) in [
            (&b"0"[..], Ok(0)),
            (b"18446744073709551615", Ok(GREATEST)),
            (b"18446744073709551616", Err((ErrorKind::CostTooLarge, GREATEST))),
            (b"-9223372036854775808", Ok(LEAST)),
            (b"-9223372036854775809", Err((ErrorKind::CostTooLarge, LEAST))),
            (b"0x10", Ok(16)),
            (b".", Ok(0)),
            (b"50.75", Err((ErrorKind::FractionalCost, 50))),
            (b"1e3", Err((ErrorKind::FractionalCost, 1000))),
            (b"1.5e1", Err((ErrorKind::FractionalCost, 15))),
            (b"12e-1", Err((ErrorKind::FractionalCost, 1))),
            (b"1e999999999", Err((ErrorKind::FractionalCost, GREATEST))),
            (b"-2.9", Err((ErrorKind::FractionalCost, -2))),
            (b"abc", Err((ErrorKind::BadCost, 0))),
            (b"-", Err((ErrorKind::BadCost, 0))),
            (b"+5", Err((ErrorKind::BadCost, 0))),
        ] {
            assert_eq!(cost(token), expected, "{}", token.escape_ascii());
        }
    }

    #[test]
    fn decoding_agrees_with_iterating() {
        for text in
            [&b""[..], b"1", b"1 2 3", b"1  2", b" 1", b"1 2 ", b"1 2 3 4", b"-1 2", b"0x1f .", b"1 x 3"]
        {
            let costs = Costs::from_text(text, 0);
            let mut places = [9; 3];
            let result = costs.decode(&mut places);
            let mut expected = [0; 3];
            for (place, cost) in expected.iter_mut().zip(&costs) {
                *place = cost.unwrap_or_else(|fault| fault.repaired);
            }
            assert_eq!(places, expected, "{}", text.escape_ascii());
            let is_clean = costs.len() <= 3 && costs.iter().all(|cost| cost.is_ok());
            assert_eq!(result.is_ok(), is_clean, "{}", text.escape_ascii());
            let mut sums = [5; 3];
            assert_eq!(costs.add_to(&mut sums), result);
            assert_eq!(sums, expected.map(|cost| cost + 5));
        }
    }
}
