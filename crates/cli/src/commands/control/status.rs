//! The status of a program under Callgrind, from the answer to `status internal`.

use std::collections::HashMap;
use std::io::{self, Write};

use gristmill_output::{grouped, printable};

use super::target::Target;

/// Writes a status for people.
pub(super) fn write(target: &Target, answer: &str, out: &mut dyn Write) -> io::Result<()> {
    let values: HashMap<&str, &str> = answer
        .lines()
        .filter_map(|line| line.split_once(':'))
        .map(|(key, value)| (key, value.trim()))
        .collect();
    let value = |key: &str| values.get(key).copied().unwrap_or_default();
    let number = |key: &str| value(key).parse::<u64>().ok();
    let command = target.command();
    let command = if command.is_empty() { String::new() } else { format!(" {command}") };
    writeln!(out, "process    {}{command}", target.process)?;
    let counts = match value("instrumentation") {
        "on" => "on",
        "off" => "off: gristmill control PID on switches it on",
        _ => "unknown",
    };
    writeln!(out, "counting   {counts}")?;
    for (name, cost) in totals(&values) {
        writeln!(out, "{:10} {}", printable(name.as_bytes()), grouped(cost))?;
    }
    for (title, key) in [
        ("functions", "distinct-functions"),
        ("calls", "executed-calls"),
        ("threads", "threads"),
        ("parts", "part"),
    ] {
        if let Some(count) = number(key) {
            writeln!(out, "{title:10} {}", grouped(count))?;
        }
    }
    let function = innermost(&values, value("current-tid"));
    if !function.is_empty() {
        writeln!(out, "now in     {}", printable(function.as_bytes()))?;
    }
    Ok(())
}

/// Returns the innermost function of a thread.
fn innermost<'v>(values: &HashMap<&str, &'v str>, thread: &str) -> &'v str {
    let frames = (0..).map_while(|frame| values.get(format!("function-{thread}-{frame}").as_str()));
    frames.last().copied().unwrap_or_default()
}

/// Returns the sum of each event type over all threads.
fn totals<'v>(values: &HashMap<&str, &'v str>) -> Vec<(&'v str, u128)> {
    let names = values.get("events").map(|names| names.split_whitespace()).into_iter().flatten();
    let mut totals: Vec<(&str, u128)> = names.map(|name| (name, 0)).collect();
    let is_of_thread = |key: &str| {
        key.strip_prefix("events-").is_some_and(|thread| thread.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let mut of_threads: Vec<&str> =
        values.iter().filter(|(key, _)| is_of_thread(key)).map(|(_, costs)| *costs).collect();
    of_threads.sort_unstable();
    for costs in of_threads {
        for (total, cost) in totals.iter_mut().zip(costs.split_whitespace()) {
            total.1 += cost.parse().unwrap_or(0);
        }
    }
    totals
}
