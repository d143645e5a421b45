//! The ids of names in the output.

use std::num::NonZeroU32;

use super::check::is_one_line;
use crate::error::ErrorKind;
use crate::id_table::IdTable;
use crate::name::{Name, NameKey, NameSpace, is_compound_name, looks_numbered};
use crate::name_spaces::NameSpaces;
use crate::numbering::Numbering;
use crate::scan::is_blank;
use crate::style::NameStyle;

/// The names that the output has given ids, and the choice of an id for the next one.
#[derive(Debug, Default)]
pub(super) struct OutputNames {
    pub(super) style: NameStyle,
    spaces: NameSpaces<OutputIds>,
}

impl OutputNames {
    /// Gives names without an id only ids above this one.
    pub(super) fn reserve_ids(&mut self, space: NameSpace, highest: u64) {
        self.spaces[space].numbering.reserve(highest);
    }

    /// Reserves memory for names with ids.
    pub(super) fn reserve_names(&mut self, space: NameSpace, name_count: usize) {
        self.spaces[space].numbering.reserve_names(name_count);
    }

    /// Forgets what ids mean.
    pub(super) fn forget_ids(&mut self) {
        self.spaces.iter_mut().for_each(|space| space.defined.clear());
    }

    /// Takes a name line that was written in this part.
    pub(super) fn define(&mut self, key: NameKey, name: &Name<'_>, part: u32) {
        if let (Some(id), Some(text), true) = (name.id, name.text, name.defines) {
            self.spaces[key.space()].define(id, text, part);
        }
    }

    /// Returns the name in the writer's style, with an id that the output knows.
    pub(super) fn choose<'n>(
        &mut self,
        key: NameKey,
        name: Name<'n>,
        part: u32,
    ) -> Result<Name<'n>, ErrorKind> {
        let space = key.space();
        let ids = &mut self.spaces[space];
        let Some(text) = name.text else {
            return match name.id {
                Some(id) if ids.defined.get(id).is_none() => Ok(name),
                Some(id) => Err(ErrorKind::RedefinedName(space, id)),
                None => Err(ErrorKind::UnreadableText),
            };
        };
        if text.first().is_some_and(|first| is_blank(*first)) {
            return Err(ErrorKind::UnreadableText);
        }
        if !is_one_line(text) {
            return Err(ErrorKind::LineEndInText);
        }
        let chosen = match (self.style, name.id) {
            (NameStyle::Plain, _) if !is_compound_name(text) => Name::plain(text),
            (NameStyle::AsGiven, None) if looks_numbered(text) => return Err(ErrorKind::UnreadableText),
            (NameStyle::AsGiven, None) => name,
            (NameStyle::AsGiven, Some(id)) => Name { defines: name.defines || !ids.means(id, text), ..name },
            (NameStyle::Compressed | NameStyle::Plain, Some(id)) if !ids.is_taken(id, text, part) => {
                Name { defines: name.defines || !ids.means(id, text), ..name }
            }
            // There is nothing to compress, and an id could not be given this meaning a second time.
            (NameStyle::Compressed, _) if text.is_empty() => Name::plain(text),
            (NameStyle::Compressed | NameStyle::Plain, _) => {
                let mut id = ids.numbering.guess(text);
                if ids.is_taken(id, text, part) {
                    id = ids.numbering.unused(|id| ids.defined.get(id).is_some());
                }
                Name { id: Some(id), text: Some(text), defines: !ids.is_defined(id, text, part) }
            }
        };
        if let Some(id) = chosen.id {
            if chosen.defines && text.is_empty() && ids.defined.get(id).is_some() && !ids.means(id, text) {
                return Err(ErrorKind::UnreadableText);
            }
            if self.style != NameStyle::AsGiven {
                ids.numbering.learn(text, id);
            }
        }
        Ok(chosen)
    }
}

/// The ids of one name space.
#[derive(Debug, Default)]
struct OutputIds {
    /// The meaning of each id for a reader: a name that the numbering knows, and the part that defined it.
    defined: IdTable<(NonZeroU32, u32)>,
    /// The id that each name had last.
    numbering: Numbering,
}

impl OutputIds {
    fn means(&self, id: u64, text: &[u8]) -> bool {
        self.defined.get(id).is_some_and(|(name, _)| self.numbering.is(name, text))
    }

    /// `true` if this part has given the id this meaning.
    fn is_defined(&self, id: u64, text: &[u8], part: u32) -> bool {
        self.means(id, text) && self.defined.get(id).is_some_and(|(_, defined_in)| defined_in == part)
    }

    fn define(&mut self, id: u64, text: &[u8], part: u32) {
        // A name that is not known to be defined is defined once more.
        if let Some(name) = self.numbering.intern(text) {
            self.defined.set(id, (name, part));
        }
    }

    /// `true` if another name of the same part has the id.
    fn is_taken(&self, id: u64, text: &[u8], part: u32) -> bool {
        !self.means(id, text) && self.defined.get(id).is_some_and(|(_, defined_in)| defined_in == part)
    }
}
