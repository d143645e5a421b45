//! Options of a view from the scope of a question.

use std::ops::RangeInclusive;

use gristmill_profile::formula::{DefinedBy, Definition};
use gristmill_profile::{NumberRange, Selection};
use gristmill_report::{Cut, EventSelection, ViewOptions};
use regex::Regex;

use crate::question::Scope;
use crate::refusal::Refusal;

/// Makes the options of a view. With `bypasses_hidden`, callers of hidden functions call what these called.
pub(crate) fn view_options(scope: &Scope, bypasses_hidden: bool) -> Result<ViewOptions, Refusal> {
    let cuts = Cut::parse_all(&scope.cuts).map_err(|(nth, error)| Refusal::Scope {
        member: "cuts",
        text: scope.cuts[nth].clone(),
        reason: last_line(&error.to_string()),
    })?;
    Ok(ViewOptions {
        selection: selection(scope)?,
        events: match &scope.events[..] {
            [] => EventSelection::First,
            names => EventSelection::Named(names.to_vec()),
        },
        derive: definitions(scope)?,
        cycles: !scope.no_cycles,
        fold_recursion: scope.fold_recursion,
        fold_callers: scope.fold_callers,
        hide: optional_pattern(&scope.hide)?,
        focus: optional_pattern(&scope.focus)?,
        drop: optional_pattern(&scope.drop)?,
        bypasses_hidden,
        cuts,
        ..ViewOptions::default()
    })
}

/// Parses the event types that the scope derives.
pub(crate) fn definitions(scope: &Scope) -> Result<Vec<Definition>, Refusal> {
    let definition = |text: &String| {
        Definition::parse(text.as_bytes(), DefinedBy::User).map_err(|error| Refusal::Scope {
            member: "derive",
            text: text.clone(),
            reason: error.to_string(),
        })
    };
    scope.derive.iter().map(definition).collect()
}

/// Parses the selection of parts.
pub(crate) fn selection(scope: &Scope) -> Result<Selection, Refusal> {
    Ok(Selection {
        parts: ranges("parts", &scope.parts)?,
        threads: ranges("threads", &scope.threads)?,
        pids: ranges("processes", &scope.processes)?,
    })
}

/// Parses ranges such as `1-3,7`. Nothing stands for all.
fn ranges(member: &'static str, text: &str) -> Result<Vec<RangeInclusive<u64>>, Refusal> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let range = |text: &str| {
        let without_blanks = text.split('-').map(str::trim).collect::<Vec<_>>().join("-");
        without_blanks.parse().map(|NumberRange(range)| range)
    };
    let ranges = text.split(',').map(range);
    ranges.collect::<Result<_, _>>().map_err(|_| Refusal::Scope {
        member,
        text: text.to_owned(),
        reason: "expected numbers and ranges, such as 1-3,7".to_owned(),
    })
}

/// Parses a pattern. Nothing stands for none.
pub(crate) fn optional_pattern(text: &str) -> Result<Option<Regex>, Refusal> {
    if text.is_empty() { Ok(None) } else { pattern(text).map(Some) }
}

/// Parses a pattern, which ignores the case of letters unless it has a capital letter.
pub(crate) fn pattern(text: &str) -> Result<Regex, Refusal> {
    gristmill_report::pattern(text)
        .map_err(|error| Refusal::Pattern { text: text.to_owned(), reason: last_line(&error.to_string()) })
}

/// The last line of an error of a pattern has the reason, those before it repeat the pattern.
fn last_line(error: &str) -> String {
    error.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_numbers_and_pairs() {
        assert_eq!(ranges("parts", "").unwrap(), []);
        assert_eq!(ranges("parts", "1-3, 7").unwrap(), [1..=3, 7..=7]);
        for text in ["x", "3-1", "1,", "-", "+1", "99999999999999999999"] {
            let refusal = ranges("parts", text).unwrap_err().to_string();
            assert!(refusal.starts_with(&format!("parts: `{text}`: expected numbers")), "{refusal}");
        }
    }

    #[test]
    fn a_bad_pattern_is_named_with_its_reason() {
        let scope = Scope { hide: "(".to_owned(), ..Scope::default() };
        assert_eq!(
            view_options(&scope, false).unwrap_err().to_string(),
            "`(` is not a valid pattern: unclosed group"
        );
        let scope = Scope { cuts: vec!["main".to_owned()], ..Scope::default() };
        assert_eq!(view_options(&scope, false).unwrap_err().to_string(), "cuts: `main`: there is no ->");
    }
}
