//! The answer for programs, written piece by piece. Its shape is promised by `docs/schema/annotate.schema.json`.

use std::borrow::Cow;
use std::io::{self, Write};

use gristmill_format::Cost;
use gristmill_profile::FileId;
use serde::Serialize;

use super::{AnnotatedFile, AnnotatedFunction, Annotation, SourceRemark};
use crate::json::{CostsByName, write_view};

impl Annotation<'_> {
    /// Writes everything as JSON: one object, a function or a line of source on each line.
    ///
    /// # Errors
    ///
    /// Those of the place it is written to.
    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        write_view(&self.head, out)?;
        out.write_all(b",\n\"functions\":[")?;
        for (nth, function) in self.functions.iter().enumerate() {
            separate(nth, out)?;
            serde_json::to_writer(&mut *out, &self.function_json(function, nth < self.wanted))?;
        }
        out.write_all(b"],\n\"files\":[")?;
        for (nth, file) in self.files.iter().enumerate() {
            separate(nth, out)?;
            self.write_file(file, out)?;
        }
        out.write_all(b"]}\n")
    }

    /// Names may be long, and each is written once: calls refer to functions and files by their places in the lists.
    fn function_json<'r>(&'r self, function: &'r AnnotatedFunction, is_wanted: bool) -> Function<'r> {
        let callers = self.calls_of(function.id).iter().map(|place| {
            let (_, call, costs) = self.call(place);
            Caller {
                function: self.place_of.get(&call.caller).copied(),
                file: place.file,
                line: known(call.line),
                calls: call.count,
                cost: CostsByName(self.view, costs),
            }
        });
        let subject = self.view.subject(function.id);
        Function {
            name: subject.name(),
            file: self.file_name(subject.file),
            object: String::from_utf8_lossy(self.view.profile().object(subject.object)),
            wanted: is_wanted,
            line: function.line,
            self_costs: CostsByName(self.view, &function.self_costs),
            inclusive: CostsByName(self.view, &function.inclusive),
            calls: function.calls,
            cycle: function.cycle,
            callers: callers.collect(),
        }
    }

    fn write_file(&self, file: &AnnotatedFile, out: &mut dyn Write) -> io::Result<()> {
        let head = FileHead {
            name: self.file_name(file.id),
            found_at: file.source.as_ref().ok().map(|source| source.found_at.as_str()),
            line_count: file.source.as_ref().ok().map(|source| source.line_count()),
            remarks: file.remarks.iter().map(Remark::of).collect(),
            self_costs: CostsByName(self.view, &file.self_costs),
        };
        // The lines follow one by one inside of the same object.
        let head = serde_json::to_string(&head)?;
        write!(out, "{},\"lines\":[", head.strip_suffix('}').unwrap_or(&head))?;
        let mut texts = file.source.iter().flat_map(|source| source.lines()).zip(1u64..).peekable();
        let none = vec![0; self.view.events().len()];
        for (nth, number) in file.lines_with_anything().into_iter().enumerate() {
            separate(nth, out)?;
            while texts.next_if(|&(_, line)| line < number).is_some() {}
            let text = texts.next_if(|&(_, line)| line == number).map(|(text, _)| text);
            let line = Line {
                line: known(number),
                text: text.map(String::from_utf8_lossy),
                self_costs: CostsByName(self.view, file.line_costs(number).unwrap_or(&none)),
                calls: self.calls_json(file, number),
                jumps: self.jumps_json(file, number),
            };
            serde_json::to_writer(&mut *out, &line)?;
        }
        out.write_all(b"]}")
    }

    fn calls_json<'r>(&'r self, file: &'r AnnotatedFile, line: u64) -> Vec<Call<'r>> {
        let calls = file.calls_on(line).map(|(call, costs)| Call {
            caller: self.place_of.get(&call.caller).copied(),
            callee: self.place_of.get(&call.callee).copied(),
            calls: call.count,
            cost: CostsByName(self.view, costs),
        });
        calls.collect()
    }

    fn jumps_json<'r>(&'r self, file: &'r AnnotatedFile, line: u64) -> Vec<Jump<'r>> {
        let jumps = file.jumps_on(line).iter().map(|jump| Jump {
            file: (jump.target_file != file.id).then(|| self.file_name(jump.target_file)),
            line: known(jump.target_line),
            taken: jump.taken,
            executed: jump.executed,
        });
        jumps.collect()
    }

    fn file_name(&self, id: FileId) -> Cow<'_, str> {
        String::from_utf8_lossy(self.view.profile().file(id))
    }
}

fn separate(nth: usize, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(if nth == 0 { b"\n" } else { b",\n" })
}

/// Line 0 stands for one that is not known.
fn known(line: u64) -> Option<u64> {
    (line > 0).then_some(line)
}

#[derive(Serialize)]
struct Function<'r> {
    name: &'r str,
    file: Cow<'r, str>,
    object: Cow<'r, str>,
    wanted: bool,
    line: Option<u64>,
    #[serde(rename = "self")]
    self_costs: CostsByName<'r>,
    inclusive: CostsByName<'r>,
    calls: Cost,
    cycle: Option<usize>,
    callers: Vec<Caller<'r>>,
}

#[derive(Serialize)]
struct Caller<'r> {
    function: Option<usize>,
    file: usize,
    line: Option<u64>,
    calls: Cost,
    cost: CostsByName<'r>,
}

#[derive(Serialize)]
struct FileHead<'r> {
    name: Cow<'r, str>,
    found_at: Option<&'r str>,
    line_count: Option<u64>,
    remarks: Vec<Remark>,
    #[serde(rename = "self")]
    self_costs: CostsByName<'r>,
}

#[derive(Serialize)]
struct Remark {
    kind: &'static str,
    text: String,
}

impl Remark {
    fn of(remark: &SourceRemark) -> Self {
        Remark { kind: remark.kind(), text: remark.to_string() }
    }
}

#[derive(Serialize)]
struct Line<'r> {
    line: Option<u64>,
    text: Option<Cow<'r, str>>,
    #[serde(rename = "self")]
    self_costs: CostsByName<'r>,
    calls: Vec<Call<'r>>,
    jumps: Vec<Jump<'r>>,
}

#[derive(Serialize)]
struct Call<'r> {
    caller: Option<usize>,
    callee: Option<usize>,
    calls: Cost,
    cost: CostsByName<'r>,
}

#[derive(Serialize)]
struct Jump<'r> {
    file: Option<Cow<'r, str>>,
    line: Option<u64>,
    taken: Cost,
    executed: Option<Cost>,
}
