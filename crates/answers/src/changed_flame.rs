//! Flame graphs of both sides.

use gristmill_format::Cost;
use gristmill_output::json::ByEvent;
use gristmill_report::diff::Delta;

use crate::changed_answer::ChangedFlame;
use crate::changed_tree::{ChangedDrawn, ChangedTree};
use crate::flame::{MAX_FRAMES, MAX_RESOLUTION, index, share};
use crate::question::FlameOrder;

/// The place of a node in the picture.
struct Place {
    node: usize,
    parent: Option<usize>,
    x: f64,
    width: f64,
    /// `true` for the way from the root to the frame that fills the width.
    is_above_zoom: bool,
}

/// Makes a flame graph of both sides, with the node that these names lead to as wide as the picture.
pub(crate) fn changed_flame(
    kept: &ChangedTree,
    order: FlameOrder,
    zoom: &[String],
    resolution: u32,
) -> ChangedFlame {
    let narrowest = 1.0 / f64::from(resolution.clamp(1, MAX_RESOLUTION));
    let zoomed = kept.find(zoom);
    let mut way = vec![zoomed];
    while let Some(parent) = way.last().and_then(|&id| kept.node(id).parent) {
        way.push(parent);
    }
    let mut frames = Frames::new(kept);
    let mut open = vec![Place { node: 0, parent: None, x: 0.0, width: 1.0, is_above_zoom: zoomed != 0 }];
    while let Some(place) = open.pop() {
        let frame = frames.push(&place);
        if place.is_above_zoom {
            // The way ends with the root.
            let depth = kept.node(place.node).depth;
            if let Some(&node) = way.len().checked_sub(depth + 2).map(|at| &way[at]) {
                let is_above_zoom = node != zoomed;
                open.push(Place { node, parent: Some(frame), x: 0.0, width: 1.0, is_above_zoom });
            }
            continue;
        }
        let whole = kept.size(place.node);
        let width_of = |size: Cost| share(size, whole) * place.width;
        let (mut wide, mut narrow): (Vec<usize>, Vec<usize>) =
            kept.children(place.node).iter().partition(|&&id| width_of(kept.size(id)) >= narrowest);
        let room = MAX_FRAMES.saturating_sub(frames.len() + open.len());
        if wide.len() > room {
            // They are in the order of their sizes.
            narrow.extend(wide.drain(room..));
        }
        if order == FlameOrder::Name {
            wide.sort_by(|&a, &b| kept.name(a).cmp(kept.name(b)).then(a.cmp(&b)));
        }
        let mut x = place.x;
        let end = place.x + place.width;
        let mut places = Vec::with_capacity(wide.len());
        for node in wide {
            let width = width_of(kept.size(node)).min(end - x).max(0.0);
            places.push(Place { node, parent: Some(frame), x, width, is_above_zoom: false });
            x += width;
        }
        let size: Cost = narrow.iter().fold(0, |sum: Cost, &id| sum.saturating_add(kept.size(id)));
        frames.push_merged(&place, frame, &narrow, x, width_of(size).min(end - x).max(0.0));
        // The first one is the next to be taken: a frame comes after its parent, and siblings go from left to right.
        open.extend(places.into_iter().rev());
    }
    frames.flame()
}

/// The frames of a flame graph under construction.
struct Frames<'t> {
    kept: &'t ChangedTree,
    drawn: ChangedDrawn<'t>,
    flame: ChangedFlame,
}

impl<'t> Frames<'t> {
    fn new(kept: &'t ChangedTree) -> Self {
        let flame = ChangedFlame {
            head: kept.tree.head.clone(),
            basis: kept.tree.basis,
            functions: Vec::new(),
            function: Vec::new(),
            parent: Vec::new(),
            depth: Vec::new(),
            x: Vec::new(),
            width: Vec::new(),
            inclusive: Vec::new(),
            self_costs: Vec::new(),
            calls: Vec::new(),
            is_guessed: Vec::new(),
            merged: Vec::new(),
            hidden: Vec::new(),
        };
        Frames { kept, drawn: ChangedDrawn::new(kept), flame }
    }

    fn len(&self) -> usize {
        self.flame.function.len()
    }

    fn push(&mut self, place: &Place) -> usize {
        let node = self.kept.node(place.node);
        let function = index(self.drawn.index(place.node));
        self.add(function, place, node.depth, (&node.inclusive, &node.self_costs));
        let flame = &mut self.flame;
        flame.calls.push(node.calls);
        flame.is_guessed.push(node.is_guessed);
        flame.merged.push(1);
        flame.hidden.push(u32::try_from(node.hidden).unwrap_or(u32::MAX));
        self.len() - 1
    }

    /// Adds a frame for all nodes below another that are too narrow. There is none if they cost nothing.
    fn push_merged(&mut self, above: &Place, parent: usize, narrow: &[usize], x: f64, width: f64) {
        let inclusive = self.kept.sum(narrow.iter().map(|&id| &self.kept.node(id).inclusive));
        if narrow.is_empty()
            || inclusive.iter().all(|change| change.base.median == 0 && change.new.median == 0)
        {
            return;
        }
        let nothing = self.kept.sum(std::iter::empty());
        let place = Place { node: above.node, parent: Some(parent), x, width, is_above_zoom: false };
        self.add(-1, &place, self.kept.node(above.node).depth + 1, (&inclusive, &nothing));
        let flame = &mut self.flame;
        flame.calls.push(Delta::default());
        flame.is_guessed.push(narrow.iter().any(|&id| self.kept.node(id).is_guessed));
        flame.merged.push(u32::try_from(narrow.len()).unwrap_or(u32::MAX));
        flame.hidden.push(0);
    }

    fn add(
        &mut self,
        function: i32,
        place: &Place,
        depth: usize,
        (inclusive, own): (&ByEvent<Delta>, &ByEvent<Delta>),
    ) {
        let flame = &mut self.flame;
        flame.function.push(function);
        flame.parent.push(place.parent.map_or(-1, index));
        flame.depth.push(u32::try_from(depth).unwrap_or(u32::MAX));
        flame.x.push(place.x);
        flame.width.push(place.width);
        flame.inclusive.push(inclusive.clone());
        flame.self_costs.push(own.clone());
    }

    fn flame(self) -> ChangedFlame {
        ChangedFlame { functions: self.drawn.functions, ..self.flame }
    }
}
