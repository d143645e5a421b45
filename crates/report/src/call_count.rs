//! Counts of calls, of which some may be inlined.

use gristmill_format::Cost;
use gristmill_output::json::ExactInteger;
use gristmill_output::{Cell, grouped};
use schemars::JsonSchema;
use serde::Serialize;

/// A count of calls. If some of the calls are inlined, it is unknown: nothing tells how often inlined code was entered.
///
/// ```
/// use gristmill_report::CallCount;
///
/// assert_eq!((CallCount::new(1200, false).text(), CallCount::new(1200, false).exact()), ("1,200".to_owned(), Some(1200)));
/// assert_eq!((CallCount::new(0, true).text(), CallCount::new(0, true).exact()), ("inlined".to_owned(), None));
/// assert_eq!(CallCount::new(3, true).text(), "3+");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct CallCount {
    /// The count of calls, as far as the profile has it. Null if it is not known: some of the calls are inlined, or the
    /// functions do not call each other directly.
    calls: Option<ExactInteger>,
    /// The count of the calls that are not inlined, if some are.
    #[serde(skip_serializing_if = "Option::is_none")]
    recorded_calls: Option<ExactInteger>,
}

impl CallCount {
    /// Makes a count of recorded calls, beside which there may be inlined ones.
    pub fn new(recorded: Cost, has_inlined: bool) -> Self {
        let recorded = Some(ExactInteger(recorded));
        match has_inlined {
            false => CallCount { calls: recorded, recorded_calls: None },
            true => CallCount { calls: None, recorded_calls: recorded },
        }
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
    }

    /// Returns the count for people: `1,200`, `inlined`, or `3+` for three calls and inlined ones. Empty if there is no count.
    pub fn text(&self) -> String {
        self.text_with(grouped)
    }

    /// Returns the count for people, with recorded calls shown in this way.
    pub(crate) fn text_with(&self, shown: impl Fn(Cost) -> String) -> String {
        match (self.exact(), self.recorded()) {
            (Some(calls), _) => shown(calls),
            (None, _) if !self.has_inlined() => String::new(),
            (None, 0) => "inlined".to_owned(),
            (None, recorded) => format!("{}+", shown(recorded)),
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

    /// Returns the cell of a table, with a mark of estimates before the count.
    pub(crate) fn cell_with(&self, mark: &str) -> Cell {
        Cell::number(self.for_programs(), format!("{mark}{}", self.text()))
    }
}
