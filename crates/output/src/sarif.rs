//! The common types of documents in SARIF 2.1.0.

use std::fmt::Write as _;
use std::path::Path;

use serde::Serialize;

/// The address of the schema of SARIF.
pub const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// The program, with its rules. See the example of [`Location`].
#[derive(Debug, Serialize)]
pub struct Driver<R> {
    name: &'static str,
    version: &'static str,
    rules: Vec<R>,
}

impl<R> Driver<R> {
    /// This program with these rules.
    pub fn new(rules: impl Iterator<Item = R>) -> Self {
        Driver { name: "gristmill", version: env!("CARGO_PKG_VERSION"), rules: rules.collect() }
    }
}

/// The severity of the findings of a rule. See the example of [`Location`].
#[derive(Debug, Serialize)]
pub struct Configuration {
    /// The level: `error`, `warning` or `note`.
    pub level: &'static str,
}

/// A text. See the example of [`Location`].
#[derive(Debug, Clone, Serialize)]
pub struct Text<'t> {
    /// The text.
    pub text: &'t str,
}

/// A location in a file.
///
/// ```
/// use gristmill_output::sarif::{Artifact, Location, PhysicalLocation, Region, uri};
///
/// let uri = uri("a b.out".as_ref());
/// let region = Region { start_line: 12, start_column: None, end_column: None };
/// let location = Location {
///     physical_location: PhysicalLocation { artifact_location: Artifact { uri: &uri }, region },
/// };
/// assert_eq!(
///     serde_json::to_string(&location)?,
///     r#"{"physicalLocation":{"artifactLocation":{"uri":"a%20b.out"},"region":{"startLine":12}}}"#
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Location<'f> {
    /// The file and the region.
    pub physical_location: PhysicalLocation<'f>,
}

/// A file and a region of it. See the example of [`Location`].
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PhysicalLocation<'f> {
    /// The file.
    pub artifact_location: Artifact<'f>,
    /// The region.
    pub region: Region,
}

/// A file. See the example of [`Location`].
#[derive(Debug, Clone, Serialize)]
pub struct Artifact<'f> {
    /// Its URI.
    pub uri: &'f str,
}

/// A range of lines and columns. See the example of [`Location`].
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Region {
    /// The first line.
    pub start_line: u64,
    /// The first column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_column: Option<u64>,
    /// The column after the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_column: Option<u64>,
}

/// Turns a path into a relative reference, or into a `file` URI if it is absolute.
pub fn uri(path: &Path) -> String {
    let text = path.as_os_str().as_encoded_bytes();
    let mut uri = String::with_capacity(text.len() + 8);
    if path.is_absolute() {
        // A drive letter stands where Unix has the root.
        uri.push_str(if text.first() == Some(&b'/') { "file://" } else { "file:///" });
    }
    for &byte in text {
        match byte {
            b'\\' if cfg!(windows) => uri.push('/'),
            b'/' | b'-' | b'.' | b'_' | b'~' => uri.push(char::from(byte)),
            _ if byte.is_ascii_alphanumeric() => uri.push(char::from(byte)),
            // Writing to a String does not fail.
            _ => drop(write!(uri, "%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn uris() {
        for (path, expected) in [
            ("callgrind.out.1", "callgrind.out.1"),
            ("a b/50%:ö#?.out", "a%20b/50%25%3A%C3%B6%23%3F.out"),
            ("/tmp/x", "file:///tmp/x"),
            ("../x", "../x"),
            ("-", "-"),
        ] {
            assert_eq!(uri(Path::new(path)), expected);
        }
    }
}
