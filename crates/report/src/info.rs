//! The report of info: what a recording contains, in one file or several.
//!
//! ```
//! use gristmill_output::Look;
//! use gristmill_profile::Profile;
//! use gristmill_report::info::{InfoFile, InfoReport};
//!
//! let profile = Profile::from_bytes(b"events: Ir\nfn=main\n1 12\n");
//! let report = InfoReport::new(vec![InfoFile::plain("a.out".as_ref())], profile);
//! let mut out = Vec::new();
//! report.write_text(&Look::plain(80), &mut out)?;
//! assert!(String::from_utf8_lossy(&out).starts_with("a.out\n"));
//! # Ok::<(), std::io::Error>(())
//! ```

mod derived;
mod event_meanings;
mod json;
mod long_names;
mod programs;
mod table;
mod text;
mod totals;

use std::path::{Path, PathBuf};

use gristmill_output::printable_path;
use gristmill_profile::Profile;

pub use self::json::{
    ClaimedRow, CountsRow, DerivedEventRow, DescriptionRow, EventTypeRow, FileRow, InfoDocument, JsonPrinter,
    PartInfoRow,
};
pub use self::programs::InfoProgramRow;
pub use self::totals::EventTotals;
use crate::damage::DamageRow;

/// The report on the files of one recording: what their profile contains. See the example of [this module](self).
#[derive(Debug)]
pub struct InfoReport {
    /// The files, in the order in which they were loaded.
    pub files: Vec<InfoFile>,
    /// The profile that they make.
    pub profile: Profile,
    /// The reasons why the numbers are not those of the recording.
    pub damage: Vec<DamageRow>,
    /// The programs of the objects, if they were looked for.
    pub programs: Option<Vec<InfoProgramRow>>,
}

/// A file of an [`InfoReport`], as it is on disk. See the example of [this module](self).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InfoFile {
    /// The path as given.
    pub path: PathBuf,
    /// The name for people, without control characters.
    pub name: String,
    /// The kind of packing, if the file is packed, and the bytes that it takes on disk.
    pub packing: Option<(&'static str, u64)>,
}

impl InfoFile {
    /// Describes a file that is not packed.
    pub fn plain(path: &Path) -> Self {
        InfoFile { path: path.to_owned(), name: printable_path(path).into_owned(), packing: None }
    }
}

impl InfoReport {
    /// Describes the profile that was loaded from these files.
    pub fn new(files: Vec<InfoFile>, profile: Profile) -> Self {
        InfoReport { damage: DamageRow::list(&profile), files, profile, programs: None }
    }

    /// The count of objects that have a name.
    fn named_objects(&self) -> usize {
        self.profile.object_count().saturating_sub(1)
    }

    /// The count of source files that have a name.
    fn named_files(&self) -> usize {
        self.profile.file_count().saturating_sub(1)
    }

    /// The size of all files in bytes, expanded.
    fn size(&self) -> u64 {
        self.profile.inputs().iter().map(|input| input.bytes.len() as u64).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_by_name() {
        let profile = Profile::from_bytes(
            b"part: 1\nevents: Ir Dr\nfn=f\n1 10 1\n\npart: 2\nevents: Dr Ir Bc\nfn=f\n1 2 20 5\n\npart: 3\n\
              events: Ir Dr\nfn=f\n1 100\n",
        );
        let report = InfoReport::new(vec![InfoFile::plain(Path::new("a"))], profile);
        assert_eq!(report.totals().iter().collect::<Vec<_>>(), [(&b"Ir"[..], 130), (b"Dr", 3), (b"Bc", 5)]);
    }
}
