//! Calls of a function that are unlike: `gristmill diff` does not take their mixture for a change of the function.

// Tests may panic: that is how they fail. Clippy knows that of test functions, but not of what they share.
#![allow(clippy::unwrap_used, clippy::panic)]

mod harness;

use harness::diff::{compared, profile, told};

/// `a` makes 50 calls of `f`, each with a cost of 400 and a call of `leaf`; those that `b` makes cost 10 and call nothing.
fn unlike(of_b: u32, leaf: u32) -> String {
    let [of_a, cheap] = [50 * (400 + leaf), 10 * of_b];
    profile(&[
        ("main", 100, &[("a", 1, 1_000 + of_a), ("b", 1, 1_000 + cheap)]),
        ("a", 1_000, &[("f", 50, of_a)]),
        ("b", 1_000, &[("f", of_b, cheap)]),
        ("f", 50 * 400 + cheap, &[("leaf", 50, 50 * leaf)]),
        ("leaf", 50 * leaf, &[]),
    ])
}

/// The change of a callee is none of its caller, if counts explain all of the caller's self cost.
#[test]
fn a_changed_callee_leaves_its_caller_settled() {
    let more_calls = "b calls f more often: 100 → 300 (+200.00%)";
    for (leaf, text) in [
        (1_000, "leaf costs less by itself: 100,000 → 50,000 (-50.00%)"),
        (1_900, "leaf costs less by itself: 100,000 → 95,000 (-5.00%)"),
        (3_000, "leaf costs more by itself: 100,000 → 150,000 (+50.00%)"),
    ] {
        let (_, causes) = compared(&unlike(100, 2_000), &unlike(300, leaf), &[]);
        let effect = 50 * (i128::from(leaf) - 2_000);
        assert_eq!(causes, told(&[(effect, text), (2_000, more_calls)]));
    }
    let (_, causes) = compared(&unlike(100, 2_000), &unlike(300, 2_000), &[]);
    assert_eq!(causes, told(&[(2_000, more_calls)]));
}

/// `f` no longer calls `g`, which is in the cost of each call of `f`: that is no proof that `f` itself costs less per call.
#[test]
fn a_call_that_is_gone_is_no_cheaper_caller() {
    let side = |many: u32, of_g: u32| {
        // The calls of `left` cost 1,000 by themselves, those of `right` 441 and a call of `h`.
        let [of_left, of_right] = [9 * (1_000 + of_g), many * (441 + 2_776 + of_g * 3)];
        let gone = 9 + many * 3;
        let mut of_f = vec![("h", many, 2_776 * many)];
        if of_g > 0 {
            of_f.push(("g", gone, of_g * gone));
        }
        profile(&[
            ("main", 10, &[("left", 9, 9 + of_left), ("right", many, many + of_right)]),
            ("left", 9, &[("f", 9, of_left)]),
            ("right", many, &[("f", many, of_right)]),
            ("f", 9_000 + 441 * many, &of_f),
            ("g", of_g * gone, &[]),
            ("h", 2_776 * many, &[]),
        ])
    };
    let (_, causes) = compared(&side(21, 1_852), &side(63, 0), &[]);
    assert!(causes.iter().any(|(_, text)| text.starts_with("f no longer calls g")), "{causes:?}");
    let is_proved = |text: &str| text.starts_with("f costs less per call") && !text.contains("on average");
    assert!(!causes.iter().any(|(_, text)| is_proved(text)), "{causes:?}");
}

/// If each call costs as much more as one of another caller, calls are alike, however many more or fewer they are.
#[test]
fn calls_that_all_cost_more_prove_a_cost_per_call() {
    let side = |first: u32, second: u32, own: u32| {
        let [of_first, of_second] = [first, second].map(|count| count * (own + 53));
        let calls = first + second;
        profile(&[
            ("main", 10, &[("first", 1, 7 + of_first), ("second", 1, 7 + of_second)]),
            ("first", 7, &[("job", first, of_first)]),
            ("second", 7, &[("job", second, of_second)]),
            ("job", own * calls, &[("sub", calls, 53 * calls)]),
            ("sub", 53 * calls, &[]),
        ])
    };
    let (_, causes) = compared(&side(2_000, 1_500, 107), &side(3_000, 1_000, 157), &[]);
    let expected = [
        (200_000, "job costs more per call: +46.73%"),
        (160_000, "first calls job more often: 2,000 → 3,000 (+50.00%), including sub below it"),
        (-80_000, "second calls job less often: 1,500 → 1,000 (-33.33%), including sub below it"),
    ];
    assert_eq!(causes, told(&expected));
}
