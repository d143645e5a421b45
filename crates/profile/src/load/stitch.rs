//! Stitches the indices of chunks together, in the order of the input.
//!
//! The reader of a chunk does not know what precedes the chunk, so its [`ChunkIndex`] is full of local ids. Here each local
//! id gets its id of the profile, in the order of the file, so the result does not depend on the cuts:
//!
//! ```text
//! chunk 1                 events of names                        local name → name of the profile
//!   ob=a.out                Given "a.out"                          object 1 → 1 a.out
//!   fl=a.c                  Given "a.c"                            file 1 → 1 a.c
//!   fn=(1) main             Given "main", Define 1 = local 1       1 → 1 main
//!   16 20
//!   fn=(2) grind            Given "grind", Define 2 = local 2      2 → 2 grind
//!   50 300
//!                         local functions                        local function → function
//!                           0: (object 1, file 1, name 1)          0 → 0
//!                           1: (object 1, file 1, name 2)          1 → 1
//! chunk 2                 events of names
//!   (its start)             Inherited object, Inherited file       object 1 → 1, file 1 → 1: what holds at the end of chunk 1
//!   fn=(2)                  Id 2                                   1 → 2 grind: the meaning of (2) so far
//!   16 400
//!                         local functions
//!                           0: (object 1, file 1, name 1)          0 → 1: a function that is known
//!                         sums of the block of local function 0  self cost 400 of function 1
//! ```
//!
//! One thread stitches while the others read, so it does as little as possible for each line: it replays the events of
//! names, looks up the functions, and renames the ids of blocks and sums. It prefetches what it looks up.

use std::borrow::Cow;
use std::mem::take;

use gristmill_format::raw::{
    LineTerminator, NameContext, NameSpaces, expand_compound_name, name_value_range,
};
use gristmill_format::{Columns, ErrorKind, Location, NameSpace};

use super::chunk::{Buffers, ChunkIndex, ChunkPart, HeaderDraft, LocalAnchor, LocalBlock, PartNumbers};
use super::defining_parts::{DefiningParts, InputPart};
use super::event_types::EventTypes;
use super::evidence::Evidence;
use super::local::{LocalFunctionId, LocalName, LocalPart, SumKind};
use super::local_names::{FunctionNames, LocalFunctions};
use super::name_events::{Lookup, NameEvent};
use crate::finding::{Finding, InputErrors, MAX_FINDINGS};
use crate::hash::Seeds;
use crate::id::{FileId, FunctionId, InputId, NameId};
use crate::index::block::{Anchor, Block, BodyState};
use crate::index::functions::FunctionKey;
use crate::index::name_ids::NameIds;
use crate::index::names::{InternedNames, Text};
use crate::index::part::{
    OwnHeader, OwnHeaderId, PartData, PartStart, PartStatements, SharedHeader, SharedHeaderId,
};
use crate::index::sum_builder::SumBuilder;
use crate::index::{Hint, Index, LineCounts, Texts};
use crate::input::Input;
use crate::prefetch::{PREFETCH_COUNT, prefetch};
use crate::tuning::Tuning;

/// Compound names may take this many bytes for each byte of the inputs, and [`MAX_MADE_BYTES`] in addition: a short line
/// can refer to a long name many times.
const MAX_MADE_PER_BYTE: usize = 8;
/// Bytes that expanding compound names may put in however short the inputs are.
const MAX_MADE_BYTES: usize = 1 << 20;

/// Builds the [`Index`] of a profile, chunk by chunk.
#[derive(Debug)]
pub(super) struct Stitcher<'i> {
    inputs: &'i [Input],
    threads: usize,
    index: Index,
    /// The different `event:` lines, and the bytes of their keys.
    definitions: InternedNames,
    definition_keys: Vec<u8>,
    event_types: EventTypes,
    sums: SumBuilder<{ SumKind::COUNT }>,
    /// Bytes that expanding compound names may still put in, also for names that are known or come to nothing.
    made_budget: usize,
    input: InputState,
    open: Option<OpenPart>,
}

/// The state of the current input.
#[derive(Debug)]
struct InputState {
    id: InputId,
    /// The name context behind the chunks so far.
    context: NameContext<NameId>,
    name_ids: NameIds,
    defining_parts: NameSpaces<DefiningParts>,
    /// Number of parts of the inputs before.
    first_part: usize,
    terminator: LineTerminator,
    /// Number of lines of the chunks so far.
    lines: u64,
    inherited: InheritedHeader,
    evidence: Evidence,
    errors: InputErrors,
}

/// The part that is being stitched.
#[derive(Debug)]
struct OpenPart {
    start: PartStart,
    /// It starts with the line that Xdebug writes between profiles.
    is_fresh: bool,
    numbers: PartNumbers,
    header: HeaderDraft,
    body: Option<(Columns, BodyState)>,
}

/// Header values that hold for the following parts of an input, until one sets others.
#[derive(Debug, Clone)]
struct InheritedHeader {
    creator: Option<Text>,
    command: Option<Text>,
    pid: Option<u64>,
    columns: Columns,
}

impl Default for InheritedHeader {
    fn default() -> Self {
        InheritedHeader { creator: None, command: None, pid: None, columns: Columns::LINE }
    }
}

/// Ids of the profile by local ids of a chunk.
struct LocalIds {
    names: NameSpaces<Vec<NameId>>,
    functions: Vec<FunctionId>,
}

impl LocalIds {
    #[inline]
    fn file(&self, local: LocalName) -> FileId {
        self.names[NameSpace::File][local.index()].into()
    }

    #[inline]
    fn function(&self, local: LocalFunctionId) -> FunctionId {
        self.functions[local.index()]
    }
}

/// Converts line numbers of the reader of a chunk to those of the input.
#[derive(Debug, Clone, Copy)]
struct LineOffset {
    before_chunk: u64,
    before_in_reader: u64,
}

impl LineOffset {
    fn line(self, of_reader: u64) -> u64 {
        of_reader - self.before_in_reader + self.before_chunk
    }

    fn location(self, of_reader: Location) -> Location {
        Location { line: self.line(of_reader.line), ..of_reader }
    }
}

impl<'i> Stitcher<'i> {
    pub(super) fn new(inputs: &'i [Input], seeds: Seeds, tuning: Tuning, threads: usize) -> Self {
        let names = NameSpaces::from_fn(|_| InternedNames::with_seeds(seeds));
        let mut stitcher = Stitcher {
            inputs,
            threads,
            index: Index { names, ..Index::default() },
            definitions: InternedNames::default(),
            definition_keys: Vec::new(),
            event_types: EventTypes::default(),
            sums: SumBuilder::new(tuning),
            made_budget: MAX_MADE_BYTES,
            input: InputState::new(InputId::FIRST, &[], 0),
            open: None,
        };
        for space in NameSpace::ALL {
            let nameless = stitcher.make(space, b"");
            debug_assert_eq!(nameless, NameId::NAMELESS);
        }
        stitcher
    }

    /// Starts an input.
    pub(super) fn begin_input(&mut self, id: InputId) {
        let bytes = &self.inputs[id.index()].bytes;
        self.made_budget += MAX_MADE_PER_BYTE * bytes.len();
        self.input = InputState::new(id, bytes, self.index.parts.len());
    }

    /// Ends the current input.
    pub(super) fn end_input(&mut self) {
        self.close_part(self.input_bytes().len() as u64);
        let mut name_ids = take(&mut self.input.name_ids);
        name_ids.finish();
        self.index.name_ids.push(name_ids);
        let Evidence { creator, .. } = self.input.evidence;
        let producer = self.input.evidence.producer(&self.index, self.texts(), creator);
        self.index.producers.push(producer);
        self.index.input_errors.push(self.input.errors);
        self.index.counts.all += self.input.lines;
    }

    /// Returns the index, after all inputs.
    pub(super) fn finish(self) -> Index {
        let mut index = Index { has_unusual_costs: Hint(self.sums.has_unusual_costs()), ..self.index };
        index.self_costs.release();
        index.arcs.release();
        index.names.iter_mut().for_each(InternedNames::release);
        index.functions.release();
        index.blocks.shrink_to_fit();
        index.parts.shrink_to_fit();
        index.shared_headers.shrink_to_fit();
        index.own_headers.shrink_to_fit();
        index
    }

    fn input_bytes(&self) -> &'i [u8] {
        &self.inputs[self.input.id.index()].bytes
    }

    fn texts(&self) -> Texts<'_> {
        Texts { inputs: self.inputs, made: &self.index.made }
    }

    /// Appends the index of a chunk, and returns the memory of the chunk for another.
    pub(super) fn add(&mut self, mut chunk: ChunkIndex) -> Buffers {
        let lines = LineOffset { before_chunk: self.input.lines, before_in_reader: chunk.lines_before };
        let findings_before = self.index.findings.kept.len();
        let names = self.names(&chunk, lines);
        let functions = self.functions(&chunk.functions, &names);
        let ids = LocalIds { names, functions };
        self.parts(&mut chunk, &ids, lines);
        self.input.context =
            chunk.context.carry_over(|carried, local| ids.names[carried.space()][local.index()]);
        self.input.lines = lines.line(chunk.lines_read);
        self.count_lines(chunk.counts);
        self.findings(&mut chunk, lines, findings_before);
        chunk.into_buffers()
    }

    /// Replays the events of names, and returns the name of each local name.
    fn names(&mut self, chunk: &ChunkIndex, lines: LineOffset) -> NameSpaces<Vec<NameId>> {
        let mut names = NameSpaces::from_fn(|space| {
            let mut names = Vec::with_capacity(chunk.names.next_name(space).index());
            names.push(NameId::NAMELESS);
            names
        });
        let continues = chunk.parts.first().is_some_and(|part| part.is_continued);
        // The number of local part 0 in the input. If it does not continue the open part, that one still takes a number:
        // `parts` closes it later.
        let first_part =
            self.index.parts.len() - self.input.first_part + usize::from(self.open.is_some() && !continues);
        let part_of_input = |part: LocalPart| Some(InputPart::new(first_part + part.index()));
        let mut events = chunk.names.iter();
        for nth in 0.. {
            if nth % PREFETCH_COUNT == 0 {
                let lookups = chunk.names.lookups(nth, PREFETCH_COUNT);
                prefetch(lookups.map(|(space, lookup)| match lookup {
                    Lookup::Hash(hash) => self.index.names[space].first_slot(hash),
                    Lookup::Id(id) => self.input.name_ids.first_meaning(space, id),
                }));
            }
            // Most events.
            if let Some((space, name)) =
                events.next_meaning(|space, id| self.input.name_ids.latest(space, id))
            {
                names[space].push(name);
                continue;
            }
            let Some(event) = events.next() else { break };
            match event {
                NameEvent::Given { space, hash, text } => {
                    let texts = Texts { inputs: self.inputs, made: &self.index.made };
                    let interned = &mut self.index.names[space];
                    names[space].push(interned.intern_hashed(hash, || texts.get(text), || text, &texts));
                }
                NameEvent::Compound { space, text } => names[space].push(self.compound(space, text)),
                NameEvent::Inherited(carried) => {
                    let name = self.input.context.carried(carried).unwrap_or(NameId::NAMELESS);
                    names[carried.space()].push(name);
                }
                NameEvent::Id { space, id, empty_in, location } => {
                    let empty_in = empty_in.and_then(part_of_input);
                    names[space].push(self.name_of_id(space, id, empty_in, location, lines));
                }
                NameEvent::Define { space, id, name, part, location } => {
                    let name = names[space][name.index()];
                    self.define_id(space, id, name, part_of_input(part), location, lines);
                }
                NameEvent::Forget { byte } => {
                    self.input.name_ids.forget(byte);
                    self.input.defining_parts = NameSpaces::default();
                }
            }
        }
        names
    }

    /// Returns the name that is made of references to others.
    fn compound(&mut self, space: NameSpace, text: Text) -> NameId {
        let texts = Texts { inputs: self.inputs, made: &self.index.made };
        let meaning = |id| {
            let name = self.input.name_ids.latest(space, id)?;
            Some(Cow::Borrowed(texts.get(self.index.names[space].text(name))))
        };
        match expand_compound_name(texts.get(text), &mut self.made_budget, meaning) {
            Some(made) => self.make(space, &made),
            None => self.index.names[space].intern(texts.get(text), || text, &texts),
        }
    }

    /// Returns the meaning of a name id.
    ///
    /// `empty_in` is set for a line that has a name id and an empty text: then an id without a meaning, or with a made-up
    /// one, gets the empty name, and any other keeps its meaning. On other lines, an id without a meaning gets its number as
    /// a made-up name, and is reported.
    fn name_of_id(
        &mut self,
        space: NameSpace,
        id: u64,
        empty_in: Option<InputPart>,
        location: Location,
        lines: LineOffset,
    ) -> NameId {
        let InputState { name_ids, defining_parts, .. } = &mut self.input;
        match name_ids.latest(space, id) {
            Some(name) if empty_in.is_none() || defining_parts[space].get(id).is_some() => return name,
            _ => {}
        }
        let name = if empty_in.is_some() {
            NameId::NAMELESS
        } else {
            self.report_name(ErrorKind::UndefinedName(space, id), location, lines);
            self.make(space, format!("({id})").as_bytes())
        };
        self.input.name_ids.define(space, id, name, location.byte);
        self.input.defining_parts[space].set(id, empty_in);
        name
    }

    /// Sets the meaning of a name id. Reports it if the same part has given the id another name before.
    fn define_id(
        &mut self,
        space: NameSpace,
        id: u64,
        name: NameId,
        part: Option<InputPart>,
        location: Location,
        lines: LineOffset,
    ) {
        let InputState { name_ids, defining_parts, .. } = &mut self.input;
        let is_other = name_ids.latest(space, id).is_some_and(|known| known != name);
        let is_redefined = is_other && defining_parts[space].get(id) == part;
        name_ids.define(space, id, name, location.byte);
        defining_parts[space].set(id, part);
        if is_redefined {
            self.report_name(ErrorKind::RedefinedName(space, id), location, lines);
        }
    }

    /// Adds a finding about the name on a line.
    fn report_name(&mut self, kind: ErrorKind, location: Location, lines: LineOffset) {
        // Findings of this kind are rare, so the line is searched again rather than noted for each name.
        let value = name_value_range(self.input.terminator.line_at(self.input_bytes(), location.byte));
        let finding = Finding {
            input: self.input.id.index(),
            location: lines.location(location),
            column: value.start as u64 + 1,
            length: value.len() as u64,
            kind,
            is_repaired: true,
        };
        self.input.errors.count(&finding);
        self.index.findings.total += 1;
        self.index.findings.kept.push(finding);
    }

    /// Interns a name that is in no input.
    fn make(&mut self, space: NameSpace, name: &[u8]) -> NameId {
        let text = Text { start: self.index.made.len(), length: name.len(), input: None };
        let texts = Texts { inputs: self.inputs, made: &self.index.made };
        let names = &mut self.index.names[space];
        let before = names.len();
        let id = names.intern(name, || text, &texts);
        if names.len() > before {
            self.index.made.extend_from_slice(name);
        }
        id
    }

    /// Returns the function of each local function.
    fn functions(&mut self, local: &LocalFunctions, names: &NameSpaces<Vec<NameId>>) -> Vec<FunctionId> {
        let local = local.as_slice();
        let name_of = |name: LocalName| names[NameSpace::Function][name.index()];
        let mut functions = Vec::with_capacity(local.len());
        for chunk in local.chunks(PREFETCH_COUNT) {
            self.index.functions.prefetch(chunk.iter().map(|function| name_of(function.names.name)));
            functions.extend(chunk.iter().map(|function| {
                let FunctionNames { object, file, name } = function.names;
                let key = FunctionKey {
                    object: names[NameSpace::Object][object.index()].into(),
                    file: names[NameSpace::File][file.index()].into(),
                    name: name_of(name),
                };
                self.index.functions.mention(key, function.mention)
            }));
        }
        functions
    }

    /// Appends the parts of a chunk with their blocks and sums.
    fn parts(&mut self, chunk: &mut ChunkIndex, ids: &LocalIds, lines: LineOffset) {
        let mut anchors = chunk.anchors.iter().peekable();
        for part in &mut chunk.parts {
            let (from, to) = part.blocks;
            let open = self.begin_or_continue_part(part, lines);
            open.is_fresh |= part.is_fresh;
            open.numbers.add(part.numbers);
            if let Some(header) = part.header.take() {
                open.header.add(*header);
            }
            if let Some((columns, state)) = part.body.take().map(|body| *body) {
                open.body.get_or_insert((columns, BodyState(state)));
            }
            for (local, block) in (from..to).zip(&chunk.blocks[from..to]) {
                if let Some(&LocalAnchor { state, .. }) = anchors.next_if(|anchor| anchor.block == local) {
                    let state = BodyState(state.with_lines(lines.line(state.lines())));
                    self.index.anchors.push(Anchor { block: self.index.blocks.len(), state });
                }
                let &LocalBlock { location, needs_anchor, function, file } = block;
                self.index.blocks.push(Block::new(
                    location.byte,
                    lines.line(location.line),
                    needs_anchor,
                    ids.function(function),
                    ids.file(file),
                ));
            }
            let function = |local| ids.function(LocalFunctionId::from_u32(local)).to_u32();
            self.sums.add(&part.sums, SumKind::ALL, function, |kind, second| match kind {
                SumKind::SelfCosts => ids.file(LocalName::from_u32(second)).to_u32(),
                SumKind::Arcs => function(second),
            });
        }
        debug_assert!(anchors.next().is_none(), "an anchor is at a block");
    }

    fn begin_or_continue_part(&mut self, part: &ChunkPart, lines: LineOffset) -> &mut OpenPart {
        if !(part.is_continued && self.open.is_some()) {
            let location = lines.location(part.location.unwrap_or_default());
            self.close_part(location.byte);
        }
        let Index { blocks, self_costs, arcs, .. } = &self.index;
        self.open.get_or_insert_with(|| OpenPart {
            start: PartStart {
                location: lines.location(part.location.unwrap_or_default()),
                block: blocks.len(),
                self_costs: self_costs.end(),
                arcs: arcs.end(),
            },
            is_fresh: false,
            numbers: PartNumbers::default(),
            header: HeaderDraft::default(),
            body: None,
        })
    }

    /// Ends the open part at an offset, and seals its sums.
    fn close_part(&mut self, end_byte: u64) {
        let Some(OpenPart { start, is_fresh, numbers, header, body }) = self.open.take() else { return };
        let Index { self_costs, arcs, .. } = &mut self.index;
        self.sums.seal(self.threads, [self_costs, arcs]);
        if is_fresh {
            self.input.inherited = InheritedHeader::default();
        }
        let inherited = &mut self.input.inherited;
        inherited.creator = header.creator.or(inherited.creator);
        inherited.command = header.command.or(inherited.command);
        inherited.pid = numbers.pid.or(inherited.pid);
        if let Some((columns, _)) = &body {
            inherited.columns = *columns;
        }
        let InheritedHeader { creator, command, pid, columns } = inherited.clone();
        let texts = Texts { inputs: self.inputs, made: &self.index.made };
        let event_types = &mut self.event_types;
        let events = header
            .events
            .map(|line| event_types.of_line(line, &texts, &mut self.index.events))
            .unwrap_or_default();
        let input = self.input.id;
        self.input.evidence.add_part(&self.index, &start, &header, &columns, is_fresh);
        let producer = self.input.evidence.producer(&self.index, self.texts(), creator);
        self.define_events(&header.definitions);
        let shared_header = SharedHeader {
            creator,
            command,
            descriptions: header.descriptions,
            events,
            columns,
            body: body.map(|(_, state)| state),
            producer,
        };
        let statements = PartStatements {
            trigger: header.trigger,
            time_range: header.time_range,
            summary: header.summary,
            totals: header.totals,
        };
        let own_header = OwnHeader {
            pid,
            number: numbers.number,
            thread: numbers.thread,
            statements: (statements != PartStatements::default()).then(|| Box::new(statements)),
        };
        let shared_header =
            SharedHeaderId::new(last_equal_or_push(&mut self.index.shared_headers, shared_header));
        let own_header = OwnHeaderId::new(last_equal_or_push(&mut self.index.own_headers, own_header));
        self.index.parts.push(PartData { input, shared_header, own_header, start, end_byte });
    }

    /// Takes `event:` lines, each different one once.
    fn define_events(&mut self, definitions: &[[Option<Text>; 3]]) {
        for definition in definitions {
            let mut key: Vec<u8> = Vec::new();
            for text in definition {
                // A line end is in none of the texts, so different definitions have different keys.
                key.extend_from_slice(if text.is_some() { b"\n=" } else { b"\n" });
                key.extend(text.iter().flat_map(|&text| self.texts().get(text)));
            }
            let text = Text { start: self.definition_keys.len(), length: key.len(), input: None };
            let keys = Texts { inputs: self.inputs, made: &self.definition_keys };
            let before = self.definitions.len();
            self.definitions.intern(&key, || text, &keys);
            if self.definitions.len() > before {
                self.definition_keys.extend_from_slice(&key);
                self.index.definitions.push(*definition);
            }
        }
    }

    fn count_lines(&mut self, of_chunk: LineCounts) {
        let counts = &mut self.index.counts;
        counts.self_costs += of_chunk.self_costs;
        counts.calls += of_chunk.calls;
        counts.jumps += of_chunk.jumps;
    }

    /// Takes the findings of a chunk. Those from index `before` on are about its names, and were found while stitching.
    fn findings(&mut self, chunk: &mut ChunkIndex, lines: LineOffset, before: usize) {
        let of_chunk = &mut chunk.findings;
        let InputErrors { first, first_undefined, .. } = &mut of_chunk.errors;
        for finding in of_chunk.kept.iter_mut().chain(first).chain(first_undefined) {
            finding.input = self.input.id.index();
            finding.location = lines.location(finding.location);
        }
        self.input.errors.add(&of_chunk.errors);
        let findings = &mut self.index.findings;
        findings.total += of_chunk.total;
        findings.kept.append(&mut of_chunk.kept);
        findings.kept[before..].sort_by_key(Finding::sort_key);
        findings.kept.truncate(MAX_FINDINGS);
    }
}

impl InputState {
    fn new(id: InputId, bytes: &[u8], first_part: usize) -> Self {
        InputState {
            id,
            context: NameContext::default(),
            name_ids: NameIds::for_input(bytes.len()),
            defining_parts: NameSpaces::default(),
            first_part,
            terminator: LineTerminator::detect(bytes),
            lines: 0,
            inherited: InheritedHeader::default(),
            evidence: Evidence::default(),
            errors: InputErrors::default(),
        }
    }
}

/// Returns the index of the last value of a list, after appending one that differs from it.
fn last_equal_or_push<T: PartialEq>(list: &mut Vec<T>, value: T) -> usize {
    if list.last() != Some(&value) {
        list.push(value);
    }
    list.len() - 1
}
