//! Both sides of a comparison with inlined functions: what is divided on one side is divided on the other.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Mutex, PoisonError};

use gristmill_profile::Profile;
use gristmill_profile::inlining::{
    AskedFunction, AskedObject, FrameSource, ObjectFrames, PositionFrames, ProgramState,
};

use super::{ProgramFrames, divided};
use crate::error::CliError;

/// A function counts as not divided if the program knows nothing of more than one in this many of its positions.
const POSITIONS_FOR_AN_UNKNOWN: usize = 10;

/// The way in which the cost of a function is divided among inlined functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Division {
    None,
    ByLine,
    ByAddress,
}

/// By the name of a function and the number of its object: the ways in which its cost is divided in the runs of a side.
type Divisions = BTreeMap<Vec<u8>, BTreeMap<usize, BTreeSet<Division>>>;

/// The numbers of objects by their file names, which can be as long as all functions.
type Numbers = HashMap<Vec<u8>, usize>;

/// Programs of a profile, without the objects that stay as recorded.
struct Limited<'l> {
    frames: &'l ProgramFrames,
    /// The objects that stay as recorded.
    left: &'l BTreeSet<usize>,
    seen: Mutex<(&'l mut Divisions, &'l mut Numbers)>,
}

impl FrameSource for Limited<'_> {
    fn frames(&self, object: &AskedObject<'_>) -> ObjectFrames {
        let lock = || self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let number = {
            let numbers = &mut *lock().1;
            let next = numbers.len();
            *numbers.entry(file_name(object.path).to_vec()).or_insert(next)
        };
        let frames = match self.left.contains(&number) {
            true => ObjectFrames { program: ProgramState::OneSide, ..ObjectFrames::default() },
            false => self.frames.frames(object),
        };
        let divisions = &mut *lock().0;
        for (nth, function) in object.functions.iter().enumerate() {
            let of_objects = divisions.entry(function.name.to_vec()).or_default();
            of_objects.entry(number).or_default().insert(division(&frames, nth, function));
        }
        frames
    }
}

/// Divides the costs of both sides in the same way.
///
/// # Errors
///
/// If a total would change, which is an error in the library.
pub(super) fn divided_alike(
    sides: &[Vec<&Profile>; 2],
    frames_of: impl Fn(&Profile) -> ProgramFrames,
) -> Result<[Vec<Profile>; 2], CliError> {
    let frames: [Vec<ProgramFrames>; 2] =
        sides.each_ref().map(|runs| runs.iter().map(|run| frames_of(run)).collect());
    let mut left = BTreeSet::new();
    let mut numbers = Numbers::new();
    loop {
        let mut divisions = [Divisions::new(), Divisions::new()];
        let mut made = [Vec::new(), Vec::new()];
        for (side, runs) in sides.iter().enumerate() {
            for (profile, frames) in runs.iter().zip(&frames[side]) {
                let seen = Mutex::new((&mut divisions[side], &mut numbers));
                made[side].push(divided(profile, &Limited { frames, left: &left, seen })?);
            }
        }
        let unlike = unlike(&divisions);
        if unlike.is_subset(&left) {
            return Ok(made);
        }
        left.extend(unlike);
    }
}

/// Returns the objects that have functions which are divided in another way on the other side.
fn unlike([base, new]: &[Divisions; 2]) -> BTreeSet<usize> {
    let mut unlike = BTreeSet::new();
    for (function, in_base) in base {
        let Some(in_new) = new.get(function) else { continue };
        // The object can have another name now.
        let has_same_object = in_base.keys().any(|object| in_new.contains_key(object));
        for (object, divisions) in in_base {
            let others: Vec<_> = match in_new.get(object) {
                Some(divisions) => vec![(object, divisions)],
                None if has_same_object => Vec::new(),
                None => in_new.iter().collect(),
            };
            for (other, _) in others.into_iter().filter(|(_, others)| *others != divisions) {
                unlike.extend([*object, *other]);
            }
        }
    }
    unlike
}

/// Returns the way in which the cost of a function is divided.
fn division(frames: &ObjectFrames, nth: usize, function: &AskedFunction<'_>) -> Division {
    let known = frames.positions.get(nth).filter(|_| frames.program == ProgramState::Usable);
    let Some(known) = known else { return Division::None };
    let unknown = known.iter().filter(|position| **position == PositionFrames::Unknown).count();
    match function.positions.iter().any(|position| position.address.is_some()) {
        _ if unknown * POSITIONS_FOR_AN_UNKNOWN > known.len() => Division::None,
        true => Division::ByAddress,
        false => Division::ByLine,
    }
}

fn file_name(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| *byte == b'/').next().unwrap_or(path)
}
