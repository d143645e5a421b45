//! The printer for people: a listing of each function, with arrows for jumps.

use std::io::{self, Write};

use gristmill_format::Cost;
use gristmill_output::wrap::{columns, hang, write_dim};
use gristmill_output::{Look, grouped, lossy, percent, percent_number, printable};
use unicode_width::UnicodeWidthChar as _;

use super::lanes::{Arrow, Lanes};
use super::listing::{Call, Jump, Listing};
use super::plan::{Item, items};
use super::{Assembly, first};
use crate::annotate::is_unknown;
use crate::html_page::counted;
use crate::names::short;
use crate::view::{SubjectId, ViewError};

/// The options of text. See the example of [`Assembly::write_text`].
#[derive(Debug, Clone, Copy)]
pub struct AssemblyTextOptions {
    /// The count of instructions to show before and after those with costs.
    pub context: u64,
    /// `true` if source lines and inlined functions are shown between instructions.
    pub has_lines: bool,
    /// `true` if arrows are made of ASCII.
    pub is_ascii: bool,
}

/// The columns for instructions that other columns leave at least.
const MIN_CODE_COLUMNS: usize = 50;

/// The columns up to which instructions are padded so that counts of jumps are aligned.
const MAX_PADDED_COLUMNS: usize = 34;

/// The columns that the name of an inlined function takes at least: deep ones are cut at the right edge.
const MIN_INLINED_COLUMNS: usize = 12;

/// The columns of the name of a function that a jump leads to.
const MAX_JUMP_NAME: usize = 40;

/// The limit of callees of an address, and of jumps.
const MAX_LISTED: usize = 30;

/// The signs of a text.
struct Signs {
    call: &'static str,
    times: &'static str,
    to: &'static str,
    more: &'static str,
}

const SIGNS: Signs = Signs { call: "↳", times: "×", to: "→", more: "…" };
const ASCII_SIGNS: Signs = Signs { call: "=>", times: "x", to: "->", more: "..." };

impl Assembly<'_> {
    /// Writes functions as text.
    ///
    /// ```
    /// use std::rc::Rc;
    /// use std::sync::Arc;
    ///
    /// use gristmill_output::Look;
    /// use gristmill_output::source::{SourceError, SourceText, Sources};
    /// use gristmill_profile::Profile;
    /// use gristmill_report::assembly::{Assembly, AssemblyOptions, AssemblyTextOptions};
    /// use gristmill_report::program::{Evidence, Program, ProgramError, Programs};
    /// use gristmill_report::{View, ViewOptions};
    ///
    /// struct Nothing;
    ///
    /// impl Programs for Nothing {
    ///     fn get(&self, _: &[u8], _: &[Evidence<'_>]) -> Result<Rc<dyn Program>, ProgramError> {
    ///         Err(ProgramError::Missing)
    ///     }
    /// }
    ///
    /// impl Sources for Nothing {
    ///     fn get(&self, _: &[u8]) -> Result<Arc<SourceText>, SourceError> {
    ///         Err(SourceError::Missing)
    ///     }
    /// }
    ///
    /// let text = "positions: instr\nevents: Ir\nob=mill\nfn=main\n0x10 3\n+2 4\n";
    /// let view = View::new(Profile::from_bytes(text.as_bytes().to_vec()), &ViewOptions::default())?;
    /// let assembly = Assembly::new(&view, &AssemblyOptions::default(), &Nothing, &Nothing)?;
    /// let options = AssemblyTextOptions { context: 3, has_lines: true, is_ascii: false };
    /// let mut out = Vec::new();
    /// assembly.write_text(&options, &Look::plain(80), &mut out)?;
    /// assert!(String::from_utf8_lossy(&out).contains("3   42.9       10"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of the output, and if a derived cost is out of range.
    pub fn write_text(
        &self,
        options: &AssemblyTextOptions,
        look: &Look,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let signs = if options.is_ascii { &ASCII_SIGNS } else { &SIGNS };
        self.head.write_text(look, out)?;
        for (text, hint) in self.remarks() {
            let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
            let lines = hang("", &format!("warning: {text}{hint}"), 2, look.width);
            writeln!(out, "{}", look.painter().yellow(lines))?;
        }
        writeln!(out, "{}", self.summary())?;
        let mut has_calls = false;
        for &id in &self.chosen {
            let listing = self.listing(id).map_err(out_of_range)?;
            writeln!(out)?;
            let mut text = FunctionText::new(self, id, &listing, options, *look, signs);
            text.write(out)?;
            has_calls |= text.has_calls;
        }
        if has_calls {
            writeln!(out)?;
            let legend =
                format!("{} calls, with inclusive cost, which is not part of the cost beside", signs.call);
            write_dim(out, &legend, look, 2)?;
        }
        if self.sources.missing_count() > 0 {
            let missing = self.sources.missing_count();
            let noun = if missing == 1 { "source file was" } else { "source files were" };
            write_dim(out, &format!("{} {noun} not found", grouped(missing)), look, 2)?;
        }
        Ok(())
    }

    /// The sentence that says how much is shown.
    fn summary(&self) -> String {
        let (shown, all) = self.counts();
        let noun = if all == 1 { "function" } else { "functions" };
        let mut text = match shown == all {
            true => format!("{} {noun}", grouped(all)),
            false => format!("{} of {} {noun}", grouped(shown), grouped(all)),
        };
        let share = percent(self.shown_cost(), self.head.totals[0]);
        if !matches!(&share[..], "" | "0.0%") {
            text.push_str(&format!(" with {share} of the self cost"));
        }
        text
    }
}

/// A cost that is out of range, as an error of the output, which it ends.
pub(super) fn out_of_range(error: ViewError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

/// A function while it is written.
struct FunctionText<'t> {
    assembly: &'t Assembly<'t>,
    id: SubjectId,
    listing: &'t Listing,
    items: Vec<Item>,
    lanes: Lanes,
    /// By jump, `true` if its arrow is drawn.
    is_drawn: Vec<bool>,
    options: &'t AssemblyTextOptions,
    look: Look,
    signs: &'t Signs,
    /// The width of each event type that fits.
    widths: Vec<usize>,
    address_columns: usize,
    /// The columns that instructions are padded to.
    code_columns: usize,
    has_calls: bool,
}

impl<'t> FunctionText<'t> {
    fn new(
        assembly: &'t Assembly<'t>,
        id: SubjectId,
        listing: &'t Listing,
        options: &'t AssemblyTextOptions,
        look: Look,
        signs: &'t Signs,
    ) -> Self {
        let items = items(listing, options.context, options.has_lines);
        let (lanes, is_drawn) = lanes(listing, &items, max_lanes(look.width));
        let last = listing.rows.last().map_or(0, |row| row.address);
        let address_columns = format!("{last:x}").len().max("Address".len());
        let fixed = address_columns + 2 + lanes.columns() + MIN_CODE_COLUMNS;
        let widths = widths(assembly, listing, look.width.saturating_sub(fixed));
        let shown = items.iter().filter_map(|item| match item {
            Item::Instruction(row) => listing.rows[*row].instruction.as_ref(),
            _ => None,
        });
        let code_columns =
            shown.map(|it| columns(&it.text)).filter(|&width| width <= MAX_PADDED_COLUMNS).max();
        FunctionText {
            assembly,
            id,
            listing,
            items,
            lanes,
            is_drawn,
            options,
            look,
            signs,
            widths,
            address_columns,
            code_columns: code_columns.unwrap_or(0),
            has_calls: false,
        }
    }

    fn write(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.write_heading(out)?;
        if self.listing.rows.is_empty() {
            return self.write_unplaced(out);
        }
        let mut titles = String::new();
        for (nth, (event, &width)) in self.assembly.head.events.iter().zip(&self.widths).enumerate() {
            titles.push_str(&right(&printable(event.name.as_bytes()), width));
            if nth == 0 {
                titles.push_str("      %");
            }
        }
        writeln!(out, "{}", self.look.dim(format!("{titles}  Address")))?;
        for at in 0..self.items.len() {
            match self.items[at].clone() {
                Item::Folded(rows) => {
                    let count = grouped(rows.len());
                    self.write_beside(
                        at,
                        &format!("{} {count} instructions without cost", self.signs.more),
                        true,
                        out,
                    )?;
                }
                Item::Inlined { row, frame } => {
                    let text = self.inlined(at, row, frame);
                    self.write_beside(at, &text, false, out)?;
                }
                Item::Line { row, frame } => {
                    let text = self.line(row, frame);
                    self.write_beside(at, &text, true, out)?;
                }
                Item::Instruction(row) => self.write_instruction(at, row, out)?,
            }
        }
        self.write_unplaced(out)
    }

    /// Writes the name of the function, and where it is, what it costs and what is missing.
    fn write_heading(&self, out: &mut dyn Write) -> io::Result<()> {
        let (view, head) = (self.assembly.view, &self.assembly.head);
        let subject = view.subject(self.id);
        let name = short(subject.name(), self.look.name_columns(self.look.width));
        writeln!(out, "{}", self.look.bold(if name.is_empty() { "???" } else { &name }))?;
        let profile = view.profile();
        let places = [profile.file(subject.file), profile.object(subject.object)];
        let places: Vec<_> =
            places.iter().filter(|path| !is_unknown(path)).map(|path| printable(path)).collect();
        if !places.is_empty() {
            writeln!(out, "{}", hang("  ", &places.join(", "), 4, self.look.width))?;
        }
        let costs = |costs: &[Cost]| {
            let shown = head.events.iter().zip(costs).zip(&head.totals).filter(|((_, cost), _)| **cost != 0);
            let shown: Vec<String> = shown
                .map(|((event, &cost), &total)| {
                    format!(
                        "{} {} ({})",
                        event.unit.show(cost),
                        printable(event.name.as_bytes()),
                        percent(cost, total)
                    )
                })
                .collect();
            if shown.is_empty() { "0".to_owned() } else { shown.join(", ") }
        };
        let calls = match view.call_count(self.id) {
            0 => String::new(),
            1 => "; called once".to_owned(),
            calls => format!("; called {} times", grouped(calls)),
        };
        let line = format!("self {}{calls}", costs(view.self_cost(self.id)));
        writeln!(out, "{}", hang("  ", &line, 4, self.look.width))?;
        let missing = head.events.len() - self.widths.len();
        if missing > 0 && !self.listing.rows.is_empty() {
            let plural = if missing == 1 { "" } else { "s" };
            let note = format!("{missing} more event type{plural}: --width or --show");
            writeln!(out, "{}", self.look.dim(format!("  {note}")))?;
        }
        let mut notes = Vec::new();
        if self.listing.has_program && !self.listing.is_certain {
            notes.push(self.listing.doubt());
        }
        if self.listing.is_cut {
            notes
                .push("it is too large to list all of it: only instructions with costs are shown".to_owned());
        }
        let (count, costs) = self.listing.without_instruction();
        if self.listing.has_program && count > 0 {
            let plural = if count == 1 { "address" } else { "addresses" };
            notes.push(format!(
                "{} {plural} with {} of the self cost: the program has no instruction there",
                grouped(count),
                percent(first(&costs), first(view.self_cost(self.id)))
            ));
        }
        for note in notes {
            writeln!(out, "{}", self.look.painter().yellow(hang("  ", &note, 4, self.look.width)))?;
        }
        Ok(())
    }

    /// Writes what the profile has at positions without an address.
    fn write_unplaced(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let unplaced = &self.listing.unplaced;
        let mut lines = Vec::new();
        if unplaced.self_costs.iter().any(|&cost| cost != 0) {
            let head = &self.assembly.head;
            let shown = head.events.iter().zip(&unplaced.self_costs).filter(|(_, cost)| **cost != 0);
            let shown: Vec<String> = shown
                .map(|(event, &cost)| {
                    format!("{} {}", event.unit.show(cost), printable(event.name.as_bytes()))
                })
                .collect();
            lines.push(format!("{} at no address", shown.join(", ")));
        }
        for (callee, (count, costs)) in unplaced.calls.iter().take(MAX_LISTED) {
            self.has_calls = true;
            let cost = grouped(first(costs));
            lines.push(format!(
                "{cost} {} {} at no address",
                self.signs.call,
                self.called(callee, *count, 50)
            ));
        }
        if unplaced.calls.len() > MAX_LISTED {
            lines.push(self.more(unplaced.calls.len() - MAX_LISTED, "callee"));
        }
        if unplaced.jumps > 0 {
            let plural = if unplaced.jumps == 1 { "" } else { "s" };
            lines.push(format!("{} jump{plural} at no address", grouped(unplaced.jumps)));
        }
        for line in lines {
            writeln!(out, "{}", hang("  ", &line, 4, self.look.width))?;
        }
        Ok(())
    }

    fn write_instruction(&mut self, at: usize, row: usize, out: &mut dyn Write) -> io::Result<()> {
        let listed = &self.listing.rows[row];
        let costs = self.costs(self.listing.costs(row));
        let code = match &listed.instruction {
            Some(instruction) if self.listing.is_certain => {
                printable(instruction.text.as_bytes()).into_owned()
            }
            Some(instruction) => format!("? {}", printable(instruction.text.as_bytes())),
            None if self.listing.has_program => "no instruction here".to_owned(),
            None => String::new(),
        };
        let notes: Vec<String> =
            self.listing.jumps(row).map(|(nth, jump)| self.jump(row, jump, nth)).collect();
        let address = format!("{:>width$x}", listed.address, width = self.address_columns);
        let arrows = self.lanes.text(at, self.options.is_ascii);
        let room = self.look.width.saturating_sub(columns(&costs) + 2 + address.len() + 2 + columns(&arrows));
        let padded = format!("{code:<width$}", width = self.code_columns);
        let beside = match &notes[..] {
            [note] if columns(&padded) + 2 + columns(note) <= room => Some(note),
            _ => None,
        };
        let has_costs = self.listing.costs(row).is_some();
        let address = if has_costs { address } else { self.look.dim(address).to_string() };
        let arrows = self.look.painter().cyan(arrows);
        match beside {
            Some(note) => writeln!(out, "{costs}  {address}  {arrows}{padded}  {}", self.look.dim(note))?,
            None => {
                let line = format!("{costs}  {address}  {arrows}{}", self.fitted(code.trim_end(), room));
                writeln!(out, "{}", line.trim_end())?;
                for note in notes.iter().take(MAX_LISTED) {
                    self.write_beside(at, &format!("  {note}"), true, out)?;
                }
                if notes.len() > MAX_LISTED {
                    let more = self.more(notes.len() - MAX_LISTED, "jump");
                    self.write_beside(at, &format!("  {more}"), true, out)?;
                }
            }
        }
        let calls = self.listing.calls(row);
        let more = calls.len().saturating_sub(MAX_LISTED);
        for (&Call { callee, count, .. }, costs) in calls.take(MAX_LISTED) {
            self.has_calls = true;
            let costs = self.costs(Some(costs));
            let gap = " ".repeat(self.address_columns);
            let below = self.below(at);
            let room = self.look.width.saturating_sub(columns(&costs) + 4 + gap.len() + columns(&below) + 2);
            let called = format!("{} {}", self.signs.call, self.called(callee, count, room));
            let below = self.look.painter().cyan(below);
            writeln!(out, "{costs}  {gap}  {below}{}", self.look.painter().cyan(called))?;
        }
        if more > 0 {
            self.write_beside(at, &self.more(more, "callee"), true, out)?;
        }
        Ok(())
    }

    /// A jump in words: how often it was taken, and its target if no arrow and no operand says it.
    fn jump(&self, row: usize, jump: &Jump, nth: usize) -> String {
        let instruction = self.listing.rows[row].instruction.as_ref();
        let is_known = instruction.is_some_and(|it| it.target.is_some() && it.target == jump.target);
        let mut text = match (jump.target, self.is_drawn[nth] || is_known) {
            (Some(target), false) => format!("{} {target:x} ", self.signs.to),
            _ => String::new(),
        };
        if let Some(function) = jump.function {
            let name = self.assembly.view.subject(function).name();
            text.push_str(&format!("({}) ", short(name, MAX_JUMP_NAME)));
        }
        match jump.executed {
            Some(executed) => {
                text.push_str(&format!("taken {} of {}", grouped(jump.taken), grouped(executed)));
            }
            None => text.push_str(&format!("taken {}", grouped(jump.taken))),
        }
        text
    }

    /// A line that counts what is left out.
    fn more(&self, count: usize, what: &str) -> String {
        format!("{} {}", self.signs.more, counted(count, &format!("more {what}")))
    }

    fn called(&self, callee: SubjectId, count: Cost, room: usize) -> String {
        let name = self.assembly.view.subject(callee).name();
        let times = format!(" {}{}", self.signs.times, grouped(count));
        let name = short(name, self.look.name_columns(room.saturating_sub(columns(&times)).max(12)));
        format!("{}{times}", if name.is_empty() { "???" } else { &name })
    }

    /// The heading of an inlined function.
    fn inlined(&self, at: usize, row: usize, frame: usize) -> String {
        let inlined = self.listing.frames(row)[frame];
        let before = format!("{}inlined ", "  ".repeat(frame - 1));
        let room = self.room_beside(at).saturating_sub(columns(&before)).max(MIN_INLINED_COLUMNS);
        let name = short(&inlined.function, self.look.name_columns(room));
        format!("{before}{}", if name.is_empty() { "a function" } else { &name })
    }

    /// A source line: where it is, and its text if it is found.
    fn line(&self, row: usize, frame: usize) -> String {
        let frames = self.listing.frames(row);
        let frame_here = frames[frame];
        let number = frame_here.line.unwrap_or_default();
        let indent = "  ".repeat(frame);
        let file = base_name(&frame_here.file);
        let place =
            format!("{indent}{}:{number}", if is_unknown(&file) { "???".into() } else { printable(&file) });
        let source = self.assembly.sources.file(&frame_here.file);
        let text = source.as_ref().and_then(|source| source.line(number)).map(source_text);
        match text.filter(|text| !text.is_empty()) {
            Some(text) => format!("{place}  {text}"),
            None => place,
        }
    }

    /// Writes a text where instructions are, beside the arrows that pass.
    fn write_beside(&self, at: usize, text: &str, is_dim: bool, out: &mut dyn Write) -> io::Result<()> {
        let text = self.fitted(text, self.room_beside(at));
        let arrows = self.look.painter().cyan(self.arrows_beside(at));
        let blanks = " ".repeat(self.columns_before());
        match is_dim {
            true => writeln!(out, "{blanks}{arrows}{}", self.look.dim(text)),
            false => writeln!(out, "{blanks}{arrows}{}", self.look.bold(text)),
        }
    }

    /// The columns of costs and addresses.
    fn columns_before(&self) -> usize {
        self.widths.iter().sum::<usize>() + 7 + 2 + self.address_columns + 2
    }

    fn arrows_beside(&self, at: usize) -> String {
        match self.items[at] {
            Item::Instruction(_) => self.below(at),
            _ => self.lanes.text(at, self.options.is_ascii),
        }
    }

    /// The columns that a text beside the arrows may take.
    fn room_beside(&self, at: usize) -> usize {
        self.look.width.saturating_sub(self.columns_before() + columns(&self.arrows_beside(at)))
    }

    /// The arrows that pass below a row.
    fn below(&self, at: usize) -> String {
        self.lanes.text_below(at, self.options.is_ascii)
    }

    /// A text that is cut to fit, unless all of it is wanted.
    fn fitted(&self, text: &str, room: usize) -> String {
        let room = self.look.name_columns(room.max(8));
        if columns(text) <= room {
            return text.to_owned();
        }
        let more = self.signs.more;
        let mut left = room.saturating_sub(columns(more));
        let fits = |character: &char| {
            let width = character.width().unwrap_or(0);
            let is_fitting = width <= left;
            left = left.saturating_sub(width);
            is_fitting
        };
        text.chars().take_while(fits).chain(more.chars()).collect()
    }

    /// The columns of costs: blank if there are none.
    fn costs(&self, costs: Option<&[Cost]>) -> String {
        let head = &self.assembly.head;
        let mut text = String::new();
        for (nth, &width) in self.widths.iter().enumerate() {
            let cost = costs.map(|costs| costs[nth]);
            text.push_str(&right(&cost.map(grouped).unwrap_or_default(), width));
            if nth == 0 {
                let share = cost.map(|cost| percent_number(cost, head.totals[0])).unwrap_or_default();
                text.push_str(&right(&share, 7));
            }
        }
        text
    }
}

/// Finds the arrows of jumps between the rows that are shown, and tells which jumps they stand for.
pub(super) fn lanes(listing: &Listing, items: &[Item], max_lanes: usize) -> (Lanes, Vec<bool>) {
    let mut shown_at = vec![None; listing.rows.len()];
    for (at, item) in items.iter().enumerate() {
        if let Item::Instruction(row) = item {
            shown_at[*row] = Some(at);
        }
    }
    let mut arrows = Vec::new();
    let mut arrow_of = Vec::new();
    for (row, jump) in listing.all_jumps() {
        // A jump that was never taken is no way through the function.
        let target = jump.target_row.filter(|_| jump.taken != 0).and_then(|target| shown_at[target]);
        arrow_of.push(shown_at[row].zip(target).map(|(from, to)| {
            arrows.push(Arrow { from, to });
            arrows.len() - 1
        }));
    }
    let lanes = Lanes::new(items.len(), &arrows, max_lanes);
    let is_drawn =
        arrow_of.into_iter().map(|arrow| arrow.is_some_and(|arrow| lanes.is_drawn[arrow])).collect();
    (lanes, is_drawn)
}

/// The limit of lanes on a terminal of this width.
fn max_lanes(width: usize) -> usize {
    match width {
        0..100 => 4,
        100..140 => 7,
        _ => 12,
    }
}

/// The width of each event type, as far as they fit; the first one always does.
fn widths(assembly: &Assembly<'_>, listing: &Listing, room: usize) -> Vec<usize> {
    let mut widths: Vec<usize> =
        assembly.head.events.iter().map(|event| columns(&printable(event.name.as_bytes())).min(20)).collect();
    let mut extremes = vec![(0, 0); widths.len()];
    for costs in listing.all_costs() {
        for ((least, most), &cost) in extremes.iter_mut().zip(costs) {
            (*least, *most) = (cost.min(*least), cost.max(*most));
        }
    }
    for (width, (least, most)) in widths.iter_mut().zip(extremes) {
        *width = (*width).max(grouped(least).len()).max(grouped(most).len());
    }
    // A gap precedes each of them, and a share follows the first.
    widths.iter_mut().for_each(|width| *width += 2);
    let mut total = 7;
    let fits = |(nth, width): (usize, &usize)| {
        total += width;
        nth == 0 || total <= room
    };
    let fitting = widths.iter().enumerate().map(fits).take_while(|&is| is).count();
    widths.truncate(fitting);
    widths
}

/// A source line without blanks around it, safe to show.
pub(super) fn source_text(line: &[u8]) -> String {
    /// Longer lines are those of generated files.
    const MAX_BYTES: usize = 1_000;

    let line = line.trim_ascii();
    let line = lossy(&line[..line.len().min(MAX_BYTES)]).replace('\t', " ");
    printable(line.as_bytes()).into_owned()
}

/// The last component of a path.
pub(super) fn base_name(path: &[u8]) -> Vec<u8> {
    path.rsplit(|&byte| byte == b'/' || byte == b'\\').next().unwrap_or(path).to_vec()
}

/// A text at the right of its column.
fn right(text: &str, width: usize) -> String {
    format!("{}{text}", " ".repeat(width.saturating_sub(columns(text))))
}
