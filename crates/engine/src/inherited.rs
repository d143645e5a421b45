//! The state that a program gets from the one whose place it takes, and how the engine hands it on to itself: as words.

use std::ffi::OsString;
use std::path::PathBuf;

/// A limit: the one that holds, and the highest that can be set. See the example of [`Inherited`].
pub type Limit = [u64; 2];

/// Limits that the engine looks at: memory, memory that can be written, files, and bytes of a file.
pub(crate) const LIMIT_COUNT: usize = 4;

/// The state that a program gets from the one whose place it takes.
///
/// ```
/// use gristmill_engine::Inherited;
///
/// let words = ["0", "0", "pipe", "", "0", "-,-,-,-", "2", "/bin/echo", "echo", "a", "LANG=C"].map(Into::into);
/// let inherited = Inherited::parse(&words).unwrap();
/// assert_eq!(inherited.words, ["echo", "a"]);
/// assert_eq!(inherited.environment, ["LANG=C"]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inherited {
    /// The signals that are blocked.
    pub mask: u64,
    /// The process that records, if the program ends with it.
    pub parent: Option<u32>,
    /// `true` if `SIGPIPE` is ignored. Programs in Rust ignore it themselves, so the process does not tell.
    pub ignores_pipe_signal: bool,
    /// Standard streams that are closed, by their descriptors. The runtime of Rust opens them.
    pub closed_streams: Vec<i32>,
    /// The parts that were written so far.
    pub parts: u64,
    /// The limits of memory and files that were set.
    pub limits: [Option<Limit>; LIMIT_COUNT],
    /// The program, as it was called.
    pub path: PathBuf,
    /// Its words, with the first, which can be any.
    pub words: Vec<OsString>,
    /// The entries of its environment.
    pub environment: Vec<OsString>,
}

/// The words for whether `SIGPIPE` is ignored.
const IGNORED: &str = "no pipe";
const EXPECTED: &str = "pipe";

/// The word for no limit.
const NO_LIMIT: &str = "-";

impl Inherited {
    /// The word before those that are parsed.
    pub const MARK: &'static str = "--in-place";

    /// Parses what the engine hands on to itself. `None` if it is something else.
    pub fn parse(words: &[OsString]) -> Option<Inherited> {
        let [mask, parent, pipe, closed, parts, limits, count, path, rest @ ..] = words else { return None };
        let count: usize = count.to_str()?.parse().ok()?;
        let (words, environment) = rest.split_at_checked(count)?;
        Some(Inherited {
            mask: u64::from_str_radix(mask.to_str()?, 16).ok()?,
            parent: Some(parent.to_str()?.parse().ok()?).filter(|parent| *parent != 0),
            ignores_pipe_signal: pipe == IGNORED,
            closed_streams: closed
                .to_str()?
                .bytes()
                .map(|digit| i32::from(digit) - i32::from(b'0'))
                .collect(),
            parts: parts.to_str()?.parse().ok()?,
            limits: parse_limits(limits.to_str()?)?,
            path: path.into(),
            environment: environment.to_vec(),
            words: words.to_vec(),
        })
    }

    /// Returns the words that are parsed.
    pub(crate) fn to_words(&self) -> impl Iterator<Item = OsString> {
        let pipe = if self.ignores_pipe_signal { IGNORED } else { EXPECTED };
        let limits = self.limits.map(|limit| match limit {
            Some([limit, highest]) => format!("{limit} {highest}"),
            None => NO_LIMIT.to_owned(),
        });
        let closed: String = self.closed_streams.iter().map(i32::to_string).collect();
        let count = self.words.len().to_string();
        let parent = self.parent.unwrap_or(0).to_string();
        let mask = format!("{:x}", self.mask);
        let parts = self.parts.to_string();
        let first = [mask, parent, pipe.to_owned(), closed, parts, limits.join(","), count];
        let rest = self.words.iter().chain(&self.environment).cloned();
        first.into_iter().map(OsString::from).chain([self.path.clone().into()]).chain(rest)
    }
}

fn parse_limits(text: &str) -> Option<[Option<Limit>; LIMIT_COUNT]> {
    let limit = |text: &str| -> Option<Option<Limit>> {
        match text.split_once(' ') {
            Some((limit, highest)) => Some(Some([limit.parse().ok()?, highest.parse().ok()?])),
            None => (text == NO_LIMIT).then_some(None),
        }
    };
    let limits: Option<Vec<Option<Limit>>> = text.split(',').map(limit).collect();
    limits?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let texts = |texts: &[&str]| texts.iter().map(OsString::from).collect::<Vec<_>>();
        let inherited = Inherited {
            mask: 0x8000_0001,
            parent: Some(71),
            ignores_pipe_signal: true,
            closed_streams: vec![0, 2],
            parts: 3,
            limits: [None, Some([1, 2]), None, Some([u64::MAX; 2])],
            path: "./a".into(),
            words: texts(&["--", "A=1"]),
            environment: texts(&["A=1", "=B=2", "none", "C="]),
        };
        let words: Vec<OsString> = inherited.to_words().collect();
        assert_eq!(Inherited::parse(&words).as_ref(), Some(&inherited));
        assert_eq!(Inherited::parse(&words[..8]), None);
        let none = Inherited { words: Vec::new(), closed_streams: Vec::new(), ..inherited };
        assert_eq!(Inherited::parse(&none.to_words().collect::<Vec<_>>()), Some(none));
    }
}
