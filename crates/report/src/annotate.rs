//! Annotation: a profile with its source files, as data, as JSON and as a page of HTML.

mod inlined;
mod page;
mod remark;
mod rows;
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

use self::inlined::InlinedNames;
pub use self::page::PageOptions;
pub use self::remark::SourceRemark;
pub(crate) use self::remark::is_unknown;
pub use self::rows::{
    AnnotationDocument, CallRow, CallerRow, FileRow, FunctionRow, JumpRow, LineRow, RemarkRow,
};
use crate::head::Head;
use crate::pattern::matches_name;
use crate::view::{SubjectId, View, ViewError};

/// The choice of functions and files to annotate. See the example of [`Annotation`].
#[derive(Debug, Clone, Default)]
pub struct AnnotationOptions {
    /// The pattern of the functions to annotate. Lines of other functions are omitted.
    pub function: Option<Regex>,
    /// The only function to annotate. Lines of other functions are omitted.
    pub subject: Option<SubjectId>,
    /// The pattern of the paths of source files to annotate.
    pub file: Option<Regex>,
    /// The source files to annotate, by their path or the end of it; all if empty.
    pub named: Vec<Vec<u8>>,
}

/// A profile with its source files. Costs are by column of the view.
///
/// ```
/// use std::sync::Arc;
///
/// use gristmill_output::source::{SourceError, SourceText, Sources};
/// use gristmill_profile::Profile;
/// use gristmill_report::annotate::{Annotation, AnnotationOptions};
/// use gristmill_report::{View, ViewOptions};
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
/// let profile = Profile::from_bytes(b"events: Ir\nfl=mill.c\nfn=main\n1 3\ncfn=grind\ncalls=2 7\n2 50\n");
/// let view = View::new(Arc::new(profile), &ViewOptions::default())?;
/// let annotation = Annotation::new(&view, &AnnotationOptions::default(), &Mill)?;
/// let file = annotation.file_rows().next().unwrap();
/// let lines: Vec<_> = file.lines().collect();
/// assert_eq!((lines[0].text.as_deref(), lines[0].self_costs[0]), (Some("int main(void) {"), 3));
/// assert_eq!((lines[1].calls[0].calls, lines[1].calls[0].cost[0]), (2, 50));
/// # Ok::<(), gristmill_report::ViewError>(())
/// ```
#[derive(Debug)]
pub struct Annotation<'v> {
    view: &'v View,
    head: Head,
    /// The wanted functions that cost anything, the most expensive first by self cost; after them others that lines of
    /// the wanted ones mention.
    functions: Vec<AnnotatedFunction>,
    wanted_count: usize,
    /// The index of each function in this list.
    function_indexes: HashMap<SubjectId, usize>,
    /// The files that have lines with costs, the most expensive first.
    files: Vec<AnnotatedFile>,
    /// All calls, sorted by callee, the most expensive first.
    calls: Vec<CallRef>,
    /// The names of inlined functions, if they were asked for.
    inlined: Option<InlinedNames>,
}

/// A function.
#[derive(Debug, Clone, PartialEq, Eq)]
struct AnnotatedFunction {
    id: SubjectId,
    /// The first line in its source file, as far as costs and calls show it.
    line: Option<u64>,
}

/// A source file.
#[derive(Debug, Clone)]
struct AnnotatedFile {
    id: FileId,
    /// The self cost of all lines.
    self_costs: Vec<Cost>,
    /// The lines that have self costs, ascending. Line 0 stands for unknown lines.
    lines: Vec<u64>,
    /// The self costs: a row for each of the lines.
    costs: CostTable,
    /// The calls made on lines, sorted by line, caller and callee.
    calls: Vec<SubjectCalls>,
    /// The inclusive costs: a row for each of the calls.
    call_costs: CostTable,
    /// The jumps that start on lines.
    jumps: Vec<LineJumps>,
    source: Result<Arc<SourceText>, SourceError>,
    remarks: Vec<SourceRemark>,
}

/// The calls from a line to a subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct SubjectCalls {
    line: u64,
    /// The subject that the line is part of.
    caller: SubjectId,
    callee: SubjectId,
    count: Cost,
}

/// A reference to the calls from a line to a subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct CallRef {
    callee: SubjectId,
    /// The index of the file.
    file: u32,
    /// The index among the calls of the file.
    call: u32,
}

impl<'v> Annotation<'v> {
    /// Reads all lines of a view, and the sources of their files.
    ///
    /// # Errors
    ///
    /// When a derived cost is out of range, or the costs would take too much memory.
    pub fn new(
        view: &'v View,
        options: &AnnotationOptions,
        sources: &dyn Sources,
    ) -> Result<Self, ViewError> {
        let profile = view.profile();
        profile.refuse_wide_lines().map_err(ViewError::TooManyCosts)?;
        let fits = |pattern: &Option<Regex>, name: &str| {
            pattern.as_ref().is_none_or(|pattern| matches_name(pattern, name))
        };
        // Names are demangled only if they are matched.
        let is_wanted: Vec<bool> = match &options.function {
            Some(_) => view.subjects().map(|(_, subject)| fits(&options.function, subject.name())).collect(),
            None => vec![true; view.subjects().len()],
        };
        let is_subject = |id: SubjectId| options.subject.is_none_or(|subject| subject == id);
        let is_wanted = |id: SubjectId| is_wanted[id.index()] && is_subject(id);
        let is_named = |path: &[u8]| {
            options.named.is_empty() || options.named.iter().any(|named| ends_with_path(path, named))
        };
        let mut wanted_files = Vec::new();
        let file_indexes: Vec<Option<usize>> = profile
            .files()
            .map(|id| {
                let path = profile.file(id);
                (fits(&options.file, &printable(path)) && is_named(path)).then(|| {
                    wanted_files.push(id);
                    wanted_files.len() - 1
                })
            })
            .collect();
        let subjects: Vec<bool> =
            profile.functions().map(|function| is_wanted(view.subject_of(function))).collect();
        let lines = FileLines::read_some(
            profile,
            view.selection(),
            wanted_files.len(),
            |file| file_indexes[file.index()],
            |function| subjects[function.index()],
        );
        let mut files = Vec::new();
        for (id, lines) in wanted_files.into_iter().zip(lines) {
            if !(lines.lines.is_empty() && lines.calls.is_empty() && lines.jumps.is_empty()) {
                files.push(annotated(view, id, lines, sources)?);
            }
        }
        // Files of the same name differ in their ids.
        files.sort_by_key(|file| (Reverse(first(&file.self_costs)), profile.file(file.id), file.id));
        let mut starts: Vec<Option<u64>> = vec![None; view.subjects().len()];
        for (function, line) in profile.functions().zip(starts::function_starts(profile, view.selection())) {
            let start = &mut starts[view.subject_of(function).index()];
            *start = (*start).into_iter().chain(line).min();
        }
        let function = |id: SubjectId| AnnotatedFunction { id, line: starts[id.index()] };
        let costs_anything = |it: &AnnotatedFunction| {
            let costs = view.self_cost(it.id).iter().chain(view.inclusive_cost(it.id));
            view.call_count(it.id) != 0 || costs.into_iter().any(|&cost| cost != 0)
        };
        let by_cost = |it: &AnnotatedFunction| {
            (Reverse(first(view.self_cost(it.id))), Reverse(first(view.inclusive_cost(it.id))), it.id)
        };
        let ids = view.subject_ids();
        let mut functions: Vec<AnnotatedFunction> =
            ids.filter(|&id| is_wanted(id)).map(function).filter(costs_anything).collect();
        functions.sort_by_key(by_cost);
        let wanted_count = functions.len();
        let mut function_indexes: HashMap<SubjectId, usize> =
            functions.iter().zip(0..).map(|(function, index)| (function.id, index)).collect();
        for call in files.iter().flat_map(|file| &file.calls) {
            for id in [call.caller, call.callee] {
                function_indexes.entry(id).or_insert_with(|| {
                    functions.push(function(id));
                    functions.len() - 1
                });
            }
        }
        let calls = calls(view, &files);
        Ok(Annotation {
            view,
            head: Head::new(view),
            functions,
            wanted_count,
            function_indexes,
            files,
            calls,
            inlined: None,
        })
    }

    /// The wanted functions, the most expensive first.
    fn wanted_functions(&self) -> &[AnnotatedFunction] {
        &self.functions[..self.wanted_count]
    }

    /// The index of a function that is wanted or mentioned.
    fn function_index(&self, id: SubjectId) -> usize {
        self.function_indexes[&id]
    }

    /// The remarks about source files, each with the file's path in the profile, safe to show.
    pub fn remarks(&self) -> impl Iterator<Item = (String, &SourceRemark)> {
        self.files.iter().flat_map(|file| {
            let path = printable(self.view.profile().file(file.id)).into_owned();
            file.remarks.iter().map(move |remark| (path.clone(), remark))
        })
    }

    /// The calls of a function, the most expensive first.
    fn calls_of(&self, callee: SubjectId) -> &[CallRef] {
        &self.calls[range_of(&self.calls, &callee, |call| call.callee)]
    }

    /// The file of calls, the calls, and their cost.
    fn call(&self, call: &CallRef) -> (&AnnotatedFile, &SubjectCalls, &[Cost]) {
        let file = &self.files[call.file as usize];
        (file, &file.calls[call.call as usize], file.call_costs.row(call.call as usize))
    }
}

impl AnnotatedFile {
    /// All lines with costs, calls or jumps, ascending.
    fn all_lines(&self) -> Vec<u64> {
        let mut lines = self.lines.clone();
        lines.extend(self.calls.iter().map(|call| call.line));
        lines.extend(self.jumps.iter().map(|jump| jump.line));
        lines.sort_unstable();
        lines.dedup();
        lines
    }

    /// The self cost of a line, if it has any.
    fn line_costs(&self, line: u64) -> Option<&[Cost]> {
        self.lines.binary_search(&line).ok().map(|row| self.costs.row(row))
    }

    /// The calls made on a line, each with its costs.
    fn calls_on(&self, line: u64) -> impl Iterator<Item = (&SubjectCalls, &[Cost])> {
        let calls = range_of(&self.calls, &line, |call| call.line);
        calls.map(|call| (&self.calls[call], self.call_costs.row(call)))
    }

    /// The index of the first call made on a line, or after it.
    fn first_call_on(&self, line: u64) -> usize {
        self.calls.partition_point(|call| call.line < line)
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
    let shown = |recorded: &PartialCosts| {
        let mut table = CostTable::new(view.events().len(), 0);
        for row in recorded.rows() {
            table.push(&view.shown_costs(&row.or_zero())?);
        }
        Ok(table)
    };
    let (costs, call_costs) = (shown(&lines.costs)?, shown(&lines.call_costs)?);
    let path = view.profile().file(id);
    let source = sources.get(path);
    let call = |&LineCalls { line, caller, callee, count }: &LineCalls| {
        let [caller, callee] = [caller, callee].map(|function| view.subject_of(function));
        SubjectCalls { line, caller, callee, count }
    };
    let calls: Vec<SubjectCalls> = lines.calls.iter().map(call).collect();
    // All of these lists ascend.
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
        remarks: remark::remarks(path, &source, last),
        source,
    })
}

/// Lists all calls by callee, the most expensive first.
fn calls(view: &View, files: &[AnnotatedFile]) -> Vec<CallRef> {
    let mut calls: Vec<CallRef> = files
        .iter()
        .zip(0..)
        .flat_map(|(lines, file)| {
            let callees = lines.calls.iter().map(|call| call.callee);
            callees.zip(0..).map(move |(callee, call)| CallRef { callee, file, call })
        })
        .collect();
    calls.sort_unstable_by_key(|call| {
        let file = &files[call.file as usize];
        let cost = first(file.call_costs.row(call.call as usize));
        (call.callee, Reverse(cost), view.profile().file(file.id), call.file, call.call)
    });
    calls
}

/// `true` if a path equals another or ends with its components.
fn ends_with_path(path: &[u8], end: &[u8]) -> bool {
    path.strip_suffix(end).is_some_and(|before| before.is_empty() || before.ends_with(b"/"))
}

/// The cost of the first event type.
fn first(costs: &[Cost]) -> Cost {
    costs.first().copied().unwrap_or_default()
}
