//! Profiles of which nothing is missing.

use std::path::Path;

use gristmill_format::ErrorKind;
use gristmill_profile::{self as model, Loader, Profile};

use crate::error::CliError;
use crate::input;
use crate::progress::Progress;
use crate::size::Size;

const BROKEN_HINT: &str = "gristmill rewrite --repair repairs a file, and --skip-broken leaves it out";

/// Loads a file of which nothing is missing: a sum of pieces would look like a sum.
pub(crate) fn load(path: &Path, max_size: Size, threads: usize) -> Result<Profile, CliError> {
    let input = input::read(path, max_size, &mut Progress::hidden())?;
    let name = input.name();
    if let Some(damage) = &input.damage {
        return Err(incomplete(format!("{name}: {damage}")));
    }
    let input = model::Input { name, bytes: input.bytes };
    let profile = Loader::new().threads(threads).load(vec![input]);
    match defect(&profile) {
        Some(defect) => Err(incomplete(defect)),
        None => Ok(profile),
    }
}

/// Returns the reason why a profile lacks content of its file.
fn defect(profile: &Profile) -> Option<String> {
    let name = profile.inputs().first().map_or("", |input| input.name.as_str());
    if let Some(finding) = profile.first_loss() {
        return Some(match finding.kind {
            ErrorKind::NotAProfile(_) => format!("{name}: {}", finding.kind),
            kind => format!("{name}:{}:{}: {kind}", finding.location.line, finding.column),
        });
    }
    let differs = |part: &model::Part<'_>| {
        let claimed = part.claimed_totals().unwrap_or_default();
        part.totals().iter().zip(claimed).any(|(sum, claimed)| sum != claimed)
    };
    let part = profile.parts().find(differs)?;
    let line = part.location().line;
    Some(format!("{name}: the costs of the part at line {line} are not what its `totals:` says"))
}

/// An error about a file that does not hold all it should.
pub(crate) fn incomplete(message: String) -> CliError {
    CliError::Profile { message, hint: Some(BROKEN_HINT.to_owned()) }
}
