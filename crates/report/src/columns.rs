//! Columns: the event types that a view shows, recorded and derived.

use std::collections::{HashMap, HashSet};

use gristmill_format::Cost;
use gristmill_output::{CostUnit, grouped, in_words, lossy, printable};
use gristmill_profile::analysis::CallGraph;
use gristmill_profile::event::known_long_name;
use gristmill_profile::event_choice::{EventSelection, EventSource, NO_EVENT, derivation, event_name};
use gristmill_profile::formula::{DefinedBy, Definition, DerivationFault, Derived};
use gristmill_profile::{CostRow, EventId, Profile, Selection};
use schemars::JsonSchema;
use serde::Serialize;

use crate::view::error::ViewError;

/// An event type, recorded or derived. See the example of [`View`](crate::View).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EventColumn {
    /// The name; the second event type of the same name ends with `#2`.
    pub name: String,
    /// The name for people. `null` if there is none.
    pub long_name: Option<String>,
    /// The unit of its costs, such as `10 ns`. `null` for a count.
    pub unit: CostUnit,
    /// The formula that derives it. `null` for a recorded event type.
    pub formula: Option<String>,
}

impl EventColumn {
    /// Lists all event types that can be shown, recorded ones first, each with the sum of its self costs in the selected
    /// parts. A derived sum that is out of range is none.
    ///
    /// ```
    /// use gristmill_profile::{Profile, Selection};
    /// use gristmill_report::EventColumn;
    ///
    /// let profile = Profile::from_bytes(b"events: Ir Dr\nevent: Both = Ir + Dr\nfn=main\n1 5 2\n".to_vec());
    /// let all = EventColumn::all_of(&profile, &Selection::default(), &[]);
    /// let all: Vec<_> = all.iter().map(|(column, total)| (column.name.as_str(), *total)).collect();
    /// assert_eq!(all[..3], [("Ir", Some(5)), ("Dr", Some(2)), ("Both", Some(7))]);
    /// ```
    pub fn all_of(
        profile: &Profile,
        selection: &Selection,
        own: &[Definition],
    ) -> Vec<(EventColumn, Option<Cost>)> {
        let known = known(profile, own);
        let all: Vec<usize> = (0..known.events.len()).collect();
        let columns = known.chosen(&all);
        let mut totals = profile.totals(selection);
        // A profile without event types has a column of zeros.
        totals.resize(totals.len().max(1), 0);
        let costs: Vec<Option<Cost>> = columns.sources.iter().map(|source| source.cost(&totals)).collect();
        columns.events.into_iter().zip(costs).collect()
    }

    /// Returns a total as a person says it, and with all digits.
    ///
    /// ```
    /// use gristmill_profile::{Profile, Selection};
    /// use gristmill_report::EventColumn;
    ///
    /// let profile = Profile::from_bytes(b"events: Ir\nfn=main\n1 28612345\n".to_vec());
    /// let all = EventColumn::all_of(&profile, &Selection::default(), &[]);
    /// assert_eq!(all[0].0.total_in_words(28_612_345), "28.6 million instructions (28,612,345 Ir)");
    /// ```
    pub fn total_in_words(&self, total: Cost) -> String {
        let name = printable(self.name.as_bytes());
        let long = self.long_name.as_deref().map(|long| printable(long.as_bytes()).into_owned());
        let formula = self.formula.as_deref().map(|formula| printable(formula.as_bytes()).into_owned());
        if self.unit != CostUnit::Count {
            let details = [Some(format!("{} {name}", grouped(total))), long, formula];
            let details: Vec<String> = details.into_iter().flatten().collect();
            return format!("{} ({})", self.unit.show(total), details.join(", "));
        }
        let words = in_words(total);
        let exact = if words == grouped(total) { None } else { Some(grouped(total)) };
        match known_long_name(self.name.as_bytes()) {
            Some(noun) => {
                let noun = noun.strip_suffix(" executed").unwrap_or(noun);
                let exact = exact.map_or(String::new(), |exact| format!("{exact} "));
                format!("{words} {noun} ({exact}{name})")
            }
            None => {
                let details: Vec<String> = [exact, long, formula].into_iter().flatten().collect();
                let details =
                    if details.is_empty() { String::new() } else { format!(" ({})", details.join(", ")) };
                format!("{words} {name}{details}")
            }
        }
    }
}

/// The event types that a view shows, in order.
#[derive(Debug)]
pub(crate) struct Columns {
    events: Vec<EventColumn>,
    sources: Vec<EventSource>,
    others: Vec<String>,
    faults: Vec<DerivationFault>,
}

impl Columns {
    /// Chooses event types of a profile, recorded or derived.
    pub(crate) fn new(
        profile: &Profile,
        own: &[Definition],
        selection: &EventSelection,
    ) -> Result<Self, ViewError> {
        let known = known(profile, own);
        let chosen = match selection {
            EventSelection::Recorded => (0..known.recorded).chain(known.derived_by_user()).collect(),
            EventSelection::First => std::iter::once(0).chain(known.derived_by_user()).collect(),
            EventSelection::Named(names) => {
                names.iter().map(|name| known.find(name)).collect::<Result<Vec<_>, _>>()?
            }
        };
        Ok(known.chosen(&chosen))
    }

    /// Returns the event types. There is always one.
    pub(crate) fn events(&self) -> &[EventColumn] {
        &self.events
    }

    /// Returns the names of event types that exist and are not shown.
    pub(crate) fn others(&self) -> &[String] {
        &self.others
    }

    /// Returns the faults of derived event types.
    pub(crate) fn faults(&self) -> &[DerivationFault] {
        &self.faults
    }

    /// Makes a row of shown costs from a row with a cost for each recorded event type. `None` if a derived cost is out of range.
    ///
    /// Derived event types are linear, so they can be calculated row by row.
    pub(crate) fn shown(&self, recorded: &[Cost]) -> Option<Vec<Cost>> {
        self.sources.iter().map(|source| source.cost(recorded)).collect()
    }

    /// Makes the costs of the columns from few of very many recorded ones.
    pub(crate) fn shown_of(&self, recorded: &CostRow) -> Option<Vec<Cost>> {
        self.sources.iter().map(|source| source.cost_of(recorded)).collect()
    }

    /// Makes the cost of the first column.
    pub(crate) fn first_shown(&self, recorded: &CostRow) -> Option<Cost> {
        self.sources.first()?.cost_of(recorded)
    }

    /// Returns the columns of the profile that are shown, or that derived event types are made of, in order.
    fn needed(&self) -> Vec<usize> {
        let mut needed: Vec<usize> = self
            .sources
            .iter()
            .flat_map(|source| match source {
                EventSource::Recorded(column) => vec![*column],
                EventSource::Derived(derived) => derived.factors.iter().map(|&(column, _)| column).collect(),
            })
            .collect();
        needed.sort_unstable();
        needed.dedup();
        needed
    }

    /// Returns the count of columns of the tables that a call graph is made with.
    pub(crate) fn table_width(&self) -> usize {
        let derived = self.sources.iter().filter(|source| matches!(source, EventSource::Derived(_))).count();
        // An event type can be shown twice.
        (self.needed().len() + derived).max(self.sources.len())
    }

    /// Makes the call graph of the selected parts: with these columns, and after them the recorded event types that derived
    /// ones need and that are not shown.
    pub(crate) fn call_graph(
        &self,
        profile: &Profile,
        selection: &Selection,
    ) -> Result<CallGraph, ViewError> {
        let recorded: Option<Vec<usize>> = self
            .sources
            .iter()
            .map(|source| match source {
                EventSource::Recorded(column) => Some(*column),
                EventSource::Derived(_) => None,
            })
            .collect();
        let all: Vec<EventId> = profile.events().collect();
        // A profile without event types has a column of zeros.
        let events = |columns: &[usize]| -> Vec<EventId> {
            columns.iter().filter_map(|&column| all.get(column).copied()).collect()
        };
        if let Some(recorded) = recorded {
            return Ok(profile.call_graph_of(selection, &events(&recorded)));
        }
        let needed = self.needed();
        let graph = profile.call_graph_of(selection, &events(&needed));
        let place = |column: usize| needed.partition_point(|&other| other < column);
        let mut derived = Vec::new();
        let mut order = Vec::new();
        for source in &self.sources {
            match source {
                EventSource::Recorded(column) => order.push(place(*column)),
                EventSource::Derived(source) => {
                    order.push(graph.width() + derived.len());
                    let mut source = source.clone();
                    source.factors.iter_mut().for_each(|(column, _)| *column = place(*column));
                    derived.push(source);
                }
            }
        }
        let shown: HashSet<usize> = order.iter().copied().collect();
        order.extend((0..needed.len()).filter(|column| !shown.contains(column)));
        let graph = graph.with_derived(&derived).map_err(|_| ViewError::Overflow)?;
        Ok(graph.with_columns(&order))
    }
}

/// All event types that can be shown.
struct Known {
    /// Recorded ones first.
    events: Vec<EventColumn>,
    recorded: usize,
    derived: Vec<Derived>,
    faults: Vec<DerivationFault>,
}

fn known(profile: &Profile, own: &[Definition]) -> Known {
    let mut events = recorded(profile);
    let recorded = events.len();
    let names: Vec<&str> = events.iter().map(|event| event.name.as_str()).collect();
    let derivation = derivation(profile, &names, own);
    events.extend(derivation.derived.iter().map(|derived| EventColumn {
        name: lossy(&derived.definition.name),
        long_name: derived.definition.long_name.as_deref().map(lossy),
        unit: CostUnit::parse(&derived.definition.name, derived.definition.long_name.as_deref()),
        formula: Some(derived.definition.formula.to_string()),
    }));
    Known { events, recorded, derived: derivation.derived, faults: derivation.faults }
}

impl Known {
    /// Goes through the indexes of the event types that the user derives.
    fn derived_by_user(&self) -> impl Iterator<Item = usize> + '_ {
        let by_user = |derived: &Derived| derived.definition.by == DefinedBy::User;
        (self.recorded..)
            .zip(&self.derived)
            .filter(move |(_, derived)| by_user(derived))
            .map(|(index, _)| index)
    }

    /// Finds an event type by its name, or by one that differs in case only.
    fn find(&self, name: &str) -> Result<usize, ViewError> {
        let exactly = self.events.iter().position(|event| event.name == *name);
        exactly
            .or_else(|| self.events.iter().position(|event| event.name.eq_ignore_ascii_case(name)))
            .ok_or_else(|| ViewError::UnknownEvent {
                name: name.to_owned(),
                known: self.events.iter().map(|event| event.name.clone()).collect(),
                fault: self.faults.iter().find(|fault| fault.prevents(name.as_bytes())).cloned(),
            })
    }

    fn chosen(self, indexes: &[usize]) -> Columns {
        let source = |&index: &usize| match index.checked_sub(self.recorded) {
            Some(derived) => EventSource::Derived(self.derived[derived].clone()),
            None => EventSource::Recorded(index),
        };
        let mut is_shown = vec![false; self.events.len()];
        indexes.iter().for_each(|&index| is_shown[index] = true);
        let others = self.events.iter().zip(is_shown).filter(|(_, is_shown)| !is_shown);
        Columns {
            events: indexes.iter().map(|&index| self.events[index].clone()).collect(),
            sources: indexes.iter().map(source).collect(),
            others: others.map(|(event, _)| event.name.clone()).collect(),
            faults: self.faults,
        }
    }
}

/// Returns the event types that the files record.
fn recorded(profile: &Profile) -> Vec<EventColumn> {
    let definitions: HashMap<&[u8], Option<&[u8]>> = profile
        .event_definitions()
        .filter(|definition| definition.formula.is_none())
        .map(|definition| (definition.name, definition.long_name))
        .collect();
    let mut columns: Vec<EventColumn> = profile
        .events()
        .map(|event| {
            let event = profile.event(event);
            let long_name = definitions.get(event.name).copied().flatten();
            EventColumn {
                name: event_name(event.name, event.repetition),
                unit: CostUnit::parse(event.name, long_name),
                long_name: long_name.map(lossy).or_else(|| known_long_name(event.name).map(str::to_owned)),
                formula: None,
            }
        })
        .collect();
    if columns.is_empty() {
        // The graph has a column of zeros then.
        columns.push(EventColumn {
            name: NO_EVENT.to_owned(),
            long_name: None,
            unit: CostUnit::Count,
            formula: None,
        });
    }
    columns
}
