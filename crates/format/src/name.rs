//! Names: the `(id) name` compression, read and written, and what a function's name says.
//!
//! ```text
//! fn=(12) main        defines: 12 stands for `main` from here on
//! fn=(12)             refers
//! fn=main             neither: the name itself
//! ```

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use crate::scan::{NumberForm, is_blank, number, trim_start};

/// What a name number counts: `ob=(1)`, `fl=(1)` and `fn=(1)` are three different names.
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

/// What a name is given for.
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

    pub(crate) fn of(key: &[u8]) -> Option<Self> {
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
#[derive(Clone, Copy)]
pub struct Name<'a> {
    /// The number, in compressed spelling.
    pub id: Option<u64>,
    /// The name; for a reference, what its number was defined as. None when it was not.
    pub text: Option<&'a [u8]>,
    /// Whether this line gives the number its meaning.
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

/// What stands after `fn=`, before it is known what a number refers to.
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

/// Reads what stands after `fn=` and its blanks.
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

/// Whether a plain name would be read as a number.
pub(crate) fn looks_numbered(text: &[u8]) -> bool {
    !matches!(spelled(text), Spelled::Plain(_))
}

/// Whether the grammar has this name only with a number: it begins as a number would.
pub(crate) fn needs_number(text: &[u8]) -> bool {
    matches!(text, [b'(', digit, ..] if digit.is_ascii_digit())
}

/// Splits the rest of a definition into its blanks and the name.
pub(crate) fn definition_text(rest: &[u8]) -> &[u8] {
    trim_start(rest)
}

/// The meanings of the numbers of one [`NameSpace`].
#[derive(Debug)]
pub(crate) struct NameTable<T> {
    /// Real files number from 0 with few gaps, so the number is the index.
    dense: Vec<Option<T>>,
    /// For numbers that would leave the vector mostly empty.
    sparse: HashMap<u64, T>,
    len: usize,
    /// The vector may always become as long as this.
    room: usize,
}

impl<T: Copy> Default for NameTable<T> {
    fn default() -> Self {
        NameTable::new()
    }
}

impl<T: Copy> NameTable<T> {
    pub(crate) fn new() -> Self {
        NameTable::for_input(0)
    }

    /// For the names of an input of so many bytes.
    pub(crate) fn for_input(bytes: usize) -> Self {
        NameTable { dense: Vec::new(), sparse: HashMap::new(), len: 0, room: 1024 + bytes / 64 }
    }

    #[inline(always)]
    pub(crate) fn get(&self, id: u64) -> Option<T> {
        match usize::try_from(id).ok().and_then(|index| self.dense.get(index)) {
            Some(Some(entry)) => Some(*entry),
            _ => self.get_sparse(id),
        }
    }

    #[inline(never)]
    fn get_sparse(&self, id: u64) -> Option<T> {
        if self.sparse.is_empty() { None } else { self.sparse.get(&id).copied() }
    }

    pub(crate) fn set(&mut self, id: u64, entry: T) {
        let is_new = match usize::try_from(id) {
            Ok(index) if index < self.limit().max(self.dense.len()) => {
                if index >= self.dense.len() {
                    self.dense.resize_with(index + 1, || None);
                }
                self.dense[index].replace(entry).is_none()
                    && (self.sparse.is_empty() || self.sparse.remove(&id).is_none())
            }
            _ => self.sparse.insert(id, entry).is_none(),
        };
        self.len += usize::from(is_new);
        if is_new && self.len.is_power_of_two() && !self.sparse.is_empty() {
            self.move_to_dense();
        }
    }

    /// Room for 8 times as many numbers as were defined, or for one in 64 bytes of the file, keeps the vector in
    /// proportion to the file.
    fn limit(&self) -> usize {
        self.room.max(8 * self.len)
    }

    /// Numbers come in any order, so many of the first ones had no room in the vector. Left where they are, they would
    /// cost a hash at each of their uses.
    #[cold]
    fn move_to_dense(&mut self) {
        let limit = self.limit();
        let dense = &mut self.dense;
        self.sparse.retain(|&id, entry| match usize::try_from(id) {
            Ok(index) if index < limit => {
                if index >= dense.len() {
                    dense.resize_with(index + 1, || None);
                }
                dense[index] = Some(*entry);
                false
            }
            _ => true,
        });
    }

    /// Forgets all. Room in proportion to the input is there once: a file may be cleared as often as it has lines.
    pub(crate) fn clear(&mut self) {
        *self = NameTable::new();
    }
}

/// The longest name that is made of references.
const MOST_EXPANDED: usize = 1 << 20;

/// Replaces the references in a name made of numbers, as `--compress-mangled=yes` writes them:
/// `(1116)'2'(1112)` with the names of 1116 and 1112 put in.
///
/// None when the name holds no such reference.
///
/// None also when it would be longer than any name that a compiler makes: the same long name can be put in many times.
pub(crate) fn expand<'a>(text: &[u8], resolve: impl Fn(u64) -> Option<Cow<'a, [u8]>>) -> Option<Vec<u8>> {
    let mut expanded = Vec::new();
    let mut rest = text;
    loop {
        let piece_end = memchr::memchr(b'\'', rest).unwrap_or(rest.len());
        let piece = &rest[..piece_end];
        match spelled(piece) {
            Spelled::Numbered { id, rest: b"" } => expanded.extend_from_slice(&resolve(id)?),
            _ if !expanded.is_empty() && !piece.is_empty() && piece.iter().all(u8::is_ascii_digit) => {
                expanded.extend_from_slice(piece);
            }
            _ => return None,
        }
        if expanded.len() > MOST_EXPANDED {
            return None;
        }
        if piece_end == rest.len() {
            // A name that stands for itself, or for another such name, would not end.
            return (!looks_numbered(&expanded)).then_some(expanded);
        }
        expanded.push(b'\'');
        rest = &rest[piece_end + 1..];
    }
}

/// What Callgrind puts into a function's name besides the name: recursion level and callers.
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

/// The name up to the first `'` that can separate two names, and what stands after it.
fn split_piece(name: &[u8]) -> (&[u8], Option<&[u8]>) {
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
    fn table_takes_any_number() {
        let mut table = NameTable::new();
        for id in [0, 5, 1023, 1 << 40, u64::MAX, 70_000] {
            table.set(id, id);
        }
        for id in [0, 5, 1023, 1 << 40, u64::MAX, 70_000] {
            assert_eq!(table.get(id), Some(id));
        }
        assert_eq!(table.get(6), None);
        assert!(table.dense.len() < 2048, "a huge number must not make a huge table");
    }

    #[test]
    fn references_expand() {
        let names = |id: u64| match id {
            1116 => Some(Cow::Borrowed(&b"fib"[..])),
            1112 => Some(Cow::Borrowed(&b"main"[..])),
            _ => None,
        };
        assert_eq!(expand(b"(1116)'2'(1112)", names).unwrap(), b"fib'2'main");
        assert_eq!(expand(b"(1116)", names).unwrap(), b"fib");
        for plain in
            [&b"fib'2"[..], b"(3) r.c", b"(below main)", b"(1116)'x", b"(7)'(1112)", b"2'(1116)", b""]
        {
            assert_eq!(expand(plain, names), None, "{}", plain.escape_ascii());
        }
        let long = vec![b'x'; MOST_EXPANDED / 2];
        assert!(expand(b"(1)'(1)", |_| Some(Cow::Borrowed(&long))).is_none());
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
