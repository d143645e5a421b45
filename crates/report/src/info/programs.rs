//! The programs of a profile: whether each is there, is the recorded build, and has lines.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io;

use gristmill_format::Cost;
use gristmill_output::json::{ExactInteger, exact};
use gristmill_output::{lossy, percent, printable};
use gristmill_profile::{FunctionId, ObjectId, Selection};
use schemars::JsonSchema;
use serde::Serialize;

use super::InfoReport;
use super::text::Text;
use crate::assembly::ProgramRow;
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
    /// Writes the programs, with what to do about each.
    pub(super) fn write_programs(&mut self) -> io::Result<()> {
        let Some(programs) = &self.report.programs else { return Ok(()) };
        writeln!(self.out)?;
        let total = self.report.totals().iter().next().map_or(0, |(_, total)| total);
        let mut label = "Programs";
        for InfoProgramRow { self_cost, program } in programs.iter().take(MAX_PROGRAMS) {
            let name = if program.object.is_empty() { "???" } else { &program.object };
            let share = percent(*self_cost, total);
            self.value(label, &format!("{}  {share}", printable(name.as_bytes())))?;
            label = "";
            let mut lines = vec![in_words(program)];
            lines.extend(program.hint.clone());
            for line in lines {
                self.value("", &format!("  {}", lossy(line.as_bytes())))?;
            }
        }
        match programs.len().saturating_sub(MAX_PROGRAMS) {
            0 => Ok(()),
            more => self.more(more),
        }
    }
}

/// The state of a program.
fn in_words(program: &ProgramRow) -> String {
    let agrees = format!("{} of {} facts agree", program.agreeing, program.checked);
    let state = match program.state {
        "same" => format!("the recorded build ({agrees})"),
        "uncertain" => format!("perhaps another build ({agrees})"),
        "unchecked" => "found, with nothing to compare".to_owned(),
        "other" => format!("another program ({agrees})"),
        "missing" => "not found".to_owned(),
        "unnamed" => "code that the profile does not name".to_owned(),
        _ => program.problem.clone().unwrap_or_else(|| "cannot be read".to_owned()),
    };
    let is_usable = matches!(program.state, "same" | "uncertain" | "unchecked");
    match (is_usable, program.has_lines, program.has_inlining) {
        (false, _, _) => state,
        (_, true, true) => format!("{state}; has lines and inlined functions"),
        (_, true, false) => format!("{state}; has lines, no inlined functions"),
        (_, false, _) => format!("{state}; has no lines: --debuginfo-dir DIR or --debuginfod can find them"),
    }
}
