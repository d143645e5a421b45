//! What documents in SARIF 2.1.0 have in common: places, texts, URIs.

use std::fmt::Write as _;
use std::path::Path;

use serde::Serialize;

/// Where the format is described.
pub(crate) const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// The program, with the rules that it knows.
#[derive(Serialize)]
pub(crate) struct Driver<R> {
    name: &'static str,
    version: &'static str,
    rules: Vec<R>,
}

impl<R> Driver<R> {
    pub(crate) fn new(rules: impl Iterator<Item = R>) -> Self {
        Driver { name: "gristmill", version: env!("CARGO_PKG_VERSION"), rules: rules.collect() }
    }
}

/// How grave the findings of a rule are.
#[derive(Serialize)]
pub(crate) struct Configuration {
    pub(crate) level: &'static str,
}

#[derive(Serialize)]
pub(crate) struct Text<'t> {
    pub(crate) text: &'t str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Place<'f> {
    pub(crate) physical_location: PhysicalLocation<'f>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PhysicalLocation<'f> {
    pub(crate) artifact_location: Artifact<'f>,
    pub(crate) region: Region,
}

#[derive(Serialize)]
pub(crate) struct Artifact<'f> {
    pub(crate) uri: &'f str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Region {
    pub(crate) start_line: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) start_column: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) end_column: Option<u64>,
}

/// A reference relative to where the program was started, or a `file` URI.
pub(crate) fn uri(path: &Path) -> String {
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
