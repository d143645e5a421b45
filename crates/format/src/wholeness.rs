//! Wholeness: the signs at the end of a part that tell whether the part was cut off.
//!
//! Nobody states that a file is whole, but most producers end a part with a line that has its totals, and all write whole
//! lines. Lint and the loader ask the same questions here, with what they know of a part when it ends.

use memchr::memmem;

use crate::cost::Cost;
use crate::line_end::LineTerminator;
use crate::name::NameKey;
use crate::producer::ProducerKind;
use crate::record::Words;
use crate::scan::{trim_end, trim_start};
use crate::shape::{Keyed, Shape, shape};
use crate::shown::shown;

/// The creator of what [`Writer`](crate::Writer) wrote for a merge, before the version: it ends with `totals:`.
const MERGE_CREATOR: &[u8] = b"gristmill-merge-";

/// A part of which all lines were read, as far as the question matters whether it was cut off.
///
/// ```
/// use gristmill_format::{CutSign, PartEnd, ProducerKind};
///
/// let part = PartEnd {
///     text: b"creator: callgrind-3.19.0\nevents: Ir\nsummary: 30\nfn=main\n1 20\n",
///     is_last: true,
///     producer: ProducerKind::Callgrind,
///     creator: Some(b"callgrind-3.19.0"),
///     summary: Some(&[30]),
///     totals: None,
///     sums: &[20],
///     has_more_signs: false,
/// };
/// assert_eq!(part.cut_sign(), Some(CutSign::MissingLine("totals:")));
/// assert_eq!(part.shortfall().map(|short| (short.claimed, short.computed)), Some((30, 20)));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct PartEnd<'a> {
    /// The bytes of the part.
    pub text: &'a [u8],
    /// `true` if the file ends where the part does.
    pub is_last: bool,
    /// The producer of the part.
    pub producer: ProducerKind,
    /// The creator that the part or one before it names.
    pub creator: Option<&'a [u8]>,
    /// The values of its `summary:` line.
    pub summary: Option<&'a [Cost]>,
    /// The values of its `totals:` line.
    pub totals: Option<&'a [Cost]>,
    /// The sums of its self costs, one for each event type.
    pub sums: &'a [Cost],
    /// `true` if something else speaks for a cut: the last line could not be read, or a function is called that has no
    /// lines. Decides only where the rest leaves it open.
    pub has_more_signs: bool,
}

/// The sign that tells that a part was cut off. See the example of [`PartEnd`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CutSign {
    /// The line is missing that the producer writes at the end of a part.
    MissingLine(&'static str),
    /// The last line names a function, a file or a call, and no cost follows.
    UnfinishedBlock,
    /// The last line has no line end.
    UnfinishedLine,
}

/// An event type of which a part states more, or less, than its lines have. See the example of [`PartEnd`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shortfall {
    /// The column of the event type.
    pub column: usize,
    /// The cost that the part states.
    pub claimed: Cost,
    /// The sum of its self costs.
    pub computed: Cost,
}

/// The line that a producer writes at the end of each part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trailer {
    /// `totals:`
    Totals,
    /// `summary:`, the sum of all lines.
    Summary,
    /// `summary:`, which is not the sum. Old versions write it before the costs of the last function.
    XdebugSummary,
}

impl<'a> PartEnd<'a> {
    fn trailer(&self) -> Option<Trailer> {
        match self.producer {
            ProducerKind::Callgrind
            | ProducerKind::XTree
            | ProducerKind::Memprof
            | ProducerKind::Stackprof => Some(Trailer::Totals),
            // It writes no `version:`. What has one was repaired, and a difference below 0 has no summary then.
            ProducerKind::Cachegrind | ProducerKind::CgDiff => {
                (!self.text.starts_with(b"version:")).then_some(Trailer::Summary)
            }
            // Version 2.0 had no `creator:`, and left appended profiles without the line when a script ended early.
            ProducerKind::Xdebug => {
                (self.is_last || self.creator.is_some()).then_some(Trailer::XdebugSummary)
            }
            ProducerKind::Named => self
                .creator
                .is_some_and(|creator| creator.starts_with(MERGE_CREATOR))
                .then_some(Trailer::Totals),
            _ => None,
        }
    }

    /// Returns the sign that the part was cut off, if there is one.
    pub fn cut_sign(&self) -> Option<CutSign> {
        // Repaired and merged profiles keep their producer, and end with totals.
        if self.totals.is_some() && self.mismatch().is_none() && !self.sums.is_empty() {
            return None;
        }
        let last = LastLine::of(self.text);
        let is_unfinished_line = self.is_last && !last.has_end;
        match self.trailer() {
            Some(Trailer::Totals) if self.totals.is_none() => Some(CutSign::MissingLine("totals:")),
            // It may have been moved to the header, where the specification has it.
            Some(Trailer::Summary)
                if last.kind != LastKind::Summary
                    && (self.summary.is_none() || self.mismatch().is_some()) =>
            {
                Some(CutSign::MissingLine("summary:"))
            }
            Some(Trailer::XdebugSummary) if self.summary.is_none() => Some(CutSign::MissingLine("summary:")),
            Some(Trailer::XdebugSummary) if is_unfinished_line => Some(CutSign::UnfinishedLine),
            // Each function ends with an empty line, the last one of old versions, too; editors remove it.
            Some(Trailer::XdebugSummary)
                if last.kind != LastKind::Summary && !last.is_followed_by_blank && !self.has_whole_main() =>
            {
                Some(CutSign::UnfinishedBlock)
            }
            // Old versions write it between the last function and its costs.
            Some(Trailer::XdebugSummary)
                if last.kind == LastKind::Summary && LastLine::of(last.before).kind == LastKind::Opening =>
            {
                Some(CutSign::UnfinishedBlock)
            }
            Some(_) => None,
            None if !self.is_last || self.totals.is_some() => None,
            None if last.kind == LastKind::Opening => Some(CutSign::UnfinishedBlock),
            None if is_unfinished_line && self.line_ends_are_certain(last.kind) => {
                Some(CutSign::UnfinishedLine)
            }
            None => None,
        }
    }

    /// `true` if the costs after the `summary:` of an old Xdebug, those of `{main}` and its calls, are what it states. Each
    /// of them is rounded.
    fn has_whole_main(&self) -> bool {
        let Some(claimed) = self.summary.and_then(|summary| summary.first()) else { return false };
        let Some(at) = memmem::rfind(self.text, b"summary:") else { return false };
        let lines = LineTerminator::detect(self.text).lines(&self.text[at..]);
        let costs = lines.filter(|line| shape(line) == Shape::Cost).map(|line| {
            let cost = Words::parse(line).iter().nth(1).and_then(|word| std::str::from_utf8(word).ok());
            cost.and_then(|cost| cost.parse::<Cost>().ok()).unwrap_or(0)
        });
        let (count, sum) =
            costs.fold((0, 0), |(count, sum): (Cost, Cost), cost| (count + 1, sum.saturating_add(cost)));
        sum.saturating_add(count) >= *claimed
    }

    /// `true` if a missing line end cannot be the habit of the producer.
    fn line_ends_are_certain(&self, last: LastKind) -> bool {
        match self.producer {
            ProducerKind::Yappi | ProducerKind::Unknown | ProducerKind::Named => {
                // A header without a body ends where it was cut; what follows a body is a note at the end.
                let has_body = memmem::find(self.text, b"\nfn=").is_some();
                (last != LastKind::Header || !has_body)
                    && (self.has_more_signs || self.is_below(self.summary) || !has_body)
            }
            _ => true,
        }
    }

    fn is_below(&self, claims: Option<&[Cost]>) -> bool {
        claims.is_some_and(|claims| {
            claims.iter().zip(self.sums).any(|(&claim, &sum)| !is_wrapped(claim) && claim > sum)
        })
    }

    /// Returns the first event type of which the part states more than its lines have.
    pub fn shortfall(&self) -> Option<Shortfall> {
        let claims = self.totals.or(self.summary)?;
        let mut columns = claims.iter().zip(self.sums).enumerate();
        columns.find_map(|(column, (&claimed, &computed))| {
            (claimed > computed && !is_wrapped(claimed)).then_some(Shortfall { column, claimed, computed })
        })
    }

    /// `true` if its producer wrote a block for each call, and nobody added them up: [`CallBalance`](crate::CallBalance) can
    /// tell what is missing.
    pub fn has_block_per_call(&self) -> bool {
        // Repaired and merged profiles end with totals.
        self.producer == ProducerKind::Xdebug && self.totals.is_none()
    }

    /// Returns the first event type if the lines have more of it than the part took, which is what Xdebug states at the end.
    /// Each of `block_count` costs may be rounded up.
    pub fn excess(&self, block_count: Cost) -> Option<Shortfall> {
        // Old versions state what the main program took. What ran at shutdown is in addition.
        if !self.has_block_per_call() || LastLine::of(self.text).kind != LastKind::Summary {
            return None;
        }
        let (&claimed, &computed) = (self.summary?.first()?, self.sums.first()?);
        let is_excess = computed - claimed > block_count && !may_be_wrapped(computed.max(claimed));
        is_excess.then_some(Shortfall { column: 0, claimed, computed })
    }

    /// Returns the first event type whose sum is not what the line at the end states, where that line is a sum. Missing
    /// values at the end of `totals:` are 0.
    pub fn mismatch(&self) -> Option<Shortfall> {
        let claims = match self.trailer() {
            Some(Trailer::Summary) if self.totals.is_none() => self.summary?,
            // Its totals count samples, and its lines have some of them twice.
            _ if self.producer == ProducerKind::Stackprof => return None,
            _ => self.totals?,
        };
        let claims = claims.iter().copied().chain(std::iter::repeat(0));
        let mut columns = claims.zip(self.sums).enumerate();
        columns.find_map(|(column, (claimed, &computed))| {
            (claimed != computed).then_some(Shortfall { column, claimed, computed })
        })
    }
}

/// Returns `true` if an offset is on one of the last two lines of a text.
///
/// ```
/// use gristmill_format::is_near_end;
///
/// let text = b"fn=main\n1 20\n2 3\n";
/// assert!(is_near_end(text, 8));
/// assert!(!is_near_end(text, 0));
/// ```
pub fn is_near_end(text: &[u8], byte: u64) -> bool {
    let behind = usize::try_from(byte).ok().and_then(|byte| text.get(byte..)).unwrap_or_default();
    behind.iter().filter(|&&byte| byte == b'\n').take(3).count() < 3
}

/// `true` if a number can only be one below 0 that was written without its sign.
pub(crate) fn is_wrapped(claim: Cost) -> bool {
    claim >= 1 << 63
}

/// `true` if a cost of Xdebug may be one below 0 that was written without its sign, and divided after that.
pub(crate) fn may_be_wrapped(cost: Cost) -> bool {
    cost >= (1 << 63) / 1000
}

/// The last line of a part that says something.
struct LastLine<'a> {
    before: &'a [u8],
    kind: LastKind,
    has_end: bool,
    is_followed_by_blank: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LastKind {
    /// It names something that costs must follow.
    Opening,
    Summary,
    /// Another header line, or none at all.
    Header,
    Other,
}

impl<'a> LastLine<'a> {
    fn of(text: &'a [u8]) -> Self {
        let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
        let mut has_end = true;
        let mut is_followed_by_blank = false;
        let mut is_final = true;
        let mut rest = text;
        loop {
            let (before, end) = without_line_end(rest);
            if is_final {
                has_end = end || before.is_empty();
            }
            let start = before.iter().rposition(is_end).map_or(0, |at| at + 1);
            let line = trim_start(&before[start..]);
            let kind = match shape(line) {
                Shape::Blank | Shape::Comment(_) if start > 0 => {
                    is_followed_by_blank |= trim_end(line).is_empty() && end;
                    rest = &before[..start];
                    is_final = false;
                    continue;
                }
                Shape::Keyed(keyed) => kind_of(&keyed),
                Shape::Blank | Shape::Comment(_) => LastKind::Header,
                _ => LastKind::Other,
            };
            return LastLine { before: &before[..start], kind, has_end, is_followed_by_blank };
        }
    }
}

fn kind_of(keyed: &Keyed<'_>) -> LastKind {
    match (keyed.separator, keyed.key) {
        (b':', b"summary") => LastKind::Summary,
        (b':', _) => LastKind::Header,
        (_, b"calls") => LastKind::Opening,
        (_, key) if NameKey::parse(key).is_some() => LastKind::Opening,
        _ => LastKind::Other,
    }
}

/// Removes one line end.
fn without_line_end(text: &[u8]) -> (&[u8], bool) {
    match text {
        [before @ .., b'\r', b'\n'] | [before @ .., b'\n' | b'\r'] => (before, true),
        _ => (text, false),
    }
}

impl CutSign {
    /// Returns the sign as the end of a sentence about a part of a producer.
    pub fn sentence(self, producer: ProducerKind, creator: Option<&[u8]>) -> String {
        match self {
            CutSign::MissingLine(line) => {
                let writer = match (producer, creator) {
                    (ProducerKind::Named, Some(creator)) => shown(creator),
                    (kind, _) => kind.as_str().to_owned(),
                };
                format!("it lacks the `{line}` line that {writer} writes at the end")
            }
            CutSign::UnfinishedBlock => "it ends before the costs of a function or call".to_owned(),
            CutSign::UnfinishedLine => "its last line has no end".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(producer: ProducerKind, text: &[u8]) -> PartEnd<'_> {
        PartEnd {
            text,
            is_last: true,
            producer,
            creator: None,
            summary: None,
            totals: None,
            sums: &[5],
            has_more_signs: false,
        }
    }

    #[test]
    fn old_xdebug_ends_with_an_empty_line() {
        let whole: &[u8] = b"fn={main}\n\nsummary: 50\n\n1 20\ncfn=f\ncalls=1 0 0\n1 28\n\n";
        for end in [whole.len(), whole.len() - 1, whole.len() - 2, whole.len() - 7, 23, 24, 25] {
            let part = PartEnd { summary: Some(&[50]), ..part(ProducerKind::Xdebug, &whole[..end]) };
            assert_eq!(part.cut_sign().is_none(), end >= whole.len() - 1, "{end}");
        }
    }

    #[test]
    fn a_missing_line_end_may_be_a_habit() {
        let text = b"events: Ir\nfn=main\n1 5";
        assert_eq!(part(ProducerKind::Unknown, text).cut_sign(), None);
        assert_eq!(part(ProducerKind::RubyProf, text).cut_sign(), Some(CutSign::UnfinishedLine));
        let more = PartEnd { has_more_signs: true, ..part(ProducerKind::Unknown, text) };
        assert_eq!(more.cut_sign(), Some(CutSign::UnfinishedLine));
        let summary = PartEnd { summary: Some(&[9]), ..part(ProducerKind::Unknown, text) };
        assert_eq!(summary.cut_sign(), Some(CutSign::UnfinishedLine));
    }

    #[test]
    fn names_without_costs_are_unfinished() {
        for text in [&b"events: Ir\nfn=main\n"[..], b"fn=f\n1 2\ncfn=g\n\n# x\n", b"fn=f\ncfn=g\ncalls=1 1\n"]
        {
            let sign = part(ProducerKind::Unknown, text).cut_sign();
            assert_eq!(sign, Some(CutSign::UnfinishedBlock), "{}", text.escape_ascii());
        }
        assert_eq!(part(ProducerKind::Unknown, b"fn=f\n1 5\n\n").cut_sign(), None);
        assert_eq!(part(ProducerKind::Unknown, b"\n\n# x\n").cut_sign(), None);
    }

    #[test]
    fn totals_are_sums_and_wrapped_claims_are_none() {
        let part = part(ProducerKind::Callgrind, b"fn=f\n1 5\ntotals: 4\n");
        let totals = PartEnd { totals: Some(&[4]), ..part };
        assert_eq!(totals.mismatch().map(|short| short.claimed), Some(4));
        assert_eq!(totals.shortfall(), None);
        let none = PartEnd { totals: Some(&[]), ..part };
        assert_eq!(none.mismatch().map(|short| short.claimed), Some(0));
        assert_eq!(PartEnd { summary: Some(&[u64::MAX.into()]), ..part }.shortfall(), None);
    }
}
