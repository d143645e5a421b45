//! The index over the inputs of a profile.

pub(crate) mod block;
pub(crate) mod cost_rows;
pub(crate) mod function_keys;
pub(crate) mod names;
pub(crate) mod part;
pub(crate) mod sum_builder;
pub(crate) mod sum_table;

use block::{Anchor, Block, BlocksByFunction};
use function_keys::FunctionKeys;
use names::{Bytes, MADE, Names, Text};
use part::{PartData, PartHeader, PartSaid};
use sum_table::SumTable;

use crate::finding::Findings;
use crate::input::Input;
use crate::numbers::Numbers;

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

/// How many lines of what kind there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct LineCounts {
    pub(crate) self_costs: u64,
    pub(crate) calls: u64,
    pub(crate) jumps: u64,
}

/// How a function was mentioned, of all its mentions together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Mention {
    /// It has lines of its own.
    pub(crate) is_defined: bool,
    /// It was called with `cob=`.
    pub(crate) has_object: bool,
    /// It was called with `cfi=` or `cfl=`.
    pub(crate) has_file: bool,
}

impl Mention {
    pub(crate) fn includes(self, other: Mention) -> bool {
        (self.is_defined || !other.is_defined)
            && (self.has_object || !other.has_object)
            && (self.has_file || !other.has_file)
    }

    pub(crate) fn add(&mut self, other: Mention) {
        self.is_defined |= other.is_defined;
        self.has_object |= other.has_object;
        self.has_file |= other.has_file;
    }
}
