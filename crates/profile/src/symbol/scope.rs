//! Scopes: the class or namespace of a function, and its own name.
//!
//! | language | name | scope | own name |
//! |---|---|---|---|
//! | C++ | `void A<B::C>::f<int>(D::E) const` | `A<B::C>` | `f<int>` |
//! | Rust | `<a::B<T> as c::D>::f::{{closure}}` | `a::B<T>` | `f::{{closure}}` |
//! | Rust | `a::{impl#0}::f` | `a::{impl#0}` | `f` |
//! | PHP | `A\B->f`, `A\B::f` | `A\B` | `f` |
//! | Java, C#, Python | `a.b.C.f(int)` | `a.b.C` | `f` |
//! | Python, by yappi | `f a.b:12` | `a.b` | `f` |
//! | Go | `a.b/c.(*D).f.func1` | `a.b/c.(*D)` | `f.func1` |
//! | Ruby | `A::B#f` | `A::B` | `f` |
//! | Objective-C | `-[A f:]` | `A` | `f:` |
//! | Erlang | `{a,f,2}` | `a` | `f,2` |
//!
//! A suffix that a compiler adds after a dot (`f.cold`, `f.constprop.0`) is not a scope.

use std::ops::Range;

/// Returns the class or namespace in the name of a function.
///
/// ```
/// use gristmill_profile::symbol::scope;
///
/// assert_eq!(scope("void std::sort<A::B*>(A::B*, A::B*)"), Some("std"));
/// assert_eq!(scope("<alloc::vec::Vec<T> as Drop>::drop"), Some("alloc::vec::Vec<T>"));
/// assert_eq!(scope("main"), None);
/// ```
pub fn scope(name: &str) -> Option<&str> {
    let scope = &name[Anatomy::parse(name).scope];
    (!scope.is_empty()).then_some(scope)
}

/// Returns the name of a function without scope, arguments and return type.
///
/// ```
/// use gristmill_profile::symbol::own_name;
///
/// assert_eq!(own_name("void std::sort<A::B*>(A::B*, A::B*)"), "sort<A::B*>");
/// assert_eq!(own_name("App\\Model->save"), "save");
/// ```
pub fn own_name(name: &str) -> &str {
    &name[Anatomy::parse(name).own]
}

/// The limit of names that are parsed, in bytes. Nobody reads longer ones.
const MAX_NAME_BYTES: usize = 1 << 16;

/// The ranges of the parts of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Anatomy {
    /// Scope, own name, and what separates them.
    pub(super) qualified: Range<usize>,
    /// The scope, empty if there is none. In Rust it can be inside of a larger one.
    pub(super) scope: Range<usize>,
    /// The own name.
    pub(super) own: Range<usize>,
    /// The beginnings of the segments of the qualified name.
    pub(super) segments: Vec<usize>,
}

impl Anatomy {
    fn whole(name: &str) -> Self {
        Anatomy::plain(0..name.len())
    }

    fn plain(own: Range<usize>) -> Self {
        Anatomy { qualified: own.clone(), scope: 0..0, segments: vec![own.start], own }
    }

    fn split(scope: Range<usize>, own: Range<usize>) -> Self {
        Anatomy { qualified: scope.start..own.end, segments: vec![scope.start, own.start], scope, own }
    }

    pub(super) fn parse(name: &str) -> Self {
        if name.is_empty() || name.len() > MAX_NAME_BYTES || name == "???" || name.starts_with("0x") {
            return Anatomy::whole(name);
        }
        let special = [
            objective_c,
            erlang,
            php_include,
            in_angles,
            python_module,
            php_method,
            ruby_method,
            start_of_file,
        ];
        special.iter().find_map(|special| special(name)).unwrap_or_else(|| qualified(name))
    }
}

fn objective_c(name: &str) -> Option<Anatomy> {
    let inside = name.strip_prefix("-[").or_else(|| name.strip_prefix("+["))?.strip_suffix(']')?;
    let blank = inside.find(' ')?;
    // `A(Category)` is `A`.
    let class = inside[..blank].find('(').unwrap_or(blank);
    Some(Anatomy::split(2..2 + class, 3 + blank..2 + inside.len()))
}

fn erlang(name: &str) -> Option<Anatomy> {
    let inside = name.strip_prefix('{')?.strip_suffix('}')?;
    let (module, function) = inside.split_once(',')?;
    let (_, arity) = function.split_once(',')?;
    let is_arity = !arity.is_empty() && arity.bytes().all(|byte| byte.is_ascii_digit());
    is_arity.then(|| Anatomy::split(1..1 + module.len(), 2 + module.len()..name.len() - 1))
}

/// The name of a file that PHP ran.
fn php_include(name: &str) -> Option<Anatomy> {
    let kind = name.split("::").next()?;
    matches!(kind, "include" | "include_once" | "require" | "require_once" | "eval")
        .then(|| Anatomy::whole(name))
}

/// `<module>`, `<built-in method f>`: all of it in one pair of brackets.
fn in_angles(name: &str) -> Option<Anatomy> {
    let inside = name.strip_prefix('<')?.strip_suffix('>')?;
    (!inside.contains('>')).then(|| Anatomy::whole(name))
}

/// `f module:12`, with the module and the first line of a function of Python.
fn python_module(name: &str) -> Option<Anatomy> {
    let (own, location) = name.rsplit_once(' ')?;
    let (module, line) = location.rsplit_once(':')?;
    let is_line = !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit());
    let is_word = |text: &str| !text.is_empty() && !text.contains([' ', ':', '(', '/']);
    let scope = own.len() + 1..own.len() + 1 + module.len();
    (is_line && is_word(own) && is_word(module)).then(|| Anatomy { scope, ..Anatomy::plain(0..own.len()) })
}

/// `A->f`. Unlike in types of Rust, no blank is beside the arrow.
fn php_method(name: &str) -> Option<Anatomy> {
    // Most names have no arrow, and this is the quicker look.
    if !name.contains("->") {
        return None;
    }
    let mut depth = Depth::default();
    let mut last = None;
    for (at, byte) in name.bytes().enumerate() {
        if byte == b'-' && depth.is_outside() && name[at..].starts_with("->") {
            let (before, after) = (&name[..at], &name[at + 2..]);
            let is_arrow =
                !before.is_empty() && !before.ends_with([' ', ')', '>']) && !before.ends_with("operator");
            if is_arrow && after.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '{' | '\\')) {
                last = Some(at);
            }
        }
        depth.pass(name, at);
    }
    let at = last?;
    Some(Anatomy::split(0..at, at + 2..name.len()))
}

/// `A::B#f`
fn ruby_method(name: &str) -> Option<Anatomy> {
    if !name.contains('#') {
        return None;
    }
    let mut depth = Depth::default();
    let mut last = None;
    for (at, byte) in name.bytes().enumerate() {
        if byte == b'#' && depth.is_outside() {
            last = Some(at);
        }
        depth.pass(name, at);
    }
    let at = last.filter(|&at| name[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_'))?;
    let is_number = name[at + 1..].starts_with(|c: char| c.is_ascii_digit());
    (!is_number && at + 1 < name.len()).then(|| Anatomy::split(0..at, at + 1..name.len()))
}

/// `_GLOBAL__sub_I_main.cpp`: what a compiler makes of the static objects of a source file.
fn start_of_file(name: &str) -> Option<Anatomy> {
    name.starts_with("_GLOBAL__").then(|| Anatomy::whole(name))
}

/// The count of open brackets.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Depth(usize);

impl Depth {
    pub(super) fn is_outside(self) -> bool {
        self.0 == 0
    }

    pub(super) fn level(self) -> usize {
        self.0
    }

    /// Counts one byte. The end of an arrow closes nothing.
    pub(super) fn pass(&mut self, name: &str, at: usize) {
        let bytes = name.as_bytes();
        match bytes[at] {
            b'<' | b'(' | b'{' | b'[' => self.0 += 1,
            b'>' if at > 0 && bytes[at - 1] == b'-' => {}
            b'>' | b')' | b'}' | b']' => self.0 = self.0.saturating_sub(1),
            _ => {}
        }
    }
}

/// A name in segments: `a::b`, `a\b` or `a.b`, with a return type before it and arguments behind.
fn qualified(name: &str) -> Anatomy {
    let (range, segments) = outline(name);
    if segments.len() > 1 {
        return colons(name, range, &segments);
    }
    let text = &name[range.clone()];
    if let Some(at) = last_outside(text, '\\').filter(|&at| at > 0) {
        let at = range.start + at;
        return Anatomy::split(range.start..at, at + 1..range.end);
    }
    dots(name, range)
}

/// The range of the qualified name, and the beginnings of its segments between `::`.
fn outline(name: &str) -> (Range<usize>, Vec<usize>) {
    let bytes = name.as_bytes();
    let has_arguments = has_arguments(name);
    let mut segments = vec![0];
    // The range of the last arguments. It is empty while they are open.
    let mut arguments: Option<Range<usize>> = None;
    let mut depth = Depth::default();
    let mut at = 0;
    while at < name.len() {
        let is_start = segments.last() == Some(&at);
        if depth.is_outside() {
            if is_start && let Some(end) = operator_end(name, at) {
                at = end;
                continue;
            }
            // Ruby's operators: `Integer::<=>`.
            let rest = &bytes[at..];
            let is_sign = |byte: &u8| byte.is_ascii_punctuation() && *byte != b'(';
            if is_start && at > 0 && rest.len() <= 3 && rest.iter().all(is_sign) {
                return (segments[0]..name.len(), segments);
            }
            match bytes[at] {
                b':' if name[at..].starts_with("::") && at > 0 => {
                    arguments = None;
                    at += 2;
                    segments.push(at);
                    continue;
                }
                // Go's receivers and method values: `main.(*Mill).(main.grind)-fm`.
                b'(' if at > 0 && bytes[at - 1] == b'.' => {}
                b'(' => arguments = Some(at..at),
                // Without arguments there are no qualifiers, and looking for them at each blank would be quadratic.
                b' ' => match (&arguments, arguments.as_ref().and_then(|_| qualifiers_end(name, at))) {
                    (Some(_), Some(end)) if name[end..].starts_with("::") => {
                        at = end;
                        continue;
                    }
                    (Some(arguments), Some(_)) => return (segments[0]..arguments.start, segments),
                    (None, _) if !has_arguments || name[at..].starts_with(" [clone") => {
                        return (segments[0]..at, segments);
                    }
                    // The text before the blank is the return type.
                    _ => {
                        segments = vec![at + 1];
                        arguments = None;
                    }
                },
                _ => {}
            }
        }
        depth.pass(name, at);
        at += 1;
        if depth.is_outside()
            && let Some(range) = &mut arguments
            && range.end == range.start
        {
            range.end = at;
            // The receiver of a method in Go: `main.(*Mill).Grind`.
            if bytes.get(at) == Some(&b'.') {
                arguments = None;
            }
        }
    }
    let end = arguments.filter(|arguments| arguments.start > segments[segments.len() - 1]);
    (segments[0]..end.map_or(name.len(), |arguments| arguments.start), segments)
}

/// Returns `true` if there are parentheses outside of all brackets.
fn has_arguments(name: &str) -> bool {
    let mut depth = Depth::default();
    let mut at = 0;
    while at < name.len() {
        if depth.is_outside() {
            match name.as_bytes()[at] {
                b'(' => return true,
                b'o' => {
                    if let Some(end) = operator_end(name, at) {
                        at = end;
                        continue;
                    }
                }
                _ => {}
            }
        }
        depth.pass(name, at);
        at += 1;
    }
    false
}

/// The signs after `operator`, the longer ones first.
const SIGNS: [&str; 37] = [
    "<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "++", "--", "->", "+=", "-=",
    "*=", "/=", "%=", "^=", "&=", "|=", "<", ">", "=", "+", "-", "*", "/", "%", "^", "&", "|", "~", "!", ",",
];

/// The end of `operator+`, `operator()`, `operator bool`: the beginning of its arguments.
pub(super) fn operator_end(name: &str, at: usize) -> Option<usize> {
    const WORD: &str = "operator";
    let rest = name.get(at..)?.strip_prefix(WORD)?;
    let after = at + WORD.len();
    match rest.bytes().next() {
        None => None,
        Some(b'(') if rest.starts_with("()") => Some(after + 2),
        Some(b'[') if rest.starts_with("[]") => Some(after + 2),
        Some(b' ' | b'"') => {
            let mut depth = Depth::default();
            for offset in 0..rest.len() {
                if depth.is_outside() && rest.as_bytes()[offset] == b'(' {
                    return Some(after + offset);
                }
                depth.pass(rest, offset);
            }
            Some(name.len())
        }
        Some(first) if !first.is_ascii_alphanumeric() && first != b'_' => {
            let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign))?;
            let arguments = &rest[sign.len()..];
            // `operator<< <char>`: the blank keeps the brackets apart.
            Some(after + sign.len() + usize::from(arguments.starts_with(" <")))
        }
        Some(_) => None,
    }
}

/// The end of the words after the arguments: ` const`, ` [clone .cold]`.
fn qualifiers_end(name: &str, mut at: usize) -> Option<usize> {
    const WORDS: [&str; 6] = ["const", "volatile", "noexcept", "restrict", "&&", "&"];
    let start = at;
    while let Some(rest) = name[at..].strip_prefix(' ') {
        if rest.starts_with('[') || rest.starts_with("(.") || rest.starts_with("requires ") {
            return Some(name.len());
        }
        let Some(word) = WORDS.iter().find(|word| {
            rest.strip_prefix(**word)
                .is_some_and(|after| after.is_empty() || after.starts_with([' ', ':', '&']))
        }) else {
            break;
        };
        at += 1 + word.len();
    }
    (at > start).then_some(at)
}

/// Finds own name and scope among segments.
fn colons(name: &str, range: Range<usize>, segments: &[usize]) -> Anatomy {
    let end_of = |index: usize| segments.get(index + 1).map_or(range.end, |next| next - 2);
    let text = |index: usize| &name[segments[index]..end_of(index)];
    let mut own = segments.len() - 1;
    let mut end = range.end;
    // The hash of Rust's older mangling.
    let is_hash = |text: &str| {
        text.len() == 17 && text.starts_with('h') && text[1..].bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    if own > 0 && is_hash(text(own)) {
        own -= 1;
        end = end_of(own);
    }
    // Inner functions belong to the one that they are in, and so do arguments of types: `f::<T>`.
    while own > 0 {
        let is_lambda =
            |index: usize| text(index).starts_with("{lambda") || text(index).starts_with("'lambda");
        let is_sign = |byte: u8| b"<=>".contains(&byte);
        let is_inner = (text(own).starts_with('<') && !text(own).bytes().all(is_sign))
            || text(own).starts_with("{{")
            || text(own).starts_with("{closure")
            || text(own).starts_with("{shim")
            || text(own).starts_with("{default arg#")
            || is_lambda(own)
            || (text(own).starts_with("operator()") && is_lambda(own - 1));
        if !is_inner {
            break;
        }
        own -= 1;
    }
    let mut scope = 0..0;
    if own > 0 {
        scope = segments[0]..segments[own] - 2;
        // In Rust, methods are in an `impl`, which names the type: `<T as Trait>`, `<impl Trait for T>`.
        let last = text(own - 1);
        if last.starts_with('<') && last.ends_with('>') {
            let (start, end) = (segments[own - 1], end_of(own - 1));
            scope = implementor(name, start + 1..end - 1);
        }
    }
    let segments = segments[..=own].to_vec();
    Anatomy { qualified: range.start..end, scope, own: segments[own]..end, segments }
}

/// The type in `T as Trait`, `impl Trait for T`, `impl T` or `T`.
fn implementor(name: &str, inside: Range<usize>) -> Range<usize> {
    let mut range = inside.clone();
    let mut depth = Depth::default();
    for at in inside.clone() {
        if depth.is_outside() {
            let rest = &name.as_bytes()[at..inside.end];
            if at == inside.start && rest.starts_with(b"impl ") {
                range.start = at + "impl ".len();
            } else if rest.starts_with(b" for ") {
                range.start = at + " for ".len();
            } else if rest.starts_with(b" as ") {
                range.end = at;
                break;
            }
        }
        depth.pass(name, at);
    }
    range
}

/// Finds own name and scope between dots.
fn dots(name: &str, range: Range<usize>) -> Anatomy {
    let text = &name[range.clone()];
    // `memcpy@@GLIBC_2.14`, and `f:12` with its line.
    let text = &text[..text.find(['@', ':']).unwrap_or(text.len())];
    // The level of a recursion.
    let text = match text.rsplit_once('\'') {
        Some((base, level)) if !level.is_empty() && level.bytes().all(|byte| byte.is_ascii_digit()) => base,
        _ => text,
    };
    // In Go, dots before the last slash belong to the path of the package.
    let path = last_outside(text, '/').map_or(0, |at| at + 1);
    if text.starts_with(['/', '.']) {
        return Anatomy::plain(range);
    }
    let mut dots: Vec<usize> = Vec::new();
    let mut depth = Depth::default();
    for at in path..text.len() {
        if text.as_bytes()[at] == b'.' && depth.is_outside() {
            dots.push(at);
        }
        depth.pass(text, at);
    }
    // Suffixes of compilers, and Go's names for inner functions.
    while let Some(&dot) = dots.last() {
        let end = text[dot + 1..].find('.').map_or(text.len(), |length| dot + 1 + length);
        let suffix = &text[dot + 1..end];
        let numbered = |word: &str| {
            suffix.strip_prefix(word).is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
        };
        let is_added = suffix.is_empty()
            || ["", "func", "gowrap", "deferwrap"].into_iter().any(numbered)
            || matches!(
                suffix,
                "isra" | "part" | "constprop" | "cold" | "llvm" | "lto_priv" | "clone" | "localalias"
            );
        if !is_added {
            break;
        }
        dots.pop();
    }
    match dots.last().map(|dot| range.start + dot).filter(|&dot| dot > range.start) {
        Some(dot) => {
            let mut anatomy = Anatomy::split(range.start..dot, dot + 1..range.end);
            anatomy.segments =
                std::iter::once(range.start).chain(dots.iter().map(|dot| range.start + dot + 1)).collect();
            anatomy
        }
        None => Anatomy::plain(range),
    }
}

fn last_outside(text: &str, sign: char) -> Option<usize> {
    let mut depth = Depth::default();
    let mut last = None;
    for (at, byte) in text.bytes().enumerate() {
        if char::from(byte) == sign && depth.is_outside() {
            last = Some(at);
        }
        depth.pass(text, at);
    }
    last
}
