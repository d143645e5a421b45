//! Diff of a profile with itself is empty, the other way round it has all signs changed, and added to the base it is the
//! new profile: over made profiles, and over all pairs of neighbours in the corpus.

use std::collections::BTreeMap;

use gristmill_format::Cost;
use proptest::prelude::*;

use crate::analysis::tests::corpus::files;
use crate::compare::{CompareError, CompareOptions, Comparison, JoinedId, Presence};
use crate::{Builder, FunctionId, Profile, Selection};

fn compare<'p>(base: &'p Profile, new: &'p Profile) -> Comparison<'p> {
    Comparison::new(&[base], &[new], &CompareOptions::default()).unwrap()
}

/// Rows of changes by the names of functions on both sides.
type Changes = BTreeMap<(Vec<u8>, Vec<u8>), Vec<Vec<Cost>>>;

/// Everything that changed.
fn changes(comparison: &Comparison<'_>, is_turned: bool) -> Changes {
    let mut changes = Changes::new();
    let sign = if is_turned { -1 } else { 1 };
    for function in comparison.functions() {
        let name = |mention: Option<crate::compare::Mention<'_>>| {
            mention.map_or(Vec::new(), |mention| [mention.object, mention.file, mention.name].join(&b'\0'))
        };
        let (a, b) = (name(comparison.in_base(function)), name(comparison.in_new(function)));
        let key = if is_turned { (b, a) } else { (a, b) };
        let mut events: Vec<usize> = (0..comparison.events().len()).collect();
        events
            .sort_by_key(|&event| (&comparison.events()[event].name, comparison.events()[event].repetition));
        let mut row = vec![sign * comparison.calls(function).delta()];
        for event in events {
            row.push(sign * comparison.self_cost(function, event).delta());
            row.push(sign * comparison.inclusive(function, event).delta());
        }
        let rows = changes.entry(key).or_default();
        rows.push(row);
        rows.sort();
    }
    changes
}

fn assert_empty(comparison: &Comparison<'_>) {
    for function in comparison.functions() {
        assert_eq!(comparison.presence(function), Presence::Both);
        assert!(comparison.joined_by(function).is_empty());
        for event in 0..comparison.events().len() {
            assert!(comparison.self_cost(function, event).is_none());
            assert!(comparison.inclusive(function, event).is_none());
        }
    }
    for arc in 0..comparison.arcs().len() {
        assert!(comparison.arc(arc).count.is_none() && comparison.arc_cost(arc, 0).is_none());
    }
    assert_eq!(comparison.explain(0).causes, []);
    assert_eq!(comparison.environment(), []);
}

/// The difference, written and read again.
fn difference(comparison: &Comparison<'_>) -> Profile {
    let written = comparison.write_difference("test", Vec::new()).unwrap();
    let profile = Profile::from_bytes(written);
    assert_eq!(profile.finding_count(), 0, "{:?}", profile.findings());
    profile
}

/// Base and difference together are the new profile, function by function and arc by arc.
fn assert_adds_up(comparison: &Comparison<'_>, difference: &Profile) {
    let recorded = difference.event_count();
    let graph = difference.call_graph(&Selection::default());
    let by_name: BTreeMap<[&[u8]; 3], FunctionId> = difference
        .functions()
        .map(|id| {
            let function = difference.function(id);
            ([difference.object(function.object), difference.file(function.file), function.name], id)
        })
        .collect();
    let of = |function: JoinedId| {
        let mention = comparison.in_base(function).unwrap_or(comparison.mention(function));
        by_name.get(&[mention.object, mention.file, mention.name]).map(|&id| graph.node_of(id))
    };
    for function in comparison.functions() {
        let found = of(function);
        for event in 0..recorded {
            let change = comparison.self_cost(function, event);
            let delta = found.map_or(0, |found| graph.self_cost(found)[event]);
            assert_eq!(change.base.median + delta, change.new.median, "{:?}", comparison.mention(function));
        }
    }
    for (place, arc) in comparison.arcs().enumerate() {
        let found =
            of(arc.caller).zip(of(arc.callee)).and_then(|(caller, callee)| graph.arc_between(caller, callee));
        let count = found.map_or(0, |found| graph.arc(found).count);
        assert_eq!(arc.count.base.median + count, arc.count.new.median);
        for event in 0..recorded {
            let change = comparison.arc_cost(place, event);
            let delta = found.map_or(0, |found| graph.arc_cost(found)[event]);
            assert_eq!(change.base.median + delta, change.new.median);
        }
    }
}

fn assert_algebra(base: &Profile, new: &Profile) {
    let (there, back) = (compare(base, new), compare(new, base));
    let turned = changes(&back, true);
    assert_eq!(changes(&there, false), turned);
    for event in 0..there.events().len() {
        assert_eq!(there.remainder(event), 0);
        let effects: Cost = there.explain(event).causes.iter().map(|cause| cause.effect).sum();
        assert_eq!(effects, there.total(event).delta());
    }
    assert_adds_up(&there, &difference(&there));
}

/// Functions with their lines and calls.
#[derive(Debug, Clone)]
struct Made {
    costs: Vec<(u8, u8, u32)>,
    calls: Vec<(u8, u8, u8, u32)>,
    suffix: u8,
}

fn made() -> impl Strategy<Value = Made> {
    let costs = prop::collection::vec((0..8u8, 0..4u8, 0..1000u32), 0..20);
    let calls = prop::collection::vec((0..8u8, 0..8u8, 0..5u8, 0..1000u32), 0..20);
    (costs, calls, 0..3u8).prop_map(|(costs, calls, suffix)| Made { costs, calls, suffix })
}

fn build(made: &Made) -> Profile {
    let mut builder = Builder::new(&["Ir", "Dr"]);
    let functions: Vec<_> = (0..8u8)
        .map(|nth| {
            let suffix = ["", ".cold", ".isra.0"][usize::from(made.suffix)];
            // Some share a name once the rules have passed.
            let name = format!("f{}{suffix}::h{:016x}", nth / 2, nth + made.suffix);
            builder.function(b"m", format!("/dir{}/f{}.c", made.suffix, nth % 3).as_bytes(), name.as_bytes())
        })
        .collect();
    builder.cost(functions[0], 1, &[1]);
    for &(function, line, cost) in &made.costs {
        builder.cost(functions[usize::from(function)], line.into(), &[cost.into(), Cost::from(cost) / 2]);
    }
    for &(caller, callee, count, cost) in &made.calls {
        let [caller, callee] = [caller, callee].map(|nth| functions[usize::from(nth)]);
        builder.call(caller, 3, callee, count.into(), &[cost.into()]);
    }
    builder.build().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn made_profiles(base in made(), new in made()) {
        let [base, new] = [&base, &new].map(build);
        assert_empty(&compare(&base, &base));
        assert_algebra(&base, &new);
    }
}

#[test]
fn each_function_of_a_difference_has_its_file() {
    let base = Profile::from_bytes(b"events: Ir\n".to_vec());
    let new = b"events: Ir\nfl=b.c\nfn=one\nfi=a.c\n3 2\nfl=b.c\nfn=two\n1 8\n";
    let new = Profile::from_bytes(new.to_vec());
    let written = compare(&base, &new).write_difference("test", Vec::new()).unwrap();
    // Some readers take the last file of all for that of the second function.
    let text = String::from_utf8(written).unwrap();
    assert!(text.contains("fi=(2) a.c\n3 2\nfl=(1)\nfn=(2) two\n"), "{text}");
}

#[test]
fn profiles_of_the_corpus() {
    let files = files();
    let profiles: Vec<(String, Profile)> = files
        .into_iter()
        // Every line of such a profile is read again several times, and a test is not optimised.
        .filter(|file| file.bytes.len() <= 1 << 20)
        .map(|file| (file.path, Profile::from_bytes(file.bytes)))
        .filter(|(_, profile)| profile.finding_count() == 0 && profile.event_count() > 0)
        .collect();
    assert!(profiles.len() > 60);
    let mut compared = 0;
    for pair in profiles.windows(2) {
        let [(base_name, base), (new_name, new)] = pair else { continue };
        println!("{base_name} and {new_name}");
        assert_empty(&compare(base, base));
        match Comparison::new(&[base], &[new], &CompareOptions::default()) {
            Ok(_) => {
                compared += 1;
                assert_algebra(base, new);
            }
            Err(CompareError::NoCommonEvent(..)) => {}
            Err(error) => panic!("{error}"),
        }
    }
    assert!(compared > 40, "{compared}");
}
