//! Comparison of two sides: what changed from a base to a new profile, by function, and the causes.
//!
//! ```
//! use gristmill_profile::compare::{CompareOptions, Comparison};
//! use gristmill_profile::Profile;
//!
//! let base = Profile::from_bytes(b"events: Ir\nfl=/a/mill.rs\nfn=mill::grind::h0123456789abcdef\n5 100\n");
//! let new = Profile::from_bytes(b"events: Ir\nfl=/b/mill.rs\nfn=mill::grind::hfedcba9876543210\n5 130\n");
//! let comparison = Comparison::new(&[&base], &[&new], &CompareOptions::default())?;
//! let [grind] = comparison.functions().collect::<Vec<_>>()[..] else { panic!("one function") };
//! assert_eq!(comparison.self_cost(grind, 0).delta(), 30);
//! assert_eq!(comparison.total(0).delta(), 30);
//! # Ok::<(), gristmill_profile::compare::CompareError>(())
//! ```
//!
//! # Joining functions
//!
//! Two builds can give the same function different names. [`JoinRule`]s remove the differences: first those of paths,
//! including the directories that both sides were built in, then those of names. Functions that are equal after that are
//! joined into one, with the sum of their costs. A hash or an address that was removed still distinguishes functions if both
//! sides have it. The remaining functions of one side are joined with those of the other if each is the only one of its
//! name, and finally by file, cost and callers, as renamed.
//!
//! # Several runs
//!
//! Each side has one or more runs. With several, a number is the median of the runs, with minimum and maximum, and a
//! change is noise if the ranges of both sides overlap. Medians do not add up: [`Comparison::remainder`] is the difference
//! between the change of the total and the changes of all functions.
//!
//! # Algebra
//!
//! A profile compared with itself has no change. Swapping base and new changes all signs and nothing else. The difference
//! written as a profile ([`Comparison::write_difference`]) and added to the base is the new profile, by function.

mod activity;
mod callers;
mod change_path;
mod checkout;
mod closure_name;
mod closures;
mod columns;
mod difference;
mod doubt;
mod entries;
mod environment;
mod explain;
mod factors;
mod flow;
mod generic;
mod groups;
mod id;
mod in_place;
mod inlining;
mod inlining_proof;
mod join;
mod join_options;
mod join_rule;
mod joined_paths;
mod keyed_rows;
mod line_shift;
mod lines;
mod measure;
mod names;
mod one_binary;
mod parts;
mod paths;
mod per_call;
mod ratio;
mod raw;
mod renames;
mod sample;
mod settle;
mod source_place;
mod tests;
mod trees;

use std::collections::BTreeSet;
use std::fmt;

use gristmill_format::Cost;

use crate::analysis::{ArcId, GroupCosts, Partition, group_costs};
use crate::budget::{MemoryBudget, OverBudget};
use crate::cost::CostTable;
use crate::event_choice::EventSelection;
use crate::formula::{Definition, DerivationFault, Derived};
use crate::profile::Profile;
use crate::selection::Selection;

pub use change_path::PathStep;
pub use checkout::Checkout;
pub(crate) use closure_name::is_closure;
pub use doubt::JoinDoubt;
pub use environment::{Unlike, UnlikeKind};
pub use explain::{Cause, Explanation, Explanations};
pub use id::{JoinedId, JoinedPathId, Side};
pub use inlining::MoveKind;
pub use join_options::JoinOptions;
pub use join_rule::{JoinRule, JoinRuleDescription, JoinRules};
pub use lines::{ComparedLine, SourceLine};
pub use names::normal_function;
pub(crate) use one_binary::file_name;
pub use per_call::{CallsFrom, PerCallProof};
pub use raw::Mention;
pub use renames::Resemblance;
pub use sample::{Change, Sample};
pub use trees::{
    ComparedBasis, ComparedItem, ComparedTree, ComparedTreeLimits, ComparedTreeNode, ComparedTreeView,
};

use columns::Columns;
use join::Identity;
use measure::Measured;
use raw::Run;
use sample::ChangeTable;
use source_place::SourcePlaces;

/// The options of a comparison. See the example of [`Comparison`].
#[derive(Debug, Clone, Default)]
pub struct CompareOptions {
    /// The parts to compare, on both sides.
    pub selection: Selection,
    /// The options of joining functions.
    pub joining: JoinOptions,
    /// Derived event types, the weakest definition first.
    pub definitions: Vec<Definition>,
    /// The event types to compare. Of other recorded ones there are totals and self costs only: tables of all would take very much memory.
    pub events: EventSelection,
}

/// The reason that two sides cannot be compared. See the example of [`Comparison`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CompareError {
    /// A side has no run.
    NothingToCompare,
    /// No event type is on both sides; the event types of the base, and of the new profile.
    NoCommonEvent(Vec<String>, Vec<String>),
    /// Both sides do not have an event type of this name.
    UnknownEvent {
        /// The name.
        name: String,
        /// The event types that both have.
        known: Vec<String>,
        /// The reason that the event type cannot be derived.
        fault: Option<DerivationFault>,
    },
    /// No part of a run is selected.
    NothingSelected,
    /// A derived cost exceeds 128 bits.
    Overflow,
    /// The costs of all event types and functions would take much more memory than the profiles.
    TooManyCosts(OverBudget),
    /// The names of all functions, with their paths, would take much more memory than the profiles.
    LongNames(OverBudget),
}

impl fmt::Display for CompareError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CompareError::NothingToCompare => f.write_str("there is no profile to compare with"),
            CompareError::NoCommonEvent(base, new) => write!(
                f,
                "the profiles have no event type in common: {} in the base, {} in the new profile",
                base.join(" "),
                new.join(" ")
            ),
            CompareError::UnknownEvent { name, fault, .. } => {
                write!(f, "there is no event type `{name}` on both sides")?;
                fault.iter().try_for_each(|fault| write!(f, ": {fault}"))
            }
            CompareError::NothingSelected => f.write_str("no part of a profile is selected"),
            CompareError::Overflow => f.write_str("a derived cost exceeds 128 bits"),
            CompareError::TooManyCosts(over) => {
                write!(f, "the costs of all event types and functions {over}")
            }
            CompareError::LongNames(over) => write!(f, "the names and paths of all functions {over}"),
        }
    }
}

impl std::error::Error for CompareError {}

/// An event type, recorded or derived: a column of all costs. See the example of [`Comparison`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComparedEvent {
    /// Its name.
    pub name: Vec<u8>,
    /// The count of event types of this name before it.
    pub repetition: usize,
    /// `true` if the base has it.
    pub in_base: bool,
    /// `true` if the new profile has it.
    pub in_new: bool,
    /// Its name for people, if a definition or a profile gives it one: the new side first.
    pub long_name: Option<Vec<u8>>,
    /// Its definition, if it is derived.
    pub definition: Option<Definition>,
}

impl ComparedEvent {
    /// Returns `true` if both sides have it, so that it can be compared.
    pub fn is_common(&self) -> bool {
        self.in_base && self.in_new
    }

    /// Returns the index of the first event type of both sides. Sides without one are refused.
    fn leading(events: &[ComparedEvent]) -> usize {
        events.iter().position(ComparedEvent::is_common).unwrap_or(0)
    }
}

/// An arc: all calls from one function to another, on both sides. See the example of [`Comparison`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ComparedArc {
    /// The caller.
    pub caller: JoinedId,
    /// The callee.
    pub callee: JoinedId,
    /// The count of calls.
    pub count: Change,
}

/// The sides that a function is on. See the example of [`Comparison`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// Both sides.
    Both,
    /// The base only.
    Vanished,
    /// The new profile only.
    New,
}

/// The count of functions by presence.
///
/// See the example of [`Comparison`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PresenceCounts {
    /// On both sides.
    pub both: usize,
    /// In the base only.
    pub vanished: usize,
    /// In the new profile only.
    pub new: usize,
}

impl PresenceCounts {
    /// Counts one more function.
    pub fn add(&mut self, presence: Presence) {
        match presence {
            Presence::Both => self.both += 1,
            Presence::Vanished => self.vanished += 1,
            Presence::New => self.new += 1,
        }
    }
}

/// The functions that a rule joined. See the example of [`Comparison`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JoinedByRule {
    /// The rule.
    pub rule: JoinRule,
    /// The count of functions.
    pub functions: usize,
    /// One of them.
    pub example: JoinedId,
}

/// Two sides compared. Its functions have [`JoinedId`]s.
///
/// ```
/// use gristmill_profile::Profile;
/// use gristmill_profile::compare::{CompareOptions, Comparison, Presence};
///
/// let base = Profile::from_bytes(b"events: Ir\nfl=mill.c\nfn=main\n5 100\ncfn=grind\ncalls=2 9\n6 40\nfn=grind\n9 40\n");
/// let new = Profile::from_bytes(b"events: Ir\nfl=mill.c\nfn=main\n5 100\ncfn=grind\ncalls=3 9\n6 60\nfn=grind\n9 60\n");
/// let comparison = Comparison::new(&[&base], &[&new], &CompareOptions::default())?;
/// let grind = comparison.functions().find(|&function| comparison.mention(function).name == b"grind").unwrap();
/// assert_eq!(comparison.presence(grind), Presence::Both);
/// assert_eq!((comparison.self_cost(grind, 0).delta(), comparison.calls(grind).delta()), (20, 1));
/// let causes = comparison.explain(0).causes;
/// assert_eq!((causes.len(), causes[0].effect), (1, 20));
/// # Ok::<(), gristmill_profile::compare::CompareError>(())
/// ```
#[derive(Debug)]
pub struct Comparison<'p> {
    runs: Vec<Run<'p>>,
    selection: Selection,
    joining: JoinOptions,
    /// `true` if both sides ran one program with other arguments.
    is_one_binary: bool,
    /// By side: the file names of the programs that were run.
    programs: [BTreeSet<&'p [u8]>; 2],
    identity: Identity<'p>,
    events: Vec<ComparedEvent>,
    derived: Vec<Derived>,
    faults: Vec<DerivationFault>,
    columns: Columns,
    measured: Measured,
    is_sampled: bool,
    renames: Vec<(JoinedId, Resemblance)>,
    /// The objects whose functions have names on one side only, with the side that lacks them.
    nameless_objects: Vec<(JoinedPathId, Side)>,
    /// The places of the sources of each object.
    source_places: SourcePlaces<'p>,
    /// Functions that other ones call than in the base, and that have only their name, sorted.
    of_other_callers: Vec<JoinedId>,
    /// Functions of two files that are of one all the same, sorted.
    of_one_file: Vec<JoinedId>,
    /// Closures that may be others of the same name, sorted.
    other_closures: Vec<JoinedId>,
    /// Closures with changes whose lines do not tell, or are not looked at, sorted.
    unclear_closures: Vec<JoinedId>,
}

impl<'p> Comparison<'p> {
    /// Returns all event types, which are the columns of costs: recorded ones first, those of the base before others.
    pub fn events(&self) -> &[ComparedEvent] {
        &self.events
    }

    /// Returns the index of the first event type of both sides. Functions that may be renamed are found by its costs.
    pub fn leading_event(&self) -> usize {
        ComparedEvent::leading(&self.events)
    }

    /// Returns the event types that [`CompareOptions::events`] asks for and both sides have, in order.
    pub fn columns(&self) -> &[usize] {
        self.columns.chosen()
    }

    /// Returns the faults of derived event types.
    pub fn faults(&self) -> &[DerivationFault] {
        &self.faults
    }

    /// Returns the runs of a side.
    pub fn runs(&self, side: Side) -> impl Iterator<Item = &'p Profile> {
        self.runs.iter().filter(move |run| run.side == side).map(|run| run.profile)
    }

    /// Returns the memory that a report about the comparison may take.
    pub(crate) fn memory_budget(&self) -> MemoryBudget {
        MemoryBudget::new(self.runs.iter().map(|run| run.profile))
    }

    /// Returns how many bytes a report may take beside the tables of the comparison.
    pub fn bytes_left(&self) -> usize {
        let bytes = self.memory_budget().bytes();
        // Each run has tables, and so have both sides together.
        bytes.saturating_sub(2 * self.table_bytes()).max(bytes / 2)
    }

    /// Returns how many bytes the tables of all runs take.
    fn table_bytes(&self) -> usize {
        let (events, recorded) = (self.events.len(), self.recorded_columns().len());
        let bytes_of = |run: &Run<'_>| run.profile.comparison_bytes(events, recorded, self.columns.width());
        self.runs.iter().map(bytes_of).sum()
    }

    /// Returns the parts that are compared.
    pub fn selection(&self) -> &Selection {
        &self.selection
    }

    /// Goes through all functions of both sides, in the order in which the files mention them.
    pub fn functions(&self) -> impl ExactSizeIterator<Item = JoinedId> + use<> {
        (0..self.identity.functions.len()).map(JoinedId::new)
    }

    /// The sides that a function is on. See the example of [`Comparison`].
    pub fn presence(&self, function: JoinedId) -> Presence {
        match self.identity.functions[function.index()].sides {
            [Some(_), None] => Presence::Vanished,
            [None, Some(_)] => Presence::New,
            _ => Presence::Both,
        }
    }

    /// Counts the functions by presence.
    pub fn presence_counts(&self) -> PresenceCounts {
        let mut counts = PresenceCounts::default();
        for function in self.functions() {
            counts.add(self.presence(function));
        }
        counts
    }

    /// Returns a function as the base mentions it.
    pub fn in_base(&self, function: JoinedId) -> Option<Mention<'p>> {
        self.identity.functions[function.index()].sides[0]
    }

    /// Returns a function as the new profile mentions it.
    pub fn in_new(&self, function: JoinedId) -> Option<Mention<'p>> {
        self.identity.functions[function.index()].sides[1]
    }

    /// Returns a function as the new profile mentions it, or else as the base does.
    pub fn mention(&self, function: JoinedId) -> Mention<'p> {
        #[expect(clippy::expect_used, reason = "a function comes from at least one side")]
        self.in_new(function).or(self.in_base(function)).expect("a side")
    }

    /// Returns the counts of functions of the base and of the new profile that this one stands for.
    pub fn counts(&self, function: JoinedId) -> [u32; 2] {
        self.identity.functions[function.index()].counts
    }

    /// Returns the rules that joined a function; none if both sides give it the same name.
    pub fn joined_by(&self, function: JoinedId) -> JoinRules {
        self.identity.functions[function.index()].rules
    }

    /// Returns the reasons to consider a function renamed, if it is.
    pub fn renamed(&self, function: JoinedId) -> Option<&Resemblance> {
        let index = self.renames.binary_search_by_key(&function, |(function, _)| *function).ok()?;
        Some(&self.renames[index].1)
    }

    /// Lists the rules that joined functions.
    pub fn joins(&self) -> Vec<JoinedByRule> {
        let mut joins: Vec<JoinedByRule> = Vec::new();
        for rule in JoinRule::ALL {
            let mut with = self.functions().filter(|&function| self.joined_by(function).has(rule));
            if let Some(example) = with.next() {
                joins.push(JoinedByRule { rule, functions: 1 + with.count(), example });
            }
        }
        joins
    }

    /// Returns the directories that both sides were built in, those that joined most paths first.
    pub fn checkouts(&self) -> &[Checkout] {
        &self.identity.paths.checkouts
    }

    /// Returns the sum of all self costs.
    pub fn total(&self, column: usize) -> Change {
        self.measured.total(self.columns.slot(column))
    }

    /// Returns the self cost of a function.
    pub fn self_cost(&self, function: JoinedId, column: usize) -> Change {
        self.measured.self_cost(function.index(), self.columns.slot(column))
    }

    /// Returns the inclusive cost of a function, by the rule [`Inclusive::new`](crate::analysis::Inclusive::new).
    ///
    /// # Panics
    ///
    /// If the event type is not compared: see [`CompareOptions::events`].
    pub fn inclusive(&self, function: JoinedId, column: usize) -> Change {
        self.measured.inclusive.get(function.index(), self.columns.compared_slot(column))
    }

    /// Returns the count of calls of a function.
    pub fn calls(&self, function: JoinedId) -> Change {
        self.measured.calls.get(function.index(), 0)
    }

    /// Returns the change of the total less the changes of all functions: 0 unless a side has several runs, as medians do
    /// not add up.
    pub fn remainder(&self, column: usize) -> Cost {
        let sum: Cost = self.functions().map(|function| self.self_cost(function, column).delta()).sum();
        self.total(column).delta() - sum
    }

    /// Returns the arcs of both sides, sorted by caller, then callee.
    pub fn arcs(&self) -> impl ExactSizeIterator<Item = ComparedArc> {
        (0..self.measured.links.arcs().len()).map(|arc| self.arc(arc))
    }

    /// Returns an arc, by its index in [`Comparison::arcs`].
    pub fn arc(&self, arc: usize) -> ComparedArc {
        self.measured.arc(arc)
    }

    /// Returns the inclusive cost of an arc, by its index in [`Comparison::arcs`].
    ///
    /// # Panics
    ///
    /// If the event type is not compared: see [`CompareOptions::events`].
    pub fn arc_cost(&self, arc: usize, column: usize) -> Change {
        self.measured.arc_costs.get(arc, self.columns.compared_slot(column))
    }

    /// Returns the arcs from a function, as indices in [`Comparison::arcs`].
    pub fn outgoing(&self, function: JoinedId) -> impl ExactSizeIterator<Item = usize> + Clone {
        self.measured.links.outgoing(function.node()).map(ArcId::index)
    }

    /// Returns the arcs to a function, as indices in [`Comparison::arcs`].
    pub fn incoming(&self, function: JoinedId) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.measured.links.incoming(function.node()).map(ArcId::index)
    }

    /// Returns the columns that are recorded, not derived.
    fn recorded_columns(&self) -> std::ops::Range<usize> {
        0..self.events.len() - self.derived.len()
    }

    /// Returns `true` if there are calls.
    pub fn has_calls(&self) -> bool {
        self.arcs().len() > 0
    }

    /// Sums the costs of groups of functions: self and inclusive costs, and calls from outside. `group_of` returns the group
    /// of a function, below `groups`.
    pub fn grouped(&self, groups: usize, group_of: impl Fn(JoinedId) -> usize) -> ComparedGroups {
        let partition = Partition::new(groups, self.functions().map(group_of));
        let of_runs: Vec<GroupCosts> =
            (0..self.runs.len()).map(|run| group_costs(&self.graph(run), &partition)).collect();
        let is_doubtful = |costs: &GroupCosts, group: usize| {
            let mut columns = 0..self.columns.compared_recorded().len();
            costs.is_upper_bound[group] || columns.any(|column| costs.is_estimate(group, column))
        };
        let is_doubtful =
            (0..groups).map(|group| of_runs.iter().any(|costs| is_doubtful(costs, group))).collect();
        let (mut selves, mut inclusive, mut called) = (Vec::new(), Vec::new(), Vec::new());
        for costs in of_runs {
            let mut counts = CostTable::new(1, 0);
            costs.call_counts.iter().for_each(|count| counts.push(&[*count]));
            selves.push(costs.self_costs);
            inclusive.push(costs.inclusive);
            called.push(counts);
        }
        ComparedGroups {
            self_costs: ChangeTable::new(&self.runs, selves),
            inclusive: ChangeTable::new(&self.runs, inclusive),
            calls: ChangeTable::new(&self.runs, called),
            is_doubtful,
            columns: self.columns.clone(),
        }
    }
}

/// The costs of groups of functions on both sides. See the example of [`Comparison`].
#[derive(Debug)]
pub struct ComparedGroups {
    self_costs: ChangeTable,
    inclusive: ChangeTable,
    calls: ChangeTable,
    is_doubtful: Vec<bool>,
    columns: Columns,
}

impl ComparedGroups {
    /// Returns the self cost of a group.
    pub fn self_cost(&self, group: usize, column: usize) -> Change {
        self.self_costs.get(group, self.columns.compared_slot(column))
    }

    /// Returns the inclusive cost of a group.
    pub fn inclusive(&self, group: usize, column: usize) -> Change {
        self.inclusive.get(group, self.columns.compared_slot(column))
    }

    /// Returns the count of calls from outside a group.
    pub fn calls(&self, group: usize) -> Change {
        self.calls.get(group, 0)
    }

    /// Returns `true` if the inclusive costs of a group may count calls more than once: they are upper bounds, or estimates if costs can be
    /// below 0.
    pub fn is_doubtful(&self, group: usize) -> bool {
        self.is_doubtful[group]
    }
}
