//! The numbers of callgrind_annotate itself, with its errors.
//!
//! Nothing here uses the model of a profile. The first reading sums up functions and calls, the second one the lines of the
//! source files that are annotated.

mod cells;
mod error;
mod header;
mod line_key;
mod lines;
mod list;
mod names;
mod number;
mod position;
mod reader;
mod source;
mod tables;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};
use std::sync::Arc;

use gristmill_output::source::{SourceText, Sources};

use self::cells::{Columns, Row};
pub use self::error::ExactError;
use self::header::ExactHeader;
use self::lines::LineTables;
use self::list::List;
use self::names::{Memory, TextId};
use self::reader::Names;
use self::tables::FunctionTables;
use super::header::{Header, Settings};
use super::options::thresholds;
use super::{SortKey, Text, Threshold, title};
use crate::marks::{TITLE_LINE, UNKNOWN};

/// The options of callgrind_annotate. See the example of [`ExactReport`].
#[derive(Debug, Clone)]
pub struct ExactOptions {
    /// The event types to show; all if there are none.
    pub show: Vec<String>,
    /// The event types to sort by; all if there are none.
    pub sort: Vec<SortKey>,
    /// The share at which the list of functions ends, if no key to sort by has one.
    pub threshold: Threshold,
    /// `true` if percentages are shown beside costs.
    pub show_percentages: bool,
    /// `true` if the source files of all listed functions are annotated.
    pub auto: bool,
    /// The number of lines to show before and after those with costs.
    pub context: u64,
    /// `true` if functions are listed with inclusive costs.
    pub inclusive: bool,
    /// `true` if the callers of each function are listed.
    pub callers: bool,
    /// `true` if the callees of each function are listed.
    pub callees: bool,
    /// The directories that sources are looked for in, each with `/` at its end.
    pub include_dirs: Vec<String>,
    /// Source files to annotate regardless of their cost, by the names that the profile has for them.
    pub user_files: Vec<Vec<u8>>,
    /// The directory that is omitted at the beginning of paths.
    pub working_directory: Option<Vec<u8>>,
    /// The name of the profile.
    pub data_file: String,
    /// `true` if control characters of files are spelled out.
    pub spells_controls: bool,
}

impl ExactOptions {
    /// Creates the options that callgrind_annotate has by default, for a profile of this name.
    pub fn new(data_file: String) -> ExactOptions {
        ExactOptions {
            show: Vec::new(),
            sort: Vec::new(),
            threshold: Threshold { text: "99".to_owned(), percent: 99.0 },
            show_percentages: true,
            auto: true,
            context: 8,
            inclusive: false,
            callers: false,
            callees: false,
            include_dirs: Vec::new(),
            user_files: Vec::new(),
            working_directory: None,
            data_file,
            spells_controls: false,
        }
    }
}

/// A profile as callgrind_annotate shows it, with its errors.
///
/// ```
/// use gristmill_compat::callgrind_annotate::exact::{ExactOptions, ExactReport};
/// # use std::sync::Arc;
/// # use gristmill_output::source::{SourceError, SourceText, Sources};
/// # struct NoSources;
/// # impl Sources for NoSources {
/// #     fn get(&self, _: &[u8]) -> Result<Arc<SourceText>, SourceError> { Err(SourceError::Missing) }
/// # }
///
/// // The cost of a call with a count of 0 counts as self cost.
/// let profile = b"events: Ir\nfl=mill.c\nfn=main\n16 5\ncfn=grind\ncalls=0 20\n17 90\nfn=grind\n20 90\ntotals: 95\n";
/// let options = ExactOptions::new("callgrind.out.1".to_owned());
/// let mut out = Vec::new();
/// // `NoSources` finds no source files.
/// ExactReport::new(profile, &options)?.write(&NoSources, &mut out)?;
/// assert!(String::from_utf8_lossy(&out).contains("\n95 (100.0%)  mill.c:main\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ExactReport<'a> {
    profile: &'a [u8],
    options: &'a ExactOptions,
    header: ExactHeader,
    names: Names,
    tables: FunctionTables,
    list: List,
    memory: Memory,
    /// The columns of the event types to show, and to sort by.
    shown: Vec<usize>,
    sorted: Vec<usize>,
    thresholds: Vec<Threshold>,
    text: Text,
}

impl<'a> ExactReport<'a> {
    /// Reads a profile and selects the functions to list.
    ///
    /// # Errors
    ///
    /// If the original refuses the profile or an option, or if costs or names would take much more memory than the profile.
    pub fn new(profile: &'a [u8], options: &'a ExactOptions) -> Result<Self, ExactError> {
        let header = ExactHeader::read(profile)?;
        let mut memory = Memory::new(profile.len());
        let mut tables = FunctionTables::default();
        let directory = options.working_directory.as_deref();
        let names = reader::read(profile, &header, directory, &mut tables, &mut memory)?;
        let sort: Vec<String> = options.sort.iter().map(|key| key.name.clone()).collect();
        let shown = columns("--show", &options.show, &header)?;
        let sorted = columns("--sort", &sort, &header)?;
        let (thresholds, is_cut) = thresholds(&options.sort, options.threshold.clone(), sorted.len());
        let mut list = List::new(options, &mut tables, header.events.len());
        memory.take(list.row_count().saturating_mul(shown.len()))?;
        let cut = is_cut.then_some(&thresholds[..]);
        list.select(options, &sorted, cut, &names);
        let text = Text { spells_controls: options.spells_controls };
        Ok(ExactReport {
            profile,
            options,
            header,
            names,
            tables,
            list,
            memory,
            shown,
            sorted,
            thresholds,
            text,
        })
    }

    /// The count of lines that the original calls malformed.
    pub fn malformed_lines(&self) -> u64 {
        self.names.malformed
    }

    /// Says how many lines are malformed.
    pub fn doubts(&self) -> String {
        match self.names.malformed {
            1 => "1 line is malformed and was skipped".to_owned(),
            count => format!("{count} lines are malformed and were skipped"),
        }
    }

    /// Writes the report.
    ///
    /// # Errors
    ///
    /// Those of the output, or if the costs of lines would take much more memory than the profile.
    pub fn write(&self, sources: &dyn Sources, out: &mut dyn Write) -> Result<(), ExactError> {
        let chosen = self.chosen();
        let mut found: Vec<Found> = Vec::new();
        let mut missing = Vec::new();
        for (name, by_user) in chosen {
            match self.find(&name, sources) {
                Some((source, title)) => found.push(Found { name, by_user, source, title }),
                None => missing.push(name),
            }
        }
        let mut lines = LineTables::new(found.iter().map(|found| self.names.texts.find(&found.name)));
        let mut memory = self.memory;
        let directory = self.options.working_directory.as_deref();
        let names = reader::read(self.profile, &self.header, directory, &mut lines, &mut memory)?;
        self.write_head(out)?;
        self.write_list(out)?;
        let annotated = self.write_sources(&found, &lines, &names, out)?;
        let missing: Vec<&[u8]> = missing.iter().map(|name| &name[..]).collect();
        self.text.write_missing(&missing, out)?;
        if let Some(annotated) = annotated {
            let mut columns = self.columns();
            columns.is_capped = true;
            self.write_sum(Row::Numbers(&annotated), columns, " events annotated", out)?;
        }
        Ok(())
    }

    fn write_head(&self, out: &mut dyn Write) -> io::Result<()> {
        let ExactHeader { creator, descriptions, command, pid, part, thread, events, .. } = &self.header;
        let header = Header {
            creator: creator.clone(),
            descriptions: descriptions.clone(),
            command: command.clone(),
            pid: pid.clone(),
            part: part.clone(),
            thread: thread.clone(),
        };
        let recorded: Vec<&[u8]> = events.iter().map(Vec::as_slice).collect();
        let names = |columns: &[usize]| columns.iter().map(|&column| recorded[column]).collect();
        let settings = Settings {
            data_file: &self.options.data_file,
            shown: names(&self.shown),
            sorted: names(&self.sorted),
            recorded: recorded.clone(),
            thresholds: &self.thresholds,
            include_dirs: &self.options.include_dirs,
            user_files: &self.options.user_files,
            auto: self.options.auto,
        };
        header.write(&settings, self.text, out)?;
        let title = match self.tables.stated_totals() {
            Some(_) => " PROGRAM TOTALS",
            None => " PROGRAM TOTALS (calculated)",
        };
        let totals = match self.tables.stated_totals() {
            Some(totals) => Row::Stated(totals),
            None => Row::Numbers(&self.list.totals),
        };
        self.write_sum(totals, self.columns(), title, out)
    }

    fn columns(&self) -> Columns<'_> {
        let names = self.shown.iter().map(|&column| {
            let mut name = Vec::new();
            // Writing to a vector does not fail.
            let _ = self.text.write(&self.header.events[column], &mut name);
            name
        });
        Columns::new(names.collect(), &self.shown, &self.list.totals, self.options.show_percentages)
    }

    /// Writes a table of one row.
    fn write_sum(
        &self,
        sum: Row<'_>,
        mut columns: Columns<'_>,
        title: &str,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        columns.widen(sum);
        writeln!(out, "{TITLE_LINE}")?;
        columns.write_head(out)?;
        writeln!(out, "\n{TITLE_LINE}")?;
        columns.write_row(sum, out)?;
        writeln!(out, "{title}\n")
    }

    /// The names of the source files to annotate, and `true` for those that the user asks for: these first, then the
    /// others, sorted by name. The original prints them in the order of a hash.
    fn chosen(&self) -> Vec<(Vec<u8>, bool)> {
        let mut chosen: BTreeMap<&[u8], bool> = BTreeMap::new();
        if self.options.auto {
            let labels = self.list.listed().map(|(label, _)| self.names.labels.text(label));
            chosen.extend(labels.map(file_of).filter(|&file| file != UNKNOWN).map(|file| (file, false)));
        }
        chosen.extend(self.options.user_files.iter().map(|name| (&name[..], true)));
        let mut chosen: Vec<_> = chosen.into_iter().map(|(name, by_user)| (name.to_vec(), by_user)).collect();
        chosen.sort_by_key(|&(_, by_user)| !by_user);
        chosen
    }

    /// Finds a source file, and its name with the directory where it is. The original takes a directory for an empty file.
    fn find(&self, name: &[u8], sources: &dyn Sources) -> Option<(Arc<SourceText>, Vec<u8>)> {
        if let Some(directory) = sources.directory(name) {
            return Some((Arc::new(directory), name.to_vec()));
        }
        let include_dirs = &self.options.include_dirs;
        if !name.is_empty()
            && let Ok(source) = sources.get(name)
        {
            let title = title(include_dirs, name, &source);
            return Some((source, title));
        }
        include_dirs.iter().find_map(|above| {
            let directory = sources.directory(&[above.as_bytes(), name].concat())?;
            Some((Arc::new(directory), [above.as_bytes(), b" + ", name].concat()))
        })
    }

    /// `true` for unknown code, which everything seems to call.
    fn is_unknown(&self, label: TextId) -> bool {
        self.names.labels.text(label) == b"???:???"
    }
}

/// A source file that is annotated.
#[derive(Debug)]
struct Found {
    name: Vec<u8>,
    by_user: bool,
    source: Arc<SourceText>,
    title: Vec<u8>,
}

/// The columns of event types. Of two with the same name, the last one has the costs of both.
fn columns(option: &'static str, names: &[String], header: &ExactHeader) -> Result<Vec<usize>, ExactError> {
    let events = header.events.iter().enumerate();
    let by_name: HashMap<&[u8], usize> = events.map(|(column, event)| (&event[..], column)).collect();
    if names.is_empty() {
        return Ok(header.events.iter().map(|event| by_name[&event[..]]).collect());
    }
    let find = |name: &String| {
        let column = by_name.get(name.as_bytes()).copied();
        column.ok_or_else(|| ExactError::UnknownEvent { option, name: name.clone() })
    };
    names.iter().map(find).collect()
}

/// The name of a file in a label: up to the first colon that text follows.
fn file_of(label: &[u8]) -> &[u8] {
    match memchr::memchr(b':', label) {
        Some(at) if at + 1 < label.len() => &label[..at],
        _ => label,
    }
}
