//! The report as an HTML page, of one design with that of annotated sources.

use std::io::{self, Write};

use super::amounts::{own_percent, signed, signed_percent};
use super::notes::{self, remarks};
use super::text::{cause_text, smaller};
use super::wording::MAX_RENAMED_NAME;
use super::{Diff, DiffHead, FunctionDiff, Page, safe};
use crate::names::{DOCUMENT_COLUMNS, WHOLE_COLUMNS};
use crate::page::{Frame, heading, titled};
use gristmill_output::{Align, Cell, Column, CostUnit, grouped, html::Escaped};
use gristmill_profile::compare::Change;

/// The columns of a name in a sentence.
const MAX_NAME_IN_SENTENCES: usize = 60;

impl Page for Diff {
    fn write_html(&self, out: &mut dyn Write) -> io::Result<()> {
        let title = self.head.title();
        let frame = frame(&title);
        frame.write_start("", out)?;
        self.head.write_html(&title, &self.summary(), &self.head.cards(), out)?;
        if !self.causes.is_empty() {
            self.write_html_causes(out)?;
        }
        self.write_html_rows(out)?;
        let renames: Vec<(String, String)> = self
            .renames
            .iter()
            .map(|rename| (rename.text(MAX_RENAMED_NAME), rename.text(WHOLE_COLUMNS)))
            .collect();
        let joins = notes::joins(&self.head).into_iter().map(|join| (join.clone(), join)).collect();
        for (what, lines) in [("Functions that may be renamed", renames), ("Functions joined by rule", joins)]
        {
            if !lines.is_empty() {
                let count = grouped(lines.len());
                writeln!(out, "<section class=panel>\n<h2>{what} <small>{count}</small></h2>\n<ul>")?;
                lines
                    .iter()
                    .try_for_each(|(text, whole)| writeln!(out, "<li>{}</li>", titled(text, whole)))?;
                out.write_all(b"</ul>\n</section>\n")?;
            }
        }
        frame.write_end(out)
    }
}

/// The start and the end of a page about a difference.
fn frame(title: &str) -> Frame<'_> {
    Frame {
        subject: title,
        style: include_str!("page/style.css"),
        script: include_str!("page/script.js"),
        searches: "functions and causes",
        foot: "Costs are those of the new profile less those of the base. Self cost is that of a function by itself, inclusive \
               cost adds that of its calls. Percentages are of the base's total. Bars compare the sizes of changes.",
        ..Frame::default()
    }
}

impl DiffHead {
    /// The totals.
    fn cards(&self) -> Vec<Card> {
        let events = self.events.iter().zip(&*self.totals);
        events
            .map(|(event, total)| Card { what: safe(&event.name), change: **total, unit: event.unit })
            .collect()
    }

    /// Writes the title, changes and the warnings.
    fn write_html(&self, title: &str, fact: &str, cards: &[Card], out: &mut dyn Write) -> io::Result<()> {
        writeln!(
            out,
            "<section class=overview>\n<h1>{}</h1>\n<p>{}</p>\n<ul class=totals>",
            Escaped(title),
            Escaped(fact)
        )?;
        for Card { what, change, unit } in cards {
            let [base, new] = [change.base, change.new].map(|side| unit.show(side.median));
            let (amount, percent, sides) = match change.is_none() {
                true => ("unchanged".to_owned(), String::new(), format!("{new} on both sides")),
                false => {
                    let percent = own_percent(*change);
                    (signed(change.delta(), *unit), percent, format!("{base} → {new}"))
                }
            };
            let noise = if change.is_noise() { " · noise: within the spread of the runs" } else { "" };
            writeln!(
                out,
                "<li><div><b class=\"{}\">{} <i>{percent}</i></b><span><em>{}</em> {}{noise}</span></div></li>",
                if change.is_noise() { "" } else { direction(change.delta()) },
                Escaped(amount),
                Escaped(what),
                Escaped(sides),
            )?;
        }
        out.write_all(b"</ul>\n")?;
        let notes: Vec<&str> = self.unshown.as_deref().into_iter().chain(self.warnings()).collect();
        if !notes.is_empty() {
            out.write_all(b"<ul class=notes>\n")?;
            notes.iter().try_for_each(|note| writeln!(out, "<li>{}</li>", Escaped(note)))?;
            out.write_all(b"</ul>\n")?;
        }
        out.write_all(b"</section>\n")
    }
}

/// A change of a number that is shown at the top.
struct Card {
    what: String,
    change: Change,
    unit: CostUnit,
}

/// A line of a cost, a share and a sentence.
struct Sentence {
    cost: i128,
    amount: String,
    share: String,
    text: String,
    whole: String,
}

/// Writes sentences with their costs; bars compare these.
fn write_sentences(id: &str, sentences: &[Sentence], out: &mut dyn Write) -> io::Result<()> {
    let greatest = greatest(sentences.iter().map(|sentence| sentence.cost));
    out.write_all(b"<div class=scroll tabindex=0><table class=sentences>\n<tbody>\n")?;
    for (nth, Sentence { cost, amount, share, text, whole }) in sentences.iter().enumerate() {
        writeln!(
            out,
            "<tr id={id}{nth}><td class=\"number n {}\"{}>{}</td><td class=number>{}%</td><td>{}</td></tr>",
            direction(*cost),
            bar(*cost, greatest),
            Escaped(amount),
            Escaped(share),
            titled(text, whole)
        )?;
    }
    out.write_all(b"</tbody></table></div>\n")
}

impl Diff {
    fn write_html_causes(&self, out: &mut dyn Write) -> io::Result<()> {
        let event = &self.head.events[0];
        let total = self.head.totals[0].base.median;
        let [short, whole] =
            [MAX_NAME_IN_SENTENCES, WHOLE_COLUMNS].map(|columns| self.sentence_names(columns));
        let sentence = |cost: i128, text: String, whole: String| Sentence {
            cost,
            amount: signed(cost, event.unit),
            share: signed_percent(cost, total),
            text,
            whole,
        };
        let causes = self
            .causes
            .iter()
            .map(|cause| sentence(cause.effect, cause_text(cause, &short), cause_text(cause, &whole)));
        let others = smaller(self.other_causes).map(|(effect, text)| sentence(effect, text.clone(), text));
        let causes: Vec<Sentence> = causes.chain(others).collect();
        let steps: Vec<Sentence> = self
            .path_steps(&short)
            .into_iter()
            .zip(self.path_steps(&whole))
            .map(|(step, whole)| Sentence {
                cost: step.change,
                amount: signed(step.change, event.unit),
                share: step.share,
                text: step.text,
                whole: whole.text,
            })
            .collect();
        writeln!(
            out,
            "<div class=\"{}\">\n<section class=panel>\n<h2>Causes of the change of {} <small>% of the base</small></h2>",
            if steps.is_empty() { "" } else { "columns" },
            Escaped(safe(&event.name))
        )?;
        write_sentences("c", &causes, out)?;
        out.write_all(b"</section>\n")?;
        if !steps.is_empty() {
            out.write_all(
                b"<section class=panel>\n<h2>Path of the greatest change <small>% of the change</small></h2>\n",
            )?;
            write_sentences("p", &steps, out)?;
            out.write_all(b"</section>\n")?;
        }
        out.write_all(b"</div>\n")
    }

    fn write_html_rows(&self, out: &mut dyn Write) -> io::Result<()> {
        let table = self.table();
        if table.rows.is_empty() {
            return Ok(());
        }
        let count = match self.rest.rows {
            0 => grouped(self.rows.len()),
            rest => format!("{} of {}", grouped(self.rows.len()), grouped(self.rows.len() + rest)),
        };
        writeln!(
            out,
            "<section class=panel id=functions>\n<h2>{} that changed <small>{count}</small></h2>",
            Escaped(capitalized(self.grouping.nouns().1))
        )?;
        let [names, wholes] = [DOCUMENT_COLUMNS, WHOLE_COLUMNS].map(|columns| self.names(columns));
        let remarks = |row| {
            remarks(&self.head, row, MAX_RENAMED_NAME).into_iter().map(|remark| Escaped(remark).to_string())
        };
        let name = |nth: usize| {
            let row = self.rows.get(nth)?;
            let remarks = remarks(row).collect::<Vec<_>>().join(" · ");
            let small = if remarks.is_empty() { String::new() } else { format!("<small>{remarks}</small>") };
            Some(format!("{}{small}", titled(&names[nth], &wholes[nth])))
        };
        let columns = self.table().columns;
        write_table(&columns, &table.rows, self.rows.len(), &name, out)?;
        out.write_all(b"</section>\n")
    }
}

/// Writes a table that can be sorted. Rows from `end` on stay at the end. `name` returns the last cell of a row as HTML.
fn write_table(
    columns: &[Column],
    rows: &[Vec<Cell>],
    end: usize,
    name: &dyn Fn(usize) -> Option<String>,
    out: &mut dyn Write,
) -> io::Result<()> {
    out.write_all(b"<div class=scroll tabindex=0><table>\n<thead><tr>")?;
    // Rows come by the size of a change, with either sign; no column is sorted in this way.
    for column in columns {
        let class = if column.align == Align::Right { " class=number" } else { "" };
        write!(out, "<th{class}>{}</th>", heading(&column.title))?;
    }
    out.write_all(b"</tr></thead>\n<tbody>\n")?;
    let amounts = |column: usize| rows.iter().take(end).filter_map(move |row| number(row.get(column)?));
    let greatest: Vec<i128> = (0..columns.len()).map(|column| greatest(amounts(column))).collect();
    for (nth, row) in rows.iter().enumerate() {
        if nth == end {
            out.write_all(b"</tbody>\n<tfoot>\n")?;
        }
        write!(out, "<tr id=r{nth}>")?;
        for (column, cell) in row.iter().enumerate() {
            let is_last = column + 1 == row.len();
            if is_last {
                let name = name(nth).unwrap_or_else(|| Escaped(&cell.shown).to_string());
                write!(out, "<td class=name>{name}</td>")?;
                continue;
            }
            let class = tone_class(&cell.shown);
            match number(cell) {
                Some(cost) => write!(
                    out,
                    "<td class=\"number n {class}\" data-s={cost}{}>{}</td>",
                    bar(cost, greatest[column]),
                    Escaped(&cell.shown)
                )?,
                None => {
                    let key: f64 = cell.shown.replace(',', "").parse().unwrap_or(0.0);
                    write!(out, "<td class=\"number {class}\" data-s={key}>{}</td>", Escaped(&cell.shown))?;
                }
            }
        }
        out.write_all(b"</tr>\n")?;
    }
    out.write_all(if rows.len() > end { b"</tfoot></table></div>\n" } else { b"</tbody></table></div>\n" })
}

impl Page for FunctionDiff {
    fn write_html(&self, out: &mut dyn Write) -> io::Result<()> {
        let title = self.head.title();
        let frame = Frame { searches: "functions and lines", ..frame(&title) };
        frame.write_start("", out)?;
        let fact = if self.row.file.is_empty() {
            title.clone()
        } else {
            format!("{} · {title}", safe(&self.row.file))
        };
        let mut cards = Vec::new();
        for (nth, event) in self.head.events.iter().enumerate() {
            let card = |what: &str, change| Card {
                what: format!("{} {what}", safe(&event.name)),
                change,
                unit: event.unit,
            };
            cards.push(card("self", *self.row.self_costs[nth]));
            cards.extend(self.head.has_calls.then(|| card("inclusive", *self.row.inclusive[nth])));
        }
        self.head.write_html(&safe(&self.row.name), &fact, &cards, out)?;
        let [short, whole] =
            [MAX_NAME_IN_SENTENCES, WHOLE_COLUMNS].map(|columns| self.remarks_beside_costs(columns));
        if !short.is_empty() {
            out.write_all(b"<section class=panel>\n<h2>About the change</h2>\n<ul>\n")?;
        }
        for (remark, whole) in short.iter().zip(&whole) {
            writeln!(out, "<li>{}</li>", titled(remark, whole))?;
        }
        if !short.is_empty() {
            out.write_all(b"</ul>\n</section>\n")?;
        }
        let mut rows = 0;
        for (what, table) in self.tables(DOCUMENT_COLUMNS) {
            let of_lines = what != "Callers" && what != "Callees";
            writeln!(
                out,
                "<section class=panel>\n<h2>{}</h2>\n<div class=scroll tabindex=0><table{}>\n<thead><tr>",
                Escaped(&what),
                if of_lines { " class=lines" } else { "" }
            )?;
            for column in &table.columns {
                let class = if column.align == Align::Right { " class=number" } else { "" };
                write!(out, "<th{class}><span>{}</span></th>", Escaped(&column.title))?;
            }
            out.write_all(b"</tr></thead>\n<tbody>\n")?;
            for row in (table.rows)() {
                write!(out, "<tr id=r{rows}>")?;
                rows += 1;
                for (column, cell) in table.columns.iter().zip(&row) {
                    let whole = cell.whole.as_deref().unwrap_or(&cell.shown);
                    let class = match column.align {
                        Align::Left if of_lines => "code".to_owned(),
                        Align::Left => "name".to_owned(),
                        Align::Right => format!("number {}", tone_class(&cell.shown)),
                    };
                    write!(out, "<td class=\"{class}\">{}</td>", titled(&cell.shown, whole))?;
                }
                out.write_all(b"</tr>\n")?;
            }
            out.write_all(b"</tbody></table></div>\n</section>\n")?;
        }
        for fault in &self.faults {
            writeln!(out, "<p class=empty>{}</p>", Escaped(fault))?;
        }
        frame.write_end(out)
    }
}

/// Returns the exact cost of a cell.
fn number(cell: &Cell) -> Option<i128> {
    cell.exact.as_ref()?.parse().ok()
}

/// Returns the greatest size of costs.
fn greatest(costs: impl Iterator<Item = i128>) -> i128 {
    costs.map(i128::abs).max().unwrap_or(0)
}

/// Returns the attribute for the bar of a cost.
fn bar(cost: i128, greatest: i128) -> String {
    match cost.abs().checked_mul(100).and_then(|cost| cost.checked_div(greatest)) {
        None | Some(0) => String::new(),
        Some(percent) => format!(" style=--w:{percent}"),
    }
}

fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn tone_class(shown: &str) -> &'static str {
    match shown.chars().next() {
        Some('+') => "more",
        Some('-') => "less",
        _ => "",
    }
}

fn direction(cost: i128) -> &'static str {
    match cost.signum() {
        1 => "more",
        -1 => "less",
        _ => "",
    }
}
