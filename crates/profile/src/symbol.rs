//! What a function's name says.
//!
//! A name in a profile may be three things in one: the name, the level of its recursion (`fib'2`), and its callers
//! (`fib'main'(below main)`); [`FunctionName`] takes these apart. Then the name itself may be as the compiler made it, and
//! it has its place in a class or namespace, which each language writes in its own way. All of this is a reading of the
//! text: nothing in a profile says in which language a function was written.

mod chain;
mod demangle;
mod scope;
mod shorten;
mod tests;

use std::borrow::Cow;

use gristmill_format::FunctionName;

pub use chain::{ChainName, Chains};
pub use demangle::demangle;
pub use scope::{own_name, scope};
pub use shorten::shorten;

/// A function's name, read.
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
    /// Reads a name.
    pub fn parse(name: &'a [u8]) -> Self {
        let parts = FunctionName::parse(name);
        Symbol { parts, text: readable(parts.base()) }
    }

    /// Name, recursion level and callers, as they are in the file.
    pub fn parts(&self) -> FunctionName<'a> {
        self.parts
    }

    /// The name without recursion level and callers, demangled. Bytes that are no text are replaced.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The class or namespace. See [`scope()`].
    pub fn scope(&self) -> Option<&str> {
        scope(&self.text)
    }

    /// The name without class, arguments and return type. See [`own_name()`].
    pub fn own_name(&self) -> &str {
        own_name(&self.text)
    }

    /// The name to be shown: demangled, with recursion level and callers as the file has them.
    pub fn shown(&self) -> String {
        let mut shown = self.text.to_string();
        if let Some(level) = self.parts.recursion() {
            shown.push_str(&format!("'{level}"));
        }
        for caller in self.parts.callers() {
            shown.push('\'');
            shown.push_str(&readable(caller));
        }
        shown
    }
}

fn readable(name: &[u8]) -> Cow<'_, str> {
    demangle(name).map_or_else(|| String::from_utf8_lossy(name), Cow::Owned)
}

/// Whether a piece of a name is the level of the caller before it, and none itself.
fn is_level(piece: &[u8]) -> bool {
    !piece.is_empty() && piece.iter().all(u8::is_ascii_digit)
}

/// The name that all levels of a recursion have in common: `fib'2'main` becomes `fib'main`. Levels of callers go as
/// well.
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

/// The name without its callers: `fib'2'main` becomes `fib'2`.
pub fn fold_callers(name: &[u8]) -> &[u8] {
    let parts = FunctionName::parse(name);
    let Some(first) = parts.callers().next() else { return name };
    // What comes after the base is `'2'caller` or `'caller`; the callers begin after their own quote.
    let base = parts.base().len();
    let level = match parts.recursion() {
        Some(_) => 1 + name[base + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count(),
        None => 0,
    };
    debug_assert!(name[base + level + 1..].starts_with(first));
    &name[..base + level]
}
