//! The lines of one function of the new profile, as text.

use std::ops::Range;

use gristmill_format::raw::NameSpaces;
use gristmill_format::{Columns, Cost, Costs, NameSpace, PositionKind};

use super::arcs::{ArcKey, ArcSum};
use super::nodes::{Node, NodeFile, Nodes};
use crate::decode::Place;
use crate::digits::{push_decimal, push_hex};
use crate::id::ObjectId;

/// A name to be inserted into a text.
#[derive(Debug, Clone, Copy)]
struct Mention {
    offset: usize,
    space: NameSpace,
    index: u32,
}

/// Lines of a function. Names are inserted when the text is written, as the first one of each defines its id.
#[derive(Debug, Default)]
pub(super) struct NodeText {
    bytes: Vec<u8>,
    mentions: Vec<Mention>,
    /// The file of the next line, if it is known.
    file: Option<NodeFile>,
    /// The block of the original that the last line came from.
    block: Option<usize>,
}

/// The position of a line, in the files of the new profile.
#[derive(Debug, Clone, Copy)]
pub(super) struct NodePlace {
    pub(super) file: NodeFile,
    pub(super) line: Option<u64>,
    pub(super) address: Option<u64>,
    pub(super) basic_block: Option<u64>,
}

impl From<&Place> for NodePlace {
    fn from(place: &Place) -> Self {
        let Place { file, line, address, basic_block } = *place;
        NodePlace { file: file.to_u32(), line, address, basic_block }
    }
}

impl NodeText {
    /// Begins the lines that come from another block. The file of the next line must not depend on the one before, which
    /// another thread may have written.
    pub(super) fn begin_block(&mut self, block: usize) {
        if self.block != Some(block) {
            self.block = Some(block);
            self.file = None;
        }
    }

    /// Names object, file and function, whose lines follow.
    pub(super) fn begin_function(&mut self, node: Node, nodes: &Nodes<'_>) {
        let (object, file, _) = nodes.key(node);
        self.bytes.push(b'\n');
        self.name(b"ob=", NameSpace::Object, object.to_u32());
        self.name(b"fl=", NameSpace::File, file);
        self.name(b"fn=", NameSpace::Function, node);
    }

    fn name(&mut self, key: &[u8], space: NameSpace, index: u32) {
        self.bytes.extend_from_slice(key);
        self.mentions.push(Mention { offset: self.bytes.len(), space, index });
        self.bytes.push(b'\n');
    }

    fn set_file(&mut self, file: NodeFile) {
        if self.file != Some(file) {
            self.name(b"fi=", NameSpace::File, file);
            self.file = Some(file);
        }
    }

    fn positions(&mut self, place: &NodePlace, columns: &Columns) {
        for (index, kind) in columns.kinds().iter().enumerate() {
            if index > 0 {
                self.bytes.push(b' ');
            }
            match kind {
                PositionKind::Instr => push_hex(&mut self.bytes, place.address.unwrap_or(0)),
                PositionKind::Bb => push_hex(&mut self.bytes, place.basic_block.unwrap_or(0)),
                _ => push_decimal(&mut self.bytes, place.line.unwrap_or(0).into()),
            }
        }
    }

    /// Writes the position of a target, as far as it is known.
    fn target(&mut self, place: &NodePlace, columns: &Columns) {
        for kind in columns.kinds() {
            let (value, is_hex) = match kind {
                PositionKind::Instr => (place.address, true),
                PositionKind::Bb => (place.basic_block, true),
                _ => (place.line, false),
            };
            let Some(value) = value else { return };
            self.bytes.push(b' ');
            if is_hex {
                push_hex(&mut self.bytes, value)
            } else {
                push_decimal(&mut self.bytes, value.into())
            }
        }
    }

    /// Writes the self cost of a line.
    pub(super) fn self_cost(
        &mut self,
        place: &NodePlace,
        columns: &Columns,
        costs: impl IntoIterator<Item = Cost>,
    ) {
        self.set_file(place.file);
        self.positions(place, columns);
        for cost in costs {
            self.bytes.push(b' ');
            push_decimal(&mut self.bytes, cost);
        }
        self.bytes.push(b'\n');
    }

    /// Writes the callee of calls, their count and where it is entered.
    fn callee(
        &mut self,
        (object, file, callee): (ObjectId, NodeFile, Node),
        count: Cost,
        target: &NodePlace,
        columns: &Columns,
    ) {
        // Both are written always: what a callee without lines is must not depend on where its calls are.
        self.name(b"cob=", NameSpace::Object, object.to_u32());
        self.name(b"cfi=", NameSpace::File, file);
        self.name(b"cfn=", NameSpace::Function, callee);
        self.bytes.extend_from_slice(b"calls=");
        push_decimal(&mut self.bytes, count);
        self.target(target, columns);
        self.bytes.push(b'\n');
    }

    /// Writes recorded calls.
    pub(super) fn calls(
        &mut self,
        place: &NodePlace,
        callee: (ObjectId, NodeFile, Node),
        (count, target): (Cost, &NodePlace),
        columns: &Columns,
        costs: &Costs<'_>,
    ) {
        self.set_file(place.file);
        self.callee(callee, count, target, columns);
        self.end_call(place, columns, costs.iter().map(|cost| cost.unwrap_or_else(|fault| fault.repaired)));
    }

    /// Writes inlined calls. A sum that a file cannot hold is several lines.
    pub(super) fn inlined_calls(&mut self, key: &ArcKey, sum: &ArcSum, columns: &Columns, nodes: &Nodes<'_>) {
        let (object, file, _) = nodes.key(key.callee);
        let ArcSum { entry, costs } = sum;
        let at = |file, line| NodePlace {
            file,
            line: Some(line),
            address: entry.address,
            basic_block: entry.basic_block,
        };
        let mut left = costs.clone();
        loop {
            let these: Vec<Cost> = left.iter().map(|&cost| cost.clamp(LEAST, GREATEST)).collect();
            self.set_file(key.file);
            self.callee((object, file, key.callee), 0, &at(file, entry.line), columns);
            let width = these.iter().rposition(|&cost| cost != 0).map_or(0, |last| last + 1);
            self.end_call(&at(key.file, key.line.unwrap_or(0)), columns, these[..width].iter().copied());
            left.iter_mut().zip(these).for_each(|(left, this)| *left -= this);
            if left.iter().all(|&cost| cost == 0) {
                return;
            }
        }
    }

    fn end_call(&mut self, place: &NodePlace, columns: &Columns, costs: impl Iterator<Item = Cost>) {
        self.positions(place, columns);
        for cost in costs {
            self.bytes.push(b' ');
            push_decimal(&mut self.bytes, cost);
        }
        self.bytes.push(b'\n');
        // In files of Callgrind the file that is named before a call holds for the call only.
        self.file = None;
    }

    /// Writes a jump.
    pub(super) fn jump(
        &mut self,
        place: &NodePlace,
        (taken, executed): (Cost, Option<Cost>),
        (target, function): (&NodePlace, Option<Node>),
        columns: &Columns,
    ) {
        self.set_file(place.file);
        self.name(b"jfi=", NameSpace::File, target.file);
        if let Some(function) = function {
            self.name(b"jfn=", NameSpace::Function, function);
        }
        self.bytes.extend_from_slice(if executed.is_some() { b"jcnd=" } else { b"jump=" });
        push_decimal(&mut self.bytes, taken);
        if let Some(executed) = executed {
            self.bytes.push(b'/');
            push_decimal(&mut self.bytes, executed);
        }
        self.target(target, columns);
        self.bytes.push(b'\n');
        self.positions(place, columns);
        self.bytes.push(b'\n');
        self.file = None;
    }
}

const LEAST: Cost = i64::MIN as Cost;
const GREATEST: Cost = u64::MAX as Cost;

/// The names of an output: their ids, and which of them have been defined.
pub(super) struct OutputNames<'n, 'p> {
    nodes: &'n Nodes<'p>,
    /// The number before the first id.
    bases: NameSpaces<u64>,
    defined: NameSpaces<Vec<bool>>,
}

impl<'n, 'p> OutputNames<'n, 'p> {
    /// `counts` has how many names there are, and `references` the numbers in names that a reader may take for ids.
    pub(super) fn new(nodes: &'n Nodes<'p>, counts: &NameSpaces<usize>, references: &[u64]) -> Self {
        let mut names = OutputNames { nodes, bases: NameSpaces::default(), defined: NameSpaces::default() };
        for space in [NameSpace::Object, NameSpace::File, NameSpace::Function] {
            let mut ids: Range<u64> = 1..1 + counts[space] as u64;
            for &reference in references {
                if ids.contains(&reference) {
                    ids = reference + 1..reference + 1 + counts[space] as u64;
                }
            }
            names.bases[space] = ids.start;
            names.defined[space] = vec![false; counts[space]];
        }
        names
    }

    /// Forgets what is defined, as where names begin afresh.
    pub(super) fn forget(&mut self) {
        self.defined.iter_mut().for_each(|defined| defined.fill(false));
    }

    /// Appends a text with its names.
    pub(super) fn write(&mut self, text: &NodeText, out: &mut Vec<u8>) {
        let mut from = 0;
        for mention in &text.mentions {
            out.extend_from_slice(&text.bytes[from..mention.offset]);
            from = mention.offset;
            self.mention(mention, out);
        }
        out.extend_from_slice(&text.bytes[from..]);
    }

    fn mention(&mut self, &Mention { space, index, .. }: &Mention, out: &mut Vec<u8>) {
        let name = match space {
            NameSpace::Object => self.nodes.object(ObjectId::from_u32(index)),
            NameSpace::File => self.nodes.file(index),
            NameSpace::Function => self.nodes.key(index).2,
        };
        if name.is_empty() {
            return;
        }
        out.push(b'(');
        push_decimal(out, (self.bases[space] + u64::from(index)).into());
        out.push(b')');
        let is_defined = &mut self.defined[space][index as usize];
        if !std::mem::replace(is_defined, true) {
            out.push(b' ');
            out.extend_from_slice(name);
        }
    }
}
