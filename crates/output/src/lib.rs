//! The parts that every output of Gristmill is made of: [harmless text](printable()), [numbers](grouped), [tables](Table),
//! [colours](Painter), escaping for [`html`], [`markdown`], [`csv`] and [`github`], and [`json`] documents with schemas.
//!
//! The crate knows nothing of profiles. It does no I/O except to the sinks that it is given.
//!
//! ```
//! use gristmill_output::{Cell, Column, Look, Table, grouped, percent, printable};
//!
//! let table = Table {
//!     columns: vec![Column::number("Self"), Column::number("Share"), Column::text("Function")],
//!     rows: vec![vec![
//!         Cell::number(60_012, grouped(60_012)),
//!         Cell::new(percent(60_012, 85_123)),
//!         Cell::new(printable(b"sieve\x1b[2J")),
//!     ]],
//! };
//! let mut text = Vec::new();
//! table.write_text(&Look::plain(80), &mut text)?;
//! assert_eq!(String::from_utf8_lossy(&text), "  Self  Share  Function\n60,012  70.5%  sieve\\x1b[2J\n");
//! # Ok::<(), std::io::Error>(())
//! ```
#![deny(missing_docs)]

pub mod csv;
pub mod github;
pub mod html;
pub mod json;
mod log_command;
mod look;
pub mod markdown;
mod number;
mod padded;
mod printable;
pub mod sarif;
mod shell;
pub mod source;
mod table;
mod unit;
pub mod wrap;

pub use log_command::begins_log_command;
pub use look::{Look, Painted, Painter, Tone};
pub use number::{bar, byte_size, grouped, in_words, percent, percent_number};
pub use padded::Padded;
pub use printable::{
    PrintableWriter, io_reason, lossy, printable, printable_bytes, printable_line, printable_lines,
    printable_path,
};
pub use shell::shell_word;
pub use table::{Align, Aligned, Cell, Column, LazyTable, Table};
pub use unit::CostUnit;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
