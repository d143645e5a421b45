//! `gristmill functions --inclusive kcachegrind --format json` has the numbers of an independent model of KCachegrind, for
//! every file of the corpus, with cycles and without.
//!
//! With `GRISTMILL_CORPUS=FOLDER` the files there that the model can read are compared as well.

// Tests may panic: that is how they fail. Clippy knows that of test functions, but not of what they share.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![cfg(test)]

mod harness;
#[path = "../../profile/tests/kcachegrind/model.rs"]
#[allow(dead_code)]
mod model;
#[path = "../../profile/tests/kcachegrind/read.rs"]
#[allow(dead_code)]
mod read;
#[path = "../../format/tests/support/words.rs"]
mod words;

use std::collections::BTreeMap;
use std::path::Path;

use gristmill_profile::Profile;
use gristmill_profile::symbol::Symbol;
use serde_json::Value;

use harness::{code, corpus, json, other_corpus, run, text, whole};
use model::{Model, Row};

/// Object, file and name. Functions that differ only in the hash of a mangled name are shown alike.
type Key = (String, String, String);
type Rows = BTreeMap<Key, Vec<Row>>;

fn rows(all: impl Iterator<Item = (Key, Row)>) -> Rows {
    let mut rows = Rows::new();
    for (key, row) in all {
        rows.entry(key).or_default().push(row);
    }
    let order = |row: &Row| (row.self_cost.clone(), row.inclusive.clone(), row.called);
    rows.values_mut().for_each(|alike| alike.sort_by_key(order));
    rows
}

fn costs(of: &Value, events: &[String]) -> Vec<i128> {
    events.iter().map(|event| whole(&of[event])).collect()
}

fn shown(path: &Path, events: &[String], more: &[&str]) -> Option<Rows> {
    let arguments = ["functions", "--format", "json", "--inclusive", "kcachegrind", text(path)];
    let output = run(&[&arguments[..], more].concat());
    if code(&output) != 0 {
        return None;
    }
    let answer = json(&output);
    Some(rows(answer["functions"].as_array().unwrap().iter().map(|row| {
        let field = |name: &str| row[name].as_str().unwrap().to_owned();
        let costs = |name: &str| costs(&row[name], events);
        let key = (field("object"), field("file"), field("name"));
        (key, Row { self_cost: costs("self"), inclusive: costs("inclusive"), called: whole(&row["calls"]) })
    })))
}

/// The model has a character for each byte.
fn bytes_of(text: &str) -> Vec<u8> {
    text.chars().map(|character| u8::try_from(u32::from(character)).unwrap()).collect()
}

/// Compares a file. Returns `true` if the model can read it.
fn compare(path: &Path) -> bool {
    // Costs below 0 that lost their sign are restored in the profile's copy of a file.
    let profile = Profile::from_bytes(std::fs::read(path).unwrap());
    let model = Model::of(&[&profile.inputs()[0].bytes[..]]);
    if !model.odd.is_empty() || model.functions.is_empty() || model.events.is_empty() {
        return false;
    }
    let active: Vec<usize> = (0..model.parts.len()).collect();
    let cycles = model.cycles();
    for (cycles, more) in [(&cycles[..], &[][..]), (&[][..], &["--no-cycles"][..])] {
        let expected = rows(model.rows(&active, cycles).0.into_iter().map(|(id, row)| {
            let function = &model.functions[&id];
            let [object, file, name] =
                [&function.object, &function.file, &function.name].map(|text| bytes_of(text));
            let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            ((lossy(&object), lossy(&file), Symbol::parse(&name).shown()), row)
        }));
        let Some(found) = shown(path, &model.events, more) else { return false };
        assert_eq!(found.len(), expected.len(), "{}: functions", path.display());
        for (key, alike) in &expected {
            assert_eq!(found.get(key), Some(alike), "{} {more:?}: {key:?}", path.display());
        }
    }
    true
}

#[test]
fn own_corpus_agrees() {
    let judged = corpus().iter().filter(|path| compare(path)).count();
    assert!(judged > 60, "{judged}");
}

#[test]
fn outside_corpus_agrees() {
    let Some(folder) = other_corpus() else { return };
    let manifest = std::fs::read_to_string(folder.join("MANIFEST.tsv")).unwrap();
    let names = manifest.lines().skip(1).filter_map(|line| line.split('\t').next());
    let paths = names.map(|name| folder.join(name)).filter(|path| path.is_file());
    let judged = paths
        .filter(|path| !path.to_string_lossy().contains("malformed"))
        .filter(|path| path.extension().is_none_or(|ending| ending != "gz"))
        .filter(|path| compare(path))
        .count();
    assert!(judged > 150, "{judged}");
}
