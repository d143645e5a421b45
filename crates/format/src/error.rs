//! Errors: faults of a file, as values that know their location.

use std::{error, fmt, io};

use crate::Location;
use crate::name::NameSpace;

/// A fault in a file, or a record that cannot be written.
///
/// The [`Reader`](crate::Reader) yields errors beside records and continues at the next line. If it could read the line
/// anyway, [`is_repaired`](Error::is_repaired) is `true` and the record follows.
///
/// ```
/// use gristmill_format::{ErrorKind, Reader};
///
/// let error = Reader::new(b"events: Ir\nfn=main\n+3 x\n").find_map(Result::err).unwrap();
/// assert_eq!((error.kind(), error.is_repaired()), (ErrorKind::RelativeWithoutBase, true));
/// assert_eq!((error.location().line, error.column(), error.length()), (3, 1, 2));
/// ```
#[derive(Debug)]
pub struct Error(Box<Parts>);

#[derive(Debug)]
struct Parts {
    kind: ErrorKind,
    location: Location,
    offset: u64,
    length: u64,
    repaired: bool,
    source: Option<io::Error>,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, location: Location) -> Self {
        Error(Box::new(Parts { kind, location, offset: 0, length: 0, repaired: false, source: None }))
    }

    pub(crate) fn io(source: io::Error, location: Location) -> Self {
        let mut error = Error::new(ErrorKind::Io, location);
        error.0.source = Some(source);
        error
    }

    /// Marks the bytes of the line that the error is about.
    pub(crate) fn at(mut self, offset: usize, length: usize) -> Self {
        self.0.offset = offset as u64;
        self.0.length = length as u64;
        self
    }

    /// Marks an error whose record follows.
    pub(crate) fn repaired(mut self) -> Self {
        self.0.repaired = true;
        self
    }

    /// The kind of error.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The line of the error; for an error of the [`Writer`](crate::Writer), the line that was not written.
    pub fn location(&self) -> Location {
        self.0.location
    }

    /// The column in that line, in bytes, from 1.
    pub fn column(&self) -> u64 {
        self.0.offset + 1
    }

    /// The length in bytes from [`column`](Error::column) on; 0 if the error is about a gap between bytes
    /// or about the line as a whole.
    pub fn length(&self) -> u64 {
        self.0.length
    }

    /// `true` if the reader made a record of the line anyway; it is the next record that it yields.
    pub fn is_repaired(&self) -> bool {
        self.0.repaired
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Location { line, byte } = self.0.location;
        write!(f, "line {line}, column {} (byte {}): {}", self.column(), byte + self.0.offset, self.0.kind)?;
        match &self.0.source {
            Some(source) => write!(f, ": {source}"),
            None => Ok(()),
        }
    }
}

impl error::Error for Error {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        self.0.source.as_ref().map(|source| source as _)
    }
}

/// The apparent kind of a file that is no profile.
///
/// See the example of [`Lint::run`](crate::Lint::run).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Foreign {
    /// Text in UTF-16, perhaps a profile that an editor has re-encoded.
    Utf16,
    /// An executable or shared object.
    Elf,
    /// A compressed file; unpack it first.
    Compressed,
    /// The output of `callgrind_annotate` or `cg_annotate`, not their input.
    AnnotateReport,
    /// JSON.
    Json,
    /// `perf.data`.
    PerfData,
    /// Bytes that are no text.
    Binary,
    /// Text of another kind.
    Text,
}

impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Foreign::Utf16 => "it is UTF-16 text: convert it to UTF-8",
            Foreign::Elf => "it is an ELF program or library",
            Foreign::Compressed => "it is compressed",
            Foreign::AnnotateReport => {
                "it is a report of an annotate tool; give the file that the report was made from"
            }
            Foreign::Json => "it is JSON",
            Foreign::PerfData => "it is a perf.data file",
            Foreign::Binary => "it is binary data",
            Foreign::Text => "it is other text, without an `events:` line",
        })
    }
}

/// The kinds of [`Error`].
///
/// See the example of [`Lint::run`](crate::Lint::run).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The input is no profile. Nothing more is read.
    NotAProfile(Foreign),
    /// A line of no known form.
    UnknownLine,
    /// A line that begins with a blank.
    LeadingBlank,
    /// A blank between a key and its separator.
    BlankBeforeSeparator,
    /// A key in capitals.
    KeyCase,
    /// A line that the chosen grammar does not have, though the tolerant reader can take it.
    Grammar(&'static str),
    /// A cost before the part's `events:` line.
    CostBeforeEvents,
    /// A cost before any `fn=` line.
    CostWithoutFunction,
    /// A `calls=` line with no cost line after it.
    CallWithoutCost,
    /// A `calls=` line with no callee named since the last one.
    CallWithoutCallee,
    /// A count of calls or jumps that is missing or no number.
    BadCount,
    /// An invalid position.
    BadPosition,
    /// Fewer positions than the `positions:` line announces.
    MissingPosition,
    /// A relative position before any absolute one.
    RelativeWithoutBase,
    /// A relative position that leads below 0.
    PositionBelowZero,
    /// A position above 2^64 − 1.
    PositionTooLarge,
    /// A cost that is no integer.
    BadCost,
    /// A cost with a fraction or an exponent; the integer part is taken.
    FractionalCost,
    /// A cost outside −2^63 … 2^64 − 1; the nearest of these is taken.
    CostTooLarge,
    /// More costs than the part has event types; the first ones are taken.
    TooManyCosts,
    /// A number that opens a name and has no closing parenthesis; taken as part of a plain name.
    UnclosedNameId,
    /// A name number that is not defined before.
    UndefinedName(NameSpace, u64),
    /// A name number that gets another meaning within one part.
    RedefinedName(NameSpace, u64),
    /// A header value that is not of the form its key asks for.
    BadHeader,
    /// A kind of position that is not known.
    UnknownPosition,
    /// More position columns, or more target positions, than can be read.
    TooManyPositions,
    /// A profile that was cut off before its first cost cannot be repaired.
    NothingLeft,
    /// The sink of the writer failed.
    Io,
    /// A name or value with a line end inside would read back as two lines.
    LineEndInText,
    /// A name or value that begins with a blank, or a key that holds one of its separators, would not read back.
    UnreadableText,
    /// A record that is not allowed here: a cost after a call that has its cost, an `events:` line with no name.
    Misplaced,
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use ErrorKind as K;
        f.write_str(match self {
            K::NotAProfile(foreign) => return write!(f, "this is not a Callgrind profile: {foreign}"),
            K::UnknownLine => {
                "unknown line; expected a `key: value` header, a `key=name` line, a cost line or a `#` comment"
            }
            K::LeadingBlank => "blank at the beginning of the line",
            K::BlankBeforeSeparator => "blank before the separator",
            K::KeyCase => "key with capital letters; expected lower case",
            K::Grammar(expected) => return write!(f, "expected {expected}"),
            K::CostBeforeEvents => "cost line before the `events:` line",
            K::CostWithoutFunction => "cost line before any `fn=` line; its cost belongs to no function",
            K::CallWithoutCost => "`calls=` line without the cost line that must follow it",
            K::CallWithoutCallee => "`calls=` line without a `cfn=` line before it",
            K::BadCount => "expected a count",
            K::BadPosition => "expected a position: a number, `+number`, `-number` or `*`",
            K::MissingPosition => "expected a position before the costs",
            K::RelativeWithoutBase => "relative position without a position before it",
            K::PositionBelowZero => "relative position below 0",
            K::PositionTooLarge => "position above 2^64 - 1",
            K::BadCost => "expected a cost: an integer",
            K::FractionalCost => "cost with a fraction or exponent; expected an integer",
            K::CostTooLarge => "cost outside -2^63 ... 2^64 - 1",
            K::TooManyCosts => "more costs than the `events:` line has event types",
            K::UnclosedNameId => "expected `)` after the name id",
            K::UndefinedName(space, id) => {
                return write!(f, "({id}) is not defined as {space} before this line");
            }
            K::RedefinedName(space, id) => {
                return write!(f, "({id}) already means another {space} in this part");
            }
            K::BadHeader => "invalid header value",
            K::UnknownPosition => "unknown kind of position; expected `instr`, `bb` or `line`",
            K::TooManyPositions => "more than four positions",
            K::NothingLeft => "the file is cut off before its first cost: nothing is left to repair",
            K::Io => "writing failed",
            K::LineEndInText => "a line end in a name or value would read back as two lines",
            K::UnreadableText => "this name, key or value would not read back unchanged",
            K::Misplaced => "this record is not allowed here",
        })
    }
}
