//! The report of info: what one profile contains.
//!
//! ```
//! use gristmill_output::Look;
//! use gristmill_report::ReadFile;
//! use gristmill_report::info::InfoReport;
//!
//! let file = ReadFile::plain("a.out".as_ref(), b"events: Ir\nfn=main\n1 12\n");
//! let report = InfoReport::new(&file)?;
//! assert_eq!(report.survey.counts.functions, 1);
//! let mut out = Vec::new();
//! report.write_text(&Look::plain(80), &mut out).unwrap();
//! assert!(String::from_utf8(out).unwrap().starts_with("a.out\n"));
//! # Ok::<(), gristmill_report::info::NotAProfile>(())
//! ```

mod damage;
mod derived;
mod event_meanings;
mod json;
mod table;
mod text;
mod totals;

use std::borrow::Cow;
use std::fmt;

use gristmill_format::{Lint, Survey};

use self::damage::DamageFindings;
pub use self::json::{
    ClaimedRow, CountsRow, DescriptionRow, EventTypeRow, FileRow, InfoDocument, JsonPrinter, PartInfoRow,
};
pub use self::totals::EventTotals;
use crate::damage::DamageRow;
use crate::lint::FindingCounts;
use crate::read_file::ReadFile;

/// The report on one file: what its profile contains, and the count of findings. See the example of [this module](self).
#[derive(Debug)]
pub struct InfoReport<'a> {
    /// The file.
    pub file: &'a ReadFile<'a>,
    /// The contents of the profile.
    pub survey: Survey<'a>,
    /// Count of findings of lint.
    pub findings: FindingCounts,
    /// The reasons why the numbers are not those of the recording, as the other reports have them.
    pub damage: Vec<DamageRow>,
}

/// A file that is not a profile. See the example of [this module](self).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotAProfile {
    /// Name of the file, without control characters.
    pub name: String,
    /// A description of its content.
    pub message: Cow<'static, str>,
}

impl fmt::Display for NotAProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.message)
    }
}

impl std::error::Error for NotAProfile {}

impl<'a> InfoReport<'a> {
    /// Examines a file.
    ///
    /// # Errors
    ///
    /// If the file is not a profile. An empty file is one: Callgrind writes such files.
    pub fn new(file: &'a ReadFile<'a>) -> Result<Self, NotAProfile> {
        let mut findings = FindingCounts::default();
        let mut foreign = None;
        let mut damage = DamageFindings::default();
        let producer = file.producer();
        let survey = file.examine(Lint::default(), |finding| {
            if !finding.rule.is_habit_of(producer) {
                findings.add(finding.rule.severity);
            }
            damage.add(&finding);
            if finding.rule.name == "not-a-profile" {
                foreign = Some(finding.message);
            }
        });
        // A text that only begins like a profile, for example with a comment, is not one either.
        let counts = &survey.counts;
        let has_events = survey.parts.iter().any(|part| part.header.event_count() > 0);
        if counts.errors > 0 && !has_events && counts.cost_lines + counts.arcs == 0 {
            foreign.get_or_insert(Cow::Borrowed(
                "this is not a Callgrind profile: it has no `events:` line and no costs",
            ));
        }
        match foreign {
            Some(message) => Err(NotAProfile { name: file.name.clone().into_owned(), message }),
            None => Ok(InfoReport { file, findings, damage: damage.rows(file, &survey), survey }),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn file(bytes: &[u8]) -> ReadFile<'_> {
        ReadFile::plain(Path::new("a"), bytes)
    }

    #[test]
    fn totals_are_by_name() {
        let file = file(
            b"part: 1\nevents: Ir Dr\nfn=f\n1 10 1\n\npart: 2\nevents: Dr Ir Bc\nfn=f\n1 2 20 5\n\npart: 3\n\
              events: Ir Dr\nfn=f\n1 100\n",
        );
        let report = InfoReport::new(&file).unwrap();
        assert_eq!(report.totals().iter().collect::<Vec<_>>(), [(&b"Ir"[..], 130), (b"Dr", 3), (b"Bc", 5)]);
    }

    #[test]
    fn other_files_are_refused() {
        let error = InfoReport::new(&file(b"{\"traceEvents\": []}\n")).unwrap_err();
        assert_eq!(error.to_string(), "a: this is not a Callgrind profile: it is JSON");
        assert!(InfoReport::new(&file(b"# Title\n\nSome words.\n")).is_err());
        assert!(InfoReport::new(&file(b"# callgrind format\nversion: 1\n")).is_ok());
    }
}
