//! Treemaps: rectangles in rectangles, squarified.

use gristmill_format::Cost;
use gristmill_output::json::Costs;
use gristmill_report::Head;

use crate::answer::{Tile, TileKind, Treemap};
use crate::call_tree::{Drawn, KeptTree, add};
use crate::flame::share;
use crate::picture_tree::PictureTree;

/// The height of a rectangle's name.
const TITLE: f64 = 16.0;
/// The distance between a rectangle and those in it.
const GAP: f64 = 2.0;
/// A side below which nothing is drawn in a rectangle.
const SMALLEST_INSIDE: f64 = 20.0;
/// The area below which a rectangle is not drawn by itself.
pub(crate) const SMALLEST_AREA: f64 = 24.0;
/// The most rectangles of a picture.
const MAX_TILES: usize = 10_000;
/// The sides of a picture.
const MAX_SIDE: u32 = 16_384;

/// A rectangle: left edge, upper edge, width, height.
pub(crate) type Bounds = [f64; 4];

/// The content of a rectangle.
#[derive(Debug, Clone)]
pub(crate) struct Item<Costs> {
    pub(crate) kind: TileKind,
    /// The node, for a callee or caller.
    pub(crate) node: Option<usize>,
    pub(crate) merged: usize,
    pub(crate) costs: Costs,
    pub(crate) is_guessed: bool,
}

/// The place of a rectangle.
pub(crate) struct Place {
    /// The rectangle that it is in.
    pub(crate) parent: Option<usize>,
    pub(crate) depth: usize,
    pub(crate) bounds: Bounds,
}

/// Makes a treemap of a tree.
pub(crate) fn treemap(kept: &KeptTree, head: &Head, width: u32, height: u32) -> Treemap {
    let mut drawn = Drawn::new(kept, head);
    let mut tiles: Vec<Tile> = Vec::new();
    let root = of_node(kept, 0);
    let push = |item: Item<Vec<Cost>>, Place { parent, depth, bounds }| {
        let node = item.node.map(|id| kept.node(id));
        tiles.push(Tile {
            kind: item.kind,
            function: node.map(|node| drawn.index(node)),
            merged: item.merged,
            parent,
            depth,
            bounds,
            inclusive: Costs::new(&head.event_types, item.costs),
            is_guessed: item.is_guessed,
        });
    };
    place_tiles(root, (width, height), |id, inside, room| items(kept, id, inside, room), push);
    Treemap {
        head: head.clone(),
        basis: kept.tree.basis,
        guessed: kept.tree.guessed.clone(),
        functions: drawn.functions,
        tiles,
    }
}

fn of_node(kept: &KeptTree, id: usize) -> Item<Vec<Cost>> {
    let node = kept.node(id);
    Item {
        kind: TileKind::Function,
        node: Some(id),
        merged: 1,
        costs: node.inclusive.to_vec(),
        is_guessed: node.is_guessed,
    }
}

/// Places rectangles in rectangles, each after that which it is in. `items` returns what is within a node, each with its area,
/// for a rectangle and a count of them.
pub(crate) fn place_tiles<Costs>(
    root: Item<Costs>,
    (width, height): (u32, u32),
    items: impl Fn(usize, Bounds, usize) -> Vec<(Item<Costs>, f64)>,
    mut push: impl FnMut(Item<Costs>, Place),
) {
    let side = |side: u32| f64::from(side.clamp(1, MAX_SIDE));
    let bounds = [0.0, 0.0, side(width), side(height)];
    let mut open = vec![(root, Place { parent: None, depth: 0, bounds })];
    let mut count = 0;
    while let Some((item, place)) = open.pop() {
        let (node, depth, inside) = (item.node, place.depth + 1, inside(place.bounds));
        let parent = Some(count);
        push(item, place);
        count += 1;
        let (Some(id), Some(inside)) = (node, inside) else { continue };
        let items = items(id, inside, MAX_TILES.saturating_sub(count + open.len()));
        let places = squarified(&items.iter().map(|(_, area)| *area).collect::<Vec<_>>(), inside);
        let more = items.into_iter().zip(places);
        let more = more.map(|((item, _), bounds)| (item, Place { parent, depth, bounds }));
        open.extend(more.collect::<Vec<_>>().into_iter().rev());
    }
}

/// Returns the room for rectangles within one. `None` if there is too little.
fn inside([x, y, width, height]: Bounds) -> Option<Bounds> {
    let (inner_width, inner_height) = (width - 2.0 * GAP, height - TITLE - GAP);
    let is_large = inner_width >= SMALLEST_INSIDE && inner_height >= SMALLEST_INSIDE;
    is_large.then_some([x + GAP, y + TITLE, inner_width, inner_height])
}

/// Returns what is within a node, the largest first, each with its area: those too small as one, then its self cost.
fn items(
    kept: &KeptTree,
    id: usize,
    [_, _, width, height]: Bounds,
    room: usize,
) -> Vec<(Item<Vec<Cost>>, f64)> {
    let node = kept.node(id);
    let area = |costs: &[Cost]| share(costs[0], node.inclusive[0]) * width * height;
    let mut items = Vec::new();
    let is_guessed = node.is_guessed || node.is_self_guessed;
    let mut rest = Item {
        kind: TileKind::Rest,
        node: None,
        merged: node.hidden,
        costs: node.hidden_costs.clone(),
        is_guessed: node.hidden > 0 && is_guessed,
    };
    rest.costs.resize(node.inclusive.len(), 0);
    for &child in kept.children(id) {
        let item = of_node(kept, child);
        let area = area(&item.costs);
        let is_large = area >= SMALLEST_AREA && items.len() < room;
        // What is hidden costs what the others leave of the whole.
        rest.is_guessed |= item.is_guessed && (!is_large || node.hidden > 0);
        if is_large {
            items.push((item, area));
        } else {
            rest.merged += 1;
            add(&mut rest.costs, &item.costs);
        }
    }
    let own = Item {
        kind: TileKind::SelfCost,
        node: None,
        merged: 0,
        costs: node.self_costs.to_vec(),
        is_guessed: node.is_self_guessed,
    };
    for item in [rest, own] {
        let area = area(&item.costs);
        // Without anything else in it, a rectangle is its self cost.
        if item.costs.iter().any(|&cost| cost != 0) && !items.is_empty() {
            items.push((item, area));
        }
    }
    items.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    items
}

/// Places areas, the largest first, in a rectangle as near to squares as rows of them can be (Bruls, Huizing and van Wijk).
fn squarified(areas: &[f64], [mut x, mut y, mut width, mut height]: Bounds) -> Vec<Bounds> {
    let mut places = Vec::with_capacity(areas.len());
    let mut start = 0;
    while start < areas.len() {
        let side = width.min(height);
        let (mut end, mut sum) = (start + 1, areas[start]);
        let mut worst = ratio(&areas[start..end], sum, side);
        while end < areas.len() {
            let more = sum + areas[end];
            let next = ratio(&areas[start..=end], more, side);
            if next > worst {
                break;
            }
            (sum, worst, end) = (more, next, end + 1);
        }
        let is_column = width >= height;
        let thickness = if side > 0.0 { sum / side } else { 0.0 };
        let thickness = thickness.min(if is_column { width } else { height });
        let mut at = 0.0;
        for area in &areas[start..end] {
            let length = if sum > 0.0 { area / sum * side } else { 0.0 };
            places.push(match is_column {
                true => [x, y + at, thickness, length],
                false => [x + at, y, length, thickness],
            });
            at += length;
        }
        if is_column {
            x += thickness;
            width -= thickness;
        } else {
            y += thickness;
            height -= thickness;
        }
        start = end;
    }
    places
}

/// Returns how far the worst rectangle of a row is from a square. The first area is the largest, the last the smallest.
fn ratio(row: &[f64], sum: f64, side: f64) -> f64 {
    let (Some(largest), Some(smallest)) = (row.first(), row.last()) else { return f64::INFINITY };
    let square = side * side;
    (square * largest / (sum * sum)).max(sum * sum / (square * smallest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_fill_the_rectangle_without_overlap() {
        let areas = [6.0, 6.0, 4.0, 3.0, 2.0, 2.0, 1.0];
        let places = squarified(&areas, [0.0, 0.0, 6.0, 4.0]);
        for (area, [_, _, width, height]) in areas.iter().zip(&places) {
            assert!((width * height - area).abs() < 1e-9);
        }
        let overlaps = |a: &Bounds, b: &Bounds| {
            a[0] + a[2] > b[0] + 1e-9
                && b[0] + b[2] > a[0] + 1e-9
                && a[1] + a[3] > b[1] + 1e-9
                && b[1] + b[3] > a[1] + 1e-9
        };
        for (nth, a) in places.iter().enumerate() {
            assert!(a[0] >= -1e-9 && a[1] >= -1e-9 && a[0] + a[2] <= 6.0 + 1e-9 && a[1] + a[3] <= 4.0 + 1e-9);
            assert!(places[nth + 1..].iter().all(|b| !overlaps(a, b)), "{places:?}");
        }
        // The example of the method's authors: the first two stand in a column of width 3.
        assert_eq!(places[..2], [[0.0, 0.0, 3.0, 2.0], [0.0, 2.0, 3.0, 2.0]]);
    }
}
