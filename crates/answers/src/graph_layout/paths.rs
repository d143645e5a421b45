//! Arcs as smooth curves that pass boxes at a distance.
//!
//! A curve has one height for each point: it runs down. It passes through few points of the arc; a point is added where
//! the curve would meet a box or label in the layer of that point, and finally it is vertical there.

use super::layers::{Chain, Kind, Layers};

/// Rounds of adding points before all are used.
const ROUNDS: usize = 8;
/// Distance of arcs from boxes that they pass.
const CLEARANCE: f64 = 3.0;

/// Layers in the plane.
#[derive(Debug)]
pub(super) struct Plane<'a> {
    pub(super) layers: &'a Layers,
    pub(super) x: &'a [i64],
    /// By layer: upper and lower edge.
    pub(super) bands: &'a [(f64, f64)],
    /// By vertex: its index in its layer.
    pub(super) index: &'a [usize],
}

#[derive(Clone, Copy)]
struct Knot {
    x: f64,
    y: f64,
    /// `true` if the curve is vertical here.
    is_vertical: bool,
}

/// Returns the points of a curve from the top to the bottom of an arc.
pub(super) fn curve(plane: &Plane<'_>, chain: &Chain, start: [f64; 2], end: [f64; 2]) -> Vec<[f64; 2]> {
    let vertices = &chain.vertices;
    let band = |vertex: usize| plane.bands[plane.layers.vertices[vertex].layer];
    let (first, last) = (vertices[0], vertices[vertices.len() - 1]);
    // A short box beside tall ones: the curve leaves the layer before it turns.
    let top = [start[0], band(first).1.max(start[1])];
    let bottom = [end[0], band(last).0.min(end[1])];
    let inner = &vertices[1..vertices.len() - 1];
    let free: Vec<(f64, f64)> = inner.iter().map(|&vertex| free(plane, vertex)).collect();
    let mut use_of = vec![0_u8; inner.len()];
    let mut knots = Vec::new();
    for round in 0..=ROUNDS {
        if round == ROUNDS {
            use_of.fill(2);
        }
        knots = knots_of(plane, inner, &use_of, top, bottom);
        let slopes = slopes(&knots);
        let mut is_good = true;
        let mut piece = 0;
        for (index, &vertex) in inner.iter().enumerate() {
            let (upper, lower) = band(vertex);
            for y in [upper, (upper + lower) / 2.0, lower] {
                while piece + 2 < knots.len() && knots[piece + 1].y < y {
                    piece += 1;
                }
                let x = value(&knots, &slopes, piece, y);
                if (x < free[index].0 || x > free[index].1) && use_of[index] < 2 {
                    use_of[index] += 1;
                    is_good = false;
                    break;
                }
            }
        }
        if is_good {
            break;
        }
    }
    let slopes = slopes(&knots);
    let mut points = vec![start];
    if top[1] - start[1] > 0.01 {
        line(&mut points, top);
    } else {
        points[0] = top;
    }
    for (index, pair) in knots.windows(2).enumerate() {
        let third = (pair[1].y - pair[0].y) / 3.0;
        points.push([pair[0].x + slopes[index] * third, pair[0].y + third]);
        points.push([pair[1].x - slopes[index + 1] * third, pair[1].y - third]);
        points.push([pair[1].x, pair[1].y]);
    }
    if end[1] - bottom[1] > 0.01 {
        line(&mut points, end);
    }
    points
}

fn line(points: &mut Vec<[f64; 2]>, to: [f64; 2]) {
    let from = points[points.len() - 1];
    let between = |share: f64| [from[0] + (to[0] - from[0]) * share, from[1] + (to[1] - from[1]) * share];
    points.extend([between(1.0 / 3.0), between(2.0 / 3.0), to]);
}

/// Returns how far left and right a curve may pass a vertex.
fn free(plane: &Plane<'_>, vertex: usize) -> (f64, f64) {
    let own = &plane.layers.vertices[vertex];
    let row = &plane.layers.rows[own.layer];
    let at = plane.x[vertex] as f64;
    let index = plane.index[vertex];
    let mut left = f64::MIN;
    let mut right = f64::MAX;
    if index > 0 {
        let other = &plane.layers.vertices[row[index - 1]];
        let edge = (plane.x[row[index - 1]] + other.right) as f64;
        left = if other.kind == Kind::Bend { (edge + at) / 2.0 } else { edge + CLEARANCE };
    }
    if let Some(&next) = row.get(index + 1) {
        let other = &plane.layers.vertices[next];
        let edge = (plane.x[next] - other.left) as f64;
        right =
            if matches!(other.kind, Kind::Bend | Kind::Label) { (edge + at) / 2.0 } else { edge - CLEARANCE };
    }
    if own.kind == Kind::Label {
        left = left.max(at - 8.0);
        right = right.min(at + 3.0);
    }
    (left.min(at), right.max(at))
}

fn knots_of(plane: &Plane<'_>, inner: &[usize], use_of: &[u8], top: [f64; 2], bottom: [f64; 2]) -> Vec<Knot> {
    let mut knots = vec![Knot { x: top[0], y: top[1], is_vertical: false }];
    for (&vertex, &used) in inner.iter().zip(use_of) {
        let (upper, lower) = plane.bands[plane.layers.vertices[vertex].layer];
        let x = plane.x[vertex] as f64;
        if used == 1 || (used == 2 && lower - upper < 1.0) {
            knots.push(Knot { x, y: (upper + lower) / 2.0, is_vertical: used == 2 });
        } else if used == 2 {
            knots.push(Knot { x, y: upper, is_vertical: true });
            knots.push(Knot { x, y: lower, is_vertical: true });
        }
    }
    knots.push(Knot { x: bottom[0], y: bottom[1], is_vertical: false });
    knots
}

/// Returns the slope of the curve at each knot, such that it turns only at knots, after Fritsch and Butland, "A Method for
/// Constructing Local Monotone Piecewise Cubic Interpolants" (1984).
fn slopes(knots: &[Knot]) -> Vec<f64> {
    let chord = |index: usize| {
        let height = knots[index + 1].y - knots[index].y;
        if height > 0.01 { (knots[index + 1].x - knots[index].x) / height } else { 0.0 }
    };
    let last = knots.len() - 1;
    (0..=last)
        .map(|index| {
            if knots[index].is_vertical {
                return 0.0;
            }
            if index == 0 || index == last {
                return chord(if index == 0 { 0 } else { last - 1 }) * 0.6;
            }
            let (before, after) = (chord(index - 1), chord(index));
            if before * after <= 0.0 { 0.0 } else { 2.0 * before * after / (before + after) }
        })
        .collect()
}

fn value(knots: &[Knot], slopes: &[f64], piece: usize, y: f64) -> f64 {
    let (a, b) = (knots[piece], knots[piece + 1]);
    let height = b.y - a.y;
    if height <= 0.01 {
        return a.x;
    }
    let t = ((y - a.y) / height).clamp(0.0, 1.0);
    let u = 1.0 - t;
    u * u * (1.0 + 2.0 * t) * a.x + t * u * u * height * slopes[piece] + t * t * (3.0 - 2.0 * t) * b.x
        - t * t * u * height * slopes[piece + 1]
}
