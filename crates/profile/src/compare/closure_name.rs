//! Names of closures in all languages.

use std::borrow::Cow;

use gristmill_format::FunctionName;
use memchr::memmem;

use crate::symbol::readable;

/// The starts of names of closures: in PHP and Rust, Rust, C++, Python, JavaScript, Swift, Java and Perl.
const MARKS: [&str; 12] = [
    "{closure",
    "{{closure",
    "{lambda",
    "<lambda>",
    "<genexpr>",
    "<listcomp>",
    "<setcomp>",
    "<dictcomp>",
    "(anonymous)",
    "closure #",
    "lambda$",
    "__ANON__",
];

/// The same of those that a digit follows: lambdas in symbols of clang, and functions of Go.
const NUMBERED_MARKS: [&str; 4] = ["::$_", ".func", ".gowrap", ".deferwrap"];

/// `true` if a name is that of a closure, mangled or not.
pub(crate) fn is_closure(name: &[u8]) -> bool {
    mark(name).is_some() || name.starts_with(b"_") && mark(base_name(name).as_bytes()).is_some()
}

/// Returns the place at which a name says that it is a closure.
fn mark(name: &[u8]) -> Option<usize> {
    let plain = MARKS.iter().filter_map(|mark| memmem::find(name, mark.as_bytes()));
    let numbered = NUMBERED_MARKS.iter().filter_map(|mark| {
        let is_numbered = |at: &usize| name.get(at + mark.len()).is_some_and(u8::is_ascii_digit);
        memmem::find_iter(name, mark.as_bytes()).find(is_numbered)
    });
    plain.chain(numbered).min()
}

/// Returns the demangled name of a function without recursion level and callers.
pub(super) fn base_name(name: &[u8]) -> Cow<'_, str> {
    readable(FunctionName::parse(name).base())
}

/// Returns the name of the function that a closure is in.
pub(super) fn around_closure(name: &str) -> &str {
    let around = mark(name.as_bytes()).map_or(name, |at| &name[..at]);
    around.strip_suffix("::").unwrap_or(around)
}
