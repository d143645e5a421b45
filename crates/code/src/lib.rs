//! The machine code and debug information of programs: from an address or a function to its symbol, source line, chain of inlined functions and instructions.
//!
//! A [`Binary`] is a program or library, found by a [`Locator`] that opens files through a [`FileSource`] of the caller. [`Matching`] tells whether
//! it is the one that was recorded.
//!
//! ```no_run
//! use gristmill_code::{Binary, FileSystem, Locator, Syntax};
//!
//! let locator = Locator::new(FileSystem).debug_directory(Locator::SYSTEM_DEBUG_DIRECTORY);
//! let binary = Binary::open("target/release/mill", &locator)?;
//! for function in binary.functions_named("mill::grind") {
//!     for instruction in binary.instructions(function.range(), Syntax::Att)? {
//!         let chain = binary.frames(instruction.address())?;
//!         let line = chain.first().map(|frame| frame.source().to_string()).unwrap_or_default();
//!         println!("{:x}  {instruction}  {line}", instruction.address());
//!     }
//! }
//! # Ok::<(), gristmill_code::Error>(())
//! ```
//!
//! # How it is read
//!
//! 1. [`Locator`] finds the file and what belongs to it; `Image` parses the headers of one file.
//! 2. `symbols` lists functions: symbols, stubs (`puts@plt`), and tables for unwinding where there is no symbol.
//! 3. `debug_info` reads DWARF: units, the functions inlined in each, and lines. The drawing is at the top of that file.
//! 4. [`Instructions`] decodes, with a decoder for each architecture.
//!
//! Addresses are those of the file, as the linker has set them: what `objdump` and `nm` print. [`Matching`] translates addresses of a
//! profile.
//!
//! # Bad input
//!
//! Nothing in a file makes the crate panic, loop or use memory out of proportion: no recursion follows the nesting of a file, the sum of
//! all tables of DWARF is limited by the size of its sections, and a compressed section may expand to 128 times its size. A damaged part is an
//! [`Error`] that names file and part. A file that is changed while it is mapped is what remains: see [`FileSystem`].
#![deny(missing_docs)]

mod architecture;
mod binary;
mod debug_info;
mod demangle;
mod disassembler;
mod error;
mod file_bytes;
mod file_source;
mod file_system;
mod frame;
mod function;
mod image;
mod instruction;
mod intervals;
mod locator;
mod matching;
mod separate;
mod symbols;

pub use architecture::Architecture;
pub use binary::Binary;
pub use demangle::demangle;
pub use disassembler::Instructions;
pub use error::{Error, ErrorKind};
pub use file_bytes::{FileBytes, WeakFileBytes};
pub use file_source::{BuildId, FileSource, Wanted};
pub use file_system::FileSystem;
pub use frame::{Frame, SourceLine};
pub use function::{Function, FunctionOrigin};
pub use instruction::{ControlFlow, Instruction, Syntax};
pub use locator::{FoundFile, Locator};
pub use matching::{Agreement, Matching, ProfileLine};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
