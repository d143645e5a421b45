//! Patterns that match nothing in a comparison.

use gristmill_profile::compare::Comparison;
use regex::Regex;

use crate::diff::{fits, group_name, shown_name};
use crate::find::nearest_name;
use crate::grouping::Grouping;

/// A pattern that matches no function, or no group of functions, of either side. See [`NoMatch::of`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoMatch {
    /// The word for one of what it was to match: `function`, `object`.
    pub noun: &'static str,
    /// The name that is most like the pattern, if it may be meant.
    pub nearest: Option<String>,
}

impl NoMatch {
    /// Returns why a filter matches nothing, which was given as `text`. `None` if it matches something.
    ///
    /// ```
    /// use gristmill_profile::Profile;
    /// use gristmill_profile::compare::{CompareOptions, Comparison};
    /// use gristmill_report::{Grouping, NoMatch};
    /// use regex::Regex;
    ///
    /// let [base, new] = ["10", "12"].map(|cost| Profile::from_bytes(format!("events: Ir\nfn=grind\n1 {cost}\n")));
    /// let comparison = Comparison::new(&[&base], &[&new], &CompareOptions::default())?;
    /// let no_match = NoMatch::of(&comparison, &Regex::new("grnd")?, Grouping::Function, "grnd").expect("no match");
    /// assert_eq!((no_match.noun, no_match.nearest.as_deref()), ("function", Some("grind")));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of(comparison: &Comparison<'_>, filter: &Regex, grouping: Grouping, text: &str) -> Option<Self> {
        if grouping != Grouping::Function {
            let is_found = comparison
                .functions()
                .any(|function| filter.is_match(&group_name(comparison, grouping, function)));
            return (!is_found).then_some(NoMatch { noun: grouping.nouns().0, nearest: None });
        }
        if comparison.functions().any(|function| fits(comparison, filter, function)) {
            return None;
        }
        let names: Vec<String> = comparison
            .functions()
            .flat_map(|function| [comparison.in_new(function), comparison.in_base(function)])
            .flatten()
            .map(shown_name)
            .collect();
        let nearest = nearest_name(names.iter().map(String::as_str), text).map(str::to_owned);
        Some(NoMatch { noun: grouping.nouns().0, nearest })
    }
}
