//! The text of a tree, as the demangler of GNU tools and Valgrind writes it.
//!
//! A type is written in two halves, around what points to it: `int (*` and `) [4]`. What a parameter of a template stands for is
//! found while it is written, since a substitution can mean another argument in another place.

use std::cell::Cell;
use std::fmt::{self, Write};

use super::ast::{Exceptions, Id, List, Node, Qualifiers, Tree};
use crate::bounded_text::BoundedText;

/// The limit of nesting.
const MAX_DEPTH: u32 = 256;
/// The limits of nodes that are visited: some, and as many for each byte of the name. A pack without elements is none of the text.
const FREE_STEPS: usize = 1 << 12;
const STEPS_OF_BYTE: usize = 128;

/// The arguments of a template whose type is written, and the scope outside of it.
#[derive(Debug, Clone, Copy)]
struct Scope {
    arguments: List,
    outer: Option<usize>,
}

/// A node and the scope that it is read in.
type Place = (Id, Option<usize>);

/// The types that are written around what points to them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Around {
    Nothing,
    Function,
    Array,
}

pub(super) struct Printer<'t, 'a> {
    pub(super) tree: &'t Tree<'a>,
    pub(super) text: BoundedText,
    steps_left: Cell<usize>,
    depth: u32,
    scopes: Vec<Scope>,
    scope: Option<usize>,
    /// The element of packs that is written.
    pack_index: usize,
    /// The lambdas whose parameters are written.
    lambdas: u32,
    /// The head of the lambda whose parameters are written.
    head: List,
}

impl<'t, 'a> Printer<'t, 'a> {
    /// Begins the text of a mangled name, whose length is what the limits are in proportion to.
    pub(super) fn new(tree: &'t Tree<'a>, mangled: &str) -> Self {
        Printer {
            tree,
            text: BoundedText::new(mangled),
            steps_left: Cell::new(FREE_STEPS + STEPS_OF_BYTE * mangled.len()),
            depth: 0,
            scopes: Vec::new(),
            scope: None,
            pack_index: 0,
            lambdas: 0,
            head: List::default(),
        }
    }

    pub(super) fn print(&mut self, id: Id) -> fmt::Result {
        self.left(id)?;
        self.right(id)
    }

    /// Writes a node; an error at a limit.
    fn nested(&mut self, print: impl FnOnce(&mut Self) -> fmt::Result) -> fmt::Result {
        if self.depth >= MAX_DEPTH || !self.count_step() {
            return Err(fmt::Error);
        }
        self.depth += 1;
        print(self)?;
        self.depth -= 1;
        Ok(())
    }

    /// Counts a node; `false` at the limit.
    pub(super) fn count_step(&self) -> bool {
        let left = self.steps_left.get();
        self.steps_left.set(left.saturating_sub(1));
        left > 0
    }

    /// Returns the count of elements, if a parameter stands for a pack.
    pub(super) fn pack_of(&self, number: usize) -> Option<usize> {
        match self.tree.node(self.argument(number, self.scope)?.0) {
            Node::Pack(pack) => Some(self.tree.items(pack).len()),
            _ => None,
        }
    }

    fn in_scope(
        &mut self,
        scope: Option<usize>,
        print: impl FnOnce(&mut Self) -> fmt::Result,
    ) -> fmt::Result {
        let before = std::mem::replace(&mut self.scope, scope);
        print(self)?;
        self.scope = before;
        Ok(())
    }

    /// Returns the argument that a parameter of a template stands for. Those of a lambda stand for nothing.
    fn argument(&self, number: usize, scope: Option<usize>) -> Option<Place> {
        let Scope { arguments, outer } = self.scopes[scope.filter(|_| self.lambdas == 0)?];
        let argument = *self.tree.items(arguments).get(number)?;
        Some((argument, outer))
    }

    /// Follows parameters of templates to what they stand for.
    fn resolved(&self, place: Place) -> Place {
        let mut place = place;
        while let Node::Parameter(number) = self.tree.node(place.0)
            && self.count_step()
            && let Some((argument, outer)) = self.argument(number, place.1)
        {
            place = match self.tree.node(argument) {
                Node::Pack(pack) => match self.tree.items(pack).get(self.pack_index) {
                    Some(&element) => (element, outer),
                    None => break,
                },
                _ => (argument, outer),
            };
        }
        place
    }

    /// Follows a reference to a type that is none, as references of references are one.
    fn referred(&self, reference: Id) -> (&'static str, Place) {
        let mut sign = "&&";
        let mut place = (reference, self.scope);
        while self.count_step() {
            let of = match self.tree.node(place.0) {
                Node::LeftReference(of) => {
                    sign = "&";
                    of
                }
                Node::RightReference(of) => of,
                _ => break,
            };
            place = self.resolved((of, place.1));
        }
        (sign, place)
    }

    fn around(&self, place: Place) -> Around {
        let mut place = place;
        while self.count_step() {
            let (id, scope) = self.resolved(place);
            match self.tree.node(id) {
                Node::FunctionType { .. } => return Around::Function,
                Node::Array(..) => return Around::Array,
                Node::Qualified(of, _) => place = (of, scope),
                _ => break,
            }
        }
        Around::Nothing
    }

    /// Writes the half of a type before what points to it.
    fn left(&mut self, id: Id) -> fmt::Result {
        self.nested(|printer| printer.left_unguarded(id))
    }

    fn left_unguarded(&mut self, id: Id) -> fmt::Result {
        match self.tree.node(id) {
            Node::Parameter(number) => match self.resolved((id, self.scope)) {
                (same, _) if same == id => self.parameter(number),
                (argument, scope) => self.in_scope(scope, |printer| printer.left(argument)),
            },
            Node::Qualified(of, word) => {
                self.left(of)?;
                // The argument of a template can have it already.
                match self.tree.node(self.resolved((of, self.scope)).0) {
                    Node::Qualified(_, known) if known == word => Ok(()),
                    _ => self.text.write_str(word),
                }
            }
            Node::Pointer(of) => self.pointer((of, self.scope), |printer| printer.text.write_str("*")),
            Node::LeftReference(_) | Node::RightReference(_) => {
                let (sign, of) = self.referred(id);
                self.pointer(of, |printer| printer.text.write_str(sign))
            }
            Node::MemberPointer(class, member) => {
                let is_around = self.around((member, self.scope)) != Around::Nothing;
                self.pointer((member, self.scope), |printer| {
                    if !is_around {
                        printer.text.write_str(" ")?;
                    }
                    printer.print(class)?;
                    printer.text.write_str("::*")
                })
            }
            Node::FunctionType { returned, .. } => self.returned(returned),
            Node::Array(_, of) => self.left(of),
            _ => self.named(id),
        }
    }

    /// Writes the start of the type that a function returns.
    fn returned(&mut self, returned: Id) -> fmt::Result {
        self.left(returned)?;
        if self.is_open((returned, self.scope)) { Ok(()) } else { self.text.write_str(" ") }
    }

    /// Returns `true` if a type is a pointer to one that is written around it.
    fn is_open(&self, place: Place) -> bool {
        let mut place = place;
        while self.count_step() {
            let (id, scope) = self.resolved(place);
            let (Node::Pointer(of)
            | Node::LeftReference(of)
            | Node::RightReference(of)
            | Node::MemberPointer(_, of)
            | Node::Qualified(of, _)) = self.tree.node(id)
            else {
                return false;
            };
            place = (of, scope);
            if self.around(place) != Around::Nothing {
                return true;
            }
        }
        false
    }

    /// Writes the start of a pointer to a type.
    fn pointer(&mut self, (of, scope): Place, sign: impl FnOnce(&mut Self) -> fmt::Result) -> fmt::Result {
        self.in_scope(scope, |printer| printer.left(of))?;
        match self.around((of, scope)) {
            Around::Nothing => {}
            Around::Function => self.text.write_str("(")?,
            Around::Array => self.text.write_str(" (")?,
        }
        sign(self)
    }

    /// Writes the half of a type behind what points to it.
    fn right(&mut self, id: Id) -> fmt::Result {
        self.nested(|printer| printer.right_unguarded(id))
    }

    fn right_unguarded(&mut self, id: Id) -> fmt::Result {
        match self.tree.node(id) {
            Node::Parameter(_) => match self.resolved((id, self.scope)) {
                (same, _) if same == id => Ok(()),
                (argument, scope) => self.in_scope(scope, |printer| printer.right(argument)),
            },
            Node::Qualified(of, _) => self.right(of),
            Node::Pointer(of) | Node::MemberPointer(_, of) => self.right_of_pointer((of, self.scope)),
            Node::LeftReference(_) | Node::RightReference(_) => {
                let (_, of) = self.referred(id);
                self.right_of_pointer(of)
            }
            Node::FunctionType { returned, parameters, qualifiers, exceptions } => {
                self.parameters(parameters)?;
                self.exceptions(exceptions)?;
                self.qualifiers(qualifiers)?;
                self.right(returned)
            }
            Node::Array(size, of) => {
                if !self.text.ends_with(']') {
                    self.text.write_str(" ")?;
                }
                self.text.write_str("[")?;
                if let Some(size) = size {
                    self.print(size)?;
                }
                self.text.write_str("]")?;
                self.right(of)
            }
            _ => Ok(()),
        }
    }

    fn right_of_pointer(&mut self, (of, scope): Place) -> fmt::Result {
        if self.around((of, scope)) != Around::Nothing {
            self.text.write_str(")")?;
        }
        self.in_scope(scope, |printer| printer.right(of))
    }

    /// Writes a parameter that stands for no single argument.
    fn parameter(&mut self, number: usize) -> fmt::Result {
        if self.lambdas > 0 {
            return match self.tree.items(self.head).get(number).map(|&id| self.tree.node(id)) {
                Some(Node::Declared { name, place, .. }) => write!(self.text, "{name}{place}"),
                _ => write!(self.text, "auto:{}", number + 1),
            };
        }
        match self.argument(number, self.scope) {
            // A pack: an element that it does not have.
            Some(_) => Ok(()),
            None => Err(fmt::Error),
        }
    }

    /// Writes what is no type around another.
    fn named(&mut self, id: Id) -> fmt::Result {
        match self.tree.node(id) {
            Node::Text(text) => self.text.write_str(text),
            Node::Nested(scope, name) | Node::Local(scope, name) => {
                self.print(scope)?;
                self.text.write_str("::")?;
                self.print(name)
            }
            Node::Template(name, arguments) => {
                self.print(name)?;
                self.arguments(arguments)
            }
            Node::Pack(pack) => self.list(pack),
            Node::Module(outer, is_partition, name) => {
                if let Some(outer) = outer {
                    self.print(outer)?;
                    self.text.write_str(if is_partition { ":" } else { "." })?;
                }
                self.text.write_str(name)
            }
            Node::OfModule(name, module) => {
                self.print(name)?;
                self.text.write_str("@")?;
                self.print(module)
            }
            Node::Tagged(name, tag) => {
                self.print(name)?;
                write!(self.text, "[abi:{tag}]")
            }
            Node::Constructor(class) => self.text.write_str(class),
            Node::Destructor(class) => write!(self.text, "~{class}"),
            Node::Operator(text) => write!(self.text, "operator{text}"),
            Node::Conversion(to) => {
                self.text.write_str("operator ")?;
                self.print(to)
            }
            Node::LiteralOperator(name) => write!(self.text, "operator\"\" {name}"),
            Node::DefaultArgument(number, name) => {
                write!(self.text, "{{default arg#{number}}}::")?;
                self.print(name)
            }
            Node::Lambda { head, parameters, number } => {
                self.text.write_str("{lambda")?;
                self.lambdas += 1;
                let outer = std::mem::replace(&mut self.head, head);
                if head.len() > 0 {
                    self.arguments(head)?;
                }
                self.parameters(parameters)?;
                self.head = outer;
                self.lambdas -= 1;
                write!(self.text, "#{number}}}")
            }
            Node::Declared { words, of, name, place } => {
                if let Some(of) = of {
                    self.print(of)?;
                }
                write!(self.text, "{words}{name}{place}")
            }
            Node::Unnamed(number) => write!(self.text, "{{unnamed type#{number}}}"),
            Node::Binding(names) => {
                self.text.write_str("[")?;
                self.list(names)?;
                self.text.write_str("]")
            }
            Node::Function { .. } => {
                let (scope, lambdas) = (self.scope, std::mem::take(&mut self.lambdas));
                self.function(id)?;
                (self.scope, self.lambdas) = (scope, lambdas);
                Ok(())
            }
            Node::VendorQualified(of, word) => {
                self.print(of)?;
                self.text.write_str(" ")?;
                self.print(word)
            }
            Node::Suffixed(of, words) => {
                self.print(of)?;
                self.text.write_str(words)
            }
            Node::Vector(size, of) => {
                self.print(of)?;
                self.text.write_str(" __vector(")?;
                self.print(size)?;
                self.text.write_str(")")
            }
            Node::BitInt(words, bits) => {
                self.text.write_str(words)?;
                self.print(bits)?;
                self.text.write_str(")")
            }
            Node::PackExpansion(pattern) => self.expanded(pattern),
            Node::Decltype(expression) => {
                self.text.write_str("decltype (")?;
                self.print(expression)?;
                self.text.write_str(")")
            }
            Node::Special(words, of) => {
                self.text.write_str(words)?;
                self.print(of)
            }
            Node::ConstructionTable(base, derived) => {
                self.text.write_str("construction vtable for ")?;
                self.print(base)?;
                self.text.write_str("-in-")?;
                self.print(derived)
            }
            Node::Clone(function, suffix) => {
                self.print(function)?;
                write!(self.text, " [clone {suffix}]")
            }
            Node::ReferenceTemporary(name, number) => {
                write!(self.text, "reference temporary #{number} for ")?;
                self.print(name)
            }
            _ => self.expression(id),
        }
    }

    fn function(&mut self, id: Id) -> fmt::Result {
        let Node::Function { name, returned, parameters, qualifiers, constraint } = self.tree.node(id) else {
            return Err(fmt::Error);
        };
        let mut own = name;
        // The arguments are those of the last part of the name.
        while let Node::Local(_, inside) | Node::DefaultArgument(_, inside) = self.tree.node(own) {
            own = inside;
        }
        if let Node::Template(_, arguments) = self.tree.node(own) {
            self.scopes.push(Scope { arguments, outer: self.scope });
            self.scope = Some(self.scopes.len() - 1);
        }
        if let Some(returned) = returned {
            self.returned(returned)?;
        }
        self.print(name)?;
        self.text.write_str(if qualifiers.has_this { "(this " } else { "(" })?;
        self.list(parameters)?;
        self.text.write_str(")")?;
        self.qualifiers(qualifiers)?;
        if let Some(returned) = returned {
            self.right(returned)?;
        }
        if let Some(constraint) = constraint {
            self.text.write_str(" requires ")?;
            self.print(constraint)?;
        }
        Ok(())
    }

    /// Writes types with commas between them.
    pub(super) fn list(&mut self, list: List) -> fmt::Result {
        let tree = self.tree;
        let mut is_first = true;
        for &item in tree.items(list) {
            let before = self.text.len();
            if !is_first {
                self.text.write_str(", ")?;
            }
            let start = self.text.len();
            self.print(item)?;
            // A pack without elements.
            if self.text.len() == start {
                self.text.truncate(before);
            } else {
                is_first = false;
            }
        }
        Ok(())
    }

    fn parameters(&mut self, parameters: List) -> fmt::Result {
        self.text.write_str("(")?;
        self.list(parameters)?;
        self.text.write_str(")")
    }

    fn arguments(&mut self, arguments: List) -> fmt::Result {
        if self.text.ends_with('<') {
            self.text.write_str(" ")?;
        }
        self.text.write_str("<")?;
        self.list(arguments)?;
        self.text.write_str(if self.text.ends_with('>') { " >" } else { ">" })
    }

    fn qualifiers(&mut self, qualifiers: Qualifiers) -> fmt::Result {
        let Qualifiers { is_const, is_volatile, is_restrict, reference, .. } = qualifiers;
        for (is_there, word) in [(is_const, " const"), (is_volatile, " volatile"), (is_restrict, " restrict")]
        {
            if is_there {
                self.text.write_str(word)?;
            }
        }
        match reference {
            "" => Ok(()),
            sign => write!(self.text, " {sign}"),
        }
    }

    fn exceptions(&mut self, exceptions: Exceptions) -> fmt::Result {
        match exceptions {
            Exceptions::Unsaid => Ok(()),
            Exceptions::None => self.text.write_str(" noexcept"),
            Exceptions::NoneIf(condition) => {
                self.text.write_str(" noexcept(")?;
                self.print(condition)?;
                self.text.write_str(")")
            }
            Exceptions::Only(types) => {
                self.text.write_str(" throw(")?;
                self.list(types)?;
                self.text.write_str(")")
            }
        }
    }

    /// Writes a pattern for each element of the pack in it.
    fn expanded(&mut self, pattern: Id) -> fmt::Result {
        let Some(count) = self.pack_len(pattern, 0) else {
            self.operand(pattern)?;
            return self.text.write_str("...");
        };
        let before = self.pack_index;
        for index in 0..count {
            if index > 0 {
                self.text.write_str(", ")?;
            }
            self.pack_index = index;
            self.print(pattern)?;
        }
        self.pack_index = before;
        Ok(())
    }
}
