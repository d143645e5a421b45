//! Which mentions of functions are about the same function.
//!
//! # The rule
//!
//! A function is its object, its source file and its name, each in full: the same name in another file or object is
//! another
//! function. The file is that of the last `fl=` before the first line of the function. (Files without any `fl=` name it
//! with
//! `fi=`.) Code that was inlined into the function, after `fi=` or `fe=`, stays in it and keeps its own file.
//!
//! Numbers play no part in this. `fn=(7)` stands for a name; in which file and object, the lines around it say. In the
//! files of Callgrind a number has one object and one file, wherever it is used, so that there is no difference; others
//! give one number to all functions of a name.
//!
//! A *callee* is named beside `cob=` and `cfi=`, and where these are missing, the object of the caller and the file in
//! force
//! are taken. Some producers leave them out although they are not the same: old Xdebug and the Perl and Go profilers
//! do. So a
//! callee that has no lines under the object and file that its calls give comes together with the one function of its
//! name that has lines
//!
//! 1. in the same object, if its file was never given with `cfi=` or `cfl=`;
//! 2. in the same file, if its object was never given with `cob=`;
//! 3. anywhere, if neither was given; or if the file was, and is the end of the path of the other one's file.
//!
//! The first of these that leaves exactly one function decides. With none, or with several, the callee stands alone.

use gristmill_format::NameSpace;

use crate::hash::Map;
use crate::profile::{FunctionKey, Index, Input, Texts};
use crate::text::Names;

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

    let mut starts: Vec<_> = index.parts.iter().map(|part| part.selves).collect();
    index.selves.rename(&mut starts, |(function, file)| (new(function), file));
    index.parts.iter_mut().zip(starts).for_each(|(part, start)| part.selves = start);
    let mut starts: Vec<_> = index.parts.iter().map(|part| part.arcs).collect();
    index.arcs.rename(&mut starts, |(caller, callee)| (new(caller), new(callee)));
    index.parts.iter_mut().zip(starts).for_each(|(part, start)| part.arcs = start);
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
    let texts = Texts { inputs, made: &index.made };
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
            let near = near.or_else(|| only(in_file.get(&(file, name))).filter(|_| !mention.has_object));
            let other = near.or_else(|| {
                let other = only(anywhere.get(&name))?;
                let (other_object, other_file, _) = index.functions.get(other as usize)?.key;
                let object_fits = !mention.has_object || object == other_object;
                let files = &index.names[NameSpace::File as usize];
                let file_fits = !mention.has_file || is_end_of(&texts, files, file, other_file);
                (object_fits && file_fits).then_some(other)
            });
            some |= other.is_some();
            other.unwrap_or(id)
        })
        .collect();
    some.then_some(same_as)
}

/// Whether a path is the last components of another.
fn is_end_of(texts: &Texts<'_>, files: &Names, file: u32, other: u32) -> bool {
    let [file, other] = [file, other].map(|file| texts.get(files.text(file)));
    let rest = other.strip_suffix(file);
    !file.is_empty()
        && rest.is_some_and(|rest| rest.is_empty() || rest.ends_with(b"/") || rest.ends_with(b"\\"))
}
