//! Errors, each with the name of its file.

use std::fmt;

use crate::Architecture;

/// An error with the name of the file that it is about.
///
/// ```
/// use gristmill_code::{Binary, ErrorKind};
///
/// let error = Binary::from_bytes("mill", b"#!/bin/sh\n".to_vec()).unwrap_err();
/// assert!(matches!(error.kind(), ErrorKind::NotAnObject(_)));
/// assert_eq!(error.to_string(), "mill: not an object file: Could not read file magic");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    file: String,
    kind: ErrorKind,
}

/// The reason of an [`Error`]. See its example.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// No such file, under none of the paths that were tried.
    NotFound {
        /// The paths, in the order in which they were tried.
        tried: Vec<String>,
    },
    /// The file cannot be read.
    Unreadable(String),
    /// The file is not an object file, or its headers are damaged.
    NotAnObject(String),
    /// The file was not linked: its addresses mean nothing yet.
    NotLinked,
    /// A part of the file is damaged.
    Damaged {
        /// The section or table.
        part: String,
        /// The reason.
        reason: String,
    },
    /// A section would be out of proportion to the file once it is expanded.
    TooLarge {
        /// The section.
        part: String,
        /// Its expanded size in bytes, as the file states it.
        bytes: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// No decoder knows the instructions.
    NoDecoder(Architecture),
    /// There is no code at an address.
    NoCode {
        /// The address.
        address: u64,
    },
}

impl Error {
    pub(crate) fn new(file: &str, kind: ErrorKind) -> Self {
        Self { file: file.to_owned(), kind }
    }

    pub(crate) fn damaged(file: &str, part: &str, reason: impl fmt::Display) -> Self {
        Self::new(file, ErrorKind::Damaged { part: part.to_owned(), reason: reason.to_string() })
    }

    /// Returns the name of the file.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Returns the reason.
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.file)?;
        match &self.kind {
            ErrorKind::NotFound { tried } => write!(f, "no such file; tried {}", tried.join(", ")),
            ErrorKind::Unreadable(reason) => write!(f, "cannot read it: {reason}"),
            ErrorKind::NotAnObject(reason) => write!(f, "not an object file: {reason}"),
            ErrorKind::NotLinked => {
                write!(f, "not linked: only programs and shared libraries have addresses")
            }
            ErrorKind::Damaged { part, reason } => write!(f, "{part} is damaged: {reason}"),
            ErrorKind::TooLarge { part, bytes, limit } => {
                write!(f, "{part} expands to {bytes} bytes, more than the limit of {limit} for this file")
            }
            ErrorKind::NoDecoder(architecture) => write!(f, "no decoder for instructions of {architecture}"),
            ErrorKind::NoCode { address } => write!(f, "no code at address {address:#x}"),
        }
    }
}

impl std::error::Error for Error {}
