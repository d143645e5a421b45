//! The event types of a comparison: those with all tables, and those of which only self costs are known.

use super::{CompareError, ComparedEvent};
use crate::event_choice::{EventSelection, event_name};
use crate::formula::{DefinedBy, DerivationFault, Derived};

/// The place of an event type in the tables of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    /// A column of the tables of self and inclusive costs and of calls.
    Compared(usize),
    /// A column of the table of self costs of recorded event types that are not compared.
    Other(usize),
}

/// The event types of a comparison, by where their costs are. Tables of all event types would take very much memory for few that are
/// shown.
#[derive(Debug, Clone)]
pub(super) struct Columns {
    /// The event types to show, in order.
    chosen: Vec<usize>,
    /// By event type.
    slots: Vec<Option<Slot>>,
    /// The compared event types: recorded ones first.
    compared: Vec<usize>,
    /// The count of recorded ones among them.
    recorded: usize,
    /// Recorded event types that are not compared.
    others: Vec<usize>,
    /// The derived ones that are compared, with columns of the tables as factors.
    derived: Vec<Derived>,
}

impl Columns {
    /// Chooses event types. Those that derived ones are made of are compared too, and so is the first one of both sides.
    pub(super) fn new(
        selection: &EventSelection,
        events: &[ComparedEvent],
        derived: &[Derived],
        faults: &[DerivationFault],
    ) -> Result<Self, CompareError> {
        let recorded = events.len() - derived.len();
        let chosen = chosen(selection, events, faults)?;
        let mut is_compared = vec![false; events.len()];
        is_compared[ComparedEvent::leading(events)] = true;
        if *selection == EventSelection::Recorded {
            is_compared[..recorded].fill(true);
        }
        for &column in &chosen {
            is_compared[column] = true;
            if let Some(derived) = column.checked_sub(recorded).map(|nth| &derived[nth]) {
                derived.factors.iter().for_each(|&(column, _)| is_compared[column] = true);
            }
        }
        let (compared, left): (Vec<usize>, Vec<usize>) =
            (0..events.len()).partition(|&column| is_compared[column]);
        let others: Vec<usize> = left.into_iter().filter(|&column| column < recorded).collect();
        let mut slots = vec![None; events.len()];
        compared.iter().enumerate().for_each(|(slot, &column)| slots[column] = Some(Slot::Compared(slot)));
        others.iter().enumerate().for_each(|(slot, &column)| slots[column] = Some(Slot::Other(slot)));
        let own = compared.partition_point(|&column| column < recorded);
        let place = |column: usize| compared[..own].partition_point(|&other| other < column);
        let derived = compared[own..].iter().map(|&column| {
            let mut derived = derived[column - recorded].clone();
            derived.factors.iter_mut().for_each(|(column, _)| *column = place(*column));
            derived
        });
        let derived = derived.collect();
        Ok(Columns { chosen, slots, recorded: own, others, derived, compared })
    }

    /// Returns the event types to show, in order.
    pub(super) fn chosen(&self) -> &[usize] {
        &self.chosen
    }

    /// Returns the place of an event type.
    ///
    /// # Panics
    ///
    /// If it is derived and not compared.
    #[expect(clippy::expect_used, reason = "callers choose their columns first")]
    pub(super) fn slot(&self, column: usize) -> Slot {
        self.slots[column].expect("the event type is compared")
    }

    /// Returns the column of an event type in the tables of all costs.
    ///
    /// # Panics
    ///
    /// If it is not compared.
    #[expect(clippy::panic, reason = "callers choose their columns first")]
    pub(super) fn compared_slot(&self, column: usize) -> usize {
        match self.slot(column) {
            Slot::Compared(slot) => slot,
            Slot::Other(_) => panic!("the event type is compared"),
        }
    }

    /// Does the same for several.
    pub(super) fn compared_slots(&self, columns: &[usize]) -> Vec<usize> {
        columns.iter().map(|&column| self.compared_slot(column)).collect()
    }

    /// Returns the count of columns of the tables of all costs.
    pub(super) fn width(&self) -> usize {
        self.compared.len()
    }

    /// Returns the recorded event types with tables of all costs. They come first in these.
    pub(super) fn compared_recorded(&self) -> &[usize] {
        &self.compared[..self.recorded]
    }

    /// Returns the recorded event types of which only self costs are known.
    pub(super) fn others(&self) -> &[usize] {
        &self.others
    }

    /// Returns the derived event types with tables of all costs, as sums of the recorded ones.
    pub(super) fn derived(&self) -> &[Derived] {
        &self.derived
    }
}

/// Returns the event types to show, in order.
fn chosen(
    selection: &EventSelection,
    events: &[ComparedEvent],
    faults: &[DerivationFault],
) -> Result<Vec<usize>, CompareError> {
    let is_recorded = |column: &usize| events[*column].is_common() && events[*column].definition.is_none();
    let is_by_user = |column: &usize| {
        let definition = events[*column].definition.as_ref();
        events[*column].is_common() && definition.is_some_and(|definition| definition.by == DefinedBy::User)
    };
    let all = || 0..events.len();
    match selection {
        EventSelection::Recorded => Ok(all().filter(is_recorded).chain(all().filter(is_by_user)).collect()),
        EventSelection::First => {
            Ok(all().filter(is_recorded).take(1).chain(all().filter(is_by_user)).collect())
        }
        EventSelection::Named(names) => names.iter().map(|name| find(name, events, faults)).collect(),
    }
}

/// Finds an event type of both sides by its name, or by one that differs in case only.
fn find(name: &str, events: &[ComparedEvent], faults: &[DerivationFault]) -> Result<usize, CompareError> {
    let is_it = |event: &ComparedEvent, fits: fn(&str, &str) -> bool| {
        event.is_common() && fits(&event_name(&event.name, event.repetition), name)
    };
    let exactly = events.iter().position(|event| is_it(event, |a, b| a == b));
    exactly.or_else(|| events.iter().position(|event| is_it(event, str::eq_ignore_ascii_case))).ok_or_else(
        || CompareError::UnknownEvent {
            name: name.to_owned(),
            known: events
                .iter()
                .filter(|event| event.is_common())
                .map(|event| event_name(&event.name, event.repetition))
                .collect(),
            fault: faults.iter().find(|fault| fault.prevents(name.as_bytes())).cloned(),
        },
    )
}
