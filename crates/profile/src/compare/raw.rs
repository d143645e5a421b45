//! The functions and paths of all runs, each once, as the runs have them.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::id::{RawFunctionId, RawPathId, Side};
use super::names::NormalName;
use crate::interner::Interner;
use crate::profile::Profile;
use crate::{FileId, ObjectId};

/// A function as a profile mentions it.
///
/// See the example of [`Comparison`](super::Comparison).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Mention<'p> {
    /// Its object.
    pub object: &'p [u8],
    /// Its source file.
    pub file: &'p [u8],
    /// Its name, as recorded; without callers where these are folded.
    pub name: &'p [u8],
}

/// Returns the first run of a side.
pub(super) fn first_run(runs: &[Run<'_>], side: Side) -> Option<usize> {
    runs.iter().position(|run| run.side == side)
}

/// A profile with the side that it is on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run<'p> {
    pub(super) profile: &'p Profile,
    pub(super) side: Side,
}

/// A set of runs, by their index. Runs from the 128th on share one bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct RunSet(u128);

impl RunSet {
    /// The set of one run.
    pub(super) fn from_run(run: usize) -> Self {
        RunSet(1 << run.min(127))
    }

    /// The set of all runs before one.
    pub(super) fn before(run: usize) -> Self {
        RunSet(RunSet::from_run(run).0 - 1)
    }

    pub(super) fn add(&mut self, other: RunSet) {
        self.0 |= other.0;
    }

    pub(super) fn meets(self, other: RunSet) -> bool {
        self.0 & other.0 != 0
    }
}

/// A path as some run has it.
pub(super) struct RawPath<'p> {
    pub(super) text: &'p [u8],
    /// `true` for each side that has it.
    pub(super) sides: [bool; 2],
    pub(super) runs: RunSet,
    pub(super) first_run: usize,
}

/// All raw paths, each once, and the paths of each run.
pub(super) struct RawPaths<'p> {
    pub(super) paths: Vec<RawPath<'p>>,
    /// By run, then by the profile's object.
    objects: Vec<Vec<RawPathId>>,
    /// By run, then by the profile's file.
    pub(super) files: Vec<Vec<RawPathId>>,
}

impl<'p> RawPaths<'p> {
    pub(super) fn collect(runs: &[Run<'p>]) -> Self {
        let mut paths: Vec<RawPath<'p>> = Vec::new();
        let mut interner = Interner::default();
        let mut id_of = |text: &'p [u8], side: Side, run: usize| {
            let (index, is_first) = interner.intern(text);
            if is_first {
                paths.push(RawPath { text, sides: [false; 2], runs: RunSet::default(), first_run: run });
            }
            paths[index].sides[side.index()] = true;
            paths[index].runs.add(RunSet::from_run(run));
            RawPathId::new(index)
        };
        let (mut objects, mut files) = (Vec::new(), Vec::new());
        for (run, &Run { profile, side }) in runs.iter().enumerate() {
            let ids = (0..profile.object_count()).map(ObjectId::new);
            objects.push(ids.map(|id| id_of(profile.object(id), side, run)).collect());
            let ids = (0..profile.file_count()).map(FileId::new);
            files.push(ids.map(|id| id_of(profile.file(id), side, run)).collect());
        }
        RawPaths { paths, objects, files }
    }

    /// Returns the path of a run's object.
    pub(super) fn object(&self, run: usize, object: ObjectId) -> RawPathId {
        self.objects[run][object.index()]
    }

    /// Returns the path of a run's file.
    pub(super) fn file(&self, run: usize, file: FileId) -> RawPathId {
        self.files[run][file.index()]
    }
}

/// A function as some run has it.
pub(super) struct RawFunction<'p> {
    pub(super) mention: Mention<'p>,
    pub(super) object: RawPathId,
    pub(super) file: RawPathId,
    /// `true` for each side that has it.
    pub(super) sides: [bool; 2],
    pub(super) runs: RunSet,
    /// Its name without what differs from build to build.
    pub(super) normal: NormalName,
    /// Its name as recorded, without levels and callers that are folded.
    pub(super) folded: Cow<'p, [u8]>,
}

/// All raw functions, each once, and the functions of each run.
pub(super) struct RawFunctions<'p> {
    pub(super) list: Vec<RawFunction<'p>>,
    /// By run, then by the profile's function.
    pub(super) by_run: Vec<Vec<RawFunctionId>>,
}

impl<'p> RawFunctions<'p> {
    /// Collects them; `normalized` takes a name and the index of its run.
    pub(super) fn collect(
        runs: &[Run<'p>],
        paths: &RawPaths<'p>,
        normalized: impl Fn(&'p [u8], usize) -> (Cow<'p, [u8]>, NormalName),
    ) -> Self {
        let mut list: Vec<RawFunction<'p>> = Vec::new();
        let mut interner = Interner::default();
        let mut by_run: Vec<Vec<RawFunctionId>> = Vec::new();
        for (run, &Run { profile, side }) in runs.iter().enumerate() {
            let of_run = profile.functions().map(|id| {
                let function = profile.function(id);
                let (object, file) = (paths.object(run, function.object), paths.file(run, function.file));
                // The number of a closure means something else on the other side.
                let of_side = has_number(function.name).then_some(side.index());
                let (index, is_first) = interner.intern((object, file, function.name, of_side));
                if is_first {
                    let (folded, normal) = normalized(function.name, run);
                    list.push(RawFunction {
                        mention: Mention {
                            object: profile.object(function.object),
                            file: profile.file(function.file),
                            name: function.name,
                        },
                        object,
                        file,
                        sides: [false; 2],
                        runs: RunSet::default(),
                        normal,
                        folded,
                    });
                }
                list[index].sides[side.index()] = true;
                list[index].runs.add(RunSet::from_run(run));
                RawFunctionId::new(index)
            });
            by_run.push(of_run.collect());
        }
        RawFunctions { list, by_run }
    }

    pub(super) fn ids(&self) -> impl ExactSizeIterator<Item = RawFunctionId> + use<> {
        (0..self.list.len()).map(RawFunctionId::new)
    }
}

/// Returns `true` if a name can contain the number or the line of a closure.
fn has_number(name: &[u8]) -> bool {
    static TEXTS: LazyLock<[Finder<'static>; 4]> =
        LazyLock::new(|| ["$_", ".func", "closure", "__ANON__"].map(Finder::new));
    memchr::memchr2(b'#', b'@', name).is_some() || TEXTS.iter().any(|text| text.find(name).is_some())
}

impl<'p> std::ops::Index<RawFunctionId> for RawFunctions<'p> {
    type Output = RawFunction<'p>;

    fn index(&self, id: RawFunctionId) -> &RawFunction<'p> {
        &self.list[id.index()]
    }
}
