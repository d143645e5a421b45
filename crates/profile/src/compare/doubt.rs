//! Doubts about joined functions: a profile cannot prove that functions of unlike names or places are one.

use std::collections::BTreeSet;

use gristmill_format::Cost;

use super::closure_name::{base_name, is_closure};
use super::in_place::InPlace;
use super::join_rule::JoinRule;
use super::lines::SourceLine;
use super::one_binary::file_name;
use super::raw::Mention;
use super::source_place::{SourcePlaces, is_compiled_alone, without_versions};
use super::{Comparison, JoinedId, JoinedPathId, Side};
use crate::symbol::Symbol;

/// The limit of functions whose lines are looked at.
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
    /// The lines, which do not tell whether closures of one name are one, or were not looked at: there are too many closures of which
    /// more changed.
    UnclearLines,
    /// The callers, which are others, and the name says too little where no file is known, or where it is that of a copy.
    Callers,
}

impl Comparison<'_> {
    /// Returns what may make a joined function two functions; `None` if there is no reason to doubt.
    pub fn doubt(&self, function: JoinedId) -> Option<JoinDoubt> {
        let (base, new) = self.in_base(function).zip(self.in_new(function))?;
        let rules = self.joined_by(function);
        let by_name = [JoinRule::Rename, JoinRule::GenericArguments, JoinRule::ClosureNumber];
        // Closures of one name and number, but not joined by that: each side has another count of them.
        let is_beside_more = rules.has(JoinRule::Rename)
            && is_closure(new.name)
            && base_name(base.name) == base_name(new.name);
        if !is_beside_more && base.name != new.name && by_name.into_iter().any(|rule| rules.has(rule))
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
        if is_beside_more || is_in(&self.unclear_closures) {
            return Some(JoinDoubt::UnclearLines);
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
        let (other_closures, unclear_closures) = self.find_doubtful_closures(&mut in_place);
        self.of_one_file = of_one_file;
        (self.other_closures, self.unclear_closures) = (other_closures, unclear_closures);
        self.of_other_callers = self.find_of_other_callers();
    }

    /// Returns the lines of a function in the first run of each side, sorted.
    pub(super) fn lines_of_first_runs(
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

    /// Returns `true` if the object of a function is the program that its side ran.
    fn is_program(&self, mention: Mention<'_>, side: Side) -> bool {
        self.programs[side.index()].contains(file_name(mention.object))
    }
}

/// `true` if two paths of sources differ in versions of their directories only.
fn is_other_version(a: &[u8], b: &[u8]) -> bool {
    file_name(a) == file_name(b) && without_versions(a) == without_versions(b)
}
