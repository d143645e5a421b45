//! The report as text for a terminal.

use std::io::{self, Write};

use gristmill_format::Cost;
use gristmill_output::{Cell, Column, Look, Table, Tone, grouped, wrap};
use gristmill_profile::compare::{Change, JoinRule, PresenceCounts};
use gristmill_profile::symbol::shorten_paths;
use unicode_width::UnicodeWidthStr as _;

use super::amounts::{percent_of_share, signed, signed_percent, tone};
use super::notes::remarks;
use super::path::StepText;
use super::sentences::{SentenceName, SentenceNames};
use super::wording::MAX_RENAMED_NAME;
use super::{CauseRow, Diff, DiffHead, DiffRow, OtherCauses, safe};
use crate::grouping::Grouping;
use crate::names::{NameRow, fitted, name_in_sentences};

/// The smallest width of the names of functions.
const MIN_NAME: usize = 20;
/// The limit of renamed functions.
const MAX_RENAMES: usize = 5;

pub(super) fn write(diff: &Diff, look: &Look, out: &mut dyn Write) -> io::Result<()> {
    diff.head.write_text(look, out)?;
    writeln!(out, "{}", diff.summary())?;
    diff.write_causes(look, out)?;
    diff.write_rows(look, out)?;
    diff.write_renames(look, out)?;
    diff.write_joins(look, out)
}

impl DiffHead {
    /// Writes the names of both sides, the totals and the warnings.
    pub(super) fn write_text(&self, look: &Look, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}", look.bold(&self.title()))?;
        for event in 0..self.events.len() {
            writeln!(out, "{}", self.verdict_in_colour(event, look.painter()))?;
        }
        if let Some(unshown) = &self.unshown {
            wrap::write(out, unshown, look.width, 2)?;
        }
        for warning in self.warnings() {
            write_warning(warning, look, out)?;
        }
        Ok(())
    }
}

/// Writes a reason to doubt the numbers.
pub(super) fn write_warning(warning: &str, look: &Look, out: &mut dyn Write) -> io::Result<()> {
    let lines = wrap::hang("", &format!("warning: {warning}"), 9, look.width);
    lines.split('\n').try_for_each(|line| writeln!(out, "{}", look.painter().yellow(line)))
}

impl Diff {
    /// Returns the counts of changed, new, vanished and renamed functions as a sentence.
    pub(super) fn summary(&self) -> String {
        let changed = self.rows.len() + self.rest.rows;
        let is_of_functions = self.grouping == Grouping::Function && !self.is_filtered;
        // The noun follows the count of all, or with a filter that of the changed ones.
        let count = if self.is_filtered { changed } else { self.all };
        let (one, many) = self.grouping.nouns();
        let noun = if count == 1 { one } else { many };
        let mut text = match changed {
            changed if self.is_filtered => {
                format!("{} matching {noun} changed, of {}", grouped(changed), grouped(self.all))
            }
            0 if self.head.unshown.is_some() => {
                let events: Vec<String> = self.head.events.iter().map(|event| safe(&event.name)).collect();
                format!("none of {} {noun} changed in {}", grouped(self.all), events.join(", "))
            }
            0 => format!("none of {} {noun} changed", grouped(self.all)),
            changed => format!("{} of {} {noun} changed", grouped(changed), grouped(self.all)),
        };
        let PresenceCounts { both, vanished, new, .. } = self.changed;
        if is_of_functions && new + vanished > 0 {
            let kinds = [(new, "new"), (vanished, "vanished"), (both, "on both sides")];
            let kinds = kinds.iter().filter(|(count, _)| *count > 0);
            let kinds: Vec<String> =
                kinds.map(|(count, what)| format!("{} {what}", grouped(*count))).collect();
            text.push_str(&format!(": {}", kinds.join(", ")));
        }
        if is_of_functions && !self.renames.is_empty() {
            text.push_str(&format!("; {} may be renamed", grouped(self.renames.len())));
        }
        match self.doubtful {
            0 => {}
            1 => text.push_str("; 1 joined function may be two (--show-joined)"),
            count => {
                text.push_str(&format!(
                    "; {} joined functions may be two each (--show-joined)",
                    grouped(count)
                ));
            }
        }
        text
    }

    /// Returns a sentence in place of rows if no change is large enough.
    pub(super) fn too_small(&self) -> Option<String> {
        let is_hidden = self.rows.is_empty() && self.rest.rows > 0 && self.min > 0;
        let cost = if self.is_sorted_by_inclusive { "inclusive" } else { "self" };
        is_hidden.then(|| {
            let share = percent_of_share(self.min);
            format!("no {cost} cost changed by {share}% of the base or more (--min 0 shows what changed)")
        })
    }

    fn write_causes(&self, look: &Look, out: &mut dyn Write) -> io::Result<()> {
        let Some(event) = self.head.events.first() else { return Ok(()) };
        if self.causes.is_empty() {
            return Ok(());
        }
        let names = self.sentence_names(name_in_sentences(look));
        let steps = self.path_steps(&names);
        if !steps.is_empty() {
            writeln!(
                out,
                "\n{}",
                look.bold("Path of the greatest change (inclusive cost, % of the change)")
            )?;
            let amount = |step: &StepText| Amount {
                cost: signed(step.change, event.unit),
                share: format!("{}%", step.share),
                tone: Tone::from_change(step.change),
            };
            let amounts: Vec<Amount> = steps.iter().map(amount).collect();
            let texts: Vec<String> = steps.into_iter().map(|step| step.text).collect();
            write_amounts(&amounts, &texts, look, out)?;
        }
        writeln!(
            out,
            "\n{}",
            look.bold(&format!(
                "Causes of the change of {}, which add up to it (% of the base)",
                safe(&event.name)
            ))
        )?;
        let whole = self.head.totals[0].base.median;
        let tone_of = |cause: &CauseRow| match cause.is_noise {
            true => Tone::Plain,
            false => Tone::from_change(cause.effect),
        };
        let tones: Vec<Tone> = self.causes.iter().map(tone_of).collect();
        let mut lines: Vec<(Cost, String)> =
            self.causes.iter().map(|cause| (cause.effect, cause_text(cause, &names))).collect();
        lines.extend(smaller(self.other_causes));
        if self.remainder[0] != 0 {
            lines.push((
                self.remainder[0],
                "medians of functions do not add up to the median of the total".to_owned(),
            ));
        }
        let amount = |(nth, &(effect, _)): (usize, &(Cost, String))| Amount {
            cost: signed(effect, event.unit),
            share: format!("{}%", signed_percent(effect, whole)),
            tone: tones.get(nth).copied().unwrap_or(Tone::from_change(effect)),
        };
        let amounts: Vec<Amount> = lines.iter().enumerate().map(amount).collect();
        let texts: Vec<String> = lines.into_iter().map(|(_, sentence)| sentence).collect();
        write_amounts(&amounts, &texts, look, out)
    }

    fn write_rows(&self, look: &Look, out: &mut dyn Write) -> io::Result<()> {
        let changed = self.rows.len() + self.rest.rows;
        if changed == 0 {
            return Ok(());
        }
        writeln!(out)?;
        if let Some(sentence) = self.too_small() {
            return wrap::write(out, &sentence, look.width, 2);
        }
        let what = self.grouping.nouns().1;
        writeln!(out, "{}", look.bold(&format!("Changed {what} (% of the base)")))?;
        let mut table = self.table();
        let room = look.width.saturating_sub(table.width_before_last());
        if room < MIN_NAME {
            return self.write_stacked(look, out);
        }
        for (cells, name) in table.rows.iter_mut().zip(self.names(look.name_columns(room))) {
            if let Some(last) = cells.last_mut() {
                *last = Cell::new(name);
            }
        }
        for (nth, line) in lines_of(&table, look)?.iter().enumerate() {
            writeln!(out, "{line}")?;
            if let Some(row) = nth.checked_sub(1).and_then(|nth| self.rows.get(nth)) {
                self.write_remarks(row, look, out)?;
            }
        }
        Ok(())
    }

    /// Writes each name on a line of its own, with a line for each event type below.
    fn write_stacked(&self, look: &Look, out: &mut dyn Write) -> io::Result<()> {
        let mut columns = vec![Column::text("  "), Column::number("Self"), Column::number("%")];
        if self.head.has_calls {
            columns.extend([Column::number("Inclusive"), Column::number("%")]);
        }
        let name = |event: usize| Cell::new(format!("  {}", safe(&self.head.events[event].name)));
        let mut rows = Vec::new();
        for row in &self.rows {
            for event in 0..self.head.events.len() {
                let mut cells = vec![name(event)];
                cells.extend(self.pair_of(event, *row.self_costs[event]));
                if self.head.has_calls {
                    cells.extend(self.pair_of(event, *row.inclusive[event]));
                }
                rows.push(cells);
            }
        }
        let residue = self.residue();
        for (amounts, _) in &residue {
            for (event, amount) in amounts.iter().enumerate() {
                let mut cells = vec![name(event)];
                cells.extend(self.pair(event, *amount));
                cells.resize(columns.len(), Cell::new(""));
                rows.push(cells);
            }
        }
        // One table for all, so that columns have the same width.
        let lines = lines_of(&Table { columns, rows }, look)?;
        let mut lines = lines.iter();
        if let Some(titles) = lines.next() {
            writeln!(out, "{titles}")?;
        }
        let names = self.names(look.name_columns(look.width));
        for (row, name) in self.rows.iter().zip(names) {
            writeln!(out, "{}", look.bold(&name))?;
            lines.by_ref().take(self.head.events.len()).try_for_each(|line| writeln!(out, "{line}"))?;
            self.write_remarks(row, look, out)?;
        }
        for (_, what) in residue {
            writeln!(out, "{what}")?;
            lines.by_ref().take(self.head.events.len()).try_for_each(|line| writeln!(out, "{line}"))?;
        }
        Ok(())
    }

    fn write_remarks(&self, row: &DiffRow, look: &Look, out: &mut dyn Write) -> io::Result<()> {
        let remarks =
            remarks(&self.head, row, look.name_columns(MAX_RENAMED_NAME.max(look.width / 2))).join("; ");
        if remarks.is_empty() {
            return Ok(());
        }
        wrap::write_dim(out, &format!("    {remarks}"), look, 4)
    }

    /// Returns the names of the rows, with their source files if there is space.
    pub(super) fn names(&self, columns: usize) -> Vec<String> {
        if matches!(self.grouping, Grouping::Object | Grouping::File | Grouping::Directory) {
            let names: Vec<String> = self.rows.iter().map(|row| safe(&row.name)).collect();
            return shorten_paths(&names.iter().map(String::as_str).collect::<Vec<_>>(), columns);
        }
        let rows = self.rows.iter().enumerate();
        let rows = rows.map(|(nth, row)| {
            NameRow::new(nth, &row.name, columns).in_file(row.file.as_bytes(), row.object.as_bytes())
        });
        fitted(rows).iter().map(ToString::to_string).collect()
    }

    /// Returns short names of all functions of the path and the causes.
    pub(super) fn sentence_names(&self, columns: usize) -> SentenceNames {
        let functions = self.path.iter().flat_map(|step| [Some(&step.function), step.tie.as_ref()]);
        let steps =
            functions.flatten().map(|function| SentenceName { id: function.id, name: function.name.clone() });
        let steps: Vec<SentenceName> = steps.collect();
        let causes = self.causes.iter().flat_map(|cause| cause.sentence.names());
        SentenceNames::new(steps.iter().chain(causes), columns).with_files(&self.namesakes)
    }

    /// Returns the rows, then what is not shown, so that the changes of self costs add up to that of the total.
    pub(super) fn table(&self) -> Table {
        let several = self.head.events.len() > 1;
        let mut columns = Vec::new();
        for event in &self.head.events {
            let name = safe(&event.name);
            let title = |what: &str| if several { format!("{what} {name}") } else { what.to_owned() };
            columns.extend([Column::number(title("Self")), Column::number("%")]);
            if self.head.has_calls {
                columns.extend([Column::number(title("Inclusive")), Column::number("%")]);
            }
        }
        columns.push(Column::text(self.grouping.title()));
        let mut rows: Vec<Vec<Cell>> = self.rows.iter().map(|row| self.cells(row)).collect();
        for (amounts, what) in self.residue() {
            let mut cells = Vec::new();
            for (event, amount) in amounts.into_iter().enumerate() {
                cells.extend(self.pair(event, amount));
                if self.head.has_calls {
                    cells.extend([Cell::new(""), Cell::new("")]);
                }
            }
            cells.push(Cell::new(what));
            rows.push(cells);
        }
        Table { columns, rows }
    }

    /// Returns the costs of what is not shown, each with its description.
    pub(super) fn residue(&self) -> Vec<(Vec<Cost>, String)> {
        let mut residue = Vec::new();
        if self.rest.rows > 0 {
            let is_same = self.rest.same_self_cost == self.rest.rows && !self.rows.is_empty();
            let only = match (is_same, self.head.has_calls) {
                (true, true) => ", in inclusive cost or calls only",
                _ => "",
            };
            let reason = if self.is_cut { " (no memory for them; --format csv has all)" } else { "" };
            let text = format!("… {} more{only}{reason}", grouped(self.rest.rows));
            residue.push((self.rest.self_costs.to_vec(), text));
        }
        if self.remainder.iter().any(|&remainder| remainder != 0) {
            residue.push((self.remainder.to_vec(), "(medians do not add up)".to_owned()));
        }
        residue
    }

    fn pair(&self, event: usize, amount: Cost) -> [Cell; 2] {
        let unit = self.head.events[event].unit;
        let percent = signed_percent(amount, self.head.totals[event].base.median);
        [Cell::number(amount, signed(amount, unit)), Cell::new(percent)]
            .map(|cell| cell.toned(Tone::from_change(amount)))
    }

    /// The cells of a change on both sides.
    fn pair_of(&self, event: usize, change: Change) -> [Cell; 2] {
        self.pair(event, change.delta()).map(|cell| cell.toned(tone(change)))
    }

    fn cells(&self, row: &DiffRow) -> Vec<Cell> {
        let mut cells = Vec::new();
        for event in 0..self.head.events.len() {
            cells.extend(self.pair_of(event, *row.self_costs[event]));
            if self.head.has_calls {
                cells.extend(self.pair_of(event, *row.inclusive[event]));
            }
        }
        cells.push(Cell::new(""));
        cells
    }

    fn write_renames(&self, look: &Look, out: &mut dyn Write) -> io::Result<()> {
        if self.renames.is_empty() {
            return Ok(());
        }
        writeln!(out, "\n{}", look.bold("Perhaps renamed"))?;
        let most = if self.shows_joined { usize::MAX } else { MAX_RENAMES };
        for rename in self.renames.iter().take(most) {
            wrap::write(
                out,
                &rename.text(look.name_columns(MAX_RENAMED_NAME.max(look.width / 2))),
                look.width,
                2,
            )?;
        }
        if self.renames.len() > most {
            writeln!(out, "… {} more", grouped(self.renames.len() - most))?;
        }
        Ok(())
    }

    fn write_joins(&self, look: &Look, out: &mut dyn Write) -> io::Result<()> {
        let joins = || self.head.joined.iter().filter(|join| join.rule != JoinRule::Rename.name());
        if joins().next().is_none() {
            return Ok(());
        }
        if !self.shows_joined {
            let counts: Vec<String> =
                joins().map(|join| format!("{} {}", join.rule, grouped(join.functions))).collect();
            let line = format!(
                "\nJoined although names or paths differ, by rule: {} (--show-joined lists them)",
                counts.join(", ")
            );
            return wrap::write_dim(out, &line, look, 2);
        }
        writeln!(out, "\n{}", look.bold("Joined functions by rule (--no-rule RULE separates them)"))?;
        for join in joins() {
            // One pair is an example of itself.
            let [_, _, ..] = &join.all[..] else {
                wrap::write_dim(out, &join.text(), look, 2)?;
                continue;
            };
            wrap::write_dim(out, &format!("{} {}:", join.rule, grouped(join.functions)), look, 2)?;
            for pair in &join.all {
                wrap::write_dim(out, &format!("  {pair}"), look, 4)?;
            }
        }
        Ok(())
    }
}

/// Returns the effect and the count of causes that are not shown.
pub(super) fn smaller(others: OtherCauses) -> Option<(Cost, String)> {
    let noun = if others.count == 1 { "cause" } else { "causes" };
    (others.effect != 0).then(|| (others.effect, format!("{} smaller {noun}", grouped(others.count))))
}

/// Returns a cause as a sentence.
pub(super) fn cause_text(cause: &CauseRow, names: &SentenceNames) -> String {
    let noise = if cause.is_noise { " (noise)" } else { "" };
    format!("{}{noise}", cause.sentence.with_names(names))
}

/// A change before a sentence.
struct Amount {
    cost: String,
    share: String,
    tone: Tone,
}

/// Writes lines of a cost, a share and a text, in columns.
fn write_amounts(amounts: &[Amount], texts: &[String], look: &Look, out: &mut dyn Write) -> io::Result<()> {
    let first = amounts.iter().map(|amount| amount.cost.width()).max().unwrap_or(0);
    let second = amounts.iter().map(|amount| amount.share.width()).max().unwrap_or(0);
    for (text, Amount { cost, share, tone }) in texts.iter().zip(amounts) {
        let before = format!("{}  {}", right(cost, first), right(share, second));
        let mut line = Vec::new();
        wrap::write(&mut line, &format!("{before}  {text}"), look.width, first + second + 4)?;
        match line.strip_prefix(before.as_bytes()) {
            Some(rest) if look.has_color => {
                write!(out, "{}", look.painter().toned(*tone, before))?;
                out.write_all(rest)?;
            }
            _ => out.write_all(&line)?,
        }
    }
    Ok(())
}

/// Returns the lines of a table, titles first.
fn lines_of(table: &Table, look: &Look) -> io::Result<Vec<String>> {
    let mut text = Vec::new();
    table.write_text(look, &mut text)?;
    Ok(String::from_utf8_lossy(&text).lines().map(str::to_owned).collect())
}

fn right(text: &str, width: usize) -> String {
    format!("{}{text}", " ".repeat(width.saturating_sub(text.width())))
}
