//! Unites mentions of the same function.
//!
//! # The rule
//!
//! A function is its object, its source file and its name, each in full: the same name in another file or object is another
//! function. The file is that of the last `fl=` before the first line of the function. (Files without any `fl=` name it with
//! `fi=`.) Code that was inlined into the function, after `fi=` or `fe=`, belongs to the function and keeps its own file.
//!
//! Name ids play no part in this. `fn=(7)` stands for a name; the lines around it tell in which file and object. In the
//! files of Callgrind a name id has one object and one file wherever it is used, so there is no difference; others give one
//! name id to all functions of a name.
//!
//! A *callee* is named beside `cob=` and `cfi=`. Without them it has the object of the caller and the current file. Some
//! producers leave them out although they differ: old Xdebug and the profilers of Perl and Go. So a callee that has no
//! lines in the object and file that its calls give is united with the one function of its name that has lines
//!
//! 1. in the same object, if no call gave its file with `cfi=` or `cfl=`;
//! 2. in the same file, if no call gave its object with `cob=`;
//! 3. anywhere, if no call gave either; or in a file whose path ends with that of the callee, if only the file was given.
//!
//! The first of these that leaves exactly one function decides. With none or several, the callee stays alone.
//!
//! The converter of NYTProf is the exception: before calls it writes the file of the *call* as `fl=`, and a string that is
//! evaluated, or `#line`, may have another one than the function. Names of Perl contain their package, so in its profiles the
//! name and the object alone tell the function. Its file is that of its first lines, which come before all calls.

use std::cmp::Ordering;
use std::ops::Range;

use gristmill_format::{NameSpace, ProducerKind};

use super::local::SumKind;
use crate::hash::Map;
use crate::id::{FileId, FunctionId, NameId, ObjectId, narrow};
use crate::index::functions::FunctionData;
use crate::index::sum_builder::rename_keys;
use crate::index::{Index, Texts};
use crate::input::Input;
use crate::tuning::Tuning;

/// The one function with lines for each key; none if there are several.
type OnlyFunction<K> = Map<K, Option<FunctionId>>;

/// Unites mentions of the same function.
pub(super) fn unite(index: &mut Index, inputs: &[Input], tuning: Tuning) {
    let Some(same_as) = same_as(index, inputs) else { return };
    let new_ids = index.functions.unite(&same_as);
    let new = |old: FunctionId| new_ids[old.index()];
    index.blocks.iter_mut().for_each(|block| block.function = new(block.function));

    let new = |old: u32| new(FunctionId::from_u32(old)).to_u32();
    let mut starts: Vec<_> =
        index.parts.iter().map(|part| [part.start.self_costs, part.start.arcs]).collect();
    let tables = [&mut index.self_costs, &mut index.arcs];
    rename_keys(tables, SumKind::ALL, &mut starts, tuning, |kind, (first, second)| match kind {
        SumKind::SelfCosts => (new(first), second),
        SumKind::Arcs => (new(first), new(second)),
    });
    for (part, [self_costs, arcs]) in index.parts.iter_mut().zip(starts) {
        part.start.self_costs = self_costs;
        part.start.arcs = arcs;
    }
}

/// Returns `true` if a function may be the same as another: it has no lines, and its object or its file was given by no
/// call.
fn is_open(function: &FunctionData) -> bool {
    let mention = function.mention;
    !(mention.is_defined || mention.has_file && mention.has_object)
}

/// `true` if all inputs are of a producer whose names tell functions without a file.
fn has_full_names(index: &Index) -> bool {
    !index.producers.is_empty() && index.producers.iter().all(|&producer| producer == ProducerKind::Nytprof)
}

/// Returns for each function the one with lines that has its name, if the name has a package.
fn same_as_by_name(index: &Index, inputs: &[Input]) -> Option<Vec<FunctionId>> {
    let texts = Texts { inputs, made: &index.made };
    let names = &index.names[NameSpace::Function];
    // The lines of a function are read in its object, so another object is another function.
    let mut firsts: Map<(ObjectId, NameId), FunctionId> = Map::default();
    for is_defined in [true, false] {
        for (id, FunctionData { key, .. }) in
            index.functions.iter().filter(|(_, f)| f.mention.is_defined == is_defined)
        {
            firsts.entry((key.object, key.name)).or_insert(id);
        }
    }
    let same = |(id, FunctionData { key, .. }): (FunctionId, &FunctionData)| {
        let has_package = memchr::memmem::find(texts.get(names.text(key.name)), b"::").is_some();
        firsts.get(&(key.object, key.name)).copied().filter(|_| has_package).unwrap_or(id)
    };
    let same_as: Vec<FunctionId> = index.functions.iter().map(same).collect();
    index.functions.iter().zip(&same_as).any(|((id, _), same)| id != *same).then_some(same_as)
}

/// Returns for each function the one that it is. `None` if each is itself.
fn same_as(index: &Index, inputs: &[Input]) -> Option<Vec<FunctionId>> {
    if has_full_names(index) {
        return same_as_by_name(index, inputs);
    }
    // Only functions with the name of an open one are looked at: few, where there are many functions.
    let mut is_wanted = vec![false; index.names[NameSpace::Function].len()];
    for (_, function) in index.functions.iter() {
        if is_open(function) {
            is_wanted[function.key.name.index()] = true;
        }
    }
    if !is_wanted.contains(&true) {
        return None;
    }
    let mut in_object: OnlyFunction<(ObjectId, NameId)> = Map::default();
    let mut in_file: OnlyFunction<(FileId, NameId)> = Map::default();
    let mut anywhere: OnlyFunction<NameId> = Map::default();
    for (id, function) in index.functions.iter() {
        let key = function.key;
        if function.mention.is_defined && is_wanted[key.name.index()] {
            in_object.entry((key.object, key.name)).and_modify(|only| *only = None).or_insert(Some(id));
            in_file.entry((key.file, key.name)).and_modify(|only| *only = None).or_insert(Some(id));
            anywhere.entry(key.name).and_modify(|only| *only = None).or_insert(Some(id));
        }
    }
    let mut ends: Option<PathEnds<'_>> = None;
    let mut is_any_other = false;
    let same_as = index
        .functions
        .iter()
        .map(|(id, function)| {
            if !is_open(function) {
                return id;
            }
            let (mention, key) = (function.mention, function.key);
            let only = |found: Option<&Option<FunctionId>>| found.copied().flatten();
            let near = if mention.has_file { None } else { only(in_object.get(&(key.object, key.name))) };
            let other = if mention.has_object {
                near
            } else {
                near.or_else(|| only(in_file.get(&(key.file, key.name)))).or_else(|| {
                    if mention.has_file {
                        ends.get_or_insert_with(|| PathEnds::new(index, inputs, &is_wanted))
                            .only(key.name, key.file)
                    } else {
                        only(anywhere.get(&key.name))
                    }
                })
            };
            is_any_other |= other.is_some();
            other.unwrap_or(id)
        })
        .collect();
    is_any_other.then_some(same_as)
}

/// Finds functions by the end of the path of their file.
///
/// Files are sorted by their paths read backwards, so paths with a common end are neighbours. A file may hold as many
/// functions of one name as it has lines, so neither all functions nor all files may be searched for each.
struct PathEnds<'i> {
    index: &'i Index,
    texts: Texts<'i>,
    /// The paths in that order.
    paths: Vec<&'i [u8]>,
    /// Wanted functions with lines, sorted by name and by the rank of their file in that order.
    functions: Vec<(NameId, u32, FunctionId)>,
    /// The ranks of files whose path ends with that of a file, for the files that were asked for.
    found: Map<FileId, [Range<u32>; 3]>,
}

impl<'i> PathEnds<'i> {
    fn new(index: &'i Index, inputs: &'i [Input], is_wanted: &[bool]) -> Self {
        let texts = Texts { inputs, made: &index.made };
        let files = &index.names[NameSpace::File];
        let path = |file: FileId| texts.get(files.text(file.into()));
        let mut order: Vec<FileId> = (0..files.len()).map(FileId::new).collect();
        order.sort_by(|&a, &b| compare_backwards(path(a), path(b)));
        let mut ranks = vec![0u32; files.len()];
        (0..).zip(&order).for_each(|(rank, file)| ranks[file.index()] = rank);
        let mut functions: Vec<_> = index
            .functions
            .iter()
            .filter(|(_, function)| function.mention.is_defined && is_wanted[function.key.name.index()])
            .map(|(id, function)| (function.key.name, ranks[function.key.file.index()], id))
            .collect();
        functions.sort_unstable();
        let paths = order.into_iter().map(path).collect();
        PathEnds { index, texts, paths, functions, found: Map::default() }
    }

    /// Returns the one function of a name in a file whose path ends with that of a file.
    fn only(&mut self, name: NameId, file: FileId) -> Option<FunctionId> {
        let mut found = None;
        for Range { start, end } in self.ranks(file) {
            let [start, end] = [start, end].map(|limit| {
                self.functions.partition_point(|&(other, rank, _)| (other, rank) < (name, limit))
            });
            match (&self.functions[start..end], found) {
                ([], _) => {}
                (&[(.., function)], None) => found = Some(function),
                _ => return None,
            }
        }
        found
    }

    /// Returns the ranks of the files whose path ends with that of a file: is equal to it, or has it behind a separator.
    fn ranks(&mut self, file: FileId) -> [Range<u32>; 3] {
        let end = self.texts.get(self.index.names[NameSpace::File].text(file.into()));
        if end.is_empty() {
            return Default::default();
        }
        let paths = &self.paths;
        let ranks = self.found.entry(file).or_insert_with(|| {
            let range = |end: &[u8], is_whole: bool| {
                let start = paths.partition_point(|path| compare_backwards(path, end) == Ordering::Less);
                let ends_so = |path: &&[u8]| if is_whole { *path == end } else { path.ends_with(end) };
                let count = paths[start..].partition_point(ends_so);
                narrow(start)..narrow(start + count)
            };
            let behind = |separator: u8| range(&[&[separator], end].concat(), false);
            [range(end, true), behind(b'/'), behind(b'\\')]
        });
        ranks.clone()
    }
}

fn compare_backwards(a: &[u8], b: &[u8]) -> Ordering {
    a.iter().rev().cmp(b.iter().rev())
}
