//! Work on more than one core.

use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// So many things are gone over in the time that it takes to begin a thread.
pub(crate) const WORTH_A_THREAD: usize = if cfg!(test) { 2 } else { 1 << 12 };

/// How many threads can work at the same time.
pub(crate) fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Does both, at the same time where there is enough to do: so many `things`.
pub(crate) fn both<A: Send, B>(
    things: usize,
    one: impl Fn() -> A + Sync,
    other: impl FnOnce() -> B,
) -> (A, B) {
    if things < WORTH_A_THREAD {
        return (one(), other());
    }
    thread::scope(|scope| {
        let worker = thread::Builder::new().spawn_scoped(scope, &one);
        let other = other();
        let one = match worker {
            Ok(worker) => worker.join().unwrap_or_else(|panic| resume_unwind(panic)),
            // There could be no more threads.
            Err(_) => one(),
        };
        (one, other)
    })
}

/// Does all tasks, with all cores where there is enough to do: so many `things`.
pub(crate) fn on_all_cores<T: Send>(things: usize, tasks: Vec<T>, work: impl Fn(T) + Sync) {
    on_threads(if things < WORTH_A_THREAD { 1 } else { cores() }, tasks, work);
}

/// Does all tasks with so many threads, this one among them.
pub(crate) fn on_threads<T: Send>(threads: usize, tasks: Vec<T>, work: impl Fn(T) + Sync) {
    let threads = threads.min(tasks.len());
    let tasks = Mutex::new(tasks.into_iter());
    let next = || tasks.lock().unwrap_or_else(PoisonError::into_inner).next();
    let drain = || {
        while let Some(task) = next() {
            work(task);
        }
    };
    thread::scope(|scope| {
        // Where there can be no more threads, the others have more to do.
        let started = (1..threads).map_while(|_| thread::Builder::new().spawn_scoped(scope, drain).ok());
        let started: Vec<_> = started.collect();
        drain();
        for worker in started {
            worker.join().unwrap_or_else(|panic| resume_unwind(panic));
        }
    });
}
