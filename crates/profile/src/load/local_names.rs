//! The names and functions of a chunk, by local ids.

use std::mem::replace;

use gristmill_format::raw::{CarriedName, NameSpaces, is_compound_name};
use gristmill_format::{Location, NameSpace};

use super::local::{InputView, LocalFunctionId, LocalName, LocalPart};
use super::name_events::{NameEvent, NameEvents};
use crate::hash::Map;
use crate::index::functions::Mention;

use crate::tuning::Tuning;

/// Gives names and functions their local ids.
#[derive(Debug)]
pub(super) struct LocalNames<'a> {
    input: InputView<'a>,
    spaces: NameSpaces<Space<'a>>,
    events: NameEvents,
    functions: LocalFunctions,
    other_functions: Map<FunctionNames, LocalFunctionId>,
}

/// The names of one name space.
#[derive(Debug)]
struct Space<'a> {
    /// Names that are spelled out, without a name id or for one that was known. A name that defines a new name id is not
    /// looked up: stitching finds equal names.
    texts: Map<&'a [u8], LocalName>,
    recent: RecentIds,
}

/// A cache of the local names of name ids that were recently used or defined: direct-mapped, by the low bits of the id.
///
/// A name id that is not in the cache gets one more local name. Stitching looks up its meaning, many at a time; a list of
/// all name ids for each thread would miss the processor's cache at nearly every access. Measured on a plain file of 500
/// MB: with such a list, loading takes a seventh longer.
#[derive(Debug)]
struct RecentIds {
    /// A power of two of them, or none.
    entries: Vec<RecentId>,
    /// Entries with a local name before this one are void: their name ids have lost their meaning.
    first: LocalName,
    min_count: usize,
    names_per_entry: usize,
}

#[derive(Debug, Clone, Copy)]
struct RecentId {
    id: u32,
    name: Option<LocalName>,
    /// The part that defined the name id, if it is in this chunk.
    defined_in: Option<LocalPart>,
}

impl RecentIds {
    fn new(tuning: Tuning) -> Self {
        let Tuning { min_recent_names, names_per_recent, .. } = tuning;
        RecentIds {
            entries: Vec::new(),
            first: LocalName::FIRST,
            min_count: min_recent_names,
            names_per_entry: names_per_recent,
        }
    }

    #[inline(always)]
    fn get(&self, id: u64) -> Option<(LocalName, Option<LocalPart>)> {
        // Name ids beyond 32 bits are rare, and never cached.
        let id = u32::try_from(id).ok()?;
        let recent = self.entries.get(self.slot(id))?;
        let name = recent.name?;
        (recent.id == id && name >= self.first).then_some((name, recent.defined_in))
    }

    /// Returns the index of the entry for a name id; an index beyond the entries if there are none.
    #[inline(always)]
    fn slot(&self, id: u32) -> usize {
        id as usize & self.entries.len().wrapping_sub(1)
    }

    fn set(&mut self, id: u64, name: LocalName, defined_in: Option<LocalPart>) {
        let Ok(id) = u32::try_from(id) else { return };
        if name.index() >= self.names_per_entry * self.entries.len() {
            self.grow();
        }
        let slot = self.slot(id);
        self.entries[slot] = RecentId { id, name: Some(name), defined_in };
    }

    #[cold]
    fn grow(&mut self) {
        let count = (2 * self.entries.len()).max(self.min_count);
        let old = replace(&mut self.entries, vec![RecentId { id: 0, name: None, defined_in: None }; count]);
        for recent in old.into_iter().filter(|recent| recent.name.is_some()) {
            let slot = self.slot(recent.id);
            self.entries[slot] = recent;
        }
    }

    /// All name ids lose their meaning. `next` is the next local name.
    fn forget(&mut self, next: LocalName) {
        self.first = next;
    }
}

/// The key of a function within a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct FunctionNames {
    pub(super) object: LocalName,
    pub(super) file: LocalName,
    pub(super) name: LocalName,
}

/// A function of a chunk, and how its lines mention it.
#[derive(Debug, Clone, Copy)]
pub(super) struct LocalFunction {
    pub(super) names: FunctionNames,
    pub(super) mention: Mention,
}

/// The functions of a chunk.
#[derive(Debug, Default)]
pub(super) struct LocalFunctions {
    /// Different functions, in the order of first use.
    list: Vec<LocalFunction>,
    /// For each name, the function that was mentioned last. Nearly all names are mentioned with one object and one file.
    latest: Vec<Option<Latest>>,
}

#[derive(Debug, Clone, Copy)]
struct Latest {
    object: LocalName,
    file: LocalName,
    function: LocalFunctionId,
    mention: Mention,
}

impl LocalFunctions {
    /// Returns the functions, in the order of their ids.
    pub(super) fn as_slice(&self) -> &[LocalFunction] {
        &self.list
    }

    /// Removes all functions and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.list.clear();
        self.latest.clear();
    }
}

impl<'a> LocalNames<'a> {
    /// Starts a chunk, in the memory of an earlier one.
    pub(super) fn new(input: InputView<'a>, events: NameEvents, functions: LocalFunctions) -> Self {
        let space = |_| Space { texts: Map::default(), recent: RecentIds::new(input.tuning) };
        LocalNames {
            input,
            spaces: NameSpaces::from_fn(space),
            events: events.for_input(input.id),
            functions,
            other_functions: Map::default(),
        }
    }

    /// Returns the names and functions of the chunk.
    pub(super) fn finish(self) -> (NameEvents, LocalFunctions) {
        (self.events, self.functions)
    }

    /// All name ids lose their meaning.
    pub(super) fn forget(&mut self, byte: u64) {
        self.events.push(NameEvent::Forget { byte });
        // This may happen a million times.
        for space in NameSpace::ALL {
            self.spaces[space].recent.forget(self.events.next_name(space));
        }
    }

    /// Returns a local name for one of the name context where the chunk starts.
    pub(super) fn inherited(&mut self, name: CarriedName) -> LocalName {
        self.events.push_name(name.space(), NameEvent::Inherited(name))
    }

    /// Returns the local name of a name id on a line, which also defines it if it has a text. `part` is the part of the line.
    #[inline(always)]
    pub(super) fn local(
        &mut self,
        location: Location,
        space: NameSpace,
        id: u64,
        text: Option<&'a [u8]>,
        part: LocalPart,
    ) -> LocalName {
        match (text, self.spaces[space].recent.get(id)) {
            (None, Some((name, _))) => name,
            _ => self.other_local(location, space, id, text, part),
        }
    }

    #[inline(never)]
    fn other_local(
        &mut self,
        location: Location,
        space: NameSpace,
        id: u64,
        text: Option<&'a [u8]>,
        part: LocalPart,
    ) -> LocalName {
        let Some(text) = text else {
            return self.unknown_id(location, space, id, None);
        };
        let known = self.spaces[space].recent.get(id).filter(|(_, defined_in)| defined_in.is_some());
        if text.is_empty() {
            // It refers to a name if the name id has one, and otherwise defines an empty name.
            return match known {
                Some((name, _)) => name,
                None => self.unknown_id(location, space, id, Some(part)),
            };
        }
        let local = if is_compound_name(text) {
            let text = self.input.text(text);
            self.events.push_name(space, NameEvent::Compound { space, text })
        } else if known.is_some() {
            self.given(space, text)
        } else {
            self.new_text(space, text)
        };
        if known != Some((local, Some(part))) {
            self.events.push(NameEvent::Define { space, id, name: local, part, location });
            self.spaces[space].recent.set(id, local, Some(part));
        }
        local
    }

    /// Returns a new local name for a name id that this chunk has not defined, as far as the cache knows.
    fn unknown_id(
        &mut self,
        location: Location,
        space: NameSpace,
        id: u64,
        empty_in: Option<LocalPart>,
    ) -> LocalName {
        let local = self.events.push_name(space, NameEvent::Id { space, id, empty_in, location });
        self.spaces[space].recent.set(id, local, None);
        local
    }

    /// Returns the local name of a name that is spelled out.
    pub(super) fn given(&mut self, space: NameSpace, text: &'a [u8]) -> LocalName {
        if let Some(&local) = self.spaces[space].texts.get(text) {
            return local;
        }
        let local = self.new_text(space, text);
        self.spaces[space].texts.insert(text, local);
        local
    }

    fn new_text(&mut self, space: NameSpace, text: &[u8]) -> LocalName {
        let hash = self.input.seeds.hash_of(text);
        let text = self.input.text(text);
        self.events.push_name(space, NameEvent::Given { space, hash, text })
    }

    /// Returns the function with these names, and notes a mention of it.
    #[inline]
    pub(super) fn function(&mut self, names: FunctionNames, mention: Mention) -> LocalFunctionId {
        let FunctionNames { object, file, name } = names;
        if let Some(Some(latest)) = self.functions.latest.get_mut(name.index())
            && (latest.object, latest.file) == (object, file)
        {
            if !latest.mention.includes(mention) {
                latest.mention.add(mention);
                self.functions.list[latest.function.index()].mention.add(mention);
            }
            return latest.function;
        }
        self.other_function(names, mention)
    }

    #[inline(never)]
    fn other_function(&mut self, names: FunctionNames, mention: Mention) -> LocalFunctionId {
        let FunctionNames { object, file, name } = names;
        let LocalFunctions { list, latest } = &mut self.functions;
        if name.index() >= latest.len() {
            latest.resize(self.events.next_name(NameSpace::Function).index(), None);
        }
        let latest = &mut latest[name.index()];
        let next = LocalFunctionId::new(list.len());
        let function = match *latest {
            // The first function of a name need not be looked up.
            None => next,
            Some(Latest { object, file, function, .. }) => {
                self.other_functions.insert(FunctionNames { object, file, name }, function);
                *self.other_functions.entry(names).or_insert(next)
            }
        };
        if function == next {
            list.push(LocalFunction { names, mention });
        }
        let known = &mut list[function.index()];
        known.mention.add(mention);
        *latest = Some(Latest { object, file, function, mention: known.mention });
        function
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_keeps_the_latest_meaning_of_a_name_id() {
        let mut recent = RecentIds::new(Tuning::tiny());
        let ids = [0, 1, 1 << 20, u64::from(u32::MAX) - 1, u64::from(u32::MAX), 1 << 32, u64::MAX];
        assert!(ids.iter().all(|&id| recent.get(id).is_none()));
        let mut latest = Map::default();
        for nth in 0..200usize {
            let id = ids[nth * 5 % ids.len()] ^ (nth as u64 % 3);
            let (name, part) = (LocalName::new(nth), (nth % 2 > 0).then_some(LocalPart::FIRST));
            recent.set(id, name, part);
            latest.insert(id, (name, part));
            for &id in &ids {
                assert!(recent.get(id).is_none_or(|known| latest.get(&id) == Some(&known)), "{id} at {nth}");
            }
        }
        assert!(latest.keys().filter(|&&id| recent.get(id).is_some()).count() > 3);
        assert!(recent.entries.len() >= 100 && recent.get(1 << 32).is_none());
        recent.forget(LocalName::new(200));
        assert!(latest.keys().all(|&id| recent.get(id).is_none()));
        recent.set(7, LocalName::new(200), None);
        assert_eq!(recent.get(7), Some((LocalName::new(200), None)));
    }
}
