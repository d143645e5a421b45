//! Differences besides the program, which can make costs incomparable.

use std::collections::BTreeSet;

use gristmill_format::{Cost, PositionKind};

use super::join_rule::JoinRules;
use super::paths::normal_path;
use super::{Comparison, JoinedPathId, Mention, PresenceCounts, Side};
use crate::ordered::OrderedMap;
use crate::profile::Profile;

/// Something besides the program that differs between the sides.
///
/// See the example of [`Comparison`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unlike {
    /// The kind of the difference.
    pub kind: UnlikeKind,
    /// The values in the base: all different ones of its runs.
    pub base: Vec<String>,
    /// The values in the new profile.
    pub new: Vec<String>,
}

/// The kind of something that differs. See the example of [`Comparison`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum UnlikeKind {
    /// Event types that one side lacks.
    Events,
    /// The tool.
    Producer,
    /// The version of the tool.
    Version,
    /// The command that was measured.
    Command,
    /// A description, such as that of a cache.
    Description(String),
    /// The positions of costs: lines, instructions.
    Positions,
    /// Hardly any function is on both sides.
    Functions,
    /// Hardly any function of one side is on the other, which has no others: only a part of the program was recorded.
    Part,
    /// The functions of one side were separated by their callers; they are folded.
    SeparateCallers,
    /// The functions of an object, which is given, have names on one side only.
    Symbols(String),
}

/// The limit of directories that are removed from commands.
const MAX_VALUES: usize = 4;

impl Comparison<'_> {
    /// Returns `true` if calls of some run were sampled, not counted, so that costs per call are unknown.
    pub fn is_sampled(&self) -> bool {
        self.is_sampled
    }

    /// Lists what differs between the sides besides the program.
    pub fn environment(&self) -> Vec<Unlike> {
        let mut unlike = Vec::new();
        let mut compare = |kind: UnlikeKind, of: &dyn Fn(&Profile, Side) -> BTreeSet<String>| {
            let [base, new] = Side::ALL.map(|side| -> BTreeSet<String> {
                self.runs(side).flat_map(|profile| of(profile, side)).collect()
            });
            if base != new {
                let all = |answers: BTreeSet<String>| answers.into_iter().collect();
                unlike.push(Unlike { kind, base: all(base), new: all(new) });
            }
        };
        compare(UnlikeKind::Events, &|profile, _| {
            profile.events().map(|event| lossy(profile.event(event).name)).collect()
        });
        let producers = |profile: &Profile, _: Side| -> BTreeSet<String> {
            profile.producers().map(|kind| kind.as_str().to_owned()).collect()
        };
        compare(UnlikeKind::Producer, &producers);
        compare(UnlikeKind::Version, &|profile, _| {
            profile.selected(&self.selection).filter_map(|part| part.creator()).map(lossy).collect()
        });
        compare(UnlikeKind::Command, &|profile, side| {
            let commands = profile.selected(&self.selection).filter_map(|part| part.command());
            commands.map(|command| self.comparable_command(&lossy(command), side)).collect()
        });
        compare(UnlikeKind::Positions, &|profile, _| {
            let columns = profile.selected(&self.selection).map(|part| {
                let kinds = [PositionKind::Instr, PositionKind::Bb, PositionKind::Line];
                let has = kinds.into_iter().filter(|kind| part.columns().kinds().contains(kind));
                has.map(PositionKind::as_str).collect::<Vec<_>>().join(" ")
            });
            columns.collect()
        });
        for kind in self.description_kinds() {
            compare(UnlikeKind::Description(kind.clone()), &|profile, _| {
                let parts = profile.selected(&self.selection);
                let of_kind =
                    parts.flat_map(|part| part.descriptions()).filter(|(key, _)| lossy(key) == kind);
                of_kind.map(|(_, value)| lossy(value)).filter(|value| !value.is_empty()).collect()
            });
        }
        // With another tool, the version differs in any case.
        if unlike.iter().any(|unlike| unlike.kind == UnlikeKind::Producer) {
            unlike.retain(|unlike| unlike.kind != UnlikeKind::Version);
        }
        // A side that did not simulate a cache has no description of it, and lacks its event types.
        let has_events = unlike.iter().any(|unlike| unlike.kind == UnlikeKind::Events);
        unlike.retain(|unlike| {
            let is_cache = matches!(&unlike.kind, UnlikeKind::Description(kind) if kind.ends_with(" cache"));
            !(has_events && is_cache && (unlike.base.is_empty() || unlike.new.is_empty()))
        });
        if let Some(side) = self.identity.callers_only_in {
            let said = |this: Side| if this == side { vec!["separated".to_owned()] } else { Vec::new() };
            unlike.push(Unlike {
                kind: UnlikeKind::SeparateCallers,
                base: said(Side::Base),
                new: said(Side::New),
            });
        }
        unlike.extend(self.nameless_objects().iter().map(|&(object, side)| {
            let named = |this: Side| vec![if this == side { "no names" } else { "names" }.to_owned()];
            let object = self.path(object).into_iter().flatten().next_back().map(lossy).unwrap_or_default();
            Unlike { kind: UnlikeKind::Symbols(object), base: named(Side::Base), new: named(Side::New) }
        }));
        unlike.extend(self.unlike_functions());
        unlike
    }

    /// Lists the objects whose functions have names on one side only, each with the side that lacks them: a program was
    /// stripped. Their functions cannot be joined.
    pub fn nameless_objects(&self) -> &[(JoinedPathId, Side)] {
        &self.nameless_objects
    }

    pub(super) fn find_nameless_objects(&self) -> Vec<(JoinedPathId, Side)> {
        /// An object of fewer functions is ignored.
        const MIN_NAMED: u32 = 5;
        /// The same code costs about as much on both sides.
        const MAX_RATIO: Cost = 4;
        let is_nameless = |mention: Mention<'_>| mention.name.starts_with(b"0x") || mention.name == b"???";
        let mentions = |function| [self.in_base(function), self.in_new(function)];
        if !self.functions().any(|function| mentions(function).into_iter().flatten().any(is_nameless)) {
            return Vec::new();
        }
        // By object: for each side, the functions with and without a name, and the cost.
        let mut counts: OrderedMap<JoinedPathId, [[u32; 2]; 2]> = OrderedMap::default();
        let mut costs: OrderedMap<JoinedPathId, [Cost; 2]> = OrderedMap::default();
        let column = self.leading_event();
        for function in self.functions() {
            let own = self.self_cost(function, column);
            for (sum, sample) in costs.or_default(self.object(function)).iter_mut().zip([own.base, own.new]) {
                *sum += sample.median;
            }
            for (side, mention) in mentions(function).into_iter().enumerate() {
                let Some(mention) = mention else { continue };
                let of_object = counts.or_default(self.object(function));
                of_object[side][usize::from(is_nameless(mention))] += 1;
            }
        }
        let side_without = |[base, new]: [[u32; 2]; 2]| {
            let is_named = |[named, nameless]: [u32; 2]| named >= MIN_NAMED && named > nameless;
            let is_nameless = |[named, nameless]: [u32; 2]| nameless > 0 && named * 4 <= nameless;
            match () {
                () if is_named(base) && is_nameless(new) => Some(Side::New),
                () if is_named(new) && is_nameless(base) => Some(Side::Base),
                () => None,
            }
        };
        // Other functions of an object that ran need not have names, either.
        let is_alike = |object: JoinedPathId| {
            let [base, new] = costs[object];
            base > 0 && new > 0 && base.max(new) / base.min(new) < MAX_RATIO
        };
        counts
            .into_iter()
            .filter(|(object, _)| is_alike(*object))
            .filter_map(|(object, counts)| Some((object, side_without(counts)?)))
            .collect()
    }

    /// Returns the kinds of descriptions of both sides, up to a limit for each file.
    fn description_kinds(&self) -> BTreeSet<String> {
        const MAX_KINDS: usize = 64;
        let profiles = self.runs.iter().map(|run| run.profile);
        let parts = profiles.flat_map(|profile| profile.selected(&self.selection).next());
        let kinds = parts.flat_map(|part| part.descriptions().take(MAX_KINDS)).map(|(kind, _)| kind);
        kinds.map(lossy).collect()
    }

    /// Removes from a command what depends on a checkout or a build.
    fn comparable_command(&self, command: &str, side: Side) -> String {
        let mut command = command.to_owned();
        for checkout in self.checkouts().iter().take(MAX_VALUES) {
            let directory = match side {
                Side::Base => &checkout.base,
                Side::New => &checkout.new,
            };
            if let Ok(directory) = std::str::from_utf8(directory)
                && directory.len() > 1
            {
                command = command.replace(directory, "");
            }
        }
        let words = command.split(' ').enumerate().map(|(nth, word)| {
            let (word, _) = normal_path(word, JoinRules::all(), &[]);
            // The directory of the program does not matter.
            match nth {
                0 => word.rsplit_once('/').map_or(word.clone(), |(_, name)| name.to_owned()),
                _ => word,
            }
        });
        words.collect::<Vec<_>>().join(" ")
    }

    /// Finds out if the two sides are unrelated programs, or one was recorded only in part, which is hardly intended.
    fn unlike_functions(&self) -> Option<Unlike> {
        const ONE_IN: usize = 10;
        /// Programs have as many functions at least, with those that load and start them.
        const MIN_MISSING: usize = 50;
        let PresenceCounts { both, vanished, new } = self.presence_counts();
        let is_unlike = vanished.min(new) > 0 && both.saturating_mul(ONE_IN) < both + vanished.min(new);
        let (more, less) = (vanished.max(new), vanished.min(new));
        let is_part = more >= MIN_MISSING && both.saturating_add(less).saturating_mul(ONE_IN) < more;
        let kind = if is_part { UnlikeKind::Part } else { UnlikeKind::Functions };
        let said = |side: usize| vec![format!("{both} of {}", both + side)];
        (is_unlike || is_part).then(|| Unlike { kind, base: said(vanished), new: said(new) })
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes.trim_ascii()).into_owned()
}
