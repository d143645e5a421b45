//! The changes of a repair, counted by kind.

use std::collections::BTreeMap;
use std::fmt;

use crate::error::ErrorKind;
use crate::location::Location;

/// One kind of change that a [`repair`](crate::repair()) made.
///
/// ```
/// use gristmill_format::{ChangeKind, Rewrite, repair};
///
/// let repaired = repair(b"events: Ir\nfn=a\n1 -5\n2 -7\n", &Rewrite::default(), Vec::new())?;
/// let change = repaired.changes.iter().find(|change| change.kind == ChangeKind::NegativeCost).unwrap();
/// assert_eq!((change.count, change.first.line), (2, 3));
/// assert_eq!(change.to_string(), "negative costs became 0 (2, first in line 3)");
/// # Ok::<(), gristmill_format::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    /// The kind of change.
    pub kind: ChangeKind,
    /// The number of changes.
    pub count: u64,
    /// The line of the input of the first change.
    pub first: Location,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}, first in line {})", self.kind, self.count, self.first.line)
    }
}

macro_rules! change_kinds {
    ($($(#[doc = $doc:literal])+ $kind:ident => $text:literal,)+) => {
        /// The kinds of [`Change`]. They print as a sentence about what was done.
        ///
        /// ```
        /// use gristmill_format::ChangeKind;
        ///
        /// assert_eq!(ChangeKind::NegativeCost.to_string(), "negative costs became 0");
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum ChangeKind {
            $($(#[doc = $doc])+ $kind,)+
        }

        impl fmt::Display for ChangeKind {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self {
                    $(ChangeKind::$kind => $text,)+
                })
            }
        }
    };
}

change_kinds! {
    /// The file began with the bytes `EF BB BF`.
    ByteOrderMark => "the byte order mark was left out",
    /// Lines ended with a carriage return.
    LineEnd => "line ends were changed to line feeds",
    /// The last part lacked its end.
    CutOff => "cut off here: the totals are those of the lines that are left, and a comment notes the loss",
    /// The file did not end with a line end; perhaps it is cut off.
    UnendedLine => "the last line, which may be cut off, got a line end",
    /// The lines by which a file is known were missing or not at the top.
    FirstLines => "`# callgrind format`, `version: 1` and `creator:` were put at the top",
    /// Another version than 1.
    Version => "the version was set to 1",
    /// Only the top of the file may say these.
    LaterVersion => "`version:` and `creator:` lines of later parts were removed",
    /// Separators that Xdebug writes between two profiles in a file.
    Separator => "lines between appended profiles were removed",
    /// Header lines that stood below the first body line, or out of their order.
    MovedHeader => "header lines were moved to the header of their part",
    /// Header lines that a part may have once; the last one holds.
    RepeatedHeader => "repeated header lines were removed",
    /// A part without event types of its own.
    EventsTakenOver => "parts without an `events:` line got that of another part",
    /// Names of event types that are more than letters and digits.
    EventName => "event types got names of letters and digits, and kept the old names as long names",
    /// `event: Ir Instructions`
    EventColon => "`event:` lines got the colon before the long name",
    /// A formula that subtracts, or uses names that no event type has.
    Formula => "formulas that the grammar does not allow were removed",
    /// `desc:` lines without a kind.
    DescriptionKind => "`desc:` lines without a kind became notes",
    /// A `summary:` line with more numbers than there are event types.
    Summary => "`summary:` lines were cut to the number of event types",
    /// A `totals:` line that told other sums than the body.
    Totals => "`totals:` lines were computed again",
    /// Sums that do not fit the format.
    TotalsLeftOut => "`totals:` lines with sums above 2^64 - 1 were removed",
    /// Parts without a body would run into the next part.
    TotalsAdded => "parts without a body got a `totals:` line that ends them",
    /// Columns in another order, of unknown kinds, or named with older words.
    Columns => "position columns were sorted to instr, bb, line; others were removed",
    /// Header lines with keys that are not known, or values that cannot be read.
    Header => "unknown and unreadable header lines became comments",
    /// `rec=`, `bb=`, `ln=`, `frfn=` and keys that are not known.
    Body => "body lines that the grammar does not allow became comments",
    /// Lines of no form at all.
    Unreadable => "unreadable lines became comments",
    /// Capital letters in keys, blanks where none may be, older keys.
    Spelling => "lines were respelled by the grammar",
    /// Costs before the first `fn=` of a part.
    FunctionAdded => "`fn=???` was added for costs before any function",
    /// Costs of an appended profile that have no object or file.
    PlaceAdded => "`ob=???` and `fl=???` were added for costs without object or file",
    /// Name numbers that nothing defines.
    UndefinedName => "name ids without a name were named `??? (id)`",
    /// A number with two meanings in one part, or one without its closing parenthesis.
    NameNumber => "names with the id of another name, or with an unclosed id, got ids of their own",
    /// `(7)'2'(3)`, as `--compress-mangled=yes` writes names.
    ComposedName => "names made of references to other names were expanded",
    /// Comments that this program left when it removed name ids.
    NumberComment => "comments with the former ids of names were removed",
    /// Callees that no call line follows.
    CalleeWithoutCall => "callee lines without a call became comments",
    /// `calls=` lines without a cost line.
    CallWithoutCost => "calls without a cost line became comments",
    /// `calls=` lines without a callee: it is that of the last call.
    CallWithoutCallee => "calls without a callee became calls of the last callee, or comments",
    /// Counts that are missing or are no numbers.
    BadCount => "missing and unreadable counts became 0",
    /// Counts below 0.
    NegativeCount => "negative counts became 0",
    /// Targets with more or fewer positions than there are columns.
    Target => "targets of calls and jumps were adapted to the position columns",
    /// `jcnd=1/2`
    JumpForm => "conditional jumps were respelled by the published grammar",
    /// `jfi=` and `jfn=` lines.
    JumpName => "`jfi=` and `jfn=` lines were removed",
    /// Jumps into another file or function: the grammar has only targets in the same.
    JumpAway => "jumps into another file or function became comments",
    /// Fewer positions than columns.
    MissingPosition => "missing positions were filled in",
    /// Positions that are no numbers or out of range.
    BadPosition => "unreadable positions became the nearest valid ones",
    /// `12-15`
    Range => "ranges of positions became their first position",
    /// Costs below 0.
    NegativeCost => "negative costs became 0",
    /// Costs that are no numbers.
    BadCost => "unreadable costs became 0",
    /// `.` for no cost.
    Dot => "costs of `.` became 0",
    /// Numbers with a fraction or an exponent.
    Fraction => "fractions were removed",
    /// Numbers above 2^64 - 1.
    TooLarge => "numbers out of range became the nearest valid ones",
    /// More costs than event types.
    ExtraCost => "costs without an event type were removed",
}

impl ChangeKind {
    /// `true` if the change only brings jumps as Callgrind writes them into the published form.
    pub(super) fn is_of_sound_jumps(self) -> bool {
        matches!(self, ChangeKind::JumpForm | ChangeKind::JumpName | ChangeKind::JumpAway)
    }

    /// The change that follows from an error of the reader; `None` if the record decides, not the error.
    pub(super) fn from_error(error: ErrorKind) -> Option<Self> {
        Some(match error {
            ErrorKind::LeadingBlank | ErrorKind::BlankBeforeSeparator | ErrorKind::KeyCase => {
                ChangeKind::Spelling
            }
            ErrorKind::CallWithoutCallee => ChangeKind::CallWithoutCallee,
            ErrorKind::BadCount => ChangeKind::BadCount,
            ErrorKind::MissingPosition => ChangeKind::MissingPosition,
            ErrorKind::BadPosition
            | ErrorKind::RelativeWithoutBase
            | ErrorKind::PositionBelowZero
            | ErrorKind::PositionTooLarge => ChangeKind::BadPosition,
            ErrorKind::TooManyPositions => ChangeKind::Target,
            ErrorKind::BadCost => ChangeKind::BadCost,
            ErrorKind::FractionalCost => ChangeKind::Fraction,
            ErrorKind::CostTooLarge => ChangeKind::TooLarge,
            ErrorKind::UndefinedName(..) => ChangeKind::UndefinedName,
            ErrorKind::UnclosedNameId | ErrorKind::RedefinedName(..) => ChangeKind::NameNumber,
            _ => return None,
        })
    }
}

/// Counts changes.
#[derive(Debug, Default)]
pub(super) struct Changes(BTreeMap<ChangeKind, (u64, Location)>);

impl Changes {
    pub(super) fn note(&mut self, kind: ChangeKind, location: Location) {
        let (count, first) = self.0.entry(kind).or_insert((0, location));
        *count += 1;
        *first = location.min(*first);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// In the order of the file.
    pub(super) fn into_list(self) -> Vec<Change> {
        let mut list: Vec<Change> =
            self.0.into_iter().map(|(kind, (count, first))| Change { kind, count, first }).collect();
        list.sort_by_key(|change| change.first);
        list
    }
}
