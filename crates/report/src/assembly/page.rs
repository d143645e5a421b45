//! Machine code as a page of HTML, in the design of the page of sources.

mod function;

use std::collections::HashMap;
use std::io::{self, Write};

use gristmill_format::Cost;
use gristmill_output::{grouped, html::Escaped, printable};
use gristmill_profile::symbol::shorten;

use super::listing::Listing;
use super::text::out_of_range;
use super::{Assembly, first};
use crate::amount::add;
use crate::html_page::{
    HOTTEST, HotPlace, HtmlPage, NAME_WIDTH, base_name, counted, end_of_path, short_name,
};
use crate::program::FoundProgram;
use crate::view::SubjectId;

/// The options of a page. See the example of [`Assembly`].
#[derive(Debug, Clone, Default)]
pub struct AssemblyPageOptions {
    /// The share of the self cost, as a percentage, by which the functions were chosen, to say so. `None` if it was not one.
    pub threshold: Option<f64>,
    /// The count of instructions to show before and after those with costs.
    pub context: u64,
    /// `true` if source lines and inlined functions are shown between instructions.
    pub has_lines: bool,
}

/// The limit of rows of a page. These take about 15 MB, and a browser a second.
const MAX_ROWS: usize = 60_000;

impl Assembly<'_> {
    /// Writes the functions as one page of HTML.
    ///
    /// # Errors
    ///
    /// Those of the output, and if a derived cost is out of range.
    pub fn write_html(&self, options: &AssemblyPageOptions, out: &mut dyn Write) -> io::Result<()> {
        let mut listings = Vec::new();
        let mut rows = 0;
        for &id in &self.chosen {
            let listing = self.listing(id).map_err(out_of_range)?;
            rows += listing.rows.len();
            if rows > MAX_ROWS && !listings.is_empty() {
                break;
            }
            listings.push((id, listing));
        }
        let hottest = listings.iter().map(|(_, listing)| listing.hottest()).max().unwrap_or_default();
        let numbers = listings.iter().enumerate().map(|(number, (id, _))| (*id, number)).collect();
        let html = HtmlPage::new(&self.head);
        Page { assembly: self, html, listings, numbers, hottest, options }.write(out)
    }
}

struct Page<'r> {
    assembly: &'r Assembly<'r>,
    html: HtmlPage<'r>,
    /// The functions that are on the page.
    listings: Vec<(SubjectId, Listing)>,
    /// The index of each function in this list.
    numbers: HashMap<SubjectId, usize>,
    /// The cost of the most expensive instruction, which the heat of all others is relative to.
    hottest: Cost,
    options: &'r AssemblyPageOptions,
}

impl Page<'_> {
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let has_jumps = self.listings.iter().any(|(_, listing)| listing.all_jumps().next().is_some());
        self.html.write_head(has_jumps, include_str!("page/style.css"), out)?;
        let notes = self.assembly.remarks().map(|(text, hint)| match hint {
            Some(hint) => format!("{text}; {hint}"),
            None => text,
        });
        let notes = notes.chain(self.omitted());
        let facts = [
            format!("machine code of {}", counted(self.listings.len(), "function")),
            counted(self.assembly.programs.len(), "program"),
        ];
        self.html.write_overview(facts, notes, out)?;
        out.write_all(b"<div class=columns>\n<div>\n")?;
        self.write_functions(out)?;
        out.write_all(b"</div>\n<div>\n")?;
        self.write_hottest(out)?;
        self.write_coverage(out)?;
        self.write_programs(out)?;
        out.write_all(b"</div>\n</div>\n<div id=source></div>\n")?;
        for number in 0..self.listings.len() {
            self.write_function(number, out)?;
        }
        self.html.write_end(FOOTER, out)
    }

    /// A sentence on the functions that are not on the page, if there are any.
    fn omitted(&self) -> Option<String> {
        let (shown, chosen, all) = (self.listings.len(), self.assembly.chosen.len(), self.assembly.matching);
        let limit = match self.options.threshold.filter(|_| shown == chosen) {
            _ if shown == all => return None,
            Some(threshold) => format!("those with {threshold}% of the self cost; --threshold 100 shows all"),
            None if shown == chosen => "the most expensive; --limit 0 --threshold 100 shows all".to_owned(),
            None => format!(
                "the most expensive, as a page has up to {} instructions; --filter REGEX chooses others",
                grouped(MAX_ROWS)
            ),
        };
        Some(format!("{} of {} functions are on this page: {limit}", grouped(shown), grouped(all)))
    }

    fn write_functions(&self, out: &mut dyn Write) -> io::Result<()> {
        let view = self.assembly.view;
        self.html.write_functions_start(self.listings.len(), self.assembly.matching, out)?;
        for (id, _) in &self.listings {
            let subject = view.subject(*id);
            let path = end_of_path(view.profile().file(subject.file));
            let object = end_of_path(view.profile().object(subject.object));
            let calls = view.call_count(*id);
            writeln!(
                out,
                "<tr>{}{}<td class=number data-s={calls}>{}</td><td class=name title=\"{}\">{}<br><small>{}</small></td></tr>",
                self.html.cell(view.self_cost(*id)),
                self.html.cell(view.inclusive_cost(*id)),
                grouped(calls),
                Escaped(format!("{path} · {object}")),
                self.function_link(*id, NAME_WIDTH),
                Escaped(base_name(&object)),
            )?;
        }
        self.html.write_table_end(out)
    }

    fn write_hottest(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut rows: Vec<(Cost, usize, usize)> = Vec::new();
        for (number, (_, listing)) in self.listings.iter().enumerate() {
            let costs = (0..listing.rows.len()).map(|row| (row, listing.costs(row).map_or(0, first)));
            rows.extend(costs.filter(|(_, cost)| *cost > 0).map(|(row, cost)| (-cost, number, row)));
        }
        rows.sort_unstable();
        rows.truncate(HOTTEST);
        let places = rows.into_iter().map(|(cost, number, row)| {
            let (id, listing) = &self.listings[number];
            let row = &listing.rows[row];
            let code = match &row.instruction {
                Some(instruction) => Escaped(printable(instruction.text.as_bytes())).to_string(),
                None => "<em>no instruction</em>".to_owned(),
            };
            let name = shorten(self.assembly.view.subject(*id).name(), NAME_WIDTH);
            HotPlace {
                anchor: format!("f{number}-{:x}", row.address),
                cost: -cost,
                code,
                location: format!("{}:{:x}", printable(name.as_bytes()), row.address),
            }
        });
        self.html.write_hottest("instructions", &places.collect::<Vec<_>>(), out)
    }

    /// Writes how much of all cost the instructions of the page have.
    fn write_coverage(&self, out: &mut dyn Write) -> io::Result<()> {
        let zeros = || vec![0; self.assembly.view.events().len()];
        let (mut on_instructions, mut without_instruction, mut without_address) = (zeros(), zeros(), zeros());
        let mut elsewhere = self.assembly.view.totals().to_vec();
        for (id, listing) in &self.listings {
            let self_costs = self.assembly.view.self_cost(*id);
            elsewhere.iter_mut().zip(self_costs).for_each(|(rest, cost)| *rest -= cost);
            let (_, lost) = listing.without_instruction();
            add(&mut without_instruction, &lost);
            add(&mut without_address, &listing.unplaced.self_costs);
            add(&mut on_instructions, self_costs);
            let others = lost.iter().zip(&listing.unplaced.self_costs);
            on_instructions
                .iter_mut()
                .zip(others)
                .for_each(|(sum, (lost, no_address))| *sum -= lost + no_address);
        }
        let kinds = [
            ("on instructions of this page", on_instructions),
            ("at addresses without an instruction", without_instruction),
            ("at no address", without_address),
            ("in functions that are not on this page", elsewhere),
        ];
        self.html.write_coverage(&kinds, out)
    }

    fn write_programs(&self, out: &mut dyn Write) -> io::Result<()> {
        let profile = self.assembly.view.profile();
        out.write_all(b"<section class=panel>\n<h2>Programs</h2>\n<table>\n<tbody>\n")?;
        for program in &self.assembly.programs {
            let object = end_of_path(profile.object(program.object));
            let name = if object.is_empty() { "???" } else { base_name(&object) };
            writeln!(
                out,
                "<tr><td class=name title=\"{}\">{}</td><td class=remark>{}</td></tr>",
                Escaped(&object),
                Escaped(name),
                Escaped(state_in_words(&program.found)),
            )?;
        }
        out.write_all(b"</tbody></table>\n</section>\n")
    }

    /// The name of a function, leading to where it is on the page.
    fn function_link(&self, id: SubjectId, width: usize) -> String {
        let name = self.short_name(id, width);
        match self.numbers.get(&id) {
            Some(number) => format!("<a href=#f{number}>{name}</a>"),
            None => name,
        }
    }

    /// The name of a function; one that does not fit is made shorter, and has the whole name beside it.
    fn short_name(&self, id: SubjectId, width: usize) -> String {
        short_name(self.assembly.view.subject(id).name(), width)
    }
}

/// The state of a program.
fn state_in_words(found: &FoundProgram) -> String {
    match found {
        FoundProgram::None(error) => error.to_string(),
        FoundProgram::Other(program) => {
            format!("another program: {} of it agrees", program.agreement().percent())
        }
        FoundProgram::Usable(program) if program.agreement().checked == 0 => {
            "found; nothing to compare".to_owned()
        }
        FoundProgram::Usable(program) => {
            let percent = program.agreement().percent();
            match program.agreement().is_certain() {
                true => format!("found; {percent} of what could be compared agrees"),
                false => format!("perhaps another build: {percent} of it agrees"),
            }
        }
    }
}

/// The text at the end of the page.
const FOOTER: &str = "The cost of an instruction is its self cost. Rows with ↳ are calls with their inclusive cost, which is \
    not part of it. Arrows are jumps that were taken. An instruction with ? may be that of another build.";
