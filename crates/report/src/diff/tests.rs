#![cfg(test)]

use proptest::prelude::*;

use super::alignment::aligned;
use super::amounts::{per_call, signed_percent};
use super::sentences::sentence;
use super::text::smaller;
use super::{Diff, DiffOptions, OtherCauses};
use crate::functions::SortBy;
use crate::grouping::Grouping;
use crate::report::Report as _;
use gristmill_output::Look;
use gristmill_profile::Profile;
use gristmill_profile::compare::{Cause, Change, CompareOptions, Comparison, Explanation, JoinedId, Sample};
use regex::Regex;

fn lines(text: &str) -> Vec<&[u8]> {
    text.split(' ').map(str::as_bytes).collect()
}

#[test]
fn lines_are_the_same_by_their_text() {
    for (base, new, expected) in [
        ("a b c", "a b c", &[Some(0), Some(1), Some(2)][..]),
        ("a b c", "x a b c", &[Some(1), Some(2), Some(3)]),
        ("a b c", "a c", &[Some(0), None, Some(1)]),
        ("a b c d", "a x y d", &[Some(0), None, None, Some(3)]),
        // Only what is there once can stand for itself; what is equal beside it follows.
        ("s } b } c", "s } x } b } c", &[Some(0), Some(1), Some(4), Some(5), Some(6)]),
        ("a b", "b a", &[None, Some(0)]),
        ("a", "", &[None]),
    ] {
        let found = aligned(&lines(base), &lines(new));
        assert_eq!(found, expected, "{base} → {new}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn aligned_lines_are_equal_and_in_order(base in prop::collection::vec(0..6u8, 0..30), new in prop::collection::vec(0..6u8, 0..30)) {
        let text = |lines: &[u8]| lines.iter().map(|line| vec![*line]).collect::<Vec<_>>();
        let (base, new) = (text(&base), text(&new));
        let [base, new] = [&base, &new].map(|text| text.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let places = aligned(&base, &new);
        prop_assert_eq!(places.len(), base.len());
        for (line, place) in places.iter().enumerate() {
            if let Some(place) = place {
                prop_assert_eq!(base[line], new[*place]);
            }
        }
        let found: Vec<usize> = places.into_iter().flatten().collect();
        prop_assert!(found.is_sorted_by(|a, b| a < b), "{:?}", found);
    }
}

#[test]
fn one_cause_is_no_causes() {
    for (count, shown) in [(1, "1 smaller cause"), (2, "2 smaller causes")] {
        assert_eq!(smaller(OtherCauses { count, effect: 5 }), Some((5, shown.to_owned())));
    }
}

#[test]
fn shares_have_signs() {
    for (part, whole, shown) in [
        (1, 3, "+33.33"),
        (-2, 3, "-66.67"),
        (0, 7, "0.00"),
        (5, 0, ""),
        (1, 1_000_000, "+0.00"),
        (-5, -10, "-50.00"),
        (12345, 100, "+12,345.00"),
    ] {
        assert_eq!(signed_percent(part, whole), shown, "{part} of {whole}");
    }
}

#[test]
fn costs_by_call_are_compared_as_fractions() {
    let change = |base, new| Change { base: Sample::from_cost(base), new: Sample::from_cost(new) };
    assert_eq!(per_call(change(100, 130), change(10, 13)).as_deref(), Some("unchanged"));
    assert_eq!(per_call(change(100, 143), change(10, 13)).as_deref(), Some("+10.00%"));
    assert_eq!(per_call(change(100, 143), change(0, 13)), None);
}

/// Random profiles of a few functions, which call each other, also in recursions.
fn profile_text(numbers: &[(u8, u8, u16, u16)]) -> String {
    let mut text = "creator: callgrind-3\nevents: Ir\nfl=a.c\n".to_owned();
    for (nth, &(callee, count, own, below)) in numbers.iter().enumerate() {
        text.push_str(&format!("fn=f{nth}\n{nth} {own}\n"));
        if count > 0 {
            let callee = usize::from(callee) % (numbers.len() + 1);
            text.push_str(&format!("cfn=f{callee}\ncalls={count} 1\n{nth} {below}\n"));
        }
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sentences_agree_with_their_numbers(
        base in prop::collection::vec((0..9u8, 0..9u8, 0..900u16, 0..9000u16), 1..9),
        new in prop::collection::vec((0..9u8, 0..9u8, 0..900u16, 0..9000u16), 1..9),
        is_alike in any::<bool>(),
    ) {
        let new = if is_alike {
            base.iter().zip(new.iter().cycle()).map(|(a, b)| if b.1 % 3 == 0 { *b } else { *a }).collect()
        } else {
            new
        };
        let [base, new] = [&base, &new].map(|numbers| Profile::from_bytes(profile_text(numbers)));
        let comparison = Comparison::new(&[&base], &[&new], &CompareOptions::default()).unwrap();
        let options = DiffOptions {
            columns: vec![0],
            grouping: Grouping::Function,
            sort: SortBy::SelfCost,
            limit: None,
            min: 0,
            filter: None,
            causes: None,
            show_joined: false,
        };
        let diff = Diff::new(&comparison, &options);
        for sort in [SortBy::SelfCost, SortBy::Inclusive, SortBy::Calls, SortBy::Name] {
            for grouping in [Grouping::Function, Grouping::File] {
                let options = DiffOptions { sort, grouping, ..options.clone() };
                let diff = Diff::new(&comparison, &options);
                let [mut json, mut csv, mut streamed_json, mut streamed_csv] = [const { Vec::new() }; 4];
                diff.write_json(&mut json).unwrap();
                diff.write_csv(&mut csv).unwrap();
                super::write_json(&comparison, &options, &mut streamed_json).unwrap();
                super::write_csv(&comparison, &options, &mut streamed_csv).unwrap();
                prop_assert!(json == streamed_json && csv == streamed_csv, "{:?} {:?}", sort, grouping);
            }
        }
        let sum: i128 = diff.causes.iter().map(|cause| cause.effect).sum();
        prop_assert_eq!(sum + diff.other_causes.effect, comparison.total(0).delta());
        let number = |text: &str| text.replace(',', "").parse::<i128>().unwrap();
        let pattern = Regex::new(r" (?:calls \S+|costs) (more|less) (?:often|by itself): ([\d,]+) → ([\d,]+)").unwrap();
        let each = Regex::new(r" costs? (more|less)(?: per call)?: (?:\S+ → \S+ each \()?([+-])").unwrap();
        for cause in &diff.causes {
            prop_assert_eq!(cause.functions.iter().map(|part| part.effect).sum::<i128>(), cause.effect);
            if let Some(found) = pattern.captures(&cause.text) {
                let (before, after) = (number(&found[2]), number(&found[3]));
                prop_assert!(if &found[1] == "more" { after > before } else { after < before }, "{}", cause.text);
            }
            if let Some(found) = each.captures(&cause.text) {
                prop_assert_eq!(&found[1] == "more", &found[2] == "+", "{}", cause.text);
                prop_assert_eq!(&found[1] == "more", cause.effect > 0, "{}", cause.text);
            }
            prop_assert!(!cause.text.contains("unchanged"), "{}", cause.text);
        }
    }
}

/// Many functions change alike, so that their names decide.
#[test]
fn a_limit_shows_the_first_of_all_rows() {
    let text = |costs: fn(u64) -> u64| {
        let function =
            |nth: u64| format!("fl={}.c\nfn=f{}\n1 {}\n", nth % 7, nth * 37 % 100, 1000 + costs(nth));
        "events: Ir\n".to_owned() + &(0..100).map(function).collect::<String>()
    };
    let [base, new] =
        [text(|_| 0), text(|nth| nth % 3 * 10)].map(|text| Profile::from_bytes(text.into_bytes()));
    let comparison = Comparison::new(&[&base], &[&new], &CompareOptions::default()).unwrap();
    let filter = Regex::new("[02468]$").unwrap();
    for sort in [SortBy::SelfCost, SortBy::Inclusive, SortBy::Calls, SortBy::Name] {
        for min in [0, 15] {
            let diff = |limit: Option<usize>| {
                let options = DiffOptions {
                    columns: vec![0],
                    grouping: Grouping::Function,
                    sort,
                    limit,
                    min,
                    filter: Some(filter.clone()),
                    causes: Some(0),
                    show_joined: false,
                };
                Diff::new(&comparison, &options)
            };
            let all = diff(None);
            assert!(all.rows.len() > 10, "{}", all.rows.len());
            let change = |diff: &Diff| {
                diff.rows.iter().map(|row| row.self_costs[0].delta()).sum::<i128>() + diff.rest.self_costs[0]
            };
            for limit in 0..all.rows.len() + 2 {
                let cut = diff(Some(limit));
                let names = |diff: &Diff| diff.rows.iter().map(|row| row.name.clone()).collect::<Vec<_>>();
                assert_eq!(names(&cut), names(&all)[..limit.min(all.rows.len())], "{sort:?} {min} {limit}");
                assert_eq!(cut.rest.rows + cut.rows.len(), all.rest.rows + all.rows.len());
                assert_eq!(change(&cut), change(&all));
            }
        }
    }
}

/// Calls that only one side has, and changes that are all too small to show, have words of their own.
#[test]
fn calls_of_one_side_and_small_changes_in_words() {
    let side = |of_main: &str, grind: u32, polish: u32| {
        Profile::from_bytes(format!(
            "events: Ir\nfn=main\n1 5\n{of_main}fn=mill\n2 5\ncfn=grind\ncalls=1 3\n2 10\ncfn=polish\ncalls=1 4\n2 7\n\
             fn=grind\n3 {grind}\nfn=polish\n4 {polish}\n"
        ))
    };
    let base = side("cfn=grind\ncalls=64 3\n1 640\n", 650, 7);
    let new = side("cfn=polish\ncalls=10 4\n1 70\n", 10, 77);
    let comparison = Comparison::new(&[&base], &[&new], &CompareOptions::default()).unwrap();
    let diff = |min| {
        let options = DiffOptions {
            columns: vec![0],
            grouping: Grouping::Function,
            sort: SortBy::SelfCost,
            limit: None,
            min,
            filter: None,
            causes: None,
            show_joined: false,
        };
        Diff::new(&comparison, &options)
    };
    let causes: Vec<String> = diff(0).causes.into_iter().map(|cause| cause.text).collect();
    assert_eq!(causes, ["main no longer calls grind: 64 → 0 (-100.00%)", "main now calls polish: 0 → 10"]);
    // The whole is 667, the greatest change 640.
    for (min, is_shown) in [(95_000, true), (96_000, false)] {
        let mut text = Vec::new();
        diff(min).write_text(&Look::plain(80), &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let sentence = "no self cost changed by 96% of the base or more (--min 0 shows what changed)\n";
        assert_eq!(text.contains(sentence), !is_shown, "{text}");
        assert_eq!(text.contains("Changed functions"), is_shown, "{text}");
    }
}

/// The whole difference of two profiles.
fn whole(base: &str, new: &str) -> Diff {
    let [base, new] = [base, new].map(|text| Profile::from_bytes(format!("events: Ir\nfl=a.c\n{text}")));
    let comparison = Comparison::new(&[&base], &[&new], &CompareOptions::default()).unwrap();
    let options = DiffOptions {
        columns: vec![0],
        grouping: Grouping::Function,
        sort: SortBy::SelfCost,
        limit: None,
        min: 0,
        filter: None,
        causes: None,
        show_joined: false,
    };
    Diff::new(&comparison, &options)
}

/// The sentences of the causes of two profiles.
fn sentences(base: &str, new: &str) -> Vec<String> {
    whole(base, new).causes.into_iter().map(|cause| cause.text).collect()
}

#[test]
fn a_call_that_costs_more_is_compared_at_an_equal_mix_of_callers() {
    // Calls from `a` cost 145, then 225; those from `b` 425, then 665. There are more of the expensive ones.
    let side = |[a, b]: [u64; 2], [of_a, of_b]: [u64; 2]| {
        let cost = a * of_a + b * of_b;
        format!(
            "fn=a\n1 10\ncfn=f\ncalls={a} 5\n1 {}\nfn=b\n2 10\ncfn=f\ncalls={b} 5\n2 {}\nfn=f\n5 {cost}\n",
            a * of_a,
            b * of_b
        )
    };
    let said = sentences(&side([2000, 600], [145, 425]), &side([1000, 1500], [225, 665]));
    // (1000 × 225 + 1500 × 665) / (1000 × 145 + 1500 × 425) = 1.5623…
    assert_eq!(said[0], "f costs more per call: +56.23%, if callers had called it as often as now");
}

#[test]
fn an_effect_of_some_calls_has_no_percentage_of_all() {
    // Each call of `f` costs 100, then 200. In the new profile, `p` calls `g`, which calls `f` as well.
    let side = |of_g: u64, each: u64| {
        let by_g = of_g * 10;
        format!(
            "fn=p\n1 1000\ncfn=f\ncalls=20 5\n1 {}\n{}fn=q\n2 10\ncfn=f\ncalls=10 5\n2 {}\n\
             fn=g\n3 {}\ncfn=f\ncalls={} 5\n3 {}\nfn=f\n5 {}\n",
            20 * each,
            if of_g == 1 {
                String::new()
            } else {
                format!("cfn=g\ncalls={of_g} 3\n1 {}\n", by_g * (each + 20))
            },
            10 * each,
            by_g * 20,
            by_g,
            by_g * each,
            (30 + by_g) * each
        )
    };
    let said = sentences(&side(1, 100), &side(20, 200));
    assert!(!said.iter().any(|text| text.contains("as often as now")), "{said:?}");
}

#[test]
fn calls_that_cost_as_before_are_called_less_often() {
    // The caller of the base vanished, that of the new profile is new.
    let side = |caller: &str, calls: u64| {
        format!(
            "fn=main\n1 10\ncfn={caller}\ncalls=1 2\n1 {0}\nfn={caller}\n2 7\ncfn=less\ncalls={calls} 5\n2 {1}\nfn=less\n5 \
             {1}\n",
            calls * 4 + 7,
            calls * 4
        )
    };
    let said = sentences(&side("quick", 87_565), &side("stable_merge", 71_620));
    assert!(said.iter().all(|said| !said.contains("less costs less by itself")), "{said:?}");
}

#[test]
fn calls_without_a_count_are_no_calls_from_0_to_0() {
    let side = |cost: u64| {
        format!(
            "fn=main\n1 10\ncfn=push\ncalls=0 2\n1 {cost}\nfn=f\n3 4\ncfn=push\ncalls=5 2\n3 50\nfn=push\n2 {}\n",
            cost + 50
        )
    };
    let said = sentences(&side(100), &side(900));
    assert!(said.iter().any(|said| said.contains("push")), "{said:?}");
    assert!(said.iter().all(|said| !said.contains("0 → 0")), "{said:?}");
}

#[test]
fn calls_beyond_those_of_the_caller_say_so() {
    let side = |calls: u64, further: u64| {
        format!(
            "fn=main\n1 10\ncfn=realloc\ncalls={calls} 2\n1 {0}\nfn=realloc\n2 {1}\ncfn=inner\ncalls={further} 3\n2 {2}\nfn=inner\n3 \
             {2}\n",
            calls * 5 + further * 50,
            calls * 5,
            further * 50
        )
    };
    let said = sentences(&side(10, 5), &side(1000, 1000));
    let expected = "realloc calls inner more often: 5 → 1,000 (+19,900.00%), beyond what its own calls explain: 10 → 1,000 \
                    (+9,900.00%)";
    assert!(said.iter().any(|said| said == expected), "{said:?}");
}

#[test]
fn what_is_unchanged_costs_neither_more_nor_less_and_counts_are_recorded_ones() {
    let side = |calls: u64| {
        Profile::from_bytes(format!(
            "events: Ir\nfn=main\n1 10\ncfn=f\ncalls={calls} 2\n1 900\nfn=f\n2 900\n"
        ))
    };
    let said = |base: &Profile, new: &Profile, cause: fn(JoinedId, JoinedId) -> Cause| {
        let comparison = Comparison::new(&[base], &[new], &CompareOptions::default()).unwrap();
        let named = |name: &[u8]| {
            comparison.functions().find(|&function| comparison.mention(function).name == name).unwrap()
        };
        let (main, f) = (named(b"main"), named(b"f"));
        let explanation =
            Explanation { cause: cause(main, f), effect: 14, functions: vec![(f, 14)], is_noise: false };
        sentence(&comparison, &explanation, 0, 80)
    };
    let own = |_, function| Cause::SelfCost { function };
    let unchanged = "f costs as much by itself as before, more than other causes explain: 900";
    assert_eq!(said(&side(9), &side(9), own), unchanged);
    let unchanged = "f costs as much by itself as before, more than its calls explain: 900";
    assert_eq!(said(&side(9), &side(7), own), unchanged);
    // The profiles have 9 and 7 calls, and the count that rose has those of other functions.
    let calls = |caller, callee| Cause::Calls { caller, callee, count: None };
    let more = "main calls f more often, besides calls that moved as if by inlining";
    assert_eq!(said(&side(9), &side(7), calls), more);
}

/// The text of a difference with all rows and causes.
fn whole_text(base: &str, new: &str) -> String {
    let mut text = Vec::new();
    whole(base, new).write_text(&Look::plain(100), &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

#[test]
fn a_path_has_no_count_of_calls_that_one_side_does_not_count() {
    let side = |count: u32, cost: u32| {
        format!("fn=main\n1 5\ncfn=help\ncalls={count} 3\n1 {cost}\nfn=help\n3 {cost}\n")
    };
    let text = whole_text(&side(900, 65_700), &side(0, 126_900));
    assert!(text.contains("→ help\n"), "{text}");
    let text = whole_text(&side(900, 65_700), &side(1900, 126_900));
    assert!(text.contains("→ help, calls 900 → 1,900\n"), "{text}");
}

#[test]
fn rows_without_memory_are_left_out_and_counted() {
    // Some 100 bytes for each row, of the size of the input.
    let side =
        |cost: u32| -> String { (0..12_000).map(|nth| format!("fn=f{nth}\n{nth} {cost}\n")).collect() };
    let text = whole_text(&side(1), &side(3));
    let shown = text.lines().filter(|line| line.contains("(a.c)")).count();
    let rest = text.lines().find(|line| line.contains("no memory for them; --format csv has all")).unwrap();
    let rest: usize =
        rest.split("… ").nth(1).unwrap().split(' ').next().unwrap().replace(',', "").parse().unwrap();
    assert_eq!(shown + rest, 12_000, "{shown} {rest}");
    assert!(shown >= super::MIN_ROWS, "{shown}");
}
