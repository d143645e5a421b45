//! The queue of chunks that wait to be read.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use super::chunk::Buffers;

/// Hands out chunks to readers, but only some ahead of the stitcher: what was read waits in memory until it is stitched.
#[derive(Debug)]
pub(super) struct ChunkQueue {
    state: Mutex<QueueState>,
    changed: Condvar,
}

#[derive(Debug)]
struct QueueState {
    next: usize,
    /// Number of chunks of the input; no more are handed out once the queue is closed.
    end: usize,
    /// The first chunk that must wait for the stitcher.
    limit: usize,
    /// The memory of stitched chunks.
    buffers: Vec<Buffers>,
}

impl ChunkQueue {
    /// Creates a queue of this many chunks, of which some are read ahead of the stitcher.
    pub(super) fn new(chunk_count: usize, ahead: usize) -> Self {
        let state = QueueState { next: 0, end: chunk_count, limit: ahead, buffers: Vec::new() };
        ChunkQueue { state: Mutex::new(state), changed: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the next chunk to be read, and returns it with memory for its index. Returns `None` at the end.
    pub(super) fn next(&self) -> Option<(usize, Buffers)> {
        let must_wait = |state: &mut QueueState| state.next < state.end && state.next >= state.limit;
        let waited = self.changed.wait_while(self.state(), must_wait);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        let next = state.next;
        if next >= state.end {
            return None;
        }
        state.next += 1;
        Some((next, state.buffers.pop().unwrap_or_default()))
    }

    /// Lets readers go on by one chunk, in the memory of one that was stitched.
    pub(super) fn advance(&self, buffers: Buffers) {
        let mut state = self.state();
        state.limit += 1;
        if state.next < state.end {
            state.buffers.push(buffers);
        }
        self.changed.notify_all();
    }

    /// Hands out no more chunks.
    pub(super) fn close(&self) {
        let mut state = self.state();
        state.end = 0;
        state.buffers.clear();
        self.changed.notify_all();
    }
}

/// Closes a queue if its reader panics: the stitcher would wait forever for the chunk.
pub(super) struct CloseOnPanic<'q>(pub(super) &'q ChunkQueue);

impl Drop for CloseOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.close();
        }
    }
}
