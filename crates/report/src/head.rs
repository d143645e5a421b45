//! The first lines of every report: what the profile is, how much of it is looked at, and what is wrong with it.

use std::io::{self, Write};

use gristmill_format::Cost;
use gristmill_output::{CostUnit, Look, grouped, markdown, printable};
use gristmill_profile::Profile;
use gristmill_profile::formula::DerivationFault;

use crate::columns::EventColumn;
use crate::view::View;

/// What stands above a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The program that was measured, or the file where the profile does not say.
    pub title: String,
    /// Who wrote the profile.
    pub creator: Option<String>,
    /// How many parts are looked at.
    pub parts: usize,
    /// How many there are.
    pub all_parts: usize,
    /// What is to be said besides: one sentence each.
    pub notes: Vec<String>,
    totals: Vec<(Cost, String)>,
    others: Vec<String>,
}

impl Head {
    /// Takes it from a view.
    pub fn of(view: &View) -> Self {
        let profile = view.profile();
        let first = profile.selected(view.selection()).next();
        let command = first.and_then(|part| part.command()).filter(|command| !command.is_empty());
        let files: Vec<&str> = profile.inputs().iter().map(|input| input.name.as_str()).collect();
        Head {
            title: match command {
                Some(command) => printable(command).into_owned(),
                None => files.join(", "),
            },
            creator: first
                .and_then(|part| part.creator())
                .map(|creator| printable(creator.trim_ascii()).into_owned()),
            parts: profile.selected(view.selection()).count(),
            all_parts: profile.part_count(),
            notes: notes(view),
            totals: view
                .totals()
                .iter()
                .zip(view.events())
                .map(|(&total, event)| (total, described(event, total)))
                .collect(),
            others: view.other_events().iter().map(|name| printable(name.as_bytes()).into_owned()).collect(),
        }
    }

    /// As lines of text.
    pub fn lines(&self) -> Vec<String> {
        let mut first = self.title.clone();
        if let Some(creator) = &self.creator {
            first.push_str(&format!(" ({creator})"));
        }
        let plural = if self.all_parts == 1 { "" } else { "s" };
        match self.parts == self.all_parts {
            true if self.parts == 1 => {}
            true => first.push_str(&format!(", {} parts", grouped(self.parts))),
            false => first.push_str(&format!(
                ", {} of {} part{plural}",
                grouped(self.parts),
                grouped(self.all_parts)
            )),
        }
        let mut lines = vec![first];
        lines.extend(self.totals.iter().map(|(total, name)| format!("{} {name}", grouped(total))));
        if !self.others.is_empty() {
            lines.push(format!("also there: {}", self.others.join(" ")));
        }
        lines.extend(self.notes.iter().cloned());
        lines
    }

    /// Writes it above a report for people.
    pub(crate) fn write_text(&self, look: &Look, out: &mut dyn Write) -> io::Result<()> {
        for (nth, line) in self.lines().iter().enumerate() {
            if nth == 0 {
                writeln!(out, "{}", look.bold(line))?;
            } else {
                writeln!(out, "{line}")?;
            }
        }
        Ok(())
    }

    /// Writes it above a report in Markdown.
    pub(crate) fn write_markdown(&self, out: &mut dyn Write) -> io::Result<()> {
        markdown::write_lines(&self.lines(), out)
    }
}

/// The name of an event type with what its total means.
fn described(event: &EventColumn, total: Cost) -> String {
    let mut text = printable(event.name.as_bytes()).into_owned();
    let amount = event.unit.show(total);
    let has_unit = event.unit != CostUnit::Count;
    let mut details: Vec<String> = Vec::new();
    details.extend(has_unit.then_some(amount));
    details.extend(
        event
            .long_name
            .as_ref()
            .filter(|long| **long != event.name)
            .map(|long| printable(long.as_bytes()).into_owned()),
    );
    details.extend(event.formula.as_ref().map(|formula| printable(formula.as_bytes()).into_owned()));
    if !details.is_empty() {
        text.push_str(&format!(" ({})", details.join(", ")));
    }
    text
}

/// What is to be said of a profile with lines that could not be taken as they stand; nothing where there are none.
pub fn doubts(profile: &Profile) -> Option<String> {
    match profile.finding_count() {
        0 => None,
        1 => Some("1 line could not be taken as it stands: gristmill lint tells which".to_owned()),
        findings => Some(format!(
            "{} lines could not be taken as they stand: gristmill lint tells which",
            grouped(findings)
        )),
    }
}

fn notes(view: &View) -> Vec<String> {
    let mut notes = Vec::from_iter(doubts(view.profile()));
    match view.cut_arc_count() {
        0 => {}
        1 => notes.push("1 call was cut".to_owned()),
        arcs => notes.push(format!("{} calls were cut", grouped(arcs))),
    }
    let shown: Vec<&str> = view.events().iter().map(|event| event.name.as_str()).collect();
    notes.extend(derivation_notes(view.faults(), &shown));
    notes
}

/// What is to be said of derived event types where these are shown: one sentence each.
pub(crate) fn derivation_notes(faults: &[DerivationFault], shown: &[&str]) -> impl Iterator<Item = String> {
    // Of an event type that is not shown nothing need be said, unless it could not be made at all.
    let is_told = |fault: &&DerivationFault| match fault {
        DerivationFault::Missing { name, is_derived: true, .. } => {
            shown.contains(&String::from_utf8_lossy(name).as_ref())
        }
        _ => true,
    };
    faults.iter().filter(is_told).map(|fault| printable(fault.to_string().as_bytes()).into_owned())
}
