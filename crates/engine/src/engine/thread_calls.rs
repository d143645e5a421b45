//! Threads of the program: their start and end, and how one lets the others wait.
//!
//! Each has a thread of the process, with the shadow stack, the counters and the state that it has for itself. All run the same
//! translated code; decisions are made under one lock. Callgrind begins a thread with no caller.
#![allow(unsafe_code)]

use std::path::{Path, PathBuf};

use linux_raw_sys::errno::EAGAIN;
use linux_raw_sys::general as sys;

use super::Engine;
use super::masks::{self, STOP_SIGNAL, program_mask};
use super::own_call::own_call;
use crate::memory;
use crate::state::State;
use crate::threads;

/// The least that threads share for the engine to carry them.
const SHARED: u32 = sys::CLONE_VM | sys::CLONE_FS | sys::CLONE_FILES | sys::CLONE_SIGHAND;

/// Times that are waited for other threads, of 50 microseconds each.
const MAX_WAITS: u32 = 20_000;

/// The number in a robust lock of the thread that has it, and its marks.
const OWNER: u32 = 0x3fff_ffff;
const OWNER_DIED: u32 = 0x4000_0000;
const HAS_WAITERS: u32 = 0x8000_0000;
const MAX_ROBUST_LOCKS: u32 = 2048;

/// The signal by which a C library lets all threads change their user or group.
const SET_IDS_SIGNAL: u32 = 33;

/// `FUTEX_WAKE`
const WAKE: u64 = 1;

impl Engine {
    /// `clone` of a thread. It begins at `next`.
    pub(super) fn start_thread(&mut self, state: &mut State, arguments: [u64; 6], next: u64) -> i64 {
        let [flags, stack, parent_id, child_id, area, _] = arguments;
        let has = |flag: u32| flags & u64::from(flag) != 0;
        if flags as u32 & SHARED != SHARED {
            self.stop(state, "the program starts a thread that does not share what threads do");
        }
        let Some(child) = self.threads.add() else { return -i64::from(EAGAIN) };
        let base = child.own_address;
        child.gpr = state.gpr;
        child.vectors = state.vectors;
        child.flags = state.flags;
        child.gpr[0] = 0;
        if stack != 0 {
            child.gpr[4] = stack;
        }
        child.guest_fs = if has(sys::CLONE_SETTLS) { area } else { state.guest_fs };
        child.cleared_at_end = if has(sys::CLONE_CHILD_CLEARTID) { child_id } else { 0 };
        self.begin_thread(child, next);
        // Signals wait until the thread has its state.
        let of_kernel = masks::block_all();
        let mask = program_mask(state, of_kernel);
        let wanted = [(sys::CLONE_PARENT_SETTID, parent_id), (sys::CLONE_CHILD_SETTID, child_id)];
        let addresses =
            wanted.iter().filter(|(flag, address)| has(*flag) && memory::write32(&self.space, *address, 0));
        let addresses: Vec<u64> = addresses.map(|(_, address)| *address).collect();
        // SAFETY: they could be written just now, and mappings do not change without the lock.
        let id = unsafe { threads::start(child, mask, &addresses) };
        // The program has the signal that the C library of the engine takes for itself with the first thread.
        self.signals.apply_again(SET_IDS_SIGNAL);
        masks::set_of_kernel(of_kernel);
        match id {
            Some(id) => i64::from(id),
            None => {
                self.threads.remove_base(base);
                -i64::from(EAGAIN)
            }
        }
    }

    /// Ends the thread, and not the process.
    pub(super) fn end_thread(&mut self, state: &mut State) {
        masks::block_all();
        self.end_calls(state);
        self.release_robust_locks(state);
        self.threads.remove(state);
        if state.cleared_at_end != 0 && memory::write32(&self.space, state.cleared_at_end, 0) {
            own_call(sys::__NR_futex, [state.cleared_at_end, WAKE, 1, 0, 0, 0]);
        }
        own_call(sys::__NR_set_robust_list, [0, 24, 0, 0, 0, 0]);
    }

    /// Marks robust locks that the thread has, as the kernel does at its end.
    fn release_robust_locks(&self, state: &State) {
        let head = std::hint::black_box(state.robust_list);
        let (Some(mut entry), Some(offset)) =
            (memory::read(&self.space, head), memory::read(&self.space, head + 8))
        else {
            return;
        };
        for _ in 0..MAX_ROBUST_LOCKS {
            // The lowest bit is a mark.
            entry &= !1;
            if entry == head {
                return;
            }
            let lock = entry.wrapping_add(offset);
            let next = memory::read(&self.space, entry);
            if let Some(word) = memory::read(&self.space, lock).map(|word| word as u32)
                && word & OWNER == state.thread
            {
                memory::write32(&self.space, lock, word & HAS_WAITERS | OWNER_DIED);
                own_call(sys::__NR_futex, [lock, WAKE, 1, 0, 0, 0]);
            }
            let Some(next) = next else { return };
            entry = next;
        }
    }

    /// Waits until no other thread runs translated code. They wait for the lock, which this one has, or for the kernel.
    pub(super) fn stop_others(&self, state: &State) {
        let process = u64::from(std::process::id());
        for wait in 0..MAX_WAITS {
            let running = self.threads.running_others(state);
            if running.is_empty() {
                return;
            }
            if wait % 200 == 0 {
                for thread in running {
                    own_call(sys::__NR_tgkill, [process, u64::from(thread), u64::from(STOP_SIGNAL), 0, 0, 0]);
                }
            }
            let time = [0u64, 50_000];
            own_call(sys::__NR_nanosleep, [time.as_ptr() as u64, 0, 0, 0, 0, 0]);
        }
    }

    /// Gets other threads to where the new process can take over what they have counted.
    pub(super) fn prepare_to_fork(&self, state: &State) {
        self.stop_others(state);
        // A thread that begins or ends can have the lock of the allocator, which the new process would wait for.
        for _ in 0..MAX_WAITS {
            let started = self.threads.started_count();
            // To read the names of all takes longer than to count them.
            if thread_folders().count() <= started
                || thread_folders().filter(|thread| !is_of_kernel(thread)).count() <= started
            {
                return;
            }
            std::thread::sleep(std::time::Duration::from_micros(50));
        }
    }
}

/// Iterates over the folders of the process's threads.
fn thread_folders() -> impl Iterator<Item = PathBuf> {
    std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten().map(|thread| thread.path())
}

/// `true` for a thread in which the kernel works for the process: it stays as long as its queue.
fn is_of_kernel(thread: &Path) -> bool {
    let name = std::fs::read(thread.join("comm")).unwrap_or_default();
    name.starts_with(b"iou-") || name.starts_with(b"vhost-")
}
