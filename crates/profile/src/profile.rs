//! The profile: its inputs, and an index over them.

use std::borrow::Cow;

use gristmill_format::{ErrorKind, EventDefinition, NameSpace, ProducerKind};

use crate::finding::{Finding, NoProfile, UnusableInput};
use crate::id::{EventId, FileId, FunctionId, NameId, ObjectId};
use crate::index::functions::FunctionData;
use crate::index::names::Text;
use crate::index::{Index, LineCounts, Texts};
use crate::input::Input;
use crate::tuning::Tuning;

/// One or several files in the Callgrind format, loaded. A profile never changes.
///
/// It keeps the bytes of its inputs and an index over them. Sums by function are in the index; the lines of a function are
/// decoded when they are asked for. [The crate](crate) has an example.
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

/// A function of a profile. [The crate](crate) has an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Function<'p> {
    /// Name, as in the file.
    pub name: &'p [u8],
    /// Source file. Its path is empty if the profile names none.
    pub file: FileId,
    /// Object. Its path is empty if the profile names none.
    pub object: ObjectId,
    /// `true` if it has lines of its own; others are only called.
    pub is_defined: bool,
}

/// An event type of a profile. [The crate](crate) has an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventType<'p> {
    /// Name on the `events:` lines.
    pub name: &'p [u8],
    /// Number of columns with the same name to its left. The meaning of a second column of a name is unknown, so it is not
    /// added to the first.
    pub repetition: usize,
}

impl Profile {
    pub(crate) fn texts(&self) -> Texts<'_> {
        Texts { inputs: &self.inputs, made: &self.index.made }
    }

    pub(crate) fn text(&self, text: Text) -> &[u8] {
        self.texts().get(text)
    }

    pub(crate) fn name(&self, space: NameSpace, name: NameId) -> &[u8] {
        self.text(self.index.names[space].text(name))
    }

    /// Returns the files that it was loaded from. Costs that lost their sign have it again in these bytes.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// Returns how many functions there are.
    pub fn function_count(&self) -> usize {
        self.index.functions.len()
    }

    /// Returns all functions, in the order in which the files mention them.
    pub fn functions(&self) -> impl ExactSizeIterator<Item = FunctionId> + use<> {
        (0..self.function_count()).map(FunctionId::new)
    }

    /// Returns a function.
    ///
    /// # Panics
    ///
    /// If the id is of another profile, and beyond this one.
    pub fn function(&self, id: FunctionId) -> Function<'_> {
        let FunctionData { key, mention } = *self.index.functions.get(id);
        Function {
            name: self.name(NameSpace::Function, key.name),
            file: key.file,
            object: key.object,
            is_defined: mention.is_defined,
        }
    }

    /// Returns the source file and the object of a function, which takes less time than its name.
    ///
    /// # Panics
    ///
    /// If the id is of another profile, and beyond this one.
    #[inline]
    pub fn paths_of(&self, id: FunctionId) -> (FileId, ObjectId) {
        let FunctionData { key, .. } = self.index.functions.get(id);
        (key.file, key.object)
    }

    /// Returns how many source files are named, including the one without a name.
    pub fn file_count(&self) -> usize {
        self.index.names[NameSpace::File].len()
    }

    /// Returns the source files, in the order of their ids.
    pub fn files(&self) -> impl ExactSizeIterator<Item = FileId> + use<> {
        (0..self.file_count()).map(FileId::new)
    }

    /// Returns the path of a source file; empty if it is unknown.
    pub fn file(&self, id: FileId) -> &[u8] {
        self.name(NameSpace::File, id.into())
    }

    /// Returns how many objects are named, including the one without a name.
    pub fn object_count(&self) -> usize {
        self.index.names[NameSpace::Object].len()
    }

    /// Returns the objects, in the order of their ids.
    pub fn objects(&self) -> impl ExactSizeIterator<Item = ObjectId> + use<> {
        (0..self.object_count()).map(ObjectId::new)
    }

    /// Returns the path of an object; empty if it is unknown.
    pub fn object(&self, id: ObjectId) -> &[u8] {
        self.name(NameSpace::Object, id.into())
    }

    /// Returns how many event types there are.
    pub fn event_count(&self) -> usize {
        self.index.events.len()
    }

    /// Returns the event types that have a column in some part, in the order in which the files name them.
    pub fn events(&self) -> impl ExactSizeIterator<Item = EventId> + use<> {
        (0..self.index.events.len()).map(EventId::new)
    }

    /// Returns an event type.
    ///
    /// # Panics
    ///
    /// If the id is of another profile, and beyond this one.
    pub fn event(&self, id: EventId) -> EventType<'_> {
        let (name, repetition) = self.index.events[id.index()];
        EventType { name: self.text(name), repetition: repetition as usize }
    }

    /// Returns the different definitions of event types on `event:` lines.
    pub fn event_definitions(&self) -> impl ExactSizeIterator<Item = EventDefinition<'_>> {
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

    /// Returns the first [`MAX_FINDINGS`](crate::MAX_FINDINGS) findings, in the order of the files.
    pub fn findings(&self) -> &[Finding] {
        &self.index.findings.kept
    }

    /// Returns the first input that is no profile, if there is one. It has no functions, which would look like an answer.
    ///
    /// ```
    /// use gristmill_profile::{NoProfile, Profile};
    ///
    /// let reason = |bytes: &[u8]| Profile::from_bytes(bytes).unusable_input().map(|input| input.reason);
    /// assert!(matches!(reason(b"\x7fELF\x02\x01\x01\0\0\0\0\0"), Some(NoProfile::Foreign(_))));
    /// assert_eq!(reason(b""), Some(NoProfile::Empty));
    /// assert_eq!(reason(b"1 2 3\n4 5 6\n"), Some(NoProfile::NoEvents { has_header: false }));
    /// assert_eq!(reason(b"version: 1\ncreator: cal"), Some(NoProfile::NoEvents { has_header: true }));
    /// assert_eq!(reason(b"events: Ir\n"), None);
    /// ```
    pub fn unusable_input(&self) -> Option<UnusableInput<'_>> {
        let mut has_events = vec![false; self.inputs.len()];
        let mut has_header = vec![false; self.inputs.len()];
        for part in self.parts() {
            has_events[part.input()] |= !part.event_types().is_empty();
            has_header[part.input()] |=
                part.creator().is_some() || part.command().is_some() || part.number().is_some();
        }
        let foreign = |input: usize| {
            self.findings().iter().find_map(|finding| match finding.kind {
                ErrorKind::NotAProfile(kind) if finding.input == input => Some(kind),
                _ => None,
            })
        };
        self.inputs.iter().enumerate().find_map(|(input, Input { name, bytes })| {
            let reason = match foreign(input) {
                Some(kind) => NoProfile::Foreign(kind),
                None if bytes.is_empty() => NoProfile::Empty,
                None if has_events[input] => return None,
                None => NoProfile::NoEvents { has_header: has_header[input] },
            };
            Some(UnusableInput { input, name, reason })
        })
    }

    /// Returns how many findings there are.
    pub fn finding_count(&self) -> u64 {
        self.index.findings.total
    }

    /// Returns how many lines with self costs, with calls and with jumps were read.
    pub fn line_counts(&self) -> (u64, u64, u64) {
        let LineCounts { self_costs, calls, jumps, .. } = self.index.counts;
        (self_costs, calls, jumps)
    }

    /// Returns how many lines the inputs have.
    ///
    /// ```
    /// use gristmill_profile::Profile;
    ///
    /// assert_eq!(Profile::from_bytes(b"events: Ir\n\nfn=f\n1 2").line_count(), 4);
    /// ```
    pub fn line_count(&self) -> u64 {
        self.index.counts.all
    }

    /// Returns the profile as text: the bytes of its inputs, one after the other.
    ///
    /// One input comes back unchanged, with costs that lost their sign as they were written. Several follow each other as
    /// parts, with their headers, and a missing line end between two is added.
    pub fn save(&self) -> Vec<u8> {
        let mut bytes: Vec<u8> = Vec::new();
        for index in 0..self.inputs.len() {
            if bytes.last().is_some_and(|&last| last != b'\n') {
                bytes.push(b'\n');
            }
            bytes.extend_from_slice(&self.written(index));
        }
        bytes
    }

    /// Returns the bytes of an input, with costs that lost their sign as they were written.
    ///
    /// ```
    /// use gristmill_profile::Profile;
    ///
    /// let profile = Profile::from_bytes(b"events: Ir\nfn=f\n1 2\n".to_vec());
    /// assert_eq!(*profile.written(0), *b"events: Ir\nfn=f\n1 2\n");
    /// ```
    ///
    /// # Panics
    ///
    /// If there is no such input.
    pub fn written(&self, input: usize) -> Cow<'_, [u8]> {
        let mut bytes = Cow::Borrowed(&self.inputs[input].bytes[..]);
        for cost in self.index.restored.iter().filter(|cost| cost.input == input) {
            cost.undo(bytes.to_mut());
        }
        bytes
    }
}
