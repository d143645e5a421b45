//! The rows as comma-separated values, with exact numbers.

use std::borrow::Borrow;
use std::io::{self, Write};

use gristmill_output::csv;
use gristmill_profile::compare::Presence;

use super::{Delta, Diff, DiffRow};

/// Returns the name of a presence.
pub(super) fn presence(presence: Presence) -> &'static str {
    match presence {
        Presence::Both => "both",
        Presence::Vanished => "vanished",
        Presence::New => "new",
    }
}

/// Writes the rows, then what is not shown, so that the changes of self costs add up to that of the total.
pub(super) fn write<R: Borrow<DiffRow>>(
    diff: &Diff,
    rows: impl Iterator<Item = R>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut columns = Vec::new();
    for event in &diff.head.events {
        for what in ["self", "inclusive"] {
            for of in ["change", "base", "new"] {
                columns.push(format!("{what} {} {of}", event.name));
            }
        }
        columns.push(format!("noise {}", event.name));
    }
    let others = ["calls base", "calls new", "on", "name", "base name", "file", "object"];
    columns.extend(others.map(str::to_owned));
    csv::write_line(columns.iter().map(String::as_str), out)?;
    // One row is in memory at a time.
    let mut write_row = |cells: Vec<String>| csv::write_line(cells.iter().map(String::as_str), out);
    for row in rows {
        write_row(values(row.borrow()))?;
    }
    for (amounts, what) in diff.residue() {
        let mut cells = Vec::new();
        for amount in amounts {
            cells.push(amount.to_string());
            cells.extend((0..6).map(|_| String::new()));
        }
        cells.extend((0..3).map(|_| String::new()));
        cells.push(what);
        cells.extend((0..3).map(|_| String::new()));
        write_row(cells)?;
    }
    Ok(())
}

fn values(row: &DiffRow) -> Vec<String> {
    let mut cells = Vec::new();
    for (own, inclusive) in row.self_costs.iter().zip(&*row.inclusive) {
        let numbers = |change: &Delta| [change.delta(), change.base.median, change.new.median];
        cells.extend(numbers(own).into_iter().chain(numbers(inclusive)).map(|cost| cost.to_string()));
        cells.push(if own.is_noise() { "yes" } else { "" }.to_owned());
    }
    cells.extend([row.calls.base.median, row.calls.new.median].map(|count| count.to_string()));
    cells.push(presence(row.presence).to_owned());
    cells.push(row.name.clone());
    cells.push(row.base_name.clone().unwrap_or_default());
    cells.extend([row.file.clone(), row.object.clone()]);
    cells
}
