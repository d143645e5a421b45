//! Why costs changed, where a whole profile of the base is at hand and not only what the baseline keeps of it.

use std::path::Path;

use gristmill_profile::Profile;
use gristmill_profile::compare::{CompareOptions, Comparison, JoinOptions};
use gristmill_report::diff::sentence;

use super::judge::{Outcome, Reason, Verdict};
use super::measured::prefix;

/// More reasons than these nobody reads in a verdict; `gristmill diff` has them all.
const MOST: usize = 5;

/// Names are made to fit into so many characters.
const NAME_WIDTH: usize = 60;

/// Adds the reasons to the budgets for all functions that were not kept. The error is a sentence.
pub(super) fn explain(
    verdict: &mut Verdict,
    base: &Profile,
    new: &Profile,
    directory: &Path,
) -> Result<(), String> {
    let joining = JoinOptions { strip_prefix: vec![prefix(directory)], ..JoinOptions::default() };
    let options = CompareOptions { joining, ..CompareOptions::default() };
    let comparison = Comparison::new(&[base], &[new], &options).map_err(|error| error.to_string())?;
    for check in verdict.checks.iter_mut().filter(|check| check.is_total && check.outcome != Outcome::Within)
    {
        let is_meant = |name: &[u8], repetition| name == check.event.as_bytes() && repetition == 0;
        let column = comparison
            .events()
            .iter()
            .position(|event| event.is_common() && is_meant(&event.name, event.repetition));
        let Some(column) = column else { continue };
        let explanations = comparison.explain(column);
        let causes = explanations.causes.iter().filter(|cause| !cause.is_noise).take(MOST);
        check.reasons = causes
            .map(|cause| Reason {
                effect: cause.effect,
                text: sentence(&comparison, cause, column, NAME_WIDTH),
            })
            .collect();
    }
    Ok(())
}
