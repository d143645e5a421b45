//! Shares of the total: by object, source file, thread and part.

use std::cmp::Reverse;

use gristmill_format::Cost;
use gristmill_output::json::Costs;
use gristmill_output::lossy;
use gristmill_profile::{CostRow, MemoryBudget, Part};
use schemars::JsonSchema;
use serde::Serialize;

use crate::amount::{add, add_part};
use crate::grouping::Grouping;
use crate::head::Head;
use crate::view::{View, ViewError};

/// The rows of each list of [`Shares`]. A profile can have millions of parts.
const MAX_ROWS: usize = 1000;
/// The rows of a list of threads or parts however many event types there are.
const MIN_ROWS: usize = 8;
/// Copies of the costs of a row: they are calculated, kept, and written as self and as inclusive cost.
const COPIES: usize = 3;

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

/// Refuses a row for each thread or part with too many costs.
///
/// # Errors
///
/// If the rows take more memory than a report may take.
pub(crate) fn check_rows(view: &View, grouping: Grouping) -> Result<(), ViewError> {
    if !matches!(grouping, Grouping::Thread | Grouping::Part) {
        return Ok(());
    }
    let parts = PartSums::new(view);
    let rows = if grouping == Grouping::Thread { parts.by_thread().len() } else { parts.parts.len() };
    let budget = MemoryBudget::new([&**view.profile()]);
    budget.check_cells(parts.cells(rows)).map_err(ViewError::TooManyCosts)
}

/// Returns the costs of each thread, also of a single one. The order is the same for all event types.
pub(crate) fn thread_shares(view: &View, head: &Head) -> Vec<ShareRow> {
    let parts = PartSums::new(view);
    let keyed = parts.by_thread();
    parts.thread_rows(&keyed, 0..keyed.len(), head)
}

/// Returns the costs of each part, also of a single one, in the order of the files.
pub(crate) fn part_shares(view: &View, head: &Head) -> Vec<ShareRow> {
    let parts = PartSums::new(view);
    let (keyed, naming) = parts.times().unwrap_or_else(|| (parts.by(|nth, _| nth), PartNaming::Order));
    parts.part_rows(&keyed, naming, usize::MAX, head)
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

/// Parts with the same key, in the order of the keys.
struct Keyed {
    /// The indexes of the parts, those with the same key together.
    parts: Vec<usize>,
    /// The starts of each key in that list.
    starts: Vec<usize>,
}

impl Keyed {
    fn len(&self) -> usize {
        self.starts.len()
    }

    /// The indexes of the parts with a key, in the order of the files.
    fn parts(&self, key: usize) -> &[usize] {
        let end = self.starts.get(key + 1).copied().unwrap_or(self.parts.len());
        &self.parts[self.starts[key]..end]
    }

    /// The first of them.
    fn first(&self, key: usize) -> usize {
        self.parts[self.starts[key]]
    }

    /// Returns nothing if there is only one key.
    fn several(self) -> Option<Self> {
        (self.len() > 1).then_some(self)
    }
}

/// The costs of the selected parts. They are summed when a row is made: a profile can have millions of parts, and of event types.
struct PartSums<'v> {
    view: &'v View,
    parts: Vec<Part<'v>>,
    has_several_pids: bool,
}

impl<'v> PartSums<'v> {
    fn new(view: &'v View) -> Self {
        let parts: Vec<Part<'v>> = view.profile().selected(view.selection()).collect();
        let has_several_pids = is_several(&parts, Part::pid);
        PartSums { view, parts, has_several_pids }
    }

    /// Puts the parts with the same key together.
    fn by<K: Ord>(&self, key: impl Fn(usize, &Part<'v>) -> K) -> Keyed {
        let mut keys: Vec<(K, usize)> =
            self.parts.iter().enumerate().map(|(nth, part)| (key(nth, part), nth)).collect();
        keys.sort_unstable();
        let starts = (0..keys.len()).filter(|&at| at == 0 || keys[at - 1].0 != keys[at].0).collect();
        Keyed { starts, parts: keys.into_iter().map(|(_, nth)| nth).collect() }
    }

    /// Sums the recorded costs of keys, one after another. Keys can have other event types, and there can be very many.
    fn sum<R>(
        &self,
        keyed: &Keyed,
        keys: impl IntoIterator<Item = usize>,
        mut take: impl FnMut(usize, &CostRow) -> R,
    ) -> Vec<R> {
        let mut recorded = CostRow::new(self.view.profile().event_count());
        let sum = |key: usize| {
            recorded.clear();
            keyed.parts(key).iter().for_each(|&nth| add_part(&mut recorded, &self.parts[nth]));
            take(key, &recorded)
        };
        keys.into_iter().map(sum).collect()
    }

    /// Sums the costs of the first column, by key.
    fn first_costs(&self, keyed: &Keyed) -> Vec<Cost> {
        self.sum(keyed, 0..keyed.len(), |_, recorded| self.view.first_shown_cost(recorded))
    }

    /// The costs of this many rows and their copies.
    fn cells(&self, rows: usize) -> usize {
        rows.saturating_mul(self.view.events().len()).saturating_mul(COPIES)
    }

    /// Returns how many rows a list may have.
    fn max_rows(&self) -> usize {
        let budget = MemoryBudget::new([&**self.view.profile()]);
        // One list of threads and one of parts.
        let has_memory = |rows: &usize| budget.has_cells(self.cells(2 * rows));
        (0..=MAX_ROWS).rev().step_by(MAX_ROWS / 50).find(has_memory).unwrap_or(0).max(MIN_ROWS)
    }

    /// Makes rows of these keys.
    fn rows(
        &self,
        keyed: &Keyed,
        order: impl IntoIterator<Item = usize>,
        head: &Head,
        name: impl Fn(usize, &Part<'v>) -> String,
    ) -> Vec<ShareRow> {
        self.sum(keyed, order, |key, recorded| {
            let nth = keyed.first(key);
            // A derived cost that is out of range in some parts is so in the sum, which the view has refused.
            let none = |_| vec![0; self.view.events().len()];
            let costs = self.view.shown_costs_of(recorded).unwrap_or_else(none);
            ShareRow { name: name(nth, &self.parts[nth]), self_costs: head.costs(&costs) }
        })
    }

    fn by_thread(&self) -> Keyed {
        self.by(|_, part| (part.pid(), part.thread()))
    }

    /// Makes the rows of threads, the highest cost first. Empty if there is only one.
    fn threads(&self, head: &Head) -> Vec<ShareRow> {
        let Some(keyed) = self.by_thread().several() else { return Vec::new() };
        let first_costs = self.first_costs(&keyed);
        let mut order: Vec<usize> = (0..keyed.len()).collect();
        order.sort_by_key(|&key| Reverse(first_costs[key].unsigned_abs()));
        order.truncate(self.max_rows());
        self.thread_rows(&keyed, order, head)
    }

    fn thread_rows(
        &self,
        keyed: &Keyed,
        order: impl IntoIterator<Item = usize>,
        head: &Head,
    ) -> Vec<ShareRow> {
        self.rows(keyed, order, head, |_, part| {
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
        let Some((keyed, naming)) = self.times() else { return Vec::new() };
        if naming != PartNaming::Number && is_several(&self.parts, Part::thread) {
            return Vec::new();
        }
        self.part_rows(&keyed, naming, self.max_rows(), head)
    }

    /// Puts the parts of a time together, or else by the files that somebody gave together, or else by their headers. Returns nothing if
    /// there is only one part.
    fn times(&self) -> Option<(Keyed, PartNaming)> {
        if self.parts.iter().all(|part| part.number().is_some())
            && let Some(keyed) = self.by(|_, part| (part.pid(), part.number())).several()
        {
            return Some((keyed, PartNaming::Number));
        }
        match self.by(|_, part| part.input()).several() {
            Some(keyed) => Some((keyed, PartNaming::File)),
            None => Some((self.by(|nth, _| nth).several()?, PartNaming::Order)),
        }
    }

    fn part_rows(&self, keyed: &Keyed, naming: PartNaming, limit: usize, head: &Head) -> Vec<ShareRow> {
        let has_commands = is_several(&self.parts, Part::command);
        let has_threads = is_several(&self.parts, Part::thread);
        let mut order: Vec<usize> = (0..keyed.len()).collect();
        order.sort_unstable_by_key(|&key| keyed.first(key));
        order.truncate(limit);
        self.rows(keyed, order, head, |nth, part| {
            if naming == PartNaming::File {
                return self.view.profile().inputs()[part.input()].name.clone();
            }
            let mut name = part_name(nth, part, naming == PartNaming::Order && has_threads);
            if let Some(pid) = part.pid().filter(|_| self.has_several_pids) {
                name.push_str(&format!(" of process {pid}"));
            }
            let remark = if has_commands { part.command() } else { part.trigger() };
            if let Some(remark) = remark {
                name.push_str(&format!(": {}", lossy(remark.trim_ascii())));
            }
            name
        })
    }
}

/// Returns the name of a part: its number, or else its place, and its thread if that is asked for.
pub(crate) fn part_name(nth: usize, part: &Part<'_>, shows_thread: bool) -> String {
    let number = part.number().unwrap_or(nth as u64 + 1);
    match part.thread().filter(|_| shows_thread) {
        Some(thread) => format!("part {number}, thread {thread}"),
        None => format!("part {number}"),
    }
}

/// Returns `true` if the parts differ in something.
fn is_several<'v, T: PartialEq>(parts: &[Part<'v>], of: impl Fn(&Part<'v>) -> T) -> bool {
    parts.iter().any(|part| of(part) != of(&parts[0]))
}

/// The naming of parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PartNaming {
    /// Its number.
    Number,
    /// Its file.
    File,
    /// Its number and thread, or its place among the parts if it has no number.
    Order,
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use gristmill_profile::{Profile, Selection};

    use super::*;
    use crate::functions::{Functions, FunctionsOptions};
    use crate::grouping::Grouping;
    use crate::rates::Rates;
    use crate::view::{EventSelection, ViewOptions};

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

    /// Before, only the first thousand parts were in `functions --group part`, and in their count.
    #[test]
    fn each_part_and_thread_has_a_row() {
        let costs: Vec<i128> = (0..1500).map(|part| part * 7919 % 1501).collect();
        let part =
            |(nth, cost)| format!("part: {}\nthread: {}\nevents: Ir\nfn=f\n1 {cost}\n", nth + 1, nth / 2 + 1);
        let text: String = costs.iter().enumerate().map(part).collect();
        let profile = Arc::new(Profile::from_bytes(text.into_bytes()));
        let view = View::new(Arc::clone(&profile), &ViewOptions::default()).unwrap();
        let head = Head::new(&view);
        let shown = |rows: &[ShareRow]| -> Vec<(String, i128)> {
            rows.iter().map(|row| (row.name.clone(), row.self_costs.to_vec()[0])).collect()
        };
        let parts: Vec<_> = (1..).map(|number| format!("part {number}")).zip(costs.iter().copied()).collect();
        assert_eq!(shown(&part_shares(&view, &head)), parts);
        let threads = costs.chunks(2).map(|costs| costs.iter().sum());
        let threads: Vec<(String, i128)> =
            (1..).map(|number| format!("thread {number}")).zip(threads).collect();
        assert_eq!(shown(&thread_shares(&view, &head)), threads);
        let shares = Shares::new(&view, &head);
        assert_eq!(shown(&shares.parts), parts[..MAX_ROWS]);
        let mut descending = threads.clone();
        descending.sort_by_key(|&(_, cost)| Reverse(cost));
        assert_eq!(shown(&shares.threads), descending);

        for (grouping, rows) in [(Grouping::Part, &parts), (Grouping::Thread, &threads)] {
            let options = FunctionsOptions { grouping, limit: Some(1), ..FunctionsOptions::default() };
            let functions = Functions::new(&view, &options);
            assert_eq!(functions.matching, rows.len());
            let highest = rows.iter().map(|row| row.1).max().unwrap();
            assert_eq!(functions.rows().next().unwrap().self_costs.to_vec(), [highest]);
        }
    }

    #[test]
    fn parts_of_one_number_have_that_number() {
        let names = |text: &str, selection: Selection| -> Vec<String> {
            let options = ViewOptions { selection, ..ViewOptions::default() };
            let view = View::new(Profile::from_bytes(text.as_bytes().to_vec()), &options).unwrap();
            part_shares(&view, &Head::new(&view)).iter().map(|row| row.name.clone()).collect()
        };
        let part =
            |part: u64, thread: u64| format!("part: {part}\nthread: {thread}\nevents: Ir\nfn=f\n1 5\n");
        let threads = [part(2, 1), part(2, 2)].concat();
        assert_eq!(names(&threads, Selection::default()), ["part 2, thread 1", "part 2, thread 2"]);
        let all = [part(1, 1), threads].concat();
        assert_eq!(names(&all, Selection::default()), ["part 1", "part 2"]);
        let of_second = Selection { parts: vec![2..=2], ..Selection::default() };
        assert_eq!(names(&all, of_second), ["part 2, thread 1", "part 2, thread 2"]);
        let without = "events: Ir\nfn=f\n1 5\n";
        assert_eq!(
            names(&format!("{without}part: 7\n{without}"), Selection::default()),
            ["part 1", "part 7"]
        );
    }

    #[test]
    fn parts_of_one_name_have_their_own_rates() {
        let body = "events: Ir I1mr ILmr\nfn=f\n1";
        let text = format!("part: 2\n{body} 1000 10 0\n\npart: 2\n{body} 100 50 0\n{body} 10 1 0\n");
        let inputs = [text.as_str(), &format!("part: 2\n{body} 3000 20 0\n")];
        for text in inputs.map(str::to_owned).into_iter().chain([inputs.concat()]) {
            let profile = Arc::new(Profile::from_bytes(text.into_bytes()));
            let rates = Rates::new(Arc::clone(&profile), &ViewOptions::default()).unwrap();
            let view = View::new(profile, &ViewOptions::default()).unwrap();
            let options = FunctionsOptions { grouping: Grouping::Part, rates, ..FunctionsOptions::default() };
            let functions = Functions::new(&view, &options);
            assert_eq!(functions.matching, functions.rows().count());
            for row in functions.rows() {
                let [accesses, misses, _] = row.self_costs[..] else { panic!("three event types") };
                assert_eq!((row.rates[0].misses, row.rates[0].accesses), (misses, accesses), "{}", row.name);
            }
        }
    }

    /// Before, a thread had the rates of the thread with as high a rank by the first event type of the profile.
    #[test]
    fn a_thread_has_its_own_rates() {
        let body = "events: Ir I1mr ILmr\nfn=f\n1";
        let text = format!("part: 1\nthread: 1\n{body} 1000 10 0\npart: 1\nthread: 2\n{body} 100 50 0\n");
        let profile = Arc::new(Profile::from_bytes(text.into_bytes()));
        for events in ["Ir", "I1mr"] {
            let options = ViewOptions {
                events: EventSelection::Named(vec![events.to_owned()]),
                ..ViewOptions::default()
            };
            let rates = Rates::new(Arc::clone(&profile), &options).unwrap();
            let view = View::new(Arc::clone(&profile), &options).unwrap();
            let options =
                FunctionsOptions { grouping: Grouping::Thread, rates, ..FunctionsOptions::default() };
            let functions = Functions::new(&view, &options);
            let rows =
                functions.rows().map(|row| (row.name.clone(), row.rates[0].misses, row.rates[0].accesses));
            let mut rows: Vec<_> = rows.collect();
            rows.sort();
            assert_eq!(
                rows,
                [("thread 1".to_owned(), 10, 1000), ("thread 2".to_owned(), 50, 100)],
                "{events}"
            );
        }
    }
}
