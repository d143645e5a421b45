//! Mangled names: limits for whoever demangles one, so that it takes no more time, stack and memory than these allow, and a repair.

use std::fmt;

/// The limit of mangled names, in bytes. Longer ones stay mangled.
///
/// See the example of [`DemangledText`].
pub const MAX_MANGLED_BYTES: usize = 1 << 14;

/// The limit of nesting in a mangled name. Real names stay far below, and each level takes stack.
///
/// See the example of [`DemangledText`].
pub const MAX_MANGLED_DEPTH: u32 = 96;

/// The limits of demangled names, in bytes. A short name can stand for one that fills the memory, as it can refer to parts of
/// itself. Of 9,867 mangled names of recordings and of the libraries of a machine, none stands for more than 1,024 bytes and
/// 14 for each of its own.
const MAX_DEMANGLED_BYTES: usize = 1 << 16;
const FREE_DEMANGLED_BYTES: usize = 1 << 10;
const MAX_GROWTH: usize = 32;

/// The text that a mangled name stands for, while it is written: an error ends it where it becomes too long.
///
/// ```
/// use std::fmt::Write as _;
///
/// use gristmill_format::{DemangledText, MAX_MANGLED_BYTES, MAX_MANGLED_DEPTH};
///
/// let mut text = DemangledText::new("_ZN5stone5crushEv");
/// assert!(text.write_str("stone::crush()").is_ok());
/// assert!(text.write_str(&"x".repeat(1 << 11)).is_err());
/// assert_eq!(text.into_string(), "stone::crush()");
/// assert!(MAX_MANGLED_BYTES > 1 << 10 && MAX_MANGLED_DEPTH < 1 << 10);
/// ```
#[derive(Debug, Clone)]
pub struct DemangledText {
    text: String,
    max_bytes: usize,
}

impl DemangledText {
    /// Creates an empty text for what a mangled name stands for.
    pub fn new(mangled: &str) -> Self {
        let max_bytes = FREE_DEMANGLED_BYTES + MAX_GROWTH * mangled.len();
        DemangledText { text: String::new(), max_bytes: max_bytes.min(MAX_DEMANGLED_BYTES) }
    }

    /// Returns the text that was written.
    pub fn into_string(self) -> String {
        self.text
    }
}

impl fmt::Write for DemangledText {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.text.len() + text.len() > self.max_bytes {
            return Err(fmt::Error);
        }
        self.text.push_str(text);
        Ok(())
    }
}

/// Returns a C++ name with a return type for each constructor that is a template, which only functions have. `None` if there is no such
/// constructor. The demangler takes the first type of every template for the type that it returns, so a constructor would lose its first parameter.
///
/// ```
/// use gristmill_format::with_return_types;
///
/// assert_eq!(with_return_types("_ZN1SC1IiEEiT_").as_deref(), Some("_ZN1SC1IiEEviT_"));
/// assert_eq!(with_return_types("_Z4callIZN3LamC4IiEET_1AEUlvE_EvS2_").as_deref(), Some("_Z4callIZN3LamC4IiEEvT_1AEUlvE_EvS2_"));
/// assert_eq!(with_return_types("_ZN3C1I3fooIiEEiT_"), None);
/// // A type that is calculated.
/// assert_eq!(with_return_types("_ZN1CC1IDtfp_EEEi"), None);
/// ```
pub fn with_return_types(symbol: &str) -> Option<String> {
    let mut scan = Scan { text: symbol.as_bytes(), at: "_Z".len(), open: Vec::new(), places: Vec::new() };
    // Behind what it does not know, nothing is repaired.
    while scan.step().is_some() {}
    let mut repaired = String::with_capacity(symbol.len() + scan.places.len());
    let mut written = 0;
    for place in scan.places.into_iter().filter(|place| *place < symbol.len()) {
        repaired.push_str(symbol.get(written..place)?);
        repaired.push('v');
        written = place;
    }
    repaired.push_str(symbol.get(written..)?);
    (written > 0).then_some(repaired)
}

/// A part of a mangled name that an `E` ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    Other,
    /// Arguments of a template.
    Arguments,
    /// Arguments of a constructor, and the name whose last part is such a constructor.
    OfConstructor,
    Constructor,
    /// A lambda, which has a number behind it.
    Lambda,
    /// A constant of an enumeration: its type, and its value.
    Constant,
}

/// A way through a mangled name, as far as it has no calculations.
struct Scan<'a> {
    text: &'a [u8],
    at: usize,
    open: Vec<Open>,
    /// The ends of names of constructors that are templates.
    places: Vec<usize>,
}

impl Scan<'_> {
    /// Goes on by one sign or name. `None` at the end, and where it does not know the way.
    fn step(&mut self) -> Option<()> {
        let next = self.text.get(self.at + 1).copied().unwrap_or(0);
        match self.text.get(self.at)? {
            b'0'..=b'9' => self.skip_identifier()?,
            b'I' | b'J' => self.enter(Open::Arguments, 1),
            b'N' | b'F' | b'Z' => self.enter(Open::Other, 1),
            b'U' if next == b'l' => self.enter(Open::Lambda, 2),
            // The address of something that has a name.
            b'X' if self.text[self.at..].starts_with(b"XadL_Z") => self.enter(Open::Other, 3),
            b'L' if next == b'_' => self.enter(Open::Other, 3),
            b'L' if next.is_ascii_lowercase() => self.skip_literal()?,
            b'L' if matches!(self.open.last(), Some(Open::Arguments | Open::OfConstructor)) => {
                self.enter(Open::Constant, 1);
                return Some(());
            }
            b'E' => self.leave()?,
            b'C' if matches!(next, b'1'..=b'5') => {
                self.at += 2;
                while self.text.get(self.at) == Some(&b'B') {
                    self.at += 1;
                    self.skip_identifier()?;
                }
                if self.text.get(self.at) == Some(&b'I') {
                    self.enter(Open::OfConstructor, 1);
                }
            }
            b'S' if matches!(next, b'a' | b's' | b'b' | b'i' | b'o' | b'd') => self.at += 2,
            // A virtual table and its like, and a parameter of a lambda.
            b'T' if matches!(next, b'V' | b'I' | b'S' | b'T' | b'y' | b'n') => self.at += 2,
            b'A' if next == b'_' => self.at += 2,
            b'A' if next.is_ascii_digit() => self.skip_number(1)?,
            b'D' if matches!(next, b'v' | b'F') => self.skip_number(2)?,
            b'U' if next == b't' => self.skip_number(2)?,
            // The number of an entity in a function.
            b'_' if next == b'_' => self.skip_number(2)?,
            b'_' if next.is_ascii_digit() => self.at += 2,
            b'D' if b"nisuacodefh012345".contains(&next) => self.at += 2,
            b'a'..=b'z' => self.at += 1,
            b'S' | b'T' if next != b't' => self.skip_number(1)?,
            // More of a name or a type follows.
            byte => {
                let bytes = match byte {
                    b'S' if next == b't' => 2,
                    b'D' if next == b'p' => 2,
                    b'M' | b'P' | b'R' | b'O' | b'K' | b'V' | b'G' | b'B' | b'U' | b'L' => 1,
                    b'C' if next.is_ascii_lowercase() => 1,
                    _ => return None,
                };
                self.at += bytes;
                return Some(());
            }
        }
        if self.open.last() == Some(&Open::Constant) {
            let value =
                self.text[self.at..].iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'n');
            self.at += value.count();
        }
        Some(())
    }

    fn enter(&mut self, open: Open, bytes: usize) {
        self.open.push(open);
        self.at += bytes;
    }

    /// Goes on behind an `E`.
    fn leave(&mut self) -> Option<()> {
        self.at += 1;
        match self.open.pop()? {
            Open::Other | Open::Arguments | Open::Constant => {}
            Open::OfConstructor => {
                if self.text.get(self.at) == Some(&b'E') {
                    *self.open.last_mut()? = Open::Constructor;
                }
            }
            Open::Constructor => self.places.push(self.at),
            Open::Lambda => self.skip_number(0)?,
        }
        Some(())
    }

    /// Skips the length of a name and the name.
    fn skip_identifier(&mut self) -> Option<()> {
        let digits = self.text[self.at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let length: usize = std::str::from_utf8(&self.text[self.at..self.at + digits]).ok()?.parse().ok()?;
        self.at = self.at.checked_add(digits)?.checked_add(length)?;
        (self.at <= self.text.len()).then_some(())
    }

    /// Skips what ends with the next `_`, after some bytes.
    fn skip_number(&mut self, bytes: usize) -> Option<()> {
        let start = self.at + bytes;
        let number = self
            .text
            .get(start..)?
            .iter()
            .position(|byte| !byte.is_ascii_digit() && !byte.is_ascii_uppercase())?;
        self.at = start + number + 1;
        (self.text[self.at - 1] == b'_').then_some(())
    }

    /// Skips a constant whose type is one letter.
    fn skip_literal(&mut self) -> Option<()> {
        let value = self.text.get(self.at + 2..)?;
        let end = value.iter().position(|byte| !byte.is_ascii_digit() && *byte != b'n')?;
        self.at += 2 + end + 1;
        (value[end] == b'E').then_some(())
    }
}
