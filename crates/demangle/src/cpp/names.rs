//! Names: nested, local, of templates, of operators, and those that have no name in the source.

use super::ast::{Id, List, Node, Qualifiers};
use super::operators;
use super::parser::Parser;

/// The starts of names of anonymous namespaces.
const ANONYMOUS: [&str; 3] = ["_GLOBAL__N", "_GLOBAL_.N", "_GLOBAL_$N"];

impl<'a> Parser<'a> {
    /// Reads a name, and the qualifiers that its function has.
    pub(super) fn name(&mut self) -> Option<(Id, Qualifiers)> {
        let plain = |name: Id| (name, Qualifiers::default());
        self.nested(|parser| match parser.next() {
            b'N' => parser.nested_name(),
            b'Z' => parser.local_name(),
            b'S' if parser.ahead(1) != b't' => {
                let (name, is_new) = parser.substituted()?;
                parser.template(name, is_new).map(plain)
            }
            _ => {
                let name = parser.unscoped()?;
                parser.template(name, true).map(plain)
            }
        })
    }

    /// Reads the arguments behind a name, which substitutions can stand for as well if it is new.
    fn template(&mut self, name: Id, is_new: bool) -> Option<Id> {
        if is_new && self.next() == b'I' {
            self.remember(name);
        }
        self.with_arguments(name)
    }

    /// Reads a name outside of classes, in `std` or in none.
    fn unscoped(&mut self) -> Option<Id> {
        if self.take(b"St") {
            let namespace = self.text("std")?;
            let name = self.unqualified()?;
            return self.add(Node::Nested(namespace, name));
        }
        self.unqualified()
    }

    fn nested_name(&mut self) -> Option<(Id, Qualifiers)> {
        self.expect(b"N")?;
        let has_this = self.take(b"H");
        let mut qualifiers = self.qualifiers();
        qualifiers.has_this = has_this;
        if self.take(b"R") {
            qualifiers.reference = "&";
        } else if self.take(b"O") {
            qualifiers.reference = "&&";
        }
        let mut whole: Option<Id> = None;
        loop {
            if self.take(b"E") {
                return Some((whole?, qualifiers));
            }
            let next = match (self.next(), whole) {
                (b'I', Some(name)) => {
                    let arguments = self.arguments()?;
                    self.add(Node::Template(name, arguments))?
                }
                (b'S', None) if self.ahead(1) == b't' => {
                    self.at += 2;
                    whole = Some(self.text("std")?);
                    continue;
                }
                (b'S', scope) => match (self.substituted()?, scope) {
                    ((name, false), None) => {
                        whole = Some(name);
                        continue;
                    }
                    ((_, false), Some(_)) => return None,
                    ((own, true), None) => own,
                    ((own, true), Some(scope)) => self.add(Node::Nested(scope, own))?,
                },
                (b'T', None) => self.template_parameter()?,
                (b'D', None) if matches!(self.ahead(1), b't' | b'T') => self.decltype()?,
                // The initializer of a member.
                (b'M', Some(_)) => {
                    self.at += 1;
                    continue;
                }
                (_, scope) => {
                    let own = self.unqualified()?;
                    match scope {
                        Some(scope) => self.add(Node::Nested(scope, own))?,
                        None => own,
                    }
                }
            };
            whole = Some(next);
            if self.next() != b'E' {
                self.remember(next);
            }
        }
    }

    fn local_name(&mut self) -> Option<(Id, Qualifiers)> {
        self.expect(b"Z")?;
        let function = self.encoding(false)?;
        self.expect(b"E")?;
        if self.take(b"s") {
            self.discriminator()?;
            let text = self.text("string literal")?;
            return Some((self.add(Node::Local(function, text))?, Qualifiers::default()));
        }
        if self.take(b"d") {
            let number = self.sequence_number()?;
            let (name, qualifiers) = self.name()?;
            let inside = self.add(Node::DefaultArgument(number.checked_add(1)?, name))?;
            return Some((self.add(Node::Local(function, inside))?, qualifiers));
        }
        let (name, qualifiers) = self.name()?;
        let is_numbered = !matches!(self.tree.node(name), Node::Lambda { .. } | Node::Unnamed(_));
        if is_numbered {
            self.discriminator()?;
        }
        Some((self.add(Node::Local(function, name))?, qualifiers))
    }

    /// Reads which of several entities of one name in a function it is. Names do not show it.
    fn discriminator(&mut self) -> Option<()> {
        if self.take(b"__") {
            self.number()?;
            return self.expect(b"_");
        }
        if self.next() == b'_' && self.ahead(1).is_ascii_digit() {
            self.at += 2;
        }
        Some(())
    }

    /// Reads one part of a name, with its tags and its module.
    pub(super) fn unqualified(&mut self) -> Option<Id> {
        self.in_module(None)
    }

    /// Reads a name of a module, of which a part may be read already.
    pub(super) fn in_module(&mut self, module: Option<Id>) -> Option<Id> {
        let module = self.module(module)?;
        let name = self.plain_name()?;
        match module {
            Some(module) => self.add(Node::OfModule(name, module)),
            None => Some(name),
        }
    }

    /// Reads the parts of the name of a module.
    pub(super) fn module(&mut self, module: Option<Id>) -> Option<Option<Id>> {
        let mut module = module;
        while self.take(b"W") {
            let is_partition = self.take(b"P");
            let name = self.identifier()?;
            module = Some(self.substitutable(Node::Module(module, is_partition, name))?);
        }
        Some(module)
    }

    /// Reads a substitution, and the name behind it if it is a module: `true` if there is one, which is new.
    pub(super) fn substituted(&mut self) -> Option<(Id, bool)> {
        let id = self.substitution()?;
        match self.tree.node(id) {
            Node::Module(..) => Some((self.in_module(Some(id))?, true)),
            _ => Some((id, false)),
        }
    }

    fn plain_name(&mut self) -> Option<Id> {
        // Internal linkage, and a friend that is defined in a class.
        while matches!(self.next(), b'L' | b'F') {
            self.at += 1;
        }
        let name = match self.next() {
            b'0'..=b'9' => self.source_name()?,
            b'C' if matches!(self.ahead(1), b'1'..=b'5' | b'I') => self.constructor()?,
            b'D' if matches!(self.ahead(1), b'0'..=b'5') => {
                self.at += 2;
                self.add(Node::Destructor(self.last_name))?
            }
            b'D' if self.ahead(1) == b'C' => {
                self.at += 2;
                let names = self.until_end(Self::source_name)?;
                self.add(Node::Binding(names))?
            }
            b'U' => self.unnamed()?,
            b'a'..=b'z' => self.operator_name()?,
            _ => return None,
        };
        self.tagged(name)
    }

    fn tagged(&mut self, name: Id) -> Option<Id> {
        let mut name = name;
        while self.take(b"B") {
            let tag = self.identifier()?;
            name = self.add(Node::Tagged(name, tag))?;
        }
        Some(name)
    }

    /// Reads the length of a name, and the name.
    pub(super) fn identifier(&mut self) -> Option<&'a str> {
        let length = usize::try_from(self.number()?).ok().filter(|&length| length > 0)?;
        let name = self.slice(length)?;
        self.at += length;
        Some(name)
    }

    pub(super) fn source_name(&mut self) -> Option<Id> {
        let name = self.identifier()?;
        let is_anonymous = ANONYMOUS.iter().any(|start| name.starts_with(start));
        self.last_name = if is_anonymous { "(anonymous namespace)" } else { name };
        self.text(self.last_name)
    }

    fn constructor(&mut self) -> Option<Id> {
        self.expect(b"C")?;
        let is_inherited = self.take(b"I");
        matches!(self.next(), b'1'..=b'5').then_some(())?;
        self.at += 1;
        if is_inherited {
            // The class that it is from, whose name it has.
            self.any_type()?;
        }
        self.add(Node::Constructor(self.last_name))
    }

    /// Reads a lambda or a type without a name.
    fn unnamed(&mut self) -> Option<Id> {
        if self.take(b"Ut") {
            let number = self.sequence_number()?;
            return self.add(Node::Unnamed(number.checked_add(1)?));
        }
        self.expect(b"Ul")?;
        let last_name = self.last_name;
        let mut head = Vec::new();
        while self.is_head() {
            let place = u32::try_from(head.len()).ok()?;
            head.push(self.head_parameter("", place)?);
        }
        let head = self.tree.list(&head)?;
        let parameters = self.parameters()?;
        self.expect(b"E")?;
        let number = self.sequence_number()?.checked_add(1)?;
        self.last_name = last_name;
        self.add(Node::Lambda { head, parameters, number })
    }

    /// Returns `true` if a parameter of a template is declared here.
    fn is_head(&self) -> bool {
        matches!(self.code(), [b'T', b'y' | b'n' | b't' | b'p' | b'k'])
    }

    /// Reads a parameter of a template in its place. One of a pack has words before it.
    fn head_parameter(&mut self, pack: &'static str, place: u32) -> Option<Id> {
        self.nested(|parser| {
            parser.expect(b"T")?;
            let kind = parser.next();
            parser.at += 1;
            let (words, of, name) = match kind {
                b'y' => (if pack.is_empty() { "typename " } else { "typename... " }, None, "$T"),
                b'n' => (if pack.is_empty() { " " } else { "... " }, Some(parser.any_type()?), "$N"),
                b'p' if pack.is_empty() => return parser.head_parameter("...", place),
                b't' => {
                    let mut place = 0;
                    while !parser.take(b"E") {
                        parser.head_parameter("", place)?;
                        place += 1;
                    }
                    (if pack.is_empty() { "template " } else { "template... " }, None, "$TT")
                }
                b'k' => (if pack.is_empty() { " " } else { "... " }, Some(parser.name()?.0), "$T"),
                _ => return None,
            };
            parser.add(Node::Declared { words, of, name, place })
        })
    }

    pub(super) fn operator_name(&mut self) -> Option<Id> {
        if self.take(b"li") {
            let name = self.identifier()?;
            return self.add(Node::LiteralOperator(name));
        }
        if self.take(b"cv") {
            let was_conversion = std::mem::replace(&mut self.is_conversion, true);
            let to = self.any_type();
            self.is_conversion = was_conversion;
            return self.add(Node::Conversion(to?));
        }
        if self.next() == b'v' && self.ahead(1).is_ascii_digit() {
            self.at += 2;
            let name = self.source_name()?;
            return self.add(Node::Special("operator ", name));
        }
        let operator = operators::find(&self.code()).filter(|operator| !operator.is_word())?;
        self.at += 2;
        self.add(Node::Operator(operator.text))
    }

    /// Reads what a substitution stands for.
    pub(super) fn substitution(&mut self) -> Option<Id> {
        self.expect(b"S")?;
        if matches!(self.next(), b'_' | b'0'..=b'9' | b'A'..=b'Z') {
            let number = self.substitution_number()?;
            let (id, last_name) = *self.substitutions.get(number)?;
            self.last_name = last_name;
            return Some(id);
        }
        if self.take(b"t") {
            return self.text("std");
        }
        let standard = operators::standard_name(self.next())?;
        self.at += 1;
        self.last_name = standard.own;
        let is_before_constructor = matches!(self.next(), b'C' | b'D');
        let name = self.text(if is_before_constructor { standard.full } else { standard.short })?;
        if self.next() != b'B' {
            return Some(name);
        }
        let name = self.tagged(name)?;
        self.remember(name);
        Some(name)
    }

    /// Reads the arguments of a template behind its name, if it has some.
    pub(super) fn with_arguments(&mut self, name: Id) -> Option<Id> {
        if self.next() != b'I' {
            return Some(name);
        }
        let arguments = self.arguments()?;
        self.add(Node::Template(name, arguments))
    }

    /// Reads the arguments of a template.
    pub(super) fn arguments(&mut self) -> Option<List> {
        self.nested(|parser| {
            parser.expect(b"I")?;
            let last_name = parser.last_name;
            parser.levels += 1;
            let levels = parser.levels;
            let was_conversion = std::mem::replace(&mut parser.is_conversion, false);
            let arguments = parser.until_end(Self::argument)?;
            parser.is_conversion = was_conversion;
            parser.last_name = last_name;
            parser.levels = levels;
            Some(arguments)
        })
    }

    pub(super) fn argument(&mut self) -> Option<Id> {
        self.nested(|parser| match parser.next() {
            b'L' => parser.literal(),
            b'X' => {
                parser.at += 1;
                let expression = parser.expression()?;
                parser.expect(b"E")?;
                Some(expression)
            }
            b'J' | b'I' => {
                parser.at += 1;
                let pack = parser.until_end(Self::argument)?;
                parser.add(Node::Pack(pack))
            }
            // The parameter that it is for.
            b'T' if parser.is_head() => {
                parser.head_parameter("", 0)?;
                parser.argument()
            }
            b'Q' => {
                let constraint = parser.constraint()?;
                parser.add(Node::Special("requires ", constraint))
            }
            _ => parser.any_type(),
        })
    }

    pub(super) fn template_parameter(&mut self) -> Option<Id> {
        self.expect(b"T")?;
        if self.take(b"L") {
            // The level: that of a lambda. Of a constraint, it is one of several templates.
            self.sequence_number()?;
            if self.is_constraint {
                return None;
            }
        }
        let number = usize::try_from(self.sequence_number()?).ok()?;
        self.add(Node::Parameter(number))
    }
}
