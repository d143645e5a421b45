//! The text of the source lines that instructions come from.

use std::collections::{BTreeMap, BTreeSet};

use gristmill_output::lossy;
use schemars::JsonSchema;
use serde::Serialize;

use super::Assembly;
use crate::view::ViewError;

/// The most lines whose text is given.
const MAX_LINES: usize = 20_000;
/// The most characters of a line.
const MAX_CHARACTERS: usize = 400;

/// A source file with the lines that instructions come from. See the example of [`Assembly`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ShownFile {
    /// The path, as frames have it.
    pub file: String,
    /// The lines, ascending.
    pub lines: Vec<ShownLine>,
}

/// A source line that instructions come from. See the example of [`Assembly`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ShownLine {
    /// The line number.
    pub line: u64,
    /// Its text without what surrounds it. A long one ends with `…`.
    pub text: String,
}

impl Assembly<'_> {
    /// Returns the text of all source lines that the frames of the shown functions name, also those of inlined functions in other
    /// files. Files that cannot be read are left out.
    ///
    /// # Errors
    ///
    /// If a derived cost is out of range.
    pub fn shown_lines(&self) -> Result<Vec<ShownFile>, ViewError> {
        let mut wanted: BTreeMap<Vec<u8>, BTreeSet<u64>> = BTreeMap::new();
        let mut count = 0;
        for &id in &self.chosen {
            let listing = self.listing(id)?;
            for row in 0..listing.rows.len() {
                for frame in listing.frames(row) {
                    let Some(line) = frame.line.filter(|_| count < MAX_LINES) else { continue };
                    let lines = match wanted.get_mut(&*frame.file) {
                        Some(lines) => lines,
                        None => wanted.entry(frame.file.to_vec()).or_default(),
                    };
                    count += usize::from(lines.insert(line));
                }
            }
        }
        let file = |(path, numbers): (Vec<u8>, BTreeSet<u64>)| {
            let source = self.sources.file(&path)?;
            let line = |line: u64| {
                let text = lossy(source.line(line)?.trim_ascii());
                let text = match text.char_indices().nth(MAX_CHARACTERS) {
                    None => text,
                    Some((end, _)) => format!("{}…", &text[..end]),
                };
                Some(ShownLine { line, text })
            };
            Some(ShownFile { file: lossy(&path), lines: numbers.into_iter().filter_map(line).collect() })
        };
        Ok(wanted.into_iter().filter_map(file).collect())
    }
}
