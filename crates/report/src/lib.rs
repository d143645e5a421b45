//! Reports on profiles: a [`View`] is a profile with its selection, event types and inclusive rule; a report takes its rows
//! from a view, and its printers write the rows as text, JSON, CSV or Markdown. See the example of [`Functions`].
//!
//! Nothing here opens a file or prints.
#![deny(missing_docs)]

mod amount;
pub mod annotate;
pub mod assembly;
mod call_count;
mod columns;
mod damage;
pub mod diff;
mod find;
mod functions;
mod grouping;
mod head;
mod html_page;
pub mod info;
mod inlined;
mod line_sources;
mod line_text;
pub mod lint;
mod named_function;
mod names;
mod no_match;
mod overview;
mod page;
mod path;
mod pattern;
pub mod program;
mod rates;
mod read_file;
mod report;
mod shares;
mod show;
mod source_listing;
mod start_up;
mod tree;
mod view;

pub use call_count::CallCount;
pub use columns::EventColumn;
pub use damage::DamageRow;
pub use find::{Choice, FoundFunction, FunctionNotFound, find_joined, nearest_name};
pub use functions::{
    FilteredFunctions, FunctionList, FunctionRow, Functions, FunctionsOptions, LineRow, ListOrder, NameIndex,
    PathIndex, ProgramLines, SortBy, group_name,
};
pub use gristmill_profile::analysis::InclusiveRule;
pub use grouping::Grouping;
pub use head::{Head, doubts};
pub use inlined::inlining_notes;
pub use line_text::LineText;
pub use named_function::NamedFunction;
pub use no_match::NoMatch;
pub use overview::{CallPath, NextStep, Overview, OverviewOptions, PathEnd, PathStep};
pub use pattern::{has_capital_letter, matches_name, pattern};
pub use rates::{Rate, Rates};
pub use read_file::ReadFile;
pub use report::Report;
pub use shares::{ShareRow, Shares};
pub use show::{
    CallSum, CalledFunction, CycleBreaker, CycleEntry, CycleMember, CycleSummary, HotLine, JumpSummary, List,
    Neighbour, PartRow, Show, ShowOptions,
};
pub use source_listing::{ListedFile, ListedJump, ListedLine, SourceListing};
pub use tree::{Basis, Entry, EntryKind, Node, Tree, TreeOptions};
pub use view::{Cut, CutError, EventSelection, Subject, SubjectId, View, ViewError, ViewOptions};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
