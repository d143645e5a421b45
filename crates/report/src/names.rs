//! The names of the rows of a table: safe to show, shortened by the rule of [`shorten`], and different from each other.
//!
//! Only rows that are shown are passed here: to shorten a name takes longer than to load it.

use std::borrow::Cow;

use gristmill_output::printable;
use gristmill_profile::symbol::{Fitted, Label, PlaceForm, fit_labels, shorten};
use unicode_width::UnicodeWidthStr as _;

/// The columns of a name and its place in Markdown and HTML, where the whole name is beside the pointer.
pub(crate) const DOCUMENT_COLUMNS: usize = 72;
/// The limit of a whole name beside the pointer: hosts refuse comments of some ten thousand characters.
pub(crate) const WHOLE_COLUMNS: usize = 400;

/// The end of the row of a cycle, behind its first member.
const END_OF_CYCLE: &str = " …";

/// A row of a table, with the space for its name and place.
#[derive(Debug, Clone)]
pub(crate) struct NameRow<'r> {
    name: Cow<'r, str>,
    file: Cow<'r, str>,
    object: Cow<'r, str>,
    place: PlaceForm,
    columns: usize,
    hash: &'r str,
    id: usize,
}

impl<'r> NameRow<'r> {
    /// A row about a function; rows of the same function have the same id.
    pub(crate) fn new(id: usize, name: &'r str, columns: usize) -> Self {
        let name = printable(name.as_bytes());
        NameRow {
            name,
            file: Cow::Borrowed(""),
            object: Cow::Borrowed(""),
            place: PlaceForm::None,
            columns,
            hash: "",
            id,
        }
    }

    /// The same row with the hash of its function, to show only beside an equal name and place.
    pub(crate) fn hashed(self, hash: &'r str) -> Self {
        NameRow { hash, ..self }
    }

    /// The text before the name of a member, in the row of a cycle: `cycle 1 of 2 functions: coarse …`.
    fn title(&self) -> Option<&str> {
        let is_cycle = self.name.starts_with("cycle ") && self.name.ends_with(END_OF_CYCLE);
        let (before, _) = self.name.split_once(" functions: ").filter(|_| is_cycle)?;
        self.name.get(..before.len() + " functions: ".len())
    }

    /// The name that can be shortened.
    fn member(&self) -> &str {
        match self.title() {
            Some(title) => &self.name[title.len()..self.name.len() - END_OF_CYCLE.len()],
            None => &self.name,
        }
    }

    /// The same row with a source file and an object to show if they fit.
    pub(crate) fn at(self, file: &'r [u8], object: &'r [u8]) -> Self {
        NameRow { place: PlaceForm::Path, ..self.distinguished_by(file, object) }
    }

    /// The same row with the name of the source file to show if it fits.
    pub(crate) fn in_file(self, file: &'r [u8], object: &'r [u8]) -> Self {
        NameRow { place: PlaceForm::FileName, ..self.distinguished_by(file, object) }
    }

    /// The same row with a source file and an object to show only beside an equal name.
    pub(crate) fn distinguished_by(self, file: &'r [u8], object: &'r [u8]) -> Self {
        NameRow { file: printable(file), object: printable(object), ..self }
    }
}

/// Shortens the names of the rows of one table.
pub(crate) fn fitted<'r>(rows: impl IntoIterator<Item = NameRow<'r>>) -> Vec<Fitted> {
    let rows: Vec<NameRow<'r>> = rows.into_iter().collect();
    let labels: Vec<Label<'_>> = rows
        .iter()
        .map(|row| {
            let taken = row.title().map_or(0, |title| title.width() + END_OF_CYCLE.width());
            Label {
                name: row.member(),
                file: &row.file,
                object: &row.object,
                place: row.place,
                columns: if row.columns == usize::MAX {
                    row.columns
                } else {
                    row.columns.saturating_sub(taken)
                },
                hash: row.hash,
                id: row.id,
            }
        })
        .collect();
    let mut fitted = fit_labels(&labels);
    for (fitted, row) in fitted.iter_mut().zip(&rows) {
        make_harmless(&mut fitted.name);
        if let Some(title) = row.title() {
            fitted.name = format!("{title}{}{END_OF_CYCLE}", fitted.name);
        }
    }
    fitted
}

/// Returns a name that stands alone, safe to show and shortened.
pub(crate) fn short(name: &str, columns: usize) -> String {
    let mut short = shorten(&printable(name.as_bytes()), columns).into_owned();
    make_harmless(&mut short);
    short
}

/// Escapes what became a command for the log of a build, as it was behind a return type or arguments before.
fn make_harmless(name: &mut String) {
    if let Cow::Owned(harmless) = printable(name.as_bytes()) {
        *name = harmless;
    }
}

/// Returns the whole name as documents show it beside the pointer.
pub(crate) fn whole(name: &str) -> String {
    short(name, WHOLE_COLUMNS)
}
