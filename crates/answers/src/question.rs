//! Questions: what a view of the page asks, and the scope that all views of the page share.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A question, and what it is asked of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The settings that all views share.
    #[serde(default)]
    pub scope: Scope,
    /// The question.
    pub question: Question,
}

/// The settings that all views share: parts, event types, transforms. The same as the options of a command, with the same spelling.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Scope {
    /// The names of the event types to show, the first of which decides all orders. Empty for the first recorded one.
    pub events: Vec<String>,
    /// Event types by formula, `NAME = FORMULA`.
    pub derive: Vec<String>,
    /// Parts, as ranges such as `1-3,7`. Empty for all.
    pub parts: String,
    /// Threads, as ranges. Empty for all.
    pub threads: String,
    /// Processes, as ranges. Empty for all.
    pub processes: String,
    /// The pattern of functions that are hidden: their cost counts for their callers. Empty for none.
    pub hide: String,
    /// The pattern of functions one of which must be on the stack. Empty for none.
    pub focus: String,
    /// The pattern of functions that are left out with what they call: their cost leaves the total. Empty for none.
    pub drop: String,
    /// Calls to cut, `CALLER -> CALLEE`, both patterns.
    pub cuts: Vec<String>,
    /// `true` if the members of a cycle are not taken as one.
    pub no_cycles: bool,
    /// `true` if all levels of a recursion are one function.
    pub fold_recursion: bool,
    /// `true` if functions that differ only in their recorded callers are one.
    pub fold_callers: bool,
}

impl Scope {
    /// Returns the scope without functions that are hidden, focused on or left out.
    pub(crate) fn without_attribution(&self) -> Scope {
        Scope { hide: String::new(), focus: String::new(), drop: String::new(), ..self.clone() }
    }
}

/// A question. A function is meant by its id, which rows have, and which stays the same as long as the files and the folding of
/// the scope do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Question {
    /// The loaded profile: files, event types, parts, what can be asked. See [`Summary`](crate::Summary).
    Summary,
    /// The first screen, as the rows of `gristmill FILE`.
    Overview {
        /// The most rows of each list.
        limit: usize,
    },
    /// Functions or groups, a page of them. See [`FunctionsPage`](crate::FunctionsPage).
    Functions {
        /// The thing that a row stands for.
        group: Group,
        /// The key that decides the order.
        sort: Sort,
        /// `true` for the least first.
        #[serde(default)]
        ascending: bool,
        /// The pattern that names must match; empty for all.
        #[serde(default)]
        filter: String,
        /// Only functions of the group with this name, of the kind `within`.
        #[serde(default)]
        within: Option<Within>,
        /// The first row of the page.
        start: usize,
        /// The most rows of the page.
        count: usize,
    },
    /// Everything about one function, as the rows of `gristmill show`.
    Function {
        /// The function.
        function: u32,
        /// The greatest distance of callers and callees; 1 stands for direct ones.
        depth: usize,
        /// The most rows of each list.
        limit: usize,
    },
    /// The id of a function that a link names. See [`Found`](crate::Found).
    Find {
        /// The demangled name.
        name: String,
        /// Its source file.
        file: String,
        /// Its object.
        object: String,
    },
    /// Functions, files and objects whose names contain a text. See [`SearchResults`](crate::SearchResults).
    Search {
        /// The text, in any case unless it has a capital.
        text: String,
        /// `true` if the text is a pattern.
        #[serde(default)]
        is_pattern: bool,
        /// The most results of each kind.
        limit: usize,
    },
    /// The call tree, as the rows of `gristmill tree`.
    Tree {
        /// The function that it begins with instead of the program.
        #[serde(default)]
        from: Option<u32>,
        /// `true` for callers below what they call.
        #[serde(default)]
        inverted: bool,
        /// Leaves out nodes below this share of the root, in thousandths.
        min_share: u32,
        /// The most levels below the root.
        max_depth: usize,
        /// The most nodes.
        limit: usize,
    },
    /// A flame graph: the frames of the call tree that are wide enough to draw. See [`Flame`](crate::Flame).
    Flame {
        /// The function that it begins with instead of the program.
        #[serde(default)]
        from: Option<u32>,
        /// `true` for callers above what they call.
        #[serde(default)]
        inverted: bool,
        /// The order of frames of one parent.
        order: FlameOrder,
        /// The frame that is as wide as the picture, by the names of functions that lead to it from below the root; empty for
        /// all.
        #[serde(default)]
        zoom: Vec<String>,
        /// Frames below the whole width divided by this are merged into one.
        resolution: u32,
    },
    /// The call graph around a function or of the hottest functions, with its layout. See [`Graph`](crate::Graph).
    Graph {
        /// The function in the middle; none for the most expensive functions of the program.
        #[serde(default)]
        around: Option<u32>,
        /// The levels of callers, at most.
        callers: usize,
        /// The levels of callees, at most.
        callees: usize,
        /// The most functions.
        nodes: usize,
        /// Leaves out functions and calls below this share of the function in the middle, in thousandths.
        min_share: u32,
        /// The groups that boxes are drawn around.
        cluster: Group,
    },
    /// A treemap: a rectangle for each callee or caller within that of the function. See [`Treemap`](crate::Treemap).
    Treemap {
        /// The function of the whole rectangle; none for the program.
        #[serde(default)]
        from: Option<u32>,
        /// `true` for callers.
        #[serde(default)]
        callers: bool,
        /// The width of the whole rectangle, in pixels.
        width: u32,
        /// The height of the whole rectangle, in pixels.
        height: u32,
    },
    /// The cost of the functions of a flame graph or treemap that match a pattern, together. See [`Matches`](crate::Matches).
    Matches {
        /// The function that the picture begins with instead of the program.
        #[serde(default)]
        from: Option<u32>,
        /// `true` for a picture of callers.
        #[serde(default)]
        inverted: bool,
        /// The pattern.
        pattern: String,
    },
    /// The source of a function's files, with costs by line. See [`Source`](crate::Source).
    Source {
        /// The function whose lines these are. None for all functions of the file.
        #[serde(default)]
        function: Option<u32>,
        /// The file, by its path in the profile; none for that of the function.
        #[serde(default)]
        file: Option<String>,
    },
    /// The machine code of a function, as the rows of `gristmill annotate --asm`.
    Assembly {
        /// The function.
        function: u32,
    },
    /// Parts, threads and processes, with their costs. See [`Parts`](crate::Parts).
    Parts,
    /// The findings of `gristmill lint`. See [`Findings`](crate::Findings).
    Findings {
        /// The most findings.
        limit: usize,
    },
    /// The changes since the base, as the rows of `gristmill diff`.
    Changes {
        /// The thing that a row stands for.
        group: Group,
        /// The key that decides the order.
        sort: ChangeSort,
        /// The pattern that names must match; empty for all.
        #[serde(default)]
        filter: String,
        /// The most rows.
        limit: usize,
    },
    /// The call trees of both sides as one, as the rows of `gristmill diff --tree`.
    ChangesTree {
        /// Leaves out nodes whose change is below this share of the greatest change of a node, in thousandths.
        min_share: u32,
        /// The most nodes.
        limit: usize,
    },
    /// The changes since the base, a page of rows of one side. See [`ChangesPage`](crate::ChangesPage).
    ChangesPage {
        /// The thing that a row stands for.
        group: Group,
        /// The key that decides the order, and what is worse and better.
        sort: ChangeSort,
        /// The side that the rows are on.
        #[serde(default)]
        side: ChangedSide,
        /// The pattern that names must match; empty for all.
        #[serde(default)]
        filter: String,
        /// The first row of the page.
        start: usize,
        /// The most rows of the page.
        count: usize,
    },
    /// A flame graph of both sides. See [`ChangedFlame`](crate::ChangedFlame).
    ChangesFlame {
        /// The function that it begins with instead of the program.
        #[serde(default)]
        from: Option<FunctionName>,
        /// `true` for callers above what they call.
        #[serde(default)]
        inverted: bool,
        /// The order of frames of one parent.
        order: FlameOrder,
        /// The frame that is as wide as the picture, by the names of functions that lead to it from below the root; empty for
        /// all.
        #[serde(default)]
        zoom: Vec<String>,
        /// Frames below the whole width divided by this are merged into one.
        resolution: u32,
    },
    /// A treemap of both sides. See [`ChangedTreemap`](crate::ChangedTreemap).
    ChangesTreemap {
        /// The function of the whole rectangle; none for the program.
        #[serde(default)]
        from: Option<FunctionName>,
        /// `true` for callers.
        #[serde(default)]
        callers: bool,
        /// The width of the whole rectangle, in pixels.
        width: u32,
        /// The height of the whole rectangle, in pixels.
        height: u32,
    },
    /// The call graph of both sides, around a function or of those that changed most. See [`ChangedGraph`](crate::ChangedGraph).
    ChangesGraph {
        /// The function in the middle; none for the functions that changed most.
        #[serde(default)]
        around: Option<FunctionName>,
        /// The levels of callers, at most.
        callers: usize,
        /// The levels of callees, at most.
        callees: usize,
        /// The most functions.
        nodes: usize,
        /// Leaves out functions and calls below this share of the larger side of the function in the middle, in thousandths.
        min_share: u32,
        /// The groups that boxes are drawn around.
        cluster: Group,
    },
    /// One function on both sides, line by line, as the rows of `gristmill diff --function`.
    ChangedFunction {
        /// The function. Without a file and an object, it is that which a person means by the name.
        function: FunctionName,
    },
}

/// A function of either side of a comparison, by its names. An empty file or object stands for any.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FunctionName {
    /// The demangled name.
    pub name: String,
    /// Its source file.
    #[serde(default)]
    pub file: String,
    /// Its object.
    #[serde(default)]
    pub object: String,
}

/// A group that functions are in.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Within {
    /// The kind of the group.
    pub group: Group,
    /// The name of the group.
    pub name: String,
}

/// The thing that a row or a box stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Group {
    /// A function.
    #[default]
    Function,
    /// A program or library.
    Object,
    /// A source file.
    File,
    /// A directory of source files.
    Directory,
    /// A class, namespace or module.
    Class,
    /// A crate of Rust.
    Crate,
    /// A package of PHP or Python.
    Package,
    /// A function, or a cycle in place of its members.
    Cycle,
}

/// The key that decides the order of functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sort {
    /// Self cost of the first event type.
    #[default]
    SelfCost,
    /// Inclusive cost of the first event type.
    Inclusive,
    /// Calls.
    Calls,
    /// Inclusive cost by call.
    PerCall,
    /// Name.
    Name,
    /// Object, then name.
    Object,
    /// Source file, then name.
    File,
}

/// The key that decides the order of changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChangeSort {
    /// The change of self cost, the greatest first, up or down.
    #[default]
    SelfChange,
    /// The change of inclusive cost.
    InclusiveChange,
    /// Name.
    Name,
}

/// The side of a comparison that a row is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChangedSide {
    /// Any.
    #[default]
    All,
    /// It costs more than in the base.
    Worse,
    /// It costs less than in the base.
    Better,
    /// Only the new profile has it.
    New,
    /// Only the base has it.
    Gone,
}

/// The order of the frames of one parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FlameOrder {
    /// The most expensive first.
    #[default]
    Cost,
    /// By name: stable under filters.
    Name,
}
