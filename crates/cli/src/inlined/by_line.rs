//! The chains on the lines of a profile without addresses.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use gristmill_code::{Binary, Syntax};
use gristmill_format::FunctionName;
use gristmill_profile::inlining::{AskedFunction, AskedObject, ObjectFrames, PositionFrames, ProgramState};

use super::chains::{Chains, Found, frames_at};

/// The share of lines that the program must have, in percent. Below it, it is not the same build.
const MIN_AGREEING_PERCENT: usize = 99;

/// The names that Callgrind gives to code without a name.
const UNNAMED: [&[u8]; 3] = [b"???", b"(below main)", b"(unknown)"];

/// A line of a function: the last segment of its file's path, and its number.
type LineKey = (Vec<u8>, u64);

/// The chains of the instructions on each line, with their counts.
type Lines = HashMap<LineKey, BTreeMap<Found, u64>>;

/// Finds the chains of all positions, unless the program is another one.
pub(super) fn frames(binary: &Binary, object: &AskedObject<'_>) -> Result<ObjectFrames, ProgramState> {
    let ranges = ranges(binary, object);
    let mut chains = Chains::default();
    let mut positions = Vec::with_capacity(object.functions.len());
    let mut compiled = HashMap::new();
    let (mut checked, mut agreeing) = (0, 0);
    for function in &object.functions {
        let mut lines = Lines::new();
        for (range, symbol) in ranges.get(&key(base(function))).into_iter().flatten() {
            read(binary, range, &mut chains, &mut lines);
            compiled.entry(symbol.clone()).or_insert(function.id);
        }
        let is_named = !UNNAMED.contains(&base(function)) && !function.name.starts_with(b"0x");
        let mut at = |position: &gristmill_profile::inlining::AskedPosition<'_>| {
            let line = position.line.filter(|&line| line > 0)?;
            let found = lines.get(&(last_segment(position.file).to_vec(), line));
            // Routines of an assembler jump into each other, so a line may be in another one.
            if is_named && !is_assembler(position.file) {
                checked += 1;
                agreeing += usize::from(found.is_some());
            }
            found
        };
        positions.push(function.positions.iter().map(|position| answer(at(position))).collect());
    }
    if checked == 0 {
        return Err(ProgramState::Unverified);
    }
    if agreeing * 100 < checked * MIN_AGREEING_PERCENT {
        return Err(ProgramState::OtherBuild);
    }
    Ok(chains.finish(&compiled, positions))
}

fn answer(found: Option<&BTreeMap<Found, u64>>) -> PositionFrames {
    let Some(found) = found else { return PositionFrames::Unknown };
    let file = found.keys().next().and_then(|found| found.file);
    let mut chains: Vec<(usize, u64)> = Vec::new();
    for (found, count) in found {
        match chains.last_mut() {
            Some((last, all)) if *last == found.chain => *all += count,
            _ => chains.push((found.chain, *count)),
        }
    }
    match chains[..] {
        [(chain, _)] => PositionFrames::Exact { chain, file },
        _ => PositionFrames::Several { chains, file },
    }
}

/// Takes note of the chains of all instructions of a range.
fn read(binary: &Binary, range: &Range<u64>, chains: &mut Chains, lines: &mut Lines) {
    // Without a decoder nothing is known about its lines.
    let Ok(instructions) = binary.instructions(range.clone(), Syntax::default()) else { return };
    for instruction in instructions {
        let (frames, source) = frames_at(binary, instruction.address());
        let Some(source) = source else { continue };
        let (Some(file), Some(line)) = (&source.file, source.line) else { continue };
        let key = (last_segment(file.as_bytes()).to_vec(), u64::from(line));
        if let Some(found) = chains.add(&frames, Some(&source)) {
            *lines.entry(key).or_default().entry(found).or_default() += 1;
        }
    }
}

/// The ranges of functions by the [key](key()) of their name, each with the name in the program.
type Ranges = HashMap<Vec<u8>, Vec<(Range<u64>, Vec<u8>)>>;

/// The ranges of the functions of the profile.
fn ranges(binary: &Binary, object: &AskedObject<'_>) -> Ranges {
    let mut ranges: Ranges =
        object.functions.iter().map(|function| (key(base(function)), Vec::new())).collect();
    for function in binary.functions() {
        for alias in binary.aliases(function.range().start) {
            let Some(raw) = alias.raw_name() else { continue };
            let names = [Some(key(raw)), alias.readable_name().map(|name| key(name.as_bytes()))];
            for name in names.into_iter().flatten() {
                let Some(known) = ranges.get_mut(&name) else { continue };
                if known.iter().all(|(range, _)| *range != alias.range()) {
                    known.push((alias.range(), raw.to_vec()));
                }
            }
        }
    }
    ranges
}

/// The name of a function without level and callers.
fn base<'p>(function: &AskedFunction<'p>) -> &'p [u8] {
    FunctionName::parse(function.name).base()
}

/// The text that equal names have in common: demanglers put blanks in different places.
fn key(name: &[u8]) -> Vec<u8> {
    let name = name.split(|&byte| byte == b'@').next().unwrap_or(name);
    name.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect()
}

fn is_assembler(path: &[u8]) -> bool {
    [&b".S"[..], b".s", b".asm"].iter().any(|end| path.ends_with(end))
}

fn last_segment(path: &[u8]) -> &[u8] {
    path.rsplit(|&byte| byte == b'/' || byte == b'\\').next().unwrap_or_default()
}
