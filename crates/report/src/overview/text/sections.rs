//! The lists of the first screen, with what people see of them.

use gristmill_format::{Cost, FunctionName};
use gristmill_output::wrap;
use gristmill_output::{Cell, grouped, percent, printable};
use gristmill_profile::symbol::Fitted;

use crate::amount::estimate_mark;
use crate::call_count::CallCount;
use crate::functions::FunctionRow;
use crate::names::{NameRow, fitted, fitted_paths, short, whole};
use crate::overview::{CallPath, Overview, PathEnd, PathStep};
use crate::path::UNKNOWN;
use crate::shares::ShareRow;
use crate::view::{LeftOut, SubjectId};

/// The steps of the path that are shown.
const MAX_STEPS: usize = 8;
/// The objects, files, threads or parts that are shown.
const MAX_SHARES: usize = 5;
/// The columns of a name in a sentence of a document, whose width is not known.
pub(super) const NAME_IN_SENTENCES: usize = 40;

/// A list under its title.
pub(super) struct Section {
    pub(super) title: String,
    pub(super) cost_title: &'static str,
    pub(super) lines: Vec<Line>,
    /// A sentence below the list.
    pub(super) remark: Option<String>,
}

/// A line of a list.
#[derive(Debug, Clone, Default)]
pub(super) struct Line {
    pub(super) costs: Vec<Cost>,
    pub(super) is_estimate: bool,
    pub(super) calls: Option<CallCount>,
    /// The text before the name.
    pub(super) lead: &'static str,
    pub(super) name: String,
    /// The text after the name, which is never left out.
    pub(super) tail: String,
    pub(super) file: String,
    pub(super) object: String,
    /// `true` if the name is a path: its end says the most.
    pub(super) is_path: bool,
    /// The identity of the function, if it is one.
    pub(super) id: Option<usize>,
    /// The end of the recorded name that `name` leaves out.
    pub(super) left_out: LeftOut,
}

impl Line {
    fn of_function(row: &FunctionRow) -> Self {
        Line {
            costs: row.self_costs.to_vec(),
            calls: Some(row.calls),
            name: row.name.clone(),
            file: row.file.clone(),
            object: row.object.clone(),
            id: row.id.map(SubjectId::index),
            left_out: row.left_out.clone(),
            ..Line::default()
        }
    }

    fn of_step(step: &PathStep, lead: &'static str) -> Self {
        let (tail, is_function) = match step.cycle {
            Some(cycle) => {
                (format!(" and {} more: cycle {cycle}", grouped(step.members.saturating_sub(1))), false)
            }
            None => (String::new(), true),
        };
        let place = |path: &String| if is_function { path.clone() } else { String::new() };
        Line {
            costs: step.inclusive.to_vec(),
            is_estimate: step.is_estimate,
            calls: Some(step.calls).filter(|calls| calls.recorded() > 0 || calls.has_inlined()),
            lead,
            name: step.name.clone(),
            tail,
            file: place(&step.file),
            object: place(&step.object),
            is_path: false,
            id: step.id.map(SubjectId::index),
            left_out: None,
        }
    }

    fn of_share(row: &ShareRow, is_path: bool) -> Self {
        let name = if row.name.is_empty() { UNKNOWN.to_owned() } else { row.name.clone() };
        Line { costs: row.self_costs.to_vec(), name, is_path, ..Line::default() }
    }

    pub(super) fn shown_calls(&self) -> String {
        self.calls.map_or_else(String::new, |calls| calls.text())
    }
}

impl Section {
    /// The names of the lines and, as far as the width allows, file and object.
    pub(super) fn names(&self, columns: usize) -> Vec<Cell> {
        if self.lines.iter().any(|line| line.is_path) {
            let names: Vec<_> = self.lines.iter().map(|line| printable(line.name.as_bytes())).collect();
            let paths: Vec<&str> = names.iter().map(|name| &**name).collect();
            return fitted_paths(&paths, columns).into_iter().map(Cell::new).collect();
        }
        let rows = self.lines.iter().enumerate().map(|(nth, line)| {
            let taken = wrap::columns(line.lead) + wrap::columns(&line.tail);
            let room = if columns == usize::MAX { columns } else { columns.saturating_sub(taken) };
            // Lines that are not about a function differ by their numbers.
            let id = line.id.unwrap_or(usize::MAX - nth);
            NameRow::new(id, &line.name, room)
                .leaving_out(line.left_out.as_deref().unwrap_or_default())
                .at(line.file.as_bytes(), line.object.as_bytes())
        });
        let cell = |(mut fitted, line): (Fitted, &Line)| {
            let whole = whole(&line.name);
            let is_whole = fitted.name == whole;
            fitted.name = format!("{}{}{}", line.lead, fitted.name, line.tail);
            Cell { whole: (!is_whole).then_some(whole), ..Cell::new(fitted.to_string()) }
        };
        fitted(rows).into_iter().zip(&self.lines).map(cell).collect()
    }
}

impl Overview {
    /// The lists for people: the first rows of each, with sentences whose names have these columns.
    pub(super) fn sections(&self, name_columns: usize) -> Vec<Section> {
        let mut sections = vec![self.hottest_section()];
        sections.extend(self.path.as_ref().map(|path| self.path_section(path, name_columns)));
        let known =
            |rows: &[ShareRow]| rows.iter().filter(|row| !row.name.is_empty() && row.name != UNKNOWN).count();
        if known(&self.shares.objects) > 1 {
            sections.push(self.shares_section("Objects", &self.shares.objects, true));
        } else if known(&self.shares.files) > 1 {
            sections.push(self.shares_section("Source files", &self.shares.files, true));
        }
        if !self.shares.threads.is_empty() {
            sections.push(self.shares_section("Threads", &self.shares.threads, false));
        }
        if !self.shares.parts.is_empty() {
            sections.push(self.shares_section("Parts", &self.shares.parts, false));
        }
        sections.retain(|section| !section.lines.is_empty());
        sections
    }

    /// The rows of all lists, each with the name of its list, for programs.
    pub(super) fn all_lines(&self) -> impl Iterator<Item = (&'static str, Line)> {
        let hottest = self.hottest.iter().map(|row| ("hottest", Line::of_function(row)));
        let steps = self.path.iter().flat_map(|path| &path.steps);
        let steps = steps.map(|step| ("path", Line::of_step(step, "")));
        let shares = [
            ("object", &self.shares.objects),
            ("file", &self.shares.files),
            ("thread", &self.shares.threads),
            ("part", &self.shares.parts),
        ];
        let shares = shares
            .into_iter()
            .flat_map(|(list, rows)| rows.iter().map(move |row| (list, Line::of_share(row, false))));
        hottest.chain(steps).chain(shares)
    }

    fn hottest_section(&self) -> Section {
        let shown: Cost = self.hottest.iter().map(|row| row.self_costs[0]).sum();
        let share = percent(shown, self.head.totals[0]);
        let title = match (self.function_count == self.hottest.len(), share.as_str()) {
            (false, share) if !matches!(share, "" | "0.0%") => {
                format!(
                    "Hottest functions ({} of {} with {share})",
                    self.hottest.len(),
                    grouped(self.function_count)
                )
            }
            _ => "Hottest functions".to_owned(),
        };
        // Functions without a cost are not hot, unless all costs are below zero.
        let has_hot = self.hottest.iter().any(|row| row.self_costs[0] > 0);
        let lines =
            self.hottest.iter().filter(|row| !has_hot || row.self_costs[0] != 0).map(Line::of_function);
        let remark = self
            .is_cut
            .then(|| "there is no memory for more; gristmill functions --format csv has them all".to_owned());
        Section { title, cost_title: "Self", lines: lines.collect(), remark }
    }

    fn path_section(&self, path: &CallPath, name_columns: usize) -> Section {
        let steps = after_start_up(&path.steps);
        let mut before = None;
        let lines = shown_steps(steps).into_iter().map(|nth| {
            let lead = match before.replace(nth) {
                None => "",
                Some(before) if before + 1 == nth => "→ ",
                Some(_) => "→ … → ",
            };
            Line::of_step(&steps[nth], lead)
        });
        Section {
            title: "Most expensive path of calls".to_owned(),
            cost_title: "Inclusive",
            lines: lines.collect(),
            remark: self.end_of(path, name_columns),
        }
    }

    /// The sentence that says why the path ends.
    fn end_of(&self, path: &CallPath, name_columns: usize) -> Option<String> {
        let total = self.head.totals[0];
        let shares = || {
            let share = |step: &PathStep| {
                let sign = estimate_mark(step.is_estimate);
                format!("{} {sign}{}", short(&step.name, name_columns), percent(step.inclusive[0], total))
            };
            path.branches.iter().map(share).collect::<Vec<_>>().join(", ")
        };
        Some(match path.end {
            PathEnd::Leaf => return None,
            PathEnd::SelfCost if path.has_other_calls => {
                format!("its own code costs more than any callee: {}", shares())
            }
            PathEnd::SelfCost => {
                let own = path.steps.last().map_or(0, |step| step.self_costs[0]);
                format!("its own code costs {}, more than any callee: {}", percent(own, total), shares())
            }
            PathEnd::Branches => format!("no callee costs half of it: {}", shares()),
            PathEnd::Length => "the path goes on; gristmill tree follows it".to_owned(),
            PathEnd::Cycle => format!("they call each other; the hottest are {}", shares()),
        })
    }

    fn shares_section(&self, title: &str, rows: &[ShareRow], is_path: bool) -> Section {
        // A last row for a single one would take as much space as that one.
        let shown = if rows.len() == MAX_SHARES + 1 { rows.len() } else { MAX_SHARES };
        // Those that would read 0.0% say little, and a single one takes a row in any case.
        let total = self.head.totals[0].abs();
        let visible = rows.iter().filter(|row| row.self_costs[0].abs() * 2000 >= total).count();
        let shown = if visible + 1 < rows.len() { shown.min(visible) } else { shown };
        // Those are in the order of the files, and the most expensive of them are shown.
        let mut by_cost: Vec<usize> = (0..rows.len()).collect();
        by_cost.sort_by_key(|&nth| std::cmp::Reverse(rows[nth].self_costs[0]));
        by_cost.truncate(shown);
        by_cost.sort_unstable();
        let mut lines: Vec<Line> = by_cost.iter().map(|&nth| Line::of_share(&rows[nth], is_path)).collect();
        if rows.len() > shown {
            let rest = |column: usize, total: Cost| {
                total - lines.iter().map(|line| line.costs[column]).sum::<Cost>()
            };
            let costs =
                self.head.totals.iter().enumerate().map(|(column, &total)| rest(column, total)).collect();
            let name = format!("{} others", grouped(rows.len() - shown));
            lines.push(Line { costs, name, ..Line::default() });
        }
        Section { title: title.to_owned(), cost_title: "Self", lines, remark: None }
    }
}

/// Returns the steps without those that start the program or a thread, also where `main` is among them, as in Rust.
fn after_start_up(steps: &[PathStep]) -> &[PathStep] {
    let Some(last) = steps.iter().rposition(|step| step.is_start_up) else { return steps };
    // What a runtime calls to call `main`.
    let is_passed = |step: &&PathStep| step.name.starts_with("core::ops::function::FnOnce::call_once");
    let first = last + 1 + steps[last + 1..].iter().take_while(is_passed).count();
    let cost = |nth: usize| steps.get(nth).map_or(0, |step| step.inclusive[0]);
    if first < steps.len() && cost(first) * 10 >= cost(0) * 9 {
        return &steps[first..];
    }
    let first = steps.iter().position(|step| !step.is_start_up).unwrap_or(0);
    &steps[first..]
}

/// Chooses the steps to show: the first, the last, and those between at which most of the cost goes another way.
fn shown_steps(steps: &[PathStep]) -> Vec<usize> {
    let base = |nth: usize| FunctionName::parse(steps[nth].name.as_bytes()).base();
    // Of the levels of a recursion the first and the last.
    let is_between = |nth: usize| base(nth - 1) == base(nth) && base(nth) == base(nth + 1);
    let last = steps.len().saturating_sub(1);
    let mut between: Vec<usize> = (1..last).filter(|&nth| !is_between(nth)).collect();
    if between.len() + 2 <= MAX_STEPS {
        return (0..steps.len()).filter(|nth| *nth == 0 || *nth == last || between.contains(nth)).collect();
    }
    let lost = |nth: usize| steps[nth].inclusive[0] - steps[nth + 1].inclusive[0];
    // The deepest of equals: it is nearer to the cost.
    between.sort_by_key(|&nth| std::cmp::Reverse((lost(nth), nth)));
    between.truncate(MAX_STEPS - 2);
    between.extend([0, last]);
    between.sort_unstable();
    between
}
