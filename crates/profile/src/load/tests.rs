use super::*;
use crate::Selection;
use crate::files::{File, files_outside};
use gristmill_format::Survey;
use proptest::prelude::*;
use std::sync::Mutex;

#[path = "../../../format/tests/support/chance.rs"]
mod chance;

use chance::{Numbers, damage, excerpt};

fn input(bytes: &[u8]) -> Vec<Input> {
    vec![Input { name: String::new(), bytes: bytes.to_vec().into() }]
}

/// A loader whose tables reach their limits with a few lines.
fn tiny(threads: usize) -> Loader<'static> {
    Loader { tuning: Tuning::tiny(), ..Loader::new().threads(threads) }
}

/// Loads a file in one chunk with one thread.
fn whole(bytes: &[u8]) -> Profile {
    tiny(1).load_cut(input(bytes), vec![Vec::new()])
}

/// Loads a file in one chunk from records only.
fn from_records(bytes: &[u8]) -> Profile {
    let tuning = Tuning { never_skims: true, ..Tuning::tiny() };
    let profile = Loader { tuning, ..tiny(1) }.load_cut(input(bytes), vec![Vec::new()]);
    Profile { tuning: Tuning::tiny(), ..profile }
}

/// Returns all offsets where a file can be cut.
fn all_cuts(bytes: &[u8]) -> Vec<usize> {
    cuts(bytes, 1)
}

fn assert_same(path: &str, whole: &Profile, other: &Profile) {
    if whole == other {
        return;
    }
    let (a, b) = (&whole.index, &other.index);
    assert_eq!(a.findings, b.findings, "{path}");
    assert_eq!(a.names, b.names, "{path}");
    assert_eq!(a.name_ids, b.name_ids, "{path}");
    assert_eq!(a.functions, b.functions, "{path}");
    assert_eq!(a.shared_headers, b.shared_headers, "{path}");
    assert_eq!(a.own_headers, b.own_headers, "{path}");
    assert_eq!(a.blocks, b.blocks, "{path}");
    assert_eq!(a.parts, b.parts, "{path}");
    assert_eq!(a.anchors, b.anchors, "{path}");
    assert_eq!(a.self_costs, b.self_costs, "{path}");
    assert_eq!(a.arcs, b.arcs, "{path}");
    panic!("{path}: another difference in {a:#?}");
}

/// Every profile of the corpora, damaged ones as well.
fn corpus() -> Vec<File> {
    files_outside(&["src", "expected"])
}

#[test]
fn however_a_file_is_cut_the_profile_is_the_same() {
    for file in corpus() {
        let whole = whole(&file.bytes);
        let cuts = all_cuts(&file.bytes);
        let every = cuts.len().div_ceil(50).max(1);
        for every in [every, 7 * every] {
            let cuts: Vec<usize> = cuts.iter().copied().step_by(every).collect();
            for threads in [1, 3] {
                let loader = tiny(threads);
                let other = loader.load_cut(input(&file.bytes), vec![cuts.clone()]);
                assert_same(&format!("{} {every} {threads}", file.path), &whole, &other);
            }
        }
    }
}

#[test]
fn skimmed_lines_come_to_the_same_as_records() {
    for file in corpus() {
        assert_same(&file.path, &from_records(&file.bytes), &whole(&file.bytes));
    }
}

/// Copies a line of the file to behind another one.
fn copy_line(file: &mut Vec<u8>, at: usize, numbers: &mut Numbers) {
    let from = numbers.below(file.len());
    let line = file[from..].split_inclusive(|&byte| byte == b'\n').nth(1).unwrap_or_default().to_vec();
    let at = file[at..].iter().position(|&byte| byte == b'\n').map_or(file.len(), |end| at + end + 1);
    file.splice(at..at, line);
}

#[test]
fn damaged_files_come_to_the_same_as_records_and_however_they_are_cut() {
    let mut numbers = Numbers::new();
    for file in corpus() {
        for _ in 0..6 {
            let mut piece = excerpt(&file.bytes, 3000, &mut numbers);
            for _ in 0..numbers.below(12) {
                damage(&mut piece, &mut numbers, copy_line);
            }
            let text = String::from_utf8_lossy(&piece).into_owned();
            let whole = whole(&piece);
            assert_same(&text, &from_records(&piece), &whole);
            let cuts = all_cuts(&piece).into_iter().step_by(1 + numbers.below(3)).collect();
            let other = tiny(2).load_cut(input(&piece), vec![cuts]);
            assert_same(&text, &whole, &other);
            if let Err(broken) = whole.check() {
                panic!("{broken} in:\n{text}");
            }
        }
    }
}

/// The meaning of an indented line depends on indented lines of other kinds, in any block.
#[test]
fn a_block_with_an_indented_line_is_read_again_as_it_was_read() {
    for file in ["events: Ir\n3\n n=\nfn=\n 1", "events: Ir\n3 9\n fl=a\nfn=f\n5 2\n 1\nfn=g\n 4 4\n+1 5\n"] {
        let whole = whole(file.as_bytes());
        assert_eq!(whole.check(), Ok(()), "{file}");
        assert_same(file, &whole, &tiny(2).load_cut(input(file.as_bytes()), vec![all_cuts(file.as_bytes())]));
    }
}

#[test]
fn all_that_must_hold_does() {
    for file in corpus() {
        if let Err(broken) = whole(&file.bytes).check() {
            panic!("{}: {broken}", file.path);
        }
    }
}

#[test]
fn sums_are_those_of_the_survey() {
    for file in corpus() {
        let profile = whole(&file.bytes);
        let survey = Survey::new(&file.bytes);
        assert_eq!(profile.part_count(), survey.parts.len(), "{}", file.path);
        for (part, expected) in profile.parts().zip(&survey.parts) {
            assert_eq!(part.totals(), survey.totals(expected), "{}", file.path);
            assert_eq!(part.claimed_totals(), survey.claimed_totals(expected), "{}", file.path);
            assert_eq!(part.claimed_summary(), survey.claimed_summary(expected), "{}", file.path);
            assert_eq!(part.location(), expected.location, "{}", file.path);
            assert_eq!((part.number(), part.thread()), (expected.part, expected.thread), "{}", file.path);
            assert_eq!(part.trigger(), expected.trigger, "{}", file.path);
        }
        let (self_costs, calls, jumps) = profile.line_counts();
        assert_eq!(
            (self_costs, calls, jumps),
            (survey.counts.cost_lines, survey.counts.arcs, survey.counts.jumps)
        );
        let totals = profile.totals(&Selection::default());
        let graph = profile.call_graph(&Selection::default());
        assert_eq!(graph.total()[..totals.len()], totals, "{}", file.path);
    }
}

#[test]
fn progress_never_goes_back_and_reaches_the_end() {
    let mut bytes = b"events: Ir\nfl=(1) a.c\n".to_vec();
    let name = "f".repeat(200);
    for function in 0..20_000 {
        bytes.extend_from_slice(format!("fn=({function}) {name}{function}\n1 2\n").as_bytes());
    }
    let length = bytes.len() as u64;
    for threads in [1, 2] {
        let reported = Mutex::new(Vec::new());
        let report = |read: u64| reported.lock().unwrap().push(read);
        Loader::new().threads(threads).progress(&report).load([input(&bytes), input(&bytes)].concat());
        let reported = reported.into_inner().unwrap();
        assert!(reported.is_sorted(), "{reported:?}");
        let reaches_both = reported.contains(&length) && reported.last() == Some(&(2 * length));
        assert!(reported.len() > 4 && reaches_both, "{reported:?}");
    }
}

/// Lines that refer to each other, in any order.
fn any_line() -> impl Strategy<Value = String> {
    let name = || {
        prop_oneof![
            (0u32..4).prop_map(|id| format!("({id})")),
            (0u32..4, "[a-c]").prop_map(|(id, name)| format!("({id}) {name}")),
            (0u32..4).prop_map(|id| format!("({id}) ")),
            (0u32..4, 0u32..4).prop_map(|(id, other)| format!("({id}) ({other})'2'(0)")),
            "[a-c]",
        ]
    };
    let position =
        || prop_oneof![4 => "[1-9][0-9]?", 1 => "\\+[0-9]", 1 => "-[0-9]", 1 => Just("*".to_owned())];
    prop_oneof![
        8 => name().prop_map(|name| format!("fn={name}")),
        2 => name().prop_map(|name| format!("fl={name}")),
        1 => name().prop_map(|name| format!("fi={name}")),
        1 => name().prop_map(|name| format!("fe={name}")),
        1 => name().prop_map(|name| format!("ob={name}")),
        2 => name().prop_map(|name| format!("cob={name}")),
        2 => name().prop_map(|name| format!("cfi={name}")),
        3 => name().prop_map(|name| format!("cfn={name}")),
        1 => name().prop_map(|name| format!("jfi={name}")),
        4 => (position(), 0u32..9).prop_map(|(position, count)| format!("calls={count} {position}")),
        1 => position().prop_map(|position| format!("jump=3 {position}")),
        8 => (position(), 0u32..999, 0u32..99).prop_map(|(position, a, b)| format!("{position} {a} {b}")),
        2 => (position(), 0u32..999).prop_map(|(position, a)| format!("{position} {a}")),
        1 => Just("7 8 9 10".to_owned()),
        1 => Just("nonsense".to_owned()),
        1 => Just(" 3 4".to_owned()),
        1 => Just(" fn=(1)".to_owned()),
        1 => Just(String::new()),
        1 => Just("part: 2".to_owned()),
        1 => Just("events: Ir Dr".to_owned()),
        1 => Just("events: Dr Ir Dr".to_owned()),
        1 => Just("totals: 5".to_owned()),
        1 => Just("desc: Trigger: now".to_owned()),
        1 => Just("==== NEW PROFILING FILE ====".to_owned()),
        1 => Just("creator: callgrind-3.19.0".to_owned()),
        1 => Just("positions: instr line".to_owned()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_file_can_be_cut_anywhere(
        has_fl: bool,
        callgrind: bool,
        lines in prop::collection::vec(any_line(), 0..60),
        which in prop::collection::vec(any::<bool>(), 60),
        threads in 1usize..4,
    ) {
        let mut text = String::new();
        if callgrind {
            text.push_str("creator: callgrind-3.19.0\n");
        }
        text.push_str("events: Ir Dr\n");
        if has_fl {
            text.push_str("fl=(1) a.c\n");
        }
        text.push_str(&lines.join("\n"));
        let bytes = text.as_bytes();
        let whole = whole(bytes);
        assert_same(&text, &from_records(bytes), &whole);
        if let Err(broken) = whole.check() {
            panic!("{broken}");
        }
        let cuts: Vec<usize> =
            all_cuts(bytes).into_iter().zip(which).filter_map(|(at, is_cut)| is_cut.then_some(at)).collect();
        let other = tiny(threads).load_cut(input(bytes), vec![cuts]);
        assert_same(&text, &whole, &other);
        let survey = Survey::new(bytes);
        for (part, expected) in whole.parts().zip(&survey.parts) {
            prop_assert_eq!(part.totals(), survey.totals(expected));
        }
    }
}

/// The lines of a function are read in its object.
#[test]
fn functions_of_nytprof_are_those_of_one_object() {
    let text = "events: Ticks\nfl=B.pm\nfn=B::new\n6 14\nob=perl\nfn=B::new\ncalls=1 0\n7 5\n";
    let profile = whole(text.as_bytes());
    let lines: Vec<_> =
        profile.functions().map(|id| profile.lines(id, &Selection::default()).calls.len()).collect();
    assert_eq!(lines, [0, 1, 0]);
}

#[test]
fn functions_of_nytprof_are_their_names() {
    let text = "events: Ticks\n
fl=a.pl\nfn=main::run\n1 5\n\nfl=B.pm\nfn=B::new\n3 7\n
fl=a.pl\nfn=main::run\ncfl=B.pm\ncfn=B::new\ncalls=1 3\n2 3\n
fl=(eval 1)[a.pl:4]\nfn=main::run\ncfl=B.pm\ncfn=B::new\ncalls=1 3\n1 4\n
fl=B.pm\nfn=main::NULL\ncfl=a.pl\ncfn=main::run\ncalls=1 1\n9 12\n
fl=a.pl\nfn=main::NULL\ncfl=a.pl\ncfn=main::run\ncalls=1 1\n9 0\n";
    let functions = |text: &str| {
        let profile = whole(text.as_bytes());
        let function = |id| {
            let function = profile.function(id);
            [function.name, profile.file(function.file)]
                .map(|name| String::from_utf8_lossy(name).into_owned())
        };
        profile.functions().map(function).collect::<Vec<_>>()
    };
    let expected = [["main::run", "a.pl"], ["B::new", "B.pm"], ["main::NULL", "B.pm"]];
    assert_eq!(functions(text), expected);
    let profile = whole(text.as_bytes());
    let graph = profile.call_graph(&Selection::default());
    assert_eq!(graph.arcs().len(), 2);
    let costs: Vec<_> = graph.nodes().map(|node| graph.self_and_callees(node)[0]).collect();
    assert_eq!(costs, [12, 7, 12]);
    // Names without a package, and files of others, keep their files.
    assert_eq!(functions(&text.replace("main::run", "run")).len(), 4);
    for (from, to) in [("events: Ticks", "creator: other\nevents: Ticks"), ("Ticks", "Time")] {
        assert_eq!(functions(&text.replacen(from, to, 1)).len(), 5);
    }
}
