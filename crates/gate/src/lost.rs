//! Functions of the baseline that are gone.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use gristmill_format::Cost;
use gristmill_output::grouped;
use gristmill_profile::symbol::{function_base, names_callers};

use crate::baseline::BenchmarkBaseline;
use crate::config::{Budget, BudgetScope, matches_name};
use crate::measurement::{FunctionName, Measurement};

/// The places of an event type in the lists of costs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Columns {
    pub(crate) measurement: usize,
    pub(crate) baseline: usize,
}

/// Returns a sentence about functions of the baseline that a budget does not count any more, if they cost more than it allows:
/// a regression of the other functions may be hidden behind them.
pub(crate) fn lost_functions(
    budget: &Budget,
    measurement: &Measurement,
    baseline: &BenchmarkBaseline,
    columns: Columns,
    base: Cost,
    allowed: Cost,
) -> Option<String> {
    // The inclusive cost of a function that was inlined is still that of its callers.
    let BudgetScope::Functions { pattern, is_inclusive: false, .. } = &budget.scope else { return None };
    // Other callers, or another depth of a recursion, are no other function, unless the pattern asks for them.
    let function_of = |name: &str, file: &str| {
        let name = if names_callers(pattern.as_str()) { name } else { function_base(name) };
        FunctionName { name: name.to_owned(), file: file.to_owned() }
    };
    let mut listed: BTreeMap<FunctionName, Cost> = BTreeMap::new();
    for row in baseline.functions.iter().filter(|row| matches_name(pattern, &row.name)) {
        *listed.entry(function_of(&row.name, &row.file)).or_default() += row.costs[columns.baseline];
    }
    let mut measured: BTreeMap<FunctionName, Cost> = BTreeMap::new();
    for (function, cost) in &measurement.functions {
        *measured.entry(function_of(&function.name, &function.file)).or_default() +=
            cost.costs[columns.measurement];
    }
    // A function that is in another file now has moved there. One that costs next to nothing is not what is gone.
    let mut moved: HashMap<&str, Vec<Cost>> = HashMap::new();
    for (function, cost) in measured.iter().filter(|(function, _)| !listed.contains_key(function)) {
        moved.entry(&function.name).or_default().push(*cost);
    }
    moved.values_mut().for_each(|costs| costs.sort_unstable());
    // Functions that the baseline does not list cost something there, too.
    let is_of_budget = |name: &str| matches_name(pattern, name);
    let now: Cost = moved.iter().filter(|(name, _)| is_of_budget(name)).flat_map(|(_, costs)| costs).sum();
    let mut movable = now - (base - listed.values().sum::<Cost>()).max(0);
    let mut has_moved = |function: &FunctionName, cost: Cost| {
        let fits = |now: &mut Cost| now.saturating_mul(10) >= cost && *now - *now / 10 <= movable;
        let found = moved.get_mut(function.name.as_str()).and_then(|costs| costs.pop_if(fits));
        movable -= found.unwrap_or(0);
        found.is_some()
    };
    let mut lost: Vec<(&FunctionName, Cost)> =
        listed.iter().map(|(function, cost)| (function, *cost)).collect();
    lost.sort_by_key(|(_, cost)| Reverse(*cost));
    lost.retain(|(function, cost)| !measured.contains_key(function) && !has_moved(function, *cost));
    let cost: Cost = lost.iter().map(|(_, cost)| cost).sum();
    let (first, _) = lost.first().filter(|_| cost > allowed)?;
    let (who, verb) = match lost.len() {
        1 => (format!("`{}`", first.name), "is"),
        count => (format!("`{}` and {} more", first.name, count - 1), "are"),
    };
    Some(format!(
        "{who} with {} {} of the baseline {verb} gone: inlined, renamed or left out; `gristmill gate bless` accepts it",
        grouped(cost),
        budget.event
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baseline::FunctionBaseline;
    use crate::measurement::FunctionCost;
    use crate::verdict::tests::budget_of;

    /// Static functions of several files have one name: each of them counts.
    #[test]
    fn functions_of_one_name_leave_a_budget_one_by_one() {
        let budget = budget_of("lexer", "^lex$");
        let in_file = |file: &str, cost: Cost| FunctionBaseline {
            name: "lex".to_owned(),
            file: file.to_owned(),
            calls: 1,
            costs: vec![cost],
            inclusive: None,
        };
        let baseline = BenchmarkBaseline {
            functions: vec![in_file("a.c", 260), in_file("b.c", 240)],
            ..BenchmarkBaseline::default()
        };
        let lost = |base: Cost, now: &[(&str, Cost)]| {
            let mut measurement = Measurement::default();
            for &(file, cost) in now {
                let function = FunctionName { name: "lex".to_owned(), file: file.to_owned() };
                measurement
                    .functions
                    .insert(function, FunctionCost { costs: vec![cost], ..FunctionCost::default() });
            }
            let columns = Columns { measurement: 0, baseline: 0 };
            lost_functions(&budget, &measurement, &baseline, columns, base, 5)
                .map(|note| note.split(" Ir").next().unwrap().to_owned())
        };
        assert_eq!(lost(500, &[("a.c", 260), ("b.c", 240)]), None);
        assert_eq!(lost(500, &[("b.c", 240)]).as_deref(), Some("`lex` with 260"));
        assert_eq!(lost(500, &[]).as_deref(), Some("`lex` and 1 more with 500"));
        // Files move, and functions with them.
        assert_eq!(lost(500, &[("src/a.c", 261), ("src/b.c", 100)]), None);
        assert_eq!(lost(500, &[("src/a.c", 200)]).as_deref(), Some("`lex` with 240"));
        // What the baseline does not list is not what is gone, as far as it cost as much before.
        assert_eq!(lost(590, &[("a.c", 260), ("c.c", 90)]).as_deref(), Some("`lex` with 240"));
        assert_eq!(lost(590, &[("a.c", 260), ("c.c", 90), ("d.c", 235)]), None);
        assert_eq!(lost(500, &[("a.c", 260), ("c.c", 9)]).as_deref(), Some("`lex` with 240"));
    }

    /// The levels of a recursion and recorded callers of a function come and go with what calls it.
    #[test]
    fn a_function_stays_with_other_callers() {
        let in_baseline = |name: &str, cost: Cost| FunctionBaseline {
            name: name.to_owned(),
            file: "a.c".to_owned(),
            calls: 1,
            costs: vec![cost],
            inclusive: None,
        };
        let baseline = BenchmarkBaseline {
            functions: vec![
                in_baseline("visit'2", 400),
                in_baseline("visit", 100),
                in_baseline("visit'old'main", 90),
            ],
            ..BenchmarkBaseline::default()
        };
        let lost = |pattern: &str, now: &[&str]| {
            let mut measurement = Measurement::default();
            for name in now {
                let function = FunctionName { name: (*name).to_owned(), file: "a.c".to_owned() };
                let cost = FunctionCost { costs: vec![100], ..FunctionCost::default() };
                measurement.functions.insert(function, cost);
            }
            let columns = Columns { measurement: 0, baseline: 0 };
            lost_functions(&budget_of("visit", pattern), &measurement, &baseline, columns, 590, 5)
                .map(|note| note.split(" Ir").next().unwrap().to_owned())
        };
        assert_eq!(lost("^visit$", &["visit"]), None);
        assert_eq!(lost("^visit$", &["visit'new'main"]), None);
        assert_eq!(lost("^visit$", &["other"]).as_deref(), Some("`visit` with 590"));
        // A pattern with a quote asks for levels or callers.
        assert_eq!(lost("^visit'2$", &["visit"]).as_deref(), Some("`visit'2` with 400"));
        assert_eq!(lost("'old", &["visit"]).as_deref(), Some("`visit'old'main` with 90"));
    }
}
