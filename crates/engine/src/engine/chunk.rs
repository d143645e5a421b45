//! Code that is written to the cache, and the ways out of it.

use std::num::NonZeroU32;

use super::{Engine, Entrance, Exit};
use crate::arena::Arena;
use crate::asm::{Asm, displacement};
use crate::state::{EXIT, LEAVE};

/// Code that is being written.
#[derive(Debug)]
pub(crate) struct Chunk {
    pub(crate) asm: Asm,
}

/// A displacement that is to lead to other code, by its address.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patch(NonZeroU32);

impl Patch {
    pub(super) fn new(address: u64) -> Patch {
        match u32::try_from(address).ok().and_then(NonZeroU32::new) {
            Some(address) => Patch(address),
            None => unreachable!("code is below 4 GB"),
        }
    }

    pub(super) fn address(self) -> u64 {
        self.0.get().into()
    }
}

/// Code that leads from earlier translations of a block to the present one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lead {
    start: u64,
    /// The displacement of its jump, and the way to the engine while there is no translation.
    patch: u64,
    missing: u64,
}

impl Engine {
    /// Begins code at the end of the cache.
    pub(super) fn chunk(&mut self) -> Chunk {
        let Some(address) = self.arena.code_address() else { self.out_of_memory() };
        Chunk { asm: Asm::new(address, self.hot_place) }
    }

    /// Writes a jump to a block.
    pub(super) fn emit_go(&mut self, chunk: &mut Chunk, entrance: Entrance) {
        match self.known_block(entrance) {
            Some(code) => {
                chunk.asm.jump(code);
            }
            None => {
                let patch = chunk.asm.replaceable_jump(0);
                self.emit_missing(chunk, patch, entrance);
            }
        }
    }

    /// Lets a displacement lead to the engine, until a block is translated.
    pub(super) fn emit_missing(&mut self, chunk: &mut Chunk, patch: u64, entrance: Entrance) {
        let mut rare = self.rare_code();
        self.emit_exit(&mut rare, Exit::Go { entrance, patch: Some(Patch::new(patch)) });
        let rare = self.arena.add_rare_code(rare.bytes());
        chunk.asm.replace32(patch, displacement(patch, rare));
    }

    /// Begins code that runs rarely. It is not known yet where it will be.
    pub(super) fn rare_code(&self) -> Asm {
        Asm::new(0, self.hot_place)
    }

    /// Writes a way out of translated code.
    pub(super) fn emit_exit(&mut self, asm: &mut Asm, exit: Exit) {
        let number = self.add_exit(exit);
        asm.set_state32(EXIT, number);
        asm.jump_through_state(LEAVE);
    }

    /// Ends code, and adds it to the cache. Returns its address.
    pub(super) fn add_chunk(&mut self, chunk: Chunk) -> u64 {
        self.arena.add_code(chunk.asm.bytes());
        chunk.asm.base()
    }

    /// Replaces the start of a block, which is no longer right, by a way to a new translation. All earlier translations share it, so that code
    /// that changes again and again is one jump away.
    pub(super) fn lead_on(&mut self, code: u64, entrance: Entrance) {
        let lead = match self.cached.leads.get(&entrance) {
            Some(lead) => *lead,
            None => {
                let mut chunk = self.chunk();
                let patch = chunk.asm.replaceable_jump(0);
                let mut rare = self.rare_code();
                self.emit_exit(&mut rare, Exit::Lead { entrance, patch: Patch::new(patch) });
                let missing = self.arena.add_rare_code(rare.bytes());
                let lead = Lead { start: self.add_chunk(chunk), patch, missing };
                self.cached.leads.insert(entrance, lead);
                lead
            }
        };
        Arena::patch(lead.patch, displacement(lead.patch, lead.missing));
        let [a, b, c, d] = displacement(code + 1, lead.start).to_le_bytes();
        Arena::patch_start(code, [0xe9, a, b, c, d]);
    }
}
