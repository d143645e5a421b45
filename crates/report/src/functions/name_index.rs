//! The names of all functions as one text, and their order.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::OnceLock;

use gristmill_profile::symbol::Symbol;
use gristmill_profile::threads::{cores, map_on_threads};

use super::texts::Texts;
use crate::view::{SubjectId, View};

/// The names of all functions of a view as one text, and their order, which takes as long to make as to sort all functions. Then a
/// [`FunctionList`](super::FunctionList) needs only the names that it shows. Views with the same folding have the same.
///
/// ```
/// use gristmill_profile::Profile;
/// use gristmill_report::{NameIndex, View, ViewOptions};
///
/// let text = b"events: Ir\nfn=work\n1 10\nfn=main\n1 32\n";
/// let view = View::new(Profile::from_bytes(text.to_vec()), &ViewOptions::default())?;
/// let names = NameIndex::new(&view).expect("two short names");
/// let main = view.subject_ids().last().expect("two functions");
/// assert_eq!((names.name(main), names.ranks(&view)[main.index()]), ("main", 0));
/// # Ok::<(), gristmill_report::ViewError>(())
/// ```
#[derive(Debug)]
pub struct NameIndex {
    /// By function.
    names: Texts,
    has_apostrophes: bool,
    /// By function: its place in the order of names, files and objects, from 0. It is made when a list is in that order.
    ranks: OnceLock<Vec<u32>>,
}

/// Bytes of names that fit always.
const CONSTANT: usize = 16 << 20;

/// Rows that are worth a thread.
const MIN_RANGE: usize = 4096;

/// Divides functions, or other rows, among all cores.
pub(super) fn ranges(count: usize) -> Vec<Range<usize>> {
    let each = count.div_ceil(cores()).max(MIN_RANGE);
    (0..count).step_by(each).map(|start| start..(start + each).min(count)).collect()
}

/// `true` if a name surely has neither callers nor a level of recursion.
pub(super) fn is_plain(name: &str) -> bool {
    !name.contains('\'')
}

/// Returns the name of a function: without an index, the view makes it.
pub(super) fn name_of<'v>(view: &'v View, names: Option<&'v NameIndex>, id: SubjectId) -> &'v str {
    names.map_or_else(|| view.subject(id).name(), |names| names.name(id))
}

impl NameIndex {
    /// Reads all names, on all cores. None if they take more memory than the profile.
    pub fn new(view: &View) -> Option<NameIndex> {
        let inputs = view.profile().inputs().iter().map(|input| input.bytes.len());
        let max_bytes = inputs.fold(CONSTANT, usize::saturating_add);
        let count = view.graph().node_count();
        let chunks = map_on_threads(ranges(count), |range| names_of(view, range, max_bytes));
        let mut names = Texts::default();
        for chunk in chunks {
            names.append(chunk?);
        }
        let has_apostrophes = names.text().contains('\'');
        (names.text().len() <= max_bytes).then(|| NameIndex {
            names,
            has_apostrophes,
            ranks: OnceLock::new(),
        })
    }

    /// Returns the demangled name of a function.
    pub fn name(&self, id: SubjectId) -> &str {
        self.names.get(id.index())
    }

    /// `true` if the name of a function surely has neither callers nor a level of recursion, which a filter does not look at.
    pub(super) fn is_plain(&self, id: SubjectId) -> bool {
        !self.has_apostrophes || is_plain(self.name(id))
    }

    /// Returns the names, by function.
    pub(super) fn names(&self) -> &Texts {
        &self.names
    }

    /// Returns the places of all functions in the order of names, files and objects, from 0. The first call makes them, on all cores.
    pub fn ranks(&self, view: &View) -> &[u32] {
        self.ranks.get_or_init(|| {
            let count = self.names.len();
            let compare = |a: &(u64, SubjectId), b: &(u64, SubjectId)| {
                a.0.cmp(&b.0).then_with(|| compare_names(view, a.1, b.1, |id| self.name(id)))
            };
            let runs = map_on_threads(ranges(count), |range| {
                let ids = view.subject_ids().skip(range.start).take(range.len());
                let mut run: Vec<_> = ids.map(|id| (first_bytes(self.name(id)), id)).collect();
                run.sort_unstable_by(compare);
                run
            });
            let mut order = runs.concat();
            // Runs that are in order are merged.
            order.sort_by(compare);
            let mut ranks = vec![0; count];
            for (rank, (_, id)) in (0u32..).zip(order) {
                ranks[id.index()] = rank;
            }
            ranks
        })
    }

    /// Compares functions by names, files and objects.
    pub(super) fn compare(&self, view: &View, a: SubjectId, b: SubjectId) -> Ordering {
        match self.ranks.get() {
            Some(ranks) => ranks[a.index()].cmp(&ranks[b.index()]),
            None => compare_names(view, a, b, |id| self.name(id)),
        }
    }
}

/// Reads the names of a range of functions. None if they take more than this many bytes.
fn names_of(view: &View, range: Range<usize>, max_bytes: usize) -> Option<Texts> {
    let mut names = Texts::default();
    for id in view.subject_ids().skip(range.start).take(range.len()) {
        names.push(&Symbol::parse(view.subject(id).recorded()).shown());
        if names.text().len() > max_bytes {
            return None;
        }
    }
    Some(names)
}

/// Compares functions by their names, then files, then objects, then ids.
pub(super) fn compare_names<'n>(
    view: &View,
    a: SubjectId,
    b: SubjectId,
    name: impl Fn(SubjectId) -> &'n str,
) -> Ordering {
    let profile = view.profile();
    let paths = |id: SubjectId| {
        let (file, object) = view.paths(id);
        (profile.file(file), profile.object(object))
    };
    name(a).cmp(name(b)).then_with(|| paths(a).cmp(&paths(b))).then_with(|| a.cmp(&b))
}

/// Returns a number that is in the order of texts as far as their first bytes are.
fn first_bytes(text: &str) -> u64 {
    let mut bytes = [0; 8];
    bytes.iter_mut().zip(text.bytes()).for_each(|(to, byte)| *to = byte);
    u64::from_be_bytes(bytes)
}
