//! The tree upside down: what called a function, and what called that, each with its part of what the function cost.
//!
//! From stacks that are known it follows without a guess. From a call graph it is an estimate: what a function cost is
//! divided among its callers as their arcs say, and the part of each caller among the callers of that one in the same
//! way, as if all calls of it were alike.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use gristmill_format::Cost;
use gristmill_profile::FunctionId;
use gristmill_profile::analysis::{CallGraph, Cycles, TreeItem};

use super::growth::{Growth, Sprout};
use crate::amount::add;

/// A node that may come: heaviest first, then the first of equals.
struct Buds<P> {
    heap: BinaryHeap<(u128, Reverse<usize>)>,
    buds: Vec<Option<Bud<P>>>,
}

/// A node to be.
struct Bud<P> {
    entry: usize,
    parent: Option<usize>,
    count: Cost,
    costs: Vec<Cost>,
    is_guessed: bool,
    /// Where its callers are to be looked for.
    place: P,
}

impl<P> Buds<P> {
    fn new(first: Bud<P>) -> Self {
        let mut buds = Buds { heap: BinaryHeap::new(), buds: Vec::new() };
        buds.push(first);
        buds
    }

    fn push(&mut self, bud: Bud<P>) {
        let weight = bud.costs.first().map_or(0, |cost| cost.unsigned_abs());
        self.heap.push((weight, Reverse(self.buds.len())));
        self.buds.push(Some(bud));
    }

    fn pop(&mut self) -> Option<Bud<P>> {
        let (_, Reverse(index)) = self.heap.pop()?;
        self.buds[index].take()
    }
}

/// Grows a tree, the dearest nodes first. `above` gives what called a node, and how much of its cost came from nowhere
/// above; it says what that took, as a node may have to look at much.
fn grow<P>(
    first: Bud<P>,
    width: usize,
    most_nodes: usize,
    mut work: usize,
    mut above: impl FnMut(&Bud<P>) -> Callers<P>,
) -> Growth {
    let mut growth = Growth::new(width);
    let mut buds = Buds::new(first);
    while let Some(bud) = buds.pop() {
        if let Some(parent) = bud.parent
            && (growth.nodes.len() >= most_nodes || work == 0)
        {
            growth.nodes[parent].hidden += 1;
            continue;
        }
        let Callers { callers, from_nowhere, work: done } = above(&bud);
        work = work.saturating_sub(done);
        let place = growth.nodes.len();
        let Bud { entry, parent, count, costs, is_guessed, .. } = bud;
        growth.push(Sprout { entry, parent, count, hidden: 0, is_guessed }, &from_nowhere, &costs);
        callers.into_iter().for_each(|caller| buds.push(Bud { parent: Some(place), ..caller }));
    }
    growth
}

/// What called a node.
struct Callers<P> {
    callers: Vec<Bud<P>>,
    from_nowhere: Vec<Cost>,
    work: usize,
}

/// From stacks. None where the function is in none of them.
pub(super) fn of_stacks(
    growth: &Growth,
    width: usize,
    is_start: impl Fn(usize) -> bool,
    most_nodes: usize,
) -> Option<Growth> {
    // Of a recursion the outermost call has all of the cost.
    let mut is_within = vec![false; growth.nodes.len()];
    let mut starts = Vec::new();
    for (node, sprout) in growth.nodes.iter().enumerate() {
        let is_below = sprout.parent.is_some_and(|parent| is_within[parent]);
        is_within[node] = is_below;
        if !is_below && is_start(node) {
            is_within[node] = true;
            starts.push((node, node));
        }
    }
    let entry = growth.nodes[starts.first()?.0].entry;
    let sum = |places: &[(usize, usize)]| {
        let mut costs = vec![0; width];
        places.iter().for_each(|&(_, start)| add(&mut costs, growth.inclusive(start)));
        costs
    };
    let costs = sum(&starts);
    let count = starts.iter().map(|&(node, _)| growth.nodes[node].count).sum();
    // Stacks that begin with other functions may be as long, and as many, as the tree is large: then what is dearest is
    // looked at, and the rest is left out.
    let work = growth.nodes.len().saturating_mul(4).saturating_add(most_nodes.saturating_mul(64));
    let first = Bud { entry, parent: None, count, costs, is_guessed: false, place: starts };
    Some(grow(first, width, most_nodes, work, |bud| {
        let mut by_caller: BTreeMap<usize, Vec<(usize, usize)>> = BTreeMap::new();
        let mut nowhere = Vec::new();
        for &(node, start) in &bud.place {
            // The root is the program, which calls nothing.
            match growth.nodes[node].parent.filter(|&parent| growth.nodes[parent].parent.is_some()) {
                Some(parent) => {
                    by_caller.entry(growth.nodes[parent].entry).or_default().push((parent, start))
                }
                None => nowhere.push((node, start)),
            }
        }
        let caller = |(entry, places): (usize, Vec<(usize, usize)>)| Bud {
            entry,
            parent: None,
            count: calls_of(growth, &bud.place, &places),
            costs: sum(&places),
            is_guessed: false,
            place: places,
        };
        Callers {
            from_nowhere: sum(&nowhere),
            work: bud.place.len(),
            callers: by_caller.into_iter().map(caller).collect(),
        }
    }))
}

/// How often the callers at some nodes called what is below them: each node on the way once.
fn calls_of(growth: &Growth, below: &[(usize, usize)], callers: &[(usize, usize)]) -> Cost {
    let mut nodes: Vec<usize> = below.iter().map(|&(node, _)| node).collect();
    nodes.sort_unstable();
    nodes.dedup();
    let mut at: Vec<usize> = callers.iter().map(|&(node, _)| node).collect();
    at.sort_unstable();
    let is_called =
        |node: usize| growth.nodes[node].parent.is_some_and(|parent| at.binary_search(&parent).is_ok());
    nodes.into_iter().filter(|&node| is_called(node)).map(|node| growth.nodes[node].count).sum()
}

/// From a call graph, and how much of the cost had to be divided by a guess.
pub(super) fn estimate(
    graph: &CallGraph,
    cycles: &Cycles,
    from: FunctionId,
    entry: impl Fn(TreeItem) -> usize,
    most_nodes: usize,
) -> (Growth, Vec<Cost>) {
    let unit = |function: FunctionId| FunctionId::new(cycles.rank(function));
    let units = graph.folded(cycles.units(), unit).without(|_, arc| arc.is_loop());
    let mut entries = vec![0; cycles.units()];
    for function in graph.function_ids() {
        entries[cycles.rank(function)] = entry(cycles.unit(function).into());
    }
    // Callers have smaller numbers, so theirs is known before.
    let mut is_certain = vec![false; units.functions()];
    for unit in units.function_ids() {
        let mut callers = units.incoming(unit);
        is_certain[unit.index()] = match callers.len() {
            0 => true,
            1 => callers.all(|arc| is_certain[units.arc(arc).caller.index()]),
            _ => false,
        };
    }
    let from = unit(from);
    let width = graph.width();
    let work = units.arcs().len().saturating_add(most_nodes.saturating_mul(16));
    let costs = units.self_and_callees(from);
    let mut guessed = vec![0; width];
    for (arc, costs) in divided(&units, from, &costs) {
        if !is_certain[units.arc(arc).caller.index()] {
            add(&mut guessed, &costs);
        }
    }
    let first = Bud {
        entry: entries[from.index()],
        parent: None,
        count: units.called(from),
        costs,
        is_guessed: false,
        place: from,
    };
    let growth = grow(first, width, most_nodes, work, |bud| {
        let arcs = divided(&units, bud.place, &bud.costs);
        // What calls the function itself is known; which of their calls led to it is not.
        let is_guessed = bud.is_guessed || bud.parent.is_some() && arcs.len() > 1;
        Callers {
            from_nowhere: if arcs.is_empty() { bud.costs.clone() } else { vec![0; width] },
            work: arcs.len(),
            callers: arcs
                .into_iter()
                .map(|(arc, costs)| {
                    let caller = units.arc(arc).caller;
                    let count = units.arc(arc).count;
                    Bud {
                        entry: entries[caller.index()],
                        parent: None,
                        count,
                        costs,
                        is_guessed,
                        place: caller,
                    }
                })
                .collect(),
        }
    });
    (growth, guessed)
}

/// Costs divided among the callers of a unit, by event type as the costs of their arcs are to each other; without
/// these by counts, and without counts alike.
fn divided(units: &CallGraph, unit: FunctionId, costs: &[Cost]) -> Vec<(usize, Vec<Cost>)> {
    let arcs: Vec<usize> = units.incoming(unit).collect();
    let mut shares: Vec<(usize, Vec<Cost>)> = arcs.iter().map(|&arc| (arc, Vec::new())).collect();
    let weights = |of: &dyn Fn(usize) -> u128| {
        let weights: Vec<u128> = arcs.iter().map(|&arc| of(arc)).collect();
        weights.iter().any(|&weight| weight > 0).then_some(weights)
    };
    for (column, &cost) in costs.iter().enumerate() {
        let by_cost = weights(&|arc| units.arc_cost(arc)[column].unsigned_abs());
        let known = by_cost.or_else(|| weights(&|arc| units.arc(arc).count.max(0).unsigned_abs()));
        let known = known.unwrap_or_else(|| vec![1; arcs.len()]);
        for (share, part) in shares.iter_mut().zip(parts_of(cost, &known)) {
            share.1.push(part);
        }
    }
    shares
}

/// An amount in parts that are to each other as the weights are. They add up to the amount.
fn parts_of(amount: Cost, weights: &[u128]) -> Vec<Cost> {
    // So many bits as leave room for the products; weights that need more differ in what does not matter.
    let most = weights.iter().copied().max().unwrap_or(0);
    let bits = (u128::BITS - most.leading_zeros()) + (usize::BITS - weights.len().leading_zeros());
    let shift = bits.saturating_sub(62);
    let whole: u128 = weights.iter().map(|weight| weight >> shift).sum();
    let Some(whole) = Cost::try_from(whole).ok().filter(|&whole| whole > 0) else {
        return weights.iter().map(|_| 0).collect();
    };
    let (each, rest) = (amount / whole, amount % whole);
    let mut sum: Cost = 0;
    let mut before = 0;
    weights
        .iter()
        .map(|weight| {
            sum += Cost::try_from(weight >> shift).unwrap_or(0);
            // What all up to here have, so that what rounding takes from one the next one gets.
            let up_to = each * sum + rest * sum / whole;
            let part = up_to - before;
            before = up_to;
            part
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_add_up() {
        for (amount, weights) in [
            (10, vec![1, 1, 1]),
            (-7, vec![3, 0, 2]),
            (Cost::from(u64::MAX), vec![u128::from(u64::MAX), 1, 5]),
            (Cost::MAX, vec![u128::MAX >> 1, u128::MAX >> 1]),
            (Cost::MIN, vec![7]),
        ] {
            let parts = parts_of(amount, &weights);
            assert_eq!(parts.iter().sum::<Cost>(), amount, "{weights:?}");
        }
        assert_eq!(parts_of(10, &[1, 1, 1]), [3, 3, 4]);
        assert_eq!(parts_of(30, &[30, 10]), [22, 8]);
    }
}
