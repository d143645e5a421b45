//! Profiles for which the original prints what it should print for another one: one part, every name with its own
//! id, every position a source line, nothing that it misreads.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::facts::{Block, Facts, Given, Row, add, bytes};

/// Added to each count that is not above 0, for the original to take the call for one; taken off again from what it
/// prints.
pub(crate) const ZERO: i128 = 1_000_000_000_000;
/// Stands for a colon in the name of a source file: next to it in order, and no end of the name to the original.
const COLON: char = ';';
/// Stands for a name that is empty, which the original takes for a folder. With the colon behind it, it comes where that
/// colon would come alone.
const EMPTY: &str = ";\u{1}";

/// Stands for the name of a function that is empty, without which the original takes `file:` for the name of a file.
const UNNAMED: &str = "\u{2}";

/// The name of a function that the original does not stumble over.
pub(crate) fn masked_function(name: &str) -> &str {
    if name.is_empty() { UNNAMED } else { name }
}

/// The name of a source file that the original does not stumble over.
pub(crate) fn masked(name: &str) -> String {
    if name.is_empty() { EMPTY.to_owned() } else { name.replace(':', &COLON.to_string()) }
}

/// Returns `true` if the original misreads the name of a source file or function.
pub(crate) fn has_odd_name(facts: &Facts) -> bool {
    let is_odd = |row: &Row| {
        let is_unnamed = row.call.as_ref().is_some_and(|call| call.function.is_empty());
        is_unnamed || row.file.is_empty() || row.file.contains(':')
    };
    facts.blocks.iter().any(|block| block.function.is_empty() || block.rows.iter().any(is_odd))
}

/// Puts names back that were masked.
pub(crate) fn unmasked(text: &str, facts: &Facts) -> String {
    let calls = |row: &Row| row.call.as_ref().map(|call| call.file.clone());
    let rows = facts.blocks.iter().flat_map(|block| &block.rows);
    let files = rows.flat_map(|row| [Some(row.file.clone()), calls(row)]).flatten();
    let files: BTreeSet<String> = files.chain(facts.blocks.iter().map(|block| block.file.clone())).collect();
    let mut odd: Vec<&String> = files.iter().filter(|file| file.contains(':')).collect();
    // One may be part of another.
    odd.sort_by_key(|file| Reverse(file.len()));
    odd.iter()
        .fold(text.replace(EMPTY, "").replace(UNNAMED, ""), |text, file| text.replace(&masked(file), file))
}

/// An event type that makes the original believe totals of which none is above 0. No line has costs of it.
const SAID: &str = "said";

/// Returns `true` if the original uses a total.
pub(crate) fn is_heard(total: &Given) -> bool {
    total.iter().flatten().any(|&cost| cost > 0)
}

/// Takes off again what was added for that.
pub(crate) fn without_said(text: &str) -> String {
    text.replacen(&format!(" {SAID}\n"), "\n", 1)
}

/// The function that all that stands in a source file is made a part of.
const EVERYTHING: &str = "everything";

/// The spelling of inlined code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Inlined {
    /// As it is.
    Kept,
    /// Its calls are those of the function.
    CallsMoved,
    /// All of it is part of the function.
    Whole,
}

#[derive(Debug)]
pub(crate) struct Made {
    text: String,
    numbers: [BTreeMap<String, usize>; 3],
}

const OBJECTS: usize = 0;
const FILES: usize = 1;
const FUNCTIONS: usize = 2;

impl Made {
    fn begin(facts: &Facts, total: Option<&Given>) -> Made {
        let mut text = String::new();
        for line in &facts.header {
            text.push_str(line);
            text.push('\n');
        }
        let is_heard = total.is_none_or(is_heard);
        let (one_more, one) = if is_heard { (String::new(), "") } else { (format!(" {SAID}"), " 1") };
        let _ = writeln!(text, "positions: line\nevents: {}{one_more}", facts.events.join(" "));
        if let Some(total) = total {
            let given =
                if is_heard { spelled(total) } else { total.iter().map(|&cost| cell(cost)).collect() };
            let _ = writeln!(text, "summary:{given}{one}");
        }
        Made { text, numbers: Default::default() }
    }

    fn name(&mut self, key: &str, space: usize, name: &str) {
        let masked = match space {
            FILES => masked(name),
            FUNCTIONS => masked_function(name).to_owned(),
            _ => name.to_owned(),
        };
        let name = masked.as_str();
        let next = self.numbers[space].len() + 1;
        if name.is_empty() {
            let _ = writeln!(self.text, "{key}=");
        } else if let Some(number) = self.numbers[space].get(name) {
            let _ = writeln!(self.text, "{key}=({number})");
        } else {
            self.numbers[space].insert(name.to_owned(), next);
            let _ = writeln!(self.text, "{key}=({next}) {name}");
        }
    }

    fn function(&mut self, object: Option<&str>, file: &str, function: &str) {
        if let Some(object) = object {
            self.name("ob", OBJECTS, object);
        }
        self.name("fl", FILES, file);
        self.name("fn", FUNCTIONS, function);
    }

    fn row(&mut self, row: &Row, current: &mut String, file: &str) {
        if current != file {
            self.name("fi", FILES, file);
            file.clone_into(current);
        }
        if let Some(call) = &row.call {
            if let Some(object) = &call.object {
                self.name("cob", OBJECTS, object);
            }
            self.name("cfi", FILES, &call.file);
            self.name("cfn", FUNCTIONS, &call.function);
            let _ = writeln!(
                self.text,
                "calls={} 0",
                if call.count <= 0 { ZERO + call.count } else { call.count }
            );
        }
        let _ = writeln!(self.text, "{}{}", row.line, spelled(&row.costs));
    }

    /// The whole profile.
    pub(crate) fn whole(facts: &Facts, inlined: Inlined, total: Option<&Given>) -> Vec<u8> {
        let mut made = Made::begin(facts, total);
        for block in &facts.blocks {
            made.function(block.object.as_deref(), &block.file, &block.function);
            let mut current = block.file.clone();
            for row in &block.rows {
                let moves = match inlined {
                    Inlined::Kept => false,
                    Inlined::CallsMoved => row.call.is_some(),
                    Inlined::Whole => true,
                };
                made.row(row, &mut current, if moves { &block.file } else { &row.file });
            }
        }
        bytes(&made.text)
    }

    /// Writes functions without calls, whose self cost is the inclusive cost of others.
    pub(crate) fn flat(facts: &Facts, total: Option<&Given>) -> Vec<u8> {
        let mut made = Made::begin(facts, total);
        let mut objects: BTreeMap<Key, Option<&str>> = BTreeMap::new();
        for block in &facts.blocks {
            objects.insert((block.file.clone(), block.function.clone()), block.object.as_deref());
        }
        let mut functions: Vec<_> = inclusive(facts)
            .0
            .into_iter()
            .map(|(key, costs)| (objects.get(&key).copied().flatten(), key, costs))
            .collect();
        // An object holds until the next; so those without one come first.
        functions.sort_by_key(|(object, ..)| object.is_some());
        for (object, (file, function), costs) in functions {
            made.function(object, &file, &function);
            let _ = writeln!(made.text, "0{}", spelled(&costs));
        }
        bytes(&made.text)
    }

    /// Writes the content of some files, each as if it were one function.
    pub(crate) fn sources(facts: &Facts, chosen: &BTreeSet<String>, total: &Given) -> Vec<u8> {
        let mut made = Made::begin(facts, Some(total));
        let mut current = String::new();
        let rows = facts.blocks.iter().flat_map(|block: &Block| &block.rows);
        for row in rows.filter(|row| chosen.contains(&masked(&row.file))) {
            if current != row.file || made.numbers[FUNCTIONS].is_empty() {
                made.function(None, &row.file, EVERYTHING);
                current.clone_from(&row.file);
            }
            made.row(row, &mut current, &row.file);
        }
        // What is only called is in a file all the same.
        let calls = facts.blocks.iter().flat_map(|block| &block.rows).filter_map(|row| row.call.as_ref());
        let named = calls.map(|call| &call.file).chain(facts.blocks.iter().map(|block| &block.file));
        let named: BTreeSet<String> = named.map(|file| masked(file)).collect();
        let rows = facts.blocks.iter().flat_map(|block| &block.rows);
        let with_rows: BTreeSet<String> = rows.map(|row| masked(&row.file)).collect();
        for file in chosen.intersection(&named).filter(|file| !with_rows.contains(*file)) {
            made.function(None, file, EVERYTHING);
        }
        bytes(&made.text)
    }
}

fn spelled(costs: &Given) -> String {
    let given = costs.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
    costs[..given].iter().map(|&cost| cell(cost)).collect()
}

fn cell(cost: Option<i128>) -> String {
    cost.map_or(" .".to_owned(), |cost| format!(" {cost}"))
}

/// File and name, by which the original knows a function.
type Key = (String, String);

/// Returns the inclusive costs of functions, and whether some of them are recursive.
///
/// Those have the costs of their own lines and of the calls that lead out of the recursion, and never more than there
/// is. Others are as the original has them: what the calls to them cost, or, if they are never called, their own lines
/// and the calls they make.
pub(crate) fn inclusive(facts: &Facts) -> (BTreeMap<Key, Given>, bool) {
    let mut keys: BTreeMap<Key, usize> = BTreeMap::new();
    let mut arcs: BTreeMap<(usize, usize), Given> = BTreeMap::new();
    let mut own: Vec<Given> = Vec::new();
    let mut number = |key: Key, own: &mut Vec<Given>| {
        let next = keys.len();
        let number = *keys.entry(key).or_insert(next);
        own.resize(keys.len(), Vec::new());
        number
    };
    for block in &facts.blocks {
        let caller = number((block.file.clone(), block.function.clone()), &mut own);
        for row in &block.rows {
            match &row.call {
                None => add(&mut own[caller], &row.costs),
                Some(call) => {
                    let callee = number((call.file.clone(), call.function.clone()), &mut own);
                    add(arcs.entry((caller, callee)).or_default(), &row.costs);
                }
            }
        }
    }
    let component = components(own.len(), arcs.keys().copied());
    let mut is_recursive = vec![false; own.len()];
    let mut is_called = vec![false; own.len()];
    let mut incoming = vec![Given::new(); own.len()];
    let mut outgoing = own;
    for (&(from, to), costs) in &arcs {
        add(&mut incoming[to], costs);
        is_called[to] = true;
        if component[from] == component[to] {
            (is_recursive[from], is_recursive[to]) = (true, true);
        } else {
            add(&mut outgoing[from], costs);
        }
    }
    // Either may be missing: what files claim, or what their lines cost.
    let mut total = facts.total().0;
    let mut sum = Given::new();
    facts.parts.iter().for_each(|part| add(&mut sum, &part.sum));
    total.iter_mut().zip(sum).for_each(|(total, sum)| *total = sum.max(*total));
    let any = is_recursive.contains(&true);
    let costs = |nth: usize| {
        if !is_recursive[nth] {
            return if is_called[nth] { incoming[nth].clone() } else { outgoing[nth].clone() };
        }
        let mut costs = outgoing[nth].clone();
        costs.resize(total.len(), None);
        for (event, cost) in costs.iter_mut().enumerate() {
            let limit = total[event].filter(|&total| total >= 0).unwrap_or(i128::MAX);
            // A zero is shown where calls to it gave one, as for what does not recur.
            let called = incoming[nth].get(event).copied().flatten().map(|_| 0);
            *cost = cost.filter(|&cost| cost != 0).map(|cost| cost.min(limit)).or(called);
        }
        costs
    };
    (keys.into_iter().map(|(key, nth)| (key, costs(nth))).collect(), any)
}

/// Numbers of strongly connected components.
fn components(count: usize, arcs: impl Iterator<Item = (usize, usize)>) -> Vec<usize> {
    let mut to = vec![Vec::new(); count];
    let mut from = vec![Vec::new(); count];
    for (one, other) in arcs {
        to[one].push(other);
        from[other].push(one);
    }
    let mut order = Vec::new();
    let mut seen = vec![false; count];
    for start in 0..count {
        walk(start, &to, &mut seen, &mut order);
    }
    let mut component = vec![usize::MAX; count];
    let mut seen = vec![false; count];
    for &start in order.iter().rev() {
        let mut members = Vec::new();
        walk(start, &from, &mut seen, &mut members);
        members.into_iter().for_each(|member| component[member] = start);
    }
    component
}

/// Adds what can be reached to `order`, each after its callees.
fn walk(start: usize, arcs: &[Vec<usize>], seen: &mut [bool], order: &mut Vec<usize>) {
    let mut stack = vec![(start, 0)];
    if std::mem::replace(&mut seen[start], true) {
        return;
    }
    while let Some((here, next)) = stack.last_mut() {
        if let Some(&there) = arcs[*here].get(*next) {
            *next += 1;
            if !std::mem::replace(&mut seen[there], true) {
                stack.push((there, 0));
            }
        } else {
            order.push(*here);
            stack.pop();
        }
    }
}
