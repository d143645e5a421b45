//! Names that look like those of real programs: C, long C++ and Rust, and the bare addresses of stripped objects.

use std::fmt::Write as _;

use super::prng::Prng;

const FUNCTION: u64 = 1;
const FILE: u64 = 2;
const OBJECT: u64 = 3;

const VERBS: &[&str] = &[
    "alloc", "build", "check", "clear", "close", "compare", "copy", "decode", "drop", "emit", "encode",
    "expand", "fetch", "find", "flush", "fold", "free", "get", "hash", "init", "insert", "intern", "lookup",
    "mark", "merge", "next", "open", "parse", "pop", "push", "read", "reduce", "release", "remove", "resize",
    "resolve", "scan", "set", "shift", "sort", "split", "trim", "update", "visit", "walk", "write",
];
const NOUNS: &[&str] = &[
    "arena", "array", "attr", "block", "bucket", "buffer", "cache", "chain", "chunk", "cursor", "dict",
    "edge", "entry", "expr", "field", "file", "frame", "graph", "group", "header", "heap", "index", "item",
    "key", "label", "line", "list", "locale", "lock", "map", "module", "name", "node", "object", "page",
    "path", "pool", "queue", "range", "record", "scope", "set", "slot", "span", "stack", "state", "stream",
    "string", "symbol", "table", "token", "tree", "type", "value", "vector", "window",
];
const SPACES: &[&str] =
    &["mill", "grist", "stone", "hopper", "sieve", "bolter", "std", "core", "detail", "impl"];
const TYPES: &[&str] = &[
    "int",
    "char",
    "unsigned long",
    "double",
    "bool",
    "void",
    "std::string",
    "mill::Token",
    "grist::Record",
    "std::pair<unsigned long, double>",
    "std::basic_string<char, std::char_traits<char>, std::allocator<char> >",
    "std::vector<int, std::allocator<int> >",
    "stone::Node<grist::Record>*",
    "hopper::detail::Slot const&",
];
const FOLDERS: &[&str] =
    &["src", "lib", "core", "include/mill", "runtime", "parse", "tree", "./nptl/.", "sysdeps/x86_64"];

/// The name of function `index`. `address` names it when the object has no symbols.
pub(crate) fn function(seed: u64, index: u64, stripped: bool, address: u64, name: &mut String) {
    name.clear();
    if stripped {
        let _ = write!(name, "{address:#018x}");
        return;
    }
    let mut prng = Prng::for_item(seed, FUNCTION, index);
    match prng.below(100) {
        0..62 => plain(&mut prng, index, name),
        62..84 => method(&mut prng, index, name),
        84..96 => template(&mut prng, index, 2, name),
        96..98 => template(&mut prng, index, 4, name),
        _ => trait_method(&mut prng, index, name),
    }
}

fn plain(prng: &mut Prng, index: u64, name: &mut String) {
    if prng.percent(25) {
        name.push('_');
    }
    let _ = write!(name, "{}_{}_{index:x}", prng.pick(VERBS), prng.pick(NOUNS));
    if prng.percent(8) {
        name.push_str("@@GLIBC_2.34");
    } else if prng.percent(8) {
        name.push_str(".constprop.0");
    }
}

fn method(prng: &mut Prng, index: u64, name: &mut String) {
    let (space, class, verb, noun) =
        (prng.pick(SPACES), prng.pick(NOUNS), prng.pick(VERBS), prng.pick(NOUNS));
    let _ = write!(name, "{space}::{class}_{index:x}::{verb}_{noun}(");
    parameters(prng, 3, name);
    name.push(')');
    if prng.percent(40) {
        name.push_str(" const");
    }
}

fn template(prng: &mut Prng, index: u64, depth: u64, name: &mut String) {
    name.push_str(prng.pick(TYPES));
    let _ = write!(name, " {}::{}_{index:x}", prng.pick(SPACES), prng.pick(VERBS));
    arguments(prng, depth, name);
    name.push('(');
    parameters(prng, 3, name);
    let _ = write!(name, ")::{{lambda({})#1}}::operator()() const", prng.pick(TYPES));
}

fn trait_method(prng: &mut Prng, index: u64, name: &mut String) {
    let (space, noun) = (prng.pick(SPACES), prng.pick(NOUNS));
    let _ = write!(name, "<{space}::{noun}::Sieve<'a, T> as {}::Visit_{index:x}<'a>>::", prng.pick(SPACES));
    let _ = write!(name, "{}_{}", prng.pick(VERBS), prng.pick(NOUNS));
}

fn arguments(prng: &mut Prng, depth: u64, name: &mut String) {
    name.push('<');
    for argument in 0..prng.between(1, 3) {
        if argument > 0 {
            name.push_str(", ");
        }
        if depth > 0 && prng.percent(60) {
            let _ = write!(name, "{}::{}", prng.pick(SPACES), prng.pick(NOUNS));
            arguments(prng, depth - 1, name);
        } else {
            name.push_str(prng.pick(TYPES));
        }
    }
    name.push_str(" >");
}

fn parameters(prng: &mut Prng, at_most: u64, name: &mut String) {
    for parameter in 0..prng.below(at_most + 1) {
        if parameter > 0 {
            name.push_str(", ");
        }
        name.push_str(prng.pick(TYPES));
    }
}

/// The name of source file `index`.
pub(crate) fn file(seed: u64, index: u64, header: bool, name: &mut String) {
    name.clear();
    let mut prng = Prng::for_item(seed, FILE, index);
    if !header && prng.percent(10) {
        // What debug information without a folder gives.
        let _ = write!(name, "{}_{index:x}.c", prng.pick(NOUNS));
        return;
    }
    let _ = write!(name, "/srv/demo/mill/{}/{}", prng.pick(FOLDERS), prng.pick(NOUNS));
    let _ = write!(name, "_{index:x}.{}", if header { "h" } else { prng.pick(&["c", "cc", "cpp", "rs"]) });
}

/// The name of object `index`; object 0 is the program itself.
pub(crate) fn object(seed: u64, index: u64, name: &mut String) {
    name.clear();
    let mut prng = Prng::for_item(seed, OBJECT, index);
    if index == 0 {
        name.push_str("/srv/demo/bin/mill");
    } else {
        let _ = write!(
            name,
            "/srv/demo/lib/x86_64-linux-gnu/lib{}{index}.so.{}",
            prng.pick(NOUNS),
            prng.between(1, 9)
        );
    }
}
