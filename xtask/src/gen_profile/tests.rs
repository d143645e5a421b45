//! The promises of the generator, checked by a separate parser that shares no code with it.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Cursor;

use super::*;

fn profile(shape: Shape, size: u64, seed: u64) -> String {
    let mut file = Cursor::new(Vec::new());
    write_profile(&mut file, shape, size, seed).unwrap();
    String::from_utf8(file.into_inner()).unwrap()
}

const CASES: [(Shape, u64, u64); 6] = [
    (Shape::Plain, 16 * 1024, 1),
    (Shape::Full, 16 * 1024, 1),
    (Shape::Plain, 200_000, 2),
    (Shape::Full, 200_000, 2),
    (Shape::Plain, 3_000_000, 3),
    (Shape::Full, 3_000_000, 4),
];

#[test]
fn same_seed_same_bytes() {
    for (shape, size, seed) in CASES {
        assert!(profile(shape, size, seed) == profile(shape, size, seed), "{shape:?} {size} {seed}");
        assert!(profile(shape, size, seed) != profile(shape, size, seed + 1), "{shape:?} {size} {seed}");
    }
}

#[test]
fn size_is_within_two_percent() {
    for (shape, size, seed) in CASES {
        let length = profile(shape, size, seed).len() as u64;
        assert!(length.abs_diff(size) * 50 <= size, "{shape:?}: {length} instead of {size}");
    }
}

#[test]
fn summary_and_totals_are_the_sum_of_self_costs() {
    for (shape, size, seed) in CASES {
        let text = profile(shape, size, seed);
        let columns = if shape == Shape::Full { 2 } else { 1 };
        let mut sums = vec![0u64; if shape == Shape::Full { 13 } else { 1 }];
        let mut second = false;
        for line in text.lines() {
            if line.starts_with("calls=") || line.starts_with("jump=") || line.starts_with("jcnd=") {
                second = true;
            } else if line.starts_with(|first: char| first.is_ascii_digit() || "+-*".contains(first))
                && !std::mem::take(&mut second)
            {
                for (sum, cost) in sums.iter_mut().zip(line.split(' ').skip(columns)) {
                    *sum += cost.parse::<u64>().unwrap();
                }
            }
        }
        let expected = sums.iter().map(u64::to_string).collect::<Vec<_>>().join(" ");
        let value = |key: &str| text.lines().find_map(|line| line.strip_prefix(key)).unwrap().to_owned();
        assert_eq!(value("summary: "), expected);
        assert_eq!(value("totals: "), expected);
    }
}

#[test]
fn names_are_defined_once_at_first_use_and_every_callee_has_a_block() {
    for (shape, size, seed) in CASES {
        let text = profile(shape, size, seed);
        let mut names: BTreeMap<(&str, u64), &str> = BTreeMap::new();
        let (mut blocks, mut callees, mut order) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
        for line in text.lines() {
            let Some((key, value)) = line.split_once("=(") else { continue };
            let space = match key {
                "ob" | "cob" => "object",
                "fl" | "fi" | "fe" | "cfi" | "jfi" => "file",
                "fn" | "cfn" => "function",
                _ => panic!("unexpected {line}"),
            };
            let (id, rest) = value.split_once(')').unwrap();
            let id: u64 = id.parse().unwrap();
            match rest.strip_prefix(' ') {
                Some(name) => assert!(names.insert((space, id), name).is_none(), "{line} is defined twice"),
                None => assert!(names.contains_key(&(space, id)), "{line} is used before it is defined"),
            }
            match key {
                "fn" => {
                    assert!(blocks.insert(id), "{line} has two blocks");
                    order.push(id);
                }
                "cfn" => {
                    callees.insert(id);
                }
                _ => {}
            }
        }
        assert!(!order.is_sorted());
        assert!(callees.is_subset(&blocks), "{:?}", callees.difference(&blocks).next());
    }
}

#[test]
fn positions_are_relative_by_the_rule_of_callgrind() {
    for (shape, size, seed) in CASES {
        let text = profile(shape, size, seed);
        let columns = if shape == Shape::Full { 2 } else { 1 };
        let mut base = vec![0u64; columns];
        let mut second = false;
        let mut seen_relative = 0;
        for line in text.lines() {
            let cost = line.starts_with(|first: char| first.is_ascii_digit() || "+-*".contains(first));
            let association = ["calls=", "jump=", "jcnd="].iter().any(|key| line.starts_with(key));
            if line.starts_with("fn=") {
                base.fill(0);
            }
            if !cost && !association {
                continue;
            }
            let mut at = Vec::new();
            for (&base, field) in base.iter().zip(line.split(' ').skip(usize::from(association))) {
                let relative = field.starts_with(['+', '-', '*']);
                let value = match field.as_bytes() {
                    [b'*'] => base,
                    [b'+', ..] => base + field[1..].parse::<u64>().unwrap(),
                    [b'-', ..] => base - field[1..].parse::<u64>().unwrap(),
                    [b'0', b'x', ..] => u64::from_str_radix(&field[2..], 16).unwrap(),
                    _ => field.parse().unwrap(),
                };
                assert_eq!(relative, base > 0 && value.abs_diff(base) < 100, "{line}");
                assert!(!(relative && value == base) || field == "*", "{line}");
                seen_relative += u32::from(relative);
                at.push(value);
            }
            if association {
                assert!(line.ends_with(' '), "{line:?}");
                second = true;
            } else if !std::mem::take(&mut second) {
                base = at;
            }
        }
        assert!(seen_relative > 100);
    }
}
