//! Finds the source files that a profile names.
//!
//! A profile has paths of the machine that built the program. They are looked for in this order, and the first file that
//! is there is taken:
//!
//! 1. where `--source-map` says. Who rewrites a path knows better than the profile, and a file that happens to stand at
//!    the old place may be of another version;
//! 2. at the path as the profile has it, then below each `-I` directory, as callgrind_annotate does;
//! 3. below each `--debuginfo-dir`, where distributions install sources;
//! 4. anywhere below the `--search` directories: the file whose path ends with the most components of the profile's
//!    path. See [`file_index`].

mod file_index;
mod installed;
mod source_map;

#[cfg(test)]
mod tests;

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::fs::File;
use std::io::Read as _;
use std::iter::once_with;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use gristmill_output::source::{SourceError, SourceText, Sources};

use self::file_index::{FileIndex, Match};
use self::source_map::SourceMap;
use crate::args::SourceArgs;
use crate::error::CliError;
use crate::session::Session;
use crate::terminal::{grouped, printable_path};
use gristmill_output::io_reason;

/// No source that was written by a person is near this; generated ones of some megabytes exist.
const MOST_BYTES: u64 = 64 << 20;

/// So many candidates are named when several files fit.
const MOST_NAMED: usize = 10;

type Found = Result<Arc<SourceText>, SourceError>;

pub(crate) struct SourceFinder<'s> {
    session: &'s Session,
    maps: Vec<SourceMap>,
    include: Vec<PathBuf>,
    installed: Vec<PathBuf>,
    search: Vec<PathBuf>,
    /// When the profile was written.
    profile_time: Option<SystemTime>,
    /// Built when a file is found nowhere else.
    installed_index: OnceCell<FileIndex>,
    search_index: OnceCell<FileIndex>,
    /// By the path of the profile.
    known: RefCell<HashMap<Vec<u8>, Found>>,
    /// By where it is: several paths of a profile may lead to one file.
    read: RefCell<HashMap<PathBuf, Found>>,
}

impl<'s> SourceFinder<'s> {
    /// `profile_time` is when the oldest of the profiles was written; without it no source counts as newer.
    pub(crate) fn new(
        args: &SourceArgs,
        profile_time: Option<SystemTime>,
        session: &'s Session,
    ) -> Result<Self, CliError> {
        Ok(SourceFinder {
            maps: SourceMap::parse_all(&args.source_map)?,
            installed: args.debuginfo_dir.clone(),
            search: args.search.clone(),
            ..SourceFinder::below(args.include.clone(), profile_time, session)
        })
    }

    /// Looks for sources as callgrind_annotate does: at their paths, and below these directories.
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
            profile_time,
            installed_index: OnceCell::new(),
            search_index: OnceCell::new(),
            known: RefCell::default(),
            read: RefCell::default(),
        }
    }

    fn look_for(&self, path: &[u8]) -> Found {
        if path.is_empty() || path == b"???" {
            return Err(SourceError::Missing);
        }
        // A file that is there and cannot be read is worth telling when no other is found.
        let mut fault = SourceError::Missing;
        let places = self.places(path);
        let installed = || self.index(&installed::roots(&self.installed));
        let searched = || self.index(&self.search);
        // One after the other: an index is built when it is needed.
        let found = places
            .iter()
            .map(|place| self.read(place))
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

    /// Where the file may be, going by its path alone.
    fn places(&self, path: &[u8]) -> Vec<PathBuf> {
        let mut places = Vec::new();
        let mapped = SourceMap::apply(&self.maps, path);
        for path in [mapped.as_deref(), Some(path)].into_iter().flatten() {
            places.extend(path_of(path));
            places.extend(self.include.iter().filter_map(|folder| below(folder, path)));
        }
        places.extend(self.installed.iter().flat_map(|folder| installed::places(folder, path)));
        places
    }

    fn search(&self, index: &FileIndex, path: &[u8]) -> Found {
        match index.find(path) {
            Match::None => Err(SourceError::Missing),
            Match::NameOnly(found) => Err(SourceError::NamedAlike(named(&found))),
            Match::Best(found) => {
                let read: Vec<Found> = found.iter().map(|place| self.read(place)).collect();
                let is_same = |other: &Found| match (other, &read[0]) {
                    (Ok(other), Ok(first)) => other.text == first.text,
                    (other, first) => other == first,
                };
                // Copies of one text are as good as each other.
                match read.iter().all(is_same) {
                    true => read.into_iter().next().unwrap_or(Err(SourceError::Missing)),
                    false => Err(SourceError::Ambiguous(named(&found))),
                }
            }
        }
    }

    fn index(&self, roots: &[PathBuf]) -> FileIndex {
        let index = FileIndex::of(roots);
        let places = roots.iter().map(|root| printable_path(root)).collect::<Vec<_>>().join(", ");
        if index.is_cut {
            self.session.warn(&format!(
                "{places}: there are more than {} files below; the rest was not searched for sources",
                grouped(file_index::MOST_FILES)
            ));
        }
        match index.unreadable {
            0 => {}
            1 => self.session.warn(&format!("{places}: a directory could not be read")),
            many => self.session.warn(&format!("{places}: {many} directories could not be read")),
        }
        index
    }

    /// Reads a file, each one once.
    fn read(&self, place: &Path) -> Found {
        // What may be opened is known before it is: opening a pipe would wait for somebody to write into it.
        let metadata = match std::fs::metadata(place) {
            Ok(metadata) => metadata,
            Err(error) => return Err(fault(&error)),
        };
        if !metadata.is_file() {
            return Err(SourceError::Unreadable("is no regular file".to_owned()));
        }
        if metadata.len() > MOST_BYTES {
            return Err(SourceError::Unreadable(format!("is larger than {} MiB", MOST_BYTES >> 20)));
        }
        let place_itself = std::fs::canonicalize(place).unwrap_or_else(|_| place.to_owned());
        if let Some(found) = self.read.borrow().get(&place_itself) {
            return found.clone();
        }
        let read = || {
            // It may have grown since, and some files of the system do not know their size.
            let mut text = Vec::new();
            File::open(place)?.take(MOST_BYTES).read_to_end(&mut text)?;
            Ok(text)
        };
        let changed = metadata.modified().ok();
        let found = read().map_err(|error| fault(&error)).map(|text| {
            Arc::new(SourceText {
                found_at: printable_path(place).into_owned(),
                text,
                changed,
                is_newer: changed
                    .zip(self.profile_time)
                    .is_some_and(|(source, profile)| seconds(source) > seconds(profile)),
            })
        });
        self.read.borrow_mut().insert(place_itself, found.clone());
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
}

fn fault(error: &std::io::Error) -> SourceError {
    use std::io::ErrorKind;

    match error.kind() {
        // A path of a profile may hold anything, and so may be none at all to the system.
        ErrorKind::NotFound
        | ErrorKind::NotADirectory
        | ErrorKind::InvalidInput
        | ErrorKind::InvalidFilename => SourceError::Missing,
        _ => SourceError::Unreadable(io_reason(error)),
    }
}

/// Candidates by name; of very many the first.
fn named(found: &[PathBuf]) -> Vec<String> {
    let mut names: Vec<String> =
        found.iter().take(MOST_NAMED).map(|place| printable_path(place).into_owned()).collect();
    if found.len() > MOST_NAMED {
        names.push(format!("{} more", found.len() - MOST_NAMED));
    }
    names
}

/// A path of a profile as one of this machine.
#[cfg(unix)]
fn path_of(bytes: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt as _;

    Some(PathBuf::from(std::ffi::OsStr::from_bytes(bytes)))
}

/// A path of a profile as one of this machine, where paths are Unicode.
#[cfg(not(unix))]
fn path_of(bytes: &[u8]) -> Option<PathBuf> {
    std::str::from_utf8(bytes).ok().map(PathBuf::from)
}

/// Files that are copied or unpacked together often differ by less than a second, in any order.
fn seconds(time: SystemTime) -> u64 {
    time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// The path put behind a folder, whether it begins at the root or not: joining would take an absolute one for itself.
fn below(folder: &Path, path: &[u8]) -> Option<PathBuf> {
    let mut joined = folder.as_os_str().to_owned();
    joined.push("/");
    joined.push(path_of(path)?);
    Some(PathBuf::from(joined))
}

/// The components of a path, of any system: `.` left out, `..` taking one back.
fn components(path: &[u8]) -> Vec<&[u8]> {
    // Only where there is no slash at all, as a name may well hold a backslash.
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
