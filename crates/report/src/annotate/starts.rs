//! Where functions begin in their source files.

use gristmill_profile::hash::Map;
use gristmill_profile::{BlockLine, FileId, FunctionId, Profile, Selection};

/// The first line of each function, in its own file. A profile does not say where a function is defined; this is the
/// first line that costs something, or that calls lead to.
pub(super) fn function_starts(profile: &Profile, selection: &Selection) -> Vec<Option<u64>> {
    let files: Vec<FileId> = profile.functions().map(|function| profile.function(function).file).collect();
    let mut starts = vec![None; profile.function_count()];
    for part in profile.selected(selection) {
        let read =
            profile.fold_lines(&part, Map::default, |first: &mut Map<FunctionId, u64>, function, line| {
                let (function, place) = match line {
                    BlockLine::SelfCost { place, .. } => (function, place),
                    BlockLine::Calls { callee, target, place, .. } => {
                        take(first, &files, function, place.file, place.line);
                        (callee, target)
                    }
                    BlockLine::Jump { .. } => return,
                };
                take(first, &files, function, place.file, place.line);
            });
        // Minima, so their order changes nothing.
        for (function, line) in read.into_iter().flatten() {
            let start: &mut Option<u64> = &mut starts[function.index()];
            *start = Some(start.map_or(line, |known| known.min(line)));
        }
    }
    starts
}

fn take(
    first: &mut Map<FunctionId, u64>,
    files: &[FileId],
    function: FunctionId,
    file: FileId,
    line: Option<u64>,
) {
    let Some(line) = line.filter(|&line| line > 0) else { return };
    if files.get(function.index()) == Some(&file) {
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
