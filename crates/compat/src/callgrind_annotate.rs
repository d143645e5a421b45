//! The layout of callgrind_annotate: functions by cost, with callers and callees on request, then source files with the
//! cost of their lines.
//!
//! The layout equals the original byte for byte; `docs/annotate-differences.md` lists the differences.

mod cells;
mod entries;
mod events;
pub mod exact;
mod files;
mod header;
mod list;
mod options;
mod partial_sums;
mod source;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use gristmill_format::Cost;
use gristmill_output::source::{SourceError, SourceText, Sources, without_end};
use gristmill_output::{printable_bytes, printable_line};
use gristmill_profile::event::is_memory;
use gristmill_profile::source_lines::{FileLines, PartialCosts};
use gristmill_profile::{FunctionId, MemoryBudget, Profile};
use regex::Regex;

use self::cells::{Columns, with_commas};
use self::entries::{EntryId, PerEntry};
pub use self::events::SelectedEvent;
use self::files::{DisplayFile, DisplayFiles};
use self::header::{Header, Settings};
use self::list::{List, by_costs};
pub use self::options::{Options, SortKey, Threshold, with_slash};
pub(crate) use self::options::{is_number, split_list};
use self::source::Annotated;
use crate::LayoutError;
use crate::marks::{TITLE_LINE, UNKNOWN};

/// A profile in the layout of callgrind_annotate.
///
/// ```
/// use gristmill_compat::callgrind_annotate::{Options, Report};
/// use gristmill_profile::Profile;
/// # use std::sync::Arc;
/// # use gristmill_output::source::{SourceError, SourceText, Sources};
/// # struct NoSources;
/// # impl Sources for NoSources {
/// #     fn get(&self, _: &[u8]) -> Result<Arc<SourceText>, SourceError> { Err(SourceError::Missing) }
/// # }
///
/// let profile = Profile::from_bytes(b"events: Ir\nfl=mill.c\nfn=main\n16 400\n");
/// let options = Options::new(&profile, "callgrind.out.1".to_owned());
/// let mut out = Vec::new();
/// // `NoSources` finds no source files.
/// Report::new(&profile, &options)?.write(&NoSources, &mut out)?;
/// assert!(String::from_utf8_lossy(&out).contains("\n400 (100.0%)  mill.c:main\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Report<'a> {
    profile: &'a Profile,
    options: &'a Options,
    files: DisplayFiles,
    list: List<'a>,
    listed: Vec<EntryId>,
    text: Text,
    /// By event type to show: `true` once a share is above 100%.
    shares: Vec<AtomicBool>,
}

/// A claimed total that is not the sum of the lines, from [`Report::differing_total`]. See the example of [`Report`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DifferingTotal {
    /// The name of the event type.
    pub event: String,
    /// The total that the layout shows: the sum of what the parts claim.
    pub claimed: Cost,
    /// The sum of the costs of all lines.
    pub computed: Cost,
}

impl<'a> Report<'a> {
    /// Sums up the costs and selects the functions to list.
    ///
    /// # Errors
    ///
    /// If costs or names would take much more memory than the profile, or if a derived cost is out of range.
    pub fn new(profile: &'a Profile, options: &'a Options) -> Result<Self, LayoutError> {
        profile.refuse_long_names().map_err(LayoutError::LongNames)?;
        let events = options.show.len().max(profile.event_count());
        let bytes = match options.needs_calls() {
            true => profile.view_bytes(events),
            // It has the costs of functions, and a part of them in another order.
            false => profile.self_cost_bytes().saturating_mul(2),
        };
        MemoryBudget::new([profile]).check_bytes(bytes).map_err(LayoutError::TooManyCosts)?;
        let files = DisplayFiles::new(profile, options.working_directory.as_deref());
        let list = List::new(profile, options, &files);
        let mut events = options.show.iter().chain(&options.sort);
        let rows = || list.entries.ids().map(|entry| list.costs(entry)).chain([list.totals.row(0)]);
        if !events.all(|event| event.is_in_range(rows())) {
            return Err(LayoutError::Overflow);
        }
        let listed = list.listed(options, &files);
        let text = Text { spells_controls: options.spells_controls };
        let shares = options.show.iter().map(|_| AtomicBool::new(false)).collect();
        Ok(Report { profile, options, files, list, listed, text, shares })
    }

    /// Returns the first event type to show whose total, which the parts claim, is not the sum of the lines. Shares are of
    /// what the parts claim, as in the original.
    pub fn differing_total(&self) -> Option<DifferingTotal> {
        let mut sums = PartialCosts::with_rows(self.profile.event_count(), 1);
        self.list.entries.ids().for_each(|entry| sums.add_row(0, self.list.entries.costs(entry)));
        self.options.show.iter().find_map(|event| {
            let claimed = event.of(self.list.totals.row(0))?;
            let computed = event.of(sums.row(0)).unwrap_or_default();
            (claimed != computed).then(|| DifferingTotal { event: event.name.clone(), claimed, computed })
        })
    }

    /// `true` if a share that was written is above 100%, and no cost of its event type can be below 0, which would be a reason.
    pub fn has_share_above_whole(&self) -> bool {
        self.shares.iter().zip(&self.options.show).any(|(is_above_whole, event)| {
            let is_negative = |entry| event.of(self.list.entries.costs(entry)).is_some_and(|cost| cost < 0);
            is_above_whole.load(Ordering::Relaxed)
                && !is_memory(&event.name)
                && !self.list.entries.ids().any(is_negative)
        })
    }

    /// Writes the report.
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn write(&self, sources: &dyn Sources, out: &mut dyn Write) -> io::Result<()> {
        Header::new(self.profile, &self.options.selection).write(&self.settings(), self.text, out)?;
        let title = if self.list.is_calculated { " PROGRAM TOTALS (calculated)" } else { " PROGRAM TOTALS" };
        self.write_sum(&self.list.totals, self.columns(), title, out)?;
        self.write_list(out)?;
        self.write_sources(sources, out)
    }

    fn settings(&self) -> Settings<'_> {
        let Options { data_file, show, sort, thresholds, include_dirs, user_files, auto, .. } = self.options;
        let names = |events: &'a [SelectedEvent]| events.iter().map(|event| event.name.as_bytes()).collect();
        Settings {
            data_file,
            recorded: self.profile.events().map(|event| self.profile.event(event).name).collect(),
            shown: names(show),
            sorted: names(sort),
            thresholds,
            include_dirs,
            user_files,
            auto: *auto,
        }
    }

    fn columns(&self) -> Columns<'_> {
        Columns::new(self.options, self.list.totals.row(0), &self.shares)
    }

    /// Writes a table of one row.
    fn write_sum(
        &self,
        sum: &PartialCosts,
        mut columns: Columns<'_>,
        title: &str,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        columns.widen([sum.row(0)].into_iter());
        writeln!(out, "{TITLE_LINE}")?;
        columns.write_head(out)?;
        writeln!(out, "\n{TITLE_LINE}")?;
        columns.write_row(sum.row(0), out)?;
        writeln!(out, "{title}\n")
    }

    fn write_list(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut columns = self.columns();
        // The columns are wide enough for all functions, listed or not.
        columns.widen(self.list.entries.ids().map(|entry| self.list.costs(entry)));
        writeln!(out, "{TITLE_LINE}")?;
        columns.write_head(out)?;
        writeln!(out, " file:function\n{TITLE_LINE}")?;
        let objects = Objects::new(self);
        let has_tree = self.options.callers || self.options.callees;
        for &entry in &self.listed {
            if has_tree {
                writeln!(out)?;
            }
            if self.options.callers && !self.is_unknown(entry) {
                let arcs = self.list.incoming(entry).map(|at| (self.list.arcs[at].caller, at));
                self.write_neighbours(" < ", arcs.collect(), &objects, &columns, out)?;
            }
            columns.write_row(self.list.costs(entry), out)?;
            out.write_all(if has_tree { b" *  " } else { b" " })?;
            self.write_label(entry, out)?;
            if let Some(object) = objects.of_entry(entry).filter(|object| !object.is_empty()) {
                self.write_object(object, out)?;
            }
            writeln!(out)?;
            if self.options.callees && !self.is_unknown(entry) {
                let arcs = self.list.outgoing(entry).map(|at| (self.list.arcs[at].callee, at));
                self.write_neighbours(" >   ", arcs.collect(), &objects, &columns, out)?;
            }
        }
        writeln!(out)
    }

    /// Writes the callers or callees of a function, each with the index of its arc.
    fn write_neighbours(
        &self,
        sign: &str,
        mut neighbours: Vec<(EntryId, usize)>,
        objects: &Objects<'_>,
        columns: &Columns<'_>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        neighbours.sort_by(|a, b| {
            by_costs(&self.options.sort, self.list.arc_costs.row(a.1), self.list.arc_costs.row(b.1))
                .then_with(|| self.list.by_label(&self.files, a.0, b.0))
        });
        for (entry, arc) in neighbours {
            columns.write_row(self.list.arc_costs.row(arc), out)?;
            out.write_all(sign.as_bytes())?;
            self.write_label(entry, out)?;
            write!(out, " ({}x)", with_commas(self.list.arcs[arc].count))?;
            if let Some(object) = objects.of_entry(entry) {
                self.write_object(object, out)?;
            }
            writeln!(out)?;
        }
        Ok(())
    }

    fn write_label(&self, entry: EntryId, out: &mut dyn Write) -> io::Result<()> {
        let key = &self.list.entries.keys[entry];
        self.text.write(self.files.name(key.file), out)?;
        out.write_all(b":")?;
        self.text.write(key.name, out)
    }

    fn write_object(&self, object: &[u8], out: &mut dyn Write) -> io::Result<()> {
        out.write_all(b" [")?;
        self.text.write(object, out)?;
        out.write_all(b"]")
    }

    /// `true` for unknown code, which everything seems to call.
    fn is_unknown(&self, entry: EntryId) -> bool {
        let key = &self.list.entries.keys[entry];
        key.name == UNKNOWN && self.files.name(key.file) == UNKNOWN
    }

    fn write_sources(&self, sources: &dyn Sources, out: &mut dyn Write) -> io::Result<()> {
        let mut found = Vec::new();
        let mut missing = Vec::new();
        for (name, chosen) in self.chosen() {
            match self.source(name, chosen.file, sources) {
                Ok(source) => found.push((name, chosen, source)),
                Err(_) => missing.push(name),
            }
        }
        let mut indexes: Vec<Option<usize>> = vec![None; self.files.len()];
        for (index, (_, chosen, _)) in found.iter().enumerate() {
            if let Some(file) = chosen.file {
                indexes[file.index()] = Some(index);
            }
        }
        let lines = if indexes.iter().any(Option::is_some) {
            let index = |file| indexes[self.files.of(file).index()];
            let wanted: Vec<bool> = self
                .profile
                .functions()
                .map(|function| self.options.is_wanted(self.profile.function(function).name))
                .collect();
            FileLines::read_some(self.profile, &self.options.selection, found.len(), index, |function| {
                wanted[function.index()]
            })
        } else {
            Vec::new()
        };
        let hottest = if self.options.color { self.hottest(&lines) } else { 0 };
        let mut annotated = PartialCosts::with_rows(self.profile.event_count(), 1);
        let mut is_any_annotated = false;
        for (index, (name, chosen, source)) in found.iter().enumerate() {
            self.text.write_title(chosen.kind(), &title(&self.options.include_dirs, name, source), out)?;
            // A file with calls only has nothing to show, but it is known.
            let is_known = |lines: &&FileLines| !(lines.lines.is_empty() && lines.calls.is_empty());
            match lines.get(index).filter(is_known) {
                Some(lines) => {
                    is_any_annotated = true;
                    let file = Annotated { name, source, lines, hottest };
                    self.write_source(&file, &mut annotated, out)?;
                }
                None => {
                    self.text.write_unknown(name, out)?;
                }
            }
        }
        self.text.write_missing(&missing, out)?;
        if !is_any_annotated {
            return Ok(());
        }
        let mut columns = self.columns();
        columns.is_capped = true;
        self.write_sum(&annotated, columns, " events annotated", out)
    }

    /// The cost of the most expensive line, which the heat of all others is relative to.
    fn hottest(&self, files: &[FileLines]) -> Cost {
        let Some(event) = self.options.show.first() else { return 0 };
        let rows = files.iter().flat_map(|lines| (0..lines.costs.len()).map(|row| lines.costs.row(row)));
        rows.filter_map(|row| event.of(row)).map(Cost::saturating_abs).max().unwrap_or_default()
    }

    /// The source files to annotate: those that the user asks for, then the others, sorted by name.
    fn chosen(&self) -> Vec<(&[u8], Chosen)> {
        let mut chosen: BTreeMap<&[u8], Chosen> = BTreeMap::new();
        if self.options.auto {
            for file in self.files_of_listed() {
                let name = self.files.name(file);
                let fits = |pattern: &Regex| pattern.is_match(&String::from_utf8_lossy(name));
                if name != UNKNOWN && self.options.file.as_ref().is_none_or(fits) {
                    chosen.insert(name, Chosen { file: Some(file), by_user: false });
                }
            }
        }
        for name in &self.options.user_files {
            chosen.insert(name, Chosen { file: self.files.find(name), by_user: true });
        }
        let mut chosen: Vec<(&[u8], Chosen)> = chosen.into_iter().collect();
        chosen.sort_by_key(|(_, chosen)| !chosen.by_user);
        chosen
    }

    /// The files that the listed functions have lines in.
    fn files_of_listed(&self) -> Vec<DisplayFile> {
        let keys = &self.list.entries.keys;
        let mut files: Vec<DisplayFile> = self.listed.iter().map(|&entry| keys[entry].file).collect();
        if self.options.inclusive {
            // An inclusive entry is a whole function; with inlined code it has lines in other files than its own.
            let mut is_listed = self.list.entries.per_entry(false);
            self.listed.iter().for_each(|&entry| is_listed[entry] = true);
            for part in self.profile.selected(&self.options.selection) {
                self.profile.each_self_cost(&part, |function, file, _| {
                    let entry = self.list.entries.of_function(function);
                    if entry.is_some_and(|entry| is_listed[entry]) {
                        files.push(self.files.of(file));
                    }
                });
            }
        }
        files.sort_unstable();
        files.dedup();
        files
    }

    /// Reads a file. It is looked up by its path in the profile, which may be longer than the shown name.
    fn source(
        &self,
        name: &[u8],
        file: Option<DisplayFile>,
        sources: &dyn Sources,
    ) -> Result<Arc<SourceText>, SourceError> {
        let path = file.map(|file| self.profile.file(self.files.first(file)));
        match path.filter(|&path| path != name) {
            Some(path) => sources.get(path).or_else(|_| sources.get(name)),
            None => sources.get(name),
        }
    }
}

/// The title of an annotated file. It names the include directory in which the file was found.
fn title(include_dirs: &[String], name: &[u8], source: &SourceText) -> Vec<u8> {
    let found_at = source.found_at.as_bytes();
    let above = found_at.strip_suffix(name).unwrap_or_default();
    let is_inside = |directory: &&String| {
        above.ends_with(b"/") && without_slashes(above) == without_slashes(directory.as_bytes())
    };
    match include_dirs.iter().find(is_inside) {
        Some(directory) => [directory.as_bytes(), b" + ", name].concat(),
        None => name.to_vec(),
    }
}

/// A path without the slashes at its end.
fn without_slashes(path: &[u8]) -> &[u8] {
    let end = path.iter().rposition(|&byte| byte != b'/').map_or(0, |last| last + 1);
    &path[..end]
}

/// A source file to annotate.
#[derive(Debug, Clone, Copy)]
struct Chosen {
    /// `None` for a file that the profile does not name.
    file: Option<DisplayFile>,
    by_user: bool,
}

impl Chosen {
    fn kind(self) -> &'static str {
        if self.by_user { "User" } else { "Auto" }
    }
}

/// The way to write text of the profile and of sources.
#[derive(Debug, Clone, Copy)]
struct Text {
    spells_controls: bool,
}

impl Text {
    fn write(self, bytes: &[u8], out: &mut dyn Write) -> io::Result<()> {
        if self.spells_controls { out.write_all(&printable_bytes(bytes)) } else { out.write_all(bytes) }
    }

    /// Writes that nothing is known about a source file.
    fn write_unknown(self, name: &[u8], out: &mut dyn Write) -> io::Result<()> {
        out.write_all(b"  No information has been collected for ")?;
        self.write(name, out)?;
        out.write_all(b"\n\n")
    }

    /// Writes the list of source files that were not found, if there are any.
    fn write_missing(self, missing: &[&[u8]], out: &mut dyn Write) -> io::Result<()> {
        if missing.is_empty() {
            return Ok(());
        }
        writeln!(
            out,
            "{TITLE_LINE}\nThe following files chosen for auto-annotation could not be found:\n{TITLE_LINE}"
        )?;
        for name in missing {
            out.write_all(b"  ")?;
            self.write(name, out)?;
            writeln!(out)?;
        }
        writeln!(out)
    }

    /// Writes a line of a source file, with its end.
    fn write_source(self, line: &[u8], out: &mut dyn Write) -> io::Result<()> {
        if !self.spells_controls {
            return out.write_all(line);
        }
        out.write_all(&printable_line(without_end(line)))?;
        out.write_all(b"\n")
    }
}

/// The objects of entries.
#[derive(Debug)]
struct Objects<'p> {
    profile: &'p Profile,
    /// The function that an entry's object is taken from.
    functions: PerEntry<Option<FunctionId>>,
}

impl<'p> Objects<'p> {
    /// Finds the object of each entry: of several functions in one entry, that of the last one in the files.
    fn new(annotation: &Report<'p>) -> Self {
        let Report { profile, list, .. } = annotation;
        let mut functions = list.entries.per_entry(None);
        let mut contested = list.entries.per_entry(false);
        let mut is_any_contested = false;
        let entry_of = |function: FunctionId| {
            list.entries.of_function(function).filter(|_| profile.function(function).is_defined)
        };
        for function in profile.functions() {
            if let Some(entry) = entry_of(function)
                && functions[entry].replace(function).is_some()
            {
                contested[entry] = true;
                is_any_contested = true;
            }
        }
        if is_any_contested {
            for function in profile.blocks().rev() {
                if let Some(entry) = entry_of(function)
                    && std::mem::take(&mut contested[entry])
                {
                    functions[entry] = Some(function);
                }
            }
        }
        Objects { profile, functions }
    }

    /// The object of an entry, unless it has no lines of its own or is inlined code.
    fn of_entry(&self, entry: EntryId) -> Option<&'p [u8]> {
        self.functions[entry].map(|function| self.profile.object(self.profile.function(function).object))
    }
}
