//! Positions: which columns a cost line has, relative and absolute spelling, decode and encode side by side.
//!
//! ```text
//! positions: instr line
//! 0x80001234 90 1        absolute
//! +3 * 5                 3 bytes on, the same line
//! +1 +1 6                1 byte on, the next line
//! ```

use std::fmt;

use crate::error::ErrorKind;
use crate::scan::{NumberFault, NumberForm, number};

/// The most position columns that a line can have; the specification knows three kinds.
pub const MAX_COLUMNS: usize = 4;

/// The kind of a position column.
///
/// See the example of [`Positions::get`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PositionKind {
    /// The address of an instruction, relative to its object.
    Instr,
    /// The address of a basic block.
    Bb,
    /// A line of the current source file; 0 means unknown.
    Line,
    /// A word on the `positions:` line that no version of the format explains.
    Unknown,
}

impl PositionKind {
    /// The kind that a word on the `positions:` line stands for. `addr` is an old word for `instr`.
    pub fn parse(word: &[u8]) -> Self {
        match word {
            b"instr" | b"addr" => PositionKind::Instr,
            b"bb" => PositionKind::Bb,
            b"line" => PositionKind::Line,
            _ => PositionKind::Unknown,
        }
    }

    /// The word on the `positions:` line that stands for it.
    pub fn as_str(self) -> &'static str {
        match self {
            PositionKind::Instr => "instr",
            PositionKind::Bb => "bb",
            PositionKind::Line => "line",
            PositionKind::Unknown => "unknown",
        }
    }
}

/// The position columns of a part, from its `positions:` line.
///
/// See the example of [`Positions::get`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Columns {
    kinds: [PositionKind; MAX_COLUMNS],
    len: u8,
}

impl Columns {
    /// The columns of a part without a `positions:` line: one, the source line.
    pub const LINE: Columns = Columns { kinds: [PositionKind::Line; MAX_COLUMNS], len: 1 };

    /// Columns of these kinds; those past [`MAX_COLUMNS`] are left out.
    pub fn new(kinds: impl IntoIterator<Item = PositionKind>) -> Self {
        let mut columns = Columns { kinds: [PositionKind::Unknown; MAX_COLUMNS], len: 0 };
        for (place, kind) in columns.kinds.iter_mut().zip(kinds) {
            *place = kind;
            columns.len += 1;
        }
        columns
    }

    /// The kinds in column order.
    pub fn kinds(&self) -> &[PositionKind] {
        &self.kinds[..usize::from(self.len)]
    }

    /// The count of columns.
    #[inline]
    #[expect(
        clippy::len_without_is_empty,
        reason = "a part without position columns is the exception, not a case to ask for"
    )]
    pub fn len(&self) -> usize {
        usize::from(self.len)
    }

    /// The index of the column of this kind.
    pub fn index(&self, kind: PositionKind) -> Option<usize> {
        self.kinds().iter().position(|&k| k == kind)
    }
}

impl fmt::Debug for Columns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.kinds()).finish()
    }
}

/// The positions of one line, absolute, in column order.
///
/// See the example of [`Positions::get`].
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Positions {
    values: [u64; MAX_COLUMNS],
    len: u8,
}

impl Positions {
    /// Positions with these values; those past [`MAX_COLUMNS`] are left out.
    ///
    /// ```
    /// use gristmill_format::Positions;
    ///
    /// assert_eq!(Positions::new(&[0x1040, 12]).as_slice(), [0x1040, 12]);
    /// ```
    pub fn new(values: &[u64]) -> Self {
        let mut positions = Positions::default();
        for &value in values.iter().take(MAX_COLUMNS) {
            positions.push(value);
        }
        positions
    }

    #[inline]
    pub(crate) fn from_array(values: [u64; MAX_COLUMNS], len: usize) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "at most MAX_COLUMNS")]
        Positions { values, len: len as u8 }
    }

    pub(crate) fn push(&mut self, value: u64) {
        if let Some(place) = self.values.get_mut(usize::from(self.len)) {
            *place = value;
            self.len += 1;
        }
    }

    /// The values in column order.
    #[inline]
    pub fn as_slice(&self) -> &[u64] {
        &self.values[..usize::from(self.len)]
    }

    /// The value in the column of this kind.
    ///
    /// ```
    /// use gristmill_format::{Columns, PositionKind, Positions};
    ///
    /// let columns = Columns::new([PositionKind::Instr, PositionKind::Line]);
    /// assert_eq!(Positions::new(&[0x1040, 12]).get(&columns, PositionKind::Line), Some(12));
    /// ```
    #[inline]
    pub fn get(&self, columns: &Columns, kind: PositionKind) -> Option<u64> {
        columns.index(kind).and_then(|index| self.as_slice().get(index)).copied()
    }

    pub(crate) fn array(&self) -> [u64; MAX_COLUMNS] {
        self.values
    }
}

impl fmt::Debug for Positions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.as_slice()).finish()
    }
}

/// `true` if a token is a relative position: `+3`, `-3` or `*`.
///
/// ```
/// use gristmill_format::raw::is_relative_position;
///
/// assert!(is_relative_position(b"+3") && is_relative_position(b"*"));
/// assert!(!is_relative_position(b"12+3"));
/// ```
#[inline]
pub fn is_relative_position(token: &[u8]) -> bool {
    matches!(token.first(), Some(b'+' | b'-' | b'*'))
}

/// The fault of a token that is no position, and the position that a tolerant reader takes in its place.
pub(crate) type PositionFault = (ErrorKind, u64);

/// Reads one position; `base` is what a relative one is relative to, if there is anything yet.
///
/// A range (`12+3`, `12-15`, `12:15`) stands for its first position; [`PositionForm`] keeps the rest.
pub(crate) fn position(token: &[u8], base: Option<u64>) -> Result<u64, PositionFault> {
    let start = &token[..token.len() - range_of(token).map_or(0, <[u8]>::len)];
    if let Some(range) = range_of(token)
        && number(&range[1..]).is_err()
    {
        return Err((ErrorKind::BadPosition, position(start, base).unwrap_or_else(|(_, repaired)| repaired)));
    }
    let (sign, digits) = match start {
        b"*" => (b'*', &b"0"[..]),
        [sign @ (b'+' | b'-'), digits @ ..] => (*sign, digits),
        digits => (b' ', digits),
    };
    let magnitude = match number(digits) {
        Ok(magnitude) => magnitude,
        Err(NumberFault::TooLarge) if sign == b'-' => return Err((ErrorKind::PositionBelowZero, 0)),
        Err(NumberFault::TooLarge) => return Err((ErrorKind::PositionTooLarge, u64::MAX)),
        Err(_) => return Err((ErrorKind::BadPosition, base.unwrap_or(0))),
    };
    if sign == b' ' {
        return Ok(magnitude);
    }
    let from = base.unwrap_or(0);
    let moved = if sign == b'-' {
        from.checked_sub(magnitude).ok_or((ErrorKind::PositionBelowZero, 0))
    } else {
        from.checked_add(magnitude).ok_or((ErrorKind::PositionTooLarge, u64::MAX))
    };
    match (base, moved) {
        (None, Ok(value) | Err((_, value))) => Err((ErrorKind::RelativeWithoutBase, value)),
        (Some(_), moved) => moved,
    }
}

/// The `+n`, `-n` or `:n` that makes a range of a position: a separator after the first digit.
fn range_of(token: &[u8]) -> Option<&[u8]> {
    let at = token.iter().skip(1).position(|byte| matches!(byte, b'+' | b'-' | b':'))? + 1;
    (token[at - 1].is_ascii_hexdigit() || token[at - 1] == b'*').then(|| &token[at..])
}

/// The spelling of a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PositionForm {
    kind: FormKind,
    range: Option<Range>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FormKind {
    Absolute(NumberForm),
    /// With a sign; the number may be 0, for which others write `*`.
    Relative(NumberForm),
    Same,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Range {
    separator: u8,
    end: u64,
    form: NumberForm,
}

impl PositionForm {
    pub(crate) const ABSOLUTE: Self =
        PositionForm { kind: FormKind::Absolute(NumberForm::DECIMAL), range: None };
    pub(crate) const HEXADECIMAL: Self =
        PositionForm { kind: FormKind::Absolute(NumberForm::HEXADECIMAL), range: None };
    pub(crate) const RELATIVE: Self =
        PositionForm { kind: FormKind::Relative(NumberForm::DECIMAL), range: None };
    pub(crate) const SAME: Self = PositionForm { kind: FormKind::Same, range: None };

    /// The form of a token that [`position`] reads.
    pub(crate) fn from_token(token: &[u8]) -> Self {
        let range = range_of(token);
        let start = &token[..token.len() - range.map_or(0, <[u8]>::len)];
        PositionForm {
            kind: match start {
                b"*" => FormKind::Same,
                [b'+' | b'-', digits @ ..] => FormKind::Relative(NumberForm::from_token(digits)),
                digits => FormKind::Absolute(NumberForm::from_token(digits)),
            },
            range: range.map(|range| Range {
                separator: range[0],
                end: number(&range[1..]).unwrap_or(0),
                form: NumberForm::from_token(&range[1..]),
            }),
        }
    }

    pub(crate) fn is_absolute(self) -> bool {
        matches!(self.kind, FormKind::Absolute(_))
    }

    pub(crate) fn has_range(self) -> bool {
        self.range.is_some()
    }

    pub(crate) fn with_range_of(mut self, other: Self) -> Self {
        self.range = other.range;
        self
    }

    /// Writes the value in this form. A form that cannot say it (`*` for another value) gives way to one that can.
    pub(crate) fn write(self, value: u64, base: u64, out: &mut Vec<u8>) {
        match self.kind {
            FormKind::Absolute(form) => form.write(value, out),
            FormKind::Same if value == base => out.push(b'*'),
            FormKind::Same => PositionForm::RELATIVE.write(value, base, out),
            FormKind::Relative(form) => {
                out.push(if value < base { b'-' } else { b'+' });
                form.write(value.abs_diff(base), out);
            }
        }
        if let Some(Range { separator, end, form }) = self.range {
            out.push(separator);
            form.write(end, out);
        }
    }
}

/// Callgrind's choice: relative when there is a last position above 0 and the new one is less than 100 away.
pub(crate) fn compressed_form(value: u64, last: u64, absolute: PositionForm) -> PositionForm {
    if last == 0 || value.abs_diff(last) >= 100 {
        absolute
    } else if value == last {
        PositionForm::SAME
    } else {
        PositionForm::RELATIVE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_read() {
        let base = Some(100);
        for (token, expected) in [
            (&b"15"[..], Ok(15)),
            (b"0x80001234", Ok(0x8000_1234)),
            (b"+3", Ok(103)),
            (b"-0x10", Ok(84)),
            (b"*", Ok(100)),
            (b"+0", Ok(100)),
            (b"-101", Err((ErrorKind::PositionBelowZero, 0))),
            (b"+18446744073709551615", Err((ErrorKind::PositionTooLarge, u64::MAX))),
            (b"+", Err((ErrorKind::BadPosition, 100))),
            (b"++1", Err((ErrorKind::BadPosition, 100))),
            (b"12:15", Ok(12)),
            (b"12+3", Ok(12)),
            (b"+2-105", Ok(102)),
            (b"12:", Err((ErrorKind::BadPosition, 12))),
            (b"0xZZ", Err((ErrorKind::BadPosition, 100))),
            (b"**", Err((ErrorKind::BadPosition, 100))),
        ] {
            assert_eq!(position(token, base), expected, "{}", token.escape_ascii());
        }
        assert_eq!(position(b"+3", None), Err((ErrorKind::RelativeWithoutBase, 3)));
    }

    #[test]
    fn positions_keep_their_spelling() {
        for token in [&b"15"[..], b"0x80001234", b"+3", b"-0x10", b"*", b"+0", b"12:15", b"12+3", b"+2-0x69"]
        {
            let value = position(token, Some(100)).unwrap();
            let mut out = Vec::new();
            PositionForm::from_token(token).write(value, 100, &mut out);
            assert_eq!(out, token, "{}", token.escape_ascii());
        }
    }
}
