//! Flame graphs.

use gristmill_format::Cost;
use gristmill_output::json::Costs;
use gristmill_report::{CallCount, Head};

use crate::answer::Flame;
use crate::call_tree::{Drawn, KeptTree, add};
use crate::question::FlameOrder;

/// The most frames of a picture.
pub(crate) const MAX_FRAMES: usize = 20_000;
/// The narrowest frame that is asked for, as a part of the whole width.
pub(crate) const MAX_RESOLUTION: u32 = 20_000;

/// The place of a node in the picture.
struct Place {
    node: usize,
    /// The frame that it is in.
    parent: Option<usize>,
    x: f64,
    width: f64,
    /// `true` for the way from the root to the frame that fills the width.
    is_above_zoom: bool,
}

/// Makes a flame graph of a tree, with the node that these names lead to as wide as the picture.
pub(crate) fn flame(
    kept: &KeptTree,
    head: &Head,
    order: FlameOrder,
    zoom: &[String],
    resolution: u32,
) -> Flame {
    let resolution = resolution.clamp(1, MAX_RESOLUTION);
    let narrowest = 1.0 / f64::from(resolution);
    let zoomed = kept.find(zoom);
    let mut way = vec![zoomed];
    while let Some(parent) = way.last().and_then(|&id| kept.node(id).parent) {
        way.push(parent);
    }
    let mut frames = Frames::new(kept, head);
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
        let whole = kept.node(place.node).inclusive[0];
        let width_of = |cost: Cost| share(cost, whole) * place.width;
        let (mut wide, mut narrow): (Vec<usize>, Vec<usize>) = kept
            .children(place.node)
            .iter()
            .partition(|&&id| width_of(kept.node(id).inclusive[0]) >= narrowest);
        let room = MAX_FRAMES.saturating_sub(frames.len() + open.len());
        if wide.len() > room {
            // They are in the order of their costs.
            narrow.extend(wide.drain(room..));
        }
        if order == FlameOrder::Name {
            let name = |id: &usize| &kept.tree.entries[kept.node(*id).entry].name;
            wide.sort_by(|a, b| name(a).cmp(name(b)).then(a.cmp(b)));
        }
        let mut x = place.x;
        let end = place.x + place.width;
        let mut places = Vec::with_capacity(wide.len());
        for node in wide {
            // An estimate can exceed what it is a part of.
            let width = width_of(kept.node(node).inclusive[0]).min(end - x);
            places.push(Place { node, parent: Some(frame), x, width, is_above_zoom: false });
            x += width;
        }
        frames.push_merged(&place, frame, &narrow, x, |cost| width_of(cost).min(end - x));
        // The first one is the next to be taken: a frame comes after its parent, and siblings go from left to right.
        open.extend(places.into_iter().rev());
    }
    frames.flame()
}

/// Returns a part of a whole, 0 to 1.
#[allow(clippy::cast_precision_loss, reason = "a width in a picture")]
pub(crate) fn share(part: Cost, whole: Cost) -> f64 {
    if whole == 0 { 0.0 } else { (part as f64 / whole as f64).clamp(0.0, 1.0) }
}

/// The frames of a flame graph under construction.
struct Frames<'t> {
    kept: &'t KeptTree,
    head: &'t Head,
    drawn: Drawn<'t>,
    flame: Flame,
}

impl<'t> Frames<'t> {
    fn new(kept: &'t KeptTree, head: &'t Head) -> Self {
        let flame = Flame {
            head: head.clone(),
            basis: kept.tree.basis,
            guessed: kept.tree.guessed.clone(),
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
        };
        Frames { kept, head, drawn: Drawn::new(kept, head), flame }
    }

    fn len(&self) -> usize {
        self.flame.function.len()
    }

    fn push(&mut self, place: &Place) -> usize {
        let node = self.kept.node(place.node);
        let function = self.drawn.index(node);
        let flame = &mut self.flame;
        flame.function.push(index(function));
        flame.parent.push(place.parent.map_or(-1, index));
        flame.depth.push(u32::try_from(node.depth).unwrap_or(u32::MAX));
        flame.x.push(place.x);
        flame.width.push(place.width);
        flame.inclusive.push(node.inclusive.clone());
        flame.self_costs.push(node.self_costs.clone());
        flame.calls.push(node.calls);
        flame.is_guessed.push(node.is_guessed);
        flame.merged.push(1);
        self.len() - 1
    }

    /// Adds a frame for all nodes below another that are too narrow, hidden ones included. There is none if they cost
    /// nothing.
    fn push_merged(
        &mut self,
        above: &Place,
        parent: usize,
        narrow: &[usize],
        x: f64,
        width_of: impl Fn(Cost) -> f64,
    ) {
        let node = self.kept.node(above.node);
        let mut inclusive = node.hidden_costs.clone();
        inclusive.resize(self.head.totals.len(), 0);
        narrow.iter().for_each(|&id| add(&mut inclusive, &self.kept.node(id).inclusive));
        let count = narrow.len() + node.hidden;
        if count == 0 || inclusive.iter().all(|&cost| cost == 0) {
            return;
        }
        let flame = &mut self.flame;
        let depth = node.depth + 1;
        flame.function.push(-1);
        flame.parent.push(index(parent));
        flame.depth.push(u32::try_from(depth).unwrap_or(u32::MAX));
        flame.x.push(x);
        flame.width.push(width_of(inclusive[0]));
        flame.self_costs.push(Costs::new(&self.head.event_types, vec![0; inclusive.len()]));
        flame.inclusive.push(Costs::new(&self.head.event_types, inclusive));
        flame.calls.push(CallCount::default());
        flame.is_guessed.push(narrow.iter().any(|&id| self.kept.node(id).is_guessed));
        flame.merged.push(u32::try_from(count).unwrap_or(u32::MAX));
    }

    fn flame(self) -> Flame {
        Flame { functions: self.drawn.functions, ..self.flame }
    }
}

pub(crate) fn index(index: usize) -> i32 {
    i32::try_from(index).unwrap_or(i32::MAX)
}
