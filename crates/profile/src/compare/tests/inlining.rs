//! Inlining in source files that were edited: lines moved, and what moved with them is not inlined.

use gristmill_format::Cost;

use crate::Profile;
use crate::compare::{Cause, CompareOptions, Comparison, JoinedId, MoveKind};

/// A function with its lines and their costs; `calls` has the callee, the count, the line of its entry, the line of the call
/// and the inclusive cost.
#[derive(Clone)]
struct Text {
    name: &'static str,
    lines: Vec<(u32, Cost)>,
    calls: Vec<(&'static str, Cost, u32, u32, Cost)>,
}

fn function(name: &'static str, lines: &[(u32, Cost)]) -> Text {
    Text { name, lines: lines.to_vec(), calls: Vec::new() }
}

impl Text {
    fn call(mut self, callee: &'static str, count: Cost, entry: u32, line: u32, cost: Cost) -> Self {
        self.calls.push((callee, count, entry, line, cost));
        self
    }
}

fn profile(functions: &[Text]) -> Profile {
    let mut text = String::from("# callgrind format\ncreator: callgrind-3.19.0\nevents: Ir\nob=p\nfl=p.c\n");
    for Text { name, lines, calls } in functions {
        text += &format!("fn={name}\n");
        for (line, cost) in lines {
            text += &format!("{line} {cost}\n");
        }
        for (callee, count, entry, line, cost) in calls {
            text += &format!("cfn={callee}\ncalls={count} {entry}\n{line} {cost}\n");
        }
    }
    Profile::from_bytes(text)
}

/// Returns the functions that are said to be inlined, or no longer.
fn moves(base: &Profile, new: &Profile) -> Vec<String> {
    let comparison = Comparison::new(&[base], &[new], &CompareOptions::default()).unwrap();
    let explanations = comparison.explain(0);
    let sum: Cost = explanations.causes.iter().map(|cause| cause.effect).sum();
    assert_eq!(sum, comparison.total(0).delta());
    let name = |function: JoinedId| String::from_utf8_lossy(comparison.mention(function).name).into_owned();
    let told = explanations.causes.iter().filter_map(|explanation| match &explanation.cause {
        Cause::Moved { kind, function, callers, .. } => {
            let into: Vec<String> = callers.iter().map(|(caller, _)| name(*caller)).collect();
            let word = if *kind == MoveKind::Inlined { "into" } else { "out of" };
            Some(format!("{} {word} {}", name(*function), into.join(" ")))
        }
        _ => None,
    });
    told.collect()
}

/// Lines of a function that begins at a line.
fn from(first: u32, costs: &[Cost]) -> Vec<(u32, Cost)> {
    (first..).zip(costs.iter().copied()).filter(|(_, cost)| *cost > 0).collect()
}

const PROCESS: [Cost; 8] = [400, 1600, 0, 90_000, 90_000, 90_000, 90_000, 400];
const SMALL: [Cost; 6] = [400, 800, 60_000, 60_000, 60_000, 400];

fn sum(costs: &[Cost]) -> Cost {
    costs.iter().sum()
}

/// `main` calls `process`, which begins at a line, as does `main`.
fn plain(process: u32, main: u32) -> Vec<Text> {
    let mut functions = vec![function("process", &from(process, &PROCESS))];
    functions.push(function("main", &[(main, 10), (main + 1, 5000)]).call(
        "process",
        400,
        process,
        main + 2,
        sum(&PROCESS),
    ));
    functions.push(function("start", &[]).call("main", 1, main, 0, 5010 + sum(&PROCESS)));
    functions
}

/// The same, and `process` calls `small`, which begins at a line.
fn with_helper(small: u32, process: u32, main: u32) -> Vec<Text> {
    let whole = sum(&PROCESS) + sum(&SMALL) + 1600;
    let lines = [from(process, &PROCESS), vec![(process + 2, 1600)]].concat();
    vec![
        function("small", &from(small, &SMALL)),
        function("process", &lines).call("small", 400, small, process + 2, sum(&SMALL)),
        function("main", &[(main, 10), (main + 1, 5000)]).call("process", 400, process, main + 2, whole),
        function("start", &[]).call("main", 1, main, 0, 5010 + whole),
    ]
}

#[test]
fn a_helper_that_came_or_went_was_not_inlined() {
    // Above its caller, whose lines move to where those of the helper are, and below it.
    for (base, new) in [
        (plain(7, 20), with_helper(6, 17, 30)),
        (plain(7, 20), with_helper(7, 10, 23)),
        (plain(7, 20), with_helper(30, 7, 20)),
        (plain(7, 20), with_helper(18, 7, 28)),
    ] {
        let (base, new) = (profile(&base), profile(&new));
        assert_eq!(moves(&base, &new), Vec::<String>::new());
        assert_eq!(moves(&new, &base), Vec::<String>::new());
    }
}

/// `process` has the code of `small`, which begins at a line, in it.
fn inlined(small: u32, process: u32, main: u32) -> Vec<Text> {
    let mut functions = plain(process, main);
    functions[0].lines.extend(from(small, &SMALL).into_iter().map(|(line, cost)| (line, cost * 9 / 10)));
    functions
}

#[test]
fn inlining_is_found_where_lines_moved() {
    for (apart, together) in [
        // Nothing moved; everything moved; a line was added between the two.
        (with_helper(6, 17, 30), inlined(6, 17, 30)),
        (with_helper(6, 17, 30), inlined(26, 37, 50)),
        (with_helper(6, 17, 30), inlined(6, 18, 31)),
        // Below the caller.
        (with_helper(18, 7, 30), inlined(18, 7, 30)),
        (with_helper(18, 7, 30), inlined(19, 7, 31)),
    ] {
        let (apart, together) = (profile(&apart), profile(&together));
        assert_eq!(moves(&apart, &together), ["small into process"]);
        assert_eq!(moves(&together, &apart), ["small out of process"]);
    }
}

/// Returns the self cost that is said to be inlined, or no longer.
fn moved(base: &Profile, new: &Profile) -> Option<Cost> {
    let comparison = Comparison::new(&[base], &[new], &CompareOptions::default()).unwrap();
    comparison.explain(0).causes.iter().find_map(|explanation| match explanation.cause {
        Cause::Moved { moved, .. } => Some(moved),
        _ => None,
    })
}

#[test]
fn all_of_a_function_is_inlined_into_a_caller_that_is_called_less_often() {
    let apart = profile(&with_helper(6, 17, 30));
    let mut functions = inlined(6, 17, 30);
    for function in &mut functions[..2] {
        function.lines.iter_mut().for_each(|(_, cost)| *cost /= 10);
        function
            .calls
            .iter_mut()
            .for_each(|(_, count, .., cost)| (*count, *cost) = (*count / 10, *cost / 10));
    }
    let together = profile(&functions);
    for (base, new) in [(&apart, &together), (&together, &apart)] {
        assert_eq!(moves(base, new).len(), 1);
        assert_eq!(moved(base, new), Some(sum(&SMALL)));
    }
    // A half of the calls is left: the other half is inlined.
    functions[0].calls.clear();
    let half = SMALL.map(|cost| cost / 20);
    functions[0].lines = [from(17, &PROCESS.map(|cost| cost / 10)), vec![(19, 160)], from(6, &half)].concat();
    functions[0] = functions[0].clone().call("small", 20, 6, 19, sum(&half));
    functions.insert(0, function("small", &from(6, &half)));
    let together = profile(&functions);
    for (base, new) in [(&apart, &together), (&together, &apart)] {
        assert_eq!(moved(base, new), Some(sum(&SMALL) / 2));
    }
}

/// `heavy` calls `step` 200 times and `other` does 100 times; `step` calls `mix`. With `is_inlined`, `mix` is in `step`, and both are in
/// `heavy`.
fn nested(is_inlined: bool) -> Vec<Text> {
    let mix = |part: Cost| from(6, &[300, 30_000, 60_000, 30_000, 300].map(|cost| cost * part / 3));
    let step = |part: Cost| from(17, &[600, 1200, 3000, 0, 1200, 600].map(|cost| cost * part / 3));
    let heavy = from(30, &[400, 5000, 0, 8000]);
    let other = from(40, &[300, 6000, 0, 300]);
    let (mix_cost, step_cost) = (120_600, 6600);
    let mut functions = if is_inlined {
        vec![
            function("step", &[mix(1), step(1)].concat()),
            function("heavy", &[mix(2), step(2), heavy].concat()),
            function("other", &other),
        ]
    } else {
        let both = mix_cost + step_cost;
        vec![
            function("mix", &mix(3)),
            function("step", &step(3)).call("mix", 300, 6, 20, mix_cost),
            function("heavy", &heavy).call("step", 200, 17, 32, both * 2 / 3),
            function("other", &other),
        ]
    };
    let third = (mix_cost + step_cost) / 3;
    let other = functions.len() - 1;
    functions[other] = functions[other].clone().call("step", 100, 17, 42, third);
    functions.push(function("main", &[(50, 10)]).call("heavy", 1, 30, 51, 13_400 + 2 * third).call(
        "other",
        1,
        40,
        52,
        6600 + third,
    ));
    functions
}

#[test]
fn a_cost_that_was_inlined_into_an_inlined_function_is_not_its_own() {
    let (apart, together) = (profile(&nested(false)), profile(&nested(true)));
    for (base, new) in [(&apart, &together), (&together, &apart)] {
        let comparison = Comparison::new(&[base], &[new], &CompareOptions::default()).unwrap();
        let mut costs: Vec<(Vec<u8>, Cost)> = comparison
            .explain(0)
            .causes
            .iter()
            .filter_map(|explanation| match explanation.cause {
                Cause::Moved { function, moved, .. } => {
                    Some((comparison.mention(function).name.to_vec(), moved))
                }
                _ => None,
            })
            .collect();
        costs.sort();
        // Of the 6,600 of `step`, two thirds are for `heavy`.
        assert_eq!(costs, [(b"mix".to_vec(), 120_600), (b"step".to_vec(), 4400)]);
    }
}

#[test]
fn calls_that_another_caller_no_longer_makes_were_not_inlined() {
    let mut base = with_helper(6, 17, 30);
    // `fast` calls `small` 2,000 times, and `process` 400 times.
    let of_fast = sum(&SMALL) * 5 / 6;
    base.push(function("fast", &[(60, 9000)]).call("small", 2000, 6, 61, of_fast));
    // `process`, `main` and `start` have less of it.
    base[1..4].iter_mut().for_each(|caller| caller.calls[0].4 -= of_fast);
    let mut new = inlined(6, 17, 30);
    new[0].lines = [from(17, &PROCESS), from(6, &SMALL.map(|cost| cost / 6))].concat();
    new.push(function("fast", &[(60, 9000)]));
    let (base, new) = (profile(&base), profile(&new));
    let comparison = Comparison::new(&[&base], &[&new], &CompareOptions::default()).unwrap();
    let causes = comparison.explain(0).causes;
    let effect_of = |is_cause: fn(&Cause) -> bool| {
        causes.iter().filter(|known| is_cause(&known.cause)).map(|known| known.effect).collect::<Vec<_>>()
    };
    assert_eq!(effect_of(|cause| matches!(cause, Cause::Vanished { .. })), [-of_fast]);
    // Not by `process`, which has its code now.
    let fast = |id: JoinedId| comparison.mention(id).name == b"fast";
    let is_called = |cause: &Cause| matches!(*cause, Cause::Vanished { caller: Some(caller), others: 0, .. } if fast(caller));
    assert!(causes.iter().any(|known| is_called(&known.cause)));
    let saved = effect_of(|cause| matches!(cause, Cause::Moved { .. }));
    // The calls of `small`, which cost 4 each, and roundings of its lines.
    assert!(matches!(saved[..], [-1700..=-1600]), "{saved:?}");
}

#[test]
fn a_caller_can_begin_with_inlined_code() {
    // The optimizer moved an instruction of `small` in front of those of `process`, so calls enter at the line of `small`.
    let apart = profile(&with_helper(6, 17, 30));
    let mut together = inlined(6, 17, 30);
    for function in &mut together {
        for call in function.calls.iter_mut().filter(|call| call.0 == "process") {
            call.2 = 7;
        }
    }
    assert_eq!(moves(&apart, &profile(&together)), ["small into process"]);
}

#[test]
fn a_part_that_became_a_function_was_not_inlined() {
    // The loop of `parse` is a function of its own in the new program, above or below what is left of it.
    let head: [Cost; 3] = [8_000, 16_000, 8_000];
    let body: [Cost; 3] = [90_000, 120_000, 60_000];
    let tail: [Cost; 3] = [8_000, 16_000, 8_000];
    let before = |parse: u32, main: u32| {
        let lines = from(parse, &[head, body, tail].concat());
        let whole = lines.iter().map(|(_, cost)| cost).sum();
        vec![
            function("other", &[(3, 5), (4, 5)]),
            function("parse", &lines),
            function("main", &[(main, 10)]).call("parse", 8000, parse, main + 1, whole).call(
                "other",
                1,
                3,
                main + 2,
                10,
            ),
            function("start", &[]).call("main", 1, main, 0, whole + 20),
        ]
    };
    let after = |digits: u32, parse: u32, main: u32| {
        let of_digits = [&[8_000][..], &body, &[8_000]].concat();
        let cost = sum(&of_digits);
        let lines = from(parse, &[&head[..], &[16_000], &tail].concat());
        let whole = lines.iter().map(|(_, cost)| cost).sum::<Cost>() + cost;
        vec![
            function("other", &[(3, 5), (4, 5)]),
            function("digits", &from(digits, &of_digits)),
            function("parse", &lines).call("digits", 8000, digits, parse + 3, cost),
            function("main", &[(main, 10)]).call("parse", 8000, parse, main + 1, whole).call(
                "other",
                1,
                3,
                main + 2,
                10,
            ),
            function("start", &[]).call("main", 1, main, 0, whole + 20),
        ]
    };
    for (base, new) in [
        (before(10, 30), after(10, 17, 37)),
        (before(10, 30), after(19, 10, 37)),
        (before(30, 10), after(30, 37, 10)),
        (before(30, 10), after(39, 30, 10)),
    ] {
        let (base, new) = (profile(&base), profile(&new));
        assert_eq!(moves(&base, &new), Vec::<String>::new());
        assert_eq!(moves(&new, &base), Vec::<String>::new());
    }
}

/// Both have the lines of a third function, which is inlined into them: they prove nothing about one in the other.
#[test]
fn lines_of_a_common_header_are_no_proof() {
    let profile = |functions: &str| {
        Profile::from_bytes(format!(
            "# callgrind format\ncreator: callgrind-3.19.0\nevents: Ir\nob=p\n{functions}"
        ))
    };
    let main = |cost: Cost| format!("fl=p.c\nfn=main\n1 10\ncfn=load\ncalls=10 10\n2 {cost}\n");
    let base = "fl=p.c\nfn=load\n10 1000\n11 100000\nfi=text.h\n5 250000\n6 250000\nfe=p.c\n12 1000\n";
    let new = "fl=p.c\nfn=load\n10 1000\n11 100000\nfe=p.c\n12 1000\ncfi=algo.h\ncfn=sift\ncalls=400 300\n11 640000\n\
               fl=algo.h\nfn=sift\n300 20000\n301 20000\nfi=text.h\n5 300000\n6 300000\n";
    let base = profile(&(base.to_owned() + &main(602_000)));
    let new = profile(&(new.to_owned() + &main(742_000)));
    assert_eq!(moves(&base, &new), Vec::<String>::new());
    assert_eq!(moves(&new, &base), Vec::<String>::new());
}

#[test]
fn what_two_functions_have_inlined_is_no_proof() {
    // `f` of p.c begins with code of h.h that is inlined into it, and so is said to be of h.h. The caller has the same code
    // inlined in place of the call, or all of `f`.
    let profile = |calls: Cost, of_header: Cost, of_f: Cost| {
        let call = if calls > 0 {
            format!("cfi=h.h\ncfn=f\ncalls={calls} 2\n15 {}\n", calls * 100)
        } else {
            String::new()
        };
        let (all, end) = ((calls + 300) * 99, calls + 300);
        Profile::from_bytes(format!(
            "# callgrind format\ncreator: callgrind-3.19.0\nevents: Ir\nob=p\nfl=h.h\nfn=f\n2 {all}\nfi=p.c\n11 {end}\n\
            fl=p.c\nfn=p\n14 900\n{call}fi=h.h\n2 {of_header}\nfe=p.c\n11 {of_f}\n\
            fn=q\n13 400\ncfi=h.h\ncfn=f\ncalls=300 2\n13 30000\n\
            fn=main\n20 5\ncfn=p\ncalls=1 14\n20 {}\ncfn=q\ncalls=1 13\n21 30400\n",
            900 + calls * 100 + of_header + of_f
        ))
    };
    let base = profile(800, 0, 0);
    assert_eq!(moves(&base, &profile(0, 72_000, 0)), [""; 0]);
    assert_eq!(moves(&profile(0, 72_000, 0), &base), [""; 0]);
    assert_eq!(moves(&base, &profile(0, 72_000, 600)), ["f into p"]);
    assert_eq!(moves(&profile(0, 72_000, 600), &base), ["f out of p"]);
}

#[test]
fn each_block_of_lines_must_come_up() {
    // `g` begins at line 2 and is inlined into `f`, whose own line is 11. All are of one file.
    let profile = |calls: Cost, of_g: Cost, of_f: Cost| {
        let call =
            if calls > 0 { format!("cfn=f\ncalls={calls} 2\n15 {}\n", calls * 100) } else { String::new() };
        let (all, end) = ((calls + 300) * 99, calls + 300);
        Profile::from_bytes(format!(
            "# callgrind format\ncreator: callgrind-3.19.0\nevents: Ir\nob=p\nfl=p.c\nfn=f\n2 {all}\n11 {end}\n\
            fn=p\n14 900\n{call}2 {of_g}\n11 {of_f}\n\
            fn=q\n13 400\ncfn=f\ncalls=300 2\n13 30000\n\
            fn=main\n20 5\ncfn=p\ncalls=1 14\n20 {}\ncfn=q\ncalls=1 13\n21 30400\n",
            900 + calls * 100 + of_g + of_f
        ))
    };
    let base = profile(800, 0, 0);
    assert_eq!(moves(&base, &profile(0, 72_000, 0)), [""; 0]);
    assert_eq!(moves(&base, &profile(0, 72_000, 600)), ["f into p"]);
}

#[test]
fn the_lines_of_a_function_that_both_inline_prove_nothing() {
    // `helper` (lines 2 to 4) is inlined into `work` right below it. `main` calls `work`, then does the work of `helper` itself.
    let work =
        |count: Cost| function("work", &[(2, 10 * count), (3, 20 * count), (4, 10 * count), (6, 5 * count)]);
    let rest = |main: Text| [main, function("other", &[(1, 40)]).call("work", 500, 6, 1, 22_500)];
    let main = function("main", &[(30, 100)]).call("work", 500, 6, 31, 22_500);
    let [main, other] = rest(main);
    let base = profile(&[work(1000), main, other]);
    let main = function("main", &[(2, 5_000), (3, 10_000), (4, 5_000), (30, 100), (31, 500)]);
    let [main, other] = rest(main);
    let new = profile(&[work(500), main, other]);
    assert_eq!(moves(&base, &new), [""; 0]);
    assert_eq!(moves(&new, &base), [""; 0]);
}

/// `main` calls `first`, which lies above all others, and `last`, which begins at a line and has lines and calls of its own.
fn between(last: Text, begins: u32, others: Vec<Text>) -> Profile {
    let whole = last.lines.iter().map(|(_, cost)| cost).chain(last.calls.iter().map(|call| &call.4)).sum();
    let main = function("main", &[(begins + 60, 10)]).call("first", 1, 2, begins + 61, 10).call(
        "last",
        1,
        begins,
        begins + 62,
        whole,
    );
    let start = function("start", &[]).call("main", 1, begins + 60, 0, whole + 20);
    profile(&[vec![function("first", &[(2, 5), (3, 5)]), last, main, start], others].concat())
}

#[test]
fn a_new_function_in_the_place_of_another_was_not_inlined() {
    // `last` has the code of a helper on both sides. `gone`, below the helper, was deleted, and `fresh`, which is as long, was written
    // above it: the lines of the helper moved, and `last` costs what it did.
    let own: Vec<(u32, Cost)> = vec![(40, 100), (41, 300)];
    let helper = |line: u32| [from(line, &SMALL), own.clone()].concat();
    let fresh = [400, 900, 50_000, 70_000, 60_000, 400];
    let base = function("last", &helper(6)).call("gone", 400, 14, 41, sum(&PROCESS));
    let new = function("last", &helper(14)).call("fresh", 400, 6, 41, sum(&fresh));
    let base = between(base, 40, vec![function("gone", &from(14, &PROCESS))]);
    let new = between(new, 40, vec![function("fresh", &from(6, &fresh))]);
    assert_eq!(moves(&base, &new), [""; 0]);
    assert_eq!(moves(&new, &base), [""; 0]);
}

#[test]
fn a_line_proves_one_function_only() {
    // `small` is inlined into `last`. `gone`, below it, was deleted, so lines of `small` are also where those of `gone` would be.
    let gone: [Cost; 6] = [300, 500, 20_000, 20_000, 30_000, 300];
    for gone in [gone, gone.map(|cost| cost * 5)] {
        let base = function("last", &[(40, 100), (41, 4000), (42, 4000)])
            .call("small", 400, 10, 41, sum(&SMALL))
            .call("gone", 400, 18, 42, sum(&gone));
        let functions = vec![function("small", &from(10, &SMALL)), function("gone", &from(18, &gone))];
        let base = between(base, 40, functions);
        let inlined = from(10, &SMALL).into_iter().map(|(line, cost)| (line, cost * 9 / 10));
        let own = [(32, 100), (33, 2000)];
        let new = between(function("last", &inlined.chain(own).collect::<Vec<_>>()), 32, Vec::new());
        assert_eq!(moves(&base, &new), ["small into last"]);
        assert_eq!(moves(&new, &base), ["small out of last"]);
    }
}

#[test]
fn what_a_function_saves_at_its_calls_is_no_loss() {
    // `last` costs hardly more than before: to call `small` cost it nearly as much as the code of `small` costs it now.
    let base = function("last", &[(40, 100), (41, 150_000)]).call("small", 400, 10, 41, sum(&SMALL));
    let base = between(base, 40, vec![function("small", &from(10, &SMALL))]);
    let new = [from(10, &SMALL), vec![(40, 100), (41, 400)]].concat();
    let new = between(function("last", &new), 40, Vec::new());
    assert_eq!(moves(&base, &new), ["small into last"]);
    assert_eq!(moves(&new, &base), ["small out of last"]);
}

#[test]
fn a_part_is_not_inlined_if_little_else_is_left() {
    // Recorded: two loops of `last` became `part`, above it; the third was deleted.
    let base = from(5, &[21, 2643, 8491, 8470, 42, 21]);
    let base = between(function("last", &base), 5, Vec::new());
    let part = from(6, &[2604, 7224, 42, 21]);
    let new = function("last", &from(12, &[42, 63, 42, 42])).call("part", 21, 6, 13, 9891);
    let new = between(new, 12, vec![function("part", &part)]);
    assert_eq!(moves(&base, &new), [""; 0]);
    assert_eq!(moves(&new, &base), [""; 0]);
}

#[test]
fn a_function_that_is_called_as_before_was_not_inlined() {
    // Recorded: `step`, which calls `work`, was inlined into `p` and `q`, and moved above `work`. `work` is called 69 times on both sides.
    let leaf = function("leaf", &from(13, &[175_428, 84_060, 972, 486]));
    let work = |line: u32| {
        function("work", &from(line, &[207, 1725, 5742, 1725, 138, 207])).call(
            "leaf",
            276,
            13,
            line + 1,
            148_212,
        )
    };
    let main = function("main", &[(58, 2), (59, 2)]).call("q", 1, 47, 58, 200_000);
    let base = profile(&[
        leaf.clone(),
        work(19),
        function(
            "p",
            &[&from(29, &[1140, 90, 10_938, 60])[..], &from(35, &[60, 132, 2064, 18, 30])].concat(),
        )
        .call("work", 30, 19, 30, 128_040)
        .call("leaf", 180, 13, 29, 96_660)
        .call("work", 30, 19, 38, 128_112),
        function("q", &[&from(29, &[152, 12, 1462, 8])[..], &from(47, &[5, 208, 182, 37, 230, 18])].concat())
            .call("p", 6, 35, 50, 385_722)
            .call("work", 4, 19, 30, 17_072)
            .call("leaf", 24, 13, 29, 12_888)
            .call("work", 5, 19, 52, 21_352),
        main.clone(),
    ]);
    let new = profile(&[
        leaf,
        work(28),
        function("step", &from(20, &[102, 1258, 102, 12_400, 68, 102]))
            .call("leaf", 204, 13, 21, 109_548)
            .call("work", 34, 28, 22, 145_112),
        function("p", &from(35, &[18, 186, 2064, 18, 18]))
            .call("step", 30, 20, 36, 237_078)
            .call("work", 30, 28, 38, 128_112),
        function("q", &from(47, &[3, 208, 182, 37, 226, 25]))
            .call("p", 6, 35, 50, 385_872)
            .call("step", 4, 20, 52, 31_614)
            .call("work", 5, 28, 52, 21_352),
        main,
    ]);
    assert!(moves(&base, &new).iter().all(|told| !told.starts_with("work")));
    assert!(moves(&new, &base).iter().all(|told| !told.starts_with("work")));
}

#[test]
fn a_little_of_an_expensive_line_is_no_proof() {
    // Recorded: `f1`, below `f0`, was inlined into `f3`, and `f0` was deleted, so that lines of `f1` are where those of `f0` were.
    let base = profile(&[
        function("f0", &from(6, &[8076, 3996, 8460, 48, 24])),
        function("f1", &from(14, &[6, 27, 462, 6, 6])).call("f0", 9, 6, 15, 7713),
        function("f2", &from(22, &[9, 846, 75, 6, 9])).call("f0", 12, 6, 24, 10_320),
        function("f3", &from(28, &[3, 118, 9, 9, 196, 9, 2, 3]))
            .call("f2", 3, 22, 30, 11_265)
            .call("f0", 3, 6, 31, 2571)
            .call("f1", 3, 14, 33, 8220),
        function("main", &[(38, 2), (39, 2)]).call("f3", 1, 28, 39, 22_405),
    ]);
    let new = profile(&[
        function("f2", &from(14, &[846, 6, 3])),
        function("f3", &[from(7, &[468, 6]), from(18, &[2, 118, 9, 202, 13, 2, 2])].concat())
            .call("f2", 3, 14, 20, 855),
        function("main", &[(27, 2), (28, 2)]).call("f3", 1, 18, 27, 1677),
    ]);
    let is_of_deleted = |told: &String| told.starts_with("f0 ");
    assert!(!moves(&base, &new).iter().any(is_of_deleted));
    assert!(!moves(&new, &base).iter().any(is_of_deleted));
}

#[test]
fn an_added_line_saves_nothing_in_those_below_it() {
    // Recorded: `f4` has the code of a function of lines 5 to 8 inlined. `f5` was added below that, and `f4` calls it in a line
    // that was added in the middle: each line behind it stands where another one was.
    let of_f2 = |line: u32, own: u32| [from(line, &[206, 129, 635, 2]), from(own, &[178, 2, 2, 1])].concat();
    let base = profile(&[
        function("f2", &of_f2(5, 23)),
        function(
            "f4",
            &[from(5, &[73, 45, 228, 1]), from(28, &[2, 2, 3, 328, 183, 1, 58, 188, 2, 2])].concat(),
        )
        .call("f2", 1, 23, 29, 1155),
        function("main", &from(39, &[1, 2, 3])).call("f4", 1, 28, 40, 2271),
    ]);
    let new = profile(&[
        function("f2", &of_f2(10, 34)),
        function("f5", &from(18, &[190, 2, 1])),
        function(
            "f4",
            &[from(10, &[73, 45, 228, 1]), from(39, &[2, 2, 3, 328, 182, 4, 1, 58, 188, 2, 2])].concat(),
        )
        .call("f2", 1, 34, 40, 1155)
        .call("f5", 1, 18, 44, 193),
        function("main", &from(51, &[1, 2, 3])).call("f4", 1, 39, 52, 2467),
    ]);
    assert_eq!(moves(&base, &new), [""; 0]);
    assert_eq!(moves(&new, &base), [""; 0]);
}

#[test]
fn counts_that_no_profile_has_are_not_told() {
    // `last` calls `work` 300 times, and by `small`, which is inlined later, 1,000 times. Then it calls it 800 times.
    let work = |calls: Cost| function("work", &[(90, 50 * calls), (91, 50 * calls)]);
    let base = function("last", &[(40, 100), (41, 900)])
        .call("small", 400, 10, 41, sum(&SMALL) + 100_000)
        .call("work", 300, 90, 42, 30_000);
    let small = function("small", &from(10, &SMALL)).call("work", 1000, 90, 12, 100_000);
    let base = between(base, 40, vec![small, work(1300)]);
    let new = [from(10, &SMALL), vec![(40, 100), (41, 900)]].concat();
    let new = between(function("last", &new).call("work", 800, 90, 42, 80_000), 40, vec![work(800)]);
    assert_eq!(moves(&base, &new), ["small into last"]);
    let comparison = Comparison::new(&[&base], &[&new], &CompareOptions::default()).unwrap();
    let counts = comparison.explain(0).causes.into_iter().filter_map(|explanation| match explanation.cause {
        Cause::Calls { count, .. } => Some((count, explanation.effect)),
        _ => None,
    });
    assert_eq!(counts.collect::<Vec<_>>(), [(None, -50_000)]);
}
