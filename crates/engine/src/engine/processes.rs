//! Processes that the program starts: each is a copy of this one, with its counts.
//!
//! A process that borrows the memory of its parent until it runs another program gets a copy as well, as under Callgrind. What it
//! leaves in the memory that the parent waits with is brought back, as `posix_spawn` tells its errors that way.
#![allow(unsafe_code)]

use linux_raw_sys::general as sys;

use super::Engine;
use super::masks;
use super::own_call::own_call;
use crate::raw;
use crate::state::State;
use crate::switch;

/// The most memory above the stack pointer that is brought back.
const MAX_LENT_BYTES: u64 = 32 << 10;

/// Memory of the program that a new process borrows: a copy before and one after that both processes have.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lent {
    start: u64,
    length: u64,
    before: u64,
    after: u64,
}

impl Engine {
    /// `clone` of a process.
    pub(super) fn clone_process(&mut self, state: &mut State, arguments: [u64; 6]) -> i64 {
        let [flags, stack, parent_id, child_id, area, _] = arguments;
        let has = |flag: u32| flags & u64::from(flag) != 0;
        if has(sys::CLONE_VM) && !has(sys::CLONE_VFORK) {
            self.stop(
                state,
                "the program starts a process that shares its memory, which the native engine cannot record",
            );
        }
        // The new process would have the signals of this one that wait.
        let Some(of_kernel) = masks::block_all_for_call(state) else { return switch::RESTART };
        self.prepare_to_fork(state);
        let lent = if has(sys::CLONE_VM) { self.lend_memory(state.gpr[4]) } else { None };
        // The new process gets memory of its own, and the old one waits until it runs another program or ends.
        let own = flags & !u64::from(sys::CLONE_VM);
        let process = std::process::id();
        let result = own_call(sys::__NR_clone, [own, 0, parent_id, child_id, area, 0]);
        if result == 0 {
            if stack != 0 {
                state.gpr[4] = stack;
            }
            if has(sys::CLONE_SETTLS) {
                state.guest_fs = area;
            }
            self.lent = lent;
            self.forked_from.push(process);
            self.begin_child(state);
        } else if let Some(lent) = lent {
            self.take_back(lent);
        }
        masks::set_of_kernel(of_kernel);
        result
    }

    /// `fork`
    pub(super) fn fork(&mut self, state: &mut State) -> i64 {
        self.clone_process(state, [u64::from(sys::SIGCHLD), 0, 0, 0, 0, 0])
    }

    /// `vfork`
    pub(super) fn vfork(&mut self, state: &mut State) -> i64 {
        let flags = u64::from(sys::CLONE_VFORK | sys::CLONE_VM | sys::SIGCHLD);
        self.clone_process(state, [flags, 0, 0, 0, 0, 0])
    }

    /// Copies the memory above a stack pointer to where both processes have it.
    fn lend_memory(&self, start: u64) -> Option<Lent> {
        let is_writable = |address: u64| {
            self.space.protection(address).is_some_and(|protection| protection & sys::PROT_WRITE != 0)
        };
        let pages = (start..start + MAX_LENT_BYTES).step_by(4096);
        let end = pages.take_while(|page| is_writable(*page)).last()? & !4095;
        let length = (end + 4096 - start).min(MAX_LENT_BYTES);
        let access = u64::from(sys::PROT_READ | sys::PROT_WRITE);
        let flags = u64::from(sys::MAP_SHARED | sys::MAP_ANONYMOUS);
        let before = own_call(sys::__NR_mmap, [0, 2 * length, access, flags, u64::MAX, 0]);
        let before = raw::error_of(before).is_none().then_some(before as u64)?;
        let lent = Lent { start, length, before, after: before + length };
        // SAFETY: the memory of the program was asked for above, and the copies were mapped just now.
        unsafe {
            raw::write_bytes(lent.before, raw::bytes(start, length as usize));
            raw::write_bytes(lent.after, raw::bytes(start, length as usize));
        }
        Some(lent)
    }

    /// Lets the parent have what this process has changed in memory that it has borrowed. It is about to run another program, or to end.
    pub(super) fn return_lent_memory(&mut self) {
        let Some(lent) = self.lent else { return };
        let pages = (lent.start & !4095..lent.start + lent.length).step_by(4096);
        let is_there = |page: u64| {
            self.space.protection(page).is_some_and(|protection| protection & sys::PROT_READ != 0)
        };
        if pages.into_iter().all(is_there) {
            // SAFETY: the memory of the program was asked for above; the copy stays mapped in this process.
            unsafe { raw::write_bytes(lent.after, raw::bytes(lent.start, lent.length as usize)) };
        }
    }

    /// Takes over what the new process has changed.
    fn take_back(&self, lent: Lent) {
        // SAFETY: both copies were mapped by `lend_memory`, and the program's memory is that of the thread that has waited here.
        unsafe {
            let before = raw::bytes(lent.before, lent.length as usize);
            let after = raw::bytes(lent.after, lent.length as usize);
            for (index, (before, after)) in before.iter().zip(after).enumerate() {
                if before != after {
                    raw::write_bytes(lent.start + index as u64, &[*after]);
                }
            }
        }
        own_call(sys::__NR_munmap, [lent.before, 2 * lent.length, 0, 0, 0, 0]);
    }
}
