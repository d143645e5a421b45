//! Expectations of people on the functions of real profiles.
//!
//! With `GRISTMILL_CORPUS=FOLDER` the files there are checked as well.

#![cfg(test)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use gristmill_format::{CostRole, Line, Lint, Name, Reader};
use gristmill_profile::{FileHeader, Profile, Selection, recording_of};

// Not all of it is used here.
#[allow(dead_code)]
#[path = "../../format/tests/support/files.rs"]
mod files;

use files::{File, files_outside, one_in, own_corpus};

fn corpus() -> Vec<File> {
    files_outside(&["src", "malformed", "expected"])
}

fn text(name: Option<Name<'_>>) -> Vec<u8> {
    name.map(|name| name.bytes().to_vec()).unwrap_or_default()
}

/// Self costs by name of the function, added up from the records in the plainest way.
fn plain_self_costs(bytes: &[u8]) -> BTreeMap<Vec<u8>, i128> {
    let mut sums = BTreeMap::new();
    let mut reader = Reader::new(bytes);
    let mut events = 0;
    let mut part = 0;
    while let Some(item) = reader.next() {
        let Ok(record) = item else { continue };
        if record.part != part {
            (part, events) = (record.part, 0);
        }
        match record.line {
            Line::Header(gristmill_format::Header::Events(words)) => events = words.len(),
            Line::Cost(line) if line.role == CostRole::SelfCost => {
                let name = reader.context().function();
                let name = name.and_then(|name| {
                    reader
                        .expand(gristmill_format::NameSpace::Function, &name)
                        .or_else(|| name.text.map(<[u8]>::to_vec))
                });
                let costs =
                    line.costs.iter().take(events).map(|cost| cost.unwrap_or_else(|fault| fault.repaired));
                *sums.entry(name.unwrap_or_default()).or_insert(0) += costs.sum::<i128>();
            }
            _ => {}
        }
    }
    sums
}

#[test]
fn producers_are_those_of_lint() {
    for file in corpus() {
        let expected = Lint::default().run(&file.bytes, |_| {}).producer.kind;
        // What follows the first 64 KiB hardly ever tells more.
        let head = &file.bytes[..file.bytes.len().min(64 << 10)];
        let of_head = Lint::default().run(head, |_| {}).producer.kind;
        assert_eq!(of_head.is_sampled(), expected.is_sampled(), "{}", file.path);
        let profile = Profile::from_bytes(file.bytes);
        assert_eq!(profile.producer(), expected, "{}", file.path);
        assert!(profile.parts().all(|part| part.producer() == expected), "{}", file.path);
    }
}

#[test]
fn self_costs_by_name_agree_with_a_plain_sum() {
    for file in corpus() {
        let profile = Profile::from_bytes(file.bytes.clone());
        let undefined = profile
            .findings()
            .iter()
            .any(|finding| matches!(finding.kind, gristmill_format::ErrorKind::UndefinedName(..)));
        if undefined {
            // Such names are made up here.
            continue;
        }
        let graph = profile.call_graph(&Selection::default());
        let mut sums = BTreeMap::new();
        for id in profile.functions().filter(|&id| profile.function(id).is_defined) {
            let name = profile.function(id).name.to_vec();
            *sums.entry(name).or_insert(0) += graph.self_costs().row(id.index()).iter().sum::<i128>();
        }
        // Costs that wrapped at their producer are restored.
        let mut expected = plain_self_costs(&profile.inputs()[0].bytes);
        // A function with calls alone has no lines that the plain sum sees.
        sums.retain(|name, cost| *cost != 0 || expected.contains_key(name));
        expected.retain(|name, cost| *cost != 0 || sums.contains_key(name));
        assert_eq!(sums, expected, "{}", file.path);
    }
}

#[test]
fn no_function_is_there_twice() {
    for file in corpus() {
        let profile = Profile::from_bytes(file.bytes.clone());
        let mut keys = BTreeSet::new();
        for id in profile.functions() {
            let function = profile.function(id);
            assert!(keys.insert((function.name, function.file, function.object)), "{}", file.path);
        }
    }
}

#[test]
fn a_number_of_callgrind_is_one_function() {
    // So that the rule of identity need not look at numbers.
    for file in corpus() {
        if !file.bytes.windows(20).take(60).any(|window| window.starts_with(b"creator: callgrind-")) {
            continue;
        }
        let mut keys: BTreeMap<(u32, u64), [Vec<u8>; 3]> = BTreeMap::new();
        let mut reader = Reader::new(&file.bytes);
        while let Some(item) = reader.next() {
            let Ok(record) = item else { continue };
            let context = reader.context();
            if let Line::Cost(line) = record.line
                && line.role == CostRole::SelfCost
                && let Some(number) = context.function().and_then(|name| name.id)
            {
                let key = [context.object(), context.function_file(), context.function()].map(text);
                let known = keys.entry((record.part, number)).or_insert_with(|| key.clone());
                assert_eq!(*known, key, "{}", file.path);
            }
        }
    }
}

#[test]
fn callees_of_old_xdebug_and_python_are_found() {
    // In these files nearly every callee has lines of its own, though its file is often left out.
    for (name, alone) in
        [("dialects/xdebug2.txt", 0), ("dialects/xdebug3.txt", 0), ("python/callgrind.out.yappi", 0)]
    {
        let profile = Profile::from_bytes(std::fs::read(own_corpus().join(name)).unwrap());
        let undefined = profile.functions().filter(|&id| !profile.function(id).is_defined).count();
        assert_eq!(undefined, alone, "{name}");
    }
}

#[test]
fn recordings_are_found_by_their_headers() {
    let mut folders: BTreeMap<String, Vec<(String, FileHeader)>> = BTreeMap::new();
    for file in corpus() {
        let path = Path::new(&file.path);
        let folder = path.parent().and_then(Path::to_str).unwrap_or_default().to_owned();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        folders.entry(folder).or_default().push((name, FileHeader::parse(&file.bytes)));
    }
    for (folder, files) in &folders {
        for named in 0..files.len() {
            let found = recording_of(named, files);
            // An empty file stands for the others.
            assert!(found.contains(&named) || files[named].1.is_empty, "{folder} {}", files[named].0);
            // Each file that is found finds the others, except those with the same part and thread.
            for &other in found.iter().filter(|&&other| !files[other].1.is_empty) {
                let processes = (files[other].1.pid, files[named].1.pid);
                assert!(processes.0 == processes.1 || files[named].1.is_empty, "{folder} {}", files[other].0);
            }
        }
    }
}

/// Text of this many pieces, each made from its number.
fn repeated(count: usize, head: &str, piece: impl Fn(usize) -> String) -> Vec<u8> {
    let mut text = head.to_owned();
    (0..count).for_each(|number| text.push_str(&piece(number)));
    text.into_bytes()
}

#[test]
fn size_is_no_obstacle() {
    let many = 100_000 / one_in(5);
    let all = Selection::default();
    let fan = repeated(many, "events: Ir\nfn=(0) main\n1 1\n", |callee| {
        let callee = callee + 1;
        format!("cfn=({callee}) f{callee}\ncalls=1 1\n1 5\n")
    });
    let profile = Profile::from_bytes(fan);
    assert_eq!(profile.call_graph(&all).arcs().len(), many);
    let chain = repeated(many, "events: Ir\n", |caller| {
        format!("fn=({caller}) f{caller}\n1 1\ncfn=({0}) f{0}\ncalls=1 1\n1 5\n", caller + 1)
    });
    let profile = Profile::from_bytes(chain);
    assert_eq!((profile.function_count(), profile.totals(&all)[0]), (many + 1, many as i128));
    // Each block is read alone, in a file whose lines end as on a Macintosh of old.
    let blocks = repeated(many, "events: Ir\r", |function| format!("fn=({function}) f{function}\r1 1\r"));
    let profile = Profile::from_bytes(blocks);
    let mut invocations = profile.invocations(profile.parts().next().unwrap().id());
    let mut sum = 0;
    while let Some(block) = invocations.next_block() {
        sum += block.self_costs[0];
    }
    assert_eq!(sum, many as i128);
    let parts = repeated(many, "", |part| format!("part: {part}\nevents: Ir\nfn=(1) f\n1 2\n"));
    let profile = Profile::from_bytes(parts);
    assert_eq!((profile.part_count(), profile.totals(&all)[0]), (many, 2 * many as i128));
    let events = repeated(many, "events:", |event| format!(" e{event}"));
    let lines = repeated(1000, "\n", |function| format!("fn=f{function}\n1 1\n"));
    let profile = Profile::from_bytes([events, lines].concat());
    assert_eq!((profile.event_count(), profile.totals(&all)[0]), (many, 1000));
}
