//! `gristmill diff` of several runs: medians do not add up, and every format says what is left, against own arithmetic.

#![allow(clippy::unwrap_used, clippy::panic)]

mod harness;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use harness::{code, json, run_in, schema, stderr, stdout, whole};

/// The name of the row with what medians leave over.
const REMAINDER: &str = "(medians do not add up)";

/// A run: the costs of functions. The first half of them is in an object, the others are in another one; the file changes with each.
type Run = Vec<i128>;

fn object(function: usize) -> &'static str {
    if function < 3 { "/lib/one" } else { "/lib/two" }
}

fn file(function: usize) -> &'static str {
    ["/src/a.c", "/src/b.c"][function % 2]
}

fn write(folder: &Path, side: &str, runs: &[Run]) -> Vec<String> {
    let name = |nth: usize| format!("{side}{nth}");
    for (nth, costs) in runs.iter().enumerate() {
        let mut text = "version: 1\nevents: Ir\n".to_owned();
        for (function, cost) in costs.iter().enumerate() {
            let (object, file) = (object(function), file(function));
            text += &format!("ob={object}\nfl={file}\nfn=f{function}\n{} {cost}\n", function + 1);
        }
        std::fs::write(folder.join(name(nth)), text).unwrap();
    }
    (0..runs.len()).map(name).collect()
}

/// The change of the median of something; of an even count of runs, the lower one in the middle counts.
fn change(sides: [&[Run]; 2], of: impl Fn(&Run) -> i128) -> i128 {
    let [base, new] = sides.map(|runs| {
        let mut costs: Vec<i128> = runs.iter().map(&of).collect();
        costs.sort_unstable();
        costs[(costs.len() - 1) / 2]
    });
    new - base
}

/// The changes by row, those of 0 left out, and that of the total.
fn expected(sides: [&[Run]; 2], row_of: &dyn Fn(usize) -> String) -> (BTreeMap<String, i128>, i128) {
    let names: BTreeSet<String> = (0..6).map(row_of).collect();
    let mut changes = BTreeMap::new();
    for name in names {
        let of_row = |run: &Run| (0..6).filter(|&nth| row_of(nth) == name).map(|nth| run[nth]).sum();
        let change = change(sides, of_row);
        changes.insert(name, change);
    }
    let total = change(sides, |run| run.iter().sum());
    changes.insert(REMAINDER.to_owned(), total - changes.values().sum::<i128>());
    changes.retain(|_, change| *change != 0);
    (changes, total)
}

fn diff(folder: &Path, names: &[Vec<String>; 2], more: &[&str]) -> std::process::Output {
    let [base, new] = names.each_ref().map(|names| names.iter().map(String::as_str).collect::<Vec<_>>());
    let output = run_in(folder, &[&["diff", "--base"], &base[..], &["--new"], &new[..], more].concat());
    assert_eq!((stderr(&output).as_str(), code(&output)), ("", 0));
    output
}

/// The number of a cell for people.
fn number(cell: &str) -> i128 {
    cell.trim_start_matches('+').replace([',', '*'], "").parse().unwrap()
}

/// The changes of self cost by row, as a format has them.
fn rows(folder: &Path, names: &[Vec<String>; 2], grouping: &str, format: &str) -> BTreeMap<String, i128> {
    let grouping: &[&str] = if grouping == "function" { &[] } else { &["--group", grouping] };
    let output = diff(folder, names, &[grouping, &["-n", "0", "--min", "0", "--format", format]].concat());
    let mut found = BTreeMap::new();
    let mut add = |name: &str, change: i128| {
        if change != 0 {
            assert_eq!(found.insert(name.to_owned(), change), None, "{name}");
        }
    };
    match format {
        "json" => {
            let answer = json(&output);
            harness::assert_valid(&schema("diff.schema.json"), &answer, "diff");
            for row in answer["functions"].as_array().unwrap() {
                add(row["name"].as_str().unwrap(), whole(&row["self"]["Ir"]["change"]));
            }
            add(REMAINDER, whole(&answer["remainder"]["Ir"]));
        }
        "csv" => {
            let text = stdout(&output);
            let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
            let heads = lines.next().unwrap();
            let column = |name: &str| heads.iter().position(|&head| head == name).unwrap();
            let (change, name) = (column("self Ir change"), column("name"));
            lines.for_each(|cells| add(cells[name], cells[change].parse().unwrap()));
        }
        "markdown" => {
            let text = stdout(&output);
            let cells = |line: &str| -> Vec<String> {
                line.split('|').map(|cell| cell.trim().replace(['`', '\\'], "")).collect()
            };
            let mut lines = text.lines().filter(|line| line.starts_with('|')).map(cells);
            let heads = lines.next().unwrap_or_default();
            let column = |names: &[&str]| heads.iter().position(|head| names.contains(&head.as_str()));
            if let (Some(change), Some(name)) = (column(&["Self"]), column(&["Object", "File", "Directory"]))
            {
                lines.skip(1).for_each(|cells| add(&cells[name], number(&cells[change])));
            }
        }
        _ => {
            for line in stdout(&output).lines().skip_while(|line| !line.starts_with("Changed")).skip(2) {
                let (cells, name) = match line.split_once(REMAINDER) {
                    Some((cells, _)) => (cells, REMAINDER),
                    None => line.rsplit_once(' ').unwrap(),
                };
                if let Some(cell) =
                    cells.split_whitespace().next().filter(|cell| cell.starts_with(['+', '-']))
                {
                    add(name, number(cell));
                }
            }
        }
    }
    found
}

/// Sets of runs whose functions swap their costs, as with hash seeds or stealing of work.
fn sets() -> Vec<[Vec<Run>; 2]> {
    let base = vec![vec![100, 10, 0, 0, 0, 0], vec![0, 100, 10, 0, 0, 0], vec![10, 0, 100, 0, 0, 0]];
    let mut sets =
        vec![[base.clone(), vec![vec![100, 100, 100, 0, 0, 0]]], [base, vec![vec![10, 100, 0, 0, 0, 0]]]];
    let mut state = 7_u64;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for _ in 0..12 {
        let mut runs = || {
            let count = 1 + random(4);
            (0..count).map(|_| (0..6).map(|_| i128::from(random(4) * 50 + random(3))).collect()).collect()
        };
        sets.push([runs(), runs()]);
    }
    sets
}

#[test]
fn rows_and_the_remainder_are_the_change_of_the_total() {
    let folder = tempfile::tempdir().unwrap();
    let groupings: [(&str, &dyn Fn(usize) -> String); 4] = [
        ("function", &|function| format!("f{function}")),
        ("file", &|function| file(function).to_owned()),
        ("object", &|function| object(function).to_owned()),
        ("dir", &|_| "/src".to_owned()),
    ];
    let mut with_remainder = 0;
    for sides in sets() {
        let names = [write(folder.path(), "base", &sides[0]), write(folder.path(), "new", &sides[1])];
        let sides = sides.each_ref().map(Vec::as_slice);
        for (grouping, row_of) in groupings {
            let (changes, total) = expected(sides, row_of);
            assert_eq!(changes.values().sum::<i128>(), total);
            with_remainder += usize::from(grouping != "function" && changes.contains_key(REMAINDER));
            let formats: &[&str] =
                if grouping == "function" { &["json", "csv"] } else { &["json", "csv", "markdown", "text"] };
            for format in formats {
                let found = rows(folder.path(), &names, grouping, format);
                assert_eq!(found, changes, "{sides:?} --group {grouping} --format {format}");
            }
        }
    }
    assert!(with_remainder > 5, "{with_remainder}");
}

#[test]
fn the_profile_has_the_change_of_the_total() {
    let folder = tempfile::tempdir().unwrap();
    for sides in sets() {
        let names = [write(folder.path(), "base", &sides[0]), write(folder.path(), "new", &sides[1])];
        let (changes, total) =
            expected(sides.each_ref().map(Vec::as_slice), &|function| format!("f{function}"));
        diff(folder.path(), &names, &["-o", "d.callgrind", "--force"]);
        let answer =
            json(&run_in(folder.path(), &["functions", "d.callgrind", "-n", "0", "--format", "json"]));
        assert_eq!((whole(&answer["totals"]["Ir"]), whole(&answer["findings"])), (total, 0));
        let rows = answer["functions"].as_array().unwrap().iter();
        let cost = |row: &Value| (row["name"].as_str().unwrap().to_owned(), whole(&row["self"]["Ir"]));
        assert_eq!(rows.map(cost).collect::<BTreeMap<_, _>>(), changes);
        assert_eq!(code(&run_in(folder.path(), &["lint", "d.callgrind"])), 0);
    }
}

#[test]
fn the_tree_says_that_medians_do_not_add_up() {
    let folder = tempfile::tempdir().unwrap();
    let [base, new] = sets().swap_remove(0);
    let names = [write(folder.path(), "base", &base), write(folder.path(), "new", &new)];
    let note = "medians of several runs";
    for format in ["text", "markdown"] {
        let shown = stdout(&diff(folder.path(), &names, &["--tree", "--format", format]));
        assert!(shown.contains(note), "{shown}");
    }
    let names = names.map(|names| names[..1].to_vec());
    let shown = stdout(&diff(folder.path(), &names, &["--tree"]));
    assert!(!shown.contains(note), "{shown}");
}
