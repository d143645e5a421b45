//! The layout of cg_annotate of Valgrind 3.21 and later: self costs by file and function, by function and file, and by
//! line of the source files.
//!
//! The output is that of the program, byte for byte. Anything with [`SelfCosts`] can be laid out, also profiles of
//! Callgrind.

mod columns;
mod costs;
mod groups;
mod source;
#[cfg(test)]
mod tests;
mod text;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::SystemTime;

use gristmill_format::Cost;
use gristmill_output::printable_path;
use gristmill_output::source::SourceText;
use gristmill_profile::{LineSums, MemoryBudget, SummedLines, SummedNames};
use regex::bytes::Regex;

pub use self::costs::{FileCosts, ProfileCosts, SelfCosts, TakeFunction, TakeLine};
use self::groups::{Group, Groups};
use crate::known_names::KnownNames;
use crate::marks::UNKNOWN;
use crate::{CachegrindFile, LayoutError, Substitution};

/// The options of the layout. The default is that of cg_annotate. See the example of [`Report`].
#[derive(Debug, Clone)]
pub struct Options {
    /// The command line that is shown at the head.
    pub invocation: Vec<u8>,
    /// The recorded runs that are shown at the head.
    pub recordings: Vec<Recording>,
    /// The number of recorded event types: they are the first columns of all costs.
    pub recorded: usize,
    /// The columns to show.
    pub shown: Vec<usize>,
    /// The columns to sort by. The threshold is about the first of them.
    pub sort: Vec<usize>,
    /// The share of the total, in percent, that a listed function has at least.
    pub threshold: f64,
    /// `true` if percentages are shown beside costs.
    pub show_percs: bool,
    /// `true` if source files are annotated.
    pub annotate: bool,
    /// The number of lines to show before and after those with costs.
    pub context: u64,
    /// The substitution in names of files.
    pub mod_filename: Option<Substitution>,
    /// The substitution in names of functions.
    pub mod_funcname: Option<Substitution>,
    /// The pattern of the functions to list.
    pub functions: Option<Regex>,
    /// The pattern of the files to annotate.
    pub files: Option<Regex>,
    /// The memory that the rows to show may take.
    pub budget: MemoryBudget,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            invocation: Vec::new(),
            recordings: Vec::new(),
            recorded: 0,
            shown: Vec::new(),
            sort: Vec::new(),
            threshold: 0.1,
            show_percs: true,
            annotate: true,
            context: 8,
            mod_filename: None,
            mod_funcname: None,
            functions: None,
            files: None,
            budget: MemoryBudget::for_bytes(0),
        }
    }
}

/// Finds columns by the names of their event types; without names, all columns.
///
/// # Errors
///
/// Returns the first unknown name.
pub fn columns<N: AsRef<str>>(names: &[N], known: &[Vec<u8>]) -> Result<Vec<usize>, String> {
    let column = |name: &N| {
        let name = name.as_ref();
        known.iter().position(|known| known == name.as_bytes()).ok_or_else(|| name.to_owned())
    };
    if names.is_empty() { Ok((0..known.len()).collect()) } else { names.iter().map(column).collect() }
}

/// The description of a recorded run. See the example of [`Report`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Recording {
    /// The name of the file, for messages.
    pub name: String,
    /// The lines that describe the circumstances.
    pub descriptions: Vec<Vec<u8>>,
    /// The program with its arguments.
    pub command: Vec<u8>,
    /// The time when the file was written, if it is known.
    pub written: Option<SystemTime>,
}

impl Recording {
    /// Describes the run that a file of Cachegrind recorded.
    pub fn new(file: &CachegrindFile<'_>, path: &Path, written: Option<SystemTime>) -> Self {
        Recording {
            name: printable_path(path).into_owned(),
            descriptions: file.descriptions.iter().map(|description| description.to_vec()).collect(),
            command: file.command.to_vec(),
            written,
        }
    }

    /// `true` if a source file was changed after the recording was made.
    fn is_older_than(&self, source: &SourceText) -> bool {
        match source.changed.zip(self.written) {
            Some((changed, written)) => changed > written,
            None => source.is_newer,
        }
    }
}

/// Costs that are added or subtracted. See the example of [`Report`].
#[derive(Clone, Copy)]
pub struct Summand<'c> {
    /// The costs.
    pub costs: &'c dyn SelfCosts,
    /// `true` if the costs are subtracted.
    pub is_negative: bool,
}

impl std::fmt::Debug for Summand<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Summand").field("is_negative", &self.is_negative).finish_non_exhaustive()
    }
}

/// Adds up all costs, or subtracts the first from the others.
pub fn summands<'c>(costs: &[&'c dyn SelfCosts], diff: bool) -> Vec<Summand<'c>> {
    let summand =
        |(nth, &costs): (usize, &&'c dyn SelfCosts)| Summand { costs, is_negative: diff && nth == 0 };
    costs.iter().enumerate().map(summand).collect()
}

/// A report in the layout of cg_annotate. Source files are read one after the other when it is printed.
///
/// ```
/// use gristmill_compat::cg_annotate::{FileCosts, Options, Report, SelfCosts, columns, summands};
/// use gristmill_output::Look;
/// # use std::sync::Arc;
/// # use gristmill_output::source::{SourceError, SourceText, Sources};
/// # struct NoSources;
/// # impl Sources for NoSources {
/// #     fn get(&self, _: &[u8]) -> Result<Arc<SourceText>, SourceError> { Err(SourceError::Missing) }
/// # }
///
/// let costs = FileCosts::read(b"cmd: ./mill\nevents: Ir\nfl=mill.c\nfn=main\n3 20\n5 1\nsummary: 21\n")?;
/// let events = costs.events();
/// let options = Options { shown: vec![0], sort: vec![0], recorded: events.len(), ..Options::default() };
/// let report = Report::new(&options, &summands(&[&costs], false))?;
/// let mut out = Vec::new();
/// // `NoSources` finds no source files.
/// report.print(&mut out, &NoSources, Look::plain(80))?;
/// assert!(String::from_utf8_lossy(&out).contains("< 21 (100.0%, 100.0%)  mill.c:main\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Report<'c> {
    options: &'c Options,
    events: Vec<Vec<u8>>,
    total: Vec<Cost>,
    names: SummedNames,
    by_file: Vec<Group>,
    by_function: Vec<Group>,
    /// The files to annotate, sorted by name, each with its original names.
    annotated: BTreeMap<Vec<u8>, BTreeSet<Vec<u8>>>,
    /// The costs of their lines.
    lines: SummedLines,
    /// The costs of known files that are not annotated.
    below_threshold: Vec<Cost>,
    /// The costs of unknown files.
    unknown: Vec<Cost>,
}

impl<'c> Report<'c> {
    /// Sums up the costs. All summands have the same event types.
    ///
    /// # Errors
    ///
    /// [`LayoutError::TooManyCosts`] if the sums would take too much memory.
    pub fn new(options: &'c Options, summands: &[Summand<'_>]) -> Result<Report<'c>, LayoutError> {
        let events = summands.first().map(|summand| summand.costs.events()).unwrap_or_default();
        let mut originals: BTreeMap<Vec<u8>, BTreeSet<Vec<u8>>> = BTreeMap::new();
        let mut sums = LineSums::new(events.len());
        let mut row = Vec::new();
        for summand in summands {
            let cells = summand.costs.function_count().saturating_mul(events.len());
            options.budget.check_cells(cells).map_err(LayoutError::TooManyCosts)?;
            let (mut files, mut functions) = (KnownNames::default(), KnownNames::default());
            summand.costs.each_function(&mut |original, function, costs| {
                let file = files.get(original, || {
                    let file = rename(options.mod_filename.as_ref(), original);
                    if !originals.get(&*file).is_some_and(|originals| originals.contains(original)) {
                        originals.entry(file.to_vec()).or_default().insert(original.to_vec());
                    }
                    sums.file(&file)
                });
                let function = functions
                    .get(function, || sums.function(&rename(options.mod_funcname.as_ref(), function)));
                sums.begin_at(file, function);
                sums.add(0, signed(costs, summand.is_negative, &mut row));
            });
        }
        let sums = sums.finish();
        let mut total = vec![0; events.len()];
        let mut unknown = total.clone();
        sums.each(|sum| {
            add(&mut total, sum.costs);
            if sum.file == UNKNOWN {
                add(&mut unknown, sum.costs);
            }
        });
        let mut by_file = Groups::of_files(options, &total);
        let mut by_function = Groups::of_functions(options, &total);
        // First the members to show are chosen, then the costs of their groups are summed up.
        sums.each(|sum| {
            by_file.consider(&sum);
            by_function.consider(&sum);
        });
        let rows = sums.len() + by_file.shown_rows() + by_function.shown_rows();
        options.budget.check_cells(rows.saturating_mul(events.len())).map_err(LayoutError::TooManyCosts)?;
        sums.each(|sum| {
            by_file.add(&sum);
            by_function.add(&sum);
        });
        let names = sums.into_names();
        let (by_file, by_function) = (by_file.finish(&names), by_function.finish(&names));
        let mut below_threshold = total.clone();
        below_threshold.iter_mut().zip(&unknown).for_each(|(rest, unknown)| *rest -= unknown);
        let mut annotated = BTreeMap::new();
        for group in &by_file {
            let name = group.name.text(&names);
            if name != UNKNOWN
                && options.files.as_ref().is_none_or(|pattern| pattern.is_match(name))
                && let Some(originals) = originals.remove(name)
            {
                below_threshold.iter_mut().zip(&group.costs).for_each(|(rest, cost)| *rest -= cost);
                annotated.insert(name.to_vec(), originals);
            }
        }
        let lines = match options.annotate {
            true => lines_of(&annotated, summands, events.len()),
            false => LineSums::new(0).finish(),
        };
        Ok(Report {
            options,
            events,
            total,
            names,
            by_file,
            by_function,
            annotated,
            lines,
            below_threshold,
            unknown,
        })
    }
}

/// Sums up the costs of the lines of files, each with its original names.
fn lines_of(
    files: &BTreeMap<Vec<u8>, BTreeSet<Vec<u8>>>,
    summands: &[Summand<'_>],
    width: usize,
) -> SummedLines {
    let names: BTreeMap<&[u8], &Vec<u8>> = files
        .iter()
        .flat_map(|(file, originals)| originals.iter().map(move |original| (&original[..], file)))
        .collect();
    let mut sums = LineSums::new(width);
    let mut row = Vec::new();
    for summand in summands {
        let mut last: Option<&[u8]> = None;
        let is_wanted = |original: &[u8]| names.contains_key(original);
        summand.costs.each_line(&is_wanted, &mut |original, line, costs| {
            // A path may be long. Lines of one file have it in the same memory.
            if !last.is_some_and(|last| std::ptr::eq(last, original) || last == original)
                && let Some(file) = names.get(original)
            {
                sums.begin(file, b"");
                last = Some(original);
            }
            sums.add(line, signed(costs, summand.is_negative, &mut row));
        });
    }
    sums.finish_by_name()
}

fn rename<'n>(substitution: Option<&Substitution>, name: &'n [u8]) -> std::borrow::Cow<'n, [u8]> {
    substitution.map_or(name.into(), |substitution| substitution.apply(name))
}

/// Negates costs if they are subtracted.
fn signed<'r>(costs: &'r [Cost], is_negative: bool, row: &'r mut Vec<Cost>) -> &'r [Cost] {
    if !is_negative {
        return costs;
    }
    row.clear();
    row.extend(costs.iter().map(|cost| -cost));
    row
}

fn add(sums: &mut [Cost], costs: &[Cost]) {
    sums.iter_mut().zip(costs).for_each(|(sum, cost)| *sum += cost);
}
