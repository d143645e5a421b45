//! Code that is written to the cache, with the ways out of it.

use super::{Engine, Exit};
use crate::arena::Arena;
use crate::asm::{Asm, displacement};
use crate::contexts::ContextId;
use crate::state::{EXIT, LEAVE};

/// Code that is being written, with the jumps to blocks that are not translated.
#[derive(Debug)]
pub(crate) struct Chunk {
    pub(crate) asm: Asm,
    missing: Vec<Missing>,
}

impl Chunk {
    /// Notes that a displacement is to lead to a block.
    pub(super) fn add_missing(&mut self, patch: u64, address: u64, context: ContextId) {
        self.missing.push(Missing { patch, address, context });
    }
}

/// A jump to a block that is not translated.
#[derive(Debug)]
struct Missing {
    patch: u64,
    address: u64,
    context: ContextId,
}

impl Engine {
    /// Begins code at the end of the cache.
    pub(super) fn chunk(&mut self) -> Chunk {
        let Some(address) = self.arena.code_address() else { self.out_of_memory() };
        Chunk { asm: Asm::new(address, self.cost_place), missing: Vec::new() }
    }

    /// Writes a jump to a block.
    pub(super) fn emit_go(&self, chunk: &mut Chunk, address: u64, context: ContextId) {
        match self.known_block(address, context) {
            Some(code) => {
                chunk.asm.jump(code);
            }
            None => {
                let patch = chunk.asm.replaceable_jump(0);
                chunk.add_missing(patch, address, context);
            }
        }
    }

    /// Writes a way out of translated code.
    pub(super) fn emit_exit(&mut self, asm: &mut Asm, exit: Exit) {
        let number = self.add_exit(exit);
        asm.set_state32(EXIT, number);
        asm.jump_through_state(LEAVE);
    }

    /// Ends code, and adds it to the cache. Returns its address.
    pub(super) fn add_chunk(&mut self, mut chunk: Chunk) -> u64 {
        for Missing { patch, address, context } in std::mem::take(&mut chunk.missing) {
            let here = chunk.asm.here();
            chunk.asm.replace32(patch, displacement(patch, here));
            self.emit_exit(&mut chunk.asm, Exit::Go { address, context, patch: Some(patch) });
        }
        self.arena.add_code(chunk.asm.bytes());
        chunk.asm.base()
    }

    /// Replaces the start of a block, which is no longer right, by a way to a new translation.
    pub(super) fn lead_on(&mut self, code: u64, address: u64, context: ContextId) {
        let mut chunk = self.chunk();
        let patch = chunk.asm.replaceable_jump(0);
        chunk.add_missing(patch, address, context);
        let new = self.add_chunk(chunk);
        let [a, b, c, d] = displacement(code + 1, new).to_le_bytes();
        Arena::patch_start(code, [0xe9, a, b, c, d]);
    }
}
