//! A set of arcs of little weight whose reversal leaves no cycle.
//!
//! Inside each strongly connected component, functions get an order by the greedy method of Eades, Lin and Smyth, "A Fast and
//! Effective Heuristic for the Feedback Arc Set Problem" (1993), with weights. Arcs against the order are reversed. Functions
//! that are called from outside the component come first among equals, so that a cycle hangs from its entry.

use gristmill_profile::ordered::OrderedMap;

/// An arc between two different vertices.
#[derive(Debug, Clone, Copy)]
pub(super) struct Link {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) weight: i64,
}

/// Returns `true` for each link that has to be reversed.
pub(super) fn reversed(vertices: usize, links: &[Link]) -> Vec<bool> {
    let component = components(vertices, links);
    let mut outgoing = vec![0_i64; vertices];
    let mut incoming = vec![0_i64; vertices];
    let mut entry = vec![0_i64; vertices];
    let mut adjacent: Vec<Vec<(usize, i64, bool)>> = vec![Vec::new(); vertices];
    for link in links {
        if component[link.from] == component[link.to] {
            outgoing[link.from] += link.weight;
            incoming[link.to] += link.weight;
            adjacent[link.from].push((link.to, link.weight, true));
            adjacent[link.to].push((link.from, link.weight, false));
        } else {
            entry[link.to] += link.weight;
        }
    }
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); vertices];
    for (vertex, &component) in component.iter().enumerate() {
        members[component].push(vertex);
    }
    let mut position = vec![0_usize; vertices];
    let mut is_placed = vec![false; vertices];
    for members in members.iter().filter(|members| members.len() > 1) {
        // Keys change as neighbours are placed: a set of (key, vertex) stays sorted.
        let key = |vertex: usize, outgoing: &[i64], incoming: &[i64]| {
            let rank = if outgoing[vertex] == 0 {
                i64::MAX
            } else if incoming[vertex] == 0 {
                i64::MIN
            } else {
                incoming[vertex] - outgoing[vertex] - 2 * entry[vertex]
            };
            (rank, vertex)
        };
        let mut open: OrderedMap<(i64, usize), ()> =
            members.iter().map(|&vertex| (key(vertex, &outgoing, &incoming), ())).collect();
        let (mut front, mut back) = (0, members.len());
        // Sinks go to the end, then sources to the front, then the vertex that most leaves.
        while let Some([first, last]) = open.ends() {
            let (chosen, goes_last) = if last.0 == i64::MAX { (last, true) } else { (first, false) };
            open.remove(chosen);
            let vertex = chosen.1;
            is_placed[vertex] = true;
            if goes_last {
                back -= 1;
                position[vertex] = back;
            } else {
                position[vertex] = front;
                front += 1;
            }
            for &(other, weight, leaves) in &adjacent[vertex] {
                if !is_placed[other] {
                    open.remove(key(other, &outgoing, &incoming));
                    if leaves {
                        incoming[other] -= weight;
                    } else {
                        outgoing[other] -= weight;
                    }
                    open.insert(key(other, &outgoing, &incoming), ());
                }
            }
        }
    }
    links
        .iter()
        .map(|link| component[link.from] == component[link.to] && position[link.from] > position[link.to])
        .collect()
}

/// Returns the strongly connected component of each vertex, by Tarjan's method without recursion.
fn components(vertices: usize, links: &[Link]) -> Vec<usize> {
    let mut callees = vec![Vec::new(); vertices];
    for link in links {
        callees[link.from].push(link.to);
    }
    let mut component = vec![usize::MAX; vertices];
    let mut number = vec![0_usize; vertices];
    let mut low = vec![0_usize; vertices];
    let (mut numbered, mut found) = (0, 0);
    let mut open = Vec::new();
    let mut path: Vec<(usize, usize)> = Vec::new();
    for root in 0..vertices {
        if number[root] != 0 {
            continue;
        }
        path.push((root, 0));
        while let Some((vertex, next)) = path.last_mut() {
            let vertex = *vertex;
            if *next == 0 {
                numbered += 1;
                number[vertex] = numbered;
                low[vertex] = numbered;
                open.push(vertex);
            }
            if let Some(&callee) = callees[vertex].get(*next) {
                *next += 1;
                if number[callee] == 0 {
                    path.push((callee, 0));
                } else if component[callee] == usize::MAX {
                    low[vertex] = low[vertex].min(number[callee]);
                }
                continue;
            }
            path.pop();
            if let Some(&(caller, _)) = path.last() {
                low[caller] = low[caller].min(low[vertex]);
            }
            if low[vertex] == number[vertex] {
                while let Some(member) = open.pop() {
                    component[member] = found;
                    if member == vertex {
                        break;
                    }
                }
                found += 1;
            }
        }
    }
    component
}
