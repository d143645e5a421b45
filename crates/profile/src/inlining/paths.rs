//! The spelling of paths: that of the profile for a path of the source.

use std::collections::BTreeMap;

use super::ObjectFrames;
use super::positions::FunctionPositions;
use crate::hash::Map;
use crate::id::FileId;
use crate::profile::Profile;
use crate::symbol::normal_path;

/// The file of the profile for each file of the source. `None` if the profile has none.
pub(super) fn known_files(
    profile: &Profile,
    functions: &[FunctionPositions],
    frames: &ObjectFrames,
    by_end: &FilesByEnd,
) -> Vec<Option<FileId>> {
    // Positions where both name the file.
    let mut votes: Vec<BTreeMap<FileId, u64>> = vec![BTreeMap::new(); frames.files.len()];
    for (function, of_positions) in functions.iter().zip(&frames.positions) {
        for (position, of_position) in function.positions.iter().zip(of_positions) {
            if let Some(file) = of_position.file()
                && is_named(profile.file(position.file))
            {
                *votes[file].entry(position.file).or_default() += 1;
            }
        }
    }
    // Of several with as many votes, the first one.
    let winner = |votes: &BTreeMap<FileId, u64>| {
        votes.iter().max_by_key(|&(&file, &votes)| (votes, std::cmp::Reverse(file))).map(|(&file, _)| file)
    };
    votes
        .iter()
        .zip(&frames.files)
        .map(|(votes, path)| winner(votes).or_else(|| by_end.find(profile, path)))
        .collect()
}

/// `true` if it is the path of a file, and not what Callgrind writes for an unknown one.
pub(super) fn is_named(path: &[u8]) -> bool {
    !path.is_empty() && path != UNKNOWN_FILE
}

/// The path that Callgrind writes for an unknown file.
pub(super) const UNKNOWN_FILE: &[u8] = b"???";

/// The files of a profile by their last segment.
pub(super) struct FilesByEnd(Map<Vec<u8>, Vec<FileId>>);

impl FilesByEnd {
    pub(super) fn new(profile: &Profile) -> Self {
        let mut by_end: Map<Vec<u8>, Vec<FileId>> = Map::default();
        for file in profile.files().filter(|&file| is_named(profile.file(file))) {
            by_end.entry(last_segment(profile.file(file)).to_vec()).or_default().push(file);
        }
        FilesByEnd(by_end)
    }

    /// Returns the file of a path: the one with the same path, or else the only one whose path is the end of the other.
    fn find(&self, profile: &Profile, path: &[u8]) -> Option<FileId> {
        let files = self.0.get(last_segment(path)).map(Vec::as_slice).unwrap_or_default();
        let normal = |path: &[u8]| normal_path(&String::from_utf8_lossy(path)).into_owned();
        let wanted = normal(path);
        let is_end = |longer: &str, end: &str| {
            let before = longer.strip_suffix(end.trim_start_matches('/'));
            before.is_some_and(|before| before.is_empty() || before.ends_with('/'))
        };
        let mut similar = Vec::new();
        for &file in files {
            let known = normal(profile.file(file));
            if known == wanted {
                return Some(file);
            }
            // Two absolute paths that differ are two files.
            let is_relative = !known.starts_with('/') || !wanted.starts_with('/');
            if is_relative && (is_end(&known, &wanted) || is_end(&wanted, &known)) {
                similar.push(file);
            }
        }
        match similar[..] {
            [only] => Some(only),
            _ => None,
        }
    }
}

fn last_segment(path: &[u8]) -> &[u8] {
    path.rsplit(|&byte| byte == b'/' || byte == b'\\').next().unwrap_or_default()
}
