//! The options of the layout.

use gristmill_profile::formula::Definition;
use gristmill_profile::symbol::matches_function;
use gristmill_profile::{Profile, Selection};
use regex::Regex;

use super::SelectedEvent;
use crate::LayoutError;

/// The options of the layout. See the example of [`Report`](super::Report).
#[derive(Debug, Clone)]
pub struct Options {
    /// The parts to show.
    pub selection: Selection,
    /// The event types to show.
    pub show: Vec<SelectedEvent>,
    /// The event types to sort by.
    pub sort: Vec<SelectedEvent>,
    /// The shares at which the list of functions ends, one for each event type to sort by.
    pub thresholds: Vec<Threshold>,
    /// `true` if the thresholds end the list at all.
    pub is_cut: bool,
    /// `true` if percentages are shown beside costs.
    pub show_percentages: bool,
    /// `true` if the source files of all listed functions are annotated.
    pub auto: bool,
    /// The number of lines to show before and after those with costs.
    pub context: u64,
    /// `true` if functions are listed with inclusive costs.
    pub inclusive: bool,
    /// `true` if the callers of each function are listed.
    pub callers: bool,
    /// `true` if the callees of each function are listed.
    pub callees: bool,
    /// The directories that sources are looked for in, each with `/` at its end.
    pub include_dirs: Vec<String>,
    /// Source files to annotate regardless of their cost, by the names that the profile has for them.
    pub user_files: Vec<Vec<u8>>,
    /// The pattern of the functions to list, and to annotate the lines of.
    pub function: Option<Regex>,
    /// The pattern of the paths of source files to annotate.
    pub file: Option<Regex>,
    /// The directory that is omitted at the beginning of paths.
    pub working_directory: Option<Vec<u8>>,
    /// The name of the profile.
    pub data_file: String,
    /// `true` if the jumps of each line are shown.
    pub jumps: bool,
    /// `true` if control characters of files are spelled out, which must not reach a terminal or the log of a build.
    pub spells_controls: bool,
    /// `true` if source lines have colours.
    pub color: bool,
}

impl Options {
    /// The share of the total that is listed by default, in percent.
    pub const DEFAULT_THRESHOLD: &str = "99";

    /// `true` if the name of a function matches the pattern of the user, or there is none.
    pub(super) fn is_wanted(&self, function: &[u8]) -> bool {
        self.function.as_ref().is_none_or(|pattern| {
            matches_function(&String::from_utf8_lossy(function), pattern.as_str(), |name| {
                pattern.is_match(name)
            })
        })
    }

    /// Creates the options that callgrind_annotate has by default, for a profile of this name.
    pub fn new(profile: &Profile, data_file: String) -> Self {
        let recorded = SelectedEvent::recorded(profile);
        let mut options = Options {
            selection: Selection::default(),
            show: recorded.clone(),
            sort: recorded,
            thresholds: Vec::new(),
            is_cut: true,
            show_percentages: true,
            auto: true,
            context: 8,
            inclusive: false,
            callers: false,
            callees: false,
            include_dirs: Vec::new(),
            user_files: Vec::new(),
            function: None,
            file: None,
            working_directory: None,
            data_file,
            jumps: false,
            spells_controls: false,
            color: false,
        };
        options.set_thresholds(&[], Threshold { text: Self::DEFAULT_THRESHOLD.to_owned(), percent: 99.0 });
        options
    }

    /// Selects event types by name. Without names, all recorded event types are selected.
    ///
    /// A key of `sort` may have a threshold. If none has one, `threshold` is that of the first key.
    ///
    /// # Errors
    ///
    /// Returns the first name that is no event type.
    pub fn select_events(
        &mut self,
        profile: &Profile,
        show: &[String],
        sort: &[SortKey],
        threshold: Threshold,
        own: &[Definition],
    ) -> Result<(), LayoutError> {
        let sort_names: Vec<String> = sort.iter().map(|key| key.name.clone()).collect();
        for (selected, names) in [(&mut self.sort, &sort_names[..]), (&mut self.show, show)] {
            *selected = match names {
                [] => SelectedEvent::recorded(profile),
                names => SelectedEvent::named(profile, names, own)?,
            };
        }
        self.set_thresholds(sort, threshold);
        Ok(())
    }

    fn set_thresholds(&mut self, sort: &[SortKey], threshold: Threshold) {
        (self.thresholds, self.is_cut) = thresholds(sort, threshold, self.sort.len());
    }

    /// `true` if calls are needed.
    pub(super) fn needs_calls(&self) -> bool {
        self.inclusive || self.callers || self.callees
    }
}

/// The thresholds of event types to sort by, and `true` if they end the list at all. If no key has its own, `threshold` is
/// that of the first one.
pub(super) fn thresholds(sort: &[SortKey], threshold: Threshold, count: usize) -> (Vec<Threshold>, bool) {
    let has_own = sort.iter().any(|key| key.threshold.is_some());
    let is_cut = has_own || threshold.percent < 100.0;
    let mut thresholds: Vec<Threshold> = if has_own {
        sort.iter().map(|key| key.threshold.clone().unwrap_or_else(Threshold::zero)).collect()
    } else {
        vec![threshold]
    };
    thresholds.resize_with(count, Threshold::zero);
    (thresholds, is_cut)
}

/// The share of the total that the listed functions have together.
///
/// ```
/// use gristmill_compat::callgrind_annotate::Threshold;
///
/// assert_eq!(Threshold::parse("99.5%").unwrap().percent, 99.5);
/// assert_eq!(Threshold::parse("101"), None);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Threshold {
    /// The share as it was given, without a percent sign.
    pub text: String,
    /// The share in percent.
    pub percent: f64,
}

impl Threshold {
    /// Parses digits and points, with or without a percent sign. A share above 100 is no threshold.
    pub fn parse(text: &str) -> Option<Threshold> {
        let text = text.strip_suffix('%').unwrap_or(text);
        if !is_number(text) {
            return None;
        }
        // The original ignores what follows a second point.
        let end = text.match_indices('.').nth(1).map_or(text.len(), |(at, _)| at);
        let number = &text[..end];
        let percent = if number == "." { 0.0 } else { number.parse().ok()? };
        (percent <= 100.0).then(|| Threshold { text: text.to_owned(), percent })
    }

    /// A share that is reached at once.
    fn zero() -> Threshold {
        Threshold { text: "0".to_owned(), percent: 0.0 }
    }
}

/// An event type to sort by.
///
/// ```
/// use gristmill_compat::callgrind_annotate::SortKey;
///
/// let keys = SortKey::parse_all("Ir:90,Dr")?;
/// assert_eq!((keys[0].name.as_str(), keys[1].name.as_str()), ("Ir", "Dr"));
/// assert_eq!(keys[0].threshold.as_ref().unwrap().percent, 90.0);
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SortKey {
    /// The name of the event type.
    pub name: String,
    /// The share at which the list ends.
    pub threshold: Option<Threshold>,
}

impl SortKey {
    /// Parses keys such as `Ir:90,Dr`. Text after a colon that is not a number is part of the name.
    ///
    /// # Errors
    ///
    /// Returns the first share above 100.
    pub fn parse_all(text: &str) -> Result<Vec<SortKey>, String> {
        split_list(text).map(SortKey::parse).collect()
    }

    fn parse(text: &str) -> Result<SortKey, String> {
        let mut name = text;
        let mut threshold = None;
        while let Some((before, share)) = name.rsplit_once(':')
            && is_number(share.strip_suffix('%').unwrap_or(share))
        {
            let parsed = Threshold::parse(share).ok_or(share)?;
            threshold = threshold.or(Some(parsed));
            name = before;
        }
        Ok(SortKey { name: name.to_owned(), threshold })
    }
}

/// Splits a list at its commas, and drops empty items at its end, as Perl does.
pub(crate) fn split_list(text: &str) -> impl Iterator<Item = &str> {
    let text = text.trim_end_matches(',');
    text.split(',').take(if text.is_empty() { 0 } else { usize::MAX })
}

/// `true` for digits and points, at least one of them.
pub(crate) fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

/// Puts exactly one slash at the end of a directory, as callgrind_annotate shows it.
pub fn with_slash(directory: &str) -> String {
    format!("{}/", directory.trim_end_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sort_keys_may_have_thresholds() {
        let parse = |text: &str| {
            SortKey::parse_all(text).map(|keys| {
                let key = |key: SortKey| (key.name, key.threshold.map(|threshold| threshold.text));
                keys.into_iter().map(key).collect::<Vec<_>>()
            })
        };
        let key = |name: &str, share: Option<&str>| (name.to_owned(), share.map(str::to_owned));
        assert_eq!(parse(""), Ok(vec![]));
        assert_eq!(parse("Ir,Dr"), Ok(vec![key("Ir", None), key("Dr", None)]));
        assert_eq!(parse(",Dr,,"), Ok(vec![key("", None), key("Dr", None)]));
        assert_eq!(parse("Ir:90%,Dr:5.5"), Ok(vec![key("Ir", Some("90")), key("Dr", Some("5.5"))]));
        assert_eq!(parse("Ir:x"), Ok(vec![key("Ir:x", None)]));
        assert_eq!(parse("Ir:101"), Err("101".to_owned()));
    }
}
