//! Answers on changes since a base that no report has: pages of rows, and pictures.
//!
//! A picture of changes has both sides: a frame, a rectangle or a box is as large as the larger side needs.

use gristmill_output::json::ByEvent;
use gristmill_profile::compare::Presence;
use gristmill_report::Basis;
use gristmill_report::diff::{Delta, DiffHead};
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::{GraphCluster, TileKind};

/// A page of functions or groups that changed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ChangesPage {
    /// The two sides.
    #[serde(flatten)]
    pub head: DiffHead,
    /// The counts of rows that match, by side.
    pub counts: SideCounts,
    /// The count of rows of the chosen side.
    pub all: usize,
    /// The count of rows of it that can be paged through: those of the greatest change.
    pub listed: usize,
    /// The change of the self costs of all rows of the chosen side.
    #[serde(rename = "self")]
    pub self_costs: ByEvent<Delta>,
    /// The row that the page begins with.
    pub start: usize,
    /// The rows of the page.
    pub rows: Vec<ChangeRow>,
}

/// The counts of rows that changed, by side. A new or vanished row is also a worse or a better one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct SideCounts {
    /// All that changed.
    pub all: usize,
    /// Those that cost more now.
    pub worse: usize,
    /// Those that cost less now.
    pub better: usize,
    /// Those that only the new profile has.
    pub new: usize,
    /// Those that only the base has.
    pub gone: usize,
}

/// The sides that a function is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ChangePresence {
    /// It is on both sides.
    Both,
    /// Only the base has it.
    Vanished,
    /// Only the new profile has it.
    New,
}

impl From<Presence> for ChangePresence {
    fn from(presence: Presence) -> Self {
        match presence {
            Presence::Both => ChangePresence::Both,
            Presence::Vanished => ChangePresence::Vanished,
            Presence::New => ChangePresence::New,
        }
    }
}

/// A function or a group on both sides.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ChangeRow {
    /// The id of the function, the same in every answer on these profiles. Null for a group.
    pub id: Option<usize>,
    /// The name, as the new profile has it, or else the base.
    pub name: String,
    /// The name in the base, if it is a different one.
    pub base_name: Option<String>,
    /// The source file; empty for a group.
    pub file: String,
    /// The object; empty for a group.
    pub object: String,
    /// The sides that it is on.
    pub on: ChangePresence,
    /// Self cost by event type.
    #[serde(rename = "self")]
    pub self_costs: ByEvent<Delta>,
    /// Inclusive cost by event type.
    pub inclusive: ByEvent<Delta>,
    /// `true` if inclusive costs may count calls twice: they leave a group and come back. Missing if `false`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    pub inclusive_is_doubtful: bool,
    /// The count of calls of it.
    pub calls: Delta,
}

/// The thing that a frame or rectangle stands for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChangedFunction {
    /// The id of the function, the same in every answer on these profiles. Null for the program and for a cycle.
    pub id: Option<usize>,
    /// The name, as the new profile has it, or else the base.
    pub name: String,
    /// The name in the base, if it is a different one.
    pub base_name: Option<String>,
    /// The source file; empty if it is not known.
    pub file: String,
    /// The program or library; empty if it is not known.
    pub object: String,
}

/// A flame graph of both sides. Each list has an item for each frame; a frame comes after its parent. A frame is as wide as the
/// larger of its sides, and at least as wide as the frames on it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ChangedFlame {
    /// The two sides.
    #[serde(flatten)]
    pub head: DiffHead,
    /// The origin of the trees, and with it the certainty of the frames.
    pub basis: Basis,
    /// The things that frames stand for.
    pub functions: Vec<ChangedFunction>,
    /// By frame: the index in `functions`. -1 for frames of one parent that are merged because each is narrow.
    pub function: Vec<i32>,
    /// By frame: the index of its parent. -1 for the root.
    pub parent: Vec<i32>,
    /// By frame: the distance from the root.
    pub depth: Vec<u32>,
    /// By frame: the left edge, in shares of the root: 0 to 1.
    pub x: Vec<f64>,
    /// By frame: the width, in shares of the root.
    pub width: Vec<f64>,
    /// By frame: its inclusive costs.
    pub inclusive: Vec<ByEvent<Delta>>,
    /// By frame: its self costs.
    #[serde(rename = "self")]
    pub self_costs: Vec<ByEvent<Delta>>,
    /// By frame: the count of calls from its parent.
    pub calls: Vec<Delta>,
    /// By frame: `true` if the cost of a side is a guess.
    pub is_guessed: Vec<bool>,
    /// By frame: the count of frames that it stands for: more than 1 if it is merged.
    pub merged: Vec<u32>,
    /// By frame: the count of frames on it whose costs are not known on both sides, at least. They are not drawn.
    pub hidden: Vec<u32>,
}

/// A treemap of both sides. A rectangle comes after that which it is in.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ChangedTreemap {
    /// The two sides.
    #[serde(flatten)]
    pub head: DiffHead,
    /// The origin of the trees, and with it the certainty of the rectangles.
    pub basis: Basis,
    /// The functions of the rectangles.
    pub functions: Vec<ChangedFunction>,
    /// The rectangles.
    pub tiles: Vec<ChangedTile>,
}

/// A rectangle of a treemap of both sides. Its area is that of the larger side.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ChangedTile {
    /// The kind.
    pub kind: TileKind,
    /// The index in `functions`; null for self cost, and for callees that are too small to draw.
    pub function: Option<usize>,
    /// The count of rectangles that it stands for, if they are too small.
    pub merged: usize,
    /// The index of the rectangle that it is in; null for the whole.
    pub parent: Option<usize>,
    /// The distance from the whole.
    pub depth: usize,
    /// Left edge, upper edge, width, height, in pixels.
    pub bounds: [f64; 4],
    /// Its cost.
    pub inclusive: ByEvent<Delta>,
    /// `true` if the cost of a side is a guess.
    pub is_guessed: bool,
}

/// A call graph of both sides with its layout.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ChangedGraph {
    /// The two sides.
    #[serde(flatten)]
    pub head: DiffHead,
    /// The index in `nodes` of the function in the middle. Null without one.
    pub around: Option<usize>,
    /// The width of the picture, in pixels at normal size.
    pub width: f64,
    /// The height of the picture.
    pub height: f64,
    /// The functions, the greatest change first.
    pub nodes: Vec<ChangedNode>,
    /// The calls.
    pub arcs: Vec<ChangedArc>,
    /// The boxes around functions of one group.
    pub clusters: Vec<GraphCluster>,
    /// The count of functions that would be shown without the limit of their count.
    pub all_nodes: usize,
}

/// A function in a call graph of both sides.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ChangedNode {
    /// The function.
    #[serde(flatten)]
    pub row: ChangeRow,
    /// `true` for the function in the middle.
    pub is_center: bool,
    /// The left edge of the box.
    pub x: f64,
    /// The upper edge of the box.
    pub y: f64,
    /// The width of the box.
    pub width: f64,
    /// The height of the box.
    pub height: f64,
    /// The count of callers that are not shown.
    pub hidden_callers: usize,
    /// The count of callees that are not shown.
    pub hidden_callees: usize,
}

/// Calls in a call graph of both sides.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ChangedArc {
    /// The index of the caller in `nodes`.
    pub caller: usize,
    /// The index of the callee in `nodes`.
    pub callee: usize,
    /// The count of calls.
    pub calls: Delta,
    /// Inclusive cost of the calls.
    pub cost: ByEvent<Delta>,
    /// The points of its cubic Bézier curves: a start, then three points for each curve.
    pub points: Vec<[f64; 2]>,
    /// The middle of its label.
    pub label: [f64; 2],
}

/// The functions of a tree that match a pattern, with their cost.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Matches {
    /// The count of functions that match.
    pub functions: usize,
    /// The count of their nodes that are not below another node that matches.
    pub nodes: usize,
    /// The inclusive cost of these nodes: each cost once.
    pub matched: gristmill_output::json::Costs,
    /// `true` if there are nodes beyond the limit of a tree, so that the numbers may be greater.
    pub is_lower_bound: bool,
    /// `true` if the cost of one of these nodes is an estimate.
    pub is_guessed: bool,
}
