//! The layout of call graphs: boxes in layers, callers above callees, arcs as smooth curves.
//!
//! The method is Sugiyama's: arcs of little weight are reversed until there is no cycle (`cycles`), boxes get layers
//! (`layers`), the order in each layer has few crossings (`order`), horizontal positions keep heavy and long arcs straight
//! (`across`), and curves pass boxes (`paths`). It does not recurse, every search has a limit of steps and ends with the
//! best result so far, and the same drawing gives the same bytes.
//!
//! It is our own because `layout-rs` has no clusters, no weights of arcs and no limit of work, and `rust-sugiyama` returns
//! positions of boxes only: no curves, no labels, no clusters.

mod across;
mod cycles;
mod layers;
mod order;
mod paths;
mod simplex;
#[cfg(test)]
mod tests;

use layers::{Kind, Layers};

/// Sizes beyond this are cut off, so that no sum loses digits.
const MAX_SIZE: f64 = 100_000.0;
/// Weight of the heaviest arc; others have whole numbers below it.
const MAX_WEIGHT: f64 = 16.0;
/// Width of the loop of an arc from a box to itself.
const LOOP_WIDTH: f64 = 18.0;

/// A width and a height. See the example of [`layout`].
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Size {
    /// The width.
    pub width: f64,
    /// The height.
    pub height: f64,
}

/// A rectangle. See the example of [`layout`].
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Rectangle {
    /// The left edge.
    pub x: f64,
    /// The upper edge.
    pub y: f64,
    /// The width.
    pub width: f64,
    /// The height.
    pub height: f64,
}

/// A box to place. See the example of [`layout`].
#[derive(Debug, Clone, Default)]
pub struct DrawingNode {
    /// Its size.
    pub size: Size,
    /// The index of its cluster in [`Drawing::clusters`].
    pub cluster: Option<usize>,
}

/// An arc to draw. See the example of [`layout`].
#[derive(Debug, Clone, Default)]
pub struct DrawingArc {
    /// The index of the caller's box.
    pub from: usize,
    /// The index of the callee's box.
    pub to: usize,
    /// A cost: heavy arcs are short and straight.
    pub weight: f64,
    /// The size of its label; zero for none.
    pub label: Size,
}

/// Distances. See the example of [`layout`].
#[derive(Debug, Clone)]
pub struct LayoutOptions {
    /// Between boxes of a layer.
    pub node_gap: f64,
    /// Between layers.
    pub layer_gap: f64,
    /// Between an arc and its label.
    pub label_gap: f64,
    /// Between a cluster's edge and its boxes.
    pub cluster_padding: f64,
}

impl Default for LayoutOptions {
    fn default() -> LayoutOptions {
        LayoutOptions { node_gap: 20.0, layer_gap: 40.0, label_gap: 4.0, cluster_padding: 10.0 }
    }
}

/// A call graph to lay out. See [`layout`].
#[derive(Debug, Clone, Default)]
pub struct Drawing {
    /// The boxes.
    pub nodes: Vec<DrawingNode>,
    /// The arcs.
    pub arcs: Vec<DrawingArc>,
    /// The size of the title of each cluster.
    pub clusters: Vec<Size>,
    /// Distances.
    pub options: LayoutOptions,
}

/// The course of an arc. See the example of [`layout`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ArcPath {
    /// Cubic Bézier curves from caller to callee: a start, then three points for each curve.
    pub points: Vec<[f64; 2]>,
    /// The middle of its label.
    pub label: [f64; 2],
    /// `true` if the callee is above the caller.
    pub is_reversed: bool,
}

/// A call graph that is laid out. See the example of [`layout`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Layout {
    /// By node: its box.
    pub nodes: Vec<Rectangle>,
    /// By arc: its curve.
    pub arcs: Vec<ArcPath>,
    /// By cluster: its box. Empty if no node is in it.
    pub clusters: Vec<Rectangle>,
    /// The size of all.
    pub size: Size,
}

/// A connected part of a drawing, with indexes of its own.
struct Part {
    boxes: Vec<PartBox>,
    arcs: Vec<PartArc>,
    clusters: usize,
    nodes: Vec<usize>,
    cluster_ids: Vec<usize>,
}

struct PartBox {
    width: f64,
    height: f64,
    cluster: Option<usize>,
    /// Width of its loops and their labels.
    loop_room: f64,
}

struct PartArc {
    from: usize,
    to: usize,
    weight: i64,
    label: Size,
    arc: usize,
}

/// Lays out a call graph, callers above callees.
///
/// ```
/// use gristmill_answers::graph_layout::{Drawing, DrawingArc, DrawingNode, Size, layout};
///
/// let node = DrawingNode { size: Size { width: 80.0, height: 30.0 }, cluster: None };
/// let arc = DrawingArc { from: 0, to: 1, weight: 1.0, label: Size::default() };
/// let layout = layout(&Drawing { nodes: vec![node.clone(), node], arcs: vec![arc], ..Drawing::default() });
/// assert!(layout.nodes[0].y + layout.nodes[0].height < layout.nodes[1].y);
/// ```
///
/// # Panics
///
/// If an arc names a node or a node names a cluster that does not exist.
pub fn layout(drawing: &Drawing) -> Layout {
    let drawing = &bounded(drawing);
    let mut whole = Layout {
        nodes: vec![Rectangle::default(); drawing.nodes.len()],
        arcs: vec![ArcPath::default(); drawing.arcs.len()],
        clusters: vec![Rectangle::default(); drawing.clusters.len()],
        size: Size::default(),
    };
    let parts = parts(drawing);
    let sizes: Vec<Size> = parts.iter().map(|part| place(drawing, part, &mut whole)).collect();
    // Parts stand side by side in rows, as wide as the widest or as the picture is pleasant.
    let gap = drawing.options.node_gap * 2.0;
    let area: f64 = sizes.iter().map(|size| (size.width + gap) * (size.height + gap)).sum();
    let widest = sizes.iter().fold(0.0, |widest: f64, size| widest.max(size.width));
    let limit = widest.max((area * 1.8).sqrt());
    let (mut x, mut y, mut row_height) = (0.0, 0.0, 0.0_f64);
    for (part, size) in parts.iter().zip(&sizes) {
        if x > 0.0 && x + size.width > limit {
            x = 0.0;
            y += row_height + gap;
            row_height = 0.0;
        }
        shift(part, &mut whole, x, y);
        whole.size.width = whole.size.width.max(x + size.width);
        whole.size.height = whole.size.height.max(y + size.height);
        x += size.width + gap;
        row_height = row_height.max(size.height);
    }
    draw_loops(drawing, &mut whole);
    whole
}

/// Returns a rounded length as a whole number.
#[allow(clippy::cast_possible_truncation, reason = "lengths are bounded by MAX_SIZE and the count of boxes")]
fn whole_number(length: f64) -> i64 {
    length as i64
}

/// Returns the drawing with sizes and weights that are finite and not negative.
fn bounded(drawing: &Drawing) -> Drawing {
    let length = |value: f64| if value.is_finite() { value.clamp(0.0, MAX_SIZE) } else { 0.0 };
    let size = |size: &mut Size| *size = Size { width: length(size.width), height: length(size.height) };
    let mut drawing = drawing.clone();
    drawing.nodes.iter_mut().for_each(|node| size(&mut node.size));
    drawing.clusters.iter_mut().for_each(size);
    for arc in &mut drawing.arcs {
        size(&mut arc.label);
        arc.weight = if arc.weight.is_finite() { arc.weight.max(0.0) } else { 0.0 };
    }
    let options = &mut drawing.options;
    for gap in
        [&mut options.node_gap, &mut options.layer_gap, &mut options.label_gap, &mut options.cluster_padding]
    {
        *gap = length(*gap);
    }
    options.layer_gap = options.layer_gap.max(4.0);
    drawing
}

/// Returns the parts that arcs or clusters connect, in the order of their first nodes.
fn parts(drawing: &Drawing) -> Vec<Part> {
    let count = drawing.nodes.len();
    let mut group: Vec<usize> = (0..count + drawing.clusters.len()).collect();
    for arc in &drawing.arcs {
        unite(&mut group, arc.from, arc.to);
    }
    for (index, node) in drawing.nodes.iter().enumerate() {
        if let Some(cluster) = node.cluster {
            unite(&mut group, index, count + cluster);
        }
    }
    let mut parts: Vec<Part> = Vec::new();
    let mut part_of = vec![None; group.len()];
    let mut own_index = vec![0; group.len()];
    for (index, node) in drawing.nodes.iter().enumerate() {
        let part = *part_of[find(&mut group, index)].get_or_insert_with(|| {
            parts.push(Part { boxes: vec![], arcs: vec![], clusters: 0, nodes: vec![], cluster_ids: vec![] });
            parts.len() - 1
        });
        let part = &mut parts[part];
        let cluster = node.cluster.map(|cluster| {
            part.cluster_ids.iter().position(|id| *id == cluster).unwrap_or_else(|| {
                part.cluster_ids.push(cluster);
                part.clusters += 1;
                part.clusters - 1
            })
        });
        own_index[index] = part.boxes.len();
        part.nodes.push(index);
        part.boxes.push(PartBox {
            width: node.size.width,
            height: node.size.height,
            cluster,
            loop_room: 0.0,
        });
    }
    let heaviest =
        drawing.arcs.iter().fold(0.0, |most: f64, arc| most.max(arc.weight)).max(f64::MIN_POSITIVE);
    for (index, arc) in drawing.arcs.iter().enumerate() {
        let Some(part) = part_of[find(&mut group, arc.from)] else { continue };
        let part = &mut parts[part];
        let (from, to) = (own_index[arc.from], own_index[arc.to]);
        if from == to {
            part.boxes[from].loop_room += LOOP_WIDTH + arc.label.width + drawing.options.label_gap;
        } else {
            let weight = 1 + whole_number(((MAX_WEIGHT - 1.0) * (arc.weight / heaviest)).round());
            part.arcs.push(PartArc { from, to, weight, label: arc.label, arc: index });
        }
    }
    parts
}

/// Lays out a part at the origin and returns its size.
fn place(drawing: &Drawing, part: &Part, whole: &mut Layout) -> Size {
    let options = &drawing.options;
    let mut layers = Layers::new(drawing, part);
    order::sort(&mut layers);
    let padding = options.cluster_padding;
    let titles: Vec<i64> = part
        .cluster_ids
        .iter()
        .map(|id| whole_number((drawing.clusters[*id].width + 2.0 * padding).ceil()))
        .collect();
    let x = across::positions(
        &layers,
        whole_number(options.node_gap.ceil()),
        whole_number(padding.ceil()),
        &titles,
    );
    let left = layers.vertices.iter().zip(&x).map(|(vertex, x)| x - vertex.left).min().unwrap_or(0);
    let x: Vec<i64> = x.iter().map(|x| x - left).collect();
    let bands = bands(drawing, part, &layers);
    let mut width: i64 = 0;
    for (vertex, x) in layers.vertices.iter().zip(&x) {
        width = width.max(x + vertex.right);
        if let Kind::Box(index) = vertex.kind {
            let node = &part.boxes[index];
            let (top, bottom) = bands[vertex.layer];
            let y = (top + bottom - node.height) / 2.0;
            whole.nodes[part.nodes[index]] =
                Rectangle { x: *x as f64 - node.width / 2.0, y, width: node.width, height: node.height };
        }
    }
    let mut height = bands.last().map_or(0.0, |band| band.1);
    for (cluster, &(first, last)) in layers.clusters.iter().enumerate() {
        let side = |wanted: Kind| {
            let vertices = layers.vertices.iter().zip(&x);
            vertices
                .filter(|(vertex, _)| vertex.kind == wanted && vertex.cluster == Some(cluster))
                .map(|(_, x)| *x as f64)
                .next()
        };
        let (left, right) = (side(Kind::LeftBorder).unwrap_or(0.0), side(Kind::RightBorder).unwrap_or(0.0));
        let title = drawing.clusters[part.cluster_ids[cluster]].height;
        let top = bands[first].0 - padding - title;
        let bottom = bands[last].1 + padding;
        height = height.max(bottom);
        whole.clusters[part.cluster_ids[cluster]] =
            Rectangle { x: left, y: top, width: right - left, height: bottom - top };
    }
    draw_arcs(drawing, part, &layers, &x, &bands, whole);
    let mut size = Size { width: width as f64, height };
    for part_arc in &part.arcs {
        let path = &whole.arcs[part_arc.arc];
        size.width = size.width.max(path.label[0] + part_arc.label.width / 2.0);
    }
    size
}

/// Returns the upper and lower edge of each layer.
fn bands(drawing: &Drawing, part: &Part, layers: &Layers) -> Vec<(f64, f64)> {
    let options = &drawing.options;
    let count = layers.rows.len();
    let (mut above, mut below) = (vec![0.0_f64; count], vec![0.0_f64; count]);
    for (cluster, &(first, last)) in layers.clusters.iter().enumerate() {
        let title = drawing.clusters[part.cluster_ids[cluster]].height;
        above[first] = above[first].max(options.cluster_padding + title);
        below[last] = below[last].max(options.cluster_padding);
    }
    let gap = if layers.has_label_rows { options.layer_gap / 2.0 } else { options.layer_gap };
    let mut y = 0.0;
    let mut bands = Vec::with_capacity(count);
    for (layer, row) in layers.rows.iter().enumerate() {
        y += above[layer];
        let height = row.iter().map(|&vertex| layers.vertices[vertex].height).fold(0.0, f64::max);
        bands.push((y, y + height));
        y += height + below[layer] + gap;
    }
    bands
}

fn draw_arcs(
    drawing: &Drawing,
    part: &Part,
    layers: &Layers,
    x: &[i64],
    bands: &[(f64, f64)],
    whole: &mut Layout,
) {
    let mut index = vec![0; layers.vertices.len()];
    for row in &layers.rows {
        for (position, &vertex) in row.iter().enumerate() {
            index[vertex] = position;
        }
    }
    let plane = paths::Plane { layers, x, bands, index: &index };
    let ports = ports(part, layers, x);
    for (number, (part_arc, chain)) in part.arcs.iter().zip(&layers.chains).enumerate() {
        let (upper, lower) = (chain.vertices[0], chain.vertices[chain.vertices.len() - 1]);
        let (above, below) = (whole.nodes[part.nodes[upper]], whole.nodes[part.nodes[lower]]);
        let start = [ports[number].0, above.y + above.height];
        let mut points = paths::curve(&plane, chain, start, [ports[number].1, below.y]);
        let labelled = chain.vertices.iter().find(|&&vertex| layers.vertices[vertex].kind == Kind::Label);
        let label = match labelled {
            Some(&vertex) => {
                let (top, bottom) = bands[layers.vertices[vertex].layer];
                let right = drawing.options.label_gap + part_arc.label.width / 2.0;
                [x[vertex] as f64 + right, (top + bottom) / 2.0]
            }
            None => points[points.len() / 2],
        };
        if chain.is_reversed {
            points.reverse();
        }
        whole.arcs[part_arc.arc] = ArcPath { points, label, is_reversed: chain.is_reversed };
    }
}

/// Returns where each arc leaves its upper box and meets its lower one: towards the other end, in the order of the other ends.
fn ports(part: &Part, layers: &Layers, x: &[i64]) -> Vec<(f64, f64)> {
    let mut ports = vec![(0.0, 0.0); part.arcs.len()];
    let mut sides: Vec<[Vec<(i64, usize)>; 2]> = vec![[Vec::new(), Vec::new()]; part.boxes.len()];
    for (number, chain) in layers.chains.iter().enumerate() {
        let count = chain.vertices.len();
        sides[chain.vertices[0]][0].push((x[chain.vertices[1]], number));
        sides[chain.vertices[count - 1]][1].push((x[chain.vertices[count - 2]], number));
    }
    for (node, sides) in sides.iter_mut().enumerate() {
        let center = x[node] as f64;
        let reach = part.boxes[node].width * 0.42;
        for (side, ends) in sides.iter_mut().enumerate() {
            ends.sort_unstable();
            let step = (2.0 * reach / (ends.len().max(2) - 1) as f64).min(7.0);
            let wanted: Vec<(f64, f64)> = ends
                .iter()
                .map(|(other, number)| {
                    let wanted = (*other as f64 - center) * 0.3;
                    (wanted.clamp(-reach, reach), part.arcs[*number].weight as f64)
                })
                .collect();
            let gaps = vec![step; ends.len().saturating_sub(1)];
            for ((_, number), at) in ends.iter().zip(across::spread(&wanted, &gaps)) {
                let at = center + at.clamp(-reach, reach);
                if side == 0 {
                    ports[*number].0 = at;
                } else {
                    ports[*number].1 = at;
                }
            }
        }
    }
    ports
}

/// Draws arcs from boxes to themselves, on their right.
fn draw_loops(drawing: &Drawing, whole: &mut Layout) {
    let mut used = std::collections::BTreeMap::new();
    for (index, arc) in drawing.arcs.iter().enumerate() {
        if arc.from != arc.to {
            continue;
        }
        let node = whole.nodes[arc.from];
        let reach = used.entry(arc.from).or_insert(0.0);
        let (right, middle) = (node.x + node.width, node.y + node.height / 2.0);
        let far = right + *reach + LOOP_WIDTH;
        let quarter = node.height / 4.0;
        let points = vec![
            [right, middle - quarter],
            [right + (far - right) * 0.6, middle - quarter * 1.8],
            [far, middle - quarter],
            [far, middle],
            [far, middle + quarter],
            [right + (far - right) * 0.6, middle + quarter * 1.8],
            [right, middle + quarter],
        ];
        let label = [far + drawing.options.label_gap + arc.label.width / 2.0, middle];
        *reach += LOOP_WIDTH + arc.label.width + drawing.options.label_gap;
        whole.arcs[index] = ArcPath { points, label, is_reversed: false };
    }
}

fn shift(part: &Part, whole: &mut Layout, x: f64, y: f64) {
    for &node in &part.nodes {
        whole.nodes[node].x += x;
        whole.nodes[node].y += y;
    }
    for &cluster in &part.cluster_ids {
        whole.clusters[cluster].x += x;
        whole.clusters[cluster].y += y;
    }
    for arc in part.arcs.iter().map(|arc| arc.arc) {
        let path = &mut whole.arcs[arc];
        for point in path.points.iter_mut().chain([&mut path.label]) {
            point[0] += x;
            point[1] += y;
        }
    }
}

fn find(group: &mut [usize], mut item: usize) -> usize {
    while group[item] != item {
        group[item] = group[group[item]];
        item = group[item];
    }
    item
}

fn unite(group: &mut [usize], a: usize, b: usize) {
    let (a, b) = (find(group, a), find(group, b));
    group[a.max(b)] = a.min(b);
}
