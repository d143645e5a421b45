//! The rows of an annotation, and its JSON.

use std::borrow::Cow;
use std::io::{self, Write};
use std::rc::Rc;

use gristmill_format::Cost;
use gristmill_output::json::{self, Costs, ExactInteger, exact, exact_option};
use gristmill_profile::FileId;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::{AnnotatedFile, AnnotatedFunction, Annotation, SourceRemark};
use crate::head::Head;

/// A profile with its source files: functions, and the costs, calls and jumps of each line. Text that is not UTF-8 has
/// U+FFFD in its place. See the example of [`Annotation`](super::Annotation).
#[derive(Debug, Serialize, JsonSchema)]
pub struct AnnotationDocument<'r> {
    #[serde(flatten)]
    head: &'r Head,
    /// The functions that cost anything, the most expensive first by self cost. With --filter, those that match, and
    /// after them the others that their lines mention.
    #[schemars(with = "Vec<FunctionRow<'r>>")]
    functions: FunctionRows<'r>,
    /// The source files with costs, the most expensive first. Self costs of all their lines add up to the totals, unless
    /// --filter or --file omits some.
    #[schemars(with = "Vec<FileRow<'r>>")]
    files: FileRows<'r>,
}

/// A function of an annotation. See the example of [`Annotation`].
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "Function")]
pub struct FunctionRow<'r> {
    /// The id of the function, the same for all selections of a profile.
    pub id: usize,
    /// The name, demangled.
    pub name: &'r str,
    /// The source file; empty or ??? if it is unknown.
    pub file: Cow<'r, str>,
    /// The program or library; empty or ??? if it is unknown.
    pub object: Cow<'r, str>,
    /// true if the function matches --filter. All functions match if there is no such option.
    pub wanted: bool,
    /// The first line in its file that costs something or that calls lead to.
    #[schemars(range(min = 1))]
    pub line: Option<u64>,
    /// The self cost.
    #[serde(rename = "self")]
    pub self_costs: Costs,
    /// The inclusive cost.
    pub inclusive: Costs,
    /// The count of calls, as far as the profile has it.
    #[serde(serialize_with = "exact")]
    #[schemars(with = "ExactInteger")]
    pub calls: Cost,
    /// The number of the cycle that the function is in.
    pub cycle: Option<usize>,
    /// The lines that call the function, those with the most expensive calls first.
    pub callers: Vec<CallerRow>,
}

/// A line that calls a function. See the example of [`Annotation`].
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "Caller")]
pub struct CallerRow {
    /// The calling function, as an index into the list of functions.
    pub function: usize,
    /// The file of the line, as an index into the list of files. It is not that of the function where code was inlined.
    pub file: usize,
    /// The line. null if it is unknown.
    #[schemars(range(min = 1))]
    pub line: Option<u64>,
    /// The count of calls.
    #[serde(serialize_with = "exact")]
    #[schemars(with = "ExactInteger")]
    pub calls: Cost,
    /// The inclusive cost of these calls.
    pub cost: Costs,
}

/// A source file of an annotation. See the example of [`Annotation`].
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "File")]
pub struct FileRow<'r> {
    /// The id of the file in the profile.
    pub id: usize,
    /// The path as the profile has it; empty or ??? if it is unknown.
    pub name: Cow<'r, str>,
    /// The path of the file that was read. null if there is no text.
    pub found_at: Option<&'r str>,
    /// The count of lines of the text.
    pub line_count: Option<u64>,
    /// Reasons to doubt the lines.
    pub remarks: Vec<RemarkRow>,
    /// The self cost of all lines.
    #[serde(rename = "self")]
    pub self_costs: Costs,
    /// The lines with costs, calls or jumps, ascending.
    #[schemars(with = "Vec<LineRow<'r>>")]
    lines: LineRows<'r>,
}

impl<'r> FileRow<'r> {
    /// The lines with costs, calls or jumps, ascending.
    pub fn lines(&self) -> impl Iterator<Item = LineRow<'r>> + use<'r> {
        self.lines.iter()
    }
}

/// A reason to doubt the lines of a source file. See the example of [`Annotation`].
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "Remark")]
pub struct RemarkRow {
    /// The kind of the remark.
    #[schemars(extend("enum" = ["missing", "unreadable", "ambiguous", "newer", "shorter", "not-utf8"]))]
    pub kind: &'static str,
    /// The remark.
    pub text: String,
}

/// A line of a source file. See the example of [`Annotation`].
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "Line")]
pub struct LineRow<'r> {
    /// The line number. null for the sum of all unknown lines.
    #[schemars(range(min = 1))]
    pub line: Option<u64>,
    /// The text. null if there is no text, or no such line.
    pub text: Option<Cow<'r, str>>,
    /// The self cost.
    #[serde(rename = "self")]
    pub self_costs: Costs,
    /// The calls made on the line.
    pub calls: Vec<CallRow>,
    /// The jumps that start on the line.
    pub jumps: Vec<JumpRow<'r>>,
    /// The functions that were inlined from this line into those of other files. null without --name-inlined.
    pub inlined: Option<Vec<Rc<str>>>,
}

/// Calls from a line to a function. See the example of [`Annotation`].
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "Call")]
pub struct CallRow {
    /// The function that the line is part of, as an index into the list of functions.
    pub caller: usize,
    /// The called function, as an index into the list of functions.
    pub callee: usize,
    /// The count of calls.
    #[serde(serialize_with = "exact")]
    #[schemars(with = "ExactInteger")]
    pub calls: Cost,
    /// The inclusive cost of these calls, which is not part of the line's self cost.
    pub cost: Costs,
}

/// Jumps from a line to another. See the example of [`Annotation`].
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "Jump")]
pub struct JumpRow<'r> {
    /// The file of the target. null for the same file.
    pub file: Option<Cow<'r, str>>,
    /// The line of the target. null if it is unknown.
    #[schemars(range(min = 1))]
    pub line: Option<u64>,
    /// The count of jumps.
    #[serde(serialize_with = "exact")]
    #[schemars(with = "ExactInteger")]
    pub taken: Cost,
    /// The number of times a conditional jump was reached. null for an unconditional jump.
    #[serde(serialize_with = "exact_option")]
    #[schemars(with = "Option<ExactInteger>")]
    pub executed: Option<Cost>,
}

/// The functions of a document. Each row is made when it is written.
#[derive(Debug)]
struct FunctionRows<'r>(&'r Annotation<'r>);

impl Serialize for FunctionRows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.function_rows())
    }
}

/// The files of a document.
#[derive(Debug)]
struct FileRows<'r>(&'r Annotation<'r>);

impl Serialize for FileRows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.file_rows())
    }
}

/// The lines of a file.
#[derive(Debug)]
struct LineRows<'r> {
    annotation: &'r Annotation<'r>,
    file: &'r AnnotatedFile,
}

impl<'r> LineRows<'r> {
    fn iter(&self) -> impl Iterator<Item = LineRow<'r>> + use<'r> {
        let LineRows { annotation, file } = *self;
        self.lines().map(move |ListedLine { number, text, self_costs }| LineRow {
            line: known(number),
            text,
            self_costs,
            calls: annotation.call_rows(file, number).collect(),
            jumps: annotation.jump_rows(file, number),
            inlined: annotation.inlined_names(file, number),
        })
    }

    fn lines(&self) -> impl Iterator<Item = ListedLine<'r>> + use<'r> {
        let LineRows { annotation, file } = *self;
        let mut texts = file.source.iter().flat_map(|source| source.lines()).zip(1u64..).peekable();
        let zeros = vec![0; annotation.view.events().len()];
        file.all_lines().into_iter().map(move |line| {
            while texts.next_if(|&(_, other)| other < line).is_some() {}
            let text = texts.next_if(|&(_, other)| other == line).map(|(text, _)| text);
            ListedLine {
                number: line,
                text: text.map(String::from_utf8_lossy),
                self_costs: annotation.head.costs(file.line_costs(line).unwrap_or(&zeros)),
            }
        })
    }
}

/// A line without its calls and jumps.
struct ListedLine<'r> {
    number: u64,
    text: Option<Cow<'r, str>>,
    self_costs: Costs,
}

/// A [`LineRow`] whose calls are made when they are written: one line can make all calls of a profile.
#[derive(Serialize)]
struct WrittenLine<'r> {
    line: Option<u64>,
    text: Option<Cow<'r, str>>,
    #[serde(rename = "self")]
    self_costs: Costs,
    calls: CallRows<'r>,
    jumps: Vec<JumpRow<'r>>,
    inlined: Option<Vec<Rc<str>>>,
}

impl Serialize for LineRows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let LineRows { annotation, file } = *self;
        serializer.collect_seq(self.lines().map(|ListedLine { number, text, self_costs }| WrittenLine {
            line: known(number),
            text,
            self_costs,
            calls: CallRows { annotation, file, line: number },
            jumps: annotation.jump_rows(file, number),
            inlined: annotation.inlined_names(file, number),
        }))
    }
}

/// The calls of a line.
struct CallRows<'r> {
    annotation: &'r Annotation<'r>,
    file: &'r AnnotatedFile,
    line: u64,
}

impl Serialize for CallRows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.annotation.call_rows(self.file, self.line))
    }
}

impl Annotation<'_> {
    /// The document for programs, which [`Annotation::write_json`] writes.
    pub fn document(&self) -> AnnotationDocument<'_> {
        AnnotationDocument { head: &self.head, functions: FunctionRows(self), files: FileRows(self) }
    }

    /// Writes the document as JSON.
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        json::write(&self.document(), out)
    }

    /// The functions, the most expensive first by self cost; after them those that are only mentioned.
    pub fn function_rows(&self) -> impl Iterator<Item = FunctionRow<'_>> {
        let is_wanted = |nth| nth < self.wanted_count;
        self.functions
            .iter()
            .enumerate()
            .map(move |(nth, function)| self.function_row(function, is_wanted(nth)))
    }

    fn function_row<'r>(&'r self, function: &'r AnnotatedFunction, wanted: bool) -> FunctionRow<'r> {
        let callers = self.calls_of(function.id).iter().map(|call| {
            let (_, calls, costs) = self.call(call);
            CallerRow {
                function: self.function_index(calls.caller),
                file: call.file as usize,
                line: known(calls.line),
                calls: calls.count,
                cost: self.head.costs(costs),
            }
        });
        let (view, id) = (self.view, function.id);
        let subject = view.subject(id);
        FunctionRow {
            id: function.id.index(),
            name: subject.name(),
            file: self.file_name(subject.file),
            object: String::from_utf8_lossy(self.view.profile().object(subject.object)),
            wanted,
            line: function.line,
            self_costs: self.head.costs(view.self_cost(id)),
            inclusive: self.head.costs(view.inclusive_cost(id)),
            calls: view.call_count(id),
            cycle: view.inclusive().cycles().cycle_of(id.node()).map(|cycle| cycle.number()),
            callers: callers.collect(),
        }
    }

    /// The source files, the most expensive first.
    pub fn file_rows(&self) -> impl Iterator<Item = FileRow<'_>> {
        self.files.iter().map(|file| {
            let source = file.source.as_ref().ok();
            FileRow {
                id: file.id.index(),
                name: self.file_name(file.id),
                found_at: source.map(|source| source.found_at.as_str()),
                line_count: source.map(|source| source.line_count()),
                remarks: file.remarks.iter().map(RemarkRow::new).collect(),
                self_costs: self.head.costs(&file.self_costs),
                lines: LineRows { annotation: self, file },
            }
        })
    }

    fn call_rows(&self, file: &AnnotatedFile, line: u64) -> impl Iterator<Item = CallRow> {
        file.calls_on(line).map(|(calls, costs)| CallRow {
            caller: self.function_index(calls.caller),
            callee: self.function_index(calls.callee),
            calls: calls.count,
            cost: self.head.costs(costs),
        })
    }

    fn jump_rows<'r>(&'r self, file: &'r AnnotatedFile, line: u64) -> Vec<JumpRow<'r>> {
        let jumps = file.jumps_on(line).iter().map(|jump| JumpRow {
            file: (jump.target_file != file.id).then(|| self.file_name(jump.target_file)),
            line: known(jump.target_line),
            taken: jump.taken,
            executed: jump.executed,
        });
        jumps.collect()
    }

    /// The functions that were inlined from a line, if they were asked for.
    fn inlined_names(&self, file: &AnnotatedFile, line: u64) -> Option<Vec<Rc<str>>> {
        Some(self.inlined.as_ref()?.get(file.id, line).to_vec())
    }

    fn file_name(&self, id: FileId) -> Cow<'_, str> {
        String::from_utf8_lossy(self.view.profile().file(id))
    }
}

impl RemarkRow {
    fn new(remark: &SourceRemark) -> Self {
        RemarkRow { kind: remark.kind(), text: remark.to_string() }
    }
}

/// The line, unless it is 0, which stands for unknown lines.
fn known(line: u64) -> Option<u64> {
    (line > 0).then_some(line)
}
