//! The rows as comma-separated values, with exact numbers.

use std::io::{self, Write};

use gristmill_output::{Cell, Column, Table};
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
pub(super) fn write(diff: &Diff, out: &mut dyn Write) -> io::Result<()> {
    let mut columns = Vec::new();
    for event in &diff.head.events {
        for what in ["self", "inclusive"] {
            for of in ["change", "base", "new"] {
                columns.push(Column::number(format!("{what} {} {of}", event.name)));
            }
        }
        columns.push(Column::text(format!("noise {}", event.name)));
    }
    columns.extend(["calls base", "calls new"].map(Column::number));
    columns.extend(["on", "name", "base name", "file", "object"].map(Column::text));
    let mut rows: Vec<Vec<Cell>> = diff.rows.iter().map(values).collect();
    for (amounts, what) in diff.residue() {
        let mut cells: Vec<Cell> = Vec::new();
        for amount in amounts {
            cells.push(Cell::new(amount.to_string()));
            cells.extend((0..6).map(|_| Cell::new("")));
        }
        cells.extend((0..3).map(|_| Cell::new("")));
        cells.push(Cell::new(what));
        cells.extend((0..3).map(|_| Cell::new("")));
        rows.push(cells);
    }
    Table { columns, rows }.write_csv(out)
}
fn values(row: &DiffRow) -> Vec<Cell> {
    let mut cells = Vec::new();
    for (own, inclusive) in row.self_costs.iter().zip(&*row.inclusive) {
        let numbers = |change: &Delta| [change.delta(), change.base.median, change.new.median];
        cells.extend(
            numbers(own).into_iter().chain(numbers(inclusive)).map(|cost| Cell::new(cost.to_string())),
        );
        cells.push(Cell::new(if own.is_noise() { "yes" } else { "" }));
    }
    cells.push(Cell::new(row.calls.base.median.to_string()));
    cells.push(Cell::new(row.calls.new.median.to_string()));
    cells.push(Cell::new(presence(row.presence)));
    cells.push(Cell::new(row.name.as_str()));
    cells.push(Cell::new(row.base_name.as_deref().unwrap_or_default()));
    cells.extend([&row.file, &row.object].map(|text| Cell::new(text.as_str())));
    cells
}
