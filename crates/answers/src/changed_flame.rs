//! Flame graphs of both sides.

use gristmill_format::Cost;
use gristmill_output::json::ByEvent;
use gristmill_report::diff::Delta;

use crate::changed_answer::ChangedFlame;
use crate::changed_tree::{ChangedDrawn, ChangedTree};
use crate::flame::{FrameList, Place, index, place_frames};
use crate::picture_tree::PictureTree;
use crate::question::FlameOrder;

/// Makes a flame graph of both sides, with the node that these names lead to as wide as the picture.
pub(crate) fn changed_flame(
    kept: &ChangedTree,
    order: FlameOrder,
    zoom: &[String],
    resolution: u32,
) -> ChangedFlame {
    let mut frames = Frames::new(kept);
    place_frames(kept, &mut frames, order, zoom, resolution);
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

impl FrameList for Frames<'_> {
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

    fn push_merged(
        &mut self,
        above: &Place,
        parent: usize,
        narrow: &[usize],
        x: f64,
        width_of: impl Fn(Cost) -> f64,
    ) {
        let inclusive = self.kept.sum(narrow.iter().map(|&id| &self.kept.node(id).inclusive));
        if narrow.is_empty()
            || inclusive.iter().all(|change| change.base.median == 0 && change.new.median == 0)
        {
            return;
        }
        let nothing = self.kept.sum(std::iter::empty());
        let width = width_of(narrow.iter().fold(0, |sum: Cost, &id| sum.saturating_add(self.kept.size(id))));
        let place = Place { node: above.node, parent: Some(parent), x, width, is_above_zoom: false };
        self.add(-1, &place, self.kept.node(above.node).depth + 1, (&inclusive, &nothing));
        let flame = &mut self.flame;
        flame.calls.push(Delta::default());
        flame.is_guessed.push(narrow.iter().any(|&id| self.kept.node(id).is_guessed));
        flame.merged.push(u32::try_from(narrow.len()).unwrap_or(u32::MAX));
        flame.hidden.push(0);
    }
}
