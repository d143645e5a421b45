//! One line of whatever form: what it says, and what is wrong with it.

use memchr::memchr;

use super::Reader;
use crate::base_rule::BaseRule;
use crate::context::NameContext;
use crate::cost::{Cost, Costs, cost, narrow};
use crate::error::{Error, ErrorKind};
use crate::location::Location;
use crate::name::{Name, NameKey, Spelled, definition_text, spelled};
use crate::part::PartHeader;
use crate::position::{Columns, MAX_COLUMNS, PositionKind, Positions, position};
use crate::record::{
    Calls, CostLine, CostRole, EventDefinition, Header, Jump, Line, NumbersKey, Record, Spelling, Words,
};
use crate::scan::{Tokens, is_blank, number, trim_end, trim_start};
use crate::shape::{Keyed, Shape, is_known_key, lacks_position, shape};

/// The reader of one line, with everything that an error about it needs.
pub(super) struct LineReader<'r, 'a> {
    pub(super) reader: &'r mut Reader<'a>,
    pub(super) text: &'a [u8],
    pub(super) location: Location,
    pub(super) spelling: Spelling<'a>,
}

impl<'a> LineReader<'_, 'a> {
    fn error(&self, kind: ErrorKind, offset: usize, length: usize) -> Error {
        Error::new(kind, self.location).at(offset, length)
    }

    /// An error whose line is yielded all the same.
    fn repaired(&mut self, kind: ErrorKind, offset: usize, length: usize) {
        let error = self.error(kind, offset, length).repaired();
        self.reader.waiting.push_back(Err(error));
    }

    /// An error whose line is lost.
    fn lost(&mut self, kind: ErrorKind, offset: usize, length: usize) {
        let error = self.error(kind, offset, length);
        self.reader.waiting.push_back(Err(error));
    }

    fn yields(&mut self, line: Line<'a>) {
        self.reader.waiting.push_back(Ok(Record {
            location: self.location,
            part: self.reader.part.index,
            line,
            spelling: self.spelling,
        }));
    }

    pub(super) fn read(mut self) {
        self.reader.forget_associated();
        let body = trim_start(self.text);
        let indent = self.text.len() - body.len();
        let shape = shape(body);
        if indent > 0 && !body.is_empty() {
            match shape {
                Shape::Cost
                    if !self.reader.indented && lacks_position(body, self.reader.part.event_types) =>
                {
                    self.begin_cost_line();
                    self.repaired(ErrorKind::MissingPosition, 0, indent);
                    let zeros = Positions::from_array([0; MAX_COLUMNS], self.reader.columns.len());
                    return self.cost_line_with(zeros, body, false);
                }
                Shape::Unknown => {}
                _ => {
                    self.reader.indented |= !matches!(shape, Shape::Cost);
                    self.repaired(ErrorKind::LeadingBlank, 0, indent);
                }
            }
        }
        match shape {
            Shape::Blank => self.yields(Line::Blank),
            Shape::Comment(_) => self.yields(Line::Comment(&body[1..])),
            Shape::Cost => self.cost_line(body, indent),
            Shape::NewProfile => {
                self.reader.check_announced();
                self.reader.part.begin();
                self.forget_part();
                for table in &mut self.reader.names {
                    table.clear();
                }
                self.reader.context = NameContext::default();
                self.yields(Line::NewProfile(body));
            }
            Shape::Keyed(keyed) => {
                self.reader.check_announced();
                self.keyed(keyed, indent);
            }
            Shape::Unknown => {
                self.reader.check_announced();
                self.lost(ErrorKind::UnknownLine, indent, self.text.len() - indent);
            }
        }
    }

    fn keyed(&mut self, keyed: Keyed<'a>, indent: usize) {
        let mut lower = [0; 64];
        let mut key = keyed.key;
        let recased = &mut lower[..key.len().min(64)];
        recased.copy_from_slice(&key[..key.len().min(64)]);
        recased.make_ascii_lowercase();
        if !is_known_key(keyed.separator, key) && is_known_key(keyed.separator, recased) {
            self.repaired(ErrorKind::KeyCase, indent, key.len());
            key = recased;
        }
        if keyed.has_blank_before_separator() {
            self.repaired(ErrorKind::BlankBeforeSeparator, indent + keyed.key.len(), 1);
        }
        let value_offset = indent + keyed.value_offset;
        if keyed.separator == b':' {
            return self.header(key, keyed, value_offset);
        }
        if let Some(name_key) = NameKey::parse(key) {
            return self.name_line(name_key, keyed.value, value_offset);
        }
        if let Some(numbers_key) = NumbersKey::parse(key) {
            let numbers = Costs::from_text(keyed.value, narrow(value_offset));
            self.begin_body();
            if let Some(Err(fault)) = numbers.iter().find(Result::is_err) {
                let error = fault.into_error(self.location);
                self.reader.waiting.push_back(Err(error));
            }
            return self.yields(Line::Numbers(numbers_key, numbers));
        }
        match key {
            b"calls" | b"rcalls" => self.calls(keyed.value, value_offset),
            b"jump" => self.jump(keyed.value, value_offset, false),
            b"jcnd" => self.jump(keyed.value, value_offset, true),
            b"totals" => self.header(key, keyed, value_offset),
            _ => {
                self.begin_body();
                self.yields(Line::UnknownBody { key: keyed.key, value: keyed.value });
            }
        }
    }

    fn header(&mut self, key: &[u8], keyed: Keyed<'a>, value_offset: usize) {
        let value = keyed.value;
        let numbers = Costs::from_text(value, narrow(value_offset));
        let header = match key {
            b"version" => {
                self.part_header(PartHeader::Version);
                Header::Version(value)
            }
            b"creator" => {
                self.part_header(PartHeader::Creator);
                self.reader.context.set_base_rule(BaseRule::from_creator(value));
                Header::Creator(value)
            }
            b"cmd" => Header::Command(value),
            b"pid" => {
                self.part_header(PartHeader::Pid);
                self.number_header(value, value_offset)
                    .map_or(Header::Other { key: keyed.key, value }, Header::Pid)
            }
            b"part" => {
                self.part_header(PartHeader::Part);
                self.number_header(value, value_offset)
                    .map_or(Header::Other { key: keyed.key, value }, Header::Part)
            }
            b"thread" => {
                self.part_header(PartHeader::Thread);
                self.number_header(value, value_offset)
                    .map_or(Header::Other { key: keyed.key, value }, Header::Thread)
            }
            b"desc" => description(value),
            b"positions" => {
                self.part_header(PartHeader::Positions);
                self.columns(value, value_offset);
                Header::Positions(Words::parse(value))
            }
            b"event" => match event_definition(value) {
                Some(definition) => Header::Event(definition),
                None => {
                    self.repaired(ErrorKind::BadHeader, value_offset, value.len());
                    Header::Other { key: keyed.key, value }
                }
            },
            b"events" => {
                self.part_header(PartHeader::Events);
                let words = Words::parse(value);
                if words.is_empty() {
                    self.repaired(ErrorKind::BadHeader, value_offset, 0);
                }
                self.reader.part.events(words.len());
                Header::Events(words)
            }
            b"summary" => {
                self.check_numbers(numbers);
                Header::Summary(numbers)
            }
            b"totals" | b"total" => {
                // Valgrind writes this for an empty tree of allocations.
                if !numbers.is_null() {
                    self.check_numbers(numbers);
                }
                self.reader.part.totals();
                Header::Totals(numbers)
            }
            _ => Header::Other { key: keyed.key, value },
        };
        self.yields(Line::Header(header));
    }

    fn check_numbers(&mut self, numbers: Costs<'_>) {
        for fault in numbers.iter().filter_map(Result::err) {
            let error = fault.into_error(self.location);
            self.reader.waiting.push_back(Err(error));
        }
    }

    fn number_header(&mut self, value: &[u8], offset: usize) -> Option<u64> {
        let digits = trim_end(value);
        match number(digits) {
            Ok(number) => Some(number),
            Err(_) => {
                self.repaired(ErrorKind::BadHeader, offset, digits.len());
                None
            }
        }
    }

    fn columns(&mut self, value: &[u8], value_offset: usize) {
        let mut seen = Vec::new();
        for token in Tokens::new(value) {
            let kind = PositionKind::parse(token.text);
            let offset = value_offset + token.offset;
            if seen.len() == MAX_COLUMNS {
                self.repaired(ErrorKind::TooManyPositions, offset, token.text.len());
                break;
            }
            if kind == PositionKind::Unknown {
                self.repaired(ErrorKind::UnknownPosition, offset, token.text.len());
            }
            seen.push(kind);
        }
        if seen.is_empty() {
            self.repaired(ErrorKind::BadHeader, value_offset, 0);
            seen.push(PositionKind::Line);
        }
        let columns = Columns::new(seen);
        if columns != self.reader.columns {
            self.reader.columns = columns;
            self.reader.base = None;
        }
    }

    /// Takes note of a header line, which may begin a part.
    fn part_header(&mut self, header: PartHeader) {
        if self.reader.part.header(header) {
            self.forget_part();
        }
    }

    /// Resets the state that does not outlive a part.
    fn forget_part(&mut self) {
        #[expect(clippy::cast_possible_truncation, reason = "a place in a slice")]
        let begins = self.location.byte as usize;
        self.reader.names.iter_mut().for_each(|table| table.begin_part(begins));
        self.reader.base = None;
        self.reader.context.forget_last_callee();
        self.reader.said_no_events = false;
        self.reader.said_no_function = false;
    }

    fn begin_body(&mut self) {
        self.reader.part.body();
    }

    fn name_line(&mut self, key: NameKey, value: &'a [u8], offset: usize) {
        self.begin_body();
        let space = key.space();
        let table = &self.reader.names[space];
        let name = match spelled(value) {
            Spelled::Plain(text) => Name::plain(text),
            Spelled::Unclosed(text) => {
                self.repaired(ErrorKind::UnclosedNameId, offset, text.len());
                Name::plain(text)
            }
            Spelled::Numbered { id, rest: b"" } if self.reader.leaves_names => {
                Name { id: Some(id), text: None, defines: false }
            }
            Spelled::Numbered { id, rest } if self.reader.leaves_names => {
                Name::define(id, definition_text(rest))
            }
            Spelled::Numbered { id, rest } => {
                let known = table.get(id);
                let text = definition_text(rest);
                match known {
                    // A blank and nothing after it: a reference, unless there is nothing to refer to.
                    Some(definition) if text.is_empty() => Name::refer(id, definition),
                    None if rest.is_empty() => {
                        if !self.reader.resumed {
                            self.repaired(ErrorKind::UndefinedName(space, id), offset, value.len());
                        }
                        Name { id: Some(id), text: None, defines: false }
                    }
                    _ => {
                        if known.is_some_and(|known| known != text && table.is_of_part(known)) {
                            self.repaired(ErrorKind::RedefinedName(space, id), offset, value.len());
                        }
                        self.reader.names[space].set(id, text);
                        Name::define(id, text)
                    }
                }
            }
        };
        if key == NameKey::Fn {
            self.reader.part.has_function = true;
        }
        if !self.reader.leaves_names || key == NameKey::Frfn {
            self.reader.context.name(key, name);
        }
        self.yields(Line::Name(key, name));
    }

    fn calls(&mut self, value: &'a [u8], offset: usize) {
        self.begin_body();
        let mut tokens = Tokens::new(value);
        let count = self.count(&mut tokens, offset);
        let target = self.target(tokens, value, offset);
        if self.reader.context.callee().is_none() && !self.reader.leaves_names {
            self.repaired(ErrorKind::CallWithoutCallee, 0, self.text.len());
            self.reader.context.repeat_last_callee();
        }
        self.reader.expected = CostRole::Call;
        self.reader.announced = (self.location, self.text.len());
        self.yields(Line::Calls(Calls { count, target }));
    }

    fn jump(&mut self, value: &'a [u8], offset: usize, conditional: bool) {
        self.begin_body();
        let mut tokens = Tokens::new(value);
        let slash = Tokens::new(value)
            .next()
            .and_then(|token| memchr(b'/', token.text).map(|at| (token, token.offset + at)));
        let (taken, executed, rest) = match slash {
            Some((token, at)) if conditional => {
                // As Callgrind writes it: followed/executed.
                let taken = self.count_of(&value[token.offset..at], offset + token.offset);
                let executed =
                    self.count_of(&value[at + 1..token.offset + token.text.len()], offset + at + 1);
                tokens.next();
                (taken, Some(executed), tokens)
            }
            _ if conditional => {
                // As the specification has it: executed, then followed.
                let executed = self.count(&mut tokens, offset);
                let taken = self.count(&mut tokens, offset);
                (taken, Some(executed), tokens)
            }
            _ => (self.count(&mut tokens, offset), None, tokens),
        };
        let target = self.target(rest, value, offset);
        if target.as_slice().is_empty() {
            self.repaired(ErrorKind::BadPosition, self.text.len(), 0);
        }
        self.reader.expected = CostRole::JumpSource;
        self.reader.announced = (self.location, self.text.len());
        self.yields(Line::Jump(Jump { taken, executed, target }));
    }

    fn count(&mut self, tokens: &mut Tokens<'_>, offset: usize) -> Cost {
        match tokens.next() {
            Some(token) => self.count_of(token.text, offset + token.offset),
            None => {
                self.repaired(ErrorKind::BadCount, self.text.len(), 0);
                0
            }
        }
    }

    fn count_of(&mut self, token: &[u8], offset: usize) -> Cost {
        match cost(token) {
            Ok(count) if token != b"." => count,
            Ok(_) => {
                self.repaired(ErrorKind::BadCount, offset, token.len());
                0
            }
            Err((kind, repaired)) => {
                let kind = if kind == ErrorKind::BadCost { ErrorKind::BadCount } else { kind };
                self.repaired(kind, offset, token.len());
                repaired
            }
        }
    }

    /// The positions that a call or jump leads to. They are relative like others, but never become the base.
    fn target(&mut self, tokens: Tokens<'_>, value: &[u8], offset: usize) -> Positions {
        let mut target = Positions::default();
        for token in tokens {
            let place = offset + token.offset;
            debug_assert!(token.offset <= value.len());
            let column = target.as_slice().len();
            if column == MAX_COLUMNS {
                self.repaired(ErrorKind::TooManyPositions, place, token.text.len());
                break;
            }
            // Some write −1 for "unknown", or take the target for relative to nothing.
            let base = self.reader.base.filter(|_| column < self.reader.columns.len());
            let base = Some(base.map_or(0, |base| base[column]));
            match position(token.text, base) {
                Ok(position) => target.push(position),
                Err((kind, repaired)) => {
                    self.repaired(kind, place, token.text.len());
                    target.push(repaired);
                }
            }
        }
        target
    }

    fn begin_cost_line(&mut self) {
        self.begin_body();
        let reader = &mut *self.reader;
        let no_events = !reader.part.has_events && !std::mem::replace(&mut reader.said_no_events, true);
        let no_function = !reader.part.has_function
            && reader.context.from().is_none()
            && !std::mem::replace(&mut reader.said_no_function, true);
        if no_events {
            self.repaired(ErrorKind::CostBeforeEvents, 0, self.text.len());
        }
        if no_function {
            self.repaired(ErrorKind::CostWithoutFunction, 0, self.text.len());
        }
    }

    fn cost_line(&mut self, body: &'a [u8], indent: usize) {
        self.begin_cost_line();
        let mut tokens = Tokens::new(body);
        let columns = self.reader.columns.len();
        let mut positions = Positions::default();
        for column in 0..columns {
            let before = tokens.clone();
            let Some(token) = tokens.next() else {
                self.repaired(ErrorKind::MissingPosition, self.text.len(), 0);
                break;
            };
            let base = self.reader.base.map(|base| base[column]);
            match position(token.text, base) {
                Ok(position) => positions.push(position),
                Err((ErrorKind::BadPosition, repaired)) if column > 0 && cost(token.text).is_ok() => {
                    // A cost where a position should be: as if the position had been left out.
                    self.repaired(ErrorKind::MissingPosition, indent + token.offset, token.text.len());
                    positions.push(repaired);
                    tokens = before;
                    break;
                }
                Err((ErrorKind::BadPosition, _)) if column == 0 && !are_costs(tokens.clone()) => {
                    self.reader.check_announced();
                    return self.lost(ErrorKind::BadPosition, indent + token.offset, token.text.len());
                }
                Err((kind, repaired)) => {
                    self.repaired(kind, indent + token.offset, token.text.len());
                    positions.push(repaired);
                }
            }
        }
        while positions.as_slice().len() < columns {
            let column = positions.as_slice().len();
            positions.push(self.reader.base.map_or(0, |base| base[column]));
        }
        let rest = tokens.rest();
        self.cost_line_with(positions, trim_start(rest), true);
    }

    fn cost_line_with(&mut self, positions: Positions, costs: &'a [u8], has_position: bool) {
        let role = self.reader.role(costs);
        let base = self.reader.base;
        self.reader.take_cost_line(role, positions.array());
        if !has_position {
            self.reader.base = base;
        }
        let costs = self.with_room(costs);
        self.yields(Line::Cost(CostLine { role, positions, costs }));
    }

    /// Costs at the end of the line that know what follows them, which makes decoding fast.
    fn with_room(&self, costs: &[u8]) -> Costs<'a> {
        #[expect(clippy::cast_possible_truncation, reason = "a place in a slice")]
        let from_here = &self.reader.input[self.location.byte as usize..];
        Costs::within(from_here, self.text.len() - costs.len(), self.text.len(), 0)
    }
}

/// `true` if there are costs, and nothing else: then a line with a bad position is a cost line all the same.
fn are_costs(mut tokens: Tokens<'_>) -> bool {
    let some = tokens.clone().next().is_some();
    some && tokens.all(|token| cost(token.text).is_ok())
}

fn description(value: &[u8]) -> Header<'_> {
    match memchr(b':', value) {
        Some(colon) => {
            Header::Description { kind: trim_end(&value[..colon]), value: trim_start(&value[colon + 1..]) }
        }
        None => Header::Description { kind: b"", value },
    }
}

/// Takes `name = formula : long name` apart.
fn event_definition(value: &[u8]) -> Option<EventDefinition<'_>> {
    let (left, long_name) = match memchr(b':', value) {
        Some(colon) => (trim_end(&value[..colon]), Some(trim_start(&value[colon + 1..]))),
        None => (trim_end(value), None),
    };
    let (name, formula) = match memchr(b'=', left) {
        Some(equals) => (trim_end(&left[..equals]), Some(trim_start(&left[equals + 1..]))),
        None => (left, None),
    };
    match (name.iter().position(|&byte| is_blank(byte)), formula, long_name) {
        _ if name.is_empty() => None,
        (None, ..) => Some(EventDefinition { name, formula, long_name }),
        // `event: CPU_0 text`: without a colon, everything after the first word is the long name.
        (Some(end), None, None) => {
            let name = &value[..end];
            Some(EventDefinition { name, formula: None, long_name: Some(trim_start(&value[end..])) })
        }
        _ => None,
    }
}
