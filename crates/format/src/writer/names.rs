//! The ids of names in the output.

use std::collections::HashMap;
use std::marker::PhantomData;
use std::num::NonZeroU32;
use std::ops::Range;

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
    /// The addresses of the input that names are taken from. It stays as it is while the output is written.
    input: Range<usize>,
}

/// The address and length of a text that stays as it is. Equal ones are the same text.
type InputText = (usize, usize);

/// Long names that a caller of [`Writer::recurring_name`](super::Writer::recurring_name) has written, by where their texts are: as
/// texts are borrowed, the same place has the same text.
///
/// ```
/// use gristmill_format::{Name, NameKey, NameStyle, RecurringNames, Writer};
///
/// let path = format!("/{}.c", "p".repeat(1000));
/// let mut names = RecurringNames::default();
/// let mut out = Vec::new();
/// let mut writer = Writer::new(&mut out).names(NameStyle::Compressed);
/// writer.events(&["Ir"])?;
/// for line in 1..=3 {
///     writer.recurring_name(NameKey::Fl, Name::plain(path.as_bytes()), &mut names)?;
///     writer.cost(&[line], &[1])?;
/// }
/// writer.finish()?;
/// assert_eq!(out, format!("events: Ir\nfl=(1) {path}\n1 1\nfl=(1)\n2 1\nfl=(1)\n3 1\n").into_bytes());
/// # Ok::<(), gristmill_format::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct RecurringNames<'t> {
    /// The id that was written, and the name that it meant.
    written: NameSpaces<HashMap<RecurringKey, (u64, NonZeroU32)>>,
    texts: PhantomData<&'t [u8]>,
}

/// A text, and the id that the caller gave it.
type RecurringKey = (InputText, Option<u64>);

/// Returns the key of a name in [`RecurringNames`]. `None` for a short one, and for a definition.
fn recurring_key(name: &Name<'_>) -> Option<RecurringKey> {
    let text = name.text.filter(|text| text.len() >= MIN_INPUT_TEXT_BYTES && !name.defines)?;
    Some(((text.as_ptr().addr(), text.len()), name.id))
}

/// Shorter texts are compared faster than they are looked up by where they are.
const MIN_INPUT_TEXT_BYTES: usize = 256;

impl OutputNames {
    /// Gives names without an id only ids above this one.
    pub(super) fn reserve_ids(&mut self, space: NameSpace, highest: u64) {
        self.spaces[space].numbering.reserve(highest);
    }

    /// Recognises names in this text by where they are. A path may be long and have an id: a file can refer to it so often that
    /// comparing it each time takes time in the square of the file's size.
    pub(super) fn recognise(&mut self, input: &[u8]) {
        self.input = input.as_ptr_range().start.addr()..input.as_ptr_range().end.addr();
    }

    /// Returns where a text is in the input, if it is long and there.
    fn input_text(&self, text: &[u8]) -> Option<InputText> {
        let begin = text.as_ptr().addr();
        let is_long = text.len() >= MIN_INPUT_TEXT_BYTES;
        (is_long && self.input.contains(&begin) && text.len() <= self.input.end - begin)
            .then_some((begin, text.len()))
    }

    /// `true` if the output has defined an id by this text of the input, and no other text since.
    pub(super) fn is_recognised(&self, key: NameKey, name: &Name<'_>) -> bool {
        let (Some(id), Some(text)) = (name.id, name.text) else { return false };
        self.input_text(text).is_some_and(|text| self.spaces[key.space()].is_recognised(id, text))
    }

    /// Reserves memory for names with ids.
    pub(super) fn reserve_names(&mut self, space: NameSpace, name_count: usize) {
        self.spaces[space].numbering.reserve_names(name_count);
    }

    /// Forgets what ids mean.
    pub(super) fn forget_ids(&mut self) {
        self.spaces.iter_mut().for_each(|space| {
            space.defined.clear();
            space.of_input.clear();
        });
    }

    /// Takes a name line that was written in this part.
    pub(super) fn define(&mut self, key: NameKey, name: &Name<'_>, part: u32) {
        if let (Some(id), Some(text), true) = (name.id, name.text, name.defines) {
            let input_text = self.input_text(text);
            let ids = &mut self.spaces[key.space()];
            ids.define(id, text, part);
            match input_text {
                Some(text) => ids.of_input.insert(id, text),
                None => ids.of_input.remove(&id),
            };
        }
    }

    /// Returns a reference to a name that was written before, in this part or another one. Its text is not looked at and not
    /// written again: a path may be as long as all lines, or all parts, that mention it.
    pub(super) fn recurring<'n>(
        &mut self,
        key: NameKey,
        name: &Name<'n>,
        names: &RecurringNames<'_>,
    ) -> Option<Name<'n>> {
        let space = key.space();
        let &(id, meaning) = names.written[space].get(&recurring_key(name)?)?;
        let ids = &mut self.spaces[space];
        let is_last = || ids.numbering.last_of(meaning) == Some(id);
        let has_meaning = ids.defined.get(id).is_some_and(|(defined, _)| defined == meaning);
        if !has_meaning || !name.id.map_or_else(is_last, |given| given == id) {
            return None;
        }
        if self.style != NameStyle::AsGiven {
            ids.numbering.learn_interned(meaning, id);
        }
        Some(Name { id: Some(id), ..*name })
    }

    /// Takes note of what was written for a name that may recur.
    pub(super) fn keep(
        &self,
        key: NameKey,
        name: &Name<'_>,
        written: Name<'_>,
        names: &mut RecurringNames<'_>,
    ) {
        let space = key.space();
        // The next one refers to what this one defines.
        let recurs = Name { defines: false, ..*name };
        if let (Some(recurring), Some(id)) = (recurring_key(&recurs), written.id)
            && let Some((meaning, _)) = self.spaces[space].defined.get(id)
        {
            names.written[space].insert(recurring, (id, meaning));
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
        if let (true, Some(id)) = (self.is_recognised(key, &name), name.id)
            && self.style != NameStyle::Plain
        {
            let ids = &mut self.spaces[space];
            if self.style != NameStyle::AsGiven {
                ids.learn_defined(id);
            }
            return Ok(name);
        }
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
    /// The ids that were defined by a long text of the input.
    of_input: HashMap<u64, InputText>,
}

impl OutputIds {
    fn is_recognised(&self, id: u64, text: InputText) -> bool {
        self.of_input.get(&id) == Some(&text)
    }

    /// Takes note that the name that an id means has this id.
    fn learn_defined(&mut self, id: u64) {
        if let Some((name, _)) = self.defined.get(id) {
            self.numbering.learn_interned(name, id);
        }
    }

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
