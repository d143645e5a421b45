//! The source text beside the lines of a function.

use std::collections::HashMap;
use std::sync::Arc;

use gristmill_output::printable;
use gristmill_output::source::{SourceError, SourceText, Sources, lines_of};

use super::{HotLine, LineText, Show};
use crate::annotate::{SourceRemark, is_unknown};

/// The lines of one source file that are asked for: the line number and the index of the row.
struct Wanted {
    source: Arc<SourceText>,
    lines: Vec<(u64, usize)>,
}

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
        // Rows share the path of their file, and files may share a source: each is read and searched once.
        let mut found: HashMap<*const u8, Result<Arc<SourceText>, SourceError>> = HashMap::new();
        let mut last_lines: HashMap<*const u8, u64> = HashMap::new();
        let mut paths: Vec<Arc<[u8]>> = Vec::new();
        let mut wanted: Vec<Wanted> = Vec::new();
        let mut wanted_of: HashMap<*const SourceText, usize> = HashMap::new();
        for (nth, row) in self.lines.rows.iter().enumerate() {
            let Some(number) = row.line else { continue };
            let file = row.file.as_ptr();
            let source = found.entry(file).or_insert_with(|| {
                paths.push(Arc::clone(&row.file));
                sources.get(&row.file)
            });
            let last = last_lines.entry(file).or_default();
            *last = number.max(*last);
            if let Ok(source) = source {
                let index = *wanted_of.entry(Arc::as_ptr(source)).or_insert_with(|| {
                    wanted.push(Wanted { source: Arc::clone(source), lines: Vec::new() });
                    wanted.len() - 1
                });
                wanted[index].lines.push((number, nth));
            }
        }
        // Those that end before a line that is wanted.
        let mut line_counts: HashMap<*const SourceText, u64> = HashMap::new();
        for wanted in wanted {
            let source = Arc::as_ptr(&wanted.source);
            line_counts.extend(wanted.fill(&mut self.lines.rows).map(|count| (source, count)));
        }
        self.source_remarks.clear();
        self.missing_sources.clear();
        for path in paths {
            let file = path.as_ptr();
            match &found[&file] {
                Ok(source) => {
                    let last = last_lines[&file];
                    let lines = line_counts.get(&Arc::as_ptr(source)).filter(|&&lines| lines < last);
                    let remarks = [
                        source.is_newer.then_some(SourceRemark::Newer),
                        lines.map(|&lines| SourceRemark::Shorter { lines, last }),
                    ];
                    let remarks = remarks.into_iter().flatten();
                    let path = printable(&path);
                    self.source_remarks.extend(remarks.map(|remark| (path.clone().into_owned(), remark)));
                }
                Err(SourceError::Missing) if is_unknown(&path) => {}
                Err(SourceError::Missing) => self.missing_sources.push(path),
                Err(error) => {
                    let remark = SourceRemark::Unavailable(error.clone());
                    self.source_remarks.push((printable(&path).into_owned(), remark));
                }
            }
        }
        self
    }

    /// The remarks about source files of the lines that are shown, each with the file's path in the profile, safe to show.
    /// Missing files have none.
    pub fn source_remarks(&self) -> impl Iterator<Item = (&str, &SourceRemark)> {
        self.source_remarks.iter().map(|(path, remark)| (path.as_str(), remark))
    }

    /// `true` if a line that is shown has its source text.
    pub(super) fn has_sources(&self) -> bool {
        self.lines.rows.iter().any(|row| row.text.is_some())
    }
}

impl Wanted {
    /// Gives the rows their text. Returns the count of lines of the file if it has too few.
    fn fill(mut self, rows: &mut [HotLine]) -> Option<u64> {
        self.lines.sort_unstable();
        let mut lines = self.lines.into_iter().peekable();
        let mut number = 0;
        let start = self.source.text.as_ptr() as usize;
        for line in lines_of(&self.source.text) {
            lines.peek()?;
            number += 1;
            while let Some((_, row)) = lines.next_if(|&(wanted, _)| wanted == number) {
                let from = line.as_ptr() as usize - start;
                rows[row].text = LineText::new(&self.source, from, from + line.len());
            }
        }
        lines.peek().map(|_| number)
    }
}
