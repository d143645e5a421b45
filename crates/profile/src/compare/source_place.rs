//! The places of sources: a program with `png/codec.c` and `jpeg/codec.c`, which calls one or the other, did not move.

use super::checkout::{common_end, of_builds};
use super::id::JoinedPathId;
use super::join::{Identity, Joined};
use super::one_binary::file_name;
use crate::ordered::OrderedMap;
use crate::symbol::fold_callers;

/// The places of the sources of each object on both sides.
#[derive(Debug, Default)]
pub(super) struct SourcePlaces<'p>(OrderedMap<JoinedPathId, Place<'p>>);

/// The sources of an object that tell whether others moved.
#[derive(Debug, Default)]
struct Place<'p> {
    /// The directories that the build with the function `main` was made in: what is left of its paths without their common
    /// end. Both are empty if it stayed where it was.
    main: Option<[&'p [u8]; 2]>,
    /// The sources that have one path on both sides, sorted.
    stayed: Vec<&'p [u8]>,
}

impl<'p> SourcePlaces<'p> {
    /// Finds the sources of all objects.
    pub(super) fn new(identity: &Identity<'p>) -> Self {
        let mut places: OrderedMap<JoinedPathId, Place<'p>> = OrderedMap::default();
        for &Joined { sides, object, .. } in &identity.functions {
            let [Some(base), Some(new)] = sides else { continue };
            // The file of a function is that of its first instruction, which can be of a header.
            if !is_compiled_alone(base.file) || !is_compiled_alone(new.file) {
                continue;
            }
            if base.file == new.file {
                places.or_default(object).stayed.push(base.file);
            }
            if [base, new].iter().all(|mention| fold_callers(mention.name) == b"main") {
                let end = common_end(base.file, new.file);
                let main = [base.file, new.file].map(|file| &file[..file.len() - end]);
                places.or_default(object).main.get_or_insert(main);
            }
        }
        for place in places.values_mut() {
            place.stayed = of_builds(std::mem::take(&mut place.stayed).into_iter());
            place.stayed.dedup();
        }
        SourcePlaces(places)
    }

    /// Returns `true` if a source of an object is another one than that of the base, as the build did not move from one to the other,
    /// and `false` if it did. `None` if nothing tells.
    pub(super) fn is_another(&self, object: JoinedPathId, [base, new]: [&[u8]; 2]) -> Option<bool> {
        let place = self.0.get(object)?;
        if let Some([main_base, main_new]) = place.main {
            let below = base.strip_prefix(main_base).zip(new.strip_prefix(main_new));
            return below.map(|(base, new)| base != new);
        }
        let same = base.iter().zip(new).take_while(|(a, b)| a == b).count();
        let parent = base[..same].iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1);
        let first = place.stayed.partition_point(|path| *path < &base[..parent]);
        place.stayed.get(first).is_some_and(|path| path.starts_with(&base[..parent])).then_some(true)
    }
}

/// `true` if a path is that of a C or C++ source that no other one includes, as headers are.
pub(super) fn is_compiled_alone(path: &[u8]) -> bool {
    let name = file_name(path);
    let end = name.iter().rposition(|&byte| byte == b'.').map_or(&b""[..], |dot| &name[dot..]);
    [&b".c"[..], b".cc", b".cpp", b".cxx", b".C", b".m", b".mm"].contains(&end)
}

/// Returns a path without versions: digits with a dot between or before them, as in `libmill.so.1`, `libmill-1.2.so`. Digits that
/// belong to a word are part of the name: `mp3.so`.
pub(super) fn without_versions(path: &[u8]) -> Vec<u8> {
    let mut left: Vec<u8> = Vec::with_capacity(path.len());
    let mut rest = path;
    while !rest.is_empty() {
        let length = version_length(rest);
        let version = &rest[..length];
        if length == 0 || !version.contains(&b'.') && left.last() != Some(&b'.') {
            left.extend_from_slice(&rest[..length.max(1)]);
            rest = &rest[length.max(1)..];
            continue;
        }
        if left.last().is_some_and(|byte| matches!(byte, b'v'))
            && matches!(left.iter().nth_back(1), Some(b'-' | b'.'))
        {
            left.pop();
        }
        if left.last().is_some_and(|byte| matches!(byte, b'.' | b'-' | b'_')) {
            left.pop();
        }
        rest = &rest[length..];
    }
    left
}

/// Returns the length of the digits at the start of a text, with dots between them.
fn version_length(text: &[u8]) -> usize {
    let mut length = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    while length > 0 && text.get(length) == Some(&b'.') {
        let more = text[length + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if more == 0 {
            break;
        }
        length += 1 + more;
    }
    length
}
