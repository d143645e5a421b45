//! A condensed profile has the numbers of the whole one, in each part, by function and by call.

#![cfg(test)]

#[path = "../../format/tests/support/files.rs"]
#[allow(dead_code, reason = "not all of it is used here")]
mod files;

use std::collections::BTreeMap;

use gristmill_format::Cost;
use gristmill_profile::condense::{Condensing, LineCount};
use gristmill_profile::{Damage, FunctionId, Input, InputBytes, Loader, Profile};

type Key = (Vec<u8>, Vec<u8>, Vec<u8>);

/// The numbers and statements that a condensed part has to have.
#[derive(Debug, PartialEq)]
struct Numbers {
    statements: Vec<Option<String>>,
    events: Vec<Vec<u8>>,
    self_costs: BTreeMap<Key, Vec<Cost>>,
    calls: BTreeMap<(Key, Key), (Cost, Vec<Cost>)>,
}

fn load(name: &str, bytes: Vec<u8>) -> Profile {
    Loader::new().load(vec![Input { name: name.to_owned(), bytes: InputBytes::from(bytes) }])
}

fn numbers(profile: &Profile) -> Vec<Numbers> {
    let key = |id: FunctionId| -> Key {
        let function = profile.function(id);
        let [name, file, object] =
            [function.name, profile.file(function.file), profile.object(function.object)];
        (name.to_vec(), file.to_vec(), object.to_vec())
    };
    let text = |text: Option<&[u8]>| text.map(|text| String::from_utf8_lossy(text).into_owned());
    let number = |number: Option<u64>| number.map(|number| number.to_string());
    let add = |sums: &mut Vec<Cost>, costs: &[Cost]| {
        sums.resize(costs.len(), 0);
        sums.iter_mut().zip(costs).for_each(|(sum, cost)| *sum += cost);
    };
    let part = |part: gristmill_profile::Part<'_>| {
        let mut self_costs: BTreeMap<Key, Vec<Cost>> = BTreeMap::new();
        profile.each_self_cost(&part, |function, _, costs| {
            add(self_costs.entry(key(function)).or_default(), costs);
        });
        self_costs.retain(|_, costs| costs.iter().any(|&cost| cost != 0));
        let mut calls: BTreeMap<(Key, Key), (Cost, Vec<Cost>)> = BTreeMap::new();
        profile.each_arc(&part, |arc, costs| {
            let (count, sums) = calls.entry((key(arc.caller), key(arc.callee))).or_default();
            *count += arc.count;
            add(sums, costs);
        });
        Numbers {
            statements: vec![
                number(part.pid()),
                number(part.thread()),
                number(part.number()),
                text(part.trigger()),
                text(part.time_range()),
                text(part.command()),
                text(part.creator()),
            ],
            events: part.event_types().iter().map(|&event| profile.event(event).name.to_vec()).collect(),
            self_costs,
            calls,
        }
    };
    profile.parts().map(part).collect()
}

#[test]
fn functions_and_calls_of_each_part_keep_their_numbers() {
    let mut tried = 0;
    for file in files::files_outside(&[]) {
        let whole = load(&file.path, file.bytes);
        if whole.unusable_input().is_some() {
            continue;
        }
        let expected = numbers(&whole);
        for per_mille in [1000, 900, 0] {
            let mut condensed = Vec::new();
            let lines = match Condensing::new(&whole, per_mille).write(0, &mut condensed) {
                Ok(written) => written.lines,
                Err(error) => panic!("{}: {error}", file.path),
            };
            assert!(lines.kept <= lines.all, "{}", file.path);
            let text = String::from_utf8_lossy(&condensed).into_owned();
            let actual = numbers(&load(&file.path, condensed));
            assert_eq!(actual.len(), expected.len(), "{} at {per_mille}: parts", file.path);
            for (actual, expected) in actual.iter().zip(&expected) {
                assert!(
                    actual == expected,
                    "{} at {per_mille}:\n{actual:#?}\nexpected {expected:#?}\n{}",
                    file.path,
                    &text[..text.len().min(3000)]
                );
            }
            tried += 1;
        }
    }
    assert!(tried > 100, "{tried}");
}

#[test]
fn the_lines_that_stay_are_the_most_expensive_of_each_event_type() {
    let text = "positions: line\nevents: Ir Dr\nfl=a.c\nfn=f\n1 1000 0\n2 5 0\n3 3 90\n4 0 10\ncfn=g\ncalls=7 20\n\
                5 2000 4\ncfn=g\ncalls=1 20\n6 4 1\ncfn=g\ncalls=2 20\n7 3 0\nfn=g\n20 11 5\nfi=b.h\n9 1 1\n";
    let whole = load("a", text.as_bytes().to_vec());
    let mut condensed = Vec::new();
    let lines = Condensing::new(&whole, 900).write(0, &mut condensed).unwrap().lines;
    // `Ir` is 1020 of which 1000 are enough, `Dr` 106 of which 90 and 10 are needed.
    assert_eq!(lines, LineCount { all: 9, kept: 4 });
    let expected = "# callgrind format\npositions: line\nevents: Ir Dr\n\nfl=(1) a.c\nfn=(1) f\n1 1000\n+2 3 90\n+1 0 10\n\
                    cfi=(1)\ncfn=(2) g\ncalls=7 +16 \n+1 2000 4\n-5 5\ncfi=(1)\ncfn=(2)\ncalls=3 0 \n0 7 1\n\n\
                    fn=(2)\n0 12 6\n";
    assert_eq!(String::from_utf8(condensed).unwrap(), expected);
}

#[test]
fn what_was_added_up_is_not_said_to_be_damaged() {
    // One block and one call each, as Xdebug writes them.
    let mut text =
        "version: 1\ncreator: xdebug 3.2.0\ncmd: a.php\npart: 1\npositions: line\n\nevents: Time\n"
            .to_owned();
    for _ in 0..3 {
        text.push_str("\nfl=a.php\nfn=f\n1 5\n");
    }
    text.push_str("\nfl=a.php\nfn={main}\n9 1\n");
    for _ in 0..3 {
        text.push_str("cfl=a.php\ncfn=f\ncalls=1 0 0\n9 5\n");
    }
    text.push_str("\nsummary: 16\n\n");
    let whole = load("a", text.into_bytes());
    assert_eq!(whole.damage(), []);
    for per_mille in [1000, 990, 500, 0] {
        let mut condensed = Vec::new();
        Condensing::new(&whole, per_mille).write(0, &mut condensed).unwrap();
        let text = String::from_utf8_lossy(&condensed).into_owned();
        assert!(text.ends_with("summary: 16\ntotals: 16\n"), "{text}");
        assert_eq!(load("a", condensed).damage(), [], "{text}");
    }

    let kind = |damage: &Damage| std::mem::discriminant(&damage.kind);
    let mut tried = 0;
    for file in files::files_outside(&[]) {
        let whole = load(&file.path, file.bytes);
        if whole.unusable_input().is_some() {
            continue;
        }
        for per_mille in [1000, 990] {
            let mut condensed = Vec::new();
            Condensing::new(&whole, per_mille).write(0, &mut condensed).unwrap();
            for damage in load(&file.path, condensed).damage() {
                let is_known = whole.damage().iter().any(|known| kind(known) == kind(damage));
                assert!(is_known, "{} at {per_mille}: {damage:?}", file.path);
            }
        }
        tried += 1;
    }
    assert!(tried > 50, "{tried}");
}
