//! Treemaps of both sides.

use gristmill_format::Cost;
use gristmill_output::json::ByEvent;
use gristmill_report::diff::Delta;

use crate::answer::TileKind;
use crate::changed_answer::{ChangedTile, ChangedTreemap};
use crate::changed_tree::{ChangedDrawn, ChangedTree, larger};
use crate::flame::share;
use crate::picture_tree::PictureTree;
use crate::treemap::{Bounds, Item, Place, SMALLEST_AREA, place_tiles};

/// Makes a treemap of both sides.
pub(crate) fn changed_treemap(kept: &ChangedTree, width: u32, height: u32) -> ChangedTreemap {
    let mut drawn = ChangedDrawn::new(kept);
    let mut tiles: Vec<ChangedTile> = Vec::new();
    let push = |item: Item<ByEvent<Delta>>, Place { parent, depth, bounds }| {
        tiles.push(ChangedTile {
            kind: item.kind,
            function: item.node.map(|node| drawn.index(node)),
            merged: item.merged,
            parent,
            depth,
            bounds,
            inclusive: item.costs,
            is_guessed: item.is_guessed,
        });
    };
    place_tiles(of_node(kept, 0), (width, height), |id, inside, room| items(kept, id, inside, room), push);
    ChangedTreemap { head: kept.tree.head.clone(), basis: kept.tree.basis, functions: drawn.functions, tiles }
}

fn of_node(kept: &ChangedTree, id: usize) -> Item<ByEvent<Delta>> {
    let node = kept.node(id);
    Item {
        kind: TileKind::Function,
        node: Some(id),
        merged: 1,
        costs: node.inclusive.clone(),
        is_guessed: node.is_guessed,
    }
}

/// Returns what is within a node, the largest first, each with its area: those too small as one, then its self cost.
fn items(
    kept: &ChangedTree,
    id: usize,
    [_, _, width, height]: Bounds,
    room: usize,
) -> Vec<(Item<ByEvent<Delta>>, f64)> {
    let node = kept.node(id);
    let own = larger(&node.self_costs);
    let hidden = kept.hidden_cost(id);
    let has_hidden = node.hidden > 0 && larger(&hidden) > 0;
    let children = kept.children(id);
    let mut sum = children.iter().fold(own, |sum: Cost, &child| sum.saturating_add(kept.size(child)));
    if has_hidden {
        sum = sum.saturating_add(larger(&hidden));
    }
    // The larger sides of what is within can be different ones.
    let whole = sum.max(kept.size(id));
    let area = |size: Cost| share(size, whole) * width * height;
    let mut items = Vec::new();
    let (mut small, mut small_size) = (Vec::new(), 0);
    for &child in children {
        let area = area(kept.size(child));
        if area >= SMALLEST_AREA && items.len() < room {
            items.push((of_node(kept, child), area));
        } else {
            small.push(child);
            small_size += kept.size(child);
        }
    }
    let of_small = small.iter().map(|&child| &kept.node(child).inclusive);
    let is_guessed = |child: &usize| kept.node(*child).is_guessed;
    let mut rest = Item {
        kind: TileKind::Rest,
        node: None,
        merged: small.len(),
        costs: kept.sum(of_small.clone()),
        is_guessed: small.iter().any(is_guessed),
    };
    if has_hidden {
        rest.merged += node.hidden;
        small_size = small_size.saturating_add(larger(&hidden));
        rest.costs = kept.sum(of_small.chain([&hidden]));
        // What is hidden costs what the others leave of the whole.
        rest.is_guessed = node.is_guessed || node.is_self_guessed || children.iter().any(is_guessed);
    }
    let of_self = Item {
        kind: TileKind::SelfCost,
        node: None,
        merged: 0,
        costs: node.self_costs.clone(),
        is_guessed: node.is_self_guessed,
    };
    for (item, size) in [(rest, small_size), (of_self, own)] {
        // Without anything else in it, a rectangle is its self cost.
        if size > 0 && !items.is_empty() {
            items.push((item, area(size)));
        }
    }
    items.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    items
}
