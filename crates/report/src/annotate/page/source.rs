//! A source file on the page: its lines with costs, calls and jumps.

use std::cmp::Reverse;
use std::io::{self, Write};

use gristmill_format::Cost;
use gristmill_output::{grouped, html::Escaped, printable};
use gristmill_profile::symbol::shorten;

use super::Page;
use super::plan::{LineRun, RunKind, Section};
use crate::annotate::{AnnotatedFile, first};
use crate::html_page::{Code, base_name, counted, data, heat, times};
use crate::view::SubjectId;
use gristmill_output::source::Highlighter;
use gristmill_profile::source_lines::LineJumps;

/// The limit of calling lines in the head of a function.
const MAX_CALLERS: usize = 8;

/// The characters of a function's name: where it is called, as a caller, and in its head.
const CALLEE_WIDTH: usize = 90;
const CALLER_WIDTH: usize = 50;
const HEAD_WIDTH: usize = 200;

/// The limit of listed callees of a line.
const MAX_CALLS: usize = 30;

/// The limit of inlined functions of a line: those of a template have many names. And the characters of each.
const MAX_INLINED: usize = 4;
const INLINED_WIDTH: usize = 60;

/// The limit of shown jumps of a line.
const MAX_JUMPS: usize = 8;

impl Page<'_> {
    pub(super) fn write_section(&self, number: usize, out: &mut dyn Write) -> io::Result<()> {
        let section = &self.plan.sections[number];
        let file = &self.annotation.files[section.file];
        let path = self.path(file.id);
        writeln!(
            out,
            "<section class=\"file panel\" id=f{number}>\n<h2><span>{}</span>{}</h2>",
            Escaped(if path.is_empty() { "???" } else { &path }),
            self.html.value(&file.self_costs)
        )?;
        if let Ok(source) = &file.source
            && source.found_at != path
        {
            writeln!(out, "<p>read from {}</p>", Escaped(&source.found_at))?;
        }
        for remark in &file.remarks {
            let remark = remark.to_string();
            writeln!(out, "<p class=remark><em>!</em> {}</p>", Escaped(printable(remark.as_bytes())))?;
        }
        self.write_elsewhere(file, out)?;
        if section.omitted > 0 {
            let lines = counted(section.omitted, "line");
            writeln!(out, "<p>{lines} with costs are omitted: the page holds the most expensive ones</p>")?;
        }
        let is_bare = file.source.is_err();
        if is_bare {
            let lines = counted(section.runs.len(), "line");
            writeln!(out, "<details class=bare><summary>{lines} without text</summary>")?;
        }
        let (lines, costs) = self.widths(section, file);
        writeln!(out, "<div class=source tabindex=0 style=\"--no:{lines}ch;--cost:{costs}ch\"><div>")?;
        self.write_lines(number, file, out)?;
        out.write_all(b"</div></div>\n")?;
        if is_bare {
            out.write_all(b"</details>\n")?;
        }
        out.write_all(b"</section>\n")
    }

    /// The widths of the columns of line numbers and costs, in characters.
    fn widths(&self, section: &Section, file: &AnnotatedFile) -> (usize, usize) {
        let last = section.runs.last().map_or(0, |run| run.to);
        let longest = |rows: &mut dyn Iterator<Item = &[Cost]>| {
            rows.flatten().map(|&cost| cost.unsigned_abs()).max().unwrap_or_default()
        };
        let most = longest(&mut file.costs.rows()).max(longest(&mut file.call_costs.rows()));
        let digits = grouped(most).len();
        (last.to_string().len() + 3, digits.max(6) + 2)
    }

    /// Writes the costs of lines that the text does not have.
    fn write_elsewhere(&self, file: &AnnotatedFile, out: &mut dyn Write) -> io::Result<()> {
        let last = file.source.as_ref().map_or(u64::MAX, |source| source.line_count());
        let mut unknown = vec![0; self.html.totals.len()];
        let mut beyond = unknown.clone();
        for (&line, costs) in file.lines.iter().zip(file.costs.rows()) {
            let sums = match line {
                0 => &mut unknown,
                line if line > last => &mut beyond,
                _ => continue,
            };
            sums.iter_mut().zip(costs).for_each(|(sum, cost)| *sum += cost);
        }
        for (costs, where_it_is) in
            [(unknown, "unknown lines"), (beyond, "lines that the file does not have")]
        {
            if costs.iter().any(|&cost| cost != 0) {
                writeln!(out, "<p>{} on {where_it_is}</p>", self.html.value(&costs))?;
            }
        }
        Ok(())
    }

    fn write_lines(&self, number: usize, file: &AnnotatedFile, out: &mut dyn Write) -> io::Result<()> {
        let section = &self.plan.sections[number];
        let mut highlighter = Highlighter::for_path(self.annotation.view.profile().file(file.id));
        let mut spans = Vec::new();
        let mut texts = file.source.iter().flat_map(|source| source.lines()).zip(1u64..).peekable();
        let mut starts = section.starts.iter().peekable();
        let mut more_starts = section.more_starts.iter().peekable();
        for run in &section.runs {
            begin(run, section.omitted > 0, out)?;
            if run.kind != RunKind::Omitted {
                for line in run.from..=run.to {
                    // What lies between is read for its comments and texts, which may go on here.
                    let mut text = None;
                    while let Some((next, at)) = texts.next_if(|&(_, at)| at <= line) {
                        highlighter.line(next, &mut spans);
                        text = (at == line).then_some(next);
                    }
                    // A function whose brace stands alone has costs from there on; its head belongs above its name.
                    let is_brace = texts.peek().is_some_and(|(next, _)| next.trim_ascii() == b"{");
                    let has_words = text.is_some_and(|text| !text.trim_ascii().is_empty());
                    let is_signature =
                        is_brace && has_words && line < run.to && file.line_costs(line).is_none();
                    let here = if is_signature { line + 1 } else { line };
                    while let Some(&(start, function)) = starts.next_if(|&&(start, _)| start <= here) {
                        if start >= line {
                            self.write_function(function, out)?;
                        }
                    }
                    while let Some(&(start, more)) = more_starts.next_if(|&&(start, _)| start <= here) {
                        if start >= line {
                            let more = counted(more, "more function");
                            writeln!(out, "<div class=f>{more} from the same line</div>")?;
                        }
                    }
                    self.write_line(number, file, line, text.map(|text| Code { text, spans: &spans }), out)?;
                }
            }
            if run.kind == RunKind::Folded {
                out.write_all(b"</details>\n")?;
            }
        }
        Ok(())
    }

    fn write_line(
        &self,
        number: usize,
        file: &AnnotatedFile,
        line: u64,
        code: Option<Code<'_>>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        write!(out, "<div class=l id=f{number}-{line}")?;
        match file.line_costs(line) {
            Some(costs) => {
                let cost = first(costs);
                let heat = heat(cost, self.plan.hottest);
                write!(out, " data-c={}", data(costs))?;
                if heat > 0 {
                    write!(out, " style=--h:{heat}")?;
                }
                let share = self.html.share(cost);
                write!(out, "><a href=#f{number}-{line}>{line}</a><b>{}</b><i>{share}</i>", grouped(cost))?;
            }
            None => write!(out, "><a href=#f{number}-{line}>{line}</a>")?,
        }
        out.write_all(b"<code>")?;
        if let Some(code) = code {
            write!(out, "{code}")?;
        }
        self.write_inlined(file, line, out)?;
        self.write_jumps(file, line, out)?;
        out.write_all(b"</code></div>\n")?;
        // All functions that the line is part of make the same call there. A hostile line makes all calls of a profile.
        let mut calls: Vec<(SubjectId, bool, u32)> = (file.calls_on(line).zip(0..))
            .map(|((call, _), nth)| {
                (call.callee, self.annotation.view.is_inner(call.caller, call.callee), nth)
            })
            .collect();
        calls.sort_unstable();
        let start = file.first_call_on(line);
        let same_call = |a: &(SubjectId, bool, u32), b: &(SubjectId, bool, u32)| (a.0, a.1) == (b.0, b.1);
        let mut expensive: Vec<LineCall> = Vec::new();
        let mut count_of_calls = 0;
        for same in calls.chunk_by(same_call) {
            let (callee, is_inner, _) = same[0];
            let (mut count, mut costs) = (0, vec![0; self.html.totals.len()]);
            for &(_, _, nth) in same {
                let call = start + nth as usize;
                count += file.calls[call].count;
                costs.iter_mut().zip(file.call_costs.row(call)).for_each(|(sum, cost)| *sum += cost);
            }
            count_of_calls += 1;
            expensive.push(LineCall { callee, is_inner, count, costs });
            // Twice as many, so that each of them is compared only a few times.
            if expensive.len() >= 2 * MAX_CALLS {
                expensive.sort_by_key(LineCall::sort_key);
                expensive.truncate(MAX_CALLS);
            }
        }
        expensive.sort_by_key(LineCall::sort_key);
        expensive.truncate(MAX_CALLS);
        let more: usize = count_of_calls - expensive.len();
        for LineCall { callee, is_inner, count, costs } in expensive {
            let class = if is_inner { "\"c r\"" } else { "c" };
            writeln!(
                out,
                "<div class={class} data-c={}><b>{}</b><i>{}</i><span>{}<small>{}</small></span></div>",
                data(&costs),
                grouped(first(&costs)),
                self.html.share(first(&costs)),
                self.function_link(callee, CALLEE_WIDTH),
                times(count),
            )?;
        }
        if more > 0 {
            writeln!(out, "<div class=c><span>{}</span></div>", counted(more, "more function"))?;
        }
        Ok(())
    }

    /// Writes the functions that were inlined from a line.
    fn write_inlined(&self, file: &AnnotatedFile, line: u64, out: &mut dyn Write) -> io::Result<()> {
        let names = self.annotation.inlined.as_ref().map_or(&[][..], |inlined| inlined.get(file.id, line));
        for name in names.iter().take(MAX_INLINED) {
            let name = shorten(name, INLINED_WIDTH);
            write!(out, "<span class=in>inlined {}</span>", Escaped(printable(name.as_bytes())))?;
        }
        if names.len() > MAX_INLINED {
            write!(out, "<span class=in>{} more</span>", names.len() - MAX_INLINED)?;
        }
        Ok(())
    }

    fn write_jumps(&self, file: &AnnotatedFile, line: u64, out: &mut dyn Write) -> io::Result<()> {
        // A jump to the same line or the next is no news.
        let is_far = |jump: &&LineJumps| {
            jump.target_line > 0
                && (jump.target_file != file.id
                    || !(line..=line.saturating_add(1)).contains(&jump.target_line))
        };
        let jumps: Vec<&LineJumps> = file.jumps_on(line).iter().filter(is_far).collect();
        for jump in jumps.iter().take(MAX_JUMPS) {
            let target = jump.target_line;
            let target_text = match jump.target_file == file.id {
                true if target < line => format!("↑{target}"),
                true => format!("↓{target}"),
                false => format!("→{}:{target}", base_name(&self.path(jump.target_file))),
            };
            let taken = match jump.executed {
                Some(executed) => format!("taken {} of {}", grouped(jump.taken), grouped(executed)),
                None => format!("taken {}", grouped(jump.taken)),
            };
            let (open, close) = match self.plan.line_anchor(jump.target_file, target) {
                Some(anchor) => (format!("<a class=j href=#{anchor}"), "</a>"),
                None => ("<span class=j".to_owned(), "</span>"),
            };
            write!(out, "{open}>{} {taken}{close}", Escaped(target_text))?;
        }
        if jumps.len() > MAX_JUMPS {
            write!(out, "<span class=j>{} more</span>", jumps.len() - MAX_JUMPS)?;
        }
        Ok(())
    }

    /// The head of a function, above its first line: what it cost, and from where it was called.
    fn write_function(&self, id: SubjectId, out: &mut dyn Write) -> io::Result<()> {
        let view = self.annotation.view;
        let calls = view.call_count(id);
        write!(
            out,
            "<div class=f id=n{}><strong>{}</strong> self {} inclusive {}{}",
            id.index(),
            self.short_name(id, HEAD_WIDTH),
            self.html.value(view.self_cost(id)),
            self.html.value(view.inclusive_cost(id)),
            if calls == 0 { String::new() } else { format!(" called{}", times(calls)) },
        )?;
        let calls = self.annotation.calls_of(id);
        if !calls.is_empty() {
            out.write_all(b"<ul>")?;
            for call_ref in calls.iter().take(MAX_CALLERS) {
                let (file, call, costs) = self.annotation.call(call_ref);
                let path = self.path(file.id);
                let where_it_is = format!("{}:{}", base_name(&path), call.line);
                let where_it_is = match self.plan.line_anchor(file.id, call.line) {
                    Some(anchor) => format!("<a href=#{anchor}>{}</a>", Escaped(where_it_is)),
                    None => Escaped(where_it_is).to_string(),
                };
                write!(
                    out,
                    "<li>{} {where_it_is}{} {}</li>",
                    self.function_link(call.caller, CALLER_WIDTH),
                    times(call.count),
                    self.html.value(costs)
                )?;
            }
            if calls.len() > MAX_CALLERS {
                write!(out, "<li>{}</li>", counted(calls.len() - MAX_CALLERS, "more line"))?;
            }
            out.write_all(b"</ul>")?;
        }
        out.write_all(b"</div>\n")
    }
}

/// The calls of a function from one line.
struct LineCall {
    callee: SubjectId,
    /// `true` if they stay inside a cycle.
    is_inner: bool,
    count: Cost,
    costs: Vec<Cost>,
}

impl LineCall {
    fn sort_key(&self) -> (Reverse<Cost>, SubjectId, bool) {
        (Reverse(first(&self.costs)), self.callee, self.is_inner)
    }
}

fn begin(run: &LineRun, has_costs: bool, out: &mut dyn Write) -> io::Result<()> {
    let lines = counted(usize::try_from(run.len()).unwrap_or(usize::MAX), "line");
    match run.kind {
        RunKind::Shown => Ok(()),
        RunKind::Folded => writeln!(out, "<details class=gap><summary>{lines}</summary>"),
        RunKind::Omitted if has_costs => writeln!(out, "<p class=gap>{lines} omitted</p>"),
        RunKind::Omitted => writeln!(out, "<p class=gap>{lines} without costs</p>"),
    }
}
