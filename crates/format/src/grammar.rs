//! Two grammars that a file can be held to line by line: the published one, and what Valgrind's tools write.
//!
//! The [`Reader`](crate::Reader) takes much more than either. A grammar only says where a file leaves it.

use crate::factor::Factor;
use crate::line_end::LineEnd;
use crate::scan::{Token, Tokens, is_blank, number, trim_end};
use crate::shape::{Keyed, Shape, shape};

/// The location in a line where it leaves the grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Deviation {
    /// The thing that the grammar has there.
    pub(crate) expected: &'static str,
    pub(crate) offset: usize,
    pub(crate) length: usize,
}

/// Checks the lines of a file one after another.
#[derive(Debug)]
pub(crate) struct Grammar {
    kind: Kind,
    /// The progress through the file.
    place: Place,
    has_events: bool,
    events: usize,
    columns: usize,
    after_call: bool,
    after_jump: bool,
    unended: bool,
    /// Files without a `creator:` line are Cachegrind's, which leaves more blanks and may go below zero.
    has_creator: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Published,
    Practised,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
enum Place {
    Start,
    AfterMarker,
    AfterVersion,
    Header,
    Body,
    AfterTotals,
}

type Checked = Result<(), Deviation>;

fn expect<T>(expected: &'static str, offset: usize, length: usize) -> Result<T, Deviation> {
    Err(Deviation { expected, offset, length })
}

const HEADER_KEYS: &str = "one of the header keys `version`, `creator`, `pid`, `cmd`, `part`, `thread`, `desc`, \
                           `positions`, `event`, `events`, `summary` or `totals`";

impl Grammar {
    pub(crate) fn published() -> Self {
        Self::new(Kind::Published)
    }

    pub(crate) fn practised() -> Self {
        Self::new(Kind::Practised)
    }

    fn new(kind: Kind) -> Self {
        Grammar {
            kind,
            place: Place::Start,
            has_events: false,
            events: 0,
            columns: 1,
            after_call: false,
            after_jump: false,
            unended: false,
            has_creator: false,
        }
    }

    pub(crate) fn check(&mut self, text: &[u8], line_end: LineEnd) -> Option<Deviation> {
        if matches!(line_end, LineEnd::CrLf | LineEnd::Cr) {
            return Some(Deviation {
                expected: "a line feed alone at the end of the line",
                offset: text.len(),
                length: 0,
            });
        }
        self.unended = line_end == LineEnd::Missing;
        self.line(text).err()
    }

    /// Checks the end of the file.
    pub(crate) fn end(&mut self) -> Option<Deviation> {
        let expected = if self.after_call {
            "the cost line of the call"
        } else if self.after_jump && self.kind == Kind::Practised {
            "the position line of the jump"
        } else if self.unended {
            "a line feed at the end of the last line"
        } else if self.place != Place::Start && !self.has_events {
            "an `events:` line"
        } else {
            return None;
        };
        Some(Deviation { expected, offset: 0, length: 0 })
    }

    fn line(&mut self, text: &[u8]) -> Checked {
        let shape = shape(text);
        if self.after_call && shape != Shape::Cost {
            return expect("the cost line of the call", 0, text.len());
        }
        if self.after_jump && shape != Shape::Cost && self.kind == Kind::Practised {
            return expect("the position line of the jump", 0, text.len());
        }
        match shape {
            Shape::Blank if text.is_empty() => Ok(()),
            Shape::Blank => expect("nothing on an empty line", 0, text.len()),
            Shape::Comment(_) => {
                if self.kind == Kind::Practised
                    && (text != b"# callgrind format"
                        || self.place > Place::AfterMarker && !self.begins_again())
                {
                    return expect("no comment except `# callgrind format`", 0, text.len());
                }
                if text == b"# callgrind format" && self.place == Place::Start {
                    self.place = Place::AfterMarker;
                }
                Ok(())
            }
            Shape::Cost => self.cost_line(text),
            Shape::Keyed(keyed) if keyed.has_blank_before_separator() => expect(
                "no blank before the separator",
                keyed.key.len(),
                keyed.separator_offset - keyed.key.len(),
            ),
            Shape::Keyed(keyed) if keyed.separator == b':' => self.header(text, keyed),
            Shape::Keyed(keyed) => self.body(text, keyed),
            Shape::NewProfile | Shape::Unknown => {
                expect("a header line, a cost line, a name line or a comment", 0, text.len())
            }
        }
    }

    /// Callgrind repeats the whole header for each thread of a combined dump.
    fn begins_again(&self) -> bool {
        self.kind == Kind::Practised && self.place == Place::AfterTotals
    }

    fn header(&mut self, text: &[u8], keyed: Keyed<'_>) -> Checked {
        let Keyed { key, value, value_offset: at, .. } = keyed;
        if self.kind == Kind::Practised {
            let blanks = at - keyed.separator_offset - 1;
            let needed = match key {
                b"cmd" => 1..=2,
                b"events" => 1..=2,
                // Cachegrind aligns what follows.
                _ => 1..=1,
            };
            if !(needed.contains(&blanks) || value.is_empty() && blanks <= 1) {
                return expect("one blank after the colon", keyed.separator_offset + 1, blanks);
            }
        }
        match key {
            b"version" => {
                if !matches!(self.place, Place::Start | Place::AfterMarker) && !self.begins_again() {
                    return expect("`version:` at the top of the file", 0, text.len());
                }
                if text != b"version: 1" {
                    return expect("`version: 1`", 0, text.len());
                }
                self.begin_part();
                self.place = Place::AfterVersion;
                return Ok(());
            }
            b"creator" => {
                if self.place > Place::AfterVersion {
                    return expect("`creator:` directly after `version:`", 0, text.len());
                }
                self.has_creator = true;
                self.place = Place::Header;
                return Ok(());
            }
            b"summary" => {
                self.numbers(value, at)?;
                // Cachegrind has it last.
                return match self.place {
                    Place::Body if self.kind == Kind::Practised && !self.has_creator => {
                        self.place = Place::AfterTotals;
                        Ok(())
                    }
                    Place::Body | Place::AfterTotals => expect("`summary:` before the body", 0, text.len()),
                    _ => {
                        self.place = Place::Header;
                        Ok(())
                    }
                };
            }
            b"totals" => {
                self.numbers(value, at)?;
                if self.place == Place::AfterTotals {
                    return expect("one `totals:` line for each part", 0, text.len());
                }
                if !self.has_events {
                    return expect("`totals:` after the body", 0, text.len());
                }
                self.place = Place::AfterTotals;
                return Ok(());
            }
            _ => {}
        }
        if self.place >= Place::Body {
            self.begin_part();
        }
        self.place = Place::Header;
        match key {
            b"pid" | b"part" | b"thread" if self.is_count(value) => Ok(()),
            b"pid" | b"part" | b"thread" => expect("a number", at, value.len()),
            b"cmd" => Ok(()),
            b"desc" => match memchr::memchr(b':', value) {
                Some(_) => Ok(()),
                None => expect("`desc: kind: value`", at, value.len()),
            },
            b"event" => event(value, at),
            b"events" => self.events(value, at),
            b"positions" => self.positions(value, at),
            _ => expect(HEADER_KEYS, 0, key.len()),
        }
    }

    fn begin_part(&mut self) {
        self.has_events = false;
    }

    fn events(&mut self, value: &[u8], at: usize) -> Checked {
        if self.has_events {
            return expect("one `events:` line for each part", 0, at + value.len());
        }
        let mut count = 0;
        for token in Tokens::new(value) {
            if !is_name(token.text) {
                return expect(
                    "an event name: a letter, then letters and digits",
                    at + token.offset,
                    token.text.len(),
                );
            }
            count += 1;
        }
        if count == 0 {
            return expect("an event name", at, 0);
        }
        self.has_events = true;
        self.events = count;
        Ok(())
    }

    fn positions(&mut self, value: &[u8], at: usize) -> Checked {
        let kinds = [&b"instr"[..], b"bb", b"line"];
        let mut allowed = kinds.iter();
        self.columns = 0;
        for token in Tokens::new(value) {
            if !allowed.any(|kind| *kind == token.text) {
                return expect(
                    "`instr`, `bb` and `line`, in this order",
                    at + token.offset,
                    token.text.len(),
                );
            }
            self.columns += 1;
        }
        if self.columns == 0 {
            return expect("`instr`, `bb` or `line`", at, 0);
        }
        Ok(())
    }

    fn enter_body(&mut self, text: &[u8]) -> Checked {
        if !self.has_events {
            return expect("an `events:` line before the body", 0, text.len());
        }
        if self.place == Place::AfterTotals {
            return expect("only the header of another part after `totals:`", 0, text.len());
        }
        self.place = Place::Body;
        Ok(())
    }

    fn body(&mut self, text: &[u8], keyed: Keyed<'_>) -> Checked {
        let Keyed { key, value, value_offset: at, .. } = keyed;
        let practised = self.kind == Kind::Practised;
        self.enter_body(text)?;
        if practised && at != keyed.separator_offset + 1 && !value.is_empty() {
            return expect("no blank after `=`", keyed.separator_offset + 1, at - keyed.separator_offset - 1);
        }
        match key {
            b"ob" | b"fl" | b"fi" | b"fe" | b"fn" | b"cob" | b"cfi" | b"cfn" => self.name(value, at),
            b"cfl" if !practised => self.name(value, at),
            b"jfi" | b"jfn" | b"frfn" if practised => self.name(value, at),
            b"rec" | b"ln" if practised && is_decimal(value) => Ok(()),
            b"rec" | b"ln" if practised => expect("a number", at, value.len()),
            b"bb" if practised => block(value, at),
            b"calls" => {
                let mut tokens = Tokens::new(value);
                self.count(tokens.next(), value, at)?;
                self.target(tokens, value, at)?;
                self.after_call = true;
                Ok(())
            }
            b"jump" => {
                let mut tokens = Tokens::new(value);
                self.count(tokens.next(), value, at)?;
                self.target(tokens, value, at)?;
                self.after_jump = true;
                Ok(())
            }
            b"jcnd" => {
                let mut tokens = Tokens::new(value);
                if practised {
                    let token = tokens.next();
                    let fraction = token.and_then(|token| {
                        let slash = memchr::memchr(b'/', token.text)?;
                        Some(is_decimal(&token.text[..slash]) && is_decimal(&token.text[slash + 1..]))
                    });
                    if fraction != Some(true) {
                        let (offset, length) =
                            token.map_or((value.len(), 0), |token| (token.offset, token.text.len()));
                        return expect("`followed/executed`", at + offset, length);
                    }
                } else {
                    self.count(tokens.next(), value, at)?;
                    self.count(tokens.next(), value, at)?;
                }
                self.target(tokens, value, at)?;
                self.after_jump = true;
                Ok(())
            }
            _ if practised => expect("a body line that Valgrind's tools write", 0, key.len()),
            _ => expect(
                "`ob`, `fl`, `fi`, `fe`, `fn`, `cob`, `cfi`, `cfl`, `cfn`, `calls`, `jump` or `jcnd`",
                0,
                key.len(),
            ),
        }
    }

    fn name(&self, value: &[u8], at: usize) -> Checked {
        let [b'(', digit, ..] = value else { return Ok(()) };
        if !digit.is_ascii_digit() {
            return Ok(());
        }
        let close = memchr::memchr(b')', value).filter(|&close| self.is_count(&value[1..close]));
        let Some(close) = close else {
            return expect("`(number)`, since the name begins with `(` and a digit", at, value.len());
        };
        match &value[close + 1..] {
            [b' ', first, ..] if !is_blank(*first) => Ok(()),
            [_, ..] if self.kind == Kind::Practised => {
                expect("one blank and the name after the id", at + close + 1, value.len() - close - 1)
            }
            _ => Ok(()),
        }
    }

    fn count(&self, token: Option<Token<'_>>, value: &[u8], at: usize) -> Checked {
        match token {
            Some(token) if self.is_count(token.text) => Ok(()),
            Some(token) => expect("a count", at + token.offset, token.text.len()),
            None => expect("a count", at + value.len(), 0),
        }
    }

    /// Valgrind's tools write addresses in hexadecimal, nothing else.
    fn is_count(&self, token: &[u8]) -> bool {
        match self.kind {
            Kind::Published => is_number(token),
            Kind::Practised => is_decimal(token),
        }
    }

    fn target(&self, mut tokens: Tokens<'_>, value: &[u8], at: usize) -> Checked {
        for _ in 0..self.columns {
            subposition(tokens.next(), value, at)?;
        }
        match tokens.next() {
            Some(token) => expect(
                "the end of the line: the target has all its positions",
                at + token.offset,
                token.text.len(),
            ),
            None => Ok(()),
        }
    }

    fn cost_line(&mut self, text: &[u8]) -> Checked {
        self.enter_body(text)?;
        let mut tokens = Tokens::new(text);
        for _ in 0..self.columns {
            subposition(tokens.next(), text, 0)?;
        }
        if self.kind == Kind::Practised {
            self.practised_cost_line(text, tokens.rest())?;
        }
        for (index, token) in tokens.enumerate() {
            if index == self.events {
                return expect("no more costs than event types", token.offset, token.text.len());
            }
            if !self.is_cost(token.text) {
                return expect("a cost: a number", token.offset, token.text.len());
            }
        }
        self.after_call = false;
        self.after_jump = false;
        Ok(())
    }

    /// Checks what Callgrind guarantees as well: its blanks, and that a jump starts on a line without costs.
    fn practised_cost_line(&self, text: &[u8], costs: &[u8]) -> Checked {
        let costs_at = text.len() - costs.len();
        if self.after_jump && !trim_end(costs).is_empty() {
            return expect("no costs where a jump starts", costs_at, costs.len());
        }
        if !self.has_creator {
            return Ok(());
        }
        if let Some(token) = Tokens::new(text).skip(1).find(|token| token.gap != b" ") {
            return expect("one blank between numbers", token.offset - token.gap.len(), token.gap.len());
        }
        let end = trim_end(text).len();
        if end < text.len() && !self.after_jump {
            return expect("nothing behind the last number", end, text.len() - end);
        }
        Ok(())
    }

    fn is_cost(&self, token: &[u8]) -> bool {
        let token = match token {
            [b'-', digits @ ..] if self.kind == Kind::Practised && !self.has_creator => digits,
            b"." if self.kind == Kind::Practised && !self.has_creator => b"0",
            token => token,
        };
        self.is_count(token)
    }

    fn numbers(&self, value: &[u8], at: usize) -> Checked {
        match Tokens::new(value).find(|token| !self.is_cost(token.text)) {
            Some(token) => expect("a cost: a number", at + token.offset, token.text.len()),
            None => Ok(()),
        }
    }
}

/// A position in a text that begins at this offset of the line.
fn subposition(token: Option<Token<'_>>, text: &[u8], at: usize) -> Checked {
    const EXPECTED: &str = "a position: a number, `+number`, `-number` or `*`";
    let Some(token) = token else { return expect(EXPECTED, at + text.len(), 0) };
    let digits = match token.text {
        b"*" => return Ok(()),
        [b'+' | b'-', digits @ ..] => digits,
        digits => digits,
    };
    if is_number(digits) { Ok(()) } else { expect(EXPECTED, at + token.offset, token.text.len()) }
}

/// A number of the published grammar, which has hexadecimal digits of both cases, but no `0X`.
fn is_number(token: &[u8]) -> bool {
    number(token).is_ok() && !token.starts_with(b"0X")
}

fn is_decimal(token: &[u8]) -> bool {
    number(token).is_ok() && token.iter().all(u8::is_ascii_digit)
}

/// The address of a basic block, then pairs of how many instructions were executed how often.
fn block(value: &[u8], at: usize) -> Checked {
    let mut tokens = Tokens::new(value);
    match tokens.next() {
        Some(address) if is_number(address.text) => {}
        address => return expect("an address", at, address.map_or(0, |address| address.text.len())),
    }
    let mut count = 0;
    for token in tokens {
        if !is_decimal(token.text) {
            return expect("a count", at + token.offset, token.text.len());
        }
        count += 1;
    }
    if count == 0 || count % 2 == 1 {
        return expect("pairs of counts behind the address", at + value.len(), 0);
    }
    Ok(())
}

fn event(value: &[u8], at: usize) -> Checked {
    let end =
        value.iter().position(|&byte| byte == b':' || byte == b'=' || is_blank(byte)).unwrap_or(value.len());
    if !is_name(&value[..end]) {
        return expect("an event name: a letter, then letters and digits", at, end);
    }
    let mut formula = &value[end..];
    if let Some(colon) = memchr::memchr(b':', formula) {
        formula = &formula[..colon];
    }
    let formula_at = at + value.len() - value[end..].len();
    let mut inside = trim_end(formula);
    while let [first, rest @ ..] = inside
        && is_blank(*first)
    {
        inside = rest;
    }
    match inside {
        b"" => Ok(()),
        [b'=', terms @ ..] => {
            for term in terms.split(|&byte| byte == b'+') {
                if !is_term(term) {
                    return expect("a formula: names with factors, joined by `+`", formula_at, formula.len());
                }
            }
            Ok(())
        }
        _ => expect("`=` and a formula, or `:` and a long name", formula_at, formula.len()),
    }
}

/// `Ir`, `10 Ir`, `10Ir`, `10 * Ir` or `0x10 Ir`.
pub(crate) fn is_term(term: &[u8]) -> bool {
    is_name(trim_end(Factor::split(term).rest))
}

pub(crate) fn is_name(word: &[u8]) -> bool {
    matches!(word, [first, rest @ ..] if first.is_ascii_alphabetic() && rest.iter().all(u8::is_ascii_alphanumeric))
}

#[cfg(test)]
mod tests;
