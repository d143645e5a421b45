//! The lines of a document: one for each of its members, and one for each object of its lists.

use std::io::{self, Write};

use serde_json::ser::Formatter;

/// Lists that begin deeper than this stay on the line of the object that they are in.
const MAX_DEPTH: usize = 3;

/// A formatter that breaks lines between members of the document and between objects of lists.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// The count of open objects and lists.
    depth: usize,
    /// `true` if the next value is an element of a list that can be broken.
    is_element: bool,
    /// `true` if the list that was begun last has lines.
    has_lines: bool,
}

impl Formatter for Lines {
    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        if std::mem::take(&mut self.is_element) {
            self.has_lines = true;
            out.write_all(b"\n")?;
        }
        self.depth += 1;
        out.write_all(b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.depth -= 1;
        out.write_all(b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        match (first, self.depth) {
            (true, _) => Ok(()),
            (false, 1) => out.write_all(b",\n"),
            (false, _) => out.write_all(b","),
        }
    }

    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.depth += 1;
        self.is_element = false;
        if self.depth <= MAX_DEPTH {
            self.has_lines = false;
        }
        out.write_all(b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.is_element = false;
        if self.depth <= MAX_DEPTH && std::mem::take(&mut self.has_lines) {
            out.write_all(b"\n")?;
        }
        self.depth -= 1;
        out.write_all(b"]")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.is_element = self.depth <= MAX_DEPTH;
        if first { Ok(()) } else { out.write_all(b",") }
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.is_element = false;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde::Serialize as _;
    use serde_json::json;

    use super::*;

    #[test]
    fn members_and_rows_have_lines() {
        let document = json!({
            "a": [1, 2],
            "b": [{ "x": [{ "y": 1 }, { "y": 2 }], "z": [1] }, { "x": [], "z": [] }],
            "c": { "rows": [{ "deep": [{ "x": 1 }] }], "all": 7 },
            "d": [],
        });
        let mut out = Vec::new();
        document.serialize(&mut serde_json::Serializer::with_formatter(&mut out, Lines::default())).unwrap();
        let expected = r#"{"a":[1,2],
"b":[
{"x":[{"y":1},{"y":2}],"z":[1]},
{"x":[],"z":[]}
],
"c":{"all":7,"rows":[
{"deep":[{"x":1}]}
]},
"d":[]}"#;
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
