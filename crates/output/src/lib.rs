#![doc = include_str!("../README.md")]
#![deny(missing_docs)]

pub mod csv;
pub mod github;
pub mod html;
pub mod json;
mod look;
pub mod markdown;
mod number;
mod printable;
pub mod sarif;
pub mod source;
mod table;
mod unit;
pub mod wrap;

pub use look::{Look, Painted, Painter};
pub use number::{bar, byte_size, grouped, percent, percent_number};
pub use printable::{io_reason, lossy, printable, printable_bytes, printable_line, printable_path};
pub use table::{Align, Cell, Column, Table};
pub use unit::CostUnit;
