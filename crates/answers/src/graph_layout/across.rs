//! Horizontal positions: least weighted sum of horizontal distances along arcs, by the network simplex method.
//!
//! Parts of long arcs weigh more than short arcs, so they are straight; so do heavy arcs.

use super::layers::{Kind, Layers};
use super::simplex::{self, Edge};
use super::whole_number;

/// Steps of the search for positions. If they are spent, the drawing is wider or arcs are less straight.
const ACROSS_BUDGET: u64 = 12_000_000;
/// Passes over all layers for first positions.
const PASSES: usize = 8;

/// Returns the horizontal position of each vertex.
pub(super) fn positions(layers: &Layers, gap: i64, padding: i64, titles: &[i64]) -> Vec<i64> {
    // Both borders of a cluster are one number each, whatever the layer.
    let mut variable = vec![0; layers.vertices.len()];
    let mut count = 2 * layers.clusters.len();
    for (index, vertex) in layers.vertices.iter().enumerate() {
        variable[index] = match (vertex.kind, vertex.cluster) {
            (Kind::LeftBorder, Some(cluster)) => 2 * cluster,
            (Kind::RightBorder, Some(cluster)) => 2 * cluster + 1,
            _ => {
                count += 1;
                count - 1
            }
        };
    }
    let separation = |left: usize, right: usize| {
        let (a, b) = (&layers.vertices[left], &layers.vertices[right]);
        let is_inside = matches!(a.kind, Kind::LeftBorder) || matches!(b.kind, Kind::RightBorder);
        let is_thin = matches!(a.kind, Kind::Bend | Kind::Label) || matches!(b.kind, Kind::Bend);
        a.right
            + b.left
            + if is_inside {
                padding
            } else if is_thin {
                gap.min(gap / 2 + 4)
            } else {
                gap
            }
    };
    let mut edges = Vec::new();
    for row in &layers.rows {
        for pair in row.windows(2) {
            let min_length = separation(pair[0], pair[1]);
            edges.push(Edge { tail: variable[pair[0]], head: variable[pair[1]], min_length, weight: 0 });
        }
    }
    for (cluster, title) in titles.iter().enumerate().take(layers.clusters.len()) {
        edges.push(Edge { tail: 2 * cluster, head: 2 * cluster + 1, min_length: *title, weight: 16 });
    }
    let mut values =
        if layers.clusters.is_empty() { swept(layers, &separation) } else { leftmost(count, &edges) };
    let mut neighbours: Vec<Vec<usize>> = vec![Vec::new(); count];
    for segment in &layers.segments {
        let (upper, lower) = (&layers.vertices[segment.upper], &layers.vertices[segment.lower]);
        if matches!(upper.kind, Kind::LeftBorder | Kind::RightBorder) {
            continue;
        }
        let (a, b) = (variable[segment.upper], variable[segment.lower]);
        neighbours[a].push(b);
        neighbours[b].push(a);
        let weight = segment.weight * omega(upper.kind, lower.kind);
        let middle = values.len();
        values.push(values[a].min(values[b]));
        edges.push(Edge { tail: middle, head: a, min_length: 0, weight });
        edges.push(Edge { tail: middle, head: b, min_length: 0, weight });
    }
    let mut budget = ACROSS_BUDGET;
    simplex::minimize(&mut values, &edges, &mut budget);
    center(layers, &variable, &mut values, &neighbours, &separation);
    let least = values[..count].iter().copied().min().unwrap_or(0);
    variable.iter().map(|&variable| values[variable] - least).collect()
}

fn omega(upper: Kind, lower: Kind) -> i64 {
    match (matches!(upper, Kind::Box(_)), matches!(lower, Kind::Box(_))) {
        (true, true) => 1,
        (false, false) => 8,
        _ => 2,
    }
}

/// Returns the least values that fulfil all edges. The edges have no cycle: clusters have one order in all layers.
fn leftmost(count: usize, edges: &[Edge]) -> Vec<i64> {
    let mut incoming = vec![0; count];
    let mut leaving = vec![Vec::new(); count];
    for edge in edges {
        incoming[edge.head] += 1;
        leaving[edge.tail].push(*edge);
    }
    let mut values = vec![0; count];
    let mut ready: Vec<usize> = (0..count).filter(|&vertex| incoming[vertex] == 0).collect();
    while let Some(vertex) = ready.pop() {
        for edge in &leaving[vertex] {
            values[edge.head] = values[edge.head].max(values[vertex] + edge.min_length);
            incoming[edge.head] -= 1;
            if incoming[edge.head] == 0 {
                ready.push(edge.head);
            }
        }
    }
    values
}

/// Returns positions by passes down and up: each layer is as near to its neighbours as the order allows.
fn swept(layers: &Layers, separation: &dyn Fn(usize, usize) -> i64) -> Vec<i64> {
    let count = layers.vertices.len();
    let (mut upper, mut lower) = (vec![Vec::new(); count], vec![Vec::new(); count]);
    for segment in &layers.segments {
        let kinds = (layers.vertices[segment.upper].kind, layers.vertices[segment.lower].kind);
        let weight = (segment.weight * omega(kinds.0, kinds.1)) as f64;
        lower[segment.upper].push((segment.lower, weight));
        upper[segment.lower].push((segment.upper, weight));
    }
    let mut x = vec![0.0; count];
    for row in &layers.rows {
        let mut at = 0.0;
        for (index, &vertex) in row.iter().enumerate() {
            at += if index > 0 { separation(row[index - 1], vertex) as f64 } else { 0.0 };
            x[vertex] = at;
        }
        for &vertex in row {
            x[vertex] -= at / 2.0;
        }
    }
    for pass in 0..PASSES {
        for step in 0..layers.rows.len() {
            let row = &layers.rows[if pass % 2 == 0 { step } else { layers.rows.len() - 1 - step }];
            let wanted: Vec<(f64, f64)> = row
                .iter()
                .map(|&vertex| {
                    let sides: [&[(usize, f64)]; 2] = match (pass + 2 >= PASSES, pass % 2 == 0) {
                        (true, _) => [&upper[vertex], &lower[vertex]],
                        (_, true) => [&upper[vertex], &[]],
                        _ => [&lower[vertex], &[]],
                    };
                    let (mut sum, mut weight) = (0.0, 0.0);
                    for &(other, share) in sides.into_iter().flatten() {
                        sum += x[other] * share;
                        weight += share;
                    }
                    if weight > 0.0 { (sum / weight, weight) } else { (x[vertex], 0.01) }
                })
                .collect();
            let gaps: Vec<f64> = row.windows(2).map(|pair| separation(pair[0], pair[1]) as f64).collect();
            for (&vertex, value) in row.iter().zip(spread(&wanted, &gaps)) {
                x[vertex] = value;
            }
        }
    }
    let mut rounded: Vec<i64> = x.iter().map(|x| whole_number(x.round())).collect();
    for row in &layers.rows {
        for pair in row.windows(2) {
            rounded[pair[1]] = rounded[pair[1]].max(rounded[pair[0]] + separation(pair[0], pair[1]));
        }
    }
    // Variables are numbered in the order of vertices if there are no clusters.
    rounded
}

/// Returns positions at least `gaps` apart with the least weighted sum of squared distances from wanted ones, by pooling
/// neighbours that violate the order.
pub(super) fn spread(wanted: &[(f64, f64)], gaps: &[f64]) -> Vec<f64> {
    let mut offset = 0.0;
    let mut offsets = Vec::with_capacity(wanted.len());
    // A pool: mean, weight, count.
    let mut pools: Vec<(f64, f64, usize)> = Vec::with_capacity(wanted.len());
    for (index, &(position, weight)) in wanted.iter().enumerate() {
        offset += if index > 0 { gaps[index - 1] } else { 0.0 };
        offsets.push(offset);
        let mut pool = (position - offset, weight.max(1e-9), 1);
        while let Some(&last) = pools.last() {
            if last.0 <= pool.0 {
                break;
            }
            pools.pop();
            let sum = last.1 + pool.1;
            pool = ((last.0 * last.1 + pool.0 * pool.1) / sum, sum, last.2 + pool.2);
        }
        pools.push(pool);
    }
    let means = pools.iter().flat_map(|pool| std::iter::repeat_n(pool.0, pool.2));
    means.zip(offsets).map(|(mean, offset)| mean + offset).collect()
}

/// Moves boxes into the middle of where they are equally good.
fn center(
    layers: &Layers,
    variable: &[usize],
    values: &mut [i64],
    neighbours: &[Vec<usize>],
    separation: &dyn Fn(usize, usize) -> i64,
) {
    for _ in 0..2 {
        for row in &layers.rows {
            for (index, &vertex) in row.iter().enumerate() {
                let at = variable[vertex];
                let is_box = matches!(layers.vertices[vertex].kind, Kind::Box(_));
                if !is_box || neighbours[at].len() < 2 || neighbours[at].len() % 2 == 1 {
                    continue;
                }
                let mut others: Vec<i64> = neighbours[at].iter().map(|&other| values[other]).collect();
                others.sort_unstable();
                let (low, high) = (others[others.len() / 2 - 1], others[others.len() / 2]);
                if values[at] < low || values[at] > high {
                    continue;
                }
                let left = if index > 0 {
                    values[variable[row[index - 1]]] + separation(row[index - 1], vertex)
                } else {
                    i64::MIN
                };
                let right = row
                    .get(index + 1)
                    .map_or(i64::MAX, |&next| values[variable[next]] - separation(vertex, next));
                if left <= right {
                    values[at] = ((low + high) / 2).clamp(left, right);
                }
            }
        }
    }
}
