//! Checks that a value would read back as it is.

use crate::cost::{Cost, CostFault, Costs, is_in_range};
use crate::error::{Error, ErrorKind};
use crate::location::Location;
use crate::position::MAX_COLUMNS;
use crate::record::{EventDefinition, Header, Words};
use crate::scan::{is_blank, trim_end, trim_start};
use crate::shape::{Shape, is_known_key, shape};

/// The reason why a line is not written.
#[derive(Debug)]
pub(super) enum Refusal {
    Line(ErrorKind),
    /// One number of it, which knows its place.
    Cost(CostFault),
}

impl From<ErrorKind> for Refusal {
    fn from(kind: ErrorKind) -> Self {
        Refusal::Line(kind)
    }
}

impl From<CostFault> for Refusal {
    fn from(fault: CostFault) -> Self {
        Refusal::Cost(fault)
    }
}

impl Refusal {
    pub(super) fn into_error(self, location: Location) -> Error {
        match self {
            Refusal::Line(kind) => Error::new(kind, location),
            Refusal::Cost(fault) => refused(&fault.into_error(location), location),
        }
    }
}

/// An error about bytes of a line as one about the same bytes of the line at this location, of which no record follows.
pub(crate) fn refused(error: &Error, location: Location) -> Error {
    let number = |number| usize::try_from(number).unwrap_or(usize::MAX);
    Error::new(error.kind(), location).at(number(error.column() - 1), number(error.length()))
}

pub(super) fn is_one_line(text: &[u8]) -> bool {
    memchr::memchr(b'\n', text).is_none() && text.last() != Some(&b'\r')
}

pub(super) fn one_line(text: &[u8]) -> Result<(), ErrorKind> {
    if is_one_line(text) { Ok(()) } else { Err(ErrorKind::LineEndInText) }
}

/// Checks a value that follows a separator and blanks, up to the end of its line.
fn value(text: &[u8]) -> Result<(), ErrorKind> {
    one_line(text)?;
    if text.first().is_some_and(|first| is_blank(*first)) { Err(ErrorKind::UnreadableText) } else { Ok(()) }
}

pub(super) fn key_value(separator: u8, key: &[u8], text: &[u8]) -> Result<(), ErrorKind> {
    value(text)?;
    let mut line = key.to_vec();
    line.push(separator);
    match shape(&line) {
        Shape::Keyed(keyed)
            if keyed.key == key
                && keyed.separator == separator
                && !is_known_key(separator, &key.to_ascii_lowercase()) =>
        {
            Ok(())
        }
        _ => Err(ErrorKind::UnreadableText),
    }
}

fn words(words: &Words<'_>, most: usize) -> Result<(), ErrorKind> {
    let mut count = 0;
    for word in words {
        one_line(word)?;
        if word.is_empty() || word.iter().any(|&byte| is_blank(byte)) {
            return Err(ErrorKind::UnreadableText);
        }
        count += 1;
    }
    if count == 0 {
        Err(ErrorKind::BadHeader)
    } else if count > most {
        Err(ErrorKind::TooManyPositions)
    } else {
        Ok(())
    }
}

pub(super) fn check_header(header: &Header<'_>) -> Result<(), Refusal> {
    if let Header::Summary(costs) | Header::Totals(costs) = header {
        return check_costs(costs, usize::MAX);
    }
    Ok(check_text(header)?)
}

/// Checks everything except the numbers.
fn check_text(header: &Header<'_>) -> Result<(), ErrorKind> {
    match header {
        Header::Version(text) | Header::Creator(text) | Header::Command(text) => value(text),
        Header::Pid(_) | Header::Part(_) | Header::Thread(_) | Header::Summary(_) | Header::Totals(_) => {
            Ok(())
        }
        Header::Description { kind, value: text } => {
            value(text)?;
            value(kind)?;
            let has_colon = |text: &[u8]| memchr::memchr(b':', text).is_some();
            if has_colon(kind) || trim_end(kind) != *kind {
                return Err(ErrorKind::UnreadableText);
            }
            Ok(())
        }
        Header::Positions(kinds) => words(kinds, MAX_COLUMNS),
        Header::Events(names) => words(names, usize::MAX),
        Header::Event(definition) => check_definition(definition),
        Header::Other { key, value } => key_value(b':', key, value),
    }
}

fn check_definition(definition: &EventDefinition<'_>) -> Result<(), ErrorKind> {
    let EventDefinition { name, formula, long_name } = *definition;
    let holds = |text: &[u8], bytes: &[u8]| text.iter().any(|byte| bytes.contains(byte));
    words(&Words::new(&[name]), 1)?;
    if holds(name, b":=") {
        return Err(ErrorKind::UnreadableText);
    }
    if let Some(formula) = formula {
        one_line(formula)?;
        if holds(formula, b":") || trim_end(trim_start(formula)) != formula {
            return Err(ErrorKind::UnreadableText);
        }
    }
    long_name.map_or(Ok(()), value)
}

pub(super) fn in_range(cost: Cost) -> Result<(), ErrorKind> {
    if is_in_range(cost) { Ok(()) } else { Err(ErrorKind::CostTooLarge) }
}

pub(super) fn check_costs(costs: &Costs<'_>, most: usize) -> Result<(), Refusal> {
    if costs.is_null() {
        return Ok(());
    }
    for (index, cost) in costs.iter().enumerate() {
        if index == most {
            // Decoding knows where the first one too many stands.
            costs.decode(&mut vec![0; most])?;
            return Err(ErrorKind::TooManyCosts.into());
        }
        in_range(cost?)?;
    }
    Ok(())
}
