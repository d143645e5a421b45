//! The chapter on practice names rules; each of them must exist.

use std::collections::BTreeSet;

use gristmill_format::RULES;

const CHAPTER: &str = include_str!("../src/practice.md");

/// The cells of the table of dialects.
fn rows() -> Vec<Vec<&'static str>> {
    CHAPTER
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"))
        .map(|row| row.split(" | ").collect::<Vec<_>>())
        .filter(|cells| cells[0].parse::<u32>().is_ok())
        .collect()
}

fn is_a_rule(name: &str) -> bool {
    RULES.iter().any(|rule| rule.name == name)
}

#[test]
fn each_dialect_has_rules() {
    let rows = rows();
    assert_eq!(rows.len(), 27);
    for (index, cells) in rows.iter().enumerate() {
        assert_eq!(cells.len(), 4, "{cells:?}");
        assert_eq!(cells[0], (index + 1).to_string());
        for rule in cells[3].split(", ") {
            let name = rule.trim_matches('`');
            assert!(is_a_rule(name), "row {}: there is no rule {rule}", cells[0]);
        }
    }
}

#[test]
fn rules_in_the_text_exist() {
    // In the text a rule stands in parentheses of its own.
    let named: BTreeSet<&str> = CHAPTER
        .split("(`")
        .skip(1)
        .filter_map(|rest| rest.split_once("`)"))
        .map(|(name, _)| name)
        .filter(|name| {
            name.contains('-') && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
        })
        .collect();
    assert!(named.len() > 8, "{named:?}");
    for name in named {
        assert!(is_a_rule(name), "there is no rule `{name}`");
    }
}
