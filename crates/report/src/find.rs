//! Queries for functions by name.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt;

use gristmill_format::FunctionName;
use gristmill_output::printable;
use gristmill_profile::compare::{Comparison, JoinedId, Mention};
use gristmill_profile::symbol::{Symbol, function_base, is_mark_of, matches_function, own_name};

use crate::diff::shown_name;
use crate::names::{NameRow, fitted};
use crate::pattern::{matches_name, pattern};
use crate::view::{SubjectId, View};

/// No function matches a query. See the example of [`View::find_function`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionNotFound {
    /// The query.
    pub query: String,
    /// The name most like it, if it was looked for.
    pub nearest: Option<String>,
}

impl fmt::Display for FunctionNotFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no function is called `{}`", printable(self.query.as_bytes()))
    }
}

impl std::error::Error for FunctionNotFound {}

/// The function that a query names, and others that match it as well. See the example of [`View::find_function`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundFunction<I> {
    /// The function: the most expensive one.
    pub function: Choice<I>,
    /// The others, the most expensive first. The levels of a recursion are not among them: its base stands for all.
    pub others: Vec<Choice<I>>,
}

/// A function that matches a query. See the example of [`View::find_function`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice<I> {
    /// The function.
    pub id: I,
    /// Its name.
    pub name: String,
    /// Its name as the files have it, mangled or not.
    pub recorded: Vec<u8>,
    /// Its source file; empty or `???` if it is not known.
    pub file: Vec<u8>,
    /// Its program or library, likewise.
    pub object: Vec<u8>,
}

/// A function that a query may mean.
struct Candidate<'c, I> {
    id: I,
    name: &'c str,
    recorded: &'c [u8],
    file: &'c [u8],
    object: &'c [u8],
}

impl View {
    /// Finds the function that a query names.
    ///
    /// The query is, in this order: a name, with or without the level of a recursion and recorded callers; the name as the files have it;
    /// `FILE:NAME`, where `FILE` is a file or object or the end of its path; the own name of a function without its scope; a part of a
    /// name, without its arguments if any function has it there; a [`pattern`](crate::pattern()). The last three match names
    /// without recorded callers, and in any case of letters, unless the query has a capital letter. Behind a name there can be the mark
    /// that tables have for one of several functions of that name, `swap [h8d5c]`. If several functions match, it is the one with the
    /// highest inclusive cost.
    ///
    /// # Errors
    ///
    /// If no function matches.
    ///
    /// ```
    /// use gristmill_profile::Profile;
    /// use gristmill_report::{FunctionNotFound, View, ViewOptions};
    ///
    /// let text = "events: Ir\nfl=a.c\nfn=read\n1 10\nfl=src/b.c\nfn=read\n1 20\nfn=Write_all\n2 5\n";
    /// let view = View::new(Profile::from_bytes(text.as_bytes().to_vec()), &ViewOptions::default()).expect("costs in range");
    /// let name = |query| view.find_function(query).map(|found| found.function.name);
    /// assert_eq!(name("write").as_deref(), Ok("Write_all"));
    /// assert_eq!(name("b.c:read").as_deref(), Ok("read"));
    /// let found = view.find_function("read").expect("two of them");
    /// assert_eq!((&found.function.file[..], &found.others[0].file[..]), (&b"src/b.c"[..], &b"a.c"[..]));
    /// let not_found = FunctionNotFound { query: "raed".to_owned(), nearest: Some("read".to_owned()) };
    /// assert_eq!(name("raed"), Err(not_found));
    /// ```
    pub fn find_function(&self, query: &str) -> Result<FoundFunction<SubjectId>, FunctionNotFound> {
        let profile = self.profile();
        let candidates = || {
            self.subjects().map(|(id, subject)| Candidate {
                id,
                name: subject.name(),
                recorded: subject.recorded(),
                file: profile.file(subject.file),
                object: profile.object(subject.object),
            })
        };
        let found = matching(query, candidates);
        match chosen(&found, |id| self.inclusive_cost(id)[0]) {
            Some(chosen) => Ok(chosen),
            None => Err(FunctionNotFound { query: query.to_owned(), nearest: self.nearest_name(query) }),
        }
    }

    /// Returns the name of the function that is most like a text, if one is so like it that it may be meant.
    pub fn nearest_name(&self, text: &str) -> Option<String> {
        nearest_name(self.subjects().map(|(_, subject)| subject.name()), text).map(str::to_owned)
    }
}

/// Returns the name that is most like a text, if it may be meant: at most a third of the text is mistyped. Case, the scope of
/// a name, its recursion level and its recorded callers do not count.
///
/// ```
/// let names = ["main", "mill::sort_grains'2", "swap"];
/// assert_eq!(gristmill_report::nearest_name(names, "sort_grain"), Some("mill::sort_grains'2"));
/// assert_eq!(gristmill_report::nearest_name(names, "nosuch"), None);
/// ```
pub fn nearest_name<'n>(names: impl IntoIterator<Item = &'n str>, text: &str) -> Option<&'n str> {
    let text = text.to_lowercase();
    let length = text.chars().count();
    // The distance takes time in proportion to the product of both lengths.
    if length > MAX_MISTYPED_CHARS {
        return None;
    }
    let limit = (length / 3).max(1);
    let distance = |part: &str| {
        let difference = part.chars().count().abs_diff(length);
        (difference <= limit).then(|| strsim::osa_distance(&part.to_lowercase(), &text))
    };
    let found = names.into_iter().filter_map(|name| {
        let base = function_base(name);
        let nearest = [name, base, own_name(base)].into_iter().filter_map(distance).min()?;
        // One letter is not like another.
        (nearest <= limit && nearest < length).then_some((nearest, name))
    });
    found.min().map(|(_, name)| name)
}

/// The longest text that names are compared with.
const MAX_MISTYPED_CHARS: usize = 200;

/// Finds the function of a comparison that a query names, by its name on either side, as [`View::find_function`] does. Of
/// several that match, it is the one whose inclusive cost in a column differs most.
///
/// # Errors
///
/// If no function matches.
pub fn find_joined(
    comparison: &Comparison<'_>,
    query: &str,
    column: usize,
) -> Result<FoundFunction<JoinedId>, FunctionNotFound> {
    let names: Vec<(JoinedId, String, Mention<'_>)> = comparison
        .functions()
        .flat_map(|function| {
            let sides = [comparison.in_new(function), comparison.in_base(function)];
            sides.into_iter().flatten().map(move |side| (function, shown_name(side), side))
        })
        .collect();
    let candidates = || {
        names.iter().map(|(id, name, side)| {
            let Mention { name: recorded, file, object, .. } = *side;
            Candidate { id: *id, name, recorded, file, object }
        })
    };
    let found = matching(query, candidates);
    let cost = |function| {
        let inclusive = comparison.inclusive(function, column);
        (inclusive.delta().abs(), inclusive.new.median)
    };
    chosen(&found, cost).ok_or_else(|| {
        let nearest = nearest_name(names.iter().map(|(_, name, ..)| name.as_str()), query);
        FunctionNotFound { query: query.to_owned(), nearest: nearest.map(str::to_owned) }
    })
}

/// Returns the functions that match in the best way that any function does.
fn matching<'c, I, C>(query: &str, candidates: impl Fn() -> C) -> Vec<Candidate<'c, I>>
where
    C: Iterator<Item = Candidate<'c, I>>,
{
    let found = matching_without_mark(query, &candidates);
    match query.strip_suffix(']').and_then(|query| query.rsplit_once(" [")) {
        Some((name, mark)) if found.is_empty() => {
            let mut found = matching_without_mark(name, &candidates);
            found.retain(|candidate| candidate.has_mark(mark));
            found
        }
        _ => found,
    }
}

/// The same for a query that has no mark behind it.
fn matching_without_mark<'c, I, C>(query: &str, candidates: &impl Fn() -> C) -> Vec<Candidate<'c, I>>
where
    C: Iterator<Item = Candidate<'c, I>>,
{
    let by = |is_match: &dyn Fn(&Candidate<'_, I>) -> bool| -> Vec<Candidate<'c, I>> {
        candidates().filter(|candidate| is_match(candidate)).collect()
    };
    // As reports show recorded callers.
    let name = query.replace(" ← ", "'");
    let mut found = by(&|candidate| candidate.name == name);
    if found.is_empty() {
        found = by(&|candidate| matches_function(candidate.name, query, |function| function == query));
    }
    if found.is_empty() {
        found = by(&|candidate| candidate.recorded == query.as_bytes());
    }
    if found.is_empty() && query.contains(':') {
        found = by(&|candidate| is_located(candidate, query));
    }
    if found.is_empty()
        && let Ok(part) = pattern(&regex::escape(query))
    {
        found = by(&|candidate| matches_function(candidate.name, query, |function| part.is_match(function)));
        let whole = |candidate: &Candidate<'_, I>| {
            let own = own_name(function_base(candidate.name));
            part.find(own).is_some_and(|part| part.len() == own.split('<').next().map_or(0, str::len))
        };
        if found.iter().any(whole) {
            found.retain(whole);
        }
        keep_without_arguments(&mut found, |name| part.is_match(name));
    }
    if found.is_empty()
        && let Ok(pattern) = pattern(query)
    {
        found = by(&|candidate| matches_name(&pattern, candidate.name));
        keep_without_arguments(&mut found, |name| pattern.is_match(name));
    }
    found
}

/// Keeps the functions whose names match without template arguments and parameters, if any does.
fn keep_without_arguments<I>(found: &mut Vec<Candidate<'_, I>>, is_match: impl Fn(&str) -> bool) {
    let is_it = |candidate: &Candidate<'_, I>| is_match(&without_arguments(function_base(candidate.name)));
    if found.len() > 1 && found.iter().any(is_it) {
        found.retain(is_it);
    }
}

/// Returns a name without what is in brackets. `<T as Trait>` at the start of a name is a part of it.
fn without_arguments(name: &str) -> String {
    let mut bare = String::with_capacity(name.len());
    // For each open bracket, `true` if it holds arguments; and the count of those.
    let mut open: Vec<bool> = Vec::new();
    let mut inside = 0usize;
    for (at, next) in name.char_indices() {
        match next {
            '<' | '(' => {
                let has_arguments = at > 0 && !name[..at].ends_with(['<', '(', ' ', '&']);
                inside += usize::from(has_arguments);
                open.push(has_arguments);
            }
            '>' if name[..at].ends_with('-') => {}
            '>' | ')' => inside -= usize::from(open.pop().unwrap_or(false)),
            next if inside == 0 => bare.push(next),
            _ => {}
        }
    }
    bare
}

/// `true` if a query is the file or object of a function, or the end of its path, and after a colon its name.
fn is_located<I>(candidate: &Candidate<'_, I>, query: &str) -> bool {
    let is_at = |name: &str| {
        let path = query.strip_suffix(name).and_then(|path| path.strip_suffix(':'));
        let Some(end) = path.filter(|path| !path.is_empty()) else { return false };
        let ends_with = |path: &[u8]| {
            let before = path.strip_suffix(end.as_bytes());
            before.is_some_and(|before| before.is_empty() || before.ends_with(b"/"))
        };
        ends_with(candidate.file) || ends_with(candidate.object)
    };
    is_at(candidate.name) || matches_function(candidate.name, query, is_at)
}

impl<I> Candidate<'_, I> {
    /// `true` if tables, or messages about several functions, put a mark behind the name.
    fn has_mark(&self, mark: &str) -> bool {
        self.recorded == mark.as_bytes() || is_mark_of(mark, Symbol::left_out_of(self.recorded))
    }
}

/// A name without the level of recursion: the function, its callers, source file and object.
type Base<'c> = (&'c str, &'c [u8], &'c [u8], &'c [u8]);

/// Returns a name without the level of recursion, and the level.
fn base_and_level<'c, I>(candidate: &Candidate<'c, I>) -> (Base<'c>, u32) {
    let level = FunctionName::parse(candidate.name.as_bytes()).recursion();
    let base = function_base(candidate.name);
    let level_bytes = match level {
        Some(_) => 1 + candidate.name[base.len() + 1..].bytes().take_while(u8::is_ascii_digit).count(),
        None => 0,
    };
    let callers = &candidate.name.as_bytes()[base.len() + level_bytes..];
    ((base, callers, candidate.file, candidate.object), level.unwrap_or(1))
}

/// Chooses the most expensive function; the base of a recursion stands for its levels. Functions of one name and level are several, such
/// as those of Rust whose hashes differ.
fn chosen<I: Copy + Ord, K: Ord>(
    found: &[Candidate<'_, I>],
    cost: impl Fn(I) -> K,
) -> Option<FoundFunction<I>> {
    let bases: Vec<(Base<'_>, u32)> = found.iter().map(base_and_level).collect();
    let mut lowest: HashMap<Base<'_>, u32> = HashMap::new();
    for &(base, level) in &bases {
        let lowest = lowest.entry(base).or_insert(level);
        *lowest = (*lowest).min(level);
    }
    let is_lowest = |(base, level): &(Base<'_>, u32)| lowest[base] == *level;
    let mut kept: Vec<usize> = (0..found.len()).filter(|&nth| is_lowest(&bases[nth])).collect();
    kept.sort_by_key(|&nth| (Reverse(cost(found[nth].id)), found[nth].id, nth));
    // A function of a comparison has a name on each side.
    kept.dedup_by_key(|nth| found[*nth].id);
    let choice = |nth: usize| {
        let Candidate { id, name, recorded, file, object } = found[nth];
        let [recorded, file, object] = [recorded, file, object].map(<[u8]>::to_vec);
        Choice { id, name: name.to_owned(), recorded, file, object }
    };
    let (&first, others) = kept.split_first()?;
    Some(FoundFunction { function: choice(first), others: others.iter().map(|&nth| choice(nth)).collect() })
}

/// The columns of a name and its file in a sentence.
const NAME_COLUMNS: usize = 60;
/// The most functions that a sentence names.
const MAX_OTHERS: usize = 3;
/// The longest name in a sentence as the files have it.
const MAX_RECORDED_BYTES: usize = 200;

impl<I> FoundFunction<I> {
    /// Returns a sentence about the other functions that match. `None` if there are none.
    pub fn remark(&self, query: &str) -> Option<String> {
        self.remark_on(query, "the most expensive one")
    }

    /// Returns the sentence with the reason for the choice among functions of a comparison. `None` if there are no others.
    pub fn remark_on_change(&self, query: &str) -> Option<String> {
        self.remark_on(query, "the one that changed most")
    }

    fn remark_on(&self, query: &str, choice: &str) -> Option<String> {
        if self.others.is_empty() {
            return None;
        }
        let choices = std::iter::once(&self.function).chain(self.others.iter().take(MAX_OTHERS));
        let rows = choices.clone().enumerate().map(|(nth, choice)| {
            NameRow::new(nth, &choice.name, NAME_COLUMNS)
                .in_file(&choice.file, &choice.object)
                .leaving_out(Symbol::left_out_of(&choice.recorded))
        });
        let has_twin = |choice: &Choice<I>| {
            let left_out = Symbol::left_out_of(&choice.recorded);
            let is_twin = |other: &Choice<I>| {
                other.name == choice.name
                    && other.file == choice.file
                    && other.object == choice.object
                    && Symbol::left_out_of(&other.recorded) == left_out
            };
            choices.clone().filter(|other| is_twin(other)).count() > 1
        };
        let mut others: Vec<String> = choices
            .clone()
            .zip(fitted(rows))
            // Names that differ only as the files have them, such as those of two constructors that a compiler makes of one.
            .map(|(choice, name)| match has_twin(choice) && choice.recorded.len() <= MAX_RECORDED_BYTES {
                true => format!("{name} [{}]", printable(&choice.recorded)),
                false => name.to_string(),
            })
            .collect();
        let first = others.remove(0);
        if self.others.len() > MAX_OTHERS {
            others.push(format!("and {} more", self.others.len() - MAX_OTHERS));
        }
        Some(format!(
            "{} functions match `{}`; this is {choice}: {}; the others: {}",
            self.others.len() + 1,
            printable(query.as_bytes()),
            first,
            others.join(", ")
        ))
    }
}
