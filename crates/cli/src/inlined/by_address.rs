//! The chains at the addresses of a profile.

use std::collections::{HashMap, HashSet};
use std::thread;

use gristmill_code::{Binary, Matching, ProfileLine};
use gristmill_profile::inlining::{AskedFunction, AskedObject, ObjectFrames, PositionFrames, ProgramState};
use gristmill_profile::threads::cores;

use super::chains::{Chains, Found, frames_at};

/// Positions that are worth a thread.
const MIN_POSITIONS_PER_THREAD: usize = 1 << 12;

/// Finds the chains of all positions, unless the program is another one. A function that is another one is left as it is.
pub(super) fn frames(binary: &Binary, object: &AskedObject<'_>) -> Result<ObjectFrames, ProgramState> {
    let matching = Matching::new(binary, &profile_lines(object)).map_err(|_| ProgramState::Unreadable)?;
    if !matching.agreement().is_known() {
        return Err(ProgramState::Unverified);
    }
    if !matching.agreement().is_same_build() {
        return Err(ProgramState::OtherBuild);
    }
    let mut chains = Chains::default();
    let mut positions = Vec::with_capacity(object.functions.len());
    for (of_run, answers) in in_runs(object, |functions| read(binary, &matching, functions)) {
        let renumbered = chains.append(of_run);
        let exact = |found: Option<Found>| match found.map(&renumbered) {
            Some(Found { chain, file }) => PositionFrames::Exact { chain, file },
            None => PositionFrames::Unknown,
        };
        positions.extend(answers.into_iter().map(|answers| answers.into_iter().map(exact).collect()));
    }
    Ok(chains.finish(&compiled(binary, &matching, object), positions))
}

type Answers = Vec<Vec<Option<Found>>>;

/// Reads runs of functions on several threads. The results are in the order of the functions, and equal functions first come in
/// the same order with any number of threads.
fn in_runs<'o, 'p>(
    object: &'o AskedObject<'p>,
    read: impl Fn(&'o [AskedFunction<'p>]) -> (Chains, Answers) + Sync,
) -> Vec<(Chains, Answers)> {
    let functions = &object.functions[..];
    let all: usize = functions.iter().map(|function| function.positions.len()).sum();
    let threads = cores().min(all / MIN_POSITIONS_PER_THREAD).max(1);
    let share = all.div_ceil(threads).max(1);
    let mut runs = Vec::new();
    let (mut start, mut count) = (0, 0);
    for (index, function) in functions.iter().enumerate() {
        count += function.positions.len();
        if count >= share {
            runs.push(&functions[start..=index]);
            (start, count) = (index + 1, 0);
        }
    }
    runs.push(&functions[start..]);
    let mut results: Vec<Option<(Chains, Answers)>> = runs.iter().map(|_| None).collect();
    thread::scope(|scope| {
        for (run, result) in runs.iter().zip(&mut results).skip(1) {
            let read = &read;
            // Where no thread can be started, this one does the work below.
            let _ = thread::Builder::new().spawn_scoped(scope, move || *result = Some(read(run)));
        }
    });
    let done = results.into_iter().zip(runs);
    done.map(|(result, run)| result.unwrap_or_else(|| read(run))).collect()
}

fn read(binary: &Binary, matching: &Matching, functions: &[AskedFunction<'_>]) -> (Chains, Answers) {
    let mut chains = Chains::default();
    let answers = functions.iter().map(|function| {
        if is_changed(binary, matching, function) {
            return vec![None; function.positions.len()];
        }
        let mut last: Option<(u64, Option<Found>)> = None;
        let at = |position: &gristmill_profile::inlining::AskedPosition<'_>| {
            let address = position.address?;
            if let Some((known, found)) = last.filter(|(known, _)| *known == address) {
                debug_assert_eq!(known, address);
                return found;
            }
            let (frames, line) = frames_at(binary, matching.address(address));
            let found = chains.add(&frames, line.as_ref());
            last = Some((address, found));
            found
        };
        function.positions.iter().map(at).collect()
    });
    let answers = answers.collect();
    (chains, answers)
}

/// Returns `true` if a function of the program is not the one that was recorded, though the program as a whole is.
fn is_changed(binary: &Binary, matching: &Matching, function: &AskedFunction<'_>) -> bool {
    if matching.agreement().is_complete() {
        return false;
    }
    let lines: Vec<ProfileLine<'_>> = lines_of(function).collect();
    // Debug information that is damaged says nothing about the function.
    matching.agreement_of(binary, &lines).map_or(true, |agreement| agreement.is_contradicted())
}

/// The lines of an object, to compare the program with.
fn profile_lines<'p>(object: &AskedObject<'p>) -> Vec<ProfileLine<'p>> {
    object.functions.iter().flat_map(lines_of).collect()
}

fn lines_of<'p>(function: &AskedFunction<'p>) -> impl Iterator<Item = ProfileLine<'p>> {
    let name = function.name;
    function.positions.iter().filter_map(move |position| {
        Some(ProfileLine { address: position.address?, function: name, line: position.line })
    })
}

/// The functions of the profile by their names in the program.
fn compiled(
    binary: &Binary,
    matching: &Matching,
    object: &AskedObject<'_>,
) -> HashMap<Vec<u8>, gristmill_profile::FunctionId> {
    let mut functions = HashMap::new();
    let mut seen = HashSet::new();
    for function in &object.functions {
        let Some(address) = function.positions.iter().find_map(|position| position.address) else { continue };
        let Some(symbol) = binary.function(matching.address(address)) else { continue };
        let start = symbol.range().start;
        if !seen.insert(start) {
            continue;
        }
        for alias in binary.aliases(start) {
            if let Some(name) = alias.raw_name() {
                functions.entry(name.to_vec()).or_insert(function.id);
            }
        }
    }
    functions
}
