//! Counts of calls, of which some may be inlined.

use gristmill_format::Cost;
use gristmill_output::json::ExactInteger;
use gristmill_output::{Cell, grouped};
use schemars::JsonSchema;
use serde::Serialize;

use crate::amount::estimate_mark;

/// A count of calls. If some of the calls are inlined, it is unknown: nothing tells how often inlined code was entered.
///
/// ```
/// use gristmill_report::CallCount;
///
/// assert_eq!((CallCount::new(1200, false).text(), CallCount::new(1200, false).exact()), ("1,200".to_owned(), Some(1200)));
/// assert_eq!((CallCount::new(0, true).text(), CallCount::new(0, true).exact()), ("inlined".to_owned(), None));
/// assert_eq!(CallCount::new(3, true).text(), "3+");
/// assert_eq!(CallCount::new(1200, false).guessed(true).text(), "~1,200");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct CallCount {
    /// The count of calls, as far as the profile has it. Null if it is not known: some of the calls are inlined, or the
    /// functions do not call each other directly.
    calls: Option<ExactInteger>,
    /// The count of the calls that are not inlined, if some are.
    #[serde(skip_serializing_if = "Option::is_none")]
    recorded_calls: Option<ExactInteger>,
    /// `true` if the count is an estimate.
    #[serde(rename = "calls_guessed", skip_serializing_if = "std::ops::Not::not")]
    is_guessed: bool,
}

impl CallCount {
    /// Makes a count of recorded calls, beside which there may be inlined ones.
    pub fn new(recorded: Cost, has_inlined: bool) -> Self {
        let recorded = Some(ExactInteger(recorded));
        match has_inlined {
            false => CallCount { calls: recorded, recorded_calls: None, is_guessed: false },
            true => CallCount { calls: None, recorded_calls: recorded, is_guessed: false },
        }
    }

    /// Returns the same count, marked if it is an estimate.
    #[must_use]
    pub fn guessed(self, is_guessed: bool) -> Self {
        CallCount { is_guessed, ..self }
    }

    /// `true` if the count is an estimate.
    pub fn is_guessed(&self) -> bool {
        self.is_guessed
    }

    /// Returns the count of all calls, if it is known.
    pub fn exact(&self) -> Option<Cost> {
        self.calls.map(|ExactInteger(calls)| calls)
    }

    /// Returns the count of calls that are not inlined.
    pub fn recorded(&self) -> Cost {
        self.calls.or(self.recorded_calls).map_or(0, |ExactInteger(calls)| calls)
    }

    /// `true` if some of the calls are inlined.
    pub fn has_inlined(&self) -> bool {
        self.recorded_calls.is_some()
    }

    /// Returns the sum of two counts.
    #[must_use]
    pub(crate) fn plus(&self, other: &CallCount) -> CallCount {
        CallCount::new(self.recorded() + other.recorded(), self.has_inlined() || other.has_inlined())
            .guessed(self.is_guessed || other.is_guessed)
    }

    /// Returns the count for people: `1,200`, `inlined`, or `3+` for three calls and inlined ones, with `~` before an estimate. Empty if there is no
    /// count.
    pub fn text(&self) -> String {
        self.text_with(grouped)
    }

    /// Returns the count for people, with recorded calls shown in this way.
    pub(crate) fn text_with(&self, shown: impl Fn(Cost) -> String) -> String {
        let mark = estimate_mark(self.is_guessed);
        match (self.exact(), self.recorded()) {
            (Some(calls), _) => format!("{mark}{}", shown(calls)),
            (None, _) if !self.has_inlined() => String::new(),
            (None, 0) => "inlined".to_owned(),
            (None, recorded) => format!("{mark}{}+", shown(recorded)),
        }
    }

    /// Returns the count for programs. Empty if it is not known.
    pub(crate) fn for_programs(&self) -> String {
        self.exact().map_or_else(String::new, |calls| calls.to_string())
    }

    /// Returns the cell of a table.
    pub(crate) fn cell(&self) -> Cell {
        Cell::number(self.for_programs(), self.text())
    }
}
