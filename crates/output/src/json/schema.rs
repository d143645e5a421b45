//! Schemas of documents, generated from their types.

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform as _};
use schemars::{JsonSchema, Schema};
use serde::Serialize;

/// A document with its version.
#[derive(Serialize, JsonSchema)]
pub(super) struct Document<T> {
    /// The version of this schema.
    #[schemars(range(min = 1, max = 1))]
    schema: u32,
    #[serde(flatten)]
    body: T,
}

impl<T> Document<T> {
    pub(super) fn new(body: T) -> Self {
        Document { schema: super::VERSION, body }
    }
}

/// Generates the schema of a document. Its objects have the members of the types and no others. See the example of
/// [this module](super).
pub fn schema<T: JsonSchema>(title: &str) -> Schema {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = generator.into_root_schema_for::<Document<T>>();
    let own = schemars::generate::SchemaGenerator::default().into_root_schema_for::<T>();
    let description = own.get("description").cloned().unwrap_or_default();
    schema.insert("title".to_owned(), title.into());
    schema.insert("description".to_owned(), description);
    RecursiveTransform(|schema: &mut Schema| {
        if schema.get("properties").is_some() && schema.get("additionalProperties").is_none() {
            schema.insert("additionalProperties".to_owned(), false.into());
        }
        // How wide an integer of ours is says nothing to others.
        if schema
            .get("format")
            .is_some_and(|format| format.as_str().is_some_and(|it| it.starts_with(['u', 'i'])))
        {
            schema.remove("format");
        }
        // Examples are for those who read the code.
        if let Some(description) = schema.get("description").and_then(|description| description.as_str()) {
            let description = without_example(description).to_owned();
            schema.insert("description".to_owned(), description.into());
        }
    })
    .transform(&mut schema);
    schema
}

/// Cuts the example, or the reference to one, from the end of a doc comment.
fn without_example(description: &str) -> &str {
    let end = ["```", "See the example of "].iter().filter_map(|start| description.find(start)).min();
    description[..end.unwrap_or(description.len())].trim_end()
}
