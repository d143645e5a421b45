//! Writes the new profile, block by block of the original.

use std::collections::BTreeMap;
use std::ops::Range;

use gristmill_format::raw::NameSpaces;
use gristmill_format::{Columns, Cost, Costs, Header, Line, NameSpace, Reader};

use memchr::memchr_iter;

use super::PositionFrames;
use super::arcs::{ArcKey, ArcSum, Arcs, ChainSum, add_arc};
use super::node_text::{NodePlace, NodeText, OutputNames};
use super::nodes::{FunctionFrames, Node, Nodes};
use super::positions::PositionKey;
use crate::analysis::apportion;
use crate::cost::add;
use crate::decode::{BlockLine, BlockReader, Place};
use crate::hash::Map;
use crate::id::{EventId, FunctionId, ObjectId};
use crate::input::Input;
use crate::merge::references;
use crate::part::Part;
use crate::profile::Profile;
use crate::threads::{cores, map_on_threads};

/// Sums of self costs by event type of the profile: unknown, moved, estimated, with estimated calls.
pub(super) type ObjectSums = [BTreeMap<EventId, Cost>; 4];

/// The same sums by event type of a part, up to the last one that is not 0.
type PartSums = [Vec<Cost>; 4];

const UNKNOWN: usize = 0;
const MOVED: usize = 1;
const ESTIMATED: usize = 2;
const ESTIMATED_CALLS: usize = 3;

/// The new profile.
pub(super) struct Written {
    pub(super) inputs: Vec<Input>,
    /// The inlined calls of each part.
    pub(super) arcs: Vec<BTreeMap<ArcKey, ArcSum>>,
    pub(super) sums: Map<ObjectId, ObjectSums>,
}

/// A profile with the frames at its positions, to be written as another one.
pub(super) struct Writing<'n, 'p> {
    profile: &'p Profile,
    nodes: &'n Nodes<'p>,
}

/// The lines of a run of blocks, by function of the new profile.
#[derive(Default)]
struct Run {
    texts: Map<Node, NodeText>,
    arcs: Arcs,
    sums: Map<ObjectId, PartSums>,
}

impl<'n, 'p> Writing<'n, 'p> {
    pub(super) fn new(profile: &'p Profile, nodes: &'n Nodes<'p>) -> Self {
        Writing { profile, nodes }
    }

    pub(super) fn write(&self) -> Written {
        let Writing { profile, nodes } = *self;
        let counts = self.name_counts();
        let references = self.references();
        let mut inputs = Vec::new();
        let mut arcs = Vec::new();
        let mut sums: Map<ObjectId, ObjectSums> = Map::default();
        let mut parts = profile.parts().peekable();
        for (index, input) in profile.inputs.iter().enumerate() {
            let mut names = OutputNames::new(nodes, &counts, &references);
            let mut out = Vec::with_capacity(input.bytes.len());
            while let Some(part) = parts.next_if(|part| part.input() == index) {
                let (text, of_part) = self.part(&part, &mut sums);
                let is_summed = self.header(&part, &mut names, &mut out);
                text.iter().for_each(|text| names.write(text, &mut out));
                if !text.is_empty() {
                    claim(&mut out, "totals", part.claimed_totals());
                    claim(&mut out, "summary", part.claimed_summary().filter(|_| !is_summed));
                }
                arcs.push(of_part);
            }
            inputs.push(Input { name: input.name.clone(), bytes: out.into() });
        }
        Written { inputs, arcs, sums }
    }

    fn name_counts(&self) -> NameSpaces<usize> {
        let mut counts = NameSpaces::default();
        counts[NameSpace::Object] = self.profile.object_count();
        counts[NameSpace::File] = self.nodes.file_count();
        counts[NameSpace::Function] = self.nodes.len();
        counts
    }

    /// Returns the numbers in names that a reader may take for ids, ascending.
    fn references(&self) -> Vec<u64> {
        let functions = (0..self.nodes.len()).map(|node| self.nodes.key(crate::id::narrow(node)).2);
        let files = (0..self.nodes.file_count()).map(|file| self.nodes.file(crate::id::narrow(file)));
        let objects = (0..self.profile.object_count()).map(|id| self.profile.object(ObjectId::new(id)));
        let mut found: Vec<u64> = functions.chain(files).chain(objects).flat_map(references).collect();
        found.sort_unstable();
        found
    }

    /// Copies the header lines of a part, most of which are before its first function. Returns `true` if its summary is among
    /// these.
    fn header(&self, part: &Part<'_>, names: &mut OutputNames<'_, '_>, out: &mut Vec<u8>) -> bool {
        let blocks = self.profile.index.block_range(part.id());
        let body = self.profile.index.blocks[blocks].first().map_or(part.bytes().end, |block| block.byte);
        #[expect(clippy::cast_possible_truncation, reason = "offsets in memory")]
        let [start, body, end] = [part.bytes().start, body, part.bytes().end].map(|offset| offset as usize);
        let bytes = &self.profile.inputs[part.input()].bytes;
        let mut is_summed = false;
        for record in Reader::new(&bytes[start..body]).flatten() {
            match record.line {
                Line::NewProfile(_) => names.forget(),
                Line::Header(Header::Summary(_)) => is_summed = true,
                Line::Header(_) | Line::Comment(_) | Line::Blank => {}
                _ => continue,
            }
            out.extend_from_slice(record.text());
            out.push(b'\n');
        }
        let ends = memchr_iter(b'\n', &bytes[body..end]).map(|offset| body + offset + 1);
        for line in std::iter::once(body).chain(ends).map(|start| &bytes[start..end]) {
            if LATE_HEADERS.iter().any(|key| line.starts_with(key)) {
                out.extend_from_slice(line.split(|&byte| byte == b'\n').next().unwrap_or_default());
                out.push(b'\n');
            }
        }
        is_summed
    }

    /// Makes the text of a part, and its inlined calls.
    fn part(
        &self,
        part: &Part<'p>,
        sums: &mut Map<ObjectId, ObjectSums>,
    ) -> (Vec<NodeText>, BTreeMap<ArcKey, ArcSum>) {
        let blocks = self.profile.index.block_range(part.id());
        #[expect(clippy::cast_possible_truncation, reason = "offsets in memory")]
        let bytes = (part.bytes().end - part.bytes().start) as usize;
        let threads = cores().min(bytes.div_ceil(MIN_BYTES_PER_THREAD)).max(1);
        let length = blocks.len().div_ceil(threads).max(1);
        let end = blocks.end;
        let starts: Vec<usize> = blocks.step_by(length).collect();
        let mut runs = map_on_threads(starts, |start| self.run(part, start..end.min(start + length)));

        let mut arcs = Arcs::default();
        for run in &runs {
            run.arcs.iter().for_each(|(key, sum)| add_arc(&mut arcs, *key, sum));
            run.sums.iter().for_each(|(object, of_run)| {
                let sums = sums.entry(*object).or_default();
                let of_kinds = sums.iter_mut().zip(of_run);
                of_kinds.for_each(|(sum, of_run)| add_nonzero(sum, part.event_types(), of_run));
            });
        }
        let arcs: BTreeMap<ArcKey, ArcSum> = arcs.into_iter().collect();
        let mut nodes: Vec<Node> = runs.iter().flat_map(|run| run.texts.keys().copied()).collect();
        nodes.extend(arcs.keys().map(|key| key.caller));
        nodes.sort_unstable();
        nodes.dedup();
        let mut texts = Vec::new();
        let mut of_callers = arcs.iter().peekable();
        for node in nodes {
            let mut head = NodeText::default();
            head.begin_function(node, self.nodes);
            texts.push(head);
            texts.extend(runs.iter_mut().filter_map(|run| run.texts.remove(&node)));
            let mut calls = NodeText::default();
            while let Some((key, sum)) = of_callers.next_if(|(key, _)| key.caller == node) {
                calls.inlined_calls(key, sum, part.columns(), self.nodes);
            }
            texts.push(calls);
        }
        (texts, arcs)
    }

    fn run(&self, part: &Part<'p>, blocks: Range<usize>) -> Run {
        let mut run = Run::default();
        for index in blocks {
            let function = self.profile.index.blocks[index].function;
            let reader = BlockReader::new(self.profile, part.id(), index);
            let frames = self.nodes.of_function(function);
            let mut block = BlockWriting {
                writing: self,
                frames,
                function,
                index,
                columns: part.columns(),
                events: part.event_types(),
                chains: BTreeMap::new(),
                sums: frames.map(|_| PartSums::default()),
                texts: &mut run.texts,
            };
            block.read(reader);
            let BlockWriting { chains, sums, .. } = block;
            let file_of = |node| self.nodes.key(node).1;
            chains.values().for_each(|chain| chain.add_to(function.to_u32(), file_of, &mut run.arcs));
            if let Some(of_block) = sums {
                let object = self.profile.function(function).object;
                let sums = run.sums.entry(object).or_default();
                sums.iter_mut().zip(&of_block).for_each(|(sum, of_block)| {
                    sum.resize(sum.len().max(of_block.len()), 0);
                    add(sum, of_block);
                });
            }
        }
        run
    }
}

/// Bytes that take about as long to decode as a thread takes to start.
const MIN_BYTES_PER_THREAD: usize = 16 << 10;

/// Header lines that some producers write after a function has begun.
const LATE_HEADERS: [&[u8]; 6] = [b"cmd:", b"creator:", b"desc:", b"event:", b"pid:", b"thread:"];

/// Adds costs of a part to sums by event type of the profile.
pub(super) fn add_nonzero(sums: &mut BTreeMap<EventId, Cost>, events: &[EventId], costs: &[Cost]) {
    for (&event, &cost) in events.iter().zip(costs).filter(|&(_, &cost)| cost != 0) {
        *sums.entry(event).or_default() += cost;
    }
}

/// Writes a line with claimed totals.
fn claim(out: &mut Vec<u8>, key: &str, costs: Option<&[Cost]>) {
    if let Some(costs) = costs {
        let costs: Vec<String> = costs.iter().map(Cost::to_string).collect();
        out.extend_from_slice(format!("\n{key}: {}\n", costs.join(" ")).as_bytes());
    }
}

/// A block of the original on its way to the functions of the new profile.
struct BlockWriting<'a, 'n, 'p> {
    writing: &'a Writing<'n, 'p>,
    frames: Option<&'n FunctionFrames<'p>>,
    function: FunctionId,
    index: usize,
    columns: &'p Columns,
    events: &'p [EventId],
    /// The chains that were met.
    chains: BTreeMap<usize, ChainSum>,
    sums: Option<PartSums>,
    texts: &'a mut Map<Node, NodeText>,
}

impl<'p> BlockWriting<'_, '_, 'p> {
    fn read(&mut self, mut reader: BlockReader<'p>) {
        // A block without lines still names its function.
        self.text(self.function.to_u32());
        while let Some(line) = reader.next_line() {
            match line {
                BlockLine::SelfCost { place, costs } => self.self_cost(&place, &costs),
                BlockLine::Calls { place, callee, count, target, costs } => {
                    let node = self.leaf_of_call(&place, &costs);
                    let key = self.writing.nodes.key(callee.to_u32());
                    let callee = (key.0, key.1, callee.to_u32());
                    let columns = self.columns;
                    let at = (count, &NodePlace::from(&target));
                    self.text(node).calls(&NodePlace::from(&place), callee, at, columns, &costs);
                }
                BlockLine::Jump { place, taken, executed, target, function } => {
                    let node = self.leaf_of_jump(&place);
                    let to = (&NodePlace::from(&target), function.map(FunctionId::to_u32));
                    let columns = self.columns;
                    self.text(node).jump(&NodePlace::from(&place), (taken, executed), to, columns);
                }
            }
        }
    }

    fn text(&mut self, node: Node) -> &mut NodeText {
        let text = self.texts.entry(node).or_default();
        text.begin_block(self.index);
        text
    }

    fn chain(&mut self, chain: usize) -> &mut ChainSum {
        let (frames, nodes, width) = (self.frames, self.writing.nodes, self.events.len());
        self.chains.entry(chain).or_insert_with(|| {
            ChainSum::new(frames.map_or_else(Vec::new, |frames| nodes.steps(frames, chain)), width)
        })
    }

    fn leaf(&mut self, chain: usize) -> Node {
        let own = self.function.to_u32();
        self.chain(chain).leaf().unwrap_or(own)
    }

    fn self_cost(&mut self, place: &Place, costs: &Costs<'_>) {
        let columns = self.columns;
        let given = || costs.iter().map(|cost| cost.unwrap_or_else(|fault| fault.repaired));
        let own = self.function.to_u32();
        let frames = self.frames.and_then(|frames| self.writing.nodes.at(frames, PositionKey::new(place)));
        match frames {
            None => self.text(own).self_cost(&NodePlace::from(place), columns, given()),
            Some(PositionFrames::Unknown) => {
                self.count(UNKNOWN, given());
                self.text(own).self_cost(&NodePlace::from(place), columns, given());
            }
            Some(PositionFrames::Exact { chain, .. }) => {
                let leaf = self.take(*chain, place, given());
                self.text(leaf).self_cost(&NodePlace::from(place), columns, given());
            }
            Some(PositionFrames::Several { chains, .. }) => {
                let shares = divided(&given().collect::<Vec<_>>(), chains);
                let leaves: Vec<Node> = chains
                    .iter()
                    .zip(&shares)
                    .map(|(&(chain, _), share)| self.take(chain, place, share.iter().copied()))
                    .collect();
                let is_certain = leaves.windows(2).all(|pair| pair[0] == pair[1]);
                self.count(if is_certain { ESTIMATED_CALLS } else { ESTIMATED }, given());
                if let Some(&leaf) = leaves.first().filter(|_| is_certain) {
                    return self.text(leaf).self_cost(&NodePlace::from(place), columns, given());
                }
                for (leaf, share) in leaves.into_iter().zip(shares) {
                    self.text(leaf).self_cost(&NodePlace::from(place), columns, share);
                }
            }
        }
    }

    /// Adds a self cost to those of a chain. Returns its innermost function.
    fn take(&mut self, chain: usize, place: &Place, costs: impl Iterator<Item = Cost> + Clone) -> Node {
        let own = self.function.to_u32();
        let sum = self.chain(chain);
        sum.meet(place);
        costs.clone().enumerate().for_each(|(column, cost)| sum.add(column, cost));
        let leaf = sum.leaf();
        if leaf.is_some() {
            self.count(MOVED, costs);
        }
        leaf.unwrap_or(own)
    }

    fn count(&mut self, kind: usize, costs: impl Iterator<Item = Cost>) {
        if let Some(sums) = &mut self.sums {
            let sums = &mut sums[kind];
            for (column, cost) in costs.enumerate().filter(|&(_, cost)| cost != 0) {
                sums.resize(sums.len().max(column + 1), 0);
                sums[column] += cost;
            }
        }
    }

    /// Returns the function that makes calls, after adding their costs to those of its chain.
    fn leaf_of_call(&mut self, place: &Place, costs: &Costs<'_>) -> Node {
        let Some(chain) = self.likely_chain(place) else { return self.function.to_u32() };
        let sum = self.chain(chain);
        sum.meet(place);
        let costs = costs.iter().map(|cost| cost.unwrap_or_else(|fault| fault.repaired));
        costs.enumerate().for_each(|(column, cost)| sum.add(column, cost));
        self.leaf(chain)
    }

    fn leaf_of_jump(&mut self, place: &Place) -> Node {
        let Some(chain) = self.likely_chain(place) else { return self.function.to_u32() };
        self.chain(chain).meet(place);
        self.leaf(chain)
    }

    /// Returns the chain of a position: of several the one with the most instructions, the first of equal ones.
    fn likely_chain(&self, place: &Place) -> Option<usize> {
        let frames = self.frames.and_then(|frames| self.writing.nodes.at(frames, PositionKey::new(place)))?;
        match frames {
            PositionFrames::Unknown => None,
            PositionFrames::Exact { chain, .. } => Some(*chain),
            PositionFrames::Several { chains, .. } => {
                chains.iter().rev().max_by_key(|&&(_, count)| count).map(|&(chain, _)| chain)
            }
        }
    }
}

/// Divides costs among chains in proportion to their counts of instructions.
fn divided(costs: &[Cost], chains: &[(usize, u64)]) -> Vec<Vec<Cost>> {
    let mut shares = vec![vec![0; costs.len()]; chains.len()];
    let weights = chains.iter().map(|&(_, count)| Cost::from(count));
    for (column, &cost) in costs.iter().enumerate() {
        let sign = cost.signum();
        apportion(cost.abs(), weights.clone(), |chain, share| shares[chain][column] = sign * share);
    }
    shares
}
