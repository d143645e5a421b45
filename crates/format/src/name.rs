//! Names: the `(id) name` compression, read and written, and what a function's name says.
//!
//! ```text
//! fn=(12) main        defines: 12 stands for `main` from here on
//! fn=(12)             refers
//! fn=main             neither: the name itself
//! ```

use std::fmt;

use crate::scan::{NumberForm, is_blank, number, trim_start};

/// A space of names and name ids: `ob=(1)`, `fl=(1)` and `fn=(1)` are three different names.
///
/// See the example of [`NameSpaces`](crate::raw::NameSpaces).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NameSpace {
    /// Objects: `ob=`, `cob=`.
    Object,
    /// Source files: `fl=`, `fi=`, `fe=`, `cfi=`, `cfl=`, `jfi=`.
    File,
    /// Functions: `fn=`, `cfn=`, `jfn=`, `frfn=`.
    Function,
}

impl NameSpace {
    /// All of them.
    pub const ALL: [NameSpace; 3] = [NameSpace::Object, NameSpace::File, NameSpace::Function];
}

impl fmt::Display for NameSpace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NameSpace::Object => "object",
            NameSpace::File => "file",
            NameSpace::Function => "function",
        })
    }
}

/// The key of a name line.
///
/// See the example of [`NameContext`](crate::raw::NameContext).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NameKey {
    /// `ob=`: the object of the following costs.
    Ob,
    /// `cob=`: the object of the next callee.
    Cob,
    /// `fl=`: the file of the function.
    Fl,
    /// `fi=`: another file inside the function, for inlined code.
    Fi,
    /// `fe=`: back to the file of the function.
    Fe,
    /// `cfi=`: the file of the next callee.
    Cfi,
    /// `cfl=`: an older word for `cfi=`.
    Cfl,
    /// `jfi=`: the file of the next jump's target.
    Jfi,
    /// `fn=`: the function of the following costs.
    Fn,
    /// `cfn=`: the next callee.
    Cfn,
    /// `jfn=`: the function of the next jump's target.
    Jfn,
    /// `frfn=`: the function that the following function was called from, with `--mangle-names=no`.
    Frfn,
}

impl NameKey {
    /// The word before the `=`.
    pub const fn as_str(self) -> &'static str {
        match self {
            NameKey::Ob => "ob",
            NameKey::Cob => "cob",
            NameKey::Fl => "fl",
            NameKey::Fi => "fi",
            NameKey::Fe => "fe",
            NameKey::Cfi => "cfi",
            NameKey::Cfl => "cfl",
            NameKey::Jfi => "jfi",
            NameKey::Fn => "fn",
            NameKey::Cfn => "cfn",
            NameKey::Jfn => "jfn",
            NameKey::Frfn => "frfn",
        }
    }

    pub(crate) fn parse(key: &[u8]) -> Option<Self> {
        Some(match key {
            b"ob" => NameKey::Ob,
            b"cob" => NameKey::Cob,
            b"fl" => NameKey::Fl,
            b"fi" => NameKey::Fi,
            b"fe" => NameKey::Fe,
            b"cfi" => NameKey::Cfi,
            b"cfl" => NameKey::Cfl,
            b"jfi" => NameKey::Jfi,
            b"fn" => NameKey::Fn,
            b"cfn" => NameKey::Cfn,
            b"jfn" => NameKey::Jfn,
            b"frfn" => NameKey::Frfn,
            _ => return None,
        })
    }

    /// The space that its numbers count in.
    pub fn space(self) -> NameSpace {
        match self {
            NameKey::Ob | NameKey::Cob => NameSpace::Object,
            NameKey::Fl | NameKey::Fi | NameKey::Fe | NameKey::Cfi | NameKey::Cfl | NameKey::Jfi => {
                NameSpace::File
            }
            NameKey::Fn | NameKey::Cfn | NameKey::Jfn | NameKey::Frfn => NameSpace::Function,
        }
    }
}

/// A name as a line gives it.
///
/// See the example of [`Reader`](crate::Reader).
#[derive(Clone, Copy)]
pub struct Name<'a> {
    /// The number, in compressed spelling.
    pub id: Option<u64>,
    /// The name; for a reference, what its number was defined as. None when it was not.
    pub text: Option<&'a [u8]>,
    /// `true` if this line gives the id its meaning.
    pub defines: bool,
}

impl<'a> Name<'a> {
    /// `fn=main`.
    pub const fn plain(text: &'a [u8]) -> Self {
        Name { id: None, text: Some(text), defines: false }
    }

    /// `fn=(12) main`.
    pub const fn define(id: u64, text: &'a [u8]) -> Self {
        Name { id: Some(id), text: Some(text), defines: true }
    }

    /// `fn=(12)`, standing for `text`.
    pub const fn refer(id: u64, text: &'a [u8]) -> Self {
        Name { id: Some(id), text: Some(text), defines: false }
    }

    /// The name; empty where it is empty or undefined.
    pub fn bytes(&self) -> &'a [u8] {
        self.text.unwrap_or_default()
    }
}

/// Equal when number and text are; whether a line gives the number its meaning or uses it is a matter of spelling.
impl PartialEq for Name<'_> {
    fn eq(&self, other: &Self) -> bool {
        (self.id, self.text) == (other.id, other.text)
    }
}

impl Eq for Name<'_> {}

impl fmt::Debug for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(id) = self.id {
            write!(f, "({id}){}", if self.defines { ":=" } else { "=" })?;
        }
        match self.text {
            Some(text) => write!(f, "\"{}\"", text.escape_ascii()),
            None => f.write_str("undefined"),
        }
    }
}

/// The value of a name line, before references are resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spelled<'a> {
    Plain(&'a [u8]),
    Numbered {
        id: u64,
        /// Everything after the parenthesis.
        rest: &'a [u8],
    },
    /// Opens like a number, but is none; taken as plain.
    Unclosed(&'a [u8]),
}

/// Reads the value of a name line.
pub(crate) fn spelled(value: &[u8]) -> Spelled<'_> {
    let [b'(', inside @ ..] = value else { return Spelled::Plain(value) };
    if !inside.first().is_some_and(u8::is_ascii_digit) {
        return Spelled::Plain(value);
    }
    let Some(close) = inside.iter().take(24).position(|&byte| byte == b')') else {
        return if memchr::memchr(b')', inside).is_some() {
            Spelled::Plain(value)
        } else {
            Spelled::Unclosed(value)
        };
    };
    match number(&inside[..close]) {
        Ok(id) => Spelled::Numbered { id, rest: &inside[close + 1..] },
        Err(_) => Spelled::Plain(value),
    }
}

/// `true` if a plain name would be read as a name id.
pub(crate) fn looks_numbered(text: &[u8]) -> bool {
    !matches!(spelled(text), Spelled::Plain(_))
}

/// `true` if a name begins with `(` and a digit: it may be made of references to other names, and the grammar has it only
/// with a name id.
///
/// ```
/// use gristmill_format::raw::is_compound_name;
///
/// assert!(is_compound_name(b"(1116)'2'(1112)"));
/// assert!(!is_compound_name(b"(below main)"));
/// ```
pub fn is_compound_name(text: &[u8]) -> bool {
    matches!(text, [b'(', digit, ..] if digit.is_ascii_digit())
}

/// The byte range of the value in the text of a name line: everything after the `=` and its blanks.
///
/// ```
/// use gristmill_format::raw::name_value_range;
///
/// assert_eq!(name_value_range(b"fn= (12) main"), 4..13);
/// ```
pub fn name_value_range(line: &[u8]) -> std::ops::Range<usize> {
    let value = trim_start(memchr::memchr(b'=', line).map_or(line, |equals| &line[equals + 1..]));
    line.len() - value.len()..line.len()
}

/// Splits the rest of a definition into its blanks and the name.
pub(crate) fn definition_text(rest: &[u8]) -> &[u8] {
    trim_start(rest)
}

/// A function's name, split into what Callgrind puts into it: the name itself, the recursion level and callers.
///
/// `fib'2` is `fib` called from itself. With `--separate-callers=2`, `fib'2'main'(below main)` is the same,
/// reached through `main` from `(below main)`. There is no escaping, and `'` also stands in C++, Rust and OCaml names,
/// so the parts are a reading of the name, not a fact: a `'` inside brackets, at the start or end, or next to a blank
/// is taken as belonging to the name.
///
/// ```
/// use gristmill_format::FunctionName;
///
/// let name = FunctionName::parse(b"fib'2'main'(below main)");
/// assert_eq!(name.base(), b"fib");
/// assert_eq!(name.recursion(), Some(2));
/// assert_eq!(name.callers().collect::<Vec<_>>(), [&b"main"[..], b"(below main)"]);
///
/// let name = FunctionName::parse(b"<Pass<'a> as Lint>::check");
/// assert_eq!(name.base(), b"<Pass<'a> as Lint>::check");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FunctionName<'a> {
    base: &'a [u8],
    recursion: Option<u32>,
    callers: &'a [u8],
}

impl<'a> FunctionName<'a> {
    /// Takes a name apart.
    pub fn parse(name: &'a [u8]) -> Self {
        let (base, mut rest) = split_piece(name);
        let mut recursion = None;
        if let Some(after) = rest {
            let (piece, following) = split_piece(after);
            if piece.iter().all(u8::is_ascii_digit)
                && let Some(level) = std::str::from_utf8(piece).ok().and_then(|digits| digits.parse().ok())
            {
                recursion = Some(level);
                rest = following;
            }
        }
        FunctionName { base, recursion, callers: rest.unwrap_or_default() }
    }

    /// The name without recursion level and callers.
    pub fn base(&self) -> &'a [u8] {
        self.base
    }

    /// The recursion level, from 2.
    pub fn recursion(&self) -> Option<u32> {
        self.recursion
    }

    /// The callers, nearest first. A caller may carry a recursion level of its own as the next item: `a'2`.
    pub fn callers(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let mut rest = (!self.callers.is_empty()).then_some(self.callers);
        std::iter::from_fn(move || {
            let (piece, following) = split_piece(rest?);
            rest = following;
            Some(piece)
        })
    }
}

/// Splits a name at the first `'` that can separate two names.
fn split_piece(name: &[u8]) -> (&[u8], Option<&[u8]>) {
    // Most names have none.
    if memchr::memchr(b'\'', name).is_none() {
        return (name, None);
    }
    let mut depth = 0usize;
    let mut at = 0;
    while at < name.len() {
        match name[at] {
            // `operator<<`, `operator->`, `operator()`: brackets that open or close nothing.
            b'o' if name[at..].starts_with(b"operator") => {
                at += b"operator".len();
                while at < name.len() && matches!(name[at], b'<' | b'>' | b'-' | b'=' | b'!') {
                    at += 1;
                }
                continue;
            }
            // The arrow of `Fn() -> T`.
            b'-' if name[at..].starts_with(b"->") => at += 1,
            b'<' | b'(' | b'{' | b'[' => depth += 1,
            b'>' | b')' | b'}' | b']' => depth = depth.saturating_sub(1),
            b'\'' if depth == 0 && at > 0 && !is_blank(name[at - 1]) => {
                if let Some(next) = name.get(at + 1)
                    && !is_blank(*next)
                {
                    return (&name[..at], Some(&name[at + 1..]));
                }
            }
            _ => {}
        }
        at += 1;
    }
    (name, None)
}

/// Writes `(id)`, in the number form of the spelling it comes from.
pub(crate) fn write_id(id: u64, form: NumberForm, out: &mut Vec<u8>) {
    out.push(b'(');
    form.write(id, out);
    out.push(b')');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings() {
        let numbered = |id, rest| Spelled::Numbered { id, rest };
        for (value, expected) in [
            (&b"(12) main"[..], numbered(12, &b" main"[..])),
            (b"(12)", numbered(12, b"")),
            (b"(0) a", numbered(0, b" a")),
            (b"(0x2)", numbered(2, b"")),
            (b"(below main)", Spelled::Plain(b"(below main)")),
            (b"()", Spelled::Plain(b"()")),
            (b"(-2) foo", Spelled::Plain(b"(-2) foo")),
            (b"(1 main", Spelled::Unclosed(b"(1 main")),
            (b"(1x) main", Spelled::Plain(b"(1x) main")),
            (b"", Spelled::Plain(b"")),
        ] {
            assert_eq!(spelled(value), expected, "{}", value.escape_ascii());
        }
    }

    #[test]
    fn function_names_come_apart() {
        type Case<'a> = (&'a [u8], &'a [u8], Option<u32>, &'a [&'a [u8]]);
        let cases: &[Case<'_>] = &[
            (b"main", b"main", None, &[]),
            (b"fib'2", b"fib", Some(2), &[]),
            (b"even'2'odd'even", b"even", Some(2), &[b"odd", b"even"]),
            (b"f'main'(below main)", b"f", None, &[b"main", b"(below main)"]),
            (b"std::operator<<(char)'2", b"std::operator<<(char)", Some(2), &[]),
            (b"T::operator->()'main", b"T::operator->()", None, &[b"main"]),
            (b"f<dyn Fn() -> u8>'g", b"f<dyn Fn() -> u8>", None, &[b"g"]),
            (b"LateLintPass<'a> + 'a", b"LateLintPass<'a> + 'a", None, &[]),
            (b"'quoted", b"'quoted", None, &[]),
            (b"camlFoo'", b"camlFoo'", None, &[]),
        ];
        for (name, base, recursion, callers) in cases {
            let parsed = FunctionName::parse(name);
            assert_eq!(parsed.base(), *base);
            assert_eq!(parsed.recursion(), *recursion);
            assert_eq!(parsed.callers().collect::<Vec<_>>(), *callers);
        }
    }
}
