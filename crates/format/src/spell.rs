//! One record to one line: the values from the record, the blanks and number forms from its spelling.

use memchr::memchr;

use crate::cost::{Cost, CostForm, Costs};
use crate::name::{Name, NameKey, Spelled, spelled, write_id};
use crate::position::{Columns, MAX_COLUMNS, PositionForm, PositionKind, Positions, compressed_form};
use crate::record::{Calls, CostLine, CostRole, EventDefinition, Header, Jump, Line, Words};
use crate::scan::{NumberForm, is_blank, trim_start};
use crate::shape::{Shape, shape};
use crate::style::PositionStyle;

/// The state that positions are spelled against.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PositionState {
    pub(crate) style: PositionStyle,
    pub(crate) columns: Columns,
    /// `true` if there was an absolute position, without which no relative one can be read.
    pub(crate) has_base: bool,
    /// The base that a reader will add relative positions to.
    pub(crate) base: [u64; MAX_COLUMNS],
    /// The position that Callgrind compares with when it chooses a spelling: as the base, but 0 at each function.
    pub(crate) last: [u64; MAX_COLUMNS],
}

/// Appends the line, without its line end.
pub(crate) fn spell(line: &Line<'_>, like: Option<&[u8]>, positions: &PositionState, out: &mut Vec<u8>) {
    Speller { like: like.map(|text| Template { text, at: 0 }), positions, out }.line(line);
}

/// Walks along the line that the spelling is taken from.
struct Template<'s> {
    text: &'s [u8],
    at: usize,
}

impl<'s> Template<'s> {
    fn rest(&self) -> &'s [u8] {
        &self.text[self.at..]
    }

    fn has_colon(&self) -> bool {
        memchr(b':', self.rest()).is_some()
    }

    fn take(&mut self, length: usize) -> &'s [u8] {
        let taken = &self.rest()[..length.min(self.rest().len())];
        self.at += taken.len();
        taken
    }

    fn take_while(&mut self, mut accept: impl FnMut(u8) -> bool) -> &'s [u8] {
        let rest = self.rest();
        self.take(rest.iter().position(|&byte| !accept(byte)).unwrap_or(rest.len()))
    }
}

struct Speller<'s, 'o> {
    like: Option<Template<'s>>,
    positions: &'o PositionState,
    out: &'o mut Vec<u8>,
}

impl<'s> Speller<'s, '_> {
    /// The blanks that stand here, or else these.
    fn gap(&mut self, default: &[u8]) {
        let gap = match &mut self.like {
            Some(template) => template.take_while(is_blank),
            None => default,
        };
        self.out.extend_from_slice(gap);
    }

    /// Blanks between two things that may not run together.
    fn needed_gap(&mut self) {
        let before = self.out.len();
        self.gap(b" ");
        if self.out.len() == before {
            self.out.push(b' ');
        }
    }

    /// Digits of hexadecimal numbers keep their case one by one, where they are the same.
    fn recase(&mut self, start: usize, token: Option<&[u8]>) {
        if let Some(token) = token
            && self.out[start..].eq_ignore_ascii_case(token)
        {
            self.out.truncate(start);
            self.text(token);
        }
    }

    /// The token that stands here, for its form.
    fn token(&mut self) -> Option<&'s [u8]> {
        let token = self.like.as_mut()?.take_while(|byte| !is_blank(byte));
        (!token.is_empty()).then_some(token)
    }

    fn text(&mut self, text: &[u8]) {
        self.out.extend_from_slice(text);
    }

    /// Text that stands in the template as it is.
    fn fixed(&mut self, text: &[u8]) {
        self.text(text);
        if let Some(template) = &mut self.like {
            template.take(text.len());
        }
    }

    /// A key with its separator. A template may hold it under another of its names; one with another key is none.
    fn key(&mut self, key: &[u8], separator: u8, aliases: &[&[u8]], gap: &[u8]) {
        let is_same = |spelled: &[u8]| {
            spelled.eq_ignore_ascii_case(key)
                || aliases.iter().any(|alias| spelled.eq_ignore_ascii_case(alias))
        };
        let keyed = match self.like.as_ref().map(|template| shape(trim_start(template.text))) {
            Some(Shape::Keyed(keyed)) if is_same(keyed.key) => Some(keyed),
            _ => None,
        };
        let Some(keyed) = keyed.filter(|keyed| keyed.separator == separator || key == b"totals") else {
            self.like = None;
            self.text(key);
            self.out.push(separator);
            return self.text(gap);
        };
        self.gap(b"");
        self.text(if aliases.contains(&keyed.key) { keyed.key } else { key });
        self.out.push(keyed.separator);
        // Blanks before the separator are a fault that is not repeated.
        if let Some(template) = &mut self.like {
            template.take(keyed.separator_offset + 1);
        }
        self.gap(gap);
    }

    fn line(&mut self, line: &Line<'_>) {
        match line {
            Line::Blank => self.gap(b""),
            Line::Comment(text) => {
                self.gap(b"");
                self.out.push(b'#');
                self.text(text);
            }
            Line::NewProfile(text) => self.text(text),
            Line::Header(header) => self.header(header),
            Line::Name(key, name) => self.name(*key, name),
            Line::Calls(calls) => self.calls(calls),
            Line::Jump(jump) => self.jump(jump),
            Line::Cost(line) => self.cost_line(line),
            Line::Numbers(key, numbers) => {
                self.key(key.as_str().as_bytes(), b'=', &[], b"");
                self.numbers(numbers, true);
            }
            Line::UnknownBody { key, value } => self.key_value(key, b'=', value, b""),
        }
    }

    fn key_value(&mut self, key: &[u8], separator: u8, value: &[u8], gap: &[u8]) {
        self.key(key, separator, &[], gap);
        self.text(value);
    }

    fn header(&mut self, header: &Header<'_>) {
        match header {
            Header::Version(value) => self.text_header(b"version", value),
            Header::Creator(value) => self.text_header(b"creator", value),
            Header::Command(value) => self.text_header(b"cmd", value),
            Header::Pid(value) => self.number_header(b"pid", *value),
            Header::Part(value) => self.number_header(b"part", *value),
            Header::Thread(value) => self.number_header(b"thread", *value),
            Header::Description { kind, value } => {
                self.key(b"desc", b':', &[], b" ");
                self.fixed(kind);
                let has_colon = self.like.as_ref().map_or(!kind.is_empty(), Template::has_colon);
                if has_colon || !kind.is_empty() || memchr(b':', value).is_some() {
                    self.gap(b"");
                    self.fixed(b":");
                    self.gap(b" ");
                }
                self.text(value);
            }
            Header::Positions(words) => {
                self.key(b"positions", b':', &[], b" ");
                self.words(words);
            }
            Header::Event(definition) => self.event(definition),
            Header::Events(words) => {
                self.key(b"events", b':', &[], b" ");
                self.words(words);
            }
            Header::Summary(costs) => {
                self.key(b"summary", b':', &[], b" ");
                self.numbers(costs, true);
            }
            Header::Totals(costs) => {
                self.key(b"totals", b':', &[b"total"], b" ");
                if costs.is_null() {
                    return self.text(b"(null)");
                }
                self.numbers(costs, true);
            }
            Header::Other { key, value } => self.key_value(key, b':', value, b" "),
        }
    }

    fn text_header(&mut self, key: &[u8], value: &[u8]) {
        self.key(key, b':', &[], b" ");
        self.text(value);
    }

    fn number_header(&mut self, key: &[u8], value: u64) {
        self.key(key, b':', &[], b" ");
        let (start, token) = (self.out.len(), self.token());
        token.map_or(NumberForm::DECIMAL, NumberForm::from_token).write(value, self.out);
        self.recase(start, token);
        self.gap(b"");
    }

    fn event(&mut self, definition: &EventDefinition<'_>) {
        self.key(b"event", b':', &[], b" ");
        self.fixed(definition.name);
        if let Some(formula) = definition.formula {
            self.gap(b" ");
            self.fixed(b"=");
            self.gap(b" ");
            self.fixed(formula);
        }
        let Some(long_name) = definition.long_name else { return self.gap(b"") };
        let needs_colon = definition.formula.is_some()
            || long_name.is_empty()
            || long_name.iter().any(|byte| matches!(byte, b':' | b'='));
        if needs_colon || self.like.as_ref().is_none_or(Template::has_colon) {
            self.gap(b" ");
            self.fixed(b":");
            self.gap(b" ");
        } else {
            self.needed_gap();
        }
        self.text(long_name);
    }

    fn words(&mut self, words: &Words<'_>) {
        for (index, word) in words.iter().enumerate() {
            if index > 0 {
                self.needed_gap();
            }
            self.token();
            self.text(word);
        }
        self.gap(b"");
    }

    fn numbers(&mut self, numbers: &Costs<'_>, first: bool) {
        for (index, number) in numbers.iter().enumerate() {
            if index > 0 || !first {
                self.needed_gap();
            }
            let value = number.unwrap_or_else(|fault| fault.repaired);
            self.number(value);
        }
        self.gap(b"");
    }

    fn number(&mut self, value: Cost) {
        let (start, token) = (self.out.len(), self.token());
        token.map_or(CostForm::Number(NumberForm::DECIMAL), CostForm::from_token).write(value, self.out);
        self.recase(start, token);
    }

    fn name(&mut self, key: NameKey, name: &Name<'_>) {
        self.key(key.as_str().as_bytes(), b'=', &[], b"");
        let Some(id) = name.id else { return self.text(name.bytes()) };
        let like = self.like.as_ref().map(|template| spelled(template.rest()));
        let (form, after) = match like {
            Some(Spelled::Numbered { rest, .. }) => {
                let opened = self.like.as_ref().map_or(&b""[..], Template::rest);
                let digits = &opened[1..opened.len() - rest.len() - 1];
                let blanks = &rest[..rest.len() - trim_start(rest).len()];
                (NumberForm::from_token(digits), Some((blanks, blanks.len() == rest.len())))
            }
            _ => (NumberForm::DECIMAL, None),
        };
        write_id(id, form, self.out);
        let text = if name.defines { name.text } else { None };
        match (text, after) {
            // The blanks of a definition that has a name, or that has only a blank.
            (Some(text), Some((blanks, bare))) if !blanks.is_empty() && (!bare || text.is_empty()) => {
                self.text(blanks);
                self.text(text);
            }
            (Some(text), Some((b"", false))) if !text.is_empty() => self.text(text),
            (Some(text), _) => {
                self.out.push(b' ');
                self.text(text);
            }
            // Behind a number that stands for nothing yet, a blank would define it.
            (None, Some((blanks, true))) if name.text.is_some() => self.text(blanks),
            (None, _) => {}
        }
    }

    fn calls(&mut self, calls: &Calls) {
        self.key(b"calls", b'=', &[b"rcalls"], b"");
        self.number(calls.count);
        self.target(&calls.target);
    }

    fn jump(&mut self, jump: &Jump) {
        let Some(executed) = jump.executed else {
            self.key(b"jump", b'=', &[], b"");
            self.number(jump.taken);
            return self.target(&jump.target);
        };
        self.key(b"jcnd", b'=', &[], b"");
        let slash = self.like.as_ref().is_none_or(|template| {
            template.rest().iter().take_while(|&&byte| !is_blank(byte)).any(|&byte| byte == b'/')
        });
        if slash {
            let token = self.token();
            let forms = token.and_then(|token| {
                let slash = memchr(b'/', token)?;
                Some((CostForm::from_token(&token[..slash]), CostForm::from_token(&token[slash + 1..])))
            });
            let decimal = CostForm::Number(NumberForm::DECIMAL);
            let (taken, all) = forms.unwrap_or((decimal, decimal));
            taken.write(jump.taken, self.out);
            self.out.push(b'/');
            all.write(executed, self.out);
        } else {
            self.number(executed);
            self.needed_gap();
            self.number(jump.taken);
        }
        self.target(&jump.target);
    }

    /// Writes the target of calls and jumps, after a count. Callgrind ends these lines with a blank.
    fn target(&mut self, target: &Positions) {
        for (column, &value) in target.as_slice().iter().enumerate() {
            self.needed_gap();
            self.position(column, value);
        }
        self.gap(b" ");
    }

    fn position(&mut self, column: usize, value: u64) {
        let PositionState { style, columns, has_base, base, last } = *self.positions;
        let place = column.min(MAX_COLUMNS - 1);
        let (start, token) = (self.out.len(), self.token());
        let given = token.map(PositionForm::from_token);
        let usual = match columns.kinds().get(column) {
            Some(PositionKind::Instr | PositionKind::Bb) => PositionForm::HEXADECIMAL,
            _ => PositionForm::ABSOLUTE,
        };
        let absolute = match given {
            Some(form) if form.is_absolute() => form,
            Some(form) => usual.with_range_of(form),
            None => usual,
        };
        let form = match style {
            PositionStyle::AsGiven => given.filter(|_| has_base).unwrap_or(absolute),
            PositionStyle::Absolute => absolute,
            PositionStyle::Compressed => {
                compressed_form(value, last[place], absolute).with_range_of(absolute)
            }
        };
        form.write(value, base[place], self.out);
        self.recase(start, token);
    }

    fn cost_line(&mut self, line: &CostLine<'_>) {
        self.like = self.like.take().filter(|template| shape(trim_start(template.text)) == Shape::Cost);
        self.gap(b"");
        for (column, &value) in line.positions.as_slice().iter().enumerate() {
            if column > 0 {
                self.needed_gap();
            }
            self.position(column, value);
        }
        if line.role == CostRole::JumpSource {
            return self.gap(b" ");
        }
        self.numbers(&line.costs, line.positions.as_slice().is_empty());
    }
}
