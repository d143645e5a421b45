//! The report as an HTML page: one file without scripts, light or dark like the reader's system.

use std::io::{self, Write};

use super::amounts::{signed, signed_percent};
use super::notes::{self, remarks};
use super::text::{cause_text, smaller};
use super::{Diff, DiffHead, FunctionDiff, Page, safe};
use crate::names::DOCUMENT_COLUMNS;
use gristmill_output::{Align, Cell, Column, html::Escaped};

/// The columns of a name in a sentence.
const MAX_NAME_IN_SENTENCES: usize = 60;

const STYLE: &str = "\
:root{color-scheme:light dark;--more:#b3261e;--less:#1b6e3c;--dim:#666;--line:#ddd;--back:#fff;--text:#1c1c1c}\
@media(prefers-color-scheme:dark){:root{--more:#ff8a80;--less:#7fd6a0;--dim:#999;--line:#3a3a3a;--back:#171717;\
--text:#e6e6e6}}\
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:76rem;padding:0 1rem;background:var(--back);\
color:var(--text)}\
h1{font-size:1.3rem;margin:0;overflow-wrap:anywhere}h2{font-size:1.05rem;margin:2rem 0 .5rem}\
.verdict{font-size:1.15rem;margin:.5rem 0}.warning{border-left:4px solid var(--more);padding-left:.75rem}\
.scroll{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums;width:100%}\
th,td{padding:.25rem .6rem;text-align:left;border-bottom:1px solid var(--line);vertical-align:top}\
th{font-weight:600;position:sticky;top:0;background:var(--back)}\
.n{text-align:right;white-space:nowrap}.more{color:var(--more)}.less{color:var(--less)}\
.dim{color:var(--dim);font-size:.9em}code,.name{font-family:ui-monospace,monospace;overflow-wrap:anywhere}\
pre{margin:0;white-space:pre-wrap}";

impl Page for Diff {
    fn write_html(&self, out: &mut dyn Write) -> io::Result<()> {
        self.head.write_html(out)?;
        if !self.causes.is_empty() {
            let event = &self.head.events[0];
            let [short, whole] =
                [MAX_NAME_IN_SENTENCES, usize::MAX].map(|columns| self.sentence_names(columns));
            let steps = self.path_steps(&short);
            if !steps.is_empty() {
                writeln!(
                    out,
                    "<h2>Path of the greatest change (% of the change)</h2><div class=scroll><table>"
                )?;
                for (step, whole) in steps.into_iter().zip(self.path_steps(&whole)) {
                    writeln!(
                        out,
                        "<tr><td class=\"n {}\">{}<td class=n>{}%<td{}>{}",
                        direction(step.change),
                        Escaped(&signed(step.change, event.unit)),
                        step.share,
                        title(&step.text, &whole.text),
                        Escaped(&step.text)
                    )?;
                }
                writeln!(out, "</table></div>")?;
            }
            writeln!(
                out,
                "<h2>Causes of the change of {} (% of the base)</h2><div class=scroll><table>",
                Escaped(&event.name)
            )?;
            let total = self.head.totals[0].base.median;
            let mut line = |effect: i128, sentence: &str, whole: &str| {
                writeln!(
                    out,
                    "<tr><td class=\"n {}\">{}<td class=n>{}%<td{}>{}",
                    direction(effect),
                    Escaped(&signed(effect, event.unit)),
                    signed_percent(effect, total),
                    title(sentence, whole),
                    Escaped(sentence)
                )
            };
            for cause in &self.causes {
                line(cause.effect, &cause_text(cause, &short), &cause_text(cause, &whole))?;
            }
            if let Some((effect, others)) = smaller(self.other_causes) {
                line(effect, &others, &others)?;
            }
            writeln!(out, "</table></div>")?;
        }
        writeln!(out, "<h2>{}</h2>", Escaped(&self.summary()))?;
        let remarks = self.rows.iter().map(|row| remarks(&self.head, row).join("; ")).collect::<Vec<_>>();
        let mut table = self.table();
        let [names, wholes] = [DOCUMENT_COLUMNS, usize::MAX].map(|columns| self.names(columns));
        for (cells, (name, whole)) in table.rows.iter_mut().zip(names.iter().zip(wholes)) {
            if let Some(last) = cells.last_mut() {
                *last = Cell::shortened(name, whole);
            }
        }
        write_table(&table.columns, table.rows.iter(), &remarks, out)?;
        for (what, lines) in [("Renamed", self.renames.clone()), ("Joined", notes::joins(&self.head))] {
            if !lines.is_empty() {
                writeln!(out, "<h2>{what}</h2><ul>")?;
                lines.iter().try_for_each(|line| writeln!(out, "<li>{}", Escaped(line)))?;
                writeln!(out, "</ul>")?;
            }
        }
        writeln!(out, "</body></html>")
    }
}

impl DiffHead {
    fn write_html(&self, out: &mut dyn Write) -> io::Result<()> {
        let title = Escaped(&self.title());
        writeln!(
            out,
            "<!DOCTYPE html>\n<html lang=en><head><meta charset=utf-8>\
             <meta name=viewport content=\"width=device-width,initial-scale=1\">\
             <title>{title}</title><style>{STYLE}</style></head><body>\n<h1>{title}</h1>"
        )?;
        for event in 0..self.events.len() {
            let class = direction(self.totals[event].delta());
            writeln!(out, "<p class=\"verdict {class}\">{}", Escaped(&self.verdict(event)))?;
        }
        if let Some(unshown) = &self.unshown {
            writeln!(out, "<p>{}", Escaped(unshown))?;
        }
        for warning in self.warnings() {
            writeln!(out, "<p class=warning>{}", Escaped(&warning))?;
        }
        Ok(())
    }
}

impl Page for FunctionDiff {
    fn write_html(&self, out: &mut dyn Write) -> io::Result<()> {
        self.head.write_html(out)?;
        writeln!(
            out,
            "<h2 class=name>{}</h2><p>{}",
            Escaped(&safe(&self.row.name)),
            Escaped(&self.remarks(MAX_NAME_IN_SENTENCES).join("; "))
        )?;
        for (what, table) in self.tables(DOCUMENT_COLUMNS) {
            writeln!(out, "<h2>{}</h2>", Escaped(&what))?;
            write_table(&table.columns, (table.rows)(), &[], out)?;
        }
        writeln!(out, "</body></html>")
    }
}

fn write_table(
    columns: &[Column],
    rows: impl Iterator<Item: AsRef<[Cell]>>,
    remarks: &[String],
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "<div class=scroll><table><thead><tr>")?;
    for column in columns {
        let class = if column.align == Align::Right { " class=n" } else { "" };
        write!(out, "<th{class}>{}", Escaped(&column.title))?;
    }
    writeln!(out, "</thead><tbody>")?;
    for (nth, row) in rows.enumerate() {
        write!(out, "<tr>")?;
        for (column, cell) in columns.iter().zip(row.as_ref()) {
            let class = match column.align {
                Align::Left => "name".to_owned(),
                Align::Right if cell.shown.starts_with('+') => "n more".to_owned(),
                Align::Right if cell.shown.starts_with('-') => "n less".to_owned(),
                Align::Right => "n".to_owned(),
            };
            let whole = cell.whole.as_deref().unwrap_or(&cell.shown);
            write!(out, "<td class=\"{class}\"{}>{}", title(&cell.shown, whole), Escaped(&cell.shown))?;
        }
        if let Some(remark) = remarks.get(nth).filter(|remark| !remark.is_empty()) {
            write!(out, "<div class=dim>{}</div>", Escaped(remark))?;
        }
        writeln!(out)?;
    }
    writeln!(out, "</tbody></table></div>")
}

/// Returns the attribute with the whole text, if a text was shortened.
fn title(shown: &str, whole: &str) -> String {
    if shown == whole { String::new() } else { format!(" title=\"{}\"", Escaped(whole)) }
}

fn direction(cost: i128) -> &'static str {
    match cost.signum() {
        1 => "more",
        -1 => "less",
        _ => "",
    }
}
