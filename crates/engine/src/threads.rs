//! The threads of the program: memory for each, and the threads of the process that run them.
#![allow(unsafe_code)]

use std::sync::atomic::Ordering;
use std::sync::mpsc;

use linux_raw_sys::general as sys;

use crate::arena::CELLS_OFFSET;
use crate::engine::masks;
use crate::memory::{self, ThreadSizes};
use crate::raw;
use crate::state::{Links, State};
use crate::switch;

/// The stack of the engine in a thread.
const STACK_BYTES: usize = 512 << 10;

/// Memory of a thread. It stays when the thread has ended, with its counts, and is given to the next one, as Callgrind does it.
#[derive(Debug)]
struct Slot {
    /// The address of the state, with the counters behind it.
    base: u64,
    first_frame: u64,
    shadow_bytes: u64,
    is_live: bool,
    /// The cost when counting began again.
    cost_before: u64,
    /// The address of counters that have what was counted before the process was forked.
    counts_of_parent: Option<u64>,
}

/// All threads that there were.
#[derive(Debug)]
pub(crate) struct Threads {
    sizes: ThreadSizes,
    slots: Vec<Slot>,
    links: Option<Links>,
    /// Threads of the process that wait for its end, as the first one does after its own.
    waiting: usize,
}

impl Threads {
    pub(crate) fn new(sizes: ThreadSizes) -> Threads {
        Threads { sizes, slots: Vec::new(), links: None, waiting: 0 }
    }

    /// Sets what all states have in common.
    pub(crate) fn link(&mut self, links: Links) {
        self.links = Some(links);
    }

    /// Takes memory for a thread, and returns its state. `None` if there is none.
    pub(crate) fn add(&mut self) -> Option<&'static mut State> {
        let links = self.links.unwrap_or(Links { engine: 0, handler: 0, leave: 0, has_vector: 0 });
        let free = self.slots.iter().position(|slot| !slot.is_live);
        let (index, cost) = match free {
            Some(index) => (index, self.cost(index)),
            None => {
                let is_first = self.slots.is_empty();
                let base = memory::reserve(self.sizes.counters)?;
                // Other threads change few of the counters that there are.
                if is_first {
                    raw::prefer_large_pages(base, self.sizes.counters);
                }
                let shadow_bytes = self.sizes.shadow(is_first);
                let Some(first_frame) = memory::reserve_shadow_stack(shadow_bytes) else {
                    memory::release(base, self.sizes.counters);
                    return None;
                };
                self.slots.push(Slot {
                    base,
                    first_frame,
                    shadow_bytes,
                    is_live: true,
                    cost_before: 0,
                    counts_of_parent: None,
                });
                (self.slots.len() - 1, 0)
            }
        };
        let slot = &mut self.slots[index];
        slot.is_live = true;
        let state = slot.base as *mut State;
        // SAFETY: the memory was reserved for this, is aligned to pages, and no thread uses it: the last one has ended.
        unsafe {
            let shadow_bytes = slot.shadow_bytes;
            state.write(State { cost, shadow_bytes, ..State::new(slot.base, slot.first_frame, links) });
            Some(&mut *state)
        }
    }

    /// Returns how many threads run.
    pub(crate) fn live_count(&self) -> usize {
        self.slots.iter().filter(|slot| slot.is_live).count()
    }

    /// Returns how many threads the process has.
    pub(crate) fn started_count(&self) -> usize {
        self.live_count() + self.waiting
    }

    /// Notes that a thread has ended.
    pub(crate) fn remove(&mut self, state: &State) {
        self.waiting += usize::from(u64::from(state.thread) == u64::from(std::process::id()));
        self.remove_base(state.own_address);
    }

    /// Notes that memory is free.
    pub(crate) fn remove_base(&mut self, base: u64) {
        for slot in self.slots.iter_mut().filter(|slot| slot.base == base) {
            slot.is_live = false;
        }
    }

    /// Notes that all other threads have ended.
    pub(crate) fn keep_only(&mut self, state: &mut State) {
        self.waiting = 0;
        for slot in &mut self.slots {
            slot.is_live = slot.base == state.own_address;
        }
        state.thread = std::process::id();
    }

    /// Returns the addresses of the counters of all threads that there were.
    pub(crate) fn bases(&self) -> Vec<u64> {
        self.slots.iter().map(|slot| slot.base).collect()
    }

    /// Returns the address of other counters of a thread, by the address of its own: what was counted before the process was forked.
    pub(crate) fn counts_of_parent(&self, base: u64) -> Option<u64> {
        self.slots.iter().find(|slot| slot.base == base)?.counts_of_parent
    }

    /// Takes memory for what a thread, by the address of its counters, has counted before the process was forked. `None` if there is none.
    pub(crate) fn begin_own_counts(&mut self, base: u64) -> Option<u64> {
        let length = self.sizes.counters;
        let slot = self.slots.iter_mut().find(|slot| slot.base == base)?;
        slot.counts_of_parent = slot.counts_of_parent.or_else(|| memory::reserve(length));
        slot.counts_of_parent
    }

    /// Forgets what threads, by the addresses of their counters, have counted before the process was forked. Returns where that was.
    pub(crate) fn forget_counts_of_parent(&mut self, bases: &[u64]) -> Vec<u64> {
        let slots = self.slots.iter_mut().filter(|slot| bases.contains(&slot.base));
        let forgotten: Vec<u64> = slots.filter_map(|slot| slot.counts_of_parent.take()).collect();
        forgotten.iter().for_each(|start| memory::release(*start, self.sizes.counters));
        forgotten
    }

    /// Returns what a thread has cost since counting began. A handler that has ended since then is not part of it.
    pub(crate) fn summary(&self, index: usize) -> u64 {
        self.cost(index).saturating_sub(self.slots[index].cost_before)
    }

    /// Notes that counting begins again in threads, by the addresses of their counters.
    pub(crate) fn restart_summaries(&mut self, bases: &[u64]) {
        for index in 0..self.slots.len() {
            if bases.contains(&self.slots[index].base) {
                self.slots[index].cost_before = self.cost(index);
            }
        }
    }

    /// Adds a cost to what a thread, by the address of its counters, has cost since counting began.
    pub(crate) fn add_to_summary(&mut self, base: u64, cost: u64) {
        for slot in self.slots.iter_mut().filter(|slot| slot.base == base) {
            slot.cost_before = slot.cost_before.saturating_sub(cost);
        }
    }

    /// Returns what a thread has cost in all.
    fn cost(&self, index: usize) -> u64 {
        let state = self.slots[index].base as *const State;
        // SAFETY: the state was written when the memory was taken. The thread has ended or waits.
        unsafe { (*state).cost }
    }

    /// Returns the states of other threads that run, which wait for the lock that the caller has.
    pub(crate) fn others(&self, own: &State) -> Vec<&'static mut State> {
        // SAFETY: states are never freed, and their threads wait.
        self.other_slots(own).map(|slot| unsafe { &mut *(slot.base as *mut State) }).collect()
    }

    fn other_slots(&self, own: &State) -> impl Iterator<Item = &Slot> {
        self.slots.iter().filter(|slot| slot.is_live && slot.base != own.own_address)
    }

    /// Returns the numbers of other threads that run translated code.
    pub(crate) fn running_others(&self, own: &State) -> Vec<u32> {
        let running = self.other_slots(own).filter_map(|slot| {
            let state = slot.base as *const State;
            // SAFETY: states are never freed; the number was set before the thread ran, and the other field is atomic.
            unsafe { (*state).runs_code.load(Ordering::SeqCst).then(|| (*state).thread) }
        });
        running.collect()
    }
}

/// Gives the thread of the process the memory of a thread of the program, and a stack in it for the handler of signals.
///
/// # Safety
///
/// There is a state at the address, and no other thread has it.
pub(crate) unsafe fn adopt(base: u64) {
    const START: u64 = 0x2000;
    const _: () = assert!(size_of::<State>() <= START as usize);
    let stack = [base + START, 0, CELLS_OFFSET - START];
    // SAFETY: the memory stays reserved, and this part of it is used for nothing else.
    unsafe {
        switch::set_thread(base);
        raw::system_call(u64::from(sys::__NR_sigaltstack), [stack.as_ptr() as u64, 0, 0, 0, 0, 0]);
    }
}

/// Starts a thread with signals blocked as in a mask, and returns its number. `None` if there can be no more threads.
///
/// # Safety
///
/// The number can be written to the addresses.
pub(crate) unsafe fn start(state: &'static mut State, mask: u64, addresses: &[u64]) -> Option<u32> {
    let base = state.own_address;
    let (sender, receiver) = mpsc::channel();
    let addresses = addresses.to_vec();
    let body = move || {
        // For its first thread, the C library lets two signals of its own come, which the program can block and wait for.
        masks::block_all();
        // SAFETY: the state is complete, and this thread alone uses it from here on.
        unsafe {
            let id = raw::system_call(u64::from(sys::__NR_gettid), [0; 6]) as u32;
            (*(base as *mut State)).thread = id;
            for address in addresses {
                raw::replace32(address, id);
            }
            adopt(base);
            let _ = sender.send(id);
            drop(sender);
            masks::set_mask(&mut *(base as *mut State), mask);
            switch::run();
        }
    };
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(body);
    masks::block_all();
    thread.ok()?;
    receiver.recv().ok()
}
