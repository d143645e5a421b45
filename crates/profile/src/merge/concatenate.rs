//! Concatenation: profiles as parts of one file.

use std::io;

use gristmill_format::raw::is_compound_name;
use gristmill_format::{
    Costs, Error, ErrorKind, Header, Line, LineEnd, Name, NameStyle, PositionStyle, Reader, Record,
    RecurringNames, Spelling, Writer,
};

use super::header::PART_OF;

/// A writer of profiles as parts of one file, each with its header.
///
/// A name id gets a new number if a part before uses it for another name: readers with one table for the file would
/// confuse them. Each part keeps its process, thread and number, and says which file it was in (`desc: Part of: out.1`).
///
/// ```
/// use gristmill_profile::merge::Concatenation;
///
/// let mut parts = Concatenation::new(Vec::new());
/// parts.add("out.1", b"events: Ir\nfn=main\n16 400\n")?;
/// let left_out = parts.add("out.2", b"events: Ir\nfn=main\n16 20\n")?;
/// assert_eq!(left_out.lines, 0);
/// assert_eq!(gristmill_profile::Profile::from_bytes(parts.finish()?).part_count(), 2);
/// # Ok::<(), gristmill_format::Error>(())
/// ```
#[derive(Debug)]
pub struct Concatenation<W> {
    writer: Writer<W>,
    /// Headers of files before, which readers would apply to a later file as well.
    has_creator: bool,
    has_command: bool,
    is_first: bool,
}

/// The lines of a file that could not be read and are left out. See the example of [`Concatenation`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LeftOut {
    /// Their count.
    pub lines: u64,
    /// The line number of the first.
    pub first: u64,
}

impl<W: io::Write> Concatenation<W> {
    /// Creates an empty file.
    pub fn new(sink: W) -> Self {
        let writer = Writer::new(sink).names(NameStyle::Compressed).positions(PositionStyle::Compressed);
        Concatenation { writer, has_creator: false, has_command: false, is_first: true }
    }

    /// Adds the parts of a file with this name.
    ///
    /// # Errors
    ///
    /// If a record cannot be written, or the file is not a profile.
    pub fn add(&mut self, name: &str, bytes: &[u8]) -> Result<LeftOut, Error> {
        let name = name.escape_debug().to_string();
        // The part that says where it is from, as the reader counts.
        let mut said = None;
        let mut part = 0;
        let mut left_out = LeftOut::default();
        let mut lacks_command = self.begin(bytes)?;
        // `true` if the part has what ends its header: the next one begins another part.
        let mut is_ended = false;
        let mut reader = Reader::new(bytes);
        let mut names = RecurringNames::default();
        while let Some(item) = reader.next() {
            let record = match item {
                Ok(record) => record,
                Err(error) if matches!(error.kind(), ErrorKind::NotAProfile(_)) => return Err(error),
                Err(error) => {
                    if !error.is_repaired() {
                        left_out.lines += 1;
                        if left_out.lines == 1 {
                            left_out.first = error.location().line;
                        }
                    }
                    continue;
                }
            };
            let begins_part = record.part != part;
            part = record.part;
            let is_header = match record.line {
                Line::Header(Header::Totals(_)) => false,
                Line::Header(_) | Line::Blank | Line::Comment(_) => true,
                _ => false,
            };
            is_ended = !is_header || is_ended && !begins_part;
            match record.line {
                // A file that was made in the same way.
                Line::Header(Header::Description { kind, .. }) if kind == PART_OF.as_bytes() => {
                    said = Some(part)
                }
                Line::Header(Header::Positions(_) | Header::Events(_)) if said != Some(part) => {
                    said = Some(part);
                    if begins_part {
                        // Before it, a description would be one of the part before.
                        let comment = format!(" {PART_OF}: {name}");
                        self.writer.write(&with_line_end(Line::Comment(comment.as_bytes())))?;
                    } else {
                        let (kind, value) = (PART_OF.as_bytes(), name.as_bytes());
                        self.writer
                            .write(&with_line_end(Line::Header(Header::Description { kind, value })))?;
                    }
                }
                _ => {}
            }
            let written = match record.line {
                Line::Name(key, Name { text: Some(text), .. }) if !is_compound_name(text) => {
                    self.writer.recurring_name(key, Name::plain(text), &mut names)
                }
                Line::Name(key, name) => {
                    let text = match (reader.expand(key.space(), &name), name.text, name.id) {
                        (Some(expanded), ..) => expanded,
                        (None, Some(text), _) => text.to_vec(),
                        (None, None, Some(id)) => format!("name number {id}").into_bytes(),
                        (None, None, None) => Vec::new(),
                    };
                    self.writer.write(&with_line_end(Line::Name(key, Name::plain(&text))))
                }
                line => self.writer.write(&with_line_end(line)),
            };
            if lacks_command && matches!(record.line, Line::Header(Header::Version(_))) {
                lacks_command = false;
                self.writer.header("cmd", b"unknown")?;
            }
            if let Err(error) = written {
                if error.kind() == ErrorKind::Io {
                    return Err(error);
                }
                // A line that the reader repaired can contain what no writer accepts.
                left_out.lines += 1;
                left_out.first = if left_out.lines == 1 { record.location.line } else { left_out.first };
            }
        }
        if !is_ended {
            // Without costs, its header would continue in that of the next file.
            self.writer.write(&Record::new(Line::Header(Header::Totals(Costs::new(&[0])))))?;
        }
        self.is_first = false;
        Ok(left_out)
    }

    /// Ends the part before, and its headers that readers would apply to this file as well. Returns `true` if an unknown
    /// command has to be written after `version:`.
    fn begin(&mut self, bytes: &[u8]) -> Result<bool, Error> {
        let (mut version, mut creator, mut command) = (false, false, false);
        for record in Reader::new(bytes).flatten() {
            match record.line {
                Line::Header(Header::Version(_)) => version = true,
                Line::Header(Header::Creator(_)) => creator = true,
                Line::Header(Header::Command(_)) => command = true,
                Line::Header(_) | Line::Comment(_) | Line::Blank => {}
                _ => break,
            }
        }
        if !self.is_first {
            self.writer.write(&Record::new(Line::Blank))?;
            if !version {
                // Not every header line begins a part, as this one does.
                self.writer.header("version", b"1")?;
            }
        }
        if self.has_creator && !creator {
            // This one begins a part.
            self.writer.header("creator", b"unknown")?;
        }
        let lacks_command = self.has_command && !command;
        if lacks_command && !version {
            self.writer.header("cmd", b"unknown")?;
        }
        self.has_creator |= creator;
        self.has_command |= command;
        Ok(lacks_command && version)
    }

    /// Ends the file and returns the sink.
    ///
    /// # Errors
    ///
    /// If nothing was added that makes a profile, or the sink fails.
    pub fn finish(self) -> Result<W, Error> {
        self.writer.finish()
    }
}

/// A record with a line end, as another file may follow.
fn with_line_end(line: Line<'_>) -> Record<'_> {
    Record { spelling: Spelling::with_line_end(LineEnd::Lf), ..Record::new(line) }
}
