//! Reports on profiles: a [`View`] is a profile with its selection, event types and inclusive rule; a report takes its rows
//! from a view, and its printers write the rows as text, JSON, CSV or Markdown. See the example of [`Functions`].
//!
//! Nothing here opens a file or prints.
#![deny(missing_docs)]

mod amount;
pub mod annotate;
mod columns;
pub mod diff;
mod find;
mod functions;
mod grouping;
mod head;
pub mod info;
pub mod lint;
mod named_function;
mod path;
mod read_file;
mod report;
mod show;
mod tree;
mod view;

pub use columns::EventColumn;
pub use find::{Choice, FindError, find_joined};
pub use functions::{FunctionRow, Functions, FunctionsOptions, SortBy};
pub use gristmill_profile::analysis::InclusiveRule;
pub use grouping::Grouping;
pub use head::{Head, doubts};
pub use named_function::NamedFunction;
pub use read_file::ReadFile;
pub use report::Report;
pub use show::{
    CallSum, CalledFunction, CycleBreaker, CycleEntry, CycleMember, CycleSummary, HotLine, JumpSummary, List,
    Neighbour, PartRow, Show, ShowOptions,
};
pub use tree::{Basis, Entry, EntryKind, Node, Tree, TreeOptions};
pub use view::{Cut, CutError, EventSelection, Subject, SubjectId, View, ViewError, ViewOptions};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
