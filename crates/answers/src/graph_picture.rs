//! The picture of a call graph, of a profile or of a comparison: which calls are shown, which boxes are grouped, and the drawing.

use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};

use gristmill_format::Cost;
use gristmill_profile::ordered::{OrderedKey, OrderedMap};

use crate::answer::GraphCluster;
use crate::graph_layout::{Drawing, DrawingArc, DrawingNode, LayoutOptions, Rectangle, Size};

/// The most functions of a picture: nobody can read more.
pub(crate) const MAX_NODES: usize = 400;
/// The most arcs of a picture for each of its functions.
const MAX_ARCS_PER_NODE: usize = 6;

/// The width of a character of a name.
const CHARACTER: f64 = 6.6;
/// The room beside a name.
const BESIDE_NAME: f64 = 20.0;
/// Limits of the width of a box.
const BOX_WIDTHS: (f64, f64) = (96.0, 260.0);
/// The height of a box: two lines.
const BOX_HEIGHT: f64 = 44.0;
/// The size of the label of an arc: two lines.
const LABEL: Size = Size { width: 84.0, height: 28.0 };
/// The height of the title of a cluster.
const CLUSTER_TITLE: f64 = 16.0;

/// Finds the shown functions that are connected with that in the middle by shown ones: returns `true` for these, and `false` for
/// others.
pub(crate) fn connected<Id: OrderedKey, Near: Iterator<Item = Id>>(
    middle: Id,
    shown: impl Iterator<Item = Id>,
    neighbours: impl Fn(Id) -> Near,
) -> OrderedMap<Id, bool> {
    let mut known: OrderedMap<Id, bool> = shown.map(|function| (function, false)).collect();
    known.insert(middle, true);
    let mut open = VecDeque::from([middle]);
    while let Some(function) = open.pop_front() {
        for other in neighbours(function) {
            if let Some(is_reached @ false) = known.get_mut(other) {
                *is_reached = true;
                open.push_back(other);
            }
        }
    }
    known
}

/// Returns the calls to show: those that are large enough, and the largest one to and from each function. `calls_of` returns
/// the calls to a function and from it that are between shown functions.
pub(crate) fn arcs<Id: Copy, Arc: Copy + Ord>(
    shown: impl ExactSizeIterator<Item = Id>,
    calls_of: impl Fn(Id) -> [Vec<Arc>; 2],
    size: impl Fn(Arc) -> Cost,
    is_large: impl Fn(Cost) -> bool,
) -> Vec<Arc> {
    let most = shown.len() * MAX_ARCS_PER_NODE;
    let mut chosen: Vec<Arc> = Vec::new();
    let mut large: Vec<Arc> = Vec::new();
    for function in shown {
        let [incoming, outgoing] = calls_of(function);
        large.extend(incoming.iter().copied().filter(|&arc| is_large(size(arc))));
        for calls in [incoming, outgoing] {
            chosen.extend(calls.into_iter().max_by_key(|&arc| (size(arc), Reverse(arc))));
        }
    }
    large.sort_by_key(|&arc| (Reverse(size(arc)), arc));
    large.truncate(most);
    chosen.extend(large);
    chosen.sort_unstable();
    chosen.dedup();
    chosen
}

/// The groups of a picture that have more than one of its functions.
pub(crate) struct Clusters {
    names: Vec<String>,
    /// By function.
    of: Vec<Option<usize>>,
}

impl Clusters {
    /// Takes the name of each function's group.
    pub(crate) fn new(groups: &[Option<String>]) -> Self {
        let mut members: BTreeMap<&str, usize> = BTreeMap::new();
        groups.iter().flatten().for_each(|name| *members.entry(name).or_default() += 1);
        let names: Vec<&str> =
            members.into_iter().filter(|&(_, count)| count > 1).map(|(name, _)| name).collect();
        let of = groups.iter().map(|name| names.binary_search(&name.as_deref()?).ok()).collect();
        Clusters { of, names: names.into_iter().map(str::to_owned).collect() }
    }

    /// Returns the boxes, at their places.
    pub(crate) fn placed(self, places: &[Rectangle]) -> Vec<GraphCluster> {
        let bounds = |it: &Rectangle| [it.x, it.y, it.width, it.height];
        let named = self.names.into_iter().zip(places);
        named.map(|(name, place)| GraphCluster { name, bounds: bounds(place) }).collect()
    }
}

/// Makes the drawing of functions with these names. An arc has its ends and its cost.
pub(crate) fn drawing<'n>(
    names: impl Iterator<Item = &'n str>,
    arcs: impl Iterator<Item = (usize, usize, Cost)>,
    clusters: &Clusters,
) -> Drawing {
    let boxes = names.zip(&clusters.of);
    let arc = |(from, to, cost)| DrawingArc { from, to, weight: weight(cost), label: LABEL };
    let title = |name: &String| Size { width: text_width(name), height: CLUSTER_TITLE };
    Drawing {
        nodes: boxes.map(|(name, &cluster)| DrawingNode { size: box_size(name), cluster }).collect(),
        arcs: arcs.map(arc).collect(),
        clusters: clusters.names.iter().map(title).collect(),
        options: LayoutOptions::default(),
    }
}

fn box_size(name: &str) -> Size {
    let (least, most) = BOX_WIDTHS;
    Size { width: (text_width(name) + BESIDE_NAME).clamp(least, most), height: BOX_HEIGHT }
}

#[allow(clippy::cast_precision_loss, reason = "a width in a picture, of the first characters")]
fn text_width(text: &str) -> f64 {
    text.chars().take(64).count() as f64 * CHARACTER
}

#[allow(clippy::cast_precision_loss, reason = "only the order of magnitude counts")]
fn weight(cost: Cost) -> f64 {
    cost.unsigned_abs() as f64
}
