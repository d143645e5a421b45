//! The debug information that may still be read, in proportion to its sections.
//!
//! Units can refer to one table each, and entries to one list or string. A file of 200 KB could so stand for gigabytes, or for
//! hours of reading.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::Slice;
use super::fault::{Fault, Outcome};

/// Elements of tables, and bytes of text, that every file may have in addition to its own share.
const FREE_ELEMENTS: usize = 1 << 12;
const FREE_TEXT_BYTES: usize = 1 << 20;

/// Bytes of names and paths for each byte of the sections. Paths of files are assembled of parts that are shared.
const TEXT_BYTES_OF_BYTE: usize = 8;

/// The elements of tables and the bytes of text that may still be read, and the text that was.
pub(super) struct Budget {
    elements: AtomicUsize,
    text_bytes: AtomicUsize,
    /// Text by where it is in its section.
    texts: Mutex<HashMap<(usize, usize), Arc<str>>>,
}

impl Budget {
    /// Allows for the bytes of sections that tables and text are made of.
    pub(super) fn new(section_bytes: usize) -> Self {
        let budget = Self {
            elements: AtomicUsize::new(FREE_ELEMENTS),
            text_bytes: AtomicUsize::new(FREE_TEXT_BYTES),
            texts: Mutex::default(),
        };
        budget.add(section_bytes);
        budget
    }

    /// Adds what a further file allows.
    pub(super) fn add(&self, section_bytes: usize) {
        for (left, more) in [
            (&self.elements, section_bytes),
            (&self.text_bytes, section_bytes.saturating_mul(TEXT_BYTES_OF_BYTE)),
        ] {
            let _ = left
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| Some(left.saturating_add(more)));
        }
    }

    /// Takes elements off the budget. Once it does not suffice, nothing is left: each of many tables would be read again to
    /// find that it is too large.
    pub(super) fn take(&self, count: usize) -> Outcome<()> {
        take(&self.elements, count)
    }

    /// Takes text off the budget.
    pub(super) fn take_text(&self, byte_count: usize) -> Outcome<()> {
        take(&self.text_bytes, byte_count)
    }

    /// Returns text of a section. Equal slices share it.
    pub(super) fn text(&self, slice: Slice<'_>) -> Outcome<Arc<str>> {
        let bytes = slice.slice();
        let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (bytes.as_ptr() as usize, bytes.len());
        if let Some(text) = texts.get(&key) {
            return Ok(text.clone());
        }
        self.take_text(bytes.len())?;
        let text: Arc<str> = String::from_utf8_lossy(bytes).into();
        texts.insert(key, text.clone());
        Ok(text)
    }
}

fn take(from: &AtomicUsize, count: usize) -> Outcome<()> {
    let taken = from.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(count));
    if taken.is_err() {
        from.store(0, Ordering::Relaxed);
        return Err(Fault::OutOfProportion);
    }
    Ok(())
}
