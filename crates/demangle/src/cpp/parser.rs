//! The parser of mangled names of C++: its state, numbers, substitutions, functions. The grammar is that of the Itanium C++ ABI.
//!
//! Names are in [`super::names`], types in [`super::types`], expressions in [`super::expressions`].

use super::ast::{Id, List, Node, Qualifiers, Tree};

/// The limit of nesting. Real names stay far below, and each level takes stack.
const MAX_DEPTH: u32 = 96;
/// The limit of steps for each byte. A name can be read twice in parts, where only its end tells what its start means.
const STEPS_OF_BYTE: usize = 64;

pub(super) struct Parser<'a> {
    pub(super) tree: Tree<'a>,
    text: &'a str,
    pub(super) at: usize,
    /// The nodes that `S_`, `S0_` and so on stand for, each with the name that a constructor behind it has.
    pub(super) substitutions: Vec<(Id, &'a str)>,
    /// The name of the class that a constructor belongs to, if one follows.
    pub(super) last_name: &'a str,
    /// `true` while the type of a conversion is read, whose arguments may be those of the operator.
    pub(super) is_conversion: bool,
    /// The templates of the name that is read.
    pub(super) levels: u32,
    /// `true` while a constraint is read.
    pub(super) is_constraint: bool,
    depth: u32,
    steps: usize,
}

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Parser {
            tree: Tree::default(),
            text,
            at: 0,
            substitutions: Vec::new(),
            last_name: "",
            is_conversion: false,
            levels: 0,
            is_constraint: false,
            depth: 0,
            steps: 0,
        }
    }

    /// Reads the whole name.
    pub(super) fn whole(&mut self) -> Option<Id> {
        self.expect(b"_Z")?;
        let mut root = self.encoding(true)?;
        while self.next() == b'.' {
            let suffix = self.clone_suffix()?;
            root = self.add(Node::Clone(root, suffix))?;
        }
        (self.at == self.text.len()).then_some(root)
    }

    /// Reads what a compiler calls a copy or a part of a function: `.part.0`.
    fn clone_suffix(&mut self) -> Option<&'a str> {
        let start = self.at;
        self.expect(b".")?;
        let is_of_word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        is_of_word(self.next()).then_some(())?;
        self.take_while(is_of_word);
        while self.next() == b'.' && self.ahead(1).is_ascii_digit() {
            self.at += 1;
            self.digits();
        }
        Some(self.since(start))
    }

    /// Reads a part, within the limits.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        self.count_step()?;
        if self.depth >= MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let part = read(self);
        self.depth -= 1;
        part
    }

    fn count_step(&mut self) -> Option<()> {
        self.steps += 1;
        (self.steps <= STEPS_OF_BYTE * (self.text.len() + 1)).then_some(())
    }

    /// Takes the bytes up to the first one that is not such, which are steps, too: what is long is not read again for nothing.
    pub(super) fn take_while(&mut self, is_such: impl Fn(u8) -> bool) -> &'a str {
        let start = self.at;
        while self.at < self.text.len() && is_such(self.next()) {
            self.at += 1;
        }
        self.steps += self.at - start;
        self.since(start)
    }

    /// Returns the byte this far ahead; 0 at the end.
    pub(super) fn ahead(&self, bytes: usize) -> u8 {
        self.text.as_bytes().get(self.at + bytes).copied().unwrap_or(0)
    }

    pub(super) fn next(&self) -> u8 {
        self.ahead(0)
    }

    /// Returns two bytes, which many codes have.
    pub(super) fn code(&self) -> [u8; 2] {
        [self.next(), self.ahead(1)]
    }

    /// Takes some bytes if they are next.
    pub(super) fn take(&mut self, bytes: &[u8]) -> bool {
        let is_next = self.text.as_bytes().get(self.at..).is_some_and(|rest| rest.starts_with(bytes));
        if is_next {
            self.at += bytes.len();
        }
        is_next
    }

    pub(super) fn expect(&mut self, bytes: &[u8]) -> Option<()> {
        self.take(bytes).then_some(())
    }

    /// Reads digits.
    pub(super) fn digits(&mut self) -> &'a str {
        self.take_while(|byte| byte.is_ascii_digit())
    }

    pub(super) fn number(&mut self) -> Option<u32> {
        self.digits().parse().ok()
    }

    /// Reads `_`, which is 0, or a number and `_`, which is one more.
    pub(super) fn sequence_number(&mut self) -> Option<u32> {
        if self.take(b"_") {
            return Some(0);
        }
        let number = self.number()?;
        self.expect(b"_")?;
        number.checked_add(1)
    }

    /// Reads a number of base 36 in the same form.
    pub(super) fn substitution_number(&mut self) -> Option<usize> {
        let mut number: usize = 0;
        let mut has_digits = false;
        while !self.take(b"_") {
            let digit = match self.next() {
                digit @ b'0'..=b'9' => digit - b'0',
                digit @ b'A'..=b'Z' => digit - b'A' + 10,
                _ => return None,
            };
            number = number.checked_mul(36)?.checked_add(digit.into())?;
            has_digits = true;
            self.at += 1;
            self.steps += 1;
        }
        Some(if has_digits { number.checked_add(1)? } else { 0 })
    }

    pub(super) fn slice(&self, bytes: usize) -> Option<&'a str> {
        self.text.get(self.at..self.at.checked_add(bytes)?)
    }

    /// Returns what was read since a place.
    pub(super) fn since(&self, start: usize) -> &'a str {
        &self.text[start..self.at]
    }

    pub(super) fn add(&mut self, node: Node<'a>) -> Option<Id> {
        self.count_step()?;
        self.tree.add(node)
    }

    pub(super) fn text(&mut self, text: &'a str) -> Option<Id> {
        self.add(Node::Text(text))
    }

    /// Adds a node that substitutions can stand for.
    pub(super) fn substitutable(&mut self, node: Node<'a>) -> Option<Id> {
        let id = self.add(node)?;
        self.remember(id);
        Some(id)
    }

    /// Takes a node for the next one that substitutions can stand for.
    pub(super) fn remember(&mut self, id: Id) {
        self.substitutions.push((id, self.last_name));
    }

    /// Reads parts up to `E`.
    pub(super) fn until_end(&mut self, read: impl Fn(&mut Self) -> Option<Id>) -> Option<List> {
        let mut items = Vec::new();
        while !self.take(b"E") {
            items.push(read(self)?);
        }
        self.tree.list(&items)
    }

    /// Reads the name of a function with its type, of a variable, or of something that the compiler made.
    /// The type that a function returns is left out where it is only the place of something.
    pub(super) fn encoding(&mut self, has_returned: bool) -> Option<Id> {
        self.nested(|parser| {
            if matches!(parser.next(), b'G' | b'T')
                && parser.ahead(1) != b'_'
                && !parser.ahead(1).is_ascii_digit()
            {
                return parser.special();
            }
            let outer_levels = std::mem::take(&mut parser.levels);
            let (name, qualifiers) = parser.name()?;
            let levels = std::mem::replace(&mut parser.levels, outer_levels);
            if matches!(parser.next(), 0 | b'E' | b'.') {
                return Some(name);
            }
            let is_first = parser.returns_something(name) | parser.take(b"J");
            let returned = if is_first { Some(parser.any_type()?) } else { None };
            let parameters = parser.parameters()?;
            let returned = returned.filter(|_| has_returned);
            let outer_levels = std::mem::replace(&mut parser.levels, levels);
            let constraint = if parser.next() == b'Q' { Some(parser.constraint()?) } else { None };
            parser.levels = outer_levels;
            parser.add(Node::Function { name, returned, parameters, qualifiers, constraint })
        })
    }

    /// Reads the types of parameters, to the end of the function.
    pub(super) fn parameters(&mut self) -> Option<List> {
        let mut types = Vec::new();
        while !matches!(self.next(), 0 | b'E' | b'.' | b'Q') {
            // The qualifier of a function for its object.
            if matches!(self.code(), [b'R' | b'O', b'E']) {
                break;
            }
            types.push(self.any_type()?);
        }
        if types.is_empty() {
            return None;
        }
        if let [one] = types[..]
            && self.tree.node(one) == Node::Text("void")
        {
            types.clear();
        }
        self.tree.list(&types)
    }

    /// Reads a constraint. Its parameters are those of the outermost template, so it is read only where there is one.
    pub(super) fn constraint(&mut self) -> Option<Id> {
        self.expect(b"Q")?;
        if self.levels != 1 {
            return None;
        }
        let was_constraint = std::mem::replace(&mut self.is_constraint, true);
        let constraint = self.expression()?;
        self.is_constraint = was_constraint;
        Some(constraint)
    }

    /// Returns `true` if the type of a function begins with the type that it returns: that of a template does, except for
    /// constructors and conversions.
    fn returns_something(&self, name: Id) -> bool {
        match self.tree.node(name) {
            Node::Template(name, _) => !self.returns_nothing(name),
            Node::Local(_, name) | Node::DefaultArgument(_, name) => self.returns_something(name),
            _ => false,
        }
    }

    fn returns_nothing(&self, name: Id) -> bool {
        let mut name = name;
        loop {
            name = match self.tree.node(name) {
                Node::Nested(_, own) | Node::Local(_, own) | Node::DefaultArgument(_, own) => own,
                Node::Tagged(own, _) => own,
                Node::Constructor(_) | Node::Destructor(_) | Node::Conversion(_) => return true,
                _ => return false,
            };
        }
    }

    /// Reads what the compiler made for a class or a variable.
    fn special(&mut self) -> Option<Id> {
        let code = self.code();
        self.at += 2;
        let (words, of_type) = match &code {
            b"TV" => ("vtable for ", true),
            b"TT" => ("VTT for ", true),
            b"TI" => ("typeinfo for ", true),
            b"TS" => ("typeinfo name for ", true),
            b"TF" => ("typeinfo fn for ", true),
            b"TJ" => ("java Class for ", true),
            b"Th" => {
                self.at -= 1;
                self.call_offset()?;
                ("non-virtual thunk to ", false)
            }
            b"Tv" => {
                self.at -= 1;
                self.call_offset()?;
                ("virtual thunk to ", false)
            }
            b"Tc" => {
                self.call_offset()?;
                self.call_offset()?;
                ("covariant return thunk to ", false)
            }
            b"TC" => {
                let derived = self.any_type()?;
                self.signed_digits()?;
                self.expect(b"_")?;
                let base = self.any_type()?;
                return self.add(Node::ConstructionTable(base, derived));
            }
            b"TA" => {
                let argument = self.argument()?;
                return self.add(Node::Special("template parameter object for ", argument));
            }
            b"TH" | b"TW" | b"GV" => {
                let (name, _) = self.name()?;
                let words = match &code {
                    b"TH" => "TLS init function for ",
                    b"TW" => "TLS wrapper function for ",
                    _ => "guard variable for ",
                };
                return self.add(Node::Special(words, name));
            }
            b"GR" => {
                let (name, _) = self.name()?;
                let number = self.substitution_number().unwrap_or(0);
                return self.add(Node::ReferenceTemporary(name, u32::try_from(number).ok()?));
            }
            b"GI" => {
                let module = self.module(None)??;
                return self.add(Node::Special("initializer for module ", module));
            }
            b"GA" => ("hidden alias for ", false),
            b"GT" if self.take(b"n") => ("non-transaction clone for ", false),
            b"GT" if self.take(b"t") => ("transaction clone for ", false),
            _ => return None,
        };
        let of = if of_type { self.any_type()? } else { self.encoding(false)? };
        self.add(Node::Special(words, of))
    }

    fn signed_digits(&mut self) -> Option<()> {
        self.take(b"n");
        (!self.digits().is_empty()).then_some(())
    }

    /// Reads by how much a thunk moves its object.
    fn call_offset(&mut self) -> Option<()> {
        if self.take(b"h") {
            self.signed_digits()?;
            return self.expect(b"_");
        }
        self.expect(b"v")?;
        self.signed_digits()?;
        self.expect(b"_")?;
        self.signed_digits()?;
        self.expect(b"_")
    }

    /// Reads the qualifiers that a function has for its object.
    pub(super) fn qualifiers(&mut self) -> Qualifiers {
        let mut qualifiers = Qualifiers::default();
        loop {
            match self.next() {
                b'r' => qualifiers.is_restrict = true,
                b'V' => qualifiers.is_volatile = true,
                b'K' => qualifiers.is_const = true,
                _ => return qualifiers,
            }
            self.at += 1;
        }
    }
}
