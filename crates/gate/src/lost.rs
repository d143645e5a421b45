//! Functions of the baseline that are gone.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use gristmill_format::Cost;
use gristmill_output::grouped;

use crate::baseline::{BenchmarkBaseline, FunctionBaseline};
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
    let listed = baseline.functions.iter().filter(|row| matches_name(pattern, &row.name));
    let mut rows: Vec<(FunctionName, &FunctionBaseline)> = listed.map(|row| (row.function(), row)).collect();
    rows.sort_by_key(|(_, row)| Reverse(row.costs[columns.baseline]));
    let is_listed: HashSet<&FunctionName> = rows.iter().map(|(function, _)| function).collect();
    // A function that is in another file now has moved there. One that costs next to nothing is not what is gone.
    let mut moved: HashMap<&str, Vec<Cost>> = HashMap::new();
    for (function, cost) in measurement.functions.iter().filter(|(function, _)| !is_listed.contains(function))
    {
        moved.entry(&function.name).or_default().push(cost.costs[columns.measurement]);
    }
    moved.values_mut().for_each(|costs| costs.sort_unstable());
    // Functions that the baseline does not list cost something there, too.
    let is_of_budget = |name: &str| matches_name(pattern, name);
    let now: Cost = moved.iter().filter(|(name, _)| is_of_budget(name)).flat_map(|(_, costs)| costs).sum();
    let listed: Cost = rows.iter().map(|(_, row)| row.costs[columns.baseline]).sum();
    let mut movable = now - (base - listed).max(0);
    let mut has_moved = |row: &FunctionBaseline| {
        let fits = |now: &mut Cost| {
            now.saturating_mul(10) >= row.costs[columns.baseline] && *now - *now / 10 <= movable
        };
        let found = moved.get_mut(row.name.as_str()).and_then(|costs| costs.pop_if(fits));
        movable -= found.unwrap_or(0);
        found.is_some()
    };
    let gone = rows.iter().filter(|(function, _)| !measurement.functions.contains_key(function));
    let lost: Vec<&FunctionBaseline> = gone.map(|(_, row)| *row).filter(|row| !has_moved(row)).collect();
    let cost: Cost = lost.iter().map(|row| row.costs[columns.baseline]).sum();
    let first = lost.first().filter(|_| cost > allowed)?;
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
            inclusive: Vec::new(),
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
}
