//! Names of functions: demangling, scopes, recursion levels and callers in names.
//!
//! A name in a profile has up to three parts: the name itself, the level of its recursion (`fib'2`), and its callers
//! (`fib'main'(below main)`); [`FunctionName`] takes them apart. The name itself can be mangled, and it has a class or namespace,
//! which each language writes in its own way. All of this is read from the text: a profile does not say in which language a
//! function was written.

mod chain;
mod demangle;
mod labels;
mod places;
mod scope;
mod shorten;
mod tests;

use std::borrow::Cow;

use gristmill_format::FunctionName;

pub(crate) use chain::has_callers;
pub use chain::{ChainName, Chains};
pub use demangle::{demangle, left_out, rust_hash};
pub use labels::{Label, PlaceForm, fit_labels, is_mark_of};
pub use places::{normal_path, places, shorten_path, shorten_paths};
pub use scope::{own_name, scope};
pub use shorten::{Fitted, shorten};

/// The parsed name of a function.
///
/// ```
/// use gristmill_profile::symbol::Symbol;
///
/// let symbol = Symbol::parse(b"_ZN4Mill5grindEi'2'main");
/// assert_eq!(symbol.text(), "Mill::grind(int)");
/// assert_eq!(symbol.scope(), Some("Mill"));
/// assert_eq!(symbol.own_name(), "grind");
/// assert_eq!(symbol.parts().recursion(), Some(2));
/// assert_eq!(symbol.shown(), "Mill::grind(int)'2'main");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol<'a> {
    parts: FunctionName<'a>,
    text: Cow<'a, str>,
}

impl<'a> Symbol<'a> {
    /// Parses a name.
    pub fn parse(name: &'a [u8]) -> Self {
        let parts = FunctionName::parse(name);
        Symbol { parts, text: readable(parts.base()) }
    }

    /// Returns name, recursion level and callers as the file has them.
    pub fn parts(&self) -> FunctionName<'a> {
        self.parts
    }

    /// Returns the demangled name without recursion level and callers. Bytes that are not UTF-8 are replaced.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the end that demangling leaves out of a name with its recursion level and callers. See [`left_out()`].
    pub fn left_out_of(name: &'a [u8]) -> &'a str {
        left_out(FunctionName::parse(name).base())
    }

    /// Returns the class or namespace. See [`scope()`].
    pub fn scope(&self) -> Option<&str> {
        scope(&self.text)
    }

    /// Returns the name without class, arguments and return type. See [`own_name()`].
    pub fn own_name(&self) -> &str {
        own_name(&self.text)
    }

    /// Returns the name to show: demangled, with recursion level and callers as the file has them.
    pub fn shown(&self) -> String {
        let mut shown = self.text.to_string();
        if let Some(level) = self.parts.recursion() {
            shown.push_str(&format!("'{level}"));
        }
        // A list that grows may be twice as long, and so may a name.
        shown.reserve_exact(self.parts.callers().map(|caller| 1 + caller.len()).sum());
        for caller in self.parts.callers() {
            shown.push('\'');
            shown.push_str(&readable(caller));
        }
        shown
    }
}

/// Returns a demangled name. Bytes that are not UTF-8 are replaced.
pub(crate) fn readable(name: &[u8]) -> Cow<'_, str> {
    demangle(name).map_or_else(|| String::from_utf8_lossy(name), Cow::Owned)
}

/// Returns `true` if a part of a name is the level of the caller before it, and not a caller.
fn is_level(part: &[u8]) -> bool {
    !part.is_empty() && part.iter().all(u8::is_ascii_digit)
}

/// Removes the levels of recursion from a name, also those of callers: `fib'2'main` becomes `fib'main`.
///
/// ```
/// use gristmill_profile::symbol::fold_recursion;
///
/// assert_eq!(&*fold_recursion(b"fib'2'main"), b"fib'main");
/// ```
pub fn fold_recursion(name: &[u8]) -> Cow<'_, [u8]> {
    let parts = FunctionName::parse(name);
    if parts.recursion().is_none() && !parts.callers().any(is_level) {
        return Cow::Borrowed(name);
    }
    let mut folded = parts.base().to_vec();
    for caller in parts.callers().filter(|caller| !is_level(caller)) {
        folded.push(b'\'');
        folded.extend_from_slice(caller);
    }
    Cow::Owned(folded)
}

/// Removes the callers from a name: `fib'2'main` becomes `fib'2`.
///
/// ```
/// use gristmill_profile::symbol::fold_callers;
///
/// assert_eq!(fold_callers(b"fib'2'main"), b"fib'2");
/// ```
pub fn fold_callers(name: &[u8]) -> &[u8] {
    let parts = FunctionName::parse(name);
    let Some(first) = parts.callers().next() else { return name };
    // `'2'caller` or `'caller` follows the base; the callers begin after their own quote.
    let base = parts.base().len();
    let level = match parts.recursion() {
        Some(_) => 1 + name[base + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count(),
        None => 0,
    };
    debug_assert!(name[base + level + 1..].starts_with(first));
    &name[..base + level]
}

/// Returns the function of a demangled name, without the level of its recursion and without callers.
///
/// ```
/// use gristmill_profile::symbol::function_base;
///
/// let names = ["gen::collatz'2'gen::main", "main", "A::'lambda'(int)"];
/// assert_eq!(names.map(function_base), ["gen::collatz", "main", "A::'lambda'(int)"]);
/// ```
pub fn function_base(name: &str) -> &str {
    let base = FunctionName::parse(name.as_bytes()).base().len();
    // `A::'lambda'(int)` has no callers.
    if base == 0 || name[..base].ends_with("::") { name } else { &name[..base] }
}

/// Tests a name without its callers: the function itself, and the function with the level of its recursion. If the text that a
/// person looks for has a quote, which comes before levels and callers, all of the name is tested, too.
///
/// ```
/// use gristmill_profile::symbol::matches_function;
///
/// let is = |text: &'static str| matches_function("fib'2'main", text, |function| function == text);
/// assert!(is("fib") && is("fib'2") && is("fib'2'main") && !is("main"));
/// ```
pub fn matches_function(name: &str, text: &str, test: impl Fn(&str) -> bool) -> bool {
    let base = function_base(name);
    if base == name {
        return test(name);
    }
    let function = &name[..fold_callers(name.as_bytes()).len()];
    test(base) || function != base && test(function) || function != name && names_callers(text) && test(name)
}

/// `true` for a text that a person looks for if it has a quote: it may name the level of a recursion, or callers.
pub fn names_callers(text: &str) -> bool {
    text.contains('\'')
}
