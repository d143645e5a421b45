//! The list of functions, with callers and callees.

use std::cmp::Ordering;
use std::io::{self, Write};

use super::cells::{Row, with_commas};
use super::names::TextId;
use super::number::Number;
use super::reader::{Counts, Names, add};
use super::tables::{Arc, FunctionTables};
use super::{ExactOptions, ExactReport};
use crate::callgrind_annotate::Threshold;
use crate::marks::TITLE_LINE;

/// The functions, each with the costs to show.
#[derive(Debug)]
pub(super) struct List {
    rows: Vec<(TextId, Vec<Option<Number>>)>,
    /// The count of functions at the beginning that are listed.
    listed: usize,
    /// The totals, which percentages are relative to.
    pub(super) totals: Vec<Option<Number>>,
}

impl List {
    /// Takes the costs out of the tables.
    pub(super) fn new(options: &ExactOptions, tables: &mut FunctionTables, event_count: usize) -> List {
        let mut rows = Vec::new();
        for (label, function) in tables.functions_mut() {
            let mut costs = std::mem::take(&mut function.costs);
            if options.inclusive {
                if let Some(incoming) = function.incoming.take() {
                    rows.push((label, incoming));
                    continue;
                }
                add(&mut costs, &function.call_costs);
            }
            if function.has_lines {
                rows.push((label, costs));
            }
        }
        let mut totals = Vec::new();
        match tables.stated_totals() {
            Some(stated) => totals.extend(stated.iter().map(|total| Some(total.number))),
            None => rows.iter().for_each(|(_, costs)| add(&mut totals, costs)),
        }
        totals.resize(event_count.max(totals.len()), None);
        List { rows, listed: 0, totals }
    }

    pub(super) fn row_count(&self) -> usize {
        self.rows.len()
    }

    /// Sorts the functions, the most expensive first, and lists them until the thresholds are reached.
    pub(super) fn select(
        &mut self,
        options: &ExactOptions,
        sorted: &[usize],
        thresholds: Option<&[Threshold]>,
        names: &Names,
    ) {
        sort(&mut self.rows, sorted, |(_, costs)| costs, |&(label, _)| names.labels.text(label));
        self.listed = self.rows.len();
        let Some(thresholds) = thresholds else { return };
        let totals: Vec<Number> = sorted.iter().map(|&column| given(&self.totals, column)).collect();
        let mut wholes = totals.clone();
        let mut reached = vec![Number::ZERO; sorted.len()];
        for (index, (_, costs)) in self.rows.iter().enumerate() {
            // The listed costs are never more than the whole.
            for (&reached, whole) in reached.iter().zip(&mut wholes) {
                *whole = whole.max(reached);
            }
            let percent = |(&reached, &whole): (&Number, &Number)| match whole.is_zero() {
                true => reached.to_double(),
                false => reached.percent_of(whole),
            };
            let mut shares = reached.iter().zip(&wholes).map(percent).zip(thresholds);
            if shares.all(|(percent, threshold)| percent >= threshold.percent) {
                self.listed = index;
                return;
            }
            for ((&column, reached), &total) in sorted.iter().zip(&mut reached).zip(&totals) {
                let Some(cost) = costs.get(column).copied().flatten() else { continue };
                // Inclusive costs do not add up: the rest counts as reached.
                *reached = if options.inclusive { total.minus(cost) } else { reached.plus(cost) };
            }
        }
    }

    /// The listed functions with their costs.
    pub(super) fn listed(&self) -> impl Iterator<Item = (TextId, &Counts)> {
        self.rows[..self.listed].iter().map(|(label, costs)| (*label, &costs[..]))
    }
}

fn given(costs: &Counts, column: usize) -> Number {
    costs.get(column).copied().flatten().unwrap_or(Number::ZERO)
}

/// Sorts by one event type after the other, the most expensive first, then by name. A cost that is not given comes after
/// zero.
pub(super) fn sort<'n, T>(
    items: &mut [T],
    sorted: &[usize],
    costs: impl Fn(&T) -> &Counts,
    name: impl Fn(&T) -> &'n [u8],
) {
    let key =
        |item: &T, column: usize| costs(item).get(column).copied().flatten().unwrap_or(Number::Whole(-1));
    // Numbers with 64 bits and doubles together have an order only as doubles.
    let columns: Vec<(usize, bool)> = sorted
        .iter()
        .map(|&column| (column, items.iter().any(|item| matches!(key(item, column), Number::Double(_)))))
        .collect();
    let compare = |one: &T, other: &T| {
        let mut orders = columns.iter().map(|&(column, has_doubles)| {
            let [one, other] = [key(one, column), key(other, column)];
            if has_doubles { other.order_as_double(one) } else { other.order(one) }
        });
        orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    };
    items.sort_by(|one, other| compare(one, other).then_with(|| name(one).cmp(name(other))));
}

impl ExactReport<'_> {
    pub(super) fn write_list(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut columns = self.columns();
        // The columns are wide enough for all functions, listed or not.
        for (_, costs) in &self.list.rows {
            columns.widen(Row::Numbers(costs));
        }
        writeln!(out, "{TITLE_LINE}")?;
        columns.write_head(out)?;
        writeln!(out, " file:function\n{TITLE_LINE}")?;
        let has_tree = self.options.callers || self.options.callees;
        let write_neighbours = |sign: &str, mut arcs: Vec<(TextId, &Arc)>, out: &mut dyn Write| {
            // The original prints those of equal cost in the order of a hash.
            sort(&mut arcs, &self.sorted, |(_, arc)| &arc.costs, |&(label, _)| self.names.labels.text(label));
            for (label, arc) in arcs {
                columns.write_row(Row::Numbers(&arc.costs), out)?;
                out.write_all(sign.as_bytes())?;
                self.write_calls_of(label, arc.count, out)?;
                if let Some(object) = self.object(label) {
                    self.write_object(object, out)?;
                }
                writeln!(out)?;
            }
            Ok::<(), io::Error>(())
        };
        for (label, costs) in self.list.listed() {
            let is_unknown = self.is_unknown(label);
            if has_tree {
                writeln!(out)?;
            }
            if self.options.callers && !is_unknown {
                write_neighbours(" < ", self.tables.callers(label).collect(), out)?;
            }
            columns.write_row(Row::Numbers(costs), out)?;
            out.write_all(if has_tree { b" *  " } else { b" " })?;
            self.text.write(self.names.labels.text(label), out)?;
            if let Some(object) = self.object(label).filter(|object| !object.is_empty()) {
                self.write_object(object, out)?;
            }
            writeln!(out)?;
            if self.options.callees && !is_unknown {
                write_neighbours(" >   ", self.tables.callees(label).collect(), out)?;
            }
        }
        writeln!(out)
    }

    /// Writes a function and how often it is called, or calls.
    pub(super) fn write_calls_of(
        &self,
        label: TextId,
        count: Option<Number>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        self.text.write(self.names.labels.text(label), out)?;
        let count = count.unwrap_or(Number::ZERO).text();
        out.write_all(b" (")?;
        out.write_all(&with_commas(count.as_bytes()))?;
        out.write_all(b"x)")
    }

    fn object(&self, label: TextId) -> Option<&[u8]> {
        let object = self.tables.function(label)?.object?;
        Some(self.names.texts.text(object))
    }

    fn write_object(&self, object: &[u8], out: &mut dyn Write) -> io::Result<()> {
        out.write_all(b" [")?;
        self.text.write(object, out)?;
        out.write_all(b"]")
    }
}
