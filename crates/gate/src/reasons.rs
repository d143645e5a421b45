//! Reasons of changes, from a profile of the base.

use gristmill_profile::Profile;
use gristmill_profile::compare::{CompareError, CompareOptions, Comparison, Explanation, JoinOptions};
use gristmill_profile::event_choice::EventSelection;

use crate::verdict::{BenchmarkVerdict, Outcome, Reason};

/// Reasons given for each budget. `gristmill diff` lists all of them.
const MAX_REASONS: usize = 5;

impl BenchmarkVerdict {
    /// Adds the reasons of the change to each exceeded budget for a total. `sentence` words one of them: it gets the
    /// comparison, the cause and the column of the event type.
    ///
    /// # Errors
    ///
    /// If the profiles have nothing to compare.
    pub fn add_reasons(
        &mut self,
        base: &Profile,
        new: &Profile,
        source_directory: &[u8],
        sentence: impl Fn(&Comparison<'_>, &Explanation, usize) -> String,
    ) -> Result<(), CompareError> {
        let joining = JoinOptions { strip_prefix: vec![source_directory.to_vec()], ..JoinOptions::default() };
        let exceeded =
            self.budgets.iter_mut().filter(|budget| budget.is_total && budget.outcome != Outcome::Within);
        let exceeded: Vec<_> = exceeded.collect();
        // The profile of the base may lack some of them.
        let is_common = |name: &String| {
            [base, new].iter().all(|profile| {
                profile.events().any(|event| {
                    let event = profile.event(event);
                    event.name == name.as_bytes() && event.repetition == 0
                })
            })
        };
        let names = exceeded.iter().map(|budget| budget.event.clone()).filter(is_common).collect();
        let options =
            CompareOptions { joining, events: EventSelection::Named(names), ..CompareOptions::default() };
        let comparison = Comparison::new(&[base], &[new], &options)?;
        for budget in exceeded {
            let is_budgeted = |name: &[u8], repetition| name == budget.event.as_bytes() && repetition == 0;
            let column = comparison
                .events()
                .iter()
                .position(|event| event.is_common() && is_budgeted(&event.name, event.repetition));
            let Some(column) = column else { continue };
            let explanations = comparison.explain(column);
            let causes = explanations.causes.iter().filter(|cause| !cause.is_noise).take(MAX_REASONS);
            budget.reasons = causes
                .map(|cause| Reason { effect: cause.effect, text: sentence(&comparison, cause, column) })
                .collect();
        }
        Ok(())
    }
}
