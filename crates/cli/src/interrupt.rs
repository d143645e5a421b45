//! The handler for Ctrl-C and other signals that ask the program to end, while a file is written or a command runs: it
//! removes temporary files, ends the command, and the program ends with 128 and the number of the signal, as shells
//! expect: 130 for Ctrl-C.
//!
//! It is installed with the first of them; before, a signal ends the program as usual.

#[cfg(unix)]
mod signals;
#[cfg(unix)]
pub(crate) use signals::install_unless_ignored;

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::thread;
use std::time::Duration;

use tempfile::{NamedTempFile, TempDir};

/// The exit status after Ctrl-C.
#[cfg(not(unix))]
const CTRL_C_STATUS: u8 = 130;

/// Attempts to remove a directory: a process that was just ended may still have written into it.
const MAX_ATTEMPTS: usize = 50;

/// Time between two attempts.
const ATTEMPT_INTERVAL: Duration = Duration::from_millis(10);

/// Process groups of commands that run. Ctrl-C at a terminal reaches only the group of this program.
static PROCESS_GROUPS: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

/// Files, and directories with all in them.
static TEMPORARY_FILES: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn process_groups() -> MutexGuard<'static, BTreeSet<u32>> {
    // A set of numbers is valid even after a panic.
    PROCESS_GROUPS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn temporary_files() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    // The same holds for a set of paths.
    TEMPORARY_FILES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A guard: while it exists, Ctrl-C removes the file or directory.
#[derive(Debug)]
pub(crate) struct RemovedOnInterrupt(PathBuf);

impl RemovedOnInterrupt {
    /// Creates a temporary file.
    pub(crate) fn create(
        create: impl FnOnce() -> io::Result<NamedTempFile>,
    ) -> io::Result<(NamedTempFile, RemovedOnInterrupt)> {
        Self::register(create, NamedTempFile::path)
    }

    fn register<T>(
        create: impl FnOnce() -> io::Result<T>,
        path: impl FnOnce(&T) -> &Path,
    ) -> io::Result<(T, RemovedOnInterrupt)> {
        set_up();
        // The handler waits for this lock, so it knows the file.
        let mut files = temporary_files();
        let created = create()?;
        let path = path(&created).to_owned();
        files.insert(path.clone());
        Ok((created, RemovedOnInterrupt(path)))
    }
}

impl Drop for RemovedOnInterrupt {
    fn drop(&mut self) {
        temporary_files().remove(&self.0);
    }
}

/// A directory that is removed when it is dropped, and on Ctrl-C.
#[derive(Debug)]
pub(crate) struct TemporaryDirectory {
    path: PathBuf,
    is_kept: bool,
    // Until the directory is removed, the handler has to know it.
    _removed: RemovedOnInterrupt,
}

impl TemporaryDirectory {
    pub(crate) fn new() -> io::Result<Self> {
        let (directory, removed) = RemovedOnInterrupt::register(tempfile::tempdir, TempDir::path)?;
        Ok(TemporaryDirectory { path: directory.keep(), is_kept: false, _removed: removed })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Leaves the directory where it is.
    pub(crate) fn keep(mut self) {
        self.is_kept = true;
    }
}

impl Drop for TemporaryDirectory {
    fn drop(&mut self) {
        if !self.is_kept {
            remove(&self.path);
        }
    }
}

/// The program that signals are passed on to. It is 0 before it starts and after its end.
static RECEIVER: Mutex<u32> = Mutex::new(0);

fn receiver() -> MutexGuard<'static, u32> {
    // A number is valid even after a panic.
    RECEIVER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a program in the process group of this one, which its terminal belongs to, and waits for its end. What asks this program to
/// end meanwhile is for the other one. `started` gets its process id.
pub(crate) fn run_to_its_end(
    command: &mut Command,
    started: impl FnOnce(u32),
) -> io::Result<(u32, ExitStatus)> {
    set_up();
    #[cfg(unix)]
    signals::begin_to_pass_on(pass_on)?;
    let child = start(command);
    // The program has inherited which of them are ignored.
    #[cfg(unix)]
    let ignored = signals::pass_on_ignored();
    let ended = child.and_then(|child| wait(child, started));
    #[cfg(unix)]
    signals::stop_passing_on(&ignored);
    ended
}

/// Starts a program that signals are passed on to.
fn start(command: &mut Command) -> io::Result<Child> {
    // A signal that comes now waits for this lock, so it reaches the program.
    let mut receiver = receiver();
    let child = command.spawn()?;
    *receiver = child.id();
    Ok(child)
}

/// Waits for the end of a program. `started` gets its process id.
fn wait(mut child: Child, started: impl FnOnce(u32)) -> io::Result<(u32, ExitStatus)> {
    started(child.id());
    wait_for_end(&mut child);
    // From here on, its process id may be that of another program.
    *receiver() = 0;
    Ok((child.id(), child.wait()?))
}

/// Waits for the end of a child, which keeps its process id where the system has such a wait.
#[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
fn wait_for_end(child: &mut Child) {
    use nix::errno::Errno;
    use nix::sys::wait::{Id, WaitPidFlag, waitid};
    use nix::unistd::Pid;

    let Ok(child) = i32::try_from(child.id()) else { return };
    let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT;
    while waitid(Id::Pid(Pid::from_raw(child)), flags) == Err(Errno::EINTR) {}
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "freebsd")))]
fn wait_for_end(child: &mut Child) {
    // Who asks again gets the same answer.
    let _ = child.wait();
}

#[cfg(unix)]
fn pass_on(signal: nix::sys::signal::Signal) {
    use nix::sys::signal::kill;
    use nix::unistd::Pid;

    let receiver = receiver();
    if let Ok(process @ 2..) = i32::try_from(*receiver) {
        // It may end at this moment.
        let _ = kill(Pid::from_raw(process), signal);
    }
}

/// `true` if who started this program ignores the end of children.
static IGNORED_CHILDREN: AtomicBool = AtomicBool::new(false);

/// Lets children be waited for, if who started this program ignores their end.
pub(crate) fn expect_children() {
    // Other systems have no such signal.
    #[cfg(unix)]
    IGNORED_CHILDREN.store(signals::expect_children(), Ordering::SeqCst);
}

/// `true` if who started this program ignores the end of children, and so does a program that it runs.
pub(crate) fn ignored_children() -> bool {
    IGNORED_CHILDREN.load(Ordering::SeqCst)
}

/// Ignores the end of children.
pub(crate) fn ignore_children() {
    #[cfg(unix)]
    signals::ignore_children();
}

/// Ends this program by a signal that ended the program that it ran.
pub(crate) fn end_by(signal: u8) {
    #[cfg(unix)]
    signals::end_by(signal);
    #[cfg(not(unix))]
    let _ = signal;
}

/// A guard: while it exists, Ctrl-C ends the processes of a group.
#[derive(Debug)]
pub(crate) struct EndedOnInterrupt(u32);

impl EndedOnInterrupt {
    /// Starts a command in a process group of its own.
    pub(crate) fn spawn(command: &mut Command) -> io::Result<(Child, EndedOnInterrupt)> {
        set_up();
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        // The handler waits for this lock, so it knows the group, and no other is started after it.
        let mut groups = process_groups();
        let child = command.spawn()?;
        groups.insert(child.id());
        let group = EndedOnInterrupt(child.id());
        Ok((child, group))
    }

    /// `true` if a process of the group runs a program whose name has that beginning. Only Linux tells.
    pub(crate) fn runs_program(&self, beginning: &str) -> bool {
        let Ok(processes) = std::fs::read_dir("/proc") else { return false };
        processes.flatten().any(|process| {
            is_in_group(&process.path(), self.0)
                && std::fs::read_link(process.path().join("exe")).is_ok_and(|program| {
                    program.file_name().is_some_and(|name| name.to_string_lossy().starts_with(beginning))
                })
        })
    }

    /// Ends all processes of the group.
    pub(crate) fn end(&self) {
        end_group(self.0);
    }
}

impl Drop for EndedOnInterrupt {
    fn drop(&mut self) {
        process_groups().remove(&self.0);
    }
}

/// `true` if the process with that folder below `/proc` is in a group.
fn is_in_group(process: &Path, group: u32) -> bool {
    // The name, in parentheses, may contain anything; behind it are the state, the parent and the group.
    let Ok(stat) = std::fs::read(process.join("stat")) else { return false };
    let stat = String::from_utf8_lossy(&stat);
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    fields.split_whitespace().nth(2).and_then(|number| number.parse().ok()) == Some(group)
}

#[cfg(unix)]
fn end_group(group: u32) {
    use nix::sys::signal::{Signal, killpg};
    use nix::unistd::Pid;

    // A group that is gone needs no signal. 0 and 1 would be other processes.
    if let Some(group) = i32::try_from(group).ok().filter(|group| *group > 1) {
        let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
    }
}

#[cfg(not(unix))]
fn end_group(_group: u32) {}

/// Ends a process.
#[cfg(unix)]
pub(crate) fn end_process(process: u32) {
    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;

    // 0 would be this group, and 1 is the first process.
    if let Some(process) = i32::try_from(process).ok().filter(|process| *process > 1) {
        // It may have ended by itself.
        let _ = kill(Pid::from_raw(process), Signal::SIGKILL);
    }
}

#[cfg(not(unix))]
pub(crate) fn end_process(_process: u32) {}

/// Installs the handler, once.
pub(crate) fn set_up() {
    static SET_UP: Once = Once::new();
    SET_UP.call_once(|| {
        // If this fails, a signal ends the program at once, and a temporary file may be left.
        #[cfg(unix)]
        let _ = signals::watch(remove_and_exit);
        #[cfg(not(unix))]
        let _ = ctrlc::try_set_handler(|| remove_and_exit(CTRL_C_STATUS));
    });
}

/// From now on, a file that grows beyond the limit of the system, such as `ulimit -f`, is an error like a full disk.
pub(crate) fn survive_size_limit() {
    // Other systems have no such signal.
    #[cfg(unix)]
    signals::survive_size_limit();
}

/// Ignores Ctrl-C from now on. A pager that runs handles it, and ends this program by reading no more.
pub(crate) fn leave_ctrl_c_to_child() {
    // On other systems there is no pager.
    #[cfg(unix)]
    signals::ignore_ctrl_c();
}

/// Ends the program as with Ctrl-C, but with the status of a failure. Returns `false` if the handler is not installed. It
/// is safe in a signal handler.
#[cfg(unix)]
pub(crate) fn fail() -> bool {
    signals::wake(crate::exit_status::ExitStatus::Failure.code())
}

/// Removes temporary files where no thread waits for signals, because none could be started. It does not wait, as the thread
/// that fails may have the lock.
#[cfg(unix)]
pub(crate) fn remove_files_at_once() {
    if let Ok(files) = TEMPORARY_FILES.try_lock() {
        // No allocation: it would fail.
        files.iter().for_each(|file| drop(std::fs::remove_file(file)));
    }
}

/// Removes the files and ends the program. It runs in its own thread, so it may wait for the locks, and keeps them: no other
/// file is begun and no other command started, and what waits for a command that was ended does not get to report it.
fn remove_and_exit(status: u8) -> ! {
    let groups = process_groups();
    groups.iter().for_each(|&group| end_group(group));
    let files = temporary_files();
    files.iter().for_each(|file| remove(file));
    #[expect(clippy::exit, reason = "`main` is busy and cannot be asked")]
    std::process::exit(i32::from(status))
}

/// Removes a file, or a directory with all in it.
fn remove(path: &Path) {
    if !path.is_dir() {
        // The file may just have been renamed.
        let _ = std::fs::remove_file(path);
        return;
    }
    for _ in 0..MAX_ATTEMPTS {
        match std::fs::remove_dir_all(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => thread::sleep(ATTEMPT_INTERVAL),
            _ => return,
        }
    }
}
