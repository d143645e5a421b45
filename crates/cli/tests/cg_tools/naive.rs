//! Files of Cachegrind read in the simplest way, and what reports say read back.

use std::collections::BTreeMap;
use std::path::Path;

/// Costs by file, function and line. Missing ones at the end are left off.
pub(crate) type Sums = BTreeMap<(String, String, u64), Vec<i128>>;

/// Costs by file and function.
pub(crate) type FunctionSums = BTreeMap<(String, String), Vec<i128>>;

pub(crate) fn add(sums: &mut Vec<i128>, costs: &[i128]) {
    if sums.len() < costs.len() {
        sums.resize(costs.len(), 0);
    }
    sums.iter_mut().zip(costs).for_each(|(sum, cost)| *sum += cost);
}

pub(crate) fn read(bytes: &[u8]) -> Sums {
    let text = String::from_utf8_lossy(bytes);
    let mut sums = Sums::new();
    let (mut file, mut function) = (String::new(), String::new());
    let mut width = 0;
    for line in text.lines() {
        if let Some(events) = line.strip_prefix("events:") {
            width = events.split_whitespace().count();
        } else if let Some(name) = line.strip_prefix("fl=") {
            (file, function) = (name.to_owned(), "<unspecified>".to_owned());
        } else if let Some(name) = line.strip_prefix("fn=") {
            function = name.to_owned();
        } else if line.starts_with(|first: char| first.is_ascii_digit()) {
            let mut numbers = line.split_whitespace();
            let number = numbers.next().unwrap().parse().unwrap();
            let mut costs: Vec<i128> = numbers.map(|number| number.parse().unwrap_or(0)).collect();
            costs.resize(width, 0);
            add(sums.entry((file.clone(), function.clone(), number)).or_default(), &costs);
        }
    }
    sums
}

pub(crate) fn by_function(sums: &Sums) -> FunctionSums {
    let mut functions = FunctionSums::new();
    for ((file, function, _), costs) in sums {
        add(functions.entry((file.clone(), function.clone())).or_default(), costs);
    }
    functions
}

pub(crate) fn total(sums: &Sums) -> Vec<i128> {
    let mut total = Vec::new();
    sums.values().for_each(|costs| add(&mut total, costs));
    total
}

/// Returns the event types of the `events:` line.
pub(crate) fn events(path: &Path) -> Vec<String> {
    let text = String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
    let line = text.lines().find_map(|line| line.strip_prefix("events:")).unwrap();
    line.split_whitespace().map(str::to_owned).collect()
}

/// The functions of a report that was made without percentages.
pub(crate) fn functions_shown(report: &str) -> FunctionSums {
    let section = report.split("-- File:function summary\n").nth(1).unwrap();
    let section = section.split("-- Function:file summary\n").next().unwrap();
    let mut lines = section.lines().filter(|line| !line.is_empty() && !line.starts_with("--------"));
    let width = lines.next().unwrap().split_whitespace().count() - 1;
    let mut shown = FunctionSums::new();
    let mut file = String::new();
    for line in lines {
        // A mark or two blanks, the costs, two blanks, and the name.
        let mut rest = &line[2..];
        let mut costs = Vec::new();
        for _ in 0..width {
            rest = rest.trim_start();
            let end = rest.find(' ').unwrap();
            costs.push(rest[..end].replace(',', "").parse().unwrap());
            rest = &rest[end..];
        }
        if !line.starts_with('<') {
            add(shown.entry((file.clone(), rest[4..].to_owned())).or_default(), &costs);
        } else if let Some(name) = rest.strip_suffix(':') {
            file = name[2..].to_owned();
        } else {
            // Names of functions may have colons as well. Files here have none.
            let (name, function) = rest[2..].split_once(':').unwrap();
            shown.insert((name.to_owned(), function.to_owned()), costs);
        }
    }
    shown
}
