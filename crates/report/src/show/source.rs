//! The source text beside the lines of a function.

use std::sync::Arc;

use gristmill_output::source::Sources;

use super::Show;
use crate::annotate::SourceRemark;
use crate::line_sources::LineSources;

impl Show {
    /// Returns the same report with the source text of the lines that are shown, and with remarks on their files.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use gristmill_output::source::{SourceError, SourceText, Sources};
    /// use gristmill_profile::Profile;
    /// use gristmill_report::{Show, ShowOptions, View, ViewOptions};
    ///
    /// struct Mill;
    ///
    /// impl Sources for Mill {
    ///     fn get(&self, path: &[u8]) -> Result<Arc<SourceText>, SourceError> {
    ///         let text = SourceText { text: b"int main(void) {\n    grind();\n}\n".to_vec(), ..SourceText::default() };
    ///         if path == b"mill.c" { Ok(Arc::new(text)) } else { Err(SourceError::Missing) }
    ///     }
    /// }
    ///
    /// let profile = Profile::from_bytes(b"events: Ir\nfl=mill.c\nfn=main\n2 50\n".to_vec());
    /// let view = View::new(profile, &ViewOptions::default())?;
    /// let (function, _) = view.subjects().next().ok_or("no function")?;
    /// let options = ShowOptions { function, depth: 1, lines: None, limit: None };
    /// let show = Show::new(&view, &options)?.with_sources(&Mill);
    /// let text = show.lines.rows[0].text.as_ref();
    /// assert_eq!(text.map(|text| text.as_bytes()), Some(&b"    grind();"[..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_sources(mut self, sources: &dyn Sources) -> Self {
        let lines: Vec<_> = self.lines.rows.iter().map(|row| (Arc::clone(&row.file), row.line)).collect();
        let mut read = LineSources::read(&lines, sources);
        for (row, text) in self.lines.rows.iter_mut().zip(std::mem::take(&mut read.texts)) {
            row.text = text;
        }
        self.sources = read;
        self
    }

    /// The remarks about source files of the lines that are shown, each with the file's path in the profile, safe to show.
    /// Missing files have none.
    pub fn source_remarks(&self) -> impl Iterator<Item = (&str, &SourceRemark)> {
        self.sources.remarks()
    }

    /// `true` if a line that is shown has its source text.
    pub(super) fn has_sources(&self) -> bool {
        self.lines.rows.iter().any(|row| row.text.is_some())
    }
}
