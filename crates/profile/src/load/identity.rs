//! Which mentions of functions are about the same function.
//!
//! # The rule
//!
//! A function is its object, its source file and its name, each in full: the same name in another file or object is another
//! function. The file is that of the last `fl=` before the first line of the function. (Files without any `fl=` name it with
//! `fi=`.) Code that was inlined into the function, after `fi=` or `fe=`, stays in it and keeps its own file.
//!
//! Numbers play no part in this. `fn=(7)` stands for a name; in which file and object, the lines around it say. In the
//! files of Callgrind a number has one object and one file, wherever it is used, so that there is no difference; others
//! give one number to all functions of a name.
//!
//! A *callee* is named beside `cob=` and `cfi=`, and where these are missing, the object of the caller and the file in
//! force
//! are taken. Some producers leave them out although they are not the same: old Xdebug and the Perl and Go profilers do. So
//! a callee that has no lines under the object and file that its calls give comes together with the one function of its
//! name that has lines
//!
//! 1. in the same object, if its file was never given with `cfi=` or `cfl=`;
//! 2. in the same file, if its object was never given with `cob=`;
//! 3. anywhere, if neither was given; or in a file whose path ends with that of the callee's, if only the file was.
//!
//! The first of these that leaves exactly one function decides. With none, or with several, the callee stands alone.

use gristmill_format::NameSpace;

use super::chunk::SELVES;
use crate::hash::Map;
use crate::index::sum_builder::rename;
use crate::index::{FunctionKey, Index, Texts};
use crate::input::Input;

/// The one function with lines that something is true of; None where there are several.
type Only<K> = Map<K, Option<u32>>;

/// Brings together what is the same function.
pub(super) fn unite(index: &mut Index, inputs: &[Input]) {
    let Some(same_as) = same_as(index, inputs) else { return };
    // The functions that remain, in the order that they were in.
    let mut next = 0;
    let new: Vec<u32> = (0u32..)
        .zip(&same_as)
        .map(|(old, &other)| {
            let remains = other == old;
            next += u32::from(remains);
            if remains { next - 1 } else { 0 }
        })
        .collect();
    let new = |old: u32| {
        let other = same_as.get(old as usize).copied().unwrap_or(old);
        new.get(other as usize).copied().unwrap_or_default()
    };

    let remains = |old: u32| same_as.get(old as usize) == Some(&old);
    index.function_keys.rename(&index.functions, remains, new);
    let mut old = 0u32;
    index.functions.retain(|_| {
        old += 1;
        remains(old - 1)
    });
    index.blocks.iter_mut().for_each(|block| block.function = new(block.function));

    let mut starts: Vec<_> = index.parts.iter().map(|part| [part.selves, part.arcs]).collect();
    rename([&mut index.selves, &mut index.arcs], &mut starts, |table, (first, second)| match table {
        SELVES => (new(first), second),
        _ => (new(first), new(second)),
    });
    for (part, start) in index.parts.iter_mut().zip(starts) {
        [part.selves, part.arcs] = start;
    }
}

/// For each function which one it is. None when each is itself.
fn same_as(index: &Index, inputs: &[Input]) -> Option<Vec<u32>> {
    let is_open = |index: &Index, id: usize| {
        let mention = index.functions[id].mention;
        !(mention.is_defined || mention.has_file && mention.has_object)
    };
    // Only what has the name of an open one need be looked at: these are few where there are many functions.
    let mut is_wanted = vec![false; index.names[NameSpace::Function as usize].len()];
    for (id, function) in index.functions.iter().enumerate() {
        if is_open(index, id)
            && let Some(wanted) = is_wanted.get_mut(function.key.2 as usize)
        {
            *wanted = true;
        }
    }
    if !is_wanted.contains(&true) {
        return None;
    }
    let mut in_object: Only<(u32, u32)> = Map::default();
    let mut in_file: Only<(u32, u32)> = Map::default();
    let mut anywhere: Only<u32> = Map::default();
    for (id, function) in (0u32..).zip(&index.functions) {
        let (object, file, name) = function.key;
        if function.mention.is_defined && is_wanted.get(name as usize) == Some(&true) {
            in_object.entry((object, name)).and_modify(|only| *only = None).or_insert(Some(id));
            in_file.entry((file, name)).and_modify(|only| *only = None).or_insert(Some(id));
            anywhere.entry(name).and_modify(|only| *only = None).or_insert(Some(id));
        }
    }
    let mut ends: Option<PathEnds<'_>> = None;
    let mut some = false;
    let same_as = (0u32..)
        .zip(&index.functions)
        .map(|(id, function)| {
            if !is_open(index, id as usize) {
                return id;
            }
            let mention = function.mention;
            let (object, file, name): FunctionKey = function.key;
            let only = |found: Option<&Option<u32>>| found.copied().flatten();
            let near = if mention.has_file { None } else { only(in_object.get(&(object, name))) };
            let other = if mention.has_object {
                near
            } else {
                near.or_else(|| only(in_file.get(&(file, name)))).or_else(|| {
                    if mention.has_file {
                        ends.get_or_insert_with(|| PathEnds::new(index, inputs, &is_wanted)).only(name, file)
                    } else {
                        only(anywhere.get(&name))
                    }
                })
            };
            some |= other.is_some();
            other.unwrap_or(id)
        })
        .collect();
    some.then_some(same_as)
}

/// Finds functions by the end of the path of their file.
///
/// Files are in the order of their paths read backwards, where those with a common end stand side by side. A file may hold
/// as many functions of one name as it has lines, so neither all functions nor all files may be gone through for each.
struct PathEnds<'i> {
    texts: Texts<'i>,
    /// In that order.
    paths: Vec<&'i [u8]>,
    index: &'i Index,
    /// Name, place of the file in that order, and function: of all that have lines and are asked for; sorted.
    functions: Vec<(u32, u32, u32)>,
    /// What was found for the files that were asked for: any number of functions may have the same.
    found: Map<u32, [(u32, u32); 3]>,
}

impl<'i> PathEnds<'i> {
    fn new(index: &'i Index, inputs: &'i [Input], is_wanted: &[bool]) -> Self {
        let texts = Texts { inputs, made: &index.made };
        let files = &index.names[NameSpace::File as usize];
        let count = u32::try_from(files.len()).unwrap_or(u32::MAX);
        let mut order: Vec<u32> = (0..count).collect();
        order.sort_by(|&a, &b| backwards(texts.get(files.text(a))).cmp(backwards(texts.get(files.text(b)))));
        let mut places = vec![0; files.len()];
        for (place, &file) in (0..).zip(&order) {
            if let Some(entry) = places.get_mut(file as usize) {
                *entry = place;
            }
        }
        let mut functions: Vec<(u32, u32, u32)> = (0..)
            .zip(&index.functions)
            .filter(|(_, function)| function.mention.is_defined)
            .filter(|(_, function)| is_wanted.get(function.key.2 as usize) == Some(&true))
            .map(|(id, function)| {
                let (_, file, name) = function.key;
                (name, places.get(file as usize).copied().unwrap_or_default(), id)
            })
            .collect();
        functions.sort_unstable();
        let paths = order.iter().map(|&file| texts.get(files.text(file))).collect();
        PathEnds { texts, paths, index, functions, found: Map::default() }
    }

    /// The one function of this name in a file whose path ends with the path of this one.
    fn only(&mut self, name: u32, file: u32) -> Option<u32> {
        let mut found = None;
        for (from, to) in self.places(file) {
            let [from, to] = [from, to]
                .map(|place| self.functions.partition_point(|&(other, at, _)| (other, at) < (name, place)));
            match (self.functions.get(from..to).unwrap_or_default(), found) {
                ([], _) => {}
                (&[(.., function)], None) => found = Some(function),
                _ => return None,
            }
        }
        found
    }

    /// Where the files are whose path ends with the path of this one: the whole path, or what follows a separator.
    fn places(&mut self, file: u32) -> [(u32, u32); 3] {
        let end = self.texts.get(self.index.names[NameSpace::File as usize].text(file));
        if end.is_empty() {
            return Default::default();
        }
        let paths = &self.paths;
        *self.found.entry(file).or_insert_with(|| {
            let range = |end: &[u8], is_whole: bool| {
                let before = |path: &&[u8]| backwards(path).lt(backwards(end));
                let from = paths.partition_point(before);
                let rest = paths.get(from..).unwrap_or_default();
                let count =
                    rest.partition_point(|path| if is_whole { *path == end } else { path.ends_with(end) });
                let narrow = |place: usize| u32::try_from(place).unwrap_or(u32::MAX);
                (narrow(from), narrow(from + count))
            };
            let behind = |separator: u8| range(&[&[separator], end].concat(), false);
            [range(end, true), behind(b'/'), behind(b'\\')]
        })
    }
}

fn backwards(path: &[u8]) -> impl Iterator<Item = &u8> {
    path.iter().rev()
}
