//! Text of a profile by columns, which compresses better.
//!
//! Lines such as `calls=3 50` differ in their numbers only. This form has each text without its numbers once, as a template, the
//! template of each line, and then the numbers: first those at the first place of the first template, and so on. Numbers of one kind are
//! beside each other, and gzip makes a third less of them than of the text. The text after a name id is kept as it is.
//!
//! ```text
//! calls=3 50          templates   calls=□ □    +□ □
//! +2 400              lines       0 1 0 1
//! calls=1 50          numbers     3 1    50 50    2 1    400 16
//! +1 16
//! ```
//!
//! The form is for the way from this program to the page that it writes, and the same version reads it.

use std::collections::HashMap;

use crate::digits::{push_decimal, push_hex};

/// The beginning of the form. A text can have it, too, so that the form is known by where it comes from.
const MAGIC: &[u8] = b"\0columns";
/// Marks of a template: a number, a hexadecimal number, and the rest of the line.
const NUMBER: u8 = 0;
const HEXADECIMAL: u8 = 1;
const REST: u8 = 2;
/// A line has one byte for its template; the first template is only a rest.
const MAX_TEMPLATES: usize = 256;
/// A longer line is one of a kind.
const MAX_TEMPLATE_BYTES: usize = 64;

/// Brings a text into the form.
///
/// ```
/// use gristmill_profile::columns;
///
/// let text = b"fn=(1) main\n1 16\ncalls=3 50\n+2 400\ncalls=1 50\n+1 16\n";
/// let bytes = columns::from_text(text);
/// assert_eq!(columns::to_text(&bytes).as_deref(), Some(&text[..]));
/// ```
pub fn from_text(text: &[u8]) -> Vec<u8> {
    let mut templates = vec![Template { text: vec![REST], columns: Vec::new() }];
    let mut known: HashMap<Vec<u8>, usize> = HashMap::new();
    let mut lines = Vec::new();
    let mut rests = Vec::new();
    let (mut template, mut numbers) = (Vec::new(), Vec::new());
    for line in text.split(|&byte| byte == b'\n') {
        let rest = split(line, &mut template, &mut numbers);
        let found = known.get(&template).copied().or_else(|| {
            let fits = template.len() <= MAX_TEMPLATE_BYTES && templates.len() < MAX_TEMPLATES;
            fits.then(|| {
                known.insert(template.clone(), templates.len());
                templates.push(Template { text: template.clone(), columns: vec![Vec::new(); numbers.len()] });
                templates.len() - 1
            })
        });
        let found = rest.and_then(|rest| Some((found?, rest)));
        let (index, rest) = found.unwrap_or((0, Some(line)));
        lines.push(u8::try_from(index).unwrap_or(0));
        templates[index].columns.iter_mut().zip(&numbers).for_each(|(column, &number)| column.push(number));
        if let Some(rest) = rest {
            rests.extend_from_slice(rest);
            rests.push(b'\n');
        }
    }
    let mut form = MAGIC.to_vec();
    push(&mut form, templates.len() as u64);
    for template in &templates {
        push(&mut form, template.text.len() as u64);
        form.extend_from_slice(&template.text);
    }
    push(&mut form, lines.len() as u64);
    form.extend_from_slice(&lines);
    templates.iter().flat_map(|template| &template.columns).for_each(|column| push_column(&mut form, column));
    form.extend_from_slice(&rests);
    form
}

/// Returns the text again, or `None` if the bytes are not in the form. A few bytes can stand for much text: only for bytes of
/// [`from_text`]. See the example of [`from_text`].
pub fn to_text(form: &[u8]) -> Option<Vec<u8>> {
    let mut rest = form.strip_prefix(MAGIC)?;
    let mut templates = Vec::new();
    for _ in 0..length(&mut rest)? {
        let length = length(&mut rest).filter(|&length| length <= MAX_TEMPLATE_BYTES)?;
        templates.push(take(&mut rest, length)?);
    }
    let line_count = length(&mut rest)?;
    let lines = take(&mut rest, line_count)?;
    let mut counts = [0usize; MAX_TEMPLATES];
    lines.iter().for_each(|&line| counts[usize::from(line)] += 1);
    // By template: its columns.
    let mut columns = Vec::new();
    for (template, count) in templates.iter().zip(counts) {
        let places = template.iter().filter(|byte| matches!(**byte, NUMBER | HEXADECIMAL)).count();
        let of_template: Option<Vec<Column<'_>>> =
            (0..places).map(|_| Column::new(&mut rest, count)).collect();
        columns.push(of_template?);
    }
    let mut text = Vec::with_capacity(form.len().saturating_mul(2));
    for &line in lines {
        let template = *templates.get(usize::from(line))?;
        let mut columns = columns.get_mut(usize::from(line))?.iter_mut();
        for &byte in template {
            match byte {
                NUMBER => push_decimal(&mut text, columns.next()?.next()?.into()),
                HEXADECIMAL => push_hex(&mut text, columns.next()?.next()?),
                REST => {
                    let length = rest.iter().position(|&byte| byte == b'\n')?;
                    text.extend_from_slice(take(&mut rest, length)?);
                    take(&mut rest, 1)?;
                }
                byte => text.push(byte),
            }
        }
        text.push(b'\n');
    }
    // What is behind the last line break is a line, too.
    text.pop();
    rest.is_empty().then_some(text)
}

/// The lines that differ in their numbers only.
struct Template {
    text: Vec<u8>,
    /// The numbers by their places.
    columns: Vec<Vec<u64>>,
}

/// Makes the template and the numbers of a line. Returns what is behind a name id, or `None` if the line has no template.
fn split<'l>(line: &'l [u8], template: &mut Vec<u8>, numbers: &mut Vec<u64>) -> Option<Option<&'l [u8]>> {
    template.clear();
    numbers.clear();
    let is_name = |byte: &u8| byte.is_ascii_lowercase();
    let name = line.iter().take_while(|byte| is_name(byte)).count();
    let is_cost = matches!(line.first(), None | Some(b'0'..=b'9' | b'+' | b'-' | b'*'));
    if !is_cost && (name == 0 || line.get(name) != Some(&b'=')) {
        return None;
    }
    let mut left = line;
    while let Some((&byte, after)) = left.split_first() {
        if byte.is_ascii_digit() {
            let (mark, number, length) = number(left);
            match number {
                Some(number) => {
                    template.push(mark);
                    numbers.push(number);
                }
                None => template.extend_from_slice(&left[..length]),
            }
            left = &left[length..];
        } else if let Some(rest) = left.strip_prefix(b") ") {
            template.extend_from_slice(&[b')', b' ', REST]);
            return Some(Some(rest));
        } else if byte <= REST || template.len() > MAX_TEMPLATE_BYTES {
            return None;
        } else {
            template.push(byte);
            left = after;
        }
    }
    Some(None)
}

/// Reads digits: the mark of the number, its value if it is written from it again byte for byte, and its length.
fn number(text: &[u8]) -> (u8, Option<u64>, usize) {
    let count =
        |text: &[u8], is_digit: fn(u8) -> bool| text.iter().take_while(|&&byte| is_digit(byte)).count();
    let value = |digits: &[u8], radix| {
        let is_shortest = digits.len() == 1 || !digits.starts_with(b"0");
        let digits = std::str::from_utf8(digits).ok().filter(|_| is_shortest)?;
        u64::from_str_radix(digits, radix).ok()
    };
    if let Some(after) = text.strip_prefix(b"0x") {
        let length = count(after, |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if length > 0 {
            return (HEXADECIMAL, value(&after[..length], 16), length + 2);
        }
    }
    let length = count(text, |byte| byte.is_ascii_digit());
    (NUMBER, value(&text[..length], 10), length)
}

/// Appends a number: seven bits in a byte, the lowest first, and the highest bit as long as another byte follows. The varints of the
/// index are for bytes of our own: reading them takes no damage into account.
fn push(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    bytes.push(number.to_le_bytes()[0]);
}

/// Appends a column: a byte that is 1 for differences, and the numbers.
fn push_column(form: &mut Vec<u8>, column: &[u64]) {
    let (mut plain, mut differences) = (vec![0], vec![1]);
    let mut before = 0u64;
    for &number in column {
        push(&mut plain, number);
        let difference = number.wrapping_sub(before).cast_signed();
        push(&mut differences, (difference << 1 ^ difference >> 63).cast_unsigned());
        before = number;
    }
    // Plain numbers repeat more often.
    let is_shorter = differences.len() < plain.len() - plain.len() / 8;
    form.extend_from_slice(if is_shorter { &differences } else { &plain });
}

/// The numbers of a column that are left.
struct Column<'f> {
    bytes: &'f [u8],
    has_differences: bool,
    before: u64,
}

impl<'f> Column<'f> {
    /// Takes a column of this many numbers.
    fn new(form: &mut &'f [u8], count: usize) -> Option<Self> {
        let has_differences = *take(form, 1)?.first()? == 1;
        // A number ends with the byte that has not the highest bit.
        let ends = form.iter().enumerate().filter(|(_, byte)| **byte < 0x80).map(|(at, _)| at + 1);
        let length = if count == 0 { 0 } else { ends.into_iter().nth(count - 1)? };
        Some(Column { bytes: take(form, length)?, has_differences, before: 0 })
    }

    fn next(&mut self) -> Option<u64> {
        let number = pop(&mut self.bytes)?;
        if !self.has_differences {
            return Some(number);
        }
        let difference = (number >> 1) ^ (number & 1).wrapping_neg();
        self.before = self.before.wrapping_add(difference);
        Some(self.before)
    }
}

/// Takes a number from the beginning.
fn pop(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

fn length(bytes: &mut &[u8]) -> Option<usize> {
    usize::try_from(pop(bytes)?).ok()
}

fn take<'f>(bytes: &mut &'f [u8], length: usize) -> Option<&'f [u8]> {
    let (taken, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(taken)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn round_trip(text: &[u8]) {
        assert_eq!(to_text(&from_text(text)).as_deref(), Some(text), "{}", text.escape_ascii());
    }

    #[test]
    fn each_text_comes_back() {
        for text in [
            &b""[..],
            b"\n",
            b"\n\n",
            b"0",
            b"007 00 0x 0x0 0x00 0xff 0xFF 0xfg\n",
            b"18446744073709551615 18446744073709551616 0xffffffffffffffff 0x10000000000000000\n0 1\n",
            b"fn=(1) a) b\nfn=(1)\nfn=(1) \nfn=(12) 34\n",
            b"1 \0\n1 \x01 2\n1 \x02\n1 2\r\n",
            b"calls=1 2\n+3 4 -5 *\n\xff\xfe=1\nx=\xff9\n",
            b"events: Ir Dr\nsummary: 1 2",
        ] {
            round_trip(text);
        }
        // More templates than there may be, and one that is too long.
        let mut text = "1 2 3\n".repeat(9);
        for length in 0..300 {
            text.push_str(&format!("{}\n1 {}\n", " 7".repeat(length), "+ ".repeat(length)));
        }
        round_trip(text.as_bytes());
    }

    proptest! {
        #[test]
        fn random_text_comes_back(lines in prop::collection::vec("(c?fn=\\([0-9]{1,2}\\)( .{0,9})?|calls=[0-9]{1,20} [0-9]|[+*-]?(0x)?[0-9a-f]{1,17}( [0-9]{0,20}){0,3}|.{0,12})", 0..40)) {
            round_trip(lines.join("\n").as_bytes());
        }

        #[test]
        fn damage_is_no_panic(text in "(calls=[0-9]{1,4} [0-9]\n|fn=\\([0-9]\\) [a-z]{0,3}\n){0,9}", at in any::<prop::sample::Index>(), byte: u8) {
            let mut form = from_text(text.as_bytes());
            let at = at.index(form.len());
            form[at] = byte;
            let _ = to_text(&form);
            form.truncate(at);
            prop_assert_eq!(to_text(&form), None);
        }
    }
}
