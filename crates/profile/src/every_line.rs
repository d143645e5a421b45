//! Every line of a part, for reports that need them all.

use std::ops::Range;

use memchr::{memchr, memchr_iter, memrchr};

use crate::decode::{BlockLine, BlockReader};
use crate::id::FunctionId;
use crate::part::Part;
use crate::profile::Profile;
use crate::threads::{cores, map_on_threads};

impl Profile {
    /// Decodes all lines of a part, on all cores, and folds them.
    ///
    /// Each core folds a run of lines of its own, starting with a value that `begin` makes. The results are in the order of
    /// the runs. The number of runs depends on the machine, so what is made of the results must not.
    pub fn fold_lines<T: Send>(
        &self,
        part: &Part<'_>,
        begin: impl Fn() -> T + Sync,
        fold: impl Fn(&mut T, FunctionId, BlockLine<'_>) + Sync,
    ) -> Vec<T> {
        let blocks = self.index.block_range(part.id());
        #[expect(clippy::cast_possible_truncation, reason = "offsets in memory")]
        let bytes = (part.bytes().end - part.bytes().start) as usize;
        // There may be thousands of small parts: to start threads for each would take longer than to read them.
        let threads = cores().min(bytes.div_ceil(MIN_BYTES_PER_THREAD)).max(1);
        let run = blocks.len().div_ceil(threads).max(1);
        let end = blocks.end;
        let work = |start: usize| self.fold_blocks(part, start..end.min(start + run), begin(), &fold);
        map_on_threads(blocks.step_by(run).collect(), work)
    }

    /// Returns the functions of all blocks, in the order of the files.
    pub fn blocks(&self) -> impl DoubleEndedIterator<Item = FunctionId> + ExactSizeIterator {
        self.index.blocks.iter().map(|block| block.function)
    }

    /// Returns `true` if the lines of a part omit all zeros at their ends, as those of Callgrind do, and no cost is negative.
    /// Then no line has a cost for the zeros at the end of a sum.
    pub fn leaves_off_zeros(&self, part: &Part<'_>) -> bool {
        #[expect(clippy::cast_possible_truncation, reason = "offsets in memory")]
        let [from, to] = [part.bytes().start, part.bytes().end].map(|offset| offset as usize);
        let bytes = &self.inputs[part.input()].bytes[from..to];
        let columns = part.columns().len();
        let threads = cores();
        let size = bytes.len().div_ceil(threads).max(BYTES_PER_THREAD);
        // A line that lies in two ranges belongs to the second, as lines are found by their ends.
        let ranges = (0..bytes.len()).step_by(size).map(|start| start..bytes.len().min(start + size));
        !map_on_threads(ranges.collect(), |range| spells_out(bytes, range, columns)).contains(&true)
    }

    fn fold_blocks<T>(
        &self,
        part: &Part<'_>,
        blocks: Range<usize>,
        mut folded: T,
        fold: &impl Fn(&mut T, FunctionId, BlockLine<'_>),
    ) -> T {
        for index in blocks {
            let function = self.index.blocks[index].function;
            let mut reader = BlockReader::new(self, part.id(), index);
            while let Some(line) = reader.next_line() {
                fold(&mut folded, function, line);
            }
        }
        folded
    }
}

/// Bytes that take about as long to decode as a thread takes to start.
const MIN_BYTES_PER_THREAD: usize = 16 << 10;

/// Bytes whose search is worth a thread.
const BYTES_PER_THREAD: usize = 1 << 20;

/// Returns `true` if a line that ends in this range has a zero at its end, or a negative cost.
fn spells_out(bytes: &[u8], range: Range<usize>, columns: usize) -> bool {
    let within = &bytes[range.clone()];
    let ends = memchr_iter(b'\n', within).map(|at| range.start + at);
    let last = (range.end == bytes.len()).then_some(bytes.len());
    let zero = ends.chain(last).any(|end| {
        // Blank lines before this one are not part of it.
        let is_content = |byte: &u8| *byte == b'\n' || !byte.is_ascii_whitespace();
        let line = &bytes[..bytes[..end].iter().rposition(is_content).map_or(0, |last| last + 1)];
        // Most lines that end so have a multiple of ten.
        let is_ten = |line: &[u8]| line.len() > 1 && matches!(line[line.len() - 2], b'1'..=b'9');
        line.ends_with(b"0") && !is_ten(line) && {
            last_token(line).is_some_and(|(token, nth)| {
                nth > columns && token.iter().all(|&byte| matches!(byte, b'0' | b'x' | b'X' | b'+' | b'-'))
            })
        }
    });
    zero || has_negative_cost(bytes, range, columns)
}

/// Returns `true` if a cost that begins in this range has a minus sign.
fn has_negative_cost(bytes: &[u8], range: Range<usize>, columns: usize) -> bool {
    let mut from = range.start;
    while let Some(offset) = memchr(b'-', &bytes[from..range.end]) {
        let at = from + offset;
        from = at + 1;
        if at > 0 && matches!(bytes[at - 1], b' ' | b'\t') {
            match last_token(&bytes[..=at]) {
                Some((_, nth)) if nth >= columns => return true,
                Some(_) => {}
                // The rest of such a line may have any number of them.
                None => from = memchr(b'\n', &bytes[from..range.end]).map_or(range.end, |end| from + end),
            }
        }
    }
    false
}

/// Returns the last token of the last line of a text, and the number of tokens before it: nothing if it is no cost line.
fn last_token(text: &[u8]) -> Option<(&[u8], usize)> {
    let line = &text[memrchr(b'\n', text).map_or(0, |at| at + 1)..];
    if line.trim_ascii_start().first().is_none_or(u8::is_ascii_alphabetic) {
        return None;
    }
    let mut tokens = line.split(u8::is_ascii_whitespace).filter(|token| !token.is_empty());
    let last = tokens.next_back().unwrap_or_default();
    Some((last, tokens.count()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_at_the_end_are_found() {
        for (body, leaves_off) in [
            ("1 2\n+3 0\n* 1 0 5\n", true),
            ("1 2 0\n", false),
            ("1 2 0 \r\n2 3\n", false),
            ("1 2 00", false),
            ("1 2 10\n", true),
            ("1 -2\n", false),
            ("1 2 3 -2\n", false),
            ("5 2\n-2 3\n", true),
            ("1 2\ncfn=g -1\ncalls=1 0 \n1 5\njump=1 0\n1 \n", true),
            ("1 2\ncfn=g\ncalls=1 0 \n1 5 0\n", false),
            ("1 2\n\n \t\n\r\n\n+1 3\n\n", true),
            ("1 2 0\n\n \t\n\r\n", false),
            ("1 2\ncfn=g - -1 -2\ncalls=1 1\n1 -5\n", false),
        ] {
            let profile = Profile::from_bytes(format!("events: A B C\nfn=f\n{body}").as_bytes());
            let part = profile.parts().next().unwrap();
            assert_eq!(profile.leaves_off_zeros(&part), leaves_off, "{body:?}");
        }
        let two = "positions: instr line\nevents: A B\nfn=f\n";
        for (body, leaves_off) in [("0x10 5 1\n+3 -1 1\n+3 0 0\n", true), ("0x10 5 1 0\n", false)] {
            let profile = Profile::from_bytes(format!("{two}{body}").as_bytes());
            let part = profile.parts().next().unwrap();
            assert_eq!(profile.leaves_off_zeros(&part), leaves_off, "{body:?}");
        }
    }
}
