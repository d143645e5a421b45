//! The order of vertices in each layer: few crossings.
//!
//! Weighted medians and swaps of neighbours, after Gansner and others (1993), from several first orders; the order with the
//! fewest crossings is kept. Vertices of a cluster stay together, and clusters have the same order in all layers, so that
//! each has a rectangle of its own.

use super::layers::{Kind, Layers};

/// Steps of the search: a step is a look at an end of a segment.
const ORDER_BUDGET: u64 = 12_000_000;
/// Passes without improvement after which a search ends.
const ROUNDS_WITHOUT_GAIN: usize = 6;
const MAX_PASSES: usize = 28;

/// Orders the vertices of all layers.
pub(super) fn sort(layers: &mut Layers) {
    let mut search = Search::new(layers);
    if !layers.clusters.is_empty() {
        // Without clusters first: their order follows from where their vertices would be.
        search.budget = ORDER_BUDGET / 4;
        search.run(layers);
        let mut sums = vec![(0.0, 0.0); layers.clusters.len()];
        for row in &layers.rows {
            for (position, &vertex) in row.iter().enumerate() {
                if let (Some(cluster), Kind::Box(_)) =
                    (layers.vertices[vertex].cluster, layers.vertices[vertex].kind)
                {
                    sums[cluster].0 += (position as f64 + 0.5) / row.len() as f64;
                    sums[cluster].1 += 1.0;
                }
            }
        }
        let mut order: Vec<usize> = (0..sums.len()).collect();
        order.sort_by(|&a, &b| (sums[a].0 / sums[a].1).total_cmp(&(sums[b].0 / sums[b].1)).then(a.cmp(&b)));
        search.cluster_place = Some(vec![0; sums.len()]);
        for (place, cluster) in order.into_iter().enumerate() {
            if let Some(places) = &mut search.cluster_place {
                places[cluster] = place;
            }
        }
    }
    search.budget = ORDER_BUDGET;
    search.run(layers);
}

struct Search {
    upper: Vec<Vec<usize>>,
    lower: Vec<Vec<usize>>,
    position: Vec<usize>,
    /// By cluster: its index from left to right. None while clusters do not matter.
    cluster_place: Option<Vec<usize>>,
    budget: u64,
    scratch: (Vec<usize>, Vec<usize>),
}

/// A free vertex or the members of a cluster, each with its key.
type Unit = (Option<usize>, Vec<(usize, Option<f64>)>);

impl Search {
    fn new(layers: &Layers) -> Search {
        let count = layers.vertices.len();
        let (mut upper, mut lower) = (vec![Vec::new(); count], vec![Vec::new(); count]);
        for segment in &layers.segments {
            lower[segment.upper].push(segment.lower);
            upper[segment.lower].push(segment.upper);
        }
        Search {
            upper,
            lower,
            position: vec![0; count],
            cluster_place: None,
            budget: 0,
            scratch: (Vec::new(), Vec::new()),
        }
    }

    /// Tries several first orders and leaves the best in `layers`.
    fn run(&mut self, layers: &mut Layers) {
        let mut best: Option<(u64, Vec<Vec<usize>>)> = None;
        let whole = self.budget;
        for start in 0..4 {
            self.budget = whole / 4;
            let mut rows = self.first_order(layers, start);
            if self.cluster_place.is_some() {
                for row in &mut rows {
                    let keys = (0..row.len()).map(|index| Some(index as f64)).collect();
                    self.arrange(layers, row, keys);
                }
            }
            self.place(&rows);
            let mut crossings = self.crossings(&rows);
            let mut least = rows.clone();
            let mut idle = 0;
            for pass in 0..MAX_PASSES {
                if crossings == 0 || idle >= ROUNDS_WITHOUT_GAIN || self.budget == 0 {
                    break;
                }
                self.medians(layers, &mut rows, pass % 2 == 0);
                self.swap(layers, &mut rows, pass % 4 < 2);
                let count = self.crossings(&rows);
                if count < crossings {
                    // A small gain is no reason to go on for long.
                    idle = if count * 100 < crossings * 99 { 0 } else { idle + 1 };
                    crossings = count;
                    least.clone_from(&rows);
                } else {
                    idle += 1;
                }
            }
            if best.as_ref().is_none_or(|(count, _)| crossings < *count) {
                best = Some((crossings, least));
            }
            if crossings == 0 {
                break;
            }
        }
        if let Some((_, rows)) = best {
            layers.rows = rows;
        }
    }

    fn place(&mut self, rows: &[Vec<usize>]) {
        for row in rows {
            for (index, &vertex) in row.iter().enumerate() {
                self.position[vertex] = index;
            }
        }
    }

    /// Returns an order in which a search through the graph meets vertices: depth or breadth first, from above or below.
    fn first_order(&self, layers: &Layers, start: usize) -> Vec<Vec<usize>> {
        let from_above = start < 2;
        let depth_first = start.is_multiple_of(2);
        let mut rows = vec![Vec::new(); layers.rows.len()];
        let mut is_met = vec![false; layers.vertices.len()];
        let mut queue = std::collections::VecDeque::new();
        let (ahead, _behind) =
            if from_above { (&self.lower, &self.upper) } else { (&self.upper, &self.lower) };
        let roots: Vec<usize> = if from_above {
            layers.rows.iter().flatten().copied().collect()
        } else {
            layers.rows.iter().rev().flatten().copied().collect()
        };
        for root in roots {
            queue.push_back(root);
            while let Some(vertex) = if depth_first { queue.pop_back() } else { queue.pop_front() } {
                if std::mem::replace(&mut is_met[vertex], true) {
                    continue;
                }
                rows[layers.vertices[vertex].layer].push(vertex);
                if depth_first {
                    queue.extend(ahead[vertex].iter().rev().filter(|next| !is_met[**next]));
                } else {
                    queue.extend(ahead[vertex].iter().filter(|next| !is_met[**next]));
                }
            }
        }
        rows
    }

    /// Sorts each layer by the medians of its neighbours in the layer before.
    fn medians(&mut self, layers: &Layers, rows: &mut [Vec<usize>], downward: bool) {
        let count = rows.len();
        for step in 1..count {
            let layer = if downward { step } else { count - 1 - step };
            let mut keys = Vec::with_capacity(rows[layer].len());
            for &vertex in &rows[layer] {
                let neighbours = if downward { &self.upper[vertex] } else { &self.lower[vertex] };
                let mut positions: Vec<usize> =
                    neighbours.iter().map(|&other| self.position[other]).collect();
                positions.sort_unstable();
                self.budget = self.budget.saturating_sub(1 + positions.len() as u64);
                keys.push(median(&positions));
            }
            let mut row = std::mem::take(&mut rows[layer]);
            self.arrange(layers, &mut row, keys);
            for (index, &vertex) in row.iter().enumerate() {
                self.position[vertex] = index;
            }
            rows[layer] = row;
        }
    }

    /// Sorts a layer by keys, clusters as wholes. Vertices without a key stay.
    fn arrange(&self, layers: &Layers, row: &mut [usize], keys: Vec<Option<f64>>) {
        let Some(places) = &self.cluster_place else {
            let items: Vec<(usize, Option<f64>)> = row.iter().copied().zip(keys).collect();
            row.copy_from_slice(&sorted(items));
            return;
        };
        let mut units: Vec<Unit> = Vec::new();
        let mut unit_of = std::collections::BTreeMap::new();
        for (&vertex, key) in row.iter().zip(keys) {
            match layers.vertices[vertex].cluster {
                None => units.push((None, vec![(vertex, key)])),
                Some(cluster) => {
                    let unit = *unit_of.entry(cluster).or_insert_with(|| {
                        units.push((Some(cluster), Vec::new()));
                        units.len() - 1
                    });
                    units[unit].1.push((vertex, key));
                }
            }
        }
        let mut clusters: Vec<usize> = unit_of.keys().copied().collect();
        clusters.sort_by_key(|&cluster| places[cluster]);
        let items = units
            .iter()
            .enumerate()
            .map(|(index, (_, members))| {
                let keys: Vec<f64> = members.iter().filter_map(|(_, key)| *key).collect();
                (index, (!keys.is_empty()).then(|| keys.iter().sum::<f64>() / keys.len() as f64))
            })
            .collect();
        let mut clusters = clusters.into_iter();
        let mut index = 0;
        for unit in sorted(items) {
            let mut members = match units[unit].0.and_then(|_| clusters.next()) {
                Some(cluster) => sorted(std::mem::take(&mut units[unit_of[&cluster]].1)),
                None => sorted(std::mem::take(&mut units[unit].1)),
            };
            members.sort_by_key(|&vertex| match layers.vertices[vertex].kind {
                Kind::LeftBorder => 0,
                Kind::RightBorder => 2,
                _ => 1,
            });
            for vertex in members {
                row[index] = vertex;
                index += 1;
            }
        }
    }

    /// Swaps neighbours while that removes crossings.
    fn swap(&mut self, layers: &Layers, rows: &mut [Vec<usize>], swaps_equal: bool) {
        let mut is_dirty = vec![true; rows.len()];
        for round in 0..12 {
            let mut improved = false;
            for layer in 0..rows.len() {
                if !std::mem::replace(&mut is_dirty[layer], false) || self.budget == 0 {
                    continue;
                }
                let mut changed = false;
                for index in 1..rows[layer].len() {
                    let (left, right) = (rows[layer][index - 1], rows[layer][index]);
                    if self.cluster_place.is_some() && !can_swap(layers, left, right) {
                        continue;
                    }
                    let (now, swapped) = self.pair_crossings(left, right);
                    if swapped < now || (swaps_equal && round == 0 && swapped == now && now > 0) {
                        rows[layer].swap(index - 1, index);
                        self.position[left] = index;
                        self.position[right] = index - 1;
                        changed |= swapped < now;
                    }
                }
                if changed {
                    improved = true;
                    is_dirty[layer.saturating_sub(1)..(layer + 2).min(rows.len())].fill(true);
                }
            }
            if !improved {
                break;
            }
        }
    }

    /// Returns the crossings of the segments of two neighbours, as they are and swapped.
    fn pair_crossings(&mut self, left: usize, right: usize) -> (u64, u64) {
        let (mut now, mut swapped) = (0, 0);
        let mut scratch = std::mem::take(&mut self.scratch);
        for side in [&self.upper, &self.lower] {
            if side[left].is_empty() || side[right].is_empty() {
                continue;
            }
            for (list, vertex) in [(&mut scratch.0, left), (&mut scratch.1, right)] {
                list.clear();
                list.extend(side[vertex].iter().map(|&other| self.position[other]));
                list.sort_unstable();
            }
            now += inversions(&scratch.0, &scratch.1);
            swapped += inversions(&scratch.1, &scratch.0);
            self.budget = self.budget.saturating_sub((scratch.0.len() + scratch.1.len()) as u64);
        }
        self.scratch = scratch;
        (now, swapped)
    }

    /// Counts crossings between all layers.
    fn crossings(&mut self, rows: &[Vec<usize>]) -> u64 {
        let mut count = 0;
        let mut tree: Vec<u64> = Vec::new();
        let mut ends = Vec::new();
        for pair in rows.windows(2) {
            tree.clear();
            tree.resize(pair[1].len() + 1, 0);
            let mut seen = 0;
            for &vertex in &pair[0] {
                ends.clear();
                ends.extend(self.lower[vertex].iter().map(|&other| self.position[other]));
                ends.sort_unstable();
                self.budget = self.budget.saturating_sub(1 + ends.len() as u64);
                for &end in &ends {
                    let mut below = 0;
                    let mut index = end + 1;
                    while index > 0 {
                        below += tree[index];
                        index &= index - 1;
                    }
                    count += seen - below;
                }
                for &end in &ends {
                    let mut index = end + 1;
                    while index < tree.len() {
                        tree[index] += 1;
                        index += index & index.wrapping_neg();
                    }
                    seen += 1;
                }
            }
        }
        count
    }
}

fn can_swap(layers: &Layers, left: usize, right: usize) -> bool {
    let is_border =
        |vertex: usize| matches!(layers.vertices[vertex].kind, Kind::LeftBorder | Kind::RightBorder);
    layers.vertices[left].cluster == layers.vertices[right].cluster && !is_border(left) && !is_border(right)
}

/// Counts pairs of an item of `left` above an item of `right`; both lists ascend.
fn inversions(left: &[usize], right: &[usize]) -> u64 {
    let (mut count, mut smaller) = (0, 0);
    for item in left {
        while smaller < right.len() && right[smaller] < *item {
            smaller += 1;
        }
        count += smaller as u64;
    }
    count
}

/// Returns items by ascending key. Those without a key keep their index.
fn sorted(items: Vec<(usize, Option<f64>)>) -> Vec<usize> {
    let mut keyed: Vec<(f64, usize)> =
        items.iter().filter_map(|(item, key)| key.map(|key| (key, *item))).collect();
    keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut keyed = keyed.into_iter();
    items
        .into_iter()
        .map(|(item, key)| if key.is_some() { keyed.next().map_or(item, |(_, item)| item) } else { item })
        .collect()
}

/// Returns the weighted median of ascending positions: of two in the middle, nearer to the denser side.
fn median(positions: &[usize]) -> Option<f64> {
    let count = positions.len();
    let middle = count / 2;
    match count {
        0 => None,
        1 => Some(positions[0] as f64),
        2 => Some((positions[0] + positions[1]) as f64 / 2.0),
        _ if count % 2 == 1 => Some(positions[middle] as f64),
        _ => {
            let (low, high) = (positions[middle - 1] as f64, positions[middle] as f64);
            let left = low - positions[0] as f64;
            let right = positions[count - 1] as f64 - high;
            if left + right == 0.0 {
                Some((low + high) / 2.0)
            } else {
                Some((low * right + high * left) / (left + right))
            }
        }
    }
}
