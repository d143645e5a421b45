//! Files of profiles: which files are profiles, when they were written, and what is doubtful about them.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use gristmill_profile::Profile;
use gristmill_report::{DamageRow, doubts};

use crate::args::is_dash;
use crate::session::Session;

/// Finds the first profile of the working directory, as callgrind_annotate does. Our own commands take the newest one.
pub(crate) fn first_profile() -> Option<PathBuf> {
    let entries = std::fs::read_dir(".").ok()?;
    let mut names: Vec<PathBuf> =
        entries.filter_map(|entry| entry.ok().map(|entry| PathBuf::from(entry.file_name()))).collect();
    names.sort_unstable();
    let starts_with =
        |name: &&PathBuf, start: &str| name.as_os_str().as_encoded_bytes().starts_with(start.as_bytes());
    ["callgrind.out", "cachegrind.out"]
        .iter()
        .find_map(|start| names.iter().find(|name| starts_with(name, start)))
        .cloned()
}

/// `true` if a file begins like a profile: it is compressed, or one of its first lines names event types.
pub(crate) fn is_profile(path: &Path) -> bool {
    const HEAD_BYTES: u64 = 64 << 10;
    const COMPRESSED: [&[u8]; 4] = [b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ", b"BZh"];
    if is_dash(path) {
        return true;
    }
    if let Ok(metadata) = std::fs::metadata(path) {
        // A pipe can be read once only.
        if !metadata.is_file() && !metadata.is_dir() {
            return true;
        }
        // A file of the system, as in /proc, has no size, and reading it may wait.
        if metadata.is_file() && metadata.len() == 0 {
            return false;
        }
    }
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(HEAD_BYTES).read_to_end(&mut head));
    let has_events = || head.split(|&byte| byte == b'\n').any(|line| line.starts_with(b"events:"));
    read.is_ok() && (COMPRESSED.iter().any(|magic| head.starts_with(magic)) || has_events())
}

/// The time when a file was changed.
pub(crate) fn modified(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path).ok()?.modified().ok()
}

/// Warns of damage.
pub(crate) fn warn_of_damage(profile: &Profile, session: &Session) {
    DamageRow::list(profile).iter().for_each(|damage| session.warn(&damage.text));
}

/// Warns of damage, and if other lines of a profile were skipped or repaired: its costs are incomplete then.
pub(crate) fn warn_of_doubts(profile: &Profile, session: &Session) {
    warn_of_damage(profile, session);
    if let Some(doubts) = doubts(profile) {
        let names: Vec<&str> = profile.inputs().iter().map(|input| input.name.as_str()).collect();
        session.warn(&format!("{}: {doubts}", names.join(", ")));
    }
}
