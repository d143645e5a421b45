//! Options of a view.

use std::fmt;

use gristmill_profile::Selection;
use gristmill_profile::analysis::InclusiveRule;
use gristmill_profile::event_choice::EventSelection;
use gristmill_profile::formula::Definition;
use regex::Regex;

use crate::pattern::PatternBudget;

/// Options of a [`View`](crate::View). The default shows all event types of all functions in all parts.
#[derive(Debug, Clone)]
pub struct ViewOptions {
    /// The parts.
    pub selection: Selection,
    /// The event types to show.
    pub events: EventSelection,
    /// Event types that the user derives.
    pub derive: Vec<Definition>,
    /// The rule for inclusive costs.
    pub rule: InclusiveRule,
    /// `true` if the members of a cycle are taken as one.
    pub cycles: bool,
    /// `true` if all levels of a recursion are one subject.
    pub fold_recursion: bool,
    /// `true` if functions that differ only in their recorded callers are one subject.
    pub fold_callers: bool,
    /// Functions that are hidden: their self cost counts for their callers. Only for the rule of Gristmill.
    pub hide: Option<Regex>,
    /// `true` if hidden functions are left out of the graph, so that their callers call what they called, and with them calls
    /// without cost in the focus: for reports that show calls.
    pub bypasses_hidden: bool,
    /// Functions one of which must be on the stack for a cost to count. Only for the rule of Gristmill.
    pub focus: Option<Regex>,
    /// Functions that are left out with everything below them: their cost leaves all totals. Only for the rule of Gristmill.
    pub drop: Option<Regex>,
    /// Calls to cut.
    pub cuts: Vec<Cut>,
    /// The share, in thousandths, of the most expensive calls to the same function: calls that cost less are cut. The first
    /// event type to show decides, without signs.
    pub cut_below: u32,
}

impl Default for ViewOptions {
    fn default() -> Self {
        ViewOptions {
            selection: Selection::default(),
            events: EventSelection::default(),
            derive: Vec::new(),
            rule: InclusiveRule::default(),
            cycles: true,
            fold_recursion: false,
            fold_callers: false,
            hide: None,
            bypasses_hidden: false,
            focus: None,
            drop: None,
            cuts: Vec::new(),
            cut_below: 0,
        }
    }
}

/// Calls to cut: from functions whose name matches a pattern to functions whose name matches another.
///
/// ```
/// use gristmill_report::{Cut, CutError};
///
/// let cuts = Cut::parse_all(&["main -> ^read"]).expect("valid");
/// assert!(cuts[0].caller.is_match("main") && !cuts[0].callee.is_match("spread"));
/// assert!(matches!(Cut::parse_all(&["main -> f", "main"]), Err((1, CutError::NoArrow))));
/// // The name of the caller has an arrow.
/// let cuts = Cut::parse_all(&["^lazy::operator->$ -> ^load$"]).expect("valid");
/// assert!(cuts[0].caller.is_match("lazy::operator->") && cuts[0].callee.is_match("load"));
/// ```
#[derive(Debug, Clone)]
pub struct Cut {
    /// Matches the name of the caller.
    pub caller: Regex,
    /// Matches the name of the callee.
    pub callee: Regex,
}

/// The reason why a text is not a [`Cut`]. See its example.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum CutError {
    /// There is no `->`.
    NoArrow,
    /// A pattern is not valid.
    Pattern(regex::Error),
    /// The patterns of all cuts take too much memory.
    TooLarge,
}

impl fmt::Display for CutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CutError::NoArrow => f.write_str("there is no ->"),
            CutError::Pattern(error) => error.fmt(f),
            CutError::TooLarge => f.write_str(
                "the patterns of the cuts take too much memory: use fewer, or shorter repetitions",
            ),
        }
    }
}

impl std::error::Error for CutError {}

impl Cut {
    /// Parses a list of `CALLER -> CALLEE`, both patterns. If the name of a caller has an arrow itself, `$` ends it:
    /// `operator->$ -> ^load$`. All together may take some megabytes, whatever their number.
    ///
    /// # Errors
    ///
    /// If one is not valid, or does not fit any more: its place in the list, and the reason.
    pub fn parse_all<T: AsRef<str>>(texts: &[T]) -> Result<Vec<Cut>, (usize, CutError)> {
        let mut budget = PatternBudget::new();
        let mut pattern = |text: &str| match budget.pattern(text.trim()) {
            Err(regex::Error::CompiledTooBig(_)) => Err(CutError::TooLarge),
            result => result.map_err(CutError::Pattern),
        };
        let mut parse = |text: &str| {
            let arrow = text.find("$ -> ").map(|end| end + "$ ".len()).or_else(|| text.find("->"));
            let (caller, callee) = text.split_at(arrow.ok_or(CutError::NoArrow)?);
            Ok(Cut { caller: pattern(caller)?, callee: pattern(&callee["->".len()..])? })
        };
        let cuts =
            texts.iter().enumerate().map(|(nth, text)| parse(text.as_ref()).map_err(|error| (nth, error)));
        cuts.collect()
    }
}
