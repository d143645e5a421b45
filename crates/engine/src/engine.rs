//! The engine: it translates the program block by block, and decides how to go on whenever translated code cannot.

mod branches;
mod calls;
mod chunk;
mod commands;
mod costs;
pub(crate) mod execute;
mod far_operand;
mod finish;
mod flags;
mod flush;
mod jump_counts;
mod jumps;
mod levels;
mod limits;
mod locked_memory;
pub(crate) mod masks;
mod master_handler;
mod output_file;
mod own_call;
mod own_files;
mod parts;
mod processes;
mod profile;
mod requests;
mod signal_frame;
mod signals;
mod system_calls;
mod target_tables;
mod thread_calls;
mod transfer;
mod translate;
mod translated;
mod trigger;
mod waits;

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};

use gristmill_format::NameSpace;
use gristmill_profile::hash::Map;

use linux_raw_sys::general as sys;

use crate::address_space::AddressSpace;
use crate::arena::Arena;
use crate::asm::{HotPlace, displacement};
use crate::block::Block;
use crate::contexts::{ContextId, Contexts, Kind};
use crate::cpuid;
use crate::memory;
use crate::objects::Objects;
use crate::options::Options;
use crate::state::{Frame, State};
use crate::threads::Threads;
use crate::vsyscall;
use branches::IndirectBranch;
use chunk::Patch;
use flush::{Cached, Retired};
use jump_counts::Followed;
pub(crate) use limits::Limits;
use locked_memory::FutureLocks;
pub(crate) use masks::STOP_SIGNAL;
use master_handler::TRAP_FLAG;
use processes::Lent;
use signals::Signals;
use target_tables::TargetTable;
use transfer::{DirectBranch, PlannedCall};
pub(crate) use translated::{Entrance, PartialRun, Translated};
use trigger::Trigger;

/// A reason to leave translated code. There are many, so what few of them have is kept elsewhere.
#[derive(Debug, Clone)]
pub(crate) enum Exit {
    /// The next block is not translated, or not linked. The displacement at `patch` is to lead there, unless it was forgotten.
    Go {
        entrance: Entrance,
        patch: Option<Patch>,
    },
    /// The same, from earlier translations of the block.
    Lead {
        entrance: Entrance,
        patch: Patch,
    },
    /// An indirect branch to an address that its site does not know.
    Indirect {
        site: u32,
    },
    /// An indirect branch whose site was forgotten.
    IndirectOnce(Box<IndirectBranch>),
    /// A return that is not that of the last call.
    Return,
    /// A return that takes more off the stack.
    ReturnAndPop(u16),
    /// A branch where calls have ended without a return: their return addresses were taken off the stack.
    Unwind(Box<DirectBranch>),
    /// A signal has come, and a block is about to run.
    Signal,
    /// An instruction has failed.
    Fault,
    SystemCall {
        next: u64,
        context: ContextId,
        resume: u64,
    },
    Cpuid {
        next: u64,
        context: ContextId,
    },
    Xgetbv {
        next: u64,
        context: ContextId,
    },
    /// A call that the engine makes.
    Enter(Box<PlannedCall>),
    /// A call of a function that runs already. The displacement at `patch` is to lead to code for it, unless it was forgotten.
    Deep {
        call: Box<PlannedCall>,
        is_rcx_spilled: bool,
        patch: Option<Patch>,
    },
    /// A request of the program to the engine, at the end of a block.
    Request {
        block: u32,
        next: u64,
        context: ContextId,
    },
    /// The count of blocks has run after which a part of the profile is written.
    Blocks {
        address: u64,
        context: ContextId,
    },
    /// The code that a block was translated from has changed.
    Changed {
        block: u32,
    },
    /// An instruction that cannot be run: its address, and what it is.
    Stop(Box<(u64, &'static str)>),
    Invalid {
        address: u64,
        context: ContextId,
    },
    NoCode {
        address: u64,
        context: ContextId,
    },
}

/// Codes of faults, as the kernel has them.
const ILL_ILLOPN: u64 = 2;
const SEGV_MAPERR: u64 = 1;
const SEGV_ACCERR: u64 = 2;

/// The exits that the handler of signals takes.
pub(crate) const SIGNAL_EXIT: u32 = 0;
pub(crate) const FAULT_EXIT: u32 = 1;

/// Everything that the engine knows about the program that it runs.
#[derive(Debug)]
pub(crate) struct Engine {
    pub(crate) options: Options,
    pub(crate) arena: Arena,
    pub(crate) space: AddressSpace,
    pub(crate) objects: Objects,
    pub(crate) contexts: Contexts,
    pub(crate) blocks: Vec<Translated>,
    cached: Cached,
    /// The flags that code needs, by its address.
    needed_flags: RefCell<Map<u64, u32>>,
    retired: Retired,
    exits: Vec<Exit>,
    target_tables: Vec<TargetTable>,
    hot_place: HotPlace,
    /// Code that leaves for a return that is not that of the last call.
    odd_return: u64,
    /// The same where flags were changed on the way to it.
    odd_return_of_changed_flags: u64,
    pub(crate) threads: Threads,
    brk_start: u64,
    brk: u64,
    signals: Signals,
    /// Memory of its parent that this process has borrowed.
    lent: Option<Lent>,
    limits: Limits,
    future_locks: FutureLocks,
    /// The mapping below 2 GB that the program got last in place of one that it asked for by address: the address and the length.
    instead_of_hint: Option<(u64, u64)>,
    /// The shared memory of System V that is attached: its address and its length.
    attached: HashMap<u64, u64>,
    /// `true` if the program has let the processor refuse words that are not aligned.
    aligns_comparisons: bool,
    /// The counts of blocks that were left before their ends.
    pub(crate) partial_runs: BTreeMap<PartialRun, u64>,
    /// The counted jumps, by the number of the block and the target.
    pub(crate) jumps: BTreeMap<(u32, u64), Followed>,
    /// `true` if calls are followed and costs are counted.
    is_counted: bool,
    /// Parts of the profile that were written.
    parts: u64,
    /// The number of the first part: those before are of programs that this one has replaced.
    first_part: u64,
    /// The processes that this one was forked from. They ran the same program then.
    forked_from: Vec<u32>,
    /// `false` if a forked process cannot tell what it has counted from what its parent has.
    knows_own_counts: bool,
    /// The cost in all parts.
    collected: u64,
    /// The numbers of names in a file of several parts.
    pub(crate) name_numbers: RefCell<HashMap<NameSpace, HashMap<Vec<u8>, u64>>>,
}

/// The beginning of an engine.
#[derive(Debug)]
pub(crate) struct Beginning {
    pub(crate) options: Options,
    pub(crate) arena: Arena,
    pub(crate) space: AddressSpace,
    pub(crate) objects: Objects,
    pub(crate) start: u64,
    pub(crate) brk: u64,
    pub(crate) threads: Threads,
    pub(crate) hot_place: HotPlace,
    pub(crate) limits: Limits,
}

/// The next step of a thread.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Step {
    /// With translated code.
    Run,
    /// With a system call that can wait, and what [`Engine::after_call`] decides.
    Call(Call),
    /// Not at all.
    End,
}

/// A system call of the program that can wait.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call {
    pub(crate) number: u64,
    pub(crate) arguments: [u64; 6],
    pub(crate) next: u64,
    pub(crate) context: ContextId,
}

impl Engine {
    /// Translates the first block, and returns the code to begin with.
    pub(crate) fn new(beginning: Beginning, state: &mut State) -> Engine {
        let Beginning { options, arena, space, objects, start, brk, threads, hot_place, limits } = beginning;
        let is_counted = options.is_counted_at_start;
        let parts = options.inherited.as_ref().map_or(0, |inherited| inherited.parts);
        let contexts = Contexts::new(options.choices.max_callers());
        let mut engine = Engine {
            options,
            arena,
            space,
            objects,
            contexts,
            blocks: Vec::new(),
            cached: Cached::default(),
            needed_flags: RefCell::default(),
            retired: Retired::default(),
            exits: signals::FIRST_EXITS.to_vec(),
            target_tables: Vec::new(),
            hot_place,
            odd_return: 0,
            odd_return_of_changed_flags: 0,
            threads,
            brk_start: brk,
            brk,
            signals: Signals::new(),
            lent: None,
            limits,
            future_locks: FutureLocks::default(),
            instead_of_hint: None,
            attached: HashMap::new(),
            aligns_comparisons: false,
            partial_runs: BTreeMap::new(),
            jumps: BTreeMap::new(),
            is_counted,
            parts,
            first_part: parts + 1,
            forked_from: Vec::new(),
            knows_own_counts: true,
            collected: 0,
            name_numbers: RefCell::default(),
        };
        engine.odd_return = engine.odd_return_code();
        engine.odd_return_of_changed_flags = engine.odd_return_code_of_changed_flags();
        engine.retired.begin(&engine.arena, engine.exits.len());
        engine.begin_thread(state, start);
        engine
    }

    /// Lets a thread begin at an address.
    pub(crate) fn begin_thread(&mut self, state: &mut State, start: u64) {
        memory::set_sentinel(state.first_frame, self.odd_return);
        state.collects = self.options.collects_at_start;
        state.blocks_left = self.options.dump_every + 1;
        let root = self.root_context(state, start);
        self.begin_root(state, root);
        state.resume = self.block(Entrance::new(start, root));
    }

    /// Decides how to go on.
    pub(crate) fn go_on(&mut self, state: &mut State, exit: u32) -> Step {
        let step = self.step(state, exit);
        if matches!(step, Step::Run) {
            self.deliver_at_start(state);
        }
        self.prepare_to_run(state);
        step
    }

    /// Decides how to go on after a system call.
    pub(crate) fn after_call(&mut self, state: &mut State, call: &Call, result: i64) -> Step {
        self.watch_parent_again(call);
        self.end_call(state, call.next, call.context, result);
        self.deliver_at_start(state);
        self.prepare_to_run(state);
        Step::Run
    }

    /// Lets a thread run in a context that nothing has called.
    pub(super) fn begin_root(&self, state: &mut State, root: ContextId) {
        state.is_counted = self.is_counted;
        (state.root, state.root_cost) = (root, state.cost);
        // The function that it begins in is active, too.
        self.contexts.enter(root, state.own_address);
    }

    /// Goes on at an address in a context, or what has become of it: others may have switched counting on or off.
    pub(super) fn go_to(&mut self, state: &mut State, address: u64, context: ContextId) {
        let context = self.context_now(state, address, context);
        state.resume = self.block(Entrance::new(address, context));
    }

    /// Returns what has become of a context.
    fn context_now(&mut self, state: &mut State, address: u64, context: ContextId) -> ContextId {
        if state.is_counted == self.is_counted {
            return self.contexts.with_collecting(context, state.collects);
        }
        let root = self.resumed_context(state, address);
        self.begin_root(state, root);
        root
    }

    /// `true` if code of a context is what a thread is to run.
    fn is_current(&self, state: &State, context: ContextId) -> bool {
        let is_followed = !matches!(self.contexts.kind(context), Kind::Uncounted);
        is_followed == self.is_counted && (!is_followed || self.contexts.collects(context) == state.collects)
    }

    /// `true` if an indirect branch can lead to its target without the engine from here on.
    fn links(&self, state: &State, site: u32) -> bool {
        self.options.links_blocks && self.is_current(state, self.cached.sites[site as usize].branch.context)
    }

    fn prepare_to_run(&self, state: &mut State) {
        if state.pending != 0 {
            // Translated code goes on by single steps to where all registers are the program's.
            state.flags |= TRAP_FLAG;
        }
    }

    fn step(&mut self, state: &mut State, exit: u32) -> Step {
        if !self.arena.has_cells() {
            self.stop(state, "the program has more code than the native engine has counters for");
        }
        let exit = self.exits[exit as usize].clone();
        let exit = if self.arena.is_full() { self.flush_at(state, exit) } else { exit };
        match exit {
            Exit::Go { entrance, patch } => {
                let code = self.go(state, entrance);
                if let (Some(patch), Some(code)) = (patch, code) {
                    Arena::link(patch.address(), code);
                }
            }
            Exit::Lead { entrance, patch } => {
                if let Some(code) = self.go(state, entrance) {
                    // It will lead elsewhere again.
                    Arena::patch(patch.address(), displacement(patch.address(), code));
                }
            }
            Exit::Indirect { site } if self.links(state, site) => {
                self.indirect(state, site);
            }
            Exit::Indirect { site } => {
                let branch = self.cached.sites[site as usize].branch;
                self.indirect_now(state, branch);
            }
            Exit::IndirectOnce(branch) => self.indirect_now(state, *branch),
            Exit::Return => self.odd_return(state, 0),
            Exit::ReturnAndPop(bytes) => self.odd_return(state, bytes),
            Exit::Unwind(branch) => self.unwind_at(state, *branch),
            Exit::SystemCall { next, context, resume } => {
                state.resume = resume;
                return self.system_call(state, next, context);
            }
            Exit::Enter(call) => {
                let is_current = self.is_current(state, call.from);
                let context = if is_current { self.watched_call(state, *call) } else { call.from };
                self.go_to(state, call.target, context);
            }
            Exit::Deep { call, is_rcx_spilled, patch } => {
                self.enter_deep(state, *call, is_rcx_spilled, patch);
            }
            Exit::Request { block, next, context } => self.request(state, block, next, context),
            Exit::Blocks { address, context } => {
                self.dump(state, &Trigger::Blocks);
                state.blocks_left = self.options.dump_every + 1;
                self.go_to(state, address, context);
            }
            Exit::Cpuid { next, context } => {
                let [eax, ebx, ecx, edx] = cpuid::answer(state.gpr[0] as u32, state.gpr[1] as u32);
                let registers = [(0, eax), (3, ebx), (1, ecx), (2, edx)];
                for (register, value) in registers {
                    state.gpr[register] = u64::from(value);
                }
                self.go_behind(state, next, context);
            }
            Exit::Xgetbv { next, context } => {
                state.gpr[0] = u64::from(cpuid::STATE_MASK);
                state.gpr[2] = 0;
                self.go_behind(state, next, context);
            }
            Exit::Changed { block } => self.translate_again(state, block),
            Exit::Stop(stop) => {
                let (address, reason) = *stop;
                self.stop(state, &format!("the program runs {reason}, at {}", self.place(address)));
            }
            Exit::Signal => self.interrupted(state),
            Exit::Fault => self.fault(state),
            Exit::Invalid { address, context } => {
                self.raise(state, sys::SIGILL, ILL_ILLOPN, address, context);
            }
            Exit::NoCode { address, context } => {
                let is_mapped = self.space.protection(address).is_some();
                let code = if is_mapped { SEGV_ACCERR } else { SEGV_MAPERR };
                self.raise(state, sys::SIGSEGV, code, address, context);
            }
        }
        Step::Run
    }

    /// Goes on with a block, and returns its code if jumps may lead there without the engine from here on.
    fn go(&mut self, state: &mut State, entrance: Entrance) -> Option<u64> {
        let Entrance { address, context, before } = entrance;
        if !self.is_current(state, context) {
            self.count_before(state, before);
            self.go_to(state, address, context);
            return None;
        }
        state.resume = self.block(entrance);
        // What cannot run now may be code later.
        if self.known_block(entrance).is_none() {
            self.count_before(state, before);
            return None;
        }
        self.options.links_blocks.then_some(state.resume)
    }

    /// Returns an address as people read it.
    fn place(&self, address: u64) -> String {
        match self.objects.symbol(address) {
            Some((object, symbol)) => {
                let name = String::from_utf8_lossy(&symbol.name).into_owned();
                format!("{address:#x} ({name} in {})", self.objects.get(object).path.display())
            }
            None => format!("{address:#x}"),
        }
    }

    /// Returns the code of a block, which is translated if it was not.
    pub(crate) fn block(&mut self, entrance: Entrance) -> u64 {
        match self.known_block(entrance) {
            Some(code) => code,
            None => self.translate(entrance),
        }
    }

    /// Returns the code of a block if it is translated.
    fn known_block(&self, entrance: Entrance) -> Option<u64> {
        self.cached.by_entrance.get(&entrance).map(|known| self.blocks[*known as usize].code)
    }

    fn add_exit(&mut self, exit: Exit) -> u32 {
        self.exits.push(exit);
        self.exits.len() as u32 - 1
    }

    /// Returns the frame on top of the shadow stack.
    fn top_frame(&self, state: &State) -> Option<Frame> {
        let count = state.frame_count();
        (count > 0).then(|| memory::frame(state.first_frame, count - 1))
    }

    /// Decodes the block at an address.
    fn decode(&self, address: u64, max_instructions: usize) -> Block<'static> {
        Block::decode(self.code_at(address), address, max_instructions)
    }

    /// Returns the code at an address, to the end of what is mapped or far enough for a block.
    fn code_at(&self, address: u64) -> &'static [u8] {
        match self.space.code_end(address) {
            Some(end) => self.code_bytes(address, (end - address).min(4096) as usize),
            None => vsyscall::code_at(address).unwrap_or_default(),
        }
    }
}
