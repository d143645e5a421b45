//! The path of the greatest change as text.

use gristmill_format::Cost;
use gristmill_output::CostUnit;

use super::amounts::signed_percent;
use super::sentences::{SentenceNames, is_uncounted};
use super::{Delta, Diff, StepRow};
use crate::start_up::is_start_up;

/// The limit of the steps that are shown.
const MAX_STEPS: usize = 7;

/// A step of the path as text.
pub(super) struct StepText {
    /// The change of its inclusive cost.
    pub(super) change: Cost,
    /// The share of the change of the total, in percent.
    pub(super) share: String,
    /// The function and its calls.
    pub(super) text: String,
}

impl Diff {
    /// Returns the steps of the path, without those that pass the change on.
    pub(super) fn path_steps(&self, names: &SentenceNames) -> Vec<StepText> {
        let change = |step: &StepRow| step.inclusive.delta();
        let first = self.path.iter().position(|step| !is_start_up(&step.function.name)).unwrap_or(0);
        let is_followed = |nth: usize| nth > 0 && is_following(&self.path[nth - 1], &self.path[nth]);
        let mut kept: Vec<usize> = Vec::new();
        for (nth, step) in self.path.iter().enumerate().skip(first) {
            let next = self.path.get(nth + 1);
            let passes_on = next.is_some_and(|next| is_nearly(change(next), change(step)));
            let is_cause = is_changed(step) && !is_followed(nth);
            let calls_cause = next.is_some_and(is_changed) && !is_followed(nth + 1);
            let calls_last = nth + 2 == self.path.len();
            if nth == first || is_cause || calls_cause || calls_last || !passes_on {
                kept.push(nth);
            }
        }
        if kept.len() < 2 {
            return Vec::new();
        }
        if kept.len() > MAX_STEPS {
            kept.drain(1..kept.len() - (MAX_STEPS - 1));
        }
        let whole = self.head.totals[0].delta();
        let mut before: Option<usize> = None;
        let steps = kept.into_iter().map(|nth| {
            let step = &self.path[nth];
            let arrow = match before.replace(nth) {
                None => "",
                Some(before) if before + 1 == nth => "→ ",
                Some(_) => "→ … → ",
            };
            // A function that is inlined has a cost without calls.
            let is_counted = |calls: &Delta| !is_uncounted(calls.0, step.inclusive.0);
            let calls = step.calls.filter(|_| is_changed(step)).filter(is_counted);
            let calls = calls.map_or(String::new(), |calls| {
                let [base, new] = [calls.base, calls.new].map(|count| CostUnit::Count.show(count.median));
                format!(", calls {base} → {new}")
            });
            let tie = step.tie.as_ref();
            let tie = tie.map_or(String::new(), |tie| format!(", and as much in {}", names.get(tie.id)));
            let share = signed_percent(change(step) * whole.signum(), whole);
            StepText {
                change: change(step),
                share: share.trim_start_matches('+').to_owned(),
                text: format!("{arrow}{}{calls}{tie}", names.get(step.function.id)),
            }
        });
        steps.collect()
    }
}

fn is_changed(step: &StepRow) -> bool {
    step.calls.is_some_and(|calls| !calls.is_none())
}

/// Returns `true` if a step has the calls of the step before it.
fn is_following(before: &StepRow, step: &StepRow) -> bool {
    before.calls == step.calls
}

fn is_nearly(a: Cost, b: Cost) -> bool {
    (a - b).abs() * 50 <= b.abs()
}
