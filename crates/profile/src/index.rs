//! The index over the inputs of a profile.
//!
//! The loader writes it, and everything else reads it. It holds names, functions, parts, blocks and sums of costs; the
//! lines themselves stay text in the inputs, and a block of them is decoded when it is asked for.
//!
//! The elements of a part are ranges of tables that all parts share: each part stores where its blocks and sums start,
//! and they end where those of the next part start.

pub(crate) mod block;
pub(crate) mod cost_rows;
pub(crate) mod functions;
pub(crate) mod inlined;
pub(crate) mod name_ids;
pub(crate) mod names;
pub(crate) mod part;
pub(crate) mod restored;
pub(crate) mod sum_builder;
pub(crate) mod sum_table;
pub(crate) mod varint;

use gristmill_format::ProducerKind;
use gristmill_format::raw::NameSpaces;

use block::{Anchor, Block, BlocksByFunction};
use functions::FunctionTable;
use inlined::Inlined;
use name_ids::NameIds;
use names::{InternedNames, Text, TextStore};
use part::{OwnHeader, PartData, SharedHeader};
use restored::RestoredCost;
use sum_table::SumTable;

use crate::damage::Damage;
use crate::finding::{Findings, InputErrors};
use crate::input::Input;

/// The index over the inputs of a profile.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Index {
    /// Texts that are in no input: names made of references, and names for name ids that nothing defines.
    pub(crate) made: Vec<u8>,
    pub(crate) names: NameSpaces<InternedNames>,
    /// The meanings of name ids, for each input.
    pub(crate) name_ids: Vec<NameIds>,
    pub(crate) functions: FunctionTable,
    /// The name of each event type, and how many columns to its left have the same name.
    pub(crate) events: Vec<(Text, u32)>,
    /// The `event:` lines: name, formula and long name.
    pub(crate) definitions: Vec<[Option<Text>; 3]>,
    pub(crate) shared_headers: Vec<SharedHeader>,
    pub(crate) own_headers: Vec<OwnHeader>,
    pub(crate) parts: Vec<PartData>,
    pub(crate) blocks: Vec<Block>,
    pub(crate) blocks_by_function: BlocksByFunction,
    pub(crate) anchors: Vec<Anchor>,
    /// Self costs, by function and by file of the lines.
    pub(crate) self_costs: SumTable,
    /// Inclusive costs of calls, by caller and callee.
    pub(crate) arcs: SumTable,
    pub(crate) inlined: Inlined,
    /// A sum of costs of a block is below 0 or at least [`LARGE_COST`](varint::LARGE_COST).
    pub(crate) has_unusual_costs: Hint,
    pub(crate) counts: LineCounts,
    pub(crate) findings: Findings,
    /// The errors of each input.
    pub(crate) input_errors: Vec<InputErrors>,
    pub(crate) damage: Vec<Damage>,
    /// The costs that were restored in the bytes of the inputs, in their order.
    pub(crate) restored: Vec<RestoredCost>,
    /// The producer of each input.
    pub(crate) producers: Vec<ProducerKind>,
}

/// Texts of inputs, and those that are in no input.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Texts<'p> {
    pub(crate) inputs: &'p [Input],
    pub(crate) made: &'p [u8],
}

impl<'p> Texts<'p> {
    #[inline]
    pub(crate) fn get(&self, text: Text) -> &'p [u8] {
        let bytes = match text.input {
            None => self.made,
            Some(input) => &self.inputs[input.index()].bytes[..],
        };
        &bytes[text.start..text.start + text.length]
    }
}

impl TextStore for Texts<'_> {
    #[inline]
    fn bytes(&self, text: Text) -> &[u8] {
        self.get(text)
    }
}

/// A flag that can depend on where the loader cut the inputs, so it does not count for equality.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Hint(pub(crate) bool);

impl PartialEq for Hint {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// Counts of lines, by kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct LineCounts {
    /// Of any kind. Known when an input ends.
    pub(crate) all: u64,
    pub(crate) self_costs: u64,
    pub(crate) calls: u64,
    pub(crate) jumps: u64,
}
