//! The answer for programs. Its shape is promised by `docs/schema/show.schema.json`.

use std::borrow::Cow;
use std::io::{self, Write};

use gristmill_format::Cost;
use gristmill_profile::FunctionId;
use gristmill_profile::analysis::Arc;
use serde::Serialize;

use super::{CallRow, CycleSummary, HotLine, JumpSummary, Listed, Neighbour, PartRow, Show};
use crate::json::{ShownCosts, write_view};
use crate::view::View;

impl Show<'_, '_> {
    /// Writes the report as JSON.
    ///
    /// # Errors
    ///
    /// Those of the place it is written to.
    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        let view = self.view;
        write_view(view, &self.head, out)?;
        write_member("function", &function(view, self.function), out)?;
        write_member("self", &ShownCosts(view, &self.self_costs), out)?;
        write_member("inclusive", &ShownCosts(view, &self.inclusive), out)?;
        write_member("calls", &self.calls, out)?;
        write_member("by_callers", &self.by_callers.as_ref().map(|costs| ShownCosts(view, costs)), out)?;
        write_member("by_callees", &ShownCosts(view, &self.by_callees), out)?;
        write_member("cycle", &self.cycle.as_ref().map(|cycle| circle(view, cycle)), out)?;
        let JumpSummary { jumps, conditional, taken } = self.jumps;
        write_member("jumps", &Jumps { jumps, conditional, taken }, out)?;
        self.write_lists(out)
    }

    fn write_lists(&self, out: &mut dyn Write) -> io::Result<()> {
        let view = self.view;
        for (name, list) in [
            ("callers", &self.callers),
            ("callees", &self.callees),
            ("far_callers", &self.far_callers),
            ("far_callees", &self.far_callees),
        ] {
            write_list(name, list, out, |row, out| neighbour(view, row, out))?;
        }
        write_list("lines", &self.lines, out, |row, out| line(view, row, out))?;
        write_list("by_part", &self.parts, out, |row, out| part(view, row, out))?;
        out.write_all(b"}\n")
    }
}

fn write_member(name: &str, value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    write!(out, ",\n\"{name}\":")?;
    Ok(serde_json::to_writer(&mut *out, value)?)
}

/// Writes a list, and how long it is in whole.
fn write_list<T>(
    name: &str,
    list: &Listed<T>,
    out: &mut dyn Write,
    write_row: impl Fn(&T, &mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    write!(out, ",\n\"{name}\":{{\"all\":{},\"rows\":[", list.all)?;
    for (nth, item) in list.rows.iter().enumerate() {
        out.write_all(if nth == 0 { b"\n" } else { b",\n" })?;
        write_row(item, &mut *out)?;
    }
    out.write_all(b"]}")
}

#[derive(Serialize)]
struct Function<'r> {
    name: &'r str,
    file: Cow<'r, str>,
    object: Cow<'r, str>,
}

fn function<'r>(view: &'r View<'_>, id: FunctionId) -> Function<'r> {
    let subject = view.subject(id);
    Function {
        name: subject.name(),
        file: String::from_utf8_lossy(view.profile().file(subject.file)),
        object: String::from_utf8_lossy(view.profile().object(subject.object)),
    }
}

#[derive(Serialize)]
struct Jumps {
    jumps: usize,
    conditional: usize,
    taken: Cost,
}

#[derive(Serialize)]
struct Circle<'r> {
    number: usize,
    #[serde(rename = "self")]
    self_costs: ShownCosts<'r>,
    inclusive: ShownCosts<'r>,
    calls: Cost,
    members: Many<Function<'r>>,
    entries: Many<Entered<'r>>,
    breaker: Option<Breaker<'r>>,
}

#[derive(Serialize)]
struct Many<T> {
    all: usize,
    rows: Vec<T>,
}

#[derive(Serialize)]
struct Entered<'r> {
    caller: Function<'r>,
    callee: Function<'r>,
    calls: Cost,
    cost: ShownCosts<'r>,
}

#[derive(Serialize)]
struct Breaker<'r> {
    caller: Function<'r>,
    callee: Function<'r>,
    members_left: usize,
    is_best: bool,
}

fn circle<'r>(view: &'r View<'r>, cycle: &'r CycleSummary) -> Circle<'r> {
    let entered = |(arc, costs): &'r (Arc, Vec<Cost>)| Entered {
        caller: function(view, arc.caller),
        callee: function(view, arc.callee),
        calls: arc.count,
        cost: ShownCosts(view, costs),
    };
    Circle {
        number: cycle.number,
        self_costs: ShownCosts(view, &cycle.self_costs),
        inclusive: ShownCosts(view, &cycle.inclusive),
        calls: cycle.calls,
        members: Many {
            all: cycle.members.all,
            rows: cycle.members.rows.iter().map(|&member| function(view, member)).collect(),
        },
        entries: Many { all: cycle.entries.all, rows: cycle.entries.rows.iter().map(entered).collect() },
        breaker: cycle.breaker.map(|breaker| Breaker {
            caller: function(view, breaker.arc.caller),
            callee: function(view, breaker.arc.callee),
            members_left: breaker.members_left,
            is_best: breaker.is_best,
        }),
    }
}

#[derive(Serialize)]
struct Near<'r> {
    #[serde(flatten)]
    function: Function<'r>,
    distance: usize,
    calls: Option<Cost>,
    cost: ShownCosts<'r>,
    via: Option<&'r str>,
    inner: bool,
}

fn neighbour(view: &View<'_>, row: &Neighbour, out: &mut dyn Write) -> io::Result<()> {
    let near = Near {
        function: function(view, row.function),
        distance: row.distance,
        calls: row.via.is_none().then_some(row.count),
        cost: ShownCosts(view, &row.costs),
        via: row.via.map(|via| view.subject(via).name()),
        inner: row.is_inner,
    };
    Ok(serde_json::to_writer(out, &near)?)
}

#[derive(Serialize)]
struct Line<'r> {
    file: &'r str,
    line: Option<u64>,
    addresses: Option<[u64; 2]>,
    #[serde(rename = "self")]
    self_costs: ShownCosts<'r>,
    inclusive: ShownCosts<'r>,
    calls: Vec<Called<'r>>,
}

#[derive(Serialize)]
struct Called<'r> {
    #[serde(flatten)]
    function: Function<'r>,
    calls: Cost,
    cost: ShownCosts<'r>,
    inner: bool,
}

fn called<'r>(view: &'r View<'_>, call: &'r CallRow) -> Called<'r> {
    Called {
        function: function(view, call.callee),
        calls: call.count,
        cost: ShownCosts(view, &call.costs),
        inner: call.is_inner,
    }
}

fn line(view: &View<'_>, row: &HotLine, out: &mut dyn Write) -> io::Result<()> {
    let line = Line {
        file: &row.file,
        line: row.line,
        addresses: row.addresses.map(|(from, to)| [from, to]),
        self_costs: ShownCosts(view, &row.self_costs),
        inclusive: ShownCosts(view, &row.inclusive),
        calls: row.calls.iter().map(|call| called(view, call)).collect(),
    };
    Ok(serde_json::to_writer(out, &line)?)
}

#[derive(Serialize)]
struct PartCosts<'r> {
    name: &'r str,
    #[serde(rename = "self")]
    self_costs: ShownCosts<'r>,
    inclusive: ShownCosts<'r>,
    calls: Cost,
}

fn part(view: &View<'_>, row: &PartRow, out: &mut dyn Write) -> io::Result<()> {
    let part = PartCosts {
        name: &row.name,
        self_costs: ShownCosts(view, &row.self_costs),
        inclusive: ShownCosts(view, &row.inclusive),
        calls: row.calls,
    };
    Ok(serde_json::to_writer(out, &part)?)
}
