//! Signals of the program: what it wants of them, how they are delivered, and the way back.
//!
//! All signals that the program handles, and those that would end it, go to one handler of the engine. It waits until the program's
//! registers are complete, and the program's handler is then entered with a frame as the kernel makes it. As in Callgrind, a handler
//! begins with no caller, and what it costs is not part of the calls that it interrupts.

use iced_x86::Code;
use linux_raw_sys::errno::{EFAULT, EINVAL, ENOMEM, EPERM};
use linux_raw_sys::general as sys;

use super::far_operand::FarOperand;
use super::masks::{self, FAULTS, STOP_SIGNAL, bit, has, set_mask};
use super::master_handler;
use super::signal_frame::{self, Delivery};
use super::{Engine, Entrance, Exit, PartialRun};
use crate::arena::Arena;
use crate::asm::SCRATCH;
use crate::block::{Decoded, is_repeated_comparison};
use crate::contexts::ContextId;
use crate::memory;
use crate::state::{Frame, Level, STACK_DISABLED, State};

/// The edge of frames that are not calls but the start of a handler.
pub(crate) const HANDLER_EDGE: u32 = u32::MAX;

const DEFAULT: u64 = 0;
const IGNORE: u64 = 1;

const SIGNAL_COUNT: usize = 65;
const STACK_IN_USE: u64 = 1;
/// The alternative stack is disabled while a handler runs, and set again when it returns.
const DISARMS_STACK: u64 = 1 << 31;
const MIN_STACK_BYTES: u64 = 2048;

/// Signals that end a program by default.
const FATAL: [u32; 22] = [
    sys::SIGHUP,
    sys::SIGINT,
    sys::SIGQUIT,
    sys::SIGILL,
    sys::SIGTRAP,
    sys::SIGABRT,
    sys::SIGBUS,
    sys::SIGFPE,
    sys::SIGUSR1,
    sys::SIGSEGV,
    sys::SIGUSR2,
    sys::SIGPIPE,
    sys::SIGALRM,
    sys::SIGTERM,
    sys::SIGSTKFLT,
    sys::SIGXCPU,
    sys::SIGXFSZ,
    sys::SIGVTALRM,
    sys::SIGPROF,
    sys::SIGIO,
    sys::SIGPWR,
    sys::SIGSYS,
];

/// The action of the program for a signal, as the kernel has it.
#[derive(Debug, Clone, Copy, Default)]
struct Action {
    handler: u64,
    flags: u64,
    restorer: u64,
    mask: u64,
}

/// The signals of the program.
#[derive(Debug)]
pub(super) struct Signals {
    actions: [Action; SIGNAL_COUNT],
}

impl Signals {
    pub(super) fn new() -> Signals {
        Signals { actions: [Action::default(); SIGNAL_COUNT] }
    }

    /// `true` if the program ignores a signal.
    pub(super) fn is_ignored(&self, signal: u32) -> bool {
        self.actions[signal as usize].handler == IGNORE
    }

    /// Tells the kernel once more what is to become of a signal.
    pub(super) fn apply_again(&self, signal: u32) {
        apply(signal, &self.actions[signal as usize]);
    }

    /// Lets the kernel ignore the faults that the program ignores, for a program that takes its place.
    pub(super) fn hand_over(&self) {
        for signal in masks::ignored_faults() {
            master_handler::leave_to_kernel(signal, IGNORE, 0);
        }
    }

    /// Takes back what was handed over, if no program has taken the place.
    pub(super) fn take_back(&self) {
        masks::ignored_faults().for_each(|signal| self.apply_again(signal));
    }

    /// Takes over the signals of the process. What it ignored is ignored.
    pub(crate) fn begin(&mut self, is_pipe_ignored: bool) {
        for signal in 1..SIGNAL_COUNT as u32 {
            let is_ignored = match signal {
                sys::SIGPIPE => is_pipe_ignored,
                _ => master_handler::is_ignored(signal),
            };
            self.actions[signal as usize].handler = if is_ignored { IGNORE } else { DEFAULT };
            apply(signal, &self.actions[signal as usize]);
        }
        // Callgrind shows its own one as ignored, too.
        self.actions[STOP_SIGNAL as usize].handler = IGNORE;
        master_handler::install(STOP_SIGNAL, u64::from(sys::SA_RESTART));
    }
}

/// Tells the kernel what is to become of a signal.
fn apply(signal: u32, action: &Action) {
    if matches!(signal, sys::SIGKILL | sys::SIGSTOP) {
        return;
    }
    let kept = u64::from(sys::SA_NOCLDSTOP | sys::SA_NOCLDWAIT);
    let is_ignored = action.handler == IGNORE;
    if has(FAULTS, signal) {
        masks::set_ignored(signal, is_ignored);
        if is_ignored && signal != sys::SIGTRAP {
            // So the kernel forgets those that wait. Single steps need the other one.
            master_handler::leave_to_kernel(signal, IGNORE, 0);
        }
    }
    let is_of_kernel = match action.handler {
        DEFAULT => !FATAL.contains(&signal) && signal < 32,
        // The kernel ends a process that causes a fault and ignores it, and no profile would be written.
        IGNORE => !has(FAULTS, signal),
        _ => false,
    };
    if is_of_kernel {
        master_handler::leave_to_kernel(signal, action.handler, action.flags & kept);
    } else {
        master_handler::install(signal, action.flags & (kept | u64::from(sys::SA_RESTART)));
    }
}

fn failed(error: u32) -> i64 {
    -i64::from(error)
}

impl Engine {
    pub(crate) fn begin_signals(&mut self, state: &mut State) {
        let inherited = self.options.inherited.as_ref();
        self.signals.begin(self.options.ignores_pipe_signal);
        set_mask(state, inherited.map_or_else(masks::of_kernel, |inherited| inherited.mask));
    }

    /// `rt_sigaction`
    pub(super) fn set_action(&mut self, arguments: [u64; 6]) -> i64 {
        let [signal, new, old, mask_bytes, ..] = arguments;
        let fixed = [sys::SIGKILL, sys::SIGSTOP, STOP_SIGNAL];
        let is_fixed = fixed.map(u64::from).contains(&signal);
        if signal == 0 || signal >= SIGNAL_COUNT as u64 || mask_bytes != 8 || is_fixed && new != 0 {
            return failed(EINVAL);
        }
        let known = self.signals.actions[signal as usize];
        let mut words = [0; 4];
        if new != 0 && !memory::read_words(&self.space, new, &mut words) {
            return failed(EFAULT);
        }
        let known = [known.handler, known.flags, known.restorer, known.mask];
        if old != 0 && !memory::write_words(&self.space, old, &known) {
            return failed(EFAULT);
        }
        if new != 0 {
            let [handler, flags, restorer, mask] = words;
            // As in the kernel, nothing blocks these two.
            let mask = mask & !(bit(sys::SIGKILL) | bit(sys::SIGSTOP));
            let action = Action { handler, flags, restorer, mask };
            self.signals.actions[signal as usize] = action;
            apply(signal as u32, &action);
        }
        0
    }

    /// `sigaltstack`
    pub(super) fn set_alternative_stack(&mut self, state: &mut State, new: u64, old: u64) -> i64 {
        let [address, flags, size] = state.alternative_stack;
        let is_used = uses_alternative_stack(state);
        let mut words = [0; 3];
        if new != 0 && !memory::read_words(&self.space, new, &mut words) {
            return failed(EFAULT);
        }
        let unused = if size == 0 { STACK_DISABLED } else { 0 };
        let use_now = if is_used { STACK_IN_USE } else { unused };
        let shown = [address, use_now | flags & DISARMS_STACK, size];
        if old != 0 && !memory::write_words(&self.space, old, &shown) {
            return failed(EFAULT);
        }
        if new != 0 {
            if is_used {
                return failed(EPERM);
            }
            match alternative_stack(words) {
                Ok(stack) => state.alternative_stack = stack,
                Err(error) => return failed(error),
            }
        }
        0
    }

    /// Delivers the signal that waits. The program was about to run `pc` in a context.
    pub(super) fn deliver(&mut self, state: &mut State, pc: u64, context: ContextId) {
        let mask = state.saved_mask;
        self.deliver_under(state, pc, context, mask);
    }

    /// The same with the signals that are blocked until the handler returns, beside its own ones. After that, those are blocked which were
    /// when the signal came.
    pub(super) fn deliver_under(&mut self, state: &mut State, pc: u64, context: ContextId, blocked: u64) {
        let (signal, saved_mask) = (std::mem::take(&mut state.pending) as u32, state.saved_mask);
        state.flags &= !master_handler::TRAP_FLAG;
        if signal == STOP_SIGNAL {
            self.serve(state);
            set_mask(state, saved_mask);
            self.go_to(state, pc, context);
            return;
        }
        let action = self.signals.actions[signal as usize];
        let is_fault = state.signal_data[1] as i32 > 0 && has(FAULTS, signal);
        let must_end = action.handler == IGNORE || has(saved_mask, signal);
        if action.handler == DEFAULT || is_fault && must_end {
            self.end_by_signal(state, signal);
        }
        if action.handler == IGNORE {
            set_mask(state, saved_mask);
            self.go_to(state, pc, context);
            return;
        }
        let is_nested = uses_alternative_stack(state);
        let uses_alternative = action.flags & u64::from(sys::SA_ONSTACK) != 0
            && state.alternative_stack[1] & STACK_DISABLED == 0
            && !is_nested;
        let [address, _, size] = state.alternative_stack;
        // The red zone below the stack pointer is in use.
        let top = if uses_alternative { address + size } else { state.gpr[4] - 128 };
        let bottom = if uses_alternative || is_nested { address } else { 0 };
        // With the flags that it was set with: the kernel does not tell there whether it is in use.
        let alternative = state.alternative_stack;
        let restorer = action.restorer;
        let delivery = Delivery { signal, handler: action.handler, restorer, pc, top, bottom, alternative };
        if signal_frame::push(state, &self.space, &delivery).is_none() {
            self.end_by_signal(state, sys::SIGSEGV);
        }
        if state.alternative_stack[1] & DISARMS_STACK != 0 {
            state.alternative_stack = [0, STACK_DISABLED, 0];
        }
        let own = if action.flags & u64::from(sys::SA_NODEFER) == 0 { bit(signal) } else { 0 };
        if action.flags & u64::from(sys::SA_RESETHAND) != 0 {
            let action = Action { handler: DEFAULT, ..action };
            self.signals.actions[signal as usize] = action;
            apply(signal, &action);
        }
        // As under Callgrind, a handler begins as the program did.
        let collects = std::mem::replace(&mut state.collects, self.options.collects_at_start);
        // Its function can be active already: it handles another signal, or was called.
        let root = self.resumed_context(state, delivery.handler);
        self.contexts.enter(root, state.own_address);
        state.levels.push(Level { context, pc, cost: state.cost, collects, root });
        let frame = Frame {
            sp: state.gpr[4],
            continuation: self.odd_return,
            enter_cost: state.cost,
            edge: HANDLER_EDGE,
            is_counted: 0,
        };
        memory::set_frame(state.first_frame, state.frame_count(), frame);
        state.shadow += Frame::BYTES as u64;
        state.resume = self.block(Entrance::new(delivery.handler, root));
        set_mask(state, blocked | action.mask | own);
    }

    /// Ends the innermost handler: calls in it, then its frame. Returns what it interrupted.
    pub(super) fn end_handler(&mut self, state: &mut State) -> Option<ContextId> {
        while self.top_frame(state).is_some_and(|frame| frame.edge != HANDLER_EDGE) {
            self.pop(state);
        }
        self.pop_handler(state)
    }

    /// Takes the frame of a handler off the shadow stack.
    pub(super) fn pop_handler(&mut self, state: &mut State) -> Option<ContextId> {
        let level = state.levels.pop()?;
        self.contexts.leave(level.root, state.own_address);
        state.shadow -= Frame::BYTES as u64;
        state.cost = level.cost;
        state.collects = level.collects;
        Some(level.context)
    }

    /// `rt_sigreturn` in a context, with the address of the call. A signal that came before it interrupts the handler, and not what that has
    /// interrupted.
    pub(super) fn return_from_handler(&mut self, state: &mut State, call: u64, context: ContextId) {
        if masks::block_all_for_call(state).is_none() {
            return self.deliver(state, call, context);
        }
        let Some(returned) = signal_frame::pop(state, &self.space) else {
            self.end_by_signal(state, sys::SIGSEGV);
        };
        // As the kernel does, an invalid one is passed over.
        if !uses_alternative_stack(state)
            && let Ok(stack) = alternative_stack(returned.alternative)
        {
            state.alternative_stack = stack;
        }
        let interrupted = state.levels.last().map(|level| level.pc);
        match (self.end_handler(state), interrupted) {
            (Some(context), Some(pc)) if pc != returned.pc => {
                self.go_elsewhere(state, context, pc, returned.pc)
            }
            (Some(context), _) => self.go_to(state, returned.pc, context),
            (None, _) => {
                let root = self.root_context(state, returned.pc);
                self.go_to(state, returned.pc, root);
            }
        }
        set_mask(state, returned.mask);
    }

    /// Goes on at another address than the one that a handler interrupted: as with a jump from there.
    fn go_elsewhere(&mut self, state: &mut State, context: ContextId, pc: u64, target: u64) {
        let context = self.unwind(state).unwrap_or(context);
        if self.is_current(state, context) {
            self.jump(state, context, pc.into(), target);
        } else {
            self.go_to(state, target, context);
        }
    }

    /// Goes on after a fault in translated code.
    pub(super) fn fault(&mut self, state: &mut State) {
        let code = state.interrupted;
        if memory::is_shadow_stack(state.first_frame, state.shadow_bytes, state.fault[2]) {
            let calls = state.frame_count();
            self.stop(
                state,
                &format!("the program has {calls} calls that have not returned, and no more can be kept"),
            );
        }
        let Some(number) = self.block_around(code) else {
            let message = format!("translated code at {code:#x} has failed with signal {}", state.pending);
            self.stop(state, &message);
        };
        let block = &self.blocks[number as usize];
        let index = block.instruction_at(code);
        if block.is_before_instructions(code) {
            // In the comparison of its code.
            restore_registers(state);
            if state.pending == u64::from(sys::SIGBUS) {
                self.aligns_comparisons = true;
                state.pending = 0;
                let mask = state.saved_mask;
                set_mask(state, mask);
                return self.translate_again(state, number);
            }
        }
        // A trap comes behind its instruction, which has run.
        let is_trap = self.is_trap(state.pending as u32, block.address_of(index));
        if !is_trap && block.spills && index + 1 == block.instructions.len() {
            restore_registers(state);
        } else if let Some(far) = self.far_operand(block.address_of(index)) {
            far.restore(state);
        }
        let context = block.entrance.context;
        let pc = self.leave_block(state, number, index + usize::from(is_trap));
        // The kernel tells some handlers where the instruction is.
        if state.signal_data[2] == code {
            state.signal_data[2] = pc;
        }
        self.deliver(state, pc, context);
    }

    /// Leaves a block before an instruction. Returns the address of that.
    fn leave_block(&mut self, state: &mut State, number: u32, index: usize) -> u64 {
        let code = state.interrupted;
        let block = &self.blocks[number as usize];
        let (pc, thread) = (block.address_of(index), state.own_address);
        if !self.contexts.collects(block.entrance.context) {
            return pc;
        }
        // The block is counted as a whole: what did not run is taken off, or what ran is added.
        let is_counted = block.has_counted(code);
        let counted = if is_counted { block.instructions.len() } else { 0 };
        if !is_counted {
            self.count_before(state, block.entrance.before);
        }
        state.cost = state.cost.wrapping_sub(counted as u64).wrapping_add(index as u64);
        let repetitions = block.begun_repetitions(index, code);
        let run = PartialRun { block: number, instruction: index as u8, is_counted, thread };
        *self.partial_runs.entry(run).or_default() += 1;
        if let Some(cell) = repetitions {
            // Repetitions are counted before they run, those of comparisons behind it.
            let left = state.gpr[1];
            let ran =
                if self.is_comparison(pc) { state.spill2.wrapping_sub(left) } else { left.wrapping_neg() };
            cell.add(thread, ran);
            state.cost = state.cost.wrapping_add(ran);
        }
        pc
    }

    /// `true` if the instruction at an address is a comparison that is repeated.
    pub(super) fn is_comparison(&self, pc: u64) -> bool {
        let decoded = self.decode(pc, 1);
        decoded.instructions.first().is_some_and(|decoded| is_repeated_comparison(&decoded.instruction))
    }

    /// Returns the operand of the instruction at an address that its copy reaches with a register.
    fn far_operand(&self, address: u64) -> Option<FarOperand> {
        FarOperand::of(&self.decode(address, 1).instructions.first()?.instruction)
    }

    /// `true` if the instruction at an address has run when its signal comes: `int3`, `int1`, `int 3` and `int 4`.
    fn is_trap(&self, signal: u32, address: u64) -> bool {
        let decoded = self.decode(address, 1);
        let Some(Decoded { instruction, .. }) = decoded.instructions.first() else { return false };
        match (signal, instruction.code()) {
            (sys::SIGTRAP, Code::Int3 | Code::Int1) => true,
            (sys::SIGTRAP, Code::Int_imm8) => instruction.immediate8() == 3,
            (sys::SIGSEGV, Code::Int_imm8) => instruction.immediate8() == 4,
            _ => false,
        }
    }

    /// Delivers signals that have come while the engine decided, where a block is about to run: single steps up to there take long.
    pub(super) fn deliver_at_start(&mut self, state: &mut State) {
        while state.pending != 0 && Arena::begins_block(state.resume) {
            state.interrupted = state.resume;
            self.interrupted(state);
        }
    }

    /// Gives the program a fault that has no instruction.
    pub(super) fn raise(&mut self, state: &mut State, signal: u32, code: u64, pc: u64, context: ContextId) {
        state.pending = u64::from(signal);
        state.saved_mask = masks::of_kernel() | state.blocked_faults;
        state.signal_data = [0; 16];
        state.signal_data[0] = u64::from(signal);
        state.signal_data[1] = code;
        state.signal_data[2] = pc;
        // Those of a page that has no code, or of an invalid instruction.
        state.fault = if signal == sys::SIGILL { [0, 6, state.fault[2]] } else { [0x14, 14, pc] };
        self.deliver(state, pc, context);
    }

    /// Goes on where translated code was about to begin a block, or an instruction of it.
    pub(super) fn interrupted(&mut self, state: &mut State) {
        let code = state.interrupted;
        let Some(number) = self.block_around(code) else {
            self.stop(state, &format!("a signal came in translated code at {code:#x}"));
        };
        let block = &self.blocks[number as usize];
        let Entrance { address, context, before } = block.entrance;
        let pc = if code == block.code {
            self.count_before(state, before);
            address
        } else {
            self.leave_block(state, number, block.instruction_at(code))
        };
        self.deliver(state, pc, context);
    }

    /// Returns the number of the block that has an address in its code.
    pub(super) fn block_around(&self, code: u64) -> Option<u32> {
        let after = self.cached.live.partition_point(|number| self.blocks[*number as usize].code <= code);
        let number = *self.cached.live.get(after.checked_sub(1)?)?;
        let block = &self.blocks[number as usize];
        (code - block.code < u64::from(block.code_bytes)).then_some(number)
    }
}

/// Restores the registers that code of the engine has changed.
fn restore_registers(state: &mut State) {
    state.gpr[1] = state.spill0;
    state.gpr[usize::from(SCRATCH.0)] = state.kept;
}

/// `true` if a thread is on its alternative stack.
fn uses_alternative_stack(state: &State) -> bool {
    let ([address, flags, size], sp) = (state.alternative_stack, state.gpr[4]);
    flags & (STACK_DISABLED | DISARMS_STACK) == 0 && sp > address && sp <= address + size
}

/// Returns an alternative stack as it is kept, with all of its flags.
///
/// # Errors
///
/// If the kernel does not take it, the number of the error.
fn alternative_stack([address, flags, size]: [u64; 3]) -> Result<[u64; 3], u32> {
    let flags = flags & 0xffff_ffff;
    match flags & !DISARMS_STACK {
        STACK_DISABLED => Ok([0, flags, 0]),
        0 | STACK_IN_USE if size < MIN_STACK_BYTES => Err(ENOMEM),
        0 | STACK_IN_USE => Ok([address, flags, size]),
        _ => Err(EINVAL),
    }
}

/// The exits that the handler of signals takes.
pub(super) const FIRST_EXITS: [Exit; 2] = [Exit::Signal, Exit::Fault];
