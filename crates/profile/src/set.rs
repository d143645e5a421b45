//! The files of one recording.
//!
//! Callgrind writes `BASE`, and with dumps and threads `BASE.PART`, `BASE-THREAD` and `BASE.PART-THREAD`. `BASE` is chosen
//! by the user, by default `callgrind.out.PID`. A name alone is ambiguous: `callgrind.out.12` may be the base of process
//! 12, or dump 12 of a base `callgrind.out`. So names are read together with the headers of the files.

use std::collections::HashMap;

use gristmill_format::{Header, Line, Reader};

/// The count of bytes at the beginning of a file that hold its first header, and more.
pub const HEADER_BYTES: usize = 64 << 10;

/// `true` if two names of files in one folder may be of the same recording: one begins with what the other has before its
/// first digit. Only the headers of such files need to be read; see [`recording_of`].
///
/// ```
/// use gristmill_profile::may_share_recording;
///
/// assert!(may_share_recording("callgrind.out.12", "callgrind.out.12.1"));
/// assert!(may_share_recording("run.out.7", "run.out"));
/// assert!(!may_share_recording("callgrind.out.12", "notes.txt"));
/// ```
pub fn may_share_recording(name: &str, other: &str) -> bool {
    other.starts_with(recording_base(name)) || name.starts_with(other)
}

/// Returns what a name has before its first digit. Names with an equal base [may share a recording](may_share_recording) with
/// the same names.
///
/// ```
/// assert_eq!(gristmill_profile::recording_base("callgrind.out.12"), "callgrind.out.");
/// ```
pub fn recording_base(name: &str) -> &str {
    name.split_once(|c: char| c.is_ascii_digit()).map_or(name, |(base, _)| base)
}

/// The header values of a file that tell which recording it is from. See the example of [`recording_of`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileHeader {
    /// `pid:`
    pub pid: Option<u64>,
    /// `part:`
    pub part: Option<u64>,
    /// `thread:`
    pub thread: Option<u64>,
    /// `cmd:`
    pub command: Option<Vec<u8>>,
    /// `true` if the file is empty. Callgrind leaves an empty file under the base name when it writes one for each thread.
    pub is_empty: bool,
}

impl FileHeader {
    /// Reads the first header of a file. The start of the file is enough.
    ///
    /// ```
    /// use gristmill_profile::FileHeader;
    ///
    /// let header = FileHeader::parse(b"version: 1\npid: 12\npart: 2\nthread: 1\nevents: Ir\nfn=main\n1 2\n");
    /// assert_eq!((header.pid, header.part, header.thread), (Some(12), Some(2), Some(1)));
    /// ```
    pub fn parse(bytes: &[u8]) -> Self {
        let mut header = FileHeader { is_empty: bytes.is_empty(), ..FileHeader::default() };
        for record in Reader::new(bytes).flatten() {
            match record.line {
                _ if record.part > 0 => break,
                Line::Header(Header::Pid(pid)) => header.pid = Some(pid),
                Line::Header(Header::Part(part)) => header.part = Some(part),
                Line::Header(Header::Thread(thread)) => header.thread = Some(thread),
                Line::Header(Header::Command(command)) => header.command = Some(command.to_vec()),
                Line::Header(_) | Line::Blank | Line::Comment(_) => {}
                _ => break,
            }
        }
        header
    }

    /// Returns `true` if both are of the same process and command.
    fn shares_run_with(&self, other: &FileHeader) -> bool {
        self.pid == other.pid && self.command == other.command
    }
}

/// `true` if a file with the name `other` may be of the recording of a file with this name and header, by its name: both
/// are made from one base. Fewer files pass than with [`may_share_recording`], which knows no header.
///
/// ```
/// use gristmill_profile::{FileHeader, may_be_beside};
///
/// let header = FileHeader { pid: Some(12), part: Some(2), ..FileHeader::default() };
/// assert!(may_be_beside("callgrind.out.12", &header, "callgrind.out.12.1"));
/// assert!(!may_be_beside("callgrind.out.12", &header, "callgrind.out.13"));
/// ```
pub fn may_be_beside(name: &str, header: &FileHeader, other: &str) -> bool {
    let numbered = |text: &str, mark: char| -> Option<usize> {
        let digits = text.strip_prefix(mark)?.bytes().take_while(u8::is_ascii_digit).count();
        (digits > 0).then_some(1 + digits)
    };
    bases(name, header).iter().any(|base| {
        let Some(rest) = other.strip_prefix(base) else { return false };
        let rest = numbered(rest, '.').map_or(rest, |length| &rest[length..]);
        numbered(rest, '-').map_or(rest, |length| &rest[length..]).is_empty()
    })
}

/// Returns the indices of the files of one recording, in the order of dumps and threads: those that belong to the file with
/// index `named`, and that file itself unless it is empty.
///
/// `files` has the names of the files in one folder, and their headers. Two files are of one recording if process and
/// command are the same and both names come from one base, each by its own part and thread number. A file without a
/// process is alone, and so is one with the same part and thread as another.
///
/// ```
/// use gristmill_profile::{FileHeader, recording_of};
///
/// let file = |name: &'static str, pid, part| {
///     (name, FileHeader { pid: Some(pid), part: Some(part), ..FileHeader::default() })
/// };
/// let files = [
///     file("callgrind.out.12", 12, 2),
///     file("callgrind.out.12.1", 12, 1),
///     file("callgrind.out.123", 123, 1),
///     file("callgrind.out.12.bak", 12, 1),
/// ];
/// assert_eq!(recording_of(0, &files), [1, 0]);
/// ```
///
/// # Panics
///
/// If there is no file with this index.
pub fn recording_of<N: AsRef<str>>(named: usize, files: &[(N, FileHeader)]) -> Vec<usize> {
    Recordings::new(files).files(named)
}

/// The recordings that files in one folder are of. Finding the recordings of all files takes little more time than finding
/// that of one; [`recording_of`] says what they are.
///
/// ```
/// use gristmill_profile::{FileHeader, Recordings};
///
/// let header = |part| FileHeader { pid: Some(12), part: Some(part), ..FileHeader::default() };
/// let files = [("callgrind.out.12", header(2)), ("callgrind.out.12.1", header(1)), ("other", header(3))];
/// let recordings = Recordings::new(&files);
/// assert_eq!(recordings.files(0), [1, 0]);
/// assert!(recordings.key(0).is_some());
/// assert_eq!(recordings.key(0), recordings.key(1));
/// assert_eq!(recordings.key(2), None);
/// ```
#[derive(Debug)]
pub struct Recordings<'f> {
    files: Vec<(&'f str, &'f FileHeader)>,
    /// The files with a process, by process, command and base.
    by_run: HashMap<(Run<'f>, &'f str), Vec<usize>>,
    /// The same by base.
    by_base: HashMap<&'f str, Vec<usize>>,
}

/// Process and command.
type Run<'f> = (Option<u64>, Option<&'f [u8]>);

/// A recording of several files. Files with equal keys have the same other files, except those that equal another by part
/// and thread. See the example of [`Recordings`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RecordingKey<'f> {
    run: Run<'f>,
    /// The bases of the file that another file has.
    bases: Vec<&'f str>,
}

impl<'f> Recordings<'f> {
    /// Sorts files by the bases that their names may be made from.
    pub fn new<N: AsRef<str>>(files: &'f [(N, FileHeader)]) -> Self {
        let files: Vec<(&str, &FileHeader)> =
            files.iter().map(|(name, header)| (name.as_ref(), header)).collect();
        let (mut by_run, mut by_base) = (HashMap::new(), HashMap::new());
        for (index, &(name, header)) in files.iter().enumerate().filter(|(_, file)| file.1.pid.is_some()) {
            for base in bases(name, header) {
                by_run.entry((run_of(header), base)).or_insert_with(Vec::new).push(index);
                by_base.entry(base).or_insert_with(Vec::new).push(index);
            }
        }
        Recordings { files, by_run, by_base }
    }

    /// Returns the key of the recording of a file with a process, unless the file is alone.
    ///
    /// # Panics
    ///
    /// If there is no file with this index.
    pub fn key(&self, named: usize) -> Option<RecordingKey<'f>> {
        let (name, header) = self.files[named];
        let run = run_of(header);
        let mut bases = bases(name, header);
        bases.retain(|&base| self.by_run.get(&(run, base)).is_some_and(|files| files.len() > 1));
        (header.pid.is_some() && !bases.is_empty()).then_some(RecordingKey { run, bases })
    }

    /// Returns the indices of the files of the recording of a file, as [`recording_of`] does.
    ///
    /// # Panics
    ///
    /// If there is no file with this index.
    pub fn files(&self, named: usize) -> Vec<usize> {
        let (name, header) = self.files[named];
        if header.is_empty {
            return self.threads_of(named);
        }
        if header.pid.is_none() {
            return vec![named];
        }
        let found =
            bases(name, header).into_iter().filter_map(|base| self.by_run.get(&(run_of(header), base)));
        let mut found: Vec<usize> = found.flatten().copied().collect();
        found.sort_unstable();
        found.dedup();
        in_order(named, found, &self.files)
    }

    /// Returns the files that were written instead of an empty one.
    fn threads_of(&self, named: usize) -> Vec<usize> {
        let found = self.by_base.get(self.files[named].0).cloned().unwrap_or_default();
        match found.first() {
            Some(&first)
                if found.iter().all(|&index| self.files[index].1.shares_run_with(self.files[first].1)) =>
            {
                in_order(named, found, &self.files)
            }
            _ => vec![named],
        }
    }
}

fn run_of(header: &FileHeader) -> Run<'_> {
    (header.pid, header.command.as_deref())
}

/// Sorts files by part, thread and name. Of those with the same part and thread, only the named one is kept.
fn in_order(named: usize, mut found: Vec<usize>, files: &[(&str, &FileHeader)]) -> Vec<usize> {
    let which = |index: usize| (files[index].1.part, files[index].1.thread);
    found.sort_by_key(|&index| (which(index), files[index].0));
    let twice = |at: usize, other: Option<usize>| {
        other.and_then(|other| found.get(other)).is_some_and(|&other| which(other) == which(found[at]))
    };
    let is_kept =
        |&at: &usize| found[at] == named || !twice(at, at.checked_sub(1)) && !twice(at, Some(at + 1));
    (0..found.len()).filter(is_kept).map(|at| found[at]).collect()
}

/// Returns the bases that a name may be made from: itself, and itself without its part and thread.
fn bases<'n>(name: &'n str, header: &FileHeader) -> Vec<&'n str> {
    let mut bases = vec![name];
    let thread = header.thread.map(|thread| format!("-{thread:02}"));
    if let Some(base) = thread.and_then(|thread| name.strip_suffix(&thread)) {
        bases.push(base);
    }
    if let Some(part) = header.part.map(|part| format!(".{part}")) {
        let shorter: Vec<&str> = bases.iter().filter_map(|base| base.strip_suffix(&part)).collect();
        bases.extend(shorter);
    }
    bases
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, pid: u64, part: u64, thread: Option<u64>) -> (String, FileHeader) {
        let command = Some(b"./mill".to_vec());
        (name.to_owned(), FileHeader { pid: Some(pid), part: Some(part), thread, command, is_empty: false })
    }

    fn empty(name: &str) -> (String, FileHeader) {
        (name.to_owned(), FileHeader { is_empty: true, ..FileHeader::default() })
    }

    #[test]
    fn dumps_are_found_from_any_of_them() {
        let files = [
            file("callgrind.out.7", 7, 11, None),
            file("callgrind.out.7.10", 7, 10, None),
            file("callgrind.out.7.2", 7, 2, None),
            file("callgrind.out.71", 71, 1, None),
            file("callgrind.out.7.3", 8, 3, None),
            file("callgrind.out.7.old", 7, 4, None),
        ];
        for named in [0, 1, 2] {
            assert_eq!(recording_of(named, &files), [2, 1, 0]);
        }
        assert_eq!(recording_of(3, &files), [3]);
        assert_eq!(recording_of(5, &files), [5]);
    }

    #[test]
    fn threads_are_found_also_from_the_empty_file() {
        let files = [
            empty("callgrind.out.7"),
            file("callgrind.out.7-02", 7, 1, Some(2)),
            file("callgrind.out.7-01", 7, 1, Some(1)),
            file("callgrind.out.7.1-123", 7, 1, Some(123)),
            empty("callgrind.out.8"),
        ];
        for named in 0..4 {
            assert_eq!(recording_of(named, &files), [2, 1, 3]);
        }
        assert_eq!(recording_of(4, &files), [4]);
    }

    #[test]
    fn another_command_is_another_recording() {
        let mut files = [file("callgrind.out.7", 7, 2, None), file("callgrind.out.7.1", 7, 1, None)];
        files[1].1.command = Some(b"./other".to_vec());
        assert_eq!(recording_of(0, &files), [0]);
    }

    #[test]
    fn a_file_that_says_the_same_as_another_stays_away() {
        let files = [
            file("a.2", 7, 2, None),
            file("a", 7, 3, None),
            file("a.3", 7, 3, None),
            file("a.1", 7, 1, None),
        ];
        assert_eq!(recording_of(0, &files), [3, 0]);
        assert_eq!(recording_of(1, &files), [3, 0, 1]);
    }

    #[test]
    fn a_file_without_process_is_alone() {
        let files = [("cachegrind.out", FileHeader::default()), ("cachegrind.out.1", FileHeader::default())];
        assert_eq!(recording_of(0, &files), [0]);
    }
}
