//! The file that a profile is written to. All signals are blocked meanwhile, so nothing here waits without end.

use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Result, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use linux_raw_sys::errno::ENXIO;
use linux_raw_sys::general as sys;

use super::own_call::own_call;

/// The mode of a new file, as Callgrind has it: a profile tells the command line.
const MODE: u32 = 0o600;

/// The time that another process may hold the file, or leave a pipe full.
const MAX_WAIT: Duration = Duration::from_secs(10);

/// The time that `gristmill record`, which has the lease of a file of an earlier recording, may take to save it: longer than the system waits.
const MAX_WAIT_FOR_LEASE: Duration = Duration::from_secs(60);
const BETWEEN_TRIES: Duration = Duration::from_millis(2);

/// Replaces the content of a file, or appends to it. Processes of one recording can write to one file: the last one holds.
pub(super) fn replace_content(path: &Path, bytes: &[u8], appends: bool) -> Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).append(appends);
    let mut file = open(path, options.mode(MODE).custom_flags(sys::O_NONBLOCK.cast_signed()))?;
    lock(&file);
    let before = file.metadata()?;
    // If this ends here, nothing of an earlier profile follows what was written.
    if before.is_file() && !appends {
        file.set_len(0)?;
    }
    let written = write(&mut file, bytes);
    if before.is_file() && appends && written.is_err() {
        // No half part.
        file.set_len(before.len())?;
    }
    written
}

/// Opens a file, when no other process has its lease.
fn open(path: &Path, options: &OpenOptions) -> Result<File> {
    let start = Instant::now();
    loop {
        match options.open(path) {
            Err(error) if error.kind() == ErrorKind::WouldBlock && start.elapsed() < MAX_WAIT_FOR_LEASE => {
                sleep();
            }
            Err(error) if error.raw_os_error().is_some_and(|number| number.cast_unsigned() == ENXIO) => {
                return Err(Error::other("no process reads the pipe"));
            }
            opened => return opened,
        }
    }
}

/// Keeps other processes from writing at the same time. Where there are no locks, files are mixed if two do.
fn lock(file: &File) {
    let tried = || {
        own_call(
            sys::__NR_flock,
            [file.as_raw_fd() as u64, u64::from(sys::LOCK_EX | sys::LOCK_NB), 0, 0, 0, 0],
        )
    };
    let is_held = |result: i64| Error::from_raw_os_error(-result as i32).kind() == ErrorKind::WouldBlock;
    let start = Instant::now();
    while is_held(tried()) && start.elapsed() < MAX_WAIT {
        sleep();
    }
}

fn write(file: &mut File, bytes: &[u8]) -> Result<()> {
    let mut left = bytes;
    let mut last = Instant::now();
    while !left.is_empty() {
        match file.write(left) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(count) => {
                left = &left[count..];
                last = Instant::now();
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock && last.elapsed() < MAX_WAIT => sleep(),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn sleep() {
    std::thread::sleep(BETWEEN_TRIES);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Commands of `fcntl` for leases.
    const SET_LEASE: u64 = 1024;
    const GET_LEASE: u64 = 1025;
    const SET_SIGNAL: u64 = 10;
    /// The kind of a lease that ends when a file is opened for writing.
    const READING: u64 = 0;

    fn control(file: &File, command: u64, argument: u64) -> i64 {
        own_call(sys::__NR_fcntl, [file.as_raw_fd() as u64, command, argument, 0, 0, 0])
    }

    #[test]
    fn a_file_is_written_when_its_lease_has_ended() {
        let path = std::env::temp_dir().join(format!("gristmill-lease-{}", std::process::id()));
        std::fs::write(&path, "old content").unwrap();
        let held = File::open(&path).unwrap();
        control(&held, SET_SIGNAL, sys::SIGURG.into());
        if control(&held, SET_LEASE, READING) != 0 {
            // This file system has none.
            return;
        }
        let writer = std::thread::spawn({
            let path = path.clone();
            move || replace_content(&path, b"new", false)
        });
        while control(&held, GET_LEASE, 0) == READING as i64 {
            sleep();
        }
        assert_eq!(std::fs::read(&path).unwrap(), b"old content");
        drop(held);
        writer.join().unwrap().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        std::fs::remove_file(&path).unwrap();
    }
}
