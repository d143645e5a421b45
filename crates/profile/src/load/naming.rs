//! The names and functions of a piece, by local numbers.

use std::mem::{replace, swap};

use gristmill_format::Location;
use gristmill_format::raw::{CarriedName, is_compound_name};

use super::chunk::{LocalFunction, NO_NAME};
use super::name_events::{NameEvent, NameEvents};
use super::split::offset;
use crate::hash::{Map, Seeds};
use crate::index::Mention;
use crate::index::names::Text;

/// Gives local names and functions their numbers, in the order of their first use.
#[derive(Debug)]
pub(super) struct Naming<'a> {
    input: &'a [u8],
    place: u32,
    seeds: Seeds,
    spaces: [Space<'a>; 3],
    latest: Vec<Latest>,
    other_functions: Map<(u32, u32, u32), u32>,
    pub(super) events: NameEvents,
    pub(super) functions: Vec<LocalFunction>,
}

/// The names of one kind.
#[derive(Debug, Default)]
struct Space<'a> {
    /// Names that are spelled out, without a number or for a number that was known. Those that a number is given for the
    /// first time are not looked up: what they have in common comes out when pieces are put together.
    texts: Map<&'a [u8], u32>,
    recent: Recent,
}

/// The local names of numbers that were used or given a meaning lately.
///
/// A number that is not here gets one more local name. What it stands for is looked up when pieces are put together, many at
/// a time; a list of all numbers for each thread would be out of the cache nearly whenever it is asked. Measured on a plain
/// file of 500 MB: with such a list, loading takes a seventh longer.
#[derive(Debug, Default)]
struct Recent {
    /// Each at the place that its number has modulo their count, which is a power of two.
    names: Vec<Known>,
    /// The first local name that stands for something.
    first: u32,
}

#[derive(Debug, Clone, Copy)]
struct Known {
    number: u32,
    name: u32,
    /// The part of this piece that gave the number its meaning, if this piece did.
    given_in: u32,
}

impl Known {
    /// Where nothing is.
    const NOTHING: Known = Known { number: u32::MAX, name: 0, given_in: BEFORE };
}

/// Stands for a part in some piece before.
const BEFORE: u32 = u32::MAX;

/// So many numbers are kept, and more where a piece has more than so many local names for each.
const RECENT: usize = if cfg!(test) { 4 } else { 1 << 12 };
const NAMES_EACH: usize = if cfg!(test) { 2 } else { 16 };

impl Recent {
    #[inline(always)]
    fn get(&self, number: u64) -> Option<&Known> {
        let number = kept(number)?;
        let known = self.names.get(self.place(number))?;
        (known.number == number && known.name >= self.first).then_some(known)
    }

    /// Where a number is, or nowhere while there are none.
    #[inline(always)]
    fn place(&self, number: u32) -> usize {
        number as usize & self.names.len().wrapping_sub(1)
    }

    fn set(&mut self, number: u64, name: u32, given_in: u32) {
        let Some(number) = kept(number) else { return };
        if name as usize >= NAMES_EACH * self.names.len() {
            self.grow();
        }
        self.put(Known { number, name, given_in });
    }

    fn put(&mut self, known: Known) {
        let place = self.place(known.number);
        if let Some(other) = self.names.get_mut(place) {
            *other = known;
        }
    }

    #[cold]
    fn grow(&mut self) {
        let count = (2 * self.names.len()).max(RECENT);
        let old = replace(&mut self.names, vec![Known::NOTHING; count]);
        old.into_iter()
            .filter(|known| known.number != Known::NOTHING.number)
            .for_each(|known| self.put(known));
    }

    /// All numbers lose their meaning; so many local names were there.
    fn forget(&mut self, names: u32) {
        self.first = names;
    }
}

/// The number as it is kept here; none for the few that are so large.
#[inline(always)]
fn kept(number: u64) -> Option<u32> {
    u32::try_from(number).ok().filter(|&number| number != Known::NOTHING.number)
}

/// The function of a name that was mentioned last. Nearly all names are always mentioned with one object and one file.
#[derive(Debug, Clone, Copy)]
struct Latest {
    object: u32,
    file: u32,
    function: u32,
    mention: Mention,
}

const NO_FUNCTION: u32 = u32::MAX;

impl<'a> Naming<'a> {
    pub(super) fn new(input: &'a [u8], place: u32, seeds: Seeds) -> Self {
        Naming {
            input,
            place,
            seeds,
            spaces: Default::default(),
            latest: Vec::new(),
            other_functions: Map::default(),
            events: NameEvents::default(),
            functions: Vec::new(),
        }
    }

    /// Begins with the next piece, in this room, and hands out what was in this one.
    pub(super) fn begin_anew(
        &mut self,
        names: NameEvents,
        functions: Vec<LocalFunction>,
    ) -> (NameEvents, Vec<LocalFunction>) {
        self.spaces = Default::default();
        self.latest.clear();
        self.other_functions = Map::default();
        let names = NameEvents::within(names, self.place);
        (replace(&mut self.events, names), replace(&mut self.functions, functions))
    }

    /// Hands on the room that the tables take, between two pieces, for other pieces to be read in.
    pub(super) fn give_up_room(&mut self) -> Self {
        let mut room = Naming::new(self.input, self.place, self.seeds);
        swap(self, &mut room);
        swap(&mut self.events, &mut room.events);
        room
    }

    /// All numbers lose their meaning.
    pub(super) fn forget(&mut self, byte: u64) {
        self.events.push(NameEvent::Forget { byte });
        // This may happen a million times.
        for (nth, space) in self.spaces.iter_mut().enumerate() {
            space.recent.forget(self.events.name_count(nth));
        }
    }

    /// A local name for one that is in force where the piece begins.
    pub(super) fn bring(&mut self, name: CarriedName) -> u32 {
        self.events.push(NameEvent::InForce(name))
    }

    /// The local name of a number that stands on a line, which gives it a meaning if there is a text. `part` is the index
    /// of its part in this piece.
    #[inline(always)]
    pub(super) fn local(
        &mut self,
        location: Location,
        space: usize,
        number: u64,
        text: Option<&'a [u8]>,
        part: usize,
    ) -> u32 {
        match (text, self.spaces[space].recent.get(number)) {
            (None, Some(known)) => known.name,
            _ => self.other_local(location, space, number, text, part),
        }
    }

    #[inline(never)]
    fn other_local(
        &mut self,
        location: Location,
        space: usize,
        number: u64,
        text: Option<&'a [u8]>,
        part: usize,
    ) -> u32 {
        let part = u32::try_from(part).unwrap_or(u32::MAX - 1);
        let Some(text) = text else {
            return self.number_without_meaning(location, space, number, None);
        };
        let known = self.spaces[space].recent.get(number).filter(|known| known.given_in != BEFORE).copied();
        if text.is_empty() {
            // It refers to a name, if there is one, and only else means that the name is empty.
            return match known {
                Some(known) => known.name,
                None => self.number_without_meaning(location, space, number, Some(part)),
            };
        }
        let local = if is_compound_name(text) {
            let text = self.text(text);
            self.events.push(NameEvent::Compound { space: short(space), text })
        } else if known.is_some() {
            self.given(space, text)
        } else {
            self.new_text(space, text)
        };
        if known.is_none_or(|known| (known.name, known.given_in) != (local, part)) {
            self.events.push(NameEvent::Define { space: short(space), number, name: local, part, location });
            self.spaces[space].recent.set(number, local, part);
        }
        local
    }

    /// A number that this piece has not defined, as far as is known here.
    fn number_without_meaning(
        &mut self,
        location: Location,
        space: usize,
        number: u64,
        empty_in: Option<u32>,
    ) -> u32 {
        let event = NameEvent::Number { space: short(space), number, empty_in, location };
        let local = self.events.push(event);
        self.spaces[space].recent.set(number, local, BEFORE);
        local
    }

    /// A name that is spelled out.
    pub(super) fn given(&mut self, space: usize, text: &'a [u8]) -> u32 {
        if let Some(&local) = self.spaces[space].texts.get(text) {
            return local;
        }
        let local = self.new_text(space, text);
        self.spaces[space].texts.insert(text, local);
        local
    }

    fn new_text(&mut self, space: usize, text: &[u8]) -> u32 {
        let hash = self.seeds.hash_of(text);
        let text = self.text(text);
        self.events.push(NameEvent::Given { space: short(space), hash, text })
    }

    fn text(&self, slice: &[u8]) -> Text {
        Text { at: offset(self.input, slice), len: slice.len(), place: self.place }
    }

    /// The function of these names, which was mentioned like this.
    #[inline]
    pub(super) fn function(
        &mut self,
        object: Option<u32>,
        file: Option<u32>,
        name: Option<u32>,
        mention: Mention,
    ) -> u32 {
        let [object, file] = [object, file].map(|name| name.unwrap_or(NO_NAME));
        if let Some(name) = name
            && let Some(latest) = self.latest.get_mut(name as usize)
            && latest.function != NO_FUNCTION
            && (latest.object, latest.file) == (object, file)
        {
            if !latest.mention.includes(mention) {
                latest.mention.add(mention);
                if let Some(function) = self.functions.get_mut(latest.function as usize) {
                    function.mention.add(mention);
                }
            }
            return latest.function;
        }
        self.other_function(object, file, name.unwrap_or(NO_NAME), mention)
    }

    #[inline(never)]
    fn other_function(&mut self, object: u32, file: u32, name: u32, mention: Mention) -> u32 {
        let next = u32::try_from(self.functions.len()).unwrap_or(u32::MAX);
        let index = name as usize;
        if name != NO_NAME && index >= self.latest.len() {
            let none = Latest { object: 0, file: 0, function: NO_FUNCTION, mention: Mention::default() };
            self.latest.resize(self.events.name_count(2) as usize, none);
        }
        let latest = self.latest.get(index).filter(|latest| latest.function != NO_FUNCTION);
        let function = match latest {
            // The first function of its name need not be looked for.
            None if name != NO_NAME => next,
            _ => {
                if let Some(&Latest { object, file, function, .. }) = latest {
                    self.other_functions.insert((object, file, name), function);
                }
                *self.other_functions.entry((object, file, name)).or_insert(next)
            }
        };
        if function == next {
            self.functions.push(LocalFunction { object, file, name, mention });
        }
        let mut all = mention;
        if let Some(function) = self.functions.get_mut(function as usize) {
            function.mention.add(mention);
            all = function.mention;
        }
        if let Some(latest) = self.latest.get_mut(index) {
            *latest = Latest { object, file, function, mention: all };
        }
        function
    }
}

fn short(space: usize) -> u8 {
    u8::try_from(space).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_of_a_number_is_the_latest() {
        let mut recent = Recent::default();
        let numbers = [0, 1, 1 << 20, u64::from(u32::MAX) - 1, u64::from(u32::MAX), 1 << 32, u64::MAX];
        assert!(numbers.iter().all(|&number| recent.get(number).is_none()));
        let mut latest = Map::default();
        for name in 0..200 {
            let number = numbers[name as usize * 5 % numbers.len()] ^ (u64::from(name) % 3);
            recent.set(number, name, name % 2);
            latest.insert(number, (name, name % 2));
            for &number in &numbers {
                let known = recent.get(number).map(|known| (known.name, known.given_in));
                assert!(known.is_none_or(|known| latest.get(&number) == Some(&known)), "{number} at {name}");
            }
        }
        assert!(latest.keys().filter(|&&number| recent.get(number).is_some()).count() > 3);
        assert!(recent.names.len() >= 100 && recent.get(u64::from(u32::MAX)).is_none());
        recent.forget(200);
        assert!(latest.keys().all(|&number| recent.get(number).is_none()));
        recent.set(7, 200, BEFORE);
        assert_eq!(recent.get(7).map(|known| known.name), Some(200));
    }
}
