//! Properties of layouts, and a comparison with Graphviz.

mod graphviz;

use super::*;

/// A small generator with a fixed seed.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % limit.max(1) as u64) as usize
    }
}

fn node(width: f64, cluster: Option<usize>) -> DrawingNode {
    DrawingNode { size: Size { width, height: 32.0 }, cluster }
}

fn arc(from: usize, to: usize, weight: f64) -> DrawingArc {
    DrawingArc { from, to, weight, label: Size::default() }
}

/// A graph like those of programs: each function is called by one before it, few arcs lead back.
pub(super) fn program(seed: u64, nodes: usize, extra: usize) -> Drawing {
    let mut random = Random(seed);
    let mut drawing = Drawing::default();
    for index in 0..nodes {
        drawing.nodes.push(node(50.0 + random.below(90) as f64, None));
        if index > 0 {
            let from = index - 1 - random.below(index.min(12));
            drawing.arcs.push(arc(from, index, (nodes - index) as f64));
        }
    }
    for _ in 0..extra {
        let (a, b) = (random.below(nodes), random.below(nodes));
        let (from, to) = if random.below(20) == 0 { (a.max(b), a.min(b)) } else { (a.min(b), a.max(b)) };
        if from != to {
            drawing.arcs.push(arc(from, to, random.below(10) as f64));
        }
    }
    drawing
}

fn overlap(a: &Rectangle, b: &Rectangle) -> bool {
    a.x + 0.01 < b.x + b.width
        && b.x + 0.01 < a.x + a.width
        && a.y + 0.01 < b.y + b.height
        && b.y + 0.01 < a.y + a.height
}

fn on_border(bounds: &Rectangle, point: [f64; 2]) -> bool {
    let is_in = |value: f64, from: f64, length: f64| value > from - 0.1 && value < from + length + 0.1;
    let is_at = |value: f64, edge: f64| (value - edge).abs() < 0.1;
    is_in(point[0], bounds.x, bounds.width)
        && is_in(point[1], bounds.y, bounds.height)
        && (is_at(point[0], bounds.x)
            || is_at(point[0], bounds.x + bounds.width)
            || is_at(point[1], bounds.y)
            || is_at(point[1], bounds.y + bounds.height))
}

/// Points along curves.
pub(super) fn samples(points: &[[f64; 2]], steps: usize) -> Vec<[f64; 2]> {
    let mut all = vec![points[0]];
    for index in (0..points.len() - 1).step_by(3) {
        for step in 1..=steps {
            let t = step as f64 / steps as f64;
            let u = 1.0 - t;
            let at = |axis: usize| {
                u * u * u * points[index][axis]
                    + 3.0 * u * u * t * points[index + 1][axis]
                    + 3.0 * u * t * t * points[index + 2][axis]
                    + t * t * t * points[index + 3][axis]
            };
            all.push([at(0), at(1)]);
        }
    }
    all
}

fn check(drawing: &Drawing) -> Layout {
    let layout = layout(drawing);
    assert_eq!(layout, super::layout(drawing), "the same drawing gives the same layout");
    for (index, a) in layout.nodes.iter().enumerate() {
        assert!([a.x, a.y, a.width, a.height].iter().all(|number| number.is_finite()));
        for (other, b) in layout.nodes[..index].iter().enumerate() {
            assert!(!overlap(a, b), "boxes {other} and {index} overlap: {b:?} {a:?}");
        }
        for (cluster, bounds) in layout.clusters.iter().enumerate() {
            if drawing.nodes[index].cluster == Some(cluster) {
                assert!(
                    a.x >= bounds.x && a.x + a.width <= bounds.x + bounds.width,
                    "{index} {a:?} {bounds:?}"
                );
                assert!(
                    a.y >= bounds.y && a.y + a.height <= bounds.y + bounds.height,
                    "{index} {a:?} {bounds:?}"
                );
            } else {
                assert!(!overlap(a, bounds), "box {index} is in cluster {cluster}");
            }
        }
    }
    for (index, a) in layout.clusters.iter().enumerate() {
        assert!(layout.clusters[..index].iter().all(|b| !overlap(a, b)), "clusters overlap");
    }
    for (drawn, path) in drawing.arcs.iter().zip(&layout.arcs) {
        assert!(path.points.len() >= 4 && path.points.len() % 3 == 1);
        assert!(path.points.iter().flatten().chain(&path.label).all(|number| number.is_finite()));
        assert!(on_border(&layout.nodes[drawn.from], path.points[0]), "{drawn:?} {path:?}");
        assert!(on_border(&layout.nodes[drawn.to], path.points[path.points.len() - 1]), "{drawn:?} {path:?}");
        if drawn.from == drawn.to {
            continue;
        }
        let mut heights = samples(&path.points, 8).into_iter().map(|point| point[1]).collect::<Vec<_>>();
        if path.is_reversed {
            heights.reverse();
        }
        assert!(heights.is_sorted_by(|a, b| *a <= *b + 1e-6), "an arc turns: {path:?}");
    }
    layout
}

#[test]
fn arcs_lead_down_and_boxes_stay_apart() {
    for (seed, nodes, extra) in [(1, 1, 0), (2, 2, 0), (3, 10, 6), (4, 40, 30), (5, 80, 60), (6, 60, 240)] {
        check(&program(seed, nodes, extra));
    }
}

#[test]
fn a_graph_without_cycles_has_no_reversed_arc() {
    let mut drawing = program(7, 60, 80);
    drawing.arcs.retain(|arc| arc.from < arc.to);
    assert!(check(&drawing).arcs.iter().all(|path| !path.is_reversed));
}

#[test]
fn the_lightest_arc_of_a_cycle_is_reversed() {
    let mut drawing = Drawing { nodes: vec![node(60.0, None); 4], ..Drawing::default() };
    drawing.arcs = vec![arc(0, 1, 9.0), arc(1, 2, 9.0), arc(2, 3, 9.0), arc(3, 1, 1.0)];
    let reversed: Vec<bool> = check(&drawing).arcs.iter().map(|path| path.is_reversed).collect();
    assert_eq!(reversed, [false, false, false, true]);
}

#[test]
fn loops_parallel_arcs_and_separate_parts_have_room() {
    let mut drawing = Drawing { nodes: vec![node(70.0, None); 6], ..Drawing::default() };
    drawing.arcs =
        vec![arc(0, 0, 1.0), arc(0, 0, 1.0), arc(0, 1, 1.0), arc(0, 1, 2.0), arc(1, 0, 1.0), arc(2, 3, 1.0)];
    for drawn in &mut drawing.arcs {
        drawn.label = Size { width: 40.0, height: 12.0 };
    }
    let layout = check(&drawing);
    assert_ne!(layout.arcs[2].points, layout.arcs[3].points);
    assert!(layout.arcs.iter().all(|path| path.label[0] + 20.0 <= layout.size.width + 0.1));
}

#[test]
fn labels_meet_no_box_and_no_other_label() {
    let mut drawing = program(8, 40, 20);
    for drawn in &mut drawing.arcs {
        drawn.label = Size { width: 44.0, height: 12.0 };
    }
    let layout = check(&drawing);
    let label = |path: &ArcPath| Rectangle {
        x: path.label[0] - 22.0,
        y: path.label[1] - 6.0,
        width: 44.0,
        height: 12.0,
    };
    for (index, path) in layout.arcs.iter().enumerate() {
        assert!(layout.nodes.iter().all(|bounds| !overlap(bounds, &label(path))));
        assert!(layout.arcs[..index].iter().all(|other| !overlap(&label(other), &label(path))));
    }
}

#[test]
fn arcs_pass_boxes() {
    for seed in 20..24 {
        let drawing = program(seed, 50, 40);
        let layout = check(&drawing);
        for (drawn, path) in drawing.arcs.iter().zip(&layout.arcs) {
            for point in samples(&path.points, 24) {
                for (index, bounds) in layout.nodes.iter().enumerate() {
                    let dot = Rectangle { x: point[0], y: point[1], width: 0.02, height: 0.02 };
                    assert!(
                        index == drawn.from || index == drawn.to || !overlap(&dot, bounds),
                        "{drawn:?} meets {index}"
                    );
                }
            }
        }
    }
}

#[test]
fn clusters_are_rectangles_of_their_own() {
    for seed in 30..36 {
        let mut drawing = program(seed, 40, 20);
        let mut random = Random(seed);
        drawing.clusters = vec![Size { width: 60.0, height: 14.0 }; 5];
        for (index, node) in drawing.nodes.iter_mut().enumerate() {
            node.cluster =
                if seed % 2 == 0 { Some(index / 9) } else { Some(random.below(7)).filter(|id| *id < 5) };
        }
        check(&drawing);
    }
}

#[test]
fn numbers_that_are_none_are_zero() {
    let mut drawing = program(9, 5, 3);
    drawing.nodes[0].size.width = f64::NAN;
    drawing.nodes[1].size.height = f64::INFINITY;
    drawing.arcs[0].weight = f64::NAN;
    drawing.arcs[1].weight = -1.0;
    check(&drawing);
    assert_eq!(layout(&Drawing::default()), Layout::default());
}

#[test]
fn deep_and_dense_graphs_end() {
    let mut chain = Drawing { nodes: vec![node(60.0, None); 3000], ..Drawing::default() };
    for index in 1..3000 {
        chain.arcs.push(arc(index - 1, index, 1.0));
        chain.arcs.push(arc(index, index / 2, 0.0));
    }
    assert!(layout(&chain).size.height.is_finite());
    assert!(layout(&program(10, 500, 1500)).size.width.is_finite());
}
