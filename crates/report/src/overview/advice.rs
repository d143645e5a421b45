//! Commands that tell more.

use gristmill_output::shell_word;
use schemars::JsonSchema;
use serde::Serialize;

use super::OverviewOptions;
use super::call_path::{CallPath, PathEnd};
use super::queries::{Queries, Query};
use crate::functions::FunctionRow;
use crate::path::UNKNOWN;
use crate::start_up::is_loader;
use crate::view::SubjectId;

/// A command that tells more. See the example of [`Overview`](crate::Overview).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NextStep {
    /// The command, quoted for a shell.
    pub command: String,
    /// A phrase that says what it shows.
    pub about: String,
}

/// The hottest functions that are tried: the name of one may not be typed.
const MAX_TRIED: usize = 2;

/// The functions that the commands are about.
pub(super) struct Topics<'o> {
    hottest: Vec<SubjectId>,
    path: Option<&'o CallPath>,
    /// The function at the end of the path: a member of its cycle, or the last that calls something.
    end: Option<SubjectId>,
}

impl<'o> Topics<'o> {
    pub(super) fn new(hottest: &[FunctionRow], path: Option<&'o CallPath>) -> Self {
        let end = path.and_then(|path| match path.end {
            PathEnd::Cycle => path.branches.iter().find_map(|member| member.id),
            _ => {
                let steps = path.steps.iter().rev().filter(|step| !step.is_start_up);
                // The tree of a function that calls nothing has nothing to show.
                steps.skip(usize::from(path.branches.is_empty())).find_map(|step| step.id)
            }
        });
        let hottest = of_interest(hottest, path).filter_map(|row| row.id).take(MAX_TRIED).collect();
        Topics { hottest, path, end }
    }

    pub(super) fn subjects(&self) -> impl Iterator<Item = SubjectId> + '_ {
        self.hottest.iter().copied().chain(self.end)
    }

    /// Returns the commands that fit what the overview shows.
    pub(super) fn next_steps(&self, queries: &Queries<'_>, options: &OverviewOptions) -> Vec<NextStep> {
        let step = |command: Proposed<'_>, about: &str| NextStep {
            command: command.line(options),
            about: about.to_owned(),
        };
        let mut steps = Vec::new();
        let first = self.hottest.iter().find_map(|&id| queries.query(id));
        let Some(path) = self.path else {
            steps.extend(first.map(|query| step(Proposed::about("show", query), "its hottest lines")));
            // The layout of Cachegrind has no option for one function.
            let annotate = Proposed { has_rule: false, ..Proposed::new("annotate") };
            steps.push(step(annotate, "the source, line by line"));
            return steps;
        };
        if let Some(query) = first {
            steps.push(step(Proposed::about("show", query), "its callers, callees and hottest lines"));
            let mut annotate = Proposed { has_rule: false, ..Proposed::new("annotate") };
            // It shows functions as they were recorded: one that was inlined is none of them.
            if queries.has_inlined_calls() {
                steps.push(step(annotate, "the source, line by line"));
            } else {
                annotate.option = format!("--filter={}", shell_word(regex::escape(query.name()).as_bytes()));
                steps.push(step(annotate, "its source, line by line"));
            }
        }
        if let Some(end) = self.end.and_then(|end| queries.query(end)) {
            if path.end != PathEnd::Cycle {
                let option = format!("--from={}", shell_word(end.text.as_bytes()));
                let tree = Proposed { option, folds: end.folds_recursion, ..Proposed::new("tree") };
                steps.push(step(tree, "the calls below it"));
            } else if first != Some(end) {
                let about = "the cycle that it is in, and where to break it";
                steps.push(step(Proposed::about("show", end), about));
            }
        }
        let all = Proposed { option: "--sort inclusive".to_owned(), ..Proposed::new("functions") };
        steps.push(step(all, "functions by inclusive cost"));
        steps
    }
}

/// A command before its words are joined.
struct Proposed<'q> {
    command: &'static str,
    option: String,
    /// `true` to take all levels of a recursion as one.
    folds: bool,
    operand: Option<&'q str>,
    /// `true` if the command has options for inclusive costs.
    has_rule: bool,
}

impl<'q> Proposed<'q> {
    fn new(command: &'static str) -> Self {
        Proposed { command, option: String::new(), folds: false, operand: None, has_rule: true }
    }

    fn about(command: &'static str, query: &'q Query) -> Self {
        Proposed { folds: query.folds_recursion, operand: Some(&query.text), ..Proposed::new(command) }
    }

    /// The command line: the command with its options, those of the view, and the operands.
    fn line(&self, options: &OverviewOptions) -> String {
        const FOLD: &str = "--fold-recursion";
        let mut words = vec!["gristmill".to_owned(), self.command.to_owned(), self.option.clone()];
        words.push(options.selection.clone());
        if self.has_rule {
            words.push(options.rule.clone());
            words.extend((self.folds && !options.rule.contains(FOLD)).then(|| FOLD.to_owned()));
        }
        if let Some(operand) = self.operand {
            // What begins with a dash is no option.
            words.extend(operand.starts_with('-').then(|| "--".to_owned()));
            words.push(shell_word(operand.as_bytes()));
        }
        words.push(options.files.clone());
        words.retain(|word| !word.is_empty());
        words.join(" ")
    }
}

/// Orders the hottest functions by interest: first those of the program itself, if they cost nearly as much as the first, then
/// those of libraries, then those of the loader.
fn of_interest<'r>(
    hottest: &'r [FunctionRow],
    path: Option<&CallPath>,
) -> impl Iterator<Item = &'r FunctionRow> {
    let program = path.and_then(|path| path.steps.iter().find(|step| !step.is_start_up));
    let program =
        program.map(|step| step.object.as_str()).filter(|object| !object.is_empty() && *object != UNKNOWN);
    let greatest = hottest.first().map_or(0, |row| row.self_costs[0]);
    let rank = |row: &&FunctionRow| match () {
        () if is_loader(&row.object) => 2,
        () if program == Some(row.object.as_str()) && row.self_costs[0] * 3 >= greatest => 0,
        () => 1,
    };
    let mut rows: Vec<&FunctionRow> = hottest.iter().filter(|row| row.self_costs[0] > 0).collect();
    // An object can have a long path.
    rows.sort_by_cached_key(rank);
    rows.into_iter()
}
