//! What happened to names in a piece, in few bytes.
//!
//! Where a file is large, a piece uses most numbers that it uses for the first time, so there is an event for a fifth of
//! its lines.

use std::slice;

use gristmill_format::Location;
use gristmill_format::raw::CarriedName;

use crate::index::names::Text;

/// Something that happened to names. The first four bring a local name each, in its name space.
#[derive(Debug, Clone, Copy)]
pub(super) enum NameEvent {
    /// A name is given in full.
    Given { space: u8, hash: u32, text: Text },
    /// A name made of references to others, to be put together from what those numbers mean here.
    Compound { space: u8, text: Text },
    /// A number is used that this piece has given no meaning.
    Number {
        space: u8,
        number: u64,
        /// If it has none at all, it means the empty name from here on: in this part of the piece.
        empty_in: Option<u32>,
        location: Location,
    },
    /// A name that is in force where the piece begins.
    InForce(CarriedName),
    /// A number gets a meaning.
    Define {
        space: u8,
        number: u64,
        name: u32,
        /// Index of the part in this piece.
        part: u32,
        location: Location,
    },
    /// All numbers are forgotten.
    Forget { byte: u64 },
}

/// A list of [`NameEvent`]s, in the order of the file.
#[derive(Debug, Default)]
pub(super) struct NameEvents {
    /// The input that all texts stand in.
    place: u32,
    events: Vec<Short>,
    /// Those that have no short form.
    others: Vec<NameEvent>,
    counts: Counts,
}

/// How many local names there are in each name space.
type Counts = [u32; 3];

/// What is looked up for an event.
#[derive(Debug, Clone, Copy)]
pub(super) enum Lookup {
    Hash(u32),
    Number(u32),
}

/// An event of a usual kind, with numbers below 2^32.
#[derive(Debug, Clone, Copy)]
enum Short {
    Given {
        space: u8,
        hash: u32,
        at: u32,
        len: u32,
    },
    Number {
        space: u8,
        number: u32,
        byte: u32,
        line: u32,
    },
    /// Of the latest name, in the first part of the piece.
    Define {
        space: u8,
        number: u32,
        byte: u32,
        line: u32,
    },
    /// The next of the others.
    Other,
}

impl NameEvents {
    /// None yet, for texts of this input, in the room of others that are gone.
    pub(super) fn within(room: NameEvents, place: u32) -> Self {
        NameEvents { place, ..room }
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        self.events.clear();
        self.others.clear();
        self.counts = Counts::default();
    }

    /// Adds an event, and returns the local name that it brings, if it brings one.
    #[inline(always)]
    pub(super) fn push(&mut self, event: NameEvent) -> u32 {
        let short = self.shortened(&event).unwrap_or_else(|| {
            self.others.push(event);
            Short::Other
        });
        self.events.push(short);
        count(&mut self.counts, &event)
    }

    /// How many local names there are in a name space.
    pub(super) fn name_count(&self, space: usize) -> u32 {
        self.counts[space]
    }

    #[inline(always)]
    fn shortened(&self, event: &NameEvent) -> Option<Short> {
        let narrow = |number: u64| u32::try_from(number).ok();
        Some(match *event {
            NameEvent::Given { space, hash, text } if text.place == self.place => {
                Short::Given { space, hash, at: narrow(text.at as u64)?, len: narrow(text.len as u64)? }
            }
            NameEvent::Number { space, number, empty_in: None, location: Location { byte, line } } => {
                Short::Number { space, number: narrow(number)?, byte: narrow(byte)?, line: narrow(line)? }
            }
            NameEvent::Define { space, number, name, part: 0, location: Location { byte, line } }
                if name + 1 == self.counts[usize::from(space)] =>
            {
                Short::Define { space, number: narrow(number)?, byte: narrow(byte)?, line: narrow(line)? }
            }
            _ => return None,
        })
    }

    /// What will be looked up for so many events from the nth on: the name space, and the hash of a name or a number. Some
    /// may be missing.
    pub(super) fn lookups(&self, nth: usize, count: usize) -> impl Iterator<Item = (usize, Lookup)> {
        self.events.iter().skip(nth).take(count).filter_map(|&event| match event {
            Short::Given { space, hash, .. } => Some((usize::from(space), Lookup::Hash(hash))),
            Short::Number { space, number, .. } | Short::Define { space, number, .. } => {
                Some((usize::from(space), Lookup::Number(number)))
            }
            Short::Other => None,
        })
    }

    /// All of them, in order.
    pub(super) fn iter(&self) -> Events<'_> {
        Events {
            list: self,
            events: self.events.iter(),
            others: self.others.iter(),
            counts: Counts::default(),
        }
    }
}

/// Goes over events.
#[derive(Debug)]
pub(super) struct Events<'e> {
    list: &'e NameEvents,
    events: slice::Iter<'e, Short>,
    others: slice::Iter<'e, NameEvent>,
    counts: Counts,
}

impl Events<'_> {
    /// Passes over the next event if it is the use of a number that has a meaning, and returns that with its name space.
    #[inline(always)]
    pub(super) fn next_meaning(
        &mut self,
        meaning: impl FnOnce(usize, u64) -> Option<u32>,
    ) -> Option<(usize, u32)> {
        let &Short::Number { space, number, .. } = self.events.as_slice().first()? else { return None };
        let space = usize::from(space);
        let name = meaning(space, number.into())?;
        self.events.next();
        self.counts[space] += 1;
        Some((space, name))
    }
}

impl Iterator for Events<'_> {
    type Item = NameEvent;

    #[inline(always)]
    fn next(&mut self) -> Option<NameEvent> {
        let location = |byte: u32, line: u32| Location { byte: byte.into(), line: line.into() };
        let event = match *self.events.next()? {
            Short::Given { space, hash, at, len } => NameEvent::Given {
                space,
                hash,
                text: Text { at: at as usize, len: len as usize, place: self.list.place },
            },
            Short::Number { space, number, byte, line } => NameEvent::Number {
                space,
                number: number.into(),
                empty_in: None,
                location: location(byte, line),
            },
            Short::Define { space, number, byte, line } => NameEvent::Define {
                space,
                number: number.into(),
                name: self.counts[usize::from(space)].saturating_sub(1),
                part: 0,
                location: location(byte, line),
            },
            Short::Other => *self.others.next()?,
        };
        count(&mut self.counts, &event);
        Some(event)
    }
}

/// Counts the local name that an event brings, and returns it.
#[inline]
fn count(counts: &mut Counts, event: &NameEvent) -> u32 {
    let space = match *event {
        NameEvent::Given { space, .. }
        | NameEvent::Compound { space, .. }
        | NameEvent::Number { space, .. } => usize::from(space),
        NameEvent::InForce(slot) => slot.space() as usize,
        NameEvent::Define { .. } | NameEvent::Forget { .. } => return 0,
    };
    let name = counts[space];
    counts[space] += 1;
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_back_as_they_went_in() {
        let location = |byte, line| Location { byte, line };
        let text = |at, place| Text { at, len: 7, place };
        let far = 1 << 33;
        let defined = |number, name, part, byte| NameEvent::Define {
            space: 2,
            number,
            name,
            part,
            location: location(byte, 5),
        };
        let used = |number, empty_in, byte| NameEvent::Number {
            space: 2,
            number,
            empty_in,
            location: location(byte, 6),
        };
        let events = [
            NameEvent::InForce(CarriedName::File),
            NameEvent::Given { space: 2, hash: 9, text: text(11, 4) },
            defined(12, 0, 0, 13),
            NameEvent::Given { space: 2, hash: 10, text: text(far, 4) },
            // Not the latest name; another part; too far.
            defined(14, 0, 0, 15),
            defined(14, 1, 3, 16),
            defined(far as u64, 1, 0, 17),
            NameEvent::Given { space: 2, hash: 10, text: text(20, 5) },
            used(21, None, 22),
            used(23, Some(1), 24),
            used(25, None, far as u64),
            NameEvent::Compound { space: 0, text: text(26, 4) },
            NameEvent::Forget { byte: 27 },
            defined(28, 5, 0, 29),
        ];
        let mut list = NameEvents::within(NameEvents::default(), 4);
        let names: Vec<u32> = events.iter().map(|&event| list.push(event)).collect();
        assert_eq!(names, [0, 0, 0, 1, 0, 0, 0, 2, 3, 4, 5, 0, 0, 0]);
        assert_eq!([0, 1, 2].map(|space| list.name_count(space)), [1, 1, 6]);
        assert_eq!(list.others.len(), 10);
        let shown = |event| format!("{event:?}");
        assert!(list.iter().map(shown).eq(events.into_iter().map(shown)));
    }
}
