//! The profile itself: its inputs, and an index over them.

use gristmill_format::{ErrorKind, EventDefinition, NameSpace, ProducerKind};

use crate::finding::{Finding, ForeignInput};
use crate::id::{EventId, FileId, FunctionId, NameId, ObjectId};
use crate::index::functions::FunctionData;
use crate::index::names::Text;
use crate::index::{Index, LineCounts, Texts};
use crate::input::Input;
use crate::tuning::Tuning;

/// One or several files in the Callgrind format, loaded: constant from then on.
///
/// It keeps the bytes of its inputs and an index over them. Sums by function are there at once; what stands in the
/// lines of a function is read again when it is asked for. See the [crate](crate) for an example.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    pub(crate) inputs: Vec<Input>,
    pub(crate) index: Index,
    pub(crate) tuning: Tuning,
}

// A profile is shared between threads and kept between questions.
const _: () = {
    const fn is_shareable<T: Send + Sync>() {}
    is_shareable::<Profile>();
};

/// A function of a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Function<'p> {
    /// Its name, as the file has it.
    pub name: &'p [u8],
    /// Its source file, by full path. Empty where the profile names none.
    pub file: FileId,
    /// Its object. Its name is empty where the profile names none.
    pub object: ObjectId,
    /// It has lines of its own; others are only called.
    pub is_defined: bool,
}

/// An event type of a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventType<'p> {
    /// Its name on the `events:` lines.
    pub name: &'p [u8],
    /// The how manieth of this name on its line, from 0: nobody can tell what a second column of a name means, so it is
    /// not mixed with the first.
    pub repetition: usize,
}

impl Profile {
    pub(crate) fn texts(&self) -> Texts<'_> {
        Texts { inputs: &self.inputs, made: &self.index.made }
    }

    pub(crate) fn text(&self, text: Text) -> &[u8] {
        self.texts().get(text)
    }

    fn name(&self, space: NameSpace, name: NameId) -> &[u8] {
        self.text(self.index.names[space].text(name))
    }

    /// The files it was loaded from.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// How many functions there are.
    pub fn function_count(&self) -> usize {
        self.index.functions.len()
    }

    /// All functions, in the order in which the files mention them.
    pub fn functions(&self) -> impl ExactSizeIterator<Item = FunctionId> + use<> {
        (0..self.function_count()).map(FunctionId::new)
    }

    /// A function.
    ///
    /// # Panics
    ///
    /// If it is of another profile.
    pub fn function(&self, id: FunctionId) -> Function<'_> {
        let FunctionData { key, mention } = *self.index.functions.get(id);
        Function {
            name: self.name(NameSpace::Function, key.name),
            file: key.file,
            object: key.object,
            is_defined: mention.is_defined,
        }
    }

    /// How many source files are named, that without a name included.
    pub fn file_count(&self) -> usize {
        self.index.names[NameSpace::File].len()
    }

    /// The path of a source file; empty where it is not known.
    pub fn file(&self, id: FileId) -> &[u8] {
        self.name(NameSpace::File, id.into())
    }

    /// How many objects are named, that without a name included.
    pub fn object_count(&self) -> usize {
        self.index.names[NameSpace::Object].len()
    }

    /// The path of an object; empty where it is not known.
    pub fn object(&self, id: ObjectId) -> &[u8] {
        self.name(NameSpace::Object, id.into())
    }

    /// How many event types there are.
    pub fn event_count(&self) -> usize {
        self.index.events.len()
    }

    /// The event types that have a column in some part, in the order in which the files name them.
    pub fn events(&self) -> impl ExactSizeIterator<Item = EventId> + use<> {
        (0..self.index.events.len()).map(EventId::new)
    }

    /// An event type.
    ///
    /// # Panics
    ///
    /// If it is of another profile.
    pub fn event(&self, id: EventId) -> EventType<'_> {
        let (name, repetition) = self.index.events[id.index()];
        EventType { name: self.text(name), repetition: repetition as usize }
    }

    /// What the `event:` lines say of event types, each saying once.
    pub fn event_definitions(&self) -> impl Iterator<Item = EventDefinition<'_>> {
        self.index.definitions.iter().map(|&[name, formula, long_name]| EventDefinition {
            name: name.map_or(b"", |text| self.text(text)),
            formula: formula.map(|text| self.text(text)),
            long_name: long_name.map(|text| self.text(text)),
        })
    }

    /// Returns the producer of each input.
    pub fn producers(&self) -> impl ExactSizeIterator<Item = ProducerKind> {
        self.index.producers.iter().copied()
    }

    /// Returns the producer of the first input, which is nearly always that of all. `Unknown` if there is no input.
    pub fn producer(&self) -> ProducerKind {
        self.producers().next().unwrap_or(ProducerKind::Unknown)
    }

    /// What was wrong with the files: the first [`KEPT_FINDINGS`](crate::KEPT_FINDINGS), in the order of the files.
    pub fn findings(&self) -> &[Finding] {
        &self.index.findings.kept
    }

    /// Returns the first input that is another kind of file than a profile, if there is one. It has no functions, which
    /// would look like an answer.
    ///
    /// ```
    /// use gristmill_profile::Profile;
    ///
    /// let foreign = Profile::of(b"\x7fELF\x02\x01\x01\0\0\0\0\0".to_vec());
    /// assert!(foreign.foreign_input().is_some());
    /// assert!(Profile::of(b"events: Ir\n".to_vec()).foreign_input().is_none());
    /// ```
    pub fn foreign_input(&self) -> Option<ForeignInput<'_>> {
        self.findings().iter().find_map(|finding| match finding.kind {
            ErrorKind::NotAProfile(kind) => {
                Some(ForeignInput { name: &self.inputs[finding.input].name, kind })
            }
            _ => None,
        })
    }

    /// The first finding by which something of the files was lost; see [`Finding::is_loss`]. All are looked at, not only
    /// those that are kept.
    pub fn first_loss(&self) -> Option<&Finding> {
        self.index.findings.first_loss.as_ref()
    }

    /// How much was wrong with the files.
    pub fn finding_count(&self) -> u64 {
        self.index.findings.total
    }

    /// How many lines with self costs, with calls and with jumps were read.
    pub fn line_counts(&self) -> (u64, u64, u64) {
        let LineCounts { self_costs, calls, jumps } = self.index.counts;
        (self_costs, calls, jumps)
    }

    /// The profile as text again: the bytes of its inputs, one after the other.
    ///
    /// Of one input, these are its very bytes. Several follow each other as parts, with their headers; a line end is
    /// put between two where one is missing.
    pub fn save(&self) -> Vec<u8> {
        let mut bytes: Vec<u8> = Vec::new();
        for input in &self.inputs {
            if bytes.last().is_some_and(|&last| last != b'\n') {
                bytes.push(b'\n');
            }
            bytes.extend_from_slice(&input.bytes);
        }
        bytes
    }
}
