//! Names and labels, each with an id.

use std::rc::Rc;

use gristmill_profile::hash::Map;
use gristmill_profile::{MemoryBudget, OverBudget};

/// The memory of tables, which must not exceed the budget.
#[derive(Debug, Clone, Copy)]
pub(super) struct Memory {
    taken: usize,
    budget: MemoryBudget,
}

impl Memory {
    pub(super) fn new(input_bytes: usize) -> Memory {
        Memory { taken: 0, budget: MemoryBudget::for_bytes(input_bytes) }
    }

    /// Counts bytes that are about to be allocated.
    pub(super) fn take(&mut self, bytes: usize) -> Result<(), OverBudget> {
        self.taken = self.taken.saturating_add(bytes);
        self.budget.check_bytes(self.taken)
    }
}

/// The id of a text of [`Texts`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct TextId(u32);

impl TextId {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }

    /// All ids, in order.
    pub(super) fn all() -> impl Iterator<Item = TextId> {
        (0..=u32::MAX).map(TextId)
    }
}

/// Texts, each once.
#[derive(Debug, Default)]
pub(super) struct Texts {
    texts: Vec<Rc<[u8]>>,
    ids: Map<Rc<[u8]>, TextId>,
}

impl Texts {
    /// The bytes of an entry in both tables, which may have twice the size that they need.
    const ENTRY_BYTES: usize = 120;

    pub(super) fn id(&mut self, text: &[u8], memory: &mut Memory) -> Result<TextId, OverBudget> {
        if let Some(&id) = self.ids.get(text) {
            return Ok(id);
        }
        memory.take(text.len() + Self::ENTRY_BYTES)?;
        let id = TextId(u32::try_from(self.texts.len()).unwrap_or(u32::MAX));
        let text: Rc<[u8]> = text.into();
        self.texts.push(Rc::clone(&text));
        self.ids.insert(text, id);
        Ok(id)
    }

    pub(super) fn find(&self, text: &[u8]) -> Option<TextId> {
        self.ids.get(text).copied()
    }

    pub(super) fn text(&self, id: TextId) -> &[u8] {
        &self.texts[id.index()]
    }
}

/// The names of one kind that ids such as `(7)` stand for. The digits are compared as text.
#[derive(Debug, Default)]
pub(super) struct CompressedNames(Map<Vec<u8>, TextId>);

impl CompressedNames {
    /// Returns the name that a value gives or stands for; `None` if its id has no name.
    pub(super) fn name(
        &mut self,
        value: &[u8],
        texts: &mut Texts,
        memory: &mut Memory,
    ) -> Result<Option<TextId>, OverBudget> {
        let Some((id, name)) = split_id(value) else { return texts.id(value, memory).map(Some) };
        if name.is_empty() {
            return Ok(self.0.get(id).copied());
        }
        let name = texts.id(name, memory)?;
        if let Some(known) = self.0.get_mut(id) {
            *known = name;
        } else {
            memory.take(id.len() + Texts::ENTRY_BYTES)?;
            self.0.insert(id.to_owned(), name);
        }
        Ok(Some(name))
    }
}

/// Splits `(7) name` into id and name.
fn split_id(value: &[u8]) -> Option<(&[u8], &[u8])> {
    let inside = value.strip_prefix(b"(")?;
    let digits = inside.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let rest = inside.get(digits..)?.strip_prefix(b")")?;
    (digits > 0).then(|| (&inside[..digits], without_space_before(rest)))
}

/// `true` for white space as patterns of Perl have it.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// A text without white space at its beginning.
pub(super) fn without_space_before(text: &[u8]) -> &[u8] {
    &text[text.iter().take_while(|&&byte| is_space(byte)).count()..]
}

/// The words of a text.
pub(super) fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|&byte| is_space(byte)).filter(|word| !word.is_empty())
}
