//! The columns of a section: costs with shares, aligned.

use gristmill_format::Cost;
use gristmill_output::grouped;

/// The costs of a row.
#[derive(Debug, Clone, Copy)]
pub(super) enum Row<'r> {
    /// Costs with their shares of the total.
    Plain(&'r [Cost]),
    /// Costs with their shares, and the shares of this row and all rows before it.
    Cumulative(&'r [Cost], &'r [Cost]),
    /// Dots, for a line without costs.
    Dots,
}

/// The columns of a section, as wide as their widest rows.
#[derive(Debug)]
pub(super) struct Columns<'c> {
    columns: Vec<Column<'c>>,
    show_percs: bool,
}

#[derive(Debug)]
struct Column<'c> {
    name: &'c str,
    /// The index of the cost.
    index: usize,
    total: Cost,
    count: usize,
    /// The width of a share, such as `(12.3%`.
    share: usize,
    /// The width of a share after another share, such as `12.3%)`.
    cumulative: usize,
}

impl<'c> Columns<'c> {
    /// Creates columns for costs, given by name and index.
    pub(super) fn new(
        shown: impl Iterator<Item = (&'c str, usize)>,
        total: &[Cost],
        show_percs: bool,
    ) -> Self {
        let column = |(name, index): (&'c str, usize)| Column {
            name,
            index,
            total: total.get(index).copied().unwrap_or_default(),
            count: 0,
            share: 0,
            cumulative: 0,
        };
        Columns { columns: shown.map(column).collect(), show_percs }
    }

    /// Widens the columns for a row.
    pub(super) fn fit(&mut self, row: Row<'_>) {
        let show_percs = self.show_percs;
        for column in &mut self.columns {
            let (count, share, cumulative) = column.texts(row, show_percs);
            column.count = column.count.max(count.len());
            column.share = column.share.max(share.len());
            column.cumulative = column.cumulative.max(cumulative.len());
        }
    }

    /// Widens the columns for the names, after all rows.
    pub(super) fn settle(&mut self) {
        for column in &mut self.columns {
            let missing = column.name.chars().count().saturating_sub(column.width());
            column.count += missing;
        }
    }

    /// The names, each with a space after it.
    pub(super) fn header(&self) -> String {
        let mut header = String::new();
        for column in &self.columns {
            header.push_str(column.name);
            let filled = column.name.chars().count();
            header.extend(std::iter::repeat_n('_', column.width().saturating_sub(filled)));
            header.push(' ');
        }
        header
    }

    /// The costs of a row, each with a space after it.
    pub(super) fn row(&self, row: Row<'_>) -> String {
        let mut text = String::new();
        for column in &self.columns {
            let (count, share, cumulative) = column.texts(row, self.show_percs);
            let start = text.len();
            push_flush_right(&mut text, &count, column.count);
            if !share.is_empty() {
                text.push(' ');
                push_flush_right(&mut text, &share, column.share);
                if cumulative.is_empty() {
                    text.push(')');
                } else {
                    text.push_str(", ");
                    push_flush_right(&mut text, &cumulative, column.cumulative);
                }
            }
            let missing = column.width().saturating_sub(text.len() - start);
            text.extend(std::iter::repeat_n(' ', missing + 1));
        }
        text
    }
}

fn push_flush_right(text: &mut String, cell: &str, width: usize) {
    text.extend(std::iter::repeat_n(' ', width.saturating_sub(cell.len())));
    text.push_str(cell);
}

impl Column<'_> {
    fn width(&self) -> usize {
        self.count
            + match (self.share, self.cumulative) {
                (0, _) => 0,
                // A space before the share, and the closing parenthesis.
                (share, 0) => share + 2,
                (share, cumulative) => share + cumulative + 3,
            }
    }

    /// A cost, its share without the closing parenthesis, and the cumulative share with it.
    fn texts(&self, row: Row<'_>, show_percs: bool) -> (String, String, String) {
        let of = |costs: &[Cost]| costs.get(self.index).copied().unwrap_or_default();
        let share = |cost: Cost| match self.total {
            0 => "n/a".to_owned(),
            // Division and rounding equal those of Python to the last digit.
            total => format!("{:.1}%", (cost * 100) as f64 / total as f64),
        };
        let none = String::new;
        match row {
            Row::Dots => (".".to_owned(), none(), none()),
            Row::Plain(costs) if !show_percs || of(costs) == 0 => (grouped(of(costs)), none(), none()),
            Row::Plain(costs) => (grouped(of(costs)), format!("({}", share(of(costs))), none()),
            Row::Cumulative(costs, _) if !show_percs => (grouped(of(costs)), none(), none()),
            Row::Cumulative(costs, sums) => {
                (grouped(of(costs)), format!("({}", share(of(costs))), format!("{})", share(of(sums))))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_they_must() {
        let rows = [
            Row::Cumulative(&[90, 5, 0], &[90, 5, 0]),
            Row::Plain(&[9, 0, -1]),
            Row::Plain(&[0, 5, 0]),
            Row::Dots,
        ];
        let names = ["Ir", "A_long_name_indeed", "none"];
        let mut columns = Columns::new(names.into_iter().zip(0..), &[100, 10, 0], true);
        rows.iter().for_each(|&row| columns.fit(row));
        columns.settle();
        assert_eq!(columns.header(), "Ir_______________ A_long_name_indeed none_________ ");
        let shown = rows.map(|row| columns.row(row));
        assert_eq!(
            shown,
            [
                "90 (90.0%, 90.0%)   5 (50.0%, 50.0%)  0 (n/a, n/a) ",
                " 9  (9.0%)          0                -1 (n/a)      ",
                " 0                  5 (50.0%)         0            ",
                " .                  .                 .            ",
            ]
        );
    }

    /// The results of Python for the same division: `f"{cost * 100 / total:.1f}"`.
    #[test]
    fn shares_are_rounded_as_python_does() {
        for (cost, total, share) in [
            (1, 2000, "(0.1%"),
            (1, 1600, "(0.1%"),
            (3, 800, "(0.4%"),
            (5, 800, "(0.6%"),
            (-1, 100_000, "(-0.0%"),
            (1, 3, "(33.3%"),
            (12_345_678_901_234_567_890, 23_456_789_012_345_678_901, "(52.6%"),
        ] {
            let columns = Columns::new([("Ir", 0)].into_iter(), &[total], true);
            assert_eq!(columns.columns[0].texts(Row::Plain(&[cost]), true).1, share, "{cost} of {total}");
        }
    }
}
