//! One program that ran twice, with other arguments.

use std::collections::BTreeSet;

use super::Side;
use super::raw::Run;
use crate::selection::Selection;

/// Returns `true` if both sides ran programs of one name with other arguments.
pub(super) fn has_other_arguments(runs: &[Run<'_>], selection: &Selection) -> bool {
    let commands = Side::ALL.map(|side| {
        let run = runs.iter().find(|run| run.side == side)?;
        let part = run.profile.selected(selection).next()?;
        Some(part.command()?.trim_ascii())
    });
    let [Some(base), Some(new)] = commands else { return false };
    base != new && program(base) == program(new)
}

/// Returns `true` if each object that both sides have under one name has the same path.
pub(super) fn has_same_objects(runs: &[Run<'_>]) -> bool {
    let [base, new] = Side::ALL.map(|side| objects(runs, side));
    let names = |objects: &BTreeSet<&[u8]>| -> BTreeSet<Vec<u8>> {
        objects.iter().map(|path| file_name(path).to_vec()).collect()
    };
    let (of_base, of_new) = (names(&base), names(&new));
    let is_elsewhere = |path: &[u8]| of_base.contains(file_name(path)) && of_new.contains(file_name(path));
    !base.symmetric_difference(&new).any(|path| is_elsewhere(path))
}

/// The objects of all runs of a side that have functions.
fn objects<'p>(runs: &[Run<'p>], side: Side) -> BTreeSet<&'p [u8]> {
    let of_side = runs.iter().filter(|run| run.side == side).map(|run| run.profile);
    let ids = of_side.map(|profile| {
        let used: BTreeSet<_> =
            profile.functions().map(|function| profile.function(function).object).collect();
        used.into_iter().map(|object| profile.object(object))
    });
    ids.flatten().collect()
}

/// Returns the file names of the programs that the runs of each side ran.
pub(super) fn programs<'p>(runs: &[Run<'p>], selection: &Selection) -> [BTreeSet<&'p [u8]>; 2] {
    Side::ALL.map(|side| {
        let parts = runs.iter().filter(|run| run.side == side).flat_map(|run| run.profile.parts());
        let parts = parts.filter(|part| selection.includes(part.number(), part.thread(), part.pid()));
        parts.filter_map(|part| Some(file_name(program(part.command()?)))).collect()
    })
}

/// Returns the program of a command.
fn program(command: &[u8]) -> &[u8] {
    command.trim_ascii().split(|&byte| byte == b' ').next().unwrap_or_default()
}

/// Returns the name of a file without its directories, since each build can have its own.
pub(crate) fn file_name(path: &[u8]) -> &[u8] {
    path.rsplit(|&byte| byte == b'/').next().unwrap_or(path)
}
