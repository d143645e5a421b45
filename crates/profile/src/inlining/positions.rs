//! The positions that the source is asked for.

use super::{AskedFunction, AskedObject, AskedPosition, FrameSource, ObjectFrames};
use crate::decode::{BlockLine, Place};
use crate::id::{FileId, FunctionId, ObjectId};
use crate::merged::Merged;
use crate::profile::Profile;
use crate::threads::{cores, on_threads};

/// The position of a line, as the source is asked for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PositionKey {
    pub(super) address: Option<u64>,
    pub(super) file: FileId,
    pub(super) line: Option<u64>,
}

impl PositionKey {
    pub(super) fn new(place: &Place) -> Self {
        PositionKey { address: place.address, file: place.file, line: place.line }
    }
}

/// A function and its positions: sorted, each once.
#[derive(Debug)]
pub(super) struct FunctionPositions {
    pub(super) function: FunctionId,
    pub(super) positions: Vec<PositionKey>,
}

/// All positions of a profile, by object and function.
pub(super) struct Asked<'p> {
    profile: &'p Profile,
    /// Objects in the order of their ids, functions in the order of theirs.
    pub(super) objects: Vec<(ObjectId, Vec<FunctionPositions>)>,
}

impl<'p> Asked<'p> {
    /// Collects the positions of all lines.
    pub(super) fn new(profile: &'p Profile) -> Self {
        let mut all: Merged<(FunctionId, PositionKey)> = Merged::new(Vec::dedup);
        for part in profile.parts() {
            let begin = || Merged::new(Vec::dedup);
            let of_runs = profile.fold_lines(&part, begin, |found: &mut Merged<_>, function, line| {
                let mut push = |place: &Place| found.push((function, PositionKey::new(place)));
                match &line {
                    BlockLine::SelfCost { place, .. } | BlockLine::Calls { place, .. } => push(place),
                    BlockLine::Jump { place, target, function: None, .. } => {
                        push(place);
                        push(target);
                    }
                    BlockLine::Jump { place, .. } => push(place),
                }
            });
            of_runs.into_iter().flat_map(Merged::finish).for_each(|position| all.push(position));
        }
        let found = all.finish();
        let mut objects: Vec<(ObjectId, Vec<FunctionPositions>)> = Vec::new();
        let by_function = found.chunk_by(|(function, _), (next, _)| function == next).filter_map(|lines| {
            let function = lines.first()?.0;
            let positions = lines.iter().map(|&(_, position)| position).collect();
            Some((profile.function(function).object, FunctionPositions { function, positions }))
        });
        let mut by_function: Vec<_> = by_function.collect();
        by_function.sort_by_key(|(object, _)| *object);
        for (object, function) in by_function {
            match objects.last_mut() {
                Some((last, functions)) if *last == object => functions.push(function),
                _ => objects.push((object, vec![function])),
            }
        }
        Asked { profile, objects }
    }

    /// Returns the index of an object.
    pub(super) fn index_of(&self, object: ObjectId) -> Option<usize> {
        self.objects.binary_search_by_key(&object, |(object, _)| *object).ok()
    }

    /// Asks for all objects, several at a time.
    pub(super) fn ask(&self, source: &impl FrameSource) -> Vec<ObjectFrames> {
        let mut answers: Vec<ObjectFrames> = vec![ObjectFrames::default(); self.objects.len()];
        let tasks = self.objects.iter().zip(&mut answers).collect();
        on_threads(cores(), tasks, |((object, functions), answer)| {
            *answer = source.frames(&self.asked_object(*object, functions));
        });
        answers
    }

    fn asked_object(&self, object: ObjectId, functions: &[FunctionPositions]) -> AskedObject<'p> {
        let asked_function = |of: &FunctionPositions| {
            let function = self.profile.function(of.function);
            let position = |key: &PositionKey| AskedPosition {
                address: key.address,
                file: self.profile.file(key.file),
                line: key.line,
            };
            AskedFunction {
                id: of.function,
                name: function.name,
                file: self.profile.file(function.file),
                positions: of.positions.iter().map(position).collect(),
            }
        };
        AskedObject {
            path: self.profile.object(object),
            functions: functions.iter().map(asked_function).collect(),
        }
    }
}
