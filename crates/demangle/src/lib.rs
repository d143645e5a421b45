//! Mangled names of C++ and Rust, demangled within limits of time, stack and memory.
//!
//! ```
//! use gristmill_demangle::Mangled;
//!
//! let name = Mangled::of(b"_ZN5stone5crushEv").and_then(Mangled::demangle);
//! assert_eq!(name.as_deref(), Some("stone::crush()"));
//! ```
#![deny(missing_docs)]

mod bounded_text;
mod cpp;
mod mangled;

pub use mangled::{MAX_MANGLED_BYTES, Mangled, RUST_HASH_DIGITS, rust_hash};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
