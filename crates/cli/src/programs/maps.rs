//! `--binary FROM=TO`: the maps from paths of a profile to those of this machine.

use std::path::Path;

use gristmill_code::{Binary, ErrorKind, Locator};
use gristmill_profile::Profile;

use super::files::ProgramFiles;
use super::path_of;
use crate::args::ProgramArgs;
use crate::confined::Confinement;
use crate::error::CliError;
use crate::session::Session;
use crate::terminal::printable;

/// Takes `FROM=TO` apart.
pub(super) fn parts_of_map(text: &str) -> Result<(&str, &str), CliError> {
    text.split_once('=')
        .filter(|(from, to)| !from.is_empty() && !to.is_empty())
        .ok_or_else(|| refusal(text, "is not FROM=TO", "for example --binary /build/mill=/home/me/mill"))
}

/// Refuses maps to what is no program and no directory: nothing would tell that they have no effect.
pub(super) fn check_maps(args: &ProgramArgs, below: &Confinement) -> Result<(), CliError> {
    for text in &args.binary {
        let (_, to) = parts_of_map(text)?;
        if Path::new(to).is_dir() {
            continue;
        }
        // Servers are asked for what a program lacks, not for this file.
        let locator = Locator::new(ProgramFiles::new(below.clone(), None));
        let Err(error) = Binary::open(to, &locator) else { continue };
        let shown = printable(to.as_bytes()).into_owned();
        let reason = match error.kind() {
            ErrorKind::NotFound { .. } => format!("{shown}: no such file"),
            ErrorKind::Unreadable(reason) => format!("{shown}: {}", printable(reason.as_bytes())),
            _ => printable(error.to_string().as_bytes()).into_owned(),
        };
        return Err(refusal(text, &reason, "TO is a program, a library, or a directory that has them"));
    }
    Ok(())
}

fn refusal(text: &str, reason: &str, hint: &str) -> CliError {
    CliError::Usage {
        message: format!("--binary '{}': {reason}", printable(text.as_bytes())),
        hint: Some(hint.to_owned()),
    }
}

/// Warns about the maps that none of these profiles has a use for.
pub(crate) fn warn_of_unused_maps(args: &ProgramArgs, profiles: &[&Profile], session: &Session) {
    let mut maps = MapUse::new(args);
    profiles.iter().for_each(|profile| maps.see(profile));
    maps.warn_of_unused(session);
}

/// The maps that profiles have a use for.
#[derive(Debug)]
pub(crate) struct MapUse<'a> {
    texts: &'a [String],
    is_used: Vec<bool>,
}

impl<'a> MapUse<'a> {
    /// Takes the maps of the command line.
    pub(crate) fn new(args: &'a ProgramArgs) -> Self {
        MapUse { texts: &args.binary, is_used: vec![false; args.binary.len()] }
    }

    /// Takes note of the maps for the objects of a profile.
    pub(crate) fn see(&mut self, profile: &Profile) {
        let unused = self.texts.iter().zip(&mut self.is_used).filter(|(_, is_used)| !**is_used);
        for (from, is_used) in unused.filter_map(|(text, is_used)| Some((text.split_once('=')?.0, is_used))) {
            let mut objects = profile.functions().map(|id| profile.object(profile.function(id).object));
            *is_used = objects.any(|object| path_of(object).is_some_and(|path| path.starts_with(from)));
        }
    }

    /// Warns about the maps that no profile has a use for.
    pub(crate) fn warn_of_unused(&self, session: &Session) {
        for (text, _) in self.texts.iter().zip(&self.is_used).filter(|(_, is_used)| !**is_used) {
            let from = text.split_once('=').map_or(text.as_str(), |(from, _)| from);
            session.warn(&format!(
                "--binary '{}' has no effect: no program of the profile is {} or below it; gristmill info --programs lists them",
                printable(text.as_bytes()),
                printable(from.as_bytes()),
            ));
        }
    }
}
