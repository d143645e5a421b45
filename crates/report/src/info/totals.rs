//! Costs by the names of event types, which are not copied: there may be a million of them.

use std::borrow::Cow;
use std::collections::HashMap;

use gristmill_format::{Cost, PartSurvey, Survey};

use super::InfoReport;

/// Costs by the names of event types. See [`InfoReport::totals`] and the example of [`info`](crate::info).
#[derive(Debug, Clone)]
pub struct EventTotals<'a> {
    /// The part whose event types come first.
    first: Option<&'a PartSurvey<'a>>,
    /// The event types that it does not have.
    others: Vec<&'a [u8]>,
    costs: Cow<'a, [Cost]>,
}

impl<'a> InfoReport<'a> {
    /// Returns the totals over all parts, in the order in which the event types are first named.
    pub fn totals(&'a self) -> EventTotals<'a> {
        EventTotals::sum_parts(&self.survey)
    }
}

impl<'a> EventTotals<'a> {
    /// Costs in the order of the columns of a part.
    pub(super) fn new(part: &'a PartSurvey<'a>, costs: &'a [Cost]) -> Self {
        EventTotals { first: Some(part), others: Vec::new(), costs: Cow::Borrowed(costs) }
    }

    fn sum_parts(survey: &'a Survey<'a>) -> Self {
        let Some((first, others)) = survey.parts.split_first() else {
            return EventTotals { first: None, others: Vec::new(), costs: Cow::Borrowed(&[]) };
        };
        let mut totals = EventTotals::new(first, survey.totals(first));
        let mut indexes: Option<HashMap<&[u8], usize>> = None;
        for part in others {
            let costs = survey.totals(part);
            // Nearly always all parts have the same event types, in the same order.
            if columns(part).eq(columns(first)) {
                totals.costs.to_mut().iter_mut().zip(costs).for_each(|(sum, cost)| *sum += cost);
                continue;
            }
            let indexes = indexes.get_or_insert_with(|| {
                // Of two columns with one name the first counts.
                let mut indexes = HashMap::new();
                columns(first).enumerate().for_each(|(index, name)| {
                    indexes.entry(name).or_insert(index);
                });
                indexes
            });
            for (name, cost) in columns(part).zip(costs) {
                let sums = totals.costs.to_mut();
                let index = *indexes.entry(name).or_insert_with(|| {
                    totals.others.push(name);
                    sums.push(0);
                    sums.len() - 1
                });
                sums[index] += cost;
            }
        }
        totals
    }

    /// Returns the count of event types.
    pub fn len(&self) -> usize {
        self.costs.len()
    }

    /// `true` if there are no event types.
    pub fn is_empty(&self) -> bool {
        self.costs.is_empty()
    }

    /// Goes through names and costs.
    pub fn iter(&self) -> impl Iterator<Item = (&'a [u8], Cost)> {
        let names = self.first.into_iter().flat_map(columns).chain(self.others.iter().copied());
        names.zip(self.costs.iter().copied())
    }
}

/// Goes through the names of the event types that have a column.
fn columns<'a>(part: &'a PartSurvey<'a>) -> impl Iterator<Item = &'a [u8]> {
    part.header.event_types().take(part.header.event_count()).map(|event| event.name)
}
