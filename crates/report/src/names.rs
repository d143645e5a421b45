//! The names of the rows of a table: safe to show, shortened by the rule of [`shorten`], and different from each other.
//!
//! Only rows that are shown are passed here: to shorten a name takes longer than to load it.

use std::borrow::Cow;
use std::collections::HashMap;

use gristmill_output::{Look, printable};
use gristmill_profile::symbol::{
    Fitted, Label, PlaceForm, fit_labels, fold_callers, own_name, shorten, shorten_paths,
};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

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
    left_out: &'r str,
    id: usize,
}

impl<'r> NameRow<'r> {
    /// A row about a function; rows of the same function have the same id.
    pub(crate) fn new(id: usize, name: &'r str, columns: usize) -> Self {
        NameRow::with_name(id, printable(name.as_bytes()), columns)
    }

    /// The same with a name of its own.
    pub(crate) fn of_owned(id: usize, name: String, columns: usize) -> Self {
        NameRow::with_name(id, printable_text(name.into()), columns)
    }

    fn with_name(id: usize, name: Cow<'r, str>, columns: usize) -> Self {
        NameRow {
            name,
            file: Cow::Borrowed(""),
            object: Cow::Borrowed(""),
            place: PlaceForm::None,
            columns,
            left_out: "",
            id,
        }
    }

    /// The same row with the end of the recorded name that its name leaves out, to show only beside an equal name and place.
    pub(crate) fn leaving_out(self, left_out: &'r str) -> Self {
        NameRow { left_out, ..self }
    }

    /// The text before the name of a member, in the row of a cycle: `cycle 1 of 2 functions: coarse …`.
    fn title(&self) -> Option<&str> {
        let is_cycle = self.name.starts_with("cycle ") && self.name.ends_with(END_OF_CYCLE);
        let (before, _) = self.name.split_once(" functions: ").filter(|_| is_cycle)?;
        self.name.get(..before.len() + " functions: ".len())
    }

    /// The title and the end, as far as there is space beside the function's own name: without it, `cycle 1: coarse …`, or only
    /// `cycle 1: coarse`.
    fn fitted_title(&self) -> Option<(String, &'static str)> {
        let title = self.title()?;
        let own = own_name(self.member()).split('<').next().unwrap_or_default();
        // What is before the own name is elided.
        let name = (own.width() + "…".width()).clamp(MIN_COLUMNS, MAX_OWN_COLUMNS);
        let whole = (title.to_owned(), END_OF_CYCLE);
        let fits = |title: &str| title.width() + END_OF_CYCLE.width() + name <= self.columns;
        let Some((short, _)) = title.split_once(" of ").filter(|_| !fits(title)) else { return Some(whole) };
        let short = format!("{short}: ");
        let end = if fits(&short) { END_OF_CYCLE } else { "" };
        Some((short, end))
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

    /// The same with texts that may be its own.
    pub(crate) fn at_lossy(self, file: Cow<'r, str>, object: Cow<'r, str>) -> Self {
        let [file, object] = [file, object].map(printable_text);
        NameRow { place: PlaceForm::Path, file, object, ..self }
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

/// Returns a text that is safe to show.
fn printable_text(text: Cow<'_, str>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => printable(text.as_bytes()),
        Cow::Owned(text) => match printable(text.as_bytes()) {
            Cow::Owned(safe) => Cow::Owned(safe),
            Cow::Borrowed(_) => Cow::Owned(text),
        },
    }
}

/// Shortens the names of the rows of one table.
pub(crate) fn fitted<'r>(rows: impl IntoIterator<Item = NameRow<'r>>) -> Vec<Fitted> {
    let rows: Vec<NameRow<'r>> = rows.into_iter().collect();
    let labels: Vec<Label<'_>> = rows
        .iter()
        .map(|row| {
            let taken = row.fitted_title().map_or(0, |(title, end)| title.width() + end.width());
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
                left_out: row.left_out,
                id: row.id,
            }
        })
        .collect();
    let mut fitted = fit_labels(&labels);
    clip(&mut fitted, &labels);
    for (fitted, row) in fitted.iter_mut().zip(&rows) {
        make_harmless(&mut fitted.name);
        if let Some((title, end)) = row.fitted_title() {
            fitted.name = format!("{title}{}{end}", fitted.name);
        }
    }
    fitted
}

/// The rows of a table in which functions occur many times, as in a tree.
///
/// Full names are the same wherever the function occurs, so there is one of each: a long name in all rows can take as much memory
/// as the square of a file's size.
#[derive(Default)]
pub(crate) struct RepeatedNames<'r> {
    rows: Vec<NameRow<'r>>,
    /// By occurrence: the index of its row.
    of_occurrence: Vec<usize>,
    /// By id of the function: the row of its full name.
    full: HashMap<usize, usize>,
}

impl<'r> RepeatedNames<'r> {
    /// Adds an occurrence of the function with an id, which has this many columns.
    pub(crate) fn push(&mut self, id: usize, columns: usize, row: impl FnOnce() -> NameRow<'r>) {
        let next = self.rows.len();
        let index = if columns == usize::MAX { *self.full.entry(id).or_insert(next) } else { next };
        if index == next {
            self.rows.push(row());
        }
        self.of_occurrence.push(index);
    }

    /// Shortens all.
    pub(crate) fn fitted(self) -> FittedNames {
        FittedNames { names: fitted(self.rows), of_occurrence: self.of_occurrence }
    }
}

/// The names of [`RepeatedNames`] as they are shown.
pub(crate) struct FittedNames {
    names: Vec<Fitted>,
    of_occurrence: Vec<usize>,
}

impl FittedNames {
    /// Returns the name of an occurrence.
    pub(crate) fn get(&self, occurrence: usize) -> &Fitted {
        &self.names[self.of_occurrence[occurrence]]
    }
}

/// The least columns of a name. Fewer say nothing.
const MIN_COLUMNS: usize = 8;
/// The columns of an own name for which the count of a cycle's functions gives way. Longer ones are cut.
const MAX_OWN_COLUMNS: usize = 32;
/// The least columns of a name in a sentence, which may have several lines.
const MIN_NAME_IN_SENTENCES: usize = 40;
/// The least columns of a file that tells names apart.
const MIN_PLACE_COLUMNS: usize = 5;

/// Cuts what is still too wide when all that may give way has given way, such as a long own name: in its middle, since the end has
/// the level of recursion and the mark of a clone. Names of different functions stay different.
fn clip(fitted: &mut [Fitted], labels: &[Label<'_>]) {
    let is_wide = |name: &Fitted, label: &Label<'_>| {
        label.columns != usize::MAX && name.to_string().width() > label.columns.max(MIN_COLUMNS)
    };
    let wide: Vec<usize> = (0..labels.len()).filter(|&nth| is_wide(&fitted[nth], &labels[nth])).collect();
    if wide.is_empty() {
        return;
    }
    let mut taken: HashMap<String, usize> =
        fitted.iter().zip(labels).map(|(name, label)| (name.to_string(), label.id)).collect();
    for nth in wide {
        let all = labels[nth].columns.max(MIN_COLUMNS);
        let Fitted { name, place } = &fitted[nth];
        let place = place.as_ref().map(|place| {
            // The name is worth more.
            let columns = all.saturating_sub(3 + name.width()).max(MIN_PLACE_COLUMNS);
            if place.width() > columns { cut(place, columns, columns * 2 / 3) } else { place.clone() }
        });
        let around = place.as_ref().map_or(0, |place| place.width() + 3);
        let columns = all.saturating_sub(around).max(MIN_COLUMNS);
        let free = |text: &Fitted| taken.get(&text.to_string()).is_none_or(|&id| id == labels[nth].id);
        // The more of the end, the less of the beginning; the first that nothing else has, and that has the own name.
        let callee = str::from_utf8(fold_callers(labels[nth].name.as_bytes())).unwrap_or(labels[nth].name);
        let own = own_name(callee);
        // Template arguments give way before.
        let own = own.split_once('<').map_or(own, |(plain, _)| plain);
        let own_start = name.rfind(own).filter(|_| !own.is_empty() && own.width() + 2 <= columns);
        let from_own = own_start.map(|start| name[start..].width()).filter(|&end| end < columns);
        let cuts = [columns / 3, columns / 2, columns * 2 / 3, columns - 1, 1].into_iter().chain(from_own);
        let cut_name = |end| if name.width() > columns { cut(name, columns, end) } else { name.clone() };
        let around_own = own_start.map(|start| {
            let end = columns.saturating_sub(own.width() + 2).min(name[start + own.len()..].width());
            format!("…{}", cut(&name[start..], columns - 1, end))
        });
        let mut texts =
            cuts.map(cut_name).chain(around_own).map(|name| Fitted { name, place: place.clone() });
        let has_own = |text: &Fitted| own_start.is_none() || text.name.contains(own);
        let Some(text) = texts.find(|text| free(text) && has_own(text)) else { continue };
        taken.insert(text.to_string(), labels[nth].id);
        fitted[nth] = text;
    }
}

/// Cuts a text in its middle, so that the last columns stay.
fn cut(text: &str, columns: usize, end: usize) -> String {
    let width_of = |c: char| c.width().unwrap_or(0);
    let mut tail = text.len();
    let mut used = 0;
    for (at, c) in text.char_indices().rev() {
        used += width_of(c);
        if used > end {
            break;
        }
        tail = at;
    }
    let (mut head, mut left) = (0, columns.saturating_sub(1 + text[tail..].width()));
    for (at, c) in text.char_indices() {
        match left.checked_sub(width_of(c)) {
            Some(rest) if at < tail => left = rest,
            _ => break,
        }
        head = at + c.len_utf8();
    }
    format!("{}…{}", &text[..head], &text[tail..])
}

/// Shortens paths to the last of their components that fit, and cuts those that still do not.
pub(crate) fn fitted_paths(paths: &[&str], columns: usize) -> Vec<String> {
    let mut fitted = shorten_paths(paths, columns);
    if columns != usize::MAX {
        let columns = columns.max(MIN_COLUMNS);
        for path in fitted.iter_mut().filter(|path| path.width() > columns) {
            *path = cut(path, columns, columns * 2 / 3);
        }
    }
    fitted
}

/// Returns the columns of a name in a sentence: half of a line, as a sentence may have two names, and other words.
pub(crate) fn name_in_sentences(look: &Look) -> usize {
    look.name_columns((look.width / 2).max(MIN_NAME_IN_SENTENCES))
}

/// Returns a name that stands alone, safe to show and shortened.
pub(crate) fn short(name: &str, columns: usize) -> String {
    let mut short = shorten(&printable(name.as_bytes()), columns).into_owned();
    if columns != usize::MAX && short.width() > columns.max(MIN_COLUMNS) {
        short = cut(&short, columns.max(MIN_COLUMNS), columns / 3);
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Before, a tree had the full name of a function in memory for each of its nodes.
    #[test]
    fn a_full_name_is_in_memory_once() {
        let long = "n".repeat(100);
        let mut made = 0;
        let mut occurrences = |columns| {
            let mut names = RepeatedNames::default();
            for id in [7, 8, 7, 7] {
                names.push(id, columns, || {
                    made += 1;
                    NameRow::new(id, if id == 7 { &long } else { "main" }, columns)
                });
            }
            let names = names.fitted();
            (0..4).map(|nth| names.get(nth).to_string()).collect::<Vec<_>>()
        };
        assert_eq!(occurrences(usize::MAX), [&long, "main", &long, &long]);
        let short = occurrences(20);
        assert_eq!(made, 2 + 4);
        assert_eq!((short[0].len() < 30, &short[1][..], &short[3]), (true, "main", &short[0]));
    }

    #[test]
    fn the_middle_gives_way_last() {
        assert_eq!(cut("intel_check_word.constprop.0", 20, 10), "intel_che…onstprop.0");
        assert_eq!(cut("日本語日本語", 7, 2), "日本…語");
        let rows = [(0, "a_long_function_of_one"), (1, "a_long_function_of_two"), (2, "short")];
        let fitted = fitted(rows.iter().map(|&(id, name)| NameRow::new(id, name, 12)));
        let names: Vec<String> = fitted.iter().map(ToString::to_string).collect();
        assert_eq!(names, ["a_long_…_one", "a_long_…_two", "short"]);
        // Names that differ only in their middle.
        let rows = [(0, "mill_of_the_first_stone_here"), (1, "mill_of_the_other_stone_here")];
        let fitted = super::fitted(rows.iter().map(|&(id, name)| NameRow::new(id, name, 16)));
        assert!(fitted[0].name != fitted[1].name && fitted.iter().all(|name| name.name.width() <= 16));
    }
}
