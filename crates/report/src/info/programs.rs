//! The programs of a profile: whether each is there, is the recorded build, and has lines.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io;

use gristmill_format::Cost;
use gristmill_output::json::{ExactInteger, exact};
use gristmill_output::{Align, grouped, lossy, percent_number, printable};
use gristmill_profile::{FunctionId, ObjectId, Selection};
use schemars::JsonSchema;
use serde::Serialize;

use super::InfoReport;
use super::table::{Column, GAP, INDENT, Table};
use super::text::Text;
use crate::assembly::ProgramRow;
use crate::names::fitted_paths;
use crate::program::{FoundProgram, Programs, evidence};

/// The program of an object that has costs. See the example of [`InfoReport::with_programs`].
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "InfoProgram")]
pub struct InfoProgramRow {
    /// The self cost of its functions, for the first event type.
    #[serde(rename = "self", serialize_with = "exact")]
    #[schemars(with = "ExactInteger")]
    pub self_cost: Cost,
    /// The program.
    #[serde(flatten)]
    pub program: ProgramRow,
}

/// Programs that are shown; JSON has all of them.
const MAX_PROGRAMS: usize = 20;

impl InfoReport {
    /// Returns the same report with the programs of the objects that have costs, the most expensive first.
    ///
    /// ```
    /// use std::rc::Rc;
    ///
    /// use gristmill_profile::Profile;
    /// use gristmill_report::info::{InfoFile, InfoReport};
    /// use gristmill_report::program::{Evidence, Program, ProgramError, Programs};
    ///
    /// struct Nothing;
    ///
    /// impl Programs for Nothing {
    ///     fn get(&self, _: &[u8], _: &[Evidence<'_>]) -> Result<Rc<dyn Program>, ProgramError> {
    ///         Err(ProgramError::Missing)
    ///     }
    /// }
    ///
    /// let profile = Profile::from_bytes(b"events: Ir\nob=bin/mill\nfn=main\n1 12\n");
    /// let report = InfoReport::new(vec![InfoFile::plain("a.out".as_ref())], profile).with_programs(&Nothing);
    /// let programs = report.programs.unwrap();
    /// assert_eq!((programs[0].self_cost, programs[0].program.state), (12, "missing"));
    /// ```
    #[must_use]
    pub fn with_programs(mut self, programs: &dyn Programs) -> Self {
        let profile = &self.profile;
        let selection = Selection::default();
        let event: Vec<_> = profile.events().take(1).collect();
        let graph = profile.call_graph_of(&selection, &event);
        let mut functions: Vec<(Cost, FunctionId)> =
            profile.functions().zip(graph.nodes()).map(|(id, node)| (graph.self_cost(node)[0], id)).collect();
        functions.sort_by_key(|&(cost, id)| (Reverse(cost), id));
        let mut by_object: BTreeMap<ObjectId, (Cost, Vec<FunctionId>)> = BTreeMap::new();
        for (cost, id) in functions.into_iter().filter(|(cost, _)| *cost != 0) {
            let (sum, of_object) = by_object.entry(profile.function(id).object).or_default();
            *sum += cost;
            of_object.push(id);
        }
        let mut rows = Vec::new();
        for (object, (self_cost, functions)) in by_object {
            let name = profile.object(object);
            let evidence = evidence(profile, &selection, functions.into_iter());
            let program = ProgramRow::new(name, &FoundProgram::find(programs, name, &evidence));
            rows.push(InfoProgramRow { self_cost, program });
        }
        rows.sort_by_key(|row| Reverse(row.self_cost));
        self.programs = Some(rows);
        self
    }
}

impl Text<'_, '_> {
    /// Writes the programs as a table, and below it what to do.
    pub(super) fn write_programs(&mut self) -> io::Result<()> {
        let Some(programs) = &self.report.programs else { return Ok(()) };
        if programs.is_empty() {
            return Ok(());
        }
        writeln!(self.out)?;
        let total = self.report.totals().iter().next().map_or(0, |(_, total)| total);
        let shown = &programs[..programs.len().min(MAX_PROGRAMS)];
        let names: Vec<String> = shown
            .iter()
            .map(|row| {
                let name = if row.program.object.is_empty() { "???" } else { &row.program.object };
                printable(name.as_bytes()).into_owned()
            })
            .collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let column = |title: &str, align, cell: &dyn Fn(&InfoProgramRow) -> String| Column {
            title: title.to_owned(),
            cells: shown.iter().map(cell).collect(),
            align,
        };
        let mut columns = vec![
            column("%", Align::Right, &|row| percent_number(row.self_cost, total)),
            column("Build", Align::Left, &|row| build(&row.program).to_owned()),
            column("Agrees", Align::Left, &|row| agrees(&row.program)),
            column("Debug info", Align::Left, &|row| debug_information(&row.program).to_owned()),
        ];
        let others: usize = columns.iter().map(|column| column.width() + GAP).sum();
        let room = self.width.saturating_sub(INDENT + others);
        columns.insert(
            0,
            Column { title: "Program".to_owned(), cells: fitted_paths(&names, room), align: Align::Left },
        );
        Table { columns }.write(self.width, self.paint, self.out)?;
        self.more(programs.len() - shown.len())?;
        let advice = advice(shown.iter().map(|row| &row.program));
        if !advice.is_empty() {
            writeln!(self.out)?;
        }
        advice.iter().try_for_each(|line| self.sentence(&lossy(line.as_bytes())))
    }
}

/// The relation of a program to the one that was recorded.
fn build(program: &ProgramRow) -> &'static str {
    match program.state {
        "same" => "recorded",
        "uncertain" => "perhaps another",
        "unchecked" => "unknown",
        "other" => "another",
        "missing" => "not found",
        "unnamed" => "not named",
        _ => "cannot be read",
    }
}

/// The share of what the profile says of a program that agrees with it.
fn agrees(program: &ProgramRow) -> String {
    match program.checked {
        0 => String::new(),
        checked => format!("{} of {}", grouped(program.agreeing), grouped(checked)),
    }
}

fn debug_information(program: &ProgramRow) -> &'static str {
    match (program.found_at.is_some(), program.has_lines, program.has_inlining, program.is_stripped) {
        (false, ..) => "",
        (_, true, true, _) => "yes",
        (_, true, false, _) => "lines only",
        (_, false, _, true) => "none, stripped",
        (_, false, _, false) => "none",
    }
}

/// Advice about the programs, each sentence once.
fn advice<'p>(programs: impl Iterator<Item = &'p ProgramRow> + Clone) -> Vec<String> {
    let mut advice = Vec::new();
    let has = |state: &'static str| programs.clone().any(move |program| program.state == state);
    if ["missing", "other", "uncertain"].into_iter().any(has) {
        advice.push("--binary FROM=TO says where the recorded build of a program is.".to_owned());
    }
    if programs.clone().any(|program| program.found_at.is_some() && !program.has_lines) {
        advice.push(
            "--debuginfo-dir DIR and --debuginfod find debug information that is not beside the program."
                .to_owned(),
        );
    }
    let unreadable = programs.filter(|program| matches!(program.state, "unreadable" | "invalid"));
    advice.extend(unreadable.filter_map(|program| program.problem.clone()));
    advice
}
