//! Layers: a layer for each box, and a vertex in each layer that an arc passes.

use super::cycles::{self, Link};
use super::simplex::{self, Edge};
use super::whole_number;
use super::{Drawing, Part};

/// Vertices for arcs that pass layers, at most. Arcs beyond that are drawn straight across.
const MAX_BENDS: usize = 40_000;
/// The same for vertices where clusters pass layers.
const MAX_BORDERS: usize = 20_000;
/// Steps of the search for layers.
const LAYER_BUDGET: u64 = 6_000_000;

/// The thing at a vertex.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A box, by its index in the part.
    Box(usize),
    /// A point of an arc.
    Bend,
    /// A point of an arc with its label to the right.
    Label,
    /// The left side of a cluster.
    LeftBorder,
    /// The right side of a cluster.
    RightBorder,
}

#[derive(Debug, Clone)]
pub(super) struct Vertex {
    pub(super) layer: usize,
    pub(super) kind: Kind,
    /// Room that it needs to the left and to the right of its position.
    pub(super) left: i64,
    pub(super) right: i64,
    pub(super) height: f64,
    /// The index of its cluster in the part.
    pub(super) cluster: Option<usize>,
}

/// A line between vertices of successive layers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Segment {
    pub(super) upper: usize,
    pub(super) lower: usize,
    pub(super) weight: i64,
}

/// An arc in layers.
#[derive(Debug, Clone)]
pub(super) struct Chain {
    /// Its vertices from the upper box to the lower one.
    pub(super) vertices: Vec<usize>,
    /// `true` if the arc leads upward.
    pub(super) is_reversed: bool,
}

#[derive(Debug)]
pub(super) struct Layers {
    pub(super) vertices: Vec<Vertex>,
    pub(super) segments: Vec<Segment>,
    /// By arc of the part, without self loops.
    pub(super) chains: Vec<Chain>,
    /// By layer: its vertices from left to right.
    pub(super) rows: Vec<Vec<usize>>,
    /// By cluster: the first and the last layer.
    pub(super) clusters: Vec<(usize, usize)>,
    /// `true` if boxes are in every other layer, and labels in those between.
    pub(super) has_label_rows: bool,
}

impl Layers {
    pub(super) fn new(drawing: &Drawing, part: &Part) -> Layers {
        let links: Vec<Link> =
            part.arcs.iter().map(|arc| Link { from: arc.from, to: arc.to, weight: arc.weight }).collect();
        let reversed = cycles::reversed(part.boxes.len(), &links);
        let downward: Vec<Link> = links
            .iter()
            .zip(&reversed)
            .map(
                |(link, reversed)| {
                    if *reversed { Link { from: link.to, to: link.from, ..*link } } else { *link }
                },
            )
            .collect();
        let layer_of = layers(part.boxes.len(), &downward);
        let spans: usize = downward.iter().map(|link| layer_of[link.to] - layer_of[link.from]).sum();
        let has_label_rows = part.arcs.iter().any(|arc| arc.label.width > 0.0)
            && 2 * spans - downward.len().min(spans) < MAX_BENDS;
        let scale = if has_label_rows { 2 } else { 1 };
        let mut vertices: Vec<Vertex> = part
            .boxes
            .iter()
            .enumerate()
            .map(|(index, node)| Vertex {
                layer: layer_of[index] * scale,
                kind: Kind::Box(index),
                left: half(node.width),
                right: half(node.width) + whole_number(node.loop_room.ceil()),
                height: node.height,
                cluster: node.cluster,
            })
            .collect();
        // Heavy and short arcs first get the vertices that there are.
        let mut order: Vec<usize> = (0..downward.len()).collect();
        order.sort_by_key(|&arc| {
            let span = layer_of[downward[arc].to] - layer_of[downward[arc].from];
            (-downward[arc].weight, span, arc)
        });
        let mut segments = Vec::new();
        let mut bends_left = MAX_BENDS;
        let mut is_direct = vec![false; downward.len()];
        for arc in order {
            let span = (layer_of[downward[arc].to] - layer_of[downward[arc].from]) * scale;
            is_direct[arc] = span - 1 > bends_left;
            if !is_direct[arc] {
                bends_left -= span - 1;
            }
        }
        let mut chains = Vec::with_capacity(downward.len());
        for (index, link) in downward.iter().enumerate() {
            let (top, bottom) = (layer_of[link.from] * scale, layer_of[link.to] * scale);
            let mut chain = vec![link.from];
            if !is_direct[index] {
                let label = part.arcs[index].label;
                let middle = if has_label_rows { ((top + bottom) / 2) | 1 } else { 0 };
                let cluster = part.boxes[link.from]
                    .cluster
                    .filter(|_| part.boxes[link.from].cluster == part.boxes[link.to].cluster);
                for layer in top + 1..bottom {
                    let has_label = layer == middle && label.width > 0.0;
                    vertices.push(Vertex {
                        layer,
                        kind: if has_label { Kind::Label } else { Kind::Bend },
                        left: 2,
                        right: if has_label {
                            whole_number((label.width + drawing.options.label_gap).ceil())
                        } else {
                            2
                        },
                        height: if has_label { label.height } else { 0.0 },
                        cluster,
                    });
                    chain.push(vertices.len() - 1);
                }
                chain.push(link.to);
                segments.extend(chain.windows(2).map(|pair| Segment {
                    upper: pair[0],
                    lower: pair[1],
                    weight: link.weight,
                }));
            } else {
                chain.push(link.to);
            }
            chains.push(Chain { vertices: chain, is_reversed: reversed[index] });
        }
        let mut clusters = vec![(usize::MAX, 0); part.clusters];
        for vertex in &vertices {
            if let Some(cluster) = vertex.cluster {
                let (first, last) = &mut clusters[cluster];
                *first = (*first).min(vertex.layer);
                *last = (*last).max(vertex.layer);
            }
        }
        let borders: usize = clusters.iter().map(|(first, last)| last.saturating_sub(*first) + 1).sum();
        if borders > MAX_BORDERS {
            clusters.clear();
            for vertex in &mut vertices {
                vertex.cluster = None;
            }
        }
        for (cluster, &(first, last)) in clusters.iter().enumerate() {
            for kind in [Kind::LeftBorder, Kind::RightBorder] {
                for layer in first..=last {
                    let cluster = Some(cluster);
                    vertices.push(Vertex { layer, kind, left: 0, right: 0, height: 0.0, cluster });
                    if layer > first {
                        let lower = vertices.len() - 1;
                        segments.push(Segment { upper: lower - 1, lower, weight: 1 });
                    }
                }
            }
        }
        let count = vertices.iter().map(|vertex| vertex.layer + 1).max().unwrap_or(0);
        let mut rows = vec![Vec::new(); count];
        for (index, vertex) in vertices.iter().enumerate() {
            rows[vertex.layer].push(index);
        }
        Layers { vertices, segments, chains, rows, clusters, has_label_rows }
    }
}

fn half(width: f64) -> i64 {
    whole_number((width / 2.0).ceil())
}

/// Returns the layer of each vertex: links lead down, and heavy ones are short.
fn layers(vertices: usize, links: &[Link]) -> Vec<usize> {
    let mut incoming = vec![0_usize; vertices];
    let mut callees = vec![Vec::new(); vertices];
    for link in links {
        incoming[link.to] += 1;
        callees[link.from].push(link.to);
    }
    // The longest path from above is a first solution.
    let mut values = vec![1_i64; vertices];
    let mut ready: Vec<usize> = (0..vertices).filter(|&vertex| incoming[vertex] == 0).collect();
    let roots = ready.clone();
    while let Some(vertex) = ready.pop() {
        for &callee in &callees[vertex] {
            values[callee] = values[callee].max(values[vertex] + 1);
            incoming[callee] -= 1;
            if incoming[callee] == 0 {
                ready.push(callee);
            }
        }
    }
    let mut edges: Vec<Edge> = links
        .iter()
        .map(|link| Edge { tail: link.from, head: link.to, min_length: 1, weight: link.weight })
        .collect();
    // A vertex above all roots connects what a cluster alone holds together.
    values.push(0);
    edges.extend(roots.iter().map(|&root| Edge { tail: vertices, head: root, min_length: 1, weight: 0 }));
    let mut budget = LAYER_BUDGET;
    simplex::minimize(&mut values, &edges, &mut budget);
    values.pop();
    // Each connected part begins in the first layer.
    let mut group: Vec<usize> = (0..vertices).collect();
    for link in links {
        super::unite(&mut group, link.from, link.to);
    }
    let mut least = vec![i64::MAX; vertices];
    let groups: Vec<usize> = (0..vertices).map(|vertex| super::find(&mut group, vertex)).collect();
    for (vertex, &group) in groups.iter().enumerate() {
        least[group] = least[group].min(values[vertex]);
    }
    groups
        .iter()
        .zip(&values)
        .map(|(&group, value)| usize::try_from(value - least[group]).unwrap_or(0))
        .collect()
}
