//! A reader, writer and linter for the Callgrind format.
//!
//! Callgrind and Cachegrind write the format, and so do profilers for PHP, Python, Ruby, Go, Perl, Erlang, make and more;
//! KCachegrind shows it. This crate turns such files into records and records into files. It reads what those tools really
//! write, reports where that leaves the published grammar, and loses nothing silently. It does no I/O except to the sink of
//! its writer, prints nothing, and never panics on an input.
//!
//! # Read
//!
//! [`Reader`] is an iterator over a file in memory. A record borrows from it; costs stay bytes until you decode them.
//!
//! ```
//! use gristmill_format::{CostRole, Line, Reader};
//!
//! let file = b"# callgrind format\nevents: Ir Dr\nfl=(1) mill.c\nfn=(1) main\n16 400 3\n\
//!              cfi=(2) stone.c\ncfn=(2) grind\ncalls=3 50\n17 9000 120\nfn=(2)\n50 9000 120\n";
//!
//! let mut reader = Reader::new(file);
//! let mut self_costs = Vec::new();
//! let mut arcs = Vec::new();
//! let mut calls = 0;
//! while let Some(record) = reader.next() {
//!     match record?.line {
//!         Line::Calls(line) => calls = line.count,
//!         Line::Cost(line) => {
//!             let mut costs = [0; 2];
//!             line.costs.decode(&mut costs).expect("integers");
//!             // The context knows the function.
//!             let name = |name: Option<gristmill_format::Name<'_>>| {
//!                 String::from_utf8_lossy(name.map(|name| name.bytes()).unwrap_or_default()).into_owned()
//!             };
//!             let function = name(reader.context().function());
//!             match line.role {
//!                 CostRole::SelfCost => self_costs.push((function, costs)),
//!                 CostRole::Call => arcs.push((function, name(reader.context().callee()), calls, costs)),
//!                 CostRole::JumpSource => {}
//!             }
//!         }
//!         _ => {}
//!     }
//! }
//! assert_eq!(self_costs, [("main".to_owned(), [400, 3]), ("grind".to_owned(), [9000, 120])]);
//! assert_eq!(arcs, [("main".to_owned(), "grind".to_owned(), 3, [9000, 120])]);
//! # Ok::<(), gristmill_format::Error>(())
//! ```
//!
//! [`Survey`] summarises a file: its parts, event types and totals.
//!
//! # Write
//!
//! [`Writer`] keeps track of name ids and of the base of relative positions, so its caller need not.
//!
//! ```
//! use gristmill_format::{NameStyle, Writer};
//!
//! let mut writer = Writer::new(Vec::new()).names(NameStyle::Compressed);
//! writer.header("creator", b"my-profiler 1.0")?;
//! writer.events(&["Samples"])?;
//! writer.file(b"mill.c")?;
//! writer.function(b"main")?;
//! writer.cost(&[16], &[25])?;
//! let file = writer.finish()?;
//! assert_eq!(file, b"creator: my-profiler 1.0\nevents: Samples\nfl=(1) mill.c\nfn=(1) main\n16 25\n");
//! # Ok::<(), gristmill_format::Error>(())
//! ```
//!
//! # Check
//!
//! [`Lint`] reports findings, each with its rule, its location and a message. [`RULES`] lists the rules.
//!
//! ```
//! use gristmill_format::Lint;
//!
//! let mut said = Vec::new();
//! Lint::default().run(b"events: Ir\nfn=main\n1 20\n+1 x\ntotals: 21\n", |finding| {
//!     said.push(format!("{}:{} {}", finding.location.line, finding.column, finding.rule.name));
//! });
//! assert!(said.contains(&"4:4 bad-cost".to_owned()));
//! assert!(said.contains(&"5:1 totals-mismatch".to_owned()));
//! ```
//!
//! # Rewrite
//!
//! [`Rewrite`] writes the same profile in another spelling, [`repair()`] makes a damaged file valid.
//!
//! ```
//! use gristmill_format::{PositionStyle, Rewrite, repair};
//!
//! let absolute = Rewrite { positions: PositionStyle::Absolute, ..Rewrite::default() };
//! assert_eq!(absolute.run(b"events: Ir\nfn=f\n1 2\n+3 4\n", Vec::new())?, b"events: Ir\nfn=f\n1 2\n4 4\n");
//!
//! let repaired = repair(b"EVENTS: Ir\nfn=f\n1 2", &Rewrite::default(), Vec::new())?;
//! assert_eq!(repaired.sink, b"# callgrind format\nversion: 1\nevents: Ir\nfn=f\n1 2\n");
//! assert!(!repaired.changes.is_empty());
//! # Ok::<(), gristmill_format::Error>(())
//! ```
//!
//! # The format in brief
//!
//! - **A record is a line.** The meaning of a line may depend on lines before it, and the reader keeps track: a cost line after
//!   `calls=` has the cost of the calls ([`CostRole`]).
//! - **Context.** `ob=`, `fl=` and `fn=` hold for the costs that follow, `cob=`, `cfi=` and `cfn=` for the next call.
//!   [`Reader::context`] has the names of the last record.
//! - **Parts.** A file has one header with its body, or several. Each [`Record`] has the index of its part.
//! - **Three name spaces.** `ob=(1)`, `fl=(1)` and `fn=(1)` are three names; see [`NameSpace`]. Names are bytes.
//! - **Positions come out absolute.** The base of relative ones is explained in the
//!   chapter on [practice](crate::practice#positions). So is the file [behind a
//!   call](crate::practice#the-lines-that-callgrind-remembers).
//! - **Costs are exact.** A [`Cost`] has 128 bits, a file holds 64: no sum wraps.
//! - **Self and inclusive.** Costs of calls are inclusive and never add to self cost. The claimed sums of a file (`summary:`,
//!   `totals:`) are checked and not trusted.
//!
//! # Errors
//!
//! There are three [reading modes](ReadingMode). A tolerant reader yields an [`Error`] *beside* the records where something
//! is lost or estimated, and continues at the next line. [`Error::is_repaired`] says that the line was read anyway, and its
//! record follows. A strict reader checks the file against the published grammar, a practised one against the output of
//! Valgrind's own tools; both end at the first deviation. Each error has its [`Location`], its column and its length in
//! bytes.
//!
//! So `Reader::new(file).collect::<Result<Vec<_>, _>>()` stops at the first error, and `Reader::new(file).flatten()` ignores
//! errors. The caller chooses.
//!
//! # The format in practice
//!
//! No two producers write quite the same. The chapter [`practice`] lists the deviations in files and the rules of this crate.
//!
//! # Loaders
//!
//! The second layer [`raw`] has what a loader of large files needs beyond records.
#![deny(missing_docs)]

mod base_rule;
mod call_balance;
mod compound;
mod context;
mod cost;
mod error;
mod factor;
mod foreign;
mod grammar;
mod id_table;
mod intern;
mod joined;
mod lanes;
mod line_end;
mod lint;
mod location;
mod name;
mod name_spaces;
mod numbering;
mod packed_range;
mod part;
mod position;
#[doc = include_str!("practice.md")]
pub mod practice {}
mod producer;
pub mod raw;
mod reader;
mod record;
mod repair;
mod rewrite;
mod scan;
mod shape;
mod shown;
mod spell;
mod style;
mod survey;
mod wholeness;
mod writer;

pub use call_balance::{CallBalance, CallFault};
pub use cost::{Cost, CostFault, CostIter, Costs, is_in_range};
pub use error::{Error, ErrorKind, Foreign};
pub use joined::{JoinSign, JoinedPart, JoinedParts, says_its_file};
pub use line_end::LineEnd;
pub use lint::{Finding, Lint, RULES, Rule, Severity};
pub use location::Location;
pub use name::{FunctionName, Name, NameKey, NameSpace};
pub use position::{Columns, MAX_COLUMNS, PositionKind, Positions};
pub use producer::{Producer, ProducerEvidence, ProducerKind, Recording};
pub use reader::{Reader, ReadingMode};
pub use record::{
    Calls, CostLine, CostRole, EventDefinition, Header, Jump, Line, NumbersKey, Record, Spelling, WordIter,
    Words,
};
pub use repair::{Change, ChangeKind, Repaired, repair};
pub use rewrite::Rewrite;
pub use style::{NameStyle, PositionStyle};
pub use survey::{Counts, EventType, PartHeaderSurvey, PartSurvey, Survey};
pub use wholeness::{CutSign, PartEnd, Shortfall, is_near_end};
pub use writer::{RecurringNames, Writer};

/// The examples of the README run as they stand.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
