//! The refusal of files that are no profiles: what they are, and what to do.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use gristmill_profile::{DamageKind, NoProfile, Profile};

use super::recording;
use crate::args::is_dash;
use crate::canonical::canonical;
use crate::error::CliError;
use crate::input::Input;
use crate::terminal::printable_path;

/// Files that a hint names.
const MAX_NAMED: usize = 3;

/// Returns the error for a profile that was loaded from these paths, if one of them is none.
pub(crate) fn of_profile(profile: &Profile, paths: &[PathBuf]) -> Option<CliError> {
    let unusable = profile.unusable_input()?;
    // What is left of a damaged packing says less than the damage.
    let packing = profile.damage().iter().find_map(|damage| match &damage.kind {
        DamageKind::Packing(message) if damage.input == unusable.input => Some(message),
        _ => None,
    });
    Some(match packing {
        Some(packing) => unpacked(unusable.name, packing),
        None => CliError::Usage {
            message: unusable.to_string(),
            hint: paths.get(unusable.input).and_then(|path| hint(path, unusable.reason)),
        },
    })
}

/// Returns the error for a file, if it is no profile. Reads no further than the first `events:` line.
pub(crate) fn of_input(input: &Input) -> Option<CliError> {
    let reason = NoProfile::of_bytes(&input.bytes)?;
    let name = input.name();
    Some(match &input.damage {
        // What is left of a damaged packing says less than the damage.
        Some(damage) => unpacked(&name, damage),
        None => CliError::Usage { message: format!("{name}: {reason}"), hint: hint(&input.path, reason) },
    })
}

fn unpacked(name: &str, damage: &str) -> CliError {
    CliError::Usage {
        message: format!("{name}: {damage}"),
        hint: Some("copy the file again, or record again".to_owned()),
    }
}

fn hint(path: &Path, reason: NoProfile) -> Option<String> {
    Some(match reason {
        NoProfile::Empty => match parts_beside(path).as_slice() {
            [] => "Callgrind leaves an empty file where it was killed, or wrote other files instead; record again"
                .to_owned(),
            parts => {
                let named: Vec<_> = parts.iter().take(MAX_NAMED).map(|part| printable_path(part)).collect();
                let more = match parts.len().saturating_sub(MAX_NAMED) {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                format!("Callgrind wrote the parts of this recording beside it: {}{more}", named.join(" "))
            }
        },
        NoProfile::NoEvents { has_header: true } => {
            "record again; without the names of its event types the costs have no meaning".to_owned()
        }
        _ => "a profile is what the profiler wrote, with an `events:` line near its top".to_owned(),
    })
}

/// Returns the files that Callgrind wrote instead of an empty one.
fn parts_beside(path: &Path) -> Vec<PathBuf> {
    if is_dash(path) || !path.is_file() {
        return Vec::new();
    }
    let found = recording::of_all(&[path]).unwrap_or_default();
    found.into_iter().flat_map(|found| found.files).filter(|part| part != path).collect()
}

/// Removes empty files if the parts that Callgrind wrote instead are among the files.
pub(crate) fn without_base_files(paths: &[PathBuf]) -> Vec<PathBuf> {
    let is_empty = |path: &Path| {
        !is_dash(path)
            && std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.len() == 0)
    };
    let is_text = |path: &Path| path.file_name().is_some_and(|name| name.to_str().is_some());
    let files = paths.iter().map(PathBuf::as_path);
    let empty: Vec<&Path> = files.filter(|path| is_empty(path) && is_text(path)).collect();
    if paths.len() < 2 || empty.is_empty() {
        return paths.to_vec();
    }
    let found = recording::of_all(&empty).unwrap_or_default();
    let known: HashSet<PathBuf> = paths.iter().map(|path| canonical(path)).collect();
    let has_parts = |(path, found): &(&Path, recording::Found)| {
        found.files.iter().any(|part| part != path && known.contains(&canonical(part)))
    };
    let replaced: HashSet<&Path> =
        empty.into_iter().zip(found).filter(has_parts).map(|(path, _)| path).collect();
    paths.iter().filter(|path| !replaced.contains(path.as_path())).cloned().collect()
}
