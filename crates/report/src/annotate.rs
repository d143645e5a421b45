//! A profile with its source files, for programs and for a page: functions, and what each line of the files costs.

mod json;
mod page;
mod remark;
mod starts;

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use gristmill_format::Cost;
use gristmill_output::printable;
use gristmill_output::source::{SourceError, SourceText, Sources};
use gristmill_profile::source_lines::{FileLines, LineCalls, LineJumps, PartialCosts, range_of};
use gristmill_profile::{CostTable, FileId};
use regex::Regex;

pub use self::page::PageOptions;
pub use self::remark::SourceRemark;
use crate::head::Head;
use crate::view::{SubjectId, View, ViewError};

/// What to annotate.
#[derive(Debug, Clone, Default)]
pub struct AnnotationOptions {
    /// Only functions whose name fits, and only their lines.
    pub function: Option<Regex>,
    /// Only source files whose path fits.
    pub file: Option<Regex>,
    /// Only these source files, by their path or the end of it; all when empty.
    pub named: Vec<Vec<u8>>,
}

/// A profile with its source files. Costs are by column of the view.
#[derive(Debug)]
pub struct Annotation<'v> {
    view: &'v View,
    head: Head,
    /// The functions that are wanted and cost anything, the dearest first by their own cost; after them others that are
    /// spoken of.
    functions: Vec<AnnotatedFunction>,
    /// How many are wanted.
    wanted: usize,
    /// Where each of them is among these.
    place_of: HashMap<SubjectId, usize>,
    /// The files that have lines with costs, the dearest first.
    files: Vec<AnnotatedFile>,
    /// All calls, by callee, the dearest first.
    calls: Vec<CallPlace>,
}

/// A function.
#[derive(Debug, Clone, PartialEq, Eq)]
struct AnnotatedFunction {
    /// Which one.
    id: SubjectId,
    /// Where it begins in its source file, as far as its lines and the calls to it tell.
    line: Option<u64>,
    /// What it cost by itself.
    self_costs: Vec<Cost>,
    /// What it cost with all that it called.
    inclusive: Vec<Cost>,
    /// How often it was called.
    calls: Cost,
    /// The number of the cycle that it is in.
    cycle: Option<usize>,
}

/// A source file.
#[derive(Debug, Clone)]
struct AnnotatedFile {
    /// Which one.
    id: FileId,
    /// What all of its lines cost by themselves.
    self_costs: Vec<Cost>,
    /// The lines that have costs, ascending. Line 0 stands for those that are not known.
    lines: Vec<u64>,
    /// What they cost by themselves: a row for each of them.
    costs: CostTable,
    /// The calls that are made on lines: by line, caller, callee.
    calls: Vec<CallRow>,
    /// What they cost: a row for each of them.
    call_costs: CostTable,
    /// The jumps that start on lines.
    jumps: Vec<LineJumps>,
    /// Its text.
    source: Result<Arc<SourceText>, SourceError>,
    /// What is to be said of it.
    remarks: Vec<SourceRemark>,
}

/// The calls from a line to a subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct CallRow {
    line: u64,
    /// The subject that the line is part of.
    caller: SubjectId,
    callee: SubjectId,
    count: Cost,
}

/// Calls of a function, from where they are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct CallPlace {
    /// Who is called.
    callee: SubjectId,
    /// Which of the files it is made in, and which of its calls it is.
    file: usize,
    call: usize,
}

/// No profile that was measured has so many event types.
const MANY_EVENTS: usize = 64;

/// One that was made to do harm has a few bytes for each line, and so may have so many cells at most.
const MAX_CELLS: u64 = 1 << 27;

impl<'v> Annotation<'v> {
    /// Reads all lines of what is looked at, and the sources of the files that they are in.
    ///
    /// # Errors
    ///
    /// When a derived cost is larger than any number that costs are reckoned with.
    pub fn new(
        view: &'v View,
        options: &AnnotationOptions,
        sources: &dyn Sources,
    ) -> Result<Self, ViewError> {
        let profile = view.profile();
        let (costs, calls_made, _) = profile.line_counts();
        let cells = costs.saturating_add(calls_made).saturating_mul(profile.event_count() as u64);
        if profile.event_count() > MANY_EVENTS && cells > MAX_CELLS {
            return Err(ViewError::TooManyColumns);
        }
        let fits = |pattern: &Option<Regex>, name: &str| {
            pattern.as_ref().is_none_or(|pattern| pattern.is_match(name))
        };
        // Names are taken apart once, and only if they are asked for.
        let is_wanted: Vec<bool> = match &options.function {
            Some(_) => view.subjects().map(|(_, subject)| fits(&options.function, subject.name())).collect(),
            None => vec![true; view.subjects().len()],
        };
        let is_wanted = |id: SubjectId| is_wanted.get(id.index()).copied().unwrap_or_default();
        let is_named = |path: &[u8]| {
            options.named.is_empty() || options.named.iter().any(|named| ends_with_path(path, named))
        };
        let mut wanted_files = Vec::new();
        let place_of: Vec<Option<usize>> = (0..profile.file_count())
            .map(|index| {
                let id = FileId::new(index);
                let path = profile.file(id);
                (fits(&options.file, &printable(path)) && is_named(path)).then(|| {
                    wanted_files.push(id);
                    wanted_files.len() - 1
                })
            })
            .collect();
        let place = |file: FileId| place_of.get(file.index()).copied().flatten();
        let subjects: Vec<bool> =
            profile.functions().map(|function| is_wanted(view.subject_of(function))).collect();
        let lines = FileLines::read_some(profile, view.selection(), wanted_files.len(), place, |function| {
            subjects[function.index()]
        });
        let mut files = Vec::new();
        for (id, lines) in wanted_files.into_iter().zip(lines) {
            if !(lines.lines.is_empty() && lines.calls.is_empty() && lines.jumps.is_empty()) {
                files.push(annotated(view, id, lines, sources)?);
            }
        }
        // By cost, then by name; equal names are of files that the profile tells apart.
        files.sort_by_key(|file| (Reverse(first(&file.self_costs)), profile.file(file.id), file.id));
        let mut starts: Vec<Option<u64>> = vec![None; view.subjects().len()];
        for (function, line) in profile.functions().zip(starts::function_starts(profile, view.selection())) {
            let start = &mut starts[view.subject_of(function).index()];
            *start = (*start).into_iter().chain(line).min();
        }
        let function = |id: SubjectId| AnnotatedFunction {
            id,
            line: starts[id.index()],
            self_costs: view.self_cost(id).to_vec(),
            inclusive: view.inclusive_cost(id).to_vec(),
            calls: view.call_count(id),
            cycle: view.inclusive().cycles().cycle_of(id.node()).map(|cycle| cycle.number()),
        };
        let costs_anything = |it: &AnnotatedFunction| {
            it.calls != 0 || it.self_costs.iter().chain(&it.inclusive).any(|&cost| cost != 0)
        };
        let by_cost =
            |it: &AnnotatedFunction| (Reverse(first(&it.self_costs)), Reverse(first(&it.inclusive)), it.id);
        let ids = view.subject_ids();
        let mut functions: Vec<AnnotatedFunction> =
            ids.filter(|&id| is_wanted(id)).map(function).filter(costs_anything).collect();
        functions.sort_by_key(by_cost);
        let wanted = functions.len();
        let mut place_of: HashMap<SubjectId, usize> =
            functions.iter().zip(0..).map(|(function, place)| (function.id, place)).collect();
        for call in files.iter().flat_map(|file| &file.calls) {
            for id in [call.caller, call.callee] {
                place_of.entry(id).or_insert_with(|| {
                    functions.push(function(id));
                    functions.len() - 1
                });
            }
        }
        let calls = calls(view, &files);
        Ok(Annotation { view, head: Head::new(view), functions, wanted, place_of, files, calls })
    }

    /// The functions that are wanted, the dearest first.
    fn functions(&self) -> &[AnnotatedFunction] {
        &self.functions[..self.wanted]
    }

    /// The source files.
    fn files(&self) -> &[AnnotatedFile] {
        &self.files
    }

    /// One of them, or another that is spoken of.
    fn function(&self, id: SubjectId) -> Option<&AnnotatedFunction> {
        self.place_of.get(&id).map(|&place| &self.functions[place])
    }

    /// What is to be said of source files: the path as the profile has it, safe to show, and the remark.
    pub fn remarks(&self) -> impl Iterator<Item = (String, &SourceRemark)> {
        self.files.iter().flat_map(|file| {
            let path = self.path(file.id);
            file.remarks.iter().map(move |remark| (path.clone(), remark))
        })
    }

    /// From where a function is called, the dearest calls first.
    fn calls_of(&self, callee: SubjectId) -> &[CallPlace] {
        &self.calls[range_of(&self.calls, &callee, |call| call.callee)]
    }

    /// The file that a call is made in, the call, and what it costs.
    fn call(&self, place: &CallPlace) -> (&AnnotatedFile, &CallRow, &[Cost]) {
        let file = &self.files[place.file];
        (file, &file.calls[place.call], file.call_costs.row(place.call))
    }

    fn path(&self, file: FileId) -> String {
        printable(self.view.profile().file(file)).into_owned()
    }
}

impl AnnotatedFile {
    /// All lines with anything to tell, ascending.
    fn lines_with_anything(&self) -> Vec<u64> {
        let mut lines = self.lines.clone();
        lines.extend(self.calls.iter().map(|call| call.line));
        lines.extend(self.jumps.iter().map(|jump| jump.line));
        lines.sort_unstable();
        lines.dedup();
        lines
    }

    /// What a line costs by itself; None where it has no cost of its own.
    fn line_costs(&self, line: u64) -> Option<&[Cost]> {
        self.lines.binary_search(&line).ok().map(|row| self.costs.row(row))
    }

    /// The calls that are made on a line, each with its costs.
    fn calls_on(&self, line: u64) -> impl Iterator<Item = (&CallRow, &[Cost])> {
        let calls = range_of(&self.calls, &line, |call| call.line);
        calls.map(|call| (&self.calls[call], self.call_costs.row(call)))
    }

    /// The jumps that start on a line.
    fn jumps_on(&self, line: u64) -> &[LineJumps] {
        &self.jumps[range_of(&self.jumps, &line, |jump| jump.line)]
    }
}

fn annotated(
    view: &View,
    id: FileId,
    lines: FileLines,
    sources: &dyn Sources,
) -> Result<AnnotatedFile, ViewError> {
    let shown = |given: &PartialCosts| {
        let mut table = CostTable::new(view.events().len(), 0);
        for row in 0..given.len() {
            table.push(&view.shown_costs(&given.row(row).or_zero())?);
        }
        Ok(table)
    };
    let (costs, call_costs) = (shown(&lines.costs)?, shown(&lines.call_costs)?);
    let path = view.profile().file(id);
    let source = sources.get(path);
    let call = |&LineCalls { line, caller, callee, count }: &LineCalls| {
        let [caller, callee] = [caller, callee].map(|function| view.subject_of(function));
        CallRow { line, caller, callee, count }
    };
    let calls: Vec<CallRow> = lines.calls.iter().map(call).collect();
    // All of them ascend.
    let last_lines =
        [lines.lines.last().copied(), calls.last().map(|it| it.line), lines.jumps.last().map(|it| it.line)];
    let last = last_lines.into_iter().flatten().max().unwrap_or_default();
    Ok(AnnotatedFile {
        id,
        self_costs: costs.total(),
        lines: lines.lines,
        costs,
        calls,
        call_costs,
        jumps: lines.jumps,
        remarks: remark::of(path, &source, last),
        source,
    })
}

/// All calls by callee, the dearest first.
fn calls(view: &View, files: &[AnnotatedFile]) -> Vec<CallPlace> {
    let mut calls: Vec<CallPlace> = files
        .iter()
        .enumerate()
        .flat_map(|(file, lines)| {
            let callees = lines.calls.iter().map(|call| call.callee);
            callees.enumerate().map(move |(call, callee)| CallPlace { callee, file, call })
        })
        .collect();
    calls.sort_by_key(|place| {
        let file = &files[place.file];
        let cost = first(file.call_costs.row(place.call));
        (place.callee, Reverse(cost), view.profile().file(file.id), place.file, place.call)
    });
    calls
}

/// Whether a path is another, or ends with it between components.
fn ends_with_path(path: &[u8], end: &[u8]) -> bool {
    path.strip_suffix(end).is_some_and(|before| before.is_empty() || before.ends_with(b"/"))
}

fn first(costs: &[Cost]) -> Cost {
    costs.first().copied().unwrap_or_default()
}
