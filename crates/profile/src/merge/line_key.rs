//! The keys of merged lines.

use super::header::PositionsHeld;
use super::id::{FileName, MergedFunction};
use crate::index::varint::{number, push_number};

/// The position of a line with its file. A number that a profile lacks is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct LinePosition {
    pub(super) file: FileName,
    pub(super) address: u64,
    pub(super) line: u64,
    pub(super) basic_block: u64,
}

impl LinePosition {
    /// Removes what not all profiles have.
    pub(super) fn keep(&mut self, held: PositionsHeld) {
        if !held.address {
            self.address = 0;
        }
        if !held.basic_block {
            self.basic_block = 0;
        }
    }
}

/// The kind of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) enum LineKind {
    #[default]
    SelfCost,
    Calls,
    Jump,
    ConditionalJump,
}

/// The key of a line of a function: the numbers of lines with equal keys are added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct LineKey {
    pub(super) position: LinePosition,
    pub(super) kind: LineKind,
    /// The callee, or the other function that a jump leads to.
    pub(super) function: Option<MergedFunction>,
    /// The target of calls and jumps. The file of a call's target is that of the callee, and is not in here.
    pub(super) target: LinePosition,
    /// The index of its run if runs are kept apart, else 0.
    pub(super) run: u32,
}

impl LineKey {
    /// The key of the same line in all runs.
    pub(super) fn without_run(self) -> Self {
        LineKey { run: 0, ..self }
    }

    pub(super) fn push(&self, bytes: &mut Vec<u8>) {
        let mut push = |value: u64| push_number(bytes, u128::from(value));
        push(self.kind as u64);
        push(self.run.into());
        let mut push_position = |position: &LinePosition| {
            push(position.file.to_u32().into());
            push(position.address);
            push(position.line);
            push(position.basic_block);
        };
        push_position(&self.position);
        if self.kind != LineKind::SelfCost {
            push_position(&self.target);
            push(self.function.map_or(0, |function| u64::from(function.to_u32()) + 1));
        }
    }

    /// Reads the key that begins at a byte, and sets `at` to the end of it.
    pub(super) fn read(bytes: &[u8], at: &mut usize) -> LineKey {
        #[expect(clippy::cast_possible_truncation, reason = "it was packed from 64 bits")]
        let mut next = || {
            let (value, after) = number(bytes, *at);
            *at = after;
            value as u64
        };
        #[expect(clippy::cast_possible_truncation, reason = "it was packed from 32 bits")]
        let narrow = |value: u64| value as u32;
        let kind = match next() {
            0 => LineKind::SelfCost,
            1 => LineKind::Calls,
            2 => LineKind::Jump,
            _ => LineKind::ConditionalJump,
        };
        let run = narrow(next());
        let mut position = || LinePosition {
            file: FileName::from_u32(narrow(next())),
            address: next(),
            line: next(),
            basic_block: next(),
        };
        let source = position();
        if kind == LineKind::SelfCost {
            return LineKey { position: source, run, ..LineKey::default() };
        }
        let target = position();
        let function = next().checked_sub(1).map(|function| MergedFunction::from_u32(narrow(function)));
        LineKey { position: source, kind, function, target, run }
    }
}
