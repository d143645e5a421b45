//! Aligned text: the first column to the left, the others to the right; and the numbers in it.

pub(super) fn print(rows: &[Vec<String>]) {
    print!("{}", text(rows));
}

/// Returns the lines of a table.
pub(super) fn text(rows: &[Vec<String>]) -> String {
    let mut text = String::new();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for row in rows {
        let mut line = String::new();
        for (nth, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            if nth == 0 {
                line.push_str(&format!("{cell:<width$}"));
            } else {
                line.push_str(&format!("  {cell:>width$}"));
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[expect(clippy::cast_precision_loss, reason = "sizes far below 2^53")]
pub(super) fn ratio(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}
