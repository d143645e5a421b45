//! Events of names in a chunk, in few bytes.
//!
//! In a chunk of a large file, most name ids occur only once or twice, so one line in five makes an event.

use std::slice;

use gristmill_format::raw::{CarriedName, NameSpaces};
use gristmill_format::{Location, NameSpace};

use super::local::{LocalName, LocalPart};
use crate::id::InputId;
use crate::index::names::Text;

/// Something that stitching must know about names. The first four make the next local name of their name space.
#[derive(Debug, Clone, Copy)]
pub(super) enum NameEvent {
    /// A name is spelled out.
    Given { space: NameSpace, hash: u32, text: Text },
    /// A name is made of references to others, to be put together from the meanings of their name ids.
    Compound { space: NameSpace, text: Text },
    /// A name id is used without a local name: this chunk has not defined it, or the cache has lost it.
    Id {
        space: NameSpace,
        id: u64,
        /// The part of the line, if the line defines an empty name for a name id that has no meaning.
        empty_in: Option<LocalPart>,
        location: Location,
    },
    /// A name of the context where the chunk starts.
    Inherited(CarriedName),
    /// A name id is defined.
    Define { space: NameSpace, id: u64, name: LocalName, part: LocalPart, location: Location },
    /// All name ids lose their meaning.
    Forget { byte: u64 },
}

/// A list of [`NameEvent`]s, in the order of the file.
#[derive(Debug, Default)]
pub(super) struct NameEvents {
    /// The input of texts in short form.
    input: Option<InputId>,
    events: Vec<ShortEvent>,
    /// Events that have no short form.
    others: Vec<NameEvent>,
    next: NextNames,
}

/// The next local name of each name space.
#[derive(Debug, Clone, Copy)]
struct NextNames(NameSpaces<LocalName>);

impl Default for NextNames {
    fn default() -> Self {
        NextNames(NameSpaces::from_fn(|_| LocalName::NAMELESS.next()))
    }
}

impl NextNames {
    #[inline(always)]
    fn take(&mut self, space: NameSpace) -> LocalName {
        let name = self.0[space];
        self.0[space] = name.next();
        name
    }
}

/// The key that stitching looks up for an event.
#[derive(Debug, Clone, Copy)]
pub(super) enum Lookup {
    /// A name with this hash.
    Hash(u32),
    /// The meaning of this name id.
    Id(u32),
}

/// An event of a usual kind, with numbers below 2^32.
#[derive(Debug, Clone, Copy)]
enum ShortEvent {
    Given {
        space: NameSpace,
        hash: u32,
        start: u32,
        length: u32,
    },
    Id {
        space: NameSpace,
        id: u32,
        byte: u32,
        line: u32,
    },
    /// For the latest name, in the first part of the chunk.
    Define {
        space: NameSpace,
        id: u32,
        byte: u32,
        line: u32,
    },
    /// The next of the others.
    Other,
}

impl NameEvents {
    /// Sets the input that texts are in. There must be no events yet.
    pub(super) fn for_input(self, input: InputId) -> Self {
        debug_assert!(self.events.is_empty(), "the memory of other events");
        NameEvents { input: Some(input), ..self }
    }

    /// Removes all events and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.events.clear();
        self.others.clear();
        self.next = NextNames::default();
    }

    /// Appends an event that makes no local name.
    #[inline(always)]
    pub(super) fn push(&mut self, event: NameEvent) {
        let short = self.shortened(&event).unwrap_or_else(|| {
            self.others.push(event);
            ShortEvent::Other
        });
        self.events.push(short);
    }

    /// Appends an event that makes a local name, and returns the name.
    #[inline(always)]
    pub(super) fn push_name(&mut self, space: NameSpace, event: NameEvent) -> LocalName {
        debug_assert!(name_space(&event) == Some(space), "an event that makes a name");
        self.push(event);
        self.next.take(space)
    }

    /// Returns the next local name of a name space.
    pub(super) fn next_name(&self, space: NameSpace) -> LocalName {
        self.next.0[space]
    }

    #[inline(always)]
    fn shortened(&self, event: &NameEvent) -> Option<ShortEvent> {
        let short = |number: u64| u32::try_from(number).ok();
        Some(match *event {
            NameEvent::Given { space, hash, text } if text.input == self.input => {
                let (start, length) = (short(text.start as u64)?, short(text.length as u64)?);
                ShortEvent::Given { space, hash, start, length }
            }
            NameEvent::Id { space, id, empty_in: None, location: Location { byte, line } } => {
                ShortEvent::Id { space, id: short(id)?, byte: short(byte)?, line: short(line)? }
            }
            NameEvent::Define {
                space,
                id,
                name,
                part: LocalPart::FIRST,
                location: Location { byte, line },
            } if name.next() == self.next.0[space] => {
                ShortEvent::Define { space, id: short(id)?, byte: short(byte)?, line: short(line)? }
            }
            _ => return None,
        })
    }

    /// Returns what stitching looks up for this many events from the nth on, to prefetch it. Some may be missing.
    pub(super) fn lookups(&self, nth: usize, count: usize) -> impl Iterator<Item = (NameSpace, Lookup)> {
        self.events.iter().skip(nth).take(count).filter_map(|&event| match event {
            ShortEvent::Given { space, hash, .. } => Some((space, Lookup::Hash(hash))),
            ShortEvent::Id { space, id, .. } | ShortEvent::Define { space, id, .. } => {
                Some((space, Lookup::Id(id)))
            }
            ShortEvent::Other => None,
        })
    }

    /// Returns all events, in order.
    pub(super) fn iter(&self) -> Events<'_> {
        Events {
            input: self.input,
            events: self.events.iter(),
            others: self.others.iter(),
            next: NextNames::default(),
        }
    }
}

/// An iterator over events.
#[derive(Debug)]
pub(super) struct Events<'e> {
    input: Option<InputId>,
    events: slice::Iter<'e, ShortEvent>,
    others: slice::Iter<'e, NameEvent>,
    next: NextNames,
}

impl Events<'_> {
    /// Skips the next event if it is the use of a name id that has a meaning, and returns the meaning with its name space.
    #[inline(always)]
    pub(super) fn next_meaning<N>(
        &mut self,
        meaning: impl FnOnce(NameSpace, u64) -> Option<N>,
    ) -> Option<(NameSpace, N)> {
        let &ShortEvent::Id { space, id, .. } = self.events.as_slice().first()? else { return None };
        let name = meaning(space, id.into())?;
        self.events.next();
        self.next.take(space);
        Some((space, name))
    }
}

impl Iterator for Events<'_> {
    type Item = NameEvent;

    #[inline(always)]
    fn next(&mut self) -> Option<NameEvent> {
        let location = |byte: u32, line: u32| Location { byte: byte.into(), line: line.into() };
        let event = match *self.events.next()? {
            ShortEvent::Given { space, hash, start, length } => NameEvent::Given {
                space,
                hash,
                text: Text { start: start as usize, length: length as usize, input: self.input },
            },
            ShortEvent::Id { space, id, byte, line } => {
                NameEvent::Id { space, id: id.into(), empty_in: None, location: location(byte, line) }
            }
            ShortEvent::Define { space, id, byte, line } => NameEvent::Define {
                space,
                id: id.into(),
                name: LocalName::new(self.next.0[space].index() - 1),
                part: LocalPart::FIRST,
                location: location(byte, line),
            },
            ShortEvent::Other => {
                let event = *self.others.next()?;
                if let Some(space) = name_space(&event) {
                    self.next.take(space);
                }
                return Some(event);
            }
        };
        if let Some(space) = name_space(&event) {
            self.next.take(space);
        }
        Some(event)
    }
}

/// Returns the name space of the local name that an event makes.
#[inline]
fn name_space(event: &NameEvent) -> Option<NameSpace> {
    match *event {
        NameEvent::Given { space, .. } | NameEvent::Compound { space, .. } | NameEvent::Id { space, .. } => {
            Some(space)
        }
        NameEvent::Inherited(name) => Some(name.space()),
        NameEvent::Define { .. } | NameEvent::Forget { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_back_as_they_were_pushed() {
        let location = |byte, line| Location { byte, line };
        let text = |start, input| Text { start, length: 7, input: Some(InputId::new(input)) };
        let space = NameSpace::Function;
        let far = 1 << 33;
        let defined = |id, name, part, byte| NameEvent::Define {
            space,
            id,
            name: LocalName::new(name),
            part: LocalPart::new(part),
            location: location(byte, 5),
        };
        let used = |id, empty_in: Option<usize>, byte| NameEvent::Id {
            space,
            id,
            empty_in: empty_in.map(LocalPart::new),
            location: location(byte, 6),
        };
        let events = [
            NameEvent::Inherited(CarriedName::File),
            NameEvent::Given { space, hash: 9, text: text(11, 4) },
            defined(12, 1, 0, 13),
            NameEvent::Given { space, hash: 10, text: text(far, 4) },
            // Not the latest name; another part; an id of more than 32 bits.
            defined(14, 1, 0, 15),
            defined(14, 2, 3, 16),
            defined(far as u64, 2, 0, 17),
            NameEvent::Given { space, hash: 10, text: text(20, 5) },
            used(21, None, 22),
            used(23, Some(1), 24),
            used(25, None, far as u64),
            NameEvent::Compound { space: NameSpace::Object, text: text(26, 4) },
            NameEvent::Forget { byte: 27 },
            defined(28, 6, 0, 29),
        ];
        let mut list = NameEvents::default().for_input(InputId::new(4));
        let names: Vec<usize> = events
            .iter()
            .filter_map(|&event| match name_space(&event) {
                Some(space) => Some(list.push_name(space, event).index()),
                None => {
                    list.push(event);
                    None
                }
            })
            .collect();
        assert_eq!(names, [1, 1, 2, 3, 4, 5, 6, 1]);
        assert_eq!(NameSpace::ALL.map(|space| list.next_name(space).index()), [2, 2, 7]);
        assert_eq!(list.others.len(), 10);
        let shown = |event| format!("{event:?}");
        assert!(list.iter().map(shown).eq(events.into_iter().map(shown)));
    }
}
