//! Causes of profiles with a known cause.

use gristmill_format::Cost;

use crate::compare::{Cause, CompareOptions, Comparison, JoinedId, MoveKind, PerCallProof};
use crate::{Builder, Profile};

/// `main` calls `run`, which calls `grind` so often, and `grind` calls `crack` unless that is inlined.
fn mill(rounds: Cost, own: Cost, is_inlined: bool) -> Profile {
    let mut builder = Builder::new(&["Ir"]);
    let [main, run, grind, crack] =
        ["main", "run", "grind", "crack"].map(|name| builder.function(b"mill", b"mill.c", name.as_bytes()));
    let of_grind = own + if is_inlined { 50 } else { 60 };
    builder.cost(main, 1, &[10]).call(main, 2, run, 1, &[20 + rounds * of_grind]);
    builder.cost(run, 5, &[20]).call(run, 6, grind, rounds, &[rounds * of_grind]);
    if is_inlined {
        builder.cost(grind, 9, &[rounds * own]).cost(grind, 20, &[rounds * 50]);
    } else {
        builder.cost(grind, 9, &[rounds * own]).call(grind, 10, crack, 2 * rounds, &[rounds * 60]);
        builder.cost(crack, 20, &[rounds * 60]);
    }
    builder.build().unwrap()
}

fn name(comparison: &Comparison<'_>, function: JoinedId) -> String {
    String::from_utf8_lossy(comparison.mention(function).name).into_owned()
}

/// Causes as text, with their effects.
fn causes(base: &Profile, new: &Profile) -> Vec<(String, Cost)> {
    let comparison = Comparison::new(&[base], &[new], &CompareOptions::default()).unwrap();
    let explanations = comparison.explain(0);
    let sum: Cost = explanations.causes.iter().map(|cause| cause.effect).sum();
    assert_eq!(sum, comparison.total(0).delta());
    for cause in &explanations.causes {
        assert_eq!(cause.functions.iter().map(|(_, part)| part).sum::<Cost>(), cause.effect);
    }
    let name = |function: JoinedId| name(&comparison, function);
    let told = explanations.causes.iter().map(|explanation| {
        let text = match &explanation.cause {
            Cause::Moved { kind, function, callers, moved } => {
                let into: Vec<String> = callers.iter().map(|(caller, _)| name(*caller)).collect();
                let word = if *kind == MoveKind::Inlined { "into" } else { "out of" };
                format!("{} {word} {}: {moved}", name(*function), into.join(" "))
            }
            Cause::Calls { caller, callee, count } => {
                let count = count.map_or_else(|| "?".to_owned(), |count| format!("{:+}", count.delta()));
                format!("{} -> {}: {count}", name(*caller), name(*callee))
            }
            Cause::PerCall { function, proof } => match proof {
                PerCallProof::All { .. } => format!("{} per call", name(*function)),
                PerCallProof::From(from, others) => {
                    let others = if *others == 0 { String::new() } else { format!(" and {others} more") };
                    format!("{}{others} -> {} per call", name(from.caller), name(*function))
                }
                PerCallProof::Counts(from) => {
                    format!(
                        "{} on average, {} calls {:+}",
                        name(*function),
                        name(from.caller),
                        from.calls.delta()
                    )
                }
                PerCallProof::Average => format!("{} on average", name(*function)),
            },
            Cause::SelfCost { function } => format!("{} itself", name(*function)),
            Cause::New { function, .. } => format!("new {}", name(*function)),
            Cause::Vanished { function, .. } => format!("vanished {}", name(*function)),
            Cause::Split { function, caller, of_caller } => {
                format!("{} and {}: {of_caller:+}", name(*function), name(*caller))
            }
            Cause::Swapped { function, other } => format!("{} is {}", name(*function), name(*other)),
        };
        (text, explanation.effect)
    });
    told.collect()
}

fn told(causes: &[(&str, Cost)]) -> Vec<(String, Cost)> {
    causes.iter().map(|(text, effect)| ((*text).to_owned(), *effect)).collect()
}

/// `file` and `line` call `parse`, which calls `deep`: nearly all of the cost of a call.
fn parser(own_for_file: Cost, own_for_line: Cost) -> Profile {
    let mut builder = Builder::new(&["Ir"]);
    let [main, file, line, parse, deep] =
        ["main", "file", "line", "parse", "deep"].map(|name| builder.function(b"a", b"a.c", name.as_bytes()));
    let of_file = 1_000 * (own_for_file + 12_000);
    let of_line = 90 * (own_for_line + 12_000);
    builder.cost(main, 1, &[10]).call(main, 2, file, 1, &[of_file]).call(main, 3, line, 1, &[of_line]);
    builder.call(file, 5, parse, 1_000, &[of_file]).call(line, 7, parse, 90, &[of_line]);
    builder.cost(parse, 9, &[1_000 * own_for_file + 90 * own_for_line]);
    builder.call(parse, 10, deep, 1_090, &[1_090 * 12_000]).cost(deep, 20, &[1_090 * 12_000]);
    builder.build().unwrap()
}

#[test]
fn calls_of_other_callers_that_rose_as_much_are_seen() {
    // By 1.5% of the calls' cost for all callers.
    assert_eq!(causes(&parser(70, 70), &parser(250, 250)), [("parse per call".to_owned(), 1_090 * 180)]);
    assert_eq!(
        causes(&parser(70, 70), &parser(250, 70)),
        [("file -> parse per call".to_owned(), 1_000 * 180)]
    );
}

#[test]
fn nothing_explains_nothing() {
    let mill = mill(100, 5, false);
    assert_eq!(causes(&mill, &mill), []);
}

#[test]
fn calls_are_distinguished_from_cost_per_call() {
    // Both functions below the place where the calls come from are one cause.
    assert_eq!(causes(&mill(100, 5, false), &mill(130, 5, false)), told(&[("run -> grind: +30", 30 * 65)]));
    assert_eq!(causes(&mill(100, 5, false), &mill(100, 7, false)), told(&[("grind per call", 200)]));
    assert_eq!(
        causes(&mill(100, 5, false), &mill(110, 7, false)),
        told(&[("run -> grind: +10", 650), ("grind on average", 220)])
    );
}

/// `main` calls `f` and `g` so often at so much, and costs so much itself.
fn two(own: Cost, [f_calls, f_cost]: [Cost; 2], [g_calls, g_cost]: [Cost; 2]) -> Profile {
    let mut builder = Builder::new(&["Ir"]);
    let [main, f, g] = ["main", "f", "g"].map(|name| builder.function(b"two", b"two.c", name.as_bytes()));
    builder.cost(main, 1, &[own]);
    builder.call(main, 2, f, f_calls, &[f_calls * f_cost]).call(main, 3, g, g_calls, &[g_calls * g_cost]);
    builder.cost(f, 5, &[f_calls * f_cost]).cost(g, 9, &[g_calls * g_cost]);
    builder.build().unwrap()
}

#[test]
fn a_swap_comes_before_smaller_causes() {
    let (base, new) = (two(10, [7, 30], [7, 90]), two(15, [7, 90], [7, 30]));
    assert_eq!(causes(&base, &new), told(&[("f is g", 0), ("main itself", 5)]));
}

#[test]
fn calls_that_go_elsewhere_are_no_swap() {
    let (base, new) = (two(10, [10, 30], [20, 30]), two(10, [20, 30], [10, 30]));
    assert_eq!(causes(&base, &new), told(&[("main -> f: +10", 300), ("main -> g: -10", -300)]));
}

#[test]
fn inlining_is_one_move() {
    let (apart, inlined) = (mill(100, 5, false), mill(100, 5, true));
    assert_eq!(causes(&apart, &inlined), told(&[("crack into grind: 6000", -1000)]));
    assert_eq!(causes(&inlined, &apart), told(&[("crack out of grind: 6000", 1000)]));
}

#[test]
fn inlining_into_what_was_inlined_itself_is_found() {
    let mut builder = Builder::new(&["Ir"]);
    let [main, run, crack] =
        ["main", "run", "crack"].map(|name| builder.function(b"", b"m.c", name.as_bytes()));
    builder.cost(main, 1, &[10]).call(main, 1, run, 5, &[500]);
    builder.cost(run, 2, &[100]).call(run, 2, crack, 50, &[400]);
    builder.cost(crack, 3, &[400]);
    let base = builder.build().unwrap();
    let mut builder = Builder::new(&["Ir"]);
    let main = builder.function(b"", b"m.c", b"main");
    builder.cost(main, 1, &[10]).cost(main, 2, &[92]).cost(main, 3, &[368]);
    let new = builder.build().unwrap();
    assert_eq!(causes(&base, &new), told(&[("crack into main: 400", -32), ("run into main: 100", -8)]));
}

#[test]
fn what_is_called_through_an_inlined_function_without_lines_is_found() {
    let mut builder = Builder::new(&["Ir"]);
    let [main, pass, crack] =
        ["main", "pass", "crack"].map(|name| builder.function(b"", b"m.c", name.as_bytes()));
    builder.cost(main, 1, &[10]).call(main, 1, pass, 5, &[420]);
    builder.cost(pass, 2, &[20]).call(pass, 2, crack, 50, &[400]);
    builder.cost(crack, 3, &[400]);
    let base = builder.build().unwrap();
    let mut builder = Builder::new(&["Ir"]);
    let main = builder.function(b"", b"m.c", b"main");
    builder.cost(main, 1, &[10]).cost(main, 3, &[368]);
    let new = builder.build().unwrap();
    // Nothing proves that `pass` itself was inlined, so nothing is said of it.
    assert_eq!(causes(&base, &new), told(&[("crack into main: 400", -52)]));
    assert_eq!(causes(&new, &base), told(&[("crack out of main: 400", 52)]));
}

#[test]
fn what_is_called_through_a_cheap_inlined_function_is_found() {
    let mut builder = Builder::new(&["Ir"]);
    let [main, link, crack] =
        ["main", "link", "crack"].map(|name| builder.function(b"", b"m.c", name.as_bytes()));
    builder.cost(main, 1, &[10]).call(main, 1, link, 1, &[1_000_001]);
    builder.cost(link, 2, &[1]).call(link, 2, crack, 10, &[1_000_000]);
    builder.cost(crack, 3, &[1_000_000]);
    let base = builder.build().unwrap();
    let mut builder = Builder::new(&["Ir"]);
    let main = builder.function(b"", b"m.c", b"main");
    builder.cost(main, 1, &[10]).cost(main, 2, &[1]).cost(main, 3, &[900_000]);
    let new = builder.build().unwrap();
    let [first, ..] = &causes(&base, &new)[..] else { panic!("no cause") };
    assert_eq!(first.0, "crack into main: 1000000");
}

#[test]
fn the_caller_of_a_new_function_is_the_recorded_one() {
    let mut builder = Builder::new(&["Ir"]);
    let main = builder.function(b"", b"m.c", b"main");
    builder.cost(main, 1, &[10]).cost(main, 2, &[100]);
    let base = builder.build().unwrap();
    let mut builder = Builder::new(&["Ir"]);
    let [main, link, crack] =
        ["main", "link", "crack"].map(|name| builder.function(b"", b"m.c", name.as_bytes()));
    builder.cost(main, 1, &[10]).call(main, 1, link, 1, &[600]);
    builder.cost(link, 2, &[100]).call(link, 2, crack, 5, &[500]);
    builder.cost(crack, 7, &[500]);
    let new = builder.build().unwrap();
    let comparison = Comparison::new(&[&base], &[&new], &CompareOptions::default()).unwrap();
    let causes = comparison.explain(0).causes;
    // `link` is no longer inlined into `main`, but `main` does not call `crack`.
    let callers: Vec<String> = causes
        .iter()
        .filter_map(|explanation| match explanation.cause {
            Cause::New { caller, .. } => Some(name(&comparison, caller.unwrap())),
            _ => None,
        })
        .collect();
    assert_eq!(callers, ["link"]);
}

#[test]
fn lines_of_another_file_must_come_up_in_the_caller() {
    // `grind` vanished and `main` costs more, but in its own lines.
    let side = |has_grind: bool, in_file: &[u8]| {
        let mut builder = Builder::new(&["Ir"]);
        let main = builder.function(b"", b"main.rs", b"main");
        let grind = builder.function(b"", b"stone.rs", b"grind");
        builder.cost(main, 1, &[10]);
        if has_grind {
            builder.call(main, 2, grind, 7, &[700]).cost(grind, 20, &[700]);
        } else {
            builder.inlined(main, in_file, 20, &[690]);
        }
        builder.build().unwrap()
    };
    assert_eq!(causes(&side(true, b""), &side(false, b"stone.rs")), told(&[("grind into main: 700", -10)]));
    let apart = causes(&side(true, b""), &side(false, b"main.rs"));
    assert_eq!(apart, told(&[("grind and main: +690", -10)]));
}

#[test]
fn new_functions_come_with_what_only_they_call() {
    let base = mill(100, 5, false);
    let mut builder = Builder::new(&["Ir"]);
    let main = builder.function(b"mill", b"mill.c", b"main");
    let check = builder.function(b"mill", b"check.c", b"check");
    let hash = builder.function(b"mill", b"hash.c", b"hash");
    builder.call(main, 3, check, 1, &[900]);
    builder.cost(check, 1, &[300]).call(check, 1, hash, 4, &[600]).cost(hash, 1, &[600]);
    let added = builder.build().unwrap();
    let both = Profile::from_bytes([base.save(), added.save()].concat());
    assert_eq!(causes(&base, &both), told(&[("new check", 900)]));
    assert_eq!(causes(&both, &base), told(&[("vanished check", -900)]));
}

#[test]
fn without_calls_functions_change_by_themselves() {
    let [base, new] =
        [10, 13].map(|cost| Profile::from_bytes(format!("events: Ir\nfl=a.c\nfn=f\n1 {cost}\nfn=g\n2 5\n")));
    assert_eq!(causes(&base, &new), told(&[("f itself", 3)]));
}

#[test]
fn calls_in_samples_explain_nothing() {
    let side = |calls: u32, cost: u32| {
        Profile::from_bytes(format!(
            "# callgrind format\nversion: 1\ncreator: rbspy\nevents: Samples\nfl=a.rb\nfn=main\n1 5\ncfn=f\n\
             calls={calls} 1\n2 {cost}\nfn=f\n3 {cost}\n"
        ))
    };
    assert_eq!(causes(&side(10, 100), &side(20, 200)), told(&[("f itself", 100)]));
}

#[test]
fn changes_within_the_spread_are_noise() {
    let runs = [100, 104, 102, 101, 103]
        .map(|cost| Profile::from_bytes(format!("events: Ir\nfn=f\n1 {cost}\nfn=g\n1 50\n")));
    let slower = Profile::from_bytes("events: Ir\nfn=f\n1 103\nfn=g\n1 60\n");
    let base: Vec<&Profile> = runs.iter().collect();
    let comparison = Comparison::new(&base, &[&slower], &CompareOptions::default()).unwrap();
    let of = |wanted: &str| {
        comparison.functions().find(|&function| name(&comparison, function) == wanted).unwrap()
    };
    let (f, g) = (comparison.self_cost(of("f"), 0), comparison.self_cost(of("g"), 0));
    assert_eq!((f.base.median, f.base.min, f.base.max, f.delta()), (102, 100, 104, 1));
    assert!(f.is_noise() && !g.is_noise());
    let noisy: Vec<bool> = comparison.explain(0).causes.iter().map(|cause| cause.is_noise).collect();
    assert_eq!(noisy, [false, true]);
}

#[test]
fn calls_of_another_kind_explain_nothing() {
    // One call did what a thousand do now; a thousand times more calls, each a thousand times cheaper, is no news.
    assert_eq!(
        causes(&mill(1, 10_000, false), &mill(1000, 11, false)),
        told(&[("run -> grind: +999", 59_940), ("grind itself", 1000)])
    );
}

#[test]
fn the_path_of_the_change_goes_past_a_recursion() {
    // `main` calls `walk`, which calls itself and `leaf`.
    let walk_of = |own: Cost| {
        let mut builder = Builder::new(&["Ir"]);
        let [main, walk, leaf] =
            ["main", "walk", "leaf"].map(|name| builder.function(b"mill", b"mill.c", name.as_bytes()));
        builder.cost(main, 1, &[1]).call(main, 2, walk, 1, &[10 + own]);
        builder.cost(walk, 5, &[10]).call(walk, 6, walk, 3, &[10 + own]).call(walk, 7, leaf, 4, &[own]);
        builder.cost(leaf, 9, &[own]);
        builder.build().unwrap()
    };
    let (base, new) = (walk_of(100), walk_of(400));
    let comparison = Comparison::new(&[&base], &[&new], &CompareOptions::default()).unwrap();
    let path: Vec<(String, Cost)> = comparison
        .change_path(0)
        .iter()
        .map(|step| (name(&comparison, step.function), step.inclusive.delta()))
        .collect();
    assert_eq!(
        path,
        [("main", 300), ("walk", 300), ("leaf", 300)].map(|(name, cost)| (name.to_owned(), cost))
    );
}

/// `main` calls `f` and `g`, which call `work` so often, at a cost of each call of its own and in `deep`.
fn work(calls: [Cost; 2], own: [Cost; 2], below: [Cost; 2]) -> Profile {
    let mut builder = Builder::new(&["Ir"]);
    let [main, f, g, work, deep] =
        ["main", "f", "g", "work", "deep"].map(|name| builder.function(b"mill", b"mill.c", name.as_bytes()));
    builder.cost(main, 1, &[10]);
    for (nth, caller) in [f, g].into_iter().enumerate() {
        let cost = calls[nth] * (own[nth] + below[nth]);
        builder.cost(caller, 5, &[10]).call(caller, 6, work, calls[nth], &[cost]);
        builder.call(main, 2, caller, 1, &[10 + cost]);
    }
    let sum = |of: [Cost; 2]| calls[0] * of[0] + calls[1] * of[1];
    let deeper = if below[1] > 0 { calls[0] + calls[1] } else { calls[0] };
    builder.cost(work, 9, &[sum(own)]).call(work, 10, deep, deeper, &[sum(below)]).cost(
        deep,
        20,
        &[sum(below)],
    );
    builder.build().unwrap()
}

#[test]
fn counts_of_calls_are_not_calls_that_cost_less() {
    let base = work([1000, 500], [10, 40], [0, 100]);
    // Only the counts of calls changed.
    let about_work = |new: &Profile| -> Vec<String> {
        let causes = causes(&base, new).into_iter().map(|(cause, _)| cause);
        causes.filter(|cause| cause.starts_with("work ") || cause.contains("-> work")).collect()
    };
    let fewer = work([1000, 100], [10, 40], [0, 100]);
    assert_eq!(about_work(&fewer), ["g -> work: -400"]);
    // Each call changed, and the counts, too.
    let expensive = work([1100, 450], [14, 56], [0, 100]);
    assert!(about_work(&expensive).contains(&"work per call".to_owned()), "{:?}", about_work(&expensive));
    // Calls of one caller changed.
    let one = work([1000, 500], [10, 60], [0, 100]);
    assert_eq!(about_work(&one), ["g -> work per call"]);
    // The cost per call of each caller is as before, but what it called it does itself.
    let inlined = work([1000, 100], [10, 140], [0, 0]);
    assert!(
        !about_work(&inlined).iter().any(|cause| cause.contains("g calls")),
        "{:?}",
        about_work(&inlined)
    );
}

#[test]
fn counts_of_calls_explain_all_that_calls_as_before_cost() {
    // Calls from `g` have another share of their cost below `work`: shares by inclusive cost are not exact.
    let (base, new) = (work([1000, 50], [10, 90], [40, 700]), work([1000, 125], [10, 90], [40, 700]));
    let comparison = Comparison::new(&[&base], &[&new], &CompareOptions::default()).unwrap();
    let causes = comparison.explain(0).causes;
    let of_work: Vec<(String, Cost)> = causes
        .iter()
        .flat_map(|cause| cause.functions.iter())
        .map(|&(function, part)| (name(&comparison, function), part))
        .filter(|(function, _)| function == "work")
        .collect();
    assert_eq!(of_work, [("work".to_owned(), 75 * 90)]);
}

#[test]
fn a_vanished_function_names_the_callers_that_its_effect_is_of() {
    // `hash` was called by `index`, which vanished as well, and by `query` and `check`, which did not.
    let side = |is_base: bool| {
        let mut builder = Builder::new(&["Ir"]);
        let [main, query, check, index, hash] = ["main", "query", "check", "index", "hash"]
            .map(|name| builder.function(b"", b"m.c", name.as_bytes()));
        builder.cost(main, 1, &[10]).cost(query, 2, &[500]).cost(check, 3, &[500]);
        let of = |cost: Cost| if is_base { 500 + cost } else { 500 };
        builder.call(main, 1, query, 5, &[of(200)]).call(main, 1, check, 5, &[of(100)]);
        if is_base {
            builder.call(main, 1, index, 7, &[4000]).cost(index, 4, &[1000]);
            builder.call(index, 4, hash, 300, &[3000]).cost(hash, 5, &[3300]);
            builder.call(query, 2, hash, 20, &[200]).call(check, 3, hash, 10, &[100]);
        }
        builder.build().unwrap()
    };
    let (base, new) = (side(true), side(false));
    let comparison = Comparison::new(&[&base], &[&new], &CompareOptions::default()).unwrap();
    let vanished: Vec<(String, Cost, String, usize)> = comparison
        .explain(0)
        .causes
        .iter()
        .filter_map(|cause| match cause.cause {
            Cause::Vanished { function, caller: Some(caller), others } => {
                Some((name(&comparison, function), cause.effect, name(&comparison, caller), others))
            }
            _ => None,
        })
        .collect();
    let expected = [("index", -4000, "main", 0), ("hash", -300, "query", 1)]
        .map(|(function, effect, caller, others)| (function.to_owned(), effect, caller.to_owned(), others));
    assert_eq!(vanished, expected);
}

#[test]
fn the_path_begins_where_no_inlined_call_leads() {
    // The calls of `less` are inlined: they have a cost and no count.
    let side = |cost: Cost| {
        Profile::from_bytes(format!(
            "events: Ir\nfl=a.c\nfn=main\n1 5\ncfn=less\ncalls=0 2\n1 {0}\nfn=less\n2 1\ncfn=compare\ncalls=9 3\n2 {1}\n\
             fn=compare\n3 {1}\n",
            cost + 1,
            cost
        ))
    };
    let (base, new) = (side(100), side(400));
    let comparison = Comparison::new(&[&base], &[&new], &CompareOptions::default()).unwrap();
    let path: Vec<String> =
        comparison.change_path(0).iter().map(|step| name(&comparison, step.function)).collect();
    assert_eq!(path, ["main", "less", "compare"]);
}

/// `main` calls `run`, which calls `grind`, which calls `crack`: how often in all, and what each costs by itself.
fn chain(calls: [Cost; 3], selves: [Cost; 4]) -> Profile {
    let mut builder = Builder::new(&["Ir"]);
    let functions =
        ["main", "run", "grind", "crack"].map(|name| builder.function(b"mill", b"mill.c", name.as_bytes()));
    for (nth, (&function, self_cost)) in functions.iter().zip(selves).enumerate() {
        let line = 10 * nth as u64 + 1;
        builder.cost(function, line, &[self_cost]);
        if let Some(&callee) = functions.get(nth + 1) {
            builder.call(function, line + 1, callee, calls[nth], &[selves[nth + 1..].iter().sum()]);
        }
    }
    builder.build().unwrap()
}

/// Fewer calls are not why something costs more, also if nothing calls the caller.
#[test]
fn calls_are_no_cause_of_the_opposite() {
    let base = chain([3, 42, 126], [271, 492, 27_084, 346_536]);
    let new = chain([1, 54, 162], [271, 704, 11_648, 49_932]);
    for (base, new) in [(&base, &new), (&new, &base)] {
        let comparison = Comparison::new(&[base], &[new], &CompareOptions::default()).unwrap();
        for explanation in comparison.explain(0).causes {
            if let Cause::Calls { count: Some(count), .. } = explanation.cause {
                assert!(count.delta() * explanation.effect >= 0, "{explanation:?}");
            }
        }
        causes(base, new);
    }
}
