//! A lock that one function takes and gives back, also across a fork: the new process goes on with it.
#![allow(unsafe_code)]

use std::sync::atomic::{AtomicU32, Ordering};

use linux_raw_sys::general as sys;

use crate::raw;

const FREE: u32 = 0;
const TAKEN: u32 = 1;
/// Taken, and others wait.
const WANTED: u32 = 2;

/// `FUTEX_WAIT` and `FUTEX_WAKE`, within the process.
const WAIT: u64 = 128;
const WAKE: u64 = 129;

#[derive(Debug)]
pub(crate) struct Lock(AtomicU32);

impl Lock {
    pub(crate) const fn new() -> Lock {
        Lock(AtomicU32::new(FREE))
    }

    pub(crate) fn lock(&self) {
        if self.0.compare_exchange(FREE, TAKEN, Ordering::Acquire, Ordering::Relaxed).is_ok() {
            return;
        }
        while self.0.swap(WANTED, Ordering::Acquire) != FREE {
            self.futex(WAIT, u64::from(WANTED));
        }
    }

    pub(crate) fn unlock(&self) {
        if self.0.swap(FREE, Ordering::Release) == WANTED {
            self.futex(WAKE, 1);
        }
    }

    fn futex(&self, operation: u64, value: u64) {
        let arguments = [self.0.as_ptr() as u64, operation, value, 0, 0, 0];
        // SAFETY: the kernel reads the number alone.
        unsafe { raw::system_call(u64::from(sys::__NR_futex), arguments) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thread_at_a_time_has_the_lock() {
        static LOCK: Lock = Lock::new();
        static SUM: AtomicU32 = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..2000 {
                        LOCK.lock();
                        // Not one step: without the lock, sums would be lost.
                        let sum = SUM.load(Ordering::Relaxed);
                        std::hint::spin_loop();
                        SUM.store(sum + 1, Ordering::Relaxed);
                        LOCK.unlock();
                    }
                });
            }
        });
        assert_eq!(SUM.load(Ordering::Relaxed), 8000);
    }
}
