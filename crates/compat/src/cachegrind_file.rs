//! Files of Cachegrind, as strict as Cachegrind's own tools.
//!
//! A [`Reader`](gristmill_format::Reader) reads these files like all others: it reports a damaged line and skips it.
//! Cachegrind's tools stop at the first one. A file must begin with `desc:` lines, `cmd:` and `events:`, and it must end
//! with a `summary:` that is the sum of its costs. A stand-in must refuse the same files.

use std::fmt;
use std::io::{self, Write};

use memchr::memchr;

use gristmill_format::{Cost, is_in_range};

/// The name of the file and the function of costs before the first name.
const UNSPECIFIED: &[u8] = b"<unspecified>";

/// A file of Cachegrind: its header and its unparsed body.
///
/// ```
/// use gristmill_compat::{CachegrindFile, CachegrindRecord};
///
/// let file = CachegrindFile::read(b"cmd: ./mill\nevents: Ir Dr\nfl=mill.c\nfn=main\n3 20 4\n5 1\nsummary: 21 4\n")?;
/// assert_eq!((file.command, &file.events[..]), (&b"./mill"[..], &[&b"Ir"[..], b"Dr"][..]));
///
/// let mut said = Vec::new();
/// let claimed = file.each(|record| {
///     said.push(match record {
///         CachegrindRecord::Names { file, function } => [file, function].map(String::from_utf8_lossy).join(":"),
///         CachegrindRecord::Line { line, costs } => format!("{line}: {costs:?}"),
///     });
/// })?;
/// assert_eq!(said, ["mill.c:<unspecified>", "mill.c:main", "3: [20, 4]", "5: [1]"]);
/// assert_eq!(claimed, [21, 4]);
/// # Ok::<(), gristmill_compat::CachegrindError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CachegrindFile<'a> {
    /// The values of the `desc:` lines.
    pub descriptions: Vec<&'a [u8]>,
    /// The measured program and its arguments.
    pub command: &'a [u8],
    /// The event types.
    pub events: Vec<&'a [u8]>,
    body: &'a [u8],
    body_line: u64,
}

/// The content of a line. See the example of [`CachegrindFile`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CachegrindRecord<'f, 'a> {
    /// The file and function of the lines that follow. A line with a file name resets the function.
    Names {
        /// The source file.
        file: &'a [u8],
        /// The function.
        function: &'a [u8],
    },
    /// Costs.
    Line {
        /// The line of the source file; 0 if it is unknown.
        line: u64,
        /// The costs, in the order of the event types. Costs that the line omits at its end are 0.
        costs: &'f [Cost],
    },
}

/// The error that makes Cachegrind's tools refuse a file. See the example of [`CachegrindFile`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CachegrindError {
    /// The line number, from 1.
    pub line: u64,
    /// The kind of the error.
    pub kind: CachegrindErrorKind,
}

/// The kind of a [`CachegrindError`]. See the example of [`CachegrindFile`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CachegrindErrorKind {
    /// The `cmd:` line is missing.
    NoCommand,
    /// The `events:` line is missing or empty.
    NoEvents,
    /// The `summary:` line is missing.
    NoSummary,
    /// The line has no known form, or is out of place.
    Malformed,
    /// The line has more costs than there are event types.
    TooManyCosts,
    /// A number is out of range.
    TooLarge,
    /// The `summary:` line is not the sum of the costs.
    SummaryMismatch,
}

impl fmt::Display for CachegrindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            CachegrindErrorKind::NoCommand => "missing a `cmd:` line",
            CachegrindErrorKind::NoEvents => "missing an `events:` line",
            CachegrindErrorKind::NoSummary => "missing the `summary:` line",
            CachegrindErrorKind::Malformed => "malformed or out-of-place line",
            CachegrindErrorKind::TooManyCosts => "more counts than events",
            CachegrindErrorKind::TooLarge => "number too large",
            CachegrindErrorKind::SummaryMismatch => "`summary:` line does not match the sum of the counts",
        })
    }
}

impl std::error::Error for CachegrindError {}

impl<'a> CachegrindFile<'a> {
    /// Reads the header.
    ///
    /// # Errors
    ///
    /// If a line of the header is missing or out of order.
    pub fn read(bytes: &'a [u8]) -> Result<Self, CachegrindError> {
        let mut lines = Lines::new(bytes, 1);
        let mut descriptions = Vec::new();
        let command = loop {
            match lines.next() {
                Some(line) if is_blank(line) => {}
                Some(line) => match (value_of(line, b"desc:"), value_of(line, b"cmd:")) {
                    (Some(description), _) => descriptions.push(description),
                    (_, Some(command)) => break command,
                    _ => return Err(lines.fault(CachegrindErrorKind::NoCommand)),
                },
                None => return Err(lines.fault(CachegrindErrorKind::NoCommand)),
            }
        };
        let events = loop {
            match lines.next() {
                Some(line) if is_blank(line) => {}
                line => match line.and_then(|line| value_of(line, b"events:")) {
                    Some(events) => break words(events).collect::<Vec<_>>(),
                    None => return Err(lines.fault(CachegrindErrorKind::NoEvents)),
                },
            }
        };
        if events.is_empty() {
            return Err(lines.fault(CachegrindErrorKind::NoEvents));
        }
        Ok(CachegrindFile { descriptions, command, events, body: lines.rest, body_line: lines.number })
    }

    /// Passes on names and lines with costs in their order, and returns the values of `summary:`. Names come before the
    /// first costs, even if the file has none.
    ///
    /// # Errors
    ///
    /// Returns the first wrong line. A missing or wrong summary is found at the end, after all lines were passed on.
    pub fn each(&self, mut take: impl FnMut(CachegrindRecord<'_, 'a>)) -> Result<Vec<Cost>, CachegrindError> {
        let mut lines = Lines::new(self.body, self.body_line);
        let mut file = UNSPECIFIED;
        let mut has_names = false;
        let most = self.events.len();
        let mut costs = Vec::new();
        let mut sum = vec![0; most];
        while let Some(line) = lines.next() {
            match line {
                [b'0'..=b'9', ..] => {
                    let (number, rest) = line_number(line).map_err(|kind| lines.fault(kind))?;
                    decode(rest, most, &mut costs).map_err(|kind| lines.fault(kind))?;
                    sum.iter_mut().zip(&costs).for_each(|(sum, cost)| *sum += cost);
                    if !has_names {
                        take(CachegrindRecord::Names { file, function: UNSPECIFIED });
                        has_names = true;
                    }
                    take(CachegrindRecord::Line { line: number, costs: &costs });
                }
                [b'f', b'n', b'=', function @ ..] => {
                    take(CachegrindRecord::Names { file, function });
                    has_names = true;
                }
                [b'f', b'l', b'=', name @ ..] => {
                    file = name;
                    take(CachegrindRecord::Names { file, function: UNSPECIFIED });
                    has_names = true;
                }
                line if is_blank(line) => {}
                line => {
                    let summary =
                        value_of(line, b"summary:").ok_or(lines.fault(CachegrindErrorKind::Malformed))?;
                    decode(summary, most, &mut costs).map_err(|kind| lines.fault(kind))?;
                    let mismatch = lines.fault(CachegrindErrorKind::SummaryMismatch);
                    if lines.any(|line| !is_blank(line)) {
                        return Err(lines.fault(CachegrindErrorKind::Malformed));
                    }
                    costs.resize(most, 0);
                    return if costs == sum { Ok(costs) } else { Err(mismatch) };
                }
            }
        }
        Err(lines.fault(CachegrindErrorKind::NoSummary))
    }
}

/// The lines of a text without their ends.
struct Lines<'a> {
    rest: &'a [u8],
    /// The number of the next line.
    number: u64,
}

impl<'a> Lines<'a> {
    fn new(text: &'a [u8], number: u64) -> Self {
        Lines { rest: text, number }
    }

    /// An error of the last line, or of the first one if there was none.
    fn fault(&self, kind: CachegrindErrorKind) -> CachegrindError {
        CachegrindError { line: self.number.saturating_sub(1).max(1), kind }
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        let (line, rest) = match memchr(b'\n', self.rest) {
            Some(end) => (&self.rest[..end], &self.rest[end + 1..]),
            None => (self.rest, &[][..]),
        };
        self.rest = rest;
        self.number += 1;
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    }
}

/// `true` for an empty line or a comment.
fn is_blank(line: &[u8]) -> bool {
    matches!(line.trim_ascii_start(), [] | [b'#', ..])
}

fn value_of<'a>(line: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    line.strip_prefix(key).map(<[u8]>::trim_ascii_start)
}

fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

/// Reads the number at the beginning of a line. Returns it with the rest of the line.
fn line_number(line: &[u8]) -> Result<(u64, &[u8]), CachegrindErrorKind> {
    let mut number = 0_u64;
    let mut at = 0;
    while let Some(&digit @ b'0'..=b'9') = line.get(at) {
        number = number
            .checked_mul(10)
            .and_then(|number| number.checked_add(u64::from(digit - b'0')))
            .ok_or(CachegrindErrorKind::TooLarge)?;
        at += 1;
    }
    let rest = &line[at..];
    match rest.first() {
        None | Some(b' ' | b'\t') => Ok((number, rest)),
        Some(_) => Err(CachegrindErrorKind::Malformed),
    }
}

/// Reads costs. `.` is 0.
fn decode(text: &[u8], most: usize, costs: &mut Vec<Cost>) -> Result<(), CachegrindErrorKind> {
    // The time depends on the costs of the line, not on the count of event types.
    costs.clear();
    for word in words(text) {
        if costs.len() == most {
            return Err(CachegrindErrorKind::TooManyCosts);
        }
        costs.push(count(word)?);
    }
    Ok(())
}

#[inline]
fn count(word: &[u8]) -> Result<Cost, CachegrindErrorKind> {
    let (is_negative, digits) = match word {
        b"." => return Ok(0),
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(CachegrindErrorKind::Malformed);
    }
    // Nearly every number is short, and then no step can overflow.
    let value = if digits.len() <= 18 {
        Cost::from(digits.iter().fold(0_u64, |value, digit| value * 10 + u64::from(digit - b'0')))
    } else {
        digits
            .iter()
            .try_fold(0, |value: Cost, digit| value.checked_mul(10)?.checked_add(Cost::from(digit - b'0')))
            .ok_or(CachegrindErrorKind::TooLarge)?
    };
    let value = if is_negative { -value } else { value };
    if is_in_range(value) { Ok(value) } else { Err(CachegrindErrorKind::TooLarge) }
}

/// A writer of files of Cachegrind.
///
/// ```
/// use gristmill_compat::CachegrindWriter;
///
/// let mut writer = CachegrindWriter::new(Vec::new(), &[], b"./mill", &[b"Ir"])?;
/// writer.file(b"mill.c")?;
/// writer.function(b"main")?;
/// writer.costs(3, &[20])?;
/// let text = writer.finish(&[20])?;
/// assert_eq!(text, b"cmd: ./mill\nevents: Ir\nfl=mill.c\nfn=main\n3 20\nsummary: 20\n");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct CachegrindWriter<W> {
    sink: W,
    /// The current line.
    line: Vec<u8>,
}

impl<W: Write> CachegrindWriter<W> {
    /// Writes the header.
    ///
    /// # Errors
    ///
    /// Those of the sink.
    pub fn new(sink: W, descriptions: &[&[u8]], command: &[u8], events: &[&[u8]]) -> io::Result<Self> {
        let mut writer = CachegrindWriter { sink, line: Vec::new() };
        for description in descriptions {
            writer.name(b"desc: ", description)?;
        }
        writer.name(b"cmd: ", command)?;
        writer.name(b"events: ", &events.join(&b' '))?;
        Ok(writer)
    }

    /// Writes the file of the functions that follow.
    ///
    /// # Errors
    ///
    /// Those of the sink.
    pub fn file(&mut self, name: &[u8]) -> io::Result<()> {
        self.name(b"fl=", name)
    }

    /// Writes the function of the costs that follow.
    ///
    /// # Errors
    ///
    /// Those of the sink.
    pub fn function(&mut self, name: &[u8]) -> io::Result<()> {
        self.name(b"fn=", name)
    }

    /// Writes the costs of a line.
    ///
    /// # Errors
    ///
    /// Those of the sink.
    pub fn costs(&mut self, line: u64, costs: &[Cost]) -> io::Result<()> {
        self.line.clear();
        push_number(&mut self.line, line.into());
        self.counts(costs)
    }

    /// Writes the last line, with the sum of all costs.
    ///
    /// # Errors
    ///
    /// Those of the sink.
    pub fn finish(mut self, sum: &[Cost]) -> io::Result<W> {
        self.line.clear();
        self.line.extend_from_slice(b"summary:");
        self.counts(sum)?;
        Ok(self.sink)
    }

    fn name(&mut self, key: &[u8], name: &[u8]) -> io::Result<()> {
        self.line.clear();
        self.line.extend_from_slice(key);
        self.line.extend_from_slice(name);
        self.end_line()
    }

    fn counts(&mut self, costs: &[Cost]) -> io::Result<()> {
        for &cost in costs {
            self.line.push(b' ');
            push_number(&mut self.line, cost);
        }
        self.end_line()
    }

    fn end_line(&mut self) -> io::Result<()> {
        self.line.push(b'\n');
        self.sink.write_all(&self.line)
    }
}

/// Appends a number. Formatting half the width is several times as fast, and wide enough for nearly all numbers.
fn push_number(line: &mut Vec<u8>, number: Cost) {
    // Writing to memory does not fail.
    let _ = match u64::try_from(number) {
        Ok(number) => write!(line, "{number}"),
        Err(_) => write!(line, "{number}"),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    type Lines = Vec<(String, String, u64, Vec<Cost>)>;

    fn read(text: &str) -> Result<Lines, (u64, CachegrindErrorKind)> {
        let mut lines = Vec::new();
        let fault = |fault: CachegrindError| (fault.line, fault.kind);
        let text_of = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
        let file = CachegrindFile::read(text.as_bytes()).map_err(fault)?;
        let mut names = (String::new(), String::new());
        file.each(|record| match record {
            CachegrindRecord::Names { file, function } => names = (text_of(file), text_of(function)),
            CachegrindRecord::Line { line, costs } => {
                lines.push((names.0.clone(), names.1.clone(), line, costs.to_vec()));
            }
        })
        .map_err(fault)?;
        Ok(lines)
    }

    #[test]
    fn lines_come_with_their_names() {
        let lines = read(
            "# made by hand\ndesc: a\ndesc:  b\r\ncmd: x\nevents: Ir  Dr \n\n3 1\nfl=a.c\n4 2 2\nfn=f\n5\t-3 .  \n\
             # between\n5 1 1\nfl=b.c\n0\nsummary: 1 3\n\n",
        );
        let line = |file: &str, function: &str, line, costs: &[Cost]| {
            (file.to_owned(), function.to_owned(), line, costs.to_vec())
        };
        assert_eq!(
            lines.unwrap(),
            [
                line("<unspecified>", "<unspecified>", 3, &[1]),
                line("a.c", "<unspecified>", 4, &[2, 2]),
                line("a.c", "f", 5, &[-3, 0]),
                line("a.c", "f", 5, &[1, 1]),
                line("b.c", "<unspecified>", 0, &[]),
            ]
        );
    }

    #[test]
    fn what_does_not_fit_is_refused_with_its_place() {
        use CachegrindErrorKind::*;
        for (text, line, kind) in [
            ("", 1, NoCommand),
            ("desc: a\nevents: Ir\n", 2, NoCommand),
            ("desc: a\n", 1, NoCommand),
            ("cmd: x\ndesc: a\nevents: Ir\n", 2, NoEvents),
            ("cmd: x\n", 1, NoEvents),
            ("cmd: x\nevents: \n", 2, NoEvents),
            ("cmd: x\nevents: Ir\nfl=a\nfn=f\n1 2\n", 5, NoSummary),
            ("cmd: x\nevents: Ir\nfl=a\nfn=f\n1 2 3\nsummary: 2\n", 5, TooManyCosts),
            ("cmd: x\nevents: Ir\nfl=a\nfn=f\n1 x\nsummary: 2\n", 5, Malformed),
            ("cmd: x\nevents: Ir\nfl=a\nfn=f\n1x 2\nsummary: 2\n", 5, Malformed),
            ("cmd: x\nevents: Ir\nfl=a\nfn=f\n1 --2\nsummary: 2\n", 5, Malformed),
            ("cmd: x\nevents: Ir\nfl=a\nfn=f\n1 -\nsummary: 2\n", 5, Malformed),
            ("cmd: x\nevents: Ir\nfl=a\nfn=f\n+1 2\nsummary: 2\n", 5, Malformed),
            ("cmd: x\nevents: Ir\nob=a\nsummary: 2\n", 3, Malformed),
            ("cmd: x\nevents: Ir\n1 99999999999999999999\nsummary: 2\n", 3, TooLarge),
            ("cmd: x\nevents: Ir\n1 99999999999999999999999999999999999999999\nsummary: 2\n", 3, TooLarge),
            ("cmd: x\nevents: Ir\n99999999999999999999 1\nsummary: 2\n", 3, TooLarge),
            ("cmd: x\nevents: Ir\n1 2\nsummary: 3\n\n", 4, SummaryMismatch),
            ("cmd: x\nevents: Ir\n1 2\nsummary: 2\n\n1 2\n", 6, Malformed),
        ] {
            assert_eq!(read(text), Err((line, kind)), "{text:?}");
        }
    }

    #[test]
    fn what_is_written_reads_back() {
        let mut writer = CachegrindWriter::new(Vec::new(), &[b"a: b"], b"./mill 3", &[b"Ir", b"Dr"]).unwrap();
        writer.file(b"mill.c").unwrap();
        writer.function(b"main").unwrap();
        writer.costs(3, &[1, -2]).unwrap();
        let text = writer.finish(&[1, -2]).unwrap();
        assert_eq!(
            String::from_utf8_lossy(&text),
            "desc: a: b\ncmd: ./mill 3\nevents: Ir Dr\nfl=mill.c\nfn=main\n3 1 -2\nsummary: 1 -2\n"
        );
        assert_eq!(
            read(&String::from_utf8_lossy(&text)).unwrap(),
            [("mill.c".to_owned(), "main".to_owned(), 3, vec![1, -2])]
        );
    }
}
