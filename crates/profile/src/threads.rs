//! Work on more than one core.
//!
//! Every function here does the work on the calling thread where no other thread can be started, as in WebAssembly.

use std::panic::resume_unwind;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;

/// `false` where no thread can be started. Known to the compiler, it leaves out what only threads need: a fiftieth of the library
/// in WebAssembly.
pub(crate) const CAN_START: bool = cfg!(not(target_family = "wasm"));

/// Items that take about as long to visit as a thread takes to start.
pub(crate) const ITEMS_PER_THREAD: usize = 1 << 12;

/// Returns how many threads can work at the same time.
///
/// The system is asked once: it opens several files for an answer, and a profile may have a million parts that ask.
pub fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| thread::available_parallelism().map_or(1, usize::from))
}

/// Does both, at the same time if there are enough items to visit.
pub fn both<A: Send, B>(item_count: usize, one: impl Fn() -> A + Sync, other: impl FnOnce() -> B) -> (A, B) {
    if !CAN_START || item_count < ITEMS_PER_THREAD {
        return (one(), other());
    }
    thread::scope(|scope| {
        let worker = thread::Builder::new().spawn_scoped(scope, &one);
        let other = other();
        let one = match worker {
            Ok(worker) => worker.join().unwrap_or_else(|panic| resume_unwind(panic)),
            Err(_) => one(),
        };
        (one, other)
    })
}

/// Does all tasks with this number of threads, the calling thread among them.
pub(crate) fn on_threads<T: Send>(thread_count: usize, tasks: Vec<T>, work: impl Fn(T) + Sync) {
    if !CAN_START {
        return tasks.into_iter().for_each(work);
    }
    let thread_count = thread_count.min(tasks.len());
    let tasks = Mutex::new(tasks.into_iter());
    let next = || tasks.lock().unwrap_or_else(PoisonError::into_inner).next();
    let drain = || {
        while let Some(task) = next() {
            work(task);
        }
    };
    thread::scope(|scope| {
        let started = (1..thread_count).map_while(|_| thread::Builder::new().spawn_scoped(scope, drain).ok());
        let started: Vec<_> = started.collect();
        drain();
        for worker in started {
            worker.join().unwrap_or_else(|panic| resume_unwind(panic));
        }
    });
}

/// Maps each input on a thread of its own, and returns the results in their order.
pub fn map_on_threads<T: Send, R: Send>(inputs: Vec<T>, map: impl Fn(T) -> R + Sync) -> Vec<R> {
    let mut slots: Vec<(Option<T>, Option<R>)> =
        inputs.into_iter().map(|input| (Some(input), None)).collect();
    let count = slots.len();
    on_threads(count, slots.iter_mut().collect(), |(input, result): &mut (Option<T>, Option<R>)| {
        *result = input.take().map(&map);
    });
    slots.into_iter().filter_map(|(_, result)| result).collect()
}
