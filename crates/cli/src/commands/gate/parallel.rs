//! Benchmarks that are measured at the same time, and come out in the order of the configuration.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

/// Does `work` for each item on `job_count` threads, and hands each result to `take`, in the order of the items. If `take`
/// fails, no further work is begun.
pub(super) fn in_order<I: Sync, R: Send, E>(
    items: &[I],
    job_count: usize,
    work: impl Fn(&I) -> R + Sync,
    mut take: impl FnMut(&I, R) -> Result<(), E>,
) -> Result<(), E> {
    let next = AtomicUsize::new(0);
    let stop = AtomicBool::new(false);
    // Results that are not taken yet hold a profile each: no thread gets far ahead.
    let (sender, receiver) = mpsc::sync_channel(1);
    thread::scope(|scope| {
        let mut is_started = false;
        for _ in 0..job_count.clamp(1, items.len().max(1)) {
            let (sender, next, stop, work) = (sender.clone(), &next, &stop, &work);
            let job = move || {
                while !stop.load(Ordering::Relaxed) {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(index) else { return };
                    if sender.send((index, work(item))).is_err() {
                        return;
                    }
                }
            };
            // If no more threads can be started, fewer do the work.
            if thread::Builder::new().spawn_scoped(scope, job).is_err() {
                break;
            }
            is_started = true;
        }
        drop(sender);
        if !is_started {
            return items.iter().try_for_each(|item| take(item, work(item)));
        }
        let mut waiting = BTreeMap::new();
        let mut first = 0;
        for (index, result) in receiver {
            waiting.insert(index, result);
            while let Some(result) = waiting.remove(&first) {
                take(&items[first], result).inspect_err(|_| stop.store(true, Ordering::Relaxed))?;
                first += 1;
            }
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn results_come_in_order_and_an_error_ends_the_work() {
        let items: Vec<u64> = (0..20).collect();
        for job_count in [0, 1, 3, 50] {
            let mut taken = Vec::new();
            let work = |&item: &u64| {
                thread::sleep(Duration::from_millis((20 - item) % 3));
                item * 2
            };
            in_order(&items, job_count, work, |&item, result| {
                taken.push((item, result));
                Ok::<(), ()>(())
            })
            .unwrap();
            assert_eq!(taken, items.iter().map(|&item| (item, item * 2)).collect::<Vec<_>>());
            let failed =
                in_order(&items, job_count, work, |&item, _| if item == 3 { Err(item) } else { Ok(()) });
            assert_eq!(failed, Err(3));
        }
    }
}
