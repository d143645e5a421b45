//! Reports on profiles: a [`View`] says what is looked at and how, a report takes its rows from it, and printers make
//! text, JSON, CSV or Markdown of the rows.
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
mod json;
pub mod lint;
mod path;
mod read_file;
mod report;
mod show;
mod tree;
mod view;

pub use columns::EventColumn;
pub use find::{Choice, FindError, find_joined};
pub use functions::{Functions, FunctionsOptions, Row, SortBy};
pub use gristmill_profile::analysis::InclusiveRule;
pub use grouping::Grouping;
pub use head::{Head, doubts};
pub use read_file::ReadFile;
pub use report::Report;
pub use show::{
    CallRow, CycleBreaker, CycleSummary, HotLine, JumpSummary, Listed, Neighbour, PartRow, Show, ShowOptions,
};
pub use tree::{Entry, EntryKind, Node, Tree, TreeOptions};
pub use view::{Cut, CutError, EventSelection, Subject, SubjectId, View, ViewError, ViewOptions};
