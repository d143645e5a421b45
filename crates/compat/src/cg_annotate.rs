//! The layout of cg_annotate, as it is since Valgrind 3.21: self costs by file and function, by function and file, and
//! by line of the source files.
//!
//! What it shows is what that program shows, to the byte. It works on anything that has [`SelfCosts`], so Callgrind's
//! profiles can be laid out in the same way.

mod columns;
mod costs;
mod groups;
mod source;
#[cfg(test)]
mod tests;
mod text;

use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

use gristmill_format::Cost;
use gristmill_output::source::Source;
use gristmill_profile::{LineSums, SummedLines};
use regex::bytes::Regex;

pub use self::costs::{CachegrindCosts, ProfileCosts, SelfCosts, TakeFunction, TakeLine};
use self::groups::{Group, Groups};
use crate::Substitution;
use crate::marks::UNKNOWN;

/// So many costs are walked through at most, and so many are kept of what is shown. A row has a cell for each event type;
/// no profile that was measured comes near this, but one made to do harm has thousands of event types, and a few bytes
/// for each line.
const MOST_CELLS: usize = 1 << 30;
const MOST_SHOWN_CELLS: usize = 1 << 26;

/// What to show, and how.
#[derive(Debug, Clone, Default)]
pub struct CachegrindOptions {
    /// What was called to get this, for the reader to know.
    pub invocation: Vec<u8>,
    /// What stands at the head: where the costs are from.
    pub recordings: Vec<Recording>,
    /// The event types that were recorded: the first columns of all costs.
    pub recorded: usize,
    /// The columns to show.
    pub shown: Vec<usize>,
    /// The columns to order by. The threshold is about the first of them.
    pub sort: Vec<usize>,
    /// The share of the total, in percent, that a function needs to be shown.
    pub threshold: f64,
    /// Whether shares are shown beside costs.
    pub show_percs: bool,
    /// Whether source files are annotated.
    pub annotate: bool,
    /// How many lines to show before and after those with costs.
    pub context: u64,
    /// Changes names of files.
    pub mod_filename: Option<Substitution>,
    /// Changes names of functions.
    pub mod_funcname: Option<Substitution>,
    /// Shows only functions whose name fits.
    pub functions: Option<Regex>,
    /// Annotates only files whose name fits.
    pub files: Option<Regex>,
}

/// What a file says of the run that it recorded.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Recording {
    /// The name of the file, for messages.
    pub name: String,
    /// What it says of the circumstances, a line each.
    pub descriptions: Vec<Vec<u8>>,
    /// The program that was run, with its arguments.
    pub command: Vec<u8>,
    /// When the file was written, if that is known.
    pub written: Option<SystemTime>,
}

impl Recording {
    /// Whether a source file was changed after the recording was made.
    fn is_older_than(&self, source: &Source) -> bool {
        match source.changed.zip(self.written) {
            Some((changed, written)) => changed > written,
            None => source.is_newer,
        }
    }
}

/// Costs that count as they are, or against the others.
#[derive(Clone, Copy)]
pub struct Summand<'c> {
    /// The costs.
    pub costs: &'c dyn SelfCosts,
    /// They are taken away, as those of the first of two that are compared.
    pub is_negative: bool,
}

impl std::fmt::Debug for Summand<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Summand").field("is_negative", &self.is_negative).finish_non_exhaustive()
    }
}

/// Why there is no report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooManyColumns;

impl std::fmt::Display for TooManyColumns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("there are too many event types for as many functions")
    }
}

impl std::error::Error for TooManyColumns {}

/// The report: everything that it says, but for the text of source files. These are read when they are printed, one after
/// the other.
#[derive(Debug)]
pub struct CachegrindReport<'c> {
    options: &'c CachegrindOptions,
    events: Vec<Vec<u8>>,
    total: Vec<Cost>,
    by_file: Vec<Group>,
    by_function: Vec<Group>,
    /// The files to annotate, in the order of their names, each with the names it had.
    annotated: BTreeMap<Vec<u8>, BTreeSet<Vec<u8>>>,
    /// What their lines cost.
    lines: SummedLines,
    /// The costs of files that are known and not shown.
    below_threshold: Vec<Cost>,
    unknown: Vec<Cost>,
}

impl<'c> CachegrindReport<'c> {
    /// Adds up the costs. All summands have the same event types.
    ///
    /// # Errors
    ///
    /// When there are too many to be added up.
    pub fn new(
        options: &'c CachegrindOptions,
        summands: &[Summand<'_>],
    ) -> Result<CachegrindReport<'c>, TooManyColumns> {
        let events = summands.first().map(|summand| summand.costs.events()).unwrap_or_default();
        let mut originals: BTreeMap<Vec<u8>, BTreeSet<Vec<u8>>> = BTreeMap::new();
        let mut sums = LineSums::new(events.len());
        let mut row = Vec::new();
        for summand in summands {
            check(summand.costs.function_count(), events.len(), MOST_CELLS)?;
            summand.costs.each_function(&mut |file, function, costs| {
                let original = file;
                let file = rename(options.mod_filename.as_ref(), file);
                let function = rename(options.mod_funcname.as_ref(), function);
                if !originals.get(&*file).is_some_and(|originals| originals.contains(original)) {
                    originals.entry(file.to_vec()).or_default().insert(original.to_vec());
                }
                sums.begin(&file, &function);
                sums.add(0, signed(costs, summand.is_negative, &mut row));
            });
        }
        let sums = sums.finish();
        check(sums.len(), events.len(), MOST_CELLS)?;
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
        // First which of them are shown, then what these cost.
        sums.each(|sum| {
            by_file.consider(&sum);
            by_function.consider(&sum);
        });
        check(by_file.shown_rows() + by_function.shown_rows(), events.len(), MOST_SHOWN_CELLS)?;
        sums.each(|sum| {
            by_file.add(&sum);
            by_function.add(&sum);
        });
        let (by_file, by_function) = (by_file.finish(), by_function.finish());
        let mut below_threshold = total.clone();
        below_threshold.iter_mut().zip(&unknown).for_each(|(rest, unknown)| *rest -= unknown);
        let mut annotated = BTreeMap::new();
        for group in by_file.iter().filter(|group| group.name != UNKNOWN) {
            if options.files.as_ref().is_none_or(|pattern| pattern.is_match(&group.name))
                && let Some(originals) = originals.remove(&group.name)
            {
                below_threshold.iter_mut().zip(&group.costs).for_each(|(rest, cost)| *rest -= cost);
                annotated.insert(group.name.clone(), originals);
            }
        }
        let lines = match options.annotate {
            true => lines_of(&annotated, summands, events.len()),
            false => LineSums::new(0).finish(),
        };
        check(lines.len(), events.len(), MOST_CELLS)?;
        Ok(CachegrindReport {
            options,
            events,
            total,
            by_file,
            by_function,
            annotated,
            lines,
            below_threshold,
            unknown,
        })
    }
}

fn check(rows: usize, width: usize, most: usize) -> Result<(), TooManyColumns> {
    if rows.saturating_mul(width) > most { Err(TooManyColumns) } else { Ok(()) }
}

/// What the lines of files cost, each with the names it had.
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
        let mut last = None;
        let is_wanted = |original: &[u8]| names.contains_key(original);
        summand.costs.each_line(&is_wanted, &mut |original, line, costs| {
            if last.as_deref() != Some(original)
                && let Some(file) = names.get(original)
            {
                sums.begin(file, b"");
                last = Some(original.to_vec());
            }
            sums.add(line, signed(costs, summand.is_negative, &mut row));
        });
    }
    sums.finish_by_name()
}

fn rename<'n>(substitution: Option<&Substitution>, name: &'n [u8]) -> std::borrow::Cow<'n, [u8]> {
    substitution.map_or(name.into(), |substitution| substitution.apply(name))
}

/// The costs, or the same below zero.
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
