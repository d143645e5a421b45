//! The rows of a difference.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Deref;
use std::sync::Arc;

use gristmill_output::json::{ByEvent, EventNames, ExactInteger, exact};
use gristmill_output::lossy;
use gristmill_profile::compare::{
    Cause, Comparison, Explanation, JoinedId, MoveKind, PathStep, PerCallProof, Presence, Resemblance,
};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};

use super::condition::doubted;
use super::sentences::{Sentence, sentence_of};
use super::wording::resemblance;
use super::{Delta, shown_name};

/// The limit of the callers of a row: those whose calls changed most.
const MAX_CALLERS: usize = 5;

/// A reference to a function: all rows that refer to it share its names. See the example of [`Diff`](super::Diff).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionRef(Arc<FunctionNames>);

/// A function that a row refers to. See the example of [`Diff`](super::Diff).
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "FunctionRef")]
pub struct FunctionNames {
    /// The function's id, the same in every report on these profiles.
    #[serde(serialize_with = "index")]
    #[schemars(with = "usize")]
    pub id: JoinedId,
    /// Its name, as the new profile has it, or else the base.
    pub name: String,
    /// Its source file.
    pub file: String,
    /// Its object.
    pub object: String,
}

impl Deref for FunctionRef {
    type Target = FunctionNames;

    fn deref(&self) -> &FunctionNames {
        &self.0
    }
}

impl Serialize for FunctionRef {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl JsonSchema for FunctionRef {
    fn schema_name() -> Cow<'static, str> {
        FunctionNames::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        FunctionNames::json_schema(generator)
    }
}

/// Makes references to the functions of a comparison. Its causes refer to each function many times.
pub(super) struct FunctionRefs<'c, 'p> {
    pub(super) comparison: &'c Comparison<'p>,
    known: RefCell<HashMap<JoinedId, FunctionRef>>,
}

impl<'c, 'p> FunctionRefs<'c, 'p> {
    pub(super) fn new(comparison: &'c Comparison<'p>) -> Self {
        FunctionRefs { comparison, known: RefCell::default() }
    }

    pub(super) fn get(&self, function: JoinedId) -> FunctionRef {
        let mut known = self.known.borrow_mut();
        let named = || {
            let mention = self.comparison.mention(function);
            let (file, object) = (lossy(mention.file), lossy(mention.object));
            FunctionRef(Arc::new(FunctionNames { id: function, name: shown_name(mention), file, object }))
        };
        known.entry(function).or_insert_with(named).clone()
    }
}

fn index<S: Serializer>(id: &JoinedId, serializer: S) -> Result<S::Ok, S::Error> {
    id.index().serialize(serializer)
}

pub(super) fn option_index<S: Serializer>(id: &Option<JoinedId>, serializer: S) -> Result<S::Ok, S::Error> {
    id.map(JoinedId::index).serialize(serializer)
}

/// The sides that a function is on.
#[derive(Serialize, JsonSchema)]
#[serde(remote = "Presence", rename_all = "lowercase")]
enum PresenceDocument {
    Both,
    Vanished,
    New,
}

/// A function or a group of functions on both sides. See the example of [`Diff`](super::Diff).
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DiffRow {
    /// The function's id, the same in every report on these profiles. Missing for a group.
    #[serde(serialize_with = "option_index", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<usize>")]
    pub id: Option<JoinedId>,
    /// Its name, as the new profile has it, or else the base.
    pub name: String,
    /// Its name in the base, if it is a different one.
    pub base_name: Option<String>,
    /// Its source file; empty for a group.
    pub file: String,
    /// Its object; empty for a group.
    pub object: String,
    /// The sides that it is on.
    #[serde(rename = "on", with = "PresenceDocument")]
    pub presence: Presence,
    /// Self cost by event type.
    #[serde(rename = "self")]
    pub self_costs: ByEvent<Delta>,
    /// Inclusive cost by event type.
    pub inclusive: ByEvent<Delta>,
    /// `true` if inclusive costs may be less, or also more if costs can be below 0: calls that leave a group and come back are counted each
    /// time. Missing if
    /// `false`.
    #[serde(rename = "inclusive_is_upper_bound", skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    pub is_upper_bound: bool,
    /// The count of calls of it.
    pub calls: Delta,
    /// The callers whose calls of it changed most, at most five.
    pub callers: Vec<CallerRow>,
    /// The join rules that made it one function; see `gristmill diff --list-rules`.
    pub joined_by: Vec<&'static str>,
    /// The reasons to consider it renamed, if it may be.
    pub renamed: Option<RenameRow>,
    /// The function of the base that it may not be.
    #[serde(skip)]
    pub(super) doubted: Option<String>,
}

impl DiffRow {
    /// A row of a function, without what only rows that are shown need; see [`DiffRow::complete`].
    pub(super) fn from_function(
        comparison: &Comparison<'_>,
        function: JoinedId,
        (names, columns): (&EventNames, &[usize]),
    ) -> Self {
        let mention = comparison.mention(function);
        let name = shown_name(mention);
        let base = comparison.in_base(function).filter(|base| base.name != mention.name);
        let deltas = |change: &dyn Fn(usize) -> gristmill_profile::compare::Change| {
            let deltas = columns.iter().map(|&column| Delta(change(column)));
            ByEvent::new(names, deltas.collect::<Vec<_>>())
        };
        DiffRow {
            id: Some(function),
            base_name: base.map(shown_name).filter(|base| *base != name),
            name,
            file: lossy(mention.file),
            object: lossy(mention.object),
            presence: comparison.presence(function),
            self_costs: deltas(&|column| comparison.self_cost(function, column)),
            inclusive: deltas(&|column| comparison.inclusive(function, column)),
            is_upper_bound: false,
            calls: Delta(comparison.calls(function)),
            callers: Vec::new(),
            joined_by: Vec::new(),
            renamed: None,
            doubted: None,
        }
    }

    /// Fills in callers, rules and reasons of a function.
    pub(super) fn complete(&mut self, refs: &FunctionRefs<'_, '_>) {
        let Some(function) = self.id else { return };
        let comparison = refs.comparison;
        let arcs = comparison.incoming(function).map(|arc| comparison.arc(arc));
        let mut arcs: Vec<_> = arcs.filter(|arc| !arc.count.is_none()).collect();
        arcs.sort_by_key(|arc| (std::cmp::Reverse(arc.count.delta().abs()), arc.caller));
        let callers = arcs.iter().take(MAX_CALLERS);
        self.callers = callers
            .map(|arc| CallerRow { function: refs.get(arc.caller), calls: Delta(arc.count) })
            .collect();
        self.joined_by = comparison.joined_by(function).iter().map(|rule| rule.name()).collect();
        self.renamed = comparison.renamed(function).map(|why| RenameRow::new(comparison, why));
        self.doubted = doubted(comparison, function);
    }
}

/// Calls from one caller. See the example of [`Diff`](super::Diff).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CallerRow {
    /// The caller.
    pub function: FunctionRef,
    /// The count of its calls.
    pub calls: Delta,
}

/// The reasons to consider a function renamed. See the example of [`Diff`](super::Diff).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RenameRow {
    /// `true` if both are in the same source file.
    pub same_file: bool,
    /// `true` if the names differ in their arguments only, or have long parts in common.
    pub similar_name: bool,
    /// The count of callers that both have.
    pub common_callers: usize,
    /// The count of callers of the one that has more.
    pub callers: usize,
    /// The reasons in words.
    #[serde(skip)]
    pub(super) text: String,
}

impl RenameRow {
    fn new(comparison: &Comparison<'_>, why: &Resemblance) -> Self {
        let Resemblance { same_file, similar_name, common_callers, callers, .. } = *why;
        RenameRow { same_file, similar_name, common_callers, callers, text: resemblance(comparison, why) }
    }
}

/// The kind of a cause. See the example of [`Diff`](super::Diff).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CauseKind {
    /// Cost moved from a function into its callers.
    Inlined,
    /// Cost moved from callers into a function.
    Outlined,
    /// A function is called more or less often.
    Calls,
    /// A call costs more or less; with a caller, its calls do.
    PerCall,
    /// The average cost of a call changed. Calls from each caller cost as before; the counts of calls changed. The caller is the
    /// one whose count changed the cost most.
    Counts,
    /// The average cost of a call changed, and the calls of the callers do not prove why.
    Average,
    /// Self cost changed, and neither calls nor the cost of a call explain it.
    SelfCost,
    /// A function is new.
    New,
    /// A function vanished.
    Vanished,
    /// A function is new or vanished, and its caller lost or gained about as much self cost.
    Split,
    /// Two functions swapped their costs; the other one is given as the caller.
    Swapped,
}

/// One cause of the change of the first event type. See the example of [`Diff`](super::Diff).
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CauseRow {
    /// Its kind.
    pub kind: CauseKind,
    /// The change of the total that it explains.
    #[serde(serialize_with = "exact")]
    #[schemars(with = "ExactInteger")]
    pub effect: i128,
    /// The self cost that it accounts for: its effect, or the cost that moved.
    #[serde(serialize_with = "exact")]
    #[schemars(with = "ExactInteger")]
    pub size: i128,
    /// `true` if all of it is within the spread of a side's runs.
    #[serde(rename = "noise")]
    pub is_noise: bool,
    /// The cause as a sentence.
    pub text: String,
    /// The function that it is about.
    pub function: FunctionRef,
    /// The caller that it comes from.
    pub caller: Option<FunctionRef>,
    /// The callers that a function was inlined into, or is no longer inlined into. Missing for other causes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub callers: Vec<FunctionRef>,
    /// The count of calls, if they are the cause.
    pub calls: Option<Delta>,
    /// The functions whose self cost it changed, the most first.
    pub functions: Vec<EffectRow>,
    /// The sentence with names that can be shortened.
    #[serde(skip)]
    pub(super) sentence: Sentence,
}

/// The part of an effect that one function has. See the example of [`Diff`](super::Diff).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EffectRow {
    /// The function.
    pub function: FunctionRef,
    /// The change of its self cost.
    #[serde(serialize_with = "exact")]
    #[schemars(with = "ExactInteger")]
    pub effect: i128,
}

impl CauseRow {
    pub(super) fn new(refs: &FunctionRefs<'_, '_>, explanation: &Explanation, column: usize) -> Self {
        let (kind, function, caller, calls) = match explanation.cause {
            Cause::Moved { kind: MoveKind::Inlined, function, .. } => {
                (CauseKind::Inlined, function, None, None)
            }
            Cause::Moved { kind: MoveKind::Outlined, function, .. } => {
                (CauseKind::Outlined, function, None, None)
            }
            Cause::Calls { caller, callee, count } => {
                (CauseKind::Calls, callee, Some(caller), count.map(Delta))
            }
            Cause::PerCall { function, proof } => match proof {
                PerCallProof::All { .. } => (CauseKind::PerCall, function, None, None),
                PerCallProof::From(from, _) => {
                    (CauseKind::PerCall, function, Some(from.caller), Some(Delta(from.calls)))
                }
                PerCallProof::Counts(from) => {
                    (CauseKind::Counts, function, Some(from.caller), Some(Delta(from.calls)))
                }
                PerCallProof::Average => (CauseKind::Average, function, None, None),
            },
            Cause::SelfCost { function } => (CauseKind::SelfCost, function, None, None),
            Cause::New { function, caller, .. } => (CauseKind::New, function, caller, None),
            Cause::Vanished { function, caller, .. } => (CauseKind::Vanished, function, caller, None),
            Cause::Split { function, caller, .. } => (CauseKind::Split, function, Some(caller), None),
            Cause::Swapped { function, other } => (CauseKind::Swapped, function, Some(other), None),
        };
        let sentence = sentence_of(refs.comparison, explanation, column);
        CauseRow {
            kind,
            effect: explanation.effect,
            size: explanation.size(),
            is_noise: explanation.is_noise,
            text: sentence.shortened(usize::MAX),
            function: refs.get(function),
            caller: caller.map(|caller| refs.get(caller)),
            callers: match &explanation.cause {
                Cause::Moved { callers, .. } => callers.iter().map(|&(caller, _)| refs.get(caller)).collect(),
                _ => Vec::new(),
            },
            calls,
            functions: explanation
                .functions
                .iter()
                .map(|&(function, effect)| EffectRow { function: refs.get(function), effect })
                .collect(),
            sentence,
        }
    }
}

/// Calls from one function to another, or from one line. See the example of [`Diff`](super::Diff).
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CallRow {
    /// The function at the other end.
    pub function: FunctionRef,
    /// The count of calls.
    pub calls: Delta,
    /// Inclusive cost by event type.
    pub inclusive: ByEvent<Delta>,
}

/// A source line on both sides. See the example of [`Diff`](super::Diff).
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LineRow {
    /// Its file, as the new profile has it, or else the base.
    pub file: Arc<str>,
    /// Its number in the base, 0 for an unknown line. `null` for an added line.
    pub base_line: Option<u64>,
    /// Its number in the new profile, 0 for an unknown line. `null` for a removed line.
    pub new_line: Option<u64>,
    /// Its text, if the source file was found.
    pub source: Option<String>,
    /// Self cost by event type.
    #[serde(rename = "self")]
    pub self_costs: ByEvent<Delta>,
    /// The calls that it makes.
    pub calls: Vec<CallRow>,
}

/// A step of the path with the greatest change. See the example of [`Diff`](super::Diff).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StepRow {
    /// The function.
    pub function: FunctionRef,
    /// The count of calls from the step before. Missing for the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(default)]
    pub calls: Option<Delta>,
    /// The inclusive cost of these calls; that of the function for the first step.
    pub inclusive: Delta,
    /// Another function, whose calls from the step before changed as much.
    #[serde(skip)]
    pub(super) tie: Option<FunctionRef>,
}

impl StepRow {
    /// Returns the functions that it names.
    pub(super) fn functions(&self) -> impl Iterator<Item = JoinedId> {
        [Some(self.function.id), self.tie.as_ref().map(|tie| tie.id)].into_iter().flatten()
    }

    pub(super) fn new(refs: &FunctionRefs<'_, '_>, step: PathStep) -> Self {
        StepRow {
            function: refs.get(step.function),
            calls: step.calls.map(Delta),
            inclusive: Delta(step.inclusive),
            tie: step.tie.map(|tie| refs.get(tie)),
        }
    }
}
