//! The profile itself: its inputs, and an index over them.

use std::ops::Range;

use gristmill_format::{Cost, EventDefinition};

use crate::analysis::arcs::{Arcs, ArcsMut};
use crate::analysis::{Arc, CallGraph};
use crate::block::{Anchor, Block, BlocksByFunction, BodyState};
use crate::cost::CostTable;
use crate::finding::{Finding, Findings};
use crate::function_keys::FunctionKeys;
use crate::id::{EventId, FileId, FunctionId, ObjectId, PartId};
use crate::input::Input;
use crate::load::{LineCounts, Mention};
use crate::numbers::Numbers;
use crate::part::{Part, PartData, PartHeader, PartSaid};
use crate::selection::Selection;
use crate::sums::{Stretch, SumTable};
use crate::text::{Bytes, MADE, Names, Text};
use crate::threads::on_all_cores;

/// One or several files in the Callgrind format, loaded: constant from then on.
///
/// It keeps the bytes of its inputs and an index over them. Sums by function are there at once; what stands in the
/// lines of a function is read again when it is asked for. See the [crate](crate) for an example.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    pub(crate) inputs: Vec<Input>,
    pub(crate) index: Index,
}

/// What is known of the inputs.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Index {
    /// Texts that stand in no input: names made of references, and those of numbers that nothing defines.
    pub(crate) made: Vec<u8>,
    pub(crate) names: [Names; 3],
    pub(crate) numbers: Vec<Numbers>,
    pub(crate) functions: Vec<FunctionData>,
    /// By object, file and name; also those that turned out to be another.
    pub(crate) function_keys: FunctionKeys,
    /// Name, and the how manieth of that name on its line.
    pub(crate) events: Vec<(Text, u32)>,
    pub(crate) definitions: Vec<[Option<Text>; 3]>,
    pub(crate) headers: Vec<PartHeader>,
    pub(crate) said: Vec<PartSaid>,
    pub(crate) parts: Vec<PartData>,
    pub(crate) blocks: Vec<Block>,
    pub(crate) blocks_by_function: BlocksByFunction,
    pub(crate) anchors: Vec<Anchor>,
    pub(crate) selves: SumTable,
    pub(crate) arcs: SumTable,
    pub(crate) counts: LineCounts,
    pub(crate) findings: Findings,
}

/// What makes a function: object, file and name.
pub(crate) type FunctionKey = (u32, u32, u32);

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct FunctionData {
    pub(crate) key: FunctionKey,
    pub(crate) mention: Mention,
}

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

/// Texts of inputs, and those that stand in none.
pub(crate) struct Texts<'p> {
    pub(crate) inputs: &'p [Input],
    pub(crate) made: &'p [u8],
}

impl<'p> Texts<'p> {
    pub(crate) fn get(&self, text: Text) -> &'p [u8] {
        let bytes = match text.place {
            MADE => self.made,
            place => self.inputs.get(place as usize).map(|input| &input.bytes[..]).unwrap_or_default(),
        };
        bytes.get(text.at..text.at + text.len).unwrap_or_default()
    }
}

impl Bytes for Texts<'_> {
    fn bytes(&self, text: Text) -> &[u8] {
        self.get(text)
    }
}

impl Profile {
    pub(crate) fn texts(&self) -> Texts<'_> {
        Texts { inputs: &self.inputs, made: &self.index.made }
    }

    pub(crate) fn text(&self, text: Text) -> &[u8] {
        self.texts().get(text)
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
        (0..self.index.functions.len()).map(FunctionId::new)
    }

    /// A function.
    ///
    /// # Panics
    ///
    /// If it is of another profile.
    pub fn function(&self, id: FunctionId) -> Function<'_> {
        let FunctionData { key: (object, file, name), mention } = self.index.functions[id.index()];
        Function {
            name: self.text(self.index.names[2].text(name)),
            file: FileId::new(file as usize),
            object: ObjectId::new(object as usize),
            is_defined: mention.is_defined,
        }
    }

    /// How many source files are named, that without a name included.
    pub fn file_count(&self) -> usize {
        self.index.names[1].len()
    }

    /// The path of a source file; empty where it is not known.
    pub fn file(&self, id: FileId) -> &[u8] {
        self.text(self.index.names[1].text(narrow(id.index())))
    }

    /// How many objects are named, that without a name included.
    pub fn object_count(&self) -> usize {
        self.index.names[0].len()
    }

    /// The path of an object; empty where it is not known.
    pub fn object(&self, id: ObjectId) -> &[u8] {
        self.text(self.index.names[0].text(narrow(id.index())))
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
            name: name.map(|text| self.text(text)).unwrap_or_default(),
            formula: formula.map(|text| self.text(text)),
            long_name: long_name.map(|text| self.text(text)),
        })
    }

    /// How many parts there are.
    pub fn part_count(&self) -> usize {
        self.index.parts.len()
    }

    /// The parts, in the order of the files.
    pub fn parts(&self) -> impl ExactSizeIterator<Item = Part<'_>> {
        (0..self.index.parts.len()).map(|index| Part::new(self, index))
    }

    /// A part.
    ///
    /// # Panics
    ///
    /// If it is of another profile.
    pub fn part(&self, id: PartId) -> Part<'_> {
        assert!(id.index() < self.index.parts.len(), "a part of this profile");
        Part::new(self, id.index())
    }

    /// The parts that are selected, in the order of the files.
    pub fn selected<'p>(&'p self, selection: &'p Selection) -> impl Iterator<Item = Part<'p>> {
        self.parts().filter(|part| selection.includes(part.number(), part.thread(), part.pid()))
    }

    /// What was wrong with the files: the first [`KEPT_FINDINGS`](crate::KEPT_FINDINGS), in the order of the files.
    pub fn findings(&self) -> &[Finding] {
        &self.index.findings.kept
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

    /// The sums of self cost, by event type.
    pub fn totals(&self, selection: &Selection) -> Vec<Cost> {
        let mut totals = vec![0; self.event_count()];
        for part in self.selected(selection) {
            let events = part.event_types();
            self.each_self_cost(&part, |_, _, costs| {
                events.iter().zip(costs).for_each(|(event, cost)| totals[event.index()] += cost);
            });
        }
        totals
    }

    /// Hands out the self costs of a part by function and by the file of the lines, which for inlined code is another
    /// than that of the function. Costs are in the order of the part's own event types.
    pub fn each_self_cost(&self, part: &Part<'_>, mut take: impl FnMut(FunctionId, FileId, &[Cost])) {
        let (from, to) = self.index.self_range(part.id().index());
        self.index.selves.each(from, to, part.event_types().len(), |(function, file), _, costs| {
            take(FunctionId::new(function as usize), FileId::new(file as usize), costs);
        });
    }

    /// Hands out the arcs of a part by caller, then callee: how often, and the inclusive costs in the order of the
    /// part's own event types.
    pub fn each_arc(&self, part: &Part<'_>, mut take: impl FnMut(Arc, &[Cost])) {
        let (from, to) = self.index.arc_range(part.id().index());
        self.index.arcs.each(from, to, part.event_types().len(), |(caller, callee), count, costs| {
            let [caller, callee] = [caller, callee].map(|function| FunctionId::new(function as usize));
            take(Arc { caller, callee, count }, costs);
        });
    }

    /// Who calls whom in the selected parts, with self costs and the costs of arcs. There is a column for each event
    /// type, and one of zeros where the profile has none.
    pub fn call_graph(&self, selection: &Selection) -> CallGraph {
        self.call_graph_of(selection, &self.events().collect::<Vec<_>>())
    }

    /// The same with a column for each of these event types, or one of zeros for none of them. Of many event types, the
    /// costs that are not asked for take neither time nor memory.
    pub fn call_graph_of(&self, selection: &Selection, events: &[EventId]) -> CallGraph {
        let width = events.len().max(1);
        let mut wanted: Vec<(EventId, usize)> = events.iter().copied().zip(0..).collect();
        wanted.sort_unstable();
        let runs = self.arc_runs(selection);
        let counts: Vec<usize> = runs.iter().map(|run| run.count).collect();
        let arc_count = counts.iter().sum();

        let mut self_costs = CostTable::new(width, self.function_count());
        let mut arcs = Arcs::zeros(width, arc_count);
        let mut tasks = vec![GraphTask::SelfCosts(&mut self_costs)];
        tasks
            .extend(arcs.pieces(&counts).into_iter().zip(runs).map(|(arcs, run)| GraphTask::Arcs(arcs, run)));
        on_all_cores(self.function_count() + arc_count, tasks, |task| match task {
            GraphTask::SelfCosts(self_costs) => {
                self.with_columns(0..self.part_count(), selection, &wanted, |part, columns| {
                    let (from, to) = self.index.self_range(part);
                    self.index.selves.each(from, to, columns.width, |(function, _), _, costs| {
                        columns.add(costs, self_costs.row_mut(function as usize));
                    });
                });
            }
            GraphTask::Arcs(mut arcs, run) => {
                let mut place = 0;
                self.with_columns(run.parts, selection, &wanted, |part, columns| {
                    let (from, to) = self.index.arc_range(part);
                    let take = |ends: (u32, u32), count, costs: &[_]| {
                        columns.add(costs, arcs.put(place, ends, count));
                        place += 1;
                    };
                    match &run.stretch {
                        Some(stretch) => self.index.arcs.each_of(stretch, columns.width, take),
                        None => self.index.arcs.each(from, to, columns.width, take),
                    }
                });
            }
        });
        CallGraph::of_arcs(self_costs, arcs)
    }

    /// The arcs of the selected parts, cut into runs that are worth a task each.
    fn arc_runs(&self, selection: &Selection) -> Vec<ArcRun> {
        const MANY: usize = if cfg!(test) { 4 } else { 1 << 15 };
        let mut runs: Vec<ArcRun> = Vec::new();
        for index in self.selected(selection).map(|part| part.id().index()) {
            let parts = index..index + 1;
            let (from, to) = self.index.arc_range(index);
            let whole = from.count_to(to);
            if whole >= MANY {
                let stretches = self.index.arcs.stretches(from, to);
                runs.extend(stretches.map(|stretch| ArcRun {
                    parts: parts.clone(),
                    stretch: Some(stretch),
                    count: stretch.count(),
                }));
                continue;
            }
            match runs.last_mut() {
                Some(last) if last.stretch.is_none() && last.count < MANY => {
                    last.parts.end = parts.end;
                    last.count += whole;
                }
                _ => runs.push(ArcRun { parts, stretch: None, count: whole }),
            }
        }
        runs
    }

    /// Hands out those of these parts that are selected, with where their costs go.
    fn with_columns(
        &self,
        parts: Range<usize>,
        selection: &Selection,
        wanted: &[(EventId, usize)],
        mut take: impl FnMut(usize, &PartColumns),
    ) {
        let mut known: Option<(&[EventId], PartColumns)> = None;
        for part in parts.map(|index| Part::new(self, index)) {
            if !selection.includes(part.number(), part.thread(), part.pid()) {
                continue;
            }
            let events = part.event_types();
            // Nearly always those of the part before.
            let (_, columns) = match known.take().filter(|(known, _)| *known == events) {
                Some(same) => known.insert(same),
                None => known.insert((events, PartColumns::of(events, wanted))),
            };
            take(part.id().index(), columns);
        }
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

    pub(crate) fn body_state(&self, part: usize) -> Option<&BodyState> {
        let header = self.index.parts.get(part)?.header;
        self.index.headers.get(header as usize)?.body.as_ref()
    }
}

/// A part of the work of making a call graph.
enum GraphTask<'g> {
    SelfCosts(&'g mut CostTable),
    Arcs(ArcsMut<'g>, ArcRun),
}

/// Arcs that follow each other: of some parts, or a stretch of those of one part.
struct ArcRun {
    parts: Range<usize>,
    stretch: Option<Stretch>,
    count: usize,
}

/// Where the costs of a part go in rows that have some event types only.
struct PartColumns {
    /// So many of its columns are looked at, from the first on.
    width: usize,
    /// A column of the part, and one of the rows.
    pairs: Vec<(usize, usize)>,
}

impl PartColumns {
    /// From the event types of a part and those of the rows, sorted and each with its column.
    fn of(part: &[EventId], wanted: &[(EventId, usize)]) -> Self {
        let mut pairs = Vec::new();
        for (from, event) in part.iter().enumerate() {
            let first = wanted.partition_point(|(other, _)| other < event);
            let same = wanted[first..].iter().take_while(|(other, _)| other == event);
            pairs.extend(same.map(|&(_, to)| (from, to)));
        }
        PartColumns { width: pairs.last().map_or(0, |&(from, _)| from + 1), pairs }
    }

    #[inline]
    fn add(&self, costs: &[Cost], row: &mut [Cost]) {
        self.pairs.iter().for_each(|&(from, to)| row[to] += costs[from]);
    }
}

fn narrow(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}
