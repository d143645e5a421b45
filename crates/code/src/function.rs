//! Functions: named ranges of code.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use crate::demangle::demangle;

/// A range of code that belongs together, with its name if the file has one.
///
/// ```
/// # use gristmill_code::{Binary, FileSystem, Locator};
/// # fn run() -> Result<(), gristmill_code::Error> {
/// let binary = Binary::open("/usr/bin/true", &Locator::new(FileSystem))?;
/// for function in binary.functions() {
///     println!("{:#x} {}", function.range().start, function.readable_name().unwrap_or("?".into()));
/// }
/// # Ok(())
/// # }
/// # let _ = run();
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Function<'a> {
    pub(crate) range: Range<u64>,
    pub(crate) name: Option<&'a [u8]>,
    pub(crate) origin: FunctionOrigin,
}

/// The table that a [`Function`] was found in. See its example.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FunctionOrigin {
    /// The symbol table, of the file or of its separate debug information.
    Symbols,
    /// The symbols for the dynamic linker, which a stripped file still has.
    DynamicSymbols,
    /// The stubs through which a file calls functions of others.
    Stubs,
    /// The tables for unwinding, which have ranges but no names.
    Unwinding,
}

impl<'a> Function<'a> {
    /// Returns its addresses.
    pub fn range(&self) -> Range<u64> {
        self.range.clone()
    }

    /// Returns the name in the file, mangled. `None` if the file has only the range.
    pub fn raw_name(&self) -> Option<&'a [u8]> {
        self.name
    }

    /// Returns the name in the file, mangled, as text.
    pub fn name(&self) -> Option<Cow<'a, str>> {
        self.name.map(String::from_utf8_lossy)
    }

    /// Returns the name to show, demangled.
    pub fn readable_name(&self) -> Option<String> {
        let name = self.name?;
        Some(demangle(name).unwrap_or_else(|| String::from_utf8_lossy(name).into_owned()))
    }

    /// Returns the table that it was found in.
    pub fn origin(&self) -> FunctionOrigin {
        self.origin
    }
}

impl fmt::Debug for Function<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name().unwrap_or(Cow::Borrowed("?"));
        write!(f, "{name} {:#x}..{:#x} ({:?})", self.range.start, self.range.end, self.origin)
    }
}
