//! Repair over whole files: the output is strict, means the same, and is in no need of repair.

#![cfg(test)]

use std::collections::BTreeMap;
use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use gristmill_format::{
    Cost, CostRole, ErrorKind, Header, Line, Lint, Name, NameKey, NameSpace, NameStyle, PositionStyle,
    Reader, ReadingMode, Rewrite, repair,
};

// Not all of it is used here.
#[allow(dead_code)]
#[path = "support/files.rs"]
mod files;

use files::{File, files_outside};

/// Self costs by object, file, function and event type; calls by caller, callee and event type, the count last. The
/// names of a key are lines, which no name divides.
#[derive(Debug, Default, PartialEq)]
struct Meaning {
    own: BTreeMap<Vec<u8>, Vec<Cost>>,
    calls: BTreeMap<Vec<u8>, Vec<Cost>>,
}

/// Adds a name to a key.
fn push(key: &mut Vec<u8>, reader: &Reader<'_>, space: NameSpace, name: Option<Name<'_>>) {
    match name {
        None => key.extend(b"???"),
        Some(Name { text: None, id, .. }) => key.extend(format!("??? ({})", id.unwrap()).bytes()),
        Some(name) => {
            let expanded = reader.expand(space, &name);
            let text = expanded.as_deref().unwrap_or(name.bytes());
            let end = text.iter().rposition(|&byte| byte != b'\r').map_or(0, |end| end + 1);
            key.extend_from_slice(&text[..end]);
        }
    }
    key.push(b'\n');
}

/// The number of event types of each part. A part without any has those of the part before, or else of the next.
fn event_types(file: &[u8]) -> Vec<usize> {
    let mut types: Vec<Option<usize>> = Vec::new();
    for record in Reader::new(file).flatten() {
        types.resize(record.part as usize + 1, None);
        if let Line::Header(Header::Events(words)) = record.line
            && !words.is_empty()
        {
            types[record.part as usize] = Some(words.len());
        }
    }
    let mut last = types.iter().flatten().next().copied().unwrap_or(0);
    types.iter().map(|own| *own.as_ref().inspect(|own| last = **own).unwrap_or(&last)).collect()
}

fn meaning(file: &[u8]) -> Meaning {
    let types = event_types(file);
    let mut meaning = Meaning::default();
    let (mut part, mut has_function, mut count) = (0, false, 0);
    let mut reader = Reader::new(file);
    while let Some(record) = reader.next() {
        let Ok(record) = record else { continue };
        if record.part != part {
            (part, has_function) = (record.part, false);
        }
        let context = reader.context();
        let [object, file, function] = NameSpace::ALL;
        match record.line {
            Line::Name(NameKey::Fn, _) => has_function = true,
            Line::Calls(calls) => count = calls.count.max(0),
            Line::Cost(line) => {
                let mut costs = vec![0; types[part as usize]];
                let _ = line.costs.decode(&mut costs);
                let is_call = line.role == CostRole::Call && context.callee().is_some();
                let is_self = line.role == CostRole::SelfCost && costs.iter().any(|&cost| cost > 0);
                if !is_call && !is_self {
                    continue;
                }
                let mut key = Vec::new();
                push(&mut key, &reader, object, context.object());
                push(&mut key, &reader, file, context.file());
                push(&mut key, &reader, function, context.function().filter(|_| has_function));
                if is_call {
                    push(&mut key, &reader, object, context.callee_object());
                    push(&mut key, &reader, file, context.callee_file());
                    push(&mut key, &reader, function, context.callee());
                    costs.insert(0, count);
                }
                let sums = if is_call { &mut meaning.calls } else { &mut meaning.own };
                let entry = sums.entry(key).or_default();
                entry.resize(entry.len().max(costs.len()), 0);
                entry.iter_mut().zip(&costs).for_each(|(sum, cost)| *sum += (*cost).max(0));
            }
            _ => {}
        }
    }
    meaning
}

/// The items that one has and the other does not.
fn differing<'m>(one: &'m Meaning, other: &Meaning) -> Vec<(String, &'m Vec<Cost>)> {
    let own = one.own.iter().filter(|(key, costs)| other.own.get(*key) != Some(costs));
    let calls = one.calls.iter().filter(|(key, costs)| other.calls.get(*key) != Some(costs));
    own.chain(calls).take(5).map(|(key, costs)| (key.escape_ascii().to_string(), costs)).collect()
}

/// Checks all that holds for every file; false when it cannot be repaired.
fn check(name: &str, file: &[u8], before: &Meaning, options: &Rewrite) -> bool {
    let repaired = match repair(file, options, Vec::new()) {
        Ok(repaired) => repaired,
        Err(error) => {
            let kind = error.kind();
            let is_known =
                matches!(kind, ErrorKind::NotAProfile(_) | ErrorKind::Grammar(_) | ErrorKind::NothingLeft);
            assert!(is_known, "{name}: {error}");
            return false;
        }
    };
    let shown = || String::from_utf8_lossy(&repaired.sink[..repaired.sink.len().min(3000)]).into_owned();
    // Without damage the jumps keep the form that Callgrind writes, which the published grammar does not have.
    let is_unchanged = repaired.changes.is_empty() && repaired.sink == file;
    if let Some(Err(error)) =
        Reader::with_mode(&repaired.sink, ReadingMode::Strict).find(|record| record.is_err())
        && !is_unchanged
    {
        panic!("{name}: {error}\n{}", shown());
    }
    if !is_unchanged && Reader::with_mode(file, ReadingMode::Strict).any(|record| record.is_err()) {
        assert!(!repaired.changes.is_empty(), "{name}: repaired, but nothing said");
    }
    let after = meaning(&repaired.sink);
    if *before != after {
        let difference = [differing(before, &after), differing(&after, before)];
        panic!("{name}: {difference:#?}\n{:#?}\n{}", repaired.changes, shown());
    }
    let again = repair(&repaired.sink, options, Vec::new())
        .unwrap_or_else(|error| panic!("{name}: {error}\n{}", shown()));
    if again.sink != repaired.sink {
        panic!("{name}: not idempotent\n{}\n---\n{}", shown(), String::from_utf8_lossy(&again.sink));
    }
    assert_eq!(again.changes, [], "{name}\n{}", shown());
    true
}

fn all_options() -> Vec<Rewrite> {
    vec![
        Rewrite::default(),
        Rewrite { names: NameStyle::Plain, positions: PositionStyle::Absolute, ..Rewrite::default() },
        Rewrite {
            names: NameStyle::Compressed,
            drop_jumps: true,
            drop_instr: true,
            drop_comments: true,
            ..Rewrite::default()
        },
    ]
}

/// Larger files are repaired in one way each, in turn: a debug build takes a second or so for each megabyte and way.
const LARGE: usize = 200 << 10;

/// Checks one file in some or all ways; gives how many ways there were.
fn check_file(index: usize, profile: &File) -> usize {
    let mut ways = all_options();
    if profile.bytes.len() > LARGE {
        ways = vec![ways.swap_remove(index % ways.len())];
    }
    let before = meaning(&profile.bytes);
    let repaired =
        ways.iter().filter(|options| check(&profile.path, &profile.bytes, &before, options)).count();
    // Of several threads one may have done nothing, and its file says nothing.
    let has_events = profile.bytes.windows(7).any(|text| text == b"events:");
    assert!(!profile.is_own || !has_events || repaired == ways.len(), "{}: refused", profile.path);
    repaired
}

/// Lint rules about content that the grammar allows.
const ABOUT_SOUND_FILES: [&str; 13] = [
    "ambiguous-name",
    "call-exceeds-total",
    "callee-without-block",
    "fewer-costs",
    "huge-line-number",
    "inclusive-mismatch",
    "name-number-zero",
    "no-costs",
    "parenthesis-name",
    "recursion",
    "summary-above-sum",
    "summary-below-sum",
    "zero-count",
];

#[test]
fn sound_files_stay_as_they_are() {
    let mut with_jumps = 0;
    for File { path, bytes, .. } in files_outside(&["src"]) {
        let mut is_sound = true;
        Lint::default().run(&bytes, |finding| is_sound &= ABOUT_SOUND_FILES.contains(&finding.rule.name));
        if !is_sound {
            continue;
        }
        let repaired = repair(&bytes, &Rewrite::default(), Vec::new()).unwrap();
        assert_eq!(repaired.changes, [], "{path}");
        assert!(repaired.sink == bytes, "{path}");
        let is_jump = |line: &[u8]| line.starts_with(b"jcnd=") || line.starts_with(b"jfi=");
        with_jumps += usize::from(bytes.split(|&byte| byte == b'\n').any(is_jump));
    }
    assert!(with_jumps > 0);
}

#[test]
fn every_profile_is_repaired() {
    let files = files_outside(&["src"]);
    let next = AtomicUsize::new(0);
    let work = || {
        let mut repaired = 0;
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(profile) = files.get(index) else { return repaired };
            repaired += check_file(index, profile);
        }
    };
    let repaired: usize = thread::scope(|scope| {
        let workers = thread::available_parallelism().map_or(1, NonZero::get);
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|worker| worker.join().unwrap_or_else(|panic| resume_unwind(panic))).sum()
    });
    assert!(repaired > files.len(), "{repaired} repairs of {} files", files.len());
}
