//! A difference for programs. It can have all functions and causes, so each row is made when it is written.

use std::io::{self, Write};

use gristmill_output::json::{self, Costs, Rows};
use gristmill_output::lossy;
use gristmill_profile::compare::{Comparison, Explanation, JoinedId};
use serde::Serialize;

use super::rows::FunctionRefs;
use super::{
    CauseRow, Diff, DiffHead, DiffOptions, DiffRow, Draft, OtherCauses, Rest, StepRow, csv, keyed,
    shown_name, sort,
};

/// Writes the same as [`Diff`] in JSON, without having all rows in memory.
///
/// ```
/// use gristmill_profile::Profile;
/// use gristmill_profile::compare::{CompareOptions, Comparison};
/// use gristmill_report::diff::{self, DiffOptions};
/// use gristmill_report::{Grouping, SortBy};
///
/// let base = Profile::from_bytes(b"events: Ir\nfl=mill.c\nfn=grind\n5 100\n");
/// let new = Profile::from_bytes(b"events: Ir\nfl=mill.c\nfn=grind\n5 130\n");
/// let comparison = Comparison::new(&[&base], &[&new], &CompareOptions::default())?;
/// let options = DiffOptions {
///     columns: comparison.columns().to_vec(),
///     grouping: Grouping::Function,
///     sort: SortBy::SelfCost,
///     limit: None,
///     min: 0,
///     filter: None,
///     causes: None,
///     show_joined: false,
/// };
/// let mut csv = Vec::new();
/// diff::write_csv(&comparison, &options, &mut csv)?;
/// assert!(csv.ends_with(b"30,100,130,30,100,130,,0,0,both,grind,,mill.c,\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// Those of the output.
pub fn write_json(comparison: &Comparison<'_>, options: &DiffOptions, out: &mut dyn Write) -> io::Result<()> {
    let StreamedDiff { diff, causes, functions } = &StreamedDiff::new(comparison, options, true);
    let cause = |cause: &Explanation| CauseRow::new(&FunctionRefs::new(comparison), cause, options.leading());
    let causes = Rows(|| causes.iter().map(cause));
    if functions.is_empty() {
        let groups = Rows(|| diff.rows.iter());
        return json::write(&Document::new(diff, causes, groups), out);
    }
    let rows = Rows(|| functions.iter().map(|&function| row(comparison, options, diff, function)));
    json::write(&Document::new(diff, causes, rows), out)
}

/// Writes the same as [`Diff`] in CSV, without having all rows in memory. See the example of [`write_json`].
///
/// # Errors
///
/// Those of the output.
pub fn write_csv(comparison: &Comparison<'_>, options: &DiffOptions, out: &mut dyn Write) -> io::Result<()> {
    // It has no causes.
    let StreamedDiff { diff, functions, .. } = StreamedDiff::new(comparison, options, false);
    if functions.is_empty() {
        return csv::write(&diff, diff.rows.iter(), out);
    }
    let rows = functions.iter().map(|&function| row(comparison, options, &diff, function));
    csv::write(&diff, rows, out)
}

/// A difference without rows of functions and causes, and what these are made of, in order.
struct StreamedDiff {
    diff: Diff,
    causes: Vec<Explanation>,
    functions: Vec<JoinedId>,
}

impl StreamedDiff {
    fn new(comparison: &Comparison<'_>, options: &DiffOptions, wants_causes: bool) -> Self {
        let Draft { mut diff, causes, functions } = Diff::draft(comparison, options, wants_causes);
        sort(&mut diff.rows, options.sort);
        StreamedDiff { diff, causes, functions: sorted(comparison, options, functions) }
    }
}

/// Makes the row of a function. It shares no names with other rows, as nothing keeps those.
fn row(comparison: &Comparison<'_>, options: &DiffOptions, diff: &Diff, function: JoinedId) -> DiffRow {
    let columns = (&diff.head.event_types, &options.columns[..]);
    let mut row = DiffRow::from_function(comparison, function, columns);
    row.complete(&FunctionRefs::new(comparison));
    row
}

/// Sorts functions as [`sort`] does their rows.
fn sorted(comparison: &Comparison<'_>, options: &DiffOptions, functions: Vec<JoinedId>) -> Vec<JoinedId> {
    let mut keyed = keyed(comparison, options, functions);
    keyed.sort_unstable();
    let name = |function: JoinedId| shown_name(comparison.mention(function));
    // Only names of functions that changed alike are needed, and paths only if these are equal, too.
    for alike in keyed.chunk_by_mut(|a, b| a.0 == b.0).filter(|alike| alike.len() > 1) {
        alike.sort_by_cached_key(|&(_, function)| name(function));
        for namesakes in
            alike.chunk_by_mut(|a, b| name(a.1) == name(b.1)).filter(|namesakes| namesakes.len() > 1)
        {
            namesakes.sort_by_cached_key(|&(_, function)| {
                let mention = comparison.mention(function);
                (lossy(mention.file), lossy(mention.object), function)
            });
        }
    }
    keyed.into_iter().map(|(_, function)| function).collect()
}

/// The members of [`Diff`], in the same order.
#[derive(Serialize)]
struct Document<'d, C, R> {
    #[serde(flatten)]
    head: &'d DiffHead,
    on_both: usize,
    vanished: usize,
    new: usize,
    all: usize,
    remainder: &'d Costs,
    path: &'d [StepRow],
    causes: C,
    other_causes: OtherCauses,
    rest: &'d Rest,
    functions: R,
}

impl<'d, C: Serialize, R: Serialize> Document<'d, C, R> {
    fn new(diff: &'d Diff, causes: C, functions: R) -> Self {
        let Diff { head, on_both, vanished, new, all, remainder, path, other_causes, rest, .. } = diff;
        let [&on_both, &vanished, &new, &all] = [on_both, vanished, new, all];
        Document {
            head,
            on_both,
            vanished,
            new,
            all,
            remainder,
            path,
            causes,
            other_causes: *other_causes,
            rest,
            functions,
        }
    }
}
