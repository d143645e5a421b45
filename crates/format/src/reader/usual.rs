//! Lines of the usual form, taken without a second look.
//!
//! Nearly all lines are spelled the way Callgrind spells them. They are recognised here and become the record that
//! [`LineReader`](super::line::LineReader) would make of them. Lines of any other form, and errors, are left to it, with
//! nothing changed. A test reads files both ways and compares.
//!
//! Measured on generated profiles of 100 MB: guessing a branch wrong costs as much as reading a number. So the ends of all
//! tokens are looked up together, and positions are taken without asking for their sign.

use memchr::memchr;

use super::Reader;
use crate::cost::{Cost, Costs};
use crate::lanes::{Window, eight, find_all, leading_number, number_of_digits, whole_number};
use crate::line_end::LineEnd;
use crate::location::Location;
use crate::name::{Name, NameKey};
use crate::position::{MAX_COLUMNS, Positions, position};
use crate::record::{Calls, CostLine, CostRole, Jump, Line, Record, Spelling};

/// Usual positions are below it, so that adding to one or taking away from one shows in the highest bit if it goes too far.
pub(super) const BASE_LIMIT: u64 = 1 << 63;

impl<'a> Reader<'a> {
    /// Reads a cost line that is no longer than a window; None, with nothing changed, for every other line.
    ///
    /// These are most lines of a file. Inlined into the caller's loop, what the caller does not ask for is not made.
    #[inline(always)]
    pub(super) fn usual_cost_line(&mut self) -> Option<Record<'a>> {
        let rest = self.input.get(self.at..)?;
        let window: &Window = rest.first_chunk()?;
        if !begins_position(window) {
            return None;
        }
        let ends = Ends::find(window);
        let length = ends.line_in_window()?;
        self.cost_line_of(rest, window, ends, length)
    }

    /// Reads a cost line of this length.
    #[inline(always)]
    fn cost_line_of(
        &mut self,
        rest: &'a [u8],
        window: &Window,
        ends: Ends,
        length: usize,
    ) -> Option<Record<'a>> {
        let text = rest.get(..length)?;
        let CostParts { values, costs_at } = self.cost_parts(rest, window, ends, length)?;
        let location = self.take_line(length);
        let role = self.expected;
        self.take_cost_line(role, values);
        Some(Record {
            location,
            part: self.part.index,
            line: Line::Cost(CostLine {
                role,
                positions: Positions::from_array(values, self.columns.len()),
                costs: Costs::within(rest, costs_at, length, ends.stops(costs_at, length)),
            }),
            spelling: Spelling::from_text(text, LineEnd::Lf),
        })
    }

    /// Reads a cost line of this length without going on to the next line.
    #[inline(always)]
    pub(super) fn cost_parts(
        &self,
        rest: &'a [u8],
        window: &Window,
        ends: Ends,
        length: usize,
    ) -> Option<CostParts> {
        let base = self.base?;
        let mut stop = ends.token(0)?;
        let mut values = [usual_position(window, 0, stop, base[0])?, 0, 0, 0];
        match self.columns.len() {
            1 => {}
            2 if stop < length => {
                let start = stop + 1;
                stop = ends.token(start)?;
                values[1] = usual_position(window, start, stop, base[1])?;
            }
            _ => return None,
        }
        // There need not be any costs.
        let costs_at = (stop + 1).min(length);
        if rest.get(..length)?.last() == Some(&b'\r') {
            return None;
        }
        // A jump has no costs: this is a line after a jump without a second line.
        if self.expected == CostRole::JumpSource && costs_at != length {
            return None;
        }
        Some(CostParts { values, costs_at })
    }

    /// Goes on to the next line. From here on the line counts as taken.
    #[inline(always)]
    fn take_line(&mut self, length: usize) -> Location {
        self.line += 1;
        let location = Location { byte: self.at as u64, line: self.line };
        if self.associated.is_some() {
            self.forget_associated();
        }
        self.at += length + 1;
        location
    }

    /// Reads another line into `self.yielded`; false, with nothing changed, when it is not of the usual form.
    #[inline(never)]
    pub(super) fn usual_other_line(&mut self) -> bool {
        self.usual_blank_or_keyed_line().is_some()
    }

    #[inline(always)]
    fn usual_blank_or_keyed_line(&mut self) -> Option<()> {
        let rest = &self.input[self.at..];
        let window: &Window = rest.first_chunk()?;
        if window[0] == b'\n' {
            self.yields(&rest[..0], Line::Blank);
            return Some(());
        }
        if begins_position(window) {
            let ends = Ends::find(window);
            self.yielded = self.cost_line_of(rest, window, ends, ends.line(rest)?)?;
            return Some(());
        }
        // A call or jump line without its second line is an error.
        if self.expected != CostRole::SelfCost {
            return None;
        }
        match UsualKey::find(window) {
            Some(key) => self.usual_name_line(rest, window, key),
            None => self.usual_association(rest, window),
        }
    }

    #[inline(always)]
    fn yields(&mut self, text: &'a [u8], line: Line<'a>) {
        self.yielded.location = self.take_line(text.len());
        self.yielded.part = self.part.index;
        self.yielded.line = line;
        self.yielded.spelling = Spelling::from_text(text, LineEnd::Lf);
    }

    /// `fn=(12)` or `fn=(12) main`.
    #[inline(always)]
    fn usual_name_line(&mut self, rest: &'a [u8], window: &Window, key: &UsualKey) -> Option<()> {
        let NameParts { id, text, length } = name_parts(rest, window, key)?;
        if self.leaves_names {
            self.yields(
                &rest[..length],
                Line::Name(key.key, Name { id: Some(id), text, defines: text.is_some() }),
            );
            return Some(());
        }
        let table = &mut self.names[key.key.space()];
        let known = table.get(id);
        let name = match (text, known) {
            (None, Some(known)) => Name::refer(id, known),
            (None, None) if self.resumed => Name { id: Some(id), text: None, defines: false },
            (None, None) => return None,
            (Some(text), Some(known)) if known != text && table.is_of_part(known) => return None,
            (Some(text), _) => {
                table.set(id, text);
                Name::define(id, text)
            }
        };
        self.yields(&rest[..length], Line::Name(key.key, name));
        self.context.name(key.key, name);
        Some(())
    }

    /// `calls=1 +3 `, `jump=1 +3 ` or `jcnd=1/2 +3 `.
    #[inline(always)]
    fn usual_association(&mut self, rest: &'a [u8], window: &Window) -> Option<()> {
        let (line, length) = self.association_parts(window)?;
        let role = if matches!(line, Line::Calls(_)) { CostRole::Call } else { CostRole::JumpSource };
        // A callee is named for one call, and that of the last one is about to be forgotten.
        if role == CostRole::Call
            && !self.leaves_names
            && (self.associated == Some(CostRole::Call) || self.context.callee().is_none())
        {
            return None;
        }
        self.yields(&rest[..length], line);
        self.expected = role;
        self.announced = (self.yielded.location, length);
        Some(())
    }

    /// Reads a call or jump line and its length without going on to the next line.
    #[inline(always)]
    pub(super) fn association_parts(&self, window: &Window) -> Option<(Line<'a>, usize)> {
        let key = eight(window, 0)?;
        if key & key_mask(6) == key_bytes(b"calls=") {
            let (count, at) = usual_count(window, 6, b' ')?;
            let (target, length) = self.usual_target(window, at)?;
            return Some((Line::Calls(Calls { count, target }), length));
        }
        let (taken, executed, at) = if key & key_mask(5) == key_bytes(b"jcnd=") {
            let (taken, at) = usual_count(window, 5, b'/')?;
            let (executed, at) = usual_count(window, at, b' ')?;
            (taken, Some(executed), at)
        } else if key & key_mask(5) == key_bytes(b"jump=") {
            let (taken, at) = usual_count(window, 5, b' ')?;
            (taken, None, at)
        } else {
            return None;
        };
        let (target, length) = self.usual_target(window, at)?;
        Some((Line::Jump(Jump { taken, executed, target }), length))
    }

    /// One or two positions to the end of the line, perhaps with a blank after them; and how long the line is.
    #[inline(always)]
    fn usual_target(&self, window: &Window, start: usize) -> Option<(Positions, usize)> {
        let base = self.base?;
        let ends = Ends::find(window);
        let length = ends.line_in_window()?;
        let mut stop = ends.token(start)?;
        let mut values = [usual_position(window, start, stop, base[0])?, 0, 0, 0];
        let mut count = 1;
        if stop + 1 < length {
            let start = stop + 1;
            stop = ends.token(start)?;
            values[1] = usual_position(window, start, stop, base[1])?;
            count = 2;
        }
        (stop == length || stop + 1 == length).then(|| (Positions::from_array(values, count), length))
    }
}

/// The content of a cost line.
#[derive(Debug, Clone, Copy)]
pub(super) struct CostParts {
    pub(super) values: [u64; MAX_COLUMNS],
    /// The offset of the costs; that of the line end if there are none.
    pub(super) costs_at: usize,
}

/// The content of a name line.
#[derive(Debug, Clone, Copy)]
pub(super) struct NameParts<'a> {
    pub(super) id: u64,
    /// The meaning that the id gets; `None` if it is only used.
    pub(super) text: Option<&'a [u8]>,
    pub(super) length: usize,
}

/// Reads the value of a name line.
#[inline(always)]
pub(super) fn name_parts<'a>(rest: &'a [u8], window: &Window, key: &UsualKey) -> Option<NameParts<'a>> {
    let (id, close) = usual_number(window, key.length)?;
    if window.get(close) != Some(&b')') {
        return None;
    }
    match window.get(close + 1)? {
        b'\n' => Some(NameParts { id, text: None, length: close + 1 }),
        b' ' => {
            let length = Ends::find(window).line(rest)?;
            if rest.get(length.wrapping_sub(1)) == Some(&b'\r') {
                return None;
            }
            let text = rest.get(close + 2..length)?;
            let is_usual = !matches!(text.first(), None | Some(b' ' | b'\t'));
            is_usual.then_some(NameParts { id, text: Some(text), length })
        }
        _ => None,
    }
}

/// The ends of tokens and lines in a window.
///
/// Measured on generated profiles of 100 MB: looked up for the whole line before anything else, they let the processor
/// begin with the next line while it is still busy with the numbers of this one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ends {
    line_ends: u32,
    blanks: u32,
}

impl Ends {
    #[inline(always)]
    pub(super) fn find(window: &Window) -> Ends {
        Ends { line_ends: find_all(window, b'\n'), blanks: find_all(window, b' ') }
    }

    /// The end of the token that begins here; None when it lies beyond the window, which then has a piece of it only.
    #[inline(always)]
    pub(super) fn token(self, start: usize) -> Option<usize> {
        let from = u64::from(self.line_ends | self.blanks) >> start << start;
        (from != 0).then_some(from.trailing_zeros() as usize)
    }

    /// The token ends from here to the end of the line, counted from here; none if the line goes on beyond the window.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "no more bits than the window has bytes")]
    pub(super) fn stops(self, start: usize, length: usize) -> u32 {
        if length >= size_of::<Window>() {
            return 0;
        }
        let in_line = u64::from(self.line_ends | self.blanks) & ((2 << length) - 1);
        (in_line >> start) as u32
    }

    #[inline(always)]
    pub(super) fn line_in_window(self) -> Option<usize> {
        (self.line_ends != 0).then_some(self.line_ends.trailing_zeros() as usize % size_of::<Window>())
    }

    /// The length of the line that `rest` begins with, and with it the window.
    #[inline(always)]
    pub(super) fn line(self, rest: &[u8]) -> Option<usize> {
        self.line_in_window().or_else(|| line_beyond_window(rest))
    }
}

#[inline(never)]
fn line_beyond_window(rest: &[u8]) -> Option<usize> {
    let beyond = size_of::<Window>();
    Some(beyond + memchr(b'\n', rest.get(beyond..)?)?)
}

/// A key before a name that has a number, together with the `=(` after it.
#[derive(Debug, Clone, Copy)]
pub(super) struct UsualKey {
    bytes: u64,
    length: usize,
    pub(super) key: NameKey,
}

impl UsualKey {
    /// Looked up by its first three bytes, so that no branch depends on which key it is.
    #[inline(always)]
    pub(super) fn find(window: &Window) -> Option<&'static UsualKey> {
        let eight = eight(window, 0)?;
        let key = &USUAL_KEYS[usual_key_slot(eight)];
        (eight & key_mask(key.length) == key.bytes).then_some(key)
    }
}

/// Slots that no key falls into hold one that belongs elsewhere, which then does not match.
static USUAL_KEYS: [UsualKey; 16] = {
    const KEYS: [NameKey; 11] = [
        NameKey::Fn,
        NameKey::Fl,
        NameKey::Fi,
        NameKey::Fe,
        NameKey::Ob,
        NameKey::Cfn,
        NameKey::Cfi,
        NameKey::Cfl,
        NameKey::Cob,
        NameKey::Jfi,
        NameKey::Jfn,
    ];
    let nowhere = UsualKey { bytes: 0, length: 8, key: NameKey::Fn };
    let mut slots = [nowhere; 16];
    let mut nth = 0;
    while nth < KEYS.len() {
        let word = KEYS[nth].as_str().as_bytes();
        let length = word.len() + 2;
        let bytes = key_bytes(word) | key_bytes(b"=(") << (8 * word.len());
        let slot = &mut slots[usual_key_slot(bytes)];
        assert!(slot.bytes == 0, "two keys in one slot");
        *slot = UsualKey { bytes, length, key: KEYS[nth] };
        nth += 1;
    }
    slots
};

/// The multiplier was searched for: it parts all the keys.
#[expect(clippy::cast_possible_truncation, reason = "the first three bytes are asked for")]
const fn usual_key_slot(eight: u64) -> usize {
    ((eight as u32 & 0x00ff_ffff).wrapping_mul(0x0006_9000) >> 28) as usize
}

/// Bytes as they stand in the low end of eight loaded ones.
pub(super) const fn key_bytes(bytes: &[u8]) -> u64 {
    let mut value = 0;
    let mut nth = 0;
    while nth < bytes.len() {
        value |= (bytes[nth] as u64) << (8 * nth);
        nth += 1;
    }
    value
}

pub(super) const fn key_mask(length: usize) -> u64 {
    u64::MAX >> (64 - 8 * length)
}

/// A number of at most seven digits, and where it ends.
#[inline(always)]
fn usual_number(window: &Window, start: usize) -> Option<(u64, usize)> {
    let (value, count) = leading_number(eight(window, start)?)?;
    (count > 0).then_some((value, start + count))
}

/// A count with this byte after it, and where the next thing begins.
#[inline(always)]
fn usual_count(window: &Window, start: usize, after: u8) -> Option<(Cost, usize)> {
    let (value, stop) = usual_number(window, start)?;
    (window.get(stop) == Some(&after)).then_some((Cost::from(value), stop + 1))
}

/// The meaning of the first byte of a position.
#[derive(Debug, Clone, Copy)]
struct Sign {
    /// Bit n is set if the position may be of n bytes.
    lengths: u64,
    /// The bits that make a `0` of the sign and leave a digit unchanged.
    to_zero: u64,
    /// All ones where the position is relative.
    relative: u64,
    /// All ones where it goes down.
    down: u64,
}

/// For each byte. Looked up, so that no branch depends on which it is.
static SIGNS: [Sign; 256] = {
    let none = Sign { lengths: 0, to_zero: 0, relative: 0, down: 0 };
    let digit = Sign { lengths: 0b1_1111_1110, ..none };
    let plus = Sign { lengths: 0b1_1111_1100, to_zero: (b'+' ^ b'0') as u64, relative: u64::MAX, down: 0 };
    let mut signs = [none; 256];
    let mut byte = b'0';
    while byte <= b'9' {
        signs[byte as usize] = digit;
        byte += 1;
    }
    signs[b'+' as usize] = plus;
    signs[b'-' as usize] = Sign { to_zero: (b'-' ^ b'0') as u64, down: u64::MAX, ..plus };
    signs[b'*' as usize] = Sign { lengths: 0b10, to_zero: (b'*' ^ b'0') as u64, ..plus };
    signs
};

/// `true` if this can be a cost line. Three of the sixteen bytes from `*` to `9` begin no position; later checks decline them.
#[inline(always)]
pub(super) fn begins_position(window: &Window) -> bool {
    window[0].wrapping_sub(b'*') < 16
}

#[inline(always)]
fn sign(byte: u8) -> &'static Sign {
    &SIGNS[usize::from(byte)]
}

impl Sign {
    /// `true` if a position with this first byte may have this length.
    #[inline(always)]
    fn allows(&self, length: usize) -> bool {
        self.lengths >> length & 1 != 0
    }

    /// The position that a number behind it means. One that goes too far is not below [`BASE_LIMIT`].
    #[inline(always)]
    fn position(&self, number: u64, base: u64) -> u64 {
        (base & self.relative).wrapping_add((number ^ self.down).wrapping_sub(self.down))
    }
}

/// The position between these places. The base is below [`BASE_LIMIT`], and so is the position.
#[inline(always)]
pub(super) fn usual_position(window: &Window, start: usize, stop: usize, base: u64) -> Option<u64> {
    let bytes = eight(window, start)?;
    let sign = sign(bytes.to_le_bytes()[0]);
    let length = stop - start;
    let number = if sign.allows(length) { whole_number(bytes ^ sign.to_zero, length) } else { None };
    let value = match number {
        Some(number) => sign.position(number, base),
        None => other_position(window, start, stop, base)?,
    };
    (value < BASE_LIMIT).then_some(value)
}

/// The same for up to eight bytes that are known to be digits, except the first one.
#[inline(always)]
pub(super) fn short_position(bytes: u64, length: usize, base: u64) -> Option<u64> {
    let sign = sign(bytes.to_le_bytes()[0]);
    if !sign.allows(length) {
        return None;
    }
    let value = sign.position(number_of_digits(bytes ^ sign.to_zero, length), base);
    (value < BASE_LIMIT).then_some(value)
}

/// An address, or a number of more digits.
#[inline(never)]
fn other_position(window: &Window, start: usize, stop: usize, base: u64) -> Option<u64> {
    position(window.get(start..stop)?, Some(base)).ok()
}
