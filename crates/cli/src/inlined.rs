//! `--inlined`: asks the programs of a profile for the chains of inlined functions at its positions.
//!
//! With addresses, each position is an instruction with one chain. With lines only, all instructions of a function are looked at,
//! and a line has the chains of its own ones.

mod by_address;
mod by_line;
mod chains;
mod sides;

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use gristmill_code::Binary;
use gristmill_profile::inlining::{AskedObject, FrameSource, ObjectFrames, ProgramState};
use gristmill_profile::{ObjectId, Profile};
use gristmill_report::program::ProgramError;

use crate::args::ProgramArgs;
use crate::error::CliError;
use crate::programs::{ProgramFinder, warn_of_unused_maps};
use crate::session::Session;

/// Gives self costs to the inlined functions that they came from, if that is asked for.
///
/// # Errors
///
/// If an option for programs is not valid.
pub(crate) fn with_inlined(
    profile: Profile,
    is_asked: bool,
    programs: &ProgramArgs,
    sources_below: &[PathBuf],
) -> Result<Profile, CliError> {
    if !is_asked {
        return Ok(profile);
    }
    let frames = frames_of(&profile, &ProgramFinder::new(programs, sources_below)?);
    divided(&profile, &frames)
}

/// Gives self costs of both sides of a comparison to the inlined functions that they came from. An object stays as recorded on both sides
/// if the program of one does not tell what is inlined in a function: what the function loses on the other side would look like a change.
///
/// # Errors
///
/// As [`with_inlined`].
pub(crate) fn sides_with_inlined(
    sides: [Vec<&Profile>; 2],
    programs: &ProgramArgs,
    sources_below: &[PathBuf],
) -> Result<[Vec<Profile>; 2], CliError> {
    let finder = ProgramFinder::new(programs, sources_below)?;
    sides::divided_alike(&sides, |profile| frames_of(profile, &finder))
}

/// Opens the programs of a profile.
fn frames_of(profile: &Profile, finder: &ProgramFinder) -> ProgramFrames {
    let open = |object: &[u8]| {
        finder.binary(object).map_err(|error| match error {
            ProgramError::Unnamed => ProgramState::Unnamed,
            ProgramError::Missing => ProgramState::Missing,
            ProgramError::Unreadable(_) | ProgramError::Invalid { .. } => ProgramState::Unreadable,
        })
    };
    // Names are not compared: one can be as long as all functions of its object.
    let objects: BTreeSet<ObjectId> = profile.functions().map(|id| profile.function(id).object).collect();
    ProgramFrames::new(objects.into_iter().map(|object| profile.object(object)), open)
}

/// Gives self costs of a profile to the inlined functions that they came from.
fn divided(profile: &Profile, frames: &impl FrameSource) -> Result<Profile, CliError> {
    let error = |error| CliError::Usage { message: format!("--inlined: {error}"), hint: None };
    profile.with_inlined(frames).map_err(error)
}

/// Warns about options for programs that have no effect on these profiles.
pub(crate) fn warn_of_unused_options(
    profiles: &[&Profile],
    is_asked: bool,
    programs: &ProgramArgs,
    session: &Session,
) {
    if is_asked {
        warn_of_unused_maps(programs, profiles, session);
    } else if !programs.binary.is_empty() {
        session.warn("--binary has no effect without --inlined");
    }
}

/// The programs of a profile, by the path of the object.
pub(crate) struct ProgramFrames {
    programs: HashMap<Vec<u8>, Result<Arc<Binary>, ProgramState>>,
}

impl ProgramFrames {
    /// Opens the program of each object.
    pub(crate) fn new<'p>(
        objects: impl Iterator<Item = &'p [u8]>,
        open: impl Fn(&[u8]) -> Result<Arc<Binary>, ProgramState>,
    ) -> Self {
        ProgramFrames { programs: objects.map(|object| (object.to_vec(), open(object))).collect() }
    }

    fn usable(&self, object: &AskedObject<'_>) -> Result<&Binary, ProgramState> {
        let program = self.programs.get(object.path).ok_or(ProgramState::Missing)?;
        let binary = program.as_ref().map_err(|state| *state)?;
        if binary.has_debug_info() { Ok(binary) } else { Err(ProgramState::NoDebugInformation) }
    }
}

impl FrameSource for ProgramFrames {
    fn frames(&self, object: &AskedObject<'_>) -> ObjectFrames {
        let has_address =
            |position: &gristmill_profile::inlining::AskedPosition<'_>| position.address.is_some();
        let mut positions = object.functions.iter().flat_map(|function| &function.positions);
        let frames = self.usable(object).and_then(|binary| match positions.any(has_address) {
            true => by_address::frames(binary, object),
            false => by_line::frames(binary, object),
        });
        frames.unwrap_or_else(|program| ObjectFrames { program, ..ObjectFrames::default() })
    }
}
