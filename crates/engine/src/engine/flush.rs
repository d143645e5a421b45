//! A full code cache: all code is forgotten, and translated again when it runs. Counters, contexts and calls stay.

use std::collections::{BTreeMap, BTreeSet};

use gristmill_profile::hash::Map;

use super::branches::Site;
use super::chunk::Lead;
use super::{Engine, Entrance, Exit};
use crate::arena::{Arena, Table};
use crate::contexts::ContextId;
use crate::memory;
use crate::state::{Frame, State};

/// The least context: keys of an address are at or behind it.
pub(super) const FIRST: ContextId = ContextId(0);

/// Code that leads on to another translation.
const LEADING_CODE_BYTES: u64 = 64;

/// The index of the code in the code cache.
#[derive(Debug, Default)]
pub(super) struct Cached {
    /// The numbers of blocks.
    pub(super) by_entrance: Map<Entrance, u32>,
    /// The same in order.
    pub(super) entrances: BTreeSet<Entrance>,
    pub(super) leads: Map<Entrance, Lead>,
    /// The count of blocks that leave their counting to one, by its address and context.
    pub(super) ways: Map<(u64, ContextId), u8>,
    /// The count of blocks that count others before them, too.
    pub(super) repeated_count: usize,
    /// The numbers of blocks in the order of their code.
    pub(super) live: Vec<u32>,
    pub(super) sites: Vec<Site>,
    /// The sites that know a target, by that.
    pub(super) sites_of_targets: BTreeSet<(u64, u32)>,
}

/// The rest of code that was forgotten.
#[derive(Debug, Default)]
pub(super) struct Retired {
    /// Numbers of blocks that are not in the cache.
    blocks: BTreeMap<Entrance, u32>,
    /// Tables of targets.
    tables: Vec<Table>,
    /// The end of the code that lasts, and the count of its exits.
    lasting_code_end: u64,
    lasting_exits: usize,
    must_flush: bool,
}

impl Retired {
    /// Notes that the code so far lasts.
    pub(super) fn begin(&mut self, arena: &Arena, exits: usize) {
        self.lasting_code_end = arena.code_address().unwrap_or(0);
        self.lasting_exits = exits;
    }

    /// Returns a table that is no longer used.
    pub(super) fn table(&mut self) -> Option<Table> {
        self.tables.pop()
    }

    /// Returns the number that a block had.
    pub(super) fn take(&mut self, entrance: Entrance) -> Option<u32> {
        self.blocks.remove(&entrance)
    }

    /// Forgets blocks that start in a range, which becomes other code.
    pub(super) fn forget(&mut self, start: u64, end: u64) {
        let inside: Vec<_> = self
            .blocks
            .range(Entrance::new(start, FIRST)..Entrance::new(end, FIRST))
            .map(|(key, _)| *key)
            .collect();
        for key in inside {
            self.blocks.remove(&key);
        }
    }

    pub(super) fn must_flush(&self) -> bool {
        self.must_flush
    }
}

impl Engine {
    /// `true` if there is space for code that leads on from this many blocks. Otherwise the cache will be flushed.
    pub(super) fn leads_on(&mut self, count: usize) -> bool {
        let has_space = self.arena.has_space(LEADING_CODE_BYTES * count as u64);
        self.retired.must_flush |= !has_space;
        has_space
    }

    /// Flushes the code cache at an exit, if it can be done there. Returns the exit without what was forgotten.
    pub(super) fn flush_at(&mut self, state: &mut State, exit: Exit) -> Exit {
        let lasting = match exit {
            Exit::Go { entrance, .. } | Exit::Lead { entrance, .. } => Exit::Go { entrance, patch: None },
            Exit::Deep { call, is_rcx_spilled, .. } => Exit::Deep { call, is_rcx_spilled, patch: None },
            Exit::Indirect { site } => Exit::IndirectOnce(Box::new(self.cached.sites[site as usize].branch)),
            Exit::Return
            | Exit::ReturnAndPop(_)
            | Exit::Enter(_)
            | Exit::Cpuid { .. }
            | Exit::Xgetbv { .. }
            | Exit::Blocks { .. }
            | Exit::Request { .. } => exit,
            Exit::SystemCall { next, context, .. } => {
                self.flush(state);
                return Exit::SystemCall { next, context, resume: self.block(Entrance::new(next, context)) };
            }
            // These are rare, and others follow. A signal is delivered by the block that it came in.
            _ => return exit,
        };
        self.flush(state);
        lasting
    }

    /// Forgets all code that was translated.
    pub(super) fn flush(&mut self, state: &mut State) {
        if self.threads.live_count() > 1 {
            self.stop(state, "the program has threads and more code than the native engine has memory for");
        }
        self.retired.must_flush = false;
        self.arena.forget_code_from(self.retired.lasting_code_end);
        self.exits.truncate(self.retired.lasting_exits);
        let Cached { by_entrance, .. } = std::mem::take(&mut self.cached);
        self.retired.blocks.extend(by_entrance);
        self.retired.tables.extend(self.target_tables.drain(..).map(|table| table.table()));
        self.contexts.forget_continuations();
        // A return from these calls finds its way by the shadow stack alone.
        for index in 0..state.frame_count() {
            let frame = Frame { continuation: self.odd_return, ..memory::frame(state.first_frame, index) };
            memory::set_frame(state.first_frame, index, frame);
        }
    }
}
