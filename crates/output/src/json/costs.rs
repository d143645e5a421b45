//! Values by event type.

use std::borrow::Cow;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use gristmill_format::Cost;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

use super::ExactInteger;

/// The names of the event types of a document, which all of its costs share. See the example of [`Costs`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventNames(Arc<[Box<str>]>);

impl EventNames {
    /// The names in the order of the columns of costs. All are different: they become keys.
    pub fn new<N: Into<Box<str>>>(names: impl IntoIterator<Item = N>) -> Self {
        EventNames(names.into_iter().map(Into::into).collect())
    }

    /// Goes through the names.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        self.0.iter().map(|name| &**name)
    }
}

impl Serialize for EventNames {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl JsonSchema for EventNames {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "EventNames".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        <Vec<String>>::json_schema(generator)
    }
}

/// Values by event type. It is used as a slice, and serialises as an object.
///
/// ```
/// use gristmill_output::json::{ByEvent, EventNames};
///
/// let shares = ByEvent::new(&EventNames::new(["Ir", "Dr"]), ["70.5%", "3.0%"]);
/// assert_eq!(shares[1], "3.0%");
/// assert_eq!(serde_json::to_string(&shares)?, r#"{"Ir":"70.5%","Dr":"3.0%"}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ByEvent<T> {
    names: EventNames,
    values: Box<[T]>,
}

impl<T> ByEvent<T> {
    /// Values in the order of the names.
    pub fn new(names: &EventNames, values: impl Into<Box<[T]>>) -> Self {
        let values = values.into();
        debug_assert_eq!(names.0.len(), values.len(), "a value for each event type");
        ByEvent { names: names.clone(), values }
    }
}

impl<T> Deref for ByEvent<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.values
    }
}

impl<T> DerefMut for ByEvent<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.values
    }
}

impl<T: Serialize> Serialize for ByEvent<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.names.iter().zip(&*self.values))
    }
}

impl<T: JsonSchema> JsonSchema for ByEvent<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("{}ByEvent", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Values by the names of event types.",
            "type": "object",
            "additionalProperties": generator.subschema_for::<T>()
        })
    }
}

/// Costs by event type. They are used as a slice, and serialise as an object of exact integers.
///
/// ```
/// use gristmill_output::json::{Costs, EventNames};
///
/// let costs = Costs::new(&EventNames::new(["Ir", "Dr"]), [12, 1 << 60]);
/// assert_eq!(costs[0], 12);
/// assert_eq!(serde_json::to_string(&costs)?, r#"{"Ir":12,"Dr":"1152921504606846976"}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Costs {
    names: EventNames,
    costs: Box<[Cost]>,
}

impl Costs {
    /// Costs in the order of the names.
    pub fn new(names: &EventNames, costs: impl Into<Box<[Cost]>>) -> Self {
        let costs = costs.into();
        debug_assert_eq!(names.0.len(), costs.len(), "a cost for each event type");
        Costs { names: names.clone(), costs }
    }
}

impl Deref for Costs {
    type Target = [Cost];

    fn deref(&self) -> &[Cost] {
        &self.costs
    }
}

impl<'c> IntoIterator for &'c Costs {
    type Item = &'c Cost;
    type IntoIter = std::slice::Iter<'c, Cost>;

    fn into_iter(self) -> Self::IntoIter {
        self.costs.iter()
    }
}

impl Serialize for Costs {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.costs.len()))?;
        for (name, &cost) in self.names.iter().zip(&*self.costs) {
            map.serialize_entry(name, &ExactInteger(cost))?;
        }
        map.end()
    }
}

impl JsonSchema for Costs {
    fn schema_name() -> Cow<'static, str> {
        "Costs".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Costs by the names of event types.",
            "type": "object",
            "additionalProperties": generator.subschema_for::<ExactInteger>()
        })
    }
}
