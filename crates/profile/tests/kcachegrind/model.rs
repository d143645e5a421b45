//! KCachegrind's numbers, in the plainest way.
//!
//! For a part p and a function f let self(p, f) be the sum of f's own lines, and cost(p, f, g) and count(p, f, g) the sums
//! over the calls from f to g. Then
//!
//! 1. called(p, f) is the sum of count(p, g, f) over all g, f included. incl(p, f) is, if called(p, f) is above 0, the sum
//!    of cost(p, g, f) over all g but f, and else self(p, f) and the sum of cost(p, f, g) over all g but f. Both add up
//!    over the parts that are looked at.
//! 2. The total is the sum of all self costs.
//! 3. A cycle is a set of two functions or more that all reach each other over calls, in all parts of the profile, looked
//!    at or not.
//! 4. The incl of a member of a cycle is instead its self cost and that of its calls to functions outside of the cycle.
//!    The cycle has the sums over its members, and is called as often as the calls from outside into it say.

use std::collections::{BTreeMap, BTreeSet};

use super::read::{Arc, Function, Id, Reading, add, read};
use super::words::text;

/// A part with the costs of all event types of the profile.
#[derive(Debug, Default)]
pub(crate) struct Part {
    pub(crate) pid: Option<u64>,
    pub(crate) number: Option<u64>,
    pub(crate) thread: Option<u64>,
    pub(crate) selves: BTreeMap<Id, Vec<i128>>,
    pub(crate) arcs: BTreeMap<(Id, Id), Arc>,
}

/// A profile in which every function is itself.
#[derive(Debug, Default)]
pub(crate) struct Model {
    /// Those that were another one have no number anywhere.
    pub(crate) functions: BTreeMap<Id, Function>,
    pub(crate) events: Vec<String>,
    pub(crate) parts: Vec<Part>,
    pub(crate) odd: Vec<String>,
}

/// The values that are shown for a function, or for a cycle.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) self_cost: Vec<i128>,
    pub(crate) inclusive: Vec<i128>,
    pub(crate) called: i128,
}

pub(crate) type Cycle = BTreeSet<Id>;

impl Model {
    /// The model of a profile that consists of these files.
    pub(crate) fn of(files: &[&[u8]]) -> Model {
        let Reading { functions, mentions, parts, odd } = read(files);
        let reading = Reading { functions, mentions, ..Reading::default() };
        let by_name = !files.is_empty() && files.iter().all(|file| is_of_nytprof(&text(file)));
        let same_as = |id| if by_name { reading.first_of_name(id) } else { reading.same_as(id) };
        let same_as: Vec<Id> = (0..reading.functions.len()).map(same_as).collect();

        let mut events: Vec<String> = Vec::new();
        for event in parts.iter().flat_map(|part| &part.events) {
            if !events.contains(event) {
                events.push(event.clone());
            }
        }
        let parts = parts
            .iter()
            .map(|part| {
                let all = |costs: &[i128]| -> Vec<i128> {
                    let place = |event| part.events.iter().position(|own| own == event);
                    events.iter().map(|event| place(event).map_or(0, |place| costs[place])).collect()
                };
                let (pid, number, thread) = (part.pid, part.number, part.thread);
                let mut new = Part { pid, number, thread, ..Part::default() };
                for (&id, costs) in &part.selves {
                    add(new.selves.entry(same_as[id]).or_default(), &all(costs));
                }
                for (&(caller, callee), arc) in &part.arcs {
                    let sum = new.arcs.entry((same_as[caller], same_as[callee])).or_default();
                    sum.count += arc.count;
                    add(&mut sum.costs, &all(&arc.costs));
                }
                new
            })
            .collect();
        let functions = (0..).zip(reading.functions).filter(|(id, _)| same_as[*id] == *id).collect();
        Model { functions, events, parts, odd }
    }

    /// Rule 1 and, where cycles are given, 4: for the parts that are looked at.
    pub(crate) fn rows(&self, active: &[usize], cycles: &[Cycle]) -> (BTreeMap<Id, Row>, Vec<Row>) {
        let nothing = || vec![0; self.events.len()];
        let nobody = || Row { self_cost: nothing(), inclusive: nothing(), called: 0 };
        let mut rows: BTreeMap<Id, Row> = self.functions.keys().map(|&id| (id, nobody())).collect();
        for &part in active {
            let part = &self.parts[part];
            let mut called: BTreeMap<Id, i128> = BTreeMap::new();
            let mut from_callers: BTreeMap<Id, Vec<i128>> = BTreeMap::new();
            let mut to_callees: BTreeMap<Id, Vec<i128>> = BTreeMap::new();
            for (&(caller, callee), arc) in &part.arcs {
                *called.entry(callee).or_default() += arc.count;
                if caller != callee {
                    add(from_callers.entry(callee).or_default(), &arc.costs);
                    add(to_callees.entry(caller).or_default(), &arc.costs);
                }
            }
            for (id, row) in &mut rows {
                let called = called.get(id).copied().unwrap_or_default();
                let sum = |of: &BTreeMap<Id, Vec<i128>>| of.get(id).cloned().unwrap_or_else(nothing);
                let self_cost = sum(&part.selves);
                add(&mut row.self_cost, &self_cost);
                row.called += called;
                if called > 0 {
                    add(&mut row.inclusive, &sum(&from_callers));
                } else {
                    add(&mut row.inclusive, &self_cost);
                    add(&mut row.inclusive, &sum(&to_callees));
                }
            }
        }
        let mut of_cycles = Vec::new();
        for cycle in cycles {
            let mut of_cycle = nobody();
            for member in cycle {
                rows.get_mut(member).expect("a function").inclusive = rows[member].self_cost.clone();
            }
            for (&(caller, callee), arc) in active.iter().flat_map(|&part| &self.parts[part].arcs) {
                match (cycle.contains(&caller), cycle.contains(&callee)) {
                    (true, false) => {
                        add(&mut rows.get_mut(&caller).expect("a function").inclusive, &arc.costs)
                    }
                    (false, true) => of_cycle.called += arc.count,
                    _ => {}
                }
            }
            for member in cycle {
                add(&mut of_cycle.self_cost, &rows[member].self_cost);
                add(&mut of_cycle.inclusive, &rows[member].inclusive);
            }
            of_cycles.push(of_cycle);
        }
        (rows, of_cycles)
    }

    /// Rule 3.
    pub(crate) fn cycles(&self) -> Vec<Cycle> {
        let mut callees: BTreeMap<Id, Cycle> = BTreeMap::new();
        for &(caller, callee) in self.parts.iter().flat_map(|part| part.arcs.keys()) {
            if caller != callee {
                callees.entry(caller).or_default().insert(callee);
            }
        }
        // A function that calls nothing, or only such functions, is in no cycle.
        loop {
            let all: Cycle = callees.keys().copied().collect();
            callees.values_mut().for_each(|callees| callees.retain(|callee| all.contains(callee)));
            callees.retain(|_, callees| !callees.is_empty());
            if callees.len() == all.len() {
                break;
            }
        }
        let mut callers: BTreeMap<Id, Cycle> = BTreeMap::new();
        for (&caller, callee) in
            callees.iter().flat_map(|(caller, callees)| callees.iter().map(move |c| (caller, c)))
        {
            callers.entry(*callee).or_default().insert(caller);
        }
        let mut cycles: Vec<Cycle> = Vec::new();
        for &start in callees.keys() {
            // Without callers it is in none, and most functions that are left have been seen in one.
            if cycles.iter().any(|cycle| cycle.contains(&start)) || !callers.contains_key(&start) {
                continue;
            }
            let cycle: Cycle =
                reached(&callees, start).intersection(&reached(&callers, start)).copied().collect();
            if cycle.len() > 1 {
                cycles.push(cycle);
            }
        }
        cycles
    }
}

/// Returns the functions that can be reached in no step, or one, or more.
fn reached(next: &BTreeMap<Id, Cycle>, start: Id) -> Cycle {
    let mut reached = Cycle::from([start]);
    let mut edge = vec![start];
    while let Some(id) = edge.pop() {
        for &next in next.get(&id).into_iter().flatten() {
            if reached.insert(next) {
                edge.push(next);
            }
        }
    }
    reached
}

impl Reading {
    /// A callee without lines of its own, whose file no call gave, or whose object none did, is the only function of its
    /// name with lines
    ///
    /// - in the same object, if its file was never given,
    /// - or else in the same file, if its object was never given,
    /// - or else in all of the profile, if neither was ever given; or in those files whose path ends with its own, if its
    ///   file was.
    fn same_as(&self, id: Id) -> Id {
        let (function, mention) = (&self.functions[id], self.mentions[id]);
        if mention.has_lines || mention.object_was_given && mention.file_was_given {
            return id;
        }
        let only = |fits: &dyn Fn(&Function) -> bool| {
            let fitting: Vec<Id> = (0..self.functions.len())
                .filter(|&other| self.mentions[other].has_lines)
                .filter(|&other| self.functions[other].name == function.name && fits(&self.functions[other]))
                .collect();
            if let [one] = fitting[..] { Some(one) } else { None }
        };
        let by_object = || only(&|other| !mention.file_was_given && other.object == function.object);
        let by_file = || only(&|other| !mention.object_was_given && other.file == function.file);
        let anywhere = || {
            let is_end = |other: &Function| is_end_of_path(&function.file, &other.file);
            only(&|other| !mention.object_was_given && (!mention.file_was_given || is_end(other)))
        };
        by_object().or_else(by_file).or_else(anywhere).unwrap_or(id)
    }

    /// In a profile of NYTProf, names have packages and files are those of calls. KCachegrind does not know that.
    fn first_of_name(&self, id: Id) -> Id {
        let function = &self.functions[id];
        let same = |other: &Id| self.functions[*other].name == function.name;
        let mut with_lines = (0..self.functions.len()).filter(|&other| self.mentions[other].has_lines);
        let first = with_lines.find(same).or_else(|| (0..self.functions.len()).find(same));
        first.filter(|_| function.name.contains("::")).unwrap_or(id)
    }
}

fn is_of_nytprof(text: &str) -> bool {
    let file = text.lines().find_map(|line| line.strip_prefix("fl=")).unwrap_or_default();
    text.starts_with("events: Ticks\n") && (file.ends_with(".pl") || file.ends_with(".pm"))
}

fn is_end_of_path(end: &str, path: &str) -> bool {
    let ends_with = |end: &str| path.ends_with(end);
    !end.is_empty() && (path == end || ends_with(&format!("/{end}")) || ends_with(&format!("\\{end}")))
}
