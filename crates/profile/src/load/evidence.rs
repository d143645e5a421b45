//! The signs in an input of the program that produced it.

use gristmill_format::{Columns, NameSpace, PositionKind, ProducerEvidence, ProducerKind};

use super::chunk::HeaderDraft;
use crate::index::names::Text;
use crate::index::part::PartStart;
use crate::index::{Index, Texts};

/// The evidence of the parts of an input so far. Of each header value, the first counts.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Evidence {
    pub(super) creator: Option<Text>,
    version: Option<Text>,
    command: Option<Text>,
    /// The `events:` line.
    events: Option<Text>,
    long_name: Option<Text>,
    description: Option<Text>,
    has_addresses: bool,
    has_lines_first: bool,
    has_calls: bool,
    has_new_profile: bool,
    /// Index of the first block of the input.
    first_block: Option<usize>,
}

impl Evidence {
    /// Adds the part from `start` to the end of the index. Its sums must be sealed.
    pub(super) fn add_part(
        &mut self,
        index: &Index,
        start: &PartStart,
        header: &HeaderDraft,
        columns: &Columns,
        is_fresh: bool,
    ) {
        self.creator = self.creator.or(header.creator);
        self.version = self.version.or(header.version);
        self.command = self.command.or(header.command);
        self.events = self.events.or(header.events);
        self.long_name =
            self.long_name.or(header.definitions.iter().find_map(|&[_, _, long_name]| long_name));
        self.description = self.description.or(header.descriptions.first().map(|&(kind, _)| kind));
        self.has_addresses |= columns.index(PositionKind::Instr).is_some();
        self.has_lines_first |= columns.kinds().starts_with(&[PositionKind::Line, PositionKind::Instr]);
        self.has_calls |= start.arcs.count_to(index.arcs.end()) > 0;
        self.has_new_profile |= is_fresh;
        self.first_block = self.first_block.or((start.block < index.blocks.len()).then_some(start.block));
    }

    /// Returns the producer of a part with this creator.
    pub(super) fn producer(&self, index: &Index, texts: Texts<'_>, creator: Option<Text>) -> ProducerKind {
        let get = |text: Option<Text>| text.map(|text| texts.get(text));
        let event =
            get(self.events).and_then(|events| events.split(|&byte| byte == b' ' || byte == b'\t').next());
        let function = self.first_block.map(|block| index.functions.get(index.blocks[block].function).key);
        let name = |space, name| texts.get(index.names[space].text(name));
        ProducerEvidence {
            creator: get(creator),
            version: get(self.version),
            command: get(self.command),
            event,
            long_name: get(self.long_name),
            description: get(self.description),
            has_addresses: self.has_addresses,
            has_lines_first: self.has_lines_first,
            has_calls: self.has_calls,
            first_file: function.map(|key| name(NameSpace::File, key.file.into())),
            first_object: function.map(|key| name(NameSpace::Object, key.object.into())),
            first_function: function.map(|key| name(NameSpace::Function, key.name)),
            has_new_profile: self.has_new_profile,
        }
        .kind()
    }
}
