//! The event types of a profile that can be shown: recorded ones, and those derived from them.

use gristmill_format::Cost;

use crate::cost_row::CostRow;
use crate::formula::{DefinedBy, Definition, Derivation, Derived, Formula, derive, well_known};
use crate::profile::Profile;

/// The source of the costs of an event type. See the example of [`EventChoice`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventSource {
    /// A recorded event type: its index among those of the profile.
    Recorded(usize),
    /// A sum of recorded event types.
    Derived(Derived),
}

impl EventSource {
    /// Calculates the cost from those of the recorded event types, or returns `None` if it is out of range.
    pub fn cost(&self, recorded: &[Cost]) -> Option<Cost> {
        match self {
            // A profile without event types is shown with a column of zeros.
            EventSource::Recorded(column) => Some(recorded.get(*column).copied().unwrap_or(0)),
            EventSource::Derived(derived) => derived.cost(recorded).ok(),
        }
    }

    /// Calculates the cost as [`EventSource::cost`] does.
    pub fn cost_of(&self, row: &CostRow) -> Option<Cost> {
        match self {
            EventSource::Recorded(column) => Some(row.get(*column)),
            EventSource::Derived(derived) => derived.cost_of(row).ok(),
        }
    }
}

/// The event types that a report shows. The first one decides the order of rows.
///
/// ```
/// use gristmill_profile::Profile;
/// use gristmill_profile::compare::{CompareOptions, Comparison};
/// use gristmill_profile::event_choice::EventSelection;
///
/// let profile = Profile::from_bytes(b"events: Ir Dr\nfn=main\n1 5 2\n");
/// let options = CompareOptions { events: EventSelection::First, ..CompareOptions::default() };
/// let comparison = Comparison::new(&[&profile], &[&profile], &options)?;
/// assert_eq!(comparison.columns(), [0]);
/// # Ok::<(), gristmill_profile::compare::CompareError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum EventSelection {
    /// All recorded event types, in a comparison those of both sides, and those that the user derives: for programs.
    #[default]
    Recorded,
    /// The first recorded event type, in a comparison the first of both sides, and those that the user derives: for people.
    First,
    /// The recorded or derived event types with these names; at least one.
    Named(Vec<String>),
}

/// All event types that a profile can be shown with, recorded ones first.
///
/// ```
/// use gristmill_profile::Profile;
/// use gristmill_profile::event_choice::EventChoice;
/// use gristmill_profile::formula::{DefinedBy, Definition};
///
/// let profile = Profile::from_bytes(b"events: Ir Stall\nfn=main\n16 400 3\n");
/// let own = Definition::parse(b"Cost = Ir + 10 Stall", DefinedBy::User)?;
/// let choice = EventChoice::new(&profile, &[own]);
/// assert_eq!(choice.names().collect::<Vec<_>>(), ["Ir", "Stall", "Cost"]);
/// assert_eq!(choice.costs(&[400, 3]).unwrap(), [400, 3, 430]);
/// # Ok::<(), gristmill_profile::formula::FormulaError>(())
/// ```
#[derive(Debug, Clone)]
pub struct EventChoice {
    events: Vec<(String, EventSource)>,
}

impl EventChoice {
    /// The event types of a profile, with definitions by the user.
    pub fn new(profile: &Profile, own: &[Definition]) -> Self {
        let mut names: Vec<String> = profile
            .events()
            .map(|event| {
                let event = profile.event(event);
                event_name(event.name, event.repetition)
            })
            .collect();
        if names.is_empty() {
            names.push(NO_EVENT.to_owned());
        }
        let derived = derivation(profile, &names, own).derived;
        let mut events: Vec<(String, EventSource)> = names
            .into_iter()
            .enumerate()
            .map(|(column, name)| (name, EventSource::Recorded(column)))
            .collect();
        events.extend(derived.into_iter().map(|derived| {
            (String::from_utf8_lossy(&derived.definition.name).into_owned(), EventSource::Derived(derived))
        }));
        EventChoice { events }
    }

    /// The names of the event types.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.events.iter().map(|(name, _)| name.as_str())
    }

    /// Calculates the costs of all event types from those of the recorded ones, or returns `None` if one of them is out
    /// of range.
    pub fn costs(&self, recorded: &[Cost]) -> Option<Vec<Cost>> {
        self.events.iter().map(|(_, source)| source.cost(recorded)).collect()
    }
}

/// The name of the only column, all zeros, of a profile without event types.
pub const NO_EVENT: &str = "none";

/// Makes the name of an event type; one that repeats an earlier name gets a number.
pub fn event_name(name: &[u8], repetition: usize) -> String {
    let name = String::from_utf8_lossy(name);
    match repetition {
        0 => name.into_owned(),
        nth => format!("{name}#{}", nth + 1),
    }
}

/// Collects the definitions of derived event types, the weakest first: conventions, those of the files, and `own`.
pub fn definitions(profile: &Profile, own: &[Definition]) -> Vec<Definition> {
    let of_files = profile.event_definitions().filter_map(|definition| {
        Some(Definition {
            name: definition.name.to_vec(),
            formula: Formula::parse(definition.formula?).ok()?,
            long_name: definition.long_name.map(<[u8]>::to_vec),
            by: DefinedBy::File,
        })
    });
    well_known().into_iter().chain(of_files).chain(own.iter().cloned()).collect()
}

/// Derives all event types that can be shown beside the recorded ones of these names.
pub fn derivation<N: AsRef<str>>(profile: &Profile, recorded: &[N], own: &[Definition]) -> Derivation {
    let names: Vec<&[u8]> = recorded.iter().map(|name| name.as_ref().as_bytes()).collect();
    let mut derivation = derive(&names, &definitions(profile, own));
    // The estimated cycles of a profile that has only instructions are the instructions.
    let is_copy = |derived: &Derived| matches!(derived.factors[..], [(_, 1)]);
    derivation.derived.retain(|derived| !derived.definition.by.is_convention() || !is_copy(derived));
    derivation
}
