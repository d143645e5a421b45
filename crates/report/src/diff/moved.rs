//! Functions whose source file is another one on each side.

use gristmill_output::source::Sources;
use gristmill_profile::compare::{ComparedLine, Comparison, JoinedId, JoinedPathId, Side};
use gristmill_profile::ordered::OrderedMap;

use crate::path::{self, UNKNOWN};

/// The source file of a function that has another one on each side.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moved<'p> {
    pub(super) base: JoinedPathId,
    pub(super) new: JoinedPathId,
    /// The paths of both.
    pub(super) paths: [&'p [u8]; 2],
}

/// Returns the source files of a function that was moved or renamed, if the lines of both can be joined: by their text if
/// both are found, and otherwise by their numbers if the files have the same name.
pub(super) fn moved_file<'c>(
    comparison: &'c Comparison<'_>,
    function: JoinedId,
    by_file: &OrderedMap<JoinedPathId, Vec<ComparedLine>>,
    sources: &dyn Sources,
) -> Option<Moved<'c>> {
    let paths = [comparison.in_base(function)?.file, comparison.in_new(function)?.file];
    let id = |side: Side| {
        let path = paths[side.index()];
        by_file.keys().find(|&file| comparison.path(file)[side.index()] == Some(path))
    };
    let (base, new) = (id(Side::Base)?, id(Side::New)?);
    if base == new || paths.iter().any(|path| path.is_empty() || *path == UNKNOWN.as_bytes()) {
        return None;
    }
    let name = |path: &[u8]| path::base(&String::from_utf8_lossy(path)).to_owned();
    let has_texts = || paths.iter().all(|path| sources.get(path).is_ok());
    (name(paths[0]) == name(paths[1]) || has_texts()).then_some(Moved { base, new, paths })
}
