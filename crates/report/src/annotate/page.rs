//! A page of HTML: the profile in one file that needs no network, for a browser or an archive.

mod plan;
mod source;

use std::cell::RefCell;
use std::collections::HashMap;
use std::io::{self, Write};
use std::rc::Rc;

use gristmill_format::Cost;
use gristmill_output::{grouped, html::Escaped, printable};
use gristmill_profile::{FileId, ObjectId};

use self::plan::Plan;
use super::{Annotation, first};
use crate::annotate::remark::is_unknown;
use crate::html_page::{
    HOTTEST, HotPlace, HtmlPage, NAME_WIDTH, base_name, counted, end_of_path, short_name, shown_of_all,
};
use crate::page::heading;
use crate::view::SubjectId;

/// The options of a page. See the example of [`Annotation`].
#[derive(Debug, Clone)]
pub struct PageOptions {
    /// The number of lines to show before and after those with costs.
    pub context: u64,
}

/// The limit of listed source files.
const MAX_FILES: usize = 400;

impl Annotation<'_> {
    /// Writes the annotation as one page of HTML.
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn write_html(&self, options: &PageOptions, out: &mut dyn Write) -> io::Result<()> {
        let plan = Plan::new(self, options.context);
        let html = HtmlPage::new(&self.head);
        Page { annotation: self, plan, html, short_names: RefCell::default() }.write(out)
    }
}

struct Page<'r> {
    annotation: &'r Annotation<'r>,
    plan: Plan,
    html: HtmlPage<'r>,
    /// Shortened names by their width: a function may be mentioned on each line.
    short_names: RefCell<HashMap<(SubjectId, usize), Rc<str>>>,
}

impl Page<'_> {
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let annotation = self.annotation;
        let has_jumps = annotation.files.iter().any(|file| !file.jumps.is_empty());
        self.html.write_head(has_jumps, "", out)?;
        let facts = [
            counted(annotation.wanted_functions().len(), "function"),
            counted(annotation.files.len(), "source file"),
        ];
        self.html.write_overview(facts, [], out)?;
        out.write_all(b"<div class=columns>\n<div>\n")?;
        self.write_functions(out)?;
        self.write_coverage(out)?;
        out.write_all(b"</div>\n<div>\n")?;
        self.write_hottest(out)?;
        self.write_files(out)?;
        out.write_all(b"</div>\n</div>\n")?;
        out.write_all(b"<div id=source></div>\n")?;
        for number in 0..self.plan.sections.len() {
            self.write_section(number, out)?;
        }
        self.html.write_end(FOOTER, out)
    }

    fn write_functions(&self, out: &mut dyn Write) -> io::Result<()> {
        let all = self.annotation.wanted_functions().len();
        self.html.write_functions_start(self.plan.listed.len(), all, out)?;
        for &nth in &self.plan.listed {
            let function = &self.annotation.wanted_functions()[nth];
            let (view, id) = (self.annotation.view, function.id);
            let (subject, calls) = (view.subject(id), view.call_count(id));
            let path = self.path(subject.file);
            let location = match function.line {
                Some(line) => format!("{}:{line}", base_name(&path)),
                None => base_name(&path).to_owned(),
            };
            let cycle = view.inclusive().cycles().cycle_of(id.node());
            let cycle = cycle.map(|cycle| format!(" · cycle {}", cycle.number())).unwrap_or_default();
            let object = self.object(subject.object);
            writeln!(
                out,
                "<tr id=t{}>{}{}<td class=number data-s={}>{}</td><td class=name title=\"{}\">{}<br><small>{}{}</small></td></tr>",
                id.index(),
                self.html.cell(view.self_cost(id)),
                self.html.cell(view.inclusive_cost(id)),
                calls,
                grouped(calls),
                Escaped(format!("{path} · {object}")),
                self.function_link(id, NAME_WIDTH),
                Escaped(location),
                cycle,
            )?;
        }
        self.html.write_table_end(out)
    }

    fn write_hottest(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut lines: Vec<(Cost, usize, u64)> = Vec::new();
        for (number, section) in self.plan.sections.iter().enumerate() {
            let file = &self.annotation.files[section.file];
            let costs = file.lines.iter().zip(file.costs.rows());
            let here = costs.filter(|(line, costs)| first(costs) > 0 && section.has(**line));
            lines.extend(here.map(|(&line, costs)| (-first(costs), number, line)));
        }
        lines.sort_unstable();
        lines.truncate(HOTTEST);
        let places = lines.into_iter().map(|(cost, number, line)| {
            let file = &self.annotation.files[self.plan.sections[number].file];
            let path = self.path(file.id);
            let text = file.source.as_ref().ok().and_then(|source| {
                let nth = usize::try_from(line.checked_sub(1)?).ok()?;
                Some(printable(source.lines().nth(nth)?.trim_ascii().get(..)?).chars().take(200).collect())
            });
            let code = match text {
                Some(text) => Escaped::<String>(text).to_string(),
                None => "<em>no source</em>".to_owned(),
            };
            HotPlace {
                anchor: format!("f{number}-{line}"),
                cost: -cost,
                code,
                location: format!("{}:{line}", base_name(&path)),
            }
        });
        self.html.write_hottest("lines", &places.collect::<Vec<_>>(), out)
    }

    fn write_files(&self, out: &mut dyn Write) -> io::Result<()> {
        let files = &self.annotation.files;
        let listed = files.len().min(MAX_FILES);
        writeln!(
            out,
            "<section class=panel id=files>\n<h2>Source files <small>{}</small></h2>\n<div class=scroll tabindex=0>\
             <table>\n<thead><tr><th class=number aria-sort=descending>{}</th><th>{}</th></tr></thead>\n<tbody>",
            shown_of_all(listed, files.len()),
            heading("Self"),
            heading("File"),
        )?;
        for file in &files[..listed] {
            let path = self.path(file.id);
            let path = if path.is_empty() { "???".to_owned() } else { path };
            let linked = match self.plan.section_of(file.id) {
                Some(number) => format!("<a href=#f{number}>{}</a>", Escaped(&path)),
                None => Escaped(&path).to_string(),
            };
            write!(out, "<tr>{}<td class=name>{linked}", self.html.cell(&file.self_costs))?;
            for remark in &file.remarks {
                write!(out, "<br><small>{}</small>", Escaped(printable(remark.to_string().as_bytes())))?;
            }
            if file.source.is_ok() && self.plan.section_of(file.id).is_none() {
                out.write_all(b"<br><small>omitted: the page holds the most expensive files</small>")?;
            }
            out.write_all(b"</td></tr>\n")?;
        }
        out.write_all(b"</tbody></table></div>\n</section>\n")
    }

    /// Writes how much of all cost the lines of the page have.
    fn write_coverage(&self, out: &mut dyn Write) -> io::Result<()> {
        let width = self.html.totals.len();
        let mut kinds = [
            ("on lines of this page", vec![0; width]),
            ("on lines that this page omits", vec![0; width]),
            ("on unknown lines, or lines that their file does not have", vec![0; width]),
            ("in files that were not found", vec![0; width]),
            ("in code of unknown files", vec![0; width]),
        ];
        for file in &self.annotation.files {
            let section = self.plan.section_of(file.id).map(|number| &self.plan.sections[number]);
            let lines = file.source.as_ref().map_or(u64::MAX, |source| source.line_count());
            for (&line, costs) in file.lines.iter().zip(file.costs.rows()) {
                let kind = match &file.source {
                    Err(_) if is_unknown(self.annotation.view.profile().file(file.id)) => 4,
                    Err(_) => 3,
                    Ok(_) if line == 0 || line > lines => 2,
                    Ok(_) if section.is_some_and(|section| section.has(line)) => 0,
                    Ok(_) => 1,
                };
                kinds[kind].1.iter_mut().zip(costs).for_each(|(sum, cost)| *sum += cost);
            }
        }
        self.html.write_coverage(&kinds, out)
    }

    /// The path of a file, or the end of a very long path.
    fn path(&self, file: FileId) -> String {
        end_of_path(self.annotation.view.profile().file(file))
    }

    fn object(&self, object: ObjectId) -> String {
        end_of_path(self.annotation.view.profile().object(object))
    }

    /// The name of a function, leading to where it is on the page.
    fn function_link(&self, id: SubjectId, width: usize) -> String {
        let name = self.short_name(id, width);
        match self.plan.function_anchor(id) {
            Some(anchor) => format!("<a href=#{anchor}>{name}</a>"),
            None => name.to_string(),
        }
    }

    /// The name of a function; one that does not fit is made shorter, and has the whole name beside it.
    fn short_name(&self, id: SubjectId, width: usize) -> Rc<str> {
        if let Some(name) = self.short_names.borrow().get(&(id, width)) {
            return Rc::clone(name);
        }
        let name: Rc<str> = short_name(self.annotation.view.subject(id).name(), width).into();
        self.short_names.borrow_mut().insert((id, width), Rc::clone(&name));
        name
    }
}

/// The text at the end of the page.
const FOOTER: &str = "Self cost is that of a line or function by itself, inclusive cost adds that of its calls. \
    Rows with ↳ are calls \
    with their inclusive cost, which is not part of the line’s self cost. Rows with ↻ are calls inside of a recursion, whose \
    costs include each other.";
