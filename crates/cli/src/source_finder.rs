//! The finder of the source files that a profile names.
//!
//! A profile has paths of the machine that built the program. They are looked up in this order, and the first existing
//! file is taken:
//!
//! 1. at the path that `--source-map` gives. A rewritten path is more reliable than the recorded one, where a file of
//!    another version may exist;
//! 2. at the path as the profile has it, then below each `-I` directory, as callgrind_annotate does;
//! 3. below each `--debuginfo-dir`, where distributions install sources;
//! 4. anywhere below the `--search` directories: the file whose path ends with the most components of the profile's
//!    path. See [`file_index`].
//!
//! A profile may name any file, so only regular files up to a limit are read, and with `--sources-below` only those below
//! its directories.

mod file_index;
mod installed;
mod source_map;

#[cfg(test)]
mod tests;

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::fs::Metadata;
use std::io::Read as _;
use std::iter::once_with;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use gristmill_output::source::{SourceError, SourceText, Sources};

use self::file_index::{FileIndex, Match};
use self::source_map::SourceMap;
use crate::args::SourceArgs;
use crate::confined::{Confinement, is_absent};
use crate::error::CliError;
use crate::session::Session;
use crate::terminal::{grouped, printable_path};
use gristmill_output::io_reason;

/// The limit of a source file. No source written by a person is near this; generated ones of some megabytes exist.
const MAX_BYTES: u64 = 64 << 20;

/// The limit of all source files of a profile.
const MAX_TOTAL_BYTES: u64 = 1 << 30;

/// The limit of candidates that are named.
const MAX_NAMED: usize = 10;

type Found = Result<Arc<SourceText>, SourceError>;

pub(crate) struct SourceFinder<'s> {
    session: &'s Session,
    maps: Vec<SourceMap>,
    include: Vec<PathBuf>,
    installed: Vec<PathBuf>,
    search: Vec<PathBuf>,
    /// The directories that sources must be below.
    allowed: Confinement,
    /// The time when the profile was written.
    profile_time: Option<SystemTime>,
    /// The indexes are built when a file is found nowhere else.
    installed_index: OnceCell<FileIndex>,
    search_index: OnceCell<FileIndex>,
    /// The results by path of the profile.
    known: RefCell<HashMap<Vec<u8>, Found>>,
    /// The results by path on this machine: several paths of a profile may lead to one file.
    read: RefCell<HashMap<PathBuf, Found>>,
    /// The size of all files that were read.
    total_bytes: Cell<u64>,
}

impl<'s> SourceFinder<'s> {
    /// Creates a finder. `debuginfo_dir` are the values of that option, which programs have as well. `profile_time` is the time when the oldest profile was written; without it no source counts as
    /// newer.
    pub(crate) fn new(
        args: &SourceArgs,
        debuginfo_dir: &[PathBuf],
        profile_time: Option<SystemTime>,
        session: &'s Session,
    ) -> Result<Self, CliError> {
        Ok(SourceFinder {
            maps: SourceMap::parse_all(&args.source_map)?,
            installed: debuginfo_dir.to_vec(),
            search: args.search.clone(),
            allowed: Confinement::new("--sources-below", &args.sources_below, "`--sources-below`")?,
            ..SourceFinder::below(args.include.clone(), profile_time, session)
        })
    }

    /// Creates a finder that looks at the recorded paths and below directories, as callgrind_annotate does.
    pub(crate) fn below(
        include: Vec<PathBuf>,
        profile_time: Option<SystemTime>,
        session: &'s Session,
    ) -> Self {
        SourceFinder {
            session,
            maps: Vec::new(),
            include,
            installed: Vec::new(),
            search: Vec::new(),
            allowed: Confinement::default(),
            profile_time,
            installed_index: OnceCell::new(),
            search_index: OnceCell::new(),
            known: RefCell::default(),
            read: RefCell::default(),
            total_bytes: Cell::new(0),
        }
    }

    /// Returns the files that were looked up and are there, but were not read, each with the reason, in order.
    pub(crate) fn unread(&self) -> Vec<(Vec<u8>, SourceError)> {
        let known = self.known.borrow();
        let unread = known.iter().filter_map(|(path, found)| match found {
            Err(error @ SourceError::Unreadable(_)) => Some((path.clone(), error.clone())),
            _ => None,
        });
        let mut unread: Vec<_> = unread.collect();
        unread.sort_by(|(one, _), (other, _)| one.cmp(other));
        unread
    }

    fn look_for(&self, path: &[u8]) -> Found {
        if path.is_empty() || path == b"???" {
            return Err(SourceError::Missing);
        }
        // An unreadable file is reported if no other is found.
        let mut fault = SourceError::Missing;
        let candidates = self.candidates(path);
        let installed = || self.index(&installed::roots(&self.installed));
        let searched = || self.index(&self.search);
        // The iterator is lazy: an index is built when it is needed.
        let found = candidates
            .iter()
            .map(|path| self.read(path))
            .chain(once_with(|| self.search(self.installed_index.get_or_init(installed), path)))
            .chain(once_with(|| self.search(self.search_index.get_or_init(searched), path)));
        for found in found {
            match found {
                Err(SourceError::Missing) => {}
                Err(other) if fault == SourceError::Missing => fault = other,
                Err(_) => {}
                found => return found,
            }
        }
        Err(fault)
    }

    /// The candidates for a path.
    fn candidates(&self, path: &[u8]) -> Vec<PathBuf> {
        let mut candidates = Vec::new();
        let mapped = SourceMap::apply(&self.maps, path);
        for path in [mapped.as_deref(), Some(path)].into_iter().flatten() {
            candidates.extend(path_of(path));
            candidates.extend(self.include.iter().filter_map(|folder| below(folder, path)));
        }
        candidates.extend(self.installed.iter().flat_map(|folder| installed::candidates(folder, path)));
        candidates
    }

    fn search(&self, index: &FileIndex, path: &[u8]) -> Found {
        match index.find(path) {
            Match::None => Err(SourceError::Missing),
            Match::NameOnly(found) => Err(SourceError::NamedAlike(named(&found))),
            Match::Best(found) => {
                let read: Vec<Found> = found.iter().map(|path| self.read(path)).collect();
                let is_same = |other: &Found| match (other, &read[0]) {
                    (Ok(other), Ok(first)) => other.text == first.text,
                    (other, first) => other == first,
                };
                // Copies of one text are equally good.
                match read.iter().all(is_same) {
                    true => read.into_iter().next().unwrap_or(Err(SourceError::Missing)),
                    false => Err(SourceError::Ambiguous(named(&found))),
                }
            }
        }
    }

    fn index(&self, roots: &[PathBuf]) -> FileIndex {
        let index = FileIndex::new(roots);
        let names = roots.iter().map(|root| printable_path(root)).collect::<Vec<_>>().join(", ");
        if index.is_cut {
            self.session.warn(&format!(
                "{names}: there are more than {} files below; the rest was not searched for sources",
                grouped(file_index::MAX_FILES)
            ));
        }
        match index.unreadable {
            0 => {}
            1 => self.session.warn(&format!("{names}: a directory could not be read")),
            many => self.session.warn(&format!("{names}: {many} directories could not be read")),
        }
        index
    }

    /// Reads a file up to the size that it is stated to have. A file of the system has none: it counts as empty, as reading
    /// it may wait for something to happen.
    fn read_text(&self, path: &Path) -> Result<Vec<u8>, SourceError> {
        let (file, metadata) = self.allowed.open(path).map_err(|error| fault(&error))?;
        check(&metadata)?;
        let total = self.total_bytes.get() + metadata.len();
        if total > MAX_TOTAL_BYTES {
            let limit = MAX_TOTAL_BYTES >> 20;
            return Err(SourceError::Unreadable(format!("with it, the sources are larger than {limit} MiB")));
        }
        self.total_bytes.set(total);
        let mut text = Vec::new();
        file.take(metadata.len()).read_to_end(&mut text).map_err(|error| fault(&error))?;
        self.session.allow_file(text.len());
        Ok(text)
    }

    /// `true` if a source was changed after the profile was written.
    fn is_newer(&self, changed: Option<SystemTime>) -> bool {
        changed.zip(self.profile_time).is_some_and(|(source, profile)| seconds(source) > seconds(profile))
    }

    /// Reads each file once.
    fn read(&self, path: &Path) -> Found {
        // The kind of the file is checked first: opening a pipe would wait for its writer, and a device may do anything.
        let metadata = std::fs::metadata(path).map_err(|error| fault(&error))?;
        let canonical = std::fs::canonicalize(path).map_err(|error| fault(&error))?;
        self.allowed.check(&canonical).map_err(|error| fault(&error))?;
        check(&metadata)?;
        if let Some(found) = self.read.borrow().get(&canonical) {
            return found.clone();
        }
        let changed = metadata.modified().ok();
        let found = self.read_text(&canonical).map(|text| {
            Arc::new(SourceText {
                found_at: printable_path(path).into_owned(),
                text,
                changed,
                is_newer: self.is_newer(changed),
            })
        });
        self.read.borrow_mut().insert(canonical, found.clone());
        found
    }
}

impl Sources for SourceFinder<'_> {
    fn get(&self, path: &[u8]) -> Found {
        if let Some(found) = self.known.borrow().get(path) {
            return found.clone();
        }
        let found = self.look_for(path);
        self.known.borrow_mut().insert(path.to_vec(), found.clone());
        found
    }

    fn directory(&self, path: &[u8]) -> Option<SourceText> {
        let path = path_of(path).filter(|path| !path.as_os_str().is_empty() && self.allowed.is_none())?;
        let metadata = std::fs::metadata(&path).ok().filter(Metadata::is_dir)?;
        let changed = metadata.modified().ok();
        Some(SourceText {
            found_at: printable_path(&path).into_owned(),
            text: Vec::new(),
            changed,
            is_newer: self.is_newer(changed),
        })
    }
}

/// Refuses what is no regular file, and what is too large.
fn check(metadata: &Metadata) -> Result<(), SourceError> {
    if !metadata.is_file() {
        return Err(SourceError::Unreadable("is no regular file".to_owned()));
    }
    if metadata.len() > MAX_BYTES {
        return Err(SourceError::Unreadable(format!("is larger than {} MiB", MAX_BYTES >> 20)));
    }
    Ok(())
}

fn fault(error: &std::io::Error) -> SourceError {
    match is_absent(error) {
        true => SourceError::Missing,
        false => SourceError::Unreadable(io_reason(error)),
    }
}

/// The names of candidates, up to a limit.
fn named(found: &[PathBuf]) -> Vec<String> {
    let mut names: Vec<String> =
        found.iter().take(MAX_NAMED).map(|path| printable_path(path).into_owned()).collect();
    if found.len() > MAX_NAMED {
        names.push(format!("{} more", found.len() - MAX_NAMED));
    }
    names
}

/// A recorded path as one of this machine.
#[cfg(unix)]
fn path_of(bytes: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt as _;

    Some(PathBuf::from(std::ffi::OsStr::from_bytes(bytes)))
}

/// A recorded path as one of this machine, where paths are Unicode.
#[cfg(not(unix))]
fn path_of(bytes: &[u8]) -> Option<PathBuf> {
    std::str::from_utf8(bytes).ok().map(PathBuf::from)
}

/// The time in seconds: files that are copied or unpacked together often differ by less, in any order.
fn seconds(time: SystemTime) -> u64 {
    time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// A path below a directory, even an absolute path, which `join` would take alone.
fn below(folder: &Path, path: &[u8]) -> Option<PathBuf> {
    let mut joined = folder.as_os_str().to_owned();
    joined.push("/");
    joined.push(path_of(path)?);
    Some(PathBuf::from(joined))
}

/// The components of a path of any system, without `.` and `..`.
fn components(path: &[u8]) -> Vec<&[u8]> {
    // A backslash separates only if there is no slash: a name may contain one.
    let separator = if path.contains(&b'/') { b'/' } else { b'\\' };
    let mut components = Vec::new();
    for component in path.split(|&byte| byte == separator) {
        match component {
            b"" | b"." => {}
            b".." => {
                components.pop();
            }
            name => components.push(name),
        }
    }
    components
}
