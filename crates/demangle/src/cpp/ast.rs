//! The tree of a mangled name of C++. Substitutions make it a graph: a node can have several parents.

/// A node of a [`Tree`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Id(u32);

/// Several nodes in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct List {
    start: u32,
    count: u32,
}

impl List {
    pub(super) fn len(self) -> usize {
        self.count as usize
    }
}

/// The qualifier that a function has for its object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Qualifiers {
    pub(super) is_const: bool,
    pub(super) is_volatile: bool,
    pub(super) is_restrict: bool,
    /// `&` or `&&`.
    pub(super) reference: &'static str,
    /// `true` if the object is the first parameter.
    pub(super) has_this: bool,
}

/// The exceptions that a type of functions allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exceptions {
    Unsaid,
    None,
    NoneIf(Id),
    Only(List),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Node<'a> {
    /// A name or a type that is written as it is.
    Text(&'a str),
    /// `scope::name`
    Nested(Id, Id),
    /// `name<arguments>`
    Template(Id, List),
    /// An argument that is a pack of arguments.
    Pack(List),
    /// A module: the one that it is in, `true` if it is a partition of that, and its name.
    Module(Option<Id>, bool, &'a str),
    /// A name of a module.
    OfModule(Id, Id),
    /// `name[abi:tag]`
    Tagged(Id, &'a str),
    /// A constructor of a class with this name.
    Constructor(&'a str),
    Destructor(&'a str),
    /// An operator, as it is written in its name.
    Operator(&'static str),
    /// `operator type`
    Conversion(Id),
    /// `operator"" name`
    LiteralOperator(&'a str),
    /// A function, and something that it contains.
    Local(Id, Id),
    /// A default argument, counted from the last parameter, and what it contains.
    DefaultArgument(u32, Id),
    /// A lambda: the parameters that it has as a template, and its own.
    Lambda {
        head: List,
        parameters: List,
        number: u32,
    },
    /// A parameter in the head of a lambda that is a template: the words before its name, the type of a value, its name and place.
    Declared {
        words: &'static str,
        of: Option<Id>,
        name: &'static str,
        place: u32,
    },
    Unnamed(u32),
    /// `[a, b]`
    Binding(List),
    /// A function with its parameters.
    Function {
        name: Id,
        returned: Option<Id>,
        parameters: List,
        qualifiers: Qualifiers,
        constraint: Option<Id>,
    },
    /// The type of a function.
    FunctionType {
        returned: Id,
        parameters: List,
        qualifiers: Qualifiers,
        exceptions: Exceptions,
    },
    /// A type with one qualifier, with the space before it.
    Qualified(Id, &'static str),
    /// A type with a qualifier of a vendor.
    VendorQualified(Id, Id),
    Pointer(Id),
    LeftReference(Id),
    RightReference(Id),
    /// An array of this many elements.
    Array(Option<Id>, Id),
    /// A pointer to a member: its class, its type.
    MemberPointer(Id, Id),
    /// A type with words behind it.
    Suffixed(Id, &'static str),
    Vector(Id, Id),
    /// `_BitInt(bits)`, with the words before it.
    BitInt(&'static str, Id),
    PackExpansion(Id),
    Decltype(Id),
    /// A parameter of a template, by its place.
    Parameter(usize),
    /// Words before a name.
    Special(&'static str, Id),
    ConstructionTable(Id, Id),
    /// A copy or a part of a function, with its suffix.
    Clone(Id, &'a str),
    ReferenceTemporary(Id, u32),
    // Expressions.
    Literal {
        of: Id,
        value: &'a str,
        is_negative: bool,
    },
    FunctionParameter(u32),
    Prefix(&'static str, Id),
    Postfix(Id, &'static str),
    Binary(Id, &'static str, Id),
    Condition(Id, Id, Id),
    Call(Id, List),
    /// `word<type>(expression)`
    NamedCast(&'static str, Id, Id),
    Cast(Id, List),
    /// `word (expression or type)`
    Word(&'static str, Id),
    Initializers(Option<Id>, List),
    New {
        word: &'static str,
        placement: List,
        of: Id,
        arguments: Option<Id>,
    },
    Bracketed(List),
    /// The value of one part of an object.
    Designated {
        start: &'static str,
        at: Id,
        end: &'static str,
        value: Id,
    },
    /// A part of an object, of a type, at an offset.
    Subobject {
        object: Id,
        of: Id,
        offset: &'a str,
    },
    /// A fold: its operator, and its sides.
    Fold(&'static str, Option<Id>, Option<Id>),
}

/// The nodes of one name.
#[derive(Debug, Default)]
pub(super) struct Tree<'a> {
    nodes: Vec<Node<'a>>,
    listed: Vec<Id>,
}

impl<'a> Tree<'a> {
    pub(super) fn add(&mut self, node: Node<'a>) -> Option<Id> {
        let id = Id(u32::try_from(self.nodes.len()).ok()?);
        self.nodes.push(node);
        Some(id)
    }

    pub(super) fn list(&mut self, items: &[Id]) -> Option<List> {
        let start = u32::try_from(self.listed.len()).ok()?;
        self.listed.extend_from_slice(items);
        Some(List { start, count: u32::try_from(items.len()).ok()? })
    }

    pub(super) fn node(&self, id: Id) -> Node<'a> {
        self.nodes[id.0 as usize]
    }

    pub(super) fn items(&self, list: List) -> &[Id] {
        &self.listed[list.start as usize..][..list.len()]
    }
}

#[cfg(test)]
mod tests {
    use super::super::parser::Parser;

    #[test]
    fn what_is_read_again_does_not_grow_without_end() {
        let long = 1000;
        for (innermost, end) in
            [(format!("N{}E", "1a".repeat(long)), "E1bE"), (format!("Li{}E", "1".repeat(long)), "E1bE")]
        {
            // Each level is read as two kinds of name, and is neither.
            let levels = 12;
            let name = format!("_Z1fI{}{innermost}{}Evv", "Xsr1aI".repeat(levels), end.repeat(levels));
            let mut parser = Parser::new(&name);
            let _ = parser.whole();
            assert!(parser.tree.nodes.len() <= 64 * (name.len() + 1), "{}", parser.tree.nodes.len());
        }
    }
}
