//! Doubts about joined functions: a profile cannot prove that functions of unlike names or places are one.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};

use gristmill_format::{Cost, FunctionName};

use super::in_place::{InPlace, Place};
use super::join_rule::JoinRule;
use super::lines::SourceLine;
use super::one_binary::file_name;
use super::raw::Mention;
use super::source_place::{SourcePlaces, is_compiled_alone, without_versions};
use super::{Comparison, JoinedId, JoinedPathId, Presence, Side};
use crate::symbol::Symbol;

/// The limit of functions, and of closures, whose lines are looked at.
const MAX_FUNCTIONS: usize = 500;

/// The difference between both sides of a joined function that may make it two functions.
///
/// ```
/// use gristmill_profile::Profile;
/// use gristmill_profile::compare::{CompareOptions, Comparison, JoinDoubt};
///
/// let base = Profile::from_bytes(b"events: Ir\nfl=a.c\nfn=step\n5 100\n");
/// let new = Profile::from_bytes(b"events: Ir\nfl=b.c\nfn=step\n5 130\n");
/// let comparison = Comparison::new(&[&base], &[&new], &CompareOptions::default())?;
/// let step = comparison.functions().next().unwrap();
/// assert_eq!(comparison.doubt(step), Some(JoinDoubt::File));
/// # Ok::<(), gristmill_profile::compare::CompareError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum JoinDoubt {
    /// The name: it was joined by resemblance, or as an instance or closure of one name.
    Name,
    /// The source file, and the name says too little: each file can have a static function of it.
    File,
    /// The object, which is neither the program nor of a similar name.
    Object,
    /// The lines: closures of one function have one name.
    Lines,
    /// The lines, which were not looked at: there are too many closures of which more changed.
    UnseenLines,
    /// The callers, which are others, and the name says too little where no file is known, or where it is that of a copy.
    Callers,
}

impl Comparison<'_> {
    /// Returns what may make a joined function two functions; `None` if there is no reason to doubt.
    pub fn doubt(&self, function: JoinedId) -> Option<JoinDoubt> {
        let (base, new) = self.in_base(function).zip(self.in_new(function))?;
        let rules = self.joined_by(function);
        let by_name = [JoinRule::Rename, JoinRule::GenericArguments, JoinRule::ClosureNumber];
        if base.name != new.name && by_name.into_iter().any(|rule| rules.has(rule))
            || self.identity.functions[function.index()].has_other_copies
        {
            return Some(JoinDoubt::Name);
        }
        if self.is_of_two_files(function) && self.of_one_file.binary_search(&function).is_err() {
            return Some(JoinDoubt::File);
        }
        if self.is_of_two_objects(function)
            && without_versions(file_name(base.object)) != without_versions(file_name(new.object))
        {
            return Some(JoinDoubt::Object);
        }
        let is_in = |functions: &[JoinedId]| functions.binary_search(&function).is_ok();
        if is_in(&self.other_closures) {
            return Some(JoinDoubt::Lines);
        }
        if is_in(&self.unseen_closures) {
            return Some(JoinDoubt::UnseenLines);
        }
        is_in(&self.of_other_callers).then_some(JoinDoubt::Callers)
    }

    /// `true` if a function was joined by a rule about places, or as renamed, which can be in another place.
    fn is_joined_over(&self, function: JoinedId, place: JoinRule) -> bool {
        [place, JoinRule::Rename].into_iter().any(|rule| self.joined_by(function).has(rule))
    }

    /// `true` if the sides have a function in two files, and its name may be that of two.
    fn is_of_two_files(&self, function: JoinedId) -> bool {
        let Some((base, new)) = self.in_base(function).zip(self.in_new(function)) else { return false };
        let is_moved = !self.joined_by(function).has(JoinRule::OtherFile)
            && self.identity.paths.is_moved(self.file(function));
        if base.file == new.file || !is_moved && !self.is_joined_over(function, JoinRule::OtherFile) {
            return false;
        }
        // The directories of two builds are no reason to doubt, unless the program stayed where it was.
        self.source_places.is_another(self.object(function), [base.file, new.file]).unwrap_or(!is_moved)
            && !is_other_version(base.file, new.file)
            && !self.is_only_one(function)
    }

    /// `true` if the sides have a function in objects of two names, other than the program.
    fn is_of_two_objects(&self, function: JoinedId) -> bool {
        let Some((base, new)) = self.in_base(function).zip(self.in_new(function)) else { return false };
        self.is_joined_over(function, JoinRule::OtherObject)
            && file_name(base.object) != file_name(new.object)
            && !(self.is_program(base, Side::Base) && self.is_program(new, Side::New))
    }

    /// `true` if a program has one function of this name only: it has a class or namespace, except for one without a name.
    pub(super) fn is_only_one(&self, function: JoinedId) -> bool {
        let symbol = Symbol::parse(self.mention(function).name);
        let shown = symbol.shown();
        symbol.scope().is_some()
            && !["(anonymous", "{anonymous", "_GLOBAL__N"].iter().any(|lone| shown.contains(lone))
            // Plugins can have one class each.
            && !self.is_of_two_objects(function)
    }

    /// Finds what [`doubt`](Self::doubt) needs the lines of functions for.
    pub(super) fn find_doubts(&mut self) {
        self.source_places = SourcePlaces::new(&self.identity);
        let mut in_place = InPlace::new(&self.runs, &self.identity, &self.selection);
        let of_one_file = self.find_of_one_file(&mut in_place);
        let (other_closures, unseen_closures) = self.find_other_closures(&mut in_place);
        self.of_one_file = of_one_file;
        (self.other_closures, self.unseen_closures) = (other_closures, unseen_closures);
        self.of_other_callers = self.find_of_other_callers();
    }

    /// Returns the lines of a function in the first run of each side, sorted.
    fn lines_of_first_runs(
        &self,
        in_place: &mut InPlace<'_, '_>,
        function: JoinedId,
    ) -> [Vec<(SourceLine, Cost)>; 2] {
        Side::ALL.map(|side| {
            let (run, members) = in_place.members(function, side);
            self.line_costs(run, members, 0)
        })
    }

    /// Finds functions in two files that have lines of one source on both sides: the file of a function is that of its first
    /// instruction, which can be of a header.
    fn find_of_one_file(&self, in_place: &mut InPlace<'_, '_>) -> Vec<JoinedId> {
        let has_one = |function: &JoinedId| {
            let object = self.object(*function);
            let is_source = |file: JoinedPathId| {
                let [base, new] = self.path(file);
                let is_another = || self.source_places.is_another(object, [base?, new?]);
                [base, new].into_iter().flatten().any(is_compiled_alone)
                    && (!self.identity.paths.is_moved(file) || is_another() != Some(true))
            };
            let [base, new] = self.lines_of_first_runs(in_place, *function).map(|lines| {
                let files = lines.into_iter().map(|(line, _)| line.file);
                files.filter(|&file| is_source(file)).collect::<BTreeSet<_>>()
            });
            !base.is_disjoint(&new)
        };
        let doubtful = self.functions().filter(|&function| self.is_of_two_files(function));
        doubtful.take(MAX_FUNCTIONS).filter(has_one).collect()
    }

    /// Finds the closures whose cost changed and that are at other lines than before, while the functions around them, or all
    /// others, are not. Also returns those whose lines are not looked at: if there are many, those that changed least.
    fn find_other_closures(&self, in_place: &mut InPlace<'_, '_>) -> (Vec<JoinedId>, Vec<JoinedId>) {
        let is_joined = |function: &JoinedId| self.presence(*function) == Presence::Both;
        let is_closure = |function: &JoinedId| is_closure(self.mention(*function).name);
        let change = |function: JoinedId| -> Cost {
            let changes = self.recorded_columns().map(|column| self.self_cost(function, column));
            changes.map(|change| change.delta().saturating_abs()).fold(0, Cost::saturating_add)
        };
        let has_changed = |function: &JoinedId| {
            self.recorded_columns().any(|column| !self.self_cost(*function, column).is_none())
        };
        let closures = self.functions().filter(is_joined).filter(is_closure).filter(has_changed);
        let mut closures: Vec<JoinedId> = closures.collect();
        if closures.is_empty() {
            return (closures, Vec::new());
        }
        if closures.len() > MAX_FUNCTIONS {
            closures.sort_by_cached_key(|&closure| (Reverse(change(closure)), closure));
        }
        let mut unseen = closures.split_off(closures.len().min(MAX_FUNCTIONS));
        let is_unmoved = in_place.is_code_unmoved(&[]) == Some(true);
        let files_around = self.files_around(&closures);
        let is_other = |closure: &JoinedId| {
            let is_of_file = |file: JoinedPathId| {
                let around = files_around.get(around_closure(self.mention(*closure).name));
                around.map(|around| self.path(file).iter().flatten().any(|path| around.contains(path)))
            };
            in_place.compare(*closure, *closure) == Place::Other
                || is_unmoved && have_other_lines(&self.lines_of_first_runs(in_place, *closure), is_of_file)
        };
        closures.retain(is_other);
        closures.sort_unstable();
        unseen.sort_unstable();
        (closures, unseen)
    }

    /// Returns the files of the functions around closures, by the names of these functions.
    fn files_around(&self, closures: &[JoinedId]) -> HashMap<&[u8], HashSet<&[u8]>> {
        let around: HashSet<&[u8]> =
            closures.iter().map(|&closure| around_closure(self.mention(closure).name)).collect();
        let mut files: HashMap<&[u8], HashSet<&[u8]>> = HashMap::new();
        for function in self.functions() {
            for mention in [self.in_base(function), self.in_new(function)].into_iter().flatten() {
                let name = FunctionName::parse(mention.name).base();
                if around.contains(name) {
                    files.entry(name).or_default().insert(mention.file);
                }
            }
        }
        files
    }

    /// Returns `true` if the object of a function is the program that its side ran.
    fn is_program(&self, mention: Mention<'_>, side: Side) -> bool {
        self.programs[side.index()].contains(file_name(mention.object))
    }
}

/// `true` if a name is that of a closure.
pub(crate) fn is_closure(name: &[u8]) -> bool {
    CLOSURES.iter().any(|mark| memchr::memmem::find(name, mark).is_some())
}

/// The starts of names of closures.
const CLOSURES: [&[u8]; 3] = [b"{closure", b"{{closure", b"{lambda"];

/// Returns the name of the function that a closure is in.
fn around_closure(name: &[u8]) -> &[u8] {
    let marks = CLOSURES.iter().filter_map(|mark| memchr::memmem::find(name, mark));
    let name = marks.min().map_or(name, |at| &name[..at]);
    name.strip_suffix(b"::").unwrap_or(name)
}

/// `true` if two closures have lines in the file of the function that they are in, and none in common there. What was inlined has lines of
/// other files, which can be others of the same closure. If that file is not known, there is none in common in any file. Both are sorted.
fn have_other_lines(
    [a, b]: &[Vec<(SourceLine, Cost)>; 2],
    is_of_file: impl Fn(JoinedPathId) -> Option<bool>,
) -> bool {
    let is_known = |(line, _): &&(SourceLine, Cost)| line.line > 0;
    let has_common = |of_file: &[(SourceLine, Cost)]| {
        of_file.iter().any(|(line, _)| b.binary_search_by_key(line, |(other, _)| *other).is_ok())
    };
    let is_in_b = |file| {
        // Lines that are not known come first.
        let first = b.partition_point(|(line, _)| (line.file, line.line) <= (file, 0));
        b.get(first).is_some_and(|(line, _)| line.file == file)
    };
    let a: Vec<(SourceLine, Cost)> = a.iter().filter(is_known).copied().collect();
    let mut common = a
        .chunk_by(|one, next| one.0.file == next.0.file)
        .filter(|of_file| is_of_file(of_file[0].0.file) != Some(false) && is_in_b(of_file[0].0.file))
        .peekable();
    common.peek().is_some() && common.all(|of_file| !has_common(of_file))
}

/// `true` if two paths of sources differ in versions of their directories only.
fn is_other_version(a: &[u8], b: &[u8]) -> bool {
    file_name(a) == file_name(b) && without_versions(a) == without_versions(b)
}
