//! A function on the page: its instructions with costs, calls and jumps.

use std::io::{self, Write};
use std::ops::Range;

use gristmill_output::source::Highlighter;
use gristmill_output::{grouped, html::Escaped, percent, percent_number, printable};
use gristmill_profile::symbol::shorten;

use super::Page;
use crate::annotate::is_unknown;
use crate::assembly::first;
use crate::assembly::lanes::{DOWN, End, Lanes, RIGHT, UP};
use crate::assembly::listing::{Jump, Listing};
use crate::assembly::plan::{Item, items};
use crate::assembly::text::{base_name, lanes};
use crate::html_page::{Code, counted, data, end_of_path, heat, times};

/// The limit of lanes for arrows.
const MAX_LANES: usize = 12;

/// The width of a lane, and the height of a row, in the unit of the arrows.
const LANE: usize = 9;
const ROW: usize = 20;

/// The limit of instructions without cost that can be unfolded in one place.
const MAX_UNFOLDED: usize = 400;

/// The limit of listed callees and jumps of an instruction.
const MAX_LISTED: usize = 30;

/// The characters of a function's name.
const HEAD_WIDTH: usize = 200;
const CALLEE_WIDTH: usize = 90;

/// The listing of a function while it is written.
struct Listed<'l> {
    number: usize,
    listing: &'l Listing,
    lanes: Lanes,
    is_drawn: Vec<bool>,
}

impl Page<'_> {
    pub(super) fn write_function(&self, number: usize, out: &mut dyn Write) -> io::Result<()> {
        let (id, listing) = &self.listings[number];
        let view = self.assembly.view;
        writeln!(
            out,
            "<section class=\"file panel asm\" id=f{number}>\n<h2><span>{}</span>{}</h2>",
            self.short_name(*id, HEAD_WIDTH),
            self.html.value(view.self_cost(*id))
        )?;
        let subject = view.subject(*id);
        let profile = view.profile();
        let paths = [profile.file(subject.file), profile.object(subject.object)];
        let mut facts: Vec<String> = paths
            .iter()
            .filter(|path| !is_unknown(path))
            .map(|path| Escaped(end_of_path(path)).to_string())
            .collect();
        facts.push(format!("inclusive {}", self.html.value(view.inclusive_cost(*id))));
        let calls = view.call_count(*id);
        facts.extend((calls != 0).then(|| format!("called{}", times(calls))));
        writeln!(out, "<p>{}</p>", facts.join(" · "))?;
        for remark in self.remarks_on(listing, first(view.self_cost(*id))) {
            writeln!(out, "<p class=remark><em>!</em> {}</p>", Escaped(remark))?;
        }
        if listing.rows.is_empty() {
            return out.write_all(b"</section>\n");
        }
        let items = items(listing, self.options.context, self.options.has_lines);
        let (lanes, is_drawn) = lanes(listing, &items, MAX_LANES);
        let last = listing.rows.last().map_or(0, |row| row.address);
        let longest = listing.all_costs().flatten().map(|cost| cost.unsigned_abs()).max().unwrap_or_default();
        writeln!(
            out,
            "<div class=source tabindex=0 style=\"--no:{}ch;--cost:{}ch;--k:{}px\"><div>",
            format!("{last:x}").len() + 3,
            grouped(longest).len().max(6) + 2,
            lanes.width() * LANE + if lanes.width() > 0 { LANE } else { 0 },
        )?;
        let listed = Listed { number, listing, lanes, is_drawn };
        for (at, item) in items.iter().enumerate() {
            match item {
                Item::Folded(rows) => self.write_fold(&listed, at, rows.clone(), out)?,
                Item::Inlined { row, frame } => {
                    let frame_here = listing.frames(*row)[*frame];
                    let name = printable(shorten(&frame_here.function, CALLEE_WIDTH).as_bytes()).into_owned();
                    let name = if name.is_empty() { "a function".to_owned() } else { name };
                    let indent = 2 * (*frame - 1);
                    writeln!(
                        out,
                        "<div class=\"g n\">{}<span style=--d:{indent}ch title=\"{}\">inlined <strong>{}</strong></span></div>",
                        arrows(&listed.lanes, at),
                        Escaped(end_of_path(&frame_here.file)),
                        Escaped(name)
                    )?;
                }
                Item::Line { row, frame } => self.write_source_line(&listed, at, *row, *frame, out)?,
                Item::Instruction(row) => {
                    self.write_instruction(
                        &listed,
                        *row,
                        &arrows(&listed.lanes, at),
                        &below(&listed.lanes, at),
                        out,
                    )?;
                }
            }
        }
        out.write_all(b"</div></div>\n</section>\n")
    }

    /// Sentences on costs and instructions that are missing.
    fn remarks_on(&self, listing: &Listing, self_cost: gristmill_format::Cost) -> Vec<String> {
        let mut remarks = Vec::new();
        if listing.has_program && !listing.is_certain {
            remarks.push(listing.doubt());
        }
        if listing.is_cut {
            remarks
                .push("it is too large to list all of it: only instructions with costs are shown".to_owned());
        }
        let (count, costs) = listing.without_instruction();
        if listing.has_program && count > 0 {
            remarks.push(format!(
                "the program has no instruction at {}, with {} of the self cost",
                counted(count, "address").replace("addresss", "addresses"),
                percent(first(&costs), self_cost)
            ));
        }
        let unplaced = &listing.unplaced;
        if unplaced.self_costs.iter().any(|&cost| cost != 0) {
            remarks
                .push(format!("{} of its self cost is at no address", grouped(first(&unplaced.self_costs))));
        }
        if !unplaced.calls.is_empty() {
            remarks.push(format!("calls of {} are at no address", counted(unplaced.calls.len(), "function")));
        }
        if unplaced.jumps > 0 {
            remarks.push(format!("{} at no address", counted(unplaced.jumps, "jump")));
        }
        remarks
    }

    fn write_fold(
        &self,
        listed: &Listed<'_>,
        at: usize,
        rows: Range<usize>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let text = format!("{} without cost", counted(rows.len(), "instruction"));
        let arrows = arrows(&listed.lanes, at);
        if rows.len() > MAX_UNFOLDED {
            return writeln!(out, "<p class=\"gap g\">{arrows}<span>{text}</span></p>");
        }
        writeln!(out, "<details class=gap><summary class=g>{arrows}<span>{text}</span></summary>")?;
        let beside = below(&listed.lanes, at);
        for row in rows {
            self.write_instruction(listed, row, &beside, &beside, out)?;
        }
        out.write_all(b"</details>\n")
    }

    fn write_source_line(
        &self,
        listed: &Listed<'_>,
        at: usize,
        row: usize,
        frame: usize,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let here = listed.listing.frames(row)[frame];
        let number = here.line.unwrap_or_default();
        let file = base_name(&here.file);
        let file = if is_unknown(&file) { "???".into() } else { printable(&file) };
        write!(
            out,
            "<div class=g>{}<span style=--d:{}ch title=\"{}\"><small>{}:{number}</small>",
            arrows(&listed.lanes, at),
            2 * frame,
            Escaped(end_of_path(&here.file)),
            Escaped(file),
        )?;
        let source = self.assembly.sources.file(&here.file);
        if let Some(text) = source.as_ref().and_then(|source| source.line(number)).map(<[u8]>::trim_ascii) {
            // A comment that began above is taken for code; lines with instructions are rarely in one.
            let mut spans = Vec::new();
            Highlighter::for_path(&here.file).line(text, &mut spans);
            write!(out, " {}", Code { text, spans: &spans })?;
        }
        out.write_all(b"</span></div>\n")
    }

    fn write_instruction(
        &self,
        listed: &Listed<'_>,
        row: usize,
        arrows: &str,
        below: &str,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let Listed { number, listing, .. } = *listed;
        let here = &listing.rows[row];
        let address = here.address;
        write!(out, "<div class=l id=f{number}-{address:x}")?;
        match listing.costs(row) {
            Some(costs) => {
                let cost = first(costs);
                write!(out, " data-c={}", data(costs))?;
                let heat = heat(cost, self.hottest);
                if heat > 0 {
                    write!(out, " style=--h:{heat}")?;
                }
                let share = percent_number(cost, self.html.total());
                write!(
                    out,
                    "><a href=#f{number}-{address:x}>{address:x}</a><b>{}</b><i>{share}</i>",
                    grouped(cost)
                )?;
            }
            None => write!(out, "><a href=#f{number}-{address:x}>{address:x}</a>")?,
        }
        write!(out, "{arrows}<code>")?;
        match &here.instruction {
            Some(instruction) => {
                let text = printable(instruction.text.as_bytes());
                let (mnemonic, operands) = text.split_at(text.find(' ').unwrap_or(text.len()));
                let doubt = if listing.is_certain { "" } else { "? " };
                write!(out, "{doubt}<span class=t-k>{}</span>{}", Escaped(mnemonic), Escaped(operands))?;
            }
            None if listing.has_program => out.write_all(b"<em>no instruction here</em>")?,
            None => {}
        }
        let jumps = listing.jumps(row);
        let more = jumps.len().saturating_sub(MAX_LISTED);
        for (nth, jump) in jumps.take(MAX_LISTED) {
            self.write_jump(listed, row, jump, listed.is_drawn[nth], out)?;
        }
        if more > 0 {
            write!(out, "<span class=j>{more} more</span>")?;
        }
        out.write_all(b"</code></div>\n")?;
        let calls = listing.calls(row);
        let more = calls.len().saturating_sub(MAX_LISTED);
        for (call, costs) in calls.take(MAX_LISTED) {
            writeln!(
                out,
                "<div class=c data-c={}><b>{}</b><i>{}</i>{below}<span>{}<small>{}</small></span></div>",
                data(costs),
                grouped(first(costs)),
                percent_number(first(costs), self.html.total()),
                self.function_link(call.callee, CALLEE_WIDTH),
                times(call.count),
            )?;
        }
        if more > 0 {
            writeln!(out, "<div class=c>{below}<span>{}</span></div>", counted(more, "more function"))?;
        }
        Ok(())
    }

    fn write_jump(
        &self,
        listed: &Listed<'_>,
        row: usize,
        jump: &Jump,
        is_drawn: bool,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let taken = match jump.executed {
            Some(executed) => format!("taken {} of {}", grouped(jump.taken), grouped(executed)),
            None => format!("taken {}", grouped(jump.taken)),
        };
        let instruction = listed.listing.rows[row].instruction.as_ref();
        let is_known = instruction.is_some_and(|it| it.target.is_some() && it.target == jump.target);
        let mut target = match jump.target {
            Some(target) if !is_drawn && !is_known => format!("→ {target:x} "),
            _ => String::new(),
        };
        if let Some(function) = jump.function {
            let name = shorten(self.assembly.view.subject(function).name(), 40);
            target.push_str(&format!("({}) ", printable(name.as_bytes())));
        }
        match jump.target.filter(|_| jump.target_row.is_some()) {
            Some(at) => {
                write!(out, "<a class=j href=#f{}-{at:x}>{}{taken}</a>", listed.number, Escaped(target))
            }
            None => write!(out, "<span class=j>{}{taken}</span>", Escaped(target)),
        }
    }
}

/// The arrows beside a row.
fn arrows(lanes: &Lanes, at: usize) -> String {
    let (cells, end) = lanes.row(at);
    drawing(cells, end)
}

/// The arrows that pass below a row.
fn below(lanes: &Lanes, at: usize) -> String {
    let (cells, _) = lanes.row(at);
    let passing: Vec<u8> = cells.iter().map(|cell| if cell & DOWN != 0 { UP | DOWN } else { 0 }).collect();
    drawing(&passing, End::None)
}

/// Lines in lanes as a drawing that is as high as its row.
fn drawing(cells: &[u8], end: End) -> String {
    if cells.is_empty() {
        return String::new();
    }
    let width = (cells.len() + 1) * LANE;
    let middle = ROW / 2;
    let mut path = String::new();
    for (lane, cell) in cells.iter().enumerate() {
        let x = lane * LANE + LANE / 2;
        match (cell & UP != 0, cell & DOWN != 0) {
            (true, true) => path.push_str(&format!("M{x} 0V{ROW}")),
            (true, false) => path.push_str(&format!("M{x} 0V{middle}")),
            (false, true) => path.push_str(&format!("M{x} {middle}V{ROW}")),
            (false, false) => {}
        }
    }
    // Lines to the end of the row pass all lanes inside of the first.
    if let Some(lane) = cells.iter().position(|cell| cell & RIGHT != 0) {
        path.push_str(&format!("M{} {middle}H{}", lane * LANE + LANE / 2, width - 1));
    }
    if end == End::Target {
        path.push_str(&format!(
            "M{0} {1}L{2} {middle}L{0} {3}",
            width - 5,
            middle - 4,
            width - 1,
            middle + 4
        ));
    }
    if path.is_empty() {
        return format!("<svg class=k viewBox=\"0 0 {width} {ROW}\"></svg>");
    }
    format!(
        "<svg class=k viewBox=\"0 0 {width} {ROW}\" preserveAspectRatio=none aria-hidden=true><path d=\"{path}\"/></svg>"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drawing_has_the_lines_of_its_cells() {
        assert_eq!(drawing(&[], End::None), "");
        let drawn = drawing(&[UP | DOWN, DOWN | RIGHT], End::Target);
        assert!(drawn.contains("d=\"M4 0V20M13 10V20M13 10H26M22 6L26 10L22 14\""), "{drawn}");
        assert!(drawing(&[0], End::None).contains("></svg>"));
    }
}
