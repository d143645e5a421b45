//! Panels that all pages of annotated code have: the table of functions, the hottest places, and where the cost is.

use std::io::{self, Write};

use gristmill_format::Cost;
use gristmill_output::{html::Escaped, percent_number, printable};
use gristmill_profile::symbol::shorten;

use super::{HtmlPage, MAX_NAME, shown_of_all};
use crate::page::heading;

/// The count of the most expensive places that are listed at the top.
pub(crate) const HOTTEST: usize = 12;

/// The characters of a name in the table of functions.
pub(crate) const NAME_WIDTH: usize = 64;

/// A place among the most expensive ones.
pub(crate) struct HotPlace {
    /// The id of its row on the page.
    pub(crate) anchor: String,
    pub(crate) cost: Cost,
    /// The line or instruction, as HTML.
    pub(crate) code: String,
    /// The file and line, or the function and address.
    pub(crate) location: String,
}

impl HtmlPage<'_> {
    /// Writes the start of the table of functions, with the titles of its columns.
    pub(crate) fn write_functions_start(
        &self,
        shown: usize,
        all: usize,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        writeln!(
            out,
            "<section class=panel id=functions>\n<h2>Functions <small>{} · <span class=event-name>{}</span></small></h2>\n\
             <div class=scroll tabindex=0><table>\n<thead><tr><th class=number aria-sort=descending>{}</th>\
             <th class=number>{}</th><th class=number>{}</th><th>{}</th></tr></thead>\n<tbody>",
            shown_of_all(shown, all),
            self.first_event(),
            heading("Self"),
            heading("Inclusive"),
            heading("Calls"),
            heading("Function"),
        )
    }

    /// Writes the end of a table in a panel that scrolls.
    pub(crate) fn write_table_end(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(b"</tbody></table></div>\n</section>\n")
    }

    /// Writes the most expensive places, unless there are none.
    pub(crate) fn write_hottest(
        &self,
        what: &str,
        places: &[HotPlace],
        out: &mut dyn Write,
    ) -> io::Result<()> {
        if places.is_empty() {
            return Ok(());
        }
        write!(
            out,
            "<section class=panel>\n<h2>Hottest {what} <small>self cost</small></h2>\n\
             <ol class=hottest id=hottest data-rows={HOTTEST}>\n"
        )?;
        for HotPlace { anchor, cost, code, location } in places {
            writeln!(
                out,
                "<li><a href=#{anchor}><i>{}</i><span>{code}</span><small>{}</small></a></li>",
                percent_number(*cost, self.total()),
                Escaped(location),
            )?;
        }
        out.write_all(b"</ol>\n</section>\n")
    }

    /// Writes which part of the cost is where. Parts without cost are left out.
    pub(crate) fn write_coverage(&self, kinds: &[(&str, Vec<Cost>)], out: &mut dyn Write) -> io::Result<()> {
        out.write_all(b"<section class=panel>\n<h2>Where the cost is</h2>\n<table>\n<tbody>\n")?;
        for (kind, costs) in kinds.iter().filter(|(_, costs)| costs.iter().any(|&cost| cost != 0)) {
            writeln!(out, "<tr>{}<td>{kind}</td></tr>", self.cell(costs))?;
        }
        out.write_all(b"</tbody></table>\n</section>\n")
    }
}

/// The name of a function as HTML; one that does not fit is made shorter, and has the whole name beside it.
pub(crate) fn short_name(name: &str, width: usize) -> String {
    let name = printable(name.as_bytes()).into_owned();
    let name = if name.is_empty() { "???".to_owned() } else { name };
    match shorten(&name, width) {
        short if short == name => Escaped(name).to_string(),
        short => {
            format!("<span title=\"{}\">{}</span>", Escaped(shorten(&name, MAX_NAME)), Escaped(short))
        }
    }
}
