//! The answer for programs. Its shape is promised by `docs/schema/diff.schema.json`.

use std::io::{self, Write};

use gristmill_profile::compare::{
    Cause, Change, Comparison, Explanation, JoinedByRule, JoinedId, MoveKind, PresenceCounts, Resemblance,
    Sample, Side, Unlike, UnlikeKind,
};
use serde::ser::{Serialize, SerializeMap as _, SerializeStruct as _, Serializer};

use super::csv::presence;
use super::notes::warning;
use super::{Diff, DiffRow, FunctionDiff, LineDiff, sentence, shown_name};
use crate::columns::EventColumn;
use crate::json::{Event, write_rows};

/// So many callers are told for each function: those from which calls changed most.
const CALLERS: usize = 5;

/// Writes one object, a function on each line.
pub(super) fn write(diff: &Diff<'_, '_>, out: &mut dyn Write) -> io::Result<()> {
    write_head(diff, out)?;
    let PresenceCounts { both, vanished, new } = diff.comparison.presence_counts();
    write!(out, ",\n\"on_both\":{both},\"vanished\":{vanished},\"new\":{new},\"all\":{}", diff.all)?;
    let remainder: Vec<i128> = (0..diff.events.len()).map(|event| diff.remainder(event)).collect();
    write!(out, ",\n\"remainder\":")?;
    serde_json::to_writer(&mut *out, &Costs(&diff.events, &remainder))?;
    write!(out, ",\n\"causes\":[")?;
    let column = diff.leading();
    write_rows(diff.causes.iter().map(|cause| OneCause(diff.comparison, cause, column)), out)?;
    let others = diff.other_causes.len();
    let effect: i128 = diff.other_causes.iter().map(|cause| cause.effect).sum();
    write!(out, "],\n\"other_causes\":{{\"number\":{others},\"effect\":{effect}}}")?;
    write!(out, ",\n\"rest\":{{\"functions\":{},\"self\":", diff.rest.rows)?;
    serde_json::to_writer(&mut *out, &Costs(&diff.events, &diff.rest.self_costs))?;
    write!(out, "}},\n\"functions\":[")?;
    write_rows(diff.rows.iter().map(|row| Row(diff, row)), out)?;
    out.write_all(b"\n]}\n")
}

/// Writes the members that say what is compared; others follow.
fn write_head(diff: &Diff<'_, '_>, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "{{\"event_types\":")?;
    let names: Vec<&str> = diff.events.iter().map(|event| event.name.as_str()).collect();
    serde_json::to_writer(&mut *out, &names)?;
    write!(out, ",\n\"events\":")?;
    serde_json::to_writer(&mut *out, &diff.events.iter().map(Event).collect::<Vec<_>>())?;
    for (key, side) in [("base", Side::Base), ("new", Side::New)] {
        let runs: Vec<Vec<&str>> = diff
            .comparison
            .runs(side)
            .map(|profile| profile.inputs().iter().map(|input| input.name.as_str()).collect())
            .collect();
        write!(out, ",\n\"{key}_runs\":")?;
        serde_json::to_writer(&mut *out, &runs)?;
    }
    let totals: Vec<Change> = (0..diff.events.len()).map(|event| diff.total(event)).collect();
    write!(out, ",\n\"totals\":")?;
    serde_json::to_writer(&mut *out, &Changes(&diff.events, &totals))?;
    write!(out, ",\n\"environment\":")?;
    serde_json::to_writer(&mut *out, &diff.environment.iter().map(OneUnlike).collect::<Vec<_>>())?;
    write!(out, ",\n\"joined\":")?;
    let joins: Vec<Join<'_, '_>> = diff.joins.iter().map(|join| Join(diff.comparison, join)).collect();
    serde_json::to_writer(&mut *out, &joins)?;
    write!(out, ",\n\"directories\":[")?;
    for (nth, checkout) in diff.comparison.checkouts().iter().enumerate() {
        let [base, new] =
            [&checkout.base, &checkout.new].map(|path| String::from_utf8_lossy(path).into_owned());
        write!(out, "{}", if nth == 0 { "" } else { "," })?;
        serde_json::to_writer(
            &mut *out,
            &serde_json::json!({ "base": base, "new": new, "paths": checkout.paths }),
        )?;
    }
    write!(out, "]")
}

/// Costs by the names of event types.
struct Costs<'r>(&'r [EventColumn], &'r [i128]);

impl Serialize for Costs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.1.len()))?;
        for (event, cost) in self.0.iter().zip(self.1) {
            map.serialize_entry(&event.name, cost)?;
        }
        map.end()
    }
}

/// Changes by the names of event types.
struct Changes<'r>(&'r [EventColumn], &'r [Change]);

impl Serialize for Changes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.1.len()))?;
        for (event, change) in self.0.iter().zip(self.1) {
            map.serialize_entry(&event.name, &OneChange(*change))?;
        }
        map.end()
    }
}

struct OneChange(Change);

impl Serialize for OneChange {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let OneChange(change) = self;
        let has_spread = change.base.spread() > 0 || change.new.spread() > 0;
        let mut map = serializer.serialize_struct("Change", if has_spread { 6 } else { 3 })?;
        map.serialize_field("base", &change.base.median)?;
        map.serialize_field("new", &change.new.median)?;
        map.serialize_field("change", &change.delta())?;
        // Of one run on each side there is no more to say.
        if has_spread {
            let range = |sample: Sample| [sample.min, sample.max];
            map.serialize_field("base_range", &range(change.base))?;
            map.serialize_field("new_range", &range(change.new))?;
            map.serialize_field("noise", &change.is_noise())?;
        }
        map.end()
    }
}

struct OneUnlike<'r>(&'r Unlike);

impl Serialize for OneUnlike<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let OneUnlike(unlike) = self;
        let mut map = serializer.serialize_struct("Unlike", 4)?;
        let kind = match &unlike.kind {
            UnlikeKind::Events => "events",
            UnlikeKind::Producer => "producer",
            UnlikeKind::Version => "version",
            UnlikeKind::Command => "command",
            UnlikeKind::Description(_) => "description",
            UnlikeKind::Positions => "positions",
            UnlikeKind::Functions => "functions",
            _ => "other",
        };
        map.serialize_field("kind", kind)?;
        map.serialize_field("base", &unlike.base)?;
        map.serialize_field("new", &unlike.new)?;
        map.serialize_field("text", &warning(unlike))?;
        map.end()
    }
}

struct Join<'r, 'p>(&'r Comparison<'p>, &'r JoinedByRule);

impl Serialize for Join<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Join(comparison, join) = self;
        let name = |mention: Option<gristmill_profile::compare::Mention<'_>>| {
            mention.map(|mention| String::from_utf8_lossy(mention.name).into_owned())
        };
        let mut map = serializer.serialize_struct("Join", 4)?;
        map.serialize_field("rule", join.rule.name())?;
        map.serialize_field("functions", &join.functions)?;
        map.serialize_field("example_base", &name(comparison.in_base(join.example)))?;
        map.serialize_field("example_new", &name(comparison.in_new(join.example)))?;
        map.end()
    }
}

/// A function as others refer to it.
struct Named<'r, 'p>(&'r Comparison<'p>, JoinedId);

impl Serialize for Named<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mention = self.0.mention(self.1);
        let mut map = serializer.serialize_struct("Named", 2)?;
        map.serialize_field("name", &shown_name(mention))?;
        map.serialize_field("file", &String::from_utf8_lossy(mention.file))?;
        map.end()
    }
}

struct OneCause<'r, 'p>(&'r Comparison<'p>, &'r Explanation, usize);

/// A function with its part of an effect.
struct Part<'r, 'p>(&'r Comparison<'p>, JoinedId, i128);

impl Serialize for Part<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_struct("Part", 2)?;
        map.serialize_field("function", &Named(self.0, self.1))?;
        map.serialize_field("effect", &self.2)?;
        map.end()
    }
}

impl Serialize for OneCause<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let OneCause(comparison, explanation, column) = self;
        let (kind, function, caller) = match &explanation.cause {
            Cause::Moved { kind: MoveKind::Inlined, function, .. } => ("inlined", *function, None),
            Cause::Moved { kind: MoveKind::Outlined, function, .. } => ("outlined", *function, None),
            Cause::Calls { caller, callee, .. } => ("calls", *callee, Some(*caller)),
            Cause::PerCall { function } => ("per-call", *function, None),
            Cause::SelfCost { function } => ("self-cost", *function, None),
            Cause::New { function, caller } => ("new", *function, *caller),
            Cause::Vanished { function, caller } => ("vanished", *function, *caller),
        };
        let mut map = serializer.serialize_struct("Cause", 9)?;
        map.serialize_field("kind", kind)?;
        map.serialize_field("effect", &explanation.effect)?;
        map.serialize_field("size", &explanation.size())?;
        map.serialize_field("noise", &explanation.is_noise)?;
        map.serialize_field("text", &sentence(comparison, explanation, *column, usize::MAX))?;
        map.serialize_field("function", &Named(comparison, function))?;
        map.serialize_field("caller", &caller.map(|caller| Named(comparison, caller)))?;
        let count = match &explanation.cause {
            Cause::Calls { count, .. } => Some(OneChange(*count)),
            _ => None,
        };
        map.serialize_field("calls", &count)?;
        let parts: Vec<Part<'_, '_>> = explanation
            .functions
            .iter()
            .map(|&(function, effect)| Part(comparison, function, effect))
            .collect();
        map.serialize_field("functions", &parts)?;
        map.end()
    }
}

struct Row<'r, 'c, 'p>(&'r Diff<'c, 'p>, &'r DiffRow);

/// Calls from one caller.
struct Caller<'r, 'p>(&'r Comparison<'p>, JoinedId, Change);

impl Serialize for Caller<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_struct("Caller", 2)?;
        map.serialize_field("function", &Named(self.0, self.1))?;
        map.serialize_field("calls", &OneChange(self.2))?;
        map.end()
    }
}

struct OneResemblance<'r>(&'r Resemblance);

impl Serialize for OneResemblance<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let OneResemblance(why) = self;
        let mut map = serializer.serialize_struct("Resemblance", 4)?;
        map.serialize_field("same_file", &why.same_file)?;
        map.serialize_field("similar_name", &why.similar_name)?;
        map.serialize_field("common_callers", &why.common_callers)?;
        map.serialize_field("callers", &why.callers)?;
        map.end()
    }
}

impl Serialize for Row<'_, '_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Row(diff, row) = self;
        let comparison = diff.comparison;
        let mut map = serializer.serialize_struct("Function", 12)?;
        map.serialize_field("name", &row.name)?;
        map.serialize_field("base_name", &row.base_name)?;
        map.serialize_field("file", &row.file)?;
        map.serialize_field("object", &row.object)?;
        map.serialize_field("on", presence(row.presence))?;
        map.serialize_field("self", &Changes(&diff.events, &row.self_costs))?;
        map.serialize_field("inclusive", &Changes(&diff.events, &row.inclusive))?;
        if row.is_upper_bound {
            map.serialize_field("inclusive_is_upper_bound", &true)?;
        }
        map.serialize_field("calls", &OneChange(row.calls))?;
        let mut callers: Vec<_> = row
            .function
            .iter()
            .flat_map(|&function| comparison.incoming(function))
            .map(|arc| comparison.arcs()[arc])
            .filter(|arc| !arc.count.is_none())
            .collect();
        callers.sort_by_key(|arc| (std::cmp::Reverse(arc.count.delta().abs()), arc.caller));
        callers.truncate(CALLERS);
        let callers: Vec<Caller<'_, '_>> =
            callers.iter().map(|arc| Caller(comparison, arc.caller, arc.count)).collect();
        map.serialize_field("callers", &callers)?;
        let rules = row.function.map(|function| comparison.joined_by(function));
        let rules: Vec<&str> = rules.iter().flat_map(|rules| rules.iter()).map(|rule| rule.name()).collect();
        map.serialize_field("joined_by", &rules)?;
        let renamed = row.function.and_then(|function| comparison.renamed(function));
        map.serialize_field("renamed", &renamed.map(OneResemblance))?;
        map.end()
    }
}

/// Writes the lines of a function.
pub(super) fn write_function(of: &FunctionDiff<'_, '_>, out: &mut dyn Write) -> io::Result<()> {
    write_head(of.diff, out)?;
    write!(out, ",\n\"function\":")?;
    serde_json::to_writer(&mut *out, &Row(of.diff, &of.row))?;
    write!(out, ",\n\"lines\":[")?;
    write_rows(of.lines.iter().map(|line| OneLine(of, line)), out)?;
    out.write_all(b"\n]}\n")
}

struct OneLine<'r, 'c, 'p>(&'r FunctionDiff<'c, 'p>, &'r LineDiff);

/// Calls made by a line.
struct Called<'r, 'c, 'p>(&'r FunctionDiff<'c, 'p>, &'r (JoinedId, Change, Vec<Change>));

impl Serialize for Called<'_, '_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Called(function, (callee, count, costs)) = self;
        let mut map = serializer.serialize_struct("Called", 3)?;
        map.serialize_field("function", &Named(function.diff.comparison, *callee))?;
        map.serialize_field("calls", &OneChange(*count))?;
        map.serialize_field("inclusive", &Changes(&function.diff.events, costs))?;
        map.end()
    }
}

impl Serialize for OneLine<'_, '_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let OneLine(function, line) = self;
        let mut map = serializer.serialize_struct("Line", 6)?;
        map.serialize_field("file", &line.file)?;
        map.serialize_field("base_line", &line.base_line)?;
        map.serialize_field("new_line", &line.new_line)?;
        map.serialize_field("source", &line.source)?;
        map.serialize_field("self", &Changes(&function.diff.events, &line.costs))?;
        let calls: Vec<Called<'_, '_, '_>> = line.calls.iter().map(|call| Called(function, call)).collect();
        map.serialize_field("calls", &calls)?;
        map.end()
    }
}
