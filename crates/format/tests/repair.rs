//! Repair over whole files: the output is strict, means the same, and is in no need of repair.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use gristmill_format::{
    Cost, CostRole, ErrorKind, Header, Line, Name, NameKey, NameSpace, NameStyle, PositionStyle, Reader,
    Rewrite, Stance, repair,
};

/// Self costs by object, file, function and event type; calls by caller, callee and event type, the count last.
#[derive(Debug, Default, PartialEq)]
struct Meaning {
    own: BTreeMap<Vec<String>, Vec<Cost>>,
    calls: BTreeMap<Vec<String>, Vec<Cost>>,
}

fn text<'a>(reader: &Reader<'a>, space: NameSpace, name: Option<Name<'a>>) -> String {
    match name {
        None => "???".to_owned(),
        Some(Name { text: None, id, .. }) => format!("??? ({})", id.unwrap()),
        Some(name) => {
            let expanded = reader.expand(space, &name);
            let text = expanded.as_deref().unwrap_or(name.bytes());
            let end = text.iter().rposition(|&byte| byte != b'\r').map_or(0, |end| end + 1);
            text[..end].escape_ascii().to_string()
        }
    }
}

/// How many event types each part has. One without takes over those of the part before, or else of the next.
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
        let text = |space, name| text(&reader, space, name);
        let caller = if has_function { text(function, context.function()) } else { "???".to_owned() };
        match record.line {
            Line::Name(NameKey::Fn, _) => has_function = true,
            Line::Calls(calls) => count = calls.count.max(0),
            Line::Cost(line) => {
                let mut costs = vec![0; types[part as usize]];
                let _ = line.costs.decode(&mut costs);
                let caller = [text(object, context.object()), text(file, context.file()), caller];
                let add = |entry: &mut Vec<Cost>, costs: &[Cost]| {
                    entry.resize(entry.len().max(costs.len()), 0);
                    entry.iter_mut().zip(costs).for_each(|(sum, cost)| *sum += (*cost).max(0));
                };
                match line.role {
                    CostRole::SelfCost if costs.iter().any(|&cost| cost > 0) => {
                        add(meaning.own.entry(caller.to_vec()).or_default(), &costs);
                    }
                    CostRole::Call => {
                        let Some(callee) = context.callee() else { continue };
                        let callee = [
                            text(object, context.callee_object()),
                            text(file, context.callee_file()),
                            text(function, Some(callee)),
                        ];
                        costs.insert(0, count);
                        add(meaning.calls.entry([caller, callee].concat()).or_default(), &costs);
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }
    meaning
}

/// What the one has and the other has not.
fn differing<'m>(one: &'m Meaning, other: &Meaning) -> Vec<(&'m Vec<String>, &'m Vec<Cost>)> {
    let own = one.own.iter().filter(|(key, costs)| other.own.get(*key) != Some(costs));
    let calls = one.calls.iter().filter(|(key, costs)| other.calls.get(*key) != Some(costs));
    own.chain(calls).take(5).collect()
}

/// Checks all that holds for every file; false when it cannot be repaired.
fn check(name: &str, file: &[u8], options: &Rewrite) -> bool {
    let repaired = match repair(file, options, Vec::new()) {
        Ok(repaired) => repaired,
        Err(error) => {
            let kind = error.kind();
            assert!(matches!(kind, ErrorKind::NotAProfile(_) | ErrorKind::Grammar(_)), "{name}: {error}");
            return false;
        }
    };
    let shown = || String::from_utf8_lossy(&repaired.sink[..repaired.sink.len().min(3000)]).into_owned();
    if let Some(Err(error)) =
        Reader::with_stance(&repaired.sink, Stance::Strict).find(|record| record.is_err())
    {
        panic!("{name}: {error}\n{}", shown());
    }
    if Reader::with_stance(file, Stance::Strict).any(|record| record.is_err()) {
        assert!(!repaired.changes.is_empty(), "{name}: repaired, but nothing said");
    }
    let (before, after) = (meaning(file), meaning(&repaired.sink));
    if before != after {
        let difference = [differing(&before, &after), differing(&after, &before)];
        panic!("{name}: {difference:#?}\n{:#?}\n{}", repaired.changes, shown());
    }
    let again = repair(&repaired.sink, options, Vec::new()).unwrap();
    if again.sink != repaired.sink {
        panic!("{name}: not idempotent\n{}\n---\n{}", shown(), String::from_utf8_lossy(&again.sink));
    }
    assert_eq!(again.changes, [], "{name}\n{}", shown());
    true
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = folder.read_dir() else { return };
    for entry in entries {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && name != "src" {
            files(&path, found);
        } else if path.is_file() && !matches!(&*name, "MANIFEST.tsv" | "README.md") && !name.ends_with(".gz")
        {
            found.push(path);
        }
    }
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

#[test]
fn every_profile_is_repaired() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    let mut found = Vec::new();
    files(&own, &mut found);
    if let Some(folder) = std::env::var_os("GRISTMILL_CORPUS") {
        files(Path::new(&folder), &mut found);
    }
    found.sort();
    let mut repaired = 0;
    for path in &found {
        let file = std::fs::read(path).unwrap();
        for options in all_options() {
            repaired += usize::from(check(&path.display().to_string(), &file, &options));
        }
    }
    println!("{repaired} of {} files, each three times", found.len());
}
