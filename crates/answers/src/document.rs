//! JSON documents that reports write.

use std::io::{self, Write};

use serde_json::value::RawValue;

use crate::refusal::Refusal;

/// Takes the JSON document that a report writes.
pub(crate) fn document(
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<Box<RawValue>, Refusal> {
    let mut bytes = Vec::new();
    write(&mut bytes).map_err(|error| Refusal::Write(error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|error| Refusal::Write(error.to_string()))?;
    RawValue::from_string(text.trim_end().to_owned()).map_err(|error| Refusal::Write(error.to_string()))
}

/// Takes the JSON of a value.
pub(crate) fn value_document<T: serde::Serialize>(value: &T) -> Result<Box<RawValue>, Refusal> {
    serde_json::value::to_raw_value(value).map_err(|error| Refusal::Write(error.to_string()))
}
