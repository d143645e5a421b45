//! Translation of patterns of Python's `re` to those of the `regex` crate.
//!
//! The two are nearly the same. Syntax with another meaning is spelled differently, and syntax that the crate does not
//! have is refused.

use std::fmt::Write as _;
use std::iter::Peekable;
use std::str::Chars;

use super::SubstitutionError;

type Result<T> = std::result::Result<T, SubstitutionError>;

/// Translates a pattern to the syntax of the `regex` crate.
pub(super) fn translate(pattern: &str) -> Result<String> {
    let mut translation =
        Translation { rest: pattern.chars().peekable(), made: String::with_capacity(pattern.len()) };
    translation.run()?;
    Ok(translation.made)
}

/// The last element of the pattern, which decides if a repetition can follow.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    /// Nothing that can be repeated.
    Nothing,
    /// An element that can be repeated.
    Item,
    /// A repetition.
    Repetition,
}

struct Translation<'p> {
    rest: Peekable<Chars<'p>>,
    made: String,
}

impl Translation<'_> {
    fn run(&mut self) -> Result<()> {
        let mut last = Last::Nothing;
        while let Some(character) = self.rest.next() {
            last = match character {
                '\\' => self.escape(false)?,
                '[' => self.class()?,
                '(' => self.group()?,
                '|' | '^' => self.plain(character, Last::Nothing),
                '*' | '+' | '?' => {
                    let repetition = character.to_string();
                    self.repetition(last, &repetition)?
                }
                '{' => match counted(&self.rest) {
                    Some((repetition, length)) => {
                        self.rest.nth(length - 1);
                        self.repetition(last, &repetition)?
                    }
                    None => self.escaped('{'),
                },
                '}' | ']' => self.escaped(character),
                _ => self.plain(character, Last::Item),
            };
        }
        Ok(())
    }

    fn plain(&mut self, character: char, last: Last) -> Last {
        self.made.push(character);
        last
    }

    fn escaped(&mut self, character: char) -> Last {
        self.made.push('\\');
        self.plain(character, Last::Item)
    }

    /// A character by its code.
    fn numbered(&mut self, number: u32) -> Last {
        // Writing to a String does not fail.
        let _ = write!(self.made, "\\x{{{number:x}}}");
        Last::Item
    }

    fn repetition(&mut self, last: Last, repetition: &str) -> Result<Last> {
        match last {
            Last::Nothing => return Err(SubstitutionError::new("the pattern repeats nothing")),
            Last::Repetition => return Err(SubstitutionError::new("the pattern repeats a repetition")),
            Last::Item => {}
        }
        self.made.push_str(repetition);
        match self.rest.peek() {
            Some('?') => {
                self.rest.next();
                self.made.push('?');
                Ok(Last::Repetition)
            }
            Some('+') => Err(unsupported("holds fast what it found with +")),
            _ => Ok(Last::Repetition),
        }
    }

    /// Translates a group, after `(`.
    fn group(&mut self) -> Result<Last> {
        self.made.push('(');
        if self.rest.next_if_eq(&'?').is_none() {
            return Ok(Last::Nothing);
        }
        let beyond = |rest: &Peekable<Chars<'_>>| rest.clone().nth(1);
        match self.rest.peek().copied() {
            Some(next @ ('=' | '!')) => Err(unsupported(&format!("looks around itself with (?{next}"))),
            Some('<') => match beyond(&self.rest) {
                Some(next @ ('=' | '!')) => Err(unsupported(&format!("looks around itself with (?<{next}"))),
                _ => Err(SubstitutionError::new("the pattern has the unknown group (?<")),
            },
            Some('>') => Err(unsupported("holds fast what it found with (?>")),
            Some('(') => Err(unsupported("depends on a group with (?(")),
            Some('#') => {
                self.made.pop();
                if self.rest.any(|character| character == ')') {
                    // In Python, a repetition after a comment repeats the element before it. Nobody writes that, so it
                    // is refused.
                    return Ok(Last::Nothing);
                }
                Err(SubstitutionError::new("the pattern has a comment without an end"))
            }
            Some('P') if beyond(&self.rest) == Some('=') => Err(refers_back()),
            Some('P') => {
                self.made.push_str("?P");
                self.rest.next();
                // The compiler of the pattern checks the name of the group.
                for character in self.rest.by_ref() {
                    self.made.push(character);
                    if character == '>' {
                        break;
                    }
                }
                Ok(Last::Nothing)
            }
            _ => {
                self.made.push('?');
                for character in self.rest.by_ref() {
                    match character {
                        'i' | 'm' | 's' | 'x' | 'u' | '-' => self.made.push(character),
                        ':' | ')' => {
                            self.made.push(character);
                            return Ok(Last::Nothing);
                        }
                        other => {
                            let other = other.escape_default();
                            return Err(SubstitutionError::new(format!(
                                "the pattern has the unknown flag {other}"
                            )));
                        }
                    }
                }
                Ok(Last::Nothing)
            }
        }
    }

    /// Translates an escape, after a backslash.
    fn escape(&mut self, in_class: bool) -> Result<Last> {
        let Some(character) = self.rest.next() else {
            return Err(SubstitutionError::new("the pattern ends with a backslash"));
        };
        match character {
            '0' => {
                let number = octal(&mut self.rest, 2);
                Ok(self.numbered(number))
            }
            '1'..='9' => {
                let digits: Vec<u32> =
                    self.rest.clone().take(2).map_while(|digit| digit.to_digit(8)).collect();
                match (character.to_digit(8), &digits[..]) {
                    (Some(first), [second, third]) => {
                        self.rest.nth(1);
                        Ok(self.numbered((first * 64 + second * 8 + third) & 0xff))
                    }
                    _ => Err(refers_back()),
                }
            }
            'd' | 'D' | 's' | 'S' | 'w' | 'W' | 'a' | 'f' | 'n' | 'r' | 't' | 'v' => {
                Ok(self.escaped(character))
            }
            'b' if in_class => Ok(self.numbered(8)),
            'b' | 'B' if !in_class => {
                self.escaped(character);
                // The crate would read a brace as part of the escape.
                if self.rest.peek() == Some(&'{') {
                    self.made.push_str("(?:)");
                }
                Ok(Last::Nothing)
            }
            'A' if !in_class => {
                self.escaped('A');
                Ok(Last::Nothing)
            }
            'Z' if !in_class => {
                self.escaped('z');
                Ok(Last::Nothing)
            }
            'x' => self.hexadecimal(2),
            'u' => self.hexadecimal(4),
            'U' => self.hexadecimal(8),
            letter if letter.is_ascii_alphabetic() => {
                Err(SubstitutionError::new(format!("the pattern has the unknown escape \\{letter}")))
            }
            // To the crate, an escaped angle bracket is the edge of a word.
            '<' | '>' => Ok(self.plain(character, Last::Item)),
            punctuation if punctuation.is_ascii_punctuation() => Ok(self.escaped(punctuation)),
            other => Ok(self.plain(other, Last::Item)),
        }
    }

    fn hexadecimal(&mut self, length: usize) -> Result<Last> {
        let digits: String = self.rest.clone().take(length).take_while(char::is_ascii_hexdigit).collect();
        let number = u32::from_str_radix(&digits, 16).ok().filter(|_| digits.len() == length);
        let Some(number) = number else {
            return Err(SubstitutionError::new("the pattern has a character code that is too short"));
        };
        self.rest.nth(length - 1);
        Ok(self.numbered(number))
    }

    /// Translates a class, after `[`. The crate gives a meaning to brackets, `&&`, `--` and `~~`, so they are escaped.
    fn class(&mut self) -> Result<Last> {
        self.made.push('[');
        if self.rest.next_if_eq(&'^').is_some() {
            self.made.push('^');
        }
        let mut is_first = true;
        // `true` if the last character can begin a range.
        let mut may_begin = false;
        while let Some(character) = self.rest.next() {
            match character {
                ']' if !is_first => {
                    self.made.push(']');
                    return Ok(Last::Item);
                }
                '-' if may_begin && !matches!(self.rest.peek(), None | Some(']')) => {
                    self.made.push('-');
                    match self.rest.next() {
                        Some('\\') => {
                            self.escape(true)?;
                        }
                        Some(end) => self.class_member(end),
                        None => break,
                    }
                    may_begin = false;
                }
                '\\' => {
                    self.escape(true)?;
                    may_begin = true;
                }
                _ => {
                    self.class_member(character);
                    may_begin = true;
                }
            }
            is_first = false;
        }
        Err(SubstitutionError::new("the pattern has a [ without its ]"))
    }

    fn class_member(&mut self, character: char) {
        if character.is_ascii_punctuation() && !matches!(character, '<' | '>') {
            self.made.push('\\');
        }
        self.made.push(character);
    }
}

fn refers_back() -> SubstitutionError {
    unsupported("refers back to a group")
}

fn unsupported(what: &str) -> SubstitutionError {
    SubstitutionError::new(format!("the pattern {what}, which is not supported"))
}

/// Reads a number of up to `max_digits` octal digits.
fn octal(rest: &mut Peekable<Chars<'_>>, max_digits: usize) -> u32 {
    let mut number = 0;
    for _ in 0..max_digits {
        match rest.peek().and_then(|digit| digit.to_digit(8)) {
            Some(digit) => number = number * 8 + digit,
            None => break,
        }
        rest.next();
    }
    number
}

/// Reads a repetition such as `{2,3}`, after `{`. Returns its translation and its length without `{`, or `None` if the
/// brace is only a brace.
fn counted(rest: &Peekable<Chars<'_>>) -> Option<(String, usize)> {
    // Longer numbers are larger than the limit of repetitions.
    const MAX_LENGTH: usize = 24;
    let text: String = rest.clone().take(MAX_LENGTH).take_while(|&character| character != '}').collect();
    if text.is_empty() || rest.clone().nth(text.chars().count()) != Some('}') {
        return None;
    }
    let is_number = |text: &str| text.bytes().all(|digit| digit.is_ascii_digit());
    let repetition = match text.split_once(',') {
        Some((least, most)) if is_number(least) && is_number(most) => {
            format!("{{{},{most}}}", if least.is_empty() { "0" } else { least })
        }
        None if is_number(&text) => format!("{{{text}}}"),
        _ => return None,
    };
    Some((repetition, text.len() + 1))
}
