//! The source text of lines of any files.

use std::collections::HashMap;
use std::sync::Arc;

use gristmill_output::printable;
use gristmill_output::source::{SourceError, SourceText, Sources, lines_of};

use crate::annotate::{SourceRemark, is_unknown};
use crate::line_text::LineText;

/// The source text of the lines of a report, and remarks on their files.
#[derive(Debug, Clone, Default)]
pub(crate) struct LineSources {
    /// The text of each line; `None` if the source was not found, or has no such line.
    pub(crate) texts: Vec<Option<LineText>>,
    /// By source file: its path, safe to show, and a reason to doubt its text.
    pub(crate) remarks: Vec<(String, SourceRemark)>,
    /// The paths of source files that were not found.
    pub(crate) missing: Vec<Arc<[u8]>>,
}

/// The lines of one source file that are asked for: the line number and the index of the text.
struct Wanted {
    source: Arc<SourceText>,
    lines: Vec<(u64, usize)>,
}

impl LineSources {
    /// Reads the source text of lines, each given by its path and number. Lines of one file share its path, and files may
    /// share a source: each is read and searched once.
    pub(crate) fn read(lines: &[(Arc<[u8]>, Option<u64>)], sources: &dyn Sources) -> Self {
        let mut found: HashMap<*const u8, Result<Arc<SourceText>, SourceError>> = HashMap::new();
        let mut last_lines: HashMap<*const u8, u64> = HashMap::new();
        let mut paths: Vec<&Arc<[u8]>> = Vec::new();
        let mut wanted: Vec<Wanted> = Vec::new();
        let mut wanted_of: HashMap<*const SourceText, usize> = HashMap::new();
        for (nth, (path, number)) in lines.iter().enumerate() {
            let Some(number) = *number else { continue };
            let file = path.as_ptr();
            let source = found.entry(file).or_insert_with(|| {
                paths.push(path);
                sources.get(path)
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
        let mut read = LineSources { texts: vec![None; lines.len()], ..LineSources::default() };
        // Those that end before a line that is wanted.
        let mut line_counts: HashMap<*const SourceText, u64> = HashMap::new();
        for wanted in wanted {
            let source = Arc::as_ptr(&wanted.source);
            line_counts.extend(wanted.fill(&mut read.texts).map(|count| (source, count)));
        }
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
                    let path = printable(path);
                    read.remarks.extend(remarks.map(|remark| (path.clone().into_owned(), remark)));
                }
                Err(SourceError::Missing) if is_unknown(path) => {}
                Err(SourceError::Missing) => read.missing.push(Arc::clone(path)),
                Err(error) => {
                    let remark = SourceRemark::Unavailable(error.clone());
                    read.remarks.push((printable(path).into_owned(), remark));
                }
            }
        }
        read
    }

    /// The remarks about source files, each with the file's path in the profile, safe to show. Missing files have none.
    pub(crate) fn remarks(&self) -> impl Iterator<Item = (&str, &SourceRemark)> {
        self.remarks.iter().map(|(path, remark)| (path.as_str(), remark))
    }
}

impl Wanted {
    /// Gives the lines their text. Returns the count of lines of the file if it has too few.
    fn fill(mut self, texts: &mut [Option<LineText>]) -> Option<u64> {
        self.lines.sort_unstable();
        let mut lines = self.lines.into_iter().peekable();
        let mut number = 0;
        let start = self.source.text.as_ptr() as usize;
        for line in lines_of(&self.source.text) {
            lines.peek()?;
            number += 1;
            while let Some((_, nth)) = lines.next_if(|&(wanted, _)| wanted == number) {
                let from = line.as_ptr() as usize - start;
                texts[nth] = LineText::new(&self.source, from, from + line.len());
            }
        }
        lines.peek().map(|_| number)
    }
}
