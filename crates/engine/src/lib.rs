//! An engine that runs a program and counts its instructions: exact costs by function, instruction and line, and exact calls, as
//! Callgrind has them, at a fraction of the time.
//!
//! It is a binary translator for programs of the processor that it runs on, x86-64 under Linux, inside the process of the program. Each
//! block of the program is copied with an increment; branches are replaced by code that goes to other translated blocks, calls and returns
//! by code that keeps a stack of calls. The processor never runs the program's own code.
//!
//! ```text
//! run        the start: checks, memory, the program loaded as the kernel does
//! switch     into translated code and out of it
//! engine     translation, decisions whenever translated code cannot go on, signals, and the profile at the end
//! contexts   functions, what runs on behalf of what, calls
//! ```
//!
//! A program that it cannot run is [refused](check) with a reason. If that turns out later, the recording ends with a message and the
//! profile so far.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]
#![deny(missing_docs)]

mod address_space;
mod arena;
mod asm;
mod block;
mod choices;
mod contexts;
mod cpuid;
mod elf;
mod engine;
mod inherited;
mod invocation;
mod lines;
mod loader;
mod lock;
mod memory;
mod objects;
mod options;
mod raw;
mod refusal;
mod run;
mod sanitizers;
mod state;
mod switch;
mod symbols;
mod threads;
mod vsyscall;

pub use choices::{Choice, Choices};
pub use inherited::{Inherited, Limit};
pub use invocation::Invocation;
pub use options::{Client, Options};
pub use refusal::Refusal;
pub use run::{can_wake, check, copy_of_standard_error, environment, run, run_unrecorded, unrecorded, wake};
