//! The first lines of every report: the profile, the selected part of it, and doubts about it.

use std::collections::HashSet;
use std::io::{self, Write};

use gristmill_format::Cost;
use gristmill_output::json::{Costs, EventNames};
use gristmill_output::wrap::hang;
use gristmill_output::{CostUnit, Look, grouped, lossy, markdown, printable};
use gristmill_profile::Profile;
use gristmill_profile::formula::DerivationFault;
use schemars::JsonSchema;
use serde::Serialize;

use crate::columns::EventColumn;
use crate::damage::DamageRow;
use crate::inlined::inlining_notes;
use crate::view::View;

/// The members that all reports on one profile have in common. See the example of [`Functions`](crate::Functions).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Head {
    /// The event types that are shown, in order: the keys of all costs. The second one of the same name ends with `#2`.
    pub event_types: EventNames,
    /// The same event types, described.
    pub events: Vec<EventColumn>,
    /// Sums of self cost over the selected parts.
    pub totals: Costs,
    /// The count of parts of the profile.
    pub parts: usize,
    /// The count of selected parts.
    pub selected_parts: usize,
    /// The reasons why the numbers are not those of the recording. Empty if all files are whole.
    pub damage: Vec<DamageRow>,
    /// The count of lines that could not be taken as they are. `gristmill lint` lists them.
    pub findings: u64,
    /// The program that was measured, or the files if the profile does not name it.
    pub title: String,
    /// The program that wrote the profile.
    pub creator: Option<String>,
    /// The event types that are not shown.
    pub other_event_types: Vec<String>,
    /// Remarks on the profile and on the view: one sentence each.
    pub notes: Vec<String>,
}

impl Head {
    /// Takes the head from a view.
    pub fn new(view: &View) -> Self {
        let profile = view.profile();
        let first = profile.selected(view.selection()).next();
        let command = first.and_then(|part| part.command()).filter(|command| !command.is_empty());
        let files: Vec<&str> = profile.inputs().iter().map(|input| input.name.as_str()).collect();
        let event_types = EventNames::new(view.events().iter().map(|event| event.name.as_str()));
        Head {
            totals: Costs::new(&event_types, view.totals()),
            event_types,
            events: view.events().to_vec(),
            parts: profile.part_count(),
            selected_parts: profile.selected(view.selection()).count(),
            damage: DamageRow::list(profile),
            findings: profile.finding_count(),
            title: command.map_or_else(|| files.join(", "), lossy),
            creator: first.and_then(|part| part.creator()).map(|creator| lossy(creator.trim_ascii())),
            other_event_types: view.other_events().to_vec(),
            notes: notes(view),
        }
    }

    /// Costs of the event types that are shown.
    pub(crate) fn costs(&self, costs: &[Cost]) -> Costs {
        Costs::new(&self.event_types, costs)
    }

    /// Returns the sentences about damage, which come before everything else.
    pub fn warnings(&self) -> impl Iterator<Item = String> {
        self.damage.iter().map(|damage| format!("warning: {}", damage.text))
    }

    /// The head as lines of text, without the warnings.
    pub fn lines(&self) -> Vec<String> {
        let mut first = printable(self.title.as_bytes()).into_owned();
        if let Some(creator) = &self.creator {
            first.push_str(&format!(" ({})", printable(creator.as_bytes())));
        }
        let plural = if self.parts == 1 { "" } else { "s" };
        match self.selected_parts == self.parts {
            true if self.parts == 1 => {}
            true => first.push_str(&format!(", {} parts", grouped(self.parts))),
            false => first.push_str(&format!(
                ", {} of {} part{plural}",
                grouped(self.selected_parts),
                grouped(self.parts)
            )),
        }
        let mut lines = vec![first];
        lines.extend(
            self.totals
                .iter()
                .zip(&self.events)
                .map(|(&total, event)| format!("{} {}", grouped(total), described(event, total))),
        );
        if !self.other_event_types.is_empty() {
            let names: Vec<_> =
                self.other_event_types.iter().map(|name| printable(name.as_bytes())).collect();
            lines.push(format!("also there: {}", names.join(" ")));
        }
        lines.extend(self.notes.iter().cloned());
        lines
    }

    /// Writes the head above a report for people.
    pub(crate) fn write_text(&self, look: &Look, out: &mut dyn Write) -> io::Result<()> {
        for warning in self.warnings() {
            // A program that reads the output looks for the whole line.
            let lines = hang("", &warning, 2, look.name_columns(look.width));
            lines.split('\n').try_for_each(|line| writeln!(out, "{}", look.painter().yellow(line)))?;
        }
        for (nth, line) in self.lines().iter().enumerate() {
            let lines = hang("", line, 2, look.width);
            if nth == 0 {
                lines.split('\n').try_for_each(|line| writeln!(out, "{}", look.bold(line)))?;
            } else {
                writeln!(out, "{lines}")?;
            }
        }
        Ok(())
    }

    /// Writes the head above a report in Markdown.
    pub(crate) fn write_markdown(&self, out: &mut dyn Write) -> io::Result<()> {
        let lines: Vec<String> = self.warnings().chain(self.lines()).collect();
        markdown::write_lines(&lines, out)
    }
}

/// The name of an event type with its unit, long name and formula, as far as there are any.
fn described(event: &EventColumn, total: Cost) -> String {
    let shown = |text: &String| printable(text.as_bytes()).into_owned();
    let mut details: Vec<String> = Vec::new();
    details.extend((event.unit != CostUnit::Count).then(|| event.unit.show(total)));
    details.extend(event.long_name.as_ref().filter(|long| **long != event.name).map(shown));
    details.extend(event.formula.as_ref().map(shown));
    let name = shown(&event.name);
    if details.is_empty() { name } else { format!("{name} ({})", details.join(", ")) }
}

/// A remark on a profile with lines that could not be taken as they are, besides those that are [damage](DamageRow) and
/// those of dialects.
///
/// ```
/// use gristmill_profile::{DamageKind, Profile};
/// use gristmill_report::doubts;
///
/// let profile = Profile::from_bytes(b"events: Ir\nfn=(1) main\n1 2\nfn=(1) grind\n1 2\n".to_vec());
/// assert_eq!(
///     doubts(&profile).as_deref(),
///     Some("1 line could not be taken as it is: gristmill lint shows it")
/// );
/// ```
pub fn doubts(profile: &Profile) -> Option<String> {
    match profile.doubt_count() {
        0 => None,
        1 => Some("1 line could not be taken as it is: gristmill lint shows it".to_owned()),
        findings => Some(format!(
            "{} lines could not be taken as they are: gristmill lint shows them",
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
    notes.extend(view.attribution_notes().iter().cloned());
    notes.extend(inlining_notes(view.profile()));
    let shown: Vec<&str> = view.events().iter().map(|event| event.name.as_str()).collect();
    notes.extend(derivation_notes(view.faults(), &shown));
    notes
}

/// Remarks on derived event types if these are shown: one sentence each.
pub(crate) fn derivation_notes(faults: &[DerivationFault], shown: &[&str]) -> impl Iterator<Item = String> {
    let shown: HashSet<&str> = shown.iter().copied().collect();
    // An event type that is not shown matters only if it could not be derived at all.
    let is_relevant = move |fault: &&DerivationFault| match fault {
        DerivationFault::Missing { name, is_derived: true, .. } => {
            shown.contains(String::from_utf8_lossy(name).as_ref())
        }
        _ => true,
    };
    faults.iter().filter(is_relevant).map(|fault| printable(fault.to_string().as_bytes()).into_owned())
}
