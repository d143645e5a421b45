//! The sizes and limits that the loader and the call graph are tuned with.

/// Sizes and limits that change how work is divided and memory is laid out, never what comes out.
///
/// Programs use the default. Tests hand in [`Tuning::tiny`], so that small inputs reach every branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tuning {
    /// Smallest chunk of an input. Each chunk begins with tables of its own, of up to a seventh of this size.
    pub(crate) min_chunk_bytes: usize,
    /// Chunks of an input for each thread. Names and functions that chunks share are looked up once more when the chunks
    /// are stitched; but a chunk that was read waits in memory, and at the end one thread is left with the last of them.
    /// Measured on a plain file of 500 MB with two threads: 48 take as long, 96 take 3% longer.
    pub(crate) chunks_per_thread: usize,
    /// Parts of a chunk after which its index is stitched, though the chunk goes on. An index takes 400 bytes for a part
    /// that has 14 in the file.
    pub(crate) max_chunk_parts: usize,
    /// Chunks that may wait to be stitched, beside those that are being read.
    pub(crate) max_waiting_chunks: usize,
    /// Chunks in a row that may be read in vain before speculation ends.
    pub(crate) max_wasted_chunks: usize,
    /// Name ids whose local names a chunk remembers at first.
    pub(crate) min_recent_names: usize,
    /// Local names for each remembered name id, before the memory for name ids doubles.
    pub(crate) names_per_recent: usize,
    /// Rows of one block after which they are written, though the block goes on.
    pub(crate) max_block_rows: usize,
    /// Members of groups that may wait in addition to those that are known to differ, before equal keys are added up.
    pub(crate) max_pending_sums: usize,
    /// Runs of groups for each thread that sorts sums. Measured on a plain file of 500 MB with two threads: with 4, sealing
    /// takes a fifth longer; with 1, two thirds longer.
    pub(crate) runs_per_thread: usize,
    /// Bytes between two places of a table of sums from which it can be read.
    pub(crate) checkpoint_bytes: usize,
    /// Arcs that are worth a task of their own.
    pub(crate) arcs_per_task: usize,
    /// All lines come as records, to test that skimmed lines come to the same.
    pub(crate) never_skims: bool,
    /// Items that are worth a thread.
    pub(crate) items_per_thread: usize,
}

impl Default for Tuning {
    fn default() -> Self {
        Tuning {
            min_chunk_bytes: 1 << 20,
            chunks_per_thread: 24,
            max_chunk_parts: 1 << 12,
            max_waiting_chunks: 2,
            max_wasted_chunks: 8,
            min_recent_names: 1 << 12,
            names_per_recent: 16,
            max_block_rows: 512,
            max_pending_sums: 1 << 20,
            runs_per_thread: 16,
            checkpoint_bytes: 1 << 18,
            arcs_per_task: 1 << 15,
            never_skims: false,
            items_per_thread: crate::threads::ITEMS_PER_THREAD,
        }
    }
}

#[cfg(test)]
impl Tuning {
    /// Sizes that are so small that a few lines exceed them.
    pub(crate) fn tiny() -> Self {
        Tuning {
            min_chunk_bytes: 1,
            max_chunk_parts: 1,
            min_recent_names: 4,
            names_per_recent: 2,
            max_block_rows: 12,
            max_pending_sums: 8,
            runs_per_thread: 2,
            checkpoint_bytes: 20,
            arcs_per_task: 4,
            items_per_thread: 2,
            ..Tuning::default()
        }
    }
}
