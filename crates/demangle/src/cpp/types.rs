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
                self.with_arguments(name)?
            }
            b'a'..=b'z' => {
                let builtin = operators::builtin(next)?;
                self.at += 1;
                return self.text(builtin);
            }
            _ if self.is_function_type() => self.function_type(Qualifiers::default())?,
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
                let name = self.source_name()?;
                let word = self.with_arguments(name)?;
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
                letter => {
                    self.at += 2;
                    if let Some(builtin) = operators::builtin_after_d(letter) {
                        return self.text(builtin);
                    }
                    return self.sized_number(letter);
                }
            },
            b'S' if self.ahead(1) != b't' => {
                let (name, is_new) = self.substituted()?;
                if is_new {
                    self.remember(name);
                }
                if self.next() != b'I' {
                    return Some(name);
                }
                self.with_arguments(name)?
            }
            _ => self.name()?.0,
        };
        self.remember(id);
        Some(id)
    }

    /// Reads a parameter of a template, which can be a template.
    fn of_parameter(&mut self) -> Option<Id> {
        let parameter = self.template_parameter()?;
        if self.next() != b'I' {
            self.remember(parameter);
            return Some(parameter);
        }
        if !self.is_conversion {
            self.remember(parameter);
            let arguments = self.arguments()?;
            return self.substitutable(Node::Template(parameter, arguments));
        }
        // The arguments are those of the conversion, unless others follow.
        let (at, known) = (self.at, self.substitutions.len());
        self.remember(parameter);
        if let Some(arguments) = self.arguments()
            && self.next() == b'I'
        {
            return self.substitutable(Node::Template(parameter, arguments));
        }
        self.at = at;
        self.substitutions.truncate(known);
        self.remember(parameter);
        Some(parameter)
    }

    fn qualified(&mut self) -> Option<Id> {
        let qualifiers = self.qualifiers();
        if self.is_function_type() {
            // Those of a function are for its object.
            let function = self.function_type(qualifiers)?;
            self.remember(function);
            return Some(function);
        }
        let Qualifiers { is_const, is_volatile, is_restrict, .. } = qualifiers;
        let mut of = self.any_type()?;
        for (is_there, word) in [(is_const, " const"), (is_volatile, " volatile"), (is_restrict, " restrict")]
        {
            if is_there {
                of = self.add(Node::Qualified(of, word))?;
            }
        }
        self.remember(of);
        Some(of)
    }

    /// Returns `true` if the type of a function is next, perhaps with its exceptions before it.
    fn is_function_type(&self) -> bool {
        matches!(self.code(), [b'F', _] | [b'D', b'o' | b'O' | b'w' | b'x'])
    }

    fn function_type(&mut self, qualifiers: Qualifiers) -> Option<Id> {
        let exceptions = if self.take(b"Do") {
            Exceptions::None
        } else if self.take(b"DO") {
            let condition = self.expression()?;
            self.expect(b"E")?;
            Exceptions::NoneIf(condition)
        } else if self.take(b"Dw") {
            Exceptions::Only(self.until_end(Self::any_type)?)
        } else {
            Exceptions::Unsaid
        };
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
        let qualifiers = Qualifiers { reference, ..qualifiers };
        self.add(Node::FunctionType { returned, parameters, qualifiers, exceptions })
    }

    /// Reads a number, or the expression that it is calculated by.
    fn size(&mut self) -> Option<Id> {
        if !self.next().is_ascii_digit() {
            return self.expression();
        }
        let digits = self.digits();
        self.text(digits)
    }

    fn array(&mut self) -> Option<Id> {
        self.expect(b"A")?;
        let size = if self.next() == b'_' { None } else { Some(self.size()?) };
        self.expect(b"_")?;
        let of = self.any_type()?;
        self.add(Node::Array(size, of))
    }

    fn vector(&mut self) -> Option<Id> {
        self.expect(b"Dv")?;
        let size = if self.take(b"_") { self.expression()? } else { self.size()? };
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
    fn sized_number(&mut self, letter: u8) -> Option<Id> {
        let words = match letter {
            b'F' => {
                let bits = self.digits();
                let suffix = self.next();
                self.at += 1;
                let word = match (bits, suffix) {
                    ("16", b'b') => "std::bfloat16_t",
                    ("16", b'_') => "_Float16",
                    ("32", b'_') => "_Float32",
                    ("64", b'_') => "_Float64",
                    ("128", b'_') => "_Float128",
                    ("32", b'x') => "_Float32x",
                    ("64", b'x') => "_Float64x",
                    ("128", b'x') => "_Float128x",
                    _ => return None,
                };
                return self.text(word);
            }
            b'B' => "signed _BitInt(",
            b'U' => "unsigned _BitInt(",
            _ => return None,
        };
        let bits = self.size()?;
        self.expect(b"_")?;
        self.substitutable(Node::BitInt(words, bits))
    }
}
