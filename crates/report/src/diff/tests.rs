#![cfg(test)]

use proptest::prelude::*;

use super::alignment::aligned;
use super::amounts::{per_call, signed_percent};
use gristmill_profile::compare::{Change, Sample};

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
