//! Queries for functions by name.

use std::cmp::Reverse;
use std::fmt;

use gristmill_output::printable;
use gristmill_profile::compare::{Comparison, JoinedId};
use regex::Regex;

use crate::diff::shown_name;
use crate::view::{Subject, SubjectId, View};

/// The reason why a query does not name one function. See the example of [`View::find_function`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FindError<I> {
    /// No function matches.
    NotFound {
        /// The query.
        query: String,
        /// The name most like it, if it was looked for.
        nearest: Option<String>,
    },
    /// Several functions match.
    Ambiguous {
        /// The query.
        query: String,
        /// The functions, the most expensive first.
        choices: Vec<Choice<I>>,
    },
}

/// One of several functions that match a query. See the example of [`View::find_function`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice<I> {
    /// The function.
    pub id: I,
    /// Its name.
    pub name: String,
    /// Its file, and its object where both are known: `file in object`.
    pub location: Vec<u8>,
}

/// The most choices that a message lists.
const MAX_CHOICES: usize = 10;

impl<I> fmt::Display for FindError<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (query, choices) = match self {
            FindError::NotFound { query, .. } => {
                return write!(f, "no function is called `{}`", printable(query.as_bytes()));
            }
            FindError::Ambiguous { query, choices } => (printable(query.as_bytes()), choices),
        };
        write!(f, "{} functions match `{query}`:", choices.len())?;
        for Choice { name, location, .. } in choices.iter().take(MAX_CHOICES) {
            write!(f, "\n    {}  {}", printable(name.as_bytes()), printable(location))?;
        }
        if choices.len() > MAX_CHOICES { f.write_str("\n    …") } else { Ok(()) }
    }
}

impl<I: fmt::Debug> std::error::Error for FindError<I> {}

impl View {
    /// Finds the one function that a query names.
    ///
    /// The query is, in this order: a name; `FILE:NAME`, where `FILE` is a file or object or the end of its path; a part of
    /// a name, whatever its case; a pattern.
    ///
    /// # Errors
    ///
    /// If no function matches, or several do.
    ///
    /// ```
    /// use gristmill_profile::Profile;
    /// use gristmill_report::{FindError, View, ViewOptions};
    ///
    /// let text = "events: Ir\nfl=a.c\nfn=read\n1 10\nfl=src/b.c\nfn=read\n1 20\nfn=write_all\n2 5\n";
    /// let view = View::new(Profile::from_bytes(text.as_bytes().to_vec()), &ViewOptions::default()).expect("costs in range");
    /// let name = |query| view.find_function(query).map(|id| view.subject(id).name());
    /// assert_eq!(name("Write").as_deref(), Ok("write_all"));
    /// assert_eq!(name("b.c:read").as_deref(), Ok("read"));
    /// let Err(FindError::Ambiguous { choices, .. }) = view.find_function("read") else { panic!("two of them") };
    /// assert_eq!(choices[0].location, b"src/b.c");
    /// let not_found = FindError::NotFound { query: "raed".to_owned(), nearest: Some("read".to_owned()) };
    /// assert_eq!(name("raed"), Err(not_found));
    /// ```
    pub fn find_function(&self, query: &str) -> Result<SubjectId, FindError<SubjectId>> {
        let all = || self.subjects();
        let by = |is_match: &dyn Fn(&str) -> bool| -> Vec<SubjectId> {
            all().filter(|(_, subject)| is_match(subject.name())).map(|(id, _)| id).collect()
        };
        let mut found = by(&|name| name == query);
        if found.is_empty() {
            found = all().filter(|(_, subject)| self.is_located(*subject, query)).map(|(id, _)| id).collect();
        }
        if found.is_empty() {
            found = matching(query, by);
        }
        found.sort_by_key(|&id| (Reverse(self.inclusive_cost(id)[0]), id));
        let nearest = || {
            let likeness = |(_, subject): (_, Subject<'_>)| strsim::jaro_winkler(subject.name(), query);
            let nearest = all().max_by(|&a, &b| {
                likeness(a).total_cmp(&likeness(b)).then_with(|| b.1.name().cmp(a.1.name()))
            });
            nearest.map(|(_, subject)| subject.name().to_owned())
        };
        one_of(query, &found, nearest, |id| {
            let subject = self.subject(id);
            let (file, object) = (self.profile().file(subject.file), self.profile().object(subject.object));
            let location = match (file, object) {
                (b"", object) => object.to_vec(),
                (file, b"") => file.to_vec(),
                (file, object) => [file, b" in ", object].concat(),
            };
            (subject.name().to_owned(), location)
        })
    }

    /// `true` if a query is the file or object of a subject, or the end of its path, and after a colon its name.
    fn is_located(&self, subject: Subject<'_>, query: &str) -> bool {
        let path = query.strip_suffix(subject.name()).and_then(|path| path.strip_suffix(':'));
        let Some(end) = path.filter(|path| !path.is_empty()) else { return false };
        let ends_with = |path: &[u8]| {
            let before = path.strip_suffix(end.as_bytes());
            before.is_some_and(|before| before.is_empty() || before.ends_with(b"/"))
        };
        ends_with(self.profile().file(subject.file)) || ends_with(self.profile().object(subject.object))
    }
}

/// Finds the one function of a comparison that a query names: by its name on either side, a part of it, or a pattern.
/// Several that match are ordered by the difference of their inclusive cost in a column.
///
/// # Errors
///
/// If no function matches, or several do. See the example of [`View::find_function`].
pub fn find_joined(
    comparison: &Comparison<'_>,
    query: &str,
    column: usize,
) -> Result<JoinedId, FindError<JoinedId>> {
    let names: Vec<(JoinedId, [Option<String>; 2])> = comparison
        .functions()
        .map(|function| {
            let sides = [comparison.in_base(function), comparison.in_new(function)];
            (function, sides.map(|mention| mention.map(shown_name)))
        })
        .collect();
    let mut found = matching(query, |is_match| {
        let named = names.iter().filter(|(_, names)| names.iter().flatten().any(|name| is_match(name)));
        named.map(|(function, _)| *function).collect()
    });
    found.sort_by_key(|&function| {
        let inclusive = comparison.inclusive(function, column);
        (Reverse((inclusive.delta().abs(), inclusive.new.median)), function)
    });
    one_of(
        query,
        &found,
        || None,
        |function| {
            let mention = comparison.mention(function);
            (shown_name(mention), mention.file.to_vec())
        },
    )
}

/// Finds what a query matches: names that are equal to it, or else names that contain it, or else names that it matches as a
/// pattern. `by` gives the functions whose names pass a test.
fn matching<I>(query: &str, by: impl Fn(&dyn Fn(&str) -> bool) -> Vec<I>) -> Vec<I> {
    let lower = query.to_lowercase();
    let mut found = by(&|name| name == query);
    if found.is_empty() {
        found = by(&|name| name.to_lowercase().contains(&lower));
    }
    if found.is_empty()
        && let Ok(pattern) = Regex::new(query)
    {
        found = by(&|name| pattern.is_match(name));
    }
    found
}

/// Returns the only function that was found. `named` gives name and location of each.
fn one_of<I: Copy>(
    query: &str,
    found: &[I],
    nearest: impl FnOnce() -> Option<String>,
    named: impl Fn(I) -> (String, Vec<u8>),
) -> Result<I, FindError<I>> {
    let query = query.to_owned();
    match found {
        [only] => Ok(*only),
        [] => Err(FindError::NotFound { query, nearest: nearest() }),
        several => {
            let choice = |&id: &I| {
                let (name, location) = named(id);
                Choice { id, name, location }
            };
            Err(FindError::Ambiguous { query, choices: several.iter().map(choice).collect() })
        }
    }
}
