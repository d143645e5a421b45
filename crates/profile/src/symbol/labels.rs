//! Labels: the names of the rows of one table, shortened so that no two of them read the same.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};

use gristmill_demangle::RUST_HASH_DIGITS;

use crate::symbol::demangle::COPY_SUFFIX;
use crate::symbol::places;
use crate::symbol::shorten::{Fitted, Revealed, ShortName};

/// The place beside a name. Where names are equal, rows have as much of it as makes them different. See the example of
/// [`fit_labels`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlaceForm {
    /// None.
    None,
    /// The name of the source file, if it fits.
    FileName,
    /// The path of the source file and the object, if there is space for them, or else the name of the file.
    Path,
}

/// A row of a table: the function or path that it is about, and the space for it. See the example of [`fit_labels`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label<'t> {
    /// The name, with recursion level and callers as the file has them.
    pub name: &'t str,
    /// The source file; empty or `???` if it is not known.
    pub file: &'t str,
    /// The program or library, likewise.
    pub object: &'t str,
    /// The place beside the name.
    pub place: PlaceForm,
    /// The columns of a terminal that name and place may take.
    pub columns: usize,
    /// The end of the recorded name that `name` leaves out, in which two functions of the same name and place differ; empty if
    /// there is none. See [`left_out`](crate::symbol::left_out).
    pub left_out: &'t str,
    /// The identity of the function. Rows of the same function may read the same.
    pub id: usize,
}

/// The columns from which on a place has directories and its object. On fewer, hardly any path fits.
const MIN_COLUMNS_FOR_PATHS: usize = 50;
/// The rounds in which rows that read the same are made longer. Each round shows at least one more difference.
const MAX_ROUNDS: usize = 8;

/// Shortens the names of one table as [`shorten`](crate::symbol::shorten) does.
///
/// Rows of different functions that would read the same are made longer until they differ: they show the template arguments
/// or namespaces in which they differ, and where the names are equal, their files or objects, or the first digits of their
/// hashes and of the suffixes of copies.
///
/// ```
/// use gristmill_profile::symbol::{Label, PlaceForm, fit_labels};
///
/// let label = |id, name| Label { name, file: "", object: "", place: PlaceForm::Path, columns: 20, left_out: "", id };
/// let rows = fit_labels(&[
///     label(0, "void mill::crush<std::vector<Stone, std::allocator<Stone> > >(int)"),
///     label(1, "void mill::crush<std::vector<Grain, std::allocator<Grain> > >(int)"),
///     label(2, "void mill::sieve<std::vector<Grain, std::allocator<Grain> > >(int)"),
/// ]);
/// let names: Vec<String> = rows.iter().map(ToString::to_string).collect();
/// assert_eq!(names, [
///     "…crush<std::vector<Stone, …> >",
///     "…crush<std::vector<Grain, …> >",
///     "mill::sieve<…>(…)",
/// ]);
/// ```
pub fn fit_labels(labels: &[Label<'_>]) -> Vec<Fitted> {
    // Most rows are alone with their text, and a table has millions.
    let mut states: HashMap<usize, State> = HashMap::new();
    let mut fitted: Vec<Fitted> = labels.iter().map(|label| State::default().fit(label)).collect();
    for round in 0..MAX_ROUNDS {
        let groups = alike(labels, &fitted);
        if groups.is_empty() {
            break;
        }
        for group in groups {
            if round + 1 == MAX_ROUNDS {
                group.iter().for_each(|&row| states.entry(row).or_default().is_full = true);
            } else {
                set_apart(&group, labels, &mut states);
            }
            for row in group {
                fitted[row] = states.entry(row).or_default().fit(&labels[row]);
            }
        }
    }
    fitted
}

/// The parts of a row that have to be shown so that it differs from others.
#[derive(Debug, Clone, Default)]
struct State {
    revealed: Vec<Revealed>,
    /// The index of the form of its place.
    fixed_place: Option<usize>,
    /// The parts that are shown of what its name leaves out.
    shown: Shown,
    /// `true` if the paths are shown as the profile has them.
    has_exact_place: bool,
    is_full: bool,
}

impl State {
    fn fit(&self, label: &Label<'_>) -> Fitted {
        let mark = self.shown.mark(label.left_out);
        if mark.is_empty() {
            return self.fit_without_mark(label);
        }
        let columns = match label.columns {
            usize::MAX => usize::MAX,
            columns => columns.saturating_sub(mark.len()),
        };
        let fitted = self.fit_without_mark(&Label { columns, ..label.clone() });
        Fitted { name: fitted.name + &mark, ..fitted }
    }

    fn fit_without_mark(&self, label: &Label<'_>) -> Fitted {
        let name = ShortName::new(label.name);
        let mut places = if label.place == PlaceForm::None && self.fixed_place.is_none() && !self.is_full {
            Vec::new()
        } else {
            self.places(label)
        };
        let has_paths = label.place == PlaceForm::Path && label.columns >= MIN_COLUMNS_FOR_PATHS;
        if self.fixed_place.is_none() && !self.is_full && !has_paths && places.len() > 1 {
            places.drain(..places.len() - 1);
        }
        if self.is_full || label.columns == usize::MAX {
            let at = self.fixed_place.filter(|_| label.place != PlaceForm::Path).unwrap_or(0);
            return Fitted { name: name.full(), place: places.get(at).cloned() };
        }
        name.fitted(label.columns, &self.revealed, &places, self.fixed_place)
    }

    /// Returns the forms of the place, the longest first.
    fn places(&self, label: &Label<'_>) -> Vec<String> {
        if !self.has_exact_place {
            return places(label.file, label.object);
        }
        let paths = [label.file, label.object].into_iter().filter(|path| !path.is_empty());
        let exact = paths.collect::<Vec<_>>().join(" in ");
        Vec::from_iter(Some(exact).filter(|exact| !exact.is_empty()))
    }
}

/// Returns the groups of rows that read the same and are about different functions, in the order of their first rows.
fn alike(labels: &[Label<'_>], fitted: &[Fitted]) -> Vec<Vec<usize>> {
    // A table has millions of rows, most of them alone with their text: hashes tell which may not be.
    let hasher = RandomState::new();
    let hash = |row: usize| hasher.hash_one((&fitted[row].name, &fitted[row].place));
    let mut hashes: Vec<(u64, usize)> = (0..fitted.len()).map(|row| (hash(row), row)).collect();
    hashes.sort_unstable();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for same in hashes.chunk_by(|a, b| a.0 == b.0).filter(|same| same.len() > 1) {
        let mut group_of: HashMap<&Fitted, usize> = HashMap::new();
        for &(_, row) in same {
            let group = *group_of.entry(&fitted[row]).or_insert_with(|| {
                groups.push(Vec::new());
                groups.len() - 1
            });
            groups[group].push(row);
        }
    }
    groups.retain(|group| group.iter().any(|&row| labels[row].id != labels[group[0]].id));
    groups.sort_unstable_by_key(|group| group[0]);
    groups
}

/// Reveals what is different in rows that read the same.
fn set_apart(group: &[usize], labels: &[Label<'_>], states: &mut HashMap<usize, State>) {
    let mut sorted = group.to_vec();
    sorted.sort_by(|&a, &b| {
        let key = |row: usize| {
            let Label { name, file, object, left_out, id, .. } = labels[row];
            (name, file, object, left_out, id)
        };
        key(a).cmp(&key(b))
    });
    let mut differences: HashMap<usize, Vec<Revealed>> = HashMap::new();
    for pair in sorted.windows(2) {
        let [a, b] = [pair[0], pair[1]];
        if labels[a].id == labels[b].id {
            continue;
        }
        let [name_a, name_b] = [a, b].map(|row| ShortName::new(labels[row].name));
        match name_a.difference(&name_b) {
            Some(difference) => {
                for row in [a, b] {
                    differences.entry(row).or_default().push(difference);
                }
            }
            None => match Shown::apart(&labels[a], &labels[b]) {
                Some(shown) => {
                    for row in [a, b] {
                        states.entry(row).or_default().shown.extend(shown);
                    }
                }
                None => reveal_places(a, b, labels, states),
            },
        }
    }
    for row in sorted {
        let Some(more) = differences.remove(&row) else { continue };
        let state = states.entry(row).or_default();
        // What is revealed already does not help: the rest of the name has to tell.
        state.is_full = more.iter().all(|difference| state.revealed.contains(difference));
        state.revealed.extend(more);
    }
}

/// The parts that a row shows of what its name leaves out: the first digits of the hash, and of the suffix of a copy.
#[derive(Debug, Clone, Copy, Default)]
struct Shown {
    hash_digits: usize,
    suffix_digits: usize,
}

impl Shown {
    /// Returns the digits in which functions of the same name and place differ. `None` if they differ in their places, or in
    /// nothing.
    fn apart(a: &Label<'_>, b: &Label<'_>) -> Option<Self> {
        /// Fewer digits would look like a number.
        const MIN_DIGITS: usize = 4;
        if (a.file, a.object) != (b.file, b.object) {
            return None;
        }
        let digits = |one: &str, other: &str| {
            let same = one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
            (one != other).then_some((same + 1).max(MIN_DIGITS))
        };
        let [(hash_a, suffix_a), (hash_b, suffix_b)] = [a, b].map(|label| hash_and_suffix(label.left_out));
        let by_hash = digits(hash_a, hash_b).map(|hash_digits| Shown { hash_digits, ..Shown::default() });
        let by_suffix = || Some(Shown { suffix_digits: digits(suffix_a, suffix_b)?, ..Shown::default() });
        by_hash.or_else(by_suffix)
    }

    fn extend(&mut self, more: Shown) {
        self.hash_digits = self.hash_digits.max(more.hash_digits);
        self.suffix_digits = self.suffix_digits.max(more.suffix_digits);
    }

    /// Returns the mark behind a name: ` [h0123]`, ` [.llvm.A883]`, or nothing.
    fn mark(self, left_out: &str) -> String {
        let (hash, suffix) = hash_and_suffix(left_out);
        let mut mark = String::new();
        if self.hash_digits > 0 && !hash.is_empty() {
            mark = format!("h{}", first(hash, self.hash_digits));
        }
        if self.suffix_digits > 0 && !suffix.is_empty() {
            mark = mark + COPY_SUFFIX + first(suffix, self.suffix_digits);
        }
        if mark.is_empty() { mark } else { format!(" [{mark}]") }
    }
}

/// `true` if a mark, without its brackets, is one that [`fit_labels`] puts behind a name that leaves out this text.
///
/// ```
/// use gristmill_profile::symbol::is_mark_of;
///
/// let left_out = "0123456789abcdefE.llvm.A8832F56";
/// assert!(["h0123", "h01234", "h0123.llvm.A883", ".llvm.A883"].iter().all(|mark| is_mark_of(mark, left_out)));
/// assert!(["", "0123", "h0124", ".llvm.A884", "h0123x"].iter().all(|mark| !is_mark_of(mark, left_out)));
/// ```
pub fn is_mark_of(mark: &str, left_out: &str) -> bool {
    let (hash, suffix) = hash_and_suffix(left_out);
    let (hash_mark, suffix_mark) = mark.split_once(COPY_SUFFIX).unwrap_or((mark, ""));
    let begins = |text: &str, part: &str| !part.is_empty() && text.starts_with(part);
    match (hash_mark.strip_prefix('h'), hash_mark) {
        (Some(digits), _) => begins(hash, digits) && (suffix_mark.is_empty() || begins(suffix, suffix_mark)),
        (None, "") => begins(suffix, suffix_mark),
        (None, _) => false,
    }
}

/// Returns the first characters of a text.
fn first(text: &str, count: usize) -> &str {
    text.char_indices().nth(count).map_or(text, |(at, _)| &text[..at])
}

/// Splits what a name leaves out into the digits of the hash and those of the suffix of a copy.
fn hash_and_suffix(left_out: &str) -> (&str, &str) {
    let (hash, suffix) = left_out.split_once(COPY_SUFFIX).unwrap_or((left_out, ""));
    (hash.get(..RUST_HASH_DIGITS).unwrap_or(hash), suffix)
}

/// Reveals the shortest forms of two places that differ, or else both paths as the profile has them.
fn reveal_places(a: usize, b: usize, labels: &[Label<'_>], states: &mut HashMap<usize, State>) {
    let places = [a, b].map(|row| states.entry(row).or_default().places(&labels[row]));
    // The forms from the shortest; the longest stands for those that are not there.
    let form =
        |side: usize, nth: usize| places[side].len().checked_sub(1).map(|last| last.saturating_sub(nth));
    let text = |side: usize, nth: usize| form(side, nth).map(|at| &places[side][at]);
    let most = places[0].len().max(places[1].len());
    let different = (0..most).find(|&nth| text(0, nth) != text(1, nth));
    for (side, row) in [a, b].into_iter().enumerate() {
        let state = states.entry(row).or_default();
        match different {
            Some(nth) => {
                state.fixed_place = state.fixed_place.into_iter().chain(form(side, nth)).min();
            }
            None => {
                state.has_exact_place = true;
                state.fixed_place = (!state.places(&labels[row]).is_empty()).then_some(0);
            }
        }
    }
}
