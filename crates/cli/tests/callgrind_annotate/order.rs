//! The order of call rows. Where costs are the same, that of the original is random; and a line that several functions
//! share has rows of all of them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::facts::{Facts, Given, add};
use super::made::{masked, masked_function};
use super::output::{Report, Section, own_name};

/// `file:name`, as functions are shown.
type Label = String;

/// The costs of arcs, by which call rows are sorted.
#[derive(Debug, Default)]
pub(crate) struct Arcs {
    functions: BTreeSet<Label>,
    /// The same as they stand in changed profiles.
    masked: BTreeSet<Label>,
    whole: BTreeMap<(Label, Label), Given>,
    /// The same within one source file.
    by_file: BTreeMap<(Label, Label), Given>,
    /// Callers and callees on a line of a file.
    on_line: BTreeMap<(String, u64), BTreeMap<Label, BTreeSet<Label>>>,
}

impl Arcs {
    pub(crate) fn of(facts: &Facts) -> Arcs {
        let mut arcs = Arcs::default();
        for block in &facts.blocks {
            let caller = format!("{}:{}", block.file, block.function);
            for row in &block.rows {
                let Some(call) = &row.call else { continue };
                let callee = format!("{}:{}", call.file, call.function);
                let here = format!("{}:{}", row.file, block.function);
                add(arcs.whole.entry((caller.clone(), callee.clone())).or_default(), &row.costs);
                add(arcs.by_file.entry((here.clone(), callee.clone())).or_default(), &row.costs);
                let on_line = arcs.on_line.entry((row.file.clone(), row.line)).or_default();
                on_line.entry(callee.clone()).or_default().insert(here);
                arcs.functions.insert(callee);
                arcs.masked.insert(format!("{}:{}", masked(&call.file), masked_function(&call.function)));
            }
            arcs.functions.insert(caller);
            arcs.masked.insert(format!("{}:{}", masked(&block.file), masked_function(&block.function)));
        }
        arcs
    }

    pub(crate) fn masked_functions(&self) -> BTreeSet<&str> {
        self.masked.iter().map(String::as_str).collect()
    }

    /// Sorts the call rows of a report by these event types, and by name where they are the same.
    pub(crate) fn sort(&self, report: &mut Report, events: &[usize]) {
        report.head = self.head(&report.head, events);
        for section in &mut report.sections {
            section.text = self.section(section, events);
        }
    }

    /// Callers and callees in the table of functions.
    fn head(&self, head: &str, events: &[usize]) -> String {
        let functions: BTreeSet<&str> = self.functions.iter().map(String::as_str).collect();
        let lines: Vec<&str> = head.split_inclusive('\n').collect();
        let mut sorted = String::new();
        for block in lines.split_inclusive(|line| *line == "\n") {
            let own = block.iter().find_map(|line| own_name(line, &functions, true));
            let Some(own) = own else {
                sorted.extend(block.iter().copied());
                continue;
            };
            let costs = |caller: &str, callee: &str| {
                self.whole.get(&(caller.to_owned(), callee.to_owned())).cloned().unwrap_or_default()
            };
            let mut rows = Rows::default();
            for line in block {
                if let Some(caller) = label(line, "  < ") {
                    rows.push(line, key(&costs(caller, own), events, caller));
                } else if let Some(callee) = label(line, "  >   ") {
                    rows.push(line, key(&costs(own, callee), events, callee));
                } else {
                    rows.flush(&mut sorted);
                    sorted.push_str(line);
                }
            }
            rows.flush(&mut sorted);
        }
        sorted
    }

    /// Callees below the lines of a source file.
    fn section(&self, section: &Section, events: &[usize]) -> String {
        let mut lines = section.text.split_inclusive('\n');
        let mut sorted: String = lines.by_ref().take(3).collect();
        // The number of the line that comes next. Remarks come first, then the names of the columns.
        let mut number: Option<u64> = None;
        let mut rows = Rows::default();
        let mut is_head = false;
        for line in lines {
            let marker = line.strip_prefix("-- line ").and_then(|rest| rest.split(' ').next());
            let callee = number.and_then(|_| label(line, "  => "));
            if let (Some(callee), Some(next)) = (callee, number) {
                let on_line = self.on_line.get(&(section.name().to_owned(), next - 1));
                let callers = on_line.and_then(|callees| callees.get(callee));
                let mut costs = Given::new();
                for caller in callers.into_iter().flatten() {
                    let arc = (caller.clone(), callee.to_owned());
                    add(&mut costs, self.by_file.get(&arc).map_or(&[][..], Vec::as_slice));
                }
                rows.push(line, key(&costs, events, callee));
                continue;
            }
            rows.flush(&mut sorted);
            sorted.push_str(line);
            if let Some(marker) = marker {
                number = marker.parse().ok();
            } else if let Some(next) = number {
                number = Some(next + 1);
            } else if line == "\n" && is_head {
                number = Some(1);
            } else {
                is_head = line != "\n" && !line.starts_with('@');
            }
        }
        rows.flush(&mut sorted);
        sorted
    }
}

/// Most expensive first; what is not given counts as a little less than nothing.
type Key = (Vec<Reverse<i128>>, Label);

fn key(costs: &Given, events: &[usize], label: &str) -> Key {
    let cost = |&event: &usize| Reverse(costs.get(event).copied().flatten().unwrap_or(-1));
    (events.iter().map(cost).collect(), label.to_owned())
}

/// The function in a call row.
fn label<'l>(line: &'l str, sign: &str) -> Option<&'l str> {
    let (_, rest) = line.split_once(sign)?;
    let end = rest.rfind("x)")?;
    let (label, count) = rest[..end].rsplit_once(" (")?;
    count.bytes().all(|byte| byte.is_ascii_digit() || byte == b',').then_some(label)
}

/// Rows that stand together.
#[derive(Debug, Default)]
struct Rows<'l>(Vec<(Key, &'l str)>);

impl<'l> Rows<'l> {
    fn push(&mut self, line: &'l str, key: Key) {
        self.0.push((key, line));
    }

    fn flush(&mut self, sorted: &mut String) {
        self.0.sort();
        self.0.drain(..).for_each(|(_, line)| sorted.push_str(line));
    }
}
