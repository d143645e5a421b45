//! The parts that pages of annotated code share beyond those of all pages: totals, costs, and keys.
//!
//! The script chooses another event type, sorts and searches. For that, each
//! cost is in the page as text for the first event type, and as data for all event types.

mod code;
mod panels;

use std::io::{self, Write};

use gristmill_format::Cost;
use gristmill_output::{grouped, html::Escaped, percent_number, printable};

pub(crate) use self::code::Code;
pub(crate) use self::panels::{HOTTEST, HotPlace, NAME_WIDTH, short_name};
use crate::head::Head;
use crate::page::Frame;

/// The limit of event types: each line has the costs of all of them.
pub(crate) const MAX_EVENTS: usize = 32;

/// The limit of characters of a whole name, which is shown when the pointer rests on a shortened one.
const MAX_NAME: usize = 2_000;

/// The limit of characters of a path.
const MAX_PATH: usize = 500;

/// A page: its head and totals.
#[derive(Debug, Clone)]
pub(crate) struct HtmlPage<'p> {
    pub(crate) head: &'p Head,
    /// The totals of the event types that are on the page.
    pub(crate) totals: Vec<Cost>,
}

impl<'p> HtmlPage<'p> {
    pub(crate) fn new(head: &'p Head) -> Self {
        HtmlPage { head, totals: head.totals.iter().copied().take(MAX_EVENTS).collect() }
    }

    /// The name of the first event type, safe to show.
    pub(crate) fn first_event(&self) -> String {
        let name = self.head.events.first().map_or("", |event| event.name.as_str());
        Escaped(printable(name.as_bytes())).to_string()
    }

    /// The total of the first event type.
    pub(crate) fn total(&self) -> Cost {
        first(&self.totals)
    }

    /// Writes the start of the page. `style` is added to that of pages of code.
    pub(crate) fn write_head(&self, has_jumps: bool, style: &str, out: &mut dyn Write) -> io::Result<()> {
        let (data, style) = (self.data(), format!("{}{style}", include_str!("html_page/style.css")));
        Frame { style: &style, ..self.frame(&data, "") }.write_start(&self.controls(has_jumps), out)
    }

    fn frame<'f>(&'f self, data: &'f str, footer: &'f str) -> Frame<'f> {
        Frame {
            subject: &self.head.title,
            data,
            style: "",
            script: include_str!("html_page/script.js"),
            skip: "<a class=skip href=#source>Skip to the sources</a>\n",
            searches: "functions, files and source",
            keys: &KEYS,
            foot: footer,
        }
    }

    /// The totals and event types, for the script.
    fn data(&self) -> String {
        let names = self.event_names().join(" ");
        format!(" data-totals=\"{}\" data-events=\"{}\"", data(&self.totals), Escaped(names))
    }

    fn event_names(&self) -> Vec<String> {
        let events = self.head.events.iter().take(MAX_EVENTS);
        events.map(|event| printable(event.name.as_bytes()).into_owned()).collect()
    }

    /// The controls in the bar on top.
    fn controls(&self, has_jumps: bool) -> String {
        let mut controls = String::new();
        let names = self.event_names();
        if names.len() > 1 {
            controls.push_str("<select id=event class=scripted-only aria-label=\"Event type\">");
            for (nth, name) in names.iter().enumerate() {
                controls.push_str(&format!("<option value={nth}>{}</option>", Escaped(name)));
            }
            controls.push_str("</select>\n");
        }
        if has_jumps {
            controls.push_str(
                "<button id=jumps class=scripted-only aria-pressed=true title=\"Show jumps (j)\">jumps</button>\n",
            );
        }
        controls
    }

    /// Writes what the page is about: the profile, and facts and notes besides those of its head.
    pub(crate) fn write_overview(
        &self,
        more_facts: impl IntoIterator<Item = String>,
        more_notes: impl IntoIterator<Item = String>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let head = self.head;
        let mut facts = Vec::new();
        facts.extend(head.creator.as_ref().map(|creator| format!("written by {creator}")));
        facts.push(match (head.selected_parts, head.parts) {
            (1, 1) => "1 part".to_owned(),
            (parts, all) if parts == all => format!("{all} parts"),
            (parts, all) => format!("{parts} of {all} parts"),
        });
        facts.extend(more_facts);
        writeln!(
            out,
            "<section class=overview>\n<h1>{}</h1>\n<p>{}</p>\n<ul class=totals>",
            Escaped(&head.title),
            Escaped(facts.join(" · "))
        )?;
        let tag = if self.totals.len() > 1 { "button" } else { "div" };
        for (nth, (event, &total)) in head.events.iter().zip(&self.totals).enumerate() {
            let name = printable(event.name.as_bytes()).into_owned();
            let long = event.long_name.as_deref().or(event.formula.as_deref()).unwrap_or_default();
            let pressed = if tag == "button" { format!(" aria-pressed={}", nth == 0) } else { String::new() };
            let shown = event.unit.show(total);
            let amount = grouped(total);
            let unit = if shown == amount { String::new() } else { format!(" · {shown}") };
            writeln!(
                out,
                "<li><{tag}{pressed}><b>{amount}</b><span><em>{}</em> {}{}</span></{tag}></li>",
                Escaped(name),
                Escaped(printable(long.as_bytes())),
                Escaped(unit),
            )?;
        }
        out.write_all(b"</ul>\n")?;
        let mut notes: Vec<String> = head.warnings().chain(head.notes.iter().cloned()).collect();
        notes.extend(more_notes);
        if head.events.len() > MAX_EVENTS {
            notes.push(format!("{} more event types are not on this page", head.events.len() - MAX_EVENTS));
        }
        if !notes.is_empty() {
            out.write_all(b"<ul class=notes>\n")?;
            for note in &notes {
                writeln!(out, "<li>{}</li>", Escaped(note))?;
            }
            out.write_all(b"</ul>\n")?;
        }
        out.write_all(b"</section>\n")
    }

    /// Writes the end of the page: a text for people, the keys and the script.
    pub(crate) fn write_end(&self, footer: &str, out: &mut dyn Write) -> io::Result<()> {
        self.frame("", footer).write_end(out)
    }

    /// The share of a cost. Calls of a recursion may cost more than the whole, as their costs contain each other; then a share
    /// says nothing.
    pub(crate) fn share(&self, cost: Cost) -> String {
        let total = self.total();
        if 0 < total && total < cost { String::new() } else { percent_number(cost, total) }
    }

    /// A cell of a table: a cost, and its share as a bar.
    pub(crate) fn cell(&self, costs: &[Cost]) -> String {
        let cost = first(costs);
        let share = self.share(cost);
        let width = share.trim_start_matches('-');
        let width =
            if width.is_empty() || width == "0.0" { String::new() } else { format!(" style=--w:{width}") };
        format!(
            "<td class=\"number n\" data-c={}{width}><b>{}</b> <i>{share}</i></td>",
            data(costs),
            grouped(cost)
        )
    }

    /// A cost with its share, in a sentence.
    pub(crate) fn value(&self, costs: &[Cost]) -> String {
        let cost = first(costs);
        let share = self.share(cost);
        format!("<span class=v data-c={}><b>{}</b> <i>{share}</i></span>", data(costs), grouped(cost))
    }
}

/// Costs for the script, as an attribute that needs no quotes.
pub(crate) fn data(costs: &[Cost]) -> String {
    costs.iter().take(MAX_EVENTS).map(ToString::to_string).collect::<Vec<_>>().join(",")
}

/// A count with its noun.
pub(crate) fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {what}{plural}", grouped(count))
}

/// A count, and that of all if it is another.
pub(crate) fn shown_of_all(shown: usize, all: usize) -> String {
    if shown == all { grouped(all) } else { format!("{} of {}", grouped(shown), grouped(all)) }
}

/// A path, or the end of a very long one.
pub(crate) fn end_of_path(path: &[u8]) -> String {
    // These bytes have at least as many characters, however they are shown.
    let path = printable(&path[path.len().saturating_sub(4 * MAX_PATH)..]);
    match path.char_indices().nth_back(MAX_PATH) {
        Some((at, _)) => format!("…{}", &path[at..]),
        None => path.into_owned(),
    }
}

/// The last component of a path.
pub(crate) fn base_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Returns the heat of a line relative to the hottest, 0 to 100. The root makes differences among the many cool lines visible.
pub(crate) fn heat(cost: Cost, hottest: Cost) -> u32 {
    if hottest == 0 {
        return 0;
    }
    let squared = cost.unsigned_abs().saturating_mul(10_000) / hottest.unsigned_abs();
    u32::try_from(squared.isqrt()).unwrap_or(100).min(100)
}

/// A count of calls.
pub(crate) fn times(count: Cost) -> String {
    format!(" ×{}", grouped(count))
}

fn first(costs: &[Cost]) -> Cost {
    costs.first().copied().unwrap_or_default()
}

/// The keys of the page, besides those of all pages.
const KEYS: [(&str, &str); 4] = [
    ("n p", "next and previous line by cost"),
    ("] [", "next and previous file"),
    ("e", "next event type"),
    ("j", "show or hide jumps"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heat_goes_by_the_root() {
        assert_eq!([0, 1, 25, 50, 100].map(|cost| heat(cost, 100)), [0, 10, 50, 70, 100]);
        assert_eq!((heat(5, 0), heat(-25, 100), heat(Cost::MAX, 1)), (0, 50, 100));
    }
}
