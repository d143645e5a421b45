//! Every line of a part, for reports that want them all.

use std::ops::Range;

use memchr::{memchr_iter, memrchr};

use crate::decode::{BlockLine, BlockReader};
use crate::id::FunctionId;
use crate::part::Part;
use crate::profile::Profile;
use crate::threads::{cores, map_on_threads};

impl Profile {
    /// Reads all lines of a part again, on all cores, and folds them.
    ///
    /// Each core folds a run of lines of its own, beginning with what `begin` makes; the results come in the order of
    /// the runs. How many runs there are depends on the machine, so what is made of them must not.
    pub fn fold_lines<T: Send>(
        &self,
        part: &Part<'_>,
        begin: impl Fn() -> T + Sync,
        fold: impl Fn(&mut T, FunctionId, BlockLine<'_>) + Sync,
    ) -> Vec<T> {
        let blocks = self.index.block_range(part.id());
        let threads = cores();
        let run = blocks.len().div_ceil(threads).max(1);
        let end = blocks.end;
        let work = |start: usize| self.fold_blocks(part, start..end.min(start + run), begin(), &fold);
        map_on_threads(blocks.step_by(run).collect(), work)
    }

    /// The functions of all runs of lines from one `fn=` to the next, in the order of the files.
    pub fn blocks(&self) -> impl DoubleEndedIterator<Item = FunctionId> + ExactSizeIterator {
        self.index.blocks.iter().map(|block| block.function)
    }

    /// Whether the lines of a part leave off what they can, as those of Callgrind do: no line but the shortest ends in a
    /// zero, and no cost is below zero. Then a sum that ends in zeros was given none of these by any line.
    pub fn leaves_off_zeros(&self, part: &Part<'_>) -> bool {
        let Some(input) = self.inputs.get(part.input()) else { return true };
        let [from, to] = [part.bytes().start, part.bytes().end].map(|at| usize::try_from(at).ok());
        let bytes = from.zip(to).and_then(|(from, to)| input.bytes.get(from..to)).unwrap_or_default();
        let columns = part.columns().len();
        let threads = cores();
        let size = bytes.len().div_ceil(threads).max(MANY);
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

/// So many bytes are worth a thread.
const MANY: usize = 1 << 20;

/// Whether a line that ends in this piece spells out a zero at its end, or has a cost below zero.
fn spells_out(bytes: &[u8], piece: Range<usize>, columns: usize) -> bool {
    let within = bytes.get(piece.clone()).unwrap_or_default();
    let ends = memchr_iter(b'\n', within).map(|at| piece.start + at);
    let last = (piece.end == bytes.len()).then_some(bytes.len());
    let zero = ends.chain(last).any(|end| {
        let line = bytes.get(..end).unwrap_or_default().trim_ascii_end();
        // Most that end so are tens.
        let is_ten = |line: &[u8]| line.len() > 1 && matches!(line[line.len() - 2], b'1'..=b'9');
        line.ends_with(b"0") && !is_ten(line) && {
            let (token, nth) = last_token(line);
            nth > columns && token.iter().all(|&byte| matches!(byte, b'0' | b'x' | b'X' | b'+' | b'-'))
        }
    });
    zero || memchr_iter(b'-', within).any(|at| {
        let at = piece.start + at;
        at > 0
            && matches!(bytes.get(at - 1), Some(b' ' | b'\t'))
            && last_token(bytes.get(..=at).unwrap_or_default()).1 >= columns
    })
}

/// The last token of the line that goes up to the end of the text, and how many stand before it. Of a line that is no
/// cost line, none.
fn last_token(text: &[u8]) -> (&[u8], usize) {
    let line = text.get(memrchr(b'\n', text).map_or(0, |at| at + 1)..).unwrap_or_default();
    if line.trim_ascii_start().first().is_none_or(u8::is_ascii_alphabetic) {
        return (b"", 0);
    }
    let mut tokens = line.split(u8::is_ascii_whitespace).filter(|token| !token.is_empty());
    let last = tokens.next_back().unwrap_or_default();
    (last, tokens.count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spelled_out_zeros_are_found() {
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
        ] {
            let profile = Profile::of(format!("events: A B C\nfn=f\n{body}").as_bytes());
            let part = profile.parts().next().unwrap();
            assert_eq!(profile.leaves_off_zeros(&part), leaves_off, "{body:?}");
        }
        let two = "positions: instr line\nevents: A B\nfn=f\n";
        for (body, leaves_off) in [("0x10 5 1\n+3 -1 1\n+3 0 0\n", true), ("0x10 5 1 0\n", false)] {
            let profile = Profile::of(format!("{two}{body}").as_bytes());
            let part = profile.parts().next().unwrap();
            assert_eq!(profile.leaves_off_zeros(&part), leaves_off, "{body:?}");
        }
    }
}
