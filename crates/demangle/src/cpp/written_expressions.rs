//! The text of expressions.

use std::fmt::{self, Write};

use super::ast::{Id, List, Node, Qualifiers};
use super::printer::Printer;

impl Printer<'_, '_> {
    pub(super) fn expression(&mut self, id: Id) -> fmt::Result {
        match self.tree.node(id) {
            Node::Literal { of, value, is_negative } => self.literal(of, value, is_negative),
            Node::FunctionParameter(number) => write!(self.text, "{{parm#{number}}}"),
            Node::Prefix("&", of) => self.address(of),
            Node::Prefix(sign, of) => {
                self.text.write_str(sign)?;
                self.operand(of)
            }
            Node::Postfix(of, sign) => {
                self.operand(of)?;
                self.text.write_str(sign)
            }
            Node::Binary(array, "[]", index) => {
                self.operand(array)?;
                self.text.write_str("[")?;
                self.print(index)?;
                self.text.write_str("]")
            }
            Node::Binary(left, sign, right) => {
                // It would end the arguments of a template.
                let is_end = sign == ">";
                if is_end {
                    self.text.write_str("(")?;
                }
                self.operand(left)?;
                self.text.write_str(sign)?;
                self.operand(right)?;
                if is_end {
                    self.text.write_str(")")?;
                }
                Ok(())
            }
            Node::Condition(condition, yes, no) => {
                self.operand(condition)?;
                self.text.write_str("?")?;
                self.operand(yes)?;
                self.text.write_str(" : ")?;
                self.operand(no)
            }
            Node::Call(function, arguments) => {
                self.callee(function)?;
                self.in_brackets(arguments)
            }
            Node::NamedCast(word, to, value) => {
                write!(self.text, "{word}<")?;
                self.print(to)?;
                self.text.write_str(">(")?;
                self.print(value)?;
                self.text.write_str(")")
            }
            Node::Cast(to, values) => {
                self.text.write_str("(")?;
                self.print(to)?;
                self.text.write_str(")")?;
                self.in_brackets(values)
            }
            Node::Word("sizeof...", pack) => match self.pack_len(pack, 0) {
                Some(count) => write!(self.text, "{count}"),
                None => self.word("sizeof...", pack),
            },
            Node::Word(word, of) => self.word(word, of),
            Node::Initializers(of, values) => {
                if let Some(of) = of {
                    self.print(of)?;
                }
                self.text.write_str("{")?;
                self.list(values)?;
                self.text.write_str("}")
            }
            Node::New { word, placement, of, arguments } => {
                self.text.write_str(word)?;
                self.text.write_str(" ")?;
                if placement.len() > 0 {
                    self.in_brackets(placement)?;
                    self.text.write_str(" ")?;
                }
                self.print(of)?;
                arguments.map_or(Ok(()), |arguments| self.print(arguments))
            }
            Node::Bracketed(values) => self.in_brackets(values),
            Node::Designated { start, at, end, value } => {
                self.text.write_str(start)?;
                self.print(at)?;
                self.text.write_str(end)?;
                self.operand(value)
            }
            Node::Subobject { object, of, offset } => {
                self.operand(object)?;
                self.text.write_str(".<")?;
                self.print(of)?;
                write!(self.text, " at offset {}>", offset.replace('n', "-"))
            }
            Node::Fold(sign, left, right) => {
                self.text.write_str("(")?;
                if let Some(left) = left {
                    self.operand(left)?;
                    self.text.write_str(sign)?;
                }
                self.text.write_str("...")?;
                if let Some(right) = right {
                    self.text.write_str(sign)?;
                    self.operand(right)?;
                }
                self.text.write_str(")")
            }
            _ => Err(fmt::Error),
        }
    }

    fn word(&mut self, word: &str, of: Id) -> fmt::Result {
        write!(self.text, "{word}(")?;
        self.print(of)?;
        self.text.write_str(")")
    }

    fn in_brackets(&mut self, values: List) -> fmt::Result {
        self.text.write_str("(")?;
        self.list(values)?;
        self.text.write_str(")")
    }

    /// Writes a part of an expression, in brackets if it is more than a name.
    pub(super) fn operand(&mut self, id: Id) -> fmt::Result {
        let is_simple = matches!(
            self.tree.node(id),
            Node::Text(_)
                | Node::Nested(..)
                | Node::FunctionParameter(_)
                | Node::Initializers(..)
                | Node::Designated { .. }
        );
        if is_simple {
            return self.print(id);
        }
        self.text.write_str("(")?;
        self.print(id)?;
        self.text.write_str(")")
    }

    /// Writes what is called: a function without its parameters.
    fn callee(&mut self, id: Id) -> fmt::Result {
        match self.tree.node(id) {
            Node::Function { name, .. } => self.operand(name),
            _ => self.operand(id),
        }
    }

    /// Writes the address of a function or variable; that of a member has no parameters.
    fn address(&mut self, of: Id) -> fmt::Result {
        self.text.write_str("&")?;
        match self.tree.node(of) {
            Node::Function { name, qualifiers, .. }
                if qualifiers == Qualifiers::default()
                    && matches!(self.tree.node(name), Node::Nested(..)) =>
            {
                self.operand(name)
            }
            _ => self.operand(of),
        }
    }

    fn literal(&mut self, of: Id, value: &str, is_negative: bool) -> fmt::Result {
        if value.is_empty() {
            return self.print(of);
        }
        let sign = if is_negative { "-" } else { "" };
        let suffix = match self.tree.node(of) {
            Node::Text("int") => "",
            Node::Text("unsigned int") => "u",
            Node::Text("long") => "l",
            Node::Text("unsigned long") => "ul",
            Node::Text("long long") => "ll",
            Node::Text("unsigned long long") => "ull",
            Node::Text("bool") if matches!(value, "0" | "1") && !is_negative => {
                return self.text.write_str(if value == "1" { "true" } else { "false" });
            }
            node => {
                self.text.write_str("(")?;
                self.print(of)?;
                self.text.write_str(")")?;
                return match node {
                    Node::Text("float" | "double" | "long double" | "__float128") => {
                        write!(self.text, "{sign}[{value}]")
                    }
                    _ => write!(self.text, "{sign}{value}"),
                };
            }
        };
        write!(self.text, "{sign}{value}{suffix}")
    }
}
