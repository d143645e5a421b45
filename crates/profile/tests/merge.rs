//! Merging: the same bytes in any order and grouping, and every sum exact.
//!
//! With `GRISTMILL_CORPUS=FOLDER` the files there are merged as well.

#![cfg(test)]

use std::collections::BTreeMap;

use gristmill_format::{Cost, ErrorKind, Lint, Severity};
use gristmill_profile::compare::{CompareOptions, Comparison};
use gristmill_profile::merge::{Combine, Concatenation, MergeFormat, Merger};
use gristmill_profile::{Profile, Selection};
use proptest::prelude::*;

// Not all of it is used here.
#[allow(dead_code)]
#[path = "../../format/tests/support/files.rs"]
mod files;

use files::{File, files_outside, one_in};

fn written(merger: &Merger) -> Vec<u8> {
    merger.write(&MergeFormat::default(), Vec::new()).unwrap()
}

fn merger_of(profiles: &[&Profile]) -> Merger {
    let mut merger = Merger::new().threads(2);
    profiles.iter().for_each(|profile| merger.add(profile).unwrap());
    merger
}

fn merged(files: &[&[u8]]) -> Vec<u8> {
    let profiles: Vec<Profile> = files.iter().map(|&bytes| Profile::from_bytes(bytes)).collect();
    written(&merger_of(&profiles.iter().collect::<Vec<_>>()))
}

/// Returns `true` if a file has something to merge, and all of it can be written again.
fn is_whole(profile: &Profile) -> bool {
    profile.event_count() > 0
        && !profile.findings().iter().any(|finding| {
            matches!(
                finding.kind,
                ErrorKind::NotAProfile(_) | ErrorKind::UnreadableText | ErrorKind::LineEndInText
            )
        })
}

type ByName<K> = BTreeMap<K, BTreeMap<String, Cost>>;
type FunctionName = (Vec<u8>, Vec<u8>, Vec<u8>);
/// By function and the file of the lines.
type SelfCosts = ByName<(FunctionName, Vec<u8>)>;
/// By caller and callee.
type ArcCosts = ByName<(FunctionName, FunctionName)>;

/// Self costs and arcs by name, without zeros.
fn sums(profile: &Profile) -> (SelfCosts, ArcCosts) {
    let name = |id| {
        let function = profile.function(id);
        let [object, file] = [profile.object(function.object), profile.file(function.file)];
        (object.to_vec(), file.to_vec(), function.name.to_vec())
    };
    let (mut selves, mut arcs) = (ByName::new(), ByName::new());
    for part in profile.parts() {
        let events: Vec<String> = part
            .event_types()
            .iter()
            .map(|&event| {
                let event = profile.event(event);
                format!("{} {}", String::from_utf8_lossy(event.name), event.repetition)
            })
            .collect();
        profile.each_self_cost(&part, |function, file, costs| {
            let sums = selves.entry((name(function), profile.file(file).to_vec())).or_default();
            add(sums, &events, costs);
        });
        profile.each_arc(&part, |arc, costs| {
            let sums = arcs.entry((name(arc.caller), name(arc.callee))).or_default();
            *sums.entry("calls".to_owned()).or_insert(0) += arc.count;
            add(sums, &events, costs);
        });
    }
    (without_zeros(selves), without_zeros(arcs))
}

fn add(sums: &mut BTreeMap<String, Cost>, events: &[String], costs: &[Cost]) {
    for (event, cost) in events.iter().zip(costs) {
        *sums.entry(event.clone()).or_insert(0) += cost;
    }
}

fn without_zeros<K: Ord>(mut sums: ByName<K>) -> ByName<K> {
    sums.values_mut().for_each(|costs| costs.retain(|_, cost| *cost != 0));
    sums.retain(|_, costs| !costs.is_empty());
    sums
}

/// Adds two sums.
fn together<K: Ord>(mut one: ByName<K>, other: ByName<K>) -> ByName<K> {
    for (key, costs) in other {
        let sums = one.entry(key).or_default();
        costs.into_iter().for_each(|(event, cost)| *sums.entry(event).or_insert(0) += cost);
    }
    without_zeros(one)
}

/// Errors that a merged profile has of its own; what a name or an event type is like comes from the inputs.
fn lint_errors(bytes: &[u8]) -> Vec<String> {
    let mut errors = Vec::new();
    Lint::default().run(bytes, |finding| {
        if finding.rule.severity == Severity::Error && finding.rule.name != "duplicate-event" {
            errors.push(format!("{}: {}", finding.location.line, finding.message));
        }
    });
    errors
}

#[test]
fn one_profile_merged_is_that_profile_in_order() {
    // Larger ones take a test that is not optimised minutes.
    for file in files_outside(&["src", "expected"]).into_iter().filter(|file| file.bytes.len() < 400_000) {
        let profile = Profile::from_bytes(file.bytes.clone());
        if !is_whole(&profile) {
            continue;
        }
        // What 64 bits do not hold cannot be written.
        let Ok(once) = merger_of(&[&profile]).write(&MergeFormat::default(), Vec::new()) else {
            println!("{}: not written", file.path);
            assert!(file.path.contains("malformed"), "{}", file.path);
            continue;
        };
        let reread = Profile::from_bytes(once.clone());
        reread.check().unwrap();
        assert_eq!(reread.findings(), [], "{}", file.path);
        assert_eq!(lint_errors(&once), [""; 0], "{}", file.path);
        assert!(sums(&profile) == sums(&reread), "{}: {}", file.path, difference(&profile, &reread));
        let twice = written(&merger_of(&[&reread]));
        assert!(once == twice, "{}: {}", file.path, first_difference(&once, &twice));
    }
}

/// The first sum that two profiles do not agree on.
fn difference(one: &Profile, other: &Profile) -> String {
    let lines = |profile| {
        let (selves, arcs) = sums(profile);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let name =
            |(object, file, name): &FunctionName| [object, file, name].map(|name| text(name)).join(" ");
        let selves = selves
            .iter()
            .map(|((function, file), costs)| format!("{} {}: {costs:?}", name(function), text(file)));
        let arcs = arcs
            .iter()
            .map(|((caller, callee), costs)| format!("{} -> {}: {costs:?}", name(caller), name(callee)));
        selves.chain(arcs).collect::<Vec<_>>().join("\n")
    };
    first_difference(lines(one).as_bytes(), lines(other).as_bytes())
}

fn first_difference(one: &[u8], other: &[u8]) -> String {
    let lines = |bytes: &[u8]| String::from_utf8_lossy(bytes).lines().map(str::to_owned).collect::<Vec<_>>();
    let (one, other) = (lines(one), lines(other));
    let at =
        one.iter().zip(&other).position(|(one, other)| one != other).unwrap_or(one.len().min(other.len()));
    let near = |lines: &[String]| lines[at.saturating_sub(4)..lines.len().min(at + 3)].join("\n");
    format!("line {}:\n{}\n--\n{}", at + 1, near(&one), near(&other))
}

/// Merges the same files in several orders and groupings, also by way of files.
fn assert_any_grouping(files: &[File]) {
    let profiles: Vec<Profile> = files.iter().map(|file| Profile::from_bytes(file.bytes.clone())).collect();
    let all: Vec<&Profile> = profiles.iter().collect();
    let expected = written(&merger_of(&all));
    let same = |bytes: &[u8], what: &str| {
        assert!(bytes == expected, "{what}: {}", first_difference(&expected, bytes));
    };
    let reversed: Vec<&Profile> = all.iter().rev().copied().collect();
    same(&written(&merger_of(&reversed)), "backwards");
    for size in [2, 1, 25, 7].into_iter().step_by(one_in(4)) {
        // Groups interleave, so that different files meet.
        let groups: Vec<Vec<&Profile>> =
            (0..size).map(|nth| all.iter().skip(nth).step_by(size).copied().collect()).collect();
        let mut merger = Merger::new();
        for group in &groups {
            merger.merge(merger_of(group)).unwrap();
        }
        same(&written(&merger), &format!("{size} mergers"));
        let parts: Vec<Vec<u8>> = groups.iter().map(|group| written(&merger_of(group))).collect();
        let parts: Vec<&[u8]> = parts.iter().rev().map(Vec::as_slice).collect();
        same(&merged(&parts), &format!("{size} files"));
    }
    // One after the other, each time by way of a file.
    let mut so_far = written(&merger_of(&all[..1]));
    for (nth, profile) in all.iter().enumerate().skip(1) {
        let before = Profile::from_bytes(so_far);
        so_far = if nth % 2 == 0 {
            written(&merger_of(&[&before, profile]))
        } else {
            written(&merger_of(&[profile, &before]))
        };
    }
    same(&so_far, "one by one");

    let merged = Profile::from_bytes(expected);
    let total = |profile: &Profile| {
        let totals = profile.totals(&Selection::default());
        let events = profile.events().map(|event| {
            let event = profile.event(event);
            (event.name.to_vec(), event.repetition)
        });
        events.zip(totals).filter(|(_, total)| *total != 0).collect::<BTreeMap<_, _>>()
    };
    let mut totals = BTreeMap::new();
    for (event, cost) in profiles.iter().flat_map(total) {
        *totals.entry(event).or_insert(0) += cost;
    }
    totals.retain(|_, total| *total != 0);
    assert_eq!(total(&merged), totals);
    let expected = profiles.iter().map(sums).fold((ByName::new(), ByName::new()), |before, next| {
        (together(before.0, next.0), together(before.1, next.1))
    });
    assert!(sums(&merged) == expected);
}

#[test]
fn any_grouping_of_the_own_corpus_gives_the_same_bytes() {
    let files: Vec<File> = files_outside(&["src"])
        .into_iter()
        .filter(|file| file.is_own && is_whole(&Profile::from_bytes(file.bytes.clone())))
        .collect();
    assert!(files.len() >= 50, "{}", files.len());
    assert_any_grouping(&files);
    // Files that are like each other keep what they have in common.
    let alike: Vec<File> =
        files.into_iter().filter(|file| file.path.contains("callgrind/callgrind.out")).collect();
    assert_any_grouping(&alike);
}

#[test]
fn any_grouping_of_other_files_gives_the_same_bytes() {
    let mut files: Vec<File> = files_outside(&["src", "expected"])
        .into_iter()
        .filter(|file| {
            !file.is_own && file.bytes.len() < 40_000 && is_whole(&Profile::from_bytes(file.bytes.clone()))
        })
        .collect();
    // Those with costs that no file can hold a sum of come out of files made to be broken.
    files.retain(|file| !file.path.contains("u64") && !file.path.contains("huge"));
    if files.is_empty() {
        return println!("skipped: GRISTMILL_CORPUS names no folder");
    }
    let step = files.len().div_ceil(50);
    let files: Vec<File> = files.into_iter().step_by(step.max(1)).collect();
    assert_any_grouping(&files);
}

// Random profiles: few names, so that they meet.

#[derive(Debug, Clone)]
struct MadeLine {
    function: (u8, u8, u8),
    inlined: Option<u8>,
    line: u16,
    kind: u8,
    callee: (u8, u8, u8),
    leaves_out: (bool, bool),
    numbers: Vec<u16>,
}

fn made_line() -> impl Strategy<Value = MadeLine> {
    let function = || (0..3u8, 0..3u8, 0..3u8);
    let numbers = prop::collection::vec(0..1000u16, 0..4);
    let leaves_out = (any::<bool>(), any::<bool>());
    (function(), prop::option::of(0..3u8), 0..4u16, 0..4u8, function(), leaves_out, numbers).prop_map(
        |(function, inlined, line, kind, callee, leaves_out, numbers)| MadeLine {
            function,
            inlined,
            line,
            kind,
            callee,
            leaves_out,
            numbers,
        },
    )
}

/// A profile as text: columns, event types, creator, command, lines.
fn made_file() -> impl Strategy<Value = String> {
    let positions = prop::sample::select(vec!["line", "instr line", "instr", "instr bb line", "bb line"]);
    let events = prop::sample::subsequence(vec!["Ir", "Dr", "Alpha", "beta"], 1..4).prop_shuffle();
    (positions, events, 0..3u8, 0..3u8, prop::collection::vec(made_line(), 0..12)).prop_map(
        |(positions, events, creator, command, lines)| {
            let mut text = String::from("version: 1\n");
            match creator {
                0 => text.push_str("creator: callgrind-3.19.0\n"),
                1 => text.push_str("creator: other\n"),
                _ => {}
            }
            if command > 0 {
                text.push_str(&format!("cmd: mill {command}\ndesc: Trigger: end\ndesc: Cache: {command}\n"));
            }
            text.push_str(&format!(
                "positions: {positions}\nevent: beta : of {creator}\nevents: {}\n",
                events.join(" ")
            ));
            let named = |prefix: &str, number: u8| {
                if number == 0 { String::new() } else { format!("{prefix}{number}") }
            };
            let columns = positions.split(' ').count();
            let place = |line: u16| vec![line.to_string(); columns].join(" ");
            for made in &lines {
                let (object, file, name) = made.function;
                text.push_str(&format!("ob={}\nfl={}\n", named("lib", object), named("f.c", file)));
                text.push_str(&format!("fn={}\n", named("f", name)));
                if let Some(file) = made.inlined {
                    text.push_str(&format!("fi={}\n", named("f.c", file)));
                }
                let numbers: Vec<String> =
                    made.numbers.iter().take(events.len()).map(u16::to_string).collect();
                let costs = format!("{} {}\n", place(made.line), numbers.join(" "));
                let target = place(made.line / 2);
                let (object, file, name) = made.callee;
                match made.kind {
                    0 => {}
                    1 => {
                        if !made.leaves_out.0 {
                            text.push_str(&format!("cob={}\n", named("lib", object)));
                        }
                        if !made.leaves_out.1 {
                            text.push_str(&format!("cfi={}\n", named("f.c", file)));
                        }
                        text.push_str(&format!("cfn={}\ncalls={} {target}\n", named("f", name), made.line));
                    }
                    2 => {
                        if !made.leaves_out.1 {
                            text.push_str(&format!("jfi={}\njfn={}\n", named("f.c", file), named("f", name)));
                        }
                        text.push_str(&format!("jump={} {target}\n{}\n", made.line, place(made.line)));
                    }
                    _ => text.push_str(&format!("jcnd={}/7 {target}\n{}\n", made.line, place(made.line))),
                }
                if made.kind < 2 {
                    text.push_str(&costs);
                }
            }
            text
        },
    )
}

proptest! {
    #[test]
    fn merging_is_associative_and_commutative(a in made_file(), b in made_file(), c in made_file()) {
        let show = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let profiles = [&a, &b, &c].map(|text| Profile::from_bytes(text.as_bytes()));
        let [a, b, c] = [a.as_bytes(), b.as_bytes(), c.as_bytes()];
        let all = merged(&[a, b, c]);
        prop_assert_eq!(show(&merged(&[c, a, b])), show(&all));
        prop_assert_eq!(show(&merged(&[&merged(&[a, b]), c])), show(&all));
        prop_assert_eq!(show(&merged(&[a, &merged(&[c, b])])), show(&all));
        prop_assert_eq!(show(&merged(&[&merged(&[a, c]), &merged(&[b])])), show(&all));
        let mut merger = merger_of(&[&profiles[1]]);
        merger.merge(merger_of(&[&profiles[2], &profiles[0]])).unwrap();
        prop_assert_eq!(show(&written(&merger)), show(&all));

        prop_assert_eq!(lint_errors(&all), [""; 0]);
        let merged = Profile::from_bytes(all);
        prop_assert_eq!(merged.findings(), []);
        let expected = profiles.iter().map(sums).fold((ByName::new(), ByName::new()), |before, next| {
            (together(before.0, next.0), together(before.1, next.1))
        });
        prop_assert_eq!(sums(&merged), expected);
        let totals: Vec<(String, Cost)> = merger.totals();
        let events = merged.events().map(|event| String::from_utf8_lossy(merged.event(event).name).into_owned());
        prop_assert_eq!(events.zip(merged.totals(&Selection::default())).collect::<Vec<_>>(), totals);
    }

    #[test]
    fn several_of_the_same_are_as_many_times_one(a in made_file(), times in 1..5usize) {
        let one = Profile::from_bytes(a.into_bytes());
        let many = merger_of(&vec![&one; times]);
        let mean = MergeFormat { combine: Combine::Mean, scale: None };
        let scale = MergeFormat { scale: Some(format!("1/{times}").parse().unwrap()), ..MergeFormat::default() };
        let alone = written(&merger_of(&[&one]));
        let body = |bytes: Vec<u8>| {
            let text = String::from_utf8(bytes).unwrap();
            text.lines().filter(|line| !line.starts_with("desc:")).map(str::to_owned).collect::<Vec<_>>()
        };
        prop_assert_eq!(body(many.write(&mean, Vec::new()).unwrap()), body(alone.clone()));
        prop_assert_eq!(body(many.write(&scale, Vec::new()).unwrap()), body(alone.clone()));
        let mut apart = Merger::keeping_runs();
        (0..times).for_each(|_| apart.add(&one).unwrap());
        let median = MergeFormat { combine: Combine::Median, scale: None };
        prop_assert_eq!(body(apart.write(&median, Vec::new()).unwrap()), body(alone));
    }

    #[test]
    fn a_median_is_that_of_each_line(rows in prop::collection::vec(0..9u8, 1..8)) {
        // 0 stands for a run without the line, 8 for one without the event type.
        let mut apart = Merger::keeping_runs();
        let mut rest = Merger::keeping_runs();
        for (nth, cost) in rows.iter().enumerate() {
            let text = match cost {
                0 => "events: Ir Dr\nfn=f\n1 5\n".to_owned(),
                8 => "events: Ir\nfn=f\n1 5\n".to_owned(),
                cost => format!("events: Ir Dr\nfn=f\n1 5\n2 0 {cost}\n"),
            };
            if nth < 2 { &mut apart } else { &mut rest }.add(&Profile::from_bytes(text.into_bytes())).unwrap();
        }
        apart.merge(rest).unwrap();
        let median = MergeFormat { combine: Combine::Median, scale: None };
        let merged = Profile::from_bytes(apart.write(&median, Vec::new()).unwrap());
        let mut known: Vec<u8> = rows.into_iter().filter(|&cost| cost != 8).collect();
        known.sort_unstable();
        let middle = |known: &[u8]| match (known.len(), known.len() / 2) {
            (0, _) => 0,
            (len, half) if len % 2 == 1 => known[half],
            (_, half) => (known[half - 1] + known[half]).div_ceil(2),
        };
        let totals = merged.totals(&Selection::default());
        prop_assert_eq!(totals[0], 5);
        prop_assert_eq!(totals.get(1).copied().unwrap_or(0), Cost::from(middle(&known)));
    }

    #[test]
    fn kept_parts_are_the_parts(files in prop::collection::vec(made_file(), 1..4)) {
        let mut concatenation = Concatenation::new(Vec::new());
        for file in &files {
            let left_out = concatenation.add("made", file.as_bytes()).unwrap();
            prop_assert_eq!(left_out.lines, 0);
        }
        let together = Profile::from_bytes(concatenation.finish().unwrap());
        let alone: Vec<Profile> = files.iter().map(|file| Profile::from_bytes(file.as_bytes())).collect();
        prop_assert_eq!(together.part_count(), alone.len());
        for (part, profile) in together.parts().zip(&alone) {
            prop_assert_eq!(part.totals(), profile.parts().next().unwrap().totals());
            let command = profile.parts().next().unwrap().command();
            prop_assert_eq!(part.command().filter(|&command| command != b"unknown"), command);
        }
    }
}

#[test]
fn what_was_not_measured_is_not_taken_for_zero() {
    let both = b"events: Ir Dr\nfn=f\n1 10 4\n".as_slice();
    let one = b"events: Ir\nfn=f\n1 20\n".as_slice();
    let sum = merged(&[both, one, both]);
    let text = String::from_utf8(sum.clone()).unwrap();
    assert!(text.contains("desc: Merged runs: 3\ndesc: Merged event: Dr in 2 of 3 runs\n"), "{text}");
    // The mean is of the runs that have it, also of a sum that is merged again.
    let mut merger = merger_of(&[&Profile::from_bytes(sum), &Profile::from_bytes(both)]);
    assert_eq!(merger.incomplete_events(), [("Dr".to_owned(), 3)]);
    assert_eq!(merger.runs(), 4);
    merger.add(&Profile::from_bytes(b"events: Ir\nfn=f\n1 0\n".as_slice())).unwrap();
    let mean = merger.write(&MergeFormat { combine: Combine::Mean, scale: None }, Vec::new()).unwrap();
    assert_eq!(Profile::from_bytes(mean).totals(&Selection::default()), [10, 4]);
}

#[test]
fn sums_that_no_file_holds_are_refused() {
    let large = Profile::from_bytes(format!("events: Ir\nfn=f\n1 {}\n", u64::MAX).into_bytes());
    let merger = merger_of(&[&large, &large]);
    assert_eq!(merger.totals(), [("Ir".to_owned(), 2 * Cost::from(u64::MAX))]);
    let error = merger.write(&MergeFormat::default(), Vec::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::CostTooLarge);
    // Their mean is held.
    let mean = merger.write(&MergeFormat { combine: Combine::Mean, scale: None }, Vec::new()).unwrap();
    assert_eq!(Profile::from_bytes(mean).totals(&Selection::default()), [Cost::from(u64::MAX)]);
}

/// A long name is recognised by where it is, so it is written as a short one in its place would be. Only a part after that refers to it where
/// a short one is defined again.
#[test]
fn long_names_are_written_like_short_ones() {
    let text = |name: &str| {
        let functions: String = (0..5)
            .map(|nth| {
                format!(
                    "ob=(1)\nfl=f{}.c\nfn=(1)\n1 {}\nfi=(1)\n2 1\nfe=f{}.c\n3 1\ncob=(1)\ncfi=(1)\ncfn=(1)\ncalls=1 1\n4 7\n\
                     fl=g{nth}.c\nfn=g'(1)\n5 2\nfn={name}'2\n6 3\n",
                    nth % 2, nth + 1, nth % 2
                )
            })
            .collect();
        format!(
            "events: Ir\nob=(1) {name}\nfl=(1) {name}\nfn=(1) {name}\n1 1\n{functions}part: 2\nevents: Ir\n{functions}"
        )
    };
    let long = "n".repeat(1000);
    let as_short = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap().replace(&long, "n");
    let other = |name: &str| text(name).replace("f0.c", "h.c");
    let [with_long, with_short] = [long.as_str(), "n"].map(|name| [text(name), other(name), text(name)]);
    let bytes =
        |texts: &[String; 3]| -> [Vec<u8>; 3] { texts.each_ref().map(|text| text.clone().into_bytes()) };
    let [with_long, with_short] = [bytes(&with_long), bytes(&with_short)];
    let refs = |texts: &[Vec<u8>; 3]| merged(&texts.each_ref().map(|text| &text[..]));
    assert_eq!(as_short(refs(&with_long)), as_short(refs(&with_short)));
    let parts = |texts: &[Vec<u8>; 3]| {
        let mut parts = Concatenation::new(Vec::new());
        texts.iter().for_each(|text| assert_eq!(parts.add("out", text).unwrap().lines, 0));
        parts.finish().unwrap()
    };
    let [of_long, of_short] = [parts(&with_long), parts(&with_short)];
    let without_definitions = |bytes: &[u8]| as_short(bytes.to_vec()).replace(") n\n", ")\n");
    assert_eq!(without_definitions(&of_long), without_definitions(&of_short));
    assert_eq!(as_short(merged(&[&of_long])), as_short(merged(&[&of_short])));
    let difference = |texts: &[Vec<u8>; 3]| {
        let [base, new, _] = texts.clone().map(Profile::from_bytes);
        let options = CompareOptions::default();
        let comparison = Comparison::new(&[&base], &[&new], &options).unwrap();
        comparison.write_difference("test", Vec::new()).unwrap()
    };
    let with_short = as_short(difference(&with_short));
    assert!(with_short.contains("fi="), "{with_short}");
    assert_eq!(as_short(difference(&with_long)), with_short);
}
