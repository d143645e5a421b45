//! Puts pieces together, in the order of the input, into the index of a profile.

use std::borrow::Cow;

use gristmill_format::raw::{LineTerminator, NameContext, expand_compound_name, name_value_range};
use gristmill_format::{Columns, ErrorKind, Location, NameSpace, Words};

use super::chunk::{
    Chunk, ChunkPart, HeaderDraft, LocalAnchor, LocalBlock, LocalFunction, Room, SELVES, TABLES,
};
use super::name_events::{Lookup, NameEvent};
use crate::finding::{Finding, KEPT_FINDINGS};
use crate::hash::{Map, Seeds};
use crate::id::EventId;
use crate::index::block::{Anchor, Block, BodyState};
use crate::index::names::{MADE, Names, Text};
use crate::index::part::{PartData, PartHeader, PartSaid};
use crate::index::sum_builder::OpenSums;
use crate::index::{Index, Texts};
use crate::input::Input;
use crate::numbers::{GivenIn, Numbers};
use crate::prefetch::{AHEAD, glance};

/// The part of a number that nothing defines.
const NOWHERE: u32 = u32::MAX - 1;

/// The empty name, which also stands for one that was never given: the first of each kind.
const NAMELESS: u32 = 0;

/// How many bytes may be put together to names: so many times the inputs, and so many more.
const MADE_TIMES: usize = 8;
const MADE_MORE: usize = 1 << 20;

/// Builds an [`Index`] piece by piece.
#[derive(Debug)]
pub(super) struct Stitcher<'i> {
    inputs: &'i [Input],
    input: usize,
    index: Index,
    /// What was said, by its text, and what event types there are.
    definitions: Names,
    definition_texts: Vec<u8>,
    events: Map<(u32, u32), u32>,
    event_names: Names,
    in_force: NameContext<u32>,
    numbers: Numbers,
    /// The part in which each number got its last meaning, from the first of the input on.
    given_in: [GivenIn; 3],
    first_part: usize,
    terminator: LineTerminator,
    /// How many lines of the input were read.
    lines: u64,
    open: Option<OpenPart>,
    inherited: Inherited,
    sums: OpenSums<TABLES>,
    threads: usize,
    /// How many bytes may still be put together to names.
    room_for_made: usize,
}

/// The part that is being put together.
#[derive(Debug, Default)]
struct OpenPart {
    data: PartData,
    /// It begins after the line that Xdebug puts between profiles.
    is_fresh: bool,
    draft: HeaderDraft,
    body: Option<(Columns, BodyState)>,
}

/// What holds for the parts of an input until one says something else.
#[derive(Debug, Clone)]
struct Inherited {
    creator: Option<Text>,
    command: Option<Text>,
    pid: Option<u64>,
    columns: Columns,
}

impl Default for Inherited {
    fn default() -> Self {
        Inherited { creator: None, command: None, pid: None, columns: Columns::LINE }
    }
}

impl<'i> Stitcher<'i> {
    pub(super) fn new(inputs: &'i [Input], seeds: Seeds, threads: usize) -> Self {
        let names = [(); 3].map(|()| Names::with_seeds(seeds));
        let mut stitcher = Stitcher {
            inputs,
            input: 0,
            index: Index { names, ..Index::default() },
            definitions: Names::default(),
            definition_texts: Vec::new(),
            events: Map::default(),
            event_names: Names::default(),
            in_force: NameContext::default(),
            numbers: Numbers::default(),
            given_in: Default::default(),
            first_part: 0,
            terminator: LineTerminator::LF,
            lines: 0,
            open: None,
            inherited: Inherited::default(),
            sums: OpenSums::default(),
            threads,
            room_for_made: MADE_MORE,
        };
        for space in 0..3 {
            stitcher.make(space, b"");
        }
        stitcher
    }

    /// Puts the next piece behind those before, and hands back the room that it took.
    pub(super) fn add(&mut self, mut chunk: Chunk) -> Room {
        let found = self.index.findings.kept.len();
        let lines = self.lines;
        let first_line = chunk.first_line;
        let line = |local: u64| local - first_line + lines;
        let input = self.input;
        for finding in chunk.findings.kept.iter_mut().chain(&mut chunk.findings.first_loss) {
            finding.input = input;
            finding.location.line = line(finding.location.line);
        }
        let continues = chunk.parts.first().is_some_and(|part| part.is_continued);
        let parts = self.index.parts.len() - self.first_part;
        let first_part = parts + usize::from(self.open.is_some() && !continues);
        let names = self.names(&chunk, line, first_part);
        let name = |space: usize, local: u32| names[space].get(local as usize).copied().unwrap_or(NAMELESS);

        let functions: Vec<u32> = chunk
            .functions
            .iter()
            .enumerate()
            .map(|(nth, &LocalFunction { object, file, name: called, mention })| {
                if nth % AHEAD == 0 {
                    let ahead = chunk.functions.iter().skip(nth).take(AHEAD);
                    let Index { functions, function_keys, .. } = &self.index;
                    function_keys.glance(functions, ahead.map(|function| name(2, function.name)));
                }
                let key = (name(0, object), name(1, file), name(2, called));
                let Index { functions, function_keys, .. } = &mut self.index;
                let id = function_keys.get_or_add(functions, key);
                if let Some(function) = functions.get_mut(id as usize) {
                    function.mention.add(mention);
                }
                id
            })
            .collect();
        let function = |local: u32| functions.get(local as usize).copied().unwrap_or_default();

        let mut anchors = chunk.anchors.iter().peekable();
        for part in &mut chunk.parts {
            let (from, to) = part.blocks;
            self.begin_or_go_on(part, line);
            let Some(open) = &mut self.open else { continue };
            open.is_fresh |= part.is_fresh;
            if let Some(header) = part.header.take() {
                open.draft.add(*header);
            }
            if let Some((columns, state)) = part.body.take().map(|body| *body) {
                open.body.get_or_insert((columns, BodyState(state)));
            }
            for (place, block) in (from..to).zip(chunk.blocks.get(from..to).unwrap_or_default()) {
                if let Some(&&LocalAnchor { block: at, state }) = anchors.peek()
                    && at == place
                {
                    anchors.next();
                    let state = BodyState(state.with_lines(line(state.lines())));
                    self.index.anchors.push(Anchor { block: self.index.blocks.len(), state });
                }
                let &LocalBlock { location, needs_anchor, function: local, file } = block;
                let (line, file) = (line(location.line), name(1, file));
                self.index.blocks.push(Block::new(location.byte, line, needs_anchor, function(local), file));
            }
            self.sums.add(&part.sums, function, |table, second| match table {
                SELVES => name(1, second),
                _ => function(second),
            });
        }

        let counts = &mut self.index.counts;
        counts.self_costs += chunk.counts.self_costs;
        counts.calls += chunk.counts.calls;
        counts.jumps += chunk.counts.jumps;
        self.in_force = chunk.in_force.carry_over(|carried, local| name(carried.space() as usize, local));
        self.lines = line(chunk.lines_read);
        self.index.findings.total += chunk.findings.total;
        self.index.findings.first_loss = self.index.findings.first_loss.or(chunk.findings.first_loss);
        let kept = &mut self.index.findings.kept;
        kept.append(&mut chunk.findings.kept);
        // Those of numbers were found apart from the others.
        kept[found..].sort_by_key(Finding::place);
        kept.truncate(KEPT_FINDINGS);
        chunk.into_room()
    }

    /// Goes through what happened to names, and returns the names of the profile by local name.
    fn names(&mut self, chunk: &Chunk, line: impl Fn(u64) -> u64, first_part: usize) -> [Vec<u32>; 3] {
        let mut names = [0, 1, 2].map(|space| Vec::with_capacity(chunk.names.name_count(space) as usize));
        let mut events = chunk.names.iter();
        for nth in 0.. {
            if nth % AHEAD == 0 {
                let lookups = chunk.names.lookups(nth, AHEAD);
                glance(lookups.map(|(space, lookup)| match lookup {
                    Lookup::Hash(hash) => self.index.names[space].first_slot(hash),
                    Lookup::Number(number) => self.numbers.first_meaning(space, number),
                }));
            }
            // Most of them.
            if let Some((space, id)) = events.next_meaning(|space, number| self.numbers.now(space, number)) {
                names[space].push(id);
                continue;
            }
            let Some(event) = events.next() else { break };
            match event {
                NameEvent::Given { space, hash, text } => {
                    let space = usize::from(space);
                    let texts = Texts { inputs: self.inputs, made: &self.index.made };
                    let id = self.index.names[space].intern_hashed(hash, || texts.get(text), || text, &texts);
                    names[space].push(id);
                }
                NameEvent::Compound { space, text } => {
                    let space = usize::from(space);
                    let texts = Texts { inputs: self.inputs, made: &self.index.made };
                    let meaning = |number| {
                        let name = self.numbers.now(space, number)?;
                        Some(Cow::Borrowed(texts.get(self.index.names[space].text(name))))
                    };
                    let id = match expand_compound_name(texts.get(text), &mut self.room_for_made, meaning) {
                        Some(made) => self.make(space, &made),
                        None => self.intern(space, text),
                    };
                    names[space].push(id);
                }
                NameEvent::InForce(slot) => {
                    names[slot.space() as usize].push(self.in_force.carried(slot).unwrap_or(NAMELESS));
                }
                NameEvent::Number { space, number, empty_in, location } => {
                    let space = usize::from(space);
                    let byte = location.byte;
                    let id = match (self.numbers.now(space, number), empty_in) {
                        (Some(id), None) => id,
                        (Some(id), _) if self.given_in[space].get(number) != NOWHERE => id,
                        (_, Some(part)) => {
                            self.numbers.define(space, number, NAMELESS, byte);
                            self.given_in[space].set(number, narrow(first_part).saturating_add(part));
                            NAMELESS
                        }
                        (None, None) => {
                            self.index.findings.total += 1;
                            let kind = ErrorKind::UndefinedName(NameSpace::ALL[space], number);
                            self.keep(kind, location, &line);
                            let id = self.make(space, format!("({number})").as_bytes());
                            self.numbers.define(space, number, id, byte);
                            self.given_in[space].set(number, NOWHERE);
                            id
                        }
                    };
                    names[space].push(id);
                }
                NameEvent::Define { space, number, name, part, location } => {
                    let space = usize::from(space);
                    let id = names[space].get(name as usize).copied().unwrap_or_default();
                    let part = narrow(first_part).saturating_add(part);
                    let known = self.numbers.now(space, number);
                    if known.is_some_and(|known| known != id) && self.given_in[space].get(number) == part {
                        self.index.findings.total += 1;
                        let kind = ErrorKind::RedefinedName(NameSpace::ALL[space], number);
                        self.keep(kind, location, &line);
                    }
                    self.numbers.define(space, number, id, location.byte);
                    self.given_in[space].set(number, part);
                }
                NameEvent::Forget { byte } => {
                    self.numbers.forget(byte);
                    self.given_in = Default::default();
                }
            }
        }
        names
    }

    fn keep(&mut self, kind: ErrorKind, mut location: Location, line: impl Fn(u64) -> u64) {
        // Kept so seldom that the line is looked for again rather than noted for each name.
        let input = self.inputs.get(self.input).map(|input| &input.bytes[..]).unwrap_or_default();
        let value = name_value_range(self.terminator.line_at(input, location.byte));
        let (column, length) = (value.start as u64 + 1, value.len() as u64);
        location.line = line(location.line);
        let finding = Finding { input: self.input, location, column, length, kind, is_repaired: true };
        self.index.findings.kept.push(finding);
    }

    fn intern(&mut self, space: usize, text: Text) -> u32 {
        let texts = Texts { inputs: self.inputs, made: &self.index.made };
        self.index.names[space].intern(texts.get(text), || text, &texts)
    }

    /// A name that stands in no input.
    fn make(&mut self, space: usize, name: &[u8]) -> u32 {
        let text = Text { at: self.index.made.len(), len: name.len(), place: MADE };
        let texts = Texts { inputs: self.inputs, made: &self.index.made };
        let before = self.index.names[space].len();
        let id = self.index.names[space].intern(name, || text, &texts);
        if self.index.names[space].len() > before {
            self.index.made.extend_from_slice(name);
        }
        id
    }

    fn begin_or_go_on(&mut self, part: &ChunkPart, line: impl Fn(u64) -> u64) {
        if part.is_continued && self.open.is_some() {
            return;
        }
        let mut location = part.location.unwrap_or_default();
        location.line = line(location.line);
        self.close(location.byte);
        let data = PartData {
            input: narrow(self.input),
            location,
            blocks: self.index.blocks.len(),
            selves: self.index.selves.end(),
            arcs: self.index.arcs.end(),
            ..PartData::default()
        };
        self.open = Some(OpenPart { data, ..OpenPart::default() });
    }

    /// The open part ends here.
    fn close(&mut self, end: u64) {
        let Some(OpenPart { mut data, is_fresh, draft, body }) = self.open.take() else { return };
        if is_fresh {
            self.inherited = Inherited::default();
        }
        let inherited = &mut self.inherited;
        inherited.creator = draft.creator.or(inherited.creator);
        inherited.command = draft.command.or(inherited.command);
        inherited.pid = draft.pid.or(inherited.pid);
        if let Some((columns, _)) = &body {
            inherited.columns = *columns;
        }
        let Inherited { creator, command, pid, columns } = inherited.clone();
        let events = self.events(draft.events);
        self.define(&draft.definitions);
        let descriptions = draft.descriptions;
        let header = PartHeader {
            creator,
            command,
            descriptions,
            events,
            columns,
            body: body.map(|(_, state)| state),
        };
        if self.index.headers.last() != Some(&header) {
            self.index.headers.push(header);
        }
        data.header = narrow(self.index.headers.len() - 1);
        let said = PartSaid {
            pid,
            number: draft.number,
            thread: draft.thread,
            trigger: draft.trigger,
            time_range: draft.time_range,
            summary: draft.summary,
            totals: draft.totals,
        };
        if self.index.said.last() != Some(&said) {
            self.index.said.push(said);
        }
        data.said = narrow(self.index.said.len() - 1);
        data.end = end;
        self.index.parts.push(data);
        let Index { selves, arcs, .. } = &mut self.index;
        self.sums.seal(self.threads, [selves, arcs]);
    }

    /// The event types of an `events:` line.
    fn events(&mut self, line: Option<Text>) -> Vec<EventId> {
        let texts = Texts { inputs: self.inputs, made: &self.index.made };
        let Some(line) = line else { return Vec::new() };
        let bytes = texts.get(line);
        let mut seen: Map<u32, u32> = Map::default();
        Words::parse(bytes)
            .iter()
            .map(|word| {
                let at = line.at + super::split::offset(bytes, word);
                let text = Text { at, len: word.len(), place: line.place };
                let name = self.event_names.intern(word, || text, &texts);
                let repetition = seen.entry(name).or_insert(0);
                let next = self.index.events.len();
                let event = *self.events.entry((name, *repetition)).or_insert(narrow(next));
                if event as usize == next {
                    self.index.events.push((text, *repetition));
                }
                *repetition += 1;
                EventId::new(event as usize)
            })
            .collect()
    }

    /// Takes what `event:` lines say, unless it was said before.
    fn define(&mut self, definitions: &[[Option<Text>; 3]]) {
        for definition in definitions {
            let texts = Texts { inputs: self.inputs, made: &self.definition_texts };
            let mut saying: Vec<u8> = Vec::new();
            for text in definition {
                // No line end is in them, so nothing else says the same.
                saying.extend_from_slice(if text.is_some() { b"\n=" } else { b"\n" });
                saying.extend_from_slice(text.map(|text| texts.get(text)).unwrap_or_default());
            }
            let text = Text { at: self.definition_texts.len(), len: saying.len(), place: MADE };
            let before = self.definitions.len();
            self.definitions.intern(&saying, || text, &texts);
            if self.definitions.len() > before {
                self.definition_texts.extend_from_slice(&saying);
                self.index.definitions.push(*definition);
            }
        }
    }

    /// An input begins.
    pub(super) fn begin_input(&mut self) {
        let input = self.inputs.get(self.input).map(|input| &input.bytes[..]).unwrap_or_default();
        let length = input.len();
        self.room_for_made += MADE_TIMES * length;
        self.terminator = LineTerminator::detect(input);
        self.numbers = Numbers::for_input(length);
        self.given_in = Default::default();
        self.first_part = self.index.parts.len();
    }

    /// The input ends here.
    pub(super) fn end_input(&mut self) {
        let end = self.inputs.get(self.input).map_or(0, |input| input.bytes.len() as u64);
        self.close(end);
        let mut numbers = std::mem::take(&mut self.numbers);
        numbers.finish();
        self.index.numbers.push(numbers);
        self.given_in = Default::default();
        self.in_force = NameContext::default();
        self.inherited = Inherited::default();
        self.lines = 0;
        self.input += 1;
    }

    /// There are no more inputs.
    pub(super) fn finish(self) -> Index {
        let mut index = self.index;
        index.selves.release();
        index.arcs.release();
        index.names.iter_mut().for_each(Names::release);
        index.functions.shrink_to_fit();
        index.function_keys.release();
        index.blocks.shrink_to_fit();
        index.parts.shrink_to_fit();
        index.headers.shrink_to_fit();
        index.said.shrink_to_fit();
        index
    }
}

fn narrow(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}
