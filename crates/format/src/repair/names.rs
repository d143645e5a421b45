//! Names as they are written, and the callee lines that wait for their call.

use std::borrow::Cow;
use std::io;

use super::Run;
use super::change::ChangeKind;
use crate::compound::{MAX_EXPANDED_BYTES, expand_compound_name};
use crate::error::Error;
use crate::location::Location;
use crate::name::{Name, NameKey, NameSpace, is_compound_name};
use crate::reader::Reader;
use crate::record::Line;
use crate::scan::is_blank;

/// Shorter names are checked again each time.
const MIN_KNOWN_BYTES: usize = 256;

/// The beginning of names that are made for ids without one.
const UNNAMED: &[u8] = b"??? (";

fn unnamed(id: u64) -> Vec<u8> {
    [UNNAMED, format!("{id})").as_bytes()].concat()
}

/// Returns the text for a name id: its meaning, with references expanded; if that is no name, one that is made for the id.
fn meaning<'a>(reader: &Reader<'a>, space: NameSpace, id: u64) -> Cow<'a, [u8]> {
    let plain = |id| match reader.meaning(space, id) {
        Some(text) if !is_compound_name(text) => Cow::Borrowed(text),
        _ => Cow::Owned(unnamed(id)),
    };
    match reader.meaning(space, id) {
        Some(text) if is_compound_name(text) => {
            expand(text, |id| Some(plain(id))).map_or_else(|| unnamed(id).into(), Cow::Owned)
        }
        _ => plain(id),
    }
}

fn expand<'a>(text: &[u8], meaning: impl FnMut(u64) -> Option<Cow<'a, [u8]>>) -> Option<Vec<u8>> {
    expand_compound_name(text, &mut { MAX_EXPANDED_BYTES }, meaning)
}

/// A line that waits: a callee line, or what comes between such a line and the call.
#[derive(Debug)]
pub(super) enum Held<'a> {
    Name(HeldName<'a>),
    /// The text after the `#`.
    Comment(Vec<u8>),
    Blank,
}

/// A callee line that is written once it is known that its call has a cost line.
#[derive(Debug)]
pub(super) struct HeldName<'a> {
    pub(super) key: NameKey,
    pub(super) id: Option<u64>,
    pub(super) defines: bool,
    pub(super) text: Cow<'a, [u8]>,
    pub(super) location: Location,
}

impl<'a, W: io::Write> Run<'_, 'a, W> {
    /// The name that is written.
    pub(super) fn chosen(
        &mut self,
        reader: &Reader<'a>,
        key: NameKey,
        name: &Name<'a>,
        location: Location,
    ) -> HeldName<'a> {
        let text = match (name.text, name.id) {
            (Some(text), _) => self.text_of(reader, key, text, location),
            // One name for all of them would make one function of many.
            (None, Some(id)) => Cow::Owned(unnamed(id)),
            (None, None) => Cow::Borrowed(&b"???"[..]),
        };
        // A number cannot be given an empty name a second time.
        let id = name.id.filter(|_| !text.is_empty());
        HeldName { key, id, defines: name.defines, text, location }
    }

    fn text_of(
        &mut self,
        reader: &Reader<'a>,
        key: NameKey,
        text: &'a [u8],
        location: Location,
    ) -> Cow<'a, [u8]> {
        let space = key.space();
        // A file may refer to a long path often. It is checked once, unless it contains references, whose meaning may change.
        let at = (text.as_ptr().addr(), text.len());
        let is_long = text.len() >= MIN_KNOWN_BYTES;
        if is_long && self.sound_names.contains(&at) {
            return Cow::Borrowed(text);
        }
        // The grammar has no references inside names, and those inside would not follow a change of numbers.
        if let Some(expanded) = expand(text, |id| Some(meaning(reader, space, id))) {
            self.changes.note(ChangeKind::ComposedName, location);
            let text = self.without_returns(&expanded, location);
            return Cow::Owned(self.strip(space, text).to_vec());
        }
        let without_returns = self.without_returns(text, location);
        let written = self.strip(space, without_returns);
        if is_long && written.len() == text.len() && !is_compound_name(text) {
            self.sound_names.insert(at);
        }
        Cow::Borrowed(written)
    }

    /// The name without its directory, unless the rest would not read back.
    fn strip<'t>(&self, space: NameSpace, text: &'t [u8]) -> &'t [u8] {
        let stripped = self.options.strip(space, text);
        if stripped.first().is_some_and(|first| !is_blank(*first)) { stripped } else { text }
    }

    pub(super) fn write_name(&mut self, held: &HeldName<'_>) -> Result<(), Error> {
        let name = Name { id: held.id, text: Some(&held.text), defines: held.defines };
        self.write_body(Line::Name(held.key, name), None)
    }

    /// Writes the lines that wait.
    pub(super) fn flush_held(&mut self) -> Result<(), Error> {
        for held in std::mem::take(&mut self.held) {
            match held {
                Held::Name(name) => self.write_name(&name)?,
                Held::Comment(text) => self.write(Line::Comment(&text))?,
                Held::Blank => self.write(Line::Blank)?,
            }
        }
        Ok(())
    }

    /// Makes comments of the callee lines that wait.
    pub(super) fn comment_held(&mut self) -> Result<(), Error> {
        for held in std::mem::take(&mut self.held) {
            match held {
                Held::Name(name) => self.comment_name(&name)?,
                Held::Comment(text) => self.write(Line::Comment(&text))?,
                Held::Blank => self.write(Line::Blank)?,
            }
        }
        Ok(())
    }

    /// Sees to it that the callee lines of this call are among those that wait: the callee may be that of the last
    /// call, and all may come from before the beginning of the part.
    pub(super) fn complete_held(&mut self, reader: &Reader<'a>, location: Location) {
        let context = reader.context();
        let away = |name: Option<Name<'a>>, from: Option<Name<'a>>| name.filter(|_| name != from);
        for (keys, name) in [
            (&[NameKey::Cob][..], away(context.callee_object(), context.object())),
            (&[NameKey::Cfi, NameKey::Cfl], away(context.callee_file(), context.file())),
            (&[NameKey::Cfn], context.callee()),
        ] {
            let waits = |held: &Held<'_>| matches!(held, Held::Name(name) if keys.contains(&name.key));
            if let Some(name) = name
                && !self.held.iter().any(waits)
            {
                let chosen = self.chosen(reader, keys[0], &Name { defines: false, ..name }, location);
                self.held.push(Held::Name(chosen));
            }
        }
    }

    pub(super) fn comment_name(&mut self, name: &HeldName<'_>) -> Result<(), Error> {
        let text = [b" ", name.key.as_str().as_bytes(), b"=", &name.text].concat();
        self.comment(&text, name.location)
    }

    /// The callee lines lose their hold before any call came.
    pub(super) fn callee_without_call(&mut self) -> Result<(), Error> {
        for held in &self.held {
            if let Held::Name(name) = held {
                self.changes.note(ChangeKind::CalleeWithoutCall, name.location);
            }
        }
        self.comment_held()
    }
}
