//! A profile that was read and written again reads equal, and writing it once more gives the same bytes.
#![no_main]

use gristmill_format::{Line, NameKey, NameStyle, PositionStyle, Reader, Rewrite};
use libfuzzer_sys::fuzz_target;

/// The content of a file without its spelling: names by their text, no comments.
#[derive(PartialEq)]
enum Said<'a> {
    Name(u32, NameKey, Vec<u8>),
    Line(u32, Line<'a>),
}

/// The treatment of compound names.
#[derive(Clone, Copy, PartialEq)]
enum References {
    PutIn,
    /// One that refers to a number without a meaning is no such name, until another way of numbering gives it one.
    Left,
}

fn said(file: &[u8], references: References) -> Vec<Said<'_>> {
    let mut said = Vec::new();
    let mut reader = Reader::new(file);
    while let Some(item) = reader.next() {
        let Ok(record) = item else { continue };
        match record.line {
            Line::Comment(_) => {}
            Line::Name(key, name) => {
                let text = match (name.text, name.id) {
                    (Some(text), _) => (references == References::PutIn)
                        .then(|| reader.expand(key.space(), &name))
                        .flatten()
                        .unwrap_or_else(|| text.to_vec()),
                    (None, id) => format!("undefined {id:?}").into_bytes(),
                };
                said.push(Said::Name(record.part, key, text));
            }
            line => said.push(Said::Line(record.part, line)),
        }
    }
    said
}

fn records(file: &[u8]) -> Vec<(u32, Line<'_>)> {
    Reader::new(file).flatten().map(|record| (record.part, record.line)).collect()
}

fuzz_target!(|data: &[u8]| {
    let Ok(written) = Rewrite::default().run(data, Vec::new()) else { return };
    assert_eq!(records(data), records(&written));
    let again = Rewrite::default().run(&written, Vec::new()).expect("what was written can be written");
    assert_eq!(again, written);

    let plain = Rewrite { names: NameStyle::Plain, positions: PositionStyle::Absolute, ..Rewrite::default() };
    let compressed =
        Rewrite { names: NameStyle::Compressed, positions: PositionStyle::Compressed, ..Rewrite::default() };
    let Ok(plain) = plain.run(data, Vec::new()) else { return };
    let plainly = said(&plain, References::Left);
    assert!(said(data, References::PutIn) == plainly, "plain says something else");
    let compressed = compressed.run(&plain, Vec::new()).expect("what was written plain can be compressed");
    assert!(plainly == said(&compressed, References::Left), "compressed says something else");
});
