//! Work on more than one core.

use std::panic::resume_unwind;
use std::thread;

/// So many things are gone over in the time that it takes to begin a thread.
const WORTH_A_THREAD: usize = if cfg!(test) { 2 } else { 1 << 12 };

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
