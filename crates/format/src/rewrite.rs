//! The same profile in another spelling.

use std::io;

use crate::context::NameContext;
use crate::error::{Error, ErrorKind};
use crate::foreign::BYTE_ORDER_MARK;
use crate::location::Location;
use crate::name::{Name, NameKey, NameSpace, is_compound_name};
use crate::numbering::{NumberMemory, Numbered};
use crate::position::{Columns, PositionKind, Positions};
use crate::reader::Reader;
use crate::record::{CostRole, Header, Line, Record, Spelling, Words};
use crate::style::{NameStyle, PositionStyle};
use crate::writer::{Writer, refused};

/// The changes to the spelling of a profile. By default nothing.
///
/// See the example of [`Rewrite::run`].
#[derive(Debug, Clone, Default)]
pub struct Rewrite {
    /// The style of names. Name ids that are removed are kept in comments at the end of the file, and restored from there,
    /// unless comments are dropped.
    pub names: NameStyle,
    /// The style of positions.
    pub positions: PositionStyle,
    /// Leave out jumps.
    pub drop_jumps: bool,
    /// Leave out instruction and basic block addresses, when there are source lines to stay. Records stay apart also
    /// where they then have the same position, so that there are as many as before, with the same sums.
    pub drop_instr: bool,
    /// Leave out comments, but the `# callgrind format` by which a file is known.
    pub drop_comments: bool,
    /// Name each file where only Callgrind's own rule determines it, and give such positions in full, so that readers without
    /// that rule come to the same. See [practice](crate::practice#the-lines-that-callgrind-remembers).
    pub explicit_files: bool,
    /// Directories to take from the beginning of file and object names; the first that fits is taken.
    pub strip_prefix: Vec<Vec<u8>>,
}

impl Rewrite {
    /// Reads the profile and writes it as asked.
    ///
    /// ```
    /// use gristmill_format::{NameStyle, Rewrite};
    ///
    /// let file = b"events: Ir\nfn=(7) main\n1 2\nfn=(7)\n3 4\n";
    /// let plain = Rewrite { names: NameStyle::Plain, drop_comments: true, ..Rewrite::default() };
    /// assert_eq!(plain.run(file, Vec::new())?, b"events: Ir\nfn=main\n1 2\nfn=main\n3 4\n");
    /// # Ok::<(), gristmill_format::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// At the first line that cannot be read, or would have to be changed to be written; see [`repair`](crate::repair())
    /// for those. And when the sink fails.
    pub fn run<W: io::Write>(&self, input: &[u8], mut sink: W) -> Result<W, Error> {
        if input.starts_with(BYTE_ORDER_MARK) {
            sink.write_all(BYTE_ORDER_MARK)
                .map_err(|source| Error::io(source, Location { byte: 0, line: 1 }))?;
        }
        let (profile, memory) = match NumberMemory::from_comments(input) {
            Some((profile, memory)) if self.names == NameStyle::Compressed => (profile, Some(memory)),
            _ => (input, None),
        };
        // With its memory each name is given just as it was.
        let names = if memory.is_some() { NameStyle::AsGiven } else { self.names };
        let mut writer = Writer::new(sink).names(names).positions(self.positions_written());
        writer.recognise(profile);
        if names != NameStyle::AsGiven {
            leave_given_numbers(profile, &mut writer);
        }
        let mut run = Run {
            options: self,
            writer,
            recalled: memory,
            forgotten: NumberMemory::default(),
            columns: Columns::LINE,
            in_jump: false,
            others: NameContext::default(),
        };
        let mut reader = Reader::new(profile);
        while let Some(record) = reader.next() {
            match record {
                Ok(record) => run.record(&reader, &record).map_err(|error| in_input(error, &record))?,
                Err(error) if error.is_repaired() && keeps_meaning(error.kind()) => {}
                Err(error) => return Err(error),
            }
        }
        run.finish()
    }

    /// `true` if nothing is asked for that changes the spelling or content of a sound profile.
    pub(crate) fn keeps_spelling(&self) -> bool {
        let Rewrite { names, positions, drop_jumps, drop_instr, drop_comments, explicit_files, strip_prefix } =
            self;
        *names == NameStyle::AsGiven
            && *positions == PositionStyle::AsGiven
            && ![drop_jumps, drop_instr, drop_comments, explicit_files].into_iter().any(|&drops| drops)
            && strip_prefix.is_empty()
    }

    /// The name without its directory, if that is stripped.
    pub(crate) fn strip<'t>(&self, space: NameSpace, text: &'t [u8]) -> &'t [u8] {
        if space == NameSpace::Function {
            return text;
        }
        let stripped = self.strip_prefix.iter().find_map(|directory| {
            let directory = directory.strip_suffix(b"/").unwrap_or(directory);
            text.strip_prefix(directory)?.strip_prefix(b"/")
        });
        stripped.unwrap_or(text)
    }

    /// Without addresses, relative positions must be written again.
    fn positions_written(&self) -> PositionStyle {
        match self.positions {
            PositionStyle::AsGiven if self.explicit_files => PositionStyle::Absolute,
            PositionStyle::AsGiven if self.drop_instr => PositionStyle::Compressed,
            style => style,
        }
    }
}

/// Keeps the writer from giving a name a number that the profile uses for another, or uses and never defines.
fn leave_given_numbers<W: io::Write>(profile: &[u8], writer: &mut Writer<W>) {
    for item in Reader::new(profile) {
        match item.map(|record| record.line) {
            Ok(Line::Name(key, Name { id: Some(id), .. })) => writer.reserve_ids(key.space(), id),
            Ok(_) => {}
            Err(error) => {
                if let ErrorKind::UndefinedName(space, id) = error.kind() {
                    writer.reserve_ids(space, id);
                }
            }
        }
    }
}

/// The writer counts the lines that it writes; a line that it refuses is located in the input.
fn in_input(error: Error, record: &Record<'_>) -> Error {
    match error.kind() {
        ErrorKind::Io => error,
        _ => refused(&error, record.location),
    }
}

/// `true` if the record that follows such an error has the same content as the file.
fn keeps_meaning(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::UndefinedName(..)
            | ErrorKind::RedefinedName(..)
            | ErrorKind::CostWithoutFunction
            | ErrorKind::LeadingBlank
            | ErrorKind::UnknownPosition
    )
}

struct Run<'o, 'a, W> {
    options: &'o Rewrite,
    writer: Writer<W>,
    /// From the comments at the end of the input.
    recalled: Option<NumberMemory>,
    /// For the comments at the end of the output.
    forgotten: NumberMemory,
    /// The columns of the input.
    columns: Columns,
    /// Between a jump that is left out and its second line.
    in_jump: bool,
    /// The names that readers without Callgrind's rule come to in the output.
    others: NameContext<Name<'a>>,
}

impl<'a, W: io::Write> Run<'_, 'a, W> {
    fn record(&mut self, reader: &Reader<'a>, record: &Record<'a>) -> Result<(), Error> {
        if self.options.explicit_files {
            self.name_file(reader, record)?;
            self.follow(&record.line);
        }
        self.kept(reader, record)
    }

    /// Names the file of a line, if other readers would take another one.
    fn name_file(&mut self, reader: &Reader<'a>, record: &Record<'a>) -> Result<(), Error> {
        let (ours, others) = (reader.context(), &self.others);
        let (key, ours, others) = match record.line {
            Line::Cost(line) if line.role == CostRole::SelfCost => {
                let is_own = text(ours.file()) == text(ours.function_file());
                (if is_own { NameKey::Fe } else { NameKey::Fi }, ours.file(), others.file())
            }
            Line::Name(NameKey::Cfn, _) => (NameKey::Cfi, ours.callee_file(), others.callee_file()),
            Line::Jump(_) if !self.options.drop_jumps => (NameKey::Jfi, ours.jump_file(), others.jump_file()),
            _ => return Ok(()),
        };
        let Some(name) = ours.filter(|_| text(ours) != text(others)) else { return Ok(()) };
        let name = Name { defines: false, ..name };
        let spelling = Spelling::with_line_end(record.spelling.line_end());
        let line = Line::Name(key, name);
        self.follow(&line);
        self.name(reader, &Record { line, spelling, ..*record }, key, name)
    }

    /// Updates the names that other readers come to.
    fn follow(&mut self, line: &Line<'a>) {
        match line {
            Line::Name(key, name) => self.others.name(*key, *name),
            Line::NewProfile(_) => self.others = NameContext::default(),
            Line::Cost(line) => {
                self.others.cost_line();
                match line.role {
                    CostRole::SelfCost => {}
                    CostRole::Call => self.others.end_call(),
                    CostRole::JumpSource => self.others.end_jump(),
                }
            }
            _ => {}
        }
    }

    fn kept(&mut self, reader: &Reader<'a>, record: &Record<'a>) -> Result<(), Error> {
        match record.line {
            Line::Comment(_) if self.options.drop_comments => match record.spelling.text() {
                Some(b"# callgrind format") => self.writer.write(record),
                _ => Ok(()),
            },
            Line::Jump(_) | Line::Name(NameKey::Jfi | NameKey::Jfn, _) if self.options.drop_jumps => {
                self.in_jump |= matches!(record.line, Line::Jump(_));
                Ok(())
            }
            Line::Cost(line) if std::mem::take(&mut self.in_jump) && line.role == CostRole::JumpSource => {
                Ok(())
            }
            Line::Name(key, name) => self.name(reader, record, key, name),
            Line::Header(Header::Positions(words)) => {
                self.columns = Columns::new(words.iter().map(PositionKind::parse));
                if !self.drops_addresses() {
                    return self.writer.write(record);
                }
                let kept: Vec<&[u8]> =
                    words.iter().filter(|word| !is_address(PositionKind::parse(word))).collect();
                self.reshaped(record, Line::Header(Header::Positions(Words::new(&kept))))
            }
            _ if !self.drops_addresses() => self.writer.write(record),
            Line::Cost(mut line) => {
                line.positions = self.without_addresses(line.positions);
                self.reshaped(record, Line::Cost(line))
            }
            Line::Calls(mut calls) => {
                calls.target = self.without_addresses(calls.target);
                self.reshaped(record, Line::Calls(calls))
            }
            Line::Jump(mut jump) => {
                jump.target = self.without_addresses(jump.target);
                self.reshaped(record, Line::Jump(jump))
            }
            _ => self.writer.write(record),
        }
    }

    /// Writes a line that has lost some of what its spelling is about.
    fn reshaped(&mut self, record: &Record<'_>, line: Line<'_>) -> Result<(), Error> {
        let spelling = Spelling::with_line_end(record.spelling.line_end());
        self.writer.write(&Record { line, spelling, ..*record })
    }

    fn drops_addresses(&self) -> bool {
        self.options.drop_instr && self.columns.index(PositionKind::Line).is_some()
    }

    fn without_addresses(&self, positions: Positions) -> Positions {
        let kinds = self.columns.kinds().iter().copied().map(Some).chain(std::iter::repeat(None));
        let kept: Vec<u64> = positions
            .as_slice()
            .iter()
            .zip(kinds)
            .filter(|(_, kind)| kind.is_none_or(|kind| !is_address(kind)))
            .map(|(&value, _)| value)
            .collect();
        Positions::new(&kept)
    }

    fn name(
        &mut self,
        reader: &Reader<'a>,
        record: &Record<'a>,
        key: NameKey,
        name: Name<'a>,
    ) -> Result<(), Error> {
        let Some(text) = name.text else { return self.writer.write(record) };
        let space = key.space();
        let takes_numbers = self.options.names == NameStyle::Plain;
        let expanded = if takes_numbers { reader.expand(space, &name) } else { None };
        let given = expanded.as_deref().unwrap_or(text);
        let stripped = self.options.strip(space, given);
        let mut written = Name { text: Some(stripped), ..name };
        if takes_numbers {
            if !is_compound_name(stripped) {
                let numbered = name.id.map(|id| Numbered { id, defines: name.defines });
                self.forgotten.forget(space, stripped, record.part, numbered);
            }
        } else if let Some(memory) = &mut self.recalled
            && name.id.is_none()
            && let Some(Numbered { id, defines }) = memory.recall(space, text, record.part)
        {
            written.id = Some(id);
            written.defines = defines;
        }
        // A path may be long: the text is compared only if it is another one.
        let is_same_text =
            std::ptr::eq(stripped, text) && (written.id, written.defines) == (name.id, name.defines);
        let spelling = if is_same_text || written == name {
            record.spelling
        } else {
            Spelling::with_line_end(record.spelling.line_end())
        };
        self.writer.write(&Record { line: Line::Name(key, written), spelling, ..*record })
    }

    fn finish(self) -> Result<W, Error> {
        let ended = !self.writer.is_unended();
        let comments =
            if self.options.drop_comments { Vec::new() } else { self.forgotten.to_comments(ended) };
        let mut writer = self.writer;
        for comment in comments.split(|&byte| byte == b'\n').filter(|comment| !comment.is_empty()) {
            writer.write(&Record::new(Line::Comment(&comment[1..])))?;
        }
        writer.finish()
    }
}

/// A name without its spelling.
fn text(name: Option<Name<'_>>) -> Option<(Option<&[u8]>, Option<u64>)> {
    name.map(|name| (name.text, name.id.filter(|_| name.text.is_none())))
}

fn is_address(kind: PositionKind) -> bool {
    matches!(kind, PositionKind::Instr | PositionKind::Bb)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn undefined_numbers_stay_undefined() {
        let file = b"events: Ir\nfl=a.c\nfn=f\n1 2\nfl=(1)\nfn=g\n1 3\n";
        let compressed = Rewrite { names: NameStyle::Compressed, ..Rewrite::default() };
        assert_eq!(
            String::from_utf8(compressed.run(file, Vec::new()).unwrap()).unwrap(),
            "events: Ir\nfl=(2) a.c\nfn=(1) f\n1 2\nfl=(1)\nfn=(2) g\n1 3\n"
        );
    }

    #[test]
    fn files_that_follow_from_the_rule_of_callgrind_are_named() {
        let file =
            b"creator: callgrind-3.19.0\nevents: Ir\nfl=(1) a.cpp\nfn=(1) mid\nfi=(2) b.h\ncfn=(2) leaf\n\
            calls=0 3 \n26 5\n6 1\n+1 1\nfi=(2)\n+19 2\njump=1 4 \n* \n* 3\nfe=(1)\nfi=(2)\njump=1 4 \n* \n";
        let explicit = Rewrite { explicit_files: true, ..Rewrite::default() };
        let written = explicit.run(file, Vec::new()).unwrap();
        assert_eq!(
            String::from_utf8(written.clone()).unwrap(),
            "creator: callgrind-3.19.0\nevents: Ir\nfl=(1) a.cpp\nfn=(1) mid\nfi=(2) b.h\ncfi=(1)\ncfn=(2) leaf\n\
             calls=0 3 \n26 5\nfe=(1)\n6 1\n7 1\nfi=(2)\n26 2\njump=1 4 \n26 \n26 3\nfe=(1)\nfi=(2)\njump=1 4 \n26 \n"
        );
        // What is explicit stays as it is, and means the same in a file of another producer.
        assert_eq!(explicit.run(&written, Vec::new()).unwrap(), written);
        let of_another = String::from_utf8(written).unwrap().replace("callgrind-", "other-").into_bytes();
        assert_eq!(explicit.run(&of_another, Vec::new()).unwrap(), of_another);
        assert_eq!(lines_of_files(&of_another), lines_of_files(file));
    }

    /// The file, line and cost of each self cost line.
    fn lines_of_files(file: &[u8]) -> Vec<(Vec<u8>, Positions, String)> {
        let mut reader = Reader::new(file);
        let mut lines = Vec::new();
        while let Some(record) = reader.next() {
            if let Line::Cost(line) = record.unwrap().line
                && line.role == CostRole::SelfCost
            {
                let file = reader.context().file().unwrap().bytes().to_vec();
                lines.push((file, line.positions, format!("{:?}", line.costs)));
            }
        }
        lines
    }

    #[test]
    fn what_is_refused_is_shown_where_it_was_read() {
        // The comment is not written, so the lines of the output are others.
        let options = Rewrite { drop_comments: true, ..Rewrite::default() };
        let place = |file: &[u8]| {
            let error = options.run(file, Vec::new()).unwrap_err();
            (error.kind(), error.location().line, error.location().byte, error.column(), error.length())
        };
        assert_eq!(place(b"events: Ir Dr\n# x\nfn=f\n1 22 x33 4\n"), (ErrorKind::BadCost, 4, 23, 6, 3));
        assert_eq!(place(b"events: Ir\n# x\nfn=f\n1 2 x\n"), (ErrorKind::TooManyCosts, 4, 20, 5, 1));
        assert_eq!(place(b"events: Ir\n# x\nfn=f\n1 2.5\n"), (ErrorKind::FractionalCost, 4, 20, 3, 3));
        assert_eq!(place(b"events: Ir\n# x\ntotals: 7 y\n"), (ErrorKind::BadCost, 3, 15, 11, 1));
    }
}
