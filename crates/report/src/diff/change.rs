//! Changes as reports have them.

use std::borrow::Cow;
use std::ops::Deref;

use gristmill_output::json::ExactInteger;
use gristmill_profile::compare::{Change, Sample};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;

/// A number on both sides, as reports have it. It is used as a [`Change`].
///
/// ```
/// use gristmill_profile::compare::{Change, Sample};
/// use gristmill_report::diff::Delta;
///
/// let calls = Delta(Change { base: Sample::from_cost(3), new: Sample::from_cost(5) });
/// assert_eq!(calls.delta(), 2);
/// assert_eq!(serde_json::to_string(&calls)?, r#"{"base":3,"new":5,"change":2}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(into = "ChangeDocument")]
pub struct Delta(pub Change);

impl Deref for Delta {
    type Target = Change;

    fn deref(&self) -> &Change {
        &self.0
    }
}

impl JsonSchema for Delta {
    fn schema_name() -> Cow<'static, str> {
        "Change".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        ChangeDocument::json_schema(generator)
    }
}

/// A number on both sides; the median if a side has several runs.
#[derive(Serialize, JsonSchema)]
struct ChangeDocument {
    base: ExactInteger,
    new: ExactInteger,
    /// `new` less `base`.
    change: ExactInteger,
    /// The minimum and the maximum of the base's runs. Missing if no side has runs that differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    base_range: Option<[ExactInteger; 2]>,
    /// The same of the new side.
    #[serde(skip_serializing_if = "Option::is_none")]
    new_range: Option<[ExactInteger; 2]>,
    /// `true` if the ranges of both sides overlap. Missing if no side has runs that differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    noise: Option<bool>,
}

impl From<Delta> for ChangeDocument {
    fn from(Delta(change): Delta) -> Self {
        let has_spread = change.base.spread() > 0 || change.new.spread() > 0;
        let range = |sample: Sample| has_spread.then(|| [sample.min, sample.max].map(ExactInteger));
        ChangeDocument {
            base: ExactInteger(change.base.median),
            new: ExactInteger(change.new.median),
            change: ExactInteger(change.delta()),
            base_range: range(change.base),
            new_range: range(change.new),
            noise: has_spread.then(|| change.is_noise()),
        }
    }
}
