//! Records, which the reader yields and the writer takes: one for each line.

use std::fmt;

use crate::cost::{Cost, Costs};
use crate::line_end::LineEnd;
use crate::location::Location;
use crate::name::{Name, NameKey};
use crate::position::Positions;
use crate::scan::Tokens;

/// One line of a profile: what it says, where it stood, and how it was spelled.
///
/// See the example of [`Reader`](crate::Reader).
#[derive(Debug, Clone, Copy)]
pub struct Record<'a> {
    /// The location of the line.
    pub location: Location,
    /// The part it belongs to, from 0. See [`Reader::part`](crate::Reader::part).
    pub part: u32,
    /// The content of the line.
    pub line: Line<'a>,
    /// The spelling of the line.
    pub spelling: Spelling<'a>,
}

impl<'a> Record<'a> {
    /// A record to be written, spelled as Callgrind would.
    pub fn new(line: Line<'a>) -> Self {
        Record { location: Location::default(), part: 0, line, spelling: Spelling::default() }
    }

    /// The line as it was read, without its line end. Empty for a record that was made, not read.
    pub fn text(&self) -> &'a [u8] {
        self.spelling.text().unwrap_or_default()
    }
}

/// Equal when they say the same, wherever they stand and however they are spelled.
impl PartialEq for Record<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.line == other.line
    }
}

/// The content of a line.
///
/// See the example of [`Reader`](crate::Reader).
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Line<'a> {
    /// An empty line, or one of blanks only.
    Blank,
    /// `# …`, without the `#`.
    Comment(&'a [u8]),
    /// `==== NEW PROFILING FILE ====…`, with which Xdebug appends a profile to a file. The name numbers start afresh.
    NewProfile(&'a [u8]),
    /// `key: value`.
    Header(Header<'a>),
    /// A name line: `fn=`, `fl=` and so on.
    Name(NameKey, Name<'a>),
    /// `calls=`: the cost line that follows is that of the calls.
    Calls(Calls),
    /// `jump=` or `jcnd=`: the position line that follows is where the jump starts.
    Jump(Jump),
    /// Positions and costs.
    Cost(CostLine<'a>),
    /// `rec=`, `bb=` and `ln=`, which Callgrind writes with hidden options.
    Numbers(NumbersKey, Costs<'a>),
    /// `word=…` with a word that no version of the format has.
    UnknownBody {
        /// The word.
        key: &'a [u8],
        /// The text after the `=`.
        value: &'a [u8],
    },
}

/// A header line.
///
/// See the example of [`Reader`](crate::Reader).
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Header<'a> {
    /// `version:`; a number in all files but those of old Xdebug.
    Version(&'a [u8]),
    /// `creator:`
    Creator(&'a [u8]),
    /// `cmd:`
    Command(&'a [u8]),
    /// `pid:`
    Pid(u64),
    /// `part:`
    Part(u64),
    /// `thread:`
    Thread(u64),
    /// `desc: kind: value`; some leave out the kind.
    Description {
        /// The kind of description, such as `Trigger`. Empty if there is no second colon.
        kind: &'a [u8],
        /// The description.
        value: &'a [u8],
    },
    /// `positions:`
    Positions(Words<'a>),
    /// `event:`
    Event(EventDefinition<'a>),
    /// `events:`
    Events(Words<'a>),
    /// `summary:`
    Summary(Costs<'a>),
    /// `totals:`; some write `total:` or `totals=`.
    Totals(Costs<'a>),
    /// Any other key.
    Other {
        /// The word before the colon.
        key: &'a [u8],
        /// The text after the colon.
        value: &'a [u8],
    },
}

/// The content of an `event:` line.
///
/// See the example of [`Survey`](crate::Survey).
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct EventDefinition<'a> {
    /// The short name, as it stands on the `events:` line.
    pub name: &'a [u8],
    /// The formula of a derived type: `Ir + 10 Bm`.
    pub formula: Option<&'a [u8]>,
    /// The long name.
    pub long_name: Option<&'a [u8]>,
}

impl fmt::Debug for EventDefinition<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name.escape_ascii())?;
        if let Some(formula) = self.formula {
            write!(f, " = {}", formula.escape_ascii())?;
        }
        if let Some(long_name) = self.long_name {
            write!(f, " : {}", long_name.escape_ascii())?;
        }
        Ok(())
    }
}

/// A list of words: event types or position kinds.
///
/// See the example of [`Words::parse`].
#[derive(Clone, Copy)]
pub struct Words<'a>(Repr<'a>);

#[derive(Clone, Copy)]
enum Repr<'a> {
    Text(&'a [u8]),
    List(&'a [&'a [u8]]),
}

impl<'a> Words<'a> {
    /// Words to be written.
    pub const fn new(words: &'a [&'a [u8]]) -> Self {
        Words(Repr::List(words))
    }

    /// The words of a text, between blanks.
    ///
    /// ```
    /// use gristmill_format::Words;
    ///
    /// assert_eq!(Words::parse(b"Ir  Dr ").iter().collect::<Vec<_>>(), [b"Ir", b"Dr"]);
    /// ```
    pub const fn parse(text: &'a [u8]) -> Self {
        Words(Repr::Text(text))
    }

    /// The words in their order.
    pub fn iter(&self) -> WordIter<'a> {
        WordIter(match self.0 {
            Repr::Text(text) => WordRepr::Text(Tokens::new(text)),
            Repr::List(words) => WordRepr::List(words.iter()),
        })
    }

    /// The count of words.
    pub fn len(&self) -> usize {
        self.iter().count()
    }

    /// `true` if there is none.
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }
}

impl fmt::Debug for Words<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(|word| word.escape_ascii().to_string())).finish()
    }
}

impl PartialEq for Words<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<'a> IntoIterator for &Words<'a> {
    type Item = &'a [u8];
    type IntoIter = WordIter<'a>;

    fn into_iter(self) -> WordIter<'a> {
        self.iter()
    }
}

/// Yields the words of [`Words`].
///
/// See the example of [`Words::parse`].
#[derive(Debug, Clone)]
pub struct WordIter<'a>(WordRepr<'a>);

#[derive(Debug, Clone)]
enum WordRepr<'a> {
    Text(Tokens<'a>),
    List(std::slice::Iter<'a, &'a [u8]>),
}

impl<'a> Iterator for WordIter<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        match &mut self.0 {
            WordRepr::Text(tokens) => tokens.next().map(|token| token.text),
            WordRepr::List(words) => words.next().copied(),
        }
    }
}

/// A `calls=` line.
///
/// See the example of [`Reader`](crate::Reader).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Calls {
    /// The number of calls. 0 is real (a call that began in an earlier part, or a sampled profile); a difference of two
    /// profiles may go below.
    pub count: Cost,
    /// The positions that the calls lead to: one per column. Xdebug writes one more, others write fewer or none.
    pub target: Positions,
}

/// A `jump=` or `jcnd=` line.
///
/// See the example of [`Reader`](crate::Reader).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Jump {
    /// The number of times that the jump was taken.
    pub taken: Cost,
    /// The number of times that a conditional jump was reached.
    pub executed: Option<Cost>,
    /// The positions that the jump leads to.
    pub target: Positions,
}

/// A line with positions and costs.
///
/// See the example of [`Reader`](crate::Reader).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CostLine<'a> {
    /// The role of the costs.
    pub role: CostRole,
    /// The positions of the costs.
    pub positions: Positions,
    /// The costs.
    pub costs: Costs<'a>,
}

/// The role of a cost line.
///
/// See the example of [`Reader`](crate::Reader).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CostRole {
    /// Self cost of the current function.
    SelfCost,
    /// Inclusive cost of the calls that the `calls=` line before it counts. It never adds to self cost.
    Call,
    /// The start of the jump of the line before. It has no costs.
    JumpSource,
}

/// The keys of [`Line::Numbers`].
///
/// See the example of [`Reader`](crate::Reader).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NumbersKey {
    /// `rec=`: recursion level of the following function, with `--mangle-names=no`.
    Rec,
    /// `bb=`: a basic block's address, then pairs of instruction and execution counts, with `--dump-bbs=yes`.
    Bb,
    /// `ln=`: a source line inside a basic block.
    Ln,
}

impl NumbersKey {
    /// The word before the `=`.
    pub fn as_str(self) -> &'static str {
        match self {
            NumbersKey::Rec => "rec",
            NumbersKey::Bb => "bb",
            NumbersKey::Ln => "ln",
        }
    }

    pub(crate) fn parse(key: &[u8]) -> Option<Self> {
        match key {
            b"rec" => Some(NumbersKey::Rec),
            b"bb" => Some(NumbersKey::Bb),
            b"ln" => Some(NumbersKey::Ln),
            _ => None,
        }
    }
}

/// The spelling of a line: its blanks, the form of its numbers, its line end. It never changes the content.
///
/// Taken from the line only when it is written again, so that reading pays nothing for it.
///
/// See the example of [`Reader`](crate::Reader).
#[derive(Clone, Copy, Default)]
pub struct Spelling<'a> {
    text: Option<&'a [u8]>,
    line_end: LineEnd,
}

impl<'a> Spelling<'a> {
    #[inline]
    pub(crate) const fn from_text(text: &'a [u8], line_end: LineEnd) -> Self {
        Spelling { text: Some(text), line_end }
    }

    /// The line as it was read, without its line end. None for a record that was made, not read.
    pub fn text(&self) -> Option<&'a [u8]> {
        self.text
    }

    /// The end of the line.
    pub fn line_end(&self) -> LineEnd {
        self.line_end
    }

    /// Spelled as Callgrind would, but with this line end.
    pub fn with_line_end(line_end: LineEnd) -> Self {
        Spelling { text: None, line_end }
    }
}

impl fmt::Debug for Spelling<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.text {
            Some(text) => write!(f, "\"{}\" {:?}", text.escape_ascii(), self.line_end),
            None => write!(f, "{:?}", self.line_end),
        }
    }
}
