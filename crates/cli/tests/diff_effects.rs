//! Effects of causes in `gristmill diff` are those that recorded calls allow, and sentences say no more than the numbers do.

// Tests may panic: that is how they fail. Clippy knows that of test functions, but not of what they share.
#![allow(clippy::unwrap_used, clippy::panic)]

mod harness;

use harness::diff::{Call, Function, compared, profile, told};
use harness::{folder, run_in, stdout};

/// `main` starts threads, which `clone` runs: their cost is not in the call that starts them.
fn threads(count: u32, rows: u32, row: u32) -> String {
    let of_work = 1_000 * count + rows * row;
    profile(&[
        ("main", 100, &[("create", count, 10 * count)]),
        ("create", 6 * count, &[("clone", count, 4 * count)]),
        ("clone", 4 * count, &[("work", count, of_work)]),
        ("work", 1_000 * count, &[("hash", rows, rows * row)]),
        ("hash", rows * row, &[]),
    ])
}

#[test]
fn a_call_that_starts_a_thread_has_not_its_cost() {
    let (_, more) = compared(&threads(2, 2_000, 50), &threads(4, 4_000, 50), &[]);
    assert_eq!(more.len(), 2, "{more:?}");
    let (effect, text) = &more[0];
    assert_eq!(
        text,
        "clone calls work more often: 2 → 4 (+100.00%), in proportion to its own calls: 2 → 4 (+100.00%), including \
         hash below it"
    );
    assert!((101_900..=102_000).contains(effect), "{effect}");
    assert!(more[1].0 <= 120 && more[1].1.starts_with("main calls create more often: 2 → 4"), "{more:?}");
    // Each thread does half of the work, and a bit more: that there are more of them does not explain it.
    let (_, split) = compared(&threads(2, 8_000, 50), &threads(4, 8_800, 50), &[]);
    assert_eq!(
        split[0],
        (
            40_000,
            "work calls hash more often: 8,000 → 8,800 (+10.00%); work is called more often: 2 → 4 (+100.00%)"
                .to_owned()
        )
    );
}

/// Calls that one side does not count, as those of an inlined function, are not gone.
#[test]
fn calls_without_a_count_change_by_their_cost() {
    let clamp = |counted: bool, cost: u32| {
        let count = if counted { 1_000 } else { 0 };
        profile(&[
            ("main", 10, &[("brighten", 1, 500 + cost), ("darken", 1, 500 + cost)]),
            ("brighten", 500, &[("clamp", count, cost)]),
            ("darken", 500, &[("clamp", count, cost)]),
            ("clamp", 2 * cost, &[]),
        ])
    };
    let (_, there) = compared(&clamp(true, 8_000), &clamp(false, 6_000), &[]);
    assert_eq!(
        there,
        told(&[
            (
                -2_000,
                "calls of clamp from brighten, not all of them counted, cost less: 8,000 → 6,000 (-25.00%)"
            ),
            (
                -2_000,
                "calls of clamp from darken, not all of them counted, cost less: 8,000 → 6,000 (-25.00%)"
            ),
        ])
    );
}

/// Another caller calls a function as often as its vanished caller did, and a bit more.
#[test]
fn a_function_that_is_called_more_often_calls_no_more_beyond_that() {
    let wrapped = |caller: &str, count: u32, cost: u32| {
        profile(&[
            ("main", 10, &[(caller, 1, cost + 70 * count), ("keep", 1, 5 + 70 * 2_100)]),
            (caller, cost, &[("wrap", count, 70 * count)]),
            ("keep", 5, &[("wrap", 2_100, 70 * 2_100)]),
            ("wrap", 3 * (2_100 + count), &[("emit", 2_100 + count, 67 * (2_100 + count))]),
            ("emit", 67 * (2_100 + count), &[]),
        ])
    };
    let (shown, _) = compared(&wrapped("scan", 1_000, 19_100), &wrapped("index_of", 1_100, 277_400), &[]);
    assert!(!shown.contains("beyond what its own calls explain"), "{shown}");
}

/// Two callers pass other amounts of work, in opposite directions.
#[test]
fn opposite_changes_of_callers_are_two_causes() {
    let copies = |first: u32, second: u32| {
        let [first, second, third] = [first, second, 300].map(|each| 100 * each);
        vec![
            ("main", 10, vec![("one", 1, 9 + first), ("two", 1, 9 + second), ("three", 1, 9 + third)]),
            ("one", 9, vec![("copy", 100, first)]),
            ("two", 9, vec![("copy", 100, second)]),
            ("three", 9, vec![("copy", 100, third)]),
            ("copy", first + second + third, vec![]),
        ]
    };
    let [base, new] = [copies(200, 400), copies(600, 250)].map(|functions| {
        let functions: Vec<Function<'_>> =
            functions.iter().map(|(name, own, calls)| (*name, *own, &calls[..])).collect();
        profile(&functions)
    });
    let (_, causes) = compared(&base, &new, &[]);
    assert_eq!(
        causes,
        told(&[
            (40_000, "calls of copy from one cost more: 200 → 600 each (+200.00%), 100 calls"),
            (-15_000, "calls of copy from two cost less: 400 → 250 each (-37.50%), 100 calls"),
        ])
    );
}

/// Calls of one caller are cheap and those of another expensive: recorded arcs tell the effect of each exactly.
#[test]
fn effects_of_recorded_calls_are_exact() {
    let wrapped = |small: u32, large: u32| {
        let [of_small, of_large] = [small * 151, large * 2_773];
        let (emits, own) = (2 * small + 40 * large, 25 * small + 253 * large);
        profile(&[
            ("main", 10, &[("small", 1, 9 + of_small), ("large", 1, 9 + of_large)]),
            ("small", 9, &[("wrap", small, of_small)]),
            ("large", 9, &[("wrap", large, of_large)]),
            ("wrap", own, &[("emit", emits, 63 * emits)]),
            ("emit", 63 * emits, &[]),
        ])
    };
    let (_, causes) = compared(&wrapped(1_000, 1_000), &wrapped(1_600, 400), &[]);
    assert_eq!(
        causes,
        told(&[
            (-1_663_800, "large calls wrap less often: 1,000 → 400 (-60.00%), including emit below it"),
            (90_600, "small calls wrap more often: 1,000 → 1,600 (+60.00%), including emit below it"),
        ])
    );
}

/// Twice the calls of one caller, and cheaper calls of another.
#[test]
fn what_recorded_calls_leave_over_is_the_other_callers() {
    let worked = |often: u32, each: u32| {
        let [first, second] = [often * 400, 50 * each];
        profile(&[
            ("main", 10, &[("one", 1, 9 + first), ("two", 1, 9 + second)]),
            ("one", 9, &[("work", often, first)]),
            ("two", 9, &[("work", 50, second)]),
            ("work", first + second, &[]),
        ])
    };
    let (_, causes) = compared(&worked(400, 300), &worked(800, 180), &[]);
    assert_eq!(
        causes,
        told(&[
            (160_000, "one calls work more often: 400 → 800 (+100.00%)"),
            (-6_000, "calls of work from two cost less: 300 → 180 each (-40.00%), 50 calls"),
        ])
    );
}

/// That costs are equal proves neither a new name nor that code went elsewhere.
#[test]
fn equal_costs_are_no_proof() {
    let with = |name: &str, own: u32, of_main: u32| {
        profile(&[("main", of_main, &[(name, 30, own)]), (name, own, &[])])
    };
    let (shown, _) = compared(&with("audit", 3_000, 50), &with("notify", 3_000, 60), &[]);
    assert!(
        shown.contains("audit may now be notify (same file, same cost, same calls, same callers)"),
        "{shown}"
    );
    let (shown, _) = compared(&with("grind_one", 3_000, 50), &with("grind_all", 3_000, 60), &[]);
    assert!(shown.contains("grind_one may now be grind_all (same file"), "{shown}");
    let swapped = |first: u32, second: u32| {
        profile(&[
            ("main", 10, &[("decode", 5, first), ("encode", 5, second)]),
            ("decode", first, &[]),
            ("encode", second, &[]),
        ])
    };
    let (_, causes) = compared(&swapped(300, 900), &swapped(900, 300), &[]);
    let [(effect, text)] = &causes[..] else { panic!("one cause") };
    assert_eq!(*effect, 0);
    assert!(text.starts_with("decode and encode changed by the same amount: decode 300 → 900"), "{text}");
    let split = |own: u32, audit: Option<u32>| match audit {
        None => profile(&[("main", 10, &[("handle", 1, own)]), ("handle", own, &[])]),
        Some(audit) => profile(&[
            ("main", 10, &[("handle", 1, own + audit)]),
            ("handle", own, &[("audit", 8, audit)]),
            ("audit", audit, &[]),
        ]),
    };
    let (_, causes) = compared(&split(700_000, None), &split(358_000, Some(429_000)), &[]);
    assert_eq!(
        causes,
        told(&[(87_000, "audit is new, called by handle: +429,000, and -342,000 of self cost in handle")])
    );
}

/// The path names both of two functions whose calls changed as much.
#[test]
fn a_path_ends_where_two_are_alike() {
    let filters = |each: u32| {
        profile(&[
            ("main", 10, &[("brighten", 3, each), ("contrast", 3, each)]),
            ("brighten", each, &[]),
            ("contrast", each, &[]),
        ])
    };
    let (shown, _) = compared(&filters(5_000), &filters(3_000), &[]);
    assert!(shown.contains("-2,000 50.00% → brighten, and as much in contrast"), "{shown}");
}

/// Two functions of one name have their files in sentences and in the path.
#[test]
fn namesakes_have_their_files() {
    let of = |first: u32| {
        format!(
            "events: Ir\nfl=main.c\nfn=main\n1 5\ncfi=a.c\ncfn=init\ncalls=1 1\n2 {first}\ncfi=b.c\ncfn=(9) init\ncalls=1 1\n3 \
             700\nfl=a.c\nfn=init\n1 {first}\nfl=b.c\nfn=(9)\n1 700\n"
        )
    };
    let (shown, _) = compared(&of(400), &of(600), &[]);
    assert!(shown.contains("→ init (a.c)") && shown.contains("init (a.c) costs more by itself"), "{shown}");
}

/// Functions that were joined although their arguments differ are listed, and say what they were.
#[test]
fn joined_instances_are_listed() {
    let run = |argument: &str, own: u32| {
        profile(&[
            ("main", 10, &[(&format!("run<{argument}>({argument})"), 2, own)]),
            (&format!("run<{argument}>({argument})"), own, &[]),
        ])
    };
    let (shown, _) = compared(&run("int", 1_000), &run("__int128", 2_500), &[]);
    assert!(shown.contains("by rule: generic-arguments 1 (--show-joined"), "{shown}");
    assert!(shown.contains("1 joined function may be two (--show-joined)"), "{shown}");
    let condition = "costs more by itself: 1,000 → 2,500 (+150.00%), if run<__int128>(__int128) is run<int>(int) of the base";
    assert!(shown.contains(condition), "{shown}");
    assert!(shown.contains("; if it is run<int>(int) of the base"), "{shown}");
    let (shown, _) = compared(&run("int", 1_000), &run("__int128", 2_500), &["--show-joined"]);
    assert!(shown.contains("generic-arguments 1: run<int>(int) = run<__int128>(__int128)"), "{shown}");
}

/// A name that matches only in its template arguments comes after those that match themselves.
#[test]
fn arguments_of_a_name_do_not_match_before_it() {
    let of = |append: u32| {
        profile(&[
            (
                "main",
                10,
                &[
                    ("text<char, allocator<char> >::append(allocator<char>)", 5, append),
                    ("alloc_block", 5, 100),
                ],
            ),
            ("text<char, allocator<char> >::append(allocator<char>)", append, &[]),
            ("alloc_block", 100, &[]),
        ])
    };
    let files = folder(&[("base.out", of(500).as_bytes()), ("new.out", of(900).as_bytes())]);
    let shown = stdout(&run_in(files.path(), &["diff", "base.out", "new.out", "--function", "alloc"]));
    assert!(shown.lines().any(|line| line == "alloc_block"), "{shown}");
    assert!(shown.contains("New calls  Change  Inclusive Ir change  % of its base  Function"), "{shown}");
    let shown =
        stdout(&run_in(files.path(), &["diff", "base.out", "new.out", "--function", "allocator<char>"]));
    assert!(shown.contains("append"), "{shown}");
}

/// Another event type that changed much more than the one that is shown has a line.
#[test]
fn an_event_type_that_changed_much_more_is_named() {
    let of = |ir: u32, misses: u32, branches: u32| {
        format!("events: Ir D1mr Bc\nfl=mill.c\nfn=main\n1 {ir} {misses} {branches}\n")
    };
    let (shown, _) = compared(&of(100_000, 2_000, 5_000), &of(90_000, 9_000, 4_500), &["-e", "Ir"]);
    assert!(
        shown.contains(
            "another event type changed much more: D1mr 2,000 → 9,000 (+350.00%); -e D1mr shows the functions"
        ),
        "{shown}"
    );
    let (shown, _) = compared(&of(100_000, 2_000, 5_000), &of(90_000, 2_400, 4_500), &["-e", "Ir"]);
    assert!(!shown.contains("another event type"), "{shown}");
}

/// `front` and `back` call `dispatch`; some of its calls are costly. Each caller's calls cost as before.
#[test]
fn counts_of_calls_have_the_effect_that_is_recorded() {
    let dispatched = |front: u32, back: u32| {
        // One call in ten of `front` is costly, and each second of `back`.
        let (costly, cheap) = (front / 10 + back / 2, front - front / 10 + back / 2);
        let [of_front, of_back] = [(4 * 10 + 427 + 9 * 2) * front / 10, (8 + 427 + 2) * back / 2];
        profile(&[
            ("main", 10, &[("front", 1, 9 + of_front), ("back", 1, 9 + of_back)]),
            ("front", 9, &[("dispatch", front, of_front)]),
            ("back", 9, &[("dispatch", back, of_back)]),
            (
                "dispatch",
                4 * (front + back),
                &[("costly", costly, 427 * costly), ("cheap", cheap, 2 * cheap)],
            ),
            ("costly", 427 * costly, &[]),
            ("cheap", 2 * cheap, &[]),
        ])
    };
    let (_, causes) = compared(&dispatched(2_000, 400), &dispatched(1_000, 800), &[]);
    assert_eq!(
        causes,
        told(&[
            (87_400, "back calls dispatch more often: 400 → 800 (+100.00%), including 2 functions below it"),
            (
                -48_500,
                "front calls dispatch less often: 2,000 → 1,000 (-50.00%), including 2 functions below it"
            ),
        ])
    );
}

/// `small` and `big` call `grid` with other sizes: what it calls depends on them, over two levels.
#[test]
fn effects_are_exact_however_deep_the_calls_are() {
    let grids = |small: u32, big: u32| {
        // By call of `grid`: rows, and units of each row.
        let (rows, units) = (2 * small + 40 * big, 2 * 2 * small + 40 * 40 * big);
        let cost = |count: u32, side: u32| count * (5 + 3 * side + 7 * side * side);
        let [of_small, of_big] = [cost(small, 2), cost(big, 40)];
        profile(&[
            ("main", 10, &[("small", small, small + of_small), ("big", big, big + of_big)]),
            ("small", small, &[("grid", small, of_small)]),
            ("big", big, &[("grid", big, of_big)]),
            ("grid", 5 * (small + big), &[("row", rows, 3 * rows + 7 * units)]),
            ("row", 3 * rows, &[("unit", units, 7 * units)]),
            ("unit", 7 * units, &[]),
        ])
    };
    let (_, causes) = compared(&grids(4_000, 40), &grids(4_000, 80), &[]);
    let effect = i128::from(40 * (1 + 5 + 3 * 40 + 7 * 40 * 40));
    let text = "main calls big more often: 40 → 80 (+100.00%), including 3 functions below it";
    assert_eq!(causes, told(&[(effect, text)]));
}

/// `check` hashes short texts and `key` long ones; there are more checks, and hashing costs 2 less per call.
#[test]
fn a_cheaper_call_is_distinguished_from_other_calls() {
    let hashed = |checks: u32, own: u32| {
        // By call: `own` and 90 for each block, of which `key` has 5.
        let blocks = checks + 5 * 300;
        let [of_check, of_key] = [checks * (own + 90), 300 * (own + 450)];
        profile(&[
            ("main", 10, &[("check", checks, 150 * checks + of_check), ("key", 300, 900 + of_key)]),
            ("check", 150 * checks, &[("hash", checks, of_check)]),
            ("key", 900, &[("hash", 300, of_key)]),
            ("hash", own * (checks + 300), &[("block", blocks, 90 * blocks)]),
            ("block", 90 * blocks, &[]),
        ])
    };
    let (_, causes) = compared(&hashed(400, 120), &hashed(900, 118), &[]);
    assert_eq!(causes.len(), 2, "{causes:?}");
    assert_eq!(causes[0].0, 500 * 360);
    assert!(causes[0].1.starts_with("main calls check more often: 400 → 900 (+125.00%)"), "{causes:?}");
    assert_eq!(causes[1].0, -2 * 1_200);
    // Calls tell that hashing costs less, but not whether that is the function's self cost.
    assert!(
        causes[1].1.starts_with("calls of hash from check and 1 more caller cost less on average: 210 → 208"),
        "{causes:?}"
    );
}

/// Changes that cancel out in a function are in the effects of its callers all the same, also deeper.
#[test]
fn opposite_counts_of_calls_have_all_of_their_effect() {
    let crunched = |first: u32, second: u32| {
        let [of_first, of_second] = [first, second].map(|count| 300 * 400 * count);
        let calls = 300 * (first + second);
        profile(&[
            (
                "main",
                10,
                &[("first", first, 5 * first + of_first), ("second", second, 5 * second + of_second)],
            ),
            ("first", 5 * first, &[("crunch", 300 * first, of_first)]),
            ("second", 5 * second, &[("crunch", 300 * second, of_second)]),
            ("crunch", 100 * calls, &[("step", 3 * calls, 300 * calls)]),
            ("step", 300 * calls, &[]),
        ])
    };
    let (_, causes) = compared(&crunched(1, 3), &crunched(3, 2), &[]);
    assert_eq!(
        causes,
        told(&[
            (240_010, "main calls first more often: 1 → 3 (+200.00%), including 2 functions below it"),
            (-120_005, "main calls second less often: 3 → 2 (-33.33%), including 2 functions below it"),
        ])
    );
}

/// Two callers pass other amounts of work through a function that does none itself.
fn passed(first: u32, second: u32, below: &[Function<'_>]) -> String {
    let [first, second] = [first, second].map(|each| 500 * each);
    let all: &[Function<'_>] = &[
        ("main", 10, &[("one", 1, 9 + first), ("two", 1, 9 + second)]),
        ("one", 9, &[("pass", 500, first)]),
        ("two", 9, &[("pass", 500, second)]),
    ];
    profile(&[all, below].concat())
}

#[test]
fn opposite_changes_of_callers_are_found_a_level_above() {
    let passed = |first: u32, second: u32| {
        let leaf = 500 * (first + second) - 4_000;
        passed(first, second, &[("pass", 4_000, &[("leaf", 1_000, leaf)]), ("leaf", leaf, &[])])
    };
    let (_, causes) = compared(&passed(170, 490), &passed(570, 250), &[]);
    assert_eq!(
        causes,
        told(&[
            (
                200_000,
                "calls of pass from one cost more: 170 → 570 each (+235.29%), 500 calls, including leaf below it"
            ),
            (
                -120_000,
                "calls of pass from two cost less: 490 → 250 each (-48.98%), 500 calls, including leaf below it"
            ),
        ])
    );
}

/// Functions far below changed in opposite directions: these are the causes, not those that lead to them.
#[test]
fn what_changed_below_is_no_cause_of_its_callers() {
    let passed = |first: u32, second: u32| {
        let [of_first, of_second] = [500 * first - 2_000, 500 * second - 2_000];
        let below: &[Function<'_>] = &[
            ("pass", 2_000, &[("run", 1_000, 2_000 + of_first + of_second)]),
            ("run", 2_000, &[("sort", 500, of_first), ("scan", 500, of_second)]),
            ("sort", of_first, &[]),
            ("scan", of_second, &[]),
        ];
        passed(first, second, below)
    };
    let (_, causes) = compared(&passed(170, 490), &passed(570, 250), &[]);
    let texts: Vec<(i128, &str)> = causes.iter().map(|(effect, text)| (*effect, &text[..10])).collect();
    assert_eq!(texts, [(200_000, "sort costs"), (-120_000, "scan costs")], "{causes:?}");
}

/// A function is called less often and also did away with what it called: neither of both numbers has it whole.
#[test]
fn halves_of_a_change_are_those_of_the_table() {
    let sent = |count: u32, pack: bool, each: u32| {
        let own = each * count;
        let of_pack = if pack { 147 * count } else { 0 };
        let call: &[Call<'_>] = &[("pack", count, of_pack)];
        let mut functions: Vec<Function<'_>> =
            vec![("main", 10, &[]), ("send", own, if pack { call } else { &[] }), ("other", 7, &[])];
        let calls: &[Call<'_>] = &[("send", count, own + of_pack), ("other", 1, 7)];
        functions[0].2 = calls;
        if pack {
            functions.push(("pack", of_pack, &[]));
        }
        profile(&functions)
    };
    let (shown, causes) = compared(&sent(900, true, 82), &sent(300, false, 182), &[]);
    assert!(!shown.contains("of self cost in"), "{shown}");
    assert!(
        causes.iter().any(|(_, text)| text.starts_with("pack vanished, called by send before")),
        "{causes:?}"
    );
    // As often as before, one number is all of the function, and the other all that its caller changed by.
    let (_, causes) = compared(&sent(900, true, 82), &sent(900, false, 182), &[]);
    assert_eq!(
        causes,
        told(&[(
            -42_300,
            "pack vanished, called by send before: -132,300, and +90,000 of self cost in send"
        )])
    );
}

/// The cost of a call that changed by another cause as well.
#[test]
fn a_cost_per_call_that_is_not_the_effect_is_so_in_part() {
    let worked = |first: u32, tool: u32| {
        let (first, tool) = (10 * first, 20 * tool);
        let own = first + 1_000 - tool;
        profile(&[
            ("main", 10, &[("one", 1, 9 + first), ("two", 1, 9 + 1_000)]),
            ("one", 9, &[("work", 10, first)]),
            ("two", 9, &[("work", 10, 1_000)]),
            ("work", own, &[("tool", 20, tool)]),
            ("tool", tool, &[]),
        ])
    };
    let (_, causes) = compared(&worked(100, 25), &worked(200, 30), &[]);
    assert_eq!(
        causes,
        told(&[
            (
                900,
                "calls of work from one cost more, in part by other causes: 100 → 200 each (+100.00%), 10 calls"
            ),
            (100, "tool costs more by itself: 500 → 600 (+20.00%)"),
        ])
    );
}

/// The calls of a thread's first function are not all recorded, so its own count explains nothing.
#[test]
fn an_effect_that_is_whole_is_not_beyond_something() {
    let threads = |count: u32, works: u32| {
        profile(&[
            ("main", 100, &[("create", count, 10 * count)]),
            ("create", 6 * count, &[("clone", count, 4 * count)]),
            ("clone", 4 * count, &[("work", works, 9_000 * works)]),
            ("work", 9_000 * works, &[]),
        ])
    };
    let (_, causes) = compared(&threads(10, 3), &threads(20, 7), &[]);
    let (effect, text) = &causes[0];
    assert!((35_900..=36_000).contains(effect), "{effect}");
    assert_eq!(
        text,
        "clone calls work more often: 3 → 7 (+133.33%); clone is called more often: 10 → 20 (+100.00%)"
    );
}

/// Only one side has names with callers: there is one name for all of them.
#[test]
fn folded_functions_have_names_without_callers() {
    let named = |cost: u32, separated: bool| {
        let [front, back, of_front, of_back] = match separated {
            true => ["front'main", "back'main", "work'front'main", "work'back'main"],
            false => ["front", "back", "work", "work"],
        };
        let calls: &[Call<'_>] = &[(front, 1, 9 + 50 * cost), (back, 1, 9 + 70 * cost)];
        let own: &[Function<'_>] = &[
            ("main", 10, calls),
            (front, 9, &[(of_front, 50, 50 * cost)]),
            (back, 9, &[(of_back, 70, 70 * cost)]),
        ];
        match separated {
            true => profile(&[own, &[(of_front, 50 * cost, &[]), (of_back, 70 * cost, &[])]].concat()),
            false => profile(&[own, &[("work", 120 * cost, &[])]].concat()),
        }
    };
    for (base, new) in [(false, true), (true, false)] {
        let (shown, causes) = compared(&named(100, base), &named(130, new), &[]);
        assert_eq!(
            causes,
            told(&[(3_600, "work costs more by itself: 12,000 → 15,600 (+30.00%)")]),
            "{shown}"
        );
        assert!(!shown.contains('←') && !shown.contains("work'"), "{shown}");
        let (tree, _) = compared(&named(100, base), &named(130, new), &["--show-joined"]);
        assert!(!tree.contains('←'), "{tree}");
    }
}
