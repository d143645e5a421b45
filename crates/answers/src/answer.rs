//! Answers that no report has: for pages of long tables, pictures, and what is loaded.
//!
//! Costs are those of the shown event types, in their order, as in all reports. Picture coordinates are in the unit that the
//! question gives.

use gristmill_output::json::{Costs, ExactInteger};
use gristmill_report::{CallCount, DamageRow, EventColumn, FunctionRow, Head};
use schemars::JsonSchema;
use serde::Serialize;

/// The loaded profile.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Summary {
    /// The head that all reports have, in the scope of the question.
    pub head: Head,
    /// The files.
    pub files: Vec<LoadedFile>,
    /// All event types that can be shown, recorded ones first, with the cost of the whole profile.
    pub event_types: Vec<EventType>,
    /// The count of functions.
    pub functions: usize,
    /// The count of calls between two functions, by pair.
    pub calls: usize,
    /// The count of cycles.
    pub cycles: usize,
    /// The contents of the profile, so that a view can say why it is empty and what to record next time.
    pub has: Contents,
    /// The profile that this one is compared with. Null without one.
    pub base: Option<BaseSummary>,
    /// The reasons why the numbers are not those of the recording.
    pub damage: Vec<DamageRow>,
    /// The count of lines that could not be taken as they are.
    pub findings: u64,
}

/// A file that was loaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LoadedFile {
    /// The name that it was given by.
    pub name: String,
    /// The size in bytes.
    pub bytes: u64,
}

/// An event type that can be shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EventType {
    /// Name, long name, unit and formula.
    #[serde(flatten)]
    pub column: EventColumn,
    /// The sum of self costs of the selected parts. Null if a formula cannot be calculated.
    pub total: Option<ExactInteger>,
}

/// The contents of a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Contents {
    /// `true` if there are calls.
    pub calls: bool,
    /// `true` if calls are counted: a sampled profile has no counts.
    pub call_counts: bool,
    /// `true` if costs have source lines.
    pub lines: bool,
    /// `true` if costs have addresses of instructions.
    pub addresses: bool,
    /// `true` if there is more than one part, thread or process.
    pub several_parts: bool,
    /// `true` if sources and programs can be read.
    pub files: bool,
    /// `true` if inlined functions are shown: `gristmill view --inlined` asks for them.
    pub inlined: bool,
}

/// The profile that this one is compared with.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct BaseSummary {
    /// The names of its files.
    pub files: Vec<String>,
    /// The program that was measured.
    pub title: String,
    /// The reasons why the sides may not be compared.
    pub doubts: Vec<String>,
}

/// A page of functions or groups.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FunctionsPage {
    /// The head of the report.
    pub head: Head,
    /// The count of all rows that match.
    pub all: usize,
    /// The sum of the self costs of all rows that match.
    pub matched: Costs,
    /// The row that the page begins with.
    pub start: usize,
    /// The rows of the page.
    pub rows: Vec<FunctionRow>,
}

/// The function that a link names.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Found {
    /// The id. Null if there is no such function in the scope.
    pub function: Option<u32>,
}

/// Functions, files and objects that contain a text.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SearchResults {
    /// The count of functions that match.
    pub all: usize,
    /// The sum of their self costs.
    pub matched: Costs,
    /// The functions that match, the most expensive first.
    pub functions: Vec<FunctionRow>,
    /// The paths of files that match.
    pub files: Vec<String>,
    /// The paths of objects that match.
    pub objects: Vec<String>,
}

/// A flame graph. Each list has an item for each frame; a frame comes after its parent.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Flame {
    /// The head of the report.
    pub head: Head,
    /// The origin of the tree, and with it the certainty of the frames.
    pub basis: gristmill_report::Basis,
    /// The part of the root's cost that is placed by a guess. Null if the tree is no estimate.
    pub guessed: Option<Costs>,
    /// The things that frames stand for.
    pub functions: Vec<FlameFunction>,
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
    /// By frame: its costs.
    pub inclusive: Vec<Costs>,
    /// By frame: its self costs.
    #[serde(rename = "self")]
    pub self_costs: Vec<Costs>,
    /// By frame: the count of calls from its parent.
    pub calls: Vec<CallCount>,
    /// By frame: `true` if its place is a guess.
    pub is_guessed: Vec<bool>,
    /// By frame: `true` if its self cost is a guess.
    pub is_self_guessed: Vec<bool>,
    /// By frame: the count of frames that it stands for: more than 1 if it is merged.
    pub merged: Vec<u32>,
}

/// The thing that a frame stands for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FlameFunction {
    /// The id of the function. Null for the program and for a cycle.
    pub id: Option<u32>,
    /// The name.
    pub name: String,
    /// The source file; empty if it is not known.
    pub file: String,
    /// The program or library; empty if it is not known.
    pub object: String,
    /// The sum of its inclusive costs over all frames, outermost ones only: what a search counts.
    pub all: Costs,
}

/// A call graph with its layout.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Graph {
    /// The head of the report.
    pub head: Head,
    /// The id of the function in the middle. Null without one.
    pub around: Option<u32>,
    /// The width of the picture, in pixels at normal size.
    pub width: f64,
    /// The height of the picture.
    pub height: f64,
    /// The functions and cycles.
    pub nodes: Vec<GraphNode>,
    /// The calls.
    pub arcs: Vec<GraphArc>,
    /// The boxes around functions of one group.
    pub clusters: Vec<GraphCluster>,
    /// The count of functions that would be shown without the limits.
    pub all_nodes: usize,
}

/// A function or a cycle in a call graph.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct GraphNode {
    /// The row of the function, or of the cycle.
    #[serde(flatten)]
    pub row: FunctionRow,
    /// `true` for the function in the middle.
    pub is_center: bool,
    /// The costs with respect to the function in the middle: what it spends in here, or what of it comes through here. The
    /// inclusive cost without one.
    pub cost: Costs,
    /// `true` if `cost` is an estimate.
    pub cost_is_estimate: bool,
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
    /// The inclusive cost of their calls.
    pub hidden_callers_cost: Costs,
    /// `true` if that is an estimate.
    pub hidden_callers_is_estimate: bool,
    /// The count of callees that are not shown.
    pub hidden_callees: usize,
    /// The inclusive cost of the calls to them.
    pub hidden_callees_cost: Costs,
    /// `true` if that is an estimate.
    pub hidden_callees_is_estimate: bool,
}

/// Calls in a call graph.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct GraphArc {
    /// The index of the caller in `nodes`. The cost and the count are those of the whole scope, not only of calls that come
    /// through the function in the middle.
    pub caller: usize,
    /// The index of the callee in `nodes`.
    pub callee: usize,
    /// The count of calls.
    #[serde(flatten)]
    pub calls: CallCount,
    /// Inclusive cost of the calls.
    pub cost: Costs,
    /// `true` if the cost is an estimate, because functions are hidden or focused on.
    pub cost_is_estimate: bool,
    /// `true` if the calls are inside of a cycle.
    pub is_inner: bool,
    /// The points of its cubic Bézier curves: a start, then three points for each curve.
    pub points: Vec<[f64; 2]>,
    /// The middle of its label.
    pub label: [f64; 2],
}

/// A box around functions of one group.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct GraphCluster {
    /// The name of the group.
    pub name: String,
    /// Left edge, upper edge, width, height.
    pub bounds: [f64; 4],
}

/// A treemap. A rectangle comes after that which it is in.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Treemap {
    /// The head of the report.
    pub head: Head,
    /// The origin of the tree, and with it the certainty of the rectangles.
    pub basis: gristmill_report::Basis,
    /// The part of the root's cost that is placed by a guess. Null if the tree is no estimate.
    pub guessed: Option<Costs>,
    /// The functions of the rectangles.
    pub functions: Vec<FlameFunction>,
    /// The rectangles.
    pub tiles: Vec<Tile>,
}

/// A rectangle of a treemap.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Tile {
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
    pub inclusive: Costs,
    /// `true` if its place is a guess.
    pub is_guessed: bool,
}

/// The kind of a rectangle of a treemap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TileKind {
    /// A callee or caller.
    Function,
    /// The self cost of the function that it is in.
    #[serde(rename = "self")]
    SelfCost,
    /// Callees or callers that are too small to draw.
    Rest,
}

/// Source text with costs.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Source {
    /// The head of the report.
    pub head: Head,
    /// The function; null for all functions of a file.
    pub function: Option<FunctionRow>,
    /// The files that have lines of it, the most expensive first. The text is that of the first, unless the question names
    /// another.
    pub files: Vec<SourceFile>,
    /// The index in `files` of the file whose lines these are. Null if there is none.
    pub shown: Option<usize>,
    /// The lines of the file, all of its text and also lines beyond its end that have costs.
    pub lines: Vec<SourceLine>,
    /// The count of lines of text without costs that are left out, because the file is too long.
    pub hidden_lines: u64,
    /// The self cost in the file that has no line.
    pub without_line: Costs,
}

/// A file that has lines.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SourceFile {
    /// The path in the profile.
    pub path: String,
    /// The path at which it was found. Null if it was not.
    pub found_at: Option<String>,
    /// The reason why it was not found or may not be that which was measured. Null if there is none.
    pub remark: Option<String>,
    /// The self cost of its lines.
    #[serde(rename = "self")]
    pub self_costs: Costs,
}

/// A source line.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SourceLine {
    /// The line number.
    pub line: u64,
    /// Its text, as spans that a page can colour. Empty if the source was not found.
    pub text: Vec<TextSpan>,
    /// Self cost; null if the line has none.
    #[serde(rename = "self")]
    pub self_costs: Option<Costs>,
    /// Self cost and inclusive cost of the calls; null if the line has none.
    pub inclusive: Option<Costs>,
    /// The calls that the line makes, the most expensive first.
    pub calls: Vec<SourceCall>,
    /// The jumps that begin at the line.
    pub jumps: Vec<SourceJump>,
}

/// A part of a source line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TextSpan {
    /// The kind: `keyword`, `literal`, `comment`, `number`, `type`, `call`, `directive`; empty for everything else.
    pub kind: &'static str,
    /// The text.
    pub text: String,
}

/// Calls that a line makes to a function.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SourceCall {
    /// The id of the callee.
    pub function: u32,
    /// Its name.
    pub name: String,
    /// The count of calls.
    #[serde(flatten)]
    pub calls: CallCount,
    /// Inclusive cost of the calls.
    pub cost: Costs,
    /// `true` if the calls are inside of a cycle.
    pub is_inner: bool,
}

/// Jumps from a line to another.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SourceJump {
    /// The line.
    pub to: u64,
    /// The count of times it jumped.
    pub taken: ExactInteger,
    /// The count of times it was reached; null for a jump without a condition.
    pub executed: Option<ExactInteger>,
}

/// Parts, threads and processes.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Parts {
    /// The event types of the costs.
    pub head: Head,
    /// The parts in the order of the files, selected or not.
    pub parts: Vec<PartSummary>,
    /// The count of all parts: a profile can have millions.
    pub all: usize,
}

/// A part.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PartSummary {
    /// The name of its file.
    pub file: String,
    /// The number of its process.
    pub process: Option<u64>,
    /// The number of its thread.
    pub thread: Option<u64>,
    /// The number of the part.
    pub part: Option<u64>,
    /// The reason why it was written.
    pub trigger: Option<String>,
    /// The range of time, in basic blocks, as the file has it.
    pub time_range: Option<String>,
    /// Self cost.
    #[serde(rename = "self")]
    pub self_costs: Costs,
    /// `true` if it is in the scope.
    pub is_selected: bool,
}

/// The findings of `gristmill lint`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Findings {
    /// The sentence that judges each file, a line each.
    pub verdict: String,
    /// The count of findings.
    pub all: u64,
    /// The rules that found something, the most severe first in each file.
    pub rules: Vec<RuleSummary>,
    /// The first findings of each rule in each file.
    pub rows: Vec<FindingRow>,
}

/// A rule that found something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RuleSummary {
    /// The name of the rule.
    pub rule: &'static str,
    /// `error`, `warning` or `note`.
    pub severity: &'static str,
    /// The subject of the rule, in a sentence.
    pub summary: &'static str,
    /// The count of its findings.
    pub count: u64,
}

/// A finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FindingRow {
    /// `error`, `warning` or `note`.
    pub severity: &'static str,
    /// The name of the rule.
    pub rule: &'static str,
    /// The file.
    pub file: String,
    /// The line.
    pub line: u64,
    /// The sentence.
    pub text: String,
}
