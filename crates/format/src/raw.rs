//! The second layer, for loaders: what a program needs beyond records to read large files fast and in parallel.
//!
//! Most programs need only [`Reader`](crate::Reader) and its records. A loader also begins in the middle of a file, sums up
//! most lines without making records of them, and keeps names as ids of its own. This module has what it needs for
//! that:
//!
//! | item | is |
//! |---|---|
//! | [`Skim`] | the receiver of lines that do not become records: see [`Reader::skim`](crate::Reader::skim) |
//! | [`Resumption`] | the state of a reader in the middle of a file: see [`Reader::resume`](crate::Reader::resume) |
//! | [`NameContext`], [`CarriedName`] | the object, file and function that hold at a location |
//! | [`IdTable`], [`NameSpaces`] | values by name id, and values by name space |
//! | [`PackedRange`], [`UnpackedRange`] | the byte range of a name in eight bytes |
//! | [`expand_compound_name`], [`is_compound_name`] | names made of references to others |
//! | [`Factor`] | the factor of a term in the formula of a derived event type |
//! | [`LineTerminator`] | line ends: `\n`, `\r\n`, `\r` of old Macs |
//! | [`BaseRule`], [`is_relative_position`] | relative positions: when they are such, and what they count from; the file behind a call |
//! | [`name_value_range`] | the value of a name line, for messages about it |
//!
//! # Each rule once
//!
//! Reader, writer, lint, repair and the loader of `gristmill-profile` share these items, so each rule of the format has one
//! place. A dialect that deviates in syntax is a change there, and tests beside it:
//!
//! | the dialect deviates in | change |
//! |---|---|
//! | keys, or the outer form of a line | `shape.rs`, then the line's function in `reader/line.rs` |
//! | header lines (`Header::Other` so far) | `record.rs`, `shape.rs`, `reader/line.rs`; the compiler leads to `spell.rs`, `lint/header.rs` and others, a search for `Header::Other` to the rest |
//! | what a name line means for later lines | `context.rs` |
//! | the spelling of names and name ids | `name.rs`, `compound.rs` |
//! | the spelling of positions | `position.rs` |
//! | what relative positions count from, and the file behind a call | `base_rule.rs`, `context.rs` |
//! | the spelling of costs | `cost.rs` |
//! | factors in formulas of event types | `factor.rs` |
//! | line ends | `line_end.rs` |
//! | where a part begins | `part.rs` |
//!
//! Lines of the usual form take a second, faster way (`reader/usual.rs`, `reader/skim.rs`). It declines every form that
//! it does not know, so a new form needs no change there.

pub use crate::base_rule::BaseRule;
pub use crate::compound::expand_compound_name;
pub use crate::context::{CarriedName, NameContext};
pub use crate::factor::Factor;
pub use crate::id_table::IdTable;
pub use crate::line_end::LineTerminator;
pub use crate::name::{is_compound_name, name_value_range};
pub use crate::name_spaces::NameSpaces;
pub use crate::packed_range::{PackedRange, UnpackedRange};
pub use crate::position::is_relative_position;
pub use crate::reader::{Resumption, Skim};
