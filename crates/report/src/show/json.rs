//! The answer for programs. Its shape is promised by `docs/schema/show.schema.json`.

use std::borrow::Cow;
use std::io::{self, Write};

use gristmill_format::Cost;
use gristmill_profile::analysis::CallArc;
use serde::Serialize;

use super::{CallRow, CycleSummary, HotLine, JumpSummary, Listed, Neighbour, PartRow, Show};
use crate::json::{CostsByName, write_rows, write_view};
use crate::view::{SubjectId, View};

/// Writes one object, a row of a list on each line.
pub(super) fn write(report: &Show<'_>, out: &mut dyn Write) -> io::Result<()> {
    let view = report.view;
    write_view(view, &report.head, out)?;
    write_member("function", &function(view, report.function), out)?;
    write_member("self", &CostsByName(view, &report.self_costs), out)?;
    write_member("inclusive", &CostsByName(view, &report.inclusive), out)?;
    write_member("calls", &report.calls, out)?;
    write_member("by_callers", &report.by_callers.as_ref().map(|costs| CostsByName(view, costs)), out)?;
    write_member("by_callees", &CostsByName(view, &report.by_callees), out)?;
    write_member("cycle", &report.cycle.as_ref().map(|cycle| circle(view, cycle)), out)?;
    let JumpSummary { jumps, conditional, taken } = report.jumps;
    write_member("jumps", &Jumps { jumps, conditional, taken }, out)?;
    for (name, list) in [
        ("callers", &report.callers),
        ("callees", &report.callees),
        ("far_callers", &report.far_callers),
        ("far_callees", &report.far_callees),
    ] {
        write_list(name, list, |row| neighbour(view, row), out)?;
    }
    write_list("lines", &report.lines, |row| line(view, row), out)?;
    write_list("by_part", &report.parts, |row| part(view, row), out)?;
    out.write_all(b"}\n")
}

fn write_member(name: &str, value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    write!(out, ",\n\"{name}\":")?;
    Ok(serde_json::to_writer(&mut *out, value)?)
}

/// Writes a list, and how long it is in whole.
fn write_list<'r, T, R: Serialize>(
    name: &str,
    list: &'r Listed<T>,
    row: impl Fn(&'r T) -> R,
    out: &mut dyn Write,
) -> io::Result<()> {
    write!(out, ",\n\"{name}\":{{\"all\":{},\"rows\":[", list.all)?;
    write_rows(list.rows.iter().map(row), out)?;
    out.write_all(b"]}")
}

#[derive(Serialize)]
struct Function<'r> {
    name: &'r str,
    file: Cow<'r, str>,
    object: Cow<'r, str>,
}

fn function<'r>(view: &'r View, id: SubjectId) -> Function<'r> {
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
    self_costs: CostsByName<'r>,
    inclusive: CostsByName<'r>,
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
    cost: CostsByName<'r>,
}

#[derive(Serialize)]
struct Breaker<'r> {
    caller: Function<'r>,
    callee: Function<'r>,
    members_left: usize,
    is_best: bool,
}

fn circle<'r>(view: &'r View, cycle: &'r CycleSummary) -> Circle<'r> {
    let entered = |(arc, costs): &'r (CallArc<SubjectId>, Vec<Cost>)| Entered {
        caller: function(view, arc.caller),
        callee: function(view, arc.callee),
        calls: arc.count,
        cost: CostsByName(view, costs),
    };
    Circle {
        number: cycle.number,
        self_costs: CostsByName(view, &cycle.self_costs),
        inclusive: CostsByName(view, &cycle.inclusive),
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
    cost: CostsByName<'r>,
    via: Option<&'r str>,
    inner: bool,
}

fn neighbour<'r>(view: &'r View, row: &'r Neighbour) -> Near<'r> {
    Near {
        function: function(view, row.function),
        distance: row.distance,
        calls: row.via.is_none().then_some(row.count),
        cost: CostsByName(view, &row.costs),
        via: row.via.map(|via| view.subject(via).name()),
        inner: row.is_inner,
    }
}

#[derive(Serialize)]
struct Line<'r> {
    file: &'r str,
    line: Option<u64>,
    addresses: Option<[u64; 2]>,
    #[serde(rename = "self")]
    self_costs: CostsByName<'r>,
    inclusive: CostsByName<'r>,
    calls: Vec<Called<'r>>,
}

#[derive(Serialize)]
struct Called<'r> {
    #[serde(flatten)]
    function: Function<'r>,
    calls: Cost,
    cost: CostsByName<'r>,
    inner: bool,
}

fn called<'r>(view: &'r View, call: &'r CallRow) -> Called<'r> {
    Called {
        function: function(view, call.callee),
        calls: call.count,
        cost: CostsByName(view, &call.costs),
        inner: call.is_inner,
    }
}

fn line<'r>(view: &'r View, row: &'r HotLine) -> Line<'r> {
    Line {
        file: &row.file,
        line: row.line,
        addresses: row.addresses.map(|(from, to)| [from, to]),
        self_costs: CostsByName(view, &row.self_costs),
        inclusive: CostsByName(view, &row.inclusive),
        calls: row.calls.iter().map(|call| called(view, call)).collect(),
    }
}

#[derive(Serialize)]
struct PartCosts<'r> {
    name: &'r str,
    #[serde(rename = "self")]
    self_costs: CostsByName<'r>,
    inclusive: CostsByName<'r>,
    calls: Cost,
}

fn part<'r>(view: &'r View, row: &'r PartRow) -> PartCosts<'r> {
    PartCosts {
        name: &row.name,
        self_costs: CostsByName(view, &row.self_costs),
        inclusive: CostsByName(view, &row.inclusive),
        calls: row.calls,
    }
}
