//! Shares of the total: by object, source file, thread and part.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use gristmill_format::Cost;
use gristmill_output::json::Costs;
use gristmill_output::lossy;
use gristmill_profile::Part;
use schemars::JsonSchema;
use serde::Serialize;

use crate::amount::add;
use crate::head::Head;
use crate::view::View;

/// The rows of each list. A profile can have millions of parts.
const MAX_ROWS: usize = 1000;

/// The self cost of a share of the profile. See the example of [`Overview`](crate::Overview).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ShareRow {
    /// The name of the object, file, thread or part.
    pub name: String,
    /// Self cost.
    #[serde(rename = "self")]
    pub self_costs: Costs,
}

/// Shares of the total. See the example of [`Overview`](crate::Overview).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Shares {
    /// By program or library, the highest cost first. A name is empty or `???` if it is not known.
    pub objects: Vec<ShareRow>,
    /// By source file, the highest cost first.
    pub files: Vec<ShareRow>,
    /// By thread, the highest cost first. Empty if there is only one.
    pub threads: Vec<ShareRow>,
    /// By part, or by file if the parts have no numbers, in the order of the files. Empty if there is only one.
    pub parts: Vec<ShareRow>,
}

impl Shares {
    /// Takes the shares from a view.
    pub(crate) fn new(view: &View, head: &Head) -> Self {
        let profile = view.profile();
        let width = view.events().len();
        let mut objects = Sums::new(profile.object_count(), width);
        let mut files = Sums::new(profile.file_count(), width);
        for (id, subject) in view.subjects() {
            let costs = view.self_cost(id);
            if costs.iter().any(|&cost| cost != 0) {
                objects.add(subject.object.index(), subject.object, costs);
                files.add(subject.file.index(), subject.file, costs);
            }
        }
        // A single part has no share to show, and its costs take long to sum.
        let (threads, parts) = match profile.selected(view.selection()).nth(1) {
            None => (Vec::new(), Vec::new()),
            Some(_) => {
                let parts = PartSums::new(view);
                (parts.threads(head), parts.parts(head))
            }
        };
        Shares {
            objects: objects.descending(head, |object| lossy(profile.object(object))),
            files: files.descending(head, |file| lossy(profile.file(file))),
            threads,
            parts,
        }
    }
}

/// Returns the costs of each thread, also of a single one, the highest cost first.
pub(crate) fn thread_shares(view: &View, head: &Head) -> Vec<ShareRow> {
    let parts = PartSums::new(view);
    parts.thread_rows(parts.all_by(|_, part| (part.pid(), part.thread())), head)
}

/// Returns the costs of each part, also of a single one, in the order of the files.
pub(crate) fn part_shares(view: &View, head: &Head) -> Vec<ShareRow> {
    let parts = PartSums::new(view);
    let (mut sums, naming) = parts.times();
    if sums.is_empty() {
        sums = parts.all_by(|nth, _| nth);
    }
    parts.part_rows(sums, naming, head)
}

/// Sums by the ids of a table.
struct Sums<I> {
    width: usize,
    /// By index: the row plus one, 0 for none. Most files of a large profile are named and have no cost.
    slots: Vec<u32>,
    /// By row.
    ids: Vec<I>,
    /// The costs of all rows, one row after another.
    costs: Vec<Cost>,
}

impl<I: Copy> Sums<I> {
    fn new(count: usize, width: usize) -> Self {
        Sums { width, slots: vec![0; count], ids: Vec::new(), costs: Vec::new() }
    }

    fn add(&mut self, index: usize, id: I, costs: &[Cost]) {
        match self.slots[index] {
            0 => {
                self.ids.push(id);
                self.costs.extend_from_slice(costs);
                // There are no more rows than ids, which have 32 bits.
                self.slots[index] = u32::try_from(self.ids.len()).unwrap_or(0);
            }
            slot => {
                let start = (slot as usize - 1) * self.width;
                add(&mut self.costs[start..start + self.width], costs);
            }
        }
    }

    fn row(&self, row: usize) -> &[Cost] {
        &self.costs[row * self.width..(row + 1) * self.width]
    }

    /// Makes rows, the highest cost first.
    fn descending(&self, head: &Head, name: impl Fn(I) -> String) -> Vec<ShareRow> {
        let mut rows: Vec<usize> = (0..self.ids.len()).collect();
        // Of equal costs, the first that was added comes first.
        let key = |&row: &usize| (Reverse(self.row(row)[0].unsigned_abs()), row);
        if rows.len() > MAX_ROWS {
            rows.select_nth_unstable_by_key(MAX_ROWS, key);
            rows.truncate(MAX_ROWS);
        }
        rows.sort_unstable_by_key(key);
        let row = |row| ShareRow { name: name(self.ids[row]), self_costs: head.costs(self.row(row)) };
        rows.into_iter().map(row).collect()
    }
}

/// The index of a part and costs.
type Sum = (usize, Vec<Cost>);

/// The costs of the selected parts.
struct PartSums<'v> {
    view: &'v View,
    parts: Vec<(Part<'v>, Vec<Cost>)>,
    has_several_pids: bool,
}

impl<'v> PartSums<'v> {
    fn new(view: &'v View) -> Self {
        let profile = view.profile();
        let parts: Vec<Part<'v>> = profile.selected(view.selection()).collect();
        let pids: BTreeSet<Option<u64>> = parts.iter().map(Part::pid).collect();
        let costs = |part: &Part<'v>| {
            let mut recorded = vec![0; profile.event_count()];
            for (event, cost) in part.event_types().iter().zip(part.totals()) {
                recorded[event.index()] += cost;
            }
            // A derived cost that is out of range in a part is so in the sum, which the view has refused.
            view.shown_costs(&recorded).unwrap_or_else(|_| vec![0; view.events().len()])
        };
        let parts = parts.into_iter().map(|part| (part, costs(&part))).collect();
        PartSums { view, parts, has_several_pids: pids.len() > 1 }
    }

    /// Sums the parts with the same key. Empty if there is only one key.
    fn by<K: Ord>(&self, key: impl Fn(usize, &Part<'v>) -> K) -> Vec<Sum> {
        let sums = self.all_by(key);
        if sums.len() < 2 { Vec::new() } else { sums }
    }

    /// Sums the parts with the same key.
    fn all_by<K: Ord>(&self, key: impl Fn(usize, &Part<'v>) -> K) -> Vec<Sum> {
        let mut sums: BTreeMap<K, Sum> = BTreeMap::new();
        for (nth, (part, costs)) in self.parts.iter().enumerate() {
            let empty = || (nth, vec![0; costs.len()]);
            add(&mut sums.entry(key(nth, part)).or_insert_with(empty).1, costs);
        }
        sums.into_values().collect()
    }

    fn rows(&self, sums: Vec<Sum>, head: &Head, name: impl Fn(usize, &Part<'v>) -> String) -> Vec<ShareRow> {
        let row = |(nth, costs): Sum| ShareRow {
            name: name(nth, &self.parts[nth].0),
            self_costs: head.costs(&costs),
        };
        sums.into_iter().take(MAX_ROWS).map(row).collect()
    }

    fn threads(&self, head: &Head) -> Vec<ShareRow> {
        self.thread_rows(self.by(|_, part| (part.pid(), part.thread())), head)
    }

    fn thread_rows(&self, mut sums: Vec<Sum>, head: &Head) -> Vec<ShareRow> {
        sums.sort_by_key(|(_, costs)| Reverse(costs[0].unsigned_abs()));
        self.rows(sums, head, |_, part| {
            let thread = part.thread().map(|thread| format!("thread {thread}"));
            let process = part.pid().filter(|_| self.has_several_pids).map(|pid| format!("process {pid}"));
            match (thread, process) {
                (Some(thread), Some(process)) => format!("{thread} of {process}"),
                (Some(name), None) | (None, Some(name)) => name,
                (None, None) => "no thread".to_owned(),
            }
        })
    }

    fn parts(&self, head: &Head) -> Vec<ShareRow> {
        let (sums, naming) = self.times();
        let has_threads = !self.by(|_, part| part.thread()).is_empty();
        if naming != PartNaming::Number && has_threads {
            return Vec::new();
        }
        self.part_rows(sums, naming, head)
    }

    /// Sums the parts by time, or else by the files that somebody gave together, or else by their headers.
    fn times(&self) -> (Vec<Sum>, PartNaming) {
        let by_number = self.by(|_, part| (part.pid(), part.number()));
        if !by_number.is_empty() && self.parts.iter().all(|(part, _)| part.number().is_some()) {
            return (by_number, PartNaming::Number);
        }
        let by_file = self.by(|_, part| part.input());
        match by_file.is_empty() {
            true => (self.by(|nth, _| nth), PartNaming::Order),
            false => (by_file, PartNaming::File),
        }
    }

    fn part_rows(&self, mut sums: Vec<Sum>, naming: PartNaming, head: &Head) -> Vec<ShareRow> {
        let commands: BTreeSet<Option<&[u8]>> = self.parts.iter().map(|(part, _)| part.command()).collect();
        sums.sort_by_key(|&(nth, _)| nth);
        self.rows(sums, head, |nth, part| {
            let has_number = naming == PartNaming::Number;
            let mut name = match (naming, part.number()) {
                (PartNaming::File, _) => return self.view.profile().inputs()[part.input()].name.clone(),
                (PartNaming::Number, Some(number)) => format!("part {number}"),
                _ => format!("part {}", nth + 1),
            };
            if let Some(pid) = part.pid().filter(|_| self.has_several_pids && has_number) {
                name.push_str(&format!(" of process {pid}"));
            }
            let remark = if commands.len() > 1 { part.command() } else { part.trigger() };
            if let Some(remark) = remark {
                name.push_str(&format!(": {}", lossy(remark.trim_ascii())));
            }
            name
        })
    }
}

/// The naming of parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PartNaming {
    /// Its number.
    Number,
    /// Its file.
    File,
    /// Its place among the parts.
    Order,
}

#[cfg(test)]
mod tests {
    use gristmill_profile::Profile;

    use super::*;
    use crate::view::ViewOptions;

    #[test]
    fn the_highest_costs_are_kept_in_order() {
        let cost = |file: usize| file * 7 % 100;
        let blocks = (0..1500).map(|file| format!("fl=f{file}\nfn=g{file}\n1 {}\n", cost(file)));
        // A second function in the first file, and one without a cost in a file of its own.
        let text =
            format!("events: Ir\n{}fl=f0\nfn=h\n1 60\nfl=none\nfn=i\n1 0\n", blocks.collect::<String>());
        let view = View::new(Profile::from_bytes(text.into_bytes()), &ViewOptions::default()).unwrap();
        let shares = Shares::new(&view, &Head::new(&view));
        let mut expected: Vec<(usize, usize)> = (1..1500).map(|file| (cost(file), file)).collect();
        expected.retain(|&(cost, _)| cost > 0);
        // The first file has got its cost last.
        expected.push((60, 0));
        expected.sort_by_key(|&(cost, _)| Reverse(cost));
        let expected: Vec<String> =
            expected.iter().take(MAX_ROWS).map(|(cost, file)| format!("f{file} {cost}")).collect();
        let rows: Vec<String> =
            shares.files.iter().map(|row| format!("{} {}", row.name, row.self_costs.to_vec()[0])).collect();
        assert_eq!(rows, expected);
        assert_eq!(shares.objects.len(), 1);
    }
}
