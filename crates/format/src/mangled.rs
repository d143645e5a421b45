//! Limits of mangled names: whoever demangles one takes no more time, stack and memory than these allow.

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
