//! Types.

use super::ast::{Exceptions, Id, Node, Qualifiers};
use super::operators;
use super::parser::Parser;

impl Parser<'_> {
    pub(super) fn any_type(&mut self) -> Option<Id> {
        self.nested(Self::any_type_unguarded)
    }

    fn any_type_unguarded(&mut self) -> Option<Id> {
        let next = self.next();
        let id = match next {
            b'r' | b'V' | b'K' => return self.qualified(),
            b'P' => {
                self.at += 1;
                let to = self.any_type()?;
                self.add(Node::Pointer(to))?
            }
            b'R' => {
                self.at += 1;
                let to = self.any_type()?;
                self.add(Node::LeftReference(to))?
            }
            b'O' => {
                self.at += 1;
                let to = self.any_type()?;
                self.add(Node::RightReference(to))?
            }
            b'C' | b'G' => {
                self.at += 1;
                let of = self.any_type()?;
                self.add(Node::Suffixed(of, if next == b'C' { " _Complex" } else { " _Imaginary" }))?
            }
            b'u' => {
                self.at += 1;
                let name = self.source_name()?;
                match self.next() {
                    b'I' => {
                        let arguments = self.arguments()?;
                        self.add(Node::Template(name, arguments))?
                    }
                    _ => name,
                }
            }
            b'a'..=b'z' => {
                let builtin = operators::builtin(next)?;
                self.at += 1;
                return self.text(builtin);
            }
            b'F' => self.function_type(Exceptions::Unsaid)?,
            b'A' => self.array()?,
            b'M' => {
                self.at += 1;
                let class = self.any_type()?;
                let member = self.any_type()?;
                self.add(Node::MemberPointer(class, member))?
            }
            b'T' if matches!(self.ahead(1), b's' | b'u' | b'e') => {
                self.at += 2;
                self.name()?.0
            }
            b'T' => return self.of_parameter(),
            b'U' if matches!(self.ahead(1), b'l' | b't') => self.name()?.0,
            b'U' => {
                self.at += 1;
                let mut word = self.source_name()?;
                if self.next() == b'I' {
                    let arguments = self.arguments()?;
                    word = self.add(Node::Template(word, arguments))?;
                }
                let of = self.any_type()?;
                self.add(Node::VendorQualified(of, word))?
            }
            b'D' => match self.ahead(1) {
                b'T' | b't' => self.decltype()?,
                b'p' => {
                    self.at += 2;
                    let pattern = self.any_type()?;
                    self.add(Node::PackExpansion(pattern))?
                }
                b'v' => self.vector()?,
                b'o' | b'O' | b'w' | b'x' => self.function_type_with_exceptions()?,
                letter => {
                    let start = self.at;
                    self.at += 2;
                    if let Some(builtin) = operators::builtin_after_d(letter) {
                        return self.text(builtin);
                    }
                    return self.sized_number(letter, start);
                }
            },
            b'S' if self.ahead(1) != b't' => {
                let mut name = self.substitution()?;
                let is_of_module = self.is_module(name);
                if is_of_module {
                    name = self.in_module(Some(name))?;
                    self.substitutions.push(name);
                }
                if self.next() != b'I' {
                    return Some(name);
                }
                let arguments = self.arguments()?;
                self.add(Node::Template(name, arguments))?
            }
            _ => self.name()?.0,
        };
        self.substitutions.push(id);
        Some(id)
    }

    /// Reads a parameter of a template, which can be a template.
    fn of_parameter(&mut self) -> Option<Id> {
        let parameter = self.template_parameter()?;
        if self.next() != b'I' {
            self.substitutions.push(parameter);
            return Some(parameter);
        }
        if !self.is_conversion {
            self.substitutions.push(parameter);
            let arguments = self.arguments()?;
            return self.substitutable(Node::Template(parameter, arguments));
        }
        // The arguments are those of the conversion, unless others follow.
        let (at, known) = (self.at, self.substitutions.len());
        self.substitutions.push(parameter);
        if let Some(arguments) = self.arguments()
            && self.next() == b'I'
        {
            return self.substitutable(Node::Template(parameter, arguments));
        }
        self.at = at;
        self.substitutions.truncate(known);
        self.substitutions.push(parameter);
        Some(parameter)
    }

    fn qualified(&mut self) -> Option<Id> {
        let Qualifiers { is_const, is_volatile, is_restrict, .. } = self.qualifiers();
        let qualifiers = Qualifiers { is_const, is_volatile, is_restrict, ..Qualifiers::default() };
        let has_exceptions = self.next() == b'D' && matches!(self.ahead(1), b'o' | b'O' | b'w' | b'x');
        if self.next() == b'F' || has_exceptions {
            // Those of a function are for its object.
            let function = match has_exceptions {
                true => self.function_type_with_exceptions()?,
                false => self.function_type(Exceptions::Unsaid)?,
            };
            let Node::FunctionType { returned, parameters, qualifiers: own, exceptions } =
                self.tree.node(function)
            else {
                return None;
            };
            let qualifiers = Qualifiers { reference: own.reference, ..qualifiers };
            return self.substitutable(Node::FunctionType { returned, parameters, qualifiers, exceptions });
        }
        let mut of = self.any_type()?;
        for (is_there, word) in [(is_const, " const"), (is_volatile, " volatile"), (is_restrict, " restrict")]
        {
            if is_there {
                of = self.add(Node::Qualified(of, word))?;
            }
        }
        self.substitutions.push(of);
        Some(of)
    }

    fn function_type_with_exceptions(&mut self) -> Option<Id> {
        let exceptions = match self.code() {
            [_, b'o'] => Exceptions::None,
            [_, b'O'] => {
                self.at += 2;
                let condition = self.expression()?;
                self.expect(b"E")?;
                return self.function_type(Exceptions::NoneIf(condition));
            }
            [_, b'w'] => {
                self.at += 2;
                let types = self.until_end(Self::any_type)?;
                return self.function_type(Exceptions::Only(types));
            }
            _ => Exceptions::Unsaid,
        };
        self.at += 2;
        self.function_type(exceptions)
    }

    fn function_type(&mut self, exceptions: Exceptions) -> Option<Id> {
        // A transaction may call it.
        self.take(b"Dx");
        self.expect(b"F")?;
        // It has the linkage of C.
        self.take(b"Y");
        let returned = self.any_type()?;
        let parameters = self.parameters()?;
        let reference = match self.next() {
            b'R' => "&",
            b'O' => "&&",
            _ => "",
        };
        self.at += usize::from(!reference.is_empty());
        self.expect(b"E")?;
        let qualifiers = Qualifiers { reference, ..Qualifiers::default() };
        self.add(Node::FunctionType { returned, parameters, qualifiers, exceptions })
    }

    fn array(&mut self) -> Option<Id> {
        self.expect(b"A")?;
        let size = match self.next() {
            b'_' => None,
            b'0'..=b'9' => {
                let digits = self.digits();
                Some(self.text(digits)?)
            }
            _ => Some(self.expression()?),
        };
        self.expect(b"_")?;
        let of = self.any_type()?;
        self.add(Node::Array(size, of))
    }

    fn vector(&mut self) -> Option<Id> {
        self.expect(b"Dv")?;
        let size = match self.take(b"_") {
            true => self.expression()?,
            false => {
                let digits = self.digits();
                self.text(digits)?
            }
        };
        self.expect(b"_")?;
        let of = self.any_type()?;
        self.add(Node::Vector(size, of))
    }

    pub(super) fn decltype(&mut self) -> Option<Id> {
        self.expect(b"D")?;
        self.at += 1;
        let expression = self.expression()?;
        self.expect(b"E")?;
        self.add(Node::Decltype(expression))
    }

    /// Reads a number with a count of bits: `DF16_`, `DB8_`.
    fn sized_number(&mut self, letter: u8, start: usize) -> Option<Id> {
        let words = match letter {
            b'F' => {
                let bits = self.digits();
                match self.next() {
                    b'x' | b'b' | b'_' => self.at += 1,
                    _ => return None,
                }
                let word = match (bits, &self.since(start)[self.since(start).len() - 1..]) {
                    ("16", "b") => "std::bfloat16_t",
                    ("16", "_") => "_Float16",
                    ("32", "_") => "_Float32",
                    ("64", "_") => "_Float64",
                    ("128", "_") => "_Float128",
                    ("32", "x") => "_Float32x",
                    ("64", "x") => "_Float64x",
                    ("128", "x") => "_Float128x",
                    _ => return None,
                };
                return self.text(word);
            }
            b'B' => "signed _BitInt(",
            b'U' => "unsigned _BitInt(",
            _ => return None,
        };
        let bits = match self.next().is_ascii_digit() {
            true => {
                let digits = self.digits();
                self.text(digits)?
            }
            false => self.expression()?,
        };
        self.expect(b"_")?;
        self.substitutable(Node::BitInt(words, bits))
    }
}
