//! Means, medians and scaling: the totals are the exact ones, rounded.
//!
//! With `GRISTMILL_CORPUS=FOLDER` the files there are merged as well.

#![cfg(test)]

use std::collections::BTreeMap;

use gristmill_format::{Cost, ErrorKind};
use gristmill_profile::merge::{Combine, Concatenation, MergeFormat, Merger};
use gristmill_profile::{Profile, Selection};

// Not all of it is used here.
#[allow(dead_code)]
#[path = "../../format/tests/support/files.rs"]
mod files;

use files::files_outside;

/// Self costs by event type, and by object, file and name of the function.
type Sums = BTreeMap<String, (Cost, BTreeMap<Vec<u8>, Cost>)>;

fn sums(profile: &Profile) -> Sums {
    let mut sums = Sums::new();
    for part in profile.parts() {
        profile.each_self_cost(&part, |id, _, costs| {
            let function = profile.function(id);
            let names = [profile.object(function.object), profile.file(function.file), function.name];
            for (&event, &cost) in part.event_types().iter().zip(costs) {
                let event = profile.event(event);
                let name = format!("{} {}", String::from_utf8_lossy(event.name), event.repetition);
                let (total, functions) = sums.entry(name).or_default();
                *total += cost;
                *functions.entry(names.join(&b'\n')).or_default() += cost;
            }
        });
    }
    sums
}

/// Returns `true` if a part has this event type.
fn has(profile: &Profile, event: &str) -> bool {
    profile.parts().flat_map(|part| part.event_types().to_vec()).any(|id| {
        let known = profile.event(id);
        format!("{} {}", String::from_utf8_lossy(known.name), known.repetition) == event
    })
}

fn load(bytes: Vec<u8>) -> Profile {
    Profile::from_bytes(bytes)
}

/// Merges, and returns nothing for what no file can hold.
fn merged(merger: &Merger, combine: Combine, scale: Option<&str>) -> Option<Sums> {
    let scale = scale.map(|scale| scale.parse().unwrap());
    match merger.write(&MergeFormat { combine, scale }, Vec::new()) {
        Ok(bytes) => Some(sums(&load(bytes))),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::CostTooLarge);
            None
        }
    }
}

/// Checks that totals, and the totals of functions, are these fractions to one unit.
fn assert_adds_up(what: &str, found: &Sums, exact: impl Fn(&str, Cost) -> (Cost, Cost), expected: &Sums) {
    for (event, (total, functions)) in expected {
        let none = (0, BTreeMap::new());
        let (found_total, found_functions) = found.get(event).unwrap_or(&none);
        let close = |found: Cost, expected: Cost, twice: Cost| {
            let (numerator, denominator) = exact(event, expected);
            2 * (found * denominator - numerator).abs() <= twice * denominator
        };
        // Rounded to the nearest.
        assert!(close(*found_total, *total, 1), "{what} {event}: {found_total} of {total}");
        for (function, cost) in functions {
            let found = found_functions.get(function).copied().unwrap_or(0);
            assert!(close(found, *cost, 2), "{what} {event} {}: {found} of {cost}", function.escape_ascii());
        }
    }
}

fn added(one: &Sums, other: &Sums) -> Sums {
    let mut sum = one.clone();
    for (event, (total, functions)) in other {
        let sums = sum.entry(event.clone()).or_default();
        sums.0 += total;
        functions.iter().for_each(|(name, cost)| *sums.1.entry(name.clone()).or_default() += cost);
    }
    sum
}

#[test]
fn totals_are_exact_to_one_unit() {
    let mut checked = 0;
    let mut before: Option<(Profile, Sums)> = None;
    for file in files_outside(&["src", "malformed", "expected"]) {
        let profile = load(file.bytes);
        let mut merger = Merger::new();
        if profile.event_count() == 0 || merger.add(&profile).is_err() {
            continue;
        }
        let own = sums(&profile);
        for (scale, fraction) in [("0.1", (1, 10)), ("1/3", (1, 3)), ("-3/7", (-3, 7)), ("1.5", (3, 2))] {
            let Some(found) = merged(&merger, Combine::Sum, Some(scale)) else { continue };
            let exact = |_: &str, cost| (fraction.0 * cost, fraction.1);
            assert_adds_up(&format!("{} {scale}", file.path), &found, exact, &own);
            checked += 1;
        }
        // The median of a profile and its double is the half more of it, on each line.
        let mut apart = Merger::keeping_runs();
        apart.add(&profile).unwrap();
        let double = MergeFormat { scale: Some("2".parse().unwrap()), ..MergeFormat::default() };
        if let Ok(double) = merger.write(&double, Vec::new()) {
            apart.add(&load(double)).unwrap();
            let found = merged(&apart, Combine::Median, None).unwrap();
            assert_adds_up(&format!("{} median", file.path), &found, |_, cost| (3 * cost, 2), &own);
        }
        if let Some((other, of_other)) =
            before.replace((load(profile.inputs()[0].bytes.to_vec()), own.clone()))
            && merger.add(&other).is_ok()
        {
            let all = added(&own, &of_other);
            // A thread that did nothing has the event type, too.
            let runs = |event: &str| Cost::from(has(&profile, event)) + Cost::from(has(&other, event));
            if let Some(found) = merged(&merger, Combine::Mean, None) {
                assert_adds_up(
                    &format!("{} mean", file.path),
                    &found,
                    |event, cost| (cost, runs(event)),
                    &all,
                );
            }
        }
    }
    assert!(checked > 100, "{checked}");
}

#[test]
fn small_costs_do_not_vanish_and_do_not_swell() {
    let lines: String = (1..=99).map(|line| format!("{line} {}\n", 1 + line % 4)).collect();
    let profile = load(format!("events: Ir\nfn=f\n{lines}fn=g\n{lines}").into_bytes());
    let mut merger = Merger::new();
    merger.add(&profile).unwrap();
    let total = profile.totals(&Selection::default())[0];
    let scaled = merged(&merger, Combine::Sum, Some("0.1")).unwrap();
    assert_eq!(scaled["Ir 0"].0, (total + 5) / 10);
    merger.add(&load(b"events: Ir\nfn=h\n1 1\n".to_vec())).unwrap();
    assert_eq!(merged(&merger, Combine::Mean, None).unwrap()["Ir 0"].0, (total + 2) / 2);
}

/// The counts of calls, and their inclusive costs.
fn calls(bytes: &[u8]) -> (Cost, Vec<Cost>) {
    let profile = load(bytes.to_vec());
    let mut sums = (0, Vec::new());
    for part in profile.parts() {
        profile.each_arc(&part, |arc, costs| {
            sums.0 += arc.count;
            sums.1 = costs.to_vec();
        });
    }
    sums
}

#[test]
fn calls_are_the_mean_of_the_runs_that_have_them() {
    let callgrind = b"events: Ir\nfn=main\n1 10\ncfn=f\ncalls=6 2\n1 40\nfn=f\n2 40\n".as_slice();
    let cachegrind = b"events: Ir\nfn=main\n1 10\nfn=f\n2 60\n".as_slice();
    for order in [[callgrind, cachegrind], [cachegrind, callgrind]] {
        let [one, other] = order.map(|bytes| load(bytes.to_vec()));
        let mut merger = Merger::new();
        let mut apart = Merger::keeping_runs();
        for profile in [&one, &other] {
            merger.add(profile).unwrap();
            apart.add(profile).unwrap();
        }
        assert_eq!(merger.runs_with_calls(), Some(1));
        let mean = MergeFormat { combine: Combine::Mean, scale: None };
        let written = merger.write(&mean, Vec::new()).unwrap();
        assert_eq!(calls(&written), (6, vec![40]));
        assert_eq!(load(written).totals(&Selection::default()), [60]);
        let median = MergeFormat { combine: Combine::Median, scale: None };
        assert_eq!(calls(&apart.write(&median, Vec::new()).unwrap()), (6, vec![40]));
        // A sum that is merged again remembers it.
        let sum = merger.write(&MergeFormat::default(), Vec::new()).unwrap();
        let text = String::from_utf8(sum.clone()).unwrap();
        assert!(
            text.contains(
                "desc: Merged calls: 1 of 2 runs\ndesc: Merged inclusive costs: Ir in 1 of 2 runs\n"
            ),
            "{text}"
        );
        let mut again = Merger::new();
        again.add(&load(sum)).unwrap();
        again.add(&load(callgrind.to_vec())).unwrap();
        assert_eq!((again.runs(), again.runs_with_calls()), (3, Some(2)));
        assert_eq!(calls(&again.write(&mean, Vec::new()).unwrap()), (6, vec![40]));
    }
}

#[test]
fn kept_parts_say_which_file_they_are_from() {
    let mut parts = Concatenation::new(Vec::new());
    parts
        .add(
            "a",
            b"version: 1\npart: 1\npositions: line\nevents: Ir\nfn=f\n1 1\npart: 2\nevents: Ir\nfn=f\n1 2\n",
        )
        .unwrap();
    parts.add("b\n", b"events: Ir\nfn=f\n1 4\nevents: Ir\nfn=f\n1 8\n").unwrap();
    let bytes = parts.finish().unwrap();
    let profile = load(bytes.clone());
    let from: Vec<String> = profile
        .parts()
        .map(|part| {
            let mut descriptions = part.descriptions().filter(|(kind, _)| *kind == b"Part of");
            descriptions.next().map_or(String::new(), |(_, name)| String::from_utf8_lossy(name).into_owned())
        })
        .collect();
    // Before the last, a description would be one of the part before: it is a comment.
    assert_eq!(from, ["a", "a", "b\\n", ""]);
    assert_eq!(String::from_utf8_lossy(&bytes).matches("# Part of: b\\n\nevents:").count(), 1);
    // What is kept again says the same.
    let mut again = Concatenation::new(Vec::new());
    again.add("c", &bytes).unwrap();
    let text = String::from_utf8(again.finish().unwrap()).unwrap();
    assert_eq!(text.matches("desc: Part of: a").count(), 2);
    assert_eq!(text.matches("desc: Part of: c").count(), 0);
}

/// Xdebug and Cachegrind end a part with a header line.
#[test]
fn kept_parts_that_end_with_a_summary_get_no_totals() {
    let xdebug = "version: 1\ncreator: xdebug 3.2.0\ncmd: a.php\npart: 1\npositions: line\n\n\
                  events: Time\n\nfl=a.php\nfn={main}\n1 5\n\nsummary: 5\n\n";
    let cachegrind = "desc: x\ncmd: a\nevents: Ir\nfl=a.c\nfn=f\n1 5\nsummary: 5\n";
    for file in [xdebug, cachegrind] {
        for count in [1, 2, 3] {
            let mut parts = Concatenation::new(Vec::new());
            for _ in 0..count {
                parts.add("a", file.as_bytes()).unwrap();
            }
            let bytes = parts.finish().unwrap();
            let text = String::from_utf8(bytes.clone()).unwrap();
            assert!(!text.contains("totals:"), "{text}");
            let profile = load(bytes);
            assert_eq!(profile.damage(), [], "{text}");
            assert_eq!(profile.part_count(), count, "{text}");
            assert!(profile.parts().all(|part| part.totals() == [5]), "{text}");
        }
    }
    // Xdebug appends with a separator, which it also writes before the first profile of a run.
    let mut parts = Concatenation::new(Vec::new());
    let separator = format!("==== NEW PROFILING FILE ====\n{xdebug}");
    for file in [xdebug, &separator, &separator.repeat(2)] {
        parts.add("a", file.as_bytes()).unwrap();
    }
    let bytes = parts.finish().unwrap();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let profile = load(bytes);
    assert_eq!((profile.part_count(), profile.damage().len()), (4, 0), "{text}");
    assert!(!text.contains("fn=\n"), "{text}");
    // A header without costs is a part of its own as well.
    let mut parts = Concatenation::new(Vec::new());
    parts.add("a", b"events: Ir\nfn=f\n1 5\npart: 2\nevents: Ir\n").unwrap();
    parts.add("b", b"events: Dr\nfn=f\n1 7\n").unwrap();
    let text = String::from_utf8(parts.finish().unwrap()).unwrap();
    assert_eq!(text.matches("totals: 0\n").count(), 1, "{text}");
    let profile = load(text.into_bytes());
    let totals: Vec<_> = profile.parts().map(|part| part.totals()).collect();
    assert_eq!(totals, [vec![5], vec![0], vec![7]]);
}

#[test]
fn kept_parts_take_no_names_of_the_file_before() {
    let first = "events: Ir\nob=/bin/a\nfl=a.c\nfn=f\n1 5\nfi=b.h\n2 1\n";
    for (second, expected) in [
        ("fn=g\n1 7\n", ["g", "", ""]),
        ("fl=g.c\nfn=g\n1 7\n", ["g", "g.c", ""]),
        ("ob=/bin/g\nfn=g\n1 7\n", ["g", "", "/bin/g"]),
        ("fn=g\nfl=g.c\nob=/bin/g\n1 7\n", ["g", "g.c", "/bin/g"]),
        ("1 7\n", ["", "", ""]),
        ("fl=g.c\n1 7\n", ["", "g.c", ""]),
    ] {
        let second = format!("version: 1\nevents: Ir\n{second}");
        let name = |profile: &gristmill_profile::Profile| {
            let named = profile.functions().map(|id| profile.function(id));
            let names = named.map(|function| {
                let names = [function.name, profile.file(function.file), profile.object(function.object)];
                names.map(|name| String::from_utf8_lossy(name).into_owned())
            });
            names.last().unwrap()
        };
        assert_eq!(name(&load(second.clone().into_bytes())), expected, "{second}");
        let mut parts = Concatenation::new(Vec::new());
        parts.add("a", first.as_bytes()).unwrap();
        parts.add("b", second.as_bytes()).unwrap();
        let bytes = parts.finish().unwrap();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        assert_eq!(name(&load(bytes)), expected, "{text}");
    }
}
