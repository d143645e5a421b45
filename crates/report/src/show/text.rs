//! The printers of the report on one function.

use std::io::{self, Write};

use gristmill_format::Cost;
use gristmill_output::{
    Cell, Column, Look, Table, csv, grouped, json, lossy, markdown, percent_number, printable, wrap,
};

use super::sections::Form;
use super::{CycleSummary, Show};
use crate::amount::{NOTE_BELOW_0, estimate_mark};
use crate::path::UNKNOWN;
use crate::report::Report;

/// The width of Markdown, which does not know where it is shown.
const MARKDOWN_WIDTH: usize = 120;

impl Report for Show {
    fn write_text(&self, look: &Look, out: &mut dyn Write) -> io::Result<()> {
        self.head.write_text(look, out)?;
        writeln!(out)?;
        // The whole name, also if it is longer than a line.
        writeln!(out, "{}", look.bold(&self.title()))?;
        for line in self.definition() {
            writeln!(out, "  {line}")?;
        }
        writeln!(out)?;
        self.totals().write_text(look, out)?;
        for line in self.calls() {
            wrap::write(out, &line, look.width, 2)?;
        }
        for section in self.sections(look, Form::Text) {
            writeln!(out)?;
            for line in wrap::wrap(&section.title, look.width) {
                writeln!(out, "{}", look.bold(line))?;
            }
            if !section.table.rows.is_empty() {
                section.table.write_text(look, out)?;
            }
            for line in section.below {
                wrap::write_dim(out, &line, look, 2)?;
            }
        }
        Ok(())
    }

    fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        json::write(self, out)
    }

    /// Writes tables in Markdown.
    fn write_markdown(&self, out: &mut dyn Write) -> io::Result<()> {
        self.head.write_markdown(out)?;
        writeln!(out, "\n## {}\n", markdown::escaped(&self.title()))?;
        markdown::write_lines(&self.definition(), out)?;
        markdown::write_lines(&self.calls(), out)?;
        writeln!(out)?;
        self.totals().write_markdown(out)?;
        let look = Look { has_full_names: false, ..Look::plain(MARKDOWN_WIDTH) };
        for section in self.sections(&look, Form::Markdown) {
            writeln!(out, "\n### {}\n", markdown::escaped(&section.title))?;
            if !section.table.rows.is_empty() {
                section.table.write_markdown(out)?;
            }
            for line in section.below {
                writeln!(out, "\n{}", markdown::escaped(&line))?;
            }
        }
        Ok(())
    }

    /// Writes callers and callees as comma-separated values with exact numbers.
    fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut titles = ["relation", "distance", "calls"].map(str::to_owned).to_vec();
        titles.extend(self.head.events.iter().map(|event| format!("cost {}", event.name)));
        titles.extend(["name", "file", "object", "via"].map(str::to_owned));
        titles.extend(self.has_attribution.then(|| "cost estimated".to_owned()));
        csv::write_line(titles.iter().map(String::as_str), out)?;
        for (relation, list) in [
            ("caller", &self.callers),
            ("callee", &self.callees),
            ("far caller", &self.far_callers),
            ("far callee", &self.far_callees),
        ] {
            for row in &list.rows {
                let calls = row.calls.for_programs();
                let mut numbers = vec![row.distance.to_string(), calls];
                numbers.extend(row.cost.iter().map(Cost::to_string));
                let paths = [&row.function.file, &row.function.object].map(|path| lossy(path));
                let texts =
                    [&row.function.name, &paths[0], &paths[1], row.via.as_deref().unwrap_or_default()];
                let numbers = numbers.iter().map(String::as_str);
                let estimate = self.has_attribution.then_some(if row.is_estimate { "yes" } else { "no" });
                csv::write_line([relation].into_iter().chain(numbers).chain(texts).chain(estimate), out)?;
            }
        }
        Ok(())
    }
}

impl Show {
    fn title(&self) -> String {
        let cycle = self.cycle.as_ref().map(|cycle| format!(" [cycle {}]", cycle.number));
        format!("{}{}", self.function.printable_name(), cycle.unwrap_or_default())
    }

    /// The file and the object of the function.
    fn definition(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (what, path) in [("file  ", &self.function.file), ("object", &self.function.object)] {
            if !path.is_empty() && path != UNKNOWN.as_bytes() {
                lines.push(format!("{what}  {}", printable(path)));
            }
        }
        if self.folded > 1 {
            lines.push(format!("{} functions of the profile, folded into one", grouped(self.folded)));
        }
        lines
    }

    /// Inclusive and self cost, an event type on each line.
    fn totals(&self) -> Table {
        let columns = vec![
            Column::text("Event"),
            Column::number("Inclusive"),
            Column::number("%"),
            Column::number("Self"),
            Column::number("%"),
        ];
        let rows = self.head.events.iter().enumerate().map(|(nth, event)| {
            let mut cells = vec![Cell::new(printable(event.name.as_bytes()))];
            let bound = match (self.is_upper_bound, self.is_inclusive_estimate) {
                (true, _) => "≤",
                (false, true) => "~",
                (false, false) => "",
            };
            let own = estimate_mark(self.is_self_estimate);
            for (cost, sign) in [(self.inclusive[nth], bound), (self.self_costs[nth], own)] {
                cells.push(Cell::number(cost, format!("{sign}{}", event.unit.show(cost))));
                cells.push(Cell::new(percent_number(cost, self.head.totals[nth])));
            }
            cells
        });
        Table { columns, rows: rows.collect() }
    }

    /// The inclusive costs of a member and of its cycle, and what they are made of. The first event type stands for all.
    fn costs_in_words(&self, cycle: &CycleSummary) -> [String; 2] {
        let event = &self.head.events[0];
        let show = |cost: Cost, is_estimate: bool| {
            format!("{}{}", estimate_mark(is_estimate), event.unit.show(cost))
        };
        let amount = |cost: Cost, is_estimate: bool| match self.head.events.len() {
            1 => show(cost, is_estimate),
            _ => format!("{} {}", show(cost, is_estimate), printable(event.name.as_bytes())),
        };
        // What is cut off at the total is less than its parts.
        let limited = |cost: Cost, whole: Cost| if cost < whole { ", limited to the total" } else { "" };
        let [own, all] = [self.self_costs[0], self.inclusive[0]];
        let calls = self.callees_sum.cost[0];
        let [cycle_own, cycle_all] = [cycle.self_costs[0], cycle.inclusive[0]];
        let cycle_calls = self.by_callees[0] - cycle_own;
        [
            format!(
                "inclusive cost {}: self cost {}, and {} by calls out of the cycle{}; calls within the cycle do not count",
                amount(all, self.is_inclusive_estimate),
                show(own, self.is_self_estimate),
                show(calls, self.callees_sum.is_estimate),
                limited(all, own + calls)
            ),
            format!(
                "the cycle costs {}: self cost {} of its {} members, and {} by their calls out of it{}",
                amount(cycle_all, cycle.is_estimate),
                show(cycle_own, cycle.is_estimate),
                grouped(cycle.members.all),
                show(cycle_calls, cycle.is_estimate),
                limited(cycle_all, self.by_callees[0])
            ),
        ]
    }

    /// The counts of callers and callees, the costs of a cycle in words, and both inclusive costs if callers and callees disagree.
    fn calls(&self) -> Vec<String> {
        let functions = |count: usize| match count {
            1 => "1 function".to_owned(),
            _ => format!("{} functions", grouped(count)),
        };
        let is_guessed = self.calls.is_guessed();
        let times = match (self.calls.exact(), self.calls.recorded()) {
            (Some(0), _) if !is_guessed => "called".to_owned(),
            (Some(1), _) if !is_guessed => "called once".to_owned(),
            (Some(_), _) => format!("called {} times", self.calls.text()),
            (None, 0) => "inlined".to_owned(),
            (None, 1) if !is_guessed => "called once, and inlined,".to_owned(),
            (None, calls) => {
                format!("called {}{} times, and inlined,", estimate_mark(is_guessed), grouped(calls))
            }
        };
        let mut line = match self.callers.all {
            0 if self.has_attribution => "nothing that is shown calls it".to_owned(),
            0 => "nothing calls it".to_owned(),
            callers => format!("{times} by {}", functions(callers)),
        };
        match self.callees.all {
            0 => line.push_str(", calls nothing"),
            callees => line.push_str(&format!(", calls {}", functions(callees))),
        }
        let mut lines = vec![line];
        lines.extend(self.has_attribution.then(|| {
            "lines and parts are left out: what they have without hidden functions or in a focus is not known".to_owned()
        }));
        lines.extend(self.is_upper_bound.then(|| self.upper_limit_note.to_owned()));
        let is_of_recursion = self.is_inclusive_estimate && !self.has_attribution;
        lines.extend(is_of_recursion.then(|| NOTE_BELOW_0.to_owned()));
        lines.extend(self.cycle.iter().flat_map(|cycle| self.costs_in_words(cycle)));
        for (nth, event) in self.head.events.iter().enumerate() {
            let by_callees = self.by_callees[nth];
            let Some(by_callers) = self.by_callers.as_ref().map(|costs| costs[nth]) else { continue };
            if by_callers != by_callees {
                let what = if self.cycle.is_some() { "its cycle cost" } else { "it cost" };
                let is_estimate = self.is_self_estimate || self.callees_sum.is_estimate;
                lines.push(format!(
                    "by its callers {what} {}{} {}, by self cost and callees {}{}",
                    estimate_mark(self.callers_sum.is_estimate),
                    event.unit.show(by_callers),
                    printable(event.name.as_bytes()),
                    estimate_mark(is_estimate || self.cycle.as_ref().is_some_and(|cycle| cycle.is_estimate)),
                    event.unit.show(by_callees)
                ));
            }
        }
        lines
    }
}
