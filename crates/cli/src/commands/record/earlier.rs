//! The files of earlier recordings that processes of this one could overwrite: which ids the processes have that a program forks is not
//! known ahead. Callgrind overwrites what has the name. So the content of such a file is saved when a process is about to write there,
//! and comes back under its name at the end.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime};

use super::valgrind_log::Processes;
use crate::input::reason;
use crate::lease::Lease;
use crate::output_name::{OutputName, files_of_base};
use crate::session::Session;
use crate::terminal::printable_path;

/// Time between two looks at the leases. A process that is about to overwrite a file waits for so long.
const INTERVAL: Duration = Duration::from_millis(20);

/// Bytes that are copied ahead, where a file cannot have a lease.
const MAX_COPIED_BYTES: u64 = 64 << 20;

/// Other names that are tried.
const MAX_ATTEMPTS: u32 = 1000;

/// A file of an earlier recording, or another one with such a name.
#[derive(Debug)]
struct EarlierFile {
    path: PathBuf,
    state: State,
    lease: Option<Lease>,
    /// Its content, if that was saved. Removed unless it is needed.
    copy: Option<PathBuf>,
}

/// A file at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct State {
    bytes: u64,
    modified: Option<SystemTime>,
}

/// The files of earlier recordings, by process id.
#[derive(Debug, Default)]
pub(super) struct EarlierFiles {
    files: BTreeMap<u32, Vec<EarlierFile>>,
    /// `true` if they are overwritten.
    are_overwritten: bool,
}

/// The look-out for processes that are about to overwrite a file.
#[derive(Debug)]
pub(super) enum Watch {
    /// There is nothing to look at.
    Idle(EarlierFiles),
    Busy {
        stop: Sender<()>,
        thread: JoinHandle<EarlierFiles>,
    },
}

/// The files of earlier recordings after the end of this one.
#[derive(Debug, Default)]
pub(super) struct Settled {
    /// Files with the name of one of this recording that are none.
    earlier: BTreeSet<PathBuf>,
    /// The names of processes whose own one was taken.
    bases: BTreeMap<u32, PathBuf>,
}

impl Settled {
    /// `true` if a file is of an earlier recording.
    pub(super) fn is_earlier(&self, path: &Path) -> bool {
        self.earlier.contains(path)
    }

    /// Returns the name of a process whose own one was taken.
    pub(super) fn other_base(&self, process: u32) -> Option<&Path> {
        self.bases.get(&process).map(PathBuf::as_path)
    }
}

impl State {
    fn new(metadata: &Metadata) -> State {
        State { bytes: metadata.len(), modified: metadata.modified().ok() }
    }
}

impl EarlierFiles {
    /// Finds files that will be overwritten, to tell those that are not from those of this recording.
    pub(super) fn find_overwritten(name: &OutputName) -> EarlierFiles {
        let mut paths = name.files_of_processes();
        if !name.has_process_id() {
            paths.insert(0, name.files_of(0));
        }
        let file = |path: PathBuf| {
            let state = State::new(&path.metadata().ok()?);
            Some(EarlierFile { path, state, lease: None, copy: None })
        };
        let files =
            paths.into_iter().map(|(process, paths)| (process, paths.into_iter().filter_map(file).collect()));
        EarlierFiles { files: files.collect(), are_overwritten: true }
    }

    /// Finds the files that must not be overwritten.
    pub(super) fn find(name: &OutputName) -> EarlierFiles {
        let own = std::process::id();
        let mut found: Vec<(u32, Vec<PathBuf>)> = name.files_of_processes().into_iter().collect();
        // A process that lives keeps its id.
        found.retain(|(process, _)| !Path::new("/proc").join(process.to_string()).exists());
        // Ids are given in this order.
        found.sort_by_key(|(process, _)| process.wrapping_sub(own));
        let mut leases = Lease::max_count();
        let mut copied_bytes = 0;
        let mut files: BTreeMap<u32, Vec<EarlierFile>> = BTreeMap::new();
        for (process, paths) in found {
            for path in paths {
                let Ok(metadata) = path.metadata() else { continue };
                if !metadata.is_file() {
                    continue;
                }
                let mut file = EarlierFile { path, state: State::new(&metadata), lease: None, copy: None };
                if leases > 0 {
                    file.lease = Lease::take(&file.path).ok();
                }
                if file.lease.is_some() {
                    leases -= 1;
                } else if copied_bytes + file.state.bytes <= MAX_COPIED_BYTES {
                    copied_bytes += file.state.bytes;
                    file.save();
                }
                files.entry(process).or_default().push(file);
            }
        }
        EarlierFiles { files, are_overwritten: false }
    }

    /// Begins to save what processes are about to overwrite.
    pub(super) fn watch(mut self) -> Watch {
        if !self.files.values().flatten().any(|file| file.lease.is_some()) {
            return Watch::Idle(self);
        }
        let (stop, stopped) = mpsc::channel();
        let thread = thread::Builder::new().spawn(move || {
            while stopped.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                self.save_wanted();
            }
            self
        });
        match thread {
            Ok(thread) => Watch::Busy { stop, thread },
            // Nothing is saved then, and what is overwritten is taken for a file of this recording.
            Err(_) => Watch::Idle(EarlierFiles::default()),
        }
    }

    fn save_wanted(&mut self) {
        for file in self.files.values_mut().flatten() {
            if file.lease.as_ref().is_some_and(Lease::is_wanted) {
                file.save();
                file.lease = None;
            }
        }
    }

    /// Gives the files of earlier recordings their content again, and those of processes that had their names other ones.
    pub(super) fn settle(
        mut self,
        name: &OutputName,
        processes: &Processes,
        is_quiet: bool,
        session: &Session,
    ) -> Settled {
        let mut settled = Settled::default();
        if self.are_overwritten {
            settled.earlier.extend(unchanged(self.files.values().flatten()));
            return settled;
        }
        self.save_wanted();
        for (process, mut files) in std::mem::take(&mut self.files) {
            if !processes.all.contains(&process) {
                tell_changed(&mut files, "another program has written that file", session);
                continue;
            }
            settled.earlier.extend(unchanged(&files));
            if processes.running.contains(&process) {
                files.iter_mut().for_each(|file| file.make_way(process, session));
                continue;
            }
            for file in files.iter().filter(|file| file.is_lost()) {
                session.warn(&format!(
                    "{} of an earlier recording was overwritten by process {process}: it could not be saved",
                    printable_path(&file.path)
                ));
            }
            let own = name.files_of(process).into_iter().filter(|path| !settled.earlier.contains(path));
            let own: Vec<PathBuf> = own.collect();
            if own.is_empty() || files.iter().any(EarlierFile::is_lost) {
                continue;
            }
            let moved = move_all(&own, name, process);
            files.iter_mut().for_each(|file| file.put_back(moved.is_ok()));
            match moved {
                // Only empty ones.
                Ok(base) if files_of_base(&base).is_empty() => {}
                Ok(base) => {
                    if !is_quiet {
                        session.tell(&format!(
                            "process {process} has the id of an earlier recording, and so its file is {}",
                            printable_path(&base)
                        ));
                    }
                    settled.bases.insert(process, base);
                }
                Err(error) => {
                    let reason = format!("process {process} has written that file ({})", reason(&error));
                    tell_changed(&mut files, &reason, session);
                }
            }
            settled.earlier.extend(unchanged(&files));
        }
        settled
    }
}

impl Watch {
    /// Ends it.
    pub(super) fn end(self) -> EarlierFiles {
        match self {
            Watch::Idle(files) => files,
            Watch::Busy { stop, thread } => {
                drop(stop);
                thread.join().unwrap_or_default()
            }
        }
    }
}

impl EarlierFile {
    fn is_changed(&self) -> bool {
        // A file that was removed has not become one of this recording.
        self.path.metadata().is_ok_and(|metadata| State::new(&metadata) != self.state)
    }

    fn is_lost(&self) -> bool {
        self.state.bytes > 0 && self.copy.is_none() && self.is_changed()
    }

    /// Saves the content, unless it is too late.
    fn save(&mut self) {
        if self.copy.is_none() && !self.is_changed() {
            self.copy = copy(&self.path).ok();
        }
        if self.is_changed() && self.lease.is_some() {
            // The system took the lease back before that.
            self.remove_copy();
        }
    }

    /// Gives the content its name again; and other names that the file has, if what was written there is elsewhere, too.
    fn put_back(&mut self, is_moved: bool) {
        let Some(copy) = self.copy.take() else { return };
        let is_back = match self.path.exists() {
            false => fs::rename(&copy, &self.path).is_ok(),
            true if is_moved && has_other_names(&self.path) => {
                write_again(&copy, &self.path).is_ok() && fs::remove_file(&copy).is_ok()
            }
            true => false,
        };
        if is_back {
            self.state = self.path.metadata().map_or(self.state, |metadata| State::new(&metadata));
        } else {
            self.copy = Some(copy);
        }
    }

    /// Gives the content another name for good: a process that goes on will write that file.
    fn make_way(&mut self, process: u32, session: &Session) {
        let reason = format!("process {process} goes on, and writes that file");
        if self.copy.is_none() && !self.is_changed() {
            self.copy = copy(&self.path).ok();
        }
        self.tell_copy(session, &reason);
    }

    fn tell_copy(&mut self, session: &Session, reason: &str) {
        if let Some(copy) = self.copy.take() {
            session.warn(&format!(
                "{} of an earlier recording is {} now: {reason}",
                printable_path(&self.path),
                printable_path(&copy)
            ));
        }
    }

    fn remove_copy(&mut self) {
        if let Some(copy) = self.copy.take() {
            let _ = fs::remove_file(copy);
        }
    }
}

impl Drop for EarlierFile {
    fn drop(&mut self) {
        // What has changed meanwhile is nowhere else.
        if !self.is_changed() {
            self.remove_copy();
        }
    }
}

/// Returns the paths of files that have not changed.
fn unchanged<'f>(files: impl IntoIterator<Item = &'f EarlierFile>) -> impl Iterator<Item = PathBuf> {
    files.into_iter().filter(|file| !file.is_changed()).map(|file| file.path.clone())
}

/// Tells where the content of files is that have changed.
fn tell_changed(files: &mut [EarlierFile], reason: &str, session: &Session) {
    files.iter_mut().filter(|file| file.is_changed()).for_each(|file| file.tell_copy(session, reason));
}

/// Copies a file, with its time, to a name beside it.
fn copy(path: &Path) -> io::Result<PathBuf> {
    for nth in 1..MAX_ATTEMPTS {
        let mut name = path.as_os_str().to_owned();
        name.push(if nth == 1 { ".old".to_owned() } else { format!(".{nth}.old") });
        match copy_to_free(path, Path::new(&name)) {
            Ok(()) => return Ok(name.into()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Copies a file, with its time and permissions, but not to a name that exists.
fn copy_to_free(from: &Path, to: &Path) -> io::Result<()> {
    let mut source = File::open(from)?;
    let metadata = source.metadata()?;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    // Until it has the permissions of the other one.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut target = options.open(to)?;
    let copied = io::copy(&mut source, &mut target)
        .and_then(|_| target.set_permissions(metadata.permissions()))
        .and_then(|()| target.set_modified(metadata.modified()?));
    copied.inspect_err(|_| {
        let _ = fs::remove_file(to);
    })
}

/// Writes the content of a file, with its time, into another one, which keeps all of its names.
fn write_again(from: &Path, to: &Path) -> io::Result<()> {
    let mut source = File::open(from)?;
    let mut target = OpenOptions::new().write(true).truncate(true).open(to)?;
    io::copy(&mut source, &mut target)?;
    target.set_modified(source.metadata()?.modified()?)
}

/// `true` if a file has other names: the path is a link to it, or one of several names.
fn has_other_names(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| {
        #[cfg(unix)]
        let names = std::os::unix::fs::MetadataExt::nlink(&metadata);
        #[cfg(not(unix))]
        let names = 1;
        metadata.is_symlink() || names > 1
    })
}

/// Gives the files of a process another base that no file has. Empty ones, which Callgrind leaves, are removed.
fn move_all(files: &[PathBuf], name: &OutputName, process: u32) -> io::Result<PathBuf> {
    let own = name.of_process(process);
    let bases = (2..MAX_ATTEMPTS).map(|nth| name.other_of_process(process, nth));
    let base = bases.into_iter().find(|base| files_of_base(base).is_empty());
    let base = base.ok_or(io::ErrorKind::AlreadyExists)?;
    for path in files {
        let rest = path.as_os_str().as_encoded_bytes().get(own.as_os_str().as_encoded_bytes().len()..);
        let rest = rest.and_then(|rest| std::str::from_utf8(rest).ok()).unwrap_or_default();
        if path.metadata()?.len() == 0 {
            if !has_other_names(path) {
                fs::remove_file(path)?;
            }
            continue;
        }
        let mut to = base.clone().into_os_string();
        to.push(rest);
        rename_to_free(path, Path::new(&to))?;
    }
    Ok(base)
}

/// Renames a file, but not to a name that exists. One with other names keeps them, and is copied.
fn rename_to_free(from: &Path, to: &Path) -> io::Result<()> {
    if has_other_names(from) {
        return copy_to_free(from, to);
    }
    match fs::hard_link(from, to) {
        Ok(()) => fs::remove_file(from),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        // This file system has no links.
        Err(_) if !to.exists() => fs::rename(from, to),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::GlobalArgs;

    /// No process has such an id.
    const PROCESS: u32 = 2_000_000_000;

    fn settle(
        directory: &Path,
        running: &[u32],
        write: impl FnOnce(&Path),
    ) -> (EarlierNames, BTreeMap<String, String>) {
        let name = OutputName::parse(directory.join("x.%p").as_os_str()).unwrap();
        let watch = EarlierFiles::find(&name).watch();
        write(&name.of_process(PROCESS));
        let earlier = watch.end();
        let processes = Processes {
            all: BTreeSet::from([1, PROCESS]),
            running: running.iter().copied().collect(),
            is_recorded: true,
        };
        let session = Session::new(&GlobalArgs::plain());
        let settled = earlier.settle(&name, &processes, true, &session);
        let names = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
        let texts = fs::read_dir(directory).unwrap().map(|entry| {
            let path = entry.unwrap().path();
            (names(&path), fs::read_to_string(&path).unwrap())
        });
        let earlier = settled.earlier.iter().map(|path| names(path)).collect();
        (EarlierNames { earlier, base: settled.other_base(PROCESS).map(names) }, texts.collect())
    }

    #[derive(Debug, PartialEq, Eq)]
    struct EarlierNames {
        earlier: Vec<String>,
        base: Option<String>,
    }

    fn texts(files: &[(&str, &str)]) -> BTreeMap<String, String> {
        files.iter().map(|(name, text)| (format!("x.{PROCESS}{name}"), (*text).to_owned())).collect()
    }

    fn directory(files: &[(&str, &str)]) -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        for (name, text) in texts(files) {
            fs::write(directory.path().join(name), text).unwrap();
        }
        directory
    }

    /// The path of a part.
    fn part(base: &Path) -> PathBuf {
        base.with_extension(format!("{PROCESS}.1"))
    }

    #[test]
    fn what_is_overwritten_comes_back() {
        for is_open in [false, true] {
            let directory = directory(&[("", "old"), (".1", "old 1"), (".2", "old 2")]);
            // A file that is open for writing has no lease, and is copied ahead.
            let open = OpenOptions::new().append(true).open(directory.path().join(format!("x.{PROCESS}")));
            let open = open.ok().filter(|_| is_open);
            let (names, found) = settle(directory.path(), &[], |base| {
                fs::write(base, "new").unwrap();
                fs::write(part(base), "new 1").unwrap();
            });
            drop(open);
            let expected = [("", "old"), (".1", "old 1"), (".2", "old 2"), ("_2", "new"), ("_2.1", "new 1")];
            assert_eq!(found, texts(&expected));
            assert_eq!(names.base, Some(format!("x.{PROCESS}_2")));
            assert_eq!(names.earlier.len(), 3);
        }
    }

    #[cfg(unix)]
    #[test]
    fn other_names_of_what_is_overwritten_have_its_content_again() {
        let links: [fn(&Path, &Path) -> io::Result<()>; 2] =
            [|from, to| fs::hard_link(from, to), |from, to| std::os::unix::fs::symlink(from, to)];
        for link in links {
            for new in ["new", ""] {
                let directory = directory(&[]);
                let kept = directory.path().join("kept");
                fs::write(&kept, "old").unwrap();
                link(&kept, &directory.path().join(format!("x.{PROCESS}"))).unwrap();
                let (names, mut found) = settle(directory.path(), &[], |base| fs::write(base, new).unwrap());
                assert_eq!(found.remove("kept").as_deref(), Some("old"));
                let expected = [("", "old"), ("_2", new)];
                assert_eq!(found, texts(if new.is_empty() { &expected[..1] } else { &expected }));
                assert_eq!(names.base.is_some(), !new.is_empty());
            }
        }
    }

    #[test]
    fn what_is_not_overwritten_stays() {
        let files = [("", "old"), (".1", "old 1")];
        let directory = directory(&files);
        let (names, found) = settle(directory.path(), &[], |_| {});
        assert_eq!((names.base, names.earlier.len()), (None, 2));
        assert_eq!(found, texts(&files));
        // A file that Callgrind began, and did not write.
        let (names, found) = settle(directory.path(), &[], |base| fs::write(base, "").unwrap());
        assert_eq!((names.base, names.earlier.len()), (None, 2));
        assert_eq!(found, texts(&files));
    }

    #[test]
    fn what_a_process_will_write_makes_way() {
        let directory = directory(&[("", "old"), (".1", "old 1"), (".1.old", "older")]);
        let (names, found) =
            settle(directory.path(), &[PROCESS], |base| fs::write(part(base), "new").unwrap());
        let expected =
            [("", "old"), (".old", "old"), (".1", "new"), (".1.old", "older"), (".1.2.old", "old 1")];
        assert_eq!(found, texts(&expected));
        assert_eq!(names, EarlierNames { earlier: vec![format!("x.{PROCESS}")], base: None });
    }
}
