//! Two sides compared: what changed from a base to a new profile, function by function, and why.
//!
//! ```
//! use gristmill_profile::compare::{CompareOptions, Comparison};
//! use gristmill_profile::Profile;
//!
//! let base = Profile::of(b"events: Ir\nfl=/a/mill.rs\nfn=mill::grind::h0123456789abcdef\n5 100\n");
//! let new = Profile::of(b"events: Ir\nfl=/b/mill.rs\nfn=mill::grind::hfedcba9876543210\n5 130\n");
//! let comparison = Comparison::new(&[&base], &[&new], &CompareOptions::default())?;
//! let [grind] = comparison.functions().collect::<Vec<_>>()[..] else { panic!("one function") };
//! assert_eq!(comparison.self_cost(grind, 0).delta(), 30);
//! assert_eq!(comparison.total(0).delta(), 30);
//! # Ok::<(), gristmill_profile::compare::CompareError>(())
//! ```
//!
//! # What is the same function
//!
//! Unlike builds call the same function by unlike names. [`JoinRule`]s take out what differs: first of paths, among them the
//! directories that both sides were built in, then of names. Functions that are the same after that are one, with the
//! sum of their costs; a hash or an address that was taken out still tells them apart wherever both sides have it.
//! What is left over on one side is joined with what is left over on the other where both are alone with their name,
//! and at last by place, cost and callers, as renamed.
//!
//! # Several runs
//!
//! Each side has one run or several. Of several, every number is the median of the runs, with least and most beside it,
//! and a change is noise where the ranges of both sides overlap. Medians do not add up: by how much those of the
//! functions miss that of the total is [`Comparison::remainder`].
//!
//! # Algebra
//!
//! A profile compared with itself has no change. With base and new changed, all signs change and nothing else. The
//! difference written as a profile ([`Comparison::write_difference`]) and added to the base is the new profile, function
//! by function.

mod checkout;
mod difference;
mod environment;
mod explain;
mod groups;
mod id;
mod join;
mod join_options;
mod join_rule;
mod joined_paths;
mod lines;
mod measure;
mod moves;
mod names;
mod paths;
mod ratio;
mod raw;
mod renames;
mod sample;
mod tests;

use std::fmt;

use gristmill_format::Cost;

use crate::analysis::{ArcId, CallGraph, GroupCosts, Partition, group_costs};
use crate::cost::CostTable;
use crate::formula::{Definition, DerivationFault, Derived};
use crate::profile::Profile;
use crate::selection::Selection;

pub use checkout::Checkout;
pub use environment::{Unlike, UnlikeKind};
pub use explain::{Cause, Explanation, Explanations};
pub use id::{JoinedId, JoinedPathId, Side};
pub use join_options::JoinOptions;
pub use join_rule::{JoinRule, JoinRuleDescription, JoinRules};
pub use lines::{ComparedLine, LinePlace};
pub use moves::MoveKind;
pub use names::normal_function;
pub use raw::Mention;
pub use renames::Resemblance;
pub use sample::{Change, Sample};

use join::Identity;
use measure::Measured;
use raw::Run;
use sample::ChangeTable;

/// What to compare, and how.
#[derive(Debug, Clone, Default)]
pub struct CompareOptions {
    /// The parts to look at, on both sides.
    pub selection: Selection,
    /// What is the same function.
    pub joining: JoinOptions,
    /// Derived event types, the weakest definition first.
    pub definitions: Vec<Definition>,
}

/// Why two sides cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CompareError {
    /// A side has no run.
    NothingToCompare,
    /// No event type is on both sides: those of the base, and those of the new profile.
    NoCommonEvent(Vec<String>, Vec<String>),
    /// No part of a run is selected.
    NothingSelected,
    /// A derived cost is larger than any number that costs are reckoned with.
    Overflow,
    /// Costs of so many event types and functions would take much more memory than the profiles.
    TooManyColumns,
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
            CompareError::NothingSelected => f.write_str("no part of a profile is selected"),
            CompareError::Overflow => f.write_str("a derived cost is too large to be reckoned with"),
            CompareError::TooManyColumns => {
                f.write_str("the profiles have too many event types for as many functions")
            }
        }
    }
}

impl std::error::Error for CompareError {}

/// An event type, recorded or derived: a column of all costs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComparedEvent {
    /// Its name.
    pub name: Vec<u8>,
    /// The how manieth of this name.
    pub repetition: usize,
    /// Whether the base has it.
    pub in_base: bool,
    /// Whether the new profile has it.
    pub in_new: bool,
    /// How it is derived, if it is.
    pub definition: Option<Definition>,
}

impl ComparedEvent {
    /// Whether both sides have it, so that it can be compared.
    pub fn is_common(&self) -> bool {
        self.in_base && self.in_new
    }
}

/// All calls from one function to another, on both sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ComparedArc {
    /// The function that calls.
    pub caller: JoinedId,
    /// The function that is called.
    pub callee: JoinedId,
    /// How often.
    pub count: Change,
}

/// On which sides a function is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// On both.
    Both,
    /// In the base only.
    Vanished,
    /// In the new profile only.
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

/// What a rule joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JoinedByRule {
    /// The rule.
    pub rule: JoinRule,
    /// How many functions took it.
    pub functions: usize,
    /// One of them.
    pub example: JoinedId,
}

/// Two sides compared. Functions are known by [`JoinedId`]s of the comparison's own.
#[derive(Debug)]
pub struct Comparison<'p> {
    runs: Vec<Run<'p>>,
    selection: Selection,
    identity: Identity<'p>,
    events: Vec<ComparedEvent>,
    derived: Vec<Derived>,
    faults: Vec<DerivationFault>,
    /// By run.
    graphs: Vec<CallGraph>,
    measured: Measured,
    is_sampled: bool,
    renames: Vec<(JoinedId, Resemblance)>,
}

impl<'p> Comparison<'p> {
    /// The event types: the columns of all costs. Recorded ones first, those of the base before others.
    pub fn events(&self) -> &[ComparedEvent] {
        &self.events
    }

    /// What is wrong with derived event types.
    pub fn faults(&self) -> &[DerivationFault] {
        &self.faults
    }

    /// Returns the runs of a side.
    pub fn runs(&self, side: Side) -> impl Iterator<Item = &'p Profile> {
        self.runs.iter().filter(move |run| run.side == side).map(|run| run.profile)
    }

    /// The parts that are looked at.
    pub fn selection(&self) -> &Selection {
        &self.selection
    }

    /// All functions of both sides, in the order in which the files mention them.
    pub fn functions(&self) -> impl ExactSizeIterator<Item = JoinedId> + use<> {
        (0..self.identity.functions.len()).map(JoinedId::new)
    }

    /// On which sides a function is.
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
            match self.presence(function) {
                Presence::Both => counts.both += 1,
                Presence::Vanished => counts.vanished += 1,
                Presence::New => counts.new += 1,
            }
        }
        counts
    }

    /// A function as the base mentions it.
    pub fn in_base(&self, function: JoinedId) -> Option<Mention<'p>> {
        self.identity.functions[function.index()].sides[0]
    }

    /// A function as the new profile mentions it.
    pub fn in_new(&self, function: JoinedId) -> Option<Mention<'p>> {
        self.identity.functions[function.index()].sides[1]
    }

    /// A function as the new profile mentions it, or else as the base does.
    pub fn mention(&self, function: JoinedId) -> Mention<'p> {
        #[expect(clippy::expect_used, reason = "a function comes from at least one side")]
        self.in_new(function).or(self.in_base(function)).expect("a side")
    }

    /// How many functions of the base, and of the new profile, are taken as this one.
    pub fn counts(&self, function: JoinedId) -> [u32; 2] {
        self.identity.functions[function.index()].counts
    }

    /// The rules that it took to join a function; none where both sides call it the same.
    pub fn joined_by(&self, function: JoinedId) -> JoinRules {
        self.identity.functions[function.index()].rules
    }

    /// Why a function is taken for renamed.
    pub fn renamed(&self, function: JoinedId) -> Option<&Resemblance> {
        let index = self.renames.binary_search_by_key(&function, |(function, _)| *function).ok()?;
        Some(&self.renames[index].1)
    }

    /// What each rule joined, for those that joined anything.
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

    /// The directories that both sides were built in, those that joined most paths first.
    pub fn checkouts(&self) -> &[Checkout] {
        &self.identity.paths.checkouts
    }

    /// The sum of all self costs.
    pub fn total(&self, column: usize) -> Change {
        self.measured.totals.get(0, column)
    }

    /// What a function cost by itself.
    pub fn self_cost(&self, function: JoinedId, column: usize) -> Change {
        self.measured.self_costs.get(function.index(), column)
    }

    /// What a function cost with all that it called, by the rule [`Inclusive::new`](crate::analysis::Inclusive::new).
    pub fn inclusive(&self, function: JoinedId, column: usize) -> Change {
        self.measured.inclusive.get(function.index(), column)
    }

    /// How often a function was called.
    pub fn calls(&self, function: JoinedId) -> Change {
        self.measured.calls.get(function.index(), 0)
    }

    /// By how much the changes of all functions miss that of the total: 0 unless a side has several runs, as medians do
    /// not add up.
    pub fn remainder(&self, column: usize) -> Cost {
        let sum: Cost = self.functions().map(|function| self.self_cost(function, column).delta()).sum();
        self.total(column).delta() - sum
    }

    /// Who calls whom, on both sides; sorted by caller, then callee.
    pub fn arcs(&self) -> &[ComparedArc] {
        &self.measured.arcs
    }

    /// The inclusive cost of an arc, by its place in [`Comparison::arcs`].
    pub fn arc_cost(&self, arc: usize, column: usize) -> Change {
        self.measured.arc_costs.get(arc, column)
    }

    /// The arcs from a function, as places in [`Comparison::arcs`].
    pub fn outgoing(&self, function: JoinedId) -> impl ExactSizeIterator<Item = usize> + Clone {
        self.measured.links.outgoing(function.node()).map(ArcId::index)
    }

    /// The arcs to a function, as places in [`Comparison::arcs`].
    pub fn incoming(&self, function: JoinedId) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.measured.links.incoming(function.node()).map(ArcId::index)
    }

    /// By what a recorded event type counts in a column: 1 in its own, and its factor where the column is derived.
    fn weight(&self, recorded: usize, column: usize) -> Cost {
        match column.checked_sub(self.recorded_columns().len()) {
            Some(derived) => {
                let factors = self.derived[derived].factors.iter();
                factors.filter(|(event, _)| *event == recorded).map(|(_, factor)| factor).sum()
            }
            None => Cost::from(recorded == column),
        }
    }

    /// Returns the columns that are recorded, not derived.
    fn recorded_columns(&self) -> std::ops::Range<usize> {
        0..self.events.len() - self.derived.len()
    }

    /// Whether anything is counted as calls.
    pub fn has_calls(&self) -> bool {
        !self.arcs().is_empty()
    }

    /// What groups of functions cost: self and inclusive costs and calls from outside. `group_of` tells the group of a
    /// function, and there are `groups` of them.
    pub fn grouped(&self, groups: usize, group_of: impl Fn(JoinedId) -> usize) -> ComparedGroups {
        let partition = Partition::new(groups, self.functions().map(group_of));
        let of_runs: Vec<GroupCosts> =
            self.graphs.iter().map(|graph| group_costs(graph, &partition)).collect();
        let is_upper_bound =
            (0..groups).map(|group| of_runs.iter().any(|costs| costs.is_upper_bound[group])).collect();
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
            is_upper_bound,
        }
    }
}

/// Costs of groups of functions, on both sides.
#[derive(Debug)]
pub struct ComparedGroups {
    self_costs: ChangeTable,
    inclusive: ChangeTable,
    calls: ChangeTable,
    is_upper_bound: Vec<bool>,
}

impl ComparedGroups {
    /// What a group cost by itself.
    pub fn self_cost(&self, group: usize, column: usize) -> Change {
        self.self_costs.get(group, column)
    }

    /// What it cost with all that it called.
    pub fn inclusive(&self, group: usize, column: usize) -> Change {
        self.inclusive.get(group, column)
    }

    /// How often it was called from outside.
    pub fn calls(&self, group: usize) -> Change {
        self.calls.get(group, 0)
    }

    /// Whether its inclusive costs may be less than is said.
    pub fn is_upper_bound(&self, group: usize) -> bool {
        self.is_upper_bound[group]
    }
}
