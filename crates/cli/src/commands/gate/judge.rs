//! What is within its budget and what is not, and which functions are responsible.

use std::collections::{BTreeMap, BTreeSet};

use super::baseline::Blessed;
use super::config::{Benchmark, Budget, Subject};
use super::measured::{FunctionName, Measured, STRINGS};

/// How a benchmark, or one of its budgets, came out. The worst counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Outcome {
    Within,
    /// Over a budget that only advises.
    Advice,
    Over,
    /// Could not be told.
    Unknown,
}

impl Outcome {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Outcome::Within => "within",
            Outcome::Advice => "advice",
            Outcome::Over => "over",
            Outcome::Unknown => "unknown",
        }
    }
}

/// What was found of a benchmark.
#[derive(Debug)]
pub(super) struct Verdict {
    pub(super) name: String,
    /// Where the configuration speaks of it.
    pub(super) line: usize,
    pub(super) outcome: Outcome,
    /// Why nothing could be told of the whole benchmark.
    pub(super) failure: Option<String>,
    pub(super) notes: Vec<String>,
    pub(super) checks: Vec<Check>,
}

/// A budget, and what was spent.
#[derive(Debug)]
pub(super) struct Check {
    pub(super) event: String,
    /// `total`, or the functions that the budget is about.
    pub(super) subject: String,
    pub(super) is_total: bool,
    pub(super) outcome: Outcome,
    pub(super) base: Option<i128>,
    pub(super) cost: i128,
    /// The most that would have been allowed.
    pub(super) limit: Option<i128>,
    /// What is allowed, in words.
    pub(super) allowed: String,
    /// Why it could not be told, or what else there is to say.
    pub(super) note: Option<String>,
    pub(super) line: usize,
    /// By how much functions changed, the greatest change first; all together are the change of the total.
    pub(super) functions: Vec<Responsible>,
    /// Why, where a profile of the base is at hand: those that account for most first.
    pub(super) reasons: Vec<Reason>,
}

/// One reason why a cost changed.
#[derive(Debug)]
pub(super) struct Reason {
    /// By how much it changed the total.
    pub(super) effect: i128,
    pub(super) text: String,
}

impl Check {
    pub(super) fn delta(&self) -> Option<i128> {
        self.base.map(|base| self.cost - base)
    }
}

/// A function whose cost changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Responsible {
    /// None for all functions that are too small to be listed in the baseline.
    pub(super) function: Option<FunctionName>,
    pub(super) line: Option<u64>,
    pub(super) base: Option<i128>,
    pub(super) cost: i128,
    /// Before and after.
    pub(super) calls: Option<(i128, i128)>,
    pub(super) note: Option<&'static str>,
}

impl Responsible {
    pub(super) fn delta(&self) -> i128 {
        self.cost - self.base.unwrap_or(0)
    }
}

pub(super) fn failed(benchmark: &Benchmark, failure: String) -> Verdict {
    Verdict {
        name: benchmark.name.clone(),
        line: benchmark.line,
        outcome: Outcome::Unknown,
        failure: Some(failure),
        notes: Vec::new(),
        checks: Vec::new(),
    }
}

/// Compares a measurement with the budgets, and with the baseline where there is one.
pub(super) fn judge(
    benchmark: &Benchmark,
    measured: &Measured,
    blessed: Option<&Blessed>,
    allow_unlike: bool,
) -> Verdict {
    let mut notes = Vec::new();
    if let Some(blessed) = blessed {
        let unlike = unlike(measured, blessed);
        let (hard, soft): (Vec<_>, Vec<_>) = unlike.into_iter().partition(|(is_hard, _)| *is_hard);
        notes.extend(soft.into_iter().map(|(_, note)| note));
        if !hard.is_empty() {
            let text = hard.into_iter().map(|(_, note)| note).collect::<Vec<_>>().join("; ");
            if !allow_unlike {
                let advice = "gate bless accepts it, --allow-unlike compares all the same";
                return failed(benchmark, format!("not comparable with the baseline: {text} ({advice})"));
            }
            notes.push(text);
        }
    }
    let checks: Vec<Check> =
        benchmark.budgets.iter().map(|budget| check(budget, measured, blessed)).collect();
    let outcome = checks.iter().map(|check| check.outcome).max().unwrap_or(Outcome::Within);
    Verdict { name: benchmark.name.clone(), line: benchmark.line, outcome, failure: None, notes, checks }
}

/// What is not the same as when the baseline was blessed, and whether that makes comparing senseless.
fn unlike(measured: &Measured, blessed: &Blessed) -> Vec<(bool, String)> {
    let kinds: BTreeSet<&String> = measured.environment.keys().chain(blessed.environment.keys()).collect();
    let mut unlike = Vec::new();
    for kind in kinds {
        let (now, then) = (measured.environment.get(kind), blessed.environment.get(kind));
        if now != then {
            let [now, then] = [now, then].map(|value| value.map_or("none", String::as_str));
            unlike.push((kind != STRINGS, format!("{kind}: {then} there, {now} here")));
        }
    }
    unlike
}

fn check(budget: &Budget, measured: &Measured, blessed: Option<&Blessed>) -> Check {
    let mut check = Check {
        event: budget.event.clone(),
        subject: budget.subject.name().to_owned(),
        is_total: matches!(budget.subject, Subject::Total),
        outcome: Outcome::Unknown,
        base: None,
        cost: 0,
        limit: None,
        allowed: allowed(budget),
        note: None,
        line: budget.line,
        functions: Vec::new(),
        reasons: Vec::new(),
    };
    let Some(column) = measured.column(&budget.event) else {
        check.note =
            Some(format!("there is no {}; the profile has {}", budget.event, measured.events.join(" ")));
        return unknown(check, budget);
    };
    let of_subject = |subjects: &BTreeMap<String, Vec<i128>>| {
        subjects.get(budget.subject.name()).and_then(|costs| costs.get(column)).copied()
    };
    check.cost = match budget.subject {
        Subject::Total => measured.totals.get(column).copied().unwrap_or(0),
        Subject::Functions { .. } => of_subject(&measured.subjects).unwrap_or(0),
    };
    let then = blessed.and_then(|blessed| {
        let column = blessed.events.iter().position(|event| *event == budget.event)?;
        let at = |costs: &Vec<i128>| costs.get(column).copied();
        let named = |budgets: &[super::baseline::BlessedBudget]| {
            budgets.iter().find(|other| other.name == budget.subject.name()).and_then(|other| at(&other.cost))
        };
        let noise = blessed.noise.as_ref();
        Some(match budget.subject {
            Subject::Total => (column, at(&blessed.total), noise.and_then(|noise| at(&noise.spread))),
            Subject::Functions { .. } => {
                (column, named(&blessed.budgets), noise.and_then(|noise| named(&noise.budgets)))
            }
        })
    });
    let base = then.and_then(|(_, base, _)| base);
    check.base = base;
    let noise = then.and_then(|(_, _, noise)| noise).unwrap_or(0);
    let mut limit = budget.max;
    if let Some(increase) = budget.increase {
        let Some(base) = base else {
            check.note =
                Some("the baseline has nothing to compare with; gristmill gate bless takes it up".to_owned());
            return unknown(check, budget);
        };
        let most = base + increase.from(base).max(noise);
        limit = Some(limit.map_or(most, |limit| limit.min(most)));
        if noise > increase.from(base) {
            let noise = crate::terminal::grouped(noise);
            check.note =
                Some(format!("runs differ by {noise} though nothing changed, which is allowed as well"));
        }
    }
    if let (Some(increase), Some(base)) = (budget.increase, base)
        && base - check.cost > increase.from(base).max(noise)
    {
        check.note = Some("improved; gristmill gate bless makes this the baseline".to_owned());
    }
    check.limit = limit;
    let is_over = limit.is_some_and(|limit| check.cost > limit);
    check.outcome = match (is_over, budget.advises) {
        (false, _) => Outcome::Within,
        (true, true) => Outcome::Advice,
        (true, false) => Outcome::Over,
    };
    if let (Some(blessed), Some((before, ..))) = (blessed, then)
        && check.delta() != Some(0)
    {
        check.functions = responsible(&budget.subject, measured, column, blessed, before);
    }
    check
}

/// A budget that only advises cannot make the verdict worse than advice.
fn unknown(check: Check, budget: &Budget) -> Check {
    Check { outcome: if budget.advises { Outcome::Advice } else { Outcome::Unknown }, ..check }
}

fn allowed(budget: &Budget) -> String {
    let increase = budget.increase.map(|increase| format!("+{increase}"));
    let max = budget.max.map(|max| format!("at most {}", crate::terminal::grouped(max)));
    increase.into_iter().chain(max).collect::<Vec<_>>().join(", ")
}

/// The functions whose cost changed. Those too small to be listed in the baseline are one row.
fn responsible(
    subject: &Subject,
    measured: &Measured,
    column: usize,
    blessed: &Blessed,
    before: usize,
) -> Vec<Responsible> {
    let is_meant = |name: &FunctionName| match subject {
        // What they call counts as well, and that may be anything.
        Subject::Total | Subject::Functions { inclusive: true, .. } => true,
        Subject::Functions { pattern, .. } => pattern.is_match(&name.name),
    };
    let least = blessed.listed_from.get(before).copied().unwrap_or(0);
    let mut listed: BTreeMap<FunctionName, (i128, i128)> = BTreeMap::new();
    for function in &blessed.functions {
        let name = FunctionName { name: function.name.clone(), file: function.file.clone() };
        let (cost, calls) = listed.entry(name).or_default();
        *cost += function.costs.get(before).copied().unwrap_or(0);
        *calls += function.calls;
    }
    let mut rows = Vec::new();
    let mut small = Responsible {
        function: None,
        line: None,
        base: Some(
            blessed.total.get(before).copied().unwrap_or(0)
                - listed.values().map(|(cost, _)| cost).sum::<i128>(),
        ),
        cost: 0,
        calls: None,
        note: None,
    };
    for (name, function) in &measured.functions {
        let cost = function.costs.get(column).copied().unwrap_or(0);
        match listed.remove(name) {
            Some((base, calls)) => rows.push(Responsible {
                function: Some(name.clone()),
                line: function.line,
                base: Some(base),
                cost,
                calls: Some((calls, function.calls)),
                note: None,
            }),
            None if cost.abs() >= least && cost != 0 => rows.push(Responsible {
                function: Some(name.clone()),
                line: function.line,
                base: None,
                cost,
                calls: None,
                note: Some("new, or too small before to be listed"),
            }),
            None => small.cost += cost,
        }
    }
    rows.extend(listed.into_iter().map(|(name, (base, calls))| Responsible {
        function: Some(name),
        line: None,
        base: Some(base),
        cost: 0,
        calls: Some((calls, 0)),
        note: Some("vanished"),
    }));
    rows.retain(|row| row.delta() != 0 && row.function.as_ref().is_none_or(is_meant));
    rows.sort_by(|a, b| b.delta().abs().cmp(&a.delta().abs()).then_with(|| a.function.cmp(&b.function)));
    let is_all = matches!(subject, Subject::Total | Subject::Functions { inclusive: true, .. });
    if is_all && small.delta() != 0 {
        rows.push(small);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::super::baseline::{BlessedFunction, Noise};
    use super::super::measured::FunctionCost;
    use super::*;

    fn measured(functions: &[(&str, i128)]) -> Measured {
        let cost = |cost| FunctionCost { costs: vec![cost], calls: 1, line: Some(3) };
        let name = |name: &str| FunctionName { name: name.to_owned(), file: "f.c".to_owned() };
        Measured {
            events: vec!["Ir".to_owned()],
            totals: vec![functions.iter().map(|(_, cost)| cost).sum()],
            ignored: vec![0],
            functions: functions.iter().map(|&(function, spent)| (name(function), cost(spent))).collect(),
            subjects: BTreeMap::new(),
            environment: BTreeMap::new(),
        }
    }

    fn blessed(total: i128, functions: &[(&str, i128)]) -> Blessed {
        Blessed {
            events: vec!["Ir".to_owned()],
            total: vec![total],
            listed_from: vec![10],
            functions: functions
                .iter()
                .map(|&(name, cost)| BlessedFunction {
                    name: name.to_owned(),
                    file: "f.c".to_owned(),
                    calls: 1,
                    costs: vec![cost],
                })
                .collect(),
            ..Blessed::default()
        }
    }

    fn budget(increase: &str) -> Budget {
        Budget {
            event: "Ir".to_owned(),
            subject: Subject::Total,
            max: None,
            increase: Some(increase.parse().unwrap()),
            advises: false,
            line: 1,
        }
    }

    #[test]
    fn rows_add_up_to_the_change() {
        // 7 of the base are in functions that are too small to be listed.
        let blessed = blessed(507, &[("main", 100), ("gone", 150), ("same", 250)]);
        let measured = measured(&[("main", 160), ("same", 250), ("new", 40), ("tiny", 9), ("small", 3)]);
        let check = check(&budget("1%"), &measured, Some(&blessed));
        let rows: Vec<_> = check
            .functions
            .iter()
            .map(|row| (row.function.as_ref().map(|name| name.name.as_str()), row.delta()))
            .collect();
        assert_eq!(rows, [(Some("gone"), -150), (Some("main"), 60), (Some("new"), 40), (None, 5)]);
        assert_eq!(rows.iter().map(|(_, delta)| delta).sum::<i128>(), check.delta().unwrap());
    }

    #[test]
    fn budgets_know_the_noise() {
        let mut blessed = blessed(1000, &[]);
        for (cost, increase, noise, expected) in [
            (1010, "1%", 0, Outcome::Within),
            (1011, "1%", 0, Outcome::Over),
            (1011, "11", 0, Outcome::Within),
            (1020, "1%", 20, Outcome::Within),
            (1021, "1%", 20, Outcome::Over),
            (1030, "5%", 20, Outcome::Within),
            (1, "0", 0, Outcome::Within),
        ] {
            blessed.noise = Some(Noise { runs: 2, spread: vec![noise], budgets: Vec::new() });
            let check = check(&budget(increase), &measured(&[("f", cost)]), Some(&blessed));
            assert_eq!(check.outcome, expected, "{cost} {increase} {noise}");
        }
        let advises = Budget { advises: true, ..budget("0") };
        let measured = measured(&[("f", 2000)]);
        assert_eq!(check(&advises, &measured, Some(&blessed)).outcome, Outcome::Advice);
        assert_eq!(check(&budget("0"), &measured, None).outcome, Outcome::Unknown);
        let most = Budget { max: Some(1999), increase: None, ..budget("0") };
        assert_eq!(check(&most, &measured, None).outcome, Outcome::Over);
        let other = Budget { event: "Dr".to_owned(), ..budget("0") };
        assert_eq!(check(&other, &measured, Some(&blessed)).outcome, Outcome::Unknown);
    }
}
