//! The processes of a recording, and their profiles.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

use gristmill_gate::Failure;
use gristmill_output::grouped;

use crate::full_disk::cannot_be_written;
use crate::valgrind::messages::{Ending, MISSING_REASON, MessageDirectory};

/// The start of the names of profiles, before the process id.
pub(super) const OUT_NAME: &str = "callgrind.out.";

/// The counts of processes of a recording.
#[derive(Debug, Clone, Copy)]
pub(super) struct ProcessCounts {
    all: usize,
    without_profile: usize,
}

impl ProcessCounts {
    /// Counts the processes that have messages or a profile. `files` are the profiles that are not empty.
    pub(super) fn new(files: &[PathBuf], messages: &MessageDirectory) -> ProcessCounts {
        let with_profile: BTreeSet<u32> = files.iter().filter_map(|path| process_of(path)).collect();
        let all = messages.processes();
        let without_profile = all.difference(&with_profile);
        // One that ended and collected nothing has nothing to leave.
        let without_profile =
            without_profile.filter(|process| messages.ending(**process) != Ending::WithoutCosts);
        ProcessCounts { without_profile: without_profile.count(), all: all.union(&with_profile).count() }
    }

    /// Returns a note about costs that are not in the recording.
    pub(super) fn note(self) -> Option<String> {
        match self.without_profile {
            0 => None,
            1 => Some(format!("1 process left no profile, and its cost is not counted: it {MISSING_REASON}")),
            count => Some(format!(
                "{} processes left no profile, and their cost is not counted: each {MISSING_REASON}",
                grouped(count)
            )),
        }
    }
}

impl fmt::Display for ProcessCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.without_profile {
            0 => write!(f, "{}", self.all),
            count => write!(f, "{} ({count} without a profile)", self.all),
        }
    }
}

/// Refuses processes that can have the ids of others: the profile of a later one replaces that of an earlier one.
pub(super) fn refuse_namespaces(shown: &str, messages: &MessageDirectory) -> Result<(), Failure> {
    match messages.process_of_namespace() {
        None => Ok(()),
        Some(process) => Err(format!(
            "{shown}: process {process} of it runs in a namespace of process ids, as sandboxes make them: the profile of another process \
             {process} would replace its own; record what runs in the sandbox, not the sandbox"
        )
        .into()),
    }
}

/// Leaves out files that Callgrind leaves empty: those of processes that run another program in their place, and one beside those of
/// threads. Half of a profile looks like an improvement, so those that had to have a cost are refused.
pub(super) fn remove_empty(
    files: &mut Vec<PathBuf>,
    program: u32,
    shown: &str,
    messages: &MessageDirectory,
) -> Result<(), Failure> {
    let with_files: BTreeSet<u32> = files.iter().filter_map(|path| process_of(path)).collect();
    let is_empty = |path: &mut PathBuf| std::fs::metadata(path).is_ok_and(|metadata| metadata.len() == 0);
    let empty: Vec<PathBuf> = files.extract_if(.., is_empty).collect();
    let name = |path: &PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let is_part = |path| {
        let name = name(path);
        name.strip_prefix(OUT_NAME).is_some_and(|process| !process.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let has_threads = |process: u32| {
        let of_process = format!("{OUT_NAME}{process}-");
        files.iter().any(|path| name(path).starts_with(&of_process))
    };
    let had_costs = |path: &PathBuf| {
        process_of(path).is_some_and(|process| !has_threads(process) && messages.ending(process).is_loss())
    };
    let is_lost = |process: &u32| !with_files.contains(process) && messages.ending(*process).is_loss();
    // The disk is one, and there can be thousands of processes.
    if empty.iter().any(is_part)
        || empty.iter().any(had_costs)
        || messages.processes().iter().any(is_lost)
        || empty.first().is_some_and(|path| cannot_be_written(path))
    {
        return Err(format!("{shown}: a profile could not be written: is the disk full?").into());
    }
    let of_program = format!("{OUT_NAME}{program}");
    let is_of_thread = |path| name(path).strip_prefix(&of_program).is_some_and(|rest| rest.contains('-'));
    // Without any profile, that is the reason.
    if empty.iter().any(|path| name(path) == of_program)
        && !files.is_empty()
        && !files.iter().any(is_of_thread)
    {
        return Err(format!(
            "{shown} has no profile of its own, only what it started has: it was killed, or ran another program in its place"
        )
        .into());
    }
    Ok(())
}

/// Returns the process that a profile of a recording is of.
fn process_of(path: &Path) -> Option<u32> {
    let name = path.file_name()?.to_str()?.strip_prefix(OUT_NAME)?;
    name.split(|character: char| !character.is_ascii_digit()).next()?.parse().ok()
}
