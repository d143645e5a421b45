//! The names of all functions as one text, and their order.

use std::cmp::Ordering;
use std::ops::Range;

use gristmill_profile::symbol::Symbol;
use gristmill_profile::threads::{cores, map_on_threads};
use regex::Regex;

use crate::view::{SubjectId, View};

/// The names of all functions of a view as one text, and their order. It takes as long to make as to sort all functions, and
/// then a [`FunctionList`](super::FunctionList) needs only the names that it shows. Views with the same folding have the same.
///
/// ```
/// use gristmill_profile::Profile;
/// use gristmill_report::{NameIndex, View, ViewOptions};
///
/// let text = b"events: Ir\nfn=work\n1 10\nfn=main\n1 32\n";
/// let view = View::new(Profile::from_bytes(text.to_vec()), &ViewOptions::default())?;
/// let names = NameIndex::new(&view).expect("two short names");
/// let main = view.subject_ids().last().expect("two functions");
/// assert_eq!((names.name(main), names.rank(main)), ("main", 0));
/// # Ok::<(), gristmill_report::ViewError>(())
/// ```
#[derive(Debug)]
pub struct NameIndex {
    /// Each name, and a line feed.
    text: String,
    /// By function: the offset of its name, and the end of the text.
    starts: Vec<usize>,
    /// By function: its place in the order of names, files and objects.
    ranks: Vec<u32>,
}

/// Bytes of names that fit always.
const CONSTANT: usize = 16 << 20;

/// The names of a range of functions.
struct Chunk {
    text: String,
    starts: Vec<usize>,
    /// Functions in order, each with the first bytes of its name.
    order: Vec<(u64, SubjectId)>,
}

/// Rows that are worth a thread.
const MIN_RANGE: usize = 4096;

/// Divides functions, or other rows, among all cores.
pub(super) fn ranges(count: usize) -> Vec<Range<usize>> {
    let each = count.div_ceil(cores()).max(MIN_RANGE);
    (0..count).step_by(each).map(|start| start..(start + each).min(count)).collect()
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
        let chunks = map_on_threads(ranges(count), |range| Chunk::new(view, range, max_bytes));
        let (mut text, mut starts, mut order) = (String::new(), Vec::with_capacity(count + 1), Vec::new());
        for chunk in chunks {
            let Chunk { text: more, starts: more_starts, order: more_order } = chunk?;
            starts.extend(more_starts.iter().map(|start| text.len() + start));
            text.push_str(&more);
            order.extend(more_order);
        }
        starts.push(text.len());
        let mut index = NameIndex { text, starts, ranks: vec![0; count] };
        if index.text.len() > max_bytes {
            return None;
        }
        // Runs that are in order are merged.
        order.sort_by(|a, b| compare(view, *a, *b, |id| index.name(id)));
        for (rank, (_, id)) in (0u32..).zip(order) {
            index.ranks[id.index()] = rank;
        }
        Some(index)
    }

    /// Returns the demangled name of a function.
    pub fn name(&self, id: SubjectId) -> &str {
        &self.text[self.starts[id.index()]..self.starts[id.index() + 1] - 1]
    }

    /// Returns the place of a function in the order of names, files and objects, from 0.
    pub fn rank(&self, id: SubjectId) -> u32 {
        self.ranks[id.index()]
    }

    /// Returns the functions of a range whose names may match a pattern that stands for a text without line feeds, in order: all
    /// that match, and some that do not.
    pub(super) fn candidates(&self, pattern: &Regex, range: Range<usize>) -> Vec<usize> {
        let text = &self.text[..self.starts[range.end]];
        let mut found = Vec::new();
        let mut at = range.start;
        while at < range.end
            && let Some(place) = pattern.find_at(text, self.starts[at])
        {
            // Most matches are near the last one.
            let mut step = 1;
            let mut low = at;
            while low + step < range.end && self.starts[low + step] <= place.start() {
                low += step;
                step *= 2;
            }
            let high = (low + step).min(range.end);
            let nth = low + self.starts[low + 1..high].partition_point(|&start| start <= place.start());
            found.push(nth);
            at = nth + 1;
        }
        found
    }
}

impl Chunk {
    /// Reads the names of a range of functions. None if they take more than this many bytes.
    fn new(view: &View, range: Range<usize>, max_bytes: usize) -> Option<Chunk> {
        let (mut text, mut starts, mut order) = (String::new(), Vec::new(), Vec::new());
        for id in view.subject_ids().skip(range.start).take(range.len()) {
            let start = text.len();
            starts.push(start);
            text.push_str(&Symbol::parse(view.subject(id).recorded()).shown());
            order.push((first_bytes(&text[start..]), id));
            text.push('\n');
            if text.len() > max_bytes {
                return None;
            }
        }
        let name = |id: SubjectId| {
            let nth = id.index() - range.start;
            let end = starts.get(nth + 1).copied().unwrap_or(text.len());
            &text[starts[nth]..end - 1]
        };
        order.sort_unstable_by(|a, b| compare(view, *a, *b, name));
        Some(Chunk { text, starts, order })
    }
}

/// Compares names, then files, then objects, then ids.
fn compare<'n>(
    view: &View,
    (first_a, a): (u64, SubjectId),
    (first_b, b): (u64, SubjectId),
    name: impl Fn(SubjectId) -> &'n str,
) -> Ordering {
    let by_name = first_a.cmp(&first_b).then_with(|| name(a).cmp(name(b)));
    by_name.then_with(|| compare_paths(view, a, b)).then_with(|| a.cmp(&b))
}

/// Compares the files of functions, then their objects.
pub(super) fn compare_paths(view: &View, a: SubjectId, b: SubjectId) -> Ordering {
    let profile = view.profile();
    let paths = |id: SubjectId| {
        let (file, object) = view.paths(id);
        (profile.file(file), profile.object(object))
    };
    paths(a).cmp(&paths(b))
}

/// Returns a number that is in the order of texts as far as their first bytes are.
fn first_bytes(text: &str) -> u64 {
    let mut bytes = [0; 8];
    bytes.iter_mut().zip(text.bytes()).for_each(|(to, byte)| *to = byte);
    u64::from_be_bytes(bytes)
}
