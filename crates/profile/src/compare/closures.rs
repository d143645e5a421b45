//! Closures: all those of a function have one name, so only their lines tell whether both sides have the same one.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

use gristmill_format::Cost;
use memchr::memmem;

use super::closure_name::{around_closure, base_name, is_closure};
use super::in_place::{InPlace, Place};
use super::lines::SourceLine;
use super::{Comparison, JoinedId, JoinedPathId, Presence};

/// The limit of closures whose lines are looked at.
const MAX_CLOSURES: usize = 500;

/// Values by name. Very many functions can have one very long name, which is looked at once.
struct ByName<T>(HashMap<[usize; 2], T>);

impl<T: Copy> ByName<T> {
    fn get(&mut self, name: &[u8], find: impl FnOnce(&[u8]) -> T) -> T {
        *self.0.entry([name.as_ptr().addr(), name.len()]).or_insert_with(|| find(name))
    }
}

/// The files of functions by their names.
type FilesOf = HashMap<String, BTreeSet<JoinedPathId>>;

/// A file in which a closure has lines on both sides.
#[derive(Debug, Clone, Copy)]
struct CommonFile {
    file: JoinedPathId,
    has_common_line: bool,
}

impl Comparison<'_> {
    /// Finds the closures whose cost changed and that are at other lines than before, while the functions around them, or all
    /// others, are not. Also returns those whose lines do not tell, or are not looked at: if there are many, those that changed least.
    pub(super) fn find_doubtful_closures(
        &self,
        in_place: &mut InPlace<'_, '_>,
    ) -> (Vec<JoinedId>, Vec<JoinedId>) {
        let is_joined = |function: &JoinedId| self.presence(*function) == Presence::Both;
        let mut known = ByName(HashMap::new());
        let is_closure = |function: &JoinedId| known.get(self.mention(*function).name, is_closure);
        let change = |function: JoinedId| -> Cost {
            let changes = self.recorded_columns().map(|column| self.self_cost(function, column));
            changes.map(|change| change.delta().saturating_abs()).fold(0, Cost::saturating_add)
        };
        let has_changed = |function: &JoinedId| {
            self.recorded_columns().any(|column| !self.self_cost(*function, column).is_none())
        };
        let closures = self.functions().filter(is_joined).filter(has_changed).filter(is_closure);
        let mut closures: Vec<JoinedId> = closures.collect();
        if closures.len() > MAX_CLOSURES {
            closures.sort_by_cached_key(|&closure| (Reverse(change(closure)), closure));
        }
        let mut unclear = closures.split_off(closures.len().min(MAX_CLOSURES));
        let is_unmoved = !closures.is_empty() && in_place.is_code_unmoved(&[]) == Some(true);
        let files_around = if is_unmoved { self.files_around(&closures) } else { FilesOf::new() };
        let mut others = Vec::new();
        for closure in closures {
            if in_place.compare(closure, closure) == Place::Other {
                others.push(closure);
            } else if is_unmoved {
                let common = common_files(&self.lines_of_first_runs(in_place, closure));
                let around = around_closure(&base_name(self.mention(closure).name)).to_owned();
                match self.have_other_lines(closure, &common, files_around.get(&around)) {
                    Some(true) => others.push(closure),
                    Some(false) => {}
                    None => unclear.push(closure),
                }
            }
        }
        others.sort_unstable();
        unclear.sort_unstable();
        (others, unclear)
    }

    /// Returns `true` if the closures of one name have lines in their own files, and none in common there. What was inlined has lines of
    /// other files, which can be others of the same closure. Their own files are those of the function around them, or else all except
    /// those of the compiler. `None` if these files disagree, or the one at the begin of the closures does with the others.
    fn have_other_lines(
        &self,
        closure: JoinedId,
        common: &[CommonFile],
        files_around: Option<&BTreeSet<JoinedPathId>>,
    ) -> Option<bool> {
        let among = |of: &[CommonFile], is_wanted: &dyn Fn(JoinedPathId) -> bool| -> Vec<CommonFile> {
            of.iter().copied().filter(|common| is_wanted(common.file)).collect()
        };
        let is_of_compiler = |file| self.path(file).into_iter().flatten().all(is_of_compiler);
        let sources = among(common, &|file| !is_of_compiler(file));
        let mut own = files_around.map_or(Vec::new(), |files| among(&sources, &|file| files.contains(&file)));
        if !own.is_empty() && own.iter().all(|file| file.has_common_line) {
            own.extend(among(&sources, &|file| file == self.file(closure)));
        }
        let telling = [&own[..], &sources, common].into_iter().find(|files| !files.is_empty())?;
        let have_other = !telling[0].has_common_line;
        telling.iter().all(|file| file.has_common_line != have_other).then_some(have_other)
    }

    /// Returns the files of the functions around closures, by the names of these functions.
    fn files_around(&self, closures: &[JoinedId]) -> FilesOf {
        let around = |&closure: &JoinedId| around_closure(&base_name(self.mention(closure).name)).to_owned();
        let names: BTreeSet<String> = closures.iter().map(around).collect();
        let names: Vec<String> = names.into_iter().collect();
        let mut files = vec![BTreeSet::new(); names.len()];
        let mut known = ByName(HashMap::new());
        for function in self.functions() {
            for mention in [self.in_base(function), self.in_new(function)].into_iter().flatten() {
                let place =
                    |name: &[u8]| names.binary_search_by(|known| (**known).cmp(&base_name(name))).ok();
                if let Some(place) = known.get(mention.name, place) {
                    files[place].insert(self.file(function));
                }
            }
        }
        names.into_iter().zip(files).collect()
    }
}

/// Returns the files that both sides have known lines in. Both are sorted.
fn common_files([a, b]: &[Vec<(SourceLine, Cost)>; 2]) -> Vec<CommonFile> {
    let has_common_line = |of_file: &[(SourceLine, Cost)]| {
        of_file.iter().any(|(line, _)| b.binary_search_by_key(line, |(other, _)| *other).is_ok())
    };
    let is_in_b = |file| {
        // Lines that are not known come first.
        let first = b.partition_point(|(line, _)| (line.file, line.line) <= (file, 0));
        b.get(first).is_some_and(|(line, _)| line.file == file)
    };
    let a: Vec<(SourceLine, Cost)> = a.iter().filter(|(line, _)| line.line > 0).copied().collect();
    a.chunk_by(|one, next| one.0.file == next.0.file)
        .filter(|of_file| is_in_b(of_file[0].0.file))
        .map(|of_file| CommonFile { file: of_file[0].0.file, has_common_line: has_common_line(of_file) })
        .collect()
}

/// `true` if a source file comes with a compiler.
fn is_of_compiler(path: &[u8]) -> bool {
    [&b"/rustc/"[..], b"/rustlib/", b"/usr/include/", b"/include/c++/"]
        .iter()
        .any(|part| memmem::find(path, part).is_some())
}
