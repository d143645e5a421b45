//! A profile in the Callgrind format, loaded, and its analysis.
//!
//! # Loading
//!
//! [`Profile::open`] loads a file, [`Profile::load`] the bytes of one or several. [`Loader`] has options: the number of
//! threads, and a callback for progress. The profile is the same with any number of threads.
//!
//! ```
//! use gristmill_profile::{Profile, Selection};
//!
//! let profile = Profile::from_bytes(
//!     b"events: Ir Dr\nfl=(1) mill.c\nfn=(1) main\n16 400 3\n\
//!       cfi=(2) stone.c\ncfn=(2) grind\ncalls=3 50\n17 9000 120\nfl=(2)\nfn=(2)\n50 9000 120\n",
//! );
//! let [main, grind] = profile.functions().collect::<Vec<_>>()[..] else { panic!("two functions") };
//! assert_eq!(profile.function(main).name, b"main");
//! assert_eq!(profile.file(profile.function(grind).file), b"stone.c");
//! assert_eq!(profile.totals(&Selection::default()), [9400, 123]);
//!
//! // The call graph of all parts, or of some.
//! let graph = profile.call_graph(&Selection::default());
//! let [main_node, grind_node] = [main, grind].map(|function| graph.node_of(function));
//! assert_eq!(graph.self_cost(main_node), [400, 3]);
//! let call = graph.arc_between(main_node, grind_node).map(|arc| graph.arc(arc));
//! assert_eq!(call.map(|call| call.count), Some(3));
//!
//! // The lines of a function are decoded when they are asked for.
//! let lines = profile.lines(main, &Selection::default());
//! assert_eq!((lines.places[0].line, lines.costs.row(0)), (Some(16), &[400, 3][..]));
//! assert_eq!((lines.calls[0].place.line, lines.calls[0].target.line), (Some(17), Some(50)));
//! ```
//!
//! # Contents
//!
//! - **Parts.** A file has one header with its body, or several; several files make one profile with all of their parts.
//!   Each [`Part`] has its process, thread and number, and a [`Selection`] selects some of them. [`recording_of`] finds the
//!   files that belong together.
//! - **Functions.** A function is its object, its source file and its name. A callee that a file does not name in full is
//!   united with the only function that it can be: in the same object if the file of the callee is missing, in the same
//!   file if the object is, anywhere if both are. Inlined code belongs to its function and keeps its own file.
//! - **Event types** are matched by name over all parts.
//! - **Costs.** Self costs by function and file, and inclusive costs by caller and callee, summed for each part. Sums have
//!   128 bits and never wrap. Claimed totals of a file are kept beside them.
//! - **Findings.** Nothing is dropped silently: [`Profile::findings`] has all that could not be read as it is.
//!
//! # Memory and time
//!
//! A profile is the bytes of its files and an index over them. Lines stay text, the index has the offsets of their blocks,
//! and sums take as few bytes as their digits need. Measured on generated files of 300 MB, with two threads: with one event
//! type, 750,000 functions and 3 million calls, loading takes at most 1.8 times the memory of the file; with 13 event types,
//! addresses and jumps 1.3 times. Loading takes two to three times the work of reading the records alone. In malicious
//! files with functions smaller than their names, memory may be ten times the file, and more if a file has hardly anything
//! except starts of parts.
#![deny(missing_docs)]

pub mod analysis;
mod budget;
mod builder;
mod call_graph;
mod check;
pub mod columns;
pub mod compare;
pub mod condense;
mod cost;
mod cost_row;
mod csr;
mod damage;
mod decode;
mod digits;
pub mod event;
pub mod event_choice;
mod every_line;
// Not all of it is used here.
#[cfg(test)]
#[allow(dead_code)]
#[path = "../../format/tests/support/files.rs"]
mod files;
mod finding;
pub mod formula;
pub mod hash;
mod id;
mod index;
pub mod inlining;
mod input;
mod interner;
mod line_sums;
mod lines;
mod load;
pub mod merge;
mod merged;
pub mod ordered;
mod owned_names;
mod packed_costs;
mod part;
mod prefetch;
mod profile;
mod selection;
mod set;
pub mod source_lines;
pub mod symbol;
pub mod threads;
mod tuning;

pub use budget::{MemoryBudget, OverBudget};
pub use builder::{BuildError, Builder, BuilderFunction};
pub use check::BrokenInvariant;
pub use cost::CostTable;
pub use cost_row::CostRow;
pub use damage::{ClaimedCost, Damage, DamageKind};
pub use decode::{BlockLine, Place};
pub use finding::{Finding, MAX_FINDINGS, NoProfile, UnusableInput};
pub use id::{EventId, FileId, FunctionId, ObjectId, PartId};
pub use input::{Input, InputBytes};
pub use line_sums::{LineSums, SummedFileId, SummedFunctionId, SummedLine, SummedLines, SummedNames};
pub use lines::{CallSite, Invocations, JumpSite, LineCosts, LineDetail};
pub use load::Loader;
pub use load::wrapped::may_have_wrapped_costs;
pub use packed_costs::PackedCosts;
pub use part::{Part, REPLACED_BY};
pub use profile::{EventType, Function, Profile};
pub use selection::{NumberRange, NumberRangeError, Selection};
pub use set::{
    FileHeader, HEADER_BYTES, RecordingKey, Recordings, may_be_beside, may_share_recording, recording_base,
    recording_of,
};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
