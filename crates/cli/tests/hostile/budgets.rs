//! The memory that each command may take, as the documentation promises it.
//!
//! The test of all commands and the benchmark of growth share them.

const LIMITS: &str = include_str!("../../../../docs/limits.md");

/// Returns how many bytes a command may take for inputs of this many bytes; `None` if nothing is promised.
pub(crate) fn allowed(command: &str, input_bytes: usize) -> Option<usize> {
    let row = LIMITS.lines().find_map(|line| line.strip_prefix(&format!("| `{command}` | ")))?;
    let mut cells = row.split('|').map(|cell| cell.trim().trim_end_matches(" MiB").parse::<usize>().ok());
    let (multiple, mebibytes) = (cells.next()??, cells.next()??);
    Some(multiple * input_bytes + (mebibytes << 20))
}
