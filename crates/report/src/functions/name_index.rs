//! The names of all functions as one text, and their order.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::OnceLock;

use gristmill_profile::symbol::Symbol;
use gristmill_profile::threads::{cores, map_on_threads};
use regex::Regex;

use super::text_finder::TextFinder;
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
    /// Each name, and a line feed.
    text: String,
    is_ascii: bool,
    /// By function: the offset of its name, and the end of the text.
    starts: Vec<usize>,
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
        let (mut text, mut starts) = (String::new(), Vec::with_capacity(count + 1));
        for chunk in chunks {
            let (more, more_starts) = chunk?;
            starts.extend(more_starts.iter().map(|start| text.len() + start));
            text.push_str(&more);
        }
        starts.push(text.len());
        let is_ascii = text.is_ascii();
        (text.len() <= max_bytes).then(|| NameIndex { text, is_ascii, starts, ranks: OnceLock::new() })
    }

    /// Returns the demangled name of a function.
    pub fn name(&self, id: SubjectId) -> &str {
        &self.text[self.starts[id.index()]..self.starts[id.index() + 1] - 1]
    }

    /// Returns the places of all functions in the order of names, files and objects, from 0. The first call makes them, on all cores.
    pub fn ranks(&self, view: &View) -> &[u32] {
        self.ranks.get_or_init(|| {
            let count = self.starts.len() - 1;
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

    /// Returns the functions of a range whose names may match a pattern that stands for a plain text without line feeds, in order: all
    /// that match, and some that do not.
    pub(super) fn candidates(&self, pattern: &Regex, plain: &str, range: Range<usize>) -> Vec<usize> {
        let text = &self.text[..self.starts[range.end]];
        let finder = TextFinder::new(pattern, plain, self.is_ascii);
        let mut found = Vec::new();
        let mut at = range.start;
        while at < range.end
            && let Some(place) = finder.find_at(text, self.starts[at])
        {
            // Most matches are near the last one.
            let mut step = 1;
            let mut low = at;
            while low + step < range.end && self.starts[low + step] <= place {
                low += step;
                step *= 2;
            }
            let high = (low + step).min(range.end);
            let nth = low + self.starts[low + 1..high].partition_point(|&start| start <= place);
            found.push(nth);
            at = nth + 1;
        }
        found
    }
}

/// Reads the names of a range of functions, each with a line feed, and where they start. None if they take more than this many
/// bytes.
fn names_of(view: &View, range: Range<usize>, max_bytes: usize) -> Option<(String, Vec<usize>)> {
    let (mut text, mut starts) = (String::new(), Vec::with_capacity(range.len()));
    for id in view.subject_ids().skip(range.start).take(range.len()) {
        starts.push(text.len());
        text.push_str(&Symbol::parse(view.subject(id).recorded()).shown());
        text.push('\n');
        if text.len() > max_bytes {
            return None;
        }
    }
    Some((text, starts))
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
