//! Queries that name one function: the words that a person types for it.

use std::hint::black_box;
use std::ops::{Range, RangeInclusive};

use gristmill_format::FunctionName;
use gristmill_output::{lossy, printable};
use gristmill_profile::symbol::{Symbol, own_name};
use gristmill_profile::threads::both;
use gristmill_profile::{FileId, ObjectId, Profile};

use crate::path::{UNKNOWN, base};
use crate::view::{Subject, SubjectId, View};

/// The longest name in a command: a system takes no words of more than 128 KiB.
const MAX_NAME_BYTES: usize = 64 << 10;

/// Names up to this length are typed in full.
const MAX_SHORT_BYTES: usize = 30;
/// The longest text before or after a function's own name that a query has.
const MAX_AROUND_BYTES: usize = 50;
/// Functions whose names are prefetched together.
const PREFETCH_COUNT: usize = 64;
/// The names of a half that are demangled to compare them. It takes longer than to load their functions.
const MAX_DEMANGLED: usize = 2_000;

/// A query that names one function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Query {
    pub(super) text: String,
    /// `true` if it names one only where all levels of a recursion are one function.
    pub(super) folds_recursion: bool,
    /// The start of the name in the text: behind a file, if that is a part of it.
    name_start: usize,
}

impl Query {
    /// Returns the name, or the part of it, that the query has.
    pub(super) fn name(&self) -> &str {
        &self.text[self.name_start..]
    }
}

/// Finds queries for some functions. [`View::find_function`] finds the same functions by them.
///
/// All functions are looked at once, for all queries together: that takes longer than the rest of an overview. So each half of
/// the functions can have queries of its own, which are [joined](Queries::join) afterwards.
#[derive(Clone)]
pub(super) struct Queries<'v> {
    profile: &'v Profile,
    wanted: Vec<Wanted>,
    demangled: usize,
}

/// A function to name.
#[derive(Clone)]
struct Wanted {
    id: SubjectId,
    candidates: Vec<Candidate>,
    /// The lengths of names that are looked at. Most names have another one, which takes no time to see.
    lengths: RangeInclusive<usize>,
}

/// A query that may name other functions as well.
#[derive(Clone)]
struct Candidate {
    query: Query,
    kind: Kind,
    /// The functions that it names: none, one, or more.
    hits: u8,
}

#[derive(Clone)]
enum Kind {
    /// The name of the function.
    Name,
    /// The name of a function whose levels of recursion are folded, with its definition.
    Folded(FileId, ObjectId),
    /// The own name of the function, without scope and arguments: names that are only longer are not found then.
    Own(Pattern, Base),
    /// A part of the name.
    Part(Pattern, Base),
    /// File and name.
    Located { file: String, name: String },
}

/// The function that a query is about, without its level of recursion: its levels are found as one.
#[derive(Clone)]
struct Base {
    /// The name without level. `None` if there are recorded callers, with which it is another function.
    name: Option<Box<[u8]>>,
    file: FileId,
    object: ObjectId,
    is_found: bool,
}

impl Kind {
    /// Adds what the same query found among other functions. `true` if both found levels of the function itself.
    fn join(&mut self, other: &Kind) -> bool {
        match (self, other) {
            (Kind::Own(_, base) | Kind::Part(_, base), Kind::Own(_, other) | Kind::Part(_, other)) => {
                let is_found_by_both = base.is_found && other.is_found;
                base.is_found |= other.is_found;
                is_found_by_both
            }
            _ => false,
        }
    }
}

impl Base {
    /// `true` if a function is another one, or the first level of this one that is found.
    fn is_new(&mut self, name: &[u8], subject: Subject<'_>) -> bool {
        let parsed = FunctionName::parse(name);
        let is_same = self.name.as_deref() == Some(parsed.base())
            && parsed.callers().next().is_none()
            && (self.file, self.object) == (subject.file, subject.object);
        !is_same || !std::mem::replace(&mut self.is_found, true)
    }
}

impl<'v> Queries<'v> {
    /// Prepares the queries for some functions.
    pub(super) fn new(view: &'v View, ids: impl IntoIterator<Item = SubjectId>) -> Self {
        let mut wanted: Vec<Wanted> = Vec::new();
        for id in ids {
            if wanted.iter().all(|known| known.id != id) {
                let candidates = candidates(view, id);
                let lengths = || candidates.iter().map(Candidate::lengths);
                let start = lengths().map(|lengths| *lengths.start()).min().unwrap_or(usize::MAX);
                let end = lengths().map(|lengths| *lengths.end()).max().unwrap_or(0);
                wanted.push(Wanted { id, candidates, lengths: start..=end });
            }
        }
        Queries { profile: view.profile(), wanted, demangled: 0 }
    }

    /// `true` if the profile shows inlined functions.
    pub(super) fn has_inlined_calls(&self) -> bool {
        self.profile.has_inlined_calls()
    }

    /// Looks at all functions, on two cores if there are many.
    pub(super) fn visit_all(&mut self, view: &View) {
        let ids = view.subject_ids();
        let half = ids.len() / 2;
        let visited = |range: Range<usize>| {
            let mut queries = self.clone();
            queries.visit_each(view, view.subject_ids().skip(range.start).take(range.len()));
            queries
        };
        let (first, second) = both(ids.len(), || visited(0..half), || visited(half..ids.len()));
        *self = first;
        self.join(&second);
    }

    fn visit_each<'w>(&mut self, view: &'w View, mut ids: impl Iterator<Item = SubjectId>) {
        let mut batch: Vec<Subject<'w>> = Vec::with_capacity(PREFETCH_COUNT);
        loop {
            batch.clear();
            batch.extend(ids.by_ref().take(PREFETCH_COUNT).map(|id| view.subject(id)));
            if batch.is_empty() {
                return;
            }
            // Names lie all over the files. The processor waits for those of a batch together.
            let first_bytes = batch.iter().map(|subject| subject.recorded().first().unwrap_or(&0));
            black_box(first_bytes.fold(0, |all, byte| all ^ byte));
            batch.iter().for_each(|&subject| self.visit(subject));
        }
    }

    /// Looks at a function. Each has to be passed once.
    fn visit(&mut self, subject: Subject<'_>) {
        let recorded = subject.recorded();
        let is_mangled = is_mangled(recorded);
        for wanted in &mut self.wanted {
            if !is_mangled && !wanted.lengths.contains(&recorded.len()) {
                continue;
            }
            for candidate in wanted.candidates.iter_mut() {
                let lacks_own = match &candidate.kind {
                    Kind::Own(own, _) => !is_mangled && !own.is_in(recorded),
                    _ => false,
                };
                // What does not have the own name has nothing that contains it.
                if lacks_own {
                    break;
                }
                if candidate.hits >= 2 {
                    continue;
                }
                let is_hit = match is_mangled {
                    false => candidate.is_hit(recorded, subject, self.profile),
                    true if !candidate.may_be_in(recorded) => false,
                    true if self.demangled >= MAX_DEMANGLED => {
                        candidate.hits = 2;
                        continue;
                    }
                    true => {
                        self.demangled += 1;
                        candidate.is_hit(subject.name().as_bytes(), subject, self.profile)
                    }
                };
                candidate.hits += u8::from(is_hit);
            }
        }
    }

    /// Adds what a copy of these queries, made before any visit, found among functions that these did not visit.
    fn join(&mut self, other: &Self) {
        let others = other.wanted.iter().flat_map(|wanted| &wanted.candidates);
        for (candidate, other) in self.wanted.iter_mut().flat_map(|wanted| &mut wanted.candidates).zip(others)
        {
            let is_found_by_both = candidate.kind.join(&other.kind);
            candidate.hits = (candidate.hits + other.hits).saturating_sub(u8::from(is_found_by_both));
        }
    }

    /// Returns a query that names a function and no other: its name if that is short, or a part of it, or the whole, or its
    /// file and name. `None` if there is none, or if it cannot be typed.
    ///
    /// A level of a recursion is named by the function itself, with all of its levels as one.
    pub(super) fn query(&self, id: SubjectId) -> Option<&Query> {
        let wanted = self.wanted.iter().find(|wanted| wanted.id == id)?;
        wanted.candidates.iter().find(|candidate| candidate.hits == 1).map(|candidate| &candidate.query)
    }
}

/// Returns the queries that may name a function, the best first. After a part of a name, all contain that part.
fn candidates(view: &View, id: SubjectId) -> Vec<Candidate> {
    let subject = view.subject(id);
    let name = subject.name();
    // Names without bytes that are not shown as they are.
    let is_typed = |text: &str| printable(text.as_bytes()) == text && !text.contains('\u{fffd}');
    if name.is_empty() || name.len() > MAX_NAME_BYTES || name == UNKNOWN || !is_typed(name) {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut add = |text: &str, folds_recursion: bool, kind: Kind| {
        let name_start = match &kind {
            Kind::Located { file, .. } => file.len() + 1,
            _ => 0,
        };
        let query = Query { text: text.to_owned(), folds_recursion, name_start };
        found.push(Candidate { query, kind, hits: 0 });
    };
    if name.len() > MAX_SHORT_BYTES {
        // A part of a name is looked for in the function only, not in its recorded callers.
        let parsed = FunctionName::parse(name.as_bytes());
        let function = &name[..parsed.base().len()];
        let has_callers = parsed.callers().next().is_some();
        let base = || Base {
            name: (!has_callers).then(|| parsed.base().into()),
            file: subject.file,
            object: subject.object,
            is_found: false,
        };
        // A level is found as the base of its recursion.
        let folds = parsed.recursion().is_some();
        for (nth, part) in parts_of(function).into_iter().enumerate() {
            let pattern = Pattern::new(part);
            add(part, folds, if nth == 0 { Kind::Own(pattern, base()) } else { Kind::Part(pattern, base()) });
        }
    }
    let parts = FunctionName::parse(subject.recorded());
    if parts.recursion().is_some() && parts.callers().next().is_none() {
        let base = Symbol::parse(parts.base()).text().to_owned();
        add(&base, true, Kind::Folded(subject.file, subject.object));
    }
    add(name, false, Kind::Name);
    let path = lossy(view.profile().file(subject.file));
    for file in [base(&path), &path] {
        if !file.is_empty() && file != UNKNOWN && is_typed(file) {
            let kind = Kind::Located { file: file.to_owned(), name: name.to_owned() };
            add(&format!("{file}:{name}"), false, kind);
        }
    }
    found
}

/// Returns parts of a name that may be in no other one, the shortest first: its own name without template arguments, and longer
/// parts around that, up to all before the arguments.
fn parts_of(function: &str) -> Vec<&str> {
    let own = own_name(function);
    let own = own.split('<').next().unwrap_or(own);
    // A colon would end the name of a file.
    let is_part =
        |part: &str| part.len() > 2 && part.len() < function.len() && !part.replace("::", "").contains(':');
    // The own name is a part of the function's.
    let start = own.as_ptr() as usize - function.as_ptr() as usize;
    let end = start + own.len();
    if !is_part(own) {
        return Vec::new();
    }
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
    let bytes = function.as_bytes();
    let is_edge = |at: usize| at == 0 || at == bytes.len() || is_word(bytes[at - 1]) != is_word(bytes[at]);
    let before =
        (start.saturating_sub(MAX_AROUND_BYTES)..start).filter(|&at| is_edge(at) && is_word(bytes[at]));
    let after = (end + 1..=(end + MAX_AROUND_BYTES).min(bytes.len()))
        .filter(|&at| is_edge(at) && is_word(bytes[at - 1]));
    let mut longer: Vec<&str> = before.map(|at| &function[at..end]).collect();
    longer.extend(after.map(|at| &function[start..at]));
    longer.sort_by_key(|part| part.len());
    let whole = function.split('(').next().unwrap_or(function);
    if whole.contains(own) {
        longer.push(whole);
    }
    let mut parts = vec![own];
    parts.extend(longer.into_iter().filter(|part| is_part(part)));
    parts.dedup();
    parts
}

impl Candidate {
    /// The lengths of the names that may be found by the query.
    fn lengths(&self) -> RangeInclusive<usize> {
        let (length, end) = match &self.kind {
            Kind::Name | Kind::Folded(..) => (self.query.text.len(), None),
            Kind::Own(..) | Kind::Part(..) => (self.query.text.len(), Some(usize::MAX)),
            Kind::Located { name, .. } => (name.len(), None),
        };
        length..=end.unwrap_or(length)
    }

    /// `true` if a function with this name is found by the query.
    fn is_hit(&mut self, name: &[u8], subject: Subject<'_>, profile: &Profile) -> bool {
        match &mut self.kind {
            Kind::Name => name == self.query.text.as_bytes(),
            Kind::Folded(file, object) => {
                let is_same = name == self.query.text.as_bytes();
                if is_same && (subject.file, subject.object) != (*file, *object) {
                    self.hits = 2;
                }
                is_same && self.hits < 2
            }
            Kind::Own(pattern, base) => {
                pattern.is_in(name) && is_own(&self.query.text, name) && base.is_new(name, subject)
            }
            Kind::Part(pattern, base) => pattern.is_in(name) && base.is_new(name, subject),
            Kind::Located { file, name: wanted } => {
                let ends = |path: &[u8]| {
                    let before = path.strip_suffix(file.as_bytes());
                    before.is_some_and(|before| before.is_empty() || before.ends_with(b"/"))
                };
                name == wanted.as_bytes()
                    && (ends(profile.file(subject.file)) || ends(profile.object(subject.object)))
            }
        }
    }

    /// `true` if a mangled name may be one that the query finds: it has identifiers in full.
    fn may_be_in(&self, mangled: &[u8]) -> bool {
        let text = match &self.kind {
            Kind::Located { name, .. } => name,
            _ => &self.query.text,
        };
        let identifiers = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let longest = identifiers.max_by_key(|identifier| identifier.len()).unwrap_or("");
        memchr::memmem::find(mangled, longest.as_bytes()).is_some()
    }
}

/// `true` if a text is the own name of a function, without scope and arguments, whatever the case of its letters.
fn is_own(text: &str, name: &[u8]) -> bool {
    let name = String::from_utf8_lossy(FunctionName::parse(name).base());
    let own = own_name(&name);
    own.split('<').next().is_some_and(|own| own.eq_ignore_ascii_case(text))
}

/// `true` if a name may be shown demangled.
fn is_mangled(name: &[u8]) -> bool {
    match name {
        [b'_' | b'?' | b'$', ..] => {
            let name = &name[name.iter().take_while(|&&byte| byte == b'_').count()..];
            matches!(name.first(), Some(b'Z' | b'R' | b'D' | b'T' | b'?' | b'$'))
        }
        _ => false,
    }
}

/// A part of a name to look for, whatever the case of its letters.
#[derive(Clone)]
struct Pattern {
    text: Box<[u8]>,
    /// The offset of its rarest byte.
    rarest: usize,
}

impl Pattern {
    fn new(text: &str) -> Self {
        let text = text.as_bytes();
        // The bytes of names, the most frequent first.
        const FREQUENT: &[u8] = b"etaoinsrlc:_dupmfhg<> ,ybvw";
        let rank = |byte: u8| {
            let found = FREQUENT.iter().position(|&frequent| frequent == byte.to_ascii_lowercase());
            found.unwrap_or(FREQUENT.len())
        };
        let rarest = (0..text.len()).max_by_key(|&at| rank(text[at])).unwrap_or(0);
        Pattern { text: text.into(), rarest }
    }

    fn is_in(&self, name: &[u8]) -> bool {
        let Some(last) = name.len().checked_sub(self.text.len()) else { return false };
        let Some(&byte) = self.text.get(self.rarest) else { return true };
        // Its rarest byte is not at the edges.
        let inner = &name[self.rarest..=self.rarest + last];
        let mut starts = memchr::memchr2_iter(byte.to_ascii_lowercase(), byte.to_ascii_uppercase(), inner);
        starts.any(|start| name[start..start + self.text.len()].eq_ignore_ascii_case(&self.text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::ViewOptions;
    use gristmill_profile::Profile;

    #[test]
    fn parts_are_found_in_any_case() {
        let contains = |name: &str, part: &str| Pattern::new(part).is_in(name.as_bytes());
        assert!(contains("xReady", "read") && contains("a", "") && contains("ab", "B"));
        assert!(contains("re-read", "READ") && contains("zread", "zREAD"));
        assert!(!contains("rea", "read") && !contains("", "r"));
    }

    #[test]
    fn halves_together_find_what_one_visit_finds() {
        // The recursion has levels in both halves; `read` is found in the second only.
        let recursion = "app::visit(std::vector<int> const&, Visitor&)";
        let levels = |range: std::ops::Range<usize>| {
            range.map(|level| format!("fn={recursion}'{level}\n1 1\n")).collect::<String>()
        };
        let other = "fl=b.c\nfn=app::visitor_of_nothing(std::vector<int> const&)\n1 1\nfn=read\n1 1\n";
        let text =
            format!("events: Ir\nfl=a.c\nfn={recursion}\n1 5\n{}{other}{}", levels(2..9), levels(9..12));
        let view = View::new(Profile::from_bytes(text.into_bytes()), &ViewOptions::default()).unwrap();
        let mut together = Queries::new(&view, view.subject_ids());
        together.visit_each(&view, view.subject_ids());
        for split in 0..=view.subject_ids().len() {
            let new = || Queries::new(&view, view.subject_ids());
            let (mut first, mut second) = (new(), new());
            first.visit_each(&view, view.subject_ids().take(split));
            second.visit_each(&view, view.subject_ids().skip(split));
            first.join(&second);
            for id in view.subject_ids() {
                assert_eq!(first.query(id), together.query(id), "split at {split}: {:?}", view.subject(id));
            }
        }
        assert!(view.subject_ids().all(|id| together.query(id).is_some()));
    }

    #[test]
    fn each_query_names_its_function() {
        let long = "void app::process<std::vector<int> >(std::vector<int> const&, app::Options const&)";
        let template = "std::__normal_iterator<Rec*, std::vector<Rec, std::allocator<Rec> > >";
        let instances = [
            format!("{template} std::__merge<Rec*, {template}>(Rec*, Rec*, {template})"),
            format!("Rec* std::__merge<{template}, Rec*>({template}, {template}, Rec*)"),
            format!("void std::__merge_all<{template}>({template}, {template})"),
            format!("void std::__merge_all<{template}>({template}, {template})'2"),
        ];
        let instances: String = instances.iter().map(|name| format!("fn={name}\n1 1\n")).collect();
        let names = [
            "fl=a.c\nfn=read",
            "fl=b.c\nfn=read",
            "fn=write",
            "fn=write_all",
            "fn=\\x1b[2J",
            "fn=_ZN3app4moveEi",
            "fn=app::move(int)",
        ];
        let names = names.map(|name| format!("{name}\n1 1\n"));
        let text = format!("events: Ir\n{}fn={long}\n1 5\nfl=\nfn=read\n1 2\n{instances}", names.concat())
            .replace("\\x1b", "\x1b");
        let view = View::new(Profile::from_bytes(text.into_bytes()), &ViewOptions::default()).unwrap();
        let mut queries = Queries::new(&view, view.subject_ids());
        queries.visit_all(&view);
        let query = |id| queries.query(id).map(|query| query.text.clone());
        let all: Vec<Option<String>> = view.subject_ids().map(query).collect();
        for (id, query) in view.subject_ids().zip(&all) {
            // A level is found with all levels as one.
            if queries.query(id).is_some_and(|query| query.folds_recursion) {
                assert_eq!(query.as_deref(), Some("__merge_all"));
                continue;
            }
            let found = query.as_ref().map(|query| view.find_function(query).map(|found| found.function.id));
            assert!(found.is_none_or(|found| found == Ok(id)), "{query:?}");
        }
        let shown: Vec<&str> = all.iter().map(|query| query.as_deref().unwrap_or("-")).collect();
        assert!(shown.contains(&"a.c:read") && shown.contains(&"write") && shown.contains(&"-"), "{shown:?}");
        assert!(shown.contains(&"process"), "{shown:?}");
        for short in ["__merge<Rec", "__merge<std", "__merge_all"] {
            assert!(shown.contains(&short), "{short}: {shown:?}");
        }
    }
}
