//! Source lines and chains of inlined functions, as users get them.

use std::fmt;
use std::sync::Arc;

use crate::demangle::demangle;

/// A line of a source file.
///
/// ```
/// use std::sync::Arc;
/// use gristmill_code::SourceLine;
///
/// let line = SourceLine { file: Some(Arc::from("/srv/mill.c")), line: Some(12), column: None };
/// assert_eq!(line.to_string(), "/srv/mill.c:12");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct SourceLine {
    /// The path of the file, as the compiler wrote it after the directory in which it ran.
    pub file: Option<Arc<str>>,
    /// The line, from 1. `None` for code that belongs to no line.
    pub line: Option<u32>,
    /// The column, from 1. `None` if there is none.
    pub column: Option<u32>,
}

impl fmt::Display for SourceLine {
    /// Writes file and line, `?` for what is unknown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.file.as_deref().unwrap_or("?"))?;
        match self.line {
            Some(line) => write!(f, ":{line}"),
            None => f.write_str(":?"),
        }
    }
}

/// One function of a chain: the innermost is the one whose code runs, each other one is where the one before it was inlined.
///
/// See the example of [`Binary::frames`](crate::Binary::frames).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    function: Option<Arc<str>>,
    source: SourceLine,
    is_inlined: bool,
}

impl Frame {
    pub(crate) fn new(function: Option<Arc<str>>, source: Option<SourceLine>, is_inlined: bool) -> Self {
        Self { function, source: source.unwrap_or_default(), is_inlined }
    }

    pub(crate) fn set_function(&mut self, name: Arc<str>) {
        self.function = Some(name);
    }

    /// Returns the name of the function as the linker knows it, mangled. `None` if it is unknown.
    pub fn function(&self) -> Option<&str> {
        self.function.as_deref()
    }

    /// Returns the name of the function as the linker knows it. Frames share it, so that its address tells equal names.
    pub fn shared_function(&self) -> Option<&Arc<str>> {
        self.function.as_ref()
    }

    /// Returns the name of the function to show, demangled.
    pub fn readable_function(&self) -> Option<String> {
        self.function().map(|name| demangle(name.as_bytes()).unwrap_or_else(|| name.to_owned()))
    }

    /// Returns the line of this function: of the code, or of the call that was inlined.
    pub fn source(&self) -> &SourceLine {
        &self.source
    }

    /// Returns `true` if the function was inlined into the next one of the chain.
    pub fn is_inlined(&self) -> bool {
        self.is_inlined
    }
}
