//! Integers that every reader of JSON gets exactly.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};

/// The greatest magnitude of an integer that a floating point number holds exactly, with all smaller ones.
const MAX_NUMBER: u64 = 1 << 53;

/// An integer as a number, or as a decimal string if its magnitude is above 2^53.
///
/// ```
/// use gristmill_output::json::ExactInteger;
///
/// assert_eq!(serde_json::to_string(&ExactInteger(-5))?, "-5");
/// assert_eq!(serde_json::to_string(&ExactInteger(1 << 60))?, "\"1152921504606846976\"");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ExactInteger(pub i128);

impl Serialize for ExactInteger {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match i64::try_from(self.0) {
            Ok(number) if number.unsigned_abs() <= MAX_NUMBER => serializer.serialize_i64(number),
            _ => serializer.collect_str(&self.0),
        }
    }
}

impl JsonSchema for ExactInteger {
    fn schema_name() -> Cow<'static, str> {
        "ExactInteger".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let limit = 1_i64 << 53;
        json_schema!({
            "description": "An integer: a number up to 2^53 in magnitude, a decimal string beyond.",
            "anyOf": [
                { "type": "integer", "minimum": -limit, "maximum": limit },
                { "type": "string", "pattern": "^-?[0-9]{16,}$" }
            ]
        })
    }
}

/// Serialises a field as an [`ExactInteger`].
///
/// ```
/// use gristmill_output::json::{self, ExactInteger};
///
/// #[derive(serde::Serialize, schemars::JsonSchema)]
/// struct Arc {
///     #[serde(serialize_with = "json::exact")]
///     #[schemars(with = "ExactInteger")]
///     calls: i128,
/// }
/// assert_eq!(serde_json::to_string(&Arc { calls: 1 << 60 })?, r#"{"calls":"1152921504606846976"}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// # Errors
///
/// Those of the serializer.
pub fn exact<T: Copy + Into<i128>, S: Serializer>(number: &T, serializer: S) -> Result<S::Ok, S::Error> {
    ExactInteger((*number).into()).serialize(serializer)
}

/// Serialises a field that can be missing as an [`ExactInteger`] or `null`. See the example of [`exact`].
///
/// # Errors
///
/// Those of the serializer.
pub fn exact_option<T: Copy + Into<i128>, S: Serializer>(
    number: &Option<T>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    number.map(|number| ExactInteger(number.into())).serialize(serializer)
}

/// Serialises a field of bytes as text. Bytes that are not UTF-8 become U+FFFD.
///
/// The row keeps the bytes, so that text for people can show them as escapes ([`printable`](crate::printable())).
///
/// ```
/// use gristmill_output::json;
///
/// #[derive(serde::Serialize)]
/// struct Row {
///     #[serde(serialize_with = "json::text")]
///     file: Vec<u8>,
/// }
/// assert_eq!(serde_json::to_string(&Row { file: b"jos\xe9.c".to_vec() })?, "{\"file\":\"jos\u{fffd}.c\"}");
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// # Errors
///
/// Those of the serializer.
pub fn text<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&String::from_utf8_lossy(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_integers_are_strings() {
        for (number, expected) in [
            (0, "0"),
            (MAX_NUMBER.into(), "9007199254740992"),
            (i128::from(MAX_NUMBER) + 1, "\"9007199254740993\""),
            (-i128::from(MAX_NUMBER), "-9007199254740992"),
            (-i128::from(MAX_NUMBER) - 1, "\"-9007199254740993\""),
            (i128::MIN, "\"-170141183460469231731687303715884105728\""),
        ] {
            assert_eq!(serde_json::to_string(&ExactInteger(number)).unwrap(), expected);
        }
    }
}
