//! Lines of the usual form, taken without a second look.
//!
//! Nearly all lines are spelled the way Callgrind spells them. They are recognised here and become the record that
//! [`LineReader`](super::line::LineReader) would make of them. Whatever is not quite of that form, or would be an
//! error, is left to it, with nothing changed. A test reads files both ways and compares.
//!
//! Measured on generated profiles of 100 MB: guessing a branch wrong costs as much as reading a number. So numbers are
//! taken without asking for their sign or their length.

use memchr::memchr;

use super::{Definition, Reader};
use crate::cost::{Cost, Costs, narrow};
use crate::lanes::{eight, find, leading_number, leading_short_number};
use crate::location::Location;
use crate::name::{Name, NameKey};
use crate::position::{Positions, position};
use crate::record::{Calls, CostLine, CostRole, Jump, Line, LineEnd, Record, Spelling};

/// As much of the text as a line needs whose end is not looked for: two positions and their signs.
type Window = [u8; 32];

impl<'a> Reader<'a> {
    /// Reads a cost line; None, with nothing changed, for every other line.
    ///
    /// These are most lines of a file. Inlined into the caller's loop, what the caller does not ask for is not made.
    #[inline(always)]
    pub(super) fn usual_cost_line(&mut self) -> Option<Record<'a>> {
        let rest = self.input.get(self.at..)?;
        let window: &Window = rest.first_chunk()?;
        let base = self.base?;
        sign(window[0])?;
        let (first, mut stop) = usual_position(window, 0, base[0])?;
        let mut values = [first, 0, 0, 0];
        match self.columns.len() {
            1 => {}
            2 if window.get(stop) == Some(&b' ') => {
                (values[1], stop) = usual_position(window, stop + 1, base[1])?;
            }
            _ => return None,
        }
        let (costs_at, length) = match window.get(stop)? {
            b'\n' => (stop, stop),
            b' ' => (stop + 1, usual_length(rest, stop + 1)?),
            _ => return None,
        };
        // A jump has no costs: this is a line after a jump without a second line.
        if self.expected == CostRole::JumpSource && costs_at != length {
            return None;
        }
        let location = self.take_line(length);
        let role = self.expected;
        self.take_cost_line(role, values);
        Some(Record {
            location,
            part: self.part.index,
            line: Line::Cost(CostLine {
                role,
                positions: Positions::of_array(values, self.columns.len()),
                costs: Costs::within(rest, costs_at, length, narrow(costs_at)),
            }),
            spelling: Spelling::of_text(rest.get(..length)?, LineEnd::Lf),
        })
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
        // A call or jump line without its second line is an error.
        if self.expected != CostRole::SelfCost {
            return None;
        }
        match UsualKey::of(window) {
            Some(key) => self.usual_name_line(rest, window, key),
            None => self.usual_association(rest, window),
        }
    }

    #[inline(always)]
    fn yields(&mut self, text: &'a [u8], line: Line<'a>) {
        self.yielded.location = self.take_line(text.len());
        self.yielded.part = self.part.index;
        self.yielded.line = line;
        self.yielded.spelling = Spelling::of_text(text, LineEnd::Lf);
    }

    /// `fn=(12)` or `fn=(12) main`.
    #[inline(always)]
    fn usual_name_line(&mut self, rest: &'a [u8], window: &Window, key: &UsualKey) -> Option<()> {
        let (id, close) = usual_number(window, key.length)?;
        if window.get(close) != Some(&b')') {
            return None;
        }
        let table = &mut self.names[key.key.space() as usize];
        let known = table.get(id);
        let (name, length) = match window.get(close + 1)? {
            b'\n' => (Name::refer(id, known?.text), close + 1),
            b' ' => {
                let length = usual_length(rest, close + 2)?;
                let text = rest.get(close + 2..length)?;
                let part = self.part.index;
                if matches!(text.first(), None | Some(b' ' | b'\t'))
                    || known.is_some_and(|known| known.part == part && known.text != text)
                {
                    return None;
                }
                table.set(id, Definition { text, part });
                (Name::define(id, text), length)
            }
            _ => return None,
        };
        self.yields(&rest[..length], Line::Name(key.key, name));
        self.context.name(key.key, name);
        Some(())
    }

    /// `calls=1 +3 `, `jump=1 +3 ` or `jcnd=1/2 +3 `.
    #[inline(always)]
    fn usual_association(&mut self, rest: &'a [u8], window: &Window) -> Option<()> {
        let key = eight(window, 0)?;
        let (role, length, line) = if key & key_mask(6) == key_bytes(b"calls=") {
            // A callee is named for one call, and that of the last one is about to be forgotten.
            if self.associated == Some(CostRole::Call) || self.context.callee().is_none() {
                return None;
            }
            let (count, at) = usual_count(window, 6, b' ')?;
            let (target, length) = self.usual_target(window, at)?;
            (CostRole::Call, length, Line::Calls(Calls { count, target }))
        } else {
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
            (CostRole::JumpSource, length, Line::Jump(Jump { taken, executed, target }))
        };
        self.yields(&rest[..length], line);
        self.expected = role;
        self.announced = (self.yielded.location, length);
        Some(())
    }

    /// One or two positions to the end of the line, perhaps with a blank after them; and how long the line is.
    #[inline(always)]
    fn usual_target(&self, window: &Window, start: usize) -> Option<(Positions, usize)> {
        let base = self.base?;
        let (first, mut stop) = usual_position(window, start, base[0])?;
        let mut values = [first, 0, 0, 0];
        let mut count = 1;
        if window.get(stop) == Some(&b' ') && window.get(stop + 1) != Some(&b'\n') {
            (values[1], stop) = usual_position(window, stop + 1, base[1])?;
            count = 2;
        }
        if window.get(stop) == Some(&b' ') {
            stop += 1;
        }
        (window.get(stop) == Some(&b'\n')).then(|| (Positions::of_array(values, count), stop))
    }
}

/// The length of the line that `rest` begins with, which is known not to end before this offset.
#[inline(always)]
fn usual_length(rest: &[u8], from: usize) -> Option<usize> {
    let length = match eight(rest, from).and_then(|eight| find(eight, b'\n')) {
        Some(length) => from + length,
        None => usual_length_of_long(rest, from + 8)?,
    };
    // With it, the line end would be another one.
    (rest.get(length.wrapping_sub(1)) != Some(&b'\r')).then_some(length)
}

#[inline(never)]
fn usual_length_of_long(rest: &[u8], mut from: usize) -> Option<usize> {
    const ENOUGH: usize = 4;
    for _ in 0..ENOUGH {
        if let Some(length) = find(eight(rest, from)?, b'\n') {
            return Some(from + length);
        }
        from += 8;
    }
    memchr(b'\n', &rest[from..]).map(|length| from + length)
}

/// A key before a name that has a number, together with the `=(` after it.
#[derive(Debug, Clone, Copy)]
struct UsualKey {
    bytes: u64,
    length: usize,
    key: NameKey,
}

impl UsualKey {
    /// Looked up by its first three bytes, so that no branch depends on which key it is.
    #[inline(always)]
    fn of(window: &Window) -> Option<&'static UsualKey> {
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
const fn key_bytes(bytes: &[u8]) -> u64 {
    let mut value = 0;
    let mut nth = 0;
    while nth < bytes.len() {
        value |= (bytes[nth] as u64) << (8 * nth);
        nth += 1;
    }
    value
}

const fn key_mask(length: usize) -> u64 {
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

/// What the first byte of a position means.
#[derive(Debug, Clone, Copy)]
struct Sign {
    /// How many bits it takes before the digits.
    bits: u8,
    /// Bit n is set if n digits may follow.
    counts: u8,
    /// All ones where the position is relative.
    relative: u64,
    /// All ones where it goes down.
    down: u64,
}

/// For `*` to `9`. Looked up, so that no branch depends on which it is.
static SIGNS: [Sign; 16] = {
    let none = Sign { bits: 0, counts: 0, relative: 0, down: 0 };
    let digit = Sign { counts: 0b1111_1110, ..none };
    let plus = Sign { bits: 8, relative: u64::MAX, ..digit };
    let minus = Sign { down: u64::MAX, ..plus };
    let star = Sign { counts: 1, ..plus };
    let d = digit;
    [star, plus, none, minus, none, none, d, d, d, d, d, d, d, d, d, d]
};

#[inline(always)]
fn sign(byte: u8) -> Option<&'static Sign> {
    SIGNS.get(usize::from(byte.wrapping_sub(b'*')))
}

/// The position that begins here, and where it ends.
#[inline(always)]
fn usual_position(window: &Window, start: usize, base: u64) -> Option<(u64, usize)> {
    let bytes = eight(window, start)?;
    let sign = sign(*window.get(start)?)?;
    let (value, stop) = match leading_short_number(bytes >> sign.bits) {
        Some((magnitude, count)) => {
            let from = base & sign.relative;
            let value = from.wrapping_add((magnitude ^ sign.down).wrapping_sub(sign.down));
            // Above 2^63 it may have left the range, below 0 or beyond 2^64.
            if (value | from) >> 63 != 0 || sign.counts >> count & 1 == 0 {
                return None;
            }
            (value, start + usize::from(sign.bits / 8) + count)
        }
        None => other_position(window, start, base),
    };
    match window.get(stop)? {
        b' ' | b'\n' => Some((value, stop)),
        b'x' => {
            let (value, stop) = other_position(window, start, base);
            (stop > start).then_some((value, stop))
        }
        _ => None,
    }
}

/// An address, or a number of more digits; and where it ends, which is where it begins if there is none.
#[inline(never)]
fn other_position(window: &Window, start: usize, base: u64) -> (u64, usize) {
    let rest = &window[start..];
    let length = rest.iter().position(|byte| matches!(byte, b' ' | b'\n')).unwrap_or(0);
    position(&rest[..length], Some(base)).map_or((0, start), |value| (value, start + length))
}
