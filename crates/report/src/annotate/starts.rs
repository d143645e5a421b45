//! The first lines of functions in their source files.

use gristmill_profile::hash::Map;
use gristmill_profile::{BlockLine, FileId, FunctionId, Profile, Selection};

/// Finds the first line of each function in its own file: the first one that costs something or that calls lead to. A
/// profile does not have the line where a function is defined.
pub(super) fn function_starts(profile: &Profile, selection: &Selection) -> Vec<Option<u64>> {
    let files: Vec<FileId> = profile.functions().map(|function| profile.function(function).file).collect();
    let mut starts = vec![None; profile.function_count()];
    for part in profile.selected(selection) {
        let read =
            profile.fold_lines(&part, Map::default, |first: &mut Map<FunctionId, u64>, function, line| {
                let (function, place) = match line {
                    BlockLine::SelfCost { place, .. } => (function, place),
                    BlockLine::Calls { callee, target, place, .. } => {
                        update(first, &files, function, place.file, place.line);
                        (callee, target)
                    }
                    BlockLine::Jump { .. } => return,
                };
                update(first, &files, function, place.file, place.line);
            });
        // A minimum is the same in any order.
        for (function, line) in read.into_iter().flatten() {
            let start: &mut Option<u64> = &mut starts[function.index()];
            *start = Some(start.map_or(line, |known| known.min(line)));
        }
    }
    starts
}

fn update(
    first: &mut Map<FunctionId, u64>,
    files: &[FileId],
    function: FunctionId,
    file: FileId,
    line: Option<u64>,
) {
    let Some(line) = line.filter(|&line| line > 0) else { return };
    if files[function.index()] == file {
        first.entry(function).and_modify(|known| *known = line.min(*known)).or_insert(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_begins_at_its_first_line() {
        let profile = Profile::from_bytes(
            b"events: Ir\nfl=a.c\nfn=f\n12 1\n10 1\nfi=b.h\n2 1\nfe=a.c\n0 4\ncfn=g\ncalls=1 30\n9 5\nfn=g\n31 5\n\
              fl=b.h\nfn=h\nfi=a.c\n3 1\n",
        );
        let starts = function_starts(&profile, &Selection::default());
        let of = |name: &[u8]| {
            starts[profile.functions().find(|&id| profile.function(id).name == name).unwrap().index()]
        };
        assert_eq!((of(b"f"), of(b"g"), of(b"h")), (Some(9), Some(30), None));
    }
}
