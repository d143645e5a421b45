//! Profiles for commands that decide by them or add them up: nothing may be missing.

use std::path::{Path, PathBuf};

use gristmill_profile::{self as model, Loader, Profile};
use gristmill_report::DamageRow;

use super::refusal;
use crate::error::CliError;
use crate::input::{self, Mapping};
use crate::progress::Progress;
use crate::size::Size;

const BROKEN_HINT: &str =
    "gristmill rewrite --repair makes a valid file of it, and --allow-damaged takes it as it is";

const LOST_HINT: &str = "record again; --allow-damaged takes it as it is";
const JOINED_HINT: &str =
    "give the files that the profiler wrote, each once; --allow-damaged takes it as it is";

/// The choice for damaged files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Damaged {
    Refused,
    /// `--allow-damaged`
    Allowed,
}

impl Damaged {
    pub(crate) fn from_option(allow_damaged: bool) -> Self {
        if allow_damaged { Damaged::Allowed } else { Damaged::Refused }
    }
}

/// Loads a file of which nothing is missing: a sum of pieces would look like a sum. If damage is allowed, the caller reports
/// it.
pub(crate) fn load(
    path: &Path,
    max_size: Size,
    threads: usize,
    damaged: Damaged,
) -> Result<Profile, CliError> {
    let input = input::read(path, max_size, Mapping::Large, &mut Progress::hidden())?;
    let (name, damage) = (input.name(), input.damage.clone());
    let mut profile = Loader::new().threads(threads).load(vec![model::Input { name, bytes: input.bytes }]);
    if let Some(damage) = damage {
        profile.add_packing_damage(0, damage);
    }
    let path = PathBuf::from(path);
    if let Some(refusal) = refusal::of_profile(&profile, std::slice::from_ref(&path)) {
        return Err(refusal);
    }
    match DamageRow::list(&profile).into_iter().find(DamageRow::is_loss) {
        Some(damage) if damaged == Damaged::Refused => {
            let hint = match damage.kind {
                _ if damage.is_joined() => JOINED_HINT,
                "calls" => LOST_HINT,
                _ => BROKEN_HINT,
            };
            Err(CliError::Profile { message: damage.text, hint: Some(hint.to_owned()) })
        }
        _ => Ok(profile),
    }
}

/// An error about a file that does not hold all it should.
pub(crate) fn incomplete(message: String) -> CliError {
    CliError::Profile { message, hint: Some(BROKEN_HINT.to_owned()) }
}
