//! The event types of all `events:` lines, each once.

use gristmill_format::Words;

use super::local::offset;
use crate::hash::Map;
use crate::id::{EventId, NameId};
use crate::index::Texts;
use crate::index::names::{InternedNames, Text};

/// Event types by name. A line can have a name several times; these are different event types.
///
/// A hostile line has millions of names, nearly all different, so those that are not repeated take no hash table of their own.
#[derive(Debug, Default)]
pub(super) struct EventTypes {
    names: InternedNames,
    /// By name.
    named: Vec<NamedEvent>,
    /// The event types that are not the first of their name on a line.
    repeated: Map<(NameId, u32), EventId>,
    /// The count of lines so far.
    lines: u32,
}

#[derive(Debug)]
struct NamedEvent {
    first: EventId,
    /// The last line that has the name, and how often it has it.
    line: u32,
    seen: u32,
}

impl EventTypes {
    /// Returns the event types of a line. New ones are added to the list.
    pub(super) fn of_line(
        &mut self,
        line: Text,
        texts: &Texts<'_>,
        events: &mut Vec<(Text, u32)>,
    ) -> Vec<EventId> {
        let bytes = texts.get(line);
        self.lines += 1;
        Words::parse(bytes)
            .iter()
            .map(|word| {
                let start = line.start + offset(bytes, word);
                let text = Text { start, length: word.len(), input: line.input };
                let name = self.names.intern(word, || text, texts);
                let mut add = |repetition: u32| {
                    events.push((text, repetition));
                    EventId::new(events.len() - 1)
                };
                let Some(named) = self.named.get_mut(name.index()) else {
                    let first = add(0);
                    self.named.push(NamedEvent { first, line: self.lines, seen: 1 });
                    return first;
                };
                let repetition = if named.line == self.lines { named.seen } else { 0 };
                (named.line, named.seen) = (self.lines, repetition + 1);
                match repetition {
                    0 => named.first,
                    _ => *self.repeated.entry((name, repetition)).or_insert_with(|| add(repetition)),
                }
            })
            .collect()
    }
}
