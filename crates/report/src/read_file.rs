//! Files as they were read, with what is known of their packing.

use std::borrow::Cow;
use std::path::Path;

use gristmill_format::{Finding, Lint, Location, ProducerKind, RULES, Rule, Survey};

/// The bytes at the start of a file that show its producer.
const START_BYTES: usize = 64 << 10;

/// A file as it was read: its expanded bytes, and what is known of its packing.
///
/// ```
/// use gristmill_format::Lint;
/// use gristmill_report::ReadFile;
///
/// let file = ReadFile::plain("a.out".as_ref(), b"events: Ir\nfn=main\n1 x\n");
/// let mut rules = Vec::new();
/// let survey = file.examine(Lint::default(), |finding| rules.push(finding.rule.name));
/// assert_eq!(survey.parts.len(), 1);
/// assert!(rules.contains(&"bad-cost"));
/// ```
#[derive(Debug, Clone)]
pub struct ReadFile<'a> {
    /// The path as given.
    pub path: &'a Path,
    /// The name for people, without control characters.
    pub name: Cow<'a, str>,
    /// `true` if this is standard input, which has no path.
    pub is_standard_input: bool,
    /// The bytes, expanded.
    pub bytes: &'a [u8],
    /// The kind of packing, if the file is packed.
    pub packing: Option<&'a str>,
    /// Bytes that the file takes on disk.
    pub stored_size: u64,
    /// The damage of the packing as a sentence. `bytes` are those before the damage.
    pub damage: Option<&'a str>,
    /// A sentence on a name that does not fit the packing.
    pub name_mismatch: Option<Cow<'a, str>>,
}

impl<'a> ReadFile<'a> {
    /// Describes a file that is not packed.
    pub fn plain(path: &'a Path, bytes: &'a [u8]) -> Self {
        ReadFile {
            path,
            name: gristmill_output::printable_path(path),
            is_standard_input: false,
            bytes,
            packing: None,
            stored_size: bytes.len() as u64,
            damage: None,
            name_mismatch: None,
        }
    }

    /// Returns the producer, as the start of the file shows it.
    pub fn producer(&self) -> ProducerKind {
        let start = &self.bytes[..self.bytes.len().min(START_BYTES)];
        // A line that is cut off could be another one.
        let end =
            if start.len() < self.bytes.len() { start.iter().rposition(|&byte| byte == b'\n') } else { None };
        Survey::new(&start[..end.map_or(start.len(), |end| end + 1)]).producer.kind
    }

    /// Passes on all findings, those about the packing first, and returns the survey of the profile.
    pub fn examine(&self, lint: Lint, mut found: impl FnMut(Finding<'a>)) -> Survey<'a> {
        let packing_findings = [
            ("damaged-compression", self.damage.map(str::to_owned)),
            ("compressed-content", self.name_mismatch.as_deref().map(str::to_owned)),
        ];
        for (name, message) in packing_findings {
            if let (Some(rule), Some(message)) = (rule(name), message) {
                let location = Location { byte: 0, line: 1 };
                found(Finding { rule, location, column: 1, length: 0, message: message.into(), text: b"" });
            }
        }
        // If nothing could be expanded, there is nothing to examine.
        if self.damage.is_some() && self.bytes.is_empty() {
            return Survey::new(b"");
        }
        lint.run(self.bytes, found)
    }
}

/// Returns the lint rule with a name.
pub(crate) fn rule(name: &str) -> Option<&'static Rule> {
    RULES.iter().copied().find(|rule| rule.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_of_packing_exist() {
        assert!(rule("damaged-compression").is_some());
        assert!(rule("compressed-content").is_some());
    }
}
