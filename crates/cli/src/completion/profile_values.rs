//! Values that a profile has: its event types, parts, functions and files. Reading it has a limit of size and time.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use gristmill_profile::Profile;
use gristmill_profile::event_choice::EventChoice;
use gristmill_report::{View, ViewOptions};

use super::candidate::{Candidate, is_shown};
use crate::found_files;
use crate::load;
use crate::session::Session;
use crate::size::Size;

/// The kind of values that an option takes from a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProfileValue {
    Event,
    Part,
    Thread,
    Process,
    /// Names of functions, as an option takes one.
    Function,
    /// Patterns for functions, object files and source files: their names, with special characters escaped.
    FunctionPattern,
    ObjectPattern,
    FilePattern,
}

/// People wait for completions; those that take longer are left out.
const MAX_WAIT: Duration = Duration::from_millis(700);
/// The largest file that is loaded; this takes a fifth of a second on one core.
const MAX_FILE_BYTES: u64 = 64 << 20;
/// The largest size of an expanded file.
const MAX_EXPANDED: Size = Size::from_bytes(128 << 20);
/// The files that are loaded.
const MAX_FILES: usize = 4;
/// The functions and files that are offered, the hottest ones.
const MAX_NAMES: usize = 200;

/// Returns the values that the profiles have. Without files it is the newest recording of the directory.
pub(super) fn of_files(files: Vec<PathBuf>, value: ProfileValue, start: String) -> Vec<Candidate> {
    let (sender, receiver) = mpsc::channel();
    // The thread is not waited for; it ends with the process.
    let worker = std::thread::Builder::new().spawn(move || {
        let session = Session::in_process(MAX_EXPANDED, io::sink(), io::sink());
        let files = if files.is_empty() { found_files::newest(&session).unwrap_or_default() } else { files };
        let mut candidates = Vec::new();
        for file in files.iter().filter(|file| is_small(file)).take(MAX_FILES) {
            if let Ok(profile) = load::profile_of(std::slice::from_ref(file), &session) {
                candidates.extend(values(profile, value, &start));
            }
        }
        // The receiver is gone when it has waited too long.
        let _ = sender.send(candidates);
    });
    match worker {
        Ok(_) => receiver.recv_timeout(MAX_WAIT).unwrap_or_default(),
        Err(_) => Vec::new(),
    }
}

/// `true` for a file that is loaded in no time; a pipe could wait for ever.
fn is_small(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() <= MAX_FILE_BYTES)
}

fn values(profile: Profile, value: ProfileValue, start: &str) -> Vec<Candidate> {
    let numbers = |numbers: BTreeSet<u64>, noun: &str| -> Vec<Candidate> {
        numbers.into_iter().map(|number| Candidate::new(&number.to_string(), noun)).collect()
    };
    match value {
        ProfileValue::Event => {
            let recorded = profile.event_count();
            let names = EventChoice::new(&profile, &[]);
            let about = |index| if index < recorded { "recorded" } else { "derived" };
            names.names().enumerate().map(|(index, name)| Candidate::new(name, about(index))).collect()
        }
        ProfileValue::Part => numbers(profile.parts().filter_map(|part| part.number()).collect(), "part"),
        ProfileValue::Thread => numbers(profile.parts().filter_map(|part| part.thread()).collect(), "thread"),
        ProfileValue::Process => numbers(profile.parts().filter_map(|part| part.pid()).collect(), "process"),
        ProfileValue::Function => names(profile, start, str::to_owned, function_name),
        ProfileValue::FunctionPattern => names(profile, start, regex::escape, function_name),
        ProfileValue::ObjectPattern => names(profile, start, regex::escape, |view, subject| {
            String::from_utf8_lossy(view.profile().object(view.subject(subject).object)).into_owned()
        }),
        ProfileValue::FilePattern => names(profile, start, regex::escape, |view, subject| {
            String::from_utf8_lossy(view.profile().file(view.subject(subject).file)).into_owned()
        }),
    }
}

fn function_name(view: &View, subject: gristmill_report::SubjectId) -> String {
    view.subject(subject).name().to_owned()
}

/// Returns the names that begin like the word, those of the hottest functions first.
fn names(
    profile: Profile,
    start: &str,
    spell: impl Fn(&str) -> String,
    name: impl Fn(&View, gristmill_report::SubjectId) -> String,
) -> Vec<Candidate> {
    let Ok(view) = View::new(profile, &ViewOptions::default()) else { return Vec::new() };
    let mut subjects: Vec<_> = view.subject_ids().collect();
    let cost = |subject| view.self_cost(subject).first().copied().unwrap_or_default();
    subjects.sort_by_key(|&subject| std::cmp::Reverse(cost(subject)));
    let total = view.totals().first().copied().unwrap_or_default();
    let mut known = BTreeSet::new();
    let mut candidates = Vec::new();
    for subject in subjects {
        let name = name(&view, subject);
        let spelt = spell(&name);
        let is_offered = !name.is_empty() && is_shown(&name) && spelt.starts_with(start);
        if is_offered && known.insert(spelt.clone()) {
            let share = if total > 0 { cost(subject).saturating_mul(1000) / total } else { 0 };
            let about = format!("{}.{}% self", share / 10, share % 10);
            candidates.push(Candidate::new(&spelt, &about));
        }
        if candidates.len() == MAX_NAMES {
            break;
        }
    }
    candidates
}
