//! Concatenation: profiles as parts of one file.

use std::io;

use gristmill_format::raw::is_compound_name;
use gristmill_format::{
    Costs, Error, ErrorKind, Header, Line, LineEnd, Name, NameKey, NameStyle, PositionStyle, Reader, Record,
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
    /// The names of files before, which readers would apply to functions of a later file as well.
    named: Named,
    is_first: bool,
}

/// The kinds of names that stay until the next of their kind.
#[derive(Debug, Clone, Copy, Default)]
struct Named {
    object: bool,
    file: bool,
    function: bool,
}

impl Named {
    fn add(&mut self, key: NameKey) {
        self.object |= key == NameKey::Ob;
        self.file |= matches!(key, NameKey::Fl | NameKey::Fi | NameKey::Fe);
        self.function |= key == NameKey::Fn;
    }
}

/// The lines that a file still needs once its beginning was written.
#[derive(Debug, Clone, Copy, Default)]
struct Beginning {
    /// `true` if it needs an unknown command after `version:`.
    lacks_command: bool,
    /// The names of files before that must not hold for its first function.
    ended: Named,
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
        Concatenation {
            writer,
            has_creator: false,
            has_command: false,
            named: Named::default(),
            is_first: true,
        }
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
        let Beginning { mut lacks_command, mut ended } = self.begin(bytes)?;
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
            if !is_header && !matches!(record.line, Line::NewProfile(_)) {
                self.end_names(std::mem::take(&mut ended))?;
            }
            if let Line::Name(key, _) = record.line {
                self.named.add(key);
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

    /// Ends the part before, and its headers that readers would apply to this file as well.
    fn begin(&mut self, bytes: &[u8]) -> Result<Beginning, Error> {
        let (mut version, mut creator, mut command) = (false, false, false);
        let mut separator = false;
        let mut own = Named::default();
        for record in Reader::new(bytes).flatten() {
            match record.line {
                Line::Header(Header::Version(_)) => version = true,
                Line::Header(Header::Creator(_)) => creator = true,
                Line::Header(Header::Command(_)) => command = true,
                Line::NewProfile(_) => separator = true,
                Line::Header(_) | Line::Comment(_) | Line::Blank => {}
                Line::Name(NameKey::Fn, _) => {
                    own.add(NameKey::Fn);
                    break;
                }
                Line::Name(key, _) => own.add(key),
                _ => break,
            }
        }
        if !self.is_first {
            self.writer.write(&Record::new(Line::Blank))?;
            if !version && !separator {
                // Not every header line begins a part, as this one and a separator do.
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
        let ended = Named {
            object: self.named.object && !own.object,
            file: self.named.file && !own.file,
            function: self.named.function && !own.function,
        };
        Ok(Beginning { lacks_command: lacks_command && version, ended })
    }

    /// Writes empty names, so that readers do not go on with those before.
    fn end_names(&mut self, ended: Named) -> Result<(), Error> {
        let Named { object, file, function } = ended;
        for (is_ended, key) in [(object, NameKey::Ob), (file, NameKey::Fl), (function, NameKey::Fn)] {
            if is_ended {
                self.writer.write(&with_line_end(Line::Name(key, Name::plain(b""))))?;
            }
        }
        Ok(())
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
