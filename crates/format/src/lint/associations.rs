//! Calls and jumps: what belongs to them, and whether their costs can be.

use std::collections::HashMap;

use super::names::is_same;
use super::{Finding, Report, Rule, rule, shown};
use crate::call_balance::CallBalance;
use crate::cost::{Cost, CostFault};
use crate::intern::{EMPTY, Interner};
use crate::location::Location;
use crate::name::{Name, NameKey, NameSpace};
use crate::producer::ProducerKind;
use crate::reader::{PlainRun, Reader};
use crate::record::{CostRole, Line, Record};
use crate::survey::Surveyor;
use crate::wholeness::PartEnd;

#[derive(Debug, Default)]
pub(super) struct Associations<'a> {
    /// The jump that waits for its second line.
    jump: Option<Record<'a>>,
    calls: Option<(Record<'a>, Cost)>,
    function: u32,
    /// The last `cfn=`, with its id.
    callee: (&'a [u8], u32),
    part: PartGraph<'a>,
    is_xtree: bool,
    /// Of a part with a block for each call; the functions are those of `part`.
    balance: CallBalance,
    has_balance: bool,
    /// No cost line of the block has come yet.
    is_block_new: bool,
}

/// Functions and calls of one part, by the first event type. A file may hold little else than functions, so there is as
/// little as possible about each.
#[derive(Debug, Default)]
struct PartGraph<'a> {
    /// By the id of a name the number of its function and 1, or 0. It outlives the part: only what was set is reset, so
    /// that many small parts do not pay for the names of all.
    numbers: Vec<u32>,
    functions: Vec<Function>,
    arcs: Arcs,
    /// The cost of calls of a function to itself.
    to_itself: HashMap<u32, Cost>,
    /// The part of sums that does not fit a function's fields.
    excess: HashMap<u32, Excess>,
    greatest: Option<(Cost, Record<'a>)>,
    /// `true` if a function has self cost of any event type.
    has_self_cost: bool,
}

#[derive(Debug)]
struct Function {
    /// Its self cost and that of its calls to others, without the [`Excess`].
    through: i64,
    /// The cost of calls to it by others, without the [`Excess`].
    incoming: i64,
    /// A `calls=` line that leads here; lines count from 1, so line 0 is none.
    called_at: Location,
    name: u32,
    has_block: bool,
}

/// Costs have 128 bits, but hardly ever use them.
#[derive(Debug, Default, Clone, Copy)]
struct Excess {
    through: Cost,
    incoming: Cost,
}

impl Function {
    fn called_at(&self) -> Option<Location> {
        Some(self.called_at).filter(|location| location.line > 0)
    }
}

/// Adds to a sum, if it has room.
fn add(sum: &mut i64, cost: Cost) -> bool {
    let added = i64::try_from(cost).ok().and_then(|cost| sum.checked_add(cost));
    *sum = added.unwrap_or(*sum);
    added.is_some()
}

/// Caller and callee, where they are two. A list that is rid of repetitions whenever it has doubled takes less than a
/// set.
#[derive(Debug, Default)]
struct Arcs {
    list: Vec<(u32, u32)>,
    /// The count that was left the last time.
    different: usize,
}

impl Arcs {
    fn insert(&mut self, arc: (u32, u32)) {
        if self.list.last() == Some(&arc) {
            return;
        }
        if self.list.len() >= 1024.max(2 * self.different) {
            self.tidy();
        }
        self.list.push(arc);
    }

    /// All of them in order, each once.
    fn tidy(&mut self) -> &[(u32, u32)] {
        self.list.sort_unstable();
        self.list.dedup();
        self.different = self.list.len();
        &self.list
    }

    fn clear(&mut self) {
        self.list.clear();
        self.different = 0;
    }
}

impl PartGraph<'_> {
    fn number(&mut self, name: u32) -> u32 {
        let index = name as usize;
        if index >= self.numbers.len() {
            self.numbers.resize(index + 1, 0);
        }
        if self.numbers[index] == 0 {
            self.functions.push(Function {
                through: 0,
                incoming: 0,
                called_at: Location::default(),
                name,
                has_block: false,
            });
            // There are no more functions than names, and names have 32 bits.
            self.numbers[index] = u32::try_from(self.functions.len()).unwrap_or(u32::MAX);
        }
        self.numbers[index] - 1
    }

    fn self_cost(&mut self, number: u32, cost: Cost) {
        // Before any `fn=` there is no function.
        if let Some(function) = self.functions.get_mut(number as usize)
            && !add(&mut function.through, cost)
        {
            self.excess.entry(number).or_default().through += cost;
        }
    }

    fn call(&mut self, caller: u32, callee: u32, cost: Cost, at: Location) {
        let function = &mut self.functions[callee as usize];
        if function.called_at().is_none() {
            function.called_at = at;
        }
        if caller == callee {
            *self.to_itself.entry(caller).or_default() += cost;
            return;
        }
        if !add(&mut function.incoming, cost) {
            self.excess.entry(callee).or_default().incoming += cost;
        }
        self.self_cost(caller, cost);
        self.arcs.insert((caller, callee));
    }

    /// Forgets all, and keeps the memory for the next part.
    fn clear(&mut self) {
        for function in &self.functions {
            self.numbers[function.name as usize] = 0;
        }
        self.functions.clear();
        self.arcs.clear();
        // Clearing would cost what the largest part needed, each time.
        self.to_itself = HashMap::new();
        self.excess = HashMap::new();
        self.greatest = None;
        self.has_self_cost = false;
    }
}

impl<'a> Associations<'a> {
    /// Takes note of the id of a name.
    pub(super) fn name(&mut self, key: NameKey, name: &Name<'a>, id: u32, surveyor: &Surveyor<'a>) {
        match key {
            NameKey::Fn => {
                if self.part.functions.is_empty() {
                    self.has_balance = surveyor.producer() == ProducerKind::Xdebug;
                }
                self.is_block_new = self.has_balance;
                self.function = self.part.number(id);
                self.part.functions[self.function as usize].has_block = true;
            }
            NameKey::Cfn => self.callee = (name.bytes(), id),
            _ => {}
        }
    }

    pub(super) fn record<F: FnMut(Finding<'a>)>(
        &mut self,
        reader: &Reader<'a>,
        record: &Record<'a>,
        surveyor: &Surveyor<'a>,
        report: &mut Report<'a, F>,
    ) {
        if let Some(jump) = self.jump
            && !matches!(record.line, Line::Blank | Line::Comment(_))
        {
            self.jump = None;
            if !matches!(record.line, Line::Cost(line) if line.role == CostRole::JumpSource) {
                report.line(&rule::JUMP_WITHOUT_SOURCE, &jump, rule::JUMP_WITHOUT_SOURCE.summary);
            }
        }
        match record.line {
            Line::Header(crate::record::Header::Creator(creator)) => {
                self.is_xtree = creator.starts_with(b"xtree-")
            }
            Line::Jump(_) => self.jump = Some(*record),
            Line::Calls(calls) => self.calls = Some((*record, calls.count)),
            Line::Cost(line) => {
                let Some(first) = line.costs.iter().next() else { return };
                let cost = first.unwrap_or_else(|fault| fault.repaired);
                if std::mem::take(&mut self.is_block_new) {
                    self.balance.block(self.function);
                }
                if line.role == CostRole::SelfCost {
                    if !self.part.has_self_cost {
                        let event_count = surveyor.sums().len();
                        self.part.has_self_cost = line.costs.iter().take(event_count).any(is_cost);
                    }
                    self.part.self_cost(self.function, cost);
                    if self.has_balance {
                        self.balance.self_cost(self.function, cost);
                    }
                } else {
                    self.arc(reader, cost, surveyor, report);
                }
            }
            _ => {}
        }
    }

    /// `true` if plain cost lines need not come one by one.
    pub(super) fn takes_plain_lines(&self) -> bool {
        self.jump.is_none() && !self.has_balance
    }

    /// Takes plain cost lines.
    pub(super) fn plain_lines(&mut self, run: &PlainRun) {
        self.part.has_self_cost |= run.has_cost;
        self.part.self_cost(self.function, run.first_costs);
    }

    fn arc<F: FnMut(Finding<'a>)>(
        &mut self,
        reader: &Reader<'a>,
        cost: Cost,
        surveyor: &Surveyor<'a>,
        report: &mut Report<'a, F>,
    ) {
        let Some((record, count)) = self.calls.take() else { return };
        if count == 0 && cost != 0 {
            report.once(&rule::ZERO_COUNT, &record, format!("0 calls with a cost of {cost}"));
        }
        let Some(callee) = reader.context().callee() else { return };
        let id = match self.callee {
            (text, id) if is_same(text, callee.bytes()) => id,
            _ => surveyor.names(NameSpace::Function).get(callee.bytes()).unwrap_or(EMPTY),
        };
        let callee = self.part.number(id);
        self.part.call(self.function, callee, cost, record.location);
        if self.has_balance {
            self.balance.calls(self.function, callee, count, cost);
        }
        if self.part.greatest.as_ref().is_none_or(|(greatest, _)| cost > *greatest) {
            self.part.greatest = Some((cost, record));
        }
    }

    /// Compares calls with blocks, and returns the rule for a part whose lines have more than it took.
    pub(super) fn balance<F: FnMut(Finding<'a>)>(
        &mut self,
        part: &PartEnd<'_>,
        surveyor: &Surveyor<'a>,
        report: &mut Report<'a, F>,
    ) -> Option<&'static Rule> {
        let names = surveyor.names(NameSpace::Function);
        let functions = &self.part.functions;
        let name = |number: u32| {
            functions.get(number as usize).map_or(&b""[..], |function| names.text(function.name))
        };
        if let Some(fault) = self.balance.fault(part, name) {
            report.place(&rule::CALL_BALANCE, surveyor.part_location(), fault.sentence());
        }
        part.excess(self.balance.block_count())?;
        Some(if self.balance.has_fibers(name) { &rule::COUNTED_TWICE } else { &rule::TOTALS_MISMATCH })
    }

    pub(super) fn end_part<F: FnMut(Finding<'a>)>(
        &mut self,
        surveyor: &Surveyor<'a>,
        report: &mut Report<'a, F>,
    ) {
        self.balance.clear();
        self.has_balance = false;
        if let Some(jump) = self.jump.take() {
            report.line(&rule::JUMP_WITHOUT_SOURCE, &jump, rule::JUMP_WITHOUT_SOURCE.summary);
        }
        self.function = 0;
        let total = surveyor.sums().first().copied().unwrap_or(0);
        self.calls_of_part(total, surveyor.names(NameSpace::Function), report);
        self.part.clear();
    }

    /// `true` if a function of the part is called and has no lines.
    pub(super) fn has_callee_without_lines(&self) -> bool {
        self.part.functions.iter().any(|function| !function.has_block && function.called_at().is_some())
    }

    fn calls_of_part<F: FnMut(Finding<'a>)>(
        &mut self,
        total: Cost,
        names: &Interner<'a>,
        report: &mut Report<'a, F>,
    ) {
        let part = &mut self.part;
        for function in &part.functions {
            if let (false, Some(location)) = (function.has_block, function.called_at()) {
                let name = shown(names.text(function.name));
                let message = format!("`{name}` is called here but has no cost lines");
                report.place(&rule::CALLEE_WITHOUT_BLOCK, location, message);
            }
        }
        let Some((greatest, record)) = part.greatest else { return };
        if !part.has_self_cost {
            return report.line(&rule::NO_SELF_COST, &record, rule::NO_SELF_COST.summary);
        }
        // Trees of allocations hold live and past costs side by side, which do not add up.
        if self.is_xtree {
            return;
        }
        if greatest > total && total >= 0 {
            let message = format!("this call costs {greatest}, the whole part only {total}");
            report.line(&rule::ARC_EXCEEDS_TOTAL, &record, message);
        }
        inclusive(part, names, report);
    }
}

/// `true` if a number, or what a tolerant reader takes in its place, is not 0.
fn is_cost(number: Result<Cost, CostFault>) -> bool {
    number.unwrap_or_else(|fault| fault.repaired) != 0
}

/// Compares what callers say a function cost with what it cost itself and through its own calls. Only functions
/// outside of cycles: inside, both sides count the same cost several times.
fn inclusive<'a, F: FnMut(Finding<'a>)>(
    part: &mut PartGraph<'a>,
    names: &Interner<'a>,
    report: &mut Report<'a, F>,
) {
    let in_cycle = cyclic(part.functions.len(), part.arcs.tidy());
    for ((number, function), in_cycle) in (0..).zip(&part.functions).zip(in_cycle) {
        let Some(location) = function.called_at() else { continue };
        let excess = part.excess.get(&number).copied().unwrap_or_default();
        let through = excess.through + Cost::from(function.through);
        let incoming = excess.incoming + Cost::from(function.incoming);
        let to_itself = part.to_itself.get(&number).copied().unwrap_or_default();
        if to_itself > through {
            let name = shown(names.text(function.name));
            let message = format!(
                "calls of `{name}` to itself cost {to_itself}, itself and its callees only {through}"
            );
            report.place(&rule::RECURSION, location, message);
        }
        if function.has_block && !in_cycle && incoming > through {
            let name = shown(names.text(function.name));
            let message =
                format!("by its callers `{name}` cost {incoming}, by itself and its callees {through}");
            report.place(&rule::INCLUSIVE_MISMATCH, location, message);
        }
    }
}

/// Finds the functions that can reach themselves. Takes functions away from both ends of the graph until only cycles and what
/// lies between them is left; the latter is spared a finding, which does no harm.
fn cyclic(count: usize, arcs: &[(u32, u32)]) -> Vec<bool> {
    let mut in_cycle = vec![true; count];
    // Half the memory of indices. A list of more arcs takes 32 GiB itself; then nothing is said.
    if u32::try_from(arcs.len().max(count)).is_err() {
        return in_cycle;
    }
    for forward in [true, false] {
        let mut open = vec![0u32; count];
        // First how many arcs begin at each, then where theirs end in `targets`, at last where they begin there.
        let mut starts = vec![0u32; count + 1];
        let ends = |&(caller, callee): &(u32, u32)| {
            if forward { (caller as usize, callee) } else { (callee as usize, caller) }
        };
        for arc in arcs {
            let (from, to) = ends(arc);
            if in_cycle[from] && in_cycle[to as usize] {
                open[to as usize] += 1;
                starts[from] += 1;
            }
        }
        let mut end = 0;
        for start in &mut starts {
            end += *start;
            *start = end;
        }
        let mut targets = vec![0u32; end as usize];
        for arc in arcs {
            let (from, to) = ends(arc);
            if in_cycle[from] && in_cycle[to as usize] {
                starts[from] -= 1;
                targets[starts[from] as usize] = to;
            }
        }
        let mut free: Vec<u32> = (0..)
            .zip(&open)
            .filter(|&(number, &open)| in_cycle[number as usize] && open == 0)
            .map(|free| free.0)
            .collect();
        while let Some(number) = free.pop() {
            let number = number as usize;
            in_cycle[number] = false;
            for &to in &targets[starts[number] as usize..starts[number + 1] as usize] {
                open[to as usize] -= 1;
                if open[to as usize] == 0 {
                    free.push(to);
                }
            }
        }
    }
    in_cycle
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_are_found() {
        // 0 → 1 → 2 → 1, 2 → 3, 4 → 4
        let arcs = [(0, 1), (1, 2), (2, 1), (2, 3), (4, 4)];
        assert_eq!(cyclic(5, &arcs), [false, true, true, false, true]);
    }
    #[test]
    fn a_function_is_small() {
        assert_eq!(size_of::<Function>(), 40);
    }

    #[test]
    fn arcs_are_kept_once() {
        let mut arcs = Arcs::default();
        for round in 0..10 {
            for number in 0..5000 {
                arcs.insert((number % 3000, round % 2));
            }
        }
        assert!(arcs.list.len() <= 2 * 6000);
        let expected: Vec<_> = (0..3000).flat_map(|caller| [(caller, 0), (caller, 1)]).collect();
        assert_eq!(arcs.tidy(), expected);
    }

    #[test]
    fn sums_have_no_end() {
        let mut part = PartGraph::default();
        let (main, callee) = (part.number(7), part.number(3));
        let huge = Cost::from(u64::MAX);
        for cost in [huge, 5, Cost::from(i64::MAX), -1] {
            part.call(main, callee, cost, Location { byte: 0, line: 1 });
        }
        let excess = part.excess[&callee];
        let sum = excess.incoming + Cost::from(part.functions[callee as usize].incoming);
        assert_eq!(sum, huge + 5 + Cost::from(i64::MAX) - 1);
        part.clear();
        assert_eq!((part.number(3), part.number(7)), (0, 1));
    }
}
