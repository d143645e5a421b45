//! The chains on the lines of a profile without addresses.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::rc::Rc;

use gristmill_code::{Binary, Syntax};
use gristmill_format::FunctionName;
use gristmill_profile::inlining::{AskedFunction, AskedObject, ObjectFrames, PositionFrames, ProgramState};

use super::chains::{Chains, Found, frames_at};
use crate::programs::DecodableBytes;

/// The share of lines that the program must have, in percent, of functions whose names it has. Below it, it is not known to be
/// the same build; nor if most lines are in functions whose names it does not have.
const MIN_AGREEING_PERCENT: usize = 99;

/// The names that Callgrind gives to code without a name.
const UNNAMED: [&[u8]; 3] = [b"???", b"(below main)", b"(unknown)"];

/// A line of a function: the last segment of its file's path, and its number.
type LineKey = (SegmentId, u64);

/// The chains of the instructions on each line, with their counts.
type Lines = HashMap<LineKey, BTreeMap<Found, u64>>;

/// Finds the chains of all positions, unless the program is another one.
pub(super) fn frames(binary: &Binary, object: &AskedObject<'_>) -> Result<ObjectFrames, ProgramState> {
    let ranges = ranges(binary, object);
    let mut reading = Reading::new(binary);
    let mut positions = Vec::with_capacity(object.functions.len());
    let mut users: HashMap<Vec<u8>, usize> = HashMap::new();
    object.functions.iter().for_each(|function| *users.entry(key(base(function))).or_default() += 1);
    // The lines of functions that differ in their level only.
    let mut shared: HashMap<Vec<u8>, Rc<Lines>> = HashMap::new();
    let mut compiled = HashMap::new();
    let (mut checked, mut agreeing, mut unnamed) = (0, 0, 0);
    for function in &object.functions {
        let key = key(base(function));
        let of_name = ranges.get(&key);
        for symbol in of_name.into_iter().flat_map(|of_name| &of_name.symbols) {
            compiled.entry(symbol.clone()).or_insert(function.id);
        }
        let lines = shared.get(&key).cloned().unwrap_or_else(|| {
            let lines = Rc::new(reading.lines(of_name.map_or(&[], |of_name| &of_name.ranges)));
            if users.get(&key).is_some_and(|&users| users > 1) {
                shared.insert(key, Rc::clone(&lines));
            }
            lines
        });
        let is_known = of_name.is_some_and(|of_name| !of_name.ranges.is_empty());
        let is_named = !UNNAMED.contains(&base(function)) && !function.name.starts_with(b"0x");
        let mut at = |position: &gristmill_profile::inlining::AskedPosition<'_>| {
            let line = position.line.filter(|&line| line > 0)?;
            let found = lines.get(&(reading.segments.id(position.file), line));
            // Routines of an assembler jump into each other, so a line may be in another one.
            if is_named && !is_assembler(position.file) {
                // Demanglers spell some names differently: such a name proves nothing.
                unnamed += usize::from(!is_known);
                checked += usize::from(is_known);
                agreeing += usize::from(found.is_some());
            }
            found
        };
        positions.push(function.positions.iter().map(|position| answer(at(position))).collect());
    }
    if checked + unnamed == 0 {
        return Err(ProgramState::Unverified);
    }
    if unnamed > checked || agreeing * 100 < checked * MIN_AGREEING_PERCENT {
        return Err(ProgramState::OtherLines);
    }
    Ok(reading.chains.finish(&compiled, positions))
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

/// The reader of the code of functions.
struct Reading<'b> {
    binary: &'b Binary,
    chains: Chains,
    segments: Segments,
    decodable: DecodableBytes,
}

impl<'b> Reading<'b> {
    fn new(binary: &'b Binary) -> Self {
        let decodable = DecodableBytes::new(binary);
        Reading { binary, chains: Chains::default(), segments: Segments::default(), decodable }
    }

    /// The chains of all instructions of ranges, which are sorted.
    fn lines(&mut self, ranges: &[Range<u64>]) -> Lines {
        let mut lines = Lines::new();
        let mut end = 0;
        for range in ranges {
            // No instruction counts twice.
            let range = range.start.max(end)..range.end;
            let byte_count = range.end.saturating_sub(range.start);
            if !self.decodable.has(byte_count) {
                break;
            }
            if byte_count > 0 {
                (self.decodable, end) = (self.decodable.without(byte_count), range.end);
                self.read(range, &mut lines);
            }
        }
        lines
    }

    /// Takes note of the chains of all instructions of a range.
    fn read(&mut self, range: Range<u64>, lines: &mut Lines) {
        // Without a decoder nothing is known about its lines.
        let Ok(instructions) = self.binary.instructions(range, Syntax::default()) else { return };
        for instruction in instructions {
            let (frames, source) = frames_at(self.binary, instruction.address());
            let Some(source) = source else { continue };
            let (Some(file), Some(line)) = (&source.file, source.line) else { continue };
            let key = (self.segments.id(file.as_bytes()), u64::from(line));
            if let Some(found) = self.chains.add(&frames, Some(&source)) {
                *lines.entry(key).or_default().entry(found).or_default() += 1;
            }
        }
    }
}

/// The last segment of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct SegmentId(usize);

/// The last segments of paths.
#[derive(Default)]
struct Segments {
    known: HashMap<Vec<u8>, SegmentId>,
    /// The address and length of the last path, and its segment. Neighbours usually share it.
    last: Option<((usize, usize), SegmentId)>,
}

impl Segments {
    /// The segment of a path, which stays where it is: both debug information and profile keep theirs.
    fn id(&mut self, path: &[u8]) -> SegmentId {
        let identity = (path.as_ptr().addr(), path.len());
        if let Some((_, id)) = self.last.filter(|(last, _)| *last == identity) {
            return id;
        }
        let next = SegmentId(self.known.len());
        let id = *self.known.entry(last_segment(path).to_vec()).or_insert(next);
        self.last = Some((identity, id));
        id
    }
}

/// The ranges of a function, sorted, and its names in the program.
#[derive(Default)]
struct Symbols {
    ranges: Vec<Range<u64>>,
    symbols: Vec<Vec<u8>>,
}

/// The ranges of the functions of the profile, by the [key](key()) of their name.
fn ranges(binary: &Binary, object: &AskedObject<'_>) -> BTreeMap<Vec<u8>, Symbols> {
    let mut ranges: BTreeMap<Vec<u8>, Symbols> =
        object.functions.iter().map(|function| (key(base(function)), Symbols::default())).collect();
    for function in binary.functions() {
        for alias in binary.aliases(function.range().start) {
            let Some(raw) = alias.raw_name() else { continue };
            let names = [Some(key(raw)), alias.readable_name().map(|name| key(name.as_bytes()))];
            for name in names.into_iter().flatten() {
                if let Some(known) = ranges.get_mut(&name) {
                    known.ranges.push(alias.range());
                    known.symbols.push(raw.to_vec());
                }
            }
        }
    }
    for known in ranges.values_mut() {
        known.ranges.sort_unstable_by_key(|range| (range.start, range.end));
        known.ranges.dedup();
        known.symbols.sort_unstable();
        known.symbols.dedup();
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
