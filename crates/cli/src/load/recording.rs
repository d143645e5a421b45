//! The files of the recording that a file is part of, found in its folder.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use gristmill_format::Cost;
use gristmill_output::percent;
use gristmill_profile::{
    FileHeader, HEADER_BYTES, Recordings, may_be_beside, may_share_recording, recording_base, recording_of,
};

use crate::args::is_dash;
use crate::error::CliError;
use crate::input::{Packing, read_start};
use crate::terminal::printable_path;

/// The limit of files that a hint looks at.
const MAX_BESIDE: usize = 100;

/// The bytes at the end of a file that hold its `totals:`.
const END_BYTES: u64 = 4096;

/// The other files of the recording of a named file.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// The files of the recording, in the order of dumps and threads. None if an earlier named file is of the same recording.
    pub(crate) files: Vec<PathBuf>,
    /// `true` if there is no other file.
    pub(crate) is_alone: bool,
}

/// Finds the recordings of files. Each directory is listed once and each header is read once, however many files are named.
pub(crate) fn of_all(paths: &[&Path]) -> Result<Vec<Found>, CliError> {
    // By directory and base of the names: files that may be of one recording.
    let mut groups: BTreeMap<(&Path, &str), Vec<(FileName, FileHeader)>> = BTreeMap::new();
    let mut keys = Vec::new();
    let named: HashSet<(&Path, &OsStr)> =
        paths.iter().filter_map(|path| Some((folder(path), path.file_name()?))).collect();
    for path in paths {
        let refused = |message: String| CliError::Usage { message, hint: None };
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
            return Err(refused(format!(
                "{}: the file name is not text, so there is nothing to find other files by",
                printable_path(path)
            )));
        };
        let folder = folder(path);
        let plain = without_packing(name);
        let key = (folder, recording_base(plain));
        if let Entry::Vacant(group) = groups.entry(key) {
            let is_named = |other: &str| named.contains(&(folder, OsStr::new(other)));
            let names = names(folder, is_named, |other| may_share_recording(plain, other));
            let names = names.map_err(|error| {
                refused(format!("{}: {}", printable_path(folder), crate::input::reason(&error)))
            })?;
            group.insert(with_headers(folder, names));
        }
        keys.push((key, name));
    }
    let recordings: BTreeMap<_, _> =
        groups.iter().map(|(key, files)| (key, Recordings::new(files))).collect();
    let mut met = HashSet::new();
    let found = paths.iter().zip(&keys).map(|(&path, (key, name))| {
        let (files, recordings) = (&groups[key], &recordings[key]);
        let Ok(named) = files.binary_search_by(|(other, _)| other.stored.as_str().cmp(name)) else {
            let plain = without_packing(name);
            if files.iter().any(|(other, _)| other.as_ref() == plain) {
                // It is there packed and as it was, and both are named.
                return Found::default();
            }
            return Found { files: vec![path.to_owned()], is_alone: true };
        };
        let of_recording = recordings.key(named).map(|of_recording| (key, of_recording));
        if of_recording.as_ref().is_some_and(|of_recording| met.contains(of_recording)) {
            return Found::default();
        }
        let set = recordings.files(named);
        let is_alone = set.len() == 1;
        // A file that equals another by part and thread may be alone, though others of its recording are not.
        met.extend(of_recording.filter(|_| !is_alone));
        Found { files: paths_of(path, named, set, files), is_alone }
    });
    Ok(found.collect())
}

/// Returns warnings about files that are named like dumps or threads of the recording of a file, and have no profile: a recording
/// that ended because a disk was full leaves such files.
pub(crate) fn without_profile(path: &Path) -> Vec<String> {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return Vec::new() };
    // Only files with a process are of one recording.
    let Some(of_path) = header(path).filter(|header| header.pid.is_some()) else { return Vec::new() };
    let plain = without_packing(name);
    let is_beside = |other: &str| may_be_beside(plain, &of_path, other);
    let names = names(folder(path), |other| other == name, is_beside).unwrap_or_default();
    let others = names.into_iter().filter(|other| other.stored != name);
    let others = others.map(|other| (beside(folder(path), &other), plain.starts_with(other.as_ref())));
    let has_none = |(other, is_base): &(PathBuf, bool)| match header(other) {
        // Beside the files of threads, that of the base is empty.
        Some(header) => header.pid.is_none() && !(header.is_empty && *is_base),
        None => !other.is_dir(),
    };
    let warning = |(other, _): (PathBuf, bool)| {
        let other = printable_path(&other).into_owned();
        format!(
            "{other} is named like a file of this recording, but has no profile: if it lost one, costs are missing"
        )
    };
    others.filter(has_none).map(warning).collect()
}

/// Returns a sentence about the share that a file has of its recording, if other files of it lie beside the file. Reads
/// the headers and last lines of those files only.
pub(crate) fn share(path: &Path) -> Option<String> {
    if is_dash(path) {
        return None;
    }
    let name = path.file_name()?.to_str()?;
    let header = header(path)?;
    header.pid?;
    let plain = without_packing(name);
    let is_beside = |other: &str| may_be_beside(plain, &header, other);
    let names = names(folder(path), |other| other == name, is_beside).ok()?;
    if names.len() > MAX_BESIDE {
        return None;
    }
    let files = if names.len() < 2 { Vec::new() } else { of_recording(path, name, names) };
    if files.len() < 2 {
        return None;
    }
    let totals: Option<Vec<Cost>> = files.iter().map(|file| last_total(file)).collect();
    let shares = totals.and_then(|totals| {
        let own = files.iter().position(|file| file == path)?;
        Some((totals[own], totals.iter().sum::<Cost>()))
    });
    let share = match shares {
        Some((part, whole)) if whole > 0 => format!("{} of the recording", percent(part, whole)),
        _ => "a part of the recording".to_owned(),
    };
    Some(format!("{} is {share}; --set takes all {} files", printable_path(path), files.len()))
}

/// Returns the first number on the last line, if that is `totals:`, and the file has one part.
fn last_total(path: &Path) -> Option<Cost> {
    let mut file = std::fs::File::open(path).ok()?;
    let size = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(size.saturating_sub(END_BYTES))).ok()?;
    let mut bytes = Vec::new();
    file.take(END_BYTES).read_to_end(&mut bytes).ok()?;
    let line = bytes.trim_ascii_end().rsplit(|&byte| byte == b'\n').next()?;
    let numbers = std::str::from_utf8(line.strip_prefix(b"totals:")?).ok()?;
    numbers.split_whitespace().next().map_or(Some(0), |number| number.parse().ok())
}

fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// The name of a file in a folder.
#[derive(Debug)]
struct FileName {
    stored: String,
}

impl AsRef<str> for FileName {
    /// The name that the file had before it was packed.
    fn as_ref(&self) -> &str {
        without_packing(&self.stored)
    }
}

/// Returns a name without the extension that packing adds to it.
fn without_packing(name: &str) -> &str {
    match Packing::from_extension(Path::new(name)) {
        Some(_) => name.rsplit_once('.').map_or(name, |(plain, _)| plain),
        None => name,
    }
}

/// Returns the names in a folder that a condition holds for without the extension of packing, sorted. Of a file that is there packed and as
/// it was, there is the one that is named, or else the latter.
fn names(
    folder: &Path,
    is_named: impl Fn(&str) -> bool,
    is_wanted: impl Fn(&str) -> bool,
) -> io::Result<Vec<FileName>> {
    let entries = std::fs::read_dir(folder)?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<FileName> =
        names.filter(|other| is_wanted(without_packing(other))).map(|stored| FileName { stored }).collect();
    let rank = |name: &FileName| (!is_named(&name.stored), name.stored.len());
    names.sort_unstable_by(|a, b| a.as_ref().cmp(b.as_ref()).then_with(|| rank(a).cmp(&rank(b))));
    names.dedup_by(|other, first| other.as_ref() == first.as_ref());
    names.sort_unstable_by(|a, b| a.stored.cmp(&b.stored));
    Ok(names)
}

/// Returns those of the files with these names that are of the recording of a file, by their headers.
fn of_recording(path: &Path, name: &str, names: Vec<FileName>) -> Vec<PathBuf> {
    let files = with_headers(folder(path), names);
    match files.iter().position(|(other, _)| other.stored == name) {
        Some(named) => paths_of(path, named, recording_of(named, &files), &files),
        None => vec![path.to_owned()],
    }
}

/// Reads the headers of files. Leaves out what is no file.
fn with_headers(folder: &Path, names: Vec<FileName>) -> Vec<(FileName, FileHeader)> {
    names.into_iter().filter_map(|name| header(&beside(folder, &name)).map(|header| (name, header))).collect()
}

/// Returns the paths of files that are beside a named one.
fn paths_of(path: &Path, named: usize, set: Vec<usize>, files: &[(FileName, FileHeader)]) -> Vec<PathBuf> {
    let path_of = |index: usize| match index == named {
        true => path.to_owned(),
        false => beside(folder(path), &files[index].0),
    };
    set.into_iter().map(path_of).collect()
}

fn beside(folder: &Path, name: &FileName) -> PathBuf {
    if folder == Path::new(".") { PathBuf::from(&name.stored) } else { folder.join(&name.stored) }
}

/// Reads the header of a file. `None` if it is not a regular file or cannot be read.
fn header(path: &Path) -> Option<FileHeader> {
    let metadata = std::fs::metadata(path).ok()?;
    if !metadata.is_file() {
        return None;
    }
    // A file of the system, as in /proc, has no size, and reading it may wait.
    let bytes = if metadata.len() > 0 { read_start(path, HEADER_BYTES).ok()? } else { Vec::new() };
    Some(FileHeader::parse(&bytes))
}
