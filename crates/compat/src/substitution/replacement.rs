//! The replacement of a substitution.

use regex::bytes::{Captures, Regex};

use super::SubstitutionError;

/// Text and references to groups of the pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Replacement {
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Group(usize),
}

impl Replacement {
    /// Parses a replacement as Python's `re.sub` does. A backslash before the delimiter escapes it.
    pub(super) fn parse(text: &str, delimiter: char, pattern: &Regex) -> Result<Self, SubstitutionError> {
        let mut replacement = Replacement { pieces: Vec::new() };
        let mut rest = text;
        while let Some(character) = take(&mut rest) {
            if character != '\\' {
                replacement.push(character);
                continue;
            }
            let Some(escaped) = take(&mut rest) else {
                return Err(SubstitutionError::new("the replacement ends with a backslash"));
            };
            match escaped {
                _ if escaped == delimiter => replacement.push(escaped),
                '\\' => replacement.push('\\'),
                'a' => replacement.push('\x07'),
                'b' => replacement.push('\x08'),
                'f' => replacement.push('\x0c'),
                'n' => replacement.push('\n'),
                'r' => replacement.push('\r'),
                't' => replacement.push('\t'),
                'v' => replacement.push('\x0b'),
                '0' => {
                    let digits = rest.bytes().take(2).take_while(|digit| (b'0'..=b'7').contains(digit));
                    let digits = digits.count();
                    replacement.push_octal(&rest[..digits]);
                    rest = &rest[digits..];
                }
                '1'..='9' => {
                    let start = text.len() - rest.len() - 1;
                    let octal = text.get(start..start + 3);
                    match octal.filter(|octal| octal.bytes().all(|digit| (b'0'..=b'7').contains(&digit))) {
                        Some(octal) => {
                            replacement.push_octal(octal);
                            rest = &rest[2..];
                        }
                        None => {
                            let digits = 1 + rest.bytes().take(1).filter(u8::is_ascii_digit).count();
                            replacement.push_group(&text[start..start + digits], pattern)?;
                            rest = &rest[digits - 1..];
                        }
                    }
                }
                'g' => {
                    let group = rest.strip_prefix('<').and_then(|rest| rest.split_once('>'));
                    let Some((group, after)) = group.filter(|(group, _)| !group.is_empty()) else {
                        return Err(SubstitutionError::new("\\g needs a group such as <1>"));
                    };
                    replacement.push_group(group, pattern)?;
                    rest = after;
                }
                letter if letter.is_ascii_alphabetic() => {
                    return Err(SubstitutionError::new(format!(
                        "the replacement has the unknown escape \\{letter}"
                    )));
                }
                other => {
                    replacement.push('\\');
                    replacement.push(other);
                }
            }
        }
        Ok(replacement)
    }

    fn push(&mut self, character: char) {
        match self.pieces.last_mut() {
            Some(Piece::Text(text)) => text.push(character),
            _ => self.pieces.push(Piece::Text(character.to_string())),
        }
    }

    fn push_octal(&mut self, digits: &str) {
        let number = u32::from_str_radix(digits, 8).unwrap_or_default() & 0xff;
        self.push(char::from_u32(number).unwrap_or_default());
    }

    fn push_group(&mut self, group: &str, pattern: &Regex) -> Result<(), SubstitutionError> {
        let number = match group.parse() {
            Ok(number) => Some(number).filter(|&number: &usize| number < pattern.captures_len()),
            Err(_) => pattern.capture_names().position(|name| name == Some(group)),
        };
        let number = number.ok_or_else(|| {
            let group = group.escape_default();
            SubstitutionError::new(format!("there is no group {group} in the pattern"))
        })?;
        self.pieces.push(Piece::Group(number));
        Ok(())
    }

    /// Appends the replacement to a name. A group that did not match is empty.
    pub(super) fn append(&self, captures: &Captures<'_>, made: &mut Vec<u8>) {
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => made.extend_from_slice(text.as_bytes()),
                Piece::Group(group) => {
                    made.extend_from_slice(
                        captures.get(*group).map(|found| found.as_bytes()).unwrap_or_default(),
                    );
                }
            }
        }
    }
}

fn take(rest: &mut &str) -> Option<char> {
    let character = rest.chars().next()?;
    *rest = &rest[character.len_utf8()..];
    Some(character)
}
