//! Text filled up with blanks.

use std::fmt;

use crate::Align;

/// A text that is filled up to a width in characters. The width of a format string ends at 65,535, and names of files have no
/// end.
///
/// ```
/// use gristmill_output::{Align, Padded};
///
/// assert_eq!(Padded::new("Ir", 4, Align::Right).to_string(), "  Ir");
/// assert_eq!(Padded::new("Ir", 1 << 17, Align::Left).to_string().len(), 1 << 17);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Padded<'t> {
    text: &'t str,
    blanks: usize,
    align: Align,
}

impl<'t> Padded<'t> {
    /// Fills a text up on the side where it is not flush.
    pub fn new(text: &'t str, width: usize, align: Align) -> Self {
        Padded { text, blanks: width.saturating_sub(text.chars().count()), align }
    }
}

impl fmt::Display for Padded<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const BLANKS: &str = "                                                                ";
        if self.align == Align::Left {
            f.write_str(self.text)?;
        }
        let mut left = self.blanks;
        while left > 0 {
            let blanks = left.min(BLANKS.len());
            f.write_str(&BLANKS[..blanks])?;
            left -= blanks;
        }
        if self.align == Align::Right {
            f.write_str(self.text)?;
        }
        Ok(())
    }
}
