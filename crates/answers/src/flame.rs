//! Flame graphs.

use gristmill_format::Cost;
use gristmill_output::json::Costs;
use gristmill_report::{CallCount, Head};

use crate::answer::Flame;
use crate::call_tree::{Drawn, KeptTree, add};
use crate::picture_tree::PictureTree;
use crate::question::FlameOrder;

/// The most frames of a picture.
pub(crate) const MAX_FRAMES: usize = 20_000;
/// The narrowest frame that is asked for, as a part of the whole width.
pub(crate) const MAX_RESOLUTION: u32 = 20_000;

/// The place of a node in the picture.
pub(crate) struct Place {
    pub(crate) node: usize,
    /// The frame that it is in.
    pub(crate) parent: Option<usize>,
    pub(crate) x: f64,
    pub(crate) width: f64,
    /// `true` for the way from the root to the frame that fills the width.
    pub(crate) is_above_zoom: bool,
}

/// The frames of a flame graph under construction.
pub(crate) trait FrameList {
    /// Returns the count of frames.
    fn len(&self) -> usize;

    /// Adds a frame for a node, and returns its index.
    fn push(&mut self, place: &Place) -> usize;

    /// Adds a frame for all nodes below another that are too narrow, if they cost anything. `width_of` returns the width of a
    /// cost.
    fn push_merged(
        &mut self,
        above: &Place,
        parent: usize,
        narrow: &[usize],
        x: f64,
        width_of: impl Fn(Cost) -> f64,
    );
}

/// Makes a flame graph of a tree, with the node that these names lead to as wide as the picture.
pub(crate) fn flame(
    kept: &KeptTree,
    head: &Head,
    order: FlameOrder,
    zoom: &[String],
    resolution: u32,
) -> Flame {
    let mut frames = Frames::new(kept, head);
    place_frames(kept, &mut frames, order, zoom, resolution);
    frames.flame()
}

/// Places the frames of a tree: a frame comes after its parent, and siblings go from left to right.
pub(crate) fn place_frames(
    tree: &impl PictureTree,
    frames: &mut impl FrameList,
    order: FlameOrder,
    zoom: &[String],
    resolution: u32,
) {
    let narrowest = 1.0 / f64::from(resolution.clamp(1, MAX_RESOLUTION));
    let zoomed = tree.find(zoom);
    let mut way = vec![zoomed];
    while let Some(parent) = way.last().and_then(|&id| tree.parent(id)) {
        way.push(parent);
    }
    let mut open = vec![Place { node: 0, parent: None, x: 0.0, width: 1.0, is_above_zoom: zoomed != 0 }];
    while let Some(place) = open.pop() {
        let frame = frames.push(&place);
        if place.is_above_zoom {
            // The way ends with the root.
            let depth = tree.depth(place.node);
            if let Some(&node) = way.len().checked_sub(depth + 2).map(|at| &way[at]) {
                let is_above_zoom = node != zoomed;
                open.push(Place { node, parent: Some(frame), x: 0.0, width: 1.0, is_above_zoom });
            }
            continue;
        }
        let whole = tree.size(place.node);
        let width_of = |cost: Cost| share(cost, whole) * place.width;
        let (mut wide, mut narrow): (Vec<usize>, Vec<usize>) =
            tree.children(place.node).iter().partition(|&&id| width_of(tree.size(id)) >= narrowest);
        let room = MAX_FRAMES.saturating_sub(frames.len() + open.len());
        if wide.len() > room {
            // They are in the order of their sizes.
            narrow.extend(wide.drain(room..));
        }
        if order == FlameOrder::Name {
            wide.sort_by(|&a, &b| tree.name(a).cmp(tree.name(b)).then(a.cmp(&b)));
        }
        let mut x = place.x;
        let end = place.x + place.width;
        let mut places = Vec::with_capacity(wide.len());
        for node in wide {
            // An estimate can exceed what it is a part of.
            let width = width_of(tree.size(node)).min(end - x).max(0.0);
            places.push(Place { node, parent: Some(frame), x, width, is_above_zoom: false });
            x += width;
        }
        frames.push_merged(&place, frame, &narrow, x, |cost| width_of(cost).min(end - x).max(0.0));
        open.extend(places.into_iter().rev());
    }
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
            is_self_guessed: Vec::new(),
            merged: Vec::new(),
        };
        Frames { kept, head, drawn: Drawn::new(kept, head), flame }
    }

    fn flame(self) -> Flame {
        Flame { functions: self.drawn.functions, ..self.flame }
    }
}

impl FrameList for Frames<'_> {
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
        flame.is_self_guessed.push(node.is_self_guessed);
        flame.merged.push(1);
        self.len() - 1
    }

    /// Hidden nodes are merged as well.
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
        flame.is_self_guessed.push(false);
        flame.merged.push(u32::try_from(count).unwrap_or(u32::MAX));
    }
}

pub(crate) fn index(index: usize) -> i32 {
    i32::try_from(index).unwrap_or(i32::MAX)
}
