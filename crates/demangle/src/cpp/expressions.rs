//! Expressions, which names have where a type depends on a calculation.

use super::ast::{Id, Node};
use super::operators::{self, Operator};
use super::parser::Parser;

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> Option<Id> {
        self.nested(Self::expression_unguarded)
    }

    fn expression_unguarded(&mut self) -> Option<Id> {
        match self.code() {
            [b'L', _] => return self.literal(),
            [b'T', _] => return self.template_parameter(),
            [b'J', _] => {
                self.at += 1;
                let pack = self.until_end(Self::argument)?;
                return self.add(Node::Pack(pack));
            }
            [b'0'..=b'9', _] => return self.unresolved(None),
            _ => {}
        }
        let is_global = self.take(b"gs");
        let code = self.code();
        match &code {
            b"sr" => return self.of_type(),
            b"on" | b"dn" => return self.unresolved(None),
            b"fp" | b"fL" => return self.function_parameter(),
            _ => {}
        }
        self.at += 2;
        match &code {
            b"sp" => {
                let pattern = self.expression()?;
                self.add(Node::PackExpansion(pattern))
            }
            b"sZ" => {
                let pack = self.expression()?;
                self.add(Node::Word("sizeof...", pack))
            }
            b"sP" => {
                let arguments = self.until_end(Self::argument)?;
                let pack = self.add(Node::Pack(arguments))?;
                self.add(Node::Word("sizeof...", pack))
            }
            b"tl" | b"il" => {
                let of = if code == *b"tl" { Some(self.any_type()?) } else { None };
                let values = self.until_end(Self::expression)?;
                self.add(Node::Initializers(of, values))
            }
            b"cl" | b"cp" => {
                let function = self.expression()?;
                let arguments = self.until_end(Self::expression)?;
                self.add(Node::Call(function, arguments))
            }
            b"cv" => self.cast(),
            b"sc" | b"dc" | b"cc" | b"rc" => {
                let word = match &code {
                    b"sc" => "static_cast",
                    b"dc" => "dynamic_cast",
                    b"cc" => "const_cast",
                    _ => "reinterpret_cast",
                };
                let to = self.any_type()?;
                let value = self.expression()?;
                self.add(Node::NamedCast(word, to, value))
            }
            b"st" | b"at" | b"ti" => {
                let of = self.any_type()?;
                self.add(Node::Word(operators::find(&code)?.text, of))
            }
            b"sz" | b"az" | b"te" | b"nx" => {
                let of = self.expression()?;
                self.add(Node::Word(operators::find(&code)?.text, of))
            }
            b"tw" => {
                let value = self.expression()?;
                self.add(Node::Prefix("throw ", value))
            }
            b"tr" => self.text("throw"),
            b"aw" => {
                let value = self.expression()?;
                self.add(Node::Prefix("co_await ", value))
            }
            b"di" => {
                let field = self.source_name()?;
                let value = self.expression()?;
                self.add(Node::Designated { start: ".", at: field, end: "=", value })
            }
            b"dx" => {
                let index = self.expression()?;
                let value = self.expression()?;
                self.add(Node::Designated { start: "[", at: index, end: "]=", value })
            }
            b"dX" => {
                let first = self.expression()?;
                let last = self.expression()?;
                let range = self.add(Node::Binary(first, " ... ", last))?;
                let value = self.expression()?;
                self.add(Node::Designated { start: "[", at: range, end: "]=", value })
            }
            b"so" => self.subobject(),
            b"dt" | b"pt" => {
                let object = self.expression()?;
                let member = self.unresolved(None)?;
                self.add(Node::Binary(object, if code == *b"dt" { "." } else { "->" }, member))
            }
            b"ix" => {
                let array = self.expression()?;
                let index = self.expression()?;
                self.add(Node::Binary(array, "[]", index))
            }
            b"qu" => {
                let condition = self.expression()?;
                let yes = self.expression()?;
                let no = self.expression()?;
                self.add(Node::Condition(condition, yes, no))
            }
            b"pp" | b"mm" => {
                let text = operators::find(&code)?.text;
                let is_prefix = self.take(b"_");
                let value = self.expression()?;
                self.add(if is_prefix { Node::Prefix(text, value) } else { Node::Postfix(value, text) })
            }
            b"nw" | b"na" => self.new_expression(match (&code, is_global) {
                (b"nw", false) => "new",
                (b"nw", true) => "::new",
                (_, false) => "new[]",
                (_, true) => "::new[]",
            }),
            b"dl" | b"da" => {
                let word = match (&code, is_global) {
                    (b"dl", false) => "delete ",
                    (b"dl", true) => "::delete ",
                    (_, false) => "delete[] ",
                    (_, true) => "::delete[] ",
                };
                let value = self.expression()?;
                self.add(Node::Prefix(word, value))
            }
            b"fl" | b"fr" | b"fR" => self.fold(code[1]),
            _ => {
                let operator = operators::find(&code)?;
                self.operands(operator)
            }
        }
    }

    fn operands(&mut self, operator: &'static Operator) -> Option<Id> {
        let first = self.expression()?;
        match operator.operands {
            1 => self.add(Node::Prefix(operator.text, first)),
            2 => {
                let second = self.expression()?;
                self.add(Node::Binary(first, operator.text, second))
            }
            _ => None,
        }
    }

    fn fold(&mut self, kind: u8) -> Option<Id> {
        let operator = operators::find(&self.code())?;
        self.at += 2;
        let first = self.expression()?;
        let (left, right) = match kind {
            b'l' => (None, Some(first)),
            b'r' => (Some(first), None),
            _ => (Some(first), Some(self.expression()?)),
        };
        self.add(Node::Fold(operator.text, left, right))
    }

    fn new_expression(&mut self, word: &'static str) -> Option<Id> {
        let mut placement = Vec::new();
        while !self.take(b"_") {
            placement.push(self.expression()?);
        }
        let placement = self.tree.list(&placement)?;
        let of = self.any_type()?;
        let arguments = match self.take(b"E") {
            true => None,
            false if self.next() == b'i' => Some(self.expression()?),
            false => {
                self.expect(b"pi")?;
                let values = self.until_end(Self::expression)?;
                Some(self.add(Node::Bracketed(values))?)
            }
        };
        self.add(Node::New { word, placement, of, arguments })
    }

    /// Reads a part of an object, as an address in an argument has.
    fn subobject(&mut self) -> Option<Id> {
        let of = self.any_type()?;
        let object = self.expression()?;
        let start = self.at;
        self.take(b"n");
        self.digits();
        let offset = self.since(start);
        while self.take(b"_") {
            self.digits();
        }
        self.take(b"p");
        self.expect(b"E")?;
        self.add(Node::Subobject { object, of, offset: if offset.is_empty() { "0" } else { offset } })
    }

    fn cast(&mut self) -> Option<Id> {
        let was_conversion = std::mem::replace(&mut self.is_conversion, false);
        let to = self.any_type()?;
        self.is_conversion = was_conversion;
        let values = match self.take(b"_") {
            true => self.until_end(Self::expression)?,
            false => {
                let value = self.expression()?;
                self.tree.list(&[value])?
            }
        };
        self.add(Node::Cast(to, values))
    }

    fn function_parameter(&mut self) -> Option<Id> {
        // `fL` is a fold, too; a parameter of an outer function has a number there.
        if self.take(b"fL") {
            if !self.next().is_ascii_digit() {
                return self.fold(b'L');
            }
            self.number()?;
            self.expect(b"p")?;
        } else {
            self.expect(b"fp")?;
        }
        if self.take(b"T") {
            return self.text("this");
        }
        self.qualifiers();
        let number = self.sequence_number()?.checked_add(1)?;
        self.add(Node::FunctionParameter(number))
    }

    /// Reads a name in a type that depends on parameters.
    fn of_type(&mut self) -> Option<Id> {
        self.expect(b"sr")?;
        // Names of several levels have an end of their own.
        let (at, known) = (self.at, self.substitutions.len());
        if self.next().is_ascii_digit()
            && let Some(levels) = self.unresolved(None).and_then(|scope| self.levels(scope))
        {
            return Some(levels);
        }
        self.at = at;
        self.substitutions.truncate(known);
        let scope = self.any_type()?;
        self.unresolved(Some(scope))
    }

    fn levels(&mut self, scope: Id) -> Option<Id> {
        let mut scope = scope;
        while !self.take(b"E") {
            scope = self.unresolved(Some(scope))?;
        }
        self.unresolved(Some(scope))
    }

    /// Reads a name that only the arguments of a template tell the meaning of.
    fn unresolved(&mut self, scope: Option<Id>) -> Option<Id> {
        self.nested(|parser| parser.unresolved_unguarded(scope))
    }

    fn unresolved_unguarded(&mut self, scope: Option<Id>) -> Option<Id> {
        if self.code() == *b"sr" {
            return self.of_type();
        }
        let name = if self.take(b"dn") {
            let of = self.any_type()?;
            self.add(Node::Prefix("~", of))?
        } else if self.take(b"on") {
            self.operator_name()?
        } else {
            self.unqualified()?
        };
        let name = match scope {
            Some(scope) => self.add(Node::Nested(scope, name))?,
            None => name,
        };
        self.with_arguments(name)
    }

    /// Reads a constant, or the name of a function or variable.
    pub(super) fn literal(&mut self) -> Option<Id> {
        self.expect(b"L")?;
        if self.take(b"_Z") || self.take(b"Z") {
            let name = self.encoding(true)?;
            self.expect(b"E")?;
            return Some(name);
        }
        let of = self.any_type()?;
        let is_negative = self.take(b"n");
        let value = self.take_while(|byte| !matches!(byte, b'E' | 0));
        self.expect(b"E")?;
        self.add(Node::Literal { of, value, is_negative })
    }
}
