//! A reading of profiles in the plainest way, with nothing of the crate's code in it: what the crate's answers are
//! held against.

use std::collections::BTreeMap;

use crate::lines::lines;

/// The contents of a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Scan {
    pub(crate) parts: Vec<PartScan>,
    pub(crate) calls: usize,
    pub(crate) functions: usize,
    pub(crate) jumps: usize,
    /// A number was met that is no integer.
    pub(crate) has_odd_numbers: bool,
}

/// The contents of a part.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct PartScan {
    pub(crate) events: Vec<String>,
    pub(crate) sums: Vec<i128>,
    pub(crate) totals: Option<Vec<i128>>,
}

impl Scan {
    /// Self cost by event type over all parts.
    pub(crate) fn sums(&self) -> BTreeMap<String, i128> {
        let mut sums = BTreeMap::new();
        for part in &self.parts {
            for (event, sum) in part.events.iter().zip(&part.sums) {
                *sums.entry(event.clone()).or_default() += sum;
            }
        }
        sums
    }
}

pub(crate) fn scan(file: &[u8]) -> Scan {
    let mut scan = Scan::default();
    let mut columns = 1;
    let mut after_call = false;
    let mut after_jump = false;
    for line in lines(file) {
        if let Some(words) = line.strip_prefix("positions:") {
            columns = words.split_whitespace().count();
        } else if let Some(words) = line.strip_prefix("events:") {
            let events: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
            let sums = vec![0; events.len()];
            scan.parts.push(PartScan { events, sums, totals: None });
        } else if let Some(words) = line.strip_prefix("totals:") {
            let totals: Vec<i128> = words.split_whitespace().filter_map(|word| word.parse().ok()).collect();
            if let Some(part) = scan.parts.last_mut() {
                part.totals = Some(totals);
            }
        } else if line.starts_with("fn=") {
            scan.functions += 1;
        } else if line.starts_with("calls=") {
            scan.calls += 1;
            after_call = true;
        } else if line.starts_with("jump=") || line.starts_with("jcnd=") {
            scan.jumps += 1;
            after_jump = true;
        } else if line.starts_with(|first: char| first.is_ascii_digit() || " \t+-*".contains(first)) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let is_indented = line.starts_with([' ', '\t']);
            // NYTProf leaves out a position that it does not know, but not the blank behind it.
            let skipped = if is_indented { columns - 1 } else { columns };
            let costs = words.get(skipped..).unwrap_or_default();
            if words.is_empty() {
                continue;
            }
            if std::mem::take(&mut after_call) || std::mem::take(&mut after_jump) && costs.is_empty() {
                continue;
            }
            let Some(part) = scan.parts.last_mut() else { continue };
            for (sum, cost) in part.sums.iter_mut().zip(costs) {
                match cost.parse::<i128>() {
                    Ok(cost) => *sum += cost,
                    Err(_) if *cost == "." => {}
                    Err(_) => scan.has_odd_numbers = true,
                }
            }
        }
    }
    scan
}
