//! The loaded profile, its parts and its findings.

use gristmill_format::Lint;
use gristmill_output::json::{Costs, ExactInteger};
use gristmill_output::lossy;
use gristmill_profile::Profile;
use gristmill_report::assembly::has_addresses;
use gristmill_report::lint::{LintedFile, RuleFindings};
use gristmill_report::{EventColumn, Head, ReadFile, View};

use crate::answer::{
    Contents, EventType, FindingRow, Findings, LoadedFile, PartSummary, Parts, RuleSummary, Summary,
};
use crate::kept_view::KeptView;
use crate::question::Scope;
use crate::refusal::Refusal;
use crate::scope::definitions;

/// The most parts of an answer: a profile can have millions.
const MAX_PARTS: usize = 5000;
/// The most functions whose lines are looked at to find out what a profile has.
const MAX_FUNCTIONS_TO_LOOK_AT: usize = 64;
/// The findings of a rule that are shown.
const FINDINGS_OF_A_RULE: usize = 5;

/// Makes the summary of a profile in a scope, without a base.
pub(crate) fn summary(
    profile: &Profile,
    kept: &KeptView,
    scope: &Scope,
    has_files: bool,
) -> Result<Summary, Refusal> {
    let view = &kept.view;
    let graph = view.graph();
    let input = |input: &gristmill_profile::Input| LoadedFile {
        name: input.name.clone(),
        bytes: input.bytes.len() as u64,
    };
    let calls = graph.arcs().len();
    Ok(Summary {
        head: kept.head.clone(),
        files: profile.inputs().iter().map(input).collect(),
        event_types: event_types(view, scope)?,
        functions: graph.node_count(),
        calls,
        cycles: view.cycles().ids().len(),
        has: Contents {
            calls: calls > 0,
            call_counts: graph.arcs().any(|arc| arc.count != 0),
            lines: has_lines(view),
            addresses: has_addresses(profile, view.selection()),
            several_parts: profile.part_count() > 1,
            files: has_files,
            inlined: profile.has_inlined_calls(),
        },
        base: None,
        damage: kept.head.damage.clone(),
        findings: profile.finding_count(),
    })
}

/// Lists all event types that can be shown, with their totals in the parts of the scope.
fn event_types(view: &View, scope: &Scope) -> Result<Vec<EventType>, Refusal> {
    let all = EventColumn::all_of(view.profile(), view.selection(), &definitions(scope)?);
    let event_type =
        |(column, total): (EventColumn, Option<_>)| EventType { column, total: total.map(ExactInteger) };
    Ok(all.into_iter().map(event_type).collect())
}

/// `true` if one of the most expensive functions has a cost with a line.
fn has_lines(view: &View) -> bool {
    // Their sources would be refused.
    if view.profile().refuse_wide_lines().is_err() {
        return false;
    }
    let mut ids: Vec<_> = view.subject_ids().collect();
    let count = MAX_FUNCTIONS_TO_LOOK_AT.min(ids.len());
    let key = |id: &_| (std::cmp::Reverse(view.self_cost(*id)[0]), *id);
    if count < ids.len() {
        ids.select_nth_unstable_by_key(count, key);
    }
    ids[..count].iter().flat_map(|&id| view.functions_of(id)).take(MAX_FUNCTIONS_TO_LOOK_AT).any(|function| {
        let places = view.profile().places(function, view.selection());
        places.iter().any(|place| place.line.is_some_and(|line| line > 0))
    })
}

/// Lists parts with their costs, selected or not.
pub(crate) fn parts(profile: &Profile, head: &Head, view: &View) -> Result<Parts, Refusal> {
    let mut rows = Vec::new();
    for part in profile.parts().take(MAX_PARTS) {
        let costs = view.costs_of_part(&part)?;
        let text = |text: Option<&[u8]>| text.map(|text| lossy(text.trim_ascii()));
        rows.push(PartSummary {
            file: profile.inputs().get(part.input()).map_or_else(String::new, |input| input.name.clone()),
            process: part.pid(),
            thread: part.thread(),
            part: part.number(),
            trigger: text(part.trigger()),
            time_range: text(part.time_range()),
            self_costs: Costs::new(&head.event_types, costs),
            is_selected: view.selection().includes(part.number(), part.thread(), part.pid()),
        });
    }
    Ok(Parts { head: head.clone(), all: profile.part_count(), parts: rows })
}

/// Lists the findings of the files of a profile.
pub(crate) fn findings(profile: &Profile) -> Findings {
    let mut rows = Vec::new();
    let mut rules: Vec<RuleSummary> = Vec::new();
    let mut all = 0;
    let mut verdicts = Vec::new();
    for input in profile.inputs() {
        let file = ReadFile::plain(input.name.as_ref(), &input.bytes);
        let (groups, counts) = LintedFile::new(&file, Lint::default(), None).gather(FINDINGS_OF_A_RULE);
        all += counts.error + counts.warning + counts.note;
        verdicts.push(format!("{}: {}", input.name, counts.verdict()));
        for RuleFindings { rule, count, first } in groups {
            match rules.iter_mut().find(|it| it.rule == rule.name) {
                Some(known) => known.count += count,
                None => rules.push(RuleSummary {
                    rule: rule.name,
                    severity: rule.severity.as_str(),
                    summary: rule.summary,
                    count,
                }),
            }
            let row = |finding: gristmill_format::Finding<'_>| FindingRow {
                severity: rule.severity.as_str(),
                rule: rule.name,
                file: input.name.clone(),
                line: finding.location.line,
                text: finding.message.into_owned(),
            };
            rows.extend(first.into_iter().map(row));
        }
    }
    Findings { verdict: verdicts.join("\n"), all, rules, rows }
}
